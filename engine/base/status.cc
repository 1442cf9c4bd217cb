// SPDX-License-Identifier: Apache-2.0
//
// Status: construction and printing.

#include "engine/base/status.h"

#include <array>

namespace pigment {
namespace {

const std::string& EmptyString() {
  static const std::string empty;
  return empty;
}

constexpr std::array kCodeTable = {
#define PIGMENT_STATUS(enumerator, c_name, number, text, sqlstate, retry, fault) \
  CodeInfo{Code::enumerator, #c_name, text, sqlstate, retry, Fault::fault},
#include "engine/base/status_codes.def"
#undef PIGMENT_STATUS
};

}  // namespace

const CodeInfo* FindCodeInfo(int32_t code) {
  for (const CodeInfo& info : kCodeTable) {
    if (static_cast<int32_t>(info.code) == code) return &info;
  }
  return nullptr;
}

Status::Status(Code code, std::string message) : Status(code, Detail::kNone, std::move(message)) {}

Status::Status(Code code, Detail detail, std::string message) {
  if (code == Code::kOk) return;
  auto state = std::make_shared<State>();
  state->code = code;
  state->detail = detail;
  state->message = std::move(message);
  state_ = std::move(state);
}

const std::string& Status::message() const { return state_ ? state_->message : EmptyString(); }
const std::string& Status::hint() const { return state_ ? state_->hint : EmptyString(); }
const std::string& Status::file() const { return state_ ? state_->file : EmptyString(); }

Status::State& Status::Mutable() {
  auto copy = std::make_shared<State>(*state_);
  State& state = *copy;
  state_ = std::move(copy);
  return state;
}

Status Status::WithHint(std::string hint) && {
  if (!ok()) Mutable().hint = std::move(hint);
  return std::move(*this);
}

Status Status::WithRow(int64_t row) && {
  if (!ok()) Mutable().row = row;
  return std::move(*this);
}

Status Status::WithFile(std::string file, int64_t offset) && {
  if (!ok()) {
    State& state = Mutable();
    state.file = std::move(file);
    state.offset = offset;
  }
  return std::move(*this);
}

std::string Status::ToString() const {
  const CodeInfo* info = FindCodeInfo(static_cast<int32_t>(code()));
  std::string text(info ? info->text : "unknown code");
  if (ok()) return text;
  text += ": " + message();
  if (row() >= 0) text += " (row " + std::to_string(row()) + ")";
  if (!file().empty()) {
    text += " (file " + file();
    text += offset() >= 0 ? ", offset " + std::to_string(offset()) + ")" : ")";
  }
  if (!hint().empty()) text += "; hint: " + hint();
  return text;
}

Status InvalidArgument(Detail detail, std::string message) {
  return Status(Code::kInvalidArgument, detail, std::move(message));
}
Status InvalidArgument(std::string message) {
  return Status(Code::kInvalidArgument, std::move(message));
}
Status NotFound(std::string message) { return Status(Code::kNotFound, std::move(message)); }
Status AlreadyExists(std::string message) {
  return Status(Code::kAlreadyExists, std::move(message));
}
Status FailedPrecondition(Detail detail, std::string message) {
  return Status(Code::kFailedPrecondition, detail, std::move(message));
}
Status ResourceExhausted(Detail detail, std::string message) {
  return Status(Code::kResourceExhausted, detail, std::move(message));
}
Status Internal(std::string message) { return Status(Code::kInternal, std::move(message)); }

Status DataLoss(Detail detail, std::string file, int64_t offset, std::string message) {
  return Status(Code::kDataLoss, detail, std::move(message)).WithFile(std::move(file), offset);
}

}  // namespace pigment

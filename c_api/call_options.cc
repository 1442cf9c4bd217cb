// SPDX-License-Identifier: Apache-2.0
//
// Cancel tokens and per-call options.

#include "c_api/call_options.h"

struct pigment_cancel : pigment::abi::Handle<pigment::abi::HandleKind::kCancel> {
  std::shared_ptr<pigment::CancelToken> token = std::make_shared<pigment::CancelToken>();
};

namespace pigment::abi {

Result<CallContext> ReadCallOptions(const pigment_call_options* options) {
  PIGMENT_ASSIGN_OR_RETURN(const pigment_call_options read, ReadOptionalStruct(options, "options"));
  CallContext context;
  if (read.cancel != nullptr) {
    PIGMENT_RETURN_IF_ERROR(CheckHandle(read.cancel, "options.cancel"));
    context.token = read.cancel->token;
  }
  if (read.deadline_ns < 0) {
    return InvalidArgument("argument options.deadline_ns is " + std::to_string(read.deadline_ns) +
                           ", expected 0 or above");
  }
  context.control.cancel = context.token.get();
  context.control.deadline_ns = read.deadline_ns;
  context.min_position = read.min_position;
  return context;
}

}  // namespace pigment::abi

pigment_status pigment_cancel_new(pigment_cancel** cancel, pigment_error** error) {
  return pigment::abi::Call(
      error,
      [&] {
        if (cancel != nullptr) *cancel = nullptr;
      },
      [&]() -> pigment::Status {
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{cancel, "cancel"}}));
        *cancel = new pigment_cancel();
        return pigment::Status::Ok();
      });
}

void pigment_cancel_set(pigment_cancel* cancel) {
  if (pigment::abi::IsHandle(cancel)) cancel->token->Set();
}

bool pigment_cancel_is_set(const pigment_cancel* cancel) {
  return pigment::abi::IsHandle(cancel) && cancel->token->is_set();
}

pigment_status pigment_cancel_progress(const pigment_cancel* cancel, pigment_progress* progress,
                                       pigment_error** error) {
  const auto store = [progress](const pigment::Progress::State& state) {
    pigment::abi::WriteStruct({.struct_size = sizeof(pigment_progress),
                               .phase = state.phase,
                               .unit = state.unit,
                               .done = state.done,
                               .total = state.total},
                              progress);
  };
  return pigment::abi::Call(
      error,
      [&] {
        if (progress != nullptr && pigment::abi::ReadStruct(progress, "progress").ok()) store({});
      },
      [&]() -> pigment::Status {
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(cancel, "cancel"));
        PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{progress, "progress"}}));
        PIGMENT_RETURN_IF_ERROR(pigment::abi::ReadStruct(progress, "progress").status());
        store(cancel->token->progress().state());
        return pigment::Status::Ok();
      });
}

void pigment_cancel_free(pigment_cancel* cancel) {
  if (pigment::abi::IsHandle(cancel)) delete cancel;
}

void pigment_call_options_init(pigment_call_options* options) {
  if (options == nullptr) return;
  *options = pigment_call_options{};
  options->struct_size = sizeof *options;
}

// SPDX-License-Identifier: Apache-2.0
//
// Errors of the C interface: building them from Status, their accessors, and argument checks.

#include "c_api/error.h"

#include "engine/record/text.h"

// Plain data, so that the error for "out of memory" exists without construction; strings point into
// `owner` of OwnedError or are literals.
struct pigment_error {
  pigment_status status;
  int32_t detail;
  const char* message;
  const char* hint;
  const char* file;
  int64_t row;
  int64_t offset;
};

namespace pigment::abi {
namespace {

struct OwnedError : pigment_error {
  std::string message_text;
  std::string hint_text;
  std::string file_text;
};

constinit pigment_error g_out_of_memory = {
    PIGMENT_RESOURCE_EXHAUSTED, PIGMENT_DETAIL_MEMORY, "out of memory", "", "", -1, -1};

// Valid UTF-8 without NUL: what a C string of a message can carry. Other bytes become \xNN.
std::string Escaped(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t bytes = Utf8SequenceBytes(text);
    const auto value = static_cast<uint8_t>(text[0]);
    if (bytes == 0 || value == 0) {
      out += "\\x";
      out += kHex[value >> 4];
      out += kHex[value & 15];
      text.remove_prefix(1);
    } else {
      out.append(text, 0, bytes);
      text.remove_prefix(bytes);
    }
  }
  return out;
}

}  // namespace

pigment_status ReportOutOfMemory(pigment_error** error) noexcept {
  if (error != nullptr) *error = &g_out_of_memory;
  return PIGMENT_RESOURCE_EXHAUSTED;
}

pigment_status Report(const Status& status, pigment_error** error) noexcept {
  if (error != nullptr) *error = nullptr;
  if (status.ok()) return PIGMENT_OK;
  const auto code = static_cast<pigment_status>(status.code());
  if (error == nullptr) return code;
  try {
    auto* owned = new OwnedError();
    *error = owned;
    owned->status = code;
    owned->detail = static_cast<int32_t>(status.detail());
    owned->row = status.row();
    owned->offset = status.offset();
    owned->message = owned->hint = owned->file = "";
    owned->message_text = Escaped(status.message());
    owned->message = owned->message_text.c_str();
    owned->hint_text = Escaped(status.hint());
    owned->hint = owned->hint_text.c_str();
    owned->file_text = Escaped(status.file());
    owned->file = owned->file_text.c_str();
    return code;
  } catch (...) {
    pigment_error_free(*error);
    return ReportOutOfMemory(error);
  }
}

pigment_status ReportException(const char* what, pigment_error** error) noexcept {
  try {
    return Report(Internal(std::string("unexpected exception: ") + what), error);
  } catch (...) {
    return ReportOutOfMemory(error);
  }
}

Status NullArgument(std::string_view argument) {
  return InvalidArgument("argument " + std::string(argument) + " must not be NULL");
}

Status CheckNotNull(std::initializer_list<Required> required) {
  for (const Required& one : required) {
    if (one.pointer == nullptr) return NullArgument(one.argument);
  }
  return Status::Ok();
}

Result<std::string_view> ReadBytes(const char* data, size_t size, std::string_view argument) {
  if (data == nullptr && size != 0) {
    return InvalidArgument("argument " + std::string(argument) + " is NULL with a size of " +
                           std::to_string(size));
  }
  if (size > static_cast<size_t>(PTRDIFF_MAX)) {
    return InvalidArgument("argument " + std::string(argument) + " has an impossible size of " +
                           std::to_string(size) + " bytes");
  }
  return data == nullptr ? std::string_view() : std::string_view(data, size);
}

Result<std::string_view> ReadText(const char* data, size_t size, std::string_view argument) {
  if (data == nullptr && size == 0) return NullArgument(argument);
  PIGMENT_ASSIGN_OR_RETURN(const std::string_view text, ReadBytes(data, size, argument));
  if (const size_t bad = FindInvalidUtf8(text); bad != std::string_view::npos) {
    return InvalidArgument("argument " + std::string(argument) + " is not valid UTF-8 at byte " +
                           std::to_string(bad) + ": " + Quoted(text));
  }
  return text;
}

Result<std::optional<std::string_view>> ReadOptionalText(const char* data, size_t size,
                                                         std::string_view argument) {
  if (data == nullptr && size == 0) return std::optional<std::string_view>();
  PIGMENT_ASSIGN_OR_RETURN(const std::string_view text, ReadText(data, size, argument));
  return std::optional<std::string_view>(text);
}

size_t FindInvalidUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    uint64_t eight = 0;
    if (text.size() - at >= sizeof eight) {
      std::memcpy(&eight, text.data() + at, sizeof eight);
      if ((eight & 0x8080808080808080u) == 0) {
        at += sizeof eight;
        continue;
      }
    }
    const size_t bytes = Utf8SequenceBytes(text.substr(at));
    if (bytes == 0) return at;
    at += bytes;
  }
  return std::string_view::npos;
}

Status CheckStructSize(size_t struct_size, size_t size_min, std::string_view argument) {
  if (struct_size >= size_min) return Status::Ok();
  return InvalidArgument("struct_size of argument " + std::string(argument) + " is " +
                         std::to_string(struct_size) + ", expected at least " +
                         std::to_string(size_min));
}

Status CheckEnum(int64_t value, int64_t first, int64_t last, std::string_view argument) {
  if (value >= first && value <= last) return Status::Ok();
  return InvalidArgument("argument " + std::string(argument) + " is " + std::to_string(value) +
                         ", expected " + std::to_string(first) + " to " + std::to_string(last));
}

}  // namespace pigment::abi

using pigment::abi::g_out_of_memory;
using pigment::abi::OwnedError;

pigment_status pigment_error_status(const pigment_error* error) {
  return error != nullptr ? error->status : PIGMENT_OK;
}
int32_t pigment_error_detail(const pigment_error* error) {
  return error != nullptr ? error->detail : PIGMENT_DETAIL_NONE;
}
const char* pigment_error_message(const pigment_error* error) {
  return error != nullptr ? error->message : "";
}
const char* pigment_error_hint(const pigment_error* error) {
  return error != nullptr ? error->hint : "";
}
int64_t pigment_error_row(const pigment_error* error) { return error != nullptr ? error->row : -1; }
const char* pigment_error_file(const pigment_error* error) {
  return error != nullptr ? error->file : "";
}
int64_t pigment_error_offset(const pigment_error* error) {
  return error != nullptr ? error->offset : -1;
}

void pigment_error_free(pigment_error* error) {
  if (error == nullptr || error == &g_out_of_memory) return;
  delete static_cast<OwnedError*>(error);
}

// SPDX-License-Identifier: Apache-2.0
//
// How the C interface reports failure: every fallible entry point is one Call() around a body that
// returns Status. No exception leaves Call(); running out of memory, also while an error is built,
// gives a static error that needs none. Also here: the checks that every entry point makes of
// pointers, handles, structs and enums. Any thread. An error belongs to the caller, who frees it
// with pigment_error_free.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <initializer_list>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "engine/base/status.h"
#include "pigment/pigment.h"

namespace pigment::abi {

// Gives `status` to the caller: sets *error (when error is not null) and returns the code. Ok sets
// *error to null.
pigment_status Report(const Status& status, pigment_error** error) noexcept;
// The same for what a catch block holds.
pigment_status ReportOutOfMemory(pigment_error** error) noexcept;
pigment_status ReportException(const char* what, pigment_error** error) noexcept;

// Runs `body` (a callable that returns Status) as one call of the interface. `clear` sets all
// outputs to null or 0 and runs before the body and again after a failure; it must not throw.
template <typename Clear, typename Body>
pigment_status Call(pigment_error** error, Clear&& clear, Body&& body) noexcept {
  static_assert(std::is_same_v<std::invoke_result_t<Body&>, Status>);
  clear();
  pigment_status status = PIGMENT_INTERNAL;
  try {
    status = Report(body(), error);
  } catch (const std::bad_alloc&) {
    status = ReportOutOfMemory(error);
  } catch (const std::length_error&) {  // a container asked for more than there can be
    status = ReportOutOfMemory(error);
  } catch (const std::exception& exception) {
    status = ReportException(exception.what(), error);
  } catch (...) {
    status = ReportException("an exception of unknown type", error);
  }
  if (status != PIGMENT_OK) clear();
  return status;
}

template <typename Body>
pigment_status Call(pigment_error** error, Body&& body) noexcept {
  return Call(
      error, [] {}, std::forward<Body>(body));
}

// For entry points that return a value and cannot report: `fallback` when the body throws.
template <typename T, typename Body>
T CallOr(T fallback, Body&& body) noexcept {
  try {
    return body();
  } catch (...) {
    return fallback;
  }
}

// ---- Arguments
// -------------------------------------------------------------------------------------------------------

// "NULL is not allowed for argument records"
Status NullArgument(std::string_view argument);

struct Required {
  const void* pointer;
  std::string_view argument;
};
// Refuses the first null pointer of the list by name.
Status CheckNotNull(std::initializer_list<Required> required);

// Text or bytes as (pointer, size). Null with a size is refused. `allow_absent` false: null is
// refused too.
Result<std::string_view> ReadBytes(const char* data, size_t size, std::string_view argument);
// The same for text that must be UTF-8.
Result<std::string_view> ReadText(const char* data, size_t size, std::string_view argument);
// Null and 0 is "absent".
Result<std::optional<std::string_view>> ReadOptionalText(const char* data, size_t size,
                                                         std::string_view argument);

// The first byte that is not part of valid UTF-8 (no overlong forms, no surrogates, at most
// U+10FFFF), or npos.
size_t FindInvalidUtf8(std::string_view text);
Status CheckStructSize(size_t struct_size, size_t known, std::string_view argument);
// Copies a struct that begins with struct_size: the part that caller and library both know, zeros
// beyond. Every struct of ABI 1 must be there whole; later fields are optional. `in` must not be
// null.
template <typename T>
Result<T> ReadStruct(const T* in, std::string_view argument, size_t size_min = sizeof(T)) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (in == nullptr) return NullArgument(argument);
  size_t size = 0;
  std::memcpy(&size, in, sizeof size);
  PIGMENT_RETURN_IF_ERROR(CheckStructSize(size, size_min, argument));
  T out{};
  std::memcpy(static_cast<void*>(&out), in, size < sizeof(T) ? size : sizeof(T));
  return out;
}
// The same where null means defaults (all zero).
template <typename T>
Result<T> ReadOptionalStruct(const T* in, std::string_view argument, size_t size_min = sizeof(T)) {
  if (in == nullptr) return T{};
  return ReadStruct(in, argument, size_min);
}
// Writes an output struct whose struct_size the caller set: as much as the caller knows,
// struct_size left alone.
template <typename T>
void WriteStruct(const T& value, T* out) {
  static_assert(std::is_trivially_copyable_v<T>);
  size_t size = 0;
  std::memcpy(&size, out, sizeof size);
  if (size > sizeof(T)) size = sizeof(T);
  if (size <= sizeof(size_t)) return;
  std::memcpy(reinterpret_cast<char*>(out) + sizeof(size_t),
              reinterpret_cast<const char*>(&value) + sizeof(size_t), size - sizeof(size_t));
}

// A bool of a caller's struct: any byte but 0 is true, so that no byte of theirs is undefined
// behaviour of ours.
inline bool IsTrue(const bool& value) {
  unsigned char byte = 0;
  std::memcpy(&byte, &value, 1);
  return byte != 0;
}

// "argument sync_mode is 9, expected 0 to 2"
Status CheckEnum(int64_t value, int64_t first, int64_t last, std::string_view argument);

// ---- Handles
// ---------------------------------------------------------------------------------------------------------

// Handles begin with a mark, so that a pointer to something else is an error and not a crash.
enum class HandleKind : uint64_t {
  kClient = 0x70676d5f636c6e74,
  kCollection = 0x70676d5f636f6c6c,
  kResult = 0x70676d5f72736c74,
  kCancel = 0x70676d5f636e636c,
  kBuffer = 0x70676d5f62756672,
  kFilter = 0x70676d5f666c7472,
  kSegmentBuilder = 0x70676d5f73626c64,
  kSegment = 0x70676d5f7365676d,
  kHostSearch = 0x70676d5f68737263,
  kPendingCache = 0x70676d5f70636163,
  kTextAnalyzer = 0x70676d5f74616e6c,
  kTextQuery = 0x70676d5f74717279,
};

// Base of every handle struct: `struct pigment_client : pigment::abi::Handle<HandleKind::kClient> {
// … };`
template <HandleKind kKindOf>
struct Handle {
  static constexpr HandleKind kKind = kKindOf;
  HandleKind kind = kKindOf;
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    *const_cast<volatile HandleKind*>(&kind) = HandleKind{};
  }  // volatile: not optimised away
};

// Not null, and a live handle of the right kind.
template <typename H>
Status CheckHandle(const H* handle, std::string_view argument) {
  if (handle == nullptr) return NullArgument(argument);
  HandleKind kind{};
  std::memcpy(&kind, &handle->kind, sizeof kind);
  if (kind != H::kKind) {
    return InvalidArgument("argument " + std::string(argument) +
                           " is not a live handle of its type");
  }
  return Status::Ok();
}
// For accessors that cannot report.
template <typename H>
bool IsHandle(const H* handle) {
  return handle != nullptr && handle->kind == H::kKind;
}

// ---- Buffers
// ---------------------------------------------------------------------------------------------------------

// An owned text for the caller; throws std::bad_alloc.
pigment_buffer* NewBuffer(std::string text);
// Elements of a list, each behind its size, a uint32_t of the machine.
pigment_buffer* NewElements(std::span<const std::string> elements);
// What a call that gives a buffer does first. Null: the caller wants none.
inline void ClearBuffer(pigment_buffer** buffer) {
  if (buffer != nullptr) *buffer = nullptr;
}

}  // namespace pigment::abi

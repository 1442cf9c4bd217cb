// SPDX-License-Identifier: Apache-2.0
//
// Status and Result<T>: how every fallible function of the engine reports failure. A Status is a
// code, a message for people, and the facts that a program can act on (detail, offending row, file
// offset). Values are immutable once built, cheap to move, and safe to read from any thread.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace pigment {

enum class Code : int32_t {
#define PIGMENT_STATUS(enumerator, c_name, number, text, sqlstate, retry, fault) \
  enumerator = number,
#include "engine/base/status_codes.def"
#undef PIGMENT_STATUS
};

// Whose doing an error is: tells a caller whether to fix the call, the machine, or to report a bug.
enum class Fault : int32_t { kNone = 0, kCaller = 1, kEnvironment = 2, kLibrary = 3 };

// Finer than the code, for the cases that a program tells apart. Numbers are public and never
// change.
enum class Detail : int32_t {
  kNone = 0,
  // Damage on disk (code kDataLoss).
  kMissing = 1,     // a file or block that must be there is not
  kForeign = 2,     // belongs to another store, segment or place
  kWrongKind = 3,   // a block or file of another kind
  kMisaligned = 4,  // a size or offset that is no multiple of its unit
  kTruncated = 5,   // ends before its stated length
  kMiscounted = 6,  // a stored count contradicts what is there
  kChecksum = 7,    // bytes differ from their checksum
  // Preconditions (code kFailedPrecondition).
  kClosed = 20,               // the client or database handle is closed
  kLocked = 21,               // another process has the store open for writing
  kForked = 22,               // the handle was opened before fork()
  kPoisoned = 23,             // an earlier sync failed; the writer takes no more
  kReadOnly = 24,             // the store was opened read-only
  kStale = 25,                // the reader has not reached the log position asked for
  kNoEmbeddingFunction = 26,  // texts were given, and the collection has no function
  // Arguments (code kInvalidArgument).
  kDimension = 40,          // vectors of another dimension
  kNotFinite = 41,          // NaN, infinity, or a value beyond f32
  kDuplicateId = 42,        // an id twice in one batch
  kFilter = 43,             // where or where_document does not parse
  kName = 44,               // a tenant, database or collection name
  kMetadata = 45,           // a metadata key or value
  kEmbeddingFunction = 46,  // what an embedding function returned is unusable
  kDiskFull = 60,           // no space, quota or file size (code kResourceExhausted)
  kMemory = 61,             // memory budget or allocation (code kResourceExhausted)
  kLimit = 62,              // a documented limit (code kResourceExhausted)
};

// The row of the table in status_codes.def.
struct CodeInfo {
  Code code;
  std::string_view name;      // "INVALID_ARGUMENT"
  std::string_view text;      // "invalid argument"
  std::string_view sqlstate;  // five characters
  bool retryable;
  Fault fault;
};

// Returns the row of `code`, or nullptr for a number that is not in the table.
const CodeInfo* FindCodeInfo(int32_t code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  Status(Code code, std::string message);
  Status(Code code, Detail detail, std::string message);

  static Status Ok() { return Status(); }

  bool ok() const { return !state_; }
  Code code() const { return state_ ? state_->code : Code::kOk; }
  Detail detail() const { return state_ ? state_->detail : Detail::kNone; }
  const std::string& message() const;
  const std::string& hint() const;
  const std::string& file() const;                           // empty when no file is involved
  int64_t row() const { return state_ ? state_->row : -1; }  // offending row of the batch, or -1
  int64_t offset() const { return state_ ? state_->offset : -1; }  // byte offset in file(), or -1

  // Each returns this status with one more fact; no effect on ok.
  Status WithHint(std::string hint) &&;
  Status WithRow(int64_t row) &&;
  Status WithFile(std::string file, int64_t offset) &&;

  // "invalid argument: dimension mismatch: ..." for logs and test output.
  std::string ToString() const;

 private:
  struct State {
    Code code;
    Detail detail;
    std::string message;
    std::string hint;
    std::string file;
    int64_t row = -1;
    int64_t offset = -1;
  };
  State& Mutable();

  std::shared_ptr<const State> state_;
};

// Shorthands for the codes that the engine returns most.
Status InvalidArgument(Detail detail, std::string message);
Status InvalidArgument(std::string message);
Status NotFound(std::string message);
Status AlreadyExists(std::string message);
Status FailedPrecondition(Detail detail, std::string message);
Status ResourceExhausted(Detail detail, std::string message);
Status Internal(std::string message);

// Every report of damage on disk is built here: one place to break on, one shape of message.
Status DataLoss(Detail detail, std::string file, int64_t offset, std::string message);

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}         // NOLINT: implicit on purpose
  Result(Status status) : value_(std::move(status)) {}  // NOLINT; REQUIRES: !status.ok()

  bool ok() const { return std::holds_alternative<T>(value_); }
  Status status() const { return ok() ? Status() : std::get<Status>(value_); }

  // REQUIRES: ok().
  T& value() & { return std::get<T>(value_); }
  const T& value() const& { return std::get<T>(value_); }
  T value() && {
    return std::get<T>(std::move(value_));
  }  // by value: a range-for over a temporary is safe
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<Status, T> value_;
};

#define PIGMENT_CONCAT_INNER(a, b) a##b
#define PIGMENT_CONCAT(a, b) PIGMENT_CONCAT_INNER(a, b)

// Returns from the enclosing function when `expression` (a Status) is not ok.
#define PIGMENT_RETURN_IF_ERROR(expression)                                      \
  do {                                                                           \
    if (::pigment::Status status_ = (expression); !status_.ok()) return status_; \
  } while (false)

// Declares or assigns `target` from a Result, or returns its error.
#define PIGMENT_ASSIGN_OR_RETURN(target, expression) \
  PIGMENT_ASSIGN_OR_RETURN_INNER(PIGMENT_CONCAT(result_, __LINE__), target, expression)
#define PIGMENT_ASSIGN_OR_RETURN_INNER(result, target, expression) \
  auto result = (expression);                                      \
  if (!result.ok()) return result.status();                        \
  target = std::move(result).value()

}  // namespace pigment

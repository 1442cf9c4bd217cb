// SPDX-License-Identifier: Apache-2.0
//
// Columns of Arrow's C data interface that a caller gives, read with suspicion: what the structs
// say is compared with what their format demands before a buffer is looked at. How large a buffer
// really is cannot be known. Views borrow the caller's arrays. Pure functions; any thread.

#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "pigment/pigment.h"

namespace pigment::abi {

enum class ArrowType {
  kNull,
  kBool,
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kHalf,
  kFloat,
  kDouble,
  kText,
  kLargeText,
  kTextView,
  kBytes,
  kLargeBytes,
  kBytesView,
  kList,
  kLargeList,
  kFixedList,
  kStruct,
};

bool IsText(ArrowType type);
bool IsBytes(ArrowType type);
bool IsList(ArrowType type);

// What a schema says of a column.
struct ArrowField {
  std::string name;  // "year"
  std::string path;  // "metadata.year", for messages; a list's items have that of the list
  std::string format;
  ArrowType type = ArrowType::kStruct;
  int64_t list_size = 0;  // of a kFixedList
  std::vector<ArrowField> children;
};

// Refuses what is no ArrowType, dictionaries, and nesting beyond what metadata can hold. `path` is
// the column's own.
Result<ArrowField> ReadArrowField(const ArrowSchema* schema, std::string path);

// `column "metadata.year" ` and what is wrong with it; without a path it is the batch itself.
Status RefuseColumn(const ArrowField& field, std::string_view what);

// The rows of an array that are asked for, and of its children those that belong to them. Buffers
// are there as far as the rows need them, offsets ascend within the children. Row 0 is the first
// asked for.
class ArrowColumn {
 public:
  // REQUIRES: `field` and what `array` points at outlive the column.
  static Result<ArrowColumn> Read(const ArrowField& field, const ArrowArray* array, int64_t first,
                                  int64_t rows);

  const ArrowField& field() const { return *field_; }
  int64_t rows() const { return rows_; }
  const ArrowColumn& child(size_t index) const { return children_[index]; }

  bool has(int64_t row) const {
    if (field_->type == ArrowType::kNull) return false;
    return validity_ == nullptr || Bit(validity_, row);
  }
  bool HasNone() const;
  bool MayHaveNulls() const { return validity_ != nullptr || field_->type == ArrowType::kNull; }

  // Of numbers. REQUIRES: a type of the size of T; row < rows().
  template <typename T>
  T Number(int64_t row) const {
    T value;
    std::memcpy(&value, Values(row, sizeof value), sizeof value);  // perhaps unaligned
    return value;
  }
  // Where the number of `row` lies.
  const char* Values(int64_t row, size_t size) const {
    return static_cast<const char*>(values_) + static_cast<size_t>(offset_ + row) * size;
  }
  // REQUIRES: a kBool.
  bool Bool(int64_t row) const { return Bit(static_cast<const uint8_t*>(values_), row); }
  // REQUIRES: a text or bytes; has(row).
  std::string_view Text(int64_t row) const;

  struct Range {
    int64_t begin;
    int64_t end;
  };
  // Rows of child 0. REQUIRES: a list; has(row) unless it is a kFixedList.
  Range Items(int64_t row) const;

 private:
  bool Bit(const uint8_t* bits, int64_t row) const {
    return (bits[(offset_ + row) / 8] >> ((offset_ + row) % 8) & 1) != 0;
  }
  int64_t Offset(int64_t row) const;  // of texts and lists; row <= rows()

  Status CheckArray(const ArrowArray* array, int64_t first) const;
  Status CheckBuffers(const ArrowArray& array) const;
  Status CheckOffsets(int64_t end_max) const;
  Status CheckViews() const;
  Status ReadChildren(const ArrowArray& array, int64_t first);

  const ArrowField* field_ = nullptr;
  int64_t offset_ = 0;  // of row 0 in the buffers
  int64_t rows_ = 0;
  const uint8_t* validity_ = nullptr;  // null: every row is there
  const void* values_ = nullptr;       // numbers, bits, offsets or views
  const char* bytes_ = nullptr;        // of texts with offsets
  const void* const* buffers_ = nullptr;
  int64_t buffer_count_ = 0;
  std::vector<ArrowColumn> children_;
};

}  // namespace pigment::abi

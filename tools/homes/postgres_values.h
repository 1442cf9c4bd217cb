// SPDX-License-Identifier: Apache-2.0
//
// Values as PostgreSQL's protocol has them in binary form, so that a vector keeps every bit and
// nothing needs quoting; metadata as jsonb wants it; errors. Needs no libpq.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pigment/pigment.h"
#include "tools/batch.h"

namespace pigment_tool {

// One-dimensional array of a type that is named by its OID.
class ArrayValue {
 public:
  explicit ArrayValue(uint32_t element_type) : element_type_(element_type) {}
  void Add(std::string_view element);
  void AddNull();
  size_t size() const { return size_; }
  std::string Text() const;  // the whole value

 private:
  uint32_t element_type_;
  uint32_t size_ = 0;
  bool has_nulls_ = false;
  std::string elements_;
};

// Type vector: 16 bits of dimension, 16 zero bits, floats; all big-endian.
std::string VectorValue(std::span<const float> vector);
// Throws Failure (DATA_LOSS) for what is none.
std::vector<float> ParseVectorValue(std::string_view value);

// Type jsonb: a version and text, with PositionalNumbers.
std::string JsonbValue(std::string_view json);
std::string_view ParseJsonbValue(std::string_view value);

// The same JSON with every number in positional notation. To jsonb 1e2 is the integer 100, and
// 1e300 one that is too large; 100.0 stays a double.
std::string PositionalNumbers(std::string_view json);

// Throws Failure (INVALID_ARGUMENT) naming the record and what PostgreSQL's text cannot hold.
void CheckTexts(const Record& record);

// What an SQLSTATE is in the status table, never OK.
pigment_status StatusOfSqlState(std::string_view sqlstate);

}  // namespace pigment_tool

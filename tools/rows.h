// SPDX-License-Identifier: Apache-2.0
//
// What a result holds, record by record; and records as JSON, exact to the last bit of a vector.
// Everything is borrowed from the result.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pigment/pigment.h"
#include "tools/batch.h"
#include "tools/json.h"
#include "tools/session.h"

namespace pigment_tool {

struct Row {
  std::string_view id;
  std::optional<std::string_view> document;
  std::optional<std::string_view> metadata;
  std::optional<std::string_view> uri;
  std::optional<std::string_view> highlights;
  std::span<const float> embedding;  // empty: not in the result
  std::optional<float> distance;
  std::optional<float> score;

  Record ToRecord() const;
};

class Rows {
 public:
  explicit Rows(const pigment_result* result);
  uint64_t size() const { return size_; }
  Row operator[](uint64_t row) const;

 private:
  uint64_t size_;
  pigment_text_column ids_{};
  pigment_text_column documents_{};
  pigment_text_column metadatas_{};
  pigment_text_column uris_{};
  pigment_text_column highlights_{};
  size_t dimension_ = 0;  // set with the next one
  const float* embeddings_ = nullptr;
  const float* distances_ = nullptr;
  const float* scores_ = nullptr;
};

// The record of this id, alone in a result. None: throws Failure (NOT_FOUND).
ResultHandle RecordOf(pigment_collection* collection, const std::string& id, int32_t include);
std::vector<float> VectorOfRecord(pigment_collection* collection, const std::string& id);

// With as few digits as tell it from other floats.
std::string ShortNumber(float value);

// One line without its end: {"id","distance","score","document","metadata","uri","embedding"}, of
// them what there is. A document that is no UTF-8 is "document_base64".
std::string RecordLine(const Row& row);

// The opposite. Throws Failure that says what is wrong.
Record ParseRecord(const std::string& line);

}  // namespace pigment_tool

// SPDX-License-Identifier: Apache-2.0
//
// pigment_result: views of a ResultSet. One thread at a time; needs neither client nor collection.

#include "c_api/result.h"

#include <utility>

namespace pigment::abi {

pigment_result* NewResult(ResultSet set, ResultKind kind) {
  auto shared = std::make_shared<const ResultSet>(std::move(set));
  auto* result = new pigment_result();
  result->set = std::move(shared);
  result->result_kind = kind;
  return result;
}

const float* Floats(const std::vector<float>& values) {
  static constexpr float kNone[1] = {0};
  return values.empty() ? kNone : values.data();
}

namespace {

bool Show(const pigment_result* result, const TextColumn ResultSet::*member, bool included,
          pigment_text_column* column) {
  if (column == nullptr) return false;
  *column = pigment_text_column{};
  if (!included) return false;
  const TextColumn& from = (*result->set).*member;
  column->offsets = from.offsets.data();
  column->bytes = from.bytes.data();
  column->validity = from.validity.empty() ? nullptr : from.validity.data();
  return true;
}

}  // namespace
}  // namespace pigment::abi

using pigment::ResultSet;
using pigment::abi::IsHandle;
using pigment::abi::Show;

uint64_t pigment_result_query_count(const pigment_result* result) {
  if (!IsHandle(result) || result->set->query_offsets.empty()) return 0;
  return result->set->query_offsets.size() - 1;
}

uint64_t pigment_result_row_count(const pigment_result* result) {
  if (!IsHandle(result) || result->set->query_offsets.empty()) return 0;
  return result->set->rows();
}

const uint64_t* pigment_result_query_offsets(const pigment_result* result) {
  return IsHandle(result) ? result->set->query_offsets.data() : nullptr;
}

bool pigment_result_ids(const pigment_result* result, pigment_text_column* column) {
  return Show(result, &ResultSet::ids, IsHandle(result), column);
}

bool pigment_result_documents(const pigment_result* result, pigment_text_column* column) {
  return Show(result, &ResultSet::documents, IsHandle(result) && result->set->included.documents,
              column);
}

bool pigment_result_metadatas(const pigment_result* result, pigment_text_column* column) {
  return Show(result, &ResultSet::metadatas, IsHandle(result) && result->set->included.metadatas,
              column);
}

bool pigment_result_uris(const pigment_result* result, pigment_text_column* column) {
  return Show(result, &ResultSet::uris, IsHandle(result) && result->set->included.uris, column);
}

const float* pigment_result_distances(const pigment_result* result) {
  if (!IsHandle(result) || !result->set->included.distances) return nullptr;
  return pigment::abi::Floats(result->set->distances);
}

const float* pigment_result_scores(const pigment_result* result) {
  if (!IsHandle(result) || !result->set->has_scores) return nullptr;
  return pigment::abi::Floats(result->set->scores);
}

bool pigment_result_highlights(const pigment_result* result, pigment_text_column* column) {
  return Show(result, &ResultSet::highlights,
              IsHandle(result) && !result->set->highlights.offsets.empty(), column);
}

const float* pigment_result_embeddings(const pigment_result* result, size_t* dimension) {
  const bool included = IsHandle(result) && result->set->included.embeddings;
  if (dimension != nullptr) *dimension = included ? result->set->dimension : 0;
  return included ? pigment::abi::Floats(result->set->embeddings) : nullptr;
}

int32_t pigment_result_included(const pigment_result* result) {
  if (!IsHandle(result)) return 0;
  const pigment::Include& included = result->set->included;
  const int32_t bits = (included.documents ? PIGMENT_INCLUDE_DOCUMENTS : 0) |
                       (included.metadatas ? PIGMENT_INCLUDE_METADATAS : 0) |
                       (included.embeddings ? PIGMENT_INCLUDE_EMBEDDINGS : 0) |
                       (included.uris ? PIGMENT_INCLUDE_URIS : 0) |
                       (included.distances ? PIGMENT_INCLUDE_DISTANCES : 0);
  return bits != 0 ? bits : PIGMENT_INCLUDE_NOTHING;
}

uint64_t pigment_result_position(const pigment_result* result) {
  return IsHandle(result) ? result->set->position : 0;
}

const char* pigment_result_explain(const pigment_result* result, size_t* size) {
  const bool given = IsHandle(result) && !result->set->explain_json.empty();
  if (size != nullptr) *size = given ? result->set->explain_json.size() : 0;
  return given ? result->set->explain_json.c_str() : nullptr;
}

const char* pigment_result_cursor(const pigment_result* result, size_t* size) {
  const bool given = IsHandle(result) && !result->set->cursor.empty();
  if (size != nullptr) *size = given ? result->set->cursor.size() : 0;
  return given ? result->set->cursor.c_str() : nullptr;
}

void pigment_result_free(pigment_result* result) {
  if (IsHandle(result)) delete result;
}

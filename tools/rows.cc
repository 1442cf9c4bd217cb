// SPDX-License-Identifier: Apache-2.0
//
// Rows of results.

#include "tools/rows.h"

#include <array>
#include <charconv>
#include <cmath>

#include "tools/base64.h"
#include "tools/json_text.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

std::optional<std::string_view> TextAt(const pigment_text_column& column, uint64_t row) {
  if (column.offsets == nullptr) return std::nullopt;
  if (column.validity != nullptr && (column.validity[row / 8] >> (row % 8) & 1) == 0) {
    return std::nullopt;
  }
  const auto begin = static_cast<size_t>(column.offsets[row]);
  return std::string_view(column.bytes + begin,
                          static_cast<size_t>(column.offsets[row + 1]) - begin);
}

std::string Quoted(std::string_view text) { return nlohmann::json(text).dump(); }

std::string DocumentMember(std::string_view document) {
  try {
    return "\"document\":" + Quoted(document);
  } catch (const nlohmann::json::type_error&) {  // no UTF-8
    return "\"document_base64\":\"" + ToBase64(document) + '"';
  }
}

[[noreturn]] void Wrong(const std::string& what) { throw Failure(PIGMENT_INVALID_ARGUMENT, what); }

std::string TextOf(const std::string& member, const nlohmann::json& value) {
  if (!value.is_string()) Wrong("\"" + member + "\" is no text");
  return value.get<std::string>();
}

std::vector<float> VectorOf(const nlohmann::json& value) {
  if (!value.is_array()) Wrong("\"embedding\" is no list");
  std::vector<float> vector;
  vector.reserve(value.size());
  for (const auto& number : value) {
    if (!number.is_number()) Wrong("\"embedding\" holds something that is no number");
    vector.push_back(number.get<float>());
  }
  if (vector.empty()) Wrong("\"embedding\" is empty");
  return vector;
}

}  // namespace

ResultHandle RecordOf(pigment_collection* collection, const std::string& id, int32_t include) {
  Texts ids;
  ids.Add(id);
  pigment_get_request request{};
  request.struct_size = sizeof request;
  request.ids_count = 1;
  request.ids = ids.column();
  request.include = include;
  pigment_result* result = nullptr;
  pigment_error* error = nullptr;
  Check(pigment_collection_get(collection, &request, nullptr, &result, &error), error);
  ResultHandle owned(result);
  if (pigment_result_row_count(result) == 0) {
    throw Failure(PIGMENT_NOT_FOUND, "no record \"" + id + "\"");
  }
  return owned;
}

std::vector<float> VectorOfRecord(pigment_collection* collection, const std::string& id) {
  const ResultHandle found = RecordOf(collection, id, PIGMENT_INCLUDE_EMBEDDINGS);
  const Row row = Rows(found.get())[0];
  return {row.embedding.begin(), row.embedding.end()};
}

std::string ShortNumber(float value) {
  if (value == 0 && std::signbit(value)) return "-0.0";  // "-0" is read as an integer
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return std::string(digits.data(), end);
}

Record Row::ToRecord() const {
  Record record;
  record.id = id;
  if (!embedding.empty()) record.embedding.emplace(embedding.begin(), embedding.end());
  if (document) record.document = *document;
  if (metadata) record.metadata = *metadata;
  if (uri) record.uri = *uri;
  return record;
}

Rows::Rows(const pigment_result* result)
    : size_(pigment_result_row_count(result)),
      embeddings_(pigment_result_embeddings(result, &dimension_)),
      distances_(pigment_result_distances(result)),
      scores_(pigment_result_scores(result)) {
  pigment_result_ids(result, &ids_);
  pigment_result_documents(result, &documents_);
  pigment_result_metadatas(result, &metadatas_);
  pigment_result_uris(result, &uris_);
  pigment_result_highlights(result, &highlights_);
}

Row Rows::operator[](uint64_t row) const {
  Row made;
  made.id = *TextAt(ids_, row);
  made.document = TextAt(documents_, row);
  made.metadata = TextAt(metadatas_, row);
  made.uri = TextAt(uris_, row);
  made.highlights = TextAt(highlights_, row);
  if (embeddings_ != nullptr) made.embedding = {embeddings_ + row * dimension_, dimension_};
  if (distances_ != nullptr) made.distance = distances_[row];
  if (scores_ != nullptr) made.score = scores_[row];
  return made;
}

std::string RecordLine(const Row& row) {
  std::string line = "{\"id\":" + Quoted(row.id);
  if (row.distance) (line += ",\"distance\":") += ShortNumber(*row.distance);
  if (row.score) (line += ",\"score\":") += ShortNumber(*row.score);
  if (row.document) (line += ',') += DocumentMember(*row.document);
  if (row.highlights) (line += ",\"highlights\":") += *row.highlights;
  if (row.metadata) (line += ",\"metadata\":") += *row.metadata;
  if (row.uri) (line += ",\"uri\":") += Quoted(*row.uri);
  if (!row.embedding.empty()) {
    line += ",\"embedding\":[";
    for (const float value : row.embedding) {
      (line += ShortNumber(value)) += ',';
    }
    line.back() = ']';
  }
  return line += '}';
}

Record ParseRecord(const std::string& line) {
  const nlohmann::json json = ParseJson(line);
  if (!json.is_object()) Wrong("no JSON object");
  Record record;
  bool has_id = false;
  for (const auto& [member, value] : json.items()) {
    if (value.is_null() && member != "id") continue;
    if (member == "id") {
      record.id = TextOf(member, value);
      has_id = true;
    } else if (member == "document") {
      record.document = TextOf(member, value);
    } else if (member == "document_base64") {
      record.document = FromBase64(TextOf(member, value));
    } else if (member == "uri") {
      record.uri = TextOf(member, value);
    } else if (member == "metadata") {
      if (!value.is_object()) Wrong("\"metadata\" is no object");
      record.metadata = value.dump();
    } else if (member == "embedding") {
      record.embedding = VectorOf(value);
    } else if (member != "distance" && member != "score" && member != "highlights") {
      // What a query printed can be imported; a member that is misspelt must not be lost.
      Wrong("unknown member \"" + member +
            "\": there are id, document, document_base64, metadata, uri, embedding");
    }
  }
  if (!has_id) Wrong("no \"id\"");
  return record;
}

}  // namespace pigment_tool

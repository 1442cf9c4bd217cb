// SPDX-License-Identifier: Apache-2.0
//
// Results on the terminal.

#include "tools/answers.h"

#include <cstdio>
#include <string>

#include "tools/output.h"
#include "tools/rows.h"

namespace pigment_tool {
namespace {

constexpr size_t kTextLetters = 60;
constexpr size_t kVectorShown = 4;

// Members are printed as they are, so that numbers keep every bit; only the frame is made here.
std::string RecordsText(const Rows& rows, uint64_t begin, uint64_t end, const char* indent) {
  if (begin == end) return "[]";
  std::string text = "[";
  for (uint64_t row = begin; row < end; ++row) {
    text += row == begin ? "\n" : ",\n";
    text += indent;
    text += "  " + RecordLine(rows[row]);
  }
  return text + "\n" + indent + "]";
}

std::string VectorText(std::span<const float> vector) {
  std::string text = "[";
  for (size_t i = 0; i < vector.size() && i < kVectorShown; ++i) {
    text += (i > 0 ? ", " : "") + ShortNumber(vector[i]);
  }
  if (vector.size() > kVectorShown) text += ", … " + std::to_string(vector.size()) + " in all";
  return text + "]";
}

// JSON's own printing of a float would show the digits of a double.
nlohmann::json Number(float value) {
  const auto json = nlohmann::json::parse(ShortNumber(value), nullptr, false);
  return json.is_number() ? json : nlohmann::json(ShortNumber(value));
}

std::string TextOr(const std::optional<std::string_view>& text) {
  return text ? Excerpt(*text, kTextLetters) : "-";
}

void PrintTable(const Rows& rows, uint64_t begin, uint64_t end, int32_t included) {
  const bool has_distance = begin < end && rows[begin].distance.has_value();
  const bool has_score = begin < end && rows[begin].score.has_value();
  std::vector<std::string> headings = {"id"};
  if (has_distance) headings.emplace_back("distance");
  if (has_score) headings.emplace_back("score");
  if ((included & PIGMENT_INCLUDE_DOCUMENTS) != 0) headings.emplace_back("document");
  if ((included & PIGMENT_INCLUDE_METADATAS) != 0) headings.emplace_back("metadata");
  if ((included & PIGMENT_INCLUDE_URIS) != 0) headings.emplace_back("uri");
  if ((included & PIGMENT_INCLUDE_EMBEDDINGS) != 0) headings.emplace_back("embedding");
  Table table(headings);
  for (uint64_t at = begin; at < end; ++at) {
    const Row row = rows[at];
    std::vector<nlohmann::json> cells = {Excerpt(row.id, kTextLetters)};
    if (has_distance) cells.push_back(Number(*row.distance));
    if (has_score) cells.push_back(Number(*row.score));
    if ((included & PIGMENT_INCLUDE_DOCUMENTS) != 0) cells.emplace_back(TextOr(row.document));
    if ((included & PIGMENT_INCLUDE_METADATAS) != 0) cells.emplace_back(TextOr(row.metadata));
    if ((included & PIGMENT_INCLUDE_URIS) != 0) cells.emplace_back(TextOr(row.uri));
    if ((included & PIGMENT_INCLUDE_EMBEDDINGS) != 0) cells.emplace_back(VectorText(row.embedding));
    table.Add(cells);
  }
  table.Print();
}

}  // namespace

void PrintRecords(const pigment_result* result, bool is_json) {
  const Rows rows(result);
  if (is_json) {
    std::puts(RecordsText(rows, 0, rows.size(), "").c_str());
  } else {
    PrintTable(rows, 0, rows.size(), pigment_result_included(result));
  }
}

void PrintAnswers(const pigment_result* result, bool is_json) {
  const Rows rows(result);
  const uint64_t* const offsets = pigment_result_query_offsets(result);
  const uint64_t queries = pigment_result_query_count(result);
  std::string text = "[";
  for (uint64_t query = 0; query < queries; ++query) {
    if (is_json) {
      text += query == 0 ? "\n  " : ",\n  ";
      text += RecordsText(rows, offsets[query], offsets[query + 1], "  ");
      continue;
    }
    if (queries > 1)
      std::printf("%squery %llu\n", query == 0 ? "" : "\n",
                  static_cast<unsigned long long>(query + 1));
    PrintTable(rows, offsets[query], offsets[query + 1], pigment_result_included(result));
  }
  if (is_json) std::puts((text + "\n]").c_str());
}

}  // namespace pigment_tool

// SPDX-License-Identifier: Apache-2.0
//
// Each question is asked exactly once, then with one width after the other.

#include "tools/viz/recall.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "tools/rows.h"

namespace pigment_tool {
namespace {

constexpr int64_t kWidthMax = 4096;

struct Neighbour {
  std::string id;
  float distance = 0;
};

struct Answer {
  std::vector<Neighbour> neighbours;  // others than the record that asks, the nearest first
  std::string strategy;
  uint64_t rows_scored = 0;
};

// `width` 0: exactly.
Answer Ask(pigment_collection* collection, const SampledRecord& question, int64_t width) {
  pigment_query_request request{};
  pigment_query_request_init(&request);
  request.embeddings = {question.embedding.data(), 1, question.embedding.size(), 0, PIGMENT_F32};
  request.n_results = kNeighbours + 1;
  request.include = PIGMENT_INCLUDE_DISTANCES;
  request.threads = 1;
  request.explain = true;
  if (width == 0) request.recall = 1;
  request.search_width = width;
  pigment_result* result = nullptr;
  pigment_error* error = nullptr;
  const pigment_call_options options = CallOptions();
  Check(pigment_collection_query(collection, &request, &options, &result, &error), error);
  const ResultHandle owned(result);
  Answer answer;
  const Rows rows(result);
  for (uint64_t row = 0; row < rows.size(); ++row) {
    if (rows[row].id == question.id) continue;
    answer.neighbours.push_back({std::string(rows[row].id), *rows[row].distance});
  }
  if (answer.neighbours.size() > kNeighbours) answer.neighbours.resize(kNeighbours);
  size_t size = 0;
  const char* const text = pigment_result_explain(result, &size);
  if (text == nullptr) throw Failure(PIGMENT_INTERNAL, "the result explains nothing");
  const nlohmann::json explained = nlohmann::json::parse(text, text + size);
  answer.strategy = explained.at("strategy");
  answer.rows_scored = explained.at("segments").at("rows_scored").get<uint64_t>() +
                       explained.at("tail").at("rows_scored").get<uint64_t>();
  return answer;
}

// Of two records that are equally far either counts.
size_t FoundOf(const Answer& exact, const Answer& answer) {
  std::set<std::string_view> ids;
  for (const Neighbour& neighbour : exact.neighbours) ids.insert(neighbour.id);
  size_t found = 0;
  for (const Neighbour& neighbour : answer.neighbours) {
    if (ids.contains(neighbour.id) || neighbour.distance <= exact.neighbours.back().distance) {
      ++found;
    }
  }
  return found;
}

}  // namespace

RecallByWidth MeasureRecall(pigment_collection* collection,
                            std::span<const SampledRecord> questions) {
  RecallByWidth measured;
  measured.strategy = "exact";
  std::vector<Answer> exact;
  size_t wanted = 0;
  for (const SampledRecord& question : questions) {
    exact.push_back(Ask(collection, question, 0));
    wanted += exact.back().neighbours.size();
  }
  if (wanted == 0) return measured;
  for (int64_t width = 1; width <= kWidthMax; width *= 2) {
    WidthRecall at{width, 0, 0};
    size_t found = 0;
    bool uses_index = false;
    for (size_t i = 0; i < questions.size(); ++i) {
      const Answer answer = Ask(collection, questions[i], width);
      found += FoundOf(exact[i], answer);
      at.rows_scored += static_cast<double>(answer.rows_scored);
      if (answer.strategy == "exact") continue;
      uses_index = true;
      measured.strategy = answer.strategy;
    }
    if (!uses_index) break;
    at.recall = static_cast<double>(found) / static_cast<double>(wanted);
    at.rows_scored /= static_cast<double>(questions.size());
    // A width beyond all that there is changes nothing any more.
    if (!measured.widths.empty() && measured.widths.back().recall == at.recall &&
        measured.widths.back().rows_scored == at.rows_scored) {
      break;
    }
    measured.widths.push_back(at);
    if (found == wanted) break;
  }
  return measured;
}

}  // namespace pigment_tool

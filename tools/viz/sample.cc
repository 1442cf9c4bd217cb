// SPDX-License-Identifier: Apache-2.0
//
// The sample is drawn from the ids, and only the records of the sample are read whole.

#include "tools/viz/sample.h"

#include <algorithm>
#include <random>
#include <utility>

#include "tools/batch.h"
#include "tools/output.h"
#include "tools/pages.h"
#include "tools/progress.h"
#include "tools/rows.h"

namespace pigment_tool {
namespace {

constexpr size_t kDocumentLetters = 200;

// Vitter's algorithm R: each of the ids seen so far is in the reservoir with the same chance.
std::vector<std::string> DrawIds(pigment_collection* collection, const Filters& filters,
                                 size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::pair<uint64_t, std::string>> reservoir;  // ids with their places
  Pages pages(collection, filters, "", PIGMENT_INCLUDE_NOTHING);
  Progress progress("viz", pages.Count());
  uint64_t seen = 0;
  while (const ResultHandle page = pages.Next()) {
    const Rows rows(page.get());
    for (uint64_t row = 0; row < rows.size(); ++row, ++seen) {
      if (reservoir.size() < count) {
        reservoir.emplace_back(seen, rows[row].id);
      } else if (const uint64_t place = random() % (seen + 1); place < count) {
        reservoir[place] = {seen, std::string(rows[row].id)};
      }
    }
    progress.Show(seen, seen);
  }
  std::sort(reservoir.begin(), reservoir.end());
  std::vector<std::string> ids;
  for (auto& [place, id] : reservoir) ids.push_back(std::move(id));
  return ids;
}

}  // namespace

std::vector<SampledRecord> DrawSample(pigment_collection* collection, const Filters& filters,
                                      size_t count, uint64_t seed) {
  Texts ids;
  for (const std::string& id : DrawIds(collection, filters, count, seed)) ids.Add(id);
  std::vector<SampledRecord> sample;
  if (ids.size() == 0) return sample;  // a get without ids is one of all records
  pigment_get_request request{};
  request.struct_size = sizeof request;
  request.ids_count = ids.size();
  request.ids = ids.column();
  request.include = PIGMENT_INCLUDE_DOCUMENTS | PIGMENT_INCLUDE_EMBEDDINGS;
  pigment_result* result = nullptr;
  pigment_error* error = nullptr;
  const pigment_call_options options = CallOptions();
  Check(pigment_collection_get(collection, &request, &options, &result, &error), error);
  const ResultHandle owned(result);
  const Rows rows(result);
  for (uint64_t i = 0; i < rows.size(); ++i) {
    const Row row = rows[i];
    sample.push_back({std::string(row.id),
                      Excerpt(row.document.value_or(""), kDocumentLetters),
                      {row.embedding.begin(), row.embedding.end()}});
  }
  return sample;
}

}  // namespace pigment_tool

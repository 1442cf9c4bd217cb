// SPDX-License-Identifier: Apache-2.0
//
// Searches that ask indexes of segments, and sign codes of a cache of pending rows with them:
// against sorting every row, while the chain grows and calls are interrupted; and that hardly a
// page is read for it.

#include <gtest/gtest.h>

#include "tests/c_api/host_fixture.h"

namespace host_test {
namespace {

struct Cache {
  Cache(Index& used, uint32_t dimension, uint64_t bytes_max) : index(used) {
    index.cache = NewCache(index, dimension, bytes_max);
  }
  ~Cache() { pigment_pending_cache_free(index.cache); }
  Index& index;
};

TEST(HostPendingCodes, GiveEveryRowOnceWhateverWasOverlooked) {
  const int32_t metrics[] = {PIGMENT_METRIC_L2, PIGMENT_METRIC_COSINE_NAN,
                             PIGMENT_METRIC_NEGATIVE_IP, PIGMENT_METRIC_COSINE, PIGMENT_METRIC_L1};
  const uint32_t dimensions[] = {3, 64, 129, 768};
  const uint64_t limits[] = {100000, 400000, uint64_t{1} << 30, uint64_t{1} << 30};
  pigment_host_bytes wanted_key = {"a", 1};
  pigment_host_condition condition{};
  condition.kind = PIGMENT_CONDITION_ANY_OF;
  condition.keys = &wanted_key;
  condition.key_count = 1;
  Recall recall;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const uint32_t dimension = dimensions[random() % std::size(dimensions)];
    Clustered data(random, dimension);
    Index index(dimension);
    index.has_keys = true;
    index.segment_metric = metrics[seed % std::size(metrics)];
    index.segment_index = random() % 2 ? PIGMENT_INDEX_CLUSTERS : PIGMENT_INDEX_GRAPH;
    index.AddSegment(data.Rows(600));
    for (const Row& row : data.Rows(1100 + random() % 900)) index.AddPending(row);
    Cache cache(index, dimension, limits[random() % std::size(limits)]);
    index.recall = 0.98;
    std::vector<float> begun_query = data.Vector();
    pigment_host_search* const begun = index.NewSearch(index.segment_metric, &begun_query);
    const std::vector<Row> begun_rows = index.all;
    std::vector<pigment_host_hit> first(1 + random() % 20);
    size_t first_count = 0;
    Error error;
    HOST_OK(pigment_host_search_next(begun, first.data(), first.size(), &first_count, error.out()));
    for (int round = 0; round < 4; ++round) {
      for (const Row& row : data.Rows(random() % 300)) index.AddPending(row);
      index.conditions.clear();
      if (random() % 3 == 0) index.conditions.push_back(condition);
      const auto query = data.Vector();
      pigment_host_search* const search = index.NewSearch(index.segment_metric, &query);
      const std::vector<Expected> got = Drain(
          search, random,
          {.pages = random() % 2 ? &index.pages : nullptr, .pins_first = 50, .pins_more = 50});
      std::vector<Row> let_through = index.all;
      if (!index.conditions.empty())
        std::erase_if(let_through, [](const Row& row) { return row.keys.empty(); });
      const std::vector<Expected> expected = Model(let_through, index.segment_metric, &query);
      ASSERT_EQ(got.size(), expected.size());
      recall.Add(got, expected);
      std::vector<Expected> sorted = got;
      std::sort(sorted.begin(), sorted.end());
      ASSERT_EQ(sorted, expected);
      pigment_host_search_free(search);
    }
    // One that began before the others goes on with the rows that it began with.
    std::vector<Expected> got = Drain(begun, random);
    for (size_t i = 0; i < first_count; ++i)
      got.emplace_back(first[i].kind, first[i].distance, first[i].row_pointer);
    std::sort(got.begin(), got.end());
    EXPECT_EQ(got, Model(begun_rows, index.segment_metric, &begun_query));
    pigment_host_search_free(begun);
    EXPECT_EQ(index.pages.pinned, 0) << "a pin was left";
    EXPECT_LE(index.pages.pinned_max, 8);
    if (HasFailure()) return;
  }
  EXPECT_GE(static_cast<double>(recall.found), 0.98 * static_cast<double>(recall.wanted))
      << recall.found << " of " << recall.wanted;
}

// Rows of the segment are as far away as they can be, so that what is near is pending.
TEST(HostPendingCodes, FindNearlyAllAndReadFewPages) {
  constexpr uint32_t kDimension = 64;
  constexpr uint64_t kRows = 3000;
  constexpr uint64_t kSearches = 50;
  for (const int32_t metric : {PIGMENT_METRIC_L2, PIGMENT_METRIC_COSINE_NAN}) {
    std::mt19937_64 random(1);
    Clustered data(random, kDimension);
    Index index(kDimension);
    index.segment_metric = metric;
    index.segment_index = PIGMENT_INDEX_CLUSTERS;
    std::vector<Row> rows(500);
    for (uint64_t i = 0; i < rows.size(); ++i) {
      rows[i] = {data.Vector(), kRows + i, false};
      for (float& value : rows[i].vector) value *= -1;
    }
    index.AddSegment(rows);
    for (uint64_t i = 0; i < kRows; ++i) index.AddPending({data.Vector(), i, false});
    uint64_t chain_pages = 1;
    for (uint32_t page = index.first_pending; page != index.last_pending; ++chain_pages)
      page = pigment_pending_page_next(index.pages.at(page));
    Cache cache(index, kDimension, kEverything);
    pigment_pending_cache* const kept = index.cache;
    index.recall = 0.98;
    Recall recall;
    uint64_t pages = 0;
    for (uint64_t i = 0; i < kSearches; ++i) {
      const auto query = data.Vector();
      uint64_t pages_read[2] = {};
      for (const bool is_cached : {false, true}) {
        index.cache = is_cached ? kept : nullptr;
        pigment_host_search* const search = index.NewSearch(metric, &query);
        constexpr size_t kNearest = 10;
        pigment_host_hit hits[kNearest];
        size_t count = 0;
        Error error;
        HOST_OK(pigment_host_search_next(search, hits, kNearest, &count, error.out()));
        ASSERT_EQ(count, kNearest);
        const pigment_host_search_counters counters = CountersOf(search);
        EXPECT_EQ(counters.pending_rows, kRows);
        EXPECT_GE(counters.rows_scored, kRows);
        pages_read[is_cached] = counters.pages_read;
        std::vector<Expected> got;
        for (const pigment_host_hit& hit : hits)
          got.emplace_back(hit.kind, hit.distance, hit.row_pointer);
        recall.Add(got, Model(index.all, metric, &query));
        pigment_host_search_free(search);
      }
      // By then all codes are made.
      if (i >= kSearches / 2) pages += pages_read[1] + chain_pages - pages_read[0];
    }
    index.cache = kept;
    EXPECT_GE(recall.found, recall.wanted - 2) << "of " << recall.wanted;
    EXPECT_LT(pages / (kSearches / 2), 60u) << "a search, of " << chain_pages;
  }
}

}  // namespace
}  // namespace host_test

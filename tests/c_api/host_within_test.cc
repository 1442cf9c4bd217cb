// SPDX-License-Identifier: Apache-2.0
//
// A host's search with a greatest distance, and with what is not a number first, last or left out,
// against sorting every row: any metric, with and without indexes, caches and filters, interrupted
// anywhere. And samples of how many rows are within a distance.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/c_api/host_fixture.h"
#include "tests/support/effort.h"

namespace host_test {
namespace {

constexpr RowKinds kRowKinds = {.kinds = 20, .twins = 2};
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int32_t kMetrics[] = {PIGMENT_METRIC_L2,         PIGMENT_METRIC_COSINE,
                                PIGMENT_METRIC_COSINE_NAN, PIGMENT_METRIC_NEGATIVE_IP,
                                PIGMENT_METRIC_IP,         PIGMENT_METRIC_L1};
constexpr int32_t kSegmentIndexes[] = {PIGMENT_INDEX_FLAT, PIGMENT_INDEX_GRAPH,
                                       PIGMENT_INDEX_CLUSTERS};

// From nothing to everything: none, that of a row, next to it, zero, below it, infinity.
std::optional<float> RandomDistance(std::mt19937_64& random, const std::vector<Expected>& rows) {
  const float one = rows.empty() ? 1 : std::get<1>(rows[random() % rows.size()]);
  switch (random() % 8) {
    case 0:
      return std::nullopt;
    case 1:
      return random() % 2 ? kInfinity : -kInfinity;
    case 2:
      return random() % 2 ? 0.0f : -0.0f;
    case 3:
      return -1.0f;
    case 4:
      return std::nextafter(one, -kInfinity);
    case 5:
      return std::nextafter(one, kInfinity);
    default:
      return one;
  }
}

// In classes as they come: 0 numbers, 1 what is none, 2 no vector; -1 what is none and comes first.
std::vector<Expected> Wanted(std::vector<Expected> rows, const Index& index) {
  std::erase_if(rows, [&](const Expected& row) {
    if (std::get<0>(row) == 0) return index.max_distance && std::get<1>(row) > *index.max_distance;
    if (std::get<0>(row) == 1) return index.nan == PIGMENT_NAN_LEFT_OUT;
    return index.max_distance.has_value();
  });
  if (index.nan == PIGMENT_NAN_FIRST) {
    std::stable_sort(rows.begin(), rows.end(), [](const Expected& a, const Expected& b) {
      return (std::get<0>(a) == 1) > (std::get<0>(b) == 1);
    });
  }
  return rows;
}

TEST(HostWithin, GivesAllRowsWithinADistanceAndNoOther) {
  uint64_t searched = 0;
  uint64_t cut = 0;
  uint64_t nan_first = 0;
  for (uint64_t seed = 0; seed < pigment::Rounds(300u); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const uint32_t dimensions[] = {1, 2, 3, 16, 65, 2100};
    const uint32_t dimension = dimensions[random() % std::size(dimensions)];
    const size_t most = dimension > 1000 ? 20 : 1500;
    Index index(dimension);
    index.pages.random.seed(static_cast<unsigned>(seed));
    index.segment_index = kSegmentIndexes[random() % std::size(kSegmentIndexes)];
    index.segment_metric = kMetrics[seed % std::size(kMetrics)];
    uint64_t pointer = 1;
    for (size_t i = random() % 4; i > 0; --i)
      index.AddSegment(RandomRows(random, kRowKinds, dimension, random() % most, &pointer));
    for (const Row& row : RandomRows(random, kRowKinds, dimension, random() % 200, &pointer))
      index.AddPending(row);
    if (random() % 2) index.cache = NewCache(index, dimension, 1 << 16);
    index.recall = random() % 3 ? 0.9 : 1;
    index.nan = static_cast<int32_t>(random() % 3);
    const auto query =
        random() % 12 ? RandomVector(random, dimension) : std::vector<float>(dimension);
    const std::vector<Expected> all = Model(index.all, index.segment_metric, &query);
    index.max_distance = RandomDistance(random, all);
    pigment_host_search* search =
        index.NewSearch(index.segment_metric, &query, random() % 3 ? random() % 20 : 0,
                        random() % 2 ? 1 + random() % 2000 : 0);
    std::vector<Expected> got =
        Drain(search, random,
              {.pages = random() % 2 ? &index.pages : nullptr, .pins_first = 50, .pins_more = 50});
    const pigment_host_search_counters counters = CountersOf(search);
    searched += counters.walks + counters.probes;
    std::vector<Expected> expected = Wanted(all, index);
    cut += expected.size() < all.size() && !expected.empty() ? 1 : 0;
    nan_first += !expected.empty() && std::get<0>(expected[0]) == 1 ? 1 : 0;
    ASSERT_EQ(got.size(), expected.size());
    if (index.recall < 1) {
      // Numbers may come late, but all of them before what comes behind numbers.
      const auto is_number = [](const Expected& row) { return std::get<0>(row) == 0; };
      const auto first = std::find_if(got.begin(), got.end(), is_number);
      std::sort(first, std::find_if_not(first, got.end(), is_number));
    }
    EXPECT_EQ(got, expected);
    EXPECT_EQ(index.pages.pinned, 0) << "a pin was left";
    pigment_host_search_free(search);
    pigment_pending_cache_free(index.cache);
    if (HasFailure()) return;
  }
  EXPECT_GT(searched, pigment::Rounds(20u)) << "indexes were not asked";
  EXPECT_GT(cut, pigment::Rounds(50u)) << "distances let everything or nothing through";
  EXPECT_GT(nan_first, pigment::Rounds(15u));
}

TEST(HostWithin, EndsWhenNothingNearerIsLeft) {
  std::mt19937_64 random(7);
  Index index(16);
  index.segment_index = PIGMENT_INDEX_GRAPH;
  const std::vector<Row> rows = RowsWithVectors(random, 16, 6000);
  index.AddSegment(rows);
  index.recall = 0.98;
  const auto query = RandomVector(random, 16);
  const std::vector<Expected> all = Model(index.all, PIGMENT_METRIC_L2, &query);
  index.max_distance = std::get<1>(all[4]);
  pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, &query);
  EXPECT_EQ(Drain(search, random).size(), 5u);
  const pigment_host_search_counters counters = CountersOf(search);
  EXPECT_EQ(counters.passes, 2u) << "one over the graph, and one that looks at all";
  pigment_host_search_free(search);
}

TEST(HostWithin, LooksForNoNumberOnlyWhereThereMayBeNone) {
  std::mt19937_64 random(8);
  std::vector<Row> rows = RowsWithVectors(random, 16, 6000);
  const auto query = RandomVector(random, 16);
  for (const bool has_zero : {false, true}) {
    Index index(16);
    index.segment_index = PIGMENT_INDEX_GRAPH;
    index.segment_metric = PIGMENT_METRIC_COSINE_NAN;
    if (has_zero) rows[4321].vector.assign(16, 0.0f);
    index.AddSegment(rows);
    EXPECT_EQ(index.zero_vectors, has_zero ? 1u : 0u);
    index.AddPending({std::vector<float>(16), 7000, false});
    index.AddPending({RandomVector(random, 16), 7001, false});
    index.recall = 0.98;
    index.nan = PIGMENT_NAN_FIRST;
    pigment_host_search* search = index.NewSearch(index.segment_metric, &query);
    pigment_host_hit hits[3];
    size_t count = 0;
    Error error;
    HOST_OK(pigment_host_search_next(search, hits, 3, &count, error.out()));
    ASSERT_EQ(count, has_zero ? 2u : 1u);
    EXPECT_EQ(hits[0].row_pointer, has_zero ? 4321u : 7000u);
    EXPECT_EQ(hits[0].kind, 1);
    EXPECT_EQ(hits[count - 1].row_pointer, 7000u);
    EXPECT_EQ(CountersOf(search).rows_scored >= 6000, has_zero);
    EXPECT_EQ(Drain(search, random).size(), rows.size() + 1 - (has_zero ? 1 : 0));
    pigment_host_search_free(search);
  }
}

TEST(HostWithin, SamplesTheRowsThatAFilterLetsThrough) {
  Index index(2);
  index.has_keys = true;
  // Those with the key "a" are far from zero, those with "b" within one: a tenth of all.
  std::vector<Row> rows(2000);
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool is_near = i % 10 == 3;
    rows[i].pointer = i;
    if (i % 50 != 13) rows[i].vector = {is_near ? 0.5f : 3, 0};
    const std::string name = is_near ? "b" : "a";
    const pigment_host_key key = {0, PIGMENT_KEY_VALUE, name.data(), name.size()};
    rows[i].keys.resize(pigment_host_keys_bytes(&key, 1));
    pigment_host_keys_encode(&key, 1, rows[i].keys.data());
  }
  index.AddSegment({rows.begin(), rows.begin() + 700});
  index.AddSegment({rows.begin() + 700, rows.end()});
  const std::vector<float> zero = {0, 0};
  index.max_distance = 1.0f;
  Error error;
  const auto sample = [&](uint64_t size) {
    pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L1, &zero);
    uint64_t looked_at = 0;
    uint64_t within = 0;
    index.pages.fail_in = 2;
    index.pages.fail_code = PIGMENT_CANCELLED;
    while (pigment_host_search_sample_within(search, size, &looked_at, &within, error.out()) ==
           PIGMENT_CANCELLED) {
      index.pages.fail_in = 0;
    }
    EXPECT_EQ(error.message(), "");
    pigment_host_search_free(search);
    return std::pair(looked_at, within);
  };
  // Every row, where so many are asked for; of 200 near ones 40 have no vector.
  EXPECT_EQ(sample(5000), std::pair(uint64_t{2000}, uint64_t{160}));
  const auto some = sample(300);
  EXPECT_NEAR(static_cast<double>(some.first), 300, 40);
  EXPECT_NEAR(static_cast<double>(some.second), 24, 20);
  const std::string wanted = "b";
  const pigment_host_bytes bytes = {wanted.data(), wanted.size()};
  index.conditions = {{.column = 0,
                       .kind = PIGMENT_CONDITION_ANY_OF,
                       .keys = &bytes,
                       .key_count = 1,
                       .takes_low = false,
                       .takes_high = false}};
  EXPECT_EQ(sample(5000), std::pair(uint64_t{200}, uint64_t{160}));
  EXPECT_GE(sample(0).first, 1u);
}

TEST(HostWithin, RefusesBadArguments) {
  Error error;
  pigment_host_search_options options{};
  options.struct_size = sizeof options;
  options.metric = PIGMENT_METRIC_L2;
  options.dimension = 2;
  options.has_max_distance = true;
  pigment_host_search* search = nullptr;
  EXPECT_EQ(pigment_host_search_new(&options, &search, error.out()), PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(error.message(), "options.max_distance without a query");
  const float query[] = {1, 2};
  options.query = query;
  options.max_distance = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(pigment_host_search_new(&options, &search, error.out()), PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(error.message(), "options.max_distance must not be NaN");
  options.has_max_distance = false;
  options.nan = 3;
  EXPECT_EQ(pigment_host_search_new(&options, &search, error.out()), PIGMENT_INVALID_ARGUMENT);
  options.nan = PIGMENT_NAN_LAST;
  HOST_OK(pigment_host_search_new(&options, &search, error.out()));
  uint64_t rows = 7;
  uint64_t within = 7;
  EXPECT_EQ(pigment_host_search_sample_within(search, 10, &rows, &within, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(error.message(), "a sample needs a query and a greatest distance");
  EXPECT_EQ(rows + within, 0u);
  EXPECT_EQ(pigment_host_search_sample_within(search, 10, nullptr, &within, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(pigment_host_search_sample_within(nullptr, 10, &rows, &within, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  pigment_host_search_free(search);
}

}  // namespace
}  // namespace host_test

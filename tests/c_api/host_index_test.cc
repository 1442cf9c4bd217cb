// SPDX-License-Identifier: Apache-2.0
//
// Segments of a host with an index of their vectors: searches of them against sorting every row,
// what is built in how much memory, and what ends a build.

#include <gtest/gtest.h>

#include <thread>
#include <utility>

#include "tests/c_api/host_fixture.h"
#include "tests/support/effort.h"

namespace host_test {
namespace {

constexpr RowKinds kKinds = {.kinds = 40, .twins = 1};

size_t CountLate(const std::vector<Expected>& got) {
  size_t late = 0;
  for (size_t i = 1; i < got.size(); ++i)
    late +=
        got[i] < *std::max_element(got.begin(), got.begin() + static_cast<ptrdiff_t>(i)) ? 1 : 0;
  return late;
}

constexpr int32_t kIndexes[] = {PIGMENT_INDEX_GRAPH, PIGMENT_INDEX_CLUSTERS, PIGMENT_INDEX_AUTO};

TEST(HostIndex, GivesEveryRowOnceWhateverWasOverlooked) {
  constexpr size_t kNearest = 10;
  double recalled = 0;
  double wanted = 0;
  uint64_t searched = 0;
  for (uint64_t seed = 0; seed < pigment::Rounds(48u); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const uint32_t dimensions[] = {3, 16, 65};
    const uint32_t dimension = dimensions[random() % std::size(dimensions)];
    Index index(dimension);
    index.pages.random.seed(static_cast<unsigned>(seed));
    index.segment_index = kIndexes[seed % std::size(kIndexes)];
    const int32_t metrics[] = {PIGMENT_METRIC_L2,          PIGMENT_METRIC_COSINE_NAN,
                               PIGMENT_METRIC_NEGATIVE_IP, PIGMENT_METRIC_COSINE,
                               PIGMENT_METRIC_IP,          PIGMENT_METRIC_L1,
                               PIGMENT_METRIC_HAMMING,     PIGMENT_METRIC_JACCARD};
    index.segment_metric = metrics[seed % std::size(metrics)];
    uint64_t pointer = 1;
    index.bit_vectors = index.segment_metric >= PIGMENT_METRIC_HAMMING;
    index.half_vectors = !index.bit_vectors && random() % 3 == 0;
    for (size_t i = 1 + random() % 3; i > 0; --i) {
      std::vector<Row> rows =
          RandomRows(random, kKinds, dimension, 200 + random() % 3000, &pointer);
      if (index.half_vectors) RoundToHalves(rows);
      if (index.bit_vectors) MakeBits(rows);
      index.AddSegment(rows);
    }
    std::vector<Row> pending = RandomRows(random, kKinds, dimension, random() % 100, &pointer);
    if (index.bit_vectors) MakeBits(pending);
    for (const Row& row : pending) index.AddPending(row);
    index.recall = random() % 2 ? 0.98 : 0.7;
    if (random() % 4 == 0) index.width = 1 + random() % 20;
    index.rows_wanted = random() % 2 ? kNearest + random() % 200 : 0;
    index.rows_spare = random() % 2 ? random() % 20 : 0;
    auto query = RandomVector(random, dimension);
    if (index.bit_vectors) MakeBits(query);
    pigment_host_search* search = index.NewSearch(index.segment_metric, &query);
    std::vector<Expected> got =
        Drain(search, random,
              {.pages = random() % 2 ? &index.pages : nullptr, .pins_first = 50, .pins_more = 50});
    const pigment_host_search_counters counters = CountersOf(search);
    searched += counters.walks + counters.probes;
    EXPECT_GE(counters.visits, counters.walks + counters.probes);
    EXPECT_EQ(counters.rows_late, CountLate(got));
    std::vector<Expected> expected = Model(index.all, index.segment_metric, &query);
    if (index.recall == 0.98 && index.width == 0) {
      // Of rows that are equally far any is as good.
      const float farthest = std::get<1>(expected[kNearest - 1]);
      for (size_t i = 0; i < kNearest; ++i) recalled += std::get<1>(got[i]) <= farthest ? 1 : 0;
      wanted += kNearest;
    }
    // What is no number comes behind all numbers, in order.
    const auto last = std::partition_point(expected.begin(), expected.end(),
                                           [](const auto& row) { return std::get<0>(row) == 0; });
    ASSERT_EQ(got.size(), expected.size());
    std::sort(got.begin(), got.begin() + (last - expected.begin()));
    EXPECT_EQ(got, expected);
    EXPECT_EQ(index.pages.pinned, 0) << "a pin was left";
    EXPECT_LE(index.pages.pinned_max, 8);
    pigment_host_search_free(search);
    if (HasFailure()) return;
  }
  EXPECT_GT(searched, pigment::Rounds(40u)) << "indexes were not asked";
  EXPECT_GE(recalled / wanted, 0.95) << recalled << " of " << wanted;
}

TEST(HostIndex, IsNotAskedWhereAllAreWanted) {
  std::mt19937_64 random(1);
  Index index(16);
  index.segment_index = PIGMENT_INDEX_GRAPH;
  uint64_t pointer = 1;
  index.AddSegment(RandomRows(random, kKinds, 16, 3000, &pointer));
  const auto query = RandomVector(random, 16);
  for (const double recall : {0.0, 1.0}) {
    index.recall = recall;
    pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, &query);
    EXPECT_EQ(Drain(search, random), Model(index.all, PIGMENT_METRIC_L2, &query));
    EXPECT_EQ(CountersOf(search).walks, 0u);
    pigment_host_search_free(search);
  }
}

TEST(HostIndex, ReadsFewPagesForTheFirstRows) {
  std::mt19937_64 random(2);
  Index index(96);
  index.segment_index = PIGMENT_INDEX_GRAPH;
  // So few dimensions are filled that it is easy.
  std::vector<Row> rows = RowsWithVectors(random, 4, 10000);
  for (Row& row : rows) row.vector.resize(96);
  index.AddSegment(rows);
  index.recall = 0.98;
  pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, &rows[77].vector);
  pigment_host_hit hits[10];
  size_t count = 0;
  Error error;
  HOST_OK(pigment_host_search_next(search, hits, 10, &count, error.out()));
  ASSERT_EQ(count, 10u);
  EXPECT_EQ(hits[0].row_pointer, 77u);
  const pigment_host_search_counters counters = CountersOf(search);
  EXPECT_EQ(counters.passes, 1u);
  EXPECT_EQ(counters.walks, 1u);
  EXPECT_GT(counters.visits, 9u);
  EXPECT_LT(counters.visits, 500u);
  EXPECT_LT(counters.pages_read, 400u) << "of " << index.pages.pages.size();
  pigment_host_search_free(search);
}

TEST(HostIndex, LooksFirstForAsManyRowsAsAreWanted) {
  std::mt19937_64 random(8);
  Index index(16);
  index.segment_index = PIGMENT_INDEX_GRAPH;
  const std::vector<Row> rows = RowsWithVectors(random, 16, 10000);
  index.AddSegment(rows);
  const auto query = RandomVector(random, 16);
  pigment_host_hit hits[300];
  size_t count = 0;
  Error error;
  uint64_t visits_before = 0;
  for (const size_t wanted : {1, 10, 100}) {
    index.recall = 0.98;
    index.rows_wanted = wanted;
    pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, &query);
    HOST_OK(pigment_host_search_next(search, hits, std::size(hits), &count, error.out()));
    EXPECT_EQ(count, wanted);
    EXPECT_EQ(CountersOf(search).passes, 1u);
    EXPECT_GT(CountersOf(search).visits, visits_before);
    visits_before = CountersOf(search).visits;
    HOST_OK(pigment_host_search_next(search, hits, std::size(hits), &count, error.out()));
    EXPECT_GE(count, 1u) << "the others come by further passes";
    EXPECT_EQ(CountersOf(search).passes, 2u);
    EXPECT_EQ(Drain(search, random).size() + wanted + count, rows.size());
    pigment_host_search_free(search);
    // A look at everything keeps more.
    index.recall = 1;
    search = index.NewSearch(PIGMENT_METRIC_L2, &query);
    HOST_OK(pigment_host_search_next(search, hits, std::size(hits), &count, error.out()));
    EXPECT_EQ(count, std::max<size_t>(wanted, 64));
    EXPECT_EQ(CountersOf(search).passes, 1u);
    pigment_host_search_free(search);
  }
}

TEST(HostIndex, GivesSpareRowsOfWhatAWalkMeets) {
  constexpr size_t kWanted = 10, kSpare = 5;
  std::mt19937_64 random(10);
  Index index(16);
  index.segment_index = PIGMENT_INDEX_GRAPH;
  const std::vector<Row> rows = RowsWithVectors(random, 16, 10000);
  index.AddSegment(rows);
  index.recall = 0.98;
  Error error;
  double spare_found = 0;
  constexpr int kQueries = 50;
  for (int i = 0; i < kQueries; ++i) {
    const auto query = RandomVector(random, 16);
    const auto first_hits = [&](uint64_t* visits) {
      std::vector<pigment_host_hit> hits(300);
      size_t count = 0;
      pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, &query);
      EXPECT_EQ(pigment_host_search_next(search, hits.data(), hits.size(), &count, error.out()),
                PIGMENT_OK);
      EXPECT_EQ(CountersOf(search).passes, 1u);
      *visits = CountersOf(search).visits;
      EXPECT_EQ(Drain(search, random).size() + count, rows.size());
      pigment_host_search_free(search);
      hits.resize(count);
      return hits;
    };
    uint64_t visits = 0, visits_with_spare = 0;
    index.rows_wanted = kWanted;
    index.rows_spare = 0;
    const std::vector<pigment_host_hit> without = first_hits(&visits);
    index.rows_spare = kSpare;
    const std::vector<pigment_host_hit> with = first_hits(&visits_with_spare);
    ASSERT_EQ(without.size(), kWanted);
    ASSERT_EQ(with.size(), kWanted + kSpare);
    EXPECT_EQ(visits_with_spare, visits) << "it went farther for them";
    for (size_t j = 0; j < kWanted; ++j) EXPECT_EQ(with[j].row_pointer, without[j].row_pointer);
    const std::vector<Expected> nearest = Model(index.all, PIGMENT_METRIC_L2, &query);
    for (size_t j = kWanted; j < with.size(); ++j)
      spare_found += with[j].distance <= std::get<1>(nearest[kWanted + kSpare - 1]) ? 1 : 0;
  }
  EXPECT_GE(spare_found / (kQueries * kSpare), 0.9);
  // A look at everything gives them as it gives the others.
  index.recall = 1;
  index.rows_wanted = 100;
  const auto query = RandomVector(random, 16);
  pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, &query);
  pigment_host_hit hits[300];
  size_t count = 0;
  HOST_OK(pigment_host_search_next(search, hits, std::size(hits), &count, error.out()));
  EXPECT_EQ(count, 100 + kSpare);
  pigment_host_search_free(search);
}

TEST(HostIndex, LeavesOutRowsThatAreDeadToEverybody) {
  constexpr uint64_t kInSegments = 8000;
  std::mt19937_64 random(9);
  Index index(16);
  index.segment_index = PIGMENT_INDEX_GRAPH;
  index.recall = 0.98;
  std::vector<Row> rows;
  for (uint64_t pointer = 1; pointer <= kInSegments; ++pointer) {
    rows.push_back({RandomVector(random, 16), pointer, pointer % 7 == 0});
    if (pointer % (kInSegments / 2) == 0) index.AddSegment(std::exchange(rows, {}));
  }
  for (uint64_t i = 1; i <= 500; ++i)
    index.AddPending({RandomVector(random, 16), kInSegments + i, false});
  const auto query = RandomVector(random, 16);
  const auto drain = [&](pigment_host_search* search) {
    std::set<uint64_t> found;
    for (const Expected& hit : Drain(search, random)) found.insert(std::get<2>(hit));
    pigment_host_search_free(search);
    return found;
  };
  const auto begin = [&] { return index.NewSearch(PIGMENT_METRIC_L2, &query); };
  const std::set<uint64_t> all = drain(begin());
  std::set<uint64_t> expected = all;
  Error error;
  for (int round = 0; round < 4; ++round) {
    pigment_host_search* const search = begin();
    std::set<uint64_t> rest = expected;
    pigment_host_hit hits[10];
    size_t count = 0;
    HOST_OK(pigment_host_search_next(search, hits, 10, &count, error.out()));
    ASSERT_EQ(count, 10u);
    for (const pigment_host_hit& hit : hits) {
      ASSERT_EQ(rest.erase(hit.row_pointer), 1u);
      HOST_OK(pigment_host_search_mark_dead(search, hit.row_pointer, error.out()));
      if (hit.row_pointer <= kInSegments) expected.erase(hit.row_pointer);
    }
    // Of another time, and of no row.
    HOST_OK(pigment_host_search_mark_dead(search, *expected.begin(), error.out()));
    HOST_OK(pigment_host_search_mark_dead(search, kInSegments * 2, error.out()));
    EXPECT_EQ(drain(search), rest) << "what is under way goes on as it began";
    EXPECT_EQ(drain(begin()), expected);
  }
  EXPECT_LT(expected.size(), all.size());
  index.Reopen();
  EXPECT_EQ(drain(begin()), all);
}

// Adds rows until there is no room for another, and gives their number.
struct Built {
  uint64_t rows = 0;
  pigment_segment_info info{};
  bool has_given_up = false;
};

Built BuildWithin(uint64_t budget_bytes, uint64_t rows_max, bool goes_on) {
  constexpr uint32_t kDimension = 64;
  Built built;
  Error error;
  Pages pages;
  pigment_segment_options options = OptionsOf(pages, kDimension);
  options.metric = PIGMENT_METRIC_COSINE_NAN;
  options.index = PIGMENT_INDEX_GRAPH;
  options.memory_budget_bytes = budget_bytes;
  const uint64_t promised = pigment_segment_index_rows_max(&options);
  pigment_segment_builder* builder = nullptr;
  EXPECT_EQ(pigment_segment_builder_new(&options, &builder, error.out()), PIGMENT_OK);
  std::mt19937_64 random(3);
  for (; built.rows < rows_max; ++built.rows) {
    if (!goes_on && !pigment_segment_builder_has_room(builder)) break;
    const auto vector = RandomVector(random, kDimension);
    const float* added = built.rows % 10 == 3 ? nullptr : vector.data();
    EXPECT_EQ(pigment_segment_builder_add(builder, added, built.rows, error.out()), PIGMENT_OK)
        << error.message();
  }
  uint32_t root = 0;
  uint64_t rows = 0;
  EXPECT_EQ(pigment_segment_builder_finish(builder, &root, nullptr, &rows, error.out()), PIGMENT_OK)
      << error.message();
  EXPECT_FALSE(pigment_segment_builder_has_room(builder));
  built.has_given_up = pigment_segment_builder_has_given_up_index(builder);
  pigment_segment_builder_free(builder);
  EXPECT_EQ(rows, built.rows);
  EXPECT_EQ(promised == ~uint64_t{0}, budget_bytes == 0);
  // As vectors come by steps, and pages are in memory too, there may be less.
  if (!goes_on && built.rows < rows_max) {
    EXPECT_LE(built.rows, promised + promised / 8);
    EXPECT_GE(built.rows, promised / 2);
  }
  pigment_segment* segment = nullptr;
  const pigment_page_source source = pages.source();
  EXPECT_EQ(pigment_segment_open(&source, 1, root, &segment, error.out()), PIGMENT_OK);
  EXPECT_EQ(pigment_segment_verify(segment, error.out()), PIGMENT_OK) << error.message();
  built.info.struct_size = sizeof built.info;
  pigment_segment_get_info(segment, &built.info);
  pigment_segment_free(segment);
  return built;
}

TEST(HostIndex, HasNoMoreRowsThanItsMemoryHasRoomFor) {
  const Built all = BuildWithin(0, 6000, false);
  EXPECT_EQ(all.rows, 6000u);
  EXPECT_EQ(all.info.index, PIGMENT_INDEX_GRAPH);
  const Built some = BuildWithin(4 << 20, 6000, false);
  EXPECT_LT(some.rows, 6000u);
  EXPECT_GT(some.rows, 1000u);
  EXPECT_EQ(some.info.index, PIGMENT_INDEX_GRAPH);
  EXPECT_FALSE(some.has_given_up);
  const Built more = BuildWithin(4 << 20, 6000, true);
  EXPECT_EQ(more.rows, 6000u);
  EXPECT_EQ(more.info.index, PIGMENT_INDEX_FLAT);
  EXPECT_TRUE(more.has_given_up);
  const Built few = BuildWithin(64 << 10, 50, true);
  EXPECT_TRUE(few.has_given_up) << "there was no memory to begin with";
  EXPECT_FALSE(pigment_segment_builder_has_given_up_index(nullptr));
}

TEST(HostIndex, PromisesMoreRowsTheMoreMemoryThereIs) {
  pigment_segment_options options{};
  options.struct_size = sizeof options;
  options.segment = 1;
  options.dimension = 8;
  options.metric = PIGMENT_METRIC_L2;
  options.index = PIGMENT_INDEX_AUTO;
  uint64_t before = 0;
  for (uint32_t bits = 16; bits < 64; ++bits) {
    options.memory_budget_bytes = uint64_t{1} << bits;
    const uint64_t rows = pigment_segment_index_rows_max(&options);
    EXPECT_GE(rows, before) << bits;
    before = rows;
  }
  EXPECT_GT(before, uint64_t{4000000000});
}

TEST(HostIndex, PromisesFewerRowsTheMoreThreadsBuild) {
  pigment_segment_options options{};
  options.struct_size = sizeof options;
  options.segment = 1;
  options.dimension = 8;
  options.metric = PIGMENT_METRIC_L2;
  options.index = PIGMENT_INDEX_GRAPH;
  options.memory_budget_bytes = 64 << 20;
  const uint64_t of_one = pigment_segment_index_rows_max(&options);
  options.threads = 8;
  const uint64_t of_eight = pigment_segment_index_rows_max(&options);
  EXPECT_LT(of_eight, of_one);
  EXPECT_GT(of_eight, of_one / 2);
  options.threads = 256;
  const uint64_t of_most = pigment_segment_index_rows_max(&options);
  options.threads = 1000;
  EXPECT_EQ(pigment_segment_index_rows_max(&options), of_most);
}

TEST(HostIndex, OfHalvesTakesHalfThePagesOfItsVectors) {
  std::mt19937_64 random(12);
  uint64_t pointer = 1;
  std::vector<Row> rows = RandomRows(random, kKinds, 256, 1000, &pointer);
  RoundToHalves(rows);
  uint64_t pages[2];
  for (const bool half : {false, true}) {
    Index index(256);
    index.half_vectors = half;
    index.AddSegment(rows);
    pigment_segment_info info{};
    info.struct_size = sizeof info;
    pigment_segment_get_info(index.segment(0), &info);
    pages[half ? 1 : 0] = info.pages;
  }
  EXPECT_LT(pages[1], pages[0] * 11 / 20);
}

// What a distance may be off by.
double ShiftOf(int32_t metric, const std::vector<float>& query, double rounding) {
  return metric == PIGMENT_METRIC_NEGATIVE_IP
             ? rounding * pigment_host_norm(query.data(), query.size())
             : rounding;
}

TEST(HostIndex, OfRoundedVectorsIsOffByNoMoreThanItSays) {
  for (const int32_t metric : {PIGMENT_METRIC_L2, PIGMENT_METRIC_COSINE_NAN,
                               PIGMENT_METRIC_NEGATIVE_IP, PIGMENT_METRIC_L1}) {
    for (const int32_t kind : {PIGMENT_INDEX_FLAT, PIGMENT_INDEX_GRAPH, PIGMENT_INDEX_CLUSTERS}) {
      SCOPED_TRACE(testing::Message() << "metric " << metric << ", index " << kind);
      std::mt19937_64 random(static_cast<uint64_t>(metric * 10 + kind));
      Index index(20);
      index.rounds_to_halves = true;
      index.segment_metric = metric;
      index.segment_index = kind;
      std::normal_distribution<float> numbers;
      std::vector<Row> rows(1500);
      for (size_t i = 0; i < rows.size(); ++i) {
        rows[i].pointer = i + 1;
        rows[i].vector.resize(20);
        const float scale = std::exp(numbers(random));
        for (float& number : rows[i].vector) number = numbers(random) * scale;
      }
      index.AddSegment(rows);
      ASSERT_GT(index.rounding, 0);
      std::vector<float> query(20);
      for (float& number : query) number = numbers(random);
      index.recall = 1;
      pigment_host_search* search = index.NewSearch(metric, &query);
      const double shift = ShiftOf(metric, query, index.rounding);
      double worst = 0;
      for (const auto& [kind_of_hit, distance, pointer] : Drain(search, random, {})) {
        ASSERT_EQ(kind_of_hit, 0);
        const float exact = pigment_host_distance(metric, rows[pointer - 1].vector.data(),
                                                  query.data(), query.size());
        const double off = metric == PIGMENT_METRIC_L2 ? std::sqrt(exact) - std::sqrt(distance)
                                                       : double{exact} - distance;
        EXPECT_LE(std::fabs(off), shift * 1.01) << pointer;
        worst = std::max(worst, std::fabs(off));
      }
      EXPECT_GT(worst, shift / 1000) << "it says far too much";
      pigment_host_search_free(search);
    }
  }
}

TEST(HostIndex, RefusesAVectorThatCannotBeRoundedAndGoesOn) {
  Error error;
  Pages pages;
  pigment_segment_options options = OptionsOf(pages, 3);
  options.round_to_halves = true;
  pigment_segment_builder* builder = nullptr;
  HOST_OK(pigment_segment_builder_new(&options, &builder, error.out()));
  const float usual[] = {1, 2, 3}, large[] = {1, 1e5f, 3}, tiny[] = {1e-30f, 0, 0};
  HOST_OK(pigment_segment_builder_add(builder, usual, 17, error.out()));
  for (const float* vector : {large, tiny}) {
    EXPECT_EQ(pigment_segment_builder_add(builder, vector, 18, error.out()),
              PIGMENT_INVALID_ARGUMENT);
    EXPECT_EQ(error.message(), "16 bits a number do not hold the vector of row 0x12");
  }
  HOST_OK(pigment_segment_builder_add(builder, usual, 19, error.out()));
  EXPECT_EQ(pigment_segment_builder_rounding(builder), 0);
  uint32_t root = 0, written = 0;
  uint64_t rows = 0;
  HOST_OK(pigment_segment_builder_finish(builder, &root, &written, &rows, error.out()));
  EXPECT_EQ(rows, 2u);
  pigment_segment_builder_free(builder);
}

TEST(HostIndex, OfTooFewRowsIsNotBuiltAndOfFewIsOfClusters) {
  Index index(8);
  index.segment_index = PIGMENT_INDEX_GRAPH;
  index.index_rows_min = 100;
  index.graph_rows_min = 200;
  std::mt19937_64 random(4);
  for (const size_t count : {size_t{99}, size_t{100}, size_t{199}, size_t{200}}) {
    std::vector<Row> rows(count);
    for (size_t i = 0; i < count; ++i) rows[i] = {RandomVector(random, 8), i, false};
    index.AddSegment(rows);
  }
  const int32_t expected[] = {PIGMENT_INDEX_FLAT, PIGMENT_INDEX_CLUSTERS, PIGMENT_INDEX_CLUSTERS,
                              PIGMENT_INDEX_GRAPH};
  for (size_t i = 0; i < std::size(expected); ++i) {
    pigment_segment_info info{};
    info.struct_size = sizeof info;
    pigment_segment_get_info(index.segment(i), &info);
    EXPECT_EQ(info.index, expected[i]);
  }
}

struct PausingHost {
  Pages pages;
  uint32_t threads = 1;
  int pauses = 0;
  int pauses_max = 0;  // the last of them is told to stop; 0: none
  std::thread::id caller = std::this_thread::get_id();
  int elsewhere = 0;  // pauses that another thread asked for
};

pigment_status BuildByThreads(PausingHost& host, int32_t index) {
  constexpr uint32_t kDimension = 24;
  pigment_segment_options options = OptionsOf(host.pages, kDimension);
  options.index = index;
  options.threads = host.threads;
  options.context = &host;
  options.write_page = [](void* context, const void* page, uint32_t* physical) {
    return Pages::Write(&static_cast<PausingHost*>(context)->pages, page, physical);
  };
  options.pause = [](void* context) -> pigment_status {
    auto* self = static_cast<PausingHost*>(context);
    self->elsewhere += std::this_thread::get_id() == self->caller ? 0 : 1;
    return ++self->pauses == self->pauses_max ? PIGMENT_ABORTED : PIGMENT_OK;
  };
  pigment_segment_builder* builder = nullptr;
  EXPECT_EQ(pigment_segment_builder_new(&options, &builder, nullptr), PIGMENT_OK);
  std::mt19937_64 random(5);
  for (uint64_t i = 0; i < 3000; ++i) {
    const auto vector = RandomVector(random, kDimension);
    EXPECT_EQ(pigment_segment_builder_add(builder, vector.data(), i, nullptr), PIGMENT_OK);
  }
  uint32_t root = 0;
  const pigment_status status =
      pigment_segment_builder_finish(builder, &root, nullptr, nullptr, nullptr);
  pigment_segment_builder_free(builder);
  EXPECT_EQ(host.elsewhere, 0);
  return status;
}

TEST(HostIndex, EndsWithTheHostsCodeWhenItSaysSo) {
  for (const auto& [threads, pauses] : {std::pair{1u, 10}, std::pair{3u, 4}}) {
    PausingHost host;
    host.threads = threads;
    host.pauses_max = pauses;
    EXPECT_EQ(BuildByThreads(host, PIGMENT_INDEX_GRAPH), PIGMENT_ABORTED);
    EXPECT_EQ(host.pauses, pauses);
  }
}

TEST(HostIndex, IsTheSameWhoeverBuildsIt) {
  for (const int32_t index : {PIGMENT_INDEX_GRAPH, PIGMENT_INDEX_CLUSTERS}) {
    PausingHost alone;
    ASSERT_EQ(BuildByThreads(alone, index), PIGMENT_OK);
    EXPECT_GT(alone.pauses, 0);
    for (const uint32_t threads : {0u, 2u, 5u}) {
      SCOPED_TRACE(testing::Message() << "index " << index << ", threads " << threads);
      PausingHost host;
      host.threads = threads;
      ASSERT_EQ(BuildByThreads(host, index), PIGMENT_OK);
      EXPECT_GT(host.pauses, 0);
      ASSERT_EQ(host.pages.pages.size(), alone.pages.pages.size());
      for (size_t i = 0; i < host.pages.pages.size(); ++i)
        ASSERT_EQ(*host.pages.pages[i], *alone.pages.pages[i]) << "page " << i;
    }
  }
}

TEST(HostIndex, RefusesBadOptions) {
  Error error;
  Pages pages;
  pigment_segment_options options = OptionsOf(pages, 8);
  options.index = PIGMENT_INDEX_CLUSTERS + 1;
  pigment_segment_builder* builder = nullptr;
  EXPECT_EQ(pigment_segment_builder_new(&options, &builder, error.out()), PIGMENT_INVALID_ARGUMENT);
  EXPECT_NE(error.message().find("options.index"), std::string::npos) << error.message();
  EXPECT_FALSE(pigment_segment_builder_has_room(nullptr));
  const std::vector<float> query(8);
  for (const double recall : {-0.1, 1.1, std::nan("")}) {
    pigment_host_search_options search_options{};
    search_options.struct_size = sizeof search_options;
    search_options.metric = PIGMENT_METRIC_L2;
    search_options.dimension = 8;
    search_options.query = query.data();
    search_options.recall = recall;
    pigment_host_search* search = nullptr;
    EXPECT_EQ(pigment_host_search_new(&search_options, &search, error.out()),
              PIGMENT_INVALID_ARGUMENT);
    EXPECT_NE(error.message().find("options.recall"), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace host_test

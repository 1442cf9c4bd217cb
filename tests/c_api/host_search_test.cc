// SPDX-License-Identifier: Apache-2.0
//
// The host's search against sorting every row: any batches, cancellation anywhere, ties, NaN, NULL,
// overflow, damage.

#include <gtest/gtest.h>

#include "tests/c_api/host_fixture.h"

namespace host_test {
namespace {

std::vector<Row> RowsWithGaps(std::mt19937_64& random, uint32_t dimension, size_t count,
                              uint64_t* next_pointer) {
  std::vector<Row> rows(count);
  const auto twin = RandomVector(random, dimension);
  for (Row& row : rows) {
    row.pointer = *next_pointer;
    *next_pointer += 1 + random() % 3;
    row.is_dead = random() % 5 == 0;
    const auto kind = random() % 10;
    if (kind == 0) continue;  // NULL
    row.vector = kind < 3    ? twin
                 : kind == 3 ? std::vector<float>(dimension)
                             : RandomVector(random, dimension);
  }
  std::shuffle(rows.begin(), rows.end(), random);
  return rows;
}

TEST(HostSearch, GivesEveryRowOnceInTotalOrder) {
  for (uint64_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const uint32_t dimensions[] = {1, 2, 3, 16, 100, 384, 2027, 2028, 3000, 16000};
    const uint32_t dimension = dimensions[random() % std::size(dimensions)];
    const size_t most = dimension > 1000 ? 12 : 400;
    uint64_t pointer = 1;
    Index index(dimension);
    index.pages.random.seed(static_cast<unsigned>(seed));
    const size_t segments = random() % 4;
    for (size_t i = 0; i < segments; ++i)
      index.AddSegment(RowsWithGaps(random, dimension, random() % most, &pointer));
    for (const Row& row : RowsWithGaps(random, dimension, random() % most, &pointer))
      index.AddPending(row);
    const int32_t metric = static_cast<int32_t>(1 + random() % 6);
    const auto query = RandomVector(random, dimension);
    const std::vector<float>* ranked = random() % 6 == 0 ? nullptr : &query;
    pigment_host_search* search = index.NewSearch(metric, ranked, random() % 3 ? random() % 20 : 0,
                                                  random() % 2 ? 1 + random() % 2000 : 0);
    const auto got = Drain(search, random, {.pages = random() % 2 ? &index.pages : nullptr});
    EXPECT_EQ(got, Model(index.all, metric, ranked));
    EXPECT_EQ(index.pages.pinned, 0) << "a pin was left";
    EXPECT_LE(index.pages.pinned_max, 4);
    pigment_host_search_free(search);
    if (HasFailure()) return;
  }
}

TEST(HostSearch, OfAnEmptyIndexHasNoHits) {
  Index index(3);
  const std::vector<float> query = {1, 2, 3};
  for (const std::vector<float>* ranked :
       {&query, static_cast<const std::vector<float>*>(nullptr)}) {
    pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, ranked);
    std::mt19937_64 random(1);
    EXPECT_TRUE(Drain(search, random).empty());
    EXPECT_TRUE(Drain(search, random).empty()) << "and stays so";
    pigment_host_search_free(search);
  }
}

TEST(HostSearch, ReadsOnePassForTheFirstRowsAndFewForAll) {
  Index index(8);
  std::mt19937_64 random(3);
  const std::vector<Row> rows = RowsWithVectors(random, 8, 20000);
  index.AddSegment(rows);
  pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, &rows[0].vector);
  pigment_host_hit hits[10];
  size_t count = 0;
  Error error;
  HOST_OK(pigment_host_search_next(search, hits, 10, &count, error.out()));
  ASSERT_EQ(count, 10u);
  EXPECT_EQ(hits[0].row_pointer, 0u);
  EXPECT_EQ(hits[0].distance, 0.0f);
  const pigment_host_search_counters counters = CountersOf(search);
  EXPECT_EQ(counters.passes, 1u);
  EXPECT_EQ(counters.rows_scored, 20000u);
  EXPECT_GT(counters.pages_read, 20000u / 254);
  EXPECT_LT(counters.pages_read, 400u);
  EXPECT_EQ(Drain(search, random).size(), 19990u);
  EXPECT_LE(CountersOf(search).passes, 6u);
  pigment_host_search_free(search);
}

TEST(HostSearch, DoesNotSeeRowsThatCameAfterItsFirstPass) {
  Index index(2);
  std::mt19937_64 random(5);
  const std::vector<float> query = {0, 0};
  for (uint64_t i = 0; i < 700; ++i) index.AddPending({{float(i), 1}, i, false});
  pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, &query, 2);
  pigment_host_hit hits[2];
  size_t count = 0;
  Error error;
  HOST_OK(pigment_host_search_next(search, hits, 2, &count, error.out()));
  for (uint64_t i = 1000; i < 2000; ++i) index.AddPending({{float(i), 1}, i, false});
  EXPECT_EQ(Drain(search, random).size(), 698u);
  pigment_host_search_free(search);
}

TEST(HostSearch, SkipsRowsThatVacuumKillsBetweenPasses) {
  Index index(2);
  std::mt19937_64 random(6);
  const std::vector<float> query = {0, 0};
  for (uint64_t i = 0; i < 100; ++i) index.AddPending({{float(i), 1}, i, false});
  pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, &query, 2);
  pigment_host_hit hits[2];
  size_t count = 0;
  Error error;
  HOST_OK(pigment_host_search_next(search, hits, 2, &count, error.out()));
  for (uint32_t i = 50; i < 100; ++i)
    pigment_pending_page_kill(index.pages.at(index.first_pending), i);
  const auto rest = Drain(search, random);
  ASSERT_EQ(rest.size(), 48u);
  EXPECT_EQ(std::get<2>(rest.back()), 49u);
  pigment_host_search_free(search);
}

// Runs one search over `index` and returns the error that it ends with.
void Search(Index& index, uint32_t dimension, Error& error) {
  const std::vector<float> query(dimension, 1.0f);
  pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_COSINE, &query);
  pigment_host_hit hits[100];
  size_t count = 1;
  while (count != 0 &&
         pigment_host_search_next(search, hits, 100, &count, error.out()) == PIGMENT_OK) {
  }
  pigment_host_search_free(search);
}

TEST(HostSearch, NamesRelationAndPageOfDamage) {
  for (const uint32_t dimension : {3u, 300u, 5000u}) {
    std::mt19937_64 random(dimension);
    Index index(dimension);
    uint64_t pointer = 1;
    index.AddSegment(RowsWithGaps(random, dimension, 30, &pointer));
    for (const Row& row : RowsWithGaps(random, dimension, 8, &pointer)) index.AddPending(row);
    uint32_t found = 0;
    for (uint32_t physical = 0; physical < index.pages.pages.size(); ++physical) {
      index.Reopen();
      auto& byte = (*index.pages.pages[physical])[4000];
      byte ^= 1;
      Error error;
      Search(index, dimension, error);
      byte ^= 1;
      EXPECT_EQ(index.pages.pinned, 0);
      if (error.message().empty()) continue;  // somebody else's page, the root, a dead row's
      ++found;
      EXPECT_EQ(error.code(), PIGMENT_DATA_LOSS);
      EXPECT_EQ(error.detail(), PIGMENT_DETAIL_CHECKSUM);
      EXPECT_NE(error.message().find("\"items_embedding_idx\""), std::string::npos)
          << error.message();
      EXPECT_NE(error.message().find("block " + std::to_string(physical) + " "), std::string::npos)
          << error.message();
    }
    EXPECT_GE(found, 2u);  // a small segment is its root alone
    Error error;
    Search(index, dimension, error);
    EXPECT_EQ(error.message(), "");
  }
}

TEST(HostSearch, ComparesTheChecksumOfASegmentsPageOnceAndItsStampAtEachPin) {
  constexpr uint32_t kDimension = 300;
  std::mt19937_64 random(6);
  Index index(kDimension);
  uint64_t pointer = 1;
  index.AddSegment(RowsWithGaps(random, kDimension, 60, &pointer));
  Error error;
  Search(index, kDimension, error);
  EXPECT_EQ(error.message(), "");
  uint32_t refused = 0;
  for (uint32_t physical = 0; physical < index.pages.pages.size(); ++physical) {
    Page& page = *index.pages.pages[physical];
    const Page good = page;
    page[4000] ^= 1;
    Search(index, kDimension, error);
    EXPECT_EQ(error.message(), "") << "it was compared before";
    page = good;
    page[PIGMENT_PAGE_BYTES - 12] ^= 1;  // the segment that it says it is of
    Search(index, kDimension, error);
    if (!error.message().empty()) {
      ++refused;
      EXPECT_EQ(error.detail(), PIGMENT_DETAIL_FOREIGN) << error.message();
    }
    page = good;
  }
  EXPECT_GE(refused, 5u);
}

TEST(HostSearch, RefusesAPageOfAnotherKindStampOrPlace) {
  Index index(3);
  for (uint64_t i = 0; i < 2000; ++i) index.AddPending({{float(i), 1, 1}, i, false});
  const uint32_t second = pigment_pending_page_next(index.pages.at(index.first_pending));
  const Page good = *index.pages.pages[second];
  const auto search = [&](int32_t detail) {
    Error error;
    Search(index, 3, error);
    EXPECT_EQ(error.code(), PIGMENT_DATA_LOSS);
    EXPECT_EQ(error.detail(), detail) << error.message();
    *index.pages.pages[second] = good;
  };
  pigment_pending_page_init(index.pages.at(second), kStamp + 1, second);
  search(PIGMENT_DETAIL_FOREIGN);
  pigment_pending_page_init(index.pages.at(second), kStamp, second + 1);
  search(PIGMENT_DETAIL_FOREIGN);
  pigment_deletion_page_init(index.pages.at(second), kStamp, second, PIGMENT_NO_PAGE);
  search(PIGMENT_DETAIL_WRONG_KIND);
  pigment_pending_page_set_next(index.pages.at(second), index.first_pending);  // a ring
  search(PIGMENT_DETAIL_MISCOUNTED);
  std::memset(index.pages.at(second), 0, PIGMENT_PAGE_BYTES);
  search(PIGMENT_DETAIL_CHECKSUM);
  Error error;
  Search(index, 3, error);
  EXPECT_EQ(error.message(), "");
}

TEST(HostSearch, PassesOnTheHostsCode) {
  Index index(3);
  index.AddSegment({{{1, 2, 3}, 1, false}});
  const std::vector<float> query = {1, 2, 3};
  pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, &query);
  pigment_host_hit hits[10];
  size_t count = 0;
  Error error;
  for (const pigment_status code :
       {PIGMENT_CANCELLED, PIGMENT_UNAVAILABLE, PIGMENT_RESOURCE_EXHAUSTED}) {
    index.pages.fail_in = 1;
    index.pages.fail_code = code;
    EXPECT_EQ(pigment_host_search_next(search, hits, 10, &count, error.out()), code);
  }
  index.pages.fail_in = 1;
  index.pages.fail_code = 12345;
  EXPECT_EQ(pigment_host_search_next(search, hits, 10, &count, error.out()), PIGMENT_UNKNOWN);
  HOST_OK(pigment_host_search_next(search, hits, 10, &count, error.out()));
  EXPECT_EQ(count, 1u);
  pigment_host_search_free(search);
}

TEST(HostSearch, RefusesBadArguments) {
  Error error;
  Index index(3);
  index.AddSegment({{{1, 2, 3}, 1, false}});
  pigment_host_search_options options{};
  options.struct_size = sizeof options;
  const float query[] = {1, 2, 3, 4};
  options.query = query;
  options.dimension = 4;
  options.metric = 99;
  pigment_host_search* search = nullptr;
  EXPECT_EQ(pigment_host_search_new(&options, &search, error.out()), PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(search, nullptr);
  options.metric = PIGMENT_METRIC_L2;
  options.dimension = 0;
  EXPECT_EQ(pigment_host_search_new(&options, &search, error.out()), PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(pigment_host_search_new(nullptr, &search, error.out()), PIGMENT_INVALID_ARGUMENT);
  options.dimension = 4;
  HOST_OK(pigment_host_search_new(&options, &search, error.out()));
  EXPECT_EQ(pigment_host_search_add_segment(search, index.segment(0), nullptr, 0, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(error.detail(), PIGMENT_DETAIL_DIMENSION);
  EXPECT_EQ(pigment_host_search_add_segment(search, nullptr, nullptr, 0, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  pigment_host_hit hit;
  size_t count = 7;
  EXPECT_EQ(pigment_host_search_next(search, &hit, 0, &count, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(count, 0u);
  pigment_host_search_free(search);
  pigment_host_search_free(nullptr);
}

}  // namespace
}  // namespace host_test

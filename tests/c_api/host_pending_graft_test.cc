// SPDX-License-Identifier: Apache-2.0
//
// Pending rows that hang on the index of a segment: against sorting every row, while rows come and
// parts follow each other; that few rows are looked at; what a part says of rows that lie
// elsewhere; and parts that are damaged.

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <span>

#include "tests/c_api/host_fixture.h"
#include "tests/support/effort.h"

namespace host_test {
namespace {

struct FreeCache {
  void operator()(pigment_pending_cache* cache) const { pigment_pending_cache_free(cache); }
};
using OwnedCache = std::unique_ptr<pigment_pending_cache, FreeCache>;
OwnedCache NewCacheOf(const Index& index) { return OwnedCache(NewCache(index, index.dimension())); }

using Places = std::vector<uint32_t>;
pigment_status CollectPlace(void* context, uint32_t physical) {
  static_cast<Places*>(context)->push_back(physical);
  return PIGMENT_OK;
}

// Each gives all rows.
constexpr int kGraftQueries = pigment::kIsSanitized ? 2 : 8;

// An index of so many rows of `data`, and pending ones of it.
std::unique_ptr<Index> MakeGraftIndex(Clustered& data, int32_t metric, int32_t kind,
                                      size_t segment_rows, size_t pending_rows) {
  auto index = std::make_unique<Index>(data.dimension);
  index->has_keys = true;
  index->segment_metric = metric;
  index->segment_index = kind;
  index->recall = 0.97;
  index->AddSegment(data.Rows(segment_rows));
  for (const Row& row : data.Rows(pending_rows)) index->AddPending(row);
  return index;
}

// What the first hit of a search is.
pigment_status FirstHit(pigment_host_search* search, pigment_host_hit* hit, Error& error) {
  size_t count = 0;
  return pigment_host_search_next(search, hit, 1, &count, error.out());
}

// Searches by some queries give every row once, and nearly all of the nearest first; what they did.
pigment_host_search_counters SearchAsModel(Index& index, Clustered& data, pigment_pending_cache* by,
                                           int queries, Recall* recall) {
  pigment_host_search_counters sum{};
  index.cache = by;
  for (int i = 0; i < queries; ++i) {
    const std::vector<float> query = data.Vector();
    pigment_host_search* const search = index.NewSearch(index.segment_metric, &query);
    pigment_host_hit hit{};
    Error error;
    EXPECT_EQ(FirstHit(search, &hit, error), PIGMENT_OK) << error.message();
    const pigment_host_search_counters counters = CountersOf(search);
    sum.grafts += counters.grafts;
    sum.rows_scored += counters.rows_scored;
    std::vector<Expected> got = Drain(search, data.random);
    got.insert(got.begin(), {hit.kind, hit.kind == 0 ? hit.distance : 0.0f, hit.row_pointer});
    std::vector<Row> let_through = index.all;
    if (!index.conditions.empty())
      std::erase_if(let_through, [](const Row& row) { return row.keys.empty(); });
    const std::vector<Expected> expected = Model(let_through, index.segment_metric, &query);
    recall->Add(got, expected);
    std::sort(got.begin(), got.end());
    EXPECT_EQ(got, expected);
    pigment_host_search_free(search);
  }
  EXPECT_EQ(index.pages.pinned, 0) << "a pin was left";
  return sum;
}

TEST(HostPendingGraft, GivesEveryRowOnceAndLooksAtFew) {
  const struct {
    int32_t metric;
    int32_t kind;
    uint32_t dimension;
    size_t middles;
    size_t rows;
  } cases[] = {{PIGMENT_METRIC_L2, PIGMENT_INDEX_GRAPH, 32, 30, 14000},
               {PIGMENT_METRIC_COSINE_NAN, PIGMENT_INDEX_GRAPH, 129, 30, 14000},
               {PIGMENT_METRIC_COSINE, PIGMENT_INDEX_CLUSTERS, 32, 400, 40000}};
  pigment_host_bytes wanted_key = {"a", 1};
  pigment_host_condition condition{};
  condition.kind = PIGMENT_CONDITION_ANY_OF;
  condition.keys = &wanted_key;
  condition.key_count = 1;
  for (const auto& some : std::span(cases).first(pigment::kIsSanitized ? 1 : std::size(cases))) {
    SCOPED_TRACE(testing::Message() << "metric " << some.metric << ", index " << some.kind);
    // Of other seeds one walk of the hundred that decide may get lost between the middles, and
    // takes a thirtieth of what all of them want along.
    std::mt19937_64 random(7);
    Clustered data(random, some.dimension, some.middles);
    const auto index = MakeGraftIndex(data, some.metric, some.kind, some.rows, 2800);
    const OwnedCache cache(NewCache(*index, data.dimension));
    Recall recall;
    const auto before = SearchAsModel(*index, data, cache.get(), kGraftQueries, &recall);
    EXPECT_EQ(before.grafts, 0u);
    EXPECT_TRUE(pigment_pending_cache_may_hang(cache.get(), index->segment(0)));
    ASSERT_TRUE(index->HangPending(cache.get()));
    EXPECT_FALSE(index->HangPending(cache.get())) << "of no row is it unknown";
    const auto hanging = SearchAsModel(*index, data, cache.get(), kGraftQueries, &recall);
    EXPECT_EQ(hanging.grafts, uint64_t{kGraftQueries});
    EXPECT_LT(hanging.rows_scored, before.rows_scored / 2);

    // Rows that came later hang nowhere, and are found; then they do, by a part of their own.
    for (const Row& row : data.Rows(2800)) index->AddPending(row);
    const auto beside = SearchAsModel(*index, data, cache.get(), kGraftQueries, &recall);
    EXPECT_EQ(beside.grafts, uint64_t{kGraftQueries});
    EXPECT_GT(beside.rows_scored, hanging.rows_scored + kGraftQueries * 1500);
    ASSERT_TRUE(index->HangPending(cache.get()));
    const OwnedCache other(NewCache(*index, data.dimension));
    for (pigment_pending_cache* const by : {cache.get(), other.get()}) {
      const auto again = SearchAsModel(*index, data, by, kGraftQueries, &recall);
      EXPECT_EQ(again.grafts, uint64_t{kGraftQueries});
      EXPECT_LT(again.rows_scored, beside.rows_scored / 2);
    }
    index->conditions.push_back(condition);
    SearchAsModel(*index, data, cache.get(), kGraftQueries, &recall);
    EXPECT_GE(static_cast<double>(recall.found), 0.97 * static_cast<double>(recall.wanted))
        << recall.found << " of " << recall.wanted;

    // A host may say that there is no part any more.
    index->conditions.clear();
    pigment_pending_cache_set_graft(cache.get(), PIGMENT_NO_PAGE);
    EXPECT_EQ(SearchAsModel(*index, data, cache.get(), 2, &recall).grafts, 0u);
    pigment_pending_cache_set_graft(cache.get(), index->graft);

    // Whoever wants nearly all, or says how far to go, has all rows looked at.
    index->recall = 0.999;
    EXPECT_EQ(SearchAsModel(*index, data, cache.get(), 3, &recall).grafts, 0u);
    index->recall = 0.97;
    index->width = 50;
    EXPECT_EQ(SearchAsModel(*index, data, cache.get(), 3, &recall).grafts, 0u);
    if (HasFailure()) return;
  }
}

// A search that began when fewer rows hung goes on with those that it began with.
TEST(HostPendingGraft, LeavesSearchesThatBeganBefore) {
  std::mt19937_64 random(2);
  Clustered data(random, 32);
  const auto index = MakeGraftIndex(data, PIGMENT_METRIC_L2, PIGMENT_INDEX_GRAPH, 9000, 2800);
  const OwnedCache cache(NewCache(*index, data.dimension));
  index->cache = cache.get();
  const std::vector<float> query = data.Vector();
  pigment_host_search* const begun = index->NewSearch(PIGMENT_METRIC_L2, &query);
  pigment_host_hit hit{};
  Error error;
  HOST_OK(FirstHit(begun, &hit, error));
  const std::vector<Row> rows = index->all;
  for (const Row& row : data.Rows(500)) index->AddPending(row);
  ASSERT_TRUE(index->HangPending(cache.get()));
  Recall recall;
  EXPECT_EQ(SearchAsModel(*index, data, cache.get(), 5, &recall).grafts, 5u);
  std::vector<Expected> got = Drain(begun, random);
  got.insert(got.begin(), {hit.kind, hit.distance, hit.row_pointer});
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got, Model(rows, PIGMENT_METRIC_L2, &query));
  pigment_host_search_free(begun);
}

// Those all face the same few nodes: a part says that it is of no use, and is asked for no more.
TEST(HostPendingGraft, SaysWhereRowsLieElsewhere) {
  std::mt19937_64 random(3);
  Clustered data(random, 32);
  const auto index = MakeGraftIndex(data, PIGMENT_METRIC_L2, PIGMENT_INDEX_GRAPH, 14000, 0);
  Clustered others(random, 32);
  others.pointer = data.pointer;
  for (Row row : others.Rows(2800)) {
    for (float& number : row.vector) number += 40;
    index->AddPending(row);
  }
  const OwnedCache cache(NewCache(*index, data.dimension));
  ASSERT_TRUE(index->HangPending(cache.get()));
  Recall recall;
  EXPECT_EQ(SearchAsModel(*index, data, cache.get(), 2, &recall).grafts, 0u);
  EXPECT_FALSE(pigment_pending_cache_may_hang(cache.get(), index->segment(0)));
  const OwnedCache other(NewCache(*index, data.dimension));
  EXPECT_EQ(SearchAsModel(*index, data, other.get(), 2, &recall).grafts, 0u);
  EXPECT_FALSE(index->HangPending(other.get())) << "it is known that they do not hang";

  // Where there are many of another kind beside them it may be of use again, for all.
  data.pointer = others.pointer;
  for (const Row& row : data.Rows(2800)) index->AddPending(row);
  ASSERT_TRUE(index->HangPending(cache.get()));
  SearchAsModel(*index, data, cache.get(), 2, &recall);
  EXPECT_GE(static_cast<double>(recall.found), 0.95 * static_cast<double>(recall.wanted));
}

// Where a larger segment came beside the one that rows hang on, they stay where they are; where
// they hang nowhere, they are tried with it.
TEST(HostPendingGraft, StaysOnItsSegment) {
  for (const float beside : {0.0f, 40.0f}) {
    std::mt19937_64 random(7);
    Clustered data(random, 32);
    const auto index = MakeGraftIndex(data, PIGMENT_METRIC_L2, PIGMENT_INDEX_GRAPH, 12000, 0);
    const auto add = [&](size_t rows) {
      for (Row row : data.Rows(rows)) {
        for (float& number : row.vector) number += beside;
        index->AddPending(row);
      }
    };
    add(2800);
    ASSERT_TRUE(index->HangPending(NewCacheOf(*index).get()));
    std::vector<Row> larger = data.Rows(13000);
    for (Row& row : larger) {
      for (float& number : row.vector) number += beside;
    }
    index->AddSegment(larger);
    add(2800);
    const OwnedCache cache = NewCacheOf(*index);
    ASSERT_TRUE(index->HangPending(cache.get()));
    Recall recall;
    // No walk goes where all is farther than what it knows.
    EXPECT_EQ(SearchAsModel(*index, data, cache.get(), 2, &recall).grafts, beside == 0 ? 2u : 0u);
    EXPECT_GE(static_cast<double>(recall.found), 0.9 * static_cast<double>(recall.wanted));
    const pigment_page_source source = index->pages.source();
    uint32_t segment = 0;
    Error error;
    Places places;
    HOST_OK(pigment_pending_graft_visit_pages(&source, kStamp, index->graft, CollectPlace, &places,
                                              &segment, error.out()));
    EXPECT_EQ(segment, beside == 0 ? 1u : 2u);
  }
}

TEST(HostPendingGraft, IsNotAskedForWhereItCannotBe) {
  std::mt19937_64 random(4);
  Clustered data(random, 32);
  const auto few = MakeGraftIndex(data, PIGMENT_METRIC_L2, PIGMENT_INDEX_GRAPH, 9000, 500);
  const auto many = MakeGraftIndex(data, PIGMENT_METRIC_L2, PIGMENT_INDEX_GRAPH, 3000, 2800);
  const auto flat = MakeGraftIndex(data, PIGMENT_METRIC_L2, PIGMENT_INDEX_FLAT, 9000, 2800);
  const auto other =
      MakeGraftIndex(data, PIGMENT_METRIC_NEGATIVE_IP, PIGMENT_INDEX_GRAPH, 9000, 2800);
  for (Index* const index : {few.get(), many.get(), flat.get(), other.get()}) {
    const OwnedCache cache(NewCache(*index, data.dimension));
    EXPECT_FALSE(index->HangPending(cache.get()));
    EXPECT_FALSE(pigment_pending_cache_may_hang(cache.get(), index->segment(0)));
  }
  // Nor where there is no room for it.
  const auto narrow = MakeGraftIndex(data, PIGMENT_METRIC_L2, PIGMENT_INDEX_GRAPH, 9000, 2800);
  const OwnedCache cache(NewCache(*narrow, data.dimension, 300000));
  EXPECT_FALSE(narrow->HangPending(cache.get()));
}

TEST(HostPendingGraft, IsFoundOutAnewAfterAnInterruption) {
  std::mt19937_64 random(5);
  Clustered data(random, 32);
  const auto index = MakeGraftIndex(data, PIGMENT_METRIC_L2, PIGMENT_INDEX_GRAPH, 9000, 2800);
  const OwnedCache cache(NewCache(*index, data.dimension));
  const pigment_page_source source = index->SharingSource();
  Error error;
  for (const uint64_t pins : {1, 5, 300, 2000}) {
    pigment_buffer* part = reinterpret_cast<pigment_buffer*>(8);
    index->pages.fail_in = pins;
    EXPECT_EQ(pigment_pending_cache_hang(cache.get(), &source, &part, error.out()),
              PIGMENT_CANCELLED);
    EXPECT_EQ(part, nullptr);
    EXPECT_EQ(index->pages.pinned, 0);
  }
  ASSERT_TRUE(index->HangPending(cache.get()));
  // So is what the parts say.
  const OwnedCache other(NewCache(*index, data.dimension));
  index->cache = other.get();
  const std::vector<float> query = data.Vector();
  pigment_host_search* const search = index->NewSearch(PIGMENT_METRIC_L2, &query);
  const std::vector<Expected> got =
      Drain(search, random, {.pages = &index->pages, .pins_first = 200, .pins_more = 50});
  EXPECT_EQ(CountersOf(search).grafts != 0, true);
  EXPECT_EQ(got.size(), Model(index->all, PIGMENT_METRIC_L2, &query).size());
  pigment_host_search_free(search);
}

TEST(HostPendingGraft, NamesWhatIsDamaged) {
  std::mt19937_64 random(6);
  Clustered data(random, 32);
  const auto index = MakeGraftIndex(data, PIGMENT_METRIC_L2, PIGMENT_INDEX_GRAPH, 14000, 2800);
  const OwnedCache cache(NewCache(*index, data.dimension));
  ASSERT_TRUE(index->HangPending(cache.get()));
  for (const Row& row : data.Rows(2800)) index->AddPending(row);
  ASSERT_TRUE(index->HangPending(cache.get()));
  const pigment_page_source source = index->pages.source();
  Error error;
  uint32_t segment = 0;
  Places places;
  const auto visit = [&] {
    places.clear();
    return pigment_pending_graft_visit_pages(&source, kStamp, index->graft, CollectPlace, &places,
                                             &segment, error.out());
  };
  HOST_OK(visit());
  EXPECT_EQ(segment, 1u);
  const Places all = places;
  EXPECT_EQ(std::set<uint32_t>(all.begin(), all.end()).size(), all.size());
  EXPECT_GT(all.size(), 2u);
  const auto search = [&](Error& said) {
    const OwnedCache made(NewCache(*index, data.dimension));
    index->cache = made.get();
    const std::vector<float> query = data.Vector();
    pigment_host_search* const begun = index->NewSearch(PIGMENT_METRIC_L2, &query);
    pigment_host_hit hit{};
    const pigment_status status = FirstHit(begun, &hit, said);
    pigment_host_search_free(begun);
    return status;
  };
  EXPECT_EQ(search(error), PIGMENT_OK) << error.message();
  for (const uint32_t physical : all) {
    auto& byte = (*index->pages.pages[physical])[100];
    byte ^= 1;
    EXPECT_EQ(visit(), PIGMENT_DATA_LOSS);
    EXPECT_EQ(error.detail(), PIGMENT_DETAIL_CHECKSUM);
    EXPECT_EQ(search(error), PIGMENT_DATA_LOSS);
    EXPECT_NE(error.message().find("block " + std::to_string(physical) + " "), std::string::npos)
        << error.message();
    byte ^= 1;
  }
  // Pages that are whole and say what cannot be: of the newest part each number of its head.
  const size_t head = PIGMENT_PAGE_HEADER_BYTES + 16;
  const Page kept = *index->pages.pages[index->graft];
  uint32_t next = 0;
  uint32_t bytes = 0;
  std::memcpy(&next, kept.data() + PIGMENT_PAGE_HEADER_BYTES, sizeof next);
  std::memcpy(&bytes, kept.data() + PIGMENT_PAGE_HEADER_BYTES + 4, sizeof bytes);
  const struct {
    size_t offset;
    uint32_t value;
  } changes[] = {{0, 7},              // no part
                 {4, 2},              // of another version
                 {8, 5},              // of two segments
                 {12, 10},            // of nodes beyond those of the index
                 {16, index->graft},  // a part that follows itself
                 {20, 8},             // flags that nobody knows
                 {20, 2},             // rows of what hangs nowhere
                 {24, 3},             // fewer rows than there are
                 {28, 0},
                 {28, 17},
                 {32, 1},          // rows that nobody reads
                 {32, 1u << 30}};  // rows that are not there
  for (const auto& change : changes) {
    Page page = kept;
    std::memcpy(page.data() + head + change.offset, &change.value, sizeof change.value);
    EXPECT_EQ(pigment_overflow_page_init(index->pages.at(index->graft), kStamp, index->graft,
                                         page.data() + head, bytes, 0, next),
              bytes);
    EXPECT_EQ(visit(), PIGMENT_DATA_LOSS) << "at " << change.offset << ": " << change.value;
    EXPECT_EQ(search(error), PIGMENT_DATA_LOSS) << "at " << change.offset << ": " << change.value;
  }
  // Or anything: then it is damage, or says something else.
  for (int i = 0; i < 100; ++i) {
    Page page = kept;
    page[head + random() % bytes] = static_cast<unsigned char>(random());
    pigment_overflow_page_init(index->pages.at(index->graft), kStamp, index->graft,
                               page.data() + head, bytes, 0, next);
    const pigment_status status = visit();
    EXPECT_TRUE(status == PIGMENT_OK || status == PIGMENT_DATA_LOSS) << error.message();
    if (status != PIGMENT_OK) {
      EXPECT_EQ(search(error), PIGMENT_DATA_LOSS) << error.message();
    }
  }
  *index->pages.pages[index->graft] = kept;
  EXPECT_EQ(search(error), PIGMENT_OK) << error.message();
}

TEST(HostPendingGraft, RefusesBadArguments) {
  Index index(3);
  index.AddSegment({{{1, 2, 3}, 1, false}});
  index.AddPending({{1, 2, 3}, 2, false});
  const OwnedCache cache(NewCache(index, 3));
  const pigment_page_source source = index.SharingSource();
  Error error;
  pigment_buffer* part = nullptr;
  EXPECT_EQ(pigment_pending_cache_hang(nullptr, &source, &part, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(pigment_pending_cache_hang(cache.get(), nullptr, &part, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(pigment_pending_cache_hang(cache.get(), &source, nullptr, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_FALSE(pigment_pending_cache_may_hang(nullptr, index.segment(0)));
  EXPECT_FALSE(pigment_pending_cache_may_hang(cache.get(), nullptr));
  pigment_pending_cache_set_graft(nullptr, 3);
  uint32_t segment = 0;
  Places places;
  EXPECT_EQ(pigment_pending_graft_visit_pages(nullptr, kStamp, 3, CollectPlace, &places, &segment,
                                              error.out()),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(pigment_pending_graft_visit_pages(&source, kStamp, PIGMENT_NO_PAGE, CollectPlace,
                                              &places, &segment, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(pigment_pending_graft_visit_pages(&source, kStamp, 3, nullptr, &places, &segment,
                                              error.out()),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(pigment_pending_graft_visit_pages(&source, kStamp, 3, CollectPlace, &places, nullptr,
                                              error.out()),
            PIGMENT_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace host_test

// SPDX-License-Identifier: Apache-2.0
//
// Searches with a cache of pending rows beside searches that read the pages: the same hits whatever
// the rows, the metric and the memory, while the chain grows and entries die; errors and interrupts
// anywhere; damage; and that pages are read once.

#include <gtest/gtest.h>

#include "tests/c_api/host_fixture.h"
#include "tests/support/effort.h"

namespace host_test {
namespace {

// The next hits of a search, at most so many; a call that was interrupted is repeated.
std::vector<Expected> Take(pigment_host_search* search, size_t most) {
  std::vector<Expected> got;
  pigment_host_hit hits[50];
  while (got.size() < most) {
    Error error;
    size_t count = 0;
    const pigment_status status = pigment_host_search_next(
        search, hits, std::min(most - got.size(), std::size(hits)), &count, error.out());
    if (status == PIGMENT_CANCELLED) continue;
    EXPECT_EQ(status, PIGMENT_OK) << error.message();
    if (status != PIGMENT_OK || count == 0) break;
    for (size_t i = 0; i < count; ++i) {
      got.emplace_back(hits[i].kind, hits[i].kind == 0 ? hits[i].distance : 0.0f,
                       hits[i].row_pointer);
    }
  }
  return got;
}

constexpr size_t kAll = size_t{1} << 40;

std::string KeysOf(std::mt19937_64& random) {
  if (random() % 4 == 0) return {};
  const std::string text(1 + random() % 40, static_cast<char>('a' + random() % 3));
  const pigment_host_key key = {0, PIGMENT_KEY_VALUE, text.data(), random() % 2 ? 1 : text.size()};
  std::string bytes(pigment_host_keys_bytes(&key, 1), '\0');
  pigment_host_keys_encode(&key, 1, bytes.data());
  return bytes;
}

// Numbers of all magnitudes, such that are none, and vectors that are alike.
std::vector<float> AnyVector(std::mt19937_64& random, uint32_t dimension,
                             const std::vector<float>& twin) {
  std::vector<float> vector = RandomVector(random, dimension);
  const float magnitudes[] = {1e-38f, 1e-20f, 1e15f, 1e30f, 3e38f};
  switch (random() % 12) {
    case 0:
      return std::vector<float>(dimension);
    case 1:
      vector[random() % dimension] = std::numeric_limits<float>::quiet_NaN();
      return vector;
    case 2:
      vector[random() % dimension] = std::numeric_limits<float>::infinity();
      return vector;
    case 3:
      for (float& value : vector) value *= magnitudes[random() % std::size(magnitudes)];
      return vector;
    case 4:
      return twin;
    case 5:  // almost alike: their order is decided by the last bits
      for (size_t i = 0; i < dimension; ++i)
        vector[i] = twin[i] * (1 + static_cast<float>(random() % 4) * 0x1p-23f);
      return vector;
    default:
      return vector;
  }
}

bool IsFinite(const std::vector<float>& vector) {
  return std::all_of(vector.begin(), vector.end(),
                     [](float value) { return std::isfinite(value); });
}

void KillSome(Index& index, std::mt19937_64& random) {
  for (uint32_t page = index.first_pending; page != PIGMENT_NO_PAGE;
       page = pigment_pending_page_next(index.pages.at(page))) {
    for (uint32_t i = 0; i < pigment_pending_page_count(index.pages.at(page)); ++i) {
      if (random() % 10 == 0) pigment_pending_page_kill(index.pages.at(page), i);
    }
  }
}

// An index whose chain grows, with a cache that is made anew when entries have died.
struct Growing {
  Growing(std::mt19937_64& source, uint32_t vector_dimension)
      : random(source),
        dimension(vector_dimension),
        index(dimension),
        twin(RandomVector(random, dimension)) {
    index.has_keys = true;
    index.rounds_pending = true;
    index.pages.has_versions = random() % 2 == 0;
    condition.kind = PIGMENT_CONDITION_ANY_OF;
    condition.keys = &key;
    condition.key_count = 1;
    while (index.first_pending == PIGMENT_NO_PAGE) Append();
    Renew();
  }
  ~Growing() { pigment_pending_cache_free(cache); }

  std::vector<Row> Rows(size_t count) {
    std::vector<Row> rows(count);
    for (Row& row : rows) {
      row.pointer = ++pointer;
      row.is_dead = random() % 8 == 0;
      row.keys = KeysOf(random);
      if (random() % 8 != 0) row.vector = AnyVector(random, dimension, twin);
    }
    std::shuffle(rows.begin(), rows.end(), random);
    return rows;
  }

  void Append() {
    for (const Row& row : Rows(random() % (dimension > 1000 ? 12 : 300))) index.AddPending(row);
  }

  void Renew() {
    pigment_pending_cache_free(cache);
    const uint64_t limits[] = {0, 1000, 20000, kEverything, kEverything, kEverything};
    cache = NewCache(index, dimension, limits[random() % std::size(limits)]);
  }

  // Two searches for the same, of which the second uses the cache.
  struct Pair {
    pigment_host_search* direct;
    pigment_host_search* cached;

    void Compare(size_t most) const {
      const auto expected = Take(direct, most);
      ASSERT_EQ(Take(cached, most), expected);
      EXPECT_EQ(CountersOf(cached).pending_rows, CountersOf(direct).pending_rows);
      EXPECT_EQ(CountersOf(cached).passes, CountersOf(direct).passes);
    }
    void Free() const {
      pigment_host_search_free(direct);
      pigment_host_search_free(cached);
    }
  };
  Pair Search() {
    const int32_t metric = static_cast<int32_t>(1 + random() % 6);
    const auto query = AnyVector(random, dimension, twin);
    const std::vector<float>* ranked = random() % 6 == 0 ? nullptr : &query;
    index.conditions.clear();
    if (random() % 3 == 0) index.conditions.push_back(condition);
    const size_t batch_rows = random() % 3 ? random() % 20 : 0;
    const uint64_t batch_bytes = random() % 2 ? 1 + random() % 2000 : 0;
    Pair pair{};
    pair.direct = index.NewSearch(metric, ranked, batch_rows, batch_bytes);
    index.cache = cache;
    pair.cached = index.NewSearch(metric, ranked, batch_rows, batch_bytes);
    index.cache = nullptr;
    return pair;
  }

  std::mt19937_64& random;
  const uint32_t dimension;
  Index index;
  const std::vector<float> twin;
  uint64_t pointer = 0;
  pigment_host_bytes key = {"a", 1};
  pigment_host_condition condition{};
  pigment_pending_cache* cache = nullptr;
};

TEST(HostPendingCache, GivesTheHitsThatThePagesGive) {
  const uint32_t dimensions[] = {1, 2, 3, 16, 63, 100, 384, 2027, 2028, 3000, 8136, 8137};
  for (uint64_t seed = 0; seed < pigment::Rounds(180u); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    Growing growing(random, dimensions[seed % std::size(dimensions)]);
    if (random() % 2) {
      auto rows = growing.Rows(random() % 100);
      std::erase_if(rows, [](const Row& row) { return !IsFinite(row.vector); });
      growing.index.AddSegment(rows);
    }
    for (int round = 0; round < 5; ++round) {
      const Growing::Pair begun = growing.Search();  // before the chain grows
      begun.Compare(random() % 30);
      const size_t rows = growing.index.all.size();
      growing.Append();
      for (int i = 0; i < 3; ++i) {
        const Growing::Pair pair = growing.Search();
        pair.Compare(random() % 2 ? 10 : kAll);
        EXPECT_EQ(CountersOf(pair.cached).rows_scored, CountersOf(pair.direct).rows_scored);
        pair.Free();
      }
      begun.Compare(kAll);
      begun.Free();
      ASSERT_FALSE(HasFailure()) << "round " << round << ", " << rows << " rows before";
      if (random() % 2 == 0) continue;
      KillSome(growing.index, random);
      growing.Renew();
    }
    EXPECT_EQ(growing.index.pages.pinned, 0) << "a pin was left";
    EXPECT_LE(growing.index.pages.pinned_max, 8);
  }
}

TEST(HostPendingCache, OfNoPagesHasNoRows) {
  Index index(3);
  index.cache = NewCache(index, 3);
  const std::vector<float> query = {1, 2, 3};
  pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, &query);
  EXPECT_TRUE(Take(search, kAll).empty());
  pigment_host_search_free(search);
  pigment_pending_cache_free(index.cache);
}

TEST(HostPendingCache, AddsNothingInACallThatFails) {
  for (const uint32_t dimension : {100u, 3000u}) {
    std::mt19937_64 random(dimension);
    Growing growing(random, dimension);
    while (growing.index.all.size() < 25) growing.Append();
    Pages& pages = growing.index.pages;
    const uint64_t before = pages.pins;
    const Growing::Pair whole = growing.Search();
    Take(whole.direct, 1);
    whole.Free();
    const uint64_t pins = pages.pins - before;
    ASSERT_GE(pins, 5u);
    for (const pigment_status code : {PIGMENT_CANCELLED, PIGMENT_UNAVAILABLE}) {
      pages.fail_code = code;
      for (uint64_t fail_in = 1; fail_in <= pins; ++fail_in) {
        growing.Renew();
        const Growing::Pair pair = growing.Search();
        pigment_host_hit hit;
        size_t count = 0;
        Error error;
        pages.fail_in = fail_in;
        const pigment_status status =
            pigment_host_search_next(pair.cached, &hit, 1, &count, error.out());
        if (pages.fail_in == 0) {
          EXPECT_EQ(status, code);
        }
        pages.fail_in = 0;
        if (status == PIGMENT_OK) Take(pair.direct, 1);
        pair.Compare(kAll);
        pair.Free();
        ASSERT_FALSE(HasFailure()) << "at pin " << fail_in;
      }
    }
  }
}

TEST(HostPendingCache, ReadsPagesOnceAndVectorsThatMayBeNear) {
  constexpr uint32_t kDimension = 384;
  std::mt19937_64 random(1);
  Index index(kDimension);
  for (uint64_t i = 0; i < 2000; ++i)
    index.AddPending({RandomVector(random, kDimension), i, false});
  const auto query = RandomVector(random, kDimension);
  const auto pins = [&] {
    const uint64_t before = index.pages.pins;
    pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_COSINE_NAN, &query, 10);
    EXPECT_EQ(Take(search, 10).size(), 10u);
    EXPECT_EQ(CountersOf(search).rows_scored, index.all.size());
    EXPECT_EQ(CountersOf(search).pages_read, index.pages.pins - before);
    pigment_host_search_free(search);
    return index.pages.pins - before;
  };
  const uint64_t direct = pins();
  ASSERT_EQ(direct, 400u);
  index.cache = NewCache(index, kDimension);
  const uint64_t first = pins();
  EXPECT_GE(first, direct);
  const uint64_t second = pins();
  EXPECT_EQ(second, first - direct + 1) << "the last page, and those of near vectors";
  EXPECT_LT(second, 130u);
  for (uint64_t i = 2000; i < 2010; ++i)
    index.AddPending({RandomVector(random, kDimension), i, false});
  EXPECT_LE(pins(), second + 4) << "two pages more";
  pigment_pending_cache_free(index.cache);
}

TEST(HostPendingCache, ReadsAPageAgainOnlyWhereItsVersionIsNotKnownToBeTheSame) {
  Index index(3);
  index.pages.has_versions = true;
  index.AddPending({{1, 2, 3}, 1, false});
  index.cache = NewCache(index, 3);
  const auto pins_of = [&](size_t rows) {
    const uint64_t before = index.pages.pins;
    pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, nullptr);
    EXPECT_EQ(Take(search, kAll).size(), rows);
    pigment_host_search_free(search);
    return index.pages.pins - before;
  };
  EXPECT_EQ(pins_of(1), 1u);
  EXPECT_EQ(pins_of(1), 0u);
  index.AddPending({{1, 2, 4}, 2, false});
  EXPECT_EQ(pins_of(2), 1u);
  EXPECT_EQ(pins_of(2), 0u);
  const uint32_t last = index.first_pending;
  while (pigment_pending_page_next(index.pages.at(last)) == PIGMENT_NO_PAGE)
    index.AddPending({{1, 2, 5}, index.all.size() + 1, false});
  EXPECT_EQ(pins_of(index.all.size()), 2u) << "the one that was the last, and the new one";
  EXPECT_EQ(pins_of(index.all.size()), 0u);
  index.pages.has_versions = false;
  EXPECT_EQ(pins_of(index.all.size()), 1u);
  pigment_pending_cache_free(index.cache);
}

TEST(HostPendingCache, LeavesInTheirPagesWhatItHasNoRoomFor) {
  constexpr uint32_t kDimension = 384;
  std::mt19937_64 random(2);
  Index index(kDimension);
  for (uint64_t i = 0; i < 1000; ++i)
    index.AddPending({RandomVector(random, kDimension), i, false});
  const auto query = RandomVector(random, kDimension);
  index.cache = NewCache(index, kDimension, 100 << 10);  // of 428 kB
  uint64_t pins = 0;
  for (int i = 0; i < 3; ++i) {
    const uint64_t before = index.pages.pins;
    pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, &query, 10);
    EXPECT_EQ(Take(search, 10).size(), 10u);
    pigment_host_search_free(search);
    pins = index.pages.pins - before;
  }
  EXPECT_GT(pins, 150u);
  EXPECT_LT(pins, 195u);
  pigment_pending_cache_free(index.cache);
}

// By reading no page for it: that is what its owner has to know.
TEST(HostPendingCache, GivesRowsThatDiedSinceItMetThem) {
  Index index(2);
  for (uint64_t i = 0; i < 100; ++i) index.AddPending({{float(i), 1}, i, false});
  pigment_pending_cache* cache = NewCache(index, 2);
  const auto count = [&] {
    index.cache = cache;
    pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, nullptr);
    const size_t rows = Take(search, kAll).size();
    pigment_host_search_free(search);
    return rows;
  };
  EXPECT_EQ(count(), 100u);
  for (uint32_t i = 50; i < 100; ++i)
    pigment_pending_page_kill(index.pages.at(index.first_pending), i);
  EXPECT_EQ(count(), 100u);
  pigment_pending_cache_free(cache);
  cache = NewCache(index, 2);
  EXPECT_EQ(count(), 50u);
  pigment_pending_cache_free(cache);
}

TEST(HostPendingCache, MayBeFreedBeforeItsSearches) {
  std::mt19937_64 random(4);
  Growing growing(random, 16);
  while (growing.index.all.size() < 100) growing.Append();
  const Growing::Pair pair = growing.Search();
  const Growing::Pair begun = growing.Search();
  begun.Compare(1);
  growing.Renew();
  pair.Compare(kAll);
  begun.Compare(kAll);
  pair.Free();
  begun.Free();
}

TEST(HostPendingCache, NamesDamageInWhatItReads) {
  constexpr uint32_t kDimension = 300;
  std::mt19937_64 random(5);
  Index index(kDimension);
  for (uint64_t i = 0; i < 60; ++i) index.AddPending({RandomVector(random, kDimension), i, false});
  pigment_pending_cache* const good = NewCache(index, kDimension);
  index.cache = good;
  const auto search = [&](Error& error) {
    const std::vector<float> query(kDimension, 1.0f);
    pigment_host_search* made = index.NewSearch(PIGMENT_METRIC_COSINE, &query);
    pigment_host_hit hits[100];
    size_t count = 0;
    const pigment_status status =
        pigment_host_search_next(made, hits, std::size(hits), &count, error.out());
    EXPECT_EQ(count, status == PIGMENT_OK ? 60u : 0u);
    pigment_host_search_free(made);
  };
  Error error;
  search(error);
  EXPECT_EQ(error.message(), "");
  for (uint32_t physical = 0; physical < index.pages.pages.size(); ++physical) {
    for (const bool is_new : {false, true}) {
      index.cache = is_new ? NewCache(index, kDimension) : good;
      auto& byte = (*index.pages.pages[physical])[4000];
      byte ^= 1;
      search(error);
      EXPECT_EQ(error.detail(), PIGMENT_DETAIL_CHECKSUM);
      EXPECT_NE(error.message().find("block " + std::to_string(physical) + " "), std::string::npos)
          << error.message();
      byte ^= 1;
      search(error);
      EXPECT_EQ(error.message(), "") << "nothing of the damage was kept";
      if (is_new) pigment_pending_cache_free(index.cache);
    }
  }
  // Pages that are what they should be, and have other entries than before.
  pigment_pending_page_init(index.pages.at(index.first_pending), kStamp, index.first_pending);
  index.cache = good;
  search(error);
  EXPECT_NE(error.message().find("entries have disappeared"), std::string::npos) << error.message();
  pigment_pending_page_init(index.pages.at(index.last_pending), kStamp, index.last_pending);
  search(error);
  EXPECT_NE(error.message().find("entries have disappeared"), std::string::npos) << error.message();
  pigment_pending_cache_free(good);
}

TEST(HostPendingCache, RefusesBadArguments) {
  Index index(3);
  index.AddPending({{1, 2, 3}, 1, false});
  pigment_pending_cache_options options{};
  options.struct_size = sizeof options;
  options.dimension = 65536;
  Error error;
  pigment_pending_cache* cache = reinterpret_cast<pigment_pending_cache*>(8);
  EXPECT_EQ(pigment_pending_cache_new(&options, &cache, error.out()), PIGMENT_RESOURCE_EXHAUSTED);
  EXPECT_EQ(error.detail(), PIGMENT_DETAIL_LIMIT);
  EXPECT_EQ(cache, nullptr);
  EXPECT_EQ(pigment_pending_cache_new(nullptr, &cache, error.out()), PIGMENT_INVALID_ARGUMENT);
  options.dimension = 3;
  EXPECT_EQ(pigment_pending_cache_new(&options, nullptr, error.out()), PIGMENT_INVALID_ARGUMENT);
  options.struct_size = 8;
  EXPECT_EQ(pigment_pending_cache_new(&options, &cache, error.out()), PIGMENT_INVALID_ARGUMENT);

  cache = NewCache(index, 3);
  const pigment_page_source source = index.pages.source();
  const std::vector<float> query = {1, 2, 3};
  pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, &query);
  EXPECT_EQ(pigment_host_search_add_pending_cache(nullptr, &source, cache, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(pigment_host_search_add_pending_cache(search, nullptr, cache, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(pigment_host_search_add_pending_cache(search, &source, nullptr, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  pigment_host_search_free(search);
  pigment_pending_cache_free(cache);
  pigment_pending_cache_free(nullptr);
}

}  // namespace
}  // namespace host_test

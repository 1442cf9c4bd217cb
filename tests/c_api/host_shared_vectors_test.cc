// SPDX-License-Identifier: Apache-2.0
//
// Pending rows that have the hash of a vector in its place: rows of segments are found by their
// vectors, searches and flushes give what they would of the vectors themselves, whatever became of
// the rows that had them, and what is nowhere is left out or named.

#include <gtest/gtest.h>

#include "tests/c_api/host_fixture.h"

namespace host_test {
namespace {

constexpr uint64_t kSeed = 0x5EED5EED5EED;

// The rows of a segment that are found by a vector, by their row pointers.
std::vector<uint64_t> Found(const pigment_segment* segment, const std::vector<float>& vector,
                            size_t capacity = 100) {
  std::vector<uint32_t> rows(capacity);
  std::vector<uint64_t> pointers;
  size_t count = 999;
  pigment_vector_hash hash{};
  Error error;
  EXPECT_EQ(pigment_segment_find_vector(segment, vector.data(), vector.size(), rows.data(),
                                        capacity, &count, &hash, error.out()),
            PIGMENT_OK)
      << error.message();
  EXPECT_LE(count, capacity);
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.begin() + static_cast<ptrdiff_t>(count)));
  for (size_t i = 0; i < count; ++i) {
    uint64_t pointer = 0;
    EXPECT_EQ(pigment_segment_row_pointers(segment, rows[i], 1, &pointer, nullptr), PIGMENT_OK);
    pointers.push_back(pointer);
  }
  std::sort(pointers.begin(), pointers.end());
  return pointers;
}

// How an index keeps its vectors.
struct Kept {
  const char* name;
  uint32_t dimension;
  bool halves = false;
  bool bits = false;
  int32_t index = PIGMENT_INDEX_FLAT;
};
constexpr Kept kKept[] = {
    {"f32", 9},
    {"larger than a page", 3000},
    {"halves", 40, true},
    {"bits", 70, false, true},
    {"graph", 16, true, false, PIGMENT_INDEX_GRAPH},
    {"clusters", 16, false, false, PIGMENT_INDEX_CLUSTERS},
};

// Segments of rows, every ninth of them without a vector, some with one that others have.
struct SharedIndex {
  SharedIndex(const Kept& kept, std::mt19937_64& random) : index(kept.dimension) {
    index.vector_seed = kSeed;
    index.half_vectors = kept.halves;
    index.bit_vectors = kept.bits;
    index.segment_index = kept.index;
    index.has_keys = true;
    const size_t count = kept.dimension > 1000 ? 60 : 600;
    uint64_t pointer = 1;
    for (int segment = 0; segment < 3; ++segment) {
      std::vector<Row> rows =
          RandomRows(random, {.kinds = 9, .twins = 1}, kept.dimension, count, &pointer);
      if (kept.halves) RoundToHalves(rows);
      if (kept.bits) MakeBits(rows);
      for (const Row& row : rows)
        if (!row.vector.empty()) vectors.push_back(row.vector);
      index.AddSegment(rows);
    }
  }

  // Some pending rows with vectors of the segments' rows, dead ones' too, some with their own.
  void AddPending(std::mt19937_64& random, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      Row row{vectors[random() % vectors.size()], 1000000 + index.all.size(), random() % 6 == 0};
      const char letter = static_cast<char>('a' + random() % 3);
      const pigment_host_key key = {0, PIGMENT_KEY_VALUE, &letter, 1};
      row.keys.resize(pigment_host_keys_bytes(&key, 1));
      pigment_host_keys_encode(&key, 1, row.keys.data());
      random() % 3 != 0 ? index.AddShared(row) : index.AddPending(row);
    }
  }

  Index index;
  std::vector<std::vector<float>> vectors;
};

// Calls `body` for each kind of index; whatever it does, few pages are pinned, and none is at the
// end.
template <typename Body>  // void(const Kept& kept, std::mt19937_64& random, SharedIndex& shared)
void ForEachKept(uint32_t seed, const Body& body) {
  for (const Kept& kept : kKept) {
    SCOPED_TRACE(kept.name);
    std::mt19937_64 random(kept.dimension + seed);
    SharedIndex shared(kept, random);
    body(kept, random, shared);
    EXPECT_LE(shared.index.pages.pinned_max, 8);
    EXPECT_EQ(shared.index.pages.pinned, 0);
  }
}

TEST(HostSharedVectors, RowsAreFoundByTheirVectors) {
  ForEachKept(0, [](const Kept& kept, std::mt19937_64& random, SharedIndex& shared) {
    Index& index = shared.index;
    // By bits, as the engine compares them.
    std::map<std::vector<uint32_t>, std::vector<uint64_t>> expected;
    const auto bits_of = [](const std::vector<float>& vector) {
      std::vector<uint32_t> bits(vector.size());
      std::memcpy(bits.data(), vector.data(), vector.size() * sizeof(float));
      return bits;
    };
    for (const Row& row : index.all)
      if (!row.vector.empty()) expected[bits_of(row.vector)].push_back(row.pointer);
    size_t shared_by_many = 0;
    for (auto& [bits, pointers] : expected) {
      std::vector<float> vector(bits.size());
      std::memcpy(vector.data(), bits.data(), bits.size() * sizeof(float));
      std::vector<uint64_t> found;
      for (size_t i = 0; i < 3; ++i)
        for (const uint64_t pointer : Found(index.segment(i), vector, 1000))
          found.push_back(pointer);
      std::sort(found.begin(), found.end());
      std::sort(pointers.begin(), pointers.end());
      EXPECT_EQ(found, pointers);
      shared_by_many += pointers.size() > 1;
      vector[random() % vector.size()] += 0.25f;
      EXPECT_TRUE(expected.contains(bits_of(vector)) || Found(index.segment(0), vector).empty());
    }
    EXPECT_GE(shared_by_many, 1u);
    EXPECT_EQ(Found(index.segment(0), shared.vectors[0], 1).size(), 1u);
    EXPECT_TRUE(Found(index.segment(0), std::vector<float>(kept.dimension + 1)).empty());
  });
}

TEST(HostSharedVectors, NoRowIsFoundWhereHashesAreNotKept) {
  const Row row{{1, 2, 3}, 1};
  Index index(3);
  index.AddSegment({row});
  EXPECT_TRUE(Found(index.segment(0), row.vector).empty());
}

TEST(HostSharedVectors, AreFoundHoweverLittleMemoryThereIs) {
  std::mt19937_64 random(3);
  std::vector<Row> rows(40000);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = {RandomVector(random, 3), i + 1};
  Index index(3);
  index.vector_seed = kSeed;
  index.build_budget_bytes = 300 << 10;  // their hashes alone have more
  index.AddSegment(rows);
  Error error;
  HOST_OK(pigment_segment_verify(index.segment(0), error.out()));
  for (size_t i = 0; i < rows.size(); i += 97)
    EXPECT_EQ(Found(index.segment(0), rows[i].vector), std::vector<uint64_t>{i + 1});
}

TEST(HostSharedVectors, AreSearchedAsIfTheyWereThere) {
  ForEachKept(1, [](const Kept& kept, std::mt19937_64& random, SharedIndex& shared) {
    Index& index = shared.index;
    index.recall = kept.index == PIGMENT_INDEX_FLAT ? 0 : 0.9;
    for (int round = 0; round < 3; ++round) {
      shared.AddPending(random, kept.dimension > 1000 ? 30 : 400);
      const std::vector<float> query = RandomVector(random, kept.dimension);
      const int32_t metric = kept.bits ? PIGMENT_METRIC_HAMMING : PIGMENT_METRIC_L2;
      std::vector<float> bits = query;
      MakeBits(bits);
      const auto& asked = kept.bits ? bits : query;
      std::vector<Expected> expected = Model(index.all, metric, &asked);
      index.segment_metric = metric;
      pigment_pending_cache* const cache = NewCache(index, kept.dimension);
      for (pigment_pending_cache* of : {static_cast<pigment_pending_cache*>(nullptr), cache}) {
        index.cache = of;
        pigment_host_search* search = index.NewSearch(metric, &asked);
        std::vector<Expected> got = Drain(search, random, {&index.pages});
        pigment_host_search_free(search);
        std::sort(got.begin(), got.end());
        EXPECT_EQ(got, expected);
      }
      index.cache = nullptr;
      pigment_pending_cache_free(cache);
    }
  });
}

// A segment of what is pending, and what a search of it gives.
struct Flushed {
  explicit Flushed(Index& index, uint32_t dimension) {
    pigment_segment_options options = OptionsOf(index.pages, dimension);
    options.segment = 500;
    options.has_keys = true;
    options.vector_seed = kSeed;
    EXPECT_EQ(pigment_segment_builder_new(&options, &builder, nullptr), PIGMENT_OK);
  }
  ~Flushed() {
    pigment_segment_free(segment);
    pigment_segment_builder_free(builder);
  }
  void Finish(Index& index) {
    Error error;
    uint32_t root = 0;
    uint64_t rows = 0;
    HOST_OK(pigment_segment_builder_finish(builder, &root, nullptr, &rows, error.out()));
    const pigment_page_source source = index.pages.source();
    HOST_OK(pigment_segment_open(&source, 500, root, &segment, error.out()));
    HOST_OK(pigment_segment_verify(segment, error.out()));
  }

  pigment_segment_builder* builder = nullptr;
  pigment_segment* segment = nullptr;
};

TEST(HostSharedVectors, AreTheirOwnInTheSegmentThatTheyAreFlushedTo) {
  ForEachKept(2, [](const Kept& kept, std::mt19937_64& random, SharedIndex& shared) {
    Index& index = shared.index;
    const size_t before = index.all.size();
    shared.AddPending(random, 600);
    // The last page is left alone by a flush.
    std::set<uint64_t> of_last;
    const void* last = index.pages.at(index.last_pending);
    for (uint32_t i = 0; i < pigment_pending_page_count(last); ++i) {
      uint64_t pointer = 0;
      pigment_pending_page_entry(last, i, &pointer);
      of_last.insert(pointer);
    }
    uint32_t end = index.first_pending;
    while (pigment_pending_page_next(index.pages.at(end)) != index.last_pending)
      end = pigment_pending_page_next(index.pages.at(end));
    Flushed flushed(index, kept.dimension);
    Error error;
    const pigment_page_source source = index.SharingSource();
    HOST_OK(pigment_segment_builder_add_pending(flushed.builder, &source, kStamp,
                                                index.first_pending, end, error.out()));
    flushed.Finish(index);
    bool rounds = false;
    HOST_OK(pigment_pending_rounds_to_halves(&source, kStamp, index.first_pending, PIGMENT_NO_PAGE,
                                             &rounds, error.out()));
    EXPECT_TRUE(rounds || !kept.halves);
    size_t rows = 0;
    for (size_t i = before; i < index.all.size(); ++i) {
      const Row& row = index.all[i];
      if (row.is_dead || of_last.contains(row.pointer)) continue;
      const std::vector<uint64_t> found = Found(flushed.segment, row.vector, 1000);
      EXPECT_TRUE(std::binary_search(found.begin(), found.end(), row.pointer)) << row.pointer;
      ++rows;
    }
    pigment_segment_info info{};
    info.struct_size = sizeof info;
    pigment_segment_get_info(flushed.segment, &info);
    EXPECT_EQ(info.rows, rows);
    EXPECT_GT(rows, 10u);
  });
}

TEST(HostSharedVectors, AreFoundWhereverMergesPutTheirRows) {
  const Kept kept{"halves", 40, true};
  std::mt19937_64 random(7);
  SharedIndex shared(kept, random);
  Index& index = shared.index;
  const std::vector<float> vector = shared.vectors[100];
  Row row{vector, 5000000};
  index.AddShared(row);
  // The new segment has vectors in 32 bits.
  Flushed merged(index, kept.dimension);
  Error error;
  for (size_t i = 0; i < 3; ++i)
    HOST_OK(pigment_segment_builder_add_segment(merged.builder, index.segment(i), nullptr, 0,
                                                error.out()));
  merged.Finish(index);
  pigment_host_search_options options{};
  options.struct_size = sizeof options;
  options.metric = PIGMENT_METRIC_L2;
  options.dimension = kept.dimension;
  options.query = vector.data();
  pigment_host_search* search = nullptr;
  HOST_OK(pigment_host_search_new(&options, &search, error.out()));
  HOST_OK(pigment_host_search_add_segment(search, merged.segment, nullptr, 0, error.out()));
  const pigment_page_source source = index.pages.source();
  HOST_OK(
      pigment_host_search_add_pending(search, &source, kStamp, index.first_pending, error.out()));
  std::vector<Expected> got = Drain(search, random);
  pigment_host_search_free(search);
  EXPECT_TRUE(std::binary_search(got.begin(), got.end(), Expected{0, 0.0f, row.pointer}));
}

TEST(HostSharedVectors, OfNoSegmentAreLeftOutBySearchesAndNamedByCopies) {
  std::mt19937_64 random(11);
  Index index(4);
  index.vector_seed = kSeed;
  index.AddSegment({{{1, 2, 3, 4}, 1}});
  index.AddPending({{4, 3, 2, 1}, 2});
  index.AddShared({{1, 2, 3, 4}, 3});
  const std::vector<Row> rows = index.all;
  index.AddHash({{9, 9, 9, 9}, 0x44}, {123, 456});
  const std::vector<float> query = {0, 0, 0, 1};
  pigment_pending_cache* const cache = NewCache(index, 4);
  for (pigment_pending_cache* of : {static_cast<pigment_pending_cache*>(nullptr), cache}) {
    index.cache = of;
    for (const double recall : {0.0, 0.9}) {
      index.recall = recall;
      pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, &query);
      std::vector<Expected> got = Drain(search, random);
      std::sort(got.begin(), got.end());
      EXPECT_EQ(got, Model(rows, PIGMENT_METRIC_L2, &query));
      pigment_host_search_free(search);
    }
  }
  pigment_pending_cache_free(cache);

  index.AddPending({std::vector<float>(4), 4});
  Flushed flushed(index, 4);
  Error error;
  const pigment_page_source source = index.SharingSource();
  const char* const what = "the vector of row 0x44 is in no segment";
  bool rounds = true;
  EXPECT_EQ(pigment_pending_rounds_to_halves(&source, kStamp, index.first_pending, PIGMENT_NO_PAGE,
                                             &rounds, error.out()),
            PIGMENT_DATA_LOSS);
  EXPECT_NE(error.message().find(what), std::string::npos) << error.message();
  EXPECT_FALSE(rounds);
  EXPECT_EQ(
      pigment_segment_builder_add_pending(flushed.builder, &source, kStamp, index.first_pending,
                                          index.last_pending, error.out()),
      PIGMENT_DATA_LOSS);
  EXPECT_NE(error.message().find(what), std::string::npos) << error.message();
  // Without the segments none of them is anywhere.
  const pigment_page_source alone = index.pages.source();
  EXPECT_EQ(pigment_pending_rounds_to_halves(&alone, kStamp, index.first_pending, PIGMENT_NO_PAGE,
                                             &rounds, error.out()),
            PIGMENT_DATA_LOSS);
  EXPECT_NE(error.message().find("row 0x3 "), std::string::npos) << error.message();
}

TEST(HostSharedVectors, PagesTellWhetherTheyHaveAny) {
  Index index(4);
  index.vector_seed = kSeed;
  index.AddSegment({{{1, 2, 3, 4}, 1}});
  index.AddPending({{4, 3, 2, 1}, 2});
  index.AddPending({{}, 3});
  EXPECT_FALSE(pigment_pending_page_has_hashes(index.pages.at(index.first_pending)));
  index.AddShared({{1, 2, 3, 4}, 4, true});
  EXPECT_FALSE(pigment_pending_page_has_hashes(index.pages.at(index.first_pending))) << "dead";
  index.AddShared({{1, 2, 3, 4}, 5});
  EXPECT_TRUE(pigment_pending_page_has_hashes(index.pages.at(index.first_pending)));
  EXPECT_TRUE(pigment_pending_page_entry_has_vector(index.pages.at(index.first_pending), 3));
}

TEST(HostSharedVectors, DamagedHashesAreNamed) {
  std::mt19937_64 random(5);
  Index index(4);
  index.vector_seed = kSeed;
  std::vector<Row> rows(3000);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = {RandomVector(random, 4), i + 1};
  index.AddSegment(rows);
  Error error;
  HOST_OK(pigment_segment_verify(index.segment(0), error.out()));
  // The page of hashes whose kind its trailer tells, with a hash, a row or an order that is wrong.
  constexpr unsigned char kVectorHashes = 43;
  void* page = nullptr;
  uint32_t place = 0;
  for (uint32_t i = 0; i < index.pages.pages.size() && page == nullptr; ++i)
    if ((*index.pages.pages[i])[PIGMENT_PAGE_BYTES - PIGMENT_PAGE_TRAILER_BYTES] == kVectorHashes)
      page = index.pages.at(place = i);
  ASSERT_NE(page, nullptr);
  const Page whole = *index.pages.pages[place];
  for (const uint64_t change : {uint64_t{1} << 32, uint64_t{1}, uint64_t{1} << 31, ~uint64_t{0}}) {
    Page& bytes = *index.pages.pages[place];
    uint64_t entry = 0;
    const size_t at = PIGMENT_PAGE_HEADER_BYTES + 8 * (random() % 500);
    std::memcpy(&entry, bytes.data() + at, sizeof entry);
    entry ^= change;
    std::memcpy(bytes.data() + at, &entry, sizeof entry);
    EXPECT_EQ(pigment_segment_verify(index.segment(0), error.out()), PIGMENT_DATA_LOSS);
    EXPECT_FALSE(error.message().empty());
    bytes = whole;
  }
  HOST_OK(pigment_segment_verify(index.segment(0), error.out()));
}

TEST(HostSharedVectors, RefuseWhatIsNotThere) {
  Index index(2);
  index.vector_seed = kSeed;
  index.AddSegment({{{1, 2}, 1}});
  const float vector[2] = {1, 2};
  uint32_t row = 0;
  size_t count = 7;
  pigment_vector_hash hash{};
  Error error;
  EXPECT_EQ(pigment_segment_find_vector(nullptr, vector, 2, &row, 1, &count, &hash, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(count, 0u);
  const pigment_segment* const segment = index.segment(0);
  EXPECT_EQ(pigment_segment_find_vector(segment, nullptr, 2, &row, 1, &count, &hash, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(pigment_segment_find_vector(segment, vector, 2, nullptr, 1, &count, &hash, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(pigment_segment_find_vector(segment, vector, 2, &row, 1, nullptr, &hash, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(pigment_segment_find_vector(segment, vector, 2, &row, 1, &count, nullptr, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  pigment_page_source source = index.SharingSource();
  bool rounds = false;
  source.segments = nullptr;
  EXPECT_EQ(pigment_pending_rounds_to_halves(&source, kStamp, PIGMENT_NO_PAGE, PIGMENT_NO_PAGE,
                                             &rounds, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_NE(error.message().find("source.segments"), std::string::npos) << error.message();
  const pigment_segment* const none[1] = {nullptr};
  source.segments = none;
  EXPECT_EQ(pigment_pending_rounds_to_halves(&source, kStamp, PIGMENT_NO_PAGE, PIGMENT_NO_PAGE,
                                             &rounds, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_NE(error.message().find("source.segments[]"), std::string::npos) << error.message();
}

}  // namespace
}  // namespace host_test

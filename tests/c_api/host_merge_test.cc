// SPDX-License-Identifier: Apache-2.0
//
// Rows out of segments and pending pages into a new segment: nothing is lost, nothing is added, and
// keys are those that went in, in little memory too. Where pages lie, and which segments to merge.

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "tests/c_api/host_fixture.h"

namespace host_test {
namespace {

constexpr uint32_t kDimension = 6;
constexpr uint32_t kMergedSegment = 900;

// Three columns: a value of which there are few, a list, and a text with grams.
std::string RandomKeys(std::mt19937_64& random) {
  const std::string value(random() % 5, static_cast<char>('a' + random() % 7));
  std::set<std::string> elements;
  for (size_t n = random() % 4; n > 0; --n)
    elements.insert(std::string(1 + random() % 40, static_cast<char>(random() % 20)));
  std::vector<pigment_host_key> keys;
  if (random() % 5 != 0) keys.push_back({0, PIGMENT_KEY_VALUE, value.data(), value.size()});
  if (random() % 5 != 0) {
    keys.push_back({7, PIGMENT_KEY_VALUE, nullptr, 0});
    for (const std::string& element : elements)
      keys.push_back({7, PIGMENT_KEY_ELEMENT, element.data(), element.size()});
  }
  std::string text(random() % 60, '\0');
  for (char& byte : text) byte = static_cast<char>('a' + random() % 4);
  std::vector<uint32_t> grams(text.size() + 1);
  const size_t gram_bytes = pigment_host_grams(text.data(), text.size(), grams.data());
  if (random() % 5 != 0) {
    keys.push_back({9, PIGMENT_KEY_VALUE, text.data(), std::min<size_t>(text.size(), 8)});
    if (gram_bytes != 0) keys.push_back({9, PIGMENT_KEY_GRAMS, grams.data(), gram_bytes});
  }
  std::string bytes(pigment_host_keys_bytes(keys.data(), keys.size()), '\0');
  pigment_host_keys_encode(keys.data(), keys.size(), bytes.data());
  return bytes;
}

std::vector<Row> RowsFrom(std::mt19937_64& random, size_t count, uint64_t first_pointer,
                          bool has_keys, uint32_t dimension = kDimension) {
  std::vector<Row> rows(count);
  for (size_t i = 0; i < count; ++i) {
    rows[i].pointer = first_pointer + i * 3;
    if (random() % 9 != 0) rows[i].vector = RandomVector(random, dimension);
    rows[i].is_dead = random() % 4 == 0;
    if (has_keys) rows[i].keys = RandomKeys(random);
  }
  return rows;
}

std::vector<uint8_t> DeadBits(const std::vector<Row>& rows) {
  std::vector<uint8_t> bits((rows.size() + 7) / 8);
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i].is_dead) bits[i / 8] = static_cast<uint8_t>(bits[i / 8] | 1 << i % 8);
  return bits;
}

// A builder whose pages go to those of an index, and the segment that becomes of it.
class Merged {
 public:
  Merged(Index& index, uint32_t dimension, uint64_t budget_bytes = 0,
         pigment_segment_options options = {})
      : index_(index) {
    options.struct_size = sizeof options;
    options.segment = kMergedSegment;
    options.dimension = dimension;
    options.metric = PIGMENT_METRIC_L2;
    options.write_page = &Pages::Write;
    options.context = &index.pages;
    options.has_keys = index.has_keys;
    options.memory_budget_bytes = budget_bytes;
    EXPECT_EQ(pigment_segment_builder_new(&options, &builder, nullptr), PIGMENT_OK);
  }
  ~Merged() {
    pigment_host_search_free(search_);
    pigment_segment_free(segment);
    pigment_segment_builder_free(builder);
  }

  void Finish() {
    Error error;
    uint32_t root = 0;
    HOST_OK(pigment_segment_builder_finish(builder, &root, &pages, &rows, error.out()));
    const pigment_page_source source = index_.pages.source();
    HOST_OK(pigment_segment_open(&source, kMergedSegment, root, &segment, error.out()));
    HOST_OK(pigment_segment_verify(segment, error.out()));
  }

  // A search of the segment alone, and of a chain behind it.
  pigment_host_search* NewSearch(const std::vector<float>& query, uint32_t first_pending) {
    Error error;
    pigment_host_search_options options{};
    options.struct_size = sizeof options;
    options.metric = PIGMENT_METRIC_L2;
    options.dimension = static_cast<uint32_t>(query.size());
    options.query = query.data();
    EXPECT_EQ(pigment_host_search_new(&options, &search_, error.out()), PIGMENT_OK);
    EXPECT_EQ(pigment_host_search_add_segment(search_, segment, nullptr, 0, error.out()),
              PIGMENT_OK);
    source_ = index_.pages.source();
    EXPECT_EQ(
        pigment_host_search_add_pending(search_, &source_, kStamp, first_pending, error.out()),
        PIGMENT_OK);
    return search_;
  }

  pigment_segment_builder* builder = nullptr;
  pigment_segment* segment = nullptr;
  uint32_t pages = 0;
  uint64_t rows = 0;

 private:
  Index& index_;
  pigment_page_source source_{};
  pigment_host_search* search_ = nullptr;
};

std::map<uint64_t, uint64_t> Fingerprints(pigment_host_search* search) {
  std::map<uint64_t, uint64_t> found;
  EXPECT_EQ(pigment_host_search_visit_keys(
                search,
                [](void* context, uint64_t pointer, uint64_t fingerprint) -> pigment_status {
                  auto* all = static_cast<std::map<uint64_t, uint64_t>*>(context);
                  EXPECT_TRUE(all->emplace(pointer, fingerprint).second) << "twice: " << pointer;
                  return PIGMENT_OK;
                },
                &found, nullptr),
            PIGMENT_OK);
  return found;
}

std::vector<uint32_t> PendingPages(Index& index, uint32_t first, uint32_t last) {
  std::vector<uint32_t> places;
  const pigment_page_source source = index.pages.source();
  Error error;
  EXPECT_EQ(pigment_pending_visit_pages(
                &source, kStamp, first, last,
                [](void* context, uint32_t physical) -> pigment_status {
                  static_cast<std::vector<uint32_t>*>(context)->push_back(physical);
                  return PIGMENT_OK;
                },
                &places, error.out()),
            PIGMENT_OK)
      << error.message();
  return places;
}

bool PendingRounds(Index& index) {
  const pigment_page_source source = index.pages.source();
  bool rounds = false;
  Error error;
  EXPECT_EQ(pigment_pending_rounds_to_halves(&source, kStamp, index.first_pending, PIGMENT_NO_PAGE,
                                             &rounds, error.out()),
            PIGMENT_OK)
      << error.message();
  return rounds;
}

// The page before the last of a chain, and the last.
std::pair<uint32_t, uint32_t> EndOf(Index& index) {
  uint32_t before = PIGMENT_NO_PAGE;
  uint32_t page = index.first_pending;
  for (;;) {
    const uint32_t next = pigment_pending_page_next(index.pages.at(page));
    if (next == PIGMENT_NO_PAGE) return {before, page};
    before = page;
    page = next;
  }
}

TEST(HostMerge, TellsWhetherPendingVectorsCanBeRounded) {
  for (const uint32_t dimension : {3u, 3000u}) {  // in their pages, and in overflow pages
    Index index(dimension);
    index.AddPending({std::vector<float>(dimension, 0.3f), 1, false});
    index.AddPending({{}, 2, false});
    index.AddPending({std::vector<float>(dimension, 1e6f), 3, true});
    EXPECT_TRUE(PendingRounds(index)) << "what is dead does not count";
    index.AddPending({std::vector<float>(dimension, 1e-9f), 4, false});
    EXPECT_FALSE(PendingRounds(index));
  }
}

TEST(HostMerge, FlushesPendingRowsBesideTheLastPage) {
  // The second dimension has entries that are larger than a page.
  for (const auto& [dimension, count, has_keys] :
       {std::tuple{kDimension, 2000, true}, std::tuple{kDimension, 2000, false},
        std::tuple{3000u, 700, true}}) {
    std::mt19937_64 random(dimension + has_keys);
    Index index(dimension);
    index.has_keys = has_keys;
    index.rounds_pending = true;
    for (const Row& row : RowsFrom(random, static_cast<size_t>(count), 5, has_keys, dimension))
      index.AddPending(row);
    const auto [last, next] = EndOf(index);
    ASSERT_NE(last, PIGMENT_NO_PAGE);
    pigment_host_search* whole = index.NewSearch(PIGMENT_METRIC_L2, nullptr);
    const auto keys_before = Fingerprints(whole);
    pigment_host_search_free(whole);

    Merged merged(index, dimension, 1 << 20);
    const pigment_page_source source = index.pages.source();
    Error error;
    HOST_OK(pigment_segment_builder_add_pending(merged.builder, &source, kStamp,
                                                index.first_pending, last, error.out()));
    merged.Finish();
    EXPECT_GT(merged.rows, 100u);
    const std::vector<float> query = RandomVector(random, dimension);
    pigment_host_search* search = merged.NewSearch(query, next);
    EXPECT_EQ(Drain(search, random), Model(index.all, PIGMENT_METRIC_L2, &query));
    EXPECT_EQ(Fingerprints(search), keys_before);
    EXPECT_LE(index.pages.pinned_max, 8);
    EXPECT_EQ(index.pages.pinned, 0);
  }
}

TEST(HostMerge, MergesSegmentsWithoutTheirDeletedRows) {
  for (const bool has_keys : {false, true}) {
    // A window of keys of a few rows, or of all.
    for (const uint64_t budget : {uint64_t{0}, uint64_t{1} << 20}) {
      std::mt19937_64 random(has_keys + budget);
      Index index(kDimension);
      index.has_keys = has_keys;
      std::vector<std::vector<Row>> parts;
      for (const size_t count : {3000, 1, 20000, 65}) {
        parts.push_back(RowsFrom(random, count, parts.size() * 1000000, has_keys));
        index.AddSegment(parts.back());
      }
      pigment_host_search* before = index.NewSearch(PIGMENT_METRIC_L2, nullptr);
      const auto keys_before = Fingerprints(before);
      pigment_host_search_free(before);
      Merged merged(index, kDimension, budget);
      Error error;
      for (size_t i = 0; i < parts.size(); ++i) {
        const std::vector<uint8_t> dead = DeadBits(parts[i]);
        HOST_OK(pigment_segment_builder_add_segment(merged.builder, index.segment(i), dead.data(),
                                                    dead.size(), error.out()));
      }
      merged.Finish();
      const std::vector<float> query = RandomVector(random, kDimension);
      const auto expected = Model(index.all, PIGMENT_METRIC_L2, &query);
      EXPECT_EQ(merged.rows, expected.size());
      pigment_host_search* search = merged.NewSearch(query, PIGMENT_NO_PAGE);
      EXPECT_EQ(Drain(search, random), expected);
      EXPECT_EQ(Fingerprints(search), keys_before);
      EXPECT_LE(index.pages.pinned_max, 8);
      EXPECT_EQ(index.pages.pinned, 0);
    }
  }
}

// Keys of so many bytes that nobody else has.
std::string WideKeys(uint64_t number, size_t bytes) {
  std::string text = std::to_string(number);
  text.resize(bytes, 'x');
  const pigment_host_key key{0, PIGMENT_KEY_VALUE, text.data(), text.size()};
  std::string encoded(pigment_host_keys_bytes(&key, 1), '\0');
  pigment_host_keys_encode(&key, 1, encoded.data());
  return encoded;
}

// One row in `step` has a vector, and all have wide keys.
std::vector<Row> WideRows(std::mt19937_64& random, size_t count, uint64_t first_pointer,
                          size_t step) {
  std::vector<Row> rows(count);
  for (size_t i = 0; i < count; ++i) {
    rows[i].pointer = first_pointer + i;
    if (i % step == 0) rows[i].vector = RandomVector(random, kDimension);
    rows[i].is_dead = random() % 10 == 0;
    rows[i].keys = WideKeys(rows[i].pointer, 300);
  }
  return rows;
}

pigment_segment_options OfClusters(uint64_t vectors_expected) {
  pigment_segment_options options{};
  options.index = PIGMENT_INDEX_CLUSTERS;
  options.index_rows_min = 100;
  options.vectors_expected = vectors_expected;
  return options;
}

// Two segments, the first of them with an index, and a chain of pending pages.
struct WideIndex {
  WideIndex(std::mt19937_64& random, size_t count, size_t step) : index(kDimension) {
    index.has_keys = true;
    for (const bool has_index : {true, false}) {
      index.segment_index = has_index ? PIGMENT_INDEX_CLUSTERS : PIGMENT_INDEX_FLAT;
      index.AddSegment(WideRows(random, count, has_index ? 0 : 1000000, step));
    }
    for (const Row& row : WideRows(random, count, 2000000, step)) index.AddPending(row);
    last = EndOf(index).first;
  }

  // All of `rows` from everywhere, but for what is in the last page.
  void CopyTo(pigment_segment_builder* builder, int32_t rows) {
    Error error;
    HOST_OK(pigment_segment_builder_choose_rows(builder, rows, error.out()));
    for (const size_t i : {0, 1})
      HOST_OK(pigment_segment_builder_add_segment(builder, index.segment(i),
                                                  index.deleted(i).data(), index.deleted(i).size(),
                                                  error.out()));
    const pigment_page_source source = index.pages.source();
    HOST_OK(pigment_segment_builder_add_pending(builder, &source, kStamp, index.first_pending, last,
                                                error.out()));
  }

  Index index;
  uint32_t last = PIGMENT_NO_PAGE;
};

TEST(HostMerge, KeepsItsIndexWhereRowsWithoutAVectorAreMoreThanItsMemory) {
  std::mt19937_64 random(12);
  WideIndex wide(random, 4000, 3);
  pigment_host_search* before = wide.index.NewSearch(PIGMENT_METRIC_L2, nullptr);
  const auto keys_before = Fingerprints(before);
  pigment_host_search_free(before);
  constexpr uint64_t kBudget = uint64_t{1} << 20;
  for (const bool at_once : {true, false}) {
    Merged merged(wide.index, kDimension, kBudget, OfClusters(4200));
    if (at_once) {
      wide.CopyTo(merged.builder, PIGMENT_ROWS_ALL);
    } else {
      wide.CopyTo(merged.builder, PIGMENT_ROWS_WITH_VECTOR);
      wide.CopyTo(merged.builder, PIGMENT_ROWS_WITHOUT_VECTOR);
      EXPECT_TRUE(pigment_segment_builder_has_room(merged.builder));
      const std::vector<float> vector(kDimension);
      Error error;
      EXPECT_EQ(pigment_segment_builder_add(merged.builder, vector.data(), 5000000, error.out()),
                PIGMENT_INVALID_ARGUMENT)
          << "it would come behind rows without one";
    }
    merged.Finish();
    EXPECT_EQ(pigment_segment_builder_has_given_up_index(merged.builder), at_once);
    pigment_segment_info info{};
    info.struct_size = sizeof info;
    pigment_segment_get_info(merged.segment, &info);
    EXPECT_EQ(info.index, at_once ? PIGMENT_INDEX_FLAT : PIGMENT_INDEX_CLUSTERS);
    const std::vector<float> query = RandomVector(random, kDimension);
    pigment_host_search* search =
        merged.NewSearch(query, pigment_pending_page_next(wide.index.pages.at(wide.last)));
    EXPECT_EQ(Drain(search, random), Model(wide.index.all, PIGMENT_METRIC_L2, &query));
    EXPECT_EQ(Fingerprints(search), keys_before) << "all rows are in the index of their keys";
    EXPECT_EQ(wide.index.pages.pinned, 0);
  }
}

TEST(HostMerge, TakesTheMemoryOfItsIndexBeforeKeysTakeIt) {
  size_t too_late = 0;
  for (uint64_t budget = uint64_t{1} << 20; budget < uint64_t{3} << 20; budget += budget / 5) {
    SCOPED_TRACE(testing::Message() << budget << " bytes");
    pigment_segment_options options = OfClusters(0);
    options.struct_size = sizeof options;
    options.dimension = kDimension;
    options.metric = PIGMENT_METRIC_L2;
    options.memory_budget_bytes = budget;
    const uint64_t vectors = pigment_segment_index_rows_max(&options) / 8 * 7;
    for (const uint64_t expected : {vectors, uint64_t{0}}) {
      std::mt19937_64 random(budget);
      Index index(kDimension);
      index.has_keys = true;
      Merged merged(index, kDimension, budget, OfClusters(expected));
      Error error;
      for (uint64_t i = 0; i < vectors; ++i) {
        const std::vector<float> vector = RandomVector(random, kDimension);
        const std::string keys = WideKeys(i, 300);
        HOST_OK(pigment_segment_builder_add_row(merged.builder, vector.data(), i, keys.data(),
                                                keys.size(), error.out()));
      }
      merged.Finish();
      const bool has_given_up = pigment_segment_builder_has_given_up_index(merged.builder);
      if (expected != 0) {
        EXPECT_FALSE(has_given_up);
      } else {
        too_late += has_given_up ? 1 : 0;
      }
    }
  }
  EXPECT_GT(too_late, 0u) << "there is memory however late it is taken";
}

TEST(HostMerge, RefusesRowsThatAreNone) {
  Index index(kDimension);
  Merged merged(index, kDimension);
  Error error;
  for (const int32_t rows : {-1, 3})
    EXPECT_EQ(pigment_segment_builder_choose_rows(merged.builder, rows, error.out()),
              PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(pigment_segment_builder_choose_rows(nullptr, PIGMENT_ROWS_ALL, error.out()),
            PIGMENT_INVALID_ARGUMENT);
}

TEST(HostMerge, KeepsRowsOfUnknownKeysUnknown) {
  std::mt19937_64 random(4);
  Index index(kDimension);
  index.has_keys = true;
  std::vector<Row> rows(300);
  for (size_t i = 0; i < rows.size(); ++i) {
    // There is no memory for the index of the group that three of them are in.
    const bool is_large = i >= 130 && i < 133;
    const std::string text(is_large ? 400000 : 1 + i % 7, static_cast<char>('a' + i % 26));
    const pigment_host_key key{0, PIGMENT_KEY_VALUE, text.data(), text.size()};
    rows[i].pointer = i;
    rows[i].keys.resize(pigment_host_keys_bytes(&key, 1));
    pigment_host_keys_encode(&key, 1, rows[i].keys.data());
  }
  index.build_budget_bytes = uint64_t{1} << 20;
  index.AddSegment(rows);
  const auto known_before = [&] {
    pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, nullptr);
    auto found = Fingerprints(search);
    pigment_host_search_free(search);
    return found;
  }();
  ASSERT_LT(known_before.size(), rows.size());
  ASSERT_GT(known_before.size(), 0u);
  Merged merged(index, kDimension);
  Error error;
  HOST_OK(pigment_segment_builder_add_segment(merged.builder, index.segment(0), nullptr, 0,
                                              error.out()));
  merged.Finish();
  EXPECT_EQ(merged.rows, rows.size());
  const std::vector<float> query = RandomVector(random, kDimension);
  const auto known = Fingerprints(merged.NewSearch(query, PIGMENT_NO_PAGE));
  EXPECT_GT(known.size(), 0u);
  for (const auto& [pointer, fingerprint] : known) {
    const auto was = known_before.find(pointer);
    ASSERT_TRUE(was != known_before.end()) << "nobody knew the keys of row " << pointer;
    EXPECT_EQ(fingerprint, was->second);
  }
}

TEST(HostMerge, IsOfNoUseAfterAnInterrupt) {
  std::mt19937_64 random(5);
  Index index(kDimension);
  index.AddSegment(RowsFrom(random, 5000, 0, false));
  for (const Row& row : RowsFrom(random, 2000, 100000, false)) index.AddPending(row);
  const auto [last, next] = EndOf(index);
  const pigment_page_source source = index.pages.source();
  Error error;
  for (const bool is_pending : {false, true}) {
    const auto add = [&, end = last](pigment_segment_builder* builder) {
      if (is_pending)
        return pigment_segment_builder_add_pending(builder, &source, kStamp, index.first_pending,
                                                   end, error.out());
      return pigment_segment_builder_add_segment(builder, index.segment(0), nullptr, 0,
                                                 error.out());
    };
    Merged merged(index, kDimension);
    index.pages.fail_in = 5;
    EXPECT_EQ(add(merged.builder), PIGMENT_CANCELLED);
    EXPECT_EQ(index.pages.pinned, 0);
    EXPECT_EQ(add(merged.builder), PIGMENT_FAILED_PRECONDITION) << "some rows are there already";
    uint32_t root = 0;
    EXPECT_EQ(pigment_segment_builder_finish(merged.builder, &root, nullptr, nullptr, error.out()),
              PIGMENT_FAILED_PRECONDITION);
  }
}

TEST(HostMerge, RefusesWhatIsNotThere) {
  std::mt19937_64 random(6);
  Index index(kDimension);
  for (const Row& row : RowsFrom(random, 2000, 0, false)) index.AddPending(row);
  const pigment_page_source source = index.pages.source();
  Error error;
  {
    Merged merged(index, kDimension);
    EXPECT_EQ(
        pigment_segment_builder_add_pending(merged.builder, &source, kStamp, index.first_pending,
                                            PIGMENT_NO_PAGE, error.out()),
        PIGMENT_INVALID_ARGUMENT);
    EXPECT_EQ(pigment_segment_builder_add_pending(merged.builder, &source, kStamp,
                                                  index.first_pending, 123456, error.out()),
              PIGMENT_DATA_LOSS);
  }
  Merged other(index, kDimension + 1);
  EXPECT_EQ(pigment_segment_builder_add_pending(other.builder, &source, kStamp, index.first_pending,
                                                EndOf(index).first, error.out()),
            PIGMENT_DATA_LOSS);
}

TEST(HostPlaces, AreEachPageOnce) {
  std::mt19937_64 random(7);
  Index index(kDimension);
  index.has_keys = true;
  for (const size_t count : {1, 100, 30000}) {
    index.AddSegment(RowsFrom(random, count, count * 100000, true));
  }
  for (size_t i = 0; i < 3; ++i) {
    std::vector<uint32_t> places;
    const uint64_t pins = index.pages.pins;
    Error error;
    HOST_OK(pigment_segment_visit_pages(
        index.segment(i),
        [](void* context, uint32_t physical) -> pigment_status {
          static_cast<std::vector<uint32_t>*>(context)->push_back(physical);
          return PIGMENT_OK;
        },
        &places, error.out()));
    EXPECT_EQ(index.pages.pins, pins) << "no page is read";
    pigment_segment_info info{};
    info.struct_size = sizeof info;
    pigment_segment_get_info(index.segment(i), &info);
    EXPECT_EQ(places.size(), info.pages);
    const std::set<uint32_t> distinct(places.begin(), places.end());
    EXPECT_EQ(distinct.size(), places.size());
    EXPECT_TRUE(distinct.contains(index.root(i)));
    // Each says of itself that it is one of this segment's: its stamp is in the trailer.
    for (const uint32_t place : places) {
      uint32_t stamp = 0;
      std::memcpy(&stamp, static_cast<char*>(index.pages.at(place)) + PIGMENT_PAGE_BYTES - 12, 4);
      ASSERT_EQ(stamp, i + 1) << "page " << place;
    }
  }
}

TEST(HostPlaces, HaveOverflowPagesOfDeadEntriesToo) {
  constexpr uint32_t kLarge = 3000;  // two pages
  std::mt19937_64 random(8);
  Index index(kLarge);
  const auto rows = RowsFrom(random, 700, 0, false, kLarge);
  size_t expected = 0;
  for (const Row& row : rows) {
    index.AddPending(row);
    expected += row.vector.empty() ? 0 : 2;
  }
  uint64_t bytes = 0;
  for (uint32_t page = index.first_pending; page != PIGMENT_NO_PAGE; ++expected) {
    const char* const bytes_of_page = static_cast<const char*>(index.pages.at(page));
    size_t unused = 0;
    size_t directory = 0;
    pigment_pending_page_unused(bytes_of_page, &unused, &directory);
    EXPECT_EQ(directory, PIGMENT_PAGE_BYTES - PIGMENT_PAGE_TRAILER_BYTES -
                             4 * pigment_pending_page_count(bytes_of_page));
    EXPECT_LE(unused, directory);
    EXPECT_TRUE(std::all_of(bytes_of_page + unused, bytes_of_page + directory,
                            [](char byte) { return byte == 0; }));
    bytes += pigment_pending_page_bytes(index.pages.at(page));
    page = pigment_pending_page_next(index.pages.at(page));
  }
  const auto places = PendingPages(index, index.first_pending, PIGMENT_NO_PAGE);
  EXPECT_EQ(places.size(), expected);
  EXPECT_EQ(std::set<uint32_t>(places.begin(), places.end()).size(), places.size());
  EXPECT_EQ(bytes, std::accumulate(
                       rows.begin(), rows.end(), uint64_t{0}, [&](uint64_t sum, const Row& row) {
                         return sum + pigment_pending_entry_bytes(kLarge, !row.vector.empty());
                       }));
  const auto [last, next] = EndOf(index);
  const auto fewer = PendingPages(index, index.first_pending, last);
  EXPECT_LT(fewer.size(), places.size());
  EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), places.begin()));
  EXPECT_EQ(places[fewer.size()], next);
}

TEST(HostPlaces, AreToldAnewAfterAnInterrupt) {
  std::mt19937_64 random(9);
  Index index(kDimension);
  for (const Row& row : RowsFrom(random, 2000, 0, false)) index.AddPending(row);
  const auto places = PendingPages(index, index.first_pending, PIGMENT_NO_PAGE);
  ASSERT_GT(places.size(), 3u);
  const pigment_page_source source = index.pages.source();
  for (const uint64_t fail_in : {1, 3}) {
    std::vector<uint32_t> told;
    const auto visit = [&] {
      Error error;
      return pigment_pending_visit_pages(
          &source, kStamp, index.first_pending, PIGMENT_NO_PAGE,
          [](void* context, uint32_t physical) -> pigment_status {
            static_cast<std::vector<uint32_t>*>(context)->push_back(physical);
            return PIGMENT_OK;
          },
          &told, error.out());
    };
    index.pages.fail_in = fail_in;
    EXPECT_EQ(visit(), PIGMENT_CANCELLED);
    EXPECT_LT(told.size(), places.size());
    EXPECT_EQ(index.pages.pinned, 0);
    told.clear();
    EXPECT_EQ(visit(), PIGMENT_OK);
    EXPECT_EQ(told, places);
  }
}

TEST(HostMerge, ReadsEachPageOnceInACall) {
  std::mt19937_64 random(10);
  Index index(kDimension);
  index.AddSegment(RowsFrom(random, 20000, 0, false));
  for (const Row& row : RowsFrom(random, 2000, 100000, false)) index.AddPending(row);
  const auto [last, next] = EndOf(index);
  pigment_segment_info info{};
  info.struct_size = sizeof info;
  pigment_segment_get_info(index.segment(0), &info);
  const size_t chain = PendingPages(index, index.first_pending, last).size();
  Merged merged(index, kDimension);
  const pigment_page_source source = index.pages.source();
  Error error;
  uint64_t before = index.pages.pins;
  HOST_OK(pigment_segment_builder_add_segment(merged.builder, index.segment(0), nullptr, 0,
                                              error.out()));
  EXPECT_LE(index.pages.pins - before, info.pages);
  before = index.pages.pins;
  HOST_OK(pigment_segment_builder_add_pending(merged.builder, &source, kStamp, index.first_pending,
                                              last, error.out()));
  EXPECT_EQ(index.pages.pins - before, chain);
}

TEST(HostPlan, KeepsSegmentsFew) {
  Error error;
  std::vector<pigment_merge_shape> segments;
  uint64_t written = 0;
  size_t most = 0;
  constexpr uint64_t kFlush = 1000;
  for (int flush = 0; flush < 2000; ++flush) {
    segments.push_back({kFlush, 0, false});
    for (;;) {
      size_t first = 7;
      size_t count = 7;
      HOST_OK(pigment_plan_merge(segments.data(), segments.size(), kFlush, &first, &count,
                                 error.out()));
      if (count == 0) break;
      ASSERT_LE(first + count, segments.size());
      pigment_merge_shape merged{};
      for (size_t i = first; i < first + count; ++i) merged.rows += segments[i].rows;
      written += merged.rows;
      segments.erase(segments.begin() + static_cast<ptrdiff_t>(first),
                     segments.begin() + static_cast<ptrdiff_t>(first + count));
      segments.insert(segments.begin() + static_cast<ptrdiff_t>(first), merged);
    }
    most = std::max(most, segments.size());
  }
  EXPECT_LE(most, 24u);
  EXPECT_LE(written, 2000 * kFlush * 8);
  size_t first = 0;
  size_t count = 0;
  const pigment_merge_shape mostly_dead{1000, 900, false};
  HOST_OK(pigment_plan_merge(&mostly_dead, 1, kFlush, &first, &count, error.out()));
  EXPECT_EQ(count, 1u);
  const pigment_merge_shape busy{1000, 900, true};
  HOST_OK(pigment_plan_merge(&busy, 1, kFlush, &first, &count, error.out()));
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(pigment_plan_merge(nullptr, 1, kFlush, &first, &count, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(pigment_plan_merge(&busy, 1, 0, &first, &count, error.out()), PIGMENT_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace host_test

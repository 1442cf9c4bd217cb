// SPDX-License-Identifier: Apache-2.0
//
// A host in memory: pages that are pinned as copies (so that a read after unpin is a read of freed
// memory), pins that are counted and may fail, and an index of segments, deletion bits and pending
// pages with the plain model beside it.

#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "pigment/pigment_host.h"

namespace host_test {

// Owned error with its text, empty when there was none.
class Error {
 public:
  ~Error() { pigment_error_free(error_); }
  pigment_error** out() {
    pigment_error_free(error_);
    error_ = nullptr;
    return &error_;
  }
  pigment_status code() const {
    return error_ == nullptr ? PIGMENT_OK : pigment_error_status(error_);
  }
  int32_t detail() const { return pigment_error_detail(error_); }
  std::string message() const { return error_ == nullptr ? "" : pigment_error_message(error_); }

 private:
  pigment_error* error_ = nullptr;
};

#define HOST_OK(expression)                            \
  do {                                                 \
    const pigment_status status_ = (expression);       \
    ASSERT_EQ(status_, PIGMENT_OK) << error.message(); \
  } while (false)

using Page = std::array<unsigned char, PIGMENT_PAGE_BYTES>;

class Pages {
 public:
  pigment_page_source source() {
    pigment_page_source source{};
    source.struct_size = sizeof source;
    source.pin = [](void* context, uint32_t physical, const void** page) {
      return static_cast<Pages*>(context)->Pin(physical, page);
    };
    source.unpin = [](void* context, uint32_t, const void* page) {
      auto* self = static_cast<Pages*>(context);
      --self->pinned;
      delete static_cast<const Page*>(page);
    };
    if (has_versions) {
      source.version = [](void* context, uint32_t physical) {
        const auto* bytes = static_cast<const char*>(static_cast<Pages*>(context)->at(physical));
        return uint64_t{std::hash<std::string_view>()({bytes, PIGMENT_PAGE_BYTES})} | 1;
      };
    }
    source.context = this;
    source.name = "items_embedding_idx";
    source.name_size = std::strlen(source.name);
    return source;
  }

  uint32_t Allocate() {
    pages.push_back(std::make_unique<Page>());
    // Every place gets its own header bytes, as a host's page header differs from page to page.
    std::memset(pages.back()->data(), static_cast<int>(pages.size()), PIGMENT_PAGE_HEADER_BYTES);
    return static_cast<uint32_t>(pages.size() - 1);
  }
  void* at(uint32_t physical) { return pages[physical]->data(); }

  static pigment_status Write(void* context, const void* page, uint32_t* physical) {
    auto* self = static_cast<Pages*>(context);
    if (self->random() % 4 == 0) self->Allocate();  // somebody else's page in between
    *physical = self->Allocate();
    std::memcpy(self->pages[*physical]->data() + PIGMENT_PAGE_HEADER_BYTES,
                static_cast<const unsigned char*>(page) + PIGMENT_PAGE_HEADER_BYTES,
                PIGMENT_PAGE_BYTES - PIGMENT_PAGE_HEADER_BYTES);
    return PIGMENT_OK;
  }

  // A file without a name, as scratch of a build.
  static pigment_status OpenScratch(void* context, uint64_t bytes, int* descriptor) {
    auto* self = static_cast<Pages*>(context);
    if (self->scratch_bytes.size() == self->scratch_max) return PIGMENT_ABORTED;
    self->scratch_bytes.push_back(bytes);
    *descriptor = memfd_create("scratch", MFD_CLOEXEC);
    return *descriptor < 0 ? PIGMENT_UNAVAILABLE : PIGMENT_OK;
  }

  std::vector<std::unique_ptr<Page>> pages;
  std::vector<uint64_t> scratch_bytes;                      // of each that was opened
  size_t scratch_max = std::numeric_limits<size_t>::max();  // that is opened, then none
  std::mt19937 random{1};
  int pinned = 0;
  int pinned_max = 0;
  bool has_versions = false;
  uint64_t pins = 0;
  uint64_t fail_in = 0;  // the pin that fails, counted from now; 0: none
  pigment_status fail_code = PIGMENT_CANCELLED;

 private:
  pigment_status Pin(uint32_t physical, const void** page) {
    ++pins;
    if (fail_in != 0 && --fail_in == 0) return fail_code;
    if (physical >= pages.size()) return PIGMENT_OUT_OF_RANGE;
    *page = new Page(*pages[physical]);
    pinned_max = std::max(pinned_max, ++pinned);
    return PIGMENT_OK;
  }
};

struct Row {
  std::vector<float> vector;  // empty: NULL
  uint64_t pointer = 0;
  bool is_dead = false;
  std::string keys = {};  // as pigment_host_keys_encode writes them
};

inline void MakeBits(std::vector<float>& vector) {
  for (float& number : vector) number = number > 0 ? 1 : 0;
}
inline void MakeBits(std::vector<Row>& rows) {
  for (Row& row : rows) MakeBits(row.vector);
}

// What the search must give: (kind, distance, row pointer) ascending.
using Expected = std::tuple<int32_t, float, uint64_t>;

inline std::vector<Expected> Model(const std::vector<Row>& rows, int32_t metric,
                                   const std::vector<float>* query) {
  std::vector<Expected> expected;
  for (const Row& row : rows) {
    if (row.is_dead) continue;
    if (query == nullptr || row.vector.empty()) {
      expected.emplace_back(2, 0.0f, row.pointer);
      continue;
    }
    const float distance =
        pigment_host_distance(metric, query->data(), row.vector.data(), query->size());
    if (std::isnan(distance)) {
      expected.emplace_back(1, 0.0f, row.pointer);
    } else {
      expected.emplace_back(0, distance, row.pointer);
    }
  }
  std::sort(expected.begin(), expected.end());
  return expected;
}

constexpr uint32_t kStamp = 77;

// Of a segment without more than is needed.
inline pigment_segment_options OptionsOf(Pages& pages, uint32_t dimension) {
  pigment_segment_options options{};
  options.struct_size = sizeof options;
  options.segment = 1;
  options.dimension = dimension;
  options.metric = PIGMENT_METRIC_L2;
  options.write_page = &Pages::Write;
  options.context = &pages;
  return options;
}

// An index: some segments with deletion bits, and a chain of pending pages.
class Index {
 public:
  explicit Index(uint32_t dimension) : dimension_(dimension) {}
  ~Index() {
    for (auto& segment : segments_) pigment_segment_free(segment.handle);
  }

  void AddSegment(const std::vector<Row>& rows) {
    Error error;
    pigment_segment_options options{};
    options.struct_size = sizeof options;
    options.segment = static_cast<uint32_t>(segments_.size() + 1);
    options.dimension = dimension_;
    options.metric = segment_metric;
    options.index = segment_index;
    options.index_rows_min = index_rows_min;
    options.graph_rows_min = graph_rows_min;
    options.write_page = &Pages::Write;
    options.context = &pages;
    options.has_keys = has_keys;
    options.half_vectors = half_vectors;
    options.round_to_halves = rounds_to_halves;
    options.bit_vectors = bit_vectors;
    options.memory_budget_bytes = build_budget_bytes;
    options.open_scratch = has_scratch ? &Pages::OpenScratch : nullptr;
    options.vector_seed = vector_seed;
    pigment_segment_builder* builder = nullptr;
    HOST_OK(pigment_segment_builder_new(&options, &builder, error.out()));
    Part part;
    part.deleted.resize((rows.size() + 7) / 8);
    for (size_t i = 0; i < rows.size(); ++i) {
      const float* vector = rows[i].vector.empty() ? nullptr : rows[i].vector.data();
      HOST_OK(pigment_segment_builder_add_row(builder, vector, rows[i].pointer, rows[i].keys.data(),
                                              rows[i].keys.size(), error.out()));
      all.push_back(rows[i]);
    }
    uint64_t count = 0;
    uint32_t written = 0;
    HOST_OK(pigment_segment_builder_finish(builder, &part.root, &written, &count, error.out()));
    zero_vectors += pigment_segment_builder_zero_vectors(builder);
    rounding = std::max(rounding, pigment_segment_builder_rounding(builder));
    pigment_segment_builder_free(builder);
    ASSERT_EQ(count, rows.size());
    ASSERT_GT(written, 0u);
    const pigment_page_source source = pages.source();
    HOST_OK(pigment_segment_open(&source, options.segment, part.root, &part.handle, error.out()));
    MarkDeleted(part, rows);
    segments_.push_back(part);
  }

  // Appends one row to the pending pages as a host does: in the last page, in a new one, or in
  // overflow pages.
  void AddPending(Row row) {
    std::vector<float> rounded(row.vector.size());
    const bool rounds = rounds_pending && all.size() % 3 != 0 && !row.vector.empty();
    const auto rounds_by = [&](auto round) {
      return rounds &&
             round(PIGMENT_METRIC_L2, row.vector.data(), dimension_, rounded.data(), nullptr);
    };
    const bool twelves = all.size() % 3 == 1 && rounds_by(pigment_host_round_to_twelves);
    const bool halves = !twelves && rounds_by(pigment_host_round_to_halves);
    if (twelves || halves) row.vector = std::move(rounded);
    all.push_back(row);
    const float* vector = row.vector.empty() ? nullptr : row.vector.data();
    std::vector<char> entry(
        pigment_pending_entry_bytes_with_keys(dimension_, vector != nullptr, row.keys.size()));
    auto encode = pigment_pending_entry_encode_with_keys;
    if (bit_vectors && vector != nullptr) {
      entry.resize(pigment_pending_entry_bytes_with_bits(dimension_, row.keys.size()));
      encode = pigment_pending_entry_encode_with_bits;
    } else if (twelves) {
      entry.resize(pigment_pending_entry_bytes_with_twelves(dimension_, row.keys.size()));
      encode = pigment_pending_entry_encode_with_twelves;
    } else if (halves) {
      entry.resize(pigment_pending_entry_bytes_with_halves(dimension_, row.keys.size()));
      encode = pigment_pending_entry_encode_with_halves;
    }
    encode(row.pointer, vector, dimension_, row.keys.data(), row.keys.size(), entry.data());
    AppendEntry(row, entry);
  }

  // The same of a row whose vector a row of the segments has: with its hash. REQUIRES: vector_seed.
  void AddShared(const Row& row) {
    Error error;
    pigment_vector_hash hash{};
    size_t count = 0;
    for (size_t i = 0; i < segments_.size() && count == 0; ++i) {
      uint32_t found = 0;
      HOST_OK(pigment_segment_find_vector(segments_[i].handle, row.vector.data(), dimension_,
                                          &found, 1, &count, &hash, error.out()));
    }
    ASSERT_EQ(count, 1u) << "no row has the vector of row " << row.pointer;
    AddHash(row, hash);
  }
  void AddHash(const Row& row, const pigment_vector_hash& hash) {
    all.push_back(row);
    std::vector<char> entry(pigment_pending_entry_bytes_with_hash(row.keys.size()));
    pigment_pending_entry_encode_with_hash(row.pointer, &hash, dimension_, row.keys.data(),
                                           row.keys.size(), entry.data());
    AppendEntry(row, entry);
  }

  // Finds out what rows of a cache hang on of which nobody did, and keeps it as a host does.
  // Whether there was anything to find out.
  bool HangPending(pigment_pending_cache* of) {
    Error error;
    const pigment_page_source source = SharingSource();
    pigment_buffer* part = nullptr;
    EXPECT_EQ(pigment_pending_cache_hang(of, &source, &part, error.out()), PIGMENT_OK)
        << error.message();
    if (part == nullptr) return false;
    size_t size = 0;
    const char* const bytes = pigment_buffer_data(part, &size);
    graft = WriteOverflow({bytes, bytes + size});
    pigment_buffer_free(part);
    pigment_pending_cache_set_graft(of, graft);
    return true;
  }

  // Of pending pages, which find their vectors in all segments.
  pigment_page_source SharingSource() {
    handles_.clear();
    for (const Part& part : segments_) handles_.push_back(part.handle);
    pigment_page_source source = pages.source();
    source.segments = handles_.data();
    source.segment_count = handles_.size();
    return source;
  }

 private:
  void AppendEntry(const Row& row, const std::vector<char>& entry) {
    uint32_t overflow = PIGMENT_NO_PAGE;
    if (entry.size() > pigment_pending_entry_bytes_max()) overflow = WriteOverflow(entry);
    const auto append = [&](uint32_t page) {
      if (overflow == PIGMENT_NO_PAGE)
        return pigment_pending_page_append(pages.at(page), entry.data(), entry.size());
      return pigment_pending_page_append_overflow_row(pages.at(page), row.pointer, overflow,
                                                      entry.size(), !row.vector.empty());
    };
    if (last_pending == PIGMENT_NO_PAGE || !append(last_pending)) {
      const uint32_t page = pages.Allocate();
      pigment_pending_page_init(pages.at(page), kStamp, page);
      ASSERT_TRUE(append(page));
      if (last_pending == PIGMENT_NO_PAGE) {
        first_pending = page;
      } else {
        pigment_pending_page_set_next(pages.at(last_pending), page);
      }
      last_pending = page;
    }
    if (row.is_dead) {
      pigment_pending_page_kill(pages.at(last_pending),
                                pigment_pending_page_count(pages.at(last_pending)) - 1);
    }
    Error error;
    HOST_OK(pigment_pending_page_check(pages.at(last_pending), kStamp, last_pending, error.out()));
  }

 public:
  pigment_host_search* NewSearch(int32_t metric, const std::vector<float>* query,
                                 size_t batch_rows = 0, uint64_t batch_bytes = 0) {
    Error error;
    pigment_host_search_options options{};
    options.struct_size = sizeof options;
    options.metric = metric;
    options.dimension = dimension_;
    options.query = query != nullptr ? query->data() : nullptr;
    options.batch_rows_first = batch_rows;
    options.batch_bytes_max = batch_bytes;
    options.conditions = conditions.data();
    options.condition_count = conditions.size();
    options.recall = recall;
    options.width = width;
    options.has_max_distance = max_distance.has_value();
    options.max_distance = max_distance.value_or(0);
    options.nan = nan;
    options.no_zero_vectors = zero_vectors == 0;
    options.text = text;
    options.text_column = text_column;
    options.sparse = sparse;
    options.sparse_column = sparse_column;
    options.rows_wanted = rows_wanted;
    options.rows_spare = rows_spare;
    pigment_host_search* search = nullptr;
    EXPECT_EQ(pigment_host_search_new(&options, &search, error.out()), PIGMENT_OK)
        << error.message();
    for (const Part& part : segments_) {
      EXPECT_EQ(pigment_host_search_add_segment(search, part.handle, part.deleted.data(),
                                                part.deleted.size(), error.out()),
                PIGMENT_OK)
          << error.message();
    }
    const pigment_page_source source = pages.source();
    EXPECT_EQ(
        cache != nullptr
            ? pigment_host_search_add_pending_cache(search, &source, cache, error.out())
            : pigment_host_search_add_pending(search, &source, kStamp, first_pending, error.out()),
        PIGMENT_OK)
        << error.message();
    return search;
  }

  // As another session of the host, which has read nothing yet.
  void Reopen() {
    Error error;
    const pigment_page_source source = pages.source();
    for (size_t i = 0; i < segments_.size(); ++i) {
      pigment_segment_free(segments_[i].handle);
      HOST_OK(pigment_segment_open(&source, static_cast<uint32_t>(i + 1), segments_[i].root,
                                   &segments_[i].handle, error.out()));
    }
  }

  uint32_t dimension() const { return dimension_; }
  const pigment_segment* segment(size_t i) const { return segments_[i].handle; }
  uint32_t root(size_t i) const { return segments_[i].root; }
  const std::vector<uint8_t>& deleted(size_t i) const { return segments_[i].deleted; }

  Pages pages;
  bool has_keys = false;
  bool half_vectors = false;      // of segments; REQUIRES: rows that RoundToHalves left as they are
  bool rounds_to_halves = false;  // the same, of any rows that can be rounded
  bool bit_vectors = false;       // of segments and pending rows; REQUIRES: rows of MakeBits
  double rounding = 0;            // of all segments, the most
  uint64_t build_budget_bytes = 0;
  bool has_scratch = false;  // for builds
  uint64_t vector_seed = 0;  // of segments
  int32_t segment_metric = PIGMENT_METRIC_L2;
  int32_t segment_index = PIGMENT_INDEX_FLAT;
  uint32_t index_rows_min = 0;
  uint32_t graph_rows_min = 0;
  double recall = 0;  // of searches
  size_t width = 0;
  size_t rows_wanted = 0;
  size_t rows_spare = 0;
  std::optional<float> max_distance;
  int32_t nan = PIGMENT_NAN_LAST;
  uint64_t zero_vectors = 0;                 // of segments
  const pigment_text_query* text = nullptr;  // of searches, the test's; null: by distance
  uint32_t text_column = 0;
  const pigment_sparse_vector* sparse = nullptr;  // likewise; its metric is the search's
  uint32_t sparse_column = 0;
  // Of three pending vectors one to 16 bits and one to 12, where that can be.
  bool rounds_pending = false;
  pigment_pending_cache* cache = nullptr;  // of searches, the test's; null: pending pages are read
  std::vector<pigment_host_condition> conditions;  // of searches; what they point at is the test's
  std::vector<Row> all;
  uint32_t first_pending = PIGMENT_NO_PAGE;
  uint32_t last_pending = PIGMENT_NO_PAGE;
  uint32_t graft = PIGMENT_NO_PAGE;  // the newest part of what rows hang on

 private:
  struct Part {
    uint32_t root = 0;
    std::vector<uint8_t> deleted;
    pigment_segment* handle = nullptr;
  };

  // By row pointers: the engine has put rows in an order of its own.
  static void MarkDeleted(Part& part, const std::vector<Row>& rows) {
    Error error;
    std::set<uint64_t> dead;
    for (const Row& row : rows) {
      if (row.is_dead) dead.insert(row.pointer);
    }
    std::vector<uint64_t> pointers(rows.size());
    HOST_OK(
        pigment_segment_row_pointers(part.handle, 0, rows.size(), pointers.data(), error.out()));
    for (size_t i = 0; i < pointers.size(); ++i) {
      if (dead.count(pointers[i]) != 0)
        part.deleted[i / 8] = static_cast<uint8_t>(part.deleted[i / 8] | 1 << i % 8);
    }
  }

  uint32_t WriteOverflow(const std::vector<char>& entry) {
    const size_t capacity = pigment_overflow_page_capacity();
    const size_t count = (entry.size() + capacity - 1) / capacity;
    std::vector<uint32_t> places;
    for (size_t i = 0; i < count; ++i) places.push_back(pages.Allocate());
    for (size_t i = 0; i < count; ++i) {
      const uint32_t next = i + 1 < count ? places[i + 1] : PIGMENT_NO_PAGE;
      const size_t wrote = pigment_overflow_page_init(
          pages.at(places[i]), kStamp, places[i], entry.data(), entry.size(), i * capacity, next);
      EXPECT_EQ(wrote, std::min(capacity, entry.size() - i * capacity));
    }
    return places[0];
  }

  const uint32_t dimension_;
  std::vector<Part> segments_;
  std::vector<const pigment_segment*> handles_;  // of SharingSource
};

// Bytes of the index's pages, one after the other in steps: `run` searches and gives the status; it
// is refused or gives rows, and is not refused where the check passes what the first segment has.
template <typename Run>
void ExpectDamageIsNeverBelieved(Index& index, const Run& run) {
  Pages& pages = index.pages;
  size_t refused = 0;
  for (size_t page = 0; page < pages.pages.size(); ++page) {
    for (size_t offset = PIGMENT_PAGE_HEADER_BYTES; offset < PIGMENT_PAGE_BYTES; offset += 97) {
      (*pages.pages[page])[offset] ^= 0x20;
      Error error;
      const pigment_status status = run(error);
      const bool is_sound = pigment_segment_verify(index.segment(0), error.out()) == PIGMENT_OK;
      if (status != PIGMENT_OK) ++refused;
      EXPECT_TRUE(status == PIGMENT_OK || !is_sound);
      (*pages.pages[page])[offset] ^= 0x20;
    }
  }
  EXPECT_GT(refused, 0u);
}

constexpr uint64_t kEverything = uint64_t{1} << 30;

// Of the index's pending pages; the caller frees it.
inline pigment_pending_cache* NewCache(const Index& index, uint32_t dimension,
                                       uint64_t bytes_max = kEverything) {
  pigment_pending_cache_options options{};
  options.struct_size = sizeof options;
  options.stamp = kStamp;
  options.first = index.first_pending;
  options.dimension = dimension;
  options.bytes_max = bytes_max;
  pigment_pending_cache* cache = nullptr;
  Error error;
  EXPECT_EQ(pigment_pending_cache_new(&options, &cache, error.out()), PIGMENT_OK)
      << error.message();
  pigment_pending_cache_set_graft(cache, index.graft);
  return cache;
}

// Elements of a list as the interface gives them, each behind its length. Frees the buffer.
inline std::vector<std::string> TakeElements(pigment_buffer* buffer) {
  size_t size = 0;
  const char* const bytes = pigment_buffer_data(buffer, &size);
  std::vector<std::string> elements;
  for (size_t at = 0; at < size;) {
    uint32_t length = 0;
    std::memcpy(&length, bytes + at, sizeof length);
    elements.emplace_back(bytes + at + sizeof length, length);
    at += sizeof length + length;
  }
  pigment_buffer_free(buffer);
  return elements;
}

inline std::vector<float> RandomVector(std::mt19937_64& random, uint32_t dimension) {
  std::normal_distribution<float> normal;
  std::vector<float> vector(dimension);
  for (float& value : vector) value = normal(random);
  return vector;
}

// Rows with pointers from *next_pointer up, a sixth of them dead; of `kinds` rows one is NULL,
// `twins` have one vector and `zeros` a zero vector, as a rule.
struct RowKinds {
  uint32_t kinds;
  uint32_t twins;
  uint32_t zeros = 1;
};
inline std::vector<Row> RandomRows(std::mt19937_64& random, const RowKinds& kinds,
                                   uint32_t dimension, size_t count, uint64_t* next_pointer) {
  std::vector<Row> rows(count);
  const auto twin = RandomVector(random, dimension);
  for (Row& row : rows) {
    row.pointer = (*next_pointer)++;
    row.is_dead = random() % 6 == 0;
    const auto kind = random() % kinds.kinds;
    if (kind == 0) continue;  // NULL
    row.vector = kind <= kinds.twins                 ? twin
                 : kind <= kinds.twins + kinds.zeros ? std::vector<float>(dimension)
                                                     : RandomVector(random, dimension);
  }
  return rows;
}

// Live rows that all have a vector, their pointers counted from 0.
inline std::vector<Row> RowsWithVectors(std::mt19937_64& random, uint32_t dimension, size_t count) {
  std::vector<Row> rows(count);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].vector = RandomVector(random, dimension);
    rows[i].pointer = i;
  }
  return rows;
}

// To numbers that 16 bits hold: few of those there are.
inline void RoundToHalves(std::vector<Row>& rows) {
  for (Row& row : rows) {
    for (float& value : row.vector) value = std::round(value * 64) / 64;
  }
}

inline pigment_host_search_counters CountersOf(const pigment_host_search* search) {
  pigment_host_search_counters counters{};
  counters.struct_size = sizeof counters;
  pigment_host_search_get_counters(search, &counters);
  return counters;
}

// When pins fail while a search is drained: ever later, so that in the end a pass gets through.
struct Interruptions {
  Pages* pages = nullptr;  // null: never
  uint64_t pins_first = 8;
  uint64_t pins_more = 4;  // after each call
};

// Reads everything in calls of random capacity; one that was cancelled is repeated, as a host does
// after an interrupt.
inline std::vector<Expected> Drain(pigment_host_search* search, std::mt19937_64& random,
                                   const Interruptions& interruptions = {}) {
  std::vector<Expected> got;
  std::vector<pigment_host_hit> hits(1000);
  Pages* const pages = interruptions.pages;
  for (int calls = 0; calls < 100000; ++calls) {
    Error error;
    size_t count = 999;
    if (pages != nullptr && calls < 40) {
      const uint64_t pins =
          interruptions.pins_first + static_cast<uint64_t>(calls) * interruptions.pins_more;
      pages->fail_in = 1 + random() % pins;
    }
    const size_t capacity = 1 + random() % (random() % 2 ? 7 : hits.size());
    const pigment_status status =
        pigment_host_search_next(search, hits.data(), capacity, &count, error.out());
    if (pages != nullptr) pages->fail_in = 0;
    if (status == PIGMENT_CANCELLED) {
      EXPECT_EQ(count, 0u);
      continue;
    }
    EXPECT_EQ(status, PIGMENT_OK) << error.message();
    if (status != PIGMENT_OK || count == 0) return got;
    EXPECT_LE(count, capacity);
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(std::isnan(hits[i].distance), hits[i].kind != 0);
      got.emplace_back(hits[i].kind, hits[i].kind == 0 ? hits[i].distance : 0.0f,
                       hits[i].row_pointer);
    }
  }
  ADD_FAILURE() << "the search did not end";
  return got;
}

// Points around some middles, and a query near one of them.
struct Clustered {
  Clustered(std::mt19937_64& source, uint32_t of_dimension, size_t count = 30)
      : random(source), dimension(of_dimension) {
    while (middles.size() < count) middles.push_back(RandomVector(random, dimension));
  }
  std::vector<float> Vector() {
    std::vector<float> vector = middles[random() % middles.size()];
    const std::vector<float> beside = RandomVector(random, dimension);
    for (uint32_t i = 0; i < dimension; ++i) vector[i] += 0.5f * beside[i];
    return vector;
  }
  // Some have no vector, or a zero one, or are dead; every third has a key.
  std::vector<Row> Rows(size_t count) {
    std::vector<Row> rows =
        RandomRows(random, {.kinds = 60, .twins = 1}, dimension, count, &pointer);
    const pigment_host_key key = {0, PIGMENT_KEY_VALUE, "a", 1};
    std::string bytes(pigment_host_keys_bytes(&key, 1), '\0');
    pigment_host_keys_encode(&key, 1, bytes.data());
    for (Row& row : rows) {
      if (!row.vector.empty() && random() % 30 != 0) row.vector = Vector();
      if (row.pointer % 3 == 0) row.keys = bytes;
    }
    return rows;
  }

  std::mt19937_64& random;
  const uint32_t dimension;
  std::vector<std::vector<float>> middles;
  uint64_t pointer = 1;
};

// Of the true nearest ten those that came first, where equally far ones are as good.
struct Recall {
  uint64_t found = 0;
  uint64_t wanted = 0;
  void Add(const std::vector<Expected>& got, const std::vector<Expected>& expected) {
    const size_t some = std::min(size_t{10}, expected.size());
    for (size_t i = 0; i < some; ++i) {
      ++wanted;
      if (std::get<1>(got[i]) <= std::get<1>(expected[some - 1])) ++found;
    }
  }
};

}  // namespace host_test

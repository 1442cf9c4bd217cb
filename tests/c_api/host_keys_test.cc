// SPDX-License-Identifier: Apache-2.0
//
// Rows with keys, and searches with conditions on them, against looking at every row: segments and
// pending pages, lists, NULLs, entries that lie in overflow pages, no vectors at all, little
// memory, damage.

#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "tests/c_api/host_fixture.h"

namespace host_test {
namespace {

constexpr uint32_t kColumns = 5;
constexpr uint32_t kListColumn = 3;
constexpr uint32_t kSearchedColumn = 4;  // of texts with grams

// What a row has in a column; absent: NULL.
struct Cell {
  std::string value;
  std::set<std::string> elements = {};
};
using Cells = std::vector<std::optional<Cell>>;

std::string RandomText(std::mt19937_64& random, size_t values) {
  const size_t number = random() % values;
  return number == 0 ? "" : std::string(1 + number % 3, static_cast<char>(number * 37));
}

// Of few different bytes, so that pieces come again.
std::string RandomDocument(std::mt19937_64& random) {
  std::string text(random() % 3 == 0 ? random() % 4 : random() % 40, '\0');
  for (char& byte : text) byte = "abcABC\xC3\xA4 "[random() % 9];
  return text;
}

std::string GramsOf(std::string_view text) {
  std::vector<uint32_t> room(text.size() + 1);
  const size_t bytes = pigment_host_grams(text.data(), text.size(), room.data());
  return {reinterpret_cast<const char*>(room.data()), bytes};
}

std::string InSmallLetters(std::string text) {
  for (char& byte : text)
    if (byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte + ('a' - 'A'));
  return text;
}

// What the grams of a document say of a text: it has all its pieces somewhere.
bool HasPieces(const std::string& document, const std::string& text) {
  const std::string in = InSmallLetters(document), of = InSmallLetters(text);
  if (in.empty()) return false;
  if (of.size() < 3) return in.find(of) != std::string::npos;
  for (size_t i = 0; i + 3 <= of.size(); ++i)
    if (in.find(of.substr(i, 3)) == std::string::npos) return false;
  return true;
}

Cells RandomCells(std::mt19937_64& random) {
  Cells cells(kColumns);
  for (uint32_t column = 0; column < kColumns; ++column) {
    if (random() % 6 == 0) continue;
    Cell cell;
    if (column == kSearchedColumn) {
      cell.value = RandomDocument(random);
    } else if (column != kListColumn) {
      cell.value = RandomText(random, column == 0 ? 4 : column == 1 ? 60 : 2000);
    } else {
      for (size_t n = random() % 4; n > 0; --n) cell.elements.insert(RandomText(random, 12));
    }
    cells[column] = cell;
  }
  return cells;
}

// `grams` keeps what the keys point at.
std::vector<pigment_host_key> KeysOf(const Cells& cells, std::string& grams) {
  std::vector<pigment_host_key> keys;
  for (uint32_t column = 0; column < cells.size(); ++column) {
    if (!cells[column]) continue;
    const Cell& cell = *cells[column];
    keys.push_back({column, PIGMENT_KEY_VALUE, cell.value.data(), cell.value.size()});
    if (column == kSearchedColumn && !cell.value.empty()) {
      grams = GramsOf(cell.value);
      keys.push_back({column, PIGMENT_KEY_GRAMS, grams.data(), grams.size()});
    }
    for (const std::string& element : cell.elements)
      keys.push_back({column, PIGMENT_KEY_ELEMENT, element.data(), element.size()});
  }
  return keys;
}

std::string Encode(const Cells& cells) {
  std::string grams;
  const auto keys = KeysOf(cells, grams);
  std::string bytes(pigment_host_keys_bytes(keys.data(), keys.size()), '\0');
  pigment_host_keys_encode(keys.data(), keys.size(), bytes.data());
  return bytes;
}

// A condition with the texts that it points at, and what it means.
struct Condition {
  uint32_t column = 0;
  int32_t kind = 0;
  std::vector<std::string> keys = {};
  bool has_low = true;
  bool has_high = true;
  bool takes_low = false;
  bool takes_high = false;
  std::vector<pigment_host_bytes> bytes = {};

  pigment_host_condition ToHost() {
    bytes.clear();
    for (const std::string& key : keys) bytes.push_back({key.data(), key.size()});
    if (kind == PIGMENT_CONDITION_RANGE) {
      if (!has_low) bytes[0] = {nullptr, 0};
      if (!has_high) bytes[1] = {nullptr, 0};
    }
    // A pair whose second is empty stands for its first alone.
    for (size_t i = 1; IsOfRanges() && i < keys.size(); i += 2)
      if (keys[i].empty()) bytes[i] = {nullptr, 0};
    return {column, kind, bytes.data(), bytes.size(), takes_low, takes_high};
  }

  bool IsOfRanges() const {
    return kind == PIGMENT_CONDITION_HAS_RANGE || kind == PIGMENT_CONDITION_LACKS_RANGE;
  }

  bool HasInRange(const Cell& cell) const {
    return std::any_of(cell.elements.begin(), cell.elements.end(),
                       [this](const std::string& element) {
                         for (size_t i = 0; i < keys.size(); i += 2)
                           if (keys[i + 1].empty() ? element == keys[i]
                                                   : keys[i] <= element && element < keys[i + 1])
                             return true;
                         return false;
                       });
  }

  bool Holds(const Cells& cells) const {
    const std::optional<Cell>& cell = cells[column];
    const auto has = [&](const std::string& key) { return cell->elements.contains(key); };
    switch (kind) {
      case PIGMENT_CONDITION_ANY_OF:
        return cell && std::find(keys.begin(), keys.end(), cell->value) != keys.end();
      case PIGMENT_CONDITION_RANGE:
        return cell && (!has_low || (takes_low ? cell->value >= keys[0] : cell->value > keys[0])) &&
               (!has_high || (takes_high ? cell->value <= keys[1] : cell->value < keys[1]));
      case PIGMENT_CONDITION_PRESENT:
        return cell.has_value();
      case PIGMENT_CONDITION_ABSENT:
        return !cell;
      case PIGMENT_CONDITION_HAS_ANY:
        return cell && std::any_of(keys.begin(), keys.end(), has);
      case PIGMENT_CONDITION_HAS_ALL:
        return cell && std::all_of(keys.begin(), keys.end(), has);
      case PIGMENT_CONDITION_HAS_TEXT:
        return cell && std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
                 return HasPieces(cell->value, key);
               });
      case PIGMENT_CONDITION_HAS_RANGE:
        return cell && HasInRange(*cell);
      case PIGMENT_CONDITION_LACKS_RANGE:
        return !cell || !HasInRange(*cell);
    }
    return false;
  }
};

bool IsOfText(const Condition& condition) { return condition.kind == PIGMENT_CONDITION_HAS_TEXT; }

Condition RandomCondition(std::mt19937_64& random) {
  Condition condition;
  condition.column = static_cast<uint32_t>(random() % kColumns);
  if (condition.column == kSearchedColumn && random() % 4 != 0) {
    condition.kind = PIGMENT_CONDITION_HAS_TEXT;
    for (size_t count = random() % 4; count > 0; --count)
      condition.keys.push_back(RandomDocument(random).substr(0, random() % 8));
    return condition;
  }
  const bool is_list = condition.column == kListColumn;
  const int32_t of_values[] = {PIGMENT_CONDITION_ANY_OF, PIGMENT_CONDITION_RANGE,
                               PIGMENT_CONDITION_RANGE, PIGMENT_CONDITION_PRESENT,
                               PIGMENT_CONDITION_ABSENT};
  const int32_t of_lists[] = {PIGMENT_CONDITION_HAS_ANY,   PIGMENT_CONDITION_HAS_ALL,
                              PIGMENT_CONDITION_HAS_ALL,   PIGMENT_CONDITION_PRESENT,
                              PIGMENT_CONDITION_ABSENT,    PIGMENT_CONDITION_HAS_RANGE,
                              PIGMENT_CONDITION_HAS_RANGE, PIGMENT_CONDITION_LACKS_RANGE};
  condition.kind = is_list ? of_lists[random() % std::size(of_lists)]
                           : of_values[random() % std::size(of_values)];
  const size_t values = is_list                 ? 12
                        : condition.column == 0 ? 4
                        : condition.column == 1 ? 60
                                                : 2000;
  size_t count = condition.kind == PIGMENT_CONDITION_RANGE ? 2 : random() % 4;
  if (condition.IsOfRanges()) count *= 2;
  while (count-- > 0) condition.keys.push_back(RandomText(random, values));
  condition.has_low = random() % 4 != 0;
  condition.has_high = random() % 4 != 0;
  condition.takes_low = random() % 2 == 0;
  condition.takes_high = random() % 2 == 0;
  return condition;
}

// An index, what its rows have, and rows by pointer.
struct KeyedIndex {
  explicit KeyedIndex(uint32_t dimension) : index(dimension) { index.has_keys = true; }

  std::vector<Row> RandomRows(std::mt19937_64& random, uint32_t dimension, size_t count) {
    std::vector<Row> rows(count);
    for (Row& row : rows) {
      row.pointer = cells.size();
      row.is_dead = random() % 7 == 0;
      if (dimension != 0 && random() % 10 != 0) row.vector = RandomVector(random, dimension);
      cells.push_back(RandomCells(random));
      row.keys = Encode(cells.back());
    }
    return rows;
  }

  // By all conditions, or by those that are of no text.
  std::vector<Row> Matching(const std::vector<Condition>& conditions, bool by_text = true) const {
    std::vector<Row> matching;
    for (const Row& row : index.all) {
      const bool holds =
          std::all_of(conditions.begin(), conditions.end(), [&](const Condition& condition) {
            return (!by_text && IsOfText(condition)) || condition.Holds(cells[row.pointer]);
          });
      if (holds) matching.push_back(row);
    }
    return matching;
  }

  Index index;
  std::vector<Cells> cells;
};

TEST(HostKeys, ConditionsLetThroughTheRowsForWhichTheyHold) {
  size_t matched = 0, with_text = 0, more_with_text = 0, without_text = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const uint32_t dimensions[] = {0, 1, 3, 16, 500, 2500};
    const uint32_t dimension = dimensions[random() % std::size(dimensions)];
    const size_t most = dimension > 100 ? 80 : 3000;
    KeyedIndex keyed(dimension);
    Index& index = keyed.index;
    if (random() % 5 == 0) index.build_budget_bytes = uint64_t{1} << 20;
    for (size_t i = random() % 3; i > 0; --i)
      index.AddSegment(keyed.RandomRows(random, dimension, random() % most));
    for (const Row& row : keyed.RandomRows(random, dimension, random() % 200))
      index.AddPending(row);
    const auto query = RandomVector(random, std::max(dimension, 1u));
    for (int i = 0; i < 12; ++i) {
      std::vector<Condition> conditions(1 + random() % 3);
      index.conditions.clear();
      for (Condition& condition : conditions) {
        condition = RandomCondition(random);
        index.conditions.push_back(condition.ToHost());
      }
      const std::vector<float>* ranked = dimension == 0 || random() % 4 == 0 ? nullptr : &query;
      pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, ranked, random() % 20);
      const auto got = Drain(
          search, random,
          {.pages = random() % 2 != 0 ? &index.pages : nullptr, .pins_first = 60, .pins_more = 0});
      const auto expected = Model(keyed.Matching(conditions), PIGMENT_METRIC_L2, ranked);
      // Grams let more rows through, where looking for another costs more than looking at them.
      if (std::any_of(conditions.begin(), conditions.end(), IsOfText)) {
        const auto others = Model(keyed.Matching(conditions, false), PIGMENT_METRIC_L2, ranked);
        ASSERT_TRUE(std::includes(got.begin(), got.end(), expected.begin(), expected.end()));
        ASSERT_TRUE(std::includes(others.begin(), others.end(), got.begin(), got.end()));
        with_text += expected.size();
        more_with_text += got.size() - expected.size();
        without_text += others.size();
      } else {
        ASSERT_EQ(got, expected);
      }
      matched += expected.size();
      const pigment_host_search_counters counters = CountersOf(search);
      EXPECT_EQ(counters.segment_rows + counters.pending_rows, got.size());
      EXPECT_EQ(counters.unindexed_rows, 0u);
      EXPECT_LE(index.pages.pinned_max, 8);
      EXPECT_EQ(index.pages.pinned, 0);
      pigment_host_search_free(search);
    }
  }
  EXPECT_GT(matched, 50000u);
  EXPECT_GT(with_text, 5000u);
  EXPECT_GT(without_text, 2 * with_text) << "texts keep rows out";
  EXPECT_LT(more_with_text, with_text / 5);
}

using FingerprintOf = std::map<uint64_t, uint64_t>;

pigment_status KeepFingerprint(void* context, uint64_t pointer, uint64_t fingerprint) {
  EXPECT_TRUE(static_cast<FingerprintOf*>(context)->emplace(pointer, fingerprint).second)
      << pointer;
  return PIGMENT_OK;
}

TEST(HostKeys, AreTheSameInAnIndexAndInPendingPages) {
  std::mt19937_64 random(11);
  KeyedIndex keyed(3);
  keyed.index.AddSegment(keyed.RandomRows(random, 3, 1000));
  keyed.index.AddSegment(keyed.RandomRows(random, 3, 1));
  for (const Row& row : keyed.RandomRows(random, 3, 300)) keyed.index.AddPending(row);
  Error error;
  for (const size_t i : {0, 1})
    HOST_OK(pigment_segment_verify(keyed.index.segment(i), error.out()));
  pigment_host_search* search = keyed.index.NewSearch(PIGMENT_METRIC_L2, nullptr);
  FingerprintOf got, vectors;
  HOST_OK(pigment_host_search_visit_keys(search, KeepFingerprint, &got, error.out()));
  HOST_OK(pigment_host_search_visit_column(search, -1, KeepFingerprint, &vectors, error.out()));
  std::map<uint32_t, FingerprintOf> by_column;
  for (uint32_t column = 0; column < 20; ++column) {
    HOST_OK(pigment_host_search_visit_column(search, static_cast<int32_t>(column), KeepFingerprint,
                                             &by_column[column], error.out()));
    EXPECT_EQ(by_column[column].size(), got.size());
  }
  std::set<uint32_t> columns_seen;
  size_t live = 0;
  for (const Row& row : keyed.index.all) {
    if (row.is_dead) continue;
    ++live;
    std::string grams;
    const auto keys = KeysOf(keyed.cells[row.pointer], grams);
    EXPECT_EQ(got.at(row.pointer), pigment_host_keys_fingerprint(keys.data(), keys.size()));
    for (const auto& [column, of_column] : by_column) {
      std::vector<pigment_host_key> some;
      std::copy_if(keys.begin(), keys.end(), std::back_inserter(some),
                   [&, of = column](const pigment_host_key& key) { return key.column == of; });
      if (!some.empty()) columns_seen.insert(column);
      EXPECT_EQ(of_column.at(row.pointer), pigment_host_keys_fingerprint(some.data(), some.size()));
    }
    EXPECT_EQ(vectors.at(row.pointer),
              pigment_host_vector_fingerprint(row.vector.empty() ? nullptr : row.vector.data(),
                                              row.vector.size()));
  }
  EXPECT_EQ(got.size(), live);
  EXPECT_EQ(vectors.size(), live);
  EXPECT_GT(columns_seen.size(), 1u);
  for (const float other : {0.0f, -0.0f, 1.0f}) {
    const float zero = 0;
    EXPECT_EQ(
        pigment_host_vector_fingerprint(&other, 1) == pigment_host_vector_fingerprint(&zero, 1),
        std::bit_cast<uint32_t>(other) == 0)
        << "bit for bit";
  }
  EXPECT_EQ(pigment_host_search_visit_keys(
                search, [](void*, uint64_t, uint64_t) -> pigment_status { return PIGMENT_ABORTED; },
                nullptr, error.out()),
            PIGMENT_ABORTED)
      << "what the host says ends the visit";
  pigment_host_search_free(search);
}

TEST(HostKeys, AreVisitedWithoutReadingAVector) {
  std::mt19937_64 random(14);
  constexpr uint32_t kWide = 1000;  // two vectors a page
  KeyedIndex keyed(kWide);
  keyed.index.AddSegment(keyed.RandomRows(random, kWide, 1500));
  pigment_host_search* search = keyed.index.NewSearch(PIGMENT_METRIC_L2, nullptr);
  Error error;
  const auto pins = [&](const auto& visit) {
    FingerprintOf got;
    const uint64_t before = keyed.index.pages.pins;
    EXPECT_EQ(visit(got), PIGMENT_OK) << error.message();
    EXPECT_GT(got.size(), 1000u);
    return keyed.index.pages.pins - before;
  };
  const uint64_t of_keys = pins([&](FingerprintOf& got) {
    return pigment_host_search_visit_keys(search, KeepFingerprint, &got, error.out());
  });
  const uint64_t of_vectors = pins([&](FingerprintOf& got) {
    return pigment_host_search_visit_column(search, -1, KeepFingerprint, &got, error.out());
  });
  EXPECT_GT(of_vectors, 600u);
  EXPECT_LT(of_keys, of_vectors / 4);
  pigment_host_search_free(search);
}

TEST(HostKeys, GramsOfATextAreItsPiecesOfThreeBytes) {
  EXPECT_EQ(GramsOf(""), "");
  EXPECT_EQ(GramsOf("B"), std::string("b\0\0", 3));
  EXPECT_EQ(GramsOf("aBcaBC"), std::string("abcbc\0bcac\0\0cab", 15));
  std::mt19937_64 random(16);
  for (int i = 0; i < 500; ++i) {
    const std::string text = RandomDocument(random),
                      small = InSmallLetters(text) + std::string(2, '\0');
    std::set<std::string> pieces;
    for (size_t at = 0; at < text.size(); ++at) pieces.insert(small.substr(at, 3));
    std::string expected;
    for (const std::string& piece : pieces) expected += piece;
    EXPECT_EQ(GramsOf(text), expected);
  }
}

TEST(HostKeys, OfManyBytesLieInOverflowPages) {
  std::mt19937_64 random(12);
  for (const uint32_t dimension : {0u, 4u, 4000u}) {
    KeyedIndex keyed(dimension);
    const std::string wanted(9000, 'w'), other(20000, 'o');
    for (const std::string& text : {wanted, other}) {
      for (const bool has_vector : {false, true}) {
        Row row;
        row.pointer = keyed.cells.size();
        if (has_vector && dimension != 0) row.vector = RandomVector(random, dimension);
        keyed.cells.push_back({Cell{text}, std::nullopt, std::nullopt, std::nullopt, std::nullopt});
        row.keys = Encode(keyed.cells.back());
        keyed.index.AddPending(row);
        EXPECT_EQ(
            pigment_pending_page_entry_has_vector(keyed.index.pages.at(keyed.index.last_pending),
                                                  static_cast<uint32_t>(row.pointer)),
            !row.vector.empty());
      }
    }
    std::vector<Condition> conditions(1);
    conditions[0].kind = PIGMENT_CONDITION_ANY_OF;
    conditions[0].keys = {wanted};
    keyed.index.conditions = {conditions[0].ToHost()};
    const auto query = RandomVector(random, std::max(dimension, 1u));
    const std::vector<float>* ranked = dimension == 0 ? nullptr : &query;
    pigment_host_search* search = keyed.index.NewSearch(PIGMENT_METRIC_L2, ranked);
    EXPECT_EQ(Drain(search, random), Model(keyed.Matching(conditions), PIGMENT_METRIC_L2, ranked));
    pigment_host_search_free(search);
  }
}

TEST(HostKeys, WithoutTheMemoryForTheirIndexRowsAreGivenAndCounted) {
  std::mt19937_64 random(13);
  KeyedIndex keyed(3);
  keyed.index.build_budget_bytes = uint64_t{1} << 20;
  std::vector<Row> rows = keyed.RandomRows(random, 3, 100);
  for (Row& row : rows) {
    keyed.cells[row.pointer][0].emplace().value.assign(40000, static_cast<char>('a' + row.pointer));
    row.keys = Encode(keyed.cells[row.pointer]);
    row.is_dead = false;
  }
  keyed.index.AddSegment(rows);
  Error error;
  HOST_OK(pigment_segment_verify(keyed.index.segment(0), error.out()));
  Condition condition;
  condition.kind = PIGMENT_CONDITION_ABSENT;
  keyed.index.conditions = {condition.ToHost()};
  pigment_host_search* search = keyed.index.NewSearch(PIGMENT_METRIC_L2, nullptr);
  const pigment_host_search_counters counters = CountersOf(search);
  EXPECT_GT(counters.unindexed_rows, 0u);
  EXPECT_EQ(Drain(search, random).size(), counters.unindexed_rows)
      << "every row that nobody knows of, and no other";
  pigment_host_search_free(search);
}

TEST(HostKeys, RefuseWhatIsNone) {
  Error error;
  pigment_host_search_options options{};
  options.struct_size = sizeof options;
  pigment_host_search* search = nullptr;
  pigment_host_condition condition{};
  options.conditions = &condition;
  options.condition_count = 1;
  const auto open = [&] { return pigment_host_search_new(&options, &search, error.out()); };
  EXPECT_EQ(open(), PIGMENT_INVALID_ARGUMENT) << "kind 0";
  condition.kind = PIGMENT_CONDITION_RANGE;
  EXPECT_EQ(open(), PIGMENT_INVALID_ARGUMENT) << "a range without bounds";
  condition.kind = PIGMENT_CONDITION_HAS_RANGE;
  const pigment_host_bytes one{"a", 1};
  condition.keys = &one;
  condition.key_count = 1;
  EXPECT_EQ(open(), PIGMENT_INVALID_ARGUMENT) << "half a pair";
  condition.key_count = 0;
  condition.kind = PIGMENT_CONDITION_PRESENT;
  condition.column = 65536;
  EXPECT_EQ(open(), PIGMENT_INVALID_ARGUMENT) << "a column beyond all";
  options.conditions = nullptr;
  EXPECT_EQ(open(), PIGMENT_INVALID_ARGUMENT) << "a condition is missing";
  options.struct_size = offsetof(pigment_host_search_options, conditions);
  EXPECT_EQ(open(), PIGMENT_OK) << "a host that knows of no conditions: " << error.message();
  pigment_host_search_free(search);

  pigment_segment_options build{};
  build.struct_size = sizeof build;
  build.segment = 1;
  build.metric = PIGMENT_METRIC_L2;
  build.write_page = &Pages::Write;
  pigment_segment_builder* builder = nullptr;
  EXPECT_EQ(pigment_segment_builder_new(&build, &builder, error.out()), PIGMENT_INVALID_ARGUMENT)
      << "no dimension, and no keys";
  build.has_keys = true;
  HOST_OK(pigment_segment_builder_new(&build, &builder, error.out()));
  const float vector[] = {1};
  EXPECT_EQ(pigment_segment_builder_add_row(builder, vector, 1, nullptr, 0, error.out()),
            PIGMENT_INVALID_ARGUMENT)
      << "a vector where there is no dimension";
  EXPECT_EQ(pigment_segment_builder_add_row(builder, nullptr, 1, "keys", 4, error.out()),
            PIGMENT_DATA_LOSS)
      << "bytes that are no keys";
  pigment_segment_builder_free(builder);
  build.dimension = 1;
  build.has_keys = false;
  HOST_OK(pigment_segment_builder_new(&build, &builder, error.out()));
  const std::string keys = Encode({Cell{"a"}});
  EXPECT_EQ(
      pigment_segment_builder_add_row(builder, vector, 1, keys.data(), keys.size(), error.out()),
      PIGMENT_INVALID_ARGUMENT)
      << "keys where there are none";
  pigment_segment_builder_free(builder);
}

TEST(HostKeys, DamageIsNeverBelieved) {
  std::mt19937_64 random(14);
  KeyedIndex keyed(2);
  keyed.index.AddSegment(keyed.RandomRows(random, 2, 300));
  Condition condition;
  condition.column = 1;
  condition.kind = PIGMENT_CONDITION_PRESENT;
  const auto expected = Model(keyed.Matching({condition}), PIGMENT_METRIC_L2, nullptr);
  ExpectDamageIsNeverBelieved(keyed.index, [&](Error& error) {
    pigment_host_search_options options{};
    options.struct_size = sizeof options;
    const pigment_host_condition host = condition.ToHost();
    options.conditions = &host;
    options.condition_count = 1;
    pigment_host_search* search = nullptr;
    EXPECT_EQ(pigment_host_search_new(&options, &search, error.out()), PIGMENT_OK)
        << error.message();
    const pigment_status status =
        pigment_host_search_add_segment(search, keyed.index.segment(0), nullptr, 0, error.out());
    pigment_host_search_free(search);
    return status;
  });
  EXPECT_FALSE(expected.empty());
}

}  // namespace
}  // namespace host_test

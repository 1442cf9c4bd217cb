// SPDX-License-Identifier: Apache-2.0
//
// Filters on metadata as conditions of a search: in segments, in pending pages and for one row they
// say the same, lose no record that matches, and where elements tell everything give no other.

#include <gtest/gtest.h>

#include <cstring>

#include "tests/c_api/host_fixture.h"
#include "tests/support/effort.h"
#include "tests/support/filter_model.h"

namespace host_test {
namespace {

using nlohmann::json;
using pigment::ModelRecord;

std::vector<std::string> ElementsOf(const std::string& metadata) {
  Error error;
  pigment_buffer* buffer = nullptr;
  EXPECT_EQ(pigment_host_metadata_elements(metadata.data(), metadata.size(), &buffer, error.out()),
            PIGMENT_OK)
      << error.message();
  return TakeElements(buffer);
}

// Of column 1; column 0 is there so that a list is not alone.
std::string KeysOf(const json& metadata) {
  std::vector<std::string> elements;
  std::vector<pigment_host_key> keys = {{0, PIGMENT_KEY_VALUE, "a", 1}};
  if (!metadata.is_null()) {
    elements = ElementsOf(metadata.dump());
    EXPECT_TRUE(std::is_sorted(elements.begin(), elements.end()));
    EXPECT_EQ(std::adjacent_find(elements.begin(), elements.end()), elements.end());
    keys.push_back({1, PIGMENT_KEY_VALUE, "", 0});
    for (const std::string& element : elements)
      keys.push_back({1, PIGMENT_KEY_ELEMENT, element.data(), element.size()});
  }
  std::string bytes(pigment_host_keys_bytes(keys.data(), keys.size()), '\0');
  pigment_host_keys_encode(keys.data(), keys.size(), bytes.data());
  return bytes;
}

bool Holds(const json& where, const json& metadata) {
  Error error;
  const std::string filter = where.dump();
  const std::string values = metadata.dump();
  bool holds = false;
  EXPECT_EQ(pigment_host_where_holds(filter.data(), filter.size(), values.data(), values.size(),
                                     &holds, error.out()),
            PIGMENT_OK)
      << error.message();
  return holds;
}

// Whether elements tell all that it asks.
bool IsExact(const json& where) {
  const std::string text = where.dump();
  for (const char* word :
       {"\"#id\"", "\"#document\"", "\"chroma:uri\"", "\"$ieq\"", "\"$iprefix\""})
    if (text.find(word) != std::string::npos) return false;
  return true;
}

TEST(HostWhere, FiltersLetThroughEveryRecordThatMatchesInSegmentsAndPendingPages) {
  size_t matched = 0, exact = 0, passed = 0, filters = 0;
  for (uint64_t seed = 0; seed < pigment::Rounds(24u); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    Index index(0);
    index.has_keys = true;
    if (seed % 6 == 5) index.build_budget_bytes = uint64_t{1} << 20;
    std::vector<ModelRecord> records;
    const auto rows = [&](size_t count) {
      std::vector<Row> made(count);
      for (Row& row : made) {
        row.pointer = records.size();
        row.is_dead = random() % 9 == 0;
        records.push_back(pigment::RandomModelRecord(random));
        row.keys = KeysOf(records.back().metadata);
      }
      return made;
    };
    for (size_t i = random() % 3; i > 0; --i) index.AddSegment(rows(1 + random() % 800));
    for (const Row& row : rows(random() % 200)) index.AddPending(row);
    for (int i = 0; i < 40; ++i) {
      const json where = pigment::RandomModelWhere(random, static_cast<int>(random() % 4));
      SCOPED_TRACE(where.dump());
      const std::string text = where.dump();
      const pigment_host_bytes key{text.data(), text.size()};
      index.conditions = {{1, PIGMENT_CONDITION_WHERE, &key, 1, false, false}};
      pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, nullptr);
      std::set<uint64_t> got;
      for (const Expected& hit : Drain(search, random)) got.insert(std::get<2>(hit));
      EXPECT_EQ(CountersOf(search).unindexed_rows, 0u);
      pigment_host_search_free(search);
      ++filters;
      for (const Row& row : index.all) {
        if (row.is_dead) continue;
        const ModelRecord& record = records[row.pointer];
        const bool matches = pigment::ModelMatches(where, json(), record);
        const bool has = got.contains(row.pointer);
        if ((row.pointer + static_cast<uint64_t>(i)) % 5 == 0) {
          ASSERT_EQ(has, Holds(where, record.metadata)) << record.metadata.dump();
        }
        ASSERT_TRUE(has || !matches) << record.metadata.dump();
        if (IsExact(where)) {
          ASSERT_EQ(has, matches) << record.metadata.dump();
        }
        exact += IsExact(where) ? 1 : 0;
        matched += matches ? 1 : 0;
        passed += has ? 1 : 0;
      }
    }
  }
  EXPECT_GT(filters, pigment::Rounds(900u));
  EXPECT_GT(matched, pigment::Rounds(50000u));
  EXPECT_GT(exact, pigment::Rounds(100000u));
  EXPECT_LT(passed, 4 * matched) << "conditions keep rows out";
}

TEST(HostWhere, OfLongTextsTheBeginningsCount) {
  const std::string begin(255, 'x');
  const auto record = [](const std::string& text) { return json{{"k", text}}; };
  for (const auto& [text, other] :
       {std::pair(begin, begin + "y"), std::pair(begin + "a", begin + "b"),
        std::pair(begin + "aa", begin + "b")}) {
    EXPECT_TRUE(Holds({{"k", text}}, record(text)));
    EXPECT_FALSE(Holds({{"k", text}}, record(other))) << text.size() << ", " << other.size();
    EXPECT_TRUE(Holds({{"k", {{"$ne", text}}}}, record(other)));
  }
  EXPECT_FALSE(Holds({{"k", {{"$ne", begin}}}}, record(begin))) << "255 bytes are all there";
  // The same 256 bytes, and more: they may be equal, or not.
  const std::string cut = begin + "a";
  EXPECT_TRUE(Holds({{"k", cut + "b"}}, record(cut + "c")));
  EXPECT_TRUE(Holds({{"k", {{"$ne", cut + "b"}}}}, record(cut + "b")));
  EXPECT_TRUE(Holds({{"k", {{"$contains", cut + "b"}}}}, json{{"k", {cut + "b"}}}));
  EXPECT_TRUE(Holds({{"k", {{"$not_contains", cut + "b"}}}}, json{{"k", {cut + "c"}}}));
  EXPECT_TRUE(Holds({{"k", {{"$prefix", cut + "b"}}}}, record(cut + "bc")));
  EXPECT_TRUE(Holds({{"k", {{"$between", {cut, cut + "b"}}}}}, record(cut + "a")));
  EXPECT_FALSE(Holds({{"k", {{"$between", {cut, cut + "b"}}}}}, record(begin + "b")));
}

TEST(HostWhere, ElementsAreOfOneKeyAndOneType) {
  // Bytes that a key and a value share between them are not the same element.
  EXPECT_FALSE(Holds({{"a", "bc"}}, json{{"ab", "c"}}));
  EXPECT_FALSE(Holds({{"a", {{"$exists", true}}}}, json{{"ab", 1}}));
  EXPECT_FALSE(Holds({{"a", "1"}}, json{{"a", 1}}));
  EXPECT_FALSE(Holds({{"a", true}}, json{{"a", 1}}));
  EXPECT_TRUE(Holds({{"a", 1}}, json{{"a", 1.0}}));
  EXPECT_FALSE(Holds({{"a", {{"$contains", 1.0}}}}, json{{"a", {1}}}));
  EXPECT_FALSE(Holds({{"a", 1}}, json{{"a", {1}}}));
  EXPECT_TRUE(Holds({{"a", {{"$gt", 0.1}}}}, json{{"a", int64_t{1} << 62}}));
  EXPECT_TRUE(Holds({{"a", {{"$ne", 1}}}}, json()));
  EXPECT_TRUE(Holds(json(), json{{"a", 1}})) << "no filter";
}

// More sets than there is memory for: rows that nobody knows of are given, and counted.
TEST(HostWhere, FiltersThatAreNestedVeryDeepKeepNothingBack) {
  std::mt19937_64 random(3);
  Index index(0);
  index.has_keys = true;
  std::vector<Row> rows(200000);
  const std::string keys[] = {KeysOf({{"a", 0}}), KeysOf({{"a", 1}})};
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].pointer = i;
    rows[i].keys = keys[i % 2];
  }
  index.AddSegment(rows);
  std::string text, end;
  for (int level = 1499; level >= 0; --level) {
    const std::string number = std::to_string(level);
    text += level % 2 == 0 ? R"({"$or":[{"b":)" + number + "},"
                           : R"({"$and":[{"b":{"$ne":)" + number + "}},";
    end += "]}";
  }
  text += R"({"a":1})" + end;
  const pigment_host_bytes key{text.data(), text.size()};
  index.conditions = {{1, PIGMENT_CONDITION_WHERE, &key, 1, false, false}};
  pigment_host_search* search = index.NewSearch(PIGMENT_METRIC_L2, nullptr);
  EXPECT_EQ(CountersOf(search).unindexed_rows, rows.size());
  EXPECT_GE(Drain(search, random).size(), rows.size() / 2);
  pigment_host_search_free(search);
}

TEST(HostWhere, RefusesWhatIsNoFilterAndNoMetadata) {
  Error error;
  pigment_buffer* buffer = nullptr;
  bool holds = true;
  const auto elements = [&](std::string_view metadata) {
    return pigment_host_metadata_elements(metadata.data(), metadata.size(), &buffer, error.out());
  };
  EXPECT_EQ(elements(R"({"a": {"b": 1}})"), PIGMENT_INVALID_ARGUMENT) << "nested";
  EXPECT_EQ(elements("[1]"), PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(buffer, nullptr);
  EXPECT_EQ(pigment_host_metadata_elements("{}", 2, nullptr, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(pigment_host_where_holds(R"({"a": {"$bad": 1}})", 18, "{}", 2, &holds, error.out()),
            PIGMENT_INVALID_ARGUMENT);
  EXPECT_FALSE(holds);
  EXPECT_EQ(pigment_host_where_holds("null", 4, "{}", 2, nullptr, error.out()),
            PIGMENT_INVALID_ARGUMENT);

  pigment_host_search_options options{};
  options.struct_size = sizeof options;
  pigment_host_bytes keys[] = {{"{\"a\": 1}", 8}, {"x", 1}};
  pigment_host_condition condition{0, PIGMENT_CONDITION_WHERE, keys, 2, false, false};
  options.conditions = &condition;
  options.condition_count = 1;
  pigment_host_search* search = nullptr;
  const auto open = [&] { return pigment_host_search_new(&options, &search, error.out()); };
  EXPECT_EQ(open(), PIGMENT_INVALID_ARGUMENT) << "two filters";
  condition.key_count = 1;
  HOST_OK(open());
  pigment_host_search_free(search);
  keys[0].size = 4;
  EXPECT_EQ(open(), PIGMENT_INVALID_ARGUMENT) << "half a filter";
}

}  // namespace
}  // namespace host_test

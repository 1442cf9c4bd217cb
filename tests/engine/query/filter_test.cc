// SPDX-License-Identifier: Apache-2.0
//
// Tests of engine/query/filter.h: the meaning of each operator and the message of each refusal, as
// tables.

#include "engine/query/filter.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <chrono>
#include <string>

#include "tests/engine/query/filter_texts.h"

namespace pigment {
namespace {

using namespace std::string_view_literals;

const Metadata& SampleMetadata() {
  static const Metadata* const metadata = new Metadata{
      {"i", int64_t{2}},
      {"f", 2.5},
      {"whole", 2.0},
      {"s", std::string("two")},
      {"t", true},
      {"big", (int64_t{1} << 53) + 1},
      {"max", std::numeric_limits<int64_t>::max()},
      {"is", std::vector<int64_t>{1, 2}},
      {"fs", std::vector<double>{1.0, 2.5}},
      {"ss", std::vector<std::string>{"x", ""}},
      {"ts", std::vector<bool>{true, true}},
  };
  return *metadata;
}

FilterSubject Sample() {
  return {.id = "id1",
          .metadata = &SampleMetadata(),
          .document = "The quick brown Fox\n100% 你好\0nul"sv,
          .uri = "file:///a"};
}

struct Case {
  const char* json;
  bool matches;
};

TEST(Filter, WhereMeansWhatTheRulesSay) {
  for (
      const Case& c : {
          // Beyond Chroma.
          Case{R"({"$not": {"i": 2}})", false},
          {R"({"$not": {"i": 3}})", true},
          {R"({"$not": {"absent": 3}})", true},
          {R"({"$not": {"i": {"$gt": 1}}})", false},
          {R"({"$not": {"$not": {"i": 2}}})", true},
          {R"({"$not": {"$and": [{"i": 2}, {"s": "other"}]}})", true},
          {R"({"$not": {"$or": [{"i": 3}, {"absent": {"$gt": 1}}]}})", true},
          {R"({"$and": [{"i": {"$gt": 1}}, {"$not": {"i": {"$gt": 2}}}]})", true},
          {R"({"$and": [{"i": {"$gt": 1}}, {"$not": {"absent": {"$gt": 2}}}]})", true},
          {R"({"i": {"$exists": true}})", true},
          {R"({"i": {"$exists": false}})", false},
          {R"({"ss": {"$exists": true}})", true},
          {R"({"absent": {"$exists": true}})", false},
          {R"({"absent": {"$exists": false}})", true},
          {R"({"chroma:uri": {"$exists": true}})", true},
          {R"({"#document": {"$exists": true}})", true},
          {R"({"#document": {"$exists": false}})", false},
          {R"({"i": {"$between": [2, 2.5]}})", true},
          {R"({"i": {"$between": [2.5, 2]}})", false},
          {R"({"f": {"$between": [2, 2.5]}})", true},
          {R"({"big": {"$between": [9007199254740992.0, 9007199254740993]}})", true},
          {R"({"big": {"$between": [0, 9007199254740992.0]}})", false},
          {R"({"s": {"$between": ["two", "two"]}})", true},
          {R"({"s": {"$between": ["a", "twn"]}})", false},
          {R"({"s": {"$between": [1, 3]}})", false},
          {R"({"i": {"$between": ["0", "9"]}})", false},
          {R"({"t": {"$between": [0, 1]}})", false},
          {R"({"s": {"$prefix": "tw"}})", true},
          {R"({"s": {"$prefix": ""}})", true},
          {R"({"s": {"$prefix": "two!"}})", false},
          {R"({"s": {"$prefix": "T"}})", false},
          {R"({"i": {"$prefix": ""}})", false},
          {R"({"ss": {"$prefix": ""}})", false},
          {R"({"absent": {"$prefix": ""}})", false},
          {R"({"#id": {"$prefix": "id"}})", true},
          {R"({"#id": {"$prefix": "d"}})", false},
          {R"({"#id": {"$between": ["id0", "id2"]}})", true},
          {R"({"#id": {"$ieq": "ID1"}})", true},
          {R"({"chroma:uri": {"$prefix": "file:"}})", true},
          {R"({"chroma:uri": {"$iprefix": "FILE:"}})", true},
          {R"({"chroma:uri": {"$between": [0, 1]}})", false},
          {R"({"s": {"$ieq": "TwO"}})", true},
          {R"({"s": {"$ieq": "Tw"}})", false},
          {R"({"s": {"$iprefix": "Tw"}})", true},
          {R"({"ss": {"$ieq": "X"}})", false},
          {R"({"#document": {"$icontains": "QUICK BROWN"}})", true},
          {R"({"#document": {"$contains": "QUICK BROWN"}})", false},
          // Equality: strings, numbers and bools are worlds apart, integers and floats are one.
          {R"({"i": 2})", true},
          {R"({"i": {"$eq": 2}})", true},
          {R"({"i": {"$eq": 2.0}})", true},
          {R"({"whole": 2})", true},
          {R"({"i": {"$eq": 2.5}})", false},
          {R"({"i": {"$ne": 2.5}})", true},
          {R"({"f": 2.5})", true},
          {R"({"i": "2"})", false},
          {R"({"s": "two"})", true},
          {R"({"s": "Two"})", false},
          {R"({"t": true})", true},
          {R"({"t": 1})", false},
          {R"({"t": false})", false},
          {R"({"i": true})", false},
          {R"({"t": {"$ne": 1}})", true},
          {R"({"s": {"$ne": "two"}})", false},
          // Exact beyond 2^53, and at the ends of int64.
          {R"({"big": 9007199254740993})", true},
          {R"({"big": 9007199254740992.0})", false},
          {R"({"big": {"$gt": 9007199254740992.0}})", true},
          {R"({"big": {"$lt": 9007199254740994.0}})", true},
          {R"({"max": 9223372036854775807})", true},
          {R"({"max": 9.223372036854775807e18})", false},
          {R"({"max": {"$lt": 9.223372036854775807e18}})", true},
          {R"({"max": {"$lt": 1e300}})", true},
          {R"({"max": {"$gt": -1e300}})", true},
          // Order: a bound is never truncated.
          {R"({"i": {"$gt": 1}})", true},
          {R"({"i": {"$gt": 2}})", false},
          {R"({"i": {"$gte": 2}})", true},
          {R"({"i": {"$gte": 2.5}})", false},
          {R"({"i": {"$lt": 2.5}})", true},
          {R"({"i": {"$lte": 1.5}})", false},
          {R"({"f": {"$gt": 2}})", true},
          {R"({"f": {"$lt": 3}})", true},
          {R"({"f": {"$lte": 2.5}})", true},
          {R"({"i": {"$lt": 2}})", false},
          {R"({"i": {"$gt": -0.5}})", true},
          {R"({"s": {"$gt": 0}})", false},
          {R"({"t": {"$gte": 0}})", false},
          {R"({"is": {"$gt": 0}})", false},
          // Sets.
          {R"({"i": {"$in": [1, 2]}})", true},
          {R"({"i": {"$in": [1.5, 2.0]}})", true},
          {R"({"i": {"$in": [1, 3]}})", false},
          {R"({"i": {"$nin": [1, 3]}})", true},
          {R"({"i": {"$nin": [2]}})", false},
          {R"({"s": {"$in": ["one", "two"]}})", true},
          {R"({"s": {"$in": [2]}})", false},
          {R"({"s": {"$nin": [2]}})", true},
          {R"({"t": {"$in": [true]}})", true},
          {R"({"t": {"$in": [false]}})", false},
          {R"({"f": {"$in": [2.5, 1.0]}})", true},
          {R"({"i": {"$in": [2.5]}})", false},
          // Lists: only $contains looks inside, by value and type.
          {R"({"is": 1})", false},
          {R"({"is": {"$ne": 1}})", true},
          {R"({"is": {"$in": [1]}})", false},
          {R"({"is": {"$nin": [1]}})", true},
          {R"({"is": {"$contains": 1}})", true},
          {R"({"is": {"$contains": 1.0}})", false},
          {R"({"is": {"$contains": 3}})", false},
          {R"({"is": {"$not_contains": 3}})", true},
          {R"({"is": {"$not_contains": 1}})", false},
          {R"({"fs": {"$contains": 1.0}})", true},
          {R"({"fs": {"$contains": 1}})", false},
          {R"({"ss": {"$contains": ""}})", true},
          {R"({"ss": {"$contains": "X"}})", false},
          {R"({"ts": {"$contains": true}})", true},
          {R"({"ts": {"$contains": false}})", false},
          {R"({"i": {"$contains": 2}})", false},
          {R"({"i": {"$not_contains": 2}})", true},
          {R"({"s": {"$contains": "tw"}})", false},
          // A missing key matches the negative operators and nothing else.
          {R"({"no": 1})", false},
          {R"({"no": {"$ne": 1}})", true},
          {R"({"no": {"$gt": 0}})", false},
          {R"({"no": {"$lt": 0}})", false},
          {R"({"no": {"$in": [1]}})", false},
          {R"({"no": {"$nin": [1]}})", true},
          {R"({"no": {"$contains": 1}})", false},
          {R"({"no": {"$not_contains": 1}})", true},
          // Fields that are no metadata.
          {R"({"#id": "id1"})", true},
          {R"({"#id": {"$ne": "id1"}})", false},
          {R"({"#id": {"$in": ["x", "id1"]}})", true},
          {R"({"#id": {"$nin": ["x"]}})", true},
          {R"({"chroma:uri": "file:///a"})", true},
          {R"({"chroma:uri": {"$in": ["b"]}})", false},
          {R"({"chroma:uri": {"$ne": "b"}})", true},
          {R"({"chroma:uri": {"$gt": 1}})", false},
          {R"({"chroma:uri": {"$not_contains": "f"}})", true},
          {R"({"#document": {"$contains": "quick"}})", true},
          {R"({"#document": {"$regex": "q.*n"}})", true},
          {R"({"#document": {"$not_contains": "quick"}})", false},
          {R"({"#document": {"$not_regex": "zz"}})", true},
          // Groups.
          {R"({"$and": [{"i": 2}]})", true},
          {R"({"$or": [{"i": 3}]})", false},
          {R"({"$and": [{"i": 2}, {"s": "two"}]})", true},
          {R"({"$and": [{"i": 2}, {"s": "x"}]})", false},
          {R"({"$or": [{"i": 3}, {"s": "two"}]})", true},
          {R"({"$or": [{"i": 3}, {"s": "x"}]})", false},
          {R"({"$and": [{"$or": [{"i": 3}, {"i": 2}]}, {"$or": [{"s": "x"}, {"$and": [{"t": true}, {"f": 2.5}]}]}]})",
           true},
          {R"({"$or": [{"$and": [{"i": 2}, {"i": 3}]}, {"$or": [{"s": "x"}, {"s": "y"}]}]})",
           false},
          {R"({"$or": [{"$and": [{"i": 2}, {"i": 3}]}, {"$and": [{"i": 3}, {"i": 2}]}, {"s": "two"}]})",
           true},
      }) {
    const auto filter = Where(c.json);
    ASSERT_TRUE(filter.ok()) << c.json << ": " << filter.status().ToString();
    EXPECT_EQ((*filter)->Matches(Sample()), c.matches) << c.json;
  }
}

TEST(Filter, WhereDocumentMeansWhatTheRulesSay) {
  for (const Case& c : {
           Case{R"({"$contains": "quick"})", true},
           {R"({"$contains": "Quick"})", false},
           {R"({"$contains": "100%"})", true},
           {R"({"$contains": "100_"})", false},
           {R"({"$contains": "好"})", true},
           {R"({"$contains": "x"})", true},
           {R"({"$contains": "好\u0000nul"})", true},
           {R"({"$contains": "\u0000"})", true},
           {R"({"$not_contains": "quick"})", false},
           {R"({"$not_contains": "slow"})", true},
           {R"({"$regex": "br[ow]+n"})", true},
           {R"({"$regex": "^quick"})", false},
           {R"({"$regex": "^The"})", true},
           {R"({"$regex": "nul$"})", true},
           {R"({"$regex": "Fox$"})", false},
           {R"({"$regex": "(?m)Fox$"})", true},
           {R"({"$regex": "(?i)FOX"})", true},
           {R"({"$regex": "Fox.100"})", false},
           {R"({"$regex": "(?s)Fox.100"})", true},
           {R"({"$regex": "\\p{Han}{2}\\x00nul"})", true},
           {R"({"$regex": "x*"})", true},
           {R"({"$not_regex": "zebra|yak"})", true},
           {R"({"$not_regex": "fox|Fox"})", false},
           {R"({"$and": [{"$contains": "quick"}, {"$not_contains": "slow"}]})", true},
           {R"({"$or": [{"$contains": "slow"}, {"$regex": "F.x"}]})", true},
           {R"({"$or": [{"$contains": "slow"}]})", false},
       }) {
    const auto filter = WhereDocument(c.json);
    ASSERT_TRUE(filter.ok()) << c.json << ": " << filter.status().ToString();
    EXPECT_EQ((*filter)->Matches(Sample()), c.matches) << c.json;
  }
}

TEST(Filter, ARecordWithoutAFieldMatchesTheNegativeOperatorsOnly) {
  const FilterSubject bare{.id = "id1"};
  for (const Case& c : {Case{R"({"a": 1})", false},
                        {R"({"a": {"$ne": 1}})", true},
                        {R"({"a": {"$nin": [1]}})", true},
                        {R"({"a": {"$not_contains": 1}})", true},
                        {R"({"a": {"$lt": 1}})", false},
                        {R"({"chroma:uri": "a"})", false},
                        {R"({"chroma:uri": {"$ne": "a"}})", true},
                        {R"({"#document": {"$contains": "a"}})", false},
                        {R"({"#document": {"$regex": "x*"}})", false},
                        {R"({"#document": {"$not_contains": "a"}})", true},
                        {R"({"#document": {"$not_regex": "x*"}})", true}}) {
    const auto filter = Where(c.json);
    ASSERT_TRUE(filter.ok()) << c.json;
    EXPECT_EQ((*filter)->Matches(bare), c.matches) << c.json;
  }
  const FilterSubject empty{.id = "id1", .document = std::string_view()};
  EXPECT_TRUE((*WhereDocument(R"({"$regex": "^$"})"))->Matches(empty));
  EXPECT_FALSE((*WhereDocument(R"({"$contains": "a"})"))->Matches(empty));
}

TEST(Filter, TextThatIsNotUtf8IsSearchedByItsBytes) {
  const FilterSubject subject{.id = "x", .document = "ab\xff\xfe\0cd\xc3"sv};
  EXPECT_TRUE((*WhereDocument(R"({"$contains": "cd"})"))->Matches(subject));
  EXPECT_TRUE((*WhereDocument(R"({"$regex": "^ab"})"))->Matches(subject));
  EXPECT_TRUE((*WhereDocument(R"({"$regex": "c.?d"})"))->Matches(subject));
  EXPECT_FALSE((*WhereDocument(R"({"$contains": "Ã"})"))->Matches(subject));
}

TEST(Filter, BothFiltersMustMatch) {
  const auto parse = [](const char* where, const char* document) {
    return *Filter::Parse(where, document);
  };
  EXPECT_TRUE(parse(R"({"i": 2})", R"({"$contains": "quick"})")->Matches(Sample()));
  EXPECT_FALSE(parse(R"({"i": 3})", R"({"$contains": "quick"})")->Matches(Sample()));
  EXPECT_FALSE(parse(R"({"i": 2})", R"({"$contains": "slow"})")->Matches(Sample()));
  EXPECT_FALSE(
      parse(R"({"$or": [{"i": 2}, {"i": 3}]})", R"({"$contains": "slow"})")->Matches(Sample()));
  EXPECT_TRUE(parse("null", R"({"$contains": "quick"})")->Matches(Sample()));
}

TEST(Filter, NothingGivenMatchesEverything) {
  for (const auto& filter : {Filter::Parse(std::nullopt, std::nullopt), Where("null"),
                             WhereDocument(" null "), Filter::Parse("null", "null")}) {
    ASSERT_TRUE(filter.ok());
    EXPECT_TRUE((*filter)->matches_everything());
    EXPECT_TRUE((*filter)->Matches({.id = "x"}));
  }
  EXPECT_FALSE((*Where(R"({"i": 2})"))->matches_everything());
}

TEST(Filter, NeedsNameWhatIsRead) {
  const auto needs = [](const char* where) { return (*Where(where))->needs(); };
  EXPECT_TRUE(needs(R"({"i": 2})").metadata);
  EXPECT_FALSE(needs(R"({"i": 2})").document || needs(R"({"i": 2})").id ||
               needs(R"({"i": 2})").uri);
  EXPECT_TRUE(needs(R"({"#id": "x"})").id);
  EXPECT_FALSE(needs(R"({"#id": "x"})").metadata);
  EXPECT_TRUE(needs(R"({"chroma:uri": "x"})").uri);
  EXPECT_TRUE(needs(R"({"#document": {"$contains": "x"}})").document);
  EXPECT_TRUE((*WhereDocument(R"({"$regex": "x"})"))->needs().document);
  EXPECT_FALSE((*Where("null"))->needs().metadata);
}

// ---- Limits ------------------------------------------------------------------------------------

void ExpectLimit(const Result<std::shared_ptr<const Filter>>& filter, const std::string& message) {
  ASSERT_FALSE(filter.ok());
  EXPECT_EQ(filter.status().code(), Code::kResourceExhausted);
  EXPECT_EQ(filter.status().detail(), Detail::kLimit);
  EXPECT_EQ(filter.status().message(), message);
}

TEST(Filter, LimitsAreNamed) {
  ExpectLimit(Where(std::string(kFilterBytesMax + 1, ' ')),
              "where has 67108865 bytes (limit filter_bytes: 67108864)");
  std::string many = R"({"a":{"$in":[)";
  for (uint64_t i = 0; i < kFilterValuesMax; ++i) many += "1,";
  ExpectLimit(Where(many + "1]}}"),
              "where has too many JSON values (limit filter_values: 8388608)");
  ExpectLimit(WhereDocument(R"({"$regex":")" + std::string(kRegexBytesMax + 1, 'a') + "\"}"),
              "where_document: regex of 65537 bytes (limit regex_bytes: 65536)");
  EXPECT_TRUE(WhereDocument(R"({"$regex":")" + std::string(kRegexBytesMax, 'a') + "\"}").ok());
  ExpectLimit(WhereDocument(R"({"$regex":"\\pL{1000}"})"),
              "where_document: regex \"\\\\pL{1000}\" needs too much memory (limit "
              "regex_memory_bytes: 8388608)");
}

TEST(Filter, RegexesAreCountedOncePerPattern) {
  const auto filter = [](uint64_t different) {
    std::string json = R"({"$or":[)";
    for (uint64_t i = 0; i < 2 * kFilterRegexesMax; ++i) {
      json +=
          (i > 0 ? R"(,{"$regex":"p)" : R"({"$regex":"p)") + std::to_string(i % different) + "\"}";
    }
    return WhereDocument(json + "]}");
  };
  EXPECT_TRUE(filter(kFilterRegexesMax).ok());
  ExpectLimit(filter(kFilterRegexesMax + 1),
              "where_document: $or[256]: too many different regexes in a filter (limit "
              "filter_regexes: 256)");
}

// Runs `body` on a thread whose stack has 256 KiB.
template <typename Body>
void OnSmallStack(Body body) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 256 << 10), 0);
  pthread_t thread;
  const auto run = [](void* argument) -> void* {
    (*static_cast<Body*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &body), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(Filter, AMillionLevelsFitASmallStack) {
  constexpr size_t kDepth = 1000000;
  OnSmallStack([] {
    const auto single =
        Where(Repeated(R"({"$and":[)", kDepth) + R"({"i":2})" + Repeated("]}", kDepth));
    ASSERT_TRUE(single.ok()) << single.status().ToString();
    EXPECT_TRUE((*single)->Matches(Sample()));

    // Levels that are all needed: each group has a second child, and kinds alternate.
    const auto pairs = Where(Repeated(R"({"$and":[{"$or":[)", kDepth / 2) + R"({"i":2})" +
                             Repeated(R"(,{"i":3}]},{"i":{"$gt":1}}]})", kDepth / 2));
    ASSERT_TRUE(pairs.ok()) << pairs.status().ToString();
    EXPECT_TRUE((*pairs)->Matches(Sample()));
    EXPECT_FALSE((*pairs)->Matches({.id = "x"}));
  });
}

TEST(Filter, AMillionOpenBracketsAreAnErrorAndNoCrash) {
  OnSmallStack([] {
    EXPECT_EQ(Where(Repeated("[", 1000000)).status().detail(), Detail::kFilter);
    EXPECT_EQ(Where(Repeated(R"({"a":)", 1000000)).status().detail(), Detail::kFilter);
    EXPECT_EQ(Where(Repeated("[", 1000000) + Repeated("]", 1000000)).status().detail(),
              Detail::kFilter);
    EXPECT_EQ(WhereDocument(R"({"$regex":")" + std::string(65000, '(') + "\"}").status().detail(),
              Detail::kFilter);
    (void)WhereDocument(R"({"$regex":")" + std::string(30000, '(') + std::string(30000, ')') +
                        "\"}");
  });
}

TEST(Filter, AHundredThousandBranchesAreFine) {
  std::string json = R"({"$or":[{"i":-1})";
  for (int i = 1; i < 100000; ++i) json += R"(,{"i":)" + std::to_string(-i) + "}";
  const auto never = Where(json + "]}");
  ASSERT_TRUE(never.ok());
  EXPECT_FALSE((*never)->Matches(Sample()));
  const auto last = Where(json + R"(,{"i":2}]})");
  ASSERT_TRUE(last.ok());
  EXPECT_TRUE((*last)->Matches(Sample()));
}

TEST(Filter, AHundredThousandValuesAreFine) {
  std::string json = R"({"i":{"$in":[-1)";
  for (int i = 0; i < 100000; ++i) json += "," + std::to_string(3 + 2 * i);
  EXPECT_FALSE((*Where(json + "]}}"))->Matches(Sample()));
  EXPECT_TRUE((*Where(json + ",2]}}"))->Matches(Sample()));
}

}  // namespace
}  // namespace pigment

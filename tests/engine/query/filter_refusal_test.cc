// SPDX-License-Identifier: Apache-2.0
//
// Every refusal of the grammar: its message, and where in the filter it says it stands. The tables
// are complete: each refusal in the parser's source is met by as many cases as there are places
// that give it.

#include <gtest/gtest.h>
#include <re2/re2.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "engine/base/limits.h"
#include "engine/query/filter.h"
#include "tests/engine/query/filter_texts.h"

namespace pigment {
namespace {

struct Refusal {
  const char* json;
  const char* message;
};

const std::vector<Refusal> kOfWhere = {
    {R"_({})_", R"_(where: expected an object with one key, got {})_"},
    {R"_([])_", R"_(where: expected an object with one key, got an empty list)_"},
    {R"_(3)_", R"_(where: expected an object with one key, got 3)_"},
    {R"_("a")_", R"_(where: expected an object with one key, got "a")_"},
    {R"_({"a": 1, "b": 2})_", R"_(where: expected an object with one key, got 2 keys: "a", "b")_"},
    {R"_({"a": 1, "b": 2, "c": 3})_",
     R"_(where: expected an object with one key, got 3 keys: "a", "b", ...)_"},
    {R"_({"a": 1, "a": 2})_", R"_(where has the key "a" twice in one object)_"},
    {R"_({"$and": []})_",
     R"_(where: "$and" takes a list of at least one clause, got an empty list)_"},
    {R"_({"$or": {"a": 1}})_",
     R"_(where: "$or" takes a list of at least one clause, got an object with the key "a")_"},
    {R"_({"$or": null})_", R"_(where: "$or" takes a list of at least one clause, got null)_"},
    {R"_({"$and": [{"a": 1}, 2]})_", R"_(where: $and[1]: expected an object with one key, got 2)_"},
    {R"_({"$and": [{"a": 1}, {}]})_",
     R"_(where: $and[1]: expected an object with one key, got {})_"},
    {R"_({"$not": [{"a": 1}]})_",
     R"_(where: $not: expected an object with one key, got a list of 1)_"},
    {R"_({"$eq": 1})_", R"_(where: unknown operator "$eq", expected $and, $or, $not or a key)_"},
    {R"_({"$contains": "x"})_",
     R"_(where: unknown operator "$contains", expected $and, $or, $not or a key)_"},
    {R"_({"": 1})_", R"_(where: a key must not be empty, got "")_"},
    {R"_({"#embedding": 1})_",
     R"_(where: "#embedding": no such field, expected a metadata key, #id or #document)_"},
    {R"_({"chroma:document": "x"})_",
     R"_(where: "chroma:document": documents are filtered by "#document" or where_document)_"},
    {R"_({"a": null})_",
     R"_(where: "a": operator "$eq" takes a string, integer, float or bool, got null)_"},
    {R"_({"a": [1]})_",
     R"_(where: "a": operator "$eq" takes a string, integer, float or bool, got a list of 1)_"},
    {R"_({"a": {}})_", R"_(where: "a": expected one operator, got {})_"},
    {R"_({"a": {"$gt": 1, "$lt": 2}})_", R"_(where: "a": expected one operator, got 2 keys)_"},
    {R"_({"a": {"$foo": 1}})_",
     R"_(where: "a": unknown operator "$foo", expected one of $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $contains, $not_contains, $between, $prefix, $ieq, $iprefix, $exists)_"},
    {R"_({"a": {"b": 1}})_",
     R"_(where: "a": unknown operator "b", expected one of $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $contains, $not_contains, $between, $prefix, $ieq, $iprefix, $exists)_"},
    {R"_({"a": {"$eq": null}})_",
     R"_(where: "a": operator "$eq" takes a string, integer, float or bool, got null)_"},
    {R"_({"a": {"$ne": [1]}})_",
     R"_(where: "a": operator "$ne" takes a string, integer, float or bool, got a list of 1)_"},
    {R"_({"a": {"$eq": {"x": 1}}})_",
     R"_(where: "a": operator "$eq" takes a string, integer, float or bool, got an object with the key "x")_"},
    {R"_({"a": 9223372036854775808})_",
     R"_(where: "a": integer 9223372036854775808 does not fit 64 bits)_"},
    {R"_({"a": {"$in": [1, -9223372036854775809]}})_",
     R"_(where: "a": integer -9223372036854775809 does not fit 64 bits)_"},
    {R"_({"a": 1e999})_", R"_(where: "a": has a number beyond double: 1e999)_"},
    {R"_({"a": {"$gt": "x"}})_",
     R"_(where: "a": operator "$gt" takes an integer or a float, got "x")_"},
    {R"_({"a": {"$lte": true}})_",
     R"_(where: "a": operator "$lte" takes an integer or a float, got true)_"},
    {R"_({"a": {"$gt": null}})_",
     R"_(where: "a": operator "$gt" takes an integer or a float, got null)_"},
    {R"_({"a": {"$in": []}})_",
     R"_(where: "a": operator "$in" takes a list that is not empty, got an empty list)_"},
    {R"_({"a": {"$nin": 1}})_",
     R"_(where: "a": operator "$nin" takes a list that is not empty, got 1)_"},
    {R"_({"a": {"$in": [1, true]}})_",
     R"_(where: "a": operator "$in" takes values of one type, got true after 1)_"},
    {R"_({"a": {"$in": [1, 2.5]}})_",
     R"_(where: "a": operator "$in" takes values of one type, got 2.5 after 1)_"},
    {R"_({"a": {"$in": [1, null]}})_",
     R"_(where: "a": operator "$in" takes a string, integer, float or bool, got null)_"},
    {R"_({"a": {"$in": [[1]]}})_",
     R"_(where: "a": operator "$in" takes a string, integer, float or bool, got a list of 1)_"},
    {R"_({"a": {"$contains": [1]}})_",
     R"_(where: "a": operator "$contains" takes a string, integer, float or bool, got a list of 1)_"},
    {R"_({"a": {"$regex": "x"}})_", R"_(where: "a": operator "$regex" is for documents only)_"},
    {R"_({"#id": 1})_", R"_(where: "#id": operator "$eq" takes texts, got 1)_"},
    {R"_({"#id": {"$in": [1]}})_", R"_(where: "#id": operator "$in" takes texts, got 1)_"},
    {R"_({"#id": {"$gt": 1}})_",
     R"_(where: "#id": operator "$gt" does not apply, expected $eq, $ne, $in, $nin, $between, $prefix, $ieq or $iprefix)_"},
    {R"_({"#document": "x"})_",
     R"_(where: "#document": expected an object with one operator of $contains, $not_contains, $regex, $not_regex, $icontains, $exists, got "x")_"},
    {R"_({"#document": {"$eq": "x"}})_",
     R"_(where: "#document": unknown operator "$eq", expected one of $contains, $not_contains, $regex, $not_regex, $icontains, $exists)_"},
    {R"_({"#document": {"$contains": ""}})_",
     R"_(where: "#document": operator "$contains" takes a text that is not empty, got "")_"},
    {R"_({"$not": null})_", R"_(where: $not: expected an object with one key, got null)_"},
    {R"_({"$or": [{"a": 1}, {"$and": []}]})_",
     R"_(where: $or[1]: "$and" takes a list of at least one clause, got an empty list)_"},
    {R"_({"a": {"$not": {"$eq": 1}}})_",
     R"_(where: "a": unknown operator "$not", expected one of $eq, $ne, $gt, $gte, $lt, $lte, $in, $nin, $contains, $not_contains, $between, $prefix, $ieq, $iprefix, $exists)_"},
    {R"_({"a": {"$icontains": "x"}})_",
     R"_(where: "a": operator "$icontains" is for documents only)_"},
    {R"_({"a": {"$exists": 1}})_",
     R"_(where: "a": operator "$exists" takes true or false, got 1)_"},
    {R"_({"#document": {"$exists": null}})_",
     R"_(where: "#document": operator "$exists" takes true or false, got null)_"},
    {R"_({"#id": {"$exists": true}})_",
     R"_(where: "#id": operator "$exists" does not apply, expected $eq, $ne, $in, $nin, $between, $prefix, $ieq or $iprefix)_"},
    {R"_({"#id": {"$between": [1, 2]}})_",
     R"_(where: "#id": operator "$between" takes texts, got 1)_"},
    {R"_({"a": {"$prefix": 1}})_", R"_(where: "a": operator "$prefix" takes a text, got 1)_"},
    {R"_({"a": {"$iprefix": ["x"]}})_",
     R"_(where: "a": operator "$iprefix" takes a text, got a list of 1)_"},
    {R"_({"#id": {"$ieq": null}})_", R"_(where: "#id": operator "$ieq" takes a text, got null)_"},
    {R"_({"a": {"$between": 1}})_",
     R"_(where: "a": operator "$between" takes a list of two numbers or two texts, got 1)_"},
    {R"_({"a": {"$between": [1]}})_",
     R"_(where: "a": operator "$between" takes a list of two numbers or two texts, got a list of 1)_"},
    {R"_({"a": {"$between": [1, 2, 3]}})_",
     R"_(where: "a": operator "$between" takes a list of two numbers or two texts, got a list of 3)_"},
    {R"_({"a": {"$between": [1, "b"]}})_",
     R"_(where: "a": operator "$between" takes a list of two numbers or two texts, got 1 and "b")_"},
    {R"_({"a": {"$between": [true, false]}})_",
     R"_(where: "a": operator "$between" takes a list of two numbers or two texts, got true and false)_"},
    {R"_({"a": {"$between": {"low": 1, "high": 2}}})_",
     R"_(where: "a": operator "$between" takes a list of two numbers or two texts, got an object with the key "low")_"},
    {R"_({"a": {"$between": [1, 9223372036854775808]}})_",
     R"_(where: "a": integer 9223372036854775808 does not fit 64 bits)_"},
    {R"_({"a": {"$gt": 9223372036854775808}})_",
     R"_(where: "a": integer 9223372036854775808 does not fit 64 bits)_"},
    {R"_({"$/": 1})_",
     R"_(where: "$/": expected a path of metadata: $ and a JSON Pointer, as "$/a/b")_"},
    {R"_({"$/a~2/b": {"$exists": true}})_",
     R"_(where: "$/a~2/b": expected a path of metadata: $ and a JSON Pointer, as "$/a/b")_"},
};

const std::vector<Refusal> kOfWhereDocument = {
    {R"_({})_", R"_(where_document: expected an object with one key, got {})_"},
    {R"_({"$contains": "a", "$regex": "b"})_",
     R"_(where_document: expected an object with one key, got 2 keys: "$contains", "$regex")_"},
    {R"_({"$contains": ""})_",
     R"_(where_document: operator "$contains" takes a text that is not empty, got "")_"},
    {R"_({"$contains": 1})_",
     R"_(where_document: operator "$contains" takes a text that is not empty, got 1)_"},
    {R"_({"$not_regex": ["a"]})_",
     R"_(where_document: operator "$not_regex" takes a text that is not empty, got a list of 1)_"},
    {R"_({"$eq": "a"})_",
     R"_(where_document: unknown operator "$eq", expected one of $contains, $not_contains, $regex, $not_regex, $icontains, $exists, $and, $or, $not)_"},
    {R"_({"a": 1})_",
     R"_(where_document: unknown operator "a", expected one of $contains, $not_contains, $regex, $not_regex, $icontains, $exists, $and, $or, $not)_"},
    {R"_({"$and": []})_",
     R"_(where_document: "$and" takes a list of at least one clause, got an empty list)_"},
    {R"_({"$regex": "("})_", R"_(where_document: regex "(" is not valid: missing ): ()_"},
    {R"_({"$regex": "(?=a)"})_",
     R"_(where_document: regex "(?=a)" is not valid: invalid perl operator: (?=)_"},
    {R"_({"$regex": "(a)\\1"})_",
     R"_(where_document: regex "(a)\\1" is not valid: invalid escape sequence: \1)_"},
    {R"_({"$exists": "yes"})_",
     R"_(where_document: operator "$exists" takes true or false, got "yes")_"},
    {R"_({"$icontains": ""})_",
     R"_(where_document: operator "$icontains" takes a text that is not empty, got "")_"},
    {R"_({"$and": [{"$contains": "a"}, {"$or": [{"$not": {"$regex": "("}}]}]})_",
     R"_(where_document: $and[1].$or[0].$not: regex "(" is not valid: missing ): ()_"},
    {R"_({"$not": {"$like": "a"}})_",
     R"_(where_document: $not: unknown operator "$like", expected one of $contains, $not_contains, $regex, $not_regex, $icontains, $exists, $and, $or, $not)_"},
};

const std::vector<Refusal> kInGroups = {
    {R"_({"$or": [{"$/a/b": 1}, {"$/a/c~1d": {"$gt": "x"}}]})_",
     R"_(where: $or[1]."$/a/c~1d": operator "$gt" takes an integer or a float, got "x")_"},
    {R"_({"$or": [{"$/a/b": 1}, {"$not": {"$/#a/b": 1}}]})_",
     R"_(where: $or[1].$not."$/#a/b": expected a path of metadata: $ and a JSON Pointer, as "$/a/b")_"},
    {R"_({"$and": [{"a": 1}, {"b": 2}, {"$or": [{"year": {"$gt": "x"}}, {"c": 3}]}]})_",
     R"_(where: $and[2].$or[0]."year": operator "$gt" takes an integer or a float, got "x")_"},
    {R"_({"$not": {"$and": [{"$not": {"a": 1}}, {"$not": {"b.\"c\"": null}}]}})_",
     R"_(where: $not.$and[1].$not."b.\"c\"": operator "$eq" takes a string, integer, float or bool, got null)_"},
    {R"_({"$or": [{"$and": [{"a": 1}, {"b": 2}]}, {"$or": [{"c": 3}]}, {"#embedding": 1}]})_",
     R"_(where: $or[2]."#embedding": no such field, expected a metadata key, #id or #document)_"},
    {R"_({"$or": [{"a": 1}, {"#document": {"$regex": "["}}]})_",
     R"_(where: $or[1]."#document": regex "[" is not valid: missing ]: [)_"},
    {R"_({"$and": [{"a": 1}, {"": 2}]})_", R"_(where: $and[1]: a key must not be empty, got "")_"},
    {R"_({"$and": [{"a": 1}, {"$gt": 2}]})_",
     R"_(where: $and[1]: unknown operator "$gt", expected $and, $or, $not or a key)_"},
};

void ExpectRefused(const Result<std::shared_ptr<const Filter>>& filter, const Refusal& refusal) {
  ASSERT_FALSE(filter.ok()) << refusal.json;
  EXPECT_EQ(filter.status().code(), Code::kInvalidArgument) << refusal.json;
  EXPECT_EQ(filter.status().detail(), Detail::kFilter) << refusal.json;
  EXPECT_EQ(filter.status().message(), refusal.message) << refusal.json;
}

TEST(FilterRefusal, OfWhereNamesClauseAndValue) {
  for (const Refusal& refusal : kOfWhere) ExpectRefused(Where(refusal.json), refusal);
}

TEST(FilterRefusal, OfWhereDocumentNamesClauseAndValue) {
  for (const Refusal& refusal : kOfWhereDocument)
    ExpectRefused(WhereDocument(refusal.json), refusal);
}

TEST(FilterRefusal, InGroupsNamesThePath) {
  for (const Refusal& refusal : kInGroups) ExpectRefused(Where(refusal.json), refusal);
}

// What stands in any group has the path of the group before what it says alone.
TEST(FilterRefusal, EveryRefusalOfAClauseHasThePathOfItsGroups) {
  const auto checked = [](const std::vector<Refusal>& refusals, const auto& parse,
                          const std::string& grammar, const std::string& valid) {
    for (const Refusal& refusal : refusals) {
      const std::string message = refusal.message, begin = grammar + ": ";
      // What is refused of the whole text has no colon: "where has the key ...".
      ASSERT_TRUE(message.starts_with(grammar));
      const std::string rest =
          message.substr(message.starts_with(begin) ? begin.size() : grammar.size() + 1);
      const std::string path = "$and[1].$not.$or[2]";
      const std::string joint = rest.starts_with("$")                              ? "."
                                : rest.starts_with("\"") && rest.find("\": ") < 30 ? "."
                                                                                   : ": ";
      ExpectRefused(parse(R"({"$and": [)" + valid + R"(, {"$not": {"$or": [)" + valid + ", " +
                          valid + ", " + refusal.json + "]}}]}"),
                    {refusal.json, (begin + path + joint + rest).c_str()});
    }
  };
  checked(kOfWhere, Where, "where", R"({"a": 1})");
  checked(kOfWhereDocument, WhereDocument, "where_document", R"({"$contains": "a"})");
}

// What is no JSON, too.
TEST(FilterRefusal, EveryOtherRefusalOfATextHasThePathToo) {
  for (const auto& [json, place] : std::vector<std::pair<std::string, std::string>>{
           {R"({"a": 1, "a": 2})", ": has the key \"a\" twice in one object"},
           {R"({"a": {"$in": [1, 1e999]}})", ".\"a\".$in[1]: has a number beyond double: 1e999"},
           {R"({"a": {"$in": [1, 2 3]}})", ".\"a\".$in[2]: is not valid JSON at byte "},
           {R"({"a": tru})", ".\"a\": is not valid JSON at byte "},
           {R"({"a": "\xff"})", ".\"a\": is not valid JSON at byte "},
           {R"({"a" 1})", ".\"a\": is not valid JSON at byte "}}) {
    const Status status =
        Where(R"({"$and": [{"b": 1}, {"$not": {"$or": [{"c": 2}, )" + json + "]}}]}").status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << json;
    EXPECT_EQ(status.detail(), Detail::kFilter) << json;
    EXPECT_TRUE(status.message().starts_with("where: $and[1].$not.$or[1]" + place))
        << json << ": " << status.message();
  }
}

TEST(FilterRefusal, LimitsOfRegexesHaveThePath) {
  const auto inside = [](const std::string& pattern) {
    return WhereDocument(R"({"$and": [{"$contains": "a"}, {"$not": {"$regex": ")" + pattern +
                         "\"}}]}")
        .status();
  };
  const Status large = inside(R"(\\pL{1000})");
  EXPECT_EQ(large.code(), Code::kResourceExhausted);
  EXPECT_TRUE(large.message().starts_with("where_document: $and[1].$not: regex "))
      << large.message();
  const Status is_long = inside(std::string(kRegexBytesMax + 1, 'a'));
  EXPECT_EQ(is_long.code(), Code::kResourceExhausted);
  EXPECT_EQ(is_long.message(),
            "where_document: $and[1].$not: regex of 65537 bytes (limit regex_bytes: 65536)");
  std::string many = R"({"$or": [{"a": 1})";
  for (uint64_t i = 0; i <= kFilterRegexesMax; ++i)
    many += R"(, {"#document": {"$regex": "p)" + std::to_string(i) + "\"}}";
  EXPECT_EQ(Where(many + "]}").status().message(),
            "where: $or[257].\"#document\": too many different regexes in a filter (limit "
            "filter_regexes: 256)");
}

TEST(FilterRefusal, ALongPathIsShortenedInTheMiddle) {
  for (const size_t levels : {size_t{12}, size_t{13}, size_t{100000}}) {
    const std::string filter =
        Repeated(R"({"$or": [{"b": 1}, )", levels) + R"({"a": null})" + Repeated("]}", levels);
    const std::string step = "$or[1].";
    const std::string path = levels == 12 ? Repeated(step, 12)
                                          : Repeated(step, 4) + "(" + std::to_string(levels - 12) +
                                                " more)." + Repeated(step, 8);
    EXPECT_EQ(Where(filter).status().message(),
              "where: " + path +
                  "\"a\": operator \"$eq\" takes a string, integer, float or bool, got null");
  }
}

// The texts of all refusals in the source: the first literal of each call.
std::map<std::string, int> RefusalsOfTheSource() {
  std::map<std::string, int> refusals;
  for (const char* name :
       {"filter_parse.cc", "filter_parse_field.cc", "filter_parse_document.cc"}) {
    std::ifstream file(std::string(PIGMENT_SOURCE_DIR) + "/engine/query/" + name);
    EXPECT_TRUE(file.is_open()) << name;
    std::stringstream text;
    text << file.rdbuf();
    const std::string source = text.str();
    const re2::RE2 call(R"_(\bRefused\(\s*(?:fmt::format\(\s*)?"((?:[^"\\]|\\.)*)")_");
    re2::StringPiece rest(source);
    std::string literal;
    size_t found = 0, calls = 0;
    for (; re2::RE2::FindAndConsume(&rest, call, &literal); ++found) {
      re2::RE2::GlobalReplace(&literal, R"_(\\(.))_", R"_(\1)_");
      ++refusals[literal];
    }
    for (size_t at = source.find("Refused("); at != std::string::npos;
         at = source.find("Refused(", at + 1))
      ++calls;
    EXPECT_EQ(found + (std::string(name) == "filter_parse.cc" ? 1 : 0), calls)  // its definition
        << "a refusal in " << name << " does not begin with its text";
  }
  return refusals;
}

TEST(FilterRefusal, EveryRefusalInTheSourceIsMetByCases) {
  const std::map<std::string, int> refusals = RefusalsOfTheSource();
  EXPECT_GE(refusals.size(), 20u);
  for (const auto& [text, places] : refusals) {
    std::string pattern = re2::RE2::QuoteMeta(text);
    re2::RE2::GlobalReplace(&pattern, R"_(\\\{\\\})_", ".*");
    const re2::RE2 message(pattern);
    int met = 0;
    for (const auto& table : {kOfWhere, kOfWhereDocument})
      for (const Refusal& refusal : table)
        met += re2::RE2::PartialMatch(refusal.message, message) ? 1 : 0;
    EXPECT_GE(met, places) << text;
  }
}

TEST(FilterRefusal, HintsSayHowToGoOn) {
  EXPECT_EQ(Where(R"({"a": 1, "b": 2})").status().hint(),
            R"(join clauses with "$and": {"$and": [{...}, {...}]})");
  EXPECT_EQ(Where(R"({"a": {"$gt": 1, "$lt": 2}})").status().hint(),
            R"(join clauses with "$and": {"$and": [{...}, {...}]})");
  EXPECT_EQ(Where("{}").status().hint(), "leave the filter out to match everything");
  EXPECT_EQ(WhereDocument(R"({"$regex": "(?<!a)b"})").status().hint(),
            "the syntax is RE2's: no look-around, no back-references");
}

TEST(FilterRefusal, WhereIsValidatedBeforeWhereDocument) {
  EXPECT_EQ(Filter::Parse("{}", "{}").status().message(),
            "where: expected an object with one key, got {}");
  EXPECT_EQ(Filter::Parse("null", "{}").status().message(),
            "where_document: expected an object with one key, got {}");
}

}  // namespace
}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// Tests of engine/record/json_tape.h.

#include "engine/record/json_tape.h"

#include <gtest/gtest.h>

#include <string>

namespace pigment {
namespace {

Result<JsonTape> ParseTape(std::string_view json, const JsonLimits& limits = {}) {
  return JsonTape::Parse(json, "text", Detail::kMetadata, limits);
}

TEST(JsonTape, KeepsTheOrderAndNestingOfTheText) {
  const Result<JsonTape> parsed =
      ParseTape(R"({"a": [1, "x"], "b": null, "c": {"d": 2.5, "e": true}})");
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  const JsonTape& tape = *parsed;
  ASSERT_EQ(tape.size(), 8u);
  EXPECT_EQ(tape.kind(0), JsonKind::kObject);
  EXPECT_EQ(tape.ChildCount(0), 3u);
  EXPECT_EQ(tape.key(1), "a");
  EXPECT_EQ(tape.end(1), 4u);
  EXPECT_EQ(tape.integer(2), 1);
  EXPECT_EQ(tape.text(3), "x");
  EXPECT_EQ(tape.kind(4), JsonKind::kNull);
  EXPECT_EQ(tape.key(4), "b");
  EXPECT_EQ(tape.real(6), 2.5);
  EXPECT_EQ(tape.key(6), "d");
  EXPECT_TRUE(tape.boolean(7));
}

TEST(JsonTape, TellsIntegersFromFloatsByTheirDigits) {
  struct Case {
    const char* json;
    JsonKind kind;
  };
  for (const Case& c :
       {Case{"9223372036854775807", JsonKind::kInteger},
        Case{"-9223372036854775808", JsonKind::kInteger},
        Case{"9223372036854775808", JsonKind::kBigInteger},
        Case{"-9223372036854775809", JsonKind::kBigInteger},
        Case{"18446744073709551616", JsonKind::kBigInteger}, Case{"1.0", JsonKind::kDouble},
        Case{"1e2", JsonKind::kDouble}, Case{"1E2", JsonKind::kDouble}}) {
    const Result<JsonTape> parsed = ParseTape(c.json);
    ASSERT_TRUE(parsed.ok()) << c.json;
    EXPECT_EQ(parsed->kind(0), c.kind) << c.json;
    if (c.kind == JsonKind::kBigInteger) {
      EXPECT_EQ(parsed->text(0), c.json);
    }
  }
}

TEST(JsonTape, RefusesWhatIsNotJsonAndSaysWhere) {
  struct Case {
    std::string json;
    const char* message;
  };
  for (const Case& c :
       {Case{"", "text is not valid JSON at byte 1, near \"\""},
        Case{"{\"a\":1,}", "text is not valid JSON at byte 8, near \"1,}\""},
        Case{"[1] x", "text is not valid JSON at byte 5"}, Case{"nul", "text is not valid JSON"},
        Case{"NaN", "text is not valid JSON"}, Case{"Infinity", "text is not valid JSON"},
        Case{"'a'", "text is not valid JSON"}, Case{"\"a\xff\"", "text is not valid JSON"},
        Case{"\"\\ud800\"", "text is not valid JSON"}, Case{"01", "text is not valid JSON"},
        Case{"1e400", "text has a number beyond double: 1e400"},
        Case{R"({"x": {"a":1,"b":2,"a":3}})",
             "text: \"x\": has the key \"a\" twice in one object"}}) {
    const Result<JsonTape> parsed = ParseTape(c.json);
    ASSERT_FALSE(parsed.ok()) << c.json;
    EXPECT_EQ(parsed.status().code(), Code::kInvalidArgument);
    EXPECT_EQ(parsed.status().detail(), Detail::kMetadata);
    EXPECT_NE(parsed.status().message().find(c.message), std::string::npos)
        << parsed.status().message();
  }
}

TEST(JsonTape, RefusalsHaveTheirPath) {
  struct Case {
    std::string json;
    std::string message;
  };
  for (const Case& c : {Case{R"([0, [1e999]])", "text: [1][0]: has a number beyond double: 1e999"},
                        Case{R"({"$and": [{"a": 1}, {"b": {"$gt": 1e999}}]})",
                             R"(text: $and[1]."b".$gt: has a number beyond double: 1e999)"},
                        Case{R"({"$and": [[{}, {}], {"b": {"c": 1, "c": 2}, "d": 1}]})",
                             R"(text: $and[1]."b": has the key "c" twice in one object)"},
                        Case{R"({"a": [1, {"b": 2}], "q\"": [1, 2, }]})",
                             R"(text: "q\""[2]: is not valid JSON at byte 36, near "2, }")"},
                        Case{R"({"a": {"b": 1, "a": 2, "b": 3}, "a": 1})",
                             R"(text: "a": has the key "b" twice in one object)"}}) {
    const Result<JsonTape> parsed = ParseTape(c.json);
    ASSERT_FALSE(parsed.ok()) << c.json;
    EXPECT_EQ(parsed.status().message(), c.message);
  }
  for (const size_t levels : {size_t{24}, size_t{25}, size_t{100000}}) {
    std::string json, path;
    for (size_t i = 0; i < levels; ++i) json += '[';
    for (size_t i = 0; i < std::min<size_t>(levels, 8); ++i) path += "[0]";
    if (levels > 25) path += ".(" + std::to_string(levels - 25) + " more)";
    for (size_t i = 8; i < std::min<size_t>(levels, 25); ++i) path += "[0]";
    EXPECT_EQ(ParseTape(json + "1e999").status().message(),
              "text: " + path + ": has a number beyond double: 1e999");
  }
}

TEST(JsonTape, LimitsAreNamed) {
  const auto limits = [](uint64_t bytes, uint64_t values) -> JsonLimits {
    return {.bytes = {"some_bytes", bytes, Code::kResourceExhausted, "bytes"},
            .values = {"some_values", values, Code::kResourceExhausted, "values"}};
  };
  EXPECT_TRUE(ParseTape("[1,2,3]", limits(7, 4)).ok());
  const Status nodes = ParseTape("[1,2,3]", limits(7, 3)).status();
  EXPECT_EQ(nodes.code(), Code::kResourceExhausted);
  EXPECT_EQ(nodes.detail(), Detail::kLimit);
  EXPECT_EQ(nodes.message(), "text has too many JSON values (limit some_values: 3)");
  EXPECT_EQ(ParseTape("[1,2,3]", limits(6, 4)).status().message(),
            "text has 7 bytes (limit some_bytes: 6)");
}

TEST(JsonTape, KeysAndStringsMayHoldNulAndEscapes) {
  const Result<JsonTape> parsed = ParseTape(R"({"a\u0000b": "\ud83d\ude00\n"})");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->key(1), std::string_view("a\0b", 3));
  EXPECT_EQ(parsed->text(1), "\xf0\x9f\x98\x80\n");
}

TEST(JsonTape, DescribesValuesForMessages) {
  const Result<JsonTape> parsed =
      ParseTape(R"([null,true,-3,1e2,"q\"",[],[1,2],{},{"k":1},99999999999999999999])");
  ASSERT_TRUE(parsed.ok());
  std::string all;
  for (size_t i = 1; i < parsed->size(); i = parsed->end(i)) all += parsed->Describe(i) + "|";
  EXPECT_EQ(
      all,
      "null|true|-3|100.0|\"q\\\"\"|an empty list|a list of 2|{}|an object with the key \"k\"|"
      "99999999999999999999|");
}

}  // namespace
}  // namespace pigment

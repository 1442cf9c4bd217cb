// SPDX-License-Identifier: Apache-2.0
//
// Tests of engine/record/metadata_path.h, and of nested metadata in JSON and in merges against
// nlohmann's JSON: its dump and its merge patch.

#include "engine/record/metadata_path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "engine/base/limits.h"
#include "tests/support/effort.h"
#include "tests/support/filter_model.h"
#include "tests/support/json.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

using nlohmann::json;

Result<Metadata> ParseNested(std::string_view text, MetadataUse use = MetadataUse::kNewRecord) {
  bool present = false;
  return ParseMetadataJson(text, use, &present, MetadataShape::kNested);
}

std::string StoredOf(const std::vector<std::string>& steps) {
  if (steps.size() == 1) return steps[0];
  std::string path = "$";
  for (const std::string& step : steps) AppendStep(step, path);
  return path;
}

std::vector<std::string> RandomSteps(std::mt19937_64& random) {
  static constexpr char kBytes[] = {'\0', '\1', '\2', '/', '~', 'a', '!', '0'};
  std::vector<std::string> steps = {"k"};
  for (uint64_t n = random() % 4; n > 0; --n) {
    steps.emplace_back();
    for (uint64_t bytes = random() % 4; bytes > 0; --bytes)
      steps.back() += kBytes[random() % sizeof kBytes];
  }
  return steps;
}

TEST(MetadataPath, OrdersAsItsStepsAndReadsBack) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 50000; ++i) {
    const std::vector<std::string> a = RandomSteps(random), b = RandomSteps(random);
    const std::string of_a = StoredOf(a), of_b = StoredOf(b);
    if (a.size() > 1 && b.size() > 1) {
      ASSERT_EQ(of_a < of_b, a < b) << PointerOf(of_a) << " " << PointerOf(of_b);
      ASSERT_EQ(of_a == of_b, a == b);
    }
    const bool is_below = b.size() > a.size() && std::equal(a.begin(), a.end(), b.begin());
    ASSERT_EQ(of_b.starts_with(BeginBelow(of_a)), is_below);
    ASSERT_EQ(PointerOf(of_a), ModelPath(a));
    ASSERT_EQ(KeyText(of_a), a.size() == 1 ? a[0] : ModelPath(a));
    ASSERT_EQ(StoredKeyOf(PointerOf(of_a)), of_a);
    ASSERT_EQ(TopKey(of_a), a[0]);
  }
}

TEST(MetadataPath, WhatIsNoPathIsNone) {
  for (const char* pointer : {"$/", "$//a", "$/a~", "$/a~2", "$/a/~", "$/#id", "$/$a", "$/#a/b",
                              "$/chroma:uri", "$/chroma:document", "$/chroma:uri/a"})
    EXPECT_EQ(StoredKeyOf(pointer), std::nullopt) << pointer;
  EXPECT_EQ(StoredKeyOf("$/a"), "a");
  EXPECT_EQ(StoredKeyOf("$/a~1b~0"), "a/b~");
  EXPECT_EQ(StoredKeyOf("$/a/"), std::string("$a\0", 3));
  EXPECT_EQ(StoredKeyOf("$/a/$b"), std::string("$a\0$b", 5));
}

TEST(NestedMetadata, IsOneEntryForEachValue) {
  const auto parsed = ParseNested(R"({"a":{"b":1,"c/d":["x"]},"e":2.0,"f":{"":{"g":true}}})");
  ASSERT_OK(parsed);
  const Metadata expected{{std::string("$a\0b", 4), int64_t{1}},
                          {std::string("$a\0c/d", 6), std::vector<std::string>{"x"}},
                          {std::string("$f\0\0g", 5), true},
                          {"e", 2.0}};
  EXPECT_EQ(*parsed, expected);
  EXPECT_EQ(MetadataToJson(*parsed), R"({"a":{"b":1,"c/d":["x"]},"e":2.0,"f":{"":{"g":true}}})");
}

TEST(NestedMetadata, RefusalsNameThePath) {
  constexpr auto kNew = MetadataUse::kNewRecord;
  const struct {
    const char* text;
    MetadataUse use;
    const char* message;
  } cases[] = {
      {R"({"a":{}})", kNew, "metadata key \"a\": an object must not be empty, got {}"},
      {R"({"a":{"b":{}}})", kNew, "metadata key \"$/a/b\": an object must not be empty, got {}"},
      {R"({"a":{"b":null}})", kNew, "metadata key \"$/a/b\": null is no value here"},
      {R"({"a":{"b/c":[]}})", kNew, "metadata key \"$/a/b~1c\": a list must not be empty, got []"},
      {R"({"a":{"b":[{"c":1}]}})", kNew,
       "metadata key \"$/a/b\": a list takes strings, integers, floats or bools, got an object "
       "with the key \"c\""},
      {R"({"a":{"b":9223372036854775808}})", kNew,
       "metadata key \"$/a/b\": integer 9223372036854775808 does not fit 64 bits"},
      {R"({"a":{"b":1,"b":2}})", kNew, "metadata: \"a\": has the key \"b\" twice in one object"},
      {R"({"$a":{"b":1}})", kNew, "metadata key \"$a\": a key must not start with # or $"},
      {R"({"":{"b":1}})", kNew, "metadata keys must not be empty, got \"\""},
      {R"({"a":{"b":{}}})", MetadataUse::kMergeRecord,
       "metadata key \"$/a/b\": an object must not be empty, got {}"},
  };
  for (const auto& c : cases) {
    const auto parsed = ParseNested(c.text, c.use);
    ASSERT_FALSE(parsed.ok()) << c.text;
    EXPECT_EQ(parsed.status().code(), Code::kInvalidArgument);
    EXPECT_EQ(parsed.status().detail(), Detail::kMetadata);
    EXPECT_EQ(parsed.status().message(), c.message);
  }
}

// Values of which nlohmann's dump is ours: no floats.
json RandomDocument(std::mt19937_64& random, bool with_null) {
  json document = json::object();
  for (uint64_t n = 1 + random() % 6; n > 0; --n) {
    json value = static_cast<int64_t>(random() % 5);
    if (random() % 3 == 0) value = json::array({"x", "y"});
    if (with_null && random() % 3 == 0) value = nullptr;
    ModelSet(document, RandomModelSteps(random), value);
  }
  return document;
}

TEST(NestedMetadata, RandomDocumentsSurviveJsonAndTheStoredForm) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20000; ++i) {
    const std::string text = RandomDocument(random, false).dump();
    const auto parsed = ParseNested(text);
    ASSERT_OK(parsed);
    ASSERT_EQ(MetadataToJson(*parsed), text);
    std::string stored, printed = "before ";
    EncodeMetadata(*parsed, stored);
    const auto bytes = std::as_bytes(std::span<const char>(stored));
    ASSERT_EQ(DecodeMetadata(bytes).value(), *parsed);
    ASSERT_OK(StoredMetadataToJson(bytes, printed));
    ASSERT_EQ(printed, "before " + text);
  }
}

TEST(NestedMetadata, UpdatesMergeAsJsonMergePatchDoes) {
  std::mt19937_64 random(3);
  int changed = 0, emptied = 0;
  for (int i = 0; i < Rounds(30000); ++i) {
    json document = RandomDocument(random, false);
    Metadata metadata = ParseNested(document.dump()).value();
    for (int step = 0; step < 3 && !document.is_null(); ++step) {
      const json change = RandomDocument(random, true);
      SCOPED_TRACE(document.dump() + " with " + change.dump());
      MergeMetadata(metadata, ParseNested(change.dump(), MetadataUse::kMergeRecord).value());
      const json merged = ModelMerge(document, change);
      ASSERT_EQ(MetadataToJson(metadata), merged.is_null() ? "{}" : merged.dump());
      changed += merged != document;
      emptied += merged.is_null();
      document = merged;
    }
  }
  EXPECT_GT(changed, Rounds(60000));
  EXPECT_GT(emptied, Rounds(50));
}

TEST(NestedMetadata, AMillionLevelsAreOneKey) {
  constexpr int kLevels = 1000000;
  std::string text;
  for (int i = 0; i < kLevels; ++i) text += R"({"a":)";
  text += "1" + std::string(kLevels, '}');
  auto parsed = ParseNested(text);
  ASSERT_OK(parsed);
  EXPECT_EQ(parsed->size(), 1u);
  EXPECT_EQ(MetadataToJson(*parsed), text);
  const std::string pointer = PointerOf(parsed->begin()->first);
  EXPECT_EQ(pointer.size(), 1u + 2 * kLevels);
  EXPECT_EQ(StoredKeyOf(pointer), parsed->begin()->first);
  // A sibling of the deepest value and one of the first step; then nothing is left of both.
  std::string sibling = text;
  sibling.replace(sibling.rfind('a'), 1, "b");
  MergeMetadata(*parsed, ParseNested(sibling, MetadataUse::kMergeRecord).value());
  MergeMetadata(*parsed, ParseNested(R"({"b":{"c":1}})").value());
  EXPECT_EQ(parsed->size(), 3u);
  MergeMetadata(*parsed,
                ParseNested(R"({"a":{"a":{"a":null}}})", MetadataUse::kMergeRecord).value());
  EXPECT_EQ(MetadataToJson(*parsed), R"({"b":{"c":1}})");
}

TEST(NestedMetadata, PathsTakeSoManyBytesAndNoMore) {
  const auto with = [](uint64_t bytes) {
    std::string text = R"({"a":{)";
    for (uint64_t n = 0; bytes > 0; ++n) {
      const uint64_t left = bytes < uint64_t{2} << 20 ? bytes : uint64_t{1} << 20;
      const std::string name = std::to_string(n);
      // "$", "a", a separator and the name.
      text += (n == 0 ? "\"" : ",\"") + name + std::string(left - 3 - name.size(), 'x') + "\":1";
      bytes -= left;
    }
    return text + "}}";
  };
  EXPECT_OK(ParseNested(with(kMetadataPathBytesMax)));
  const Status beyond = ParseNested(with(kMetadataPathBytesMax + 1)).status();
  EXPECT_EQ(beyond.code(), Code::kResourceExhausted);
  EXPECT_EQ(beyond.detail(), Detail::kLimit);
  EXPECT_NE(beyond.message().find(std::to_string(kMetadataPathBytesMax)), std::string::npos);

  // Short as JSON, long as paths.
  std::string deep, end;
  for (int i = 0; i < 20000; ++i) {
    deep += R"({"v":1,"a":)";
    end += '}';
  }
  EXPECT_EQ(ParseNested(deep + "1" + end).status().code(), Code::kResourceExhausted);
}

}  // namespace
}  // namespace pigment

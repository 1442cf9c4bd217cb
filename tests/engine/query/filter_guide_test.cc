// SPDX-License-Identifier: Apache-2.0
//
// Runs every example of docs/filters.md: the answer behind each arrow must be what the filter
// gives.

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "engine/query/filter.h"
#include "tests/engine/query/guide_blocks.h"
#include "tests/support/json.h"

namespace pigment {
namespace {

using nlohmann::json;

struct Example {
  std::string filter;
  std::string answer;
};

std::vector<Example> Examples(const std::vector<GuideBlock>& blocks, const std::string& kind) {
  std::vector<Example> examples;
  for (const GuideBlock& block : blocks) {
    if (block.kind != kind) continue;
    for (const std::string& line : block.lines) {
      const size_t arrow = line.find("->");
      EXPECT_NE(arrow, std::string::npos) << line;
      if (arrow == std::string::npos) continue;
      examples.push_back(
          {line.substr(0, line.find_last_not_of(' ', arrow - 1) + 1), line.substr(arrow + 3)});
    }
  }
  return examples;
}

json Records(const std::vector<GuideBlock>& blocks, const std::string& kind) {
  for (const GuideBlock& block : blocks) {
    if (block.kind != kind) continue;
    return json::parse(block.text());
  }
  ADD_FAILURE() << "the guide has no records";
  return json::array();
}

std::string Answer(const Filter& filter, const json& records) {
  std::string ids;
  for (const json& record : records) {
    const std::string id = record["id"];
    Metadata metadata;
    bool present = false;
    if (record.contains("metadata")) {
      Result<Metadata> parsed = ParseMetadataJson(
          record["metadata"].dump(), MetadataUse::kNewRecord, &present, MetadataShape::kNested);
      EXPECT_TRUE(parsed.ok()) << parsed.status().ToString();
      if (parsed.ok()) metadata = *parsed;
    }
    const std::string document = record.value("document", "");
    const std::string uri = record.value("uri", "");
    FilterSubject subject{.id = id};
    if (present) subject.metadata = &metadata;
    if (record.contains("document")) subject.document = document;
    if (record.contains("uri")) subject.uri = uri;
    if (filter.Matches(subject)) ids += (ids.empty() ? "" : " ") + id;
  }
  return ids.empty() ? "nothing" : ids;
}

TEST(FilterGuide, EveryExampleGivesTheAnswerItShows) {
  const std::vector<GuideBlock> blocks = ReadGuide("filters.md");
  size_t run = 0;
  for (const std::string kind : {"where", "where_document", "nested where"}) {
    const json records =
        Records(blocks, kind == "nested where" ? "json nested records" : "json records");
    ASSERT_EQ(records.size(), 4u);
    for (const Example& example : Examples(blocks, "json " + kind)) {
      const auto filter = kind == "where_document" ? Filter::Parse(std::nullopt, example.filter)
                                                   : Filter::Parse(example.filter, std::nullopt);
      ASSERT_TRUE(filter.ok()) << example.filter << ": " << filter.status().ToString();
      EXPECT_EQ(Answer(**filter, records), example.answer) << example.filter;
      ++run;
    }
  }
  EXPECT_GE(run, 69u);  // as many as the guide had when this was written
}

TEST(FilterGuide, EveryRefusalSaysWhatTheGuideShows) {
  const std::vector<Example> examples = Examples(ReadGuide("filters.md"), "text refused");
  EXPECT_GE(examples.size(), 15u);
  for (const Example& example : examples) {
    EXPECT_EQ(Filter::Parse(example.filter, std::nullopt).status().message(), example.answer)
        << example.filter;
  }
}

TEST(FilterGuide, TheLimitsAreThoseOfTheCode) {
  EXPECT_EQ(kFilterBytesMax, uint64_t{64} << 20);
  EXPECT_EQ(kFilterValuesMax, 8388608u);
  EXPECT_EQ(kFilterRegexesMax, 256u);
  EXPECT_EQ(kRegexBytesMax, 65536u);
  EXPECT_EQ(kRegexMemoryBytesMax, 8 << 20);
}

}  // namespace
}  // namespace pigment

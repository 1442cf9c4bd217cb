// SPDX-License-Identifier: Apache-2.0
//
// Every script of this folder, in memory and in a directory, through the C interface. One test per
// script and home.

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "tests/conformance/runner.h"
#include "tests/support/temporary_directory.h"

namespace conformance {
namespace {

struct Case {
  Script script;
  std::string home;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.script.name << " in " << one.home; }

std::vector<Case> Cases() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(PIGMENT_SOURCE_DIR "/tests/conformance")) {
    if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Case> cases;
  for (const auto& file : files) {
    for (const Script& script : ReadScripts(file.string())) {
      if (script.home != "directory") cases.push_back({script, "memory"});
      if (script.home != "memory") cases.push_back({script, "directory"});
    }
  }
  return cases;
}

std::string NameOf(const ::testing::TestParamInfo<Case>& info) {
  std::string name = std::filesystem::path(info.param.script.file).stem().string() + "_" +
                     info.param.script.name + "_" + info.param.home;
  for (char& letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  }
  return name;
}

class Conformance : public ::testing::TestWithParam<Case> {};

TEST_P(Conformance, ScriptGivesWhatItExpects) {
  const pigment::TemporaryDirectory folder;
  const Case& one = GetParam();
  Runner runner(one.home == "memory" ? "" : folder.path() + "/store");
  ASSERT_FALSE(one.script.steps.empty());
  for (const Step& step : one.script.steps) {
    SCOPED_TRACE(one.script.file + ":" + std::to_string(step.line) + ": " + step.json.dump());
    const Answer answer = runner.Execute(step.json);
    if (step.json.contains("error")) {
      const auto why = ErrorMismatch(step.json.at("error"), answer.outcome);
      EXPECT_FALSE(why.has_value()) << *why << ": " << answer.outcome;
      continue;
    }
    ASSERT_TRUE(answer.outcome.ok()) << answer.outcome;
    const auto why = Mismatch(step.json.at("expect"), answer.value);
    EXPECT_FALSE(why.has_value()) << *why;
  }
}

INSTANTIATE_TEST_SUITE_P(Scripts, Conformance, ::testing::ValuesIn(Cases()), NameOf);

// What the comparison itself notices, so that a script that expects something can fail.
TEST(Comparison, TellsMetadataNumbersApartAndToleratesRoundingElsewhere) {
  EXPECT_FALSE(Mismatch(Json::parse(R"({"distances":[0.1]})"),
                        Json::parse(R"({"distances":[0.100000001]})")));
  EXPECT_TRUE(
      Mismatch(Json::parse(R"({"distances":[0.1]})"), Json::parse(R"({"distances":[0.2]})")));
  EXPECT_TRUE(Mismatch(Json::parse(R"({"metadatas":[{"a":1}]})"),
                       Json::parse(R"({"metadatas":[{"a":1.0}]})")));
  EXPECT_TRUE(Mismatch(Json::parse(R"({"metadatas":[{"a":1}]})"),
                       Json::parse(R"({"metadatas":[{"a":1,"b":2}]})")));
  EXPECT_TRUE(
      Mismatch(Json::parse(R"({"uris":{"$absent":true}})"), Json::parse(R"({"uris":null})")));
  EXPECT_TRUE(Mismatch(Json::parse(R"(["a"])"), Json::parse(R"(["a","b"])")));
  EXPECT_TRUE(Mismatch(Json::parse(R"({"a":1})"), Json::parse(R"({})")));
  EXPECT_FALSE(Mismatch(Json::parse(R"({"a":{"$any":true}})"), Json::parse(R"({"a":[1]})")));
}

}  // namespace
}  // namespace conformance

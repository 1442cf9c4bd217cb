// SPDX-License-Identifier: Apache-2.0
//
// --json, of every command that `pigment --help` lists: when it succeeds, when it fails, and when
// its command line is wrong.

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>

#include "pigment/pigment.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/run_tool.h"

namespace {

using tool_test::Ran;
using tool_test::RunTool;
using tool_test::WriteFile;

// In both, "{}" is the folder of the test.
struct Use {
  std::string good;  // what it is given where it succeeds; empty: not here
  std::string bad;   // and where it fails; empty: it does not fail
  int status;        // with this
};

// In their order: each finds what those before have made.
const std::map<std::string, Use> kUses = {
    {"backup", {"{}/db {}/copy", "{}/none {}/other", PIGMENT_NOT_FOUND}},
    {"bench", {"--records 200 --dimension 8 --queries 5", "{}/none", PIGMENT_UNAVAILABLE}},
    {"browse", {"", "{}/db", PIGMENT_FAILED_PRECONDITION}},  // without a terminal
    {"check", {"{}/db", "{}/none", PIGMENT_NOT_FOUND}},
    {"compact", {"{}/db", "{}/none", PIGMENT_NOT_FOUND}},
    {"copy", {"{}/db docs {}/new", "{}/none docs {}/new", PIGMENT_NOT_FOUND}},
    {"count", {"{}/db docs", "{}/db nobody", PIGMENT_NOT_FOUND}},
    {"create", {"{}/db more", "{}/db docs", PIGMENT_ALREADY_EXISTS}},
    {"delete", {"{}/db docs --id nobody", "{}/none docs --id a", PIGMENT_NOT_FOUND}},
    {"explain",
     {"{}/db docs --vector '[1,2]'", "{}/db docs --vector '[1]'", PIGMENT_INVALID_ARGUMENT}},
    {"export", {"{}/db docs {}/out.jsonl", "{}/none docs {}/none.jsonl", PIGMENT_NOT_FOUND}},
    {"facets", {"{}/db docs n", "{}/db nobody n", PIGMENT_NOT_FOUND}},
    {"get", {"{}/db docs", "{}/db docs --where '{'", PIGMENT_INVALID_ARGUMENT}},
    {"import", {"{}/db docs {}/data.jsonl", "{}/db docs {}/none.jsonl", PIGMENT_NOT_FOUND}},
    {"import-chroma", {"", "{}/none {}/new", PIGMENT_NOT_FOUND}},  // check_import_chroma.py
    {"list", {"{}/db", "{}/none", PIGMENT_NOT_FOUND}},
    {"manual", {"man", "", 0}},
    {"migrations", {"{}/db", "{}/none", PIGMENT_NOT_FOUND}},
    {"query", {"{}/db docs --vector '[1,2]'", "{}/db docs --text x", PIGMENT_FAILED_PRECONDITION}},
    {"repair", {"{}/db {}/repaired", "{}/none {}/other", PIGMENT_NOT_FOUND}},
    {"search", {"{}/db texts fish", "{}/db docs fish", PIGMENT_FAILED_PRECONDITION}},
    {"segments", {"{}/db", "{}/none", PIGMENT_NOT_FOUND}},
    {"stats", {"{}/db", "{}/none", PIGMENT_NOT_FOUND}},
    {"viz", {"{}/db docs {}/page.html", "{}/db docs {}/none/page.html", PIGMENT_UNAVAILABLE}},
};

class Json : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteFile(folder_ / "data.jsonl",
              "{\"id\":\"a\",\"document\":\"a red fish\",\"metadata\":{\"n\":1},"
              "\"embedding\":[1,0]}\n{\"id\":\"b\",\"embedding\":[0,1]}\n");
    ASSERT_EQ(RunTool(In("import {}/db docs {}/data.jsonl --create")).status, 0);
    ASSERT_EQ(RunTool(In("create {}/db texts --configuration "
                         "'{\"text_index\":{\"analyzer\":{\"language\":\"english\"}}}'"))
                  .status,
              0);
  }
  // The text with the folder in place of "{}", where that is a word's beginning.
  std::string In(std::string text) const {
    for (size_t at = 0; (at = text.find("{}/", at)) != std::string::npos;)
      text.replace(at, 2, folder_.path());
    return text;
  }
  pigment::TemporaryDirectory folder_;
};

std::set<std::string> CommandsOfTheHelp() {
  std::istringstream help(RunTool("--help").output);
  std::set<std::string> commands;
  bool is_list = false;
  for (std::string line; std::getline(help, line);) {
    if (is_list && line.starts_with("  ") && line[2] != ' ')
      commands.insert(line.substr(2, line.find(' ', 2) - 2));
    is_list |= line.starts_with("Subcommands:");
  }
  return commands;
}

TEST_F(Json, EveryCommandIsTriedHere) {
  std::set<std::string> tried;
  for (const auto& [command, use] : kUses) tried.insert(command);
  EXPECT_EQ(tried, CommandsOfTheHelp());
}

TEST_F(Json, EveryCommandIsInTheGuide) {
  const std::string guide =
      tool_test::ReadFile(std::string(PIGMENT_SOURCE_DIR) + "/docs/operations.md");
  ASSERT_FALSE(guide.empty());
  for (const std::string& command : CommandsOfTheHelp()) {
    bool is_there = false;
    for (const std::string before : {"`pigment ", "`"}) {
      for (const char end : {' ', '`'})
        is_there |= guide.find(before + command + end) != std::string::npos;
    }
    EXPECT_TRUE(is_there) << "docs/operations.md lacks pigment " << command;
  }
}

TEST_F(Json, IsAllThatACommandPrints) {
  for (const auto& [command, use] : kUses) {
    if (use.good.empty()) continue;
    const Ran ran = RunTool(command + " --json " + In(use.good));
    EXPECT_EQ(ran.status, 0) << command << ": " << ran.output;
    const auto parsed = nlohmann::json::parse(ran.output, nullptr, false);
    EXPECT_TRUE(parsed.is_object() || parsed.is_array()) << command << " prints " << ran.output;
  }
}

TEST_F(Json, SaysWhyACommandFailsWithItsExitStatus) {
  for (const auto& [command, use] : kUses) {
    if (use.bad.empty()) continue;
    const Ran ran = RunTool(command + " --json " + In(use.bad));
    EXPECT_EQ(ran.status, use.status) << command << ": " << ran.output;
    const auto parsed = nlohmann::json::parse(ran.output, nullptr, false);
    ASSERT_TRUE(parsed.is_object()) << command << " prints " << ran.output;
    const auto& error = parsed.at("error");
    EXPECT_EQ(error.at("status"), use.status) << command;
    EXPECT_EQ(error.at("name"), pigment_status_name(use.status)) << command;
    EXPECT_FALSE(error.at("message").get<std::string>().empty()) << command;
  }
}

TEST_F(Json, SaysWhatIsWrongWithTheCommandLine) {
  for (const auto& [command, use] : kUses) {
    for (const char* const wrong : {" --json --nonsense", " --nonsense --json"}) {
      const Ran ran = RunTool(command + wrong);
      EXPECT_EQ(ran.status, 2) << command << ": " << ran.output;
      const auto parsed = nlohmann::json::parse(ran.output, nullptr, false);
      ASSERT_TRUE(parsed.is_object()) << command << " prints " << ran.output;
      EXPECT_EQ(parsed.at("error").at("status"), 2) << command;
      EXPECT_EQ(parsed.at("error").at("name"), "usage") << command;
      EXPECT_FALSE(parsed.at("error").at("message").get<std::string>().empty()) << command;
    }
  }
  EXPECT_EQ(RunTool("nonsense --json").json().at("error").at("status"), 2);
  EXPECT_EQ(RunTool("check --help --json").status, 0);
  EXPECT_FALSE(nlohmann::json::accept(RunTool("check -- --json --nonsense").output));
}

}  // namespace

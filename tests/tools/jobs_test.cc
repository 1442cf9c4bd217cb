// SPDX-License-Identifier: Apache-2.0
//
// kill -9 of an import, an export and a copy; then the same command goes on and gives what it would
// have given. And what a terminal sees.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "pigment/pigment.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/run_tool.h"

namespace {

using tool_test::Ran;
using tool_test::ReadFile;
using tool_test::RunTool;
using tool_test::WriteFile;

constexpr int kRecords = 20'000;
constexpr std::chrono::microseconds kLong(50'000);  // of what syncs often
constexpr std::chrono::microseconds kShort(10'000);
constexpr int kAfresh = 50;

pid_t Start(const std::vector<std::string>& arguments) {
  const pid_t child = fork();
  if (child != 0) return child;
  std::vector<char*> argv = {const_cast<char*>(PIGMENT_TOOL)};
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(PIGMENT_TOOL, argv.data());
  _exit(127);
}

bool HasFileWith(const std::string& folder, const std::string& part) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (name.find(part) != std::string::npos && !name.ends_with(".new")) return true;
  }
  return false;
}

class Jobs : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    made_ = new pigment::TemporaryDirectory();
    std::string lines;
    for (int i = 0; i < kRecords; ++i) {
      const std::string n = std::to_string(i);
      lines += "{\"id\":\"id" + n + "\",\"document\":\"document " + n +
               "\",\"metadata\":{\"n\":" + n + "},\"embedding\":[" + n + ",0.5," +
               std::to_string(i % 97) + "]}\n";
    }
    WriteFile(*made_ / "data.jsonl", lines);
    ASSERT_EQ(RunTool("import " + *made_ / "db" + " docs " + *made_ / "data.jsonl --create").status,
              0);
    ASSERT_EQ(RunTool("export " + *made_ / "db" + " docs " + *made_ / "whole.jsonl").status, 0);
  }
  static void TearDownTestSuite() { delete made_; }

  // Kills the command a random time after it saved how far it is; then runs it to its end. Returns
  // how often it was killed. One that ends before its first kill starts afresh.
  int KillOftenThenRun(const std::string& file_of_job, std::chrono::microseconds delay_max,
                       const std::vector<std::string>& arguments, Ran* last) {
    std::random_device entropy;
    const unsigned seed = entropy();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const std::set<std::string> before = Names();
    int kills = 0;
    for (int life = 0, afresh = 0; life < 4; ++life) {
      const pid_t child = Start(arguments);
      int status = 0;
      while (waitpid(child, &status, WNOHANG) == 0 && !HasFileWith(folder_.path(), file_of_job)) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      std::this_thread::sleep_for(
          std::chrono::microseconds(random() % static_cast<unsigned>(delay_max.count())));
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ++kills;
      if (HasFileWith(folder_.path(), file_of_job)) continue;
      if (kills > 0 || ++afresh == kAfresh) break;
      for (const auto& name : Names()) {
        if (!before.contains(name)) std::filesystem::remove_all(at(name));
      }
      life = -1;
    }
    std::string command;
    for (const auto& argument : arguments) command += argument + " ";
    *last = RunTool(command);
    return kills;
  }
  std::string at(const std::string& name) const { return folder_ / name; }
  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      names.insert(entry.path().filename());
    }
    return names;
  }

  static pigment::TemporaryDirectory* made_;
  pigment::TemporaryDirectory folder_;
};
pigment::TemporaryDirectory* Jobs::made_ = nullptr;

TEST_F(Jobs, AnImportGoesOnWhereItWasKilled) {
  Ran last;
  const int kills = KillOftenThenRun(
      "db.import-", kLong,
      {"import", at("db"), "docs", *made_ / "data.jsonl", "--create", "--json"}, &last);
  ASSERT_GT(kills, 0);
  ASSERT_EQ(last.status, 0) << last.output;
  EXPECT_GT(last.json().at("resumed_at"), 0) << last.output;
  EXPECT_EQ(last.json().at("read"), kRecords);
  EXPECT_FALSE(HasFileWith(folder_.path(), "db.import-")) << "the job is forgotten";
  ASSERT_EQ(RunTool("export " + at("db") + " docs " + at("all.jsonl")).status, 0);
  EXPECT_TRUE(ReadFile(at("all.jsonl")) == ReadFile(*made_ / "whole.jsonl"));
  EXPECT_EQ(RunTool("check " + at("db")).status, 0);
}

TEST_F(Jobs, AnExportGoesOnWhereItWasKilled) {
  Ran last;
  const int kills = KillOftenThenRun(
      ".part.job", kShort, {"export", *made_ / "db", "docs", at("all.jsonl"), "--json"}, &last);
  ASSERT_GT(kills, 0);
  ASSERT_EQ(last.status, 0) << last.output;
  EXPECT_GT(last.json().at("resumed_at"), 0) << last.output;
  EXPECT_TRUE(ReadFile(at("all.jsonl")) == ReadFile(*made_ / "whole.jsonl"));
  EXPECT_FALSE(HasFileWith(folder_.path(), ".part"));
}

TEST_F(Jobs, AnExportWithAMatrixGoesOnWhereItWasKilled) {
  ASSERT_EQ(RunTool("export " + *made_ / "db" + " docs " + at("one.jsonl") + " --embeddings " +
                    at("one.npy"))
                .status,
            0);
  Ran last;
  const int kills = KillOftenThenRun(
      ".part.job", kShort,
      {"export", *made_ / "db", "docs", at("all.jsonl"), "--embeddings", at("all.npy")}, &last);
  ASSERT_GT(kills, 0);
  ASSERT_EQ(last.status, 0) << last.output;
  EXPECT_TRUE(ReadFile(at("all.jsonl")) == ReadFile(at("one.jsonl")));
  EXPECT_TRUE(ReadFile(at("all.npy")) == ReadFile(at("one.npy")));
}

TEST_F(Jobs, AnExportToArrowGoesOnWhereItWasKilled) {
  ASSERT_EQ(RunTool("export " + *made_ / "db" + " docs " + at("one.arrow")).status, 0);
  Ran last;
  const int kills = KillOftenThenRun(".part.job", kShort,
                                     {"export", *made_ / "db", "docs", at("all.arrow")}, &last);
  ASSERT_GT(kills, 0);
  ASSERT_EQ(last.status, 0) << last.output;
  EXPECT_TRUE(ReadFile(at("all.arrow")) == ReadFile(at("one.arrow")));
}

TEST_F(Jobs, AnImportOfArrowGoesOnWhereItWasKilled) {
  ASSERT_EQ(RunTool("export " + *made_ / "db" + " docs " + at("data.arrow")).status, 0);
  Ran last;
  const int kills = KillOftenThenRun(
      "db.import-", kLong, {"import", at("db"), "docs", at("data.arrow"), "--create"}, &last);
  ASSERT_GT(kills, 0);
  ASSERT_EQ(last.status, 0) << last.output;
  ASSERT_EQ(RunTool("export " + at("db") + " docs " + at("all.jsonl")).status, 0);
  EXPECT_TRUE(ReadFile(at("all.jsonl")) == ReadFile(*made_ / "whole.jsonl"));
}

TEST_F(Jobs, ACopyGoesOnWhereItWasKilled) {
  Ran last;
  const int kills = KillOftenThenRun("to.copy-", kLong,
                                     {"copy", *made_ / "db", "docs", at("to"), "--json"}, &last);
  ASSERT_GT(kills, 0);
  ASSERT_EQ(last.status, 0) << last.output;
  EXPECT_EQ(last.json().at("records"), kRecords);
  ASSERT_EQ(RunTool("export " + at("to") + " docs " + at("all.jsonl")).status, 0);
  EXPECT_TRUE(ReadFile(at("all.jsonl")) == ReadFile(*made_ / "whole.jsonl"));
}

TEST_F(Jobs, AnInterruptedImportSaysHowItGoesOn) {
  const pid_t child = Start({"import", at("db"), "docs", *made_ / "data.jsonl", "--create"});
  while (!HasFileWith(folder_.path(), "db.import-"))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  ASSERT_EQ(WEXITSTATUS(status), 130);
  const Ran last = RunTool("import --json " + at("db") + " docs " + *made_ / "data.jsonl");
  EXPECT_GT(last.json().at("resumed_at"), 0) << last.output;
  EXPECT_EQ(last.json().at("inserted"), kRecords) << "of both runs";
  EXPECT_EQ(RunTool("count " + at("db") + " docs").output, std::to_string(kRecords) + "\n");
}

TEST_F(Jobs, ADamagedFileOfAJobIsNone) {
  Ran last;
  const pid_t child = Start({"import", at("db"), "docs", *made_ / "data.jsonl", "--create"});
  while (!HasFileWith(folder_.path(), "db.import-"))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    if (entry.path().filename().string().find("db.import-") == std::string::npos) continue;
    const std::string whole = ReadFile(entry.path());
    WriteFile(entry.path(), whole.substr(0, whole.size() / 2));
  }
  last = RunTool("import --json " + at("db") + " docs " + *made_ / "data.jsonl");
  EXPECT_EQ(last.json().at("resumed_at"), 0) << last.output;
  EXPECT_EQ(RunTool("count " + at("db") + " docs").output, std::to_string(kRecords) + "\n");
}

TEST_F(Jobs, ATerminalSeesRateAndTimeLeft) {
  const Ran ran =
      tool_test::RunOnTerminal({"import", at("db"), "docs", *made_ / "data.jsonl", "--create"});
  EXPECT_EQ(ran.status, 0) << ran.output;
  for (const char* const part : {"import [", "#", " left", "/s", "100 %", "  in 0:"}) {
    EXPECT_NE(ran.output.find(part), std::string::npos) << part << " is not in: " << ran.output;
  }
}

}  // namespace

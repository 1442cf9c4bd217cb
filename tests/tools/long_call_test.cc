// SPDX-License-Identifier: Apache-2.0
//
// Long calls of the library: what a terminal sees of them, and that an interrupt ends them.

#include "tools/long_call.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/effort.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/run_tool.h"

namespace {

using tool_test::Ran;
using tool_test::RunOnTerminal;
using tool_test::RunTool;

pigment_progress Phase(const char* phase, const char* unit, uint64_t done, uint64_t total) {
  return {.struct_size = sizeof(pigment_progress),
          .phase = phase,
          .unit = unit,
          .done = done,
          .total = total};
}

TEST(LongCall, APhaseIsPrintedWithItsShareAndTheTimeLeft) {
  using pigment_tool::PrintPhase;
  EXPECT_EQ(PrintPhase("check", Phase("records", "rows", 2'500, 10'000), 4),
            "check: records [######..................] 25 %  2500 of 10000 rows  0:12 left");
  EXPECT_EQ(PrintPhase("backup", Phase("segments", "bytes", 0, 100), 4),
            "backup: segments [........................] 0 %  0 of 100 bytes");
  EXPECT_EQ(PrintPhase("backup", Phase("segments", "bytes", 100, 100), 4),
            "backup: segments [########################] 100 %  100 of 100 bytes  0:00 left");
  EXPECT_EQ(PrintPhase("compact", Phase("index", "rows", 0, 0), 65), "compact: index  1:05");
}

class LongCalls : public ::testing::Test {
 protected:
  // A store whose full check takes seconds.
  static void SetUpTestSuite() {
    made_ = new pigment::TemporaryDirectory();
    std::string lines;
    for (int i = 0; i < kRecords; ++i) {
      lines += "{\"id\":\"id" + std::to_string(i) + "\",\"embedding\":[" + std::to_string(i) +
               ",1," + std::to_string(i % 7) + "]}\n";
    }
    tool_test::WriteFile(*made_ / "data.jsonl", lines);
    const Ran made =
        RunTool("import " + *made_ / "db" + " docs " + *made_ / "data.jsonl" + " --create");
    ASSERT_EQ(made.status, 0) << made.output;
  }
  static void TearDownTestSuite() { delete made_; }

  static constexpr int kRecords = pigment::Rounds(16'384);
  static pigment::TemporaryDirectory* made_;
};
pigment::TemporaryDirectory* LongCalls::made_ = nullptr;

TEST_F(LongCalls, ATerminalSeesHowFarACheckIs) {
  const Ran ran = RunOnTerminal({"check", "--full", *made_ / "db"});
  EXPECT_EQ(ran.status, 0) << ran.output;
  for (const char* const part : {"\rcheck: search [", " rows  ", " left", "the store is whole"})
    EXPECT_NE(ran.output.find(part), std::string::npos) << part << " is not in: " << ran.output;
  const Ran piped = RunTool("check " + *made_ / "db");
  EXPECT_EQ(piped.output.find("check: "), std::string::npos) << "only a terminal is drawn on";
}

TEST_F(LongCalls, AnInterruptEndsThem) {
  const Ran ran = RunOnTerminal({"check", "--full", *made_ / "db"}, "check: search [");
  EXPECT_EQ(ran.status, 130) << ran.output;
  EXPECT_NE(ran.output.find("cancelled"), std::string::npos) << ran.output;
}

}  // namespace

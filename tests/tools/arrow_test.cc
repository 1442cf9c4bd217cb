// SPDX-License-Identifier: Apache-2.0
//
// Files of Arrow in and out of the command line: there and back without a bit lost, files that
// pyarrow wrote (tests/tools/arrow), and files that are damaged.

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "tests/support/effort.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/run_tool.h"
#include "tools/arrow/reader.h"
#include "tools/session.h"

namespace {

using tool_test::Ran;
using tool_test::ReadFile;
using tool_test::RunTool;
using tool_test::WriteFile;

const std::string kFixtures = PIGMENT_SOURCE_DIR "/tests/tools/arrow/";

class ArrowFiles : public ::testing::Test {
 protected:
  std::string at(const std::string& name) const { return folder_ / name; }
  // What the file holds, as lines of JSON.
  std::string Lines(const std::string& file) {
    const std::string db = at("db" + std::to_string(stores_++));
    const Ran made = RunTool("import " + db + " docs " + file + " --create");
    EXPECT_EQ(made.status, 0) << made.output;
    const std::string lines = at("lines.jsonl");
    const Ran written = RunTool("export --restart " + db + " docs " + lines);
    EXPECT_EQ(written.status, 0) << written.output;
    return ReadFile(lines);
  }

  pigment::TemporaryDirectory folder_;
  int stores_ = 0;
};

TEST_F(ArrowFiles, AreTheSameToTheBitAfterExportAndImport) {
  std::string lines;
  for (int i = 0; i < 2'500; ++i) {
    lines += R"({"id":"r)" + std::to_string(i) + R"(","embedding":[)" + std::to_string(i) +
             R"(.25,-1e-30,3.4e38])";
    if (i % 3 != 0) lines += R"(,"document":"a \"text\" of )" + std::to_string(i) + R"( ü 文")";
    if (i % 4 != 0) lines += R"(,"metadata":{"n":)" + std::to_string(i) + R"(,"x":0.5})";
    if (i % 5 == 0) lines += R"(,"uri":"file:)" + std::to_string(i) + "\"";
    lines += "}\n";
  }
  WriteFile(at("data.jsonl"), lines);
  ASSERT_EQ(RunTool("import " + at("db") + " docs " + at("data.jsonl") + " --create").status, 0);
  const Ran written = RunTool("export --json " + at("db") + " docs " + at("data.arrow"));
  ASSERT_EQ(written.status, 0) << written.output;
  EXPECT_EQ(written.json().at("records"), 2'500);
  ASSERT_EQ(RunTool("export " + at("db") + " docs " + at("whole.jsonl")).status, 0);
  EXPECT_TRUE(Lines(at("data.arrow")) == ReadFile(at("whole.jsonl")));
}

TEST_F(ArrowFiles, OfNoRecordsAreFiles) {
  ASSERT_EQ(RunTool("create " + at("db") + " docs").status, 0);
  ASSERT_EQ(RunTool("export " + at("db") + " docs " + at("none.arrow")).status, 0);
  EXPECT_EQ(Lines(at("none.arrow")), "");
}

TEST_F(ArrowFiles, OfPyarrowAreRead) {
  const auto parsed = [](const std::string& lines) {
    std::vector<nlohmann::json> records;
    std::istringstream stream(lines);
    for (std::string line; std::getline(stream, line);)
      records.push_back(nlohmann::json::parse(line));
    return records;
  };
  const auto expected = parsed(ReadFile(kFixtures + "expected.jsonl"));
  ASSERT_EQ(expected.size(), 5u);
  for (const char* const name :
       {"large.arrow", "small.arrow", "small.arrows", "lists.arrow", "halves.arrow"})
    EXPECT_EQ(parsed(Lines(kFixtures + name)), expected) << name;
}

TEST_F(ArrowFiles, ThatCannotBeReadAreRefusedByName) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"compressed.arrow", "is compressed"},
      {"unknown.arrow", "column \"colour\" is none that a record has"},
      {"no_id.arrow", "has no column \"id\""},
      {"dictionary.arrow", "column \"uri\" is a dictionary"},
      {"text_vector.arrow", "column \"embedding\": lists of numbers are wanted"},
      {"null_id.arrow", "row 1: the id is null"},
      {"null_number.arrow", "a number is null"},
  };
  for (const auto& [name, words] : cases) {
    const Ran ran = RunTool("import " + at("db") + " docs " + kFixtures + name + " --create");
    EXPECT_EQ(ran.status, PIGMENT_INVALID_ARGUMENT) << name;
    EXPECT_NE(ran.output.find(words), std::string::npos) << name << ": " << ran.output;
  }
  WriteFile(at("no.arrow"), "{\"id\":\"a\"}\n");
  EXPECT_NE(
      RunTool("import " + at("db") + " docs " + at("no.arrow")).output.find("no file of Arrow"),
      std::string::npos);
  EXPECT_EQ(RunTool("import " + at("db") + " docs " + at("missing.arrow")).status,
            PIGMENT_NOT_FOUND);
  EXPECT_EQ(
      RunTool("export " + at("db") + " docs " + at("a.arrow") + " --embeddings " + at("b.npy"))
          .status,
      PIGMENT_INVALID_ARGUMENT);
}

// Reads to the end or to a refusal.
size_t RecordsOf(const std::string& path) {
  size_t records = 0;
  try {
    pigment_tool::ArrowReader reader(path);
    for (pigment_tool::Record record; reader.Next(record);) ++records;
  } catch (const pigment_tool::Failure&) {
  }
  return records;
}

TEST_F(ArrowFiles, OfAnyLengthAndWithAnyByteChangedAreReadOrRefused) {
  for (const char* const name : {"small.arrow", "lists.arrow"}) {
    const std::string whole = ReadFile(kFixtures + name);
    ASSERT_GT(whole.size(), 500u);
    constexpr size_t kStep = pigment::kIsSanitized ? 5 : 1;  // each takes ten times as long there
    for (size_t size = 1; size < whole.size(); size += kStep) {
      WriteFile(at("cut.arrow"), whole.substr(0, size));
      RecordsOf(at("cut.arrow"));
    }
    for (size_t byte = 0; byte < whole.size(); byte += kStep) {
      for (const unsigned char change : {0x01, 0x80, 0xFF}) {
        std::string damaged = whole;
        damaged[byte] = static_cast<char>(damaged[byte] ^ static_cast<char>(change));
        WriteFile(at("damaged.arrow"), damaged);
        ASSERT_LT(RecordsOf(at("damaged.arrow")), 100'000u) << name << ", byte " << byte;
      }
    }
  }
}

}  // namespace

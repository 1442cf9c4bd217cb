// SPDX-License-Identifier: Apache-2.0
//
// The command line as people run it: exit statuses, tables and JSON.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/c_api/abi.h"
#include "tests/support/temporary_directory.h"
#include "tests/tools/run_tool.h"

namespace {

using tool_test::Ran;
using tool_test::RunTool;

class Tools : public ::testing::Test {
 protected:
  void SetUp() override {
    abi_test::Client client;
    ASSERT_TRUE(abi_test::Open(db(), &client).ok());
    abi_test::Collection docs;
    ASSERT_TRUE(abi_test::Create(client.get(), "docs", &docs).ok());
    for (int flush = 0; flush < 2; ++flush) {
      abi_test::Batch batch;
      batch.documents.emplace();
      for (int i = 0; i < 50; ++i) {
        batch.ids.Add("id" + std::to_string(flush * 50 + i));
        batch.documents->Add("document " + std::to_string(i));
        batch.values.insert(batch.values.end(), {static_cast<float>(i), 1.0f, 2.0f});
      }
      batch.dimension = 3;
      ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs.get(), batch).ok());
      ASSERT_TRUE(abi_test::Try(pigment_collection_flush, docs.get()).ok());
    }
    ASSERT_TRUE(abi_test::Try(pigment_client_close, client.get()).ok());
  }
  std::string db() const { return folder_ / "db"; }
  std::string at(const std::string& name) const { return folder_ / name; }

  // Turns a byte of each block of the first segment.
  void Damage() {
    for (const auto& entry : std::filesystem::directory_iterator(db() + "/segments")) {
      if (entry.path().extension() != ".seg") continue;
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(100);
      const int byte = file.get();
      file.seekp(100);
      file.put(static_cast<char>(byte ^ 0x55));
      return;
    }
  }

  pigment::TemporaryDirectory folder_;
};

TEST_F(Tools, SegmentsAreListedAsTableAndAsJson) {
  const Ran table = RunTool("segments " + db());
  EXPECT_EQ(table.status, 0) << table.output;
  EXPECT_NE(table.output.find("live rows"), std::string::npos) << table.output;
  EXPECT_NE(table.output.find("docs"), std::string::npos) << table.output;
  const Ran json = RunTool("segments --json " + db() + " docs");
  ASSERT_EQ(json.status, 0) << json.output;
  uint64_t rows = 0;
  for (const auto& segment : json.json()) rows += segment.at("live_rows").get<uint64_t>();
  EXPECT_EQ(rows, 100u);
  EXPECT_EQ(RunTool("segments " + db() + " nobody").status, PIGMENT_NOT_FOUND);
}

TEST_F(Tools, StatisticsAndMigrationsAreShown) {
  const Ran stats = RunTool("stats --json " + db());
  ASSERT_EQ(stats.status, 0) << stats.output;
  EXPECT_EQ(stats.json().at("catalog").at("collections"), 1);
  EXPECT_GT(stats.json().at("formats").at("log"), 0);
  EXPECT_EQ(RunTool("stats " + db()).status, 0);
  const Ran migrations = RunTool("migrations --json " + db());
  ASSERT_EQ(migrations.status, 0) << migrations.output;
  EXPECT_TRUE(migrations.json().is_array());
  EXPECT_EQ(RunTool("migrations " + db()).status, 0);
}

TEST_F(Tools, ACheckFindsDamageAndRepairSavesTheRest) {
  const Ran whole = RunTool("check " + db());
  EXPECT_EQ(whole.status, 0) << whole.output;
  EXPECT_NE(whole.output.find("the store is whole"), std::string::npos) << whole.output;
  Damage();
  const Ran damaged = RunTool("check --full " + db());
  EXPECT_EQ(damaged.status, 1) << damaged.output;
  EXPECT_NE(damaged.output.find(".seg at"), std::string::npos) << damaged.output;
  EXPECT_GT(RunTool("check --json " + db()).json().at("errors"), 0);
  const Ran repaired = RunTool("repair --json " + db() + " " + at("new"));
  EXPECT_TRUE(repaired.status == 0 || repaired.status == 1) << repaired.output;
  EXPECT_EQ(repaired.json().at("lossless").get<bool>(), repaired.status == 0);
  EXPECT_EQ(repaired.json().at("collections").at(0).at("name"), "docs");
  EXPECT_EQ(RunTool("check --full " + at("new")).status, 0);
  EXPECT_EQ(RunTool("repair " + db() + " " + at("new")).status, PIGMENT_ALREADY_EXISTS);
}

TEST_F(Tools, ABackupIsMadeBesideAWriter) {
  abi_test::Client writer;
  ASSERT_TRUE(abi_test::Open(db(), &writer).ok());
  const Ran backup = RunTool("backup " + db() + " " + at("copy"));
  EXPECT_EQ(backup.status, 0) << backup.output;
  EXPECT_EQ(RunTool("check " + at("copy")).status, 0);
  EXPECT_EQ(RunTool("backup " + db() + " " + at("copy")).status, PIGMENT_ALREADY_EXISTS);
  EXPECT_EQ(RunTool("compact " + db()).status, PIGMENT_FAILED_PRECONDITION);
}

TEST_F(Tools, ACompactionSaysWhatItDid) {
  const Ran compacted = RunTool("compact --json " + db());
  ASSERT_EQ(compacted.status, 0) << compacted.output;
  const auto docs = compacted.json().at(0);
  EXPECT_EQ(docs.at("records"), 100);
  EXPECT_EQ(docs.at("segments_in"), 2);
  EXPECT_EQ(docs.at("segments_out"), 1);
  EXPECT_EQ(RunTool("check --full " + db()).status, 0);
}

TEST_F(Tools, TheCommandLineIsChecked) {
  EXPECT_EQ(RunTool("").status, 2);
  EXPECT_EQ(RunTool("nonsense").status, 2);
  EXPECT_EQ(RunTool("check").status, 2);
  EXPECT_EQ(RunTool("--help").status, 0);
  EXPECT_NE(RunTool("--version").output.find(pigment_version()), std::string::npos);
  EXPECT_EQ(RunTool("check " + at("missing")).status, PIGMENT_NOT_FOUND);
  const Ran missing = RunTool("stats " + at("missing"));
  EXPECT_EQ(missing.status, PIGMENT_NOT_FOUND);
  EXPECT_NE(missing.output.find("store \"" + at("missing") + "\" does not exist"),
            std::string::npos)
      << missing.output;
}

}  // namespace

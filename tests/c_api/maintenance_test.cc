// SPDX-License-Identifier: Apache-2.0
//
// Backup, check, repair, compaction, segments, statistics and contains through the interface.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/c_api/abi.h"
#include "tests/support/json.h"
#include "tests/support/temporary_directory.h"

namespace {

using abi_test::kNoOptions;
using abi_test::Outcome;
using abi_test::Sized;
using abi_test::Try;

class MaintenanceAbi : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(abi_test::Open(folder_ / "db", &client_).ok());
    ASSERT_TRUE(abi_test::Create(client_.get(), "docs", &docs_).ok());
    Add(0, 30);
    ASSERT_TRUE(Try(pigment_collection_flush, docs_.get()).ok());
    Add(30, 40);
    ASSERT_TRUE(Try(pigment_collection_flush, docs_.get()).ok());
    Add(40, 45);
  }
  void Add(int begin, int end) {
    abi_test::Batch batch;
    for (int i = begin; i < end; ++i) {
      batch.ids.Add("id" + std::to_string(i));
      batch.values.insert(batch.values.end(), {static_cast<float>(i), 1.0f});
    }
    batch.dimension = 2;
    ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs_.get(), batch).ok());
  }
  template <typename Function, typename... Arguments>
  nlohmann::json Json(Function function, Arguments... arguments) {
    pigment_buffer* buffer = nullptr;
    const Outcome outcome = Try(function, arguments..., &buffer);
    EXPECT_TRUE(outcome.ok()) << outcome;
    const abi_test::Buffer owned(buffer);
    return nlohmann::json::parse(outcome.ok() ? abi_test::Text(buffer) : "null");
  }
  nlohmann::json Check(const std::string& path) {
    return Json(pigment_check, path.data(), path.size(), true, kNoOptions);
  }

  pigment::TemporaryDirectory folder_;
  abi_test::Client client_;
  abi_test::Collection docs_;
};

TEST_F(MaintenanceAbi, ContainsAnswersEachId) {
  const abi_test::Texts ids{"id0", "nobody", "id44", "id0", "id39"};
  const pigment_text_column column = ids.column();
  std::vector<uint8_t> present(5, 9);
  ASSERT_TRUE(
      Try(pigment_collection_contains, docs_.get(), size_t{5}, &column, kNoOptions, present.data())
          .ok());
  EXPECT_EQ(present, (std::vector<uint8_t>{1, 0, 1, 1, 1}));
  auto stale = Sized<pigment_call_options>();
  stale.min_position = 1000;
  const pigment_call_options* const options = &stale;
  const Outcome outcome =
      Try(pigment_collection_contains, docs_.get(), size_t{5}, &column, options, present.data());
  EXPECT_EQ(outcome.detail, PIGMENT_DETAIL_STALE) << outcome;
}

TEST_F(MaintenanceAbi, SegmentsAreListedAndCompacted) {
  const auto before = Json(pigment_collection_segments, docs_.get());
  ASSERT_EQ(before.size(), 2u);
  EXPECT_EQ(before[0].at("kind"), "flat");
  EXPECT_EQ(before[0].at("rows"), 30);
  EXPECT_EQ(before[0].at("live_rows"), 30);
  EXPECT_GT(before[0].at("bytes"), 0);
  auto done = Sized<pigment_compaction>();
  ASSERT_TRUE(Try(pigment_collection_compact, docs_.get(), kNoOptions, &done).ok());
  EXPECT_EQ(done.records, 45u);
  EXPECT_EQ(done.segments_out, 1u);
  EXPECT_GE(done.segments_in, 2u);
  EXPECT_GT(done.bytes_before, 0u);
  EXPECT_GT(done.bytes_after, 0u);
  EXPECT_EQ(Json(pigment_collection_segments, docs_.get()).size(), 1u);
  pigment_compaction* const none = nullptr;
  EXPECT_TRUE(Try(pigment_client_compact, client_.get(), kNoOptions, none).ok());
}

void DamageSegments(const std::filesystem::path& folder) {
  int damaged = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().parent_path().filename() != "segments" || !entry.is_regular_file()) continue;
    abi_test::DamageBlocks(entry.path());
    ++damaged;
  }
  ASSERT_GT(damaged, 0);
}

TEST_F(MaintenanceAbi, ACompactionGoesOnPastACollectionThatFails) {
  docs_.reset();
  client_.reset();
  DamageSegments(folder_ / "db");
  ASSERT_TRUE(abi_test::Open(folder_ / "db", &client_).ok());
  // Sound ones, with names before and behind, so that whoever comes last is compacted.
  abi_test::Collection others[2];
  for (const int i : {0, 1}) {
    ASSERT_TRUE(abi_test::Create(client_.get(), i == 0 ? "aaa" : "zzz", &others[i]).ok());
    docs_.swap(others[i]);
    Add(0, 10);
    ASSERT_TRUE(Try(pigment_collection_flush, docs_.get()).ok());
    Add(10, 20);
    ASSERT_TRUE(Try(pigment_collection_flush, docs_.get()).ok());
    docs_.swap(others[i]);
  }
  for (int round = 0; round < 2; ++round) {
    auto done = Sized<pigment_compaction>();
    const Outcome outcome = Try(pigment_client_compact, client_.get(), kNoOptions, &done);
    EXPECT_EQ(outcome.status, PIGMENT_DATA_LOSS) << outcome;
    EXPECT_NE(outcome.file, "") << outcome;
    for (const auto& sound : others)
      EXPECT_EQ(Json(pigment_collection_segments, sound.get()).size(), 1u);
  }
}

TEST_F(MaintenanceAbi, StatisticsTellOfLogCatalogAndFormats) {
  const auto statistics = Json(pigment_client_statistics, client_.get());
  EXPECT_EQ(statistics.at("version"), pigment_version());
  EXPECT_EQ(statistics.at("position"), 3);
  EXPECT_EQ(statistics.at("log").at("sync_mode"), "full");
  EXPECT_EQ(statistics.at("log").at("position"), 3);
  EXPECT_EQ(statistics.at("catalog").at("collections"), 1);
  for (const char* format : {"log", "catalog", "block", "segment", "deletions"}) {
    EXPECT_GT(statistics.at("formats").at(format), 0) << format;
  }
  EXPECT_TRUE(statistics.at("migrations").is_array());
  EXPECT_TRUE(statistics.at("maintenance").contains("merges"));
  EXPECT_TRUE(statistics.at("memory").contains("used_bytes"));
}

// Those of the first release with them, which stay; a new one is added here with the next.
TEST_F(MaintenanceAbi, NoMemberOfStatisticsGoes) {
  const auto statistics = Json(pigment_client_statistics, client_.get());
  for (const char* const member : {"/version",
                                   "/read_only",
                                   "/position",
                                   "/log/sync_mode",
                                   "/log/position",
                                   "/log/synced_position",
                                   "/log/files",
                                   "/log/bytes",
                                   "/log/allocated_bytes",
                                   "/log/batches",
                                   "/log/refused_batches",
                                   "/log/groups",
                                   "/log/syncs",
                                   "/log/sync_ns",
                                   "/log/waiting_calls",
                                   "/log/purges",
                                   "/log/purged_files",
                                   "/log/erased_bytes",
                                   "/log/poison",
                                   "/catalog/collections",
                                   "/catalog/bytes",
                                   "/catalog/loaded_collections",
                                   "/catalog/shelved_collections",
                                   "/catalog/shelved_bytes",
                                   "/catalog/waiting_batches",
                                   "/memory/used_bytes",
                                   "/memory/limit_bytes",
                                   "/memory/tail_bytes",
                                   "/maintenance/merges",
                                   "/maintenance/failures",
                                   "/maintenance/rows",
                                   "/maintenance/bytes",
                                   "/maintenance/running",
                                   "/maintenance/queued",
                                   "/maintenance/waiting_writers",
                                   "/maintenance/writer_waits",
                                   "/maintenance/last_error",
                                   "/formats/log",
                                   "/formats/catalog",
                                   "/formats/block",
                                   "/formats/segment",
                                   "/formats/deletions",
                                   "/migrations"}) {
    EXPECT_TRUE(statistics.contains(nlohmann::json::json_pointer(member))) << member;
  }
}

TEST_F(MaintenanceAbi, ABackupIsAStoreOfItsOwn) {
  const std::string copy = folder_ / "copy";
  const auto summary =
      Json(pigment_client_backup, client_.get(), copy.data(), copy.size(), kNoOptions);
  EXPECT_EQ(summary.at("position"), 3);
  EXPECT_EQ(summary.at("collections"), 1);
  Add(45, 50);
  abi_test::Client client;
  ASSERT_TRUE(abi_test::Open(copy, &client).ok());
  abi_test::Collection docs;
  ASSERT_TRUE(abi_test::GetByName(client.get(), "docs", &docs).ok());
  uint64_t count = 0;
  ASSERT_TRUE(abi_test::Count(docs.get(), &count).ok());
  EXPECT_EQ(count, 45u);
  pigment_buffer** const no_json = nullptr;
  const Outcome again =
      Try(pigment_client_backup, client_.get(), copy.data(), copy.size(), kNoOptions, no_json);
  EXPECT_EQ(again.status, PIGMENT_ALREADY_EXISTS) << again;
}

TEST_F(MaintenanceAbi, CheckAndRepairTellWhatIsDamaged) {
  const auto open = Json(pigment_client_check, client_.get(), true, kNoOptions);
  EXPECT_TRUE(open.at("clean").get<bool>()) << open.dump(2);
  EXPECT_EQ(open.at("totals").at("live_rows"), 45);
  EXPECT_EQ(open.at("position"), 3);
  EXPECT_TRUE(Check(folder_ / "db").at("clean").get<bool>());
  docs_.reset();
  ASSERT_TRUE(Try(pigment_client_close, client_.get()).ok());
  client_.reset();
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "db/segments")) {
    if (entry.path().extension() != ".seg") continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(200);
    file.put('\x7f');
    file.put('\x01');
  }
  const auto damaged = Check(folder_ / "db");
  EXPECT_FALSE(damaged.at("clean").get<bool>());
  EXPECT_GE(damaged.at("errors"), 2) << "one for each segment: " << damaged.dump(2);
  EXPECT_EQ(damaged.at("findings")[0].at("detail"), PIGMENT_DETAIL_CHECKSUM);
  const std::string from = folder_ / "db", to = folder_ / "new";
  const auto report =
      Json(pigment_repair, from.data(), from.size(), to.data(), to.size(), kNoOptions);
  EXPECT_EQ(report.at("catalog"), "whole");
  EXPECT_EQ(report.at("collections").size(), 1u);
  EXPECT_FALSE(report.at("messages").empty());
  EXPECT_TRUE(Check(to).at("clean").get<bool>());
  const std::string missing = folder_ / "missing";
  pigment_buffer* json = nullptr;
  EXPECT_EQ(Try(pigment_check, missing.data(), missing.size(), false, kNoOptions, &json).status,
            PIGMENT_NOT_FOUND);
}

TEST_F(MaintenanceAbi, ACancelledCallSaysSo) {
  pigment_cancel* raw = nullptr;
  ASSERT_TRUE(Try(pigment_cancel_new, &raw).ok());
  const abi_test::Cancel cancel(raw);
  pigment_cancel_set(cancel.get());
  auto given = Sized<pigment_call_options>();
  given.cancel = cancel.get();
  const pigment_call_options* const options = &given;
  pigment_buffer* json = nullptr;
  const std::string copy = folder_ / "copy";
  EXPECT_EQ(Try(pigment_client_check, client_.get(), true, options, &json).status,
            PIGMENT_CANCELLED);
  EXPECT_EQ(
      Try(pigment_client_backup, client_.get(), copy.data(), copy.size(), options, &json).status,
      PIGMENT_CANCELLED);
}

TEST_F(MaintenanceAbi, OpenOptionsOfTheFirstAbiAreStillTaken) {
  pigment_open_options options{};
  options.struct_size = offsetof(pigment_open_options, reserve_bytes);
  options.background_threads = -77;  // beyond what such a caller knows
  abi_test::Client client;
  EXPECT_TRUE(abi_test::Open("", &client, &options).ok());
  options.struct_size = sizeof options;
  const Outcome refused = abi_test::Open("", &client, &options);
  EXPECT_EQ(refused.status, PIGMENT_INVALID_ARGUMENT) << refused;
  options.background_threads = -1;
  EXPECT_TRUE(abi_test::Open("", &client, &options).ok());
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
//
// What a check finds, of whole stores and damaged ones, open and closed.

#include "engine/collection/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "engine/base/bytes.h"
#include "engine/catalog/catalog_state.h"
#include "tests/support/backup_workload.h"
#include "tests/support/effort.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

CheckReport CheckAt(BackupWorld& world, const std::string& path, bool full = true) {
  CheckOptions options;
  options.files = &world.files();
  options.full = full;
  return CheckStore(path, options).value();
}

std::string Print(const CheckReport& report) {
  std::string text;
  for (const CheckFinding& finding : report.findings) {
    text += std::string(CheckSeverityName(finding.severity)) + " " + finding.file + ": " +
            finding.message + "\n";
  }
  return text;
}

void Turn(MemoryFileSystem& files, const std::string& path, uint64_t offset) {
  const auto file = files.Open(path, OpenMode::kReadWrite).value();
  std::byte byte[1];
  ASSERT_OK(file->ReadAt(offset, byte));
  byte[0] ^= std::byte{0x20};
  ASSERT_OK(file->WriteAt(offset, byte));
}

TEST(Check, OfAWholeStoreIsCleanOpenOrCopied) {
  for (uint64_t seed = 1; seed <= AtEffort(20); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    BackupWorld world(seed);
    const uint64_t live =
        world.model("busy").records().size() + world.model("cold").records().size();
    const auto open = world.store().Check();
    ASSERT_OK(open);
    EXPECT_TRUE(open->is_clean()) << Print(*open);
    EXPECT_EQ(open->totals.live_rows, live);
    EXPECT_EQ(open->totals.collections, 2u);
    EXPECT_EQ(open->position, world.store().position());
    ASSERT_OK(world.Backup("copy"));
    const CheckReport copied = CheckAt(world, "copy");
    EXPECT_TRUE(copied.is_clean()) << Print(copied);
    EXPECT_EQ(copied.warnings, 0u) << Print(copied);
    EXPECT_EQ(copied.totals.live_rows, live);
    EXPECT_EQ(copied.position, world.store().position());
    EXPECT_GT(copied.totals.rows_queried, 0u);
    EXPECT_GT(copied.totals.log_batches, 0u);
  }
}

TEST(Check, OfADirectoryWithoutAStoreIsNotFound) {
  MemoryFileSystem files;
  CheckOptions options;
  options.files = &files;
  EXPECT_EQ(CheckStore("nothing", options).status().code(), Code::kNotFound);
}

TEST(Check, ChangesNoByte) {
  BackupWorld world(3);
  ASSERT_OK(world.Backup("copy"));
  const uint64_t before = world.files().CountOperations(kChangingFileOperations);
  CheckAt(world, "copy");
  ASSERT_OK(world.store().Check());
  EXPECT_EQ(world.files().CountOperations(kChangingFileOperations), before);
}

// Every damaged byte is found, or the store answers as before.
TEST(Check, FindsDamageWhereverItMatters) {
  BackupWorld world(5);
  ASSERT_OK(world.Backup("copy"));
  uint64_t turned = 0, found = 0;
  for (const char* folder : {"copy", "copy/log", "copy/segments"}) {
    for (const std::string& name : world.files().List(folder).value()) {
      const std::string path = std::string(folder) + "/" + name;
      const auto file = world.files().Open(path, OpenMode::kRead);
      if (!file.ok()) continue;  // a folder
      const uint64_t size = (*file)->Size().value();
      const uint64_t step = std::max<uint64_t>(1, size / AtEffort(60));
      for (uint64_t offset = 0; offset < size; offset += step) {
        Turn(world.files(), path, offset);
        const CheckReport report = CheckAt(world, "copy", false);
        if (report.is_clean()) {
          EXPECT_EQ(world.DifferenceOfCopyReadOnly("copy"), "") << path << " at " << offset;
        } else {
          ++found;
        }
        Turn(world.files(), path, offset);
        ++turned;
      }
    }
  }
  EXPECT_GT(found, turned / 2);
  ExpectFloor("damaged bytes checked", turned, 150);
  EXPECT_TRUE(CheckAt(world, "copy").is_clean());
}

TEST(Check, ReportsEverythingAndNotTheFirstError) {
  BackupWorld world(7);
  ASSERT_OK(world.Backup("copy"));
  std::vector<std::string> damaged;
  for (const std::string& name : world.files().List("copy/segments").value()) {
    damaged.push_back("copy/segments/" + name);
    Turn(world.files(), damaged.back(), name.ends_with(".seg") ? 300 : 50);
  }
  ASSERT_GE(damaged.size(), 2u);
  damaged.push_back("copy/log/0000000001.log");
  Turn(world.files(), damaged.back(), 100);
  const CheckReport report = CheckAt(world, "copy");
  for (const std::string& path : damaged) {
    EXPECT_TRUE(std::any_of(report.findings.begin(), report.findings.end(),
                            [&](const CheckFinding& each) { return each.file == path; }))
        << path << "\n"
        << Print(report);
  }
  EXPECT_GE(report.errors, damaged.size());
}

TEST(Check, TellsMissingForeignAndUnreferencedFilesApart) {
  BackupWorld world(9);
  ASSERT_OK(world.Backup("copy"));
  (void)world.files().Open("copy/segments/77777.seg", OpenMode::kCreate).value();
  (void)world.files().Open("copy/segments/notes.txt", OpenMode::kCreate).value();
  (void)world.files().Open("copy/readme", OpenMode::kCreate).value();
  const CheckReport extra = CheckAt(world, "copy");
  EXPECT_TRUE(extra.is_clean()) << Print(extra);
  EXPECT_EQ(extra.warnings, 1u) << Print(extra);
  EXPECT_EQ(extra.findings.size(), 3u) << Print(extra);
  const std::string lost = world.files().List("copy/segments").value().front();
  ASSERT_OK(world.files().Remove("copy/segments/" + lost));
  const CheckReport missing = CheckAt(world, "copy");
  EXPECT_TRUE(std::any_of(missing.findings.begin(), missing.findings.end(),
                          [](const CheckFinding& each) { return each.detail == Detail::kMissing; }))
      << Print(missing);
}

// A catalog that names one segment twice: each checksum is right, and the ids live in two places.
TEST(Check, FindsIdsThatLiveTwiceAndCountsThatDiffer) {
  BackupWorld world(11);
  ASSERT_OK(world.Backup("copy"));
  CatalogState state;
  Uuid store;
  {
    const auto catalog = Catalog::Open(&world.files(), "copy", true).value();
    store = catalog->store();
    ASSERT_OK(state.ApplySnapshot(AsBytes(catalog->EncodeState())));
    for (CollectionEntry entry : catalog->AllCollections()) {
      if (entry.name == "busy") entry.segments.push_back(entry.segments.front());
      if (entry.name == "cold") ++entry.segments.front().rows;
      ASSERT_OK(state.Apply(AsBytes(CatalogState::PutCollection(entry))));
    }
  }
  for (const std::string& name : world.files().List("copy").value()) {
    if (name.starts_with("CATALOG")) ASSERT_OK(world.files().Remove("copy/" + name));
  }
  ASSERT_OK(WriteCatalog(&world.files(), "copy", store, state.EncodeSnapshot()));
  const std::string text = Print(CheckAt(world, "copy"));
  EXPECT_NE(text.find("lives in two places"), std::string::npos) << text;
  EXPECT_NE(text.find("the catalog says"), std::string::npos) << text;
}

TEST(Check, OfAnOpenStoreIsCleanWhileItIsWrittenTo) {
  MemoryFileSystem files;
  StoreOptions options;
  options.flush_rows_max = 64;
  const auto store = Store::Open("db", options, &files).value();
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  for (int i = 0; i < 2; ++i) {
    writers.emplace_back([&, i] {
      BatchMaker maker(static_cast<uint64_t>(i) + 1, 3, 60);
      const auto docs = store->CreateCollection(EntryNamed("docs" + std::to_string(i))).value();
      while (!stop) EXPECT_OK(docs->Write(maker.Batch(6)));
    });
  }
  for (uint64_t i = 0; i < AtEffort(20); ++i) {
    const auto inside = store->Check();
    ASSERT_OK(inside);
    EXPECT_TRUE(inside->is_clean()) << Print(*inside);
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
}

}  // namespace
}  // namespace pigment

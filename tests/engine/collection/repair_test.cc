// SPDX-License-Identifier: Apache-2.0
//
// Repair: a whole store stays what it is; of a damaged one everything that can be read is there,
// and nothing that never was.

#include "engine/collection/repair.h"

#include <gtest/gtest.h>

#include <random>

#include "engine/collection/check.h"
#include "tests/support/backup_workload.h"
#include "tests/support/effort.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

Result<RepairReport> RepairAt(BackupWorld& world, const std::string& from, const std::string& to) {
  RepairOptions options;
  options.from_files = &world.files();
  options.to_files = &world.files();
  return RepairStore(from, to, options);
}

std::string Print(const RepairReport& report) {
  std::string text;
  for (const std::string& message : report.messages) text += message + "\n";
  return text;
}

std::vector<std::string> FilesOf(BackupWorld& world, const std::string& path) {
  std::vector<std::string> paths;
  for (const char* folder : {"/log", "/segments", ""}) {
    for (const std::string& name : world.files().List(path + folder).value()) {
      if (name == "log" || name == "segments" || name == "LOCK") continue;
      paths.push_back(path + folder + "/" + name);
    }
  }
  return paths;
}

TEST(Repair, OfAWholeStoreIsAnEqualStore) {
  for (uint64_t seed = 1; seed <= AtEffort(20); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    BackupWorld world(seed);
    ASSERT_OK(world.Backup("copy"));
    const auto report = RepairAt(world, "copy", "new");
    ASSERT_OK(report);
    EXPECT_TRUE(report->is_lossless()) << Print(*report);
    EXPECT_TRUE(report->messages.empty()) << Print(*report);
    EXPECT_EQ(report->collections.size(), 2u);
    EXPECT_EQ(report->position, world.store().position());
    EXPECT_EQ(world.DifferenceOfCopy("new"), "");
  }
}

std::string Invented(const Version& version, std::map<std::string, BackupWorld::Given>& given) {
  GetRequest request;
  request.read.include = {true, true, true, true, false};
  const auto result = Get(version, request);
  if (!result.ok()) return result.status().ToString();
  for (size_t row = 0; row < result->query_offsets.back(); ++row) {
    const std::string id = *TextAt(result->ids, row);
    const BackupWorld::Given& known = given[id];
    const auto begin = result->embeddings.begin() + static_cast<ptrdiff_t>(row * result->dimension);
    if (!known.embeddings.contains({begin, begin + static_cast<ptrdiff_t>(result->dimension)})) {
      return "id " + id + " has a vector that nobody wrote";
    }
    if (!known.documents.contains(TextAt(result->documents, row))) {
      return "id " + id + " has a document that nobody wrote";
    }
  }
  return "";
}

// One random act of damage.
std::string Damage(BackupWorld& world, const std::string& path, std::mt19937_64& random) {
  const auto paths = FilesOf(world, path);
  const std::string victim = paths[random() % paths.size()];
  const auto file = world.files().Open(victim, OpenMode::kReadWrite).value();
  const uint64_t size = file->Size().value();
  const uint64_t at = size == 0 ? 0 : random() % size;
  switch (random() % 4) {
    case 0:
      EXPECT_OK(world.files().Remove(victim));
      return victim + " removed";
    case 1:
      EXPECT_OK(file->Truncate(at));
      return victim + " cut at " + std::to_string(at);
    default: {
      std::vector<std::byte> noise(std::min<uint64_t>(size - at, 1 + random() % 600));
      for (std::byte& byte : noise) byte = static_cast<std::byte>(random());
      EXPECT_OK(file->WriteAt(at, noise));
      return victim + " overwritten at " + std::to_string(at);
    }
  }
}

TEST(Repair, KeepsWhatCanBeReadAndInventsNothing) {
  uint64_t repairs = 0, lossless = 0;
  for (uint64_t seed = 1; seed <= AtEffort(150); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    BackupWorld world(seed % 10 + 1);
    ASSERT_OK(world.Backup("copy"));
    std::string acts;
    for (uint64_t left = random() % 3; left > 0; --left) {  // a sound store as well
      acts += Damage(world, "copy", random) + "\n";
    }
    SCOPED_TRACE(acts);
    const auto report = RepairAt(world, "copy", "new");
    if (!report.ok()) {
      EXPECT_EQ(report.status().code(), Code::kDataLoss) << report.status().ToString();
      continue;
    }
    ++repairs;
    CheckOptions checking;
    checking.files = &world.files();
    const auto check = CheckStore("new", checking);
    ASSERT_OK(check);
    EXPECT_TRUE(check->is_clean()) << Print(*report);
    // A log that ends between two batches looks like one that was never longer.
    if (report->position < world.store().position() && report->is_log_whole &&
        acts.find(".log cut") != std::string::npos) {
      continue;
    }
    if (report->is_lossless()) {
      ++lossless;
      EXPECT_EQ(world.DifferenceOfCopy("new"), "") << Print(*report);
    }
    StoreOptions reading;
    reading.read_only = true;
    const auto store = Store::Open("new", reading, &world.files()).value();
    for (const CollectionEntry& entry : (*store->catalog())->AllCollections()) {
      const auto version = (*store->GetCollectionById(entry.id))->Pin();
      ASSERT_OK(version);
      EXPECT_EQ(Invented(**version, world.given()), "") << Print(*report);
    }
    // Where only rows were lost, everything else is there.
    if (report->catalog != RepairReport::CatalogState::kWhole || report->log_batches_lost > 0 ||
        !report->is_log_whole || report->shelf_records_lost > 0) {
      continue;
    }
    for (const RepairedCollection& each : report->collections) {
      const auto version = (*store->GetCollection({}, each.name))->Pin().value();
      EXPECT_GE(version->live_rows + each.rows_lost, world.model(each.name).records().size())
          << each.name << "\n"
          << Print(*report);
    }
  }
  ExpectFloor("repairs of damaged stores", repairs, 100);
  if (repairs < 50) return;  // at a small effort chance has the say
  EXPECT_GT(lossless, 0u);
  EXPECT_LT(lossless, repairs);
}

// Of a segment in which each part has blocks of its own.
TEST(Repair, LosesTheRowsOfDamagedBlocksAlone) {
  MemoryFileSystem files;
  StoreOptions options;
  options.background_threads = 0;
  CollectionModel model;
  std::string path;
  uint64_t bytes = 0;
  {
    const auto store = Store::Open("db", options, &files).value();
    const auto docs = store->CreateCollection(EntryNamed("docs")).value();
    BatchMaker maker(1, 16, 4000);  // more rows than one block says the places of
    const auto segment = FillManyBlocks(*docs, maker, 60, model);
    ASSERT_OK(segment);
    path = segment->path;
    bytes = segment->bytes;
    ASSERT_OK(store->Close());
  }
  const uint64_t rows = model.records().size();
  const uint64_t blocks = bytes / kBlockBytes;
  const auto turn = [&](uint64_t block) {
    const auto file = files.Open(path, OpenMode::kReadWrite).value();
    std::byte byte[1];
    ASSERT_OK(file->ReadAt(block * kBlockBytes + 1000, byte));
    byte[0] ^= std::byte{4};
    ASSERT_OK(file->WriteAt(block * kBlockBytes + 1000, byte));
  };
  // The last one is the root.
  for (uint64_t block = 0; block + 1 < blocks; block += kIsSanitized ? 4 : 1) {
    SCOPED_TRACE(block);
    turn(block);
    const std::string target = "new-" + std::to_string(block);
    RepairOptions repair;
    repair.from_files = repair.to_files = &files;
    const auto report = RepairStore("db", target, repair);
    ASSERT_OK(report);
    ASSERT_EQ(report->collections.size(), 1u);
    const uint64_t lost = report->collections[0].rows_lost;
    const auto store = Store::Open(target, options, &files).value();
    const auto version = (*store->GetCollection({}, "docs"))->Pin().value();
    EXPECT_EQ(version->live_rows + lost, rows);
    EXPECT_LT(lost, rows);
    GetRequest request;
    request.read.include = {true, true, true, true, false};
    const auto all = Get(*version, request);
    ASSERT_OK(all);
    for (size_t row = 0; row < all->query_offsets.back(); ++row) {
      ASSERT_EQ(DifferenceOfRow(*all, row, model.records().at(*TextAt(all->ids, row))), "");
    }
    turn(block);
  }
  turn(blocks - 1);
  RepairOptions repair;
  repair.from_files = repair.to_files = &files;
  const auto report = RepairStore("db", "new", repair);
  ASSERT_OK(report);
  EXPECT_EQ(report->collections[0].rows_lost, rows);
}

TEST(Repair, BuildsCollectionsWhenTheCatalogIsLost) {
  BackupWorld world(4);
  ASSERT_OK(world.Backup("copy"));
  for (const std::string& name : world.files().List("copy").value()) {
    if (name.starts_with("CATALOG")) EXPECT_OK(world.files().Remove("copy/" + name));
  }
  const auto report = RepairAt(world, "copy", "new");
  ASSERT_OK(report);
  EXPECT_EQ(report->catalog, RepairReport::CatalogState::kLost);
  EXPECT_FALSE(report->is_lossless());
  EXPECT_FALSE(report->collections.empty());
  uint64_t rows = 0;
  for (const RepairedCollection& each : report->collections) {
    EXPECT_TRUE(each.is_recovered);
    EXPECT_TRUE(each.name.starts_with("recovered-")) << each.name;
    rows += each.rows;
  }
  EXPECT_GT(rows, 0u);
}

TEST(Repair, NeverTouchesTheDamagedStore) {
  BackupWorld world(6);
  ASSERT_OK(world.Backup("copy"));
  std::mt19937_64 random(6);
  Damage(world, "copy", random);
  world.files().StartTrace();
  (void)RepairAt(world, "copy", "new").ok();
  for (const std::string& line : world.files().TakeTrace()) {
    EXPECT_EQ(line.find(" copy"), std::string::npos) << line;
  }
  EXPECT_EQ(RepairAt(world, "nothing", "newer").status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// Backups beside writers, of copies, of memory, and into places that are taken.

#include "engine/collection/backup.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>

#include "engine/collection/check.h"
#include "tests/support/backup_workload.h"
#include "tests/support/effort.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

// One writer's collection: its batches and where in the log each landed.
struct Writer {
  std::string name;
  std::vector<std::pair<uint64_t, WriteBatch>> batches;
};

void WriteUntil(const std::atomic<bool>& stop, Store& store, uint64_t seed, Writer& writer) {
  BatchMaker maker(seed, 3, 40);
  const auto collection = store.CreateCollection(EntryNamed(writer.name)).value();
  while (!stop) {
    WriteBatch batch = maker.Batch(6);
    const auto outcome = collection->Write(batch);
    ASSERT_TRUE(outcome.ok()) << outcome.status().ToString();
    writer.batches.emplace_back(outcome->position, std::move(batch));
    if (!maker.Chance(5)) continue;
    ASSERT_TRUE(collection->Flush().ok());
  }
}

void ExpectStateAt(uint64_t position, const std::string& copy, const std::vector<Writer>& writers) {
  const auto store = Store::Open(copy, {}).value();
  EXPECT_EQ(store->position(), position);
  for (const Writer& writer : writers) {
    SCOPED_TRACE(writer.name);
    CollectionModel model;
    for (const auto& [at, batch] : writer.batches) {
      if (at <= position) model.Apply(batch);
    }
    const auto collection = store->GetCollection({}, writer.name);
    if (!collection.ok()) {
      EXPECT_TRUE(model.records().empty());
      continue;
    }
    EXPECT_EQ(DifferenceOfAll(**collection, model), "");
  }
}

TEST(Backup, IsTheStateAtItsPositionWhileFourThreadsWrite) {
  TemporaryDirectory directory;
  StoreOptions options;
  options.flush_rows_max = 64;
  options.sync_mode = SyncMode::kOff;
  const auto store = Store::Open(directory / "db", options).value();
  std::vector<Writer> writers(4);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (size_t i = 0; i < writers.size(); ++i) {
    writers[i].name = "writer" + std::to_string(i);
    threads.emplace_back([&, i] { WriteUntil(stop, *store, i + 1, writers[i]); });
  }
  threads.emplace_back([&] {  // the catalog goes on too
    for (int i = 0; !stop; ++i) {
      const auto made = store->CreateCollection(EntryNamed("passing")).value();
      WriteBatch batch = BatchMaker(static_cast<uint64_t>(i), 3, 9).Batch(3);
      (void)made->Write(batch).ok();
      ASSERT_OK(store->DeleteCollection({}, "passing"));
    }
  });
  std::vector<std::pair<std::string, uint64_t>> copies;
  for (uint64_t i = 0; i < AtEffort(12); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::string copy = directory / "copy" + std::to_string(i);
    const auto backup = store->Backup(copy);
    EXPECT_TRUE(backup.ok()) << backup.status().ToString();
    if (backup.ok()) copies.emplace_back(copy, backup->position);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  for (const auto& [copy, position] : copies) ExpectStateAt(position, copy, writers);
  EXPECT_EQ(copies.size(), AtEffort(12));
}

TEST(Backup, OfABackupIsTheSameStore) {
  BackupWorld world(5);
  ASSERT_OK(world.Backup("first"));
  BackupOptions options;
  options.files = &world.files();
  {
    const auto first = Store::Open("first", {}, &world.files()).value();
    const auto second = first->Backup("second", options);
    ASSERT_OK(second);
    EXPECT_EQ(second->position, world.store().position());
    EXPECT_EQ((*first->catalog())->store(), (*world.store().catalog())->store());
  }
  EXPECT_EQ(world.DifferenceOfCopy("second"), "");
}

TEST(Backup, TakesShelvesAlong) {
  BackupWorld world(5);
  ASSERT_OK(world.Backup("copy"));
  const std::vector<std::string> names = world.files().List("copy/segments").value();
  EXPECT_TRUE(std::any_of(names.begin(), names.end(),
                          [](const std::string& name) { return name.ends_with(".shelf"); }));
  EXPECT_EQ(world.DifferenceOfCopy("copy"), "");
}

// Each part has blocks of its own, numbered within it.
TEST(Backup, OfSegmentsOfManyBlocksIsTheSameAndKnowsEachBlocksPlace) {
  MemoryFileSystem files;
  StoreOptions options;
  options.background_threads = 0;
  const auto store = Store::Open("db", options, &files).value();
  CollectionModel model;
  const auto docs = store->CreateCollection(EntryNamed("docs")).value();
  BatchMaker maker(1, 24, 3000);
  const auto segment = FillManyBlocks(*docs, maker, 60, model);
  ASSERT_OK(segment);
  const uint64_t blocks = segment->bytes / kBlockBytes;
  BackupOptions backup;
  backup.files = &files;
  ASSERT_OK(store->Backup("copy", backup));
  {
    const auto copy = Store::Open("copy", options, &files).value();
    EXPECT_EQ(DifferenceOfAll(**copy->GetCollection({}, "docs"), model), "");
  }
  CheckOptions checking;
  checking.files = &files;
  checking.full = true;
  const auto check = CheckStore("copy", checking);
  ASSERT_OK(check);
  EXPECT_TRUE(check->is_clean()) << check->findings.front().message;
  EXPECT_EQ(check->totals.rows_queried, model.records().size());

  // One block in another's place, of the same part or of another: valid in itself.
  const auto file = files.Open(segment->path, OpenMode::kReadWrite).value();
  std::vector<std::byte> all(segment->bytes);
  ASSERT_OK(file->ReadAt(0, all));
  for (uint64_t to = 0; to + 1 < blocks; ++to) {
    const uint64_t from = (to + 1 + to % 3) % (blocks - 1);
    ASSERT_OK(
        file->WriteAt(to * kBlockBytes, std::span(all).subspan(from * kBlockBytes, kBlockBytes)));
    const Status status = store->Backup("damaged", backup).status();
    EXPECT_EQ(status.code(), Code::kDataLoss) << "block " << from << " at " << to;
    EXPECT_EQ(status.offset(), static_cast<int64_t>(to * kBlockBytes)) << status.ToString();
    ASSERT_OK(
        file->WriteAt(to * kBlockBytes, std::span(all).subspan(to * kBlockBytes, kBlockBytes)));
  }
  ASSERT_OK(store->Backup("damaged", backup));
}

TEST(Backup, OfAStoreInMemoryGoesToDisk) {
  TemporaryDirectory directory;
  const auto store = Store::Open(std::nullopt, {}).value();
  BatchMaker maker(1, 3, 30);
  CollectionModel model;
  const auto docs = store->CreateCollection(EntryNamed("docs")).value();
  for (int i = 0; i < 20; ++i) {
    const WriteBatch batch = maker.Batch(8);
    docs->Write(batch).value();
    model.Apply(batch);
    if (i != 10) continue;
    ASSERT_OK(docs->Flush());
  }
  const auto backup = store->Backup(directory / "copy");
  ASSERT_OK(backup);
  EXPECT_GT(backup->files, 1u);
  EXPECT_GT(backup->bytes, 0u);
  const auto copy = Store::Open(directory / "copy", {}).value();
  EXPECT_EQ(DifferenceOfAll(*copy->GetCollection({}, "docs").value(), model), "");
}

TEST(Backup, OfAReadOnlyStoreIsWhatTheReaderSees) {
  BackupWorld world(7);
  const auto fresh = world.Backup("source");
  ASSERT_OK(fresh);
  StoreOptions options;
  options.read_only = true;
  const auto reader = Store::Open("source", options, &world.files()).value();
  BackupOptions target;
  target.files = &world.files();
  ASSERT_OK(reader->Backup("copy", target));
  EXPECT_EQ(world.DifferenceOfCopy("copy"), "");
}

TEST(Backup, RefusesAPlaceThatIsTaken) {
  BackupWorld world(9);
  ASSERT_OK(world.Backup("copy"));
  EXPECT_EQ(world.Backup("copy").status().code(), Code::kAlreadyExists);
  EXPECT_EQ(world.Backup("db").status().code(), Code::kAlreadyExists);
  ASSERT_OK(world.files().MakeDirectory("home"));
  (void)world.files().Open("home/letter", OpenMode::kCreate).value();
  const Status taken = world.Backup("home").status();
  EXPECT_EQ(taken.code(), Code::kFailedPrecondition);
  EXPECT_NE(taken.message().find("letter"), std::string::npos);
  EXPECT_EQ(world.files().List("home").value(), std::vector<std::string>{"letter"});
  ASSERT_OK(world.files().MakeDirectory("empty"));
  ASSERT_OK(world.Backup("empty"));
  EXPECT_EQ(world.DifferenceOfCopy("empty"), "");
}

TEST(Backup, AnUnfinishedOneSaysSoAndIsNoNewStore) {
  BackupWorld world(11);
  world.files().SetFault(FileFault{
      .operations = static_cast<uint32_t>(FileOperation::kWrite), .at = 3, .forever = true});
  EXPECT_FALSE(world.Backup("copy").ok());
  world.files().SetFault(std::nullopt);
  const auto opened = Store::Open("copy", {}, &world.files());
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.status().code(), Code::kFailedPrecondition);
  EXPECT_NE(opened.status().message().find("not finished"), std::string::npos);
  ASSERT_OK(world.Backup("copy"));
  EXPECT_EQ(world.DifferenceOfCopy("copy"), "");
}

TEST(Backup, CanBeCancelled) {
  BackupWorld world(13);
  CancelToken cancel;
  cancel.Set();
  BackupOptions options;
  options.files = &world.files();
  options.control.cancel = &cancel;
  EXPECT_EQ(world.store().Backup("copy", options).status().code(), Code::kCancelled);
  EXPECT_FALSE(world.Opens("copy"));
}

}  // namespace
}  // namespace pigment

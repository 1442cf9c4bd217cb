// SPDX-License-Identifier: Apache-2.0
//
// What one might take for granted of the machine below a store and is not: that there is room on
// the disk, that it may be written to, that memory is enough for a table entry of everything.

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/memory_files.h"
#include "engine/collection/store.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

constexpr uint32_t kDimension = 16;

StoreOptions SmallTails() {
  StoreOptions options;
  options.background_threads = 0;
  options.flush_rows_max = 40;
  options.log_file_bytes_max = 16 << 10;
  options.reserve_bytes = 64 << 10;
  return options;
}

TEST(StorageAssumptions, TheDiskMayFillUpAtAnyWrite) {
  for (uint64_t capacity = 96 << 10; capacity <= 480 << 10; capacity += 8 << 10) {
    SCOPED_TRACE(capacity);
    MemoryFileSystem files(MemoryFileSystem::Kind::kSimulated);
    const auto store = Store::Open("db", SmallTails(), &files).value();
    const auto docs = store->CreateCollection(EntryNamed("docs")).value();
    CollectionModel model;
    BatchMaker maker(capacity, kDimension, 4000);
    files.SetCapacity(std::max(capacity, files.used_bytes()));
    uint64_t refused = 0;
    for (int step = 0; step < 4000 && refused < 3; ++step) {
      WriteBatch batch = maker.Batch(20);
      if (batch.kind == WriteKind::kDelete) continue;
      const Status status = docs->Write(batch).status();
      if (status.ok()) {
        model.Apply(batch);
        continue;
      }
      ASSERT_EQ(status.detail(), Detail::kDiskFull) << status.ToString();
      ASSERT_EQ(DifferenceOfAll(*docs, model), "") << "refused, and something of it is there";
      ++refused;
    }
    ASSERT_EQ(refused, 3u);
    WriteBatch erase;
    erase.kind = WriteKind::kDelete;
    for (const auto& [id, record] : model.records()) {
      if (erase.ids.size() < 50) erase.ids.push_back(id);
    }
    ASSERT_OK(docs->Write(erase)) << "a full disk keeps nobody from deleting";
    model.Apply(erase);
    files.SetCapacity(0);
    const WriteBatch more = maker.Batch(20);
    ASSERT_OK(docs->Write(more)) << "there is room again, and nothing was opened again";
    model.Apply(more);
    ASSERT_EQ(DifferenceOfAll(*docs, model), "");
  }
}

TEST(StorageAssumptions, TheDiskMayBecomeReadOnlyAndGoBackToNormal) {
  MemoryFileSystem files(MemoryFileSystem::Kind::kSimulated);
  CollectionModel model;
  BatchMaker maker(1, kDimension, 60);
  auto store = Store::Open("db", SmallTails(), &files).value();
  auto docs = store->CreateCollection(EntryNamed("docs")).value();
  for (int step = 0; step < 30; ++step) {
    const WriteBatch batch = maker.Batch(10);
    ASSERT_OK(docs->Write(batch));
    model.Apply(batch);
  }
  files.SetFault(
      FileFault{.operations = kChangingFileOperations, .forever = true, .error_number = EROFS});
  const Status refused = docs->Write(maker.Batch(10)).status();
  EXPECT_FALSE(refused.ok());
  EXPECT_NE(refused.ToString().find("read-only file system"), std::string::npos)
      << refused.ToString();
  EXPECT_FALSE(store->CreateCollection(EntryNamed("more")).ok());
  EXPECT_EQ(DifferenceOfAll(*docs, model), "");
  (void)store->Close().ok();
  docs.reset();
  store.reset();
  {
    StoreOptions reading = SmallTails();
    reading.read_only = true;
    const auto reader = Store::Open("db", reading, &files);
    ASSERT_OK(reader);
    EXPECT_EQ(DifferenceOfAll(**(*reader)->GetCollection({}, "docs"), model), "");
    EXPECT_FALSE(Store::Open("db", SmallTails(), &files).ok()) << "nobody can write there";
  }
  files.SetFault(std::nullopt);
  store = Store::Open("db", SmallTails(), &files).value();
  docs = store->GetCollection({}, "docs").value();
  const WriteBatch batch = maker.Batch(10);
  ASSERT_OK(docs->Write(batch));
  model.Apply(batch);
  EXPECT_EQ(DifferenceOfAll(*docs, model), "");
}

// Nothing that locks or remembers has an entry for each thing that there is.
TEST(StorageAssumptions, ALittleMemoryServesManyCollectionsAndThreads) {
  constexpr int kThreads = 4, kCollections = 200;
  StoreOptions options = SmallTails();
  options.memory_budget_bytes = 8 << 20;
  MemoryFileSystem files;
  const auto store = Store::Open("db", options, &files).value();
  const auto work = [&](int thread) {
    for (int number = thread; number < kCollections; number += kThreads) {
      const std::string name = "docs-" + std::to_string(number);
      const auto docs = store->CreateCollection(EntryNamed(name)).value();
      BatchMaker maker(static_cast<uint64_t>(number), 64, 100);
      CollectionModel model;
      for (int step = 0; step < 20; ++step) {
        const WriteBatch batch = maker.Batch(10);
        ASSERT_OK(docs->Write(batch));
        model.Apply(batch);
      }
      ASSERT_OK(docs->Flush());
      ASSERT_EQ(DifferenceOfAll(*docs, model), "") << name;
    }
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) threads.emplace_back(work, thread);
  for (std::thread& thread : threads) thread.join();
  for (int number = 0; number < kCollections; ++number) {
    const auto docs = store->GetCollection({}, "docs-" + std::to_string(number)).value();
    ASSERT_OK(docs->Pin());
  }
}

}  // namespace
}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// A hundred thousand collections of one record each: what they cost in time, disk, log and memory,
// and that nothing loads those that nobody asks for. The numbers are promises; they are printed and
// enforced.

#include <gtest/gtest.h>
#include <malloc.h>

#include <chrono>
#include <cstdio>
#include <ctime>

#include "engine/base/memory_files.h"
#include "engine/collection/store.h"
#include "engine/query/search.h"
#include "tests/support/effort.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Bytes of the heap in use. Sanitizers have a heap of their own: 0 there.
double HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks) + static_cast<double>(info.hblkhd);
}

uint64_t BytesBelow(MemoryFileSystem& files, const std::string& directory) {
  uint64_t bytes = 0;
  for (const std::string& name : *files.List(directory)) {
    const auto file = files.Open(directory + "/" + name, OpenMode::kRead);
    if (file.ok()) bytes += *(*file)->Size();
  }
  return bytes;
}

void CopyFiles(MemoryFileSystem& from, MemoryFileSystem& to, const std::string& directory) {
  for (const std::string& name : *from.List(directory)) {
    const auto file = from.Open(directory + "/" + name, OpenMode::kRead);
    if (!file.ok()) continue;  // a folder
    std::vector<std::byte> bytes(*(*file)->Size());
    ASSERT_OK((*file)->ReadAt(0, bytes));
    ASSERT_OK(to.Open(directory + "/" + name, OpenMode::kCreate).value()->WriteAt(0, bytes));
  }
}

WriteBatch OneRecord(size_t number) {
  WriteBatch batch;
  batch.kind = WriteKind::kAdd;
  batch.ids = {"record-" + std::to_string(number)};
  batch.dimension = 8;
  batch.embeddings.assign(8, static_cast<float>(number % 1000));
  batch.metadatas = {
      Metadata{{"number", static_cast<int64_t>(number)}, {"source", std::string("many")}}};
  return batch;
}

std::string NameOf(size_t number) { return "collection-" + std::to_string(number); }

void ExpectRecord(Store& store, size_t number) {
  const auto collection = store.GetCollection({}, NameOf(number));
  ASSERT_OK(collection);
  const auto version = (*collection)->Pin();
  ASSERT_OK(version);
  EXPECT_EQ((*version)->live_rows, 1u);
  GetRequest request;
  request.read.include.metadatas = true;
  request.read.include.embeddings = true;
  const auto result = Get(**version, request);
  ASSERT_OK(result);
  EXPECT_EQ(TextAt(result->ids, 0), "record-" + std::to_string(number));
  EXPECT_EQ(result->embeddings, std::vector<float>(8, static_cast<float>(number % 1000)));
}

TEST(ManyCollections, StayCheapInTimeDiskLogAndMemory) {
  const auto count = std::min<size_t>(100000, AtEffort(100000));
  MemoryFileSystem files(MemoryFileSystem::Kind::kVolatile);
  StoreOptions options;
  options.sync_mode = SyncMode::kOff;
  auto begin = Clock::now();
  {
    const auto store = Store::Open("db", options, &files).value();
    for (size_t i = 0; i < count; ++i) {
      const auto collection = store->CreateCollection(EntryNamed(NameOf(i)));
      ASSERT_OK(collection);
      ASSERT_OK((*collection)->Write(OneRecord(i)));
    }
    std::printf("%zu collections made and written to in %.2f s\n", count, SecondsSince(begin));
    EXPECT_LT(BytesBelow(files, "db/log"), 64u << 20);
    begin = Clock::now();
    ASSERT_OK(store->Close());
    std::printf("closed in %.2f s\n", SecondsSince(begin));
  }
  {
    // A reader changes no file, so that what the heap grows by is the store's.
    options.read_only = true;
    const double heap = HeapBytes();
    begin = Clock::now();
    const auto store = Store::Open("db", options, &files).value();
    const double seconds = SecondsSince(begin);
    const double bytes = (HeapBytes() - heap) / static_cast<double>(count);
    std::printf("opened by a reader in %.3f s, %.0f bytes of memory each\n", seconds, bytes);
    EXPECT_LT(bytes, kIsSanitized ? 1e9 : 400) << "of memory for each collection";
    EXPECT_EQ(store->loading()->loaded_collections, 0u);
    ExpectRecord(*store, count / 2);
  }
  options.read_only = false;
  // Of the processor: what else the machine does meanwhile is not the store's.
  const std::clock_t processor = std::clock();
  const auto store = Store::Open("db", options, &files).value();
  const double open_seconds =
      static_cast<double>(std::clock() - processor) / static_cast<double>(CLOCKS_PER_SEC);
  const uint64_t log_bytes = BytesBelow(files, "db/log");
  const uint64_t bytes = log_bytes + BytesBelow(files, "db") + BytesBelow(files, "db/segments");
  std::printf("opened for writing in %.3f s; %.0f bytes on disk each, log %.1f MiB\n", open_seconds,
              static_cast<double>(bytes) / static_cast<double>(count),
              static_cast<double>(log_bytes) / (1 << 20));
  EXPECT_LT(open_seconds, kIsSanitized ? 60 : 1.5);
  EXPECT_LT(bytes, 1024 * count + (1 << 20));
  EXPECT_LT(log_bytes, 64u << 20);

  begin = Clock::now();
  EXPECT_EQ((*store->catalog())
                ->ListCollections(std::string(kDefaultTenant), std::string(kDefaultDatabase))
                ->size(),
            count);
  std::printf("listed in %.3f s\n", SecondsSince(begin));
  begin = Clock::now();
  for (size_t i = 0; i < 100; ++i) ExpectRecord(*store, i * (count / 100));
  std::printf("first use of 100 in %.2f ms\n", SecondsSince(begin) * 1000);
  EXPECT_LE(store->loading()->loaded_collections, 100u);
  ASSERT_OK(store->GetCollection({}, NameOf(7)).value()->Write(OneRecord(7000000)));
  EXPECT_EQ(store->GetCollection({}, NameOf(7)).value()->Pin().value()->live_rows, 2u);
}

// Without Close: the log has everything, and still nothing is loaded.
TEST(ManyCollections, OpenQuicklyAfterACrashAsWell) {
  const auto count = std::min<size_t>(20000, AtEffort(20000));
  MemoryFileSystem before, files;
  StoreOptions options;
  options.sync_mode = SyncMode::kOff;
  {
    const auto store = Store::Open("db", options, &before).value();
    for (size_t i = 0; i < count; ++i)
      ASSERT_OK(store->CreateCollection(EntryNamed(NameOf(i))).value()->Write(OneRecord(i)));
    for (const char* const directory : {"db", "db/log", "db/segments"}) {
      ASSERT_OK(files.MakeDirectory(directory));
      CopyFiles(before, files, directory);  // as the death of the process leaves them
    }
  }
  const auto begin = Clock::now();
  const auto store = Store::Open("db", options, &files);
  ASSERT_OK(store);
  std::printf("%zu collections opened from their log in %.3f s\n", count, SecondsSince(begin));
  const LoadingStatistics statistics = *(*store)->loading();
  EXPECT_EQ(statistics.collections, count);
  EXPECT_EQ(statistics.waiting_batches, count);
  EXPECT_EQ(statistics.loaded_collections, 0u);
  for (const CollectionEntry& entry : (*(*store)->catalog())->AllCollections())
    ASSERT_EQ(entry.dimension, 8u);  // known without loading
  EXPECT_EQ((*store)->loading()->loaded_collections, 0u);
  ExpectRecord(**store, count / 3);
  EXPECT_EQ((*store)->loading()->loaded_collections, 1u);
  ASSERT_OK((*store)->Close());
}

}  // namespace
}  // namespace pigment

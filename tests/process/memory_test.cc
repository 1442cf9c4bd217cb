// SPDX-License-Identifier: Apache-2.0
//
// Memory of a process that has a store open: little while it is idle, what the budget grants while
// it is used, and no more after many collections than after some.

#include <gtest/gtest.h>
#include <malloc.h>

#include <random>
#include <vector>

#include "engine/collection/store.h"
#include "engine/query/search.h"
#include "tests/process/children.h"
#include "tests/process/resident_bytes.h"
#include "tests/support/effort.h"
#include "tests/support/store_model.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

constexpr uint32_t kMemoryDimension = 384;
constexpr uint32_t kRows = 100000;
constexpr uint32_t kRowsOfBatch = 1000;
constexpr uint64_t kMegabyte = 1000000;
// A thousand collections that each leave 16 bytes behind are found.
constexpr uint64_t kToleranceBytes = 16000;

uint64_t HeapBytes() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

std::string IdOf(uint32_t row) { return "row-" + std::to_string(row); }

WriteBatch BatchFrom(uint32_t first, uint32_t rows) {
  std::mt19937 random(first);
  WriteBatch batch;
  batch.dimension = kMemoryDimension;
  for (uint32_t row = first; row < first + rows; ++row) {
    batch.ids.push_back(IdOf(row));
    batch.documents.push_back("document " + std::to_string(row) + std::string(200, 'x'));
    batch.metadatas.push_back(Metadata{{"row", int64_t{row}}});
    for (uint32_t i = 0; i < kMemoryDimension; ++i)
      batch.embeddings.push_back(static_cast<float>(random() % 2000) / 1000 - 1);
  }
  return batch;
}

std::string MakeStore(const std::string& path) {
  auto store = Store::Open(path, {.sync_mode = SyncMode::kInterval});
  PIGMENT_CHILD_OK(store);
  auto docs = (*store)->CreateCollection(EntryNamed("docs"));
  PIGMENT_CHILD_OK(docs);
  for (uint32_t row = 0; row < kRows; row += kRowsOfBatch)
    PIGMENT_CHILD_OK((*docs)->Write(BatchFrom(row, kRowsOfBatch)));
  PIGMENT_CHILD_OK((*store)->Close());
  return "";
}

Status UseStore(Collection& docs, int reads) {
  PIGMENT_ASSIGN_OR_RETURN(const auto version, docs.Pin());
  std::mt19937 random(7);
  for (int read = 0; read < reads; ++read) {
    const std::vector<float> vector = BatchFrom(random() % kRows, 1).embeddings;
    QueryRequest query;
    query.embeddings = vector;
    query.dimension = kMemoryDimension;
    query.queries = 1;
    query.read.include.documents = true;
    PIGMENT_RETURN_IF_ERROR(Query(*version, query).status());
    GetRequest get;
    get.read.ids.emplace();
    for (int i = 0; i < 500; ++i) get.read.ids->push_back(IdOf(random() % kRows));
    get.read.include.documents = get.read.include.embeddings = true;
    PIGMENT_RETURN_IF_ERROR(Get(*version, get).status());
  }
  return Status::Ok();
}

// A store that is open and did nothing yet, and then one that is used under a budget.
std::string CheckBudget(const std::string& path, uint64_t budget_bytes) {
  const uint64_t before = ResidentBytes();
  auto store = Store::Open(path, {.memory_budget_bytes = budget_bytes});
  PIGMENT_CHILD_OK(store);
  auto docs = (*store)->GetCollection({}, "docs");
  PIGMENT_CHILD_OK(docs);
  PIGMENT_CHILD_CHECK((*docs)->Pin().value()->live_rows == kRows);
  const uint64_t idle = ResidentBytes() - before;
  PIGMENT_CHILD_OK(UseStore(**docs, 10));
  const uint64_t used = ResidentBytes() - before;
  std::printf("memory: idle %.1f MB, used %.1f MB with a budget of %.1f MB\n",
              static_cast<double>(idle) / kMegabyte, static_cast<double>(used) / kMegabyte,
              static_cast<double>(budget_bytes) / kMegabyte);
  std::fflush(stdout);
  PIGMENT_CHILD_CHECK(idle < 20 * kMegabyte);
  PIGMENT_CHILD_CHECK(budget_bytes == 0 || used < 20 * kMegabyte + budget_bytes);
  // Otherwise nothing would tell whether this can see memory at all.
  PIGMENT_CHILD_CHECK(budget_bytes != 0 || used > 60 * kMegabyte);
  return "";
}

TEST(Memory, OfAnIdleStoreIsSmallAndThatOfAUsedOneIsWhatTheBudgetGrants) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer's own memory hides it";
  const TemporaryDirectory directory;
  ASSERT_EQ(RunInChild([&] { return MakeStore(directory / "db"); }), "");
  for (const uint64_t budget : {uint64_t{0}, 16 * kMegabyte, 64 * kMegabyte}) {
    SCOPED_TRACE(budget);
    EXPECT_EQ(RunInChild([&] { return CheckBudget(directory / "db", budget); }), "");
  }
}

std::string OneCollection(Store& store, uint32_t number) {
  auto docs = store.CreateCollection(EntryNamed("collection " + std::to_string(number)));
  PIGMENT_CHILD_OK(docs);
  PIGMENT_CHILD_OK((*docs)->Write(BatchFrom(0, 20)));
  if (number % 3 == 0) PIGMENT_CHILD_OK((*docs)->Flush());
  PIGMENT_CHILD_OK((*docs)->Write(BatchFrom(20, 20)));
  PIGMENT_CHILD_OK(UseStore(**docs, 1));
  PIGMENT_CHILD_OK(store.DeleteCollection({}, "collection " + std::to_string(number)));
  return "";
}

TEST(Memory, StaysFlatAsCollectionsComeAndGo) {
  if (kIsSanitized) GTEST_SKIP() << "the sanitizer's heap is not the one that is counted";
  const TemporaryDirectory directory;
  const uint64_t count = AtEffort(1000);
  const std::string failure = RunInChild([&]() -> std::string {
    auto store =
        Store::Open(directory / "db", {.sync_mode = SyncMode::kOff, .background_threads = 0});
    PIGMENT_CHILD_OK(store);
    uint64_t heap[3] = {};
    for (int half = 0; half < 3; ++half) {
      // The first half takes what stays: buffers, and a snapshot of the catalog.
      for (uint64_t i = 0; i < count; ++i) {
        const std::string wrong = OneCollection(**store, static_cast<uint32_t>(half * count + i));
        if (!wrong.empty()) return wrong;
      }
      heap[half] = HeapBytes();
    }
    std::printf("effort: collections that came and went %llu (floor %llu), heap %llu %llu %llu\n",
                static_cast<unsigned long long>(3 * count),
                static_cast<unsigned long long>(AtEffort(2000)),
                static_cast<unsigned long long>(heap[0]), static_cast<unsigned long long>(heap[1]),
                static_cast<unsigned long long>(heap[2]));
    std::fflush(stdout);
    PIGMENT_CHILD_CHECK(heap[1] < heap[0] + kToleranceBytes);
    PIGMENT_CHILD_CHECK(heap[2] < heap[1] + kToleranceBytes);
    PIGMENT_CHILD_OK((*store)->Close());
    return "";
  });
  EXPECT_EQ(failure, "");
}

}  // namespace
}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// Stores whose segments are larger than their memory budget, stores whose files are mapped, and
// what an update without a vector writes: answers are those of a store without any of it.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <thread>

#include "engine/base/disk_files.h"
#include "engine/base/memory_files.h"
#include "engine/collection/store.h"
#include "engine/query/search.h"
#include "engine/segment/segment.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

constexpr uint32_t kBudgetDimension = 96;

WriteBatch BatchOf(uint32_t first, uint32_t count, std::mt19937_64& random) {
  WriteBatch batch;
  batch.kind = WriteKind::kUpsert;
  batch.dimension = kBudgetDimension;
  std::normal_distribution<float> normal;
  for (uint32_t i = first; i < first + count; ++i) {
    batch.ids.push_back("id " + std::to_string(i));
    for (uint32_t d = 0; d < kBudgetDimension; ++d) batch.embeddings.push_back(normal(random));
    std::string document;
    for (int word = 0; word < 40; ++word)
      document += "word" + std::to_string(random() % 1000) + " ";
    batch.documents.push_back(document);
    batch.metadatas.push_back(Metadata{{"n", int64_t{i}}});
  }
  return batch;
}

// Everything of a version as text, in insertion order.
std::string Everything(const Collection& collection) {
  auto version = collection.Pin();
  EXPECT_OK(version);
  if (!version.ok()) return "";
  GetRequest request;
  request.read.include = {.documents = true, .metadatas = true, .embeddings = true, .uris = true};
  auto result = Get(**version, request);
  EXPECT_OK(result);
  if (!result.ok()) return "";
  return result->ids.bytes + result->documents.bytes + result->metadatas.bytes +
         std::string(reinterpret_cast<const char*>(result->embeddings.data()),
                     result->embeddings.size() * sizeof(float));
}

std::string Nearest(const Collection& collection, const std::vector<float>& query) {
  auto version = collection.Pin();
  EXPECT_OK(version);
  if (!version.ok()) return "";
  QueryRequest request;
  request.dimension = kBudgetDimension;
  request.queries = 1;
  request.embeddings = query;
  request.k = 20;
  request.read.include = {.documents = true};
  auto result = Query(**version, request);
  EXPECT_OK(result);
  return result.ok() ? result->ids.bytes + result->documents.bytes : "";
}

std::vector<float> SomeQuery(std::mt19937_64& random) {
  std::normal_distribution<float> normal;
  std::vector<float> query(kBudgetDimension);
  for (float& value : query) value = normal(random);
  return query;
}

struct OpenedStore {
  std::shared_ptr<Store> store;
  std::shared_ptr<Collection> collection;
};

OpenedStore OpenDocs(const std::string& path, const StoreOptions& options) {
  auto store = Store::Open(path, options);
  EXPECT_OK(store);
  if (!store.ok()) return {};
  auto collection = (*store)->GetCollection({}, "docs");
  if (!collection.ok()) collection = (*store)->CreateCollection(EntryNamed("docs"));
  EXPECT_OK(collection);
  return {*store, *collection};
}

// Writes the same into a store and its twin, with rewrites that make deletions and merges.
void WriteBoth(Collection& one, Collection& other) {
  for (Collection* collection : {&one, &other}) {
    std::mt19937_64 random(5);
    for (uint32_t i = 0; i < 12; ++i) {
      ASSERT_OK(collection->Write(BatchOf(i % 4 == 3 ? 500 : i * 1000, 1000, random)));
    }
  }
}

TEST(StoreBudget, SmallerThanTheSegmentsChangesNoAnswer) {
  TemporaryDirectory directory;
  StoreOptions plain{.flush_rows_max = 1000, .background_threads = 0};
  StoreOptions limited = plain;
  limited.memory_budget_bytes = 4 << 20;
  OpenedStore one = OpenDocs(directory.path() + "/plain", plain);
  OpenedStore other = OpenDocs(directory.path() + "/limited", limited);
  ASSERT_TRUE(one.collection && other.collection);
  WriteBoth(*one.collection, *other.collection);
  ASSERT_OK(one.collection->Flush());
  ASSERT_OK(other.collection->Flush());
  auto segments = other.collection->Segments();
  ASSERT_OK(segments);
  uint64_t bytes = 0;
  for (const auto& segment : *segments) bytes += segment.bytes;
  EXPECT_GT(bytes, limited.memory_budget_bytes * 3 / 2);
  EXPECT_EQ(Everything(*one.collection), Everything(*other.collection));
  std::mt19937_64 random(6);
  for (int i = 0; i < 20; ++i) {
    const auto query = SomeQuery(random);
    EXPECT_EQ(Nearest(*one.collection, query), Nearest(*other.collection, query));
  }
  // Again from the files, with readers side by side.
  other.collection.reset();
  ASSERT_OK(other.store->Close());
  other = OpenDocs(directory.path() + "/limited", limited);
  ASSERT_TRUE(other.collection);
  const auto query = SomeQuery(random);
  const std::string nearest = Nearest(*one.collection, query);
  const std::string everything = Everything(*one.collection);
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(Nearest(*other.collection, query), nearest);
        if (t == 0) {
          EXPECT_EQ(Everything(*other.collection), everything);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

// The log has a write before it is applied, so that it can be refused no more: others may have all
// of the budget by then.
TEST(StoreBudget, AWriteThatTheLogHasFindsItsRecordsWhateverElseIsInMemory) {
  TemporaryDirectory directory;
  StoreOptions options{.memory_budget_bytes = 1 << 20, .background_threads = 0};
  OpenedStore opened = OpenDocs(directory.path(), options);
  ASSERT_TRUE(opened.collection);
  Collection& docs = *opened.collection;
  std::mt19937_64 random(5);
  for (uint32_t first = 0; first < 1000; first += 200)
    ASSERT_OK(docs.Write(BatchOf(first, 200, random)));
  ASSERT_OK(docs.Flush());
  const auto version = docs.Pin();
  ASSERT_OK(version);
  Reservation others((*version)->budget.get());
  const auto take_all_but = [&](uint64_t bytes) {
    for (uint64_t step = options.memory_budget_bytes; step != 0; step /= 2) {
      Reservation more((*version)->budget.get());
      if (!more.Grow(step + bytes).ok()) continue;
      more = Reservation();
      ASSERT_OK(others.Grow(step));
    }
  };
  // Room for what is admitted, and for no block.
  WriteBatch update;
  update.kind = WriteKind::kUpdate;
  update.ids = {"id 7"};
  update.metadatas = {Metadata{{"n", int64_t{-7}}}};
  take_all_but(kBlockBytes / 2);
  auto outcome = docs.Write(update);
  ASSERT_OK(outcome);
  EXPECT_EQ(outcome->counts.updated, 1u);
  take_all_but(0);
  WriteBatch erase;
  erase.kind = WriteKind::kDelete;
  erase.ids = {"id 900", "id 3", "nobody"};
  outcome = docs.Write(erase);
  ASSERT_OK(outcome);
  EXPECT_EQ(outcome->counts.deleted, 2u);
  EXPECT_CODE(docs.Write(update).status(), Code::kResourceExhausted) << "not admitted";
  others = Reservation();
  ASSERT_OK(docs.Write(update));
  EXPECT_EQ(docs.Pin().value()->live_rows, 998u);
}

// What no segment has yet is in memory too: blocks give way to it, and a flush where they are not
// enough. Writers beside each other see what the others have.
TEST(StoreBudget, AdmitsWhatIsNotFlushedBesideBlocks) {
  TemporaryDirectory directory;
  StoreOptions options{.memory_budget_bytes = 4 << 20, .background_threads = 0};
  OpenedStore opened = OpenDocs(directory.path(), options);
  ASSERT_TRUE(opened.collection);
  Collection& docs = *opened.collection;
  const auto condition = [&] { return opened.store->Condition().value(); };
  std::mt19937_64 random(5);
  ASSERT_OK(docs.Write(BatchOf(0, 1000, random)));
  EXPECT_GT(condition().tail_bytes, 1000 * kBudgetDimension * sizeof(float));
  std::vector<std::thread> threads;
  std::atomic<bool> is_done{false};
  std::atomic<uint64_t> most{0};
  for (uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 mine(t);
      for (uint32_t i = 0; i < 20; ++i)
        EXPECT_OK(docs.Write(BatchOf((t * 20 + i) * 200, 200, mine)));
    });
  }
  std::thread watch([&] {
    while (!is_done) most = std::max(most.load(), condition().tail_bytes);
  });
  for (auto& thread : threads) thread.join();
  is_done = true;
  watch.join();
  // A tail has a little more for a record than was admitted.
  EXPECT_LT(most, options.memory_budget_bytes * 5 / 4);
  EXPECT_GT(most, options.memory_budget_bytes / 2);
  ASSERT_OK(docs.Flush());
  EXPECT_EQ(condition().tail_bytes, 0u);
}

// Merges take long, and leave the rest of the budget to the calls beside them.
TEST(StoreBudget, MergesHaveThreeQuartersOfIt) {
  constexpr uint32_t kRows = 8000;
  TemporaryDirectory directory;
  StoreOptions options{.background_threads = 0};
  WriteBatch batch;
  batch.dimension = 1;
  {
    OpenedStore opened = OpenDocs(directory.path(), options);
    ASSERT_TRUE(opened.collection);
    for (uint32_t first : {0u, kRows}) {
      batch.ids.clear();
      for (uint32_t i = 0; i < kRows; ++i) batch.ids.push_back(std::to_string(first + i));
      batch.embeddings.assign(kRows, 1);
      ASSERT_OK(opened.collection->Write(batch));
      ASSERT_OK(opened.collection->Flush());
    }
    ASSERT_OK(opened.store->Close());
  }
  // Where each row goes takes four bytes.
  options.memory_budget_bytes = 8 * kBlockBytes;
  OpenedStore opened = OpenDocs(directory.path(), options);
  ASSERT_TRUE(opened.collection);
  const auto compacted = opened.collection->Compact();
  EXPECT_CODE(compacted.status(), Code::kResourceExhausted);
  EXPECT_NE(compacted.status().message().find("\"merges of the store\" of 49152 bytes"),
            std::string::npos)
      << compacted.status().ToString();
  EXPECT_EQ(opened.collection->Pin().value()->live_rows, 2 * kRows);
}

TEST(StoreMapping, ChangesNoAnswer) {
  TemporaryDirectory directory;
  StoreOptions plain{.flush_rows_max = 1000, .background_threads = 0};
  StoreOptions mapped = plain;
  mapped.map_files = true;
  OpenedStore one = OpenDocs(directory.path() + "/plain", plain);
  OpenedStore other = OpenDocs(directory.path() + "/mapped", mapped);
  ASSERT_TRUE(one.collection && other.collection);
  WriteBoth(*one.collection, *other.collection);
  EXPECT_EQ(Everything(*one.collection), Everything(*other.collection));
  std::mt19937_64 random(6);
  for (int i = 0; i < 20; ++i) {
    const auto query = SomeQuery(random);
    EXPECT_EQ(Nearest(*one.collection, query), Nearest(*other.collection, query));
  }
  std::ifstream maps("/proc/self/maps");
  const std::string text((std::istreambuf_iterator<char>(maps)), std::istreambuf_iterator<char>());
  EXPECT_NE(text.find("/mapped/segments/"), std::string::npos);
  EXPECT_EQ(text.find("/plain/segments/"), std::string::npos);
  EXPECT_CODE(Store::Open(directory.path() + "/mapped", plain).status(), Code::kFailedPrecondition);
}

// How often `bytes` stand in the files of the log.
size_t CountInLog(FileSystem& files, std::string_view bytes) {
  size_t count = 0;
  auto names = files.List("db/log");
  EXPECT_OK(names);
  for (const std::string& name : *names) {
    auto file = files.Open("db/log/" + name, OpenMode::kRead);
    EXPECT_OK(file);
    auto size = (*file)->Size();
    EXPECT_OK(size);
    std::string text(*size, '\0');
    EXPECT_OK((*file)->ReadAt(0, std::as_writable_bytes(std::span(text))));
    for (size_t at = text.find(bytes); at != std::string::npos; at = text.find(bytes, at + 1))
      ++count;
  }
  return count;
}

TEST(Update, WithoutAnEmbeddingWritesNoBytesOfOneToTheLog) {
  MemoryFileSystem files;
  auto store = Store::Open("db", {.background_threads = 0}, &files);
  ASSERT_OK(store);
  auto collection = (*store)->CreateCollection(EntryNamed("docs"));
  ASSERT_OK(collection);
  WriteBatch add;
  add.dimension = 1536;
  add.ids = {"a"};
  for (uint32_t i = 0; i < add.dimension; ++i) add.embeddings.push_back(1.0f / (i + 3));
  ASSERT_OK((*collection)->Write(add));
  const std::string_view all(reinterpret_cast<const char*>(add.embeddings.data()),
                             add.embeddings.size() * sizeof(float));
  const std::string_view some = all.substr(1000 * sizeof(float), 8 * sizeof(float));
  EXPECT_EQ(CountInLog(files, all), 1u);
  for (int i = 0; i < 10; ++i) {
    if (i == 5) ASSERT_OK((*collection)->Flush());  // then the vector comes from a segment
    WriteBatch update;
    update.kind = WriteKind::kUpdate;
    update.ids = {"a"};
    update.metadatas = {Metadata{{"round", int64_t{i}}}};
    auto outcome = (*collection)->Write(update);
    ASSERT_OK(outcome);
    EXPECT_EQ(outcome->counts.updated, 1u);
  }
  EXPECT_EQ(CountInLog(files, some), 1u);
  auto version = (*collection)->Pin();
  ASSERT_OK(version);
  GetRequest request;
  request.read.include = {.metadatas = true, .embeddings = true};
  auto result = Get(**version, request);
  ASSERT_OK(result);
  EXPECT_EQ(result->embeddings, add.embeddings);
  EXPECT_EQ(result->metadatas.bytes, R"({"round":9})");
}

}  // namespace
}  // namespace pigment

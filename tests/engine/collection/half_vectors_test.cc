// SPDX-License-Identifier: Apache-2.0
//
// Collections that keep their vectors in f16: the same rounded numbers wherever a record is, half
// of the bytes, and nothing that a half cannot hold.

#include <gtest/gtest.h>

#include <random>

#include "engine/base/memory_files.h"
#include "engine/collection/repair.h"
#include "engine/collection/store.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

constexpr VectorElement kF16 = VectorElement::kF16;

WriteBatch RandomBatch(uint64_t seed, uint32_t dimension, int rows) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal;
  WriteBatch batch;
  batch.kind = WriteKind::kUpsert;
  batch.dimension = dimension;
  for (int row = 0; row < rows; ++row) {
    batch.ids.push_back("id" + std::to_string(row));
    for (uint32_t i = 0; i < dimension; ++i) batch.embeddings.push_back(normal(random));
  }
  return batch;
}

class HalfVectors : public ::testing::Test {
 protected:
  HalfVectors() { options_.background_threads = 0; }

  std::shared_ptr<Store> Open() { return Store::Open("db", options_, &files_).value(); }
  uint64_t SegmentBytes(const std::string& name, VectorElement element) {
    const auto store = Open();
    const auto docs = store->CreateCollection(EntryNamed(name, Metric::kCosine, element)).value();
    EXPECT_OK(docs->Write(RandomBatch(1, 256, 3000)));
    EXPECT_OK(docs->Compact());
    uint64_t bytes = 0;
    for (const SegmentDescription& segment : docs->Segments().value()) bytes += segment.bytes;
    return bytes;
  }

  MemoryFileSystem files_;
  StoreOptions options_;
};

// A vector of 5,000 numbers takes more than a block, one of 4,076 just one.
TEST_F(HalfVectors, AreTheSameInTailLogSegmentForkAndCopy) {
  for (const uint32_t dimension : {1u, 3u, 384u, 4076u, 5000u, 65535u}) {
    SCOPED_TRACE(dimension);
    const std::string name = "docs-" + std::to_string(dimension);
    CollectionModel model(kF16);
    const auto matches = [&](Store& store, const std::string& collection) {
      return DifferenceOfAll(**store.GetCollection({}, collection), model);
    };
    auto store = Open();
    const auto docs = store->CreateCollection(EntryNamed(name, Metric::kCosine, kF16)).value();
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      const WriteBatch batch = RandomBatch(seed, dimension, static_cast<int>(seed) * 3);
      ASSERT_OK(docs->Write(batch));
      model.Apply(batch);
      ASSERT_EQ(matches(*store, name), "") << "in the tail";
      if (seed == 3) break;
      ASSERT_OK(docs->Flush());
      ASSERT_EQ(matches(*store, name), "") << "in segments";
    }
    ASSERT_OK(store->Close());
    store = Open();
    ASSERT_EQ(matches(*store, name), "") << "from the log";
    const auto fork =
        store->ForkCollection((*store->GetCollection({}, name))->entry().id, name + "-fork");
    ASSERT_OK(fork);
    ASSERT_OK((*store->GetCollection({}, name))->Compact());
    ASSERT_EQ(matches(*store, name), "") << "merged";
    ASSERT_EQ(matches(*store, name + "-fork"), "");
    const WriteBatch more = RandomBatch(9, dimension, 2);
    ASSERT_OK((*fork)->Write(more));
    BackupOptions backup;
    backup.files = &files_;
    ASSERT_OK(store->Backup("copy-" + name, backup));
    const auto copy = Store::Open("copy-" + name, options_, &files_);
    ASSERT_OK(copy);
    ASSERT_EQ(matches(**copy, name), "") << "in a backup";
    model.Apply(more);
    ASSERT_EQ(matches(**copy, name + "-fork"), "") << "written to a fork";
    ASSERT_OK(store->Close());
  }
}

TEST_F(HalfVectors, TakeHalfOfTheBytes) {
  const uint64_t whole = SegmentBytes("whole", VectorElement::kF32);
  const uint64_t half = SegmentBytes("half", kF16);
  const uint64_t saved = 3000 * 256 * 2;
  EXPECT_LT(half, whole - saved * 95 / 100) << whole;
}

TEST_F(HalfVectors, RefuseABatchWithANumberBeyondThem) {
  const auto store = Open();
  const auto docs = store->CreateCollection(EntryNamed("docs", Metric::kL2, kF16)).value();
  WriteBatch batch = RandomBatch(1, 4, 3);
  batch.embeddings[9] = -70000;
  const Status status = docs->Write(batch).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.row(), 2);
  EXPECT_EQ((*docs->Pin())->live_rows, 0u);
  batch.embeddings[9] = -65504;
  EXPECT_OK(docs->Write(batch));
}

TEST_F(HalfVectors, StaySoWhateverIsModifiedAndWhenTheCatalogIsLost) {
  auto store = Open();
  const auto docs = store->CreateCollection(EntryNamed("docs", Metric::kIp, kF16)).value();
  const WriteBatch batch = RandomBatch(1, 8, 20);
  ASSERT_OK(docs->Write(batch));
  ASSERT_OK(docs->Flush());
  ASSERT_OK(store->ModifyCollection(docs->entry().id, [](CollectionEntry& entry) {
    entry.vector_element = VectorElement::kF32;
    return Status::Ok();
  }));
  ASSERT_OK(store->Close());
  store = Open();
  EXPECT_EQ((*store->GetCollection({}, "docs"))->entry().vector_element, kF16);
  ASSERT_OK(store->Close());
  store.reset();
  for (const std::string& name : files_.List("db").value()) {
    if (name.starts_with("CATALOG")) ASSERT_OK(files_.Remove("db/" + name));
  }
  RepairOptions repair;
  repair.from_files = repair.to_files = &files_;
  ASSERT_OK(RepairStore("db", "new", repair));
  store = Store::Open("new", options_, &files_).value();
  const auto recovered = store->GetCollection({}, "recovered-segment-1");
  ASSERT_OK(recovered);
  EXPECT_EQ((*recovered)->entry().vector_element, kF16);
  EXPECT_NE((*recovered)->entry().configuration_json.find(R"("space":"ip")"), std::string::npos);
  EXPECT_NE((*recovered)->entry().configuration_json.find(R"("full_vectors":"f16")"),
            std::string::npos);
  CollectionModel model(kF16);
  model.Apply(batch);
  EXPECT_EQ(DifferenceOfAll(**recovered, model), "");
}

}  // namespace
}  // namespace pigment

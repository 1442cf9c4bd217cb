// SPDX-License-Identifier: Apache-2.0

#include "engine/collection/store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "engine/base/disk_files.h"
#include "engine/base/memory_files.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

WriteBatch BatchOf(WriteKind kind, const std::vector<std::string>& ids, uint32_t dimension = 2) {
  WriteBatch batch;
  batch.kind = kind;
  batch.ids = ids;
  if (kind == WriteKind::kDelete) return batch;
  batch.dimension = dimension;
  for (size_t row = 0; row < ids.size(); ++row) {
    for (uint32_t i = 0; i < dimension; ++i)
      batch.embeddings.push_back(static_cast<float>(row + 1));
  }
  return batch;
}

class StoreInMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    auto store = Store::Open(std::nullopt, {});
    ASSERT_OK(store);
    store_ = *store;
    auto collection = store_->CreateCollection(EntryNamed("docs"));
    ASSERT_OK(collection);
    docs_ = *collection;
  }

  std::shared_ptr<Store> store_;
  std::shared_ptr<Collection> docs_;
};

TEST_F(StoreInMemory, AddLeavesExistingRecordsAndInsertsTheOthers) {
  WriteBatch first = BatchOf(WriteKind::kAdd, {"a"});
  first.documents = {"old"};
  ASSERT_OK(docs_->Write(first));
  WriteBatch second = BatchOf(WriteKind::kAdd, {"a", "b"});
  second.documents = {"new", "new"};
  const auto outcome = docs_->Write(second);
  ASSERT_OK(outcome);
  EXPECT_EQ(outcome->counts.inserted, 1u);
  EXPECT_EQ(outcome->counts.skipped, 1u);
  EXPECT_EQ(outcome->position, 2u);
  GetRequest request;
  request.read.include.documents = true;
  const auto result = Get(*docs_->Pin().value(), request);
  ASSERT_OK(result);
  EXPECT_EQ(TextAt(result->documents, 0), "old");
  EXPECT_EQ(TextAt(result->documents, 1), "new");
}

TEST_F(StoreInMemory, UpsertKeepsThePlaceAndDeleteThenAddMovesToTheEnd) {
  ASSERT_OK(docs_->Write(BatchOf(WriteKind::kAdd, {"a", "b", "c"})));
  ASSERT_OK(docs_->Flush());
  ASSERT_OK(docs_->Write(BatchOf(WriteKind::kUpsert, {"a"})));
  EXPECT_EQ(IdsOf(*docs_), (std::vector<std::string>{"a", "b", "c"}));
  ASSERT_OK(docs_->Write(BatchOf(WriteKind::kDelete, {"b"})));
  ASSERT_OK(docs_->Write(BatchOf(WriteKind::kAdd, {"b"})));
  EXPECT_EQ(IdsOf(*docs_), (std::vector<std::string>{"a", "c", "b"}));
  ASSERT_OK(docs_->Flush());
  EXPECT_EQ(IdsOf(*docs_), (std::vector<std::string>{"a", "c", "b"}));
}

TEST_F(StoreInMemory, UpdateMergesMetadataAndKeepsWhatIsNotGiven) {
  WriteBatch add = BatchOf(WriteKind::kAdd, {"a"});
  add.documents = {"text"};
  add.metadatas = {Metadata{{"keep", int64_t{1}}, {"change", int64_t{2}}, {"erase", int64_t{3}}}};
  add.uris = {"file:a"};
  ASSERT_OK(docs_->Write(add));
  ASSERT_OK(docs_->Flush());
  WriteBatch update;
  update.kind = WriteKind::kUpdate;
  update.ids = {"a", "missing"};
  update.metadatas = {Metadata{{"change", std::string("new type")}, {"erase", Erased()}},
                      std::nullopt};
  const auto outcome = docs_->Write(update);
  ASSERT_OK(outcome);
  EXPECT_EQ(outcome->counts.updated, 1u);
  EXPECT_EQ(outcome->counts.skipped, 1u);
  GetRequest request;
  request.read.include = {true, true, true, true, false};
  const auto result = Get(*docs_->Pin().value(), request);
  ASSERT_OK(result);
  EXPECT_EQ(TextAt(result->metadatas, 0), R"({"change":"new type","keep":1})");
  EXPECT_EQ(TextAt(result->documents, 0), "text");
  EXPECT_EQ(TextAt(result->uris, 0), "file:a");
  EXPECT_EQ(result->embeddings, (std::vector<float>{1, 1}));
}

TEST_F(StoreInMemory, MetadataWithoutKeysLeftIsNone) {
  WriteBatch add = BatchOf(WriteKind::kAdd, {"a"});
  add.metadatas = {Metadata{{"only", true}}};
  ASSERT_OK(docs_->Write(add));
  WriteBatch update;
  update.kind = WriteKind::kUpdate;
  update.ids = {"a"};
  update.metadatas = {Metadata{{"only", Erased()}}};
  ASSERT_OK(docs_->Write(update));
  GetRequest request;
  request.read.include.metadatas = true;
  EXPECT_EQ(TextAt(Get(*docs_->Pin().value(), request)->metadatas, 0), std::nullopt);
}

TEST_F(StoreInMemory, DimensionIsFixedByTheFirstAddAndNamedInTheRefusal) {
  WriteBatch update = BatchOf(WriteKind::kUpdate, {"nobody"}, 5);
  ASSERT_OK(docs_->Write(update));  // meets no record, fixes nothing
  ASSERT_OK(docs_->Write(BatchOf(WriteKind::kAdd, {"a"}, 3)));
  EXPECT_EQ(docs_->entry().dimension, 3u);
  EXPECT_EQ(
      (*store_->catalog())->GetCollection("default_tenant", "default_database", "docs")->dimension,
      3u);
  const auto refused = docs_->Write(BatchOf(WriteKind::kUpsert, {"b"}, 2));
  EXPECT_CODE(refused, Code::kInvalidArgument);
  EXPECT_EQ(refused.status().detail(), Detail::kDimension);
  EXPECT_EQ(refused.status().message(), R"(dimension mismatch: collection "docs" has 3, got 2)");
  ASSERT_OK(docs_->Write(BatchOf(WriteKind::kDelete, {"a"})));
  EXPECT_CODE(docs_->Write(BatchOf(WriteKind::kAdd, {"b"}, 2)), Code::kInvalidArgument);
}

TEST_F(StoreInMemory, RacingFirstAddsOfDifferentDimensionsAgreeOnOne) {
  for (int round = 0; round < 50; ++round) {
    const std::string name = "race" + std::to_string(round);
    const auto collection = store_->CreateCollection(EntryNamed(name)).value();
    std::atomic<int> accepted{0};
    std::vector<std::thread> threads;
    for (uint32_t dimension = 1; dimension <= 4; ++dimension) {
      threads.emplace_back([&, dimension] {
        if (collection->Write(BatchOf(WriteKind::kAdd, {std::to_string(dimension)}, dimension))
                .ok())
          ++accepted;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(accepted, 1);
    EXPECT_EQ(IdsOf(*collection),
              std::vector<std::string>{std::to_string(collection->entry().dimension)});
  }
}

TEST_F(StoreInMemory, PinnedVersionDoesNotChange) {
  ASSERT_OK(docs_->Write(BatchOf(WriteKind::kAdd, {"a", "b"})));
  ASSERT_OK(docs_->Flush());
  ASSERT_OK(docs_->Write(BatchOf(WriteKind::kAdd, {"c"})));
  const auto version = docs_->Pin().value();
  ASSERT_OK(docs_->Write(BatchOf(WriteKind::kDelete, {"a", "c"})));
  ASSERT_OK(docs_->Write(BatchOf(WriteKind::kAdd, {"d"})));
  ASSERT_OK(docs_->Flush());
  ASSERT_OK(store_->DeleteCollection({}, "docs"));
  EXPECT_EQ(SelectIds(*version, {}).value(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(version->live_rows, 3u);
}

TEST_F(StoreInMemory, VersionOutlivesItsStore) {
  ASSERT_OK(docs_->Write(BatchOf(WriteKind::kAdd, {"a"})));
  ASSERT_OK(docs_->Flush());
  const auto version = docs_->Pin().value();
  docs_.reset();
  store_.reset();
  GetRequest request;
  request.read.include.embeddings = true;
  EXPECT_EQ(Get(*version, request)->embeddings, (std::vector<float>{1, 1}));
}

TEST_F(StoreInMemory, HandleSurvivesRenameAndGivesNotFoundAfterDelete) {
  const auto other = store_->GetCollectionById(docs_->entry().id).value();
  ASSERT_OK(store_->ModifyCollection(docs_->entry().id, [](CollectionEntry& entry) {
    entry.name = "renamed";
    entry.dimension = 77;  // not the caller's to change
    return Status::Ok();
  }));
  EXPECT_EQ(docs_->entry().name, "renamed");
  EXPECT_EQ(other->entry().dimension, 0u);
  ASSERT_OK(docs_->Write(BatchOf(WriteKind::kAdd, {"a"})));
  EXPECT_CODE(store_->GetCollection({}, "docs"), Code::kNotFound);
  ASSERT_OK(store_->DeleteCollection({}, "renamed"));
  EXPECT_CODE(docs_->Pin(), Code::kNotFound);
  EXPECT_CODE(docs_->Write(BatchOf(WriteKind::kAdd, {"b"})), Code::kNotFound);
  EXPECT_CODE(docs_->Flush(), Code::kNotFound);
  EXPECT_CODE(docs_->DeleteSelected([](const Version&) { return std::vector<std::string>(); }),
              Code::kNotFound);
  EXPECT_CODE(store_->ForkCollection(docs_->entry().id, "fork"), Code::kNotFound);
}

TEST_F(StoreInMemory, NewCollectionOfADeletedNameIsEmpty) {
  ASSERT_OK(docs_->Write(BatchOf(WriteKind::kAdd, {"a"})));
  ASSERT_OK(store_->DeleteCollection({}, "docs"));
  const auto again = store_->CreateCollection(EntryNamed("docs")).value();
  EXPECT_TRUE(IdsOf(*again).empty());
  EXPECT_EQ(again->entry().dimension, 0u);
}

TEST_F(StoreInMemory, DeletingADatabaseOrTenantDeletesItsCollections) {
  Catalog* const catalog = store_->catalog().value();
  ASSERT_OK(catalog->CreateTenant("tenant"));
  ASSERT_OK(catalog->CreateDatabase("tenant", "first"));
  ASSERT_OK(catalog->CreateDatabase("tenant", "second"));
  std::vector<std::shared_ptr<Collection>> handles;
  for (const char* database : {"first", "second"}) {
    CollectionEntry entry = EntryNamed("docs");
    entry.tenant = "tenant";
    entry.database = database;
    auto handle = store_->CreateCollection(entry);
    ASSERT_OK(handle);
    ASSERT_OK((*handle)->Write(BatchOf(WriteKind::kAdd, {"a"})));
    handles.push_back(*handle);
  }
  ASSERT_OK(store_->DeleteDatabase("tenant", "first"));
  EXPECT_CODE(handles[0]->Pin(), Code::kNotFound);
  EXPECT_OK(handles[1]->Pin());
  ASSERT_OK(catalog->DeleteTenant("tenant"));  // the catalog of an open store takes the same way
  EXPECT_CODE(handles[1]->Pin(), Code::kNotFound);
  EXPECT_OK(docs_->Pin());
}

TEST_F(StoreInMemory, ForkSharesSegmentsAndNotLaterWrites) {
  ASSERT_OK(docs_->Write(BatchOf(WriteKind::kAdd, {"a", "b", "c"})));
  ASSERT_OK(docs_->Flush());
  ASSERT_OK(docs_->Write(BatchOf(WriteKind::kDelete, {"b"})));
  const auto fork = store_->ForkCollection(docs_->entry().id, "fork").value();
  // At once: with so many deleted a merge in the background soon writes new ones.
  EXPECT_EQ(docs_->Pin().value()->segments[0].segment, fork->Pin().value()->segments[0].segment);
  ASSERT_OK(docs_->Write(BatchOf(WriteKind::kDelete, {"a"})));
  ASSERT_OK(fork->Write(BatchOf(WriteKind::kDelete, {"c"})));
  ASSERT_OK(store_->Flush());
  EXPECT_EQ(IdsOf(*docs_), std::vector<std::string>{"c"});
  EXPECT_EQ(IdsOf(*fork), std::vector<std::string>{"a"});
  ASSERT_OK(store_->DeleteCollection({}, "docs"));
  ASSERT_OK(fork->Write(BatchOf(WriteKind::kAdd, {"d"})));
  EXPECT_EQ(IdsOf(*fork), (std::vector<std::string>{"a", "d"}));
  EXPECT_CODE(store_->ForkCollection(fork->entry().id, "fork"), Code::kAlreadyExists);
}

TEST_F(StoreInMemory, DeleteSelectedIsOneStepAmongWriters) {
  // Each writer flips its record between even and odd; the deleter deletes even ones. A record that
  // was odd when it was deleted shows that a write came between selection and deletion.
  ASSERT_OK(docs_->Write(BatchOf(WriteKind::kAdd, {"w"})));
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> deleted{0};
  std::thread deleter([&] {
    const auto even = Filter::Parse(R"({"odd":false})", std::nullopt).value();
    while (!stop) {
      GetRequest request;
      request.read.filter = even;
      bool selected = false;
      const auto outcome = docs_->DeleteSelected([&](const Version& version) {
        auto ids = SelectIds(version, request);
        selected = ids.ok() && !ids->empty();
        return ids;
      });
      ASSERT_OK(outcome);
      ASSERT_EQ(outcome->counts.deleted, selected ? 1u : 0u);
      deleted += outcome->counts.deleted;
    }
  });
  // On a busy machine the deleter may get its turn late.
  for (int i = 0; i < 3000 || (deleted == 0 && i < 1000000); ++i) {
    WriteBatch batch = BatchOf(WriteKind::kUpsert, {"w"});
    batch.metadatas = {Metadata{{"odd", false}}};
    ASSERT_OK(docs_->Write(batch));
    batch.metadatas = {Metadata{{"odd", true}}};
    const auto outcome = docs_->Write(batch);
    ASSERT_OK(outcome);
    const auto before = docs_->Pin().value();
    ASSERT_EQ(before->live_rows, 1u) << "an odd record was deleted";
  }
  stop = true;
  deleter.join();
  EXPECT_GT(deleted, 0u);
}

TEST_F(StoreInMemory, SelectErrorDeletesNothing) {
  ASSERT_OK(docs_->Write(BatchOf(WriteKind::kAdd, {"a"})));
  const auto refused =
      docs_->DeleteSelected([](const Version&) -> Result<std::vector<std::string>> {
        return Status(Code::kCancelled, "stopped");
      });
  EXPECT_CODE(refused, Code::kCancelled);
  EXPECT_EQ(IdsOf(*docs_).size(), 1u);
}

TEST_F(StoreInMemory, PositionOfAReadCountsWritesElsewhere) {
  const auto other = store_->CreateCollection(EntryNamed("other")).value();
  ASSERT_OK(docs_->Write(BatchOf(WriteKind::kAdd, {"a"})));
  const uint64_t position = other->Write(BatchOf(WriteKind::kAdd, {"a"}))->position;
  EXPECT_EQ(store_->position(), position);
  EXPECT_EQ(docs_->Pin().value()->position, position);
  EXPECT_EQ(*store_->Refresh(), position);
}

TEST_F(StoreInMemory, InsertWithoutVectorsIsRefused) {
  WriteBatch batch;
  batch.kind = WriteKind::kUpsert;
  batch.ids = {"a"};
  EXPECT_CODE(docs_->Write(batch), Code::kInvalidArgument);
  batch.ids.clear();
  EXPECT_OK(docs_->Write(batch));
}

TEST(StoreMemory, BudgetRefusesTheWriteAndNamesItself) {
  StoreOptions options;
  options.memory_budget_bytes = 1 << 20;
  const auto store = Store::Open(std::nullopt, options).value();
  const auto docs = store->CreateCollection(EntryNamed("docs")).value();
  WriteBatch batch = BatchOf(WriteKind::kAdd, {"a"});
  batch.documents = {std::string(2 << 20, 'x')};
  const auto refused = docs->Write(batch);
  EXPECT_CODE(refused, Code::kResourceExhausted);
  EXPECT_EQ(refused.status().detail(), Detail::kMemory);
  EXPECT_NE(refused.status().message().find("1048576"), std::string::npos)
      << refused.status().message();
  EXPECT_OK(docs->Write(BatchOf(WriteKind::kAdd, {"b"})));
}

TEST(StoreMemory, TailOverItsBytesIsFlushedByTheWriter) {
  StoreOptions options;
  options.flush_bytes_max = 10000;
  options.background_threads = 0;
  const auto store = Store::Open(std::nullopt, options).value();
  const auto docs = store->CreateCollection(EntryNamed("docs")).value();
  for (int i = 0; i < 50; ++i) {
    WriteBatch batch = BatchOf(WriteKind::kAdd, {std::to_string(i)});
    batch.documents = {std::string(1000, 'x')};
    ASSERT_OK(docs->Write(batch));
  }
  const auto version = docs->Pin().value();
  // Five flushes at least, some of them merged by now.
  EXPECT_GE(store->maintenance().value().merges, 1u);
  EXPECT_GE(version->segments.size(), 1u);
  EXPECT_LT(version->tail.rows, 12u);
  EXPECT_EQ(version->live_rows, 50u);
}

TEST(StoreMemory, ReadersDuringWritesAndFlushesSeeWholeBatches) {
  StoreOptions options;
  options.flush_rows_max = 64;
  const auto store = Store::Open(std::nullopt, options).value();
  const auto docs = store->CreateCollection(EntryNamed("docs")).value();
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> reads{0};
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 3; ++reader) {
    readers.emplace_back([&] {
      while (!stop) {
        const auto version = docs->Pin();
        ASSERT_OK(version);
        const auto ids = SelectIds(**version, {});
        ASSERT_OK(ids);
        ASSERT_EQ(ids->size(), (*version)->live_rows);
        // Every batch writes or deletes a pair.
        ASSERT_EQ(ids->size() % 2, 0u);
        for (size_t row = 0; row < ids->size(); row += 2)
          ASSERT_EQ((*ids)[row] + "'", (*ids)[row + 1]);
        ++reads;
      }
    });
  }
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 2; ++writer) {
    writers.emplace_back([&, writer] {
      BatchMaker maker(static_cast<uint64_t>(writer) + 1, 2, 1);
      for (int i = 0; i < 1500; ++i) {
        const std::string id = std::to_string(writer) + "-" + std::to_string(maker.Below(100));
        const WriteKind kind = maker.Chance(70) ? WriteKind::kUpsert : WriteKind::kDelete;
        ASSERT_OK(docs->Write(BatchOf(kind, {id, id + "'"})));
        if (maker.Chance(2)) ASSERT_OK(docs->Flush());
      }
    });
  }
  for (std::thread& thread : writers) thread.join();
  stop = true;
  for (std::thread& thread : readers) thread.join();
  EXPECT_GT(reads, 10u);
}

}  // namespace
}  // namespace pigment

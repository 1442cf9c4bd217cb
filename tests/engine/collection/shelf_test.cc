// SPDX-License-Identifier: Apache-2.0
//
// Cold collections on a shelf: rebuilt exactly, forked, flushed, merged, deleted; shelves that are
// mostly dead are written anew; damage is one collection's alone.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "engine/base/memory_files.h"
#include "engine/collection/store.h"
#include "tests/support/effort.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

constexpr int kEnough = 70;  // unflushed collections that make Flush shelve the small ones

class Shelf : public ::testing::Test {
 protected:
  void SetUp() override { Open(); }

  void Open(bool read_only = false) {
    if (store_) ASSERT_OK(store_->Close());
    store_.reset();
    StoreOptions options = options_;
    options.read_only = read_only;
    auto store = Store::Open("db", options, &files_);
    ASSERT_OK(store);
    store_ = *store;
  }

  std::shared_ptr<Collection> Get(const std::string& name) {
    auto collection = store_->GetCollection({}, name);
    if (!collection.ok()) collection = store_->CreateCollection(EntryNamed(name));
    EXPECT_OK(collection);
    return *collection;
  }

  void Write(const std::string& name, const WriteBatch& batch) {
    models_[name].Apply(batch);
    ASSERT_OK(Get(name)->Write(batch));
  }

  // Many collections with a few records; "0" has a segment and deletions in it besides.
  void Fill(uint64_t seed) {
    BatchMaker maker(seed, 3, 12);
    for (int i = 0; i < 6; ++i) Write("0", maker.Batch(8));
    ASSERT_OK(Get("0")->Flush());
    for (int i = 0; i < kEnough; ++i) {
      WriteBatch first = maker.Batch(5);  // one that has an effect
      while (first.embeddings.empty()) first = maker.Batch(5);
      first.kind = WriteKind::kUpsert;
      Write(std::to_string(i), first);
      for (size_t batches = maker.Below(3); batches > 0; --batches)
        Write(std::to_string(i), maker.Batch(5));
    }
    for (int i = 0; i < 4; ++i) Write("0", maker.Batch(6));
  }

  void Shelve() {
    ASSERT_OK(store_->Flush());
    ASSERT_GE(Statistics().shelved_collections, 60u);
  }

  LoadingStatistics Statistics() { return *store_->loading(); }

  void ExpectContents() {
    for (const auto& [name, model] : models_) {
      SCOPED_TRACE(name);
      const auto collection = store_->GetCollection({}, name);
      ASSERT_OK(collection);
      ASSERT_EQ(DifferenceOfAll(**collection, model), "");
    }
  }

  std::vector<std::string> Files(const std::string& suffix) {
    std::vector<std::string> names = *files_.List("db/segments");
    std::erase_if(names, [&](const std::string& name) { return !name.ends_with(suffix); });
    return names;
  }

  MemoryFileSystem files_{MemoryFileSystem::Kind::kSimulated};
  StoreOptions options_{.background_threads = 0};
  std::shared_ptr<Store> store_;
  std::map<std::string, CollectionModel> models_;
};

TEST_F(Shelf, RebuildsCollectionsExactly) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    Fill(seed);
    Shelve();
    ExpectContents();
    EXPECT_EQ(Statistics().loaded_collections, models_.size());
    Open();
    EXPECT_EQ(Statistics().loaded_collections, 0u);
    EXPECT_EQ(Statistics().waiting_batches, 0u);
    ExpectContents();
    BatchMaker maker(seed + 100, 3, 12);
    for (int i = 0; i < kEnough; ++i) Write(std::to_string(i), maker.Batch(3));
    ExpectContents();
    files_.CutPower({.keep = PowerCut::Keep::kNothing});
    store_.reset();
    Open();
    EXPECT_GT(Statistics().waiting_batches, 0u);
    ExpectContents();
    Open(true);
    ExpectContents();
    Open();
  }
}

TEST_F(Shelf, SurvivesPowerCutsAtEveryOperation) {
  uint64_t points = 0;
  for (uint64_t at = 1;; at += kIsSanitized ? 5 : 1) {
    SCOPED_TRACE(::testing::Message() << "stopped at " << at);
    store_.reset();
    models_.clear();
    MemoryFileSystem files(MemoryFileSystem::Kind::kSimulated);
    {
      auto store = Store::Open("db", options_, &files).value();
      BatchMaker maker(at, 3, 12);
      const auto write = [&](const std::string& name) {
        auto collection = store->GetCollection({}, name);
        if (!collection.ok()) collection = store->CreateCollection(EntryNamed(name));
        const WriteBatch batch = maker.Batch(4);
        models_[name].Apply(batch);
        ASSERT_OK((*collection)->Write(batch));
      };
      for (int i = 0; i < kEnough; ++i) write(std::to_string(i));
      ASSERT_OK(store->Flush());
      for (int i = 0; i < kEnough; ++i) write(std::to_string(i));
      files.StopAt(at);
      (void)store->Flush();
    }
    const bool is_past = !files.is_stopped();
    files.CutPower(
        {.keep = at % 2 == 0 ? PowerCut::Keep::kNothing : PowerCut::Keep::kRandom, .seed = at});
    for (int opens = 0; opens < 2; ++opens) {
      auto store = Store::Open("db", options_, &files);
      ASSERT_OK(store);
      for (const auto& [name, model] : models_) {
        SCOPED_TRACE(name);
        ASSERT_EQ(DifferenceOfAll(**(*store)->GetCollection({}, name), model), "");
      }
    }
    if (is_past) break;
    ++points;
  }
  EXPECT_GT(points, Rounds(8u));
}

TEST_F(Shelf, KeepsWhatMergesRenumber) {
  options_.flush_rows_max = 64;
  Open();
  BatchMaker maker(7, 3, 40);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) Write("0", maker.Batch(20));
    ASSERT_OK(Get("0")->Flush());
  }
  WriteBatch erase;
  erase.kind = WriteKind::kDelete;
  for (int i = 0; i < 10; ++i) erase.ids.push_back("id" + std::to_string(i));
  Write("0", erase);
  for (int i = 1; i < 3 * kEnough; ++i) Write(std::to_string(i), maker.Batch(2));
  Shelve();
  ExpectContents();
  ASSERT_OK(Get("0")->Compact({}));
  ExpectContents();
  Open();
  ExpectContents();
}

TEST_F(Shelf, IsSharedByForksOfAnyDepth) {
  Fill(3);
  Shelve();
  std::string source = "0";
  for (int depth = 1; depth <= 5; ++depth) {
    const std::string name = "fork" + std::to_string(depth);
    const Uuid id = Get(source)->entry().id;
    ASSERT_OK(store_->ForkCollection(id, name));
    models_[name] = models_[source];
    BatchMaker maker(static_cast<uint64_t>(depth), 3, 12);
    if (depth % 2 == 0) Write(source, maker.Batch(3));
    source = name;
  }
  ExpectContents();
  Open();
  ExpectContents();
  ASSERT_OK(Get("fork2")->Flush());
  ASSERT_OK(store_->DeleteCollection({}, "0"));
  models_.erase("0");
  ASSERT_OK(store_->DeleteCollection({}, "fork4"));
  models_.erase("fork4");
  ExpectContents();
  Open();
  ExpectContents();
}

TEST_F(Shelf, GoesWithTheLastCollectionOnIt) {
  Fill(4);
  Shelve();
  ASSERT_EQ(Files(".shelf").size(), 1u);
  for (int i = 0; i < kEnough; ++i) {
    ASSERT_EQ(Files(".shelf").size(), 1u) << i;
    if (i % 3 == 0) ASSERT_OK(Get(std::to_string(i))->Pin());  // also one that is in use
    ASSERT_OK(store_->DeleteCollection({}, std::to_string(i)));
  }
  EXPECT_TRUE(Files(".shelf").empty());
  EXPECT_TRUE(Files(".seg").empty());
  EXPECT_TRUE(Files(".del").empty());
  EXPECT_EQ(Statistics().shelved_bytes, 0u);
}

TEST_F(Shelf, IsWrittenAnewWhenItIsMostlyDead) {
  Fill(5);
  Shelve();
  const std::vector<std::string> first = Files(".shelf");
  ASSERT_EQ(first.size(), 1u);
  // Most of it goes, then another shelf is written: what is left moves there.
  for (int i = 20; i < kEnough; ++i) {
    ASSERT_OK(store_->DeleteCollection({}, std::to_string(i)));
    models_.erase(std::to_string(i));
  }
  EXPECT_EQ(Files(".shelf"), first);
  ASSERT_OK(Get("3")->Pin());  // in use meanwhile
  BatchMaker maker(9, 3, 12);
  for (int i = 100; i < 100 + 3 * kEnough; ++i) Write(std::to_string(i), maker.Batch(3));
  ASSERT_OK(store_->Flush());
  EXPECT_EQ(Files(".shelf").size(), 1u);
  EXPECT_NE(Files(".shelf"), first);
  ExpectContents();
  Open();
  ExpectContents();
}

TEST_F(Shelf, DamageIsOneCollectionsAlone) {
  Fill(6);
  Shelve();
  const std::string path = "db/segments/" + Files(".shelf").front();
  const auto entries = (*store_->catalog())->AllCollections();
  const auto victim = std::find_if(entries.begin(), entries.end(),
                                   [](const auto& entry) { return entry.name == "33"; });
  ASSERT_NE(victim, entries.end());
  ASSERT_NE(victim->shelf.file, 0u);
  ASSERT_OK(store_->Close());
  store_.reset();
  {
    const auto file = files_.Open(path, OpenMode::kReadWrite).value();
    std::byte byte;
    ASSERT_OK(file->ReadAt(victim->shelf.offset + 30, std::span(&byte, 1)));
    byte ^= std::byte{4};
    ASSERT_OK(file->WriteAt(victim->shelf.offset + 30, std::span(&byte, 1)));
    ASSERT_OK(file->Sync());
  }
  Open();
  const auto damaged = Get("33")->Pin();
  EXPECT_CODE(damaged, Code::kDataLoss);
  EXPECT_EQ(damaged.status().detail(), Detail::kChecksum);
  EXPECT_EQ(damaged.status().file(), path);
  EXPECT_EQ(damaged.status().offset(), static_cast<int64_t>(victim->shelf.offset));
  models_.erase("33");
  ExpectContents();
  ASSERT_OK(store_->DeleteCollection({}, "33"));
}

TEST_F(Shelf, AMissingOrShortenedFileIsNamed) {
  Fill(8);
  Shelve();
  const std::string path = "db/segments/" + Files(".shelf").front();
  ASSERT_OK(store_->Close());
  store_.reset();
  ASSERT_OK(files_.Open(path, OpenMode::kReadWrite).value()->Truncate(100));
  Open(true);
  EXPECT_EQ(Get("33")->Pin().status().detail(), Detail::kTruncated);
  ASSERT_OK(files_.Remove(path));
  Open(true);
  const Status missing = Get("34")->Pin().status();
  EXPECT_EQ(missing.detail(), Detail::kMissing);
  EXPECT_EQ(missing.file(), path);
}

TEST_F(Shelf, AFailingDiskLeavesEverythingInTheLog) {
  for (const uint32_t operation : {uint32_t(FileOperation::kCreate), uint32_t(FileOperation::kWrite),
                                   uint32_t(FileOperation::kSyncDirectory)}) {
    SCOPED_TRACE(operation);
    Fill(operation);
    FileFault fault{.operations = operation};
    fault.error = ResourceExhausted(Detail::kDiskFull, "simulated full disk");
    files_.SetFault(fault);
    EXPECT_CODE(store_->Flush(), Code::kResourceExhausted);
    files_.SetFault(std::nullopt);
    ExpectContents();
    BatchMaker maker(3, 3, 12);
    Write("5", maker.Batch(3));
    Shelve();
    ExpectContents();
    Open();
    ExpectContents();
  }
}

TEST_F(Shelf, ALoadThatFailsOnceIsTriedAgain) {
  Fill(11);
  Shelve();
  files_.SetFault(FileFault{.operations = uint32_t(FileOperation::kRead)});
  EXPECT_CODE(Get("12")->Pin(), Code::kUnavailable);
  files_.SetFault(std::nullopt);
  ExpectContents();
}

}  // namespace
}  // namespace pigment

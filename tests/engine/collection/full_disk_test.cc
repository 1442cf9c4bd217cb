// SPDX-License-Identifier: Apache-2.0
//
// A store on a full disk: inserts are refused, reads and deletions go on, and everything works again
// when there is space, without reopening. And what a store leaves of text that was deleted.

#include <gtest/gtest.h>

#include <memory>

#include "engine/base/bytes.h"
#include "engine/base/memory_files.h"
#include "engine/collection/store.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

WriteBatch AddOf(int first, int count, const std::string& document = "") {
  WriteBatch batch;
  batch.dimension = 4;
  for (int i = first; i < first + count; ++i) {
    batch.ids.push_back("id" + std::to_string(i));
    batch.embeddings.insert(batch.embeddings.end(), {1.0f * i, 2, 3, 4});
    if (!document.empty()) batch.documents.emplace_back(document + std::to_string(i));
  }
  return batch;
}

WriteBatch DeleteOf(int first, int count) {
  WriteBatch batch;
  batch.kind = WriteKind::kDelete;
  for (int i = first; i < first + count; ++i) batch.ids.push_back("id" + std::to_string(i));
  return batch;
}

size_t CountOf(const Collection& collection) {
  return SelectIds(*collection.Pin().value(), {}).value().size();
}

class FullDisk : public ::testing::Test {
 protected:
  FullDisk() {
    options_.background_threads = 0;
    options_.reserve_bytes = 64 << 10;
  }
  void Open() {
    Result<std::shared_ptr<Store>> opened = Store::Open("db", options_, &files_);
    ASSERT_OK(opened);
    store_ = *std::move(opened);
  }
  std::shared_ptr<Collection> Docs(const std::string& name = "docs") {
    auto found = store_->GetCollection({}, name);
    return found.ok() ? *found : store_->CreateCollection(EntryNamed(name)).value();
  }
  void FillDisk() { files_.SetCapacity(files_.used_bytes()); }
  // Inserts until one is refused, so that nothing allocated ahead is left.
  void InsertUntilRefused(Collection& docs, int* next) {
    for (int i = 0; i < 1000; ++i) {
      const Status status = StatusOf(docs.Write(AddOf(*next, 50)));
      if (!status.ok()) {
        EXPECT_CODE(status, Code::kResourceExhausted);
        ASSERT_EQ(status.detail(), Detail::kDiskFull);
        ASSERT_FALSE(status.file().empty());
        FillDisk();  // the refusal gave back what was allocated ahead
        return;
      }
      *next += 50;
    }
    FAIL() << "the disk was never full";
  }
  bool HasReserve() { return *files_.Exists("db/RESERVE"); }

  MemoryFileSystem files_{MemoryFileSystem::Kind::kSimulated};
  StoreOptions options_;
  std::shared_ptr<Store> store_;
};

TEST_F(FullDisk, InsertsAreRefusedDeletionsGoThroughAndSpaceBringsEverythingBack) {
  Open();
  const auto docs = Docs();
  const auto other = Docs("other");
  ASSERT_OK(docs->Write(AddOf(0, 100)));
  ASSERT_OK(docs->Flush());
  ASSERT_OK(other->Write(AddOf(0, 10)));
  FillDisk();
  int next = 100;
  InsertUntilRefused(*docs, &next);
  const size_t before = CountOf(*docs);
  EXPECT_EQ(before, static_cast<size_t>(next));
  EXPECT_TRUE(HasReserve());
  ASSERT_OK(docs->Write(DeleteOf(0, 30)));
  EXPECT_EQ(CountOf(*docs), before - 30);
  EXPECT_FALSE(HasReserve());
  const Status created = StatusOf(store_->CreateCollection(EntryNamed("third")));
  EXPECT_EQ(created.detail(), Detail::kDiskFull) << created.ToString();
  const Status added = StatusOf(docs->Write(AddOf(5000, 1)));
  EXPECT_EQ(added.detail(), Detail::kDiskFull) << added.ToString();
  EXPECT_EQ(docs->Flush().detail(), Detail::kDiskFull) << "a flush adds data as well";
  ASSERT_OK(store_->DeleteCollection({}, "other"));
  EXPECT_CODE(store_->GetCollection({}, "other"), Code::kNotFound);
  EXPECT_EQ(CountOf(*docs), before - 30);

  files_.SetCapacity(0);
  ASSERT_OK(docs->Write(AddOf(5000, 1)));
  EXPECT_TRUE(HasReserve());
  ASSERT_OK(store_->CreateCollection(EntryNamed("third")));
  ASSERT_OK(docs->Flush());
  ASSERT_OK(store_->Close());
  Open();
  EXPECT_EQ(CountOf(*Docs()), before - 29);
}

TEST_F(FullDisk, AStoreOpensReadsAndDeletesWithoutABlockToSpare) {
  for (const bool is_closed : {false, true}) {
    SCOPED_TRACE(is_closed);
    files_.SetCapacity(0);
    Open();
    ASSERT_OK(Docs()->Write(AddOf(0, 100)));
    ASSERT_OK(Docs()->Flush());
    ASSERT_OK(Docs("big")->Write(AddOf(0, 3000, "a document of some length, number ")));
    ASSERT_OK(Docs("big")->Flush());
    ASSERT_OK(Docs()->Write(AddOf(100, 20)));
    if (is_closed) ASSERT_OK(store_->Close());
    store_.reset();
    files_.CutPower({.keep = PowerCut::Keep::kEverything});
    FillDisk();
    Open();
    EXPECT_EQ(CountOf(*Docs()), 120u);
    const Status added = StatusOf(Docs()->Write(AddOf(900, 2000)));
    EXPECT_EQ(added.detail(), Detail::kDiskFull) << added.ToString();
    ASSERT_OK(Docs()->Write(DeleteOf(0, 10)));
    EXPECT_EQ(CountOf(*Docs()), 110u);
    ASSERT_OK(store_->DeleteCollection({}, "big")) << "which makes room";
    ASSERT_OK(Docs()->Write(AddOf(900, 5)));
    EXPECT_TRUE(HasReserve());
    EXPECT_EQ(CountOf(*Docs()), 115u);
    ASSERT_OK(store_->DeleteCollection({}, "docs"));
    ASSERT_OK(store_->Close());
    store_.reset();
  }
}

TEST_F(FullDisk, DatabasesAndTenantsAreDeletedToo) {
  Open();
  {
    Catalog& catalog = *store_->catalog().value();
    ASSERT_OK(catalog.CreateTenant("t"));
    ASSERT_OK(catalog.CreateDatabase("t", "d"));
    ASSERT_OK(catalog.CreateDatabase("t", "e"));
  }
  int next = 0;
  const auto docs = Docs();
  FillDisk();
  InsertUntilRefused(*docs, &next);
  // Edits that need no space of their own are none: each is synced in blocks that the file has not.
  ASSERT_OK(store_->DeleteDatabase("t", "d"));
  ASSERT_OK(store_->DeleteTenant("t"));
  EXPECT_CODE(store_->catalog().value()->GetTenant("t"), Code::kNotFound);
  EXPECT_EQ(store_->catalog().value()->CreateTenant("u").detail(), Detail::kDiskFull);
  files_.SetCapacity(0);
  ASSERT_OK(store_->catalog().value()->CreateTenant("u"));
}

TEST_F(FullDisk, TwoHundredTimesFullAndFreeWithoutReopening) {
  Open();
  const auto docs = Docs();
  int next = 0;
  size_t count = 0;
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    FillDisk();
    const int first = next;
    InsertUntilRefused(*docs, &next);
    ASSERT_OK(docs->Write(DeleteOf(next - 1, 1)).status());
    count += static_cast<size_t>(next - first);
    files_.SetCapacity(0);
    ASSERT_OK(docs->Write(AddOf(next, 2)));
    next += 2;
    count += 2;
    ASSERT_TRUE(HasReserve());
    count = CountOf(*docs);
  }
  ASSERT_OK(store_->Close());
  Open();
  EXPECT_EQ(CountOf(*Docs()), count);
}

TEST_F(FullDisk, TheReserveIsAnOption) {
  Open();
  EXPECT_EQ(*(*files_.Open("db/RESERVE", OpenMode::kRead))->Size(), options_.reserve_bytes);
  EXPECT_LT(files_.used_bytes(), options_.reserve_bytes + 8192) << "a fresh store is small";
  StoreOptions other = options_;
  other.reserve_bytes = 1;
  const Status refused = StatusOf(Store::Open("db", other, &files_));
  EXPECT_CODE(refused, Code::kFailedPrecondition);
  EXPECT_NE(refused.message().find("reserve_bytes"), std::string::npos) << refused.ToString();
  ASSERT_OK(store_->Close());
  options_.reserve_bytes = 0;
  Open();
  EXPECT_FALSE(HasReserve());
  FillDisk();
  const auto docs = store_->CreateCollection(EntryNamed("docs"));
  EXPECT_EQ(docs.status().detail(), Detail::kDiskFull);
}

// Every file of the store, and what was in those that were removed since `held` were opened.
class Leftovers {
 public:
  explicit Leftovers(FileSystem* files) : files_(files) {}
  void HoldLog() {
    for (const std::string& name : files_->List("db/log").value())
      held_.push_back(files_->Open("db/log/" + name, OpenMode::kRead).value());
  }
  // The first place that has `text`; empty when none has.
  std::string Find(std::string_view text) {
    for (const char* folder : {"db", "db/log", "db/segments"}) {
      for (const std::string& name : files_->List(folder).value()) {
        const auto file = files_->Open(std::string(folder) + "/" + name, OpenMode::kRead);
        if (file.ok() && Has(**file, text)) return (*file)->path();
      }
    }
    for (const auto& file : held_) {
      if (Has(*file, text)) return "the freed blocks of " + file->path();
    }
    return "";
  }

 private:
  static bool Has(const File& file, std::string_view text) {
    std::string bytes(file.Size().value(), '\0');
    EXPECT_OK(file.ReadAt(0, std::as_writable_bytes(std::span(bytes))));
    return bytes.find(text) != std::string::npos;
  }
  FileSystem* const files_;
  std::vector<std::unique_ptr<File>> held_;
};

TEST_F(FullDisk, DeletedTextIsInNoFileOfAStoreThatErases) {
  for (const bool is_flushed_before : {false, true}) {
    SCOPED_TRACE(is_flushed_before);
    options_.erase_log = true;
    Open();
    const auto docs = Docs();
    const auto other = Docs("other");
    ASSERT_OK(docs->Write(AddOf(0, 5, "secret words ")));
    ASSERT_OK(other->Write(AddOf(0, 3, "plain words ")));
    ASSERT_OK(docs->Write(AddOf(100, 20, "plain words ")));
    Leftovers leftovers(&files_);
    EXPECT_NE(leftovers.Find("secret words"), "") << "the test must be able to see it";
    leftovers.HoldLog();
    if (is_flushed_before) ASSERT_OK(docs->Flush());
    leftovers.HoldLog();
    ASSERT_OK(docs->Write(DeleteOf(0, 5)));
    leftovers.HoldLog();
    ASSERT_OK(docs->Compact());
    EXPECT_EQ(leftovers.Find("secret words"), "");
    EXPECT_EQ(CountOf(*docs), 20u);
    ASSERT_OK(store_->Close());
    EXPECT_EQ(leftovers.Find("secret words"), "");
    Open();
    EXPECT_EQ(CountOf(*Docs()), 20u);
    EXPECT_EQ(CountOf(*Docs("other")), 3u);
    ASSERT_OK(store_->DeleteCollection({}, "docs"));
    ASSERT_OK(store_->DeleteCollection({}, "other"));
    ASSERT_OK(store_->Close());
    store_.reset();
  }
}

}  // namespace
}  // namespace pigment

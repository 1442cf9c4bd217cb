// SPDX-License-Identifier: Apache-2.0
//
// A store that only reads, beside a writer, on one simulated file system: what it keeps from the
// writer by its pins, and what it lets go. "db" and "./db" are one directory and two engines, as
// two processes would have them.

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/base/memory_files.h"
#include "engine/base/reader_pins.h"
#include "engine/collection/store.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

class Reader : public ::testing::Test {
 protected:
  Reader() {
    writer_ = Store::Open("db", {}, &files_).value();
    docs_ = writer_->CreateCollection(EntryNamed("docs")).value();
  }
  std::shared_ptr<Store> Read() {
    StoreOptions options;
    options.read_only = true;
    auto store = Store::Open("./db", options, &files_);
    EXPECT_OK(store);
    return store.ok() ? *store : nullptr;
  }
  void Add(const std::string& id) {
    WriteBatch batch;
    batch.ids = {id};
    batch.dimension = 2;
    batch.embeddings = {1, 2};
    ASSERT_OK(docs_->Write(batch));
  }
  void Delete(const std::string& id) {
    WriteBatch batch;
    batch.kind = WriteKind::kDelete;
    batch.ids = {id};
    ASSERT_OK(docs_->Write(batch));
  }
  size_t Segments() { return files_.List("db/segments").value().size(); }
  static std::vector<std::string> IdsOf(Store& store) {
    return pigment::IdsOf(*store.GetCollection({}, "docs").value());
  }

  MemoryFileSystem files_{MemoryFileSystem::Kind::kSimulated};
  std::shared_ptr<Store> writer_;
  std::shared_ptr<Collection> docs_;
};

using Ids = std::vector<std::string>;

TEST_F(Reader, KeepsTheFilesOfItsVersionUntilItRefreshes) {
  Add("a");
  Add("b");
  ASSERT_OK(writer_->Flush());
  const auto reader = Read();
  ASSERT_EQ(Segments(), 1u);
  Delete("a");
  Delete("b");
  ASSERT_OK(writer_->Flush());  // drops the segment
  EXPECT_EQ(Segments(), 1u);
  EXPECT_EQ(IdsOf(*reader), (Ids{"a", "b"}));
  ASSERT_OK(reader->Refresh());
  EXPECT_EQ(IdsOf(*reader), Ids{});
  Add("c");
  ASSERT_OK(writer_->Flush());
  Delete("c");
  Add("d");
  ASSERT_OK(writer_->Flush());  // looks again, and drops the second
  ASSERT_OK(reader->Refresh());
  EXPECT_EQ(IdsOf(*reader), Ids{"d"});
  ASSERT_OK(writer_->Close());
  EXPECT_EQ(Segments(), 1u);
}

TEST_F(Reader, ThatIsClosedKeepsNothingThoughItsHandlesLive) {
  Add("a");
  ASSERT_OK(writer_->Flush());
  const auto reader = Read();
  const auto docs = reader->GetCollection({}, "docs").value();
  const auto version = docs->Pin().value();
  ASSERT_OK(reader->Close());
  EXPECT_EQ(docs->Pin().status().detail(), Detail::kClosed);
  EXPECT_EQ(reader->Refresh().status().detail(), Detail::kClosed);
  Delete("a");
  ASSERT_OK(writer_->Flush());
  EXPECT_EQ(Segments(), 0u);
  EXPECT_EQ(SelectIds(*version, {}).value(), Ids{"a"});  // its files are open
}

TEST_F(Reader, KeepsItsFilesThroughTheNextWriterToo) {
  Add("a");
  ASSERT_OK(writer_->Flush());
  const auto reader = Read();
  Delete("a");
  ASSERT_OK(writer_->Flush());
  docs_.reset();
  ASSERT_OK(writer_->Close());
  EXPECT_EQ(Segments(), 1u);
  writer_ = Store::Open("db", {}, &files_).value();
  EXPECT_EQ(Segments(), 1u);
  EXPECT_EQ(IdsOf(*reader), Ids{"a"});
  ASSERT_OK(reader->Close());
  ASSERT_OK(writer_->Close());
  writer_ = Store::Open("db", {}, &files_).value();
  EXPECT_EQ(Segments(), 0u);
}

TEST_F(Reader, ReadsACopyWithoutALockAndStartsAgainWhenAWriterComes) {
  Add("a");
  docs_.reset();
  ASSERT_OK(writer_->Close());
  ASSERT_OK(files_.Remove("db/LOCK"));
  const auto reader = Read();
  EXPECT_EQ(IdsOf(*reader), Ids{"a"});
  EXPECT_FALSE(files_.Exists("db/LOCK").value());
  writer_ = Store::Open("db", {}, &files_).value();
  docs_ = writer_->GetCollection({}, "docs").value();
  Add("b");
  ASSERT_OK(writer_->Flush());
  ASSERT_OK(reader->Refresh());
  EXPECT_EQ(IdsOf(*reader), (Ids{"a", "b"}));
  Delete("a");
  Delete("b");
  ASSERT_OK(writer_->Flush());
  EXPECT_EQ(Segments(), 1u) << "it pins now";
}

TEST_F(Reader, SeesAStoreWithoutCollectionsWhoseMakerDiedBeforeItsLog) {
  MemoryFileSystem files{MemoryFileSystem::Kind::kSimulated};
  {
    const auto maker = Store::Open("db", {}, &files).value();
    ASSERT_OK(maker->Close());
  }
  for (const std::string& name : files.List("db/log").value()) {
    ASSERT_OK(files.Remove("db/log/" + name));
  }
  ASSERT_OK(files.Remove("db/log"));
  StoreOptions options;
  options.read_only = true;
  const auto reader = Store::Open("./db", options, &files);
  ASSERT_OK(reader);
  EXPECT_CODE((*reader)->GetCollection({}, "docs"), Code::kNotFound);
}

}  // namespace
}  // namespace pigment

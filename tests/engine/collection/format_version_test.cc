// SPDX-License-Identifier: Apache-2.0
//
// A file of a newer format is refused with both numbers, whichever kind it is: log, catalog, its
// edits, segment, deletions, shelf.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "engine/base/bytes.h"
#include "engine/base/memory_files.h"
#include "engine/base/record_framing.h"
#include "engine/block/block.h"
#include "engine/catalog/catalog_files.h"
#include "engine/collection/deletions_file.h"
#include "engine/collection/shelf_file.h"
#include "engine/collection/store.h"
#include "engine/log/log_replay.h"
#include "engine/segment/root.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kNewer = 77;

std::string BytesOf(MemoryFileSystem& files, const std::string& path) {
  const auto file = files.Open(path, OpenMode::kRead).value();
  std::string bytes(*file->Size(), '\0');
  EXPECT_OK(file->ReadAt(0, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

void Replace(MemoryFileSystem& files, const std::string& path, const std::string& bytes) {
  const auto file = files.Open(path, OpenMode::kReadWrite).value();
  ASSERT_OK(file->WriteAt(0, AsBytes(bytes)));
}

// The file of `directory` whose name ends so.
std::string Find(MemoryFileSystem& files, const std::string& directory, const std::string& begin,
                 const std::string& end) {
  for (const std::string& name : *files.List(directory)) {
    if (name.starts_with(begin) && name.ends_with(end)) return directory + "/" + name;
  }
  ADD_FAILURE() << "no " << begin << "*" << end;
  return "";
}

void RaiseFramed(MemoryFileSystem& files, const std::string& path, FramedKind kind) {
  std::string bytes = BytesOf(files, path);
  auto header = DecodeFramedHeader(AsBytes(bytes), kind, 1000, path);
  ASSERT_OK(header);
  header->version = kNewer;
  bytes.replace(0, kFramedHeaderBytes, EncodeFramedHeader(*header));
  Replace(files, path, bytes);
}

class FormatVersion : public ::testing::Test {
 protected:
  // A store with a file of every kind: "docs" has a segment with deletions, the others are shelved.
  void SetUp() override {
    const auto store = Store::Open("db", {.background_threads = 0}, &files_).value();
    BatchMaker maker(1, 3, 20);
    const auto docs = store->CreateCollection(EntryNamed("docs")).value();
    WriteBatch batch;
    batch.ids = {"a", "b", "c"};
    batch.dimension = 3;
    batch.embeddings.assign(9, 1);
    ASSERT_OK(docs->Write(batch));
    ASSERT_OK(docs->Flush());
    WriteBatch erase;
    erase.kind = WriteKind::kDelete;
    erase.ids = {"b"};
    ASSERT_OK(docs->Write(erase));
    ASSERT_OK(docs->Flush());
    for (int i = 0; i < 70; ++i)
      ASSERT_OK(
          store->CreateCollection(EntryNamed("cold" + std::to_string(i))).value()->Write(batch));
    ASSERT_OK(store->Flush());
    ASSERT_OK(store->Close());
  }

  Status Open() {
    const auto store = Store::Open("db", {.background_threads = 0}, &files_);
    return store.status();
  }
  Status Use(const std::string& name) {
    const auto store = Store::Open("db", {.background_threads = 0}, &files_);
    if (!store.ok()) return store.status();
    return (*store)->GetCollection({}, name).value()->Pin().status();
  }

  static void ExpectRefused(const Status& status, uint32_t known) {
    EXPECT_CODE(status, Code::kVersionMismatch);
    EXPECT_THAT(status.message(), HasSubstr(std::to_string(kNewer)));
    EXPECT_THAT(status.message(), HasSubstr("up to " + std::to_string(known)));
  }

  MemoryFileSystem files_;
};

TEST_F(FormatVersion, OfTheLogIsChecked) {
  RaiseFramed(files_, Find(files_, "db/log", "", ".log"), FramedKind::kLog);
  ExpectRefused(Open(), kLogVersion);
}

TEST_F(FormatVersion, OfTheCatalogIsChecked) {
  RaiseFramed(files_, "db/CATALOG", FramedKind::kCatalogSnapshot);
  ExpectRefused(Open(), kCatalogVersion);
}

TEST_F(FormatVersion, OfTheCatalogsEditsIsChecked) {
  RaiseFramed(files_, Find(files_, "db", "CATALOG.edits.", ""), FramedKind::kCatalogEdits);
  ExpectRefused(Open(), kCatalogVersion);
}

TEST_F(FormatVersion, OfAShelfIsCheckedForItsCollectionsAlone) {
  RaiseFramed(files_, Find(files_, "db/segments", "", ".shelf"), FramedKind::kShelf);
  ExpectRefused(Use("cold3"), kShelfVersion);
  EXPECT_OK(Use("docs"));
}

TEST_F(FormatVersion, OfDeletionsIsCheckedForItsCollectionAlone) {
  const std::string path = Find(files_, "db/segments", "", ".del");
  std::string bytes = BytesOf(files_, path);
  bytes[8] = static_cast<char>(kNewer);
  Replace(files_, path, bytes);
  ExpectRefused(Use("docs"), kDeletionsFormat);
  EXPECT_OK(Use("cold3"));
}

TEST_F(FormatVersion, OfASegmentIsCheckedForItsCollectionAlone) {
  const std::string path = Find(files_, "db/segments", "", ".seg");
  std::string bytes = BytesOf(files_, path);
  const auto all = std::as_writable_bytes(std::span(bytes));
  const BlockBytes root = all.last<kBlockBytes>();
  const BlockTrailer trailer = ReadBlockTrailer(root);
  ASSERT_EQ(trailer.kind, BlockKind::kRoot);
  RootHeader header;
  std::memcpy(&header, BlockPayload(root).data(), sizeof header);
  header.format = kNewer;
  std::memcpy(BlockPayload(root).data(), &header, sizeof header);
  SealBlock(root, trailer.kind, trailer.segment, trailer.logical);
  Replace(files_, path, bytes);
  const Status status = Use("docs");
  EXPECT_CODE(status, Code::kVersionMismatch);
  EXPECT_THAT(status.message(), HasSubstr(std::to_string(kNewer)));
  EXPECT_THAT(status.message(), HasSubstr(std::to_string(kSegmentFormat)));
  EXPECT_OK(Use("cold3"));
}

}  // namespace
}  // namespace pigment

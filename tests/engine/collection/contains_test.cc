// SPDX-License-Identifier: Apache-2.0
//
// ContainsIds agrees with the model and looks at ids alone: where every block of records, documents, vectors and codes is
// damaged it still answers, and a read of what they hold does not.

#include "engine/collection/contains.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "engine/base/memory_files.h"
#include "engine/block/block.h"
#include "engine/collection/store.h"
#include "engine/query/search.h"
#include "tests/support/backup_workload.h"
#include "tests/support/effort.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

constexpr int kRows = 3000;  // so that each part has blocks of its own

WriteBatch Rows() {
  WriteBatch batch;
  batch.kind = WriteKind::kAdd;
  batch.dimension = 8;
  for (int row = 0; row < kRows; ++row) {
    batch.ids.push_back("id-" + std::to_string(row));
    batch.embeddings.insert(batch.embeddings.end(), 8, static_cast<float>(row));
    batch.documents.emplace_back("document " + std::to_string(row));
    batch.metadatas.emplace_back(Metadata{{"row", int64_t{row}}});
  }
  return batch;
}

// Damages every block that holds more than ids. How many were.
int DamageAllButIds(FileSystem& files) {
  int damaged = 0;
  for (const std::string& name : files.List("db/segments").value()) {
    if (!name.ends_with(".seg")) continue;
    const auto file = files.Open("db/segments/" + name, OpenMode::kReadWrite).value();
    for (uint64_t at = 0; at < file->Size().value(); at += kBlockBytes) {
      std::array<std::byte, kBlockBytes> block{};
      EXPECT_OK(file->ReadAt(at, block));
      switch (ReadBlockTrailer(block).kind) {
        case BlockKind::kVectors:
        case BlockKind::kCodes:
        case BlockKind::kRecords:
        case BlockKind::kDocuments:
          block[100] ^= std::byte{1};
          EXPECT_OK(file->WriteAt(at, block));
          ++damaged;
          break;
        default:
          break;
      }
    }
  }
  return damaged;
}

TEST(Contains, AgreesWithTheModel) {
  for (uint64_t seed = 1; seed <= AtEffort(20); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    BackupWorld world(seed);
    for (const char* name : {"busy", "cold"}) {
      const auto version = world.Collection(name)->Pin().value();
      std::vector<std::string> ids;
      for (int i = 0; i < 45; ++i) ids.push_back("id" + std::to_string(i));
      ids.push_back(ids.front());
      ids.push_back("nobody");
      const std::vector<std::string_view> views(ids.begin(), ids.end());
      const auto found = ContainsIds(*version, views);
      ASSERT_OK(found);
      for (size_t i = 0; i < ids.size(); ++i) {
        EXPECT_EQ((*found)[i], world.model(name).records().contains(ids[i])) << ids[i];
      }
      EXPECT_TRUE(ContainsIds(*version, {})->empty());
    }
  }
}

TEST(Contains, IsAnsweredWithoutARecord) {
  MemoryFileSystem files;
  {
    const auto store = Store::Open("db", {}, &files).value();
    ASSERT_OK(store->CreateCollection(EntryNamed("docs")));
    const auto docs = store->GetCollection({}, "docs").value();
    ASSERT_OK(docs->Write(Rows()));
    ASSERT_OK(docs->Flush());
    ASSERT_OK(store->Close());
  }
  ASSERT_GE(DamageAllButIds(files), 10);
  const auto store = Store::Open("db", {}, &files).value();
  const auto version = store->GetCollection({}, "docs").value()->Pin().value();
  std::vector<std::string> ids;
  for (int row = 0; row < 2 * kRows; ++row) ids.push_back("id-" + std::to_string(row));
  const std::vector<std::string_view> asked(ids.begin(), ids.end());
  const auto contained = ContainsIds(*version, asked);
  ASSERT_OK(contained);
  for (int row = 0; row < 2 * kRows; ++row) ASSERT_EQ((*contained)[row], row < kRows) << row;

  GetRequest request;
  request.read.include.documents = true;
  EXPECT_EQ(Get(*version, request).status().code(), Code::kDataLoss);
}

}  // namespace
}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// The order of what the engine does to its files, which is what makes a crash harmless: written,
// synced, named, synced again, published, and only then is anything removed. Kept as it must be,
// line by line, from the trace of the file system in memory.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/base/memory_files.h"
#include "engine/collection/store.h"
#include "tests/process/journal.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

using ::testing::ElementsAre;

// "write db/segments/1.seg 0+8192" is "write segments/1.seg"; the same line again is left out, and
// so are allocations, which only take space.
std::vector<std::string> Shorten(const std::vector<std::string>& trace) {
  std::vector<std::string> lines;
  for (std::string line : trace) {
    if (line.starts_with("allocate")) continue;
    for (size_t at; (at = line.find("db/")) != std::string::npos;) line.erase(at, 3);
    if (line.starts_with("write ")) line.resize(line.rfind(' '));
    if (line.starts_with("truncate ")) line.resize(line.rfind(' '));
    if (lines.empty() || lines.back() != line) lines.push_back(line);
  }
  return lines;
}

class Trace : public ::testing::Test {
 protected:
  Trace() {
    StoreOptions options;
    options.background_threads = 0;
    store_ = Store::Open("db", options, &files_).value();
    journal_ = store_->CreateCollection(EntryNamed("journal")).value();
    EXPECT_OK(WriteJournal(*journal_, 0));  // the log has allocated its space, segments are numbered
    EXPECT_OK(store_->Flush());
  }
  template <typename Work>
  std::vector<std::string> Of(const Work& work) {
    files_.StartTrace();
    work();
    return Shorten(files_.TakeTrace());
  }

  MemoryFileSystem files_{MemoryFileSystem::Kind::kSimulated};
  std::shared_ptr<Store> store_;
  std::shared_ptr<Collection> journal_;
};

const char kLog[] = "log/0000000001.log";
const char kEdits[] = "CATALOG.edits.0000000001";

TEST_F(Trace, AWriteIsOneWriteAndOneSyncOfTheLog) {
  EXPECT_THAT(Of([&] { ASSERT_OK(WriteJournal(*journal_, 1)); }),
              ElementsAre(std::string("write ") + kLog, std::string("sync ") + kLog));
}

TEST_F(Trace, AnEditOfTheCatalogIsOneWriteAndOneSync) {
  EXPECT_THAT(Of([&] { ASSERT_OK((*store_->catalog())->CreateTenant("another")); }),
              ElementsAre(std::string("write ") + kEdits, std::string("sync ") + kEdits));
}

TEST_F(Trace, AFlushPublishesByOneEditWhatIsDurableWithItsName) {
  ASSERT_OK(WriteJournal(*journal_, 1));
  EXPECT_THAT(Of([&] { ASSERT_OK(journal_->Flush()); }),
              ElementsAre("create segments/2.seg", "write segments/2.seg", "sync segments/2.seg",
                          "syncdir segments", std::string("write ") + kEdits,
                          std::string("sync ") + kEdits));
}

TEST_F(Trace, DeletionsAreDurableBeforeTheEditThatNamesThemAndTheOldOnesGoAfterIt) {
  for (uint64_t number = 1; number < 6; ++number) ASSERT_OK(WriteJournal(*journal_, number));
  ASSERT_OK(journal_->Flush());
  WriteBatch erase;
  erase.kind = WriteKind::kDelete;
  erase.ids = {"1.a"};
  ASSERT_OK(journal_->Write(erase));
  EXPECT_THAT(Of([&] { ASSERT_OK(journal_->Flush()); }),
              ElementsAre("create segments/2.3.del", "write segments/2.3.del",
                          "sync segments/2.3.del", "syncdir segments",
                          std::string("write ") + kEdits, std::string("sync ") + kEdits));
  erase.ids = {"1.b", "2.a", "2.b", "3.a", "3.b", "4.a", "4.b", "5.a", "5.b"};
  ASSERT_OK(journal_->Write(erase));
  // The last rows: the segment is dropped, and both files go once that is durable.
  EXPECT_THAT(Of([&] { ASSERT_OK(journal_->Flush()); }),
              ElementsAre("syncdir segments", std::string("write ") + kEdits,
                          std::string("sync ") + kEdits, "remove segments/2.seg",
                          "remove segments/2.3.del"));
}

TEST_F(Trace, AMergeRemovesItsInputsAfterTheEditThatSwapsThem) {
  ASSERT_OK(WriteJournal(*journal_, 1));
  ASSERT_OK(journal_->Flush());
  EXPECT_THAT(Of([&] { ASSERT_OK(journal_->Compact()); }),
              ElementsAre("create segments/3.seg", "write segments/3.seg", "sync segments/3.seg",
                          "syncdir segments", std::string("write ") + kEdits,
                          std::string("sync ") + kEdits, "remove segments/1.seg",
                          "remove segments/2.seg"));
}

TEST_F(Trace, ACheckpointNamesNewEditsByANewSnapshotBeforeTheOldOnesGo) {
  EXPECT_THAT(
      Of([&] { ASSERT_OK((*store_->catalog())->Checkpoint()); }),
      ElementsAre("create CATALOG.edits.0000000002.tmp", "write CATALOG.edits.0000000002.tmp",
                  "sync CATALOG.edits.0000000002.tmp",
                  "rename CATALOG.edits.0000000002.tmp CATALOG.edits.0000000002", "syncdir db",
                  "create CATALOG.tmp", "write CATALOG.tmp", "sync CATALOG.tmp",
                  "rename CATALOG.tmp CATALOG", "syncdir db", "remove CATALOG.edits.0000000001"));
}

TEST_F(Trace, DeletingACollectionIsDurableBeforeItsFilesGo) {
  EXPECT_THAT(Of([&] { ASSERT_OK(store_->DeleteCollection({}, "journal")); }),
              ElementsAre(std::string("write ") + kEdits, std::string("sync ") + kEdits,
                          "remove segments/1.seg"));
}

TEST_F(Trace, APurgeOfTheLogFollowsTheEditsThatRaisedTheFloors) {
  // 64 MiB make a purge due.
  WriteBatch batch;
  batch.kind = WriteKind::kUpsert;
  batch.dimension = 2;
  batch.ids = {"large"};
  batch.embeddings = {1, 2};
  batch.documents = {std::string(size_t{9} << 20, 'x')};
  const auto trace = Of([&] {
    for (int i = 0; i < 16; ++i) ASSERT_OK(journal_->Write(batch));
  });
  const auto removed =
      std::find(trace.begin(), trace.end(), std::string("remove ") + kLog);
  ASSERT_NE(removed, trace.end());
  const auto last_of = [&](const std::string& line) {
    return std::find(std::make_reverse_iterator(removed), trace.rend(), line).base();
  };
  const auto edit = last_of(std::string("sync ") + kEdits);
  const auto segment = std::find_if(std::make_reverse_iterator(removed), trace.rend(),
                                    [](const std::string& line) {
                                      return line.starts_with("sync segments/");
                                    });
  ASSERT_NE(segment, trace.rend()) << "no segment was synced before the log went";
  EXPECT_LT(segment.base(), edit) << "the floor rose before the segment was durable";
  EXPECT_EQ(std::count_if(edit, removed, [](const std::string& line) {
              return line.starts_with("create segments/");
            }),
            0);
}

}  // namespace
}  // namespace pigment

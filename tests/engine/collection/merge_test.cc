// SPDX-License-Identifier: Apache-2.0
//
// Merges against the model: what is written, deleted and flushed while one runs, what a power cut
// leaves of one, what a fault does to one, and what the disk holds afterwards.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <thread>

#include "engine/base/memory_files.h"
#include "engine/collection/store.h"
#include "tests/support/effort.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

using Kind = MemoryFileSystem::Kind;

// A file system that calls back when the next segment is created, before it is: a merge has claimed
// its inputs then, and its output is still to be written; or when the next file is removed: a flush
// has published what takes its place.
class SegmentHookFiles final : public FileSystem {
 public:
  explicit SegmentHookFiles(Kind kind = Kind::kVolatile) : memory(kind) {}

  MemoryFileSystem memory;

  void OnSegment(std::function<void()> hook) {
    std::lock_guard lock(mutex_);
    hook_ = std::move(hook);
  }
  void OnRemoval(std::function<void()> hook) {
    std::lock_guard lock(mutex_);
    removal_hook_ = std::move(hook);
  }

  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override {
    if (mode == OpenMode::kCreate && path.ends_with(".seg")) CallOnce(hook_);
    return memory.Open(path, mode);
  }
  Status Rename(const std::string& from, const std::string& to) override {
    return memory.Rename(from, to);
  }
  Status Remove(const std::string& path) override {
    CallOnce(removal_hook_);
    return memory.Remove(path);
  }
  Status MakeDirectory(const std::string& path) override { return memory.MakeDirectory(path); }
  Result<std::vector<std::string>> List(const std::string& directory) override {
    return memory.List(directory);
  }
  Result<bool> Exists(const std::string& path) override { return memory.Exists(path); }
  Status SyncDirectory(const std::string& path) override { return memory.SyncDirectory(path); }
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path,
                                         std::string_view holder) override {
    return memory.Lock(path, holder);
  }
  Result<std::unique_ptr<FileLock>> PinPosition(const std::string& path,
                                                uint64_t position) override {
    return memory.PinPosition(path, position);
  }
  Result<bool> IsPinnedBelow(const std::string& path, uint64_t position) override {
    return memory.IsPinnedBelow(path, position);
  }

 private:
  void CallOnce(std::function<void()>& hook) {
    std::function<void()> taken;
    {
      std::lock_guard lock(mutex_);
      taken.swap(hook);
    }
    if (taken) taken();
  }

  std::mutex mutex_;
  std::function<void()> hook_;
  std::function<void()> removal_hook_;
};

StoreOptions Options(uint32_t threads, uint32_t flush_rows = 10) {
  StoreOptions options;
  options.background_threads = threads;
  options.flush_rows_max = flush_rows;
  // Where the threads are the tests' own, segments have graphs as soon as two flushes are merged;
  // otherwise time would decide when.
  options.index_rows_min = threads == 0 ? 20 : 0xFFFFFFFF;
  options.cluster_rows_min = 8;
  return options;
}

WriteBatch BatchOf(WriteKind kind, uint32_t first, uint32_t rows) {
  WriteBatch batch;
  batch.kind = kind;
  for (uint32_t row = first; row < first + rows; ++row)
    batch.ids.push_back("id" + std::to_string(row));
  if (kind == WriteKind::kDelete) return batch;
  batch.dimension = 4;
  for (uint32_t row = first; row < first + rows; ++row) {
    for (uint32_t i = 0; i < 4; ++i) batch.embeddings.push_back(static_cast<float>(row * 4 + i));
    batch.documents.push_back("document " + std::to_string(row));
  }
  return batch;
}

// Names of the files that the collections of a store should have, as they describe themselves.
std::set<std::string> NamedFiles(Store& store, const std::vector<std::string>& collections) {
  std::set<std::string> names;
  for (const std::string& name : collections) {
    const auto collection = store.GetCollection({}, name).value();
    const auto segments = collection->Segments();
    if (!segments.ok()) continue;
    for (const SegmentDescription& segment : *segments)
      names.insert(segment.path.substr(segment.path.rfind('/') + 1));
  }
  return names;
}

std::set<std::string> SegmentFiles(FileSystem& files) {
  std::set<std::string> names;
  for (const std::string& name : files.List("db/segments").value()) {
    if (name.ends_with(".seg")) names.insert(name);
  }
  return names;
}

void WaitForQuiet(Store& store) {
  for (int i = 0; i < 20'000; ++i) {
    const auto now = store.maintenance().value();
    if (now.running == 0 && now.queued == 0) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  FAIL() << "merges do not end";
}

TEST(Merge, HistoriesAnswerAsTheModelWhoeverMerges) {
  uint64_t merges = 0;
  for (uint64_t seed = 1; seed <= Rounds(60u) && !::testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    MemoryFileSystem files;
    BatchMaker maker(seed, 3, 60);
    CollectionModel model;
    const StoreOptions options = Options(seed % 2, 4 + static_cast<uint32_t>(seed % 3) * 5);
    for (int life = 0; life < 3; ++life) {
      SCOPED_TRACE("life " + std::to_string(life));
      const auto store = Store::Open("db", options, &files).value();
      const auto docs = DocsOf(*store);
      ASSERT_EQ(DifferenceOfAll(*docs, model), "") << "after reopening";
      for (int step = 0; step < 60; ++step) {
        const WriteBatch batch = maker.Batch(8);
        const auto counts = docs->Write(batch);
        ASSERT_OK(counts);
        const WriteCounts expected = model.Apply(batch);
        ASSERT_EQ(counts->counts.inserted, expected.inserted);
        ASSERT_EQ(counts->counts.deleted, expected.deleted);
        if (maker.Chance(10)) ASSERT_OK(docs->Flush());
        if (maker.Chance(5)) {
          const auto result = docs->Compact();
          ASSERT_OK(result);
          ASSERT_EQ(result->records, model.records().size());
          ASSERT_LE(result->segments_out, 1u);
        }
        if (maker.Chance(30)) {
          ASSERT_EQ(DifferenceOfAll(*docs, model), "") << "step " << step;
        }
      }
      QueryRequest request;
      const std::vector<float> vector(3, 0.5f);
      request.embeddings = vector;
      request.queries = 1;
      request.dimension = 3;
      request.k = 7;
      request.read.include.distances = true;
      ASSERT_EQ(DifferenceOfQuery(**docs->Pin(), model, request), "");
      ASSERT_EQ(DifferenceOfAll(*docs, model), "");
      WaitForQuiet(*store);
      merges += store->maintenance().value().merges;
      ASSERT_EQ(SegmentFiles(files), NamedFiles(*store, {"docs"}));
    }
  }
  EXPECT_GT(merges, Rounds(300u));
}

TEST(Merge, KeepsWhatIsWrittenDeletedAndFlushedMeanwhile) {
  uint64_t hooks = 0;
  for (uint64_t seed = 1; seed <= Rounds(40u); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SegmentHookFiles files;
    BatchMaker maker(seed, 3, 40);
    CollectionModel model;
    for (int life = 0; life < 3; ++life) {
      const auto store = Store::Open("db", Options(0, 1000), &files).value();
      const auto docs = DocsOf(*store);
      ASSERT_EQ(DifferenceOfAll(*docs, model), "") << "after reopening";
      const auto write = [&](int batches) {
        for (int i = 0; i < batches; ++i) {
          const WriteBatch batch = maker.Batch(8);
          ASSERT_OK(docs->Write(batch));
          model.Apply(batch);
          ASSERT_EQ(DifferenceOfAll(*docs, model), "");
        }
      };
      for (int round = 0; round < 4; ++round) {
        for (int i = 0; i < 3; ++i) {
          write(2);
          ASSERT_OK(docs->Flush());
        }
        const auto before = docs->Pin().value();
        const CollectionModel model_before = model;
        // Deletions that only the log has when the merge begins, then some that are stored while it
        // runs, then some that only the log has when it ends.
        files.OnSegment([&] {
          write(1);
          files.OnSegment([&] {
            ++hooks;
            write(1);
            if (maker.Chance(70)) ASSERT_OK(docs->Flush());
            write(1);
          });
        });
        write(1);
        ASSERT_OK(docs->Compact());
        files.OnSegment(nullptr);
        ASSERT_EQ(DifferenceOfAll(*docs, model), "") << "after the compaction";
        GetRequest everything;
        everything.read.include = {true, true, true, true, false};
        ASSERT_EQ(DifferenceOfGet(*before, model_before, everything), "")
            << "a pinned version changed";
      }
    }
  }
  EXPECT_GT(hooks, Rounds(250u));
}

// Replay must find the records that updates above the floor change, although these rows were dead
// when the merge ran.
TEST(Merge, KeepsRowsThatOnlyTheLogKilled) {
  SegmentHookFiles files(Kind::kSimulated);
  CollectionModel model;
  {
    const auto store = Store::Open("db", Options(0, 1000), &files).value();
    const auto docs = DocsOf(*store);
    const auto write = [&](const WriteBatch& batch) {
      ASSERT_OK(docs->Write(batch));
      model.Apply(batch);
    };
    const auto update = [&](uint32_t first) {
      WriteBatch batch = BatchOf(WriteKind::kUpdate, first, 3);
      batch.embeddings.clear();  // the record keeps its vector, which only the segment has
      write(batch);
    };
    write(BatchOf(WriteKind::kAdd, 0, 10));
    ASSERT_OK(docs->Flush());
    write(BatchOf(WriteKind::kAdd, 10, 10));
    // The compaction flushes first: what is written now is above its floor and known to its merge.
    files.OnSegment([&] {
      update(5);
      write(BatchOf(WriteKind::kDelete, 15, 2));
      files.OnSegment([&] { update(12); });  // and this is not known to it
    });
    ASSERT_OK(docs->Compact());
    ASSERT_EQ(docs->Segments()->size(), 1u);
    EXPECT_EQ(docs->Segments()->front().rows, 20u);
    EXPECT_EQ(docs->Segments()->front().live_rows, 12u);
    ASSERT_EQ(DifferenceOfAll(*docs, model), "");
    files.memory.CutPower({.keep = PowerCut::Keep::kNothing});
  }
  const auto store = Store::Open("db", Options(0, 1000), &files).value();
  ASSERT_EQ(DifferenceOfAll(*DocsOf(*store), model), "");
}

TEST(Merge, EveryPointOfACompactionSurvivesAPowerCut) {
  uint64_t points = 0;
  for (uint64_t at = 1;; ++at) {
    SCOPED_TRACE("stopped at operation " + std::to_string(at));
    MemoryFileSystem files(Kind::kSimulated);
    BatchMaker maker(at, 3, 40);
    CollectionModel model;
    bool is_past = false;
    {
      const auto store = Store::Open("db", Options(0, 1000), &files).value();
      const auto docs = DocsOf(*store);
      for (int flush = 0; flush < 3; ++flush) {
        for (int i = 0; i < 4; ++i) {
          const WriteBatch batch = maker.Batch(8);
          ASSERT_OK(docs->Write(batch));
          model.Apply(batch);
        }
        if (flush < 2) ASSERT_OK(docs->Flush());
      }
      files.StopAt(at);
      (void)docs->Compact();
      is_past = !files.is_stopped();
    }
    static constexpr PowerCut::Keep kKeeps[] = {PowerCut::Keep::kNothing,
                                                PowerCut::Keep::kEverything,
                                                PowerCut::Keep::kPrefix, PowerCut::Keep::kRandom};
    files.CutPower({.keep = kKeeps[at % 4], .seed = at});
    const auto store = Store::Open("db", Options(0, 1000), &files);
    ASSERT_OK(store);
    const auto docs = DocsOf(**store);
    ASSERT_EQ(DifferenceOfAll(*docs, model), "");
    ASSERT_EQ(SegmentFiles(files), NamedFiles(**store, {"docs"})) << "left behind";
    ASSERT_OK(docs->Compact());
    ASSERT_EQ(DifferenceOfAll(*docs, model), "");
    if (is_past) break;
    ++points;
  }
  EXPECT_GT(points, 12u);
}

// A file that cannot be removed stays until the next open; all others go at once.
TEST(Merge, AFaultAtAnyOperationLosesNothingAndLeavesNothing) {
  // Looking for readers of a file, and removing it.
  constexpr uint32_t kRemoval =
      static_cast<uint32_t>(FileOperation::kRemove) | static_cast<uint32_t>(FileOperation::kLock);
  uint64_t failures = 0;
  for (const auto& error : {Status(Code::kUnavailable, "simulated input/output error"),
                            ResourceExhausted(Detail::kDiskFull, "no space left")}) {
    for (uint64_t at = 1; at <= 60; ++at) {
      SCOPED_TRACE(error.message() + " at operation " + std::to_string(at));
      MemoryFileSystem files(Kind::kSimulated);
      BatchMaker maker(at, 3, 40);
      CollectionModel model;
      const auto store = Store::Open("db", Options(0, 1000), &files).value();
      const auto docs = DocsOf(*store);
      for (int i = 0; i < 12; ++i) {
        const WriteBatch batch = maker.Batch(8);
        ASSERT_OK(docs->Write(batch));
        model.Apply(batch);
        if (i % 4 == 3) ASSERT_OK(docs->Flush());
      }
      files.SetFault(FileFault{.operations = kAnyFileOperation & ~kRemoval,
                               .at = at,
                               .forever = at % 2 == 0,
                               .error = error});
      const auto compacted = docs->Compact();
      files.SetFault(std::nullopt);
      ASSERT_EQ(DifferenceOfAll(*docs, model), "");
      if (!compacted.ok()) ++failures;
      const auto again = docs->Compact();
      if (again.status().detail() != Detail::kPoisoned) {
        ASSERT_OK(again);
        ASSERT_LE(again->segments_out, 1u);
        ASSERT_EQ(SegmentFiles(files), NamedFiles(*store, {"docs"})) << "left behind";
      }
      ASSERT_EQ(DifferenceOfAll(*docs, model), "");
      (void)store->Close();
      const auto reopened = Store::Open("db", Options(0, 1000), &files);
      ASSERT_OK(reopened);
      ASSERT_EQ(DifferenceOfAll(*DocsOf(**reopened), model), "");
      ASSERT_EQ(SegmentFiles(files), NamedFiles(**reopened, {"docs"}));
    }
  }
  EXPECT_GT(failures, 20u);
}

TEST(Merge, AFullDiskStopsMergesAndNotTheStore) {
  MemoryFileSystem files(Kind::kSimulated);
  const auto store = Store::Open("db", Options(1, 50), &files).value();
  const auto docs = DocsOf(*store);
  CollectionModel model;
  uint32_t next = 0;
  const auto write = [&] {
    const WriteBatch batch = BatchOf(WriteKind::kAdd, next, 10);
    const auto outcome = docs->Write(batch);
    if (outcome.ok()) model.Apply(batch), next += 10;
    return outcome.status();
  };
  for (int i = 0; i < 14; ++i) ASSERT_OK(write());
  WaitForQuiet(*store);
  // Space for the log and a flush, not for the merge of four.
  files.SetCapacity(files.used_bytes() + (150 << 10));
  while (store->maintenance().value().failures == 0 && write().ok()) {
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_LE(store->maintenance().value().failures, 3u) << "tried again at once";
  EXPECT_EQ(DifferenceOfAll(*docs, model), "");
  files.SetCapacity(0);
  ASSERT_OK(write());
  ASSERT_OK(docs->Compact());
  EXPECT_EQ(SegmentFiles(files), NamedFiles(*store, {"docs"}));
  EXPECT_EQ(DifferenceOfAll(*docs, model), "");
}

TEST(Merge, ALargeMergeAsksForItsSpaceFirst) {
  MemoryFileSystem files(Kind::kSimulated);
  const auto store = Store::Open("db", Options(0, 1000), &files).value();
  const auto docs = DocsOf(*store);
  for (uint32_t flush = 0; flush < 2; ++flush) {
    WriteBatch batch = BatchOf(WriteKind::kAdd, flush * 600, 600);
    batch.dimension = 4096;
    batch.embeddings.resize(600 * size_t{batch.dimension});
    std::mt19937_64 random(flush);
    for (float& value : batch.embeddings) value = static_cast<float>(random() % 10000);
    ASSERT_OK(docs->Write(batch));
    ASSERT_OK(docs->Flush());
  }
  uint64_t inputs = 0;
  for (const SegmentDescription& segment : *docs->Segments()) inputs += segment.bytes;
  ASSERT_GT(inputs, 16u << 20);
  files.SetCapacity(files.used_bytes() + inputs / 2);
  const auto writes = [&files] {
    return files.CountOperations(static_cast<uint32_t>(FileOperation::kWrite));
  };
  const uint64_t before = writes();
  const Status refused = docs->Compact().status();
  EXPECT_CODE(refused, Code::kResourceExhausted);
  EXPECT_EQ(refused.detail(), Detail::kDiskFull);
  EXPECT_LE(writes() - before, 3u) << "the number of the segment, and no part of it";
  EXPECT_EQ(SegmentFiles(files), NamedFiles(*store, {"docs"}));
  files.SetCapacity(0);
  const auto done = docs->Compact();
  ASSERT_OK(done);
  EXPECT_EQ(done->segments_out, 1u);
  EXPECT_EQ(docs->Segments()->front().bytes,
            files.Open(docs->Segments()->front().path, OpenMode::kRead).value()->Size().value());
  ASSERT_OK(store->Close());
  const auto again = Store::Open("db", Options(0, 1000), &files).value();
  EXPECT_EQ(DocsOf(*again)->Pin().value()->live_rows, 1200u);
}

TEST(Merge, ADamagedInputEndsTheMergeAndIsNamed) {
  MemoryFileSystem files;
  CollectionModel model;
  {
    const auto store = Store::Open("db", Options(0, 1000), &files).value();
    const auto docs = DocsOf(*store);
    for (uint32_t i = 0; i < 3; ++i) {
      // As many as give records blocks of their own: ids are found without them.
      const WriteBatch batch = BatchOf(WriteKind::kAdd, i * 900, 900);
      ASSERT_OK(docs->Write(batch));
      ASSERT_OK(docs->Flush());
    }
    ASSERT_OK(store->Close());
  }
  const std::string path = "db/segments/" + *SegmentFiles(files).begin();
  {
    const auto file = files.Open(path, OpenMode::kReadWrite).value();
    ASSERT_OK(file->WriteAt(100, std::vector<std::byte>(1, std::byte{0x55})));
  }
  const auto store = Store::Open("db", Options(0, 1000), &files).value();
  const auto docs = DocsOf(*store);
  const auto result = docs->Compact();
  EXPECT_CODE(result.status(), Code::kDataLoss);
  EXPECT_EQ(result.status().file(), path);
  EXPECT_EQ(SegmentFiles(files).size(), 3u) << "inputs stay, the output goes";
  // A merge that is due fails as well, is told by the statistics, and fails no write.
  ASSERT_OK(docs->Write(BatchOf(WriteKind::kAdd, 5000, 900)));
  ASSERT_OK(docs->Flush());
  const auto now = store->maintenance().value();
  EXPECT_EQ(now.failures, 1u);
  EXPECT_EQ(now.last_error.code(), Code::kDataLoss);
  EXPECT_EQ(docs->Pin().value()->live_rows, 3600u);
}

TEST(Merge, GivesTheSpaceOfDeletedRecordsBack) {
  MemoryFileSystem files;
  const auto store = Store::Open("db", Options(0, 100), &files).value();
  const auto docs = DocsOf(*store);
  WriteBatch batch = BatchOf(WriteKind::kAdd, 0, 1000);
  for (auto& document : batch.documents) document = std::string(2000, 'x') + "secret";
  ASSERT_OK(docs->Write(batch));
  ASSERT_OK(docs->Flush());
  ASSERT_OK(docs->Write(BatchOf(WriteKind::kDelete, 0, 990)));
  const auto result = docs->Compact();
  ASSERT_OK(result);
  EXPECT_EQ(result->records, 10u);
  EXPECT_EQ(result->segments_out, 1u);
  EXPECT_LE(result->bytes_after, 300'000u);
  EXPECT_EQ(docs->Segments()->front().rows, 10u);
  EXPECT_EQ(docs->Segments()->front().bytes, result->bytes_after);
  ASSERT_OK(docs->Write(BatchOf(WriteKind::kDelete, 990, 10)));
  const auto empty = docs->Compact();
  ASSERT_OK(empty);
  EXPECT_EQ(empty->records, 0u);
  EXPECT_EQ(empty->segments_out, 0u);
  EXPECT_EQ(empty->bytes_after, 0u);
  EXPECT_EQ(SegmentFiles(files).size(), 0u);
}

TEST(Merge, DeletionsAloneMakeAFlushAndAMergeDue) {
  MemoryFileSystem files;
  const auto store = Store::Open("db", Options(0, 100), &files).value();
  const auto docs = DocsOf(*store);
  ASSERT_OK(docs->Write(BatchOf(WriteKind::kAdd, 0, 300)));
  ASSERT_EQ(docs->Segments()->size(), 1u);
  ASSERT_OK(docs->Write(BatchOf(WriteKind::kDelete, 0, 99)));
  EXPECT_EQ(docs->Segments()->front().deletions_bytes, 0u);
  ASSERT_OK(docs->Write(BatchOf(WriteKind::kDelete, 99, 1)));
  EXPECT_GT(docs->Segments()->front().deletions_bytes, 0u) << "a flush stored them";
  EXPECT_EQ(docs->Segments()->front().rows, 300u);
  ASSERT_OK(docs->Write(BatchOf(WriteKind::kDelete, 100, 100)));
  EXPECT_EQ(docs->Segments()->front().rows, 100u) << "more than a third dead: rewritten";
}

TEST(Merge, CompactEndsWhenItsCallIsCancelled) {
  SegmentHookFiles files;
  const auto store = Store::Open("db", Options(0, 1000), &files).value();
  const auto docs = DocsOf(*store);
  for (uint32_t i = 0; i < 2; ++i) {
    ASSERT_OK(docs->Write(BatchOf(WriteKind::kAdd, i * 100, 100)));
    ASSERT_OK(docs->Flush());
  }
  CancelToken token;
  files.OnSegment([&] { token.Set(); });
  EXPECT_CODE(docs->Compact({.cancel = &token}).status(), Code::kCancelled);
  EXPECT_EQ(docs->Segments()->size(), 2u);
  EXPECT_EQ(SegmentFiles(files).size(), 2u);
  EXPECT_EQ(docs->Compact()->segments_out, 1u);
}

TEST(Merge, CloseGivesARunningMergeUp) {
  SegmentHookFiles files;
  auto store = Store::Open("db", Options(1, 100), &files).value();
  auto docs = DocsOf(*store);
  std::atomic<bool> is_merging{false}, may_go_on{false};
  for (uint32_t i = 0; i < 3; ++i) ASSERT_OK(docs->Write(BatchOf(WriteKind::kAdd, i * 1000, 1000)));
  files.OnSegment([&] {  // the fourth flush; then the merge of all four
    files.OnSegment([&] {
      is_merging = true;
      while (!may_go_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  });
  ASSERT_OK(docs->Write(BatchOf(WriteKind::kAdd, 3000, 1000)));
  while (!is_merging) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(store->maintenance().value().running, 1u);
  std::thread closer([&] { EXPECT_OK(store->Close()); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  may_go_on = true;
  closer.join();
  EXPECT_EQ(SegmentFiles(files).size(), 4u) << "the output of the merge is gone";
  docs.reset();
  store = Store::Open("db", Options(0, 100), &files).value();
  docs = DocsOf(*store);
  EXPECT_EQ(docs->Pin().value()->live_rows, 4000u);
  ASSERT_OK(docs->Write(BatchOf(WriteKind::kAdd, 4000, 1)));
  EXPECT_EQ(docs->Segments()->size(), 1u) << "what was due is done by the next write";
}

TEST(Merge, WritersWaitWhereMergesFallBehindAndReadersDoNot) {
  SegmentHookFiles files;
  const auto store = Store::Open("db", Options(1, 10), &files).value();
  const auto docs = DocsOf(*store);
  std::atomic<bool> is_merging{false}, may_go_on{false};
  for (uint32_t i = 0; i < 3; ++i) ASSERT_OK(docs->Write(BatchOf(WriteKind::kAdd, i * 10, 10)));
  files.OnSegment([&] {
    files.OnSegment([&] {
      is_merging = true;
      while (!may_go_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  });
  ASSERT_OK(docs->Write(BatchOf(WriteKind::kAdd, 30, 10)));
  while (!is_merging) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::atomic<uint32_t> written{40};
  std::thread writer([&] {
    for (uint32_t i = 4; i < 60; ++i) {
      EXPECT_OK(docs->Write(BatchOf(WriteKind::kAdd, i * 10, 10)));
      written += 10;
    }
  });
  while (store->maintenance().value().waiting_writers == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_LT(written, 600u);
  EXPECT_GE(docs->Segments()->size(), 16u) << "twice the eight that there should be";
  EXPECT_LE(docs->Segments()->size(), 20u);
  EXPECT_GE(docs->Pin().value()->live_rows, written.load());
  may_go_on = true;
  writer.join();
  WaitForQuiet(*store);
  EXPECT_EQ(docs->Pin().value()->live_rows, 600u);
  EXPECT_LE(docs->Segments()->size(), 11u);
  EXPECT_GE(store->maintenance().value().writer_waits, 1u);
}

TEST(Merge, ASmallMergeIsDoneInTheMiddleOfALargeOne) {
  SegmentHookFiles files;
  const auto store = Store::Open("db", Options(1, 10), &files).value();
  const auto docs = DocsOf(*store);
  const auto write = [&](uint32_t first, uint32_t rows) {
    ASSERT_OK(docs->Write(BatchOf(WriteKind::kAdd, first, rows)));
  };
  std::atomic<bool> is_merging{false}, may_go_on{false};
  for (uint32_t i = 0; i < 3; ++i) write(i * 3000, 3000);
  files.OnSegment([&] {
    files.OnSegment([&] {
      is_merging = true;
      while (!may_go_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  });
  write(9000, 3000);
  while (!is_merging) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (uint32_t i = 0; i < 4; ++i) write(20000 + i * 10, 10);
  size_t during = 0;
  files.OnSegment([&] { during = docs->Segments()->size(); });  // the small merge's output
  may_go_on = true;
  WaitForQuiet(*store);
  EXPECT_EQ(during, 8u) << "the large merge was not published yet";
  EXPECT_EQ(docs->Segments()->size(), 2u);
  EXPECT_EQ(docs->Pin().value()->live_rows, 12040u);
}

// A flush of what was left alone leaves nothing to merge; what is written before that is looked at
// is left alone as well, later.
TEST(Merge, WhatIsWrittenBehindAQuietFlushIsFlushedToo) {
  SegmentHookFiles files;
  StoreOptions options = Options(1, 10'000);
  options.index_rows_min = 20;
  options.quiet_ms = 20;
  const auto store = Store::Open("db", options, &files).value();
  CollectionEntry entry = EntryNamed("docs");
  entry.configuration_json = R"({"spann":{}})";
  const auto docs = store->CreateCollection(entry).value();
  ASSERT_OK(docs->Write(BatchOf(WriteKind::kAdd, 0, 4000)));
  WaitForQuiet(*store);
  ASSERT_OK(docs->Write(BatchOf(WriteKind::kDelete, 0, 5)));
  ASSERT_OK(docs->Flush());
  ASSERT_OK(docs->Write(BatchOf(WriteKind::kDelete, 5, 1)));
  bool is_behind = false;
  files.OnRemoval([&] {  // of the deletions before these
    is_behind = docs->Segments()->size() == 2;
    EXPECT_OK(docs->Write(BatchOf(WriteKind::kAdd, 5000, 30)));
  });
  ASSERT_OK(docs->Write(BatchOf(WriteKind::kAdd, 4000, 30)));
  WaitForQuiet(*store);
  EXPECT_TRUE(is_behind);
  EXPECT_EQ(docs->Pin().value()->tail.rows, 0u);
  EXPECT_EQ(docs->Segments()->back().rows, 60u);  // of both flushes
}

// A process that only reads would search the tail of one that died for ever.
TEST(Merge, TheTailOfAProcessThatDiedIsQuietWork) {
  MemoryFileSystem files(Kind::kSimulated);
  StoreOptions options = Options(1, 10'000);
  options.index_rows_min = 20;
  {
    const auto store = Store::Open("db", options, &files).value();
    ASSERT_OK(DocsOf(*store)->Write(BatchOf(WriteKind::kAdd, 0, 3000)));
    files.CutPower({.keep = PowerCut::Keep::kEverything});
  }
  const auto store = Store::Open("db", options, &files).value();
  const auto docs = DocsOf(*store);
  EXPECT_EQ(docs->Pin().value()->tail.rows, 3000u);
  WaitForQuiet(*store);
  EXPECT_EQ(docs->Pin().value()->tail.rows, 0u);
  EXPECT_EQ(docs->Segments()->at(0).kind, "graph");
}

TEST(Merge, DeletingTheCollectionEndsItsMerge) {
  SegmentHookFiles files;
  const auto store = Store::Open("db", Options(0, 1000), &files).value();
  const auto docs = DocsOf(*store);
  for (uint32_t i = 0; i < 2; ++i) {
    ASSERT_OK(docs->Write(BatchOf(WriteKind::kAdd, i * 100, 100)));
    ASSERT_OK(docs->Flush());
  }
  files.OnSegment([&] { EXPECT_OK(store->DeleteCollection({}, "docs")); });
  EXPECT_CODE(docs->Compact().status(), Code::kNotFound);
  EXPECT_EQ(SegmentFiles(files).size(), 0u);
}

TEST(Merge, SegmentsDescribeThemselves) {
  MemoryFileSystem files;
  const auto store = Store::Open("db", Options(0, 1000), &files).value();
  const auto docs = DocsOf(*store);
  EXPECT_EQ(docs->Segments()->size(), 0u);
  ASSERT_OK(docs->Write(BatchOf(WriteKind::kAdd, 0, 100)));
  ASSERT_OK(docs->Flush());
  ASSERT_OK(docs->Write(BatchOf(WriteKind::kDelete, 0, 7)));
  const auto one = docs->Segments()->front();
  EXPECT_EQ(one.kind, "clusters");  // a flush has no time for more
  EXPECT_EQ(one.rows, 100u);
  EXPECT_EQ(one.live_rows, 93u);
  EXPECT_EQ(one.dimension, 4u);
  EXPECT_TRUE(one.has_codes);
  EXPECT_FALSE(one.is_shared);
  EXPECT_EQ(one.deletions_bytes, 0u);
  EXPECT_EQ(one.bytes, files.Open(one.path, OpenMode::kRead).value()->Size().value());
  ASSERT_OK(docs->Flush());
  EXPECT_EQ(docs->Segments()->front().deletions_bytes, 48u + 16 + 4);
  const auto fork = store->ForkCollection(docs->entry().id, "fork").value();
  EXPECT_TRUE(docs->Segments()->front().is_shared);
  ASSERT_OK(fork->Compact());
  EXPECT_FALSE(docs->Segments()->front().is_shared);
  EXPECT_FALSE(fork->Segments()->front().is_shared);
  EXPECT_EQ(fork->Segments()->front().rows, 93u);
  EXPECT_EQ(docs->Segments()->front().rows, 100u);
}

}  // namespace
}  // namespace pigment

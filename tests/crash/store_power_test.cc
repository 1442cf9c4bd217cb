// SPDX-License-Identifier: Apache-2.0
//
// A store on a simulated disk whose power is cut at random operations: what was acknowledged is
// there, what is there is a prefix of what was written, batches are whole, and the answers are the
// model's.

#include <gtest/gtest.h>

#include <memory>

#include "engine/base/memory_files.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

using Kind = MemoryFileSystem::Kind;

// Two collections with the batches that each was given, in the store's order.
struct History {
  std::vector<std::pair<std::string, WriteBatch>> batches;
  size_t acknowledged = 0;
};

StoreOptions SmallSegments(SyncMode mode) {
  StoreOptions options;
  options.flush_rows_max = 20;
  options.background_threads = 0;  // operations are counted, so only the calls may make any
  options.sync_mode = mode;
  return options;
}

// Writes until something fails (the power) or `steps` are done. Batches go in the history before
// they are tried.
void Work(MemoryFileSystem& files, const StoreOptions& options, BatchMaker& maker, int steps,
          History* history) {
  const auto store = Store::Open("db", options, &files);
  if (!store.ok()) return;
  for (int step = 0; step < steps; ++step) {
    const std::string name = maker.Chance(70) ? "busy" : "cold";
    auto collection = (*store)->GetCollection({}, name);
    if (!collection.ok()) collection = (*store)->CreateCollection(EntryNamed(name));
    if (!collection.ok()) return;
    if (maker.Chance(10) && !(*collection)->Flush().ok()) return;
    history->batches.emplace_back(name, maker.Batch(8));
    const auto outcome = (*collection)->Write(history->batches.back().second);
    if (!outcome.ok()) return;
    history->acknowledged = history->batches.size();
  }
  (void)(*store)->Close();
}

// The models after the first `count` batches.
std::map<std::string, CollectionModel> ModelsOf(const History& history, size_t count) {
  std::map<std::string, CollectionModel> models;
  for (size_t i = 0; i < count; ++i)
    models[history.batches[i].first].Apply(history.batches[i].second);
  return models;
}

// Opens what survived and takes the history back to what is there. At least `required` batches must
// be.
void Recover(MemoryFileSystem& files, const StoreOptions& options, size_t required,
             History* history) {
  const auto store = Store::Open("db", options, &files);
  ASSERT_OK(store);
  const uint64_t position = (*store)->position();
  ASSERT_GE(position, required) << "an acknowledged batch is gone";
  ASSERT_LE(position, history->batches.size());
  auto models = ModelsOf(*history, position);
  for (const char* name : {"busy", "cold"}) {
    SCOPED_TRACE(name);
    const auto collection = (*store)->GetCollection({}, name);
    if (!collection.ok()) {
      ASSERT_TRUE(models[name].records().empty());
      continue;
    }
    ASSERT_EQ(DifferenceOfAll(**collection, models[name]), "");
    QueryRequest request;
    const std::vector<float> vector(3, 0.5f);
    request.embeddings = vector;
    request.queries = 1;
    request.dimension = 3;
    request.k = 5;
    request.read.include.distances = true;
    ASSERT_EQ(DifferenceOfQuery(**(*collection)->Pin(), models[name], request), "");
  }
  history->batches.resize(position);
  history->acknowledged = position;
}

PowerCut CutOf(BatchMaker& maker) {
  static constexpr PowerCut::Keep kKeeps[] = {PowerCut::Keep::kNothing, PowerCut::Keep::kEverything,
                                              PowerCut::Keep::kPrefix, PowerCut::Keep::kRandom};
  return {.keep = kKeeps[maker.Below(4)], .seed = maker.Below(1 << 30)};
}

void CutPowerAgainAndAgain(uint64_t seed, SyncMode mode) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  BatchMaker maker(seed, 3, 30);
  MemoryFileSystem files(Kind::kSimulated);
  const StoreOptions options = SmallSegments(mode);
  History history;
  for (int life = 0; life < 6 && !::testing::Test::HasFatalFailure(); ++life) {
    SCOPED_TRACE("life " + std::to_string(life));
    files.StopAt(maker.Below(250) + 1);
    Work(files, options, maker, 60, &history);
    files.CutPower(CutOf(maker));
    if (maker.Chance(50)) {  // and once more while it recovers
      files.StopAt(maker.Below(12) + 1);
      (void)Store::Open("db", options, &files);
      files.CutPower(CutOf(maker));
    }
    Recover(files, options, mode == SyncMode::kFull ? history.acknowledged : 0, &history);
  }
}

TEST(StorePower, AcknowledgedBatchesSurviveAndTheRestIsAPrefix) {
  for (uint64_t seed = 1; seed <= 80 && !::testing::Test::HasFatalFailure(); ++seed) {
    CutPowerAgainAndAgain(seed, SyncMode::kFull);
  }
}

TEST(StorePower, WithoutSyncThereIsStillAPrefixOfWholeBatches) {
  for (uint64_t seed = 1; seed <= 25 && !::testing::Test::HasFatalFailure(); ++seed) {
    CutPowerAgainAndAgain(seed, SyncMode::kOff);
  }
}

TEST(StorePower, EveryPointOfAFlushIsSafe) {
  uint64_t points = 0;
  for (uint64_t at = 1;; ++at) {
    SCOPED_TRACE("stopped at operation " + std::to_string(at));
    MemoryFileSystem files(Kind::kSimulated);
    BatchMaker maker(at, 3, 30);
    History history;
    StoreOptions options;
    Work(files, options, maker, 10, &history);
    {
      const auto store = Store::Open("db", options, &files).value();
      files.StopAt(at);
      (void)store->Flush();
    }
    const bool is_past = !files.is_stopped();
    files.CutPower(
        {.keep = at % 2 == 0 ? PowerCut::Keep::kNothing : PowerCut::Keep::kRandom, .seed = at});
    Recover(files, options, history.acknowledged, &history);
    if (::testing::Test::HasFatalFailure()) return;
    if (is_past) break;
    ++points;
  }
  EXPECT_GT(points, 8u);
}

TEST(StorePower, FailedFlushLosesNothingAndIsTriedAgain) {
  for (uint64_t at = 1; at <= 40; ++at) {
    SCOPED_TRACE("fault at operation " + std::to_string(at));
    MemoryFileSystem files(Kind::kSimulated);
    BatchMaker maker(at, 3, 30);
    History history;
    Work(files, {}, maker, 10, &history);
    auto models = ModelsOf(history, history.batches.size());
    const auto store = Store::Open("db", {}, &files).value();
    const auto busy = store->GetCollection({}, "busy").value();
    files.SetFault(FileFault{.operations = static_cast<uint32_t>(FileOperation::kCreate) |
                                           static_cast<uint32_t>(FileOperation::kWrite) |
                                           static_cast<uint32_t>(FileOperation::kSyncDirectory),
                             .at = at,
                             .forever = false,
                             .error = ResourceExhausted(Detail::kDiskFull, "no space left")});
    const Status flushed = busy->Flush();
    files.SetFault(std::nullopt);
    ASSERT_EQ(DifferenceOfAll(*busy, models["busy"]), "");
    if (!flushed.ok()) {
      const Status again = busy->Flush();
      if (again.detail() != Detail::kPoisoned) ASSERT_OK(again);
    }
    ASSERT_EQ(DifferenceOfAll(*busy, models["busy"]), "");
    (void)store->Close();
    Recover(files, {}, history.acknowledged, &history);
  }
}

TEST(StorePower, FullDiskRefusesTheWriteAndRecoversByItself) {
  MemoryFileSystem files(Kind::kSimulated);
  StoreOptions options;
  options.flush_rows_max = 50;
  const auto store = Store::Open("db", options, &files).value();
  const auto docs = store->CreateCollection(EntryNamed("docs")).value();
  CollectionModel model;
  BatchMaker maker(7, 3, 200);
  const auto write = [&] {
    WriteBatch batch = maker.Batch(10);
    const auto outcome = docs->Write(batch);
    if (outcome.ok()) model.Apply(batch);
    return outcome.status();
  };
  for (int i = 0; i < 20; ++i) ASSERT_OK(write());
  for (int round = 0; round < 10; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    files.SetCapacity(files.used_bytes() + 700);
    Status status;
    for (int i = 0; i < 100 && status.ok(); ++i) status = write();
    EXPECT_CODE(status, Code::kResourceExhausted);
    EXPECT_EQ(status.detail(), Detail::kDiskFull);
    ASSERT_EQ(DifferenceOfAll(*docs, model), "");
    files.SetCapacity(0);
    for (int i = 0; i < 5; ++i) ASSERT_OK(write());
    ASSERT_OK(docs->Flush());
    ASSERT_EQ(DifferenceOfAll(*docs, model), "");
  }
  ASSERT_OK(store->Close());
  const auto again = Store::Open("db", options, &files).value();
  EXPECT_EQ(DifferenceOfAll(*again->GetCollection({}, "docs").value(), model), "");
}

TEST(StorePower, ColdCollectionDoesNotPinTheLog) {
  MemoryFileSystem files;
  const auto store = Store::Open("db", {}, &files).value();
  const auto cold = store->CreateCollection(EntryNamed("cold")).value();
  const auto empty = store->CreateCollection(EntryNamed("empty")).value();
  const auto busy = store->CreateCollection(EntryNamed("busy")).value();
  WriteBatch batch;
  batch.ids = {"one"};
  batch.dimension = 1;
  batch.embeddings = {1};
  ASSERT_OK(cold->Write(batch));
  batch.documents = {std::string(1 << 20, 'x')};
  for (int i = 0; i < 300; ++i) {
    batch.ids = {std::to_string(i % 20)};
    batch.kind = WriteKind::kUpsert;
    ASSERT_OK(busy->Write(batch));
  }
  uint64_t log_bytes = 0;
  for (const std::string& name : files.List("db/log").value()) {
    log_bytes += files.Open("db/log/" + name, OpenMode::kRead).value()->Size().value();
  }
  EXPECT_LT(log_bytes, uint64_t{200} << 20) << "300 MiB were written";
  ASSERT_OK(store->Close());
  const auto again = Store::Open("db", {}, &files);
  ASSERT_OK(again);
  EXPECT_EQ((*again)->GetCollection({}, "cold").value()->Pin().value()->live_rows, 1u);
  EXPECT_EQ((*again)->GetCollection({}, "busy").value()->Pin().value()->live_rows, 20u);
  EXPECT_EQ((*again)->GetCollection({}, "empty").value()->Pin().value()->live_rows, 0u);
}

}  // namespace
}  // namespace pigment

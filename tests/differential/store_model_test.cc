// SPDX-License-Identifier: Apache-2.0
//
// The store against the plain model: random histories of writes, flushes, merges, reopenings and
// forks, with gets and queries in between. The same history runs in memory and in a directory, and
// both must answer as the model does.

#include "tests/support/store_model.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/support/status_matchers.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

constexpr const char* kNames[] = {"first", "second", "third", "fourth"};

// One store with a model for each of its collections.
class Mirror {
 public:
  Mirror(std::optional<std::string> path, uint64_t seed, const StoreOptions& options)
      : path_(std::move(path)),
        options_(options),
        maker_(seed, 3 + seed % 5, 40),
        metric_(MetricOf(seed)),
        element_(seed % 4 == 2 ? VectorElement::kF16 : VectorElement::kF32) {}

  void Run(int steps) {
    Open();
    for (int step = 0; step < steps && !::testing::Test::HasFatalFailure(); ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      Step();
    }
    CheckEverything();
  }

 private:
  static Metric MetricOf(uint64_t seed) {
    return seed % 3 == 0 ? Metric::kL2 : seed % 3 == 1 ? Metric::kCosine : Metric::kIp;
  }

  void Open() {
    auto store = Store::Open(path_, options_);
    ASSERT_OK(store);
    store_ = *std::move(store);
  }

  std::shared_ptr<Collection> Handle(const std::string& name) {
    auto collection = store_->GetCollection({}, name);
    if (!collection.ok()) {
      collection = store_->CreateCollection(EntryNamed(name, metric_, element_));
      models_.insert_or_assign(name, CollectionModel(element_));
    }
    return collection.ok() ? *collection : nullptr;
  }

  void Step() {
    const std::string name = kNames[maker_.Below(std::size(kNames))];
    const size_t what = maker_.Below(100);
    if (what < 55) {
      Write(name);
    } else if (what < 60) {
      DeleteByFilter(name);
    } else if (what < 65) {
      ASSERT_OK(maker_.Chance(50) ? Handle(name)->Flush() : store_->Flush());
    } else if (what < 67) {
      ASSERT_OK((maker_.Chance(70) ? Handle(name)->Compact() : store_->Compact()).status());
    } else if (what < 71) {
      Reopen();
    } else if (what < 73) {
      Fork(name);
    } else if (what < 74) {
      ASSERT_NE(Handle(name), nullptr);
      ASSERT_OK(store_->DeleteCollection({}, name));
      models_.erase(name);
    } else if (what < 87) {
      Get(name);
    } else {
      Query(name);
    }
  }

  void Write(const std::string& name) {
    const WriteBatch batch = maker_.Batch(12);
    const Result<WriteOutcome> outcome = Handle(name)->Write(batch);
    ASSERT_OK(outcome);
    const WriteCounts expected = models_[name].Apply(batch);
    EXPECT_EQ(outcome->counts.inserted, expected.inserted);
    EXPECT_EQ(outcome->counts.updated, expected.updated);
    EXPECT_EQ(outcome->counts.skipped, expected.skipped);
    EXPECT_EQ(outcome->counts.deleted, expected.deleted);
    ASSERT_EQ(DifferenceOfAll(*Handle(name), models_[name]), "");
  }

  void DeleteByFilter(const std::string& name) {
    GetRequest request;
    request.read = maker_.Read();
    const auto outcome = Handle(name)->DeleteSelected(
        [&](const Version& version) { return SelectIds(version, request); });
    ASSERT_OK(outcome);
    WriteBatch batch;
    batch.kind = WriteKind::kDelete;
    for (const Record* record : models_[name].InOrder(request.read))
      batch.ids.push_back(record->id);
    EXPECT_EQ(outcome->counts.deleted, models_[name].Apply(batch).deleted);
  }

  void Reopen() {
    if (!path_) return;
    ASSERT_OK(store_->Close());
    store_.reset();
    Open();
    CheckEverything();
  }

  void Fork(const std::string& name) {
    const std::string fork_name = kNames[maker_.Below(std::size(kNames))];
    const std::shared_ptr<Collection> source = Handle(name);
    const bool is_taken = store_->GetCollection({}, fork_name).ok();
    const auto fork = store_->ForkCollection(source->entry().id, fork_name);
    if (is_taken) {
      EXPECT_CODE(fork, Code::kAlreadyExists);
      return;
    }
    ASSERT_OK(fork);
    models_[fork_name] = models_[name];
    ASSERT_EQ(DifferenceOfAll(**fork, models_[fork_name]), "");
  }

  void Get(const std::string& name) {
    GetRequest request;
    request.read = maker_.Read();
    if (maker_.Chance(50)) request.limit = maker_.Below(15);
    if (maker_.Chance(50)) request.offset = maker_.Below(10);
    PlainOrder order;
    if (maker_.Chance(50)) order = maker_.Order();
    request.order_by = OrderBy::Parse(OrderJson(order)).value();
    const auto version = Handle(name)->Pin();
    ASSERT_OK(version);
    ASSERT_EQ(DifferenceOfGet(**version, models_[name], request, order), "");
  }

  void Query(const std::string& name) {
    QueryRequest request;
    request.read = maker_.Read();
    request.metric = metric_;
    request.queries = maker_.Below(4);
    request.k = maker_.Below(15);
    if (maker_.Chance(50)) request.recall = 0.9;
    if (maker_.Chance(30)) request.max_distance = static_cast<double>(maker_.Number()) * 4;
    if (maker_.Chance(10)) request.queries = 8 + maker_.Below(20);
    request.threads = static_cast<uint32_t>(maker_.Below(4));
    std::vector<float> vectors;
    for (size_t query = 0; query < request.queries; ++query) {
      const std::vector<float> vector = maker_.Vector();
      vectors.insert(vectors.end(), vector.begin(), vector.end());
      request.dimension = static_cast<uint32_t>(vector.size());
    }
    request.embeddings = vectors;
    const auto version = Handle(name)->Pin();
    ASSERT_OK(version);
    ASSERT_EQ(DifferenceOfQuery(**version, models_[name], request), "");
  }

  void CheckEverything() {
    for (const auto& [name, model] : models_) {
      SCOPED_TRACE(name);
      ASSERT_EQ(DifferenceOfAll(*Handle(name), model), "");
    }
  }

  const std::optional<std::string> path_;
  const StoreOptions options_;
  BatchMaker maker_;
  const Metric metric_;
  const VectorElement element_;
  std::shared_ptr<Store> store_;
  std::map<std::string, CollectionModel> models_;
};

StoreOptions OptionsOf(uint64_t seed) {
  StoreOptions options;
  // Small limits make many segments; large ones leave all to the log.
  const uint32_t kRows[] = {4, 25, 16384};
  options.flush_rows_max = kRows[seed % 3];
  if (seed % 5 == 4) options.flush_bytes_max = 3000;
  if (seed % 4 != 0) options.index_rows_min = 20;
  if (seed % 4 > 1) options.cluster_rows_min = 10;
  options.background_threads = seed % 2;
  options.sync_mode = seed % 4 == 3 ? SyncMode::kOff : SyncMode::kFull;
  return options;
}

TEST(StoreModel, AnswersAsTheModelInMemory) {
  for (uint64_t seed = 1; seed <= 60 && !::testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Mirror(std::nullopt, seed, OptionsOf(seed)).Run(200);
  }
}

TEST(StoreModel, AnswersAsTheModelInADirectory) {
  for (uint64_t seed = 1; seed <= 12 && !::testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    TemporaryDirectory directory;
    Mirror(directory / "db", seed, OptionsOf(seed)).Run(120);
  }
}

}  // namespace
}  // namespace pigment

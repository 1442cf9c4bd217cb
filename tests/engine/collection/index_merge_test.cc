// SPDX-License-Identifier: Apache-2.0
//
// Graphs and clusters in the life of a collection: built by merges, found through deletions and
// updates, kept over reopening, never needed for an answer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include "engine/base/disk_files.h"
#include "engine/base/memory_files.h"
#include "engine/collection/store.h"
#include "engine/query/search.h"
#include "engine/record/configuration.h"
#include "tests/support/failing_memory.h"
#include "tests/support/graph_links.h"
#include "tests/support/made_vectors.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

constexpr uint32_t kDimension = 32;
constexpr uint32_t kQueries = 50;
constexpr uint32_t kQuietMs = 200;

// Of both kinds of index.
class IndexMerge : public testing::TestWithParam<IndexKind> {
 protected:
  static StoreOptions Options() {
    return {.flush_rows_max = 500,
            .index_rows_min = 1000,
            .background_threads = 0,
            .quiet_ms = kQuietMs};
  }

  void Open(const StoreOptions& options) {
    docs_.reset();
    store_.reset();
    store_ = Store::Open(path_, options, file_system_).value();
    auto found = store_->GetCollection({}, "docs");
    if (found.ok()) {
      docs_ = *found;
      return;
    }
    CollectionEntry entry = EntryNamed("docs");
    if (GetParam() == IndexKind::kSpann) entry.configuration_json = R"({"spann":{}})";
    docs_ = store_->CreateCollection(entry).value();
  }

  // Of segments that have what the collection is configured for, and of searches that use it.
  static std::string Indexed() { return GetParam() == IndexKind::kSpann ? "clusters" : "graph"; }

  // Vectors first .. first + count - 1 of made_, as ids `id` + their numbers less `shift`.
  void Write(WriteKind kind, uint32_t first, uint32_t count, uint32_t shift = 0) {
    WriteBatch batch;
    batch.kind = kind;
    batch.dimension = kDimension;
    for (uint32_t i = first; i < first + count; ++i) {
      batch.ids.push_back("id" + std::to_string(i - shift));
      if (kind != WriteKind::kDelete)
        batch.embeddings.insert(batch.embeddings.end(), made_.row(i), made_.row(i) + kDimension);
    }
    if (kind == WriteKind::kDelete) batch.dimension = 0;
    ASSERT_OK(docs_->Write(std::move(batch)));
  }

  ResultSet Search(std::span<const float> vectors, uint64_t k, double recall,
                   bool explain = false) const {
    QueryRequest request;
    request.read.include.distances = true;
    request.read.explain = explain;
    request.embeddings = vectors;
    request.queries = vectors.size() / kDimension;
    request.dimension = kDimension;
    request.k = k;
    request.recall = recall;
    auto result = Query(*docs_->Pin().value(), request);
    EXPECT_OK(result);
    return result.ok() ? *std::move(result) : ResultSet();
  }

  // Of the queries at the end of made_.
  double Recall(uint64_t k = 10, double wanted = 0.98) const {
    const std::span<const float> queries(made_.row(made_.count() - kQueries),
                                         size_t{kQueries} * kDimension);
    const ResultSet exact = Search(queries, k, 1);
    const ResultSet found = Search(queries, k, wanted);
    EXPECT_EQ(found.query_offsets, exact.query_offsets);
    if (found.query_offsets != exact.query_offsets) return 0;
    size_t right = 0;
    for (size_t query = 0; query < kQueries; ++query) {
      const float limit = exact.distances[exact.query_offsets[query + 1] - 1];
      for (uint64_t i = found.query_offsets[query]; i < found.query_offsets[query + 1]; ++i)
        right += found.distances[i] <= limit ? 1 : 0;
    }
    return static_cast<double>(right) / static_cast<double>(exact.distances.size());
  }

  std::vector<std::string> Kinds() const {
    std::vector<std::string> kinds;
    for (const SegmentDescription& segment : docs_->Segments().value())
      kinds.push_back(segment.kind);
    return kinds;
  }

  // Of the one segment, by rows.
  std::vector<std::vector<uint32_t>> Links() const {
    return GraphLinks(*docs_->Pin().value()->segments.at(0).segment);
  }

  // Within a minute: the thread that merges gives way to all others of a machine that has no rest.
  static bool ComesTrue(const std::function<bool()>& condition,
                        std::chrono::milliseconds pause = std::chrono::milliseconds(5)) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(pause);
    }
    return true;
  }

  bool SearchIsIndexed() const {
    const ResultSet result = Search(made_.vector(0), 10, 0.9, true);
    return result.explain_json.find(R"("strategy":")" + Indexed()) != std::string::npos;
  }

  MemoryFileSystem files_;
  FileSystem* file_system_ = &files_;
  std::string path_ = "db";
  std::shared_ptr<Store> store_;
  std::shared_ptr<Collection> docs_;
  const VectorTable made_ = ClusteredVectors({.count = 8000 + kQueries,
                                              .dimension = kDimension,
                                              .clusters = 60,
                                              .spread = 0.4f,
                                              .seed = 1});
};

INSTANTIATE_TEST_SUITE_P(Kinds, IndexMerge, testing::Values(IndexKind::kHnsw, IndexKind::kSpann),
                         [](const auto& kind) {
                           return kind.param == IndexKind::kSpann ? "spann" : "hnsw";
                         });

TEST_P(IndexMerge, IsSearchedAfterMergesAndAfterReopening) {
  Open(Options());
  for (uint32_t i = 0; i < 4; ++i) Write(WriteKind::kAdd, i * 500, 500);
  EXPECT_EQ(Kinds(), std::vector<std::string>{Indexed()});
  EXPECT_TRUE(SearchIsIndexed());
  EXPECT_GE(Recall(), 0.96);
  Write(WriteKind::kAdd, 2000, 700);  // a flat segment and a tail beside it
  EXPECT_EQ(Kinds(), (std::vector<std::string>{Indexed(), "flat"}));
  EXPECT_GE(Recall(), 0.96);
  EXPECT_GE(Recall(100), 0.96);
  ASSERT_OK(docs_->Compact());
  EXPECT_EQ(Kinds(), std::vector<std::string>{Indexed()});
  const double before = Recall();
  EXPECT_GE(before, 0.96);
  EXPECT_EQ(store_->Check().value().findings.size(), 0u);
  ASSERT_OK(store_->Close());
  Open(Options());
  EXPECT_EQ(Kinds(), std::vector<std::string>{Indexed()});
  EXPECT_EQ(Recall(), before);
  EXPECT_EQ(Recall(10, 1), 1);
}

TEST_P(IndexMerge, RecallStaysThroughDeletionsAndUpdates) {
  Open(Options());
  Write(WriteKind::kAdd, 0, 3000);
  ASSERT_OK(docs_->Compact());
  const double fresh = Recall();
  Write(WriteKind::kDelete, 0, 300);
  Write(WriteKind::kUpdate, 3000, 300, 2000);  // ids 1000 .. 1299 move
  EXPECT_TRUE(SearchIsIndexed());
  EXPECT_GE(Recall(), fresh - 0.02);
  EXPECT_EQ(docs_->Pin().value()->live_rows, 2700u);
  const ResultSet all = Search(made_.vector(5), 5000, 0.98);
  EXPECT_EQ(all.query_offsets.back(), 2700u);
  for (uint32_t i = 0; i < 300; ++i) {  // what is deleted is never found, what moved is
    const ResultSet gone = Search(made_.vector(i), 1, 0.98);
    EXPECT_GT(gone.distances[0], 0);
    const ResultSet moved = Search(made_.vector(3000 + i), 1, 0.98);
    EXPECT_EQ(moved.ids.bytes, "id" + std::to_string(1000 + i));
  }
  ASSERT_OK(docs_->Compact());
  EXPECT_GE(Recall(), fresh - 0.02);
}

// CONTRACT 27: a drifting fifth of the rows, ten times.
TEST_P(IndexMerge, RecallIsThatOfAFreshBuildAfterTenRoundsOfDrift) {
  Open(Options());
  Write(WriteKind::kAdd, 0, 2500);
  for (uint32_t round = 0; round < 10; ++round) {
    const uint32_t first = round * 500 % 2500;
    Write(WriteKind::kUpdate, 2500 + round * 500, 500, 2500 + round * 500 - first);
  }
  EXPECT_LE(docs_->Segments()->size(), 8u);
  const double drifted = Recall();
  ASSERT_OK(docs_->Compact());
  EXPECT_EQ(docs_->Segments()->size(), 1u);
  EXPECT_GE(drifted, Recall() - 0.02);
  EXPECT_GE(drifted, 0.96);
}

TEST_P(IndexMerge, StartsFromTheLargestGraph) {
  Open(Options());
  Write(WriteKind::kAdd, 0, 1000);
  ASSERT_OK(docs_->Compact());
  std::vector<std::vector<uint32_t>> before;
  if (Indexed() == "graph") before = Links();
  Write(WriteKind::kAdd, 1000, 2000);
  ASSERT_OK(docs_->Compact());
  EXPECT_GE(Recall(), 0.97);
  if (Indexed() != "graph") return;  // clusters are made anew
  size_t kept = 0, made = 0;
  const auto after = Links();
  ASSERT_EQ(after.size(), 3000u);
  for (uint32_t row = 0; row < 1000; ++row) {
    for (const uint32_t link : after[row]) {
      if (link < 1000) ++(std::ranges::count(before[row], link) != 0 ? kept : made);
    }
  }
  EXPECT_GT(kept, 3000u);
  EXPECT_LT(made, 10u);  // for what could not be reached
}

// A graph or clusters are as long as their rows are many, whatever was there before.
TEST_P(IndexMerge, FilesStayInProportionToWhatLives) {
  Open(Options());
  const auto bytes = [&] {
    uint64_t sum = 0;
    for (const SegmentDescription& segment : docs_->Segments().value())
      sum += segment.bytes + segment.deletions_bytes;
    return sum;
  };
  Write(WriteKind::kAdd, 0, 2000);
  ASSERT_OK(docs_->Compact());
  const uint64_t fresh = bytes();
  for (uint32_t round = 0; round < 12; ++round) {
    const uint32_t first = round * 500 % 2000;
    if (round % 2 == 0) {
      Write(WriteKind::kUpdate, first + 2000, 500, 2000);
    } else {
      Write(WriteKind::kDelete, first, 500);
      Write(WriteKind::kAdd, first, 500);
    }
    // Four neighbours of a tier are there before they are merged.
    ASSERT_LE(bytes(), 3 * fresh) << "round " << round;
  }
  ASSERT_OK(docs_->Compact());
  EXPECT_LE(bytes(), fresh * 11 / 10);
}

TEST_P(IndexMerge, EveryLiveRowIsFoundByItsOwnVector) {
  Open(Options());
  Write(WriteKind::kAdd, 0, 4000);
  ASSERT_OK(docs_->Compact());
  Write(WriteKind::kDelete, 0, 1000);
  uint32_t missed = 0;
  for (uint32_t i = 1000; i < 4000; ++i) {
    const ResultSet found = Search(made_.vector(i), 1, kDefaultRecall);
    missed += found.ids.bytes == "id" + std::to_string(i) ? 0 : 1;
  }
  EXPECT_EQ(missed, 0u);
}

TEST_P(IndexMerge, WithoutTheMemoryForItAnswersAreExact) {
  StoreOptions options = Options();
  options.memory_budget_bytes = GetParam() == IndexKind::kSpann ? 1 << 20 : 3 << 20;
  Open(options);
  for (uint32_t first = 0; first < 4000; first += 500) Write(WriteKind::kAdd, first, 500);
  ASSERT_OK(docs_->Compact());
  EXPECT_EQ(Kinds(), std::vector<std::string>{"flat"});
  EXPECT_FALSE(SearchIsIndexed());
  EXPECT_EQ(Recall(), 1);
  // What could not be had is not tried again and again.
  EXPECT_EQ(docs_->Compact()->bytes_before, docs_->Compact()->bytes_after);
}

TEST_P(IndexMerge, OnADiskVectorsThatHaveNoRoomWaitForItInScratch) {
  const TemporaryDirectory directory;
  file_system_ = DiskFiles();
  path_ = directory / "db";
  StoreOptions options = Options();
  options.memory_budget_bytes = GetParam() == IndexKind::kSpann ? 2 << 20 : 8 << 20;
  Open(options);
  for (uint32_t first = 0; first < 8000; first += 500) Write(WriteKind::kAdd, first, 500);
  ASSERT_OK(docs_->Compact());
  EXPECT_EQ(Kinds(), std::vector<std::string>{Indexed()});
  EXPECT_TRUE(SearchIsIndexed());
  EXPECT_GE(Recall(), 0.96);
  EXPECT_EQ(store_->Check().value().findings.size(), 0u);
  Write(WriteKind::kDelete, 0, 800);
  ASSERT_OK(docs_->Compact());
  EXPECT_EQ(Kinds(), std::vector<std::string>{Indexed()});
  EXPECT_GE(Recall(), 0.96);
  EXPECT_THAT(*DiskFiles()->List(directory / "db/segments"), testing::Each(testing::HasSubstr(".")))
      << "files that no segment has";
}

// A search takes its memory before it begins, or keeps what it took: long ones allocate as often as
// short ones, but for a few lists that double.
TEST_P(IndexMerge, SearchesAllocateNoMoreForMoreVisits) {
  Open(Options());
  Write(WriteKind::kAdd, 0, 4000);
  ASSERT_OK(docs_->Compact());
  const auto version = docs_->Pin().value();
  const auto allocations = [&](uint64_t width) {
    QueryRequest request;
    request.embeddings = made_.vector(0);
    request.queries = 1;
    request.dimension = kDimension;
    request.width = width;
    FailAllocations(0, 0);
    ResumeFailingAllocations();
    EXPECT_OK(Query(*version, request));
    PauseFailingAllocations();
    return AllocationsMade();
  };
  (void)allocations(100);  // loads the head of the index
  const bool is_graph = GetParam() == IndexKind::kHnsw;
  const uint64_t few = allocations(is_graph ? 20 : 3);
  const uint64_t many = allocations(is_graph ? 320 : 25);
  EXPECT_LE(many, few + 8) << few;
}

// Without a merge that is due an index is built once the collection was left alone for a while.
TEST_P(IndexMerge, ComesByItselfToWhatIsLeftAlone) {
  StoreOptions options = Options();
  options.background_threads = 1;
  Open(options);
  Write(WriteKind::kAdd, 0, 500);
  Write(WriteKind::kAdd, 500, 500);
  Write(WriteKind::kAdd, 1000, 500);
  const auto is_indexed = [this] { return Kinds() == std::vector<std::string>{Indexed()}; };
  EXPECT_TRUE(ComesTrue(is_indexed));
  EXPECT_GE(Recall(), 0.95);
  // Also where the process before did not come to it.
  Write(WriteKind::kAdd, 1500, 500);
  Write(WriteKind::kAdd, 2000, 500);
  ASSERT_OK(store_->Close());
  Open(options);
  EXPECT_GE(Kinds().size(), 2u);
  EXPECT_TRUE(ComesTrue(is_indexed));
  EXPECT_GE(Recall(), 0.95);
}

// Rows that no flush would take yet, and those that were deleted, where they are worth it.
TEST_P(IndexMerge, TakesTheTailWhereItIsLeftAlone) {
  StoreOptions options = Options();
  options.flush_rows_max = 4000;
  options.background_threads = 1;
  Open(options);
  Write(WriteKind::kAdd, 0, 3000);
  EXPECT_TRUE(Kinds().empty());
  const auto indexed_rows = [this] {
    const std::vector<SegmentDescription> segments = docs_->Segments().value();
    return segments.size() == 1 && segments[0].kind == Indexed() ? segments[0].rows : 0;
  };
  EXPECT_TRUE(ComesTrue([&] { return indexed_rows() == 3000; }));
  Write(WriteKind::kDelete, 600, 600);         // too few to be worth it before the next come
  Write(WriteKind::kUpsert, 3000, 600, 3000);  // ids of the first 600
  EXPECT_TRUE(ComesTrue([&] { return indexed_rows() == 2400; }));
  EXPECT_GE(Recall(), 0.95);
  // Too few to be worth it stay in the tail.
  Write(WriteKind::kAdd, 4000, 100);
  std::this_thread::sleep_for(std::chrono::milliseconds(2 * kQuietMs));
  EXPECT_EQ(indexed_rows(), 2400u);
  EXPECT_EQ(docs_->Pin().value()->tail.rows, 100u);
  // Those that are written a few at a time without an end are taken as well.
  const auto begin = std::chrono::steady_clock::now();
  uint32_t written = 0;
  EXPECT_TRUE(ComesTrue(
      [&] {
        Write(WriteKind::kUpsert, 4100 + written % 3000, 20);
        written += 20;
        return docs_->Segments().value().front().rows != 2400;
      },
      std::chrono::milliseconds(kQuietMs / 10)));
  EXPECT_GE(docs_->Segments().value().front().rows, 2700u);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(kQuietMs * 9));
}

// A tail that is not worth a merge goes into one that comes without it.
TEST_P(IndexMerge, TakesAFewRowsOfTheTailWhereItMergesAnyway) {
  StoreOptions options = Options();
  options.flush_rows_max = 4000;
  options.background_threads = 1;
  Open(options);
  Write(WriteKind::kAdd, 0, 3000);
  ASSERT_OK(docs_->Flush());
  Write(WriteKind::kAdd, 3000, 900);
  ASSERT_OK(docs_->Flush());
  Write(WriteKind::kAdd, 3900, 50);
  EXPECT_TRUE(ComesTrue([this] { return Kinds() == std::vector<std::string>{Indexed()}; }));
  EXPECT_EQ(docs_->Segments().value().front().rows, 3950u);
  EXPECT_EQ(docs_->Pin().value()->tail.rows, 0u);
}

// Queries that a graft answered, of one.
int GraftsSearched(const std::string& explain_json) {
  const std::string before = R"("grafts":{"searches":)";
  return std::stoi(explain_json.substr(explain_json.find(before) + before.size()));
}

// Beside a large segment flushed rows hang on its graph, or its clusters, once they were searched,
// though nobody writes any more; what is asked for exactly, or by a width, is not answered so.
TEST_P(IndexMerge, HangsFlushedRowsOnTheIndexBesideThem) {
  StoreOptions options = Options();
  options.cluster_rows_min = 200;
  options.background_threads = 1;
  options.quiet_ms = 600'000;
  Open(options);
  Write(WriteKind::kAdd, 0, 4000);
  ASSERT_OK(docs_->Compact());
  const auto grafts_searched = [&](double recall = 0.98, uint64_t width = 0) {
    QueryRequest request;
    request.read.explain = true;
    request.embeddings = made_.vector(0);
    request.queries = 1;
    request.dimension = kDimension;
    request.k = 10;
    request.recall = recall;
    request.width = width;
    return GraftsSearched(Query(*docs_->Pin().value(), request).value().explain_json);
  };
  const auto comes_to = [&](int grafts) {
    return ComesTrue([&] { return grafts_searched() == grafts; });
  };
  Write(WriteKind::kAdd, 4000, 500);
  EXPECT_EQ(Kinds(), (std::vector<std::string>{Indexed(), "clusters"}));
  EXPECT_EQ(grafts_searched(), 0);
  ASSERT_TRUE(comes_to(1));
  EXPECT_EQ(grafts_searched(1), 0);
  EXPECT_EQ(grafts_searched(0.995), 0);
  EXPECT_EQ(grafts_searched(0.98, 50), 0);
  EXPECT_GE(Recall(), 0.96);
  EXPECT_GE(Recall(100), 0.96);
  Write(WriteKind::kDelete, 4000, 100);
  for (uint32_t i = 4000; i < 4500; ++i) {
    const ResultSet found = Search(made_.vector(i), 1, 0.98);
    EXPECT_EQ(found.ids.bytes == "id" + std::to_string(i), i >= 4100) << i;
  }
  Write(WriteKind::kAdd, 4500, 500);  // a flush keeps the graft
  ASSERT_TRUE(comes_to(2));
  EXPECT_GE(Recall(), 0.96);
  ASSERT_OK(docs_->Compact());
  EXPECT_EQ(grafts_searched(), 0);
  EXPECT_GE(Recall(), 0.96);
}

// So do those of the tail, the more the longer it gets; a flush takes what is known of them along.
TEST_P(IndexMerge, HangsTheTailOnTheIndexBesideIt) {
  StoreOptions options = Options();
  options.flush_rows_max = 20'000;
  options.background_threads = 1;
  options.quiet_ms = 600'000;
  Open(options);
  Write(WriteKind::kAdd, 0, 5000);
  ASSERT_OK(docs_->Compact());
  const auto explained = [this] { return Search(made_.vector(0), 10, 0.98, true).explain_json; };
  const auto tail_rows_hung = [&] {
    const auto version = docs_->Pin().value();
    return version->tail.hung == nullptr ? 0 : version->tail.hung->graft->rows();
  };
  uint32_t written = 7500;
  const auto comes_to = [&](uint32_t rows) {
    return ComesTrue([&] {
      Write(WriteKind::kUpsert, written++, 1);  // asks what is due
      (void)explained();                        // looks at the codes of what does not hang
      return tail_rows_hung() >= rows;
    });
  };
  Write(WriteKind::kAdd, 5000, 1100);
  EXPECT_EQ(GraftsSearched(explained()), 0);
  ASSERT_TRUE(comes_to(1024));
  EXPECT_EQ(GraftsSearched(explained()), 1);
  EXPECT_GE(Recall(), 0.96);
  EXPECT_GE(Recall(100), 0.96);
  EXPECT_EQ(Recall(10, 1), 1);
  Write(WriteKind::kDelete, 5000, 100);
  for (uint32_t i = 5000; i < 6100; ++i) {
    const ResultSet found = Search(made_.vector(i), 1, 0.98);
    EXPECT_EQ(found.ids.bytes == "id" + std::to_string(i), i >= 5100) << i;
  }
  Write(WriteKind::kAdd, 6100, 1200);
  ASSERT_TRUE(comes_to(2048));
  EXPECT_GE(Recall(), 0.96);
  const ResultSet moved = Search(made_.vector(6500), 1, 0.98);
  EXPECT_EQ(moved.ids.bytes, "id6500");
  ASSERT_OK(docs_->Flush());
  EXPECT_EQ(tail_rows_hung(), 0u);
  EXPECT_TRUE(ComesTrue([&] {
    Write(WriteKind::kUpsert, written++, 1);
    return GraftsSearched(explained()) == 1;
  }));
  EXPECT_GE(Recall(), 0.96);
  for (uint32_t i = 5100; i < 7300; ++i)
    EXPECT_EQ(Search(made_.vector(i), 1, 0.98).ids.bytes, "id" + std::to_string(i));
  EXPECT_EQ(Recall(10, 1), 1);
}

}  // namespace
}  // namespace pigment

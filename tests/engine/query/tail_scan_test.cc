// SPDX-License-Identifier: Apache-2.0
//
// The tail by codes against the tail row by row: nearly always the same rows, always exact
// distances, from fewer vectors; also beside writes, under filters, with duplicates and at any
// magnitude.

#include "engine/query/tail_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <thread>

#include "engine/segment/code_scan.h"
#include "tests/support/made_vectors.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

std::shared_ptr<const Record> RecordOf(uint32_t number, std::span<const float> vector) {
  auto record = std::make_shared<Record>();
  record->id = "id" + std::to_string(number);
  record->ordinal = number + 1;
  record->embedding.assign(vector.begin(), vector.end());
  return record;
}

Tail TailOf(const VectorTable& vectors, uint32_t rows, float factor = 1) {
  Tail tail;
  std::vector<float> scaled(vectors.dimension());
  for (uint32_t i = 0; i < rows; ++i) {
    for (uint32_t d = 0; d < vectors.dimension(); ++d) scaled[d] = vectors.row(i)[d] * factor;
    tail.Append(RecordOf(i, scaled));
  }
  return tail;
}

std::vector<TailHit> Sorted(const Result<TailScanResult>& result) {
  EXPECT_OK(result);
  std::vector<TailHit> hits = result->hits;
  std::sort(hits.begin(), hits.end(),
            [](const TailHit& a, const TailHit& b) { return a.key < b.key; });
  return hits;
}

class TailScanTest : public ::testing::Test {
 protected:
  TailScan Scan(std::span<const float> query, size_t k, bool is_exact,
                Metric metric = Metric::kL2) const {
    return {.metric = metric, .query = query, .k = k, .is_exact = is_exact, .control = &control_};
  }
  // Queries until all chunks have their codes.
  void MakeAllCodes(const TailView& view, std::span<const float> query, Metric metric) const {
    for (uint32_t i = 0; i <= view.rows / TailChunk::kRows; ++i)
      ASSERT_OK(ScanTail(view, RowSet(view.rows), Scan(query, 1, false, metric)));
  }

  const CallControl control_{.cancel = nullptr, .deadline_ns = 0};
};

TEST_F(TailScanTest, ByCodesFindsWhatTheExactOneDoes) {
  // Standard errors, and the part that is found by them at least.
  const std::vector<std::pair<float, double>> promises = {
      {3.5f, 0.995}, {ErrorsForRecall(0.98), 0.98}, {ErrorsForRecall(0.9), 0.9}};
  for (const Metric metric : {Metric::kL2, Metric::kCosine, Metric::kIp}) {
    for (const uint32_t dimension : {8u, 100u, 384u}) {
      SCOPED_TRACE(::testing::Message() << MetricName(metric) << " " << dimension);
      const VectorTable made = ClusteredVectors(
          {.count = 3120, .dimension = dimension, .clusters = 30, .spread = 0.7f, .seed = 1});
      const Tail tail = TailOf(made, 3100);
      const TailView view = tail.View();
      MakeAllCodes(view, made.vector(0), metric);
      for (const uint32_t every : {1u, 2u, 3000u}) {
        RowSet rows = RowSet::Nothing(view.rows);
        for (uint32_t row = 0; row < view.rows; row += every) rows.Set(row);
        std::vector<size_t> right(promises.size());
        std::vector<uint64_t> compared(promises.size());
        size_t wanted = 0;
        for (uint32_t query = 3100; query < 3120; ++query) {
          for (const size_t k : {1u, 10u, 100u}) {
            TailScan scan = Scan(made.vector(query), k, true, metric);
            const auto exact = Sorted(ScanTail(view, rows, scan));
            wanted += exact.size();
            scan.is_exact = false;
            for (size_t i = 0; i < promises.size(); ++i) {
              scan.errors = promises[i].first;
              const auto result = ScanTail(view, rows, scan);
              const auto found = Sorted(result);
              if (k == 10) compared[i] += result->rows_compared;
              ASSERT_EQ(found.size(), exact.size());
              ASSERT_EQ(found.size(), std::min<size_t>(k, rows.count()));
              for (const TailHit& hit : found) {
                EXPECT_TRUE(rows.Test(hit.row));
                right[i] += hit.key.distance <= exact.back().key.distance ? 1 : 0;
                const auto same = std::ranges::find(exact, hit.row, &TailHit::row);
                if (same != exact.end()) {
                  EXPECT_EQ(same->key.distance, hit.key.distance);
                  EXPECT_EQ(same->key.tie, hit.key.tie);
                }
              }
            }
          }
        }
        for (size_t i = 0; i < promises.size(); ++i)
          EXPECT_GE(static_cast<double>(right[i]),
                    promises[i].second * static_cast<double>(wanted));
        if (every == 1 && metric != Metric::kIp && dimension > 8) {
          EXPECT_LT(compared[0], 20u * 3100 / 3);
          EXPECT_LT(compared[1], compared[0]);
          EXPECT_LT(compared[2], compared[1]);
        }
      }
    }
  }
}

TEST_F(TailScanTest, MakesSomeCodesForEachQueryAndNoneForExactOnes) {
  const VectorTable made = NormalVectors({.count = 3001, .dimension = 64, .seed = 2});
  const Tail tail = TailOf(made, 3000);
  const TailView view = tail.View();
  const auto coded = [&] {
    return std::ranges::count_if(
        view.chunks, [](const auto& chunk) { return chunk->searched().get() != nullptr; });
  };
  ASSERT_OK(ScanTail(view, RowSet(3000), Scan(made.vector(3000), 10, true)));
  EXPECT_EQ(coded(), 0);
  ASSERT_OK(ScanTail(view, RowSet(3000), Scan(made.vector(3000), 10, false)));
  const auto first = coded();
  EXPECT_GT(first, 0);
  EXPECT_LT(first, 11);
  MakeAllCodes(view, made.vector(3000), Metric::kL2);
  EXPECT_EQ(coded(), 11);  // the last chunk is not full
}

// The rows of the last chunk have codes by quarters, so that no more than 63 are compared one by
// one, and the whole chunk's when it is full. A few rows beside no index are all compared.
TEST_F(TailScanTest, QuartersOfTheLastChunkHaveCodesToo) {
  const VectorTable made =
      ClusteredVectors({.count = 620, .dimension = 100, .clusters = 10, .spread = 0.7f, .seed = 7});
  Tail tail;
  size_t right = 0;
  size_t wanted = 0;
  for (uint32_t rows = 1; rows <= 600; ++rows) {
    tail.Append(RecordOf(rows - 1, std::span(made.row(rows - 1), made.dimension())));
    if (rows % 37 != 0 && rows % 64 != 0) continue;
    SCOPED_TRACE(::testing::Message() << rows << " rows");
    const TailView view = tail.View();
    for (uint32_t query = 600; query < 620; ++query) {
      const auto exact = Sorted(ScanTail(view, RowSet(rows), Scan(made.vector(query), 10, true)));
      TailScan scan = Scan(made.vector(query), 10, false);
      const auto alone = ScanTail(view, RowSet(rows), scan);
      ASSERT_OK(alone);
      EXPECT_EQ(alone->rows_by_codes, 0u);
      scan.is_beside_index = true;
      scan.limit = 2 * exact.back().key.distance;
      const auto result = ScanTail(view, RowSet(rows), scan);
      const auto found = Sorted(result);
      EXPECT_EQ(result->rows_by_codes, rows < 128 ? 0 : rows / 64 * 64);
      ASSERT_EQ(found.size(), exact.size());
      wanted += found.size();
      for (const TailHit& hit : found) {
        EXPECT_EQ(tail.row(hit.row).ordinal, hit.key.tie);
        right += hit.key.distance <= exact.back().key.distance ? 1 : 0;
      }
    }
  }
  EXPECT_GE(static_cast<double>(right), 0.995 * static_cast<double>(wanted));
}

TEST_F(TailScanTest, NothingBeyondTheLimitComes) {
  const VectorTable made = NormalVectors({.count = 2001, .dimension = 32, .seed = 3});
  const Tail tail = TailOf(made, 2000);
  const TailView view = tail.View();
  MakeAllCodes(view, made.vector(2000), Metric::kL2);
  const auto all = Sorted(ScanTail(view, RowSet(2000), Scan(made.vector(2000), 50, true)));
  for (const bool is_exact : {true, false}) {
    TailScan scan = Scan(made.vector(2000), 50, is_exact);
    scan.limit = all[20].key.distance;
    const auto result = ScanTail(view, RowSet(2000), scan);
    EXPECT_EQ(Sorted(result).size(), 21u);
    if (!is_exact) {
      EXPECT_LT(result->rows_compared, 1500u);
    }
  }
}

TEST_F(TailScanTest, OfWhatHasNoCodesIsExact) {
  const VectorTable made = NormalVectors({.count = 2001, .dimension = 32, .seed = 4});
  const Tail huge = TailOf(made, 2000, 1e18f);  // squares beyond f32
  const Tail equal = TailOf(made, 2000, 0);
  for (const Tail* tail : {&huge, &equal}) {
    const TailView view = tail->View();
    for (const Metric metric : {Metric::kL2, Metric::kCosine}) {
      for (int i = 0; i < 3; ++i) {
        const auto exact =
            Sorted(ScanTail(view, RowSet(2000), Scan(made.vector(2000), 10, true, metric)));
        const auto found =
            Sorted(ScanTail(view, RowSet(2000), Scan(made.vector(2000), 10, false, metric)));
        ASSERT_EQ(found.size(), exact.size());
        for (size_t h = 0; h < found.size(); ++h)
          EXPECT_EQ(found[h].key.distance, exact[h].key.distance);
      }
    }
  }
}

TEST_F(TailScanTest, ManyMakeCodesAtOnce) {
  const VectorTable made = NormalVectors({.count = 4001, .dimension = 32, .seed = 5});
  const Tail tail = TailOf(made, 4000);
  const TailView view = tail.View();
  const auto exact = Sorted(ScanTail(view, RowSet(4000), Scan(made.vector(4000), 10, true)));
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 10; ++round) {
        const auto found = Sorted(ScanTail(view, RowSet(4000), Scan(made.vector(4000), 10, false)));
        right += found.size() == exact.size() && found[0].row == exact[0].row ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 40);
}

TEST_F(TailScanTest, StopsWhenTheCallDoes) {
  const VectorTable made = NormalVectors({.count = 2001, .dimension = 32, .seed = 6});
  const Tail tail = TailOf(made, 2000);
  CancelToken cancel;
  cancel.Set();
  const CallControl control{.cancel = &cancel, .deadline_ns = 0};
  for (const bool is_exact : {true, false}) {
    TailScan scan = Scan(made.vector(2000), 10, is_exact);
    scan.control = &control;
    EXPECT_CODE(ScanTail(tail.View(), RowSet(2000), scan), Code::kCancelled);
  }
}

}  // namespace
}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// The exact scan against a plain model: ties, masks, rows without vectors, many queries,
// cancellation.

#include "engine/segment/flat_scan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/vector/half.h"
#include "engine/vector/top_k.h"
#include "tests/engine/segment/segment_fixture.h"

namespace pigment {
namespace {

constexpr Metric kMetrics[] = {Metric::kL2,         Metric::kCosine, Metric::kIp,
                               Metric::kNegativeIp, Metric::kL1,     Metric::kCosineNan,
                               Metric::kHamming,    Metric::kJaccard};
constexpr VectorElement kElements[] = {VectorElement::kF32, VectorElement::kF16,
                                       VectorElement::kBit};

void MakeBits(std::vector<float>& vector) {
  for (float& value : vector) value = value > 0 ? 1 : 0;
}

std::vector<Scored> Model(const std::vector<ModelRow>& rows, const std::vector<uint64_t>& allowed,
                          Metric metric, const float* query, uint32_t dimension, size_t k) {
  std::vector<Scored> all;
  for (uint32_t row = 0; row < rows.size(); ++row) {
    if (rows[row].vector.empty() || (!allowed.empty() && !(allowed[row / 64] >> (row % 64) & 1)))
      continue;
    all.push_back({Distance(metric, query, rows[row].vector.data(), dimension), row});
  }
  std::sort(all.begin(), all.end());
  all.resize(std::min(all.size(), k));
  return all;
}

TEST(FlatScan, GivesWhatSortingEveryRowGives) {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const uint32_t dimensions[] = {1, 2, 7, 64, 384, 700, 2039, 4100, 65300};
    const uint32_t dimension = dimensions[random() % std::size(dimensions)];
    const auto count = static_cast<uint32_t>(random() % (dimension > 1000 ? 60 : 700));
    auto rows = RandomRows(random, dimension, count, random() % 2 * 25);
    for (ModelRow& row :
         rows) {  // duplicates, so that ties decide; zero vectors, so that NaN takes part
      if (row.vector.empty()) continue;
      if (random() % 3 == 0 && !rows[0].vector.empty()) row.vector = rows[0].vector;
      if (random() % 20 == 0) row.vector.assign(dimension, 0);
    }
    FlatScan scan;
    scan.metric = kMetrics[random() % std::size(kMetrics)];
    const bool is_of_bits = scan.metric == Metric::kHamming || scan.metric == Metric::kJaccard;
    const VectorElement element =
        is_of_bits ? VectorElement::kBit : kElements[seed % std::size(kElements)];
    for (ModelRow& row : rows) {
      if (element == VectorElement::kF16) ASSERT_OK(RoundToHalves(dimension, row.vector));
      if (element == VectorElement::kBit) MakeBits(row.vector);
    }
    MemoryBlockSource blocks("test");
    auto summary = WriteRows(&blocks, dimension, rows, 7, random() % 4 != 0, element);
    ASSERT_OK(summary);
    auto segment = Segment::Open(&blocks, summary->root, 7);
    ASSERT_OK(segment);
    EXPECT_EQ((*segment)->info().vector_element, element);
    ASSERT_OK((*segment)->Verify());
    std::vector<uint64_t> allowed;
    if (random() % 3 != 0) {
      allowed.resize((count + 63) / 64);
      const uint64_t sparsity = random() % 4;
      for (uint64_t& word : allowed) {
        word = random();
        for (uint64_t i = 0; i < sparsity * 3; ++i) word &= random();
      }
    }
    scan.query_count = random() % 4;
    scan.k = random() % 5 == 0 ? count + 3 : random() % 30;
    scan.allowed_rows = allowed;
    std::vector<float> queries;
    for (size_t i = 0; i < scan.query_count; ++i) {
      auto query = RandomVector(random, dimension);
      if (is_of_bits) MakeBits(query);
      queries.insert(queries.end(), query.begin(), query.end());
    }
    scan.queries = queries.data();
    CallControl control;
    scan.control = &control;
    auto result = ScanFlat(**segment, dimension, scan);
    ASSERT_OK(result);
    ASSERT_EQ(result->hits.size(), scan.query_count);
    for (size_t i = 0; i < scan.query_count; ++i) {
      const auto expected =
          Model(rows, allowed, scan.metric, queries.data() + i * dimension, dimension, scan.k);
      ASSERT_EQ(result->hits[i].size(), expected.size());
      for (size_t j = 0; j < expected.size(); ++j) {
        EXPECT_EQ(result->hits[i][j].row, expected[j].tie);
        EXPECT_EQ(DistanceKey(result->hits[i][j].distance), DistanceKey(expected[j].distance));
      }
    }
  }
}

// Neighbours that differ in the last bits: what a bound that is a little too high would lose.
TEST(FlatScan, CodesLoseNoneOfMostlyEqualRows) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    std::mt19937_64 random(seed);
    const uint32_t dimensions[] = {1, 3, 63, 64, 65, 384, 1000};
    const uint32_t dimension = dimensions[random() % std::size(dimensions)];
    const float magnitudes[] = {1e-38f, 1e-20f, 1e-3f, 1, 1e3f, 1e18f, 1e37f};
    const float magnitude = magnitudes[random() % std::size(magnitudes)];
    auto rows = RandomRows(random, dimension, 400, 0);
    for (ModelRow& row : rows) {
      for (size_t i = 0; i < dimension; ++i) {
        row.vector[i] = rows[0].vector[i] * (1 + static_cast<float>(random() % 8) * 0x1p-23f);
      }
    }
    for (ModelRow& row : rows) {
      for (float& value : row.vector) value *= magnitude;
    }
    MemoryBlockSource blocks("test");
    auto summary = WriteRows(&blocks, dimension, rows);
    ASSERT_OK(summary);
    auto segment = Segment::Open(&blocks, summary->root, 7);
    ASSERT_OK(segment);
    ASSERT_TRUE((*segment)->has_codes());
    EXPECT_OK((*segment)->Verify());
    for (const Metric metric : {Metric::kL2, Metric::kCosine, Metric::kIp}) {
      FlatScan scan;
      scan.metric = metric;
      scan.queries = rows[1 + random() % 100].vector.data();
      scan.query_count = 1;
      scan.k = 1 + random() % 20;
      auto result = ScanFlat(**segment, dimension, scan);
      ASSERT_OK(result);
      const auto expected = Model(rows, {}, metric, scan.queries, dimension, scan.k);
      ASSERT_EQ(result->hits[0].size(), expected.size());
      for (size_t j = 0; j < expected.size(); ++j) {
        ASSERT_EQ(result->hits[0][j].row, expected[j].tie) << MetricName(metric);
        ASSERT_EQ(DistanceKey(result->hits[0][j].distance), DistanceKey(expected[j].distance));
      }
    }
  }
}

TEST(FlatScan, CodesSpareMostVectors) {
  std::mt19937_64 random(5);
  const auto rows = RandomRows(random, 384, 4000, 0);
  MemoryBlockSource blocks("test");
  auto summary = WriteRows(&blocks, 384, rows);
  ASSERT_OK(summary);
  auto segment = Segment::Open(&blocks, summary->root, 7);
  ASSERT_OK(segment);
  for (const Metric metric : {Metric::kL2, Metric::kCosine, Metric::kIp}) {
    FlatScan scan;
    scan.metric = metric;
    scan.queries = rows[17].vector.data();
    scan.query_count = 1;
    scan.k = 10;
    auto result = ScanFlat(**segment, 384, scan);
    ASSERT_OK(result);
    EXPECT_EQ(result->rows_scored, 4000u);
    EXPECT_LT(result->bytes_scored, 4000u * 384 * sizeof(float) * 2 / 5) << MetricName(metric);
  }
}

class FlatScanOfMany : public testing::TestWithParam<bool> {  // with codes or without
 protected:
  void SetUp() override {
    std::mt19937_64 random(4);
    rows_ = RandomRows(random, 384, 2000, 0);
    auto summary = WriteRows(&blocks_, 384, rows_, 7, GetParam());
    ASSERT_OK(summary);
    auto segment = Segment::Open(&blocks_, summary->root, 7);
    ASSERT_OK(segment);
    segment_ = std::move(segment).value();
    scan_.queries = rows_[0].vector.data();
    scan_.query_count = 1;
    scan_.k = 10;
  }

  MemoryBlockSource blocks_{"test"};
  std::vector<ModelRow> rows_;
  std::unique_ptr<Segment> segment_;
  FlatScan scan_;
};

TEST_P(FlatScanOfMany, StopsWhenItIsCancelledOrLate) {
  CancelToken token;
  CallControl control;
  control.cancel = &token;
  scan_.control = &control;
  EXPECT_OK(ScanFlat(*segment_, 384, scan_));
  token.Set();
  EXPECT_CODE(ScanFlat(*segment_, 384, scan_), Code::kCancelled);
  CallControl late;
  late.deadline_ns = 1;
  scan_.control = &late;
  EXPECT_CODE(ScanFlat(*segment_, 384, scan_), Code::kDeadlineExceeded);
}

TEST_P(FlatScanOfMany, RefusesQueriesOfAnotherDimension) {
  EXPECT_EQ(ScanFlat(*segment_, 383, scan_).status().detail(), Detail::kDimension);
}

TEST_P(FlatScanOfMany, ComparesOnlyAllowedRows) {
  std::vector<uint64_t> allowed((rows_.size() + 63) / 64);
  allowed[1000 / 64] |= uint64_t{1} << (1000 % 64);
  scan_.allowed_rows = allowed;
  auto result = ScanFlat(*segment_, 384, scan_);
  ASSERT_OK(result);
  ASSERT_EQ(result->hits[0].size(), 1u);
  EXPECT_EQ(result->hits[0][0].row, 1000u);
  EXPECT_EQ(result->rows_scored, 1u);
}

INSTANTIATE_TEST_SUITE_P(Codes, FlatScanOfMany, testing::Bool());

}  // namespace
}  // namespace pigment

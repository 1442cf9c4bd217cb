// SPDX-License-Identifier: Apache-2.0
//
// Columns of a caller: number types, strides, alignment, offsets and validity bits.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "tests/c_api/abi.h"

namespace {

using abi_test::kNoOptions;
using abi_test::Outcome;
using abi_test::Sized;
using abi_test::Try;

pigment_write_result* const kNoResult = nullptr;

class Columns : public ::testing::Test {
 protected:
  void SetUp() override {
    client_ = abi_test::OpenMemory();
    ASSERT_NE(client_, nullptr);
    ASSERT_TRUE(abi_test::Create(client_.get(), "docs", &docs_).ok());
  }

  Outcome Upsert(const pigment_vectors& vectors, const abi_test::Texts& ids) {
    auto records = Sized<pigment_records>();
    records.count = ids.size();
    records.ids = ids.column();
    records.embeddings = vectors;
    return Try(pigment_collection_upsert, docs_.get(), &records, kNoOptions, kNoResult);
  }

  std::vector<float> Stored() {
    auto request = Sized<pigment_get_request>();
    request.include = PIGMENT_INCLUDE_EMBEDDINGS;
    abi_test::ResultHandle result;
    if (!abi_test::Get(docs_.get(), request, &result).ok()) return {};
    size_t dimension = 0;
    const float* values = pigment_result_embeddings(result.get(), &dimension);
    return std::vector<float>(values, values + dimension * pigment_result_row_count(result.get()));
  }

  template <typename T>
  std::vector<float> RoundTrip(const std::vector<T>& values, int32_t dtype) {
    const pigment_vectors vectors{values.data(), 1, values.size(), 0, dtype};
    const Outcome outcome = Upsert(vectors, {"a"});
    EXPECT_TRUE(outcome.ok()) << outcome;
    return Stored();
  }

  abi_test::Client client_;
  abi_test::Collection docs_;
};

TEST_F(Columns, EveryNumberTypeBecomesF32) {
  const float tiny = std::numeric_limits<float>::denorm_min();
  const std::vector<float> floats{0.0f, -0.0f, 1.5f, tiny, std::numeric_limits<float>::max()};
  EXPECT_EQ(RoundTrip(floats, PIGMENT_F32), floats);
  EXPECT_EQ(
      RoundTrip(std::vector<double>{0.1, -1e-300, 3.4028234663852886e38, 2.0, 1e-45}, PIGMENT_F64),
      (std::vector<float>{0.1f, -0.0f, std::numeric_limits<float>::max(), 2.0f, tiny}));
  EXPECT_EQ(RoundTrip(std::vector<int32_t>{0, -1, INT32_MIN, INT32_MAX, 16777217}, PIGMENT_I32),
            (std::vector<float>{0, -1, -2147483648.0f, 2147483648.0f, 16777216.0f}));
  EXPECT_EQ(RoundTrip(std::vector<int64_t>{0, -1, INT64_MIN, INT64_MAX, 7}, PIGMENT_I64),
            (std::vector<float>{0, -1, -9223372036854775808.0f, 9223372036854775808.0f, 7}));
  // 1, -2, largest, smallest normal, smallest subnormal
  EXPECT_EQ(RoundTrip(std::vector<uint16_t>{0x3C00, 0xC000, 0x7BFF, 0x0400, 0x8001}, PIGMENT_F16),
            (std::vector<float>{1.0f, -2.0f, 65504.0f, 0x1p-14f, -0x1p-24f}));
}

// Every half that is a number, against the definition.
TEST_F(Columns, EveryHalfIsExact) {
  std::vector<uint16_t> halves;
  std::vector<float> expected;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 31) continue;
    const double magnitude = exponent == 0
                                 ? std::ldexp(fraction, -24)
                                 : std::ldexp(1024 + fraction, static_cast<int>(exponent) - 25);
    halves.push_back(static_cast<uint16_t>(bits));
    expected.push_back(static_cast<float>((bits & 0x8000) != 0 ? -magnitude : magnitude));
  }
  EXPECT_EQ(RoundTrip(halves, PIGMENT_F16), expected);
}

TEST_F(Columns, WhatF32CannotHoldIsRefusedWithItsRow) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double rounds_up = 0x1.ffffffp+127;  // halfway between the largest float and 2^128
  for (const double value : {std::nan(""), infinity, -infinity, 1e39, -1e39, 1.7e308, rounds_up}) {
    SCOPED_TRACE(value);
    const std::vector<double> values{1, 2, 3, value};
    const Outcome outcome = Upsert({values.data(), 2, 2, 0, PIGMENT_F64}, {"a", "b"});
    EXPECT_EQ(outcome.status, PIGMENT_INVALID_ARGUMENT);
    EXPECT_EQ(outcome.detail, PIGMENT_DETAIL_NOT_FINITE);
    EXPECT_EQ(outcome.row, 1);
  }
  const double below = std::nextafter(rounds_up, 0);
  EXPECT_EQ(
      RoundTrip(std::vector<double>{below, -below}, PIGMENT_F64),
      (std::vector<float>{std::numeric_limits<float>::max(), -std::numeric_limits<float>::max()}));
  for (const uint16_t half : {uint16_t{0x7C00}, uint16_t{0xFC00}, uint16_t{0x7E01}}) {
    const std::vector<uint16_t> values{half, 0};
    EXPECT_EQ(Upsert({values.data(), 1, 2, 0, PIGMENT_F16}, {"x"}).detail,
              PIGMENT_DETAIL_NOT_FINITE);
  }
}

TEST_F(Columns, ACollectionOfHalvesRoundsThemAndSaysSo) {
  const std::string configuration = R"({"hnsw":{"space":"l2"},"full_vectors":"f16"})";
  auto options = Sized<pigment_collection_options>();
  options.configuration_json = configuration.data();
  options.configuration_json_size = configuration.size();
  ASSERT_TRUE(abi_test::Create(client_.get(), "halves", &docs_, &options).ok());
  EXPECT_EQ(RoundTrip(std::vector<float>{0.1f, -2049, 1e-9f}, PIGMENT_F32),
            (std::vector<float>{0x1.998p-4f, -2048, 0}));
  const std::vector<float> values{1, 2, 3, 4, 5, 65520};
  const Outcome outcome = Upsert({values.data(), 2, 3, 0, PIGMENT_F32}, {"b", "c"});
  EXPECT_EQ(outcome.status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(outcome.detail, PIGMENT_DETAIL_NOT_FINITE);
  EXPECT_EQ(outcome.row, 1);
  pigment_buffer* description = nullptr;
  ASSERT_EQ(pigment_collection_describe(docs_.get(), &description, nullptr), PIGMENT_OK);
  const std::string text = pigment_buffer_data(description, nullptr);
  pigment_buffer_free(description);
  EXPECT_NE(text.find(R"("full_vectors":"f16")"), std::string::npos) << text;
}

TEST_F(Columns, RowsMayLieApartAndUnaligned) {
  std::vector<char> memory(64, '\x7f');
  char* begin = memory.data() + 1;
  constexpr size_t kStride = 13;
  for (size_t row = 0; row < 3; ++row) {
    const float values[2] = {static_cast<float>(row), static_cast<float>(row) + 0.5f};
    std::memcpy(begin + row * kStride, values, sizeof values);
  }
  const Outcome outcome = Upsert({begin, 3, 2, kStride, PIGMENT_F32}, {"a", "b", "c"});
  ASSERT_TRUE(outcome.ok()) << outcome;
  EXPECT_EQ(Stored(), (std::vector<float>{0, 0.5, 1, 1.5, 2, 2.5}));
}

TEST_F(Columns, ImpossibleShapesAreRefused) {
  const std::vector<float> values{1, 2};
  EXPECT_NE(
      Upsert({values.data(), 1, 2, 4, PIGMENT_F32}, {"a"}).message.find("row_stride_bytes is 4"),
      std::string::npos);
  EXPECT_NE(Upsert({nullptr, 1, 2, 0, PIGMENT_F32}, {"a"}).message.find("embeddings.data"),
            std::string::npos);
  EXPECT_EQ(Upsert({values.data(), 1, 0, 0, PIGMENT_F32}, {"a"}).detail, PIGMENT_DETAIL_DIMENSION);
  EXPECT_EQ(Upsert({values.data(), 1, 65536, 0, PIGMENT_F32}, {"a"}).detail, PIGMENT_DETAIL_LIMIT);
  EXPECT_EQ(Upsert({values.data(), 1, SIZE_MAX, 0, PIGMENT_F32}, {"a"}).detail,
            PIGMENT_DETAIL_LIMIT);
  EXPECT_EQ(Upsert({values.data(), SIZE_MAX, 2, 0, PIGMENT_F32}, {"a"}).status,
            PIGMENT_INVALID_ARGUMENT);
  const std::vector<float> none;
  pigment_query_request query = abi_test::QueryFor(none, 0);
  query.embeddings = {values.data(), SIZE_MAX / 2, 2, 0, PIGMENT_F32};
  abi_test::ResultHandle result;
  EXPECT_EQ(abi_test::Query(docs_.get(), query, &result).status, PIGMENT_INVALID_ARGUMENT);
}

TEST_F(Columns, OffsetsMustAscendFromZeroOrAbove) {
  const std::vector<float> values{1, 2, 3};
  const auto add = [&](const std::vector<int64_t>& offsets, const char* bytes) {
    auto records = Sized<pigment_records>();
    records.count = offsets.size() - 1;
    records.ids = {offsets.data(), bytes, nullptr};
    records.embeddings = {values.data(), records.count, 1, 0, PIGMENT_F32};
    return Try(pigment_collection_add, docs_.get(), &records, kNoOptions, kNoResult);
  };
  const Outcome negative = add({-1, 1}, "abc");
  EXPECT_EQ(negative.status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_NE(negative.message.find("ids"), std::string::npos) << negative;
  const Outcome descending = add({0, 2, 1}, "abc");
  EXPECT_EQ(descending.status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(descending.row, 1);
  EXPECT_NE(add({0, 1}, nullptr).message.find("ids.bytes"), std::string::npos);
  EXPECT_TRUE(add({1, 2, 3}, "abc").ok());  // a slice of a longer column
  uint64_t count = 0;
  ASSERT_TRUE(abi_test::Count(docs_.get(), &count).ok());
  EXPECT_EQ(count, 2u);
}

TEST_F(Columns, ValidityBitsBeyondTheFirstByteCount) {
  abi_test::Batch batch;
  batch.dimension = 1;
  batch.documents.emplace();
  for (int i = 0; i < 20; ++i) {
    batch.ids.Add("id" + std::to_string(i));
    batch.values.push_back(static_cast<float>(i));
    if (i % 3 == 0) {
      batch.documents->AddAbsent();
    } else {
      batch.documents->Add("text " + std::to_string(i));
    }
  }
  ASSERT_TRUE(abi_test::Write(pigment_collection_add, docs_.get(), batch).ok());
  abi_test::ResultHandle result;
  ASSERT_TRUE(abi_test::Get(docs_.get(), Sized<pigment_get_request>(), &result).ok());
  pigment_text_column documents{};
  ASSERT_TRUE(pigment_result_documents(result.get(), &documents));
  ASSERT_EQ(pigment_result_row_count(result.get()), 20u);
  for (uint64_t row = 0; row < 20; ++row) {
    EXPECT_EQ(abi_test::Has(documents, row), row % 3 != 0) << row;
    EXPECT_EQ(abi_test::Text(documents, row), row % 3 != 0 ? "text " + std::to_string(row) : "");
  }
}

TEST_F(Columns, ACountWithoutItsColumnIsRefused) {
  auto get = Sized<pigment_get_request>();
  get.ids_count = 3;
  abi_test::ResultHandle result;
  const Outcome outcome = abi_test::Get(docs_.get(), get, &result);
  EXPECT_EQ(outcome.status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_NE(outcome.message.find("ids"), std::string::npos) << outcome;
  const std::vector<float> vector{1};
  pigment_query_request query = abi_test::QueryFor(vector, 1);
  query.embeddings = {};
  query.texts_count = 1;
  EXPECT_NE(abi_test::Query(docs_.get(), query, &result).message.find("texts"), std::string::npos);
}

}  // namespace

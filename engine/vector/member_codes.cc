// SPDX-License-Identifier: Apache-2.0
//
// The kernel, once per SIMD target by Highway: some rows by two registers of a panel, all sums in
// registers.

#include "engine/vector/member_codes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#define HWY_WANT_AVX3_DL 1  // see byte_products-inl.h
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/vector/member_codes.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "engine/vector/byte_products-inl.h"

#ifndef PIGMENT_VECTOR_MEMBER_CODES_KERNEL_
#define PIGMENT_VECTOR_MEMBER_CODES_KERNEL_
namespace pigment {

constexpr size_t kQuad = 4;  // dimensions whose products are added at once
constexpr size_t kQuadsOfChunk = kByteRowStep / kQuad;

struct PanelArguments {
  const int8_t* rows;   // kByteRowStep dimensions of all rows, then as many more
  const int8_t* panel;  // kQuad dimensions of all members, raised, then the next ones
  size_t chunks;        // of kByteRowStep dimensions
  const float* row_squares;
  const float* row_scales;
  const int32_t* row_sums;
  const float* squares;  // of the panel's members
  const float* scales;
  float* out;
  size_t stride;
};

}  // namespace pigment
#endif

HWY_BEFORE_NAMESPACE();
namespace pigment {
namespace HWY_NAMESPACE {
namespace {

using Floats = hn::Rebind<float, ByteQuads>;
using V = ByteQuadsV;
constexpr size_t kLanes = HWY_MIN(HWY_LANES(float), 16);

// With two quads of both registers of the panel and of a row the sums take 30 registers of 32, 18
// of 32 or 14 of 16.
constexpr size_t kRows = HWY_TARGET == HWY_AVX3_DL                          ? 12
                         : HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 6
                                                                            : 4;
static_assert(MemberCodes::kRowsPerPass % kRows == 0);

struct Sums {
  V first[kRows];
  V second[kRows];
};

template <size_t... I>
HWY_INLINE void Begin(Sums& sums, const int32_t* row_sums, std::index_sequence<I...>) {
  ((sums.first[I] = sums.second[I] = hn::Set(ByteQuads(), -kRaisedBy * row_sums[I])), ...);
}

HWY_INLINE V LoadPanel(const int8_t* panel) {
  return hn::LoadU(ByteQuads(), reinterpret_cast<const int32_t*>(panel));
}

HWY_INLINE V LoadRow(const int8_t* row) {
  int32_t bits;
  std::memcpy(&bits, row, sizeof bits);
  return hn::Set(ByteQuads(), bits);
}

template <size_t... I>
HWY_INLINE void AddTwoQuads(Sums& sums, const int8_t* rows, const int8_t* panel,
                            std::index_sequence<I...>) {
  constexpr size_t kBytesOfRegister = kLanes * kQuad;
  const int8_t* const panel_after = panel + MemberCodes::kWidth * kQuad;
  const V first[] = {LoadPanel(panel), LoadPanel(panel_after)};
  const V second[] = {LoadPanel(panel + kBytesOfRegister),
                      LoadPanel(panel_after + kBytesOfRegister)};
  const auto add = [&](size_t i) HWY_ATTR {
    const int8_t* const row_codes = rows + i * kByteRowStep;
    const V row[] = {LoadRow(row_codes), LoadRow(row_codes + kQuad)};
    sums.first[i] = AddRaisedProducts(first, row, sums.first[i]);
    sums.second[i] = AddRaisedProducts(second, row, sums.second[i]);
  };
  (add(I), ...);
}

HWY_INLINE void StoreDistances(V sum, const PanelArguments& panel, size_t row, size_t column) {
  const Floats lanes;
  const auto scale =
      hn::Mul(hn::Set(lanes, 2 * panel.row_scales[row]), hn::LoadU(lanes, panel.scales + column));
  const auto squares =
      hn::Add(hn::Set(lanes, panel.row_squares[row]), hn::LoadU(lanes, panel.squares + column));
  const auto distance = hn::Sub(squares, hn::Mul(scale, hn::ConvertTo(lanes, sum)));
  hn::StoreU(hn::Max(distance, hn::Zero(lanes)), lanes, panel.out + row * panel.stride + column);
}

template <size_t... I>
HWY_INLINE void Store(const Sums& sums, const PanelArguments& panel, size_t row, size_t column,
                      std::index_sequence<I...>) {
  ((StoreDistances(sums.first[I], panel, row + I, column),
    StoreDistances(sums.second[I], panel, row + I, column + kLanes)),
   ...);
}

// kRowsPerPass rows by one panel.
HWY_ATTR void EstimatePanel(const PanelArguments& panel) {
  constexpr auto kAll = std::make_index_sequence<kRows>();
  constexpr size_t kWidth = MemberCodes::kWidth;
  for (size_t row = 0; row < MemberCodes::kRowsPerPass; row += kRows) {
    for (size_t column = 0; column < kWidth; column += 2 * kLanes) {
      Sums sums;
      Begin(sums, panel.row_sums + row, kAll);
      const int8_t* rows = panel.rows + row * kByteRowStep;
      const int8_t* members = panel.panel + column * kQuad;
      for (size_t chunk = 0; chunk < panel.chunks; ++chunk) {
        for (size_t quad = 0; quad < kQuadsOfChunk; quad += 2)
          AddTwoQuads(sums, rows + quad * kQuad, members + quad * kWidth * kQuad, kAll);
        rows += MemberCodes::kRowsPerPass * kByteRowStep;
        members += kWidth * kByteRowStep;
      }
      Store(sums, panel, row, column, kAll);
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pigment
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pigment {
namespace {

HWY_EXPORT(EstimatePanel);

// Adds 64 to each of four codes from -63 to 63.
uint32_t RaisedQuad(uint32_t codes) { return (codes & 0x7F7F7F7F) ^ 0x40404040; }

}  // namespace

MemberCodes::MemberCodes(uint32_t dimension, MemoryBudget* budget)
    : dimension_(dimension),
      padded_(PaddedTo(kByteRowStep, dimension)),
      reservation_(budget),
      middle_(padded_),
      residual_(padded_),
      codes_(padded_),
      rows_(kRowsPerPass * padded_) {}

uint64_t MemberCodes::Bytes(uint32_t dimension, size_t members) {
  const size_t padded = PaddedTo(kByteRowStep, dimension);
  const size_t stride = PaddedTo(kWidth, members);
  return stride * padded + (kRowsPerPass + 2) * stride * sizeof(float) +
         (kRowsPerPass + 1 + 2 * sizeof(float)) * padded;
}

ByteRow MemberCodes::Encode(const float* vector) {
  return EncodeByteRow(vector, middle_.data(), dimension_, kSevenBitCodeMax, residual_.data(),
                       codes_.data());
}

void MemberCodes::FindMiddle(const VectorTable& vectors, std::span<const uint32_t> members) {
  constexpr size_t kTaken = 32;  // more would hardly move it
  const size_t step = std::max<size_t>(members.size() / kTaken, 1);
  std::fill(middle_.begin(), middle_.end(), 0.0f);
  size_t taken = 0;
  for (size_t i = 0; i < members.size(); i += step, ++taken) {
    const float* const vector = vectors.row(members[i]);
    for (size_t d = 0; d < dimension_; ++d) middle_[d] += vector[d];
  }
  for (float& number : middle_) number /= static_cast<float>(std::max<size_t>(taken, 1));
}

Status MemberCodes::Pack(const VectorTable& vectors, std::span<const uint32_t> members) {
  const uint64_t bytes = Bytes(dimension_, members.size());
  if (bytes > reservation_.bytes())
    PIGMENT_RETURN_IF_ERROR(reservation_.Grow(bytes - reservation_.bytes()));
  count_ = members.size();
  const size_t stride = PaddedTo(kWidth, count_);
  packed_.assign(stride * padded_, 0);
  squares_.assign(stride, 0);
  scales_.assign(stride, 0);
  distances_.resize(kRowsPerPass * stride);
  FindMiddle(vectors, members);
  greatest_norm_ = 0;
  greatest_scale_ = 0;
  for (size_t i = 0; i < count_; ++i) {
    if (i + 1 < count_) vectors.Expect(members[i + 1]);
    const ByteRow row = Encode(vectors.row(members[i]));
    int8_t* const to = packed_.data() + i / kWidth * kWidth * padded_ + i % kWidth * kQuad;
    for (size_t d = 0; d < padded_; d += kQuad) {
      uint32_t quad;
      std::memcpy(&quad, codes_.data() + d, kQuad);
      quad = RaisedQuad(quad);
      std::memcpy(to + d * kWidth, &quad, kQuad);
    }
    squares_[i] = row.square;
    scales_[i] = row.scale;
    greatest_norm_ = std::max(greatest_norm_, std::sqrt(row.square));
    greatest_scale_ = std::max(greatest_scale_, row.scale);
  }
  return Status::Ok();
}

void MemberCodes::Estimate(const VectorTable& vectors, std::span<const uint32_t> rows) {
  float squares[kRowsPerPass] = {};
  float scales[kRowsPerPass] = {};
  int32_t sums[kRowsPerPass] = {};
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i + 1 < rows.size()) vectors.Expect(rows[i + 1]);
    const ByteRow row = Encode(vectors.row(rows[i]));
    for (size_t d = 0; d < padded_; d += kByteRowStep) {
      std::memcpy(rows_.data() + d * kRowsPerPass + i * kByteRowStep, codes_.data() + d,
                  kByteRowStep);
    }
    squares[i] = row.square;
    scales[i] = row.scale;
    sums[i] = row.sum;
    errors_[i] = ByteProductError(row.scale, greatest_norm_) +
                 ByteProductError(greatest_scale_, std::sqrt(row.square));
  }
  for (size_t column = 0; column < count_; column += kWidth) {
    HWY_DYNAMIC_DISPATCH(EstimatePanel)
    ({.rows = rows_.data(),
      .panel = packed_.data() + column * padded_,
      .chunks = padded_ / kByteRowStep,
      .row_squares = squares,
      .row_scales = scales,
      .row_sums = sums,
      .squares = squares_.data() + column,
      .scales = scales_.data() + column,
      .out = distances_.data() + column,
      .stride = PaddedTo(kWidth, count_)});
  }
}

}  // namespace pigment
#endif  // HWY_ONCE

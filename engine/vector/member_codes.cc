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

struct PanelArguments {
  const int8_t* rows;   // four dimensions of all rows, then the next four
  const int8_t* panel;  // the same of its members
  size_t quads;
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

// With both registers of the panel and the row's codes these are 27 registers of 32, or 15 of 16.
constexpr size_t kRows =
    HWY_TARGET == HWY_AVX3_DL || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON ? 12 : 4;
static_assert(MemberCodes::kRowsPerPass % kRows == 0);

struct Sums {
  V first[kRows];
  V second[kRows];
};

template <size_t... I>
HWY_INLINE void Begin(Sums& sums, const int32_t* row_sums, std::index_sequence<I...>) {
  ((sums.first[I] = sums.second[I] = hn::Set(ByteQuads(), -kByteOffset * row_sums[I])), ...);
}

template <size_t... I>
HWY_INLINE void AddQuad(Sums& sums, const int8_t* rows, const ByteSide& first,
                        const ByteSide& second, std::index_sequence<I...>) {
  const auto add = [&](size_t i) HWY_ATTR {
    int32_t bits;
    std::memcpy(&bits, rows + i * kQuad, sizeof bits);
    const V row = hn::Set(ByteQuads(), bits);
    sums.first[i] = first.AddProducts(row, sums.first[i]);
    sums.second[i] = second.AddProducts(row, sums.second[i]);
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
  constexpr size_t kQuadStride = MemberCodes::kWidth * kQuad;
  const ByteQuads ints;
  for (size_t row = 0; row < MemberCodes::kRowsPerPass; row += kRows) {
    for (size_t column = 0; column < MemberCodes::kWidth; column += 2 * kLanes) {
      Sums sums;
      Begin(sums, panel.row_sums + row, kAll);
      for (size_t quad = 0; quad < panel.quads; ++quad) {
        const auto* from =
            reinterpret_cast<const int32_t*>(panel.panel + quad * kQuadStride + column * kQuad);
        AddQuad(sums, panel.rows + (quad * MemberCodes::kRowsPerPass + row) * kQuad,
                ByteSide(hn::LoadU(ints, from)), ByteSide(hn::LoadU(ints, from + kLanes)), kAll);
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

ByteRow MemberCodes::Encode(const float* vector, int8_t* codes, size_t side_by_side) {
  const ByteRow row =
      EncodeByteRow(vector, middle_.data(), dimension_, residual_.data(), codes_.data());
  for (size_t d = 0; d < padded_; d += kQuad)
    std::memcpy(codes + d * side_by_side, codes_.data() + d, kQuad);
  return row;
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
    const size_t panel = i / kWidth * kWidth * padded_;
    const ByteRow row =
        Encode(vectors.row(members[i]), packed_.data() + panel + i % kWidth * kQuad, kWidth);
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
    const ByteRow row = Encode(vectors.row(rows[i]), rows_.data() + i * kQuad, kRowsPerPass);
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
      .quads = padded_ / kQuad,
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

// SPDX-License-Identifier: Apache-2.0
//
// Encoding and the kernel, once per SIMD target by Highway: some rows by two registers of a panel,
// all sums in registers.

#include "engine/vector/member_codes.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

// The target that has products of bytes.
#define HWY_WANT_AVX3_DL 1
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/vector/member_codes.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#ifndef PIGMENT_VECTOR_MEMBER_CODES_KERNEL_
#define PIGMENT_VECTOR_MEMBER_CODES_KERNEL_
namespace pigment {

// Dimensions that are encoded at once; squares are added to sum i mod kStep, for every width of
// registers.
constexpr size_t kStep = 16;
constexpr size_t kQuad = 4;  // dimensions whose products are added at once
constexpr float kCodeMax = 127;

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

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using Ints = hn::RebindToSigned<Floats>;
using V = hn::Vec<Ints>;
constexpr size_t kLanes = HWY_MIN(HWY_LANES(float), 16);

// ---- Encoding ----------------------------------------------------------------------------------

// residual = vector - middle, for a multiple of kStep numbers; adds its squares to kStep sums and
// raises `greatest`, of as many.
HWY_ATTR void Subtract(const float* vector, const float* middle, size_t count, float* residual,
                       float* sums, float* greatest) {
  const Floats lanes;
  for (size_t lane = 0; lane < kStep; lane += kLanes) {
    auto square = hn::LoadU(lanes, sums + lane);
    auto most = hn::LoadU(lanes, greatest + lane);
    for (size_t d = lane; d < count; d += kStep) {
      const auto r = hn::Sub(hn::LoadU(lanes, vector + d), hn::LoadU(lanes, middle + d));
      hn::StoreU(r, lanes, residual + d);
      square = hn::Add(square, hn::Mul(r, r));
      most = hn::Max(most, hn::Abs(r));
    }
    hn::StoreU(square, lanes, sums + lane);
    hn::StoreU(most, lanes, greatest + lane);
  }
}

// codes = residual * inverse, to the nearest integer; returns their sum.
HWY_ATTR int32_t Narrow(const float* residual, size_t count, float inverse, int8_t* codes) {
  // A float of this size has no bits for halves: what is added to it is rounded, ties to even.
  constexpr float kWhole = 0x1.8p23f;
  constexpr int32_t kBitsOfWhole = 0x4B400000;
  const Floats lanes;
  const Ints ints;
  const hn::Rebind<int8_t, Ints> bytes;
  V sum = hn::Zero(ints);
  for (size_t d = 0; d < count; d += kLanes) {
    const auto level = hn::Mul(hn::LoadU(lanes, residual + d), hn::Set(lanes, inverse));
    const auto rounded = hn::BitCast(ints, hn::Add(level, hn::Set(lanes, kWhole)));
    const V code = hn::Sub(rounded, hn::Set(ints, kBitsOfWhole));
    sum = hn::Add(sum, code);
    hn::StoreU(hn::DemoteTo(bytes, code), bytes, codes + d);
  }
  return hn::GetLane(hn::SumOfLanes(ints, sum));
}

// ---- Products ----------------------------------------------------------------------------------

// Sums of products of bytes, four to a lane: `members` holds the codes of as many members, `row`
// those of the row in each lane.
#if HWY_TARGET == HWY_AVX3_DL

// One side has no sign here: members are 128 more, and sums begin at as much less.
constexpr int32_t kMemberOffset = 128;

struct Members {
  V codes;

  HWY_INLINE explicit Members(V loaded) : codes(hn::Xor(loaded, hn::Set(Ints(), kSigns))) {}
  // An instruction that needs more than what Highway compiles this target for.
  HWY_INLINE V AddProducts(V row, V sum) const {
    auto raw = sum.raw;
    asm("vpdpbusd %2, %1, %0" : "+v"(raw) : "v"(codes.raw), "v"(row.raw));
    return V{raw};
  }
  static constexpr int32_t kSigns = static_cast<int32_t>(0x80808080u);
};

#elif HWY_TARGET == HWY_SCALAR

constexpr int32_t kMemberOffset = 0;

struct Members {
  int8_t codes[kQuad];

  explicit Members(V loaded) {
    const int32_t bits = hn::GetLane(loaded);
    std::memcpy(codes, &bits, sizeof codes);
  }
  V AddProducts(V row, V sum) const {
    const int32_t bits = hn::GetLane(row);
    int8_t of_row[kQuad];
    std::memcpy(of_row, &bits, sizeof of_row);
    int32_t products = 0;
    for (size_t i = 0; i < kQuad; ++i) products += codes[i] * of_row[i];
    return hn::Add(sum, hn::Set(Ints(), products));
  }
};

#else

constexpr int32_t kMemberOffset = 0;

using Words = hn::Repartition<int16_t, Ints>;

HWY_INLINE hn::Vec<Words> EvenBytes(V bytes) {
  return hn::ShiftRight<8>(hn::ShiftLeft<8>(hn::BitCast(Words(), bytes)));
}
HWY_INLINE hn::Vec<Words> OddBytes(V bytes) {
  return hn::ShiftRight<8>(hn::BitCast(Words(), bytes));
}

struct Members {
  hn::Vec<Words> even;
  hn::Vec<Words> odd;

  HWY_INLINE explicit Members(V loaded) : even(EvenBytes(loaded)), odd(OddBytes(loaded)) {}
  // Two products of codes have room in 16 bits.
  HWY_INLINE V AddProducts(V row, V sum) const {
    const auto both = hn::Add(hn::Mul(even, EvenBytes(row)), hn::Mul(odd, OddBytes(row)));
    const V pairs = hn::BitCast(Ints(), both);
    return hn::Add(sum, hn::Add(hn::ShiftRight<16>(hn::ShiftLeft<16>(pairs)),
                                hn::ShiftRight<16>(pairs)));
  }
};

#endif

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
  ((sums.first[I] = sums.second[I] = hn::Set(Ints(), -kMemberOffset * row_sums[I])), ...);
}

template <size_t... I>
HWY_INLINE void AddQuad(Sums& sums, const int8_t* rows, const Members& first,
                        const Members& second, std::index_sequence<I...>) {
  const auto add = [&](size_t i) HWY_ATTR {
    int32_t bits;
    std::memcpy(&bits, rows + i * kQuad, sizeof bits);
    const V row = hn::Set(Ints(), bits);
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
  const Ints ints;
  for (size_t row = 0; row < MemberCodes::kRowsPerPass; row += kRows) {
    for (size_t column = 0; column < MemberCodes::kWidth; column += 2 * kLanes) {
      Sums sums;
      Begin(sums, panel.row_sums + row, kAll);
      for (size_t quad = 0; quad < panel.quads; ++quad) {
        const auto* from =
            reinterpret_cast<const int32_t*>(panel.panel + quad * kQuadStride + column * kQuad);
        AddQuad(sums, panel.rows + (quad * MemberCodes::kRowsPerPass + row) * kQuad,
                Members(hn::LoadU(ints, from)), Members(hn::LoadU(ints, from + kLanes)), kAll);
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

HWY_EXPORT(Subtract);
HWY_EXPORT(Narrow);
HWY_EXPORT(EstimatePanel);

size_t PaddedDimension(uint32_t dimension) { return (dimension + kStep - 1) / kStep * kStep; }

}  // namespace

MemberCodes::MemberCodes(uint32_t dimension, MemoryBudget* budget)
    : dimension_(dimension),
      padded_(PaddedDimension(dimension)),
      reservation_(budget),
      middle_(padded_),
      residual_(padded_),
      codes_(padded_),
      rows_(kRowsPerPass * padded_) {}

uint64_t MemberCodes::Bytes(uint32_t dimension, size_t members) {
  const size_t padded = PaddedDimension(dimension);
  const size_t stride = StrideOf(members);
  return stride * padded + (kRowsPerPass + 2) * stride * sizeof(float) +
         (kRowsPerPass + 1 + 2 * sizeof(float)) * padded;
}

MemberCodes::Numbers MemberCodes::Encode(const float* vector, int8_t* codes, size_t side_by_side) {
  float squares[kStep] = {};
  float greatest[kStep] = {};
  const size_t whole = dimension_ / kStep * kStep;
  HWY_DYNAMIC_DISPATCH(Subtract)
  (vector, middle_.data(), whole, residual_.data(), squares, greatest);
  if (whole != padded_) {
    float rest[kStep] = {};
    std::copy(vector + whole, vector + dimension_, rest);
    HWY_DYNAMIC_DISPATCH(Subtract)
    (rest, middle_.data() + whole, kStep, residual_.data() + whole, squares, greatest);
  }
  Numbers numbers{};
  for (const float square : squares) numbers.square += square;
  numbers.scale = *std::max_element(greatest, greatest + kStep) / kCodeMax;
  // Of scales without full precision there is no inverse: code nothing then.
  if (numbers.scale < std::numeric_limits<float>::min()) numbers.scale = 0;
  const float inverse = numbers.scale > 0 ? 1 / numbers.scale : 0;
  numbers.sum = HWY_DYNAMIC_DISPATCH(Narrow)(residual_.data(), padded_, inverse, codes_.data());
  for (size_t d = 0; d < padded_; d += kQuad)
    std::memcpy(codes + d * side_by_side, codes_.data() + d, kQuad);
  return numbers;
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
  const size_t stride = StrideOf(count_);
  packed_.assign(stride * padded_, 0);
  squares_.assign(stride, 0);
  scales_.assign(stride, 0);
  distances_.resize(kRowsPerPass * stride);
  FindMiddle(vectors, members);
  for (size_t i = 0; i < count_; ++i) {
    const size_t panel = i / kWidth * kWidth * padded_;
    const Numbers numbers =
        Encode(vectors.row(members[i]), packed_.data() + panel + i % kWidth * kQuad, kWidth);
    squares_[i] = numbers.square;
    scales_[i] = numbers.scale;
  }
  return Status::Ok();
}

void MemberCodes::Estimate(const VectorTable& vectors, std::span<const uint32_t> rows) {
  float squares[kRowsPerPass] = {};
  float scales[kRowsPerPass] = {};
  int32_t sums[kRowsPerPass] = {};
  for (size_t i = 0; i < rows.size(); ++i) {
    const Numbers numbers = Encode(vectors.row(rows[i]), rows_.data() + i * kQuad, kRowsPerPass);
    squares[i] = numbers.square;
    scales[i] = numbers.scale;
    sums[i] = numbers.sum;
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
      .stride = StrideOf(count_)});
  }
}

}  // namespace pigment
#endif  // HWY_ONCE

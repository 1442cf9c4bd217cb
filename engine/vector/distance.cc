// SPDX-License-Identifier: Apache-2.0
//
// The kernels behind distance.h, compiled once per SIMD target by Highway, and the arithmetic
// around them that all targets share. Element i of a vector is always added to accumulator i mod
// 64, and the 64 sums are always added in the same tree (32 apart, 16 apart, ... 1 apart), so the
// width of a register never shows in a result. Padding lanes add +0, which changes no sum: one that
// began at +0 is never -0. Pure functions; any thread.

#include "engine/vector/distance.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

// Vectors of unknown size cannot be held in an array of accumulators.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/vector/distance.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#ifndef PIGMENT_VECTOR_DISTANCE_KERNEL_
#define PIGMENT_VECTOR_DISTANCE_KERNEL_
namespace pigment {

struct KernelArguments {
  const float* query;
  const float* vectors;  // `count` of them, `stride` floats apart
  size_t stride;
  size_t count;
  size_t dimension;
  float* out;    // the sum that the kernel is named after
  float* norms;  // squared norms of the vectors; only of DotAndNorm
};

}  // namespace pigment
#endif

HWY_BEFORE_NAMESPACE();
namespace pigment {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<float, 16>;
using V = hn::Vec<Lanes>;
constexpr size_t kLanes = HWY_MIN(HWY_LANES(float), 16);
constexpr size_t kRegisters = 64 / kLanes;
using Registers = std::make_index_sequence<kRegisters>;
constexpr size_t kPrefetchFloats = 1024;

struct DotTerm {
  static HWY_INLINE V Add(V sum, V a, V b) { return hn::Add(sum, hn::Mul(a, b)); }
};
struct L2Term {
  static HWY_INLINE V Add(V sum, V a, V b) {
    const V difference = hn::Sub(a, b);
    return hn::Add(sum, hn::Mul(difference, difference));
  }
};
struct L1Term {
  static HWY_INLINE V Add(V sum, V a, V b) { return hn::Add(sum, hn::Abs(hn::Sub(a, b))); }
};
struct NoTerm {
  static HWY_INLINE V Add(V sum, V, V) { return sum; }
};
// Squared norm of the vector; the query's is computed once, by DotTerm with itself.
struct NormTerm {
  static HWY_INLINE V Add(V sum, V, V b) { return hn::Add(sum, hn::Mul(b, b)); }
};

struct Sums {
  V lanes[kRegisters];
};

template <size_t... I>
HWY_INLINE void SetZero(Sums& sums, std::index_sequence<I...>) {
  ((sums.lanes[I] = hn::Zero(Lanes())), ...);
}

template <class Term, class Second, size_t I>
HWY_INLINE void AddRegister(Sums& sums, Sums& second, V a, V b) {
  sums.lanes[I] = Term::Add(sums.lanes[I], a, b);
  second.lanes[I] = Second::Add(second.lanes[I], a, b);
}

template <class Term, class Second, size_t... I>
HWY_INLINE void AddWhole(Sums& sums, Sums& second, const float* a, const float* b,
                         std::index_sequence<I...>) {
  (AddRegister<Term, Second, I>(sums, second, hn::LoadU(Lanes(), a + I * kLanes),
                                hn::LoadU(Lanes(), b + I * kLanes)),
   ...);
}

// The first `count` < kLanes floats, then zeros; `before` floats before them may be read.
HWY_INLINE V LoadFirst(const float* from, size_t count, [[maybe_unused]] size_t before) {
#if HWY_MEM_OPS_MIGHT_FAULT
  if (before + count >= kLanes) {
    const hn::RebindToSigned<Lanes> places;
    const auto missing = static_cast<int32_t>(kLanes - count);
    const auto moved = hn::And(hn::Iota(places, missing), hn::Set(places, int32_t{kLanes - 1}));
    const V last = hn::TableLookupLanes(hn::LoadU(Lanes(), from + count - kLanes),
                                        hn::IndicesFromVec(Lanes(), moved));
    return hn::IfThenElseZero(hn::FirstN(Lanes(), count), last);
  }
  HWY_ALIGN float padded[kLanes] = {};
  for (size_t i = 0; i < count; ++i) padded[i] = from[i];
  return hn::Load(Lanes(), padded);
#else
  return hn::MaskedLoad(hn::FirstN(Lanes(), count), Lanes(), from);
#endif
}

template <class Term, class Second, size_t I>
HWY_INLINE void AddTailRegister(Sums& sums, Sums& second, const float* a, const float* b,
                                size_t count, size_t before) {
  constexpr size_t kBegin = I * kLanes;
  if (count >= kBegin + kLanes) {
    AddRegister<Term, Second, I>(sums, second, hn::LoadU(Lanes(), a + kBegin),
                                 hn::LoadU(Lanes(), b + kBegin));
  } else if (count > kBegin) {
    AddRegister<Term, Second, I>(sums, second,
                                 LoadFirst(a + kBegin, count - kBegin, before + kBegin),
                                 LoadFirst(b + kBegin, count - kBegin, before + kBegin));
  }
}

template <class Term, class Second, size_t... I>
HWY_INLINE void AddTail(Sums& sums, Sums& second, const float* a, const float* b, size_t count,
                        size_t before, std::index_sequence<I...>) {
  (AddTailRegister<Term, Second, I>(sums, second, a, b, count, before), ...);
}

#if HWY_TARGET == HWY_SCALAR
template <size_t kCount>
HWY_INLINE float FoldRegister(V v) {
  static_assert(kCount == 1);
  return hn::GetLane(v);
}
#else
template <size_t kCount, class W>
HWY_INLINE float FoldRegister(W v) {
  if constexpr (kCount == 1) {
    return hn::GetLane(v);
  } else {
    const hn::CappedTag<float, kCount / 2> half;
    return FoldRegister<kCount / 2>(hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}
#endif

template <size_t kApart, size_t... I>
HWY_INLINE void FoldApart(Sums& sums, std::index_sequence<I...>) {
  ((sums.lanes[I] = hn::Add(sums.lanes[I], sums.lanes[I + kApart])), ...);
}

template <size_t kCount>
HWY_INLINE float Fold(Sums& sums) {
  if constexpr (kCount > 1) {
    FoldApart<kCount / 2>(sums, std::make_index_sequence<kCount / 2>());
    return Fold<kCount / 2>(sums);
  } else {
    return FoldRegister<kLanes>(sums.lanes[0]);
  }
}

template <class Term, class Second>
HWY_INLINE void Run(const KernelArguments& arguments) {
  const size_t whole = arguments.dimension & ~size_t{63};
  const float* a = arguments.query;
  const float* end = arguments.vectors + arguments.count * arguments.stride;
  for (size_t row = 0; row < arguments.count; ++row) {
    const float* b = arguments.vectors + row * arguments.stride;
    Sums sums;
    Sums second;
    SetZero(sums, Registers());
    SetZero(second, Registers());
    for (size_t i = 0; i < whole; i += 64) {
      // Ahead of the hardware's prefetcher, which stops at each page, and not beyond the run.
      if (static_cast<size_t>(end - (b + i)) > kPrefetchFloats) {
        for (size_t line = 0; line < 64; line += 16)
          __builtin_prefetch(b + i + line + kPrefetchFloats);
      }
      AddWhole<Term, Second>(sums, second, a + i, b + i, Registers());
    }
    if (whole != arguments.dimension) {
      AddTail<Term, Second>(sums, second, a + whole, b + whole, arguments.dimension - whole, whole,
                            Registers());
    }
    arguments.out[row] = Fold<kRegisters>(sums);
    if constexpr (!std::is_same_v<Second, NoTerm>) arguments.norms[row] = Fold<kRegisters>(second);
  }
}

HWY_ATTR void Dot(const KernelArguments& arguments) { Run<DotTerm, NoTerm>(arguments); }
HWY_ATTR void DotAndNorm(const KernelArguments& arguments) { Run<DotTerm, NormTerm>(arguments); }
HWY_ATTR void L2(const KernelArguments& arguments) { Run<L2Term, NoTerm>(arguments); }
HWY_ATTR void L1(const KernelArguments& arguments) { Run<L1Term, NoTerm>(arguments); }
int64_t Target() { return HWY_TARGET; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pigment
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pigment {
namespace {

HWY_EXPORT(Dot);
HWY_EXPORT(DotAndNorm);
HWY_EXPORT(L2);
HWY_EXPORT(L1);
HWY_EXPORT(Target);

constexpr size_t kChunk = 64;

// Beyond these a sum of f32 products may have lost its small terms or its large ones, and is
// computed again in double. Between them the error that underflow of single terms can add is far
// below the rounding of the sum itself.
constexpr float kSquareMin = 1e-20f;
constexpr float kSquareMax = 1e37f;
constexpr float kSumMin = 1e-30f;

// The same in double, on any machine: plain code that no target changes. Any f32 products and sums
// are far from double's limits.
template <class Term>
double SumInDouble(const float* a, const float* b, size_t dimension, Term term) {
  double sums[8] = {};
  size_t i = 0;
  for (; i + 8 <= dimension; i += 8) {
    for (size_t j = 0; j < 8; ++j) sums[j] += term(a[i + j], b[i + j]);
  }
  for (size_t j = 0; i < dimension; ++i, ++j) sums[j] += term(a[i], b[i]);
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

double DotInDouble(const float* a, const float* b, size_t dimension) {
  return SumInDouble(a, b, dimension, [](double x, double y) { return x * y; });
}
double L2InDouble(const float* a, const float* b, size_t dimension) {
  return SumInDouble(a, b, dimension, [](double x, double y) { return (x - y) * (x - y); });
}
double L1InDouble(const float* a, const float* b, size_t dimension) {
  return SumInDouble(a, b, dimension, [](double x, double y) { return std::fabs(x - y); });
}

// Conversion of a double beyond f32 is undefined in C++ without IEC 559; say what we mean.
float ToFloat(double value) {
  constexpr double kMax = std::numeric_limits<float>::max();
  // Half a unit above the largest float still rounds to it.
  if (value > kMax * (1 + 0x1p-25)) return std::numeric_limits<float>::infinity();
  if (value < -kMax * (1 + 0x1p-25)) return -std::numeric_limits<float>::infinity();
  return static_cast<float>(value);
}

bool IsSafeSquare(float square) { return square >= kSquareMin && square <= kSquareMax; }

float CosineFrom(double dot, double squares_product) {
  const double cosine = dot / std::sqrt(squares_product);
  return static_cast<float>(1.0 - (cosine > 1.0 ? 1.0 : cosine < -1.0 ? -1.0 : cosine));
}

float CosineInDouble(Metric metric, const float* a, const float* b, size_t dimension) {
  const double a_square = DotInDouble(a, a, dimension);
  const double b_square = DotInDouble(b, b, dimension);
  if (a_square == 0 || b_square == 0) {
    return metric == Metric::kCosineNan ? std::numeric_limits<float>::quiet_NaN() : 1.0f;
  }
  const double dot = DotInDouble(a, b, dimension);
  // The root of each square: their product may be as small as 1e-180 and stays normal.
  return CosineFrom(dot, a_square * b_square);
}

// Both are whole numbers. Rounded once, so that it keeps the order of the fractions.
float JaccardFrom(float shared, float any) {
  if (shared == 0) return 1;
  return static_cast<float>(1 - static_cast<double>(shared) / static_cast<double>(any));
}

// `sum` and `norm` are what the kernel gave for query and vector.
float Finish(Metric metric, const float* query, const float* vector, size_t dimension, float sum,
             float norm, float query_square) {
  switch (metric) {
    case Metric::kL2:
    case Metric::kHamming:
      if (sum >= kSumMin && std::isfinite(sum)) return sum;
      return ToFloat(L2InDouble(query, vector, dimension));
    case Metric::kCosine:
    case Metric::kCosineNan:
      if (IsSafeSquare(query_square) && IsSafeSquare(norm)) {
        // Exact in double, so that a vector's cosine with itself is 1 to the last bit.
        return CosineFrom(sum, static_cast<double>(query_square) * static_cast<double>(norm));
      }
      return CosineInDouble(metric, query, vector, dimension);
    case Metric::kIp:
      if (std::isfinite(sum)) return 1.0f - sum;
      return ToFloat(1.0 - DotInDouble(query, vector, dimension));
    case Metric::kNegativeIp:
      if (std::fabs(sum) >= kSumMin && std::isfinite(sum)) return -sum;
      return ToFloat(0.0 - DotInDouble(query, vector, dimension));
    case Metric::kL1:
      if (std::isfinite(sum)) return sum;
      return ToFloat(L1InDouble(query, vector, dimension));
    case Metric::kJaccard:
      return JaccardFrom(sum, query_square + norm - sum);
  }
  return std::numeric_limits<float>::quiet_NaN();
}

void RunKernel(Metric metric, const KernelArguments& arguments) {
  switch (metric) {
    case Metric::kL2:
    case Metric::kHamming:
      HWY_DYNAMIC_DISPATCH(L2)(arguments);
      return;
    case Metric::kCosine:
    case Metric::kCosineNan:
    case Metric::kJaccard:
      HWY_DYNAMIC_DISPATCH(DotAndNorm)(arguments);
      return;
    case Metric::kIp:
    case Metric::kNegativeIp:
      HWY_DYNAMIC_DISPATCH(Dot)(arguments);
      return;
    case Metric::kL1:
      HWY_DYNAMIC_DISPATCH(L1)(arguments);
      return;
  }
}

float SquareOf(const float* a, size_t dimension) {
  float square = 0;
  HWY_DYNAMIC_DISPATCH(Dot)({a, a, dimension, 1, dimension, &square, nullptr});
  return square;
}

bool NeedsSquare(Metric metric) { return IsCosine(metric) || metric == Metric::kJaccard; }

}  // namespace

DistanceFunction::DistanceFunction(Metric metric, std::span<const float> query)
    : metric_(metric), query_(query) {
  if (NeedsSquare(metric)) query_square_ = SquareOf(query.data(), query.size());
}

float DistanceFunction::operator()(const float* vector) const {
  float out;
  Many(vector, query_.size(), 1, &out);
  return out;
}

void DistanceFunction::Many(const float* vectors, size_t stride, size_t count, float* out) const {
  float norms[kChunk];
  for (size_t begin = 0; begin < count; begin += kChunk) {
    const size_t some = count - begin < kChunk ? count - begin : kChunk;
    const float* first = vectors + begin * stride;
    RunKernel(metric_, {query_.data(), first, stride, some, query_.size(), out + begin, norms});
    const bool with_norms = NeedsSquare(metric_);
    for (size_t i = 0; i < some; ++i) {
      out[begin + i] = Finish(metric_, query_.data(), first + i * stride, query_.size(),
                              out[begin + i], with_norms ? norms[i] : 0, query_square_);
    }
  }
}

float Distance(Metric metric, const float* a, const float* b, size_t dimension) {
  return DistanceFunction(metric, {a, dimension})(b);
}

float InnerProduct(const float* a, const float* b, size_t dimension) {
  float sum = 0;
  HWY_DYNAMIC_DISPATCH(Dot)({a, b, dimension, 1, dimension, &sum, nullptr});
  return std::isfinite(sum) ? sum : ToFloat(DotInDouble(a, b, dimension));
}

double Norm(const float* a, size_t dimension) { return std::sqrt(DotInDouble(a, a, dimension)); }

bool AllFinite(const float* values, size_t count, size_t* bad) {
  constexpr uint32_t kExponent = 0x7F800000;
  size_t begin = 0;
  for (; begin < count; begin += kChunk) {
    const size_t some = count - begin < kChunk ? count - begin : kChunk;
    uint32_t bits[kChunk];
    std::memcpy(bits, values + begin, some * sizeof(float));
    bool found = false;
    for (size_t i = 0; i < some; ++i) found |= (bits[i] & kExponent) == kExponent;
    if (!found) continue;
    for (size_t i = 0;; ++i) {
      if ((bits[i] & kExponent) == kExponent) {
        *bad = begin + i;
        return false;
      }
    }
  }
  return true;
}

std::string_view SimdTargetName() { return hwy::TargetName(HWY_DYNAMIC_DISPATCH(Target)()); }

}  // namespace pigment
#endif  // HWY_ONCE

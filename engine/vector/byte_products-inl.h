// SPDX-License-Identifier: Apache-2.0
//
// Products of bytes, four to a lane of 32 bits, for the kernels that Highway compiles once per SIMD
// target: sources that include this define HWY_WANT_AVX3_DL before any header of Highway's, because
// that is the target whose machines multiply bytes in one instruction (VNNI). Sums are exact, so
// they are the same everywhere.

// Included once per target, as Highway's own headers are: no #pragma once.
#if defined(PIGMENT_VECTOR_BYTE_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PIGMENT_VECTOR_BYTE_PRODUCTS_INL_H_
#undef PIGMENT_VECTOR_BYTE_PRODUCTS_INL_H_
#else
#define PIGMENT_VECTOR_BYTE_PRODUCTS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace pigment {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using ByteQuads = hn::CappedTag<int32_t, 16>;
using ByteQuadsV = hn::Vec<ByteQuads>;
constexpr size_t kBytesOfQuad = 4;

#if HWY_TARGET == HWY_AVX3_DL

// Adds products of bytes without a sign by bytes with one, four to a lane. Highway compiles for
// less than this instruction needs, but takes the target for machines that have it.
HWY_INLINE ByteQuadsV AddUnsignedBySigned(ByteQuadsV a, ByteQuadsV b, ByteQuadsV sum) {
  auto raw = sum.raw;
  asm("vpdpbusd %2, %1, %0" : "+v"(raw) : "v"(a.raw), "v"(b.raw));
  return ByteQuadsV{raw};
}

#elif HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || \
    HWY_TARGET == HWY_SSSE3
#define PIGMENT_MULTIPLIES_BYTES_TO_WORDS

using BytePairs = hn::Repartition<int16_t, ByteQuads>;

// The same, two neighbours added up in 16 bits, which must have room for them.
HWY_INLINE hn::Vec<BytePairs> UnsignedBySigned(ByteQuadsV a, ByteQuadsV b) {
#if HWY_TARGET == HWY_AVX3
  return hn::Vec<BytePairs>{_mm512_maddubs_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX2
  return hn::Vec<BytePairs>{_mm256_maddubs_epi16(a.raw, b.raw)};
#else
  return hn::Vec<BytePairs>{_mm_maddubs_epi16(a.raw, b.raw)};
#endif
}

// Widening products add neighbours up in one instruction, and the second sum is not used.
HWY_INLINE ByteQuadsV AddPairs(hn::Vec<BytePairs> pairs, ByteQuadsV sum) {
  ByteQuadsV unused = sum;
  const auto ones = hn::Set(BytePairs(), int16_t{1});
  return hn::ReorderWidenMulAccumulate(ByteQuads(), pairs, ones, sum, unused);
}

#endif

// One side of products, prepared: codes from -127 to 127, four to a lane. AddProducts adds to each
// lane the sum of the four products with `other`, and kByteOffset times the sum of that side's
// codes, which the caller takes off.
#if HWY_TARGET == HWY_AVX3_DL

// One side of the instruction has no sign: these codes are 128 more.
constexpr int32_t kByteOffset = 128;

class ByteSide {
 public:
  HWY_INLINE explicit ByteSide(ByteQuadsV codes)
      : codes_(hn::Xor(codes, hn::Set(ByteQuads(), static_cast<int32_t>(0x80808080u)))) {}
  HWY_INLINE ByteQuadsV AddProducts(ByteQuadsV other, ByteQuadsV sum) const {
    return AddUnsignedBySigned(codes_, other, sum);
  }

 private:
  ByteQuadsV codes_;
};

#elif HWY_TARGET == HWY_SCALAR

constexpr int32_t kByteOffset = 0;

class ByteSide {
 public:
  explicit ByteSide(ByteQuadsV codes) : codes_(codes) {}
  ByteQuadsV AddProducts(ByteQuadsV other, ByteQuadsV sum) const {
    int8_t a[kBytesOfQuad];
    int8_t b[kBytesOfQuad];
    const int32_t bits_a = hn::GetLane(codes_);
    const int32_t bits_b = hn::GetLane(other);
    std::memcpy(a, &bits_a, sizeof a);
    std::memcpy(b, &bits_b, sizeof b);
    int32_t products = 0;
    for (size_t i = 0; i < kBytesOfQuad; ++i) products += a[i] * b[i];
    return hn::Add(sum, hn::Set(ByteQuads(), products));
  }

 private:
  ByteQuadsV codes_;
};

#elif HWY_TARGET == HWY_SSSE3 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_AVX2

constexpr int32_t kByteOffset = 0;

// One side of the instruction has no sign: it is this one's magnitudes, and its signs go to the
// other. It adds two neighbours up in 16 bits, which have room for 2 * 127 * 127.
class ByteSide {
 public:
  HWY_INLINE explicit ByteSide(ByteQuadsV codes)
      : codes_(codes),
        magnitudes_(hn::BitCast(ByteQuads(), hn::Abs(hn::BitCast(Bytes(), codes)))) {}
  HWY_INLINE ByteQuadsV AddProducts(ByteQuadsV other, ByteQuadsV sum) const {
#if HWY_TARGET == HWY_AVX2
    const ByteQuadsV signed_other{_mm256_sign_epi8(other.raw, codes_.raw)};
#else
    const ByteQuadsV signed_other{_mm_sign_epi8(other.raw, codes_.raw)};
#endif
    return AddPairs(UnsignedBySigned(magnitudes_, signed_other), sum);
  }

 private:
  using Bytes = hn::Repartition<int8_t, ByteQuads>;

  ByteQuadsV codes_;
  ByteQuadsV magnitudes_;
};

#else

constexpr int32_t kByteOffset = 0;

class ByteSide {
 public:
  HWY_INLINE explicit ByteSide(ByteQuadsV codes) : even_(Even(codes)), odd_(Odd(codes)) {}
#if HWY_ARCH_X86 && HWY_TARGET != HWY_EMU128
  // Words by words, neighbours added up, is one instruction there: a lane's words stay in it, and
  // the second sum is not used. Highway's own loops, and other processors, use both.
  HWY_INLINE ByteQuadsV AddProducts(ByteQuadsV other, ByteQuadsV sum) const {
    ByteQuadsV unused = sum;
    sum = hn::ReorderWidenMulAccumulate(ByteQuads(), even_, Even(other), sum, unused);
    return hn::ReorderWidenMulAccumulate(ByteQuads(), odd_, Odd(other), sum, unused);
  }
#else
  // Two products have room in 16 bits.
  HWY_INLINE ByteQuadsV AddProducts(ByteQuadsV other, ByteQuadsV sum) const {
    const auto both = hn::Add(hn::Mul(even_, Even(other)), hn::Mul(odd_, Odd(other)));
    const ByteQuadsV pairs = hn::BitCast(ByteQuads(), both);
    const ByteQuadsV low = hn::ShiftRight<16>(hn::ShiftLeft<16>(pairs));
    return hn::Add(sum, hn::Add(low, hn::ShiftRight<16>(pairs)));
  }
#endif

 private:
  using Words = hn::Repartition<int16_t, ByteQuads>;

  static HWY_INLINE hn::Vec<Words> Even(ByteQuadsV bytes) {
    return hn::ShiftRight<8>(hn::ShiftLeft<8>(hn::BitCast(Words(), bytes)));
  }
  static HWY_INLINE hn::Vec<Words> Odd(ByteQuadsV bytes) {
    return hn::ShiftRight<8>(hn::BitCast(Words(), bytes));
  }

  hn::Vec<Words> even_;
  hn::Vec<Words> odd_;
};

#endif

// Codes of 7 bits, from -63 to 63: one side of their products is raised, so that it has no sign.
// Four products have room in 16 bits, so those of two quads are added up before they are widened.
constexpr int32_t kRaisedBy = 64;

// Adds to each lane the sum of the eight products of two quads.
HWY_INLINE ByteQuadsV AddRaisedProducts(const ByteQuadsV (&raised)[2], const ByteQuadsV (&other)[2],
                                        ByteQuadsV sum) {
#if HWY_TARGET == HWY_AVX3_DL
  sum = AddUnsignedBySigned(raised[0], other[0], sum);
  return AddUnsignedBySigned(raised[1], other[1], sum);
#elif defined(PIGMENT_MULTIPLIES_BYTES_TO_WORDS)
  return AddPairs(
      hn::Add(UnsignedBySigned(raised[0], other[0]), UnsignedBySigned(raised[1], other[1])), sum);
#else
  static_assert(kByteOffset == 0);
  sum = ByteSide(raised[0]).AddProducts(other[0], sum);
  return ByteSide(raised[1]).AddProducts(other[1], sum);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace pigment
#undef PIGMENT_MULTIPLIES_BYTES_TO_WORDS
HWY_AFTER_NAMESPACE();

#endif  // PIGMENT_VECTOR_BYTE_PRODUCTS_INL_H_

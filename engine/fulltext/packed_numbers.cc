// SPDX-License-Identifier: Apache-2.0
//
// Packing, and unpacking once per SIMD target by Highway: eight numbers begin and end with a byte,
// so that of up to 16 bits each they are in 16 bytes, where a table says which of them each needs
// (Lemire, Boytsov, "Decoding billions of integers per second through vectorization", 2015, for
// numbers that lie as bytes do).

#include "engine/fulltext/packed_numbers.h"

#include <algorithm>
#include <array>
#include <bit>

#include "engine/base/bytes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/fulltext/packed_numbers.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#ifndef PIGMENT_PACKED_NUMBERS_TABLES
#define PIGMENT_PACKED_NUMBERS_TABLES
namespace pigment {

inline constexpr size_t kPackedGroup = 8;
inline constexpr uint32_t kShuffledBitsMax = 16;

// Of the numbers of a group, four and four: the bytes that each is within, and how far to the right
// it goes there. Bits above it are masked.
struct PackedPlaces {
  alignas(16) std::array<uint8_t, kPackedGroup * sizeof(uint32_t)> bytes;
  alignas(16) std::array<uint32_t, kPackedGroup> shifts;
};

inline constexpr auto kPackedPlaces = [] {
  std::array<PackedPlaces, kShuffledBitsMax + 1> places{};
  for (uint32_t bits = 0; bits <= kShuffledBitsMax; ++bits) {
    for (uint32_t i = 0; i < kPackedGroup; ++i) {
      places[bits].shifts[i] = i * bits % 8;
      for (uint32_t byte = 0; byte < sizeof(uint32_t); ++byte)
        places[bits].bytes[i * sizeof(uint32_t) + byte] =
            static_cast<uint8_t>(std::min(i * bits / 8 + byte, 15u));
    }
  }
  return places;
}();

inline uint32_t PackedNumberAt(const std::byte* from, uint32_t bits, size_t i) {
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  return static_cast<uint32_t>(LoadLittle<uint64_t>(from + i * bits / 8) >> (i * bits % 8) & mask);
}

}  // namespace pigment
#endif  // PIGMENT_PACKED_NUMBERS_TABLES

HWY_BEFORE_NAMESPACE();
namespace pigment {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

void Numbers(const std::byte* from, uint32_t bits, size_t count, uint32_t* out) {
  for (size_t i = 0; i < count; ++i) out[i] = PackedNumberAt(from, bits, i) + 1;
}

void Sums(const std::byte* from, uint32_t bits, uint32_t before, size_t count, uint32_t* out) {
  for (size_t i = 0; i < count; ++i) out[i] = before += PackedNumberAt(from, bits, i) + 1;
}

#else

namespace hn = hwy::HWY_NAMESPACE;

constexpr hn::FixedTag<uint32_t, 4> kLanes;
using Four = hn::Vec<decltype(kLanes)>;

// Calls take(i, numbers i to i + 3), each one more than it is, for whole groups of `count`.
template <typename Take>
HWY_ATTR void ForFours(const std::byte* from, uint32_t bits, size_t count, const Take& take) {
  const hn::Repartition<uint8_t, decltype(kLanes)> bytes;
  const PackedPlaces& places = kPackedPlaces[bits];
  const auto low_bytes = hn::Load(bytes, places.bytes.data());
  const auto high_bytes = hn::Load(bytes, places.bytes.data() + 16);
  const Four low_shifts = hn::Load(kLanes, places.shifts.data());
  const Four high_shifts = hn::Load(kLanes, places.shifts.data() + 4);
  const Four mask = hn::Set(kLanes, (1u << bits) - 1);
  const Four one = hn::Set(kLanes, 1);
  for (size_t i = 0; i < count; i += kPackedGroup, from += bits) {
    const auto group = hn::LoadU(bytes, reinterpret_cast<const uint8_t*>(from));
    const Four low = hn::BitCast(kLanes, hn::TableLookupBytes(group, low_bytes));
    const Four high = hn::BitCast(kLanes, hn::TableLookupBytes(group, high_bytes));
    take(i, hn::Add(hn::And(hn::Shr(low, low_shifts), mask), one));
    take(i + 4, hn::Add(hn::And(hn::Shr(high, high_shifts), mask), one));
  }
}

HWY_ATTR void Numbers(const std::byte* from, uint32_t bits, size_t count, uint32_t* out) {
  ForFours(from, bits, count,
           [out](size_t i, Four numbers) HWY_ATTR { hn::StoreU(numbers, kLanes, out + i); });
}

HWY_ATTR void Sums(const std::byte* from, uint32_t bits, uint32_t before, size_t count,
                   uint32_t* out) {
  Four sum = hn::Set(kLanes, before);
  ForFours(from, bits, count, [out, &sum](size_t i, Four numbers) HWY_ATTR {
    numbers = hn::Add(numbers, hn::ShiftLeftLanes<1>(kLanes, numbers));
    numbers = hn::Add(numbers, hn::ShiftLeftLanes<2>(kLanes, numbers));
    numbers = hn::Add(numbers, sum);
    hn::StoreU(numbers, kLanes, out + i);
    sum = hn::Broadcast<3>(numbers);
  });
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pigment
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pigment {
namespace {

HWY_EXPORT(Numbers);
HWY_EXPORT(Sums);

// How many numbers SIMD unpacks.
size_t Shuffled(uint32_t bits, size_t count) {
  return bits > kShuffledBitsMax ? 0 : count - count % kPackedGroup;
}

}  // namespace

uint8_t PackedBitsFor(std::span<const uint32_t> numbers) {
  uint32_t all = 0;
  for (const uint32_t number : numbers) all |= number;
  return static_cast<uint8_t>(std::bit_width(all));
}

void AppendPacked(std::span<const uint32_t> numbers, uint32_t bits, std::string& out) {
  uint64_t held = 0;
  uint32_t held_bits = 0;
  for (const uint32_t number : numbers) {
    held |= uint64_t{number} << held_bits;
    for (held_bits += bits; held_bits >= 8; held_bits -= 8, held >>= 8)
      out += static_cast<char>(held & 0xFF);
  }
  if (held_bits > 0) out += static_cast<char>(held & 0xFF);
}

void UnpackNumbers(const std::byte* from, uint32_t bits, std::span<uint32_t> out) {
  const size_t shuffled = Shuffled(bits, out.size());
  if (shuffled > 0) HWY_DYNAMIC_DISPATCH(Numbers)(from, bits, shuffled, out.data());
  for (size_t i = shuffled; i < out.size(); ++i) out[i] = PackedNumberAt(from, bits, i) + 1;
}

int64_t UnpackSums(const std::byte* from, uint32_t bits, int64_t before, std::span<uint32_t> out) {
  const size_t shuffled = Shuffled(bits, out.size());
  int64_t sum = before;
  if (shuffled > 0) {
    const auto low = static_cast<uint32_t>(before);
    HWY_DYNAMIC_DISPATCH(Sums)(from, bits, low, shuffled, out.data());
    static_assert(uint64_t{1} << kShuffledBitsMax <= UINT32_MAX / kPackedSumsMax);
    sum += uint32_t{out[shuffled - 1] - low};
  }
  for (size_t i = shuffled; i < out.size(); ++i) {
    sum += int64_t{PackedNumberAt(from, bits, i)} + 1;
    out[i] = static_cast<uint32_t>(sum);
  }
  return sum;
}

}  // namespace pigment
#endif  // HWY_ONCE

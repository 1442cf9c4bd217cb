// SPDX-License-Identifier: Apache-2.0
//
// Encoding, tables of a query, and the kernel that looks up all codes of a group at once, compiled
// once per SIMD target by Highway.

#include "engine/vector/sign_code.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/vector/sign_code.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#ifndef PIGMENT_VECTOR_SIGN_CODE_KERNEL_
#define PIGMENT_VECTOR_SIGN_CODE_KERNEL_
namespace pigment {

constexpr size_t kTableEntries = 16;
// What an entry is at most: nearly all that a byte holds, and a multiple of 4, so that sums of bits
// are whole steps.
constexpr int32_t kTableStepsMax = 252;

struct LookUpArguments {
  const uint8_t* tables;  // kTableEntries for each four dimensions
  const std::byte* group;
  size_t tables_count;
  size_t stride;  // bytes of the group for each table: 4, 8, 12 or 16
  float least;    // sums are least + step * what is looked up
  float step;
  float* sums;  // room for kSignCodesPerGroup; 2 * stride are meant
};

struct EncodeArguments {
  const float* vector;
  const float* centre;
  size_t dimension;     // a multiple of kCodeSums
  uint8_t* signs;       // bit i % 8 of byte i / 8 is set for +
  float* squares;       // kCodeSums
  float* magnitudes;    // kCodeSums
  float* centre_signs;  // kCodeSums: of the centre's numbers with the signs of r
};

// Sums of this many tables fit 16 bits.
constexpr size_t kTablesPerChunk = 256;

// Sign of dimension d in entry e is + where bit d of e is set.
constexpr float EntrySign(size_t dimension, size_t entry) {
  return (entry >> dimension & 1) != 0 ? 1.0f : -1.0f;
}
struct EntrySigns {
  constexpr EntrySigns() {
    for (size_t dimension = 0; dimension < 4; ++dimension) {
      for (size_t entry = 0; entry < kTableEntries; ++entry)
        of[dimension][entry] = EntrySign(dimension, entry);
    }
  }
  float of[4][kTableEntries] = {};
};

}  // namespace pigment
#endif

HWY_BEFORE_NAMESPACE();
namespace pigment {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR

HWY_ATTR void LookUp(const LookUpArguments& arguments) {
  uint32_t looked_up[kSignCodesPerGroup] = {};
  for (size_t table = 0; table < arguments.tables_count; ++table) {
    const uint8_t* entries = arguments.tables + table * kTableEntries;
    for (size_t i = 0; i < arguments.stride; ++i) {
      const auto code = std::to_integer<size_t>(arguments.group[table * arguments.stride + i]);
      looked_up[i] += entries[code & 15];
      looked_up[arguments.stride + i] += entries[code >> 4];
    }
  }
  for (size_t i = 0; i < 2 * arguments.stride; ++i)
    arguments.sums[i] = arguments.least + arguments.step * static_cast<float>(looked_up[i]);
}

#else

using Bytes = hn::CappedTag<uint8_t, 64>;
using Words = hn::Repartition<uint16_t, Bytes>;
using DWords = hn::Repartition<uint32_t, Bytes>;
constexpr size_t kBytes = HWY_MIN(HWY_LANES(uint8_t), 64);
constexpr size_t kTablesPerStep = kBytes / kTableEntries;

template <size_t kCount, class W>
HWY_INLINE hn::Vec<hn::FixedTag<uint16_t, 8>> FoldTo128(W v) {
  if constexpr (kCount == 8) {
    return v;
  } else {
    const hn::CappedTag<uint16_t, kCount / 2> half;
    return FoldTo128<kCount / 2>(hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// Sums of bytes at even and at odd places, in words.
struct EvenAndOdd {
  hn::Vec<Words> both;  // even + 256 * odd, modulo 2^16
  hn::Vec<Words> odd;

  HWY_INLINE void Add(hn::Vec<Bytes> bytes) {
    const auto words = hn::BitCast(Words(), bytes);
    both = hn::Add(both, words);
    odd = hn::Add(odd, hn::ShiftRight<8>(words));
  }

  // Writes them in the order of the bytes: kTableEntries sums.
  HWY_INLINE void Write(uint16_t* sums) const {
    const hn::FixedTag<uint16_t, 8> words;
    const auto folded_even = FoldTo128<kBytes / 2>(hn::Sub(both, hn::ShiftLeft<8>(odd)));
    const auto folded_odd = FoldTo128<kBytes / 2>(odd);
    hn::StoreU(hn::InterleaveLower(words, folded_even, folded_odd), words, sums);
    hn::StoreU(hn::InterleaveUpper(words, folded_even, folded_odd), words, sums + 8);
  }
};

// Sums of at most kTablesPerChunk tables: kTableEntries of the lower halves of a stride's bytes,
// then as many of the upper ones; those beyond the stride are anything. `load` gives the codes from
// a table on.
template <class Load>
HWY_INLINE void LookUpSome(const uint8_t* tables, size_t count, const Load& load, uint16_t* sums) {
  const auto zero = hn::Zero(Words());
  EvenAndOdd lower{zero, zero};
  EvenAndOdd upper{zero, zero};
  const auto low_bits = hn::Set(Bytes(), 15);
  for (size_t table = 0; table < count; table += kTablesPerStep) {
    const auto entries = hn::LoadU(Bytes(), tables + table * kTableEntries);
    const auto code = load(table);
    lower.Add(hn::TableLookupBytes(entries, hn::And(code, low_bits)));
    const auto shifted = hn::BitCast(Bytes(), hn::ShiftRight<4>(hn::BitCast(Words(), code)));
    upper.Add(hn::TableLookupBytes(entries, hn::And(shifted, low_bits)));
  }
  lower.Write(sums);
  upper.Write(sums + kTableEntries);
}

// `codes` can be read up to kBytes behind the last stride.
HWY_INLINE void LookUpStrides(const uint8_t* tables, const uint8_t* codes, size_t count,
                              size_t stride, uint16_t* sums) {
  if (stride == kTableEntries) {
    const auto load = [codes](size_t table)
                          HWY_ATTR { return hn::LoadU(Bytes(), codes + table * kTableEntries); };
    LookUpSome(tables, count, load, sums);
    return;
  }
  // Double words of each table's codes, to the place of 16 bytes that they are looked up in.
  HWY_ALIGN int32_t places[kBytes / 4];
  for (size_t i = 0; i < kBytes / 4; ++i)
    places[i] = static_cast<int32_t>(i / 4 * (stride / 4) + std::min(i % 4, stride / 4 - 1));
  const auto spread = hn::SetTableIndices(DWords(), places);
  const auto load = [codes, stride, &spread](size_t table) HWY_ATTR {
    const auto loaded = hn::LoadU(Bytes(), codes + table * stride);
    return hn::BitCast(Bytes(), hn::TableLookupLanes(hn::BitCast(DWords(), loaded), spread));
  };
  LookUpSome(tables, count, load, sums);
}

HWY_ATTR void LookUp(const LookUpArguments& arguments) {
  const hn::CappedTag<float, 8> floats;  // as many as EvenAndOdd stores at once, or half
  const hn::Rebind<int32_t, decltype(floats)> ints;
  const hn::Rebind<uint16_t, decltype(floats)> words;
  const size_t stride = arguments.stride;
  const size_t count = arguments.tables_count;
  const auto* codes = reinterpret_cast<const uint8_t*>(arguments.group);
  // What can be read in whole registers, then the rest from a copy.
  const size_t bytes = count * stride;
  const size_t in_place =
      bytes < kBytes ? 0 : ((bytes - kBytes) / stride / kTablesPerStep + 1) * kTablesPerStep;
  const auto least = hn::Set(floats, arguments.least);
  const auto step = hn::Set(floats, arguments.step);
  HWY_ALIGN float totals[kSignCodesPerGroup];  // whole numbers
  for (size_t table = 0; table < count;) {
    const uint8_t* const tables = arguments.tables + table * kTableEntries;
    const uint8_t* const from = codes + table * stride;
    const bool is_first = table == 0;
    HWY_ALIGN uint16_t looked_up[kSignCodesPerGroup];
    if (table < in_place) {
      const size_t some = HWY_MIN(in_place - table, kTablesPerChunk);
      LookUpStrides(tables, from, some, stride, looked_up);
      table += some;
    } else {
      uint8_t rest[3 * kBytes] = {};
      std::memcpy(rest, from, bytes - table * stride);
      LookUpStrides(tables, rest, count - table, stride, looked_up);
      table = count;
    }
    for (size_t i = 0; i < kSignCodesPerGroup; i += hn::Lanes(floats)) {
      auto total = hn::ConvertTo(floats, hn::PromoteTo(ints, hn::Load(words, looked_up + i)));
      if (!is_first) total = hn::Add(total, hn::Load(floats, totals + i));
      if (table < count) {
        hn::Store(total, floats, totals + i);
      } else {
        // What is written beyond the lower ones the upper ones are written over.
        const size_t place = i < kTableEntries ? i : stride + i - kTableEntries;
        hn::StoreU(hn::Add(least, hn::Mul(step, total)), floats, arguments.sums + place);
      }
    }
  }
}

#endif

HWY_ATTR void Encode(const EncodeArguments& arguments) {
  const hn::CappedTag<float, kCodeSums> lanes;
  using V = hn::Vec<decltype(lanes)>;
  constexpr size_t kLanes = HWY_MIN(HWY_LANES(float), kCodeSums);
  constexpr size_t kRegisters = kCodeSums / kLanes;
  const V zero = hn::Zero(lanes);
  V squares[kRegisters];
  V magnitudes[kRegisters];
  V centre_signs[kRegisters];
  for (size_t i = 0; i < kRegisters; ++i) squares[i] = magnitudes[i] = centre_signs[i] = zero;
  for (size_t begin = 0; begin < arguments.dimension; begin += kCodeSums) {
    [[maybe_unused]] uint32_t signs = 0;
    for (size_t i = 0; i < kRegisters; ++i) {
      const V centre = hn::LoadU(lanes, arguments.centre + begin + i * kLanes);
      const V r = hn::Sub(hn::LoadU(lanes, arguments.vector + begin + i * kLanes), centre);
      const auto is_positive = hn::Ge(r, zero);
      squares[i] = hn::Add(squares[i], hn::Mul(r, r));
      magnitudes[i] = hn::Add(magnitudes[i], hn::Abs(r));
      const V signed_centre = hn::IfThenElse(is_positive, centre, hn::Neg(centre));
      centre_signs[i] = hn::Add(centre_signs[i], signed_centre);
      if constexpr (kLanes >= 8) {  // whole bytes
        hn::StoreMaskBits(lanes, is_positive, arguments.signs + (begin + i * kLanes) / 8);
      } else {
        uint8_t bits[8] = {};
        hn::StoreMaskBits(lanes, is_positive, bits);
        signs |= static_cast<uint32_t>(bits[0]) << (i * kLanes);
      }
    }
    if constexpr (kLanes < 8) {
      arguments.signs[begin / 8] = static_cast<uint8_t>(signs);
      arguments.signs[begin / 8 + 1] = static_cast<uint8_t>(signs >> 8);
    }
  }
  for (size_t i = 0; i < kRegisters; ++i) {
    hn::StoreU(squares[i], lanes, arguments.squares + i * kLanes);
    hn::StoreU(magnitudes[i], lanes, arguments.magnitudes + i * kLanes);
    hn::StoreU(centre_signs[i], lanes, arguments.centre_signs + i * kLanes);
  }
}

// Entries of each four dimensions of `query`: (sum + the greatest of them) * inverse_step.
HWY_ATTR void MakeTables(const float* query, size_t count, float inverse_step, uint8_t* tables) {
  static constexpr EntrySigns kSigns;
  const hn::CappedTag<float, 16> lanes;
  const hn::Rebind<int32_t, decltype(lanes)> ints;
  const hn::Rebind<uint8_t, decltype(lanes)> bytes;
  for (size_t table = 0; table < count; ++table) {
    const float* q = query + table * 4;
    const auto greatest =
        hn::Set(lanes, (std::fabs(q[0]) + std::fabs(q[1])) + (std::fabs(q[2]) + std::fabs(q[3])));
    for (size_t i = 0; i < kTableEntries; i += hn::Lanes(lanes)) {
      const auto term = [&](size_t d) HWY_ATTR {
        return hn::Mul(hn::LoadU(lanes, kSigns.of[d] + i), hn::Set(lanes, q[d]));
      };
      const auto sum = hn::Add(hn::Add(term(0), term(1)), hn::Add(term(2), term(3)));
      const auto level = hn::Mul(hn::Add(sum, greatest), hn::Set(lanes, inverse_step));
      const auto rounded = hn::ConvertTo(ints, hn::Add(level, hn::Set(lanes, 0.5f)));
      hn::StoreU(hn::DemoteTo(bytes, hn::Min(rounded, hn::Set(ints, kTableStepsMax))), bytes,
                 tables + table * kTableEntries + i);
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

HWY_EXPORT(Encode);
HWY_EXPORT(LookUp);
HWY_EXPORT(MakeTables);

}  // namespace

double TotalOf(const float (&sums)[kCodeSums]) {
  double total = 0;
  for (const float sum : sums) total += sum;
  return total;
}

SignCodeFactor FactorOfCode(double square, double product, double level_square, double dimension,
                            double centre) {
  if (product == 0) return {.centre = static_cast<float>(centre)};
  const double scale = square / product;
  // sqrt((1 - a^2) / a^2) |r| = sqrt(|u|^2 |r|^4 / (u . r)^2 - |r|^2).
  const double variance = std::max(0.0, level_square * scale * scale - square) / (dimension - 1);
  return {.square = static_cast<float>(square),
          .scale = static_cast<float>(scale),
          .centre = static_cast<float>(centre),
          .error = static_cast<float>(std::sqrt(variance))};
}

SignCodeFactor EncodeSigns(std::span<const float> vector, std::span<const float> centre,
                           std::byte* signs) {
  float squares[kCodeSums];
  float magnitudes[kCodeSums];
  float centre_signs[kCodeSums];
  HWY_DYNAMIC_DISPATCH(Encode)
  ({vector.data(), centre.data(), vector.size(), reinterpret_cast<uint8_t*>(signs), squares,
    magnitudes, centre_signs});
  const auto dimension = static_cast<double>(vector.size());
  return FactorOfCode(TotalOf(squares), TotalOf(magnitudes), dimension, dimension,
                      TotalOf(centre_signs));
}

SignCodeFactor EncodeSignCode(std::span<const float> vector, std::span<const float> centre,
                              size_t index, size_t count, std::byte* group) {
  std::byte signs[kSignCodeDimensionMax / 8];
  const SignCodeFactor factor = EncodeSigns(vector, centre, signs);
  PlaceSigns(std::span(signs).first(vector.size() / 8), index, count, group);
  return factor;
}

void PlaceSigns(std::span<const std::byte> signs, size_t index, size_t count, std::byte* group) {
  const size_t stride = SignCodeStride(count);
  std::byte* const bytes = group + index % stride;
  const size_t half = index < stride ? 0 : 4;
  for (size_t i = 0; i < signs.size(); ++i) {
    bytes[2 * i * stride] |= (signs[i] & std::byte{15}) << half;
    bytes[(2 * i + 1) * stride] |= (signs[i] >> 4) << half;
  }
}

// The signs of a plane count twice as much as those of the next, and those of the last once.
SignCodeQuery::SignCodeQuery(std::span<const float> query, uint32_t bits)
    : bits_(bits), tables_(query.size() / 4 * kTableEntries * bits) {
  const size_t count = query.size() / 4;
  float greatest = 0;
  double least = 0;
  for (size_t table = 0; table < count; ++table) {
    const float* q = query.data() + table * 4;
    const float sum = (std::fabs(q[0]) + std::fabs(q[1])) + (std::fabs(q[2]) + std::fabs(q[3]));
    greatest = std::max(greatest, sum);
    least -= sum;
  }
  auto weight = static_cast<float>(1u << (bits - 1));
  step_ = 2 * greatest * weight / static_cast<float>(kTableStepsMax);
  least_ = static_cast<float>(least * (2 * weight - 1));
  const float inverse = step_ > 0 ? 1 / step_ : 0;
  for (size_t plane = 0; plane < bits; ++plane, weight /= 2) {
    HWY_DYNAMIC_DISPATCH(MakeTables)
    (query.data(), count, inverse * weight, tables_.data() + plane * count * kTableEntries);
  }
  table_error_ = static_cast<float>(count * bits) * step_ * 0.5f * (1 + 0x1p-10f);
}

void SignCodeQuery::Sums(const std::byte* group, size_t count, float* sums) const {
  HWY_DYNAMIC_DISPATCH(LookUp)
  ({tables_.data(), group, tables_.size() / kTableEntries, SignCodeStride(count), least_, step_,
    sums});
}

}  // namespace pigment
#endif  // HWY_ONCE

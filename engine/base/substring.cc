// SPDX-License-Identifier: Apache-2.0
//
// Places where first and last byte of the piece both fit are found a register at a time, and
// compared whole. Where that is more work than it should be, the C library, whose search is linear
// in the worst case, goes on.

#include "engine/base/substring.h"

#include <bit>
#include <cstdint>
#include <cstring>

// Vectors of unknown size need another tail.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/base/substring.cc"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace pigment {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// The bit that tells a small letter from a large one, where the byte is a letter.
uint8_t CaseBit(char byte) { return byte >= 'a' && byte <= 'z' ? 0x20 : 0; }

bool IsEqual(const char* text, std::string_view piece, bool is_folded) {
  if (!is_folded) return std::memcmp(text, piece.data(), piece.size()) == 0;
  for (size_t i = 0; i < piece.size(); ++i)
    if (FoldAscii(text[i]) != piece[i]) return false;
  return true;
}

// Looks at places [from, end) as far as `work_left`, in bytes that are compared, allows. Returns
// the place of a match, or where it stopped.
size_t FindInRegisters(const char* text, size_t from, size_t end, std::string_view piece,
                       bool is_folded, uint64_t* work_left, bool* is_found) {
  const hn::CappedTag<uint8_t, 64> bytes;
  const size_t lanes = hn::Lanes(bytes);
  const auto* const begin = reinterpret_cast<const uint8_t*>(text);
  const auto first = hn::Set(bytes, static_cast<uint8_t>(piece.front()));
  const auto last = hn::Set(bytes, static_cast<uint8_t>(piece.back()));
  const auto first_case = hn::Set(bytes, is_folded ? CaseBit(piece.front()) : uint8_t{0});
  const auto last_case = hn::Set(bytes, is_folded ? CaseBit(piece.back()) : uint8_t{0});
  const size_t to_last = piece.size() - 1;
  const auto places_in = [&](const uint8_t* of_first, const uint8_t* of_last) {
    const auto at_first = hn::Or(hn::LoadU(bytes, of_first), first_case);
    const auto at_last = hn::Or(hn::LoadU(bytes, of_last), last_case);
    uint64_t places = 0;
    hn::StoreMaskBits(bytes, hn::And(hn::Eq(at_first, first), hn::Eq(at_last, last)),
                      reinterpret_cast<uint8_t*>(&places));
    return places;
  };
  const size_t begun = from;
  while (from < end) {
    size_t base = from;  // of the register
    uint64_t places = 0;
    if (end - from >= lanes) {
      places = places_in(begin + from, begin + from + to_last);
    } else if (end - begun >= lanes) {  // the last register overlaps the one before
      base = end - lanes;
      places = places_in(begin + base, begin + base + to_last) & ~uint64_t{0} << (from - base);
    } else {
      uint8_t of_first[64] = {}, of_last[64] = {};
      std::memcpy(of_first, begin + from, end - from);
      std::memcpy(of_last, begin + from + to_last, end - from);
      places = places_in(of_first, of_last) & ((uint64_t{1} << (end - from)) - 1);
    }
    for (; places != 0; places &= places - 1) {
      const size_t place = base + static_cast<size_t>(std::countr_zero(places));
      if (IsEqual(text + place, piece, is_folded)) {
        *is_found = true;
        return place;
      }
      if (*work_left < piece.size()) return place + 1;
      *work_left -= piece.size();
    }
    from = base + lanes;
  }
  return end;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace pigment
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace pigment {
namespace {

HWY_EXPORT(FindInRegisters);

size_t FindByLibrary(std::string_view text, std::string_view piece, size_t from) {
  const void* const found =
      memmem(text.data() + from, text.size() - from, piece.data(), piece.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

size_t Find(std::string_view text, std::string_view piece, size_t from, bool is_folded) {
  if (from > text.size() || piece.size() > text.size() - from) return std::string_view::npos;
  if (piece.empty()) return from;
  const size_t end = text.size() - piece.size() + 1;
  uint64_t work_left = uint64_t{4} * (text.size() - from) + 1024;
  bool is_found = false;
  from = HWY_DYNAMIC_DISPATCH(FindInRegisters)(text.data(), from, end, piece, is_folded, &work_left,
                                               &is_found);
  if (is_found) return from;
  if (from >= end) return std::string_view::npos;
  if (!is_folded) return FindByLibrary(text, piece, from);
  const size_t place = FindByLibrary(FoldAscii(text.substr(from)), piece, 0);
  return place == std::string_view::npos ? place : from + place;
}

}  // namespace

std::string FoldAscii(std::string_view text) {
  std::string folded(text);
  for (char& byte : folded) byte = FoldAscii(byte);
  return folded;
}

size_t FindSubstring(std::string_view text, std::string_view piece, size_t from) {
  return Find(text, piece, from, false);
}

size_t FindFolded(std::string_view text, std::string_view piece, size_t from) {
  return Find(text, piece, from, true);
}

}  // namespace pigment
#endif  // HWY_ONCE

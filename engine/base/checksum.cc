// SPDX-License-Identifier: Apache-2.0
//
// Checksums on ISA-L (which picks SSE4.2, AVX-512 or a table at run time) and xxHash.

#include "engine/base/checksum.h"

#include <isa-l/crc.h>
#include <xxhash.h>

#include <algorithm>
#include <array>

#include "engine/base/bytes.h"

namespace pigment {

uint32_t Crc32c(std::span<const std::byte> bytes, uint32_t previous) {
  constexpr size_t kPieceBytes = size_t{1} << 30;  // ISA-L takes an int
  uint32_t crc = ~previous;
  while (!bytes.empty()) {
    const size_t piece = std::min(bytes.size(), kPieceBytes);
    // The library does not write through the pointer; its prototype merely lacks the const.
    auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(bytes.data()));
    crc = crc32_iscsi(data, static_cast<int>(piece), crc);
    bytes = bytes.subspan(piece);
  }
  return ~crc;
}

uint32_t PlaceSeed(std::span<const std::byte, 16> owner, uint64_t file, uint64_t offset) {
  std::array<std::byte, 16> place;
  StoreLittle(place.data(), file);
  StoreLittle(place.data() + 8, offset);
  return Crc32c(place, Crc32c(owner));
}

uint64_t Xxh3_64(std::span<const std::byte> bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

Hash128 Xxh3_128(std::span<const std::byte> bytes, uint64_t seed) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
  return {.low = hash.low64, .high = hash.high64};
}

}  // namespace pigment

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

namespace {

constexpr uint32_t kCastagnoliReflected = 0x82F63B78;

struct CrcTables {
  std::array<uint32_t, 256> forward{};
  std::array<uint8_t, 256> index_of_top{};  // of the entry of `forward` with this highest byte
};

constexpr CrcTables MakeCrcTables() {
  CrcTables tables;
  for (uint32_t index = 0; index < 256; ++index) {
    uint32_t crc = index;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kCastagnoliReflected : 0);
    tables.forward[index] = crc;
    tables.index_of_top[crc >> 24] = static_cast<uint8_t>(index);
  }
  return tables;
}

constexpr CrcTables kCrcTables = MakeCrcTables();

}  // namespace

uint32_t Crc32cBefore(std::span<const std::byte> bytes, uint32_t crc) {
  uint32_t before = ~crc;
  for (auto byte = bytes.rbegin(); byte != bytes.rend(); ++byte) {
    const uint8_t index = kCrcTables.index_of_top[before >> 24];
    before = ((before ^ kCrcTables.forward[index]) << 8) |
             (static_cast<uint32_t>(index) ^ std::to_integer<uint32_t>(*byte));
  }
  return ~before;
}

uint64_t Xxh3_64(std::span<const std::byte> bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

Hash128 Xxh3_128(std::span<const std::byte> bytes, uint64_t seed) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
  return {.low = hash.low64, .high = hash.high64};
}

}  // namespace pigment

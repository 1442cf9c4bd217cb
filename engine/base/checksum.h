// SPDX-License-Identifier: Apache-2.0
//
// Checksums: CRC32C for records and blocks (its seed says where the bytes belong), XXH3 for whole
// files and hash tables. Pure functions; any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace pigment {

// CRC-32C (Castagnoli), as iSCSI and ext4 use it. Continues from `previous`: Crc32c(b, Crc32c(a))
// == Crc32c(a + b).
uint32_t Crc32c(std::span<const std::byte> bytes, uint32_t previous = 0);

// What a CRC of bytes at one place continues from. CRCs of equal bytes that continue from different
// values differ, so bytes that belong to another store, file or offset do not validate. `owner` is
// the store's or segment's identity.
uint32_t PlaceSeed(std::span<const std::byte, 16> owner, uint64_t file, uint64_t offset);

// The value that a CRC continued from: Crc32c(bytes, Crc32cBefore(bytes, crc)) == crc. One table look
// a byte.
uint32_t Crc32cBefore(std::span<const std::byte> bytes, uint32_t crc);

uint64_t Xxh3_64(std::span<const std::byte> bytes, uint64_t seed = 0);

struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const Hash128&) const = default;
};
Hash128 Xxh3_128(std::span<const std::byte> bytes, uint64_t seed = 0);

}  // namespace pigment

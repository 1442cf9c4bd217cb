// SPDX-License-Identifier: Apache-2.0
//
// The pages of a host's index that belong to no segment: pending rows, their overflow, and deletion
// bits. Pure functions over bytes that the host owns and orders; any thread. Layouts below are
// relative to the payload; the trailer carries the stamp as segment, and as logical number the
// page's own physical number (pending, overflow) or its place among the segment's deletion pages.
//
// Pending page: rows that are in no segment yet. Entries are appended behind the header, each at a
// multiple of 8; a directory grows from the end of the payload downwards, 4 bytes an entry. An
// entry never moves.
//   offset size meaning
//   0      4    next pending page, or kNoBlock
//   4      4    entries, dead ones included
//   8      8    transaction that retired the page, 0: in use
//   16     4    end of the last entry
//   20     4    reserved, zero
//   24     …    entries
//   8152-4*(i+1)  4  directory of entry i: offset u16, flags u16 (1 dead, 2 in overflow pages, 4
//                    besides: its bytes there have no vector)
//
// Entry: row pointer u64, dimension u32 (0: no vector; its highest bit: of numbers in 16 bits, the
// one below: of bits, the third: of numbers in 12 bits, the fourth: of one that a row of a segment
// has), bytes of keys u32, the vector (packed_vector.h, of 12 bits twelve.h; of one that a row of a
// segment has its hash, 16 bytes, vector_hash.h), the row's keys (host_keys.h).
// Entry in overflow pages: row pointer u64, bytes of the entry u64, first overflow page u32,
// reserved u32 (zero).
//
// Overflow page: next page u32 (or kNoBlock), bytes here u32, their offset in the entry u64, then
// the bytes. Deletion page: next page u32 (or kNoBlock), reserved u32 (zero), then
// kDeletionPageRows bits.

#pragma once

#include <cstdint>
#include <span>

#include "engine/base/limits.h"
#include "engine/base/status.h"
#include "engine/block/block.h"

namespace pigment {

struct PendingHeader {
  uint32_t next;
  uint32_t entries;
  uint64_t retired;
  uint32_t end;
  uint32_t reserved;
};
static_assert(sizeof(PendingHeader) == 24 && offsetof(PendingHeader, end) == 16);

struct PendingSlot {
  uint16_t offset;
  uint16_t flags;
};
static_assert(sizeof(PendingSlot) == 4);
inline constexpr uint16_t kPendingDead = 1;
inline constexpr uint16_t kPendingOverflow = 2;
inline constexpr uint16_t kPendingNoVector = 4;

// How an entry has its vector.
enum class PendingForm : uint8_t { kFloats, kHalves, kTwelves, kBits, kShared };

struct PendingEntry {
  uint64_t row_pointer;
  uint32_t numbers;  // PendingNumbers()
  uint32_t keys_bytes;

  uint32_t dimension() const;
  PendingForm form() const;
  uint64_t vector_bytes() const;
  uint64_t bytes() const;  // of the entry as a whole
};
static_assert(sizeof(PendingEntry) == 16);
inline constexpr uint32_t kPendingHalves = uint32_t{1} << 31;
inline constexpr uint32_t kPendingBits = uint32_t{1} << 30;
inline constexpr uint32_t kPendingTwelves = uint32_t{1} << 29;
inline constexpr uint32_t kPendingShared = uint32_t{1} << 28;
static_assert(kDimensionMax < kPendingShared);

struct PendingOverflowEntry {
  uint64_t row_pointer;
  uint64_t entry_bytes;
  uint32_t first;
  uint32_t reserved;
};
static_assert(sizeof(PendingOverflowEntry) == 24);

struct OverflowHeader {
  uint32_t next;
  uint32_t bytes;
  uint64_t offset;
};
static_assert(sizeof(OverflowHeader) == 16);
inline constexpr size_t kOverflowCapacity = kBlockPayloadBytes - sizeof(OverflowHeader);

struct DeletionHeader {
  uint32_t next;
  uint32_t reserved;
};
static_assert(sizeof(DeletionHeader) == 8);
inline constexpr uint32_t kDeletionPageRows = (kBlockPayloadBytes - sizeof(DeletionHeader)) * 8;

inline constexpr size_t kPendingEntryBytesMax =
    kBlockPayloadBytes - sizeof(PendingHeader) - sizeof(PendingSlot);

constexpr uint32_t PendingNumbers(PendingForm form, uint32_t dimension) {
  switch (form) {
    case PendingForm::kFloats:
      return dimension;
    case PendingForm::kHalves:
      return dimension | kPendingHalves;
    case PendingForm::kTwelves:
      return dimension | kPendingTwelves;
    case PendingForm::kBits:
      return dimension | kPendingBits;
    case PendingForm::kShared:
      return dimension | kPendingShared;
  }
  return dimension;
}
inline uint32_t PendingEntry::dimension() const {
  return numbers & ~(kPendingHalves | kPendingBits | kPendingTwelves | kPendingShared);
}
inline PendingForm PendingEntry::form() const {
  if ((numbers & kPendingHalves) != 0) return PendingForm::kHalves;
  if ((numbers & kPendingTwelves) != 0) return PendingForm::kTwelves;
  if ((numbers & kPendingShared) != 0) return PendingForm::kShared;
  return (numbers & kPendingBits) != 0 ? PendingForm::kBits : PendingForm::kFloats;
}
// Of a vector; 0 of none.
size_t PendingVectorBytes(PendingForm form, size_t dimension);
inline uint64_t PendingEntry::vector_bytes() const {
  return PendingVectorBytes(form(), dimension());
}
inline uint64_t PendingEntry::bytes() const {
  return sizeof(PendingEntry) + vector_bytes() + keys_bytes;
}

// PendingVectorBytes() bytes, which may be unaligned. REQUIRES: a form that has the numbers, and
// numbers that it holds, others are rounded, or of bits become 1.
void PackPendingVector(PendingForm form, std::span<const float> vector, std::byte* out);
void UnpackPendingVector(PendingForm form, const std::byte* packed, std::span<float> out);

void InitPendingPage(BlockBytes page, uint32_t stamp, uint32_t physical);
// Checks trailer and structure: afterwards every entry of the directory lies within the page and
// behind the one before it.
Status CheckPendingPage(ConstBlockBytes page, uint32_t stamp, uint32_t physical,
                        const std::string& where);
PendingHeader ReadPendingHeader(ConstBlockBytes page);
void WritePendingHeader(BlockBytes page, const PendingHeader& header);  // and seals

// The functions below are for pages that were checked or made here.
// False: does not fit, or `entry` is not as long as it says.
bool AppendPending(BlockBytes page, std::span<const std::byte> entry);
bool AppendPendingOverflow(BlockBytes page, const PendingOverflowEntry& entry, bool has_vector);
PendingSlot ReadPendingSlot(ConstBlockBytes page, uint32_t index);  // REQUIRES: index < entries
// Bytes of an entry, wherever they are.
uint64_t PendingEntryBytesAt(ConstBlockBytes page, PendingSlot slot);
void KillPending(BlockBytes page, uint32_t index);  // beyond the entries: nothing happens

// The zeros between the last entry and the directory, as places in the payload.
struct PendingUnused {
  size_t begin;
  size_t end;
};
PendingUnused UnusedOfPending(ConstBlockBytes page);

void InitDeletionPage(BlockBytes page, uint32_t segment, uint32_t number, uint32_t next);

}  // namespace pigment

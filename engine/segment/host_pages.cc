// SPDX-License-Identifier: Apache-2.0
//
// Layout of the pages of host_pages.h.

#include "engine/segment/host_pages.h"

#include <fmt/format.h>

#include <cstring>

#include "engine/base/checksum.h"
#include "engine/record/vector_element.h"
#include "engine/vector/packed_vector.h"
#include "engine/vector/twelve.h"

namespace pigment {
namespace {

size_t SlotOffset(uint32_t index) {
  return kBlockPayloadBytes - (size_t{index} + 1) * sizeof(PendingSlot);
}

size_t Align8(size_t offset) { return (offset + 7) & ~size_t{7}; }

void Reseal(BlockBytes page) {
  const BlockTrailer trailer = ReadBlockTrailer(page);
  SealBlock(page, trailer.kind, trailer.segment, trailer.logical);
}

bool Append(BlockBytes page, const void* bytes, size_t size, uint16_t flags) {
  PendingHeader header = ReadPendingHeader(page);
  const size_t offset = Align8(header.end);
  if (header.entries >= kBlockPayloadBytes / sizeof(PendingSlot) ||
      offset + size > SlotOffset(header.entries)) {
    return false;
  }
  std::byte* payload = BlockPayload(page).data();
  std::memcpy(payload + offset, bytes, size);
  const PendingSlot slot{static_cast<uint16_t>(offset), flags};
  std::memcpy(payload + SlotOffset(header.entries), &slot, sizeof slot);
  ++header.entries;
  header.end = static_cast<uint32_t>(offset + size);
  WritePendingHeader(page, header);
  return true;
}

// Bytes that the entry of a slot takes, or 0 when they cannot be.
size_t EntryBytesAt(ConstBlockBytes page, PendingSlot slot, size_t end) {
  const size_t head =
      slot.flags & kPendingOverflow ? sizeof(PendingOverflowEntry) : sizeof(PendingEntry);
  if (slot.offset + head > end) return 0;
  if (slot.flags & kPendingOverflow) return head;
  PendingEntry entry;
  std::memcpy(&entry, BlockPayload(page).data() + slot.offset, sizeof entry);
  return entry.bytes();
}

// Of a form other than kTwelves and kShared.
VectorElement ElementOf(PendingForm form) {
  if (form == PendingForm::kHalves) return VectorElement::kF16;
  return form == PendingForm::kBits ? VectorElement::kBit : VectorElement::kF32;
}

}  // namespace

size_t PendingVectorBytes(PendingForm form, size_t dimension) {
  if (dimension == 0) return 0;
  if (form == PendingForm::kTwelves) return TwelvesBytes(dimension);
  if (form == PendingForm::kShared) return sizeof(Hash128);
  return VectorBytes(ElementOf(form), dimension);
}

void PackPendingVector(PendingForm form, std::span<const float> vector, std::byte* out) {
  if (form == PendingForm::kTwelves) {
    if (!vector.empty()) PackTwelves(vector, out);
  } else {
    PackVector(ElementOf(form), vector, out);
  }
}

void UnpackPendingVector(PendingForm form, const std::byte* packed, std::span<float> out) {
  if (form == PendingForm::kTwelves) {
    if (!out.empty()) UnpackTwelves(packed, out);
  } else {
    UnpackVector(ElementOf(form), packed, out);
  }
}

void InitPendingPage(BlockBytes page, uint32_t stamp, uint32_t physical) {
  std::memset(BlockPayload(page).data(), 0, kBlockPayloadBytes);
  SealBlock(page, BlockKind::kPending, stamp, physical);
  WritePendingHeader(page, {kNoBlock, 0, 0, sizeof(PendingHeader), 0});
}

PendingHeader ReadPendingHeader(ConstBlockBytes page) {
  PendingHeader header;
  std::memcpy(&header, BlockPayload(page).data(), sizeof header);
  return header;
}

void WritePendingHeader(BlockBytes page, const PendingHeader& header) {
  std::memcpy(BlockPayload(page).data(), &header, sizeof header);
  Reseal(page);
}

PendingSlot ReadPendingSlot(ConstBlockBytes page, uint32_t index) {
  PendingSlot slot;
  std::memcpy(&slot, BlockPayload(page).data() + SlotOffset(index), sizeof slot);
  return slot;
}

Status CheckPendingPage(ConstBlockBytes page, uint32_t stamp, uint32_t physical,
                        const std::string& where) {
  PIGMENT_RETURN_IF_ERROR(
      CheckBlock(page, {BlockKind::kPending, stamp, physical}, physical, where));
  const PendingHeader header = ReadPendingHeader(page);
  const auto damaged = [&](std::string what) {
    return DataLoss(Detail::kMiscounted, where,
                    static_cast<int64_t>(physical) * static_cast<int64_t>(kBlockBytes),
                    fmt::format("pending page {} of \"{}\": {}", physical, where, what));
  };
  const size_t slots = size_t{header.entries} * sizeof(PendingSlot);
  if (header.entries > kBlockPayloadBytes / sizeof(PendingSlot) ||
      header.end < sizeof(PendingHeader) || header.end + slots > kBlockPayloadBytes) {
    return damaged(fmt::format("{} entries up to offset {}", header.entries, header.end));
  }
  size_t end = sizeof(PendingHeader);
  for (uint32_t i = 0; i < header.entries; ++i) {
    const PendingSlot slot = ReadPendingSlot(page, i);
    const size_t bytes = slot.offset == Align8(end) ? EntryBytesAt(page, slot, header.end) : 0;
    if (bytes == 0 || slot.offset + bytes > header.end) {
      return damaged(
          fmt::format("entry {} of {} lies at {}, after {}", i, header.entries, slot.offset, end));
    }
    end = slot.offset + bytes;
  }
  if (end != header.end)
    return damaged(
        fmt::format("{} entries end at {}, expected {}", header.entries, end, header.end));
  return Status::Ok();
}

bool AppendPending(BlockBytes page, std::span<const std::byte> entry) {
  PendingEntry head;
  if (entry.size() < sizeof head) return false;
  std::memcpy(&head, entry.data(), sizeof head);
  if (entry.size() != head.bytes()) return false;
  return Append(page, entry.data(), entry.size(), 0);
}

bool AppendPendingOverflow(BlockBytes page, const PendingOverflowEntry& entry, bool has_vector) {
  const auto flags =
      static_cast<uint16_t>(kPendingOverflow | (has_vector ? uint16_t{0} : kPendingNoVector));
  return Append(page, &entry, sizeof entry, flags);
}

uint64_t PendingEntryBytesAt(ConstBlockBytes page, PendingSlot slot) {
  const std::byte* const bytes = BlockPayload(page).data() + slot.offset;
  if ((slot.flags & kPendingOverflow) != 0) {
    PendingOverflowEntry overflow;
    std::memcpy(&overflow, bytes, sizeof overflow);
    return overflow.entry_bytes;
  }
  PendingEntry entry;
  std::memcpy(&entry, bytes, sizeof entry);
  return entry.bytes();
}

void KillPending(BlockBytes page, uint32_t index) {
  if (index >= ReadPendingHeader(page).entries) return;
  PendingSlot slot = ReadPendingSlot(page, index);
  slot.flags |= kPendingDead;
  std::memcpy(BlockPayload(page).data() + SlotOffset(index), &slot, sizeof slot);
  Reseal(page);
}

PendingUnused UnusedOfPending(ConstBlockBytes page) {
  const PendingHeader header = ReadPendingHeader(page);
  return {header.end, kBlockPayloadBytes - size_t{header.entries} * sizeof(PendingSlot)};
}

void InitDeletionPage(BlockBytes page, uint32_t segment, uint32_t number, uint32_t next) {
  std::memset(BlockPayload(page).data(), 0, kBlockPayloadBytes);
  const DeletionHeader header{next, 0};
  std::memcpy(BlockPayload(page).data(), &header, sizeof header);
  SealBlock(page, BlockKind::kDeletions, segment, number);
}

}  // namespace pigment

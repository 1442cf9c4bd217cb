// SPDX-License-Identifier: Apache-2.0
//
// Walks along chains; nothing is sized by what was not checked.

#include "engine/segment/pending_reader.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "engine/segment/part_reader.h"

namespace pigment {

Result<bool> PendingReader::ReadVector(const PendingRow& row, std::vector<float>* vector) const {
  const std::byte* const bytes = row.bytes + sizeof row.head;
  if (row.head.form() != PendingForm::kShared) {
    vector->resize(row.head.dimension());
    UnpackPendingVector(row.head.form(), bytes, *vector);
    return true;
  }
  if (chain_.shared == nullptr) return false;
  Hash128 hash;
  std::memcpy(&hash, bytes, sizeof hash);
  return chain_.shared->Read(hash, row.head.dimension(), vector);
}

Status PendingReader::ReadAnyVector(const PendingRow& row, uint32_t physical,
                                    std::vector<float>* vector) const {
  PIGMENT_ASSIGN_OR_RETURN(const bool found, ReadVector(row, vector));
  if (found) return Status::Ok();
  return Damaged(physical,
                 fmt::format("the vector of row {:#x} is in no segment", row.head.row_pointer));
}

Status DamagedPage(const BlockSource& source, uint32_t physical, const std::string& what) {
  return DataLoss(Detail::kMiscounted, source.name(),
                  static_cast<int64_t>(physical) * static_cast<int64_t>(kBlockBytes),
                  fmt::format("page {} of \"{}\": {}", physical, source.name(), what));
}

Status PendingReader::Damaged(uint32_t physical, const std::string& what) const {
  return DamagedPage(*chain_.source, physical, what);
}

Status PendingReader::OtherDimension(uint32_t physical, uint32_t dimension,
                                     uint32_t expected) const {
  return Damaged(physical,
                 fmt::format("an entry has dimension {}, expected {}", dimension, expected));
}

Result<PinnedBlock> PendingReader::PinPage(uint32_t physical) const {
  PIGMENT_ASSIGN_OR_RETURN(PinnedBlock page, PinUnchecked(chain_.source, physical));
  PIGMENT_RETURN_IF_ERROR(
      CheckPendingPage(page.block(), chain_.stamp, physical, chain_.source->name()));
  return page;
}

Status PendingReader::VisitChain(const ChainVisitor& visit) {
  uint32_t physical = chain_.first;
  Bound read{};
  End end;
  bool is_at_end = false;
  uint64_t power = 1;
  uint32_t milestone = kNoBlock;  // Brent's cycle detection: a chain that returns to it never ends
  while (physical != kNoBlock && !is_at_end && (!bound_ || read.pages < bound_->pages)) {
    end = {physical, chain_.source->Version(physical)};
    PIGMENT_ASSIGN_OR_RETURN(const PinnedBlock page, PinPage(physical));
    const PendingHeader header = ReadPendingHeader(page.block());
    read = {read.pages + 1, header.entries};
    if (bound_ && read.pages == bound_->pages) {
      if (read.last_entries < bound_->last_entries)
        return Damaged(physical, "entries have disappeared");
      read.last_entries = bound_->last_entries;
    }
    PIGMENT_RETURN_IF_ERROR(visit(page.block(), physical, read.last_entries));
    if (header.next == milestone && header.next != kNoBlock)
      return Damaged(physical, "the chain of pending pages returns to where it was");
    if (read.pages == power) {
      power *= 2;
      milestone = physical;
    }
    is_at_end = physical == chain_.last;
    physical = header.next;
  }
  if (bound_ && read.pages < bound_->pages)
    return Damaged(chain_.first, "the chain of pending pages has become shorter");
  if (chain_.last != kNoBlock && !is_at_end)
    return Damaged(chain_.first,
                   fmt::format("the chain of pending pages never comes to page {}", chain_.last));
  bound_ = read;
  end_ = end;
  return Status::Ok();
}

Status PendingReader::VisitRows(bool reads_bytes, const RowVisitor& visit) {
  uint32_t first = chain_.skipped;
  return VisitChain([&](ConstBlockBytes page, uint32_t physical, uint32_t entries) -> Status {
    if (first > entries) return Damaged(physical, "entries have disappeared");
    for (uint32_t i = std::exchange(first, 0); i < entries; ++i)
      PIGMENT_RETURN_IF_ERROR(VisitEntry(page, physical, i, reads_bytes, visit));
    return Status::Ok();
  });
}

Status PendingReader::VisitEntries(uint32_t physical, std::span<const uint32_t> entries,
                                   const RowVisitor& visit) {
  PIGMENT_ASSIGN_OR_RETURN(const PinnedBlock page, PinPage(physical));
  const uint32_t count = ReadPendingHeader(page.block()).entries;
  for (const uint32_t entry : entries) {
    if (entry >= count) return Damaged(physical, "entries have disappeared");
    PIGMENT_RETURN_IF_ERROR(VisitEntry(page.block(), physical, entry, true, visit));
  }
  return Status::Ok();
}

Status PendingReader::VisitEntry(ConstBlockBytes page, uint32_t physical, uint32_t entry,
                                 bool reads_bytes, const RowVisitor& visit) {
  const PendingSlot slot = ReadPendingSlot(page, entry);
  if (slot.flags & kPendingDead) return Status::Ok();
  const std::byte* const bytes = BlockPayload(page).data() + slot.offset;
  PendingRow row{{}, bytes, entry};  // both forms begin with the row pointer
  std::memcpy(&row.head, bytes, sizeof row.head);
  if (!reads_bytes) {
    row = {{row.head.row_pointer, 0, 0}, nullptr, entry};
  } else if (slot.flags & kPendingOverflow) {
    PendingOverflowEntry overflow;
    std::memcpy(&overflow, bytes, sizeof overflow);
    PIGMENT_RETURN_IF_ERROR(ReadOverflow(overflow, physical));
    row.bytes = overflow_.data();
    std::memcpy(&row.head, row.bytes, sizeof row.head);
  }
  return visit(row, physical);
}

Status PendingReader::VisitPages(const PageVisitor& visit) {
  return VisitChain([&](ConstBlockBytes page, uint32_t physical, uint32_t entries) -> Status {
    PIGMENT_RETURN_IF_ERROR(visit(physical));
    for (uint32_t i = 0; i < entries; ++i) {
      const PendingSlot slot = ReadPendingSlot(page, i);
      if ((slot.flags & kPendingOverflow) == 0) continue;
      PendingOverflowEntry overflow;
      std::memcpy(&overflow, BlockPayload(page).data() + slot.offset, sizeof overflow);
      PIGMENT_RETURN_IF_ERROR(VisitOverflow(
          overflow, [&](uint32_t at, std::span<const std::byte>) { return visit(at); }));
    }
    return Status::Ok();
  });
}

Status VisitOverflowPages(BlockSource* source, uint32_t stamp, uint32_t first,
                          std::optional<uint64_t> bytes, const OverflowVisitor& visit) {
  uint64_t done = 0;
  for (uint32_t next = first; bytes ? done < *bytes : next != kNoBlock;) {
    PIGMENT_ASSIGN_OR_RETURN(const PinnedBlock page,
                             PinChecked(source, next, {BlockKind::kOverflow, stamp, next}));
    OverflowHeader header;
    std::memcpy(&header, page.payload(), sizeof header);
    if (header.offset != done || header.bytes == 0 || header.bytes > kOverflowCapacity ||
        (bytes && header.bytes > *bytes - done)) {
      const std::string of = bytes ? fmt::format("an entry of {}", *bytes) : "a chain";
      return DamagedPage(*source, next,
                         fmt::format("{} bytes at {} of {}, expected at {}", header.bytes,
                                     header.offset, of, done));
    }
    PIGMENT_RETURN_IF_ERROR(visit(next, {page.payload() + sizeof header, header.bytes}));
    done += header.bytes;
    next = header.next;
  }
  return Status::Ok();
}

Status PendingReader::VisitOverflow(const PendingOverflowEntry& entry,
                                    const OverflowVisitor& visit) {
  return VisitOverflowPages(chain_.source, chain_.stamp, entry.first, entry.entry_bytes, visit);
}

Status PendingReader::ReadOverflow(const PendingOverflowEntry& entry, uint32_t physical) {
  overflow_.clear();
  PIGMENT_RETURN_IF_ERROR(
      VisitOverflow(entry, [&](uint32_t, std::span<const std::byte> bytes) -> Status {
        overflow_.insert(overflow_.end(), bytes.begin(), bytes.end());
        return Status::Ok();
      }));
  PendingEntry head{};
  if (overflow_.size() >= sizeof head) std::memcpy(&head, overflow_.data(), sizeof head);
  if (head.row_pointer == entry.row_pointer && head.bytes() == overflow_.size())
    return Status::Ok();
  return Damaged(physical,
                 fmt::format("an entry of {} bytes is of row {:#x} with {} bytes, expected row "
                             "{:#x}",
                             overflow_.size(), head.row_pointer, head.bytes(), entry.row_pointer));
}

}  // namespace pigment

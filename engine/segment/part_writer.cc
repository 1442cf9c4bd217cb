// SPDX-License-Identifier: Apache-2.0
//
// Runs of blocks, packing, and the root.

#include "engine/segment/part_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace pigment {
namespace {

// Blocks that a part keeps before it writes them side by side: as many as a source reads at once.
constexpr uint64_t kRunBlocks = 64;
// With a limited budget all buffers together may take a sixteenth of it.
constexpr uint64_t kPartShare = 16;
constexpr uint64_t kPartsAtOnce = 10;
constexpr size_t kFirstBufferBytes = 512;

size_t RunBytes(const MemoryBudget* budget) {
  uint64_t blocks = kRunBlocks;
  if (budget != nullptr && budget->limit_bytes() != 0) {
    const uint64_t share = budget->limit_bytes() / (kPartShare * kPartsAtOnce * kBlockBytes);
    blocks = std::clamp<uint64_t>(share, 1, kRunBlocks);
  }
  return static_cast<size_t>(blocks) * kBlockPayloadBytes;
}

size_t Align8(size_t bytes) { return (bytes + 7) & ~size_t{7}; }

}  // namespace

BlockPacker::BlockPacker(uint32_t segment, BlockSink* sink, MemoryBudget* budget)
    : segment_(segment), sink_(sink), reservation_(budget), run_bytes_(RunBytes(budget)) {}

BlockPacker::~BlockPacker() = default;

PartWriter* BlockPacker::Part(BlockKind kind, uint32_t element_bytes) {
  for (const auto& part : parts_) {
    if (part->entry_.kind == static_cast<uint32_t>(kind)) return part.get();
  }
  parts_.push_back(std::make_unique<PartWriter>(this, kind, element_bytes));
  return parts_.back().get();
}

Result<uint32_t> BlockPacker::Put(std::string_view payload, BlockKind kind, uint32_t number,
                                  uint8_t format) {
  if (written_blocks_ == kNoBlock - 1)
    return ResourceExhausted(Detail::kLimit, "a segment has more blocks than can be numbered");
  std::byte* const to = block_.data() + kBlockHeaderBytes;
  std::memcpy(to, payload.data(), payload.size());
  std::memset(to + payload.size(), 0, kBlockPayloadBytes - payload.size());
  SealBlock(BlockBytes(block_), kind, segment_, number, format);
  ++written_blocks_;
  return sink_->Write(ConstBlockBytes(block_));
}

// Writes the first `bytes` of the part's buffer; only the last run of a part may end within a
// block.
Status BlockPacker::PutRun(PartWriter& part, size_t bytes) {
  std::string_view left = std::string_view(part.buffer_).substr(0, bytes);
  while (!left.empty()) {
    const std::string_view payload = left.substr(0, kBlockPayloadBytes);
    left.remove_prefix(payload.size());
    PIGMENT_ASSIGN_OR_RETURN(
        const uint32_t physical,
        Put(payload, static_cast<BlockKind>(part.entry_.kind), part.entry_.blocks, kBlockOfPart));
    ++part.entry_.blocks;
    if (!part.runs_.empty() && part.runs_.back().physical + part.runs_.back().count == physical) {
      ++part.runs_.back().count;
    } else {
      part.runs_.push_back({physical, 1});
    }
  }
  part.buffer_.erase(0, bytes);
  return Status::Ok();
}

void BlockPacker::AppendExtent(uint32_t physical, uint32_t count) {
  if (!extents_.empty() && extents_.back().physical + extents_.back().count == physical) {
    extents_.back().count += count;
  } else {
    extents_.push_back({logical_, physical, count});
  }
  logical_ += count;
}

// The largest first, each into the first block that has room.
std::vector<BlockPacker::Bin> BlockPacker::Pack(std::vector<PartWriter*> small) const {
  std::stable_sort(small.begin(), small.end(), [](const PartWriter* a, const PartWriter* b) {
    return a->buffer_.size() > b->buffer_.size();
  });
  // In the worst case each small part adds an extent to those that there are.
  const size_t entries = (entries_.size() + small.size()) * sizeof(PartEntry);
  const size_t extents = (extents_.size() + small.size()) * sizeof(Extent);
  std::vector<Bin> bins(1);
  bins[0].used = std::min(Align8(sizeof(RootHeader) + entries + extents), kBlockPayloadBytes);
  for (PartWriter* part : small) {
    const size_t bytes = part->buffer_.size();
    auto bin = std::find_if(bins.begin(), bins.end(), [bytes](const Bin& candidate) {
      return candidate.used + bytes <= kBlockPayloadBytes;
    });
    if (bin == bins.end()) bin = bins.emplace(bins.end());
    part->entry_.offset = static_cast<uint32_t>(bin->used);
    bin->used = Align8(bin->used + bytes);
    bin->parts.push_back(part);
  }
  return bins;
}

Status BlockPacker::PutPacked(const std::vector<Bin>& bins) {
  for (size_t i = 1; i < bins.size(); ++i) {
    std::string payload;
    for (PartWriter* part : bins[i].parts) {
      payload.resize(part->entry_.offset, '\0');
      payload += part->buffer_;
      part->entry_.first = logical_;
      entries_.push_back(part->entry_);
    }
    PIGMENT_ASSIGN_OR_RETURN(const uint32_t physical,
                             Put(payload, BlockKind::kPacked, logical_, kBlockOfSegment));
    AppendExtent(physical, 1);
  }
  return Status::Ok();
}

Status BlockPacker::PutExtents(RootHeader& header, size_t in_root) {
  // The last chunk first, so that each block can name the one that goes on.
  const size_t chunks = (extents_.size() - in_root + kExtentsPerBlock - 1) / kExtentsPerBlock;
  header.extents_physical = kNoBlock;
  for (size_t chunk = chunks; chunk-- > 0;) {
    const size_t begin = in_root + chunk * kExtentsPerBlock;
    const size_t count = std::min<size_t>(kExtentsPerBlock, extents_.size() - begin);
    const ExtentsHeader head{header.extents_physical, static_cast<uint32_t>(count)};
    std::string payload(sizeof head + count * sizeof(Extent), '\0');
    std::memcpy(payload.data(), &head, sizeof head);
    std::memcpy(payload.data() + sizeof head, extents_.data() + begin, count * sizeof(Extent));
    PIGMENT_ASSIGN_OR_RETURN(header.extents_physical,
                             Put(payload, BlockKind::kExtents, logical_++, kBlockOfSegment));
  }
  return Status::Ok();
}

Result<SegmentSummary> BlockPacker::PutRoot(RootHeader& header, const Bin& bin, size_t in_root) {
  header.blocks = logical_ + 1;
  for (PartWriter* part : bin.parts) {
    part->entry_.first = logical_;
    entries_.push_back(part->entry_);
  }
  header.parts = static_cast<uint16_t>(entries_.size());
  header.root_extents = static_cast<uint16_t>(in_root);
  header.extents = static_cast<uint32_t>(extents_.size());
  std::string payload(sizeof header, '\0');
  std::memcpy(payload.data(), &header, sizeof header);
  const auto append = [&payload](const void* bytes, size_t size) {
    payload.append(static_cast<const char*>(bytes), size);
  };
  append(entries_.data(), entries_.size() * sizeof(PartEntry));
  append(extents_.data(), in_root * sizeof(Extent));
  for (const PartWriter* part : bin.parts) {
    payload.resize(part->entry_.offset, '\0');
    payload += part->buffer_;
  }
  PIGMENT_ASSIGN_OR_RETURN(const uint32_t root,
                           Put(payload, BlockKind::kRoot, logical_, kBlockOfSegment));
  return SegmentSummary{root, header.blocks, header.rows};
}

Result<SegmentSummary> BlockPacker::Finish(RootHeader header) {
  std::vector<PartWriter*> small;
  for (const auto& part : parts_) {
    if (part->entry_.blocks == 0 && !part->buffer_.empty() &&
        part->buffer_.size() <= kBlockPayloadBytes) {
      small.push_back(part.get());
      continue;
    }
    PIGMENT_RETURN_IF_ERROR(PutRun(*part, part->buffer_.size()));
    part->entry_.first = logical_;
    entries_.push_back(part->entry_);
    for (const Run& run : part->runs_) AppendExtent(run.physical, run.count);
  }
  const std::vector<Bin> bins = Pack(std::move(small));
  PIGMENT_RETURN_IF_ERROR(PutPacked(bins));
  header.packed_blocks = static_cast<uint32_t>(bins.size() - 1);
  const size_t parts = entries_.size() + bins[0].parts.size();
  const size_t in_root = std::min<size_t>(extents_.size(), RootExtentCapacity(parts));
  PIGMENT_RETURN_IF_ERROR(PutExtents(header, in_root));
  return PutRoot(header, bins[0], in_root);
}

PartWriter::PartWriter(BlockPacker* packer, BlockKind kind, uint32_t element_bytes)
    : packer_(packer) {
  entry_.kind = static_cast<uint32_t>(kind);
  entry_.element_bytes = element_bytes;
}

// Grows by doubling up to a run, charged before the memory is taken.
Status PartWriter::Append(std::string_view bytes) {
  const size_t size = buffer_.size() + bytes.size();
  if (size > buffer_.capacity()) {
    const size_t capacity = std::max({size, buffer_.capacity() * 2, kFirstBufferBytes});
    PIGMENT_RETURN_IF_ERROR(packer_->reservation_.Grow(capacity - buffer_.capacity()));
    buffer_.reserve(capacity);
  }
  buffer_ += bytes;
  if (buffer_.size() < packer_->run_bytes_) return Status::Ok();
  return packer_->PutRun(*this, buffer_.size() / kBlockPayloadBytes * kBlockPayloadBytes);
}

Status PartWriter::PadBlock() {
  static constexpr std::array<char, kBlockPayloadBytes> kZeros{};
  const size_t used = buffer_.size() % kBlockPayloadBytes;
  return used == 0 ? Status::Ok() : Append({kZeros.data(), kBlockPayloadBytes - used});
}

Status PartWriter::AddElement(const void* element) {
  const size_t bytes = entry_.element_bytes;
  const bool is_large = bytes > kBlockPayloadBytes;
  if (!is_large && buffer_.size() % kBlockPayloadBytes + bytes > kBlockPayloadBytes) {
    PIGMENT_RETURN_IF_ERROR(PadBlock());
  }
  entry_.bytes += bytes;
  PIGMENT_RETURN_IF_ERROR(Append({static_cast<const char*>(element), bytes}));
  return is_large ? PadBlock() : Status::Ok();
}

Status PartWriter::AddStream(std::string_view bytes) {
  // In pieces, so that one long text does not need its size again.
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, packer_->run_bytes_);
    PIGMENT_RETURN_IF_ERROR(Append(piece));
    entry_.bytes += piece.size();
    bytes.remove_prefix(piece.size());
  }
  return Status::Ok();
}

}  // namespace pigment

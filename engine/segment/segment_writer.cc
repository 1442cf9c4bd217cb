// SPDX-License-Identifier: Apache-2.0
//
// Writes vectors as they come, everything else at the end, the root last. Vectors that are rows'
// own are in row order.

#include "engine/segment/segment_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "engine/segment/record_bytes.h"
#include "engine/segment/root.h"
#include "engine/vector/byte_code.h"

namespace pigment {
namespace {

// Puts elements and streams into blocks, seals them, and keeps the extent map.
class BlockPacker {
 public:
  BlockPacker(uint32_t segment, BlockSink* sink) : segment_(segment), sink_(sink) {}

  void BeginPart(BlockKind kind, uint32_t element_bytes) {
    part_ = {static_cast<uint32_t>(kind), element_bytes, logical_, 0, 0};
  }
  Status AddElement(const void* element);
  Status AddStream(const char* bytes, size_t size);
  Status EndPart();

  // Writes overflow extents and the root; `header` has the counts.
  Result<SegmentSummary> Finish(RootHeader header);

 private:
  // Appends to the payload of the open block; writes it out where it is full.
  Status Append(const std::byte* bytes, size_t size);
  Status WriteBlock(BlockKind kind);
  Result<uint32_t> Put(BlockKind kind);
  Status WriteExtents(RootHeader& header, size_t in_root);

  const uint32_t segment_;
  BlockSink* const sink_;
  std::array<std::byte, kBlockBytes> block_{};
  size_t used_ = 0;       // payload bytes of block_
  uint32_t logical_ = 0;  // number of block_
  PartEntry part_{};
  std::vector<PartEntry> parts_;
  std::vector<Extent> extents_;
};

Result<uint32_t> BlockPacker::Put(BlockKind kind) {
  if (logical_ == kNoBlock - 1)
    return ResourceExhausted(Detail::kLimit, "a segment has more blocks than can be numbered");
  SealBlock(BlockBytes(block_), kind, segment_, logical_);
  PIGMENT_ASSIGN_OR_RETURN(const uint32_t physical, sink_->Write(ConstBlockBytes(block_)));
  ++logical_;
  block_.fill(std::byte{0});
  used_ = 0;
  return physical;
}

Status BlockPacker::WriteBlock(BlockKind kind) {
  const uint32_t logical = logical_;
  PIGMENT_ASSIGN_OR_RETURN(const uint32_t physical, Put(kind));
  ++part_.blocks;
  if (!extents_.empty() && extents_.back().physical + extents_.back().count == physical) {
    ++extents_.back().count;
  } else {
    extents_.push_back({logical, physical, 1});
  }
  return Status::Ok();
}

Status BlockPacker::Append(const std::byte* bytes, size_t size) {
  while (size > 0) {
    const size_t some = std::min(size, kBlockPayloadBytes - used_);
    std::memcpy(block_.data() + kBlockHeaderBytes + used_, bytes, some);
    used_ += some;
    bytes += some;
    size -= some;
    if (used_ == kBlockPayloadBytes)
      PIGMENT_RETURN_IF_ERROR(WriteBlock(static_cast<BlockKind>(part_.kind)));
  }
  return Status::Ok();
}

Status BlockPacker::AddElement(const void* element) {
  const size_t bytes = part_.element_bytes;
  const bool is_large = bytes > kBlockPayloadBytes;
  if (!is_large && used_ + bytes > kBlockPayloadBytes) {
    PIGMENT_RETURN_IF_ERROR(WriteBlock(static_cast<BlockKind>(part_.kind)));
  }
  PIGMENT_RETURN_IF_ERROR(Append(static_cast<const std::byte*>(element), bytes));
  part_.bytes += bytes;
  if (is_large && used_ != 0) return WriteBlock(static_cast<BlockKind>(part_.kind));
  return Status::Ok();
}

Status BlockPacker::AddStream(const char* bytes, size_t size) {
  part_.bytes += size;
  return Append(reinterpret_cast<const std::byte*>(bytes), size);
}

Status BlockPacker::EndPart() {
  if (used_ != 0) PIGMENT_RETURN_IF_ERROR(WriteBlock(static_cast<BlockKind>(part_.kind)));
  parts_.push_back(part_);
  return Status::Ok();
}

Status BlockPacker::WriteExtents(RootHeader& header, size_t in_root) {
  // The last chunk first, so that each block can name the one that goes on.
  const size_t chunks = (extents_.size() - in_root + kExtentsPerBlock - 1) / kExtentsPerBlock;
  uint32_t next = kNoBlock;
  for (size_t chunk = chunks; chunk-- > 0;) {
    const size_t begin = in_root + chunk * kExtentsPerBlock;
    const size_t count = std::min<size_t>(kExtentsPerBlock, extents_.size() - begin);
    const ExtentsHeader head{next, static_cast<uint32_t>(count)};
    std::byte* payload = block_.data() + kBlockHeaderBytes;
    std::memcpy(payload, &head, sizeof head);
    std::memcpy(payload + sizeof head, extents_.data() + begin, count * sizeof(Extent));
    PIGMENT_ASSIGN_OR_RETURN(next, Put(BlockKind::kExtents));
  }
  header.extents_physical = next;
  return Status::Ok();
}

Result<SegmentSummary> BlockPacker::Finish(RootHeader header) {
  const size_t in_root = std::min<size_t>(extents_.size(), RootExtentCapacity(parts_.size()));
  PIGMENT_RETURN_IF_ERROR(WriteExtents(header, in_root));
  header.blocks = logical_ + 1;
  header.parts = static_cast<uint16_t>(parts_.size());
  header.root_extents = static_cast<uint16_t>(in_root);
  header.extents = static_cast<uint32_t>(extents_.size());
  std::byte* payload = block_.data() + kBlockHeaderBytes;
  std::memcpy(payload, &header, sizeof header);
  std::byte* table = payload + sizeof header;
  if (!parts_.empty()) std::memcpy(table, parts_.data(), parts_.size() * sizeof(PartEntry));
  if (in_root != 0) {
    std::memcpy(table + parts_.size() * sizeof(PartEntry), extents_.data(),
                in_root * sizeof(Extent));
  }
  PIGMENT_ASSIGN_OR_RETURN(const uint32_t root, Put(BlockKind::kRoot));
  return SegmentSummary{root, header.blocks, header.rows};
}

// Grows by doubling, charged before the memory is taken; the old array counts until it is gone.
template <typename T>
Status Push(std::vector<T>& values, T value, Reservation& reservation) {
  if (values.size() == values.capacity()) {
    const size_t capacity = std::max<size_t>(values.capacity() * 2, 256);
    PIGMENT_RETURN_IF_ERROR(reservation.Grow((capacity - values.capacity()) * sizeof(T)));
    values.reserve(capacity);
  }
  values.push_back(value);
  return Status::Ok();
}

Status GrowTo(std::string& text, size_t size, Reservation& reservation) {
  if (size <= text.capacity()) return Status::Ok();
  const size_t capacity = std::max<size_t>(text.capacity() * 2, size);
  PIGMENT_RETURN_IF_ERROR(reservation.Grow(capacity - text.capacity()));
  text.reserve(capacity);
  return Status::Ok();
}

}  // namespace

struct SegmentWriter::State {
  State(const SegmentOptions& given, BlockSink* sink)
      : options(given), packer(given.segment, sink), reservation(given.budget) {
    packer.BeginPart(BlockKind::kVectors, options.dimension * 4);
  }

  bool has_codes() const { return options.codes && options.dimension <= kByteCodeDimensionMax; }
  Status AddVector(std::span<const float> vector);
  std::string_view IdOf(uint32_t row) const {
    return std::string_view(ids).substr(id_offsets[row], id_offsets[row + 1] - id_offsets[row]);
  }
  template <typename T>
  Status WriteElements(BlockKind kind, const std::vector<T>& values);
  Status WriteText(BlockKind kind, const std::string& text);
  Status WriteRecordParts();
  Status WriteRowVectors();
  Status WriteCodes(uint64_t slots);

  const SegmentOptions options;
  BlockPacker packer;
  Reservation reservation;
  enum class Rows { kNone, kRecords, kPointers } kind = Rows::kNone;
  bool is_finished = false;
  Status failed;  // the first error: a segment with a hole must not be finished

  uint32_t rows = 0;
  uint32_t vectors = 0;
  std::string codes;
  std::vector<uint32_t> rows_without_vector;
  std::vector<uint64_t> row_pointers;
  std::vector<uint64_t> ordinals;
  std::string ids;
  std::vector<uint64_t> id_offsets;
  std::string records;
  std::vector<uint64_t> record_offsets;
};

Status SegmentWriter::State::AddVector(std::span<const float> vector) {
  if (rows == kNoVector - kClusterAlignment) {
    return ResourceExhausted(
        Detail::kLimit,
        fmt::format("segment {} has {} rows, the most there can be", options.segment, rows));
  }
  if (vector.empty()) {
    PIGMENT_RETURN_IF_ERROR(Push(rows_without_vector, rows, reservation));
    ++rows;
    return Status::Ok();
  }
  if (vector.size() != options.dimension) {
    return InvalidArgument(Detail::kDimension,
                           fmt::format("dimension mismatch: segment {} has {}, got {}",
                                       options.segment, options.dimension, vector.size()));
  }
  PIGMENT_RETURN_IF_ERROR(packer.AddElement(vector.data()));
  if (has_codes()) {
    const size_t bytes = ByteCodeBytes(options.dimension);
    PIGMENT_RETURN_IF_ERROR(GrowTo(codes, codes.size() + bytes, reservation));
    codes.resize(codes.size() + bytes);
    EncodeByteCode(vector, reinterpret_cast<std::byte*>(codes.data() + codes.size() - bytes));
  }
  ++vectors;
  ++rows;
  return Status::Ok();
}

template <typename T>
Status SegmentWriter::State::WriteElements(BlockKind part_kind, const std::vector<T>& values) {
  packer.BeginPart(part_kind, sizeof(T));
  for (const T& value : values) PIGMENT_RETURN_IF_ERROR(packer.AddElement(&value));
  return packer.EndPart();
}

Status SegmentWriter::State::WriteText(BlockKind part_kind, const std::string& text) {
  packer.BeginPart(part_kind, 0);
  PIGMENT_RETURN_IF_ERROR(packer.AddStream(text.data(), text.size()));
  return packer.EndPart();
}

Status SegmentWriter::State::WriteRowVectors() {
  packer.BeginPart(BlockKind::kRowVectors, sizeof(uint32_t));
  uint32_t vector = 0;
  auto without = rows_without_vector.begin();
  for (uint32_t row = 0; row < rows; ++row) {
    uint32_t value = kNoVector;
    if (without != rows_without_vector.end() && *without == row) {
      ++without;
    } else {
      value = vector++;
    }
    PIGMENT_RETURN_IF_ERROR(packer.AddElement(&value));
  }
  return packer.EndPart();
}

Status SegmentWriter::State::WriteCodes(uint64_t slots) {
  const size_t bytes = ByteCodeBytes(options.dimension);
  const std::string padding(bytes, '\0');
  packer.BeginPart(BlockKind::kCodes, static_cast<uint32_t>(bytes));
  for (uint64_t slot = 0; slot < slots; ++slot) {
    PIGMENT_RETURN_IF_ERROR(
        packer.AddElement(slot < vectors ? codes.data() + slot * bytes : padding.data()));
  }
  return packer.EndPart();
}

Status SegmentWriter::State::WriteRecordParts() {
  PIGMENT_RETURN_IF_ERROR(Push(id_offsets, uint64_t{ids.size()}, reservation));
  PIGMENT_RETURN_IF_ERROR(Push(record_offsets, uint64_t{records.size()}, reservation));
  PIGMENT_RETURN_IF_ERROR(reservation.Grow(uint64_t{rows} * sizeof(uint32_t)));
  std::vector<uint32_t> index(rows);
  std::iota(index.begin(), index.end(), 0u);
  std::sort(index.begin(), index.end(),
            [this](uint32_t a, uint32_t b) { return IdOf(a) < IdOf(b); });
  for (uint32_t i = 1; i < rows; ++i) {
    if (IdOf(index[i - 1]) == IdOf(index[i])) {
      return InvalidArgument(Detail::kDuplicateId, fmt::format("id \"{}\" is twice in segment {}",
                                                               IdOf(index[i]), options.segment));
    }
  }
  PIGMENT_RETURN_IF_ERROR(WriteElements(BlockKind::kOrdinals, ordinals));
  PIGMENT_RETURN_IF_ERROR(WriteElements(BlockKind::kIdIndex, index));
  PIGMENT_RETURN_IF_ERROR(WriteText(BlockKind::kIds, ids));
  PIGMENT_RETURN_IF_ERROR(WriteElements(BlockKind::kIdOffsets, id_offsets));
  PIGMENT_RETURN_IF_ERROR(WriteText(BlockKind::kRecords, records));
  return WriteElements(BlockKind::kRecordOffsets, record_offsets);
}

SegmentWriter::SegmentWriter(const SegmentOptions& options, BlockSink* sink)
    : state_(std::make_unique<State>(options, sink)) {}
SegmentWriter::~SegmentWriter() = default;

Status SegmentWriter::AddRecord(const Record& record) {
  State& state = *state_;
  PIGMENT_RETURN_IF_ERROR(state.failed);
  if (state.kind == State::Rows::kPointers || state.is_finished) {
    return Internal("a record was added to a segment of a host, or after the end");
  }
  if (record.embedding.size() != state.options.dimension) {
    return InvalidArgument(
        Detail::kDimension,
        fmt::format("dimension mismatch: segment {} has {}, got {}", state.options.segment,
                    state.options.dimension, record.embedding.size()));
  }
  if (!state.ordinals.empty() && record.ordinal <= state.ordinals.back()) {
    return Internal(
        fmt::format("ordinal {} was added after {}", record.ordinal, state.ordinals.back()));
  }
  state.kind = State::Rows::kRecords;
  const auto add = [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(Push(state.ordinals, record.ordinal, state.reservation));
    PIGMENT_RETURN_IF_ERROR(Push(state.id_offsets, uint64_t{state.ids.size()}, state.reservation));
    PIGMENT_RETURN_IF_ERROR(
        Push(state.record_offsets, uint64_t{state.records.size()}, state.reservation));
    PIGMENT_RETURN_IF_ERROR(
        GrowTo(state.ids, state.ids.size() + record.id.size(), state.reservation));
    state.ids += record.id;
    const size_t text =
        (record.document ? record.document->size() : 0) + (record.uri ? record.uri->size() : 0);
    PIGMENT_RETURN_IF_ERROR(GrowTo(
        state.records, state.records.size() + sizeof(RecordHeader) + text, state.reservation));
    PIGMENT_RETURN_IF_ERROR(EncodeRecordBytes(record, state.records));
    return state.AddVector(record.embedding);
  };
  return state.failed = add();
}

Status SegmentWriter::AddRow(std::span<const float> vector, uint64_t row_pointer) {
  State& state = *state_;
  PIGMENT_RETURN_IF_ERROR(state.failed);
  if (state.kind == State::Rows::kRecords || state.is_finished) {
    return Internal("a row was added to a segment of records, or after the end");
  }
  if (row_pointer == kNoRowPointer) return InvalidArgument("row pointer 2^64 - 1 is reserved");
  if (!vector.empty() && vector.size() != state.options.dimension) {
    return InvalidArgument(
        Detail::kDimension,
        fmt::format("dimension mismatch: segment {} has {}, got {}", state.options.segment,
                    state.options.dimension, vector.size()));
  }
  state.kind = State::Rows::kPointers;
  state.failed = Push(state.row_pointers, row_pointer, state.reservation);
  if (state.failed.ok()) state.failed = state.AddVector(vector);
  return state.failed;
}

Result<SegmentSummary> SegmentWriter::Finish() {
  State& state = *state_;
  PIGMENT_RETURN_IF_ERROR(state.failed);
  if (state.is_finished) return Internal("a segment was finished twice");
  state.is_finished = true;
  const auto slots =
      (uint64_t{state.vectors} + kClusterAlignment - 1) / kClusterAlignment * kClusterAlignment;
  if (state.vectors != 0) {
    const std::vector<float> padding(state.options.dimension);
    for (uint64_t slot = state.vectors; slot < slots; ++slot) {
      PIGMENT_RETURN_IF_ERROR(state.packer.AddElement(padding.data()));
    }
    PIGMENT_RETURN_IF_ERROR(state.packer.EndPart());
    if (state.has_codes()) PIGMENT_RETURN_IF_ERROR(state.WriteCodes(slots));
  }
  if (state.vectors != state.rows) PIGMENT_RETURN_IF_ERROR(state.WriteRowVectors());
  if (state.kind == State::Rows::kPointers) {
    PIGMENT_RETURN_IF_ERROR(state.WriteElements(BlockKind::kRowPointers, state.row_pointers));
  } else if (state.kind == State::Rows::kRecords) {
    PIGMENT_RETURN_IF_ERROR(state.WriteRecordParts());
  }
  RootHeader header{};
  std::memcpy(header.magic, kRootMagic, sizeof header.magic);
  header.format = kSegmentFormat;
  header.header_bytes = sizeof header;
  header.segment = state.options.segment;
  std::memcpy(header.owner, state.options.owner.data(), sizeof header.owner);
  header.dimension = state.options.dimension;
  header.metric = static_cast<uint32_t>(state.options.metric);
  header.rows = state.rows;
  header.vectors = state.vectors;
  header.vector_slots = static_cast<uint32_t>(slots);
  header.clusters = state.vectors != 0 ? 1 : 0;
  header.kind = static_cast<uint32_t>(SegmentKind::kFlat);
  return state.packer.Finish(header);
}

}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// The reader. Every method makes cursors of its own, so that any number of threads
// may call; a host's source serves one thread, and so does then the segment. What a block says is
// checked where it is used.

#include "engine/segment/segment.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "engine/segment/cell_reader.h"
#include "engine/segment/hash_index.h"
#include "engine/segment/host_keys.h"
#include "engine/segment/index_part.h"
#include "engine/segment/index_reader.h"
#include "engine/segment/inverted_reader.h"
#include "engine/segment/inverted_walk.h"
#include "engine/segment/part_reader.h"
#include "engine/segment/root.h"
#include "engine/segment/row_reader.h"
#include "engine/segment/text_reader.h"
#include "engine/segment/vector_hash.h"
#include "engine/segment/vector_reader.h"
#include "engine/segment/verify.h"
#include "engine/vector/byte_code.h"
#include "engine/vector/packed_vector.h"

namespace pigment {
namespace {

class BlockSegment final : public Segment {
 public:
  BlockSegment(BlockSource* source, Root root) : source_(source), root_(std::move(root)) {}

  Status ReadRules() {
    PIGMENT_ASSIGN_OR_RETURN(rules_, ReadIndexRules(source_, root_));
    return Status::Ok();
  }

  const SegmentInfo& info() const override { return root_.info; }

  Result<const IndexHead*> Index() const override;
  bool has_read_index() const override {
    std::lock_guard lock(index_mutex_);
    return index_ != nullptr;
  }
  std::unique_ptr<IndexReader> NewIndexReader(const IndexHead& head) const override {
    return std::make_unique<IndexReader>(source_, &root_, head);
  }
  std::unique_ptr<RowReader> NewReader() const override {
    return std::make_unique<RowReader>(source_, &root_);
  }
  std::unique_ptr<InvertedReader> NewInvertedReader() const override {
    if (root_.Find(BlockKind::kRowGroups) == nullptr) return nullptr;
    return std::make_unique<InvertedReader>(source_, &root_, kMetadataKinds, root_.info.rows,
                                            rules_);
  }
  Status VisitKeys(uint32_t first, uint32_t end, const KeyVisitor& visit) const override;
  std::unique_ptr<CellReader> NewCellReader() const override {
    if (root_.Find(BlockKind::kGramGroups) == nullptr) return nullptr;
    return std::make_unique<CellReader>(source_, &root_);
  }
  std::unique_ptr<TextReader> NewTextReader() const override {
    if (root_.Find(BlockKind::kTextHead) == nullptr) return nullptr;
    return std::make_unique<TextReader>(source_, &root_);
  }
  Result<std::optional<uint32_t>> FindRow(std::string_view id) const override {
    return FindRow(id, HashId(root_.info.owner, id));
  }
  Result<std::optional<uint32_t>> FindRow(std::string_view id, const IdHash& hash) const override {
    return IdFinder(source_->Urgent(), &root_).Find(id, hash);
  }
  Result<std::string> ReadId(uint32_t row) const override;
  Result<uint64_t> ReadOrdinal(uint32_t row) const override {
    return OrdinalReader(source_->Urgent(), &root_).Read(row);
  }
  Result<Record> ReadRecord(uint32_t row, const Fields& fields) const override;
  Result<uint32_t> ReadRowVector(uint32_t row) const override;
  Status ReadRowPointers(uint32_t first, std::span<uint64_t> out) const override {
    return Cursor(BlockKind::kRowPointers).ReadElements(first, out);
  }
  void ExpectRowPointer(uint32_t row) const override {
    Cursor(BlockKind::kRowPointers).ExpectElement(row, sizeof(uint64_t));
  }
  Status ReadRowVectors(uint32_t first, std::span<uint32_t> out) const override {
    PartCursor cursor = Cursor(BlockKind::kRowVectors);
    return ReadRowVectorsFrom(cursor, root_, first, out);
  }
  Status ReadOrdinals(uint32_t first, std::span<uint64_t> out) const override {
    return OrdinalReader(source_, &root_).ReadMany(first, out);
  }
  Status VisitVectors(const VectorVisitor& visit, const VectorFilter& wants) const override;
  bool has_codes() const override { return root_.Find(BlockKind::kCodes) != nullptr; }
  Status VisitCodes(const CodeVisitor& visit, const VectorFilter& wants) const override;
  std::unique_ptr<VectorReader> NewVectorReader() const override {
    return std::make_unique<VectorReader>(source_, &root_);
  }
  Status ReadVector(uint32_t vector, std::span<float> out) const override {
    PartCursor cursor = Cursor(BlockKind::kVectors);
    return ReadVectorFrom(cursor, root_, vector, out);
  }
  Status VisitVector(const Hash128& hash, const FoundVector& visit) const override;
  void VisitBlocks(const BlockVisitor& visit) const override;
  void VisitPlaces(const std::function<void(uint32_t physical)>& visit) const override;
  Status Verify() const override { return VerifySegment(*this, source_, root_); }

 private:
  PartCursor Cursor(BlockKind kind) const { return PartCursor(source_, &root_, kind); }

  BlockSource* const source_;
  const Root root_;
  SharedRules rules_;
  mutable std::mutex index_mutex_;  // held while the head is read
  mutable std::unique_ptr<const IndexHead> index_;
};

Result<const IndexHead*> BlockSegment::Index() const {
  if (!has_index()) return nullptr;
  std::lock_guard lock(index_mutex_);
  if (index_ == nullptr) {
    PIGMENT_ASSIGN_OR_RETURN(index_, ReadIndexHead(source_, root_));
  }
  return index_.get();
}

Status BlockSegment::VisitKeys(uint32_t first, uint32_t end, const KeyVisitor& visit) const {
  PartCursor groups = Cursor(BlockKind::kRowGroups);
  if (!groups.exists()) return Status::Ok();
  InvertedWalk walk(source_, &root_, kMetadataKinds);
  return VisitRowGroups(
      groups, root_.info.rows,
      [&](const RowGroupEntry& before, const RowGroupEntry& group) -> Status {
        if (group.rows_end <= first || before.rows_end >= end) return Status::Ok();
        return walk.VisitFields(before, group, [&](const WalkedField& field) -> Status {
          HostKey key{};
          if (!ReadHostFieldKey(field.key, field.type, &key))
            return groups.Damaged(Detail::kMiscounted, "a field is of no column");
          for (size_t i = 0; i < field.terms.size(); ++i) {
            key.bytes = field.terms[i];
            if (key.kind == HostKey::Kind::kGrams && key.bytes.size() != kGramBytes)
              return groups.Damaged(Detail::kMiscounted, "a gram has not three bytes");
            for (const uint32_t in_group : field.RowsOf(i)) {
              const uint32_t row = before.rows_end + in_group;
              if (row >= first && row < end) visit(key, row);
            }
          }
          return Status::Ok();
        });
      });
}

Result<std::string> BlockSegment::ReadId(uint32_t row) const {
  IdReader ids(source_, &root_);
  PIGMENT_ASSIGN_OR_RETURN(const std::string_view id, ids.Read(row));
  return std::string(id);
}

Result<Record> BlockSegment::ReadRecord(uint32_t row, const Fields& fields) const {
  Record record;
  PIGMENT_RETURN_IF_ERROR(RowReader(source_->Urgent(), &root_).ReadRecord(row, fields, &record));
  return record;
}

Result<uint32_t> BlockSegment::ReadRowVector(uint32_t row) const {
  uint32_t vector = kNoVector;
  PIGMENT_RETURN_IF_ERROR(ReadRowVectors(row, std::span<uint32_t>(&vector, 1)));
  return vector;
}

void BlockSegment::VisitBlocks(const BlockVisitor& visit) const {
  for (const PartEntry& part : root_.parts) {
    const uint32_t blocks = part.is_packed() ? 1 : part.blocks;
    for (uint32_t i = 0; i < blocks; ++i) {
      const BlockExpectation expected = root_.ExpectationOf(part, i);
      if (expected.kind != BlockKind::kRoot) visit(root_.PhysicalOf(part, i), expected);
    }
  }
}

void BlockSegment::VisitPlaces(const std::function<void(uint32_t physical)>& visit) const {
  for (const Extent& extent : root_.extents)
    for (uint32_t i = 0; i < extent.count; ++i) visit(extent.physical + i);
  for (const uint32_t physical : root_.extent_blocks) visit(physical);
  visit(root_.physical);
}

Status BlockSegment::VisitVector(const Hash128& hash, const FoundVector& visit) const {
  HashIndex hashes(source_, &root_, BlockKind::kVectorHashes, root_.info.vectors);
  if (!hashes.exists()) return Status::Ok();
  std::vector<float> vector(root_.info.dimension);
  PartCursor vectors = Cursor(BlockKind::kVectors);
  return hashes.VisitRows(StoredHash(hash), [&](uint32_t row) -> Result<bool> {
    PIGMENT_ASSIGN_OR_RETURN(const uint32_t number, ReadRowVector(row));
    if (number >= root_.info.vectors)
      return vectors.Damaged(Detail::kMiscounted, fmt::format("row {} has no vector", row));
    PIGMENT_RETURN_IF_ERROR(ReadVectorFrom(vectors, root_, number, vector));
    return HashVector(root_.info.owner, vector) != hash || visit(row, vector);
  });
}

// Whole vectors of a block where they lie, one that goes on in the next from a copy.
Status BlockSegment::VisitVectors(const VectorVisitor& visit, const VectorFilter& wants) const {
  const uint32_t dimension = root_.info.dimension;
  if (root_.info.vectors == 0) return Status::Ok();
  const uint32_t bytes = root_.info.vector_bytes();
  const bool is_packed = root_.info.vector_element != VectorElement::kF32;
  std::vector<float> copied(size_t{std::max(is_packed ? ElementsPerBlock(bytes) : 1, 1u)} *
                            dimension);
  PIGMENT_ASSIGN_OR_RETURN(const std::unique_ptr<BlockSource> pass, source_->NewPass());
  PartCursor cursor(pass ? pass.get() : source_, &root_, BlockKind::kVectors);
  for (uint32_t first = 0, count = 0; first < root_.info.vectors; first += count) {
    const PartCursor::ElementRun run = cursor.RunFrom(first, bytes);
    count = std::min(std::max(run.count, 1u), root_.info.vectors - first);
    if (wants && !wants(first, count)) continue;
    const float* vectors = copied.data();
    if (run.count == 0) {
      PIGMENT_RETURN_IF_ERROR(
          ReadVectorFrom(cursor, root_, first, std::span(copied).first(dimension)));
    } else {
      PIGMENT_ASSIGN_OR_RETURN(const std::byte* payload, cursor.Block(run.block));
      if (is_packed) {
        UnpackVectors(root_.info.vector_element, payload + run.within, dimension, count,
                      copied.data());
      } else {
        vectors = reinterpret_cast<const float*>(payload + run.within);
      }
    }
    PIGMENT_RETURN_IF_ERROR(visit(first, vectors, dimension, count));
  }
  return Status::Ok();
}

Status BlockSegment::VisitCodes(const CodeVisitor& visit, const VectorFilter& wants) const {
  PIGMENT_ASSIGN_OR_RETURN(const std::unique_ptr<BlockSource> pass, source_->NewPass());
  PartCursor cursor(pass ? pass.get() : source_, &root_, BlockKind::kCodes);
  if (!cursor.exists()) return Internal("a segment without codes was asked for them");
  const uint32_t per_block =
      ElementsPerBlock(static_cast<uint32_t>(ByteCodeBytes(root_.info.dimension)));
  for (uint32_t first = 0, block = 0; first < root_.info.vectors; ++block) {
    const uint32_t count = std::min(per_block, root_.info.vectors - first);
    if (!wants || wants(first, count)) {
      PIGMENT_ASSIGN_OR_RETURN(const std::byte* payload, cursor.Block(block));
      PIGMENT_RETURN_IF_ERROR(visit(first, payload, count));
    }
    first += count;
  }
  return Status::Ok();
}

}  // namespace

Result<std::unique_ptr<Segment>> Segment::Open(BlockSource* source, uint32_t root,
                                               std::optional<uint32_t> expected_segment) {
  PIGMENT_ASSIGN_OR_RETURN(Root read, ReadRoot(source, root, expected_segment));
  auto segment = std::make_unique<BlockSegment>(source, std::move(read));
  PIGMENT_RETURN_IF_ERROR(segment->ReadRules());
  return std::unique_ptr<Segment>(std::move(segment));
}

}  // namespace pigment

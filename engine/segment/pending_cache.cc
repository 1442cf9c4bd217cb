// SPDX-License-Identifier: Apache-2.0
//
// Rows as they come from the reader; a call that fails takes back what it added.

#include "engine/segment/pending_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <unordered_map>
#include <utility>

#include "engine/vector/byte_code.h"
#include "engine/vector/distance.h"

namespace pigment {
namespace {

// Fewer rows are not worth a part, nor is a smaller part of those that were looked at.
constexpr size_t kRowsToHangMin = 2048;
constexpr size_t kPartToHang = 4;

uint64_t PlaceOf(uint32_t physical, uint32_t entry) { return (uint64_t{physical} << 32) | entry; }

}  // namespace

bool PendingCache::HasCodes(uint32_t dimension) {
  return dimension != 0 && dimension <= kByteCodeDimensionMax;
}

PendingCache::PendingCache(const PendingCacheOptions& options)
    : options_(options),
      code_bytes_(HasCodes(options.dimension) ? ByteCodeBytes(options.dimension) : 0) {}

// Goes back to where it began unless it is kept, also when memory runs out.
class PendingCache::Addition {
 public:
  explicit Addition(PendingCache* cache)
      : cache_(cache), rows_(cache->rows_.size()), keys_bytes_(cache->keys_.size()) {}
  Addition(const Addition&) = delete;
  Addition& operator=(const Addition&) = delete;
  ~Addition() {
    if (is_kept_) return;
    cache_->rows_.resize(rows_);
    cache_->keys_.resize(keys_bytes_);
    cache_->codes_.resize(rows_ * cache_->code_bytes_);
    cache_->is_full_ = false;
  }
  void Keep() { is_kept_ = true; }

 private:
  PendingCache* const cache_;
  const size_t rows_;
  const size_t keys_bytes_;
  bool is_kept_ = false;
};

Status PendingCache::Extend(BlockSource* source, const SharedVectors* shared) {
  if (is_full_) return Status::Ok();
  // What is appended changes the last page, also where it goes to a new one.
  if (end_.version != 0 && source->Version(end_.physical) == end_.version) return Status::Ok();
  Addition addition(this);
  PendingReader reader(Rest(source, shared));
  PIGMENT_RETURN_IF_ERROR(
      reader.VisitRows(true, [&](const PendingRow& row, uint32_t physical) -> Status {
        is_full_ = is_full_ || !HasRoomFor(row);
        return is_full_ ? Status::Ok() : Add(reader, row, physical);
      }));
  addition.Keep();
  end_ = reader.end();
  return Status::Ok();
}

PendingChain PendingCache::Chain(BlockSource* source, const SharedVectors* shared) const {
  return {.source = source, .stamp = options_.stamp, .first = options_.first, .shared = shared};
}

PendingChain PendingCache::Rest(BlockSource* source, const SharedVectors* shared) const {
  PendingChain chain = Chain(source, shared);
  if (!rows_.empty()) {
    chain.first = rows_.back().physical;
    chain.skipped = rows_.back().entry + 1;
  }
  return chain;
}

bool PendingCache::HasRoomFor(const PendingRow& row) const {
  return HasRoom(sizeof(Row) + row.head.keys_bytes + code_bytes_);
}

bool PendingCache::HasRoom(uint64_t bytes) const {
  return rows_.size() * sizeof(Row) + keys_.size() + codes_.size() + chunk_bytes_ + graft_bytes_ +
             bytes <=
         options_.bytes_max;
}

Status PendingCache::Add(const PendingReader& reader, const PendingRow& row, uint32_t physical) {
  const std::span<const std::byte> keys = row.keys();
  rows_.push_back({.row_pointer = row.head.row_pointer,
                   .keys_begin = keys_.size(),
                   .keys_bytes = row.head.keys_bytes,
                   .dimension = row.head.dimension(),
                   .physical = physical,
                   .entry = row.entry});
  keys_.insert(keys_.end(), keys.begin(), keys.end());
  return code_bytes_ != 0 ? AddCode(reader, row) : Status::Ok();
}

Status PendingCache::AddCode(const PendingReader& reader, const PendingRow& row) {
  codes_.resize(rows_.size() * code_bytes_);
  std::byte* const code = codes_.data() + codes_.size() - code_bytes_;
  size_t bad = 0;
  if (row.head.dimension() == options_.dimension) {
    PIGMENT_ASSIGN_OR_RETURN(const bool found, reader.ReadVector(row, &vector_));
    if (found && AllFinite(vector_.data(), vector_.size(), &bad)) {
      EncodeByteCode(vector_, code);
      return Status::Ok();
    }
  }
  constexpr float kUnknown = std::numeric_limits<float>::infinity();
  const ByteCodeHeader nothing{.scale = 0, .error = kUnknown, .norm = kUnknown};
  std::memcpy(code, &nothing, sizeof nothing);
  return Status::Ok();
}

void PendingCache::MakeChunks(Metric metric, size_t most) {
  if (!chunks_.empty() && !HasChunks(metric)) return;
  const uint32_t dimension = options_.dimension;
  for (size_t made = 0; made < most; ++made) {
    std::vector<uint32_t> rows;
    std::vector<uint32_t> others;
    size_t row = chunked_rows_;
    for (; row < rows_.size() && rows.size() < kChunkRows; ++row) {
      if (rows_[row].dimension == 0) continue;
      (IsKnown(row) ? rows : others).push_back(static_cast<uint32_t>(row));
    }
    if (rows.size() < kChunkRows) return;
    if (space_ == nullptr) space_ = MakeChunkSpace(metric, dimension);
    vector_.resize(dimension);
    ChunkCodes made_codes(
        space_, metric, dimension, kChunkRows,
        [&](uint32_t place) {
          DecodeByteCode(codes(rows[place]), vector_);
          return std::span<const float>(vector_);
        },
        chunks_.empty() ? nullptr : &chunks_.back().codes);
    const size_t bytes = made_codes.bytes() + sizeof(Chunk) + rows.size() * sizeof(uint32_t);
    if (!HasRoom(bytes)) return;
    // What may run out of memory comes before what counts.
    chunks_.reserve(chunks_.size() + 1);
    unchunked_.reserve(unchunked_.size() + rows.size() + others.size());
    if (made_codes.is_usable()) {
      chunks_.push_back({std::move(rows), std::move(made_codes)});
      chunk_bytes_ += bytes;
    } else {
      unchunked_.insert(unchunked_.end(), rows.begin(), rows.end());
    }
    unchunked_.insert(unchunked_.end(), others.begin(), others.end());
    chunked_rows_ = row;
  }
}

bool PendingCache::IsKnown(size_t row) const {
  return rows_[row].dimension == options_.dimension && SaysByteCode(codes(row));
}

// ---- what rows hang on ----

// Some rows as their byte codes have them.
class PendingCache::GraftRowsOf final : public GraftRows {
 public:
  GraftRowsOf(const PendingCache& cache, std::span<const uint32_t> rows)
      : cache_(cache), rows_(rows), vector_(cache.dimension()) {}

  uint32_t count() const override { return static_cast<uint32_t>(rows_.size()); }
  Status Visit(const Segment::VectorVisitor& visit) override {
    for (uint32_t row = 0; row < count(); ++row) {
      PIGMENT_ASSIGN_OR_RETURN(const float* const vector, Read(row));
      PIGMENT_RETURN_IF_ERROR(visit(row, vector, cache_.dimension(), 1));
    }
    return Status::Ok();
  }
  Result<const float*> Read(uint32_t row) override {
    DecodeByteCode(cache_.codes(rows_[row]), vector_);
    return vector_.data();
  }
  void Expect(uint32_t) override {}

 private:
  const PendingCache& cache_;
  const std::span<const uint32_t> rows_;
  std::vector<float> vector_;
};

bool PendingCache::HasRoomForGraft(const SegmentInfo& graph, size_t rows) const {
  const uint64_t bytes = Graft::MakeBytes(graph, static_cast<uint32_t>(rows));
  return bytes <= graft_bytes_ || HasRoom(bytes - graft_bytes_);
}

Status PendingCache::TakeGraft(BlockSource* source, std::span<const Segment* const> segments) {
  if (KnowsGraft() || !HasCodes(dimension())) return Status::Ok();
  if (graft_first_ == kNoBlock) {
    hanging_ = {};
    graft_taken_ = kNoBlock;
    graft_rows_seen_ = graft_bytes_ = 0;
    return Status::Ok();
  }
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<PendingGraftPart> parts,
                           ReadPendingGrafts(source, options_.stamp, graft_first_));
  const PendingGraftPart& newest = parts.back();
  const auto graph = std::find_if(segments.begin(), segments.end(), [&](const Segment* segment) {
    return segment->info().segment == newest.graph;
  });
  // A search that knows older segments than the cache.
  if (graph == segments.end()) return Status::Ok();
  std::unordered_map<uint64_t, const uint32_t*> nodes_of;
  for (const PendingGraftPart& part : parts) {
    const uint32_t* nodes = part.nodes.data();
    for (const PendingGraftPart::Row& row : part.rows) {
      nodes_of.emplace(PlaceOf(row.physical, row.entry), nodes);
      nodes += part.nodes_per_row;
    }
  }
  Hanging hanging;
  std::vector<uint32_t> others;
  std::vector<uint32_t> nodes;
  for (uint32_t row = 0; row < rows_.size() && hanging.rows.size() < nodes_of.size(); ++row) {
    const auto found = nodes_of.find(PlaceOf(rows_[row].physical, rows_[row].entry));
    if (found == nodes_of.end() || !IsKnown(row)) {
      if (rows_[row].dimension != 0) others.push_back(row);
      continue;
    }
    hanging.others.insert(hanging.others.end(), others.begin(), others.end());
    others.clear();
    hanging.rows.push_back(row);
    nodes.insert(nodes.end(), found->second, found->second + newest.nodes_per_row);
  }
  const SegmentInfo& info = (*graph)->info();
  uint64_t bytes = 0;
  if (!hanging.rows.empty()) {
    if (newest.graph_nodes != Graft::NodesOf(info) ||
        newest.nodes_per_row != Graft::NodesPerRow(info)) {
      return DamagedPage(*source, graft_first_,
                         fmt::format("rows hang on {} nodes of segment {}, which has {}",
                                     newest.graph_nodes, info.segment, Graft::NodesOf(info)));
    }
    const auto count = static_cast<uint32_t>(hanging.rows.size());
    if (HasRoomForGraft(info, count) && Graft::Fits(info, count)) {
      GraftRowsOf rows(*this, hanging.rows);
      PIGMENT_ASSIGN_OR_RETURN(hanging.graft, Graft::OfNodes(**graph, rows, nodes));
    }
    if (hanging.graft == nullptr) hanging = {};
    if (hanging.graft != nullptr) bytes = Graft::MakeBytes(info, count);
  }
  hanging_ = std::move(hanging);
  graft_bytes_ = bytes;
  graft_rows_seen_ = newest.rows_seen;
  graft_taken_ = graft_first_;
  return Status::Ok();
}

bool PendingCache::MayHang(const Segment& graph) const {
  const size_t rows = rows_.size();
  return KnowsGraft() && !is_full_ && HasCodes(dimension()) &&
         graph.info().dimension == dimension() &&
         rows >= graft_rows_seen_ + std::max(kRowsToHangMin, graft_rows_seen_ / kPartToHang) &&
         Graft::Fits(graph.info(), static_cast<uint32_t>(rows)) &&
         HasRoomForGraft(graph.info(), rows) &&
         (hanging_.graft == nullptr || hanging_.graft->graph_segment() == graph.info().segment);
}

Result<std::string> PendingCache::Hang(const Segment& graph) const {
  std::vector<uint32_t> rows;
  std::vector<uint32_t> of_hanging;
  size_t known = 0;
  for (uint32_t row = 0; row < rows_.size(); ++row) {
    if (!IsKnown(row)) continue;
    rows.push_back(row);
    const bool hangs = known < hanging_.rows.size() && hanging_.rows[known] == row;
    of_hanging.push_back(hangs ? static_cast<uint32_t>(known++) : Graft::kNoNode);
  }
  PendingGraftPart part{.graph = graph.info().segment,
                        .graph_nodes = Graft::NodesOf(graph.info()),
                        .previous = graft_first_,
                        .is_first = hanging_.graft == nullptr,
                        .hangs = false,
                        .rows_seen = static_cast<uint32_t>(rows_.size()),
                        .nodes_per_row = static_cast<uint32_t>(Graft::NodesPerRow(graph.info())),
                        .rows = {},
                        .nodes = {}};
  if (!rows.empty()) {
    GraftRowsOf vectors(*this, rows);
    PIGMENT_ASSIGN_OR_RETURN(
        const std::shared_ptr<const Graft> graft,
        Graft::Make(graph, vectors, {.from = hanging_.graft, .rows_of_from = of_hanging}));
    part.hangs = graft != nullptr;
    if (part.hangs) {
      const std::vector<uint32_t> nodes = graft->NodesByRow();
      for (size_t i = 0; i < rows.size(); ++i) {
        if (of_hanging[i] != Graft::kNoNode) continue;
        const auto begin = nodes.begin() + static_cast<ptrdiff_t>(i * part.nodes_per_row);
        part.rows.push_back({rows_[rows[i]].physical, rows_[rows[i]].entry});
        part.nodes.insert(part.nodes.end(), begin, begin + part.nodes_per_row);
      }
    }
  }
  return EncodePendingGraft(part);
}

}  // namespace pigment

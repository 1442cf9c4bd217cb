// SPDX-License-Identifier: Apache-2.0
//
// Rows as they come from the reader; a call that fails takes back what it added.

#include "engine/segment/pending_cache.h"

#include <cstring>
#include <limits>
#include <utility>

#include "engine/vector/byte_code.h"
#include "engine/vector/distance.h"

namespace pigment {

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
  const uint64_t bytes = rows_.size() * sizeof(Row) + keys_.size() + codes_.size() + chunk_bytes_;
  return bytes + sizeof(Row) + row.head.keys_bytes + code_bytes_ <= options_.bytes_max;
}

bool PendingCache::HasRoomForChunk(size_t bytes) const {
  return rows_.size() * sizeof(Row) + keys_.size() + codes_.size() + chunk_bytes_ + bytes <=
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
      const bool is_known = rows_[row].dimension == dimension && SaysByteCode(codes(row));
      (is_known ? rows : others).push_back(static_cast<uint32_t>(row));
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
    if (!HasRoomForChunk(bytes)) return;
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

}  // namespace pigment

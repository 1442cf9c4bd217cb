// SPDX-License-Identifier: Apache-2.0
//
// PendingCache: what searches need of a chain of pending pages, kept from one search to the next:
// of each row its row pointer, its keys and a byte code of its vector, from which distances are
// bounded from below; when searches ask for it, sign codes by chunks of rows; and what rows hang
// on, where the host keeps that (pending_graft.h). Pages before the last are never appended to, so
// only what lies behind the last row is read to keep up. All who use it know the same segments.
// Rows that die later stay: whoever keeps the cache asks whether they may (pigment_host.h). One
// thread; sources are borrowed for a call.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/block/block_source.h"
#include "engine/segment/graft.h"
#include "engine/segment/pending_graft.h"
#include "engine/segment/pending_reader.h"
#include "engine/vector/chunk_codes.h"

namespace pigment {

struct PendingCacheOptions {
  uint32_t stamp = 0;         // of the chain's pages
  uint32_t first = kNoBlock;  // kNoBlock: there are none
  uint32_t dimension = 0;     // vectors of another one have no code; 0: none has
  uint64_t bytes_max = 0;  // of rows, keys and codes; what the containers keep free is not counted
};

class PendingCache {
 public:
  struct Row {
    uint64_t row_pointer;
    uint64_t keys_begin;
    uint32_t keys_bytes;
    uint32_t dimension;  // 0: no vector
    uint32_t physical;   // page and place in its directory
    uint32_t entry;
  };

  explicit PendingCache(const PendingCacheOptions& options);

  // Reads what was appended since, unless there is no room for it. After an error nothing was
  // added.
  Status Extend(BlockSource* source, const SharedVectors* shared);
  // Whether Extend left a row out: from here on it reads nothing.
  bool is_full() const { return is_full_; }

  // The whole chain, and what lies behind the rows that are here.
  PendingChain Chain(BlockSource* source, const SharedVectors* shared) const;
  PendingChain Rest(BlockSource* source, const SharedVectors* shared) const;

  uint32_t dimension() const { return options_.dimension; }
  // Rows keep their numbers: what was here stays the same.
  size_t size() const { return rows_.size(); }
  const Row& row(size_t i) const { return rows_[i]; }
  std::span<const std::byte> keys(const Row& row) const {
    return std::span(keys_).subspan(row.keys_begin, row.keys_bytes);
  }
  // Codes of row `first` and those behind it, one after the other; a row that has none has one of
  // which nothing is known. REQUIRES: HasCodes(dimension()).
  const std::byte* codes(size_t first) const { return codes_.data() + first * code_bytes_; }

  static bool HasCodes(uint32_t dimension);

  // Sign codes of kChunkRows rows together, whose links are places in `rows`.
  struct Chunk {
    std::vector<uint32_t> rows;
    ChunkCodes codes;
  };
  // Makes at most so many chunks of the rows that are in none yet, unless there is no room for
  // them. They are made of byte codes, and of the metric that is asked for first: nothing happens
  // for another. REQUIRES: HasChunkCodes(metric), HasCodes(dimension()).
  void MakeChunks(Metric metric, size_t most);
  std::span<const Chunk> chunks() const { return chunks_; }
  bool HasChunks(Metric metric) const {
    return !chunks_.empty() && chunks_.front().codes.IsFor(metric, options_.dimension);
  }
  // Rows up to here are in a chunk or among unchunked(), or have no vector.
  size_t chunked_rows() const { return chunked_rows_; }
  // Rows of another dimension, and those whose codes say nothing.
  std::span<const uint32_t> unchunked() const { return unchunked_; }

  // Rows that hang on the index of a segment.
  struct Hanging {
    std::shared_ptr<const Graft> graft;  // null: none do
    std::vector<uint32_t> rows;          // by the graft's numbers; ascending
    // Those before the last of them that have a vector and hang nowhere.
    std::vector<uint32_t> others;

    size_t end() const { return rows.empty() ? 0 : size_t{rows.back()} + 1; }
  };
  const Hanging& hanging() const { return hanging_; }
  // The newest part of what rows hang on; kNoBlock: there is none. It never becomes another but by
  // one that names it.
  void SetGraft(uint32_t first) { graft_first_ = first; }
  bool KnowsGraft() const { return graft_taken_ == graft_first_; }
  // Has hanging() say what the parts say, where one of these is the segment and there is room for
  // it. kDataLoss: a part is damaged.
  Status TakeGraft(BlockSource* source, std::span<const Segment* const> segments);
  // Whether there are enough rows that nobody has looked at for it to find what they hang on, if
  // the index of this segment has what they can. As of the last search, or Extend and TakeGraft.
  bool MayHang(const Segment& graph) const;
  // What the rows hang on that hang nowhere: the bytes of a part, which knows of those before it
  // what SetGraft said. REQUIRES: MayHang.
  Result<std::string> Hang(const Segment& graph) const;

 private:
  class Addition;
  class GraftRowsOf;

  bool HasRoomFor(const PendingRow& row) const;
  Status Add(const PendingReader& reader, const PendingRow& row, uint32_t physical);
  Status AddCode(const PendingReader& reader, const PendingRow& row);
  bool HasRoom(uint64_t bytes) const;
  // Whether byte codes say where a row lies.
  bool IsKnown(size_t row) const;
  bool HasRoomForGraft(const SegmentInfo& graph, size_t rows) const;

  const PendingCacheOptions options_;
  const size_t code_bytes_;
  std::vector<Row> rows_;
  std::vector<std::byte> keys_;
  std::vector<std::byte> codes_;
  std::shared_ptr<const GraphSpace> space_;  // of the chunks
  std::vector<Chunk> chunks_;
  std::vector<uint32_t> unchunked_;
  size_t chunked_rows_ = 0;
  size_t chunk_bytes_ = 0;
  Hanging hanging_;
  uint32_t graft_first_ = kNoBlock;
  uint32_t graft_taken_ = kNoBlock;  // of the parts that hanging_ is of
  size_t graft_rows_seen_ = 0;       // as they say
  size_t graft_bytes_ = 0;
  bool is_full_ = false;
  PendingReader::End end_;
  std::vector<float> vector_;
};

}  // namespace pigment

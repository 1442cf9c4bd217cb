// SPDX-License-Identifier: Apache-2.0
//
// Builds one segment in one pass: all parts stream to the sink side by side, so memory is a
// run of blocks for each part plus 16 bytes a record; and, for an index, its vectors and what its
// build takes, and of a host the rows that have no vector. One thread at a time; the caller owns
// the sink.

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/base/memory_budget.h"
#include "engine/base/scratch.h"
#include "engine/fulltext/analyzer.h"
#include "engine/record/index_rules.h"
#include "engine/segment/segment.h"
#include "engine/vector/build_pause.h"

namespace pigment {

struct RowView;  // row_reader.h

// Of threads that are asked for to build an index those that do; 0 is 1.
inline uint32_t BuildThreads(uint32_t asked) {
  constexpr uint32_t kMost = 256;
  return std::clamp(asked, 1u, kMost);
}

struct SegmentOptions {
  uint32_t segment = 0;  // its id: not 0, unique within the store or relation
  OwnerId owner{};
  uint32_t dimension = 0;
  Metric metric = Metric::kL2;
  // Of the vectors as they are kept; with kF16 those that are added are rounded already, with kBit
  // they have no numbers but 0 and 1.
  VectorElement vector_element = VectorElement::kF32;
  bool rounds = false;  // rows of a host are rounded to it here; REQUIRES: kF16
  // Also byte codes, for faster exact scans: of all segments, or of those that become flat.
  enum class Codes { kNone, kOfFlat, kAlways } codes = Codes::kNone;
  SegmentIndex index = {};  // also an index
  // What is kept of each record is charged for so many at once; 0: as they come, twice as much.
  uint32_t records_max = 0;
  uint32_t index_vectors = 0;      // over at most so many vectors
  uint32_t index_vectors_min = 0;  // of fewer none is built
  uint32_t graph_vectors_min = 0;  // of fewer clusters in place of a graph
  bool index_grows = false;        // as IndexBuild has it
  uint32_t index_expected = 0;     // the same
  uint32_t threads = 1;            // that build it, as BuildThreads gives them
  BuildPause pause = {};           // asked while it is built; may be empty
  // Of a segment with a text index; null: it has none.
  std::shared_ptr<const Analyzer> analyzer = nullptr;
  MemoryBudget* budget = nullptr;  // memory is charged here; may be null
  // Where vectors wait for their index that the budget has no room for; empty: nowhere.
  ScratchSource scratch = {};
  SharedRules rules = nullptr;     // values that are left out of the inverted index; null: none
  bool document_index = true;      // documents have an index of their own
  bool row_keys = false;           // rows of a host have keys, and these an index
  uint64_t key_seed = 0;           // what nobody who chooses keys knows
  // Vectors of a host's rows are to be found by their hashes (vector_hash.h), which take 8 bytes a
  // vector until the segment is finished, beyond the budget where that is in use.
  bool vector_hashes = false;
};

struct SegmentSummary {
  uint32_t root = 0;    // physical block of the root
  uint32_t blocks = 0;  // blocks written
  uint32_t rows = 0;
};

class SegmentWriter {
 public:
  SegmentWriter(const SegmentOptions& options, BlockSink* sink);
  ~SegmentWriter();

  // Of memory for each record until the segment is finished.
  static constexpr size_t kBytesPerRecord = 16;

  // A row of a store: REQUIRES record.embedding.size() == dimension, ordinals ascending.
  Status AddRecord(const Record& record);
  // The same from another segment: what is stored goes over as it is, the code too where there is
  // one; REQUIRES besides: `row` is a row of a segment with this dimension.
  Status AddView(const RowView& row);
  // A row of a host; an empty `vector` is NULL. `keys` as host_keys.h stores them; none where the
  // segment has no row_keys. Rows of both kinds do not mix in one segment.
  // Those of a segment with an index that have no vector come behind those that do.
  Status AddRow(std::span<const float> vector, uint64_t row_pointer,
                std::span<const std::byte> keys = {});
  // Whether the memory for the index, or for rows without a vector, has room for one more row;
  // without it there is no index: one who adds a row all the same has given it up.
  bool HasRoom();
  // Whether the vectors that were added are enough for an index, and there was no memory for it.
  bool has_given_up_index() const;
  // As AddRow, of a row whose keys nobody knows, because it is in no index where it comes from: nor
  // will it be here. REQUIRES: row_keys.
  Status AddUnindexedRow(std::span<const float> vector, uint64_t row_pointer);

  // Those that were added.
  uint32_t vectors() const;
  // Of rows that were added: the vector of row i of `graph`, a segment with one, is number to[i],
  // or kVectorIsGone (kept_links.h). A graph over them starts from the links of the largest that
  // was given; where memory is short, from none.
  Status StartFrom(const Segment& graph, std::span<const uint32_t> to);

  // All rows with a vector were added; the others need not wait any more, and so take no memory.
  Status EndVectors();

  // How far the rounding of what was added has taken a vector, at the most: the part of its length
  // for cosine distances, for others a difference of distances, but that inner products with it
  // are off by so much for each unit of the other's length. 0 without options.rounds.
  double rounding() const;

  // Of the rows that were added those whose vector is zero, so that it has no direction.
  uint64_t zero_vectors() const;

  // Writes the remaining parts and the root. Nothing may be added afterwards.
  Result<SegmentSummary> Finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace pigment

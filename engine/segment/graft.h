// SPDX-License-Identifier: Apache-2.0
//
// Graft: few rows, of a small segment or of none yet, hung on the index of a large one, so that a
// search of that index finds them without one of their own: each row is noted with the nodes of the
// graph that are nearest to it, and a search compares the rows of the nodes that a walk visited. As
// links of an HNSW graph from old to new vectors are (Malkov and Yashunin, 2016), in memory and
// apart from graph and rows. Where the large segment has clusters, these are its nodes: each row is
// noted with the one that it would belong to. Immutable; any thread. The large segment, `graph`, is
// named by its number and may go before it.

#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/call_control.h"
#include "engine/base/memory_budget.h"
#include "engine/segment/flat_scan.h"
#include "engine/segment/segment.h"
#include "engine/segment/vector_reader.h"
#include "engine/vector/build_pause.h"
#include "engine/vector/distance.h"
#include "engine/vector/graph_space.h"
#include "engine/vector/reach_table.h"
#include "engine/vector/row_code.h"

namespace pigment {

// What hangs. One thread at a time.
class GraftRows {
 public:
  virtual ~GraftRows() = default;

  virtual uint32_t count() const = 0;
  // As Segment::VisitVectors.
  virtual Status Visit(const Segment::VectorVisitor& visit) = 0;
  // Valid until the next is read. REQUIRES: row < count().
  virtual Result<const float*> Read(uint32_t row) = 0;
  // It is likely to be read soon.
  virtual void Expect(uint32_t row) = 0;
};

// The vectors of a segment, by their numbers.
class SegmentGraftRows final : public GraftRows {
 public:
  explicit SegmentGraftRows(const Segment& segment)
      : segment_(segment), reader_(segment.NewVectorReader()) {}

  uint32_t count() const override { return segment_.info().vectors; }
  Status Visit(const Segment::VectorVisitor& visit) override {
    return segment_.VisitVectors(visit);
  }
  Result<const float*> Read(uint32_t row) override { return reader_->Read(row); }
  void Expect(uint32_t row) override { reader_->Expect(row); }

 private:
  const Segment& segment_;
  const std::unique_ptr<VectorReader> reader_;
};

class Graft;

struct GraftOptions {
  std::shared_ptr<MemoryBudget> budget = {};  // may be null; the graft keeps it
  BuildPause pause = {};                      // may be empty
  // What some of the rows hang by already, on the same graph, and which of its rows the first ones
  // are (a number beyond its last: none): nothing is found out again for these. May be null.
  std::shared_ptr<const Graft> from = {};
  std::span<const uint32_t> rows_of_from = {};
  uint32_t samples = 100;  // that say whether it is of use
};

// A query for what hangs on one graph, for all that does. Immutable; any thread.
class GraftQuery {
 public:
  // The vector is borrowed.
  static Result<GraftQuery> Make(const Segment& graph, std::span<const float> vector);
  // The query in the graph's space.
  const GraphQuery& point() const { return point_; }

 private:
  friend class Graft;
  GraftQuery(const Segment& graph, const GraphSpace& space, std::span<const float> vector);

  const DistanceFunction distance_;
  const GraphQuery point_;
  const RowCodeQuery codes_;
};

struct GraftSearch {
  size_t k = 0;
  double recall = 0.98;  // of what hangs on the nodes, by codes
  // Nothing beyond this distance is wanted, which is that of the k-th nearest of the graph or less.
  float limit = std::numeric_limits<float>::infinity();
  std::span<const uint32_t> nodes;       // SegmentSearchResult::nodes of this query
  RowMask allowed_rows = {};             // as in FlatScan
  const CallControl* control = nullptr;  // asked every few rows; may be null
};

struct GraftSearchResult {
  std::vector<RowHit> hits;    // at most k, ascending by (distance, row)
  uint64_t rows_scored = 0;    // by their codes
  uint64_t code_bytes = 0;     // of these
  uint64_t rows_compared = 0;  // by their vectors
};

class Graft {
 public:
  // Walks find as much of what hangs on a graph as of the graph up to this recall. Whoever wants
  // more searches the rows themselves.
  static constexpr float kRecallMax = 0.99f;

  // Of the visits of a walk, the nodes that rows nearer than the nearest of the graph hang on:
  // those that are not much farther than all that it found.
  static std::vector<uint32_t> NodesNear(const GraphQuery& query,
                                         std::span<const SearchStep> visits,
                                         std::span<const RowHit> found);

  // Nodes that a row hangs on. Walks to its neighbours meet one of them nearly as often as a node
  // that is as near: of 8 for each row a twentieth is missed, of 16 a fiftieth, of 24 a hundredth.
  static constexpr size_t kGraphNodesPerRow = 16;
  static size_t NodesPerRow(const SegmentInfo& graph) {
    return graph.kind == SegmentKind::kGraph ? kGraphNodesPerRow : 1;
  }
  // Of a graph the vectors, else the clusters.
  static uint32_t NodesOf(const SegmentInfo& graph) {
    return graph.kind == SegmentKind::kGraph ? graph.vectors : graph.clusters;
  }
  // What follows the nodes of a row that has fewer.
  static constexpr uint32_t kNoNode = SearchStep::kNoVector;

  // Whether so many rows may hang on that segment, of which they have metric and dimension, and are
  // so much fewer that it is worth it; and whether those of a segment may that has an index of its
  // own: clusters, or the graph of a small part.
  static bool Fits(const SegmentInfo& graph, uint32_t rows);
  static bool Fits(const SegmentInfo& graph, const SegmentInfo& rows);
  // Null: by samples, searches would miss too many or compare too many, because the rows are of
  // another kind than what the graph has. kResourceExhausted: there is no room for it. REQUIRES:
  // Fits.
  static Result<std::shared_ptr<const Graft>> Make(const Segment& graph, GraftRows& rows,
                                                   GraftOptions options);
  // Of rows whose nodes are known already: nodes_per_row() places of each, as NodesByRow gives
  // them. Null: no codes bound how far they are. REQUIRES: Fits, and nodes that the graph has.
  static Result<std::shared_ptr<const Graft>> OfNodes(const Segment& graph, GraftRows& rows,
                                                      std::span<const uint32_t> nodes);
  // What Make takes at most, and its result has most of.
  static uint64_t MakeBytes(const SegmentInfo& graph, uint32_t rows);

  uint32_t graph_segment() const { return graph_segment_; }
  uint32_t rows() const { return count_; }
  size_t nodes_per_row() const { return nodes_per_row_; }
  // The query's graph is that which was given to Make, and the first of `rows` are those.
  Result<GraftSearchResult> Search(const GraftQuery& query, GraftRows& rows,
                                   const GraftSearch& search) const;
  // Of each row nodes_per_row() places, for its nodes and, behind these, kNoNode.
  std::vector<uint32_t> NodesByRow() const;
  std::span<const std::byte> codes() const { return codes_; }
  // Rows that hang on some nodes and are allowed, each once.
  struct Met {
    std::vector<uint32_t> rows;
    // Of the square of the distance in the query's space what it is not below, but for so many
    // standard errors of a code; NaN: nothing is known.
    std::vector<float> bounds;
  };
  Met Meet(const GraftQuery& query, std::span<const uint32_t> nodes, RowMask allowed,
           float errors) const;

 private:
  Graft(const SegmentInfo& graph, uint32_t rows, std::shared_ptr<MemoryBudget> budget)
      : graph_segment_(graph.segment),
        count_(rows),
        nodes_per_row_(NodesPerRow(graph)),
        budget_(std::move(budget)),
        reservation_(budget_.get()) {}
  std::span<const uint32_t> RowsOf(uint32_t node) const {
    return std::span(rows_).subspan(begins_[node], begins_[node + 1] - begins_[node]);
  }
  // Of those rows the farthest from the middle of the graph's space.
  static Result<float> RadiusOf(const Segment& graph, const GraphSpace& space, GraftRows& rows,
                                const std::vector<bool>& wanted, const BuildPause& pause);
  // Room for the rows' codes, and how large one is.
  void ResizeCodes(const GraphSpace& space);
  void EncodeRow(uint32_t row, const GraphQuery& query);
  // Which rows are not of `from`. What it has of the others goes to by_row and the codes.
  std::vector<bool> TakeFrom(const GraftOptions& options, std::vector<uint32_t>& by_row);
  void TakeNodes(uint32_t nodes, std::span<const uint32_t> by_row);
  // Their codes are asked for ahead.
  std::vector<uint32_t> RowsMet(std::span<const uint32_t> nodes, RowMask allowed) const;
  // Whether samples find what they want of the rows, and look at few.
  Result<bool> IsOfUse(const Segment& graph, GraftRows& rows, const GraftOptions& options) const;

  const uint32_t graph_segment_;
  const uint32_t count_;  // of the rows
  const size_t nodes_per_row_;
  const std::shared_ptr<MemoryBudget> budget_;
  Reservation reservation_;
  std::vector<uint32_t> begins_;  // of each node in rows_; then the end
  std::vector<uint32_t> rows_;
  // Of each row, in the space of the graph (engine/vector/row_code.h).
  std::vector<std::byte> codes_;
  size_t code_bytes_ = 0;
  float radius_ = 0;  // of the codes
};

}  // namespace pigment

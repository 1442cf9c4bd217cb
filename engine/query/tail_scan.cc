// SPDX-License-Identifier: Apache-2.0
//
// Chunks as clusters that are all probed, then the rows of the others one by one: see the header.

#include "engine/query/tail_scan.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>

#include "engine/base/prefetch.h"
#include "engine/vector/chunk_codes.h"
#include "engine/vector/cluster_probe.h"
#include "engine/vector/distance.h"

namespace pigment {
namespace {

// Distances between two looks at the clock: a millisecond even at 65,535 dimensions.
constexpr uint32_t kRowsPerCheck = 64;
// Fewer rows are compared sooner than the query's codes are made.
constexpr uint64_t kRowsWorthCodes = 4 * TailChunk::kRows;
// Codes that one query makes: it pays for those that come after.
constexpr int kChunksPerQuery = 4;

class TailScanner {
 public:
  TailScanner(const TailView& tail, const RowSet& rows, const TailScan& scan)
      : tail_(tail),
        rows_(rows),
        scan_(scan),
        distance_(scan.metric, scan.query),
        limit_(scan.limit) {}

  Result<TailScanResult> Run() {
    if (!scan_.is_exact && HasChunkCodes(scan_.metric) && rows_.count() >= kRowsWorthCodes) {
      PIGMENT_RETURN_IF_ERROR(ProbeChunks());
    }
    PIGMENT_RETURN_IF_ERROR(CompareOthers());
    return std::move(result_);
  }

 private:
  class Source;

  // The codes of a full chunk; null: it has none, and this query makes no more.
  const SearchedChunk* CodesOf(const TailChunk& chunk);
  Status ProbeChunks();
  // The rows of chunks that were not probed.
  Status CompareOthers();
  void Offer(float distance, uint32_t row);

  const TailView& tail_;
  const RowSet& rows_;
  const TailScan& scan_;
  const DistanceFunction distance_;
  std::shared_ptr<const GraphSpace> space_;
  int made_ = 0;
  std::vector<const SearchedChunk*> codes_;  // of each chunk; null: compared row by row
  float limit_;
  TailScanResult result_;  // its hits are a heap, the farthest first, once there are k
};

class TailScanner::Source final : public ClusterSource {
 public:
  Source(const TailScanner& scanner, const GraphQuery& query)
      : scanner_(scanner), query_(query), point_distance_(Metric::kL2, query.point()) {
    for (uint32_t chunk = 0; chunk < scanner.codes_.size(); ++chunk) {
      if (scanner.codes_[chunk] != nullptr) chunks_.push_back(chunk);
    }
  }

  uint32_t entry_nodes() const override { return 0; }
  Result<GraphNode> EntryNode(uint32_t) override { return Internal("a tail has no entries"); }
  float centre_square() const override { return query_.centre_square(); }
  Result<float> Distance(uint32_t row) override {
    if (compared_++ % kRowsPerCheck == 0) PIGMENT_RETURN_IF_ERROR(scanner_.scan_.control->Check());
    return scanner_.distance_(VectorOf(row));
  }
  float SquareOf(float distance) const override { return query_.SquareOf(distance); }
  void Expect(uint32_t row) override {
    ExpectBytes(VectorOf(row), scanner_.scan_.query.size_bytes());
  }
  uint32_t clusters() const override { return static_cast<uint32_t>(chunks_.size()); }
  Result<float> CentroidSquare(uint32_t cluster) override {
    return point_distance_(CodesOf(cluster).centroid().data());
  }
  void ExpectCentroid(uint32_t) override {}
  Result<uint32_t> Go(uint32_t cluster) override {
    PIGMENT_RETURN_IF_ERROR(scanner_.scan_.control->Check());
    cluster_ = cluster;
    return CodesOf(cluster).nodes();
  }
  Result<GraphNode> Node(uint32_t number) override { return CodesOf(cluster_).node(number); }
  uint32_t first_vector() const override { return chunks_[cluster_] * TailChunk::kRows; }

 private:
  const ChunkCodes& CodesOf(uint32_t cluster) const {
    return scanner_.codes_[chunks_[cluster]]->codes;
  }
  const float* VectorOf(uint32_t row) const {
    return scanner_.codes_[row / TailChunk::kRows]->vectors[row % TailChunk::kRows];
  }

  const TailScanner& scanner_;
  const GraphQuery& query_;
  const DistanceFunction point_distance_;
  std::vector<uint32_t> chunks_;  // that have codes
  uint32_t cluster_ = 0;
  uint32_t compared_ = 0;
};

const SearchedChunk* TailScanner::CodesOf(const TailChunk& chunk) {
  const auto dimension = static_cast<uint32_t>(scan_.query.size());
  const SearchedChunk* searched = chunk.searched();
  if (searched == nullptr) {
    if (made_ == kChunksPerQuery) return nullptr;
    ++made_;
    if (space_ == nullptr) space_ = MakeChunkSpace(scan_.metric, dimension);
    std::array<const float*, kChunkRows> vectors;
    for (uint32_t row = 0; row < TailChunk::kRows; ++row)
      vectors[row] = chunk.rows[row]->embedding.data();
    const auto vector_of = [&](uint32_t row) { return std::span(vectors[row], dimension); };
    searched = chunk.SetSearched(std::unique_ptr<const SearchedChunk>(new SearchedChunk{
        ChunkCodes(space_, scan_.metric, dimension, TailChunk::kRows, vector_of), vectors}));
  }
  const ChunkCodes& codes = searched->codes;
  if (!codes.IsFor(scan_.metric, dimension) || !codes.is_usable()) return nullptr;
  if (space_ == nullptr) space_ = codes.space();
  return searched;
}

Status TailScanner::ProbeChunks() {
  const uint32_t full = tail_.rows / TailChunk::kRows;
  for (uint32_t chunk = 0; chunk < full; ++chunk) {
    PIGMENT_RETURN_IF_ERROR(scan_.control->Check());
    codes_.push_back(CodesOf(*tail_.chunks[chunk]));
  }
  if (space_ == nullptr) return Status::Ok();
  const GraphQuery query(*space_, scan_.query);
  if (!query.is_finite()) {
    codes_.clear();
    return Status::Ok();
  }
  Source source(*this, query);
  ClusterProbe probe;
  std::span<const uint64_t> allowed;
  if (rows_.count() != rows_.rows()) allowed = rows_.words();
  PIGMENT_ASSIGN_OR_RETURN(
      const std::vector<Scored> found,
      probe.Search(source, SignCodeQuery(query.point(), ChunkCodeBits(*space_)), tail_.rows,
                   {.k = scan_.k,
                    .reach = std::numeric_limits<float>::infinity(),
                    .errors = scan_.errors,
                    .limit = limit_,
                    .allowed = allowed}));
  result_.rows_compared += probe.vectors_compared();
  result_.rows_by_codes += probe.links_estimated();
  for (const Scored& scored : found) Offer(scored.distance, static_cast<uint32_t>(scored.tie));
  return Status::Ok();
}

void TailScanner::Offer(float distance, uint32_t row) {
  const auto nearer = [](const TailHit& a, const TailHit& b) { return a.key < b.key; };
  std::vector<TailHit>& heap = result_.hits;
  const Scored key{distance, tail_.row(row).ordinal};
  if (heap.size() == scan_.k) {
    if (!(key < heap.front().key)) return;
    std::pop_heap(heap.begin(), heap.end(), nearer);
    heap.pop_back();
  }
  heap.push_back({key, row});
  std::push_heap(heap.begin(), heap.end(), nearer);
  if (heap.size() == scan_.k) limit_ = heap.front().key.distance;
}

Status TailScanner::CompareOthers() {
  uint32_t until_check = 0;
  for (uint32_t row = rows_.Next(0); row < rows_.rows(); row = rows_.Next(row + 1)) {
    const uint32_t chunk = row / TailChunk::kRows;
    if (chunk < codes_.size() && codes_[chunk] != nullptr) {
      row = (chunk + 1) * TailChunk::kRows - 1;
      continue;
    }
    if (until_check-- == 0) {
      PIGMENT_RETURN_IF_ERROR(scan_.control->Check());
      until_check = kRowsPerCheck;
    }
    ++result_.rows_compared;
    const float distance = distance_(tail_.row(row).embedding.data());
    if (!(distance > limit_)) Offer(distance, row);
  }
  return Status::Ok();
}

}  // namespace

Result<TailScanResult> ScanTail(const TailView& tail, const RowSet& rows, const TailScan& scan) {
  return TailScanner(tail, rows, scan).Run();
}

}  // namespace pigment

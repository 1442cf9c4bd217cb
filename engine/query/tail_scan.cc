// SPDX-License-Identifier: Apache-2.0
//
// Chunks and quarters as clusters that are all probed, then the rows of the others one by one: see
// the header.

#include "engine/query/tail_scan.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>

#include "engine/base/bits.h"
#include "engine/base/prefetch.h"
#include "engine/vector/chunk_codes.h"
#include "engine/vector/cluster_probe.h"
#include "engine/vector/distance.h"

namespace pigment {
namespace {

// Distances between two looks at the clock: a millisecond even at 65,535 dimensions.
constexpr uint32_t kRowsPerCheck = 64;
// Fewer rows are compared sooner than the query's codes are made; where no index was asked, little
// later, and so searches of small collections are exact.
constexpr uint64_t kRowsWorthCodes = 2 * TailChunk::kQuarterRows;
constexpr uint64_t kRowsWorthCodesAlone = 4 * TailChunk::kRows;
// Codes that one query makes, of so many chunks or quarters: it pays for those that come after.
constexpr int kMadePerQuery = 4;

class TailScanner {
 public:
  TailScanner(const TailView& tail, const RowSet& rows, const TailScan& scan)
      : tail_(tail),
        rows_(rows),
        scan_(scan),
        distance_(scan.metric, scan.query),
        limit_(scan.limit) {}

  Result<TailScanResult> Run() {
    const uint64_t rows = rows_.is_everything()
                              ? rows_.rows() - scan_.first_row
                              : CountSetBits(rows_.words().subspan(scan_.first_row / 64));
    if (!scan_.is_exact && HasChunkCodes(scan_.metric) &&
        rows >= (scan_.is_beside_index ? kRowsWorthCodes : kRowsWorthCodesAlone)) {
      PIGMENT_RETURN_IF_ERROR(FindCodes());
      PIGMENT_RETURN_IF_ERROR(Probe());
    }
    PIGMENT_RETURN_IF_ERROR(CompareOthers());
    return std::move(result_);
  }

 private:
  class Source;

  // The codes of so many rows of a chunk; null: they have none, and this query makes no more.
  const CodedRows* CodesOf(const TailChunk& chunk, const MadeOnce<const CodedRows>& made,
                           uint32_t first, uint32_t rows);
  Status FindCodes();
  Status Probe();
  // The rows of quarters that were not probed.
  Status CompareOthers();
  void CompareRows(std::span<const uint32_t> rows);
  void Offer(float distance, uint32_t row);

  const TailView& tail_;
  const RowSet& rows_;
  const TailScan& scan_;
  const DistanceFunction distance_;
  std::shared_ptr<const GraphSpace> space_;
  int made_ = 0;
  // Of each quarter of a chunk, the same for all four where the chunk has them; null: compared row
  // by row.
  std::vector<const CodedRows*> codes_;
  float limit_;
  TailScanResult result_;  // its hits are a heap, the farthest first, once there are k
};

class TailScanner::Source final : public ClusterSource {
 public:
  Source(const TailScanner& scanner, const GraphQuery& query)
      : scanner_(scanner), query_(query), point_distance_(Metric::kL2, query.point()) {
    for (uint32_t quarter = 0; quarter < scanner.codes_.size(); ++quarter) {
      const CodedRows* const codes = scanner.codes_[quarter];
      const bool is_next = quarter == 0 || codes != scanner.codes_[quarter - 1];
      if (codes != nullptr && is_next) first_quarters_.push_back(quarter);
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
  uint32_t clusters() const override { return static_cast<uint32_t>(first_quarters_.size()); }
  Result<float> CentroidSquare(uint32_t cluster) override {
    return point_distance_(CodesOf(cluster).centroid().data());
  }
  void ExpectCentroid(uint32_t) override {}
  void ExpectCluster(uint32_t cluster) override { CodesOf(cluster).Expect(); }
  Result<uint32_t> Go(uint32_t cluster) override {
    PIGMENT_RETURN_IF_ERROR(scanner_.scan_.control->Check());
    cluster_ = cluster;
    return CodesOf(cluster).nodes();
  }
  Result<GraphNode> Node(uint32_t number) override { return CodesOf(cluster_).node(number); }
  uint32_t first_vector() const override {
    return first_quarters_[cluster_] * TailChunk::kQuarterRows;
  }

 private:
  const ChunkCodes& CodesOf(uint32_t cluster) const {
    return scanner_.codes_[first_quarters_[cluster]]->codes;
  }
  const float* VectorOf(uint32_t row) const {
    return scanner_.codes_[row / TailChunk::kQuarterRows]->vectors[row % TailChunk::kRows];
  }

  const TailScanner& scanner_;
  const GraphQuery& query_;
  const DistanceFunction point_distance_;
  std::vector<uint32_t> first_quarters_;  // of what has codes
  uint32_t cluster_ = 0;
  uint32_t compared_ = 0;
};

const CodedRows* TailScanner::CodesOf(const TailChunk& chunk, const MadeOnce<const CodedRows>& made,
                                      uint32_t first, uint32_t rows) {
  const auto dimension = static_cast<uint32_t>(scan_.query.size());
  const CodedRows* searched = made.get();
  if (searched == nullptr) {
    if (made_ == kMadePerQuery) return nullptr;
    ++made_;
    if (space_ == nullptr) space_ = MakeChunkSpace(scan_.metric, dimension);
    std::array<const float*, kChunkRows> vectors{};
    for (uint32_t row = first; row < first + rows; ++row)
      vectors[row] = chunk.rows[row]->embedding.data();
    const auto vector_of = [&](uint32_t i) { return std::span(vectors[first + i], dimension); };
    searched = &made.Keep(std::unique_ptr<const CodedRows>(
        new CodedRows{ChunkCodes(space_, scan_.metric, dimension, rows, vector_of), vectors}));
  }
  const ChunkCodes& codes = searched->codes;
  if (!codes.IsFor(scan_.metric, dimension) || !codes.is_usable()) return nullptr;
  if (space_ == nullptr) space_ = codes.space();
  return searched;
}

Status TailScanner::FindCodes() {
  constexpr uint32_t kQuarterRows = TailChunk::kQuarterRows;
  const uint32_t full = tail_.rows / TailChunk::kRows;
  codes_.resize(scan_.first_row / kQuarterRows);
  for (uint32_t i = scan_.first_row / TailChunk::kRows; i < full; ++i) {
    PIGMENT_RETURN_IF_ERROR(scan_.control->Check());
    const TailChunk& chunk = *tail_.chunks[i];
    codes_.insert(codes_.end(), 4, CodesOf(chunk, chunk.searched(), 0, TailChunk::kRows));
  }
  for (uint32_t i = 0; i < tail_.rows % TailChunk::kRows / kQuarterRows; ++i) {
    const TailChunk& chunk = *tail_.chunks[full];
    codes_.push_back(CodesOf(chunk, chunk.searched_quarter(i), i * kQuarterRows, kQuarterRows));
  }
  return Status::Ok();
}

Status TailScanner::Probe() {
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
                    .allowed = allowed,
                    .allows_most = AllowsMost(rows_.count(), tail_.rows)}));
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
  uint32_t next = rows_.Next(scan_.first_row);
  std::array<uint32_t, kRowsPerCheck> some;
  do {
    PIGMENT_RETURN_IF_ERROR(scan_.control->Check());
    size_t count = 0;
    while (next < rows_.rows() && count < some.size()) {
      const uint32_t quarter = next / TailChunk::kQuarterRows;
      const bool was_probed = quarter < codes_.size() && codes_[quarter] != nullptr;
      if (!was_probed) some[count++] = next;
      next = rows_.Next(was_probed ? (quarter + 1) * TailChunk::kQuarterRows : next + 1);
    }
    CompareRows(std::span(some).first(count));
  } while (next < rows_.rows());
  return Status::Ok();
}

void TailScanner::CompareRows(std::span<const uint32_t> rows) {
  // A record and its vector lie anywhere, and the one says where the other does.
  constexpr size_t kVectorsAhead = 4, kRecordsAhead = 8;
  const auto record = [&](size_t i) { return &tail_.row(rows[i]); };
  for (size_t i = 0; i < std::min(kRecordsAhead, rows.size()); ++i) ExpectBytes(record(i), 1);
  const auto expect = [&](size_t i) {
    if (i >= rows.size()) return;
    ExpectBytes(record(i)->embedding.data(), scan_.query.size_bytes());
  };
  for (size_t i = 0; i < kVectorsAhead; ++i) expect(i);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i + kRecordsAhead < rows.size()) ExpectBytes(record(i + kRecordsAhead), 1);
    expect(i + kVectorsAhead);
    const float distance = distance_(record(i)->embedding.data());
    if (!(distance > limit_)) Offer(distance, rows[i]);
  }
  result_.rows_compared += rows.size();
}

}  // namespace

Result<TailScanResult> ScanTail(const TailView& tail, const RowSet& rows, const TailScan& scan) {
  return TailScanner(tail, rows, scan).Run();
}

}  // namespace pigment

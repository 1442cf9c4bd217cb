// SPDX-License-Identifier: Apache-2.0
//
// Nodes made again, and where links lead: see the header.

#include "engine/segment/index_verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "engine/segment/index_reader.h"
#include "engine/segment/part_reader.h"
#include "engine/segment/row_reader.h"

namespace pigment {
namespace {

class IndexVerifier {
 public:
  IndexVerifier(BlockSource* source, const Root& root, const IndexHead& head,
                std::unique_ptr<IndexReader> reader)
      : root_(root),
        head_(head),
        reader_(std::move(reader)),
        is_graph_(root.info.kind == SegmentKind::kGraph),
        nodes_(source, &root, is_graph_ ? BlockKind::kGraphNodes : BlockKind::kClusterNodes),
        entries_(source, &root, BlockKind::kEntries),
        centroids_(source, &root, BlockKind::kCentroids),
        row_codes_(source, &root, BlockKind::kRowCodes),
        vectors_(source, &root, BlockKind::kVectors),
        vector_(root.info.dimension),
        point_(head.space.point_dimension()) {}

  Status Run();

 private:
  static constexpr uint32_t kNobody = 0xFFFFFFFF;

  // Links of entries are vectors of a graph, or clusters.
  uint32_t entries_lead_to() const { return is_graph_ ? root_.info.vectors : head_.entries; }
  // Checks the links and leaves them in links_: below `count`, and none of them `own`.
  Status ReadLinks(const PartCursor& part, const GraphNode& node, uint32_t number, uint32_t count,
                   uint32_t own);
  // Makes a node of so many places again with links_ and compares; `read_point` reads what they
  // lead to into point_.
  template <typename ReadPoint>
  Status Compare(const PartCursor& part, const GraphNode& node, uint32_t number, uint32_t places,
                 std::span<const float> centre, const ReadPoint& read_point);
  Status CompareRowCode(uint32_t vector, std::span<const float> point);
  Status ReadVectorPoint(uint32_t vector);
  Status ReadCentroid(uint32_t cluster);
  Status VerifyNodes();
  Status VerifyClusters();
  Status VerifyEntries(std::vector<uint32_t>& entries);
  Status MarkReachable(uint32_t from);

  const Root& root_;
  const IndexHead& head_;
  const std::unique_ptr<IndexReader> reader_;
  const bool is_graph_;
  const PartCursor nodes_;  // for what is told of damage
  const PartCursor entries_;
  const PartCursor centroids_;
  const PartCursor row_codes_;
  PartCursor vectors_;
  std::vector<float> vector_;
  std::vector<float> point_;
  std::vector<std::byte> expected_;
  std::vector<uint32_t> links_;
  std::vector<bool> reached_;
  uint32_t reached_count_ = 0;
};

Status IndexVerifier::ReadVectorPoint(uint32_t vector) {
  PIGMENT_RETURN_IF_ERROR(ReadVectorFrom(vectors_, root_, vector, vector_));
  head_.space.MakePoint(vector_, point_.data());
  return Status::Ok();
}

Status IndexVerifier::ReadCentroid(uint32_t cluster) {
  PIGMENT_ASSIGN_OR_RETURN(const float* point, reader_->Centroid(cluster));
  std::copy_n(point, point_.size(), point_.begin());
  size_t bad = 0;
  if (AllFinite(point_.data(), point_.size(), &bad)) return Status::Ok();
  return centroids_.Damaged(Detail::kMiscounted,
                            fmt::format("number {} of centroid {} is not finite", bad, cluster));
}

Status IndexVerifier::ReadLinks(const PartCursor& part, const GraphNode& node, uint32_t number,
                                uint32_t count, uint32_t own) {
  links_.clear();
  for (uint32_t i = 0; i < node.links(); ++i) {
    const uint32_t link = node.link(i);
    if (link >= count || link == own || std::ranges::count(links_, link) != 0) {
      return part.Damaged(Detail::kMiscounted,
                          fmt::format("node {} has link {} to {} of {}", number, i, link, count));
    }
    links_.push_back(link);
  }
  return Status::Ok();
}

template <typename ReadPoint>
Status IndexVerifier::Compare(const PartCursor& part, const GraphNode& node, uint32_t number,
                              uint32_t places, std::span<const float> centre,
                              const ReadPoint& read_point) {
  Status failed;
  expected_.resize(node.bytes().size());
  EncodeGraphNode(
      centre, head_.bits, links_, places,
      [&](uint32_t link) -> std::span<const float> {
        if (failed.ok()) failed = read_point(link);
        return point_;
      },
      expected_.data());
  PIGMENT_RETURN_IF_ERROR(failed);
  if (std::ranges::equal(node.bytes(), expected_)) return Status::Ok();
  return part.Damaged(Detail::kMiscounted,
                      fmt::format("node {} is not that of its vectors", number));
}

Status IndexVerifier::CompareRowCode(uint32_t vector, std::span<const float> point) {
  if (head_.row_radius == 0) return Status::Ok();
  PIGMENT_ASSIGN_OR_RETURN(const IndexReader::RowCodes codes, reader_->RowCodesFrom(vector));
  expected_.resize(head_.row_code_bytes());
  EncodeRowCode(point, head_.row_bits, head_.row_radius, expected_.data());
  if (std::ranges::equal(std::span(codes.first, expected_.size()), expected_)) return Status::Ok();
  return row_codes_.Damaged(Detail::kMiscounted,
                            fmt::format("code {} is not that of its vector", vector));
}

Status IndexVerifier::VerifyNodes() {
  const std::vector<float> origin(point_.size());
  for (uint32_t vector = 0; vector < root_.info.vectors; ++vector) {
    PIGMENT_ASSIGN_OR_RETURN(const GraphNode node, reader_->Node(vector));
    PIGMENT_RETURN_IF_ERROR(ReadLinks(nodes_, node, vector, root_.info.vectors, vector));
    PIGMENT_RETURN_IF_ERROR(ReadVectorPoint(vector));
    const std::vector<float> own = point_;
    PIGMENT_RETURN_IF_ERROR(CompareRowCode(vector, own));
    const std::vector<float>& centre = head_.space.has_exact_codes() ? origin : own;
    PIGMENT_RETURN_IF_ERROR(Compare(nodes_, node, vector, head_.places, centre,
                                    [this](uint32_t link) { return ReadVectorPoint(link); }));
  }
  return Status::Ok();
}

Status IndexVerifier::VerifyClusters() {
  for (uint32_t cluster = 0; cluster < head_.entries; ++cluster) {
    PIGMENT_RETURN_IF_ERROR(ReadCentroid(cluster));
    const std::vector<float> centroid = point_;
    const ClusterShape shape = head_.cluster(cluster);
    if (shape.nodes() == 0) {
      return nodes_.Damaged(Detail::kMiscounted, fmt::format("cluster {} is empty", cluster));
    }
    for (uint32_t i = 0; i < shape.nodes(); ++i) {
      PIGMENT_ASSIGN_OR_RETURN(const GraphNode node, reader_->ClusterNode(cluster, i));
      PIGMENT_RETURN_IF_ERROR(ReadLinks(nodes_, node, i, root_.info.vectors, kNobody));
      PIGMENT_RETURN_IF_ERROR(Compare(nodes_, node, i, shape.places(i), centroid,
                                      [this](uint32_t link) { return ReadVectorPoint(link); }));
      for (const uint32_t vector : links_) {
        if (head_.row_radius != 0) {
          PIGMENT_RETURN_IF_ERROR(ReadVectorPoint(vector));
          PIGMENT_RETURN_IF_ERROR(CompareRowCode(vector, point_));
        }
        reached_count_ += reached_[vector] ? 0 : 1;  // as many as vectors: each once
        reached_[vector] = true;
      }
    }
  }
  return Status::Ok();
}

Status IndexVerifier::VerifyEntries(std::vector<uint32_t>& entries) {
  const std::vector<float> origin(head_.space.point_dimension());
  for (uint32_t number = 0; number < head_.entry_nodes(); ++number) {
    PIGMENT_ASSIGN_OR_RETURN(const GraphNode node, reader_->EntryNode(number));
    PIGMENT_RETURN_IF_ERROR(ReadLinks(entries_, node, number, entries_lead_to(), kNobody));
    PIGMENT_RETURN_IF_ERROR(Compare(
        entries_, node, number, head_.places, origin,
        [this](uint32_t link) { return is_graph_ ? ReadVectorPoint(link) : ReadCentroid(link); }));
    entries.insert(entries.end(), links_.begin(), links_.end());
  }
  std::vector<uint32_t> sorted = entries;
  std::sort(sorted.begin(), sorted.end());
  const bool is_twice = std::ranges::adjacent_find(sorted) != sorted.end();
  if (entries.size() == head_.entries && !is_twice) return Status::Ok();
  return entries_.Damaged(Detail::kMiscounted,
                          fmt::format("{} entries{}, the head says {}", entries.size(),
                                      is_twice ? ", some of them twice" : "", head_.entries));
}

Status IndexVerifier::MarkReachable(uint32_t from) {
  std::vector<uint32_t> to_look_at;
  const auto mark = [&](uint32_t vector) {
    if (reached_[vector]) return;
    reached_[vector] = true;
    ++reached_count_;
    to_look_at.push_back(vector);
  };
  mark(from);
  while (!to_look_at.empty()) {
    const uint32_t vector = to_look_at.back();
    to_look_at.pop_back();
    PIGMENT_ASSIGN_OR_RETURN(const GraphNode node, reader_->Node(vector));
    for (uint32_t i = 0; i < node.links(); ++i) mark(node.link(i));
  }
  return Status::Ok();
}

Status IndexVerifier::Run() {
  reached_.assign(root_.info.vectors, false);
  PIGMENT_RETURN_IF_ERROR(is_graph_ ? VerifyNodes() : VerifyClusters());
  std::vector<uint32_t> entries;
  PIGMENT_RETURN_IF_ERROR(VerifyEntries(entries));
  if (is_graph_) {
    for (const uint32_t entry : entries) PIGMENT_RETURN_IF_ERROR(MarkReachable(entry));
  }
  if (reached_count_ == root_.info.vectors) return Status::Ok();
  return nodes_.Damaged(Detail::kMiscounted,
                        fmt::format("{} vectors of {} can be reached from the entries",
                                    reached_count_, root_.info.vectors));
}

}  // namespace

Status VerifyIndex(const Segment& segment, BlockSource* source, const Root& root) {
  PIGMENT_ASSIGN_OR_RETURN(const IndexHead* const head, segment.Index());
  if (head == nullptr) return Status::Ok();
  return IndexVerifier(source, root, *head, segment.NewIndexReader(*head)).Run();
}

}  // namespace pigment

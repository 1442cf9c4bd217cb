// SPDX-License-Identifier: Apache-2.0
//
// Nodes made again, and where links lead: see the header.

#include "engine/segment/graph_verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "engine/segment/graph_reader.h"
#include "engine/segment/part_reader.h"
#include "engine/segment/row_reader.h"

namespace pigment {
namespace {

class GraphVerifier {
 public:
  GraphVerifier(BlockSource* source, const Root& root, const GraphHead& head,
                std::unique_ptr<GraphReader> reader)
      : root_(root),
        head_(head),
        reader_(std::move(reader)),
        nodes_(source, &root, BlockKind::kGraphNodes),
        entries_(source, &root, BlockKind::kGraphEntries),
        vectors_(source, &root, BlockKind::kVectors),
        vector_(root.info.dimension),
        own_point_(head.space.point_dimension()),
        point_(head.space.point_dimension()),
        expected_(head.node_bytes()) {}

  Status Run();

 private:
  // Checks the links and leaves them in links_. `own` is no vector for an entry node.
  Status ReadLinks(const PartCursor& part, const GraphNode& node, uint32_t number, uint32_t own);
  // Makes a node again with links_ and compares.
  Status Compare(const PartCursor& part, const GraphNode& node, uint32_t number,
                 std::span<const float> centre);
  Status MakePoint(uint32_t vector, std::span<float> point);
  Status MarkReachable(uint32_t from);

  const Root& root_;
  const GraphHead& head_;
  const std::unique_ptr<GraphReader> reader_;
  const PartCursor nodes_;  // for what is told of damage
  const PartCursor entries_;
  PartCursor vectors_;
  std::vector<float> vector_;
  std::vector<float> own_point_;
  std::vector<float> point_;
  std::vector<std::byte> expected_;
  std::vector<uint32_t> links_;
  std::vector<bool> reachable_;
  uint32_t reachable_count_ = 0;
};

Status GraphVerifier::MakePoint(uint32_t vector, std::span<float> point) {
  PIGMENT_RETURN_IF_ERROR(ReadVectorFrom(vectors_, root_, vector, vector_));
  head_.space.MakePoint(vector_, point.data());
  return Status::Ok();
}

Status GraphVerifier::ReadLinks(const PartCursor& part, const GraphNode& node, uint32_t number,
                                uint32_t own) {
  links_.clear();
  for (uint32_t i = 0; i < node.links(); ++i) {
    const uint32_t link = node.link(i);
    if (link >= root_.info.vectors || link == own || std::ranges::count(links_, link) != 0) {
      return part.Damaged(Detail::kMiscounted,
                          fmt::format("node {} has link {} to vector {}", number, i, link));
    }
    links_.push_back(link);
  }
  return Status::Ok();
}

Status GraphVerifier::Compare(const PartCursor& part, const GraphNode& node, uint32_t number,
                              std::span<const float> centre) {
  Status failed;
  EncodeGraphNode(
      centre, links_, head_.places,
      [&](uint32_t link) -> std::span<const float> {
        if (failed.ok()) failed = MakePoint(link, point_);
        return point_;
      },
      expected_.data());
  PIGMENT_RETURN_IF_ERROR(failed);
  if (std::ranges::equal(node.bytes(), expected_)) return Status::Ok();
  return part.Damaged(Detail::kMiscounted,
                      fmt::format("node {} is not that of its vectors", number));
}

Status GraphVerifier::MarkReachable(uint32_t from) {
  std::vector<uint32_t> to_look_at;
  const auto mark = [&](uint32_t vector) {
    if (reachable_[vector]) return;
    reachable_[vector] = true;
    ++reachable_count_;
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

Status GraphVerifier::Run() {
  constexpr uint32_t kNobody = 0xFFFFFFFF;
  for (uint32_t vector = 0; vector < root_.info.vectors; ++vector) {
    PIGMENT_ASSIGN_OR_RETURN(const GraphNode node, reader_->Node(vector));
    PIGMENT_RETURN_IF_ERROR(ReadLinks(nodes_, node, vector, vector));
    PIGMENT_RETURN_IF_ERROR(MakePoint(vector, own_point_));
    PIGMENT_RETURN_IF_ERROR(Compare(nodes_, node, vector, own_point_));
  }
  const std::vector<float> origin(head_.space.point_dimension());
  std::vector<uint32_t> entries;
  for (uint32_t number = 0; number < head_.entry_nodes(); ++number) {
    PIGMENT_ASSIGN_OR_RETURN(const GraphNode node, reader_->EntryNode(number));
    PIGMENT_RETURN_IF_ERROR(ReadLinks(entries_, node, number, kNobody));
    PIGMENT_RETURN_IF_ERROR(Compare(entries_, node, number, origin));
    entries.insert(entries.end(), links_.begin(), links_.end());
  }
  if (entries.size() != head_.entries) {
    return entries_.Damaged(Detail::kMiscounted, fmt::format("{} entries, the head says {}",
                                                             entries.size(), head_.entries));
  }
  reachable_.assign(root_.info.vectors, false);
  for (const uint32_t entry : entries) PIGMENT_RETURN_IF_ERROR(MarkReachable(entry));
  if (reachable_count_ == root_.info.vectors) return Status::Ok();
  return nodes_.Damaged(Detail::kMiscounted,
                        fmt::format("{} vectors of {} can be reached from the entries",
                                    reachable_count_, root_.info.vectors));
}

}  // namespace

Status VerifyGraph(const Segment& segment, BlockSource* source, const Root& root) {
  PIGMENT_ASSIGN_OR_RETURN(const GraphHead* const head, segment.Graph());
  if (head == nullptr) return Status::Ok();
  return GraphVerifier(source, root, *head, segment.NewGraphReader(*head)).Run();
}

}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// The steps of a build, one after the other: see the header.

#include "engine/vector/graph_build.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "engine/vector/clusters.h"
#include "engine/vector/graph_node.h"
#include "engine/vector/graph_parts.h"
#include "engine/vector/member_codes.h"
#include "engine/vector/number_lists.h"
#include "engine/vector/rotation.h"
#include "engine/vector/shared_loop.h"

namespace pigment {
namespace {

constexpr float kUnmeasured = -1;  // in place of a squared distance

// Which of its candidates a vector links to. One thread.
class LinkSelector {
 public:
  // `codes` null: all distances are computed.
  LinkSelector(const VectorTable& vectors, const PairCodes* codes, const GraphOptions& options)
      : vectors_(vectors), codes_(codes), options_(options) {}

  // Of `candidates`, ascending; valid until the next call.
  std::span<const Neighbor> Select(std::span<const Neighbor> candidates);
  // Of candidates that come in any order, somebody perhaps twice, with the squared distance that
  // each is known to have.
  void Clear() { candidates_.clear(); }
  void Add(Neighbor candidate) { candidates_.push_back(candidate); }
  void AddUnmeasured(std::span<const uint32_t> candidates) {
    for (const uint32_t candidate : candidates) candidates_.push_back({kUnmeasured, candidate});
  }
  // What `vector` links to of these: all, where there is room. Valid until the next call.
  std::span<const Neighbor> SelectAdded(uint32_t vector);

 private:
  enum class Spared { kNo, kYes, kDuplicate };
  // Whether all that were added have room; then `links_` has them, nobody twice.
  bool HasRoom();
  // Whether a link of the vector that has `candidate` to that is spared because of one to `link`.
  Spared SparedBy(uint32_t link, const Neighbor& candidate) const;

  const VectorTable& vectors_;
  const PairCodes* const codes_;
  const GraphOptions& options_;
  std::vector<Neighbor> candidates_;
  std::vector<Neighbor> links_;
  std::vector<Neighbor> spared_;  // nearest first
};

LinkSelector::Spared LinkSelector::SparedBy(uint32_t link, const Neighbor& candidate) const {
  if (codes_ != nullptr) {
    const PairCodes::Bounds bounds = codes_->Between(candidate.vector, link);
    if (bounds.least * options_.slack > candidate.distance) return Spared::kNo;
    if (bounds.least > 0 && bounds.most * options_.slack <= candidate.distance) return Spared::kYes;
  }
  const float distance = vectors_.Distance(candidate.vector, link);
  if (distance * options_.slack > candidate.distance) return Spared::kNo;
  return distance > 0 ? Spared::kYes : Spared::kDuplicate;
}

std::span<const Neighbor> LinkSelector::Select(std::span<const Neighbor> candidates) {
  links_.clear();
  spared_.clear();
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (links_.size() == options_.degree_max) return links_;
    if (codes_ != nullptr && i + 1 < candidates.size()) codes_->Expect(candidates[i + 1].vector);
    const Neighbor& candidate = candidates[i];
    Spared spared = Spared::kNo;
    for (size_t j = 0; j < links_.size() && spared == Spared::kNo; ++j)
      spared = SparedBy(links_[j].vector, candidate);
    if (spared == Spared::kNo) {
      links_.push_back(candidate);
    } else if (spared == Spared::kYes) {  // of duplicates one is enough
      spared_.push_back(candidate);
    }
  }
  for (size_t i = 0; i < spared_.size() && links_.size() < options_.degree_max; ++i)
    links_.push_back(spared_[i]);
  return links_;
}

bool LinkSelector::HasRoom() {
  links_.clear();
  for (const Neighbor& candidate : candidates_) {
    const auto is_same = [&](const Neighbor& link) { return link.vector == candidate.vector; };
    if (std::ranges::any_of(links_, is_same)) continue;
    if (links_.size() == options_.degree_max) return false;
    links_.push_back(candidate);
  }
  return true;
}

std::span<const Neighbor> LinkSelector::SelectAdded(uint32_t vector) {
  if (HasRoom()) return links_;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (candidates_[i].distance != kUnmeasured) continue;
    if (i + 1 < candidates_.size() && candidates_[i + 1].distance == kUnmeasured)
      vectors_.Expect(candidates_[i + 1].vector);
    candidates_[i].distance = vectors_.Distance(vector, candidates_[i].vector);
  }
  std::sort(candidates_.begin(), candidates_.end());
  candidates_.erase(std::unique(candidates_.begin(), candidates_.end()), candidates_.end());
  return Select(candidates_);
}

// What vectors link to in the graphs of their parts, nobody twice, in scratch.
class PartLinks {
 public:
  static Result<PartLinks> Make(const ScratchSource& source, uint32_t count, uint32_t degree_max) {
    PartLinks links;
    links.stride_ = kPartsOfVector * degree_max;
    links.counts_.resize(count);
    PIGMENT_ASSIGN_OR_RETURN(links.scratch_,
                             source(uint64_t{count} * links.stride_ * sizeof(uint32_t)));
    return links;
  }

  // `graph` is of `members`.
  void Add(std::span<const uint32_t> members, const Graph& graph) {
    for (uint32_t i = 0; i < members.size(); ++i) {
      uint8_t& count = counts_[members[i]];
      uint32_t* const list = list_of(members[i]);
      for (const uint32_t link : graph.links(i)) {
        if (std::find(list, list + count, members[link]) == list + count)
          list[count++] = members[link];
      }
    }
  }
  std::span<const uint32_t> of(uint32_t vector) const { return {list_of(vector), counts_[vector]}; }

 private:
  uint32_t* list_of(uint32_t vector) const {
    return reinterpret_cast<uint32_t*>(scratch_->bytes().data()) + size_t{vector} * stride_;
  }

  size_t stride_ = 0;
  std::vector<uint8_t> counts_;
  std::unique_ptr<Scratch> scratch_;
};
static_assert(kPartsOfVector * kLinksPerNodeMax <= std::numeric_limits<uint8_t>::max());

// Graphs of parts look at half as many candidates: what they miss others have. With as many walks
// find the same, after half as long again.
GraphOptions OptionsOfPart(const GraphOptions& options) {
  GraphOptions of_part = options;
  of_part.part_vectors_max = 0;
  of_part.scratch = nullptr;
  of_part.clusters_searched = std::max(options.clusters_searched / 2, 1u);
  of_part.neighbors.list_max = std::max(options.neighbors.list_max / 2, options.degree_max * 4 / 3);
  of_part.neighbors.known = nullptr;
  of_part.neighbors.budget = nullptr;  // it was taken for the largest
  return of_part;
}

// At most so many, from begin to end.
std::vector<uint32_t> SomeOf(std::vector<uint32_t> numbers, size_t most) {
  if (numbers.size() <= most) return numbers;
  for (size_t i = 0; i < most; ++i) numbers[i] = numbers[i * numbers.size() / most];
  numbers.resize(most);
  return numbers;
}

// What a build by parts takes.
uint64_t BytesInParts(uint32_t dimension, uint32_t count, const GraphOptions& options) {
  const uint64_t part = options.part_vectors_max;
  // Graph, counts and order of all; of a part squares, and links of those that are known.
  const uint64_t links = uint64_t{options.degree_max} + 2;
  const uint64_t each = (links + 1) * sizeof(uint32_t) + 2;
  const uint64_t of_part =
      part * (sizeof(float) + links * sizeof(uint32_t)) +
      GraphBuildBytes(dimension, options.part_vectors_max, OptionsOfPart(options));
  return uint64_t{count} * each + of_part +
         PartsBytes(dimension, count, options.part_vectors_max, options.neighbors.threads);
}

class GraphBuilder {
 public:
  GraphBuilder(const VectorTable& vectors, const GraphOptions& options)
      : vectors_(vectors),
        options_(options),
        budget_(options.neighbors.budget),
        reservation_(budget_),
        codes_(budget_),
        graph_(budget_) {}

  Result<Graph> Run();

 private:
  Status Pause() const {
    return options_.neighbors.pause ? options_.neighbors.pause() : Status::Ok();
  }
  // Calls visit(selector, vector) for all, in their order, by several threads.
  template <typename Visit>
  Status ForEachVector(const Visit& visit) const;
  // But for the memory, which of parts is taken before.
  ClusterOptions OptionsOfClusters() const {
    ClusterOptions clusters;
    clusters.seed = options_.seed;
    clusters.threads = options_.neighbors.threads;
    clusters.pause = options_.neighbors.pause;
    return clusters;
  }
  bool is_in_parts() const {
    return options_.part_vectors_max != 0 && vectors_.count() > options_.part_vectors_max;
  }
  // Lists of all new vectors; makes codes, order and entries besides.
  Result<NeighborLists> FindLists();
  // Gives the distances of the links, in their places.
  Result<std::vector<float>> LinkToNeighbors();
  // The same by graphs of parts, without distances.
  Status LinkByParts();
  // Of the vectors of a part, which `table` becomes; those that are known start from their links
  // within it.
  Result<Graph> BuildPart(std::span<const uint32_t> members, GraphOptions options,
                          VectorTable& table) const;
  // Adds the opposite of each link of a new vector, and selects again where that is more than there
  // is room for. `distances` are those of LinkToNeighbors.
  Status MakeMutual(const std::vector<float>& distances);
  // In place of those that it has.
  void SetLinks(uint32_t vector, std::span<const Neighbor> links);
  // Links to every vector that cannot be reached from the entries.
  Status Connect();
  void MarkReachable(uint32_t from);
  // The vectors near to `vector` that a walk over exact distances visits, nearest first.
  std::vector<Neighbor> Walk(uint32_t vector);

  const VectorTable& vectors_;
  const GraphOptions& options_;
  MemoryBudget* const budget_;
  Reservation reservation_;
  PairCodes codes_;
  Graph graph_;
  std::vector<bool> reachable_;
  std::vector<uint32_t> to_mark_;
};

template <typename Visit>
Status GraphBuilder::ForEachVector(const Visit& visit) const {
  const PairCodes* const codes = is_in_parts() ? nullptr : &codes_;
  return ShareVectors(options_.neighbors.threads, graph_.order(), options_.neighbors.pause, [&] {
    return [&visit, selector = std::make_shared<LinkSelector>(vectors_, codes, options_)](
               uint32_t vector) { visit(*selector, vector); };
  });
}

Result<NeighborLists> GraphBuilder::FindLists() {
  ClusterOptions clusters = OptionsOfClusters();
  clusters.budget = budget_;
  PIGMENT_ASSIGN_OR_RETURN(const Clustering clustering,
                           Clustering::Make(vectors_, options_.vectors_per_cluster,
                                            options_.clusters_searched, clusters));
  PIGMENT_RETURN_IF_ERROR(codes_.Make(vectors_, options_.neighbors.pause));
  PIGMENT_ASSIGN_OR_RETURN(NeighborLists lists,
                           FindNeighbors(vectors_, clustering, codes_, options_.neighbors));
  graph_.SetOrder(clustering.Members(0, 1).numbers);
  // In the order of the clusters, so that some of them lie all over the space.
  graph_.SetEntries(SomeOf(clustering.Middles(), options_.entries_max));
  return lists;
}

Result<std::vector<float>> GraphBuilder::LinkToNeighbors() {
  PIGMENT_ASSIGN_OR_RETURN(const NeighborLists lists, FindLists());
  PIGMENT_RETURN_IF_ERROR(graph_.Reserve(vectors_.count(), options_.degree_max));
  const uint64_t places = uint64_t{vectors_.count()} * options_.degree_max;
  PIGMENT_RETURN_IF_ERROR(reservation_.Grow(places * sizeof(float)));
  std::vector<float> distances(places);
  PIGMENT_RETURN_IF_ERROR(ForEachVector([&](LinkSelector& selector, uint32_t i) {
    std::span<const Neighbor> links;
    if (options_.neighbors.is_new(i)) {
      links = selector.Select(lists.of(i));
    } else {
      selector.Clear();
      selector.AddUnmeasured(options_.neighbors.known->of(i));
      links = selector.SelectAdded(i);
    }
    SetLinks(i, links);
    size_t place = size_t{i} * options_.degree_max;
    for (const Neighbor& link : links) distances[place++] = link.distance;
  }));
  return distances;
}

Result<Graph> GraphBuilder::BuildPart(std::span<const uint32_t> members, GraphOptions options,
                                      VectorTable& table) const {
  table.Clear();
  NumberLists known;
  std::vector<uint32_t> links;
  for (const uint32_t vector : members) {
    PIGMENT_RETURN_IF_ERROR(Pause());
    table.Add(vectors_.vector(vector));
    if (options_.neighbors.known == nullptr) continue;
    links.clear();
    for (const uint32_t link : options_.neighbors.known->of(vector)) {
      const auto place = std::ranges::lower_bound(members, link);
      if (place != members.end() && *place == link)
        links.push_back(static_cast<uint32_t>(place - members.begin()));
    }
    known.Add(links);
  }
  if (options_.neighbors.known != nullptr) options.neighbors.known = &known;
  return BuildGraph(table, options);
}

Status GraphBuilder::LinkByParts() {
  const uint64_t graph_bytes =
      uint64_t{vectors_.count()} * (options_.degree_max + 2) * sizeof(uint32_t);
  PIGMENT_RETURN_IF_ERROR(reservation_.Grow(
      BytesInParts(vectors_.dimension(), vectors_.count(), options_) - graph_bytes));
  PIGMENT_ASSIGN_OR_RETURN(const NumberLists parts,
                           MakeParts(vectors_, options_.part_vectors_max, OptionsOfClusters()));
  PIGMENT_ASSIGN_OR_RETURN(
      PartLinks links, PartLinks::Make(options_.scratch, vectors_.count(), options_.degree_max));
  // Together, and in scratch as well: parts are the larger for it.
  VectorTable table(vectors_.dimension(), nullptr);
  PIGMENT_RETURN_IF_ERROR(table.MoveToScratch(options_.scratch, options_.part_vectors_max));
  const GraphOptions options_of_part = OptionsOfPart(options_);
  const uint32_t entries_max = options_.entries_max / parts.count() + 1;
  std::vector<uint32_t> entries;
  for (uint32_t part = 0; part < parts.count(); ++part) {
    if (parts.of(part).empty()) continue;
    PIGMENT_RETURN_IF_ERROR(Pause());
    PIGMENT_ASSIGN_OR_RETURN(const Graph graph, BuildPart(parts.of(part), options_of_part, table));
    links.Add(parts.of(part), graph);
    for (const uint32_t entry :
         std::span(graph.entries()).first(std::min<size_t>(graph.entries().size(), entries_max)))
      entries.push_back(parts.of(part)[entry]);
  }
  // Of a part one vector after the other, with what is near to it.
  std::vector<uint32_t> order;
  order.reserve(vectors_.count());
  std::vector<bool> has_place(vectors_.count());
  for (const uint32_t vector : parts.numbers) {
    if (has_place[vector]) continue;
    has_place[vector] = true;
    order.push_back(vector);
  }
  graph_.SetOrder(std::move(order));
  PIGMENT_RETURN_IF_ERROR(graph_.Reserve(vectors_.count(), options_.degree_max));
  const NumberLists* const known = options_.neighbors.known;
  PIGMENT_RETURN_IF_ERROR(ForEachVector([&](LinkSelector& selector, uint32_t i) {
    selector.Clear();
    if (known != nullptr) selector.AddUnmeasured(known->of(i));
    selector.AddUnmeasured(links.of(i));
    SetLinks(i, selector.SelectAdded(i));
  }));
  std::sort(entries.begin(), entries.end());  // a vector may be one of several parts
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  graph_.SetEntries(SomeOf(std::move(entries), options_.entries_max));
  return Status::Ok();
}

void GraphBuilder::SetLinks(uint32_t vector, std::span<const Neighbor> links) {
  graph_.ClearLinks(vector);
  for (const Neighbor& link : links) graph_.AddLink(vector, link.vector);
}

Status GraphBuilder::MakeMutual(const std::vector<float>& distances) {
  const uint32_t count = vectors_.count();
  const uint32_t degree_max = options_.degree_max;
  PIGMENT_RETURN_IF_ERROR(reservation_.Grow((graph_.link_count() + count + 1) * sizeof(uint32_t)));
  // For each vector the places of the links to it: what they lead from, and how far it is.
  const NumberLists to = Invert(count, count * degree_max, [&](uint32_t place) {
    const uint32_t from = place / degree_max;
    const std::span<const uint32_t> links = graph_.links(from);
    const bool is_there = place % degree_max < links.size() && options_.neighbors.is_new(from);
    return is_there ? links.subspan(place % degree_max, 1) : links.first(0);
  });
  return ForEachVector([&](LinkSelector& selector, uint32_t i) {
    selector.Clear();
    size_t place = size_t{i} * degree_max;
    for (const uint32_t link : graph_.links(i)) selector.Add({distances[place++], link});
    for (const uint32_t other : to.of(i)) selector.Add({distances[other], other / degree_max});
    SetLinks(i, selector.SelectAdded(i));
  });
}

void GraphBuilder::MarkReachable(uint32_t from) {
  if (reachable_[from]) return;
  reachable_[from] = true;
  to_mark_.push_back(from);
  while (!to_mark_.empty()) {
    const uint32_t vector = to_mark_.back();
    to_mark_.pop_back();
    for (const uint32_t link : graph_.links(vector)) {
      if (reachable_[link]) continue;
      reachable_[link] = true;
      to_mark_.push_back(link);
    }
  }
}

std::vector<Neighbor> GraphBuilder::Walk(uint32_t vector) {
  constexpr size_t kWidth = 64;
  std::vector<Neighbor> visited;
  std::vector<uint32_t> seen;  // few: a search through them costs less than a mark for every vector
  std::priority_queue<Neighbor, std::vector<Neighbor>,
                      decltype([](const auto& a, const auto& b) { return b < a; })>
      open;
  const auto look_at = [&](uint32_t other) {
    const auto place = std::ranges::lower_bound(seen, other);
    if (place != seen.end() && *place == other) return;
    seen.insert(place, other);
    open.push({vectors_.Distance(vector, other), other});
  };
  std::ranges::for_each(graph_.entries(), look_at);
  while (!open.empty() && visited.size() < kWidth) {
    visited.push_back(open.top());
    open.pop();
    std::ranges::for_each(graph_.links(visited.back().vector), look_at);
  }
  std::sort(visited.begin(), visited.end());
  return visited;
}

Status GraphBuilder::Connect() {
  reachable_.assign(vectors_.count(), false);
  std::vector<uint32_t> entries = graph_.entries();
  for (const uint32_t entry : entries) MarkReachable(entry);
  // What no entry reaches is far from all: it becomes one. Where these are very many (duplicates) a
  // link has to do.
  const size_t entries_max = 2 * entries.size();
  for (uint32_t i = 0; i < vectors_.count(); ++i) {
    if (reachable_[i]) continue;
    PIGMENT_RETURN_IF_ERROR(Pause());
    const std::vector<Neighbor> near = Walk(i);
    const bool is_linked = std::ranges::any_of(
        near, [&](const Neighbor& visited) { return graph_.AddLink(visited.vector, i); });
    if (!is_linked || entries.size() < entries_max) entries.push_back(i);
    MarkReachable(i);
  }
  graph_.SetEntries(std::move(entries));
  return Status::Ok();
}

Result<Graph> GraphBuilder::Run() {
  if (is_in_parts()) {
    PIGMENT_RETURN_IF_ERROR(LinkByParts());
  } else {
    PIGMENT_ASSIGN_OR_RETURN(const std::vector<float> distances, LinkToNeighbors());
    PIGMENT_RETURN_IF_ERROR(MakeMutual(distances));
  }
  PIGMENT_RETURN_IF_ERROR(Connect());
  return std::move(graph_);
}

}  // namespace

uint32_t GraphDegree(uint32_t dimension) {
  constexpr uint32_t kWide = 24, kNarrow = 16;
  const double vector_bytes = double{sizeof(float)} * dimension;
  const size_t wide_bytes = GraphNodeBytes(Rotation::RotatedDimension(dimension), kWide);
  return static_cast<double>(wide_bytes) <= 0.9 * vector_bytes ? kWide : kNarrow;
}

uint64_t GraphBuildBytes(uint32_t dimension, uint32_t count, const GraphOptions& options) {
  if (options.part_vectors_max != 0 && count > options.part_vectors_max)
    return BytesInParts(dimension, count, options);
  const NeighborOptions& neighbors = options.neighbors;
  const uint32_t threads = neighbors.threads;
  const uint64_t near = options.clusters_searched;
  // Numbers of each vector while its neighbours are found, then while links are made mutual.
  const uint64_t searching = near + neighbors.clusters_joined + 2;
  const uint64_t descending = 2 * uint64_t{neighbors.descent} + 3 + threads;
  const uint64_t links = uint64_t{options.degree_max} + 2;
  const uint64_t finding =
      std::max({near + 1 + 2 + searching, near + 1 + 2 + descending, 2 * links});
  const uint64_t each =
      PairCodes::Bytes(dimension) +
      std::max({2 * near * sizeof(uint32_t),
                finding * sizeof(uint32_t) + neighbors.list_max * sizeof(Neighbor),
                (3 * links + 1) * sizeof(uint32_t)});
  const uint64_t clusters = count / options.vectors_per_cluster + 1;
  constexpr uint64_t kCentroidCopies = 2;
  // Codes of all centroids, then of a cluster's members.
  const uint64_t coded = std::max<uint64_t>(clusters, kClusterMembersMax);
  const uint64_t of_thread =
      MemberCodes::Bytes(dimension, coded) +
      (clusters + kClusterMembersMax * neighbors.clusters_joined) * sizeof(uint32_t);
  return each * count + clusters * kCentroidCopies * dimension * sizeof(float) +
         threads * of_thread;
}

Result<Graph> BuildGraph(const VectorTable& vectors, const GraphOptions& options) {
  return GraphBuilder(vectors, options).Run();
}

}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// Both steps: see the header.

#include "engine/vector/neighbors.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>

#include "engine/vector/member_codes.h"
#include "engine/vector/near_places.h"
#include "engine/vector/number_lists.h"
#include "engine/vector/seeded_random.h"
#include "engine/vector/shared_loop.h"

namespace pigment {

namespace {

constexpr size_t kAhead = 2;  // vectors that are asked for before they are compared
constexpr size_t kCodesAhead = 6;
constexpr uint32_t kNoCluster = std::numeric_limits<uint32_t>::max();

}  // namespace

Status NeighborLists::Reserve(uint32_t count, uint32_t list_max) {
  const uint64_t places = uint64_t{count} * list_max;
  PIGMENT_RETURN_IF_ERROR(
      reservation_.Grow(places * sizeof(Neighbor) + uint64_t{count} * 2 * sizeof(uint32_t)));
  list_max_ = list_max;
  neighbors_.resize(places);
  counts_.resize(count);
  limits_.resize(count, std::numeric_limits<float>::infinity());
  return Status::Ok();
}

void NeighborLists::Merge(uint32_t vector, std::span<const Neighbor> found,
                          std::vector<Neighbor>& behind) {
  if (found.empty()) return;
  // What is nearer than all that was found stays where it is.
  Neighbor* const list = neighbors_.data() + size_t{vector} * list_max_;
  Neighbor* to = std::lower_bound(list, list + counts_[vector], found.front());
  behind.assign(to, list + counts_[vector]);
  Neighbor* const end = list + list_max_;
  size_t i = 0;
  size_t j = 0;
  while (to != end && (i < behind.size() || j < found.size())) {
    const bool takes_kept = j == found.size() || (i < behind.size() && !(found[j] < behind[i]));
    const Neighbor& next = takes_kept ? behind[i++] : found[j++];
    // One vector has one distance, so what is there twice comes twice in a row.
    if (to == list || to[-1].vector != next.vector) *to++ = next;
  }
  counts_[vector] = static_cast<uint32_t>(to - list);
  if (to == end) limits_[vector] = to[-1].distance;
}

void NeighborLists::Measure(uint32_t vector, const VectorTable& vectors) {
  const std::span<Neighbor> list =
      std::span(neighbors_).subspan(size_t{vector} * list_max_, counts_[vector]);
  for (size_t i = 0; i < list.size(); ++i) {
    if (i + kAhead < list.size()) vectors.Expect(list[i + kAhead].vector);
    list[i].distance = vectors.Distance(vector, list[i].vector);
  }
  std::sort(list.begin(), list.end());
  if (list.size() == list_max_) limits_[vector] = list.back().distance;
}

namespace {

// For each vector its first `taken` neighbours, by its list or as they are known, and up to as many
// vectors of whose first it is.
NumberLists NearInBothDirections(const NeighborLists& lists, const NumberLists* known,
                                 uint32_t count, uint32_t taken) {
  const auto for_each_first = [&](uint32_t i, const auto& visit) {
    const std::span<const Neighbor> list = lists.of(i);
    for (const Neighbor& neighbor : list.first(std::min<size_t>(taken, list.size())))
      visit(neighbor.vector);
    if (known == nullptr) return;
    const std::span<const uint32_t> links = known->of(i);
    for (const uint32_t link : links.first(std::min<size_t>(taken, links.size()))) visit(link);
  };
  std::vector<uint32_t> places(count);  // first those of others that point here, bounded
  for (uint32_t i = 0; i < count; ++i)
    for_each_first(i, [&](uint32_t near) { places[near] = std::min(places[near] + 1, taken); });
  for (uint32_t i = 0; i < count; ++i) for_each_first(i, [&](uint32_t) { ++places[i]; });
  NumberLists near;
  near.begins.resize(size_t{count} + 1);
  std::partial_sum(places.begin(), places.end(), near.begins.begin() + 1);
  near.numbers.resize(near.begins.back());
  std::vector<uint32_t> next(near.begins.begin(), near.begins.end() - 1);
  const auto add = [&](uint32_t to, uint32_t vector) {
    if (next[to] < near.begins[to + 1]) near.numbers[next[to]++] = vector;
  };
  for (uint32_t i = 0; i < count; ++i) for_each_first(i, [&](uint32_t near) { add(i, near); });
  for (uint32_t i = 0; i < count; ++i) for_each_first(i, [&](uint32_t near) { add(near, i); });
  return near;
}

// What all threads share.
class Finder {
 public:
  Finder(const VectorTable& vectors, const Clustering& clustering, const PairCodes& codes,
         const NeighborOptions& options)
      : vectors_(vectors),
        clustering_(clustering),
        codes_(codes),
        options_(options),
        reservation_(options.budget),
        lists_(options.budget) {}

  Result<NeighborLists> Run() {
    PIGMENT_RETURN_IF_ERROR(lists_.Reserve(vectors_.count(), options_.list_max));
    PIGMENT_RETURN_IF_ERROR(SearchClusters());
    PIGMENT_RETURN_IF_ERROR(reservation_.Grow(vectors_.count() * sizeof(uint32_t)));
    order_ = clustering_.Members(0, 1).numbers;
    std::erase_if(order_, [this](uint32_t vector) { return !options_.is_new(vector); });
    PIGMENT_RETURN_IF_ERROR(Measure());
    if (options_.descent > 0) PIGMENT_RETURN_IF_ERROR(Descend());
    return std::move(lists_);
  }

 private:
  // What each has for itself.
  class ClusterWorker;
  class DescentWorker;

  // How many clusters each vector is a member of, the nearest of those that it searches.
  uint32_t clusters_joined() const {
    return std::min(clustering_.near(), options_.clusters_joined);
  }
  Status SearchClusters();
  Status SearchClusters(const NumberLists& searching, const NumberLists& members);
  // Estimates become distances.
  Status Measure();
  Status Descend();

  const VectorTable& vectors_;
  const Clustering& clustering_;
  const PairCodes& codes_;
  const NeighborOptions& options_;
  Reservation reservation_;
  std::vector<uint32_t> order_;  // of new vectors, those of a cluster one after the other
  NeighborLists lists_;
  // A vector searches several clusters, each by any thread: its list is locked meanwhile. In which
  // order its clusters come makes no difference to what it has in the end.
  std::array<std::mutex, 1024> list_mutexes_;
};

// A cluster that is too large is compared in parts: members with searching vectors of theirs.
uint32_t PartsOf(std::span<const uint32_t> members) {
  return static_cast<uint32_t>((members.size() + kClusterMembersMax - 1) / kClusterMembersMax);
}
uint32_t PartOf(uint32_t vector, uint32_t cluster, uint32_t parts) {
  return parts == 1 ? 0 : SeededRandom(uint64_t{cluster} << 32 | vector).Below(parts);
}

class Finder::ClusterWorker {
 public:
  // `members` are those of all clusters.
  ClusterWorker(Finder& finder, const NumberLists& members)
      : finder_(finder),
        members_(members),
        codes_(finder.vectors_.dimension(), finder.options_.budget),
        searched_by_(finder.clustering_.clusters()),
        joined_before_max_(finder.clusters_joined() - 1) {}

  // Compares vectors that search a cluster with its members.
  Status Compare(uint32_t cluster, std::span<const uint32_t> searching, const BuildPause& pause);

 private:
  Status ComparePart(uint32_t cluster, std::span<const uint32_t> searching,
                     std::span<const uint32_t> members, const BuildPause& pause);
  void Visit(uint32_t vector, std::span<const uint32_t> members, std::span<const float> distances);
  // Notes which clusters the members of `cluster` joined before it.
  void FindJoinedBefore(uint32_t cluster, std::span<const uint32_t> members);
  // Whether `vector`, which visits a cluster, is compared with its member `other` there, the
  // `place`-th of the part: they meet once, in the first of the clusters of `other` that has both
  // in one part.
  bool MeetsHere(uint32_t vector, uint32_t other, size_t place) const;

  Finder& finder_;
  const NumberLists& members_;
  MemberCodes codes_;
  NearPlaces near_;
  std::vector<Neighbor> found_;
  std::vector<Neighbor> behind_;
  uint32_t visits_ = 0;
  std::vector<uint32_t> searched_by_;  // the last visit whose vector searches each cluster
  // For each member of the part, side by side because what is found asks for them at random.
  std::vector<uint32_t> joined_before_;
  const size_t joined_before_max_;  // places of each
  std::vector<uint32_t> searching_of_part_;
  std::vector<uint32_t> members_of_part_;
};

Status Finder::ClusterWorker::Compare(uint32_t cluster, std::span<const uint32_t> searching,
                                      const BuildPause& pause) {
  const std::span<const uint32_t> members = members_.of(cluster);
  const uint32_t parts = PartsOf(members);
  if (parts == 1) return ComparePart(cluster, searching, members, pause);
  for (uint32_t part = 0; part < parts; ++part) {
    const auto is_of_part = [&](uint32_t vector) { return PartOf(vector, cluster, parts) == part; };
    searching_of_part_.clear();
    std::ranges::copy_if(searching, std::back_inserter(searching_of_part_), is_of_part);
    members_of_part_.clear();
    std::ranges::copy_if(members, std::back_inserter(members_of_part_), is_of_part);
    PIGMENT_RETURN_IF_ERROR(ComparePart(cluster, searching_of_part_, members_of_part_, pause));
  }
  return Status::Ok();
}

Status Finder::ClusterWorker::ComparePart(uint32_t cluster, std::span<const uint32_t> searching,
                                          std::span<const uint32_t> members,
                                          const BuildPause& pause) {
  constexpr size_t kPass = MemberCodes::kRowsPerPass;
  if (searching.empty()) return Status::Ok();
  PIGMENT_RETURN_IF_ERROR(codes_.Pack(finder_.vectors_, members));
  FindJoinedBefore(cluster, members);
  for (size_t begin = 0; begin < searching.size(); begin += kPass) {
    if (pause) PIGMENT_RETURN_IF_ERROR(pause());
    const auto rows = searching.subspan(begin, std::min(kPass, searching.size() - begin));
    for (const uint32_t next :
         searching.subspan(begin + rows.size())
             .first(std::min(kPass, searching.size() - begin - rows.size()))) {
      finder_.vectors_.Expect(next);
      finder_.clustering_.Expect(next);
    }
    for (const uint32_t row : rows) finder_.lists_.ExpectLimit(row);
    codes_.Estimate(finder_.vectors_, rows);
    for (size_t i = 0; i < rows.size(); ++i) Visit(rows[i], members, codes_.distances(i));
  }
  return Status::Ok();
}

void Finder::ClusterWorker::Visit(uint32_t vector, std::span<const uint32_t> members,
                                  std::span<const float> distances) {
  const size_t list_max = finder_.options_.list_max;
  const std::lock_guard lock(finder_.list_mutexes_[vector % finder_.list_mutexes_.size()]);
  near_.Find(distances, finder_.lists_.Limit(vector));
  if (near_.count() == 0) return;
  ++visits_;
  for (const uint32_t searched : finder_.clustering_.of(vector)) searched_by_[searched] = visits_;
  found_.clear();
  for (size_t i = 0; i < near_.count(); ++i) {
    const uint32_t other = members[near_.place(i)];
    if (other != vector && MeetsHere(vector, other, near_.place(i)))
      found_.push_back({near_.distance(i), other});
  }
  if (found_.size() > list_max) {
    const auto end = found_.begin() + static_cast<ptrdiff_t>(list_max);
    std::nth_element(found_.begin(), end, found_.end());
    found_.erase(end, found_.end());
  }
  std::sort(found_.begin(), found_.end());
  finder_.lists_.Merge(vector, found_, behind_);
}

void Finder::ClusterWorker::FindJoinedBefore(uint32_t cluster, std::span<const uint32_t> members) {
  joined_before_.assign(members.size() * joined_before_max_, kNoCluster);
  for (size_t i = 0; i < members.size(); ++i) {
    uint32_t* to = joined_before_.data() + i * joined_before_max_;
    for (const uint32_t joined : finder_.clustering_.of(members[i])) {
      if (joined == cluster) break;
      *to++ = joined;
    }
  }
}

bool Finder::ClusterWorker::MeetsHere(uint32_t vector, uint32_t other, size_t place) const {
  const size_t begin = place * joined_before_max_;
  for (size_t i = begin; i < begin + joined_before_max_; ++i) {
    const uint32_t joined = joined_before_[i];
    if (joined == kNoCluster) break;
    if (searched_by_[joined] != visits_) continue;
    const uint32_t parts = PartsOf(members_.of(joined));
    if (PartOf(vector, joined, parts) == PartOf(other, joined, parts)) return false;
  }
  return true;
}

Status Finder::SearchClusters() {
  const uint32_t near = clustering_.near();
  const uint32_t joined = clusters_joined();
  Reservation reservation(options_.budget);
  const uint64_t of_thread = clustering_.clusters() + kClusterMembersMax * joined;
  PIGMENT_RETURN_IF_ERROR(reservation.Grow(
      (uint64_t{vectors_.count()} * (near + joined) + uint64_t{options_.threads} * of_thread) *
      sizeof(uint32_t)));
  const NumberLists members = clustering_.Members(0, joined);
  // A list that has what is in the nearest clusters has no place for most of what is in others.
  uint32_t begin = 0;
  for (const uint32_t end : {1u, std::min(4u, near), near}) {
    if (begin == end) continue;
    PIGMENT_RETURN_IF_ERROR(SearchClusters(
        clustering_.Members(begin, end, [this](uint32_t i) { return options_.is_new(i); }),
        members));
    begin = end;
  }
  return Status::Ok();
}

Status Finder::SearchClusters(const NumberLists& searching, const NumberLists& members) {
  return ShareLoop(options_.threads, clustering_.clusters(), 1, options_.pause, [&]() -> LoopBody {
    auto worker = std::make_shared<ClusterWorker>(*this, members);
    return [&, worker](uint32_t cluster, uint32_t, const BuildPause& pause) -> Status {
      return worker->Compare(cluster, searching.of(cluster), pause);
    };
  });
}

Status Finder::Measure() {
  return ShareVectors(options_.threads, order_, options_.pause, [this] {
    return [this](uint32_t vector) { lists_.Measure(vector, vectors_); };
  });
}

class Finder::DescentWorker {
 public:
  DescentWorker(Finder& finder, const NumberLists& near)
      : finder_(finder), near_(near), seen_by_(finder.vectors_.count()) {}

  // The list of `vector`, bettered by the neighbours of its neighbours.
  void Better(uint32_t vector);

 private:
  Finder& finder_;
  const NumberLists& near_;
  std::vector<Neighbor> found_;
  std::vector<Neighbor> behind_;
  std::vector<uint32_t> others_;
  std::vector<uint32_t> seen_by_;  // the last vector, plus one, that was compared with each
};

void Finder::DescentWorker::Better(uint32_t vector) {
  const VectorTable& vectors = finder_.vectors_;
  const uint32_t mark = vector + 1;
  seen_by_[vector] = mark;
  for (const Neighbor& neighbor : finder_.lists_.of(vector)) seen_by_[neighbor.vector] = mark;
  others_.clear();
  const auto look_at = [&](uint32_t other) {
    if (std::exchange(seen_by_[other], mark) != mark) others_.push_back(other);
  };
  for (const uint32_t neighbor : near_.of(vector)) {
    look_at(neighbor);
    for (const uint32_t other : near_.of(neighbor)) look_at(other);
  }
  const float limit = finder_.lists_.Limit(vector);
  found_.clear();
  for (size_t i = 0; i < others_.size(); ++i) {
    if (i + kCodesAhead < others_.size()) finder_.codes_.Expect(others_[i + kCodesAhead]);
    const uint32_t other = others_[i];
    if (finder_.codes_.Between(vector, other).least >= limit) continue;
    const float distance = vectors.Distance(vector, other);
    if (distance < limit) found_.push_back({distance, other});
  }
  std::sort(found_.begin(), found_.end());
  finder_.lists_.Merge(vector, found_, behind_);
}

Status Finder::Descend() {
  const uint32_t count = vectors_.count();
  const uint32_t taken = std::min(options_.descent, options_.list_max);
  Reservation reservation(options_.budget);
  PIGMENT_RETURN_IF_ERROR(reservation.Grow(
      uint64_t{count} * (2 * uint64_t{taken} + 2 + options_.threads) * sizeof(uint32_t)));
  const NumberLists near = NearInBothDirections(lists_, options_.known, count, taken);
  return ShareVectors(options_.threads, order_, options_.pause, [&] {
    return [worker = std::make_shared<DescentWorker>(*this, near)](uint32_t vector) {
      worker->Better(vector);
    };
  });
}

}  // namespace

Result<NeighborLists> FindNeighbors(const VectorTable& vectors, const Clustering& clustering,
                                    const PairCodes& codes, const NeighborOptions& options) {
  return Finder(vectors, clustering, codes, options).Run();
}

}  // namespace pigment

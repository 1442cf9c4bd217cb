// SPDX-License-Identifier: Apache-2.0
//
// The probe: see the header.

#include "engine/vector/cluster_probe.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace pigment {
namespace {

// Clusters between two comparisons: few at first, because what they find is the limit of all
// others; more later, where a comparison each would sort a few vectors at a time.
constexpr size_t kBatchMin = 4;
constexpr size_t kBatchMax = 16;
// Centroids, for a search and for the nearest alone.
constexpr size_t kComparedAtOnce = 48;
constexpr size_t kComparedForNearest = 8;

float SquareOf(uint64_t promise) { return DistanceOfKey(static_cast<uint32_t>(promise >> 32)); }

}  // namespace

Status ClusterProbe::NoteClusters(ClusterSource& source, const SignCodeQuery& query, float errors) {
  const uint32_t count = source.clusters();
  waiting_.clear();
  float bounds[kLinksPerNodeMax];
  for (uint32_t number = 0; number < source.entry_nodes(); ++number) {
    PIGMENT_ASSIGN_OR_RETURN(const GraphNode node, source.EntryNode(number));
    (void)node.LinksWithin(query, source.centre_square(), errors, limit_, bounds);
    for (uint32_t i = 0; i < node.links(); ++i) {
      const uint32_t cluster = node.link(i);
      if (cluster >= count) return LinkBeyondTheEnd(cluster, count);
      waiting_.push_back(PromiseOf(bounds[i], cluster));
    }
  }
  links_estimated_ += waiting_.size();
  if (source.entry_nodes() != 0) return Status::Ok();
  constexpr float kNearest = -std::numeric_limits<float>::infinity();
  for (uint32_t cluster = 0; cluster < count; ++cluster)
    waiting_.push_back(PromiseOf(kNearest, cluster));
  return Status::Ok();
}

// By a sample's number of that rank, and moves that nobody need foresee: to find the count-th of
// some hundred exactly took a seventh of a probe.
size_t ClusterProbe::BringForward(size_t count) {
  constexpr size_t kSampled = 64;
  const size_t waiting = waiting_.size() - taken_;
  if (waiting <= count) return waiting_.size();
  uint64_t* const begin = waiting_.data() + taken_;
  const size_t step = std::max<size_t>(waiting / kSampled, 1);
  std::array<uint64_t, 2 * kSampled> sample;
  size_t sampled = 0;
  for (size_t i = 0; i < waiting; i += step) sample[sampled++] = begin[i];
  const auto ranked = sample.begin() + static_cast<ptrdiff_t>(sampled * count / waiting);
  std::nth_element(sample.begin(), ranked, sample.begin() + static_cast<ptrdiff_t>(sampled));
  const uint64_t last = *ranked;
  size_t forward = 0;
  for (size_t i = 0; i < waiting; ++i) {
    const uint64_t promise = begin[i];
    begin[i] = begin[forward];
    begin[forward] = promise;
    forward += promise <= last ? 1 : 0;
  }
  return taken_ + forward;
}

Status ClusterProbe::CompareCentroids(ClusterSource& source) {
  constexpr size_t kAhead = 4;
  const size_t end = BringForward(std::max(compared_at_once_, taken_));
  bound_ = ~uint64_t{0};
  for (size_t i = end; i < waiting_.size(); ++i) bound_ = std::min(bound_, waiting_[i]);
  for (; taken_ < end; ++taken_) {
    if (taken_ + kAhead < end)
      source.ExpectCentroid(static_cast<uint32_t>(waiting_[taken_ + kAhead]));
    const auto number = static_cast<uint32_t>(waiting_[taken_]);
    PIGMENT_ASSIGN_OR_RETURN(const float square, source.CentroidSquare(number));
    known_.Push(PromiseOf(square, number));
  }
  return Status::Ok();
}

float ClusterProbe::Farthest(const ClusterProbeOptions& options, float wanted_square) const {
  const float reach =
      MaskedReach::Shortened(options.reach, options.masked, options.k, links_met_, links_allowed_);
  const float farthest = limit_ * reach;
  // Squares add up: that of a centroid is that of its vector and what lies between the two. The
  // reach is an average, though, and owes the nearest more than the k-th: of what adding gives a
  // half, for the nearest alone a quarter.
  const float part = 0.5f - 0.25f / static_cast<float>(options.wanted_rank);
  const float of_wanted = farthest - part * (limit_ - wanted_square);
  return of_wanted < farthest ? of_wanted : farthest;
}

Result<bool> ClusterProbe::Next(ClusterSource& source, float farthest, uint32_t* cluster) {
  // Whatever is still waiting may be nearer than the nearest that is known, unless its bound says
  // no.
  while (taken_ < waiting_.size() && (known_.empty() || bound_ >> 32 <= known_.least() >> 32)) {
    if (known_.empty() && SquareOf(bound_) > farthest) return false;
    PIGMENT_RETURN_IF_ERROR(CompareCentroids(source));
  }
  if (known_.empty()) return false;
  square_ = SquareOf(known_.least());
  if (square_ > farthest) return false;
  *cluster = static_cast<uint32_t>(known_.Pop());
  if (!known_.empty()) source.ExpectCluster(static_cast<uint32_t>(known_.least()));
  return true;
}

Status ClusterProbe::Gather(ClusterSource& source, uint32_t cluster, const SignCodeQuery& query,
                            uint32_t vectors, const ClusterProbeOptions& options) {
  PIGMENT_ASSIGN_OR_RETURN(const uint32_t nodes, source.Go(cluster));
  const uint32_t first = source.first_vector();
  float bounds[kLinksPerNodeMax];
  // Of some of a node's links those that are allowed.
  const auto allowed_of = [&](const GraphNode& node, uint32_t links) -> Result<uint32_t> {
    uint32_t allowed = 0;
    for (; links != 0; links &= links - 1) {
      const auto i = static_cast<uint32_t>(std::countr_zero(links));
      const uint32_t link = first + node.link(i);
      if (link >= vectors) return LinkBeyondTheEnd(link, vectors);
      allowed |= static_cast<uint32_t>(IsAllowed(options.allowed, link)) << i;
    }
    return allowed;
  };
  const bool is_masked = !options.allowed.empty();
  for (uint32_t n = 0; n < nodes; ++n) {
    PIGMENT_ASSIGN_OR_RETURN(const GraphNode node, source.Node(n));
    if (n + 1 < nodes) node.ExpectNext();
    uint32_t allowed = node.all_links();
    if (is_masked && !options.allows_most) {
      PIGMENT_ASSIGN_OR_RETURN(allowed, allowed_of(node, allowed));
      if (allowed == 0) continue;
    }
    const uint32_t met = node.LinksWithin(query, square_, options.errors, limit_, bounds);
    links_estimated_ += node.links();
    uint32_t near = met & allowed;
    if (is_masked && options.allows_most) {
      PIGMENT_ASSIGN_OR_RETURN(near, allowed_of(node, near));
    }
    // Of those that may be among the nearest: clusters have many that are not, anywhere.
    if (options.masked != nullptr && limit_ == limit_) {
      links_met_ += static_cast<uint32_t>(std::popcount(met));
      links_allowed_ += static_cast<uint32_t>(std::popcount(near));
    }
    for (; near != 0; near &= near - 1) {
      const auto i = static_cast<uint32_t>(std::countr_zero(near));
      const uint32_t link = first + node.link(i);
      if (link >= vectors) return LinkBeyondTheEnd(link, vectors);
      if (link != options.absent) gathered_.Push(PromiseOf(bounds[i], link));
    }
  }
  return Status::Ok();
}

Status ClusterProbe::Compare(ClusterSource& source, const ClusterProbeOptions& options,
                             float wanted_square, TopK& nearest) {
  // When there are k, what is not wanted need not be compared: the limit is farther for that, and
  // the probe goes on for a little longer.
  const auto is_ruled_out = [&](float bound) {
    return bound > limit_ || (limit_ == limit_ && bound > wanted_square);
  };
  while (!gathered_.empty() && !is_ruled_out(SquareOf(gathered_.least()))) {
    const auto vector = static_cast<uint32_t>(gathered_.Pop());
    // This one is read at once, the next while it is compared.
    if (!gathered_.empty()) source.Expect(static_cast<uint32_t>(gathered_.least()));
    PIGMENT_ASSIGN_OR_RETURN(const float distance, source.Distance(vector));
    ++vectors_compared_;
    if (options.steps != nullptr) options.steps->push_back({square_, distance, vector, false});
    if (!nearest.MayEnter(distance)) continue;
    nearest.Offer(distance, vector);
    limit_ = source.SquareOf(nearest.worst());
  }
  gathered_.Clear();
  return Status::Ok();
}

void ClusterProbe::Clear(float limit) {
  known_.Clear();
  gathered_.Clear();
  taken_ = 0;
  bound_ = 0;
  compared_at_once_ = kComparedAtOnce;
  limit_ = limit;
  clusters_probed_ = links_estimated_ = vectors_compared_ = 0;
  links_met_ = links_allowed_ = 0;
}

Result<uint32_t> ClusterProbe::Nearest(ClusterSource& source, const SignCodeQuery& query) {
  Clear(std::numeric_limits<float>::quiet_NaN());
  compared_at_once_ = kComparedForNearest;
  PIGMENT_RETURN_IF_ERROR(NoteClusters(source, query, ClusterProbeOptions().errors));
  uint32_t cluster = 0;
  PIGMENT_RETURN_IF_ERROR(Next(source, std::numeric_limits<float>::infinity(), &cluster).status());
  return cluster;
}

Result<std::vector<Scored>> ClusterProbe::Search(ClusterSource& source, const SignCodeQuery& query,
                                                 uint32_t vectors,
                                                 const ClusterProbeOptions& options) {
  Clear(source.SquareOf(options.limit));
  if (options.k == 0) return std::vector<Scored>();
  PIGMENT_RETURN_IF_ERROR(NoteClusters(source, query, options.errors));
  TopK nearest(options.k, options.limit);
  const float wanted_square = source.SquareOf(options.wanted);
  // Steps tell what searches found that ended in between, so nothing waits for others then.
  size_t batch = options.steps != nullptr ? 1 : kBatchMin;
  size_t gathered_from = 0;  // clusters, since the last comparison
  for (;;) {
    uint32_t cluster = 0;
    PIGMENT_ASSIGN_OR_RETURN(const bool has_next,
                             Next(source, Farthest(options, wanted_square), &cluster));
    if (!has_next) break;
    if (options.steps != nullptr) options.steps->push_back({.estimate = square_});
    if (options.probed != nullptr) options.probed->push_back(cluster);
    PIGMENT_RETURN_IF_ERROR(Gather(source, cluster, query, vectors, options));
    if (++clusters_probed_ == options.clusters_max) break;
    if (++gathered_from < batch) continue;
    PIGMENT_RETURN_IF_ERROR(Compare(source, options, wanted_square, nearest));
    gathered_from = 0;
    if (options.steps == nullptr) batch = std::min(batch * 2, kBatchMax);
  }
  PIGMENT_RETURN_IF_ERROR(Compare(source, options, wanted_square, nearest));
  return nearest.TakeSorted();
}

}  // namespace pigment

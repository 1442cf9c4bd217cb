// SPDX-License-Identifier: Apache-2.0
//
// ClusterProbe: the search of clusters (cluster_lists.h). It goes from cluster to cluster in the
// order of the centroids' distances, of which it computes those that codes do not rule out, scores
// all codes of each, and compares the vectors whose estimates, less some standard errors, are
// within the k nearest so far. It ends when the next centroid is farther than the k-th nearest so
// far by more than its reach allows: near queries end early, hard ones and those with few allowed
// rows go on. One thread at a time; a probe's
// memory is kept from query to query.

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "engine/vector/entry_source.h"
#include "engine/vector/promises.h"
#include "engine/vector/reach_table.h"
#include "engine/vector/row_mask.h"
#include "engine/vector/top_k.h"

namespace pigment {

// Where a probe reads; the entries are the clusters. Without entry nodes, which are not worth their
// bytes for a few clusters, all centroids are compared.
class ClusterSource : public EntrySource {
 public:
  virtual uint32_t clusters() const = 0;
  // The squared distance of the query to a centroid, in the space of the estimates.
  virtual Result<float> CentroidSquare(uint32_t cluster) = 0;
  virtual void ExpectCentroid(uint32_t cluster) = 0;
  // It is likely to be gone to next: its first nodes are asked for.
  virtual void ExpectCluster(uint32_t cluster) = 0;
  // Goes to a cluster, and gives how many nodes its vectors take; Node gives those of the one that
  // was gone to last.
  virtual Result<uint32_t> Go(uint32_t cluster) = 0;
  virtual Result<GraphNode> Node(uint32_t number) = 0;
  // What links of that cluster's nodes are numbered from.
  virtual uint32_t first_vector() const { return 0; }
};

struct ClusterProbeOptions {
  size_t k = 10;
  // A probe goes on to clusters whose centroid is at up to so many times the squared distance of
  // the k-th nearest, which may be less than once. Infinity goes everywhere.
  float reach = 1.1f;
  // With `allowed`: says when a smaller reach will do; null: none does.
  MaskedReach* masked = nullptr;
  // Clusters that are probed at most; 0: as many as it takes.
  size_t clusters_max = 0;
  // Centroids and vectors whose estimate is too far by more than so many standard errors are not
  // compared; infinity compares all.
  float errors = 2;
  // Nothing beyond this distance is wanted, as if k had been found there; NaN: there is no limit.
  // For probes that go everywhere: others would end before they come near.
  float limit = std::numeric_limits<float>::quiet_NaN();
  // What is farther than this is not wanted, because enough was found elsewhere; NaN: there is no
  // such distance. There are k hits all the same, as the reach is by them, but beyond it not the
  // nearest; and clusters are left out from which, by what the reach goes beyond the k-th of them,
  // nothing is expected within it.
  float wanted = std::numeric_limits<float>::quiet_NaN();
  size_t wanted_rank = 10;                   // of how many that is the farthest; 1 or more
  RowMask allowed = {};                      // of vectors
  bool allows_most = false;                  // so that codes rule out more than the mask does
  uint32_t absent = SearchStep::kNoVector;   // a vector that is treated as if it were not there
  std::vector<SearchStep>* steps = nullptr;  // is appended to; may be null
  std::vector<uint32_t>* probed = nullptr;   // the clusters, likewise
};

class ClusterProbe {
 public:
  // The nearest to `query` (rotated, less the centre) that were compared, at most k, ascending by
  // distance, then number. What a source says is believed only as far as `vectors`, their number.
  Result<std::vector<Scored>> Search(ClusterSource& source, const SignCodeQuery& query,
                                     uint32_t vectors, const ClusterProbeOptions& options);

  // The cluster whose centroid is nearest to `query`, of those that the codes do not rule out as for
  // a search. REQUIRES: there are clusters.
  Result<uint32_t> Nearest(ClusterSource& source, const SignCodeQuery& query);

  // Of the last search.
  uint64_t clusters_probed() const { return clusters_probed_; }
  uint64_t links_estimated() const { return links_estimated_; }
  uint64_t vectors_compared() const { return vectors_compared_; }

 private:
  void Clear(float limit);
  // Bounds of all centroids' distances.
  Status NoteClusters(ClusterSource& source, const SignCodeQuery& query, float errors);
  // Brings about so many of those that wait to their front, the nearest by their bounds, and gives
  // where they end.
  size_t BringForward(size_t count);
  // Computes the squares of some more of those that wait, the nearest by their bounds.
  Status CompareCentroids(ClusterSource& source);
  // The nearest cluster that was not probed, and its square; false: there is none up to `farthest`,
  // which may be NaN.
  Result<bool> Next(ClusterSource& source, float farthest, uint32_t* cluster);
  // The square at which the farthest centroid may be.
  float Farthest(const ClusterProbeOptions& options, float wanted_square) const;
  // Notes the vectors of a cluster that may be among the nearest.
  Status Gather(ClusterSource& source, uint32_t cluster, const SignCodeQuery& query,
                uint32_t vectors, const ClusterProbeOptions& options);
  // Compares what was gathered, the most promising first.
  Status Compare(ClusterSource& source, const ClusterProbeOptions& options, float wanted_square,
                 TopK& nearest);

  // Of all: PromiseOf the square and the cluster or vector.
  std::vector<uint64_t> waiting_;  // clusters by their bounds
  Promises known_;                 // clusters by their squares
  Promises gathered_;              // vectors by their bounds
  size_t compared_at_once_ = 0;    // centroids
  size_t taken_ = 0;               // of waiting_, the first: in known_, or were
  uint64_t bound_ = 0;             // that of no other is less
  float limit_ = 0;                // the square of the k-th hit so far; NaN: there are not k yet
  float square_ = 0;               // of the cluster that was probed last
  uint64_t links_met_ = 0;         // that may be among the nearest, or might if they were allowed
  uint64_t links_allowed_ = 0;     // of these
  uint64_t clusters_probed_ = 0;
  uint64_t links_estimated_ = 0;
  uint64_t vectors_compared_ = 0;
};

}  // namespace pigment

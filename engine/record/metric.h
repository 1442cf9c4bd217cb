// SPDX-License-Identifier: Apache-2.0
//
// The names of distances: what a collection's configuration, the catalog, a segment's root and the
// host interface agree on. How they are computed is engine/vector's. Plain values; any thread.

#pragma once

#include <cstdint>
#include <string_view>

namespace pigment {

// Numbers are stored and public.
enum class Metric : int32_t {
  kL2 = 1,      // squared Euclidean distance (Chroma's l2)
  kCosine = 2,  // 1 - cosine similarity, within [0, 2]; a zero vector has distance 1 to everything
  kIp = 3,      // 1 - inner product (Chroma's ip)
  kNegativeIp = 4,  // - inner product (pgvector's <#>)
  kL1 = 5,          // sum of absolute differences (pgvector's <+>)
  kCosineNan = 6,   // as kCosine, but NaN where a zero vector takes part (pgvector's <=>)
  // Of vectors whose numbers are 0 and 1, bits; of others they mean nothing.
  kHamming = 7,  // how many differ (pgvector's <~>)
  kJaccard = 8,  // 1 - what both have by what any has; 1 where they share none (pgvector's <%>)
};

// Distances that are those of kL2.
constexpr bool IsSquare(Metric metric) {
  return metric == Metric::kL2 || metric == Metric::kHamming;
}

constexpr bool IsCosine(Metric metric) {
  return metric == Metric::kCosine || metric == Metric::kCosineNan;
}
constexpr bool IsInnerProduct(Metric metric) {
  return metric == Metric::kIp || metric == Metric::kNegativeIp;
}

// The metric by which graphs and clusters find neighbours: of most their own. That of l1 is l2, and
// of Jaccard, which does not mind how many ones there are beside those that are shared, cosine:
// those that it has nearest are then compared by the metric itself.
constexpr Metric SearchedBy(Metric metric) {
  if (metric == Metric::kL1) return Metric::kL2;
  return metric == Metric::kJaccard ? Metric::kCosine : metric;
}
constexpr bool HasStandIn(Metric metric) { return SearchedBy(metric) != metric; }

// "l2", "cosine", "ip", "negative_ip", "l1", "cosine_nan", "hamming", "jaccard"; empty for a number
// that is none of them.
constexpr std::string_view MetricName(Metric metric) {
  switch (metric) {
    case Metric::kL2:
      return "l2";
    case Metric::kCosine:
      return "cosine";
    case Metric::kIp:
      return "ip";
    case Metric::kNegativeIp:
      return "negative_ip";
    case Metric::kL1:
      return "l1";
    case Metric::kCosineNan:
      return "cosine_nan";
    case Metric::kHamming:
      return "hamming";
    case Metric::kJaccard:
      return "jaccard";
  }
  return {};
}

}  // namespace pigment

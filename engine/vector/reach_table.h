// SPDX-License-Identifier: Apache-2.0
//
// How far searches of one index must reach for a wanted recall: what calibration measures, and what
// is stored. Plain values; any thread.

#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace pigment {

struct Reach {
  float reach = 0;   // infinite where no search gets there: what is wanted takes a scan
  float visits = 0;  // of such a search, on average: nodes of a graph, or clusters
};

class ReachTable {
 public:
  // What is calibrated; between these it is interpolated, beyond them the last one counts.
  static constexpr std::array<uint32_t, 3> kNeighbors = {1, 10, 100};
  static constexpr std::array<float, 6> kRecalls = {0.80f, 0.90f, 0.95f, 0.98f, 0.99f, 0.999f};

  // Searches for fewer neighbours are searches for so many: how far the nearest one is says little
  // about where the others are, and whether it is the nearest.
  static constexpr size_t kNeighborsMin = 10;

  // Of a search for `k` neighbours, of which `recall` (0 to 1) are to be found. Beyond what is
  // calibrated visits grow with k as they did before, and a reach is 1 or more: one below tells of
  // vectors that lie around centroids, and more of them may lie elsewhere.
  Reach For(size_t k, double recall) const;

  // As stored: kNeighbors x kRecalls.
  std::array<std::array<Reach, kRecalls.size()>, kNeighbors.size()> values{};
};

// What a reach is beyond 1 counts for less the longer a walk goes on: hard queries have many
// vectors at every distance, and by one reach for all they would take ten times the visits of
// others, for few of what these miss. `visits` are those of vectors that may be returned.
inline float ReachAfter(float reach, uint64_t visits, size_t k) {
  // For kNeighborsMin: from so many on by the fourth root, from more on by the square root.
  constexpr float kVisitsFull = 60, kVisitsLong = 240;
  const float neighbors = static_cast<float>(std::max(k, ReachTable::kNeighborsMin));
  const float each = static_cast<float>(visits) * ReachTable::kNeighborsMin / neighbors;
  if (!(each > kVisitsFull) || !(reach > 1)) return reach;
  float part = kVisitsFull / each;
  if (each > kVisitsLong) part *= kVisitsLong / each;
  return 1 + (reach - 1) * std::sqrt(std::sqrt(part));
}

// The reach of a search that may return some of the vectors only. The k-th nearest of these is the
// r-th nearest of all, and the reach for r neighbours is what finds the vectors up to there; r is k
// by the part of the vectors met that may be returned, so that it is right whether or not these lie
// where the query is. One thread at a time: it keeps what it said last, which is mostly what it
// says next.
class MaskedReach {
 public:
  // Borrows the table.
  MaskedReach(const ReachTable& table, double recall) : table_(table), recall_(recall) {}

  // `reach`, or less where the table says that less will do; a reach below 1 also grows again.
  // `masked` null: `reach`.
  static float Shortened(float reach, MaskedReach* masked, size_t k, uint64_t met,
                         uint64_t allowed) {
    if (masked == nullptr) return reach;
    const double rank = static_cast<double>(k) * static_cast<double>(std::max<uint64_t>(met, 1)) /
                        static_cast<double>(std::max<uint64_t>(allowed, 1));
    const float of_rank = masked->ForRank(static_cast<size_t>(rank));
    return std::max(std::min(reach, of_rank), std::min(of_rank, 1.0f));
  }

 private:
  float ForRank(size_t rank) {
    if (rank != rank_) {
      rank_ = rank;
      of_rank_ = table_.For(rank, recall_).reach;
    }
    return of_rank_;
  }

  const ReachTable& table_;
  const double recall_;
  size_t rank_ = std::numeric_limits<size_t>::max();  // that was asked for last
  float of_rank_ = 0;
};

// What a search did, in order: for who wants to know what a shorter one would have found.
struct SearchStep {
  static constexpr uint32_t kNoVector = 0xFFFFFFFF;

  float estimate = 0;  // of the square, that made the search go there
  float distance = 0;  // of `vector`, where there is one
  uint32_t vector = kNoVector;
  bool is_visit = true;  // of a node or cluster; false: found at the visit before
};

// What searches of each reach found and took, summed over queries.
class ReachSums {
 public:
  // Of walks, whose reach becomes less (ReachAfter), or of probes.
  enum class Kind { kWalks, kProbes };
  explicit ReachSums(Kind kind) : kind_(kind) {}

  // What a search for nearest.size() neighbours (their squared distances, ascending) has of the
  // steps of one that went on for more.
  void Add(std::span<const SearchStep> steps, std::span<const float> nearest);
  // The least that finds `recall`, of those from `from` on.
  Reach Least(float recall, float from = 1) const;
  // Whether the longest finds all that is calibrated.
  bool FindsAll() const;

 private:
  // Reaches that are tried: below 1, in small steps where most lie, then in larger ones.
  static constexpr size_t kReaches = 86;
  static constexpr float ReachOf(size_t step);
  // Whether a search of this reach ends before what is estimated at `ratio` times the square of the
  // k-th nearest.
  bool Ends(size_t step, float ratio, uint64_t visits, size_t k) const;

  Kind kind_;
  std::array<double, kReaches> found_{};  // parts of k
  std::array<double, kReaches> visits_{};
  std::array<double, kReaches> ended_{};  // before the long one, so that it is known what they take
  double queries_ = 0;
};

}  // namespace pigment

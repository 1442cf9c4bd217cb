// SPDX-License-Identifier: Apache-2.0
//
// BM25 (Robertson, Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, with
// the idf that is never negative), so that it does not depend on the order of anything. Pure
// values; any thread.
//
//   score of a document = sum over the clauses of a query of
//     count * idf * (k1 + 1) * f / (f + k1 * (1 - b + b * length / average length))
//   idf = ln(1 + (documents - documents with it + 0.5) / (documents with it + 0.5))
//
// Each summand is rounded down to a multiple of 2^-32, and they are added as integers. A summand
// grows with f and falls with the length, so what bounds these bounds the score.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "engine/fulltext/text_postings.h"

namespace pigment {

struct Bm25Statistics {
  uint64_t documents = 0;  // with a term
  uint64_t words = 0;      // in all of them
};

// A sum of contributions, or a bound of one.
using ScoreSum = int64_t;
inline constexpr double kScoreUnit = 0x1p-32;
inline float ScoreOfSum(ScoreSum sum) {
  return static_cast<float>(static_cast<double>(sum) * kScoreUnit);
}

// What part of a clause's weight a document has: f / (f + k1 * (1 - b + b * length / average
// length)). It falls with the length; rounded, it may fall with f, by less than a unit of a score.
class Bm25Shares {
 public:
  Bm25Shares(double k1, double b, const Bm25Statistics& statistics)
      : base_(k1 * (1 - b)),
        slope_(statistics.words != 0 ? k1 * b * static_cast<double>(statistics.documents) /
                                           static_cast<double>(statistics.words)
                                     : 0) {}

  // REQUIRES: frequency > 0.
  double Of(uint32_t frequency, uint32_t length) const {
    const auto times = static_cast<double>(frequency);
    return times / (times + (base_ + slope_ * static_cast<double>(length)));
  }
  double base() const { return base_; }
  double slope() const { return slope_; }

 private:
  double base_;
  double slope_;
};

// What a clause is worth.
class Bm25Weight {
 public:
  Bm25Weight() = default;
  Bm25Weight(double k1, uint64_t documents, uint64_t documents_with_it, uint32_t count) {
    const auto with = static_cast<double>(documents_with_it);
    const double without = static_cast<double>(std::max(documents, documents_with_it)) - with;
    weight_ = count * std::log(1 + (without + 0.5) / (with + 0.5)) * (k1 + 1) / kScoreUnit;
  }

  ScoreSum Of(double share) const { return static_cast<ScoreSum>(weight_ * share); }
  // The most that any row of a block has.
  ScoreSum Bound(const Impacts& impacts, const Bm25Shares& shares) const {
    if (impacts.frequency_max == 0xFFFF) return static_cast<ScoreSum>(weight_);
    double share = 0;
    for (uint32_t frequency = 1; frequency <= Impacts::kMany; ++frequency) {
      const uint16_t length = impacts.shortest[frequency - 1];
      if (length == 0) continue;
      const uint32_t most = frequency == Impacts::kMany ? impacts.frequency_max : frequency;
      share = std::max(share, shares.Of(std::max(most, frequency), length));
    }
    return Of(share) + 1;  // what is rounded may fall with the frequency
  }
  double weight() const { return weight_; }

 private:
  double weight_ = 0;
};

// What postings are worth by their frequencies and lengths, not yet rounded down: weight times
// share, to the last bit, on every machine. What is read and written is rounded up to kBm25Lanes.
inline constexpr size_t kBm25Lanes = 8;
void WorthsOf(const Bm25Weight& weight, const Bm25Shares& shares, const uint32_t* frequencies,
              const uint32_t* lengths, size_t count, double* worths);

// A bit for each of `count` sums, the lowest first, set where it is `least` or more. What is read
// is rounded up to kMarksPerWord, and so are the bits.
inline constexpr size_t kMarksPerWord = 64;
void MarkAtLeast(const ScoreSum* sums, size_t count, ScoreSum least, uint64_t* marks);

}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// What calibrated reaches promise, held against searches of graphs and of clusters alike.
// GoogleTest failures in the caller's test.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "engine/vector/reach_table.h"
#include "tests/support/status_matchers.h"
#include "tests/support/vector_world.h"

namespace pigment {

struct TriedSearch {
  size_t k = 10;
  float reach = 0;
  RowMask allowed = {};
  MaskedReach* masked = nullptr;
};
// Of query number `query` of a world; adds to `visits`.
using SearchOfWorld = std::function<Result<std::vector<Scored>>(
    uint32_t query, const TriedSearch& search, uint64_t* visits)>;

struct TriedReach {
  double recall = 0;
  double visits = 0;  // a query
};

// All queries of the world, each among what `allowed` (which may be null) says of it.
inline TriedReach TryReach(const World& world, const TriedSearch& tried, size_t k,
                           const std::vector<std::vector<uint64_t>>* allowed,
                           const SearchOfWorld& search) {
  size_t right = 0;
  uint64_t visits = 0;
  for (uint32_t i = 0; i < world.queries(); ++i) {
    TriedSearch one = tried;
    if (allowed != nullptr) one.allowed = (*allowed)[i];
    auto found = search(i, one, &visits);
    EXPECT_OK(found);
    if (!found.ok()) return {};
    const float limit = Nearest(world.table, world.query(i), k, one.allowed).back().distance;
    found->resize(std::min(found->size(), k));
    for (const Scored& hit : *found) right += hit.distance <= limit ? 1 : 0;
  }
  const double queries = world.queries();
  return {static_cast<double>(right) / (queries * static_cast<double>(k)),
          static_cast<double>(visits) / queries};
}

// New queries find what was wanted, with about as many visits as expected: within a factor and some
// more. REQUIRES: 100 queries.
inline void ExpectWhatWasWanted(const World& world, const ReachTable& table, double factor,
                                double more, const SearchOfWorld& search) {
  for (const size_t k : {1u, 10u, 30u, 100u}) {
    for (const double recall : {0.9, 0.98}) {
      SCOPED_TRACE(testing::Message() << "k " << k << ", recall " << recall);
      const Reach wanted = table.For(k, recall);
      ASSERT_TRUE(std::isfinite(wanted.reach));
      const TriedReach tried =
          TryReach(world, {.k = std::max(k, ReachTable::kNeighborsMin), .reach = wanted.reach}, k,
                   nullptr, search);
      // Three standard errors of 100 queries of k, and those of the calibration.
      EXPECT_GE(tried.recall, recall - (k == 1 ? 0.06 : 0.025));
      EXPECT_LT(tried.visits, factor * wanted.visits + more);
      EXPECT_GT(tried.visits, wanted.visits / factor - more);
    }
  }
}

// Where a part of the vectors is allowed, be these anywhere or the nearest to the query: what was
// wanted is found, and with fewer visits where they are anywhere.
inline void ExpectMasksAreKnownByWhatIsMet(const World& world, const ReachTable& table,
                                           const SearchOfWorld& search) {
  constexpr double kRecall = 0.98;
  MaskedReach masked(table, kRecall);
  const TriedSearch plain{.k = 10, .reach = table.For(10, kRecall).reach};
  TriedSearch with_mask = plain;
  with_mask.masked = &masked;
  std::mt19937_64 random(1);
  std::vector<std::vector<uint64_t>> anywhere, near;
  for (uint32_t i = 0; i < world.queries(); ++i) {
    std::vector<uint64_t> mask((world.table.count() + 63) / 64);
    for (uint32_t row = 0; row < world.table.count(); ++row)
      mask[row / 64] |= uint64_t{random() % 10 == 0} << (row % 64);
    anywhere.push_back(mask);
    std::fill(mask.begin(), mask.end(), 0);
    for (const Scored& hit : Nearest(world.table, world.query(i), world.table.count() / 10))
      mask[hit.tie / 64] |= uint64_t{1} << (hit.tie % 64);
    near.push_back(mask);
  }
  const TriedReach as_without = TryReach(world, plain, 10, &anywhere, search);
  const TriedReach of_anywhere = TryReach(world, with_mask, 10, &anywhere, search);
  EXPECT_GE(of_anywhere.recall, kRecall - 0.025);
  EXPECT_LT(of_anywhere.visits, 0.9 * as_without.visits);
  EXPECT_GE(TryReach(world, with_mask, 10, &near, search).recall, kRecall - 0.025);
}

}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// Calibration: how far searches of an index must reach for a recall, from long searches for queries
// that are made of its own points: points as if they were not there, and what lies between two,
// because queries are seldom drawn as the points were. One thread; equal arguments give equal
// tables on every machine.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/vector/build_pause.h"
#include "engine/vector/reach_table.h"
#include "engine/vector/vector_table.h"

namespace pigment {

struct CalibrationOptions {
  uint32_t queries = 200;  // of each kind
  uint64_t seed = 1;
  // What lies between two points has each number from one of them, as bits must, in place of sums.
  bool crosses = false;
  BuildPause pause;  // may be empty
};

// Queries of one kind.
struct CalibrationSample {
  VectorTable points;
  std::vector<uint32_t> absent;  // of each query the point that it is, or SearchStep::kNoVector
  // Squared distances of each to the nearest other points, ascending: as many as are calibrated, or
  // there are.
  std::vector<std::vector<float>> nearest;
};

// By the neighbours that are calibrated (ReachTable::kNeighbors).
class CalibrationSums {
 public:
  // Of searches that no reach below `least` makes sense for.
  CalibrationSums(ReachSums::Kind kind, float least)
      : least_(least), sums_(ReachTable::kNeighbors.size(), ReachSums(kind)) {}
  // Notes the steps of a search for query `query` that went on for as many neighbours as row `rows`
  // - 1 of the table says, and so tells of the rows before too.
  void Add(const CalibrationSample& sample, uint32_t query, std::span<const SearchStep> steps,
           size_t rows = ReachTable::kNeighbors.size());
  bool FindsAll() const;
  // Raises what `table` has to what these queries want.
  void Raise(ReachTable& table) const;

 private:
  float least_;
  std::vector<ReachSums> sums_;
};

// `search_all` searches for all queries of a sample. REQUIRES: points.count() > 0.
Result<ReachTable> Calibrate(
    const VectorTable& points, const CalibrationOptions& options,
    const std::function<Result<CalibrationSums>(const CalibrationSample&)>& search_all);

}  // namespace pigment

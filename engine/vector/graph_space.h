// SPDX-License-Identifier: Apache-2.0
//
// GraphSpace: where a graph is built and walked. Vectors of l2, cosine, ip and hamming, and of what
// a host calls by other numbers of these, become points whose squared Euclidean distances ascend
// with their distances; those of l1 and jaccard with the distances that stand in for theirs
// (SearchedBy, metric.h): as they are, at unit length, or with one more dimension that brings all
// to one length (Bachrach et al., RecSys 2014). Points are rotated, so that sign codes are
// unbiased, and less their middle. Bits may stay as they are instead, less one half: each number of
// a point is then its sign, a sign code around the centre loses nothing, and estimates are
// distances. Immutable; any thread.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/record/metric.h"
#include "engine/vector/build_pause.h"
#include "engine/vector/rotation.h"
#include "engine/vector/vector_table.h"

namespace pigment {

// Squares beyond this leave nothing of f32 for sums of them.
inline constexpr float kPointSquareMax = 1e30f;

// What of a space is stored with a graph.
struct GraphSpaceNumbers {
  uint64_t seed = 1;          // of the rotation; 0: there is none, and the codes are exact
  float square_max = 0;       // of ip: the largest square of a vector; 0 otherwise
  std::vector<float> centre;  // rotated
};

class GraphSpace {
 public:
  // REQUIRES: numbers.centre has PointDimension(metric, dimension) numbers.
  GraphSpace(Metric metric, uint32_t dimension, GraphSpaceNumbers numbers);

  static uint32_t PointDimension(Metric metric, uint32_t dimension) {
    return Rotation::RotatedDimension(ExtendedDimension(metric, dimension));
  }
  // Turns vectors of a table into points, in place; the table's dimension is PointDimension(…), and
  // each vector has zeros behind it. `numbers.seed` is given, the others are found. False: squares
  // of these vectors have no room in f32, or all are one point: no graph of them is of use.
  static Result<bool> MakePoints(Metric metric, uint32_t dimension, const BuildPause& pause,
                                 VectorTable& table, GraphSpaceNumbers& numbers);

  // Those of a space whose codes are exact, for vectors of bits and metric kHamming.
  static GraphSpaceNumbers NumbersOfBits(uint32_t dimension);

  const GraphSpaceNumbers& numbers() const { return numbers_; }
  // Codes of nodes are around the centre of all then, and not around each node's own vector.
  bool has_exact_codes() const { return numbers_.seed == 0; }
  uint32_t point_dimension() const { return rotation_.rotated_dimension(); }

  // Writes point_dimension() numbers, those that MakePoints leaves. REQUIRES: vector.size() is the
  // space's dimension.
  void MakePoint(std::span<const float> vector, float* point) const;

 private:
  friend class GraphQuery;

  static uint32_t ExtendedDimension(Metric metric, uint32_t dimension) {
    return IsInnerProduct(metric) ? dimension + 1 : dimension;
  }
  // `extended` is what the metric makes of a vector, but for the rotation.
  void Rotate(std::span<const float> extended, float* point) const;

  const Metric metric_;
  const Rotation rotation_;
  const GraphSpaceNumbers numbers_;
};

// A query as a point.
class GraphQuery {
 public:
  // REQUIRES: vector.size() is the space's dimension; finite values. Copies what it needs.
  GraphQuery(const GraphSpace& space, std::span<const float> vector);

  const std::vector<float>& point() const { return point_; }
  float centre_square() const { return centre_square_; }
  // False: squares of this query have no room in f32, and no walk can tell near from far.
  bool is_finite() const;
  // Of a vector at this distance, by SearchedBy(metric); see GraphSource.
  float SquareOf(float distance) const { return offset_ + factor_ * distance; }

 private:
  std::vector<float> point_;
  float centre_square_ = 0;
  float offset_ = 0;
  float factor_ = 1;
};

}  // namespace pigment

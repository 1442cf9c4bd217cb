// SPDX-License-Identifier: Apache-2.0
//
// Vectors into points: see the header.

#include "engine/vector/graph_space.h"

#include <algorithm>
#include <cmath>

namespace pigment {
namespace {

// Squares below this leave nothing of f32 for sums of them.
constexpr float kSquareMin = 1e-30f;

// `vector` at unit length; a zero vector stays what it is. `out` may be the vector.
void Normalize(std::span<const float> vector, float* out) {
  const double norm = Norm(vector.data(), vector.size());
  const double factor = norm > 0 ? 1 / norm : 0;
  for (size_t d = 0; d < vector.size(); ++d)
    out[d] = static_cast<float>(static_cast<double>(vector[d]) * factor);
}

}  // namespace

GraphSpaceNumbers GraphSpace::NumbersOfBits(uint32_t dimension) {
  constexpr float kBetween = 0.5f;  // 0 and 1
  GraphSpaceNumbers numbers{.seed = 0, .square_max = 0, .centre = {}};
  numbers.centre.assign(PointDimension(Metric::kHamming, dimension), 0);
  std::fill_n(numbers.centre.begin(), dimension, kBetween);
  return numbers;
}

GraphSpace::GraphSpace(Metric metric, uint32_t dimension, GraphSpaceNumbers numbers)
    : metric_(SearchedBy(metric)),
      rotation_(ExtendedDimension(metric, dimension), numbers.seed),
      numbers_(std::move(numbers)) {}

void GraphSpace::Rotate(std::span<const float> extended, float* point) const {
  if (has_exact_codes()) {
    const auto end = std::copy(extended.begin(), extended.end(), point);
    std::fill(end, point + point_dimension(), 0.0f);
  } else {
    rotation_.Apply(extended, point);
  }
  for (size_t d = 0; d < numbers_.centre.size(); ++d) point[d] -= numbers_.centre[d];
}

void GraphSpace::MakePoint(std::span<const float> vector, float* point) const {
  std::vector<float> extended(rotation_.dimension());
  if (IsCosine(metric_)) {
    Normalize(vector, extended.data());
  } else {
    std::copy(vector.begin(), vector.end(), extended.begin());
  }
  if (IsInnerProduct(metric_)) {
    const float square = InnerProduct(vector.data(), vector.data(), vector.size());
    extended.back() = std::sqrt(std::max(numbers_.square_max - square, 0.0f));
  }
  Rotate(extended, point);
}

Result<bool> GraphSpace::MakePoints(Metric metric, uint32_t dimension, const BuildPause& pause,
                                    VectorTable& table, GraphSpaceNumbers& numbers) {
  const bool is_cosine = IsCosine(SearchedBy(metric));
  float square_max = 0;
  for (uint32_t i = 0; i < table.count(); ++i) square_max = std::max(square_max, table.square(i));
  if (!is_cosine && !(square_max <= kPointSquareMax)) return false;
  numbers.square_max = IsInnerProduct(metric) ? square_max : 0;
  numbers.centre.assign(table.dimension(), 0);
  const GraphSpace rotated(metric, dimension, numbers);
  std::vector<float> point(table.dimension());
  std::vector<double> sums(table.dimension());
  for (uint32_t i = 0; i < table.count(); ++i) {
    if (pause) PIGMENT_RETURN_IF_ERROR(pause());
    rotated.MakePoint(table.vector(i).first(dimension), point.data());
    table.Set(i, point);
    for (uint32_t d = 0; d < table.dimension(); ++d) sums[d] += point[d];
  }
  for (uint32_t d = 0; d < table.dimension(); ++d)
    numbers.centre[d] = static_cast<float>(sums[d] / std::max(table.count(), 1u));
  float farthest = 0;
  for (uint32_t i = 0; i < table.count(); ++i) {
    if (pause) PIGMENT_RETURN_IF_ERROR(pause());
    for (uint32_t d = 0; d < table.dimension(); ++d) point[d] = table.row(i)[d] - numbers.centre[d];
    table.Set(i, point);
    farthest = std::max(farthest, table.square(i));
  }
  return farthest >= kSquareMin;
}

GraphQuery::GraphQuery(const GraphSpace& space, std::span<const float> vector)
    : point_(space.point_dimension()) {
  std::vector<float> extended(space.rotation_.dimension());
  if (IsCosine(space.metric_)) {
    Normalize(vector, extended.data());
    factor_ = 2;
  } else {
    std::copy(vector.begin(), vector.end(), extended.begin());
  }
  if (IsInnerProduct(space.metric_)) {
    // |q - x|^2 = |q|^2 + |x|^2 - 2 q.x, the distance is 1 - q.x or - q.x, and all points have one
    // length.
    factor_ = 2;
    const float of_orthogonal = space.metric_ == Metric::kIp ? 1 : 0;
    offset_ = InnerProduct(vector.data(), vector.data(), vector.size()) +
              space.numbers_.square_max - factor_ * of_orthogonal;
  }
  space.Rotate(extended, point_.data());
  centre_square_ = InnerProduct(point_.data(), point_.data(), point_.size());
}

bool GraphQuery::is_finite() const {
  return centre_square_ <= kPointSquareMax && std::isfinite(offset_);
}

}  // namespace pigment

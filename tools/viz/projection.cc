// SPDX-License-Identifier: Apache-2.0
//
// The covariance matrix is never made: a step multiplies with the centred vectors, there and back.

#include "tools/viz/projection.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>

namespace pigment_tool {
namespace {

using Direction = std::vector<double>;
using Vectors = std::span<const std::vector<float>>;

constexpr int kStepsMax = 300;
constexpr double kStill = 1e-10;  // 1 - cosine between two steps

double Dot(const Direction& a, const Direction& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

Direction MeanOf(Vectors vectors) {
  Direction mean(vectors[0].size());
  for (const auto& vector : vectors) {
    for (size_t i = 0; i < mean.size(); ++i) mean[i] += vector[i];
  }
  for (double& value : mean) value /= static_cast<double>(vectors.size());
  return mean;
}

double Along(const std::vector<float>& vector, const Direction& mean, const Direction& direction) {
  double sum = 0;
  for (size_t i = 0; i < mean.size(); ++i) sum += (vector[i] - mean[i]) * direction[i];
  return sum;
}

// The covariance matrix times a direction, but for a factor.
Direction Times(Vectors vectors, const Direction& mean, const Direction& direction) {
  Direction product(mean.size());
  for (const auto& vector : vectors) {
    const double along = Along(vector, mean, direction);
    for (size_t i = 0; i < mean.size(); ++i) product[i] += along * (vector[i] - mean[i]);
  }
  return product;
}

// To length 1; to zeros when what is left of it is rounding.
void Normalize(Direction& direction, double length_before) {
  const double length = std::sqrt(Dot(direction, direction));
  const double factor = length > 1e-12 * length_before ? 1 / length : 0;
  for (double& value : direction) value *= factor;
}

void Orthonormalize(std::array<Direction, 2>& directions) {
  const double first = std::sqrt(Dot(directions[0], directions[0]));
  const double second = std::sqrt(Dot(directions[1], directions[1]));
  Normalize(directions[0], first);
  for (int twice = 0; twice < 2; ++twice) {  // once leaves what rounding left
    const double common = Dot(directions[0], directions[1]);
    for (size_t i = 0; i < directions[0].size(); ++i) {
      directions[1][i] -= common * directions[0][i];
    }
  }
  // Against the first too: a direction without variance is all rounding.
  Normalize(directions[1], std::max(first, second));
}

void PointToItsLargest(Direction& direction) {
  const auto largest = std::max_element(direction.begin(), direction.end(), [](double a, double b) {
    return std::abs(a) < std::abs(b);
  });
  if (*largest >= 0) return;
  for (double& value : direction) value = -value;
}

std::array<Direction, 2> MainDirections(Vectors vectors, const Direction& mean) {
  std::mt19937_64 random;  // always the same beginning
  std::normal_distribution<double> normal;
  std::array<Direction, 2> directions{Direction(mean.size()), Direction(mean.size())};
  for (Direction& direction : directions) {
    for (double& value : direction) value = normal(random);
  }
  Orthonormalize(directions);
  for (int step = 0; step < kStepsMax; ++step) {
    std::array<Direction, 2> next;
    for (int i : {0, 1}) next[i] = Times(vectors, mean, directions[i]);
    Orthonormalize(next);
    const bool is_still = Dot(next[0], directions[0]) > 1 - kStill &&
                          (Dot(next[1], directions[1]) > 1 - kStill || Dot(next[1], next[1]) == 0);
    directions = std::move(next);
    if (is_still) break;
  }
  for (Direction& direction : directions) PointToItsLargest(direction);
  return directions;
}

double VarianceOf(Vectors vectors, const Direction& mean) {
  double sum = 0;
  for (const auto& vector : vectors) {
    for (size_t i = 0; i < mean.size(); ++i) sum += std::pow(vector[i] - mean[i], 2);
  }
  return sum;
}

}  // namespace

Projection Project(std::span<const std::vector<float>> vectors) {
  Projection projection;
  if (vectors.empty()) return projection;
  const Direction mean = MeanOf(vectors);
  const std::array<Direction, 2> directions = MainDirections(vectors, mean);
  const double variance = VarianceOf(vectors, mean);
  for (const auto& vector : vectors) {
    std::array<double, 2> point{};
    for (int i : {0, 1}) {
      point[i] = Along(vector, mean, directions[i]);
      if (variance > 0) projection.share[i] += point[i] * point[i] / variance;
    }
    projection.points.push_back(point);
  }
  return projection;
}

}  // namespace pigment_tool

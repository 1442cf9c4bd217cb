// SPDX-License-Identifier: Apache-2.0
//
// Points, their middle, nodes: see the header.

#include "engine/vector/chunk_codes.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "engine/vector/distance.h"

namespace pigment {
namespace {

// Of the squared distance to its middle a row may be so much farther from what stands for it.
constexpr double kFartherMax = 0.02;

uint32_t BitsOfCode(const GraphSpace& space) {
  return ChunkCodeBits(space) * space.point_dimension();
}

}  // namespace

std::shared_ptr<const GraphSpace> MakeChunkSpace(Metric metric, uint32_t dimension) {
  GraphSpaceNumbers numbers;
  numbers.centre.assign(GraphSpace::PointDimension(metric, dimension), 0);
  return std::make_shared<const GraphSpace>(metric, dimension, std::move(numbers));
}

ChunkCodes::ChunkCodes(std::shared_ptr<const GraphSpace> space, Metric metric, uint32_t dimension,
                       uint32_t rows, const Vectors& vectors, const ChunkCodes* before)
    : space_(std::move(space)),
      metric_(metric),
      dimension_(dimension),
      shape_(BitsOfCode(*space_), rows) {
  const size_t point_dimension = space_->point_dimension();
  std::vector<float> middle(point_dimension);
  std::vector<float> points(rows * point_dimension);
  double squares = 0;
  for (uint32_t i = 0; i < rows; ++i) {
    const std::span<const float> vector = vectors(i);
    if (!IsCosine(metric) &&
        !(InnerProduct(vector.data(), vector.data(), vector.size()) <= kPointSquareMax))
      return;
    float* const point = points.data() + i * point_dimension;
    space_->MakePoint(vector, point);
    squares += InnerProduct(point, point, point_dimension);
    for (size_t d = 0; d < point_dimension; ++d) middle[d] += point[d] / static_cast<float>(rows);
  }
  // On average a row is as much farther from another middle as that is from its own.
  const double around = squares / rows - InnerProduct(middle.data(), middle.data(), middle.size());
  const double apart = before == nullptr ? std::numeric_limits<double>::infinity()
                                         : Distance(Metric::kL2, middle.data(),
                                                    before->centroid().data(), middle.size());
  centroid_ = apart <= kFartherMax * std::max(around, 0.0)
                  ? before->centroid_
                  : std::make_shared<const std::vector<float>>(std::move(middle));
  std::vector<uint32_t> numbers(rows);
  std::iota(numbers.begin(), numbers.end(), 0u);
  std::vector<std::byte> nodes(shape_.bytes());
  for (uint32_t i = 0; i < shape_.nodes(); ++i) {
    EncodeClusterNode(
        *centroid_, ChunkCodeBits(*space_),
        std::span(numbers).subspan(size_t{i} * kLinksPerNodeMax, shape_.links(i)),
        [&](uint32_t row) {
          return std::span<const float>(points.data() + row * point_dimension, point_dimension);
        },
        nodes.data() + shape_.offset(i));
  }
  nodes_ = std::move(nodes);
}

GraphNode ChunkCodes::node(uint32_t number) const {
  GraphNode node;
  // Always one: it was encoded with these numbers.
  (void)GraphNode::Read(std::span(nodes_).subspan(shape_.offset(number)), BitsOfCode(*space_),
                        shape_.places(number), &node);
  return node;
}

}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// Points of many dimensions in two: principal component analysis. Plain arithmetic, the same answer
// for the same points. One thread.

#pragma once

#include <array>
#include <span>
#include <vector>

namespace pigment_tool {

struct Projection {
  std::vector<std::array<double, 2>> points;  // about their mean
  std::array<double, 2> share{};              // of the variance that each axis shows
};

// All of one dimension. Along the two directions of most variance, found by orthogonal iteration
// (Golub and Van Loan, Matrix Computations, 8.2.4); what has no variance there is at 0. A direction
// points to where its largest component is positive.
Projection Project(std::span<const std::vector<float>> vectors);

}  // namespace pigment_tool

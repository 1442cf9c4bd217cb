// SPDX-License-Identifier: Apache-2.0
//
// Lists of numbers, one behind the other: which vectors a cluster has, who links to a vector.
// Filled by one thread, then read by any.

#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace pigment {

struct NumberLists {
  std::vector<uint32_t> begins{0};  // of each list, then the end of the last
  std::vector<uint32_t> numbers;

  std::span<const uint32_t> of(uint32_t list) const {
    return std::span(numbers).subspan(begins[list], begins[list + 1] - begins[list]);
  }

  // For those that are filled one list after the other.
  uint32_t count() const { return static_cast<uint32_t>(begins.size()) - 1; }
  // The next list.
  void Add(std::span<const uint32_t> list) {
    numbers.insert(numbers.end(), list.begin(), list.end());
    begins.push_back(static_cast<uint32_t>(numbers.size()));
  }
  // Empty lists, until there are `count`.
  void FillUpTo(uint32_t count) { begins.resize(size_t{count} + 1, begins.back()); }
};

// Of `lists` lists the one of j has, ascending, every i below `count` that has j among
// `numbers_of(i)`.
template <typename NumbersOf>
NumberLists Invert(uint32_t lists, uint32_t count, const NumbersOf& numbers_of) {
  NumberLists inverse;
  inverse.begins.resize(size_t{lists} + 1);
  for (uint32_t i = 0; i < count; ++i) {
    for (const uint32_t number : numbers_of(i)) ++inverse.begins[number + 1];
  }
  std::partial_sum(inverse.begins.begin(), inverse.begins.end(), inverse.begins.begin());
  inverse.numbers.resize(inverse.begins.back());
  std::vector<uint32_t> next(inverse.begins.begin(), inverse.begins.end() - 1);
  for (uint32_t i = 0; i < count; ++i) {
    for (const uint32_t number : numbers_of(i)) inverse.numbers[next[number]++] = i;
  }
  return inverse;
}

}  // namespace pigment

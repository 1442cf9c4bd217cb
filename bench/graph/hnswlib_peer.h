// SPDX-License-Identifier: Apache-2.0
//
// hnswlib as it is used where speed counts: squared distances, M 16, ef_construction 200, compiled
// for this machine's processor. One thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pigment_bench {

class HnswlibPeer {
 public:
  HnswlibPeer(uint32_t dimension, uint32_t rows);
  ~HnswlibPeer();

  void Add(const float* vector, uint32_t row);
  // The rows found, in any order.
  void Search(const float* query, size_t ef, size_t k, std::vector<uint32_t>* rows);
  // What it keeps for each row: links, vector, label.
  size_t bytes_per_row() const;

 private:
  struct Index;
  std::unique_ptr<Index> index_;
};

}  // namespace pigment_bench

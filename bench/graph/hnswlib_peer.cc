// SPDX-License-Identifier: Apache-2.0
//
// The peer: see the header.

#include "bench/graph/hnswlib_peer.h"

#include <hnswlib/hnswlib.h>

namespace pigment_bench {

struct HnswlibPeer::Index {
  Index(uint32_t dimension, uint32_t rows) : space(dimension), graph(&space, rows, 16, 200) {}

  hnswlib::L2Space space;
  hnswlib::HierarchicalNSW<float> graph;
};

HnswlibPeer::HnswlibPeer(uint32_t dimension, uint32_t rows)
    : index_(std::make_unique<Index>(dimension, rows)) {}
HnswlibPeer::~HnswlibPeer() = default;

void HnswlibPeer::Add(const float* vector, uint32_t row) { index_->graph.addPoint(vector, row); }

void HnswlibPeer::Search(const float* query, size_t ef, size_t k, std::vector<uint32_t>* rows) {
  index_->graph.setEf(ef);
  auto found = index_->graph.searchKnn(query, k);
  rows->clear();
  for (; !found.empty(); found.pop()) rows->push_back(static_cast<uint32_t>(found.top().second));
}

size_t HnswlibPeer::bytes_per_row() const { return index_->graph.size_data_per_element_; }

}  // namespace pigment_bench

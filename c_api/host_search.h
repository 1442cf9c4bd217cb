// SPDX-License-Identifier: Apache-2.0
//
// The handle of a host's search, by distance, by words or of sparse vectors, shared by the shims
// that search with it and that count with it. Freeing it touches memory only.

#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "c_api/error.h"
#include "c_api/host_block_source.h"
#include "c_api/host_segment.h"
#include "engine/segment/host_search.h"
#include "engine/segment/host_sparse_search.h"
#include "engine/segment/host_text_search.h"

struct pigment_host_search : pigment::abi::Handle<pigment::abi::HandleKind::kHostSearch> {
  explicit pigment_host_search(pigment::HostSearchOptions options) {
    search.emplace(std::move(options));
  }
  pigment_host_search(pigment::HostRankOptions options,
                      std::shared_ptr<const pigment::HostTextQuery> query) {
    ranked = &text.emplace(std::move(options), std::move(query));
  }
  pigment_host_search(pigment::HostRankOptions options, pigment::HostSparseQuery query,
                      bool nan_first) {
    ranked = &sparse.emplace(std::move(options), std::move(query), nan_first);
  }

  uint64_t pins() const {
    uint64_t sum = 0;
    for (const pigment_segment* segment : segments) sum += segment->source.pins();
    for (const auto& source : pending_sources) sum += source->pins();
    return sum;
  }

  std::vector<const pigment_segment*> segments;
  std::vector<std::unique_ptr<pigment::abi::HostBlockSource>> pending_sources;
  // One of these; they die before what they read from.
  std::optional<pigment::HostSearch> search;
  std::optional<pigment::HostTextSearch> text;
  std::optional<pigment::HostSparseSearch> sparse;
  pigment::HostRankSearch* ranked = nullptr;  // one of the last two; null: the first
  uint64_t pages_read = 0;
};

// SPDX-License-Identifier: Apache-2.0
//
// Pending rows as a host's searches read them: those that the filter lets through, in their pages
// or in a cache of them (pending_cache.h). One thread; sources are borrowed.

#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "engine/block/block_source.h"
#include "engine/segment/host_filter.h"
#include "engine/segment/pending_cache.h"
#include "engine/segment/pending_reader.h"

namespace pigment {

// PendingReader::VisitRows of the live rows that the filter lets through; absent: of all. A row of
// which nothing but the row pointer is needed (`reads_rows`) is given without its bytes. kDataLoss:
// a row's keys are damaged.
Status VisitMatching(PendingReader& pages, const std::optional<HostFilter>& filter, bool reads_rows,
                     const PendingReader::RowVisitor& visit);

// A chain with a cache, as one search sees it: of the cache the rows that are there when it begins.
struct CachedChain {
  CachedChain(std::shared_ptr<PendingCache> of, BlockSource* pages, const SharedVectors* vectors);

  // Brings the cache up to date, the first time.
  Status Begin();
  // Whether the filter lets a row of the cache through. kDataLoss: its keys are damaged.
  Result<bool> Matches(size_t row, const std::optional<HostFilter>& filter) const;

  std::shared_ptr<PendingCache> cache;
  BlockSource* source;
  const SharedVectors* shared;
  PendingReader chain;                     // all of it, in its pages
  std::optional<size_t> rows = {};         // of the cache that are looked at; none before Begin
  std::optional<PendingReader> rest = {};  // what the cache had no room for
};

}  // namespace pigment

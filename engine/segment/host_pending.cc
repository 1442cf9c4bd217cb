// SPDX-License-Identifier: Apache-2.0
//
// The filter before the visitor.

#include "engine/segment/host_pending.h"

#include <utility>

namespace pigment {

Status VisitMatching(PendingReader& pages, const std::optional<HostFilter>& filter, bool reads_rows,
                     const PendingReader::RowVisitor& visit) {
  return pages.VisitRows(reads_rows || filter,
                         [&](const PendingRow& row, uint32_t physical) -> Status {
                           if (filter) {
                             const Result<bool> matches = filter->Matches(row.keys());
                             if (!matches.ok())
                               return pages.Damaged(physical, matches.status().message());
                             if (!*matches) return Status::Ok();
                           }
                           return visit(row, physical);
                         });
}

CachedChain::CachedChain(std::shared_ptr<PendingCache> of, BlockSource* pages,
                         const SharedVectors* vectors)
    : cache(std::move(of)), source(pages), shared(vectors), chain(cache->Chain(pages, vectors)) {}

Status CachedChain::Begin() {
  if (rows) return Status::Ok();
  PIGMENT_RETURN_IF_ERROR(cache->Extend(source, shared));
  rows = cache->size();
  if (cache->is_full()) rest.emplace(cache->Rest(source, shared));
  return Status::Ok();
}

Result<bool> CachedChain::Matches(size_t row, const std::optional<HostFilter>& filter) const {
  if (!filter) return true;
  const PendingCache::Row& place = cache->row(row);
  Result<bool> matches = filter->Matches(cache->keys(place));
  if (matches.ok()) return matches;
  return chain.Damaged(place.physical, matches.status().message());
}

}  // namespace pigment

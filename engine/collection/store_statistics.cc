// SPDX-License-Identifier: Apache-2.0
//
// Statistics of an open store.

#include "engine/catalog/catalog_files.h"
#include "engine/collection/deletions_file.h"
#include "engine/collection/store_engine.h"
#include "engine/log/log_replay.h"
#include "engine/segment/root.h"

namespace pigment {

Result<StoreStatistics> StoreEngine::statistics() const {
  PIGMENT_ASSIGN_OR_RETURN(const Operation operation, BeginRead());
  StoreStatistics statistics;
  const auto current = catalog();
  statistics.is_read_only = options_.read_only;
  statistics.position = position();
  if (log_) statistics.log = log_->statistics();
  statistics.catalog = current->statistics();
  statistics.migrations = current->migrations();
  statistics.memory_used_bytes = environment_->budget.used_bytes();
  statistics.memory_limit_bytes = environment_->budget.limit_bytes();
  statistics.tail_bytes = tail_bytes_.load(std::memory_order_relaxed);
  statistics.formats = {.log = kLogVersion,
                        .catalog = kCatalogVersion,
                        .block = kBlockFormat,
                        .segment = kSegmentFormat,
                        .deletions = kDeletionsFormat};
  return statistics;
}

}  // namespace pigment

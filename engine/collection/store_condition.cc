// SPDX-License-Identifier: Apache-2.0
//
// The condition of an open store.

#include "engine/catalog/catalog_files.h"
#include "engine/collection/deletions_file.h"
#include "engine/collection/store_engine.h"
#include "engine/log/log_replay.h"
#include "engine/segment/root.h"

namespace pigment {

Result<StoreCondition> StoreEngine::Condition() const {
  PIGMENT_ASSIGN_OR_RETURN(const Operation operation, BeginRead());
  StoreCondition condition;
  const auto current = catalog();
  condition.is_read_only = options_.read_only;
  condition.position = position();
  if (log_) condition.log = log_->statistics();
  condition.catalog = current->statistics();
  condition.migrations = current->migrations();
  condition.memory_used_bytes = environment_->budget.used_bytes();
  condition.memory_limit_bytes = environment_->budget.limit_bytes();
  condition.tail_bytes = environment_->tails.used_bytes();
  condition.formats = {.log = kLogVersion,
                       .catalog = kCatalogVersion,
                       .block = kBlockFormatMax,
                       .segment = kSegmentFormat,
                       .deletions = kDeletionsFormat};
  return condition;
}

}  // namespace pigment

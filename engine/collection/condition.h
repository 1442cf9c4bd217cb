// SPDX-License-Identifier: Apache-2.0
//
// StoreCondition: how an open store is, at about one moment. A plain value.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/catalog/catalog.h"
#include "engine/log/log.h"

namespace pigment {

// Versions of the formats that this library writes.
struct FormatVersions {
  uint32_t log = 0;
  uint32_t catalog = 0;
  uint32_t block = 0;
  uint32_t segment = 0;
  uint32_t deletions = 0;
};

struct StoreCondition {
  bool is_read_only = false;
  uint64_t position = 0;
  std::optional<LogStatistics> log;  // of a writer
  Catalog::Statistics catalog;
  std::vector<Catalog::Migration> migrations;
  uint64_t memory_used_bytes = 0;   // charged to the budget
  uint64_t memory_limit_bytes = 0;  // 0: none
  uint64_t tail_bytes = 0;          // of all tails, nearly
  FormatVersions formats;
};

}  // namespace pigment

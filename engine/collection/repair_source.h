// SPDX-License-Identifier: Apache-2.0
//
// What can be read of a damaged store's catalog and log: every record that validates by itself,
// also behind damage. Pure reading; one thread.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/base/record_framing.h"
#include "engine/base/status.h"
#include "engine/base/uuid.h"
#include "engine/catalog/catalog_state.h"
#include "engine/collection/repair.h"

namespace pigment {

// Memory or descriptors that this process lacks are no damage of the store: a repair that went on
// would give up what another one keeps.
inline bool IsLackOfOurs(const Status& status) {
  return status.code() == Code::kResourceExhausted;
}

struct SalvagedCatalog {
  Uuid store;
  CatalogState state;
  RepairReport::CatalogState condition = RepairReport::CatalogState::kWhole;
};

// `messages` gets what was wrong.
Result<SalvagedCatalog> SalvageCatalog(FileSystem* files, const std::string& directory,
                                       std::vector<std::string>& messages);

struct SalvagedLog {
  std::map<uint64_t, std::string> batches;  // by position
  bool is_whole = true;
};
Result<SalvagedLog> SalvageLog(FileSystem* files, const std::string& directory, const Uuid& store,
                               std::vector<std::string>& messages);

}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// The open stores of this process: two opens of one directory, by whatever path, share one engine,
// because a second one would not see the first's tail. A directory is told by device and inode (on
// a file system of a test: by its path). Any thread; a forked child starts with none.

#pragma once

#include <memory>
#include <string>

#include "engine/collection/store_engine.h"

namespace pigment {

struct RegistrySlot;

struct RegisteredEngine {
  std::shared_ptr<StoreEngine> engine;
  std::shared_ptr<RegistrySlot> slot;  // null for a store in memory
};

// Options other than those of the open engine: kFailedPrecondition naming the option. `files` null:
// the disk.
Result<RegisteredEngine> OpenRegistered(const std::string& path, const StoreOptions& options,
                                        FileSystem* files);

// One open of the engine ends: the last one closes it, earlier ones make durable what was
// acknowledged.
Status CloseRegistered(const RegisteredEngine& registered);

}  // namespace pigment

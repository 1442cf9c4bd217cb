// SPDX-License-Identifier: Apache-2.0
//
// Reading the files of a log: which there are, what they hold, and whether what is not there was
// ever promised. Called by Log::Open, on its thread.

#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/files.h"
#include "engine/log/log.h"

namespace pigment {

inline constexpr uint32_t kLogVersion = 2;

struct LogFile {
  uint64_t number = 0;
  uint64_t first_position = 0;
  uint64_t bytes = 0;
};

// "0000000042.log"
std::string LogFileName(uint64_t number);

struct LogReplay {
  uint64_t last_position = 0;
  uint64_t next_number = 1;
  std::vector<LogFile> files;  // ascending
  // The last batches, as far as nothing on disk proves that they are durable: an earlier process
  // may have written them and failed to sync them. Whoever writes on must write them again.
  std::vector<std::string> unproven;
  // Whether the last file ends as its writer left it. Otherwise what that cut away, a refused group,
  // may come back with the next power cut.
  bool is_closed = true;
};

// Calls `apply` for every batch above `floor`.
Result<LogReplay> ReplayLog(FileSystem* files, const std::string& directory,
                            const std::array<std::byte, 16>& store, uint64_t floor,
                            const Log::Apply& apply);

}  // namespace pigment

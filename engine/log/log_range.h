// SPDX-License-Identifier: Apache-2.0
//
// A run of a log's batches beside its writer, and a log that is written in one go: what a backup
// copies. Reading stops at a position that the caller knows to be written, so bytes that another
// thread is just appending are never looked at. Files that the run needs must not be purged
// meanwhile. Pure functions over a file system; any thread.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/files.h"
#include "engine/base/record_appender.h"
#include "engine/log/log.h"
#include "engine/log/log_replay.h"

namespace pigment {

// The log files of a folder by their names, ascending; other names are passed over.
Result<std::vector<uint64_t>> ListLogFiles(FileSystem* files, const std::string& directory);

// Calls `visit` for the batches after + 1 .. to, in order. REQUIRES: those up to `to` were written.
// One that is not there: kDataLoss with the file that should have it.
Status ReadLogRange(FileSystem* files, const std::string& directory,
                    const std::array<std::byte, 16>& store, uint64_t after, uint64_t to,
                    const Log::Apply& visit);

// Writes a log of one file into an empty folder. One thread.
class LogCopy {
 public:
  // Begins behind position `after`.
  static Result<std::unique_ptr<LogCopy>> Begin(FileSystem* files, const std::string& directory,
                                                const std::array<std::byte, 16>& store,
                                                uint64_t after);
  Status Add(std::span<const std::byte> payload);  // the next position
  // Makes all of it durable, and its name, and says so in the file, so that the next open need not
  // write it again.
  Status Finish();

  uint64_t bytes() const { return bytes_; }

 private:
  LogCopy(FileSystem* files, std::string directory)
      : files_(files), directory_(std::move(directory)) {}
  Status WriteOut();

  FileSystem* const files_;
  const std::string directory_;
  RecordAppender appender_;
  std::vector<std::string> pending_;
  uint64_t pending_bytes_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace pigment

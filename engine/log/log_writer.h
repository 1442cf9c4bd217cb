// SPDX-License-Identifier: Apache-2.0
//
// LogWriter: the files that a log appends to: what replay could not prove is written again, a full
// file gives way to the next, old files are removed. Not thread-safe: the log lets one thread at a
// time have its turn (log.cc), except Purge, which any thread may call.

#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "engine/base/files.h"
#include "engine/base/record_appender.h"
#include "engine/log/log_replay.h"

namespace pigment {

class LogWriter {
 public:
  LogWriter(FileSystem* files, std::string directory, const std::array<std::byte, 16>& store,
            uint64_t file_bytes_max, LogReplay replay);

  // Makes what replay could not prove durable again. A full disk is no error: the next Write tries
  // again.
  Status SecureUnproven();

  // Appends `payloads` as the next positions, synced when asked for. When it fails, nothing of them
  // was written, unless is_broken(): then nobody knows.
  Status Write(std::span<const std::span<const std::byte>> payloads, bool is_synced);

  Status Sync() { return appender_.Sync(); }
  Status Close() { return appender_.Close(); }

  // Removes files whose batches are all at or below `floor`, and those that the next file replaces.
  Status Purge(uint64_t floor);

  bool is_broken() const { return is_broken_ || appender_.is_broken(); }
  bool has_unsynced() const { return appender_.has_file() && appender_.has_unsynced(); }
  uint64_t written_position() const {
    return appender_.has_file() ? appender_.written_position() : last_position_;
  }

 private:
  Status BeginFile();

  FileSystem* const files_;
  const std::string directory_;
  const std::array<std::byte, 16> store_;
  const uint64_t file_bytes_max_;

  RecordAppender appender_;  // without a file until the first write
  bool is_broken_ = false;
  uint64_t next_number_;
  const uint64_t last_position_;  // that replay found
  std::vector<std::string>
      unproven_;  // the batches up to last_position_ to begin the first file with

  std::mutex listed_mutex_;
  std::vector<LogFile> listed_;  // guarded by listed_mutex_; ascending
};

}  // namespace pigment

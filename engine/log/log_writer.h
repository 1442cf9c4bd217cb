// SPDX-License-Identifier: Apache-2.0
//
// LogWriter: the files that a log appends to: what replay could not prove is written again, a full
// file gives way to the next, old files are erased and removed. Not thread-safe: the log lets one
// thread at a time have its turn (log.cc), except Purge and space, which any thread may call.

#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/files.h"
#include "engine/base/record_appender.h"
#include "engine/log/log_replay.h"

namespace pigment {

struct LogSpace {
  uint64_t files = 0;
  uint64_t bytes = 0;            // headers and records; in files of earlier opens everything
  uint64_t allocated_bytes = 0;  // sizes of the files
  uint64_t purged_files = 0;
  uint64_t erased_bytes = 0;
};

class LogWriter {
 public:
  LogWriter(FileSystem* files, std::string directory, const std::array<std::byte, 16>& store,
            const LogOptions& options, LogReplay replay);

  // Makes what replay could not prove durable again. A full disk is no error: the next Write tries
  // again.
  Status SecureUnproven();

  // Appends `payloads` as the next positions, synced when asked for. When it fails, nothing of them
  // was written, unless is_broken(): then nobody knows.
  Status Write(std::span<const std::span<const std::byte>> payloads, bool is_synced);

  // Ends the file being written, or those that replay read, and begins the next.
  Status Rotate();

  Status Sync() { return appender_.Sync(); }
  Status Close();

  // Removes files whose batches are all at or below `floor`, and those that the next file replaces.
  Status Purge(uint64_t floor);
  LogSpace space() const;

  bool is_broken() const { return is_broken_ || appender_.is_broken(); }
  bool has_unsynced() const { return appender_.has_file() && appender_.has_unsynced(); }
  uint64_t written_position() const {
    return has_begun_ ? appender_.written_position() : last_position_;
  }
  uint64_t synced_position() const {
    return has_begun_ ? appender_.synced_position() : last_position_;
  }
  uint64_t syncs() const { return appender_.syncs(); }
  int64_t sync_ns() const { return appender_.sync_ns(); }

 private:
  Status BeginFile();
  Status EndFile();
  void NoteEnd();
  Status RemoveFile(uint64_t number);
  Status EraseFile(const std::string& path);

  FileSystem* const files_;
  const std::string directory_;
  const std::array<std::byte, 16> store_;
  const uint64_t file_bytes_max_;
  const bool is_erasing_;

  RecordAppender appender_;  // without a file until the first write
  bool has_begun_ = false;   // a file of its own; the appender has let go of it after Close
  bool is_broken_ = false;
  uint64_t next_number_;
  const uint64_t last_position_;  // that replay found
  const bool is_closed_;  // what replay found
  std::vector<std::string>
      unproven_;  // the batches up to last_position_ to begin the first file with

  std::mutex purge_mutex_;           // one purge at a time; taken before listed_mutex_
  mutable std::mutex listed_mutex_;  // guards the rest; nothing is called while it is held
  std::vector<LogFile> listed_;      // ascending
  uint64_t allocated_ahead_ = 0;     // in the last of them
  uint64_t purged_files_ = 0;
  uint64_t erased_bytes_ = 0;
};

}  // namespace pigment

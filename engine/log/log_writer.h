// SPDX-License-Identifier: Apache-2.0
//
// LogWriter: the file that a log appends to: groups of records, syncs, rotation, and what happens
// when the disk is full. Not thread-safe: the log lets one thread at a time have its turn (log.cc),
// except Purge, which any thread may call.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/files.h"
#include "engine/base/record_framing.h"
#include "engine/log/log_replay.h"

namespace pigment {

class LogWriter {
 public:
  LogWriter(FileSystem* files, std::string directory, const std::array<std::byte, 16>& store,
            uint64_t file_bytes_max, LogReplay replay);

  // Makes what replay could not prove durable again. A full disk is no error: the next Write tries
  // again.
  Status SecureUnproven();

  // Appends `payloads` as the next positions, synced when asked for. kResourceExhausted: nothing of
  // them was written. Any other failure after bytes went to the file leaves is_broken() true:
  // nobody knows what a reopen will find.
  Status Write(std::span<const std::span<const std::byte>> payloads, bool is_synced);

  Status Sync();   // a failure breaks the writer
  Status Close();  // syncs, notes at the end of the file that all of it is durable, closes

  // Removes files whose batches are all at or below `floor`, and those that the next file replaces.
  Status Purge(uint64_t floor);

  bool is_broken() const { return is_broken_; }
  bool has_unsynced() const { return written_position_ > synced_position_; }
  uint64_t written_position() const { return written_position_; }

 private:
  Status PrepareFile();
  Status BeginFile();
  Status CutBack();
  template <typename Operation>
  Status Risk(const Operation& operation);

  FileSystem* const files_;
  const std::string directory_;
  const std::array<std::byte, 16> store_;
  const uint64_t file_bytes_max_;

  std::unique_ptr<File> file_;  // null until the first write
  FramedHeader header_;         // of file_
  uint64_t end_ = 0;            // of the records in file_
  bool has_leftover_ = false;   // bytes of a refused group may lie behind end_
  bool is_broken_ = false;
  uint64_t next_number_;
  uint64_t written_position_;
  uint64_t synced_position_;
  std::vector<std::string>
      unproven_;  // the batches up to written_position_, to begin the next file with

  std::mutex listed_mutex_;
  std::vector<LogFile> listed_;  // guarded by listed_mutex_; ascending
};

}  // namespace pigment

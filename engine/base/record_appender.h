// SPDX-License-Identifier: Apache-2.0
//
// RecordAppender: the end of a file of records (record_framing.h) that is being written: groups of
// records, syncs, and what happens when the disk is full. Not thread-safe; its owner lets one
// thread at a time in.
//
// One that allocates ahead writes zeros behind a small group that is synced, so that the next syncs
// find their blocks there, written before, and the file as large as it was: a sync is then one
// write of data and none of the file system's own. Zeros are no record.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "engine/base/clock.h"
#include "engine/base/files.h"
#include "engine/base/record_framing.h"

namespace pigment {

class RecordAppender {
 public:
  enum class Space { kAsNeeded, kAhead };
  explicit RecordAppender(Space space = Space::kAsNeeded, Clock* clock = SystemClock())
      : space_(space), clock_(clock) {}

  // Goes on in `file` at `end`, behind `last_position`; everything there is durable.
  void Adopt(std::unique_ptr<File> file, const FramedHeader& header, uint64_t end,
             uint64_t last_position);

  // Appends `payloads` as the next positions, synced when asked for. REQUIRES: has_file().
  // kResourceExhausted with Detail::kDiskFull: nothing of them is left. Any other failure breaks
  // the appender: nobody knows what a reopen finds.
  Status Write(std::span<const std::span<const std::byte>> payloads, bool is_synced);

  // Truncates what a refused group left behind, when that was not possible at once.
  Status RemoveLeftover();

  Status Sync();  // a failure breaks the appender
  // Gives back what is allocated behind the records, as far as the file system does it.
  void Trim();
  // Syncs, notes at the end of the file that all of it is durable, trims and closes the file.
  Status Close();

  bool has_file() const { return file_ != nullptr; }
  bool is_broken() const { return is_broken_; }
  bool has_unsynced() const { return written_position_ > synced_position_; }
  uint64_t end() const { return end_; }
  uint64_t allocated_end() const { return allocated_end_; }
  uint64_t written_position() const { return written_position_; }
  uint64_t synced_position() const { return synced_position_; }
  // Of all files so far.
  uint64_t syncs() const { return syncs_; }
  int64_t sync_ns() const { return sync_ns_; }

 private:
  uint64_t BytesAhead(uint64_t end, uint64_t group_bytes) const;
  Status WriteOut(std::string_view bytes);
  Status CutBack();

  const Space space_;
  Clock* const clock_;

  std::unique_ptr<File> file_;
  FramedHeader header_;
  uint64_t end_ = 0;            // of the records
  uint64_t allocated_end_ = 0;  // of the zeros behind them
  bool is_ahead_refused_ = false;  // there was no room in this file's time
  bool has_leftover_ = false;  // bytes of a refused group may lie behind end_
  // Set before each operation, cleared when its outcome is known to be harmless: so also when there
  // is no memory left to say what went wrong.
  bool is_broken_ = false;
  uint64_t written_position_ = 0;
  uint64_t synced_position_ = 0;
  uint64_t syncs_ = 0;
  int64_t sync_ns_ = 0;
};

}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// The write-ahead log of a store: batches appended by any thread, written and synced together
// (group commit), replayed at open. Bytes on disk: engine/log/README.md.
//
// Thread safety: Append and the getters from any thread; Open and Replay before the log is shared.
// Apply order: the callback given to Open runs for every batch, in log order, by one thread at a
// time, after the batch is as durable as the mode promises and before Append returns; it must not
// call the log.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "engine/base/clock.h"
#include "engine/base/disk_reserve.h"
#include "engine/base/files.h"
#include "engine/base/status.h"

namespace pigment {

enum class SyncMode : int32_t {
  kFull = 0,  // Append returns after an fsync that covers the batch (shared by all waiting writers)
  kInterval = 1,  // synced by a timer at most `interval_ms` later
  kOff = 2,       // left to the operating system
};

struct LogOptions {
  SyncMode sync_mode = SyncMode::kFull;
  uint32_t interval_ms = 100;
  uint64_t file_bytes_max = 64ull << 20;  // a fuller file is closed and a new one begun
  bool read_only = false;                 // Replay only; writes nothing, not even a lock
  bool is_erasing = false;  // purged files are overwritten with zeros before they are removed
  DiskReserve* reserve = nullptr;  // for a full disk; null: none
  Clock* clock = nullptr;          // for kInterval and the statistics; null: the machine's
};

// A look at a log; counts are since it was opened.
struct LogStatistics {
  SyncMode sync_mode = SyncMode::kFull;
  uint64_t position = 0;         // of the last applied batch
  uint64_t synced_position = 0;  // everything up to it survives a power cut
  uint64_t files = 0;
  uint64_t bytes = 0;            // of headers and records
  uint64_t allocated_bytes = 0;  // and of what is allocated ahead
  uint64_t batches = 0;          // acknowledged
  uint64_t refused_batches = 0;  // by their check, the disk, or a log that is poisoned
  uint64_t groups = 0;           // batches written together
  uint64_t syncs = 0;
  int64_t sync_ns = 0;
  uint64_t waiting_calls = 0;  // right now: appends and syncs that have not returned
  uint64_t purges = 0;
  uint64_t purged_files = 0;
  uint64_t erased_bytes = 0;
  Status poison;  // ok, or why the log takes no more writes
};

// As a floor: nothing of the log is needed, whatever is missing in it. For a store without
// collections.
inline constexpr uint64_t kNothingNeeded = UINT64_MAX;

class Log {
 public:
  // `payload` is valid during the call. `position` is the batch's number: 1, 2, 3 … without gaps.
  // An error returned by an apply callback is fatal for the log (it is poisoned): it means that
  // memory and disk disagree.
  using Apply = std::function<Status(uint64_t position, std::span<const std::byte> payload)>;

  // Opens the log in `directory` (created when missing), replays every batch with position >
  // `floor` through `apply`, in order, and is then ready to append. `store` is the uuid that seeds
  // all checksums. Batches up to `floor` may be missing, later ones not: a hole is kDataLoss, and
  // so is an empty log below a floor. A torn tail (bytes that were never acknowledged) is cut by
  // beginning a new file; damage to what was acknowledged is kDataLoss with file and offset. A file
  // of a newer format: kVersionMismatch naming both versions.
  static Result<std::unique_ptr<Log>> Open(FileSystem* files, std::string directory,
                                           std::span<const std::byte, 16> store, uint64_t floor,
                                           const LogOptions& options, Apply apply);
  virtual ~Log() = default;

  // Appends one batch; returns its position after it is durable (see SyncMode) and applied. Waits
  // for its group's sync. A failed write or sync fails every batch of the queue and poisons the
  // log: kFailedPrecondition, Detail::kPoisoned, from then on. Disk full (kResourceExhausted)
  // refuses the batch, leaves nothing of it behind, and does not poison. A payload beyond 1 GiB:
  // kResourceExhausted, Detail::kLimit. With `check`, it is called in queue order before the batch
  // is written, and its error refuses the batch: validation that must see all earlier batches
  // (queued ones too) belongs there. `refused` tells `check`'s owner that a batch it accepted was
  // not written (or that nobody can know, when the log is poisoned); refusals of one group come
  // newest first. Neither may call the log.
  struct Batch {
    std::span<const std::byte> payload;
    std::function<Status()> check;
    std::function<void()> refused;
    // The batch takes data away, so a full disk does not refuse it as long as the reserve lasts.
    // Batches without this are refused while the reserve is not there. Its `check` must not count
    // on batches before it: those may be refused when it is not.
    bool may_use_reserve = false;
  };
  virtual Result<uint64_t> Append(const Batch& batch) = 0;

  // Makes everything appended so far durable, whatever the mode.
  virtual Status Sync() = 0;
  // Refuses further appends (kFailedPrecondition, Detail::kClosed), waits for those under way,
  // syncs. Close again: ok. Destruction without Close leaves what was not synced to the operating
  // system. No call may be under way then.
  virtual Status Close() = 0;
  // Removes files that hold only batches with position <= `floor`. With is_erasing their records
  // are overwritten first, durably. REQUIRES: whoever opens the log next gives a floor as high.
  virtual Status Purge(uint64_t floor) = 0;
  // Ends the file being written, so that Purge of the last position removes every batch there is.
  // Disk full changes nothing.
  virtual Status Rotate() = 0;

  virtual uint64_t last_position() const = 0;       // of the last applied batch
  virtual LogStatistics statistics() const = 0;  // waits for no input or output
};

}  // namespace pigment

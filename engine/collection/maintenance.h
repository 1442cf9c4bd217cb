// SPDX-License-Identifier: Apache-2.0
//
// Maintenance: the threads of a store that merge segments. Started when the first merge is due. A
// thread that is in a large merge does much smaller ones in between, so that flushes do not pile up
// behind it. What fails is tried again later, ever more rarely, and loses nothing. Owned by the
// engine; any thread may call. In a forked child nothing of this may be called, not even the
// destructor: the threads are not there.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/collection/collection_state.h"
#include "engine/collection/store.h"

namespace pigment {

class Maintenance {
 public:
  explicit Maintenance(uint32_t threads) : threads_max_(threads) {}
  ~Maintenance() { Stop(); }
  Maintenance(const Maintenance&) = delete;
  Maintenance& operator=(const Maintenance&) = delete;

  // A merge of `state` is due: some thread does it, and what is due after it. False: there is no
  // thread, the caller must do it.
  // Not before `earliest_ns`, of the monotonic clock.
  bool Schedule(const std::shared_ptr<CollectionState>& state, int64_t earliest_ns = 0);
  // The same at once, whether or not anything is due.
  bool ScheduleNow(const std::shared_ptr<CollectionState>& state) { return ScheduleAt(state, 0); }
  // Does what is due, now, on this thread.
  void MergeHere(CollectionState& state);
  // Waits while the collection has far too many segments and a merge of it is under way or about to
  // be. A merge that failed holds nobody back.
  void WaitForRoom(const CollectionState& state);

  // Merges end at their next pause and leave nothing; nobody waits any more. Does not wait.
  void Cancel();
  // Cancel, and wait for the threads.
  void Stop();
  // Ok, or kCancelled after Cancel.
  Status Check() const;

  void Count(const MergeReport& report);
  MaintenanceStatistics statistics() const;

 private:
  struct Task {
    std::shared_ptr<CollectionState> state;
    int64_t not_before_ns = 0;  // monotonic; after a failure, or of quiet work
    uint32_t failures = 0;      // in a row
    uint32_t running = 0;       // threads that merge for it
    bool is_asked_for = true;   // something may be due that nobody has looked at
  };
  using Tasks = std::list<Task>;

  bool ScheduleAt(const std::shared_ptr<CollectionState>& state, int64_t due_ns);
  bool StartThreadsLocked();
  void Work();
  // The first task that may run now and has at most `rows_max` rows due.
  Tasks::iterator FindLocked(uint64_t rows_max);
  // Runs one merge of `task`; the lock is given up meanwhile.
  void RunLocked(Tasks::iterator task, uint64_t rows_max, std::unique_lock<std::mutex>& lock);
  Status Pause(uint64_t rows);
  void NoteFailureLocked(Task& task, const Status& status);
  bool HasWorkLocked(const CollectionState& state) const;

  const uint32_t threads_max_;
  std::atomic<bool> is_cancelled_{false};
  std::atomic<bool> is_asked_{false};  // looked at by merges at their pauses, without the lock

  mutable std::mutex mutex_;  // guards the rest; taken before no other lock
  std::condition_variable has_work_;
  std::condition_variable has_progress_;
  Tasks tasks_;
  std::vector<std::thread> threads_;
  MaintenanceStatistics statistics_;
};

}  // namespace pigment

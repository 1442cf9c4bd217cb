// SPDX-License-Identifier: Apache-2.0
//
// Maintenance: a list of collections under one mutex.

#include "engine/collection/maintenance.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/base/call_control.h"
#include "engine/base/out_of_memory.h"
#include "engine/base/thread_pool.h"

namespace pigment {

namespace {

// A merge is interrupted for one of at most this part of it.
constexpr uint64_t kSmallerBy = 4;
constexpr int64_t kFirstRetryNs = 1'000'000'000;
constexpr uint32_t kRetryDoublingsMax = 8;  // at most every four minutes

// When something of a collection may be due; 0: now.
int64_t DueOf(const CollectionState& state) {
  if (state.due_merge_rows() != 0 || state.graft_is_due()) return 0;
  return state.quiet_due_ns();
}

}  // namespace

bool Maintenance::Schedule(const std::shared_ptr<CollectionState>& state, int64_t earliest_ns) {
  return ScheduleAt(state, std::max(DueOf(*state), earliest_ns));
}

bool Maintenance::ScheduleAt(const std::shared_ptr<CollectionState>& state, int64_t due_ns) {
  std::lock_guard lock(mutex_);
  if (is_cancelled_.load()) return true;
  if (!StartThreadsLocked()) return false;
  const auto found = std::find_if(tasks_.begin(), tasks_.end(),
                                  [&state](const Task& task) { return task.state == state; });
  if (found == tasks_.end()) {
    tasks_.push_back({.state = state, .not_before_ns = due_ns});
  } else {
    if (found->is_asked_for && (found->failures != 0 || found->not_before_ns <= due_ns))
      return true;
    found->is_asked_for = true;
    if (found->failures == 0) found->not_before_ns = due_ns;
  }
  is_asked_.store(true, std::memory_order_relaxed);
  has_work_.notify_one();
  return true;
}

bool Maintenance::StartThreadsLocked() {
  threads_.reserve(threads_max_);
  while (threads_.size() < threads_max_) {
    Result<std::thread> thread = StartThread("pigment-merge", [this] { Work(); });
    if (!thread.ok()) break;  // fewer, or none
    threads_.push_back(*std::move(thread));
  }
  return !threads_.empty();
}

void Maintenance::MergeHere(CollectionState& state) {
  for (;;) {
    const auto report = CatchOutOfMemory(
        [&] { return state.MergeOnce(kMergeRowsAny, [this](uint64_t) { return Check(); }); });
    if (report.ok() && *report) {
      Count(**report);
      continue;
    }
    if (!report.ok() && report.status().code() != Code::kCancelled) {
      state.DeferMerges();  // the next flush asks again
      std::lock_guard lock(mutex_);
      ++statistics_.failures;
      statistics_.last_error = report.status();
    }
    return;
  }
}

bool Maintenance::HasWorkLocked(const CollectionState& state) const {
  return std::any_of(tasks_.begin(), tasks_.end(), [&state](const Task& task) {
    return task.state.get() == &state && task.failures == 0;
  });
}

void Maintenance::WaitForRoom(const CollectionState& state) {
  if (!state.has_too_many_segments()) return;
  std::unique_lock lock(mutex_);
  const auto may_go_on = [&] {
    return is_cancelled_.load() || !state.has_too_many_segments() || !HasWorkLocked(state);
  };
  if (may_go_on()) return;
  ++statistics_.waiting_writers;
  ++statistics_.writer_waits;
  has_progress_.wait(lock, may_go_on);
  --statistics_.waiting_writers;
}

void Maintenance::Cancel() {
  std::lock_guard lock(mutex_);
  is_cancelled_.store(true);
  has_work_.notify_all();
  has_progress_.notify_all();
}

void Maintenance::Stop() {
  Cancel();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  tasks_.clear();
}

Status Maintenance::Check() const {
  if (!is_cancelled_.load(std::memory_order_relaxed)) return Status::Ok();
  return Status(Code::kCancelled, "the store is being closed");
}

void Maintenance::Count(const MergeReport& report) {
  std::lock_guard lock(mutex_);
  statistics_.merges += report.merges;
  statistics_.rows += report.rows;
  statistics_.bytes += report.bytes;
}

MaintenanceStatistics Maintenance::statistics() const {
  std::lock_guard lock(mutex_);
  MaintenanceStatistics now = statistics_;
  for (const Task& task : tasks_) {
    now.running += task.running;
    now.queued += task.running == 0 ? 1 : 0;
  }
  return now;
}

void Maintenance::Work() {
  GiveWay();
  std::unique_lock lock(mutex_);
  while (!is_cancelled_.load()) {
    if (const auto task = FindLocked(kMergeRowsAny); task != tasks_.end()) {
      RunLocked(task, kMergeRowsAny, lock);
      continue;
    }
    int64_t wake_ns = 0;
    for (const Task& task : tasks_) {
      if (task.not_before_ns != 0 && task.is_asked_for)
        wake_ns = wake_ns == 0 ? task.not_before_ns : std::min(wake_ns, task.not_before_ns);
    }
    if (wake_ns == 0) {
      has_work_.wait(lock);
    } else {
      has_work_.wait_for(lock, std::chrono::nanoseconds(wake_ns - MonotonicNow()));
    }
  }
}

Maintenance::Tasks::iterator Maintenance::FindLocked(uint64_t rows_max) {
  const int64_t now = MonotonicNow();
  return std::find_if(tasks_.begin(), tasks_.end(), [&](const Task& task) {
    if (!task.is_asked_for || task.not_before_ns > now) return false;
    return rows_max == kMergeRowsAny ||
           (task.state->due_merge_rows() != 0 && task.state->due_merge_rows() <= rows_max);
  });
}

void Maintenance::RunLocked(Tasks::iterator task, uint64_t rows_max,
                            std::unique_lock<std::mutex>& lock) {
  task->is_asked_for = false;
  ++task->running;
  lock.unlock();
  const MergePause pause = [this](uint64_t rows) { return Pause(rows); };
  const auto report = CatchOutOfMemory([&]() -> Result<std::optional<MergeReport>> {
    PIGMENT_RETURN_IF_ERROR(task->state->GraftOnce(pause));
    return task->state->MergeOnce(rows_max, pause);
  });
  if (report.ok() && *report) Count(**report);
  lock.lock();
  --task->running;
  if (!report.ok() && report.status().code() != Code::kCancelled &&
      report.status().code() != Code::kNotFound) {
    NoteFailureLocked(*task, report.status());
  } else {
    if (report.ok() && *report) {
      task->failures = 0;
      task->not_before_ns = 0;
    }
    if (task->state->due_merge_rows() != 0 || task->state->graft_is_due()) {
      task->is_asked_for = true;
    } else if (task->state->quiet_due_ns() != 0) {
      task->is_asked_for = true;
      task->not_before_ns = std::max(task->not_before_ns, task->state->quiet_due_ns());
    }
    if (!task->is_asked_for && task->running == 0) tasks_.erase(task);
  }
  if (std::any_of(tasks_.begin(), tasks_.end(), [](const Task& one) { return one.is_asked_for; })) {
    is_asked_.store(true, std::memory_order_relaxed);
    has_work_.notify_one();
  }
  has_progress_.notify_all();
}

void Maintenance::NoteFailureLocked(Task& task, const Status& status) {
  const uint32_t doublings = std::min(task.failures++, kRetryDoublingsMax);
  task.not_before_ns = MonotonicNow() + (kFirstRetryNs << doublings);
  task.is_asked_for = true;
  ++statistics_.failures;
  statistics_.last_error = status;
}

Status Maintenance::Pause(uint64_t rows) {
  PIGMENT_RETURN_IF_ERROR(Check());
  if (!is_asked_.load(std::memory_order_relaxed)) return Status::Ok();
  const uint64_t rows_max = rows / kSmallerBy;
  std::unique_lock lock(mutex_);
  is_asked_.store(false, std::memory_order_relaxed);
  for (auto task = FindLocked(rows_max); task != tasks_.end() && !is_cancelled_.load();
       task = FindLocked(rows_max))
    RunLocked(task, rows_max, lock);
  return Check();
}

}  // namespace pigment

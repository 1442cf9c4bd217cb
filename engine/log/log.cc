// SPDX-License-Identifier: Apache-2.0
//
// Log: one queue of waiting writers. The first of them has the turn: it takes a group off the
// queue, checks, writes, syncs and applies it while the others wait or queue up behind, wakes its
// group and passes the turn on.

#include "engine/log/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/planted_bugs.h"
#include "engine/base/thread_pool.h"
#include "engine/log/log_writer.h"
#include "engine/record/batch_bytes.h"

namespace pigment {
namespace {

constexpr size_t kGroupBatchesMax = 1024;
constexpr uint64_t kGroupBytesMax = 16 << 20;

// Made before they are needed: an error about memory must not ask for some.
struct ReadyErrors {
  Status memory = ResourceExhausted(Detail::kMemory, "out of memory while writing to the log");
  Status exception = Internal("an exception while writing to the log");
  Status poisoned =
      FailedPrecondition(Detail::kPoisoned, "the log ran out of memory and takes no more writes")
          .WithHint("close and open again; a write that failed may or may not be there then");
};
const ReadyErrors& Ready() {
  static const auto* const errors = new ReadyErrors;
  return *errors;
}

// Runs somebody else's code, or code that allocates; nothing gets out but a status, so that no
// waiter is left behind.
template <typename Function>
Status Contained(const Function& function) noexcept {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return Ready().memory;
  } catch (...) {
    return Ready().exception;
  }
}

// What `cause` ended, and what can be done about it.
Status PoisonedBy(std::string_view what, const Status& cause, const char* hint) noexcept {
  try {
    return FailedPrecondition(Detail::kPoisoned, std::string(what) + cause.message())
        .WithFile(cause.file(), cause.offset())
        .WithHint(hint);
  } catch (...) {
    return Ready().poisoned;
  }
}

class LogImpl final : public Log {
 public:
  LogImpl(const LogOptions& options, Apply apply, std::unique_ptr<LogWriter> writer,
          uint64_t last_position)
      : options_(options),
        clock_(options.clock != nullptr ? options.clock : SystemClock()),
        apply_(std::move(apply)),
        writer_(std::move(writer)),
        last_position_(last_position) {
    (void)Ready();
    statistics_.sync_mode = options.sync_mode;
    statistics_.synced_position = last_position;
  }

  ~LogImpl() override { StopTimer(); }

  Status StartTimer() {
    PIGMENT_ASSIGN_OR_RETURN(timer_, StartThread("pigment-log", [this] { RunTimer(); }));
    return Status::Ok();
  }

  Result<uint64_t> Append(const Batch& batch) override;
  Status Sync() override;
  Status Close() override;
  Status Purge(uint64_t floor) override;
  Status Rotate() override;
  LogStatistics statistics() const override;
  uint64_t last_position() const override { return last_position_.load(std::memory_order_acquire); }

 private:
  // One call that waits for its turn. Lives on its thread's stack.
  struct Waiter {
    const Batch* batch = nullptr;  // null: wants the turn for something else
    bool is_accepted = false;
    uint64_t position = 0;
    Status status;
    // Guarded by mutex_:
    bool has_turn = false;
    bool is_done = false;
    std::condition_variable wake;
  };
  using Group = std::vector<Waiter*>;

  Status CheckWritable() const;  // REQUIRES: mutex_
  void WaitForTurn(Waiter& waiter, std::unique_lock<std::mutex>& lock);
  void PassTurn();                                           // REQUIRES: mutex_, the turn
  Status TakeGroup(Group* group);                            // REQUIRES: mutex_, the turn
  void FinishGroup(const Group& group, const Waiter& self);  // REQUIRES: mutex_, the turn
  void NoteTurn();                                           // REQUIRES: mutex_, the turn
  void Poison(const Status& cause);                          // REQUIRES: mutex_, the turn
  template <typename Work>
  Status WithTurn(const Work& work);
  // These REQUIRE the turn, and not mutex_.
  void Commit(const Group& group);
  Status WriteAccepted(const Group& group);
  Status WriteWithReserve(const Group& group);
  template <typename Selection>
  void TellRefused(const Group& group, const Selection& is_selected);
  void RunTimer();
  void StopTimer();

  const LogOptions options_;
  Clock* const clock_;
  const Apply apply_;
  const std::unique_ptr<LogWriter> writer_;  // null when read-only; used by whoever has the turn
  std::atomic<uint64_t> last_position_;
  Status failure_;  // of the turn under way: why the log is to be poisoned; belongs to the turn

  mutable std::mutex mutex_;  // guards the rest
  std::deque<Waiter*> queue_;
  bool is_turn_taken_ = false;
  bool is_closing_ = false;
  Status poison_;
  LogStatistics statistics_;      // what the log itself counts, and the writer's as of the last turn
  int64_t unsynced_since_ = 0;  // kInterval; 0: nothing is unsynced
  bool is_timer_stopping_ = false;
  std::condition_variable timer_wake_;
  std::thread timer_;
};

// ---- Turns
// ----------------------------------------------------------------------------------------------------------

Status LogImpl::CheckWritable() const {
  if (writer_ == nullptr)
    return FailedPrecondition(Detail::kReadOnly, "the log was opened read-only");
  if (is_closing_) return FailedPrecondition(Detail::kClosed, "the log is closed");
  return poison_;
}

void LogImpl::WaitForTurn(Waiter& waiter, std::unique_lock<std::mutex>& lock) {
  queue_.push_back(&waiter);
  ++statistics_.waiting_calls;
  if (!is_turn_taken_) {  // then the queue was empty
    is_turn_taken_ = true;
    waiter.has_turn = true;
  }
  waiter.wake.wait(lock, [&] { return waiter.has_turn || waiter.is_done; });
}

void LogImpl::PassTurn() {
  if (queue_.empty()) {
    is_turn_taken_ = false;
    return;
  }
  queue_.front()->has_turn = true;
  queue_.front()->wake.notify_one();
}

// The batches at the front of the queue, the caller's among them.
Status LogImpl::TakeGroup(Group* group) {
  uint64_t bytes = 0;
  return Contained([&] {
    group->reserve(std::min(queue_.size(), kGroupBatchesMax));
    while (!queue_.empty() && queue_.front()->batch != nullptr &&
           group->size() < kGroupBatchesMax &&
           (group->empty() || bytes + queue_.front()->batch->payload.size() <= kGroupBytesMax)) {
      bytes += queue_.front()->batch->payload.size();
      group->push_back(queue_.front());
      queue_.pop_front();
    }
    return Status::Ok();
  });
}

void LogImpl::FinishGroup(const Group& group, const Waiter& self) {
  for (Waiter* waiter : group) {
    waiter->is_done = true;
    ++(waiter->status.ok() ? statistics_.batches : statistics_.refused_batches);
    if (waiter != &self) waiter->wake.notify_one();
  }
}

void LogImpl::NoteTurn() {
  statistics_.synced_position = writer_->synced_position();
  statistics_.syncs = writer_->syncs();
  statistics_.sync_ns = writer_->sync_ns();
}

void LogImpl::Poison(const Status& cause) {
  poison_ = PoisonedBy("the log takes no more writes after a failure: ", cause,
                       "close and open again; a write that failed may or may not be there then");
  unsynced_since_ = 0;
  for (auto it = queue_.begin(); it != queue_.end();) {
    Waiter* waiter = *it;
    if (waiter->batch == nullptr) {  // it finds out by itself
      ++it;
      continue;
    }
    waiter->status = poison_;
    waiter->is_done = true;
    ++statistics_.refused_batches;
    waiter->wake.notify_one();
    it = queue_.erase(it);
  }
}

template <typename Work>
Status LogImpl::WithTurn(const Work& work) {
  std::unique_lock lock(mutex_);
  Waiter self;
  WaitForTurn(self, lock);
  queue_.pop_front();
  Status status = poison_;
  if (status.ok()) {
    lock.unlock();
    status = Contained(work);
    lock.lock();
    if (writer_->is_broken()) {
      Poison(status);
      status = poison_;
    } else if (!writer_->has_unsynced()) {
      unsynced_since_ = 0;
    }
    NoteTurn();
  }
  PassTurn();
  --statistics_.waiting_calls;
  return status;
}

// ---- Appending
// ------------------------------------------------------------------------------------------------------

Result<uint64_t> LogImpl::Append(const Batch& batch) {
  PIGMENT_RETURN_IF_ERROR(CheckBatchBytes(batch.payload.size()));
  std::unique_lock lock(mutex_);
  PIGMENT_RETURN_IF_ERROR(CheckWritable());
  Waiter self;
  self.batch = &batch;
  WaitForTurn(self, lock);
  if (!self.is_done) {
    Group group;
    self.status = TakeGroup(&group);
    if (self.status.ok()) {
      lock.unlock();
      Commit(group);
      lock.lock();
      FinishGroup(group, self);
    } else {
      queue_.pop_front();  // no memory for the list: this one alone gives up
      ++statistics_.refused_batches;
    }
    NoteTurn();
    if (!failure_.ok()) Poison(std::exchange(failure_, Status::Ok()));
    PassTurn();
  }
  --statistics_.waiting_calls;
  if (!self.status.ok()) return self.status;
  return self.position;
}

void LogImpl::Commit(const Group& group) {
  bool has_accepted = false;
  const Status room = options_.reserve == nullptr
                          ? Status::Ok()
                          : Contained([this] { return options_.reserve->Require(); });
  for (Waiter* waiter : group) {
    if (!waiter->batch->may_use_reserve) waiter->status = room;
    if (waiter->status.ok() && waiter->batch->check)
      waiter->status = Contained(waiter->batch->check);
    waiter->is_accepted = waiter->status.ok();
    has_accepted |= waiter->is_accepted;
  }
  if (!has_accepted) return;
  Status status = Contained([&] { return WriteWithReserve(group); });
  if (!status.ok()) TellRefused(group, [](const Batch&) { return true; });
  for (auto it = group.begin(); it != group.end() && status.ok(); ++it) {
    if (!(*it)->is_accepted) continue;
    status = Contained([&] { return apply_((*it)->position, (*it)->batch->payload); });
    if (status.ok()) {
      last_position_.store((*it)->position, std::memory_order_release);
      (*it)->is_accepted = false;  // nothing can go wrong with it any more
    } else {
      failure_ = status;  // memory and disk disagree
    }
  }
  if (writer_->is_broken() && !PIGMENT_PLANTED(kLogGoesOnAfterAFailure)) failure_ = status;
  for (Waiter* waiter : group) {
    if (!waiter->is_accepted) continue;
    waiter->status = failure_.ok()
                         ? status
                         : PoisonedBy("the log failed: ", status,
                                      "close and open again; the write may or may not be there then");
  }
}

// Newest first.
template <typename Selection>
void LogImpl::TellRefused(const Group& group, const Selection& is_selected) {
  for (auto it = group.rbegin(); it != group.rend(); ++it) {
    const Batch& batch = *(*it)->batch;
    if ((*it)->is_accepted && is_selected(batch) && batch.refused) {
      static_cast<void>(Contained([&] { return batch.refused(), Status::Ok(); }));
    }
  }
}

// On a full disk those go on alone that may use the reserve: first with what room there is, then
// with the reserve's.
Status LogImpl::WriteWithReserve(const Group& group) {
  const auto is_full = [this](const Status& status) {
    return status.detail() == Detail::kDiskFull && !writer_->is_broken();
  };
  Status status = WriteAccepted(group);
  if (!is_full(status)) return status;
  const auto adds_data = [](const Batch& batch) { return !batch.may_use_reserve; };
  TellRefused(group, adds_data);
  size_t refused = 0, left = 0;
  for (Waiter* waiter : group) {
    if (!waiter->is_accepted) continue;
    if (adds_data(*waiter->batch)) {
      waiter->status = status;
      waiter->is_accepted = false;
      ++refused;
    } else {
      ++left;
    }
  }
  if (left == 0) return Status::Ok();
  if (refused > 0) status = WriteAccepted(group);
  if (is_full(status) && options_.reserve != nullptr && options_.reserve->Release())
    status = WriteAccepted(group);
  return status;
}

Status LogImpl::WriteAccepted(const Group& group) {
  std::vector<std::span<const std::byte>> payloads;
  payloads.reserve(group.size());
  uint64_t position = writer_->written_position();
  for (Waiter* waiter : group) {
    if (!waiter->is_accepted) continue;
    waiter->position = ++position;
    payloads.push_back(waiter->batch->payload);
  }
  PIGMENT_RETURN_IF_ERROR(writer_->Write(payloads, options_.sync_mode == SyncMode::kFull));
  std::lock_guard lock(mutex_);
  ++statistics_.groups;
  NoteTurn();
  if (options_.sync_mode == SyncMode::kInterval && unsynced_since_ == 0) {
    unsynced_since_ = clock_->MonotonicNow();
    timer_wake_.notify_one();
  }
  return Status::Ok();
}

// ---- The rest
// -------------------------------------------------------------------------------------------------------

Status LogImpl::Sync() {
  if (writer_ == nullptr) return Status::Ok();
  return WithTurn([this] { return writer_->has_unsynced() ? writer_->Sync() : Status::Ok(); });
}

Status LogImpl::Close() {
  if (writer_ == nullptr) return Status::Ok();
  {
    std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  const Status status = WithTurn([this] { return writer_->Close(); });
  StopTimer();
  return status;
}

Status LogImpl::Purge(uint64_t floor) {
  {
    std::lock_guard lock(mutex_);
    PIGMENT_RETURN_IF_ERROR(CheckWritable());
  }
  PIGMENT_RETURN_IF_ERROR(writer_->Purge(floor));
  std::lock_guard lock(mutex_);
  ++statistics_.purges;
  return Status::Ok();
}

Status LogImpl::Rotate() {
  {
    std::lock_guard lock(mutex_);
    PIGMENT_RETURN_IF_ERROR(CheckWritable());
  }
  return WithTurn([this] { return writer_->Rotate(); });
}

LogStatistics LogImpl::statistics() const {
  const uint64_t position = last_position();  // first: what is durable is never behind it
  LogStatistics statistics;
  {
    std::lock_guard lock(mutex_);
    statistics = statistics_;
    statistics.poison = poison_;
  }
  statistics.position = position;
  if (writer_ == nullptr) return statistics;
  const LogSpace space = writer_->space();
  statistics.files = space.files;
  statistics.bytes = space.bytes;
  statistics.allocated_bytes = space.allocated_bytes;
  statistics.purged_files = space.purged_files;
  statistics.erased_bytes = space.erased_bytes;
  return statistics;
}

void LogImpl::RunTimer() {
  const int64_t interval_ns = int64_t{options_.interval_ms} * 1'000'000;
  std::unique_lock lock(mutex_);
  while (!is_timer_stopping_) {
    if (unsynced_since_ == 0) {
      timer_wake_.wait(lock);
    } else if (const int64_t due = unsynced_since_ + interval_ns; clock_->MonotonicNow() < due) {
      clock_->WaitUntil(timer_wake_, lock, due);
    } else {
      lock.unlock();
      // A failure has poisoned the log: the next writer is told. Without memory to ask, later.
      const bool is_asked = Contained([this] {
                              static_cast<void>(Sync().ok());
                              return Status::Ok();
                            }).ok();
      lock.lock();
      if (!is_asked) unsynced_since_ = clock_->MonotonicNow();
    }
  }
}

void LogImpl::StopTimer() {
  std::thread timer;
  {
    std::lock_guard lock(mutex_);
    is_timer_stopping_ = true;
    timer = std::move(timer_);
  }
  timer_wake_.notify_all();
  if (timer.joinable()) timer.join();
}

std::string ParentOf(std::string directory) {
  while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
  const size_t slash = directory.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : directory.substr(0, slash);
}

Status PrepareDirectory(FileSystem* files, const std::string& directory) {
  PIGMENT_RETURN_IF_ERROR(files->MakeDirectory(directory));
  // Also when it was there: whoever made it may have died before this.
  if (!PIGMENT_PLANTED(kLogFolderNotDurable))
    PIGMENT_RETURN_IF_ERROR(files->SyncDirectory(ParentOf(directory)));
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<std::string> names, files->List(directory));
  for (const std::string& name : names) {
    if (name.ends_with(".log.tmp")) PIGMENT_RETURN_IF_ERROR(files->Remove(directory + "/" + name));
  }
  return Status::Ok();
}

Result<LogReplay> ReplayBesideWriter(FileSystem* files, const std::string& directory,
                                     const std::array<std::byte, 16>& store, uint64_t floor,
                                     const Log::Apply& apply) {
  PIGMENT_ASSIGN_OR_RETURN(const bool exists, files->Exists(directory));
  if (!exists && (floor == 0 || floor == kNothingNeeded))
    return LogReplay();  // a store whose maker died before its log was made
  return ReplayLog(files, directory, store, floor, apply);
}

}  // namespace

Result<std::unique_ptr<Log>> Log::Open(FileSystem* files, std::string directory,
                                       std::span<const std::byte, 16> store, uint64_t floor,
                                       const LogOptions& options, Apply apply) {
  std::array<std::byte, 16> owner;
  std::copy(store.begin(), store.end(), owner.begin());
  if (options.read_only) {
    PIGMENT_ASSIGN_OR_RETURN(const LogReplay replay,
                             ReplayBesideWriter(files, directory, owner, floor, apply));
    return std::unique_ptr<Log>(
        std::make_unique<LogImpl>(options, std::move(apply), nullptr, replay.last_position));
  }
  PIGMENT_RETURN_IF_ERROR(PrepareDirectory(files, directory));
  PIGMENT_ASSIGN_OR_RETURN(LogReplay replay, ReplayLog(files, directory, owner, floor, apply));
  const uint64_t last_position = replay.last_position;
  auto writer = std::make_unique<LogWriter>(files, std::move(directory), owner, options,
                                            std::move(replay));
  PIGMENT_RETURN_IF_ERROR(writer->SecureUnproven());
  auto log = std::make_unique<LogImpl>(options, std::move(apply), std::move(writer), last_position);
  if (options.sync_mode == SyncMode::kInterval) PIGMENT_RETURN_IF_ERROR(log->StartTimer());
  return std::unique_ptr<Log>(std::move(log));
}

}  // namespace pigment

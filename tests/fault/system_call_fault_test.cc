// SPDX-License-Identifier: Apache-2.0
//
// The system calls of DiskFileSystem fail, are interrupted, or transfer less than asked: this
// program is linked with --wrap for each of them. Interruptions and short transfers are invisible;
// errors are told, lose nothing, and end.

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "tests/fault/disk_run.h"
#include "tests/support/effort.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

enum class Mode {
  kNone,
  kInterrupt,  // every other call that may be interrupted is, before it did anything
  kShort,      // reads and writes transfer a part
  kNothing,    // the n-th write writes nothing, and says so
  kError,
};

struct SystemCalls {
  bool is_active = false;
  Mode mode = Mode::kNone;
  uint64_t at = 0;
  bool forever = false;
  int error = 0;
  uint64_t calls = 0;
  uint64_t met = 0;
  bool was_interrupted = false;
};
// Used by the test's thread alone: stores without threads of their own.
thread_local SystemCalls t_calls;

// Whether this call fails; errno is set then.
bool Fails(bool may_be_interrupted) {
  SystemCalls& calls = t_calls;
  if (!calls.is_active) return false;
  if (calls.mode == Mode::kInterrupt && may_be_interrupted) {
    calls.was_interrupted = !calls.was_interrupted;
    if (!calls.was_interrupted) return false;
    ++calls.met;
    errno = EINTR;
    return true;
  }
  if (calls.mode != Mode::kError) return false;
  ++calls.calls;
  const bool fails = calls.forever ? calls.calls >= calls.at : calls.calls == calls.at;
  if (!fails) return false;
  ++calls.met;
  errno = calls.error;
  return true;
}

// How much of a transfer is done.
size_t Part(size_t size) {
  SystemCalls& calls = t_calls;
  if (!calls.is_active || calls.mode != Mode::kShort || size < 2) return size;
  ++calls.met;
  return 1 + calls.met * 7919 % (size - 1);
}

// Whether this write is one of nothing.
bool WritesNothing() {
  SystemCalls& calls = t_calls;
  if (!calls.is_active || calls.mode != Mode::kNothing || ++calls.calls != calls.at) return false;
  ++calls.met;
  return true;
}

}  // namespace
}  // namespace pigment

// NOLINTBEGIN: these names are the linker's.
extern "C" {

int __real_open(const char* path, int flags, ...);
int __wrap_open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return pigment::Fails(true) ? -1 : __real_open(path, flags, mode);
}

ssize_t __real_pread(int fd, void* out, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void* out, size_t size, off_t offset) {
  return pigment::Fails(true) ? -1 : __real_pread(fd, out, pigment::Part(size), offset);
}

ssize_t __real_pwrite(int fd, const void* bytes, size_t size, off_t offset);
ssize_t __wrap_pwrite(int fd, const void* bytes, size_t size, off_t offset) {
  if (pigment::Fails(true)) return -1;
  if (pigment::WritesNothing()) return 0;
  return __real_pwrite(fd, bytes, pigment::Part(size), offset);
}

int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd) { return pigment::Fails(true) ? -1 : __real_fdatasync(fd); }

int __real_fsync(int fd);
int __wrap_fsync(int fd) { return pigment::Fails(true) ? -1 : __real_fsync(fd); }

int __real_ftruncate(int fd, off_t size);
int __wrap_ftruncate(int fd, off_t size) {
  return pigment::Fails(true) ? -1 : __real_ftruncate(fd, size);
}

int __real_fallocate(int fd, int mode, off_t offset, off_t size);
int __wrap_fallocate(int fd, int mode, off_t offset, off_t size) {
  return pigment::Fails(true) ? -1 : __real_fallocate(fd, mode, offset, size);
}

int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  return pigment::Fails(true) ? -1 : __real_fcntl(fd, command, argument);
}

int __real_fstat(int fd, struct stat* out);
int __wrap_fstat(int fd, struct stat* out) {
  return pigment::Fails(false) ? -1 : __real_fstat(fd, out);
}

int __real_rename(const char* from, const char* to);
int __wrap_rename(const char* from, const char* to) {
  return pigment::Fails(false) ? -1 : __real_rename(from, to);
}

int __real_remove(const char* path);
int __wrap_remove(const char* path) { return pigment::Fails(false) ? -1 : __real_remove(path); }

int __real_mkdir(const char* path, mode_t mode);
int __wrap_mkdir(const char* path, mode_t mode) {
  return pigment::Fails(false) ? -1 : __real_mkdir(path, mode);
}

DIR* __real_opendir(const char* path);
DIR* __wrap_opendir(const char* path) {
  return pigment::Fails(false) ? nullptr : __real_opendir(path);
}

dirent* __real_readdir(DIR* directory);
dirent* __wrap_readdir(DIR* directory) {
  return pigment::Fails(false) ? nullptr : __real_readdir(directory);
}

}  // extern "C"
// NOLINTEND

namespace pigment {
namespace {

// EACCES is not among them: of fcntl it means that somebody else has the lock.
constexpr std::array kCallErrors = {EIO, ENOSPC, ENOMEM, ESTALE};

std::vector<DiskScenario> DiskScenarios(const Bases& bases) {
  std::vector<DiskScenario> all;
  const auto add = [&all](std::string name, const Base& base, std::vector<FaultStep> steps,
                          const StoreOptions& options = SmallReserveOptions()) {
    all.push_back(
        {.name = std::move(name), .base = &base, .steps = std::move(steps), .options = options});
  };
  const auto closed = [&](std::string name, const Base& base, std::vector<FaultStep> steps) {
    add(std::move(name), base, std::move(steps));
    all.back().begins_open = false;
  };
  const std::vector<FaultStep> visit{OpenStep(), ReadStep(), CloseStep()};
  closed("create a store", bases.empty, {OpenStep(), CreateStep(kBusy), CloseStep()});
  closed("open with segments", bases.mixed, visit);
  closed("open after a kill", bases.killed, visit);
  closed("open with a shelf", bases.shelved, visit);
  closed("read-only open", bases.killed, {OpenReaderStep()});
  add("write and flush", bases.segmented, Join({bases.Writes(41, kBusy, 4), {FlushStep(kBusy)}}));
  add("compact", bases.segmented, Join({bases.Writes(42, kBusy, 2), {CompactStep(kBusy)}}));
  add("catalog", bases.mixed,
      {CreateTenantStep("t"), RenameStep(kCold, "warm"), ForkStep(kBusy, "fork"),
       DeleteCollectionStep(kBusy), CheckpointStep()});
  add("purge and shelve", bases.many_logs, Join({bases.Writes(43, kOther, 3), {CloseStep()}}),
      SmallLogOptions());
  StoreOptions erasing = SmallReserveOptions();
  erasing.erase_log = true;
  add("erase the log", bases.mixed, {FlushStep(kBusy), FlushAllStep()}, erasing);
  add("check", bases.mixed, {CheckStep()});
  add("back up", bases.mixed, {BackupStep()});
  add("fork a shelf", bases.shelved, {ForkStep(kCold, "fork"), DeleteTenantStep("acme")});
  add("flush by writing", bases.mixed, bases.Writes(44, kBusy, 2), SmallTailOptions(12));
  closed("check a directory", bases.shelved, {CheckDirectoryStep()});
  closed("repair", bases.shelved, {RepairStep()});
  all.back().may_lose = true;
  return all;
}

class SystemCallFault : public testing::Test {
 protected:
  // Runs a scenario with `calls`; how many faults it met.
  uint64_t Run(const DiskScenario& scenario, const SystemCalls& calls) {
    uint64_t met = 0;
    // Thousands of runs would wait for a disk that has nothing to do with what they look at.
    const bool is_fast = calls.mode == Mode::kError || calls.mode == Mode::kNothing;
    const std::string& directory = is_fast ? fast_.path() : directory_.path();
    const DiskFaults faults{
        .resume = [] { t_calls.is_active = true; },
        .pause = [] { t_calls.is_active = false; },
        .end =
            [this, &met] {
              met += t_calls.met;
              calls_made_ = std::max(calls_made_, t_calls.calls);
              t_calls = {};
            },
        .check_error =
            [&calls, &directory, &scenario](const Status& status) {
              EXPECT_NE(calls.mode, Mode::kInterrupt) << "seen: " << status.ToString();
              EXPECT_NE(calls.mode, Mode::kShort) << "seen: " << status.ToString();
              const int error = calls.mode == Mode::kNothing ? ENOSPC : calls.error;
              const bool is_lost = scenario.may_lose && status.code() == Code::kDataLoss;
              EXPECT_TRUE(is_lost || status.detail() == Detail::kPoisoned ||
                          status.code() == CodeOf(error))
                  << status.ToString();
              EXPECT_NE(status.ToString().find(directory), std::string::npos)
                  << "names no file: " << status.ToString();
            }};
    calls_made_ = 0;
    DiskRun run(scenario, faults, directory + "/db");
    t_calls = calls;
    run.Run();
    return met;
  }

  TemporaryDirectory directory_;
  FastDirectory fast_;
  uint64_t calls_made_ = 0;
  const Bases bases_;
};

TEST_F(SystemCallFault, InterruptionsAndShortTransfersAreInvisible) {
  uint64_t interrupted = 0, shortened = 0;
  for (const DiskScenario& scenario : DiskScenarios(bases_)) {
    SCOPED_TRACE(scenario.name);
    interrupted += Run(scenario, {.mode = Mode::kInterrupt});
    interrupted += Run(scenario, {.mode = Mode::kInterrupt, .was_interrupted = true});
    shortened += Run(scenario, {.mode = Mode::kShort});
  }
  EXPECT_GT(interrupted, 200u);
  EXPECT_GT(shortened, 200u);
  std::printf("  %llu interruptions, %llu short transfers\n",
              static_cast<unsigned long long>(interrupted),
              static_cast<unsigned long long>(shortened));
}

TEST_F(SystemCallFault, AWriteOfNothingIsAFullDisk) {
  uint64_t injected = 0;
  for (const DiskScenario& scenario : DiskScenarios(bases_)) {
    SCOPED_TRACE(scenario.name);
    for (uint64_t at = 1; at < 100 && !HasFailure(); ++at) {
      SCOPED_TRACE("write " + std::to_string(at));
      if (Run(scenario, {.mode = Mode::kNothing, .at = at}) == 0) break;
      ++injected;
    }
  }
  EXPECT_GT(injected, 40u);
}

TEST_F(SystemCallFault, EveryFailingCallLosesNothingAndSaysWhatFailed) {
  Share share;
  uint64_t injected = 0;
  const auto sweep = [&](const DiskScenario& scenario) {
    SCOPED_TRACE(scenario.name);
    // Counts the calls: an error far beyond them.
    ASSERT_EQ(Run(scenario, {.mode = Mode::kError, .at = 1u << 30, .error = EIO}), 0u);
    const uint64_t calls = calls_made_;
    EXPECT_GT(calls, 5u);
    for (uint64_t at = 1; at <= calls && !HasFailure(); ++at) {
      for (const int error : kCallErrors) {
        for (const bool forever : {false, true}) {
          if (!share.IsNext()) continue;
          SCOPED_TRACE(std::string(::strerrorname_np(error)) +
                       (forever ? " from call " : " once at call ") + std::to_string(at));
          injected += Run(scenario,
                          {.mode = Mode::kError, .at = at, .forever = forever, .error = error}) > 0;
        }
      }
    }
  };
  for (uint64_t round = 0; static_cast<double>(round) < Effort() && !HasFailure(); ++round) {
    const Bases bases(round);
    for (const DiskScenario& scenario : DiskScenarios(bases)) {
      const uint64_t before = injected;
      const auto begin = std::chrono::steady_clock::now();
      sweep(scenario);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      std::printf("  %-28s %6llu faults, %.2f s\n", scenario.name.c_str(),
                  static_cast<unsigned long long>(injected - before), took.count());
      if (HasFailure()) break;
    }
  }
  ExpectFloor("injected faults of system calls", injected, 8000);
}

}  // namespace
}  // namespace pigment

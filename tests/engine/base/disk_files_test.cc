// SPDX-License-Identifier: Apache-2.0
//
// DiskFileSystem: what only the real disk shows: permissions, system errors, size limits, locks
// between processes.

#include "engine/base/disk_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>

#include "engine/base/bytes.h"
#include "engine/base/clock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

using ::testing::HasSubstr;

mode_t ModeOf(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(stat(path.c_str(), &status), 0);
  return status.st_mode & 0777;
}

// Runs `body` in a child process and gives back its exit status; -signal when one ended it.
template <typename Body>
int InChild(const Body& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool HasBlocks(const std::string& path, int64_t bytes) {
  struct stat status {};
  EXPECT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_size, bytes);
  return status.st_blocks * 512 >= bytes;
}

// From here on this process has file systems that know no allocation.
bool RefuseAllocation() {
  std::array<sock_filter, 4> program = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_fallocate, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog filter{.len = program.size(), .filter = program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(DiskFiles, FilesAndDirectoriesAreTheOwnersAlone) {
  TemporaryDirectory directory;
  const mode_t before = umask(0);
  EXPECT_OK(DiskFiles()->Open(directory / "a", OpenMode::kCreate));
  EXPECT_OK(DiskFiles()->MakeDirectory(directory / "d"));
  EXPECT_OK(DiskFiles()->Lock(directory / "LOCK", "x"));
  umask(before);
  EXPECT_EQ(ModeOf(directory / "a"), 0600u);
  EXPECT_EQ(ModeOf(directory / "d"), 0700u);
  EXPECT_EQ(ModeOf(directory / "LOCK"), 0600u);
}

TEST(DiskFiles, SystemErrorsHaveTheirCodesAndNameTheFile) {
  const auto expect = [](int error, Code code, Detail detail) {
    const Status status = ErrnoStatus(error, "write", "/db/CATALOG");
    EXPECT_EQ(status.code(), code) << status.ToString();
    EXPECT_EQ(status.detail(), detail) << status.ToString();
    EXPECT_EQ(status.file(), "/db/CATALOG");
    EXPECT_THAT(status.message(), ::testing::StartsWith("cannot write /db/CATALOG: "));
  };
  for (const int error : {ENOSPC, EDQUOT, EFBIG})
    expect(error, Code::kResourceExhausted, Detail::kDiskFull);
  for (const int error : {EMFILE, ENFILE}) expect(error, Code::kResourceExhausted, Detail::kLimit);
  for (const int error : {EACCES, EPERM, EROFS})
    expect(error, Code::kPermissionDenied, Detail::kNone);
  expect(ENOMEM, Code::kResourceExhausted, Detail::kMemory);
  expect(ENOENT, Code::kNotFound, Detail::kNone);
  expect(EEXIST, Code::kAlreadyExists, Detail::kNone);
  expect(EIO, Code::kUnavailable, Detail::kNone);
  EXPECT_EQ(ErrnoStatus(ENOSPC, "write", "x").message(), "cannot write x: no space left on device");
}

TEST(DiskFiles, AllocatedBytesHaveBlocks) {
  TemporaryDirectory directory;
  const auto file = *DiskFiles()->Open(directory / "a", OpenMode::kCreate);
  ASSERT_OK(file->Allocate(1 << 20));
  ASSERT_OK(file->Sync());
  EXPECT_TRUE(HasBlocks(file->path(), 1 << 20));
}

TEST(DiskFiles, WhereNothingCanBeAllocatedZerosAreWritten) {
  TemporaryDirectory directory;
  EXPECT_EQ(InChild([&] {
              if (!RefuseAllocation()) return 1;
              const auto file = *DiskFiles()->Open(directory / "a", OpenMode::kCreate);
              if (!file->WriteAt(0, AsBytes("hello")).ok()) return 2;
              if (fallocate(0, 0, 0, 1) == 0 || errno != EOPNOTSUPP) return 3;
              if (!file->Allocate((1 << 20) + 1).ok() || !file->Sync().ok()) return 4;
              std::string bytes((1 << 20) + 1, '?');
              if (!file->ReadAt(0, std::as_writable_bytes(std::span(bytes))).ok()) return 5;
              std::string expected("hello");
              expected.resize((1 << 20) + 1);
              return bytes == expected ? 0 : 6;
            }),
            0);
  EXPECT_TRUE(HasBlocks(directory / "a", (1 << 20) + 1));
}

TEST(DiskFiles, AFileSizeLimitIsAFullDiskAndNoSignal) {
  TemporaryDirectory directory;
  EXPECT_EQ(
      InChild([&] {
        const rlimit limit{.rlim_cur = 4096, .rlim_max = 4096};
        setrlimit(RLIMIT_FSIZE, &limit);
        auto file = DiskFiles()->Open(directory / "a", OpenMode::kCreate);
        if (!file.ok()) return 1;
        if (!(*file)->WriteAt(0, AsBytes(std::string(4096, 'x'))).ok()) return 2;
        if ((*file)->WriteAt(4000, AsBytes(std::string(97, 'x'))).detail() != Detail::kDiskFull)
          return 3;
        if ((*file)->Truncate(5000).detail() != Detail::kDiskFull) return 4;
        if ((*file)->Allocate(5000).detail() != Detail::kDiskFull) return 6;
        return *(*file)->Size() == 4096 ? 0 : 5;
      }),
      0);
}

TEST(DiskFiles, ScratchHasNoNameAndBlocksOfItsOwn) {
  TemporaryDirectory directory;
  const ScratchSource source = DiskFiles()->ScratchIn(directory.path());
  auto scratch = source(1 << 20);
  ASSERT_OK(scratch);
  const std::span<std::byte> bytes = (*scratch)->bytes();
  ASSERT_EQ(bytes.size(), size_t{1} << 20);
  EXPECT_TRUE(std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; }));
  std::ranges::fill(bytes, std::byte{7});
  auto other = source(4096);
  ASSERT_OK(other);
  EXPECT_EQ((*other)->bytes().front(), std::byte{0});
  EXPECT_EQ(bytes.back(), std::byte{7});
  EXPECT_THAT(*DiskFiles()->List(directory.path()), ::testing::IsEmpty());
  const auto nowhere = DiskFiles()->ScratchIn(directory / "none")(4096);
  EXPECT_CODE(nowhere, Code::kNotFound);
}

TEST(DiskFiles, ScratchBeyondASizeLimitIsAFullDiskAndNoSignal) {
  TemporaryDirectory directory;
  EXPECT_EQ(InChild([&] {
              const rlimit limit{.rlim_cur = 8192, .rlim_max = 8192};
              setrlimit(RLIMIT_FSIZE, &limit);
              const ScratchSource source = DiskFiles()->ScratchIn(directory.path());
              if (source(8193).status().detail() != Detail::kDiskFull) return 1;
              const auto scratch = source(8192);
              if (!scratch.ok()) return 2;
              std::ranges::fill((*scratch)->bytes(), std::byte{1});
              return 0;
            }),
            0);
}

TEST(DiskFiles, WhatTheUserMayNotWriteIsPermissionDenied) {
  TemporaryDirectory directory;
  ASSERT_EQ(chmod(directory.path().c_str(), 0500), 0);
  EXPECT_EQ(InChild([&] {
              if (geteuid() == 0 && (chown(directory.path().c_str(), 65534, 65534) != 0 ||
                                     setgid(65534) != 0 || setuid(65534) != 0)) {
                return 9;
              }
              const auto file = DiskFiles()->Open(directory / "a", OpenMode::kCreate);
              return file.status().code() == Code::kPermissionDenied ? 0 : 1;
            }),
            0);
  chmod(directory.path().c_str(), 0700);
}

TEST(DiskFiles, AnotherProcessIsToldTheHolderAtOnce) {
  TemporaryDirectory directory;
  const Result<std::unique_ptr<FileLock>> lock =
      DiskFiles()->Lock(directory / "LOCK", DescribeThisProcess());
  ASSERT_OK(lock);
  const std::string holder = "open for writing by pid " + std::to_string(getpid()) + " (";
  EXPECT_EQ(InChild([&] {
              const auto begin = std::chrono::steady_clock::now();
              const auto second = DiskFiles()->Lock(directory / "LOCK", "child");
              if (std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(100))
                return 1;
              if (second.status().detail() != Detail::kLocked) return 2;
              return second.status().message().find(holder) != std::string::npos ? 0 : 3;
            }),
            0);
}

TEST(DiskFiles, TheLockOfAKilledProcessIsFree) {
  TemporaryDirectory directory;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto lock = DiskFiles()->Lock(directory / "LOCK", "child");
    static_cast<void>(!write(ready[1], lock.ok() ? "+" : "-", 1));
    pause();
    _exit(0);
  }
  char sign = 0;
  ASSERT_EQ(read(ready[0], &sign, 1), 1);
  ASSERT_EQ(sign, '+');
  const Status held = StatusOf(DiskFiles()->Lock(directory / "LOCK", "parent"));
  EXPECT_EQ(held.detail(), Detail::kLocked);
  EXPECT_THAT(held.message(), HasSubstr("child"));
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_OK(DiskFiles()->Lock(directory / "LOCK", "parent"));
  close(ready[0]);
  close(ready[1]);
}

TEST(DiskFiles, TheNameOfADeadHolderIsNotTakenForThePresentOnes) {
  TemporaryDirectory directory;
  const std::string path = directory / "LOCK";
  const pid_t dead = fork();
  if (dead == 0) _exit(0);
  int status = 0;
  ASSERT_EQ(waitpid(dead, &status, 0), dead);
  const auto lock = DiskFiles()->Lock(path, DescribeThisProcess());
  ASSERT_OK(lock);
  const auto write_holder = [&](const std::string& text) {
    const auto file = DiskFiles()->Open(path, OpenMode::kReadWrite);
    EXPECT_OK((*file)->Truncate(0));
    EXPECT_OK((*file)->WriteAt(0, AsBytes(text)));
  };
  write_holder("pid " + std::to_string(dead) + " (gone)");
  const pid_t child = fork();
  if (child == 0) {
    usleep(10'000);
    write_holder("pid " + std::to_string(getppid()) + " (here)");
    _exit(0);
  }
  const Status refused = DiskFiles()->Lock(path, "me").status();
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_THAT(refused.message(), HasSubstr("(here)"));
}

TEST(DiskFiles, AForkedChildFreesNothingAndKeepsNothingThatIsFreed) {
  TemporaryDirectory directory;
  auto lock = DiskFiles()->Lock(directory / "LOCK", "parent");
  ASSERT_OK(lock);
  EXPECT_EQ(InChild([&] {
              lock->reset();  // as a child that runs destructors does
              return DiskFiles()->Lock(directory / "LOCK", "child").status().detail() ==
                             Detail::kLocked
                         ? 0
                         : 1;
            }),
            0);
  EXPECT_EQ(StatusOf(DiskFiles()->Lock(directory / "LOCK", "x")).detail(), Detail::kLocked);
  int wait[2];
  ASSERT_EQ(pipe(wait), 0);
  const pid_t child = fork();  // holds the descriptor on
  if (child == 0) {
    char byte;
    close(wait[1]);
    _exit(static_cast<int>(read(wait[0], &byte, 1)));
  }
  lock->reset();
  EXPECT_OK(DiskFiles()->Lock(directory / "LOCK", "x"));
  close(wait[0]);
  close(wait[1]);
  waitpid(child, nullptr, 0);
}

TEST(DiskFiles, APinOfAnotherProcessIsSeenUntilItDies) {
  TemporaryDirectory directory;
  const std::string path = directory / "LOCK";
  const auto lock = DiskFiles()->Lock(path, "the writer");
  ASSERT_OK(lock);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto pin = DiskFiles()->PinPosition(path, 7);
    if (!pin.ok() || write(ready[1], "x", 1) != 1) _exit(1);
    for (;;) pause();
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_TRUE(DiskFiles()->IsPinnedBelow(path, 8).value());
  EXPECT_FALSE(DiskFiles()->IsPinnedBelow(path, 7).value());
  kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_FALSE(DiskFiles()->IsPinnedBelow(path, 8).value());
  close(ready[0]);
  close(ready[1]);
}

TEST(DiskFiles, AForkedChildNeitherFreesNorKeepsAPin) {
  TemporaryDirectory directory;
  const std::string path = directory / "LOCK";
  const auto lock = DiskFiles()->Lock(path, "the writer");
  ASSERT_OK(lock);
  auto pin = DiskFiles()->PinPosition(path, 3);
  ASSERT_OK(pin);
  int quit[2];
  ASSERT_EQ(pipe(quit), 0);
  const pid_t child = fork();
  if (child == 0) {
    *pin = nullptr;
    char byte;
    _exit(read(quit[0], &byte, 1) == 1 ? 0 : 1);
  }
  usleep(20'000);
  EXPECT_TRUE(DiskFiles()->IsPinnedBelow(path, 4).value());
  *pin = nullptr;
  EXPECT_FALSE(DiskFiles()->IsPinnedBelow(path, 4).value());
  ASSERT_EQ(write(quit[1], "q", 1), 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  close(quit[0]);
  close(quit[1]);
}

TEST(DiskFiles, WhatIsNoPositionAndWhatMayNotBeReadCannotBePinned) {
  TemporaryDirectory directory;
  const std::string path = directory / "LOCK";
  EXPECT_CODE(DiskFiles()->PinPosition(path, 0), Code::kNotFound);
  { ASSERT_OK(DiskFiles()->Lock(path, "the writer")); }
  EXPECT_CODE(DiskFiles()->PinPosition(path, UINT64_MAX), Code::kInvalidArgument);
  EXPECT_CODE(DiskFiles()->IsPinnedBelow(path, UINT64_MAX), Code::kInvalidArgument);
  // The kernel has no locks for this one.
  EXPECT_FALSE(DiskFiles()->PinPosition("/proc/self", 0).status().code() == Code::kNotFound);
}

TEST(DiskFiles, ThisProcessDescribesItself) {
  EXPECT_THAT(DescribeThisProcess(),
              ::testing::MatchesRegex("pid [0-9]+ \\(.+\\) since 20[0-9-]+T[0-9:]+Z"));
}

TEST(DiskFiles, ThisProcessBeganAMomentAgo) {
  const std::string text = DescribeThisProcess();
  const std::string since = text.substr(text.rfind(' ') + 1);
  const int64_t now = SystemClock()->WallNow();
  EXPECT_LE(since, FormatWallTime(now + 1'000'000'000));
  EXPECT_GE(since, FormatWallTime(now - 3'600'000'000'000)) << "tests take less than an hour";
}

TEST(DiskFiles, DescriptorsDoNotSurviveExec) {
  TemporaryDirectory directory;
  const auto file = DiskFiles()->Open(directory / "open-file", OpenMode::kCreate);
  const auto lock = DiskFiles()->Lock(directory / "LOCK", "x");
  ASSERT_OK(file);
  ASSERT_OK(lock);
  EXPECT_EQ(InChild([&] {
              execl("/bin/sh", "sh", "-c", "ls -l /proc/self/fd | grep -q -e open-file -e LOCK",
                    nullptr);
              return 99;
            }),
            1);
}

}  // namespace
}  // namespace pigment

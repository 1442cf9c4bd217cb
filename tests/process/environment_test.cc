// SPDX-License-Identifier: Apache-2.0
//
// What the system around a process may do to a store: disks that are really full, of bytes and of
// inodes (a small tmpfs in a namespace of our own), limits of the process, rights, odd paths, a
// clock that jumps, any umask.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "engine/base/bytes.h"
#include "engine/base/disk_files.h"
#include "engine/collection/store.h"
#include "engine/log/log.h"
#include "tests/process/children.h"
#include "tests/process/journal.h"
#include "tests/support/effort.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kFullCycles = 200;
constexpr uint64_t kCyclesOfAnOpen = 20;

bool WriteText(const char* path, const std::string& text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool is_written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(fd);
  return is_written;
}

// Goes into namespaces of its own, where it may mount, and mounts a tmpfs. Empty, or why not.
std::string MountTmpfs(const std::string& path, const std::string& options) {
  const uid_t user = geteuid();
  const gid_t group = getegid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return "no user and mount namespaces here";
  WriteText("/proc/self/setgroups", "deny");
  if (!WriteText("/proc/self/uid_map", "0 " + std::to_string(user) + " 1") ||
      !WriteText("/proc/self/gid_map", "0 " + std::to_string(group) + " 1")) {
    return "no user mapping here";
  }
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("tmpfs", path.c_str(), "tmpfs", 0, options.c_str()) != 0) {
    return "no tmpfs in a namespace here";
  }
  return "";
}

// Whether this machine lets us. tests/skips.txt lists what is skipped where it does not.
std::string WhyNoTmpfs() {
  TemporaryDirectory directory;
  return RunInChild([&] { return MountTmpfs(directory.path(), "size=1m"); });
}

bool IsFull(const Status& status) {
  return status.code() == Code::kResourceExhausted && status.detail() == Detail::kDiskFull;
}

// Takes every byte that is left. What it took once stays taken but for a few megabytes, so that a
// large disk is not filled anew each time.
bool FillDisk(const std::string& path) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  char page[4096] = {1};
  for (size_t piece = sizeof page; piece > 0; piece /= 2) {
    while (write(fd, page, piece) > 0) {
    }
  }
  close(fd);
  return true;
}

void FreeSomeDisk(const std::string& path) {
  constexpr uintmax_t kSomeBytes = 4 << 20;
  const uintmax_t size = fs::file_size(path);
  fs::resize_file(path, size - std::min(size, kSomeBytes));
}

// Takes every inode that is left.
void FillInodes(const std::string& folder) {
  mkdir(folder.c_str(), 0700);
  for (int number = 0;; ++number) {
    const int fd =
        open((folder + "/" + std::to_string(number)).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return;
    close(fd);
  }
}

StoreOptions SmallTails() {
  StoreOptions options;
  options.flush_rows_max = 40;
  options.background_threads = 0;
  return options;
}

// A store whose journal goes on through full disks; every step is checked.
class FullDiskRun {
 public:
  explicit FullDiskRun(std::string path) : path_(std::move(path)) {}

  std::string Open() {
    auto store = Store::Open(path_, SmallTails());
    PIGMENT_CHILD_OK(store);
    store_ = *std::move(store);
    auto journal = store_->GetCollection({}, "journal");
    if (!journal.ok()) journal = store_->CreateCollection(EntryNamed("journal"));
    PIGMENT_CHILD_OK(journal);
    journal_ = *std::move(journal);
    return Check();
  }

  std::string Close() {
    journal_.reset();
    const Status status = store_->Close();
    store_.reset();
    // A tail that found no room is in the log, and that is said.
    PIGMENT_CHILD_CHECK(status.ok() || IsFull(status));
    return "";
  }

  // Writes until the disk is full, or `batches` are written.
  std::string Write(int batches, bool* is_full) {
    *is_full = false;
    for (int i = 0; i < batches && !*is_full; ++i) {
      const Status status = Add(next_);
      if (status.ok()) {
        ++next_;
        continue;
      }
      *is_full = IsFull(status);
      if (!*is_full) return status.ToString();
    }
    return Check();
  }

  std::string MustBeFull() {
    bool is_full = false;
    // Space that was allocated ahead takes a few more.
    std::string failure = Write(500, &is_full);
    if (failure.empty()) PIGMENT_CHILD_CHECK(is_full);
    return failure;
  }

  // Nothing of what was refused is there, and everything else is.
  std::string Check() {
    const auto version = journal_->Pin();
    PIGMENT_CHILD_OK(version);
    GetRequest request;
    const auto ids = SelectIds(**version, request);
    PIGMENT_CHILD_OK(ids);
    if (ids->size() != next_ * 2) {
      return std::to_string(ids->size()) + " records, not " + std::to_string(next_ * 2);
    }
    return "";
  }

  std::string Empty() {
    WriteBatch erase;
    erase.kind = WriteKind::kDelete;
    for (uint64_t number = 0; number < next_; ++number) {
      erase.ids.push_back(std::to_string(number) + ".a");
      erase.ids.push_back(std::to_string(number) + ".b");
    }
    PIGMENT_CHILD_OK(journal_->Write(erase));
    next_ = 0;
    PIGMENT_CHILD_OK(journal_->Compact());
    return Check();
  }

 private:
  Status Add(uint64_t number) {
    WriteBatch batch;
    batch.ids = {std::to_string(number) + ".a", std::to_string(number) + ".b"};
    batch.dimension = 64;
    batch.embeddings.assign(128, static_cast<float>(number));
    batch.documents = {std::string(700, 'd'), std::string(900, 'e')};
    return journal_->Write(batch).status();
  }

  const std::string path_;
  std::shared_ptr<Store> store_;
  std::shared_ptr<Collection> journal_;
  uint64_t next_ = 0;
};

std::string FillAndFree(const std::string& root, uint64_t cycles, bool of_inodes, uint64_t* done) {
  FullDiskRun run(root + "/db");
  if (std::string failure = run.Open(); !failure.empty()) return failure;
  for (uint64_t cycle = 0; cycle < cycles; ++cycle) {
    const auto step = [&](const std::string& failure) {
      return failure.empty() ? failure : "cycle " + std::to_string(cycle) + ": " + failure;
    };
    bool is_full = false;
    if (auto text = step(run.Write(static_cast<int>(cycle % 7) + 1, &is_full)); !text.empty()) {
      return text;
    }
    if (of_inodes) {
      FillInodes(root + "/filler");
    } else {
      PIGMENT_CHILD_CHECK(FillDisk(root + "/filler"));
    }
    if (of_inodes) {
      // Flushes fail, and the log takes what it can.
      if (auto text = step(run.Write(60, &is_full)); !text.empty()) return text;
    } else if (auto text = step(run.MustBeFull()); !text.empty()) {
      return text;
    }
    if (cycle % kCyclesOfAnOpen == kCyclesOfAnOpen - 1) {  // also with a disk that is full
      if (auto text = step(run.Close()); !text.empty()) return text;
      if (auto text = step(run.Open()); !text.empty()) return text;
    }
    if (of_inodes) {
      fs::remove_all(root + "/filler");
    } else {
      FreeSomeDisk(root + "/filler");
    }
    // Works again without anything being opened again.
    if (auto text = step(run.Write(3, &is_full)); !text.empty()) return text;
    if (is_full) return step("the disk is full though there is space");
    if (cycle % 5 == 4) {
      if (auto text = step(run.Empty()); !text.empty()) return text;
    }
    ++*done;
  }
  return run.Close();
}

void RunFullDisk(const std::string& mount_options, bool of_inodes) {
  if (const std::string why = WhyNoTmpfs(); !why.empty()) GTEST_SKIP() << why;
  TemporaryDirectory directory;
  Shared<uint64_t> cycles;
  EXPECT_EQ(RunInChild([&]() -> std::string {
              if (std::string why = MountTmpfs(directory.path(), mount_options); !why.empty()) {
                return why;
              }
              return FillAndFree(directory.path(), AtEffort(kFullCycles), of_inodes, &*cycles);
            }),
            "");
  ExpectFloor(of_inodes ? "disks without an inode, and back" : "disks without a byte, and back",
              *cycles, kFullCycles);
}

TEST(FullDisk, WithoutAByteLeftRefusesWritesReadsOnAndRecoversByItself) {
  RunFullDisk("size=80m", false);
}

TEST(FullDisk, WithoutAnInodeLeftRefusesWritesReadsOnAndRecoversByItself) {
  RunFullDisk("size=200m,nr_inodes=40", true);
}

TEST(FullDisk, TooSmallForAStoreIsAnErrorAndWorksWhenThereIsSpace) {
  if (const std::string why = WhyNoTmpfs(); !why.empty()) GTEST_SKIP() << why;
  TemporaryDirectory directory;
  EXPECT_EQ(RunInChild([&]() -> std::string {
              if (std::string why = MountTmpfs(directory.path(), "size=1m,nr_inodes=20");
                  !why.empty()) {
                return why;
              }
              PIGMENT_CHILD_CHECK(FillDisk(directory / "filler"));
              PIGMENT_CHILD_CHECK(IsFull(Store::Open(directory / "db", {}).status()));
              fs::remove(directory / "filler");
              FillInodes(directory / "filler");
              const Status status = Store::Open(directory / "db", {}).status();
              PIGMENT_CHILD_CHECK(status.ok() || IsFull(status));
              fs::remove_all(directory / "filler");
              PIGMENT_CHILD_OK(Store::Open(directory / "db", {}));
              return "";
            }),
            "");
}

TEST(Limits, AFileSizeLimitIsAFullDiskUntilItIsRaised) {
  TemporaryDirectory directory;
  EXPECT_EQ(RunInChild([&]() -> std::string {
              FullDiskRun run(directory / "db");
              if (std::string text = run.Open(); !text.empty()) return text;
              rlimit limit{};
              getrlimit(RLIMIT_FSIZE, &limit);
              const rlim_t before = limit.rlim_cur;
              limit.rlim_cur = 160 << 10;
              PIGMENT_CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
              bool is_full = false;
              // One signal SIGXFSZ would end this process.
              if (std::string text = run.Write(2000, &is_full); !text.empty()) return text;
              PIGMENT_CHILD_CHECK(is_full);
              limit.rlim_cur = before;
              PIGMENT_CHILD_CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
              if (std::string text = run.Write(100, &is_full); !text.empty()) return text;
              PIGMENT_CHILD_CHECK(!is_full);
              return run.Close();
            }),
            "");
}

TEST(Limits, WithoutDescriptorsOpeningIsRefusedAndAnOpenStoreGoesOn) {
  TemporaryDirectory directory;
  const std::string path = directory / "db";
  EXPECT_EQ(RunInChild([&]() -> std::string {
              const auto store = Store::Open(path, SmallTails());
              PIGMENT_CHILD_OK(store);
              const auto journal = (*store)->CreateCollection(EntryNamed("journal"));
              PIGMENT_CHILD_OK(journal);
              PIGMENT_CHILD_OK(WriteJournal(**journal, 0));  // the log's file is open
              rlimit limit{};
              getrlimit(RLIMIT_NOFILE, &limit);
              const rlim_t before = limit.rlim_cur;
              const int next = dup(0);
              close(next);
              limit.rlim_cur = static_cast<rlim_t>(next);
              PIGMENT_CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
              const Status second = Store::Open(directory / "other", {}).status();
              PIGMENT_CHILD_CHECK(second.code() == Code::kResourceExhausted);
              PIGMENT_CHILD_CHECK(second.detail() == Detail::kLimit);
              // Flushes fail for want of a descriptor; the log is open.
              for (uint64_t number = 1; number < 100; ++number) {
                PIGMENT_CHILD_OK(WriteJournal(**journal, number));
              }
              PIGMENT_CHILD_CHECK((*journal)->Flush().code() == Code::kResourceExhausted);
              PIGMENT_CHILD_CHECK(*ReadJournal(**store) == 100);
              limit.rlim_cur = before;
              PIGMENT_CHILD_CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
              PIGMENT_CHILD_OK((*journal)->Flush());
              PIGMENT_CHILD_OK((*store)->Close());
              PIGMENT_CHILD_CHECK(*ReadJournal(*Store::Open(path, {}).value()) == 100);
              return "";
            }),
            "");
}

TEST(Rights, WhatMayNotBeWrittenIsPermissionDeniedAndLeftAsItIs) {
  TemporaryDirectory directory;
  fs::permissions(directory.path(), fs::perms(0755));
  EXPECT_EQ(RunInChild([&]() -> std::string {
              if (geteuid() == 0) PIGMENT_CHILD_CHECK(setgid(65534) == 0 && setuid(65534) == 0);
              if (access(directory.path().c_str(), W_OK) == 0)
                chmod(directory.path().c_str(), 0555);
              const Status status = Store::Open(directory / "db", {}).status();
              PIGMENT_CHILD_CHECK(status.code() == Code::kPermissionDenied);
              PIGMENT_CHILD_CHECK(status.message().find(directory / "db") != std::string::npos);
              return "";
            }),
            "");
  fs::permissions(directory.path(), fs::perms(0700));
  EXPECT_TRUE(fs::is_empty(directory.path()));
}

TEST(Rights, FilesAreTheOwnersAloneWhateverTheUmask) {
  for (const mode_t mask : {0u, 022u, 077u, 0277u, 0777u}) {
    SCOPED_TRACE(mask);
    TemporaryDirectory directory;
    fs::permissions(directory.path(), fs::perms(0777));
    const std::string failure = RunInChild([&]() -> std::string {
      if (geteuid() == 0) PIGMENT_CHILD_CHECK(setgid(65534) == 0 && setuid(65534) == 0);
      umask(mask);
      StoreOptions options = SmallTails();
      options.sync_mode = SyncMode::kOff;
      const auto store = Store::Open(directory / "db", options);
      PIGMENT_CHILD_OK(store);
      const auto journal = (*store)->CreateCollection(EntryNamed("journal"));
      PIGMENT_CHILD_OK(journal);
      for (uint64_t number = 0; number < 100; ++number) {
        PIGMENT_CHILD_OK(WriteJournal(**journal, number));
      }
      PIGMENT_CHILD_OK((*store)->Flush());
      size_t items = 0;
      for (const auto& item : fs::recursive_directory_iterator(directory / "db")) {
        const auto expected = fs::perms(item.is_directory() ? 0700 : 0600);
        if (item.status().permissions() != expected) return item.path().string();
        ++items;
      }
      PIGMENT_CHILD_CHECK(items >= 7);
      PIGMENT_CHILD_CHECK(fs::status(directory / "db").permissions() == fs::perms(0700));
      PIGMENT_CHILD_OK((*store)->Close());
      PIGMENT_CHILD_CHECK(*ReadJournal(*Store::Open(directory / "db", {}).value()) == 100);
      fs::remove_all(directory / "db");
      return "";
    });
    EXPECT_EQ(failure, "");
  }
}

TEST(Paths, OddOnesAreDirectoriesLikeOthers) {
  TemporaryDirectory directory;
  const std::string root = directory.path();
  fs::create_directory(root + "/real");
  fs::create_directory_symlink("real", root + "/link");
  fs::create_directory_symlink(root + "/real", root + "/absolute link");
  std::string deep = root;
  while (deep.size() < 3500) {
    deep += "/" + std::string(200, 'n');
    fs::create_directory(deep);
  }
  const std::string cases[] = {root + "/with spaces and\ttab",
                               root + "/\xC3\xA4\xE6\xBC\xA2\xF0\x9F\x98\x80",
                               root + "/not utf-8 \xFF\xFE",
                               root + "/new\nline",
                               root + "/trailing///",
                               root + "//double//slashes",
                               root + "/./dot/../dotted",
                               root + "/link/below",
                               deep + "/db",
                               root + "/absolute link",
                               root + "/-rf *",
                               root + "/\"quoted\" %s {}"};
  fs::create_directories(root + "/double");
  fs::create_directory(root + "/dot");
  uint64_t number = 0;
  for (const std::string& path : cases) {
    SCOPED_TRACE(path.size() < 300 ? path : "a long path");
    for (uint64_t life = 0; life < 2; ++life) {
      const auto store = Store::Open(path, SmallTails());
      ASSERT_OK(store);
      auto journal = (*store)->GetCollection({}, "journal");
      if (!journal.ok()) journal = (*store)->CreateCollection(EntryNamed("journal"));
      ASSERT_EQ(ReadJournal(**store).value(), life);
      ASSERT_OK(WriteJournal(**journal, life));
      ASSERT_OK((*store)->Flush());
      ASSERT_OK((*store)->Close());
    }
    ++number;
  }
  EXPECT_EQ(number, std::size(cases));
  // Too long to be a path at all.
  EXPECT_CODE(Store::Open(root + "/" + std::string(300, 'x'), {}), Code::kInvalidArgument);
  EXPECT_CODE(Store::Open(deep + "/" + std::string(250, 'x') + "/" + std::string(250, 'x') + "/" +
                              std::string(250, 'x'),
                          {}),
              Code::kInvalidArgument);
}

TEST(Paths, ARelativeOneIsOneStoreWithItsAbsoluteOneAndStaysItWhenTheDirectoryChanges) {
  TemporaryDirectory directory;
  EXPECT_EQ(RunInChild([&]() -> std::string {
              PIGMENT_CHILD_CHECK(chdir(directory.path().c_str()) == 0);
              const auto store = Store::Open("db/", SmallTails());
              PIGMENT_CHILD_OK(store);
              const auto journal = (*store)->CreateCollection(EntryNamed("journal"));
              PIGMENT_CHILD_OK(journal);
              PIGMENT_CHILD_CHECK(chdir("/") == 0);
              for (uint64_t number = 0; number < 100; ++number) {
                PIGMENT_CHILD_OK(WriteJournal(**journal, number));
              }
              const auto second = Store::Open(directory / "db", SmallTails());
              PIGMENT_CHILD_OK(second);
              PIGMENT_CHILD_CHECK(*ReadJournal(**second) == 100);
              PIGMENT_CHILD_OK((*second)->Close());
              PIGMENT_CHILD_OK((*store)->Close());
              PIGMENT_CHILD_CHECK(!fs::exists("/db"));
              return "";
            }),
            "");
}

// The wall clock jumps by ten years at each look; the monotonic one does not.
class JumpingClock final : public Clock {
 public:
  int64_t MonotonicNow() const override { return SystemClock()->MonotonicNow(); }
  int64_t WallNow() const override {
    constexpr int64_t kTenYears = int64_t{10} * 365 * 24 * 3600 * 1'000'000'000;
    const int64_t sign = looks_.fetch_add(1) % 2 == 0 ? 1 : -1;
    return SystemClock()->WallNow() + sign * kTenYears;
  }
  void WaitUntil(std::condition_variable& condition, std::unique_lock<std::mutex>& lock,
                 int64_t deadline_ns) override {
    SystemClock()->WaitUntil(condition, lock, deadline_ns);
  }

 private:
  mutable std::atomic<int> looks_{0};
};

TEST(Clocks, AWallClockThatJumpsByTenYearsDelaysAndLosesNothing) {
  TemporaryDirectory directory;
  JumpingClock clock;
  LogOptions options;
  options.sync_mode = SyncMode::kInterval;
  options.interval_ms = 20;
  options.clock = &clock;
  const std::array<std::byte, 16> store = {std::byte{7}};
  uint64_t replayed = 0;
  const auto apply = [&](uint64_t, std::span<const std::byte>) { return ++replayed, Status::Ok(); };
  {
    const auto log = Log::Open(DiskFiles(), directory / "log", store, 0, options, apply);
    ASSERT_OK(log);
    for (int i = 0; i < 50; ++i) {
      ASSERT_OK((*log)->Append({.payload = AsBytes("x"), .check = {}, .refused = {}}));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    // The timer syncs although nobody else asks.
    for (int waited = 0; (*log)->statistics().synced_position < 50; ++waited) {
      ASSERT_LT(waited, 10'000);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ASSERT_OK((*log)->Close());
  }
  replayed = 0;
  ASSERT_OK(Log::Open(DiskFiles(), directory / "log", store, 0, options, apply));
  EXPECT_EQ(replayed, 50u);
}

}  // namespace
}  // namespace pigment

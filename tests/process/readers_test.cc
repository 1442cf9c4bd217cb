// SPDX-License-Identifier: Apache-2.0
//
// Processes that read beside one that flushes, merges, purges, checkpoints and deletes: what each
// refresh shows, what a pinned version keeps, what a reader leaves behind: nothing.

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "engine/collection/store.h"
#include "pigment/pigment.h"
#include "tests/process/children.h"
#include "tests/process/journal.h"
#include "tests/support/effort.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMerges = 500;
constexpr int kReaders = 3;
constexpr double kRefreshMs = 5000;  // beside two other readers, a writer and whatever else runs

StoreOptions Reading() {
  StoreOptions options;
  options.read_only = true;
  return options;
}

struct Stage {
  std::atomic<bool> is_over;
  std::atomic<uint64_t> written;  // batches of the journal that the writer has acknowledged
  std::atomic<uint64_t> merges;
  std::atomic<uint64_t> refreshes;
  std::atomic<uint64_t> changes;  // refreshes that showed something new
  std::atomic<double> slowest_ms;
};

std::string WriteBesideReaders(Stage& stage, const std::string& path, uint64_t merges) {
  StoreOptions options;
  options.flush_rows_max = 10;
  options.background_threads = 0;
  options.sync_mode = SyncMode::kOff;  // other processes see it all the same, and it is faster
  const auto store = Store::Open(path, options);
  PIGMENT_CHILD_OK(store);
  const auto journal = (*store)->GetCollection({}, "journal");
  PIGMENT_CHILD_OK(journal);
  for (uint64_t number = 0; stage.merges < merges; ++number) {
    PIGMENT_CHILD_OK(WriteJournal(**journal, number));
    stage.written = number + 1;
    const std::string passing = "passing" + std::to_string(number / 10);
    if (number % 3 == 2) PIGMENT_CHILD_OK((*journal)->Compact());
    switch (number % 10) {
      case 1:
        PIGMENT_CHILD_OK((*store)->CreateCollection(EntryNamed(passing)));
        break;
      case 2:
      case 3:
        PIGMENT_CHILD_OK(WriteJournal(**(*store)->GetCollection({}, passing), number));
        PIGMENT_CHILD_OK((*store)->Flush());
        break;
      case 5:
        PIGMENT_CHILD_OK((*store)->DeleteCollection({}, passing));
        break;
      case 7:
        PIGMENT_CHILD_OK((*(*store)->catalog())->Checkpoint());
        break;
      default:
        break;
    }
    const auto maintenance = (*store)->maintenance();
    PIGMENT_CHILD_OK(maintenance);
    stage.merges = maintenance->merges;
  }
  PIGMENT_CHILD_OK((*store)->Close());
  return "";
}

// Looks without end; `number` tells the readers apart: the last one keeps a version for long.
std::string ReadBesideWriter(Stage& stage, const std::string& path, int number) {
  const auto store = Store::Open(path, Reading());
  PIGMENT_CHILD_OK(store);
  uint64_t seen = 0, position = 0, round = 0;
  std::shared_ptr<const Version> kept;
  uint64_t kept_next = 0;
  for (bool is_last = false; !is_last; ++round) {
    is_last = stage.is_over;
    const uint64_t written = stage.written;
    const Stopwatch watch;
    const auto refreshed = (*store)->Refresh();
    const double took = watch.milliseconds();
    PIGMENT_CHILD_OK(refreshed);
    if (took > stage.slowest_ms) stage.slowest_ms = took;
    PIGMENT_CHILD_CHECK(*refreshed >= position);
    stage.changes += *refreshed > position;
    position = *refreshed;
    const auto next = ReadJournal(**store);
    PIGMENT_CHILD_OK(next);
    PIGMENT_CHILD_CHECK(*next >= seen);
    // What was acknowledged before the refresh is seen by it.
    PIGMENT_CHILD_CHECK(*next >= written);
    seen = *next;
    ++stage.refreshes;
    // Without a refresh nothing changes, whatever the writer does.
    const auto again = ReadJournal(**store);
    PIGMENT_CHILD_OK(again);
    PIGMENT_CHILD_CHECK(*again == seen);
    // Not all the time that there is: the writer is to get on.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (number != 0) continue;
    if (kept) {
      const auto still = ReadJournal(*kept);
      PIGMENT_CHILD_OK(still);
      PIGMENT_CHILD_CHECK(*still == kept_next);
    }
    if (round % 50 == 0) {
      kept = (*(*store)->GetCollection({}, "journal"))->Pin().value();
      kept_next = seen;
    }
  }
  PIGMENT_CHILD_CHECK(seen == stage.written);
  PIGMENT_CHILD_OK((*store)->Close());
  return "";
}

size_t FilesBelow(const std::string& path) {
  size_t count = 0;
  for (const auto& item : fs::recursive_directory_iterator(path)) count += item.is_regular_file();
  return count;
}

TEST(Readers, EachRefreshSeesAWholeVersionBesideAWriterThatReplacesEverything) {
  TemporaryDirectory directory;
  const std::string path = directory / "db";
  {
    const auto store = Store::Open(path, {}).value();
    ASSERT_OK(store->CreateCollection(EntryNamed("journal")));
    ASSERT_OK(store->Close());
  }
  Shared<Stage> stage;
  Shared<std::array<char[500], kReaders>> failures;
  const uint64_t merges = AtEffort(kMerges);
  Child readers[kReaders];
  for (int number = 0; number < kReaders; ++number) {
    readers[number] = Child([&, number] {
      const std::string failure = ReadBesideWriter(*stage, path, number);
      snprintf((*failures)[static_cast<size_t>(number)], 500, "%s", failure.c_str());
      return failure.empty() ? 0 : 1;
    });
  }
  EXPECT_EQ(RunInChild([&] { return WriteBesideReaders(*stage, path, merges); }), "");
  stage->is_over = true;
  for (int number = 0; number < kReaders; ++number) {
    EXPECT_EQ(readers[number].Wait(), 0) << "reader " << number << ": "
                                         << (*failures)[static_cast<size_t>(number)];
  }
  ExpectFloor("merges beside readers", stage->merges, kMerges);
  ExpectFloor("refreshes that showed something new", stage->changes, kMerges);
  std::printf("readers: %llu refreshes, the slowest %.1f ms\n",
              static_cast<unsigned long long>(stage->refreshes), stage->slowest_ms.load());
  EXPECT_LT(stage->slowest_ms, kRefreshMs);
  // Nobody reads any more: the next writer finds nothing to wait for.
  const auto store = Store::Open(path, {}).value();
  ASSERT_OK((*store->GetCollection({}, "journal"))->Compact());
  ASSERT_OK(store->Close());
  EXPECT_LT(FilesBelow(path), 20u);
}

TEST(Readers, AReaderIsStaleUntilItRefreshes) {
  TemporaryDirectory directory;
  const std::string path = directory / "db";
  int commands[2], answers[2];
  ASSERT_EQ(pipe(commands), 0);
  ASSERT_EQ(pipe(answers), 0);
  Child writer([&] {
    const auto store = Store::Open(path, {}).value();
    const auto journal = store->CreateCollection(EntryNamed("journal")).value();
    char byte;
    for (uint64_t number = 0; read(commands[0], &byte, 1) == 1; ++number) {
      const uint64_t position = WriteJournal(*journal, number).ok() ? store->position() : 0;
      if (write(answers[1], &position, sizeof position) != sizeof position) break;
    }
    return 0;
  });
  const auto written = [&] {
    uint64_t position = 0;
    EXPECT_EQ(write(commands[1], "w", 1), 1);
    EXPECT_EQ(read(answers[0], &position, sizeof position), static_cast<ssize_t>(sizeof position));
    return position;
  };
  const uint64_t first = written();
  pigment_open_options open_options;
  pigment_open_options_init(&open_options);
  open_options.read_only = true;
  pigment_client* client = nullptr;
  ASSERT_EQ(pigment_client_open(path.data(), path.size(), &open_options, &client, nullptr),
            PIGMENT_OK);
  pigment_collection* journal = nullptr;
  ASSERT_EQ(pigment_client_get_collection(client, nullptr, "journal", 7, nullptr, &journal, nullptr),
            PIGMENT_OK);
  const auto count_at = [&](uint64_t position, pigment_error** error) {
    pigment_call_options options;
    pigment_call_options_init(&options);
    options.min_position = position;
    uint64_t count = 0;
    return pigment_collection_count(journal, &options, &count, error);
  };
  EXPECT_EQ(count_at(first, nullptr), PIGMENT_OK);
  const uint64_t second = written();
  EXPECT_GT(second, first);
  EXPECT_EQ(count_at(first, nullptr), PIGMENT_OK);
  pigment_error* error = nullptr;
  EXPECT_EQ(count_at(second, &error), PIGMENT_FAILED_PRECONDITION);
  EXPECT_EQ(pigment_error_detail(error), PIGMENT_DETAIL_STALE);
  pigment_error_free(error);
  uint64_t reached = 0;
  ASSERT_EQ(pigment_client_refresh(client, &reached, nullptr), PIGMENT_OK);
  EXPECT_EQ(reached, second);
  EXPECT_EQ(count_at(second, nullptr), PIGMENT_OK);
  EXPECT_NE(count_at(second + 1, nullptr), PIGMENT_OK);
  pigment_collection_free(journal);
  pigment_client_free(client);
  for (const int end : {commands[0], commands[1], answers[0], answers[1]}) close(end);
}

// Everything below a directory: names, modes, times, bytes.
std::string PictureOf(const std::string& path) {
  std::vector<std::string> lines;
  const auto add = [&lines](const fs::path& item) {
    struct stat status {};
    EXPECT_EQ(lstat(item.c_str(), &status), 0);
    std::string line = item.string() + " " + std::to_string(status.st_mode) + " " +
                       std::to_string(status.st_mtim.tv_sec) + "." +
                       std::to_string(status.st_mtim.tv_nsec) + " " +
                       std::to_string(status.st_ctim.tv_nsec) + " ";
    if (S_ISREG(status.st_mode)) {
      std::ifstream file(item, std::ios::binary);
      line.append(std::istreambuf_iterator<char>(file), {});
    }
    lines.push_back(line);
  };
  add(path);
  for (const auto& item : fs::recursive_directory_iterator(path)) add(item.path());
  std::sort(lines.begin(), lines.end());
  std::string picture;
  for (const std::string& line : lines) picture += line + "\n";
  return picture;
}

TEST(Readers, ReadAReadOnlyDirectoryAsAnotherUserAndLeaveEveryByteAsItIs) {
  TemporaryDirectory directory;
  fs::permissions(directory.path(), fs::perms(0755));
  const std::string path = directory / "db";
  {
    const auto store = Store::Open(path, {}).value();
    const auto journal = store->CreateCollection(EntryNamed("journal")).value();
    for (uint64_t number = 0; number < 50; ++number) {
      ASSERT_OK(WriteJournal(*journal, number));
      if (number == 40) ASSERT_OK(store->Flush());
    }
    ASSERT_OK(store->Close());
  }
  for (const auto& item : fs::recursive_directory_iterator(path)) {
    fs::permissions(item.path(), fs::perms(item.is_directory() ? 0555 : 0444));
  }
  fs::permissions(path, fs::perms(0555));
  const std::string before = PictureOf(path);
  const std::string failure = RunInChild([&]() -> std::string {
    // Permissions mean nothing to root: there they are another user's.
    if (geteuid() == 0) PIGMENT_CHILD_CHECK(setgid(65534) == 0 && setuid(65534) == 0);
    PIGMENT_CHILD_CHECK(access(path.c_str(), W_OK) != 0);
    const auto store = Store::Open(path, Reading());
    PIGMENT_CHILD_OK(store);
    const auto next = ReadJournal(**store);
    PIGMENT_CHILD_OK(next);
    PIGMENT_CHILD_CHECK(*next == 50);
    PIGMENT_CHILD_OK((*store)->Refresh());
    PIGMENT_CHILD_CHECK(*ReadJournal(**store) == 50);
    PIGMENT_CHILD_OK((*store)->Close());
    const Status writing = Store::Open(path, {}).status();
    PIGMENT_CHILD_CHECK(writing.code() == Code::kPermissionDenied);
    return "";
  });
  EXPECT_EQ(failure, "");
  EXPECT_EQ(PictureOf(path), before);
  for (const char* folder : {"", "/log", "/segments"}) {
    fs::permissions(path + folder, fs::perms(0700));  // so that it can be removed
  }
}

TEST(Readers, WhatIsNotForThemIsPermissionDeniedAndNamesTheFile) {
  TemporaryDirectory directory;
  fs::permissions(directory.path(), fs::perms(0755));
  const std::string path = directory / "db";
  { ASSERT_OK(Store::Open(path, {})); }
  fs::permissions(path, fs::perms(0755));
  fs::permissions(path + "/log", fs::perms(0755));
  fs::permissions(path + "/segments", fs::perms(0755));
  for (const auto& item : fs::recursive_directory_iterator(path)) {
    if (item.is_regular_file()) fs::permissions(item.path(), fs::perms(0644));
  }
  for (const std::string file : {"LOCK", "CATALOG", "log", "CATALOG.edits."}) {
    SCOPED_TRACE(file);
    fs::path closed;
    for (const auto& item : fs::directory_iterator(path)) {
      if (item.path().filename().string().starts_with(file)) closed = item.path();
      if (item.path().filename() == file) break;
    }
    const auto mode = fs::status(closed).permissions();
    fs::permissions(closed, fs::perms::none);
    const std::string failure = RunInChild([&]() -> std::string {
      if (geteuid() == 0) PIGMENT_CHILD_CHECK(setgid(65534) == 0 && setuid(65534) == 0);
      const Status status = Store::Open(path, Reading()).status();
      PIGMENT_CHILD_CHECK(status.code() == Code::kPermissionDenied);
      PIGMENT_CHILD_CHECK(status.message().find(closed.string()) != std::string::npos);
      return "";
    });
    EXPECT_EQ(failure, "");
    fs::permissions(closed, mode);
  }
}

}  // namespace
}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// Codes that only the machine gives, met through the interface: a child of this test loses its
// rights, its disk or its files, and tells by its exit status what it was told. On the real disk.

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "tests/c_api/abi.h"
#include "tests/support/temporary_directory.h"

namespace {

using abi_test::Outcome;
using abi_test::Sized;
using abi_test::Try;

abi_test::Batch One(int number) {
  abi_test::Batch batch;
  batch.ids.Add("id" + std::to_string(number));
  batch.values.assign(64, 1.0f);
  batch.dimension = 64;
  return batch;
}

// What a child reports: an outcome that is not the expected one is printed and fails it.
bool Is(const Outcome& outcome, pigment_status status, int32_t detail) {
  if (outcome.status == status && outcome.detail == detail) return true;
  std::fprintf(stderr, "status %d, detail %d: %s\n", outcome.status, outcome.detail,
               outcome.message.c_str());
  return false;
}

// Runs `body` in a child before which no client was opened; true when it returned true.
bool InChild(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  int status = 0;
  if (waitpid(child, &status, 0) != child) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(MachineCodes, APlaceThatIsNotOursIsPermissionDenied) {
  const pigment::TemporaryDirectory folder;
  const std::string path = folder / "db";
  ASSERT_EQ(mkdir(path.c_str(), geteuid() == 0 ? 0700 : 0500), 0);
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  EXPECT_TRUE(InChild([&] {
    // Root may write anywhere; nobody may not.
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return false;
    abi_test::Client client;
    return Is(abi_test::Open(path, &client), PIGMENT_PERMISSION_DENIED, PIGMENT_DETAIL_NONE);
  }));
}

TEST(MachineCodes, ADiskThatTakesNoMoreIsDiskFullAndReadsGoOn) {
  const pigment::TemporaryDirectory folder;
  EXPECT_TRUE(InChild([&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 256 << 10, .rlim_max = 256 << 10};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    auto options = Sized<pigment_open_options>();
    options.reserve_bytes = UINT64_MAX;
    abi_test::Client client;
    abi_test::Collection docs;
    if (!abi_test::Open(folder / "db", &client, &options).ok()) return false;
    if (!abi_test::Create(client.get(), "docs", &docs).ok()) return false;
    Outcome outcome;
    uint64_t written = 0;
    while (outcome.ok() && written < 10'000) {
      outcome = abi_test::Write(pigment_collection_add, docs.get(), One(static_cast<int>(written)));
      written += outcome.ok();
    }
    uint64_t count = 0;
    return Is(outcome, PIGMENT_RESOURCE_EXHAUSTED, PIGMENT_DETAIL_DISK_FULL) &&
           abi_test::Count(docs.get(), &count).ok() && count == written && written > 0;
  }));
}

// Replaces the descriptors of this process whose files lie in `folder` and end in `suffix` by one
// that cannot be used so; how many there were.
int BreakDescriptors(const std::string& folder, const std::string& suffix, int flags) {
  std::vector<int> found;
  DIR* const listing = opendir("/proc/self/fd");
  if (listing == nullptr) return 0;
  while (const dirent* entry = readdir(listing)) {
    char target[4096];
    const std::string link = std::string("/proc/self/fd/") + entry->d_name;
    const ssize_t size = readlink(link.c_str(), target, sizeof target);
    if (size <= 0) continue;
    const std::string path(target, static_cast<size_t>(size));
    if (path.starts_with(folder) && path.ends_with(suffix)) found.push_back(std::atoi(entry->d_name));
  }
  closedir(listing);
  const int broken = open("/dev/null", flags | O_CLOEXEC);
  for (const int one : found) {
    if (dup2(broken, one) != one) return 0;
  }
  return broken < 0 ? 0 : static_cast<int>(found.size());
}

TEST(MachineCodes, ALogThatBreaksIsPoisonedAndReadsGoOn) {
  const pigment::TemporaryDirectory folder;
  EXPECT_TRUE(InChild([&] {
    abi_test::Client client;
    abi_test::Collection docs;
    if (!abi_test::Open(folder / "db", &client).ok()) return false;
    if (!abi_test::Create(client.get(), "docs", &docs).ok()) return false;
    if (!abi_test::Write(pigment_collection_add, docs.get(), One(1)).ok()) return false;
    if (BreakDescriptors(folder.path(), ".log", O_RDONLY) == 0) return false;
    const Outcome first = abi_test::Write(pigment_collection_add, docs.get(), One(2));
    const Outcome later = abi_test::Write(pigment_collection_add, docs.get(), One(3));
    uint64_t count = 0;
    return Is(first, PIGMENT_FAILED_PRECONDITION, PIGMENT_DETAIL_POISONED) &&
           Is(later, PIGMENT_FAILED_PRECONDITION, PIGMENT_DETAIL_POISONED) &&
           Is(abi_test::Count(docs.get(), &count), PIGMENT_OK, PIGMENT_DETAIL_NONE) && count == 1;
  }));
}

TEST(MachineCodes, AReadThatTheDiskRefusesIsUnavailable) {
  const pigment::TemporaryDirectory folder;
  EXPECT_TRUE(InChild([&] {
    const std::string path = folder / "db";
    {
      abi_test::Client client;
      abi_test::Collection docs;
      if (!abi_test::Open(path, &client).ok()) return false;
      if (!abi_test::Create(client.get(), "docs", &docs).ok()) return false;
      abi_test::Batch batch;
      for (int i = 0; i < 4000; ++i) batch.ids.Add("id" + std::to_string(i));
      batch.values.assign(size_t{4000} * 64, 1.0f);
      batch.dimension = 64;
      if (!abi_test::Write(pigment_collection_add, docs.get(), batch).ok()) return false;
      if (!Try(pigment_collection_flush, docs.get()).ok()) return false;
      if (!Try(pigment_client_close, client.get()).ok()) return false;
    }
    abi_test::Client client;
    if (!abi_test::Open(path, &client).ok()) return false;
    pigment_collection* raw = nullptr;
    if (!Try(pigment_client_get_collection, client.get(),
             static_cast<const pigment_scope*>(nullptr), "docs", size_t{4},
             static_cast<const pigment_embedding_function*>(nullptr), &raw)
             .ok()) {
      return false;
    }
    const abi_test::Collection docs(raw);
    uint64_t count = 0;
    if (!abi_test::Count(docs.get(), &count).ok() || count != 4000) return false;  // opens it
    if (BreakDescriptors(folder.path(), ".seg", O_WRONLY) == 0) return false;
    abi_test::ResultHandle result;
    return Is(abi_test::Get(docs.get(), Sized<pigment_get_request>(), &result),
              PIGMENT_UNAVAILABLE, PIGMENT_DETAIL_NONE);
  }));
}

uint32_t Crc32c(const unsigned char* bytes, size_t size) {
  uint32_t crc = ~0u;
  for (size_t i = 0; i < size; ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
  }
  return ~crc;
}

TEST(MachineCodes, AFileOfANewerFormatIsAVersionMismatch) {
  const pigment::TemporaryDirectory folder;
  const std::string path = folder / "db";
  {
    abi_test::Client client;
    ASSERT_TRUE(abi_test::Open(path, &client).ok());
  }
  // The header has 64 bytes: the version at 12, the checksum of what is before it at 60.
  const int file = open((path + "/CATALOG").c_str(), O_RDWR);
  ASSERT_GE(file, 0);
  unsigned char header[64];
  ASSERT_EQ(pread(file, header, sizeof header, 0), 64);
  header[12] = 99;
  const uint32_t crc = Crc32c(header, 60);
  std::memcpy(header + 60, &crc, sizeof crc);
  ASSERT_EQ(pwrite(file, header, sizeof header, 0), 64);
  close(file);
  abi_test::Client client;
  const Outcome outcome = abi_test::Open(path, &client);
  EXPECT_EQ(outcome.status, PIGMENT_VERSION_MISMATCH) << outcome;
  EXPECT_NE(outcome.message.find("99"), std::string::npos) << outcome;
}

}  // namespace

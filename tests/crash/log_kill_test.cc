// SPDX-License-Identifier: Apache-2.0
//
// A process that appends to a log on the real disk with four threads is killed at random moments,
// again and again. What it acknowledged through a pipe must be there, in order, whole, and once;
// the same for the edits of a catalog.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/disk_files.h"
#include "engine/catalog/catalog.h"
#include "engine/log/log.h"
#include "tests/support/kill_soon.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temporary_directory.h"

namespace pigment {
namespace {

constexpr std::array<std::byte, 16> kStore = {std::byte{5}};
constexpr int kThreads = 4;
constexpr std::chrono::milliseconds kDelayMax(8);

struct Acknowledgement {
  uint64_t position = 0;
  uint64_t token = 0;  // round, thread and number of the batch
};

LogOptions Options() {
  LogOptions options;
  options.file_bytes_max = 16 << 10;
  return options;
}

// The payload of a token: it can be checked without a record of what was written.
std::string PayloadOf(uint64_t token) {
  std::string payload;
  ByteWriter(&payload).Put(token);
  return payload + std::string(token * 2654435761u % 300, static_cast<char>(token % 251));
}

[[noreturn]] void AppendUntilKilled(const std::string& directory, uint64_t round, int pipe) {
  auto log = Log::Open(DiskFiles(), directory, kStore, 0, Options(),
                       [](auto, auto) { return Status::Ok(); });
  if (!log.ok()) _exit(3);
  std::vector<std::thread> threads;
  for (uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint64_t i = 0;; ++i) {
        const uint64_t token = round << 32 | thread << 28 | i;
        const Result<uint64_t> position =
            (*log)->Append({.payload = AsBytes(PayloadOf(token)), .check = {}, .refused = {}});
        if (!position.ok()) _exit(4);
        const Acknowledgement acknowledgement{.position = *position, .token = token};
        if (write(pipe, &acknowledgement, sizeof acknowledgement) != sizeof acknowledgement)
          _exit(5);
      }
    });
  }
  while (true) pause();
}

TEST(LogKill, WhatAKilledProcessAcknowledgedIsThere) {
  TemporaryDirectory directory;
  const uint64_t seed =
      static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  std::map<uint64_t, uint64_t> promised;  // position to token
  uint64_t kills_with_work = 0;
  const Patience patience(std::chrono::seconds(6));
  uint64_t round = 1;
  for (; round <= 250 && patience.Lasts(kills_with_work > 20 && promised.size() > 200); ++round) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(pipe_ends[0]);
      AppendUntilKilled(directory / "log", round, pipe_ends[1]);
    }
    close(pipe_ends[1]);
    KillSoon(child, pipe_ends[0], round, kDelayMax, random);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself with " << WEXITSTATUS(status);
    const size_t before = promised.size();
    Acknowledgement acknowledgement;
    while (read(pipe_ends[0], &acknowledgement, sizeof acknowledgement) == sizeof acknowledgement) {
      ASSERT_TRUE(promised.emplace(acknowledgement.position, acknowledgement.token).second)
          << "a position twice";
    }
    close(pipe_ends[0]);
    kills_with_work += promised.size() > before;

    if (round % 5 != 0) continue;  // several lives between two looks
    std::map<uint64_t, uint64_t> found;
    const auto log = Log::Open(DiskFiles(), directory / "log", kStore, 0, Options(),
                               [&](uint64_t position, std::span<const std::byte> payload) {
                                 const auto token =
                                     payload.size() >= 8 ? LoadLittle<uint64_t>(payload.data()) : 0;
                                 EXPECT_EQ(AsText(payload), PayloadOf(token)) << position;
                                 EXPECT_EQ(position, found.size() + 1);
                                 found[position] = token;
                                 return Status::Ok();
                               });
    ASSERT_OK(log);
    for (const auto& [position, token] : promised) {
      ASSERT_TRUE(found.contains(position))
          << position << " of " << found.size() << " was acknowledged and is gone";
      ASSERT_EQ(found[position], token) << position;
    }
  }
  EXPECT_GT(kills_with_work, 20u) << "of " << round << " lives";
  EXPECT_GT(promised.size(), 200u);
}

[[noreturn]] void EditUntilKilled(const std::string& directory, uint64_t round, int pipe) {
  auto catalog = Catalog::Open(DiskFiles(), directory, false);
  if (!catalog.ok()) _exit(3);
  for (uint64_t i = 0;; ++i) {
    const uint64_t token = round << 32 | i;
    if (!(*catalog)->CreateTenant("tenant " + std::to_string(token)).ok()) _exit(4);
    if (write(pipe, &token, sizeof token) != sizeof token) _exit(5);
    if (i % 7 == 6 && !(*catalog)->Checkpoint().ok()) _exit(6);
  }
}

TEST(CatalogKill, WhatAKilledProcessAcknowledgedIsThere) {
  TemporaryDirectory directory;
  const uint64_t seed =
      static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  size_t promised = 0;
  const Patience patience(std::chrono::seconds(4));
  for (uint64_t round = 1; round <= 200 && patience.Lasts(promised > 50); ++round) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(pipe_ends[0]);
      EditUntilKilled(directory.path(), round, pipe_ends[1]);
    }
    close(pipe_ends[1]);
    KillSoon(child, pipe_ends[0], round, kDelayMax, random);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself with " << WEXITSTATUS(status);
    const auto catalog = Catalog::Open(DiskFiles(), directory.path(), false);
    ASSERT_OK(catalog);
    uint64_t token = 0;
    while (read(pipe_ends[0], &token, sizeof token) == sizeof token) {
      ASSERT_OK((*catalog)->GetTenant("tenant " + std::to_string(token)));
      ++promised;
    }
    close(pipe_ends[0]);
  }
  EXPECT_GT(promised, 50u);
}

}  // namespace
}  // namespace pigment

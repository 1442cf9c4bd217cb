// SPDX-License-Identifier: Apache-2.0
//
// LogHarness: a log in a simulated file system, with a plain list as its application.

#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/memory_files.h"
#include "engine/log/log.h"
#include "tests/support/status_matchers.h"

namespace pigment {

struct LogHarness {
  static constexpr std::array<std::byte, 16> kStore = {std::byte{1}, std::byte{2}, std::byte{3}};

  LogHarness() {
    EXPECT_OK(files.MakeDirectory("db"));
    EXPECT_OK(files.SyncDirectory("."));
  }

  Status Open(const LogOptions& options = {}, uint64_t floor = 0) {
    log.reset();
    applied.clear();
    last_applied = 0;
    Result<std::unique_ptr<Log>> opened =
        Log::Open(&files, "db/log", kStore, floor, options,
                  [this](uint64_t position, auto payload) -> Status {
                    if (!apply_error.ok()) return apply_error;
                    EXPECT_TRUE(last_applied == 0 || position == last_applied + 1)
                        << position << " after " << last_applied;
                    last_applied = position;
                    applied.emplace_back(AsText(payload));
                    if (sync_delay_us > 0)
                      std::this_thread::sleep_for(std::chrono::microseconds(sync_delay_us));
                    return Status::Ok();
                  });
    if (!opened.ok()) return opened.status();
    log = std::move(*opened);
    return Status::Ok();
  }

  Result<uint64_t> Append(std::string_view payload) {
    return log->Append({.payload = AsBytes(payload), .check = {}, .refused = {}});
  }

  std::vector<std::string> LogFiles() {
    std::vector<std::string> names;
    for (const std::string& name : *files.List("db/log")) {
      if (name.ends_with(".log")) names.push_back(name);
    }
    return names;
  }

  std::string Contents(const std::string& name) {
    const auto file = files.Open("db/log/" + name, OpenMode::kRead);
    std::string bytes(*(*file)->Size(), '\0');
    EXPECT_OK((*file)->ReadAt(0, std::as_writable_bytes(std::span(bytes))));
    return bytes;
  }

  void Overwrite(const std::string& name, uint64_t offset, std::string_view bytes) {
    const auto file = files.Open("db/log/" + name, OpenMode::kReadWrite);
    EXPECT_OK((*file)->WriteAt(offset, AsBytes(bytes)));
  }

  void Replace(const std::string& name, std::string_view bytes) {
    const auto file = files.Open("db/log/" + name, OpenMode::kReadWrite);
    EXPECT_OK((*file)->Truncate(0));
    EXPECT_OK((*file)->WriteAt(0, AsBytes(bytes)));
  }

  MemoryFileSystem files{MemoryFileSystem::Kind::kSimulated};
  std::vector<std::string> applied;
  uint64_t last_applied = 0;
  Status apply_error;
  int sync_delay_us = 0;
  std::unique_ptr<Log> log;  // dies before the files
};

}  // namespace pigment

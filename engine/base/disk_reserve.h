// SPDX-License-Identifier: Apache-2.0
//
// DiskReserve: space that a store keeps for the day on which its disk is full. It is a file of
// allocated bytes, given back when something must be written that frees space or takes data away,
// and made again as soon as there is room; until then nothing else may be written, so that nobody
// uses up what was given back. Any thread; owned by the store, outlived by its file system.

#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>

#include "engine/base/files.h"

namespace pigment {

inline constexpr char kReserveName[] = "RESERVE";

class DiskReserve {
 public:
  // In `directory`, which need not exist before Open. No bytes: no reserve, nothing is refused and
  // nothing given back.
  DiskReserve(FileSystem* files, const std::string& directory, uint64_t bytes);

  // Takes over the file that an earlier process left, or makes it; removes it where there is to be
  // none. That the disk is full is no error: the next Require tries again.
  Status Open();

  // To be asked before anything is written that only adds data. Ok while the reserve is there.
  // Otherwise makes it again; kResourceExhausted, Detail::kDiskFull, while the disk has no room for
  // it.
  Status Require();

  // Gives the space to whoever asks, who writes with it what frees space or takes data away. False
  // when there was none to give.
  bool Release();

  bool is_held() const { return bytes_ == 0 || is_held_.load(std::memory_order_acquire); }

 private:
  Status Make();  // REQUIRES: mutex_

  FileSystem* const files_;
  const std::string path_;
  const uint64_t bytes_;
  std::atomic<bool> is_held_{false};  // written under mutex_
  std::mutex mutex_;                  // one attempt at a time; held during input and output
};

}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// How far long work is: a line on standard error that is drawn over, with rate and time left. Only
// on a terminal; elsewhere nothing. One thread.

#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace pigment_tool {

class Progress {
 public:
  // `total` in any unit, of which Show() tells how many are done; 0: nobody knows.
  Progress(std::string what, uint64_t total);
  ~Progress();  // ends the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `began` is what an earlier run had done: it does not count to the rate.
  void Begin(uint64_t began, uint64_t records);
  void Show(uint64_t done, uint64_t records);

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  uint64_t total_;
  bool is_shown_;
  bool has_drawn_ = false;
  uint64_t began_ = 0;
  uint64_t records_began_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_;
};

// " [########................] 33 %". REQUIRES: total > 0.
std::string DrawBar(uint64_t done, uint64_t total);
// "1:05:09" or "0:07".
std::string PrintDuration(double seconds);

}  // namespace pigment_tool

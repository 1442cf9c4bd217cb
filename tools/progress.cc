// SPDX-License-Identifier: Apache-2.0
//
// The line of progress.

#include "tools/progress.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace pigment_tool {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);
constexpr size_t kBarWidth = 24;

}  // namespace

std::string PrintDuration(double seconds) {
  const auto whole = static_cast<uint64_t>(std::clamp(std::ceil(seconds), 0.0, 1e9));
  std::array<char, 48> text{};
  if (whole >= 3600) {
    std::snprintf(text.data(), text.size(), "%llu:%02u:%02u",
                  static_cast<unsigned long long>(whole / 3600),
                  static_cast<unsigned>(whole / 60 % 60), static_cast<unsigned>(whole % 60));
  } else {
    std::snprintf(text.data(), text.size(), "%u:%02u", static_cast<unsigned>(whole / 60),
                  static_cast<unsigned>(whole % 60));
  }
  return text.data();
}

std::string DrawBar(uint64_t done, uint64_t total) {
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const auto filled = static_cast<size_t>(share * kBarWidth);
  return " [" + std::string(filled, '#') + std::string(kBarWidth - filled, '.') + "] " +
         std::to_string(static_cast<int>(share * 100)) + " %";
}

Progress::Progress(std::string what, uint64_t total)
    : what_(std::move(what)), total_(total), is_shown_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (has_drawn_) std::fputc('\n', stderr);
}

void Progress::Begin(uint64_t began, uint64_t records) {
  began_ = began;
  records_began_ = records;
  start_ = next_ = Clock::now();
}

void Progress::Show(uint64_t done, uint64_t records) {
  const auto now = Clock::now();
  const bool is_last = total_ > 0 && done >= total_;
  if (!is_shown_ || (now < next_ && !is_last)) return;
  next_ = now + kRedraw;
  has_drawn_ = true;
  const double seconds = std::max(1e-3, std::chrono::duration<double>(now - start_).count());
  const double rate = static_cast<double>(records - records_began_) / seconds;
  std::string line = "\r" + what_;
  if (total_ > 0) line += DrawBar(done, total_);
  std::array<char, 64> numbers{};
  std::snprintf(numbers.data(), numbers.size(), "  %llu records  %.0f/s",
                static_cast<unsigned long long>(records), rate);
  line += numbers.data();
  if (total_ > 0 && done > began_) {
    const double left = static_cast<double>(total_ - std::min(done, total_)) * seconds /
                        static_cast<double>(done - began_);
    line += is_last ? "  in " + PrintDuration(seconds) : "  " + PrintDuration(left) + " left";
  }
  line += "\x1b[K";  // what an earlier, longer line left
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace pigment_tool

// SPDX-License-Identifier: Apache-2.0
//
// The thread that looks on, and its line.

#include "tools/long_call.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <string_view>
#include <thread>

#include "tools/progress.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);

class Onlooker {
 public:
  Onlooker(const std::string& what, const pigment_cancel* token)
      : what_(what), token_(token), thread_([this] { Draw(); }) {}
  ~Onlooker() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }
  Onlooker(const Onlooker&) = delete;
  Onlooker& operator=(const Onlooker&) = delete;

 private:
  using Clock = std::chrono::steady_clock;

  void Draw() {
    bool has_drawn = false;
    std::string_view phase;
    Clock::time_point begin = Clock::now();
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kRedraw, [this] { return is_over_; })) {
      pigment_progress progress{};
      progress.struct_size = sizeof progress;
      pigment_error* error = nullptr;
      if (pigment_cancel_progress(token_, &progress, &error) != PIGMENT_OK) {
        pigment_error_free(error);
        continue;
      }
      if (progress.phase == nullptr) continue;
      if (phase != progress.phase) begin = Clock::now();
      phase = progress.phase;
      const std::chrono::duration<double> taken = Clock::now() - begin;
      std::fprintf(stderr, "\r%s\x1b[K", PrintPhase(what_, progress, taken.count()).c_str());
      std::fflush(stderr);
      has_drawn = true;
    }
    if (has_drawn) std::fputs("\r\x1b[K", stderr);  // the command's own words follow
  }

  const std::string what_;
  const pigment_cancel* const token_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace

std::string PrintPhase(const std::string& what, const pigment_progress& progress, double seconds) {
  std::string line = what + ": " + progress.phase;
  if (progress.total == 0) return line + "  " + PrintDuration(seconds);
  line += DrawBar(progress.done, progress.total) + "  " + std::to_string(progress.done) + " of " +
          std::to_string(progress.total) + " " + progress.unit;
  if (progress.done == 0) return line;
  const double left = static_cast<double>(progress.total - progress.done) * seconds /
                      static_cast<double>(progress.done);
  return line + "  " + PrintDuration(left) + " left";
}

void RunLong(const std::string& what,
             const std::function<void(const pigment_call_options&)>& call) {
  const pigment_call_options options = CallOptions();
  if (isatty(STDERR_FILENO) != 1) return call(options);
  const Onlooker onlooker(what, options.cancel);
  call(options);
}

}  // namespace pigment_tool

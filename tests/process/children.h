// SPDX-License-Identifier: Apache-2.0
//
// Child processes of the process tests: forked from a warm parent, without exec, so that a life
// costs a millisecond. What a child finds wrong travels back as text through a pipe, because the
// assertions of GoogleTest do not cross a fork. Header only; the parent must be single-threaded.

#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/status.h"
#include "tests/support/status_matchers.h"

namespace pigment {

// Makes a child's body give back what failed and where.
#define PIGMENT_CHILD_CHECK(condition)                                              \
  do {                                                                              \
    if (!(condition))                                                               \
      return std::string(__FILE__ ":") + std::to_string(__LINE__) + ": " #condition; \
  } while (false)
#define PIGMENT_CHILD_OK(expression)                                           \
  do {                                                                         \
    if (const auto& outcome = (expression); !::pigment::StatusOf(outcome).ok()) \
      return std::string(__FILE__ ":") + std::to_string(__LINE__) + ": " +     \
             ::pigment::StatusOf(outcome).ToString();                          \
  } while (false)

// A child that dies with its parent and may be killed at any time. `body` gives back its exit
// status.
class Child {
 public:
  Child() = default;
  explicit Child(const std::function<int()>& body) : pid_(fork()) {
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    _exit(body());
  }
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  Child& operator=(Child&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  ~Child() { Kill(); }

  pid_t pid() const { return pid_; }

  // True when it was still alive.
  bool Kill() {
    if (pid_ == 0) return false;
    kill(pid_, SIGKILL);
    return WTERMSIG(Wait()) == SIGKILL;
  }

  // The status of wait().
  int Wait() {
    int status = 0;
    while (pid_ != 0 && waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    return status;
  }

 private:
  pid_t pid_ = 0;
};

// Runs `body` in a child to its end. Empty: all is well; otherwise what is not.
inline std::string RunInChild(const std::function<std::string()>& body) {
  int ends[2];
  if (pipe(ends) != 0) return "no pipe";
  Child child([&] {
    const std::string text = body();
    const ssize_t written = write(ends[1], text.data(), text.size());
    return written == static_cast<ssize_t>(text.size()) ? 0 : 1;
  });
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<size_t>(got));
  }
  close(ends[0]);
  const int status = child.Wait();
  if (!WIFEXITED(status)) text += " (ended by signal " + std::to_string(WTERMSIG(status)) + ")";
  return text;
}

// A value that parent and children share.
template <typename T>
class Shared {
 public:
  Shared() {
    void* const memory =
        mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    value_ = new (memory) T();
  }
  ~Shared() { munmap(value_, sizeof(T)); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  T* operator->() { return value_; }
  T& operator*() { return *value_; }

 private:
  T* value_;
};

// Runs `body` in so many children at once, for work that mostly waits for the disk. The assertions
// of each print as usual, and fail this process, too.
inline void InParallel(int workers, const std::function<void(int worker)>& body) {
  std::fflush(stdout);
  std::vector<Child> children;
  for (int worker = 0; worker < workers; ++worker) {
    children.emplace_back([&body, worker] {
      body(worker);
      std::fflush(stdout);
      return ::testing::Test::HasFailure() ? 1 : 0;
    });
  }
  for (Child& child : children) EXPECT_EQ(child.Wait(), 0) << "a worker failed: see above";
}

class Stopwatch {
 public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin_)
        .count();
  }

 private:
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace pigment

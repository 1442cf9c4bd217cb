// SPDX-License-Identifier: Apache-2.0
//
// One run of some steps on a store in a directory while something fails: system calls or memory.
// What fails is switched on around the steps only. Header only; one thread.

#pragma once

#include <unistd.h>

#include <filesystem>
#include <functional>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tests/fault/fault_bases.h"
#include "tests/support/open_descriptors.h"

namespace pigment {

// A directory in memory where there is one, for sweeps that are not about the disk.
class FastDirectory {
 public:
  FastDirectory()
      : path_((access("/dev/shm", W_OK) == 0 ? std::filesystem::path("/dev/shm")
                                             : std::filesystem::temp_directory_path()) /
              ("pigment-test-" + std::to_string(getpid()))) {
    std::filesystem::create_directory(path_);
  }
  ~FastDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  FastDirectory(const FastDirectory&) = delete;
  FastDirectory& operator=(const FastDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  const std::string path_;
};

struct DiskScenario {
  std::string name;
  const Base* base = nullptr;
  std::vector<FaultStep> steps;
  bool begins_open = true;
  bool may_lose = false;  // what cannot be read is told as lost
  StoreOptions options = SmallReserveOptions();
};

struct DiskFaults {
  std::function<void()> resume;
  std::function<void()> pause;
  std::function<void()> end;  // nothing fails any more
  std::function<void(const Status&)> check_error;
};

class DiskRun {
 public:
  DiskRun(const DiskScenario& scenario, const DiskFaults& faults, std::string directory)
      : scenario_(scenario), faults_(faults), descriptors_(OpenDescriptors()) {
    world_.options = scenario.options;
    world_.directory = std::move(directory);
    world_.state = scenario.base->state;
    constexpr size_t kCopiesMax = 4;  // of a run
    for (size_t copy = 0; copy < kCopiesMax; ++copy)
      std::filesystem::remove_all(CopyPath(world_, copy));
    std::filesystem::remove_all(world_.directory);
    Restore();
  }

  void Run() {
    if (scenario_.begins_open) {
      ASSERT_OK(world_.Open());
    }
    for (const FaultStep& step : scenario_.steps) {
      if (!Take(step)) break;
    }
    faults_.end();
    ExpectEqual();
    ComeBack();
  }

 private:
  void Restore() {
    constexpr std::string_view kRoot = "disk/db";
    StoreImage image;
    for (const auto& [path, bytes] : scenario_.base->image) {
      if (path.starts_with(kRoot)) image[world_.directory + path.substr(kRoot.size())] = bytes;
    }
    for (const auto& [path, bytes] : image) {
      if (path.back() == '/') {
        std::filesystem::create_directory(path);
      } else {
        EXPECT_OK(DiskFiles()
                      ->Open(path, OpenMode::kCreate)
                      .value()
                      ->WriteAt(0, std::as_bytes(std::span(bytes))));
      }
    }
  }

  Status RunStep(const FaultStep& step) {
    faults_.resume();
    Status status;
    try {
      status = step.run(world_);
      faults_.pause();
    } catch (const std::bad_alloc&) {  // the C interface makes the same of it
      faults_.pause();
      status = ResourceExhausted(Detail::kMemory, "out of memory");
    }
    return status;
  }

  // False when the store says that it is poisoned: nothing more can be done with it.
  bool Take(const FaultStep& step) {
    SCOPED_TRACE(step.name);
    const Status status = RunStep(step);
    if (status.ok()) {
      step.effect(world_.state);
      return true;
    }
    faults_.check_error(status);
    faults_.end();
    ExpectEqual();
    const Status again = RunStep(step);
    if (again.ok()) {
      step.effect(world_.state);
      return true;
    }
    EXPECT_EQ(again.detail(), Detail::kPoisoned) << "tried again: " << again.ToString();
    after_ = world_.state;
    step.effect(*after_);
    return false;
  }

  // A collection may say that it is out of use until the store is opened again.
  void ExpectEqual() {
    if (!world_.store) return;
    const std::string difference = DifferenceOfStore(*world_.store, world_.state);
    EXPECT_TRUE(difference.empty() || difference.find("out of use") != std::string::npos)
        << difference;
  }

  void ComeBack() {
    world_.reader.reset();
    const Status closed = CloseStep().run(world_);
    EXPECT_TRUE(closed.ok() || closed.detail() == Detail::kPoisoned) << closed.ToString();
    ASSERT_OK(world_.Open());
    const std::string difference = DifferenceOfStore(*world_.store, world_.state);
    if (after_ && !difference.empty()) {
      EXPECT_EQ(DifferenceOfStore(*world_.store, *after_), "") << "and before: " << difference;
    } else {
      EXPECT_EQ(difference, "");
    }
    ASSERT_OK(CloseStep().run(world_));
    for (const FaultCopy& copy : world_.copies) EXPECT_EQ(DifferenceOfCopy(world_, copy), "");
    EXPECT_EQ(OpenDescriptors(), descriptors_) << "files that nobody closes";
  }

  const DiskScenario& scenario_;
  const DiskFaults& faults_;
  const ptrdiff_t descriptors_;
  FaultWorld world_;
  std::optional<StoreState> after_;  // with the step of which nobody knows
};

}  // namespace pigment

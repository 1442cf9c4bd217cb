// SPDX-License-Identifier: Apache-2.0
//
// Every number once, whoever takes it; the first error ends all.

#include "engine/vector/shared_loop.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

TEST(ShareLoop, TakesEveryNumberOnce) {
  for (const uint32_t threads : {1u, 2u, 7u}) {
    for (const uint32_t count : {0u, 1u, 99u, 1000u}) {
      for (const uint32_t piece : {1u, 10u, 5000u}) {
        std::vector<std::atomic<int>> taken(count);
        std::atomic<uint32_t> bodies{0};
        ASSERT_OK(ShareLoop(threads, count, piece, {}, [&]() -> LoopBody {
          ++bodies;
          return [&](uint32_t begin, uint32_t end, const BuildPause&) {
            EXPECT_LE(end - begin, piece);
            for (uint32_t i = begin; i < end; ++i) ++taken[i];
            return Status::Ok();
          };
        }));
        for (const auto& times : taken) ASSERT_EQ(times.load(), 1);
        EXPECT_LE(bodies.load(), threads);
      }
    }
  }
}

TEST(ShareLoop, EndsWithTheFirstError) {
  std::atomic<uint32_t> done{0};
  const Status status = ShareLoop(3, 100000, 1, {}, [&]() -> LoopBody {
    return [&](uint32_t begin, uint32_t, const BuildPause& pause) -> Status {
      PIGMENT_RETURN_IF_ERROR(pause());
      ++done;
      return begin == 500 ? Status(Code::kDataLoss, "number 500") : Status::Ok();
    };
  });
  EXPECT_EQ(status.code(), Code::kDataLoss);
  EXPECT_LT(done.load(), 100000u);
}

TEST(ShareLoop, OutOfMemoryInAnyThreadIsAnError) {
  const Status status = ShareLoop(3, 1000, 1, {}, [&]() -> LoopBody {
    return [](uint32_t begin, uint32_t, const BuildPause&) -> Status {
      if (begin == 100) throw std::bad_alloc();
      return Status::Ok();
    };
  });
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
}

TEST(ShareLoop, AsksThePauseOnTheCallersThreadAlone) {
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<int> elsewhere{0};
  int asked = 0;
  const BuildPause pause = [&] {
    elsewhere += std::this_thread::get_id() == caller ? 0 : 1;
    return ++asked < 50 ? Status::Ok() : Status(Code::kCancelled, "stop");
  };
  const Status status = ShareLoop(4, 1000000, 1, pause, [&]() -> LoopBody {
    return [](uint32_t, uint32_t, const BuildPause& own) { return own(); };
  });
  EXPECT_EQ(elsewhere.load(), 0);
  // The others may have taken all pieces before the caller asked so often.
  EXPECT_TRUE(status.ok() || status.code() == Code::kCancelled);
}

TEST(ShareLoop, StandsStillWhileThePauseIsAsked) {
  std::atomic<uint64_t> steps{0};
  int asked = 0;
  const BuildPause pause = [&] {
    ++asked;
    const uint64_t before = steps.load();
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    EXPECT_EQ(steps.load(), before);
    return Status::Ok();
  };
  ASSERT_OK(ShareLoop(4, 10000, 10, pause, [&]() -> LoopBody {
    return [&](uint32_t begin, uint32_t end, const BuildPause& own) -> Status {
      for (uint32_t i = begin; i < end; ++i) {
        PIGMENT_RETURN_IF_ERROR(own());
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        ++steps;
      }
      return Status::Ok();
    };
  }));
  EXPECT_EQ(steps.load(), 10000u);
  EXPECT_GT(asked, 1);
}

}  // namespace
}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// How far flushes, compactions, backups, checks and repairs are, through the token that they were
// given; and flushes that are stopped.

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/c_api/abi.h"
#include "tests/support/json.h"
#include "tests/support/temporary_directory.h"

namespace {

using abi_test::kNoOptions;
using abi_test::Outcome;
using abi_test::Sized;
using abi_test::Try;

constexpr size_t kProgressDimension = 24;

pigment_progress Read(const pigment_cancel* cancel) {
  auto progress = Sized<pigment_progress>();
  const Outcome outcome = Try(pigment_cancel_progress, cancel, &progress);
  EXPECT_TRUE(outcome.ok()) << outcome;
  return progress;
}

class ProgressAbi : public ::testing::Test {
 protected:
  void SetUp() override { Open(nullptr); }

  void Open(const pigment_tracing* tracing) {
    docs_.reset();
    client_.reset();
    auto options = Sized<pigment_open_options>();
    options.background_threads = -1;
    ASSERT_TRUE(abi_test::OpenTraced(path(), tracing, &client_, &options).ok());
    auto get_or_create = Sized<pigment_collection_options>();
    get_or_create.get_or_create = true;
    ASSERT_TRUE(abi_test::Create(client_.get(), "docs", &docs_, &get_or_create).ok());
  }
  // `rows` records from `begin` on, in the tail.
  void Add(uint32_t begin, uint32_t rows) {
    abi_test::Batch batch;
    batch.dimension = kProgressDimension;
    for (uint32_t i = begin; i < begin + rows; ++i) {
      batch.ids.Add("id" + std::to_string(i));
      for (uint32_t c = 0; c < kProgressDimension; ++c)
        batch.values.push_back(static_cast<float>((i * 2654435761u >> (c % 24)) % 1000));
    }
    const Outcome written = abi_test::Write(pigment_collection_add, docs_.get(), batch);
    ASSERT_TRUE(written.ok()) << written;
  }
  void AddSegment(uint32_t begin, uint32_t rows) {
    Add(begin, rows);
    ASSERT_TRUE(Try(pigment_collection_flush, docs_.get()).ok());
  }
  abi_test::Cancel NewToken() {
    pigment_cancel* made = nullptr;
    EXPECT_TRUE(Try(pigment_cancel_new, &made).ok());
    return abi_test::Cancel(made);
  }
  pigment_call_options With(const abi_test::Cancel& token) {
    auto options = Sized<pigment_call_options>();
    options.cancel = token.get();
    return options;
  }
  // Of a call that is over; all of its last phase was done.
  uint64_t TotalAtTheEnd(const abi_test::Cancel& token, const char* phase, const char* unit) {
    const pigment_progress progress = Read(token.get());
    EXPECT_STREQ(progress.phase, phase);
    EXPECT_STREQ(progress.unit, unit);
    EXPECT_EQ(progress.done, progress.total);
    return progress.total;
  }
  nlohmann::json Segments() {
    pigment_buffer* buffer = nullptr;
    EXPECT_TRUE(Try(pigment_collection_segments, docs_.get(), &buffer).ok());
    const abi_test::Buffer owned(buffer);
    return nlohmann::json::parse(abi_test::Text(buffer));
  }
  uint64_t SegmentBytes() {
    uint64_t bytes = 0;
    for (const auto& segment : Segments()) bytes += segment.at("bytes").get<uint64_t>();
    return bytes;
  }
  std::string path() const { return folder_ / "db"; }

  pigment::TemporaryDirectory folder_;
  abi_test::Client client_;
  abi_test::Collection docs_;
};

TEST_F(ProgressAbi, NothingHasBegunOfATokenThatIsNew) {
  const abi_test::Cancel token = NewToken();
  const pigment_progress progress = Read(token.get());
  EXPECT_EQ(progress.phase, nullptr);
  EXPECT_EQ(progress.unit, nullptr);
  EXPECT_EQ(progress.done, 0u);
  EXPECT_EQ(progress.total, 0u);
  const pigment_call_options options = With(token);
  uint64_t count = 0;
  ASSERT_TRUE(Try(pigment_collection_count, docs_.get(), &options, &count).ok());
  EXPECT_EQ(Read(token.get()).phase, nullptr) << "a count tells nothing";
}

TEST_F(ProgressAbi, OfWrongArgumentsIsRefusedAndZeroed) {
  auto progress = Sized<pigment_progress>();
  progress.done = 7;
  progress.phase = "before";
  EXPECT_EQ(
      Try(pigment_cancel_progress, static_cast<const pigment_cancel*>(nullptr), &progress).status,
      PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(progress.done, 0u);
  EXPECT_EQ(progress.phase, nullptr);
  const abi_test::Cancel token = NewToken();
  progress.struct_size = 0;
  EXPECT_EQ(Try(pigment_cancel_progress, token.get(), &progress).status, PIGMENT_INVALID_ARGUMENT);
}

TEST_F(ProgressAbi, OfAFlushCountsCollections) {
  Add(0, 100);
  abi_test::Collection other;
  ASSERT_TRUE(abi_test::Create(client_.get(), "other", &other).ok());
  const abi_test::Cancel token = NewToken();
  const pigment_call_options options = With(token);
  ASSERT_TRUE(Try(pigment_client_flush_with, client_.get(), &options).ok());
  EXPECT_EQ(Segments().size(), 1u);
  EXPECT_GE(TotalAtTheEnd(token, "flush", "collections"), 1u);
}

TEST_F(ProgressAbi, WordsOutliveTokenAndStore) {
  Add(0, 100);
  abi_test::Cancel token = NewToken();
  const pigment_call_options options = With(token);
  ASSERT_TRUE(Try(pigment_client_flush_with, client_.get(), &options).ok());
  const pigment_progress progress = Read(token.get());
  token.reset();
  ASSERT_TRUE(Try(pigment_client_close, client_.get()).ok());
  docs_.reset();
  client_.reset();
  EXPECT_STREQ(progress.phase, "flush");
  EXPECT_STREQ(progress.unit, "collections");
}

TEST_F(ProgressAbi, OfABackupEndsAtTheBytesOfAllSegments) {
  AddSegment(0, 500);
  AddSegment(500, 500);
  Add(1000, 3);
  const abi_test::Cancel token = NewToken();
  const pigment_call_options options = With(token);
  const std::string to = folder_ / "copy";
  ASSERT_TRUE(Try(pigment_client_backup, client_.get(), to.data(), to.size(), &options,
                  static_cast<pigment_buffer**>(nullptr))
                  .ok());
  EXPECT_EQ(TotalAtTheEnd(token, "segments", "bytes"), SegmentBytes());
}

// It ends with a check of what it wrote.
TEST_F(ProgressAbi, OfARepairEndsWithThatOfACheck) {
  AddSegment(0, 500);
  ASSERT_TRUE(Try(pigment_client_close, client_.get()).ok());
  const abi_test::Cancel token = NewToken();
  const pigment_call_options options = With(token);
  const std::string from = path(), to = folder_ / "repaired";
  ASSERT_TRUE(Try(pigment_repair, from.data(), from.size(), to.data(), to.size(), &options,
                  static_cast<pigment_buffer**>(nullptr))
                  .status == PIGMENT_INVALID_ARGUMENT)
      << "the report is wanted";
  pigment_buffer* report = nullptr;
  ASSERT_TRUE(
      Try(pigment_repair, from.data(), from.size(), to.data(), to.size(), &options, &report).ok());
  pigment_buffer_free(report);
  EXPECT_GT(TotalAtTheEnd(token, "search", "rows"), 0u);
}

// Somebody else looks while the call runs.
TEST_F(ProgressAbi, IsSeenFromAnotherThreadAndNeverGoesBackWithinAPhase) {
  for (uint32_t begin = 0; begin < 24'000; begin += 12'000) AddSegment(begin, 12'000);
  const abi_test::Cancel token = NewToken();
  const pigment_call_options options = With(token);
  struct Seen {
    std::string phase;
    uint64_t done = 0;
    uint64_t total = 0;
  };
  const auto watch = [&](const auto& work) {
    std::atomic<bool> is_over = false;
    std::vector<Seen> seen;
    std::thread watcher([&] {
      while (!is_over) {
        const pigment_progress now = Read(token.get());
        if (now.phase == nullptr) continue;
        if (seen.empty() || seen.back().phase != now.phase || seen.back().done != now.done)
          seen.push_back({now.phase, now.done, now.total});
      }
    });
    const Outcome outcome = work();
    is_over = true;
    watcher.join();
    EXPECT_TRUE(outcome.ok()) << outcome;
    return seen;
  };
  const auto middle = [](const std::vector<Seen>& seen, const std::string& phase) {
    size_t count = 0;
    for (size_t i = 0; i < seen.size(); ++i) {
      if (seen[i].total != 0) {
        EXPECT_LE(seen[i].done, seen[i].total);
      }
      if (i > 0 && seen[i].phase == seen[i - 1].phase && phase != "search") {
        EXPECT_GE(seen[i].done, seen[i - 1].done);
      }
      count += seen[i].phase == phase && seen[i].done > 0 && seen[i].done < seen[i].total;
    }
    return count;
  };
  const auto compaction = watch([&] {
    return Try(pigment_collection_compact, docs_.get(), &options,
               static_cast<pigment_compaction*>(nullptr));
  });
  ASSERT_FALSE(compaction.empty());
  EXPECT_GE(middle(compaction, "merge"), 1u);
  EXPECT_EQ(compaction.back().phase, "index");
  pigment_buffer* report = nullptr;
  const auto check =
      watch([&] { return Try(pigment_client_check, client_.get(), false, &options, &report); });
  pigment_buffer_free(report);
  ASSERT_FALSE(check.empty());
  EXPECT_GE(middle(check, "records") + middle(check, "search"), 1u);
  EXPECT_EQ(check.back().phase, "search");
}

// ---- Flushes that are stopped

TEST_F(ProgressAbi, AFlushThatIsNotToBeginChangesNothing) {
  Add(0, 50);
  const abi_test::Cancel token = NewToken();
  pigment_cancel_set(token.get());
  const pigment_call_options cancelled = With(token);
  auto late = Sized<pigment_call_options>();
  late.deadline_ns = 1;
  EXPECT_EQ(Try(pigment_collection_flush_with, docs_.get(), &cancelled).status, PIGMENT_CANCELLED);
  EXPECT_EQ(Try(pigment_client_flush_with, client_.get(), &cancelled).status, PIGMENT_CANCELLED);
  EXPECT_EQ(Try(pigment_collection_flush_with, docs_.get(), &late).status,
            PIGMENT_DEADLINE_EXCEEDED);
  EXPECT_EQ(Try(pigment_client_flush_with, client_.get(), &late).status, PIGMENT_DEADLINE_EXCEEDED);
  EXPECT_TRUE(Segments().empty());
  EXPECT_TRUE(Try(pigment_client_flush_with, client_.get(), kNoOptions).ok());
  EXPECT_EQ(Segments().size(), 1u);
}

TEST_F(ProgressAbi, AFlushThatIsStoppedInTheMiddleLeavesEverythingAsItWas) {
  const abi_test::Cancel token = NewToken();
  auto tracing = Sized<pigment_tracing>();
  tracing.kinds = PIGMENT_SPAN_JOB;
  tracing.begin = [](void* cancel, uint64_t, uint64_t, int32_t, const char* name, const char*) {
    if (std::string(name) == "flush") pigment_cancel_set(static_cast<pigment_cancel*>(cancel));
  };
  tracing.end = [](void*, uint64_t, pigment_status, size_t, const char* const*, const int64_t*) {};
  tracing.user_data = token.get();
  ASSERT_TRUE(Try(pigment_client_close, client_.get()).ok());
  Open(&tracing);
  Add(0, 3'000);
  const pigment_call_options options = With(token);
  EXPECT_EQ(Try(pigment_collection_flush_with, docs_.get(), &options).status, PIGMENT_CANCELLED);
  EXPECT_TRUE(Segments().empty());
  for (const auto& file : std::filesystem::directory_iterator(path() + "/segments"))
    ADD_FAILURE() << file.path() << " was left behind";
  uint64_t count = 0;
  ASSERT_TRUE(abi_test::Count(docs_.get(), &count).ok());
  EXPECT_EQ(count, 3'000u);
  EXPECT_TRUE(Try(pigment_collection_flush, docs_.get()).ok()) << "which nobody stops";
  EXPECT_EQ(Segments().size(), 1u);
  ASSERT_TRUE(Try(pigment_client_close, client_.get()).ok());
  Open(&tracing);
  ASSERT_TRUE(abi_test::Count(docs_.get(), &count).ok());
  EXPECT_EQ(count, 3'000u);
}

}  // namespace

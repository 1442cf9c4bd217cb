// SPDX-License-Identifier: Apache-2.0
//
// Log with damaged files: every bit and every length of a small log. Damage is reported, or it
// changes nothing that was promised.

#include <gtest/gtest.h>

#include <map>

#include "engine/base/record_framing.h"
#include "tests/engine/log/log_harness.h"

namespace pigment {
namespace {

constexpr size_t kBatches = 9;

class LogCorruption : public ::testing::Test {
 protected:
  void Build(bool is_closed) {
    LogOptions options;
    options.file_bytes_max = 160;
    ASSERT_OK(harness_.Open(options));
    for (size_t i = 0; i < kBatches; ++i) ASSERT_OK(harness_.Append("batch " + std::to_string(i)));
    if (is_closed) ASSERT_OK(harness_.log->Close());
    const LogStatistics statistics = harness_.log->statistics();
    harness_.log.reset();
    original_ = harness_.applied;
    for (const std::string& name : harness_.LogFiles()) contents_[name] = harness_.Contents(name);
    ASSERT_GE(contents_.size(), 3u);
    records_end_ = contents_.rbegin()->second.size() -
                   (statistics.allocated_bytes - statistics.bytes);
  }

  // Puts the files back as they were, with `damaged` for one of them.
  void Restore(const std::string& name, const std::string& damaged) {
    harness_.log.reset();
    for (const std::string& present : harness_.LogFiles()) {
      if (!contents_.contains(present)) ASSERT_OK(harness_.files.Remove("db/log/" + present));
    }
    for (const auto& [file, bytes] : contents_)
      harness_.Replace(file, file == name ? damaged : bytes);
  }

  bool IsPrefix() const {
    return harness_.applied.size() <= original_.size() &&
           std::equal(harness_.applied.begin(), harness_.applied.end(), original_.begin());
  }

  static bool IsReportOfDamage(const Status& status) {
    if (status.code() == Code::kVersionMismatch) return true;
    return status.code() == Code::kDataLoss && status.detail() != Detail::kNone &&
           !status.file().empty();
  }

  LogHarness harness_;
  std::vector<std::string> original_;
  std::map<std::string, std::string> contents_;
  uint64_t records_end_ = 0;  // in the last file
};

TEST_F(LogCorruption, EveryBitOfAClosedLogIsReportedOrHarmless) {
  Build(true);
  const size_t last_size = contents_.rbegin()->second.size();
  size_t reported = 0, harmless = 0;
  for (const auto& [name, bytes] : contents_) {
    const bool is_last = name == contents_.rbegin()->first;
    for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      SCOPED_TRACE(::testing::Message() << name << " bit " << bit);
      std::string damaged = bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
      Restore(name, damaged);
      const Status status = harness_.Open();
      if (status.ok()) {
        ASSERT_EQ(harness_.applied, original_);
        // Only the closing mark may be damaged without a word: it was evidence, not a promise.
        ASSERT_TRUE(is_last && bit / 8 >= last_size - kRecordFrameBytes);
        ++harmless;
      } else {
        ASSERT_TRUE(IsReportOfDamage(status)) << status.ToString();
        ++reported;
      }
    }
  }
  EXPECT_EQ(harmless, kRecordFrameBytes * 8);
  EXPECT_GT(reported, 3000u);
}

TEST_F(LogCorruption, EveryBitOfAnOpenLogIsReportedOrCostsTheUnprovenEndAlone) {
  Build(false);
  for (const auto& [name, bytes] : contents_) {
    for (size_t bit = 0; bit < bytes.size() * 8; bit += 3) {
      SCOPED_TRACE(::testing::Message() << name << " bit " << bit);
      std::string damaged = bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
      Restore(name, damaged);
      const Status status = harness_.Open();
      if (status.ok()) {
        ASSERT_TRUE(IsPrefix());
        // The very last batch looks torn; what is allocated behind it holds nothing.
        ASSERT_EQ(harness_.applied.size(), bit / 8 < records_end_ ? kBatches - 1 : kBatches);
      } else {
        ASSERT_TRUE(IsReportOfDamage(status)) << status.ToString();
      }
    }
  }
}

TEST_F(LogCorruption, EveryTruncationIsReportedOrLooksAsATornTail) {
  Build(true);
  for (const auto& [name, bytes] : contents_) {
    const bool is_last = name == contents_.rbegin()->first;
    for (size_t size = 0; size < bytes.size(); ++size) {
      SCOPED_TRACE(::testing::Message() << name << " cut to " << size);
      Restore(name, bytes.substr(0, size));
      const Status status = harness_.Open();
      if (!status.ok()) {
        ASSERT_TRUE(IsReportOfDamage(status)) << status.ToString();
        ASSERT_TRUE(!is_last || size < kFramedHeaderBytes);
      } else {
        ASSERT_TRUE(is_last);
        ASSERT_TRUE(IsPrefix());
        // Everything that ends before the cut is there.
        const auto header = DecodeFramedHeader(AsBytes(bytes), FramedKind::kLog, 2, name);
        ASSERT_OK(header);
        const size_t whole =
            (size - kFramedHeaderBytes) / (kRecordFrameBytes + original_[0].size());
        ASSERT_EQ(harness_.applied.size(), std::min(header->first_position - 1 + whole, kBatches));
        ASSERT_OK(harness_.Append("after"));
      }
    }
  }
}

TEST_F(LogCorruption, AMissingOrSwappedFileIsReported) {
  Build(true);
  std::vector<std::string> names;
  for (const auto& [name, bytes] : contents_) names.push_back(name);
  for (size_t i = 0; i + 1 < names.size(); ++i) {
    SCOPED_TRACE(names[i]);
    Restore("", "");
    ASSERT_OK(harness_.files.Remove("db/log/" + names[i]));
    const Status missing = harness_.Open();
    EXPECT_CODE(missing, Code::kDataLoss);
    EXPECT_EQ(missing.detail(), Detail::kMissing) << missing.ToString();
    ASSERT_OK(harness_.files.Open("db/log/" + names[i], OpenMode::kCreate));
    Restore(names[i], contents_[names[i + 1]]);
    const Status swapped = harness_.Open();
    EXPECT_CODE(swapped, Code::kDataLoss);
    EXPECT_EQ(swapped.detail(), Detail::kForeign) << swapped.ToString();
  }
}

TEST_F(LogCorruption, ZerosOrRubbishBehindTheEndAreATornTail) {
  Build(false);
  const std::string last = contents_.rbegin()->first;
  for (const std::string& tail :
       {std::string(1, '\0'), std::string(5000, '\0'), std::string(777, '\xff')}) {
    Restore(last, contents_[last] + tail);
    ASSERT_OK(harness_.Open());
    EXPECT_EQ(harness_.applied, original_);
    ASSERT_OK(harness_.Append("after"));
    ASSERT_OK(harness_.Open());
    EXPECT_EQ(harness_.applied.size(), kBatches + 1);
  }
}

}  // namespace
}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// Damage to segments: flipped bits, truncation, swapped and stale blocks in every kind of block,
// and contents that were changed and sealed again. Never a crash (sanitizers watch), and what a
// checksum can tell is told with its place.

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <set>

#include "engine/base/memory_files.h"
#include "engine/block/file_block_sink.h"
#include "engine/block/file_block_source.h"
#include "tests/engine/segment/segment_fixture.h"
#include "tests/support/segment_exercise.h"

namespace pigment {
namespace {

// Segments that together have every kind of block.
struct Example {
  std::unique_ptr<MemoryBlockSource> blocks;
  uint32_t root = 0;
};

Example Build(int kind, uint32_t segment = 7) {
  std::mt19937_64 random(static_cast<uint64_t>(kind));
  Example example;
  Result<SegmentSummary> summary = Status(Code::kInternal, "not built");
  if (kind == 0) {
    example.blocks = std::make_unique<MemoryBlockSource>("records");
    std::vector<Record> records;
    for (uint32_t i = 0; i < 300; ++i) records.push_back(RandomRecord(random, 40, i, i + 1));
    for (Record& record : records) {
      if (record.document) *record.document += " common words " + std::to_string(random() % 9);
    }
    summary = WriteRecords(example.blocks.get(), 40, records, segment, Analyzer::Make({}).value());
  } else if (kind == 3) {
    example.blocks = std::make_unique<MemoryBlockSource>("documents");
    std::vector<Record> records;
    for (uint32_t i = 0; i < 150; ++i) {
      records.push_back(RandomRecord(random, 4, i, i + 1));
      records.back().document = "document " + std::to_string(random()) + std::string(i * 10, 'x');
    }
    summary = WriteRecords(example.blocks.get(), 4, records, segment);
  } else if (kind == 1) {
    example.blocks = std::make_unique<MemoryBlockSource>("rows");
    summary = WriteRows(example.blocks.get(), 50, RandomRows(random, 50, 120, 30), segment);
  } else {
    example.blocks =
        std::make_unique<ScatteredBlocks>("large rows", 1);  // with overflowing extents
    summary = WriteRows(example.blocks.get(), 2100, RandomRows(random, 2100, 340, 10), segment);
  }
  EXPECT_OK(summary);
  example.root = summary->root;
  return example;
}

bool IsOfSegment(MemoryBlockSource& blocks, uint32_t physical) {
  return ReadBlockTrailer(blocks.Mutable(physical)).segment == 7;
}

// One block of each kind at the beginning, in the middle and at the end of its part.
std::vector<uint32_t> Samples(MemoryBlockSource& blocks) {
  std::map<BlockKind, std::vector<uint32_t>> by_kind;
  for (uint32_t i = 0; i < *blocks.blocks(); ++i) {
    if (IsOfSegment(blocks, i)) by_kind[ReadBlockTrailer(blocks.Mutable(i)).kind].push_back(i);
  }
  std::set<uint32_t> samples;
  for (const auto& [kind, places] : by_kind) {
    samples.insert({places.front(), places[places.size() / 2], places.back()});
  }
  return {samples.begin(), samples.end()};
}

class SegmentDamage : public testing::TestWithParam<int> {};

TEST_P(SegmentDamage, OfABitIsFoundInEveryKindOfBlock) {
  Example example = Build(GetParam());
  ASSERT_OK(ExerciseSegment(example.blocks.get(), example.root));
  std::mt19937_64 random(1);
  for (const uint32_t physical : Samples(*example.blocks)) {
    for (int i = 0; i < 4; ++i) {
      SCOPED_TRACE(testing::Message() << "block " << physical);
      const size_t bit = kBlockHeaderBytes * 8 + random() % ((kBlockBytes - kBlockHeaderBytes) * 8);
      std::byte& byte = example.blocks->Mutable(physical)[bit / 8];
      byte ^= static_cast<std::byte>(1 << bit % 8);
      const Status status = ExerciseSegment(example.blocks.get(), example.root);
      EXPECT_EQ(status.detail(), Detail::kChecksum) << status.ToString();
      EXPECT_EQ(status.offset(), static_cast<int64_t>(physical) * 8192) << status.ToString();
      EXPECT_EQ(status.file(), example.blocks->name());
      byte ^= static_cast<std::byte>(1 << bit % 8);
    }
  }
  EXPECT_OK(ExerciseSegment(example.blocks.get(), example.root));
}

TEST_P(SegmentDamage, BySwappedAndStaleBlocksIsFound) {
  Example example = Build(GetParam());
  Example other = Build(GetParam(), 6);  // the same contents under an older stamp
  const auto samples = Samples(*example.blocks);
  for (size_t i = 0; i < samples.size(); ++i) {
    const uint32_t physical = samples[i];
    SCOPED_TRACE(testing::Message() << "block " << physical);
    std::vector<std::byte> good(kBlockBytes);
    std::memcpy(good.data(), example.blocks->Mutable(physical).data(), kBlockBytes);
    const auto replace = [&](const void* bytes) {
      std::memcpy(example.blocks->Mutable(physical).data(), bytes, kBlockBytes);
      const Status status = ExerciseSegment(example.blocks.get(), example.root);
      std::memcpy(example.blocks->Mutable(physical).data(), good.data(), kBlockBytes);
      return status;
    };
    if (physical != example.root) {  // any root is a whole segment; its stamp is what Open is given
      const Status stale = replace(other.blocks->Mutable(physical).data());
      EXPECT_EQ(stale.detail(), Detail::kForeign) << stale.ToString();
    }
    const uint32_t neighbor = samples[(i + 1) % samples.size()];
    const Status swapped = replace(example.blocks->Mutable(neighbor).data());
    EXPECT_TRUE(swapped.detail() == Detail::kForeign || swapped.detail() == Detail::kWrongKind)
        << swapped.ToString();
    EXPECT_EQ(replace(std::vector<std::byte>(kBlockBytes).data()).detail(), Detail::kChecksum);
  }
  EXPECT_EQ(Segment::Open(other.blocks.get(), other.root, 7).status().detail(), Detail::kForeign);
}

TEST_P(SegmentDamage, ByChangedContentsThatAreSealedAgainNeverCrashes) {
  std::mt19937_64 random(3);
  Example example = Build(GetParam());
  const auto samples = Samples(*example.blocks);
  int refused = 0;
  for (int i = 0; i < 1500; ++i) {
    // Mostly the root, where the counts are.
    const uint32_t physical = random() % 3 ? example.root : samples[random() % samples.size()];
    BlockBytes block = example.blocks->Mutable(physical);
    std::vector<std::byte> good(block.begin(), block.end());
    const size_t reach = random() % 2 ? 320 : kBlockPayloadBytes;
    for (uint64_t changes = 1 + random() % 3; changes > 0; --changes) {
      const size_t at = kBlockHeaderBytes + random() % (reach - 8);
      const uint32_t values[] = {0,          1,    0x7FFFFFFF,
                                 0xFFFFFFFF, 8192, static_cast<uint32_t>(random())};
      std::memcpy(block.data() + at / 4 * 4, &values[random() % std::size(values)],
                  random() % 4 + 1);
    }
    const BlockTrailer trailer = ReadBlockTrailer(block);
    SealBlock(block, trailer.kind, trailer.segment, trailer.logical);
    if (!ExerciseSegment(example.blocks.get(), example.root).ok()) ++refused;
    std::memcpy(block.data(), good.data(), kBlockBytes);
    if (HasFailure()) return;
  }
  EXPECT_GT(refused, 300);
  EXPECT_OK(ExerciseSegment(example.blocks.get(), example.root));
}

TEST_P(SegmentDamage, ByTruncationOfItsFileIsFound) {
  std::mt19937_64 random(4);
  MemoryFileSystem files;
  uint64_t size = 0;
  uint32_t root = 0;
  {
    auto file = files.Open("segment", OpenMode::kCreate);
    ASSERT_OK(file);
    FileBlockSink sink(file->get());
    auto summary = GetParam() == 0 ? WriteRecords(&sink, 40, {RandomRecord(random, 40, 1, 1)})
                                   : WriteRows(&sink, 50, RandomRows(random, 50, 500, 30));
    ASSERT_OK(summary);
    ASSERT_OK(sink.Finish());
    root = summary->root;
    size = (root + uint64_t{1}) * kBlockBytes;
  }
  for (int i = 0; i < 60; ++i) {
    // Whole blocks and parts of one; the root stands at its place where there is one.
    const uint64_t kept =
        random() % 2 ? random() % size : random() % (size / kBlockBytes) * kBlockBytes;
    auto file = files.Open("segment", OpenMode::kReadWrite);
    ASSERT_OK(file);
    std::vector<std::byte> bytes(size);
    ASSERT_OK((*file)->ReadAt(0, bytes));
    ASSERT_OK((*file)->Truncate(kept));
    auto source = FileBlockSource::Open(std::move(file).value(), 7, nullptr);
    if (source.ok()) {
      EXPECT_EQ(ExerciseSegment(source->get(), root).detail(), Detail::kMissing);
    } else {
      EXPECT_TRUE(source.status().detail() == Detail::kMisaligned ||
                  source.status().detail() == Detail::kTruncated);
    }
    auto again = files.Open("segment", OpenMode::kReadWrite);
    ASSERT_OK(again);
    ASSERT_OK((*again)->WriteAt(0, bytes));
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, SegmentDamage, testing::Values(0, 1, 2, 3));

}  // namespace
}  // namespace pigment

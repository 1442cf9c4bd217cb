// SPDX-License-Identifier: Apache-2.0
//
// Segments of any bytes: the input patches a good segment (which of three, then block, offset,
// value), each touched block is sealed again so that checksums do not hide what lies behind them,
// and everything is read and searched.

#include <cstdint>
#include <cstring>
#include <memory>
#include <random>

#include "tests/engine/segment/segment_fixture.h"
#include "tests/support/segment_exercise.h"

namespace {

struct Example {
  std::unique_ptr<pigment::MemoryBlockSource> blocks;
  uint32_t root = 0;
};

Example Build(int kind) {
  std::mt19937_64 random(1);
  Example example;
  example.blocks = kind == 2 ? std::make_unique<pigment::ScatteredBlocks>("fuzz", 1)
                             : std::make_unique<pigment::MemoryBlockSource>("fuzz");
  pigment::Result<pigment::SegmentSummary> summary =
      pigment::Status(pigment::Code::kInternal, "not built");
  if (kind == 0) {
    std::vector<pigment::Record> records;
    for (uint32_t i = 0; i < 20; ++i) records.push_back(pigment::RandomRecord(random, 8, i, i + 1));
    summary = pigment::WriteRecords(example.blocks.get(), 8, records, 7,
                                    pigment::Analyzer::Make({}).value());
  } else {
    const uint32_t dimension = kind == 1 ? 8 : 2100;
    summary = pigment::WriteRows(example.blocks.get(), dimension,
                                 pigment::RandomRows(random, dimension, 40, 20));
  }
  if (!summary.ok()) std::abort();
  example.root = summary->root;
  return example;
}

struct Patch {
  uint16_t block;   // counted from the root backwards
  uint16_t offset;  // within the payload
  uint32_t value;
};
static_assert(sizeof(Patch) == 8);

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  static Example examples[] = {Build(0), Build(1), Build(2)};
  Example& example = examples[data[0] % 3];
  const uint32_t count = *example.blocks->blocks();
  struct Saved {
    uint32_t physical;
    std::vector<std::byte> bytes;
  };
  std::vector<Saved> saved;
  for (size_t at = 1; at + sizeof(Patch) <= size && saved.size() < 16; at += sizeof(Patch)) {
    Patch patch;
    std::memcpy(&patch, data + at, sizeof patch);
    const uint32_t physical = count - 1 - patch.block % count;
    pigment::BlockBytes block = example.blocks->Mutable(physical);
    saved.push_back({physical, {block.begin(), block.end()}});
    const size_t offset = patch.offset % (pigment::kBlockPayloadBytes - sizeof patch.value);
    std::memcpy(block.data() + pigment::kBlockHeaderBytes + offset, &patch.value,
                sizeof patch.value);
    const pigment::BlockTrailer trailer = pigment::ReadBlockTrailer(block);
    pigment::SealBlock(block, trailer.kind, trailer.segment, trailer.logical);
  }
  (void)pigment::ExerciseSegment(example.blocks.get(), example.root);
  if (testing::Test::HasFailure()) std::abort();
  for (size_t i = saved.size(); i-- > 0;) {
    std::memcpy(example.blocks->Mutable(saved[i].physical).data(), saved[i].bytes.data(),
                pigment::kBlockBytes);
  }
  return 0;
}

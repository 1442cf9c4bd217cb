// SPDX-License-Identifier: Apache-2.0
//
// Small segments of both kinds in memory, and the plain model that they are compared with.

#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/block/memory_block_source.h"
#include "engine/segment/segment.h"
#include "engine/segment/segment_writer.h"
#include "tests/support/status_matchers.h"

namespace pigment {

struct ModelRow {
  std::vector<float> vector;  // empty: none
  uint64_t row_pointer = 0;
};

inline std::vector<float> RandomVector(std::mt19937_64& random, uint32_t dimension) {
  std::normal_distribution<float> normal;
  std::vector<float> vector(dimension);
  for (float& value : vector) value = normal(random);
  return vector;
}

inline Record RandomRecord(std::mt19937_64& random, uint32_t dimension, uint32_t number,
                           uint64_t ordinal) {
  Record record;
  record.id = std::string("id\0", 3) + std::to_string((number * 7919) % 1000003);
  if (random() % 4 == 0) record.id += std::string(random() % 60, '\xff');
  record.embedding = RandomVector(random, dimension);
  record.ordinal = ordinal;
  if (random() % 3 != 0)
    record.document = std::string(random() % (random() % 20 == 0 ? 30000 : 200), 'd') + record.id;
  if (random() % 3 != 0) {
    record.metadata =
        Metadata{{"number", int64_t{number}}, {"half", number / 2.0}, {"name", record.id}};
  }
  if (random() % 3 == 0) record.uri = "file:///" + record.id;
  return record;
}

// Sink that puts blocks at physical numbers of its own choice, as a host's relation does.
class ScatteredBlocks : public MemoryBlockSource {
 public:
  explicit ScatteredBlocks(std::string name, uint32_t gap)
      : MemoryBlockSource(std::move(name)), gap_(gap) {}

  Result<uint32_t> Write(ConstBlockBytes block) override {
    for (uint32_t i = 0; i < gap_; ++i) {
      const std::vector<std::byte> zeros(kBlockBytes);
      PIGMENT_RETURN_IF_ERROR(
          MemoryBlockSource::Write(ConstBlockBytes(zeros.data(), kBlockBytes)).status());
    }
    return MemoryBlockSource::Write(block);
  }

 private:
  const uint32_t gap_;
};

inline Result<SegmentSummary> WriteRows(BlockSink* sink, uint32_t dimension,
                                        const std::vector<ModelRow>& rows, uint32_t segment = 7,
                                        bool codes = true,
                                        VectorElement element = VectorElement::kF32) {
  SegmentOptions options;
  options.segment = segment;
  options.codes = codes ? SegmentOptions::Codes::kOfFlat : SegmentOptions::Codes::kNone;
  options.dimension = dimension;
  options.vector_element = element;
  SegmentWriter writer(options, sink);
  for (const ModelRow& row : rows)
    PIGMENT_RETURN_IF_ERROR(writer.AddRow(row.vector, row.row_pointer));
  return writer.Finish();
}

inline Result<SegmentSummary> WriteRecords(BlockSink* sink, uint32_t dimension,
                                           const std::vector<Record>& records, uint32_t segment = 7,
                                           std::shared_ptr<const Analyzer> analyzer = nullptr) {
  SegmentOptions options;
  options.analyzer = std::move(analyzer);
  options.segment = segment;
  options.codes = SegmentOptions::Codes::kOfFlat;
  options.dimension = dimension;
  SegmentWriter writer(options, sink);
  for (const Record& record : records) PIGMENT_RETURN_IF_ERROR(writer.AddRecord(record));
  return writer.Finish();
}

inline std::vector<ModelRow> RandomRows(std::mt19937_64& random, uint32_t dimension, uint32_t count,
                                        uint32_t null_percent) {
  std::vector<ModelRow> rows(count);
  for (uint32_t i = 0; i < count; ++i) {
    if (random() % 100 >= null_percent) rows[i].vector = RandomVector(random, dimension);
    rows[i].row_pointer = i * uint64_t{0x10000} + random() % 200;
  }
  return rows;
}

}  // namespace pigment

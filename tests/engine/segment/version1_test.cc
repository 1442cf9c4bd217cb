// SPDX-License-Identifier: Apache-2.0
//
// Segments of version 1, as the library wrote them in 0.1 (the files beside this one in version1/),
// read as they were meant.

#include <gtest/gtest.h>

#include <string>

#include "engine/base/disk_files.h"
#include "engine/block/file_block_source.h"
#include "engine/segment/row_reader.h"
#include "tests/engine/segment/segment_fixture.h"
#include "tests/support/segment_exercise.h"

namespace pigment {
namespace {

std::vector<float> VectorOf(uint32_t row, uint32_t dimension) {
  std::vector<float> vector(dimension);
  for (uint32_t i = 0; i < dimension; ++i)
    vector[i] = static_cast<float>((row * 31 + i * 7) % 97) / 8.0f - 3;
  return vector;
}

Record RecordOf(uint32_t row) {
  Record record;
  record.id = "id" + std::to_string((row * 37) % 101);
  record.embedding = VectorOf(row, 8);
  record.ordinal = 10 + row * 2;
  if (row % 3 != 0)
    record.document = std::string((row % 10) * 20, 'd') + std::string("\0\xff", 2) + record.id;
  if (row % 7 == 0) record.document = "";
  if (row % 4 != 0) record.metadata = Metadata{{"number", int64_t{row}}, {"name", record.id}};
  if (row % 5 == 0) record.uri = "file:///" + record.id;
  return record;
}

std::unique_ptr<FileBlockSource> OpenSource(const std::string& name, uint32_t segment) {
  DiskFileSystem files;
  auto file = files.Open(std::string(PIGMENT_SOURCE_DIR "/tests/engine/segment/version1/") + name,
                         OpenMode::kRead);
  EXPECT_OK(file);
  if (!file.ok()) return nullptr;
  auto source = FileBlockSource::Open(std::move(file).value(), segment, nullptr);
  EXPECT_OK(source);
  return source.ok() ? std::move(source).value() : nullptr;
}

TEST(SegmentOfVersion1, OfRecordsIsRead) {
  const auto source = OpenSource("records.seg", 9);
  ASSERT_NE(source, nullptr);
  ASSERT_OK(ExerciseSegment(source.get(), 9));
  auto segment = Segment::Open(source.get(), 9, 9);
  ASSERT_OK(segment);
  ASSERT_EQ((*segment)->info().rows, 100u);
  const auto reader = (*segment)->NewReader();
  for (uint32_t row = 0; row < 100; ++row) {
    const Record expected = RecordOf(row);
    auto found = (*segment)->FindRow(expected.id);
    ASSERT_OK(found);
    EXPECT_EQ(*found, row);
    auto record = (*segment)->ReadRecord(row, {true, true, true, true});
    ASSERT_OK(record);
    EXPECT_EQ(record->id, expected.id);
    EXPECT_EQ(record->ordinal, expected.ordinal);
    EXPECT_EQ(record->embedding, expected.embedding);
    EXPECT_EQ(record->document, expected.document);
    EXPECT_EQ(record->metadata, expected.metadata);
    EXPECT_EQ(record->uri, expected.uri);
  }
  auto found = (*segment)->FindRow("id200");
  ASSERT_OK(found);
  EXPECT_EQ(*found, std::nullopt);
}

TEST(SegmentOfVersion1, IsCopiedIntoOneOfThisVersion) {
  const auto source = OpenSource("records.seg", 9);
  ASSERT_NE(source, nullptr);
  auto segment = Segment::Open(source.get(), 9, 9);
  ASSERT_OK(segment);
  MemoryBlockSource blocks("copy");
  SegmentWriter writer({.segment = 12, .dimension = 8, .codes = SegmentOptions::Codes::kOfFlat},
                       &blocks);
  const auto reader = (*segment)->NewReader();
  for (uint32_t row = 0; row < 100; ++row) {
    auto view = reader->ReadView(row);
    ASSERT_OK(view);
    EXPECT_FALSE(view->code.empty());
    ASSERT_OK(writer.AddView(*view));
  }
  auto summary = writer.Finish();
  ASSERT_OK(summary);
  EXPECT_LT(summary->blocks, 10u);
  auto copy = Segment::Open(&blocks, summary->root, 12);
  ASSERT_OK(copy);
  ASSERT_OK((*copy)->Verify());
  for (uint32_t row = 0; row < 100; ++row) {
    const Record expected = RecordOf(row);
    auto record = (*copy)->ReadRecord(row, {true, true, true, true});
    ASSERT_OK(record);
    EXPECT_EQ(record->id, expected.id);
    EXPECT_EQ(record->document, expected.document);
    EXPECT_EQ(record->metadata, expected.metadata);
    EXPECT_EQ(record->uri, expected.uri);
    EXPECT_EQ(record->embedding, expected.embedding);
  }
}

TEST(SegmentOfVersion1, OfAHostIsRead) {
  const auto source = OpenSource("host.seg", 7);
  ASSERT_NE(source, nullptr);
  ASSERT_OK(ExerciseSegment(source.get(), 4));
  auto segment = Segment::Open(source.get(), 4, 7);
  ASSERT_OK(segment);
  ASSERT_EQ((*segment)->info().rows, 60u);
  std::vector<uint64_t> pointers(60);
  std::vector<uint32_t> vectors(60);
  ASSERT_OK((*segment)->ReadRowPointers(0, pointers));
  ASSERT_OK((*segment)->ReadRowVectors(0, vectors));
  std::vector<float> vector(50);
  for (uint32_t row = 0; row < 60; ++row) {
    EXPECT_EQ(pointers[row], uint64_t{row} * 65536 + row % 200);
    ASSERT_EQ(vectors[row] == kNoVector, row % 5 == 3);
    if (vectors[row] == kNoVector) continue;
    ASSERT_OK((*segment)->ReadVector(vectors[row], vector));
    EXPECT_EQ(vector, VectorOf(row, 50));
  }
}

}  // namespace
}  // namespace pigment

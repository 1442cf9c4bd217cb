// SPDX-License-Identifier: Apache-2.0
//
// Writer and reader: what goes in comes out, in both kinds of segment, at every dimension and
// arrangement of blocks.

#include "engine/segment/segment.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/base/memory_files.h"
#include "engine/block/file_block_sink.h"
#include "engine/block/file_block_source.h"
#include "engine/segment/host_keys.h"
#include "engine/segment/inverted_reader.h"
#include "engine/segment/root.h"
#include "tests/engine/segment/segment_fixture.h"
#include "tests/support/effort.h"

namespace pigment {
namespace {

void ExpectSameRecord(const Record& got, const Record& expected) {
  EXPECT_EQ(got.id, expected.id);
  EXPECT_EQ(got.ordinal, expected.ordinal);
  EXPECT_EQ(got.embedding, expected.embedding);
  EXPECT_EQ(got.document, expected.document);
  EXPECT_EQ(got.metadata, expected.metadata);
  EXPECT_EQ(got.uri, expected.uri);
}

std::vector<Record> RandomRecords(std::mt19937_64& random, uint32_t dimension, uint32_t count) {
  std::vector<Record> records;
  uint64_t ordinal = 100;
  for (uint32_t i = 0; i < count; ++i) {
    ordinal += 1 + random() % 3;
    records.push_back(RandomRecord(random, dimension, i, ordinal));
  }
  return records;
}

TEST(Segment, OfRecordsGivesEachOneBack) {
  for (uint32_t dimension : {1u, 3u, 384u, 2037u, 2038u, 2039u, 5000u}) {
    for (uint32_t count : {1u, 31u, 32u, 33u, 500u}) {
      if (dimension * count > 600000) continue;
      SCOPED_TRACE(::testing::Message() << "dimension " << dimension << " rows " << count);
      std::mt19937_64 random(dimension * 1000 + count);
      const auto records = RandomRecords(random, dimension, count);
      MemoryBlockSource blocks("test");
      auto summary = WriteRecords(&blocks, dimension, records);
      ASSERT_OK(summary);
      EXPECT_EQ(summary->blocks, blocks.blocks());
      EXPECT_EQ(summary->root, summary->blocks - 1);
      auto segment = Segment::Open(&blocks, summary->root, 7);
      ASSERT_OK(segment);
      const SegmentInfo& info = (*segment)->info();
      EXPECT_EQ(info.rows, count);
      EXPECT_EQ(info.vectors, count);
      EXPECT_EQ(info.vector_slots, (count + 31) / 32 * 32);
      EXPECT_EQ(info.dimension, dimension);
      EXPECT_EQ(info.clusters, 1u);
      ASSERT_OK((*segment)->Verify());
      for (uint32_t row = 0; row < count; ++row) {
        auto record = (*segment)->ReadRecord(row, {true, true, true, true});
        ASSERT_OK(record);
        ExpectSameRecord(*record, records[row]);
        auto found = (*segment)->FindRow(records[row].id);
        ASSERT_OK(found);
        EXPECT_EQ(*found, row);
      }
      for (const std::string absent : {"", "zzz", "id", "id\xff"}) {
        auto found = (*segment)->FindRow(absent);
        ASSERT_OK(found);
        EXPECT_EQ(*found, std::nullopt) << absent;
      }
    }
  }
}

TEST(Segment, ReadsOnlyTheFieldsThatAreAskedFor) {
  std::mt19937_64 random(3);
  const auto records = RandomRecords(random, 8, 50);
  MemoryBlockSource blocks("test");
  auto summary = WriteRecords(&blocks, 8, records);
  ASSERT_OK(summary);
  auto segment = Segment::Open(&blocks, summary->root, 7);
  ASSERT_OK(segment);
  for (int mask = 0; mask < 16; ++mask) {
    const Segment::Fields fields{(mask & 1) != 0, (mask & 2) != 0, (mask & 4) != 0,
                                 (mask & 8) != 0};
    for (uint32_t row = 0; row < 50; ++row) {
      auto record = (*segment)->ReadRecord(row, fields);
      ASSERT_OK(record);
      Record expected = records[row];
      if (!fields.embedding) expected.embedding.clear();
      if (!fields.document) expected.document.reset();
      if (!fields.metadata) expected.metadata.reset();
      if (!fields.uri) expected.uri.reset();
      ExpectSameRecord(*record, expected);
    }
  }
}

TEST(Segment, OfHostRowsGivesVectorsPointersAndNullsBack) {
  for (uint32_t dimension : {1u, 3u, 96u, 384u, 2038u, 2039u, 16000u}) {
    for (uint32_t null_percent : {0u, 30u, 100u}) {
      for (uint32_t count : {0u, 1u, 32u, 200u}) {
        if (dimension * count > 700000) continue;
        SCOPED_TRACE(::testing::Message() << dimension << " " << null_percent << "% " << count);
        std::mt19937_64 random(dimension + null_percent * 7 + count);
        const auto rows = RandomRows(random, dimension, count, null_percent);
        ScatteredBlocks blocks("test", 1);
        auto summary = WriteRows(&blocks, dimension, rows);
        ASSERT_OK(summary);
        auto segment = Segment::Open(&blocks, summary->root, 7);
        ASSERT_OK(segment);
        ASSERT_OK((*segment)->Verify());
        ASSERT_EQ((*segment)->info().rows, count);
        std::vector<uint64_t> pointers(count);
        std::vector<uint32_t> vectors(count);
        if (count != 0) {
          ASSERT_OK((*segment)->ReadRowPointers(0, pointers));
          ASSERT_OK((*segment)->ReadRowVectors(0, vectors));
        }
        std::vector<std::vector<float>> visited;
        ASSERT_OK((*segment)->VisitVectors(
            [&](uint32_t first, const float* data, size_t stride, size_t run) {
              EXPECT_EQ(first, visited.size());
              for (size_t i = 0; i < run; ++i)
                visited.emplace_back(data + i * stride, data + i * stride + dimension);
              return Status::Ok();
            }));
        EXPECT_EQ(visited.size(), (*segment)->info().vectors);
        for (uint32_t row = 0; row < count; ++row) {
          EXPECT_EQ(pointers[row], rows[row].row_pointer);
          if (rows[row].vector.empty()) {
            EXPECT_EQ(vectors[row], kNoVector);
            continue;
          }
          ASSERT_LT(vectors[row], visited.size());
          EXPECT_EQ(visited[vectors[row]], rows[row].vector);
          std::vector<float> read(dimension);
          ASSERT_OK((*segment)->ReadVector(vectors[row], read));
          EXPECT_EQ(read, rows[row].vector);
        }
      }
    }
  }
}

TEST(Segment, KeepsItsExtentsWhereTheRootHasNoRoomForThem) {
  // Every block apart from the next: one extent a block, beyond one root and two overflow blocks.
  std::mt19937_64 random(5);
  const auto rows = RandomRows(random, 2038, 2500, 0);
  ScatteredBlocks blocks("test", 1);
  auto summary = WriteRows(&blocks, 2038, rows);
  ASSERT_OK(summary);
  ASSERT_GT(summary->blocks, 2500u + 3u);
  auto segment = Segment::Open(&blocks, summary->root, std::nullopt);
  ASSERT_OK(segment);
  ASSERT_OK((*segment)->Verify());
  std::vector<float> read(2038);
  for (uint32_t row : {0u, 1u, 700u, 1400u, 2499u}) {
    ASSERT_OK((*segment)->ReadVector(row, read));
    EXPECT_EQ(read, rows[row].vector);
  }
  auto root = ReadRoot(&blocks, summary->root, 7);
  ASSERT_OK(root);
  EXPECT_GT(root->extents.size(), RootExtentCapacity(root->parts.size()) + kExtentsPerBlock);
}

TEST(Segment, ReadsTheSameFromAFile) {
  std::mt19937_64 random(9);
  const auto records = RandomRecords(random, 64, 300);
  MemoryFileSystem files;
  auto file = files.Open("segment", OpenMode::kCreate);
  ASSERT_OK(file);
  FileBlockSink sink(file->get());
  auto summary = WriteRecords(&sink, 64, records, 12);
  ASSERT_OK(summary);
  ASSERT_OK(sink.Finish());
  auto again = files.Open("segment", OpenMode::kRead);
  ASSERT_OK(again);
  auto source = FileBlockSource::Open(std::move(again).value(), 12, nullptr);
  ASSERT_OK(source);
  auto segment = Segment::Open(source->get(), summary->root, 12);
  ASSERT_OK(segment);
  ASSERT_OK((*segment)->Verify());
  for (uint32_t row = 0; row < 300; ++row) {
    auto record = (*segment)->ReadRecord(row, {true, true, true, true});
    ASSERT_OK(record);
    ExpectSameRecord(*record, records[row]);
  }
}

// Ids, places and metadata take no more than their bytes and a few.
TEST(Segment, KeepsSmallRecordsInFewBytes) {
  constexpr uint32_t kRows = 20000;
  std::vector<Record> records(kRows);
  for (uint32_t row = 0; row < kRows; ++row) {
    records[row].id = "row-" + std::to_string(row);
    records[row].ordinal = row + 1;
    records[row].metadata =
        Metadata{{"bucket", int64_t{row % 1000}}, {"source", "page " + std::to_string(row % 7)}};
  }
  MemoryBlockSource blocks("test");
  auto summary = WriteRecords(&blocks, 0, records);
  ASSERT_OK(summary);
  auto root = ReadRoot(&blocks, summary->root, 7);
  ASSERT_OK(root);
  const auto bytes_of = [&](BlockKind kind) {
    const PartEntry* const part = root->Find(kind);
    return part != nullptr ? static_cast<double>(part->bytes) / kRows : 0;
  };
  EXPECT_EQ(bytes_of(BlockKind::kIdOffsets), 4.5);
  EXPECT_EQ(bytes_of(BlockKind::kRecordOffsets), 4.5);
  EXPECT_LT(bytes_of(BlockKind::kRecords), 2 + 8 + 2 + 9 + 6 + 0.1);
  EXPECT_EQ(bytes_of(BlockKind::kDocumentEnds), 0);
}

TEST(Segment, LooksForAnAbsentIdWithoutReadingARecord) {
  std::mt19937_64 random(21);
  const auto records = RandomRecords(random, 64, 3000);
  MemoryBlockSource blocks("test");
  auto summary = WriteRecords(&blocks, 64, records);
  ASSERT_OK(summary);
  // With every vector and record block damaged, ids are still found or known to be absent.
  for (uint32_t i = 0; i < *blocks.blocks(); ++i) {
    const BlockKind kind = ReadBlockTrailer(blocks.Mutable(i)).kind;
    if (kind == BlockKind::kVectors || kind == BlockKind::kRecords ||
        kind == BlockKind::kRecordOffsets || kind == BlockKind::kDocuments ||
        kind == BlockKind::kDocumentChunks) {
      blocks.Mutable(i)[100] ^= std::byte{1};
    }
  }
  auto segment = Segment::Open(&blocks, summary->root, 7);
  ASSERT_OK(segment);
  for (uint32_t row = 0; row < 3000; row += 17) {
    auto found = (*segment)->FindRow(records[row].id);
    ASSERT_OK(found);
    EXPECT_EQ(*found, row);
    found = (*segment)->FindRow(records[row].id + "x");
    ASSERT_OK(found);
    EXPECT_EQ(*found, std::nullopt);
  }
}

TEST(Segment, StopsVisitingWithTheVisitorsError) {
  std::mt19937_64 random(1);
  MemoryBlockSource blocks("test");
  auto summary = WriteRows(&blocks, 384, RandomRows(random, 384, 100, 0));
  ASSERT_OK(summary);
  auto segment = Segment::Open(&blocks, summary->root, 7);
  ASSERT_OK(segment);
  int calls = 0;
  EXPECT_CODE((*segment)->VisitVectors([&](uint32_t, const float*, size_t, size_t) {
    return ++calls == 3 ? Status(Code::kCancelled, "enough") : Status::Ok();
  }),
              Code::kCancelled);
  EXPECT_EQ(calls, 3);
}

TEST(SegmentWriter, RefusesWhatASegmentCannotHold) {
  MemoryBlockSource blocks("test");
  SegmentOptions options;
  options.segment = 1;
  options.dimension = 3;
  Record record;
  record.id = "a";
  record.embedding = {1, 2, 3};
  record.ordinal = 5;
  {
    SegmentWriter writer(options, &blocks);
    Record wrong = record;
    wrong.embedding = {1, 2};
    EXPECT_EQ(writer.AddRecord(wrong).detail(), Detail::kDimension);
    ASSERT_OK(writer.AddRecord(record));
    EXPECT_CODE(writer.AddRow(record.embedding, 1), Code::kInternal);
    EXPECT_CODE(writer.AddRecord(record), Code::kInternal);  // the same ordinal again
    record.ordinal = 6;
    ASSERT_OK(writer.AddRecord(record));
    EXPECT_EQ(writer.Finish().status().detail(), Detail::kDuplicateId);
  }
  SegmentWriter writer(options, &blocks);
  EXPECT_EQ(writer.AddRow(std::vector<float>{1}, 1).detail(), Detail::kDimension);
  EXPECT_CODE(writer.AddRow({}, kNoRowPointer), Code::kInvalidArgument);
  ASSERT_OK(writer.AddRow({}, 1));
  ASSERT_OK(writer.Finish());
  EXPECT_CODE(writer.Finish(), Code::kInternal);
}

TEST(SegmentWriter, StaysWithinItsBudgetOrSaysSo) {
  MemoryBlockSource blocks("test");
  MemoryBudget budget("build", 100000);
  SegmentOptions options;
  options.segment = 1;
  options.dimension = 4;
  options.budget = &budget;
  {
    SegmentWriter writer(options, &blocks);
    // What is kept in memory of a record is a hash of its id.
    Record record;
    record.embedding = {1, 2, 3, 4};
    Status status;
    while (status.ok() && record.ordinal < 1000000) {
      record.id = std::to_string(++record.ordinal);
      status = writer.AddRecord(record);
    }
    EXPECT_EQ(status.detail(), Detail::kMemory);
    EXPECT_GT(record.ordinal, 1000u);
    EXPECT_EQ(writer.Finish().status().detail(), Detail::kMemory)
        << "a segment with a hole must not be finished";
    EXPECT_LE(budget.used_bytes(), 100000u);
  }
  EXPECT_EQ(budget.used_bytes(), 0u);
}

// Keys of a row: a text in column 0.
std::vector<std::byte> KeysOf(std::string_view text) {
  const HostKey key{0, HostKey::Kind::kValue, text};
  const HostKeyList list{
      1, &key, [](const void* keys, size_t i) { return static_cast<const HostKey*>(keys)[i]; }};
  std::vector<std::byte> keys(HostKeysBytes(list));
  EncodeHostKeys(list, keys.data());
  return keys;
}

// Of longer ones the 64 rows that a group has at least are more than little memory is enough for.
constexpr size_t kTextOfFewGroups = 300;

// A segment of as many rows as there is room for, of which one in `step` has a vector and each has
// `text_bytes` of keys.
void BuildWithin(MemoryBudget& budget, uint32_t step, size_t text_bytes) {
  SCOPED_TRACE(::testing::Message() << budget.limit_bytes() << " bytes, a vector in " << step
                                    << " rows, texts of " << text_bytes);
  std::mt19937_64 random(step);
  MemoryBlockSource blocks("test");
  SegmentOptions options;
  options.segment = 7;
  options.dimension = 8;
  options.index.kind = SegmentKind::kClusters;
  options.index_vectors = 1 << 20;
  options.index_grows = true;
  options.row_keys = true;
  options.budget = &budget;
  SegmentWriter writer(options, &blocks);
  std::vector<uint64_t> with, without;  // row pointers
  for (uint64_t row = 0; writer.HasRoom(); ++row) {
    ASSERT_LT(row, 1000000u) << "there is no end of room";
    const bool has_vector = row % step == 0;
    const std::string number = std::to_string(row);
    const auto keys = KeysOf(number + std::string(text_bytes - number.size(), 'x'));
    ASSERT_OK(
        writer.AddRow(has_vector ? RandomVector(random, 8) : std::vector<float>{}, row, keys));
    (has_vector ? with : without).push_back(row);
  }
  EXPECT_GT(with.size() + without.size(), budget.limit_bytes() / 16 / (text_bytes + 24));
  auto summary = writer.Finish();
  ASSERT_OK(summary);
  auto segment = Segment::Open(&blocks, summary->root, 7);
  ASSERT_OK(segment);
  ASSERT_OK((*segment)->Verify());
  EXPECT_EQ((*segment)->has_index(), with.size() > 1) << "it was given up";
  EXPECT_EQ((*segment)->info().vectors, with.size());
  std::vector<uint64_t> pointers(with.size() + without.size());
  ASSERT_OK((*segment)->ReadRowPointers(0, pointers));
  with.insert(with.end(), without.begin(), without.end());
  EXPECT_EQ(pointers, with) << "rows without a vector come last";
  if (text_bytes > kTextOfFewGroups) return;
  auto groups = (*segment)->NewInvertedReader()->Groups();
  ASSERT_OK(groups);
  for (const InvertedReader::Group& group : *groups)
    EXPECT_TRUE(group.is_indexed) << "rows from " << group.first << " on";
}

// Somebody's word of how many come, and of how much memory there is, takes no memory by itself, nor
// more addresses than there are.
TEST(SegmentWriter, ExpectsMoreVectorsThanThereAreAddressesFor) {
  std::mt19937_64 random(7);
  MemoryBudget budget("build", uint64_t{1} << 62);
  MemoryBlockSource blocks("test");
  SegmentOptions options;
  options.segment = 7;
  options.dimension = 65535;
  options.index.kind = SegmentKind::kGraph;
  options.index_vectors = options.index_expected = uint32_t{1} << 31;
  options.index_grows = true;
  options.budget = &budget;
  SegmentWriter writer(options, &blocks);
  for (uint64_t row = 0; row < 3; ++row)
    ASSERT_OK(writer.AddRow(RandomVector(random, options.dimension), row, {}));
  auto summary = writer.Finish();
  ASSERT_OK(summary);
  auto segment = Segment::Open(&blocks, summary->root, 7);
  ASSERT_OK(segment);
  EXPECT_EQ((*segment)->info().vectors, 3u);
}

TEST(SegmentWriter, HasRoomForPagesAndPostingsOfRowsWithoutAVectorToo) {
  for (uint64_t limit = uint64_t{1} << 20; limit < uint64_t{5} << 20; limit += limit / Rounds(12)) {
    for (const uint32_t step : {3u, 50u}) {
      for (const size_t text_bytes : {size_t{8}, kTextOfFewGroups, size_t{9000}}) {
        MemoryBudget budget("build", limit);
        BuildWithin(budget, step, text_bytes);
        EXPECT_EQ(budget.used_bytes(), 0u);
      }
    }
  }
}

TEST(SegmentWriter, StreamsManyTimesItsBudget) {
  std::mt19937_64 random(8);
  MemoryBlockSource blocks("test");
  MemoryBudget budget("merge", 2 << 20);
  SegmentOptions options{
      .segment = 7, .dimension = 64, .codes = SegmentOptions::Codes::kOfFlat, .budget = &budget};
  SegmentWriter writer(options, &blocks);
  Record record;
  record.embedding = RandomVector(random, 64);
  for (uint32_t i = 0; i < 20000; ++i) {
    record.id = std::to_string(i);
    record.ordinal = i;
    record.embedding[i % 64] = static_cast<float>(i);
    record.document = record.id + std::string(i % 700, static_cast<char>('a' + i % 26));
    ASSERT_OK(writer.AddRecord(record));
  }
  auto summary = writer.Finish();
  ASSERT_OK(summary);
  EXPECT_GT(uint64_t{summary->blocks} * kBlockBytes, uint64_t{3} * (2 << 20));
  auto segment = Segment::Open(&blocks, summary->root, 7);
  ASSERT_OK(segment);
  ASSERT_OK((*segment)->Verify());
  auto found = (*segment)->FindRow("19999");
  ASSERT_OK(found);
  EXPECT_EQ(*found, 19999u);
}

}  // namespace
}  // namespace pigment

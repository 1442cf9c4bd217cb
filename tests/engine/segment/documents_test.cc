// SPDX-License-Identifier: Apache-2.0
//
// Documents apart and compressed, small parts packed, ids found by hash: what each costs in blocks,
// and that hostile bytes behind right checksums are told as damage.

#include "engine/segment/documents.h"

#include <gtest/gtest.h>

#include <map>

#include "engine/segment/row_reader.h"
#include "tests/engine/segment/segment_fixture.h"

namespace pigment {
namespace {

// Counts the pins of each kind of block.
class CountedBlocks final : public MemoryBlockSource {
 public:
  using MemoryBlockSource::MemoryBlockSource;
  Result<const std::byte*> Pin(uint32_t physical) override {
    if (physical < *blocks()) ++pins[ReadBlockTrailer(Mutable(physical)).kind];
    return MemoryBlockSource::Pin(physical);
  }
  std::map<BlockKind, int> pins;
};

Record RecordWith(uint32_t number, std::optional<std::string> document) {
  Record record;
  record.id = "record " + std::to_string(number);
  record.embedding = {static_cast<float>(number), 1};
  record.ordinal = number;
  record.document = std::move(document);
  record.metadata = Metadata{{"number", int64_t{number}}};
  return record;
}

// Text that compresses about as prose does.
std::string Prose(std::mt19937_64& random, size_t bytes) {
  static constexpr const char* kWords[] = {"segment ", "the ", "block ", "of ", "a ", "reader "};
  std::string text;
  while (text.size() < bytes) text += kWords[random() % 6] + std::to_string(random() % 50);
  text.resize(bytes);
  return text;
}

std::vector<Record> ManyRecords(uint32_t count, size_t document_bytes = 200) {
  std::mt19937_64 random(count);
  std::vector<Record> records;
  for (uint32_t i = 0; i < count; ++i)
    records.push_back(RecordWith(i, Prose(random, document_bytes)));
  return records;
}

TEST(Documents, OfAllSizesComeBackAcrossTheBordersOfChunks) {
  std::mt19937_64 random(2);
  std::vector<Record> records;
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{kDocumentChunkBytes} - 1, size_t{1},
                             size_t{kDocumentChunkBytes}, size_t{kDocumentChunkBytes} + 1,
                             5 * size_t{kDocumentChunkBytes} + 7, size_t{0}, size_t{100}}) {
    std::string noise(bytes, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    for (std::string& text :
         std::vector<std::string>{Prose(random, bytes), noise, std::string(bytes, '\0')}) {
      records.push_back(RecordWith(static_cast<uint32_t>(records.size()), text));
      records.push_back(RecordWith(static_cast<uint32_t>(records.size()), std::nullopt));
    }
  }
  MemoryBlockSource blocks("test");
  auto summary = WriteRecords(&blocks, 2, records);
  ASSERT_OK(summary);
  auto segment = Segment::Open(&blocks, summary->root, 7);
  ASSERT_OK(segment);
  ASSERT_OK((*segment)->Verify());
  const auto reader = (*segment)->NewReader();
  for (const bool backwards : {false, true}) {
    for (uint32_t i = 0; i < records.size(); ++i) {
      const auto row = backwards ? static_cast<uint32_t>(records.size()) - 1 - i : i;
      Record record;
      ASSERT_OK(reader->ReadRecord(row, {.document = true}, &record));
      EXPECT_EQ(record.document, records[row].document) << row;
    }
  }
}

TEST(Documents, TakeAboutHalfTheirBytesAndOneChunkForOneRead) {
  const auto records = ManyRecords(5000, 1500);
  CountedBlocks blocks("test");
  auto summary = WriteRecords(&blocks, 2, records);
  ASSERT_OK(summary);
  auto segment = Segment::Open(&blocks, summary->root, 7);
  ASSERT_OK(segment);
  auto root = ReadRoot(&blocks, summary->root, 7);
  ASSERT_OK(root);
  EXPECT_EQ(root->document_bytes, 5000u * 1500);
  EXPECT_LT(root->Find(BlockKind::kDocuments)->bytes, 4500000u);
  blocks.pins.clear();
  auto record = (*segment)->ReadRecord(2500, {.document = true});
  ASSERT_OK(record);
  EXPECT_EQ(record->document, records[2500].document);
  EXPECT_LE(blocks.pins[BlockKind::kDocuments], 3);
}

// Short ones behind a long one and the other way round: what comes first decides.
TEST(Documents, OfMoreThanAKilobyteAreCompressed) {
  std::mt19937_64 random(11);
  for (const bool are_short : {true, false}) {
    SCOPED_TRACE(are_short);
    std::vector<Record> records;
    for (uint32_t i = 0; i < 300; ++i) {
      const bool is_last = i == 299;
      records.push_back(RecordWith(i, Prose(random, are_short != is_last ? 100 + i : 3000 + i)));
    }
    MemoryBlockSource blocks("test");
    auto summary = WriteRecords(&blocks, 2, records);
    ASSERT_OK(summary);
    auto root = ReadRoot(&blocks, summary->root, 7);
    ASSERT_OK(root);
    EXPECT_EQ(root->document_chunk_bytes, are_short ? 0 : kDocumentChunkBytes);
    EXPECT_EQ(root->Find(BlockKind::kDocuments)->bytes < root->document_bytes, !are_short);
    EXPECT_EQ(root->Find(BlockKind::kDocumentChunks) == nullptr, are_short);
    auto segment = Segment::Open(&blocks, summary->root, 7);
    ASSERT_OK(segment);
    ASSERT_OK((*segment)->Verify());
    for (uint32_t row = 0; row < records.size(); ++row) {
      const auto record = (*segment)->ReadRecord(row, {.document = true});
      ASSERT_OK(record);
      EXPECT_EQ(record->document, records[row].document) << row;
    }
  }
}

TEST(Documents, AreNotReadForMetadata) {
  const auto records = ManyRecords(3000);
  CountedBlocks blocks("test");
  auto summary = WriteRecords(&blocks, 2, records);
  ASSERT_OK(summary);
  auto segment = Segment::Open(&blocks, summary->root, 7);
  ASSERT_OK(segment);
  blocks.pins.clear();
  const auto reader = (*segment)->NewReader();
  Record record;
  for (uint32_t row = 0; row < 3000; ++row) {
    ASSERT_OK(reader->ReadRecord(row, {.metadata = true, .uri = true}, &record));
    EXPECT_EQ(record.metadata, records[row].metadata);
    EXPECT_EQ(record.document, std::nullopt);
  }
  EXPECT_EQ(blocks.pins[BlockKind::kDocuments], 0);
  EXPECT_EQ(blocks.pins[BlockKind::kDocumentChunks], 0);
  EXPECT_EQ(blocks.pins[BlockKind::kVectors], 0);
  const int pins = blocks.pins[BlockKind::kRecords];
  EXPECT_LE(pins, 30) << "a reader stays on its block";
}

TEST(Documents, ReadInOrderInflateEachChunkOnce) {
  const auto records = ManyRecords(1000, 1500);
  CountedBlocks blocks("test");
  auto summary = WriteRecords(&blocks, 2, records);
  ASSERT_OK(summary);
  auto segment = Segment::Open(&blocks, summary->root, 7);
  ASSERT_OK(segment);
  blocks.pins.clear();
  const auto reader = (*segment)->NewReader();
  Record record;
  for (uint32_t row = 0; row < 1000; ++row) {
    ASSERT_OK(reader->ReadRecord(row, {.document = true}, &record));
    EXPECT_EQ(record.document, records[row].document);
  }
  EXPECT_LE(blocks.pins[BlockKind::kDocuments], 150);
}

TEST(Documents, ThatDoNotInflateAreDamage) {
  const auto records = ManyRecords(100, 1500);
  std::mt19937_64 random(9);
  int refused = 0;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    MemoryBlockSource blocks("test");
    auto summary = WriteRecords(&blocks, 2, records);
    ASSERT_OK(summary);
    for (uint32_t i = 0; i < *blocks.blocks(); ++i) {
      const BlockTrailer trailer = ReadBlockTrailer(blocks.Mutable(i));
      const bool is_packed = trailer.kind == BlockKind::kPacked;
      if (trailer.kind != BlockKind::kDocuments && !is_packed) continue;
      for (int change = 0; change < 3; ++change) {
        const size_t at = kBlockHeaderBytes + random() % kBlockPayloadBytes;
        blocks.Mutable(i)[at] = static_cast<std::byte>(random());
      }
      SealBlock(blocks.Mutable(i), trailer.kind, trailer.segment, trailer.logical, trailer.format);
    }
    auto segment = Segment::Open(&blocks, summary->root, 7);
    ASSERT_OK(segment);
    for (uint32_t row = 0; row < 100; row += 7) {
      const auto record = (*segment)->ReadRecord(row, {.document = true});
      if (record.ok()) continue;
      ++refused;
      EXPECT_CODE(record.status(), Code::kDataLoss);
      EXPECT_FALSE(record.status().file().empty());
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(SmallSegment, IsOneBlock) {
  for (uint32_t count : {1u, 5u, 20u}) {
    const auto records = ManyRecords(count);
    CountedBlocks blocks("test");
    auto summary = WriteRecords(&blocks, 2, records);
    ASSERT_OK(summary);
    EXPECT_EQ(summary->blocks, 1u) << count;
    auto segment = Segment::Open(&blocks, summary->root, 7);
    ASSERT_OK(segment);
    ASSERT_OK((*segment)->Verify());
    for (uint32_t row = 0; row < count; ++row) {
      auto found = (*segment)->FindRow(records[row].id);
      ASSERT_OK(found);
      EXPECT_EQ(*found, row);
      auto record = (*segment)->ReadRecord(row, {true, true, true, true});
      ASSERT_OK(record);
      EXPECT_EQ(record->document, records[row].document);
      EXPECT_EQ(record->embedding, records[row].embedding);
    }
  }
}

TEST(SmallSegment, OfEverySizeIsPackedAndRead) {
  // Where parts grow from the root into packed blocks and then into blocks of their own.
  for (uint32_t count = 1; count < 400; count += count < 120 ? 1 : 13) {
    SCOPED_TRACE(count);
    const auto records = ManyRecords(count);
    ScatteredBlocks blocks("test", count % 3);
    auto summary = WriteRecords(&blocks, 2, records);
    ASSERT_OK(summary);
    EXPECT_LE(summary->blocks, 3 + count / 10);
    auto segment = Segment::Open(&blocks, summary->root, 7);
    ASSERT_OK(segment);
    ASSERT_OK((*segment)->Verify());
    auto record = (*segment)->ReadRecord(count - 1, {true, true, true, true});
    ASSERT_OK(record);
    EXPECT_EQ(record->document, records[count - 1].document);
  }
}

TEST(IdIndex, LooksAtABlockOrTwoAndAtNoIdThatIsAbsent) {
  const auto records = ManyRecords(20000);
  CountedBlocks blocks("test");
  auto summary = WriteRecords(&blocks, 2, records);
  ASSERT_OK(summary);
  auto segment = Segment::Open(&blocks, summary->root, 7);
  ASSERT_OK(segment);
  blocks.pins.clear();
  for (uint32_t i = 0; i < 1000; ++i) {
    auto found = (*segment)->FindRow("absent " + std::to_string(i));
    ASSERT_OK(found);
    EXPECT_EQ(*found, std::nullopt);
  }
  EXPECT_LE(blocks.pins[BlockKind::kIdHashes], 1500);
  EXPECT_LE(blocks.pins[BlockKind::kIds], 2) << "20,000 hashes of 32 bits hardly meet";
  EXPECT_EQ(blocks.pins[BlockKind::kRecords], 0);
  EXPECT_EQ(blocks.pins[BlockKind::kDocuments], 0);
  blocks.pins.clear();
  for (uint32_t row = 0; row < 20000; row += 20) {
    auto found = (*segment)->FindRow(records[row].id);
    ASSERT_OK(found);
    EXPECT_EQ(*found, row);
  }
  EXPECT_LE(blocks.pins[BlockKind::kIdHashes], 1500);
  EXPECT_EQ(blocks.pins[BlockKind::kRecords], 0);
}

}  // namespace
}  // namespace pigment

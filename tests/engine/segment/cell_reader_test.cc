// SPDX-License-Identifier: Apache-2.0
//
// Places of documents and the index of their grams against the records, in one group and in many,
// with all memory and without; and what damage does.

#include "engine/segment/cell_reader.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/base/substring.h"
#include "engine/segment/row_reader.h"
#include "tests/engine/segment/segment_fixture.h"
#include "tests/support/effort.h"

namespace pigment {
namespace {

std::string RandomDocument(std::mt19937_64& random) {
  static constexpr const char* kWords[] = {
      "segment ", "The ", "bLock ", "of", "\xE6\xBC\xA2\xE5\xAD\x97",
      "a",        "q",    "\xFF ",  "zz", ". "};
  std::string text;
  for (uint64_t words = random() % 60; words > 0; --words) {
    text += kWords[random() % 10];
    if (random() % 4 == 0) text += std::to_string(random() % 5000);
    if (random() % 100 == 0) text.push_back('\0');
  }
  return text;
}

struct CellSegment {
  explicit CellSegment(uint32_t rows, uint64_t seed, uint64_t budget_bytes = 0)
      : blocks("test"), budget("test", budget_bytes) {
    std::mt19937_64 random(seed);
    SegmentOptions options;
    options.segment = 7;
    options.dimension = 1;
    options.budget = &budget;
    SegmentWriter writer(options, &blocks);
    for (uint32_t row = 0; row < rows; ++row) {
      Record record;
      record.id = "id" + std::to_string(row);
      record.ordinal = row + 1;
      record.embedding = {1};
      if (random() % 10 != 0) record.document = RandomDocument(random);
      if (random() % 997 == 0) record.document = std::string(20000, 'x') + "end";
      records.push_back(record);
      EXPECT_OK(writer.AddRecord(record));
    }
    auto summary = writer.Finish();
    EXPECT_OK(summary);
    root = summary->root;
    auto opened = Segment::Open(&blocks, root, 7);
    EXPECT_OK(opened);
    segment = *std::move(opened);
  }

  MemoryBlockSource blocks;
  MemoryBudget budget;
  std::vector<Record> records;
  uint32_t root = 0;
  std::unique_ptr<Segment> segment;
};

// Every document lies where the reader says.
void ExpectPlaces(const CellSegment& made, CellReader& reader) {
  ASSERT_EQ(reader.rows(), made.records.size());
  const auto rows = made.segment->NewReader();
  CellReader::Documents documents;
  for (uint32_t row = 0; row < reader.rows(); ++row) {
    const uint32_t within = row % kRowsPerBegin;
    if (within == 0) ASSERT_OK(reader.ReadDocuments(row / kRowsPerBegin, documents));
    ASSERT_LT(within, documents.rows);
    const uint32_t begin = documents.begin_of(within);
    const auto document =
        rows->ViewDocuments(documents.begin + begin, documents.ends[within] - begin);
    ASSERT_OK(document);
    EXPECT_EQ(*document, made.records[row].document.value_or(""));
  }
}

// Every row that has the text is a candidate. Returns how many candidates there are.
uint64_t ExpectCandidates(const CellSegment& made, CellReader& reader, const std::string& text) {
  const auto rows = reader.RowsWith(text, RowSet(reader.rows()), {});
  EXPECT_OK(rows);
  const std::string folded = FoldAscii(text);
  for (uint32_t row = 0; row < made.records.size(); ++row) {
    const std::string document = FoldAscii(made.records[row].document.value_or(""));
    if (document.find(folded) == std::string::npos || text.empty()) continue;
    EXPECT_TRUE(rows->Test(row)) << text << " is in row " << row;
  }
  return rows->count();
}

const std::string kTexts[] = {"segment",  "SEGMENT 12", "the 4999", "a",
                              "q",        ".",          "\xFF",     "\xE6\xBC\xA2",
                              "\xBC",     "zz",         "zz2",      std::string(1, '\0'),
                              "no such ", "xend",       "",         "o"};

TEST(CellReader, EveryDocumentWithATextIsACandidate) {
  const CellSegment made(3000, 1);
  ASSERT_OK(made.segment->Verify());
  const auto reader = made.segment->NewCellReader();
  ASSERT_NE(reader, nullptr);
  ExpectPlaces(made, *reader);
  for (const std::string& text : kTexts) ExpectCandidates(made, *reader, text);
  EXPECT_EQ(ExpectCandidates(made, *reader, "no such "), 0u);
  EXPECT_EQ(ExpectCandidates(made, *reader, ""), 3000u);
  EXPECT_LT(ExpectCandidates(made, *reader, "segment 1234"), 1000u);
  EXPECT_GT(reader->lists_read(), 0u);
}

TEST(CellReader, AGramOfTheEndOfADocumentIsFoundByItsBegin) {
  MemoryBlockSource blocks("test");
  SegmentOptions options{.segment = 7, .dimension = 1};
  SegmentWriter writer(options, &blocks);
  for (uint32_t row = 0; row < 70; ++row) {
    Record record;
    record.id = std::to_string(row);
    record.ordinal = row + 1;
    record.embedding = {1};
    record.document = std::string(3000, 'a') + (row == 33 ? "\xFF" : row == 34 ? "\xFE\xFF" : "");
    ASSERT_OK(writer.AddRecord(record));
  }
  auto summary = writer.Finish();
  ASSERT_OK(summary);
  auto segment = Segment::Open(&blocks, summary->root, 7);
  ASSERT_OK(segment);
  const auto reader = (*segment)->NewCellReader();
  ASSERT_NE(reader, nullptr);
  const auto rows_with = [&](std::string_view text) {
    return reader->RowsWith(text, RowSet(reader->rows()), {})->count();
  };
  EXPECT_EQ(rows_with("\xFF"), 2u);
  EXPECT_EQ(rows_with("\xFE"), 1u);
  EXPECT_EQ(rows_with("\xFE\xFF"), 1u);
  EXPECT_EQ(rows_with("\xFF\xFF"), 0u);
  EXPECT_EQ(rows_with("a\xFF"), 1u);
}

TEST(CellReader, WhereAllDocumentsAreEmptyNoRowIsACandidate) {
  MemoryBlockSource blocks("test");
  std::vector<Record> records(kIndexedDocumentRowsMin);
  for (size_t row = 0; row < records.size(); ++row) {
    records[row].id = std::to_string(row);
    records[row].ordinal = row + 1;
    if (row % 3 == 0) records[row].document = "";
  }
  auto summary = WriteRecords(&blocks, 0, records);
  ASSERT_OK(summary);
  auto segment = Segment::Open(&blocks, summary->root, 7);
  ASSERT_OK(segment);
  ASSERT_OK((*segment)->Verify());
  const auto reader = (*segment)->NewCellReader();
  ASSERT_NE(reader, nullptr);
  for (const std::string& text : kTexts) {
    const auto rows = reader->RowsWith(text, RowSet(reader->rows()), {});
    ASSERT_OK(rows);
    EXPECT_EQ(rows->count(), text.empty() ? records.size() : 0) << text;
  }
}

TEST(CellReader, FewDocumentsHaveNoIndex) {
  EXPECT_EQ(CellSegment(100, 2).segment->NewCellReader(), nullptr);
}

// Of rows before the first document nothing is written until it comes, and nothing at all where all
// are empty.
TEST(CellReader, DocumentsMayBeginLate) {
  constexpr uint32_t kRows = 5000;
  for (const uint32_t first : {0u, 1u, 63u, 64u, 100u, 4095u, 4096u, 4999u, kRows}) {
    SCOPED_TRACE(first);
    MemoryBlockSource blocks("test");
    CellSegment made(0, 0);
    SegmentOptions options{.segment = 7};
    SegmentWriter writer(options, &blocks);
    for (uint32_t row = 0; row < kRows; ++row) {
      Record record;
      record.id = std::to_string(row);
      record.ordinal = row + 1;
      if (row % 3 == 0) record.document = "";
      if (row >= first && row % 5 != 1) record.document = "text of " + record.id;
      if (row == first) record.document = "the first";
      made.records.push_back(record);
      ASSERT_OK(writer.AddRecord(record));
    }
    auto summary = writer.Finish();
    ASSERT_OK(summary);
    auto opened = Segment::Open(&blocks, summary->root, 7);
    ASSERT_OK(opened);
    made.segment = *std::move(opened);
    ASSERT_OK(made.segment->Verify());
    bool has_places = false;
    made.segment->VisitBlocks([&](uint32_t, const BlockExpectation& expected) {
      has_places = has_places || expected.kind == BlockKind::kDocumentEnds;
    });
    EXPECT_EQ(has_places, first < kRows);
    const auto reader = made.segment->NewCellReader();
    ASSERT_NE(reader, nullptr);
    ExpectPlaces(made, *reader);
    EXPECT_EQ(ExpectCandidates(made, *reader, "the first") != 0, first < kRows);
  }
}

TEST(CellReader, ManyGroupsAnswerAsOne) {
  const CellSegment made(20000, 3, 8 << 20);
  ASSERT_OK(made.segment->Verify());
  const auto reader = made.segment->NewCellReader();
  ASSERT_NE(reader, nullptr);
  ExpectPlaces(made, *reader);
  for (const std::string& text : kTexts) ExpectCandidates(made, *reader, text);
}

TEST(CellReader, RowsWithoutMemoryAreCandidates) {
  std::mt19937_64 random(5);
  CellSegment made(0, 0);
  MemoryBudget budget("test", 16 << 20);
  SegmentOptions options{.segment = 7, .dimension = 1, .budget = &budget};
  MemoryBlockSource blocks("test");
  SegmentWriter writer(options, &blocks);
  Reservation others(&budget);
  for (uint32_t row = 0; row < 9000; ++row) {
    Record record;
    record.id = std::to_string(row);
    record.ordinal = row + 1;
    record.embedding = {1};
    record.document = RandomDocument(random);
    made.records.push_back(record);
    if (row == 1500) ASSERT_OK(others.Grow((budget.limit_bytes() - budget.used_bytes()) - 300000));
    if (row == 4400) others = Reservation();
    ASSERT_OK(writer.AddRecord(record));
  }
  auto summary = writer.Finish();
  ASSERT_OK(summary);
  auto opened = Segment::Open(&blocks, summary->root, 7);
  ASSERT_OK(opened);
  ASSERT_OK((*opened)->Verify());
  const auto reader = (*opened)->NewCellReader();
  ASSERT_NE(reader, nullptr);
  for (const std::string& text : kTexts) ExpectCandidates(made, *reader, text);
  const uint64_t rows = ExpectCandidates(made, *reader, "no such ");
  EXPECT_GT(rows, 64u);
  EXPECT_LT(rows, 9000u);
}

// Whatever byte is wrong behind a right checksum: the whole check tells, and no read crashes.
TEST(CellReader, DamageBehindAChecksumIsFoundOrHarmless) {
  CellSegment made(2000, 6);
  std::vector<std::pair<uint32_t, BlockExpectation>> places;
  made.segment->VisitBlocks([&](uint32_t physical, const BlockExpectation& expected) {
    if (expected.kind >= BlockKind::kDocumentBegins && expected.kind <= BlockKind::kGramPostings)
      places.emplace_back(physical, expected);
  });
  ASSERT_GE(places.size(), 3u);
  std::mt19937_64 random(6);
  int found_by_check = 0, refused = 0;
  constexpr int kTries = Rounds(300);
  for (int i = 0; i < kTries; ++i) {
    const auto& [physical, expected] = places[random() % places.size()];
    const BlockBytes block = made.blocks.Mutable(physical);
    const std::vector<std::byte> before(block.begin(), block.end());
    const size_t at = kBlockHeaderBytes + random() % kBlockPayloadBytes;
    block[at] ^= std::byte{static_cast<uint8_t>(1 + random() % 255)};
    SealBlock(block, expected.kind, 7, expected.logical, ReadBlockTrailer(block).format);
    auto opened = Segment::Open(&made.blocks, made.root, 7);
    ASSERT_OK(opened);
    found_by_check += (*opened)->Verify().ok() ? 0 : 1;
    const auto reader = (*opened)->NewCellReader();
    CellReader::Documents documents;
    const auto check = [&](const Status& status) {
      if (status.ok()) return;
      ++refused;
      EXPECT_CODE(status, Code::kDataLoss);
    };
    for (const std::string& text : kTexts)
      check(reader->RowsWith(text, RowSet(reader->rows()), {}).status());
    for (uint32_t number = 0; number < DocumentBeginsOf(reader->rows()); ++number)
      check(reader->ReadDocuments(number, documents));
    std::copy(before.begin(), before.end(), block.begin());
  }
  // What lies behind the last byte of a part means nothing.
  EXPECT_GE(found_by_check, kTries / 3);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// Text indexes of segments: groups of any number give the documents' terms, rows without the memory
// for an index are known, and damage is told.

#include "engine/segment/text_reader.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "engine/fulltext/posting_cursor.h"
#include "engine/fulltext/text_lookup.h"
#include "tests/engine/segment/segment_fixture.h"
#include "tests/support/effort.h"
#include "tests/support/segment_exercise.h"

namespace pigment {
namespace {

Record MadeDocument(std::mt19937_64& random, uint32_t row) {
  Record record;
  record.id = "id" + std::to_string(row);
  record.embedding = {0};
  record.ordinal = row + 1;
  if (random() % 8 == 0) return record;
  std::string& text = record.document.emplace();
  for (size_t words = 1 + random() % 20; words-- > 0;)
    text += "w" + std::to_string(random() % (size_t{1} << (random() % 11))) + " ";
  return record;
}

struct TextSegment {
  MemoryBlockSource blocks{"test"};
  std::vector<Record> records;
  std::unique_ptr<Segment> segment;

  Status Open(Result<SegmentSummary> summary) {
    PIGMENT_RETURN_IF_ERROR(summary.status());
    PIGMENT_ASSIGN_OR_RETURN(segment, Segment::Open(&blocks, summary->root, 7));
    return segment->Verify();
  }
};

// How often each row has the word, by reading documents and by the index.
void ExpectWord(const TextSegment& made, const std::string& word) {
  const auto reader = made.segment->NewTextReader();
  for (const TextReader::Group& group : reader->ReadGroups().value()) {
    if (!group.is_indexed) continue;
    const auto source = reader->NewSource(group);
    LengthReader lengths(source.get());
    std::map<uint32_t, uint32_t> expected, found;
    for (uint32_t row = 0; row < group.rows; ++row) {
      const auto& document = made.records[group.first_row + row].document;
      uint32_t words = 0;
      for (size_t at = 0; document && at < document->size();) {
        const size_t end = document->find(' ', at);
        ++words;
        if (std::string_view(*document).substr(at, end - at) == word) ++expected[row];
        at = end + 1;
      }
      ASSERT_EQ(lengths.Of(row), words);
    }
    const auto list = FindTerm(*source, word).value();
    if (list) {
      PostingCursor cursor = PostingCursor::Open(source.get(), *list, lengths).value();
      for (uint32_t row = 0; (row = cursor.SeekRow(row).value()) < group.rows; ++row)
        found[row] = cursor.FrequencyOf(row).value();
    }
    ASSERT_EQ(found, expected) << word << " from row " << group.first_row << " on";
  }
}

TEST(TextReader, GivesTheWordsOfTheDocuments) {
  for (const uint32_t rows : {1u, 3u, 200u, 5000u}) {
    SCOPED_TRACE(rows);
    TextSegment made;
    std::mt19937_64 random(rows);
    for (uint32_t row = 0; row < rows; ++row) made.records.push_back(MadeDocument(random, row));
    ASSERT_OK(
        made.Open(WriteRecords(&made.blocks, 1, made.records, 7, Analyzer::Make({}).value())));
    EXPECT_EQ(made.segment->NewTextReader()->ReadGroups()->size(), 1u);
    for (const char* word : {"w0", "w1", "w5", "w77", "w1000", "absent"}) ExpectWord(made, word);
    ASSERT_OK(ExerciseText(*made.segment));
  }
}

TEST(TextReader, ASegmentThatWasNotAskedForAnIndexHasNone) {
  TextSegment made;
  std::mt19937_64 random(1);
  for (uint32_t row = 0; row < 10; ++row) made.records.push_back(MadeDocument(random, row));
  ASSERT_OK(made.Open(WriteRecords(&made.blocks, 1, made.records)));
  EXPECT_EQ(made.segment->NewTextReader(), nullptr);
  made.segment->VisitBlocks([](uint32_t, const BlockExpectation& expected) {
    EXPECT_TRUE(expected.kind < BlockKind::kTextHead || expected.kind > BlockKind::kTextPostings);
  });
}

TEST(TextReader, GroupsOfALittleMemoryGiveTheSame) {
  TextSegment made;
  MemoryBudget budget("test", uint64_t{12} << 20);
  std::mt19937_64 random(2);
  const auto analyzer = Analyzer::Make({}).value();
  SegmentOptions options{.segment = 7, .dimension = 1, .analyzer = analyzer, .budget = &budget};
  SegmentWriter writer(options, &made.blocks);
  for (uint32_t row = 0; row < 20000; ++row) {
    made.records.push_back(MadeDocument(random, row));
    ASSERT_OK(writer.AddRecord(made.records.back()));
  }
  ASSERT_OK(made.Open(writer.Finish()));
  EXPECT_GE(made.segment->NewTextReader()->ReadGroups()->size(), 4u);
  for (const char* word : {"w0", "w1", "w77", "w1000"}) ExpectWord(made, word);
}

TEST(TextReader, WithoutMemoryRowsAreNotIndexed) {
  TextSegment made;
  MemoryBudget budget("test", uint64_t{12} << 20);
  std::mt19937_64 random(3);
  const auto analyzer = Analyzer::Make({}).value();
  SegmentOptions options{.segment = 7, .dimension = 1, .analyzer = analyzer, .budget = &budget};
  SegmentWriter writer(options, &made.blocks);
  Reservation others(&budget);
  for (uint32_t row = 0; row < 9000; ++row) {
    made.records.push_back(MadeDocument(random, row));
    if (row == 3000) ASSERT_OK(others.Grow((budget.limit_bytes() - budget.used_bytes()) - 150000));
    if (row == 6000) others = Reservation();
    ASSERT_OK(writer.AddRecord(made.records.back()));
  }
  ASSERT_OK(made.Open(writer.Finish()));
  uint32_t unindexed = 0;
  for (const TextReader::Group& group : made.segment->NewTextReader()->ReadGroups().value())
    unindexed += group.is_indexed ? 0 : group.rows;
  EXPECT_GT(unindexed, 1000u);
  EXPECT_LT(unindexed, 8000u);
  for (const char* word : {"w0", "w77"}) ExpectWord(made, word);
}

// Whatever byte is wrong behind a right checksum: the whole check tells, and no read crashes.
TEST(TextReader, DamageBehindAChecksumIsFoundOrHarmless) {
  TextSegment made;
  std::mt19937_64 random(4);
  for (uint32_t row = 0; row < 2000; ++row) made.records.push_back(MadeDocument(random, row));
  const auto summary = WriteRecords(&made.blocks, 1, made.records, 7, Analyzer::Make({}).value());
  ASSERT_OK(made.Open(summary));
  std::vector<std::pair<uint32_t, BlockExpectation>> places;
  made.segment->VisitBlocks([&](uint32_t physical, const BlockExpectation& expected) {
    if (expected.kind >= BlockKind::kTextHead && expected.kind <= BlockKind::kTextPostings)
      places.emplace_back(physical, expected);
  });
  ASSERT_GE(places.size(), 5u);
  int found_by_check = 0, refused = 0;
  constexpr int kTries = Rounds(300);
  for (int i = 0; i < kTries; ++i) {
    const auto& [physical, expected] = places[random() % places.size()];
    const BlockBytes block = made.blocks.Mutable(physical);
    const std::vector<std::byte> before(block.begin(), block.end());
    const size_t at = kBlockHeaderBytes + random() % kBlockPayloadBytes;
    block[at] ^= std::byte{static_cast<uint8_t>(1 + random() % 255)};
    SealBlock(block, expected.kind, 7, expected.logical, ReadBlockTrailer(block).format);
    auto opened = Segment::Open(&made.blocks, summary->root, 7);
    ASSERT_OK(opened);
    found_by_check += (*opened)->Verify().ok() ? 0 : 1;
    const Status status = ExerciseText(**opened);
    if (!status.ok()) {
      ++refused;
      EXPECT_CODE(status, Code::kDataLoss);
    }
    std::copy(before.begin(), before.end(), block.begin());
  }
  EXPECT_GE(found_by_check, kTries / 2);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// Terms and intervals of a segment's inverted index against its records, in one row group and in
// many, with all memory and without; and what damage does.

#include "engine/segment/inverted_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/engine/segment/segment_fixture.h"
#include "tests/support/effort.h"

namespace pigment {
namespace {

// Few and many values of each type, and keys that most rows have not.
Record MadeRecord(std::mt19937_64& random, uint32_t number) {
  Record record;
  record.id = "id" + std::to_string(number);
  record.ordinal = number + 1;
  record.embedding = {1};
  Metadata metadata;
  if (random() % 10 != 0) metadata["unique"] = int64_t{number} * 3;
  if (random() % 3 != 0) metadata["few"] = std::string(1, 'a' + static_cast<char>(random() % 5));
  if (random() % 2 == 0) {
    metadata["mixed"] = MetadataValue(std::string("a"));
    if (random() % 2 == 0) metadata["mixed"] = static_cast<int64_t>(random() % 50);
    if (random() % 3 == 0) metadata["mixed"] = static_cast<double>(random() % 100) / 2;
    if (random() % 5 == 0) metadata["mixed"] = random() % 2 == 0;
  }
  metadata["long"] =
      std::string(random() % 30 == 0 ? 3000 : 30, 'x') + std::to_string(random() % 200);
  if (random() % 4 == 0) {
    std::vector<int64_t> list(1 + random() % 4);
    for (int64_t& value : list) value = static_cast<int64_t>(random() % 20);
    metadata["list"] = list;
  }
  if (random() % 500 == 0) metadata["rare" + std::to_string(random() % 7)] = true;
  if (random() % 2 == 0) {
    static const char* const kSpellings[] = {"Ort-É", "ort-é", "ORT-é", "oSt", "oſt", "ort-ẞ"};
    std::string spelt = kSpellings[random() % 6];
    if (random() % 4 != 0) spelt += std::to_string(random() % 2000);
    metadata["spelt"] = spelt;
  }
  if (number % 1000 == 7) metadata["spelt"] = std::string("oRT-É1");  // as nobody else does
  if (random() % 20 != 0) record.metadata = metadata;
  if (random() % 3 == 0) record.document = "";
  if (random() % 3 == 0) record.uri = "u" + std::to_string(random() % 40);
  return record;
}

struct InvertedSegment {
  explicit InvertedSegment(uint32_t rows, uint64_t seed, uint64_t budget_bytes = 0)
      : blocks("test"), budget("test", budget_bytes) {
    std::mt19937_64 random(seed);
    SegmentOptions options;
    options.segment = 7;
    options.dimension = 1;
    options.budget = &budget;
    SegmentWriter writer(options, &blocks);
    for (uint32_t row = 0; row < rows; ++row) {
      records.push_back(MadeRecord(random, row));
      status = writer.AddRecord(records.back());
      if (!status.ok()) return;
    }
    auto summary = writer.Finish();
    status = summary.status();
    if (!status.ok()) return;
    root = summary->root;
    auto opened = Segment::Open(&blocks, root, 7);
    status = opened.status();
    if (status.ok()) segment = *std::move(opened);
  }

  MemoryBlockSource blocks;
  MemoryBudget budget;
  std::vector<Record> records;
  uint32_t root = 0;
  std::unique_ptr<Segment> segment;
  Status status;
};

using Wants = std::function<bool(const MetadataValue&)>;

RowSet Expected(const InvertedSegment& made, const std::string& key, const Wants& wants) {
  RowSet rows = RowSet::Nothing(static_cast<uint32_t>(made.records.size()));
  for (uint32_t row = 0; row < made.records.size(); ++row) {
    const auto& metadata = made.records[row].metadata;
    if (!metadata) continue;
    const auto found = metadata->find(key);
    if (found != metadata->end() && wants(found->second)) rows.Set(row);
  }
  return rows;
}

bool IsNumber(const MetadataValue& value, Number* number) {
  if (const auto* integer = std::get_if<int64_t>(&value)) *number = *integer;
  if (const auto* real = std::get_if<double>(&value)) *number = *real;
  return value.index() == 2 || value.index() == 3;
}

TermRange RangeOf(const std::optional<Number>& low, bool takes_low,
                  const std::optional<Number>& high, bool takes_high) {
  TermRange range;
  if (low) AppendNumberTerm(*low, range.low.emplace(TermRange::Bound{"", takes_low}).term);
  if (high) AppendNumberTerm(*high, range.high.emplace(TermRange::Bound{"", takes_high}).term);
  return range;
}

// What was read is taken out of `got` where the rows are not indexed, and so is what is expected.
void ExpectRows(InvertedReader& reader, RowSet got, RowSet expected) {
  auto unindexed = reader.UnindexedRows();
  ASSERT_OK(unindexed);
  EXPECT_FALSE([&] {
    RowSet both = got;
    both.Intersect(*unindexed);
    return !both.empty();
  }());
  expected.Subtract(*unindexed);
  EXPECT_EQ(got.count(), expected.count());
  got.Subtract(expected);
  EXPECT_TRUE(got.empty());
}

void ExpectRanges(const InvertedSegment& made, std::mt19937_64& random, int count) {
  const std::unique_ptr<InvertedReader> reader = made.segment->NewInvertedReader();
  ASSERT_NE(reader, nullptr);
  const auto rows = static_cast<uint32_t>(made.records.size());
  for (int i = 0; i < count; ++i) {
    const bool is_unique = random() % 2 == 0;
    const std::string key = is_unique ? "unique" : "mixed";
    const uint64_t most = is_unique ? rows * 3 + 10 : 55;
    std::optional<Number> bounds[2];
    for (auto& bound : bounds) {
      if (random() % 6 == 0) continue;
      bound = static_cast<int64_t>(random() % most) - 3;
      if (random() % 4 == 0) bound = static_cast<double>(bound->integer()) + 0.5;
    }
    const bool takes_low = random() % 2 == 0, takes_high = random() % 2 == 0;
    RowSet got = RowSet::Nothing(rows);
    ASSERT_OK(reader->AddRange(key, FieldType::kNumber,
                               RangeOf(bounds[0], takes_low, bounds[1], takes_high), {}, got));
    const RowSet expected = Expected(made, key, [&](const MetadataValue& value) {
      Number number(int64_t{0});
      if (!IsNumber(value, &number)) return false;
      if (bounds[0] && (number < *bounds[0] || (number == *bounds[0] && !takes_low))) return false;
      return !bounds[1] || number < *bounds[1] || (number == *bounds[1] && takes_high);
    });
    ASSERT_NO_FATAL_FAILURE(ExpectRows(*reader, got, expected)) << key << " " << i;
  }
}

void ExpectTerms(const InvertedSegment& made) {
  const std::unique_ptr<InvertedReader> reader = made.segment->NewInvertedReader();
  ASSERT_NE(reader, nullptr);
  const auto rows = static_cast<uint32_t>(made.records.size());
  const CallControl control;
  const auto get = [&](const std::string& key, FieldType type,
                       std::vector<std::string_view> terms) {
    RowSet got = RowSet::Nothing(rows);
    EXPECT_OK(reader->AddTerms(key, type, terms, control, got));
    return got;
  };
  const auto is_text = [](const std::string& wanted) {
    return [wanted](const MetadataValue& value) {
      const auto* text = std::get_if<std::string>(&value);
      return text != nullptr && *text == wanted;
    };
  };
  for (const char* text : {"a", "b", "e", "f", ""})
    ExpectRows(*reader, get("few", FieldType::kText, {text}), Expected(made, "few", is_text(text)));
  ExpectRows(*reader, get("few", FieldType::kText, {"", "a", "c", "cc", "d", "zz"}),
             Expected(made, "few", [&](const MetadataValue& value) {
               return is_text("a")(value) || is_text("c")(value) || is_text("d")(value);
             }));
  for (uint32_t row = 0; row < rows; row += rows / 20 + 1) {
    if (!made.records[row].metadata) continue;
    const auto& text = std::get<std::string>(made.records[row].metadata->at("long"));
    ExpectRows(*reader, get("long", FieldType::kText, {text}),
               Expected(made, "long", is_text(text)));
  }
  for (int64_t element : {0, 7, 19, 20}) {
    std::string term;
    AppendElementTerm(element, term);
    ExpectRows(*reader, get("list", FieldType::kIntegerElement, {term}),
               Expected(made, "list", [&](const MetadataValue& value) {
                 const auto* list = std::get_if<std::vector<int64_t>>(&value);
                 return list != nullptr &&
                        std::find(list->begin(), list->end(), element) != list->end();
               }));
  }
  ExpectRows(*reader, get("absent", FieldType::kText, {"a"}), RowSet::Nothing(rows));
  for (const char* key : {"unique", "few", "mixed", "list", "absent"}) {
    RowSet got = RowSet::Nothing(rows);
    for (const FieldType type : kMetadataFieldTypes) ASSERT_OK(reader->AddField(key, type, got));
    ExpectRows(*reader, got, Expected(made, key, [](const MetadataValue&) { return true; }));
  }
  RowSet documents = RowSet::Nothing(rows), with_document = RowSet::Nothing(rows);
  ASSERT_OK(reader->AddField("", FieldType::kHasDocument, documents));
  for (uint32_t row = 0; row < rows; ++row)
    if (made.records[row].document) with_document.Set(row);
  ExpectRows(*reader, documents, with_document);
  for (const char* text :
       {"", "X", "xxxXX", "ORT-É", "ort-éß", "Ort-É1", "oRT-é12", "Oſt", "ort-é1234567"}) {
    for (const bool is_prefix : {false, true}) {
      const FoldedText folded(text);
      for (const char* key : {"long", "spelt"}) {
        RowSet got = RowSet::Nothing(rows);
        ASSERT_OK(reader->AddFolded(key, FieldType::kText, {folded, is_prefix}, control, got));
        ExpectRows(*reader, got, Expected(made, key, [&](const MetadataValue& value) {
          const auto* held = std::get_if<std::string>(&value);
          return held != nullptr && (is_prefix ? folded.IsPrefixOf(*held) : folded.Equals(*held));
        }));
      }
    }
  }
  ExpectRows(*reader, get("few", FieldType::kNumber, {"a"}), RowSet::Nothing(rows));
  RowSet uris = RowSet::Nothing(rows);
  for (uint32_t row = 0; row < rows; ++row)
    if (made.records[row].uri == "u7") uris.Set(row);
  ExpectRows(*reader, get("", FieldType::kUri, {"u7"}), uris);
}

TEST(InvertedReader, FindsTheRowsOfTermsAndRanges) {
  for (const uint32_t rows : {64u, 65u, 700u, 20000u}) {
    SCOPED_TRACE(::testing::Message() << rows << " rows");
    const InvertedSegment made(rows, rows);
    ASSERT_OK(made.status);
    ASSERT_OK(made.segment->Verify());
    ExpectTerms(made);
    std::mt19937_64 random(rows);
    ExpectRanges(made, random, rows > 10000 ? 150 : 400);
    EXPECT_TRUE(made.segment->NewInvertedReader()->UnindexedRows()->empty());
  }
}

// An interval of twenty thousand values takes few lists.
TEST(InvertedReader, GoesThroughFewListsForWideRanges) {
  const InvertedSegment made(20000, 3);
  ASSERT_OK(made.status);
  std::mt19937_64 random(3);
  uint64_t most = 0;
  for (int i = 0; i < 50; ++i) {
    const std::unique_ptr<InvertedReader> reader = made.segment->NewInvertedReader();
    RowSet got = RowSet::Nothing(20000);
    const auto low = static_cast<int64_t>(random() % 20000), wide = int64_t{30000};
    ASSERT_OK(reader->AddRange("unique", FieldType::kNumber,
                               RangeOf(Number(low), true, Number(low + wide), true), {}, got));
    most = std::max(most, reader->lists_read());
  }
  EXPECT_LT(most, 1500u);
}

TEST(InvertedReader, SmallSegmentsAndRowsOfHostsHaveNoIndex) {
  EXPECT_EQ(InvertedSegment(63, 1).segment->NewInvertedReader(), nullptr);
  std::mt19937_64 random(1);
  MemoryBlockSource blocks("test");
  auto summary = WriteRows(&blocks, 3, RandomRows(random, 3, 500, 0));
  ASSERT_OK(summary);
  auto segment = Segment::Open(&blocks, summary->root, 7);
  ASSERT_OK(segment);
  EXPECT_EQ((*segment)->NewInvertedReader(), nullptr);
}

TEST(InvertedReader, LittleMemoryMakesManyGroups) {
  const InvertedSegment made(20000, 4, uint64_t{6} << 20);
  ASSERT_OK(made.status);
  ASSERT_OK(made.segment->Verify());
  ExpectTerms(made);
  std::mt19937_64 random(4);
  ExpectRanges(made, random, 100);
  const std::unique_ptr<InvertedReader> reader = made.segment->NewInvertedReader();
  EXPECT_TRUE(reader->UnindexedRows()->empty());
  RowSet rows = RowSet::Nothing(20000);
  const std::string_view terms[] = {"a"};
  ASSERT_OK(reader->AddTerms("few", FieldType::kText, terms, CallControl(), rows));
  EXPECT_GE(reader->lists_read(), 5u);  // one a group
}

// Where others hold the memory, rows go without an index and are known to.
TEST(InvertedReader, WithoutMemoryRowsAreNotIndexed) {
  MemoryBlockSource blocks("test");
  MemoryBudget budget("test", uint64_t{12} << 20);
  std::mt19937_64 random(5);
  SegmentOptions options{.segment = 7, .dimension = 1, .budget = &budget};
  SegmentWriter writer(options, &blocks);
  Reservation others(&budget);
  InvertedSegment made(0, 0);
  for (uint32_t row = 0; row < 9000; ++row) {
    made.records.push_back(MadeRecord(random, row));
    if (row == 3000) ASSERT_OK(others.Grow((budget.limit_bytes() - budget.used_bytes()) - 150000));
    if (row == 6000) others = Reservation();
    ASSERT_OK(writer.AddRecord(made.records.back()));
  }
  auto summary = writer.Finish();
  ASSERT_OK(summary);
  auto opened = Segment::Open(&blocks, summary->root, 7);
  ASSERT_OK(opened);
  made.segment = *std::move(opened);
  ASSERT_OK(made.segment->Verify());
  const auto unindexed = made.segment->NewInvertedReader()->UnindexedRows();
  ASSERT_OK(unindexed);
  EXPECT_GT(unindexed->count(), 64u);
  EXPECT_LT(unindexed->count(), 9000u);
  ExpectTerms(made);
  ExpectRanges(made, random, 100);
}

// Whatever byte is wrong behind a right checksum: the whole check tells, and no read crashes.
TEST(InvertedReader, DamageBehindAChecksumIsFoundOrHarmless) {
  InvertedSegment made(2000, 6);
  ASSERT_OK(made.status);
  std::vector<std::pair<uint32_t, BlockExpectation>> places;
  made.segment->VisitBlocks([&](uint32_t physical, const BlockExpectation& expected) {
    if (expected.kind >= BlockKind::kRowGroups && expected.kind <= BlockKind::kPostings)
      places.emplace_back(physical, expected);
  });
  ASSERT_GE(places.size(), 3u);
  std::mt19937_64 random(6);
  int found_by_check = 0, refused = 0;
  constexpr int kTries = Rounds(400);
  const CallControl control;
  const FoldedText folded("ort-É1");
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
    const std::unique_ptr<InvertedReader> reader = (*opened)->NewInvertedReader();
    for (const char* key : {"few", "long", "mixed", "unique", "list", "spelt"}) {
      for (const FieldType type : {FieldType::kText, FieldType::kNumber}) {
        RowSet rows = RowSet::Nothing(2000);
        const std::string_view terms[] = {"a", "c", "x"};
        const Status by_terms = reader->AddTerms(key, type, terms, control, rows);
        const Status by_range = reader->AddRange(
            key, type, RangeOf(Number(int64_t{40}), true, Number(int64_t{4000}), false), control,
            rows);
        const Status by_field = reader->AddField(key, type, rows);
        const Status by_case = reader->AddFolded(key, type, {folded, true}, control, rows);
        for (const Status& status : {by_terms, by_range, by_field, by_case}) {
          if (status.ok()) continue;
          ++refused;
          EXPECT_CODE(status, Code::kDataLoss);
        }
        EXPECT_LE(rows.count(), 2000u);
      }
    }
    std::copy(before.begin(), before.end(), block.begin());
  }
  // What lies behind the last byte of a part means nothing.
  EXPECT_GE(found_by_check, kTries / 2);
  EXPECT_GT(refused, 0);
}

// The rules by which values were left out are a part of the segment: its check needs them, and what
// is no schema does not open.
TEST(InvertedReader, RulesOfTheSegmentAreCheckedWhenItIsOpened) {
  const std::string schema =
      R"({"keys":{"few":{"string":{"string_inverted_index":{"enabled":false}}}}})";
  MemoryBlockSource blocks("test");
  const SharedRules rules = ReadStoredRules(schema).value();
  SegmentWriter writer({.segment = 7, .dimension = 1, .rules = rules}, &blocks);
  std::mt19937_64 random(8);
  for (uint32_t row = 0; row < 100; ++row) ASSERT_OK(writer.AddRecord(MadeRecord(random, row)));
  const auto summary = writer.Finish();
  ASSERT_OK(summary);
  const auto opened = Segment::Open(&blocks, summary->root, 7);
  ASSERT_OK(opened);
  EXPECT_OK((*opened)->Verify());
  EXPECT_EQ((*opened)->NewInvertedReader()->rules()->json, schema);

  bool is_found = false;
  for (uint32_t physical = 0; physical < summary->blocks; ++physical) {
    const BlockBytes block = blocks.Mutable(physical);
    const std::string_view bytes(reinterpret_cast<const char*>(block.data()), block.size());
    const size_t at = bytes.find(schema);
    if (at == std::string_view::npos) continue;
    is_found = true;
    const BlockTrailer trailer = ReadBlockTrailer(block);
    const auto write = [&](size_t offset, char byte) {
      block[at + offset] = static_cast<std::byte>(byte);
      SealBlock(block, trailer.kind, trailer.segment, trailer.logical, trailer.format);
    };
    write(schema.size() - 1, '!');
    EXPECT_CODE(Segment::Open(&blocks, summary->root, 7).status(), Code::kDataLoss);
    write(schema.size() - 1, '}');
    write(schema.find("few"), 'F');  // rules of other keys: the index is not that of the records
    const auto other = Segment::Open(&blocks, summary->root, 7);
    ASSERT_OK(other);
    EXPECT_CODE((*other)->Verify(), Code::kDataLoss);
  }
  EXPECT_TRUE(is_found);
}

}  // namespace
}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// Grams, cells, and the index over cells as bytes.

#include "engine/inverted/gram.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "engine/base/substring.h"
#include "engine/inverted/posting_list.h"
#include "engine/inverted/term_block.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

using Lists = std::map<std::string, std::set<uint32_t>>;

// What a group says, read from its bytes.
Lists ReadGroup(const RowGroupIndex& group) {
  Lists lists;
  for (const TermBlockEntry& block : group.blocks) {
    TermBlockReader terms(
        AsBytes(std::string_view(group.terms).substr(block.terms_begin, block.terms_bytes)));
    std::string_view left =
        std::string_view(group.postings).substr(block.postings_begin, block.postings_bytes);
    std::string_view term;
    while (!left.empty()) {
      EXPECT_TRUE(terms.Next(&term));
      PostingsHead head;
      EXPECT_TRUE(ReadPostingsHead(AsBytes(left.substr(0, kPostingsHeadBytesMax)), &head));
      const uint32_t shift = group.fields[0].rows_shift;
      const uint32_t cells = (group.rows + (1u << shift) - 1) >> shift;
      std::vector<uint64_t> words((cells + 63) / 64);
      EXPECT_TRUE(
          ApplyPostings(AsBytes(left.substr(0, head.bytes)), PostingsUse::kUnite, words, cells));
      for (uint32_t cell = 0; cell < cells; ++cell)
        if ((words[cell / 64] >> (cell % 64) & 1) != 0) lists[std::string(term)].insert(cell);
      left.remove_prefix(head.bytes);
    }
  }
  return lists;
}

void AddGrams(std::string_view document, uint32_t cell, Lists& lists) {
  const std::string folded = FoldAscii(document);
  for (size_t i = 0; i < folded.size(); ++i) lists[folded.substr(i, kGramBytes)].insert(cell);
}

TEST(Grams, OfATextAreItsPiecesOfThreeBytesInSmallLetters) {
  EXPECT_EQ(GramsOf("aBcAbC"), (std::vector<std::string>{"abc", "bca", "cab"}));
  EXPECT_EQ(GramsOf("ab"), std::vector<std::string>{});
  EXPECT_EQ(GramsOf(std::string("\0\xFF\0", 3)),
            std::vector<std::string>{std::string("\0\xFF\0", 3)});
}

// Documents of so many bytes at most, few bytes and now and then any.
std::string RandomDocument(std::mt19937_64& random, uint64_t bytes_max) {
  std::string document(random() % bytes_max, ' ');
  for (char& byte : document)
    byte = static_cast<char>(random() % 50 == 0 ? random() : 'X' + random() % 8);
  return document;
}

TEST(Grams, AGroupHasTheGramsOfEachCellsDocuments) {
  for (const uint64_t bytes_max : {1, 30, 200, 500, 3000}) {
    SCOPED_TRACE(bytes_max);
    std::mt19937_64 random(bytes_max);
    std::vector<std::string> documents(bytes_max == 30 ? 3001 : 200);
    GramGroupBuilder builder(nullptr, bytes_max);
    uint64_t bytes = 0;
    for (std::string& document : documents) {
      document = RandomDocument(random, bytes_max);
      bytes += document.size();
      ASSERT_OK(builder.Add(document));
    }
    const uint32_t shift = CellShiftOf(bytes, static_cast<uint32_t>(documents.size()));
    Lists expected;
    for (uint32_t row = 0; row < documents.size(); ++row)
      AddGrams(documents[row], row >> shift, expected);
    const RowGroupIndex group = builder.Finish();
    EXPECT_EQ(group.rows, documents.size());
    EXPECT_EQ(ReadGroup(group), expected);
    if (expected.empty()) continue;
    ASSERT_EQ(group.fields.size(), 1u);
    EXPECT_EQ(group.fields[0].terms, expected.size());
    EXPECT_EQ(group.fields[0].type, static_cast<uint32_t>(FieldType::kGrams));
    EXPECT_EQ(group.fields[0].rows_shift, shift);
    EXPECT_GT(builder.bytes(), 0u);
  }
}

TEST(Grams, AGroupWithoutMemorySaysSo) {
  MemoryBudget budget("test", 200 << 10);
  GramGroupBuilder builder(&budget, 1);
  std::mt19937_64 random(1);
  Status status;
  for (int i = 0; i < 1000 && status.ok(); ++i) {
    std::string document(1000, ' ');
    for (char& byte : document) byte = static_cast<char>(random());
    status = builder.Add(document);
  }
  EXPECT_CODE(status, Code::kResourceExhausted);
}

TEST(Grams, CellsHaveHalfAKilobyteAtMostOnAverage) {
  EXPECT_EQ(CellShiftOf(0, 100), kRowsShiftMax);
  EXPECT_EQ(CellShiftOf(100 * 8, 100), kRowsShiftMax);
  EXPECT_EQ(CellShiftOf(100 * 8 + 1, 100), kRowsShiftMax - 1);
  EXPECT_EQ(CellShiftOf(100 * 256, 100), 1u);
  EXPECT_EQ(CellShiftOf(100 * 257, 100), 0u);
  EXPECT_EQ(CellShiftOf(uint64_t{5} << 40, 100), 0u);
}

}  // namespace
}  // namespace pigment

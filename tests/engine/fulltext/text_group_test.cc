// SPDX-License-Identifier: Apache-2.0
//
// Groups of rows: what the builder makes is what readers find, list by list; damaged bytes end with
// an error and nothing worse.

#include "engine/fulltext/text_group.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "engine/fulltext/bm25.h"
#include "engine/fulltext/posting_cursor.h"
#include "engine/fulltext/text_lookup.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

// By term, then row: the places.
using Model = std::map<std::string, std::map<uint32_t, std::vector<uint32_t>>>;

struct Made {
  std::shared_ptr<TextGroup> group;
  Model model;
};

std::string RandomWord(std::mt19937_64& random) {
  // Some words are in nearly every document, most in few.
  const uint64_t spread = uint64_t{1} << (random() % 12);
  return "w" + std::to_string(random() % spread);
}

Made Make(uint64_t seed, uint32_t rows) {
  std::mt19937_64 random(seed);
  const auto analyzer = Analyzer::Make({}).value();
  TextGroupBuilder builder(*analyzer, nullptr, seed);
  Made made;
  for (uint32_t row = 0; row < rows; ++row) {
    std::string text;
    const uint32_t words = random() % 8 == 0 ? 0 : static_cast<uint32_t>(random() % 30);
    for (uint32_t place = 0; place < words; ++place) {
      const std::string word = RandomWord(random);
      made.model[word][row].push_back(place);
      text += word + " ";
    }
    const std::string_view view = text;
    EXPECT_OK(builder.Add(random() % 10 == 0 && words == 0 ? nullptr : &view));
  }
  EXPECT_EQ(builder.rows(), rows);
  made.group = std::make_shared<TextGroup>(builder.Finish());
  return made;
}

TEST(TextGroup, EveryTermIsFoundWithItsRowsFrequenciesAndPlaces) {
  for (const uint32_t rows : {1u, 2u, 127u, 128u, 129u, 1000u, 5000u}) {
    SCOPED_TRACE(rows);
    const Made made = Make(rows, rows);
    const auto source = MakeMemoryTextSource(made.group);
    LengthReader lengths(source.get());
    for (const auto& [term, places] : made.model) {
      const auto list = FindTerm(*source, term).value();
      ASSERT_TRUE(list) << term;
      PostingCursor cursor = PostingCursor::Open(source.get(), *list, lengths).value();
      ASSERT_EQ(cursor.documents(), places.size());
      auto expected = places.begin();
      for (uint32_t block = 0; block < cursor.blocks(); ++block) {
        ASSERT_OK(cursor.Load(block));
        for (size_t i = 0; i < cursor.rows().size(); ++i, ++expected) {
          ASSERT_EQ(cursor.rows()[i], expected->first);
          ASSERT_EQ(cursor.frequencies()[i], expected->second.size());
        }
      }
      ASSERT_EQ(expected, places.end());
      PostingCursor again = PostingCursor::Open(source.get(), *list, lengths).value();
      for (const auto& [row, at] : places) {
        ASSERT_EQ(again.SeekRow(row).value(), row);
        const auto positions = again.Positions().value();
        ASSERT_EQ(std::vector<uint32_t>(positions.begin(), positions.end()), at);
      }
      ASSERT_EQ(again.SeekRow(rows).value(), rows);
    }
    for (const std::string absent : {"", "a", "w", "w99999", "zz"})
      EXPECT_FALSE(FindTerm(*source, absent).value()) << absent;
  }
}

TEST(TextGroup, CountsDocumentsAndWords) {
  const Made made = Make(5, 700);
  std::vector<uint32_t> lengths(700);
  for (const auto& [term, rows] : made.model) {
    for (const auto& [row, places] : rows) lengths[row] += static_cast<uint32_t>(places.size());
  }
  EXPECT_EQ(made.group->lengths, lengths);
  uint64_t words = 0, documents = 0;
  for (const uint32_t length : lengths) {
    words += length;
    documents += length != 0;
  }
  EXPECT_EQ(made.group->words, words);
  EXPECT_EQ(made.group->documents, documents);
}

TEST(TextGroup, PrefixesFindAllTheirTermsAndNoOthers) {
  const Made made = Make(6, 900);
  const auto source = MakeMemoryTextSource(made.group);
  for (const std::string prefix : {"", "w", "w1", "w10", "w9", "x", "v"}) {
    uint64_t expected = 0, found = 0;
    for (const auto& [term, rows] : made.model)
      expected += term.starts_with(prefix) ? rows.size() : 0;
    ASSERT_OK(VisitPrefix(*source, prefix, [&](const TextList& list) {
      found += list.documents;
      return Status::Ok();
    }));
    EXPECT_EQ(found, expected) << prefix;
  }
}

// What lets a search pass by blocks.
TEST(TextGroup, NoRowScoresMoreThanItsBlockPromises) {
  const Made made = Make(7, 4000);
  const auto source = MakeMemoryTextSource(made.group);
  LengthReader lengths(source.get());
  for (const auto& [its_k1, b] : {std::pair(1.2, 0.75), {0.0, 0.5}, {100.0, 1.0}, {0.01, 0.0}}) {
    const double k1 = its_k1;  // no lambda may take what a structured binding names
    Bm25Shares shares(k1, b, {made.group->documents, made.group->words});
    ASSERT_OK(VisitPrefix(*source, "", [&](const TextList& list) -> Status {
      const Bm25Weight weight(k1, made.group->documents, list.documents, 1);
      PIGMENT_ASSIGN_OR_RETURN(PostingCursor cursor,
                               PostingCursor::Open(source.get(), list, lengths));
      for (uint32_t block = 0; block < cursor.blocks(); ++block) {
        PIGMENT_RETURN_IF_ERROR(cursor.Load(block));
        const ScoreSum bound = weight.Bound(cursor.impacts(block), shares);
        ScoreSum most = 0;
        for (size_t i = 0; i < cursor.rows().size(); ++i) {
          most = std::max(
              most, weight.Of(shares.Of(cursor.frequencies()[i], lengths.Of(cursor.rows()[i]))));
        }
        EXPECT_LE(most, bound);
      }
      return Status::Ok();
    }));
  }
}

TEST(TextGroup, LongDocumentsAndFrequentWordsAreBoundedToo) {
  const auto analyzer = Analyzer::Make({}).value();
  TextGroupBuilder builder(*analyzer, nullptr, 1);
  std::string text;
  for (int i = 0; i < 70000; ++i) text += "word ";
  for (uint32_t row = 0; row < 200; ++row) {
    const std::string_view view = row % 2 == 0 ? std::string_view("word") : std::string_view(text);
    ASSERT_OK(builder.Add(&view));
  }
  const auto source = MakeMemoryTextSource(std::make_shared<TextGroup>(builder.Finish()));
  LengthReader lengths(source.get());
  Bm25Shares shares(1.2, 0.75, {200, source->words()});
  const Bm25Weight weight(1.2, 200, 200, 1);
  PostingCursor cursor =
      PostingCursor::Open(source.get(), *FindTerm(*source, "word").value(), lengths).value();
  ASSERT_OK(cursor.Load(0));
  EXPECT_EQ(cursor.frequencies()[1], 70000u);
  EXPECT_GE(weight.Bound(cursor.impacts(0), shares), weight.Of(shares.Of(70000, 70000)));
}

TEST(TextGroup, ABuilderWithoutMemorySaysSo) {
  MemoryBudget budget("test", 100000);
  const auto analyzer = Analyzer::Make({}).value();
  TextGroupBuilder builder(*analyzer, &budget, 1);
  Status status;
  for (int row = 0; row < 10000 && status.ok(); ++row) {
    const std::string text = "word" + std::to_string(row) + " and more";
    const std::string_view view = text;
    status = builder.Add(&view);
  }
  EXPECT_EQ(status.detail(), Detail::kMemory);
  EXPECT_LE(budget.used_bytes(), 100000u);
}

// Reads everything that damaged bytes can lead to.
void Exercise(const std::shared_ptr<TextGroup>& group) {
  const auto source = MakeMemoryTextSource(group);
  LengthReader lengths(source.get());
  (void)FindTerm(*source, "w12");
  (void)VisitPrefix(*source, "", [&](const TextList& list) -> Status {
    auto cursor = PostingCursor::Open(source.get(), list, lengths);
    if (!cursor.ok()) return Status::Ok();
    EXPECT_LE(cursor->documents(), source->rows());
    for (uint32_t block = 0; block < cursor->blocks(); ++block) {
      if (!cursor->Load(block).ok()) continue;
      for (const uint32_t row : cursor->rows()) EXPECT_LT(row, source->rows());
      (void)cursor->Positions();
    }
    return Status::Ok();
  });
}

TEST(TextGroup, DamagedBytesEndWithAnErrorOrAnotherAnswer) {
  const Made made = Make(9, 600);
  std::mt19937_64 random(9);
  for (int round = 0; round < 400; ++round) {
    auto damaged = std::make_shared<TextGroup>(*made.group);
    for (int i = 0; i < 3; ++i) {
      std::string& bytes = random() % 2 != 0 ? damaged->terms : damaged->postings;
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (round % 5 == 0) {
      TextTermBlock& block = damaged->blocks[random() % damaged->blocks.size()];
      block.terms_begin += random() % 3;
      block.postings_begin = random() % 2 != 0 ? random() : block.postings_begin + 1;
    }
    Exercise(damaged);
  }
}

}  // namespace
}  // namespace pigment

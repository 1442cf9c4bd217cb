// SPDX-License-Identifier: Apache-2.0
//
// Terms order as their values do, equal values have equal terms, and every value of metadata has
// its own.

#include "engine/inverted/term.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/inverted/term_block.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

std::string TermOf(Number number) {
  std::string term;
  AppendNumberTerm(number, term);
  return term;
}

TEST(Term, NumbersOrderAsNumbersDo) {
  std::vector<Number> numbers = {int64_t{0}, -0.0, 0.5, -0.5, 1e300, -1e300, 0x1p63, -0x1p63};
  for (const int64_t near :
       {int64_t{0}, int64_t{1} << 53, int64_t{1} << 60, -(int64_t{1} << 53), -(int64_t{1} << 62),
        std::numeric_limits<int64_t>::max() - 3, std::numeric_limits<int64_t>::min() + 3}) {
    for (int64_t by = -3; by <= 3; ++by) numbers.push_back(near + by);
    numbers.push_back(static_cast<double>(near));
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 300; ++i) {
    numbers.push_back(static_cast<int64_t>(random() >> (random() % 64)));
    numbers.push_back(-static_cast<int64_t>(random() >> (1 + random() % 63)));
    numbers.push_back(std::uniform_real_distribution<double>(-100, 100)(random));
  }
  for (const Number& a : numbers) {
    for (const Number& b : numbers) {
      ASSERT_EQ(TermOf(a) < TermOf(b), a < b);
      ASSERT_EQ(TermOf(a) == TermOf(b), a == b);
    }
  }
}

TEST(Term, EveryValueOfMetadataHasItsOwn) {
  const Metadata metadata = {{"a", std::string("x\0y", 3)},
                             {"b", int64_t{2}},
                             {"c", 2.0},
                             {"d", true},
                             {"e", std::vector<std::string>{"p", "", "p"}},
                             {"f", std::vector<int64_t>{-1, 1}},
                             {"g", std::vector<double>{-0.0, 1.5}},
                             {"h", std::vector<bool>{false, true}}};
  std::string stored;
  EncodeMetadata(metadata, stored);
  using Seen = std::tuple<std::string, FieldType, std::string>;
  std::vector<Seen> seen;
  ASSERT_OK(
      VisitTerms(AsBytes(stored), [&](std::string_view key, FieldType type, std::string_view term) {
        seen.emplace_back(key, type, term);
        return Status::Ok();
      }));
  const auto element = [](const MetadataValue& value) {
    std::string term;
    AppendElementTerm(value, term);
    return term;
  };
  const std::vector<Seen> expected = {{"a", FieldType::kText, std::string("x\0y", 3)},
                                      {"b", FieldType::kNumber, TermOf(int64_t{2})},
                                      {"c", FieldType::kNumber, TermOf(int64_t{2})},
                                      {"d", FieldType::kBool, "\1"},
                                      {"e", FieldType::kTextElement, "p"},
                                      {"e", FieldType::kTextElement, ""},
                                      {"e", FieldType::kTextElement, "p"},
                                      {"f", FieldType::kIntegerElement, element(int64_t{-1})},
                                      {"f", FieldType::kIntegerElement, element(int64_t{1})},
                                      {"g", FieldType::kRealElement, element(0.0)},
                                      {"g", FieldType::kRealElement, element(1.5)},
                                      {"h", FieldType::kBoolElement, std::string(1, '\0')},
                                      {"h", FieldType::kBoolElement, "\1"}};
  EXPECT_EQ(seen, expected);
  EXPECT_LT(element(int64_t{-1}), element(int64_t{1}));
}

TEST(Term, OfDamagedMetadataAreRefusedOrTheirs) {
  Metadata metadata = {{"a", int64_t{1}}, {"list", std::vector<std::string>{"x", "yy"}}};
  std::string stored;
  EncodeMetadata(metadata, stored);
  std::mt19937_64 random(9);
  int refused = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string bytes = stored;
    bytes[random() % bytes.size()] = static_cast<char>(random());
    if (random() % 2 == 0) bytes.resize(random() % bytes.size());
    uint64_t term_bytes = 0;
    const Status status =
        VisitTerms(AsBytes(bytes), [&](std::string_view, FieldType, std::string_view term) {
          term_bytes += term.size();
          return Status::Ok();
        });
    EXPECT_LE(term_bytes, bytes.size() + 16);
    if (!status.ok()) {
      ++refused;
      EXPECT_CODE(status, Code::kDataLoss);
    }
  }
  EXPECT_GT(refused, 2500);
}

// As host_keys.h stores them: all in one call, ascending.
TEST(Term, OfGramsComeTogetherAndInTheirOrder) {
  const auto visit = [](std::string_view grams) {
    std::string stored({'\1', '\0', '\0', '\0', '\1', '\0', '\0', '\0', 'k', kStoredGrams});
    stored += static_cast<char>(grams.size());
    stored.append(3, '\0');
    stored += grams;
    std::string seen;
    const Status status = VisitTerms(
        AsBytes(stored), [&seen](std::string_view key, FieldType type, std::string_view term) {
          EXPECT_EQ(key, "k");
          EXPECT_EQ(type, FieldType::kGrams);
          seen += term;
          return Status::Ok();
        });
    return status.ok() ? seen : std::string(status.message());
  };
  EXPECT_EQ(visit("abcabd"), "abcabd");
  for (const char* const refused : {"", "ab", "abcd", "abcabc", "abdabc"})
    EXPECT_NE(visit(refused), refused) << refused;
}

TEST(TermBlock, GivesItsTermsBackAndDamageEnds) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> terms;
    for (uint32_t i = 0; i < 1 + random() % kTermsPerBlock; ++i) {
      std::string term = terms.empty() ? "" : terms.back().substr(0, random() % 5);
      term += std::string(random() % (random() % 10 == 0 ? 9000 : 20), 'a' + random() % 3);
      terms.push_back(term);
    }
    std::string bytes;
    for (size_t i = 0; i < terms.size(); ++i)
      AppendBlockTerm(i == 0 ? nullptr : &terms[i - 1], terms[i], bytes);
    TermBlockReader reader(AsBytes(bytes));
    std::string_view term;
    for (const std::string& expected : terms) {
      ASSERT_TRUE(reader.Next(&term));
      EXPECT_EQ(term, expected);
    }
    EXPECT_FALSE(reader.Next(&term));
    bytes[random() % bytes.size()] = static_cast<char>(random());
    TermBlockReader damaged(AsBytes(bytes));
    for (uint32_t i = 0; i < 10000 && damaged.Next(&term); ++i) EXPECT_LE(term.size(), 20000u);
  }
}

}  // namespace
}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// Tests of engine/embedding/lexical.h: the bits, the shape, and that it is of some use.

#include "engine/embedding/lexical.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace pigment {
namespace {

using namespace std::string_view_literals;

std::vector<float> Embed(std::string_view text, size_t dimension = kLexicalDimensionDefault) {
  std::vector<float> out(dimension, 42.0f);
  EmbedLexical(text, out);
  return out;
}

double Dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

double Similarity(std::string_view a, std::string_view b) { return Dot(Embed(a), Embed(b)); }

// FNV-1a over the bits of all components.
uint64_t Fingerprint(const std::vector<float>& vector) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const float value : vector) {
    const auto bits = std::bit_cast<uint32_t>(value);
    for (int i = 0; i < 4; ++i) hash = (hash ^ (bits >> (8 * i) & 0xff)) * 0x100000001b3;
  }
  return hash;
}

struct Golden {
  std::string text;
  size_t dimension;
  uint64_t fingerprint;
};

// These never change: pigment_lexical_v1 is a promise about bits. A new algorithm is a new name.
TEST(Lexical, TheBitsAreThoseOfVersionOne) {
  std::string long_text;
  for (int i = 0; i < 200000; ++i) long_text += "w" + std::to_string(i) + " ";
  for (const Golden& golden : {
           Golden{"hello", 384, 0x3a1e04fad7ab1432},
           Golden{"The quick brown fox jumps over the lazy dog", 384, 0xcc8926875e91d59e},
           Golden{"The quick brown fox jumps over the lazy dog", 1, 0x4b72477f9c5c2f98},
           Golden{"The quick brown fox jumps over the lazy dog", 65535, 0xb563776e03a3d6ad},
           Golden{"Größe, Ελλάδα, МОСКВА и Ёж; 検索エンジン 😀", 384, 0xcd8782fa45f8b4e9},
           Golden{std::string("a\0b\xff\xc3 \xe2\x82", 8), 100, 0x96d9a41457d528fe},
           Golden{std::string(1000, 'x'), 384, 0x826572abdd81f03b},
           Golden{long_text, 384, 0x1316568853256ae6},
       }) {
    EXPECT_EQ(Fingerprint(Embed(golden.text, golden.dimension)), golden.fingerprint)
        << golden.text.substr(0, 50) << " " << golden.dimension;
  }
  const std::vector<float> hello = Embed("hello", 8);
  const std::vector<float> expected = {-0.883883476f, -0.176776692f, 0.176776692f, 0.0f,
                                       0.353553385f,  0.0f,          0.176776692f, 0.0f};
  EXPECT_EQ(hello, expected);
}

TEST(Lexical, VectorsHaveUnitLength) {
  for (const char* text : {"a", "hello world", "x y z", "1234567890", "ü"}) {
    for (size_t dimension : {1, 2, 7, 384, 3072}) {
      const std::vector<float> vector = Embed(text, dimension);
      const double norm = std::sqrt(Dot(vector, vector));
      EXPECT_TRUE(norm == 0 || std::abs(norm - 1) < 1e-6)
          << text << " " << dimension << " " << norm;
      if (dimension == 384) {
        EXPECT_NEAR(norm, 1, 1e-6);
      }
    }
  }
}

TEST(Lexical, ATextWithoutWordsGivesZero) {
  for (std::string_view text : {""sv, " \n\t"sv, "... --- !?"sv, "\0"sv, "\u00a0\u2014\u3000"sv}) {
    EXPECT_EQ(Embed(text), std::vector<float>(384)) << text;
  }
}

TEST(Lexical, CaseSpacesAndPunctuationDoNotMatter) {
  EXPECT_EQ(Embed("Hello, World!"), Embed("hello world"));
  EXPECT_EQ(Embed("ÄÖÜ ÉÀ ΑΩ ЖЁ"), Embed("äöü éà αω жё"));
  EXPECT_EQ(Embed("a\u2014b\u00a0c"), Embed("a b c"));
  EXPECT_NE(Embed("straße"), Embed("strasse"));
}

TEST(Lexical, ItIsABagOfWords) { EXPECT_EQ(Embed("one two three"), Embed("three one two")); }

TEST(Lexical, RepeatingAWordCountsLessEachTime) {
  const std::string rare = "needle";
  double before = Similarity("needle hay", rare);
  double step_before = 1;
  std::string text = "needle hay";
  for (int i = 0; i < 5; ++i) {
    text += " needle";
    const double now = Similarity(text, rare);
    EXPECT_GT(now, before);
    EXPECT_LT(now - before, step_before);
    step_before = now - before;
    before = now;
  }
}

TEST(Lexical, RelatedTextsAreNearerThanOthers) {
  struct Question {
    const char* query;
    const char* near;
    const char* far;
  };
  for (const Question& q : {
           Question{"how do I create an index",
                    "CREATE INDEX constructs an index on the specified columns of a table",
                    "A cat sat on the mat and watched the birds"},
           Question{"vacuuming tables",
                    "VACUUM reclaims storage occupied by dead rows of the table",
                    "The planner estimates the cost of a join"},
           Question{"replication of standbys",
                    "A standby server replicates the changes of its primary",
                    "Text search parses documents into tokens"},
           Question{"misspeled wrods", "misspelled words are still found by their parts",
                    "nothing in common here at all"},
           Question{"Zugriffsrechte verwalten", "Verwaltung von Zugriffsrechten und Rollen",
                    "Sicherung und Wiederherstellung"},
       }) {
    EXPECT_GT(Similarity(q.query, q.near), Similarity(q.query, q.far) + 0.05) << q.query;
  }
}

TEST(Lexical, UnrelatedTextsAreNearlyOrthogonal) {
  constexpr uint64_t kSeed = 3;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  std::mt19937_64 random(kSeed);
  const auto words = [&random] {
    std::string text;
    for (int i = 0; i < 30; ++i) {
      for (int j = 0; j < 7; ++j) text += static_cast<char>('a' + random() % 26);
      text += ' ';
    }
    return text;
  };
  double sum = 0;
  constexpr int kPairs = 200;
  for (int i = 0; i < kPairs; ++i) sum += Similarity(words(), words());
  EXPECT_NEAR(sum / kPairs, 0, 0.02);  // the signs cancel: no bias
}

TEST(Lexical, AnyBytesAreText) {
  constexpr uint64_t kSeed = 9;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 3000; ++i) {
    std::string text(random() % 200, '\0');
    for (char& c : text) c = static_cast<char>(random() % 2 == 0 ? random() : 'a' + random() % 26);
    const std::vector<float> vector = Embed(text, 1 + random() % 50);
    for (const float value : vector) ASSERT_TRUE(std::isfinite(value));
  }
}

TEST(Lexical, LongWordsAndLongTextsAreCut) {
  EXPECT_NE(Embed(std::string(10000000, 'y')), std::vector<float>(384));
  std::string multibyte;
  for (int i = 0; i < 300; ++i) multibyte += "\xf0\x9f\x98\x80";
  const std::vector<float> vector = Embed(multibyte);
  EXPECT_NEAR(Dot(vector, vector), 1, 1e-6);
}

}  // namespace
}  // namespace pigment

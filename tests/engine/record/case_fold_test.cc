// SPDX-License-Identifier: Apache-2.0
//
// Comparing without regard to case: all code points, and texts against a plain search.

#include "engine/record/case_fold.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "engine/record/text.h"

namespace pigment {
namespace {

std::string Utf8(char32_t c) {
  std::string out;
  const auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xc0 | c >> 6), put(0x80 | (c & 0x3f));
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12), put(0x80 | (c >> 6 & 0x3f)), put(0x80 | (c & 0x3f));
  } else {
    put(0xf0 | c >> 18), put(0x80 | (c >> 12 & 0x3f)), put(0x80 | (c >> 6 & 0x3f));
    put(0x80 | (c & 0x3f));
  }
  return out;
}

bool Equal(std::string_view a, std::string_view b) { return FoldedText(a).Equals(b); }

TEST(CaseFold, VariantsOfACodePointAreAllThatFoldToIt) {
  std::map<char32_t, std::vector<std::string>> classes;
  for (char32_t c = 0; c < 0x110000; ++c) {
    if (c >= 0xd800 && c < 0xe000) continue;
    const std::string text = Utf8(c);
    std::string_view rest = text;
    classes[TakeFolded(rest)].push_back(text);
    ASSERT_TRUE(rest.empty()) << static_cast<uint32_t>(c);
  }
  size_t with_case = 0;
  for (const auto& [folded, all] : classes) {
    ASSERT_EQ(CaseVariants(folded), all) << static_cast<uint32_t>(folded);
    ASSERT_TRUE(std::is_sorted(all.begin(), all.end()));
    with_case += all.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(with_case, 1300u);  // or no table was read
}

TEST(CaseFold, LettersOfAllScriptsEqualTheirOtherCase) {
  EXPECT_TRUE(Equal("Straße", "STRAẞE"));
  EXPECT_FALSE(Equal("Straße", "STRASSE"));
  EXPECT_TRUE(Equal("ΣΊΣΥΦΟΣ", "σίσυφος"));
  EXPECT_TRUE(Equal("Привет", "пРИВЕТ"));
  EXPECT_TRUE(Equal("kelvin \u212a", "KELVIN k"));
  EXPECT_FALSE(Equal("İ", "i"));  // of no language
  EXPECT_FALSE(Equal("a", "á"));
  EXPECT_FALSE(Equal("a", "ab"));
  EXPECT_FALSE(Equal("ab", "a"));
  EXPECT_TRUE(Equal("", ""));
}

TEST(CaseFold, BytesThatAreNoUtf8EqualNothing) {
  EXPECT_FALSE(Equal("a", "\xff"));
  EXPECT_TRUE(
      FoldedText("B").IsIn("\xff\xc3"
                           "b"));
  EXPECT_FALSE(FoldedText("ü").IsIn("\xc3"));
  std::string_view text = "\xc3\x41";
  EXPECT_EQ(TakeFolded(text), 0x110000u + 0xc3);
  EXPECT_EQ(TakeFolded(text), U'a');
}

TEST(CaseFold, SearchFindsWhatAPlainSearchFinds) {
  std::mt19937_64 random(5);
  const std::vector<std::string> letters = {
      "a", "A", "b", "ü", "Ü", std::string(1, '\0'), "k", "\u212a", "\xc3", "\xbc", "\xff"};
  const auto made = [&](size_t most, size_t kinds) {
    std::string text;
    for (size_t n = random() % (most + 1); n > 0; --n) text += letters[random() % kinds];
    return text;
  };
  const auto fold = [](std::string_view text) {
    std::u32string folded;
    while (!text.empty()) folded += TakeFolded(text);
    return folded;
  };
  size_t found = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string text = made(12, letters.size()), piece = made(4, 8);
    const std::u32string folded = fold(text);
    const bool expected = folded.find(FoldedText(piece).code_points()) != std::u32string::npos;
    ASSERT_EQ(FoldedText(piece).IsIn(text), expected) << Quoted(text) << " " << Quoted(piece);
    ASSERT_EQ(FoldedText(piece).IsPrefixOf(text),
              folded.starts_with(FoldedText(piece).code_points()));
    found += expected ? 1 : 0;
  }
  EXPECT_GT(found, 2000u);
  EXPECT_LT(found, 18000u);
}

TEST(CaseFold, SearchesInLinearTime) {
  const std::string text(1 << 20, 'a');
  EXPECT_FALSE(FoldedText(std::string(1 << 18, 'A') + "b").IsIn(text));
  EXPECT_TRUE(FoldedText(std::string(1 << 18, 'A')).IsIn(text));
}

}  // namespace
}  // namespace pigment

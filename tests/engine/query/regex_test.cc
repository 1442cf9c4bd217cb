// SPDX-License-Identifier: Apache-2.0
//
// What a regular expression requires of a document: never more than it does.

#include "engine/query/regex.h"

#include <gtest/gtest.h>

#include "engine/base/substring.h"
#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

std::string RequiredOf(std::string_view pattern) {
  auto regex = Regex::Compile(pattern);
  EXPECT_OK(regex);
  return regex.ok() ? (*regex)->required() : "";
}

TEST(Regex, RequiresTheLongestTextThatEveryMatchHas) {
  EXPECT_EQ(RequiredOf("warn(ing)?: .*deprecated"), "deprecated");
  EXPECT_EQ(RequiredOf("(?i)WARN.*x"), "warn");
  EXPECT_EQ(RequiredOf("foo|bar"), "");
  EXPECT_EQ(RequiredOf("(foo|bar)_baz"), "");  // "foo_baz" or "bar_baz"
  EXPECT_EQ(RequiredOf(".*"), "");
  EXPECT_EQ(RequiredOf(""), "");
  EXPECT_EQ(RequiredOf("x*"), "");
  EXPECT_EQ(RequiredOf("[a-z]+"), "");
  EXPECT_EQ(RequiredOf("\\bfd\\b"), "fd");
  EXPECT_EQ(RequiredOf("^The "), "the ");
  EXPECT_EQ(RequiredOf("(abc){2,3}"), "abcabc");
}

// RE2 gives the texts in small letters of whatever alphabet, where the index folds ASCII alone.
TEST(Regex, RequiresNothingThatOtherLettersOfAnAlphabetMayStandFor) {
  EXPECT_EQ(RequiredOf("kernel disk"), "kernel disk");
  EXPECT_EQ(RequiredOf("(?i)kernel"), "ernel");    // k may be the Kelvin sign
  EXPECT_EQ(RequiredOf("(?si)disk cat"), " cat");  // i the I with a dot, s the long s
  EXPECT_EQ(RequiredOf("(?:(?i:disk) cat)"), " cat");
  EXPECT_EQ(RequiredOf("(?s)disk"), "disk");
  EXPECT_EQ(RequiredOf("(?P<i>disk)"), "disk");
  EXPECT_EQ(RequiredOf("[\\x{212A}k]ernel"), "ernel");
  EXPECT_EQ(RequiredOf("ÄÖÜ"), "");
  EXPECT_EQ(RequiredOf("Straße"), "tra");
}

// Each letter of Unicode alone between letters of ASCII, in any case: what matches is in no
// contradiction with what is required.
TEST(Regex, OfEveryLetterRequiresOnlyWhatItsMatchesHave) {
  int matches = 0;
  for (uint32_t rune = 0x21; rune < 0x1E944; ++rune) {
    if (rune >= 0xD800 && rune < 0xE000) continue;
    std::string letter;
    if (rune < 0x80) {
      if (!isalnum(static_cast<int>(rune))) continue;
      letter.push_back(static_cast<char>(rune));
    } else if (rune < 0x800) {
      letter = {static_cast<char>(0xC0 | rune >> 6), static_cast<char>(0x80 | (rune & 0x3F))};
    } else if (rune < 0x10000) {
      letter = {static_cast<char>(0xE0 | rune >> 12), static_cast<char>(0x80 | (rune >> 6 & 0x3F)),
                static_cast<char>(0x80 | (rune & 0x3F))};
    } else {
      letter = {static_cast<char>(0xF0 | rune >> 18), static_cast<char>(0x80 | (rune >> 12 & 0x3F)),
                static_cast<char>(0x80 | (rune >> 6 & 0x3F)),
                static_cast<char>(0x80 | (rune & 0x3F))};
    }
    // Beyond these there are few letters with a case.
    if (rune > 0x2FFF && rune < 0xA600) continue;
    if (rune > 0xFFFF && rune % 16 != 0) continue;
    for (const char* flags : {"", "(?i)"}) {
      auto regex = Regex::Compile(flags + ("xy" + letter) + "zw");
      ASSERT_OK(regex);
      for (const std::string& text :
           {"xy" + letter + "zw", "XY" + letter + "ZW", std::string("xykzw"), std::string("xyKzw"),
            std::string("xy\xE2\x84\xAAzw"), std::string("xyizw"), std::string("xy\xC4\xB0zw"),
            std::string("xyszw"), std::string("xy\xC5\xBFzw")}) {
        if (!(*regex)->MatchesIn(text)) continue;
        ++matches;
        ASSERT_NE(FindFolded(text, (*regex)->required()), std::string_view::npos)
            << flags << letter << " in " << text << " requires " << (*regex)->required();
      }
    }
  }
  EXPECT_GT(matches, 20000);
}

TEST(Regex, RefusesWhatRe2Refuses) {
  EXPECT_CODE(Regex::Compile("(").status(), Code::kInvalidArgument);
  EXPECT_CODE(Regex::Compile("(?=x)").status(), Code::kInvalidArgument);
  EXPECT_CODE(Regex::Compile("((((x{100}){100}){100}){100})").status(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace pigment

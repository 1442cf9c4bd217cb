// SPDX-License-Identifier: Apache-2.0
//
// Tests of engine/record/text.h.

#include "engine/record/text.h"

#include <gtest/gtest.h>

#include <charconv>
#include <limits>
#include <random>
#include <string>

namespace pigment {
namespace {

TEST(Text, WellFormedUtf8IsToldFromTheRest) {
  for (const char* good :
       {"", "a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "grün 你好"}) {
    EXPECT_TRUE(IsUtf8(good)) << good;
  }
  for (const char* bad :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2x", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xe2\x82",
        "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "ok\xfe"}) {
    EXPECT_FALSE(IsUtf8(bad)) << Quoted(bad);
  }
  EXPECT_EQ(Utf8Length("grün 你好"), 7u);
}

TEST(Text, AMessageShowsAnyBytesAsPrintableUtf8) {
  EXPECT_EQ(Quoted("plain"), "\"plain\"");
  EXPECT_EQ(Quoted("a\"b\\"), R"("a\"b\\")");
  EXPECT_EQ(Quoted(std::string_view("a\0\n\x7f\xff", 5)), R"("a\x00\x0a\x7f\xff")");
  EXPECT_EQ(Printable("grün"), "grün");
}

TEST(Text, AMessageIsCutBetweenCharacters) {
  EXPECT_EQ(Printable("abcdef", 3), "abc...");
  EXPECT_EQ(Printable("abü", 3), "ab...");
  EXPECT_EQ(Printable("abü", 4), "abü");
  EXPECT_EQ(Quoted(std::string(1000, 'x')).size(), 64u + 5);
}

TEST(Text, JsonStringsEscapeWhatJsonForbids) {
  std::string out;
  AppendJsonString(std::string_view("\"\\/\b\f\n\r\t\0\x1f\x7fü", 13), out);
  EXPECT_EQ(out, "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0000\\u001f\x7fü\"");
}

std::string Double(double value) {
  std::string out;
  AppendJsonDouble(value, out);
  return out;
}

TEST(Text, DoublesPrintShortAndNeverLookLikeIntegers) {
  EXPECT_EQ(Double(1), "1.0");
  EXPECT_EQ(Double(-0.0), "-0.0");
  EXPECT_EQ(Double(0.1), "0.1");
  EXPECT_EQ(Double(2.5), "2.5");
  EXPECT_EQ(Double(1e300), "1e+300");
  EXPECT_EQ(Double(123456789012.0), "123456789012.0");
  EXPECT_EQ(Double(std::numeric_limits<double>::denorm_min()), "5e-324");
}

TEST(Text, EveryDoubleReadsBackEqual) {
  constexpr uint64_t kSeed = 41;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  std::mt19937_64 random(kSeed);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t bits = random();
    double value;
    memcpy(&value, &bits, sizeof(value));
    if (!(value - value == 0)) continue;
    const std::string text = Double(value);
    double back = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), back);
    ASSERT_EQ(end.ptr, text.data() + text.size()) << text;
    ASSERT_EQ(back, value) << text;
    ASSERT_NE(text.find_first_of(".e"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// Text for cells, scrolling, and one line of whatever bytes. check_browse.py has them on a
// terminal.

#include <gtest/gtest.h>

#include <clocale>
#include <random>
#include <string>
#include <vector>

#include "tools/browse/text.h"
#include "tools/browse/view.h"
#include "tools/json_text.h"
#include "tools/output.h"

namespace pigment_tool {
namespace {

using browse::Fit;
using browse::Key;
using browse::Padded;
using browse::Scroll;
using browse::Wrap;

class BrowseText : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(std::setlocale(LC_CTYPE, "C.UTF-8"), nullptr); }
  void TearDown() override { std::setlocale(LC_CTYPE, "C"); }
};

TEST_F(BrowseText, IsCutAtCellsNotAtBytes) {
  EXPECT_EQ(Fit("abc", 3), "abc");
  EXPECT_EQ(Fit("abcd", 3), "ab…");
  EXPECT_EQ(Fit("grün", 4), "grün");
  EXPECT_EQ(Fit("漢字漢字", 8), "漢字漢字");
  EXPECT_EQ(Fit("漢字漢字", 7), "漢字漢…");
  EXPECT_EQ(Fit("漢字", 3), "漢…");
  EXPECT_EQ(Fit("漢", 1), "…");
  EXPECT_EQ(Fit("abc", 0), "");
  EXPECT_EQ(Padded("漢", 4), "漢  ");
  EXPECT_EQ(Padded("e\u0301", 3), "e\u0301  ") << "what combines takes no cell";
  EXPECT_EQ(Padded("", 2), "  ");
}

TEST_F(BrowseText, WrapsAtEndsOfLinesAndOfTheGrid) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(Wrap("abcdef\nx\n\ny", 4), (Lines{"abcd", "ef", "x", "", "y"}));
  EXPECT_EQ(Wrap("abcd\n", 4), (Lines{"abcd"}));
  EXPECT_EQ(Wrap("漢字漢", 5), (Lines{"漢字", "漢"}));
  EXPECT_EQ(Wrap("漢字", 1), (Lines{"漢", "字"})) << "no narrower than a letter";
  EXPECT_EQ(Wrap("", 4), (Lines{""}));
}

TEST_F(BrowseText, NoBytesMoveTheCursor) {
  EXPECT_EQ(Fit("\x1b[31m\x07\r\n\x7f\u009b\u0085", 20), " [31m      ");
  EXPECT_EQ(Fit("a\u202eb\u2066c\u200fd\u200be\ufeff", 20), "a?b?c?d?e?");
  std::random_device entropy;
  const unsigned seed = entropy();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int i = 0; i < 3'000; ++i) {
    std::string bytes(random() % 40, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    for (const std::string& text : {Fit(bytes, random() % 50), Printable(bytes)}) {
      ASSERT_TRUE(IsUtf8(text));
      for (const wchar_t letter : browse::Wide(text)) {
        ASSERT_TRUE(letter >= 0x20 && (letter < 0x7F || letter >= 0xA0)) << int{letter};
      }
    }
  }
}

TEST_F(BrowseText, ALineHasNoControlCharactersOfEitherSet) {
  EXPECT_EQ(Printable("a\x1b\x7f\u0080\u009b\u009fb\u00a0ü"), "a     b\u00a0ü");
  EXPECT_EQ(Printable("\u009b"), " ");
}

TEST(BrowseScroll, TheSelectionStaysOnTheScreen) {
  Scroll scroll;
  scroll.Settle(100, 10);
  for (int i = 0; i < 12; ++i) scroll.Move(Key::kDown, 10), scroll.Settle(100, 10);
  EXPECT_EQ(scroll.selected(), 12U);
  EXPECT_EQ(scroll.first(), 3U);
  scroll.Move(Key::kEnd, 10);
  scroll.Settle(100, 10);
  EXPECT_EQ(scroll.selected(), 99U);
  EXPECT_EQ(scroll.first(), 90U);
  scroll.Settle(100, 25);  // a larger screen shows more above
  EXPECT_EQ(scroll.first(), 75U);
  scroll.Settle(5, 25);
  EXPECT_EQ(scroll.selected(), 4U);
  EXPECT_EQ(scroll.first(), 0U);
  scroll.Settle(0, 0);
  scroll.Move(Key::kPageUp, 0);
  scroll.Settle(3, 0);
  EXPECT_EQ(scroll.selected(), 0U);
}

}  // namespace
}  // namespace pigment_tool

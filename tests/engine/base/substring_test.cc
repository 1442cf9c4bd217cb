// SPDX-License-Identifier: Apache-2.0
//
// Substrings against looking at every place.

#include "engine/base/substring.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

namespace pigment {
namespace {

size_t FindAtEveryPlace(std::string_view text, std::string_view piece, size_t from) {
  for (size_t place = from; place + piece.size() <= text.size(); ++place)
    if (text.substr(place, piece.size()) == piece) return place;
  return std::string_view::npos;
}

std::string RandomText(std::mt19937_64& random, size_t bytes) {
  static constexpr char kBytes[] = {'a', 'A', 'b', 'B', '\0', '\xC3', '@', '['};
  std::string text(bytes, ' ');
  for (char& byte : text) byte = kBytes[random() % sizeof kBytes];
  return text;
}

TEST(Substring, IsFoundWhereLookingAtEveryPlaceFindsIt) {
  std::mt19937_64 random(1);
  size_t found = 0;
  for (int i = 0; i < 20000; ++i) {
    const std::string text = RandomText(random, random() % 300);
    const std::string piece = RandomText(random, random() % 5);
    const size_t from = random() % (text.size() + 2);
    const size_t expected = FindAtEveryPlace(text, piece, from);
    ASSERT_EQ(FindSubstring(text, piece, from), expected) << i;
    const std::string folded = FoldAscii(piece);
    ASSERT_EQ(FindFolded(text, folded, from), FindAtEveryPlace(FoldAscii(text), folded, from)) << i;
    found += expected != std::string_view::npos;
  }
  EXPECT_GT(found, 2000u);
  EXPECT_LT(found, 18000u);
}

TEST(Substring, FoldsLettersOfAsciiAlone) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all.push_back(static_cast<char>(byte));
  const std::string folded = FoldAscii(all);
  for (int byte = 0; byte < 256; ++byte) {
    const bool is_large = byte >= 'A' && byte <= 'Z';
    EXPECT_EQ(static_cast<unsigned char>(folded[static_cast<size_t>(byte)]),
              is_large ? byte + 32 : byte);
  }
  // The bit that tells large letters from small ones tells other bytes apart too.
  EXPECT_EQ(FindFolded(std::string(100, '@') + "[[", "`"), std::string_view::npos);
  EXPECT_EQ(FindFolded(std::string(100, '@') + "[[", "[["), 100u);
  EXPECT_EQ(FindFolded(std::string(100, '@') + "{{", "[["), std::string_view::npos);
}

// Every place has the first and the last byte of the piece, and all but one in the middle.
TEST(Substring, TakesLinearTimeOnHostileTexts) {
  const std::string text(4 << 20, 'a');
  std::string piece(1 << 20, 'a');
  piece[piece.size() / 2] = 'b';
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(FindSubstring(text, piece), std::string_view::npos);
  EXPECT_EQ(FindFolded(text, piece), std::string_view::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
}

}  // namespace
}  // namespace pigment

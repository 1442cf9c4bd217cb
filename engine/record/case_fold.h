// SPDX-License-Identifier: Apache-2.0
//
// Texts compared without regard to case, by Unicode's simple case folding: one code point is
// compared with one, in no language ("ß" equals "ẞ" and not "ss", "I" equals "i"). Bytes that are
// not UTF-8 equal nothing but themselves. Plain values; any thread.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pigment {

// The first code point of `text`, folded, which `text` is left without. A byte that begins no
// UTF-8 is a number beyond all code points. REQUIRES: !text.empty().
char32_t TakeFolded(std::string_view& text);

// All that fold to the same code point, in UTF-8, ascending by bytes. REQUIRES: what TakeFolded
// gave of UTF-8.
std::vector<std::string> CaseVariants(char32_t folded);

// What others are compared with.
class FoldedText {
 public:
  explicit FoldedText(std::string_view text);  // REQUIRES: IsUtf8(text)

  const std::u32string& code_points() const { return code_points_; }
  bool Equals(std::string_view text) const;
  bool IsPrefixOf(std::string_view text) const;
  // Linear in `text` whatever it is (Knuth, Morris, Pratt, 1977).
  bool IsIn(std::string_view text) const;

 private:
  // Takes what is equal from the begin of `text`; false: it has another begin.
  bool TakeFrom(std::string_view& text) const;

  std::u32string code_points_;
  std::array<bool, 256> may_begin_{};  // first bytes of what equals the first code point
  // Of the first i + 1 code points: how many of the first are also the last ones, not counting all.
  std::vector<uint32_t> borders_;
};

}  // namespace pigment

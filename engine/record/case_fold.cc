// SPDX-License-Identifier: Apache-2.0
//
// Folding by ICU's tables.

#include "engine/record/case_fold.h"

#include <unicode/uchar.h>
#include <unicode/uniset.h>

#include <algorithm>
#include <new>

#include "engine/record/text.h"

namespace pigment {
namespace {

constexpr char32_t kCodePoints = 0x110000;
constexpr uint8_t kPayloadOfLead[] = {0, 0x7f, 0x1f, 0x0f, 0x07};  // by bytes of the sequence

char32_t Fold(char32_t code_point) {
  return static_cast<char32_t>(u_foldCase(static_cast<UChar32>(code_point), U_FOLD_CASE_DEFAULT));
}

std::string ToUtf8(char32_t code_point) {
  const auto tail = [&](int shift) {
    return static_cast<char>(0x80 | (code_point >> shift & 0x3f));
  };
  if (code_point < 0x80) return {static_cast<char>(code_point)};
  if (code_point < 0x800) return {static_cast<char>(0xc0 | code_point >> 6), tail(0)};
  if (code_point < 0x10000) return {static_cast<char>(0xe0 | code_point >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | code_point >> 18), tail(12), tail(6), tail(0)};
}

}  // namespace

char32_t TakeFolded(std::string_view& text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) {
    text.remove_prefix(1);
    return lead >= 'A' && lead <= 'Z' ? lead + ('a' - 'A') : lead;
  }
  const size_t bytes = Utf8SequenceBytes(text);
  if (bytes == 0) {
    text.remove_prefix(1);
    return kCodePoints + lead;
  }
  char32_t code_point = lead & kPayloadOfLead[bytes];
  for (size_t i = 1; i < bytes; ++i) code_point = code_point << 6 | (byte(i) & 0x3f);
  text.remove_prefix(bytes);
  return Fold(code_point);
}

std::vector<std::string> CaseVariants(char32_t folded) {
  const auto code_point = static_cast<UChar32>(folded);
  icu::UnicodeSet set(code_point, code_point);
  set.closeOver(USET_CASE_INSENSITIVE);
  if (set.isBogus()) throw std::bad_alloc();  // as ICU says it
  std::vector<std::string> variants;
  for (int32_t range = 0; range < set.getRangeCount(); ++range) {
    for (UChar32 one = set.getRangeStart(range); one <= set.getRangeEnd(range); ++one)
      if (Fold(static_cast<char32_t>(one)) == folded)
        variants.push_back(ToUtf8(static_cast<char32_t>(one)));
  }
  return variants;  // the order of code points is that of their bytes
}

FoldedText::FoldedText(std::string_view text) {
  while (!text.empty()) code_points_ += TakeFolded(text);
  if (code_points_.empty()) return;
  for (const std::string& variant : CaseVariants(code_points_[0]))
    may_begin_[static_cast<uint8_t>(variant[0])] = true;
  borders_.assign(code_points_.size(), 0);
  for (uint32_t i = 1, border = 0; i < code_points_.size(); ++i) {
    while (border > 0 && code_points_[i] != code_points_[border]) border = borders_[border - 1];
    if (code_points_[i] == code_points_[border]) ++border;
    borders_[i] = border;
  }
}

bool FoldedText::TakeFrom(std::string_view& text) const {
  return std::all_of(code_points_.begin(), code_points_.end(), [&](char32_t code_point) {
    return !text.empty() && TakeFolded(text) == code_point;
  });
}

bool FoldedText::Equals(std::string_view text) const { return TakeFrom(text) && text.empty(); }

bool FoldedText::IsPrefixOf(std::string_view text) const { return TakeFrom(text); }

bool FoldedText::IsIn(std::string_view text) const {
  uint32_t equal = 0;
  while (equal < code_points_.size()) {
    if (equal == 0) {
      // Bytes in the middle of a code point begin none, so none is met halfway.
      size_t skipped = 0;
      while (skipped < text.size() && !may_begin_[static_cast<uint8_t>(text[skipped])]) ++skipped;
      text.remove_prefix(skipped);
    }
    if (text.empty()) return false;
    const char32_t next = TakeFolded(text);
    while (equal > 0 && next != code_points_[equal]) equal = borders_[equal - 1];
    if (next == code_points_[equal]) ++equal;
  }
  return true;
}

}  // namespace pigment

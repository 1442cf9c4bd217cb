// SPDX-License-Identifier: Apache-2.0
//
// Text for a grid of cells.

#include "tools/browse/text.h"

#include <wchar.h>

#include "tools/json_text.h"

namespace pigment_tool::browse {
namespace {

constexpr wchar_t kUnknown = L'?';

struct Cell {
  wchar_t letter;
  size_t width;  // 0: goes with the one before
};

bool IsControl(wchar_t letter) {
  return letter < 0x20 || (letter >= 0x7F && letter < 0xA0) || letter == 0x2028 || letter == 0x2029;
}

// Marks, embeddings, overrides and isolates of the bidirectional algorithm; what has no ink.
bool IsInvisible(wchar_t letter) {
  return letter == 0xAD || letter == 0x061C || (letter >= 0x200B && letter <= 0x200F) ||
         (letter >= 0x202A && letter <= 0x202E) || (letter >= 0x2060 && letter <= 0x206F) ||
         letter == 0xFEFF || (letter >= 0xE0000 && letter <= 0xE0FFF);
}

Cell CellOf(wchar_t letter) {
  if (IsControl(letter)) return {L' ', 1};
  const int width = IsInvisible(letter) ? -1 : wcwidth(letter);
  return width < 0 ? Cell{kUnknown, 1} : Cell{letter, static_cast<size_t>(width)};
}

// The letter that begins at `at` of valid UTF-8, which is moved behind it.
wchar_t Decode(std::string_view text, size_t& at) {
  const auto first = static_cast<unsigned char>(text[at++]);
  if (first < 0x80) return first;
  const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  uint32_t letter = first & (0x3Fu >> more);
  for (int i = 0; i < more && at < text.size(); ++i) {
    letter = letter << 6 | (static_cast<unsigned char>(text[at++]) & 0x3Fu);
  }
  return static_cast<wchar_t>(letter);
}

void Encode(wchar_t wide, std::string& text) {
  const auto letter = static_cast<uint32_t>(wide);
  const auto put = [&](uint32_t byte) { text += static_cast<char>(byte); };
  if (letter < 0x80) return put(letter);
  if (letter < 0x800) {
    put(0xC0 | letter >> 6);
  } else if (letter < 0x10000) {
    put(0xE0 | letter >> 12);
    put(0x80 | (letter >> 6 & 0x3F));
  } else {
    put(0xF0 | letter >> 18);
    put(0x80 | (letter >> 12 & 0x3F));
    put(0x80 | (letter >> 6 & 0x3F));
  }
  put(0x80 | (letter & 0x3F));
}

// As many whole letters as fit into so many cells.
struct Piece {
  std::string text;
  size_t width = 0;
  bool is_whole = true;
};
Piece Take(std::string_view text, size_t& at, size_t columns, bool ends_at_line) {
  Piece piece;
  while (at < text.size()) {
    if (ends_at_line && text[at] == '\n') return piece;
    size_t next = at;
    const Cell cell = CellOf(Decode(text, next));
    if (piece.width + cell.width > columns) {
      piece.is_whole = false;
      return piece;
    }
    // What combines needs something to combine with.
    if (cell.width > 0 || piece.width > 0) Encode(cell.letter, piece.text);
    piece.width += cell.width;
    at = next;
  }
  return piece;
}

}  // namespace

std::string Fit(std::string_view text, size_t columns) {
  const std::string clean = AsUtf8(text);
  size_t at = 0;
  Piece piece = Take(clean, at, columns, false);
  if (piece.is_whole || columns == 0) return piece.text;
  at = 0;
  piece = Take(clean, at, columns - 1, false);
  return piece.text + (wcwidth(L'…') == 1 ? "…" : "~");
}

std::string Padded(std::string_view text, size_t columns) {
  std::string fitted = Fit(text, columns);
  size_t at = 0;
  const size_t width = Take(fitted, at, columns, false).width;
  return fitted.append(columns - width, ' ');
}

std::vector<std::string> Wrap(std::string_view text, size_t columns) {
  const std::string clean = AsUtf8(text);
  // A letter of two cells needs two.
  const size_t width = columns < 2 ? 2 : columns;
  std::vector<std::string> lines;
  size_t at = 0;
  while (true) {
    lines.push_back(Take(clean, at, width, true).text);
    if (at >= clean.size()) return lines;
    if (clean[at] == '\n' && ++at == clean.size()) return lines;
  }
}

std::wstring Wide(std::string_view text) {
  std::wstring wide;
  for (size_t at = 0; at < text.size();) wide += Decode(text, at);
  return wide;
}

std::string Narrow(std::wstring_view text) {
  std::string narrow;
  for (const wchar_t letter : text) Encode(letter, narrow);
  return narrow;
}

}  // namespace pigment_tool::browse

// SPDX-License-Identifier: Apache-2.0
//
// Text helpers: UTF-8 by the table of the Unicode standard (3.9, table 3-7), printing by to_chars,
// which no locale changes.

#include "engine/record/text.h"

#include <charconv>
#include <cstdint>

namespace pigment {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

uint8_t ByteAt(std::string_view text, size_t i) { return static_cast<uint8_t>(text[i]); }

bool IsTail(std::string_view text, size_t i) { return (ByteAt(text, i) & 0xc0) == 0x80; }

void AppendPrintable(std::string_view text, size_t bytes_max, bool quoted, std::string& out) {
  size_t i = 0;
  while (i < text.size()) {
    const size_t sequence = Utf8SequenceBytes(text.substr(i));
    if (i + (sequence == 0 ? 1 : sequence) > bytes_max) {
      out += "...";
      return;
    }
    const uint8_t byte = ByteAt(text, i);
    if (sequence == 0 || byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += kHexDigits[byte >> 4];
      out += kHexDigits[byte & 15];
      i += 1;
      continue;
    }
    if (quoted && (byte == '"' || byte == '\\')) out += '\\';
    out += text.substr(i, sequence);
    i += sequence;
  }
}

}  // namespace

size_t Utf8SequenceBytes(std::string_view text) {
  if (text.empty()) return 0;
  const uint8_t lead = ByteAt(text, 0);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const size_t bytes = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (text.size() < bytes) return 0;
  for (size_t i = 1; i < bytes; ++i) {
    if (!IsTail(text, i)) return 0;
  }
  const uint8_t second = ByteAt(text, 1);
  if (lead == 0xe0 && second < 0xa0) return 0;  // overlong
  if (lead == 0xed && second > 0x9f) return 0;  // surrogate
  if (lead == 0xf0 && second < 0x90) return 0;  // overlong
  if (lead == 0xf4 && second > 0x8f) return 0;  // beyond U+10FFFF
  return bytes;
}

bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t bytes = Utf8SequenceBytes(text.substr(i));
    if (bytes == 0) return false;
    i += bytes;
  }
  return true;
}

size_t Utf8Length(std::string_view text) {
  size_t length = 0;
  for (size_t i = 0; i < text.size(); ++i) length += IsTail(text, i) ? 0 : 1;
  return length;
}

std::string Printable(std::string_view text, size_t bytes_max) {
  std::string out;
  AppendPrintable(text, bytes_max, false, out);
  return out;
}

std::string Quoted(std::string_view text, size_t bytes_max) {
  std::string out = "\"";
  AppendPrintable(text, bytes_max, true, out);
  out += '"';
  return out;
}

void AppendJsonString(std::string_view text, std::string& out) {
  out += '"';
  const auto is_plain = [](char c) {
    return static_cast<uint8_t>(c) >= 0x20 && c != '"' && c != '\\';
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t first = i;
    while (i < text.size() && is_plain(text[i])) ++i;
    out.append(text, first, i - first);
    if (i == text.size()) break;
    const char c = text[i];
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        out += "\\u00";
        out += kHexDigits[static_cast<uint8_t>(c) >> 4];
        out += kHexDigits[static_cast<uint8_t>(c) & 15];
    }
  }
  out += '"';
}

void AppendJsonDouble(double value, std::string& out) {
  char buffer[32];
  const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof(buffer), value);
  const std::string_view digits(buffer, static_cast<size_t>(end.ptr - buffer));
  out += digits;
  // An integer's digits alone would read back as an int64.
  if (digits.find_first_of(".e") == std::string_view::npos) out += ".0";
}

}  // namespace pigment

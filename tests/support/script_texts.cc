// SPDX-License-Identifier: Apache-2.0
//
// The letters of each script are those at which searches have gone wrong: the final sigma, the
// dotless i, the sharp s, what folds to ASCII (Kelvin's sign, the long s), letters of two, three
// and four bytes, jamos, vowel signs, joiners.

#include "tests/support/script_texts.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace pigment {
namespace {

using nlohmann::json;
using Random = std::mt19937_64;
using Letters = std::vector<std::string>;

const std::array<Letters, 14> kScripts = {{
    {"a", "A", "b", "e", "i", "I", "k", "K", "s", "S", "\u00e9", "e\u0301", "\u212a", "\u017f"},
    {"s", "ss", "SS", "\u00df", "\u1e9e", "\u00fc", "\u00dc", "u\u0308", "\u00e5", "\u212b"},
    {"\u03c3", "\u03c2", "\u03a3", "\u03b1", "\u0391", "\u03ac", "\u03b9", "\u0399", "\u1fbe",
     "\u00b5", "\u03bc", "\u039c", "\u03c9", "\u03a9", "\u2126"},
    {"\u0430", "\u0410", "\u0431", "\u044f", "\u042f", "\u0451", "\u0401", "\u0439", "\u0438\u0306",
     "\u1c80", "\u0432"},
    {"i", "I", "\u0131", "\u0130", "i\u0307", "\u015f", "\u015e", "\u011f", "\u011e"},
    {"\u6f22", "\u5b57", "\u4e2d", "\u6587", "\u3002", "\u3005", "\U00020bb7", "\u30ab", "\u30ac",
     "\u30ab\u3099", "\uff76"},
    {"\ud55c", "\uae00", "\uac00", "\u1112", "\u1161", "\u11ab"},
    {"\u0627", "\u0644", "\u0639", "\u0631", "\u0628", "\u064e", "\u060c", "\u0629"},
    {"\u05e9", "\u05dc", "\u05d5", "\u05dd", "\u05c1"},
    {"\u0928", "\u092e", "\u0938", "\u094d", "\u0924", "\u0947", "\u0915", "\u093f"},
    {"\u0e01", "\u0e32", "\u0e23", "\u0e17", "\u0e35", "\u0e48", "\u0e44"},
    {"\U0001f469", "\u200d", "\U0001f4bb", "\U0001f469\u200d\U0001f4bb", "\u2764\ufe0f",
     "\U0001f3fd"},
    // Pairs of cases with as many bytes in each, and with other numbers of bytes.
    {"\U00010400", "\U00010428", "\u10d0", "\u1c90", "\u13a0", "\uab70", "\u0250", "\u2c6f",
     "\u023a", "\u2c65"},
    {"x", ".", "%", "_", "\\", "-", "(", "]", "\"", "1", "2"},
}};

const Letters kBetween = {" ", "\n", "1", "a", "-"};

// The last three begin characters that do not end.
const Letters kNoUtf8 = {"\xff", "\x80",     "\xc0\x80", "\xed\xa0\x80",
                         "\xc3", "\xe6\xbc", "\xf0\x9f"};

const std::string& Pick(Random& random, const Letters& letters) {
  return letters[random() % letters.size()];
}

bool Chance(Random& random, uint64_t percent) { return random() % 100 < percent; }

struct Character {
  std::string bytes;
  char32_t code_point;
};

bool Continues(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

// The characters of some bytes; what is none is left out.
std::vector<Character> CharactersOf(const std::string& text) {
  std::vector<Character> characters;
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    const size_t size = first < 0x80   ? 1
                        : first < 0xc2 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf5 ? 4
                                       : 0;
    bool is_whole = size > 0 && at + size <= text.size();
    char32_t point = size < 2 ? first : first & (0xffu >> (size + 1));
    for (size_t i = 1; is_whole && i < size; ++i) {
      is_whole = Continues(text[at + i]);
      point = point << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3fu);
    }
    is_whole = is_whole && (point < 0xd800 || point >= 0xe000);
    if (is_whole) characters.push_back({text.substr(at, size), point});
    at += is_whole ? size : 1;
  }
  return characters;
}

std::string Escaped(char32_t code_point) {
  return fmt::format("\\x{{{:x}}}", static_cast<uint32_t>(code_point));
}

// A class of some letters of the text, by their numbers.
std::string ClassOf(Random& random, const std::string& text) {
  std::string letters = Chance(random, 20) ? "^" : "";
  for (const Character& character : CharactersOf(text)) letters += Escaped(character.code_point);
  return "[" + letters + "]";
}

std::string RandomRegex(Random& random, const std::string& document) {
  static const Letters kClasses = {
      "\\pL", "\\p{Lu}",     "\\pM", "\\p{Greek}", "\\p{Han}", "\\p{Cyrillic}+",
      "\\PL", "[[:alpha:]]", "\\d",  "\\w",        "\\s",      "\\x00",
      "[^a]", "\\C",         "."};
  static const Letters kJoints = {"", ".", ".*", ".?", "(?s:.)", "(?s:.*)", "\\s*", "|"};
  static const Letters kRepeats = {"?", "*", "+", "{2}", "{1,3}"};
  const std::string one = re2::RE2::QuoteMeta(RandomPiece(random, document));
  const std::string other = re2::RE2::QuoteMeta(RandomPiece(random, document));
  switch (random() % 10) {
    case 0:
      return one;
    case 1:
      return "(?i)" + one;
    case 2:
      return "(?i:" + one + ")" + Pick(random, kJoints) + other;
    case 3:
      return one + Pick(random, kJoints) + other;
    case 4:
      return "(?i)" + one + Pick(random, kJoints) + ClassOf(random, RandomPiece(random, document));
    case 5:
      return ClassOf(random, RandomPiece(random, document)) + one;
    case 6:
      return Pick(random, kClasses) + one + Pick(random, kClasses);
    case 7:
      return (Chance(random, 50) ? "(?m)^" : "^") + one;
    case 8:
      return one + (Chance(random, 50) ? "(?m:$)" : "\\b");
    default:
      return (Chance(random, 50) ? "(?i)(?:" : "(?:") + one + ")" + Pick(random, kRepeats) + other;
  }
}

}  // namespace

std::string RandomScriptText(Random& random, size_t letters_max) {
  const Letters& first = kScripts[random() % kScripts.size()];
  const Letters& second = Chance(random, 30) ? kScripts[random() % kScripts.size()] : first;
  std::string text;
  for (uint64_t letters = random() % (letters_max + 1); letters > 0; --letters)
    text += Chance(random, 15) ? Pick(random, kBetween)
                               : Pick(random, Chance(random, 70) ? first : second);
  return text;
}

std::string RandomScriptDocument(Random& random) {
  std::string text;
  do {
    text += RandomScriptText(random, Chance(random, 10) ? 200 : 12);
    if (Chance(random, 10)) text += '\0';
    if (Chance(random, 10)) text += Pick(random, kNoUtf8);
  } while (Chance(random, 20));
  return text;
}

std::string RandomPiece(Random& random, const std::string& document) {
  const std::vector<Character> characters = CharactersOf(document);
  std::string piece;
  if (!characters.empty()) {
    const size_t begin = random() % characters.size();
    const size_t size = 1 + random() % (Chance(random, 70) ? 3 : 12);
    for (size_t i = begin; i < std::min(begin + size, characters.size()); ++i)
      piece += characters[i].bytes;
  }
  if (piece.empty() || Chance(random, 15))
    piece += Pick(random, kScripts[random() % kScripts.size()]);
  return piece;
}

json RandomScriptClause(Random& random, const std::string& document) {
  switch (random() % 7) {
    case 0:
    case 1:
      return {{Chance(random, 70) ? "$contains" : "$not_contains", RandomPiece(random, document)}};
    case 2:
    case 3:
      return {{"$icontains", RandomPiece(random, document)}};
    default:
      return {{Chance(random, 70) ? "$regex" : "$not_regex", RandomRegex(random, document)}};
  }
}

}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// The lexical embedding, as README.md states it. Weights are integers until the last step, so that
// neither the order of features nor a machine's mathematics library changes a bit.

#include "engine/embedding/lexical.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace pigment {
namespace {

constexpr size_t kGramLeast = 3;
constexpr size_t kGramMost = 5;
constexpr size_t kWordLengthMax = 64;  // characters; a longer run is cut into several words
constexpr size_t kPieceCharactersMax =
    size_t{1} << 18;                // of distinct words: bounds the memory of a long text
constexpr int64_t kWordWeight = 4;  // of a whole word, in n-grams
constexpr uint64_t kWordSeed = 0x706967'6d656e'74;  // "pigment"; an n-gram's is this plus n

// ---- 1 + ln(n) in units of 2^-16 ----------------------------------------------------------------

constexpr int kLogBits = 20;
constexpr uint64_t kLn2 = 2977044472;  // ln 2 in units of 2^-32

// The logarithm to base 2, bit by bit: squaring the mantissa doubles the logarithm.
constexpr uint64_t Log2(uint32_t n) {
  const int whole = std::bit_width(n) - 1;
  uint64_t mantissa = uint64_t{n} << (31 - whole);  // 1 to 2 in units of 2^-31
  uint64_t log = static_cast<uint64_t>(whole);
  for (int i = 0; i < kLogBits; ++i) {
    mantissa = mantissa * mantissa >> 31;
    const uint64_t bit = mantissa >> 32;
    mantissa >>= bit;
    log = log << 1 | bit;
  }
  return log;
}

constexpr int64_t Weight(uint32_t count) {
  return 65536 + static_cast<int64_t>(Log2(count) * kLn2 >> (kLogBits + 32 - 16));
}
static_assert(Weight(1) == 65536 && Weight(2) == 65536 + 45426 && Weight(1000) == 65536 + 452706);

constexpr auto kWeights = [] {
  std::array<int64_t, 64> weights{};
  for (uint32_t count = 1; count < weights.size(); ++count) weights[count] = Weight(count);
  return weights;
}();

int64_t WeightOf(uint32_t count) {
  return count < kWeights.size() ? kWeights[count] : Weight(count);
}

// ---- Characters ---------------------------------------------------------------------------------

// 0 ends a word; otherwise the lower-case form of an ASCII letter or digit.
constexpr auto kAscii = [] {
  std::array<char, 128> table{};
  for (char c = '0'; c <= '9'; ++c) table[static_cast<size_t>(c)] = c;
  for (char c = 'a'; c <= 'z'; ++c) {
    table[static_cast<size_t>(c)] = c;
    table[static_cast<size_t>(c - 'a' + 'A')] = c;
  }
  return table;
}();

struct Character {
  size_t bytes;   // in the text
  uint32_t code;  // code point; a byte that is part of no UTF-8 sequence stands for itself
  bool is_letter;
  char folded[4];
};

bool IsTail(std::string_view text, size_t i) {
  return i < text.size() && (static_cast<uint8_t>(text[i]) & 0xc0) == 0x80;
}

// Length by the first byte and the presence of tails alone: what is malformed beyond that is still
// some letter.
size_t SequenceBytes(std::string_view text, size_t at) {
  const auto lead = static_cast<uint8_t>(text[at]);
  const size_t bytes = lead < 0xc2 || lead > 0xf4 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  for (size_t i = 1; i < bytes; ++i) {
    if (!IsTail(text, at + i)) return 1;
  }
  return bytes;
}

// Latin-1, Greek and Cyrillic capitals, all of two bytes, as their small letters.
uint32_t FoldTwoBytes(uint32_t code) {
  if (code >= 0xc0 && code <= 0xde && code != 0xd7) return code + 0x20;
  if (code >= 0x391 && code <= 0x3a9 && code != 0x3a2) return code + 0x20;
  if (code >= 0x410 && code <= 0x42f) return code + 0x20;
  if (code >= 0x400 && code <= 0x40f) return code + 0x50;
  return code;
}

// Spaces, signs and punctuation: the Latin-1 block below its letters, multiplication and division,
// the blocks of general and of ideographic punctuation.
bool IsSeparator(uint32_t code) {
  return (code >= 0x80 && code <= 0xbf) || code == 0xd7 || code == 0xf7 ||
         (code >= 0x2000 && code <= 0x206f) || (code >= 0x3000 && code <= 0x303f);
}

Character ReadBeyondAscii(std::string_view text, size_t at) {
  Character character{SequenceBytes(text, at), 0, true, {}};
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[at + i]); };
  std::copy_n(text.begin() + static_cast<ptrdiff_t>(at), character.bytes, character.folded);
  if (character.bytes == 2) {
    const uint32_t code = static_cast<uint32_t>(byte(0) & 0x1f) << 6 | (byte(1) & 0x3fu);
    const uint32_t folded = FoldTwoBytes(code);
    character.is_letter = !IsSeparator(code);
    character.folded[0] = static_cast<char>(0xc0 | folded >> 6);
    character.folded[1] = static_cast<char>(0x80 | (folded & 0x3f));
  } else if (character.bytes == 3) {
    const uint32_t code = static_cast<uint32_t>(byte(0) & 0x0f) << 12 |
                          static_cast<uint32_t>(byte(1) & 0x3f) << 6 | (byte(2) & 0x3fu);
    character.is_letter = !IsSeparator(code);
  }
  return character;
}

// ---- Counting -----------------------------------------------------------------------------------

size_t TableSize(size_t entries_max) {
  return std::bit_ceil(std::max<size_t>(entries_max * 2, 16));
}

// Counts by hash, with open addressing. Two features of one 64-bit hash count as one, on every
// machine alike.
class GramTable {
 public:
  void Reset(size_t entries_max) { entries_.assign(TableSize(entries_max), {0, 0}); }
  void Add(uint64_t hash, uint32_t count) {
    size_t i = hash & (entries_.size() - 1);
    while (entries_[i].count != 0 && entries_[i].hash != hash) i = (i + 1) & (entries_.size() - 1);
    entries_[i] = {hash, entries_[i].count + count};
  }
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const Entry& entry : entries_) {
      if (entry.count != 0) visit(entry.hash, entry.count);
    }
  }

 private:
  struct Entry {
    uint64_t hash;
    uint32_t count;
  };
  std::vector<Entry> entries_;
};

struct CountedWord {
  uint64_t hash;
  uint32_t count;  // 0: a free slot
  uint32_t begin;  // in the bytes of the distinct words
  uint16_t bytes;
  uint16_t characters;
};

class Embedder {
 public:
  Embedder(size_t text_bytes, std::span<float> out) : out_(out), sums_(out.size(), 0) {
    // A word takes two bytes with its separator, and a piece holds a limited number of characters.
    words_.resize(TableSize(std::min(text_bytes / 2 + 1, kPieceCharactersMax + kWordLengthMax)));
  }

  void Run(std::string_view text) {
    size_t i = 0;
    while (i < text.size()) {
      const auto c = static_cast<uint8_t>(text[i]);
      if (c < 0x80) {
        ++i;
        if (kAscii[c] == 0) {
          EndWord();
          continue;
        }
        word_[word_bytes_++] = kAscii[c];
      } else {
        const Character character = ReadBeyondAscii(text, i);
        i += character.bytes;
        if (!character.is_letter) {
          EndWord();
          continue;
        }
        std::copy_n(character.folded, character.bytes, word_ + word_bytes_);
        word_bytes_ += character.bytes;
      }
      if (++word_characters_ == kWordLengthMax) EndWord();
    }
    EndWord();
    EndPiece();
    Normalise();
  }

 private:
  void EndWord() {
    if (word_bytes_ == 0) return;
    const uint64_t hash = XXH3_64bits_withSeed(word_, word_bytes_, kWordSeed);
    size_t i = hash & (words_.size() - 1);
    while (words_[i].count != 0 && words_[i].hash != hash) i = (i + 1) & (words_.size() - 1);
    if (words_[i].count == 0) {
      words_[i] = {hash, 0, static_cast<uint32_t>(bytes_.size()),
                   static_cast<uint16_t>(word_bytes_), static_cast<uint16_t>(word_characters_)};
      bytes_.insert(bytes_.end(), word_, word_ + word_bytes_);
      piece_characters_ += word_characters_;
    }
    ++words_[i].count;
    word_bytes_ = 0;
    word_characters_ = 0;
    if (piece_characters_ >= kPieceCharactersMax) EndPiece();
  }

  // Turns the counts of the piece into weights, and begins a new one.
  void EndPiece() {
    // A word of n characters is n + 2 with its marks, and has at most as many n-grams of each
    // length.
    grams_.Reset(3 * piece_characters_);
    for (CountedWord& word : words_) {
      if (word.count == 0) continue;
      AddFeature(word.hash, kWordWeight * WeightOf(word.count));
      AddGrams(word);
      word.count = 0;
    }
    grams_.ForEach([this](uint64_t hash, uint32_t count) { AddFeature(hash, WeightOf(count)); });
    bytes_.clear();
    piece_characters_ = 0;
  }

  void AddGrams(const CountedWord& word) {
    char padded[4 * kWordLengthMax + 2];
    uint16_t starts[kWordLengthMax + 3];  // of each character, and the end
    const size_t length = word.characters + size_t{2};
    padded[0] = '<';
    starts[0] = 0;
    size_t at = 1;
    for (size_t i = 1; i + 1 < length; ++i) {
      const std::string_view rest(bytes_.data() + word.begin + at - 1, word.bytes - (at - 1));
      starts[i] = static_cast<uint16_t>(at);
      const size_t bytes = static_cast<uint8_t>(rest[0]) < 0x80 ? 1 : SequenceBytes(rest, 0);
      std::copy_n(rest.begin(), bytes, padded + at);
      at += bytes;
    }
    starts[length - 1] = static_cast<uint16_t>(at);
    padded[at] = '>';
    starts[length] = static_cast<uint16_t>(at + 1);
    for (size_t n = kGramLeast; n <= std::min(kGramMost, length); ++n) {
      for (size_t i = 0; i + n <= length; ++i) {
        const size_t bytes = static_cast<size_t>(starts[i + n] - starts[i]);
        grams_.Add(XXH3_64bits_withSeed(padded + starts[i], bytes, kWordSeed + n), word.count);
      }
    }
  }

  // The upper half of the hash chooses the place, the lowest bit the sign.
  void AddFeature(uint64_t hash, int64_t weight) {
    const size_t place = (hash >> 32) * sums_.size() >> 32;
    sums_[place] += (hash & 1) != 0 ? weight : -weight;
  }

  void Normalise() {
    double squares = 0;
    for (const int64_t sum : sums_) squares += static_cast<double>(sum) * static_cast<double>(sum);
    const double norm = std::sqrt(squares);
    for (size_t i = 0; i < sums_.size(); ++i) {
      out_[i] = norm == 0 ? 0.0f : static_cast<float>(static_cast<double>(sums_[i]) / norm);
    }
  }

  std::span<float> out_;
  std::vector<int64_t> sums_;
  std::vector<CountedWord> words_;
  std::vector<char> bytes_;  // the distinct words of the piece, one after another
  GramTable grams_;
  size_t piece_characters_ = 0;
  char word_[4 * kWordLengthMax];
  size_t word_bytes_ = 0;
  size_t word_characters_ = 0;
};

}  // namespace

void EmbedLexical(std::string_view text, std::span<float> out) {
  Embedder(text.size(), out).Run(text);
}

}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// Encoding posting lists, and setting or toggling the bits of their rows.

#include "engine/inverted/posting_list.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

namespace pigment {
namespace {

constexpr uint32_t kRunBits = 16;
constexpr uint32_t kRunRows = 1u << kRunBits;
constexpr uint32_t kRunWords = kRunRows / 64;

enum class Form : uint8_t { kArray = 1, kBits = 2, kIntervals = 3, kPacked = 4 };

// How `count` rows of a run of `rows` are packed.
struct Packing {
  Packing(size_t count, uint32_t rows)
      : low_bits(rows > count ? static_cast<uint32_t>(std::bit_width(rows / count)) - 1 : 0),
        high_bytes((count + (rows >> low_bits) + 7) / 8),
        bytes(high_bytes + (count * low_bits + 7) / 8) {}

  uint32_t low_bits;
  size_t high_bytes;
  size_t bytes;
};

// `rows`: of the run.
size_t ItemsBytes(Form form, size_t count, uint32_t rows) {
  switch (form) {
    case Form::kArray:
      return count * 2;
    case Form::kBits:
      return count * 8;
    case Form::kIntervals:
      return count * 4;
    case Form::kPacked:
      return Packing(count, rows).bytes;
  }
  return 0;
}

void AppendPacked(std::span<const uint32_t> rows, const Packing& packing, std::string& out) {
  const size_t begin = out.size();
  out.resize(begin + packing.bytes);
  const auto set = [&out](size_t byte, uint64_t bit) {
    char& held = out[byte + bit / 8];
    held = static_cast<char>(held | 1 << (bit % 8));
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    const uint32_t row = rows[i] % kRunRows;
    set(begin, (row >> packing.low_bits) + i);
    for (uint32_t bit = 0; bit < packing.low_bits; ++bit)
      if ((row >> bit & 1) != 0) set(begin + packing.high_bytes, i * packing.low_bits + bit);
  }
}

// Of the rows of one run of `run_rows`; 0: they are not to be packed.
void AppendRun(std::span<const uint32_t> rows, uint32_t run_rows, std::string& out) {
  const auto low = [&](size_t i) { return static_cast<uint16_t>(rows[i] % kRunRows); };
  size_t intervals = 1;
  for (size_t i = 1; i < rows.size(); ++i) intervals += rows[i] != rows[i - 1] + 1;
  const size_t words = low(rows.size() - 1) / 64u + 1;

  Form form = Form::kArray;
  size_t items = rows.size();
  for (const auto& [other, count] :
       {std::pair(Form::kBits, words), {Form::kIntervals, intervals}, {Form::kPacked, items}}) {
    if (other == Form::kPacked && run_rows == 0) continue;
    if (ItemsBytes(other, count, run_rows) >= ItemsBytes(form, items, run_rows)) continue;
    form = other;
    items = count;
  }
  ByteWriter writer(&out);
  writer.Put(static_cast<uint16_t>(rows.front() >> kRunBits));
  writer.Put(static_cast<uint8_t>(form));
  writer.Put(static_cast<uint16_t>(items - 1));
  switch (form) {
    case Form::kArray:
      for (size_t i = 0; i < rows.size(); ++i) writer.Put(low(i));
      return;
    case Form::kBits: {
      std::vector<uint64_t> bits(words);
      for (size_t i = 0; i < rows.size(); ++i) bits[low(i) / 64] |= uint64_t{1} << (low(i) % 64);
      for (const uint64_t word : bits) writer.Put(word);
      return;
    }
    case Form::kIntervals:
      for (size_t i = 0; i < rows.size(); ++i) {
        if (i == 0 || rows[i] != rows[i - 1] + 1) writer.Put(low(i));
        if (i + 1 == rows.size() || rows[i + 1] != rows[i] + 1) writer.Put(low(i));
      }
      return;
    case Form::kPacked:
      AppendPacked(rows, Packing(rows.size(), run_rows), out);
      return;
  }
}

// What is done with the bits of a list's rows in one word.
struct Unite {
  void Apply(uint64_t& word, uint64_t bits) { word |= bits; }
};
struct Toggle {
  void Apply(uint64_t& word, uint64_t bits) { word ^= bits; }
};
struct Count {
  void Apply(uint64_t word, uint64_t bits) {
    met += static_cast<uint64_t>(std::popcount(word & bits));
  }
  uint64_t met = 0;
};
// A word tells by its place which rows its bits are.
struct Collect {
  void Apply(const uint64_t& word, uint64_t bits) {
    const auto first = static_cast<uint32_t>(&word - begin) * 64;
    for (; bits != 0; bits &= bits - 1)
      rows.push_back(first + static_cast<uint32_t>(std::countr_zero(bits)));
  }
  const uint64_t* begin;
  std::vector<uint32_t>& rows;
};

template <typename Use, typename Word>
void ApplyInterval(Use& use, std::span<Word> words, uint32_t first, uint32_t last) {
  const uint32_t first_word = first / 64, last_word = last / 64;
  const uint64_t from = ~uint64_t{0} << (first % 64);
  const uint64_t to = ~uint64_t{0} >> (63 - last % 64);
  if (first_word == last_word) return use.Apply(words[first_word], from & to);
  use.Apply(words[first_word], from);
  for (uint32_t i = first_word + 1; i < last_word; ++i) use.Apply(words[i], ~uint64_t{0});
  use.Apply(words[last_word], to);
}

// Eight bytes from `at` on, zeros beyond the end.
uint64_t LoadUpTo8(std::span<const std::byte> bytes, size_t at) {
  if (at + sizeof(uint64_t) <= bytes.size()) [[likely]]
    return LoadLittle<uint64_t>(bytes.data() + at);
  uint64_t value = 0;
  if (at < bytes.size()) std::memcpy(&value, bytes.data() + at, bytes.size() - at);
  return value;
}

template <typename Use, typename Word>
bool ApplyPacked(Use& use, size_t count, std::span<const std::byte> items, std::span<Word> words,
                 uint32_t rows) {
  const Packing packing(count, rows);
  const std::span<const std::byte> highs = items.first(packing.high_bytes);
  const std::span<const std::byte> lows = items.subspan(packing.high_bytes);
  const uint64_t mask = (uint64_t{1} << packing.low_bits) - 1;
  size_t i = 0;
  for (size_t at = 0; at < highs.size(); at += sizeof(uint64_t)) {
    for (uint64_t bits = LoadUpTo8(highs, at); bits != 0; bits &= bits - 1, ++i) {
      if (i == count) return false;
      const size_t high = at * 8 + static_cast<size_t>(std::countr_zero(bits)) - i;
      const size_t bit = i * packing.low_bits;
      const uint64_t row =
          uint64_t{high} << packing.low_bits | (LoadUpTo8(lows, bit / 8) >> (bit % 8) & mask);
      if (row >= rows) return false;
      use.Apply(words[row / 64], uint64_t{1} << (row % 64));
    }
  }
  return i == count;
}

// Bits of the rows of one run, of which there are `rows`.
template <typename Use, typename Word>
bool ApplyItems(Use& use, Form form, size_t count, std::span<const std::byte> items,
                std::span<Word> words, uint32_t rows) {
  const std::byte* const bytes = items.data();
  switch (form) {
    case Form::kArray:
      for (size_t at = 0; at < items.size(); at += 2) {
        const uint32_t row = LoadLittle<uint16_t>(bytes + at);
        if (row >= rows) return false;
        use.Apply(words[row / 64], uint64_t{1} << (row % 64));
      }
      return true;
    case Form::kBits: {
      if (count > words.size()) return false;
      for (size_t i = 0; i < count; ++i) use.Apply(words[i], LoadLittle<uint64_t>(bytes + i * 8));
      const uint32_t last = static_cast<uint32_t>(count - 1) * 64;
      return rows - last >= 64 ||
             LoadLittle<uint64_t>(bytes + (count - 1) * 8) >> (rows - last) == 0;
    }
    case Form::kIntervals:
      for (size_t at = 0; at < items.size(); at += 4) {
        const uint32_t first = LoadLittle<uint16_t>(bytes + at);
        const uint32_t last = LoadLittle<uint16_t>(bytes + at + 2);
        if (first > last || last >= rows) return false;
        ApplyInterval(use, words, first, last);
      }
      return true;
    case Form::kPacked:
      return ApplyPacked(use, count, items, words, rows);
  }
  return false;
}

template <typename Use, typename Word>
bool ApplyFew(Use& use, ByteReader& reader, uint64_t count, std::span<Word> words, uint32_t rows) {
  uint64_t row = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t gap = reader.GetVarint();
    if (gap >= rows) return false;
    row = i == 0 ? gap : row + gap + 1;
    if (row >= rows) return false;
    use.Apply(words[row / 64], uint64_t{1} << (row % 64));
  }
  return reader.ok();
}

template <typename Use, typename Word>
bool ApplyChunked(Use& use, ByteReader reader, std::span<Word> words, uint32_t rows) {
  while (reader.ok() && !reader.at_end()) {
    const uint32_t first = uint32_t{reader.Get<uint16_t>()} << kRunBits;
    const auto form = static_cast<Form>(reader.Get<uint8_t>());
    const size_t count = size_t{reader.Get<uint16_t>()} + 1;
    if (first >= rows) return false;
    const uint32_t run_rows = std::min(rows - first, kRunRows);
    const std::span<const std::byte> items = reader.GetBytes(ItemsBytes(form, count, run_rows));
    if (items.empty()) return false;
    const std::span<Word> of_run = words.subspan(first / 64);
    if (!ApplyItems(use, form, count, items,
                    of_run.first(std::min<size_t>(of_run.size(), kRunWords)), run_rows))
      return false;
  }
  return reader.ok();
}

struct Shape {
  uint64_t rows;
  bool is_chunked;
};
Shape ReadShape(ByteReader& reader) {
  const uint64_t head = reader.GetVarint();
  if ((head & 1) == 0 && head >> 1 > kFewRows) reader.Fail();
  return {head >> 1, (head & 1) != 0};
}

template <typename Use, typename Word>
bool ApplyList(Use& use, std::span<const std::byte> list, std::span<Word> words, uint32_t rows) {
  ByteReader reader(list);
  const Shape shape = ReadShape(reader);
  if (!shape.is_chunked) return ApplyFew(use, reader, shape.rows, words, rows);
  reader.GetVarint();
  return reader.ok() && ApplyChunked(use, reader, words, rows);
}

}  // namespace

void AppendPostings(std::span<const uint32_t> rows, std::string& out, uint32_t packed_of) {
  ByteWriter writer(&out);
  const bool is_chunked = rows.size() > kFewRows;
  writer.PutVarint(uint64_t{rows.size()} << 1 | is_chunked);
  if (!is_chunked) {
    writer.PutVarint(rows[0]);
    for (size_t i = 1; i < rows.size(); ++i) writer.PutVarint(rows[i] - rows[i - 1] - 1);
    return;
  }
  std::string runs;
  for (size_t first = 0, end = 0; first < rows.size(); first = end) {
    while (end < rows.size() && rows[end] >> kRunBits == rows[first] >> kRunBits) ++end;
    const uint32_t begin = rows[first] >> kRunBits << kRunBits;
    AppendRun(rows.subspan(first, end - first),
              packed_of != 0 ? std::min(packed_of - begin, kRunRows) : 0, runs);
  }
  writer.PutVarint(runs.size());
  out += runs;
}

bool ReadPostingsHead(std::span<const std::byte> begin, PostingsHead* head) {
  ByteReader reader(begin);
  const Shape shape = ReadShape(reader);
  uint64_t more = 0;
  if (shape.is_chunked) {
    more = reader.GetVarint();
  } else {
    for (uint64_t i = 0; i < shape.rows && reader.ok(); ++i) reader.GetVarint();
  }
  *head = {shape.rows, reader.position() + more};
  return reader.ok() && head->bytes >= more;
}

bool ApplyPostings(std::span<const std::byte> list, PostingsUse use, std::span<uint64_t> words,
                   uint32_t rows) {
  Unite unite;
  Toggle toggle;
  return use == PostingsUse::kUnite ? ApplyList(unite, list, words, rows)
                                    : ApplyList(toggle, list, words, rows);
}

bool CountPostings(std::span<const std::byte> list, std::span<const uint64_t> words, uint32_t rows,
                   uint64_t* count) {
  Count met;
  if (!ApplyList(met, list, words, rows)) return false;
  *count = met.met;
  return true;
}

bool ReadPostings(std::span<const std::byte> list, std::span<const uint64_t> room, uint32_t rows,
                  std::vector<uint32_t>& out) {
  Collect collect{room.data(), out};
  return ApplyList(collect, list, room, rows);
}

}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// Encoding posting lists, and setting or toggling the bits of their rows.

#include "engine/inverted/posting_list.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace pigment {
namespace {

constexpr uint32_t kRunBits = 16;
constexpr uint32_t kRunRows = 1u << kRunBits;
constexpr uint32_t kRunWords = kRunRows / 64;

enum class Form : uint8_t { kArray = 1, kBits = 2, kIntervals = 3 };

constexpr size_t ItemBytes(Form form) {
  switch (form) {
    case Form::kArray:
      return 2;
    case Form::kBits:
      return 8;
    case Form::kIntervals:
      return 4;
  }
  return 0;
}

// Of the rows of one run.
void AppendRun(std::span<const uint32_t> rows, std::string& out) {
  const auto low = [&](size_t i) { return static_cast<uint16_t>(rows[i] % kRunRows); };
  size_t intervals = 1;
  for (size_t i = 1; i < rows.size(); ++i) intervals += rows[i] != rows[i - 1] + 1;
  const size_t words = low(rows.size() - 1) / 64u + 1;

  Form form = Form::kArray;
  size_t items = rows.size();
  for (const auto& [other, count] :
       {std::pair(Form::kBits, words), {Form::kIntervals, intervals}}) {
    if (count * ItemBytes(other) >= items * ItemBytes(form)) continue;
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
  }
}

struct Unite {
  static void Apply(uint64_t& word, uint64_t bits) { word |= bits; }
};
struct Toggle {
  static void Apply(uint64_t& word, uint64_t bits) { word ^= bits; }
};

template <typename Use>
void ApplyInterval(std::span<uint64_t> words, uint32_t first, uint32_t last) {
  const uint32_t first_word = first / 64, last_word = last / 64;
  const uint64_t from = ~uint64_t{0} << (first % 64);
  const uint64_t to = ~uint64_t{0} >> (63 - last % 64);
  if (first_word == last_word) return Use::Apply(words[first_word], from & to);
  Use::Apply(words[first_word], from);
  for (uint32_t i = first_word + 1; i < last_word; ++i) Use::Apply(words[i], ~uint64_t{0});
  Use::Apply(words[last_word], to);
}

// Bits of the rows of one run, of which there are `rows`.
template <typename Use>
bool ApplyItems(Form form, std::span<const std::byte> items, std::span<uint64_t> words,
                uint32_t rows) {
  const std::byte* const bytes = items.data();
  switch (form) {
    case Form::kArray:
      for (size_t at = 0; at < items.size(); at += 2) {
        const uint32_t row = LoadLittle<uint16_t>(bytes + at);
        if (row >= rows) return false;
        Use::Apply(words[row / 64], uint64_t{1} << (row % 64));
      }
      return true;
    case Form::kBits: {
      const size_t count = items.size() / 8;
      if (count > words.size()) return false;
      for (size_t i = 0; i < count; ++i) Use::Apply(words[i], LoadLittle<uint64_t>(bytes + i * 8));
      const uint32_t last = static_cast<uint32_t>(count - 1) * 64;
      return rows - last >= 64 ||
             LoadLittle<uint64_t>(bytes + (count - 1) * 8) >> (rows - last) == 0;
    }
    case Form::kIntervals:
      for (size_t at = 0; at < items.size(); at += 4) {
        const uint32_t first = LoadLittle<uint16_t>(bytes + at);
        const uint32_t last = LoadLittle<uint16_t>(bytes + at + 2);
        if (first > last || last >= rows) return false;
        ApplyInterval<Use>(words, first, last);
      }
      return true;
  }
  return false;
}

template <typename Use>
bool ApplyFew(ByteReader& reader, uint64_t count, std::span<uint64_t> words, uint32_t rows) {
  uint64_t row = 0;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t gap = reader.GetVarint();
    if (gap >= rows) return false;
    row = i == 0 ? gap : row + gap + 1;
    if (row >= rows) return false;
    Use::Apply(words[row / 64], uint64_t{1} << (row % 64));
  }
  return reader.ok();
}

template <typename Use>
bool ApplyChunked(ByteReader reader, std::span<uint64_t> words, uint32_t rows) {
  while (reader.ok() && !reader.at_end()) {
    const uint32_t first = uint32_t{reader.Get<uint16_t>()} << kRunBits;
    const auto form = static_cast<Form>(reader.Get<uint8_t>());
    const size_t count = size_t{reader.Get<uint16_t>()} + 1;
    const std::span<const std::byte> items = reader.GetBytes(count * ItemBytes(form));
    if (items.empty() || first >= rows) return false;
    const std::span<uint64_t> of_run = words.subspan(first / 64);
    if (!ApplyItems<Use>(form, items, of_run.first(std::min<size_t>(of_run.size(), kRunWords)),
                         std::min(rows - first, kRunRows)))
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

}  // namespace

void AppendPostings(std::span<const uint32_t> rows, std::string& out) {
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
    AppendRun(rows.subspan(first, end - first), runs);
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
  ByteReader reader(list);
  const Shape shape = ReadShape(reader);
  const bool unites = use == PostingsUse::kUnite;
  if (!shape.is_chunked) {
    return unites ? ApplyFew<Unite>(reader, shape.rows, words, rows)
                  : ApplyFew<Toggle>(reader, shape.rows, words, rows);
  }
  reader.GetVarint();
  if (!reader.ok()) return false;
  return unites ? ApplyChunked<Unite>(reader, words, rows)
                : ApplyChunked<Toggle>(reader, words, rows);
}

}  // namespace pigment

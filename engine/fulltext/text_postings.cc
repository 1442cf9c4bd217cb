// SPDX-License-Identifier: Apache-2.0
//
// Encoding and decoding of posting lists.

#include "engine/fulltext/text_postings.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "engine/base/bytes.h"
#include "engine/fulltext/packed_numbers.h"

namespace pigment {
namespace {

constexpr uint16_t kMost = std::numeric_limits<uint16_t>::max();
constexpr uint64_t kFrequencyMax = uint64_t{1} << 31;
constexpr uint32_t kFrequencyBitsMax = 31;
constexpr size_t kPackedBytesMax = kPostingsPerBlock * sizeof(uint32_t);

void AppendShort(const PostingsToEncode& list, ByteWriter& writer) {
  int64_t before = -1;
  for (size_t i = 0; i < list.rows.size(); ++i) {
    const auto gap = static_cast<uint64_t>(list.rows[i] - before - 1);
    writer.PutVarint(gap << 1 | (list.frequencies[i] > 1 ? 1 : 0));
    if (list.frequencies[i] > 1) writer.PutVarint(list.frequencies[i] - 2);
    before = list.rows[i];
  }
}

void AppendBlock(std::span<const uint32_t> rows, std::span<const uint32_t> frequencies,
                 int64_t before, std::string& out) {
  std::array<uint32_t, kPostingsPerBlock> gaps;
  std::array<uint32_t, kPostingsPerBlock> less;
  for (size_t i = 0; i < rows.size(); ++i) {
    gaps[i] = static_cast<uint32_t>(rows[i] - before - 1);
    less[i] = frequencies[i] - 1;
    before = rows[i];
  }
  const auto of_rows = std::span<const uint32_t>(gaps).first(rows.size());
  const auto of_frequencies = std::span<const uint32_t>(less).first(rows.size());
  const uint8_t row_bits = PackedBitsFor(of_rows);
  const uint8_t frequency_bits = PackedBitsFor(of_frequencies);
  out += static_cast<char>(row_bits);
  out += static_cast<char>(frequency_bits);
  AppendPacked(of_rows, row_bits, out);
  AppendPacked(of_frequencies, frequency_bits, out);
}

void AppendPositions(std::span<const uint32_t> positions, ByteWriter& writer) {
  int64_t before = -1;
  for (const uint32_t position : positions) {
    writer.PutVarint(static_cast<uint64_t>(position - before - 1));
    before = position;
  }
}

}  // namespace

void Impacts::Add(uint32_t frequency, uint32_t length) {
  const auto shown = [](uint32_t number) {
    return static_cast<uint16_t>(std::min<uint32_t>(number, kMost));
  };
  uint16_t& least = shortest[std::min(frequency, kMany) - 1];
  least = least == 0 ? shown(length) : std::min(least, shown(length));
  if (frequency >= kMany) frequency_max = std::max(frequency_max, shown(frequency));
}

EncodedSize AppendTextPostings(const PostingsToEncode& list, std::string& out) {
  const size_t begin = out.size();
  const size_t rows = list.rows.size();
  ByteWriter writer(&out);
  std::vector<PostingEntry> entries;
  std::string positions;
  ByteWriter position_writer(&positions);
  size_t position = 0;
  const auto append_positions = [&](size_t first, size_t end) {
    for (size_t i = first; i < end; ++i) {
      AppendPositions(list.positions.subspan(position, list.frequencies[i]), position_writer);
      position += list.frequencies[i];
    }
  };
  if (rows < kPostingsPerBlock) {
    AppendShort(list, writer);
    append_positions(0, rows);
  } else {
    std::string blocks;
    int64_t before = -1;
    for (size_t first = 0; first < rows; first += kPostingsPerBlock) {
      const size_t count = std::min<size_t>(kPostingsPerBlock, rows - first);
      AppendBlock(list.rows.subspan(first, count), list.frequencies.subspan(first, count), before,
                  blocks);
      append_positions(first, first + count);
      PostingEntry entry{.last_row = list.rows[first + count - 1],
                         .postings_end = static_cast<uint32_t>(blocks.size()),
                         .positions_end = static_cast<uint32_t>(positions.size()),
                         .impacts = {}};
      for (size_t i = first; i < first + count; ++i)
        entry.impacts.Add(list.frequencies[i], list.lengths[list.rows[i]]);
      entries.push_back(entry);
      before = entry.last_row;
    }
    writer.PutBytes(std::as_bytes(std::span(entries)));
    out += blocks;
  }
  const uint64_t postings_bytes = out.size() - begin;
  out += positions;
  return {postings_bytes, positions.size()};
}

bool DecodeShortPostings(std::span<const std::byte> bytes, uint32_t count, uint32_t rows,
                         std::vector<uint32_t>& out_rows, std::vector<uint32_t>& frequencies) {
  ByteReader reader(bytes);
  uint64_t next = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t head = reader.GetVarint();
    const uint64_t more = (head & 1) != 0 ? reader.GetVarint() + 1 : 0;
    if (!reader.ok() || head >> 1 >= rows || next + (head >> 1) >= rows || more >= kFrequencyMax)
      return false;
    next += head >> 1;
    out_rows.push_back(static_cast<uint32_t>(next++));
    frequencies.push_back(static_cast<uint32_t>(more + 1));
  }
  return reader.at_end();
}

bool DecodePostingBlock(std::span<const std::byte> bytes, int64_t before, uint32_t last_row,
                        std::span<uint32_t> out_rows, std::span<uint32_t> frequencies) {
  const size_t count = out_rows.size();
  if (bytes.size() < 2) return false;
  const auto row_bits = static_cast<uint32_t>(bytes[0]);
  const auto frequency_bits = static_cast<uint32_t>(bytes[1]);
  const size_t row_bytes = PackedBytes(count, row_bits);
  const size_t frequency_bytes = PackedBytes(count, frequency_bits);
  if (row_bits > kPackedBitsMax || frequency_bits > kFrequencyBitsMax ||
      bytes.size() != 2 + row_bytes + frequency_bytes)
    return false;
  std::array<std::byte, 2 * kPackedBytesMax + kPackedReadAhead> copy;
  std::memcpy(copy.data(), bytes.data() + 2, row_bytes + frequency_bytes);
  std::memset(copy.data() + row_bytes + frequency_bytes, 0, kPackedReadAhead);
  UnpackNumbers(copy.data() + row_bytes, frequency_bits, frequencies);
  // Damaged gaps may sum up to more than 32 bits.
  return UnpackSums(copy.data(), row_bits, before, out_rows) == int64_t{last_row};
}

bool DecodePositions(std::span<const std::byte> bytes, std::span<const uint32_t> frequencies,
                     std::vector<uint32_t>& positions, std::vector<uint32_t>& ends) {
  constexpr uint64_t kPositionMax = std::numeric_limits<uint32_t>::max();
  ByteReader reader(bytes);
  positions.clear();
  ends.clear();
  for (const uint32_t frequency : frequencies) {
    if (frequency > reader.remaining()) return false;
    uint64_t next = 0;
    for (uint32_t i = 0; i < frequency; ++i) {
      const uint64_t gap = reader.GetVarint();
      if (!reader.ok() || gap > kPositionMax || next + gap > kPositionMax) return false;
      next += gap;
      positions.push_back(static_cast<uint32_t>(next++));
    }
    ends.push_back(static_cast<uint32_t>(positions.size()));
  }
  return reader.at_end();
}

}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// Grams of documents.

#include "engine/inverted/gram.h"

#include <algorithm>

#include "engine/base/substring.h"

namespace pigment {
namespace {

// By measurement (README.md).
constexpr uint64_t kCellBytesMax = 512;

}  // namespace

std::vector<std::string> GramsOf(std::string_view text) {
  const std::string folded = FoldAscii(text);
  std::vector<std::string> grams;
  for (size_t i = 0; i + kGramBytes <= folded.size(); ++i)
    grams.push_back(folded.substr(i, kGramBytes));
  std::sort(grams.begin(), grams.end());
  grams.erase(std::unique(grams.begin(), grams.end()), grams.end());
  return grams;
}

size_t WriteGrams(std::string_view text, uint32_t* room) {
  uint32_t gram = 0;
  const size_t size = text.size();
  for (size_t i = 0; i < size + kGramBytes - 1; ++i) {
    gram = (gram << 8 | (i < size ? static_cast<uint8_t>(FoldAscii(text[i])) : 0)) & 0xFFFFFF;
    if (i + 1 >= kGramBytes) room[i + 1 - kGramBytes] = gram;
  }
  std::sort(room, room + size);
  const size_t count = static_cast<size_t>(std::unique(room, room + size) - room);
  auto* const out = reinterpret_cast<uint8_t*>(room);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t packed = room[i];
    for (size_t byte = 0; byte < kGramBytes; ++byte)
      out[i * kGramBytes + byte] = static_cast<uint8_t>(packed >> (8 * (kGramBytes - 1 - byte)));
  }
  return count * kGramBytes;
}

uint32_t CellShiftOf(uint64_t document_bytes, uint32_t rows) {
  uint32_t shift = 0;
  while (shift < kRowsShiftMax && document_bytes << (shift + 1) <= kCellBytesMax * rows) ++shift;
  return shift;
}

Status GramGroupBuilder::Add(std::string_view document) {
  uint32_t gram = 0;
  for (size_t i = 0; i < document.size(); ++i) {
    gram = (gram << 8 | static_cast<uint8_t>(FoldAscii(document[i]))) & 0xFFFFFF;
    if (i + 1 >= kGramBytes) PIGMENT_RETURN_IF_ERROR(lists_.Add(PackGram(gram, kGramBytes), rows_));
  }
  const auto left = static_cast<uint32_t>(std::min(document.size(), kGramBytes - 1));
  for (uint32_t count = left; count > 0; --count)
    PIGMENT_RETURN_IF_ERROR(lists_.Add(PackGram(gram & ((1u << 8 * count) - 1), count), rows_));
  document_bytes_ += document.size();
  ++rows_;
  return Status::Ok();
}

RowGroupIndex GramGroupBuilder::Finish() {
  RowGroupIndex out;
  out.rows = rows_;
  if (lists_.empty()) return out;
  const uint32_t shift = CellShiftOf(document_bytes_, rows_);
  const uint32_t count = (rows_ + (1u << shift) - 1) >> shift;
  lists_.WriteTo("", {.rows_shift = shift, .count = count}, out);
  return out;
}

}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// Keys of a host's row: what its filter columns hold, each value as bytes whose order (memcmp, the
// shorter first) is that of the values, and the elements of lists. The engine looks into no value.
// Pure functions; any thread.
//
// Stored as metadata is (engine/record/metadata.h), so that one reader and one inverted index serve
// both. A column is a number below 65,536; of column c, big endian in two bytes:
//   key c        a text: the value's bytes; of a list no bytes, which tells it from NULL
//   key c '['    a list of texts: the elements, ascending, each once; absent where there are none
//   key c '#'    grams of a text (term.h), ascending, each once; absent where there are none
// A column that is NULL has none of them. A row of NULLs has no bytes at all.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "engine/base/bytes.h"
#include "engine/base/status.h"
#include "engine/inverted/term.h"

namespace pigment {

inline constexpr uint32_t kHostColumnsMax = 65536;

// Types of values in stored metadata.
inline constexpr uint8_t kStoredText = 1;
inline constexpr uint8_t kStoredTexts = 5;

struct HostKey {
  enum class Kind { kValue, kElement, kGrams };
  uint32_t column;
  Kind kind;
  std::string_view bytes;  // of grams: three each, one after the other
};

// The keys of one row by column, a value before grams and these before elements, elements and grams
// ascending and each once; as whoever has them keeps them, so that nothing is copied.
struct HostKeyList {
  size_t count;
  const void* keys;
  HostKey (*at)(const void* keys, size_t i);
};
// What their stored form takes, and the form itself into so many bytes. Nothing is allocated.
size_t HostKeysBytes(const HostKeyList& keys);
void EncodeHostKeys(const HostKeyList& keys, std::byte* out);

// The key in the inverted index of a column's values, of the elements of its lists or of its grams.
std::string HostFieldKey(uint32_t column, HostKey::Kind kind);
FieldType HostFieldType(HostKey::Kind kind);

// The column that such a key of the index is of. False: of none.
bool ReadHostFieldKey(std::string_view field, FieldType type, HostKey* key);

// Calls `visit` for each key of a stored row, for a column's grams once. Bytes that are no keys:
// kDataLoss.
Status VisitHostKeys(std::span<const std::byte> keys,
                     const std::function<void(const HostKey& key)>& visit);

// Calls `visit(bytes)` for each element of one column, and says whether the column is not NULL;
// others are passed by. Bytes that are no keys: kDataLoss.
template <typename Visit>
Status VisitHostElements(std::span<const std::byte> keys, uint32_t column, bool* is_present,
                         const Visit& visit) {
  const std::string value = HostFieldKey(column, HostKey::Kind::kValue);
  const std::string list = HostFieldKey(column, HostKey::Kind::kElement);
  *is_present = false;
  if (keys.empty()) return Status::Ok();
  ByteReader reader(keys);
  for (auto entries = reader.Get<uint32_t>(); entries > 0 && reader.ok(); --entries) {
    const std::string_view field = reader.GetText();
    const bool is_list = reader.Get<uint8_t>() == kStoredTexts;
    *is_present = *is_present || field == value;
    for (uint32_t texts = is_list ? reader.Get<uint32_t>() : 1; texts > 0 && reader.ok(); --texts) {
      const std::string_view text = reader.GetText();
      if (reader.ok() && is_list && field == list) visit(text);
    }
  }
  if (reader.ok() && reader.remaining() == 0) return Status::Ok();
  return DataLoss(Detail::kMiscounted, "", -1, "a row's keys are no keys");
}

// A number of a row's keys, whatever their order: the sum of those of each, and of each gram.
uint64_t HostKeyFingerprint(const HostKey& key);
// A number of a row's vector, by the bytes of its floats; 0: it has none.
uint64_t HostVectorFingerprint(std::span<const std::byte> floats);

}  // namespace pigment

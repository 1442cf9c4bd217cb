// SPDX-License-Identifier: Apache-2.0
//
// Keys of rows as stored metadata.

#include "engine/segment/host_keys.h"

#include <algorithm>
#include <cstring>

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"

namespace pigment {
namespace {

constexpr size_t kColumnBytes = 2;

uint8_t StoredTypeOf(HostKey::Kind kind) {
  switch (kind) {
    case HostKey::Kind::kValue:
      return kStoredText;
    case HostKey::Kind::kElement:
      return kStoredTexts;
    case HostKey::Kind::kGrams:
      return kStoredGrams;
  }
  return 0;
}

// Of the entry that key `first` begins: a value, or all elements of a column.
size_t EndOfEntry(const HostKeyList& keys, size_t first) {
  const HostKey begin = keys.at(keys.keys, first);
  size_t end = first + 1;
  if (begin.kind != HostKey::Kind::kElement) return end;
  for (; end < keys.count; ++end) {
    const HostKey key = keys.at(keys.keys, end);
    if (key.kind != begin.kind || key.column != begin.column) break;
  }
  return end;
}

class KeyWriter {
 public:
  explicit KeyWriter(std::byte* out) : out_(out) {}

  template <typename T>
  void Put(T value) {
    if (out_ != nullptr) StoreLittle(out_ + bytes_, value);
    bytes_ += sizeof value;
  }
  void PutText(std::string_view text) {
    Put(static_cast<uint32_t>(text.size()));
    if (out_ != nullptr && !text.empty()) std::memcpy(out_ + bytes_, text.data(), text.size());
    bytes_ += text.size();
  }
  void PutRow(const HostKeyList& keys);
  size_t bytes() const { return bytes_; }

 private:
  std::byte* const out_;  // null: only counts
  size_t bytes_ = 0;
};

void KeyWriter::PutRow(const HostKeyList& keys) {
  if (keys.count == 0) return;
  uint32_t entries = 0;
  for (size_t i = 0; i < keys.count; i = EndOfEntry(keys, i)) ++entries;
  Put(entries);
  for (size_t i = 0; i < keys.count;) {
    const HostKey first = keys.at(keys.keys, i);
    PutText(HostFieldKey(first.column, first.kind));
    Put(StoredTypeOf(first.kind));
    const size_t end = EndOfEntry(keys, i);
    if (first.kind == HostKey::Kind::kElement) Put(static_cast<uint32_t>(end - i));
    for (; i < end; ++i) PutText(keys.at(keys.keys, i).bytes);
  }
}

}  // namespace

size_t HostKeysBytes(const HostKeyList& keys) {
  KeyWriter writer(nullptr);
  writer.PutRow(keys);
  return writer.bytes();
}

void EncodeHostKeys(const HostKeyList& keys, std::byte* out) { KeyWriter(out).PutRow(keys); }

std::string HostFieldKey(uint32_t column, HostKey::Kind kind) {
  std::string key = {static_cast<char>(column >> 8), static_cast<char>(column)};
  if (kind != HostKey::Kind::kValue) key += kind == HostKey::Kind::kGrams ? '#' : '[';
  return key;
}

FieldType HostFieldType(HostKey::Kind kind) {
  switch (kind) {
    case HostKey::Kind::kValue:
      return FieldType::kText;
    case HostKey::Kind::kElement:
      return FieldType::kTextElement;
    case HostKey::Kind::kGrams:
      return FieldType::kGrams;
  }
  return FieldType::kText;
}

bool ReadHostFieldKey(std::string_view field, FieldType type, HostKey* key) {
  if (field.size() < kColumnBytes) return false;
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(field[i]); };
  key->column = static_cast<uint32_t>(byte(0) << 8 | byte(1));
  for (const HostKey::Kind kind :
       {HostKey::Kind::kValue, HostKey::Kind::kElement, HostKey::Kind::kGrams}) {
    key->kind = kind;
    if (type == HostFieldType(kind)) return field == HostFieldKey(key->column, kind);
  }
  return false;
}

Status VisitHostKeys(std::span<const std::byte> keys,
                     const std::function<void(const HostKey& key)>& visit) {
  if (keys.empty()) return Status::Ok();
  return VisitTerms(keys,
                    [&](std::string_view field, FieldType type, std::string_view term) -> Status {
                      HostKey key{.column = 0, .kind = HostKey::Kind::kValue, .bytes = term};
                      if (!ReadHostFieldKey(field, type, &key))
                        return DataLoss(Detail::kMiscounted, "", -1, "a row's keys are no keys");
                      visit(key);
                      return Status::Ok();
                    });
}

uint64_t HostKeyFingerprint(const HostKey& key) {
  const uint64_t seed = uint64_t{key.column} << 2 | static_cast<uint64_t>(key.kind);
  if (key.kind != HostKey::Kind::kGrams) return Xxh3_64(AsBytes(key.bytes), seed);
  uint64_t sum = 0;
  for (size_t i = 0; i + kGramBytes <= key.bytes.size(); i += kGramBytes)
    sum += Xxh3_64(AsBytes(key.bytes.substr(i, kGramBytes)), seed);
  return sum;
}

uint64_t HostVectorFingerprint(std::span<const std::byte> floats) {
  return floats.empty() ? 0 : std::max<uint64_t>(Xxh3_64(floats), 1);
}

}  // namespace pigment

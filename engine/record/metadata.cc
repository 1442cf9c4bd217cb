// SPDX-License-Identifier: Apache-2.0
//
// Metadata: merging, and the stored form. What is decoded may be damaged: no size is believed
// before that many bytes are seen to be there.

#include "engine/record/metadata.h"

#include <fmt/format.h>

#include <iterator>
#include <type_traits>

#include "engine/record/metadata_path.h"
#include "engine/record/metadata_stored.h"

namespace pigment {
namespace {

// The type byte is the alternative's place in MetadataValue.
static_assert(std::is_same_v<std::variant_alternative_t<0, MetadataValue>, Erased>);
static_assert(std::is_same_v<std::variant_alternative_t<1, MetadataValue>, std::string>);
static_assert(std::is_same_v<std::variant_alternative_t<2, MetadataValue>, int64_t>);
static_assert(std::is_same_v<std::variant_alternative_t<3, MetadataValue>, double>);
static_assert(std::is_same_v<std::variant_alternative_t<4, MetadataValue>, bool>);
static_assert(
    std::is_same_v<std::variant_alternative_t<5, MetadataValue>, std::vector<std::string>>);
static_assert(std::is_same_v<std::variant_alternative_t<8, MetadataValue>, std::vector<bool>>);
static_assert(std::variant_size_v<MetadataValue> == 9);

void Encode(const Erased&, std::string&) {}
void Encode(const std::string& value, std::string& out) {
  ByteWriter(&out).Put(static_cast<uint32_t>(value.size()));
  out += value;
}
void Encode(int64_t value, std::string& out) { ByteWriter(&out).Put(value); }
void Encode(double value, std::string& out) { ByteWriter(&out).Put(value); }
void Encode(bool value, std::string& out) { out += value ? '\1' : '\0'; }
template <typename T>
void Encode(const std::vector<T>& values, std::string& out) {
  ByteWriter(&out).Put(static_cast<uint32_t>(values.size()));
  for (size_t i = 0; i < values.size(); ++i) Encode(static_cast<const T&>(values[i]), out);
}

bool Decode(ByteReader& reader, std::string* value) {
  std::string_view text;
  const bool is_good = ReadStored(reader, &text);
  *value = text;
  return is_good;
}
template <typename T>
bool Decode(ByteReader& reader, T* value) {
  return ReadStored(reader, value);
}

template <typename T>
bool DecodeScalar(ByteReader& reader, MetadataValue* out) {
  T value{};
  if (!Decode(reader, &value)) return false;
  *out = std::move(value);
  return true;
}

template <typename T>
bool DecodeArray(ByteReader& reader, MetadataValue* out) {
  using Stored = std::conditional_t<std::is_same_v<T, std::string>, std::string_view, T>;
  const uint32_t count = reader.GetCount(kStoredBytesMin<Stored>);
  if (count == 0) return false;
  std::vector<T> values;
  values.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    T value{};
    if (!Decode(reader, &value)) return false;
    values.push_back(std::move(value));
  }
  *out = std::move(values);
  return true;
}

bool DecodeValue(ByteReader& reader, uint8_t type, MetadataValue* out) {
  switch (type) {
    case 0:
      *out = Erased{};
      return true;
    case 1:
      return DecodeScalar<std::string>(reader, out);
    case 2:
      return DecodeScalar<int64_t>(reader, out);
    case 3:
      return DecodeScalar<double>(reader, out);
    case 4:
      return DecodeScalar<bool>(reader, out);
    case 5:
      return DecodeArray<std::string>(reader, out);
    case 6:
      return DecodeArray<int64_t>(reader, out);
    case 7:
      return DecodeArray<double>(reader, out);
    case 8:
      return DecodeArray<bool>(reader, out);
  }
  return false;
}

// What cannot be beside a value of this key: what is below it, and the value that one of the
// objects around it was. There is at most one such value, and nothing orders between it and what is
// below.
void EraseAround(Metadata& base, const std::string& key) {
  const std::string below = BeginBelow(key);
  auto first = base.lower_bound(below), last = first;
  while (last != base.end() && last->first.starts_with(below)) ++last;
  base.erase(first, last);
  if (!IsStoredPath(key)) return;
  base.erase(TopKey(key));
  const auto after = base.lower_bound(key);
  if (after == base.begin()) return;
  const auto before = std::prev(after);
  if (IsStoredPath(before->first) && key.starts_with(BeginBelow(before->first))) base.erase(before);
}

}  // namespace

Status DamagedMetadata(const ByteReader& reader, std::string_view what) {
  if (!reader.ok()) {
    return DataLoss(Detail::kTruncated, "", -1,
                    fmt::format("stored metadata ends early, at byte {}", reader.position()));
  }
  return DataLoss(
      Detail::kMiscounted, "", -1,
      fmt::format("stored metadata is damaged: {} before byte {}", what, reader.position()));
}

void MergeMetadata(Metadata& base, const Metadata& update) {
  const bool is_nested = HasPaths(base) || HasPaths(update);
  for (const auto& [key, value] : update) {
    if (is_nested) EraseAround(base, key);
    if (std::holds_alternative<Erased>(value)) {
      base.erase(key);
    } else {
      base.insert_or_assign(key, value);
    }
  }
}

void EncodeMetadata(const Metadata& metadata, std::string& out) {
  ByteWriter(&out).Put(static_cast<uint32_t>(metadata.size()));
  for (const auto& [key, value] : metadata) {
    Encode(key, out);
    out += static_cast<char>(value.index());
    std::visit([&out](const auto& held) { Encode(held, out); }, value);
  }
}

Result<Metadata> DecodeMetadata(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  const uint32_t count = reader.Get<uint32_t>();
  Metadata metadata;
  for (uint32_t i = 0; i < count && reader.ok(); ++i) {
    std::string key;
    if (!Decode(reader, &key)) break;
    const uint8_t type = reader.Get<uint8_t>();
    MetadataValue value;
    if (!reader.ok() || !DecodeValue(reader, type, &value)) return DamagedMetadata(reader, "no such value");
    if (!metadata.empty() && key <= metadata.rbegin()->first)
      return DamagedMetadata(reader, "keys out of order");
    metadata.emplace_hint(metadata.end(), std::move(key), std::move(value));
  }
  if (!reader.ok()) return DamagedMetadata(reader, "");
  if (reader.remaining() != 0) return DamagedMetadata(reader, "bytes are left over");
  return metadata;
}

}  // namespace pigment

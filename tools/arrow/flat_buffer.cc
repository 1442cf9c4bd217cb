// SPDX-License-Identifier: Apache-2.0
//
// A table is a signed offset back to its vtable and its fields; the vtable has its own size, the
// table's, and where each field lies. A vector is its count and its elements, a text a vector of
// bytes and a zero. Offsets of fields go forward.

#include "tools/arrow/flat_buffer.h"

#include <algorithm>

namespace pigment_tool {

uint64_t FlatTable::Field(int slot) const {
  const int64_t vtable = static_cast<int64_t>(at_) - LoadAt<int32_t>(bytes_, at_);
  if (vtable < 0) throw std::out_of_range("vtable");
  const auto begin = static_cast<uint64_t>(vtable);
  const uint64_t entry = 4 + 2 * static_cast<uint64_t>(slot);
  if (entry + 2 > LoadAt<uint16_t>(bytes_, begin)) return 0;
  const uint16_t offset = LoadAt<uint16_t>(bytes_, begin + entry);
  return offset == 0 ? 0 : at_ + offset;
}

std::optional<FlatTable> FlatTable::Table(int slot) const {
  const uint64_t at = Field(slot);
  if (at == 0) return std::nullopt;
  return FlatTable(bytes_, Follow(at));
}

std::string_view FlatTable::Text(int slot) const {
  const Bytes bytes = Structs(slot, 1);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<FlatTable> FlatTable::Tables(int slot) const {
  const Bytes offsets = Structs(slot, 4);
  std::vector<FlatTable> tables;
  for (uint64_t i = 0; i < offsets.size(); i += 4) {
    const auto at = static_cast<uint64_t>(offsets.data() + i - bytes_.data());
    tables.push_back(FlatTable(bytes_, Follow(at)));
  }
  return tables;
}

Bytes FlatTable::Structs(int slot, uint64_t size) const {
  const uint64_t field = Field(slot);
  if (field == 0) return {};
  const uint64_t at = Follow(field);
  const uint64_t length = LoadAt<uint32_t>(bytes_, at) * size;
  if (length > bytes_.size() - at - 4) throw std::out_of_range("vector");
  return bytes_.subspan(at + 4, length);
}

// Fields take 8 bytes each, whatever their size: no thought for order and gaps.
size_t FlatBuilder::AddTable(const std::vector<Field>& fields) {
  int slots = 0;
  for (const Field& field : fields) slots = std::max(slots, field.slot + 1);
  std::vector<uint16_t> where(static_cast<size_t>(slots));
  for (size_t i = 0; i < fields.size(); ++i)
    where[static_cast<size_t>(fields[i].slot)] = static_cast<uint16_t>(8 + 8 * i);
  const size_t vtable_bytes = 4 + 2 * where.size();
  Align(8, vtable_bytes);
  const size_t vtable = bytes_.size();
  Append(static_cast<uint16_t>(vtable_bytes));
  Append(static_cast<uint16_t>(8 + 8 * fields.size()));
  for (const uint16_t offset : where) Append(offset);
  const size_t table = bytes_.size();
  Append(static_cast<int32_t>(table - vtable));
  Append(uint32_t{0});
  for (const Field& field : fields) Append(field.value);
  return table;
}

size_t FlatBuilder::AddText(std::string_view text) {
  Align(4);
  const size_t at = bytes_.size();
  Append(static_cast<uint32_t>(text.size()));
  bytes_ += text;
  bytes_ += '\0';
  return at;
}

size_t FlatBuilder::AddOffsets(size_t count) {
  Align(4);
  const size_t at = bytes_.size();
  Append(static_cast<uint32_t>(count));
  bytes_.append(4 * count, '\0');
  return at;
}

size_t FlatBuilder::AddStructs(const std::string& bytes, size_t count) {
  Align(8, 4);
  const size_t at = bytes_.size();
  Append(static_cast<uint32_t>(count));
  bytes_ += bytes;
  return at;
}

size_t FlatBuilder::FieldAt(size_t table, int slot) const {
  int32_t back = 0;
  std::memcpy(&back, bytes_.data() + table, sizeof back);
  uint16_t offset = 0;
  std::memcpy(&offset,
              bytes_.data() + table - static_cast<size_t>(back) + 4 + 2 * static_cast<size_t>(slot),
              sizeof offset);
  return table + offset;
}

void FlatBuilder::Point(size_t from, size_t to) {
  const auto offset = static_cast<uint32_t>(to - from);
  std::memcpy(bytes_.data() + from, &offset, sizeof offset);
}

std::string FlatBuilder::Finish(size_t root) {
  Point(0, root);
  Align(8);
  return std::move(bytes_);
}

// So that what comes behind `behind` more bytes lies at a multiple of `to`.
void FlatBuilder::Align(size_t to, size_t behind) {
  while ((bytes_.size() + behind) % to != 0) bytes_ += '\0';
}

}  // namespace pigment_tool

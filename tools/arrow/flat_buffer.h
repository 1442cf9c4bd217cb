// SPDX-License-Identifier: Apache-2.0
//
// FlatBuffers as far as Arrow's messages go: https://flatbuffers.dev/internals. Reading looks at
// bytes in place and throws std::out_of_range for whatever points outside of them; writing appends,
// children behind their parents. Little-endian. One thread.

#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace pigment_tool {

using Bytes = std::span<const unsigned char>;

template <typename T>
T LoadAt(Bytes bytes, uint64_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) throw std::out_of_range("offset");
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

class FlatTable {
 public:
  static FlatTable Root(Bytes bytes) { return {bytes, LoadAt<uint32_t>(bytes, 0)}; }

  template <typename T>
  T Scalar(int slot, T otherwise = 0) const {
    const uint64_t at = Field(slot);
    return at == 0 ? otherwise : LoadAt<T>(bytes_, at);
  }
  bool Has(int slot) const { return Field(slot) != 0; }
  std::optional<FlatTable> Table(int slot) const;
  std::string_view Text(int slot) const;  // empty when absent
  std::vector<FlatTable> Tables(int slot) const;
  // The elements of a vector of structs of `size` bytes.
  Bytes Structs(int slot, uint64_t size) const;

 private:
  FlatTable(Bytes bytes, uint64_t at) : bytes_(bytes), at_(at) {}
  uint64_t Field(int slot) const;  // where it lies; 0: absent
  uint64_t Follow(uint64_t at) const { return at + LoadAt<uint32_t>(bytes_, at); }

  Bytes bytes_;
  uint64_t at_;
};

class FlatBuilder {
 public:
  FlatBuilder() : bytes_(8, '\0') {}

  // A number, or an offset that Point sets.
  struct Field {
    int slot;
    uint64_t value = 0;
  };
  // Each returns where it begins, or lies, for Point.
  size_t AddTable(const std::vector<Field>& fields);
  size_t AddText(std::string_view text);
  size_t AddOffsets(size_t count);                            // a vector of tables or texts
  size_t AddStructs(const std::string& bytes, size_t count);  // aligned to 8 bytes

  size_t FieldAt(size_t table, int slot) const;
  size_t ElementAt(size_t offsets, size_t index) const { return offsets + 4 + 4 * index; }
  void Point(size_t from, size_t to);

  // Padded to 8 bytes.
  std::string Finish(size_t root);

 private:
  void Align(size_t to, size_t behind = 0);
  template <typename T>
  void Append(T value) {
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  std::string bytes_;
};

}  // namespace pigment_tool

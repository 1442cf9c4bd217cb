// SPDX-License-Identifier: Apache-2.0
//
// Little-endian numbers and lengths in and out of byte strings, for the codecs of this folder. A
// ByteReader never reads beyond its bytes and remembers that it was asked to: check `ok()` before a
// value is used for anything. One thread each.

#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace pigment {

static_assert(std::endian::native == std::endian::little,
              "stored numbers are copied as they lie in memory");

template <typename T>
void AppendNumber(T value, std::string& out) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  size_t offset() const { return offset_; }
  size_t remaining() const { return bytes_.size() - offset_; }

  // Zero where the bytes end too early.
  template <typename T>
  T Number() {
    T value{};
    const std::span<const std::byte> bytes = Bytes(sizeof(T));
    if (bytes.size() == sizeof(T)) std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }

  // Borrowed; empty where the bytes end too early.
  std::span<const std::byte> Bytes(uint64_t size) {
    if (!ok_ || size > remaining()) {
      ok_ = false;
      return {};
    }
    const std::span<const std::byte> bytes = bytes_.subspan(offset_, size);
    offset_ += size;
    return bytes;
  }

  std::string_view Text(uint64_t size) {
    const std::span<const std::byte> bytes = Bytes(size);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

 private:
  std::span<const std::byte> bytes_;
  size_t offset_ = 0;
  bool ok_ = true;
};

}  // namespace pigment

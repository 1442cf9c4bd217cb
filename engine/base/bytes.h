// SPDX-License-Identifier: Apache-2.0
//
// Little-endian bytes: what every encoder and decoder of a stored form is written with. The reader
// is bounded and its failure is sticky: a decoder reads everything, then asks ok() once, and
// nothing it got can reach beyond the bytes. Plain values, no sharing.

#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace pigment {

static_assert(std::endian::native == std::endian::little,
              "stored forms are little endian; a big-endian port swaps here");

template <typename T>
requires std::is_arithmetic_v<T>
void StoreLittle(std::byte* to, T value) { std::memcpy(to, &value, sizeof value); }

template <typename T>
requires std::is_arithmetic_v<T> T LoadLittle(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

inline std::span<const std::byte> AsBytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

inline std::string_view AsText(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// memcpy as a call. Where the compiler knows that a size is at most some kilobytes it copies in
// line by an instruction that takes longer to begin than most texts and numbers take to copy.
void CopyBytes(void* to, const void* from, size_t size);

// Appends to a string that the caller owns.
class ByteWriter {
 public:
  explicit ByteWriter(std::string* out) : out_(out) {}

  template <typename T>
  requires std::is_arithmetic_v<T>
  void Put(T value) {
    std::array<std::byte, sizeof(T)> bytes;
    StoreLittle(bytes.data(), value);
    PutBytes(bytes);
  }
  void PutBytes(std::span<const std::byte> bytes) { out_->append(AsText(bytes)); }
  // Seven bits a byte, the lowest first; the highest bit says that more follow.
  void PutVarint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_->push_back(static_cast<char>(value | 0x80));
    out_->push_back(static_cast<char>(value));
  }
  // u32 length, then the bytes. REQUIRES: text.size() < 4 GiB.
  void PutText(std::string_view text) {
    Put(static_cast<uint32_t>(text.size()));
    out_->append(text);
  }

 private:
  std::string* out_;
};

// Reads from bytes that outlive it. After the first read beyond the end ok() is false and every
// read gives zero or empty.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  requires std::is_arithmetic_v<T> T Get() {
    const std::span<const std::byte> bytes = GetBytes(sizeof(T));
    return bytes.empty() ? T{} : LoadLittle<T>(bytes.data());
  }

  // A view of the next `size` bytes; empty when there are fewer.
  std::span<const std::byte> GetBytes(uint64_t size) {
    if (!ok_ || size > remaining()) {
      ok_ = false;
      return {};
    }
    const std::span<const std::byte> bytes = bytes_.subspan(position_, size);
    position_ += size;
    return bytes;
  }

  // What PutVarint wrote; more than 64 bits: a failure.
  uint64_t GetVarint() {
    uint64_t value = 0;
    for (uint32_t shift = 0; ok_ && position_ < bytes_.size() && shift < 64; shift += 7) {
      const auto byte = static_cast<uint64_t>(bytes_[position_++]);
      if (shift == 63 && byte > 1) break;
      value |= (byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }

  // u32 length, then the bytes; a view.
  std::string_view GetText() { return AsText(GetBytes(Get<uint32_t>())); }

  // A u32 number of elements of at least `element_bytes_min` (> 0) each: fails when so many cannot
  // be there, so that nothing is sized by a number that the bytes do not bear out.
  uint32_t GetCount(size_t element_bytes_min) {
    const auto count = Get<uint32_t>();
    if (count > remaining() / element_bytes_min) {
      ok_ = false;
      return 0;
    }
    return count;
  }

  bool ok() const { return ok_; }
  void Fail() { ok_ = false; }  // for a decoder that met a value that cannot be
  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }
  bool at_end() const { return remaining() == 0; }

 private:
  std::span<const std::byte> bytes_;
  size_t position_ = 0;
  bool ok_ = true;
};

}  // namespace pigment

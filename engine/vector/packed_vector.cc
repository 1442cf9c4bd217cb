// SPDX-License-Identifier: Apache-2.0
//
// Bits are unpacked a byte at a time, by a table.

#include "engine/vector/packed_vector.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "engine/vector/half.h"

namespace pigment {
namespace {

constexpr size_t kByteBits = 8;

using Octet = std::array<float, kByteBits>;

// The numbers of each byte.
constexpr std::array<Octet, 256> kOctets = [] {
  std::array<Octet, 256> octets{};
  for (size_t byte = 0; byte < octets.size(); ++byte) {
    for (size_t bit = 0; bit < kByteBits; ++bit)
      octets[byte][bit] = static_cast<float>(byte >> (kByteBits - 1 - bit) & 1);
  }
  return octets;
}();

const Octet& OctetOf(std::byte packed) { return kOctets[std::to_integer<size_t>(packed)]; }

void PackBits(std::span<const float> vector, std::byte* out) {
  for (; !vector.empty(); vector = vector.subspan(std::min(kByteBits, vector.size()))) {
    const size_t some = std::min(kByteBits, vector.size());
    uint8_t byte = 0;
    for (size_t bit = 0; bit < some; ++bit)
      byte |= static_cast<uint8_t>((vector[bit] != 0 ? 1u : 0u) << (kByteBits - 1 - bit));
    *out++ = std::byte{byte};
  }
}

void UnpackBits(const std::byte* packed, std::span<float> out) {
  const size_t whole = out.size() / kByteBits;
  for (size_t i = 0; i < whole; ++i)
    std::memcpy(out.data() + i * kByteBits, OctetOf(packed[i]).data(), sizeof(Octet));
  if (const std::span<float> rest = out.subspan(whole * kByteBits); !rest.empty())
    std::copy_n(OctetOf(packed[whole]).begin(), rest.size(), rest.begin());
}

}  // namespace

void PackVector(VectorElement element, std::span<const float> vector, std::byte* out) {
  switch (element) {
    case VectorElement::kF32:
      if (!vector.empty()) std::memcpy(out, vector.data(), vector.size_bytes());
      return;
    case VectorElement::kF16:
      NarrowToHalves(vector, out);
      return;
    case VectorElement::kBit:
      PackBits(vector, out);
      return;
  }
}

void UnpackVector(VectorElement element, const std::byte* packed, std::span<float> out) {
  switch (element) {
    case VectorElement::kF32:
      if (!out.empty()) std::memcpy(out.data(), packed, out.size_bytes());
      return;
    case VectorElement::kF16:
      WidenHalves(packed, out);
      return;
    case VectorElement::kBit:
      UnpackBits(packed, out);
      return;
  }
}

void UnpackVectors(VectorElement element, const std::byte* packed, size_t dimension, size_t count,
                   float* out) {
  const size_t bytes = VectorBytes(element, dimension);
  for (size_t i = 0; i < count; ++i)
    UnpackVector(element, packed + i * bytes, {out + i * dimension, dimension});
}

bool AreBits(std::span<const float> vector, size_t* bad) {
  const auto is_bit = [](float number) { return number == 0 || number == 1; };
  const auto found = std::ranges::find_if_not(vector, is_bit);
  *bad = static_cast<size_t>(found - vector.begin());
  return found == vector.end();
}

}  // namespace pigment

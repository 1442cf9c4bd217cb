// SPDX-License-Identifier: Apache-2.0
//
// One walk for both ways: from the numbers of one form to those of the other.

#include "engine/record/short_metadata.h"

#include <cstdint>
#include <limits>

#include "engine/base/bytes.h"

namespace pigment {
namespace {

struct Stored {
  static uint32_t GetSize(ByteReader& reader) { return reader.Get<uint32_t>(); }
  static void PutSize(ByteWriter& writer, uint32_t size) { writer.Put(size); }
  static int64_t GetInteger(ByteReader& reader) { return reader.Get<int64_t>(); }
  static void PutInteger(ByteWriter& writer, int64_t value) { writer.Put(value); }
};

struct Short {
  static uint32_t GetSize(ByteReader& reader) {
    const uint64_t size = reader.GetVarint();
    if (size > std::numeric_limits<uint32_t>::max()) reader.Fail();
    return static_cast<uint32_t>(size);
  }
  static void PutSize(ByteWriter& writer, uint32_t size) { writer.PutVarint(size); }
  static int64_t GetInteger(ByteReader& reader) {
    const uint64_t bits = reader.GetVarint();
    return static_cast<int64_t>(bits >> 1 ^ (0 - (bits & 1)));
  }
  static void PutInteger(ByteWriter& writer, int64_t value) {
    writer.PutVarint(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
  }
};

// Types as in metadata.h.
enum Type : uint8_t { kString = 1, kInt64 = 2, kDouble = 3, kBool = 4, kArrays = 4, kMost = 8 };

template <typename From, typename To>
class Conversion {
 public:
  Conversion(std::span<const std::byte> bytes, std::string& out) : reader_(bytes), writer_(&out) {}

  bool Run() {
    for (uint32_t entries = Size(); entries > 0 && reader_.ok(); --entries) {
      Bytes(Size());
      const auto type = reader_.template Get<uint8_t>();
      if (type < kString || type > kMost) return false;
      writer_.Put(type);
      const bool is_array = type > kArrays;
      const auto scalar = static_cast<uint8_t>(is_array ? type - kArrays : type);
      for (uint32_t values = is_array ? Size() : 1; values > 0 && reader_.ok(); --values)
        Value(scalar);
    }
    return reader_.ok() && reader_.at_end();
  }

 private:
  uint32_t Size() {
    const uint32_t size = From::GetSize(reader_);
    To::PutSize(writer_, size);
    return size;
  }
  void Bytes(uint32_t size) { writer_.PutBytes(reader_.GetBytes(size)); }
  void Value(uint8_t type) {
    switch (type) {
      case kString:
        Bytes(Size());
        break;
      case kInt64:
        To::PutInteger(writer_, From::GetInteger(reader_));
        break;
      case kDouble:
        Bytes(sizeof(double));
        break;
      case kBool:
        Bytes(1);
        break;
    }
  }

  ByteReader reader_;
  ByteWriter writer_;
};

}  // namespace

bool ShortenMetadata(std::span<const std::byte> stored, std::string& out) {
  return Conversion<Stored, Short>(stored, out).Run();
}

bool LengthenMetadata(std::span<const std::byte> shortened, std::string& out) {
  return Conversion<Short, Stored>(shortened, out).Run();
}

}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// Cursors as text: see the header.

#include "engine/query/cursor.h"

#include <fmt/format.h>

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"
#include "engine/record/text.h"

namespace pigment {
namespace {

constexpr uint8_t kVersion = 1;
constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr size_t kChecksumBytes = sizeof(uint32_t);

uint64_t MarkOf(std::string_view collection, const OrderBy& order) {
  return Xxh3_64(AsBytes(order.Name()), Xxh3_64(AsBytes(collection)));
}

Status NoCursor(std::string_view text, std::string_view reason) {
  return InvalidArgument(fmt::format("cursor {} {}", Quoted(text), reason));
}

// False: other characters than pairs of digits.
bool FromDigits(std::string_view text, std::string& bytes) {
  if (text.size() % 2 != 0) return false;
  bytes.reserve(text.size() / 2);
  for (size_t i = 0; i < text.size(); i += 2) {
    const size_t high = kHexDigits.find(text[i]), low = kHexDigits.find(text[i + 1]);
    if (high == kHexDigits.npos || low == kHexDigits.npos) return false;
    bytes += static_cast<char>(high << 4 | low);
  }
  return true;
}

}  // namespace

std::string CursorText(const RowPosition& position, std::string_view collection,
                       const OrderBy& order) {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.Put(kVersion);
  writer.Put(MarkOf(collection, order));
  writer.Put(position.ordinal);
  writer.PutBytes(AsBytes(position.key));
  writer.Put(Crc32c(AsBytes(bytes)));
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    text += kHexDigits[static_cast<uint8_t>(byte) >> 4];
    text += kHexDigits[static_cast<uint8_t>(byte) & 15];
  }
  return text;
}

Result<RowPosition> ReadCursor(std::string_view text, std::string_view collection,
                               const OrderBy& order) {
  std::string bytes;
  if (!FromDigits(text, bytes) || bytes.size() < kChecksumBytes)
    return NoCursor(text, "is none: a get's result gives them");
  const std::string_view body = std::string_view(bytes).substr(0, bytes.size() - kChecksumBytes);
  if (LoadLittle<uint32_t>(AsBytes(bytes).data() + body.size()) != Crc32c(AsBytes(body)))
    return NoCursor(text, "is damaged: its checksum is another");
  ByteReader reader(AsBytes(body));
  const auto version = reader.Get<uint8_t>();
  const auto mark = reader.Get<uint64_t>();
  RowPosition position;
  position.ordinal = reader.Get<uint64_t>();
  position.key = AsText(reader.GetBytes(reader.remaining()));
  if (!reader.ok() || version != kVersion)
    return NoCursor(text, fmt::format("is of version {}, expected {}", version, kVersion));
  if (mark != MarkOf(collection, order))
    return NoCursor(text, "is of another collection or another order_by");
  return position;
}

}  // namespace pigment

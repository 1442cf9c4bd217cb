// SPDX-License-Identifier: Apache-2.0
//
// Cursors of gets: a place in the order of a collection's records as a text for the caller, who
// gives it back to go on behind it. A place is the key of the row there (engine/query/order_by.h)
// and its insertion ordinal, which it keeps for life: so a cursor stays right whatever is written
// meanwhile. Pure functions; any thread.
//
// The text is hexadecimal digits of: u8 version, u64 mark of collection and order, u64 ordinal, the
// key, u32 CRC32C of all that is before. Little endian.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/status.h"
#include "engine/query/order_by.h"

namespace pigment {

struct RowPosition {
  std::string key;  // of the order; empty where it is that of insertion alone
  uint64_t ordinal = 0;
};

// `collection` is what nobody else's cursors say: its id.
std::string CursorText(const RowPosition& position, std::string_view collection,
                       const OrderBy& order);

// kInvalidArgument: no cursor, a damaged one, or one of another collection or order.
Result<RowPosition> ReadCursor(std::string_view text, std::string_view collection,
                               const OrderBy& order);

}  // namespace pigment

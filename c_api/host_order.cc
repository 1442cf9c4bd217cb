// SPDX-License-Identifier: Apache-2.0
//
// The host interface's orders and cursors: for a host that keeps collections in tables of its own
// and pages through them as the library does. Any thread.

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "c_api/error.h"
#include "c_api/host_record.h"
#include "engine/query/cursor.h"
#include "engine/query/order_by.h"
#include "pigment/pigment_host.h"

using pigment::Result;
using pigment::Status;
using pigment::abi::Call;
using pigment::abi::CheckNotNull;
using pigment::abi::ReadOptionalText;
using pigment::abi::ReadText;

namespace {

Result<pigment::OrderBy> ReadOrder(const char* json, size_t size) {
  PIGMENT_ASSIGN_OR_RETURN(const auto text, ReadOptionalText(json, size, "order_by_json"));
  if (!text) return pigment::OrderBy();
  PIGMENT_ASSIGN_OR_RETURN(pigment::OrderBy order, pigment::OrderBy::Parse(*text));
  PIGMENT_RETURN_IF_ERROR(order.CheckFlat());
  return order;
}

// Only what the order needs is looked at.
Result<std::string> KeyOf(const pigment::OrderBy& order, const pigment_filter_record& record) {
  pigment::abi::HostRecord read;
  PIGMENT_RETURN_IF_ERROR(read.Read(record, {.metadata = order.needs().metadata}));
  return order.KeyOf(read.subject());
}

}  // namespace

pigment_status pigment_order_key(const char* order_by_json, size_t order_by_json_size,
                                 const pigment_filter_record* record, pigment_buffer** key,
                                 pigment_error** error) {
  const auto clear = [key] { pigment::abi::ClearBuffer(key); };
  return Call(error, clear, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(CheckNotNull({{record, "record"}, {key, "key"}}));
    PIGMENT_ASSIGN_OR_RETURN(const pigment_filter_record read,
                             pigment::abi::ReadStruct(record, "record"));
    PIGMENT_ASSIGN_OR_RETURN(const auto order, ReadOrder(order_by_json, order_by_json_size));
    PIGMENT_ASSIGN_OR_RETURN(std::string bytes, KeyOf(order, read));
    *key = pigment::abi::NewBuffer(std::move(bytes));
    return Status::Ok();
  });
}

pigment_status pigment_cursor_write(const pigment_cursor_place* place, pigment_buffer** cursor,
                                    pigment_error** error) {
  const auto clear = [cursor] { pigment::abi::ClearBuffer(cursor); };
  return Call(error, clear, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(CheckNotNull({{place, "place"}, {cursor, "cursor"}}));
    PIGMENT_ASSIGN_OR_RETURN(const pigment_cursor_place read,
                             pigment::abi::ReadStruct(place, "place"));
    PIGMENT_ASSIGN_OR_RETURN(const auto collection,
                             ReadText(read.collection, read.collection_size, "place.collection"));
    PIGMENT_ASSIGN_OR_RETURN(const auto order,
                             ReadOrder(read.order_by_json, read.order_by_json_size));
    PIGMENT_ASSIGN_OR_RETURN(const auto key,
                             pigment::abi::ReadBytes(read.key, read.key_size, "place.key"));
    *cursor = pigment::abi::NewBuffer(
        pigment::CursorText({std::string(key), read.ordinal}, collection, order));
    return Status::Ok();
  });
}

pigment_status pigment_cursor_read(const char* cursor, size_t cursor_size,
                                   const pigment_cursor_place* place, pigment_buffer** key,
                                   uint64_t* ordinal, pigment_error** error) {
  const auto clear = [key, ordinal] {
    if (key != nullptr) *key = nullptr;
    if (ordinal != nullptr) *ordinal = 0;
  };
  return Call(error, clear, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(CheckNotNull({{place, "place"}, {key, "key"}, {ordinal, "ordinal"}}));
    PIGMENT_ASSIGN_OR_RETURN(const pigment_cursor_place read,
                             pigment::abi::ReadStruct(place, "place"));
    PIGMENT_ASSIGN_OR_RETURN(const auto text, ReadText(cursor, cursor_size, "cursor"));
    PIGMENT_ASSIGN_OR_RETURN(const auto collection,
                             ReadText(read.collection, read.collection_size, "place.collection"));
    PIGMENT_ASSIGN_OR_RETURN(const auto order,
                             ReadOrder(read.order_by_json, read.order_by_json_size));
    PIGMENT_ASSIGN_OR_RETURN(pigment::RowPosition position,
                             pigment::ReadCursor(text, collection, order));
    *key = pigment::abi::NewBuffer(std::move(position.key));
    *ordinal = position.ordinal;
    return Status::Ok();
  });
}

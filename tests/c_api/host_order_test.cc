// SPDX-License-Identifier: Apache-2.0
//
// Orders and cursors of the host interface: keys order as a get does, and a cursor gives back what
// it was made of, for its collection and order alone.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "pigment/pigment_host.h"
#include "tests/c_api/abi.h"

namespace {

using abi_test::Outcome;
using abi_test::Sized;
using abi_test::Try;

const std::string kOrder = R"([{"key":"n","descending":true},{"key":"#id"}])";

pigment_filter_record Record(const char* id, const char* metadata) {
  auto record = Sized<pigment_filter_record>();
  record.id = id;
  record.id_size = std::strlen(id);
  record.metadata_json = metadata;
  record.metadata_json_size = metadata == nullptr ? 0 : std::strlen(metadata);
  return record;
}

std::string BytesOf(pigment_buffer* raw) {
  const abi_test::Buffer buffer(raw);
  size_t size = 0;
  const char* const data = pigment_buffer_data(raw, &size);
  return std::string(data, size);
}

std::string KeyOf(const pigment_filter_record& record) {
  pigment_buffer* raw = nullptr;
  const Outcome outcome = Try(pigment_order_key, kOrder.data(), kOrder.size(), &record, &raw);
  EXPECT_TRUE(outcome.ok()) << outcome;
  return BytesOf(raw);
}

pigment_cursor_place Place(const std::string& collection, const std::string& order,
                           const std::string& key, uint64_t ordinal) {
  auto place = Sized<pigment_cursor_place>();
  place.collection = collection.data();
  place.collection_size = collection.size();
  place.order_by_json = order.data();
  place.order_by_json_size = order.size();
  place.key = key.data();
  place.key_size = key.size();
  place.ordinal = ordinal;
  return place;
}

TEST(HostOrder, KeysOrderAsAGetDoes) {
  const pigment_filter_record in_order[] = {
      Record("a", R"({"n":"text"})"), Record("b", R"({"n":3})"),    Record("a", R"({"n":2.5})"),
      Record("b", R"({"n":2.5})"),    Record("x", R"({"n":true})"), Record("a", nullptr),
      Record("b", R"({"m":1})"),
  };
  for (size_t i = 1; i < std::size(in_order); ++i)
    EXPECT_LT(KeyOf(in_order[i - 1]), KeyOf(in_order[i])) << i;
}

TEST(HostOrder, ACursorGivesBackWhatItWasMadeOf) {
  const std::string collection = "docs", key = KeyOf(Record("a", R"({"n":1})"));
  const pigment_cursor_place place = Place(collection, kOrder, key, 77);
  pigment_buffer* raw = nullptr;
  ASSERT_TRUE(Try(pigment_cursor_write, &place, &raw).ok());
  const std::string cursor = BytesOf(raw);
  const auto read = [&](const std::string& of, const std::string& order, std::string text) {
    const pigment_cursor_place where = Place(of, order, "", 0);
    uint64_t ordinal = 5;
    pigment_buffer* bytes = nullptr;
    const Outcome outcome =
        Try(pigment_cursor_read, text.data(), text.size(), &where, &bytes, &ordinal);
    EXPECT_EQ(ordinal, outcome.ok() ? 77u : 0u);
    if (outcome.ok()) {
      EXPECT_EQ(BytesOf(bytes), key);
    } else {
      EXPECT_EQ(bytes, nullptr);
    }
    return outcome.status;
  };
  EXPECT_EQ(read(collection, kOrder, cursor), PIGMENT_OK);
  EXPECT_EQ(read("others", kOrder, cursor), PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(read(collection, "[]", cursor), PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(read(collection, kOrder, cursor + "00"), PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(read(collection, kOrder, ""), PIGMENT_INVALID_ARGUMENT);
}

TEST(HostOrder, WhatIsWrongIsRefusedByName) {
  const std::string collection = "docs", wrong = "[1]";
  auto record = Record("a", R"({"n":{"nested":1}})");
  const pigment_filter_record* const no_record = nullptr;
  const pigment_cursor_place* const no_place = nullptr;
  pigment_buffer* raw = nullptr;
  pigment_buffer** const no_buffer = nullptr;
  uint64_t ordinal = 0;
  uint64_t* const no_ordinal = nullptr;
  const auto fails = [](const Outcome& outcome, const char* what) {
    EXPECT_EQ(outcome.status, PIGMENT_INVALID_ARGUMENT) << outcome;
    EXPECT_NE(outcome.message.find(what), std::string::npos) << outcome;
  };
  fails(Try(pigment_order_key, kOrder.data(), kOrder.size(), &record, &raw), "n");
  fails(Try(pigment_order_key, wrong.data(), wrong.size(), &record, &raw), "order_by");
  fails(Try(pigment_order_key, kOrder.data(), kOrder.size(), no_record, &raw), "record");
  fails(Try(pigment_order_key, kOrder.data(), kOrder.size(), &record, no_buffer), "key");
  const pigment_cursor_place place = Place(collection, kOrder, "", 0);
  fails(Try(pigment_cursor_write, no_place, &raw), "place");
  fails(Try(pigment_cursor_write, &place, no_buffer), "cursor");
  fails(Try(pigment_cursor_read, "00", size_t{2}, no_place, &raw, &ordinal), "place");
  fails(Try(pigment_cursor_read, "00", size_t{2}, &place, no_buffer, &ordinal), "key");
  fails(Try(pigment_cursor_read, "00", size_t{2}, &place, &raw, no_ordinal), "ordinal");
  record.struct_size = 3;
  fails(Try(pigment_order_key, kOrder.data(), kOrder.size(), &record, &raw), "struct_size");
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
//
// Orders: what is refused, and keys of bytes against the plain comparison of values.

#include "engine/query/order_by.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

std::string KeyOf(const OrderBy& order, const Record& record) {
  return order.KeyOf({.id = record.id,
                      .metadata = record.metadata ? &*record.metadata : nullptr,
                      .uri = record.uri});
}

std::vector<MetadataValue> Values() {
  constexpr auto kMost = std::numeric_limits<int64_t>::max();
  std::vector<MetadataValue> values;
  for (const bool truth : {false, true}) values.emplace_back(truth);
  for (const int64_t integer : {int64_t{0}, int64_t{1}, int64_t{-1}, kMost, kMost - 1, -kMost - 1,
                                (int64_t{1} << 53) + 1, int64_t{1} << 53})
    values.emplace_back(integer);
  for (const double real : {-0.0, 0.5, 1.0, -1e300, 1e300, 0x1p53, 0x1p63, -0x1p63, 5e-324})
    values.emplace_back(real);
  for (const char* text : {"", "a", "ab", "b", "\xFF", "\x01", "aa"})
    values.emplace_back(std::string(text));
  values.emplace_back(std::string("a\0", 2));
  values.emplace_back(std::string("a\0b", 3));
  values.emplace_back(std::string("\0\xFF", 2));
  values.emplace_back(std::string("\0", 1));
  return values;
}

TEST(OrderBy, KeysOfBytesOrderAsTheValuesDo) {
  std::vector<Record> records;
  for (const MetadataValue& value : Values()) {
    Record record;
    record.ordinal = 7;
    record.metadata = Metadata{{"a", value}};
    records.push_back(record);
  }
  records.emplace_back().ordinal = 7;  // without metadata
  records.emplace_back().ordinal = 7;
  records.back().metadata = Metadata{{"a", std::vector<int64_t>{1}}};
  records.emplace_back().ordinal = 7;
  records.back().metadata = Metadata{{"b", int64_t{1}}};
  for (const bool descends : {false, true}) {
    const PlainOrder plain = {{"a", descends}};
    const OrderBy order = OrderBy::Parse(OrderJson(plain)).value();
    for (const Record& a : records) {
      for (const Record& b : records) {
        const bool is_first = KeyOf(order, a) < KeyOf(order, b);
        ASSERT_EQ(is_first, ComesFirst(a, b, plain));
      }
    }
  }
}

TEST(OrderBy, SeveralKeysOrderOneAfterTheOther) {
  BatchMaker maker(5, 1, 50);
  const std::vector<MetadataValue> values = Values();
  int decided = 0;
  for (int round = 0; round < 20000; ++round) {
    const PlainOrder plain = maker.Order();
    const OrderBy order = OrderBy::Parse(OrderJson(plain)).value();
    Record pair[2];
    for (Record& record : pair) {
      record.ordinal = 7;
      record.id = maker.Id();
      record.uri = maker.Text();
      record.metadata = maker.SomeMetadata(false);
      if (record.metadata) (*record.metadata)["d"] = values[maker.Below(values.size())];
    }
    const bool is_first = KeyOf(order, pair[0]) < KeyOf(order, pair[1]);
    ASSERT_EQ(is_first, ComesFirst(pair[0], pair[1], plain)) << OrderJson(plain);
    decided += is_first;
  }
  EXPECT_GT(decided, 5000);
}

TEST(OrderBy, NothingIsInsertionOrder) {
  for (const char* json : {"null", "[]"}) EXPECT_TRUE(OrderBy::Parse(json)->empty());
  EXPECT_FALSE(OrderBy::Parse(R"([{"key":"a"}])")->empty());
}

TEST(OrderBy, RefusesWhatIsNoOrder) {
  const std::pair<const char*, const char*> kCases[] = {
      {R"({"key":"a"})", "expected a list of keys, got an object"},
      {R"(["a"])", R"(expected {"key": ..., "descending": ...}, got "a")"},
      {R"([{"descending":true}])", "an entry has no \"key\""},
      {R"([{"key":1}])", "\"key\" with 1"},
      {R"([{"key":"a","descending":1}])", "\"descending\" with 1"},
      {R"([{"key":"a","desc":true}])", "\"desc\" with true"},
      {R"([{"key":""}])", "got \"\""},
      {R"([{"key":"#document"}])", "got \"#document\""},
      {R"([{"key":"$eq"}])", "got \"$eq\""},
      {R"([{"key":"a"},{"key":"b"},{"key":"a"}])", "key \"a\" is there twice"},
      {"[", "order_by"},
  };
  for (const auto& [json, message] : kCases) {
    const auto order = OrderBy::Parse(json);
    EXPECT_CODE(order, Code::kInvalidArgument);
    EXPECT_NE(order.status().message().find(message), std::string::npos)
        << order.status().message();
  }
}

}  // namespace
}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// ByteWriter and ByteReader: round trips, and bounds that hold on every truncation.

#include "engine/base/bytes.h"

#include <gtest/gtest.h>

#include <limits>

namespace pigment {
namespace {

std::string Sample() {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.Put<uint8_t>(200);
  writer.Put<int64_t>(std::numeric_limits<int64_t>::min());
  writer.Put(3.25);
  writer.PutText(std::string_view("with\0nul", 8));
  writer.PutText("");
  return bytes;
}

TEST(Bytes, WhatIsWrittenIsReadBackAndLittleEndian) {
  const std::string bytes = Sample();
  EXPECT_EQ(bytes.substr(1, 8), std::string("\0\0\0\0\0\0\0\x80", 8));
  ByteReader reader(AsBytes(bytes));
  EXPECT_EQ(reader.Get<uint8_t>(), 200);
  EXPECT_EQ(reader.Get<int64_t>(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(reader.Get<double>(), 3.25);
  EXPECT_EQ(reader.GetText(), std::string_view("with\0nul", 8));
  EXPECT_EQ(reader.GetText(), "");
  EXPECT_TRUE(reader.ok());
  EXPECT_TRUE(reader.at_end());
}

TEST(Bytes, EveryTruncationFailsAndStaysFailed) {
  const std::string bytes = Sample();
  for (size_t size = 0; size < bytes.size(); ++size) {
    ByteReader reader(AsBytes(bytes).first(size));
    reader.Get<uint8_t>();
    reader.Get<int64_t>();
    reader.Get<double>();
    reader.GetText();
    reader.GetText();
    EXPECT_FALSE(reader.ok()) << size;
    EXPECT_EQ(reader.Get<uint8_t>(), 0);
    EXPECT_EQ(reader.GetBytes(0).size(), 0u);
    EXPECT_FALSE(reader.ok()) << size;
  }
}

TEST(Bytes, ACountThatCannotBeThereIsRefused) {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.Put<uint32_t>(3);
  bytes += "123456";
  EXPECT_EQ(ByteReader(AsBytes(bytes)).GetCount(2), 3u);
  ByteReader reader(AsBytes(bytes));
  EXPECT_EQ(reader.GetCount(3), 0u);
  EXPECT_FALSE(reader.ok());
  std::string huge("\xff\xff\xff\xff", 4);
  ByteReader empty(AsBytes(huge));
  EXPECT_EQ(empty.GetText(), "");
  EXPECT_FALSE(empty.ok());
}

}  // namespace
}  // namespace pigment

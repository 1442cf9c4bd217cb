// SPDX-License-Identifier: Apache-2.0
//
// Uuid: entropy bits, text form, order.

#include "engine/base/uuid.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

TEST(Uuid, RandomOnesAreDifferentAndOfVersionFour) {
  std::set<Uuid> seen;
  for (int i = 0; i < 1000; ++i) {
    const Result<Uuid> uuid = Uuid::Random();
    ASSERT_OK(uuid);
    EXPECT_FALSE(uuid->is_nil());
    const std::string text = uuid->ToString();
    EXPECT_EQ(text[14], '4') << text;
    EXPECT_NE(std::string_view("89ab").find(text[19]), std::string_view::npos) << text;
    seen.insert(*uuid);
  }
  EXPECT_EQ(seen.size(), 1000u);
}

TEST(Uuid, TextIsReadBackInEitherCase) {
  const std::string text = "0123abcd-89ef-4a5b-8c7d-00ff10e2d3c4";
  const Result<Uuid> uuid = Uuid::Parse(text);
  ASSERT_OK(uuid);
  EXPECT_EQ(uuid->ToString(), text);
  EXPECT_EQ(uuid->bytes[0], std::byte{0x01});
  EXPECT_EQ(uuid->bytes[15], std::byte{0xc4});
  const Result<Uuid> upper = Uuid::Parse("0123ABCD-89EF-4A5B-8C7D-00FF10E2D3C4");
  ASSERT_OK(upper);
  EXPECT_EQ(*upper, *uuid);
}

TEST(Uuid, WhatIsNoUuidIsRefusedByText) {
  for (const std::string text :
       {"", "x", "0123abcd89ef4a5b8c7d00ff10e2d3c4", "0123abcd-89ef-4a5b-8c7d-00ff10e2d3c",
        "0123abcd-89ef-4a5b-8c7d-00ff10e2d3c4 ", "0123abcg-89ef-4a5b-8c7d-00ff10e2d3c4",
        "0123abcd-89ef-4a5b-8c7d000ff10e2d3c4", "{123abcd-89ef-4a5b-8c7d-00ff10e2d3c}"}) {
    const Result<Uuid> uuid = Uuid::Parse(text);
    EXPECT_CODE(uuid, Code::kInvalidArgument);
    EXPECT_NE(uuid.status().message().find("\"" + text + "\""), std::string::npos)
        << uuid.status().ToString();
  }
}

TEST(Uuid, OrderIsThatOfTheText) {
  const Uuid low = *Uuid::Parse("00000000-0000-4000-8000-0000000000ff");
  const Uuid high = *Uuid::Parse("f0000000-0000-4000-8000-000000000000");
  EXPECT_LT(low, high);
  EXPECT_LT(low.ToString(), high.ToString());
}

}  // namespace
}  // namespace pigment

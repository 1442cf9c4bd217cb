// SPDX-License-Identifier: Apache-2.0
//
// Values on their way to PostgreSQL. check_copy.py has them in a server.

#include "tools/homes/postgres_values.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "tools/homes/home.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

TEST(PostgresValues, NumbersLoseTheirExponentAndNothingElse) {
  const std::pair<const char*, const char*> kCases[] = {
      {R"({"a":1e2})", R"({"a":100.0})"},
      {R"({"a":-1.5e+3,"b":[1E2,2]})", R"({"a":-1500.0,"b":[100.0,2]})"},
      {R"({"a":1.25e1})", R"({"a":12.5})"},
      {R"({"a":5e-3})", R"({"a":0.005})"},
      {R"({"a":-12.5e-2})", R"({"a":-0.125})"},
      {R"({"a":0e0})", R"({"a":0.0})"},
      {R"({"1e2":"1e2 \"3e4","b":1e0})", R"({"1e2":"1e2 \"3e4","b":1.0})"},
      {R"({"a":100,"b":1.0,"c":-9223372036854775808,"d":true})",
       R"({"a":100,"b":1.0,"c":-9223372036854775808,"d":true})"},
      {"1e1", "10.0"}};
  for (const auto& [given, wanted] : kCases) EXPECT_EQ(PositionalNumbers(given), wanted) << given;
}

TEST(PostgresValues, EveryDoubleIsTheSameInPositionalNotation) {
  std::random_device entropy;
  const unsigned seed = entropy();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  int compared = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto number = std::bit_cast<double>(random());
    if (!std::isfinite(number)) continue;
    const std::string text = PositionalNumbers(nlohmann::json(number).dump());
    ASSERT_EQ(text.find_first_of("eE"), std::string::npos) << text;
    ASSERT_NE(text.find('.'), std::string::npos) << text;
    ASSERT_EQ(std::bit_cast<uint64_t>(std::strtod(text.c_str(), nullptr)),
              std::bit_cast<uint64_t>(number))
        << text;
    ++compared;
  }
  EXPECT_GT(compared, 19'000);
}

TEST(PostgresValues, AVectorKeepsEveryBit) {
  const std::vector<float> vector = {0.0F, -0.0F, 0.1F, std::numeric_limits<float>::denorm_min(),
                                     std::numeric_limits<float>::max()};
  const std::string value = VectorValue(vector);
  EXPECT_EQ(value.substr(0, 8), std::string("\0\5\0\0\0\0\0\0", 8));
  const std::vector<float> back = ParseVectorValue(value);
  ASSERT_EQ(back.size(), vector.size());
  for (size_t i = 0; i < back.size(); ++i) {
    EXPECT_EQ(std::bit_cast<uint32_t>(back[i]), std::bit_cast<uint32_t>(vector[i])) << i;
  }
  for (const std::string& damaged : {std::string(), value.substr(0, 3), value.substr(0, 7),
                                     value + "x", std::string("\0\0\0\0", 4)}) {
    EXPECT_THROW(ParseVectorValue(damaged), Failure) << damaged.size();
  }
}

TEST(PostgresValues, ArraysSayHowManyAndWhichAreNull) {
  ArrayValue array(25);
  EXPECT_EQ(array.Text(), std::string("\0\0\0\0\0\0\0\0\0\0\0\31", 12)) << "no dimension";
  array.Add("ab");
  array.AddNull();
  EXPECT_EQ(array.Text(), std::string("\0\0\0\1"
                                      "\0\0\0\1"
                                      "\0\0\0\31"
                                      "\0\0\0\2"
                                      "\0\0\0\1"
                                      "\0\0\0\2ab"
                                      "\377\377\377\377",
                                      30));
}

TEST(PostgresValues, WhatItsTextCannotHoldIsNamed) {
  const auto said = [](const Record& record) -> std::string {
    try {
      CheckTexts(record);
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.status, PIGMENT_INVALID_ARGUMENT);
      return failure.what();
    }
    return "";
  };
  Record record;
  record.id = "it";
  record.metadata = R"({"k":"\\u0000"})";  // a backslash and letters
  EXPECT_EQ(said(record), "");
  record.metadata = R"({"k":"\\\u0000"})";
  EXPECT_NE(said(record).find(R"(record "it": its metadata has U+0000)"), std::string::npos);
  record.metadata.reset();
  record.uri = "\xFF";
  EXPECT_NE(said(record).find("its uri is no UTF-8"), std::string::npos);
  record.uri.reset();
  record.document = std::string("a\0b", 3);
  EXPECT_NE(said(record).find("its document has U+0000"), std::string::npos);
}

TEST(PostgresValues, AnSqlstateIsAStatus) {
  const std::pair<const char*, pigment_status> kCases[] = {{"22023", PIGMENT_INVALID_ARGUMENT},
                                                           {"22P05", PIGMENT_INVALID_ARGUMENT},
                                                           {"23514", PIGMENT_INVALID_ARGUMENT},
                                                           {"42704", PIGMENT_NOT_FOUND},
                                                           {"42710", PIGMENT_ALREADY_EXISTS},
                                                           {"42501", PIGMENT_PERMISSION_DENIED},
                                                           {"53100", PIGMENT_RESOURCE_EXHAUSTED},
                                                           {"54000", PIGMENT_RESOURCE_EXHAUSTED},
                                                           {"55000", PIGMENT_FAILED_PRECONDITION},
                                                           {"42883", PIGMENT_FAILED_PRECONDITION},
                                                           {"40001", PIGMENT_ABORTED},
                                                           {"40P01", PIGMENT_ABORTED},
                                                           {"0A000", PIGMENT_UNIMPLEMENTED},
                                                           {"57P01", PIGMENT_UNAVAILABLE},
                                                           {"08006", PIGMENT_UNAVAILABLE},
                                                           {"28P01", PIGMENT_UNAUTHENTICATED},
                                                           {"XX000", PIGMENT_INTERNAL},
                                                           {"XX001", PIGMENT_DATA_LOSS},
                                                           {"57014", PIGMENT_DEADLINE_EXCEEDED},
                                                           {"ZZ999", PIGMENT_UNKNOWN}};
  for (const auto& [sqlstate, status] : kCases)
    EXPECT_EQ(StatusOfSqlState(sqlstate), status) << sqlstate;
}

TEST(PostgresValues, ABuildWithoutLibpqSaysSo) {
  try {
    RefusePostgres();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.status, PIGMENT_UNIMPLEMENTED);
    EXPECT_NE(std::string(failure.what()).find("was built without libpq"), std::string::npos);
  }
}

}  // namespace
}  // namespace pigment_tool

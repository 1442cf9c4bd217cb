// SPDX-License-Identifier: Apache-2.0
//
// Tests of engine/record/validate.h: the rules of notes on Chroma, case by case.

#include "engine/record/validate.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace pigment {
namespace {

TEST(Validate, CollectionNamesFollowTheRule) {
  for (const std::string& good :
       {std::string("abc"), std::string("a-b"), std::string("A.b_c-9"), std::string("123"),
        std::string(512, 'x'), std::string("a--b"), std::string("256.1.1.1"), std::string("1.2.3"),
        std::string("1.2.3.4.5"), std::string("01.2.3.4")}) {
    EXPECT_TRUE(CheckCollectionName(good).ok()) << good;
  }
  const std::string pattern =
      "expected a collection name of 3 to 512 characters from [a-zA-Z0-9._-], starting and ending "
      "with a character in "
      "[a-zA-Z0-9], got ";
  for (const std::string& bad :
       {std::string(), std::string("ab"), std::string(513, 'x'), std::string("-ab"),
        std::string("ab-"), std::string(".ab"), std::string("ab_"), std::string("a b"),
        std::string("a/b"), std::string("grün"), std::string("a\0b", 3), std::string("::1"),
        std::string("2001:db8::1"), std::string("abc\n")}) {
    const Status status = CheckCollectionName(bad);
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << bad;
    EXPECT_EQ(status.detail(), Detail::kName);
    EXPECT_EQ(status.message().substr(0, pattern.size()), pattern) << bad;
  }
}

TEST(Validate, CollectionNamesHaveNoDotsInARowNoAddressNoTopology) {
  EXPECT_EQ(CheckCollectionName("a..b").message(),
            "a collection name must not have two dots in a row, got \"a..b\"");
  for (const char* address : {"127.0.0.1", "0.0.0.0", "255.255.255.255"}) {
    EXPECT_EQ(CheckCollectionName(address).message(),
              "a collection name must not be an IP address, got \"" + std::string(address) + "\"");
  }
  EXPECT_EQ(
      CheckCollectionName("topology+name").message(),
      "a collection name must not have a + (a topology is not supported), got \"topology+name\"");
}

TEST(Validate, DatabasesAndTenantsNeedThreeCharacters) {
  EXPECT_TRUE(CheckDatabaseName("a b/c?").ok());
  EXPECT_TRUE(CheckTenantName("grü").ok());
  EXPECT_EQ(CheckDatabaseName("ab").message(),
            "database name must be at least 3 characters, got \"ab\"");
  EXPECT_EQ(CheckTenantName("üü").message(),
            "tenant name must be at least 3 characters, got \"üü\"");
  EXPECT_EQ(CheckTenantName("abc\xff").message(), "tenant name must be UTF-8, got \"abc\\xff\"");
  EXPECT_EQ(CheckTenantName("").detail(), Detail::kName);
}

TEST(Validate, IdsAreNotEmpty) {
  EXPECT_TRUE(CheckIds({"a", "b"}, "add").ok());
  EXPECT_EQ(CheckIds({}, "add").message(), "expected ids to be a non-empty list, got 0 ids in add");
  const Status empty = CheckIds({"a", ""}, "upsert");
  EXPECT_EQ(empty.message(), "an id must have at least one character, got \"\" in upsert");
  EXPECT_EQ(empty.row(), 1);
  const Status bytes = CheckIds({"a", "b", "\xff"}, "get");
  EXPECT_EQ(bytes.message(), "an id must be UTF-8, got \"\\xff\" in get");
  EXPECT_EQ(bytes.row(), 2);
}

TEST(Validate, DuplicateIdsAreListed) {
  const Status two = CheckIds({"a", "b", "c", "b", "a", "a"}, "add");
  EXPECT_EQ(two.code(), Code::kInvalidArgument);
  EXPECT_EQ(two.detail(), Detail::kDuplicateId);
  EXPECT_EQ(two.row(), 3);
  EXPECT_EQ(two.message(), "expected ids to be unique, found duplicates of: b, a in add");

  std::vector<std::string> ids;
  for (int i = 0; i < 9; ++i) ids.insert(ids.end(), 2, std::to_string(i));
  EXPECT_EQ(CheckIds(ids, "add").message(),
            "expected ids to be unique, found duplicates of: 0, 1, 2, 3, 4, 5, 6, 7, 8 in add");
  for (int i = 9; i < 12; ++i) ids.insert(ids.end(), 2, std::to_string(i));
  EXPECT_EQ(CheckIds(ids, "add").message(),
            "expected ids to be unique, found 12 duplicated ids: 0, 1, 2, 3, 4, ..., 7, 8, 9, 10, "
            "11 in add");
}

TEST(Validate, VectorsAreFinite) {
  const std::vector<float> good{
      1, 2, 3, -std::numeric_limits<float>::max(), 0, std::numeric_limits<float>::denorm_min()};
  EXPECT_TRUE(CheckVectors(good, 2, 3).ok());
  EXPECT_TRUE(CheckVectors({}, 0, 3).ok());
  for (float bad : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                    std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> values(300, 1.0f);
    values[299 - 7] = bad;
    const Status status = CheckVectors(values, 100, 3);
    EXPECT_EQ(status.detail(), Detail::kNotFinite);
    EXPECT_EQ(status.row(), 97);
    EXPECT_EQ(status.message().substr(0, 47), "embeddings must not contain NaN or infinity, go");
  }
}

TEST(Validate, VectorsHaveADimensionInRange) {
  EXPECT_EQ(CheckVectors({}, 0, 0).message(), "embeddings must have 1 to 65535 dimensions, got 0");
  EXPECT_EQ(CheckVectors({}, 0, 65536).message(),
            "embeddings must have 1 to 65535 dimensions, got 65536 (limit dimension: 65535)");
  EXPECT_TRUE(CheckVectors(std::vector<float>(65535), 1, 65535).ok());
  const std::vector<float> five(5);
  EXPECT_EQ(CheckVectors(five, 2, 3).message(),
            "embeddings of 2 rows with 3 dimensions expected, got 5 values");
}

}  // namespace
}  // namespace pigment

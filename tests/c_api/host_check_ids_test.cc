// SPDX-License-Identifier: Apache-2.0
//
// The rules for ids of a call, through the public header alone.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pigment/pigment_host.h"

namespace {

struct CheckedIds {
  pigment_status status;
  std::string message;
  int64_t row;
};

CheckedIds CheckIds(const std::vector<std::string>& ids) {
  std::string bytes;
  std::vector<int64_t> offsets = {0};
  for (const std::string& id : ids) {
    bytes += id;
    offsets.push_back(static_cast<int64_t>(bytes.size()));
  }
  const pigment_text_column column = {offsets.data(), bytes.data(), nullptr};
  pigment_error* error = nullptr;
  const pigment_status status = pigment_check_ids(ids.size(), &column, "get", 3, &error);
  CheckedIds outcome = {status, pigment_error_message(error), pigment_error_row(error)};
  pigment_error_free(error);
  return outcome;
}

TEST(HostCheckIds, TakesUniqueIdsThatAreNotEmpty) {
  EXPECT_EQ(CheckIds({"a", "b", "A"}).status, PIGMENT_OK);
}

TEST(HostCheckIds, NamesWhatIsWrongAndWhere) {
  EXPECT_EQ(CheckIds({}).message, "expected ids to be a non-empty list, got 0 ids in get");
  const CheckedIds empty = CheckIds({"a", ""});
  EXPECT_EQ(empty.status, PIGMENT_INVALID_ARGUMENT);
  EXPECT_EQ(empty.row, 1);
  const CheckedIds twice = CheckIds({"a", "b", "c", "b"});
  EXPECT_EQ(twice.message, "expected ids to be unique, found duplicates of: b in get");
  EXPECT_EQ(twice.row, 3);
}

TEST(HostCheckIds, RefusesAMissingColumn) {
  EXPECT_EQ(pigment_check_ids(1, nullptr, "get", 3, nullptr), PIGMENT_INVALID_ARGUMENT);
  const pigment_text_column absent = {nullptr, nullptr, nullptr};
  EXPECT_EQ(pigment_check_ids(0, &absent, "get", 3, nullptr), PIGMENT_INVALID_ARGUMENT);
}

}  // namespace

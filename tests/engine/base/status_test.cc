// SPDX-License-Identifier: Apache-2.0
//
// Status and Result: facts are kept, ok carries none, the table of codes is whole.

#include "engine/base/status.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tests/support/status_matchers.h"

namespace pigment {
namespace {

TEST(Status, AnErrorKeepsEveryFact) {
  const Status status =
      DataLoss(Detail::kChecksum, "db/CATALOG", 64, "it differs").WithRow(7).WithHint("restore it");
  EXPECT_FALSE(status.ok());
  EXPECT_EQ(status.code(), Code::kDataLoss);
  EXPECT_EQ(status.detail(), Detail::kChecksum);
  EXPECT_EQ(status.row(), 7);
  EXPECT_EQ(status.file(), "db/CATALOG");
  EXPECT_EQ(status.offset(), 64);
  EXPECT_EQ(status.ToString(),
            "data loss: it differs (row 7) (file db/CATALOG, offset 64); hint: restore it");
}

TEST(Status, OkCarriesNothing) {
  const Status status = Status::Ok().WithHint("x").WithRow(1).WithFile("x", 1);
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.hint(), "");
  EXPECT_EQ(status.row(), -1);
  EXPECT_EQ(status.offset(), -1);
  EXPECT_TRUE(Status(Code::kOk, "ignored").ok());
}

TEST(Status, ACopyIsNotChangedByAddingFacts) {
  const Status first = NotFound("x");
  const Status second = Status(first).WithHint("look elsewhere");
  EXPECT_EQ(first.hint(), "");
  EXPECT_EQ(second.hint(), "look elsewhere");
}

TEST(Status, TheTableHasEveryCodeOnceWithASqlstate) {
  std::set<int32_t> numbers;
  for (int32_t number = 0; number <= 18; ++number) {
    const CodeInfo* info = FindCodeInfo(number);
    ASSERT_NE(info, nullptr) << number;
    EXPECT_EQ(static_cast<int32_t>(info->code), number);
    EXPECT_EQ(info->sqlstate.size(), 5u) << info->name;
    EXPECT_EQ(info->fault == Fault::kNone, number == 0) << info->name;
    numbers.insert(number);
  }
  EXPECT_EQ(FindCodeInfo(19), nullptr);
  EXPECT_EQ(FindCodeInfo(-1), nullptr);
}

Result<std::vector<int>> Numbers(bool is_good) {
  if (!is_good) return InvalidArgument("no numbers");
  return std::vector<int>{1, 2, 3};
}

Result<int> Sum(bool is_good) {
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<int> numbers, Numbers(is_good));
  int sum = 0;
  for (const int number : numbers) sum += number;
  return sum;
}

TEST(Result, MacrosPassValuesAndErrorsOn) {
  ASSERT_OK(Sum(true));
  EXPECT_EQ(*Sum(true), 6);
  EXPECT_CODE(Sum(false), Code::kInvalidArgument);
}

TEST(Result, ARangeForOverATemporaryIsSafe) {
  int sum = 0;
  for (const int number : *Numbers(true)) sum += number;
  EXPECT_EQ(sum, 6);
}

}  // namespace
}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// Rows by ids against the plain way over sets of rows: the same rows in the same order, over
// segments, deletions and tail, with filters, limits and offsets, and with ids that nobody has.

#include "engine/query/search_listed.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

constexpr uint32_t kDimension = 3;
constexpr uint32_t kIds = 120;

Result<std::vector<RowPlace>> Plain(const Version& version, const GetRequest& request) {
  ReadCounters counters;
  PIGMENT_ASSIGN_OR_RETURN(const Plan plan, PlanRows(version, request.read));
  SegmentReaders readers(version);
  return RowsInOrder(version, request, plan, readers, counters);
}

Result<std::vector<RowPlace>> Listed(const Version& version, const GetRequest& request) {
  ReadCounters counters;
  SegmentReaders readers(version);
  PIGMENT_ASSIGN_OR_RETURN(auto rows, RowsOfIds(version, request.read, readers));
  return FilterInOrder(version, request, std::move(rows), readers, counters);
}

TEST(RowsOfIds, AreThoseOfThePlainWay) {
  for (const uint64_t seed : {1u, 2u, 3u, 4u}) {
    SCOPED_TRACE(seed);
    BatchMaker maker(seed, kDimension, kIds);
    auto store = Store::Open(std::nullopt, {}).value();
    auto docs = store->CreateCollection(EntryNamed("docs")).value();
    for (int part = 0; part < 4; ++part) {
      for (int batches = 0; batches < 10; ++batches) ASSERT_OK(docs->Write(maker.Batch(20)));
      // With the last part in the tail in every second store.
      if (part < 3 || seed % 2 == 0) ASSERT_OK(docs->Flush());
    }
    const auto version = docs->Pin().value();
    size_t rows = 0;
    for (int round = 0; round < 400; ++round) {
      GetRequest request;
      request.read.ids.emplace();
      for (size_t count = maker.Below(round % 2 == 0 ? 4 : 90); count > 0; --count)
        request.read.ids->push_back(maker.Chance(90) ? maker.Id() : "nobody");
      if (maker.Chance(30)) {
        request.read.filter =
            Filter::Parse(std::string_view(R"({"a": {"$gte": 1}})"), std::nullopt).value();
      }
      if (maker.Chance(30)) request.limit = maker.Below(20);
      if (maker.Chance(30)) request.offset = maker.Below(10);
      const auto plain = Plain(*version, request);
      const auto listed = Listed(*version, request);
      ASSERT_OK(plain);
      ASSERT_OK(listed);
      ASSERT_EQ(*listed, *plain) << "round " << round;
      rows += plain->size();
    }
    EXPECT_GT(rows, 2000u);
  }
}

}  // namespace
}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// Filters against the plain model of tests/support on random records.

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "engine/query/filter.h"
#include "tests/support/effort.h"
#include "tests/support/filter_model.h"

namespace pigment {
namespace {

using nlohmann::json;

Metadata ToMetadata(const ModelRecord& record, MetadataShape shape) {
  if (record.metadata.is_null()) return {};
  bool present = false;
  Result<Metadata> metadata =
      ParseMetadataJson(record.metadata.dump(), MetadataUse::kNewRecord, &present, shape);
  EXPECT_TRUE(metadata.ok()) << metadata.status().ToString();
  return metadata.ok() ? *metadata : Metadata();
}

void ExpectAgreement(ModelShape shape) {
  constexpr uint64_t kSeed = 20261121;
  const bool is_nested = shape == ModelShape::kNested;
  constexpr int kFilters = Rounds(25000);
  constexpr int kRecordsPerFilter = 8;
  SCOPED_TRACE(::testing::Message() << "seed " << kSeed);
  std::mt19937_64 random(kSeed);
  uint64_t pairs = 0, matched = 0;
  for (int i = 0; i < kFilters; ++i) {
    const int depth_max = static_cast<int>(random() % 4);
    const json where = random() % 8 == 0 ? json() : RandomModelWhere(random, depth_max, shape);
    const json document = random() % 4 != 0 ? json() : RandomModelWhereDocument(random, depth_max);
    const auto filter = Filter::Parse(where.dump(), document.dump());
    ASSERT_TRUE(filter.ok()) << where.dump() << " " << document.dump() << ": "
                             << filter.status().ToString();
    for (int j = 0; j < kRecordsPerFilter; ++j) {
      const ModelRecord record = RandomModelRecord(random, shape);
      const Metadata metadata =
          ToMetadata(record, is_nested ? MetadataShape::kNested : MetadataShape::kFlat);
      FilterSubject subject{.id = record.id, .document = record.document, .uri = record.uri};
      if (!record.metadata.is_null()) subject.metadata = &metadata;
      const bool expected = ModelMatches(where, document, record);
      ASSERT_EQ((*filter)->Matches(subject), expected)
          << "filter " << i << " record " << j << "\nwhere " << where.dump() << "\nwhere_document "
          << document.dump() << "\nid " << record.id << " metadata " << record.metadata.dump()
          << "\ndocument " << record.document.value_or("(none)") << "\nuri "
          << record.uri.value_or("(none)");
      ++pairs;
      matched += expected ? 1 : 0;
    }
  }
  EXPECT_GE(pairs, Rounds(200000u));
  // Both answers are common, or the test shows little.
  EXPECT_GT(matched, pairs / 4);
  EXPECT_LT(matched, pairs * 3 / 4);
}

TEST(FilterDifferential, RandomFiltersAgreeWithTheModel) { ExpectAgreement(ModelShape::kFlat); }

TEST(FilterDifferential, RandomFiltersOfPathsAgreeWithTheModel) {
  ExpectAgreement(ModelShape::kNested);
}

}  // namespace
}  // namespace pigment

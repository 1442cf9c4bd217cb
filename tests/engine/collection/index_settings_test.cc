// SPDX-License-Identifier: Apache-2.0
//
// CONTRACT 25: what a collection's configuration says about its index has effect.

#include <gtest/gtest.h>

#include "engine/base/memory_files.h"
#include "engine/collection/store.h"
#include "engine/record/configuration.h"
#include "tests/support/made_vectors.h"
#include "tests/support/status_matchers.h"
#include "tests/support/store_model.h"

namespace pigment {
namespace {

constexpr uint32_t kSettingsDimension = 32;

class IndexSettingsTest : public testing::Test {
 protected:
  // A collection of 3,000 records, compacted.
  std::shared_ptr<Collection> Make(const std::string& configuration) {
    return Make(configuration, made_);
  }
  std::shared_ptr<Collection> Make(const std::string& configuration, const VectorTable& vectors) {
    const auto parsed = ParseConfiguration(configuration, nullptr, std::nullopt);
    EXPECT_OK(parsed);
    CollectionEntry entry = EntryNamed("docs" + std::to_string(made_count_++));
    entry.configuration_json = parsed->json;
    const auto docs = store_->CreateCollection(entry).value();
    for (uint32_t first = 0; first < vectors.count(); first += 500) {
      WriteBatch batch;
      batch.kind = WriteKind::kAdd;
      batch.dimension = kSettingsDimension;
      for (uint32_t i = first; i < first + 500; ++i) {
        batch.ids.push_back("id" + std::to_string(i));
        batch.embeddings.insert(batch.embeddings.end(), vectors.row(i),
                                vectors.row(i) + kSettingsDimension);
      }
      EXPECT_OK(docs->Write(std::move(batch)));
    }
    segments_before_ = docs->Segments()->size();
    EXPECT_OK(docs->Compact());
    return docs;
  }
  static SegmentInfo InfoOf(const std::shared_ptr<Collection>& docs) {
    return docs->Pin().value()->segments.at(0).segment->info();
  }

  MemoryFileSystem files_;
  const VectorTable made_ =
      ClusteredVectors({.count = 3000, .dimension = kSettingsDimension, .clusters = 30, .seed = 2});
  std::shared_ptr<Store> store_ =
      Store::Open("db", {.index_rows_min = 1000, .background_threads = 0}, &files_).value();
  int made_count_ = 0;
  size_t segments_before_ = 0;
};

TEST_F(IndexSettingsTest, TheKindIsThatOfTheSegments) {
  EXPECT_EQ(InfoOf(Make("{}")).kind, SegmentKind::kGraph);
  EXPECT_EQ(InfoOf(Make(R"({"spann":{}})")).kind, SegmentKind::kClusters);
}

TEST_F(IndexSettingsTest, WithoutParametersTheKindIsWhatTheVectorsAreSearchedBestBy) {
  const VectorTable grouped = ClusteredVectors({.count = 18'000,
                                                .dimension = kSettingsDimension,
                                                .clusters = 180,
                                                .spread = 0.2f,
                                                .seed = 3});
  const auto docs = Make("{}", grouped);
  EXPECT_EQ(InfoOf(docs).kind, SegmentKind::kClusters);
  EXPECT_FALSE(docs->Pin().value()->segments.at(0).segment->has_codes());
  // It is what it should be: nothing is left to do.
  const uint32_t segment = InfoOf(docs).segment;
  ASSERT_OK(docs->Compact());
  EXPECT_EQ(InfoOf(docs).segment, segment);
  EXPECT_EQ(InfoOf(Make(R"({"hnsw":{"max_neighbors":15}})", grouped)).kind, SegmentKind::kGraph);
  const VectorTable spread =
      NormalVectors({.count = 10'000, .dimension = kSettingsDimension, .seed = 4});
  EXPECT_EQ(InfoOf(Make("{}", spread)).kind, SegmentKind::kGraph);
}

TEST_F(IndexSettingsTest, MaxNeighborsAreLinksOfNodes) {
  const uint32_t few = InfoOf(Make(R"({"hnsw":{"max_neighbors":4}})")).blocks;
  const uint32_t standard = InfoOf(Make(R"({"hnsw":{"max_neighbors":16}})")).blocks;
  const uint32_t many = InfoOf(Make(R"({"hnsw":{"max_neighbors":1000}})")).blocks;
  // A link takes 8 bytes and a bit for each dimension.
  EXPECT_LT(few + 3000 * 8 * 8 / kBlockBytes, standard);
  EXPECT_LT(standard + 3000 * 8 * 8 / kBlockBytes, many);
}

TEST_F(IndexSettingsTest, SplitThresholdIsTheSizeOfClusters) {
  const uint32_t standard = InfoOf(Make(R"({"spann":{}})")).clusters;
  const uint32_t small = InfoOf(Make(R"({"spann":{"split_threshold":25}})")).clusters;
  const uint32_t large = InfoOf(Make(R"({"spann":{"split_threshold":200}})")).clusters;
  EXPECT_GT(small, standard * 3 / 2);
  EXPECT_LT(large, standard / 2);
}

TEST_F(IndexSettingsTest, SearchParametersAreTheWidthOfQueries) {
  EXPECT_EQ(Make("{}")->Pin().value()->search_width, 0u);
  EXPECT_EQ(Make(R"({"spann":{"search_nprobe":7}})")->Pin().value()->search_width, 7u);
  const auto docs = Make(R"({"hnsw":{"ef_search":70}})");
  EXPECT_EQ(docs->Pin().value()->search_width, 70u);
  ASSERT_OK(store_->ModifyCollection(docs->entry().id, [](CollectionEntry& entry) -> Status {
    PIGMENT_ASSIGN_OR_RETURN(
        const Configuration changed,
        UpdateConfiguration(entry.configuration_json, R"({"hnsw":{"ef_search":90}})"));
    entry.configuration_json = changed.json;
    return Status::Ok();
  }));
  EXPECT_EQ(docs->Pin().value()->search_width, 90u);
}

TEST_F(IndexSettingsTest, BatchSizeAndSyncThresholdSteerTheFlush) {
  Make("{}");
  EXPECT_EQ(segments_before_, 0u);
  Make(R"({"hnsw":{"sync_threshold":1500}})");
  EXPECT_EQ(segments_before_, 2u);
  Make(R"({"hnsw":{"sync_threshold":500,"batch_size":3000}})");
  EXPECT_EQ(segments_before_, 1u);
}

}  // namespace
}  // namespace pigment

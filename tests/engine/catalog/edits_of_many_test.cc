// SPDX-License-Identifier: Apache-2.0
//
// Edits that concern many collections: a group with one sync, and one floor for all.

#include <gtest/gtest.h>

#include "tests/engine/catalog/catalog_harness.h"

namespace pigment {
namespace {

std::vector<CollectionEntry> Made(Catalog& catalog, int count) {
  std::vector<CollectionEntry> entries;
  for (int i = 1; i <= count; ++i) {
    entries.push_back(
        CatalogHarness::FullEntry(static_cast<uint8_t>(i), "c" + std::to_string(i)));
    entries.back().floor = 5;
    EXPECT_OK(catalog.CreateCollection(entries.back()));
  }
  return entries;
}

TEST(CatalogEditsOfMany, ChangeAllWithOneSyncAndAreFoundAgain) {
  CatalogHarness harness;
  ASSERT_OK(harness.Open());
  auto entries = Made(*harness.catalog, 50);
  for (CollectionEntry& entry : entries) {
    entry.shelf = {.file = 7, .offset = entry.floor * 100, .length = 100};
    entry.floor = 12;
  }
  const uint64_t syncs = harness.files.CountOperations(uint32_t(FileOperation::kSync));
  ASSERT_OK(harness.catalog->UpdateCollections(entries));
  EXPECT_EQ(harness.files.CountOperations(uint32_t(FileOperation::kSync)), syncs + 1);
  harness.files.CutPower({.keep = PowerCut::Keep::kNothing});
  ASSERT_OK(harness.Open());
  for (const CollectionEntry& entry : entries) {
    const auto found = harness.catalog->GetCollectionById(entry.id);
    ASSERT_OK(found);
    EXPECT_EQ(CatalogState::PutCollection(*found), CatalogState::PutCollection(entry));
    EXPECT_EQ(found->shelf, entry.shelf);
  }
}

TEST(CatalogEditsOfMany, AreRefusedWholeWhenOneCollectionIsGone) {
  CatalogHarness harness;
  ASSERT_OK(harness.Open());
  auto entries = Made(*harness.catalog, 3);
  ASSERT_OK(harness.catalog->DeleteCollection(entries[2].id));
  const std::string before = harness.Dump();
  for (CollectionEntry& entry : entries) entry.floor = 99;
  EXPECT_CODE(harness.catalog->UpdateCollections(entries), Code::kNotFound);
  EXPECT_EQ(harness.Dump(), before);
  entries.pop_back();
  entries[0].name = "other";
  EXPECT_CODE(harness.catalog->UpdateCollections(entries), Code::kInternal);
  EXPECT_EQ(harness.Dump(), before);
}

TEST(CatalogEditsOfMany, AfterACrashEachCollectionIsAsBeforeOrAfter) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    CatalogHarness harness;
    ASSERT_OK(harness.Open());
    auto entries = Made(*harness.catalog, 30);
    for (CollectionEntry& entry : entries) entry.floor = 12;
    harness.files.StopAt(2);  // the write went through, the sync did not
    ASSERT_FALSE(harness.catalog->UpdateCollections(entries).ok());
    harness.files.CutPower({.keep = PowerCut::Keep::kRandom, .seed = seed});
    ASSERT_OK(harness.Open());
    bool may_be_new = true;
    for (const CollectionEntry& entry : entries) {
      const uint64_t floor = *harness.catalog->FloorOf(entry.id);
      ASSERT_TRUE(floor == 5 || (floor == 12 && may_be_new));
      may_be_new = floor == 12;
    }
  }
}

TEST(CatalogEditsOfMany, FloorsRiseTogetherAndNeverFall) {
  CatalogHarness harness;
  ASSERT_OK(harness.Open());
  auto entries = Made(*harness.catalog, 3);
  entries[1].floor = 50;
  ASSERT_OK(harness.catalog->UpdateCollection(entries[1]));
  ASSERT_OK(harness.catalog->RaiseFloors(20));
  ASSERT_OK(harness.catalog->RaiseFloors(10));
  entries[0].floor = 7;
  ASSERT_OK(harness.catalog->UpdateCollection(entries[0]));
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(harness.catalog->FloorOf(entries[0].id), 20u);
    EXPECT_EQ(harness.catalog->FloorOf(entries[1].id), 50u);
    EXPECT_EQ(harness.catalog->GetCollectionById(entries[2].id)->floor, 20u);
    if (round == 0) ASSERT_OK(harness.catalog->Checkpoint());
    ASSERT_OK(harness.Open());
  }
  EXPECT_EQ(harness.catalog->FloorOf(CatalogHarness::Id(200)), std::nullopt);
}

TEST(CatalogEditsOfMany, TenThousandCollectionsWriteFewSnapshots) {
  CatalogHarness harness;
  ASSERT_OK(harness.Open());
  const uint64_t renames = harness.files.CountOperations(uint32_t(FileOperation::kRename));
  CollectionEntry entry = CatalogHarness::Entry(1, "");
  for (int i = 0; i < 10000; ++i) {
    entry.id = *Uuid::Random();
    entry.name = "collection-" + std::to_string(i);
    ASSERT_OK(harness.catalog->CreateCollection(entry));
  }
  EXPECT_LE(harness.files.CountOperations(uint32_t(FileOperation::kRename)) - renames, 16u);
  EXPECT_EQ(harness.catalog->statistics().collections, 10000u);
  EXPECT_GT(harness.catalog->statistics().bytes, 10000u * 100);
}

}  // namespace
}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// A catalog of format 1 (the fixture of version 0.1): read as it is, migrated in one durable step by
// the first writer, and after a crash in between it is one or the other.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "engine/base/record_framing.h"
#include "engine/base/version.h"
#include "engine/catalog/catalog_files.h"
#include "tests/engine/catalog/catalog_harness.h"

namespace pigment {
namespace {

using ::testing::ElementsAre;

std::string FixtureBytes(const std::string& name) {
  std::ifstream file(std::string(PIGMENT_SOURCE_DIR) + "/tests/fixtures/0.1/closed/" + name,
                     std::ios::binary);
  EXPECT_TRUE(file) << name;
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

// Copies the fixture's catalog, durable.
void CopyFixture(CatalogHarness& harness) {
  for (const char* name : {"CATALOG", "CATALOG.edits.0000000001"}) {
    const auto file = harness.files.Open(std::string("db/") + name, OpenMode::kCreate);
    ASSERT_OK(file);
    ASSERT_OK((*file)->WriteAt(0, AsBytes(FixtureBytes(name))));
    ASSERT_OK((*file)->Sync());
  }
  ASSERT_OK(harness.files.SyncDirectory("db"));
}

uint32_t VersionOf(CatalogHarness& harness, const std::string& name) {
  return LoadLittle<uint32_t>(AsBytes(harness.Contents(name)).data() + 12);
}

std::vector<std::pair<uint32_t, std::string>> Applied(const Catalog& catalog) {
  std::vector<std::pair<uint32_t, std::string>> applied;
  for (const Catalog::Migration& migration : catalog.migrations()) {
    EXPECT_FALSE(migration.name.empty());
    applied.emplace_back(migration.number, migration.version);
  }
  return applied;
}

TEST(CatalogMigrations, ANewCatalogHasThemAll) {
  CatalogHarness harness;
  ASSERT_OK(harness.Open());
  const auto all = ElementsAre(std::pair(1u, std::string(kLibraryVersion)),
                               std::pair(2u, std::string(kLibraryVersion)));
  EXPECT_THAT(Applied(*harness.catalog), all);
  ASSERT_OK(harness.Open());
  EXPECT_THAT(Applied(*harness.catalog), all);
}

TEST(CatalogMigrations, AReaderReadsFormat1AsItIs) {
  CatalogHarness harness;
  CopyFixture(harness);
  const uint64_t changes = harness.files.CountOperations(kChangingFileOperations);
  ASSERT_OK(harness.Open(true));
  EXPECT_EQ(harness.files.CountOperations(kChangingFileOperations), changes);
  EXPECT_EQ(VersionOf(harness, "CATALOG"), 1u);
  EXPECT_THAT(Applied(*harness.catalog), ElementsAre(std::pair(1u, "0.1.0")));
  EXPECT_EQ(harness.catalog->AllCollections().size(), 6u);
}

TEST(CatalogMigrations, AWriterMigratesAndKeepsEverything) {
  CatalogHarness harness;
  CopyFixture(harness);
  ASSERT_OK(harness.Open(true));
  const std::string before = harness.Dump();
  ASSERT_OK(harness.Open());
  EXPECT_EQ(harness.Dump(), before);
  const auto both =
      ElementsAre(std::pair(1u, "0.1.0"), std::pair(2u, std::string(kLibraryVersion)));
  EXPECT_THAT(Applied(*harness.catalog), both);
  for (const std::string& name : harness.Names()) EXPECT_EQ(VersionOf(harness, name), 2u) << name;
  harness.files.CutPower({.keep = PowerCut::Keep::kNothing});
  ASSERT_OK(harness.Open(true));
  EXPECT_EQ(harness.Dump(), before);
  EXPECT_THAT(Applied(*harness.catalog), both);
}

TEST(CatalogMigrations, ACrashLeavesOneFormatOrTheOther) {
  uint64_t states = 0, migrated = 0, old = 0;
  bool is_past = false;
  for (uint64_t at = 1; !is_past; ++at) {
    for (uint64_t seed = 0; seed < 40; ++seed) {
      SCOPED_TRACE(::testing::Message() << "stopped at " << at << " seed " << seed);
      CatalogHarness harness;
      CopyFixture(harness);
      ASSERT_OK(harness.Open(true));
      const std::string before = harness.Dump();
      harness.files.StopAt(at);
      is_past = harness.Open().ok();
      static constexpr PowerCut::Keep kKeeps[] = {
          PowerCut::Keep::kNothing, PowerCut::Keep::kEverything, PowerCut::Keep::kPrefix,
          PowerCut::Keep::kRandom};
      harness.files.CutPower({.keep = kKeeps[seed % 4], .seed = seed});
      ASSERT_OK(harness.Open(true));
      ASSERT_EQ(harness.Dump(), before);
      const size_t applied = harness.catalog->migrations().size();
      ASSERT_EQ(VersionOf(harness, "CATALOG"), applied);
      ++(applied == 2 ? migrated : old);
      ASSERT_OK(harness.Open());
      ASSERT_EQ(harness.Dump(), before);
      ASSERT_EQ(harness.catalog->migrations().size(), 2u);
      ++states;
    }
  }
  EXPECT_GT(states, 400u);
  EXPECT_GT(migrated, 0u);
  EXPECT_GT(old, 0u);
}

TEST(CatalogMigrations, OnAFullDiskTheFirstEditMigrates) {
  CatalogHarness harness;
  CopyFixture(harness);
  ASSERT_OK(harness.Open(true));
  const std::string before = harness.Dump();
  harness.files.SetCapacity(harness.files.used_bytes() + 10);
  ASSERT_OK(harness.Open());
  EXPECT_EQ(VersionOf(harness, "CATALOG"), 1u);
  EXPECT_CODE(harness.catalog->CreateTenant("t"), Code::kResourceExhausted);
  harness.files.SetCapacity(0);
  ASSERT_OK(harness.catalog->CreateTenant("t"));
  ASSERT_OK(harness.catalog->DeleteTenant("t"));
  harness.files.CutPower({.keep = PowerCut::Keep::kNothing});
  ASSERT_OK(harness.Open(true));
  EXPECT_EQ(harness.Dump(), before);
  EXPECT_EQ(VersionOf(harness, "CATALOG"), 2u);
}

}  // namespace
}  // namespace pigment

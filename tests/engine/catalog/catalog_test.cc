// SPDX-License-Identifier: Apache-2.0
//
// Catalog: its calls and refusals, and that reopening gives back the same. Faults and crashes:
// catalog_crash_test.cc.

#include "engine/catalog/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <set>
#include <thread>

#include "engine/base/reader_pins.h"
#include "engine/base/record_framing.h"
#include "engine/catalog/catalog_files.h"
#include "tests/engine/catalog/catalog_harness.h"

namespace pigment {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Catalog, ANewOneHasTheDefaultTenantAndDatabaseAndAnIdentity) {
  CatalogHarness harness;
  ASSERT_OK(harness.Open());
  EXPECT_THAT(harness.catalog->ListTenants(), ElementsAre(kDefaultTenant));
  EXPECT_OK(harness.catalog->GetTenant(std::string(kDefaultTenant)));
  EXPECT_OK(
      harness.catalog->GetDatabase(std::string(kDefaultTenant), std::string(kDefaultDatabase)));
  const Uuid store = harness.catalog->store();
  EXPECT_FALSE(store.is_nil());
  ASSERT_OK(harness.Open());
  EXPECT_EQ(harness.catalog->store(), store);
}

TEST(Catalog, ReadOnlyCreatesNothingAndEditsNothing) {
  CatalogHarness harness;
  EXPECT_CODE(harness.Open(true), Code::kNotFound);
  EXPECT_TRUE(harness.Names().empty());
  ASSERT_OK(harness.Open());
  ASSERT_OK(harness.catalog->CreateCollection(CatalogHarness::Entry(1, "docs")));
  const uint64_t changes = harness.files.CountOperations(kChangingFileOperations);
  ASSERT_OK(harness.Open(true));
  EXPECT_OK(harness.catalog->GetCollectionById(CatalogHarness::Id(1)));
  for (const Status& status :
       {harness.catalog->CreateTenant("other"),
        harness.catalog->DeleteCollection(CatalogHarness::Id(1)), harness.catalog->Checkpoint(),
        StatusOf(harness.catalog->NextSegment())}) {
    EXPECT_CODE(status, Code::kFailedPrecondition);
    EXPECT_EQ(status.detail(), Detail::kReadOnly);
  }
  EXPECT_EQ(harness.files.CountOperations(kChangingFileOperations), changes);
}

TEST(Catalog, EverythingIsThereAfterReopeningWithAndWithoutCheckpoint) {
  for (const bool has_checkpoint : {false, true}) {
    CatalogHarness harness;
    ASSERT_OK(harness.Open());
    ASSERT_OK(harness.catalog->CreateTenant("acme"));
    ASSERT_OK(harness.catalog->CreateDatabase("acme", "a b/c?"));
    CollectionEntry entry = CatalogHarness::FullEntry(9, "docs");
    ASSERT_OK(harness.catalog->CreateCollection(entry));
    entry.id = CatalogHarness::Id(8);
    entry.tenant = "acme";
    entry.database = "a b/c?";
    ASSERT_OK(harness.catalog->CreateCollection(entry));
    if (has_checkpoint) ASSERT_OK(harness.catalog->Checkpoint());
    const std::string dump = harness.Dump();
    EXPECT_THAT(dump, HasSubstr(CatalogState::PutCollection(entry)));
    for (int i = 0; i < 3; ++i) {
      harness.files.CutPower({.keep = PowerCut::Keep::kNothing});
      ASSERT_OK(harness.Open());
      EXPECT_EQ(harness.Dump(), dump);
    }
    const Result<CollectionEntry> found = harness.catalog->GetCollection("acme", "a b/c?", "docs");
    ASSERT_OK(found);
    EXPECT_EQ(found->metadata, entry.metadata);
    EXPECT_EQ(found->segments.size(), 2u);
    EXPECT_EQ(found->segments[0].file_bytes, 81920u);
    EXPECT_EQ(found->metric, Metric::kCosine);
  }
}

TEST(Catalog, AbsentMetadataIsNotEmptyMetadata) {
  CatalogHarness harness;
  ASSERT_OK(harness.Open());
  ASSERT_OK(harness.catalog->CreateCollection(CatalogHarness::Entry(1, "docs")));
  ASSERT_OK(harness.Open());
  EXPECT_FALSE(harness.catalog->GetCollectionById(CatalogHarness::Id(1))->metadata.has_value());
}

TEST(Catalog, DuplicatesAndMissingParentsAreRefusedByName) {
  CatalogHarness harness;
  ASSERT_OK(harness.Open());
  Catalog& catalog = *harness.catalog;
  const std::string tenant(kDefaultTenant), database(kDefaultDatabase);
  ASSERT_OK(catalog.CreateCollection(CatalogHarness::Entry(1, "docs")));
  const std::string before = harness.Dump();
  const auto expect = [&](const Status& status, Code code, const std::string& text) {
    EXPECT_CODE(status, code);
    EXPECT_EQ(status.message(), text);
  };
  expect(catalog.CreateTenant(tenant), Code::kAlreadyExists,
         "tenant \"default_tenant\" already exists");
  expect(catalog.GetTenant("nope"), Code::kNotFound, "tenant \"nope\" not found");
  expect(catalog.DeleteTenant("nope"), Code::kNotFound, "tenant \"nope\" not found");
  expect(StatusOf(catalog.CreateDatabase("nope", "db1")), Code::kNotFound,
         "tenant \"nope\" not found");
  expect(StatusOf(catalog.ListDatabases("nope")), Code::kNotFound, "tenant \"nope\" not found");
  expect(StatusOf(catalog.CreateDatabase(tenant, database)), Code::kAlreadyExists,
         "database \"default_database\" already exists in tenant \"default_tenant\"");
  expect(StatusOf(catalog.GetDatabase(tenant, "nope")), Code::kNotFound,
         "database \"nope\" not found in tenant \"default_tenant\"");
  expect(catalog.DeleteDatabase(tenant, "nope"), Code::kNotFound,
         "database \"nope\" not found in tenant \"default_tenant\"");
  expect(StatusOf(catalog.ListCollections(tenant, "nope")), Code::kNotFound,
         "database \"nope\" not found in tenant \"default_tenant\"");
  expect(StatusOf(catalog.GetCollection("nope", database, "docs")), Code::kNotFound,
         "tenant \"nope\" not found");
  expect(StatusOf(catalog.GetCollection(tenant, database, "nope")), Code::kNotFound,
         "collection \"nope\" does not exist");
  expect(catalog.CreateCollection(CatalogHarness::Entry(2, "docs")), Code::kAlreadyExists,
         "collection \"docs\" already exists");
  expect(catalog.CreateCollection(CatalogHarness::Entry(1, "other")), Code::kAlreadyExists,
         "collection " + CatalogHarness::Id(1).ToString() + " already exists");
  CollectionEntry lost = CatalogHarness::Entry(3, "lost");
  lost.database = "nope";
  expect(catalog.CreateCollection(lost), Code::kNotFound,
         "database \"nope\" not found in tenant \"default_tenant\"");
  expect(catalog.UpdateCollection(CatalogHarness::Entry(3, "new")), Code::kNotFound,
         "collection " + CatalogHarness::Id(3).ToString() + " does not exist");
  expect(catalog.DeleteCollection(CatalogHarness::Id(3)), Code::kNotFound,
         "collection " + CatalogHarness::Id(3).ToString() + " does not exist");
  EXPECT_EQ(harness.Dump(), before);
}

TEST(Catalog, UpdateReplacesTheEntryAndRenames) {
  CatalogHarness harness;
  ASSERT_OK(harness.Open());
  Catalog& catalog = *harness.catalog;
  const std::string tenant(kDefaultTenant), database(kDefaultDatabase);
  ASSERT_OK(catalog.CreateCollection(CatalogHarness::Entry(1, "docs")));
  ASSERT_OK(catalog.CreateCollection(CatalogHarness::Entry(2, "other")));
  EXPECT_CODE(catalog.UpdateCollection(CatalogHarness::Entry(1, "other")), Code::kAlreadyExists);
  ASSERT_OK(catalog.UpdateCollection(CatalogHarness::FullEntry(1, "renamed")));
  EXPECT_CODE(catalog.GetCollection(tenant, database, "docs"), Code::kNotFound);
  EXPECT_EQ(catalog.GetCollection(tenant, database, "renamed")->dimension, 256u);
  ASSERT_OK(catalog.CreateCollection(CatalogHarness::Entry(3, "docs")));  // the name is free again
  ASSERT_OK(harness.Open());
  EXPECT_EQ(harness.catalog->GetCollectionById(CatalogHarness::Id(1))->name, "renamed");
  EXPECT_EQ(harness.catalog->GetCollectionById(CatalogHarness::Id(3))->name, "docs");
}

TEST(Catalog, CollectionsAreListedByIdAndDatabasesByName) {
  CatalogHarness harness;
  ASSERT_OK(harness.Open());
  Catalog& catalog = *harness.catalog;
  const std::string tenant(kDefaultTenant), database(kDefaultDatabase);
  for (const uint8_t number : {200, 3, 90}) {
    ASSERT_OK(catalog.CreateCollection(
        CatalogHarness::Entry(number, "c" + std::to_string(255 - number))));
  }
  std::vector<Uuid> ids;
  for (const CollectionEntry& entry : *catalog.ListCollections(tenant, database))
    ids.push_back(entry.id);
  EXPECT_THAT(ids,
              ElementsAre(CatalogHarness::Id(3), CatalogHarness::Id(90), CatalogHarness::Id(200)));
  EXPECT_EQ(catalog.AllCollections().size(), 3u);
  ASSERT_OK(catalog.CreateDatabase(tenant, "zeta"));
  ASSERT_OK(catalog.CreateDatabase(tenant, "alpha"));
  std::vector<std::string> names;
  for (const auto& entry : *catalog.ListDatabases(tenant)) names.push_back(entry.name);
  EXPECT_THAT(names, ElementsAre("alpha", kDefaultDatabase, "zeta"));
}

TEST(Catalog, DeletingADatabaseOrTenantTakesWhatIsInItAndNothingElse) {
  CatalogHarness harness;
  ASSERT_OK(harness.Open());
  Catalog& catalog = *harness.catalog;
  ASSERT_OK(catalog.CreateTenant("acme"));
  ASSERT_OK(catalog.CreateTenant("acme2"));
  uint8_t number = 1;
  for (const char* tenant : {"acme", "acme2"}) {
    for (const char* database : {"one", "one2", "two"}) {
      ASSERT_OK(catalog.CreateDatabase(tenant, database));
      CollectionEntry entry = CatalogHarness::Entry(number++, "docs");
      entry.tenant = tenant;
      entry.database = database;
      ASSERT_OK(catalog.CreateCollection(entry));
    }
  }
  ASSERT_OK(catalog.DeleteDatabase("acme", "one"));
  EXPECT_CODE(catalog.GetCollectionById(CatalogHarness::Id(1)), Code::kNotFound);
  EXPECT_EQ(catalog.AllCollections().size(), 5u);
  ASSERT_OK(catalog.DeleteTenant("acme"));
  EXPECT_EQ(catalog.AllCollections().size(), 3u);
  EXPECT_EQ(catalog.ListCollections("acme2", "one")->size(), 1u);
  const std::string dump = harness.Dump();
  ASSERT_OK(harness.Open());
  EXPECT_EQ(harness.Dump(), dump);
}

TEST(Catalog, SegmentNumbersAreNeverHandedOutTwice) {
  CatalogHarness harness;
  std::set<uint32_t> seen;
  for (int life = 0; life < 5; ++life) {
    ASSERT_OK(harness.Open());
    for (int i = 0; i < 150; ++i) {
      const Result<uint32_t> segment = harness.catalog->NextSegment();
      ASSERT_OK(segment);
      EXPECT_GT(*segment, 0u);
      EXPECT_TRUE(seen.insert(*segment).second) << *segment;
    }
    if (life % 2 == 0) ASSERT_OK(harness.catalog->Checkpoint());
    harness.files.CutPower({.keep = PowerCut::Keep::kNothing});
  }
}

TEST(Catalog, EditsThatOutgrowTheSnapshotAreCheckpointed) {
  CatalogHarness harness;
  ASSERT_OK(harness.Open());
  CollectionEntry entry = CatalogHarness::Entry(1, "docs");
  ASSERT_OK(harness.catalog->CreateCollection(entry));
  entry.configuration_json.assign(1000, 'x');
  for (int i = 0; i < 300; ++i) {
    entry.floor = static_cast<uint64_t>(i);
    ASSERT_OK(harness.catalog->UpdateCollection(entry));
  }
  const std::vector<std::string> names = harness.Names();
  ASSERT_EQ(names.size(), 2u) << ::testing::PrintToString(names);
  EXPECT_LT(harness.Contents(names[1]).size(), 100'000u);
  EXPECT_NE(names[1], CatalogEditsName(1));
  ASSERT_OK(harness.Open());
  EXPECT_EQ(harness.catalog->GetCollectionById(entry.id)->floor, 299u);
}

TEST(Catalog, AMissingCatalogBesideDataIsALossNotANewStore) {
  for (const std::string evidence :
       {"log/0000000001.log", "segments/1", "CATALOG.edits.0000000007"}) {
    CatalogHarness harness;
    const size_t slash = evidence.find('/');
    if (slash != std::string::npos)
      ASSERT_OK(harness.files.MakeDirectory("db/" + evidence.substr(0, slash)));
    ASSERT_OK(harness.files.Open("db/" + evidence, OpenMode::kCreate));
    const Status status = harness.Open();
    EXPECT_CODE(status, Code::kDataLoss);
    EXPECT_EQ(status.detail(), Detail::kMissing);
    EXPECT_EQ(status.file(), "db/CATALOG");
    EXPECT_THAT(status.message(), HasSubstr(evidence));
  }
  CatalogHarness empty_folders;
  ASSERT_OK(empty_folders.files.MakeDirectory("db/log"));
  EXPECT_OK(empty_folders.Open());
}

TEST(Catalog, MissingEditsAreALoss) {
  CatalogHarness harness;
  ASSERT_OK(harness.Open());
  ASSERT_OK(harness.files.Remove("db/" + harness.Names()[1]));
  const Status status = harness.Open();
  EXPECT_CODE(status, Code::kDataLoss);
  EXPECT_EQ(status.detail(), Detail::kMissing);
  EXPECT_THAT(status.file(), HasSubstr("CATALOG.edits."));
}

TEST(Catalog, EditsOfAnotherStoreAreForeign) {
  CatalogHarness harness, other;
  ASSERT_OK(harness.Open());
  ASSERT_OK(other.Open());
  const std::string name = harness.Names()[1];
  ASSERT_EQ(name, other.Names()[1]);
  harness.Replace(name, other.Contents(name));
  const Status status = harness.Open();
  EXPECT_CODE(status, Code::kDataLoss);
  EXPECT_EQ(status.detail(), Detail::kForeign);
}

TEST(Catalog, ANewerFormatIsNamedWithBothVersions) {
  CatalogHarness harness;
  ASSERT_OK(harness.Open());
  std::string bytes = harness.Contents("CATALOG");
  std::array<std::byte, 16> store = harness.catalog->store().bytes;
  bytes.replace(0, kFramedHeaderBytes,
                EncodeFramedHeader({.kind = FramedKind::kCatalogSnapshot,
                                    .version = 5,
                                    .store = store,
                                    .number = 1,
                                    .first_position = 1}));
  harness.Replace("CATALOG", bytes);
  const Status status = harness.Open();
  EXPECT_CODE(status, Code::kVersionMismatch);
  EXPECT_THAT(status.message(), HasSubstr("version 5"));
  EXPECT_THAT(status.message(), HasSubstr("up to 2"));
}

TEST(Catalog, EditorsAndReadersRunAtOnce) {
  CatalogHarness harness;
  ASSERT_OK(harness.Open());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const auto number = static_cast<uint8_t>(1 + t * 50 + i);
        ASSERT_OK(harness.catalog->CreateCollection(
            CatalogHarness::Entry(number, "c" + std::to_string(number))));
        ASSERT_OK(harness.catalog->GetCollectionById(CatalogHarness::Id(number)));
        ASSERT_OK(harness.catalog->ListCollections(std::string(kDefaultTenant),
                                                   std::string(kDefaultDatabase)));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(harness.catalog->AllCollections().size(), 200u);
  ASSERT_OK(harness.Open());
  EXPECT_EQ(harness.catalog->AllCollections().size(), 200u);
}

TEST(Catalog, AReaderBesideAWriterThatCheckpointsSeesAStateNotOlderThanItsOpening) {
  CatalogHarness harness;
  ASSERT_OK(harness.Open());
  const auto lock = harness.files.Lock("db/LOCK", "the writer");
  ASSERT_OK(lock);
  std::atomic<int> made{0};
  std::thread writer([&] {
    for (int i = 1; i <= 300; ++i) {
      ASSERT_OK(harness.catalog->CreateTenant("tenant" + std::to_string(i)));
      made = i;
      if (i % 3 == 0) ASSERT_OK(harness.catalog->Checkpoint());
    }
  });
  int reads = 0;
  while (made < 300 || reads == 0) {
    const auto before = static_cast<size_t>(made);
    const auto looking = harness.files.PinPosition("db/LOCK", kLookingPosition);
    EXPECT_OK(looking);
    const auto reader = Catalog::Open(&harness.files, "db", true);
    EXPECT_OK(reader);
    if (!reader.ok()) break;
    EXPECT_GE((*reader)->ListTenants().size(), before + 1);
    ++reads;
  }
  writer.join();
}

TEST(Catalog, EditsStayWhileAReaderIsLookingAndGoAtALaterCheckpointOrOpen) {
  CatalogHarness harness;
  ASSERT_OK(harness.Open());
  const auto lock = harness.files.Lock("db/LOCK", "the writer");
  ASSERT_OK(lock);
  const auto edits = [&] {
    std::vector<std::string> names;
    for (const std::string& name : harness.files.List("db").value()) {
      if (name.starts_with("CATALOG.edits.")) names.push_back(name);
    }
    return names.size();
  };
  auto looking = harness.files.PinPosition("db/LOCK", kLookingPosition);
  ASSERT_OK(looking);
  ASSERT_OK(harness.catalog->CreateTenant("a"));
  ASSERT_OK(harness.catalog->Checkpoint());
  ASSERT_OK(harness.catalog->Checkpoint());
  EXPECT_EQ(edits(), 3u);
  *looking = nullptr;
  // Whoever knows its position needs no edits.
  const auto settled = harness.files.PinPosition("db/LOCK", harness.catalog->position());
  ASSERT_OK(settled);
  ASSERT_OK(harness.catalog->Checkpoint());
  EXPECT_EQ(edits(), 1u);
  looking = harness.files.PinPosition("db/LOCK", kLookingPosition);
  ASSERT_OK(harness.catalog->Checkpoint());
  ASSERT_OK(harness.Open());
  EXPECT_GT(edits(), 1u);
  *looking = nullptr;
  ASSERT_OK(harness.Open());
  EXPECT_EQ(edits(), 1u);
}

TEST(Catalog, ThePositionRisesWithEveryEditAndIsThereAfterReopening) {
  CatalogHarness harness;
  ASSERT_OK(harness.Open());
  EXPECT_GE(harness.catalog->position(), kFirstPosition);
  for (int i = 0; i < 5; ++i) {
    const uint64_t before = harness.catalog->position();
    ASSERT_OK(harness.catalog->CreateTenant("tenant" + std::to_string(i)));
    EXPECT_EQ(harness.catalog->position(), before + 1);
    if (i % 2 == 0) ASSERT_OK(harness.catalog->Checkpoint());
    EXPECT_EQ(harness.catalog->position(), before + 1);
    if (i % 3 == 0) ASSERT_OK(harness.Open());
    EXPECT_EQ(harness.catalog->position(), before + 1);
    ASSERT_OK(harness.Open(true));
    EXPECT_EQ(harness.catalog->position(), before + 1);
    ASSERT_OK(harness.Open());
  }
}

}  // namespace
}  // namespace pigment

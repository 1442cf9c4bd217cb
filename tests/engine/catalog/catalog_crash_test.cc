// SPDX-License-Identifier: Apache-2.0
//
// Catalog under power cuts, failing operations and damaged files: what an edit's return promised is
// there, an edit that was cut off is there whole or not at all, and damage is reported.

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "engine/base/record_framing.h"
#include "tests/engine/catalog/catalog_harness.h"

namespace pigment {
namespace {

using Keep = PowerCut::Keep;

const std::string kTenant(kDefaultTenant);
const std::string kDatabase(kDefaultDatabase);

// One random edit; its status.
Status RandomEdit(Catalog& catalog, std::mt19937_64& random) {
  const auto number = static_cast<uint8_t>(1 + random() % 6);
  const std::string name = "name" + std::to_string(random() % 6);
  CollectionEntry entry = random() % 2 == 0 ? CatalogHarness::Entry(number, name)
                                            : CatalogHarness::FullEntry(number, name);
  entry.floor = random();
  entry.database = random() % 3 == 0 ? "other" : kDatabase;
  switch (random() % 8) {
    case 0:
      return StatusOf(catalog.CreateDatabase(kTenant, "other"));
    case 1:
      return catalog.DeleteDatabase(kTenant, "other");
    case 2:
      return catalog.DeleteCollection(entry.id);
    case 3:
      return catalog.Checkpoint();
    case 4:
    case 5:
      return catalog.UpdateCollection(entry);
    default:
      return catalog.CreateCollection(entry);
  }
}

bool IsRefusal(const Status& status) {
  return status.code() == Code::kNotFound || status.code() == Code::kAlreadyExists;
}

// The catalog before the last edit and what it would be after it, as texts: one of the two must
// come back.
struct Expected {
  std::string before;
  std::string after;
};

// Runs edits until one fails for another reason than a refusal. The state after the failed edit is
// found by doing it on a catalog of its own; only databases differ there (their ids are random), so
// they are compared without ids.
std::string DumpWithoutDatabaseIds(const CatalogHarness& harness) {
  std::string dump = harness.Dump();
  for (size_t at = dump.find("  database "); at != std::string::npos;
       at = dump.find("  database ", at + 1)) {
    const size_t id = dump.find(' ', at + 11) + 1;
    dump.replace(id, 36, "id");
  }
  return dump;
}

Expected RunHistory(CatalogHarness& harness, CatalogHarness& shadow, uint64_t seed, int steps) {
  Expected expected;
  std::mt19937_64 random(seed), shadow_random(seed);
  EXPECT_OK(shadow.Open());
  expected.before = expected.after = DumpWithoutDatabaseIds(shadow);
  if (!harness.Open().ok()) return expected;
  for (int step = 0; step < steps; ++step) {
    if (random() % 10 == 0 && !harness.Open().ok()) return expected;
    shadow_random();
    const Status status = RandomEdit(*harness.catalog, random);
    const Status shadow_status = RandomEdit(*shadow.catalog, shadow_random);
    expected.before = expected.after;
    expected.after = DumpWithoutDatabaseIds(shadow);
    if (!status.ok() && !IsRefusal(status)) return expected;
    EXPECT_EQ(status.code(), shadow_status.code());
    expected.before = expected.after;
  }
  return expected;
}

void ExpectEither(CatalogHarness& harness, const Expected& expected) {
  const std::string dump = DumpWithoutDatabaseIds(harness);
  ASSERT_TRUE(dump == expected.before || dump == expected.after) << "came back:\n"
                                                                 << dump << "before:\n"
                                                                 << expected.before << "after:\n"
                                                                 << expected.after;
}

TEST(CatalogCrash, HistoriesStoppedAtEveryOperationKeepWhatWasAcknowledged) {
  constexpr int kSteps = 25;
  uint64_t states = 0;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    uint64_t changes = 0;
    {
      CatalogHarness harness, shadow;
      const uint64_t before = harness.files.CountOperations(kChangingFileOperations);
      RunHistory(harness, shadow, seed, kSteps);
      changes = harness.files.CountOperations(kChangingFileOperations) - before;
    }
    for (uint64_t at = 1; at <= changes; ++at) {
      for (const Keep keep : {Keep::kNothing, Keep::kEverything, Keep::kPrefix, Keep::kRandom}) {
        SCOPED_TRACE(::testing::Message()
                     << "seed " << seed << " stop at " << at << " keep " << static_cast<int>(keep));
        CatalogHarness harness, shadow;
        harness.files.StopAt(at);
        Expected expected = RunHistory(harness, shadow, seed, kSteps);
        harness.files.CutPower({.keep = keep, .seed = seed * 1000 + at});
        harness.files.StopAt(1 + (seed + at) % 14);  // recovery stops as well
        if (harness.Open().ok()) {
          ExpectEither(harness, expected);
          expected.before = expected.after =
              DumpWithoutDatabaseIds(harness);  // what was seen stays
        }
        harness.files.CutPower(
            {.keep = keep == Keep::kEverything ? Keep::kNothing : keep, .seed = at});
        ASSERT_OK(harness.Open());
        ExpectEither(harness, expected);
        static_cast<void>(harness.catalog->DeleteTenant("extra").ok());
        ASSERT_OK(harness.catalog->CreateTenant("extra"));
        const std::string dump = harness.Dump();
        harness.files.CutPower({.keep = Keep::kNothing});
        ASSERT_OK(harness.Open());
        ASSERT_EQ(harness.Dump(), dump);
        if (::testing::Test::HasFailure()) return;
        ++states;
      }
    }
  }
  EXPECT_GT(states, 1000u) << "too few states were tried";
}

TEST(CatalogFault, EveryFailingOperationLosesNothingThatWasAcknowledged) {
  uint64_t struck = 0;
  for (uint32_t kind = 1; kind <= 1024; kind <<= 1) {
    for (const bool forever : {false, true}) {
      for (const bool is_full : {false, true}) {
        for (uint64_t at = 1; at < 80; ++at) {
          SCOPED_TRACE(::testing::Message()
                       << "operation " << kind << " at " << at << (forever ? " for ever" : " once")
                       << (is_full ? " disk full" : " error"));
          CatalogHarness harness, shadow;
          FileFault fault{.operations = kind, .at = at, .forever = forever};
          fault.is_partial = at % 2 == 0;
          if (is_full) fault.error = ResourceExhausted(Detail::kDiskFull, "simulated full disk");
          harness.files.SetFault(fault);
          Expected expected = RunHistory(harness, shadow, 99, 20);
          const bool has_struck = harness.files.faults_met() > 0;
          struck += has_struck;
          harness.files.SetFault(std::nullopt);
          ASSERT_OK(harness.Open());
          ExpectEither(harness, expected);
          ASSERT_OK(harness.catalog->CreateTenant(
              "after"));  // into a catalog that must be durable itself
          expected.before = expected.after = DumpWithoutDatabaseIds(harness);
          harness.files.CutPower({.keep = Keep::kNothing});
          ASSERT_OK(harness.Open());
          ExpectEither(harness, expected);
          if (::testing::Test::HasFailure()) return;
          if (!has_struck) break;
        }
      }
    }
  }
  EXPECT_GT(struck, 150u) << "too few faults struck";
}

TEST(CatalogFault, AFullDiskRefusesTheEditOpensAndRecoversByItself) {
  CatalogHarness harness;
  ASSERT_OK(harness.Open());
  ASSERT_OK(harness.catalog->CreateTenant("one"));
  for (uint64_t room = 0; room < 40; ++room) {
    SCOPED_TRACE(room);
    const std::string before = harness.Dump();
    harness.files.SetCapacity(harness.files.used_bytes() + room);
    const Status status = harness.catalog->CreateTenant("a tenant with a long name");
    EXPECT_CODE(status, Code::kResourceExhausted);
    EXPECT_EQ(status.detail(), Detail::kDiskFull);
    EXPECT_EQ(harness.Dump(), before);
    if (room % 2 == 0) {
      harness.files.CutPower({.keep = Keep::kRandom, .seed = room});
      ASSERT_OK(harness.Open()) << "a full disk must not keep the catalog from opening";
      EXPECT_EQ(harness.Dump(), before);
      EXPECT_CODE(harness.catalog->CreateTenant("a tenant with a long name"),
                  Code::kResourceExhausted);
    }
    harness.files.SetCapacity(0);
    ASSERT_OK(harness.catalog->CreateTenant("room " + std::to_string(room)));
  }
}

TEST(CatalogFault, AFailedSyncPoisonsEditsAndReadingGoesOn) {
  CatalogHarness harness;
  ASSERT_OK(harness.Open());
  harness.files.SetFault(FileFault{.operations = static_cast<uint32_t>(FileOperation::kSync)});
  for (int i = 0; i < 2; ++i) {
    const Status status = harness.catalog->CreateTenant("new");
    EXPECT_CODE(status, Code::kFailedPrecondition);
    EXPECT_EQ(status.detail(), Detail::kPoisoned);
  }
  EXPECT_CODE(harness.catalog->GetTenant("new"), Code::kNotFound);
  EXPECT_OK(harness.catalog->GetTenant(kTenant));
}

TEST(CatalogFault, AnEditIsSyncedBeforeItReturnsAndASnapshotNamesEditsThatAreThere) {
  CatalogHarness harness;
  ASSERT_OK(harness.Open());
  harness.files.StartTrace();
  ASSERT_OK(harness.catalog->CreateTenant("abc"));
  EXPECT_EQ(harness.files.TakeTrace(),
            (std::vector<std::string>{"write db/CATALOG.edits.0000000001 64+36",
                                      "sync db/CATALOG.edits.0000000001"}));
  ASSERT_OK(harness.catalog->Checkpoint());
  std::vector<std::string> trace = harness.files.TakeTrace();
  for (std::string& line : trace)
    line.resize(line.starts_with("write") ? line.find('+') : line.size());
  EXPECT_EQ(
      trace,
      (std::vector<std::string>{
          "create db/CATALOG.edits.0000000002.tmp", "write db/CATALOG.edits.0000000002.tmp 0",
          "sync db/CATALOG.edits.0000000002.tmp",
          "rename db/CATALOG.edits.0000000002.tmp db/CATALOG.edits.0000000002", "syncdir db",
          "create db/CATALOG.tmp", "write db/CATALOG.tmp 0", "sync db/CATALOG.tmp",
          "rename db/CATALOG.tmp db/CATALOG", "syncdir db", "remove db/CATALOG.edits.0000000001"}));
}

TEST(CatalogFault, AfterACleanEndTheNextWriterWritesNothingAndAfterAnotherItProvesAnew) {
  CatalogHarness harness;
  ASSERT_OK(harness.Open());
  ASSERT_OK(harness.catalog->CreateTenant("abc"));
  ASSERT_OK(harness.catalog->Seal());
  const std::string snapshot = harness.Contents("CATALOG");
  const std::vector<std::string> names = harness.Names();
  for (int open = 0; open < 2; ++open) {
    harness.catalog.reset();
    harness.files.StartTrace();
    ASSERT_OK(harness.Open());
    ASSERT_OK(harness.catalog->Seal());
    EXPECT_EQ(harness.files.TakeTrace(), std::vector<std::string>()) << "open " << open;
  }
  ASSERT_OK(harness.catalog->GetTenant("abc"));

  // An edit behind the mark: whoever made it did not say that it is durable.
  ASSERT_OK(harness.Open());
  ASSERT_OK(harness.catalog->CreateTenant("def"));
  harness.files.StartTrace();
  ASSERT_OK(harness.Open());
  EXPECT_GT(harness.files.TakeTrace().size(), 5u);
  ASSERT_OK(harness.catalog->GetTenant("def"));

  // A file of edits without a mark, as a crash leaves it: the snapshot is written again.
  harness.files.StartTrace();
  ASSERT_OK(harness.Open());
  EXPECT_EQ(harness.files.TakeTrace().size(), 5u) << "create, write, sync, rename, syncdir";

  // Half a mark is none, and no damage.
  ASSERT_OK(harness.catalog->Seal());
  const std::string edits = harness.Names().back();
  const std::string marked = harness.Contents(edits);
  ASSERT_GT(marked.size(), 64u);
  harness.catalog.reset();
  harness.Replace(edits, marked.substr(0, marked.size() - 1));
  ASSERT_OK(harness.Open());
  ASSERT_OK(harness.catalog->GetTenant("def"));
  EXPECT_NE(harness.Contents("CATALOG"), snapshot);
}

class CatalogCorruption : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(harness_.Open());
    ASSERT_OK(harness_.catalog->CreateCollection(CatalogHarness::FullEntry(1, "docs")));
    ASSERT_OK(harness_.catalog->Checkpoint());
    for (int i = 0; i < 3; ++i) {
      dumps_.push_back(harness_.Dump());
      ASSERT_OK(harness_.catalog->CreateTenant("tenant" + std::to_string(i)));
    }
    dumps_.push_back(harness_.Dump());
    harness_.catalog.reset();
    for (const std::string& name : harness_.Names()) contents_[name] = harness_.Contents(name);
    ASSERT_EQ(contents_.size(), 2u);
  }

  // Opens with `damaged` for one file, read-only so that nothing is repaired. Damage must be
  // reported, or the state must be the whole one or that without the last edit, which nothing
  // proves.
  void Expect(const std::string& name, const std::string& damaged, size_t states_allowed) {
    harness_.catalog.reset();
    for (const auto& [file, bytes] : contents_)
      harness_.Replace(file, file == name ? damaged : bytes);
    const Status status = harness_.Open(true);
    if (!status.ok()) {
      ASSERT_TRUE(status.code() == Code::kDataLoss || status.code() == Code::kVersionMismatch)
          << status.ToString();
      ASSERT_FALSE(status.file().empty()) << status.ToString();
      ++reported_;
      return;
    }
    const std::string dump = harness_.Dump();
    ASSERT_TRUE(std::find(dumps_.end() - static_cast<ptrdiff_t>(states_allowed), dumps_.end(),
                          dump) != dumps_.end());
    ++accepted_;
  }

  CatalogHarness harness_;
  std::vector<std::string> dumps_;
  std::map<std::string, std::string> contents_;
  size_t reported_ = 0;
  size_t accepted_ = 0;
};

TEST_F(CatalogCorruption, EveryBitIsReportedOrCostsTheUnprovenLastEditAlone) {
  for (const auto& [name, bytes] : contents_) {
    for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      SCOPED_TRACE(::testing::Message() << name << " bit " << bit);
      std::string damaged = bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
      ASSERT_NO_FATAL_FAILURE(Expect(name, damaged, 2));
    }
  }
  const size_t last_edit_bytes = kRecordFrameBytes + 1 + 4 + 7;
  EXPECT_EQ(accepted_, last_edit_bytes * 8);
  EXPECT_GT(reported_, 3000u);
}

TEST_F(CatalogCorruption, EveryTruncationIsReportedOrLooksAsATornEdit) {
  for (const auto& [name, bytes] : contents_) {
    for (size_t size = 0; size < bytes.size(); ++size) {
      SCOPED_TRACE(::testing::Message() << name << " cut to " << size);
      ASSERT_NO_FATAL_FAILURE(Expect(name, bytes.substr(0, size), 4));
    }
  }
  EXPECT_EQ(accepted_, contents_.rbegin()->second.size() - kFramedHeaderBytes);
}

TEST_F(CatalogCorruption, MoreBytesBehindTheSnapshotAreReported) {
  ASSERT_NO_FATAL_FAILURE(Expect("CATALOG", contents_["CATALOG"] + "x", 1));
  EXPECT_EQ(reported_, 1u);
}

}  // namespace
}  // namespace pigment

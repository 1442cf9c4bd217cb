// SPDX-License-Identifier: Apache-2.0
//
// Memory runs out at the n-th allocation of a call, for every n until it needs no more, once, for a
// while and from then on. The call is refused for want of memory, or succeeds; nothing is half
// done, nothing hangs, the same call succeeds afterwards, and the store opens again with what was
// acknowledged.

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "tests/fault/disk_run.h"
#include "tests/support/effort.h"
#include "tests/support/failing_memory.h"

namespace pigment {
namespace {

constexpr unsigned kHangSeconds = 600;  // a deadlock ends the program

WriteBatch BatchOf(WriteKind kind, uint64_t seed) {
  BatchMaker maker(seed, 3, 20);
  WriteBatch batch = maker.Batch(6);
  while (batch.kind != kind) batch = maker.Batch(6);
  return batch;
}

// Reads without comparing: the run compares when memory is there again.
FaultStep GetStep(const CollectionPlace& place, const std::string& where) {
  return {.name = "get", .run = [place, where](FaultWorld& world) -> Status {
            PIGMENT_ASSIGN_OR_RETURN(const auto collection, CollectionAt(world, place));
            PIGMENT_ASSIGN_OR_RETURN(const auto version, collection->Pin());
            GetRequest get;
            get.read.include = {true, true, true, true, false};
            if (!where.empty()) {
              PIGMENT_ASSIGN_OR_RETURN(get.read.filter, Filter::Parse(where, std::nullopt));
            }
            return Get(*version, get).status();
          }};
}

FaultStep QueryStep(const CollectionPlace& place, const std::string& document) {
  return {.name = "query", .run = [place, document](FaultWorld& world) -> Status {
            PIGMENT_ASSIGN_OR_RETURN(const auto collection, CollectionAt(world, place));
            PIGMENT_ASSIGN_OR_RETURN(const auto version, collection->Pin());
            QueryRequest query;
            const std::vector<float> vector(3, 0.5f);
            query.embeddings = vector;
            query.queries = 1;
            query.dimension = 3;
            query.read.include = {true, true, true, true, true};
            query.read.explain = true;
            if (!document.empty()) {
              PIGMENT_ASSIGN_OR_RETURN(query.read.filter, Filter::Parse(std::nullopt, document));
            }
            return Query(*version, query).status();
          }};
}

FaultStep ListStep() {
  return {.name = "list", .run = [](FaultWorld& world) -> Status {
            PIGMENT_ASSIGN_OR_RETURN(Catalog* const catalog, world.store->catalog());
            for (const std::string& tenant : catalog->ListTenants()) {
              PIGMENT_ASSIGN_OR_RETURN(const auto databases, catalog->ListDatabases(tenant));
              for (const auto& database : databases) {
                PIGMENT_RETURN_IF_ERROR(catalog->ListCollections(tenant, database.name).status());
              }
            }
            return Status::Ok();
          }};
}

std::vector<DiskScenario> MemoryScenarios(const Bases& bases) {
  const Metadata metadata{{"purpose", std::string("a text that is longer than a small string")}};
  std::vector<DiskScenario> all;
  const auto add = [&all](std::string name, const Base& base, std::vector<FaultStep> steps,
                          const StoreOptions& options = SmallReserveOptions()) {
    all.push_back(
        {.name = std::move(name), .base = &base, .steps = std::move(steps), .options = options});
  };
  const auto closed = [&](std::string name, const Base& base, std::vector<FaultStep> steps) {
    add(std::move(name), base, std::move(steps));
    all.back().begins_open = false;
  };
  closed("create a store", bases.empty, {OpenStep()});
  closed("open a new store", bases.fresh, {OpenStep()});
  closed("open and replay", bases.logged, {OpenStep()});
  closed("open with segments", bases.mixed, {OpenStep()});
  closed("open after a kill", bases.killed, {OpenStep()});
  closed("open and read", bases.mixed, {OpenStep(), GetStep(kBusy, "")});
  closed("open and write", bases.mixed, {OpenStep(), bases.Writes(21, kBusy, 1)[0]});
  const std::pair<const char*, WriteKind> kinds[] = {{"add", WriteKind::kAdd},
                                                     {"update", WriteKind::kUpdate},
                                                     {"upsert", WriteKind::kUpsert},
                                                     {"delete", WriteKind::kDelete}};
  for (const auto& [name, kind] : kinds) {
    const WriteBatch batch = BatchOf(kind, bases.seed + 31 + static_cast<uint64_t>(kind));
    add(std::string(name) + " in the tail", bases.logged, {WriteStep(kBusy, batch)});
    add(std::string(name) + " in segments", bases.segmented, {WriteStep(kBusy, batch)});
  }
  add("first write", bases.fresh, {CreateStep(kBusy), bases.Writes(22, kBusy, 1)[0]});
  add("delete by document", bases.mixed, {DeleteSelectedStep(kBusy, R"({"$contains":"red"})")});
  add("flush", bases.logged, {FlushStep(kBusy)});
  add("flush deletions", bases.mixed, {FlushStep(kBusy)});
  add("flush all", bases.mixed, {FlushAllStep()});
  add("compact", bases.segmented, {CompactStep(kBusy)});
  add("compact a tail", bases.mixed, {CompactStep(kBusy)});
  add("create a collection", bases.mixed, {CreateStep({.name = "new"})});
  add("rename", bases.mixed, {RenameStep(kCold, "warm")});
  add("modify", bases.mixed, {MetadataStep(kBusy, metadata)});
  add("fork", bases.segmented, {ForkStep(kBusy, "fork")});
  add("fork with a tail", bases.mixed, {ForkStep(kBusy, "fork")});
  add("delete a collection", bases.mixed, {DeleteCollectionStep(kBusy)});
  add("create a tenant", bases.mixed, {CreateTenantStep("tenant")});
  add("create a database", bases.mixed, {CreateDatabaseStep("acme", "second")});
  add("delete a database", bases.mixed, {DeleteDatabaseStep("acme", "main")});
  add("delete a tenant", bases.mixed, {DeleteTenantStep("acme")});
  add("checkpoint", bases.mixed, {CheckpointStep()});
  add("list", bases.mixed, {ListStep()});
  add("get", bases.segmented, {GetStep(kBusy, "")});
  add("get from the tail", bases.logged, {GetStep(kBusy, "")});
  add("get with a filter", bases.mixed,
      {GetStep(kBusy, R"({"$and":[{"a":{"$gte":1}},{"b":{"$in":["u","v"]}}]})")});
  add("query", bases.segmented, {QueryStep(kBusy, "")});
  // No regular expression: RE2 does not clean up behind an exception.
  add("query with a filter", bases.mixed,
      {QueryStep(kBusy, R"({"$and":[{"$contains":"ee"},{"$not_contains":"blue"}]})")});
  add("close after writes", bases.logged, {bases.Writes(23, kBusy, 1)[0], CloseStep()});
  closed("read-only open", bases.killed, {OpenReaderStep()});
  closed("open with a shelf", bases.shelved, {OpenStep(), ReadStep()});
  add("write to a shelf", bases.shelved, {bases.Writes(24, kCold, 1)[0]});
  add("fork a shelf", bases.shelved, {ForkStep(kCold, "fork")});
  add("flush by writing", bases.mixed, bases.Writes(26, kBusy, 2), SmallTailOptions(12));
  add("merge by writing", bases.segmented, bases.Writes(27, kBusy, 3), SmallTailOptions(4));
  add("purge", bases.many_logs, bases.Writes(28, kBusy, 2), SmallLogOptions());
  add("shelve at close", bases.killed, Join({bases.Writes(29, kCold, 1), {CloseStep()}}),
      SmallLogOptions());
  add("check", bases.mixed, {CheckStep()});
  closed("check a directory", bases.shelved, {CheckDirectoryStep()});
  add("back up", bases.mixed, {BackupStep()});
  add("back up in place", bases.shelved, {BackupInPlaceStep()});
  closed("repair", bases.mixed, {RepairStep()});
  return all;
}

class MemorySweep {
 public:
  // All allocations of a scenario, one after the other.
  void Run(const DiskScenario& scenario) {
    SCOPED_TRACE(scenario.name);
    alarm(kHangSeconds);
    const auto begin = std::chrono::steady_clock::now();
    const uint64_t before = injected_;
    const uint64_t allocations = RunOnce(scenario, 0, 0).made;
    for (uint64_t at = 1; at <= allocations && !testing::Test::HasFailure(); ++at) {
      for (const uint64_t span : {uint64_t{1}, at % 2 == 0 ? 2 + at % 30 : kForGood}) {
        if (!share_.IsNext()) continue;
        SCOPED_TRACE(std::to_string(span) + " from allocation " + std::to_string(at));
        injected_ += RunOnce(scenario, at, span).failed > 0;
      }
    }
    alarm(0);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf("  %-28s %6llu faults, %.2f s\n", scenario.name.c_str(),
                static_cast<unsigned long long>(injected_ - before), took.count());
    std::fflush(stdout);
  }

  uint64_t injected() const { return injected_; }

 private:
  struct Counts {
    uint64_t made = 0;
    uint64_t failed = 0;
  };

  Counts RunOnce(const DiskScenario& scenario, uint64_t at, uint64_t span) {
    Counts counts;
    const DiskFaults faults{.resume = ResumeFailingAllocations,
                            .pause = PauseFailingAllocations,
                            .end =
                                [&counts] {
                                  counts.made = std::max(counts.made, AllocationsMade());
                                  counts.failed += AllocationsFailed();
                                  FailAllocations(0, 0);
                                },
                            .check_error = CheckError};
    DiskRun run(scenario, faults, fast_.path() + "/db");
    FailAllocations(at, span);
    run.Run();
    return counts;
  }

  static void CheckError(const Status& status) {
    const bool is_memory =
        status.code() == Code::kResourceExhausted && status.detail() == Detail::kMemory;
    EXPECT_TRUE(is_memory || status.detail() == Detail::kPoisoned) << status.ToString();
  }

  const FastDirectory fast_;
  Share share_;
  uint64_t injected_ = 0;
};

TEST(MemoryFault, EveryFailingAllocationIsRefusedWholeAndTheSameCallSucceeds) {
  MemorySweep sweep;
  for (uint64_t round = 0; static_cast<double>(round) < Effort() && !HasFailure(); ++round) {
    const Bases bases(round);
    const std::vector<DiskScenario> scenarios = MemoryScenarios(bases);
    ASSERT_GE(scenarios.size(), 40u);
    for (const DiskScenario& scenario : scenarios) {
      const uint64_t before = sweep.injected();
      sweep.Run(scenario);
      if (HasFailure()) break;
      if (Effort() >= 1) {
        ASSERT_GT(sweep.injected(), before) << scenario.name << " needs no memory";
      }
    }
  }
  ExpectFloor("injected faults of memory", sweep.injected(), 20000);
}

}  // namespace
}  // namespace pigment

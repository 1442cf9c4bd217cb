// SPDX-License-Identifier: Apache-2.0
//
// Input and output of a store fails at the n-th operation, for every n until a scenario needs no
// more, with each error that a system call may give, once and from then on, and for a write also
// after half of its bytes. After each fault: a clear error that names the file, or none; nothing
// that was acknowledged is lost; memory and disk agree; and when the fault is gone the store works,
// or says that it is poisoned and a reopen works.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "engine/base/disk_files.h"
#include "tests/fault/fault_bases.h"
#include "tests/support/effort.h"

namespace pigment {
namespace {

// The first two of each operation; of the others a half, which moves on with operation and round.
constexpr std::array kErrors = {EIO,    ENOSPC, EDQUOT, EFBIG,  EMFILE,
                                ENFILE, ENOMEM, EROFS,  EACCES, ESTALE};
constexpr size_t kErrorsAlways = 2;
struct Scenario {
  std::string name;
  const Base* base = nullptr;
  std::vector<FaultStep> steps;
  bool begins_open = true;
  bool has_reader = false;
  // A directory of which the name's own sync failed once may never become durable, and nothing but
  // making it anew would help.
  bool may_lose_power = true;
  StoreOptions options = SmallReserveOptions();
};

struct Fault {
  int error = EIO;
  bool forever = false;
  bool is_partial = false;
  uint64_t at = 1;
  // What comes after it: the store is closed and opened, or the power goes.
  std::optional<PowerCut::Keep> cut{};

  uint32_t operations() const {
    return is_partial ? static_cast<uint32_t>(FileOperation::kWrite) : kAnyFileOperation;
  }
  std::string Name() const {
    return std::string(::strerrorname_np(error)) + (forever ? " from operation " : " once at ") +
           std::to_string(at) + (is_partial ? ", half written" : "") +
           (cut ? ", then power cut " + std::to_string(static_cast<int>(*cut)) : "");
  }
};

// ---- One fault
// -----------------------------------------------------------------------------------

void Begin(const Scenario& scenario, FaultWorld& world) {
  world.options = scenario.options;
  world.state = scenario.base->state;
  RestoreImage(scenario.base->image, world.files);
  if (scenario.begins_open) {
    ASSERT_OK(world.Open());
  }
  if (scenario.has_reader) {
    ASSERT_OK(world.OpenReader());
  }
}

class FaultRun {
 public:
  FaultRun(const Scenario& scenario, const Fault& fault) : scenario_(scenario), fault_(fault) {}

  // How often the fault struck.
  uint64_t Run() {
    Begin(scenario_, world_);
    world_.files.SetFault(FileFault{.operations = fault_.operations(),
                                    .at = fault_.at,
                                    .forever = fault_.forever,
                                    .is_partial = fault_.is_partial,
                                    .error_number = fault_.error});
    for (const FaultStep& step : scenario_.steps) {
      if (!Take(step)) break;
    }
    if (!is_gone_) EndFault();
    ExpectEqual();
    if (struck_ > 0) ComeBack();
    return struck_;
  }

 private:
  void ExpectEqual() {
    if (!world_.store) return;
    // A collection that says that it is out of use until the store is opened again.
    const std::string difference = DifferenceOfStore(*world_.store, world_.state);
    EXPECT_TRUE(difference.empty() || difference.find("out of use") != std::string::npos)
        << difference;
  }

  void EndFault() {
    struck_ = world_.files.faults_met();
    world_.files.SetFault(std::nullopt);
    is_gone_ = true;
  }

  // False when the store is poisoned: nothing more can be done with it.
  bool Take(const FaultStep& step) {
    SCOPED_TRACE(step.name);
    const Status status = step.run(world_);
    if (status.ok()) {
      step.effect(world_.state);
      return true;
    }
    CheckError(step, status);
    if (is_gone_) {  // an earlier step met the fault, and only this one needed what it broke
      EXPECT_EQ(status.detail(), Detail::kPoisoned) << status.ToString();
      return false;
    }
    if (world_.store && fault_.forever) {
      EXPECT_EQ(DifferenceOfMemory(), "");
    }
    EndFault();
    ExpectEqual();
    const Status again = step.run(world_);
    if (again.ok()) {
      step.effect(world_.state);
      return true;
    }
    EXPECT_EQ(again.detail(), Detail::kPoisoned) << "tried again: " << again.ToString();
    after_ = world_.state;
    step.effect(*after_);
    return false;
  }

  // While the disk keeps failing, what is in memory can be read. A segment may not be.
  std::string DifferenceOfMemory() {
    const std::string difference = DifferenceOfStore(*world_.store, world_.state);
    const bool is_of_disk = difference.find(ErrorText()) != std::string::npos;
    return is_of_disk ? "" : difference;
  }

  std::string ErrorText() const {
    const std::string text = ErrnoStatus(fault_.error, "", "").message();
    return text.substr(text.rfind(": ") + 2);
  }

  void CheckError(const FaultStep& step, const Status& status) const {
    const bool may_be_other = status.detail() == Detail::kPoisoned || step.name == "repair";
    EXPECT_TRUE(may_be_other || status.code() == CodeOf(fault_.error)) << status.ToString();
    EXPECT_NE(status.ToString().find("disk"), std::string::npos)
        << "names no file: " << status.ToString();
    EXPECT_NE(status.message().find(ErrorText()), std::string::npos)
        << "does not say why: " << status.ToString();
  }

  // Opened again, the store has what was acknowledged, takes writes, and keeps them.
  void ComeBack() {
    world_.reader.reset();
    if (fault_.cut) {
      world_.files.CutPower({.keep = *fault_.cut, .seed = fault_.at});
      world_.store.reset();
    } else {
      const Status closed = CloseStep().run(world_);
      EXPECT_TRUE(closed.ok() || closed.detail() == Detail::kPoisoned) << closed.ToString();
    }
    ASSERT_OK(world_.Open());
    const std::string difference = DifferenceOfStore(*world_.store, world_.state);
    if (after_ && !difference.empty()) {
      ASSERT_EQ(DifferenceOfStore(*world_.store, *after_), "") << "and before: " << difference;
      world_.state = *after_;
    } else {
      ASSERT_EQ(difference, "");
    }
    // A parent that may not be read is not synced, on purpose: a power cut may take the copy then.
    if (CodeOf(fault_.error) != Code::kPermissionDenied || !fault_.cut) {
      for (const FaultCopy& copy : world_.copies) ASSERT_EQ(DifferenceOfCopy(world_, copy), "");
    }
    // Once more for some: what comes back must come back again.
    const int rounds = fault_.at % 4 == 0 ? 2 : 1;
    for (int round = 0; round < rounds; ++round) {
      const CollectionPlace place{.name = "after" + std::to_string(round)};
      for (const FaultStep& step :
           Join({{CreateStep(place)}, Writes(fault_.at, place, 2), {FlushStep(place)}})) {
        ASSERT_OK(step.run(world_)) << step.name;
        step.effect(world_.state);
      }
      ASSERT_OK(CloseStep().run(world_));
      ASSERT_OK(world_.Open());
      ASSERT_EQ(DifferenceOfStore(*world_.store, world_.state), "");
    }
  }

  const Scenario& scenario_;
  const Fault fault_;
  FaultWorld world_;
  bool is_gone_ = false;
  uint64_t struck_ = 0;
  std::optional<StoreState> after_;  // with the step of which nobody knows
};

// ---- All faults of a scenario
// --------------------------------------------------------------------

// How many operations of these kinds the scenario has.
uint64_t CountOperations(const Scenario& scenario, uint32_t operations) {
  FaultWorld world;
  Begin(scenario, world);
  const uint64_t before = world.files.CountOperations(operations);
  for (const FaultStep& step : scenario.steps) {
    EXPECT_OK(step.run(world)) << step.name;
    step.effect(world.state);
  }
  const uint64_t count = world.files.CountOperations(operations) - before;
  if (world.store) {
    EXPECT_EQ(DifferenceOfStore(*world.store, world.state), "");
  }
  return count;
}

struct Totals {
  uint64_t round = 0;
  uint64_t injected = 0;
  Share share;

  bool IsNext(uint64_t at, size_t error) {
    return (error < kErrorsAlways || (at + error + round) % 2 == 0) && share.IsNext();
  }
};

void Sweep(const Scenario& scenario, Totals& totals) {
  SCOPED_TRACE(scenario.name);
  static constexpr std::optional<PowerCut::Keep> kAfter[] = {std::nullopt, PowerCut::Keep::kNothing,
                                                             std::nullopt, PowerCut::Keep::kRandom,
                                                             PowerCut::Keep::kPrefix};
  size_t turn = 0;
  for (const bool is_partial : {false, true}) {
    const uint64_t count = CountOperations(scenario, Fault{.is_partial = is_partial}.operations());
    for (uint64_t at = 1; at <= count; ++at) {
      for (size_t error = 0; error < kErrors.size(); ++error) {
        for (const bool forever : {false, true}) {
          if (!totals.IsNext(at, error)) continue;
          const Fault fault{
              .error = kErrors[error],
              .forever = forever,
              .is_partial = is_partial,
              .at = at,
              .cut = scenario.may_lose_power ? kAfter[turn++ % std::size(kAfter)] : std::nullopt};
          SCOPED_TRACE(fault.Name());
          totals.injected += FaultRun(scenario, fault).Run() > 0;
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

// ---- The scenarios
// -------------------------------------------------------------------------------

using Scenarios = std::vector<Scenario>;

Scenario& Add(Scenarios& all, std::string name, const Base& base, std::vector<FaultStep> steps,
              const StoreOptions& options = SmallReserveOptions()) {
  return all.emplace_back(Scenario{
      .name = std::move(name), .base = &base, .steps = std::move(steps), .options = options});
}

void AddClosed(Scenarios& all, std::string name, const Base& base, std::vector<FaultStep> steps,
               const StoreOptions& options = SmallReserveOptions()) {
  Add(all, std::move(name), base, std::move(steps), options).begins_open = false;
}

void AddOpens(Scenarios& all, const Bases& bases) {
  const std::vector<FaultStep> visit{OpenStep(), ReadStep(), CloseStep()};
  AddClosed(all, "create a store", bases.nothing, {OpenStep(), CreateStep(kBusy), CloseStep()});
  all.back().may_lose_power = false;
  AddClosed(all, "fill a directory", bases.empty, {OpenStep(), CreateStep(kBusy), CloseStep()});
  AddClosed(all, "open a new store", bases.fresh, {OpenStep(), CloseStep()});
  AddClosed(all, "open and replay", bases.logged, visit);
  AddClosed(all, "open with segments", bases.mixed, visit);
  AddClosed(all, "open after a kill", bases.killed, visit);
  AddClosed(all, "open with a shelf", bases.shelved, visit);
  AddClosed(all, "open with many log files", bases.many_logs, visit, SmallLogOptions());
  AddClosed(all, "read-only open", bases.killed, {OpenReaderStep()});
  AddClosed(all, "read-only open of a shelf", bases.shelved, {OpenReaderStep()});
}

void AddWrites(Scenarios& all, const Bases& bases) {
  Add(all, "write", bases.logged, Join({bases.Writes(11, kBusy, 6), bases.Writes(12, kCold, 2)}));
  Add(all, "write to segments", bases.segmented,
      Join({bases.Writes(13, kBusy, 6), bases.Writes(14, kOther, 3)}));
  Add(all, "write after a kill", bases.killed, bases.Writes(15, kBusy, 4));
  Add(all, "write to a shelf", bases.shelved,
      Join({bases.Writes(31, kCold, 2), bases.Writes(32, kOther, 2), {FlushStep(kCold)}}));
  Add(all, "delete by filter", bases.mixed,
      {DeleteSelectedStep(kBusy, R"({"$contains":"red"})"), FlushStep(kBusy)});
  Add(all, "flush", bases.mixed, {FlushStep(kBusy), FlushStep(kCold), FlushStep(kOther)});
  Add(all, "flush by writing", bases.mixed, bases.Writes(16, kBusy, 12), SmallTailOptions(12));
  Add(all, "close with a full tail", bases.mixed, Join({bases.Writes(33, kBusy, 2), {CloseStep()}}),
      SmallTailOptions(20));
  StoreOptions unsynced = SmallReserveOptions();
  unsynced.sync_mode = SyncMode::kOff;
  Add(all, "write without syncs", bases.mixed,
      Join({bases.Writes(34, kBusy, 3),
            {FlushStep(kBusy)},
            bases.Writes(35, kCold, 2),
            {CloseStep()}}),
      unsynced)
      .may_lose_power = false;
}

// The log gives way to segments and shelves; segments to larger ones.
void AddMaintenance(Scenarios& all, const Bases& bases) {
  Add(all, "compact", bases.segmented, Join({bases.Writes(17, kBusy, 4), {CompactStep(kBusy)}}));
  Add(all, "compact all", bases.shelved, Join({bases.Writes(36, kBusy, 3), {CompactAllStep()}}));
  Add(all, "merge by writing", bases.segmented, bases.Writes(37, kBusy, 10), SmallTailOptions(4));
  Add(all, "purge", bases.many_logs,
      Join({bases.Writes(38, kBusy, 5), bases.Writes(39, kOther, 2)}), SmallLogOptions());
  Add(all, "purge after a flush", bases.many_logs,
      Join({{FlushAllStep()}, bases.Writes(40, kBusy, 4), {FlushAllStep(), CloseStep()}}),
      SmallLogOptions());
  Add(all, "shelve at close", bases.killed,
      Join({bases.Writes(41, kCold, 1), {CloseStep(), OpenStep(), ReadStep()}}), SmallLogOptions());
  Add(all, "shelve again", bases.shelved,
      Join({bases.Writes(42, kCold, 1),
            {CloseStep(), OpenStep()},
            bases.Writes(43, kOther, 1),
            {CloseStep()}}),
      SmallLogOptions());
  StoreOptions erasing = SmallReserveOptions();
  erasing.erase_log = true;
  Add(all, "erase the log", bases.mixed,
      Join({bases.Writes(44, kBusy, 2),
            {FlushStep(kBusy)},
            bases.Writes(45, kCold, 1),
            {FlushAllStep()}}),
      erasing);
  Add(all, "erase by compacting", bases.segmented,
      Join({bases.Writes(46, kBusy, 2), {CompactStep(kBusy), CloseStep()}}), erasing);
}

void AddCatalog(Scenarios& all, const Bases& bases) {
  const Metadata metadata{{"purpose", std::string("test")}};
  Add(all, "catalog", bases.mixed,
      {CreateTenantStep("t"), CreateDatabaseStep("t", "d"), CreateStep({"t", "d", "c"}),
       RenameStep(kCold, "warm"), MetadataStep(kBusy, metadata), DeleteDatabaseStep("t", "d"),
       DeleteTenantStep("acme"), DeleteCollectionStep(kBusy)});
  Add(all, "checkpoint", bases.mixed,
      {MetadataStep(kBusy, metadata), CheckpointStep(), RenameStep(kBusy, "b"), CheckpointStep()});
  Add(all, "fork", bases.mixed,
      Join({{ForkStep(kBusy, "fork")},
            bases.Writes(18, {.name = "fork"}, 2),
            {ForkStep(kBusy, "two")}}));
  Add(all, "fork a shelf", bases.shelved,
      Join({{ForkStep(kCold, "fork")}, bases.Writes(47, {.name = "fork"}, 2), {ReadStep()}}));
  Add(all, "delete what was forked", bases.segmented,
      {ForkStep(kBusy, "fork"), DeleteCollectionStep(kBusy), FlushAllStep(), ReadStep()});
  Add(all, "delete shelves", bases.shelved,
      {DeleteCollectionStep(kCold), DeleteTenantStep("acme"), ReadStep()});
}

void AddReads(Scenarios& all, const Bases& bases) {
  Add(all, "read", bases.segmented, {ReadStep()});
  Add(all, "read a shelf", bases.shelved, {ReadStep()});
  Add(all, "refresh", bases.mixed,
      Join({bases.Writes(19, kBusy, 2), {RefreshStep(), FlushAllStep(), RefreshStep()}}))
      .has_reader = true;
  Add(all, "refresh across a purge", bases.many_logs,
      Join({bases.Writes(48, kBusy, 3), {RefreshStep(), CompactStep(kBusy), RefreshStep()}}),
      SmallLogOptions())
      .has_reader = true;
  Add(all, "check", bases.mixed, {CheckStep()});
  Add(all, "check shelves and log files", bases.many_logs, {CheckStep(), CheckDirectoryStep()},
      SmallLogOptions());
  AddClosed(all, "check a directory", bases.shelved, {CheckDirectoryStep()});
}

void AddCopies(Scenarios& all, const Bases& bases) {
  Add(all, "back up", bases.mixed, {BackupStep()});
  Add(all, "back up in place", bases.shelved, {BackupInPlaceStep()}).may_lose_power = false;
  Add(all, "back up many log files", bases.many_logs,
      Join({bases.Writes(49, kBusy, 2), {BackupStep()}, bases.Writes(50, kBusy, 1)}),
      SmallLogOptions());
  AddClosed(all, "repair", bases.mixed, {RepairStep()});
  AddClosed(all, "repair shelves", bases.shelved, {RepairStep()});
  AddClosed(all, "repair after a kill", bases.killed, {RepairStep()});
}

Scenarios AllScenarios(const Bases& bases) {
  Scenarios all;
  AddOpens(all, bases);
  AddWrites(all, bases);
  AddMaintenance(all, bases);
  AddCatalog(all, bases);
  AddReads(all, bases);
  AddCopies(all, bases);
  return all;
}

TEST(StoreFault, EveryFailingOperationLosesNothingAndSaysWhatFailed) {
  Totals totals;
  for (; static_cast<double>(totals.round) < Effort() && !HasFailure(); ++totals.round) {
    const Bases bases(totals.round);
    ASSERT_TRUE(HasFiles(bases.shelved, ".shelf", 1));
    for (const Scenario& scenario : AllScenarios(bases)) {
      const auto begin = std::chrono::steady_clock::now();
      const uint64_t before = totals.injected;
      Sweep(scenario, totals);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      std::printf("  %-28s %6llu faults, %.2f s\n", scenario.name.c_str(),
                  static_cast<unsigned long long>(totals.injected - before), took.count());
      std::fflush(stdout);
      if (HasFailure()) break;
      if (Effort() >= 1) {
        ASSERT_GT(totals.injected, before) << scenario.name << " meets no fault";
      }
    }
  }
  ExpectFloor("injected faults of files", totals.injected, 40000);
}

}  // namespace
}  // namespace pigment

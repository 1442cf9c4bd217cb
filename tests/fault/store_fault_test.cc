// SPDX-License-Identifier: Apache-2.0
//
// Input and output of a store fails at the n-th operation, for every n until a scenario needs no
// more, with each error that a system call may give, once and from then on, and for a write also
// after half of its bytes. After each fault: a clear error that names the file, or none; nothing
// that was acknowledged is lost; memory and disk agree; and when the fault is gone the store works,
// or says that it is poisoned and a reopen works.

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "engine/base/disk_files.h"
#include "tests/fault/fault_bases.h"
#include "tests/support/effort.h"

namespace pigment {
namespace {

constexpr std::array kErrors = {EIO,   ENOSPC, EDQUOT, EFBIG,  EMFILE,
                                ENFILE, ENOMEM, EROFS, EACCES, ESTALE};
struct Scenario {
  std::string name;
  const Base* base = nullptr;
  std::vector<FaultStep> steps;
  bool begins_open = true;
  bool has_reader = false;
  // A directory of which the name's own sync failed once may never become durable, and nothing but
  // making it anew would help.
  bool may_lose_power = true;
  uint32_t flush_rows_max = 16384;
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

// ---- One fault -----------------------------------------------------------------------------------

void Begin(const Scenario& scenario, FaultWorld& world) {
  world.options.flush_rows_max = scenario.flush_rows_max;
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
    CheckError(status);
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

  void CheckError(const Status& status) const {
    const bool is_poisoned = status.detail() == Detail::kPoisoned;
    EXPECT_TRUE(is_poisoned || status.code() == CodeOf(fault_.error)) << status.ToString();
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
    for (int round = 0; round < 2; ++round) {
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

// ---- All faults of a scenario --------------------------------------------------------------------

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
  uint64_t injected = 0;
  Share share;
};

void Sweep(const Scenario& scenario, Totals& totals) {
  SCOPED_TRACE(scenario.name);
  static constexpr std::optional<PowerCut::Keep> kAfter[] = {
      std::nullopt, PowerCut::Keep::kNothing, std::nullopt, PowerCut::Keep::kRandom,
      PowerCut::Keep::kPrefix};
  size_t turn = 0;
  for (const bool is_partial : {false, true}) {
    const uint64_t count = CountOperations(scenario, Fault{.is_partial = is_partial}.operations());
    for (uint64_t at = 1; at <= count; ++at) {
      for (const int error : kErrors) {
        for (const bool forever : {false, true}) {
          if (!totals.share.IsNext()) continue;
          const Fault fault{.error = error,
                            .forever = forever,
                            .is_partial = is_partial,
                            .at = at,
                            .cut = scenario.may_lose_power ? kAfter[turn++ % std::size(kAfter)]
                                                           : std::nullopt};
          SCOPED_TRACE(fault.Name());
          totals.injected += FaultRun(scenario, fault).Run() > 0;
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

std::vector<Scenario> Scenarios(const Bases& bases) {
  const Metadata metadata{{"purpose", std::string("test")}};
  std::vector<Scenario> all;
  const auto add = [&all](std::string name, const Base& base, std::vector<FaultStep> steps) {
    all.push_back({.name = std::move(name), .base = &base, .steps = std::move(steps)});
    return &all.back();
  };
  const auto creation =
      add("create a store", bases.nothing, {OpenStep(), CreateStep(kBusy), CloseStep()});
  creation->begins_open = creation->may_lose_power = false;
  add("fill a directory", bases.empty, {OpenStep(), CreateStep(kBusy), CloseStep()})->begins_open =
      false;
  add("open a new store", bases.fresh, {OpenStep(), CloseStep()})->begins_open = false;
  add("open and replay", bases.logged, {OpenStep(), ReadStep(), CloseStep()})->begins_open = false;
  add("open with segments", bases.mixed, {OpenStep(), ReadStep(), CloseStep()})->begins_open =
      false;
  add("open after a kill", bases.killed, {OpenStep(), ReadStep(), CloseStep()})->begins_open =
      false;
  add("write", bases.logged, Join({Writes(11, kBusy, 6), Writes(12, kCold, 2)}));
  add("write to segments", bases.segmented, Join({Writes(13, kBusy, 6), Writes(14, kOther, 3)}));
  add("write after a kill", bases.killed, Writes(15, kBusy, 4));
  add("flush", bases.mixed, {FlushStep(kBusy), FlushStep(kCold), FlushStep(kOther)});
  add("flush by writing", bases.mixed, Writes(16, kBusy, 12))->flush_rows_max = 12;
  add("compact", bases.segmented, Join({Writes(17, kBusy, 4), {CompactStep(kBusy)}}));
  add("delete by filter", bases.mixed,
      {DeleteSelectedStep(kBusy, R"({"$contains":"red"})"), FlushStep(kBusy)});
  add("close with a full tail", bases.mixed, {CloseStep()})->flush_rows_max = 20;
  add("catalog", bases.mixed,
      {CreateTenantStep("t"), CreateDatabaseStep("t", "d"), CreateStep({"t", "d", "c"}),
       RenameStep(kCold, "warm"), MetadataStep(kBusy, metadata), DeleteDatabaseStep("t", "d"),
       DeleteTenantStep("acme"), DeleteCollectionStep(kBusy)});
  add("checkpoint", bases.mixed,
      {MetadataStep(kBusy, metadata), CheckpointStep(), RenameStep(kBusy, "b"), CheckpointStep()});
  add("fork", bases.mixed,
      Join({{ForkStep(kBusy, "fork")}, Writes(18, {.name = "fork"}, 2), {ForkStep(kBusy, "two")}}));
  add("delete what was forked", bases.segmented,
      {ForkStep(kBusy, "fork"), DeleteCollectionStep(kBusy), FlushAllStep(), ReadStep()});
  add("read", bases.segmented, {ReadStep()});
  add("read-only open", bases.killed, {OpenReaderStep()})->begins_open = false;
  const auto refresh =
      add("refresh", bases.mixed,
          Join({Writes(19, kBusy, 2), {RefreshStep(), FlushAllStep(), RefreshStep()}}));
  refresh->has_reader = true;
  return all;
}

TEST(StoreFault, EveryFailingOperationLosesNothingAndSaysWhatFailed) {
  const Bases bases;
  Totals totals;
  for (const Scenario& scenario : Scenarios(bases)) {
    const auto begin = std::chrono::steady_clock::now();
    const uint64_t before = totals.injected;
    Sweep(scenario, totals);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf("  %-24s %6llu faults, %.2f s\n", scenario.name.c_str(),
                static_cast<unsigned long long>(totals.injected - before), took.count());
    if (HasFailure()) break;
  }
  ExpectFloor("injected faults of files", totals.injected, 20000);
}

}  // namespace
}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// StoreEngine: merges after writes, and compaction at a user's wish.

#include <new>
#include <utility>

#include "engine/base/call_control.h"
#include "engine/base/out_of_memory.h"
#include "engine/collection/store_engine.h"

namespace pigment {

void StoreEngine::Maintain(const std::shared_ptr<CollectionState>& state) {
  try {
    if (state->quiet_due_ns() != 0 || state->graft_is_due()) (void)maintenance_.Schedule(state);
    if (state->due_merge_rows() != 0 &&
        (options_.background_threads == 0 || !maintenance_.Schedule(state))) {
      maintenance_.MergeHere(*state);
    }
    maintenance_.WaitForRoom(*state);
  } catch (const std::bad_alloc&) {
    // The next write asks again.
  }
}

void StoreEngine::LookForGrafts(const std::shared_ptr<CollectionState>& state) {
  if (options_.read_only || options_.background_threads == 0 || !state->TakeGraftLook()) return;
  (void)CatchOutOfMemory([&] {
    (void)maintenance_.ScheduleNow(state);
    return Status::Ok();
  });
}

// What the last process did not come to; not at once, because whoever opens a store wants something
// else of it first.
void StoreEngine::GoOnMerging(const std::shared_ptr<CollectionState>& state) {
  if (options_.read_only || options_.background_threads == 0) return;
  if (state->due_merge_rows() == 0 && state->quiet_due_ns() == 0) return;
  (void)CatchOutOfMemory([&] {
    constexpr int64_t kPatienceNs = 1'000'000'000;
    (void)maintenance_.Schedule(state, MonotonicNow() + kPatienceNs);
    return Status::Ok();
  });
}

Result<MaintenanceStatistics> StoreEngine::maintenance() const {
  PIGMENT_RETURN_IF_ERROR(CheckOpen());
  return maintenance_.statistics();
}

Result<CompactionResult> StoreEngine::CompactState(CollectionState& state,
                                                   const CallControl& control) {
  Span span(options_.tracing, "compaction", &state.id());
  MergeReport report;
  Result<CompactionResult> result = state.Compact(
      [&](uint64_t) {
        PIGMENT_RETURN_IF_ERROR(maintenance_.Check());
        return control.Check();
      },
      control, &report);
  maintenance_.Count(report);
  if (result.ok()) {
    span.Set("rows", result->records);
    span.Set("segments", result->segments_in);
    span.Set("segments_after", result->segments_out);
    span.Set("bytes", result->bytes_before);
    span.Set("bytes_after", result->bytes_after);
  }
  span.End(result.status());
  return result;
}

Result<CompactionResult> StoreEngine::CompactCollection(const Uuid& id, const std::string& name,
                                                        const CallControl& control) {
  PIGMENT_ASSIGN_OR_RETURN(const Operation operation, Begin());
  PIGMENT_ASSIGN_OR_RETURN(const auto state, Find(id, name));
  Result<CompactionResult> result = CompactState(*state, control);
  if (result.ok() && options_.erase_log) PIGMENT_RETURN_IF_ERROR(EraseLog());
  return result;
}

Result<CompactionResult> StoreEngine::CompactAll(const CallControl& control) {
  PIGMENT_ASSIGN_OR_RETURN(const Operation operation, Begin());
  CompactionResult sum;
  Status first = LoadUnflushed();
  if (Status status = LoadSegmented(); first.ok()) first = std::move(status);
  for (const auto& state : AllStates()) {
    // A damaged collection does not keep the others from it. A cancelled call ends at once.
    if (Status status = state->CheckWritable(); !status.ok()) {
      if (first.ok() && !IsDeleted(*state)) first = std::move(status);
      continue;
    }
    const auto one = CompactState(*state, control);
    if (one.ok()) {
      sum.records += one->records;
      sum.segments_in += one->segments_in;
      sum.segments_out += one->segments_out;
      sum.bytes_before += one->bytes_before;
      sum.bytes_after += one->bytes_after;
      continue;
    }
    if (IsDeleted(*state)) continue;
    if (first.ok()) first = one.status();
    PIGMENT_RETURN_IF_ERROR(control.Check());
    PIGMENT_RETURN_IF_ERROR(maintenance_.Check());
  }
  if (!first.ok()) return first;
  if (options_.erase_log) PIGMENT_RETURN_IF_ERROR(EraseLog());
  return sum;
}

}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// CollectionState: rows that hang on the largest index until a merge takes them. Searches may do
// without, so that a failure costs them time alone.

#include <algorithm>
#include <new>
#include <numeric>
#include <utility>

#include "engine/base/call_control.h"
#include "engine/base/out_of_memory.h"
#include "engine/collection/collection_state.h"
#include "engine/collection/tail_graft_rows.h"

namespace pigment {
namespace {

// Rows of the tail that are worth it, at least; and a part of those that hang already, because all
// are counted anew.
constexpr uint32_t kTailRowsMin = 4 * TailChunk::kRows;
constexpr uint32_t kTailPart = 4;
// Of the tail it is asked whether they are of use more often, and each time of fewer new rows.
constexpr uint32_t kTailSamples = 30;
// Whether what a write or a merge has left is searched is seen after so long, then ever later up to
// the second, by whoever reads then.
constexpr int64_t kLookNs = 100'000'000;
constexpr int64_t kLookNsMax = 10'000'000'000;
// Nothing is hung for so many times as it took of a core: where more is written than half of a
// thread can hang, merges need the other half.
constexpr int64_t kRestTimes = 1;

bool IsOn(const Graft* graft, uint32_t segment) {
  return graft != nullptr && graft->graph_segment() == segment;
}

}  // namespace

const SegmentSlot* CollectionState::LargestIndexLocked() const {
  const SegmentSlot* largest = nullptr;
  for (const SegmentSlot& slot : contents_.segments()) {
    if (slot.segment == nullptr || !slot.segment->has_index()) continue;
    if (largest == nullptr || slot.entry.rows > largest->entry.rows) largest = &slot;
  }
  return largest;
}

const SegmentSlot* CollectionState::SlotToGraftLocked() const {
  const SegmentSlot* const graph = LargestIndexLocked();
  if (graph == nullptr || context_.options.background_threads == 0) return nullptr;
  for (const SegmentSlot& slot : contents_.segments()) {
    if (slot.segment == nullptr || slot.entry.segment == grafting_ ||
        slot.hanging.tried_on == graph->entry.segment)
      continue;
    if (Graft::Fits(graph->segment->info(), slot.segment->info())) return &slot;
  }
  return nullptr;
}

uint32_t CollectionState::TailRowsToGraftLocked() const {
  const Tail& tail = contents_.tail();
  const uint32_t rows = tail.rows() / TailChunk::kRows * TailChunk::kRows;
  if (rows < kTailRowsMin || is_grafting_tail_ || context_.options.background_threads == 0)
    return 0;
  // Those that could not hang are no fewer before a flush.
  if (rows >= tail_rows_refused_ && rows < 2 * tail_rows_refused_) return 0;
  const SegmentSlot* const graph = LargestIndexLocked();
  if (graph == nullptr || !Graft::Fits(graph->segment->info(), rows)) return 0;
  uint32_t hung = 0;
  if (tail.hung() != nullptr && IsOn(tail.hung()->graft.get(), graph->entry.segment))
    hung = tail.hung()->graft->rows();
  return rows - hung >= std::max(kTailRowsMin, hung / kTailPart) ? rows : 0;
}

// Where nobody searches it would be in vain. What hung in the tail takes little.
bool CollectionState::IsDueLocked(const SegmentSlot& slot) const {
  return slot.segment->has_read_index() &&
         (IsOn(slot.hanging.tail_graft.get(), LargestIndexLocked()->entry.segment) ||
          MonotonicNow() >= grafts_rest_until_ns_);
}

bool CollectionState::IsTailDueLocked(uint32_t rows) const {
  return contents_.tail().WasSearched(rows - TailChunk::kRows) &&
         MonotonicNow() >= grafts_rest_until_ns_;
}

bool CollectionState::NoteGraftLocked() {
  const SegmentSlot* const slot = SlotToGraftLocked();
  const uint32_t tail_rows = TailRowsToGraftLocked();
  const bool is_due =
      (slot != nullptr && IsDueLocked(*slot)) || (tail_rows != 0 && IsTailDueLocked(tail_rows));
  graft_is_due_.store(is_due && write_failure_.ok() && compactions_.load() == 0,
                      std::memory_order_relaxed);
  return write_failure_.ok() && (slot != nullptr || tail_rows != 0);
}

void CollectionState::LookForGraftsLocked() {
  graft_look_after_ns_ = kLookNs;
  SetGraftLookLocked();
}

void CollectionState::SetGraftLookLocked() {
  const bool may_come = NoteGraftLocked() && !graft_is_due();
  int64_t look_ns = std::max(MonotonicNow() + graft_look_after_ns_, grafts_rest_until_ns_);
  const int64_t before_ns = graft_look_ns_.load(std::memory_order_relaxed);
  if (before_ns != 0) look_ns = std::min(look_ns, before_ns);
  graft_look_ns_.store(may_come ? look_ns : 0, std::memory_order_relaxed);
}

bool CollectionState::TakeGraftLook() {
  int64_t look_ns = graft_look_ns_.load(std::memory_order_relaxed);
  return look_ns != 0 && look_ns <= MonotonicNow() &&
         graft_look_ns_.compare_exchange_strong(look_ns, 0, std::memory_order_relaxed);
}

Status CollectionState::GraftOnce(const MergePause& pause) {
  {
    std::lock_guard lock(state_mutex_);
    (void)NoteGraftLocked();
    if (!graft_is_due()) {
      if (graft_look_ns_.load(std::memory_order_relaxed) == 0) {
        graft_look_after_ns_ = std::min(2 * graft_look_after_ns_, kLookNsMax);
        SetGraftLookLocked();
      }
      return Status::Ok();
    }
  }
  const int64_t begin_ns = ThreadTimeNow();
  PIGMENT_RETURN_IF_ERROR(GraftSegment(pause));
  PIGMENT_RETURN_IF_ERROR(GraftTail(pause));
  std::lock_guard lock(state_mutex_);
  const int64_t taken_ns = ThreadTimeNow() - begin_ns;
  grafts_rest_until_ns_ = std::max(grafts_rest_until_ns_, MonotonicNow() + kRestTimes * taken_ns);
  LookForGraftsLocked();
  return Status::Ok();
}

Status CollectionState::GraftSegment(const MergePause& pause) {
  SegmentSlot graph, slot;
  {
    std::lock_guard lock(state_mutex_);
    const SegmentSlot* const next = SlotToGraftLocked();
    if (next == nullptr || !IsDueLocked(*next)) return Status::Ok();
    slot = *next;
    graph = *LargestIndexLocked();
    grafting_ = slot.entry.segment;
  }
  const auto graft = CatchOutOfMemory([&] {
    SegmentGraftRows rows(*slot.segment);
    GraftOptions options;
    if (IsOn(slot.hanging.tail_graft.get(), graph.entry.segment)) {
      options.from = slot.hanging.tail_graft;
      options.rows_of_from = *slot.hanging.tail_rows;
    }
    return MakeGraft(*graph.segment, rows, std::move(options), pause);
  });
  std::lock_guard lock(state_mutex_);
  grafting_ = 0;
  if (graft.status().code() != Code::kCancelled) {
    // Searches say themselves what is damaged.
    contents_.SetGraft(slot.entry.segment, graph.entry.segment, graft.ok() ? *graft : nullptr);
    ShowGraftLocked();
  }
  return graft.status().code() == Code::kCancelled ? graft.status() : Status::Ok();
}

Status CollectionState::GraftTail(const MergePause& pause) {
  std::shared_ptr<const Segment> graph;
  TailView tail;
  uint32_t count = 0;
  {
    std::lock_guard lock(state_mutex_);
    count = TailRowsToGraftLocked();
    if (count == 0 || !IsTailDueLocked(count)) return Status::Ok();
    graph = LargestIndexLocked()->segment;
    tail = contents_.tail().View();
    is_grafting_tail_ = true;
  }
  const auto hung = CatchOutOfMemory([&]() -> Result<std::shared_ptr<const TailGraft>> {
    std::vector<const float*> vectors = VectorsOf(tail, count);
    TailGraftRows rows(vectors, graph->info().dimension);
    GraftOptions options;
    options.samples = kTailSamples;
    std::vector<uint32_t> same_rows;
    if (tail.hung != nullptr && IsOn(tail.hung->graft.get(), graph->info().segment)) {
      options.from = tail.hung->graft;
      same_rows.resize(options.from->rows());
      std::iota(same_rows.begin(), same_rows.end(), 0);
      options.rows_of_from = same_rows;
    }
    PIGMENT_ASSIGN_OR_RETURN(std::shared_ptr<const Graft> graft,
                             MakeGraft(*graph, rows, std::move(options), pause));
    if (graft == nullptr) return std::shared_ptr<const TailGraft>();
    return std::make_shared<const TailGraft>(TailGraft{std::move(graft), std::move(vectors)});
  });
  std::lock_guard lock(state_mutex_);
  is_grafting_tail_ = false;
  if (hung.status().code() != Code::kCancelled) {
    const bool is_there = hung.ok() && *hung != nullptr;
    tail_rows_refused_ = is_there ? 0 : count;
    if (is_there) contents_.SetTailGraft(tail, *hung);
    ShowGraftLocked();
  }
  return hung.status().code() == Code::kCancelled ? hung.status() : Status::Ok();
}

Result<std::shared_ptr<const Graft>> CollectionState::MakeGraft(const Segment& graph,
                                                                GraftRows& rows,
                                                                GraftOptions options,
                                                                const MergePause& pause) {
  options.budget = context_.segments->shared_budget();
  options.pause = [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(GiveWayToCompaction());
    return pause(rows.count());
  };
  return Graft::Make(graph, rows, std::move(options));
}

void CollectionState::ShowGraftLocked() {
  if (!write_failure_.ok()) return;
  try {
    PublishVersion(position_);
  } catch (const std::bad_alloc&) {
    // The next write shows it.
  }
}

}  // namespace pigment

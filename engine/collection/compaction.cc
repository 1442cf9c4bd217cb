// SPDX-License-Identifier: Apache-2.0
//
// CollectionState: merging segments. A merge never moves the floor: it drops rows that are dead in
// the deletions that the catalog stores, and no other, because replay of the log above the floor
// may ask for them. The order makes it safe: the output is durable, then (under the flush lock, so
// that the floor and the stored deletions stand still) its deletions, then their names, then one
// catalog edit swaps inputs for output, then memory follows. Before the edit the files belong to
// nobody.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <new>
#include <span>
#include <utility>

#include "engine/base/call_control.h"
#include "engine/base/out_of_memory.h"
#include "engine/base/planted_bugs.h"
#include "engine/base/thread_pool.h"
#include "engine/collection/collection_state.h"
#include "engine/collection/deletions_file.h"
#include "engine/segment/index_part.h"

namespace pigment {

namespace {

const SegmentSlot* FindSlot(const std::vector<SegmentSlot>& slots, uint32_t segment) {
  const auto found = std::find_if(slots.begin(), slots.end(), [segment](const SegmentSlot& slot) {
    return slot.entry.segment == segment;
  });
  return found != slots.end() ? &*found : nullptr;
}

uint64_t RowsOf(std::span<const SegmentShape> shapes, const MergeRun& run) {
  uint64_t rows = 0;
  for (const SegmentShape& shape : shapes.subspan(run.first, run.count)) rows += shape.rows;
  return rows;
}

bool LacksIndex(const SegmentSlot& slot, SegmentKind wanted) {
  if (slot.segment == nullptr) return false;  // want of memory put the collection out of use
  const SegmentInfo& info = slot.segment->info();
  // Clusters beside byte codes are what a flush has time for; without, a merge has chosen them.
  const bool is_provisional = info.kind == SegmentKind::kFlat || slot.segment->has_codes();
  return info.kind != wanted && is_provisional && info.vectors != 0 && !slot.index_was_tried;
}

bool IsInput(const MergeJob& job, uint32_t segment) {
  return FindSlot(job.inputs, segment) != nullptr;
}

}  // namespace

std::vector<SegmentShape> CollectionState::ShapesLocked() const {
  const SegmentIndex index = IndexOf(settings_);
  std::vector<SegmentShape> shapes;
  for (const SegmentSlot& slot : contents_.segments()) {
    shapes.push_back({.rows = slot.entry.rows,
                      .dead_rows = slot.entry.deleted_rows,
                      .is_busy = merging_.contains(slot.entry.segment),
                      .lacks_index = LacksIndex(slot, index.kind)});
  }
  return shapes;
}

std::optional<MergeRun> CollectionState::PlanQuietLocked(
    std::span<const SegmentShape> shapes) const {
  uint64_t rows_max = MergeRowsMax(*context_.segments);
  // One segment without an index would be worse than several with one.
  if (const uint64_t limit_bytes = context_.segments->merge_budget()->limit_bytes()) {
    const IndexBuild most{.index = IndexOf(settings_),
                          .metric = Metric::kIp,  // takes the most
                          .dimension = contents_.dimension(),
                          .vectors = std::numeric_limits<int32_t>::max(),
                          .scratch = context_.segments->scratch()};
    rows_max = std::min<uint64_t>(rows_max, IndexWriter::VectorsWithin(most, limit_bytes));
  }
  return PlanQuietMerge(shapes, context_.options.index_rows_min, rows_max);
}

bool CollectionState::IsWorthAFlushLocked() const {
  if (contents_.unflushed_changes() < context_.options.index_rows_min) return false;
  std::vector<SegmentShape> shapes = ShapesLocked();
  uint64_t tail_rows = contents_.live_rows();
  for (size_t i = 0; i < shapes.size(); ++i) {
    shapes[i].dead_rows = contents_.segments()[i].deleted_rows;
    tail_rows -= shapes[i].rows - shapes[i].dead_rows;
  }
  if (tail_rows != 0)
    shapes.push_back({.rows = static_cast<uint32_t>(tail_rows), .lacks_index = true});
  return PlanQuietLocked(shapes).has_value();
}

// A collection that is written to merges soon anyway: a graph of what it has now would be in vain.
int64_t CollectionState::QuietDueLocked() const {
  constexpr int64_t kSlowTimes = 10;
  return std::min(written_ns_ + quiet_ns(), unflushed_from_ns_ + kSlowTimes * quiet_ns());
}

void CollectionState::NoteWriteLocked() {
  const int64_t now_ns = MonotonicNow();
  if (now_ns - written_ns_ > quiet_ns()) unflushed_from_ns_ = now_ns;
  written_ns_ = now_ns;
  LookForGraftsLocked();
  if (context_.options.background_threads == 0 || quiet_due_ns() != 0 || due_merge_rows() != 0)
    return;
  // Looked at again when there is a quarter more.
  const uint64_t changes = contents_.unflushed_changes();
  if (changes < looked_at_changes_ + looked_at_changes_ / 4) return;
  looked_at_changes_ = changes;
  try {
    if (!IsWorthAFlushLocked()) return;
  } catch (const std::bad_alloc&) {
    return;  // what the write is for is done
  }
  quiet_due_ns_.store(QuietDueLocked(), std::memory_order_relaxed);
}

void CollectionState::PlanMergesLocked() {
  uint64_t due_rows = 0;
  int64_t quiet_due_ns = 0;
  bool is_too_many = false;
  try {
    const std::vector<SegmentShape> shapes = ShapesLocked();
    const uint32_t unit = context_.options.flush_rows_max;
    const uint64_t rows_max = MergeRowsMax(*context_.segments);
    if (const auto run = PlanMerge(shapes, unit, rows_max); run && compactions_.load() == 0)
      due_rows = RowsOf(shapes, *run);
    if (due_rows == 0 && context_.options.background_threads != 0 &&
        (PlanQuietLocked(shapes) || IsWorthAFlushLocked())) {
      quiet_due_ns = QuietDueLocked();
    }
    is_too_many = shapes.size() >= 2 * SegmentsExpected(shapes, unit);
  } catch (const std::bad_alloc&) {
    // Nothing is due until somebody asks with more memory.
  }
  LookForGraftsLocked();
  due_merge_rows_.store(due_rows, std::memory_order_relaxed);
  quiet_due_ns_.store(quiet_due_ns, std::memory_order_relaxed);
  too_many_.store(is_too_many, std::memory_order_relaxed);
}

Status CollectionState::GiveWayToCompaction() const {
  if (compactions_.load() == 0) return Status::Ok();
  return Status(Code::kCancelled, "maintenance gives way to a compaction");
}

// Merges take long, and what is flushed meanwhile is searched.
Status CollectionState::PauseOfMerge(uint64_t rows, const MergePause& pause) {
  PIGMENT_RETURN_IF_ERROR(GiveWayToCompaction());
  if (std::unique_lock lock(state_mutex_, std::try_to_lock); lock) (void)NoteGraftLocked();
  if (graft_is_due()) PIGMENT_RETURN_IF_ERROR(GraftOnce(pause));
  return pause(rows);
}

void CollectionState::DeferMerges() {
  due_merge_rows_.store(0, std::memory_order_relaxed);
  quiet_due_ns_.store(0, std::memory_order_relaxed);
}

bool CollectionState::IsLeftAloneLocked() {
  if (quiet_due_ns() == 0) return false;
  const int64_t due_ns = QuietDueLocked();
  if (MonotonicNow() >= due_ns) return true;
  quiet_due_ns_.store(due_ns, std::memory_order_relaxed);
  return false;
}

Result<bool> CollectionState::FlushIfLeftAlone() {
  {
    std::lock_guard lock(state_mutex_);
    if (!write_failure_.ok() || compactions_.load() != 0 || !IsLeftAloneLocked()) return false;
    if (due_merge_rows() != 0) return true;
    // What is merged anyway takes whatever tail there is.
    const bool is_worth_it = PlanQuietLocked(ShapesLocked()) ? contents_.unflushed_changes() != 0
                                                             : IsWorthAFlushLocked();
    if (!is_worth_it) return true;
  }
  PIGMENT_RETURN_IF_ERROR(Flush({}));
  return true;
}

MergeJob CollectionState::ClaimLocked(size_t first, size_t count) {
  const auto begin = contents_.segments().begin() + static_cast<ptrdiff_t>(first);
  MergeJob job;
  job.inputs.assign(begin, begin + static_cast<ptrdiff_t>(count));
  job.dimension = contents_.dimension();
  job.index = settings_;
  job.rules = contents_.rules();
  job.analyzer = analyzer();
  job.index_rows_min = context_.options.index_rows_min;
  job.cluster_rows_min = context_.options.cluster_rows_min;
  job.threads = BuildThreads(settings_.threads);
  size_t claimed = 0, held = 0;
  try {
    for (; claimed < count; ++claimed) merging_.insert(job.inputs[claimed].entry.segment);
    for (; held < count; ++held) context_.segments->Hold(job.inputs[held].entry);
  } catch (const std::bad_alloc&) {
    while (claimed > 0) merging_.erase(job.inputs[--claimed].entry.segment);
    while (held > 0) context_.segments->LetGo(job.inputs[--held].entry);
    throw;
  }
  PlanMergesLocked();
  return job;
}

Result<std::optional<MergeReport>> CollectionState::MergeOnce(uint64_t rows_max,
                                                              const MergePause& pause) {
  bool is_left_alone = false;
  if (rows_max == kMergeRowsAny) {  // what is done in the pauses of another merge is no quiet work
    PIGMENT_ASSIGN_OR_RETURN(is_left_alone, FlushIfLeftAlone());
  }
  MergeJob job;
  {
    std::lock_guard lock(state_mutex_);
    if (!write_failure_.ok() || compactions_.load() != 0) {
      DeferMerges();
      return std::optional<MergeReport>();
    }
    const std::vector<SegmentShape> shapes = ShapesLocked();
    auto run = PlanMerge(shapes, context_.options.flush_rows_max, MergeRowsMax(*context_.segments));
    if (!run && is_left_alone) {
      run = PlanQuietLocked(shapes);
      if (!run) PlanMergesLocked();  // no longer worth it, or written to since it was flushed
    }
    if (!run || RowsOf(shapes, *run) > rows_max) return std::optional<MergeReport>();
    job = ClaimLocked(run->first, run->count);
  }
  Span span(context_.options.tracing, "merge", &id_);
  span.Set("segments", job.inputs.size());
  const Result<MergeReport> report =
      RunMerge(std::move(job), [&](uint64_t rows) { return PauseOfMerge(rows, pause); });
  if (report.ok()) {
    span.Set("rows", report->rows);
    span.Set("bytes", report->bytes);
  }
  span.End(report.status());
  PIGMENT_RETURN_IF_ERROR(report.status());
  return std::optional(*report);
}

Result<MergeReport> CollectionState::RunMerge(MergeJob job, const MergePause& pause) {
  // Nothing may keep the claim from being given up: who compacts waits for it.
  Result<MergeReport> report = CatchOutOfMemory([&] { return WriteAndPublish(job, pause); });
  {
    std::lock_guard lock(state_mutex_);
    for (const SegmentSlot& slot : job.inputs) merging_.erase(slot.entry.segment);
    PlanMergesLocked();
    merges_changed_.notify_all();
  }
  for (const SegmentSlot& slot : job.inputs) context_.segments->LetGo(slot.entry);
  return report;
}

Result<MergeReport> CollectionState::WriteAndPublish(MergeJob& job, const MergePause& pause) {
  PIGMENT_ASSIGN_OR_RETURN(const CollectionEntry entry, context_.catalog->GetCollectionById(id_));
  job.metric = entry.metric;
  job.vector_element = entry.vector_element;
  job.names_epoch = context_.segments->names_epoch();
  PIGMENT_ASSIGN_OR_RETURN(const uint32_t number, context_.catalog->NextSegment());
  PIGMENT_ASSIGN_OR_RETURN(MergedSegment merged,
                           MergeSegments(*context_.segments, job, number, pause));
  MergeReport report{.merges = 1};
  if (merged.output) {
    report.rows = merged.output->entry.rows;
    report.bytes = merged.output->entry.file_bytes;
  }
  PIGMENT_RETURN_IF_ERROR(PublishMerge(job, merged, number));
  return report;
}

Status CollectionState::PublishMerge(const MergeJob& job, MergedSegment& merged, uint32_t number) {
  std::lock_guard flushing(flush_mutex_);
  std::vector<SegmentSlot> now;
  const auto prepare = [&]() -> Status {
    {
      std::lock_guard lock(state_mutex_);
      PIGMENT_RETURN_IF_ERROR(write_failure_);
      now = contents_.segments();
    }
    if (merged.output) PIGMENT_RETURN_IF_ERROR(StoreDeletionsOfMerged(job, now, merged, number));
    if (PIGMENT_PLANTED(kMergePublishesBeforeNames)) return Status::Ok();
    return merged.output ? context_.segments->SyncNames(job.names_epoch) : Status::Ok();
  };
  const SegmentEntry written = merged.output ? merged.output->entry : SegmentEntry{};
  if (const Status status = CatchOutOfMemory(prepare); !status.ok()) {
    context_.segments->Discard(merged.output ? merged.output->entry : written);
    return status;
  }
  if (!merged.output) context_.segments->Discard(written);  // its last rows died meanwhile
  Retention named(*context_.segments);
  if (const Status status = StoreMergedEntry(job, now, merged, named); !status.ok()) {
    if (EditIsNotThere(status) && merged.output) context_.segments->Discard(merged.output->entry);
    return status;
  }
  std::vector<SegmentEntry> superseded;
  {
    std::lock_guard lock(state_mutex_);
    superseded = std::exchange(retained_, named.TakeSegments());
    try {
      contents_.ReplaceMerged(job.inputs, std::move(merged.output), merged.map);
      PublishVersion(position_);
    } catch (const std::bad_alloc&) {
      return FallBehindLocked();
    }
  }
  for (const SegmentEntry& segment : superseded) context_.segments->Release(segment);
  return Status::Ok();
}

// What the catalog will store for the output is what it stores for the inputs now, which may be
// more than when the merge began.
Status CollectionState::StoreDeletionsOfMerged(const MergeJob& job,
                                               const std::vector<SegmentSlot>& now,
                                               MergedSegment& merged, uint32_t number) {
  std::vector<uint32_t> dead;
  for (size_t input = 0; input < job.inputs.size(); ++input) {
    if (const SegmentSlot* slot = FindSlot(now, job.inputs[input].entry.segment)) {
      merged.map.Translate(input, slot->stored.get(), dead);
    } else {
      merged.map.TranslateAll(input, dead);  // a flush dropped it: nothing lived there
    }
  }
  SegmentSlot& output = *merged.output;
  if (dead.size() == output.entry.rows) {
    merged.output.reset();
    return Status::Ok();
  }
  if (PIGMENT_PLANTED(kMergeReusesDeletionsVersion)) {
    output.entry.deletions = job.inputs.front().entry.deletions;
    return Status::Ok();
  }
  if (dead.empty() || PIGMENT_PLANTED(kMergeLosesStoredDeletions)) return Status::Ok();
  output.stored = std::make_shared<const RowBitmap>(RowBitmap(output.entry.rows).With(dead));
  PIGMENT_RETURN_IF_ERROR(
      context_.segments->WriteDeletions(output.entry.segment, number, *output.stored));
  output.entry.deletions = number;
  output.entry.deleted_rows = static_cast<uint32_t>(dead.size());
  return Status::Ok();
}

Status CollectionState::StoreMergedEntry(const MergeJob& job, const std::vector<SegmentSlot>& now,
                                         const MergedSegment& merged, Retention& named) {
  std::lock_guard lock(*context_.entry_mutex);
  PIGMENT_ASSIGN_OR_RETURN(CollectionEntry entry, context_.catalog->GetCollectionById(id_));
  entry.segments.clear();
  bool is_placed = false;
  for (const SegmentSlot& slot : now) {
    if (!IsInput(job, slot.entry.segment)) {
      entry.segments.push_back(slot.entry);
    } else if (!std::exchange(is_placed, true) && merged.output) {
      entry.segments.push_back(merged.output->entry);
    }
  }
  if (PIGMENT_PLANTED(kMergeRaisesTheFloor)) {
    entry.floor = context_.applied->load(std::memory_order_acquire);
  }
  if (PIGMENT_PLANTED(kMergeRemovesInputsBeforeItsEdit)) {
    for (const SegmentSlot& slot : job.inputs) context_.segments->Discard(slot.entry);
  }
  return UpdateEntry(entry, named);
}

uint64_t CollectionState::BytesLocked() const {
  uint64_t bytes = 0;
  for (const SegmentSlot& slot : contents_.segments()) {
    bytes += slot.entry.file_bytes;
    if (slot.entry.deletions != 0) bytes += DeletionsFileBytes(slot.entry.rows);
  }
  return bytes;
}

Result<CompactionResult> CollectionState::Compact(const MergePause& pause,
                                                  const CallControl& control, MergeReport* report) {
  std::lock_guard compacting(compact_mutex_);
  struct GiveWay {
    explicit GiveWay(CollectionState* state) : state(state) { ++state->compactions_; }
    ~GiveWay() {
      std::lock_guard lock(state->state_mutex_);
      --state->compactions_;
      state->PlanMergesLocked();
    }
    CollectionState* const state;
  } give_way(this);
  control.BeginPhase("flush", "rows", 0);
  PIGMENT_RETURN_IF_ERROR(FlushWithin(control));
  CompactionResult result;
  MergeJob job;
  bool is_needed = false;
  {
    std::unique_lock lock(state_mutex_);
    merges_changed_.wait(lock, [this] { return merging_.empty(); });
    PIGMENT_RETURN_IF_ERROR(write_failure_);
    const std::vector<SegmentSlot>& segments = contents_.segments();
    result.segments_in = segments.size();
    result.bytes_before = BytesLocked();
    is_needed =
        segments.size() > 1 ||
        (segments.size() == 1 && (segments[0].entry.deleted_rows != 0 ||
                                  PlanQuietMerge(ShapesLocked(), context_.options.index_rows_min)));
    if (is_needed) job = ClaimLocked(0, segments.size());
    if (settings_.threads == 0) job.threads = UsableCores();  // somebody waits for it
    job.told = control;
  }
  if (is_needed) {
    PIGMENT_ASSIGN_OR_RETURN(*report, RunMerge(std::move(job), pause));
  }
  std::lock_guard lock(state_mutex_);  // given up before `give_way` takes it
  PIGMENT_RETURN_IF_ERROR(write_failure_);
  result.records = contents_.live_rows();
  result.segments_out = contents_.segments().size();
  result.bytes_after = BytesLocked();
  return result;
}

}  // namespace pigment

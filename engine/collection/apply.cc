// SPDX-License-Identifier: Apache-2.0
//
// What a batch does to a collection: the semantics of add, update, upsert and delete
// (notes/chroma.md 1.5). Part of Contents; runs in log order, live and at replay alike.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/collection/contents.h"
#include "engine/segment/id_index.h"

namespace pigment {

namespace {

// Where a live record is.
struct Place {
  static constexpr uint32_t kTail = 0xFFFFFFFF;
  uint32_t segment = kTail;  // index among the collection's segments, or kTail
  uint32_t row = 0;
};

uint64_t PlaceKey(const Place& place) { return uint64_t{place.segment} << 32 | place.row; }

// A batch comes from the log at replay, so its shape is checked like anything else from disk.
Status CheckShape(const WriteBatch& batch) {
  const size_t rows = batch.ids.size();
  const auto fits = [rows](size_t size) { return size == 0 || size == rows; };
  const bool has_vectors = !batch.embeddings.empty();
  if (!fits(batch.documents.size()) || !fits(batch.metadatas.size()) || !fits(batch.uris.size()) ||
      (has_vectors && batch.embeddings.size() != rows * batch.dimension)) {
    return DataLoss(Detail::kMiscounted, "", -1,
                    "a batch of the log has columns of unequal length");
  }
  if (!has_vectors && (batch.kind == WriteKind::kAdd || batch.kind == WriteKind::kUpsert) &&
      rows > 0) {
    return DataLoss(Detail::kMiscounted, "", -1, "a batch of the log inserts without vectors");
  }
  return Status::Ok();
}

}  // namespace

class BatchApplier {
 public:
  BatchApplier(Contents* contents, const WriteBatch& batch)
      : contents_(*contents), batch_(batch), erased_rows_(contents->segments_.size()) {}

  Result<WriteCounts> Run() {
    PIGMENT_RETURN_IF_ERROR(CheckShape(batch_));
    PIGMENT_RETURN_IF_ERROR(FindInSegments());
    for (size_t row = 0; row < batch_.ids.size(); ++row) PIGMENT_RETURN_IF_ERROR(ApplyRow(row));
    Finish();
    return counts_;
  }

 private:
  Status ApplyRow(size_t row) {
    const std::optional<Place> place = Find(row);
    switch (batch_.kind) {
      case WriteKind::kAdd:
        if (!place) return Insert(row);
        ++counts_.skipped;
        return Status::Ok();
      case WriteKind::kUpdate:
        if (place) return Replace(row, *place);
        ++counts_.skipped;
        return Status::Ok();
      case WriteKind::kUpsert:
        return place ? Replace(row, *place) : Insert(row);
      case WriteKind::kDelete:
        if (!place) {
          ++counts_.skipped;
          return Status::Ok();
        }
        Erase(*place);
        ++counts_.deleted;
        --contents_.live_rows_;
        return Status::Ok();
    }
    return DataLoss(Detail::kWrongKind, "", -1,
                    fmt::format("a batch of the log has kind {}", static_cast<int>(batch_.kind)));
  }

  // Looks for the batch's ids in the segments as these are before it. In the order of their hashes,
  // which is that of a segment's index: each of its blocks is read once, however little of it is in
  // memory.
  Status FindInSegments() {
    in_segments_.resize(batch_.ids.size());
    if (contents_.segments_.empty()) return Status::Ok();
    const OwnerId& owner = contents_.segments_.front().segment->info().owner;
    std::vector<std::pair<IdHash, size_t>> wanted;
    wanted.reserve(batch_.ids.size());
    for (size_t row = 0; row < batch_.ids.size(); ++row) {
      if (!contents_.tail_.Find(batch_.ids[row]))
        wanted.emplace_back(HashId(owner, batch_.ids[row]), row);
    }
    std::sort(wanted.begin(), wanted.end(), [](const auto& one, const auto& other) {
      return one.first.stored < other.first.stored;
    });
    for (size_t index = contents_.segments_.size(); index-- > 0;) {
      const SegmentSlot& slot = contents_.segments_[index];
      for (const auto& [hash, row] : wanted) {
        if (in_segments_[row]) continue;
        PIGMENT_ASSIGN_OR_RETURN(const std::optional<uint32_t> found,
                                 slot.segment->FindRow(batch_.ids[row], hash));
        if (found && !(slot.deleted && slot.deleted->Test(*found)))
          in_segments_[row] = Place{static_cast<uint32_t>(index), *found};
      }
    }
    return Status::Ok();
  }

  // Now. A live record has exactly one place; older ones of its id are dead.
  std::optional<Place> Find(size_t row) const {
    if (const auto in_tail = contents_.tail_.Find(batch_.ids[row])) {
      const Place place{Place::kTail, *in_tail};
      if (!erased_.contains(PlaceKey(place))) return place;
    }
    const std::optional<Place>& place = in_segments_[row];
    return place && !erased_.contains(PlaceKey(*place)) ? place : std::nullopt;
  }

  Status Insert(size_t row) {
    Record record;
    record.id = batch_.ids[row];
    record.ordinal = contents_.next_ordinal_++;
    PIGMENT_RETURN_IF_ERROR(Merge(row, record));
    contents_.tail_.Append(std::make_shared<const Record>(std::move(record)));
    ++contents_.live_rows_;
    ++counts_.inserted;
    return Status::Ok();
  }

  Status Replace(size_t row, const Place& place) {
    Record record;
    if (place.segment == Place::kTail) {
      record = contents_.tail_.row(place.row);
    } else {
      PIGMENT_ASSIGN_OR_RETURN(
          record,
          contents_.segments_[place.segment].segment->ReadRecord(
              place.row, {.embedding = true, .document = true, .metadata = true, .uri = true}));
      PIGMENT_ASSIGN_OR_RETURN(record.ordinal,
                               contents_.segments_[place.segment].segment->ReadOrdinal(place.row));
      record.id = batch_.ids[row];
    }
    PIGMENT_RETURN_IF_ERROR(Merge(row, record));
    Erase(place);
    contents_.tail_.Append(std::make_shared<const Record>(std::move(record)));
    ++counts_.updated;
    return Status::Ok();
  }

  // What the batch gives for the row replaces or merges; what it does not give stays.
  Status Merge(size_t row, Record& record) {
    if (!batch_.embeddings.empty()) {
      if (contents_.dimension_ == 0) contents_.dimension_ = batch_.dimension;
      if (contents_.dimension_ != batch_.dimension) {
        return DataLoss(Detail::kDimension, "", -1,
                        fmt::format("a batch of the log has dimension {}, the collection {}",
                                    batch_.dimension, contents_.dimension_));
      }
      const float* const vector = batch_.embeddings.data() + row * batch_.dimension;
      record.embedding.assign(vector, vector + batch_.dimension);
    }
    if (!batch_.documents.empty() && batch_.documents[row]) record.document = batch_.documents[row];
    if (!batch_.uris.empty() && batch_.uris[row]) record.uri = batch_.uris[row];
    if (!batch_.metadatas.empty() && batch_.metadatas[row]) {
      if (!record.metadata) record.metadata.emplace();
      MergeMetadata(*record.metadata, *batch_.metadatas[row]);
      if (record.metadata->empty()) record.metadata.reset();
    }
    return Status::Ok();
  }

  void Erase(const Place& place) {
    erased_.insert(PlaceKey(place));
    (place.segment == Place::kTail ? erased_tail_rows_ : erased_rows_[place.segment])
        .push_back(place.row);
  }

  // Deletion bits change once per batch, because each change copies pages.
  void Finish() {
    contents_.tail_.Erase(erased_tail_rows_);
    for (size_t index = 0; index < erased_rows_.size(); ++index) {
      if (erased_rows_[index].empty()) continue;
      SegmentSlot& slot = contents_.segments_[index];
      const RowBitmap before = slot.deleted ? *slot.deleted : RowBitmap(slot.entry.rows);
      slot.deleted = std::make_shared<const RowBitmap>(before.With(erased_rows_[index]));
      slot.deleted_rows += static_cast<uint32_t>(erased_rows_[index].size());
    }
  }

  Contents& contents_;
  const WriteBatch& batch_;
  WriteCounts counts_;
  std::vector<std::optional<Place>> in_segments_;  // by row of the batch
  std::unordered_set<uint64_t>
      erased_;  // places that this batch erased and whose bits are not set yet
  std::vector<uint32_t> erased_tail_rows_;
  std::vector<std::vector<uint32_t>> erased_rows_;  // by segment
};

Result<WriteCounts> Contents::Apply(const WriteBatch& batch) {
  return BatchApplier(this, batch).Run();
}

}  // namespace pigment

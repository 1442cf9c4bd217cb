// SPDX-License-Identifier: Apache-2.0
//
// Counting, and passes over segments and pending pages.

#include "engine/segment/host_text_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "engine/base/bits.h"
#include "engine/inverted/posting_list.h"
#include "engine/segment/host_keys.h"
#include "engine/segment/row_window.h"
#include "engine/vector/row_mask.h"

namespace pigment {
namespace {

constexpr size_t kRowsFirst = 128;
constexpr size_t kCapacityGrowth = 4;
// One row of so many is sorted in the time in which all are looked at.
constexpr size_t kSortedOfRows = 16;
constexpr HostKey::Kind kElement = HostKey::Kind::kElement;

Status NoIndex(const SegmentInfo& info) {
  return DataLoss(
      Detail::kMissing, "", -1,
      fmt::format("segment {} has no index of keys, and texts are ranked by it", info.segment));
}

Status Damaged(const SegmentInfo& info, std::string_view what) {
  return DataLoss(Detail::kMiscounted, "", -1, fmt::format("segment {}: {}", info.segment, what));
}

Status Unindexed(const SegmentInfo& info, const InvertedReader::Group& group) {
  return FailedPrecondition(
      Detail::kNone,
      fmt::format("rows {} to {} of segment {} cannot be ranked: there was not the memory for "
                  "their words when it was built",
                  group.first, group.first + group.rows, info.segment));
}

// Words of the rows of a group; empty: all are live.
RowMask LiveOf(const SearchedRows& live, const InvertedReader::Group& group) {
  return live.mask.empty() ? RowMask()
                           : RowMask(live.mask).subspan(group.first / 64, (group.rows + 63) / 64);
}

}  // namespace

std::span<const uint32_t> HostTextLengths::Of(uint32_t column,
                                              const InvertedReader::Group& group) const {
  if (column != column_ || lengths_.empty() || !is_known_[group.first / 64]) return {};
  return std::span(lengths_).subspan(group.first, group.rows);
}

void HostTextLengths::Keep(uint32_t column, const InvertedReader::Group& group,
                           uint32_t segment_rows, std::span<const uint32_t> lengths) {
  if (segment_rows > kRowsMax) return;
  if (column != column_ || lengths_.empty()) {
    column_ = column;
    lengths_.assign(segment_rows, 0);
    is_known_.assign((size_t{segment_rows} + 63) / 64, false);
  }
  std::copy(lengths.begin(), lengths.end(), lengths_.begin() + group.first);
  is_known_[group.first / 64] = true;
}

Status HostTextSearch::AddSegment(const Segment* segment, std::span<const uint8_t> deleted,
                                  HostTextLengths* lengths) {
  PIGMENT_ASSIGN_OR_RETURN(SearchedRows live, SearchedRowsOf(*segment, deleted, options_.filter));
  unindexed_rows_ += live.unindexed;
  segments_.push_back({segment, std::move(live), lengths});
  shared_.Add(segment);
  return Status::Ok();
}

void HostTextSearch::AddPending(BlockSource* source, uint32_t stamp, uint32_t first) {
  pending_.emplace_back(PendingChain{.source = source, .stamp = stamp, .first = first});
}

void HostTextSearch::AddPending(BlockSource* source, std::shared_ptr<PendingCache> cache) {
  cached_.emplace_back(std::move(cache), source, &shared_);
}

uint64_t HostTextSearch::segment_rows() const {
  uint64_t rows = 0;
  for (const SegmentSource& source : segments_) rows += source.live.count;
  return rows;
}

// ---- Pending rows

Status HostTextSearch::VisitPages(PendingReader& pages, const PendingVisitor& visit) {
  return VisitMatching(pages, options_.filter, true, [&](const PendingRow& row, uint32_t) {
    return visit(row.head.row_pointer, row.keys());
  });
}

Status HostTextSearch::VisitPending(const PendingVisitor& visit) {
  for (PendingReader& pages : pending_) PIGMENT_RETURN_IF_ERROR(VisitPages(pages, visit));
  for (CachedChain& pending : cached_) {
    PIGMENT_RETURN_IF_ERROR(pending.Begin());
    const PendingCache& cache = *pending.cache;
    for (size_t i = 0; i < *pending.rows; ++i) {
      PIGMENT_ASSIGN_OR_RETURN(const bool matches, pending.Matches(i, options_.filter));
      if (!matches) continue;
      const PendingCache::Row& row = cache.row(i);
      PIGMENT_RETURN_IF_ERROR(visit(row.row_pointer, cache.keys(row)));
    }
    if (pending.rest) PIGMENT_RETURN_IF_ERROR(VisitPages(*pending.rest, visit));
  }
  return Status::Ok();
}

namespace {

// What a pending row's text has of a query's clauses.
struct PendingText {
  bool is_there = false;
  uint32_t analyzer_mark = 0;
  uint32_t length = 0;
  std::vector<uint32_t> counts;  // by clause; 0: it is not there
};

ScoreSum ScoreOf(const PendingText& text, const HostTextQuery& query, HostTextScorer& scorer) {
  return ScoreOfCounts(query, scorer, text.length, [&](size_t i) { return text.counts[i]; });
}

Status ReadPendingText(std::span<const std::byte> keys, uint32_t column, const HostTextQuery& query,
                       PendingText& text) {
  const std::vector<std::string>& prefixes = query.prefixes();
  const std::span<const size_t> words = query.of_words(), wide = query.of_prefixes();
  text.counts.assign(prefixes.size(), 0);
  text.length = 0;
  text.is_there = false;
  size_t next = 0;  // in `words`, which ascend as elements do
  bool is_sound = true;
  PIGMENT_RETURN_IF_ERROR(
      VisitHostElements(keys, column, &text.is_there, [&](std::string_view element) {
        if (element.starts_with(TextLengthPrefix())) {
          const auto read = ReadTextLength(element.substr(TextLengthPrefix().size()));
          is_sound = is_sound && read.has_value();
          if (!read) return;
          text.analyzer_mark = read->analyzer_mark;
          text.length = read->length;
          return;
        }
        const auto add = [&](size_t clause) {
          if (!element.starts_with(prefixes[clause])) return false;
          const auto read = query.CountIn(clause, element.substr(prefixes[clause].size()));
          is_sound = is_sound && read.has_value();
          if (read) text.counts[clause] = AddTextCounts(text.counts[clause], *read);
          return true;
        };
        for (const size_t clause : wide) add(clause);
        while (next < words.size() && prefixes[words[next]] < element)
          if (add(words[next++])) return;
      }));
  for (const uint32_t count : text.counts) is_sound = is_sound && (count == 0 || text.length != 0);
  if (is_sound) return Status::Ok();
  return DataLoss(Detail::kMiscounted, "", -1, "the words of a pending row are no words");
}

}  // namespace

// ---- Counting

Status HostTextSearch::CheckMark(uint32_t analyzer_mark) const {
  if (analyzer_mark == options_.query->analyzer_mark()) return Status::Ok();
  return FailedPrecondition(Detail::kNone,
                            "the words of some texts were found by another version of the analyzer "
                            "or of ICU: the index must be made anew");
}

Result<HostTextCounts> HostTextSearch::Count() {
  HostTextCounts counts;
  counts.documents.resize(options_.query->clauses().size());
  for (const SegmentSource& source : segments_)
    PIGMENT_RETURN_IF_ERROR(CountSegment(source, counts));
  PIGMENT_RETURN_IF_ERROR(CountPending(counts));
  return counts;
}

Status HostTextSearch::CountSegment(const SegmentSource& source, HostTextCounts& counts) {
  const SegmentInfo& info = source.segment->info();
  if (source.live.count == 0) return Status::Ok();
  const auto reader = source.segment->NewInvertedReader();
  if (reader == nullptr) return NoIndex(info);
  const std::string key = HostFieldKey(options_.column, kElement);
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<InvertedReader::Group> groups, reader->Groups());
  for (const InvertedReader::Group& group : groups) {
    if (!group.is_indexed) return Unindexed(info, group);
    const RowMask live = LiveOf(source.live, group);
    const auto count_list = [&](std::span<const std::byte> list, uint64_t* rows) -> Status {
      PostingsHead head;
      if (!ReadPostingsHead(list, &head) ||
          (!live.empty() && !CountPostings(list, live, group.rows, &head.rows)))
        return Damaged(info, "a list of a word");
      *rows = head.rows;
      return Status::Ok();
    };
    PIGMENT_RETURN_IF_ERROR(
        reader->VisitLists(group, key, HostFieldType(kElement), TextLengthPrefix(),
                           [&](std::string_view rest, std::span<const std::byte> list) -> Status {
                             const std::optional<TextLength> length = ReadTextLength(rest);
                             if (!length) return Damaged(info, "a length of texts");
                             PIGMENT_RETURN_IF_ERROR(CheckMark(length->analyzer_mark));
                             uint64_t rows = 0;
                             PIGMENT_RETURN_IF_ERROR(count_list(list, &rows));
                             counts.all.documents += rows;
                             counts.all.words += rows * length->length;
                             return Status::Ok();
                           }));
    for (const size_t clause : options_.query->of_words()) {
      PIGMENT_RETURN_IF_ERROR(reader->VisitLists(
          group, key, HostFieldType(kElement), options_.query->prefixes()[clause],
          [&](std::string_view, std::span<const std::byte> list) -> Status {
            uint64_t rows = 0;
            PIGMENT_RETURN_IF_ERROR(count_list(list, &rows));
            counts.documents[clause] += rows;
            return Status::Ok();
          }));
    }
    for (const size_t clause : options_.query->of_prefixes()) {
      room_.assign((size_t{group.rows} + 63) / 64, 0);
      PIGMENT_RETURN_IF_ERROR(reader->VisitLists(
          group, key, HostFieldType(kElement), options_.query->prefixes()[clause],
          [&](std::string_view, std::span<const std::byte> list) -> Status {
            return ApplyPostings(list, PostingsUse::kUnite, room_, group.rows)
                       ? Status::Ok()
                       : Damaged(info, "a list of a word");
          }));
      for (size_t i = 0; i < room_.size(); ++i) {
        counts.documents[clause] +=
            static_cast<uint64_t>(std::popcount(live.empty() ? room_[i] : room_[i] & live[i]));
      }
    }
  }
  return Status::Ok();
}

Status HostTextSearch::CountPending(HostTextCounts& counts) {
  PendingText text;
  return VisitPending([&](uint64_t, std::span<const std::byte> keys) -> Status {
    PIGMENT_RETURN_IF_ERROR(ReadPendingText(keys, options_.column, *options_.query, text));
    if (text.length == 0) return Status::Ok();
    PIGMENT_RETURN_IF_ERROR(CheckMark(text.analyzer_mark));
    ++counts.all.documents;
    counts.all.words += text.length;
    for (size_t clause = 0; clause < text.counts.size(); ++clause)
      counts.documents[clause] += text.counts[clause] != 0;
    return Status::Ok();
  });
}

// ---- Passes

Result<size_t> HostTextSearch::Next(std::span<HostTextHit> hits) {
  if (hits.empty()) return InvalidArgument("capacity is 0");
  if (!scorer_) scorer_.emplace(options_.query->Scorer());
  while (given_ == batch_.size()) {
    if (is_exhausted_ && !only_with_words_) return size_t{0};
    if (is_exhausted_) only_with_words_ = is_exhausted_ = false;
    PIGMENT_RETURN_IF_ERROR(RunPass());
  }
  const size_t count = std::min(hits.size(), batch_.size() - given_);
  std::copy_n(batch_.begin() + static_cast<ptrdiff_t>(given_), count, hits.begin());
  given_ += count;
  return count;
}

void HostTextSearch::Offer(const HostTextHit& hit) {
  if (last_ && !(*last_ < hit)) return;
  if (batch_.size() < capacity_) {
    batch_.push_back(hit);
  } else {
    if (!(hit < batch_.front())) return;
    std::pop_heap(batch_.begin(), batch_.end());
    batch_.back() = hit;
  }
  std::push_heap(batch_.begin(), batch_.end());
}

Status HostTextSearch::RunPass() {
  const uint64_t most = std::max<uint64_t>(options_.batch_bytes_max / sizeof(HostTextHit), 1);
  const uint64_t first = options_.batch_rows_first != 0 ? options_.batch_rows_first : kRowsFirst;
  if (capacity_ == 0) capacity_ = static_cast<size_t>(std::min(first, most));
  batch_.clear();
  given_ = 0;
  rows_scored_ = pending_rows_ = 0;
  Status status = Status::Ok();
  for (const SegmentSource& source : segments_) {
    status = ScanSegment(source);
    if (!status.ok()) break;
  }
  if (status.ok()) status = ScanPending();
  if (!status.ok()) {
    batch_.clear();  // what was given stays: the next call begins this pass again
    return status;
  }
  ++passes_;
  std::sort_heap(batch_.begin(), batch_.end());
  is_exhausted_ = batch_.size() < capacity_;
  // A row that was copied while it moved would be there twice.
  batch_.erase(std::unique(batch_.begin(), batch_.end()), batch_.end());
  if (!batch_.empty()) last_ = batch_.back();
  capacity_ = static_cast<size_t>(std::min<uint64_t>(uint64_t{capacity_} * kCapacityGrowth, most));
  return Status::Ok();
}

Status HostTextSearch::ScanPending() {
  PendingText text;
  return VisitPending([&](uint64_t pointer, std::span<const std::byte> keys) -> Status {
    ++pending_rows_;
    PIGMENT_RETURN_IF_ERROR(ReadPendingText(keys, options_.column, *options_.query, text));
    const ScoreSum sum = ScoreOf(text, *options_.query, *scorer_);
    rows_scored_ += sum != 0;
    if (sum != 0 || !only_with_words_)
      Offer({text.is_there ? -sum : HostTextHit::kNoText, pointer});
    return Status::Ok();
  });
}

Status HostTextSearch::ScanSegment(const SegmentSource& source) {
  const Segment& segment = *source.segment;
  if (source.live.count == 0) return Status::Ok();
  const auto reader = segment.NewInvertedReader();
  if (reader == nullptr) return NoIndex(segment.info());
  RowSet has_text = RowSet::Nothing(segment.info().rows);
  if (!only_with_words_) {
    const HostKey::Kind kind = HostKey::Kind::kValue;
    PIGMENT_RETURN_IF_ERROR(
        reader->AddField(HostFieldKey(options_.column, kind), HostFieldType(kind), has_text));
  }
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<InvertedReader::Group> groups, reader->Groups());
  for (const InvertedReader::Group& group : groups) {
    if (!group.is_indexed) return Unindexed(segment.info(), group);
    if (!AnyAllowed(source.live.mask, group.first, group.rows)) continue;
    PIGMENT_RETURN_IF_ERROR(SumGroup(source, *reader, group));
    PIGMENT_RETURN_IF_ERROR(OfferGroup(source, group, has_text));
  }
  return Status::Ok();
}

Status HostTextSearch::ReadRuns(InvertedReader& reader, const InvertedReader::Group& group) {
  const std::vector<std::string>& prefixes = options_.query->prefixes();
  const std::string key = HostFieldKey(options_.column, kElement);
  rows_.clear();
  runs_.clear();
  for (size_t clause = 0; clause < prefixes.size(); ++clause) {
    const size_t first = runs_.size();
    PIGMENT_RETURN_IF_ERROR(reader.VisitLists(
        group, key, HostFieldType(kElement), prefixes[clause],
        [&](std::string_view rest, std::span<const std::byte> list) -> Status {
          const std::optional<uint32_t> count = options_.query->CountIn(clause, rest);
          const size_t begin = rows_.size();
          if (!count || !ReadPostings(list, room_, group.rows, rows_))
            return DataLoss(Detail::kMiscounted, "", -1, "a list of a word is damaged");
          runs_.push_back({.clause = clause, .count = *count, .begin = begin, .end = rows_.size()});
          return Status::Ok();
        }));
    if (options_.query->clauses()[clause].is_prefix && first != runs_.size())
      UniteRuns(first, group.rows);
  }
  return Status::Ok();
}

void HostTextSearch::UniteRuns(size_t first, uint32_t rows) {
  const size_t clause = runs_[first].clause, begin = runs_[first].begin;
  times_.assign(rows, 0);
  for (size_t i = first; i < runs_.size(); ++i)
    for (size_t at = runs_[i].begin; at < runs_[i].end; ++at)
      times_[rows_[at]] = AddTextCounts(times_[rows_[at]], runs_[i].count);
  runs_.resize(first);
  rows_.resize(begin);
  for (uint32_t row = 0; row < rows; ++row)
    if (times_[row] != 0) rows_.push_back(row);
  std::stable_sort(rows_.begin() + static_cast<ptrdiff_t>(begin), rows_.end(),
                   [this](uint32_t a, uint32_t b) { return times_[a] < times_[b]; });
  for (size_t at = begin; at < rows_.size(); ++at) {
    const uint32_t count = times_[rows_[at]];
    if (at == begin || runs_.back().count != count)
      runs_.push_back({.clause = clause, .count = count, .begin = at, .end = at});
    ++runs_.back().end;
  }
}

void HostTextSearch::KeepWhatIsRequired(uint32_t rows) {
  const HostTextQuery& query = *options_.query;
  if (query.required() == 0) return;
  times_.assign(rows, 0);
  for (const Run& run : runs_) {
    if (!query.clauses()[run.clause].is_required) continue;
    for (size_t at = run.begin; at < run.end; ++at) ++times_[rows_[at]];
  }
  std::erase_if(found_, [&](uint32_t row) {
    if (times_[row] == query.required()) return false;
    sums_[row] = 0;
    return true;
  });
}

Result<std::span<const uint32_t>> HostTextSearch::LengthsOf(const SegmentSource& source,
                                                            InvertedReader& reader,
                                                            const InvertedReader::Group& group) {
  if (source.lengths != nullptr) {
    const std::span<const uint32_t> kept = source.lengths->Of(options_.column, group);
    if (!kept.empty()) return kept;
  }
  std::vector<uint32_t> rows;
  lengths_.assign(group.rows, 0);
  PIGMENT_RETURN_IF_ERROR(reader.VisitLists(
      group, HostFieldKey(options_.column, kElement), HostFieldType(kElement), TextLengthPrefix(),
      [&](std::string_view rest, std::span<const std::byte> list) -> Status {
        const std::optional<TextLength> length = ReadTextLength(rest);
        rows.clear();
        if (!length || !ReadPostings(list, room_, group.rows, rows))
          return DataLoss(Detail::kMiscounted, "", -1, "a list of a length is damaged");
        for (const uint32_t row : rows) lengths_[row] = length->length;
        return Status::Ok();
      }));
  if (source.lengths != nullptr)
    source.lengths->Keep(options_.column, group, source.segment->info().rows, lengths_);
  return std::span<const uint32_t>(lengths_);
}

Status HostTextSearch::SumGroup(const SegmentSource& source, InvertedReader& reader,
                                const InvertedReader::Group& group) {
  for (const uint32_t row : found_) sums_[row] = 0;
  found_.clear();
  if (sums_.size() < group.rows) sums_.resize(group.rows);
  room_.resize((size_t{group.rows} + 63) / 64);
  PIGMENT_RETURN_IF_ERROR(ReadRuns(reader, group));
  if (rows_.empty()) return Status::Ok();
  PIGMENT_ASSIGN_OR_RETURN(const std::span<const uint32_t> lengths,
                           LengthsOf(source, reader, group));
  const RowMask live = LiveOf(source.live, group);
  for (const Run& run : runs_) {
    for (size_t i = run.begin; i < run.end; ++i) {
      const uint32_t row = rows_[i];
      if (!IsAllowed(live, row)) continue;
      if (lengths[row] == 0)
        return Damaged(source.segment->info(), "a row has words and no length");
      const ScoreSum more = scorer_->Of(run.clause, run.count, lengths[row]);
      if (sums_[row] == 0 && more != 0) found_.push_back(row);
      sums_[row] += more;
    }
  }
  KeepWhatIsRequired(group.rows);
  rows_scored_ += found_.size();
  return Status::Ok();
}

Status HostTextSearch::OfferGroup(const SegmentSource& source, const InvertedReader::Group& group,
                                  const RowSet& has_text) {
  PointerWindow pointers(source.segment);
  const auto offer = [&](uint32_t row, int64_t rank) -> Status {
    if (!MayEnter(rank)) return Status::Ok();
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t pointer, pointers.Read(group.first + row));
    Offer({rank, pointer});
    return Status::Ok();
  };
  // Ascending, because row pointers are read a block at a time.
  if (only_with_words_ && found_.size() * kSortedOfRows < group.rows) {
    std::sort(found_.begin(), found_.end());
    for (const uint32_t row : found_) PIGMENT_RETURN_IF_ERROR(offer(row, -sums_[row]));
    return Status::Ok();
  }
  if (only_with_words_) {
    for (uint32_t row = 0; row < group.rows; ++row)
      if (sums_[row] != 0) PIGMENT_RETURN_IF_ERROR(offer(row, -sums_[row]));
    return Status::Ok();
  }
  const RowMask live = LiveOf(source.live, group);
  for (uint32_t row = 0; row < group.rows; ++row) {
    if (!IsAllowed(live, row)) continue;
    const bool is_there = has_text.Test(group.first + row);
    PIGMENT_RETURN_IF_ERROR(offer(row, is_there ? -sums_[row] : HostTextHit::kNoText));
  }
  return Status::Ok();
}

}  // namespace pigment

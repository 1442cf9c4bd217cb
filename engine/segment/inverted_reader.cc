// SPDX-License-Identifier: Apache-2.0
//
// Terms are found by the first ones of their blocks; an interval is what takes the fewest lists:
// its own, or two checkpoints and the lists between them and the bounds.

#include "engine/segment/inverted_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "engine/base/bits.h"
#include "engine/inverted/term.h"

namespace pigment {
namespace {

// Words of a checkpoint that are toggled in the time of one row of a list.
constexpr uint64_t kWordsPerRow = 8;
// Lists in fewer bytes than these are looked at together.
constexpr uint64_t kTogetherBytes = 4096;
constexpr uint32_t kTermsPerCheck = 64;
// A cell's documents are looked at in the time in which so many bytes of a list are read.
constexpr uint64_t kListBytesPerCell = 64;

// Of 32 bits, each twice.
uint64_t TwiceEach(uint64_t bits) {
  bits = (bits | bits << 16) & 0x0000FFFF0000FFFF;
  bits = (bits | bits << 8) & 0x00FF00FF00FF00FF;
  bits = (bits | bits << 4) & 0x0F0F0F0F0F0F0F0F;
  bits = (bits | bits << 2) & 0x3333333333333333;
  bits = (bits | bits << 1) & 0x5555555555555555;
  return bits | bits << 1;
}

// The bits of rows 64 * word and up, from those of cells of 2^shift rows.
uint64_t RowsOfCells(std::span<const uint64_t> cells, uint32_t shift, size_t word) {
  const size_t first = word << (kRowsShiftMax - shift);  // cell
  uint64_t bits = cells[first / 64] >> (first % 64);
  if (shift == 0) return bits;
  bits &= (uint64_t{1} << (64 >> shift)) - 1;
  for (uint32_t i = 0; i < shift; ++i) bits = TwiceEach(bits);
  return bits;
}

}  // namespace

TermRange TermRange::BeginningWith(std::string_view prefix) {
  TermRange range{.low = Bound{std::string(prefix), true}};
  if (auto end = EndOfPrefix(prefix)) range.high = Bound{*std::move(end), false};
  return range;
}

Result<SharedRules> ReadIndexRules(BlockSource* source, const Root& root) {
  PartCursor part(source, &root, BlockKind::kIndexRules);
  if (!part.exists()) return SharedRules();
  std::string copy;
  PIGMENT_ASSIGN_OR_RETURN(const std::string_view json, part.ViewStream(0, part.bytes(), copy));
  Result<SharedRules> rules = ReadStoredRules(json);
  if (rules.ok()) return rules;
  return part.Damaged(Detail::kMiscounted, rules.status().message());
}

InvertedReader::InvertedReader(BlockSource* source, const Root* root, const InvertedKinds& kinds,
                               uint32_t rows, SharedRules rules)
    : rows_(rows),
      rules_(std::move(rules)),
      groups_(source, root, kinds.groups),
      fields_(source, root, kinds.fields),
      blocks_(source, root, kinds.blocks),
      terms_(source, root, kinds.terms),
      postings_(source, root, kinds.postings) {}

Status CheckRowGroup(const PartCursor& groups, const RowGroupEntry& before,
                     const RowGroupEntry& group, bool is_last, uint32_t rows) {
  if (group.rows_end > before.rows_end && group.rows_end <= rows &&
      (is_last ? group.rows_end == rows : group.rows_end % 64 == 0) &&
      group.fields_end >= before.fields_end && group.is_indexed <= 1)
    return Status::Ok();
  return groups.Damaged(Detail::kMiscounted,
                        fmt::format("the group of rows {} to {} of {} ends at field {}",
                                    before.rows_end, group.rows_end, rows, group.fields_end));
}

Result<RowSet> InvertedReader::UnindexedRows() {
  RowSet rows = RowSet::Nothing(rows_);
  PIGMENT_RETURN_IF_ERROR(
      VisitRowGroups(groups_, rows_, [&](const RowGroupEntry& before, const RowGroupEntry& group) {
        if (group.is_indexed != 0) return Status::Ok();
        for (uint32_t row = before.rows_end; row < group.rows_end; ++row) rows.Set(row);
        return Status::Ok();
      }));
  return rows;
}

Result<InvertedReader::Place> InvertedReader::PlaceOf(const FieldEntry& field,
                                                      uint32_t rows) const {
  if (field.rows_shift > kRowsShiftMax)
    return fields_.Damaged(Detail::kMiscounted,
                           fmt::format("a field of cells of 2^{} rows", field.rows_shift));
  const uint32_t cells =
      static_cast<uint32_t>((uint64_t{rows} + (1u << field.rows_shift) - 1) >> field.rows_shift);
  return Place{.field = field, .rows = cells, .words = {}};
}

Status InvertedReader::VisitField(const RowGroupEntry& before, const RowGroupEntry& group,
                                  const FieldEntry& field, RowSet& rows,
                                  const std::function<Status(const Place&)>& visit) {
  if (field.terms == 0) return Status::Ok();
  const uint32_t count = group.rows_end - before.rows_end;
  const std::span<uint64_t> words =
      rows.MutableWords().subspan(before.rows_end / 64, (count + 63) / 64);
  PIGMENT_ASSIGN_OR_RETURN(Place place, PlaceOf(field, count));
  place.words = words;
  if (field.rows_shift == 0) return visit(place);
  cells_.assign((size_t{place.rows} + 63) / 64, 0);
  place.words = cells_;
  PIGMENT_RETURN_IF_ERROR(visit(place));
  for (size_t i = 0; i < words.size(); ++i) words[i] |= RowsOfCells(cells_, field.rows_shift, i);
  if (count % 64 != 0) words.back() &= (uint64_t{1} << (count % 64)) - 1;
  return Status::Ok();
}

Status InvertedReader::VisitGroups(std::string_view key, FieldType type, RowSet& rows,
                                   const std::function<Status(const Place&)>& visit) {
  PIGMENT_RETURN_IF_ERROR(VisitRowGroups(
      groups_, rows_, [&](const RowGroupEntry& before, const RowGroupEntry& group) -> Status {
        PIGMENT_ASSIGN_OR_RETURN(const std::optional<FieldEntry> field,
                                 FindField(key, type, before.fields_end, group.fields_end));
        return field ? VisitField(before, group, *field, rows, visit) : Status::Ok();
      }));
  rows.Recount();
  return Status::Ok();
}

Result<std::string_view> InvertedReader::ReadKey(const FieldEntry& field) {
  return terms_.ViewStream(field.key_begin, field.key_bytes, terms_copy_);
}

Result<uint32_t> InvertedReader::SeekField(std::string_view key, FieldType type, uint32_t first,
                                           uint32_t end) {
  while (first < end) {
    const uint32_t middle = first + (end - first) / 2;
    PIGMENT_ASSIGN_OR_RETURN(const FieldEntry field, fields_.ReadElement<FieldEntry>(middle));
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view name, ReadKey(field));
    const int order = name.compare(key);
    if (order < 0 || (order == 0 && field.type < static_cast<uint32_t>(type))) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first;
}

Result<std::optional<FieldEntry>> InvertedReader::FindField(std::string_view key, FieldType type,
                                                            uint32_t first, uint32_t end) {
  PIGMENT_ASSIGN_OR_RETURN(const uint32_t at, SeekField(key, type, first, end));
  if (at == end) return std::optional<FieldEntry>();
  PIGMENT_ASSIGN_OR_RETURN(const FieldEntry field, fields_.ReadElement<FieldEntry>(at));
  if (field.type != static_cast<uint32_t>(type)) return std::optional<FieldEntry>();
  PIGMENT_ASSIGN_OR_RETURN(const std::string_view name, ReadKey(field));
  return name == key ? std::optional(field) : std::nullopt;
}

Result<TermBlockEntry> InvertedReader::ReadBlock(const Place& place, uint32_t block) {
  return blocks_.ReadElement<TermBlockEntry>(uint64_t{place.field.first_block} + block);
}

Result<TermBlockReader> InvertedReader::ReadTerms(const TermBlockEntry& block) {
  PIGMENT_ASSIGN_OR_RETURN(const std::string_view bytes,
                           terms_.ViewStream(block.terms_begin, block.terms_bytes, terms_copy_));
  return TermBlockReader(AsBytes(bytes));
}

Result<uint32_t> InvertedReader::Seek(const Place& place, std::string_view term, bool is_above,
                                      uint32_t first_block, bool* is_equal) {
  const auto damaged = [&] { return terms_.Damaged(Detail::kMiscounted, "a block of terms"); };
  if (is_equal != nullptr) *is_equal = false;
  // The last block whose first term is not above the term.
  uint32_t begin = first_block, end = place.blocks();
  std::string_view found;
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    PIGMENT_ASSIGN_OR_RETURN(const TermBlockEntry block, ReadBlock(place, middle));
    PIGMENT_ASSIGN_OR_RETURN(TermBlockReader terms, ReadTerms(block));
    if (!terms.Next(&found)) return damaged();
    if (found <= term) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  if (begin == first_block) return first_block * kTermsPerBlock;
  const uint32_t block_number = begin - 1;
  PIGMENT_ASSIGN_OR_RETURN(const TermBlockEntry block, ReadBlock(place, block_number));
  PIGMENT_ASSIGN_OR_RETURN(TermBlockReader terms, ReadTerms(block));
  const uint32_t first = block_number * kTermsPerBlock;
  const uint32_t last = std::min(first + kTermsPerBlock, place.field.terms);
  for (uint32_t number = first; number < last; ++number) {
    if (!terms.Next(&found)) return damaged();
    if (found < term || (is_above && found == term)) continue;
    if (is_equal != nullptr) *is_equal = found == term;
    return number;
  }
  return last;
}

Result<std::optional<InvertedReader::List>> InvertedReader::FindList(const Place& place,
                                                                     std::string_view term) {
  bool is_equal = false;
  PIGMENT_ASSIGN_OR_RETURN(const uint32_t number, Seek(place, term, false, 0, &is_equal));
  if (!is_equal) return std::optional<List>();
  PIGMENT_ASSIGN_OR_RETURN(const TermBlockEntry block, ReadBlock(place, number / kTermsPerBlock));
  for (uint64_t offset = 0, left = number % kTermsPerBlock;; --left) {
    const uint64_t bytes = block.postings_bytes - offset;
    PIGMENT_ASSIGN_OR_RETURN(
        const std::string_view first,
        postings_.ViewStream(block.postings_begin + offset,
                             std::min<uint64_t>(kPostingsHeadBytesMax, bytes), postings_copy_));
    PostingsHead head;
    if (!ReadPostingsHead(AsBytes(first), &head) || head.bytes > bytes)
      return postings_.Damaged(Detail::kMiscounted, "a posting list");
    if (left == 0) return std::optional(List{head.rows, block.postings_begin + offset, head.bytes});
    offset += head.bytes;
  }
}

Status InvertedReader::MeetLists(const Place& place, std::vector<List>& lists) {
  std::sort(lists.begin(), lists.end(),
            [](const List& a, const List& b) { return a.rows < b.rows; });
  const std::span<uint64_t> met = place.words;
  uint64_t count = 0;
  for (size_t i = 0; i < lists.size(); ++i) {
    const List& list = lists[i];
    const uint64_t spared = list.rows < place.rows ? place.rows - list.rows : 0;  // of all
    if (i > 0 && count * spared / place.rows * kListBytesPerCell < list.bytes) return Status::Ok();
    if (i > 0) other_cells_.assign(met.size(), 0);
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view bytes,
                             postings_.ViewStream(list.begin, list.bytes, postings_copy_));
    if (!ApplyPostings(AsBytes(bytes), PostingsUse::kUnite, i > 0 ? std::span(other_cells_) : met,
                       place.rows))
      return postings_.Damaged(Detail::kMiscounted, "a posting list");
    ++lists_read_;
    if (i > 0)
      for (size_t word = 0; word < met.size(); ++word) met[word] &= other_cells_[word];
    count = CountSetBits(met);
  }
  return Status::Ok();
}

Status InvertedReader::KeepRowsOfAll(std::string_view key, FieldType type,
                                     std::span<const std::string_view> terms,
                                     const CallControl& control, RowSet& rows) {
  std::vector<List> lists;
  PIGMENT_RETURN_IF_ERROR(VisitRowGroups(
      groups_, rows_, [&](const RowGroupEntry& before, const RowGroupEntry& group) -> Status {
        if (group.is_indexed == 0) return Status::Ok();
        const uint32_t count = group.rows_end - before.rows_end;
        const std::span<uint64_t> words =
            rows.MutableWords().subspan(before.rows_end / 64, (count + 63) / 64);
        PIGMENT_ASSIGN_OR_RETURN(const std::optional<FieldEntry> field,
                                 FindField(key, type, before.fields_end, group.fields_end));
        lists.clear();
        Place place;
        if (field && field->terms != 0) {
          PIGMENT_ASSIGN_OR_RETURN(place, PlaceOf(*field, count));
          for (const std::string_view term : terms) {
            PIGMENT_RETURN_IF_ERROR(control.Check());
            PIGMENT_ASSIGN_OR_RETURN(const std::optional<List> list, FindList(place, term));
            if (!list) break;
            lists.push_back(*list);
          }
        }
        cells_.assign((size_t{count} + 63) / 64, 0);
        place.words = std::span(cells_).first((size_t{place.rows} + 63) / 64);
        if (lists.size() == terms.size()) PIGMENT_RETURN_IF_ERROR(MeetLists(place, lists));
        for (size_t i = 0; i < words.size(); ++i)
          words[i] &= RowsOfCells(cells_, place.field.rows_shift, i);
        return Status::Ok();
      }));
  rows.Recount();
  return Status::Ok();
}

Status InvertedReader::AddTerms(std::string_view key, FieldType type,
                                std::span<const std::string_view> terms, const CallControl& control,
                                RowSet& rows) {
  return VisitGroups(key, type, rows, [&](const Place& place) -> Status {
    uint32_t block = 0;
    for (size_t i = 0; i < terms.size(); ++i) {
      if (i % kTermsPerCheck == 0) PIGMENT_RETURN_IF_ERROR(control.Check());
      bool is_equal = false;
      PIGMENT_ASSIGN_OR_RETURN(const uint32_t number,
                               Seek(place, terms[i], false, block, &is_equal));
      if (is_equal)
        PIGMENT_RETURN_IF_ERROR(ApplyLists(place, number, number + 1, PostingsUse::kUnite));
      block = std::min(number / kTermsPerBlock, place.blocks() - 1);
    }
    return Status::Ok();
  });
}

Status InvertedReader::AddRange(std::string_view key, FieldType type, const TermRange& range,
                                const CallControl& control, RowSet& rows) {
  return VisitGroups(key, type, rows, [&](Place place) -> Status {
    place.control = &control;
    uint32_t begin = 0, end = place.field.terms;
    if (range.low) {
      PIGMENT_ASSIGN_OR_RETURN(begin,
                               Seek(place, range.low->term, !range.low->is_inside, 0, nullptr));
    }
    if (range.high) {
      PIGMENT_ASSIGN_OR_RETURN(end,
                               Seek(place, range.high->term, range.high->is_inside, 0, nullptr));
    }
    return begin < end ? ApplyInterval(place, begin, end) : Status::Ok();
  });
}

// The last checkpoint is of all rows.
Status InvertedReader::ApplyAll(const Place& place) {
  const FieldEntry& field = place.field;
  if (field.checkpoints == 0)
    return postings_.Damaged(Detail::kMiscounted, "a field without checkpoints");
  return ApplyRun(place, field.checkpoints_begin, field.checkpoints_bytes, field.checkpoints - 1, 1,
                  PostingsUse::kUnite);
}

Status InvertedReader::AddField(std::string_view key, FieldType type, RowSet& rows) {
  return VisitGroups(key, type, rows, [&](const Place& place) { return ApplyAll(place); });
}

Status InvertedReader::AddFieldsBeginning(std::string_view key, const CallControl& control,
                                          RowSet& rows) {
  PIGMENT_RETURN_IF_ERROR(VisitRowGroups(
      groups_, rows_, [&](const RowGroupEntry& before, const RowGroupEntry& group) -> Status {
        PIGMENT_ASSIGN_OR_RETURN(
            uint32_t at, SeekField(key, FieldType::kText, before.fields_end, group.fields_end));
        for (; at < group.fields_end; ++at) {
          PIGMENT_RETURN_IF_ERROR(control.Check());
          PIGMENT_ASSIGN_OR_RETURN(const FieldEntry field, fields_.ReadElement<FieldEntry>(at));
          PIGMENT_ASSIGN_OR_RETURN(const std::string_view name, ReadKey(field));
          if (!name.starts_with(key)) break;
          PIGMENT_RETURN_IF_ERROR(VisitField(before, group, field, rows,
                                             [&](const Place& place) { return ApplyAll(place); }));
        }
        return Status::Ok();
      }));
  rows.Recount();
  return Status::Ok();
}

Result<uint64_t> InvertedReader::RowsBefore(const Place& place, uint32_t term) {
  const uint32_t block = term / kTermsPerBlock;
  if (term == place.field.terms || block >= place.blocks()) return uint64_t{place.field.rows};
  PIGMENT_ASSIGN_OR_RETURN(const TermBlockEntry entry, ReadBlock(place, block));
  return uint64_t{entry.rows_before};
}

Result<InvertedReader::Checkpoint> InvertedReader::NearestCheckpoint(const Place& place,
                                                                     uint32_t term) {
  const uint64_t step = uint64_t{place.field.checkpoint_blocks} * kTermsPerBlock;
  if (step == 0) return postings_.Damaged(Detail::kMiscounted, "a field without checkpoints");
  const uint64_t below = term / step * step;
  const uint64_t above = std::min<uint64_t>(below + step, place.field.terms);
  PIGMENT_ASSIGN_OR_RETURN(const uint64_t rows, RowsBefore(place, term));
  Checkpoint nearest;
  for (const uint64_t bound : {below, above}) {
    PIGMENT_ASSIGN_OR_RETURN(const uint64_t there, RowsBefore(place, static_cast<uint32_t>(bound)));
    const uint64_t between = rows > there ? rows - there : there - rows;
    const uint64_t cost = between + (bound != 0 ? place.words.size() / kWordsPerRow : 0);
    if (cost < nearest.cost) nearest = {static_cast<uint32_t>(bound), cost};
  }
  return nearest;
}

Status InvertedReader::ApplyInterval(const Place& place, uint32_t begin, uint32_t end) {
  if (!IsSingleValued(static_cast<FieldType>(place.field.type)))
    return ApplyLists(place, begin, end, PostingsUse::kUnite);
  PIGMENT_ASSIGN_OR_RETURN(const uint64_t before, RowsBefore(place, begin));
  PIGMENT_ASSIGN_OR_RETURN(const uint64_t up_to, RowsBefore(place, end));
  PIGMENT_ASSIGN_OR_RETURN(const Checkpoint of_begin, NearestCheckpoint(place, begin));
  PIGMENT_ASSIGN_OR_RETURN(const Checkpoint of_end, NearestCheckpoint(place, end));
  if (of_begin.term == of_end.term || up_to - before <= of_begin.cost + of_end.cost)
    return ApplyLists(place, begin, end, PostingsUse::kToggle);
  for (const auto& [bound, checkpoint] : {std::pair(begin, of_begin), std::pair(end, of_end)}) {
    PIGMENT_RETURN_IF_ERROR(ApplyCheckpoint(place, checkpoint.term));
    PIGMENT_RETURN_IF_ERROR(ApplyLists(place, std::min(bound, checkpoint.term),
                                       std::max(bound, checkpoint.term), PostingsUse::kToggle));
  }
  return Status::Ok();
}

Status InvertedReader::ApplyCheckpoint(const Place& place, uint32_t term) {
  if (term == 0) return Status::Ok();
  const FieldEntry& field = place.field;
  const uint32_t number = (term - 1) / kTermsPerBlock / field.checkpoint_blocks;
  return ApplyRun(place, field.checkpoints_begin, field.checkpoints_bytes, number, 1,
                  PostingsUse::kToggle);
}

Status InvertedReader::ApplyLists(const Place& place, uint32_t begin, uint32_t end,
                                  PostingsUse use) {
  while (begin < end) {
    if (place.control != nullptr) PIGMENT_RETURN_IF_ERROR(place.control->Check());
    const uint32_t skipped = begin % kTermsPerBlock;
    const uint32_t count = std::min(end - begin, kTermsPerBlock - skipped);
    PIGMENT_ASSIGN_OR_RETURN(const TermBlockEntry block, ReadBlock(place, begin / kTermsPerBlock));
    PIGMENT_RETURN_IF_ERROR(
        ApplyRun(place, block.postings_begin, block.postings_bytes, skipped, count, use));
    begin += count;
  }
  return Status::Ok();
}

Status InvertedReader::ApplyRun(const Place& place, uint64_t begin, uint64_t bytes,
                                uint32_t skipped, uint32_t count, PostingsUse use) {
  return VisitRun(begin, bytes, skipped, count, [&](std::span<const std::byte> list) {
    return ApplyPostings(list, use, place.words, place.rows);
  });
}

Status InvertedReader::CountBlock(const Place& place, uint32_t number,
                                  const TermCountVisitor& visit) {
  PIGMENT_ASSIGN_OR_RETURN(const TermBlockEntry block, ReadBlock(place, number));
  PIGMENT_ASSIGN_OR_RETURN(TermBlockReader terms, ReadTerms(block));
  const uint32_t count = std::min(kTermsPerBlock, place.field.terms - number * kTermsPerBlock);
  std::array<uint64_t, kTermsPerBlock> rows;
  uint32_t next = 0;
  PIGMENT_RETURN_IF_ERROR(VisitRun(
      block.postings_begin, block.postings_bytes, 0, count, [&](std::span<const std::byte> list) {
        return CountPostings(list, place.words, place.rows, &rows[next++]);
      }));
  std::string_view term;
  for (uint32_t i = 0; i < count; ++i) {
    if (!terms.Next(&term)) return terms_.Damaged(Detail::kMiscounted, "a block of terms");
    if (rows[i] != 0) PIGMENT_RETURN_IF_ERROR(visit(term, rows[i]));
  }
  return Status::Ok();
}

Status InvertedReader::CountTerms(std::string_view key, FieldType type, const RowSet& among,
                                  const CallControl& control, const TermCountVisitor& visit) {
  RowSet rows = among;
  return VisitGroups(key, type, rows, [&](const Place& place) -> Status {
    for (uint32_t block = 0; block < place.blocks(); ++block) {
      PIGMENT_RETURN_IF_ERROR(control.Check());
      PIGMENT_RETURN_IF_ERROR(CountBlock(place, block, visit));
    }
    return Status::Ok();
  });
}

Result<uint64_t> InvertedReader::RowsOfField(std::string_view key, FieldType type) {
  uint64_t rows = 0;
  PIGMENT_RETURN_IF_ERROR(VisitRowGroups(
      groups_, rows_, [&](const RowGroupEntry& before, const RowGroupEntry& group) -> Status {
        PIGMENT_ASSIGN_OR_RETURN(const std::optional<FieldEntry> field,
                                 FindField(key, type, before.fields_end, group.fields_end));
        if (field) rows += field->rows;
        return Status::Ok();
      }));
  return rows;
}

Result<std::vector<InvertedReader::Group>> InvertedReader::Groups() {
  std::vector<Group> groups;
  PIGMENT_RETURN_IF_ERROR(
      VisitRowGroups(groups_, rows_, [&](const RowGroupEntry& before, const RowGroupEntry& group) {
        groups.push_back({.first = before.rows_end,
                          .rows = group.rows_end - before.rows_end,
                          .fields_begin = before.fields_end,
                          .fields_end = group.fields_end,
                          .is_indexed = group.is_indexed != 0});
        return Status::Ok();
      }));
  return groups;
}

Status InvertedReader::VisitLists(const Group& group, std::string_view key, FieldType type,
                                  std::string_view prefix, const ListVisitor& visit) {
  PIGMENT_ASSIGN_OR_RETURN(const std::optional<FieldEntry> field,
                           FindField(key, type, group.fields_begin, group.fields_end));
  if (!field || field->terms == 0) return Status::Ok();
  PIGMENT_ASSIGN_OR_RETURN(const Place place, PlaceOf(*field, group.rows));
  if (field->rows_shift != 0)
    return fields_.Damaged(Detail::kMiscounted, "a field of rows has lists of cells");
  PIGMENT_ASSIGN_OR_RETURN(uint32_t number, Seek(place, prefix, false, 0, nullptr));
  bool is_inside = true;
  while (is_inside && number < field->terms) {
    const uint32_t skipped = number % kTermsPerBlock;
    const uint32_t count = std::min(field->terms - number, kTermsPerBlock - skipped);
    PIGMENT_ASSIGN_OR_RETURN(const TermBlockEntry block, ReadBlock(place, number / kTermsPerBlock));
    PIGMENT_ASSIGN_OR_RETURN(TermBlockReader terms, ReadTerms(block));
    std::string_view term;
    // How many lists there are to read is known before any is.
    std::vector<std::string> rests;
    for (uint32_t i = 0; is_inside && i < skipped + count; ++i) {
      if (!terms.Next(&term)) return terms_.Damaged(Detail::kMiscounted, "a block of terms");
      if (i < skipped) continue;
      is_inside = term.starts_with(prefix);
      if (is_inside) rests.emplace_back(term.substr(prefix.size()));
    }
    Status status = Status::Ok();
    size_t next = 0;
    PIGMENT_RETURN_IF_ERROR(VisitRun(block.postings_begin, block.postings_bytes, skipped,
                                     static_cast<uint32_t>(rests.size()),
                                     [&](std::span<const std::byte> list) {
                                       if (status.ok()) status = visit(rests[next], list);
                                       ++next;
                                       return true;
                                     }));
    PIGMENT_RETURN_IF_ERROR(status);
    number += count;
  }
  return Status::Ok();
}

template <typename Visit>
Status InvertedReader::VisitRun(uint64_t begin, uint64_t bytes, uint32_t skipped, uint32_t count,
                                const Visit& visit) {
  const auto damaged = [&] { return postings_.Damaged(Detail::kMiscounted, "a posting list"); };
  const bool is_whole = bytes <= kTogetherBytes;
  std::string_view whole;
  if (is_whole) {
    PIGMENT_ASSIGN_OR_RETURN(whole, postings_.ViewStream(begin, bytes, postings_copy_));
  }
  const auto view = [&](uint64_t offset, uint64_t size) -> Result<std::string_view> {
    if (is_whole) return whole.substr(offset, size);
    return postings_.ViewStream(begin + offset, size, postings_copy_);
  };
  uint64_t offset = 0;
  for (uint32_t i = 0; i < skipped + count; ++i) {
    PostingsHead head;
    PIGMENT_ASSIGN_OR_RETURN(
        const std::string_view first,
        view(offset, std::min<uint64_t>(kPostingsHeadBytesMax, bytes - offset)));
    if (!ReadPostingsHead(AsBytes(first), &head) || head.bytes > bytes - offset) return damaged();
    if (i >= skipped) {
      PIGMENT_ASSIGN_OR_RETURN(const std::string_view list, view(offset, head.bytes));
      if (!visit(AsBytes(list))) return damaged();
      ++lists_read_;
    }
    offset += head.bytes;
  }
  return Status::Ok();
}

}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// Fields, blocks of terms, lists; nothing is sized by what was not checked.

#include "engine/segment/inverted_walk.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/inverted/posting_list.h"
#include "engine/inverted/term_block.h"

namespace pigment {

InvertedWalk::InvertedWalk(BlockSource* source, const Root* root, const InvertedKinds& kinds)
    : fields_(source, root, kinds.fields),
      blocks_(source, root, kinds.blocks),
      terms_(source, root, kinds.terms),
      postings_(source, root, kinds.postings) {}

Status InvertedWalk::Damaged(std::string_view what) const {
  return postings_.Damaged(Detail::kMiscounted, std::string(what));
}

Status InvertedWalk::VisitFields(const RowGroupEntry& before, const RowGroupEntry& group,
                                 const std::function<Status(const WalkedField& field)>& visit) {
  WalkedField field;
  for (uint32_t i = before.fields_end; i < group.fields_end; ++i) {
    PIGMENT_ASSIGN_OR_RETURN(const FieldEntry entry, fields_.ReadElement<FieldEntry>(i));
    PIGMENT_RETURN_IF_ERROR(ReadField(entry, group.rows_end - before.rows_end, field));
    PIGMENT_RETURN_IF_ERROR(visit(field));
  }
  return Status::Ok();
}

Status InvertedWalk::ReadField(const FieldEntry& entry, uint32_t group_rows, WalkedField& field) {
  field.key.clear();
  field.terms.clear();
  field.begins.assign(1, 0);
  field.rows.clear();
  if (entry.terms == 0 || entry.type == 0 ||
      entry.type > static_cast<uint32_t>(FieldType::kGrams)) {
    return Damaged(fmt::format("a field of type {} has {} terms", entry.type, entry.terms));
  }
  field.type = static_cast<FieldType>(entry.type);
  PIGMENT_RETURN_IF_ERROR(terms_.ReadStream(entry.key_begin, entry.key_bytes, field.key));
  const uint32_t blocks = (entry.terms - 1) / kTermsPerBlock + 1;
  for (uint32_t block = 0; block < blocks; ++block) {
    PIGMENT_ASSIGN_OR_RETURN(const TermBlockEntry read, blocks_.ReadElement<TermBlockEntry>(
                                                            uint64_t{entry.first_block} + block));
    const uint32_t terms = std::min(kTermsPerBlock, entry.terms - block * kTermsPerBlock);
    PIGMENT_RETURN_IF_ERROR(ReadBlock(read, terms, group_rows, field));
  }
  return CheckRows(group_rows, field);
}

Status InvertedWalk::ReadBlock(const TermBlockEntry& block, uint32_t terms, uint32_t group_rows,
                               WalkedField& field) {
  PIGMENT_ASSIGN_OR_RETURN(const std::string_view bytes,
                           terms_.ViewStream(block.terms_begin, block.terms_bytes, terms_copy_));
  PIGMENT_ASSIGN_OR_RETURN(
      std::string_view lists,
      postings_.ViewStream(block.postings_begin, block.postings_bytes, postings_copy_));
  room_.assign((size_t{group_rows} + 63) / 64, 0);
  TermBlockReader reader(AsBytes(bytes));
  for (uint32_t i = 0; i < terms; ++i) {
    std::string_view term;
    if (!reader.Next(&term)) return Damaged("a block of terms ends early");
    if (!field.terms.empty() && term <= field.terms.back()) return Damaged("terms do not ascend");
    PostingsHead head;
    if (!ReadPostingsHead(AsBytes(lists.substr(0, kPostingsHeadBytesMax)), &head) ||
        head.bytes > lists.size() || head.rows == 0) {
      return Damaged("a posting list");
    }
    const size_t begin = field.rows.size();
    if (!ReadPostings(AsBytes(lists.substr(0, head.bytes)), room_, group_rows, field.rows) ||
        field.rows.size() - begin != head.rows ||
        std::adjacent_find(field.rows.begin() + static_cast<ptrdiff_t>(begin), field.rows.end(),
                           std::greater_equal<>()) != field.rows.end()) {
      return Damaged("a posting list has not the rows that it says");
    }
    field.terms.emplace_back(term);
    field.begins.push_back(static_cast<uint32_t>(field.rows.size()));
    lists.remove_prefix(head.bytes);
  }
  return lists.empty() ? Status::Ok() : Damaged("bytes are left over behind posting lists");
}

// Who asks for a range adds and takes away whole lists, which counts on it.
Status InvertedWalk::CheckRows(uint32_t group_rows, const WalkedField& field) {
  if (!IsSingleValued(field.type)) return Status::Ok();
  room_.assign((size_t{group_rows} + 63) / 64, 0);
  for (const uint32_t row : field.rows) {
    uint64_t& word = room_[row / 64];
    const uint64_t bit = uint64_t{1} << (row % 64);
    if ((word & bit) != 0) return Damaged(fmt::format("row {} of a group has two values", row));
    word |= bit;
  }
  return Status::Ok();
}

}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// Group by group.

#include "engine/segment/inverted_verify.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "engine/segment/cell_part.h"
#include "engine/segment/inverted_reader.h"
#include "engine/segment/inverted_walk.h"
#include "engine/segment/part_compare.h"
#include "engine/segment/part_reader.h"
#include "engine/segment/record_bytes.h"

namespace pigment {
namespace {

// Compares the groups of an index, one after the other, with what they should be.
class GroupCheck {
 public:
  GroupCheck(BlockSource* source, const Root& root, const InvertedKinds& kinds)
      : groups_(source, &root, kinds.groups),
        fields_(source, &root, kinds.fields),
        blocks_(source, &root, kinds.blocks),
        terms_(source, &root, kinds.terms),
        postings_(source, &root, kinds.postings) {}

  PartCursor& groups() { return groups_; }
  // Lets go of what it read.
  void Release() {
    for (PartCursor* part : {&fields_, &blocks_, &terms_, &postings_}) part->Release();
  }
  Status Check(const RowGroupEntry& before, const RowGroupEntry& entry, RowGroupIndex expected);
  // Nothing follows the last group.
  Status CheckEnds() const;

 private:
  PartCursor groups_;
  PartCursor fields_;
  PartCursor blocks_;
  PartCursor terms_;
  PartCursor postings_;
  uint64_t fields_end_ = 0;
  uint64_t blocks_end_ = 0;
  uint64_t terms_bytes_ = 0;
  uint64_t postings_bytes_ = 0;
};

Status GroupCheck::Check(const RowGroupEntry& before, const RowGroupEntry& entry,
                         RowGroupIndex group) {
  if (entry.fields_end != before.fields_end + group.fields.size() ||
      entry.blocks_end != before.blocks_end + group.blocks.size()) {
    return groups_.Damaged(
        Detail::kMiscounted,
        fmt::format("the group of rows {} to {} has not the fields and terms of its records",
                    before.rows_end, entry.rows_end));
  }
  group.Rebase(terms_bytes_, postings_bytes_, before.blocks_end);
  for (uint32_t i = 0; i < group.fields.size(); ++i)
    PIGMENT_RETURN_IF_ERROR(CompareElement(fields_, before.fields_end + i, group.fields[i]));
  for (uint32_t i = 0; i < group.blocks.size(); ++i)
    PIGMENT_RETURN_IF_ERROR(CompareElement(blocks_, before.blocks_end + i, group.blocks[i]));
  fields_end_ = entry.fields_end;
  blocks_end_ = entry.blocks_end;
  PIGMENT_RETURN_IF_ERROR(CompareStream(terms_, terms_bytes_, group.terms));
  return CompareStream(postings_, postings_bytes_, group.postings);
}

Status GroupCheck::CheckEnds() const {
  PIGMENT_RETURN_IF_ERROR(CompareEnd(fields_, fields_end_ * sizeof(FieldEntry)));
  PIGMENT_RETURN_IF_ERROR(CompareEnd(blocks_, blocks_end_ * sizeof(TermBlockEntry)));
  PIGMENT_RETURN_IF_ERROR(CompareEnd(terms_, terms_bytes_));
  return CompareEnd(postings_, postings_bytes_);
}

Result<RowGroupIndex> IndexRecords(RecordReader& records, const SharedRules& rules, uint32_t first,
                                   uint32_t end) {
  RowGroupBuilder builder(nullptr, 0, rules);
  for (uint32_t row = first; row < end; ++row) {
    PIGMENT_ASSIGN_OR_RETURN(const RecordTexts texts,
                             records.Read(row, {.metadata = true, .uri = true}));
    PIGMENT_ASSIGN_OR_RETURN(const RecordReader::Place place, records.Find(row));
    PIGMENT_RETURN_IF_ERROR(
        builder.Add({.metadata = texts.metadata,
                     .uri = texts.uri,
                     .has_document = (place.header.flags & kHasDocument) != 0}));
  }
  return builder.Finish();
}

// Makes the index of documents again, and looks where each lies.
class DocumentCheck {
 public:
  DocumentCheck(BlockSource* source, const Root& root)
      : rows_(root.info.rows),
        begins_(source, &root, BlockKind::kDocumentBegins),
        ends_(source, &root, BlockKind::kDocumentEnds),
        records_(source, &root),
        groups_(source, root, kGramKinds) {}

  Status Run();

 private:
  // The row's document goes to `builder`, which may be null.
  Status CheckRow(uint32_t row, GramGroupBuilder* builder);

  const uint32_t rows_;
  PartCursor begins_;
  PartCursor ends_;
  RecordReader records_;
  GroupCheck groups_;
  uint64_t begin_ = 0;  // of the documents of the row's 64
  uint64_t bytes_ = 0;  // of all documents so far
};

Status DocumentCheck::CheckRow(uint32_t row, GramGroupBuilder* builder) {
  if (row % kRowsPerBegin == 0) {
    begin_ = bytes_;
    if (ends_.exists())
      PIGMENT_RETURN_IF_ERROR(CompareElement(begins_, row / kRowsPerBegin, begin_));
  }
  PIGMENT_ASSIGN_OR_RETURN(const RecordTexts texts, records_.Read(row, {.document = true}));
  const std::string_view document = texts.document.value_or(std::string_view());
  if (builder != nullptr) PIGMENT_RETURN_IF_ERROR(builder->Add(document));
  bytes_ += document.size();
  if (!ends_.exists()) return Status::Ok();
  return CompareElement(ends_, row, DocumentEndOf(bytes_ - begin_));
}

Status DocumentCheck::Run() {
  PIGMENT_RETURN_IF_ERROR(VisitRowGroups(
      groups_.groups(), rows_,
      [this](const RowGroupEntry& before, const RowGroupEntry& group) -> Status {
        GramGroupBuilder builder(nullptr, 0);
        const bool is_indexed = group.is_indexed != 0;
        for (uint32_t row = before.rows_end; row < group.rows_end; ++row)
          PIGMENT_RETURN_IF_ERROR(CheckRow(row, is_indexed ? &builder : nullptr));
        return groups_.Check(before, group, is_indexed ? builder.Finish() : RowGroupIndex());
      }));
  return groups_.CheckEnds();
}

// A host's rows have no records that the index could be made of again: what it says is put together
// anew, and must have the bytes that are there.
Result<RowGroupIndex> IndexWalked(BlockSource* source, const Root& root,
                                  const RowGroupEntry& before, const RowGroupEntry& group) {
  RowGroupIndex index;
  InvertedWalk walk(source, &root, kMetadataKinds);
  const uint32_t rows = group.rows_end - before.rows_end;
  PIGMENT_RETURN_IF_ERROR(walk.VisitFields(before, group, [&index, rows](const WalkedField& field) {
    WriteField(field.key, field.type,
               {.term = [&field](uint32_t i) -> std::string_view { return field.terms[i]; },
                .begins = field.begins,
                .rows = field.rows},
               index, CellsOf(field.type, rows));
    return Status::Ok();
  }));
  return index;
}

Status VerifyHostInverted(BlockSource* source, const Root& root) {
  GroupCheck check(source, root, kMetadataKinds);
  if (!check.groups().exists()) return Status::Ok();
  PIGMENT_RETURN_IF_ERROR(VisitRowGroups(
      check.groups(), root.info.rows,
      [&](const RowGroupEntry& before, const RowGroupEntry& group) -> Status {
        PIGMENT_ASSIGN_OR_RETURN(RowGroupIndex index, IndexWalked(source, root, before, group));
        const Status status = check.Check(before, group, std::move(index));
        check.Release();
        return status;
      }));
  return check.CheckEnds();
}

}  // namespace

Status VerifyInverted(BlockSource* source, const Root& root) {
  if (root.Find(BlockKind::kRowPointers) != nullptr) return VerifyHostInverted(source, root);
  GroupCheck check(source, root, kMetadataKinds);
  if (!check.groups().exists()) return Status::Ok();
  PIGMENT_ASSIGN_OR_RETURN(const SharedRules rules, ReadIndexRules(source, root));
  RecordReader records(source, &root);
  PIGMENT_RETURN_IF_ERROR(VisitRowGroups(
      check.groups(), root.info.rows,
      [&](const RowGroupEntry& before, const RowGroupEntry& group) -> Status {
        RowGroupIndex expected;
        if (group.is_indexed != 0) {
          PIGMENT_ASSIGN_OR_RETURN(expected,
                                   IndexRecords(records, rules, before.rows_end, group.rows_end));
        }
        return check.Check(before, group, std::move(expected));
      }));
  return check.CheckEnds();
}

Status VerifyCells(BlockSource* source, const Root& root) {
  if (root.Find(BlockKind::kGramGroups) == nullptr) return Status::Ok();
  return DocumentCheck(source, root).Run();
}

}  // namespace pigment

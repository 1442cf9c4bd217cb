// SPDX-License-Identifier: Apache-2.0
//
// VerifyText, group by group.

#include "engine/segment/text_verify.h"

#include <fmt/format.h>

#include <string>

#include "engine/fulltext/posting_cursor.h"
#include "engine/fulltext/text_lookup.h"
#include "engine/segment/part_compare.h"
#include "engine/segment/part_reader.h"
#include "engine/segment/record_bytes.h"
#include "engine/segment/text_reader.h"

namespace pigment {
namespace {

class TextCheck {
 public:
  TextCheck(BlockSource* source, const Root& root)
      : reader_(source, &root),
        head_(source, &root, BlockKind::kTextHead),
        groups_(source, &root, BlockKind::kTextGroups),
        lengths_(source, &root, BlockKind::kTextLengths),
        blocks_(source, &root, BlockKind::kTextTermBlocks),
        terms_(source, &root, BlockKind::kTextTerms),
        postings_(source, &root, BlockKind::kTextPostings),
        records_(source, &root) {}

  Status Run();

 private:
  Status CheckGroup(const TextReader::Group& stored);
  // Without the analyzer that made it.
  Status ReadGroup(const TextReader::Group& stored);
  Status CheckCounts(const TextReader::Group& stored, uint64_t documents, uint64_t words) const;
  TextReader reader_;
  PartCursor head_;
  PartCursor groups_;
  PartCursor lengths_;
  PartCursor blocks_;
  PartCursor terms_;
  PartCursor postings_;
  RecordReader records_;
  std::shared_ptr<const Analyzer> analyzer_;  // null: this library has another one
  uint64_t terms_bytes_ = 0;
  uint64_t postings_bytes_ = 0;
};

Status TextCheck::Run() {
  if (!head_.exists()) return Status::Ok();
  PIGMENT_ASSIGN_OR_RETURN(const std::string identity, reader_.ReadIdentity());
  const Result<AnalyzerSettings> settings = Analyzer::SettingsOf(identity);
  if (!settings.ok()) return head_.Damaged(Detail::kMiscounted, settings.status().message());
  PIGMENT_ASSIGN_OR_RETURN(analyzer_, Analyzer::Make(*settings));
  if (analyzer_->identity() != identity) analyzer_ = nullptr;
  PIGMENT_ASSIGN_OR_RETURN(const std::vector<TextReader::Group> groups, reader_.ReadGroups());
  for (const TextReader::Group& group : groups)
    PIGMENT_RETURN_IF_ERROR(analyzer_ != nullptr ? CheckGroup(group) : ReadGroup(group));
  if (analyzer_ == nullptr) return Status::Ok();
  const uint64_t blocks = groups.empty() ? 0 : groups.back().first_block + groups.back().blocks;
  PIGMENT_RETURN_IF_ERROR(CompareEnd(blocks_, blocks * sizeof(TextTermBlock)));
  PIGMENT_RETURN_IF_ERROR(CompareEnd(terms_, terms_bytes_));
  return CompareEnd(postings_, postings_bytes_);
}

Status TextCheck::CheckCounts(const TextReader::Group& stored, uint64_t documents,
                              uint64_t words) const {
  if (stored.documents == documents && stored.words == words) return Status::Ok();
  return groups_.Damaged(
      Detail::kMiscounted,
      fmt::format(
          "the group of rows from {} on has {} documents of {} words, the group says {} of {}",
          stored.first_row, documents, words, stored.documents, stored.words));
}

Status TextCheck::CheckGroup(const TextReader::Group& stored) {
  TextGroup group;
  if (stored.is_indexed) {
    TextGroupBuilder builder(*analyzer_, nullptr, 0);
    for (uint32_t row = stored.first_row; row < stored.first_row + stored.rows; ++row) {
      PIGMENT_ASSIGN_OR_RETURN(const RecordTexts texts, records_.Read(row, {.document = true}));
      PIGMENT_RETURN_IF_ERROR(builder.Add(texts.document ? &*texts.document : nullptr));
    }
    group = builder.Finish();
  } else {
    group.lengths.assign(stored.rows, 0);
  }
  PIGMENT_RETURN_IF_ERROR(CheckCounts(stored, group.documents, group.words));
  if (stored.blocks != group.blocks.size()) {
    return groups_.Damaged(Detail::kMiscounted,
                           fmt::format("the group of rows from {} on has not the terms of its "
                                       "documents",
                                       stored.first_row));
  }
  group.Rebase(terms_bytes_, postings_bytes_);
  for (uint32_t i = 0; i < stored.rows; ++i)
    PIGMENT_RETURN_IF_ERROR(
        CompareElement(lengths_, uint64_t{stored.first_row} + i, group.lengths[i]));
  for (uint32_t i = 0; i < stored.blocks; ++i)
    PIGMENT_RETURN_IF_ERROR(
        CompareElement(blocks_, uint64_t{stored.first_block} + i, group.blocks[i]));
  PIGMENT_RETURN_IF_ERROR(CompareStream(terms_, terms_bytes_, group.terms));
  return CompareStream(postings_, postings_bytes_, group.postings);
}

Status TextCheck::ReadGroup(const TextReader::Group& stored) {
  if (!stored.is_indexed) return Status::Ok();
  const std::unique_ptr<TextSource> source = reader_.NewSource(stored);
  LengthReader lengths(source.get());
  std::vector<uint64_t> words(stored.rows);
  PIGMENT_RETURN_IF_ERROR(VisitPrefix(*source, "", [&](const TextList& list) -> Status {
    PIGMENT_ASSIGN_OR_RETURN(PostingCursor cursor,
                             PostingCursor::Open(source.get(), list, lengths));
    for (uint32_t block = 0; block < cursor.blocks(); ++block) {
      PIGMENT_RETURN_IF_ERROR(cursor.Load(block));
      PIGMENT_RETURN_IF_ERROR(cursor.Positions().status());
      for (size_t i = 0; i < cursor.rows().size(); ++i)
        words[cursor.rows()[i]] += cursor.frequencies()[i];
    }
    return Status::Ok();
  }));
  uint64_t documents = 0, sum = 0;
  for (uint32_t row = 0; row < stored.rows; ++row) {
    if (words[row] != lengths.Of(row)) {
      PIGMENT_RETURN_IF_ERROR(lengths.status());
      return lengths_.Damaged(Detail::kMiscounted,
                              fmt::format("row {} has {} words, its lists have {}",
                                          stored.first_row + row, lengths.Of(row), words[row]));
    }
    documents += words[row] != 0;
    sum += words[row];
  }
  return CheckCounts(stored, documents, sum);
}

}  // namespace

Status VerifyText(BlockSource* source, const Root& root) { return TextCheck(source, root).Run(); }

}  // namespace pigment

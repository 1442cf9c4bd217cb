// SPDX-License-Identifier: Apache-2.0
//
// VerifyInverted, group by group.

#include "engine/segment/inverted_verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "engine/segment/inverted_reader.h"
#include "engine/segment/part_reader.h"
#include "engine/segment/record_bytes.h"

namespace pigment {
namespace {

class InvertedCheck {
 public:
  InvertedCheck(BlockSource* source, const Root& root)
      : root_(root),
        groups_(source, &root, BlockKind::kRowGroups),
        fields_(source, &root, BlockKind::kFields),
        blocks_(source, &root, BlockKind::kTermBlocks),
        terms_(source, &root, BlockKind::kTerms),
        postings_(source, &root, BlockKind::kPostings),
        records_(source, &root) {}

  Status Run();

 private:
  Status CheckGroup(const RowGroupEntry& entry);
  // Elements and bytes that follow those of the groups before.
  template <typename T>
  Status CheckElement(PartCursor& part, uint32_t number, const T& expected);
  Status CheckStream(PartCursor& part, uint64_t& begin, const std::string& expected);
  Status CheckEnd(const PartCursor& part, uint64_t bytes) const;

  const Root& root_;
  PartCursor groups_;
  PartCursor fields_;
  PartCursor blocks_;
  PartCursor terms_;
  PartCursor postings_;
  RecordReader records_;
  RowGroupEntry before_{};  // of the group before the one that is checked
  uint64_t fields_end_ = 0;
  uint64_t blocks_end_ = 0;
  uint64_t terms_bytes_ = 0;
  uint64_t postings_bytes_ = 0;
};

Status InvertedCheck::Run() {
  if (!groups_.exists()) return Status::Ok();
  PIGMENT_RETURN_IF_ERROR(VisitRowGroups(
      groups_, root_.info.rows, [this](const RowGroupEntry& before, const RowGroupEntry& group) {
        before_ = before;
        return CheckGroup(group);
      }));
  PIGMENT_RETURN_IF_ERROR(CheckEnd(fields_, fields_end_ * sizeof(FieldEntry)));
  PIGMENT_RETURN_IF_ERROR(CheckEnd(blocks_, blocks_end_ * sizeof(TermBlockEntry)));
  PIGMENT_RETURN_IF_ERROR(CheckEnd(terms_, terms_bytes_));
  return CheckEnd(postings_, postings_bytes_);
}

Status InvertedCheck::CheckGroup(const RowGroupEntry& entry) {
  RowGroupIndex group;
  if (entry.is_indexed != 0) {
    RowGroupBuilder builder(nullptr, 0);
    for (uint32_t row = before_.rows_end; row < entry.rows_end; ++row) {
      PIGMENT_ASSIGN_OR_RETURN(const RecordTexts texts,
                               records_.Read(row, {.metadata = true, .uri = true}));
      PIGMENT_RETURN_IF_ERROR(builder.Add(texts.metadata ? &*texts.metadata : nullptr,
                                          texts.uri ? &*texts.uri : nullptr));
    }
    group = builder.Finish();
  }
  if (entry.fields_end != before_.fields_end + group.fields.size() ||
      entry.blocks_end != before_.blocks_end + group.blocks.size()) {
    return groups_.Damaged(
        Detail::kMiscounted,
        fmt::format("the group of rows {} to {} has not the fields and terms of its records",
                    before_.rows_end, entry.rows_end));
  }
  group.Rebase(terms_bytes_, postings_bytes_, before_.blocks_end);
  for (uint32_t i = 0; i < group.fields.size(); ++i)
    PIGMENT_RETURN_IF_ERROR(CheckElement(fields_, before_.fields_end + i, group.fields[i]));
  for (uint32_t i = 0; i < group.blocks.size(); ++i)
    PIGMENT_RETURN_IF_ERROR(CheckElement(blocks_, before_.blocks_end + i, group.blocks[i]));
  fields_end_ = entry.fields_end;
  blocks_end_ = entry.blocks_end;
  PIGMENT_RETURN_IF_ERROR(CheckStream(terms_, terms_bytes_, group.terms));
  return CheckStream(postings_, postings_bytes_, group.postings);
}

template <typename T>
Status InvertedCheck::CheckElement(PartCursor& part, uint32_t number, const T& expected) {
  PIGMENT_ASSIGN_OR_RETURN(const T stored, part.ReadElement<T>(number));
  if (std::memcmp(&stored, &expected, sizeof stored) == 0) return Status::Ok();
  return part.Damaged(Detail::kMiscounted,
                      fmt::format("element {} is not that of the records", number));
}

Status InvertedCheck::CheckStream(PartCursor& part, uint64_t& begin, const std::string& expected) {
  std::string copy;
  for (uint64_t done = 0; done < expected.size();) {
    const uint64_t some = std::min<uint64_t>(kBlockPayloadBytes, expected.size() - done);
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view stored,
                             part.ViewStream(begin + done, some, copy));
    if (stored != std::string_view(expected).substr(done, some)) {
      return part.Damaged(Detail::kMiscounted,
                          fmt::format("bytes from {} on are not those of the records of rows "
                                      "from {} on",
                                      begin + done, before_.rows_end));
    }
    done += some;
  }
  begin += expected.size();
  return Status::Ok();
}

Status InvertedCheck::CheckEnd(const PartCursor& part, uint64_t bytes) const {
  if (part.bytes() == bytes) return Status::Ok();
  return part.Damaged(Detail::kMiscounted,
                      fmt::format("{} bytes, of which the records make {}", part.bytes(), bytes));
}

}  // namespace

Status VerifyInverted(BlockSource* source, const Root& root) {
  return InvertedCheck(source, root).Run();
}

}  // namespace pigment

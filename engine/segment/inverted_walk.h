// SPDX-License-Identifier: Apache-2.0
//
// Goes through everything that an inverted index of a segment says, field by field: for checks, and
// for hosts that compare it with their tables. What it reads may be damaged: kDataLoss then. One
// thread; everything is borrowed.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/segment/inverted_part.h"
#include "engine/segment/part_reader.h"

namespace pigment {

// A field of a row group as it was read: its terms ascend, and each row is in the group. Where the
// field has one term a row at most, no row is there twice.
struct WalkedField {
  std::string key;
  FieldType type = FieldType::kText;
  std::vector<std::string> terms;
  std::vector<uint32_t> begins;  // of each term's rows, and the end of the last
  std::vector<uint32_t> rows;    // numbers within the group

  std::span<const uint32_t> RowsOf(size_t term) const {
    return std::span(rows).subspan(begins[term], begins[term + 1] - begins[term]);
  }
};

class InvertedWalk {
 public:
  InvertedWalk(BlockSource* source, const Root* root, const InvertedKinds& kinds);

  // Calls `visit` for each field of the group between two entries, in the order of the fields.
  Status VisitFields(const RowGroupEntry& before, const RowGroupEntry& group,
                     const std::function<Status(const WalkedField& field)>& visit);

 private:
  Status ReadField(const FieldEntry& entry, uint32_t group_rows, WalkedField& field);
  Status ReadBlock(const TermBlockEntry& block, uint32_t terms, uint32_t group_rows,
                   WalkedField& field);
  Status CheckRows(uint32_t group_rows, const WalkedField& field);
  Status Damaged(std::string_view what) const;

  PartCursor fields_;
  PartCursor blocks_;
  PartCursor terms_;
  PartCursor postings_;
  std::string terms_copy_;
  std::string postings_copy_;
  std::vector<uint64_t> room_;
};

}  // namespace pigment

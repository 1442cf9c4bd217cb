// SPDX-License-Identifier: Apache-2.0
//
// Reads the text index of a segment (text_part.h), group by group. What it reads may be damaged:
// kDataLoss then. One thread; everything is borrowed.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/fulltext/text_source.h"
#include "engine/segment/part_reader.h"
#include "engine/segment/text_part.h"

namespace pigment {

class TextReader {
 public:
  TextReader(BlockSource* source, const Root* root) : source_(source), root_(root) {}

  // Of the analyzer that made the terms.
  Result<std::string> ReadIdentity();

  struct Group {
    uint32_t first_row;
    uint32_t rows;
    uint32_t first_block;
    uint32_t blocks;
    uint32_t documents;
    uint64_t words;
    bool is_indexed;
  };
  // All rows, in order, each in one group.
  Result<std::vector<Group>> ReadGroups();

  // REQUIRES: group.is_indexed.
  std::unique_ptr<TextSource> NewSource(const Group& group) const;

 private:
  BlockSource* const source_;
  const Root* const root_;
};

}  // namespace pigment

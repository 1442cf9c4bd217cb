// SPDX-License-Identifier: Apache-2.0
//
// The inverted index of a row group: rows of one segment that follow each other, as many as have
// room in memory while their index is made. Fields ascend by key, then type; the terms of a field
// lie in blocks of 32 (term_block.h), and their posting lists in the same order (posting_list.h).
// Numbers of rows are those within the group. One thread.
//
// Where a field has many terms, lists of all rows whose term is in the first so many blocks lie
// behind its own ("checkpoints"): an interval of single-valued terms is what two checkpoints differ
// by, and the lists between them and the bounds. The last checkpoint of each field, which all have,
// is of all its rows.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/memory_budget.h"
#include "engine/base/status.h"
#include "engine/inverted/term.h"

namespace pigment {

// A field as it is stored; where bytes begin is counted from the begin of the group.
struct FieldEntry {
  uint64_t key_begin;  // among the terms' bytes
  uint64_t key_bytes;
  uint32_t type;               // FieldType
  uint32_t first_block;        // of terms
  uint32_t terms;              // in blocks of kTermsPerBlock
  uint32_t rows;               // that have a term; of lists, rows and elements
  uint64_t checkpoints_begin;  // among the postings
  uint32_t checkpoints;
  uint32_t checkpoint_blocks;  // each is of the terms of so many blocks more than the one before
  uint64_t checkpoints_bytes;
};
static_assert(sizeof(FieldEntry) == 56);

struct TermBlockEntry {
  uint64_t terms_begin;
  uint64_t terms_bytes;
  uint64_t postings_begin;
  uint32_t postings_bytes;
  uint32_t rows_before;  // in the lists of the field's blocks before
};
static_assert(sizeof(TermBlockEntry) == 32);

struct RowGroupIndex {
  uint32_t rows = 0;
  std::vector<FieldEntry> fields;
  std::vector<TermBlockEntry> blocks;
  std::string terms;  // and keys
  std::string postings;

  // Counts from the segment's begin, where so many bytes and blocks of other groups lie before.
  void Rebase(uint64_t terms_before, uint64_t postings_before, uint32_t blocks_before);
};

class RowGroupBuilder {
 public:
  // Memory is charged to `budget` (may be null). `seed` keeps terms from being chosen so that their
  // hashes are equal.
  RowGroupBuilder(MemoryBudget* budget, uint64_t seed);
  ~RowGroupBuilder();

  // The next row's metadata, as EncodeMetadata writes it, and uri; either may be absent. Without
  // the memory: kResourceExhausted, and the row must not be added again.
  Status Add(const std::string_view* metadata, const std::string_view* uri);
  // What it has taken, with what Finish will take.
  uint64_t bytes() const { return bytes_; }

  // Nothing may be added afterwards.
  RowGroupIndex Finish();

 private:
  class Field;

  Status AddTerm(std::string_view key, FieldType type, std::string_view term);

  using FieldName = std::pair<std::string, FieldType>;
  struct NameOrder {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return std::pair<std::string_view, FieldType>(a) < std::pair<std::string_view, FieldType>(b);
    }
  };

  Reservation reservation_;
  uint64_t seed_;
  uint32_t rows_ = 0;
  uint64_t bytes_ = 0;
  uint64_t charged_ = 0;
  std::map<FieldName, std::unique_ptr<Field>, NameOrder> fields_;
};

}  // namespace pigment

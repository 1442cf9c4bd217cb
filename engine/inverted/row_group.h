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
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/memory_budget.h"
#include "engine/base/status.h"
#include "engine/inverted/term.h"
#include "engine/record/index_rules.h"

namespace pigment {

// A field as it is stored; where bytes begin is counted from the begin of the group.
struct FieldEntry {
  uint64_t key_begin;  // among the terms' bytes
  uint64_t key_bytes;
  uint16_t type;               // FieldType
  uint16_t rows_shift;         // lists are of cells of 2^rows_shift rows each; 0: of rows
  uint32_t first_block;        // of terms
  uint32_t terms;              // in blocks of kTermsPerBlock
  uint32_t rows;               // that have a term; of lists, rows and elements
  uint64_t checkpoints_begin;  // among the postings
  uint32_t checkpoints;
  uint32_t checkpoint_blocks;  // each is of the terms of so many blocks more than the one before
  uint64_t checkpoints_bytes;
};
static_assert(sizeof(FieldEntry) == 56);
// Cells lie within 64 rows that follow each other.
inline constexpr uint32_t kRowsShiftMax = 6;

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

// Of a field whose lists are of cells, and may be packed.
struct FieldCells {
  uint32_t rows_shift = 0;
  uint32_t count = 0;  // of the group; 0: lists are of rows, and are not packed
};

// Appends a field to an index: its terms, which ascend, with their rows; then its checkpoints.
class FieldWriter {
 public:
  FieldWriter(std::string_view key, FieldType type, RowGroupIndex& out, FieldCells cells = {});

  // `rows` as AppendPostings takes them.
  void AddTerm(std::string_view term, std::span<const uint32_t> rows);
  uint32_t blocks() const { return static_cast<uint32_t>(out_.blocks.size()) - field_.first_block; }
  // The rows of the terms of the first so many blocks: `checkpoint_blocks` more than of the one
  // before, the last one of all.
  void AddCheckpoint(std::span<const uint32_t> rows);
  void Finish(uint32_t checkpoint_blocks);

 private:
  RowGroupIndex& out_;
  const FieldCells cells_;
  FieldEntry field_{};
  std::string last_term_;
};

// All terms of a field, ascending, and the rows of each.
struct FieldTerms {
  std::function<std::string_view(uint32_t number)> term;  // valid until the next call
  std::span<const uint32_t> begins;  // of each term's rows among `rows`, and the end of the last
  std::span<const uint32_t> rows;    // as AppendPostings takes those of one term
};
// What the lists of a field are of, in a group of so many rows; those of grams may be packed.
FieldCells CellsOf(FieldType type, uint32_t group_rows);
// Appends a field whole. REQUIRES: at least one term.
void WriteField(std::string_view key, FieldType type, const FieldTerms& terms, RowGroupIndex& out,
                FieldCells cells = {});

// What is indexed of a row. Borrowed for the call.
struct RowTerms {
  std::optional<std::string_view> metadata = std::nullopt;  // as EncodeMetadata writes it
  std::optional<std::string_view> uri = std::nullopt;
  bool has_document = false;
};

class GramLists;  // gram_lists.h

class RowGroupBuilder {
 public:
  // Memory is charged to `budget` (may be null). `seed` keeps terms from being chosen so that their
  // hashes are equal. Values that `rules` (null: none) say no to are left out.
  RowGroupBuilder(MemoryBudget* budget, uint64_t seed, SharedRules rules = nullptr);
  ~RowGroupBuilder();

  // The next row. Without the memory: kResourceExhausted, and the row must not be added again.
  Status Add(const RowTerms& row);
  // What it has taken, with what Finish will take.
  uint64_t bytes() const { return bytes_ + gram_bytes_; }

  // Nothing may be added afterwards.
  RowGroupIndex Finish();

 private:
  class Field;

  Status AddGrams(std::string_view key, std::string_view grams);
  Status AddTerm(std::string_view key, FieldType type, std::string_view term);
  bool IsIndexed(std::string_view key, FieldType type) const {
    return rules_ == nullptr || HasIndex(*rules_, key, type);
  }

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
  MemoryBudget* const budget_;
  SharedRules rules_;
  uint32_t rows_ = 0;
  uint64_t bytes_ = 0;       // of fields
  uint64_t charged_ = 0;     // of these
  uint64_t gram_bytes_ = 0;  // of grams, which are charged as they come
  std::map<FieldName, std::unique_ptr<Field>, NameOrder> fields_;         // null: one of grams_
  std::map<std::string, std::unique_ptr<GramLists>, std::less<>> grams_;  // by key
};

}  // namespace pigment

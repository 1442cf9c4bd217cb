// SPDX-License-Identifier: Apache-2.0
//
// Terms and rows are gathered as pairs of numbers; at the end terms are sorted once, and pairs by
// counting.

#include "engine/inverted/row_group.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <unordered_map>

#include "engine/base/checksum.h"
#include "engine/inverted/gram_lists.h"
#include "engine/inverted/posting_list.h"
#include "engine/inverted/term_block.h"

namespace pigment {
namespace {

// What memory a term and a pair take, with what Finish needs for them.
constexpr uint64_t kTermBytes = 160;
constexpr uint64_t kPairBytes = 32;
constexpr uint32_t kNoRow = 0xFFFFFFFF;
constexpr uint64_t kChargeBytes = uint64_t{64} << 10;

constexpr uint32_t kCheckpoints = 16;
// With fewer blocks than these for each, going through lists costs less.
constexpr uint32_t kCheckpointBlocksMin = 2;

}  // namespace

void RowGroupIndex::Rebase(uint64_t terms_before, uint64_t postings_before,
                           uint32_t blocks_before) {
  for (FieldEntry& field : fields) {
    field.key_begin += terms_before;
    field.checkpoints_begin += postings_before;
    field.first_block += blocks_before;
  }
  for (TermBlockEntry& block : blocks) {
    block.terms_begin += terms_before;
    block.postings_begin += postings_before;
  }
}

FieldWriter::FieldWriter(std::string_view key, FieldType type, RowGroupIndex& out, FieldCells cells)
    : out_(out), cells_(cells) {
  field_.key_begin = out.terms.size();
  field_.key_bytes = key.size();
  out.terms += key;
  field_.type = static_cast<uint16_t>(type);
  field_.rows_shift = static_cast<uint16_t>(cells.rows_shift);
  field_.first_block = static_cast<uint32_t>(out.blocks.size());
}

void FieldWriter::AddTerm(std::string_view term, std::span<const uint32_t> rows) {
  const bool is_first = field_.terms % kTermsPerBlock == 0;
  if (is_first) {
    TermBlockEntry block{};
    block.terms_begin = out_.terms.size();
    block.postings_begin = out_.postings.size();
    block.rows_before = field_.rows;
    out_.blocks.push_back(block);
  }
  AppendBlockTerm(is_first ? nullptr : &last_term_, term, out_.terms);
  AppendPostings(rows, out_.postings, cells_.count);
  TermBlockEntry& block = out_.blocks.back();
  block.terms_bytes = out_.terms.size() - block.terms_begin;
  block.postings_bytes = static_cast<uint32_t>(out_.postings.size() - block.postings_begin);
  last_term_ = term;
  ++field_.terms;
  field_.rows += static_cast<uint32_t>(rows.size());
}

void FieldWriter::AddCheckpoint(std::span<const uint32_t> rows) {
  if (field_.checkpoints++ == 0) field_.checkpoints_begin = out_.postings.size();
  AppendPostings(rows, out_.postings, cells_.count);
}

void FieldWriter::Finish(uint32_t checkpoint_blocks) {
  field_.checkpoint_blocks = checkpoint_blocks;
  field_.checkpoints_bytes = out_.postings.size() - field_.checkpoints_begin;
  out_.fields.push_back(field_);
}

FieldCells CellsOf(FieldType type, uint32_t group_rows) {
  if (type == FieldType::kGrams) return {.rows_shift = 0, .count = group_rows};
  return {};
}

void WriteField(std::string_view key, FieldType type, const FieldTerms& terms, RowGroupIndex& out,
                FieldCells cells) {
  FieldWriter field(key, type, out, cells);
  const size_t count = terms.begins.size() - 1;
  for (uint32_t i = 0; i < count; ++i) {
    field.AddTerm(terms.term(i),
                  terms.rows.subspan(terms.begins[i], terms.begins[i + 1] - terms.begins[i]));
  }
  const uint32_t blocks = field.blocks();
  const bool has_many = IsSingleValued(type) && blocks >= kCheckpoints * kCheckpointBlocksMin;
  const uint32_t step = has_many ? (blocks + kCheckpoints - 1) / kCheckpoints : blocks;
  std::vector<uint32_t> rows;
  for (uint32_t end = step;; end += step) {
    const size_t up_to = std::min<size_t>(size_t{end} * kTermsPerBlock, count);
    rows.assign(terms.rows.begin(), terms.rows.begin() + terms.begins[up_to]);
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    field.AddCheckpoint(rows);
    if (up_to == count) break;
  }
  field.Finish(step);
}

class RowGroupBuilder::Field {
 public:
  explicit Field(uint64_t seed) : ids_(0, Hasher{seed}) {}

  // Returns the bytes of memory that this takes.
  uint64_t Add(std::string_view term, uint32_t row) {
    uint64_t bytes = 0;
    auto found = ids_.find(term);
    if (found == ids_.end()) {
      terms_.emplace_back(term);
      found = ids_.emplace(terms_.back(), static_cast<uint32_t>(terms_.size() - 1)).first;
      last_rows_.push_back(kNoRow);
      bytes += kTermBytes + term.size();
    }
    // A list may have an element twice.
    if (last_rows_[found->second] == row) return bytes;
    last_rows_[found->second] = row;
    pairs_.push_back({found->second, row});
    return bytes + kPairBytes;
  }

  void Finish(std::string_view key, FieldType type, RowGroupIndex& out);

 private:
  struct Hasher {
    uint64_t seed;
    size_t operator()(std::string_view text) const {
      return static_cast<size_t>(Xxh3_64(AsBytes(text), seed));
    }
  };
  struct Pair {
    uint32_t term;
    uint32_t row;
  };

  // Rows by the ranks of their terms: those of rank i are rows[begins[i]] .. rows[begins[i + 1]].
  void SortRows();

  std::deque<std::string> terms_;
  std::unordered_map<std::string_view, uint32_t, Hasher> ids_;
  std::vector<uint32_t> last_rows_;  // of each term
  std::vector<Pair> pairs_;
  std::vector<uint32_t> order_;  // term numbers by their bytes
  std::vector<uint32_t> begins_;
  std::vector<uint32_t> sorted_rows_;
};

void RowGroupBuilder::Field::SortRows() {
  order_.resize(terms_.size());
  std::iota(order_.begin(), order_.end(), 0u);
  std::sort(order_.begin(), order_.end(),
            [this](uint32_t a, uint32_t b) { return terms_[a] < terms_[b]; });
  std::vector<uint32_t> ranks(terms_.size());
  for (uint32_t rank = 0; rank < order_.size(); ++rank) ranks[order_[rank]] = rank;
  begins_.assign(terms_.size() + 1, 0);
  for (const Pair& pair : pairs_) ++begins_[ranks[pair.term] + 1];
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  std::vector<uint32_t> next(begins_.begin(), begins_.end() - 1);
  sorted_rows_.resize(pairs_.size());
  for (const Pair& pair : pairs_) sorted_rows_[next[ranks[pair.term]]++] = pair.row;
}

void RowGroupBuilder::Field::Finish(std::string_view key, FieldType type, RowGroupIndex& out) {
  SortRows();
  WriteField(key, type,
             {.term = [this](uint32_t rank) -> std::string_view { return terms_[order_[rank]]; },
              .begins = begins_,
              .rows = sorted_rows_},
             out);
}

RowGroupBuilder::RowGroupBuilder(MemoryBudget* budget, uint64_t seed, SharedRules rules)
    : reservation_(budget), seed_(seed), budget_(budget), rules_(std::move(rules)) {}
RowGroupBuilder::~RowGroupBuilder() = default;

Status RowGroupBuilder::AddTerm(std::string_view key, FieldType type, std::string_view term) {
  if (!IsIndexed(key, type)) return Status::Ok();
  if (type == FieldType::kGrams) return AddGrams(key, term);
  auto found = fields_.find(std::pair(key, type));
  if (found == fields_.end()) {
    found = fields_.emplace(FieldName(key, type), std::make_unique<Field>(seed_)).first;
    bytes_ += sizeof(Field) + key.size() + kTermBytes;
  }
  bytes_ += found->second->Add(term, rows_);
  if (bytes_ <= charged_) return Status::Ok();
  const uint64_t more = std::max(kChargeBytes, bytes_ - charged_);
  PIGMENT_RETURN_IF_ERROR(reservation_.Grow(more));
  charged_ += more;
  return Status::Ok();
}

Status RowGroupBuilder::AddGrams(std::string_view key, std::string_view grams) {
  auto found = grams_.find(key);
  if (found == grams_.end()) {
    found = grams_.emplace(key, std::make_unique<GramLists>(budget_, seed_)).first;
    fields_.emplace(FieldName(key, FieldType::kGrams), nullptr);
  }
  GramLists& lists = *found->second;
  gram_bytes_ -= lists.bytes();
  Status status = Status::Ok();
  for (size_t i = 0; i + kGramBytes <= grams.size() && status.ok(); i += kGramBytes) {
    uint32_t gram = 0;
    for (const char byte : grams.substr(i, kGramBytes))
      gram = gram << 8 | static_cast<uint8_t>(byte);
    status = lists.Add(PackGram(gram, kGramBytes), rows_);
  }
  gram_bytes_ += lists.bytes();
  return status;
}

Status RowGroupBuilder::Add(const RowTerms& row) {
  if (row.metadata) {
    PIGMENT_RETURN_IF_ERROR(
        VisitTerms(AsBytes(*row.metadata),
                   [this](std::string_view key, FieldType type, std::string_view term) {
                     return AddTerm(key, type, term);
                   }));
  }
  if (row.uri) PIGMENT_RETURN_IF_ERROR(AddTerm("", FieldType::kUri, *row.uri));
  if (row.has_document) PIGMENT_RETURN_IF_ERROR(AddTerm("", FieldType::kHasDocument, ""));
  ++rows_;
  return Status::Ok();
}

RowGroupIndex RowGroupBuilder::Finish() {
  RowGroupIndex out;
  out.rows = rows_;
  for (auto& [name, field] : fields_) {
    if (field == nullptr) {
      const auto grams = grams_.find(name.first);
      grams->second->WriteTo(name.first, CellsOf(name.second, rows_), out);
      grams->second.reset();
      continue;
    }
    field->Finish(name.first, name.second, out);
    field.reset();
  }
  return out;
}

}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// A compiled filter: its clauses in one flat array, parents before children, and the operands in
// pools beside it. Built by filter_parse.cc, run by filter_program.cc; immutable then, and any
// thread may run it.
//
//   {"$and": [{"a": 1}, {"$or": [{"b": 2}, {"c": 3}]}]}   ->   0 and,     end 5
//                                                              1   a = 1, end 2, parent 0
//                                                              2   or,    end 5, parent 0
//                                                              3     b = 2, end 4, parent 2
//                                                              4     c = 3, end 5, parent 2

#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/query/filter.h"
#include "engine/query/filter_place.h"
#include "engine/query/regex.h"
#include "engine/record/case_fold.h"
#include "engine/record/number.h"

namespace pigment {

enum class FilterOp : uint8_t {
  kAnd,
  kOr,
  kIn,            // $eq, $ne, $in, $nin: operand in `sets`
  kInRange,       // $gt, $gte, $lt, $lte, $between of numbers: operand in `ranges`
  kInTextRange,   // $prefix, $between of texts: operand in `text_ranges`
  kEqualsFolded,  // $ieq: operand in `folded`
  kStartsFolded,  // $iprefix: operand in `folded`
  kExists,        // $exists: has the key, the uri or a document; on metadata the operand, in
                  // `texts`, is what stored keys below the key begin with
  kHasElement,    // $contains on a metadata key: operand in `elements`
  kHasSubstring,  // $contains on the document: operand in `texts`
  kHasFolded,     // $icontains: operand in `folded`
  kHasMatch,      // $regex: operand in `regexes`
};

enum class FilterTarget : uint8_t { kMetadata, kId, kUri, kDocument };

struct FilterNode {
  FilterOp op;
  FilterTarget target = FilterTarget::kMetadata;
  bool negated = false;  // the negative operators are the exact complements of the positive ones
  bool is_path = false;  // the key was given as a path, of one step or more
  uint32_t key = 0;      // in `texts`, as it is stored (engine/record/metadata_path.h)
  uint32_t operand = 0;
  uint32_t end = 0;
  uint32_t parent = 0;  // kNone at the root
  FilterPlace place;    // of a clause that is no group

  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
};

// Half-open ranges of the pools below, each sorted. Numbers are in canonical form, so 2 and 2.0 are
// one.
struct FilterSet {
  struct Range {
    uint32_t begin = 0;
    uint32_t end = 0;
  };
  Range texts;
  Range integers;
  Range reals;
  bool has_false = false;
  bool has_true = false;
};

// Numbers between two bounds; without a bound they have no end there.
struct FilterRange {
  struct Bound {
    Number number;
    bool is_inside;
  };
  std::optional<Bound> low = std::nullopt;
  std::optional<Bound> high = std::nullopt;

  bool Holds(Number number) const;
  // To what both hold.
  void Narrow(const FilterRange& other);
};

// Texts, by their bytes, that are not below `low`; nor above `high`, or below it alone.
struct FilterTextRange {
  std::string low;
  std::optional<std::string> high = std::nullopt;
  bool takes_high = false;

  bool Holds(std::string_view text) const;
  static FilterTextRange OfPrefix(std::string_view prefix);
};

// Whether it is a clause on what a document says, which must be looked at.
constexpr bool LooksIntoDocuments(const FilterNode& node) {
  return node.target == FilterTarget::kDocument && node.op != FilterOp::kExists;
}

struct FilterProgram {
  std::vector<FilterNode> nodes;  // empty: everything matches
  std::vector<std::string> texts;
  std::vector<int64_t> integers;
  std::vector<double> reals;
  std::vector<FilterSet> sets;
  std::vector<FilterRange> ranges;
  std::vector<FilterTextRange> text_ranges;
  std::vector<FoldedText> folded;
  std::vector<MetadataValue> elements;
  std::vector<std::unique_ptr<const Regex>> regexes;
  FilterPlaces places;
  FilterNeeds needs;

  bool Matches(const FilterSubject& subject) const;
  // Whether a document satisfies a condition on documents, were it not negated.
  bool DocumentMatches(const FilterNode& node, std::string_view document) const;
  // A clause on a text that is there: an id, a uri, or a value of metadata. Does not look at
  // `negated`.
  bool TextMatches(const FilterNode& node, std::string_view text) const;

 private:
  bool LeafMatches(const FilterNode& node, const FilterSubject& subject) const;
  bool MetadataMatches(const FilterNode& node, const Metadata& metadata) const;
  bool SetHolds(const FilterSet& set, std::string_view text) const;
  bool SetHolds(const FilterSet& set, Number number) const;
};

}  // namespace pigment

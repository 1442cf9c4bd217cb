// SPDX-License-Identifier: Apache-2.0
//
// Terms without regard to case. A text with n letters has 2^n spellings, but a field has few of
// them: from one code point to the next only those are followed that some term begins with, and
// where few terms are left they are looked at.

#include <algorithm>
#include <utility>

#include "engine/segment/inverted_reader.h"

namespace pigment {
namespace {

// As many terms take less time to look at than to be sought among.
constexpr uint32_t kFewTerms = kTermsPerBlock;

}  // namespace

Status InvertedReader::AddFolded(std::string_view key, FieldType type, const FoldedTerms& wanted,
                                 const CallControl& control, RowSet& rows) {
  return VisitGroups(key, type, rows, [&](const Place& place) -> Status {
    std::vector<Branch> open;
    open.push_back({.prefix = "", .code_points = 0, .begin = 0, .end = place.field.terms});
    while (!open.empty()) {
      PIGMENT_RETURN_IF_ERROR(control.Check());
      Branch branch = std::move(open.back());
      open.pop_back();
      PIGMENT_RETURN_IF_ERROR(Follow(place, wanted, std::move(branch), open));
    }
    return Status::Ok();
  });
}

Status InvertedReader::Follow(const Place& place, const FoldedTerms& wanted, Branch branch,
                              std::vector<Branch>& open) {
  const std::u32string& text = wanted.text.code_points();
  if (branch.code_points == text.size() && wanted.is_prefix)
    return ApplyInterval(place, branch.begin, branch.end);
  // Of terms that begin alike the first is the one that has no more.
  if (branch.code_points == text.size())
    return ApplyMatching(place, wanted, branch.begin, branch.begin + 1);
  if (branch.end - branch.begin <= kFewTerms)
    return ApplyMatching(place, wanted, branch.begin, branch.end);
  for (const std::string& variant : CaseVariants(text[branch.code_points])) {
    Branch longer{.prefix = branch.prefix + variant, .code_points = branch.code_points + 1};
    PIGMENT_ASSIGN_OR_RETURN(longer.begin, Seek(place, longer.prefix, false, 0, nullptr));
    std::string above = longer.prefix;
    ++above.back();  // UTF-8 has no byte that is the largest there is
    PIGMENT_ASSIGN_OR_RETURN(longer.end, Seek(place, above, false, 0, nullptr));
    if (longer.begin < longer.end) open.push_back(std::move(longer));
  }
  return Status::Ok();
}

Status InvertedReader::ApplyMatching(const Place& place, const FoldedTerms& wanted, uint32_t begin,
                                     uint32_t end) {
  std::string_view term;
  while (begin < end) {
    PIGMENT_ASSIGN_OR_RETURN(const TermBlockEntry block, ReadBlock(place, begin / kTermsPerBlock));
    PIGMENT_ASSIGN_OR_RETURN(TermBlockReader terms, ReadTerms(block));
    std::vector<uint32_t> matching;
    const uint32_t first = begin / kTermsPerBlock * kTermsPerBlock;
    const uint32_t last = std::min(first + kTermsPerBlock, end);
    for (uint32_t number = first; number < last; ++number) {
      if (!terms.Next(&term)) return terms_.Damaged(Detail::kMiscounted, "a block of terms");
      if (number < begin) continue;
      if (wanted.is_prefix ? wanted.text.IsPrefixOf(term) : wanted.text.Equals(term))
        matching.push_back(number);
    }
    for (const uint32_t number : matching)
      PIGMENT_RETURN_IF_ERROR(ApplyLists(place, number, number + 1, PostingsUse::kUnite));
    begin = last;
  }
  return Status::Ok();
}

}  // namespace pigment

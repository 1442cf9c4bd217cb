// SPDX-License-Identifier: Apache-2.0
//
// Binary search over the first terms of blocks.

#include "engine/fulltext/text_lookup.h"

#include <algorithm>
#include <string>

namespace pigment {
namespace {

// A walk over terms from the begin of a block on.
class TermWalk {
 public:
  explicit TermWalk(TextSource& source) : source_(source) {}

  // To the last block whose first term is not above `term`; to the first where there is none.
  Status Seek(std::string_view term) {
    uint32_t begin = 0, end = source_.blocks();
    while (begin < end) {
      const uint32_t middle = begin + (end - begin) / 2;
      PIGMENT_RETURN_IF_ERROR(Open(middle));
      PIGMENT_ASSIGN_OR_RETURN(const bool has_term, Next());
      if (!has_term) return source_.Damaged("a block without terms");
      if (term_ <= term) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return source_.blocks() != 0 ? Open(begin > 0 ? begin - 1 : 0) : Status::Ok();
  }

  // False at the end.
  Result<bool> Next() {
    while (left_ == 0) {
      if (next_block_ >= source_.blocks()) return false;
      PIGMENT_RETURN_IF_ERROR(Open(next_block_));
    }
    --left_;
    if (!reader_->Next(&term_, &list_)) return source_.Damaged("a block of terms");
    return true;
  }
  std::string_view term() const { return term_; }
  const TextList& list() const { return list_; }

 private:
  Status Open(uint32_t block) {
    PIGMENT_ASSIGN_OR_RETURN(const TextTermBlock entry, source_.ReadBlock(block));
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view bytes,
                             source_.terms().View(entry.terms_begin, entry.terms_bytes, copy_));
    reader_.emplace(AsBytes(bytes), entry.postings_begin);
    left_ = std::min(entry.terms, kTextTermsPerBlock);
    next_block_ = block + 1;
    return Status::Ok();
  }

  TextSource& source_;
  std::string copy_;
  std::optional<TextTermReader> reader_;
  std::string_view term_;
  TextList list_;
  uint32_t left_ = 0;  // terms of the block
  uint32_t next_block_ = 0;
};

}  // namespace

Result<std::optional<TextList>> FindTerm(TextSource& source, std::string_view term) {
  TermWalk walk(source);
  PIGMENT_RETURN_IF_ERROR(walk.Seek(term));
  for (;;) {
    PIGMENT_ASSIGN_OR_RETURN(const bool has_term, walk.Next());
    if (!has_term || walk.term() > term) return std::optional<TextList>();
    if (walk.term() == term) return std::optional(walk.list());
  }
}

Status VisitPrefix(TextSource& source, std::string_view prefix,
                   const std::function<Status(const TextList& list)>& visit) {
  TermWalk walk(source);
  PIGMENT_RETURN_IF_ERROR(walk.Seek(prefix));
  for (;;) {
    PIGMENT_ASSIGN_OR_RETURN(const bool has_term, walk.Next());
    if (!has_term) return Status::Ok();
    if (walk.term().starts_with(prefix)) {
      PIGMENT_RETURN_IF_ERROR(visit(walk.list()));
    } else if (walk.term() > prefix) {
      return Status::Ok();
    }
  }
}

}  // namespace pigment

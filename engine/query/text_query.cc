// SPDX-License-Identifier: Apache-2.0
//
// From the text of a query to clauses.

#include "engine/query/text_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace pigment {
namespace {

constexpr std::string_view kQuote = "\"";

bool IsSpace(char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7F'; }

class QueryParser {
 public:
  QueryParser(std::string_view text, bool all, WordReader& words)
      : text_(text), all_(all), words_(words) {}

  Result<std::vector<TextClause>> Run() {
    for (size_t at = 0; at < text_.size();) {
      if (IsSpace(text_[at])) {
        ++at;
        continue;
      }
      PIGMENT_ASSIGN_OR_RETURN(at, ReadClause(at));
    }
    return std::move(clauses_);
  }

 private:
  // Returns where the clause ends.
  Result<size_t> ReadClause(size_t at) {
    bool is_required = all_;
    for (; at < text_.size() && text_[at] == '+'; ++at) is_required = true;
    if (at < text_.size() && text_[at] == kQuote[0]) {
      const size_t end = text_.find(kQuote, at + 1);
      if (end == text_.npos) return at + 1;
      PIGMENT_RETURN_IF_ERROR(AddPhrase(text_.substr(at + 1, end - at - 1), is_required));
      return end + 1;
    }
    size_t end = at;
    while (end < text_.size() && !IsSpace(text_[end]) && text_[end] != kQuote[0]) ++end;
    PIGMENT_RETURN_IF_ERROR(AddWords(text_.substr(at, end - at), is_required));
    return end;
  }

  Status AddWords(std::string_view text, bool is_required) {
    std::string_view words = text;
    while (words.ends_with('*')) words.remove_suffix(1);
    const bool has_star = words.size() != text.size();
    std::string term;
    return words_.VisitWords(words, [&](const Word& word) -> Status {
      const std::string_view bytes = words.substr(word.begin, word.end - word.begin);
      const bool is_prefix = has_star && word.end == words.size();
      PIGMENT_RETURN_IF_ERROR(is_prefix ? words_.Fold(bytes, term) : words_.TermOf(bytes, term));
      if (term.empty()) return Status::Ok();
      return Add({.kind = is_prefix ? TextClause::Kind::kPrefix : TextClause::Kind::kWord,
                  .terms = {term},
                  .places = {0},
                  .count = 1,
                  .is_required = is_required});
    });
  }

  Status AddPhrase(std::string_view text, bool is_required) {
    TextClause phrase{.kind = TextClause::Kind::kPhrase,
                      .terms = {},
                      .places = {},
                      .count = 1,
                      .is_required = is_required};
    uint32_t place = 0;
    std::string term;
    PIGMENT_RETURN_IF_ERROR(words_.VisitWords(text, [&](const Word& word) -> Status {
      PIGMENT_RETURN_IF_ERROR(words_.TermOf(text.substr(word.begin, word.end - word.begin), term));
      if (!term.empty()) {
        if (phrase.terms.size() == kTextQueryTermsMax) return TooMany();
        phrase.terms.push_back(term);
        phrase.places.push_back(place);
      }
      ++place;
      return Status::Ok();
    }));
    if (phrase.terms.empty()) return Status::Ok();
    const uint32_t first = phrase.places.front();
    for (uint32_t& of_term : phrase.places) of_term -= first;
    if (phrase.terms.size() == 1) phrase.kind = TextClause::Kind::kWord;
    return Add(std::move(phrase));
  }

  Status Add(TextClause clause) {
    const auto like = std::find_if(clauses_.begin(), clauses_.end(),
                                   [&](const TextClause& other) { return other.IsLike(clause); });
    terms_ += clause.terms.size();
    if (terms_ > kTextQueryTermsMax) return TooMany();
    if (like == clauses_.end()) {
      clauses_.push_back(std::move(clause));
      return Status::Ok();
    }
    ++like->count;
    like->is_required = like->is_required || clause.is_required;
    return Status::Ok();
  }

  static Status TooMany() {
    return BeyondLimit(limit::kTextQueryTermsMax, "a text query has too many words");
  }

  const std::string_view text_;
  const bool all_;
  WordReader& words_;
  std::vector<TextClause> clauses_;
  size_t terms_ = 0;
};

}  // namespace

Result<std::vector<TextClause>> ParseTextQuery(std::string_view text, bool all, WordReader& words) {
  return QueryParser(text, all, words).Run();
}

}  // namespace pigment

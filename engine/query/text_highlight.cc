// SPDX-License-Identifier: Apache-2.0
//
// The document is analyzed again: its few words cost less than places of all would in the index.

#include "engine/query/text_highlight.h"

#include <fmt/format.h>

#include <iterator>
#include <vector>

namespace pigment {
namespace {

struct DocumentWord {
  Word place;
  std::string term;
  bool is_match = false;
};

void MarkPhrase(const TextClause& phrase, std::vector<DocumentWord>& words) {
  for (size_t first = 0; first + phrase.places.back() < words.size(); ++first) {
    bool is_whole = true;
    for (size_t i = 0; is_whole && i < phrase.terms.size(); ++i)
      is_whole = words[first + phrase.places[i]].term == phrase.terms[i];
    if (!is_whole) continue;
    for (const uint32_t place : phrase.places) words[first + place].is_match = true;
  }
}

void MarkWords(const TextClause& clause, std::vector<DocumentWord>& words) {
  const std::string& wanted = clause.terms[0];
  const bool is_prefix = clause.kind == TextClause::Kind::kPrefix;
  for (DocumentWord& word : words)
    word.is_match |=
        !word.term.empty() && (is_prefix ? word.term.starts_with(wanted) : word.term == wanted);
}

}  // namespace

Status AppendHighlights(std::string_view document, std::span<const TextClause> clauses,
                        WordReader& reader, std::string& json) {
  std::vector<DocumentWord> words;
  PIGMENT_RETURN_IF_ERROR(reader.VisitWords(document, [&](const Word& place) -> Status {
    DocumentWord& word = words.emplace_back();
    word.place = place;
    return reader.TermOf(document.substr(place.begin, place.end - place.begin), word.term);
  }));
  for (const TextClause& clause : clauses) {
    if (clause.kind == TextClause::Kind::kPhrase) {
      MarkPhrase(clause, words);
    } else {
      MarkWords(clause, words);
    }
  }
  const char* separator = "";
  json += '[';
  for (const DocumentWord& word : words) {
    if (!word.is_match) continue;
    fmt::format_to(std::back_inserter(json), "{}[{},{}]", separator, word.place.begin,
                   word.place.end);
    separator = ",";
  }
  json += ']';
  return Status::Ok();
}

}  // namespace pigment

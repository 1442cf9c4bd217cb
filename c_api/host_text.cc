// SPDX-License-Identifier: Apache-2.0
//
// Texts of a host's rows as words, and queries of them. An object serves one thread at a time.

#include "c_api/host_text.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "c_api/host_search.h"
#include "engine/base/limits.h"
#include "engine/fulltext/analyzer.h"
#include "engine/query/text_query.h"
#include "engine/record/json_tape.h"
#include "engine/record/text_index.h"

using pigment::HostTextClause;
using pigment::Result;
using pigment::Status;

struct pigment_text_analyzer : pigment::abi::Handle<pigment::abi::HandleKind::kTextAnalyzer> {
  explicit pigment_text_analyzer(std::shared_ptr<const pigment::Analyzer> made)
      : analyzer(std::move(made)), reader(*analyzer), mark(pigment::AnalyzerMark(*analyzer)) {}

  const std::shared_ptr<const pigment::Analyzer> analyzer;
  pigment::WordReader reader;
  const uint32_t mark;
};

namespace {

Result<pigment::AnalyzerSettings> ReadSettings(const char* json, size_t size) {
  PIGMENT_ASSIGN_OR_RETURN(const auto text,
                           pigment::abi::ReadOptionalText(json, size, "settings_json"));
  if (!text) return pigment::AnalyzerSettings();
  PIGMENT_ASSIGN_OR_RETURN(const pigment::JsonTape tape,
                           pigment::JsonTape::Parse(*text, "analyzer", pigment::Detail::kNone));
  return pigment::ReadAnalyzer(tape, 0);
}

Status CheckParameters(const pigment_text_query_options& options) {
  if (!(options.k1 >= 0 && options.k1 <= 100))
    return pigment::InvalidArgument(fmt::format("options.k1 {}, expected 0 to 100", options.k1));
  if (!(options.b >= 0 && options.b <= 1))
    return pigment::InvalidArgument(fmt::format("options.b {}, expected 0 to 1", options.b));
  return Status::Ok();
}

Result<std::vector<HostTextClause>> ReadWords(pigment::WordReader& reader, std::string_view text) {
  PIGMENT_ASSIGN_OR_RETURN(pigment::TextWords words, pigment::WordsOfText(reader, text));
  // With so many no sum of what they are worth overflows.
  if (words.length > pigment::kHostQueryWordsMax) {
    return pigment::BeyondLimit(pigment::limit::kHostQueryWordsMax,
                                fmt::format("a query of {} words", words.length));
  }
  std::vector<HostTextClause> clauses;
  for (pigment::TextWord& word : words.words)
    clauses.push_back({.term = std::move(word.word), .count = word.count});
  return clauses;
}

Result<std::vector<HostTextClause>> ReadClauses(pigment::WordReader& reader, std::string_view text,
                                                int32_t grammar) {
  if (grammar == PIGMENT_QUERY_WORDS) return ReadWords(reader, text);
  if (grammar != PIGMENT_QUERY_CLAUSES && grammar != PIGMENT_QUERY_CLAUSES_ALL) {
    return pigment::InvalidArgument(fmt::format(
        "options.grammar is {}, expected {} (words), {} (clauses) or {} (all clauses)", grammar,
        static_cast<int>(PIGMENT_QUERY_WORDS), static_cast<int>(PIGMENT_QUERY_CLAUSES),
        static_cast<int>(PIGMENT_QUERY_CLAUSES_ALL)));
  }
  PIGMENT_ASSIGN_OR_RETURN(
      std::vector<pigment::TextClause> read,
      pigment::ParseTextQuery(text, grammar == PIGMENT_QUERY_CLAUSES_ALL, reader));
  std::vector<HostTextClause> clauses;
  for (pigment::TextClause& clause : read) {
    if (clause.kind == pigment::TextClause::Kind::kPhrase) {
      return pigment::Status(
          pigment::Code::kUnimplemented,
          fmt::format("a query has a phrase, of the terms \"{}\": an index of a host's texts "
                      "has no places of words, by which phrases are found",
                      fmt::join(clause.terms, " ")));
    }
    clauses.push_back({.term = std::move(clause.terms[0]),
                       .count = clause.count,
                       .is_prefix = clause.kind == pigment::TextClause::Kind::kPrefix,
                       .is_required = clause.is_required});
  }
  return clauses;
}

}  // namespace

pigment_status pigment_text_analyzer_new(const char* settings_json, size_t settings_json_size,
                                         pigment_text_analyzer** analyzer, pigment_error** error) {
  const auto clear = [analyzer] {
    if (analyzer != nullptr) *analyzer = nullptr;
  };
  return pigment::abi::Call(error, clear, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{analyzer, "analyzer"}}));
    PIGMENT_ASSIGN_OR_RETURN(const pigment::AnalyzerSettings settings,
                             ReadSettings(settings_json, settings_json_size));
    PIGMENT_ASSIGN_OR_RETURN(auto made, pigment::Analyzer::Make(settings));
    *analyzer = new pigment_text_analyzer(std::move(made));
    return Status::Ok();
  });
}

void pigment_text_analyzer_free(pigment_text_analyzer* analyzer) {
  if (pigment::abi::IsHandle(analyzer)) delete analyzer;
}

pigment_status pigment_host_text_elements(pigment_text_analyzer* analyzer, const char* text,
                                          size_t text_size, pigment_buffer** elements,
                                          pigment_error** error) {
  const auto clear = [elements] { pigment::abi::ClearBuffer(elements); };
  return pigment::abi::Call(error, clear, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(analyzer, "analyzer"));
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{elements, "elements"}}));
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view read,
                             pigment::abi::ReadBytes(text, text_size, "text"));
    PIGMENT_ASSIGN_OR_RETURN(const pigment::TextWords words,
                             pigment::WordsOfText(analyzer->reader, read));
    *elements = pigment::abi::NewElements(pigment::ElementsOfText(words, analyzer->mark));
    return Status::Ok();
  });
}

pigment_status pigment_text_query_new(pigment_text_analyzer* analyzer,
                                      const pigment_text_query_options* options,
                                      pigment_text_query** query, pigment_error** error) {
  const auto clear = [query] {
    if (query != nullptr) *query = nullptr;
  };
  return pigment::abi::Call(error, clear, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(analyzer, "analyzer"));
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{query, "query"}}));
    PIGMENT_ASSIGN_OR_RETURN(const pigment_text_query_options copy,
                             pigment::abi::ReadStruct(options, "options"));
    PIGMENT_RETURN_IF_ERROR(CheckParameters(copy));
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view text,
                             pigment::abi::ReadBytes(copy.words, copy.words_size, "options.words"));
    PIGMENT_ASSIGN_OR_RETURN(std::vector<pigment::HostTextClause> clauses,
                             ReadClauses(analyzer->reader, text, copy.grammar));
    *query = new pigment_text_query(analyzer, std::move(clauses),
                                    {.k1 = copy.k1, .b = copy.b, .analyzer_mark = analyzer->mark});
    return Status::Ok();
  });
}

pigment_status pigment_text_query_count(pigment_text_query* query, pigment_host_search* search,
                                        pigment_error** error) {
  return pigment::abi::Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(query, "query"));
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(search, "search"));
    if (!search->text || search->text->query() != query->query.get())
      return pigment::InvalidArgument("argument search was not made with this query");
    if (search->text->has_filter())
      return pigment::InvalidArgument("argument search has conditions, and all rows are counted");
    const uint64_t pins = search->pins();
    const auto counts = search->text->Count();
    search->pages_read += search->pins() - pins;
    PIGMENT_RETURN_IF_ERROR(counts.status());
    query->query->Add(*counts);
    query->scorer.reset();
    return Status::Ok();
  });
}

pigment_status pigment_text_query_score(pigment_text_query* query, const char* text,
                                        size_t text_size, double* score, pigment_error** error) {
  const auto clear = [score] {
    if (score != nullptr) *score = 0;
  };
  return pigment::abi::Call(error, clear, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckHandle(query, "query"));
    PIGMENT_RETURN_IF_ERROR(pigment::abi::CheckNotNull({{score, "score"}}));
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view read,
                             pigment::abi::ReadBytes(text, text_size, "text"));
    PIGMENT_ASSIGN_OR_RETURN(const pigment::TextWords words,
                             pigment::WordsOfText(query->analyzer->reader, read));
    if (!query->scorer) query->scorer.emplace(query->query->Scorer());
    const pigment::ScoreSum sum = pigment::ScoreOfText(*query->query, *query->scorer, words);
    *score = sum != 0 ? -static_cast<double>(sum) * pigment::kScoreUnit : 0;
    return Status::Ok();
  });
}

void pigment_text_query_free(pigment_text_query* query) {
  if (pigment::abi::IsHandle(query)) delete query;
}

// SPDX-License-Identifier: Apache-2.0
//
// Ranked texts of a host's rows. A column has the words of its text as elements of a list
// (host_keys.h), so that everything that keeps keys keeps them:
//
//   0x00, u32 identity of the analyzer, u32 words of the text   once, where it has any
//   word, 0x00, count                                           for each word: how often it is
//   there
//
// Numbers have their highest byte first; a count is one byte below 255, or 255 and a u32. A word
// has no NUL. So the rows with a word are an interval of terms, one list for each count, and those
// of all lengths another.
//
// HostTextQuery: the clauses of a query, what was counted of them, and by that the score of a text.
// Queries are changed by one thread; analyzers are shared, a WordReader is of one thread.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "engine/fulltext/analyzer.h"
#include "engine/fulltext/bm25.h"

namespace pigment {

struct TextWord {
  std::string word;
  uint32_t count;
};
struct TextWords {
  std::vector<TextWord> words;  // ascending, each once
  uint32_t length = 0;          // how many the text has
};
Result<TextWords> WordsOfText(WordReader& reader, std::string_view text);

// Tells which analyzer an element's text was read by.
uint32_t AnalyzerMark(const Analyzer& analyzer);

// Ascending.
std::vector<std::string> ElementsOfText(const TextWords& words, uint32_t analyzer_mark);

// What elements begin with: of the lengths, and of a word.
std::string_view TextLengthPrefix();
std::string TextWordPrefix(std::string_view word);
// The rest of an element behind its prefix. None: it is damaged.
struct TextLength {
  uint32_t analyzer_mark;
  uint32_t length;  // not 0
};
std::optional<TextLength> ReadTextLength(std::string_view rest);
std::optional<uint32_t> ReadTextCount(std::string_view rest);  // not 0

// What a query asks for. All words that begin with a prefix count as one.
struct HostTextClause {
  std::string term;    // a word, or what words begin with; not empty
  uint32_t count = 1;  // how often the query has it
  bool is_prefix = false;
  bool is_required = false;  // a text without it scores 0
};

// What some rows have: statistics, and for each clause of a query the rows with it.
struct HostTextCounts {
  Bm25Statistics all;
  std::vector<uint64_t> documents;  // by clause
};

// What the clauses of a query are worth. One thread.
class HostTextScorer {
 public:
  ScoreSum Of(size_t clause, uint32_t count, uint32_t length) {
    return weights_[clause].Of(shares_.Of(count, length));
  }

 private:
  friend class HostTextQuery;
  explicit HostTextScorer(const Bm25Shares& shares) : shares_(shares) {}

  Bm25Shares shares_;
  std::vector<Bm25Weight> weights_;
};

class HostTextQuery {
 public:
  struct Settings {
    double k1;
    double b;
    uint32_t analyzer_mark;
  };
  // k1 and b as engine/record/text_index.h has them. REQUIRES: no two clauses have one term and are
  // both words, or both prefixes.
  HostTextQuery(std::vector<HostTextClause> clauses, const Settings& settings);

  const std::vector<HostTextClause>& clauses() const { return clauses_; }  // ascending by term
  const std::vector<std::string>& prefixes() const { return prefixes_; }   // of their elements
  // Which clauses are words, and which prefixes.
  const std::vector<size_t>& of_words() const { return of_words_; }
  const std::vector<size_t>& of_prefixes() const { return of_prefixes_; }
  size_t required() const { return required_; }  // how many are
  uint32_t analyzer_mark() const { return settings_.analyzer_mark; }

  // How often a row has a word, by what stands behind the clause's prefix in an element. None: it
  // is damaged.
  std::optional<uint32_t> CountIn(size_t clause, std::string_view rest) const;

  // Rows of some source more.
  void Add(const HostTextCounts& counts);
  const HostTextCounts& counts() const { return counts_; }

  HostTextScorer Scorer() const;

 private:
  const std::vector<HostTextClause> clauses_;
  const Settings settings_;
  std::vector<std::string> prefixes_;
  std::vector<size_t> of_words_;
  std::vector<size_t> of_prefixes_;
  size_t required_ = 0;
  HostTextCounts counts_;
};

// What two elements of a clause count together.
uint32_t AddTextCounts(uint32_t a, uint32_t b);

// The score of a text of this length that has clause i count_of(i) times, by what was counted.
template <typename CountOf>
ScoreSum ScoreOfCounts(const HostTextQuery& query, HostTextScorer& scorer, uint32_t length,
                       const CountOf& count_of) {
  ScoreSum sum = 0;
  for (size_t i = 0; i < query.clauses().size(); ++i) {
    const uint32_t count = count_of(i);
    if (count != 0) {
      sum += scorer.Of(i, count, length);
    } else if (query.clauses()[i].is_required) {
      return 0;
    }
  }
  return sum;
}
// The same of a text.
ScoreSum ScoreOfText(const HostTextQuery& query, HostTextScorer& scorer, const TextWords& text);

}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// Words of texts as elements, and scores.

#include "engine/segment/host_text.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/base/big_endian.h"
#include "engine/base/bytes.h"
#include "engine/base/checksum.h"

namespace pigment {
namespace {

constexpr unsigned char kManyTimes = 255;
constexpr size_t kNumberBytes = sizeof(uint32_t);

std::vector<HostTextClause> Sorted(std::vector<HostTextClause> clauses) {
  std::sort(clauses.begin(), clauses.end(), [](const HostTextClause& a, const HostTextClause& b) {
    return a.term != b.term ? a.term < b.term : a.is_prefix < b.is_prefix;
  });
  return clauses;
}

bool IsOf(const HostTextClause& clause, const std::string& word) {
  return clause.is_prefix ? word.starts_with(clause.term) : word == clause.term;
}

}  // namespace

Result<TextWords> WordsOfText(WordReader& reader, std::string_view text) {
  std::vector<std::string> terms;
  std::string term;
  PIGMENT_RETURN_IF_ERROR(reader.VisitWords(text, [&](const Word& word) -> Status {
    PIGMENT_RETURN_IF_ERROR(reader.TermOf(text.substr(word.begin, word.end - word.begin), term));
    if (!term.empty()) terms.push_back(term);
    return Status::Ok();
  }));
  std::sort(terms.begin(), terms.end());
  TextWords out;
  out.length =
      static_cast<uint32_t>(std::min<size_t>(terms.size(), std::numeric_limits<uint32_t>::max()));
  for (std::string& word : terms) {
    if (!out.words.empty() && out.words.back().word == word) {
      ++out.words.back().count;
    } else {
      out.words.push_back({std::move(word), 1});
    }
  }
  return out;
}

uint32_t AnalyzerMark(const Analyzer& analyzer) {
  return static_cast<uint32_t>(Xxh3_64(AsBytes(std::string_view(analyzer.identity())), 0));
}

std::vector<std::string> ElementsOfText(const TextWords& words, uint32_t analyzer_mark) {
  std::vector<std::string> elements;
  if (words.length == 0) return elements;
  elements.reserve(words.words.size() + 1);
  std::string& length = elements.emplace_back(TextLengthPrefix());
  AppendBigEndian(analyzer_mark, length);
  AppendBigEndian(words.length, length);
  for (const TextWord& word : words.words) {
    std::string& element = elements.emplace_back(TextWordPrefix(word.word));
    if (word.count < kManyTimes) {
      element += static_cast<char>(word.count);
    } else {
      element += static_cast<char>(kManyTimes);
      AppendBigEndian(word.count, element);
    }
  }
  return elements;
}

std::string_view TextLengthPrefix() { return std::string_view("\0", 1); }

std::string TextWordPrefix(std::string_view word) { return std::string(word) + '\0'; }

std::optional<TextLength> ReadTextLength(std::string_view rest) {
  if (rest.size() != 2 * kNumberBytes) return std::nullopt;
  const TextLength read{.analyzer_mark = ReadBigEndian<uint32_t>(rest),
                        .length = ReadBigEndian<uint32_t>(rest.substr(kNumberBytes))};
  return read.length != 0 ? std::optional(read) : std::nullopt;
}

std::optional<uint32_t> ReadTextCount(std::string_view rest) {
  if (rest.empty()) return std::nullopt;
  const auto first = static_cast<unsigned char>(rest[0]);
  if (first < kManyTimes)
    return rest.size() == 1 && first != 0 ? std::optional<uint32_t>(first) : std::nullopt;
  if (rest.size() != 1 + kNumberBytes) return std::nullopt;
  const uint32_t count = ReadBigEndian<uint32_t>(rest.substr(1));
  return count >= kManyTimes ? std::optional(count) : std::nullopt;
}

HostTextQuery::HostTextQuery(std::vector<HostTextClause> clauses, const Settings& settings)
    : clauses_(Sorted(std::move(clauses))), settings_(settings) {
  for (size_t i = 0; i < clauses_.size(); ++i) {
    const HostTextClause& clause = clauses_[i];
    prefixes_.push_back(clause.is_prefix ? clause.term : TextWordPrefix(clause.term));
    (clause.is_prefix ? of_prefixes_ : of_words_).push_back(i);
    required_ += clause.is_required;
  }
  counts_.documents.resize(clauses_.size());
}

std::optional<uint32_t> HostTextQuery::CountIn(size_t clause, std::string_view rest) const {
  if (!clauses_[clause].is_prefix) return ReadTextCount(rest);
  const size_t end = rest.find('\0');  // of the word
  return end != rest.npos ? ReadTextCount(rest.substr(end + 1)) : std::nullopt;
}

void HostTextQuery::Add(const HostTextCounts& counts) {
  counts_.all.documents += counts.all.documents;
  counts_.all.words += counts.all.words;
  for (size_t i = 0; i < counts_.documents.size(); ++i) counts_.documents[i] += counts.documents[i];
}

HostTextScorer HostTextQuery::Scorer() const {
  HostTextScorer scorer(Bm25Shares(settings_.k1, settings_.b, counts_.all));
  for (size_t i = 0; i < clauses_.size(); ++i)
    scorer.weights_.emplace_back(settings_.k1, counts_.all.documents, counts_.documents[i],
                                 clauses_[i].count);
  return scorer;
}

uint32_t AddTextCounts(uint32_t a, uint32_t b) {
  return a > std::numeric_limits<uint32_t>::max() - b ? std::numeric_limits<uint32_t>::max()
                                                      : a + b;
}

ScoreSum ScoreOfText(const HostTextQuery& query, HostTextScorer& scorer, const TextWords& text) {
  return ScoreOfCounts(query, scorer, text.length, [&](size_t i) {
    const HostTextClause& clause = query.clauses()[i];
    auto found = std::lower_bound(
        text.words.begin(), text.words.end(), clause.term,
        [](const TextWord& word, const std::string& to) { return word.word < to; });
    uint32_t count = 0;
    for (; found != text.words.end() && IsOf(clause, found->word); ++found)
      count = AddTextCounts(count, found->count);
    return count;
  });
}

}  // namespace pigment

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

HostTextQuery::HostTextQuery(TextWords words, const Settings& settings)
    : words_(std::move(words)), settings_(settings) {
  for (const TextWord& word : words_.words) prefixes_.push_back(TextWordPrefix(word.word));
  counts_.documents.resize(words_.words.size());
}

void HostTextQuery::Add(const HostTextCounts& counts) {
  counts_.all.documents += counts.all.documents;
  counts_.all.words += counts.all.words;
  for (size_t i = 0; i < counts_.documents.size(); ++i) counts_.documents[i] += counts.documents[i];
}

HostTextScorer HostTextQuery::Scorer() const {
  HostTextScorer scorer(Bm25Shares(settings_.k1, settings_.b, counts_.all));
  for (size_t i = 0; i < words_.words.size(); ++i)
    scorer.weights_.emplace_back(settings_.k1, counts_.all.documents, counts_.documents[i],
                                 words_.words[i].count);
  return scorer;
}

ScoreSum ScoreOfText(const HostTextQuery& query, HostTextScorer& scorer, const TextWords& text) {
  ScoreSum sum = 0;
  for (size_t i = 0; i < query.words().size(); ++i) {
    const std::string& wanted = query.words()[i].word;
    const auto found = std::lower_bound(
        text.words.begin(), text.words.end(), wanted,
        [](const TextWord& word, const std::string& to) { return word.word < to; });
    if (found != text.words.end() && found->word == wanted)
      sum += scorer.Of(i, found->count, text.length);
  }
  return sum;
}

}  // namespace pigment

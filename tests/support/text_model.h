// SPDX-License-Identifier: Apache-2.0
//
// The plain model of ranked search: every live document is analyzed, every clause is looked for in
// every document, BM25 is computed as its formula stands, and all that match are sorted. What text
// search tests compare with. Header only; one thread.

#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/query/text_query.h"
#include "engine/record/record.h"
#include "engine/record/text_index.h"
#include "tests/support/status_matchers.h"

namespace pigment {

struct ModelHit {
  std::string id;
  float score = 0;
  double textbook = 0;  // the formula in double precision
};

class TextModel {
 public:
  // `live` in insertion order; borrowed.
  TextModel(const TextIndexSettings& settings, const std::vector<const Record*>& live)
      : settings_(settings), analyzer_(Analyzer::Make(settings.analyzer).value()), live_(live) {
    WordReader reader(*analyzer_);
    for (const Record* record : live) {
      std::vector<std::string>& places = documents_.emplace_back();
      if (!record->document) continue;
      const std::string& text = *record->document;
      EXPECT_OK(reader.VisitWords(text, [&](const Word& word) {
        return reader.TermOf(std::string_view(text).substr(word.begin, word.end - word.begin),
                             places.emplace_back());
      }));
    }
    for (const std::vector<std::string>& places : documents_) {
      lengths_.push_back(LengthOf(places));
      words_ += static_cast<double>(lengths_.back());
      count_ += lengths_.back() != 0;
    }
  }

  // The k best of those that `passes` says yes to.
  template <typename Passes>
  std::vector<ModelHit> Search(const std::string& query, bool all, size_t k,
                               const Passes& passes) const {
    WordReader reader(*analyzer_);
    const std::vector<TextClause> clauses = ParseTextQuery(query, all, reader).value();
    std::vector<std::vector<uint32_t>> frequencies;
    std::vector<double> idfs;
    for (const TextClause& clause : clauses) {
      std::vector<uint32_t>& of_rows = frequencies.emplace_back();
      double with = 0;
      for (const std::vector<std::string>& places : documents_) {
        of_rows.push_back(CountOf(clause, places));
        with += of_rows.back() != 0;
      }
      idfs.push_back(std::log(1 + (count_ - with + 0.5) / (with + 0.5)));
    }
    std::vector<ModelHit> hits;
    for (size_t row = 0; row < live_.size(); ++row) {
      bool matches = false, has_required = false, misses = false;
      int64_t sum = 0;
      ModelHit hit{.id = live_[row]->id};
      for (size_t i = 0; i < clauses.size(); ++i) {
        const uint32_t frequency = frequencies[i][row];
        has_required |= clauses[i].is_required;
        misses |= clauses[i].is_required && frequency == 0;
        matches |= frequency != 0;
        if (frequency == 0) continue;
        const double k1 = settings_.k1, b = settings_.b;
        const auto length = static_cast<double>(lengths_[row]);
        const double norm = k1 * (1 - b) + k1 * b * count_ / words_ * length;
        const double weight = clauses[i].count * idfs[i] * (k1 + 1) / 0x1p-32;
        sum += static_cast<int64_t>(weight * (1 / (1 + norm / static_cast<double>(frequency))));
        hit.textbook += clauses[i].count * idfs[i] * frequency * (k1 + 1) /
                        (frequency + k1 * (1 - b + b * length / (words_ / count_)));
      }
      if (misses || (!has_required && !matches) || !passes(*live_[row])) continue;
      hit.score = static_cast<float>(static_cast<double>(sum) * 0x1p-32);
      hits.push_back(hit);
    }
    std::stable_sort(hits.begin(), hits.end(),
                     [](const ModelHit& a, const ModelHit& b) { return a.score > b.score; });
    if (hits.size() > k) hits.resize(k);
    return hits;
  }

 private:
  static size_t LengthOf(const std::vector<std::string>& places) {
    return static_cast<size_t>(std::count_if(places.begin(), places.end(),
                                             [](const auto& term) { return !term.empty(); }));
  }
  static uint32_t CountOf(const TextClause& clause, const std::vector<std::string>& places) {
    uint32_t count = 0;
    for (size_t place = 0; place < places.size(); ++place) {
      if (clause.kind == TextClause::Kind::kPrefix) {
        count += places[place].starts_with(clause.terms[0]) && !places[place].empty();
        continue;
      }
      bool is_there = true;
      for (size_t i = 0; i < clause.terms.size(); ++i) {
        const size_t at = place + clause.places[i];
        is_there = is_there && at < places.size() && places[at] == clause.terms[i];
      }
      count += is_there;
    }
    return count;
  }

  const TextIndexSettings settings_;
  const std::shared_ptr<const Analyzer> analyzer_;
  const std::vector<const Record*>& live_;
  std::vector<std::vector<std::string>> documents_;  // terms by place; empty ones are left out
  std::vector<size_t> lengths_;
  double words_ = 0;
  double count_ = 0;
};

}  // namespace pigment

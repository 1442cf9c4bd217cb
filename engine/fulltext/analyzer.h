// SPDX-License-Identifier: Apache-2.0
//
// Documents and queries into terms. Words are those of Unicode's word boundaries (UAX #29, by ICU,
// which knows words of Chinese, Japanese, Thai, Lao, Khmer and Burmese by dictionaries); a term is
// a word folded (NFKC, case), not a stop word, and brought to its stem (Snowball). Bytes that are
// not UTF-8, and NUL, are between words. The same text gives the same terms on any thread.
//
// An Analyzer is immutable and shared by all threads; a WordReader is of one thread and borrows it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "engine/record/text_index.h"

namespace pigment {

// Longer words, and longer terms, are cut to so many bytes at a character.
inline constexpr size_t kTermBytesMax = 256;

// Where a word lies in its text.
struct Word {
  size_t begin;
  size_t end;
};

class Analyzer {
 public:
  static Result<std::shared_ptr<const Analyzer>> Make(const AnalyzerSettings& settings);
  ~Analyzer();

  const AnalyzerSettings& settings() const;
  // Settings and what else decides about terms: the versions of this analyzer, of ICU and of
  // Unicode. Texts that analyzers of one identity read give the same terms.
  const std::string& identity() const;
  // The settings in an identity; of one that cannot be read: kDataLoss without a file.
  static Result<AnalyzerSettings> SettingsOf(std::string_view identity);

 private:
  friend class WordReader;
  struct State;
  explicit Analyzer(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

class WordReader {
 public:
  explicit WordReader(const Analyzer& analyzer);
  ~WordReader();

  // Calls `visit(word)` for each word of `text`, in order; an error that it returns ends the walk.
  template <typename Visit>
  Status VisitWords(std::string_view text, const Visit& visit) {
    for (size_t at = 0; at < text.size();) {
      words_.clear();
      PIGMENT_RETURN_IF_ERROR(ReadStretch(text, at));
      for (const Word& word : words_) PIGMENT_RETURN_IF_ERROR(visit(word));
    }
    return Status::Ok();
  }

  // The term of a word; empty: it is a stop word, or has nothing that folding leaves.
  Status TermOf(std::string_view word, std::string& term);
  // The word folded alone, for prefixes.
  Status Fold(std::string_view word, std::string& folded);

 private:
  // Adds the words of some text from `at` on to words_, and moves `at` behind it.
  Status ReadStretch(std::string_view text, size_t& at);
  Status ReadByIcu(std::string_view text, size_t begin, size_t end);

  struct State;
  const Analyzer& analyzer_;
  std::unique_ptr<State> state_;
  std::vector<Word> words_;
};

}  // namespace pigment

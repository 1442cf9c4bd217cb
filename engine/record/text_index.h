// SPDX-License-Identifier: Apache-2.0
//
// What a collection's configuration says of its text index: how documents become terms, and the
// parameters of BM25. Read from JSON by the rules of docs/text-search.md, printed with every
// default filled in. Pure functions; any thread.

#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"
#include "engine/record/json_tape.h"

namespace pigment {

// Languages that words are brought to their stems in, by the names that Snowball gives them; "none"
// leaves words as they are.
inline constexpr std::array<std::string_view, 28> kTextLanguages = {
    "none",       "arabic",  "armenian", "basque",     "catalan", "danish",    "dutch",
    "english",    "finnish", "french",   "german",     "greek",   "hindi",     "hungarian",
    "indonesian", "irish",   "italian",  "lithuanian", "nepali",  "norwegian", "portuguese",
    "romanian",   "russian", "serbian",  "spanish",    "swedish", "tamil",     "turkish"};
// Those that there is a list of stop words for.
inline constexpr std::array<std::string_view, 12> kStopWordLanguages = {
    "danish",  "dutch",     "english",    "finnish", "french",  "german",
    "italian", "norwegian", "portuguese", "russian", "spanish", "swedish"};

struct AnalyzerSettings {
  std::string language = "none";
  enum class StopWords { kNone, kOfLanguage, kGiven };
  StopWords stop_words = StopWords::kNone;
  std::vector<std::string> given_stop_words = {};  // of kGiven

  bool operator==(const AnalyzerSettings&) const = default;
};

struct TextIndexSettings {
  AnalyzerSettings analyzer = {};
  double k1 = 1.2;
  double b = 0.75;
};

// Members of {"text_index": {…}} that were given.
struct TextIndexChange {
  std::optional<AnalyzerSettings> analyzer = std::nullopt;
  std::optional<double> k1 = std::nullopt;
  std::optional<double> b = std::nullopt;

  TextIndexSettings OnTopOf(const TextIndexSettings& settings) const;
};

// Node `at` of a configuration: an object. What is unknown or out of range is refused by name.
Result<TextIndexChange> ReadTextIndex(const JsonTape& tape, size_t at);
// {"language": …, "stop_words": …}, on its own.
Result<AnalyzerSettings> ReadAnalyzer(const JsonTape& tape, size_t at);

std::string TextIndexToJson(const TextIndexSettings& settings);
std::string AnalyzerToJson(const AnalyzerSettings& settings);

}  // namespace pigment

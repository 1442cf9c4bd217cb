// SPDX-License-Identifier: Apache-2.0
//
// Settings of a text index from JSON and into it.

#include "engine/record/text_index.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/limits.h"
#include "engine/record/text.h"

namespace pigment {
namespace {

constexpr double kK1Max = 100;

Result<std::string> ReadLanguage(const JsonTape& tape, size_t at) {
  const bool is_text = tape.kind(at) == JsonKind::kString;
  if (is_text && std::find(kTextLanguages.begin(), kTextLanguages.end(), tape.text(at)) !=
                     kTextLanguages.end())
    return std::string(tape.text(at));
  return InvalidArgument(fmt::format("text_index analyzer language takes one of {}, got {}",
                                     fmt::join(kTextLanguages, ", "), tape.Describe(at)));
}

Status ReadStopWords(const JsonTape& tape, size_t at, AnalyzerSettings& settings) {
  using StopWords = AnalyzerSettings::StopWords;
  constexpr std::string_view kName = "text_index analyzer stop_words";
  if (tape.kind(at) == JsonKind::kBool) {
    settings.stop_words = tape.boolean(at) ? StopWords::kOfLanguage : StopWords::kNone;
    return Status::Ok();
  }
  if (tape.kind(at) != JsonKind::kArray) {
    return InvalidArgument(
        fmt::format("{} takes true, false or a list of strings, got {}", kName, tape.Describe(at)));
  }
  if (tape.ChildCount(at) > kStopWordsMax) {
    return BeyondLimit(limit::kStopWordsMax,
                       fmt::format("{} has {} words", kName, tape.ChildCount(at)));
  }
  settings.stop_words = StopWords::kGiven;
  for (size_t i = at + 1; i < tape.end(at); i = tape.end(i)) {
    if (tape.kind(i) != JsonKind::kString || tape.text(i).empty()) {
      return InvalidArgument(fmt::format("{} takes strings of 1 to {} bytes, got {}", kName,
                                         kStopWordBytesMax, tape.Describe(i)));
    }
    if (tape.text(i).size() > kStopWordBytesMax) {
      return BeyondLimit(limit::kStopWordBytesMax,
                         fmt::format("{} has a word of {} bytes: {}", kName, tape.text(i).size(),
                                     tape.Describe(i)));
    }
    settings.given_stop_words.emplace_back(tape.text(i));
  }
  return Status::Ok();
}

Result<double> ReadNumber(const JsonTape& tape, size_t at, double most) {
  double value = -1;
  if (tape.kind(at) == JsonKind::kInteger) value = static_cast<double>(tape.integer(at));
  if (tape.kind(at) == JsonKind::kDouble) value = tape.real(at);
  if (value >= 0 && value <= most) return value;
  return InvalidArgument(fmt::format("text_index {} takes a number of 0 to {}, got {}",
                                     tape.key(at), most, tape.Describe(at)));
}

}  // namespace

TextIndexSettings TextIndexChange::OnTopOf(const TextIndexSettings& settings) const {
  return {.analyzer = analyzer.value_or(settings.analyzer),
          .k1 = k1.value_or(settings.k1),
          .b = b.value_or(settings.b)};
}

Result<AnalyzerSettings> ReadAnalyzer(const JsonTape& tape, size_t at) {
  if (tape.kind(at) != JsonKind::kObject) {
    return InvalidArgument(
        fmt::format("text_index analyzer must be an object, got {}", tape.Describe(at)));
  }
  AnalyzerSettings settings;
  for (size_t i = at + 1; i < tape.end(at); i = tape.end(i)) {
    if (tape.key(i) == "language") {
      PIGMENT_ASSIGN_OR_RETURN(settings.language, ReadLanguage(tape, i));
    } else if (tape.key(i) == "stop_words") {
      PIGMENT_RETURN_IF_ERROR(ReadStopWords(tape, i, settings));
    } else {
      return InvalidArgument(
          fmt::format("unknown key {} in the text_index analyzer, expected language or stop_words",
                      Quoted(tape.key(i))));
    }
  }
  if (settings.stop_words == AnalyzerSettings::StopWords::kOfLanguage &&
      std::find(kStopWordLanguages.begin(), kStopWordLanguages.end(), settings.language) ==
          kStopWordLanguages.end()) {
    return InvalidArgument(fmt::format(
        "text_index analyzer stop_words: true takes one of the languages {}, got \"{}\"",
        fmt::join(kStopWordLanguages, ", "), settings.language));
  }
  return settings;
}

Result<TextIndexChange> ReadTextIndex(const JsonTape& tape, size_t at) {
  if (tape.kind(at) != JsonKind::kObject) {
    return InvalidArgument(
        fmt::format("text_index must be an object or null, got {}", tape.Describe(at)));
  }
  TextIndexChange change;
  for (size_t i = at + 1; i < tape.end(at); i = tape.end(i)) {
    if (tape.key(i) == "analyzer") {
      PIGMENT_ASSIGN_OR_RETURN(change.analyzer, ReadAnalyzer(tape, i));
    } else if (tape.key(i) == "k1") {
      PIGMENT_ASSIGN_OR_RETURN(change.k1, ReadNumber(tape, i, kK1Max));
    } else if (tape.key(i) == "b") {
      PIGMENT_ASSIGN_OR_RETURN(change.b, ReadNumber(tape, i, 1));
    } else {
      return InvalidArgument(fmt::format("unknown key {} in text_index, expected analyzer, k1 or b",
                                         Quoted(tape.key(i))));
    }
  }
  return change;
}

std::string AnalyzerToJson(const AnalyzerSettings& settings) {
  std::string json = fmt::format(R"({{"language":"{}","stop_words":)", settings.language);
  switch (settings.stop_words) {
    case AnalyzerSettings::StopWords::kNone:
      json += "false";
      break;
    case AnalyzerSettings::StopWords::kOfLanguage:
      json += "true";
      break;
    case AnalyzerSettings::StopWords::kGiven:
      json += '[';
      for (const std::string& word : settings.given_stop_words) {
        if (json.back() != '[') json += ',';
        AppendJsonString(word, json);
      }
      json += ']';
      break;
  }
  return json + '}';
}

std::string TextIndexToJson(const TextIndexSettings& settings) {
  std::string json = R"({"analyzer":)" + AnalyzerToJson(settings.analyzer) + R"(,"k1":)";
  AppendJsonDouble(settings.k1, json);
  json += R"(,"b":)";
  AppendJsonDouble(settings.b, json);
  return json + '}';
}

}  // namespace pigment

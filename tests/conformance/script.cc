// SPDX-License-Identifier: Apache-2.0
//
// Reading conformance scripts and comparing answers with what they expect.

#include <cmath>
#include <fstream>
#include <stdexcept>

#include "tests/conformance/runner.h"

namespace conformance {
namespace {

std::string Show(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Differ(const std::string& path, const Json& expected, const Json& actual) {
  return path + ": expected " + Show(expected) + ", got " + Show(actual);
}

bool IsSpecial(const Json& expected, const char* word) {
  return expected.is_object() && expected.size() == 1 && expected.contains(word);
}

// Within metadata 1 and 1.0 are different values; elsewhere numbers are f32 that went through text.
bool SameNumber(const Json& expected, const Json& actual, bool is_exact) {
  if (is_exact) return expected.is_number_float() == actual.is_number_float() && expected == actual;
  const double a = expected.get<double>(), b = actual.get<double>();
  return a == b || std::fabs(a - b) <= 1e-5 * std::max(std::fabs(a), std::fabs(b)) + 1e-7;
}

std::optional<std::string> Compare(const Json& expected, const Json& actual,
                                   const std::string& path, bool is_exact) {
  if (IsSpecial(expected, "$any")) return std::nullopt;
  if (expected.is_number() && actual.is_number()) {
    if (SameNumber(expected, actual, is_exact)) return std::nullopt;
    return Differ(path, expected, actual);
  }
  if (expected.type() != actual.type()) return Differ(path, expected, actual);
  if (expected.is_array()) {
    if (expected.size() != actual.size()) return Differ(path, expected, actual);
    for (size_t i = 0; i < expected.size(); ++i) {
      if (auto why =
              Compare(expected[i], actual[i], path + "[" + std::to_string(i) + "]", is_exact))
        return why;
    }
    return std::nullopt;
  }
  if (!expected.is_object()) {
    return expected == actual ? std::nullopt
                              : std::optional<std::string>(Differ(path, expected, actual));
  }
  for (const auto& [key, value] : expected.items()) {
    const std::string inner = path + "." + key;
    if (IsSpecial(value, "$absent")) {
      if (actual.contains(key))
        return inner + ": expected to be absent, got " + Show(actual.at(key));
      continue;
    }
    if (!actual.contains(key)) return inner + ": is missing in " + Show(actual);
    const bool metadata = key == "metadatas" || key == "metadata";
    if (auto why = Compare(value, actual.at(key), inner, is_exact || metadata)) return why;
  }
  if (is_exact && expected.size() < actual.size()) return Differ(path, expected, actual);
  return std::nullopt;
}

struct NamedNumber {
  const char* name;
  int32_t number;
};
constexpr NamedNumber kCodes[] = {
    {"CANCELLED", PIGMENT_CANCELLED},
    {"UNKNOWN", PIGMENT_UNKNOWN},
    {"INVALID_ARGUMENT", PIGMENT_INVALID_ARGUMENT},
    {"DEADLINE_EXCEEDED", PIGMENT_DEADLINE_EXCEEDED},
    {"NOT_FOUND", PIGMENT_NOT_FOUND},
    {"ALREADY_EXISTS", PIGMENT_ALREADY_EXISTS},
    {"RESOURCE_EXHAUSTED", PIGMENT_RESOURCE_EXHAUSTED},
    {"FAILED_PRECONDITION", PIGMENT_FAILED_PRECONDITION},
    {"UNIMPLEMENTED", PIGMENT_UNIMPLEMENTED},
    {"INTERNAL", PIGMENT_INTERNAL},
    {"UNAVAILABLE", PIGMENT_UNAVAILABLE},
    {"DATA_LOSS", PIGMENT_DATA_LOSS},
};
constexpr NamedNumber kDetails[] = {
    {"NONE", PIGMENT_DETAIL_NONE},
    {"CLOSED", PIGMENT_DETAIL_CLOSED},
    {"STALE", PIGMENT_DETAIL_STALE},
    {"NO_EMBEDDING_FUNCTION", PIGMENT_DETAIL_NO_EMBEDDING_FUNCTION},
    {"DIMENSION", PIGMENT_DETAIL_DIMENSION},
    {"NOT_FINITE", PIGMENT_DETAIL_NOT_FINITE},
    {"DUPLICATE_ID", PIGMENT_DETAIL_DUPLICATE_ID},
    {"FILTER", PIGMENT_DETAIL_FILTER},
    {"NAME", PIGMENT_DETAIL_NAME},
    {"METADATA", PIGMENT_DETAIL_METADATA},
    {"EMBEDDING_FUNCTION", PIGMENT_DETAIL_EMBEDDING_FUNCTION},
    {"LIMIT", PIGMENT_DETAIL_LIMIT},
};

template <size_t kCount>
int32_t Find(const NamedNumber (&table)[kCount], const std::string& name) {
  for (const NamedNumber& one : table) {
    if (name == one.name) return one.number;
  }
  throw std::runtime_error("unknown name " + name + " in an expected error");
}

}  // namespace

std::optional<std::string> Mismatch(const Json& expected, const Json& actual,
                                    const std::string& path) {
  return Compare(expected, actual, path, false);
}

std::optional<std::string> ErrorMismatch(const Json& expected, const abi_test::Outcome& outcome) {
  if (outcome.status != Find(kCodes, expected.at("code"))) return "another code";
  if (expected.contains("detail") && outcome.detail != Find(kDetails, expected.at("detail")))
    return "another detail";
  if (expected.contains("row") && outcome.row != expected.at("row").get<int64_t>())
    return "another row";
  for (const Json& part : expected.value("message", Json::array())) {
    if (outcome.message.find(part.get<std::string>()) == std::string::npos)
      return "no " + Show(part) + " in it";
  }
  return std::nullopt;
}

std::vector<Script> ReadScripts(const std::string& path) {
  std::ifstream stream(path);
  if (!stream) throw std::runtime_error("cannot read " + path);
  std::vector<Script> scripts;
  std::string text;
  for (size_t line = 1; std::getline(stream, text); ++line) {
    const std::string place = path + ":" + std::to_string(line) + ": ";
    if (text.empty()) continue;
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded() || !json.is_object())
      throw std::runtime_error(place + "not a JSON object");
    if (json.contains("script")) {
      scripts.push_back({path, json.at("script"), json.value("home", "both"), {}});
      continue;
    }
    if (scripts.empty() || !json.contains("op"))
      throw std::runtime_error(place + "neither a script nor a step in one");
    if (json.contains("expect") == json.contains("error")) {
      throw std::runtime_error(place + "a step has either expect or error");
    }
    scripts.back().steps.push_back({line, json});
  }
  return scripts;
}

}  // namespace conformance

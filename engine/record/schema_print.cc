// SPDX-License-Identifier: Apache-2.0
//
// Printing a schema, in the order in which Chroma does.

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "engine/record/json_tape.h"
#include "engine/record/schema.h"
#include "engine/record/text.h"

namespace pigment {
namespace {

std::string Index(std::string_view name, bool enabled, std::string_view config = "{}") {
  return fmt::format(R"("{}":{{"enabled":{},"config":{}}})", name, enabled, config);
}

// {"space":…,"source_key":…,"hnsw":{…}} of {"hnsw":{"space":…,…},"spann":null}.
Result<std::string> VectorConfig(std::string_view configuration_json, bool names_source) {
  if (configuration_json.empty()) return std::string("{}");
  PIGMENT_ASSIGN_OR_RETURN(const JsonTape tape,
                           JsonTape::Parse(configuration_json, "configuration", Detail::kNone));
  std::string space, kind, parameters, element;
  for (size_t i = 1; i < tape.size(); i = tape.end(i)) {
    if (tape.key(i) == "text_index") continue;
    if (tape.kind(i) == JsonKind::kString) {
      element = fmt::format(R"(,"{}":"{}")", tape.key(i), tape.text(i));
      continue;
    }
    if (tape.kind(i) != JsonKind::kObject) continue;
    kind = tape.key(i);
    for (size_t member = i + 1; member < tape.end(i); member = tape.end(member)) {
      if (tape.kind(member) == JsonKind::kString) {
        space = tape.text(member);
        continue;
      }
      parameters += fmt::format(R"({}"{}":)", parameters.empty() ? "" : ",", tape.key(member));
      if (tape.kind(member) == JsonKind::kInteger) {
        parameters += std::to_string(tape.integer(member));
      } else {
        AppendJsonDouble(tape.real(member), parameters);
      }
    }
  }
  return fmt::format(R"({{"space":"{}"{},"{}":{{{}}}{}}})", space,
                     names_source ? R"(,"source_key":"#document")" : "", kind, parameters, element);
}

// {"text_index":{…}} of a configuration that has one.
std::string TextConfig(std::string_view configuration_json) {
  const std::optional<TextIndexSettings> settings = ReadTextIndexSettings(configuration_json);
  return settings ? R"({"text_index":)" + TextIndexToJson(*settings) + "}" : "{}";
}

struct ScalarType {
  std::string_view name;
  std::string_view index;
  ValueTypes values;
};
constexpr ScalarType kNumbersAndBools[] = {
    {"int", "int_inverted_index", kIntValues},
    {"float", "float_inverted_index", kFloatValues},
    {"bool", "bool_inverted_index", kBoolValues},
};

std::string Key(const IndexRules::Key& rule) {
  std::string types;
  const auto append = [&](std::string_view name, const std::string& indexes) {
    types += fmt::format(R"({}"{}":{{{}}})", types.empty() ? "" : ",", name, indexes);
  };
  std::string text = rule.gives_full_text ? Index("fts_index", false) : "";
  if ((rule.given & kStringValues) != 0) {
    text += (text.empty() ? "" : ",") +
            Index("string_inverted_index", (rule.indexed & kStringValues) != 0);
  }
  if (!text.empty()) append("string", text);
  for (const ScalarType& type : kNumbersAndBools) {
    if ((rule.given & type.values) != 0)
      append(type.name, Index(type.index, (rule.indexed & type.values) != 0));
  }
  return "{" + types + "}";
}

}  // namespace

Result<std::string> PrintSchema(const IndexRules& rules, std::string_view configuration_json) {
  PIGMENT_ASSIGN_OR_RETURN(const std::string config, VectorConfig(configuration_json, false));
  PIGMENT_ASSIGN_OR_RETURN(const std::string config_of_embeddings,
                           VectorConfig(configuration_json, true));
  std::string json = R"({"defaults":{"string":{)" + Index("fts_index", false) + "," +
                     Index("string_inverted_index", (rules.defaults & kStringValues) != 0) +
                     R"(},"float_list":{)" + Index("vector_index", false, config) +
                     R"(},"sparse_vector":{)" +
                     Index("sparse_vector_index", false, R"({"bm25":false})") + "}";
  for (const ScalarType& type : kNumbersAndBools) {
    json += fmt::format(R"(,"{}":{{{}}})", type.name,
                        Index(type.index, (rules.defaults & type.values) != 0));
  }
  json += R"(},"keys":{"#document":{"string":{)" +
          Index("fts_index", rules.full_text, TextConfig(configuration_json)) + "," +
          Index("string_inverted_index", false) + R"(}},"#embedding":{"float_list":{)" +
          Index("vector_index", true, config_of_embeddings) + "}}";
  for (const auto& [key, rule] : rules.keys) {
    json += ",";
    AppendJsonString(key, json);
    json += ":" + Key(rule);
  }
  json += "}";
  if (ReadNestedMetadata(configuration_json)) json += R"(,"nested_metadata":true)";
  return json + "}";
}

}  // namespace pigment

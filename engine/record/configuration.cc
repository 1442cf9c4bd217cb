// SPDX-License-Identifier: Apache-2.0
//
// Collection configuration: one table of parameters, from which parsing, defaults, printing and
// updates follow.

#include "engine/record/configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "engine/record/json_tape.h"
#include "engine/record/text.h"

namespace pigment {
namespace {

struct Parameter {
  std::string_view name;
  std::string_view legacy;  // its name among a collection's metadata; empty: it has none
  double standard;          // the default
  double least;
  double most;
  bool integral;
  bool changeable;  // by a modify
  bool printed;     // also when it was not given
};

// In place of the bounds of a parameter that has no effect: its default is all it takes.
constexpr Parameter Fixed(std::string_view name, std::string_view legacy, double standard,
                          bool integral, bool changeable) {
  return {name, legacy, standard, standard, standard, integral, changeable, true};
}

constexpr double kCountMax = 2147483647;  // what Chroma's clients can hold
constexpr std::string_view kLegacyPrefix = "hnsw:";
constexpr std::string_view kLegacySpace = "hnsw:space";
constexpr std::string_view kFullVectors = "full_vectors";
constexpr std::string_view kTextIndex = "text_index";
constexpr std::string_view kNestedMetadata = "nested_metadata";

// num_threads has no default that would mean the same on another machine: without it, all cores.
constexpr std::array kHnsw = {
    Parameter{"ef_construction", "hnsw:construction_ef", 100, 1, kCountMax, true, false, true},
    Parameter{"ef_search", "hnsw:search_ef", 100, 1, kCountMax, true, true, true},
    Parameter{"max_neighbors", "hnsw:M", 16, 2, 10000, true, false, true},
    Parameter{"num_threads", "hnsw:num_threads", 0, 1, 65536, true, true, false},
    Parameter{"batch_size", "hnsw:batch_size", 100, 2, kCountMax, true, true, true},
    Parameter{"sync_threshold", "hnsw:sync_threshold", 1000, 2, kCountMax, true, true, true},
    Fixed("resize_factor", "hnsw:resize_factor", 1.2, false, true),
};

constexpr std::array kSpann = {
    Parameter{"search_nprobe", "", 64, 1, kCountMax, true, true, true},
    Fixed("write_nprobe", "", 32, true, false),
    Fixed("search_rng_factor", "", 1, false, false),
    Fixed("search_rng_epsilon", "", 10, false, false),
    Fixed("write_rng_factor", "", 1, false, false),
    Fixed("write_rng_epsilon", "", 5, false, false),
    Fixed("nreplica_count", "", 8, true, false),
    Parameter{"split_threshold", "", 50, 25, 200, true, false, true},
    Fixed("merge_threshold", "", 25, true, false),
    Fixed("reassign_neighbor_count", "", 64, true, false),
    Fixed("num_samples_kmeans", "", 1000, true, false),
    Fixed("initial_lambda", "", 100, false, false),
    Fixed("num_centers_to_merge_to", "", 8, true, false),
    Fixed("center_drift_threshold", "", 0.125, false, false),
    Fixed("ef_construction", "", 200, true, false),
    Fixed("ef_search", "", 200, true, true),
    Fixed("max_neighbors", "", 64, true, false),
};

struct Kind {
  std::string_view name;
  std::span<const Parameter> parameters;
};

constexpr Kind kHnswKind{"hnsw", kHnsw};
constexpr Kind kSpannKind{"spann", kSpann};

// What was given, or stands in a stored configuration.
struct Values {
  const Kind* kind = nullptr;
  std::string space;  // empty: not given
  std::optional<VectorElement> full_vectors;
  std::optional<TextIndexChange> text_index;
  bool has_text_index_key = false;  // null too
  std::optional<bool> nested_metadata;
  std::map<std::string_view, double> numbers;
};

const Parameter* FindParameter(const Kind& kind, std::string_view name) {
  for (const Parameter& parameter : kind.parameters) {
    if (parameter.name == name) return &parameter;
  }
  return nullptr;
}

const Parameter* FindLegacy(std::string_view name) {
  for (const Parameter& parameter : kHnsw) {
    if (parameter.legacy == name) return &parameter;
  }
  return nullptr;
}

Result<Metric> ParseSpace(std::string_view space) {
  for (const Metric metric : {Metric::kL2, Metric::kCosine, Metric::kIp}) {
    if (MetricName(metric) == space) return metric;
  }
  return InvalidArgument(
      fmt::format("unknown space {}, expected one of l2, cosine, ip", Quoted(space)));
}

std::string NumberText(double value, bool integral) {
  if (integral) return fmt::format("{}", static_cast<int64_t>(value));
  std::string out;
  AppendJsonDouble(value, out);
  return out;
}

Status WrongValue(std::string_view name, const Parameter& parameter, std::string_view got) {
  if (parameter.least == parameter.most) {
    return InvalidArgument(fmt::format("{} has no effect and takes only {}, got {}", name,
                                       NumberText(parameter.standard, parameter.integral), got));
  }
  return InvalidArgument(fmt::format("{} takes {} of {} to {}, got {}", name,
                                     parameter.integral ? "an integer" : "a number",
                                     NumberText(parameter.least, parameter.integral),
                                     NumberText(parameter.most, parameter.integral), got));
}

Status CheckRange(std::string_view name, const Parameter& parameter, double value) {
  if (value >= parameter.least && value <= parameter.most) return Status::Ok();
  return WrongValue(name, parameter, NumberText(value, parameter.integral));
}

// One member of {"hnsw": {...}} or {"spann": {...}}. Ranges are of what is given; a stored one was
// taken once.
Status ReadMember(const JsonTape& tape, size_t member, const Kind& kind, bool is_stored,
                  Values* values) {
  const std::string_view key = tape.key(member);
  const std::string name = fmt::format("{} parameter {}", kind.name, Quoted(key));
  if (key == "space") {
    if (tape.kind(member) != JsonKind::kString) {
      return InvalidArgument(fmt::format("{} takes a string, got {}", name, tape.Describe(member)));
    }
    values->space = tape.text(member);
    return ParseSpace(values->space).status();
  }
  const Parameter* parameter = FindParameter(kind, key);
  if (parameter == nullptr) return InvalidArgument(fmt::format("unknown {}", name));
  double value = 0;
  if (tape.kind(member) == JsonKind::kInteger) {
    value = static_cast<double>(tape.integer(member));
  } else if (tape.kind(member) == JsonKind::kDouble && !parameter->integral) {
    value = tape.real(member);
  } else {
    return WrongValue(name, *parameter, tape.Describe(member));
  }
  if (!is_stored) PIGMENT_RETURN_IF_ERROR(CheckRange(name, *parameter, value));
  values->numbers[parameter->name] = value;
  return Status::Ok();
}

Result<VectorElement> ReadFullVectors(const JsonTape& tape, size_t at) {
  for (const VectorElement element : {VectorElement::kF32, VectorElement::kF16}) {
    if (tape.kind(at) == JsonKind::kString && tape.text(at) == VectorElementName(element))
      return element;
  }
  return InvalidArgument(
      fmt::format("full_vectors takes \"f32\" or \"f16\", got {}", tape.Describe(at)));
}

// Reads {"hnsw": …} or {"spann": …}; `kind` stays null where neither is given.
Result<Values> ReadJson(std::string_view json, bool is_stored) {
  const std::string_view what = is_stored ? "stored configuration" : "configuration";
  PIGMENT_ASSIGN_OR_RETURN(const JsonTape tape, JsonTape::Parse(json, what, Detail::kNone));
  Values values;
  if (tape.kind(0) == JsonKind::kNull) return values;
  if (tape.kind(0) != JsonKind::kObject) {
    return InvalidArgument(fmt::format("{} must be an object, got {}", what, tape.Describe(0)));
  }
  size_t given = 0;
  for (size_t i = 1; i < tape.size(); i = tape.end(i)) {
    const std::string_view key = tape.key(i);
    if (key == kFullVectors) {
      PIGMENT_ASSIGN_OR_RETURN(values.full_vectors, ReadFullVectors(tape, i));
      continue;
    }
    if (key == kTextIndex) {
      values.has_text_index_key = true;
      if (tape.kind(i) == JsonKind::kNull) continue;
      PIGMENT_ASSIGN_OR_RETURN(values.text_index, ReadTextIndex(tape, i));
      continue;
    }
    if (key == kNestedMetadata) {
      if (tape.kind(i) != JsonKind::kBool) {
        return InvalidArgument(
            fmt::format("nested_metadata takes true or false, got {}", tape.Describe(i)));
      }
      values.nested_metadata = tape.boolean(i);
      continue;
    }
    const Kind* kind = key == kHnswKind.name    ? &kHnswKind
                       : key == kSpannKind.name ? &kSpannKind
                                                : nullptr;
    if (kind == nullptr && (key != "embedding_function" || tape.kind(i) != JsonKind::kNull)) {
      return InvalidArgument(
          fmt::format("unknown key {} in the {}, expected hnsw, spann, full_vectors, text_index or "
                      "nested_metadata",
                      Quoted(key), what));
    }
    if (tape.kind(i) == JsonKind::kNull) continue;
    if (++given > 1) return InvalidArgument("hnsw and spann cannot both be given");
    if (tape.kind(i) != JsonKind::kObject) {
      return InvalidArgument(
          fmt::format("{} must be an object, got {}", kind->name, tape.Describe(i)));
    }
    values.kind = kind;
    for (size_t member = i + 1; member < tape.end(i); member = tape.end(member)) {
      PIGMENT_RETURN_IF_ERROR(ReadMember(tape, member, *kind, is_stored, &values));
    }
  }
  return values;
}

// One of Chroma's older hnsw:* keys in a collection's metadata.
Status ReadLegacy(std::string_view key, const MetadataValue& held, bool is_hnsw, Values* values) {
  const std::string name = fmt::format("metadata key {}", Quoted(key));
  if (key == kLegacySpace) {
    const auto* text = std::get_if<std::string>(&held);
    if (text == nullptr) return InvalidArgument(fmt::format("{} takes a string", name));
    values->space = *text;
    return ParseSpace(*text).status();
  }
  const Parameter* parameter = FindLegacy(key);
  if (parameter == nullptr) return InvalidArgument(fmt::format("unknown hnsw parameter: {}", name));
  if (!is_hnsw)
    return InvalidArgument(fmt::format("{} has no effect with a spann configuration", name));
  double value = 0;
  if (const auto* integer = std::get_if<int64_t>(&held)) {
    value = static_cast<double>(*integer);
  } else if (const auto* real = std::get_if<double>(&held);
             real != nullptr && !parameter->integral) {
    value = *real;
  } else {
    return WrongValue(name, *parameter, MetadataToJson({{std::string(key), held}}));
  }
  PIGMENT_RETURN_IF_ERROR(CheckRange(name, *parameter, value));
  values->numbers[parameter->name] = value;
  return Status::Ok();
}

Result<Values> ReadLegacyKeys(const Metadata* metadata, bool is_hnsw) {
  Values values;
  if (metadata == nullptr) return values;
  for (auto i = metadata->lower_bound(kLegacyPrefix);
       i != metadata->end() && i->first.starts_with(kLegacyPrefix); ++i) {
    PIGMENT_RETURN_IF_ERROR(ReadLegacy(i->first, i->second, is_hnsw, &values));
  }
  return values;
}

IndexSettings SettingsOf(const Values& values) {
  const auto given = [&](std::string_view name) -> uint32_t {
    const auto found = values.numbers.find(name);
    const Parameter* const parameter = FindParameter(*values.kind, name);
    if (found == values.numbers.end() || found->second == parameter->standard) return 0;
    return static_cast<uint32_t>(found->second);
  };
  IndexSettings settings;
  if (values.kind == &kSpannKind) {
    settings.kind = IndexKind::kSpann;
    settings.search_width = given("search_nprobe");
    settings.split_threshold = given("split_threshold");
    return settings;
  }
  settings.max_neighbors = given("max_neighbors");
  settings.ef_construction = given("ef_construction");
  settings.threads = given("num_threads");
  settings.search_width = given("ef_search");
  const uint32_t batch_size = given("batch_size");
  const uint32_t sync_threshold = given("sync_threshold");
  if (batch_size != 0 || sync_threshold != 0) {
    const auto standard = [](std::string_view name) {
      return static_cast<uint32_t>(FindParameter(kHnswKind, name)->standard);
    };
    settings.flush_rows =
        std::max(batch_size != 0 ? batch_size : standard("batch_size"),
                 sync_threshold != 0 ? sync_threshold : standard("sync_threshold"));
  }
  return settings;
}

Result<Configuration> Print(const Values& values) {
  Configuration configuration;
  PIGMENT_ASSIGN_OR_RETURN(configuration.metric, ParseSpace(values.space));
  std::string& json = configuration.json;
  json =
      fmt::format(R"({{{}"{}":{{"space":"{}")", values.kind == &kSpannKind ? R"("hnsw":null,)" : "",
                  values.kind->name, values.space);
  for (const Parameter& parameter : values.kind->parameters) {
    const auto given = values.numbers.find(parameter.name);
    if (given == values.numbers.end() && !parameter.printed) continue;
    const double value = given == values.numbers.end() ? parameter.standard : given->second;
    json += fmt::format(R"(,"{}":{})", parameter.name, NumberText(value, parameter.integral));
  }
  json += values.kind == &kSpannKind ? "}" : R"(},"spann":null)";
  configuration.vector_element = values.full_vectors.value_or(VectorElement::kF32);
  if (configuration.vector_element != VectorElement::kF32) {
    json +=
        fmt::format(R"(,"{}":"{}")", kFullVectors, VectorElementName(configuration.vector_element));
  }
  if (values.text_index) {
    configuration.text_index = values.text_index->OnTopOf({});
    json += fmt::format(R"(,"{}":{})", kTextIndex, TextIndexToJson(*configuration.text_index));
  }
  configuration.nested_metadata = values.nested_metadata.value_or(false);
  if (configuration.nested_metadata) json += fmt::format(R"(,"{}":true)", kNestedMetadata);
  json += '}';
  configuration.index = SettingsOf(values);
  return configuration;
}

// k1 and b may change, while there is an index at all.
Status ChangeTextIndex(const Values& change, Values& current) {
  if (!change.has_text_index_key) return Status::Ok();
  const auto refuse = [&](const std::string& got) {
    return InvalidArgument(fmt::format(
        "text_index of a collection can be neither added, removed nor analyzed otherwise once the "
        "collection exists: it is {}, got {}",
        current.text_index ? TextIndexToJson(current.text_index->OnTopOf({})) : "null", got));
  };
  if (!change.text_index) return current.text_index ? refuse("null") : Status::Ok();
  if (!current.text_index) return refuse(TextIndexToJson(change.text_index->OnTopOf({})));
  const TextIndexSettings before = current.text_index->OnTopOf({});
  const TextIndexSettings after = change.text_index->OnTopOf(before);
  if (after.analyzer != before.analyzer) return refuse(TextIndexToJson(after));
  current.text_index = TextIndexChange{after.analyzer, after.k1, after.b};
  return Status::Ok();
}

}  // namespace

Result<Configuration> ParseConfiguration(std::optional<std::string_view> json,
                                         const Metadata* metadata,
                                         std::optional<std::string_view> preferred_space) {
  PIGMENT_ASSIGN_OR_RETURN(Values values, ReadJson(json.value_or("null"), false));
  if (values.kind == nullptr) values.kind = &kHnswKind;
  PIGMENT_ASSIGN_OR_RETURN(Values legacy, ReadLegacyKeys(metadata, values.kind == &kHnswKind));
  values.numbers.merge(legacy.numbers);  // what the configuration says wins
  if (values.space.empty()) values.space = legacy.space;
  if (values.space.empty()) values.space = preferred_space.value_or("");
  if (values.space.empty()) values.space = "l2";
  return Print(values);
}

Result<Configuration> UpdateConfiguration(std::string_view current_json,
                                          std::string_view change_json) {
  PIGMENT_ASSIGN_OR_RETURN(Values current, ReadJson(current_json, true));
  if (current.kind == nullptr)
    return InvalidArgument("stored configuration has neither hnsw nor spann");
  PIGMENT_ASSIGN_OR_RETURN(const Values change, ReadJson(change_json, false));
  if (change.full_vectors) {
    return InvalidArgument(
        fmt::format("full_vectors of a collection cannot be changed: it is {}, got {}",
                    VectorElementName(current.full_vectors.value_or(VectorElement::kF32)),
                    VectorElementName(*change.full_vectors)));
  }
  const bool is_nested = current.nested_metadata.value_or(false);
  if (change.nested_metadata.value_or(is_nested) != is_nested) {
    return InvalidArgument(
        fmt::format("nested_metadata of a collection cannot be changed: it is {}, got {}",
                    is_nested, *change.nested_metadata));
  }
  PIGMENT_RETURN_IF_ERROR(ChangeTextIndex(change, current));
  if (change.kind == nullptr || (change.numbers.empty() && change.space.empty())) {
    const bool says_something = change.has_text_index_key || change.nested_metadata;
    if (says_something && change.kind == nullptr) return Print(current);
    return InvalidArgument("the change of the configuration is empty");
  }
  if (change.kind != current.kind) {
    return InvalidArgument(
        fmt::format("the index kind of a collection cannot be changed: it is {}, got {}",
                    current.kind->name, change.kind->name));
  }
  if (!change.space.empty()) {
    return InvalidArgument(
        fmt::format("the space of a collection cannot be changed: it is {}, got {}", current.space,
                    change.space));
  }
  for (const auto& [name, value] : change.numbers) {
    if (!FindParameter(*change.kind, name)->changeable) {
      return InvalidArgument(
          fmt::format("{} parameter {} cannot be changed once the collection exists",
                      change.kind->name, Quoted(name)));
    }
    current.numbers[name] = value;
  }
  return Print(current);
}

IndexSettings ReadIndexSettings(std::string_view stored_json) {
  const Result<Values> values = ReadJson(stored_json, true);
  return values.ok() && values->kind != nullptr ? SettingsOf(*values) : IndexSettings();
}

std::optional<TextIndexSettings> ReadTextIndexSettings(std::string_view stored_json) {
  const Result<Values> values = ReadJson(stored_json, true);
  if (!values.ok() || !values->text_index) return std::nullopt;
  return values->text_index->OnTopOf({});
}

bool ReadNestedMetadata(std::string_view stored_json) {
  const Result<Values> values = ReadJson(stored_json, true);
  return values.ok() && values->nested_metadata.value_or(false);
}

}  // namespace pigment

// SPDX-License-Identifier: Apache-2.0
//
// Reading a schema, level by level: types of values, their indexes, what an index says.

#include "engine/record/schema.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "engine/record/json_tape.h"
#include "engine/record/metadata_path.h"
#include "engine/record/text.h"

namespace pigment {
namespace {

constexpr std::string_view kDocumentKey = "#document";
constexpr std::string_view kEmbeddingKey = "#embedding";

struct InvertedIndexName {
  std::string_view type;
  std::string_view index;
  ValueTypes values;
};
constexpr std::array kInverted = {
    InvertedIndexName{"string", "string_inverted_index", kStringValues},
    InvertedIndexName{"int", "int_inverted_index", kIntValues},
    InvertedIndexName{"float", "float_inverted_index", kFloatValues},
    InvertedIndexName{"bool", "bool_inverted_index", kBoolValues},
};

// Where something stands in the schema: keys["a"].string.fts_index.
Status RefusedAt(std::string_view place, std::string_view reason) {
  return InvalidArgument(fmt::format("schema: {}{}{}", place, place.empty() ? "" : ": ", reason));
}
Status At(std::string_view place, const Status& reason) {
  return Status(reason.code(), reason.detail(),
                fmt::format("schema: {}: {}", place, reason.message()))
      .WithHint(reason.hint());
}
std::string Under(std::string_view place, std::string_view name) {
  return fmt::format("{}{}{}", place, place.empty() ? "" : ".", Printable(name));
}

class SchemaReader {
 public:
  explicit SchemaReader(const JsonTape& tape) : tape_(tape) {}

  Status Read();

  IndexRules rules;
  // Members of a configuration: what the vector index is, and where that stands, and what the index
  // of ranked text is; empty: none was given.
  std::string vector_config;
  std::string vector_place;
  std::string text_config;
  bool nested_metadata = false;

 private:
  struct Index {
    bool enabled = false;
    size_t config = 0;  // on the tape; 0: none
  };

  Status CheckObject(std::string_view place, size_t object) const;
  Result<Index> ReadIndex(std::string_view place, size_t object) const;
  Status CheckNoConfig(std::string_view place, const Index& index) const;
  Status ReadDefaults(size_t types);
  Status ReadKeys(size_t keys);
  Status ReadKey(const std::string& place, std::string_view key, size_t types);
  Status ReadDocumentKey(std::string_view place, size_t types);
  Status ReadEmbeddingKey(std::string_view place, size_t types);
  // The inverted indexes of a type of values; `full_text` is set where there is a full-text index.
  Status ReadScalars(std::string_view place, size_t type, ValueTypes* given, ValueTypes* indexed,
                     std::optional<Index>* full_text);
  Status CheckNoFullText(std::string_view place, const std::optional<Index>& full_text) const;
  Status ReadTextConfig(std::string_view place, const Index& full_text);
  Status ReadSparse(std::string_view place, size_t type) const;
  Result<Index> ReadVectorIndex(std::string_view place, size_t type);
  Status ReadVectorConfig(std::string_view place, size_t config);
  Status CheckFunction(std::string_view place, size_t function) const;
  Status AppendParameters(std::string_view place, size_t object, std::string& out) const;

  const JsonTape& tape_;
};

Status SchemaReader::CheckObject(std::string_view place, size_t object) const {
  if (tape_.kind(object) == JsonKind::kObject) return Status::Ok();
  return RefusedAt(place, fmt::format("expected an object, got {}", tape_.Describe(object)));
}

Status SchemaReader::Read() {
  PIGMENT_RETURN_IF_ERROR(CheckObject("", 0));
  for (size_t i = 1; i < tape_.size(); i = tape_.end(i)) {
    const std::string_view key = tape_.key(i);
    if (key == "defaults") {
      PIGMENT_RETURN_IF_ERROR(ReadDefaults(i));
    } else if (key == "keys") {
      PIGMENT_RETURN_IF_ERROR(ReadKeys(i));
    } else if (key == "nested_metadata") {
      if (tape_.kind(i) != JsonKind::kBool)
        return RefusedAt(key, fmt::format("takes true or false, got {}", tape_.Describe(i)));
      nested_metadata = tape_.boolean(i);
    } else if (tape_.kind(i) != JsonKind::kNull) {
      return RefusedAt("",
                       fmt::format("unknown member {}, expected defaults, keys or nested_metadata",
                                   Quoted(key)));
    }
  }
  return Status::Ok();
}

Result<SchemaReader::Index> SchemaReader::ReadIndex(std::string_view place, size_t object) const {
  PIGMENT_RETURN_IF_ERROR(CheckObject(place, object));
  Index index;
  bool has_enabled = false;
  for (size_t i = object + 1; i < tape_.end(object); i = tape_.end(i)) {
    const std::string_view key = tape_.key(i);
    if (key == "enabled") {
      if (tape_.kind(i) != JsonKind::kBool) {
        return RefusedAt(place,
                         fmt::format("enabled takes true or false, got {}", tape_.Describe(i)));
      }
      index.enabled = tape_.boolean(i);
      has_enabled = true;
    } else if (key == "config") {
      PIGMENT_RETURN_IF_ERROR(CheckObject(Under(place, key), i));
      index.config = i;
    } else {
      return RefusedAt(place,
                       fmt::format("unknown member {}, expected enabled or config", Quoted(key)));
    }
  }
  if (!has_enabled) return RefusedAt(place, "enabled is missing");
  return index;
}

Status SchemaReader::CheckNoConfig(std::string_view place, const Index& index) const {
  if (index.config == 0 || tape_.empty(index.config)) return Status::Ok();
  return RefusedAt(place, fmt::format("its config takes no members, got {}",
                                      Quoted(tape_.key(index.config + 1))));
}

Status SchemaReader::ReadScalars(std::string_view place, size_t type, ValueTypes* given,
                                 ValueTypes* indexed, std::optional<Index>* full_text) {
  PIGMENT_RETURN_IF_ERROR(CheckObject(place, type));
  const std::string_view name = tape_.key(type);
  for (size_t i = type + 1; i < tape_.end(type); i = tape_.end(i)) {
    const std::string_view key = tape_.key(i);
    if (tape_.kind(i) == JsonKind::kNull) continue;
    const std::string inner = Under(place, key);
    ValueTypes values = 0;
    for (const InvertedIndexName& one : kInverted)
      if (one.type == name && one.index == key) values = one.values;
    const bool is_full_text = name == "string" && key == "fts_index";
    if (values == 0 && !is_full_text)
      return RefusedAt(place, fmt::format("no such index of this type: {}", Quoted(key)));
    PIGMENT_ASSIGN_OR_RETURN(const Index index, ReadIndex(inner, i));
    if (is_full_text) {
      *full_text = index;
      continue;
    }
    PIGMENT_RETURN_IF_ERROR(CheckNoConfig(inner, index));
    *given |= values;
    if (index.enabled) *indexed |= values;
  }
  return Status::Ok();
}

// Of all values but documents.
Status SchemaReader::CheckNoFullText(std::string_view place,
                                     const std::optional<Index>& full_text) const {
  if (!full_text) return Status::Ok();
  if (full_text->enabled)
    return RefusedAt(place, "the full-text index is enabled on \"#document\" alone");
  return CheckNoConfig(Under(place, "fts_index"), *full_text);
}

Status SchemaReader::ReadTextConfig(std::string_view place, const Index& full_text) {
  if (full_text.config == 0) return Status::Ok();
  for (size_t i = full_text.config + 1; i < tape_.end(full_text.config); i = tape_.end(i)) {
    if (tape_.key(i) != "text_index") {
      return RefusedAt(place, fmt::format("config has an unknown member {}, expected text_index",
                                          Quoted(tape_.key(i))));
    }
    if (tape_.kind(i) == JsonKind::kNull) continue;
    const Result<TextIndexChange> read = ReadTextIndex(tape_, i);
    if (!read.ok()) return At(place, read.status());
    if (!full_text.enabled)
      return RefusedAt(place,
                       "documents are not ranked (text_index) where their index is disabled");
    text_config = R"("text_index":)" + TextIndexToJson(read->OnTopOf({}));
  }
  return Status::Ok();
}

Status SchemaReader::ReadSparse(std::string_view place, size_t type) const {
  PIGMENT_RETURN_IF_ERROR(CheckObject(place, type));
  for (size_t i = type + 1; i < tape_.end(type); i = tape_.end(i)) {
    const std::string inner = Under(place, tape_.key(i));
    if (tape_.key(i) != "sparse_vector_index")
      return RefusedAt(place, fmt::format("no such index of this type: {}", Quoted(tape_.key(i))));
    PIGMENT_ASSIGN_OR_RETURN(const Index index, ReadIndex(inner, i));
    if (index.enabled) {
      return Status(Code::kUnimplemented,
                    fmt::format("schema: {}: sparse vectors are not supported", inner));
    }
  }
  return Status::Ok();
}

Status SchemaReader::ReadDefaults(size_t types) {
  const std::string_view place = "defaults";
  PIGMENT_RETURN_IF_ERROR(CheckObject(place, types));
  for (size_t i = types + 1; i < tape_.end(types); i = tape_.end(i)) {
    const std::string_view type = tape_.key(i);
    if (tape_.kind(i) == JsonKind::kNull) continue;
    const std::string inner = Under(place, type);
    if (type == "float_list") {
      PIGMENT_ASSIGN_OR_RETURN(const Index index, ReadVectorIndex(inner, i));
      if (index.enabled)
        return RefusedAt(inner, "the vector index is enabled on \"#embedding\" alone");
    } else if (type == "sparse_vector") {
      PIGMENT_RETURN_IF_ERROR(ReadSparse(inner, i));
    } else if (type == "string" || type == "int" || type == "float" || type == "bool") {
      ValueTypes given = 0, indexed = 0;
      std::optional<Index> full_text;
      PIGMENT_RETURN_IF_ERROR(ReadScalars(inner, i, &given, &indexed, &full_text));
      rules.defaults = static_cast<ValueTypes>((rules.defaults & ~given) | indexed);
      PIGMENT_RETURN_IF_ERROR(CheckNoFullText(inner, full_text));
    } else {
      return RefusedAt(place, fmt::format("unknown type of values {}, expected string, int, float, "
                                          "bool, float_list or sparse_vector",
                                          Quoted(type)));
    }
  }
  return Status::Ok();
}

Status SchemaReader::ReadKeys(size_t keys) {
  PIGMENT_RETURN_IF_ERROR(CheckObject("keys", keys));
  for (size_t i = keys + 1; i < tape_.end(keys); i = tape_.end(i)) {
    const std::string_view key = tape_.key(i);
    const std::string place = fmt::format("keys[{}]", Quoted(key));
    PIGMENT_RETURN_IF_ERROR(CheckObject(place, i));
    if (key == kDocumentKey) {
      PIGMENT_RETURN_IF_ERROR(ReadDocumentKey(place, i));
    } else if (key == kEmbeddingKey) {
      PIGMENT_RETURN_IF_ERROR(ReadEmbeddingKey(place, i));
    } else {
      PIGMENT_RETURN_IF_ERROR(ReadKey(place, key, i));
    }
  }
  return Status::Ok();
}

Status SchemaReader::ReadDocumentKey(std::string_view place, size_t types) {
  for (size_t i = types + 1; i < tape_.end(types); i = tape_.end(i)) {
    if (tape_.kind(i) == JsonKind::kNull) continue;
    if (tape_.key(i) != "string")
      return RefusedAt(place, fmt::format("documents are strings, got {}", Quoted(tape_.key(i))));
    ValueTypes given = 0, indexed = 0;
    std::optional<Index> full_text;
    const std::string inner = Under(place, "string");
    PIGMENT_RETURN_IF_ERROR(ReadScalars(inner, i, &given, &indexed, &full_text));
    if (indexed != 0)
      return RefusedAt(place, "documents have no inverted index, only a full-text index");
    if (!full_text) continue;
    rules.full_text = full_text->enabled;
    PIGMENT_RETURN_IF_ERROR(ReadTextConfig(Under(inner, "fts_index"), *full_text));
  }
  return Status::Ok();
}

Status SchemaReader::ReadEmbeddingKey(std::string_view place, size_t types) {
  for (size_t i = types + 1; i < tape_.end(types); i = tape_.end(i)) {
    if (tape_.kind(i) == JsonKind::kNull) continue;
    if (tape_.key(i) != "float_list")
      return RefusedAt(place,
                       fmt::format("embeddings are float_list, got {}", Quoted(tape_.key(i))));
    PIGMENT_ASSIGN_OR_RETURN(const Index index, ReadVectorIndex(Under(place, "float_list"), i));
    if (!index.enabled) return RefusedAt(place, "the vector index cannot be disabled");
  }
  return Status::Ok();
}

Status SchemaReader::ReadKey(const std::string& place, std::string_view key, size_t types) {
  if (key.empty() || key == "chroma:document") return RefusedAt(place, "no such key of metadata");
  if (key[0] == '#' || key[0] == '$')
    return RefusedAt(place, "of special keys only \"#document\" and \"#embedding\" have indexes");
  IndexRules::Key& rule = rules.keys[std::string(key)];
  for (size_t i = types + 1; i < tape_.end(types); i = tape_.end(i)) {
    const std::string_view type = tape_.key(i);
    if (tape_.kind(i) == JsonKind::kNull) continue;
    const std::string inner = Under(place, type);
    if (type == "float_list")
      return RefusedAt(inner, "the vector index must be configured globally, not on a key");
    if (type == "sparse_vector") {
      PIGMENT_RETURN_IF_ERROR(ReadSparse(inner, i));
      return RefusedAt(inner, "a sparse vector index cannot be disabled");
    }
    if (type != "string" && type != "int" && type != "float" && type != "bool") {
      return RefusedAt(place, fmt::format("unknown type of values {}, expected string, int, float, "
                                          "bool, float_list or sparse_vector",
                                          Quoted(type)));
    }
    std::optional<Index> full_text;
    PIGMENT_RETURN_IF_ERROR(ReadScalars(inner, i, &rule.given, &rule.indexed, &full_text));
    PIGMENT_RETURN_IF_ERROR(CheckNoFullText(inner, full_text));
    rule.gives_full_text = rule.gives_full_text || full_text.has_value();
  }
  return Status::Ok();
}

Result<SchemaReader::Index> SchemaReader::ReadVectorIndex(std::string_view place, size_t type) {
  PIGMENT_RETURN_IF_ERROR(CheckObject(place, type));
  Index index;
  bool is_given = false;
  for (size_t i = type + 1; i < tape_.end(type); i = tape_.end(i)) {
    const std::string inner = Under(place, tape_.key(i));
    if (tape_.key(i) != "vector_index")
      return RefusedAt(place, fmt::format("no such index of this type: {}", Quoted(tape_.key(i))));
    PIGMENT_ASSIGN_OR_RETURN(index, ReadIndex(inner, i));
    is_given = true;
    if (index.config != 0) PIGMENT_RETURN_IF_ERROR(ReadVectorConfig(inner, index.config));
  }
  if (!is_given) return RefusedAt(place, "vector_index is missing");
  return index;
}

Status SchemaReader::ReadVectorConfig(std::string_view place, size_t config) {
  std::string space, parameters, element;
  std::string_view kind;
  for (size_t i = config + 1; i < tape_.end(config); i = tape_.end(i)) {
    const std::string_view key = tape_.key(i);
    if (tape_.kind(i) == JsonKind::kNull) continue;
    const bool is_text = tape_.kind(i) == JsonKind::kString;
    if (key == "space" && is_text) {
      space = R"("space":)";
      AppendJsonString(tape_.text(i), space);
    } else if (key == "full_vectors" && is_text) {
      element = R"(,"full_vectors":)";
      AppendJsonString(tape_.text(i), element);
    } else if (key == "source_key" && is_text) {
      if (tape_.text(i) != kDocumentKey)
        return RefusedAt(
            place, fmt::format("source_key takes \"#document\" alone, got {}", tape_.Describe(i)));
    } else if (key == "embedding_function") {
      PIGMENT_RETURN_IF_ERROR(CheckFunction(place, i));
    } else if (key == "hnsw" || key == "spann") {
      if (!kind.empty()) return RefusedAt(place, "hnsw and spann cannot both be given");
      kind = key;
      PIGMENT_RETURN_IF_ERROR(AppendParameters(Under(place, key), i, parameters));
    } else {
      return RefusedAt(place, fmt::format("config has an unknown member or a wrong value: {}: {}",
                                          Quoted(key), tape_.Describe(i)));
    }
  }
  if (kind.empty() && space.empty() && element.empty()) return Status::Ok();
  if (kind.empty()) kind = "hnsw";
  const std::string_view comma = space.empty() || parameters.empty() ? "" : ",";
  const std::string given =
      fmt::format(R"("{}":{{{}{}{}}}{})", kind, space, comma, parameters, element);
  if (!vector_config.empty() && vector_config != given)
    return RefusedAt(place, "config differs from that of the other vector index");
  vector_config = given;
  vector_place = place;
  return Status::Ok();
}

// A function is given to the call, not by name.
Status SchemaReader::CheckFunction(std::string_view place, size_t function) const {
  PIGMENT_RETURN_IF_ERROR(CheckObject(Under(place, "embedding_function"), function));
  for (size_t i = function + 1; i < tape_.end(function); i = tape_.end(i)) {
    if (tape_.key(i) != "type" || tape_.kind(i) != JsonKind::kString) continue;
    if (tape_.text(i) == "unknown" || tape_.text(i) == "legacy") return Status::Ok();
  }
  return RefusedAt(place, "an embedding function is given with the collection, not in its schema");
}

Status SchemaReader::AppendParameters(std::string_view place, size_t object,
                                      std::string& out) const {
  PIGMENT_RETURN_IF_ERROR(CheckObject(place, object));
  for (size_t i = object + 1; i < tape_.end(object); i = tape_.end(i)) {
    if (tape_.kind(i) == JsonKind::kNull) continue;
    if (tape_.key(i) == "space")
      return RefusedAt(place, "space belongs to the config of the vector index");
    if (!out.empty()) out += ',';
    AppendJsonString(tape_.key(i), out);
    out += ':';
    if (tape_.kind(i) == JsonKind::kInteger) {
      out += std::to_string(tape_.integer(i));
    } else if (tape_.kind(i) == JsonKind::kDouble) {
      AppendJsonDouble(tape_.real(i), out);
    } else {
      return RefusedAt(
          place, fmt::format("{} takes a number, got {}", Quoted(tape_.key(i)), tape_.Describe(i)));
    }
  }
  return Status::Ok();
}

}  // namespace

Result<Schema> ParseSchema(std::string_view json, const Metadata* metadata,
                           std::optional<std::string_view> preferred_space) {
  PIGMENT_ASSIGN_OR_RETURN(const JsonTape tape, JsonTape::Parse(json, "schema", Detail::kNone));
  SchemaReader reader(tape);
  PIGMENT_RETURN_IF_ERROR(reader.Read());
  Schema schema;
  std::string config = "{" + reader.vector_config;
  if (!reader.vector_config.empty()) {
    // Alone, so that what is wrong with it is told with its place.
    const Status status = ParseConfiguration(config + "}", nullptr, preferred_space).status();
    if (!status.ok()) return At(reader.vector_place, status);
    if (!reader.text_config.empty()) config += ',';
  }
  config += reader.text_config;
  if (reader.nested_metadata) {
    config += config.size() > 1 ? "," : "";
    config += R"("nested_metadata":true)";
  }
  config += '}';
  PIGMENT_ASSIGN_OR_RETURN(schema.configuration,
                           ParseConfiguration(config, metadata, preferred_space));
  schema.rules = std::move(reader.rules);
  PIGMENT_ASSIGN_OR_RETURN(schema.rules.json, PrintSchema(schema.rules, ""));
  return schema;
}

Result<SharedRules> ReadStoredRules(std::string_view schema_json) {
  if (schema_json.empty()) return SharedRules();
  const auto damaged = [](const Status& status) {
    return DataLoss(Detail::kMiscounted, "", -1,
                    fmt::format("the stored schema cannot be read: {}", status.message()));
  };
  const Result<JsonTape> tape = JsonTape::Parse(schema_json, "schema", Detail::kNone);
  if (!tape.ok()) return damaged(tape.status());
  SchemaReader reader(*tape);
  if (const Status status = reader.Read(); !status.ok()) return damaged(status);
  reader.rules.json = std::string(schema_json);
  return SharedRules(std::make_shared<const IndexRules>(std::move(reader.rules)));
}

ValueTypes IndexRules::IndexedOf(std::string_view key) const {
  const auto found = IsStoredPath(key) ? keys.find(TopKey(key)) : keys.find(key);
  if (found == keys.end()) return defaults;
  return static_cast<ValueTypes>((defaults & ~found->second.given) | found->second.indexed);
}

}  // namespace pigment

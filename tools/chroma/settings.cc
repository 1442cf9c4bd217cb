// SPDX-License-Identifier: Apache-2.0
//
// Settings, of three ages: legacy keys "hnsw:space" in the metadata; a configuration; a schema.

#include "tools/chroma/settings.h"

#include <map>

#include "tools/chroma/directory.h"
#include "tools/json_text.h"
#include "tools/session.h"

namespace pigment_tool {
namespace {

using Json = nlohmann::json;

// What is of the machine that Chroma ran on, or stands at the collection here.
void Strip(Json& json) {
  if (!json.is_object()) return;
  for (auto& [name, value] : json.items()) {
    if (name == "config" && value.is_object()) {
      value.erase("embedding_function");
      if (value.contains("hnsw") && value["hnsw"].is_object()) value["hnsw"].erase("num_threads");
    } else {
      Strip(value);
    }
  }
}

void PutFunction(const Json& stored, ChromaCollection& collection) {
  if (!stored.is_object() || stored.value("type", "") != "known") return;
  collection.embedding_function = {{"name", stored.value("name", "")},
                                   {"config", stored.value("config", Json::object())}};
}

void FromSchema(const Json& schema, ChromaCollection& collection) {
  const Json::json_pointer at("/keys/#embedding/float_list/vector_index/config");
  if (schema.contains(at)) {
    collection.space = schema.at(at).value("space", "l2");
    PutFunction(schema.at(at).value("embedding_function", Json()), collection);
  }
  collection.schema = schema;
  Strip(collection.schema);
}

// The parameters of `from` that Pigment knows, by their names of today.
Json ParametersOf(const Json& from) {
  static const std::map<std::string, std::string> kNames = {{"space", "space"},
                                                            {"ef_construction", "ef_construction"},
                                                            {"ef_search", "ef_search"},
                                                            {"max_neighbors", "max_neighbors"},
                                                            {"M", "max_neighbors"},
                                                            {"batch_size", "batch_size"},
                                                            {"sync_threshold", "sync_threshold"}};
  Json parameters = Json::object();
  for (const auto& [name, value] : from.items()) {
    const auto found = kNames.find(name);
    if (found != kNames.end() && !value.is_null()) parameters[found->second] = value;
  }
  return parameters;
}

void FromConfiguration(const Json& json, ChromaCollection& collection) {
  PutFunction(json.value("embedding_function", Json()), collection);
  for (const char* const name : {"hnsw", "hnsw_configuration"}) {
    const auto found = json.find(name);
    if (found == json.end() || !found->is_object()) continue;
    collection.configuration = {{"hnsw", ParametersOf(*found)}};
    collection.space = found->value("space", "l2");
  }
}

}  // namespace

void TranslateSettings(const std::string& configuration, const std::string& schema,
                       ChromaCollection& collection) {
  collection.space = "l2";
  const Json schema_json = schema.empty() ? Json() : ParseJson(schema);
  const Json configuration_json = configuration.empty() ? Json() : ParseJson(configuration);
  if (schema_json.is_object()) {
    FromSchema(schema_json, collection);
  } else if (configuration_json.is_object()) {
    FromConfiguration(configuration_json, collection);
  }
  // The oldest say it in the metadata, which is kept there and means the same to Pigment.
  if (collection.schema.is_null() && collection.configuration.is_null() &&
      collection.metadata.is_object()) {
    const auto space = collection.metadata.find("hnsw:space");
    if (space != collection.metadata.end() && space->is_string()) collection.space = *space;
  }
}

}  // namespace pigment_tool

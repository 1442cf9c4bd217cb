// SPDX-License-Identifier: Apache-2.0
//
// Printing descriptions as JSON. Configuration and metadata are stored or printed as JSON by their
// owners and spliced.

#include "c_api/json_text.h"

#include "engine/record/text.h"

namespace pigment::abi {

std::string QuoteJson(std::string_view text) {
  std::string json;
  AppendJsonString(text, json);
  return json;
}

std::string DescribeTenant(std::string_view name) { return "{\"name\":" + QuoteJson(name) + "}"; }

std::string DescribeDatabase(const Catalog::DatabaseEntry& entry) {
  return "{\"id\":" + QuoteJson(entry.id.ToString()) + ",\"name\":" + QuoteJson(entry.name) +
         ",\"tenant\":" + QuoteJson(entry.tenant) + "}";
}

std::string DescribeCollection(const CollectionEntry& entry) {
  std::string json = "{\"id\":" + QuoteJson(entry.id.ToString());
  json += ",\"name\":" + QuoteJson(entry.name);
  json += ",\"tenant\":" + QuoteJson(entry.tenant);
  json += ",\"database\":" + QuoteJson(entry.database);
  json +=
      ",\"metadata\":" + (entry.metadata ? MetadataToJson(*entry.metadata) : std::string("null"));
  json += ",\"configuration\":" +
          (entry.configuration_json.empty() ? std::string("null") : entry.configuration_json);
  json += ",\"embedding_function\":";
  if (entry.embedding_function_name.empty()) {
    json += "null";
  } else {
    const std::string& config = entry.embedding_function_config_json;
    json += "{\"name\":" + QuoteJson(entry.embedding_function_name) +
            ",\"config\":" + (config.empty() ? "{}" : config) + "}";
  }
  json += ",\"dimension\":" +
          (entry.dimension != 0 ? std::to_string(entry.dimension) : std::string("null"));
  return json + "}";
}

}  // namespace pigment::abi

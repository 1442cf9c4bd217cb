// SPDX-License-Identifier: Apache-2.0
//
// Printing descriptions as JSON. Configuration and metadata are stored or printed as JSON by their
// owners and spliced.

#include "c_api/json_text.h"

#include "engine/record/schema.h"
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

// With the vector index that the configuration is of by now. What is stored and cannot be read says
// so where the collection is used.
static std::string DescribeSchema(const CollectionEntry& entry) {
  const Result<SharedRules> rules = ReadStoredRules(entry.schema_json);
  if (!rules.ok() || *rules == nullptr) return "null";
  const Result<std::string> printed = PrintSchema(**rules, entry.configuration_json);
  return printed.ok() ? *printed : "null";
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
  json += ",\"schema\":" + DescribeSchema(entry);
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

// SPDX-License-Identifier: Apache-2.0
//
// A plain model of Chroma's filters: recursive, slow, straight from the rules, sharing nothing with
// the engine. And makers of random records and filters whose values are few, so that they meet. One
// thread each.

#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>

namespace pigment::testing {

struct ModelRecord {
  std::string id;
  nlohmann::json metadata;  // an object, or null: none
  std::optional<std::string> document;
  std::optional<std::string> uri;
};

// REQUIRES: filters that are valid, or null.
bool ModelMatches(const nlohmann::json& where, const nlohmann::json& where_document,
                  const ModelRecord& record);

ModelRecord RandomModelRecord(std::mt19937_64& random);
nlohmann::json RandomModelWhere(std::mt19937_64& random, int depth_max);
nlohmann::json RandomModelWhereDocument(std::mt19937_64& random, int depth_max);

}  // namespace pigment::testing

// SPDX-License-Identifier: Apache-2.0
//
// A plain model of Chroma's filters, and of nested metadata: recursive, slow, straight from the
// rules, sharing nothing with the engine. And makers of random records and filters whose values are
// few, so that they meet. One thread each.

#pragma once

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/support/json.h"

namespace pigment {

struct ModelRecord {
  std::string id;
  nlohmann::json metadata;  // an object, or null: none
  std::optional<std::string> document;
  std::optional<std::string> uri;
};

// REQUIRES: filters that are valid, or null.
bool ModelMatches(const nlohmann::json& where, const nlohmann::json& where_document,
                  const ModelRecord& record);

// The value that a key of `where` names, be it a path; null: there is none.
nlohmann::json ModelField(const nlohmann::json& metadata, const std::string& key);
// JSON Merge Patch, after which nothing is left of empty objects; null: no metadata.
nlohmann::json ModelMerge(nlohmann::json metadata, const nlohmann::json& change);

enum class ModelShape { kFlat, kNested };

ModelRecord RandomModelRecord(std::mt19937_64& random, ModelShape shape = ModelShape::kFlat);
nlohmann::json RandomModelWhere(std::mt19937_64& random, int depth_max,
                                ModelShape shape = ModelShape::kFlat);
// Keys of metadata, and steps below them, that random nested records have.
std::vector<std::string> RandomModelSteps(std::mt19937_64& random);
std::string ModelPath(const std::vector<std::string>& steps);
// Puts a value there, in the place of what is in its way. `metadata` may be null.
void ModelSet(nlohmann::json& metadata, const std::vector<std::string>& steps,
              const nlohmann::json& value);
nlohmann::json RandomModelWhereDocument(std::mt19937_64& random, int depth_max);

}  // namespace pigment

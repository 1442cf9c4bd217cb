// SPDX-License-Identifier: Apache-2.0
//
// Which values of records are indexed, and so can be filtered by: what a schema says of them. Plain
// values; immutable once shared, any thread.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/status.h"

namespace pigment {

// Types of values as Chroma's schema knows them: bits of a set. Elements of a list have the type of
// a value.
using ValueTypes = uint8_t;
inline constexpr ValueTypes kStringValues = 1;
inline constexpr ValueTypes kIntValues = 2;
inline constexpr ValueTypes kFloatValues = 4;
inline constexpr ValueTypes kBoolValues = 8;
inline constexpr ValueTypes kAllValues = 15;

struct IndexRules {
  // What is said of one key; of the types that it is silent about the defaults hold.
  struct Key {
    ValueTypes given = 0;
    ValueTypes indexed = 0;        // of those
    bool gives_full_text = false;  // that it has none
  };

  ValueTypes defaults = kAllValues;
  std::map<std::string, Key, std::less<>> keys;
  bool full_text = true;  // of documents
  std::string json;       // as it is stored: PrintSchema without a configuration

  // Of a key of metadata as it is stored, or "chroma:uri". What is below an object is indexed as
  // the object's own key says.
  ValueTypes IndexedOf(std::string_view key) const;
};

// Null: everything is indexed.
using SharedRules = std::shared_ptr<const IndexRules>;

// What a catalog or a segment stores: a schema (schema.h), perhaps without its vector index. Empty:
// null. What is no schema: kDataLoss, without a file.
Result<SharedRules> ReadStoredRules(std::string_view schema_json);

}  // namespace pigment

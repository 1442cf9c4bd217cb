// SPDX-License-Identifier: Apache-2.0
//
// How a collection is made: by create, import and copy.

#pragma once

#include <string>

#include "tools/command_line.h"
#include "tools/session.h"

namespace pigment_tool {

struct Making {
  std::string metadata;       // JSON, or "@FILE"; empty: none
  std::string configuration;  // likewise
  std::string schema;
  std::string space;
  int64_t lexical = -1;  // dimension; 0: the default one; -1: no function
  bool may_exist = false;
  bool with_parents = false;

  void AddTo(Command command);
};

// The open collection.
Collection Make(pigment_client* client, const Place& place, const Making& making);

// A collection as `described` (pigment_collection_describe) says that another one is, under another
// name. There already: ALREADY_EXISTS.
Collection MakeLike(pigment_client* client, const Place& place, const nlohmann::json& described);

// The same, when a run that was killed may have made it: one without records is taken.
Collection MakeLikeOrTake(pigment_client* client, const Place& place,
                          const nlohmann::json& described);

// Tenant and database of a place, made where they are missing.
void MakeParents(pigment_client* client, const Place& place);

}  // namespace pigment_tool

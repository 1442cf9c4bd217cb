// SPDX-License-Identifier: Apache-2.0
//
// A collection's configuration: Chroma's {"hnsw": {…}} or {"spann": {…}} as JSON, checked by
// Chroma's rules, with every default filled in so that it reads back as it has effect; and beyond
// Chroma, beside them, "full_vectors": "f32" (the default, which is not printed) or "f16". Pure
// functions; any thread.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/status.h"
#include "engine/record/metadata.h"
#include "engine/record/metric.h"
#include "engine/record/vector_element.h"

namespace pigment {

struct Configuration {
  std::string json;  // normalised: {"hnsw":{…all keys…},"spann":null} or the other way round
  Metric metric = Metric::kL2;
  VectorElement vector_element = VectorElement::kF32;
};

// The space comes from the configuration, else from legacy hnsw:* keys of `metadata`, else from
// `preferred_space`, else l2. Unknown keys, spaces and parameters out of range are refused by name;
// hnsw and spann together too.
Result<Configuration> ParseConfiguration(std::optional<std::string_view> json,
                                         const Metadata* metadata,
                                         std::optional<std::string_view> preferred_space);

// Applies a modify to `current`: only the keys that Chroma lets change; the space and
// full_vectors never.
Result<Configuration> UpdateConfiguration(std::string_view current_json,
                                          std::string_view change_json);

}  // namespace pigment

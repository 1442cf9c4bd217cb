// SPDX-License-Identifier: Apache-2.0
//
// A collection's configuration: Chroma's {"hnsw": {…}} or {"spann": {…}} as JSON, checked by
// Chroma's rules, with every default filled in so that it reads back as it has effect; and beyond
// Chroma, beside them, "full_vectors": "f32" (the default, which is not printed) or "f16",
// "text_index" (text_index.h; null, the default, is not printed) and "nested_metadata": true, or
// false (the default, which is not printed). Pure functions; any thread.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/status.h"
#include "engine/record/metadata.h"
#include "engine/record/metric.h"
#include "engine/record/text_index.h"
#include "engine/record/vector_element.h"

namespace pigment {

enum class IndexKind { kHnsw, kSpann };

// What a configuration says about a collection's search structures. Chroma's defaults stand for
// ours, which are measured: a parameter that has its default is as if it were not given.
struct IndexSettings {
  IndexKind kind = IndexKind::kHnsw;
  uint32_t max_neighbors = 0;    // hnsw; 0, here and below: not given
  uint32_t ef_construction = 0;  // hnsw
  uint32_t threads = 0;          // hnsw, num_threads: of builds
  uint32_t flush_rows = 0;       // hnsw: the larger one of batch_size and sync_threshold
  uint32_t search_width = 0;     // ef_search of hnsw, search_nprobe of spann
  uint32_t split_threshold = 0;  // spann
};

struct Configuration {
  std::string json;  // normalised: {"hnsw":{…all keys…},"spann":null} or the other way round
  Metric metric = Metric::kL2;
  VectorElement vector_element = VectorElement::kF32;
  IndexSettings index;
  std::optional<TextIndexSettings> text_index;
  bool nested_metadata = false;
};

// The space comes from the configuration, else from legacy hnsw:* keys of `metadata`, else from
// `preferred_space`, else l2. Unknown keys, spaces and parameters out of range are refused by name;
// hnsw and spann together too, and every value of a parameter that has no effect here but its
// default.
Result<Configuration> ParseConfiguration(std::optional<std::string_view> json,
                                         const Metadata* metadata,
                                         std::optional<std::string_view> preferred_space);

// Applies a modify to `current`: only the keys that Chroma lets change, and k1 and b of text_index;
// the space, full_vectors and nested_metadata never.
Result<Configuration> UpdateConfiguration(std::string_view current_json,
                                          std::string_view change_json);

// Of a stored configuration; defaults where it cannot be read.
IndexSettings ReadIndexSettings(std::string_view stored_json);
// The same; none where the collection has no text index.
std::optional<TextIndexSettings> ReadTextIndexSettings(std::string_view stored_json);
bool ReadNestedMetadata(std::string_view stored_json);

}  // namespace pigment

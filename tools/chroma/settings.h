// SPDX-License-Identifier: Apache-2.0
//
// A collection's settings as versions of Chroma have written them, in Pigment's words.

#pragma once

#include <string>

namespace pigment_tool {

struct ChromaCollection;

// `configuration` and `schema` are texts of columns, empty where there are none. Sets schema,
// configuration, embedding_function and space of the collection, whose metadata is set.
void TranslateSettings(const std::string& configuration, const std::string& schema,
                       ChromaCollection& collection);

}  // namespace pigment_tool

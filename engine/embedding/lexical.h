// SPDX-License-Identifier: Apache-2.0
//
// The built-in lexical embedding, "pigment_lexical_v1": signed feature hashing of words and
// character n-grams with sublinear term frequency, unit length. A pure function of the text, the
// same on every machine; a baseline that needs no model, not a semantic embedding. Any thread.

#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "engine/base/status.h"

namespace pigment {

inline constexpr std::string_view kLexicalEmbeddingName = "pigment_lexical_v1";
inline constexpr size_t kLexicalDimensionDefault = 384;

// Fills `out` (its size is the dimension, 1 to 65,535). A text without any feature gives the zero
// vector.
void EmbedLexical(std::string_view text, std::span<float> out);

}  // namespace pigment

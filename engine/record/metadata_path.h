// SPDX-License-Identifier: Apache-2.0
//
// Paths of nested metadata. A value below an object is an entry of its own, under a key that no
// caller can give: "$", then the steps of its path with a 0 byte between them, where a step's own
// 0 is 1 1 and its 1 is 1 2. So such keys order as their paths do, step by step, and all that is
// below an object follows one another. A path of one step is the plain key.
//
//   {"a": {"b": 1, "c": {"d": 2}}, "e": 3}   ->   "$a\0b": 1, "$a\0c\0d": 2, "e": 3
//
// Callers write a path as a JSON Pointer (RFC 6901) behind a "$": "$/a/c/d"; in a step "~1" is a
// slash, "~0" a tilde. Pure functions; any thread.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "engine/record/metadata.h"

namespace pigment {

// Of a key as it is stored: whether it is a path of several steps.
inline bool IsStoredPath(std::string_view key) { return key.starts_with('$'); }
// Of a key as a caller gives it.
inline bool IsPointer(std::string_view key) { return key.starts_with("$/"); }

// Names a record's URI where a key is asked for: in filters, facets and orders.
inline constexpr std::string_view kUriKey = "chroma:uri";

// Whether metadata may have this key at the top.
bool IsMetadataKey(std::string_view key);

// Appends a further step to a path, which is "$" where it has none yet.
void AppendStep(std::string_view step, std::string& path);

// What the stored keys of all that is below a stored key begin with, and no others.
std::string BeginBelow(std::string_view key);

// The key at the top that a stored key is, or is below.
std::string TopKey(std::string_view key);

// The last separator of the steps that two paths share; npos: not even the first one.
size_t SharedSteps(std::string_view path, std::string_view other);

// As a caller writes it: a path as "$/a/b", and a plain key too, or that one as it is.
std::string PointerOf(std::string_view key);
std::string KeyText(std::string_view key);

// The stored key of what a caller gives. Nullopt: it is no JSON Pointer, or begins with a step
// that no metadata has. REQUIRES: IsPointer(pointer).
std::optional<std::string> StoredKeyOf(std::string_view pointer);

// One step as it is, of its stored form.
std::string StepText(std::string_view stored_step);

// Whether any value is below an object.
bool HasPaths(const Metadata& metadata);

}  // namespace pigment

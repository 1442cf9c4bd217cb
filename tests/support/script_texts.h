// SPDX-License-Identifier: Apache-2.0
//
// Random documents in many scripts, each of few letters, so that they meet; and conditions on them
// that are made of their pieces. One thread each.

#pragma once

#include <random>
#include <string>

#include "tests/support/json.h"

namespace pigment {

// Of one script or two: letters that have several cases or forms, marks that combine, joined emoji,
// spaces and digits. UTF-8.
std::string RandomScriptText(std::mt19937_64& random, size_t letters_max);

// The same, and sometimes with NUL or bytes that are not UTF-8.
std::string RandomScriptDocument(std::mt19937_64& random);

// One to some characters of `document`, sometimes with one that may not be there. UTF-8, not empty.
std::string RandomPiece(std::mt19937_64& random, const std::string& document);

// A clause of where_document, no group, that `document` may well match.
nlohmann::json RandomScriptClause(std::mt19937_64& random, const std::string& document);

}  // namespace pigment

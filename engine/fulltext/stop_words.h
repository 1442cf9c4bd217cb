// SPDX-License-Identifier: Apache-2.0
//
// Words of a language that say next to nothing about a document. Constants; any thread.

#pragma once

#include <span>
#include <string_view>

namespace pigment {

// Folded, not stemmed, in no order; empty where there is no list (kStopWordLanguages has those that
// there are). A change of a list is a new version of the analyzer (analyzer.cc).
std::span<const std::string_view> StopWordsOf(std::string_view language);

}  // namespace pigment

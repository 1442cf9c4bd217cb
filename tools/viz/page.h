// SPDX-License-Identifier: Apache-2.0
//
// A page of HTML about a collection, in one piece: no script, nothing from elsewhere, and a policy
// in it that forbids both. It is well-formed XML too. What comes from records is escaped, and only
// ever text.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/json.h"
#include "tools/viz/projection.h"
#include "tools/viz/recall.h"
#include "tools/viz/sample.h"

namespace pigment_tool {

struct PageContent {
  nlohmann::json described;  // pigment_collection_describe
  nlohmann::json segments;   // pigment_collection_segments
  uint64_t records = 0;
  uint64_t seed = 0;
  size_t questions = 0;  // of `recall`
  std::string filters;   // what the sample was limited to; empty: nothing
  std::vector<SampledRecord> sample;
  Projection projection;  // of `sample`
  RecallByWidth recall;
};

std::string MakePage(const PageContent& content);

// As text of HTML and of XML, also within quotes. What is no UTF-8 or must not be in XML is U+FFFD.
std::string Escape(std::string_view text);

}  // namespace pigment_tool

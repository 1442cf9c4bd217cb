// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes filters: any bytes as where and where_document, and what compiles is run on a few records.
// A refusal must say something printable; a filter and its records must never crash, hang or read
// out of bounds.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "engine/query/filter.h"
#include "engine/record/text.h"

namespace {

using pigment::Filter;
using pigment::FilterSubject;
using pigment::Metadata;

const Metadata& SampleMetadata() {
  static const Metadata* const metadata = new Metadata{
      {"a", int64_t{1}},
      {"b", 2.5},
      {"c", std::string("x")},
      {"d", true},
      {"e", std::vector<int64_t>{1, 2}},
      {"f", std::vector<std::string>{"x", ""}},
  };
  return *metadata;
}

void Run(std::optional<std::string_view> where, std::optional<std::string_view> where_document,
         std::string_view document) {
  const auto filter = Filter::Parse(where, where_document);
  if (!filter.ok()) {
    const std::string& message = filter.status().message();
    if (message.empty() || message.size() > 1000 || !pigment::IsUtf8(message)) abort();
    if (message.find('\0') != std::string::npos) abort();
    return;
  }
  const FilterSubject full{
      .id = "a", .metadata = &SampleMetadata(), .document = document, .uri = "u"};
  const FilterSubject bare{.id = "a"};
  (void)(*filter)->Matches(full);
  const bool matches_bare = (*filter)->Matches(bare);
  if ((*filter)->matches_everything() && !matches_bare) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Run(text, std::nullopt, "the document \xff");
  Run(std::nullopt, text, "the document \xff");
  // The bytes as pattern and as document.
  std::string pattern = R"({"$regex":)";
  pigment::AppendJsonString(text.substr(0, size / 2), pattern);
  Run(std::nullopt, pattern + "}", text.substr(size / 2));
  return 0;
}

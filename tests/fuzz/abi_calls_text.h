// SPDX-License-Identifier: Apache-2.0
//
// Calls of the host interface that rank texts, and keys of rows that have texts. One thread.

#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "pigment/pigment_host.h"
#include "tests/fuzz/abi_world.h"

namespace abi_fuzz {

inline constexpr uint32_t kTextColumn = 4;  // behind those of FuzzedKeys

// Few words, so that rows and queries share some.
inline Text AFewWords(Arguments& a) {
  Input& in = a.input();
  if (in.OneIn(24)) return {nullptr, in.Below(9)};
  std::string words;
  for (size_t n = in.Below(8); n > 0; --n) {
    words += in.OneIn(16) ? static_cast<char>(in.Byte()) : static_cast<char>('a' + in.Below(5));
    words += in.OneIn(4) ? "" : " ";
  }
  return a.Keep(words);
}

// Those of a column that is there, kept by `a`; frees them.
inline void AppendElements(Arguments& a, pigment_buffer* elements, uint32_t column,
                           std::vector<pigment_host_key>& keys) {
  keys.push_back({column, PIGMENT_KEY_VALUE, "", 0});
  size_t size = 0;
  const char* const bytes = pigment_buffer_data(elements, &size);
  for (size_t at = 0; at < size;) {
    uint32_t length = 0;
    std::memcpy(&length, bytes + at, sizeof length);
    const Text kept = a.Keep(std::string(bytes + at + sizeof length, length));
    keys.push_back({column, PIGMENT_KEY_ELEMENT, kept.data, kept.size});
    at += sizeof length + length;
  }
  pigment_buffer_free(elements);
}

// What a row has of a text, behind its other keys; kept by `a`.
inline void AppendTextKeys(Arguments& a, std::vector<pigment_host_key>& keys) {
  static pigment_text_analyzer* const analyzer = [] {
    pigment_text_analyzer* made = nullptr;
    Require(pigment_text_analyzer_new("{}", 2, &made, nullptr) == PIGMENT_OK, "there is a default");
    return made;
  }();
  const Text words = AFewWords(a);
  pigment_buffer* elements = nullptr;
  if (pigment_host_text_elements(analyzer, words.data, words.data == nullptr ? 0 : words.size,
                                 &elements, nullptr) != PIGMENT_OK)
    return;
  AppendElements(a, elements, kTextColumn, keys);
}

inline void FuzzAnalyzerNew(World& w, Arguments& a) {
  Input& in = a.input();
  static const std::string settings[] = {"",
                                         "{}",
                                         R"({"language": "english", "stop_words": true})",
                                         R"({"stop_words": ["a", "b"]})",
                                         "{",
                                         "[]",
                                         R"({"language": "no such"})"};
  const Text json = a.Keep(settings[in.Below(std::size(settings))]);
  pigment_text_analyzer* made = reinterpret_cast<pigment_text_analyzer*>(8);
  const bool wanted = !in.OneIn(24);
  ErrorSlot slot(w, in);
  const bool ok = slot.Ok(
      pigment_text_analyzer_new(json.data, json.size, wanted ? &made : nullptr, slot.out()));
  if (!wanted) return;
  Require(ok == (made != nullptr), "an analyzer comes with success");
  // Queries borrow an analyzer, so one that is kept stays.
  if (ok && w.text_analyzers.size() < 4) {
    w.text_analyzers.push_back(made);
  } else {
    pigment_text_analyzer_free(made);
  }
}

inline void FuzzTextQueryNew(World& w, Arguments& a) {
  Input& in = a.input();
  pigment_text_query_options options{};
  a.Size(options);
  const Text words = AFewWords(a);
  options.words = words.data;
  options.words_size = words.size;
  options.k1 = in.OneIn(16) ? static_cast<double>(in.Number()) : 1.2;
  options.b = in.OneIn(16) ? static_cast<double>(in.Byte()) / 100 : 0.75;
  options.grammar = in.OneIn(2) ? in.Byte() % 4 : PIGMENT_QUERY_WORDS;
  pigment_text_query* made = reinterpret_cast<pigment_text_query*>(8);
  const bool wanted = !in.OneIn(24);
  ErrorSlot slot(w, in);
  const bool ok = slot.Ok(pigment_text_query_new(LiveOrNull(w.text_analyzers, in),
                                                 in.OneIn(32) ? nullptr : &options,
                                                 wanted ? &made : nullptr, slot.out()));
  if (wanted) KeepMade(w.text_queries, made, ok);
}

inline void AddTexts(std::vector<Entry>& t) {
  t.push_back({"pigment_text_analyzer_new", FuzzAnalyzerNew});
  t.push_back({"pigment_text_analyzer_free", [](World&, Arguments& a) {
                 pigment_text_analyzer* made = nullptr;
                 if (a.input().OneIn(2))
                   Require(pigment_text_analyzer_new("{}", 2, &made, nullptr) == PIGMENT_OK,
                           "there is a default");
                 pigment_text_analyzer_free(made);
               }});
  t.push_back({"pigment_host_text_elements", [](World& w, Arguments& a) {
                 const Text words = AFewWords(a);
                 pigment_buffer* elements = nullptr;
                 const bool wanted = !a.input().OneIn(24);
                 ErrorSlot slot(w, a.input());
                 const bool ok = slot.Ok(pigment_host_text_elements(
                     LiveOrNull(w.text_analyzers, a.input()), words.data, words.size,
                     wanted ? &elements : nullptr, slot.out()));
                 Require(ok == (elements != nullptr), "elements come with success");
                 pigment_buffer_free(elements);
               }});
  t.push_back({"pigment_text_query_new", FuzzTextQueryNew});
  t.push_back({"pigment_text_query_count", [](World& w, Arguments& a) {
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_text_query_count(LiveOrNull(w.text_queries, a.input()),
                                                  LiveOrNull(w.searches, a.input()), slot.out()));
               }});
  t.push_back({"pigment_text_query_score", [](World& w, Arguments& a) {
                 const Text words = AFewWords(a);
                 double score = 1;
                 ErrorSlot slot(w, a.input());
                 const bool ok = slot.Ok(
                     pigment_text_query_score(LiveOrNull(w.text_queries, a.input()), words.data,
                                              words.size, MaybeOut(score, a), slot.out()));
                 if (ok) Require(score <= 0, "the best comes first");
               }});
  t.push_back({"pigment_text_query_free", [](World& w, Arguments& a) {
                 pigment_text_query_free(Remove(w.text_queries, a.input()));
               }});
}

}  // namespace abi_fuzz

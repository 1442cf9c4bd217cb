// SPDX-License-Identifier: Apache-2.0
//
// Calls of pigment.h that write and read records, and what a result shows. One thread.

#pragma once

#include <vector>

#include "pigment/pigment.h"
#include "tests/fuzz/abi_calls_shared.h"
#include "tests/fuzz/abi_world.h"

namespace abi_fuzz {

inline void AddRecords(std::vector<Entry>& t) {
  t.push_back({"pigment_collection_add", FuzzWrite<pigment_collection_add>});
  t.push_back({"pigment_collection_update", FuzzWrite<pigment_collection_update>});
  t.push_back({"pigment_collection_upsert", FuzzWrite<pigment_collection_upsert>});
  t.push_back({"pigment_collection_delete", [](World& w, Arguments& a) {
                 pigment_delete_request request{};
                 FillSelection(a, request);
                 request.has_limit = a.input().OneIn(4);
                 request.limit = static_cast<int64_t>(a.input().Number());
                 pigment_write_result result{};
                 a.Size(result);
                 const CallOptions options(w, a);
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_collection_delete(ACollection(w, a), Maybe(request, a),
                                                   options.get(), MaybeOut(result, a), slot.out()));
               }});
  t.push_back({"pigment_collection_get", [](World& w, Arguments& a) {
                 pigment_get_request request{};
                 FillSelection(a, request);
                 request.has_limit = a.input().OneIn(3);
                 request.limit = static_cast<int64_t>(a.input().Number());
                 request.offset = a.input().OneIn(4) ? static_cast<int64_t>(a.input().Number()) : 0;
                 request.include = a.input().Enum(32);
                 request.explain = a.input().OneIn(4);
                 if (a.input().OneIn(3)) {
                   const Text order = AnOrder(a);
                   request.order_by_json = order.data;
                   request.order_by_json_size = order.size;
                 }
                 if (a.input().OneIn(3)) {
                   request.cursor =
                       pigment_result_cursor(Choose(w.results, a.input()), &request.cursor_size);
                   if (a.input().OneIn(4)) {
                     const Text text = a.AnyText();
                     request.cursor = text.data;
                     request.cursor_size = text.size;
                   }
                 }
                 const CallOptions options(w, a);
                 pigment_result* result = reinterpret_cast<pigment_result*>(8);
                 const bool wanted = !a.input().OneIn(24);
                 ErrorSlot slot(w, a.input());
                 const bool ok = slot.Ok(
                     pigment_collection_get(ACollection(w, a), Maybe(request, a), options.get(),
                                            wanted ? &result : nullptr, slot.out()));
                 if (wanted) KeepMade(w.results, result, ok);
               }});
  t.push_back({"pigment_collection_peek", [](World& w, Arguments& a) {
                 const CallOptions options(w, a);
                 pigment_result* result = reinterpret_cast<pigment_result*>(8);
                 const bool wanted = !a.input().OneIn(24);
                 ErrorSlot slot(w, a.input());
                 const bool ok = slot.Ok(pigment_collection_peek(
                     ACollection(w, a), static_cast<int64_t>(a.input().Number()), options.get(),
                     wanted ? &result : nullptr, slot.out()));
                 if (wanted) KeepMade(w.results, result, ok);
               }});
  t.push_back({"pigment_collection_count", [](World& w, Arguments& a) {
                 const CallOptions options(w, a);
                 uint64_t count = 77;
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_collection_count(ACollection(w, a), options.get(),
                                                  MaybeOut(count, a), slot.out()));
               }});
  t.push_back({"pigment_collection_count_where", [](World& w, Arguments& a) {
                 pigment_count_request request{};
                 FillSelection(a, request);
                 const CallOptions options(w, a);
                 uint64_t count = 77;
                 ErrorSlot slot(w, a.input());
                 slot.Ok(pigment_collection_count_where(ACollection(w, a), Maybe(request, a),
                                                        options.get(), MaybeOut(count, a),
                                                        slot.out()));
               }});
  t.push_back({"pigment_collection_facets", FuzzReport<[](World& w, Arguments& a, auto... rest) {
                 pigment_facets_request request{};
                 FillSelection(a, request);
                 request.keys_count = a.input().Below(4);
                 request.keys = a.Column(request.keys_count);
                 request.has_limit = a.input().OneIn(3);
                 request.limit = static_cast<int64_t>(a.input().Number());
                 return pigment_collection_facets(ACollection(w, a), Maybe(request, a), rest...);
               }>});
  t.push_back({"pigment_collection_query", [](World& w, Arguments& a) {
                 pigment_query_request request{};
                 FillSelection(a, request);
                 Input& in = a.input();
                 request.embeddings = a.Vectors(1 + in.Below(3));
                 if (in.OneIn(3)) {
                   request.texts_count = in.Below(4);
                   request.texts = a.Column(request.texts_count);
                 }
                 request.n_results =
                     in.OneIn(3) ? static_cast<int64_t>(in.Number()) : 1 + in.Byte() % 9;
                 request.include = in.Enum(32);
                 request.explain = in.OneIn(4);
                 if (in.OneIn(4)) {
                   request.has_max_distance = true;
                   request.max_distance = static_cast<double>(static_cast<int64_t>(in.Number()));
                 }
                 request.threads = in.OneIn(8) ? static_cast<int32_t>(in.Number()) : in.Byte() % 3;
                 const CallOptions options(w, a);
                 pigment_result* result = reinterpret_cast<pigment_result*>(8);
                 const bool wanted = !in.OneIn(24);
                 ErrorSlot slot(w, in);
                 const bool ok = slot.Ok(
                     pigment_collection_query(ACollection(w, a), Maybe(request, a), options.get(),
                                              wanted ? &result : nullptr, slot.out()));
                 if (wanted) KeepMade(w.results, result, ok);
               }});
  t.push_back({"pigment_collection_search_text", [](World& w, Arguments& a) {
                 pigment_text_search_request request{};
                 FillSelection(a, request);
                 Input& in = a.input();
                 request.queries_count = in.Below(4);
                 request.queries = a.Column(request.queries_count);
                 request.n_results =
                     in.OneIn(3) ? static_cast<int64_t>(in.Number()) : 1 + in.Byte() % 9;
                 request.operator_ = in.Enum(2);
                 request.include = in.Enum(32);
                 request.highlights = in.OneIn(2);
                 request.explain = in.OneIn(4);
                 const CallOptions options(w, a);
                 pigment_result* result = reinterpret_cast<pigment_result*>(8);
                 const bool wanted = !in.OneIn(24);
                 ErrorSlot slot(w, in);
                 const bool ok = slot.Ok(pigment_collection_search_text(
                     ACollection(w, a), Maybe(request, a), options.get(),
                     wanted ? &result : nullptr, slot.out()));
                 if (wanted) KeepMade(w.results, result, ok);
               }});
}

inline void AddResults(std::vector<Entry>& t) {
  t.push_back({"pigment_result_query_count", [](World& w, Arguments& a) {
                 pigment_result_query_count(Choose(w.results, a.input()));
               }});
  t.push_back({"pigment_result_row_count", [](World& w, Arguments& a) {
                 pigment_result_row_count(Choose(w.results, a.input()));
               }});
  t.push_back({"pigment_result_query_offsets", [](World& w, Arguments& a) {
                 const pigment_result* result = Choose(w.results, a.input());
                 const uint64_t* offsets = pigment_result_query_offsets(result);
                 if (offsets == nullptr) return;
                 const uint64_t queries = pigment_result_query_count(result);
                 Require(offsets[0] == 0 && offsets[queries] == pigment_result_row_count(result),
                         "offsets cover the rows");
               }});
  t.push_back({"pigment_result_ids", FuzzColumn<pigment_result_ids>});
  t.push_back({"pigment_result_documents", FuzzColumn<pigment_result_documents>});
  t.push_back({"pigment_result_metadatas", FuzzColumn<pigment_result_metadatas>});
  t.push_back({"pigment_result_uris", FuzzColumn<pigment_result_uris>});
  t.push_back({"pigment_result_highlights", FuzzColumn<pigment_result_highlights>});
  t.push_back({"pigment_result_scores", [](World& w, Arguments& a) {
                 const pigment_result* result = Choose(w.results, a.input());
                 const float* scores = pigment_result_scores(result);
                 if (scores == nullptr) return;
                 const uint64_t* offsets = pigment_result_query_offsets(result);
                 for (uint64_t query = 0; query < pigment_result_query_count(result); ++query) {
                   for (uint64_t row = offsets[query] + 1; row < offsets[query + 1]; ++row)
                     Require(scores[row] <= scores[row - 1], "scores descend");
                 }
               }});
  t.push_back({"pigment_result_distances", [](World& w, Arguments& a) {
                 const pigment_result* result = Choose(w.results, a.input());
                 const float* distances = pigment_result_distances(result);
                 if (distances == nullptr) return;
                 const uint64_t* offsets = pigment_result_query_offsets(result);
                 for (uint64_t query = 0; query < pigment_result_query_count(result); ++query) {
                   for (uint64_t row = offsets[query] + 1; row < offsets[query + 1]; ++row) {
                     Require(!(distances[row] < distances[row - 1]), "distances ascend");
                   }
                 }
               }});
  t.push_back({"pigment_result_embeddings", [](World& w, Arguments& a) {
                 const pigment_result* result = Choose(w.results, a.input());
                 size_t dimension = 0;
                 const float* values = pigment_result_embeddings(result, &dimension);
                 if (values == nullptr) return;
                 for (uint64_t i = 0; i < dimension * pigment_result_row_count(result); ++i) {
                   Require(values[i] - values[i] == 0, "stored vectors are finite");
                 }
               }});
  t.push_back({"pigment_result_included", [](World& w, Arguments& a) {
                 pigment_result_included(Choose(w.results, a.input()));
               }});
  t.push_back({"pigment_result_position", [](World& w, Arguments& a) {
                 pigment_result_position(Choose(w.results, a.input()));
               }});
  t.push_back({"pigment_result_explain", [](World& w, Arguments& a) {
                 size_t size = 0;
                 const char* text =
                     pigment_result_explain(Choose(w.results, a.input()), MaybeOut(size, a));
                 if (text != nullptr && size != 0)
                   Require(text[size] == '\0', "explain ends with NUL");
               }});
  t.push_back({"pigment_result_cursor", [](World& w, Arguments& a) {
                 size_t size = 77;
                 const char* text =
                     pigment_result_cursor(Choose(w.results, a.input()), MaybeOut(size, a));
                 if (text != nullptr && size != 77)
                   Require(text[size] == '\0', "a cursor ends with NUL");
               }});
  t.push_back({"pigment_result_free",
               [](World& w, Arguments& a) { pigment_result_free(Remove(w.results, a.input())); }});
}

}  // namespace abi_fuzz

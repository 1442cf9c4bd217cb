/* SPDX-License-Identifier: Apache-2.0 */

/* Reads and maintenance: see shim.h. */

#include "shim_call.h"

static pgo_json json_of(pgo_json answer) {
  if (answer.buffer != NULL) answer.text.data = pigment_buffer_data(answer.buffer, &answer.text.size);
  return answer;
}

/* Everything that a result lends. */
static pgo_result view(pgo_result out) {
  if (out.done.status != PIGMENT_OK) return out;
  const pigment_result *result = out.result;
  out.queries = pigment_result_query_count(result);
  out.rows = pigment_result_row_count(result);
  out.position = pigment_result_position(result);
  out.offsets = pigment_result_query_offsets(result);
  /* False leaves the column absent, and that is what the Go side looks at. */
  pigment_result_ids(result, &out.ids);
  pigment_result_documents(result, &out.documents);
  pigment_result_metadatas(result, &out.metadatas);
  pigment_result_uris(result, &out.uris);
  pigment_result_highlights(result, &out.highlights);
  out.distances = pigment_result_distances(result);
  out.embeddings = pigment_result_embeddings(result, &out.dimension);
  out.scores = pigment_result_scores(result);
  out.included = pigment_result_included(result);
  out.explain.data = pigment_result_explain(result, &out.explain.size);
  out.cursor.data = pigment_result_cursor(result, &out.cursor.size);
  return out;
}

pgo_result pgo_get_records(pigment_collection *collection, pgo_get get, pgo_call call) {
  pigment_get_request request = {.struct_size = sizeof request};
  request.ids_count = get.filter.ids_count;
  request.ids = get.filter.ids;
  request.where_json = get.filter.where.data;
  request.where_json_size = get.filter.where.size;
  request.where_document_json = get.filter.where_document.data;
  request.where_document_json_size = get.filter.where_document.size;
  request.has_limit = get.limit.present;
  request.limit = get.limit.value;
  request.offset = get.offset;
  request.include = get.include;
  request.explain = get.explain;
  request.order_by_json = get.order_by.data;
  request.order_by_json_size = get.order_by.size;
  request.cursor = get.cursor.data;
  request.cursor_size = get.cursor.size;
  const pigment_call_options options = pgo_options_of(call);
  pgo_result out = {.result = NULL};
  out.done.status = pigment_collection_get(collection, &request, &options, &out.result, &out.done.error);
  return view(out);
}

pgo_result pgo_peek(pigment_collection *collection, int64_t limit, pgo_call call) {
  const pigment_call_options options = pgo_options_of(call);
  pgo_result out = {.result = NULL};
  out.done.status = pigment_collection_peek(collection, limit, &options, &out.result, &out.done.error);
  return view(out);
}

pgo_result pgo_query_records(pigment_collection *collection, pgo_query query, pgo_call call) {
  pigment_query_request request;
  pigment_query_request_init(&request);
  request.embeddings = query.embeddings;
  request.texts_count = query.texts_count;
  request.texts = query.texts;
  request.n_results = query.n_results;
  request.ids_count = query.filter.ids_count;
  request.ids = query.filter.ids;
  request.where_json = query.filter.where.data;
  request.where_json_size = query.filter.where.size;
  request.where_document_json = query.filter.where_document.data;
  request.where_document_json_size = query.filter.where_document.size;
  request.include = query.include;
  request.explain = query.explain;
  request.recall = query.recall;
  request.search_width = query.search_width;
  request.has_max_distance = query.has_max_distance;
  request.max_distance = query.max_distance;
  request.threads = query.threads;
  const pigment_call_options options = pgo_options_of(call);
  pgo_result out = {.result = NULL};
  const uintptr_t before = pgo_enter(call.state);
  out.done.status = pigment_collection_query(collection, &request, &options, &out.result, &out.done.error);
  pgo_enter(before);
  return view(out);
}

pgo_result pgo_search_text(pigment_collection *collection, pgo_text_search search, pgo_call call) {
  pigment_text_search_request request;
  pigment_text_search_request_init(&request);
  request.queries_count = search.queries_count;
  request.queries = search.queries;
  request.n_results = search.n_results;
  request.ids_count = search.filter.ids_count;
  request.ids = search.filter.ids;
  request.where_json = search.filter.where.data;
  request.where_json_size = search.filter.where.size;
  request.where_document_json = search.filter.where_document.data;
  request.where_document_json_size = search.filter.where_document.size;
  request.operator_ = search.any_or_all;
  request.include = search.include;
  request.highlights = search.highlights;
  request.explain = search.explain;
  const pigment_call_options options = pgo_options_of(call);
  pgo_result out = {.result = NULL};
  out.done.status = pigment_collection_search_text(collection, &request, &options, &out.result, &out.done.error);
  return view(out);
}

pgo_count pgo_count_records(pigment_collection *collection, pgo_call call) {
  const pigment_call_options options = pgo_options_of(call);
  pgo_count out = {{PIGMENT_OK, NULL}, 0};
  out.done.status = pigment_collection_count(collection, &options, &out.count, &out.done.error);
  return out;
}

pgo_count pgo_count_where(pigment_collection *collection, pgo_filter filter, pgo_call call) {
  pigment_count_request request = {.struct_size = sizeof request};
  request.ids_count = filter.ids_count;
  request.ids = filter.ids;
  request.where_json = filter.where.data;
  request.where_json_size = filter.where.size;
  request.where_document_json = filter.where_document.data;
  request.where_document_json_size = filter.where_document.size;
  const pigment_call_options options = pgo_options_of(call);
  pgo_count out = {{PIGMENT_OK, NULL}, 0};
  out.done.status = pigment_collection_count_where(collection, &request, &options, &out.count, &out.done.error);
  return out;
}

pgo_json pgo_facets(pigment_collection *collection, size_t keys_count, pigment_text_column keys, pgo_filter filter,
                    pgo_number limit, pgo_call call) {
  pigment_facets_request request = {.struct_size = sizeof request};
  request.keys_count = keys_count;
  request.keys = keys;
  request.ids_count = filter.ids_count;
  request.ids = filter.ids;
  request.where_json = filter.where.data;
  request.where_json_size = filter.where.size;
  request.where_document_json = filter.where_document.data;
  request.where_document_json_size = filter.where_document.size;
  request.has_limit = limit.present;
  request.limit = limit.value;
  const pigment_call_options options = pgo_options_of(call);
  pgo_json out = {{PIGMENT_OK, NULL}, NULL, {NULL, 0}};
  out.done.status = pigment_collection_facets(collection, &request, &options, &out.buffer, &out.done.error);
  return json_of(out);
}

pgo_done pgo_contains(pigment_collection *collection, size_t count, pigment_text_column ids, uint8_t *present,
                      pgo_call call) {
  const pigment_call_options options = pgo_options_of(call);
  pgo_done done = {PIGMENT_OK, NULL};
  done.status = pigment_collection_contains(collection, count, &ids, &options, present, &done.error);
  return done;
}

pgo_progress pgo_progress_of(const pigment_cancel *cancel) {
  pigment_progress progress = {.struct_size = sizeof progress};
  pigment_error *error = NULL;
  if (pigment_cancel_progress(cancel, &progress, &error) != PIGMENT_OK) pigment_error_free(error);
  const pgo_progress out = {progress.phase, progress.unit, progress.done, progress.total};
  return out;
}

pgo_done pgo_flush(pigment_client *client, pigment_collection *collection, pgo_call call) {
  const pigment_call_options options = pgo_options_of(call);
  pgo_done done = {PIGMENT_OK, NULL};
  done.status = collection != NULL ? pigment_collection_flush_with(collection, &options, &done.error)
                                   : pigment_client_flush_with(client, &options, &done.error);
  return done;
}

pgo_compacted pgo_compact(pigment_client *client, pigment_collection *collection, pgo_call call) {
  const pigment_call_options options = pgo_options_of(call);
  pigment_compaction result = {.struct_size = sizeof result};
  pgo_done done = {PIGMENT_OK, NULL};
  done.status = collection != NULL ? pigment_collection_compact(collection, &options, &result, &done.error)
                                   : pigment_client_compact(client, &options, &result, &done.error);
  const pgo_compacted out = {done,
                             result.records,
                             result.segments_in,
                             result.segments_out,
                             result.bytes_before,
                             result.bytes_after};
  return out;
}

pgo_json pgo_backup(pigment_client *client, pgo_text path, pgo_call call) {
  const pigment_call_options options = pgo_options_of(call);
  pgo_json out = {{PIGMENT_OK, NULL}, NULL, {NULL, 0}};
  out.done.status = pigment_client_backup(client, path.data, path.size, &options, &out.buffer, &out.done.error);
  return json_of(out);
}

pgo_json pgo_check(pigment_client *client, pgo_text path, bool full, pgo_call call) {
  const pigment_call_options options = pgo_options_of(call);
  pgo_json out = {{PIGMENT_OK, NULL}, NULL, {NULL, 0}};
  out.done.status = client != NULL
                        ? pigment_client_check(client, full, &options, &out.buffer, &out.done.error)
                        : pigment_check(path.data, path.size, full, &options, &out.buffer, &out.done.error);
  return json_of(out);
}

pgo_json pgo_repair(pgo_text from, pgo_text to, pgo_call call) {
  const pigment_call_options options = pgo_options_of(call);
  pgo_json out = {{PIGMENT_OK, NULL}, NULL, {NULL, 0}};
  out.done.status = pigment_repair(from.data, from.size, to.data, to.size, &options, &out.buffer, &out.done.error);
  return json_of(out);
}

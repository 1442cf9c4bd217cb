/* SPDX-License-Identifier: Apache-2.0 */

/* Collections, writes and embedding functions: see shim.h. */

#include "shim_call.h"

#include "_cgo_export.h"

/* The call that this thread is in, for the embedding functions that run within it: the library calls them on the thread of the call. */
static __thread uintptr_t running;

uintptr_t pgo_enter(uintptr_t state) {
  const uintptr_t before = running;
  running = state;
  return before;
}

pigment_call_options pgo_options_of(pgo_call call) {
  pigment_call_options options;
  pigment_call_options_init(&options);
  options.cancel = call.cancel;
  options.min_position = call.min_position;
  if (call.timeout_ns > 0) {
    const int64_t now = pigment_now_ns();
    options.deadline_ns = call.timeout_ns < INT64_MAX - now ? now + call.timeout_ns : INT64_MAX;
  }
  return options;
}

static pigment_scope scope_of(pgo_text tenant, pgo_text database) {
  const pigment_scope scope = {sizeof scope, tenant.data, tenant.size, database.data, database.size};
  return scope;
}

static pgo_json json_of(pgo_json answer) {
  if (answer.buffer != NULL) answer.text.data = pigment_buffer_data(answer.buffer, &answer.text.size);
  return answer;
}

/* ---- Embedding functions ---- */

static pigment_status embed(void *user_data, int32_t purpose, size_t count, const pigment_text_column *texts,
                            pigment_embedding_sink *sink) {
  return pigmentGoEmbed((uintptr_t)user_data, running, purpose, count, (pigment_text_column *)texts, sink);
}

static void release(void *user_data) { pigmentGoRelease((uintptr_t)user_data); }

/* Fills `room`; gives it, or NULL when there is no function, or when the lexical one is refused. */
static const pigment_embedding_function *function_of(pgo_function function, pigment_embedding_function *room,
                                                     pgo_done *done) {
  if (!function.present) return NULL;
  *room = (pigment_embedding_function){.struct_size = sizeof *room};
  if (function.lexical) {
    done->status = pigment_embedding_function_lexical(function.dimension, room, &done->error);
    return done->status == PIGMENT_OK ? room : NULL;
  }
  room->name = function.name.data;
  room->name_size = function.name.size;
  room->config_json = function.config.data;
  room->config_json_size = function.config.size;
  room->space = function.space.data;
  room->space_size = function.space.size;
  room->embed = embed;
  room->release = release;
  room->user_data = (void *)function.handle;
  return room;
}

pgo_done pgo_embed_lexical(size_t count, pigment_text_column texts, size_t dimension, float *values) {
  pgo_done done = {PIGMENT_OK, NULL};
  done.status = pigment_embed_lexical(count, &texts, dimension, values, &done.error);
  return done;
}

/* ---- Collections ---- */

pgo_opened pgo_create_collection(pigment_client *client, pgo_text tenant, pgo_text database, pgo_text name, pgo_text metadata,
                                 pgo_text configuration, pgo_text schema, bool get_or_create, pgo_function function) {
  pgo_opened out = {{PIGMENT_OK, NULL}, NULL};
  pigment_embedding_function room;
  const pigment_scope scope = scope_of(tenant, database);
  pigment_collection_options options;
  pigment_collection_options_init(&options);
  options.metadata_json = metadata.data;
  options.metadata_json_size = metadata.size;
  options.configuration_json = configuration.data;
  options.configuration_json_size = configuration.size;
  options.schema_json = schema.data;
  options.schema_json_size = schema.size;
  options.get_or_create = get_or_create;
  options.embedding_function = function_of(function, &room, &out.done);
  if (out.done.status != PIGMENT_OK) return out;
  out.done.status = pigment_client_create_collection(client, &scope, name.data, name.size, &options, &out.collection,
                                                     &out.done.error);
  return out;
}

pgo_opened pgo_get_collection(pigment_client *client, pgo_text tenant, pgo_text database, pgo_text name,
                              pgo_function function) {
  pgo_opened out = {{PIGMENT_OK, NULL}, NULL};
  pigment_embedding_function room;
  const pigment_scope scope = scope_of(tenant, database);
  const pigment_embedding_function *given = function_of(function, &room, &out.done);
  if (out.done.status != PIGMENT_OK) return out;
  out.done.status = pigment_client_get_collection(client, &scope, name.data, name.size, given, &out.collection,
                                                  &out.done.error);
  return out;
}

pgo_opened pgo_get_collection_by_id(pigment_client *client, pgo_text id, pgo_function function) {
  pgo_opened out = {{PIGMENT_OK, NULL}, NULL};
  pigment_embedding_function room;
  const pigment_embedding_function *given = function_of(function, &room, &out.done);
  if (out.done.status != PIGMENT_OK) return out;
  out.done.status = pigment_client_get_collection_by_id(client, id.data, id.size, given, &out.collection, &out.done.error);
  return out;
}

pgo_json pgo_list_collections(pigment_client *client, pgo_text tenant, pgo_text database, int64_t limit, int64_t offset) {
  pgo_json out = {{PIGMENT_OK, NULL}, NULL, {NULL, 0}};
  const pigment_scope scope = scope_of(tenant, database);
  out.done.status = pigment_client_list_collections(client, &scope, limit, offset, &out.buffer, &out.done.error);
  return json_of(out);
}

pgo_count pgo_count_collections(pigment_client *client, pgo_text tenant, pgo_text database) {
  pgo_count out = {{PIGMENT_OK, NULL}, 0};
  const pigment_scope scope = scope_of(tenant, database);
  out.done.status = pigment_client_count_collections(client, &scope, &out.count, &out.done.error);
  return out;
}

pgo_done pgo_delete_collection(pigment_client *client, pgo_text tenant, pgo_text database, pgo_text name) {
  pgo_done done = {PIGMENT_OK, NULL};
  const pigment_scope scope = scope_of(tenant, database);
  done.status = pigment_client_delete_collection(client, &scope, name.data, name.size, &done.error);
  return done;
}

pgo_done pgo_modify(pigment_collection *collection, pgo_text name, pgo_text metadata, pgo_text configuration) {
  pgo_done done = {PIGMENT_OK, NULL};
  const pigment_modify_options options = {
      sizeof options, name.data, name.size, metadata.data, metadata.size, configuration.data, configuration.size};
  done.status = pigment_collection_modify(collection, &options, &done.error);
  return done;
}

pgo_json pgo_client_json(int32_t what, pigment_client *client) {
  pgo_json out = {{PIGMENT_OK, NULL}, NULL, {NULL, 0}};
  out.done.status = what == PGO_STATISTICS ? pigment_client_statistics(client, &out.buffer, &out.done.error)
                    : what == PGO_TENANTS  ? pigment_client_list_tenants(client, &out.buffer, &out.done.error)
                                           : pigment_limits(&out.buffer, &out.done.error);
  return json_of(out);
}

pgo_json pgo_collection_json(int32_t what, pigment_collection *collection) {
  pgo_json out = {{PIGMENT_OK, NULL}, NULL, {NULL, 0}};
  out.done.status = what == PGO_DESCRIBE ? pigment_collection_describe(collection, &out.buffer, &out.done.error)
                                         : pigment_collection_segments(collection, &out.buffer, &out.done.error);
  return json_of(out);
}

pgo_json pgo_get_tenant(pigment_client *client, pgo_text name) {
  pgo_json out = {{PIGMENT_OK, NULL}, NULL, {NULL, 0}};
  out.done.status = pigment_client_get_tenant(client, name.data, name.size, &out.buffer, &out.done.error);
  return json_of(out);
}

pgo_json pgo_get_database(pigment_client *client, pgo_text tenant, pgo_text name) {
  pgo_json out = {{PIGMENT_OK, NULL}, NULL, {NULL, 0}};
  out.done.status = pigment_client_get_database(client, tenant.data, tenant.size, name.data, name.size, &out.buffer,
                                                &out.done.error);
  return json_of(out);
}

pgo_json pgo_list_databases(pigment_client *client, pgo_text tenant, int64_t limit, int64_t offset) {
  pgo_json out = {{PIGMENT_OK, NULL}, NULL, {NULL, 0}};
  out.done.status = pigment_client_list_databases(client, tenant.data, tenant.size, limit, offset, &out.buffer,
                                                  &out.done.error);
  return json_of(out);
}

/* ---- Writing ---- */

pgo_written pgo_write(int32_t what, pigment_collection *collection, pgo_records records, pgo_call call) {
  const pigment_records batch = {sizeof batch,       records.count,     records.ids, records.embeddings,
                                 records.documents, records.metadatas, records.uris};
  const pigment_call_options options = pgo_options_of(call);
  pigment_write_result result = {.struct_size = sizeof result};
  pgo_done done = {PIGMENT_OK, NULL};
  const uintptr_t before = pgo_enter(call.state);
  switch (what) {
    case PGO_ADD: done.status = pigment_collection_add(collection, &batch, &options, &result, &done.error); break;
    case PGO_UPDATE: done.status = pigment_collection_update(collection, &batch, &options, &result, &done.error); break;
    default: done.status = pigment_collection_upsert(collection, &batch, &options, &result, &done.error); break;
  }
  pgo_enter(before);
  const pgo_written out = {done, result.inserted, result.updated, result.skipped, result.deleted, result.position};
  return out;
}

pgo_written pgo_delete(pigment_collection *collection, pgo_filter filter, pgo_number limit, pgo_call call) {
  pigment_delete_request request = {.struct_size = sizeof request};
  request.ids_count = filter.ids_count;
  request.ids = filter.ids;
  request.where_json = filter.where.data;
  request.where_json_size = filter.where.size;
  request.where_document_json = filter.where_document.data;
  request.where_document_json_size = filter.where_document.size;
  request.has_limit = limit.present;
  request.limit = limit.value;
  const pigment_call_options options = pgo_options_of(call);
  pigment_write_result result = {.struct_size = sizeof result};
  pgo_done done = {PIGMENT_OK, NULL};
  done.status = pigment_collection_delete(collection, &request, &options, &result, &done.error);
  const pgo_written out = {done, result.inserted, result.updated, result.skipped, result.deleted, result.position};
  return out;
}

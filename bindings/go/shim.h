/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What lies between Go and pigment.h. Requests are structs with pointers in them, and Go may not hand C a struct of its own that points
 * into Go's memory; so these functions take the pieces as arguments, which C may keep for the call, build the request on C's stack, and
 * give everything that a call answers with in one struct by value: one crossing for a call, one for freeing what it gave.
 *
 * Any thread. What comes back is owned by the caller as pigment.h says; texts and columns in it are borrowed from `result`.
 */

#ifndef PIGMENT_GO_SHIM_H
#define PIGMENT_GO_SHIM_H

#include <pigment/pigment.h>

/* data NULL: absent. */
typedef struct pgo_text {
  const char *data;
  size_t size;
} pgo_text;

/* What a context says. */
typedef struct pgo_call {
  const pigment_cancel *cancel;
  int64_t timeout_ns; /* from now on; 0: none */
  uint64_t min_position;
  uintptr_t state; /* of the Go side, given to embedding functions that run within the call; 0: none */
} pgo_call;

typedef struct pgo_filter {
  pgo_text where;
  pgo_text where_document;
  size_t ids_count;
  pigment_text_column ids;
} pgo_filter;

typedef struct pgo_number {
  bool present;
  int64_t value;
} pgo_number;

/* An embedding function of Go (handle), or the lexical one. */
typedef struct pgo_function {
  bool present;
  bool lexical;
  size_t dimension; /* of the lexical one */
  uintptr_t handle;
  pgo_text name;
  pgo_text config;
  pgo_text space;
} pgo_function;

typedef struct pgo_done {
  pigment_status status;
  pigment_error *error;
} pgo_done;

typedef struct pgo_opened {
  pgo_done done;
  pigment_collection *collection;
} pgo_opened;

typedef struct pgo_json {
  pgo_done done;
  pigment_buffer *buffer;
  pgo_text text;
} pgo_json;

typedef struct pgo_count {
  pgo_done done;
  uint64_t count;
} pgo_count;

typedef struct pgo_written {
  pgo_done done;
  uint64_t inserted, updated, skipped, deleted, position;
} pgo_written;

typedef struct pgo_compacted {
  pgo_done done;
  uint64_t records, segments_in, segments_out, bytes_before, bytes_after;
} pgo_compacted;

typedef struct pgo_result {
  pgo_done done;
  pigment_result *result;
  uint64_t queries, rows, position;
  const uint64_t *offsets;
  pigment_text_column ids, documents, metadatas, uris, highlights; /* offsets NULL: not included */
  const float *distances, *embeddings, *scores;
  size_t dimension;
  int32_t included;
  pgo_text explain, cursor;
} pgo_result;

typedef struct pgo_records {
  size_t count;
  pigment_text_column ids;
  pigment_vectors embeddings;
  pigment_text_column documents, metadatas, uris;
} pgo_records;

typedef struct pgo_get {
  pgo_filter filter;
  pgo_number limit;
  int64_t offset;
  int32_t include;
  bool explain;
  pgo_text order_by, cursor;
} pgo_get;

typedef struct pgo_query {
  pgo_filter filter;
  pigment_vectors embeddings;
  size_t texts_count;
  pigment_text_column texts;
  int64_t n_results;
  int32_t include;
  bool explain;
  double recall;
  int64_t search_width;
  bool has_max_distance;
  double max_distance;
  int32_t threads;
} pgo_query;

typedef struct pgo_text_search {
  pgo_filter filter;
  size_t queries_count;
  pigment_text_column queries;
  int64_t n_results;
  int32_t any_or_all;
  int32_t include;
  bool highlights;
  bool explain;
} pgo_text_search;

enum { PGO_ADD = 0, PGO_UPDATE = 1, PGO_UPSERT = 2 };

pgo_opened pgo_create_collection(pigment_client *client, pgo_text tenant, pgo_text database, pgo_text name, pgo_text metadata,
                                 pgo_text configuration, pgo_text schema, bool get_or_create, pgo_function function);
pgo_opened pgo_get_collection(pigment_client *client, pgo_text tenant, pgo_text database, pgo_text name,
                              pgo_function function);
pgo_opened pgo_get_collection_by_id(pigment_client *client, pgo_text id, pgo_function function);
pgo_json pgo_list_collections(pigment_client *client, pgo_text tenant, pgo_text database, int64_t limit, int64_t offset);
pgo_count pgo_count_collections(pigment_client *client, pgo_text tenant, pgo_text database);
pgo_done pgo_delete_collection(pigment_client *client, pgo_text tenant, pgo_text database, pgo_text name);
pgo_done pgo_modify(pigment_collection *collection, pgo_text name, pgo_text metadata, pgo_text configuration);

pgo_written pgo_write(int32_t what, pigment_collection *collection, pgo_records records, pgo_call call);
pgo_written pgo_delete(pigment_collection *collection, pgo_filter filter, pgo_number limit, pgo_call call);

pgo_result pgo_get_records(pigment_collection *collection, pgo_get get, pgo_call call);
pgo_result pgo_peek(pigment_collection *collection, int64_t limit, pgo_call call);
pgo_result pgo_query_records(pigment_collection *collection, pgo_query query, pgo_call call);
pgo_result pgo_search_text(pigment_collection *collection, pgo_text_search search, pgo_call call);
pgo_count pgo_count_records(pigment_collection *collection, pgo_call call);
pgo_count pgo_count_where(pigment_collection *collection, pgo_filter filter, pgo_call call);
pgo_json pgo_facets(pigment_collection *collection, size_t keys_count, pigment_text_column keys, pgo_filter filter,
                    pgo_number limit, pgo_call call);
pgo_done pgo_contains(pigment_collection *collection, size_t count, pigment_text_column ids, uint8_t *present,
                      pgo_call call);

/* What a call is at that was given the token; phase NULL: nothing has begun. */
typedef struct pgo_progress {
  const char *phase, *unit; /* static */
  uint64_t done, total;
} pgo_progress;
pgo_progress pgo_progress_of(const pigment_cancel *cancel);

/* Of the client when collection is NULL. */
pgo_done pgo_flush(pigment_client *client, pigment_collection *collection, pgo_call call);
pgo_compacted pgo_compact(pigment_client *client, pigment_collection *collection, pgo_call call);
pgo_json pgo_backup(pigment_client *client, pgo_text path, pgo_call call);
/* Of the open store, or of the directory when client is NULL. */
pgo_json pgo_check(pigment_client *client, pgo_text path, bool full, pgo_call call);
pgo_json pgo_repair(pgo_text from, pgo_text to, pgo_call call);

/* What gives one JSON text of an object. */
enum { PGO_STATISTICS = 0, PGO_TENANTS = 1, PGO_LIMITS = 2 };
pgo_json pgo_client_json(int32_t what, pigment_client *client);
enum { PGO_DESCRIBE = 0, PGO_SEGMENTS = 1 };
pgo_json pgo_collection_json(int32_t what, pigment_collection *collection);
pgo_json pgo_get_tenant(pigment_client *client, pgo_text name);
pgo_json pgo_get_database(pigment_client *client, pgo_text tenant, pgo_text name);
pgo_json pgo_list_databases(pigment_client *client, pgo_text tenant, int64_t limit, int64_t offset);

pgo_done pgo_embed_lexical(size_t count, pigment_text_column texts, size_t dimension, float *values);

#endif /* PIGMENT_GO_SHIM_H */

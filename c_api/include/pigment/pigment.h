/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Pigment: an embedded search engine for AI applications. Records (id, embedding, document, metadata, uri) live in
 * collections; a query gives the records nearest to a vector among those that match a filter. The model and its words are
 * Chroma's.
 *
 * Conventions, once for all functions
 *
 *  1. Every fallible call returns a pigment_status (0 is success) and takes `pigment_error **error` last. It may be
 *     NULL; otherwise it is set to NULL on success and to an owned error on failure. After a failure all outputs are NULL
 *     or 0 and nothing was changed, unless a function says otherwise.
 *  2. Text is UTF-8 with a length; it needs no NUL at its end and may contain any byte in documents. `NULL, 0` is "absent" where absence is legal.
 *  3. Pointers into the library are *borrowed* (valid until the object that gave them is freed) or *owned* (free with the
 *     function named). What you pass in is read during the call only.
 *  4. Structs begin with struct_size. Use the init function, or zero the struct and set struct_size = sizeof it; zeroed
 *     means defaults. Fields are only ever appended.
 *  5. Handles are reference-counted inside: free them in any order. `*_free` accepts NULL and never fails.
 *  6. When several arguments are wrong, one is reported, in this order: NULL pointers and struct sizes, where, where_document,
 *     collection (closed, forked, deleted, stale), dimension, then the rest. The same in every home and binding.
 *  7. No exception, abort, signal or output to a terminal crosses this interface. A handle that was opened before
 *     fork() answers PIGMENT_FAILED_PRECONDITION in the child.
 *  8. What is not marked "Since" is there since 0.1.
 *  9. Functions that take no handle may be called from any thread, at any time.
 * 10. Statuses that are not said at each function: INVALID_ARGUMENT where an argument breaks a rule; NOT_FOUND where a tenant, database or collection is
 *     not there, or no longer; RESOURCE_EXHAUSTED where memory, disk or a limit is used up; FAILED_PRECONDITION where the store is closed, or read-only
 *     and the call writes; CANCELLED, DEADLINE_EXCEEDED and DETAIL_STALE where the options ask for it; UNAVAILABLE, PERMISSION_DENIED and
 *     DATA_LOSS where files are read or written.
 *
 *  object              made by                    ended by           threads          parent may go first
 *  pigment_client      pigment_client_open        close, then free   any, concurrent  -
 *  pigment_collection  create, get, fork          free               any, concurrent  yes
 *  pigment_result      get, peek, query           free               one at a time    yes
 *  pigment_buffer      describe, list             free               one at a time    yes
 *  pigment_cancel      pigment_cancel_new         free               any, concurrent  yes
 *  pigment_error       a failing call             free               one at a time    yes
 *  ArrowArrayStream    pigment_result_arrow_stream its release       one at a time    yes
 *
 *  The five functions to begin with: pigment_client_open, pigment_client_create_collection, pigment_collection_add,
 *  pigment_collection_query, pigment_client_close.
 */

#ifndef PIGMENT_PIGMENT_H
#define PIGMENT_PIGMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define PIGMENT_API __attribute__((visibility("default")))
#define PIGMENT_CHECKED __attribute__((warn_unused_result))
#else
#define PIGMENT_API
#define PIGMENT_CHECKED
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version ----------------------------------------------------------------------------------------------------- */

#define PIGMENT_VERSION_MAJOR 0
#define PIGMENT_VERSION_MINOR 2
#define PIGMENT_VERSION_PATCH 0
#define PIGMENT_ABI_VERSION 1

/* The ABI that the loaded library has; compare with PIGMENT_ABI_VERSION. */
PIGMENT_API int32_t pigment_abi_version(void);
/* "0.2.0". Static. */
PIGMENT_API const char *pigment_version(void);
/* Compiler, source revision and SIMD path in use, for bug reports. Static. */
PIGMENT_API const char *pigment_build_info(void);

/* ---- Status and errors ------------------------------------------------------------------------------------------- */

/* Numbers are Chroma's, which are gRPC's; they never change. */
typedef int32_t pigment_status;
enum {
  PIGMENT_OK = 0,
  PIGMENT_CANCELLED = 1,
  PIGMENT_UNKNOWN = 2,
  PIGMENT_INVALID_ARGUMENT = 3,
  PIGMENT_DEADLINE_EXCEEDED = 4,
  PIGMENT_NOT_FOUND = 5,
  PIGMENT_ALREADY_EXISTS = 6,
  PIGMENT_PERMISSION_DENIED = 7,
  PIGMENT_RESOURCE_EXHAUSTED = 8,
  PIGMENT_FAILED_PRECONDITION = 9,
  PIGMENT_ABORTED = 10,
  PIGMENT_OUT_OF_RANGE = 11,
  PIGMENT_UNIMPLEMENTED = 12,
  PIGMENT_INTERNAL = 13,
  PIGMENT_UNAVAILABLE = 14,
  PIGMENT_DATA_LOSS = 15,
  PIGMENT_UNAUTHENTICATED = 16,
  PIGMENT_VERSION_MISMATCH = 17,
  PIGMENT_UNPROCESSABLE_ENTITY = 18
};

/* Finer than the status, for the cases that a program tells apart. */
enum {
  PIGMENT_DETAIL_NONE = 0,
  PIGMENT_DETAIL_MISSING = 1,
  PIGMENT_DETAIL_FOREIGN = 2,
  PIGMENT_DETAIL_WRONG_KIND = 3,
  PIGMENT_DETAIL_MISALIGNED = 4,
  PIGMENT_DETAIL_TRUNCATED = 5,
  PIGMENT_DETAIL_MISCOUNTED = 6,
  PIGMENT_DETAIL_CHECKSUM = 7,
  PIGMENT_DETAIL_CLOSED = 20,
  PIGMENT_DETAIL_LOCKED = 21,
  PIGMENT_DETAIL_FORKED = 22,
  PIGMENT_DETAIL_POISONED = 23,
  PIGMENT_DETAIL_READ_ONLY = 24,
  PIGMENT_DETAIL_STALE = 25,
  PIGMENT_DETAIL_NO_EMBEDDING_FUNCTION = 26,
  PIGMENT_DETAIL_DIMENSION = 40,
  PIGMENT_DETAIL_NOT_FINITE = 41,
  PIGMENT_DETAIL_DUPLICATE_ID = 42,
  PIGMENT_DETAIL_FILTER = 43,
  PIGMENT_DETAIL_NAME = 44,
  PIGMENT_DETAIL_METADATA = 45,
  PIGMENT_DETAIL_EMBEDDING_FUNCTION = 46,
  PIGMENT_DETAIL_DISK_FULL = 60,
  PIGMENT_DETAIL_MEMORY = 61,
  PIGMENT_DETAIL_LIMIT = 62
};

/* Whose doing an error is. */
enum {
  PIGMENT_FAULT_NONE = 0,
  PIGMENT_FAULT_CALLER = 1,
  PIGMENT_FAULT_ENVIRONMENT = 2,
  PIGMENT_FAULT_LIBRARY = 3
};

/* Facts about a code; an unknown number gives NULL, false or PIGMENT_FAULT_NONE. Strings are static. */
PIGMENT_API const char *pigment_status_name(pigment_status status);     /* "invalid argument" */
PIGMENT_API const char *pigment_status_sqlstate(pigment_status status); /* "22023" */
PIGMENT_API bool pigment_status_retryable(pigment_status status);
PIGMENT_API int32_t pigment_status_fault(pigment_status status);

typedef struct pigment_error pigment_error;

/* Accessors; strings are NUL-terminated and borrowed. NULL gives PIGMENT_OK, "" and -1. */
PIGMENT_API pigment_status pigment_error_status(const pigment_error *error);
PIGMENT_API int32_t pigment_error_detail(const pigment_error *error);
PIGMENT_API const char *pigment_error_message(const pigment_error *error);
PIGMENT_API const char *pigment_error_hint(const pigment_error *error);
PIGMENT_API int64_t pigment_error_row(const pigment_error *error);    /* offending row of the batch, or -1 */
PIGMENT_API const char *pigment_error_file(const pigment_error *error); /* "" when no file is involved */
PIGMENT_API int64_t pigment_error_offset(const pigment_error *error); /* byte offset in that file, or -1 */
PIGMENT_API void pigment_error_free(pigment_error *error); /* its strings go with it */

/* ---- Values in and out ------------------------------------------------------------------------------------------- */

/* A column of n texts, laid out as Arrow's LargeUtf8: text i is bytes[offsets[i] .. offsets[i + 1]), and is present
   when validity is NULL or bit i % 8 of validity[i / 8] is set. offsets NULL: the column is absent. Ids, metadata and
   uris must be UTF-8; documents and query texts are bytes of any kind. */
typedef struct pigment_text_column {
  const int64_t *offsets; /* n + 1, ascending, beginning at 0 or above */
  const char *bytes; /* may be NULL when all texts are empty */
  const uint8_t *validity;
} pigment_text_column;

enum {
  PIGMENT_F32 = 0,
  PIGMENT_F16 = 1, /* IEEE half */
  PIGMENT_F64 = 2,
  PIGMENT_I32 = 3,
  PIGMENT_I64 = 4
};

/* A matrix, row by row. Every value must be finite and fit f32. data NULL: absent. */
typedef struct pigment_vectors {
  const void *data;
  size_t rows;
  size_t dimension;
  size_t row_stride_bytes; /* 0: packed */
  int32_t dtype;           /* PIGMENT_F32 … */
} pigment_vectors;

typedef struct pigment_buffer pigment_buffer; /* owned text */
PIGMENT_API const char *pigment_buffer_data(const pigment_buffer *buffer, size_t *size); /* also NUL-terminated */
PIGMENT_API void pigment_buffer_free(pigment_buffer *buffer); /* its text goes with it */
/* What the library refuses to go beyond, as a JSON array of {"name","most","status","of"}: status names the code of what is beyond. What is not there
   is bounded by memory and disk alone. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_limits(pigment_buffer **json, pigment_error **error);

/* ---- Cancellation and deadlines ---------------------------------------------------------------------------------- */

typedef struct pigment_cancel pigment_cancel; /* sticky: once set it stays set */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_cancel_new(pigment_cancel **cancel, pigment_error **error); /* not set */
PIGMENT_API void pigment_cancel_set(pigment_cancel *cancel); /* any thread, also a signal handler */
PIGMENT_API bool pigment_cancel_is_set(const pigment_cancel *cancel); /* NULL never is */
PIGMENT_API void pigment_cancel_free(pigment_cancel *cancel); /* calls that were given it go on, and cannot be stopped by it any more */

/* Since 0.2. How far long work is: what a flush, compaction, backup, check or repair is at that was given the token, the last of them that began something. */
typedef struct pigment_progress {
  size_t struct_size;
  const char *phase; /* "flush", "merge", "index", "log", "segments", "records", "search"; NULL: nothing has begun. Static, as unit is */
  const char *unit;  /* "rows", "bytes", "batches", "files", "collections"; NULL as phase */
  uint64_t done;     /* of this phase; never goes back within it */
  uint64_t total;    /* done is never beyond it; 0: nobody knows */
} pigment_progress;
/* Any thread, while the call runs on another; the four belong together. After the call they stay what they were at its end. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_cancel_progress(const pigment_cancel *cancel,
                                                                   pigment_progress *progress, pigment_error **error);

/* Nanoseconds of the clock that deadlines are given in (monotonic). */
PIGMENT_API int64_t pigment_now_ns(void);

/* Per call; NULL means none of it. */
typedef struct pigment_call_options {
  size_t struct_size;
  const pigment_cancel *cancel;
  int64_t deadline_ns;   /* absolute, of pigment_now_ns; 0: none */
  uint64_t min_position; /* reads: fail with DETAIL_STALE unless the store has reached this log position; 0: none */
} pigment_call_options;
/* All zero: no token, no deadline, no position. */
PIGMENT_API void pigment_call_options_init(pigment_call_options *options);

/* ---- Embedding functions ----------------------------------------------------------------------------------------- */

enum { PIGMENT_EMBED_DOCUMENT = 0, PIGMENT_EMBED_QUERY = 1 };

/* Where an embedding function puts its answer. Valid during the callback only. */
typedef struct pigment_embedding_sink pigment_embedding_sink;
/* Copies rows x dimension floats; call once, or in order for several slices of one dimension. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_embedding_sink_put(pigment_embedding_sink *sink, const float *values,
                                                                      size_t rows, size_t dimension);
/* Says why the function fails; return a non-zero status afterwards. */
PIGMENT_API void pigment_embedding_sink_fail(pigment_embedding_sink *sink, const char *message, size_t message_size);

/* A function from texts to vectors, called from the thread of the call that needs it, perhaps from several at once. It must return,
   must not unwind, and must not call the collection that it serves. What it returns is checked: count, one dimension, finite numbers. */
typedef struct pigment_embedding_function {
  size_t struct_size;
  const char *name; /* stored in the catalog as data, with config_json; nothing is ever loaded by it */
  size_t name_size;
  const char *config_json;
  size_t config_json_size;
  const char *space; /* preferred space "l2", "cosine", "ip"; NULL: none */
  size_t space_size;
  pigment_status (*embed)(void *user_data, int32_t purpose, size_t count, const pigment_text_column *texts,
                          pigment_embedding_sink *sink);
  /* Called once for each successful call that was given the function, when the last handle that got it there is gone. Not called when
     that call failed: the user data is still the caller's then. May be NULL. */
  void (*release)(void *user_data);
  void *user_data;
} pigment_embedding_function;

/* The built-in lexical embedding "pigment_lexical_v1": signed feature hashing of words and character n-grams with sublinear
   term frequency, unit length. A pure function of the text; a baseline, not a semantic model. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_embed_lexical(size_t count, const pigment_text_column *texts,
                                                                 size_t dimension, float *values /* count x dimension */,
                                                                 pigment_error **error);
/* Fills `function` with it (preferred space cosine). dimension 0: 384. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_embedding_function_lexical(size_t dimension,
                                                                              pigment_embedding_function *function,
                                                                              pigment_error **error);

/* ---- Client: an open store --------------------------------------------------------------------------------------- */

typedef struct pigment_client pigment_client;

enum {
  PIGMENT_SYNC_FULL = 0,     /* a write returns after an fsync that covers it */
  PIGMENT_SYNC_INTERVAL = 1, /* synced at most sync_interval_ms later */
  PIGMENT_SYNC_OFF = 2       /* left to the operating system */
};

/* Since 0.2. Tracing: a program may be told when queries, the segments that they search, and jobs begin and end. */
enum {
  PIGMENT_SPAN_QUERY = 1,   /* "get", "query", "search_text", "count", "facets": from the arguments being right to the answer */
  PIGMENT_SPAN_SEGMENT = 2, /* of a query, in one segment: "plan_segment" and "filter_segment" (the filter), "search_segment"; "filter_tail", "search_tail" */
  PIGMENT_SPAN_JOB = 4      /* "flush", "merge", "compaction", "purge_log", "erase_log", "backup", "check", "refresh", "close" */
};

/* The functions are called on the thread that does the work, several at once: the caller's, those that share a query's embeddings, and those that merge. On a thread
   spans are well nested, and each that begins ends, whatever the work comes to. No mutex of the library is held. They must return, must not unwind, and must not call
   the library with anything of this store. No function is called where `kinds` lacks the kind. What this points at is copied; functions and user data must stay until the store is closed and no call on it runs. */
typedef struct pigment_tracing {
  size_t struct_size;
  int32_t kinds; /* sum of PIGMENT_SPAN_…; 0: off */
  /* span: a number that no other span of the process has. parent: of a segment's span the query's, where those are told too; otherwise 0. Texts are NUL-terminated and
     valid during the call (names for ever); collection_id is "" of a job of the whole store. */
  void (*begin)(void *user_data, uint64_t span, uint64_t parent, int32_t kind, const char *name, const char *collection_id);
  /* status: how it ended. What it did are `count` numbers, with their names; which there are hangs on the span: docs/design/tracing.md. */
  void (*end)(void *user_data, uint64_t span, pigment_status status, size_t count, const char *const *keys, const int64_t *values);
  void *user_data;
} pigment_tracing;

typedef struct pigment_open_options {
  size_t struct_size;
  int32_t sync_mode;
  uint32_t sync_interval_ms;    /* 0: 100 */
  uint64_t memory_budget_bytes; /* 0: no limit */
  uint32_t flush_rows_max;      /* rows in the tail before a flush; 0: 16384 */
  uint64_t flush_bytes_max;     /* 0: 64 MiB */
  bool read_only;               /* takes no lock, writes and creates nothing */
  bool must_exist;              /* fail with NOT_FOUND instead of creating the directory */
  /* Since 0.2. */
  uint64_t reserve_bytes;       /* kept so that deletes go through on a full disk; 0: the default, UINT64_MAX: none */
  int32_t background_threads;   /* that merge segments; 0: 1; -1: none, the writer who makes a merge necessary does it */
  bool erase_log;               /* overwrite what was deleted before log files go */
  bool map_files;               /* map segments instead of reading them: a failing disk is a signal then */
} pigment_open_options;
/* All zero: every default. */
PIGMENT_API void pigment_open_options_init(pigment_open_options *options);

/* Opens the store in the directory `path`, or one in memory when path_size is 0. Opens of one directory within a process share one engine
   and must give equal options. Open for writing elsewhere: FAILED_PRECONDITION, DETAIL_LOCKED, naming the holder. A directory that holds a chroma.sqlite3
   is refused with a hint. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_open(const char *path, size_t path_size,
                                                               const pigment_open_options *options,
                                                               pigment_client **client, pigment_error **error);
/* As pigment_client_open; the functions of `tracing` are told what happens (NULL: none). Opens of one directory must give equal ones. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_open_traced(const char *path, size_t path_size,
                                                                      const pigment_open_options *options,
                                                                      const pigment_tracing *tracing,
                                                                      pigment_client **client, pigment_error **error);
/* Waits for running writes, refuses later calls with DETAIL_CLOSED, makes everything durable, and reports errors. Idempotent. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_close(pigment_client *client, pigment_error **error);
/* Frees the handle. Where nobody closed the store, it closes when the last collection of this client is freed too; an error of that close is lost. */
PIGMENT_API void pigment_client_free(pigment_client *client);

/* Writes the tails of all collections into segments. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_flush(pigment_client *client, pigment_error **error);
/* The same with options: when it is stopped, the collections that it came to before stay flushed, and the others are as they were. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_flush_with(pigment_client *client,
                                                                     const pigment_call_options *options,
                                                                     pigment_error **error);
/* What a compaction did. */
typedef struct pigment_compaction {
  size_t struct_size;
  uint64_t records; /* live ones */
  uint64_t segments_in;
  uint64_t segments_out;
  uint64_t bytes_before; /* of segments and their deletions */
  uint64_t bytes_after;
} pigment_compaction;
/* Merges the segments of all collections as far as that saves anything, and gives their disk space back; `result` holds the sums and may be NULL.
   A collection that fails does not keep the others from it; the first error is given in the end. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_compact(pigment_client *client,
                                                                  const pigment_call_options *options,
                                                                  pigment_compaction *result, pigment_error **error);

/* How the store is, as JSON: {"version","position","log":{..},"catalog":{..},"memory":{..},"maintenance":{..},"formats":{..},"migrations":[..]}.
   Members are only ever added. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_statistics(pigment_client *client, pigment_buffer **json,
                                                                     pigment_error **error);

/* Copies the store as it is at one moment into another directory, on any file system, while writers go on. The directory is missing, empty, or
   left by a backup that did not finish; one with a store in it: ALREADY_EXISTS. Every file is verified on its way: damage is DATA_LOSS naming it.
   Until this succeeds the copy does not open. Works for a store in memory and for a read-only client too. `json`, which may be NULL:
   {"position","collections","files","bytes"}. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_backup(pigment_client *client, const char *path,
                                                                 size_t path_size, const pigment_call_options *options,
                                                                 pigment_buffer **json, pigment_error **error);

/* Reads every byte and compares everything with everything, changes nothing, and succeeds whatever it finds. The report:
   {"clean","position","errors","warnings","findings":[{"severity","code","detail","collection","file","offset","message"}],
   "findings_left_out","totals":{..}}. `clean` is true when there is no finding of severity "error". With `full` every row is searched for by its own vector, else
   a sample of each large segment. pigment_check is for a directory, open in another process or not at all. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_check(pigment_client *client, bool full,
                                                                const pigment_call_options *options,
                                                                pigment_buffer **json, pigment_error **error);
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_check(const char *path, size_t path_size, bool full,
                                                         const pigment_call_options *options, pigment_buffer **json,
                                                         pigment_error **error);
/* Writes a new store in the directory `to` (as for a backup) with everything of the one in `from` that can be read; `from` is not changed, and nobody may write to it
   meanwhile. The report: {"lossless","catalog":"whole"|"damaged"|"lost","position","log_batches","log_batches_lost","log_whole","shelf_records_lost","collections":[{"name","recovered",
   "rows","rows_lost","deletions_lost","segments_rewritten"}],"messages":[..]}. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_repair(const char *from, size_t from_size, const char *to,
                                                          size_t to_size, const pigment_call_options *options,
                                                          pigment_buffer **json, pigment_error **error);

/* Last visible log position. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_position(pigment_client *client, uint64_t *position,
                                                                   pigment_error **error);
/* A read-only client catches up with the writer. position may be NULL. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_refresh(pigment_client *client, uint64_t *position,
                                                                  pigment_error **error);

/* Tenants and databases. Names have at least 3 characters of any kind. get_tenant gives {"name"}, get_database {"id","name","tenant"}; lists are JSON arrays,
   of names and of databases, by name. Deleting one deletes what is in it. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_create_tenant(pigment_client *client, const char *name,
                                                                        size_t name_size, pigment_error **error);
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_get_tenant(pigment_client *client, const char *name,
                                                                     size_t name_size, pigment_buffer **json,
                                                                     pigment_error **error);
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_list_tenants(pigment_client *client, pigment_buffer **json,
                                                                       pigment_error **error);
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_delete_tenant(pigment_client *client, const char *name,
                                                                        size_t name_size, pigment_error **error);

/* Databases, as tenants above. tenant NULL, 0: default_tenant. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_create_database(pigment_client *client, const char *tenant,
                                                                          size_t tenant_size, const char *name,
                                                                          size_t name_size, pigment_error **error);
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_get_database(pigment_client *client, const char *tenant,
                                                                       size_t tenant_size, const char *name,
                                                                       size_t name_size, pigment_buffer **json,
                                                                       pigment_error **error);
/* limit < 0: no limit. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_list_databases(pigment_client *client, const char *tenant,
                                                                         size_t tenant_size, int64_t limit,
                                                                         int64_t offset, pigment_buffer **json,
                                                                         pigment_error **error);
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_delete_database(pigment_client *client, const char *tenant,
                                                                          size_t tenant_size, const char *name,
                                                                          size_t name_size, pigment_error **error);

/* Where a collection lives; NULL or empty fields: default_tenant, default_database. */
typedef struct pigment_scope {
  size_t struct_size;
  const char *tenant;
  size_t tenant_size;
  const char *database;
  size_t database_size;
} pigment_scope;

/* ---- Collections ------------------------------------------------------------------------------------------------- */

typedef struct pigment_collection pigment_collection;

typedef struct pigment_collection_options {
  size_t struct_size;
  const char *metadata_json; /* object of scalars; absent: none */
  size_t metadata_json_size;
  const char*
      configuration_json; /* Chroma's: {"hnsw": {"space": "cosine", …}} or {"spann": …}; beside them
                             "full_vectors": "f16" keeps each number of a vector in 16 bits, rounded
                             when it is written, within ±65504 (else "f32"). What each parameter
                             does: docs/operations.md; those without effect take their default
                             alone. Since 0.2 also "text_index": {"analyzer": {"language":
                             "english"}} for ranked search of documents: docs/text-search.md, and
                             "nested_metadata": true for metadata with objects, whose paths are keys
                             of filters: docs/filters.md */
  size_t configuration_json_size;
  const pigment_embedding_function *embedding_function; /* copied; NULL: none */
  bool get_or_create; /* an existing collection is returned as it is; its function must not conflict, as in get */
  /* Since 0.2. */
  const char *schema_json; /* Chroma's: {"defaults": …, "keys": …}: which values can be filtered by, and the vector index in place of a
                              configuration, which must be absent; what it says of numbers and texts: docs/schema.md; absent: none */
  size_t schema_json_size;
} pigment_collection_options;
/* All zero: no metadata, no function, every default. */
PIGMENT_API void pigment_collection_options_init(pigment_collection_options *options);

/* Existing name without get_or_create: ALREADY_EXISTS. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_create_collection(
    pigment_client *client, const pigment_scope *scope, const char *name, size_t name_size,
    const pigment_collection_options *options, pigment_collection **collection, pigment_error **error);
/* `function` (may be NULL) must have the name that the catalog stored, where it stored one; the name "default" never conflicts. Without it the
   collection takes vectors, and texts give FAILED_PRECONDITION, DETAIL_NO_EMBEDDING_FUNCTION. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_get_collection(
    pigment_client *client, const pigment_scope *scope, const char *name, size_t name_size,
    const pigment_embedding_function *function, pigment_collection **collection, pigment_error **error);
/* The same by its id, in whatever tenant and database it is. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_get_collection_by_id(
    pigment_client *client, const char *id, size_t id_size, const pigment_embedding_function *function,
    pigment_collection **collection, pigment_error **error);
/* JSON array of what pigment_collection_describe gives, by id. limit < 0: no limit. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_list_collections(pigment_client *client,
                                                                           const pigment_scope *scope, int64_t limit,
                                                                           int64_t offset, pigment_buffer **json,
                                                                           pigment_error **error);
/* How many there are in the scope. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_count_collections(pigment_client *client,
                                                                            const pigment_scope *scope, uint64_t *count,
                                                                            pigment_error **error);
/* With all its records. Handles that are open give NOT_FOUND from then on; results that were got stay. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_client_delete_collection(pigment_client *client,
                                                                            const pigment_scope *scope, const char *name,
                                                                            size_t name_size, pigment_error **error);

/* {"id","name","tenant","database","metadata","configuration","schema","embedding_function","dimension"}. Null: no metadata, no schema, no function,
   nothing added yet. embedding_function is {"name","config"}; configuration and schema as they have effect, with every default. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_collection_describe(pigment_collection *collection,
                                                                       pigment_buffer **json, pigment_error **error);

typedef struct pigment_modify_options {
  size_t struct_size;
  const char *name; /* absent: unchanged */
  size_t name_size;
  const char *metadata_json; /* replaces wholesale, a null is a key that will not be there; absent: unchanged */
  size_t metadata_json_size;
  const char* configuration_json; /* merged; space, full_vectors and nested_metadata cannot change,
                                     of text_index k1 and b alone; absent: unchanged */
  size_t configuration_json_size;
} pigment_modify_options;
/* Changes name, metadata and configuration, all that is given or nothing. Handles that are open stay. A name that another one has: ALREADY_EXISTS. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_collection_modify(pigment_collection *collection,
                                                                     const pigment_modify_options *options,
                                                                     pigment_error **error);
/* A new collection with the same records; segments are shared, later writes are not. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_collection_fork(pigment_collection *collection, const char *new_name,
                                                                   size_t new_name_size, pigment_collection **fork,
                                                                   pigment_error **error);
/* Writes its tail into a segment. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_collection_flush(pigment_collection *collection,
                                                                    pigment_error **error);
/* The same with options: when it is stopped, nothing was changed. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_collection_flush_with(pigment_collection *collection,
                                                                         const pigment_call_options *options,
                                                                         pigment_error **error);
/* Its segments in the order of their first flush, as a JSON array of
   {"segment","kind","rows","live_rows","bytes","deletions_bytes","dimension","codes","shared"}; what was written since is in the tail and in none. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_collection_segments(pigment_collection *collection,
                                                                       pigment_buffer **json, pigment_error **error);
/* As pigment_client_compact, for one collection. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_collection_compact(pigment_collection *collection,
                                                                      const pigment_call_options *options,
                                                                      pigment_compaction *result,
                                                                      pigment_error **error);
/* Frees the handle; the collection stays. */
PIGMENT_API void pigment_collection_free(pigment_collection *collection);

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* A batch of `count` records as columns; ids are required, absent columns have data or offsets NULL. */
typedef struct pigment_records {
  size_t struct_size;
  size_t count;
  pigment_text_column ids;
  pigment_vectors embeddings;
  pigment_text_column documents;
  pigment_text_column metadatas; /* JSON objects; in update and upsert a null value deletes its key,
                                    and objects merge member by member */
  pigment_text_column uris;
} pigment_records;

typedef struct pigment_write_result {
  size_t struct_size;
  uint64_t inserted;
  uint64_t updated;
  uint64_t skipped; /* add of an id that exists; update or delete of one that does not */
  uint64_t deleted;
  uint64_t position; /* log position of the write */
} pigment_write_result;

/* A batch is atomic: all of it is durable and visible, or none. `result` may be NULL. A wrong row is in pigment_error_row.
   add: ids that exist are left as they are. update: ids that do not exist are skipped. upsert: both. Metadata merges by key. Without embeddings, documents are
   embedded by the collection's function. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_collection_add(pigment_collection *collection,
                                                                  const pigment_records *records,
                                                                  const pigment_call_options *options,
                                                                  pigment_write_result *result, pigment_error **error);
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_collection_update(pigment_collection *collection,
                                                                     const pigment_records *records,
                                                                     const pigment_call_options *options,
                                                                     pigment_write_result *result,
                                                                     pigment_error **error);
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_collection_upsert(pigment_collection *collection,
                                                                     const pigment_records *records,
                                                                     const pigment_call_options *options,
                                                                     pigment_write_result *result,
                                                                     pigment_error **error);

typedef struct pigment_delete_request {
  size_t struct_size;
  size_t ids_count;
  pigment_text_column ids; /* offsets NULL: any id */
  const char *where_json;  /* absent: no filter */
  size_t where_json_size;
  const char *where_document_json;
  size_t where_document_json_size;
  bool has_limit; /* only with a filter */
  int64_t limit;
} pigment_delete_request;
/* Deletes the records that are in ids (when given) and match the filters (when given); at least one must be given. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_collection_delete(pigment_collection *collection,
                                                                     const pigment_delete_request *request,
                                                                     const pigment_call_options *options,
                                                                     pigment_write_result *result,
                                                                     pigment_error **error);

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

enum {
  PIGMENT_INCLUDE_DEFAULT = 0, /* get: documents, metadatas; query: those and distances */
  PIGMENT_INCLUDE_DOCUMENTS = 1,
  PIGMENT_INCLUDE_METADATAS = 2,
  PIGMENT_INCLUDE_EMBEDDINGS = 4,
  PIGMENT_INCLUDE_URIS = 8,
  PIGMENT_INCLUDE_DISTANCES = 16, /* query only */
  PIGMENT_INCLUDE_NOTHING = 32    /* ids alone; not with others */
};

typedef struct pigment_result pigment_result;

typedef struct pigment_get_request {
  size_t struct_size;
  size_t ids_count;
  pigment_text_column ids; /* offsets NULL: any id */
  const char *where_json;
  size_t where_json_size;
  const char *where_document_json;
  size_t where_document_json_size;
  bool has_limit;
  int64_t limit;
  int64_t offset;
  int32_t include;
  bool explain;
  /* Since 0.2. */
  const char *order_by_json; /* [{"key": name, "descending": bool}, ..]: by metadata keys, "#id" or "chroma:uri"; absent: by insertion */
  size_t order_by_json_size;
  const char *cursor; /* of pigment_result_cursor: only records behind it; absent: from the first on */
  size_t cursor_size;
} pigment_get_request;
/* Records in insertion order, or as order_by says, ties by insertion; ids that do not exist are left out.
   order_by puts bools before numbers before texts, false first, numbers as the numbers that they are, texts by their bytes, and descending turns that round; a
   record that lacks the key, or has a list there, comes last in both. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_collection_get(pigment_collection *collection,
                                                                  const pigment_get_request *request,
                                                                  const pigment_call_options *options,
                                                                  pigment_result **result, pigment_error **error);
/* The first `limit` records with documents, metadatas and embeddings. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_collection_peek(pigment_collection *collection, int64_t limit,
                                                                   const pigment_call_options *options,
                                                                   pigment_result **result, pigment_error **error);
/* How many records there are. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_collection_count(pigment_collection *collection,
                                                                    const pigment_call_options *options,
                                                                    uint64_t *count, pigment_error **error);

typedef struct pigment_count_request {
  size_t struct_size;
  size_t ids_count;
  pigment_text_column ids; /* allow-list; offsets NULL: any id; unknown ids are not counted, and an id twice is counted once */
  const char *where_json;
  size_t where_json_size;
  const char *where_document_json;
  size_t where_document_json_size;
} pigment_count_request;
/* How many records are in ids (when given) and match the filters (when given). No record is read of which an index is certain. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_collection_count_where(pigment_collection *collection,
                                                                          const pigment_count_request *request,
                                                                          const pigment_call_options *options,
                                                                          uint64_t *count, pigment_error **error);

typedef struct pigment_facets_request {
  size_t struct_size;
  size_t keys_count;
  pigment_text_column keys; /* of metadata, or "chroma:uri"; each once */
  size_t ids_count;
  pigment_text_column ids; /* as in pigment_count_request */
  const char *where_json;
  size_t where_json_size;
  const char *where_document_json;
  size_t where_document_json_size;
  bool has_limit;
  int64_t limit; /* values of each key; absent: all */
} pigment_facets_request;
/* How many of the records that are in ids and match the filters have each value of the keys, as JSON: {key: [{"value":..,"count":n}, ..], ..}, the most frequent
   first, ties in the order of order_by. Exact. 2 and 2.0 are one value; a list counts once for each of its different elements. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_collection_facets(pigment_collection *collection,
                                                                     const pigment_facets_request *request,
                                                                     const pigment_call_options *options,
                                                                     pigment_buffer **json, pigment_error **error);

/* Which of `count` ids are there: present[i] becomes 1 or 0; after a failure nothing of it is written. An id may be asked twice. Reads ids alone, no record. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_collection_contains(pigment_collection *collection, size_t count,
                                                                       const pigment_text_column *ids,
                                                                       const pigment_call_options *options,
                                                                       uint8_t *present, pigment_error **error);

typedef struct pigment_query_request {
  size_t struct_size;
  pigment_vectors embeddings; /* one row a query; wins over texts */
  size_t texts_count;
  pigment_text_column texts; /* embedded by the collection's function, purpose query */
  int64_t n_results;         /* init sets 10; 0 and below are refused */
  size_t ids_count;
  pigment_text_column ids; /* allow-list; offsets NULL: any id; unknown ids are no hit */
  const char *where_json;
  size_t where_json_size;
  const char *where_document_json;
  size_t where_document_json_size;
  int32_t include;
  bool explain;
  /* Since 0.2. */
  double recall;        /* of the nearest records the part that is to be found on average, over 0 to 1; 0: the default, 0.98; 1: all of them */
  int64_t search_width; /* nodes that are visited in the graph of each segment, or clusters that are probed, in place of a recall;
                           0: as ef_search or search_nprobe of the configuration say where they are no default, else as that takes */
  bool has_max_distance;
  double max_distance; /* only records at this distance or nearer are hits; not NaN */
  int32_t threads;     /* that may share many embeddings; the answer is the same; 0: as many as there are cores, at most 256 */
} pigment_query_request;
/* n_results 10, the rest zero. */
PIGMENT_API void pigment_query_request_init(pigment_query_request *request);
/* For each query the nearest records, ascending by distance (l2 squared, 1 - cosine, 1 - inner product), ties by insertion
   order; fewer than n_results only when fewer match, or fewer are within max_distance. Distances are exact, whatever the recall. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_collection_query(pigment_collection *collection,
                                                                    const pigment_query_request *request,
                                                                    const pigment_call_options *options,
                                                                    pigment_result **result, pigment_error **error);

/* Since 0.2: ranked search of documents in a collection with a text index. */
enum {
  PIGMENT_TEXT_ANY = 0, /* a document matches with any clause of the query */
  PIGMENT_TEXT_ALL = 1  /* with all of them */
};

typedef struct pigment_text_search_request {
  size_t struct_size;
  size_t queries_count;
  pigment_text_column queries; /* words, "phrases", prefix*, +required: docs/text-search.md; every text is a query */
  int64_t n_results;           /* init sets 10; 0 and below are refused */
  size_t ids_count;
  pigment_text_column ids; /* allow-list; offsets NULL: any id; unknown ids are no hit */
  const char *where_json;
  size_t where_json_size;
  const char *where_document_json;
  size_t where_document_json_size;
  int32_t operator_; /* PIGMENT_TEXT_… */
  int32_t include;   /* DISTANCES is refused; scores always come */
  bool highlights;
  bool explain;
} pigment_text_search_request;
/* n_results 10, the rest zero. Since 0.2. */
PIGMENT_API void pigment_text_search_request_init(pigment_text_search_request *request);
/* For each query the records that match, by BM25 over all live records, the highest score first, ties by insertion order; exact, and filters change
   no score. Without a text index: FAILED_PRECONDITION. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_collection_search_text(pigment_collection *collection,
                                                                          const pigment_text_search_request *request,
                                                                          const pigment_call_options *options,
                                                                          pigment_result **result,
                                                                          pigment_error **error);

/* Everything below is borrowed from the result. Rows of query q are offsets[q] .. offsets[q + 1]; a get has one "query". */
PIGMENT_API uint64_t pigment_result_query_count(const pigment_result *result);
PIGMENT_API uint64_t pigment_result_row_count(const pigment_result *result); /* of all queries together */
PIGMENT_API const uint64_t *pigment_result_query_offsets(const pigment_result *result);
/* False, and an absent column, when the result does not include it. */
PIGMENT_API bool pigment_result_ids(const pigment_result *result, pigment_text_column *column);
PIGMENT_API bool pigment_result_documents(const pigment_result *result, pigment_text_column *column);
PIGMENT_API bool pigment_result_metadatas(const pigment_result *result, pigment_text_column *column);
PIGMENT_API bool pigment_result_uris(const pigment_result *result, pigment_text_column *column);
PIGMENT_API const float *pigment_result_distances(const pigment_result *result);                       /* or NULL */
PIGMENT_API const float *pigment_result_embeddings(const pigment_result *result, size_t *dimension);   /* or NULL */
/* Since 0.2, of a text search: scores, or NULL; with highlights, of each row a JSON array of [begin, end), bytes of its document. */
PIGMENT_API const float *pigment_result_scores(const pigment_result *result);
PIGMENT_API bool pigment_result_highlights(const pigment_result *result, pigment_text_column *column);
PIGMENT_API int32_t pigment_result_included(const pigment_result *result); /* PIGMENT_INCLUDE_… bits, never DEFAULT */
PIGMENT_API uint64_t pigment_result_position(const pigment_result *result); /* log position that the answer saw */
/* Stages with rows and nanoseconds as JSON, or NULL when `explain` was not asked for. */
PIGMENT_API const char *pigment_result_explain(const pigment_result *result, size_t *size);
/* Of a get that its limit ended: where it did, for the cursor of the next get of the same collection and order; otherwise NULL. It stays right whatever is
   written meanwhile: no record comes twice, and none is passed over, unless an update changes what order_by looks at. Since 0.2. */
PIGMENT_API const char *pigment_result_cursor(const pigment_result *result, size_t *size);
PIGMENT_API void pigment_result_free(pigment_result *result); /* all that was borrowed from it goes with it */

/* ---- Arrow --------------------------------------------------------------------------------------------------------- */

/* Since 0.2. Results out and records in as streams of Arrow's record batches, without Arrow's library. The three structs are those of the Arrow C data and
   C stream interfaces, letter by letter: https://arrow.apache.org/docs/format/CDataInterface.html says what their members are and who releases what. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

#endif /* ARROW_C_DATA_INTERFACE */

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

#endif /* ARROW_C_STREAM_INTERFACE */

/* The rows of a result as a stream: one batch of a get, one for each query of a query or text search, an empty one too. Columns, beside `id` only what the
   result includes:
     query      uint32, of a query or text search alone: the number of the query
     id         large_utf8
     document   large_utf8, or null
     metadata   large_utf8, or null: a JSON object (extension arrow.json)
     uri        large_utf8, or null
     highlights large_utf8: a JSON array (extension arrow.json)
     distance   float32
     score      float32
     embedding  fixed_size_list<float32>[dimension]; [0] where nothing was added yet
   A document that is no UTF-8 is INVALID_ARGUMENT with its row, for the type of a column does not hang on what is in it.
   What is in `stream` before is overwritten and not released; the caller releases it afterwards, or gives it away. Nothing but `query` is copied: stream and arrays
   each hold what the result holds, so that they may outlive one another, the result, the collection and the client, be moved, and be released in any order and by
   any thread. The result stays the caller's, and may be made a stream again. A stream is for one thread at a time, arrays and schemas for any. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_result_arrow_stream(const pigment_result *result,
                                                                       struct ArrowArrayStream *stream,
                                                                       pigment_error **error);

/* add, update and upsert of the records of a stream, each batch of it one atomic write, an empty batch none. Columns by name, in any order, `id` required:
     id, uri    utf8, large_utf8, utf8_view
     document   these, or binary, large_binary, binary_view
     metadata   JSON objects as a text; or a struct, whose fields are keys: bools, integers, floats, texts (UTF-8) and lists of one of these; a field that is null is left
                out, and deletes no key
     embedding  fixed_size_list, list or large_list of float16, float32, float64, int32 or int64, of one length
   A null is an absent document, metadata or uri; a column of nothing but nulls in a batch, or of type null, is an absent column; an embedding that is null beside
   others is refused. So are other columns, by name, and dictionaries.
   The call takes the stream over: it is released when the call returns, also when that fails or refuses another argument, and stream->release is NULL then.
   The stream's callbacks run on the thread of the call, with no lock of the library held; they must not unwind. What can be seen of the structs is checked
   (lengths, counts of buffers and children, NULL, offsets); that buffers are as large as they say cannot be.
   After a failure the batches before the one that failed are there: `result` (sums; position of the last) and `batches` say what was written, also then; either
   may be NULL. The message names batch, row and column, pigment_error_row the row within the batch. A stream that fails is INVALID_ARGUMENT with what it says, or
   RESOURCE_EXHAUSTED where that is ENOMEM. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_collection_add_arrow(pigment_collection *collection,
                                                                        struct ArrowArrayStream *stream,
                                                                        const pigment_call_options *options,
                                                                        pigment_write_result *result, uint64_t *batches,
                                                                        pigment_error **error);
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_collection_update_arrow(pigment_collection *collection,
                                                                           struct ArrowArrayStream *stream,
                                                                           const pigment_call_options *options,
                                                                           pigment_write_result *result, uint64_t *batches,
                                                                           pigment_error **error);
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_collection_upsert_arrow(pigment_collection *collection,
                                                                           struct ArrowArrayStream *stream,
                                                                           const pigment_call_options *options,
                                                                           pigment_write_result *result, uint64_t *batches,
                                                                           pigment_error **error);

#ifdef __cplusplus
}
#endif

#endif /* PIGMENT_PIGMENT_H */

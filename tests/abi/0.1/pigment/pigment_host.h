/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The host interface: for a database that keeps Pigment's segments in pages of its own and wants the engine to build and
 * search them. PostgreSQL's extension is the first such host. Conventions of pigment.h hold, and:
 *
 *  - The engine starts no thread here, holds no lock when it calls the host, and never unwinds through the host. Callbacks
 *    must return (a code, never a jump); any code but PIGMENT_OK ends the call with that code.
 *  - `*_free` of every object here frees memory only, calls nobody, and may run when the host is in an error state.
 *  - An object serves one thread at a time.
 *  - A page is PIGMENT_PAGE_BYTES bytes: 24 of the host's (its page header), 8,152 of payload, 16 of trailer (kind, stamp, place,
 *    checksum). Hosts write pages as they are given them, filling in only the first 24 bytes.
 */

#ifndef PIGMENT_PIGMENT_HOST_H
#define PIGMENT_PIGMENT_HOST_H

#include "pigment/pigment.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PIGMENT_PAGE_BYTES 8192
#define PIGMENT_PAGE_HEADER_BYTES 24
#define PIGMENT_PAGE_TRAILER_BYTES 16
#define PIGMENT_NO_PAGE 0xFFFFFFFFu

/* ---- Distances --------------------------------------------------------------------------------------------------- */

enum {
  PIGMENT_METRIC_L2 = 1,          /* squared Euclidean distance */
  PIGMENT_METRIC_COSINE = 2,      /* 1 - cosine; 1 where a zero vector takes part */
  PIGMENT_METRIC_IP = 3,          /* 1 - inner product */
  PIGMENT_METRIC_NEGATIVE_IP = 4, /* - inner product */
  PIGMENT_METRIC_L1 = 5,
  PIGMENT_METRIC_COSINE_NAN = 6   /* as cosine, NaN where a zero vector takes part */
};

/* The same numbers by which segments are searched. REQUIRES a metric of the list; another gives NaN. Never fails. */
PIGMENT_API float pigment_host_distance(int32_t metric, const float *a, const float *b, size_t dimension);
/* Euclidean norm in double; finite also where the sum of squares would overflow f32. */
PIGMENT_API double pigment_host_norm(const float *a, size_t dimension);

/* ---- Filters ----------------------------------------------------------------------------------------------------- */

typedef struct pigment_filter pigment_filter; /* immutable */
/* Chroma's where and where_document as JSON; either may be absent. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_filter_compile(const char *where_json, size_t where_json_size,
                                                                  const char *where_document_json,
                                                                  size_t where_document_json_size,
                                                                  pigment_filter **filter, pigment_error **error);
typedef struct pigment_filter_record {
  size_t struct_size;
  const char *id;
  size_t id_size;
  const char *metadata_json; /* NULL: no metadata */
  size_t metadata_json_size;
  const char *document; /* NULL: no document */
  size_t document_size;
  const char *uri; /* NULL: no uri */
  size_t uri_size;
} pigment_filter_record;
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_filter_matches(const pigment_filter *filter,
                                                                  const pigment_filter_record *record, bool *matches,
                                                                  pigment_error **error);
PIGMENT_API void pigment_filter_free(pigment_filter *filter);

/* ---- Validation, for hosts that keep collections in tables of their own ------------------------------------------ */

PIGMENT_API PIGMENT_CHECKED pigment_status pigment_check_collection_name(const char *name, size_t name_size,
                                                                         pigment_error **error);
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_check_database_name(const char *name, size_t name_size,
                                                                       pigment_error **error);
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_check_tenant_name(const char *name, size_t name_size,
                                                                     pigment_error **error);
/* Present, not empty, unique; `operation` is the word for the message: "add", "get" … */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_check_ids(size_t count, const pigment_text_column *ids,
                                                             const char *operation, size_t operation_size,
                                                             pigment_error **error);

enum { PIGMENT_METADATA_NEW_RECORD = 0, PIGMENT_METADATA_MERGE_RECORD = 1, PIGMENT_METADATA_COLLECTION = 2 };
/* Checks a metadata object by the rules of `use`; JSON null is legal for records. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_check_metadata(const char *json, size_t json_size, int32_t use,
                                                                  pigment_error **error);
/* Checks a collection configuration, gives it back normalised with all defaults, and its metric (L2, COSINE or IP).
   metadata_json: the collection's metadata, for Chroma's legacy hnsw:* keys. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_check_configuration(
    const char *configuration_json, size_t configuration_json_size, const char *metadata_json,
    size_t metadata_json_size, const char *preferred_space, size_t preferred_space_size, pigment_buffer **normalized,
    int32_t *metric, pigment_error **error);
/* The same for a change of an existing configuration. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_check_configuration_update(
    const char *current_json, size_t current_json_size, const char *change_json, size_t change_json_size,
    pigment_buffer **normalized, pigment_error **error);

/* ---- Building a segment ------------------------------------------------------------------------------------------ */

typedef struct pigment_segment_options {
  size_t struct_size;
  uint32_t segment;             /* its id, the stamp of its pages: not 0, unique within the host's index */
  uint32_t dimension;           /* 1 to 65,535 */
  int32_t metric;
  uint64_t memory_budget_bytes; /* 0: no limit */
  /* Takes a sealed page and says where it put it. Pages come in ascending logical order, the root last. */
  pigment_status (*write_page)(void *context, const void *page, uint32_t *physical);
  void *context;
} pigment_segment_options;

typedef struct pigment_segment_builder pigment_segment_builder;
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_segment_builder_new(const pigment_segment_options *options,
                                                                       pigment_segment_builder **builder,
                                                                       pigment_error **error);
/* vector NULL: a row without one. row_pointer: the host's, below 2^64 - 1. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_segment_builder_add(pigment_segment_builder *builder,
                                                                       const float *vector, uint64_t row_pointer,
                                                                       pigment_error **error);
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_segment_builder_finish(pigment_segment_builder *builder,
                                                                          uint32_t *root, uint32_t *pages,
                                                                          uint64_t *rows, pigment_error **error);
PIGMENT_API void pigment_segment_builder_free(pigment_segment_builder *builder);

/* ---- Pages of the host ------------------------------------------------------------------------------------------- */

/* How the engine reads pages. `pin` gives PIGMENT_PAGE_BYTES bytes that stay valid and unchanged until `unpin` of the same page;
   the engine holds at most four at a time, and has returned all pins when a call ends, unless a pin failed by a jump that the host caught itself. */
typedef struct pigment_page_source {
  size_t struct_size;
  pigment_status (*pin)(void *context, uint32_t physical, const void **page);
  void (*unpin)(void *context, uint32_t physical, const void *page);
  void *context;
  const char *name; /* of the relation, for messages; borrowed for the life of what is opened on it */
  size_t name_size;
} pigment_page_source;

typedef struct pigment_segment pigment_segment;
/* Opens the segment whose root is at `root`, checking root and extents. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_segment_open(const pigment_page_source *source, uint32_t segment,
                                                                uint32_t root, pigment_segment **opened,
                                                                pigment_error **error);
typedef struct pigment_segment_info {
  size_t struct_size;
  uint32_t dimension;
  int32_t metric;
  uint64_t rows;
  uint64_t vectors;
  uint64_t pages;
} pigment_segment_info;
PIGMENT_API void pigment_segment_get_info(const pigment_segment *segment, pigment_segment_info *info);
/* Row pointers of rows first .. first + count - 1, for VACUUM. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_segment_row_pointers(const pigment_segment *segment, uint64_t first,
                                                                        size_t count, uint64_t *row_pointers,
                                                                        pigment_error **error);
/* Reads and checks every page and cross-reference. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_segment_verify(const pigment_segment *segment, pigment_error **error);
PIGMENT_API void pigment_segment_free(pigment_segment *segment);

/* ---- Pending pages: the mutable tail of a host's index ----------------------------------------------------------- */

/* Layouts: engine/segment/README.md. All functions work on bytes in the host's memory and never fail but as said. After any
   change the trailer is sealed again. Entries are appended and marked dead, never moved. */

/* Bytes of an entry; has_vector false: a row without a vector. */
PIGMENT_API size_t pigment_pending_entry_bytes(size_t dimension, bool has_vector);
/* Encodes into out[pigment_pending_entry_bytes()]. vector NULL: none. */
PIGMENT_API void pigment_pending_entry_encode(uint64_t row_pointer, const float *vector, size_t dimension, void *out);
/* Largest entry that fits an empty pending page; a larger one goes to overflow pages. */
PIGMENT_API size_t pigment_pending_entry_bytes_max(void);

PIGMENT_API void pigment_pending_page_init(void *page, uint32_t stamp, uint32_t physical);
/* False when the entry does not fit any more; the page is unchanged then. */
PIGMENT_API bool pigment_pending_page_append(void *page, const void *entry, size_t entry_bytes);
/* Appends an entry whose bytes are in overflow pages beginning at `overflow`. */
PIGMENT_API bool pigment_pending_page_append_overflow(void *page, uint64_t row_pointer, uint32_t overflow,
                                                      uint64_t entry_bytes);
PIGMENT_API uint32_t pigment_pending_page_next(const void *page); /* or PIGMENT_NO_PAGE */
PIGMENT_API void pigment_pending_page_set_next(void *page, uint32_t next);
/* The transaction id that retired the page, 64 bits of the host's meaning; 0: in use. */
PIGMENT_API uint64_t pigment_pending_page_retired(const void *page);
PIGMENT_API void pigment_pending_page_set_retired(void *page, uint64_t transaction);
/* Checks that `page` is a pending page with this stamp and place. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_pending_page_check(const void *page, uint32_t stamp,
                                                                      uint32_t physical, pigment_error **error);
/* Entries of a checked page, dead ones included. */
PIGMENT_API uint32_t pigment_pending_page_count(const void *page);
PIGMENT_API bool pigment_pending_page_entry(const void *page, uint32_t index, uint64_t *row_pointer); /* false: dead */
PIGMENT_API bool pigment_pending_page_entry_has_vector(const void *page, uint32_t index);
PIGMENT_API void pigment_pending_page_kill(void *page, uint32_t index);

/* Writes as much of bytes[offset .. size) as one overflow page takes and returns how much that was. */
PIGMENT_API size_t pigment_overflow_page_init(void *page, uint32_t stamp, uint32_t physical, const void *bytes,
                                              size_t size, size_t offset, uint32_t next);
PIGMENT_API size_t pigment_overflow_page_capacity(void);

/* ---- Deletion pages: one bit per row of a segment ---------------------------------------------------------------- */

PIGMENT_API uint32_t pigment_deletion_page_rows(void); /* bits per page */
/* `number` is the page's place among the segment's deletion pages; bits begin at row number x rows per page. */
PIGMENT_API void pigment_deletion_page_init(void *page, uint32_t segment, uint32_t number, uint32_t next);
PIGMENT_API uint32_t pigment_deletion_page_next(const void *page); /* or PIGMENT_NO_PAGE */
PIGMENT_API void pigment_deletion_page_set_next(void *page, uint32_t next);
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_deletion_page_check(const void *page, uint32_t segment,
                                                                       uint32_t number, pigment_error **error);
/* Sets the bits of rows[count], which must lie on this page; seals it. */
PIGMENT_API void pigment_deletion_page_set(void *page, const uint32_t *rows, size_t count);
PIGMENT_API const uint8_t *pigment_deletion_page_bits(const void *page); /* bit i % 8 of byte i / 8 */

/* Seals a page of the host's own kind (its metapage), and checks one. */
PIGMENT_API void pigment_meta_page_seal(void *page, uint32_t physical);
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_meta_page_check(const void *page, uint32_t physical,
                                                                   pigment_error **error);

/* ---- Searching --------------------------------------------------------------------------------------------------- */

/* A resumable search over segments and pending pages: each row comes exactly once, ascending by distance, ties by row
   pointer; then the rows whose distance is not a number, then those without a vector, each by row pointer. Exact. Memory is bounded by
   `batch_bytes_max`, however many rows are read. */
typedef struct pigment_host_search pigment_host_search;

typedef struct pigment_host_search_options {
  size_t struct_size;
  int32_t metric;
  uint32_t dimension;
  const float *query;       /* copied; NULL: no ranking, every row counts as one without a vector */
  size_t batch_rows_first;  /* rows to look for in the first pass; 0: 64 */
  uint64_t batch_bytes_max; /* 0: 4 MiB */
} pigment_host_search_options;

typedef struct pigment_host_hit {
  uint64_t row_pointer;
  float distance; /* NaN for a row without a number */
  int32_t kind;   /* 0 ranked, 1 not a number, 2 without a vector */
} pigment_host_hit;

PIGMENT_API PIGMENT_CHECKED pigment_status pigment_host_search_new(const pigment_host_search_options *options,
                                                                   pigment_host_search **search, pigment_error **error);
/* `segment` is borrowed until the search is freed. deleted: one bit per row, copied; NULL: none. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_host_search_add_segment(pigment_host_search *search,
                                                                           const pigment_segment *segment,
                                                                           const uint8_t *deleted,
                                                                           size_t deleted_bytes, pigment_error **error);
/* The chain of pending pages that begins at `first` and whose pages carry `stamp`; read through `source` at each pass. The search remembers how far the
   chain went at its first pass and looks no further later. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_host_search_add_pending(pigment_host_search *search,
                                                                           const pigment_page_source *source,
                                                                           uint32_t stamp, uint32_t first,
                                                                           pigment_error **error);
/* The next hits, at most `capacity`; *count 0 means that all rows were given. After PIGMENT_CANCELLED from a pin the
   call may be repeated and loses nothing. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_host_search_next(pigment_host_search *search, pigment_host_hit *hits,
                                                                    size_t capacity, size_t *count,
                                                                    pigment_error **error);
typedef struct pigment_host_search_counters {
  size_t struct_size;
  uint64_t passes;
  uint64_t rows_scored;
  uint64_t pages_read;
} pigment_host_search_counters;
PIGMENT_API void pigment_host_search_get_counters(const pigment_host_search *search,
                                                  pigment_host_search_counters *counters);
PIGMENT_API void pigment_host_search_free(pigment_host_search *search);

#ifdef __cplusplus
}
#endif

#endif /* PIGMENT_PIGMENT_HOST_H */

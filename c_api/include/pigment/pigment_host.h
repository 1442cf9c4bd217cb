/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The host interface: for a database that keeps Pigment's segments in pages of its own and wants the engine to build and
 * search them. PostgreSQL's extension is the first such host. Conventions of pigment.h hold, and:
 *
 *  - The engine holds no lock when it calls the host, and never unwinds through the host. Callbacks must return (a code, never a jump), or end
 *    the process; any code but PIGMENT_OK ends the call with that code.
 *  - It starts no thread, but where a build asks for them (pigment_segment_options.threads). These take no signal and do not outlive the call. The host is called
 *    by the thread that called the engine alone, and they stand still meanwhile.
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
  PIGMENT_METRIC_COSINE_NAN = 6,  /* as cosine, NaN where a zero vector takes part */
  /* Of bits, vectors whose numbers are 0 and 1; of others they mean nothing. Since 0.2. */
  PIGMENT_METRIC_HAMMING = 7, /* how many differ */
  PIGMENT_METRIC_JACCARD = 8  /* 1 - how many both have by how many any has, 1 where they share none; from double, rounded once */
};

/* The same numbers by which segments are searched. REQUIRES a metric of the list; another gives NaN. Never fails. */
PIGMENT_API float pigment_host_distance(int32_t metric, const float *a, const float *b, size_t dimension);
/* Euclidean norm in double; finite also where the sum of squares would overflow f32. */
PIGMENT_API double pigment_host_norm(const float *a, size_t dimension);
/* Rounds each number to one that 16 bits hold, into rounded[dimension]; NULL: nowhere. *rounding, unless NULL: how far that takes the vector, as
   pigment_segment_builder_rounding says. False: a number is beyond these, or the difference from the vector is longer than a 1,024th of it; what is in
   `rounded` is of no use then. Never fails. Since 0.2. */
PIGMENT_API bool pigment_host_round_to_halves(int32_t metric, const float *vector, size_t dimension, float *rounded,
                                              double *rounding);
/* The same to 12 bits a number, with one power of two for all (engine/vector/twelve.h); what comes of it 16 bits hold as it is. False besides: 16 bits hold
   the vector as it is, and 12 do not. Since 0.2. */
PIGMENT_API bool pigment_host_round_to_twelves(int32_t metric, const float *vector, size_t dimension, float *rounded,
                                               double *rounding);

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
/* Whether a record matches. The record is read during the call only. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_filter_matches(const pigment_filter *filter,
                                                                  const pigment_filter_record *record, bool *matches,
                                                                  pigment_error **error);
/* Refuses a filter that asks for an index that the collection's schema has disabled. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_filter_check_schema(const pigment_filter *filter,
                                                                       const char *schema_json, size_t schema_json_size,
                                                                       pigment_error **error);
PIGMENT_API void pigment_filter_free(pigment_filter *filter);

/* ---- Orders and cursors. Since 0.2. ------------------------------------------------------------------------------ */

/* The bytes by which order_by puts a record, which compare as memcmp does, the shorter first; ties are the host's, by place of insertion. order_by absent:
   no bytes. The document is not looked at. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_order_key(const char *order_by_json, size_t order_by_json_size,
                                                             const pigment_filter_record *record, pigment_buffer **key,
                                                             pigment_error **error);
typedef struct pigment_cursor_place {
  size_t struct_size;
  const char *collection; /* what tells the collection from others */
  size_t collection_size;
  const char *order_by_json; /* absent: insertion order */
  size_t order_by_json_size;
  const char *key; /* of pigment_order_key; for writing */
  size_t key_size;
  uint64_t ordinal; /* place of insertion; for writing */
} pigment_cursor_place;
/* A cursor behind a record, as a text. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_cursor_write(const pigment_cursor_place *place,
                                                                pigment_buffer **cursor, pigment_error **error);
/* Key and ordinal of a cursor. `place` says collection and order; a cursor of others, or a damaged one: INVALID_ARGUMENT. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_cursor_read(const char *cursor, size_t cursor_size,
                                                               const pigment_cursor_place *place, pigment_buffer **key,
                                                               uint64_t *ordinal, pigment_error **error);

/* ---- Validation, for hosts that keep collections in tables of their own ------------------------------------------ */

/* The rules that names of collections, databases and tenants have in a store; INVALID_ARGUMENT says which one is broken. */
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

enum {
  PIGMENT_METADATA_NEW_RECORD = 0,
  PIGMENT_METADATA_MERGE_RECORD = 1,
  PIGMENT_METADATA_COLLECTION = 2,
  PIGMENT_METADATA_COLLECTION_CHANGE = 3 /* what replaces it: a null is a key that will not be there; since 0.2 */
};
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

/* Checks a collection schema, and gives it back with all defaults, the configuration of its vector index, and the metric. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_check_schema(
    const char *schema_json, size_t schema_json_size, const char *metadata_json, size_t metadata_json_size,
    const char *preferred_space, size_t preferred_space_size, pigment_buffer **normalized,
    pigment_buffer **configuration, int32_t *metric, pigment_error **error);

/* ---- Keys of rows: what a filter asks for. Since 0.2. ------------------------------------------------------------- */

/* A host's index may have filter columns beside its vector. What a row has in them is given as keys: bytes that compare (as memcmp does, the
   shorter first) as the values do. The engine looks into none. A column that is NULL has no key. A list has a value without bytes, which tells it
   from NULL, and its elements. A text that is to be searched has its grams besides: pieces of three bytes. */
enum { PIGMENT_KEY_VALUE = 1, PIGMENT_KEY_ELEMENT = 2, PIGMENT_KEY_GRAMS = 3 };
typedef struct pigment_host_key {
  uint32_t column;   /* the host's number, below 65,536 */
  int32_t kind;      /* PIGMENT_KEY_* */
  const void *bytes; /* borrowed for the call */
  size_t size;       /* below 2^32 */
} pigment_host_key;
/* The grams of a text, letters of ASCII made small, as one key of kind PIGMENT_KEY_GRAMS takes them: writes them to `out` and returns how many bytes
   they are; of an empty text none, which has no such key. At most three bytes for each of the text, fewer where pieces come again. What stands for the
   same in texts that are to be found by each other (letters that are no ASCII in another case, say) the host makes the same before. REQUIRES: out has room
   for four bytes for each byte of the text and is aligned as uint32_t. Never fails; any thread. Since 0.2. */
PIGMENT_API size_t pigment_host_grams(const void *text, size_t size, void *out);
/* The keys of one row in the form in which builders and pending entries take them: its bytes, and the form itself into so many. REQUIRES: keys by
   column, of each at most one value, it before grams, of which there is one key at most, and these before elements; elements ascend, each once. No
   keys: no bytes. Never fails. Since 0.2. */
PIGMENT_API size_t pigment_host_keys_bytes(const pigment_host_key *keys, size_t count);
PIGMENT_API void pigment_host_keys_encode(const pigment_host_key *keys, size_t count, void *out);
/* A number that tells keys from others, as pigment_host_search_visit_keys gives it. Never fails. Since 0.2. */
PIGMENT_API uint64_t pigment_host_keys_fingerprint(const pigment_host_key *keys, size_t count);

/* Conditions on keys. All of a search's must hold. */
enum {
  PIGMENT_CONDITION_ANY_OF = 1,  /* the value is one of keys[key_count] */
  PIGMENT_CONDITION_RANGE = 2,   /* the value lies between keys[0] and keys[1]; bytes NULL: no bound there */
  PIGMENT_CONDITION_PRESENT = 3, /* the column is not NULL */
  PIGMENT_CONDITION_ABSENT = 4,
  PIGMENT_CONDITION_HAS_ANY = 5, /* the list has one of keys[key_count] */
  PIGMENT_CONDITION_HAS_ALL = 6, /* the list has all of them; without keys: it is there */
  /* By its grams the text has one of keys[key_count] somewhere, letters of ASCII in any case. More rows may be let through, never fewer, so the
     host looks at each. An empty key lets through all that have grams. */
  PIGMENT_CONDITION_HAS_TEXT = 7,
  PIGMENT_CONDITION_WHERE = 8,   /* the list has elements of metadata (below), and keys[0] is a filter, `where` as JSON: the record may match */
  /* The list has an element that is not below keys[0] and below keys[1], or so with another pair of keys[key_count]; bytes NULL in a pair's second:
     that is its first. */
  PIGMENT_CONDITION_HAS_RANGE = 9,
  PIGMENT_CONDITION_LACKS_RANGE = 10 /* it has none, or the column is NULL */
};
typedef struct pigment_host_bytes {
  const void *bytes;
  size_t size;
} pigment_host_bytes;
typedef struct pigment_host_condition {
  uint32_t column;
  int32_t kind; /* PIGMENT_CONDITION_* */
  const pigment_host_bytes *keys;
  size_t key_count;
  bool takes_low; /* RANGE: the bound itself is inside */
  bool takes_high;
} pigment_host_condition;

/* Metadata of a record as elements of a list, for conditions of kind WHERE: the bytes of each, ascending, each once, behind their number, a uint32_t of
   the machine. JSON null: none. INVALID_ARGUMENT where it is no record's metadata. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_host_metadata_elements(const char *metadata_json,
                                                                          size_t metadata_json_size,
                                                                          pigment_buffer **elements,
                                                                          pigment_error **error);
/* Whether a condition of kind WHERE holds for a list with the elements of this metadata; absent, or JSON null: for a column that is NULL. It holds for
   every record that matches, and for others where elements do not tell: ids, uris and documents they do not know, of texts they have 256 bytes, and
   small letters are none of theirs. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_host_where_holds(const char *where_json, size_t where_json_size,
                                                                    const char *metadata_json, size_t metadata_json_size,
                                                                    bool *holds, pigment_error **error);

typedef struct pigment_host_search pigment_host_search; /* below */

/* ---- Sparse vectors. Since 0.2. ------------------------------------------------------------------------------------- */

/* A vector by what is not zero of it; borrowed for a call. */
typedef struct pigment_sparse_vector {
  uint32_t dimension;    /* 1 to 1,000,000,000 */
  uint32_t count;        /* at most 16,384 */
  const int32_t *places; /* from 0, ascending, below the dimension */
  const float *values;   /* of these; finite and not 0 */
} pigment_sparse_vector;
/* What is not zero of a vector, rounded, as elements of a list: in the form of pigment_host_metadata_elements. The vector's column has a value without
   bytes besides. The metric is L2, COSINE_NAN, NEGATIVE_IP or L1, and that of the column's searches. INVALID_ARGUMENT where one of these is not as it
   should be. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_host_sparse_elements(int32_t metric,
                                                                        const pigment_sparse_vector *vector,
                                                                        pigment_buffer **elements,
                                                                        pigment_error **error);

/* ---- Ranked texts. Since 0.2. -------------------------------------------------------------------------------------- */

/* How texts become words. It is searched with as long as the texts of an index are read by it. One thread at a time. */
typedef struct pigment_text_analyzer pigment_text_analyzer;
/* settings_json: as `analyzer` in a collection's text_index, {"language": ..., "stop_words": ...}; absent: every default. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_text_analyzer_new(const char *settings_json,
                                                                     size_t settings_json_size,
                                                                     pigment_text_analyzer **analyzer,
                                                                     pigment_error **error);
PIGMENT_API void pigment_text_analyzer_free(pigment_text_analyzer *analyzer);
/* The words of a text, how often each is there and how many there are, as elements of a list: in the form of pigment_host_metadata_elements. The
   text's column has a value without bytes besides. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_host_text_elements(pigment_text_analyzer *analyzer, const char *text,
                                                                      size_t text_size, pigment_buffer **elements,
                                                                      pigment_error **error);

/* Since 0.2: what a query is. */
enum {
  PIGMENT_QUERY_WORDS = 0,      /* words, whatever stands between them; one that is there twice counts twice */
  PIGMENT_QUERY_CLAUSES = 1,    /* as pigment_collection_search_text has it, with PIGMENT_TEXT_ANY: words, prefix*, +required */
  PIGMENT_QUERY_CLAUSES_ALL = 2 /* the same with PIGMENT_TEXT_ALL */
};

/* Words that texts are ranked by, and what was counted of them. One thread at a time. */
typedef struct pigment_text_query pigment_text_query;
typedef struct pigment_text_query_options {
  size_t struct_size;
  const char *words;
  size_t words_size;
  double k1; /* 0 to 100 */
  double b;  /* 0 to 1 */
  int32_t grammar; /* PIGMENT_QUERY_… */
} pigment_text_query_options;
/* `analyzer` is borrowed until the query is freed. More than 65,536 words, of clauses more than 256: RESOURCE_EXHAUSTED. A phrase of two words or more:
   UNIMPLEMENTED, for an index has no places of words. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_text_query_new(pigment_text_analyzer *analyzer,
                                                                  const pigment_text_query_options *options,
                                                                  pigment_text_query **query, pigment_error **error);
/* Counts the texts of all live rows of a search, which was made with this query and without conditions: how many they are, how many words they have, and in
   how many each word is. To what was counted before it is added, so that an index of several parts has one count. After an error nothing was added;
   after PIGMENT_CANCELLED from a pin the call may be repeated. FAILED_PRECONDITION: rows for whose words there was no memory, or that an analyzer
   of another version read; their segment is to be built anew. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_text_query_count(pigment_text_query *query,
                                                                    pigment_host_search *search,
                                                                    pigment_error **error);
/* The BM25 score of a text by what was counted, with its sign changed; 0: it has none of the words, or not all that are required. Multiples of 2^-32,
   the same by which a search orders. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_text_query_score(pigment_text_query *query, const char *text,
                                                                    size_t text_size, double *score,
                                                                    pigment_error **error);
/* Searches that were made with it keep what they need of it. Since 0.2. */
PIGMENT_API void pigment_text_query_free(pigment_text_query *query);

/* ---- Building a segment ------------------------------------------------------------------------------------------ */

/* What a segment has for searches beside its vectors. */
enum {
  PIGMENT_INDEX_FLAT = 0,     /* nothing: every row is looked at */
  PIGMENT_INDEX_AUTO = 1,     /* a graph, or clusters where these are likely to be searched in less time */
  PIGMENT_INDEX_GRAPH = 2,    /* a graph, walked from neighbour to neighbour */
  PIGMENT_INDEX_CLUSTERS = 3  /* clusters, of which the nearest are looked through: a tenth of a graph's build and bytes */
};

typedef struct pigment_segment_options {
  size_t struct_size;
  uint32_t segment;             /* its id, the stamp of its pages: not 0, unique within the host's index */
  uint32_t dimension;           /* 1 to 65,535 */
  int32_t metric;
  uint64_t memory_budget_bytes; /* 0: no limit */
  /* Takes a sealed page and says where it put it. Pages come in ascending logical order, the root last. */
  pigment_status (*write_page)(void *context, const void *page, uint32_t *physical);
  void *context;
  /* Since 0.2: whether rows have keys, and a number that who chooses keys does not know. With keys a dimension of 0 is
     legal: no row has a vector. */
  bool has_keys;
  uint64_t key_seed;
  /* Since 0.2: the index of its vectors, which are kept in memory until it is built, within three quarters of the budget. Of metrics L1 and
     Jaccard it is one of L2 and of cosine, whose neighbours are then compared; there is none where these say too little, or of fewer vectors than
     index_rows_min; of fewer than graph_rows_min it is clusters. 0 of the other numbers: what suits. */
  int32_t index; /* PIGMENT_INDEX_* */
  uint32_t index_rows_min;
  uint32_t graph_rows_min;
  uint32_t links_max;      /* of a graph's node, at most 32 */
  float effort;            /* of a graph: how many candidates are looked at for its links, 1 is usual, 4 the most of use */
  uint32_t vectors_per_cluster; /* on average */
  bool half_vectors;       /* vectors are kept in 16 bits a number; REQUIRES: those that are added have no more */
  /* Asked now and then while the index is built; another code than PIGMENT_OK ends the call with it. May be NULL. */
  pigment_status (*pause)(void *context);
  /* About how many vectors are to come, within the budget: memory for their index is taken before anything else takes it. 0: nobody knows. */
  uint64_t vectors_expected;
  bool round_to_halves; /* as half_vectors, but any may be added that pigment_host_round_to_halves takes, and is rounded */
  /* Since 0.2: that build the index, the caller's among them; more than 256 are 256, and 0 is 1. */
  uint32_t threads;
  /* Since 0.2: vectors are kept as bits; REQUIRES: no more than one of this and those of 16 bits. A vector with another number than 0 and 1 is
     refused, and changes nothing. */
  bool bit_vectors;
  /* Since 0.2: not 0: rows are to be found by their vectors (pigment_segment_find_vector), for 8 bytes a vector in the segment, and in memory until it
     is finished, beyond the budget where that is in use. One number for all segments of the host's index, which who chooses vectors does not know. */
  uint64_t vector_seed;
  /* Since 0.2: gives a descriptor of an empty file without a name, open for reading and writing, which the library makes `bytes` long, maps, and closes.
     Vectors for which the budget has no room wait there for their index, so that one segment has them all. After another code than PIGMENT_OK there is no
     room for more, and a call that cannot do without ends with it. NULL: there is room for those vectors alone that memory is enough for. */
  pigment_status (*open_scratch)(void *context, uint64_t bytes, int *descriptor);
} pigment_segment_options;

typedef struct pigment_segment_builder pigment_segment_builder;
/* Checks the options and copies them. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_segment_builder_new(const pigment_segment_options *options,
                                                                       pigment_segment_builder **builder,
                                                                       pigment_error **error);
/* vector NULL: a row without one. row_pointer: the host's, below 2^64 - 1. Rows are numbered in the order in which they are added, but those without a
   vector come last where there is an index: pigment_segment_row_pointers tells. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_segment_builder_add(pigment_segment_builder *builder,
                                                                       const float *vector, uint64_t row_pointer,
                                                                       pigment_error **error);
/* The same with the keys of pigment_host_keys_encode; REQUIRES: options.has_keys. Where a group of rows finds no memory for its index, searches take its rows as
   unindexed. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_segment_builder_add_row(pigment_segment_builder *builder,
                                                                           const float *vector, uint64_t row_pointer,
                                                                           const void *keys, size_t keys_size,
                                                                           pigment_error **error);
/* Rows, at the most, of which a segment with an index is built within the budget; 2^64 - 1 where there is no limit or no index. Never fails. Since 0.2. */
PIGMENT_API uint64_t pigment_segment_index_rows_max(const pigment_segment_options *options);
/* Whether there is memory for one more row and the index that is asked for. A row that is added without gives up the index, which is then built of
   no row; so a host finishes the segment and begins another. True where there is none. Since 0.2. */
PIGMENT_API bool pigment_segment_builder_has_room(pigment_segment_builder *builder);
/* Whether the rows that were added would have had the index that is asked for, had there been memory for it. Since 0.2. */
PIGMENT_API bool pigment_segment_builder_has_given_up_index(const pigment_segment_builder *builder);
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_segment_builder_finish(pigment_segment_builder *builder,
                                                                          uint32_t *root, uint32_t *pages,
                                                                          uint64_t *rows, pigment_error **error);
/* Of the rows that were added those whose vector is zero, which has a cosine distance to nothing. Never fails. Since 0.2. */
PIGMENT_API uint64_t pigment_segment_builder_zero_vectors(const pigment_segment_builder *builder);
/* How far rounding has taken a vector that was added, at the most: of cosine distances the part of its length; of others the difference that it makes
   to a distance (of L2 before it is squared), but inner products times the length of the other vector. 0 without round_to_halves. Never fails. Since 0.2. */
PIGMENT_API double pigment_segment_builder_rounding(const pigment_segment_builder *builder);
PIGMENT_API void pigment_segment_builder_free(pigment_segment_builder *builder);

/* ---- Pages of the host ------------------------------------------------------------------------------------------- */

typedef struct pigment_segment pigment_segment;

/* How the engine reads pages. `pin` gives PIGMENT_PAGE_BYTES bytes that stay valid and unchanged until `unpin` of the same page;
   the engine holds at most eight at a time, and has returned all pins when a call ends, unless a pin failed by a jump that the host caught itself. */
typedef struct pigment_page_source {
  size_t struct_size;
  pigment_status (*pin)(void *context, uint32_t physical, const void **page);
  void (*unpin)(void *context, uint32_t physical, const void *page);
  void *context;
  const char *name; /* of the relation, for messages; borrowed for the life of what is opened on it */
  size_t name_size;
  /* Where a page probably lies, so that the processor is asked for it ahead of a pin; it is not read through this. NULL: it is not known. May be
     NULL. Since 0.2. */
  const void *(*likely)(void *context, uint32_t physical);
  /* Where vectors are that entries of pending pages have no numbers of (pigment_pending_entry_encode_with_hash), for calls that copy or check
     such pages; borrowed for each of these. Searches look into their own segments. Since 0.2. */
  const pigment_segment *const *segments;
  size_t segment_count;
  /* The page will be pinned soon, and where it probably lies is not known: a host that would have to read it from a disk may begin to. True: it
     would have to, as far as it knows. What fails here is for the next pin to tell. NULL: pages are read when they are pinned. Since 0.2. */
  bool (*read_ahead)(void *context, uint32_t physical);
  /* A number that the page has had at no time when its bytes were others: then a cache of pending pages that knows it does not read the page again.
     0: nobody knows. What fails here is for the next pin to tell. NULL: nobody ever does. Since 0.2. */
  uint64_t (*version)(void *context, uint32_t physical);
} pigment_page_source;

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
  int32_t index; /* PIGMENT_INDEX_FLAT, GRAPH or CLUSTERS. Since 0.2. */
} pigment_segment_info;
/* Fills as much of `info` as its struct_size says. Never fails. */
PIGMENT_API void pigment_segment_get_info(const pigment_segment *segment, pigment_segment_info *info);
/* Row pointers of rows first .. first + count - 1, for VACUUM. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_segment_row_pointers(const pigment_segment *segment, uint64_t first,
                                                                        size_t count, uint64_t *row_pointers,
                                                                        pigment_error **error);
/* A vector by what it is. Since 0.2. */
typedef struct pigment_vector_hash {
  uint64_t low;
  uint64_t high;
} pigment_vector_hash;
/* Rows of the segment that have exactly this vector, at most `capacity` of them, ascending, and the vector's hash; *count 0: none, or the segment was built
   without vector_seed. Pins of pages as in a search. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status
pigment_segment_find_vector(const pigment_segment *segment, const float *vector, size_t dimension, uint32_t *rows,
                            size_t capacity, size_t *count, pigment_vector_hash *hash, pigment_error **error);
/* Reads and checks every page and cross-reference. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_segment_verify(const pigment_segment *segment, pigment_error **error);
/* Calls `visit` with the place of each page of the segment, root included; reads none. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_segment_visit_pages(
    const pigment_segment *segment, pigment_status (*visit)(void *context, uint32_t physical), void *context,
    pigment_error **error);
PIGMENT_API void pigment_segment_free(pigment_segment *segment);

/* ---- Pending pages: the mutable tail of a host's index ----------------------------------------------------------- */

/* Layouts: engine/segment/README.md. All functions work on bytes in the host's memory and never fail but as said. After any
   change the trailer is sealed again. Entries are appended and marked dead, never moved. */

/* Bytes of an entry; has_vector false: a row without a vector. */
PIGMENT_API size_t pigment_pending_entry_bytes(size_t dimension, bool has_vector);
/* Encodes into out[pigment_pending_entry_bytes()]. vector NULL: none. */
PIGMENT_API void pigment_pending_entry_encode(uint64_t row_pointer, const float *vector, size_t dimension, void *out);
/* The same for a row with keys. Since 0.2. */
PIGMENT_API size_t pigment_pending_entry_bytes_with_keys(size_t dimension, bool has_vector, size_t keys_size);
PIGMENT_API void pigment_pending_entry_encode_with_keys(uint64_t row_pointer, const float *vector, size_t dimension,
                                                        const void *keys, size_t keys_size, void *out);
/* The same with a vector that is rounded to 16 bits a number; REQUIRES: pigment_host_round_to_halves takes it. Since 0.2. */
PIGMENT_API size_t pigment_pending_entry_bytes_with_halves(size_t dimension, size_t keys_size);
PIGMENT_API void pigment_pending_entry_encode_with_halves(uint64_t row_pointer, const float *vector, size_t dimension,
                                                          const void *keys, size_t keys_size, void *out);
/* The same with a vector that is rounded to 12 bits a number, with one power of two for all; REQUIRES: pigment_host_round_to_twelves takes it. Since 0.2. */
PIGMENT_API size_t pigment_pending_entry_bytes_with_twelves(size_t dimension, size_t keys_size);
PIGMENT_API void pigment_pending_entry_encode_with_twelves(uint64_t row_pointer, const float *vector,
                                                           size_t dimension, const void *keys, size_t keys_size,
                                                           void *out);
/* The same with a vector that is kept as bits; REQUIRES: its numbers are 0 and 1. Since 0.2. */
PIGMENT_API size_t pigment_pending_entry_bytes_with_bits(size_t dimension, size_t keys_size);
PIGMENT_API void pigment_pending_entry_encode_with_bits(uint64_t row_pointer, const float *vector, size_t dimension,
                                                        const void *keys, size_t keys_size, void *out);
/* The same with the hash of a vector in its place, by pigment_segment_find_vector. For as long as the entry is searched or copied, a row with
   this vector must be in one of the segments; whether it was deleted there does not matter. Since 0.2. */
PIGMENT_API size_t pigment_pending_entry_bytes_with_hash(size_t keys_size);
PIGMENT_API void pigment_pending_entry_encode_with_hash(uint64_t row_pointer, const pigment_vector_hash *hash,
                                                        size_t dimension, const void *keys, size_t keys_size, void *out);
/* Largest entry that fits an empty pending page; a larger one goes to overflow pages. */
PIGMENT_API size_t pigment_pending_entry_bytes_max(void);

/* A pending page without entries, the last of its chain. */
PIGMENT_API void pigment_pending_page_init(void *page, uint32_t stamp, uint32_t physical);
/* False when the entry does not fit any more; the page is unchanged then. */
PIGMENT_API bool pigment_pending_page_append(void *page, const void *entry, size_t entry_bytes);
/* Appends an entry whose bytes are in overflow pages beginning at `overflow`. */
PIGMENT_API bool pigment_pending_page_append_overflow(void *page, uint64_t row_pointer, uint32_t overflow,
                                                      uint64_t entry_bytes);
/* The same for an entry that may have no vector, but many keys. Since 0.2. */
PIGMENT_API bool pigment_pending_page_append_overflow_row(void *page, uint64_t row_pointer, uint32_t overflow,
                                                          uint64_t entry_bytes, bool has_vector);
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
/* Whether a live entry has the hash of a vector in its place. Since 0.2. */
PIGMENT_API bool pigment_pending_page_has_hashes(const void *page);
/* Bytes of all entries, dead ones and those in overflow pages included. Since 0.2. */
PIGMENT_API uint64_t pigment_pending_page_bytes(const void *page);
/* Where the zeros between entries and directory begin and end, from the begin of the page: what a host need not log. Since 0.2. */
PIGMENT_API void pigment_pending_page_unused(const void *page, size_t *begin, size_t *end);
/* Calls `visit` with the place of each page of the chain from `first` to `last` (PIGMENT_NO_PAGE: to its end), and of the overflow pages of its entries, dead
   ones too. May be repeated after PIGMENT_CANCELLED from a pin, and then begins anew. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status
pigment_pending_visit_pages(const pigment_page_source *source, uint32_t stamp, uint32_t first, uint32_t last,
                            pigment_status (*visit)(void *context, uint32_t physical), void *context,
                            pigment_error **error);

/* Whether pigment_host_round_to_halves takes all vectors of the chain from `first` to `last`, dead ones left out. As pigment_segment_builder_add_pending
   in the rest. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_pending_rounds_to_halves(const pigment_page_source *source,
                                                                            uint32_t stamp, uint32_t first,
                                                                            uint32_t last, bool *rounds,
                                                                            pigment_error **error);

/* Writes as much of bytes[offset .. size) as one overflow page takes and returns how much that was. */
PIGMENT_API size_t pigment_overflow_page_init(void *page, uint32_t stamp, uint32_t physical, const void *bytes,
                                              size_t size, size_t offset, uint32_t next);
PIGMENT_API size_t pigment_overflow_page_capacity(void);

/* ---- Merging. Since 0.2. ----------------------------------------------------------------------------------------- */

/* Rows that the index has already: of pending pages that are flushed, of segments that are merged. Dead ones are left out; those of which the index knows
   no keys (see above) stay as they are. Each page is read once by a call, but for those with keys of a segment, which are put together in memory, a part of the
   budget at a time. A call that fails, also by PIGMENT_CANCELLED from a pin, cannot be repeated: the builder is of no use any more. `first` to `last`: the
   chain as in pigment_host_search_add_pending, up to a page that is not the end to which entries are appended. deleted: one bit per row; NULL: none. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status
pigment_segment_builder_add_pending(pigment_segment_builder *builder, const pigment_page_source *source,
                                    uint32_t stamp, uint32_t first, uint32_t last, pigment_error **error);
PIGMENT_API PIGMENT_CHECKED pigment_status
pigment_segment_builder_add_segment(pigment_segment_builder *builder, const pigment_segment *segment,
                                    const uint8_t *deleted, size_t deleted_bytes, pigment_error **error);
enum { PIGMENT_ROWS_ALL = 0, PIGMENT_ROWS_WITH_VECTOR = 1, PIGMENT_ROWS_WITHOUT_VECTOR = 2 };
/* Which rows these two copy from now on; at the begin all. Rows without a vector wait in memory for the end of the others, and where there is not enough the
   index is given up; so a host copies those with a vector from all that it has, then those without from the same. From then on no row with a vector is taken. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_segment_builder_choose_rows(pigment_segment_builder *builder,
                                                                               int32_t rows, pigment_error **error);

typedef struct pigment_merge_shape {
  uint64_t rows;         /* dead ones included */
  uint64_t deleted_rows; /* those that a merge drops */
  bool is_busy;          /* not to be merged now */
} pigment_merge_shape;
/* Which neighbours to merge next, so that about eight segments are left and rows are not rewritten too often: *first and *run_count; *run_count 0: none. flush_rows_max:
   rows that the host flushes at a time, not 0. A merged segment takes the place of its sources. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_plan_merge(const pigment_merge_shape *segments, size_t count,
                                                              uint64_t flush_rows_max, size_t *first,
                                                              size_t *run_count, pigment_error **error);

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
   pointer; then the rows whose distance is not a number, then those without a vector, each by row pointer. Memory is bounded by
   `batch_bytes_max` and a bit for each row, however many rows are read. Exact, unless less is asked for of segments with an index: then a row
   may come behind one that is farther, and all come in the end.
   By words: descending by the score of a text, ties by row pointer; then the rows whose text is NULL. Exact; memory is bounded besides by that of
   a group of rows, which had room in the budget of the segment's build.
   By a sparse vector: ascending by a number that the row's distance is not below, -infinity where nothing is known; the host computes the distances of
   what comes, and has the nearest row when no less can come. Then the rows whose distance is not a number, then those whose column is NULL; memory as
   by words. The bound holds for sums of floats in any order. */

enum {
  PIGMENT_NAN_LAST = 0,    /* behind all numbers, before rows without a vector */
  PIGMENT_NAN_FIRST = 1,
  PIGMENT_NAN_LEFT_OUT = 2
};

typedef struct pigment_host_search_options {
  size_t struct_size;
  int32_t metric;
  uint32_t dimension;
  const float *query;       /* copied; NULL: no ranking, every row counts as one without a vector */
  size_t batch_rows_first;  /* rows to look for in the first pass; 0: what suits */
  uint64_t batch_bytes_max; /* 0: 4 MiB */
  /* Since 0.2: only rows for which all of these hold; copied. Segments become sets of rows when they are added. Without any the search has no
     filter. */
  const pigment_host_condition *conditions;
  size_t condition_count;
  /* Since 0.2: of the nearest rows the part that is wanted, on average, above 0; 1, and 0: all. In its place so many nodes or clusters to visit of
     each index; 0: as the recall takes. */
  double recall;
  size_t width;
  /* Since 0.2: no row whose distance is above max_distance (not NaN), and none without a vector; all others come, whatever the recall. REQUIRES: query. */
  bool has_max_distance;
  float max_distance;
  /* Since 0.2: where rows come whose distance is not a number, a PIGMENT_NAN_*. To have them first takes a look at every row where a zero vector may be;
     no_zero_vectors: there is none in the segments that will be added, as pigment_segment_builder_zero_vectors has told. */
  int32_t nan;
  bool no_zero_vectors;
  /* Since 0.2: ranks the texts of a column by these words, as they are counted when the first hits are asked for. Not with `query`. */
  const pigment_text_query *text;
  uint32_t text_column;
  /* Since 0.2: ranks the sparse vectors of a column by their distances to this one, of `metric`; copied. With neither of the others. What is not a
     number comes last; where `nan` has it first, with the bound -infinity, as what is not known; it is not left out. */
  const pigment_sparse_vector *sparse;
  uint32_t sparse_column;
  /* Since 0.2: rows that will probably be asked for, in all; the others come, too, by more passes. 0: nobody knows. */
  size_t rows_wanted;
  /* Since 0.2, with rows_wanted: so many more that may be asked for. The first pass gives them of what it meets on its way to those, so they cost next to
     nothing and are less surely the nearest. */
  size_t rows_spare;
} pigment_host_search_options;

typedef struct pigment_host_hit {
  uint64_t row_pointer;
  float distance; /* NaN for a row without a number; of a text its score with the sign changed, rounded; of a sparse vector the bound, for L2 of the root */
  int32_t kind;   /* 0 ranked, 1 not a number, 2 without a vector, or without a text */
} pigment_host_hit;

/* A search over nothing yet: segments and pages are added to it. */
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
/* What was read of a chain of pending pages, kept for the searches that follow: row pointers, keys, and of each vector a code by which most rows are ruled
   out; the pages are read only for what was appended since, and for vectors that may be among the hits. The hits are those that reading all pages gives.
   The cache may be used for as long as entries of the chain are appended and marked dead, and nothing else; a row that it has met is given although it
   was marked dead since, so the host lets go of the cache before a row pointer leads to something else. Rows beyond `bytes_max` are read in their pages.
   One thread at a time for a cache and all searches that it was added to. Since 0.2. */
typedef struct pigment_pending_cache pigment_pending_cache;
typedef struct pigment_pending_cache_options {
  size_t struct_size;
  uint32_t stamp;     /* of the pages */
  uint32_t first;     /* where the chain begins; PIGMENT_NO_PAGE: there are none */
  uint32_t dimension; /* of its vectors; 0: not known, for searches that rank nothing */
  uint64_t bytes_max; /* of memory, about; up to twice as much while it grows. 0: nothing is kept */
} pigment_pending_cache_options;
/* Reads nothing yet. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_pending_cache_new(const pigment_pending_cache_options *options,
                                                                     pigment_pending_cache **cache,
                                                                     pigment_error **error);
/* Searches that the cache was added to keep what they need of it. Since 0.2. */
PIGMENT_API void pigment_pending_cache_free(pigment_pending_cache *cache);
/* As pigment_host_search_add_pending, for the chain of the cache. The first pass has the cache read, through `source`, what was appended since the last
   search; a call that fails adds nothing to it. A search by PIGMENT_METRIC_L1 or PIGMENT_METRIC_JACCARD, of another dimension than the cache's, or of one above 8,136 reads the pages. Exact
   passes give the same hits either way; those that ask indexes may overlook a row of the cache as they may one of a segment. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_host_search_add_pending_cache(pigment_host_search *search,
                                                                                 const pigment_page_source *source,
                                                                                 pigment_pending_cache *cache,
                                                                                 pigment_error **error);
/* Rows of a cache may hang on the index of a segment: each is noted with the places of it to which a search for the row came, so that a search which asks
   the index looks at those rows alone that hang where it came, in place of all. A host keeps what was found out in its pages, in parts, and knows the first
   page of the newest; PIGMENT_NO_PAGE: there is none. As long as the cache may be used a part may only be followed by one that knows of it. Since 0.2. */
PIGMENT_API void pigment_pending_cache_set_graft(pigment_pending_cache *cache, uint32_t first);
/* Whether, as far as the last search read, there are rows enough of which nothing was found out for pigment_pending_cache_hang to be worth a try with
   this segment. Since 0.2. */
PIGMENT_API bool pigment_pending_cache_may_hang(const pigment_pending_cache *cache, const pigment_segment *segment);
/* Reads what was appended, and finds out what rows hang on the index of the largest of the source's segments, or of that on which rows hang already, some
   100 us each: *part gets the bytes that the host writes to overflow pages with the stamp of the pending ones, and has searches know of by
   pigment_pending_cache_set_graft. They may also say that it is of no use. *part NULL: pigment_pending_cache_may_hang says no of all segments. Pages of the segment are pinned for each row. After PIGMENT_CANCELLED
   from a pin the call may be repeated, and begins anew. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_pending_cache_hang(pigment_pending_cache *cache,
                                                                      const pigment_page_source *source,
                                                                      pigment_buffer **part, pigment_error **error);
/* Checks the part that begins at `first` and all that it knows of, and calls `visit` with the place of each page of theirs. *segment gets the number of the
   segment on whose index rows hang. May be repeated after PIGMENT_CANCELLED from a pin, and then begins anew. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status
pigment_pending_graft_visit_pages(const pigment_page_source *source, uint32_t stamp, uint32_t first,
                                  pigment_status (*visit)(void *context, uint32_t physical), void *context,
                                  uint32_t *segment, pigment_error **error);
/* The next hits, at most `capacity`; *count 0 means that all rows were given. After PIGMENT_CANCELLED from a pin the
   call may be repeated and loses nothing. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_host_search_next(pigment_host_search *search, pigment_host_hit *hits,
                                                                    size_t capacity, size_t *count,
                                                                    pigment_error **error);
/* A row that the last call of pigment_host_search_next gave is dead to everybody, for ever: searches by distance to which its segment is added from here
   on, as it is open now, leave it out. Nothing happens where the engine does not know any more which row of which segment it was, and of pending
   pages. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_host_search_mark_dead(pigment_host_search *search, uint64_t row_pointer,
                                                                         pigment_error **error);
/* Looks at about `sample` rows of the segments, spread evenly over the live ones for which the conditions hold: *rows of them, of which *within are
   within max_distance. For a host that wants to know how many rows a search will give. May be repeated after PIGMENT_CANCELLED from a pin. REQUIRES:
   query and max_distance. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status pigment_host_search_sample_within(pigment_host_search *search,
                                                                             uint64_t sample, uint64_t *rows,
                                                                             uint64_t *within, pigment_error **error);
/* Calls `visit` for each live row of all that was added, in no order: its row pointer and the fingerprint of its keys. Rows that are in no index are
   left out. Reads no vector; needs 8 bytes a row of one segment. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status
pigment_host_search_visit_keys(pigment_host_search *search,
                               pigment_status (*visit)(void *context, uint64_t row_pointer, uint64_t fingerprint),
                               void *context, pigment_error **error);
/* The same of the keys of one column. -1: of each live row's vector, as pigment_host_vector_fingerprint gives it; reads all vectors. Since 0.2. */
PIGMENT_API PIGMENT_CHECKED pigment_status
pigment_host_search_visit_column(pigment_host_search *search, int32_t column,
                                 pigment_status (*visit)(void *context, uint64_t row_pointer, uint64_t fingerprint),
                                 void *context, pigment_error **error);
/* A number that tells a vector from others, bit for bit; of NULL 0, which no vector has. Never fails. Since 0.2. */
PIGMENT_API uint64_t pigment_host_vector_fingerprint(const float *vector, size_t dimension);
typedef struct pigment_host_search_counters {
  size_t struct_size;
  uint64_t passes;
  uint64_t rows_scored; /* compared with the query, by vector or by code */
  uint64_t pages_read;
  /* Since 0.2. Live rows for which the conditions hold: known of segments when they are added, of pending pages after a pass. One that asks indexes
     asks them of a pending cache's rows that may be near enough alone. */
  uint64_t segment_rows;
  uint64_t pending_rows;
  /* Rows among them of which the index knows nothing, so that the host must look at each row: see builder_add_row. */
  uint64_t unindexed_rows;
  /* Searches of a segment that a walk of its graph, or a probe of its clusters, answered; what these visited; rows given behind one that is
     farther. Since 0.2. */
  uint64_t walks;
  uint64_t probes;
  uint64_t visits;
  uint64_t rows_late;
  /* Searches of a pending cache that looked at those of its rows that hang where an index was searched, in place of all. Since 0.2. */
  uint64_t grafts;
} pigment_host_search_counters;
/* What the search did until now; fills as much of `counters` as its struct_size says. Never fails. */
PIGMENT_API void pigment_host_search_get_counters(const pigment_host_search *search,
                                                  pigment_host_search_counters *counters);
/* What was borrowed for it may go then. */
PIGMENT_API void pigment_host_search_free(pigment_host_search *search);

#ifdef __cplusplus
}
#endif

#endif /* PIGMENT_PIGMENT_HOST_H */

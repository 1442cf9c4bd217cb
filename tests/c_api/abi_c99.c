/* SPDX-License-Identifier: Apache-2.0
 *
 * The C interface from a program in strict C99 that has nothing but the public header: every family of functions once,
 * in the order in which a reader of the header meets them. Prints `N passed, N failed` last; exit status 1 on failure.
 */

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pigment/pigment.h"

static int g_passed = 0;
static int g_failed = 0;

static void check(bool good, const char *what, int line) {
  if (good) {
    ++g_passed;
    return;
  }
  ++g_failed;
  printf("line %d: %s\n", line, what);
}
#define CHECK(condition) check((condition), #condition, __LINE__)

/* The call succeeds; its error is printed otherwise. */
static void check_ok(pigment_status status, pigment_error *error, const char *what, int line) {
  if (status != PIGMENT_OK) printf("%s: %s\n", pigment_status_name(status), pigment_error_message(error));
  check(status == PIGMENT_OK && error == NULL, what, line);
  pigment_error_free(error);
}
#define OK(call)                                    \
  do {                                              \
    pigment_error *error = NULL;                    \
    const pigment_status status_ = (call);          \
    check_ok(status_, error, #call, __LINE__);      \
  } while (0)

/* The call fails with this code and detail. */
static void check_fails(pigment_status status, pigment_error *error, pigment_status code, int32_t detail,
                        const char *what, int line) {
  const bool good = status == code && pigment_error_status(error) == code && pigment_error_detail(error) == detail &&
                    pigment_error_message(error)[0] != '\0';
  if (!good) printf("status %d, detail %d: %s\n", status, pigment_error_detail(error), pigment_error_message(error));
  check(good, what, line);
  pigment_error_free(error);
}
#define FAILS(call, code, detail)                                   \
  do {                                                              \
    pigment_error *error = NULL;                                    \
    const pigment_status status_ = (call);                          \
    check_fails(status_, error, (code), (detail), #call, __LINE__); \
  } while (0)

#define TEXT(literal) (literal), (sizeof(literal) - 1)

static bool text_is(const pigment_text_column *column, uint64_t row, const char *expected) {
  const size_t size = strlen(expected);
  const int64_t begin = column->offsets[row];
  if ((size_t)(column->offsets[row + 1] - begin) != size) return false;
  return size == 0 || memcmp(column->bytes + begin, expected, size) == 0;
}

static bool is_present(const pigment_text_column *column, uint64_t row) {
  return column->validity == NULL || (column->validity[row / 8] >> (row % 8) & 1) != 0;
}

static bool buffer_has(const pigment_buffer *buffer, const char *part) {
  size_t size = 0;
  const char *data = pigment_buffer_data(buffer, &size);
  return data != NULL && strlen(data) == size && strstr(data, part) != NULL;
}

/* ids "a", "b", "c" with documents and metadatas. */
static const int64_t kIdOffsets[] = {0, 1, 2, 3};
static const int64_t kDocumentOffsets[] = {0, 8, 17, 17};
static const int64_t kMetadataOffsets[] = {0, 7, 14, 21};
static const uint8_t kDocumentValidity[] = {3};
static const float kValues[] = {1, 0, 0, 1, 1, 1};

static pigment_records three_records(void) {
  pigment_records records;
  memset(&records, 0, sizeof records);
  records.struct_size = sizeof records;
  records.count = 3;
  records.ids.offsets = kIdOffsets;
  records.ids.bytes = "abc";
  records.embeddings.data = kValues;
  records.embeddings.rows = 3;
  records.embeddings.dimension = 2;
  records.embeddings.dtype = PIGMENT_F32;
  records.documents.offsets = kDocumentOffsets;
  records.documents.bytes = "red fishblue fish";
  records.documents.validity = kDocumentValidity;
  records.metadatas.offsets = kMetadataOffsets;
  records.metadatas.bytes = "{\"n\":1}{\"n\":2}{\"n\":3}";
  return records;
}

static void test_facts(void) {
  CHECK(pigment_abi_version() == PIGMENT_ABI_VERSION);
  CHECK(strcmp(pigment_version(), "0.2.0") == 0);
  CHECK(strstr(pigment_build_info(), pigment_version()) != NULL);
  CHECK(strcmp(pigment_status_name(PIGMENT_NOT_FOUND), "not found") == 0);
  CHECK(strcmp(pigment_status_sqlstate(PIGMENT_NOT_FOUND), "42704") == 0);
  CHECK(pigment_status_retryable(PIGMENT_UNAVAILABLE));
  CHECK(pigment_status_fault(PIGMENT_INVALID_ARGUMENT) == PIGMENT_FAULT_CALLER);
  CHECK(pigment_status_name(99) == NULL);
  CHECK(pigment_error_status(NULL) == PIGMENT_OK);
  CHECK(pigment_now_ns() > 0);
}

static void test_namespaces(pigment_client *client) {
  pigment_buffer *json = NULL;
  OK(pigment_client_create_tenant(client, TEXT("acme"), &error));
  FAILS(pigment_client_create_tenant(client, TEXT("acme"), &error), PIGMENT_ALREADY_EXISTS, PIGMENT_DETAIL_NONE);
  OK(pigment_client_get_tenant(client, TEXT("acme"), &json, &error));
  CHECK(buffer_has(json, "\"acme\""));
  pigment_buffer_free(json);
  OK(pigment_client_list_tenants(client, &json, &error));
  CHECK(buffer_has(json, "\"default_tenant\""));
  pigment_buffer_free(json);
  OK(pigment_client_create_database(client, TEXT("acme"), TEXT("sales"), &error));
  OK(pigment_client_get_database(client, TEXT("acme"), TEXT("sales"), &json, &error));
  CHECK(buffer_has(json, "\"tenant\":\"acme\""));
  pigment_buffer_free(json);
  OK(pigment_client_list_databases(client, NULL, 0, -1, 0, &json, &error));
  CHECK(buffer_has(json, "\"default_database\""));
  pigment_buffer_free(json);
  OK(pigment_client_delete_database(client, TEXT("acme"), TEXT("sales"), &error));
  FAILS(pigment_client_get_database(client, TEXT("acme"), TEXT("sales"), &json, &error), PIGMENT_NOT_FOUND,
        PIGMENT_DETAIL_NONE);
  CHECK(json == NULL);
  OK(pigment_client_delete_tenant(client, TEXT("acme"), &error));
}

static void test_collections(pigment_client *client) {
  pigment_collection_options options;
  pigment_collection_options_init(&options);
  CHECK(options.struct_size == sizeof options && !options.get_or_create && options.metadata_json == NULL);
  options.metadata_json = "{\"topic\":\"law\"}";
  options.metadata_json_size = strlen(options.metadata_json);
  options.configuration_json = "{\"hnsw\":{\"space\":\"cosine\"}}";
  options.configuration_json_size = strlen(options.configuration_json);

  pigment_collection *made = NULL;
  pigment_collection *found = NULL;
  pigment_collection *copy = NULL;
  options.schema_json = "{}";
  options.schema_json_size = strlen(options.schema_json);
  FAILS(pigment_client_create_collection(client, NULL, TEXT("laws"), &options, &made, &error), PIGMENT_INVALID_ARGUMENT,
        PIGMENT_DETAIL_NONE);
  options.struct_size = offsetof(pigment_collection_options, schema_json); /* of a caller of 0.1 */
  pigment_buffer *json = NULL;
  uint64_t count = 0;
  OK(pigment_client_create_collection(client, NULL, TEXT("laws"), &options, &made, &error));
  FAILS(pigment_client_create_collection(client, NULL, TEXT("laws"), &options, &found, &error), PIGMENT_ALREADY_EXISTS,
        PIGMENT_DETAIL_NONE);
  CHECK(found == NULL);
  FAILS(pigment_client_create_collection(client, NULL, TEXT("x"), NULL, &found, &error), PIGMENT_INVALID_ARGUMENT,
        PIGMENT_DETAIL_NAME);
  OK(pigment_client_get_collection(client, NULL, TEXT("laws"), NULL, &found, &error));
  OK(pigment_collection_describe(found, &json, &error));
  CHECK(buffer_has(json, "\"schema\":null"));
  CHECK(buffer_has(json, "\"name\":\"laws\""));
  CHECK(buffer_has(json, "\"topic\":\"law\""));
  CHECK(buffer_has(json, "\"cosine\""));
  const char *id = strstr(pigment_buffer_data(json, NULL), "\"id\":\"");
  CHECK(id != NULL);
  pigment_collection_free(found);
  found = NULL;
  if (id != NULL) OK(pigment_client_get_collection_by_id(client, id + 6, 36, NULL, &found, &error));
  CHECK(found != NULL);
  pigment_buffer_free(json);
  OK(pigment_client_list_collections(client, NULL, -1, 0, &json, &error));
  CHECK(buffer_has(json, "\"laws\""));
  pigment_buffer_free(json);
  OK(pigment_client_count_collections(client, NULL, &count, &error));
  CHECK(count == 1);

  pigment_modify_options change;
  memset(&change, 0, sizeof change);
  change.struct_size = sizeof change;
  change.name = "statutes";
  change.name_size = strlen(change.name);
  OK(pigment_collection_modify(made, &change, &error));
  OK(pigment_collection_describe(found, &json, &error));
  CHECK(buffer_has(json, "\"name\":\"statutes\""));
  pigment_buffer_free(json);
  OK(pigment_collection_fork(made, TEXT("copy"), &copy, &error));
  OK(pigment_collection_flush(copy, &error));
  OK(pigment_client_delete_collection(client, NULL, TEXT("statutes"), &error));
  FAILS(pigment_collection_count(made, NULL, &count, &error), PIGMENT_NOT_FOUND, PIGMENT_DETAIL_NONE);
  OK(pigment_collection_count(copy, NULL, &count, &error));
  OK(pigment_client_delete_collection(client, NULL, TEXT("copy"), &error));
  pigment_collection_free(made);
  pigment_collection_free(found);
  pigment_collection_free(copy);
}

static void test_writes(pigment_collection *docs) {
  pigment_records records = three_records();
  pigment_write_result result;
  memset(&result, 0, sizeof result);
  result.struct_size = sizeof result;
  OK(pigment_collection_add(docs, &records, NULL, &result, &error));
  CHECK(result.inserted == 3 && result.skipped == 0 && result.position > 0);
  OK(pigment_collection_add(docs, &records, NULL, &result, &error));
  CHECK(result.inserted == 0 && result.skipped == 3);
  OK(pigment_collection_upsert(docs, &records, NULL, &result, &error));
  CHECK(result.updated == 3);

  pigment_records update = three_records();
  update.embeddings.data = NULL;
  update.embeddings.rows = 0;
  update.documents.offsets = NULL;
  OK(pigment_collection_update(docs, &update, NULL, NULL, &error));
  FAILS(pigment_collection_add(docs, &update, NULL, &result, &error), PIGMENT_INVALID_ARGUMENT, PIGMENT_DETAIL_NONE);
  CHECK(result.inserted == 0 && result.updated == 0 && result.position == 0);

  static const int64_t kTwice[] = {0, 1, 2, 3};
  records.ids.offsets = kTwice;
  records.ids.bytes = "aba";
  FAILS(pigment_collection_add(docs, &records, NULL, NULL, &error), PIGMENT_INVALID_ARGUMENT,
        PIGMENT_DETAIL_DUPLICATE_ID);

  pigment_delete_request request;
  memset(&request, 0, sizeof request);
  request.struct_size = sizeof request;
  FAILS(pigment_collection_delete(docs, &request, NULL, NULL, &error), PIGMENT_INVALID_ARGUMENT, PIGMENT_DETAIL_NONE);
  request.where_json = "{\"n\":{\"$gte\":3}}";
  request.where_json_size = strlen(request.where_json);
  OK(pigment_collection_delete(docs, &request, NULL, &result, &error));
  CHECK(result.deleted == 1);
}

static void test_reads(pigment_collection *docs) {
  uint64_t count = 0;
  OK(pigment_collection_count(docs, NULL, &count, &error));
  CHECK(count == 2);

  pigment_get_request request;
  memset(&request, 0, sizeof request);
  request.struct_size = sizeof request;
  request.where_document_json = "{\"$contains\":\"blue\"}";
  request.where_document_json_size = strlen(request.where_document_json);
  request.explain = true;
  pigment_result *result = NULL;
  pigment_text_column column;
  OK(pigment_collection_get(docs, &request, NULL, &result, &error));
  CHECK(pigment_result_query_count(result) == 1 && pigment_result_row_count(result) == 1);
  CHECK(pigment_result_query_offsets(result)[0] == 0 && pigment_result_query_offsets(result)[1] == 1);
  CHECK(pigment_result_ids(result, &column) && text_is(&column, 0, "b"));
  CHECK(pigment_result_documents(result, &column) && is_present(&column, 0) && text_is(&column, 0, "blue fish"));
  CHECK(pigment_result_metadatas(result, &column) && text_is(&column, 0, "{\"n\":2}"));
  CHECK(!pigment_result_uris(result, &column) && column.offsets == NULL);
  CHECK(pigment_result_distances(result) == NULL);
  CHECK(pigment_result_included(result) == (PIGMENT_INCLUDE_DOCUMENTS | PIGMENT_INCLUDE_METADATAS));
  CHECK(pigment_result_position(result) > 0);
  size_t size = 0;
  CHECK(pigment_result_explain(result, &size) != NULL && size > 0);
  pigment_result_free(result);

  OK(pigment_collection_peek(docs, 1, NULL, &result, &error));
  size_t dimension = 0;
  const float *values = pigment_result_embeddings(result, &dimension);
  CHECK(values != NULL && dimension == 2 && values[0] == 1.0f && values[1] == 0.0f);
  pigment_result_free(result);
}

static void test_queries(pigment_collection *docs) {
  static const float kQueries[] = {1, 0, 0, 1};
  pigment_query_request request;
  pigment_query_request_init(&request);
  CHECK(request.n_results == 10 && request.struct_size == sizeof request);
  request.embeddings.data = kQueries;
  request.embeddings.rows = 2;
  request.embeddings.dimension = 2;
  request.n_results = 1;
  pigment_result *result = NULL;
  pigment_text_column ids;
  OK(pigment_collection_query(docs, &request, NULL, &result, &error));
  CHECK(pigment_result_query_count(result) == 2 && pigment_result_row_count(result) == 2);
  CHECK(pigment_result_ids(result, &ids) && text_is(&ids, 0, "a") && text_is(&ids, 1, "b"));
  CHECK(pigment_result_distances(result)[0] == 0.0f && pigment_result_distances(result)[1] == 0.0f);
  pigment_result_free(result);
  request.n_results = 0;
  FAILS(pigment_collection_query(docs, &request, NULL, &result, &error), PIGMENT_INVALID_ARGUMENT, PIGMENT_DETAIL_NONE);
  CHECK(result == NULL);
}

static void test_text_search(pigment_client *client) {
  static const char kConfiguration[] = "{\"text_index\":{}}";
  static const char kTexts[] = "red apple";
  static const int64_t kOffsets[] = {0, sizeof kTexts - 1};
  static const float kVector[] = {1};
  pigment_collection_options options;
  pigment_collection_options_init(&options);
  options.configuration_json = kConfiguration;
  options.configuration_json_size = strlen(kConfiguration);
  pigment_collection *docs = NULL;
  OK(pigment_client_create_collection(client, NULL, "ranked", 6, &options, &docs, &error));
  pigment_records records;
  memset(&records, 0, sizeof records);
  records.struct_size = sizeof records;
  records.count = 1;
  records.ids.offsets = records.documents.offsets = kOffsets;
  records.ids.bytes = records.documents.bytes = kTexts;
  records.embeddings.data = kVector;
  records.embeddings.rows = records.embeddings.dimension = 1;
  OK(pigment_collection_add(docs, &records, NULL, NULL, &error));
  pigment_text_search_request request;
  pigment_text_search_request_init(&request);
  CHECK(request.n_results == 10 && request.operator_ == PIGMENT_TEXT_ANY && request.struct_size == sizeof request);
  request.queries_count = 1;
  request.queries = records.documents;
  request.highlights = true;
  pigment_result *result = NULL;
  pigment_text_column column;
  OK(pigment_collection_search_text(docs, &request, NULL, &result, &error));
  CHECK(pigment_result_row_count(result) == 1 && pigment_result_scores(result)[0] > 0);
  CHECK(pigment_result_highlights(result, &column) && text_is(&column, 0, "[[0,3],[4,9]]"));
  pigment_result_free(result);
  pigment_collection_free(docs);
}

static void test_control(pigment_collection *docs) {
  pigment_call_options options;
  pigment_call_options_init(&options);
  CHECK(options.struct_size == sizeof options && options.cancel == NULL);
  uint64_t count = 7;
  pigment_cancel *cancel = NULL;
  OK(pigment_cancel_new(&cancel, &error));
  options.cancel = cancel;
  OK(pigment_collection_count(docs, &options, &count, &error));
  pigment_cancel_set(cancel);
  CHECK(pigment_cancel_is_set(cancel));
  FAILS(pigment_collection_count(docs, &options, &count, &error), PIGMENT_CANCELLED, PIGMENT_DETAIL_NONE);
  CHECK(count == 0);
  pigment_cancel_free(cancel);
  pigment_call_options_init(&options);
  options.deadline_ns = 1;
  FAILS(pigment_collection_count(docs, &options, &count, &error), PIGMENT_DEADLINE_EXCEEDED, PIGMENT_DETAIL_NONE);
  pigment_call_options_init(&options);
  options.min_position = UINT64_MAX;
  FAILS(pigment_collection_count(docs, &options, &count, &error), PIGMENT_FAILED_PRECONDITION, PIGMENT_DETAIL_STALE);
}

/* Component i counts the letter 'a' + i. */
static pigment_status count_letters(void *user_data, int32_t purpose, size_t count, const pigment_text_column *texts,
                                    pigment_embedding_sink *sink) {
  int *calls = user_data;
  ++*calls;
  if (purpose != PIGMENT_EMBED_DOCUMENT && purpose != PIGMENT_EMBED_QUERY) return PIGMENT_INTERNAL;
  for (size_t row = 0; row < count; ++row) {
    float values[2] = {0, 0};
    for (int64_t at = texts->offsets[row]; at < texts->offsets[row + 1]; ++at) {
      if (texts->bytes[at] == 'a') values[0] += 1;
      if (texts->bytes[at] == 'b') values[1] += 1;
    }
    const pigment_status status = pigment_embedding_sink_put(sink, values, 1, 2);
    if (status != PIGMENT_OK) return status;
  }
  return PIGMENT_OK;
}

static void count_release(void *user_data) { *(int *)user_data += 1000; }

static void test_embedding_function(pigment_client *client) {
  int calls = 0;
  pigment_embedding_function function;
  memset(&function, 0, sizeof function);
  function.struct_size = sizeof function;
  function.name = "letters";
  function.name_size = strlen(function.name);
  function.embed = count_letters;
  function.release = count_release;
  function.user_data = &calls;
  pigment_collection_options options;
  pigment_collection_options_init(&options);
  options.embedding_function = &function;
  pigment_collection *texts = NULL;
  OK(pigment_client_create_collection(client, NULL, TEXT("texts"), &options, &texts, &error));

  static const int64_t kOffsets[] = {0, 2, 4};
  static const int64_t kTwoIds[] = {0, 1, 2};
  pigment_records records;
  memset(&records, 0, sizeof records);
  records.struct_size = sizeof records;
  records.count = 2;
  records.ids.offsets = kTwoIds;
  records.ids.bytes = "xy";
  records.documents.offsets = kOffsets;
  records.documents.bytes = "aabb";
  OK(pigment_collection_add(texts, &records, NULL, NULL, &error));
  CHECK(calls == 1);

  pigment_query_request request;
  pigment_query_request_init(&request);
  static const int64_t kQueryOffsets[] = {0, 2};
  request.texts_count = 1;
  request.texts.offsets = kQueryOffsets;
  request.texts.bytes = "bb";
  pigment_result *result = NULL;
  pigment_text_column ids;
  OK(pigment_collection_query(texts, &request, NULL, &result, &error));
  CHECK(pigment_result_ids(result, &ids) && text_is(&ids, 0, "y") && text_is(&ids, 1, "x"));
  pigment_result_free(result);
  CHECK(calls == 2);
  pigment_collection_free(texts);
  CHECK(calls == 1002);
}

static void test_lexical(pigment_client *client) {
  static const int64_t kOffsets[] = {0, 8, 16};
  pigment_text_column texts;
  memset(&texts, 0, sizeof texts);
  texts.offsets = kOffsets;
  texts.bytes = "red fishred fish";
  float values[2 * 16];
  OK(pigment_embed_lexical(2, &texts, 16, values, &error));
  CHECK(memcmp(values, values + 16, sizeof(float) * 16) == 0);
  pigment_embedding_function function;
  memset(&function, 0, sizeof function);
  function.struct_size = sizeof function;
  OK(pigment_embedding_function_lexical(0, &function, &error));
  CHECK(function.embed != NULL && function.name_size == strlen("pigment_lexical_v1"));
  pigment_collection_options options;
  pigment_collection_options_init(&options);
  options.embedding_function = &function;
  pigment_collection *words = NULL;
  OK(pigment_client_create_collection(client, NULL, TEXT("words"), &options, &words, &error));
  pigment_collection_free(words);
}

/* A result becomes a stream, the stream records of another collection. */
static void test_arrow(pigment_client *client, pigment_collection *docs) {
  pigment_get_request get;
  memset(&get, 0, sizeof get);
  get.struct_size = sizeof get;
  get.include = PIGMENT_INCLUDE_DOCUMENTS | PIGMENT_INCLUDE_METADATAS | PIGMENT_INCLUDE_EMBEDDINGS;
  pigment_result *result = NULL;
  OK(pigment_collection_get(docs, &get, NULL, &result, &error));
  const uint64_t rows = pigment_result_row_count(result);
  pigment_collection *copy = NULL;
  OK(pigment_client_create_collection(client, NULL, TEXT("copy"), NULL, &copy, &error));
  typedef pigment_status (*arrow_write)(pigment_collection *, struct ArrowArrayStream *, const pigment_call_options *,
                                        pigment_write_result *, uint64_t *, pigment_error **);
  static const arrow_write kWrites[] = {pigment_collection_add_arrow, pigment_collection_update_arrow,
                                        pigment_collection_upsert_arrow};
  for (int i = 0; i < 3; ++i) {
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    OK(pigment_result_arrow_stream(result, &stream, &error));
    CHECK(stream.get_schema(&stream, &schema) == 0 && schema.n_children == 4);
    CHECK(strcmp(schema.format, "+s") == 0 && strcmp(schema.children[0]->name, "id") == 0);
    schema.release(&schema);
    pigment_write_result written;
    memset(&written, 0, sizeof written);
    written.struct_size = sizeof written;
    uint64_t batches = 0;
    OK(kWrites[i](copy, &stream, NULL, &written, &batches, &error));
    CHECK(stream.release == NULL && batches == 1);
    CHECK((i == 0 ? written.inserted : written.updated) == rows);
  }
  struct ArrowArrayStream released;
  memset(&released, 0, sizeof released);
  FAILS(pigment_collection_add_arrow(copy, &released, NULL, NULL, NULL, &error), PIGMENT_INVALID_ARGUMENT,
        PIGMENT_DETAIL_NONE);
  pigment_collection_free(copy);
  pigment_result_free(result);
}

static void test_directory(const char *path) {
  pigment_open_options options;
  pigment_open_options_init(&options);
  CHECK(options.struct_size == sizeof options && !options.read_only);
  pigment_client *client = NULL;
  options.must_exist = true;
  FAILS(pigment_client_open(path, strlen(path), &options, &client, &error), PIGMENT_NOT_FOUND, PIGMENT_DETAIL_NONE);
  CHECK(client == NULL);
  options.must_exist = false;
  OK(pigment_client_open(path, strlen(path), &options, &client, &error));
  pigment_collection *docs = NULL;
  OK(pigment_client_create_collection(client, NULL, TEXT("docs"), NULL, &docs, &error));
  const pigment_records records = three_records();
  OK(pigment_collection_add(docs, &records, NULL, NULL, &error));
  OK(pigment_client_flush(client, &error));
  OK(pigment_client_close(client, &error));
  OK(pigment_client_close(client, &error));
  uint64_t position = 0;
  FAILS(pigment_client_position(client, &position, &error), PIGMENT_FAILED_PRECONDITION, PIGMENT_DETAIL_CLOSED);
  pigment_client_free(client);
  pigment_collection_free(docs);

  options.read_only = true;
  OK(pigment_client_open(path, strlen(path), &options, &client, &error));
  OK(pigment_client_get_collection(client, NULL, TEXT("docs"), NULL, &docs, &error));
  uint64_t count = 0;
  OK(pigment_collection_count(docs, NULL, &count, &error));
  CHECK(count == 3);
  FAILS(pigment_collection_add(docs, &records, NULL, NULL, &error), PIGMENT_FAILED_PRECONDITION,
        PIGMENT_DETAIL_READ_ONLY);
  OK(pigment_client_refresh(client, &position, &error));
  pigment_client_free(client);
  pigment_collection_free(docs);
}

int main(void) {
  test_facts();
  pigment_client *client = NULL;
  OK(pigment_client_open(NULL, 0, NULL, &client, &error));
  if (client == NULL) {
    printf("%d passed, %d failed\n", g_passed, g_failed);
    return 1;
  }
  test_namespaces(client);
  test_collections(client);
  pigment_collection *docs = NULL;
  OK(pigment_client_create_collection(client, NULL, TEXT("docs"), NULL, &docs, &error));
  test_writes(docs);
  test_reads(docs);
  OK(pigment_client_flush(client, &error));
  test_reads(docs);
  test_queries(docs);
  test_control(docs);
  test_arrow(client, docs);
  test_text_search(client);
  test_embedding_function(client);
  test_lexical(client);
  uint64_t position = 0;
  OK(pigment_client_position(client, &position, &error));
  CHECK(position > 0);
  pigment_client_free(client);
  uint64_t count = 0;
  OK(pigment_collection_count(docs, NULL, &count, &error)); /* the parent may go first */
  CHECK(count == 2);
  pigment_collection_free(docs);

  const char *folder = getenv("TMPDIR");
  char path[4096];
  snprintf(path, sizeof path, "%s/abi_c99.%" PRId64, folder != NULL ? folder : "/tmp", pigment_now_ns());
  test_directory(path);
  char command[4200];
  snprintf(command, sizeof command, "rm -rf '%s'", path);
  CHECK(system(command) == 0);

  printf("%d passed, %d failed\n", g_passed, g_failed);
  return g_failed == 0 ? 0 : 1;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * A program of somebody who compiled it against the header of an older release: makes a store, fills it, asks it, opens it
 * again. CMake compiles it once for each folder tests/abi/0.N and says by OLD_MINOR which. Prints `N passed, N failed`
 * last; exit status 1 on failure.
 */

#include <pigment/pigment.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if PIGMENT_VERSION_MAJOR != 0 || PIGMENT_VERSION_MINOR != OLD_MINOR
#error "this is compiled against another release's header"
#endif

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

static void check_ok(pigment_status status, pigment_error *error, const char *what, int line) {
  if (status != PIGMENT_OK) printf("%s: %s\n", pigment_status_name(status), pigment_error_message(error));
  check(status == PIGMENT_OK, what, line);
  pigment_error_free(error);
}
#define OK(call)                                  \
  do {                                            \
    pigment_error *error = NULL;                  \
    const pigment_status status_ = (call);        \
    check_ok(status_, error, #call, __LINE__);    \
  } while (0)

/* A struct of this header with bytes behind it, which a function of a later library that fills it must leave alone. */
#define GUARD 64
#define GUARDED(type)            \
  struct {                       \
    type value;                  \
    unsigned char behind[GUARD]; \
  } guarded;                     \
  memset(&guarded, 0xA5, sizeof guarded)
#define CHECK_BEHIND()                                                \
  do {                                                                \
    for (int i = 0; i < GUARD; ++i) CHECK(guarded.behind[i] == 0xA5); \
  } while (0)

#define INITS(type)                                   \
  do {                                                \
    GUARDED(type);                                    \
    type##_init(&guarded.value);                      \
    CHECK(guarded.value.struct_size == sizeof(type)); \
    CHECK_BEHIND();                                   \
  } while (0)

static void init_functions(void) {
  INITS(pigment_call_options);
  INITS(pigment_open_options);
#if OLD_MINOR >= 2
  INITS(pigment_collection_options);
  INITS(pigment_query_request);
  INITS(pigment_text_search_request);
#endif
}

/* What fills a struct without being told its size. */
static void lexical_function(void) {
  GUARDED(pigment_embedding_function);
  OK(pigment_embedding_function_lexical(16, &guarded.value, &error));
  CHECK(guarded.value.struct_size == sizeof(pigment_embedding_function));
  CHECK(guarded.value.embed != NULL);
  CHECK_BEHIND();
}

/* What fills as much of a struct as it says that it has. */
static void compact(pigment_client *client) {
  GUARDED(pigment_compaction);
  guarded.value.struct_size = sizeof guarded.value;
  OK(pigment_client_compact(client, NULL, &guarded.value, &error));
  CHECK(guarded.value.struct_size == sizeof(pigment_compaction));
  CHECK(guarded.value.records == 3);
  CHECK_BEHIND();
}

static pigment_client *open_store(const char *path) {
  pigment_open_options options;
  pigment_client *client = NULL;
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  OK(pigment_client_open(path, strlen(path), &options, &client, &error));
  return client;
}

static void fill(pigment_client *client) {
  static const int64_t id_ends[] = {0, 1, 2, 3};
  static const int64_t document_ends[] = {0, 5, 11, 11};
  static const uint8_t present = 3;
  static const int64_t metadata_ends[] = {0, 7, 14, 21};
  static const float values[] = {1, 0, 0, 1, 1, 1};
  pigment_collection_options options;
  pigment_collection *docs = NULL;
  pigment_records records;
  GUARDED(pigment_write_result);
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.metadata_json = "{\"k\":1}";
  options.metadata_json_size = 7;
  OK(pigment_client_create_collection(client, NULL, "docs", 4, &options, &docs, &error));
  memset(&records, 0, sizeof records);
  records.struct_size = sizeof records;
  records.count = 3;
  records.ids.offsets = id_ends;
  records.ids.bytes = "abc";
  records.documents.offsets = document_ends;
  records.documents.bytes = "first second";
  records.documents.validity = &present;
  records.metadatas.offsets = metadata_ends;
  records.metadatas.bytes = "{\"n\":0}{\"n\":1}{\"n\":2}";
  records.embeddings.data = values;
  records.embeddings.rows = 3;
  records.embeddings.dimension = 2;
  guarded.value.struct_size = sizeof guarded.value;
  OK(pigment_collection_add(docs, &records, NULL, &guarded.value, &error));
  CHECK(guarded.value.inserted == 3);
  CHECK_BEHIND();
  pigment_collection_free(docs);
}

static void ask(pigment_client *client) {
  static const float question[] = {0.9f, 1};
  static const char where[] = "{\"n\":{\"$lt\":2}}";
  pigment_collection *docs = NULL;
  pigment_query_request request;
  pigment_get_request get;
  pigment_result *result = NULL;
  pigment_text_column ids;
  pigment_error *error = NULL;
  uint64_t count = 0;
  OK(pigment_client_get_collection(client, NULL, "docs", 4, NULL, &docs, &error));
  OK(pigment_collection_count(docs, NULL, &count, &error));
  CHECK(count == 3);
  memset(&request, 0, sizeof request);
  request.struct_size = sizeof request;
  request.embeddings.data = question;
  request.embeddings.rows = 1;
  request.embeddings.dimension = 2;
  request.n_results = 2;
  request.where_json = where;
  request.where_json_size = sizeof where - 1;
  OK(pigment_collection_query(docs, &request, NULL, &result, &error));
  CHECK(pigment_result_row_count(result) == 2);
  CHECK(pigment_result_ids(result, &ids));
  CHECK(memcmp(ids.bytes + ids.offsets[0], "b", 1) == 0 || memcmp(ids.bytes + ids.offsets[0], "a", 1) == 0);
  CHECK(pigment_result_distances(result)[0] <= pigment_result_distances(result)[1]);
  pigment_result_free(result);
  memset(&get, 0, sizeof get);
  get.struct_size = sizeof get;
  get.include = PIGMENT_INCLUDE_DOCUMENTS;
  OK(pigment_collection_get(docs, &get, NULL, &result, &error));
  CHECK(pigment_result_row_count(result) == 3);
  pigment_result_free(result);

  request.embeddings.dimension = 1;
  CHECK(pigment_collection_query(docs, &request, NULL, &result, &error) == PIGMENT_INVALID_ARGUMENT);
  CHECK(result == NULL && pigment_error_detail(error) == PIGMENT_DETAIL_DIMENSION);
  pigment_error_free(error);
  pigment_collection_free(docs);
}

int main(void) {
  const char *folder = getenv("TMPDIR");
  char path[4096], command[4200];
  pigment_client *client;
  CHECK(pigment_abi_version() == PIGMENT_ABI_VERSION);
  init_functions();
  lexical_function();
  snprintf(path, sizeof path, "%s/old_client.%lld", folder != NULL ? folder : "/tmp", (long long)pigment_now_ns());
  client = open_store(path);
  fill(client);
  ask(client);
  OK(pigment_client_close(client, &error));
  pigment_client_free(client);
  client = open_store(path);
  ask(client);
  compact(client);
  OK(pigment_client_close(client, &error));
  pigment_client_free(client);
  snprintf(command, sizeof command, "rm -rf '%s'", path);
  CHECK(system(command) == 0);
  printf("%d passed, %d failed\n", g_passed, g_failed);
  return g_failed == 0 ? 0 : 1;
}

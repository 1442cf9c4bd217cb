/* SPDX-License-Identifier: Apache-2.0
 *
 * The whole round: a store in memory, a collection, records as columns, a query with a filter, an update, a delete, and what an
 * error tells. Copy what you need.
 */

#include <pigment/pigment.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every call that can fail returns a status and leaves an error, which is ours to free. */
static void expect(pigment_status status, pigment_error *error) {
  if (status == PIGMENT_OK) return;
  fprintf(stderr, "%s: %s\n", pigment_status_name(status), pigment_error_message(error));
  pigment_error_free(error);
  exit(1);
}

/* Three records. Text i of a column is bytes[offsets[i] .. offsets[i + 1]). The third has no document. */
static void add(pigment_collection *films) {
  static const int64_t ids[] = {0, 5, 10, 17};
  static const int64_t documents[] = {0, 24, 45, 45};
  static const uint8_t has_document = 1 | 2;
  static const int64_t metadatas[] = {0, 13, 26, 39};
  static const float embeddings[] = {0.9f, 0.1f, 0.8f, 0.3f, 0.0f, 1.0f};
  pigment_records records = {.struct_size = sizeof records};
  pigment_write_result written = {.struct_size = sizeof written};
  pigment_error *error = NULL;

  records.count = 3;
  records.ids.offsets = ids;
  records.ids.bytes = "alien"
                      "dune2"
                      "amelie1";
  records.documents.offsets = documents;
  records.documents.bytes = "something is in the ship"
                            "the spice must flow!!";
  records.documents.validity = &has_document;
  records.metadatas.offsets = metadatas;
  records.metadatas.bytes = "{\"year\":1979}"
                            "{\"year\":2024}"
                            "{\"year\":2001}";
  records.embeddings.data = embeddings;
  records.embeddings.rows = 3;
  records.embeddings.dimension = 2;
  expect(pigment_collection_add(films, &records, NULL, &written, &error), error);
  printf("added %d\n", (int)written.inserted);
}

static void print_ids(const pigment_result *result) {
  const float *distances = pigment_result_distances(result); /* NULL for a get */
  pigment_text_column ids;
  pigment_result_ids(result, &ids);
  for (uint64_t row = 0; row < pigment_result_row_count(result); ++row) {
    const int64_t begin = ids.offsets[row];
    printf("  %.*s", (int)(ids.offsets[row + 1] - begin), ids.bytes + begin);
    if (distances != NULL) printf(" at %.2f", (double)distances[row]);
    printf("\n");
  }
}

static void query(pigment_collection *films, const char *where) {
  static const float question[] = {1.0f, 0.0f};
  pigment_query_request request;
  pigment_result *result = NULL;
  pigment_error *error = NULL;
  pigment_query_request_init(&request);
  request.embeddings.data = question;
  request.embeddings.rows = 1;
  request.embeddings.dimension = 2;
  request.n_results = 2;
  if (where != NULL) {
    request.where_json = where;
    request.where_json_size = strlen(where);
  }
  expect(pigment_collection_query(films, &request, NULL, &result, &error), error);
  printf("nearest%s%s\n", where != NULL ? " where " : "", where != NULL ? where : "");
  print_ids(result);
  pigment_result_free(result);
}

static void delete_one(pigment_collection *films) {
  static const int64_t ids[] = {0, 5};
  pigment_delete_request request = {.struct_size = sizeof request};
  pigment_write_result written = {.struct_size = sizeof written};
  pigment_error *error = NULL;
  request.ids_count = 1;
  request.ids.offsets = ids;
  request.ids.bytes = "alien";
  expect(pigment_collection_delete(films, &request, NULL, &written, &error), error);
  printf("deleted %d\n", (int)written.deleted);
}

/* A vector of another dimension: the status is for programs, the message for people. */
static void fail(pigment_collection *films) {
  static const float question[] = {1.0f, 0.0f, 0.0f};
  pigment_query_request request;
  pigment_result *result = NULL;
  pigment_error *error = NULL;
  pigment_query_request_init(&request);
  request.embeddings.data = question;
  request.embeddings.rows = 1;
  request.embeddings.dimension = 3;
  if (pigment_collection_query(films, &request, NULL, &result, &error) == PIGMENT_INVALID_ARGUMENT &&
      pigment_error_detail(error) == PIGMENT_DETAIL_DIMENSION) {
    printf("refused: %s\n", pigment_error_message(error));
  }
  pigment_error_free(error);
}

int main(void) {
  pigment_client *client = NULL;
  pigment_collection *films = NULL;
  pigment_collection_options options;
  pigment_error *error = NULL;

  expect(pigment_client_open(NULL, 0, NULL, &client, &error), error); /* no path: in memory */
  pigment_collection_options_init(&options);
  options.configuration_json = "{\"hnsw\":{\"space\":\"cosine\"}}";
  options.configuration_json_size = strlen(options.configuration_json);
  expect(pigment_client_create_collection(client, NULL, "films", 5, &options, &films, &error), error);
  add(films);
  query(films, NULL);
  query(films, "{\"year\":{\"$gt\":2000}}");
  delete_one(films);
  query(films, NULL);
  fail(films);
  pigment_collection_free(films);
  expect(pigment_client_close(client, &error), error); /* reports what free would lose */
  pigment_client_free(client);
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */

/* The C side of the benchmark: what Bench.java does, with the same numbers, as a library that it loads, so that both take turns in one process
   and queries meet one store. Functions give nanoseconds, the fastest of what they did, because other work on a machine only ever slows one
   down; an error ends the process. One thread. */

#include <pigment/pigment.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMENSION = 384, BATCH = 1000, BATCHES = 5, QUERIES = 200, RESULTS = 10 };

static uint32_t state = 1;

static float next_value(void) {
  state = state * 1664525u + 1013904223u;
  return (float)(int32_t)(state >> 8) / 16777216.0f - 0.5f;
}

static void check(pigment_status status, pigment_error *error) {
  if (status != PIGMENT_OK) {
    fprintf(stderr, "%s\n", pigment_error_message(error));
    exit(1);
  }
}

static float vectors[BATCHES][BATCH * DIMENSION], queries[QUERIES][DIMENSION];
static char text[BATCHES][2][BATCH * 64];
static int64_t offsets[BATCHES][2][BATCH + 1];

/* Before all others. */
void bench_make_data(void) {
  for (int batch = 0; batch < BATCHES; batch++) {
    for (int i = 0; i < BATCH * DIMENSION; i++) vectors[batch][i] = next_value();
    for (int row = 0; row < BATCH; row++) {
      const int number = batch * BATCH + row;
      offsets[batch][0][row + 1] = offsets[batch][0][row] + sprintf(text[batch][0] + offsets[batch][0][row], "id%d", number);
      offsets[batch][1][row + 1] =
          offsets[batch][1][row] +
          sprintf(text[batch][1] + offsets[batch][1][row], "document number %d of some words", number);
    }
  }
  for (int query = 0; query < QUERIES; query++)
    for (int i = 0; i < DIMENSION; i++) queries[query][i] = next_value();
}

static volatile uint64_t seen;

static uint64_t look(const pigment_text_column *column, uint64_t rows) {
  uint64_t sum = 0;
  for (int64_t i = column->offsets[0]; i < column->offsets[rows]; i++) sum += (unsigned char)column->bytes[i];
  return sum;
}

static pigment_client *open_client(const char *path) {
  pigment_error *error = NULL;
  pigment_client *client = NULL;
  check(pigment_client_open(path, strlen(path), NULL, &client, &error), error);
  return client;
}

/* All batches into a new store: a directory, or "" for memory. */
int64_t bench_add(const char *path) {
  pigment_error *error = NULL;
  pigment_client *const client = open_client(path);
  pigment_collection *collection = NULL;
  check(pigment_client_create_collection(client, NULL, "docs", 4, NULL, &collection, &error), error);
  int64_t best = INT64_MAX;
  for (int batch = 0; batch < BATCHES; batch++) {
    const int64_t begin = pigment_now_ns();
    pigment_records records = {.struct_size = sizeof records, .count = BATCH};
    records.ids = (pigment_text_column){offsets[batch][0], text[batch][0], NULL};
    records.documents = (pigment_text_column){offsets[batch][1], text[batch][1], NULL};
    records.embeddings = (pigment_vectors){vectors[batch], BATCH, DIMENSION, 0, PIGMENT_F32};
    check(pigment_collection_add(collection, &records, NULL, NULL, &error), error);
    const int64_t took = pigment_now_ns() - begin;
    if (took < best) best = took;
  }
  pigment_collection_free(collection);
  check(pigment_client_close(client, &error), error);
  pigment_client_free(client);
  return best;
}

static void query_once(pigment_collection *collection, int query) {
  pigment_error *error = NULL;
  pigment_query_request request;
  pigment_query_request_init(&request);
  request.embeddings = (pigment_vectors){queries[query], 1, DIMENSION, 0, PIGMENT_F32};
  request.n_results = RESULTS;
  pigment_result *result = NULL;
  check(pigment_collection_query(collection, &request, NULL, &result, &error), error);
  pigment_text_column ids, documents;
  pigment_result_ids(result, &ids);
  pigment_result_documents(result, &documents);
  const uint64_t rows = pigment_result_row_count(result);
  seen += look(&ids, rows) + look(&documents, rows);
  for (uint64_t row = 0; row < rows; row++) seen += (uint64_t)pigment_result_distances(result)[row];
  pigment_result_free(result);
}

static pigment_client *shared_client;
static pigment_collection *shared_collection;

/* `path` is a directory that the process has open, with the collection that is asked. */
void bench_open(const char *path) {
  pigment_error *error = NULL;
  shared_client = open_client(path);
  check(pigment_client_get_collection(shared_client, NULL, "docs", 4, NULL, &shared_collection, &error), error);
}

int64_t bench_query(int query, int passes) {
  int64_t best = INT64_MAX;
  for (int pass = 0; pass < passes; pass++) {
    const int64_t begin = pigment_now_ns();
    query_once(shared_collection, query);
    const int64_t took = pigment_now_ns() - begin;
    if (took < best) best = took;
  }
  return best;
}

void bench_close(void) {
  pigment_error *error = NULL;
  pigment_collection_free(shared_collection);
  check(pigment_client_close(shared_client, &error), error);
  pigment_client_free(shared_client);
}

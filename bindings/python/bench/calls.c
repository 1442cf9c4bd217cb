/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The same calls as bench.py makes, from C: what the package's cost is beside. A shared library that bench.py loads, so that both sides take turns on one store in
 * one process. Gives nanoseconds, or -1 after an error that it prints.
 */

#define _POSIX_C_SOURCE 199309L

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <pigment/pigment.h>

static int64_t failed(pigment_error *error) {
  fprintf(stderr, "%s\n", pigment_error_message(error));
  pigment_error_free(error);
  return -1;
}

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Every text of a column is looked at, as a program would. */
static uint64_t read_column(bool is_there, const pigment_text_column *column, uint64_t rows) {
  uint64_t sum = 0;
  for (uint64_t row = 0; is_there && row < rows; ++row)
    if (column->offsets[row + 1] > column->offsets[row]) sum += (unsigned char)column->bytes[column->offsets[row]];
  return sum;
}

static uint64_t read_result(const pigment_result *result) {
  const uint64_t rows = pigment_result_row_count(result);
  pigment_text_column column;
  uint64_t sum = read_column(pigment_result_ids(result, &column), &column, rows);
  sum += read_column(pigment_result_documents(result, &column), &column, rows);
  sum += read_column(pigment_result_metadatas(result, &column), &column, rows);
  const float *distances = pigment_result_distances(result);
  for (uint64_t row = 0; row < rows; ++row) sum += distances[row] >= 0;
  return sum;
}

/* Each query alone, 10 results with documents, metadatas and distances, all columns read. */
int64_t bench_query(pigment_collection *collection, const float *values, size_t queries, size_t dimension) {
  uint64_t sum = 0;
  pigment_error *error = NULL;
  const int64_t begin = now_ns();
  for (size_t at = 0; at < queries; ++at) {
    pigment_query_request request;
    pigment_query_request_init(&request);
    request.embeddings = (pigment_vectors){.data = values + at * dimension, .rows = 1, .dimension = dimension, .dtype = PIGMENT_F32};
    pigment_result *result = NULL;
    if (pigment_collection_query(collection, &request, NULL, &result, &error) != PIGMENT_OK) return failed(error);
    sum += read_result(result);
    pigment_result_free(result);
  }
  return sum == 0 ? -1 : now_ns() - begin;
}

/* A column whose texts are printed by `format` with the row's number. */
typedef struct texts {
  int64_t *offsets;
  char *bytes;
} texts;

static texts printed(const char *format, size_t first, size_t count) {
  texts made = {malloc((count + 1) * sizeof(int64_t)), malloc(count * 160)};
  int64_t at = made.offsets[0] = 0;
  for (size_t row = 0; row < count; ++row) {
    at += snprintf(made.bytes + at, 160, format, first + row, first + row);
    made.offsets[row + 1] = at;
  }
  return made;
}

/* All vectors in batches with documents and metadata. The columns stand ready: a binding makes them in its call. */
int64_t bench_add(pigment_collection *collection, const float *values, size_t rows, size_t dimension, size_t batch) {
  pigment_error *error = NULL;
  int64_t taken = 0;
  for (size_t first = 0; first < rows; first += batch) {
    const size_t count = rows - first < batch ? rows - first : batch;
    texts ids = printed("record-%zu", first, count);
    texts documents = printed("document %zu is a passage of some ninety letters, as a chunk of a text is, and ends with %zu", first, count);
    texts metadatas = printed("{\"number\":%zu,\"topic\":\"law\",\"weight\":0.5,\"draft\":false,\"page\":%zu}", first, count);
    pigment_records records = {.struct_size = sizeof records, .count = count, .ids = {ids.offsets, ids.bytes, NULL},
                               .embeddings = {.data = values + first * dimension, .rows = count, .dimension = dimension},
                               .documents = {documents.offsets, documents.bytes, NULL},
                               .metadatas = {metadatas.offsets, metadatas.bytes, NULL}};
    const int64_t begin = now_ns();
    const pigment_status status = pigment_collection_add(collection, &records, NULL, NULL, &error);
    taken += now_ns() - begin;
    free(ids.offsets), free(ids.bytes), free(documents.offsets), free(documents.bytes), free(metadatas.offsets), free(metadatas.bytes);
    if (status != PIGMENT_OK) return failed(error);
  }
  return taken;
}

/* SPDX-License-Identifier: Apache-2.0 */

/* See the header. */

#include "loops.h"

#include <time.h>

uint64_t bench_sum;

int64_t bench_now(bool cpu) {
  struct timespec now;
  clock_gettime(cpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

pigment_client *bench_open(const char *path, size_t size) {
  pigment_open_options options;
  pigment_open_options_init(&options);
  options.sync_mode = PIGMENT_SYNC_OFF;
  options.background_threads = -1;
  pigment_client *client = NULL;
  return pigment_client_open(path, size, &options, &client, NULL) == PIGMENT_OK ? client : NULL;
}

pigment_collection *bench_collection(pigment_client *client, const char *name, size_t size) {
  pigment_collection *collection = NULL;
  return pigment_client_get_collection(client, NULL, name, size, NULL, &collection, NULL) == PIGMENT_OK ? collection : NULL;
}

static void read_column(bool there, const pigment_text_column *column, uint64_t rows) {
  if (!there) return;
  for (uint64_t row = 0; row < rows; ++row) bench_sum += (uint64_t)(column->offsets[row + 1] - column->offsets[row]);
}

static void read_result(const pigment_result *result) {
  const uint64_t rows = pigment_result_row_count(result);
  pigment_text_column column;
  read_column(pigment_result_ids(result, &column), &column, rows);
  read_column(pigment_result_documents(result, &column), &column, rows);
  read_column(pigment_result_metadatas(result, &column), &column, rows);
  const float *distances = pigment_result_distances(result);
  for (uint64_t row = 0; distances != NULL && row < rows; ++row) bench_sum += distances[row] < 1;
}

int64_t bench_query(pigment_collection *collection, bool cpu, const float *vectors, size_t count, size_t dimension, int64_t n_results) {
  const int64_t begin = bench_now(cpu);
  for (size_t i = 0; i < count; ++i) {
    pigment_query_request request;
    pigment_query_request_init(&request);
    request.embeddings.data = vectors + i * dimension;
    request.embeddings.rows = 1;
    request.embeddings.dimension = dimension;
    request.n_results = n_results;
    pigment_result *result = NULL;
    if (pigment_collection_query(collection, &request, NULL, &result, NULL) != PIGMENT_OK) return -1;
    read_result(result);
    pigment_result_free(result);
  }
  return bench_now(cpu) - begin;
}

int64_t bench_count(pigment_collection *collection, bool cpu, size_t count) {
  const int64_t begin = bench_now(cpu);
  for (size_t i = 0; i < count; ++i) {
    uint64_t records = 0;
    if (pigment_collection_count(collection, NULL, &records, NULL) != PIGMENT_OK) return -1;
    bench_sum += records;
  }
  return bench_now(cpu) - begin;
}

int64_t bench_get(pigment_collection *collection, bool cpu, size_t count, int64_t limit) {
  const int64_t begin = bench_now(cpu);
  for (size_t i = 0; i < count; ++i) {
    pigment_get_request request = {.struct_size = sizeof request, .has_limit = true, .limit = limit};
    pigment_result *result = NULL;
    if (pigment_collection_get(collection, &request, NULL, &result, NULL) != PIGMENT_OK) return -1;
    read_result(result);
    pigment_result_free(result);
  }
  return bench_now(cpu) - begin;
}

int64_t bench_add(pigment_collection *collection, bool cpu, bench_batch batch) {
  const int64_t begin = bench_now(cpu);
  pigment_records records = {.struct_size = sizeof records, .count = batch.rows};
  records.ids.offsets = batch.id_offsets;
  records.ids.bytes = batch.ids;
  records.documents.offsets = batch.document_offsets;
  records.documents.bytes = batch.documents;
  records.metadatas.offsets = batch.metadata_offsets;
  records.metadatas.bytes = batch.metadatas;
  records.embeddings.data = batch.vectors;
  records.embeddings.rows = batch.rows;
  records.embeddings.dimension = batch.dimension;
  pigment_write_result result = {.struct_size = sizeof result};
  if (pigment_collection_add(collection, &records, NULL, &result, NULL) != PIGMENT_OK || result.inserted != batch.rows) return -1;
  return bench_now(cpu) - begin;
}

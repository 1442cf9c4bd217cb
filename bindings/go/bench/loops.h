/* SPDX-License-Identifier: Apache-2.0 */

/* The C side of the benchmark: loops over calls of pigment.h with the arguments that Go's side has, each entered once from Go. Every
   function gives the nanoseconds that its calls took, or -1 when one failed. One thread. */

#ifndef PIGMENT_GO_BENCH_LOOPS_H
#define PIGMENT_GO_BENCH_LOOPS_H

#include <pigment/pigment.h>

typedef struct bench_batch {
  size_t rows;
  size_t dimension;
  const int64_t *id_offsets;
  const char *ids;
  const float *vectors;
  const int64_t *document_offsets;
  const char *documents;
  const int64_t *metadata_offsets;
  const char *metadatas;
} bench_batch;

/* NULL when it fails. Opens the directory that Go has open, with equal options, so that both use one engine. */
pigment_client *bench_open(const char *path, size_t size);
pigment_collection *bench_collection(pigment_client *client, const char *name, size_t size);

/* Nanoseconds of the clock that `cpu` names: what the process has used of processors, or what a clock on the wall shows. */
int64_t bench_now(bool cpu);

int64_t bench_query(pigment_collection *collection, bool cpu, const float *vectors, size_t count, size_t dimension, int64_t n_results);
int64_t bench_count(pigment_collection *collection, bool cpu, size_t count);
int64_t bench_get(pigment_collection *collection, bool cpu, size_t count, int64_t limit);
int64_t bench_add(pigment_collection *collection, bool cpu, bench_batch batch);

/* What the loops read of results, so that nobody leaves that out. */
extern uint64_t bench_sum;

#endif /* PIGMENT_GO_BENCH_LOOPS_H */

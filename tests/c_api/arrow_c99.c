/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that has Arrow's structs from elsewhere, as a user of Arrow's library has, before it includes pigment.h: the header must leave
 * them alone, and the library must mean the same ones. Prints `N passed, N failed` last; exit status 1 on failure.
 */

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* As the specification prints them. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};

#endif
#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};

#endif

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

int main(void) {
  static const int64_t kOffsets[] = {0, 1, 3};
  static const float kValues[] = {1, 2, 3, 4};
  pigment_client *client = NULL;
  pigment_collection *docs = NULL;
  pigment_result *result = NULL;
  CHECK(pigment_client_open(NULL, 0, NULL, &client, NULL) == PIGMENT_OK);
  CHECK(pigment_client_create_collection(client, NULL, "docs", 4, NULL, &docs, NULL) == PIGMENT_OK);
  pigment_records records;
  memset(&records, 0, sizeof records);
  records.struct_size = sizeof records;
  records.count = 2;
  records.ids.offsets = kOffsets;
  records.ids.bytes = "abc";
  records.embeddings.data = kValues;
  records.embeddings.rows = 2;
  records.embeddings.dimension = 2;
  records.embeddings.dtype = PIGMENT_F32;
  CHECK(pigment_collection_add(docs, &records, NULL, NULL, NULL) == PIGMENT_OK);
  CHECK(pigment_collection_peek(docs, 10, NULL, &result, NULL) == PIGMENT_OK);
  struct ArrowArrayStream stream;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  CHECK(pigment_result_arrow_stream(result, &stream, NULL) == PIGMENT_OK);
  CHECK(stream.get_schema(&stream, &schema) == 0 && stream.get_next(&stream, &batch) == 0);
  CHECK(schema.n_children == 4 && strcmp(schema.children[3]->format, "+w:2") == 0);
  CHECK(schema.children[1]->flags == ARROW_FLAG_NULLABLE && schema.dictionary == NULL);
  CHECK(batch.length == 2 && batch.n_children == 4 && batch.n_buffers == 1);
  CHECK(memcmp(batch.children[3]->children[0]->buffers[1], kValues, sizeof kValues) == 0);
  CHECK(memcmp(batch.children[0]->buffers[2], "abc", 3) == 0);
  schema.release(&schema);
  batch.release(&batch);
  CHECK(schema.release == NULL && batch.release == NULL);
  CHECK(pigment_collection_upsert_arrow(docs, &stream, NULL, NULL, NULL, NULL) == PIGMENT_OK);
  CHECK(stream.release == NULL);
  pigment_result_free(result);
  pigment_collection_free(docs);
  pigment_client_free(client);
  printf("%d passed, %d failed\n", g_passed, g_failed);
  return g_failed == 0 ? 0 : 1;
}

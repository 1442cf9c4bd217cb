/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts without vectors of one's own: the built-in embedding function, a text index, ranked search with highlights, facets, and pages of
 * a get behind a cursor.
 */

#include <pigment/pigment.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTES = 4 };
static const char *const kDocuments[NOTES] = {"a red house on the hill", "the hills are alive", "two red boats",
                                              "houses, boats and a hill"};
static const char *const kMetadatas[NOTES] = {"{\"kind\":\"land\"}", "{\"kind\":\"land\"}", "{\"kind\":\"sea\"}",
                                              "{\"kind\":\"land\"}"};

static void expect(pigment_status status, pigment_error *error) {
  if (status == PIGMENT_OK) return;
  fprintf(stderr, "%s: %s\n", pigment_status_name(status), pigment_error_message(error));
  pigment_error_free(error);
  exit(1);
}

/* Joins texts into a column; the bytes and offsets are the caller's. */
static pigment_text_column column(const char *const *texts, size_t count, char *bytes, int64_t *offsets) {
  pigment_text_column made = {offsets, bytes, NULL};
  offsets[0] = 0;
  for (size_t i = 0; i < count; ++i) {
    const size_t size = strlen(texts[i]);
    memcpy(bytes + offsets[i], texts[i], size);
    offsets[i + 1] = offsets[i] + (int64_t)size;
  }
  return made;
}

static void add(pigment_collection *notes) {
  static const int64_t ids[] = {0, 1, 2, 3, 4};
  char documents[200], metadatas[200];
  int64_t document_offsets[NOTES + 1], metadata_offsets[NOTES + 1];
  pigment_records records = {.struct_size = sizeof records};
  pigment_error *error = NULL;
  records.count = NOTES;
  records.ids.offsets = ids;
  records.ids.bytes = "1234";
  records.documents = column(kDocuments, NOTES, documents, document_offsets);
  records.metadatas = column(kMetadatas, NOTES, metadatas, metadata_offsets);
  expect(pigment_collection_add(notes, &records, NULL, NULL, &error), error);
}

static void search(pigment_collection *notes, const char *words) {
  const int64_t offsets[] = {0, (int64_t)strlen(words)};
  pigment_text_search_request request;
  pigment_result *result = NULL;
  pigment_error *error = NULL;
  pigment_text_column ids, marks;
  pigment_text_search_request_init(&request);
  request.queries_count = 1;
  request.queries.offsets = offsets;
  request.queries.bytes = words;
  request.highlights = true;
  expect(pigment_collection_search_text(notes, &request, NULL, &result, &error), error);
  printf("%s\n", words);
  pigment_result_ids(result, &ids);
  pigment_result_highlights(result, &marks);
  for (uint64_t row = 0; row < pigment_result_row_count(result); ++row) {
    printf("  %c, words at %.*s\n", ids.bytes[ids.offsets[row]], (int)(marks.offsets[row + 1] - marks.offsets[row]),
           marks.bytes + marks.offsets[row]);
  }
  pigment_result_free(result);
}

static void facets(pigment_collection *notes) {
  static const int64_t offsets[] = {0, 4};
  pigment_facets_request request = {.struct_size = sizeof request};
  pigment_buffer *json = NULL;
  pigment_error *error = NULL;
  request.keys_count = 1;
  request.keys.offsets = offsets;
  request.keys.bytes = "kind";
  expect(pigment_collection_facets(notes, &request, NULL, &json, &error), error);
  printf("%s\n", pigment_buffer_data(json, NULL));
  pigment_buffer_free(json);
}

/* Three records a page; the cursor of a page is where the next one begins. */
static void pages(pigment_collection *notes) {
  char cursor[1000];
  size_t cursor_size = 0;
  do {
    pigment_get_request request = {.struct_size = sizeof request};
    pigment_result *result = NULL;
    pigment_error *error = NULL;
    const char *next;
    size_t next_size = 0;
    request.has_limit = true;
    request.limit = 3;
    if (cursor_size > 0) {
      request.cursor = cursor;
      request.cursor_size = cursor_size;
    }
    expect(pigment_collection_get(notes, &request, NULL, &result, &error), error);
    printf("a page of %d\n", (int)pigment_result_row_count(result));
    next = pigment_result_cursor(result, &next_size); /* NULL behind the last; the result's, so copied */
    cursor_size = next != NULL ? next_size : 0;
    if (cursor_size > sizeof cursor) exit(1);
    if (next != NULL) memcpy(cursor, next, next_size);
    pigment_result_free(result);
  } while (cursor_size > 0);
}

int main(void) {
  pigment_client *client = NULL;
  pigment_collection *notes = NULL;
  pigment_embedding_function lexical;
  pigment_collection_options options;
  pigment_error *error = NULL;
  expect(pigment_client_open(NULL, 0, NULL, &client, &error), error);
  expect(pigment_embedding_function_lexical(64, &lexical, &error), error);
  pigment_collection_options_init(&options);
  options.embedding_function = &lexical;
  options.configuration_json = "{\"text_index\":{\"analyzer\":{\"language\":\"english\"}}}";
  options.configuration_json_size = strlen(options.configuration_json);
  expect(pigment_client_create_collection(client, NULL, "notes", 5, &options, &notes, &error), error);
  add(notes);
  search(notes, "red house");
  search(notes, "+boat hill");
  facets(notes);
  pages(notes);
  pigment_collection_free(notes);
  expect(pigment_client_close(client, &error), error);
  pigment_client_free(client);
  return 0;
}

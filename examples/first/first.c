/* SPDX-License-Identifier: Apache-2.0
 *
 * The first example of docs/c.md; bindings/tables/generate writes both.
 */

#include <pigment/pigment.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(pigment_status status, pigment_error *error) {
  if (status == PIGMENT_OK) return;
  fprintf(stderr, "%s: %s\n", pigment_status_name(status), pigment_error_message(error));
  exit(1);
}

/* Row i of a column is bytes[offsets[i] .. offsets[i + 1]). */
static void print_text(pigment_text_column column, uint64_t row, char end) {
  printf("%.*s%c", (int)(column.offsets[row + 1] - column.offsets[row]), column.bytes + column.offsets[row], end);
}

int main(void) {
  pigment_client *client = NULL;
  pigment_collection *docs = NULL;
  pigment_result *result = NULL;
  pigment_error *error = NULL;
  pigment_embedding_function lexical;
  pigment_collection_options options;
  pigment_query_request query;
  pigment_text_column id, document;
  pigment_records records = {.struct_size = sizeof records, .count = 3};

  must(pigment_client_open(NULL, 0, NULL, &client, &error), error); /* in memory; or a path and its size */
  must(pigment_embedding_function_lexical(384, &lexical, &error), error);
  pigment_collection_options_init(&options);
  options.embedding_function = &lexical;
  must(pigment_client_create_collection(client, NULL, "docs", 4, &options, &docs, &error), error);

  records.ids = (pigment_text_column){(const int64_t[]){0, 1, 2, 3}, "abc", NULL};
  records.documents = (pigment_text_column){(const int64_t[]){0, 25, 42, 65},
                                            "How to back up a database"
                                            "How to bake bread"
                                            "Restoring from a backup", NULL};
  records.metadatas = (pigment_text_column){(const int64_t[]){0, 13, 26, 39},
                                            "{\"year\":1996}"
                                            "{\"year\":2001}"
                                            "{\"year\":2024}", NULL};
  must(pigment_collection_add(docs, &records, NULL, NULL, &error), error);

  pigment_query_request_init(&query);
  query.texts_count = 1;
  query.texts = (pigment_text_column){(const int64_t[]){0, 22}, "restoring from backups", NULL};
  query.n_results = 2;
  query.where_json = "{\"year\":{\"$lt\":2020}}";
  query.where_json_size = strlen(query.where_json);
  must(pigment_collection_query(docs, &query, NULL, &result, &error), error);

  pigment_result_ids(result, &id);
  pigment_result_documents(result, &document);
  for (uint64_t row = 0; row < pigment_result_row_count(result); ++row) {
    print_text(id, row, ' ');
    print_text(document, row, '\n');
  }
  pigment_result_free(result);
  pigment_collection_free(docs);
  must(pigment_client_close(client, &error), error);
  pigment_client_free(client);
  return 0;
}

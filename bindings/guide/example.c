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
  pigment_records records = {.struct_size = sizeof records, .count = {count}};

  must(pigment_client_open(NULL, 0, NULL, &client, &error), error); /* in memory; or a path and its size */
  must(pigment_embedding_function_lexical(384, &lexical, &error), error);
  pigment_collection_options_init(&options);
  options.embedding_function = &lexical;
  must(pigment_client_create_collection(client, NULL, "docs", 4, &options, &docs, &error), error);

  records.ids = (pigment_text_column){(const int64_t[]){{id_offsets}}, {id_bytes}, NULL};
  records.documents = (pigment_text_column){(const int64_t[]){{document_offsets}},
                                            {document_bytes}, NULL};
  records.metadatas = (pigment_text_column){(const int64_t[]){{metadata_offsets}},
                                            {metadata_bytes}, NULL};
  must(pigment_collection_add(docs, &records, NULL, NULL, &error), error);

  pigment_query_request_init(&query);
  query.texts_count = 1;
  query.texts = (pigment_text_column){(const int64_t[]){0, {query_size}}, "{query}", NULL};
  query.n_results = {n_results};
  query.where_json = "{where}";
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

/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The embedded half of the quickstart: puts passages into a database in a directory and asks it questions, through
 * pigment.h alone.
 *
 *   example_quickstart DIRECTORY PASSAGES QUESTIONS
 *
 * PASSAGES has one record a line: id, page, chapter, position, length and text, separated by tabs. QUESTIONS has a text, a
 * filter on metadata and a filter on documents, either of them perhaps empty. What happens goes to standard output, a
 * line each, for examples/quickstart/quickstart.py to show:
 *
 *   stored ROWS | ingest SECONDS | asked QUESTION SECONDS | answer QUESTION RANK ID DISTANCE
 */

#include <pigment/pigment.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_ROWS = 500, PASSAGE_FIELDS = 6, QUESTION_FIELDS = 3, RESULTS = 5 };

static void fail(const char *doing, pigment_error *error) {
  fprintf(stderr, "quickstart: %s: %s\n", doing, pigment_error_message(error));
  if (pigment_error_hint(error)[0] != '\0') fprintf(stderr, "quickstart: %s\n", pigment_error_hint(error));
  pigment_error_free(error);
  exit(1);
}

static void *grow(void *memory, size_t bytes) {
  void *grown = realloc(memory, bytes);
  if (grown == NULL) {
    fputs("quickstart: out of memory\n", stderr);
    exit(1);
  }
  return grown;
}

/* ---- A column of texts that grows, as pigment.h wants it -------------------------------------------------------- */

typedef struct {
  int64_t offsets[BATCH_ROWS + 1];
  char *bytes;
  size_t size, capacity, rows;
} text_list;

static void append_bytes(text_list *list, const char *bytes, size_t size) {
  if (list->size + size > list->capacity) {
    list->capacity = 2 * (list->size + size);
    list->bytes = grow(list->bytes, list->capacity);
  }
  memcpy(list->bytes + list->size, bytes, size);
  list->size += size;
}

static void append_string(text_list *list, const char *text) { append_bytes(list, text, strlen(text)); }

static void end_row(text_list *list) { list->offsets[++list->rows] = (int64_t)list->size; }

static void clear(text_list *list) { list->size = list->rows = 0; }

static pigment_text_column column(const text_list *list) {
  pigment_text_column result = {list->offsets, list->bytes, NULL};
  return result;
}

static void append_json_string(text_list *list, const char *text) {
  append_string(list, "\"");
  for (; *text != '\0'; text++) {
    if (*text == '"' || *text == '\\') append_string(list, "\\");
    append_bytes(list, text, 1);
  }
  append_string(list, "\"");
}

/* ---- Files of tab-separated lines -------------------------------------------------------------------------------- */

typedef struct {
  char *next; /* of the text not yet read */
  const char *path;
} reader;

static reader open_reader(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    exit(1);
  }
  char *text = NULL;
  size_t size = 0, got = 0;
  do {
    text = grow(text, size + 65537);
    got = fread(text + size, 1, 65536, file);
    size += got;
  } while (got > 0);
  fclose(file);
  text[size] = '\0';
  reader result = {text, path};
  return result;
}

/* The next line's fields, in place; 0 at the end of the file. */
static int read_line(reader *from, char **fields, int count) {
  if (*from->next == '\0') return 0;
  char *end = strchr(from->next, '\n');
  if (end == NULL) end = from->next + strlen(from->next);
  int terminated = *end == '\n';
  *end = '\0';
  char *field = from->next;
  for (int i = 0; i < count; i++) {
    char *tab = strchr(field, '\t');
    if ((tab == NULL) != (i == count - 1)) {
      fprintf(stderr, "%s: expected %d fields in \"%.40s\"\n", from->path, count, from->next);
      exit(1);
    }
    fields[i] = field;
    if (tab != NULL) *tab = '\0', field = tab + 1;
  }
  from->next = end + terminated;
  return 1;
}

/* ---- The database ------------------------------------------------------------------------------------------------ */

/* Texts and metadata go in; the collection embeds the texts. */
static void ingest(pigment_collection *collection, const char *path) {
  static text_list ids, documents, metadatas;
  reader passages = open_reader(path);
  char *field[PASSAGE_FIELDS];
  size_t stored = 0;
  int64_t began = pigment_now_ns();

  for (int more = 1; more;) {
    clear(&ids), clear(&documents), clear(&metadatas);
    while (ids.rows < BATCH_ROWS && (more = read_line(&passages, field, PASSAGE_FIELDS))) {
      append_string(&ids, field[0]), end_row(&ids);
      append_string(&metadatas, "{\"page\": "), append_json_string(&metadatas, field[1]);
      append_string(&metadatas, ", \"chapter\": "), append_json_string(&metadatas, field[2]);
      append_string(&metadatas, ", \"position\": "), append_string(&metadatas, field[3]);
      append_string(&metadatas, ", \"length\": "), append_string(&metadatas, field[4]);
      append_string(&metadatas, "}"), end_row(&metadatas);
      append_string(&documents, field[5]), end_row(&documents);
    }
    if (ids.rows == 0) break;
    pigment_records records = {.struct_size = sizeof records, .count = ids.rows};
    records.ids = column(&ids);
    records.documents = column(&documents);
    records.metadatas = column(&metadatas);
    pigment_error *error = NULL;
    if (pigment_collection_add(collection, &records, NULL, NULL, &error)) fail("add", error);
    printf("stored %zu\n", stored += ids.rows);
    fflush(stdout);
  }
  printf("ingest %.3f\n", (double)(pigment_now_ns() - began) / 1e9);
}

static void ask(pigment_collection *collection, int number, char **question) {
  const int64_t offsets[2] = {0, (int64_t)strlen(question[0])};
  pigment_query_request request;
  pigment_query_request_init(&request);
  request.texts_count = 1;
  request.texts.offsets = offsets;
  request.texts.bytes = question[0];
  request.n_results = RESULTS;
  request.recall = 1; /* exact: both homes give the same then, whatever their indexes are like */
  if (question[1][0] != '\0') request.where_json = question[1], request.where_json_size = strlen(question[1]);
  if (question[2][0] != '\0') {
    request.where_document_json = question[2];
    request.where_document_json_size = strlen(question[2]);
  }

  pigment_result *result = NULL;
  pigment_error *error = NULL;
  int64_t began = pigment_now_ns();
  if (pigment_collection_query(collection, &request, NULL, &result, &error)) fail("query", error);
  printf("asked %d %.6f\n", number, (double)(pigment_now_ns() - began) / 1e9);

  pigment_text_column ids;
  pigment_result_ids(result, &ids);
  const float *distances = pigment_result_distances(result);
  for (uint64_t i = 0; i < pigment_result_row_count(result); i++)
    printf("answer %d %d %.*s %.9g\n", number, (int)i + 1, (int)(ids.offsets[i + 1] - ids.offsets[i]),
           ids.bytes + ids.offsets[i], (double)distances[i]);
  pigment_result_free(result);
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fputs("usage: example_quickstart DIRECTORY PASSAGES QUESTIONS\n", stderr);
    return 2;
  }
  pigment_client *client = NULL;
  pigment_collection *manual = NULL;
  pigment_embedding_function lexical;
  pigment_collection_options options;
  pigment_error *error = NULL;

  pigment_collection_options_init(&options);
  options.embedding_function = &lexical;
  if (pigment_embedding_function_lexical(0, &lexical, &error)) fail("embedding function", error);
  if (pigment_client_open(argv[1], strlen(argv[1]), NULL, &client, &error)) fail(argv[1], error);
  if (pigment_client_create_collection(client, NULL, "manual", 6, &options, &manual, &error)) fail("create", error);
  ingest(manual, argv[2]);

  reader questions = open_reader(argv[3]);
  char *question[QUESTION_FIELDS];
  for (int number = 1; read_line(&questions, question, QUESTION_FIELDS); number++) ask(manual, number, question);

  pigment_collection_free(manual);
  if (pigment_client_close(client, &error)) fail("close", error);
  pigment_client_free(client);
  return 0;
}

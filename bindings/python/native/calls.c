/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Writing and reading. A collection is given by the address of its pigment_collection, which the caller keeps alive for the call; the
 * interpreter's lock is free while the library works. An argument that is changed by another thread meanwhile was copied before, but for a matrix, as in NumPy.
 */

#include "core.h"

#include <string.h>

typedef pigment_status (*write_function)(pigment_collection *, const pigment_records *, const pigment_call_options *,
                                         pigment_write_result *, pigment_error **);

static PyObject *counts_of(const pigment_write_result *result) {
  return Py_BuildValue("KKKKK", (unsigned long long)result->inserted, (unsigned long long)result->updated,
                       (unsigned long long)result->skipped, (unsigned long long)result->deleted,
                       (unsigned long long)result->position);
}

static bool same_count(const text_input *column, size_t count, const char *what) {
  if (column->column.offsets == NULL || column->count == count) return true;
  PyErr_Format(PyExc_ValueError, "Unequal lengths for fields: ids: %zu, %s: %zu", count, what, column->count);
  return false;
}

/* write(collection, ids, embeddings, documents, metadatas, uris, options) -> (inserted, updated, skipped, deleted, position) */
static PyObject *write_records(PyObject *arguments, write_function function) {
  unsigned long long address = 0;
  PyObject *ids, *embeddings, *documents, *metadatas, *uris, *options;
  if (!PyArg_ParseTuple(arguments, "KOOOOOO", &address, &ids, &embeddings, &documents, &metadatas, &uris, &options)) return NULL;
  text_input id_column = {0}, document_column = {0}, metadata_column = {0}, uri_column = {0};
  vector_input vectors = {0};
  PyObject *answer = NULL;
  call_guard guard;
  if (text_input_take(&id_column, ids, "ids") && text_input_take(&document_column, documents, "documents") &&
      metadata_input_take(&metadata_column, metadatas) && text_input_take(&uri_column, uris, "uris") &&
      same_count(&document_column, id_column.count, "documents") && same_count(&metadata_column, id_column.count, "metadatas") &&
      same_count(&uri_column, id_column.count, "uris") && vector_input_take(&vectors, embeddings) &&
      call_guard_begin(&guard, options)) {
    pigment_records records = {.struct_size = sizeof records, .count = id_column.count, .ids = id_column.column,
                               .embeddings = vectors.vectors, .documents = document_column.column,
                               .metadatas = metadata_column.column, .uris = uri_column.column};
    pigment_write_result result = {.struct_size = sizeof result};
    pigment_error *error = NULL;
    pigment_status status;
    Py_BEGIN_ALLOW_THREADS
    status = function((pigment_collection *)(uintptr_t)address, &records, &guard.options, &result, &error);
    Py_END_ALLOW_THREADS
    if (call_guard_end(&guard, status, error)) answer = counts_of(&result);
  }
  text_input_release(&id_column);
  text_input_release(&document_column);
  text_input_release(&metadata_column);
  text_input_release(&uri_column);
  vector_input_release(&vectors);
  return answer;
}

static PyObject *call_add(PyObject *module, PyObject *arguments) {
  (void)module;
  return write_records(arguments, pigment_collection_add);
}

static PyObject *call_update(PyObject *module, PyObject *arguments) {
  (void)module;
  return write_records(arguments, pigment_collection_update);
}

static PyObject *call_upsert(PyObject *module, PyObject *arguments) {
  (void)module;
  return write_records(arguments, pigment_collection_upsert);
}

typedef pigment_status (*arrow_function)(pigment_collection *, struct ArrowArrayStream *, const pigment_call_options *,
                                         pigment_write_result *, uint64_t *, pigment_error **);

/* write_arrow(collection, capsule, options) -> as a write */
static PyObject *write_arrow(PyObject *arguments, arrow_function function) {
  unsigned long long address = 0;
  PyObject *capsule, *options;
  call_guard guard;
  if (!PyArg_ParseTuple(arguments, "KOO", &address, &capsule, &options)) return NULL;
  struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, ARROW_STREAM);
  if (stream == NULL || !call_guard_begin(&guard, options)) return NULL;
  pigment_write_result result = {.struct_size = sizeof result};
  pigment_error *error = NULL;
  pigment_status status;
  Py_BEGIN_ALLOW_THREADS
  status = function((pigment_collection *)(uintptr_t)address, stream, &guard.options, &result, NULL, &error);
  Py_END_ALLOW_THREADS
  return call_guard_end(&guard, status, error) ? counts_of(&result) : NULL;
}

static PyObject *call_add_arrow(PyObject *module, PyObject *arguments) {
  (void)module;
  return write_arrow(arguments, pigment_collection_add_arrow);
}

static PyObject *call_update_arrow(PyObject *module, PyObject *arguments) {
  (void)module;
  return write_arrow(arguments, pigment_collection_update_arrow);
}

static PyObject *call_upsert_arrow(PyObject *module, PyObject *arguments) {
  (void)module;
  return write_arrow(arguments, pigment_collection_upsert_arrow);
}

/* What every read and delete has: ids and filters. */
typedef struct selection {
  text_input ids;
  json_text where, where_document;
} selection;

static bool selection_take(selection *chosen, PyObject *ids, PyObject *where, PyObject *where_document) {
  return json_text_take(&chosen->where, where) && json_text_take(&chosen->where_document, where_document) &&
         text_input_take(&chosen->ids, ids, "ids");
}

#define SET_SELECTION(request, chosen)                         \
  do {                                                         \
    (request).ids_count = (chosen).ids.count;                  \
    (request).ids = (chosen).ids.column;                       \
    (request).where_json = (chosen).where.data;                \
    (request).where_json_size = (chosen).where.size;           \
    (request).where_document_json = (chosen).where_document.data;      \
    (request).where_document_json_size = (chosen).where_document.size; \
  } while (0)

/* limit: None or int. */
static bool limit_take(PyObject *limit, bool *has_limit, int64_t *value) {
  *has_limit = limit != Py_None;
  *value = *has_limit ? (int64_t)PyLong_AsLongLong(limit) : 0;
  return !PyErr_Occurred();
}

/* delete(collection, ids, where, where_document, limit, options) -> as a write */
static PyObject *call_delete(PyObject *module, PyObject *arguments) {
  (void)module;
  unsigned long long address = 0;
  PyObject *ids, *where, *where_document, *limit, *options;
  if (!PyArg_ParseTuple(arguments, "KOOOOO", &address, &ids, &where, &where_document, &limit, &options)) return NULL;
  selection chosen = {0};
  pigment_delete_request request = {.struct_size = sizeof request};
  PyObject *answer = NULL;
  call_guard guard;
  if (selection_take(&chosen, ids, where, where_document) && limit_take(limit, &request.has_limit, &request.limit) &&
      call_guard_begin(&guard, options)) {
    SET_SELECTION(request, chosen);
    pigment_write_result result = {.struct_size = sizeof result};
    pigment_error *error = NULL;
    pigment_status status;
    Py_BEGIN_ALLOW_THREADS
    status = pigment_collection_delete((pigment_collection *)(uintptr_t)address, &request, &guard.options, &result, &error);
    Py_END_ALLOW_THREADS
    if (call_guard_end(&guard, status, error)) answer = counts_of(&result);
  }
  text_input_release(&chosen.ids);
  return answer;
}

/* get(collection, ids, where, where_document, limit, offset, include, explain, order_by, cursor, options) -> Result */
static PyObject *call_get(PyObject *module, PyObject *arguments) {
  (void)module;
  unsigned long long address = 0;
  long long offset = 0;
  int include = 0, explain = 0;
  PyObject *ids, *where, *where_document, *limit, *order_by, *cursor, *options;
  if (!PyArg_ParseTuple(arguments, "KOOOOLipOOO", &address, &ids, &where, &where_document, &limit, &offset, &include, &explain,
                        &order_by, &cursor, &options))
    return NULL;
  selection chosen = {0};
  json_text order = {0}, behind = {0};
  pigment_get_request request = {.struct_size = sizeof request, .offset = offset, .include = include, .explain = explain != 0};
  PyObject *answer = NULL;
  call_guard guard;
  if (selection_take(&chosen, ids, where, where_document) && limit_take(limit, &request.has_limit, &request.limit) &&
      json_text_take(&order, order_by) && json_text_take(&behind, cursor) && call_guard_begin(&guard, options)) {
    SET_SELECTION(request, chosen);
    request.order_by_json = order.data;
    request.order_by_json_size = order.size;
    request.cursor = behind.data;
    request.cursor_size = behind.size;
    pigment_result *result = NULL;
    pigment_error *error = NULL;
    pigment_status status;
    Py_BEGIN_ALLOW_THREADS
    status = pigment_collection_get((pigment_collection *)(uintptr_t)address, &request, &guard.options, &result, &error);
    Py_END_ALLOW_THREADS
    if (call_guard_end(&guard, status, error)) answer = result_new(result);
  }
  text_input_release(&chosen.ids);
  return answer;
}

/* peek(collection, limit, options) -> Result */
static PyObject *call_peek(PyObject *module, PyObject *arguments) {
  (void)module;
  unsigned long long address = 0;
  long long limit = 0;
  PyObject *options;
  call_guard guard;
  if (!PyArg_ParseTuple(arguments, "KLO", &address, &limit, &options) || !call_guard_begin(&guard, options)) return NULL;
  pigment_result *result = NULL;
  pigment_error *error = NULL;
  pigment_status status;
  Py_BEGIN_ALLOW_THREADS
  status = pigment_collection_peek((pigment_collection *)(uintptr_t)address, limit, &guard.options, &result, &error);
  Py_END_ALLOW_THREADS
  return call_guard_end(&guard, status, error) ? result_new(result) : NULL;
}

/* query(collection, embeddings, texts, n_results, ids, where, where_document, include, explain, recall, search_width, max_distance,
   threads, options) -> Result */
static PyObject *call_query(PyObject *module, PyObject *arguments) {
  (void)module;
  unsigned long long address = 0;
  long long n_results = 0, search_width = 0;
  int include = 0, explain = 0, threads = 0;
  double recall = 0;
  PyObject *embeddings, *texts, *ids, *where, *where_document, *max_distance, *options;
  if (!PyArg_ParseTuple(arguments, "KOOLOOOipdLOiO", &address, &embeddings, &texts, &n_results, &ids, &where, &where_document,
                        &include, &explain, &recall, &search_width, &max_distance, &threads, &options))
    return NULL;
  selection chosen = {0};
  text_input queries = {0};
  vector_input vectors = {0};
  PyObject *answer = NULL;
  call_guard guard;
  pigment_query_request request;
  pigment_query_request_init(&request);
  request.has_max_distance = max_distance != Py_None;
  request.max_distance = request.has_max_distance ? PyFloat_AsDouble(max_distance) : 0;
  if (!PyErr_Occurred() && selection_take(&chosen, ids, where, where_document) && text_input_take(&queries, texts, "query_texts") &&
      vector_input_take(&vectors, embeddings) && call_guard_begin(&guard, options)) {
    SET_SELECTION(request, chosen);
    request.embeddings = vectors.vectors;
    request.texts_count = queries.count;
    request.texts = queries.column;
    request.n_results = n_results;
    request.include = include;
    request.explain = explain != 0;
    request.recall = recall;
    request.search_width = search_width;
    request.threads = threads;
    pigment_result *result = NULL;
    pigment_error *error = NULL;
    pigment_status status;
    Py_BEGIN_ALLOW_THREADS
    status = pigment_collection_query((pigment_collection *)(uintptr_t)address, &request, &guard.options, &result, &error);
    Py_END_ALLOW_THREADS
    if (call_guard_end(&guard, status, error)) answer = result_new(result);
  }
  text_input_release(&chosen.ids);
  text_input_release(&queries);
  vector_input_release(&vectors);
  return answer;
}

/* search_text(collection, queries, n_results, ids, where, where_document, operator, include, highlights, explain, options) -> Result */
static PyObject *call_search_text(PyObject *module, PyObject *arguments) {
  (void)module;
  unsigned long long address = 0;
  long long n_results = 0;
  int operator_ = 0, include = 0, highlights = 0, explain = 0;
  PyObject *texts, *ids, *where, *where_document, *options;
  if (!PyArg_ParseTuple(arguments, "KOLOOOiippO", &address, &texts, &n_results, &ids, &where, &where_document, &operator_, &include,
                        &highlights, &explain, &options))
    return NULL;
  selection chosen = {0};
  text_input queries = {0};
  PyObject *answer = NULL;
  call_guard guard;
  pigment_text_search_request request;
  pigment_text_search_request_init(&request);
  if (selection_take(&chosen, ids, where, where_document) && text_input_take(&queries, texts, "queries") &&
      call_guard_begin(&guard, options)) {
    SET_SELECTION(request, chosen);
    request.queries_count = queries.count;
    request.queries = queries.column;
    request.n_results = n_results;
    request.operator_ = operator_;
    request.include = include;
    request.highlights = highlights != 0;
    request.explain = explain != 0;
    pigment_result *result = NULL;
    pigment_error *error = NULL;
    pigment_status status;
    Py_BEGIN_ALLOW_THREADS
    status = pigment_collection_search_text((pigment_collection *)(uintptr_t)address, &request, &guard.options, &result, &error);
    Py_END_ALLOW_THREADS
    if (call_guard_end(&guard, status, error)) answer = result_new(result);
  }
  text_input_release(&chosen.ids);
  text_input_release(&queries);
  return answer;
}

PyMethodDef call_methods[] = {
    {"add", call_add, METH_VARARGS, NULL},
    {"update", call_update, METH_VARARGS, NULL},
    {"upsert", call_upsert, METH_VARARGS, NULL},
    {"add_arrow", call_add_arrow, METH_VARARGS, NULL},
    {"update_arrow", call_update_arrow, METH_VARARGS, NULL},
    {"upsert_arrow", call_upsert_arrow, METH_VARARGS, NULL},
    {"delete", call_delete, METH_VARARGS, NULL},
    {"get", call_get, METH_VARARGS, NULL},
    {"peek", call_peek, METH_VARARGS, NULL},
    {"query", call_query, METH_VARARGS, NULL},
    {"search_text", call_search_text, METH_VARARGS, NULL},
    {"interrupt_begin", interrupt_begin, METH_O, NULL},
    {"interrupt_end", interrupt_end, METH_NOARGS, NULL},
    {"after_fork", interrupt_after_fork, METH_NOARGS, NULL},
    {"set_error_factory", errors_set_factory, METH_O, NULL},
    {"embedding_callbacks", embedding_callbacks, METH_NOARGS, NULL},
    {"embedding_keep", embedding_keep, METH_O, NULL},
    {"embedding_drop", embedding_drop, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

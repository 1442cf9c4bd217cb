/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Results: a Result owns a pigment_result and makes lists of its columns; a View is one of its arrays through the buffer protocol, and
 * keeps the Result alive. Text that is not UTF-8 (documents may be) comes with surrogateescape, as Python's file names do.
 */

#include "core.h"

#include <stdlib.h>
#include <string.h>

static PyObject *result_type, *view_type, *json_loads;

typedef struct {
  PyObject_HEAD
  pigment_result *result;
} Result;

typedef struct {
  PyObject_HEAD
  PyObject *owner;
  const void *data;
  Py_ssize_t shape[2], strides[2];
  int ndim;
  const char *format;
  Py_ssize_t itemsize;
} View;

static void heap_dealloc(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

/* ---- View ---- */

static void view_dealloc(PyObject *self) {
  Py_XDECREF(((View *)self)->owner);
  heap_dealloc(self);
}

static int view_getbuffer(PyObject *self, Py_buffer *buffer, int flags) {
  View *view = (View *)self;
  if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE) {
    buffer->obj = NULL;
    PyErr_SetString(PyExc_BufferError, "columns of a result cannot be written to");
    return -1;
  }
  const Py_ssize_t length = view->shape[0] * (view->ndim == 2 ? view->shape[1] : 1) * view->itemsize;
  static const char nothing[8];
  Py_INCREF(self);
  *buffer = (Py_buffer){.buf = (void *)(view->data == NULL ? nothing : view->data), .obj = self, .len = length,
                        .itemsize = view->itemsize, .readonly = 1, .ndim = view->ndim,
                        .format = (flags & PyBUF_FORMAT) ? (char *)view->format : NULL,
                        .shape = (flags & PyBUF_ND) ? view->shape : NULL,
                        .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? view->strides : NULL};
  return 0;
}

static PyObject *view_new(PyObject *owner, const void *data, const char *format, size_t itemsize, size_t rows, int ndim, size_t columns) {
  allocfunc allocate = (allocfunc)PyType_GetSlot((PyTypeObject *)view_type, Py_tp_alloc);
  View *view = (View *)allocate((PyTypeObject *)view_type, 0);
  if (view == NULL) return NULL;
  Py_INCREF(owner);
  view->owner = owner;
  view->data = data;
  view->format = format;
  view->itemsize = (Py_ssize_t)itemsize;
  view->ndim = ndim;
  view->shape[0] = (Py_ssize_t)rows;
  view->shape[1] = (Py_ssize_t)columns;
  view->strides[0] = (Py_ssize_t)((ndim == 2 ? columns : 1) * itemsize);
  view->strides[1] = (Py_ssize_t)itemsize;
  return (PyObject *)view;
}

/* ---- Lists ---- */

/* A list of one query's rows, or of lists for all queries. */
static PyObject *nested(const pigment_result *result, PyObject *all /* taken */, int is_nested) {
  if (all == NULL || !is_nested) return all;
  const uint64_t queries = pigment_result_query_count(result), *offsets = pigment_result_query_offsets(result);
  PyObject *lists = PyList_New((Py_ssize_t)queries);
  for (uint64_t query = 0; lists != NULL && query < queries; ++query) {
    PyObject *part = queries == 1 ? (Py_INCREF(all), all)
                                  : PyList_GetSlice(all, (Py_ssize_t)offsets[query], (Py_ssize_t)offsets[query + 1]);
    if (part == NULL || PyList_SetItem(lists, (Py_ssize_t)query, part) != 0) Py_CLEAR(lists);
  }
  Py_DECREF(all);
  return lists;
}

static bool is_present(const pigment_text_column *column, uint64_t row) {
  return column->validity == NULL || (column->validity[row / 8] >> row % 8 & 1) != 0;
}

static PyObject *text_list(const pigment_text_column *column, uint64_t rows) {
  PyObject *list = PyList_New((Py_ssize_t)rows);
  for (uint64_t row = 0; list != NULL && row < rows; ++row) {
    PyObject *text = Py_None;
    if (is_present(column, row)) {
      const int64_t begin = column->offsets[row], size = column->offsets[row + 1] - begin;
      text = PyUnicode_DecodeUTF8(size == 0 ? "" : column->bytes + begin, (Py_ssize_t)size, "surrogateescape");
    } else {
      Py_INCREF(text);
    }
    if (text == NULL || PyList_SetItem(list, (Py_ssize_t)row, text) != 0) Py_CLEAR(list);
  }
  return list;
}

typedef bool (*column_getter)(const pigment_result *, pigment_text_column *);

static column_getter getter_of(const char *name) {
  if (strcmp(name, "ids") == 0) return pigment_result_ids;
  if (strcmp(name, "documents") == 0) return pigment_result_documents;
  if (strcmp(name, "metadatas") == 0) return pigment_result_metadatas;
  if (strcmp(name, "uris") == 0) return pigment_result_uris;
  if (strcmp(name, "highlights") == 0) return pigment_result_highlights;
  PyErr_Format(PyExc_KeyError, "no column %s", name);
  return NULL;
}

/* texts(name, nested) -> list, or None when the result does not include it. */
static PyObject *result_texts(PyObject *self, PyObject *arguments) {
  const pigment_result *result = ((Result *)self)->result;
  const char *name = NULL;
  int is_nested = 0;
  if (!PyArg_ParseTuple(arguments, "sp", &name, &is_nested)) return NULL;
  const column_getter getter = getter_of(name);
  if (getter == NULL) return NULL;
  pigment_text_column column;
  if (!getter(result, &column)) Py_RETURN_NONE;
  const uint64_t rows = pigment_result_row_count(result);
  const bool is_json = getter == pigment_result_metadatas || getter == pigment_result_highlights;
  return nested(result, is_json ? objects_of(&column, rows, json_loads) : text_list(&column, rows), is_nested);
}

/* numbers(name, nested) -> list of float, or None. */
static PyObject *result_numbers(PyObject *self, PyObject *arguments) {
  const pigment_result *result = ((Result *)self)->result;
  const char *name = NULL;
  int is_nested = 0;
  if (!PyArg_ParseTuple(arguments, "sp", &name, &is_nested)) return NULL;
  const float *values = strcmp(name, "scores") == 0 ? pigment_result_scores(result) : pigment_result_distances(result);
  if (values == NULL) Py_RETURN_NONE;
  const uint64_t rows = pigment_result_row_count(result);
  PyObject *list = PyList_New((Py_ssize_t)rows);
  for (uint64_t row = 0; list != NULL && row < rows; ++row) {
    PyObject *number = PyFloat_FromDouble((double)values[row]);
    if (number == NULL || PyList_SetItem(list, (Py_ssize_t)row, number) != 0) Py_CLEAR(list);
  }
  return nested(result, list, is_nested);
}

/* ---- Arrays ---- */

/* array(name) -> View or None: "distances", "scores", "embeddings" (a matrix), "query_offsets". */
static PyObject *result_array(PyObject *self, PyObject *argument) {
  const pigment_result *result = ((Result *)self)->result;
  const char *name = PyUnicode_AsUTF8AndSize(argument, NULL);
  if (name == NULL) return NULL;
  const size_t rows = (size_t)pigment_result_row_count(result);
  if (strcmp(name, "query_offsets") == 0)
    return view_new(self, pigment_result_query_offsets(result), "Q", 8, (size_t)pigment_result_query_count(result) + 1, 1, 0);
  if (strcmp(name, "embeddings") == 0) {
    size_t dimension = 0;
    const float *values = pigment_result_embeddings(result, &dimension);
    if (values == NULL) Py_RETURN_NONE;
    return view_new(self, values, "f", 4, rows, 2, dimension);
  }
  const float *values = strcmp(name, "scores") == 0 ? pigment_result_scores(result) : pigment_result_distances(result);
  if (values == NULL) Py_RETURN_NONE;
  return view_new(self, values, "f", 4, rows, 1, 0);
}

/* ---- Arrow ---- */

static void free_capsule(PyObject *capsule) {
  struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, ARROW_STREAM);
  if (stream->release != NULL) stream->release(stream);
  PyMem_Free(stream);
}

/* __arrow_c_stream__(requested_schema=None) -> capsule, which whoever takes the stream leaves behind with a stream that is released. The columns have
   the types that they have, whatever is requested. */
static PyObject *result_arrow_stream(PyObject *self, PyObject *arguments, PyObject *keywords) {
  static char *names[] = {"requested_schema", NULL};
  PyObject *requested = NULL;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O", names, &requested)) return NULL;
  struct ArrowArrayStream *stream = PyMem_Malloc(sizeof *stream);
  if (stream == NULL) return PyErr_NoMemory();
  pigment_error *error = NULL;
  const pigment_status status = pigment_result_arrow_stream(((Result *)self)->result, stream, &error);
  if (status != PIGMENT_OK) {
    PyMem_Free(stream);
    errors_raise(status, error);
    return NULL;
  }
  PyObject *capsule = PyCapsule_New(stream, ARROW_STREAM, free_capsule);
  if (capsule == NULL) {
    stream->release(stream);
    PyMem_Free(stream);
  }
  return capsule;
}

/* ---- Result ---- */

static void result_dealloc(PyObject *self) {
  pigment_result_free(((Result *)self)->result);
  heap_dealloc(self);
}

static PyObject *result_get_row_count(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromUnsignedLongLong(pigment_result_row_count(((Result *)self)->result));
}

static PyObject *result_get_query_count(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromUnsignedLongLong(pigment_result_query_count(((Result *)self)->result));
}

static PyObject *result_get_position(PyObject *self, void *unused) {
  (void)unused;
  return PyLong_FromUnsignedLongLong(pigment_result_position(((Result *)self)->result));
}

static PyObject *borrowed_text(const char *text, size_t size) {
  if (text == NULL) Py_RETURN_NONE;
  return PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, "surrogateescape");
}

static PyObject *result_get_explain(PyObject *self, void *unused) {
  (void)unused;
  size_t size = 0;
  const char *text = pigment_result_explain(((Result *)self)->result, &size);
  return borrowed_text(text, size);
}

static PyObject *result_get_cursor(PyObject *self, void *unused) {
  (void)unused;
  size_t size = 0;
  const char *text = pigment_result_cursor(((Result *)self)->result, &size);
  return borrowed_text(text, size);
}

static PyMethodDef result_methods[] = {
    {"texts", result_texts, METH_VARARGS, NULL},
    {"numbers", result_numbers, METH_VARARGS, NULL},
    {"array", result_array, METH_O, NULL},
    {"__arrow_c_stream__", (PyCFunction)(void (*)(void))result_arrow_stream, METH_VARARGS | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef result_getters[] = {
    {"row_count", result_get_row_count, NULL, NULL, NULL},
    {"query_count", result_get_query_count, NULL, NULL, NULL},
    {"position", result_get_position, NULL, NULL, NULL},
    {"explain", result_get_explain, NULL, NULL, NULL},
    {"cursor", result_get_cursor, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static int not_made_by_hand(PyObject *self, PyObject *arguments, PyObject *keywords) {
  (void)self;
  (void)arguments;
  (void)keywords;
  PyErr_SetString(PyExc_TypeError, "made by calls of the library alone");
  return -1;
}

static PyObject *no_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
  (void)type;
  not_made_by_hand(NULL, arguments, keywords);
  return NULL;
}

static PyType_Slot result_slots[] = {
    {Py_tp_dealloc, result_dealloc}, {Py_tp_methods, result_methods}, {Py_tp_getset, result_getters}, {Py_tp_new, no_new}, {0, NULL},
};
static PyType_Spec result_spec = {"pigment._core.Result", sizeof(Result), 0, Py_TPFLAGS_DEFAULT, result_slots};

static PyType_Slot view_slots[] = {
    {Py_tp_dealloc, view_dealloc}, {Py_bf_getbuffer, view_getbuffer}, {Py_tp_new, no_new}, {0, NULL},
};
static PyType_Spec view_spec = {"pigment._core.View", sizeof(View), 0, Py_TPFLAGS_DEFAULT, view_slots};

bool results_setup(PyObject *module) {
  PyObject *json = PyImport_ImportModule("json");
  if (json == NULL) return false;
  json_loads = PyObject_GetAttrString(json, "loads");
  Py_DECREF(json);
  result_type = PyType_FromSpec(&result_spec);
  view_type = PyType_FromSpec(&view_spec);
  if (json_loads == NULL || result_type == NULL || view_type == NULL) return false;
  return PyObject_SetAttrString(module, "Result", result_type) == 0 && PyObject_SetAttrString(module, "View", view_type) == 0;
}

PyObject *result_new(pigment_result *result) {
  allocfunc allocate = (allocfunc)PyType_GetSlot((PyTypeObject *)result_type, Py_tp_alloc);
  Result *made = (Result *)allocate((PyTypeObject *)result_type, 0);
  if (made == NULL) {
    pigment_result_free(result);
    return NULL;
  }
  made->result = result;
  return (PyObject *)made;
}

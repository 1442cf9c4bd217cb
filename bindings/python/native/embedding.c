/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Embedding functions in Python, called by the library with texts and a purpose. The user data is a callable (purpose, texts) that gives a matrix of float32; the
 * library holds a reference to it and gives that back through embedding_released. An exception is kept for the thread, and raised when the call that needed the
 * texts is over.
 */

#include "core.h"

#include <string.h>

static _Thread_local PyObject *raised_type, *raised_value, *raised_traceback;

/* Keeps the exception, tells the library its text, and gives the status for the library: that of a refusal of the package's own kind, else "unknown". */
static pigment_status keep_exception(pigment_embedding_sink *sink) {
  Py_CLEAR(raised_type);
  Py_CLEAR(raised_value);
  Py_CLEAR(raised_traceback);
  PyErr_Fetch(&raised_type, &raised_value, &raised_traceback);
  PyErr_NormalizeException(&raised_type, &raised_value, &raised_traceback);
  PyObject *text = PyObject_Str(raised_value);
  Py_ssize_t size = 0;
  const char *why = text == NULL ? NULL : PyUnicode_AsUTF8AndSize(text, &size);
  if (why == NULL || size == 0) {
    why = "it raised an exception without words";
    size = (Py_ssize_t)strlen(why);
  }
  pigment_embedding_sink_fail(sink, why, (size_t)size);
  Py_XDECREF(text);
  PyObject *status = PyObject_GetAttrString(raised_value, "status");
  const long number = status != NULL && PyLong_Check(status) ? PyLong_AsLong(status) : 0;
  Py_XDECREF(status);
  PyErr_Clear();
  return number > 0 && number <= PIGMENT_UNPROCESSABLE_ENTITY ? (pigment_status)number : PIGMENT_UNKNOWN;
}

bool embedding_restore_exception(PyObject *said) {
  if (raised_type == NULL) return false;
  PyErr_Clear(); /* of making `said` */
  PyObject *context = PyException_GetContext(raised_value);
  if (context == NULL && said != raised_value) {
    PyException_SetContext(raised_value, said);
  } else {
    Py_XDECREF(context);
    Py_XDECREF(said);
  }
  PyErr_Restore(raised_type, raised_value, raised_traceback);
  raised_type = raised_value = raised_traceback = NULL;
  return true;
}

static PyObject *list_of(size_t count, const pigment_text_column *texts) {
  PyObject *list = PyList_New((Py_ssize_t)count);
  for (size_t row = 0; list != NULL && row < count; ++row) {
    const char *begin = texts->bytes == NULL ? "" : texts->bytes + texts->offsets[row];
    PyObject *text = PyUnicode_DecodeUTF8(begin, (Py_ssize_t)(texts->offsets[row + 1] - texts->offsets[row]), "surrogateescape");
    if (text == NULL || PyList_SetItem(list, (Py_ssize_t)row, text) != 0) Py_CLEAR(list);
  }
  return list;
}

static pigment_status put(PyObject *matrix, pigment_embedding_sink *sink) {
  vector_input made;
  if (!vector_input_take(&made, matrix)) return PIGMENT_INVALID_ARGUMENT;
  pigment_status status = PIGMENT_INVALID_ARGUMENT;
  if (made.vectors.dtype != PIGMENT_F32 || made.vectors.row_stride_bytes > made.vectors.dimension * sizeof(float)) {
    PyErr_SetString(PyExc_ValueError, "an embedding function's answer is not a packed matrix of float32");
  } else {
    status = pigment_embedding_sink_put(sink, made.vectors.data, made.vectors.rows, made.vectors.dimension);
  }
  vector_input_release(&made);
  return status;
}

static pigment_status embed(void *user_data, int32_t purpose, size_t count, const pigment_text_column *texts,
                            pigment_embedding_sink *sink) {
  const PyGILState_STATE state = PyGILState_Ensure();
  pigment_status status = PIGMENT_UNKNOWN;
  PyObject *list = list_of(count, texts);
  PyObject *matrix = list == NULL ? NULL : PyObject_CallFunction((PyObject *)user_data, "iO", (int)purpose, list);
  if (matrix != NULL) status = put(matrix, sink);
  if (PyErr_Occurred()) status = keep_exception(sink);
  Py_XDECREF(list);
  Py_XDECREF(matrix);
  PyGILState_Release(state);
  return status;
}

static void embedding_released(void *user_data) {
  if (!Py_IsInitialized()) return; /* the interpreter is gone, and its objects with it */
  const PyGILState_STATE state = PyGILState_Ensure();
  Py_DECREF((PyObject *)user_data);
  PyGILState_Release(state);
}

PyObject *embedding_callbacks(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  return Py_BuildValue("KK", (unsigned long long)(uintptr_t)&embed, (unsigned long long)(uintptr_t)&embedding_released);
}

PyObject *embedding_keep(PyObject *module, PyObject *callable) {
  (void)module;
  Py_INCREF(callable);
  return PyLong_FromVoidPtr(callable);
}

PyObject *embedding_drop(PyObject *module, PyObject *address) {
  (void)module;
  void *callable = PyLong_AsVoidPtr(address);
  if (callable == NULL) return NULL;
  Py_DECREF((PyObject *)callable);
  Py_RETURN_NONE;
}

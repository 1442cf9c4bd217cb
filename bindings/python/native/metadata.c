/* SPDX-License-Identifier: Apache-2.0 */

/* Metadata of records, dictionaries of scalars and lists of them, printed as JSON: the interpreter's own encoder takes most of the
   time of a batch otherwise. What a value may be, the library says; only what JSON cannot hold is refused here. */

#include "core.h"

#include <stdlib.h>
#include <string.h>

static bool print_text(byte_buffer *out, PyObject *text) {
  Py_ssize_t size = 0;
  const char *data = PyUnicode_AsUTF8AndSize(text, &size);
  if (data == NULL || !byte_buffer_append(out, "\"", 1)) return false;
  const char *run = data, *const end = data + size;
  for (const char *at = data; at < end; ++at) {
    const unsigned char letter = (unsigned char)*at;
    if (letter >= 0x20 && letter != '"' && letter != '\\') continue;
    static const char digits[] = "0123456789abcdef";
    char escape[6] = {'\\', 'u', '0', '0', digits[letter >> 4], digits[letter & 15]};
    const size_t length = letter < 0x20 ? 6 : 2;
    if (letter >= 0x20) escape[1] = (char)letter;
    if (!byte_buffer_append(out, run, (size_t)(at - run)) || !byte_buffer_append(out, escape, length)) return false;
    run = at + 1;
  }
  return byte_buffer_append(out, run, (size_t)(end - run)) && byte_buffer_append(out, "\"", 1);
}

static bool print_ascii(byte_buffer *out, PyObject *text /* taken */) {
  Py_ssize_t size = 0;
  const char *data = text == NULL ? NULL : PyUnicode_AsUTF8AndSize(text, &size);
  const bool good = data != NULL && byte_buffer_append(out, data, (size_t)size);
  Py_XDECREF(text);
  return good;
}

/* Any int, also one that no int64 holds: the library refuses that by its row. A subclass prints as the int that it is. */
static bool print_int(byte_buffer *out, PyObject *number) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
  if (overflow != 0) return print_ascii(out, PyNumber_ToBase(number, 10));
  if (value == -1 && PyErr_Occurred()) return false;
  char digits[24];
  const int size = PyOS_snprintf(digits, sizeof digits, "%lld", value);
  return byte_buffer_append(out, digits, (size_t)size);
}

static bool print_float(byte_buffer *out, PyObject *number) {
  const double value = PyFloat_AsDouble(number);
  if (value == -1.0 && PyErr_Occurred()) return false;
  char *digits = PyOS_double_to_string(value, 'r', 0, Py_DTSF_ADD_DOT_0, NULL);
  if (digits == NULL) return false;
  const bool good = byte_buffer_append(out, digits, strlen(digits));
  PyMem_Free(digits);
  return good;
}

static bool print_dict(byte_buffer *out, PyObject *dict);

static bool print_list(byte_buffer *out, PyObject *list);

static bool print_value(byte_buffer *out, PyObject *value) {
  if (PyUnicode_Check(value)) return print_text(out, value);
  if (value == Py_True) return byte_buffer_append(out, "true", 4);
  if (value == Py_False) return byte_buffer_append(out, "false", 5);
  if (value == Py_None) return byte_buffer_append(out, "null", 4);
  if (PyLong_Check(value)) return print_int(out, value);
  if (PyFloat_Check(value)) return print_float(out, value);
  if (PyList_Check(value) || PyDict_Check(value)) {
    if (Py_EnterRecursiveCall(" in metadata") != 0) return false;
    const bool good = PyList_Check(value) ? print_list(out, value) : print_dict(out, value);
    Py_LeaveRecursiveCall();
    return good;
  }
  PyErr_Format(PyExc_ValueError, "metadata: expected str, int, float, bool, None or a list of them, got %R",
               (PyObject *)Py_TYPE(value));
  return false;
}

static bool print_list(byte_buffer *out, PyObject *list) {
  if (!byte_buffer_append(out, "[", 1)) return false;
  for (Py_ssize_t at = 0; at < PyList_Size(list); ++at) {
    PyObject *item = PyList_GetItem(list, at);
    if (item == NULL || (at > 0 && !byte_buffer_append(out, ",", 1)) || !print_value(out, item)) return false;
  }
  return byte_buffer_append(out, "]", 1);
}

static bool print_dict(byte_buffer *out, PyObject *dict) {
  PyObject *key = NULL, *value = NULL;
  Py_ssize_t at = 0;
  const char *before = "{";
  while (PyDict_Next(dict, &at, &key, &value)) {
    if (!PyUnicode_Check(key)) {
      PyErr_Format(PyExc_TypeError, "metadata: expected a key of type str, got %R", (PyObject *)Py_TYPE(key));
      return false;
    }
    if (!byte_buffer_append(out, before, 1) || !print_text(out, key) || !byte_buffer_append(out, ":", 1) ||
        !print_value(out, value))
      return false;
    before = ",";
  }
  return *before == '{' ? byte_buffer_append(out, "{}", 2) : byte_buffer_append(out, "}", 1);
}

static bool print_one(byte_buffer *out, PyObject *metadata) {
  if (PyDict_Check(metadata)) return print_dict(out, metadata);
  if (PyUnicode_Check(metadata)) {
    Py_ssize_t size = 0;
    const char *data = PyUnicode_AsUTF8AndSize(metadata, &size);
    return data != NULL && byte_buffer_append(out, data, (size_t)size);
  }
  PyErr_Format(PyExc_ValueError, "metadatas: expected a dict or None, got %R", (PyObject *)Py_TYPE(metadata));
  return false;
}

bool metadata_input_take(text_input *input, PyObject *list) {
  memset(input, 0, sizeof *input);
  if (list == Py_None) return true;
  if (!PyList_Check(list)) {
    PyErr_Format(PyExc_ValueError, "metadatas: expected a list, got %R", (PyObject *)Py_TYPE(list));
    return false;
  }
  const size_t count = (size_t)PyList_Size(list);
  char *start = calloc(1, (count + 1) * sizeof(int64_t) + count / 8 + 1);
  if (start == NULL) {
    PyErr_NoMemory();
    return false;
  }
  int64_t *offsets = (int64_t *)(void *)start;
  uint8_t *validity = (uint8_t *)start + (count + 1) * sizeof(int64_t);
  byte_buffer bytes = {0};
  for (size_t row = 0; row < count; ++row) {
    PyObject *item = PyList_GetItem(list, (Py_ssize_t)row);
    if (item == NULL || (item != Py_None && !print_one(&bytes, item))) {
      free(bytes.data);
      free(start);
      return false;
    }
    if (item != Py_None) validity[row / 8] |= (uint8_t)(1u << row % 8);
    offsets[row + 1] = (int64_t)bytes.size;
  }
  input->column.offsets = offsets;
  input->column.bytes = bytes.data;
  input->column.validity = validity;
  input->count = count;
  input->memory = start;
  return true;
}

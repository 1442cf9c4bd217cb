/* SPDX-License-Identifier: Apache-2.0 */

/* Python's lists and arrays as columns of the C interface. */

#include "core.h"

#include <stdlib.h>
#include <string.h>

static bool out_of_memory(void) {
  PyErr_NoMemory();
  return false;
}

/* The bytes of a str or bytes, borrowed from it or from *owned, which the caller drops. Half characters that stand for bytes (surrogateescape)
   become these bytes again; whether they are legal where they go, the library says. */
static bool bytes_of(PyObject *object, const char *what, const char **data, Py_ssize_t *size, PyObject **owned) {
  if (PyUnicode_Check(object)) {
    *data = PyUnicode_AsUTF8AndSize(object, size);
    if (*data != NULL) return true;
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) return false;
    PyErr_Clear();
    *owned = PyUnicode_AsEncodedString(object, "utf-8", "surrogateescape");
    if (*owned == NULL) return false;
    object = *owned;
  } else if (!PyBytes_Check(object)) {
    PyErr_Format(PyExc_TypeError, "%s: expected str, got %R", what, (PyObject *)Py_TYPE(object));
    return false;
  }
  char *bytes = NULL;
  if (PyBytes_AsStringAndSize(object, &bytes, size) != 0) return false;
  *data = bytes;
  return true;
}

bool byte_buffer_append(byte_buffer *buffer, const char *data, size_t size) {
  if (buffer->capacity - buffer->size < size) {
    size_t capacity = buffer->capacity < 256 ? 256 : buffer->capacity;
    while (capacity - buffer->size < size) capacity *= 2;
    char *grown = realloc(buffer->data, capacity);
    if (grown == NULL) return out_of_memory();
    buffer->data = grown;
    buffer->capacity = capacity;
  }
  if (size != 0) memcpy(buffer->data + buffer->size, data, size);
  buffer->size += size;
  return true;
}

bool text_input_take(text_input *input, PyObject *list, const char *what) {
  memset(input, 0, sizeof *input);
  if (list == Py_None) return true;
  if (!PyList_Check(list)) {
    PyErr_Format(PyExc_TypeError, "%s: expected a list, got %R", what, (PyObject *)Py_TYPE(list));
    return false;
  }
  /* One piece of memory: offsets, validity, and after them the bytes, which grow. */
  const size_t count = (size_t)PyList_Size(list);
  const size_t head = (count + 1) * sizeof(int64_t) + count / 8 + 1;
  byte_buffer bytes = {0};
  char *start = calloc(1, head);
  if (start == NULL) return out_of_memory();
  int64_t *offsets = (int64_t *)(void *)start;
  uint8_t *validity = (uint8_t *)start + (count + 1) * sizeof(int64_t);
  bool good = true;
  for (size_t row = 0; good && row < count; ++row) {
    PyObject *item = PyList_GetItem(list, (Py_ssize_t)row);
    if (item == NULL) {
      good = false;
      break;
    }
    if (item != Py_None) {
      const char *data = NULL;
      Py_ssize_t size = 0;
      PyObject *owned = NULL;
      good = bytes_of(item, what, &data, &size, &owned) && byte_buffer_append(&bytes, data, (size_t)size);
      Py_XDECREF(owned);
      validity[row / 8] |= (uint8_t)(1u << row % 8);
    }
    offsets[row + 1] = (int64_t)bytes.size;
  }
  if (!good) {
    free(bytes.data);
    free(start);
    return false;
  }
  input->column.offsets = offsets;
  input->column.bytes = bytes.data;
  input->column.validity = validity;
  input->count = count;
  input->memory = start;
  return true;
}

void text_input_release(text_input *input) {
  free((void *)input->column.bytes);
  free(input->memory);
  memset(input, 0, sizeof *input);
}

/* The element type of a buffer, or -1. */
static int32_t dtype_of(const Py_buffer *buffer) {
  const char *format = buffer->format == NULL ? "B" : buffer->format;
  if (format[0] == '@' || format[0] == '=' || format[0] == '<') ++format;
  if (format[0] == '\0' || format[1] != '\0') return -1;
  switch (format[0]) {
    case 'f': return PIGMENT_F32;
    case 'e': return PIGMENT_F16;
    case 'd': return PIGMENT_F64;
    case 'i':
    case 'l':
    case 'q': return buffer->itemsize == 4 ? PIGMENT_I32 : buffer->itemsize == 8 ? PIGMENT_I64 : -1;
    default: return -1;
  }
}

bool vector_input_take(vector_input *input, PyObject *matrix) {
  memset(input, 0, sizeof *input);
  if (matrix == Py_None) return true;
  if (PyObject_GetBuffer(matrix, &input->buffer, PyBUF_STRIDES | PyBUF_FORMAT) != 0) return false;
  const Py_buffer *buffer = &input->buffer;
  const int32_t dtype = dtype_of(buffer);
  const char *wrong = NULL;
  if (dtype < 0) wrong = "embeddings: expected numbers of type float16, float32, float64, int32 or int64";
  else if (buffer->ndim != 2) wrong = "embeddings: expected a matrix, a row for each record";
  else if (buffer->shape[1] > 1 && buffer->strides[1] != buffer->itemsize) wrong = "embeddings: expected rows that are packed";
  else if (buffer->shape[0] > 1 && buffer->strides[0] < 0) wrong = "embeddings: expected rows in ascending order";
  if (wrong != NULL) {
    PyErr_SetString(PyExc_ValueError, wrong);
    PyBuffer_Release(&input->buffer);
    memset(input, 0, sizeof *input);
    return false;
  }
  static const char nothing = 0;
  input->vectors.data = buffer->buf != NULL ? buffer->buf : &nothing;
  input->vectors.rows = (size_t)buffer->shape[0];
  input->vectors.dimension = (size_t)buffer->shape[1];
  input->vectors.row_stride_bytes = buffer->shape[0] > 1 ? (size_t)buffer->strides[0] : 0;
  input->vectors.dtype = dtype;
  return true;
}

void vector_input_release(vector_input *input) {
  if (input->buffer.obj != NULL) PyBuffer_Release(&input->buffer);
  memset(input, 0, sizeof *input);
}

bool json_text_take(json_text *text, PyObject *object) {
  text->data = NULL;
  text->size = 0;
  if (object == Py_None) return true;
  if (!PyUnicode_Check(object)) {
    PyErr_Format(PyExc_TypeError, "expected JSON text as str, got %R", (PyObject *)Py_TYPE(object));
    return false;
  }
  Py_ssize_t size = 0;
  text->data = PyUnicode_AsUTF8AndSize(object, &size);
  text->size = (size_t)size;
  return text->data != NULL;
}

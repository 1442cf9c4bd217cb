/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Metadata as dictionaries. What the library prints is JSON without white space, and mostly plain: keys that repeat from row to row, texts without escapes, numbers. That is read here, a
 * fifth of the time that the interpreter's decoder takes; what is anything else goes to that decoder.
 */

#include "core.h"

#include <stdlib.h>
#include <string.h>

enum { KEYS_KNOWN = 32, NUMBER_MAX = 40, DIGITS_MAX = 18 };

/* Where reading is, and the keys of the rows before, by their place in the object. */
typedef struct reader {
  const char *at, *end;
  PyObject *keys[KEYS_KNOWN];
  const char *key_bytes[KEYS_KNOWN];
  size_t key_sizes[KEYS_KNOWN];
} reader;

/* All of these give NULL without an exception for what is not plain, and with one when memory is out. */

static bool next_is(reader *in, char letter) {
  if (in->at == in->end || *in->at != letter) return false;
  ++in->at;
  return true;
}

/* The bytes of a text up to its closing quote, which is passed. */
static bool plain_text(reader *in, const char **begin, size_t *size) {
  if (!next_is(in, '"')) return false;
  *begin = in->at;
  while (in->at != in->end && *in->at != '"') {
    if (*in->at == '\\') return false;
    ++in->at;
  }
  *size = (size_t)(in->at - *begin);
  return next_is(in, '"');
}

static PyObject *read_text(reader *in) {
  const char *begin = NULL;
  size_t size = 0;
  return plain_text(in, &begin, &size) ? PyUnicode_DecodeUTF8(begin, (Py_ssize_t)size, NULL) : NULL;
}

/* Borrowed from the reader, which knows the keys of one row when it reads the next; or new, when *owned says so. */
static PyObject *read_key(reader *in, size_t place, PyObject **owned) {
  const char *begin = NULL;
  size_t size = 0;
  if (!plain_text(in, &begin, &size)) return NULL;
  if (place < KEYS_KNOWN && in->keys[place] != NULL && in->key_sizes[place] == size && memcmp(in->key_bytes[place], begin, size) == 0)
    return in->keys[place];
  PyObject *key = PyUnicode_DecodeUTF8(begin, (Py_ssize_t)size, NULL);
  if (key == NULL) return NULL;
  if (place >= KEYS_KNOWN) return *owned = key;
  Py_XDECREF(in->keys[place]);
  in->keys[place] = key;
  in->key_bytes[place] = begin;
  in->key_sizes[place] = size;
  return key;
}

/* Powers of ten that a double holds, as it does every whole number of 15 digits: a quotient of two such numbers is rounded once, and so is right (Clinger, "How to
   read floating point numbers accurately", 1990). */
static const double powers_of_ten[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
enum { EXACT_DIGITS_MAX = sizeof powers_of_ten / sizeof *powers_of_ten - 1 };

static PyObject *read_number(reader *in) {
  const char *begin = in->at;
  const char *point = NULL;
  bool is_float = false, is_decimal = true; /* of digits and a point alone */
  long long value = 0;
  for (; in->at != in->end; ++in->at) {
    const char letter = *in->at;
    if (letter >= '0' && letter <= '9') {
      if (in->at - begin < DIGITS_MAX) value = value * 10 + (letter - '0');
    } else if (letter == '.') {
      is_decimal = is_decimal && point == NULL;
      is_float = true;
      point = in->at;
    } else if (letter == 'e' || letter == 'E' || letter == '+' || (letter == '-' && in->at != begin)) {
      is_decimal = false;
      is_float = true;
    } else if (letter != '-') {
      break;
    }
  }
  const size_t size = (size_t)(in->at - begin);
  if (!is_float && size < DIGITS_MAX) return PyLong_FromLongLong(*begin == '-' ? -value : value);
  if (is_float && is_decimal && size <= EXACT_DIGITS_MAX + 1) {
    const double number = (double)value / powers_of_ten[in->at - point - 1];
    return PyFloat_FromDouble(*begin == '-' ? -number : number);
  }
  if (size >= NUMBER_MAX) return NULL;
  char digits[NUMBER_MAX];
  memcpy(digits, begin, size);
  digits[size] = '\0';
  if (!is_float) return PyLong_FromString(digits, NULL, 10);
  const double number = PyOS_string_to_double(digits, NULL, NULL);
  return number == -1.0 && PyErr_Occurred() ? NULL : PyFloat_FromDouble(number);
}

static PyObject *read_word(reader *in, const char *word, PyObject *object) {
  const size_t size = strlen(word);
  if ((size_t)(in->end - in->at) < size || memcmp(in->at, word, size) != 0) return NULL;
  in->at += size;
  Py_INCREF(object);
  return object;
}

static PyObject *read_scalar(reader *in) {
  if (in->at == in->end) return NULL;
  switch (*in->at) {
    case '"': return read_text(in);
    case 't': return read_word(in, "true", Py_True);
    case 'f': return read_word(in, "false", Py_False);
    case 'n': return read_word(in, "null", Py_None);
    default: return (*in->at >= '0' && *in->at <= '9') || *in->at == '-' ? read_number(in) : NULL;
  }
}

static PyObject *read_value(reader *in) {
  if (!next_is(in, '[')) return read_scalar(in);
  PyObject *list = PyList_New(0);
  while (list != NULL) {
    PyObject *item = read_scalar(in);
    if (item == NULL || PyList_Append(list, item) != 0) Py_CLEAR(list);
    Py_XDECREF(item);
    if (list == NULL || next_is(in, ']')) break;
    if (!next_is(in, ',')) Py_CLEAR(list);
  }
  return list;
}

static PyObject *read_object(reader *in) {
  if (!next_is(in, '{')) return NULL;
  PyObject *dict = PyDict_New();
  if (dict == NULL || next_is(in, '}')) return dict;
  for (size_t place = 0; dict != NULL; ++place) {
    PyObject *owned = NULL, *key = read_key(in, place, &owned);
    PyObject *value = key != NULL && next_is(in, ':') ? read_value(in) : NULL;
    if (value == NULL || PyDict_SetItem(dict, key, value) != 0) Py_CLEAR(dict);
    Py_XDECREF(owned);
    Py_XDECREF(value);
    if (dict == NULL || next_is(in, '}')) break;
    if (!next_is(in, ',')) Py_CLEAR(dict);
  }
  if (dict != NULL && in->at != in->end) Py_CLEAR(dict);
  return dict;
}

static PyObject *read_row(reader *in, const char *text, size_t size, PyObject *decode) {
  in->at = text;
  in->end = text + size;
  PyObject *object = read_object(in);
  if (object != NULL || (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_ValueError))) return object;
  PyErr_Clear();
  PyObject *string = PyUnicode_DecodeUTF8(text, (Py_ssize_t)size, NULL);
  object = string == NULL ? NULL : PyObject_CallFunctionObjArgs(decode, string, NULL);
  Py_XDECREF(string);
  return object;
}

PyObject *objects_of(const pigment_text_column *column, uint64_t rows, PyObject *decode) {
  reader in;
  memset(&in, 0, sizeof in);
  PyObject *list = PyList_New((Py_ssize_t)rows);
  for (uint64_t row = 0; list != NULL && row < rows; ++row) {
    PyObject *object = Py_None;
    if (column->validity == NULL || (column->validity[row / 8] >> row % 8 & 1) != 0) {
      const int64_t begin = column->offsets[row];
      object = read_row(&in, column->bytes + begin, (size_t)(column->offsets[row + 1] - begin), decode);
    } else {
      Py_INCREF(object);
    }
    if (object == NULL || PyList_SetItem(list, (Py_ssize_t)row, object) != 0) Py_CLEAR(list);
  }
  for (size_t place = 0; place < KEYS_KNOWN; ++place) Py_XDECREF(in.keys[place]);
  return list;
}

/* SPDX-License-Identifier: Apache-2.0 */

/* Errors of the library as exceptions, made by a function of the package. */

#include "core.h"

#include <string.h>

static PyObject *error_factory;

PyObject *errors_set_factory(PyObject *module, PyObject *factory) {
  (void)module;
  Py_INCREF(factory);
  Py_XDECREF(error_factory);
  error_factory = factory;
  Py_RETURN_NONE;
}

static PyObject *decoded(const char *text) { return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace"); }

void errors_raise(pigment_status status, pigment_error *error) {
  PyObject *message = decoded(pigment_error_message(error));
  PyObject *hint = decoded(pigment_error_hint(error));
  PyObject *file = decoded(pigment_error_file(error));
  PyObject *exception = NULL;
  if (message != NULL && hint != NULL && file != NULL && error_factory != NULL) {
    exception = PyObject_CallFunction(error_factory, "iiOOLOL", (int)status, (int)pigment_error_detail(error), message, hint,
                                      (long long)pigment_error_row(error), file, (long long)pigment_error_offset(error));
  }
  Py_XDECREF(message);
  Py_XDECREF(hint);
  Py_XDECREF(file);
  pigment_error_free(error);
  if (embedding_restore_exception(exception)) return;
  if (exception != NULL) {
    PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
    Py_DECREF(exception);
  } else if (!PyErr_Occurred()) {
    PyErr_SetString(PyExc_SystemError, "pigment: an error came before the package was ready for errors");
  }
}

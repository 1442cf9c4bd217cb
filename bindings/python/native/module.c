/* SPDX-License-Identifier: Apache-2.0 */

/* The module pigment._core. One interpreter a process: its state is static. */

#include "core.h"

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "pigment._core", .m_doc = "The calls that are made in a loop.", .m_size = -1,
    .m_methods = call_methods,
};

PyMODINIT_FUNC PyInit__core(void) {
  PyObject *module = PyModule_Create(&definition);
  if (module == NULL) return NULL;
  if (!results_setup(module) || !interrupt_setup()) {
    Py_DECREF(module);
    return NULL;
  }
  return module;
}

/* SPDX-License-Identifier: Apache-2.0 */

/*
 * The part of the package that is C: the calls that a program makes in a loop, without a copy that is not needed and
 * without the interpreter's lock while the engine works. All functions need the lock held unless they say otherwise, and
 * follow Python's habit: on failure an exception is set and false or NULL returned.
 */

#ifndef PIGMENT_PYTHON_CORE_H
#define PIGMENT_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <pigment/pigment.h>

/* ---- columns.c: arguments as columns; what they point to lives until the release ---- */

typedef struct text_input {
  pigment_text_column column; /* absent when None was given */
  size_t count;
  void *memory;
} text_input;

/* A list of str, bytes and None; `what` is for messages. */
bool text_input_take(text_input *input, PyObject *list, const char *what);
void text_input_release(text_input *input);

typedef struct vector_input {
  pigment_vectors vectors;
  Py_buffer buffer;
} vector_input;

/* Anything with a buffer of two dimensions whose rows are packed; None: absent. No copy. */
bool vector_input_take(vector_input *input, PyObject *matrix);
void vector_input_release(vector_input *input);

typedef struct json_text { /* borrowed from a str, absent for None */
  const char *data;
  size_t size;
} json_text;
bool json_text_take(json_text *text, PyObject *object);

/* A growing run of bytes. */
typedef struct byte_buffer {
  char *data;
  size_t size, capacity;
} byte_buffer;
bool byte_buffer_append(byte_buffer *buffer, const char *data, size_t size);

/* ---- metadata.c ---- */

/* A list of dict, str (JSON already) and None as a column of JSON texts. */
bool metadata_input_take(text_input *input, PyObject *list);

/* ---- objects.c ---- */

/* A list with a dictionary for each JSON object of a column, None where there is none; `decode` is json.loads. */
PyObject *objects_of(const pigment_text_column *column, uint64_t rows, PyObject *decode);

/* ---- interrupt.c: a call that the program can end ---- */

typedef struct call_guard {
  pigment_call_options options;
  bool armed;
} call_guard;

bool interrupt_setup(void);
/* options: None or (address of a pigment_cancel or 0, deadline in ns or 0, position or 0). */
bool call_guard_begin(call_guard *guard, PyObject *options);
/* Takes the error. False with an exception set when the call failed, or when Ctrl-C ended it. */
bool call_guard_end(call_guard *guard, pigment_status status, pigment_error *error);
PyObject *interrupt_begin(PyObject *module, PyObject *options);
PyObject *interrupt_end(PyObject *module, PyObject *unused);
PyObject *interrupt_after_fork(PyObject *module, PyObject *unused);

/* ---- errors.c ---- */

PyObject *errors_set_factory(PyObject *module, PyObject *factory);
/* Sets the exception of an error, which it takes; one that an embedding function has raised wins. */
void errors_raise(pigment_status status, pigment_error *error);

/* ---- embedding.c: functions from texts to vectors ---- */

/* (address of embed, address of release) for pigment_embedding_function. */
PyObject *embedding_callbacks(PyObject *module, PyObject *unused);
/* Adds a reference to a callable (purpose, texts) -> matrix and gives its address; embedding_drop takes it back. */
PyObject *embedding_keep(PyObject *module, PyObject *callable);
PyObject *embedding_drop(PyObject *module, PyObject *address);
/* Moves the exception that an embedding function of this thread raised, if any, to the interpreter. Its context becomes what the
   library said (taken, may be NULL), unless it has one. */
bool embedding_restore_exception(PyObject *said);

/* ---- results.c ---- */

/* The name of a capsule with a stream of Arrow's, in the protocol that libraries share. */
#define ARROW_STREAM "arrow_array_stream"

bool results_setup(PyObject *module);
PyObject *result_new(pigment_result *result); /* takes it */

/* ---- calls.c ---- */

extern PyMethodDef call_methods[];

#endif

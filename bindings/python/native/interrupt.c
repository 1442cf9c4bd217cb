/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Ctrl-C ends a call of the main thread. The interpreter only notes a signal until its main thread runs Python again, which it does not
 * during a call; so for the length of a call a handler of our own stands before the interpreter's: it sets the call's cancel token, and then does what the
 * interpreter does. Only where Ctrl-C means KeyboardInterrupt, and only in the main thread; nothing else of the process's signals is touched.
 */

#include "core.h"

#include <signal.h>
#include <string.h>

static PyObject *getsignal, *default_int_handler, *sigint_number;
static unsigned long main_thread;
static pigment_cancel *own_cancel; /* of calls that bring none along */
static pigment_cancel *last_cancel; /* the one before it, which a handler in another thread may still be setting */
static const pigment_cancel *volatile in_flight;
static volatile sig_atomic_t interrupted;
static struct sigaction previous;

static void on_sigint(int number) {
  interrupted = 1;
  const pigment_cancel *cancel = in_flight;
  if (cancel != NULL) pigment_cancel_set((pigment_cancel *)cancel);
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) previous.sa_handler(number);
}

static bool fresh_cancel(void) {
  pigment_cancel_free(last_cancel);
  last_cancel = own_cancel;
  own_cancel = NULL;
  pigment_error *error = NULL;
  const pigment_status status = pigment_cancel_new(&own_cancel, &error);
  if (status == PIGMENT_OK) return true;
  errors_raise(status, error);
  return false;
}

bool interrupt_setup(void) {
  PyObject *signals = PyImport_ImportModule("_signal"); /* the module signal wraps it, and takes twenty times as long */
  if (signals == NULL) return false;
  getsignal = PyObject_GetAttrString(signals, "getsignal");
  default_int_handler = PyObject_GetAttrString(signals, "default_int_handler");
  sigint_number = PyLong_FromLong(SIGINT);
  Py_DECREF(signals);
  if (getsignal == NULL || default_int_handler == NULL || sigint_number == NULL || !fresh_cancel()) return false;
  PyObject *threading = PyImport_ImportModule("threading");
  PyObject *thread = threading == NULL ? NULL : PyObject_CallMethod(threading, "main_thread", NULL);
  PyObject *ident = thread == NULL ? NULL : PyObject_GetAttrString(thread, "ident");
  if (ident != NULL) main_thread = PyLong_AsUnsignedLong(ident);
  Py_XDECREF(ident);
  Py_XDECREF(thread);
  Py_XDECREF(threading);
  return !PyErr_Occurred();
}

PyObject *interrupt_after_fork(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  main_thread = PyThread_get_thread_ident();
  in_flight = NULL;
  Py_RETURN_NONE;
}

/* Whether a handler may stand before the interpreter's; a failure of the question counts as no. */
static bool means_keyboard_interrupt(void) {
  PyObject *handler = PyObject_CallFunctionObjArgs(getsignal, sigint_number, NULL);
  if (handler == NULL) {
    PyErr_Clear();
    return false;
  }
  const bool yes = handler == default_int_handler;
  Py_DECREF(handler);
  return yes;
}

static bool arm(call_guard *guard) {
  if (in_flight != NULL || PyThread_get_thread_ident() != main_thread || !means_keyboard_interrupt()) return true;
  if (guard->options.cancel == NULL) {
    if ((own_cancel == NULL || pigment_cancel_is_set(own_cancel)) && !fresh_cancel()) return false;
    guard->options.cancel = own_cancel;
  }
  interrupted = 0;
  in_flight = guard->options.cancel;
  struct sigaction ours;
  memset(&ours, 0, sizeof ours);
  ours.sa_handler = on_sigint;
  ours.sa_flags = SA_ONSTACK; /* as the interpreter's */
  sigemptyset(&ours.sa_mask);
  sigaction(SIGINT, &ours, &previous);
  guard->armed = true;
  return true;
}

static void disarm(call_guard *guard) {
  if (!guard->armed) return;
  sigaction(SIGINT, &previous, NULL);
  in_flight = NULL;
  guard->armed = false;
}

bool call_guard_begin(call_guard *guard, PyObject *options) {
  memset(guard, 0, sizeof *guard);
  guard->options.struct_size = sizeof guard->options;
  if (options != Py_None) {
    unsigned long long cancel = 0, position = 0;
    long long deadline = 0;
    if (!PyArg_ParseTuple(options, "KLK", &cancel, &deadline, &position)) return false;
    guard->options.cancel = (const pigment_cancel *)(uintptr_t)cancel;
    guard->options.deadline_ns = deadline;
    guard->options.min_position = position;
  }
  return arm(guard);
}

bool call_guard_end(call_guard *guard, pigment_status status, pigment_error *error) {
  const bool was_armed = guard->armed;
  disarm(guard);
  if (status == PIGMENT_OK) return true;
  if (was_armed && interrupted && PyErr_CheckSignals() != 0) { /* KeyboardInterrupt instead of "cancelled" */
    pigment_error_free(error);
    return false;
  }
  errors_raise(status, error);
  return false;
}

/* The same for calls that the package makes through ctypes: one at a time, as only the main thread arms. */
static call_guard foreign;

PyObject *interrupt_begin(PyObject *module, PyObject *options) {
  (void)module;
  call_guard guard;
  if (!call_guard_begin(&guard, options)) return NULL;
  if (guard.armed) foreign = guard;
  return Py_BuildValue("OK", guard.armed ? Py_True : Py_False, (unsigned long long)(uintptr_t)guard.options.cancel);
}

PyObject *interrupt_end(PyObject *module, PyObject *unused) {
  (void)module;
  (void)unused;
  disarm(&foreign);
  if (interrupted && PyErr_CheckSignals() != 0) return NULL;
  Py_RETURN_NONE;
}

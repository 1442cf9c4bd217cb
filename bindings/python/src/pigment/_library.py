# SPDX-License-Identifier: Apache-2.0
"""libpigment, loaded: calls by name whose errors are exceptions, handles that free what they hold, options of a call. Any thread."""

from __future__ import annotations

import contextlib
import contextvars
import ctypes
import json
import os
import pathlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from . import _core
from . import _declarations as c
from .errors import ChromaError, InvalidArgumentError, kind_of

_library = ctypes.CDLL(str(pathlib.Path(__file__).with_name(f"libpigment.so.{c.ABI_VERSION}")))
c.declare(_library)

if _library.pigment_abi_version() != c.ABI_VERSION:
    raise ImportError(f"pigment: this package speaks version {c.ABI_VERSION} of the C interface, "
                      f"the library beside it version {_library.pigment_abi_version()}")


def version() -> str:
    """Of the library, as "0.2.0"."""
    return str(_library.pigment_version().decode())


def build_info() -> str:
    """Compiler, source revision and SIMD path in use, for bug reports."""
    return str(_library.pigment_build_info().decode())


# ---- Errors


def _made_error(status: int, detail: int, message: str, hint: str, row: int, file: str, offset: int) -> ChromaError:
    error = kind_of(status, detail)(f"{message} ({hint})" if hint else message)
    error.status, error.detail = c.Status(status), c.Detail(detail)
    error.fault = c.Fault(_library.pigment_status_fault(status))
    error.retryable = _library.pigment_status_retryable(status)
    error.sqlstate = _library.pigment_status_sqlstate(status).decode()
    error.hint, error.row, error.file, error.offset = hint, row, file, offset
    return error


_core.set_error_factory(_made_error)


def status_name(status: int) -> str:
    """In words: "invalid argument"."""
    name = _library.pigment_status_name(status)
    return name.decode() if name else "unknown"


def call(name: str, *arguments: Any) -> None:
    """Calls a fallible function of the library, given by its name."""
    error = ctypes.c_void_p()
    try:
        status = getattr(_library, name)(*arguments, ctypes.byref(error))
    except ctypes.ArgumentError as wrong:
        raise TypeError(f"{name.removeprefix('pigment_')}: {wrong}") from None
    if status == 0:
        return
    try:
        raise _made_error(
            status, _library.pigment_error_detail(error), _library.pigment_error_message(error).decode(errors="replace"),
            _library.pigment_error_hint(error).decode(errors="replace"), _library.pigment_error_row(error),
            _library.pigment_error_file(error).decode(errors="replace"), _library.pigment_error_offset(error))
    finally:
        _library.pigment_error_free(error)


def call_json(name: str, *arguments: Any) -> Any:
    """Calls one whose last output is a buffer of JSON."""
    buffer, size = ctypes.c_void_p(), ctypes.c_size_t()
    call(name, *arguments, ctypes.byref(buffer))
    try:
        data = _library.pigment_buffer_data(buffer, ctypes.byref(size))
        return json.loads(ctypes.string_at(data, size.value))
    finally:
        _library.pigment_buffer_free(buffer)


class Handle:
    """An object of the library. It is freed when nothing refers to it any more, a running call neither, so that use after close is an
    error of the library and never of memory."""

    __slots__ = ("_free", "address")

    def __init__(self, kind: str, address: int | None) -> None:
        self._free = {"client": _library.pigment_client_free, "collection": _library.pigment_collection_free,
                      "cancel": _library.pigment_cancel_free}[kind]
        self.address = address or 0

    def __del__(self) -> None:
        if self.address:
            self._free(self.address)


def text(value: str | None) -> tuple[bytes | None, int]:
    """A text as pointer and size."""
    if value is None:
        return None, 0
    if not isinstance(value, str):
        raise TypeError(f"expected a str, got {value!r}")
    encoded = value.encode()
    return encoded, len(encoded)


def name_text(name: str) -> tuple[bytes | None, int]:
    """Of what must have a name; refused in Chroma's words."""
    if not isinstance(name, str):
        raise TypeError(f"argument 'name': '{type(name).__name__}' object cannot be converted to 'PyString'")
    return text(name)


def integer(name: str, value: Any) -> int:
    """An int that an int64 holds; ctypes would cut others."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name}: expected an int, got {value!r}")
    if not -2**63 <= value < 2**63:
        raise OverflowError(f"{name}: {value} does not fit 64 bits")
    return value


def page(limit: Any, offset: Any) -> tuple[int, int]:
    """Of a list; the library takes a negative limit for none, which nobody here means by it."""
    if limit is not None and integer("limit", limit) < 0:
        raise InvalidArgumentError(f"limit must not be negative, got {limit}")
    return -1 if limit is None else limit, 0 if offset is None else integer("offset", offset)


def path_text(path: str | os.PathLike[str]) -> tuple[bytes | None, int]:
    encoded = os.fsencode(path)
    return encoded, len(encoded)


class Column:
    """A list of texts as a column; keep it until the call is over."""

    def __init__(self, values: list[str] | None) -> None:
        self.count = len(values) if values is not None else 0
        self.column = c.TextColumn()
        if values is None:
            return
        if not all(isinstance(value, str) for value in values):
            raise TypeError(f"expected a list of str, got {values!r:.200}")
        encoded = [value.encode() for value in values]
        offsets, at = [0], 0
        for one in encoded:
            at += len(one)
            offsets.append(at)
        self._offsets = (ctypes.c_int64 * len(offsets))(*offsets)
        self._bytes = b"".join(encoded)
        self.column.offsets = ctypes.addressof(self._offsets)
        self.column.bytes = self._bytes


# ---- Options of calls


class Progress(NamedTuple):
    """One phase of long work after the other: flush, merge, index, log, segments, records, search. `done` of `total` (None: nobody knows) rows, bytes, batches, files or
    collections, as `unit` says."""

    phase: str
    unit: str
    done: int
    total: int | None


class CancelToken:
    """Ends calls from another thread: those that run and those to come, as a token once set stays set."""

    def __init__(self) -> None:
        address = ctypes.c_void_p()
        call("pigment_cancel_new", ctypes.byref(address))
        self._handle = Handle("cancel", address.value)

    def set(self) -> None:
        _library.pigment_cancel_set(self._handle.address)

    def is_set(self) -> bool:
        return bool(_library.pigment_cancel_is_set(self._handle.address))

    def progress(self) -> Progress | None:
        """How far the call is that was given the token: a flush, compaction, backup, check or repair, the last of them that began something; None where nothing has."""
        found = c.Progress(struct_size=ctypes.sizeof(c.Progress))
        call("pigment_cancel_progress", self._handle.address, ctypes.byref(found))
        if found.phase is None:
            return None
        return Progress(found.phase.decode(), found.unit.decode(), found.done, found.total or None)


class _Options:
    """What a call is given, and the token that it must keep alive."""

    __slots__ = ("cancel", "values")

    def __init__(self, cancel: CancelToken | None, deadline_ns: int, min_position: int) -> None:
        if cancel is not None and not isinstance(cancel, CancelToken):
            raise TypeError(f"cancel: expected a CancelToken, got {cancel!r}")
        integer("min_position", min_position)
        self.cancel = cancel
        self.values = (cancel._handle.address if cancel else 0, deadline_ns, min_position)


_options: contextvars.ContextVar[_Options | None] = contextvars.ContextVar("pigment_call_options", default=None)


@contextlib.contextmanager
def call_options(*, timeout: float | None = None, cancel: CancelToken | None = None, min_position: int | None = None) -> Iterator[None]:
    """For the calls within: they end with DeadlineExceededError when `timeout` seconds from now are over, with CancelledError when the token is set, and reads with
    StaleReadError unless the store has reached `min_position` of its log. Inner blocks may only tighten the deadline."""
    outer = _options.get()
    deadline = 0 if timeout is None else int(_library.pigment_now_ns() + timeout * 1e9)
    if timeout is not None and deadline <= 0:
        deadline = 1
    if outer is not None:
        deadlines = [one for one in (deadline, outer.values[1]) if one]
        deadline = min(deadlines, default=0)
        cancel = cancel or outer.cancel
        min_position = outer.values[2] if min_position is None else min_position
    token = _options.set(_Options(cancel, deadline, min_position or 0))
    try:
        yield
    finally:
        _options.reset(token)


def current_cancel() -> CancelToken | None:
    options = _options.get()
    return options.cancel if options is not None else None


@contextlib.contextmanager
def interruptible() -> Iterator[Any]:
    """Options for a call through ctypes that may be long; Ctrl-C ends it."""
    options = _options.get()
    values = options.values if options is not None else None
    armed, cancel = _core.interrupt_begin(values)
    given = c.CallOptions(struct_size=ctypes.sizeof(c.CallOptions), cancel=cancel)
    if values is not None:
        given.deadline_ns, given.min_position = values[1], values[2]
    try:
        yield ctypes.byref(given)
    finally:
        if armed:
            _core.interrupt_end()


os.register_at_fork(after_in_child=_core.after_fork)


# ---- Functions of the library itself


def limits() -> list[dict[str, Any]]:
    """What the library refuses to go beyond: name, most, status and of what."""
    return list(call_json("pigment_limits"))


def check(path: str | os.PathLike[str], full: bool = False) -> dict[str, Any]:
    """Reads every byte of the store in a directory and compares everything with everything; changes nothing."""
    with interruptible() as options:
        return dict(call_json("pigment_check", *path_text(path), full, options))


def repair(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> dict[str, Any]:
    """Writes a new store in `target` with everything of the one in `source` that can be read; `source` is not changed."""
    with interruptible() as options:
        return dict(call_json("pigment_repair", *path_text(source), *path_text(target), options))

# SPDX-License-Identifier: Apache-2.0
"""Chroma's exceptions by their names, and those of what Chroma has not. Which status of the library becomes which stands in
bindings/tables/for_python.py."""

from __future__ import annotations

from . import _declarations as c


class ChromaError(Exception):
    """What all refusals are. Those of the library say more: status and detail (numbers of pigment.h), hint, the row of the batch (-1: none), file
    and offset where a file is damaged, and whose fault it is."""

    status: c.Status = c.Status.UNKNOWN
    detail: c.Detail = c.Detail.NONE
    fault: c.Fault = c.Fault.NONE
    retryable: bool = False
    sqlstate: str = ""
    hint: str = ""
    row: int = -1
    file: str = ""
    offset: int = -1
    trace_id: str | None = None
    _code = 400
    _name = "ChromaError"

    def code(self) -> int:
        """The HTTP status that Chroma's server gives."""
        return self._code

    def message(self) -> str:
        return ", ".join(map(str, self.args))

    @classmethod
    def name(cls) -> str:
        return cls._name


class InvalidArgumentError(ChromaError):
    status = c.Status.INVALID_ARGUMENT
    _name = "InvalidArgument"


class InvalidDimensionException(ChromaError):
    """As in Chroma: kept for programs that name it; a wrong dimension is an InvalidArgumentError."""

    _name = "InvalidDimension"


class DuplicateIDError(ChromaError):
    status, detail = c.Status.INVALID_ARGUMENT, c.Detail.DUPLICATE_ID
    _name = "DuplicateID"


class IDAlreadyExistsError(ChromaError):
    _code, _name = 409, "IDAlreadyExists"


class InvalidUUIDError(ChromaError):
    status = c.Status.INVALID_ARGUMENT
    _name = "InvalidUUID"


class InvalidHTTPVersion(ChromaError):
    _name = "InvalidHTTPVersion"


class AuthorizationError(ChromaError):
    _code, _name = 401, "AuthorizationError"


class ChromaAuthError(ChromaError):
    _code, _name = 403, "AuthError"

    def message(self) -> str:
        return "Forbidden"


class NotFoundError(ChromaError):
    _code, _name = 404, "NotFoundError"


class InternalError(ChromaError):
    _code, _name = 500, "InternalError"


class UniqueConstraintError(InternalError):
    """A name that is taken. Chroma's embedded client says InternalError to that, so programs may catch either."""

    _code, _name = 409, "UniqueConstraintError"


class BatchSizeExceededError(ChromaError):
    _code, _name = 413, "BatchSizeExceededError"


class VersionMismatchError(ChromaError):
    _code, _name = 500, "VersionMismatchError"


class RateLimitError(ChromaError):
    _code, _name = 429, "RateLimitError"


class QuotaError(ChromaError):
    _name = "QuotaError"


class ResourceExhaustedError(QuotaError):
    """A limit (pigment.limits()), memory or the disk."""

    _code, _name = 429, "ResourceExhausted"


class FailedPreconditionError(ChromaError):
    _code, _name = 412, "FailedPrecondition"


class ClosedError(FailedPreconditionError):
    status, detail = c.Status.FAILED_PRECONDITION, c.Detail.CLOSED
    _name = "Closed"


class LockedError(FailedPreconditionError):
    """Another process has the directory open for writing; the message names it."""

    _name = "Locked"


class ForkedError(FailedPreconditionError):
    """A client that was opened before fork() is of no use in the child: open another."""

    _name = "Forked"


class StaleReadError(FailedPreconditionError):
    _name = "StaleReadError"


class AbortedError(ChromaError):
    _code, _name = 409, "Aborted"


class UnavailableError(ChromaError):
    _code, _name = 503, "Unavailable"


class UnimplementedError(ChromaError, NotImplementedError):
    _code, _name = 501, "Unimplemented"


class DataLossError(ChromaError):
    """Damaged or missing bytes, with file and offset."""

    _code, _name = 500, "DataLoss"


class DeadlineExceededError(ChromaError, TimeoutError):
    _code, _name = 504, "DeadlineExceeded"


class CancelledError(ChromaError):
    _code, _name = 499, "Cancelled"


error_types: dict[str, type[ChromaError]] = {
    kind.name(): kind for kind in list(globals().values()) if isinstance(kind, type) and issubclass(kind, ChromaError)
}

_OF_STATUS: dict[int, type[ChromaError]] = {status: globals()[name] for status, name in c.EXCEPTIONS.items()}
_OF_DETAIL: dict[int, type[ChromaError]] = {detail: globals()[name] for detail, name in c.DETAIL_EXCEPTIONS.items()}


def kind_of(status: int, detail: int) -> type[ChromaError]:
    return _OF_DETAIL.get(detail) or _OF_STATUS.get(status, InternalError)

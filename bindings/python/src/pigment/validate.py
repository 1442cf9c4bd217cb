# SPDX-License-Identifier: Apache-2.0
"""What Chroma's client refuses before it asks anybody, with its exceptions and words. The library checks everything by itself; these run when it has refused, or when
an argument is nothing that it could be asked, to say the same as Chroma does. What Chroma refuses and the library takes (`$and` of one clause, operators of
our own) never comes here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from .errors import ChromaError, DuplicateIDError
from .filters import Filter

INCLUDES = ("documents", "embeddings", "metadatas", "distances", "uris", "data")
_DTYPES = (np.float16, np.float32, np.float64, np.int32, np.int64)


def refuse(call: str, error: Exception, check: Callable[[], None]) -> NoReturn:
    """Raises what Chroma raises in this call (in none: "") for the arguments that `check` looks at, otherwise `error`, which the library or a conversion raised."""
    if isinstance(error, (ChromaError, ValueError, TypeError, AttributeError, IndexError, OverflowError)):
        try:
            check()
        except (ValueError, TypeError, DuplicateIDError) as better:
            if call and not str(better).startswith("argument "):  # Chroma's client says so of what it looks at itself
                better.args = (f"{better} in {call}.",)
            if isinstance(better, ChromaError) and isinstance(error, ChromaError):
                better.status, better.detail, better.row, better.fault = error.status, error.detail, error.row, error.fault
            raise better from error
        except (ChromaError, RecursionError):
            pass  # of a question to the library on the way, or of an argument that is too deep to be looked at
    raise error


def ids(given: Any) -> None:
    if not isinstance(given, list):
        raise ValueError(f"Expected IDs to be a list, got {type(given).__name__} as IDs")
    if not given:
        raise ValueError(f"Expected IDs to be a non-empty list, got {len(given)} IDs")
    seen: set[str] = set()
    twice: dict[str, None] = {}
    for one in given:
        if not isinstance(one, str):
            raise ValueError(f"Expected ID to be a str, got {one}")
        if one in seen:
            twice[one] = None
        seen.add(one)
    if not twice:
        return
    names = list(twice)
    if len(names) < 10:
        raise DuplicateIDError(f"Expected IDs to be unique, found duplicates of: {', '.join(names)}")
    raise DuplicateIDError(f"Expected IDs to be unique, found {len(names)} duplicated IDs: "
                           f"{', '.join(names[:5])}, ..., {', '.join(names[-5:])}")


def documents(given: Any, may_be_none: bool) -> None:
    if not isinstance(given, list):
        raise ValueError(f"Expected documents to be a list, got {type(given).__name__}")
    for one in given:
        if not isinstance(one, (str, bytes)) and not (one is None and may_be_none):
            raise ValueError(f"Expected document to be a str, got {one}")


def _list_value(key: str, value: list[Any]) -> None:
    if not value:
        raise ValueError(f"Expected metadata list value for key '{key}' to be non-empty")
    kinds = {bool if isinstance(one, bool) else type(one) for one in value}
    if len(kinds) > 1 or not kinds <= {str, int, float, bool}:
        raise ValueError(f"Expected metadata list value for key '{key}' to contain only str, int, float, or bool "
                         f"and all elements must be the same type, got {value}")


def metadata(given: Any, nested: bool = False) -> None:
    """`nested`: what objects are as values, is for the library to say."""
    if given is None:
        return
    if not isinstance(given, dict):
        raise ValueError(f"Expected metadata to be a dict or None, got {type(given).__name__} as metadata")
    if not given:
        raise ValueError("Expected metadata to be a non-empty dict, got 0 metadata attributes")
    for key, value in given.items():
        if key == "chroma:document":
            raise ValueError("Expected metadata to not contain the reserved key chroma:document")
        if not isinstance(key, str):
            raise TypeError(f"Expected metadata key to be a str, got {key} which is a {type(key).__name__}")
        if isinstance(value, list):
            _list_value(key, value)
        elif nested and isinstance(value, dict):
            continue
        elif not isinstance(value, (str, int, float, bool, type(None))):
            raise ValueError(f"Expected metadata value to be a str, int, float, bool, SparseVector, list, or None, got {value} "
                             f"which is a {type(value).__name__}")


def metadatas(given: Any, none_deletes: bool, nested: bool) -> None:
    if not isinstance(given, list):
        raise ValueError(f"Expected metadatas to be a list, got {given}")
    for one in given:
        metadata(one, nested)
        if not none_deletes and isinstance(one, dict) and None in one.values():
            raise TypeError("argument 'metadatas': Cannot convert Python object to MetadataValue")


def collection_metadata(given: Any) -> None:
    """Of a new collection: here Chroma's client checks types alone."""
    if given is None:
        return
    if not isinstance(given, dict):
        raise TypeError(f"argument 'metadata': {type(given).__name__} object cannot be converted to a dict")
    for key, value in given.items():
        if not isinstance(key, str) or not isinstance(value, (str, int, float, bool)):
            raise TypeError("argument 'metadata': Cannot convert Python object to MetadataValue")


def changed_metadata(given: Any) -> None:
    metadata(given)
    if given is not None and "hnsw:space" in given:
        raise ValueError("Changing the distance function of a collection once it is created is not supported currently.")


def embeddings(given: Any) -> None:
    """Of what as_matrix was given."""
    message = ("Expected embeddings to be a list of floats or ints, a list of lists, a numpy array, or a list of numpy arrays, "
               f"got {given}")
    if not isinstance(given, (list, np.ndarray)):
        raise ValueError(message)
    if len(given) == 0:
        raise ValueError(f"Expected Embeddings to be non-empty list or numpy array, got {given}")
    if isinstance(given, list):
        first = given[0]
        if isinstance(first, list) and not first:
            raise ValueError("Expected each embedding to have at least one number, got []")
        inner = first[0] if isinstance(first, list) else first
        if not isinstance(first, np.ndarray) and (isinstance(inner, bool) or not isinstance(inner, (int, float))):
            raise ValueError(message)
        given = given if isinstance(first, np.ndarray) else []
    elif given.ndim not in (1, 2):
        raise ValueError(message)
    for one in given:
        kind = one.dtype if isinstance(one, (np.ndarray, np.generic)) else None
        if kind not in _DTYPES:
            raise ValueError(f"Expected each value in the embedding to be a int or float, got an embedding with {kind} - {one}")


def lengths(fields: dict[str, Any]) -> None:
    counts = {name: len(value) for name, value in fields.items() if value is not None}
    empty = [name for name, count in counts.items() if count == 0]
    if empty:
        raise ValueError(f"Non-empty lists are required for {empty}")
    if len(set(counts.values())) > 1:
        raise ValueError("Unequal lengths for fields: " + ", ".join(f"{name}: {count}" for name, count in counts.items()))


def where(given: Any) -> None:
    if given is None or isinstance(given, Filter):
        return
    if not isinstance(given, dict):
        raise ValueError(f"Expected where to be a dict, got {given}")
    if len(given) != 1:
        raise ValueError(f"Expected where to have exactly one operator, got {given}")
    for key, value in given.items():
        if not isinstance(key, str):
            raise ValueError(f"Expected where key to be a str, got {key}")
        if key in ("$contains", "$not_contains"):
            raise ValueError(f"Expected where key to be a metadata field name or a logical operator ($and, $or), got {key}")
        if key in ("$and", "$or"):
            if not isinstance(value, list):
                raise ValueError(f"Expected where value for $and or $or to be a list of where expressions, got {value}")
            if len(value) < 1:
                raise ValueError("Expected where value for $and or $or to be a list with at least two where expressions, "
                                 f"got {value}")
            for one in value:
                where(one)
        elif isinstance(value, dict):
            if key != "$not":
                _operator(key, value)
        elif not isinstance(value, (str, int, float)):
            raise ValueError(f"Expected where value to be a str, int, float, or operator expression, got {value}")


_OPERATORS = ("$gt", "$gte", "$lt", "$lte", "$ne", "$eq", "$in", "$nin", "$contains", "$not_contains")
_OWN_OPERATORS = ("$between", "$prefix", "$ieq", "$iprefix", "$exists", "$regex", "$not_regex", "$icontains")


def _operator(key: str, expression: dict[Any, Any]) -> None:
    if len(expression) != 1:
        raise ValueError(f"Expected operator expression to have exactly one operator, got {expression}")
    for operator, operand in expression.items():
        if operator in _OWN_OPERATORS:
            return
        if operator not in _OPERATORS:
            raise ValueError(f"Expected where operator to be one of {', '.join(_OPERATORS)}, got {operator}")
        if operator in ("$gt", "$gte", "$lt", "$lte") and not isinstance(operand, (int, float)):
            raise ValueError(f"Expected operand value to be an int or a float for operator {operator}, got {operand}")
        if operator in ("$in", "$nin") and not isinstance(operand, list):
            raise ValueError(f"Expected operand value to be an list for operator {operator}, got {operand}")
        if operator in ("$contains", "$not_contains"):
            if key == "#document" and not isinstance(operand, str):
                raise ValueError(f"Expected operand value to be a str for operator {operator} on #document, got {operand}")
            if not isinstance(operand, (str, int, float, bool)):
                raise ValueError(f"Expected operand value to be a str, int, float, or bool for operator {operator}, got {operand}")
        if not isinstance(operand, (str, int, float, bool, list)):
            raise ValueError(f"Expected where operand value to be a str, int, float, bool, or list of those type, got {operand}")
        if isinstance(operand, list) and (not operand or not all(isinstance(one, type(operand[0])) for one in operand)):
            raise ValueError("Expected where operand value to be a non-empty list, and all values to be of the same type "
                             f"got {operand}")


def where_document(given: Any) -> None:
    if given is None or isinstance(given, Filter):
        return
    if not isinstance(given, dict):
        raise ValueError(f"Expected where document to be a dictionary, got {given}")
    if len(given) != 1:
        raise ValueError(f"Expected where document to have exactly one operator, got {given}")
    for operator, operand in given.items():
        if operator in ("$not", "$exists", "$icontains"):
            return
        if operator not in ("$contains", "$not_contains", "$regex", "$not_regex", "$and", "$or"):
            raise ValueError("Expected where document operator to be one of $contains, $not_contains, $regex, $not_regex, $and, "
                             f"$or, got {operator}")
        if operator in ("$and", "$or"):
            if not isinstance(operand, list):
                raise ValueError(f"Expected document value for $and or $or to be a list of where document expressions, got {operand}")
            if len(operand) < 1:
                raise ValueError("Expected document value for $and or $or to be a list with at least two where document "
                                 f"expressions, got {operand}")
            for one in operand:
                where_document(one)
        elif not isinstance(operand, str):
            raise ValueError(f"Expected where document operand value for operator {operator} to be a str, got {operand}")
        elif not operand:
            raise ValueError(f"Expected where document operand value for operator {operator} to be a non-empty str")


def include(given: Any, refused: Sequence[str] = ()) -> None:
    if not isinstance(given, list):
        raise ValueError(f"Expected include to be a list, got {given}")
    for one in given:
        if not isinstance(one, str):
            raise ValueError(f"Expected include item to be a str, got {one}")
        if one not in INCLUDES:
            raise ValueError(f"Expected include item to be one of {', '.join(INCLUDES)}, got {one}")
        if one in refused:
            raise ValueError(f"Include item cannot be one of {', '.join(refused)}, got {one}")


def n_results(given: Any) -> None:
    if not isinstance(given, int):
        raise ValueError(f"Expected requested number of results to be a int, got {given}")
    if given <= 0:
        raise TypeError(f"Number of requested results {given}, cannot be negative, or zero.")

# SPDX-License-Identifier: Apache-2.0
"""Filters as expressions, printed as the JSON of docs/filters.md:

    (K("lang") == "en") & (K("year").between(2000, 2020) | ~K("draft").exists())

`K.DOCUMENT` and `K.ID` are the document and the id. Everything that takes `where` or `where_document` takes these or dictionaries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Union

Scalar = Union[str, int, float, bool]


class Filter:
    """A clause; `&`, `|` and `~` join."""

    __slots__ = ("_given", "_text")

    def __init__(self, clause: Mapping[str, Any]) -> None:
        self._given: dict[str, Any] | None = dict(clause)
        self._text = ""

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Filter:
        """A filter that is a dictionary already; whether it is one, the library says."""
        if not isinstance(data, dict):
            raise TypeError(f"Expected dict for Where, got {type(data).__name__}")
        return Filter(data)

    @staticmethod
    def from_json(text: str) -> Filter:
        """As from_dict of JSON, of any depth."""
        made = Filter({})
        made._given, made._text = None, text
        return made

    @property
    def _clause(self) -> dict[str, Any]:
        return dict(json.loads(self._text)) if self._given is None else self._given

    def to_dict(self) -> dict[str, Any]:
        return self._clause

    def to_json(self) -> str:
        if self._given is None:
            return self._text
        return json.dumps(self._given, separators=(",", ":"), ensure_ascii=False)

    def _joined(self, operator: str, other: Filter) -> Filter:
        if not isinstance(other, Filter):
            return NotImplemented
        left = self._clause[operator] if list(self._clause) == [operator] else [self._clause]
        right = other._clause[operator] if list(other._clause) == [operator] else [other._clause]
        return Filter({operator: [*left, *right]})

    def __and__(self, other: Filter) -> Filter:
        return self._joined("$and", other)

    def __or__(self, other: Filter) -> Filter:
        return self._joined("$or", other)

    def __invert__(self) -> Filter:
        return Filter({"$not": self._clause})

    def __bool__(self) -> bool:
        raise TypeError("a filter is neither true nor false: join filters by &, | and ~")

    def __repr__(self) -> str:
        return f"Filter({self._clause!r})"


class Key:
    """A metadata key, or a path of nested metadata such as "$/size/width", or one of Key.DOCUMENT, Key.ID and Key.URI; of a Search also Key.EMBEDDING, Key.METADATA and Key.SCORE."""

    __slots__ = ("name",)

    DOCUMENT: ClassVar[Key]
    ID: ClassVar[Key]
    URI: ClassVar[Key]
    EMBEDDING: ClassVar[Key]
    METADATA: ClassVar[Key]
    SCORE: ClassVar[Key]

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"expected a key of type str, got {type(name).__name__}")
        self.name = name

    def _clause(self, operator: str, operand: Any) -> Filter:
        return Filter({self.name: {operator: operand}})

    def __eq__(self, value: object) -> Filter:  # type: ignore[override]
        return self._clause("$eq", value)

    def __ne__(self, value: object) -> Filter:  # type: ignore[override]
        return self._clause("$ne", value)

    def __hash__(self) -> int:
        return hash(self.name)

    def __gt__(self, value: float) -> Filter:
        return self._clause("$gt", value)

    def __ge__(self, value: float) -> Filter:
        return self._clause("$gte", value)

    def __lt__(self, value: float) -> Filter:
        return self._clause("$lt", value)

    def __le__(self, value: float) -> Filter:
        return self._clause("$lte", value)

    def is_in(self, values: Sequence[Scalar]) -> Filter:
        return self._clause("$in", list(values))

    def not_in(self, values: Sequence[Scalar]) -> Filter:
        return self._clause("$nin", list(values))

    def contains(self, value: Scalar) -> Filter:
        """An element of a list; of K.DOCUMENT a part of the text."""
        return self._clause("$contains", value)

    def not_contains(self, value: Scalar) -> Filter:
        return self._clause("$not_contains", value)

    def regex(self, pattern: str) -> Filter:
        return self._clause("$regex", pattern)

    def not_regex(self, pattern: str) -> Filter:
        return self._clause("$not_regex", pattern)

    def between(self, low: Scalar, high: Scalar) -> Filter:
        """Both ends included."""
        return self._clause("$between", [low, high])

    def prefix(self, text: str) -> Filter:
        return self._clause("$prefix", text)

    def equals_ignoring_case(self, text: str) -> Filter:
        return self._clause("$ieq", text)

    def prefix_ignoring_case(self, text: str) -> Filter:
        return self._clause("$iprefix", text)

    def contains_ignoring_case(self, text: str) -> Filter:
        return self._clause("$icontains", text)

    def exists(self, there: bool = True) -> Filter:
        return self._clause("$exists", there)


Key.DOCUMENT = Key("#document")
Key.ID = Key("#id")
Key.URI = Key("chroma:uri")
Key.EMBEDDING = Key("#embedding")
Key.METADATA = Key("#metadata")
Key.SCORE = Key("#score")
K = Key


def _check_keys(value: Any) -> None:
    """The encoder would make texts of other keys."""
    left, seen = [value], set()
    while left:
        one = left.pop()
        if id(one) in seen:  # an object that holds itself is for the encoder to refuse
            continue
        seen.add(id(one))
        if isinstance(one, dict):
            for key, inner in one.items():
                if not isinstance(key, str):
                    raise ValueError(f"Expected where key to be a str, got {key}")
                if isinstance(inner, (dict, list)):
                    left.append(inner)
        elif isinstance(one, list):
            left += [inner for inner in one if isinstance(inner, (dict, list))]


def filter_json(given: Filter | Mapping[str, Any] | None) -> str | None:
    """What the library is given."""
    if given is None:
        return None
    if isinstance(given, Filter):
        return given.to_json()
    if not isinstance(given, dict):
        raise ValueError(f"Expected where to be a dict, got {given}")
    _check_keys(given)
    try:
        return json.dumps(given, ensure_ascii=False)
    except RecursionError:
        raise ValueError("where is nested more deeply than Python's encoder goes; Filter.from_json takes any depth") from None

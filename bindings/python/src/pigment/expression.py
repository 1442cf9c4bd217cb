# SPDX-License-Identifier: Apache-2.0
"""Chroma's Search as expressions, which Collection.search runs (ranking.py):

    Search().where(K("year") < 2020).rank(Knn([0.1, 0.2]) * 0.8 + Knn("a text") * 0.2).limit(10).select(K.DOCUMENT, K.SCORE, "title")

A rank gives records numbers, the lower the better. What prints as JSON prints Chroma's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Union

import numpy as np

from .filters import Filter, Key

Number = Union[int, float]
OneOrManyKeys = Union[Key, str, list[Union[Key, str]]]


class Rank:
    """Ranks join by + - * /, with numbers too, and by max, min, abs, exp and log."""

    def to_dict(self) -> dict[str, Any]:
        raise NotImplementedError(f"{type(self).__name__} does not define to_dict")

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Rank:
        """Of what to_dict gives."""
        if not isinstance(data, dict):
            raise TypeError(f"Expected dict for Rank, got {type(data).__name__}")
        if len(data) != 1:
            raise ValueError(f"Rank dict must contain exactly one operator, got {len(data)}" if data else "Rank dict cannot be empty")
        (operator, given), = data.items()
        if operator not in _READERS:
            raise ValueError(f"Unknown rank operator: {operator}")
        return _READERS[operator](operator, given)

    def __add__(self, other: Rank | Number) -> Sum:
        return Sum(_flat(Sum, self, other))

    def __radd__(self, other: Number) -> Sum:
        return _rank(other) + self

    def __mul__(self, other: Rank | Number) -> Mul:
        return Mul(_flat(Mul, self, other))

    def __rmul__(self, other: Number) -> Mul:
        return _rank(other) * self

    def __sub__(self, other: Rank | Number) -> Sub:
        return Sub(self, _rank(other))

    def __rsub__(self, other: Number) -> Sub:
        return Sub(_rank(other), self)

    def __truediv__(self, other: Rank | Number) -> Div:
        return Div(self, _rank(other))

    def __rtruediv__(self, other: Number) -> Div:
        return Div(_rank(other), self)

    def __neg__(self) -> Mul:
        return Mul([Val(-1), self])

    def __abs__(self) -> Abs:
        return Abs(self)

    def abs(self) -> Abs:
        return Abs(self)

    def exp(self) -> Exp:
        return Exp(self)

    def log(self) -> Log:
        """The natural logarithm."""
        return Log(self)

    def max(self, other: Rank | Number) -> Max:
        return Max(_flat(Max, self, other))

    def min(self, other: Rank | Number) -> Min:
        return Min(_flat(Min, self, other))


def _rank(given: Any) -> Rank:
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        return Val(given)
    if not isinstance(given, Rank):
        raise TypeError(f"expected a rank or a number, got {type(given).__name__}")
    return given


def _flat(kind: type, *given: Any) -> list[Rank]:
    """(a + b) + c has three parts."""
    return [part for one in map(_rank, given) for part in (one.ranks if isinstance(one, _Many) and type(one) is kind else [one])]


@dataclass
class Val(Rank):
    """The same for every record."""

    value: Number

    def to_dict(self) -> dict[str, Any]:
        return {"$val": self.value}


@dataclass
class Knn(Rank):
    """The distances of the `limit` records nearest to a vector or, by the collection's embedding function, to a text; all of the nearest are found. `default` is what other records have: without
    it a record that is not among the nearest has no rank. `return_rank`: 0, 1, 2 … in place of distances."""

    query: Any
    key: Key | str = Key.EMBEDDING
    limit: int = 16
    default: float | None = None
    return_rank: bool = False

    def to_dict(self) -> dict[str, Any]:
        query = self.query.tolist() if isinstance(self.query, np.ndarray) else self.query
        return {"$knn": {"query": query, "key": key_name(self.key), **_candidates(self)}}


@dataclass
class Text(Rank):
    """Beyond Chroma: the `limit` best documents of search_text, whose scores are negative here, for the lower is the better."""

    query: str
    limit: int = 16
    default: float | None = None
    return_rank: bool = False

    def to_dict(self) -> dict[str, Any]:
        return {"$text": {"query": self.query, **_candidates(self)}}


def _candidates(rank: Knn | Text) -> dict[str, Any]:
    return {"limit": rank.limit, **({} if rank.default is None else {"default": rank.default}), **({"return_rank": True} if rank.return_rank else {})}


@dataclass
class _One(Rank):
    rank: Rank
    operator: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        return {self.operator: self.rank.to_dict()}


class Abs(_One):
    operator = "$abs"


class Exp(_One):
    operator = "$exp"


class Log(_One):
    operator = "$log"


@dataclass
class _Two(Rank):
    left: Rank
    right: Rank
    operator: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        return {self.operator: {"left": self.left.to_dict(), "right": self.right.to_dict()}}


class Sub(_Two):
    operator = "$sub"


class Div(_Two):
    operator = "$div"


@dataclass
class _Many(Rank):
    ranks: list[Rank]
    operator: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        return {self.operator: [rank.to_dict() for rank in self.ranks]}


class Sum(_Many):
    operator = "$sum"


class Mul(_Many):
    operator = "$mul"


class Max(_Many):
    operator = "$max"


class Min(_Many):
    operator = "$min"


@dataclass
class Rrf(Rank):
    """Reciprocal rank fusion, -sum(weight / (k + rank)): give ranks with return_rank, and a `default` where a record of one list alone is to count."""

    ranks: list[Rank]
    k: int = 60
    weights: list[float] | None = None
    normalize: bool = False

    def expanded(self) -> Rank:
        if not self.ranks:
            raise ValueError("RRF requires at least one rank")
        if self.k <= 0:
            raise ValueError(f"k must be positive, got {self.k}")
        weights = self.weights or [1.0] * len(self.ranks)
        if len(weights) != len(self.ranks):
            raise ValueError(f"Number of weights ({len(weights)}) must match number of ranks ({len(self.ranks)})")
        if any(weight < 0.0 for weight in weights):
            raise ValueError("All weights must be non-negative")
        if self.normalize:
            whole = sum(weights)
            if whole == 0:
                raise ValueError("Sum of weights must be positive when normalize=True")
            weights = [weight / whole for weight in weights]
        terms: list[Rank] = [weight / (self.k + rank) for weight, rank in zip(weights, self.ranks)]
        return -(terms[0] if len(terms) == 1 else Sum(terms))

    def to_dict(self) -> dict[str, Any]:
        return self.expanded().to_dict()


def _read_one(kind: type[_One]) -> Callable[[str, Any], Rank]:
    return lambda operator, given: kind(Rank.from_dict(given))


def _read_two(kind: type[_Two]) -> Callable[[str, Any], Rank]:
    def read(operator: str, given: Any) -> Rank:
        if not isinstance(given, dict):
            raise TypeError(f"{operator} requires a dict with 'left' and 'right', got {type(given).__name__}")
        if "left" not in given or "right" not in given:
            raise ValueError(f"{operator} requires 'left' and 'right' fields")
        return kind(Rank.from_dict(given["left"]), Rank.from_dict(given["right"]))

    return read


def _read_many(kind: type[_Many]) -> Callable[[str, Any], Rank]:
    def read(operator: str, given: Any) -> Rank:
        if not isinstance(given, (list, tuple)):
            raise TypeError(f"{operator} requires a list, got {type(given).__name__}")
        if len(given) < 2:
            raise ValueError(f"{operator} requires at least 2 ranks, got {len(given)}")
        return kind(_flat(kind, *map(Rank.from_dict, given)))

    return read


def _read_val(operator: str, given: Any) -> Rank:
    if not isinstance(given, (int, float)):
        raise TypeError(f"{operator} requires a number, got {type(given).__name__}")
    return Val(given)


def _read_candidates(kind: Any) -> Callable[[str, Any], Rank]:
    def read(operator: str, given: Any) -> Rank:
        if not isinstance(given, dict):
            raise TypeError(f"{operator} requires a dict, got {type(given).__name__}")
        if "query" not in given:
            raise ValueError(f"{operator} requires 'query' field")
        limit = given.get("limit", 16)
        if not isinstance(limit, int):
            raise TypeError(f"{operator} limit must be an integer, got {type(limit).__name__}")
        if limit <= 0:
            raise ValueError(f"{operator} limit must be positive, got {limit}")
        made: Rank = kind(**given)
        return made

    return read


_READERS: dict[str, Callable[[str, Any], Rank]] = {
    "$val": _read_val, "$knn": _read_candidates(Knn), "$text": _read_candidates(Text),
    **{kind.operator: _read_one(kind) for kind in (Abs, Exp, Log)},
    **{kind.operator: _read_two(kind) for kind in (Sub, Div)},
    **{kind.operator: _read_many(kind) for kind in (Sum, Mul, Max, Min)},
}


def key_name(key: Key | str) -> str:
    return key.name if isinstance(key, Key) else key


def key_names(keys: Any) -> list[str]:
    listed = [keys] if isinstance(keys, (Key, str)) else list(keys)
    return list(dict.fromkeys(map(key_name, listed)))


@dataclass
class Limit:
    """Which of the records in order: `limit` of them behind the first `offset`."""

    offset: int = 0
    limit: int | None = None

    def to_dict(self) -> dict[str, Any]:
        return {"offset": self.offset, **({} if self.limit is None else {"limit": self.limit})}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Limit:
        if not isinstance(data, dict):
            raise TypeError(f"Expected dict for Limit, got {type(data).__name__}")
        offset, limit = data.get("offset", 0), data.get("limit")
        for name, value in (("offset", offset), *((("limit", limit),) if limit is not None else ())):
            if not isinstance(value, int):
                raise TypeError(f"Limit {name} must be an integer, got {type(value).__name__}")
        if offset < 0:
            raise ValueError(f"Limit offset must be non-negative, got {offset}")
        if limit is not None and limit <= 0:
            raise ValueError(f"Limit limit must be positive, got {limit}")
        if set(data) - {"offset", "limit"}:
            raise ValueError(f"Unexpected keys in Limit dict: {set(data) - {'offset', 'limit'}}")
        return Limit(offset, limit)


@dataclass
class Select:
    """What comes with the ids: K.DOCUMENT, K.EMBEDDING, K.SCORE, K.METADATA (all of it) or names of metadata keys."""

    keys: Iterable[Key | str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return {"keys": key_names(self.keys)}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Select:
        if not isinstance(data, dict):
            raise TypeError(f"Expected dict for Select, got {type(data).__name__}")
        keys = data.get("keys", [])
        if not isinstance(keys, (list, tuple, set)):
            raise TypeError(f"Select keys must be a list/tuple/set, got {type(keys).__name__}")
        for key in keys:
            if not isinstance(key, str):
                raise TypeError(f"Select key must be a string, got {type(key).__name__}")
        if set(data) - {"keys"}:
            raise ValueError(f"Unexpected keys in Select dict: {set(data) - {'keys'}}")
        return Select(list(keys))


@dataclass
class Aggregate:
    """Which `k` records of a group are kept: the first by these keys, of metadata or K.SCORE."""

    keys: OneOrManyKeys
    k: int
    operator: ClassVar[str] = ""

    def to_dict(self) -> dict[str, Any]:
        return {self.operator: {"keys": key_names(self.keys), "k": self.k}}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Aggregate:
        if not isinstance(data, dict):
            raise TypeError(f"Expected dict for Aggregate, got {type(data).__name__}")
        if len(data) != 1:
            raise ValueError(f"Aggregate dict must contain exactly one operator, got {len(data)}" if data else "Aggregate dict cannot be empty")
        (operator, given), = data.items()
        if operator not in ("$min_k", "$max_k"):
            raise ValueError(f"Unknown aggregate operator: {operator}")
        if not isinstance(given, dict):
            raise TypeError(f"{operator} requires a dict, got {type(given).__name__}")
        for name in ("keys", "k"):
            if name not in given:
                raise ValueError(f"{operator} requires '{name}' field")
        if not isinstance(given["keys"], (list, tuple)):
            raise TypeError(f"{operator} keys must be a list, got {type(given['keys']).__name__}")
        if not given["keys"]:
            raise ValueError(f"{operator} keys cannot be empty")
        if not isinstance(given["k"], int):
            raise TypeError(f"{operator} k must be an integer, got {type(given['k']).__name__}")
        if given["k"] <= 0:
            raise ValueError(f"{operator} k must be positive, got {given['k']}")
        return (MinK if operator == "$min_k" else MaxK)(list(given["keys"]), given["k"])


class MinK(Aggregate):
    operator = "$min_k"


class MaxK(Aggregate):
    operator = "$max_k"


@dataclass
class GroupBy:
    """Records with the same values of these metadata keys are a group, and so are those without."""

    keys: OneOrManyKeys = field(default_factory=list)
    aggregate: Aggregate | None = None

    def to_dict(self) -> dict[str, Any]:
        names = key_names(self.keys)
        return {"keys": names, "aggregate": self.aggregate.to_dict()} if names and self.aggregate is not None else {}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> GroupBy:
        if not isinstance(data, dict):
            raise TypeError(f"Expected dict for GroupBy, got {type(data).__name__}")
        if not data:
            return GroupBy()
        for name in ("keys", "aggregate"):
            if name not in data:
                raise ValueError(f"GroupBy requires '{name}' field")
        if not isinstance(data["keys"], (list, tuple)):
            raise TypeError(f"GroupBy keys must be a list, got {type(data['keys']).__name__}")
        if not data["keys"]:
            raise ValueError("GroupBy keys cannot be empty")
        if not isinstance(data["aggregate"], dict):
            raise TypeError(f"GroupBy aggregate must be a dict, got {type(data['aggregate']).__name__}")
        return GroupBy(list(data["keys"]), Aggregate.from_dict(data["aggregate"]))


class Search:
    """What Collection.search is to do. Each call gives another Search; without limit all records come, without rank in the order in which they were inserted."""

    def __init__(self, where: Filter | Mapping[str, Any] | None = None, rank: Rank | Mapping[str, Any] | None = None,
                 group_by: GroupBy | Mapping[str, Any] | None = None, limit: Limit | Mapping[str, Any] | int | None = None,
                 select: Select | Mapping[str, Any] | list[str] | set[str] | None = None) -> None:
        self._where = where if where is None or isinstance(where, Filter) else _given("where", where, "Where object, dict")
        self._rank = None if rank is None else rank if isinstance(rank, Rank) else Rank.from_dict(_given("rank", rank, "Rank object, dict"))
        self._group_by = (GroupBy() if group_by is None else group_by if isinstance(group_by, GroupBy)
                          else GroupBy.from_dict(_given("group_by", group_by, "GroupBy object, dict")))
        self._limit = (Limit() if limit is None else limit if isinstance(limit, Limit)
                       else Limit.from_dict({"limit": limit} if isinstance(limit, int) else _given("limit", limit, "Limit object, dict, int")))
        self._select = (Select() if select is None else select if isinstance(select, Select)
                        else Select.from_dict({"keys": list(select)} if isinstance(select, (list, set)) else _given("select", select, "Select object, dict, list, set")))

    def to_dict(self) -> dict[str, Any]:
        return {"filter": self._where.to_dict() if isinstance(self._where, Filter) else self._where,
                "rank": None if self._rank is None else self._rank.to_dict(), "group_by": self._group_by.to_dict(),
                "limit": self._limit.to_dict(), "select": self._select.to_dict()}

    def _changed(self, **changed: Any) -> Search:
        return Search(**{"where": self._where, "rank": self._rank, "group_by": self._group_by, "limit": self._limit, "select": self._select, **changed})

    def where(self, where: Filter | Mapping[str, Any] | None) -> Search:
        return self._changed(where=where)

    def rank(self, rank_expr: Rank | Mapping[str, Any] | None) -> Search:
        return self._changed(rank=rank_expr)

    def group_by(self, group_by: GroupBy | Mapping[str, Any] | None) -> Search:
        return self._changed(group_by=group_by)

    def limit(self, limit: int, offset: int = 0) -> Search:
        return self._changed(limit=Limit(offset=offset, limit=limit))

    def select(self, *keys: Key | str) -> Search:
        return self._changed(select=Select(list(keys)))

    def select_all(self) -> Search:
        """The document, the vector, all metadata and the score."""
        return self._changed(select=Select([Key.DOCUMENT, Key.EMBEDDING, Key.METADATA, Key.SCORE]))


def _given(name: str, value: Any, kinds: str) -> Any:
    if not isinstance(value, dict):
        raise TypeError(f"{name} must be a {kinds}, or None, got {type(value).__name__}")
    return value

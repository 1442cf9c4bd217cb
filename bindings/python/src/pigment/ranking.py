# SPDX-License-Identifier: Apache-2.0
"""How Collection.search answers: the candidates of each Knn and Text by the library, exactly, and what an expression makes of their numbers here, in float32 as Chroma does.

A rank is known for some records, and others may have a default. Where two ranks are joined, a record counts that both know, or that one knows while the other has a default."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .errors import InvalidArgumentError, UnimplementedError
from .expression import Abs, Div, Exp, Knn, Log, Max, Min, MinK, Mul, Rank, Rrf, Search, Sub, Sum, Text, Val, key_name, key_names
from .results import SearchResult

if TYPE_CHECKING:
    from .collection import Collection

Floats = npt.NDArray[np.float32]
EMBEDDING, DOCUMENT, METADATA, SCORE, ID = "#embedding", "#document", "#metadata", "#score", "#id"
_FLOAT_MAX = np.finfo(np.float32).max


def search(collection: Collection, searches: list[Search]) -> SearchResult:
    answers = [_Answer(collection, one) for one in searches]
    return SearchResult({
        "ids": [one.ids for one in answers], "documents": [one.documents for one in answers], "embeddings": [one.embeddings for one in answers],
        "metadatas": [one.metadatas for one in answers], "scores": [one.scores for one in answers], "select": [one.selected for one in answers]})


class _Answer:
    def __init__(self, collection: Collection, search: Search) -> None:
        if not isinstance(search, Search):
            raise TypeError(f"expected a Search, got {type(search).__name__}")
        self.collection, self.search = collection, search
        self.selected = key_names(search._select.keys)
        for key in self.selected:
            if key.startswith("#") and key not in (ID, DOCUMENT, EMBEDDING, METADATA, SCORE):
                raise InvalidArgumentError(f"select: there is no {key}")
        self.fields = [key for key in self.selected if not key.startswith("#")]
        self.include = [name for key, name in ((DOCUMENT, "documents"), (EMBEDDING, "embeddings")) if key in self.selected]
        if METADATA in self.selected or self.fields:
            self.include.append("metadatas")
        limit = search._limit
        if not isinstance(limit.offset, int) or limit.offset < 0 or not (limit.limit is None or (isinstance(limit.limit, int) and limit.limit > 0)):
            raise InvalidArgumentError(f"limit: expected a limit above 0 and an offset of 0 or above, got {limit.limit} and {limit.offset}")
        grouped = bool(search._group_by.to_dict())
        if search._rank is None:
            if grouped:
                raise InvalidArgumentError("group_by: needs a rank")
            page = collection.get(where=search._where, limit=limit.limit, offset=limit.offset, include=self.include)
            self._take(page, range(len(page["ids"])), None)
            return
        ids, scores, metadatas = self._ranked(search._rank, grouped)
        order = np.argsort(scores, kind="stable")  # of equal ones the order of insertion
        if grouped:
            order = _grouped(order, scores, metadatas, search._group_by)
        end = None if limit.limit is None else limit.offset + limit.limit
        order = order[limit.offset:end]
        wanted = [ids[row] for row in order]
        page = collection.get(ids=wanted, include=self.include) if wanted else collection.get(limit=0, include=self.include)
        places = {id: place for place, id in enumerate(page["ids"])}
        there = [row for row in order if ids[row] in places]  # all, but for those that were deleted meanwhile
        self._take(page, [places[ids[row]] for row in there], [float(scores[row]) for row in there])

    def _take(self, page: Any, places: Any, scores: list[float] | None) -> None:
        self.ids: list[str] = [page["ids"][place] for place in places]
        self.documents = [page["documents"][place] for place in places] if DOCUMENT in self.selected else None
        self.embeddings = page["embeddings"][list(places)] if EMBEDDING in self.selected and self.ids else [] if EMBEDDING in self.selected else None
        self.metadatas = [self._metadata(page["metadatas"][place]) for place in places] if "metadatas" in self.include else None
        self.scores = scores if SCORE in self.selected else None

    def _metadata(self, whole: dict[str, Any] | None) -> dict[str, Any] | None:
        if whole is None or METADATA in self.selected:
            return whole
        return {key: value for key, value in whole.items() if key in self.fields} or None

    def _ranked(self, rank: Rank, grouped: bool) -> tuple[list[str], Floats, list[Any]]:
        """Ids in the order of their insertion, their ranks, and their metadata where that is needed."""
        leaves = _leaves(rank)
        found = [self._candidates(leaf) for leaf in leaves]
        known = list(dict.fromkeys(id for ids, _ in found for id in ids))
        if not known:
            return [], np.empty(0, np.float32), []
        page = self.collection.get(ids=known, include=["metadatas"] if grouped else [])
        places = {id: place for place, id in enumerate(page["ids"])}
        domains = {id(leaf): _of_candidates(leaf, ids, numbers, places) for leaf, (ids, numbers) in zip(leaves, found)}
        with np.errstate(all="ignore"):  # log(-1) is not a number, and comes last
            domain = _evaluated(rank, domains, len(places))
        rows = np.flatnonzero(domain.known)
        metadatas = [page["metadatas"][row] for row in rows] if grouped else []
        return [page["ids"][row] for row in rows], domain.values[rows], metadatas

    def _candidates(self, leaf: Knn | Text) -> tuple[list[str], Floats]:
        if not isinstance(leaf.limit, int) or leaf.limit <= 0:
            raise InvalidArgumentError(f"rank: expected a limit above 0, got {leaf.limit!r}")
        where = self.search._where
        if isinstance(leaf, Text):
            ranked = self.collection.search_text(leaf.query, n_results=leaf.limit, where=where, include=[])
            return ranked["ids"][0], -ranked.arrays["scores"].astype(np.float32)
        if key_name(leaf.key) != EMBEDDING:
            raise UnimplementedError(f"rank: there are vectors at {EMBEDDING} alone, none at {key_name(leaf.key)!r}: sparse vectors are not supported")
        given = {"query_texts": [leaf.query]} if isinstance(leaf.query, str) else {"query_embeddings": [leaf.query]}
        nearest = self.collection.query(**given, n_results=leaf.limit, where=where, include=["distances"], recall=1.0)
        return nearest["ids"][0], nearest.arrays["distances"].astype(np.float32)


def _leaves(rank: Rank) -> list[Knn | Text]:
    if isinstance(rank, (Knn, Text)):
        return [rank]
    return [leaf for part in _parts(rank) for leaf in _leaves(part)]


def _parts(rank: Rank) -> list[Rank]:
    if isinstance(rank, Rrf):
        return [rank.expanded()]
    return getattr(rank, "ranks", None) or [part for part in (getattr(rank, name, None) for name in ("rank", "left", "right")) if part is not None]


@dataclass
class _Domain:
    """For each record whether its rank is known, and what it is; `default` is that of all others."""

    known: npt.NDArray[np.bool_]
    values: Floats
    default: np.float32 | None


def _of_candidates(leaf: Knn | Text, ids: list[str], numbers: Floats, places: dict[str, int]) -> _Domain:
    known, values = np.zeros(len(places), bool), np.zeros(len(places), np.float32)
    for position, (id, number) in enumerate(zip(ids, numbers)):
        if id in places:
            known[places[id]], values[places[id]] = True, position if leaf.return_rank else number
    return _Domain(known, values, None if leaf.default is None else np.float32(leaf.default))


_OF_TWO: dict[type, Callable[[Any, Any], Any]] = {Sub: np.subtract, Div: np.divide}
_OF_MANY: dict[type, tuple[Any, Callable[[Any, Any], Any]]] = {
    Sum: (0, np.add), Mul: (1, np.multiply), Max: (-_FLOAT_MAX, np.fmax), Min: (_FLOAT_MAX, np.fmin)}
_OF_ONE: dict[type, Callable[[Any], Any]] = {Abs: np.abs, Exp: np.exp, Log: np.log}


def _evaluated(rank: Rank, domains: dict[int, _Domain], count: int) -> _Domain:
    def flat(value: Any) -> _Domain:
        return _Domain(np.zeros(count, bool), np.zeros(count, np.float32), np.float32(value))

    if isinstance(rank, (Knn, Text)):
        return domains[id(rank)]
    if isinstance(rank, Val):
        return flat(rank.value)
    if isinstance(rank, Rrf):
        return _evaluated(rank.expanded(), domains, count)
    if isinstance(rank, (Abs, Exp, Log)):
        inner, function = _evaluated(rank.rank, domains, count), _OF_ONE[type(rank)]
        return _Domain(inner.known, function(inner.values), None if inner.default is None else function(inner.default))
    if isinstance(rank, (Sub, Div)):
        return _joined(_evaluated(rank.left, domains, count), _evaluated(rank.right, domains, count), _OF_TWO[type(rank)])
    if isinstance(rank, (Sum, Mul, Max, Min)):
        begin, join = _OF_MANY[type(rank)]
        made = flat(begin)
        for part in rank.ranks:
            made = _joined(made, _evaluated(part, domains, count), join)
        return made
    raise TypeError(f"expected a rank, got {type(rank).__name__}")


def _joined(left: _Domain, right: _Domain, join: Callable[[Any, Any], Any]) -> _Domain:
    if left.default is not None and right.default is not None:
        known = left.known | right.known
    elif left.default is not None:
        known = right.known
    elif right.default is not None:
        known = left.known
    else:
        known = left.known & right.known
    values = join(_filled(left), _filled(right))
    default = join(left.default, right.default) if left.default is not None and right.default is not None else None
    return _Domain(known, values, default)


def _filled(domain: _Domain) -> Floats:
    return domain.values if domain.default is None else np.where(domain.known, domain.values, domain.default)


def _grouped(order: Any, scores: Floats, metadatas: list[Any], group_by: Any) -> Any:
    """The rows that their groups keep, in the same order."""
    names, aggregate = key_names(group_by.keys), group_by.aggregate
    within = key_names(aggregate.keys)
    for key in [*names, *within]:
        if key.startswith("#") and not (key == SCORE and key in within and key not in names):
            raise InvalidArgumentError(f"group_by: takes keys of metadata, and aggregates {SCORE} too, got {key}")
    if not isinstance(aggregate.k, int) or aggregate.k <= 0:
        raise InvalidArgumentError(f"group_by: expected k above 0, got {aggregate.k!r}")

    def values(row: int, keys: list[str]) -> tuple[Any, ...]:
        return tuple(_ordered(float(scores[row]) if key == SCORE else (metadatas[row] or {}).get(key)) for key in keys)

    groups: dict[Any, list[int]] = {}
    for row in order:
        groups.setdefault(values(row, names), []).append(row)
    kept = set()
    for rows in groups.values():
        kept.update(sorted(rows, key=lambda row: values(row, within), reverse=not isinstance(aggregate, MinK))[:aggregate.k])
    return [row for row in order if row in kept]


def _ordered(value: Any) -> tuple[Any, ...]:
    """Values of all types in one order: none, bools, integers, floats, texts, lists. 1 and 1.0 are two."""
    if isinstance(value, list):
        return (5, *(_ordered(one) for one in value))
    return ({type(None): 0, bool: 1, int: 2, float: 3, str: 4}[type(value)], value if value is not None else 0)

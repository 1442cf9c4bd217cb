# SPDX-License-Identifier: Apache-2.0
"""Answers: Chroma's dictionaries, which know more than their keys. A result belongs to one thread at a time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from . import _core

if TYPE_CHECKING:
    import pandas
    import pyarrow


class ArrowStreamExportable(Protocol):
    """What has a stream of Arrow's, in the protocol that libraries share."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


_TEXTS = ("ids", "documents", "metadatas", "uris", "highlights")


class Result(dict[str, Any]):
    """A dictionary with Chroma's keys, in Chroma's order; a column that was not asked for is None.

    `arrays` has the numbers as NumPy arrays without a copy: they are read-only and keep the answer's memory alive."""

    __slots__ = ("__weakref__", "_result")

    _result: _core.Result
    _nested: ClassVar[bool] = False

    @property
    def position(self) -> int:
        """The log position that the answer saw."""
        return self._result.position

    @property
    def explain(self) -> dict[str, Any] | None:
        """Stages with rows and nanoseconds, when the call asked for them."""
        text = self._result.explain
        return None if text is None else dict(json.loads(text))

    @property
    def cursor(self) -> str | None:
        """Of a get that its limit ended: where the next get goes on."""
        return self._result.cursor

    @property
    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """distances, scores and embeddings as far as they are included, rows of all queries one after another, and query_offsets."""
        made = {}
        for name in ("query_offsets", "distances", "scores", "embeddings"):
            view = self._result.array(name)
            if view is not None:
                made[name] = np.asarray(memoryview(view))
        return made

    def _queries(self) -> npt.NDArray[np.int64]:
        """For each row the number of its query."""
        offsets = np.asarray(memoryview(_view(self._result.array("query_offsets")))).astype(np.int64)
        return np.repeat(np.arange(len(offsets) - 1), offsets[1:] - offsets[:-1])

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """For libraries that read Arrow's streams: a batch of a get, one for each query of a query; nothing but the queries' numbers is copied."""
        return self._result.__arrow_c_stream__(requested_schema)

    @property
    def arrow(self) -> ArrowStreamExportable:
        """The rows for libraries that would take the answer for a dictionary: polars.DataFrame(answer.arrow), duckdb.from_arrow(answer.arrow)."""
        return self._result

    def to_arrow(self) -> pyarrow.Table:
        """A row for each record: id, and what is included; of a query also the number of the query. Texts and numbers are not copied. Needs pyarrow."""
        import pyarrow as pa

        return pa.table(self.arrow)

    def to_pandas(self) -> pandas.DataFrame:
        """As to_arrow; metadata as dictionaries. Needs pandas."""
        import pandas as pd

        columns: dict[str, Any] = {}
        if self._nested:
            columns["query"] = self._queries()
        for name in _TEXTS:
            if (values := self._result.texts(name, False)) is not None:
                columns[_SINGULAR[name]] = values
        for name, array in self.arrays.items():
            if name != "query_offsets":
                columns[_SINGULAR[name]] = list(array) if array.ndim == 2 else array
        return pd.DataFrame(columns)


_SINGULAR = {"ids": "id", "documents": "document", "metadatas": "metadata", "uris": "uri", "highlights": "highlights",
             "distances": "distance", "scores": "score", "embeddings": "embedding"}


def _view(view: _core.View | None) -> _core.View:
    assert view is not None
    return view


class GetResult(Result):
    """Of get and peek: lists with an entry for each record; embeddings as a matrix of float32."""

    __slots__ = ()


class QueryResult(Result):
    """Of query: lists with a list for each query."""

    __slots__ = ()

    _nested = True


class TextSearchResult(QueryResult):
    """Of search_text: a QueryResult with `scores`, and `highlights` when asked for, in place of distances."""

    __slots__ = ()


class SearchResult(dict[str, Any]):
    """Of search: lists with an entry for each Search; one that did not select a column has None there."""

    def rows(self) -> list[list[dict[str, Any]]]:
        """For each Search its records: id, and document, embedding, metadata and score as far as they were selected and are there."""
        names = (("document", "documents"), ("embedding", "embeddings"), ("metadata", "metadatas"), ("score", "scores"))
        made = []
        for number, ids in enumerate(self["ids"]):
            columns = {name: self[column][number] for name, column in names if self[column][number] is not None}
            made.append([{"id": id, **{name: column[row] for name, column in columns.items() if column[row] is not None}} for row, id in enumerate(ids)])
        return made


def get_result(result: _core.Result, included: list[str]) -> GetResult:
    texts = result.texts
    made = GetResult({
        "ids": texts("ids", False), "embeddings": None, "documents": texts("documents", False), "uris": texts("uris", False),
        "included": included, "data": None, "metadatas": texts("metadatas", False)})
    made._result = result
    if "embeddings" in included:
        made["embeddings"] = _matrix(result)
    return made


def query_result(result: _core.Result, included: list[str]) -> QueryResult:
    texts = result.texts
    made = QueryResult({
        "ids": texts("ids", True), "embeddings": None, "documents": texts("documents", True), "uris": texts("uris", True),
        "included": included, "data": None, "metadatas": texts("metadatas", True), "distances": result.numbers("distances", True)})
    made._result = result
    if "embeddings" in included:
        made["embeddings"] = _matrices(result)
    return made


def text_search_result(result: _core.Result, included: list[str], highlights: bool) -> TextSearchResult:
    texts = result.texts
    made = TextSearchResult({
        "ids": texts("ids", True), "embeddings": None, "documents": texts("documents", True), "uris": texts("uris", True),
        "included": included, "data": None, "metadatas": texts("metadatas", True), "scores": result.numbers("scores", True)})
    made._result = result
    if "embeddings" in included:
        made["embeddings"] = _matrices(result)
    if highlights:
        made["highlights"] = texts("highlights", True)
    return made


def _matrix(result: _core.Result) -> npt.NDArray[np.float32]:
    view = result.array("embeddings")
    if view is None:
        return np.empty((0, 0), np.float32)
    return np.asarray(memoryview(view))


def _matrices(result: _core.Result) -> list[npt.NDArray[np.float32]]:
    matrix, offsets = _matrix(result), memoryview(_view(result.array("query_offsets"))).tolist()
    return [matrix[begin:end] for begin, end in zip(offsets, offsets[1:])]

# SPDX-License-Identifier: Apache-2.0
"""Chroma's Collection, and what Chroma has not. Any thread."""

from __future__ import annotations

import ctypes
import enum
import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, TypeVar, Union, cast
from uuid import UUID

from . import _core, ranking, validate
from . import _declarations as c
from ._library import Column, Handle, _options, call, call_json, integer, interruptible, name_text, text
from .embedding import Registration, as_matrix, stored_function, stored_name
from .errors import ChromaError, InvalidArgumentError
from .expression import Search
from .filters import Filter, filter_json
from .results import (
    ArrowStreamExportable, GetResult, QueryResult, SearchResult, TextSearchResult, get_result, query_result, text_search_result,
)
from .schema import Schema, schema_of

if TYPE_CHECKING:
    from .client import Client

T = TypeVar("T")
OneOrMany = Union[T, list[T]]
Where = Union[Filter, Mapping[str, Any]]
Metadata = Mapping[str, Any]

_BITS = {"documents": 1, "metadatas": 2, "embeddings": 4, "uris": 8, "distances": 16, "data": 8}
_WRITES = {"add": _core.add, "update": _core.update, "upsert": _core.upsert}
_ARROW_WRITES = {"add": _core.add_arrow, "update": _core.update_arrow, "upsert": _core.upsert_arrow}


class ReadLevel(str, enum.Enum):
    """Chroma's: how much of what was written a read sees. Here every read sees all that is committed, so they are alike."""

    INDEX_AND_WAL = "index_and_wal"
    INDEX_ONLY = "index_only"
    INDEX_AND_BOUNDED_WAL = "index_and_bounded_wal"


class WriteResult(NamedTuple):
    """What a write did: `skipped` counts ids that add found and update did not; `position` is its place in the log."""

    inserted: int
    updated: int
    skipped: int
    deleted: int
    position: int


class Compaction(NamedTuple):
    records: int
    segments_in: int
    segments_out: int
    bytes_before: int
    bytes_after: int


def _listed(given: Any) -> Any:
    """Chroma's "one or many"."""
    return given if given is None or isinstance(given, list) else [given]


def _bits(include: Any) -> int:
    if not isinstance(include, list):
        raise ValueError(f"Expected include to be a list, got {include}")
    bits = 0
    for name in include:
        if name not in _BITS:
            validate.include(include)
        bits |= _BITS[name]
    return bits or int(c.Include.NOTHING)


def compaction(name: str, handle: Handle) -> Compaction:
    result = c.Compaction(struct_size=ctypes.sizeof(c.Compaction))
    with interruptible() as options:
        call(name, handle.address, options, ctypes.byref(result))
    return Compaction(result.records, result.segments_in, result.segments_out, result.bytes_before, result.bytes_after)


class Collection:
    """Made by a client. `metadata`, `name` and `configuration` are as they were when it was got or modified here last."""

    def __init__(self, client: Client, handle: Handle, model: dict[str, Any], function: Any, data_loader: Any) -> None:
        self._client, self._handle, self._model = client, handle, model
        self._embedding_function, self._data_loader = function, data_loader

    # ---- What it is

    @property
    def id(self) -> UUID:
        return UUID(self._model["id"])

    @property
    def name(self) -> str:
        return str(self._model["name"])

    @property
    def metadata(self) -> dict[str, Any] | None:
        return cast("dict[str, Any] | None", self._model["metadata"])

    @property
    def tenant(self) -> str:
        return str(self._model["tenant"])

    @property
    def database(self) -> str:
        return str(self._model["database"])

    @property
    def configuration_json(self) -> dict[str, Any]:
        """As stored: hnsw, spann and the embedding function's name and config."""
        given, function = self._model["configuration"], self._model["embedding_function"]
        known = None if function is None else {"type": "known", "name": function["name"], "config": function["config"]}
        return {"hnsw": None, "spann": None, **given, "embedding_function": known}

    @property
    def configuration(self) -> dict[str, Any]:
        """As stored, with the embedding function itself."""
        return {**self.configuration_json, "embedding_function": self._embedding_function}

    @property
    def schema(self) -> Schema:
        """What is indexed, also where the collection was made without one; describe() has what it was made with."""
        return schema_of(self._model, self._embedding_function)

    def get_model(self) -> dict[str, Any]:
        return dict(self._model)

    def describe(self) -> dict[str, Any]:
        """id, name, tenant, database, metadata, configuration, schema, embedding_function and dimension as they are now."""
        return described(self._handle)

    def __repr__(self) -> str:
        return f"Collection(name={self.name})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Collection):
            return NotImplemented
        return self._model == other._model and self._client is other._client

    __hash__ = None  # type: ignore[assignment]

    # ---- Writing

    def add(self, ids: OneOrMany[str], embeddings: Any = None, metadatas: OneOrMany[Metadata] | None = None,
            documents: OneOrMany[str] | None = None, images: Any = None, uris: OneOrMany[str] | None = None) -> None:
        """Inserts records; those whose id exists are left as they are."""
        self.write("add", ids, embeddings, metadatas, documents, images, uris)

    def update(self, ids: OneOrMany[str], embeddings: Any = None, metadatas: OneOrMany[Metadata] | None = None,
               documents: OneOrMany[str] | None = None, images: Any = None, uris: OneOrMany[str] | None = None) -> None:
        """Changes records; ids that do not exist are skipped. Metadata merges by key, objects in it too, and None deletes a key."""
        self.write("update", ids, embeddings, metadatas, documents, images, uris)

    def upsert(self, ids: OneOrMany[str], embeddings: Any = None, metadatas: OneOrMany[Metadata] | None = None,
               documents: OneOrMany[str] | None = None, images: Any = None, uris: OneOrMany[str] | None = None) -> None:
        """Changes the records that exist and inserts the others."""
        self.write("upsert", ids, embeddings, metadatas, documents, images, uris)

    def write(self, operation: Literal["add", "update", "upsert"], ids: OneOrMany[str], embeddings: Any = None,
              metadatas: OneOrMany[Metadata] | None = None, documents: OneOrMany[str] | None = None, images: Any = None,
              uris: OneOrMany[str] | None = None) -> WriteResult:
        """add, update or upsert, telling what it did. A batch is atomic."""
        options = _options.get()
        try:
            vectors = self._to_write(operation, embeddings, documents, images, uris)
            return WriteResult(*_WRITES[operation](
                self._handle.address, _listed(ids), vectors, _listed(documents), _listed(metadatas), _listed(uris),
                options.values if options is not None else None))
        except Exception as error:
            validate.refuse(operation, error,
                            lambda: self._check_records(operation, ids, embeddings, metadatas, documents, images, uris))

    def add_arrow(self, data: ArrowStreamExportable) -> WriteResult:
        """add of anything with __arrow_c_stream__: a table or reader of pyarrow, a DataFrame of polars or pandas, a relation of DuckDB, an answer of get.

        Columns by name: id, embedding, document, uri, and metadata, JSON text or a struct. Each batch is written as a whole; an error names its batch, and those before are written."""
        return self._write_arrow("add", data)

    def update_arrow(self, data: ArrowStreamExportable) -> WriteResult:
        """update, of what add_arrow takes."""
        return self._write_arrow("update", data)

    def upsert_arrow(self, data: ArrowStreamExportable) -> WriteResult:
        """upsert, of what add_arrow takes."""
        return self._write_arrow("upsert", data)

    def _write_arrow(self, operation: str, data: ArrowStreamExportable) -> WriteResult:
        if not hasattr(data, "__arrow_c_stream__"):
            raise TypeError(f"expected an object with __arrow_c_stream__, such as a table, got {type(data).__name__}")
        options = _options.get()
        return WriteResult(*_ARROW_WRITES[operation](self._handle.address, data.__arrow_c_stream__(),
                                                     options.values if options is not None else None))

    def _to_write(self, operation: str, embeddings: Any, documents: Any, images: Any, uris: Any) -> Any:
        """The vectors; documents alone are embedded by the library's call back."""
        if embeddings is not None:
            return as_matrix(embeddings)
        if images is not None and documents is None:
            return self._embedded(_listed(images), False)
        if uris is not None and documents is None and images is None and operation == "add" and self._data_loader is not None:
            return self._embedded(self._loaded(_listed(uris)), False)
        return None

    def _check_records(self, operation: str, ids: Any, embeddings: Any, metadatas: Any, documents: Any, images: Any, uris: Any) -> None:
        if embeddings is not None:
            validate.embeddings(embeddings)
        try:
            count = None if embeddings is None else range(len(as_matrix(embeddings)))
        except InvalidArgumentError:
            return  # of unequal rows, which is for the library to say
        validate.lengths({"ids": _listed(ids), "metadatas": _listed(metadatas), "embeddings": count,
                          "documents": _listed(documents), "images": _listed(images), "uris": _listed(uris)})
        if documents is not None:
            validate.documents(_listed(documents), may_be_none=embeddings is not None)
        validate.ids(_listed(ids))
        if metadatas is not None:
            nested = self._model["configuration"].get("nested_metadata", False)
            validate.metadatas(_listed(metadatas), none_deletes=operation != "add", nested=nested)
        if embeddings is None and operation != "update":
            if operation == "add" and uris is not None and documents is None and images is None:
                self._loaded(_listed(uris))
            if (documents is None) == (images is None):
                raise ValueError(f"Exactly one of images, documents{', uris' if operation == 'add' else ''} must be provided")

    def _embedded(self, given: Any, is_query: bool) -> Any:
        """Of what only Python can embed: images, and what a data loader loads."""
        function = self._embedding_function
        if function is None:
            raise ValueError("You must provide an embedding function to compute embeddings."
                             "https://docs.trychroma.com/guides/embeddings")
        embed = getattr(function, "embed_query", function) if is_query else function
        answer = embed(input=given)
        return as_matrix(answer if not isinstance(answer, tuple) else list(answer))

    def _loaded(self, uris: list[str]) -> Any:
        if self._data_loader is None:
            raise ValueError("You must set a data loader on the collection if loading from URIs.")
        return self._data_loader(uris=uris)

    def delete(self, ids: OneOrMany[str] | None = None, where: Where | None = None, where_document: Where | None = None,
               limit: int | None = None) -> dict[str, int]:
        """Deletes the records that are in ids (when given) and match the filters (when given); at least one must be given."""
        options = _options.get()
        try:
            counts = _core.delete(self._handle.address, _listed(ids), filter_json(where), filter_json(where_document), limit,
                                  options.values if options is not None else None)
            return {"deleted": counts[3]}
        except Exception as error:
            validate.refuse("delete", error, lambda: self._check_delete(ids, where, where_document, limit))

    def _check_delete(self, ids: Any, where: Any, where_document: Any, limit: Any) -> None:
        if ids is None and where is None and where_document is None:
            raise ValueError("At least one of ids, where, or where_document must be provided")
        if limit is not None:
            if not isinstance(limit, int) or isinstance(limit, bool):
                raise TypeError("limit must be a non-negative integer")
            if limit < 0:
                raise ValueError("limit must be a non-negative integer")
            if where is None and where_document is None:
                raise ValueError("limit can only be specified when a where or where_document clause is provided")
        if ids is not None:
            validate.ids(_listed(ids))
        validate.where(where)
        validate.where_document(where_document)

    # ---- Reading

    def get(self, ids: OneOrMany[str] | None = None, where: Where | None = None, limit: int | None = None, offset: int | None = None,
            where_document: Where | None = None, include: list[str] = ["metadatas", "documents"], *,
            order_by: str | list[Any] | None = None, cursor: str | None = None, explain: bool = False) -> GetResult:
        """Records in the order of their insertion, or as order_by says: a key, or a list of keys and of (key, "desc")."""
        options = _options.get()
        try:
            if "data" in include and self._data_loader is None:
                raise ValueError("no data loader")  # in Chroma's words below
            result = _core.get(self._handle.address, _listed(ids), filter_json(where), filter_json(where_document), limit, offset or 0,
                               _bits(include), explain, _order_json(order_by), cursor,
                               options.values if options is not None else None)
        except Exception as error:
            validate.refuse("get", error, lambda: self._check_get(ids, where, where_document, include))
        made = get_result(result, include)
        if "data" in include:
            self._load_data(made)
        return made

    def _load_data(self, made: Any) -> None:
        """As Chroma, which gives the uris beside what was loaded."""
        uris = made["uris"]
        if self._data_loader is not None:
            nested = isinstance(made, QueryResult)
            made["data"] = [self._data_loader(uris=one) for one in uris] if nested else self._data_loader(uris=uris)
        if "uris" not in made["included"]:
            made["included"] = [*made["included"], "uris"]

    def _check_get(self, ids: Any, where: Any, where_document: Any, include: Any) -> None:
        self._check_read(ids, where, where_document, include, ("distances",))
        if "data" in include and self._data_loader is None:
            raise ValueError("You must set a data loader on the collection if loading from URIs.")

    def _check_read(self, ids: Any, where: Any, where_document: Any, include: Any, refused: tuple[str, ...] = ()) -> None:
        if ids is not None:
            validate.ids(_listed(ids))
        validate.where(where)
        validate.where_document(where_document)
        validate.include(include, refused)

    def iterate(self, batch_size: int = 1000, where: Where | None = None, where_document: Where | None = None,
                include: list[str] = ["metadatas", "documents"], order_by: str | list[Any] | None = None) -> Iterator[GetResult]:
        """All records that match, in batches. Whatever is written meanwhile, no record comes twice and none is passed over, unless an update
        changes what order_by looks at."""
        cursor: str | None = None
        while True:
            batch = self.get(where=where, where_document=where_document, limit=batch_size, include=include, order_by=order_by,
                             cursor=cursor)
            cursor = batch.cursor
            if batch["ids"]:
                yield batch
            if cursor is None:
                return

    def peek(self, limit: int = 10) -> GetResult:
        """The first records, with documents, metadatas and embeddings."""
        options = _options.get()
        result = _core.peek(self._handle.address, limit, options.values if options is not None else None)
        return get_result(result, ["metadatas", "documents", "embeddings"])

    def query(self, query_embeddings: Any = None, query_texts: OneOrMany[str] | None = None, query_images: Any = None,
              query_uris: OneOrMany[str] | None = None, ids: OneOrMany[str] | None = None, n_results: int = 10,
              where: Where | None = None, where_document: Where | None = None,
              include: list[str] = ["metadatas", "documents", "distances"], *, max_distance: float | None = None,
              recall: float = 0.0, search_width: int = 0, threads: int = 0, explain: bool = False) -> QueryResult:
        """For each query the nearest records, ascending by distance. `recall` is the part of them that is to be found on average: 0 is the
        default, 0.98; 1 means all. `max_distance` leaves out what is farther."""
        options = _options.get()
        try:
            if query_embeddings is not None:
                vectors, texts = as_matrix(query_embeddings), None
            else:
                vectors, texts = self._to_query(query_texts, query_images, query_uris)
            result = _core.query(
                self._handle.address, vectors, texts, n_results, None if ids is None else _listed(ids),
                None if where is None else filter_json(where), None if where_document is None else filter_json(where_document),
                _bits(include), explain, recall, search_width, max_distance, threads, options.values if options is not None else None)
        except Exception as error:
            others = query_images if query_images is not None else query_uris
            validate.refuse("query", error, lambda: self._check_query(
                query_embeddings, query_texts, others, where, where_document, include, n_results))
        made = query_result(result, include)
        if "data" in include:
            self._load_data(made)
        return made

    def _to_query(self, texts: Any, images: Any, uris: Any) -> tuple[Any, Any]:
        if texts is not None:
            return None, _listed(texts)
        if images is not None:
            return self._embedded(_listed(images), True), None
        if uris is not None:
            return self._embedded(self._loaded(_listed(uris)), True), None
        return None, None

    def _check_query(self, embeddings: Any, texts: Any, others: Any, where: Any, where_document: Any, include: Any, n_results: Any) -> None:
        if embeddings is not None:
            validate.embeddings(embeddings)
        elif texts is not None:
            validate.documents(_listed(texts), may_be_none=False)
        elif others is None:
            raise ValueError("At least one of one of embeddings, documents, images, uris must be provided")
        validate.where(where)
        validate.where_document(where_document)
        validate.include(include)
        validate.n_results(n_results)

    def search_text(self, queries: OneOrMany[str], n_results: int = 10, ids: OneOrMany[str] | None = None, where: Where | None = None,
                    where_document: Where | None = None, include: list[str] = ["metadatas", "documents"], *,
                    operator: Literal["any", "all"] = "any", highlights: bool = False, explain: bool = False) -> TextSearchResult:
        """For each query (words, "phrases", prefix*, +required) the documents that match, by BM25, the best first. The collection needs a text
        index, by its configuration={"text_index": {…}} or its schema: docs/text-search.md."""
        options = _options.get()
        if operator not in ("any", "all"):
            raise ValueError(f'expected operator "any" or "all", got {operator!r}')
        try:
            result = _core.search_text(
                self._handle.address, _listed(queries), n_results, _listed(ids), filter_json(where), filter_json(where_document),
                int(c.TextOperator.ALL if operator == "all" else c.TextOperator.ANY), _bits(include), highlights,
                explain, options.values if options is not None else None)
        except Exception as error:
            validate.refuse("search_text", error, lambda: self._check_query(
                None, queries, None, where, where_document, include, n_results))
        return text_search_result(result, include, highlights)

    def count(self, read_level: ReadLevel = ReadLevel.INDEX_AND_WAL, *, ids: OneOrMany[str] | None = None, where: Where | None = None,
              where_document: Where | None = None) -> int:
        """How many records there are, or are in ids and match. All that is committed is counted, whatever the read level."""
        counted = ctypes.c_uint64()
        try:
            if ids is None and where is None and where_document is None:
                with interruptible() as options:
                    call("pigment_collection_count", self._handle.address, options, ctypes.byref(counted))
                return counted.value
            request = c.CountRequest(struct_size=ctypes.sizeof(c.CountRequest))
            kept = self._select(request, ids, where, where_document)
            with interruptible() as options:
                call("pigment_collection_count_where", self._handle.address, ctypes.byref(request), options, ctypes.byref(counted))
            del kept
            return counted.value
        except Exception as error:
            validate.refuse("count", error, lambda: self._check_read(ids, where, where_document, []))

    def _select(self, request: Any, ids: Any, where: Any, where_document: Any) -> Any:
        """Fills the part of a request that all reads have; what is returned must live as long as the call."""
        column = Column(_listed(ids))
        request.ids, request.ids_count = column.column, column.count
        request.where_json, request.where_json_size = text(filter_json(where))
        request.where_document_json, request.where_document_json_size = text(filter_json(where_document))
        return column

    def facets(self, keys: OneOrMany[str], ids: OneOrMany[str] | None = None, where: Where | None = None,
               where_document: Where | None = None, limit: int | None = None) -> dict[str, list[dict[str, Any]]]:
        """How many of the records have each value of the keys: {key: [{"value", "count"}, ..]}, the most frequent first. Exact."""
        request = c.FacetsRequest(struct_size=ctypes.sizeof(c.FacetsRequest))
        try:
            columns = Column(_listed(keys)), self._select(request, ids, where, where_document)
            request.keys, request.keys_count = columns[0].column, columns[0].count
            request.has_limit, request.limit = limit is not None, 0 if limit is None else integer("limit", limit)
            with interruptible() as options:
                return dict(call_json("pigment_collection_facets", self._handle.address, ctypes.byref(request), options))
        except Exception as error:
            validate.refuse("facets", error, lambda: self._check_read(ids, where, where_document, []))

    def contains(self, ids: OneOrMany[str]) -> list[bool]:
        """Which of the ids are there; reads no record."""
        column = Column(_listed(ids))
        present = (ctypes.c_uint8 * max(column.count, 1))()
        with interruptible() as options:
            call("pigment_collection_contains", self._handle.address, column.count, ctypes.byref(column.column), options, present)
        return [bool(one) for one in present[:column.count]]

    # ---- The collection itself

    def modify(self, name: str | None = None, metadata: Metadata | None = None, configuration: Mapping[str, Any] | None = None) -> None:
        """A new name, metadata (which replaces the old) or configuration (which merges)."""
        options = c.ModifyOptions(struct_size=ctypes.sizeof(c.ModifyOptions))
        options.name, options.name_size = text(name)
        options.metadata_json, options.metadata_json_size = text(metadata_json(metadata))
        options.configuration_json, options.configuration_json_size = text(self._changed_configuration(configuration))
        try:
            call("pigment_collection_modify", self._handle.address, ctypes.byref(options))
        except ChromaError as error:
            validate.refuse("", error, lambda: self._check_modified(metadata, configuration))
        self._model = described(self._handle)

    def _check_modified(self, metadata: Any, configuration: Any) -> None:
        validate.changed_metadata(metadata)
        has = "hnsw" if self._model["configuration"].get("hnsw") is not None else "spann"
        for other in {"hnsw", "spann"} - {has}:
            if configuration is not None and configuration.get(other) is not None:
                raise ValueError(f"Trying to update {other.upper()} config but schema has {has.upper()}")

    def _changed_configuration(self, configuration: Mapping[str, Any] | None) -> str | None:
        if configuration is None:
            return None
        wanted = dict(configuration)
        function = wanted.pop("embedding_function", None)
        if function is not None and stored_name(function) != (self._model["embedding_function"] or {}).get("name"):
            raise ValueError("Cannot update embedding function: incompatible types")
        return json.dumps(wanted) if wanted else None

    def fork(self, new_name: str) -> Collection:
        """A new collection with the same records; segments are shared, later writes are not."""
        address = ctypes.c_void_p()
        call("pigment_collection_fork", self._handle.address, *name_text(new_name), ctypes.byref(address))
        forked = Handle("collection", address.value)
        return open_collection(self._client, forked, self._embedding_function, self._data_loader)

    def flush(self) -> None:
        """Writes what is in the tail into a segment."""
        with interruptible() as options:
            call("pigment_collection_flush_with", self._handle.address, options)

    def compact(self) -> Compaction:
        """Merges segments as far as that saves anything, and gives their disk space back."""
        return compaction("pigment_collection_compact", self._handle)

    def segments(self) -> list[dict[str, Any]]:
        """kind, rows, live_rows and bytes of each; what was written since the last flush is in none."""
        return list(call_json("pigment_collection_segments", self._handle.address))

    def search(self, searches: Search | list[Search], read_level: ReadLevel = ReadLevel.INDEX_AND_WAL) -> SearchResult:
        """Chroma's Search, which its embedded client has not: ranks made of the distances to several vectors and texts, groups, and what of each record is wanted. Exact. Each
        Search reads the collection a few times, so one that writers change meanwhile may be seen between their writes."""
        return ranking.search(self, searches if isinstance(searches, list) else [searches])

    # ---- What Chroma's embedded client refuses too

    def get_indexing_status(self) -> Any:
        raise NotImplementedError("there is no indexing status: what is written is found at once; segments() has the state")

    def fork_count(self) -> int:
        raise NotImplementedError("forks are not counted")

    def attach_function(self, function: Any, name: str, output_collection: str, params: dict[str, Any] | None = None) -> NoReturn:
        raise NotImplementedError("there are no attached functions")

    def get_attached_function(self, name: str) -> NoReturn:
        raise NotImplementedError("there are no attached functions")

    def detach_function(self, name: str, delete_output_collection: bool = False) -> NoReturn:
        raise NotImplementedError("there are no attached functions")


def _order_json(order_by: Any) -> str | None:
    if order_by is None:
        return None
    made = []
    for one in [order_by] if isinstance(order_by, (str, tuple, dict)) else order_by:
        if isinstance(one, dict):
            made.append(one)
        elif isinstance(one, str):
            made.append({"key": one, "descending": False})
        elif isinstance(one, tuple) and len(one) == 2 and one[1] in ("asc", "desc"):
            made.append({"key": one[0], "descending": one[1] == "desc"})
        else:
            raise ValueError(f'order_by: expected a key or (key, "asc" or "desc"), got {one!r}')
    return json.dumps(made)


def described(handle: Handle) -> dict[str, Any]:
    return dict(call_json("pigment_collection_describe", handle.address))


def metadata_json(metadata: Any) -> str | None:
    """Of a collection; the encoder would make texts of keys that are none."""
    if metadata is None:
        return None
    if not isinstance(metadata, dict) or not all(isinstance(key, str) for key in metadata):
        raise TypeError("argument 'metadata': expected a dict with keys of type str")
    return json.dumps(metadata)


def open_collection(client: Client, handle: Handle, function: Any, data_loader: Any) -> Collection:
    """The collection of a handle that has no function, with this one (or None). ValueError where it is another than the stored one."""
    model = described(handle)
    if function is None:
        return Collection(client, handle, model, None, data_loader)
    stored = model["embedding_function"]
    name = stored_name(function) or (stored["name"] if stored is not None else "unnamed")
    address = ctypes.c_void_p()
    try:
        with Registration(function, name) as registration:
            call("pigment_client_get_collection_by_id", client._store.address, *text(model["id"]), ctypes.byref(registration.struct),
                 ctypes.byref(address))
            registration.keep()
    except ChromaError as error:
        validate.refuse("", error, lambda: conflict(stored, name))
    return Collection(client, Handle("collection", address.value), model, function, data_loader)


def conflict(stored: dict[str, Any] | None, name: str) -> None:
    """Raises what Chroma raises when a function is not the stored one."""
    if stored is not None and name not in ("default", stored["name"]):
        raise ValueError("An embedding function already exists in the collection configuration, and a new one is provided. If this is "
                         "intentional, please embed documents separately. Embedding function conflict: "
                         f"new: {name} vs persisted: {stored['name']}")


def function_for(model: dict[str, Any], given: Any, not_given: Any) -> Any:
    """Which function a collection that exists gets."""
    stored = model["embedding_function"]
    if given is not_given or (stored is not None and stored["name"] != "default" and given is not None and stored_name(given) == "default"):
        return stored_function(stored, model["dimension"])  # the default never conflicts, and is never taken in place of another
    return given

# SPDX-License-Identifier: Apache-2.0
"""Pigment, an embedded search engine for AI applications, under Chroma's names: `import pigment as chromadb`.

    client = pigment.PersistentClient("./store")
    docs = client.get_or_create_collection("docs", embedding_function=pigment.LexicalEmbeddingFunction())
    docs.add(ids=["a"], documents=["a red fish"])
    docs.query(query_texts=["fish"], n_results=1)

What Chroma has and this has not raises NotImplementedError; docs/from-chroma.md lists it."""

from __future__ import annotations

import copy
import importlib
import os
import pkgutil
import sys
from collections.abc import Mapping
from typing import Any, NoReturn

from . import api, config, errors, execution, types, utils
from ._declarations import ABI_VERSION
from ._library import CancelToken, Progress, build_info, call_options, check, limits, repair, status_name, version
from .aio import AsyncClient, AsyncCollection, AsyncEphemeralClient, AsyncPersistentClient
from .api import AdminAPI, AsyncClientAPI, ClientAPI
from .api.types import (
    CollectionMetadata, Document, Documents, Embedding, Embeddings, ID, IDs, Include, Metadata, Metadatas, URI, URIs,
    UpdateCollectionMetadata, UpdateMetadata, Where, WhereDocument,
)
from .client import AdminClient as _AdminClient
from .client import Client as _Client
from .collection import Collection, Compaction, ReadLevel, WriteResult
from .config import DEFAULT_DATABASE, DEFAULT_TENANT, Settings
from .embedding import (
    DataLoader, DefaultEmbeddingFunction, EmbeddingFunction, LexicalEmbeddingFunction, SentenceTransformerEmbeddingFunction,
    register_embedding_function,
)
from .expression import Knn, Rrf, Search
from .filters import Filter, K, Key
from .results import GetResult, QueryResult, SearchResult, TextSearchResult
from .schema import (
    BoolInvertedIndexConfig, FloatInvertedIndexConfig, FtsIndexConfig, HnswIndexConfig, IntInvertedIndexConfig, Schema, SpannIndexConfig,
    SparseVectorIndexConfig, StringInvertedIndexConfig, VectorIndexConfig,
)

__version__ = version()

__all__ = [
    "ABI_VERSION", "AdminAPI", "AdminClient", "AsyncClient", "AsyncClientAPI", "AsyncCollection", "AsyncEphemeralClient", "AsyncHttpClient",
    "AsyncPersistentClient", "BoolInvertedIndexConfig", "CancelToken", "Client", "ClientAPI", "CloudClient", "Collection", "CollectionMetadata",
    "Compaction", "DEFAULT_DATABASE", "DEFAULT_TENANT", "DataLoader", "DefaultEmbeddingFunction", "Document", "Documents", "Embedding",
    "EmbeddingFunction", "Embeddings", "EphemeralClient", "Filter", "FloatInvertedIndexConfig", "FtsIndexConfig", "GetResult", "HnswIndexConfig",
    "HttpClient", "ID", "IDs", "Include", "IntInvertedIndexConfig", "K", "Key", "Knn", "LexicalEmbeddingFunction", "Metadata", "Metadatas",
    "PersistentClient", "Progress", "QueryResult", "ReadLevel", "Rrf", "Schema", "Search", "SearchResult", "SentenceTransformerEmbeddingFunction", "Settings",
    "SpannIndexConfig", "SparseVectorIndexConfig", "StringInvertedIndexConfig", "TextSearchResult", "URI", "URIs", "UpdateCollectionMetadata",
    "UpdateMetadata", "VectorIndexConfig", "Where", "WhereDocument", "WriteResult", "__version__", "api", "build_info", "call_options", "check",
    "config", "configure", "errors", "execution", "from_env", "get_settings", "limits", "register_embedding_function", "repair",
    "stand_in_for_chromadb", "status_name", "types", "utils", "version",
]

_settings = Settings()


def configure(**settings: Any) -> None:
    """The settings that Client() has when it is given none."""
    global _settings
    _settings = Settings(**settings)


def get_settings() -> Settings:
    return _settings


def Client(settings: Settings | None = None, tenant: str = DEFAULT_TENANT, database: str = DEFAULT_DATABASE) -> _Client:
    """In memory, unless the settings say is_persistent."""
    return _Client(str(tenant), str(database), settings if settings is not None else _settings)


def EphemeralClient(settings: Settings | None = None, tenant: str = DEFAULT_TENANT, database: str = DEFAULT_DATABASE) -> _Client:
    """In memory. As in Chroma, the clients in memory of a process share one store, until each is closed."""
    wanted = copy.copy(settings) if settings is not None else Settings()
    wanted.is_persistent = False
    return _Client(str(tenant), str(database), wanted)


def PersistentClient(path: str | os.PathLike[str] = "./chroma", settings: Settings | None = None, tenant: str = DEFAULT_TENANT,
                     database: str = DEFAULT_DATABASE) -> _Client:
    """In a directory, which is made where it is missing."""
    wanted = copy.copy(settings) if settings is not None else Settings()
    wanted.is_persistent, wanted.persist_directory = True, os.fsdecode(path)
    return _Client(str(tenant), str(database), wanted)


def AdminClient(settings: Settings | None = None) -> _AdminClient:
    """Tenants and databases of the store that the settings name."""
    return _AdminClient(settings if settings is not None else Settings())


def _no_server(what: str) -> NoReturn:
    raise NotImplementedError(f"{what}: pigment is a library and speaks to no server. PersistentClient(path) opens a directory in this "
                              "process; a store that many processes share is PostgreSQL with the extension pigment (docs/sql.md)")


def HttpClient(*_: Any, **__: Any) -> NoReturn:
    """Raises NotImplementedError."""
    _no_server("HttpClient")


def CloudClient(*_: Any, **__: Any) -> NoReturn:
    """Raises NotImplementedError."""
    _no_server("CloudClient")


async def AsyncHttpClient(*_: Any, **__: Any) -> NoReturn:
    """Raises NotImplementedError; AsyncPersistentClient and AsyncEphemeralClient are there."""
    _no_server("AsyncHttpClient")


def from_env(environment: Mapping[str, str] | None = None) -> _Client:
    """A client as environment variables say: PIGMENT_PATH (a directory; unset or ":memory:": in memory), PIGMENT_TENANT, PIGMENT_DATABASE, and
    each setting of Settings as PIGMENT_ and its name in capitals (PIGMENT_SYNC_MODE=interval, PIGMENT_READ_ONLY=1). Empty is as unset. The
    library itself reads no environment."""
    given = os.environ if environment is None else environment
    settings: dict[str, Any] = {}
    for name, default in Settings._OWN.items():
        text = given.get(f"PIGMENT_{name.upper()}")
        if text and name not in ("is_persistent", "persist_directory"):
            settings[name] = _of_text(f"PIGMENT_{name.upper()}", text, default)
    path = given.get("PIGMENT_PATH")
    tenant, database = given.get("PIGMENT_TENANT") or DEFAULT_TENANT, given.get("PIGMENT_DATABASE") or DEFAULT_DATABASE
    if path and path != ":memory:":
        return PersistentClient(path, Settings(**settings), tenant, database)
    return EphemeralClient(Settings(**settings), tenant, database)


def _of_text(variable: str, text: str, default: Any) -> Any:
    if isinstance(default, bool):
        if text.lower() not in ("0", "1", "true", "false"):
            raise ValueError(f"{variable}: expected 0, 1, true or false, got {text!r}")
        return text.lower() in ("1", "true")
    if isinstance(default, int):
        try:
            return int(text)
        except ValueError:
            raise ValueError(f"{variable}: expected an integer, got {text!r}") from None
    return text


def stand_in_for_chromadb() -> None:
    """Lets other people's code that says `import chromadb` find this package, also below it (chromadb.api.types): call it before that code is imported. RuntimeError where
    chromadb itself is imported already."""
    there = sys.modules.get("chromadb")
    if there is not None and there is not sys.modules[__name__]:
        raise RuntimeError("chromadb is imported already: call stand_in_for_chromadb() before what imports it")
    for module in pkgutil.walk_packages(__path__, __name__ + "."):
        if not module.name.rsplit(".", 1)[-1].startswith("_"):
            importlib.import_module(module.name)
    for name, loaded in list(sys.modules.items()):
        if name == __name__ or name.startswith(__name__ + "."):
            sys.modules["chromadb" + name[len(__name__):]] = loaded


_NOT_HERE = {
    **dict.fromkeys(("SparseVector", "SparseVectors", "SparseEmbeddingFunction"), "there are no sparse vectors"),
    **dict.fromkeys(("Cmek", "CmekProvider"), "there are no keys of customers: a store is as safe as the file system that it is on"),
    "RustClient": "EphemeralClient and PersistentClient are there",
    "TokenTransportHeader": "there is no server",
}


def __getattr__(name: str) -> NoReturn:
    """Names of Chroma's that are missing say what is there."""
    hint = _NOT_HERE.get(name)
    raise AttributeError(f"pigment has no {name}{': ' + hint if hint else ''}")

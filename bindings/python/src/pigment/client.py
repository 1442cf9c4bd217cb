# SPDX-License-Identifier: Apache-2.0
"""Chroma's Client and AdminClient on stores that all clients of one directory share. Any thread."""

from __future__ import annotations

import atexit
import ctypes
import json
import os
import threading
import time
import weakref
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from . import _declarations as c
from . import validate
from ._library import Handle, call, call_json, interruptible, name_text, page, path_text, text, version
from .collection import Collection, Compaction, compaction, conflict, described, function_for, metadata_json, open_collection
from .config import DEFAULT_DATABASE, DEFAULT_TENANT, Settings
from .embedding import NOT_GIVEN, Registration, stored_name, validate_embedding_function
from .errors import AuthorizationError, ChromaError, ClosedError, InvalidUUIDError
from .schema import given_schema


class Store:
    """An open store and how many clients have it open. As in Chroma, the clients of one directory share it, and so do those in memory; it closes with
    the last of them."""

    _open: dict[tuple[int, str], Store] = {}
    _lock = threading.RLock()  # a client may be collected while its thread holds it

    def __init__(self, key: tuple[int, str], settings: Settings) -> None:
        self.key, self.settings, self.clients = key, settings, 0
        options = c.OpenOptions(struct_size=ctypes.sizeof(c.OpenOptions), **settings.open_values())
        for name, value in settings.open_values().items():
            if getattr(options, name) != value:
                raise OverflowError(f"{name}: {value} is out of range")
        address = ctypes.c_void_p()
        call("pigment_client_open", *path_text(key[1]), ctypes.byref(options), ctypes.byref(address))
        self.handle = Handle("client", address.value)

    @property
    def address(self) -> int:
        return self.handle.address

    @classmethod
    def shared(cls, settings: Settings) -> Store:
        path = os.path.realpath(settings.persist_directory) if settings.is_persistent else ""
        with cls._lock:
            store = cls._open.get((os.getpid(), path))
            if store is None:
                store = cls((os.getpid(), path), settings)
                cls._open[store.key] = store
            elif store.settings.open_values() != settings.open_values() or store.settings.allow_reset != settings.allow_reset:
                raise ValueError(f"An instance of Chroma already exists for {path or 'ephemeral'} with different settings")
            store.clients += 1
            return store

    def release(self) -> None:
        """By a client that closes; errors of the last one's close are raised."""
        with self._lock:
            self.clients -= 1
            if self.clients > 0 or self.key[0] != os.getpid():
                return
            self._open.pop(self.key, None)
            call("pigment_client_close", self.address)

    def forget(self) -> None:
        """For a client that nobody closed. Stores in memory stay, as Chroma's do: the next client finds them."""
        if self.key[1]:
            try:
                self.release()
            except Exception:  # nobody is there to be told; what was acknowledged is in the log
                pass

    @classmethod
    def close_all(cls) -> None:
        """The first error is raised when all are closed; a directory that was deleted meanwhile is none."""
        failed: Exception | None = None
        with cls._lock:
            for store in [one for one in cls._open.values() if one.key[0] == os.getpid()]:
                store.clients = 1
                try:
                    store.release()
                except Exception as error:
                    if os.path.isdir(store.key[1]):
                        failed = failed or error
        if failed is not None:
            raise failed

    @classmethod
    def begin_in_child(cls) -> None:
        """After fork(): another thread of the parent may have held the lock."""
        cls._lock = threading.RLock()


atexit.register(Store.close_all)
os.register_at_fork(after_in_child=Store.begin_in_child)


class SharedSystemClient:
    """What Client and AdminClient have in common: an open store."""

    def __init__(self, settings: Settings | None = None) -> None:
        self._settings = settings if settings is not None else Settings()
        self._shared = Store.shared(self._settings)
        self._finalizer = weakref.finalize(self, Store.forget, self._shared)
        self._finalizer.atexit = False

    @property
    def _store(self) -> Store:
        if not self._finalizer.alive:
            raise ClosedError("the client is closed")
        return self._shared

    @property
    def _address(self) -> int:
        return self._store.address

    def close(self) -> None:
        """Closes the client, and with the last one of a store the store: what was written is durable then. Idempotent."""
        if self._finalizer.detach() is not None:
            self._shared.release()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get_settings(self) -> Settings:
        return self._settings

    @staticmethod
    def clear_system_cache() -> None:
        """Closes all stores of the process, those in memory too."""
        Store.close_all()

    # Tenants and databases, under Chroma's names

    def create_tenant(self, name: str) -> None:
        call("pigment_client_create_tenant", self._address, *name_text(name))

    def get_tenant(self, name: str) -> dict[str, Any]:
        return dict(call_json("pigment_client_get_tenant", self._address, *name_text(name)))

    def list_tenants(self) -> list[str]:
        return list(call_json("pigment_client_list_tenants", self._address))

    def delete_tenant(self, name: str) -> None:
        """With everything that is in it."""
        call("pigment_client_delete_tenant", self._address, *name_text(name))

    def create_database(self, name: str, tenant: str = DEFAULT_TENANT) -> None:
        call("pigment_client_create_database", self._address, *text(tenant), *name_text(name))

    def get_database(self, name: str, tenant: str = DEFAULT_TENANT) -> dict[str, Any]:
        return _database(call_json("pigment_client_get_database", self._address, *text(tenant), *name_text(name)))

    def list_databases(self, limit: int | None = None, offset: int | None = None, tenant: str = DEFAULT_TENANT) -> list[dict[str, Any]]:
        found = call_json("pigment_client_list_databases", self._address, *text(tenant), *page(limit, offset))
        return [_database(one) for one in found]

    def delete_database(self, name: str, tenant: str = DEFAULT_TENANT) -> None:
        """With everything that is in it."""
        call("pigment_client_delete_database", self._address, *text(tenant), *name_text(name))


def _database(found: dict[str, Any]) -> dict[str, Any]:
    return {"id": UUID(found["id"]), "name": found["name"], "tenant": found["tenant"]}


class AdminClient(SharedSystemClient):
    """Tenants and databases of a store."""


class Client(SharedSystemClient):
    """An open store, and the tenant and database in it that calls are about."""

    tenant: str
    database: str

    def __init__(self, tenant: str = DEFAULT_TENANT, database: str = DEFAULT_DATABASE, settings: Settings | None = None) -> None:
        super().__init__(settings)
        self.tenant, self.database = tenant, database
        try:
            self._check_names(tenant, database)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Client:
        return self

    def _check_names(self, tenant: str, database: str) -> None:
        self.get_tenant(tenant)
        self.get_database(database, tenant)

    def set_tenant(self, tenant: str, database: str = DEFAULT_DATABASE) -> None:
        self._check_names(tenant, database)
        self.tenant, self.database = tenant, database

    def set_database(self, database: str) -> None:
        self._check_names(self.tenant, database)
        self.database = database

    def _scope(self) -> Any:
        scope = c.Scope(struct_size=ctypes.sizeof(c.Scope))
        scope.tenant, scope.tenant_size = text(self.tenant)
        scope.database, scope.database_size = text(self.database)
        return ctypes.byref(scope)

    # ---- Collections

    def create_collection(self, name: str, schema: Any = None, configuration: Mapping[str, Any] | None = None,
                          metadata: Mapping[str, Any] | None = None, embedding_function: Any = NOT_GIVEN, data_loader: Any = None,
                          get_or_create: bool = False) -> Collection:
        """`configuration` as Chroma's ("hnsw" or "spann", "embedding_function"), with "text_index", "full_vectors" and "nested_metadata" beside them; `schema` a Schema (also
        chromadb's) or its JSON, whose embedding function is the collection's. embedding_function=None: the collection takes vectors alone."""
        if configuration is not None and not isinstance(configuration, Mapping):
            raise TypeError(f"argument 'configuration': expected a dict, got {configuration!r}")
        wanted = dict(configuration or {})
        embedding_function = _one_function(embedding_function, wanted.pop("embedding_function", None))
        schema, described_function = given_schema(schema)
        if described_function is None and embedding_function is NOT_GIVEN:
            embedding_function = None
        elif described_function is not None and stored_name(described_function) != "default":
            embedding_function = _one_function(embedding_function, described_function)
        if embedding_function is not None:
            validate_embedding_function(embedding_function)
        options = c.CollectionOptions(struct_size=ctypes.sizeof(c.CollectionOptions), get_or_create=get_or_create)
        options.metadata_json, options.metadata_json_size = text(metadata_json(metadata))
        options.configuration_json, options.configuration_json_size = text(json.dumps(wanted) if wanted else None)
        options.schema_json, options.schema_json_size = text(None if schema is None else json.dumps(schema))
        stored = None if embedding_function is None else stored_name(embedding_function)
        try:
            handle = self._created(name, options, embedding_function, stored)
        except ChromaError as error:
            validate.refuse("", error, lambda: self._check_created(name, wanted, metadata, stored))
        model = described(handle)
        known = model["embedding_function"]
        if (known is not None and known["name"] == stored) or embedding_function is None:
            return Collection(self, handle, model, embedding_function, data_loader)
        # It was there with another function, or with none; or this one has no name to be stored.
        return self._opened(self._named(name), embedding_function, data_loader)

    def _created(self, name: str, options: Any, function: Any, stored: str | None) -> Handle:
        address = ctypes.c_void_p()
        arguments = (self._address, self._scope(), *name_text(name), ctypes.byref(options), ctypes.byref(address))
        if stored is None:
            call("pigment_client_create_collection", *arguments)
            return Handle("collection", address.value)
        with Registration(function, stored) as registration:
            options.embedding_function = ctypes.addressof(registration.struct)
            call("pigment_client_create_collection", *arguments)
            registration.keep()
        return Handle("collection", address.value)

    def _check_created(self, name: str, configuration: dict[str, Any], metadata: Any, stored: str | None) -> None:
        if configuration.get("hnsw") is not None and configuration.get("spann") is not None:
            raise ValueError("hnsw and spann cannot both be provided")
        validate.collection_metadata(metadata)
        if stored is not None:
            conflict(described(self._named(name))["embedding_function"], stored)

    def _named(self, name: str) -> Handle:
        address = ctypes.c_void_p()
        call("pigment_client_get_collection", self._address, self._scope(), *name_text(name), None, ctypes.byref(address))
        return Handle("collection", address.value)

    def get_or_create_collection(self, name: str, schema: Any = None, configuration: Mapping[str, Any] | None = None,
                                 metadata: Mapping[str, Any] | None = None, embedding_function: Any = NOT_GIVEN,
                                 data_loader: Any = None) -> Collection:
        """An existing collection comes as it is: schema, configuration and metadata are for a new one."""
        return self.create_collection(name, schema, configuration, metadata, embedding_function, data_loader, get_or_create=True)

    def get_collection(self, name: str, embedding_function: Any = NOT_GIVEN, data_loader: Any = None) -> Collection:
        """Without a function the stored one is taken where its class is registered (register_embedding_function), else texts are refused."""
        return self._opened(self._named(name), embedding_function, data_loader)

    def get_collection_by_id(self, id: UUID | str, embedding_function: Any = NOT_GIVEN, data_loader: Any = None) -> Collection:
        address = ctypes.c_void_p()
        try:
            wanted = str(id if isinstance(id, UUID) else UUID(id))
        except (ValueError, AttributeError, TypeError):
            raise InvalidUUIDError(f"not a UUID: {id!r}") from None
        call("pigment_client_get_collection_by_id", self._address, *text(wanted), None, ctypes.byref(address))
        return self._opened(Handle("collection", address.value), embedding_function, data_loader)

    def _opened(self, handle: Handle, embedding_function: Any, data_loader: Any) -> Collection:
        if embedding_function is not None:
            validate_embedding_function(embedding_function)
        return open_collection(self, handle, function_for(described(handle), embedding_function, NOT_GIVEN), data_loader)

    def list_collections(self, limit: int | None = None, offset: int | None = None) -> list[Collection]:
        """In the order of their ids."""
        found = call_json("pigment_client_list_collections", self._address, self._scope(), *page(limit, offset))
        return [self.get_collection_by_id(one["id"]) for one in found]

    def count_collections(self) -> int:
        counted = ctypes.c_uint64()
        call("pigment_client_count_collections", self._address, self._scope(), ctypes.byref(counted))
        return counted.value

    def delete_collection(self, name: str) -> None:
        call("pigment_client_delete_collection", self._address, self._scope(), *name_text(name))

    # ---- The store

    def heartbeat(self) -> int:
        """Nanoseconds since 1970."""
        self._address  # noqa: B018: a closed client has no heart
        return time.time_ns()

    def get_version(self) -> str:
        return version()

    def get_max_batch_size(self) -> int:
        """As many records as an int counts: what a batch may hold is a matter of bytes (batch_bytes of pigment.limits())."""
        return 2**31 - 1

    @property
    def max_batch_size(self) -> int:
        return self.get_max_batch_size()

    def reset(self) -> bool:
        """Deletes everything, where the settings have allow_reset."""
        if not self._settings.allow_reset:
            raise AuthorizationError("Reset is disabled by config")
        for tenant in self.list_tenants():
            if tenant != DEFAULT_TENANT:
                self.delete_tenant(tenant)
        for database in self.list_databases():
            if database["name"] != DEFAULT_DATABASE:
                self.delete_database(database["name"])
        self.tenant, self.database = DEFAULT_TENANT, DEFAULT_DATABASE
        for found in call_json("pigment_client_list_collections", self._address, self._scope(), -1, 0):
            self.delete_collection(found["name"])
        return True

    def flush(self) -> None:
        """Writes the tails of all collections into segments."""
        with interruptible() as options:
            call("pigment_client_flush_with", self._address, options)

    def compact(self) -> Compaction:
        """Merges the segments of all collections as far as that saves anything."""
        return compaction("pigment_client_compact", self._store.handle)

    def statistics(self) -> dict[str, Any]:
        """Log, catalog, memory, maintenance, formats and migrations."""
        return dict(call_json("pigment_client_statistics", self._address))

    def backup(self, path: str | os.PathLike[str]) -> dict[str, Any]:
        """Copies the store as it is now into another directory, while writers go on."""
        with interruptible() as options:
            return dict(call_json("pigment_client_backup", self._address, *path_text(path), options))

    def check(self, full: bool = False) -> dict[str, Any]:
        """Compares everything with everything; with `full` every row is searched for by its own vector."""
        with interruptible() as options:
            return dict(call_json("pigment_client_check", self._address, full, options))

    def position(self) -> int:
        """The last visible log position."""
        position = ctypes.c_uint64()
        call("pigment_client_position", self._address, ctypes.byref(position))
        return position.value

    def refresh(self) -> int:
        """A read-only client catches up with the writer; the position that it has then."""
        position = ctypes.c_uint64()
        call("pigment_client_refresh", self._address, ctypes.byref(position))
        return position.value


def _one_function(given: Any, configured: Any) -> Any:
    """Of one that is an argument and one that is configured; the default in place of an argument says nothing."""
    if configured is None:
        return given
    if given is not None and given is not NOT_GIVEN and stored_name(given) not in ("default", stored_name(configured)):
        raise ValueError("Multiple embedding functions provided. Please provide only one. Embedding function conflict: "
                         f"{stored_name(given)} vs {stored_name(configured)}")
    return configured

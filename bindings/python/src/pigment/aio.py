# SPDX-License-Identifier: Apache-2.0
"""Twins of Client and Collection for asyncio: the same calls, awaited. Each runs in a thread of the loop's executor; when the task that awaits is cancelled, the
call is cancelled in the library too, and the task goes on with its cancellation when the call has ended."""

from __future__ import annotations

import asyncio
import functools
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Concatenate, ParamSpec, TypeVar
from uuid import UUID

from . import client as sync_client
from . import collection as sync_collection
from ._library import CancelToken, call_options, current_cancel
from .config import DEFAULT_DATABASE, DEFAULT_TENANT, Settings
from .results import GetResult
from .schema import Schema

P = ParamSpec("P")
R = TypeVar("R")


async def in_thread(function: Callable[P, R], *arguments: P.args, **keywords: P.kwargs) -> R:
    """The call in a thread, with a cancel token that the cancellation of the awaiting task sets."""
    token = current_cancel() or CancelToken()

    def run() -> R:
        with call_options(cancel=token):
            return function(*arguments, **keywords)

    running = asyncio.ensure_future(asyncio.to_thread(run))
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        token.set()
        while not running.done():
            try:
                await asyncio.wait([running])
            except asyncio.CancelledError:
                continue  # asked again; the call must end first
        if not running.cancelled():
            running.exception()  # looked at: nobody else will
        raise


Function = TypeVar("Function", bound=Callable[..., Any])


def _named(twin: Function, method: Any) -> Function:
    functools.update_wrapper(twin, method)
    return twin


def _twin(method: Callable[Concatenate[Any, P], R]) -> Callable[Concatenate[Any, P], Awaitable[R]]:
    async def call(self: Any, /, *arguments: P.args, **keywords: P.kwargs) -> R:
        return await in_thread(method, self.sync, *arguments, **keywords)

    return _named(call, method)


def _collection_twin(method: Callable[Concatenate[Any, P], sync_collection.Collection]) -> Callable[
        Concatenate[Any, P], Awaitable[AsyncCollection]]:
    async def call(self: Any, /, *arguments: P.args, **keywords: P.kwargs) -> AsyncCollection:
        return AsyncCollection(await in_thread(method, self.sync, *arguments, **keywords))

    return _named(call, method)


class AsyncCollection:
    """`sync` is the Collection."""

    def __init__(self, collection: sync_collection.Collection) -> None:
        self.sync = collection

    @property
    def id(self) -> UUID:
        return self.sync.id

    @property
    def tenant(self) -> str:
        return self.sync.tenant

    @property
    def database(self) -> str:
        return self.sync.database

    def get_model(self) -> dict[str, Any]:
        return self.sync.get_model()

    @property
    def name(self) -> str:
        return self.sync.name

    @property
    def metadata(self) -> dict[str, Any] | None:
        return self.sync.metadata

    @property
    def configuration(self) -> dict[str, Any]:
        return self.sync.configuration

    @property
    def configuration_json(self) -> dict[str, Any]:
        return self.sync.configuration_json

    @property
    def schema(self) -> Schema:
        return self.sync.schema

    def __repr__(self) -> str:
        return f"AsyncCollection(name={self.name})"

    add = _twin(sync_collection.Collection.add)
    update = _twin(sync_collection.Collection.update)
    upsert = _twin(sync_collection.Collection.upsert)
    write = _twin(sync_collection.Collection.write)
    add_arrow = _twin(sync_collection.Collection.add_arrow)
    update_arrow = _twin(sync_collection.Collection.update_arrow)
    upsert_arrow = _twin(sync_collection.Collection.upsert_arrow)
    delete = _twin(sync_collection.Collection.delete)
    get = _twin(sync_collection.Collection.get)
    peek = _twin(sync_collection.Collection.peek)
    query = _twin(sync_collection.Collection.query)
    search_text = _twin(sync_collection.Collection.search_text)
    search = _twin(sync_collection.Collection.search)
    count = _twin(sync_collection.Collection.count)
    facets = _twin(sync_collection.Collection.facets)
    contains = _twin(sync_collection.Collection.contains)
    modify = _twin(sync_collection.Collection.modify)
    flush = _twin(sync_collection.Collection.flush)
    compact = _twin(sync_collection.Collection.compact)
    segments = _twin(sync_collection.Collection.segments)
    fork_count = _twin(sync_collection.Collection.fork_count)
    get_indexing_status = _twin(sync_collection.Collection.get_indexing_status)
    fork = _collection_twin(sync_collection.Collection.fork)

    async def iterate(self, *arguments: Any, **keywords: Any) -> AsyncIterator[GetResult]:
        """As Collection.iterate."""
        batches = self.sync.iterate(*arguments, **keywords)
        while (batch := await in_thread(next, batches, None)) is not None:
            yield batch


class AsyncClient:
    """`sync` is the Client. `async with` closes it."""

    def __init__(self, client: sync_client.Client) -> None:
        self.sync = client

    @classmethod
    async def create(cls, tenant: str = DEFAULT_TENANT, database: str = DEFAULT_DATABASE, settings: Settings | None = None) -> AsyncClient:
        return cls(await in_thread(sync_client.Client, tenant, database, settings))

    @property
    def tenant(self) -> str:
        return self.sync.tenant

    @property
    def database(self) -> str:
        return self.sync.database

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    create_collection = _collection_twin(sync_client.Client.create_collection)
    get_or_create_collection = _collection_twin(sync_client.Client.get_or_create_collection)
    get_collection = _collection_twin(sync_client.Client.get_collection)
    get_collection_by_id = _collection_twin(sync_client.Client.get_collection_by_id)
    count_collections = _twin(sync_client.Client.count_collections)
    delete_collection = _twin(sync_client.Client.delete_collection)
    create_tenant = _twin(sync_client.Client.create_tenant)
    get_tenant = _twin(sync_client.Client.get_tenant)
    list_tenants = _twin(sync_client.Client.list_tenants)
    delete_tenant = _twin(sync_client.Client.delete_tenant)
    create_database = _twin(sync_client.Client.create_database)
    get_database = _twin(sync_client.Client.get_database)
    list_databases = _twin(sync_client.Client.list_databases)
    delete_database = _twin(sync_client.Client.delete_database)
    set_tenant = _twin(sync_client.Client.set_tenant)
    set_database = _twin(sync_client.Client.set_database)
    heartbeat = _twin(sync_client.Client.heartbeat)
    get_version = _twin(sync_client.Client.get_version)
    get_max_batch_size = _twin(sync_client.Client.get_max_batch_size)
    reset = _twin(sync_client.Client.reset)
    flush = _twin(sync_client.Client.flush)
    compact = _twin(sync_client.Client.compact)
    statistics = _twin(sync_client.Client.statistics)
    backup = _twin(sync_client.Client.backup)
    check = _twin(sync_client.Client.check)
    position = _twin(sync_client.Client.position)
    refresh = _twin(sync_client.Client.refresh)
    close = _twin(sync_client.Client.close)

    async def list_collections(self, limit: int | None = None, offset: int | None = None) -> list[AsyncCollection]:
        return [AsyncCollection(one) for one in await in_thread(self.sync.list_collections, limit, offset)]


async def AsyncEphemeralClient(settings: Settings | None = None, tenant: str = DEFAULT_TENANT,
                               database: str = DEFAULT_DATABASE) -> AsyncClient:
    """As EphemeralClient."""
    from . import EphemeralClient

    return AsyncClient(await in_thread(EphemeralClient, settings, tenant, database))


async def AsyncPersistentClient(path: str | os.PathLike[str] = "./chroma", settings: Settings | None = None,
                                tenant: str = DEFAULT_TENANT, database: str = DEFAULT_DATABASE) -> AsyncClient:
    """As PersistentClient."""
    from . import PersistentClient

    return AsyncClient(await in_thread(PersistentClient, path, settings, tenant, database))

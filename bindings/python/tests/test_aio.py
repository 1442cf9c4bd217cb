# SPDX-License-Identifier: Apache-2.0
"""The asyncio twins."""

import asyncio
import inspect
import tempfile
import time

import numpy as np

import pigment
from pigment import errors
from tap import raises


def test_every_call_has_its_twin():
    left = {"sync", "tenant", "database", "get_settings", "max_batch_size", "clear_system_cache"}
    for twin, plain in ((pigment.AsyncClient, pigment.client.Client), (pigment.AsyncCollection, pigment.Collection)):
        wanted = {name for name, value in inspect.getmembers(plain) if not name.startswith("_") and callable(value)} - left
        wanted -= {"attach_function", "get_attached_function", "detach_function", "describe"}
        assert wanted <= set(dir(twin)), wanted - set(dir(twin))


def test_the_twins_do_what_the_calls_do():
    async def program():
        async with await pigment.AsyncEphemeralClient() as client:
            docs = await client.create_collection("docs", embedding_function=pigment.LexicalEmbeddingFunction(16))
            await asyncio.gather(*(docs.add(ids=[str(row)], documents=[f"passage {row}"]) for row in range(20)))
            found = await docs.query(query_texts=["passage 7"], n_results=1)
            assert found["ids"] == [["7"]] and await docs.count(where_document={"$contains": "1"}) == 11
            assert [len(batch["ids"]) async for batch in docs.iterate(8)] == [8, 8, 4]
            fork = await docs.fork("fork")
            assert fork.name == "fork" and [one.name for one in await client.list_collections()] != []
            error = None
            try:
                await docs.get(ids=[])
            except ValueError as refused:
                error = refused
            assert "non-empty" in str(error)
        try:
            await docs.count()
        except errors.ClosedError:
            return
        raise AssertionError("closed, and counted")

    asyncio.run(program())
    with tempfile.TemporaryDirectory() as folder:
        async def directory():
            async with await pigment.AsyncPersistentClient(folder) as client:
                return await client.count_collections()

        assert asyncio.run(directory()) == 0
        raises(NotImplementedError, asyncio.run, pigment.AsyncHttpClient())


def test_the_cancellation_of_a_task_ends_the_call():
    async def program():
        client = await pigment.AsyncClient.create()
        docs = await client.create_collection("docs", embedding_function=None)
        draw = np.random.default_rng(1)
        for first in range(0, 30000, 10000):
            await docs.add(ids=[str(row) for row in range(first, first + 10000)], embeddings=draw.normal(size=(10000, 256)).astype(np.float32))
        task = asyncio.create_task(docs.query(query_embeddings=draw.normal(size=(20000, 256)).astype(np.float32), recall=1.0, include=[], threads=1))
        ticks = 0
        for _ in range(20):
            await asyncio.sleep(0.01)
            ticks += 1
        assert not task.done() and ticks == 20
        begin = time.monotonic()
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            pass
        else:
            raise AssertionError("not cancelled")
        assert time.monotonic() - begin < 5
        try:
            async with asyncio.timeout(0.2):
                await docs.query(query_embeddings=draw.normal(size=(20000, 256)), recall=1.0, include=[], threads=1)
        except TimeoutError:
            pass
        with pigment.call_options(timeout=0.1):
            try:
                await docs.query(query_embeddings=draw.normal(size=(20000, 256)), recall=1.0, include=[], threads=1)
                raise AssertionError("the deadline did not reach the thread")
            except errors.DeadlineExceededError:
                pass
        return await docs.count()

    assert asyncio.run(program()) == 30000

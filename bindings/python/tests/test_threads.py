# SPDX-License-Identifier: Apache-2.0
"""Threads, deadlines, Ctrl-C, fork, and what is collected when."""

import gc
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

import pigment
from pigment import errors
from tap import raises

LONG_S = 20  # far above what a call takes that is ended


def many(rows=40000, dimension=256):
    """A collection of which many exact queries take seconds."""
    docs = pigment.EphemeralClient().create_collection("docs", embedding_function=None)
    draw = np.random.default_rng(1)
    for first in range(0, rows, 10000):
        docs.add(ids=[str(row) for row in range(first, first + 10000)], embeddings=draw.normal(size=(10000, dimension)).astype(np.float32))
    return docs, draw.normal(size=(20000, dimension)).astype(np.float32)


def ask_long(docs, queries):
    return docs.query(query_embeddings=queries, recall=1.0, include=[], threads=1)


def test_a_token_a_deadline_and_ctrl_c_end_a_call():
    docs, queries = many()
    token = pigment.CancelToken()
    timer = threading.Timer(0.2, token.set)
    begin = time.monotonic()
    with pigment.call_options(cancel=token):
        timer.start()
        raises(errors.CancelledError, ask_long, docs, queries)
        assert token.is_set() and time.monotonic() - begin < LONG_S
        raises(errors.CancelledError, docs.get)  # a token stays set
        raises(errors.CancelledError, docs.count)
    assert len(docs.get(limit=3)["ids"]) == 3
    begin = time.monotonic()
    with pigment.call_options(timeout=0.2):
        error = raises(errors.DeadlineExceededError, ask_long, docs, queries)
        assert isinstance(error, TimeoutError) and 0.1 < time.monotonic() - begin < LONG_S
        with pigment.call_options(timeout=1000):  # an inner block cannot give time back
            raises(TimeoutError, docs.get)
    for wrong in ({"cancel": 1}, {"timeout": "1"}, {"timeout": float("nan")}, {"min_position": "1"}):
        raises((TypeError, ValueError), pigment.call_options(**wrong).__enter__)
    with pigment.call_options(timeout=0):
        raises(TimeoutError, docs.add, ids=["never"], embeddings=np.zeros((1, 256)))
    for _ in range(2):  # a second time: the first used the token up
        begin = time.monotonic()
        interrupt = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        interrupt.start()
        raises(KeyboardInterrupt, ask_long, docs, queries)
        assert 0.2 < time.monotonic() - begin < LONG_S
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler and docs.count() == 40000
    # In a thread that is not the main one Ctrl-C goes to the main thread, and the call goes on.
    answers = []
    thread = threading.Thread(target=lambda: answers.append(ask_long(docs, queries[:500])))
    thread.start()
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(5)
        raise AssertionError("no KeyboardInterrupt in the main thread")
    except KeyboardInterrupt:
        thread.join()
    assert len(answers[0]["ids"]) == 500
    # A handler of the program's own is the program's business.
    seen = []
    signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    try:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        assert len(ask_long(docs, queries[:1000])["ids"]) == 1000 and seen == [1]
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # And the interpreter runs while a call does: its lock is free.
    turns, done = 0, threading.Event()
    thread = threading.Thread(target=lambda: (ask_long(docs, queries[:3000]), done.set()))
    thread.start()
    while not done.is_set():
        time.sleep(0.001)
        turns += 1
    assert turns > 20, turns


def test_a_long_call_through_ctypes_ends_by_ctrl_c_too():
    with tempfile.TemporaryDirectory() as folder:
        with pigment.PersistentClient(folder + "/store", pigment.Settings(sync_mode="off")) as client:
            docs = client.create_collection("docs", embedding_function=None)
            docs.add(ids=[str(row) for row in range(20000)], embeddings=np.random.default_rng(1).normal(size=(20000, 128)))
            docs.flush()
            token = pigment.CancelToken()
            token.set()
            with pigment.call_options(cancel=token):
                for call in (client.compact, docs.compact, lambda: client.check(full=True), lambda: client.backup(folder + "/saved"), docs.count,
                             lambda: docs.facets("a"), lambda: docs.contains("1")):
                    raises(errors.CancelledError, call)
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()

            def check_for_ever():
                end = time.monotonic() + LONG_S
                while time.monotonic() < end:
                    client.check(full=True)

            raises(KeyboardInterrupt, check_for_ever)
            assert client.check()["clean"]


def test_threads_that_write_read_cancel_and_close_meet_errors_alone():
    """A storm: eight threads on a store that one of them closes; every exception is one of the library's."""
    wrong, draw = [], random.Random(5)
    for turn in range(12):
        pigment.api.client.SharedSystemClient.clear_system_cache()
        folder = tempfile.TemporaryDirectory()
        client = pigment.PersistentClient(folder.name) if turn % 2 else pigment.EphemeralClient()
        docs = client.create_collection("docs", embedding_function=pigment.LexicalEmbeddingFunction(16))
        token, acknowledged = pigment.CancelToken(), []

        def work(number):
            def write():
                docs.add(ids=[f"{number}-{time.monotonic_ns()}"], documents=["a text"])
                acknowledged.append(1)

            calls = [write, write, lambda: docs.query(query_texts=["text"]), lambda: docs.get(include=["embeddings", "documents"]).to_arrow(), docs.count,
                     lambda: docs.delete(ids=["none"]), lambda: client.create_collection(f"docs{number}", embedding_function=None),
                     lambda: client.get_collection("docs").peek(), client.list_collections, docs.flush, gc.collect]
            try:
                with pigment.call_options(cancel=token if number % 2 else None):
                    while True:
                        try:
                            draw.choice(calls)()
                        except (errors.ClosedError, errors.CancelledError):
                            return
                        except errors.UniqueConstraintError:
                            pass
            except BaseException as error:
                wrong.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        time.sleep(0.05)
        token.set()
        time.sleep(0.02)
        client.close()
        for thread in threads:
            thread.join()
        assert not wrong, wrong
        if turn % 2:
            with pigment.PersistentClient(folder.name) as client:
                assert client.get_collection("docs").count() == len(acknowledged)
        folder.cleanup()


def test_everything_may_be_collected_in_any_order():
    draw = random.Random(2)
    for _ in range(200):
        client = pigment.EphemeralClient()
        docs = client.get_or_create_collection("docs", embedding_function=pigment.LexicalEmbeddingFunction(8))
        docs.upsert(ids=["a"], documents=["x"])
        answer = docs.get(include=["embeddings"])
        held = [client, docs, answer, answer["embeddings"], answer.arrays, answer.to_arrow(), pigment.CancelToken()]
        del client, docs, answer
        draw.shuffle(held)
        while held:
            held.pop()
            if draw.random() < 0.2:
                gc.collect()


def child(program):
    return subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)


def test_a_client_of_before_fork_is_an_error_in_the_child_and_a_new_one_works():
    done = child("""
import os, pigment, tempfile
folder = tempfile.mkdtemp()
client, memory = pigment.PersistentClient(folder), pigment.EphemeralClient()
docs = client.create_collection("docs", embedding_function=pigment.LexicalEmbeddingFunction(8))
docs.add(ids=["a"], documents=["x"])
answer = docs.get(include=["embeddings"])
pid = os.fork()
if pid == 0:
    for call in (docs.count, docs.get, client.list_collections, lambda: docs.query(query_texts=["x"]), memory.count_collections):
        try:
            call()
            os._exit(1)
        except pigment.errors.ForkedError:
            pass
    assert answer["embeddings"].shape == (1, 8)
    try:
        pigment.PersistentClient(folder)
        os._exit(2)
    except pigment.errors.LockedError as error:
        assert str(os.getppid()) in str(error), error
    fresh = pigment.EphemeralClient()
    fresh.create_collection("docs", embedding_function=None).add(ids=["a"], embeddings=[[1]])
    assert fresh.get_collection("docs").count() == 1
    client.close()
    del client, docs, answer, memory
    raise SystemExit(7)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
assert docs.count() == 1
""")
    assert done.returncode == 0, done.stdout


def test_a_second_process_is_told_the_holder():
    with tempfile.TemporaryDirectory() as folder, pigment.PersistentClient(folder):
        begin = time.monotonic()
        done = child(f"import pigment\ntry:\n    pigment.PersistentClient({folder!r})\nexcept pigment.errors.LockedError as error:\n    print(error)")
        assert str(os.getpid()) in done.stdout and time.monotonic() - begin < 10, done.stdout


def test_a_program_that_ends_without_closing_loses_nothing_and_says_nothing():
    with tempfile.TemporaryDirectory() as folder:
        done = child(f"""
import pigment, threading
client = pigment.PersistentClient({folder!r})
docs = client.create_collection("docs", embedding_function=pigment.LexicalEmbeddingFunction(8))
docs.add(ids=["a"], documents=["x"])
memory = pigment.Client().create_collection("more", embedding_function=type("F", (), {{"__call__": lambda self, input: [[1.0]] * len(input)}})())
memory.add(ids=["a"], documents=["x"])
def go_on():
    try:
        while True:
            docs.query(query_texts=["x"] * 100)
    except pigment.errors.ClosedError:
        pass
threading.Thread(target=go_on, daemon=True).start()
""")
        assert (done.returncode, done.stdout) == (0, ""), done
        with pigment.PersistentClient(folder) as client:
            assert client.get_collection("docs").count() == 1


def test_a_fork_beside_busy_threads_leaves_the_child_able_to_open():
    done = child("""
import os, pigment, tempfile, threading
stop = threading.Event()
def open_and_close():
    while not stop.is_set():
        with tempfile.TemporaryDirectory() as folder, pigment.PersistentClient(folder, pigment.Settings(sync_mode="off")):
            pass
threads = [threading.Thread(target=open_and_close, daemon=True) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(5):
    pid = os.fork()
    if pid == 0:
        with pigment.EphemeralClient() as client:
            client.create_collection("docs", embedding_function=None).add(ids=["a"], embeddings=[[1]])
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
stop.set()
for thread in threads:
    thread.join()
""")
    assert done.returncode == 0, done.stdout

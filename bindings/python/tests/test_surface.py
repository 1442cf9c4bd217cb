# SPDX-License-Identifier: Apache-2.0
"""Chroma's surface where the scripts do not come: clients, settings, names and lifetimes."""

import gc
import os
import pathlib
import subprocess
import sys
import tempfile
import uuid

import pigment as chromadb
from pigment import errors
from pigment.config import Settings
from tap import raises


def test_clients_in_memory_share_a_store_until_each_is_closed():
    first, second = chromadb.Client(), chromadb.EphemeralClient()
    first.create_collection("docs", embedding_function=None)
    assert [one.name for one in second.list_collections()] == ["docs"]
    first.close()
    assert second.count_collections() == 1
    del second
    gc.collect()
    third = chromadb.EphemeralClient()
    assert third.count_collections() == 1
    raises((ValueError, "different settings"), chromadb.EphemeralClient, Settings(allow_reset=True))
    chromadb.api.client.SharedSystemClient.clear_system_cache()
    assert chromadb.EphemeralClient().count_collections() == 0
    raises(errors.ClosedError, third.count_collections)


def test_a_directory_is_one_store_and_free_when_nobody_has_it_any_more():
    with tempfile.TemporaryDirectory() as folder:
        client = chromadb.PersistentClient(pathlib.Path(folder) / "store")
        other = chromadb.PersistentClient(folder + "/../" + os.path.basename(folder) + "/store")
        client.create_collection("docs", embedding_function=None).add(ids=["a"], embeddings=[[1]])
        assert other.get_collection("docs").count() == 1
        raises((ValueError, "different settings"), chromadb.PersistentClient, folder + "/store", Settings(sync_mode="off"))
        client.close()
        assert other.count_collections() == 1
        del other
        gc.collect()
        with chromadb.PersistentClient(folder + "/store", Settings(read_only=True)) as reader:
            assert reader.get_collection("docs").get()["ids"] == ["a"]
            raises(errors.ChromaError, reader.create_collection, "more", embedding_function=None)
        raises(errors.NotFoundError, chromadb.PersistentClient, folder + "/none", Settings(must_exist=True))


def test_use_after_close_is_an_error_and_close_is_idempotent():
    client = chromadb.EphemeralClient()
    docs = client.create_collection("docs", embedding_function=None)
    docs.add(ids=["a"], embeddings=[[1]])
    answer = docs.get(include=["embeddings"])
    client.close()
    client.close()
    for call in (client.heartbeat, client.list_collections, client.reset, client.statistics, lambda: client.get_collection("docs"),
                 docs.count, docs.get, lambda: docs.query(query_embeddings=[[1]]), lambda: docs.add(ids=["b"], embeddings=[[1]]),
                 lambda: docs.modify(name="other"), lambda: docs.fork("other"), docs.compact, lambda: docs.delete(ids=["a"]), docs.peek):
        error = raises((errors.ChromaError), call)
        assert isinstance(error, (errors.ClosedError, errors.AuthorizationError)), error
    assert answer["embeddings"].tolist() == [[1]] and answer.position > 0
    with raises(errors.ClosedError, client.__class__.count_collections, client) and chromadb.EphemeralClient() as again:
        assert again.count_collections() == 0


def test_settings_are_checked():
    raises((ValueError, "no such setting"), Settings, chroma_server_host="x")
    raises((ValueError, "sync_mode"), Settings, sync_mode="often")
    raises(TypeError, Settings, allow_reset="yes")
    raises(TypeError, Settings, flush_rows_max=1.5)
    raises(OverflowError, chromadb.EphemeralClient, Settings(flush_rows_max=-1))
    raises(OverflowError, chromadb.EphemeralClient, Settings(memory_budget_bytes=2**64))
    assert Settings(anonymized_telemetry=False, allow_reset=True).allow_reset and Settings() == Settings() != Settings(sync_mode="off")


def test_reset_asks_for_leave():
    raises(errors.AuthorizationError, chromadb.EphemeralClient().reset)
    chromadb.api.client.SharedSystemClient.clear_system_cache()
    client = chromadb.EphemeralClient(Settings(allow_reset=True))
    client.create_tenant("acme")
    client.create_database("sales")
    client.set_database("sales")
    client.create_collection("docs", embedding_function=None)
    client.set_database("default_database")
    client.create_collection("docs", embedding_function=None)
    assert client.reset() is True
    assert (client.list_tenants(), client.list_databases(), client.count_collections()) == (
        ["default_tenant"], [client.get_database("default_database")], 0)


def test_tenants_and_databases_have_an_admin_of_their_own():
    client = chromadb.EphemeralClient()
    admin = chromadb.AdminClient(client.get_settings())
    admin.create_tenant("acme")
    admin.create_database("sales", "acme")
    sales = chromadb.EphemeralClient(tenant="acme", database="sales")
    sales.create_collection("docs", embedding_function=None)
    assert client.count_collections() == 0 and sales.get_collection("docs").tenant == "acme"
    assert [one["name"] for one in admin.list_databases(tenant="acme")] == ["sales"]
    assert isinstance(admin.get_database("sales", "acme")["id"], uuid.UUID)
    raises(errors.NotFoundError, chromadb.EphemeralClient, tenant="nobody")
    raises(errors.NotFoundError, client.set_database, "sales")
    raises(errors.UniqueConstraintError, admin.create_tenant, "acme")
    raises(errors.InternalError, admin.create_tenant, "acme")  # as Chroma's embedded client says it
    admin.delete_database("sales", "acme")
    raises(errors.NotFoundError, sales.get_collection, "docs")


def test_servers_and_clouds_say_where_to_go():
    raises((NotImplementedError, "PersistentClient"), chromadb.HttpClient, host="localhost", port=8000)
    raises((NotImplementedError, "CloudClient"), chromadb.CloudClient, api_key="x")
    docs = chromadb.EphemeralClient().create_collection("docs", embedding_function=None)
    for call in (docs.get_indexing_status, docs.fork_count, lambda: docs.attach_function(None, "f", "out"),
                 lambda: docs.get_attached_function("f"), lambda: docs.detach_function("f")):
        raises(NotImplementedError, call)


def test_every_name_of_chroma_is_there_or_says_what_is():
    """Of chromadb.__all__ and its constructors."""
    there = ("Collection Metadata Metadatas Where WhereDocument Documents IDs URI URIs Embeddings EmbeddingFunction Include CollectionMetadata "
             "UpdateMetadata QueryResult GetResult Key K Search Knn Rrf Schema ReadLevel Client AdminClient EphemeralClient PersistentClient HttpClient AsyncHttpClient "
             "CloudClient configure get_settings Settings DEFAULT_TENANT DEFAULT_DATABASE errors config api utils UpdateCollectionMetadata").split()
    for name in there:
        assert hasattr(chromadb, name), name
    for name in ("SparseVector", "RustClient", "Cmek", "TokenTransportHeader"):
        assert len(str(raises((AttributeError, name), getattr, chromadb, name))) > 30
    raises((AttributeError, "no nonsense"), getattr, chromadb, "nonsense")
    assert chromadb.utils.embedding_functions.DefaultEmbeddingFunction().name() == "default"


FRAMEWORK = """
import pigment
pigment.stand_in_for_chromadb()
pigment.stand_in_for_chromadb()
import chromadb
import chromadb.config
import chromadb.utils.embedding_functions as functions
from chromadb import Search, Settings
from chromadb.api import ClientAPI, CreateCollectionConfiguration
from chromadb.api.models.AsyncCollection import AsyncCollection
from chromadb.api.models.Collection import Collection
from chromadb.api.types import QueryResult, Where
from chromadb.errors import NotFoundError
from chromadb.execution.expression import K, Knn
from chromadb.utils.batch_utils import create_batches

assert chromadb is pigment and chromadb.config.Settings is Settings is pigment.Settings and functions is pigment.utils.embedding_functions
client = chromadb.PersistentClient("store", Settings(anonymized_telemetry=False))
configuration = CreateCollectionConfiguration({"hnsw": {"space": "cosine"}})
docs = client.create_collection("docs", configuration=configuration, embedding_function=None)
assert isinstance(client, ClientAPI) and isinstance(docs, Collection)
for ids, embeddings, metadatas, documents in create_batches(client, ["a", "b"], [[1, 0], [0, 1]], None, ["one", "two"]):
    docs.add(ids, embeddings, metadatas, documents)
assert docs.search(Search().rank(Knn([1, 0.1])).limit(1).select(K.DOCUMENT))["documents"] == [["one"]]
try:
    client.get_collection("none")
except NotFoundError:
    print("well")
"""


def test_other_peoples_code_finds_the_package_as_chromadb():
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-c", FRAMEWORK], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert done.stdout == "well\n" and done.returncode == 0, done.stdout
        pathlib.Path(folder, "chromadb.py").write_text("")  # the package itself
        done = subprocess.run([sys.executable, "-c", "import chromadb, pigment\npigment.stand_in_for_chromadb()"], cwd=folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        assert done.returncode == 1 and "RuntimeError: chromadb is imported already" in done.stdout, done.stdout


LEFT_OPEN = """
import shutil, sys
import pigment
clients = [pigment.PersistentClient(name) for name in ("gone", "burning", "kept")]
for client in clients:
    client.create_collection("docs", embedding_function=None).add(ids=["a"], embeddings=[[1]])
shutil.rmtree("gone")
call, burning = pigment.client.call, clients[1]._address

def watched(name, *arguments):
    call(name, *arguments)
    print(name, flush=True)
    if sys.argv[1] == "fire" and arguments[0] == burning:
        raise OSError("the disk is on fire")

pigment.client.call = watched
"""


def test_at_exit_every_store_is_closed_whatever_became_of_another():
    for what in ("well", "fire"):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-c", LEFT_OPEN, what], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            assert done.stdout.count("pigment_client_close\n") == 2, done.stdout  # the third has no directory any more
            assert ("on fire" in done.stdout) == (what == "fire") and done.stdout.count("Traceback") == (what == "fire"), done.stdout


def test_what_is_too_much_for_a_batch_is_split():
    class Small:
        def get_max_batch_size(self):
            return 2

    split = chromadb.utils.batch_utils.create_batches
    assert split(Small(), ["a", "b"], None, None, ["x", "y"]) == [(["a", "b"], None, None, ["x", "y"])]
    assert split(Small(), ["a", "b", "c"], [[1], [2], [3]], None, ["x", "y", "z"]) == [
        (["a", "b"], [[1], [2]], None, ["x", "y"]), (["c"], [[3]], None, ["z"])]


def test_from_env_reads_what_the_library_does_not():
    with tempfile.TemporaryDirectory() as folder:
        made = {"PIGMENT_PATH": folder + "/store", "PIGMENT_SYNC_MODE": "off", "PIGMENT_ALLOW_RESET": "1", "PIGMENT_FLUSH_ROWS_MAX": "7"}
        with chromadb.from_env(made) as client:
            settings = client.get_settings()
            assert (settings.is_persistent, settings.sync_mode, settings.allow_reset, settings.flush_rows_max) == (True, "off", True, 7)
            client.create_tenant("acme")
            client.create_database("sales", "acme")
        with chromadb.from_env({**made, "PIGMENT_TENANT": "acme", "PIGMENT_DATABASE": "sales"}) as client:
            assert (client.tenant, client.database) == ("acme", "sales")
        raises((ValueError, "PIGMENT_FLUSH_ROWS_MAX"), chromadb.from_env, {"PIGMENT_FLUSH_ROWS_MAX": "many"})
        raises((ValueError, "PIGMENT_READ_ONLY"), chromadb.from_env, {"PIGMENT_READ_ONLY": "perhaps"})
        os.environ["PIGMENT_PATH"] = folder + "/other"
        try:
            chromadb.PersistentClient(folder + "/third").close()  # only from_env looks
            with chromadb.from_env() as client:
                assert client.get_settings().persist_directory == folder + "/other"
        finally:
            del os.environ["PIGMENT_PATH"]
        assert sorted(os.listdir(folder)) == ["other", "store", "third"]
    assert not chromadb.from_env({"PIGMENT_PATH": ":memory:", "PIGMENT_READ_ONLY": ""}).get_settings().is_persistent


def test_a_directory_of_chroma_is_refused_with_a_hint():
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "chroma.sqlite3").write_bytes(b"SQLite format 3\0")
        error = raises((errors.ChromaError, "directory of Chroma"), chromadb.PersistentClient, folder)
        assert "import" in error.hint and os.listdir(folder) == ["chroma.sqlite3"], error.hint


def test_an_error_says_more_than_its_words():
    docs = chromadb.EphemeralClient().create_collection("docs", embedding_function=None)
    docs.add(ids=["a"], embeddings=[[1, 2]])
    error = raises(errors.InvalidArgumentError, docs.add, ids=["b", "c"], embeddings=[[1, 2], [float("nan"), 1]])
    assert (error.status, error.detail, error.row, error.fault.name, error.sqlstate, error.code(), error.name()) == (
        3, 41, 1, "CALLER", "22023", 400, "InvalidArgument")
    error = raises(errors.DuplicateIDError, docs.add, ids=["b", "b"], embeddings=[[1, 2], [1, 2]])
    assert str(error) == "Expected IDs to be unique, found duplicates of: b in add." and error.row == 1 and error.detail.name == "DUPLICATE_ID"
    assert set(errors.error_types.values()) >= {errors.NotFoundError, errors.InvalidDimensionException}


def test_collections_are_listed_by_id_in_pages_and_compared():
    client = chromadb.EphemeralClient()
    made = [client.create_collection(f"docs{number}", embedding_function=None) for number in range(5)]
    ids = sorted(one.id for one in made)
    assert [one.id for one in client.list_collections()] == ids
    assert [one.id for one in client.list_collections(2, 2)] == ids[2:4] and client.list_collections(limit=0) == []
    raises(errors.InvalidArgumentError, client.list_collections, limit=-1)
    raises(errors.InvalidUUIDError, client.get_collection_by_id, "no uuid")
    assert client.get_collection("docs1") == made[1] != made[2] and repr(made[1]) == "Collection(name=docs1)"
    made[1].modify(name="renamed", metadata={"a": 1}, configuration={"hnsw": {"ef_search": 33}})
    assert (made[1].name, made[1].metadata, made[1].configuration["hnsw"]["ef_search"]) == ("renamed", {"a": 1}, 33)


def test_one_and_many_are_both_taken():
    docs = chromadb.EphemeralClient().create_collection("docs", embedding_function=None)
    docs.add(ids="a", embeddings=[1, 2], metadatas={"n": 1}, documents="one", uris="u:1")
    assert docs.get("a", include=["documents", "metadatas", "uris"]) == {
        "ids": ["a"], "embeddings": None, "documents": ["one"], "uris": ["u:1"], "included": ["documents", "metadatas", "uris"],
        "data": None, "metadatas": [{"n": 1}]}
    assert docs.query(query_embeddings=[1, 2], ids="a")["ids"] == [["a"]] and docs.delete("a") == {"deleted": 1}

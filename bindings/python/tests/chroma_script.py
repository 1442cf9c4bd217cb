# SPDX-License-Identifier: Apache-2.0
"""A program for Chroma's embedded client, which pigment runs after a change of its import: `python chroma_script.py MODULE FOLDER`. It prints a line for each
call: the answer, or the name of the exception. test_chroma.py compares what both print."""

import importlib
import logging
import sys
import uuid
import warnings

import numpy as np

logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")
chromadb = importlib.import_module(sys.argv[1])
errors = importlib.import_module(sys.argv[1] + ".errors")
types = importlib.import_module(sys.argv[1] + ".api.types")
Settings = importlib.import_module(sys.argv[1] + ".config").Settings
number = 0


def shown(value):
    if isinstance(value, np.ndarray):
        return shown(value.tolist())
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        keys = value if "included" in value else sorted(value, key=str)  # Chroma gives metadata in any order
        return {key: shown(value[key]) for key in keys}
    if isinstance(value, (list, tuple)):
        return [shown(one) for one in value]
    return value


def show(what, function, *arguments, **keywords):
    """One call and what came of it; what is an InternalError in Chroma only because it knows no better may be one below it."""
    global number
    number += 1
    try:
        answer = shown(function(*arguments, **keywords))
    except Exception as error:
        name = "InternalError" if isinstance(error, errors.InternalError) else type(error).__name__
        words = str(error).split("\n")[0] if type(error) in (ValueError, TypeError) or name == "DuplicateIDError" else ""
        words = "Exactly one" if words.startswith("Exactly one of") else words.replace(sys.argv[2], "FOLDER")  # of a set, in any order
        answer = f"{name} {words}".strip()
    print(number, what, "->", answer)


class Letters(chromadb.EmbeddingFunction[chromadb.Documents]):
    def __init__(self, letters="abcd"):
        self.letters = letters

    def __call__(self, input: chromadb.Documents) -> chromadb.Embeddings:
        return [np.array([text.count(letter) for letter in self.letters], np.float32) for text in input]

    @staticmethod
    def name():
        return "letters_of_a_script"

    def get_config(self):
        return {"letters": self.letters}

    @staticmethod
    def build_from_config(config):
        return Letters(config["letters"])

    def default_space(self):
        return "cosine"


def description(collection):
    return [collection.name, collection.metadata, collection.tenant, collection.database, collection.configuration["hnsw"]["space"],
            collection.configuration["hnsw"]["ef_search"], collection.configuration["spann"], repr(collection)]


def collections(client):
    show("none", client.list_collections)
    docs = client.create_collection("docs", embedding_function=None, metadata={"topic": "law", "n": 1, "x": 0.5, "on": True})
    show("description", description, docs)
    show("taken", client.create_collection, "docs", embedding_function=None)
    show("got or created", lambda: description(client.get_or_create_collection("docs", metadata={"other": 1}, embedding_function=None)))
    for name in ("ab", "a..b", "-abc", "abc-", "a b c", "1.2.3.4", "x" * 513, ""):
        show(f"name {name[:9]!r}", client.create_collection, name, embedding_function=None)
    show("no metadata", client.create_collection, "meta", metadata={}, embedding_function=None)
    show("none in metadata", client.create_collection, "meta", metadata={"a": None}, embedding_function=None)
    show("reserved key", client.create_collection, "meta", metadata={"#a": 1}, embedding_function=None)
    show("space", lambda: description(client.create_collection("cosine", configuration={"hnsw": {"space": "cosine", "ef_search": 50}}, embedding_function=None)))
    show("legacy space", lambda: description(client.create_collection("legacy", metadata={"hnsw:space": "ip"}, embedding_function=None)))
    show("wrong space", client.create_collection, "wrong", configuration={"hnsw": {"space": "foo"}}, embedding_function=None)
    show("missing", client.get_collection, "missing")
    show("delete missing", client.delete_collection, "missing")
    show("names", lambda: sorted(one.name for one in client.list_collections()))
    show("pages", lambda: [len(client.list_collections(limit=2)), len(client.list_collections(limit=2, offset=2)), len(client.list_collections(offset=9))])
    show("count", client.count_collections)
    show("modify", docs.modify, name="renamed", metadata={"only": "this"})
    show("modified", lambda: description(client.get_collection("renamed", embedding_function=None)))
    for given in ({"a": 1, "b": None}, {"a": True, "c": None}, {"a": None}, {"hnsw:space": None}, {"": None}, {"only": "this"}):
        show(f"modify {given}", docs.modify, metadata=given)
        show(f"modified to {given}", lambda: client.get_collection("renamed", embedding_function=None).metadata)
    show("rename onto", docs.modify, name="cosine")
    show("modify space", docs.modify, metadata={"hnsw:space": "l2"})
    show("modify empty", docs.modify, metadata={})
    show("modify configuration", docs.modify, configuration={"hnsw": {"ef_search": 77}})
    show("configured", lambda: description(docs))
    show("by id", lambda: client.get_collection_by_id(docs.id, embedding_function=None).name)
    show("equal", lambda: client.get_collection("renamed", embedding_function=None).id == docs.id)
    show("delete", client.delete_collection, "renamed")
    show("stale handle", docs.count)
    show("stale write", docs.add, ids=["a"], embeddings=[[1.0]])
    for name in ("cosine", "legacy"):
        client.delete_collection(name)


def writes(client):
    docs = client.create_collection("docs", embedding_function=None)
    show("add", docs.add, ids=["a", "b", "c"], embeddings=[[1, 2, 3], [4, 5, 6], [7, 8, 9]], documents=["one", "two", None],
         metadatas=[{"n": 1, "tags": ["x", "y"]}, {"n": 2.5, "s": "t"}, {"c": 1}], uris=["u:a", None, "u:c"])
    show("all", docs.get, include=["documents", "metadatas", "embeddings"])
    show("uri without metadata", lambda: (docs.add(ids=["u"], embeddings=[[1, 1, 1]], uris=["u:u"]), docs.get(["u"])["metadatas"], docs.delete(["u"])))
    show("again", docs.add, ids=["a", "d"], embeddings=[[0, 0, 0], [1, 1, 1]], documents=["other", "new"])
    show("after", docs.get)
    show("update", docs.update, ids=["a", "missing"], metadatas=[{"n": None, "m": True}, {"z": 1}], documents=["ONE", "no"], embeddings=[[9, 9, 9], [1, 1, 1]])
    show("updated", docs.get, ids=["missing", "a"], include=["metadatas", "documents", "embeddings", "uris"])
    show("upsert", docs.upsert, ids=["b", "e"], embeddings=[[2, 2, 2], [3, 3, 3]], metadatas=[{"s": 5}, {"q": "w"}])
    show("upserted", docs.get)
    show("single", docs.add, ids="single", embeddings=[5, 5, 5], documents="alone", metadatas={"n": 7})
    show("single got", docs.get, "single")
    show("array", docs.add, ids=["np1", "np2"], embeddings=np.arange(6).reshape(2, 3).astype(np.float16))
    show("arrays", docs.add, ids=["np3"], embeddings=[np.array([1.5, 2.5, 3.5])])
    show("array got", docs.get, ids=["np1", "np2", "np3"], include=["embeddings"])
    show("delete", docs.delete, ids=["a", "np1"])
    show("delete where", docs.delete, where={"q": "w"})
    show("delete document", docs.delete, where_document={"$contains": "alone"})
    show("delete limit", docs.delete, where={"nothing": {"$ne": 1}}, limit=1)
    show("left", docs.get, include=[])
    show("count", docs.count)
    good = {"ids": ["z"], "embeddings": [[1, 2, 3]]}
    for what, change in [
        ("no ids", {"ids": []}), ("ids none", {"ids": None}), ("id int", {"ids": [1]}), ("id empty", {"ids": [""]}), ("twice", {"ids": ["z", "z"], "embeddings": [[1, 2, 3]] * 2}),
        ("thrice", {"ids": ["z"] * 3, "embeddings": [[1, 2, 3]] * 3}), ("length", {"ids": ["z", "y"]}), ("documents length", {"documents": ["a", "b"]}),
        ("metadata length", {"metadatas": [{"a": 1}] * 2}), ("nothing", {"embeddings": None}), ("empty embeddings", {"embeddings": []}),
        ("word", {"embeddings": "abc"}), ("words", {"embeddings": [["a"]]}), ("bool", {"embeddings": [[True, False, True]]}), ("nan", {"embeddings": [[1, 2, float("nan")]]}),
        ("inf", {"embeddings": [[1, 2, float("inf")]]}), ("dimension", {"embeddings": [[1, 2]]}), ("ragged", {"ids": ["z", "y"], "embeddings": [[1, 2, 3], [1]]}),
        ("bool array", {"embeddings": np.ones((1, 3), bool)}), ("document int", {"documents": [1]}), ("metadata empty", {"metadatas": [{}]}),
        ("metadata key", {"metadatas": [{1: 2}]}), ("metadata dict", {"metadatas": [{"a": {"b": 1}}]}), ("metadata object", {"metadatas": [{"a": object}]}),
        ("metadata word", {"metadatas": ["abc"]}), ("metadata mixed", {"metadatas": [{"a": [1, "x"]}]}), ("metadata no list", {"metadatas": [{"a": []}]}),
        ("metadata reserved", {"metadatas": [{"#a": 1}]}), ("metadata document", {"metadatas": [{"chroma:document": "x"}]}),
    ]:
        show(f"add {what}", docs.add, **{**good, **change})
        show(f"upsert {what}", docs.upsert, **{**good, **change})
    show("metadata none in add", docs.add, **good, metadatas=[{"a": None}])
    show("update nothing", docs.update, ids=["c"])
    show("upsert nothing", docs.upsert, ids=["c"])
    show("delete nothing", docs.delete)
    show("delete no ids", docs.delete, ids=[])
    show("delete limit alone", docs.delete, ids=["c"], limit=1)
    show("delete limit negative", docs.delete, where={"a": 1}, limit=-1)
    show("delete limit word", docs.delete, where={"a": 1}, limit="1")
    show("still", docs.get, include=["documents", "metadatas", "uris"])
    client.delete_collection("docs")


def reads(client):
    docs = client.create_collection("docs", embedding_function=None)
    docs.add(ids=["e", "d", "c", "b", "a"], embeddings=[[0, 0], [1, 0], [0, 2], [3, 3], [9, 9]],
             documents=["Red fish", "blue fish", "100% sure", "日本語の文", ""], metadatas=[
                 {"k": 2, "lang": "en"}, {"k": 3.5, "lang": "de"}, {"k": "2", "lang": "en", "tags": ["x", "y"]}, {"k": True, "tags": ["y"]}, {"other": 1}])
    show("get", docs.get)
    show("ids", docs.get, ids=["a", "zz", "e"])
    show("page", docs.get, limit=2, offset=1, include=["metadatas"])
    show("beyond", docs.get, offset=99)
    show("limit 0", docs.get, limit=0)
    show("ids alone", docs.get, include=[])
    show("peek", docs.peek, limit=2)
    show("query", docs.query, query_embeddings=[0.1, 0.1], n_results=3)
    show("queries", docs.query, query_embeddings=[[0.1, 0.1], [9, 8]], n_results=2, include=["distances", "embeddings", "uris", "documents"])
    show("many", docs.query, query_embeddings=[[0, 0]], n_results=100, include=["distances"])
    show("no ids", docs.query, query_embeddings=[[0, 0]], ids=[])
    show("some ids", docs.query, query_embeddings=[[0, 0]], ids=["a", "b"], include=["distances"])
    show("filtered", docs.query, query_embeddings=[[0, 0]], where={"lang": "en"}, where_document={"$contains": "fish"})
    show("nothing matches", docs.query, query_embeddings=[[0, 0], [1, 1]], where={"lang": "fr"})
    for where in ({"k": 2}, {"k": {"$eq": 2.0}}, {"k": {"$ne": 2}}, {"k": {"$gt": 2}}, {"k": {"$gte": 3}}, {"k": {"$lt": 3}}, {"k": {"$lte": 2}}, {"k": True}, {"k": "2"},
                  {"lang": {"$in": ["de", "fr"]}}, {"lang": {"$nin": ["de"]}}, {"tags": {"$contains": "y"}}, {"tags": {"$not_contains": "x"}}, {"tags": "x"},
                  {"$and": [{"lang": "en"}, {"k": {"$ne": "2"}}]}, {"$or": [{"lang": "de"}, {"other": 1}]}, {"$and": [{"$or": [{"lang": "de"}, {"k": 2}]}, {"k": {"$gt": 1}}]},
                  {}, {"a": 1, "b": 2}, {"a": None}, {"a": [1]}, {"a": {"$foo": 1}}, {"a": {"$gt": "x"}}, {"a": {"$in": []}}, {"a": {"$in": [1, "x"]}}, {"a": {"$in": 1}},
                  {"$and": {"a": 1}}, {"$and": []}, {"a": {"$gt": 1, "$lt": 2}}, {"$contains": "x"}, {1: 2}, "abc", 5, [], {"a": {}}, {"a": {"$eq": [1]}}, {"a": {"$eq": None}}):
        show(f"where {where}", lambda: docs.get(where=where, include=[])["ids"])
    for where in ({"$contains": "fish"}, {"$contains": "FISH"}, {"$contains": "%"}, {"$contains": "語"}, {"$not_contains": "fish"}, {"$regex": "^[Rb]"}, {"$not_regex": "fish$"},
                  {"$and": [{"$contains": "fish"}, {"$regex": "Red"}]}, {"$or": [{"$contains": "sure"}, {"$contains": "blue"}]}, {}, {"$contains": ""}, {"$contains": 1},
                  {"$foo": "x"}, {"$regex": "("}, {"$and": []}, "abc", {"$contains": "a", "$regex": "b"}):
        show(f"document {where}", lambda: docs.get(where_document=where, include=[])["ids"])
    for what, change in [("no ids", {"ids": []}), ("id int", {"ids": [1]}), ("twice", {"ids": ["a", "a"]}), ("include word", {"include": ["foo"]}),
                         ("include distances", {"include": ["distances"]}), ("include tuple", {"include": ("documents",)}), ("include int", {"include": [1]}),
                         ("include data", {"include": ["data"]})]:
        show(f"get {what}", docs.get, **change)
    for what, change in [("n 0", {"n_results": 0}), ("n -1", {"n_results": -1}), ("n word", {"n_results": "3"}), ("n float", {"n_results": 1.5}), ("nothing", {"query_embeddings": None}),
                         ("empty", {"query_embeddings": []}), ("dimension", {"query_embeddings": [[1, 2, 3]]}), ("nan", {"query_embeddings": [[1, float("nan")]]}),
                         ("word", {"query_embeddings": "abc"}), ("where", {"where": {}}), ("include", {"include": ["foo"]})]:
        show(f"query {what}", docs.query, **{"query_embeddings": [[1, 2]], **change})
    empty = client.create_collection("empty", embedding_function=None)
    show("empty get", empty.get)
    show("empty query", empty.query, query_embeddings=[[1, 2]])
    show("empty peek", empty.peek)
    for name in ("docs", "empty"):
        client.delete_collection(name)


def functions(client):
    docs = client.create_collection("docs", embedding_function=Letters())
    show("space of the function", lambda: docs.configuration["hnsw"]["space"])
    show("add texts", docs.add, ids=["1", "2", "3"], documents=["aab", "bbc", "ccd"])
    show("embedded", docs.get, include=["embeddings", "documents"])
    show("query texts", docs.query, query_texts=["ab", "dc"], n_results=2)
    show("query text", docs.query, query_texts="cc", n_results=1)
    show("update text", docs.update, ids=["1"], documents=["dddd"])
    show("after update", docs.get, ids=["1"], include=["embeddings", "documents"])
    show("another", lambda: client.get_collection("docs", embedding_function=type("Other", (Letters,), {"name": staticmethod(lambda: "other")})()))
    show("the same", lambda: client.get_collection("docs", embedding_function=Letters()).query(query_texts=["dd"], n_results=1)["ids"])
    show("both and texts", docs.query, query_embeddings=[[0, 1, 0, 0]], query_texts=["dd"], n_results=1)
    show("documents alone", docs.add, ids=["x"], documents=[None])
    show("uris alone", docs.add, ids=["x"], uris=["u"])
    show("nothing at all", docs.query)
    show("configured twice", client.create_collection, "more", configuration={"embedding_function": Letters()},
         embedding_function=type("Other", (Letters,), {"name": staticmethod(lambda: "other")})())
    show("no function", lambda: client.create_collection("more", embedding_function=lambda texts: []))

    class Failing(Letters):
        def __call__(self, input):
            raise LookupError("no such word")

    failing = client.create_collection("failing", embedding_function=Failing())
    show("failing", failing.add, ids=["x"], documents=["a"])
    show("uri loader", lambda: client.create_collection("loaded", embedding_function=Letters(), data_loader=lambda uris: ["ab" for _ in uris]).add(ids=["x"], uris=["u"]))
    show("uri loaded", lambda: client.get_collection("loaded", embedding_function=Letters()).get(include=["embeddings", "uris"]))
    show("data", lambda: client.get_collection("loaded", embedding_function=Letters(), data_loader=lambda uris: [len(one) for one in uris]).get(include=["data"])["data"])
    show("left behind", lambda: [one.name for one in client.list_collections() if one.name == "more"])
    for name in ("docs", "failing", "loaded", *[one.name for one in client.list_collections() if one.name == "more"]):
        client.delete_collection(name)


def oddities(client):
    """What programs pass now and then, and should not."""
    docs = client.create_collection("docs", embedding_function=None)
    docs.add(ids=["a", "b", "c"], embeddings=[[1, 2], [3, 4], [5, 6]], documents=["one", "two", None], metadatas=[{"n": 1}, {"n": 2, "t": ["x"]}, None])
    for what, call in [
        ("ids tuple", lambda: docs.get(ids=("a", "b"))), ("ids set", lambda: docs.get(ids={"a"})), ("include word", lambda: docs.get(include="documents")),
        ("include twice", lambda: docs.get(include=["documents", "documents"])), ("include none", lambda: docs.get(include=None)), ("peek 0", lambda: docs.peek(0)),
        ("peek -1", lambda: docs.peek(-1)), ("peek all", lambda: docs.peek(100)), ("limit none", lambda: docs.get(limit=None, offset=None)), ("limit bool", lambda: docs.get(limit=True)),
        ("offset -1", lambda: docs.get(offset=-1)), ("all in order", lambda: docs.get(["a"], {"n": 1}, 1, 0, {"$contains": "o"}, ["documents"])),
        ("n bool", lambda: docs.query([[1, 2]], n_results=True)), ("n array", lambda: docs.query([[1, 2]], n_results=np.int64(1))), ("n none", lambda: docs.query([[1, 2]], n_results=None)),
        ("array", lambda: docs.query(np.array([1, 2]), n_results=1)), ("arrays", lambda: docs.query([np.array([1, 2]), np.array([3, 4])], n_results=1, include=["distances"])),
        ("tuple", lambda: docs.query((1, 2), n_results=1)), ("halves", lambda: docs.query(np.array([[1, 2]], np.float16), n_results=1, include=["distances"])),
        ("bytes", lambda: docs.query(np.array([[1, 2]], np.uint8), n_results=1)), ("complex", lambda: docs.query(np.array([[1, 2]], np.complex64), n_results=1)),
        ("cube", lambda: docs.query(np.zeros((1, 1, 2)), n_results=1)), ("two kinds", lambda: docs.query(query_embeddings=[[1, 2]], query_uris=["x"])),
        ("where word", lambda: docs.get(where={"$or": "x"})), ("where bool", lambda: docs.get(where={"n": {"$gt": True}})), ("where array", lambda: docs.get(where={"n": np.int64(1)})),
        ("where list", lambda: docs.get(where={"t": {"$contains": "x"}})["ids"]), ("regex", lambda: docs.get(where_document={"$regex": "[a"})),
        ("document number", lambda: docs.get(where_document={"$not_contains": 5})),
        ("document nested", lambda: docs.get(where_document={"$or": [{"$and": [{"$contains": "o"}, {"$contains": "n"}]}, {"$contains": "w"}]})["ids"]),
        ("metadata alone", lambda: (docs.update(ids=["a"], metadatas=[{"m": 1}]), docs.get("a"))[1]), ("metadata none", lambda: (docs.update(ids=["a"], metadatas=[None]), docs.get("a"))[1]),
        ("one", lambda: (docs.update(ids="a", metadatas={"k": "v"}), docs.get("a"))[1]), ("document none", lambda: docs.update(ids=["a"], documents=[None])),
        ("uri", lambda: (docs.update(ids=["a"], uris=["u:1"]), docs.get("a", include=["uris", "metadatas"]))[1]), ("update of none", lambda: docs.update(ids=[])),
        ("upsert metadata", lambda: docs.upsert(ids=["a"], metadatas=[{"m": 2}])), ("upsert uri", lambda: docs.upsert(ids=["a"], uris=["u:2"])), ("delete none", lambda: docs.delete(ids=None)),
        ("delete of both", lambda: docs.delete(ids=["b"], where={"n": 1})), ("delete limit 0", lambda: docs.delete(where={"n": {"$ne": 99}}, limit=0)),
        ("empty document", lambda: (docs.add(ids=["d"], embeddings=[[1, 2]], documents=[""]), docs.get("d")["documents"])[1]),
        ("id of spaces", lambda: (docs.add(ids=[" x "], embeddings=[[1, 2]]), docs.get(" x ")["ids"])[1]), ("add tuple", lambda: docs.add(ids=("q",), embeddings=[[1, 2]])),
        ("empty uri", lambda: (docs.add(ids=["u"], embeddings=[[1, 2]], uris=[""]), docs.get("u", include=["uris"])["uris"])[1]),
        ("objects", lambda: docs.add(ids=["e"], embeddings=np.array([[1, 2]], object))), ("a row of none", lambda: docs.add(ids=["e"], embeddings=[None])),
        ("numbers as words", lambda: docs.add(ids=["e"], embeddings=[["1", "2"]])), ("no float", lambda: docs.add(ids=["e"], embeddings=[[1e39, 1]])),
    ]:
        show(f"odd {what}", call)
    for number, value in enumerate((True, 1.0, "", np.int64(5), np.float32(0.5), np.float64(0.5), (1, 2), [[1]], 2**63 - 1, [True, False], [1.5], [1, True], b"x", None, {}, [None])):
        show(f"odd value {number}", lambda: (docs.add(ids=[f"m{number}"], embeddings=[[1, 2]], metadatas=[{"v": value}]), docs.get(f"m{number}")["metadatas"])[1])
    show("odd key", docs.add, ids=["k"], embeddings=[[1, 2]], metadatas=[{"": 1}])
    for what, call in [
        ("metadata", lambda: client.create_collection("more", metadata={"a": {}}, embedding_function=None)),
        ("configuration", lambda: client.create_collection("more", configuration={"hnsw": {"foo": 1}}, embedding_function=None)),
        ("parameters", lambda: client.create_collection("more", configuration={"hnsw": "x"}, embedding_function=None)),
        ("negative", lambda: client.create_collection("more", configuration={"hnsw": {"ef_search": -1}}, embedding_function=None)),
        ("two indexes", lambda: client.create_collection("more", configuration={"hnsw": {}, "spann": {}}, embedding_function=None)),
        ("old name", lambda: client.create_collection("more", metadata={"hnsw:foo": 1}, embedding_function=None)), ("modify nothing", docs.modify),
        ("modify name", lambda: docs.modify(name="docs")), ("modify short name", lambda: docs.modify(name="a")), ("modify configuration", lambda: docs.modify(configuration={})),
        ("modify space", lambda: docs.modify(configuration={"hnsw": {"space": "ip"}})), ("modify spann", lambda: docs.modify(configuration={"spann": {"search_nprobe": 3}})),
        ("id as text", lambda: client.get_collection_by_id(str(docs.id)).name), ("unknown id", lambda: client.get_collection_by_id(uuid.UUID(int=5))),
        ("no collections", lambda: len(client.list_collections(limit=0))), ("equal to a number", lambda: docs == 5), ("id", lambda: type(docs.id).__name__),
        ("count", lambda: [docs.count(), docs.count(chromadb.ReadLevel.INDEX_ONLY)]), ("fork count", docs.fork_count), ("indexing", docs.get_indexing_status),
        ("attached", lambda: docs.get_attached_function("x")), ("detach", lambda: docs.detach_function("x")), ("no tenant", lambda: client.set_tenant("")),
        ("other configuration", lambda: description(client.get_or_create_collection("docs", configuration={"hnsw": {"space": "ip"}}, embedding_function=None))),
    ]:
        show(f"odd {what}", call)
    for what, value in (("number", 5), ("none", None), ("bytes", b"docs"), ("list", ["docs"])):
        show(f"odd name {what}", client.create_collection, value, embedding_function=None)
        show(f"odd wanted name {what}", client.get_collection, value, embedding_function=None)
    show("odd left", lambda: [one.name for one in client.list_collections()])
    client.delete_collection("docs")


def printed(schema):
    return {name: {key: schema.serialize_to_json()[name][key] for key in sorted(schema.serialize_to_json()[name])} for name in ("defaults", "keys")}


def schemas(client):
    schema, hnsw, spann, vectors, fts, sparse = (getattr(chromadb, name) for name in (
        "Schema", "HnswIndexConfig", "SpannIndexConfig", "VectorIndexConfig", "FtsIndexConfig", "SparseVectorIndexConfig"))
    strings, ints, floats, bools = (getattr(chromadb, f"{name}InvertedIndexConfig") for name in ("String", "Int", "Float", "Bool"))
    show("schema", lambda: printed(schema()))
    for name, function in (("default", None), ("letters", Letters())):
        given = {} if function is None else {"embedding_function": function}
        show(f"vectors {name}", lambda: printed(schema().create_index(vectors(space="ip", hnsw=hnsw(ef_search=33, resize_factor=1.2), **given))))
        show(f"clusters {name}", lambda: printed(schema().create_index(vectors(spann=spann(search_nprobe=7), **given))))
    show("no function", lambda: printed(schema().create_index(vectors(embedding_function=None, source_key="#document"))))
    for name, config in (("strings", strings), ("ints", ints), ("floats", floats), ("bools", bools)):
        show(f"{name} off", lambda: printed(schema().delete_index(config())))
        show(f"{name} of a key", lambda: printed(schema().delete_index(config()).create_index(config(), key="kept").delete_index(config(), chromadb.K("k"))))
    show("documents off", lambda: printed(schema().delete_index(fts(), key="#document")))
    show("documents on", lambda: printed(schema().delete_index(fts(), chromadb.K.DOCUMENT).create_index(fts(), chromadb.K.DOCUMENT)))
    show("sparse on", lambda: printed(schema().create_index(sparse(bm25=True), key="s")))
    show("round", lambda: printed(schema.deserialize_from_json(schema().create_index(vectors(embedding_function=None, hnsw=hnsw(max_neighbors=9))).delete_index(ints()).serialize_to_json())))
    show("parts", lambda: [schema().keys["#document"].string.fts_index.enabled, schema().defaults.float_list.vector_index.enabled, schema().defaults.boolean.bool_inverted_index.config == bools(),
                           schema().keys["#embedding"].float_list.vector_index.config.source_key, schema().keys["#embedding"].string, schema().cmek])
    show("cmek", lambda: printed(schema().set_cmek(None)))
    for what, call in [
        ("nothing", lambda call: call()), ("key alone", lambda call: call(key="k")), ("embedding", lambda call: call(vectors(), key="#embedding")),
        ("document alone", lambda call: call(key="#document")), ("document strings", lambda call: call(strings(), key="#document")),
        ("special", lambda call: call(strings(), key="#id")), ("vectors of key", lambda call: call(vectors(), key="k")), ("vectors", lambda call: [call(vectors()), None][1]),
        ("documents of key", lambda call: call(fts(), key="k")), ("documents of all", lambda call: call(fts())), ("sparse of all", lambda call: call(sparse())),
    ]:
        show(f"create {what}", lambda: call(schema().create_index))
        show(f"delete {what}", lambda: call(schema().delete_index))

    made = schema().delete_index(ints(), key="n").delete_index(floats(), key="n").delete_index(fts(), key="#document").create_index(
        vectors(space="cosine", embedding_function=None, hnsw=hnsw(ef_search=33)))
    docs = client.create_collection("docs", schema=made, embedding_function=None)
    show("made", description, docs)
    docs.add(ids=["a", "b"], embeddings=[[1, 0], [0, 1]], documents=["one", "two"], metadatas=[{"n": 1, "m": 1}, {"n": 2.5, "m": 2}])
    for where in ({"n": 1}, {"n": {"$gt": 1}}, {"m": 1}, {"$and": [{"m": 1}, {"n": 1}]}):
        show(f"schema where {where}", lambda: docs.get(where=where)["ids"])
    show("schema document", docs.get, where_document={"$contains": "one"})
    show("schema read", lambda: [docs.schema.keys["n"].int_value.int_inverted_index.enabled, docs.schema.keys["#embedding"].float_list.vector_index.config.space,
                                 docs.schema.keys["#embedding"].float_list.vector_index.config.hnsw.ef_search, docs.schema.defaults.string.string_inverted_index.enabled])
    docs.modify(configuration={"hnsw": {"ef_search": 44}})
    show("schema modified", lambda: client.get_collection("docs", embedding_function=None).schema.keys["#embedding"].float_list.vector_index.config.hnsw.ef_search)
    show("schema and configuration", client.create_collection, "more", schema=made, configuration={"hnsw": {"space": "ip"}}, embedding_function=None)
    show("other function", lambda: description(client.create_collection("more", schema=schema(), embedding_function=Letters())))
    plain = client.create_collection("plain", embedding_function=None, configuration={"hnsw": {"space": "ip", "max_neighbors": 9}})
    show("schema of none", lambda: [plain.schema.keys["#embedding"].float_list.vector_index.config.space, plain.schema.keys["#embedding"].float_list.vector_index.config.hnsw.max_neighbors,
                                    sorted(plain.schema.keys), plain.schema.keys["#document"].string.fts_index.enabled, plain.schema == plain.schema, plain.schema == docs.schema])
    for name in ("docs", "more", "plain"):
        client.delete_collection(name)


def searches():
    """What Chroma's embedded client does not run, but prints."""
    x = importlib.import_module(sys.argv[1] + ".execution.expression")
    k, knn, val, rank = x.K, x.Knn, x.Val, x.Knn([0.5, 1.5], limit=4)
    for what, make in [
        ("sum", lambda: rank + knn(np.array([1.0, 2.0]), default=9.5) + 1), ("sums", lambda: (rank + 1) + (rank + 2)), ("number first", lambda: 2 + rank), ("product", lambda: 2 * rank * rank),
        ("difference", lambda: rank - 1 - rank), ("number minus", lambda: 1 - rank), ("quotient", lambda: rank / 2 / rank), ("number over", lambda: 1 / rank), ("negative", lambda: -rank),
        ("absolute", lambda: abs(rank - 1)), ("absolute too", lambda: (rank - 1).abs()), ("exponential", lambda: rank.exp()), ("logarithm", lambda: rank.log()),
        ("maximum", lambda: rank.max(1).max(rank)), ("minimum", lambda: rank.min(1).min(rank.min(2))), ("text", lambda: knn("a text", key=k.EMBEDDING, return_rank=True)),
        ("mixed", lambda: (rank + 1) * 2 - rank / (val(3) + rank)), ("fused", lambda: x.Rrf([knn([0.5], return_rank=True), knn("b", return_rank=True)])),
        ("fused weights", lambda: x.Rrf([rank, rank, rank], k=10, weights=[2.0, 1.0, 1.0], normalize=True)), ("fused one", lambda: x.Rrf([rank])),
        ("fused none", lambda: x.Rrf([])), ("fused k", lambda: x.Rrf([rank], k=0)), ("fused lengths", lambda: x.Rrf([rank], weights=[1.0, 2.0])),
        ("fused negative", lambda: x.Rrf([rank], weights=[-1.0])), ("fused nothing", lambda: x.Rrf([rank], weights=[0.0], normalize=True)),
    ]:
        show(f"rank {what}", lambda: make().to_dict())
        show(f"rank {what} again", lambda: x.Rank.from_dict(make().to_dict()).to_dict())
    for given in ({}, {"$val": 1, "$sum": []}, {"$foo": 1}, {"$val": "x"}, {"$val": 0.5}, {"$knn": {"query": [0.5, 1.0]}}, {"$knn": {"query": [0.5], "limit": 3, "default": 2.0, "return_rank": True}},
                  {"$knn": {}}, {"$knn": 1}, {"$knn": {"query": [1.0], "limit": 0}}, {"$knn": {"query": [1.0], "limit": "x"}}, {"$sum": [{"$val": 1}]}, {"$sum": {"$val": 1}},
                  {"$sum": [{"$val": 1}, {"$sum": [{"$val": 2}, {"$val": 3}]}]}, {"$mul": [{"$val": 1}, {"$val": 2}]}, {"$sub": {"left": {"$val": 1}}}, {"$sub": 1},
                  {"$div": {"left": {"$val": 1}, "right": {"$val": 2}}}, {"$abs": {"$val": 1}}, {"$exp": {"$log": {"$val": 2}}}, {"$max": [{"$val": 1}, {"$val": 2}]}, {"$min": []}, [1], "x"):
        show(f"rank of {given}", lambda: x.Rank.from_dict(given).to_dict())
    for what, make in [
        ("empty", x.Search), ("where", lambda: x.Search().where((k("a") == 1) & (k("b") > 2) & k("c").is_in(["x"]))), ("where or", lambda: x.Search().where((k("a") != 1) | (k.DOCUMENT.contains("q")))),
        ("where dictionary", lambda: x.Search(where={"a": {"$eq": 1}})), ("limit", lambda: x.Search().limit(10, offset=5)), ("limit number", lambda: x.Search(limit=3)),
        ("limit dictionary", lambda: x.Search(limit={"offset": 3})), ("limit 0", lambda: x.Search(limit=0)), ("limit word", lambda: x.Search(limit="x")), ("limit negative", lambda: x.Search(limit={"offset": -1})),
        ("limit more", lambda: x.Search(limit={"offset": 1, "more": 2})), ("select", lambda: x.Search().select(k.DOCUMENT)), ("select name", lambda: x.Search().select("title")),
        ("select list", lambda: x.Search(select=["#score"])), ("select dictionary", lambda: x.Search(select={"keys": ["#id"]})), ("select word", lambda: x.Search(select="title")),
        ("select number", lambda: x.Search(select=[1])), ("where word", lambda: x.Search(where="x")), ("rank number", lambda: x.Search(rank=1)), ("group word", lambda: x.Search(group_by="x")),
        ("group", lambda: x.Search().group_by(x.GroupBy(keys=k("a"), aggregate=x.MinK(keys=k.SCORE, k=2)))),
        ("groups", lambda: x.Search().group_by(x.GroupBy(keys=[k("a"), "b"], aggregate=x.MaxK(keys=["c", k.SCORE], k=1)))), ("group of nothing", lambda: x.Search(group_by={})),
        ("group dictionary", lambda: x.Search(group_by={"keys": ["a"], "aggregate": {"$min_k": {"keys": ["#score"], "k": 3}}})), ("group no keys", lambda: x.Search(group_by={"aggregate": {}})),
        ("group empty", lambda: x.Search(group_by={"keys": [], "aggregate": {}})), ("group no aggregate", lambda: x.Search(group_by={"keys": ["a"]})),
        ("group k", lambda: x.Search(group_by={"keys": ["a"], "aggregate": {"$min_k": {"keys": ["#score"], "k": 0}}})), ("group other", lambda: x.Search(group_by={"keys": ["a"], "aggregate": {"$sum": {}}})),
        ("group no k", lambda: x.Search(group_by={"keys": ["a"], "aggregate": {"$max_k": {"keys": ["#score"]}}})), ("rank dictionary", lambda: x.Search(rank={"$val": 2})),
    ]:
        show(f"search {what}", lambda: make().to_dict())
    for kind, operand in [("Eq", 1), ("Ne", "x"), ("Gt", 0.5), ("Gte", 1), ("Lt", 2), ("Lte", 2), ("In", ["a"]), ("Nin", [1, 2]), ("Contains", "x"), ("NotContains", 1), ("Regex", "^a"), ("NotRegex", "b$")]:
        show(f"condition {kind}", lambda: getattr(x, kind)("key", operand).to_dict())
    conditions = [x.Eq("a", 1), x.Gt("b", 2)]
    show("conditions", lambda: [x.And(conditions).to_dict(), x.Or(conditions).to_dict(), (x.Or(conditions) & x.Ne("c", 3)).to_dict(), (x.And(conditions) & x.And(conditions)).to_dict(),
                                (x.Eq("a", 1) | x.Or(conditions)).to_dict(), x.Search(where=x.And([x.Eq("a", 1), x.Or(conditions)])).to_dict(), x.Where.from_dict({"$or": [{"a": {"$eq": 1}}, {"b": {"$in": [2]}}]}).to_dict()])
    show("condition word", x.Where.from_dict, "x")
    show("search all", lambda: sorted(x.Search().select_all().to_dict()["select"]["keys"]))


def administration(client, folder):
    admin = chromadb.AdminClient(client.get_settings())
    show("tenant", admin.create_tenant, "acme")
    show("tenant taken", admin.create_tenant, "acme")
    show("tenant got", admin.get_tenant, "acme")
    show("tenant missing", admin.get_tenant, "nobody")
    show("database", admin.create_database, "sales", "acme")
    show("database taken", admin.create_database, "sales", "acme")
    show("database short", admin.create_database, "ab", "acme")
    show("database got", lambda: [admin.get_database("sales", "acme")["name"], admin.get_database("sales", "acme")["tenant"], type(admin.get_database("sales", "acme")["id"]).__name__])
    show("database missing", admin.get_database, "other", "acme")
    show("databases", lambda: [one["name"] for one in admin.list_databases(tenant="acme")])
    show("set tenant", client.set_tenant, "acme", "sales")
    show("in there", lambda: (client.tenant, client.database, client.create_collection("inner", embedding_function=None).database))
    show("set database missing", client.set_database, "nowhere")
    show("set tenant missing", client.set_tenant, "nobody")
    show("back", client.set_tenant, "default_tenant")
    show("not here", client.get_collection, "inner")
    show("client of it", lambda: chromadb.PersistentClient(folder, settings=Settings(allow_reset=True), tenant="acme", database="sales").count_collections())
    show("client of none", lambda: chromadb.PersistentClient(folder, settings=Settings(allow_reset=True), tenant="nobody"))
    show("drop database", admin.delete_database, "sales", "acme")
    show("drop missing", admin.delete_database, "sales", "acme")
    show("heart", lambda: client.heartbeat() > 10**18)
    show("version", lambda: type(client.get_version()).__name__)
    show("batch", lambda: client.get_max_batch_size() >= 5461)
    show("settings", lambda: [client.get_settings().is_persistent, client.get_settings().allow_reset])
    show("other settings", lambda: chromadb.PersistentClient(folder, settings=Settings(allow_reset=False)))
    show("reset", client.reset)
    show("after reset", client.count_collections)
    show("reset refused", chromadb.EphemeralClient().reset)


def main():
    folder = sys.argv[2] + "/store"
    client = chromadb.PersistentClient(path=folder, settings=Settings(allow_reset=True))
    for part in (functions, collections, writes, reads, schemas):  # in this order lists of a deleted collection turn up nowhere in Chroma
        part(client)
    client.create_collection("kept", embedding_function=None).add(ids=["a"], embeddings=[[1, 2]], documents=["kept"])
    show("kept", lambda: chromadb.PersistentClient(path=folder, settings=Settings(allow_reset=True)).get_collection("kept", embedding_function=None).get())
    searches()
    administration(client, folder)
    memory = chromadb.Client()
    show("memory", lambda: memory.get_or_create_collection("docs", embedding_function=None).count())
    show("shared", lambda: [one.name for one in chromadb.EphemeralClient().list_collections()])
    memory.delete_collection("docs")
    oddities(memory)


main()

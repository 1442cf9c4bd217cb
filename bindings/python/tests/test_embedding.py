# SPDX-License-Identifier: Apache-2.0
"""Embedding functions: Chroma's protocol, the default, the stored names, and what goes wrong in them."""

import gc
import sys
import types
import weakref

import numpy as np

import pigment as chromadb
from pigment import errors
from pigment.embedding import _registered, _sentence_transformer
from tap import raises


class Letters(chromadb.EmbeddingFunction):
    def __init__(self, letters="abc"):
        self.letters, self.asked = letters, []

    def __call__(self, input):
        self.asked.append(("document", list(input)))
        return [[float(text.count(letter)) for letter in self.letters] for text in input]

    def embed_query(self, input):
        self.asked.append(("query", list(input)))
        return np.array([[text.count(letter) for letter in self.letters] for text in input])

    @staticmethod
    def name():
        return "letters"

    def get_config(self):
        return {"letters": self.letters}

    @staticmethod
    def build_from_config(config):
        return Letters(config["letters"])


def client():
    return chromadb.EphemeralClient()


def test_texts_are_embedded_by_purpose_and_equal_the_same_with_vectors():
    function = Letters()
    docs = client().create_collection("docs", embedding_function=function)
    docs.add(ids=["a", "b"], documents=["aab", "ccc"])
    assert docs.get(include=["embeddings"])["embeddings"].tolist() == [[2, 1, 0], [0, 0, 3]]
    by_text = docs.query(query_texts=["cc", "a"], n_results=1)
    assert by_text == docs.query(query_embeddings=[[0, 0, 2], [1, 0, 0]], n_results=1) and by_text["ids"] == [["b"], ["a"]]
    docs.update(ids=["a"], documents=["bbb"])
    docs.upsert(ids=["c"], documents="abc")
    assert function.asked == [("document", ["aab", "ccc"]), ("query", ["cc", "a"]), ("document", ["bbb"]), ("document", ["abc"])]
    docs.add(ids=["d"], documents=["aaa"], embeddings=[[9, 9, 9]])
    assert len(function.asked) == 4  # vectors win


def test_the_stored_name_decides_what_comes_without_being_asked():
    store = client()
    store.create_collection("docs", embedding_function=Letters("xy"), configuration={"hnsw": {"space": "ip"}}).add(ids=["a"], documents=["xxy"])
    found = store.get_collection("docs")
    assert found.configuration_json["embedding_function"] == {"type": "known", "name": "letters", "config": {"letters": "xy"}}
    error = raises(errors.FailedPreconditionError, found.query, query_texts=["x"])
    assert error.detail.name == "NO_EMBEDDING_FUNCTION" and found.query(query_embeddings=[[1, 0]])["ids"] == [["a"]]
    raises((ValueError, "new: other vs persisted: letters"), store.get_collection, "docs",
           embedding_function=type("Other", (Letters,), {"name": staticmethod(lambda: "other")})())
    assert store.get_collection("docs", embedding_function=Letters("xy")).query(query_texts=["x"])["ids"] == [["a"]]
    # The default never conflicts, and never takes the place of the stored one.
    plain = store.get_collection("docs", embedding_function=chromadb.DefaultEmbeddingFunction())
    raises(errors.FailedPreconditionError, plain.query, query_texts=["x"])
    chromadb.register_embedding_function(Letters)
    try:
        assert store.get_or_create_collection("docs").query(query_texts=["x"])["distances"] == [[-1.0]]
        assert store.list_collections()[0].query(query_texts=["x"])["ids"] == [["a"]]
    finally:
        del _registered["letters"]
    raises((ValueError, "new: other"), store.get_or_create_collection, "docs",
           embedding_function=type("Other", (Letters,), {"name": staticmethod(lambda: "other")})())


def test_without_a_model_the_default_says_what_to_do():
    store = client()
    docs = store.create_collection("docs")
    assert docs.configuration_json["embedding_function"]["name"] == "default"
    for call in (lambda: docs.add(ids=["a"], documents=["x"]), lambda: store.get_collection("docs").query(query_texts=["x"])):
        error = raises((ValueError, "pip install sentence-transformers"), call)
        assert "all-MiniLM-L6-v2" in str(error) and "LexicalEmbeddingFunction" in str(error) and "pigment_lexical_v1" in str(error)
    docs.add(ids=["a"], embeddings=[[1]])
    assert docs.count() == 1
    raises((ValueError, "sentence-transformers"), chromadb.SentenceTransformerEmbeddingFunction, "all-mpnet-base-v2")
    # A collection that was made without a function has none, whatever the default is.
    none = store.create_collection("none", embedding_function=None)
    assert none.configuration["embedding_function"] is None
    raises(errors.FailedPreconditionError, store.get_collection("none").add, ids=["a"], documents=["x"])


def test_the_default_is_minilm_of_an_installed_sentence_transformers():
    """With a module of that name that records what it is asked for."""
    loaded = []

    class SentenceTransformer:
        def __init__(self, model_name_or_path, device):
            loaded.append((model_name_or_path, device))

        def encode(self, texts, convert_to_numpy, normalize_embeddings):
            assert convert_to_numpy and normalize_embeddings
            return np.array([[len(text), 1.0] for text in texts], np.float64)

    sys.modules["sentence_transformers"] = types.SimpleNamespace(SentenceTransformer=SentenceTransformer)
    _sentence_transformer.cache_clear()
    try:
        docs = client().create_collection("docs")
        assert loaded == []  # not before a text needs it
        docs.add(ids=["a", "b"], documents=["xx", "yyyy"])
        assert docs.query(query_texts=["zzzz"], n_results=1)["ids"] == [["b"]] and loaded == [("all-MiniLM-L6-v2", "cpu")]
    finally:
        del sys.modules["sentence_transformers"]
        _sentence_transformer.cache_clear()


def test_the_lexical_function_is_the_librarys_and_comes_back_by_its_name():
    store = client()
    docs = store.create_collection("docs", embedding_function=chromadb.LexicalEmbeddingFunction(64))
    docs.add(ids=["fox", "law"], documents=["the quick brown fox", "contracts and torts"])
    assert docs.configuration["hnsw"]["space"] == "cosine"
    assert docs.query(query_texts=["foxes are quick"], n_results=1)["ids"] == [["fox"]]
    found = store.get_collection("docs")
    assert found.query(query_texts=["contract"], n_results=1)["ids"] == [["law"]]
    vectors = chromadb.LexicalEmbeddingFunction(64)(["the quick brown fox"])
    assert np.array_equal(vectors[0], docs.get("fox", include=["embeddings"])["embeddings"][0]) and abs(np.linalg.norm(vectors[0]) - 1) < 1e-6


def test_what_a_function_raises_comes_out_as_it_is():
    class Failing(Letters):
        def __call__(self, input):
            raise LookupError("no such word")

    docs = client().create_collection("docs", embedding_function=Failing())
    error = raises(LookupError, docs.add, ids=["a"], documents=["x"])
    assert error.args == ("no such word",) and isinstance(error.__context__, errors.ChromaError) and "letters" in str(error.__context__)
    assert error.__traceback__ is not None and docs.count() == 0
    for wrong in (lambda input: None, lambda input: "abc", lambda input: [["a"]], lambda input: [[1], [1, 2]], lambda input: np.ones((1, 2, 3)),
                  lambda input: [[1.0]] * (len(input) + 1), lambda input: [[float("nan")]] * len(input), lambda input: object()):
        class Wrong(Letters):
            def __call__(self, input):
                return wrong(input)

        docs = client().get_or_create_collection("wrong", embedding_function=Wrong())
        raises(Exception, docs.add, ids=["a"], documents=["x"])
        assert docs.count() == 0


def test_a_function_may_use_another_collection_meanwhile():
    store = client()
    words = store.create_collection("words", embedding_function=None)
    words.add(ids=["a", "b"], embeddings=[[1, 0], [0, 1]])

    class Looking(Letters):
        def __call__(self, input):
            return words.get(ids=[text for text in input], include=["embeddings"])["embeddings"]

        embed_query = __call__

    docs = store.create_collection("docs", embedding_function=Looking())
    docs.add(ids=["1", "2"], documents=["a", "b"])
    assert docs.query(query_texts=["b"], n_results=1)["ids"] == [["2"]]


def test_functions_of_old_programs_have_no_name_and_are_taken():
    class Old:
        def __call__(self, input):
            return [[float(len(text))] for text in input]

    store = client()
    docs = store.create_collection("docs", embedding_function=Old())
    docs.add(ids=["a"], documents=["xx"])
    assert docs.configuration_json["embedding_function"] is None
    assert store.get_collection("docs", embedding_function=Old()).query(query_texts=["yy"])["distances"] == [[0.0]]
    raises((ValueError, "signature"), store.create_collection, "more", embedding_function=lambda texts: [])
    raises((ValueError, "signature"), store.create_collection, "more", embedding_function=type("No", (), {"__call__": lambda self, texts: 1})())
    raises(ValueError, store.create_collection, "more", embedding_function=5)


def test_a_function_is_let_go_with_its_last_collection():
    store, function = client(), Letters()
    gone = weakref.ref(function)
    docs = store.create_collection("docs", embedding_function=function)
    docs.add(ids=["a"], documents=["a"])
    again = store.get_collection("docs", embedding_function=function)
    del function, docs
    gc.collect()
    assert gone() is not None and again.query(query_texts=["a"])["ids"] == [["a"]]
    del again
    gc.collect()
    assert gone() is None


def test_images_and_uris_go_through_the_function_and_the_data_loader():
    class Pixels(Letters):
        def __call__(self, input):
            return [np.asarray(image, np.float32).reshape(-1)[:2] for image in input]

        embed_query = __call__

    store = client()

    def load(uris):
        return [np.full((2, 2), len(uri)) for uri in uris]

    docs = store.create_collection("docs", embedding_function=Pixels(), data_loader=load)
    docs.add(ids=["u"], uris=["abc"])
    docs.add(ids=["i"], images=[np.zeros((2, 2))])
    assert docs.get(include=["embeddings"])["embeddings"].tolist() == [[3, 3], [0, 0]]
    answer = docs.get(ids=["u"], include=["data"])
    assert answer["data"][0].tolist() == [[3, 3], [3, 3]] and (answer["uris"], answer["included"]) == (["abc"], ["data", "uris"])
    assert docs.query(query_images=[np.zeros((2, 2))], n_results=1)["ids"] == [["i"]]
    assert docs.query(query_uris=["xyz"], n_results=1, include=["data", "uris"])["uris"] == [["abc"]]
    plain = store.get_collection("docs", embedding_function=Pixels())
    raises((ValueError, "data loader"), plain.add, ids=["v"], uris=["abc"])
    raises((ValueError, "data loader"), plain.get, include=["data"])

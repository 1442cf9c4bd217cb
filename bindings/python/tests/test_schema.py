# SPDX-License-Identifier: Apache-2.0
"""Schema as an object: what test_chroma.py cannot compare, for Chroma's embedded client has it not or otherwise."""

import json

import numpy as np
import pigment
from pigment import FtsIndexConfig, HnswIndexConfig, K, Schema, SpannIndexConfig, SparseVectorIndexConfig, StringInvertedIndexConfig, VectorIndexConfig, errors
from tap import raises


class Letters(pigment.EmbeddingFunction[list[str]]):
    def __init__(self, letters="abc"):
        self.letters = letters

    def __call__(self, input):
        return np.array([[text.count(letter) for letter in self.letters] for text in input], np.float32)

    @staticmethod
    def name():
        return "letters_of_a_schema"

    def get_config(self):
        return {"letters": self.letters}

    def default_space(self):
        return "ip"


class Other(Letters):
    @staticmethod
    def name():
        return "other"


def of_letters(function):
    return Schema().create_index(VectorIndexConfig(embedding_function=function))


def test_the_function_of_a_schema_is_that_of_the_collection():
    client = pigment.EphemeralClient()
    for number, given in enumerate(({}, {"embedding_function": None}, {"embedding_function": Letters()})):
        docs = client.create_collection(f"docs{number}", schema=of_letters(Letters()), **given)
        docs.add(ids=["a", "c"], documents=["aab", "cc"])
        assert docs.get(include=["embeddings"])["embeddings"].tolist() == [[2, 1, 0], [0, 0, 2]]
        assert docs.query(query_texts=["c"], n_results=1)["ids"] == [["c"]]
        assert (docs.configuration["hnsw"]["space"], docs.configuration_json["embedding_function"]) == (
            "ip", {"type": "known", "name": "letters_of_a_schema", "config": {"letters": "abc"}})
        again = client.create_collection(f"again{number}", schema=docs.schema)  # with its function
        assert again.schema == docs.schema and again.describe()["embedding_function"] == docs.describe()["embedding_function"]
    raises((ValueError, "Multiple embedding functions"), client.create_collection, "docs", schema=of_letters(Letters()), embedding_function=Other())
    assert "docs" not in [one.name for one in client.list_collections()]


def test_a_schema_of_no_function_takes_vectors_alone():
    client = pigment.EphemeralClient()
    docs = client.create_collection("docs", schema=of_letters(None))
    raises((errors.FailedPreconditionError, "no embedding function"), docs.add, ids=["a"], documents=["aab"])
    docs.add(ids=["a"], embeddings=[[1, 2]])
    assert docs.configuration_json["embedding_function"] is None and docs.schema == Schema.deserialize_from_json(docs.schema.serialize_to_json())
    letters = client.create_collection("letters", schema=of_letters(None), embedding_function=Letters())
    letters.add(ids=["a"], documents=["aab"])
    assert letters.configuration["hnsw"]["space"] == "ip"


def test_a_schema_is_an_object_of_another_package_or_json():
    class Foreign:  # as chromadb's
        defaults, keys = of_letters(Letters()).defaults, of_letters(Letters()).keys

        def serialize_to_json(self):
            return of_letters(Letters()).serialize_to_json()

    client = pigment.EphemeralClient()
    docs = client.create_collection("docs", schema=Foreign())
    docs.add(ids=["a"], documents=["aab"])
    assert docs.configuration["hnsw"]["space"] == "ip" and docs.count() == 1
    made = Schema().delete_index(StringInvertedIndexConfig(), key="title").create_index(
        VectorIndexConfig(space="cosine", embedding_function=None, hnsw=HnswIndexConfig(ef_search=33)))
    stored = client.create_collection("stored", schema=made).describe()["schema"]
    again = client.create_collection("again", schema=json.loads(json.dumps(stored)), embedding_function=None)
    assert again.describe()["schema"] == stored and not again.schema.keys["title"].string.string_inverted_index.enabled
    raises((errors.InvalidArgumentError, '"title"'), again.get, where={"title": "x"})


def test_what_the_library_has_not_is_refused_by_name():
    client = pigment.EphemeralClient()
    sparse = Schema().create_index(SparseVectorIndexConfig(), key="words")
    assert isinstance(raises((errors.UnimplementedError, "sparse vectors"), client.create_collection, "docs", schema=sparse, embedding_function=None),
                      NotImplementedError)
    raises((errors.UnimplementedError, "keys of customers"), Schema().set_cmek, object())
    for config, word in ((VectorIndexConfig(space="foo"), "foo"), (VectorIndexConfig(hnsw=HnswIndexConfig(ef_search="many")), "ef_search"),
                         (VectorIndexConfig(hnsw=HnswIndexConfig(max_neighbors=1)), "max_neighbors"),
                         (VectorIndexConfig(spann=SpannIndexConfig(write_nprobe=1)), "write_nprobe"),
                         (VectorIndexConfig(hnsw=HnswIndexConfig(), spann=SpannIndexConfig()), "spann"),
                         (VectorIndexConfig(full_vectors="f8"), "full_vectors")):
        raises((errors.InvalidArgumentError, word), client.create_collection, "docs", schema=Schema().create_index(config), embedding_function=None)
    raises(TypeError, HnswIndexConfig, depth=1)
    raises((TypeError, "config of an index"), Schema().create_index, HnswIndexConfig(), key="k")
    raises((ValueError, "source_key"), VectorIndexConfig, source_key="#id")
    raises((ValueError, "callable"), VectorIndexConfig, embedding_function=3)
    raises((ValueError, "no such index"), Schema.deserialize_from_json, {"defaults": {"int": {"tree": {"enabled": True}}}})
    assert client.count_collections() == 0


def test_a_schema_may_rank_documents():
    client = pigment.EphemeralClient()
    ranked = Schema().create_index(FtsIndexConfig(text_index={"analyzer": {"language": "english"}}), key=K.DOCUMENT)
    docs = client.create_collection("docs", schema=ranked, embedding_function=None)
    docs.add(ids=["a", "b"], embeddings=[[1], [2]], documents=["a dog", "foxes run"])
    assert docs.search_text("fox")["ids"] == [["b"]]
    text_index = docs.schema.keys["#document"].string.fts_index.config.text_index
    assert text_index == docs.configuration["text_index"] == {"analyzer": {"language": "english", "stop_words": False}, "k1": 1.2, "b": 0.75}
    unranked = Schema().delete_index(FtsIndexConfig(text_index={}), key=K.DOCUMENT)
    raises((errors.InvalidArgumentError, "documents are not ranked"), client.create_collection, "none", schema=unranked, embedding_function=None)


def test_every_collection_shows_what_it_is_made_of():
    client = pigment.EphemeralClient()
    for kind, width, configuration in (("hnsw", "ef_search", {"hnsw": {"space": "cosine", "ef_search": 7}}),
                                       ("spann", "search_nprobe", {"spann": {"space": "l2", "search_nprobe": 9}}),
                                       ("hnsw", "ef_search", {"hnsw": {"space": "ip"}, "full_vectors": "f16"}),
                                       ("hnsw", "ef_search", {"hnsw": {"space": "l2"}, "text_index": {"k1": 2.5}})):
        docs = client.create_collection("docs", embedding_function=None, configuration=configuration)
        assert docs.describe()["schema"] is None
        same = client.create_collection("same", schema=docs.schema)
        assert same.configuration_json == docs.configuration_json and same.schema == docs.schema
        docs.modify(configuration={kind: {width: 11}})
        assert getattr(getattr(docs.schema.keys["#embedding"].float_list.vector_index.config, kind), width) == 11
        client.delete_collection("docs")
        client.delete_collection("same")

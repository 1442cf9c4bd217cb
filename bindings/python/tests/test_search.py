# SPDX-License-Identifier: Apache-2.0
"""Collection.search, which Chroma's embedded client has not: against what its server's rules say for small cases, and against an evaluation record by record for random ones. What a
Search prints is compared in test_chroma.py."""

import math
import random

import numpy as np
import pigment
from pigment import K, errors
from pigment.execution.expression import (
    Aggregate, And, Eq, GroupBy, Gt, In, Knn, Max, MaxK, Min, MinK, Mul, Or, Rrf, Search, Select, Sum, Text, Val, Where,
)
from tap import raises

LETTERS = ("a", "b", "c", "d", "e")


def line(count=5):
    """Records a, b, c … at 0, 1, 2 …"""
    docs = pigment.EphemeralClient().create_collection("docs", embedding_function=None)
    docs.add(ids=list(LETTERS[:count]), embeddings=[[place, 0] for place in range(count)], documents=[f"document {id}" for id in LETTERS[:count]],
             metadatas=[{"half": "low" if place < 2 else "high", "n": place} for place in range(count)])
    return docs


def scores(docs, rank, **keywords):
    found = docs.search(Search(rank=rank, select=["#score"], **keywords))
    return dict(zip(found["ids"][0], found["scores"][0]))


def test_ranks_are_joined_as_their_defaults_say():
    docs, near, far = line(), Knn([0, 0], limit=3), Knn([4, 0], limit=3)
    assert scores(docs, near) == {"a": 0, "b": 1, "c": 4} and scores(docs, far) == {"e": 0, "d": 1, "c": 4}
    assert scores(docs, near + far) == {"c": 8}  # known to both
    assert scores(docs, near + Knn([4, 0], limit=3, default=100)) == {"a": 100, "b": 101, "c": 8}
    assert scores(docs, Knn([0, 0], limit=3, default=50) + Knn([4, 0], limit=3, default=100)) == {"a": 100, "b": 101, "c": 8, "d": 51, "e": 50}
    assert scores(docs, near * 2 - 1) == {"a": -1, "b": 1, "c": 7} and scores(docs, 8 / near) == {"c": 2, "b": 8, "a": math.inf}
    assert scores(docs, near.max(1)) == {"a": 1, "b": 1, "c": 4} and scores(docs, -near.min(1)) == {"b": -1, "c": -1, "a": 0}
    assert list(scores(docs, abs(near - 4))) == ["c", "b", "a"] and abs(scores(docs, (near + 1).log().exp())["c"] - 5) < 1e-5
    assert scores(docs, Val(1)) == {}  # known for no record
    assert scores(docs, Knn([4, 0], limit=2, return_rank=True)) == {"e": 0, "d": 1}
    assert list(scores(docs, (near - 1).log())) == ["b", "c", "a"]  # log(0), log(3), and log(-1), which is no number and comes last


def test_equal_scores_come_in_the_order_of_insertion():
    docs = line()
    assert list(scores(docs, Knn([4, 0], limit=5) * 0)) == list(LETTERS)


def test_fusion_counts_places():
    docs = line()
    fused = scores(docs, Rrf([Knn([0, 0], limit=3, default=100, return_rank=True), Knn([4, 0], limit=3, default=100, return_rank=True)], weights=[3, 1], normalize=True))
    expected = {id: -(0.75 / (60 + (place if place < 3 else 100)) + 0.25 / (60 + (4 - place if place > 1 else 100))) for place, id in enumerate(LETTERS)}
    assert list(fused) == sorted(expected, key=expected.__getitem__)
    assert all(abs(fused[id] - expected[id]) < 1e-8 for id in LETTERS)
    assert list(scores(docs, Rrf([Knn([0, 0], limit=3, return_rank=True), Knn([4, 0], limit=3, return_rank=True)]))) == ["c"]


def test_texts_and_vectors_are_ranked_together():
    docs = pigment.EphemeralClient().create_collection(
        "docs", embedding_function=pigment.LexicalEmbeddingFunction(), configuration={"text_index": {"analyzer": {"language": "english"}}})
    docs.add(ids=["fox", "dog", "law"], documents=["a quick fox runs", "a lazy dog, and a dog", "contracts and torts"])
    found = docs.search(Search().rank(Text("dogs")).select(K.SCORE))
    ranked = docs.search_text("dogs", include=[])
    assert found["ids"] == ranked["ids"] == [["dog"]] and abs(found["scores"][0][0] + ranked["scores"][0][0]) < 1e-6
    both = Rrf([Text("running foxes", return_rank=True, default=1000), Knn("lazy dogs", return_rank=True, default=1000)], weights=[1, 2])
    assert docs.search(Search(rank=both))["ids"] == [["fox", "dog", "law"]]
    assert Text("dogs", limit=3).to_dict() == {"$text": {"query": "dogs", "limit": 3}}
    assert docs.search(Search(rank=Text("dogs").to_dict()))["ids"] == [["dog"]]


def test_a_search_has_filters_pages_and_columns():
    docs = line()
    found = docs.search([Search().where(K("n") > 0).rank(Knn([0, 0])).limit(2, offset=1).select(K.DOCUMENT, K.SCORE, "n"), Search().limit(2, offset=1),
                         Search(where={"half": "none"}).rank(Knn([0, 0])).select_all(), Search().rank(Knn([1, 0], limit=1)).select_all()])
    assert found["ids"] == [["c", "d"], ["b", "c"], [], ["b"]] and found["select"][0] == ["#document", "#score", "n"]
    assert found["documents"] == [["document c", "document d"], None, [], ["document b"]]
    assert found["metadatas"] == [[{"n": 2}, {"n": 3}], None, [], [{"half": "low", "n": 1}]] and found["scores"] == [[4, 9], None, [], [0]]
    assert found["embeddings"][:3] == [None, None, []] and found["embeddings"][3].tolist() == [[1, 0]]
    assert found.rows()[:3] == [[{"id": "c", "document": "document c", "metadata": {"n": 2}, "score": 4.0},
                                 {"id": "d", "document": "document d", "metadata": {"n": 3}, "score": 9.0}], [{"id": "b"}, {"id": "c"}], []]
    assert docs.search(Search().select("half", "missing"), pigment.ReadLevel.INDEX_ONLY)["metadatas"][0][0] == {"half": "low"}
    assert docs.search(Search().select("missing"))["metadatas"] == [[None] * 5] and docs.search([]) == dict.fromkeys(found, [])
    assert docs.search(Search(where=And([Gt("n", 0), Or([Eq(K("half"), "low"), In("n", [4])])])))["ids"] == docs.search(Search(where=Where.from_dict({"n": {"$in": [1, 4]}})))["ids"] == [["b", "e"]]
    assert docs.search(Search(where=K.ID.is_in(["a", "e", "zz"]), select=Select([K.DOCUMENT])))["ids"] == [["a", "e"]]
    empty = pigment.EphemeralClient().create_collection("empty", embedding_function=None)
    assert empty.search([Search(), Search(rank=Knn([1, 2]))])["ids"] == [[], []]


def test_groups_keep_their_first():
    docs = line()
    docs.add(ids=["f"], embeddings=[[5, 0]])  # of no group, as the next one
    docs.add(ids=["g"], embeddings=[[6, 0]], metadatas=[{"half": "high", "n": 2.5}])
    near = Search(rank=Knn([0, 0]), select=["#score"])

    def kept(keys, aggregate, **changes):
        return docs.search(Search(rank=Knn([0, 0]), group_by=GroupBy(keys, aggregate), **changes))["ids"][0]

    assert kept("half", MinK(K.SCORE, 1)) == ["a", "c", "f"] and kept(K("half"), MaxK(K.SCORE, 1)) == ["b", "f", "g"]
    assert kept(["half"], MinK(["n"], 2)) == ["a", "b", "c", "d", "f"] and kept("half", MaxK("n", 2), limit=3) == ["a", "b", "e"]  # floats are above integers
    assert kept(["half", "n"], MinK(K.SCORE, 1)) == list("abcdefg") and kept("nothing", MinK(K.SCORE, 2), limit={"offset": 1}) == ["b"]
    assert docs.search(near.group_by(GroupBy("half")))["ids"] == docs.search(near)["ids"]  # without an aggregate nothing is left out
    raises((errors.InvalidArgumentError, "needs a rank"), docs.search, Search(group_by=GroupBy("half", MinK(K.SCORE, 1))))
    raises((errors.InvalidArgumentError, "#score"), kept, K.SCORE, MinK("n", 1))
    raises((errors.InvalidArgumentError, "#document"), kept, "half", MinK(K.DOCUMENT, 1))
    raises((errors.InvalidArgumentError, "k above 0"), kept, "half", MinK(K.SCORE, 0))
    assert isinstance(Aggregate.from_dict({"$max_k": {"keys": ["n"], "k": 1}}), MaxK)


def test_wrong_searches_are_refused():
    docs = line()
    raises((errors.UnimplementedError, "sparse"), docs.search, Search(rank=Knn("x", key="words")))
    raises((errors.InvalidArgumentError, "dimension"), docs.search, Search(rank=Knn([1])))
    raises((errors.InvalidArgumentError, "#nothing"), docs.search, Search().select("#nothing"))
    raises((errors.InvalidArgumentError, "limit above 0"), docs.search, Search(rank=Knn([1, 2], limit=0)))
    raises((errors.InvalidArgumentError, "limit above 0"), docs.search, Search().limit(0))
    raises((errors.InvalidArgumentError, "offset"), docs.search, Search().limit(1, offset=-1))
    raises((errors.FailedPreconditionError, "embedding function"), docs.search, Search(rank=Knn("a text")))
    raises((errors.FailedPreconditionError, "text index"), docs.search, Search(rank=Text("a text")))
    raises(ValueError, docs.search, Search(rank=Knn([[1, 2], [3, 4]])))
    raises(ValueError, docs.search, Search(where={"n": {"$foo": 1}}))
    raises((ValueError, "at least one rank"), docs.search, Search(rank=Rrf([])))
    raises((TypeError, "Search"), docs.search, None)
    raises((TypeError, "Search"), docs.search, [{"rank": None}])
    raises((TypeError, "rank or a number"), lambda: Knn([1, 2]) + "x")


def test_random_ranks_are_what_they_are_record_by_record():
    seed = random.randrange(2**32)
    draw = random.Random(seed)
    rows = 120
    # All numbers are integers below 2^24, and so exact in float32, whatever is done with them first; many are equal.
    vectors = np.array([[draw.randrange(6) for _ in range(3)] for _ in range(rows)], np.float32)
    docs = pigment.EphemeralClient().create_collection("docs", embedding_function=None)
    docs.add(ids=[str(row) for row in range(rows)], embeddings=vectors, metadatas=[{"third": row % 3} for row in range(rows)])

    def nearest(query, limit, allowed):
        distances = [(float(((vectors[row] - query) ** 2).sum()), row) for row in allowed]
        return sorted(distances)[:limit]

    def drawn(depth):
        """A rank, and a function of the allowed rows that gives ({row: number}, default)."""
        kind = draw.choice(("knn", "knn", "val")) if depth == 0 else draw.choice(("sum", "max", "min", "sub", "abs", "knn", *["mul"] * (depth == 1)))
        if kind == "val":
            value = draw.randrange(-8, 8)
            return Val(value), lambda allowed: ({}, value)
        if kind == "knn":
            query, limit = np.array([draw.randrange(6) for _ in range(3)], np.float32), draw.randrange(1, 60)
            default, places = draw.choice((None, 7)), draw.random() < 0.3
            return Knn(query, limit=limit, default=default, return_rank=places), lambda allowed: (
                {row: place if places else distance for place, (distance, row) in enumerate(nearest(query, limit, allowed))}, default)
        if kind == "abs":
            inner, number_of = drawn(depth - 1)

            def absolute(allowed):
                known, default = number_of(allowed)
                return {row: abs(number) for row, number in known.items()}, None if default is None else abs(default)

            return abs(inner), absolute
        parts = [drawn(depth - 1) for _ in range(2 if kind == "sub" else draw.randrange(2, 4))]
        join = {"sum": lambda a, b: a + b, "mul": lambda a, b: a * b, "max": max, "min": min, "sub": lambda a, b: a - b}[kind]
        made = parts[0][0] - parts[1][0] if kind == "sub" else {"sum": Sum, "mul": Mul, "max": Max, "min": Min}[kind]([part for part, _ in parts])

        def joined(allowed):
            known, default = parts[0][1](allowed)
            for _, number_of in parts[1:]:
                others, other_default = number_of(allowed)
                rows = {row for row in known | others if (row in known or default is not None) and (row in others or other_default is not None)}
                known = {row: join(known.get(row, default), others.get(row, other_default)) for row in rows}
                default = None if default is None or other_default is None else join(default, other_default)
            return known, default

        return made, joined

    found_something = 0
    for turn in range(400):
        rank, number_of = drawn(draw.randrange(3))
        third = draw.choice((None, 0, 1, 2))
        known, _ = number_of([row for row in range(rows) if third is None or row % 3 == third])
        expected = sorted((number, row) for row, number in known.items())
        where = None if third is None else K("third") == third
        limit, offset = draw.choice((None, 1, 7)), draw.choice((0, 0, 3))
        found = docs.search(Search(where=where, rank=rank, limit={"offset": offset, **({} if limit is None else {"limit": limit})}, select=["#score"]))
        wanted = expected[offset:None if limit is None else offset + limit]
        assert list(zip(found["scores"][0], map(int, found["ids"][0]))) == wanted, f"seed {seed}, turn {turn}: {rank}"
        found_something += bool(wanted)
    assert found_something > 200, f"seed {seed}: {found_something}"

# SPDX-License-Identifier: Apache-2.0
"""What goes in and comes out: arrays without copies, all types that are taken, and everything that is none of them."""

import gc
import json
import math
import random
import subprocess
import sys
import weakref

import numpy as np
import pyarrow

import pigment
from pigment import _core, errors
from tap import raises


def fresh(**options):
    client = pigment.EphemeralClient()
    for one in client.list_collections():
        client.delete_collection(one.name)
    return client.create_collection("docs", embedding_function=None, **options)


def filled(rows=5):
    docs = fresh()
    docs.add(ids=[f"r{row}" for row in range(rows)], embeddings=np.arange(rows * 3, dtype=np.float32).reshape(rows, 3),
             documents=[f"text {row}" for row in range(rows)], metadatas=[{"n": row} for row in range(rows)])
    return docs


def test_answers_are_views_of_the_librarys_memory_that_outlive_everything():
    docs = filled()
    answer = docs.get(include=["embeddings"])
    matrix, result = answer["embeddings"], weakref.ref(answer)
    assert matrix.dtype == np.float32 and not matrix.flags.owndata and not matrix.flags.writeable
    arrays = docs.query(query_embeddings=[[0, 0, 0]], include=["distances"]).arrays
    assert arrays["distances"].tolist() == [5.0, 50.0, 149.0, 302.0, 509.0] and arrays["query_offsets"].tolist() == [0, 5]
    docs.delete(ids=["r0", "r1", "r2"])
    docs._client.close()
    del answer, docs
    gc.collect()
    assert result() is None
    assert matrix.tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11], [12, 13, 14]]
    raises(ValueError, matrix.__setitem__, (0, 0), 1.0)


def test_a_matrix_of_float32_goes_in_without_a_copy():
    class Watched(np.ndarray):
        pass

    from pigment.embedding import as_matrix
    matrix = np.ones((2, 3), np.float32)
    assert as_matrix(matrix) is matrix and np.shares_memory(as_matrix(matrix[0]), matrix)
    watched = matrix.view(Watched)
    docs = fresh()
    docs.add(ids=["a", "b"], embeddings=watched)
    assert docs.count() == 2


GROWTH = """
import resource, sys
import numpy as np
import pigment

def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

docs = pigment.EphemeralClient().create_collection("docs", embedding_function=None)
docs.add(ids=["a"], embeddings=[[1.0, 2.0]])
matrix = np.ones((60_000, 500), np.float32)  # of another dimension, so that nothing is done with it
given = list(matrix) if sys.argv[1] == "rows" else matrix
try:
    docs.query(query_embeddings=matrix[:2])
except pigment.errors.InvalidArgumentError:
    before = most()
try:
    docs.query(query_embeddings=given)
except pigment.errors.InvalidArgumentError as error:
    print(error.detail.name, (most() - before) / (60_000 * 500 * 4))
"""


def test_a_matrix_of_float32_takes_no_memory_on_its_way():
    """What the process grows by in a call, in sizes of the matrix. A list of its rows is put together, which shows that a copy is seen."""
    def growth(form):
        done = subprocess.run([sys.executable, "-c", GROWTH, form], stdout=subprocess.PIPE, text=True, check=True)
        detail, sizes = done.stdout.split()
        assert detail == "DIMENSION"
        return float(sizes)

    assert growth("matrix") < 0.2, growth("matrix")
    assert growth("rows") > 0.8, growth("rows")


def test_all_number_types_and_strides_are_taken():
    docs, count = fresh(), 0
    for dtype in (np.float16, np.float32, np.float64, np.int32, np.int64):
        wide = np.arange(24).reshape(4, 6).astype(dtype)
        for matrix in (wide[:, :3], wide[::2, :3], np.ascontiguousarray(wide[:, 3:]), np.array(wide[:, :3].tolist(), dtype)):
            ids = [str(count + row) for row in range(len(matrix))]
            docs.add(ids=ids, embeddings=matrix)
            got = docs.get(ids=ids, include=["embeddings"])["embeddings"]
            assert got.tolist() == matrix.astype(np.float32).tolist(), (dtype, matrix)
            count += len(matrix)
    for given in ([1, 2, 3], [[1, 2, 3]], np.array([1.0, 2.0, 3.0]), [np.array([1, 2, 3], np.float32)], [(1, 2, 3)]):
        docs.upsert(ids="one", embeddings=given)
        assert docs.get("one", include=["embeddings"])["embeddings"].tolist() == [[1, 2, 3]]


def test_what_is_no_matrix_of_numbers_is_refused_and_nothing_written():
    docs = filled()
    wrong = ["abc", 1, b"x", object(), {"a": 1}, {1.0}, [], [[]], [["a"]], [[True]], [None], [[None]], [["1.5"]], [[1, 2], [1]],
             [[1, 2, math.nan]], [[1, 2, math.inf]], [[1, 2]], np.ones((1, 3), bool), np.ones((1, 3), np.complex64), np.ones((1, 1, 3)),
             np.array([["a", "b", "c"]]), np.array([[object()] * 3]), np.ones((1, 3))[:, ::-1][:, ::2], np.ones((0, 3)), np.float32(1),
             np.ones((1, 3), ">f4"), [[[1, 2, 3]]], [[1e300, 0, 0]], np.array([[1e300, 0, 0]]), iter([[1, 2, 3]])]
    for value in wrong:
        for call in (lambda: docs.add(ids=["new"], embeddings=value), lambda: docs.upsert(ids=["new"], embeddings=value),
                     lambda: docs.query(query_embeddings=value)):
            error = raises(Exception, call)
            assert isinstance(error, (ValueError, TypeError, errors.InvalidArgumentError)), (value, error)
    assert docs.count() == 5


WRONG = [0, 1.5, True, object(), {"a": 1}, {"a"}, (1, 2), [1], [object()], [["a"]], b"\xff", "\ud800", float("nan"), lambda: 0, type, [None],
         [{"a": object()}], [{"a": {"b": [1]}}], [{1: 2}], {"$and": 3}, {"a": {"$in": object()}}, {"a": object()}, -1, 2**70, [[]], "", [], {}]


def test_wrong_types_everywhere_are_exceptions_and_never_worse():
    """Every argument of every call in turn, and a thousand random mixtures."""
    docs = filled()
    client, draw, refused = docs._client, random.Random(1), 0
    good = {
        docs.add: {"ids": ["x"], "embeddings": [[1, 2, 3]], "metadatas": [{"a": 1}], "documents": ["d"], "images": None, "uris": ["u"]},
        docs.upsert: {"ids": ["x"], "embeddings": [[1, 2, 3]], "metadatas": [{"a": 1}], "documents": ["d"], "images": None, "uris": ["u"]},
        docs.update: {"ids": ["x"], "embeddings": [[1, 2, 3]], "metadatas": [{"a": 1}], "documents": ["d"], "images": None, "uris": ["u"]},
        docs.delete: {"ids": ["none"], "where": {"a": 1}, "where_document": {"$contains": "zz"}, "limit": 1},
        docs.get: {"ids": ["x"], "where": {"a": 1}, "limit": 1, "offset": 0, "where_document": {"$contains": "d"}, "include": ["uris"],
                   "order_by": "a", "cursor": None, "explain": True},
        docs.query: {"query_embeddings": [[1, 2, 3]], "query_texts": None, "ids": ["x"], "n_results": 2, "where": {"a": 1},
                     "where_document": {"$contains": "d"}, "include": ["uris"], "max_distance": 5.0, "recall": 1.0, "search_width": 0,
                     "threads": 1, "explain": False, "query_images": None, "query_uris": None},
        docs.count: {"ids": ["x"], "where": {"a": 1}, "where_document": {"$contains": "d"}},
        docs.facets: {"keys": ["a"], "ids": ["x"], "where": {"a": 1}, "where_document": {"$contains": "d"}, "limit": 1},
        docs.search_text: {"queries": ["d"], "n_results": 1, "ids": ["x"], "where": {"a": 1}, "where_document": {"$contains": "d"},
                           "include": ["uris"], "operator": "any", "highlights": True, "explain": True},
        docs.contains: {"ids": ["x"]}, docs.peek: {"limit": 3}, docs.fork: {"new_name": "forked"},
        docs.modify: {"name": None, "metadata": {"a": 1}, "configuration": None},
        client.create_collection: {"name": "made", "schema": None, "configuration": None, "metadata": {"a": 1}, "embedding_function": None},
        client.get_collection: {"name": "docs", "embedding_function": None}, client.get_collection_by_id: {"id": docs.id},
        client.list_collections: {"limit": 1, "offset": 0}, client.create_tenant: {"name": "abc"}, client.get_tenant: {"name": "abc"},
        client.create_database: {"name": "abc", "tenant": "default_tenant"}, client.list_databases: {"limit": 1, "offset": 1},
        client.set_database: {"database": "abc"}, client.check: {"full": False},
    }

    def attempt(call, arguments):
        nonlocal refused
        try:
            call(**arguments)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, NotImplementedError, errors.ChromaError):
            refused += 1
        finally:
            client.tenant, client.database = "default_tenant", "default_database"

    for call, arguments in good.items():
        for name in arguments:
            for value in WRONG:
                attempt(call, {**arguments, name: value})
    for _ in range(1000):
        call = draw.choice(list(good))
        attempt(call, {name: draw.choice([value, *WRONG]) for name, value in good[call].items()})
    assert refused > 2000, refused
    assert docs.get(ids=["r0"])["documents"] == ["text 0"]


def test_results_cannot_be_made_by_hand_and_core_refuses_what_it_does_not_know():
    for kind in (_core.Result, _core.View):
        raises(TypeError, kind)
    result = filled().get()._result
    for wrong in ("", "nothing", 1, None):
        raises((KeyError if isinstance(wrong, str) else TypeError), result.texts, wrong, False)
    raises(TypeError, _core.query, 1)
    raises(TypeError, _core.add, 0, (), None, None, None, None, None)


def random_metadata(draw):
    def text():
        return "".join(draw.choice(['a', '"', "\\", "\n", "\0", "é", "日", "😀", "/", "\x1f", "\x7f", "u"]) for _ in range(draw.randrange(6)))

    def scalar():
        return draw.choice([text(), draw.randrange(-2**63, 2**63), draw.randrange(-99, 99), draw.uniform(-1, 1), 10.0 ** draw.randrange(-300, 300),
                            0.0, -0.0, 1.0, True, False, 999999999999999999, -999999999999999999, 99999999999999999])

    def value():
        if draw.random() < 0.7:
            return scalar()
        kind = draw.choice([text, lambda: draw.randrange(-9, 9), lambda: draw.uniform(-1, 1), lambda: draw.random() < 0.5])
        return [kind() for _ in range(draw.randrange(1, 4))]

    return {"k" + text(): value() for _ in range(draw.randrange(1, 40 if draw.random() < 0.1 else 6))}


def test_metadata_comes_back_as_it_was_given():
    """Our own printing and reading of JSON, beside the interpreter's on the way."""
    docs, draw = fresh(), random.Random(3)
    given = [random_metadata(draw) for _ in range(2000)]
    docs.add(ids=[str(row) for row in range(len(given))], embeddings=np.zeros((len(given), 1), np.float32), metadatas=given)
    got = docs.get(include=["metadatas"])
    for one, other in zip(given, got["metadatas"]):
        assert one == other and {key: type(value) for key, value in one.items()} == {key: type(value) for key, value in other.items()}, one
    assert [json.loads(text) for text in pyarrow.table(got.to_arrow())["metadata"].to_pylist()] == got["metadatas"]


def test_decimals_come_back_to_the_last_bit():
    draw, docs = random.Random(7), fresh()
    numbers = [0.0, -0.0, 0.5, -0.1, 1e15, 123456789012345.0, 12345678901234.5, 1234567890123456.5, 0.00000000000001, 1e-15, 5e-324]
    numbers += [float(f"{draw.choice(['', '-'])}{draw.randrange(10 ** draw.randrange(9))}.{draw.randrange(10 ** draw.randrange(1, 10))}")
                for _ in range(3000)]
    docs.add(ids=[str(row) for row in range(len(numbers))], embeddings=np.zeros((len(numbers), 1)), metadatas=[{"x": one} for one in numbers])
    for metadata, number in zip(docs.get()["metadatas"], numbers):
        assert type(metadata["x"]) is float and metadata["x"].hex() == number.hex()


def test_texts_come_back_byte_for_byte():
    docs = fresh()
    texts = ["", "a\0b", "é", "日本語", "😀", "x" * 100000, b"\xff\xfe bytes", None]
    docs.add(ids=[f"id{row} é\n" for row in range(len(texts))], embeddings=np.zeros((len(texts), 1)), documents=texts)
    got = docs.get()["documents"]
    assert got[:6] == texts[:6] and got[7] is None and got[6].encode("utf-8", "surrogateescape") == texts[6]
    docs.add(ids=["again"], embeddings=[[0]], documents=[got[6]])
    assert docs.get("again")["documents"] == [got[6]]
    raises(errors.InvalidArgumentError, docs.add, ids=["\udcff"], embeddings=[[0]])


def test_to_arrow_and_to_pandas_have_the_same_rows():
    docs = filled()
    for answer in (docs.get(include=["documents", "metadatas", "embeddings", "uris"]), docs.query(query_embeddings=[[0, 0, 0], [9, 9, 9]], n_results=2),
                   docs.get(ids=["missing"], include=["embeddings"]), docs.query(query_embeddings=[[0, 0, 0]], where={"n": 77}, include=["embeddings"]),
                   docs._client.create_collection("empty", embedding_function=None).get(include=["embeddings", "documents"])):
        table, frame = answer.to_arrow(), answer.to_pandas()
        assert table.num_rows == len(frame) and table.column_names == list(frame.columns), (table, frame)
        assert table["id"].to_pylist() == frame["id"].tolist()
        table.validate(full=True)
    table = docs.query(query_embeddings=[[0, 0, 0], [12, 13, 14]], n_results=1).to_arrow()
    assert table["query"].to_pylist() == [0, 1] and table["id"].to_pylist() == ["r0", "r4"]


def test_nothing_leaks():
    """Objects and memory of many calls, good and refused."""
    docs = filled(50)
    import resource

    def round_of_calls():
        for _ in range(300):
            docs.upsert(ids=["r1"], embeddings=[[1, 2, 3]], documents=["x"], metadatas=[{"a": [1, 2]}])
            docs.query(query_embeddings=np.ones((4, 3)), include=["embeddings", "metadatas", "documents"]).to_arrow()
            for wrong in ({"metadatas": [{"a": object()}]}, {"embeddings": [[1]]}, {"documents": [object()]}):
                raises(Exception, docs.add, **{"ids": ["q"], "embeddings": [[1, 2, 3]], **wrong})
            raises(Exception, docs.get, where={"a": {"$foo": 1}})

    round_of_calls()
    gc.collect()
    objects, size = len(gc.get_objects()), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(4):
        round_of_calls()
    gc.collect()
    assert len(gc.get_objects()) < objects + 200, (objects, len(gc.get_objects()))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < size + 20000, size

# SPDX-License-Identifier: Apache-2.0
"""Answers as streams of Arrow, and streams as records."""

import asyncio
import datetime
import gc
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import pigment
import pyarrow as pa
from pigment import errors
from tap import raises

EVERYTHING = ["documents", "metadatas", "embeddings", "uris"]


def fresh(name="docs", **options):
    return pigment.EphemeralClient().create_collection(name, **{"embedding_function": None, **options})


def filled(name="docs", count=5):
    docs = fresh(name)
    docs.add(ids=[f"r{row}" for row in range(count)], embeddings=np.arange(count * 3, dtype=np.float32).reshape(count, 3),
             documents=[None if row == 1 else f"documént {row}" for row in range(count)],
             metadatas=[None if row == 2 else {"n": row, "tags": ["a", "b"]} for row in range(count)],
             uris=[f"file:///{row}" if row % 2 else None for row in range(count)])
    return docs


def same(one, other):
    return all(np.array_equal(one[key], other[key]) if key == "embeddings" else one[key] == other[key] for key in ["ids", *EVERYTHING])


class Stream:
    """What is a stream, and nothing else."""

    def __init__(self, data):
        self.data = data

    def __arrow_c_stream__(self, requested_schema=None):
        return self.data.__arrow_c_stream__(requested_schema)


def vectors(rows, width=3, kind=None):
    items = pa.array(np.arange(rows * width, dtype=np.float32), kind or pa.float32())
    return pa.FixedSizeListArray.from_arrays(items, width)


def test_an_answer_has_the_types_of_its_columns():
    docs = filled()
    schema = docs.get(include=EVERYTHING).to_arrow().schema
    assert schema.names == ["id", "document", "metadata", "uri", "embedding"]
    assert schema.field("id").type == pa.large_string() and not schema.field("id").nullable
    assert schema.field("metadata").type == pa.json_(pa.large_string()) and schema.field("metadata").nullable
    assert schema.field("embedding").type == pa.list_(pa.field("item", pa.float32(), False), 3)
    table = docs.query(query_embeddings=[[0, 0, 0], [12, 13, 14]], n_results=2).to_arrow()
    assert table.schema.names == ["query", "id", "document", "metadata", "distance"]
    assert table.schema.field("query").type == pa.uint32() and table.schema.field("distance").type == pa.float32()
    assert table["query"].to_pylist() == [0, 0, 1, 1] and table["id"].to_pylist() == ["r0", "r1", "r4", "r3"]


def test_every_query_is_a_batch_also_one_without_a_hit():
    answer = filled().query(query_embeddings=[[0, 1, 2], [500, 500, 500], [3, 4, 5]], n_results=1, max_distance=1.0)
    batches = list(pa.RecordBatchReader.from_stream(answer))
    assert [batch.num_rows for batch in batches] == [1, 0, 1] and batches[2]["id"].to_pylist() == ["r1"]
    for batch in batches:
        batch.validate(full=True)
    assert pa.RecordBatchReader.from_stream(answer).read_all().equals(answer.to_arrow()), "an answer may be a stream again"
    assert pa.table(answer.arrow).equals(answer.to_arrow()), "and is no dictionary for who asks for a table"


def test_arrays_outlive_the_answer_and_the_client():
    docs = filled()
    table = docs.get(include=EVERYTHING).to_arrow()
    docs._client.close()
    del docs
    gc.collect()
    assert table["document"].to_pylist()[4] == "documént 4" and table["embedding"].to_pylist()[4] == [12, 13, 14]
    assert [None if one is None else json.loads(one)["n"] for one in table["metadata"].to_pylist()] == [0, 1, None, 3, 4]


def test_a_document_that_is_no_utf8_is_named():
    docs = fresh()
    docs.add(ids=["a", "b"], embeddings=[[1], [2]], documents=["a", b"\xff"])
    error = raises((errors.InvalidArgumentError, "UTF-8"), docs.get().to_arrow)
    assert error.row == 1
    assert docs.get(include=["embeddings"]).to_arrow().num_rows == 2


def test_what_comes_out_goes_in_again():
    docs, other = filled(), fresh("other")
    answer = docs.get(include=EVERYTHING)
    assert other.add_arrow(answer).inserted == 5
    assert same(other.get(include=EVERYTHING), answer)
    third = fresh("third")
    assert third.add_arrow(answer.to_arrow()).inserted == 5 and same(third.get(include=EVERYTHING), answer)
    fourth = fresh("fourth")
    assert fourth.add_arrow(Stream(answer.to_arrow().slice(1, 3))).inserted == 3
    assert same(fourth.get(include=EVERYTHING), docs.get(ids=["r1", "r2", "r3"], include=EVERYTHING))


def test_each_verb_does_what_its_namesake_does():
    docs = filled()
    table = pa.table({"id": ["r0", "new"], "embedding": vectors(2), "document": ["zero", "new"]})
    assert docs.update_arrow(table)[:3] == (0, 1, 1)
    assert docs.upsert_arrow(table)[:3] == (1, 1, 0)
    assert docs.add_arrow(table)[:3] == (0, 0, 2)
    assert docs.get(ids=["r0", "new"])["documents"] == ["zero", "new"]
    assert docs.update_arrow(pa.table({"id": ["r3"], "metadata": ['{"n":null,"m":1}'], "document": pa.nulls(1)})).updated == 1
    assert docs.get("r3")["metadatas"] == [{"m": 1, "tags": ["a", "b"]}] and docs.get("r3")["documents"] == ["documént 3"]


def test_columns_of_every_type_are_the_same_records():
    ids, texts = ["a", "b", "c"], ["x", None, "a text of more than twelve bytes"]
    lists = [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    for number, (text, vector) in enumerate([
            (pa.string(), pa.list_(pa.float32(), 2)), (pa.large_string(), pa.list_(pa.float64(), 2)), (pa.string_view(), pa.list_(pa.float16(), 2)),
            (pa.binary(), pa.list_(pa.float32())), (pa.large_binary(), pa.large_list(pa.float64())), (pa.binary_view(), pa.list_(pa.int64()))]):
        docs = fresh(f"of{number}")
        table = pa.table({"embedding": pa.array(lists, vector), "document": pa.array(texts, text), "id": ids})
        assert docs.add_arrow(table).inserted == 3
        got = docs.get(include=["documents", "embeddings"])
        assert got["documents"] == texts and got["embeddings"].tolist() == lists, (text, vector)


def test_a_struct_is_metadata():
    docs = fresh()
    given = [{"s": "é", "i": 2**62, "f": 0.5, "b": True, "l": [1, 2]}, {"s": None, "i": -1, "f": None, "b": False, "l": None}, None]
    table = pa.table({"id": ["a", "b", "c"], "embedding": vectors(3), "metadata": pa.array(given)})
    docs.add_arrow(table)
    assert docs.get()["metadatas"] == [given[0], {"i": -1, "b": False}, None]
    wrong = pa.table({"id": ["a"], "embedding": vectors(1), "metadata": pa.array([{"when": datetime.date(2020, 1, 1)}])})
    raises((errors.InvalidArgumentError, '"metadata.when"'), docs.add_arrow, wrong)


def test_what_does_not_fit_is_named():
    docs = filled()
    raises((errors.InvalidArgumentError, 'no column "id"'), docs.add_arrow, pa.table({"document": ["a"]}))
    raises((errors.InvalidArgumentError, 'column "colour"'), docs.add_arrow, pa.table({"id": ["a"], "colour": ["red"]}))
    raises((errors.InvalidArgumentError, 'column "query"'), docs.add_arrow, docs.query(query_embeddings=[[1, 2, 3]]))
    encoded = pa.table({"id": pa.array(["a"]).dictionary_encode(), "embedding": vectors(1)})
    raises((errors.InvalidArgumentError, "dictionary"), docs.add_arrow, encoded)
    error = raises((errors.InvalidArgumentError, 'column "embedding"'), docs.add_arrow,
                   pa.table({"id": ["a", "b"], "embedding": pa.array([[1.0, 2.0, 3.0], None], pa.list_(pa.float32(), 3))}))
    assert error.row == 1
    raises((TypeError, "__arrow_c_stream__"), docs.add_arrow, {"id": ["a"]})
    assert docs.count() == 5


def test_batches_before_the_wrong_one_are_there():
    docs = fresh()
    good = pa.table({"id": ["a", "b"], "embedding": vectors(2)})
    wrong = pa.table({"id": ["c", "c"], "embedding": vectors(2)})
    raises((errors.DuplicateIDError, "batch 1"), docs.add_arrow, pa.concat_tables([good, wrong, good]))
    assert docs.get()["ids"] == ["a", "b"]

    def batches():
        yield from pa.table({"id": ["d"], "embedding": vectors(1)}).to_batches()
        raise RuntimeError("the disk is on fire")

    raises((errors.InvalidArgumentError, "the disk is on fire"), docs.add_arrow, pa.RecordBatchReader.from_batches(good.schema, batches()))
    assert docs.get()["ids"] == ["a", "b", "d"]


def test_a_capsule_is_taken_once_and_freed_always():
    docs, answer = fresh("other"), filled().get(include=EVERYTHING)
    capsule = answer.__arrow_c_stream__()

    class Same:
        def __arrow_c_stream__(self):
            return capsule

    assert docs.add_arrow(Same()).inserted == 5
    raises((errors.InvalidArgumentError, "released"), docs.add_arrow, Same())

    class Wrong:
        def __arrow_c_stream__(self):
            return 5

    raises((ValueError, "PyCapsule"), docs.add_arrow, Wrong())
    import resource
    big = fresh("big")
    big.add(ids=[str(row) for row in range(1000)], embeddings=np.zeros((1000, 300)))

    def round_of_streams():
        for _ in range(200):
            answer = big.get(include=["embeddings"])
            answer.__arrow_c_stream__()
            raises(errors.InvalidArgumentError, docs.add_arrow, answer)

    round_of_streams()
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    round_of_streams()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < size + 50000, size


def test_documents_are_embedded_and_what_the_function_raises_comes_out():
    class Picky(pigment.EmbeddingFunction[list[str]]):
        def __call__(self, input):
            if "bad" in input:
                raise KeyError("bad")
            return np.array([[len(text), 1] for text in input], np.float32)

    docs = fresh(embedding_function=Picky())
    docs.add_arrow(pa.table({"id": ["a"], "document": ["four"]}))
    assert docs.get(include=["embeddings"])["embeddings"].tolist() == [[4, 1]]
    raises((KeyError, "bad"), docs.add_arrow, pa.table({"id": ["b"], "document": ["bad"]}))


def test_calls_end_when_they_are_told_to():
    docs, token = fresh(), pigment.CancelToken()
    token.set()
    with pigment.call_options(cancel=token):
        raises(errors.CancelledError, docs.add_arrow, pa.table({"id": ["a"], "embedding": vectors(1)}))
    assert docs.count() == 0


def test_the_twin_of_asyncio_does_the_same():
    async def main():
        client = await pigment.AsyncEphemeralClient()
        docs = await client.get_or_create_collection("twin", embedding_function=None)
        assert (await docs.add_arrow(pa.table({"id": ["a"], "embedding": vectors(1)}))).inserted == 1

    asyncio.run(main())


def test_files_of_the_command_line_are_files_of_arrow():
    tool = pathlib.Path(os.environ["PIGMENT_ROOT"], "build/release/tools/pigment")
    with tempfile.TemporaryDirectory() as folder:
        lines = [{"id": f"r{row}", "embedding": [row, 0.5], **({"document": f"text {row}"} if row % 2 else {}), **({"metadata": {"n": row}} if row % 3 else {})}
                 for row in range(2500)]
        source, made = pathlib.Path(folder, "data.jsonl"), pathlib.Path(folder, "data.arrow")
        source.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        for command in (["import", folder + "/db", "docs", source, "--create"], ["export", folder + "/db", "docs", made]):
            subprocess.run([tool, *command], check=True, stdout=subprocess.DEVNULL)
        file = pa.ipc.open_file(made)
        assert file.num_record_batches == 3
        table = file.read_all()
        table.validate(full=True)
        assert table.column("id").to_pylist() == [line["id"] for line in lines]
        assert table.column("embedding").to_pylist() == [line["embedding"] for line in lines]
        assert table.column("document").to_pylist() == [line.get("document") for line in lines]
        metadata = table.column("metadata")
        texts = metadata.cast(pa.large_string()) if metadata.type != pa.large_string() else metadata
        assert [one and json.loads(one) for one in texts.to_pylist()] == [line.get("metadata") for line in lines]

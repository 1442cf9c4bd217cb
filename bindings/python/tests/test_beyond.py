# SPDX-License-Identifier: Apache-2.0
"""What Chroma has not."""

import json
import pathlib
import re
import tempfile
import os
import threading

import numpy as np

import pigment
from pigment import K, errors
from tap import raises

ROOT = pathlib.Path(os.environ["PIGMENT_ROOT"])


def filled(**options):
    docs = pigment.EphemeralClient().create_collection("docs", embedding_function=None, **options)
    docs.add(ids=[f"r{row}" for row in range(20)], embeddings=[[row, 0] for row in range(20)],
             documents=[f"passage {row} about {'law' if row % 2 else 'fish and law'}" for row in range(20)],
             metadatas=[{"n": row % 5, "even": row % 2 == 0} for row in range(20)])
    return docs


def test_counting_facets_and_contains():
    docs = filled()
    assert (docs.count(), docs.count(where={"n": 1}), docs.count(ids=["r1", "r2", "x"], where=K("even") == True)) == (20, 4, 1)  # noqa: E712
    assert docs.count(where_document={"$contains": "fish"}) == 10
    assert docs.facets("even") == {"even": [{"value": False, "count": 10}, {"value": True, "count": 10}]}
    assert docs.facets(["n"], where={"even": True}, limit=1)["n"][0]["count"] == 2
    assert docs.contains(["r1", "x", "r1"]) == [True, False, True] and docs.contains("r1") == [True]
    raises(errors.InvalidArgumentError, docs.facets, ["n", "n"])
    raises(ValueError, docs.count, where={})


def test_orders_and_cursors():
    docs = filled()
    assert docs.get(where={"even": True}, order_by=[("n", "desc"), "#id"], limit=3)["ids"] == ["r14", "r4", "r18"]
    assert docs.get(order_by="n", limit=2)["ids"] == ["r0", "r5"] == docs.get(order_by={"key": "n"}, limit=2)["ids"]
    raises((ValueError, "order_by"), docs.get, order_by=[("n", "up")])
    batches = [batch["ids"] for batch in docs.iterate(7, order_by="n", include=[])]
    assert [len(one) for one in batches] == [7, 7, 6] and sum(batches, []) == docs.get(order_by="n")["ids"]
    seen = []
    for batch in docs.iterate(6):
        seen += batch["ids"]
        docs.delete(ids=batch["ids"])
        docs.upsert(ids=[f"late{len(seen)}"], embeddings=[[0, 0]]) if len(seen) < 10 else None
    assert seen[:20] == [f"r{row}" for row in range(20)] and docs.count() == 0
    assert list(docs.iterate()) == []


def test_distances_recall_and_explanations():
    docs = filled()
    answer = docs.query(query_embeddings=[[0, 0]], max_distance=4.0, recall=1.0, explain=True)
    assert answer["ids"] == [["r0", "r1", "r2"]] and answer.explain and isinstance(answer.explain, dict)
    assert docs.query(query_embeddings=[[0, 0]]).explain is None
    assert docs.get(where={"n": 1}, explain=True).explain
    raises(errors.InvalidArgumentError, docs.query, query_embeddings=[[0, 0]], recall=2.0)
    raises(errors.InvalidArgumentError, docs.query, query_embeddings=[[0, 0]], max_distance=float("nan"))
    many = docs.query(query_embeddings=np.zeros((64, 2)), n_results=3, threads=2)
    assert many["ids"] == [["r0", "r1", "r2"]] * 64


def test_nested_metadata():
    docs = filled(configuration={"nested_metadata": True})
    docs.add(ids=["a", "b"], embeddings=[[0, 0]] * 2,
             metadatas=[{"size": {"width": 2, "": ["x"]}, "n": 9}, {"size": {"width": 1.5, "in/out": {"~": True}}}])
    assert docs.get(ids=["b"])["metadatas"] == [{"size": {"width": 1.5, "in/out": {"~": True}}}]
    assert docs.get(where=K("$/size/width") > 1.6)["ids"] == ["a"] == docs.get(where={"$/size/": {"$contains": "x"}})["ids"]
    assert docs.get(where={"$/size/in~1out/~0": True})["ids"] == ["b"]
    assert docs.count(where={"$/size": {"$exists": True}}) == 2 and docs.facets("$/size/width")["$/size/width"][0]["value"] == 1.5
    assert docs.get(where={"size": {"$exists": True}}, order_by="$/size/width")["ids"] == ["b", "a"]
    docs.update(ids=["a"], metadatas=[{"size": {"width": None, "height": {"mm": 3}}}])
    assert docs.get(ids=["a"])["metadatas"] == [{"size": {"": ["x"], "height": {"mm": 3}}, "n": 9}]
    assert docs.configuration["nested_metadata"] is True and docs.schema.nested_metadata
    raises((errors.InvalidArgumentError, '"$/a/b": an object must not be empty'), docs.add, ids=["c"], embeddings=[[0, 0]],
           metadatas=[{"a": {"b": {}}}])
    schema = pigment.Schema()
    schema.nested_metadata = True
    made = pigment.EphemeralClient().create_collection("schema", embedding_function=None, schema=schema)
    made.add(ids=["a"], embeddings=[[0]], metadatas=[{"a": {"b": 1}}])
    assert made.schema.nested_metadata and made.get()["metadatas"] == [{"a": {"b": 1}}]
    flat = pigment.EphemeralClient().create_collection("flat", embedding_function=None)
    raises((ValueError, "Expected metadata value to be a str, int, float, bool"), flat.add, ids=["a"], embeddings=[[0]],
           metadatas=[{"a": {"b": 1}}])
    raises((errors.InvalidArgumentError, "nested_metadata"), flat.get, where={"$/a/b": 1})
    deep = {"a": 1}
    for _ in range(100000):
        deep = {"a": deep}
    raises(RecursionError, docs.add, ids=["d"], embeddings=[[0, 0]], metadatas=[deep])


def test_ranked_text():
    docs = filled(configuration={"text_index": {"analyzer": {"language": "english"}}})
    answer = docs.search_text(["fishes", "law +fish"], n_results=3, highlights=True, explain=True)
    assert all(len(one) == 3 for one in answer["ids"]) and answer["scores"][0][0] > 0
    begin, end = answer["highlights"][0][0][0]
    assert answer["documents"][0][0].encode()[begin:end] == b"fish"
    assert len(docs.search_text("fish 3", operator="all", n_results=100)["ids"][0]) == 0
    assert docs.search_text("law", where={"n": 3}, n_results=100, include=[])["ids"][0] == ["r3", "r13", "r8", "r18"]
    table = answer.to_arrow()
    assert table.column_names == ["query", "id", "document", "metadata", "highlights", "score"] and table.num_rows == 6
    raises((ValueError, "operator"), docs.search_text, "x", operator="some")
    pigment.api.client.SharedSystemClient.clear_system_cache()
    raises(errors.FailedPreconditionError, filled().search_text, "law")


def test_writes_tell_what_they_did():
    docs = filled()
    done = docs.write("add", ["r1", "new"], [[1, 1], [2, 2]])
    assert (done.inserted, done.updated, done.skipped, done.deleted) == (1, 0, 1, 0) and done.position > 0
    assert docs.write("upsert", ["r1"], [[5, 5]]).updated == 1 and docs.write("update", ["none"], [[5, 5]]).skipped == 1
    raises(KeyError, docs.write, "replace", ["r1"], [[5, 5]])


def test_forks_share_nothing_later():
    docs = filled()
    fork = docs.fork("fork")
    fork.delete(where={"even": True})
    assert (docs.count(), fork.count(), fork.name, docs.id != fork.id) == (20, 10, "fork", True)
    raises(errors.UniqueConstraintError, docs.fork, "fork")


def test_backup_check_repair_compact_and_statistics():
    with tempfile.TemporaryDirectory() as folder:
        with pigment.PersistentClient(folder + "/store") as client:
            docs = client.create_collection("docs", embedding_function=None)
            docs.add(ids=[str(row) for row in range(100)], embeddings=np.random.default_rng(1).normal(size=(100, 4)))
            docs.flush()
            docs.delete(ids=[str(row) for row in range(50)])
            assert [one["live_rows"] for one in docs.segments()] == [50]
            done = docs.compact()
            assert done.records == 50 and done.bytes_after <= done.bytes_before
            client.flush()
            assert client.compact().records == 50 and client.check(full=True)["clean"]
            assert client.statistics()["version"] == pigment.version() and client.position() > 0
            saved = client.backup(folder + "/saved")
            assert saved["collections"] == 1
            raises(errors.UniqueConstraintError, client.backup, folder + "/saved")
        assert pigment.check(folder + "/saved", full=True)["clean"]
        assert pigment.repair(folder + "/saved", folder + "/repaired")["lossless"]
        with pigment.PersistentClient(folder + "/repaired") as client:
            assert client.get_collection("docs").count() == 50
        raises(errors.NotFoundError, pigment.check, folder + "/nothing")


def test_long_work_tells_how_far_it_is():
    with tempfile.TemporaryDirectory() as folder, pigment.PersistentClient(folder + "/store") as client:
        docs = client.create_collection("docs", embedding_function=None)
        docs.add(ids=[str(row) for row in range(3000)], embeddings=np.random.default_rng(1).normal(size=(3000, 32)))
        token = pigment.CancelToken()
        with pigment.call_options(cancel=token):
            assert docs.count() == 3000 and token.progress() is None
            docs.flush()
            assert token.progress() == pigment.Progress("flush", "collections", 1, 1)
            seen, over = [], threading.Event()

            def watch():
                while not over.is_set():
                    seen.append(token.progress())

            watcher = threading.Thread(target=watch)
            watcher.start()
            assert client.check(full=True)["clean"]
            over.set()
            watcher.join()
            assert all(one.total is None or one.done <= one.total for one in seen) and seen[-1].phase == "search", seen[-1]
            client.backup(folder + "/copy")
            size = sum(one["bytes"] for one in docs.segments())
            assert token.progress() == ("segments", "bytes", size, size)
            docs.add(ids=["new"], embeddings=np.ones((1, 32)))
            token.set()
            raises(errors.CancelledError, docs.flush)
            raises(errors.CancelledError, client.flush)
        docs.flush()


def test_damage_is_an_error_with_file_and_offset():
    with tempfile.TemporaryDirectory() as folder:
        with pigment.PersistentClient(folder) as client:
            docs = client.create_collection("docs", embedding_function=None)
            docs.add(ids=[str(row) for row in range(500)], embeddings=np.ones((500, 64)), documents=["x" * 100] * 500)
            docs.flush()
        segment = max(pathlib.Path(folder, "segments").rglob("*"), key=lambda path: path.stat().st_size if path.is_file() else 0)
        data = bytearray(segment.read_bytes())
        data[len(data) // 2 // 8192 * 8192 + 100] ^= 0xFF
        segment.write_bytes(data)

        def read_all():
            with pigment.PersistentClient(folder) as client:
                client.get_collection("docs").get(include=["embeddings", "documents", "metadatas", "uris"])

        error = raises(errors.DataLossError, read_all)
        assert error.file and error.offset >= 0 and error.detail.name == "CHECKSUM", (error.file, error.offset, error.detail)


def test_a_reader_follows_a_writer_and_may_ask_for_a_position():
    with tempfile.TemporaryDirectory() as folder:
        docs = pigment.PersistentClient(folder).create_collection("docs", embedding_function=None)
        position = docs.write("add", ["a"], [[1]]).position
        with pigment.call_options(min_position=position):
            assert docs.get().position >= position
        with pigment.call_options(min_position=position + 100):
            raises(errors.StaleReadError, docs.get)
            raises(errors.StaleReadError, docs.count)
        docs._client.close()
        with pigment.PersistentClient(folder, pigment.Settings(read_only=True)) as reader:
            assert reader.refresh() == reader.position() == position


def test_limits_are_the_librarys():
    names = {one["name"]: one for one in pigment.limits()}
    assert names["dimension"]["most"] == 65535
    docs = filled()
    error = raises(errors.InvalidArgumentError, docs.query, query_embeddings=[[0, 0]], threads=names["query_threads"]["most"] + 1)
    assert "threads" in str(error)
    error = raises(errors.ResourceExhaustedError, docs.facets, [f"k{key}" for key in range(names["facet_keys"]["most"] + 1)])
    assert error.detail.name == "LIMIT" and isinstance(error, errors.QuotaError)


def test_the_filter_builder_prints_the_json_of_the_filter_page():
    """Every operator, each against an example of docs/filters.md that is there."""
    page = (ROOT / "docs/filters.md").read_text(encoding="utf-8")
    examples = {json.dumps(json.loads(line.split("->")[0]), sort_keys=True) for line in re.findall(r"^\{.*->.*$", page, re.MULTILINE)
                if not line.startswith('{"year": 9223')}
    built = [
        K("lang") == "en", K("lang") != "en", K("year") >= 2020, K("year") < 2000.5, K("lang").is_in(["de", "fr"]),
        K("lang").not_in(["de", "fr"]), K("year") > 2023.5, K("tags").contains("animal"), K("tags").not_contains("fast"),
        K("year").between(1999, 2020), K("lang").between("d", "dz"), K("lang").prefix("e"), K("lang").equals_ignoring_case("EN"),
        K("lang").prefix_ignoring_case("D"), K("tags").exists(), K("year").exists(False),
        (K("year") >= 1999) & (K("year") <= 2020), ~(K("year") > 2000), K.ID.is_in(["r1", "r9"]), K.ID != "r1",
        K.DOCUMENT.contains("fox"), K.DOCUMENT.exists(False), K.URI.exists(False), K.URI.prefix_ignoring_case("FILE:"),
        (K.DOCUMENT.regex("F.chs")) | pigment.Filter({"year": 1999}),
        ~(K("lang").equals_ignoring_case("DE") | K("draft").exists(False)),
    ]
    for one in built:
        assert json.dumps(json.loads(one.to_json()), sort_keys=True) in examples, one
    assert ((K("a") == 1) & (K("b") == 2) & (K("c") == "é")).to_json() == '{"$and":[{"a":{"$eq":1}},{"b":{"$eq":2}},{"c":{"$eq":"é"}}]}'
    assert pigment.Filter.from_json('{"a": 1}').to_dict() == {"a": 1}
    raises((TypeError, "neither true nor false"), bool, K("a") == 1)
    raises(TypeError, K, 1)
    docs = filled()
    assert docs.get(where=K.DOCUMENT.contains_ignoring_case("FISH") & ~(K("n") > 0))["ids"] == ["r0", "r10"]
    assert docs.get(where=K.DOCUMENT.not_regex("law$") | K.DOCUMENT.not_contains("law"))["ids"] == []


def test_a_filter_of_any_depth_is_taken_as_json():
    deep = '{"$and":[' * 5000 + '{"n":1}' + "]}" * 5000
    docs = filled()
    assert len(docs.get(where=pigment.Filter.from_json(deep))["ids"]) == 4
    nested = {"n": 1}
    for _ in range(5000):
        nested = {"$and": [nested]}
    raises((ValueError, "from_json"), docs.get, where=nested)
    nested = {}
    nested["$and"] = [nested, nested]
    for call in (docs.get, docs.count, docs.delete, docs.facets):
        raises(ValueError, call, **({"keys": ["n"]} if call == docs.facets else {}), where=nested)

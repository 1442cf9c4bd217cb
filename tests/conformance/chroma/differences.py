# SPDX-License-Identifier: Apache-2.0
"""The differences that are meant, as README.md lists them. Each has a probe, which shows on new stores that Chroma still
does so and that we do not; those that the stream meets also say exactly which answers they explain, and how many there
may be."""

import copy
import dataclasses
import itertools
import math
import random
import struct
import typing

from libpigment import bits
from oracle import satisfying
from stores import EXISTS, INVALID, OTHER, Outcome, letters


@dataclasses.dataclass
class Context:
    """One step and how it ended on both sides; `rows` gives all records of a collection and `space` its space, by our store."""

    step: dict
    ours: Outcome
    theirs: Outcome
    rows: typing.Callable
    space: typing.Callable

    @property
    def args(self):
        return self.step.get("args", {})

    @property
    def both_answer(self):
        return not self.ours.refusal and not self.theirs.refusal

    def allowed(self, **faults):
        rows = self.rows(self.args["collection"])
        if self.args.get("ids") is not None:
            rows = [row for row in rows if row["id"] in self.args["ids"]]
        return satisfying(rows, self.args.get("where"), self.args.get("where_document"), **faults)


@dataclasses.dataclass
class Difference:
    tag: str
    probe: typing.Callable  # of a store: (whether it does as Chroma does, what was seen)
    explain: typing.Callable = None  # of a Context: Chroma's outcome without the difference, None when this is not the cause
    per_thousand: float = 0  # operations


# ---- What the stream meets


def error_class(context):
    message = context.theirs.message.lower()
    if context.ours.refusal == EXISTS and context.theirs.refusal == OTHER and (
            "already exists" in message or "unique constraint failed" in message):
        return context.ours
    return None


def unknown_id(context):
    if context.step["op"] == "query" and not context.ours.refusal and "Error finding id" in context.theirs.message and (
            set(context.args.get("ids") or ()) - {row["id"] for row in context.rows(context.args["collection"])}):
        return context.ours
    return None


def refused_write(context):
    """A collection without records of which Chroma believes, after a write that it refused, that it has some."""
    if context.step["op"] in ("get", "peek", "query") and not context.ours.refusal and (
            "Nothing found on disk" in context.theirs.message) and not context.rows(context.args["collection"]):
        return context.ours
    return None


def unreachable(context):
    """A query for which we have the nearest records, by what they are, and Chroma's graph does not lead to one of those that it
    allows, by our rules of filters or with faults of its own."""
    if context.step["op"] != "query" or not context.both_answer:
        return None
    space = context.space(context.args["collection"])
    rows = {row["id"]: floats(row["embedding"]) for row in context.rows(context.args["collection"])}
    allowed = context.allowed()
    permitted = [set(allowed), *(set(wrong) for wrong in with_faults(context))]
    queries = context.args.get("embeddings") or [letters(text) for text in context.args["texts"]]
    for query, ours, theirs in zip(queries, context.ours.answer, context.theirs.answer):
        nearest = sorted(distance(space, query, rows[one]) for one in allowed)[:context.args["n_results"]]
        permitted = [some for some in permitted if set(theirs["ids"]) <= some]
        if not permitted or len(set(theirs["ids"])) != len(theirs["ids"]):
            return None
        if not near([distance(space, query, rows[one]) for one in ours["ids"]], nearest):
            return None
    return context.ours


def near(some, others):
    return len(some) == len(others) and all(
        math.isclose(a, b, rel_tol=1e-4, abs_tol=1e-4) for a, b in zip(some, others))


def floats(words):
    return struct.unpack(f"{len(words)}f", struct.pack(f"{len(words)}I", *words))


def distance(space, query, vector):
    if space == "l2":
        return sum((a - b) ** 2 for a, b in zip(query, vector))
    product = sum(a * b for a, b in zip(query, vector))
    if space == "ip":
        return 1 - product
    lengths = math.hypot(*query) * math.hypot(*vector)
    return 1 - product / lengths if lengths else 1.0


def deleted_count(context):
    """By ids alone: Chroma counts what it was asked for."""
    if context.step["op"] == "delete" and context.both_answer and "where" not in context.args and (
            "where_document" not in context.args) and (
            context.ours.answer["deleted"] < context.theirs.answer["deleted"] == len(context.args["ids"])):
        return context.ours
    return None


def empty_metadata(context):
    """A record with uri and without metadata has {} for Chroma, which keeps the uri in the metadata."""
    if context.step["op"] not in ("get", "peek", "query") or not context.both_answer:
        return None
    theirs = copy.deepcopy(context.theirs)
    with_uri = {row["id"] for row in context.rows(context.args["collection"]) if row["uri"] is not None}
    changed = False
    for columns in theirs.answer if isinstance(theirs.answer, list) else [theirs.answer]:
        for at, metadata in enumerate(columns["metadatas"] or ()):
            if metadata == {} and columns["ids"][at] in with_uri:
                columns["metadatas"][at], changed = None, True
    return theirs if changed else None


def other_set(context, fault):
    """A get or query whose filter chooses other records with a fault of Chroma's, alone or beside its other faults, and both
    sides chose accordingly."""
    if context.step["op"] not in ("get", "query") or not context.both_answer:
        return None
    right = context.allowed()
    if not chosen(context, context.ours, right):
        return None
    return context.ours if any(right != wrong and chosen(context, context.theirs, wrong)
                               for wrong in with_faults(context, fault)) else None


FILTER_FAULTS = ("truncates", "unicode_classes")  # arguments of oracle.satisfying


def with_faults(context, always=None):
    """What the filter chooses with each set of Chroma's faults, of those that have one, or have the given one."""
    for count in range(1, len(FILTER_FAULTS) + 1):
        for faults in itertools.combinations(FILTER_FAULTS, count):
            if always is None or always in faults:
                yield context.allowed(**dict.fromkeys(faults, True))


def chosen(context, outcome, allowed):
    """Whether the outcome of a get or query has the records that it should when these are allowed."""
    if context.step["op"] == "get":
        begin = context.args.get("offset", 0)
        end = None if context.args.get("limit") is None else begin + context.args["limit"]
        return outcome.answer["ids"] == allowed[begin:end]
    found = min(len(allowed), context.args["n_results"])
    return all(len(one["ids"]) == found and set(one["ids"]) <= set(allowed) for one in outcome.answer)


def fractional_bounds(context):
    return other_set(context, "truncates") if "where" in context.args else None


def ascii_classes(context):
    return other_set(context, "unicode_classes") if "where_document" in context.args else None


# ---- Probes


def made(store, **records):
    create(store)
    return ask(store, "add", **records)


def create(store, **args):
    return store.do({"op": "create_collection", "args": {"name": "probe", **args}})


def ask(store, op, **args):
    return store.do({"op": op, "args": {"collection": "probe", **args}})


def probe_error_class(store):
    made(store, ids=["a"], embeddings=[[1.0]])
    outcome = create(store)
    return outcome.refusal == OTHER and "already exists" in outcome.message, outcome


def probe_unknown_id(store):
    made(store, ids=["a"], embeddings=[[1.0]])
    outcome = ask(store, "query", embeddings=[[1.0]], ids=["a", "never"])
    return "Error finding id" in outcome.message, outcome


def probe_deleted_count(store):
    made(store, ids=["a"], embeddings=[[1.0]])
    outcome = ask(store, "delete", ids=["a", "never"])
    return outcome.answer == {"deleted": 2}, outcome


def probe_empty_metadata(store):
    made(store, ids=["a", "b"], embeddings=[[1.0], [2.0]], uris=["u", None])
    outcome = ask(store, "get")
    return outcome.answer["metadatas"] == [{}, None], outcome


def probe_fractional_bounds(store):
    made(store, ids=["a"], embeddings=[[1.0]], metadatas=[{"n": 2}])
    outcome = ask(store, "get", where={"n": 2.5})
    return outcome.answer["ids"] == ["a"], outcome


def probe_ascii_classes(store):
    made(store, ids=["a"], embeddings=[[1.0]], documents=["ï"])
    outcome = ask(store, "get", where_document={"$regex": "^\\w$"})
    return outcome.answer["ids"] == ["a"], outcome


def probe_one_child(store):
    made(store, ids=["a"], embeddings=[[1.0]], metadatas=[{"n": 2}])
    outcome = ask(store, "get", where={"$and": [{"n": 2}]})
    return outcome.refusal == INVALID, outcome


def probe_document_in_where(store):
    made(store, ids=["a"], embeddings=[[1.0]], documents=["x"])
    outcome = ask(store, "get", where={"#document": {"$regex": "x"}})
    return outcome.refusal == INVALID, outcome


def probe_id_in_where(store):
    made(store, ids=["a"], embeddings=[[1.0]])
    outcome = ask(store, "get", where={"#id": "a"})
    return outcome.answer["ids"] == [], outcome


def probe_big_integer(store):
    made(store, ids=["a"], embeddings=[[1.0]], metadatas=[{"n": 2**63}])
    outcome = ask(store, "get")
    return outcome.answer["metadatas"] == [{"n": 2.0**63}], outcome


def probe_not_finite(store):
    made(store, ids=["a"], embeddings=[[1.0]], metadatas=[{"n": float("inf")}])
    outcome = ask(store, "get")
    return outcome.answer["metadatas"] == [None], outcome


def probe_list_in_collection(store):
    outcome = create(store, metadata={"n": [1]})
    return "panic" in outcome.message.lower(), outcome


def probe_cosine_bits(store):
    create(store, configuration={"hnsw": {"space": "cosine"}})
    rows = [[1.0 + 0.1 * row, 0.3 * row, 0.7] for row in range(20)]
    ask(store, "add", ids=[str(row) for row in range(20)], embeddings=rows)
    outcome = ask(store, "get", include=["embeddings"])
    return outcome.answer["embeddings"] != [list(floats(bits(row))) for row in rows], outcome


def probe_nul(store):
    made(store, ids=["a"], embeddings=[[1.0]], documents=["a\0b"])
    outcome = ask(store, "get", where_document={"$contains": "b"})
    return outcome.answer["ids"] == [], outcome


def probe_ignored_update(store):
    made(store, ids=["z"], embeddings=[[0.0]])
    ask(store, "update", ids=["a"], embeddings=[[1.0]])
    ask(store, "add", ids=["a"], embeddings=[[2.0]])
    ask(store, "query", embeddings=[[1.0]])
    ask(store, "update", ids=["never"], metadatas=[{"n": 1}])
    outcome = ask(store, "get", ids=["a"], include=["embeddings"])
    return outcome.answer["embeddings"] == [[1.0]], outcome


def probe_unreachable(store):
    """Asked for all records of a collection by inner product, some of which were written again."""
    create(store, configuration={"hnsw": {"space": "ip"}})
    draw = random.Random(1)
    ids = [str(row) for row in range(1000)]
    for some in (ids, ids[:300], ids[300:600]):
        ask(store, "upsert", ids=some, embeddings=[[draw.gauss(0, 1) for _ in range(3)] for _ in some])
    outcome = ask(store, "query", embeddings=[[1.0, 1.0, 1.0]], n_results=len(ids), include=[])
    return len(outcome.answer[0]["ids"]) < len(ids), f"{len(outcome.answer[0]['ids'])} of {len(ids)} are found"


def probe_refused_write(store):
    create(store)
    ask(store, "query", embeddings=[[1.0]])
    refused = ask(store, "upsert", ids=[""], embeddings=[[1.0]])
    outcome = ask(store, "get", include=["embeddings"])
    return refused.refusal == INVALID and "Nothing found on disk" in outcome.message, outcome


def probe_leftover_lists(store):
    made(store, ids=["a"], embeddings=[[1.0]], metadatas=[{"list": [1, 2]}])
    store.do({"op": "delete_collection", "args": {"name": "probe"}})
    made(store, ids=["b"], embeddings=[[1.0]])
    outcome = ask(store, "get")
    return outcome.answer["metadatas"] == [{"list": [1, 2]}], outcome


DIFFERENCES = [
    Difference("error-class", probe_error_class, error_class, 12),
    Difference("unknown-id", probe_unknown_id, unknown_id, 5),
    Difference("deleted-count", probe_deleted_count, deleted_count, 8),
    Difference("empty-metadata", probe_empty_metadata, empty_metadata, 60),
    Difference("fractional-bounds", probe_fractional_bounds, fractional_bounds, 12),
    Difference("ascii-classes", probe_ascii_classes, ascii_classes, 12),
    Difference("unreachable", probe_unreachable, unreachable, 3),
    Difference("refused-write", probe_refused_write, refused_write, 3),
    Difference("one-child", probe_one_child),
    Difference("document-in-where", probe_document_in_where),
    Difference("id-in-where", probe_id_in_where),
    Difference("big-integer", probe_big_integer),
    Difference("not-finite", probe_not_finite),
    Difference("list-in-collection", probe_list_in_collection),
    Difference("cosine-bits", probe_cosine_bits),
    Difference("nul-in-document", probe_nul),
    Difference("ignored-update", probe_ignored_update),
    Difference("leftover-lists", probe_leftover_lists),
]

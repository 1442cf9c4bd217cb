# SPDX-License-Identifier: Apache-2.0
"""The same records, filters and queries through the C library and through SQL must give the same answers.

usage: compare.py LIBPIGMENT [SEED]; the server is found through libpq's environment variables. Prints one TAP line a
check. Vectors and distances are compared by their bits. Every difference that docs/sql-differences.md lists has its
tag in a check here or in a test beside this folder.
"""

import functools
import itertools
import json
import os
import pathlib
import random
import re
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import libpigment
import sql

DIMENSION = 12
ROUNDS = 4
RECORDS_PER_ROUND = 500
FILTERS_PER_ROUND = 40
QUERIES_PER_ROUND = 40
FACETS_PER_ROUND = 20

WORDS = ["alpha", "beta", "Gamma", "delta", "naïve", "日本語", "x", "", "a'b", 'quo"te', "back\\slash", "line\nbreak",
         "%like_", "tab\there", "🙂", "ALPHA"]


class Tap:
    def __init__(self):
        self._number, self.failures = 0, 0

    def check(self, name, good, detail=""):
        self._number += 1
        print(f"{'ok' if good else 'not ok'} {self._number} - {name}", flush=True)
        if not good:
            self.failures += 1
            print("\n".join("# " + line for line in str(detail).splitlines()[:60]), flush=True)

    def finish(self):
        print(f"1..{self._number}")
        return 1 if self.failures else 0


# ---- Random input ------------------------------------------------------------------------------


def random_scalar(rng):
    return rng.choice([
        lambda: rng.choice(WORDS),
        lambda: rng.randint(-3, 3),
        lambda: rng.choice([-2**63, 2**63 - 1, 2**53 + 1, 10**15]),
        lambda: rng.randint(-6, 6) / 2,
        lambda: rng.choice([1e-300, 1.5e300, -1e22, 0.1, 2.0**53, 9.223372036854775807e18, 1e-7]),
        lambda: rng.random() < 0.5,
    ])()


def random_list(rng):
    kind = type(random_scalar(rng))
    values = []
    while len(values) < rng.randint(1, 4):
        value = random_scalar(rng)
        if type(value) is kind:
            values.append(value)
    return values


def random_metadata(rng):
    if rng.random() < 0.1:
        return None
    metadata = {key: random_scalar(rng) for key in "abc" if rng.random() < 0.6}
    if rng.random() < 0.3:
        metadata["list"] = random_list(rng)
    if rng.random() < 0.1:
        metadata["ключ \"q\""] = rng.choice(WORDS)
    return metadata or {"only": 1}


def random_document(rng):
    if rng.random() < 0.15:
        return None
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(0, 6)))


def random_vector(rng):
    values = [rng.choice([lambda: float(rng.randint(-2, 2)), lambda: rng.gauss(0, 1)])() for _ in range(DIMENSION)]
    return list(struct.unpack(f"{DIMENSION}f", struct.pack(f"{DIMENSION}f", *values)))


def random_vectors(rng, count):
    """With duplicates, zero vectors and multiples, so that there are ties of every kind."""
    some = []
    for _ in range(count):
        how = rng.random()
        if how < 0.02:
            some.append([0.0] * DIMENSION)
        elif how < 0.2 and some:
            some.append(list(rng.choice(some)))
        elif how < 0.3 and some:
            some.append([2 * value for value in rng.choice(some)])
        elif how < 0.5:
            some.append([float(rng.randint(-1, 1)) for _ in range(DIMENSION)])
        else:
            some.append(random_vector(rng))
    return some


def random_where(rng, depth=0):
    if depth < 3 and rng.random() < 0.3:
        return {rng.choice(["$and", "$or"]): [random_where(rng, depth + 1) for _ in range(rng.randint(1, 3))]}
    key = rng.choice(["a", "b", "c", "list", "missing", "chroma:uri", "ключ \"q\""])
    operator = rng.choice(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$contains", "$not_contains", ""])
    if operator in ("$gt", "$gte", "$lt", "$lte"):
        operand = random_scalar(rng)
        while isinstance(operand, (str, bool)):
            operand = random_scalar(rng)
    else:
        operand = random_list(rng) if operator in ("$in", "$nin") else random_scalar(rng)
    return {key: {operator: operand} if operator else operand}


def random_where_document(rng, depth=0):
    if depth < 2 and rng.random() < 0.25:
        return {rng.choice(["$and", "$or"]): [random_where_document(rng, depth + 1) for _ in range(rng.randint(1, 3))]}
    operator = rng.choice(["$contains", "$not_contains", "$regex", "$not_regex"])
    if operator.endswith("contains"):
        return {operator: rng.choice([word for word in WORDS if word])}
    return {operator: rng.choice(["^al", "a$", "(?i)alpha", "[bd]e.ta?", "日.語", "x|y", "\\s\\s", "b{1}e", "."])}


def dump_json(value, for_sql):
    """JSON text; for SQL with doubles as digits (tag jsonb-numbers)."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(k)}: {dump_json(v, for_sql)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(dump_json(v, for_sql) for v in value) + "]"
    if isinstance(value, float) and for_sql:
        return sql.number(value)
    return json.dumps(value, ensure_ascii=False)


class Both:
    """A collection in both homes: each call goes to both, answers and refusals must be equal."""

    def __init__(self, tap, in_library, in_sql):
        self.tap, self.homes = tap, (in_library, in_sql)

    def __getattr__(self, method):
        return functools.partial(self._call, method)

    def _call(self, method, *arguments, **named):
        answers = []
        for home, for_sql in zip(self.homes, (False, True)):
            prepared = dict(named)
            for name in ("where", "where_document"):
                if prepared.get(name) is not None and not isinstance(prepared[name], str):
                    prepared[name] = dump_json(prepared[name], for_sql)
            if prepared.get("metadatas") is not None:
                prepared["metadatas"] = [
                    value if value is None or isinstance(value, str) else dump_json(value, for_sql)
                    for value in prepared["metadatas"]]
            try:
                answers.append(getattr(home, method)(*arguments, **prepared))
            except libpigment.Refused as refusal:
                answers.append(("refused", refusal.sqlstate, refusal.message))
        return answers


def difference(answers):
    """Empty when both are equal, else the first place where they are not. Types count: 1 is not 1.0 and not true."""
    left, right = (json.dumps(answer, indent=1, sort_keys=True, ensure_ascii=False) for answer in answers)
    if left == right:
        return ""
    lines = itertools.zip_longest(left.splitlines(), right.splitlines())
    at = next(i for i, (a, b) in enumerate(lines) if a != b)
    around = slice(max(0, at - 12), at + 4)
    return "\n".join(["library:", *left.splitlines()[around], "SQL:", *right.splitlines()[around]])


# ---- The comparison ----------------------------------------------------------------------------


def write_round(rng, both, taken):
    """Add, update, upsert and delete; returns the differences of what they said."""
    fresh = [f"id-{rng.randint(0, 3000)}" for _ in range(RECORDS_PER_ROUND)]
    ids = list(dict.fromkeys(fresh + rng.sample(sorted(taken), min(len(taken), 50))))
    rng.shuffle(ids)
    taken.update(ids)
    found = [both.write(
        "add", ids, random_vectors(rng, len(ids)), [random_document(rng) for _ in ids],
        metadatas=[random_metadata(rng) for _ in ids],
        uris=[rng.choice([None, "file:1", "file:2"]) for _ in ids])]
    for operation in ("update", "upsert", "update"):
        some = rng.sample(sorted(taken), 60) + [f"{operation}-{rng.randint(0, 10**9)}" for _ in range(10)]
        changes = [{**(random_metadata(rng) or {"a": None}), rng.choice("abc"): None} for _ in some]
        columns = {"metadatas": changes if rng.random() < 0.8 else None,
                   "documents": [random_document(rng) for _ in some] if rng.random() < 0.7 else None,
                   "uris": [rng.choice([None, "file:3"]) for _ in some] if rng.random() < 0.5 else None}
        embeds = operation == "upsert" or columns["documents"] or rng.random() < 0.5
        found.append(both.write(operation, some, random_vectors(rng, len(some)) if embeds else None, **columns))
        if operation == "upsert":
            taken.update(some)
    found.append(both.delete(rng.sample(sorted(taken), 20) + ["nobody"]))
    found.append(both.delete(where=random_where(rng), limit=rng.randint(0, 5)))
    return list(filter(None, map(difference, found)))


def compare_reads(rng, both, taken):
    differences, hits = [], 0
    for _ in range(FILTERS_PER_ROUND):
        arguments = {"where": random_where(rng) if rng.random() < 0.8 else None,
                     "where_document": random_where_document(rng) if rng.random() < 0.4 else None,
                     "ids": rng.sample(sorted(taken), 40) if rng.random() < 0.3 else None,
                     "limit": rng.randint(0, 50) if rng.random() < 0.4 else None, "offset": rng.choice([0, 0, 3])}
        answers = both.get(**arguments)
        hits += len(answers[0])
        if difference(answers):
            differences.append(f"get {arguments}\n{difference(answers)}")
    for _ in range(QUERIES_PER_ROUND):
        arguments = {"where": random_where(rng) if rng.random() < 0.6 else None,
                     "where_document": random_where_document(rng) if rng.random() < 0.3 else None,
                     "ids": rng.sample(sorted(taken), 40) + ["nobody"] if rng.random() < 0.2 else None}
        queries = random_vectors(rng, rng.randint(1, 3)) + [[0.0] * DIMENSION] * (rng.random() < 0.1)
        answers = both.query(queries, rng.choice([1, 3, 10, 100, 5000]), **arguments)
        hits += sum(map(len, answers[0]))
        if difference(answers):
            differences.append(f"query {queries} {arguments}\n{difference(answers)}")
    return differences, hits


def compare_facets(rng, both, taken):
    """Values with their counts, in order; how many values there were."""
    differences, values = [], 0
    every_key = ["a", "b", "c", "list", "ключ \"q\"", "chroma:uri", "nowhere"]
    for number in range(FACETS_PER_ROUND):
        keys, arguments = every_key, {}  # of all records first, so that no round is without values by chance
        if number > 0:
            keys = rng.sample(every_key, rng.randint(1, 7))
            arguments = {"where": random_where(rng) if rng.random() < 0.6 else None,
                         "where_document": random_where_document(rng) if rng.random() < 0.3 else None,
                         "ids": rng.sample(sorted(taken), 40) + ["nobody"] if rng.random() < 0.2 else None,
                         "limit": rng.randint(0, 5) if rng.random() < 0.4 else None}
        answers = both.facets(keys, **arguments)
        values += sum(map(len, answers[0].values())) if isinstance(answers[0], dict) else 0
        if difference(answers):
            differences.append(f"facets {keys} {arguments}\n{difference(answers)}")
    return differences, values


def compare_space(tap, rng, space, clients):
    configuration = json.dumps({"hnsw": {"space": space}})
    both = Both(tap, *(client.create_collection("diff-" + space, None, configuration) for client in clients))
    taken = set()
    for number in range(1, ROUNDS + 1):
        differences = write_round(rng, both, taken)
        tap.check(f"{space}, round {number}: writes count alike", not differences, "\n".join(differences))
        counts = both.count()
        tap.check(f"{space}, round {number}: {counts[0]} records", counts[0] == counts[1] > 0, counts)
        if number % 2 == 0:
            both.flush()
        everything = difference(both.get())
        tap.check(f"{space}, round {number}: all records equal, in insertion order", not everything, everything)
        differences, hits = compare_reads(rng, both, taken)
        tap.check(f"{space}, round {number}: filters and queries give equal records and distances",
                  not differences and hits > 1000, "\n".join([f"{hits} hits", *differences]))
        differences, values = compare_facets(rng, both, taken)
        tap.check(f"{space}, round {number}: facets have equal values, counts and order",
                  not differences and values > 100, "\n".join([f"{values} values", *differences]))


RANKED_WORDS = ["fox", "foxes", "Fox", "running", "run", "runs", "the", "of", "quick", "quickly", "dog", "dogs", "engine", "engines", "engineer",
                "search", "don't", "naïve", "東京", "3.14", "pg_class", "ｗｉｄｅ", "rare", "x-ray", "a\"quote"]
# of two collections, what ranks them
RANKINGS = [{"text_index": {"analyzer": {"language": "english", "stop_words": True}, "k1": 1.5, "b": 0.5}},
            {"text_index": {"analyzer": {"stop_words": ["fox", "3,14", "no \"one\""]}}}]


def random_text_query(rng):
    """Words, prefixes and what is required; phrases are of one word."""
    clauses = []
    for _ in range(rng.randint(1, 4)):
        word = rng.choice([word for word in RANKED_WORDS if '"' not in word])
        how = rng.random()
        if how < 0.2:
            word = word[:rng.randint(1, 3)] + "*"
        elif how < 0.3 and word != "x-ray":
            word = f'"{word}"'
        clauses.append(("+" if rng.random() < 0.25 else "") + word)
    return rng.choice([" ", "  ", "\t"]).join(clauses) + rng.choice(["", "", '"', " + *"])


def compare_ranked(tap, rng, clients):
    """Scores to the last bit, order and ties, of records that come, change and go."""
    for number, configuration in enumerate(RANKINGS, 1):
        both = Both(tap, *(client.create_collection(f"ranked-{number}", configuration=json.dumps(configuration)) for client in clients))
        described = [{name: home[name] for name in ("configuration", "schema")} for home in both.describe()]
        described[0]["schema"] = described[0]["schema"] if described[1]["schema"] is not None else None
        tap.check(f"ranked {number}: the configuration reads back alike", not difference(described), difference(described))
        taken, differences, hits = set(), [], 0
        for _ in range(ROUNDS):
            texts = lambda some: [None if rng.random() < 0.1 else " ".join(rng.choices(RANKED_WORDS, k=rng.randint(0, 9))) for _ in some]
            fresh = list(dict.fromkeys(f"id-{rng.randint(0, 2000)}" for _ in range(RECORDS_PER_ROUND)))
            changed = rng.sample(sorted(taken), min(len(taken), 60))
            taken.update(fresh)
            for operation, some in (("add", fresh), ("upsert", changed + fresh[:5])):
                answers = both.write(operation, some, [[float(rng.randint(-2, 2))] for _ in some], texts(some),
                                     metadatas=[random_metadata(rng) for _ in some])
                differences += filter(None, [difference(answers)])
            differences += filter(None, [difference(both.delete(rng.sample(sorted(taken), 20)))])
            # ranked-statistics: what is dead is counted until VACUUM, and what is pending from the moment of the write on
            both.flush()
            more = [f"new-{rng.randint(0, 10**9)}" for _ in range(30)]
            taken.update(more)
            both.write("add", more, [[1.0] for _ in more], texts(more))
            clients[1].session.run(f"SET enable_sort = {rng.choice(['on', 'off'])}")  # off: an index scan gives the order
            for _ in range(QUERIES_PER_ROUND):
                arguments = {"where": random_where(rng) if rng.random() < 0.4 else None,
                             "where_document": {"$contains": "run"} if rng.random() < 0.2 else None,
                             "ids": rng.sample(sorted(taken), 40) + ["nobody"] if rng.random() < 0.2 else None,
                             "all_of": rng.random() < 0.3}
                queries = [random_text_query(rng) for _ in range(rng.randint(1, 3))]
                answers = both.search_text(queries, rng.choice([1, 3, 10, 100, 5000]), **arguments)
                hits += sum(map(len, answers[0]))
                if difference(answers):
                    differences.append(f"search_text {queries} {arguments}\n{difference(answers)}")
            both.modify(configuration=json.dumps({"text_index": {"k1": rng.choice([0, 0.5, 1.2, 2]), "b": rng.choice([0, 0.75, 1])}}))
        tap.check(f"ranked {number}: searches give equal records, scores and order", not differences and hits > 1000,
                  "\n".join([f"{hits} hits", *differences]))
    clients[1].session.run("RESET enable_sort")


def compare_ranked_schemas(tap, clients):
    """A schema asks for a text index too, and reads back alike, also after a change."""
    index = {"analyzer": {"language": "english"}, "k1": 1.5}
    schema = {"keys": {"#document": {"string": {"fts_index": {"enabled": True, "config": {"text_index": index}}}}}}
    both = Both(tap, *(client.create_collection("ranked-schema", schema=json.dumps(schema)) for client in clients))
    both.write("add", ["a", "b"], [[1.0], [2.0]], ["the dog", "foxes run"])
    for change in (None, {"text_index": {"k1": 0.5}}, {"hnsw": {"ef_search": 77}}, {"text_index": {"analyzer": {"language": "none"}}},
                   {"text_index": None}):
        said = both.modify(configuration=json.dumps(change)) if change else [None, None]
        described = [{name: home[name] for name in ("configuration", "schema")} for home in both.describe()]
        answers = both.search_text(["fox", "the"])
        different = difference(said) or difference(described) or difference(answers)
        tap.check(f"ranked, by a schema, after {change}: configuration, schema and answers are equal", not different, different)
    refused = [("search_text", [[]], {}), ("search_text", [["fox"], 0], {}),
               ("search_text", [["word " * 257]], {}), ("search_text", [["fox"]], {"where": '{"a": {"$what": 1}}'})]
    for method, arguments, named in refused:
        answers = getattr(both, method)(*arguments, **named)
        tap.check(f"{method}({arguments}, {named}) is refused alike"[:120], answers[0] == answers[1] and answers[0][0] == "refused", answers)
    plain = Both(tap, *(client.create_collection("not-ranked") for client in clients))
    answers = plain.search_text(["fox"])
    tap.check("search_text of a collection without a text index is refused alike",
              answers[0] == answers[1] == ("refused", "55000", "the collection has no text index"), answers)
    answers = both.search_text(['dog "foxes run"'])
    tap.check("ranked-phrases: the library ranks phrases, SQL refuses them by name",
              [row["id"] for row in answers[0][0]] == ["a", "b"] and answers[1][:2] == ("refused", "0A000") and '"fox run"' in answers[1][2], answers)


def compare_refusals(tap, clients):
    """What is wrong is reported in one order and with one code, in all combinations."""
    both = Both(tap, *(client.create_collection("refusals") for client in clients))
    both.write("add", ["a", "b"], [[1.0, 2.0], [3.0, 4.0]])
    # Each of the first four can be right or wrong, and so can the count of results.
    different = []
    for wrong in itertools.product([False, True], repeat=5):
        arguments = {"where": '{"a": {"$what": 1}}' if wrong[0] else '{"a": 1}',
                     "where_document": '{"$regex": "("}' if wrong[1] else '{"$contains": "x"}'}
        collection = both
        if wrong[2]:
            gone = [client.create_collection("gone") for client in clients]
            for client in clients:
                client.delete_collection("gone")
            collection = Both(tap, *gone)
        answers = collection.query([[1.0]] if wrong[3] else [[1.0, 2.0]], 0 if wrong[4] else 1, **arguments)
        if difference(answers) or any(wrong) != (answers[0][0:1] == ("refused",)):
            different.append(f"{wrong}: {answers}")
    tap.check("query: 32 combinations of what can be wrong give the same error", not different, "\n".join(different))

    cases = [
        ("write", ["add", []], {"embeddings": [[1.0, 2.0]]}),
        ("write", ["add", ["c", "c"]], {"embeddings": [[1.0, 2.0]] * 2}),
        ("write", ["add", ["c", ""]], {"embeddings": [[1.0, 2.0]] * 2}),
        ("write", ["add", [str(n % 15) for n in range(30)]], {"embeddings": [[1.0, 2.0]] * 30}),
        ("write", ["add", ["c"]], {"embeddings": [[1.0, 2.0, 3.0]]}),
        ("write", ["add", ["c", "c"]], {"embeddings": [[1.0, 2.0, 3.0]] * 2}),
        ("write", ["add", ["c", "d"]], {"embeddings": [[1.0, 2.0]]}),
        ("write", ["add", ["c"]], {}),
        ("write", ["upsert", ["a"]], {"metadatas": ['{"a": 1}']}),
        ("write", ["add", ["c"]], {"documents": ["text"]}),
        ("write", ["update", ["a"]], {"documents": ["text"]}),
        *[("write", [operation, ["a"]], {"embeddings": [[1.0, 2.0]], "metadatas": [metadata]})
          for operation in ("add", "update", "upsert")
          for metadata in ("{}", "[]", "1", '"x"', '{"": 1}', '{"#a": 1}', '{"$a": 1}', '{"chroma:document": 1}',
                           '{"a": {}}', '{"a": []}', '{"a": [1, "x"]}', '{"a": [1, 1.5]}', '{"a": [[1]]}',
                           '{"a": [null]}', '{"a": 9223372036854775808}', '{"a": 1, "b": {"c": 1}}')],
        ("write", ["add", ["c"]], {"embeddings": [[1.0, 2.0]], "metadatas": ['{"a": null}']}),
        ("delete", [], {}), ("delete", [[]], {}), ("delete", [["a", "a"]], {}), ("delete", [["a"]], {"limit": 1}),
        ("delete", [], {"where": '{"a": 1}', "limit": -1}),
        ("get", [[]], {}), ("get", [["a", "a"]], {}), ("get", [], {"limit": -1}), ("get", [], {"offset": -1}),
        ("query", [[[1.0, 2.0]], -5], {}),
        *[("get", [], {"where": where}) for where in (
            "{}", "[]", "1", '{"a": {}}', '{"a": {"$eq": null}}', '{"a": {"$eq": [1]}}', '{"a": {"$gt": "x"}}',
            '{"a": {"$gt": true}}', '{"a": {"$in": []}}', '{"a": {"$in": [1, "x"]}}', '{"a": {"$in": 1}}',
            '{"$and": []}', '{"$and": {}}', '{"$or": [1]}', '{"$not": [{"a": 1}]}', '{"a": 1, "b": 2}',
            '{"a": {"$gt": 1, "$lt": 2}}', '{"a": null}', '{"$what": 1}', '{"a": {"$contains": []}}')],
        *[("get", [], {"where_document": where}) for where in (
            "{}", "[]", '{"$contains": ""}', '{"$contains": 1}', '{"$regex": "["}', '{"$regex": "(?=x)"}',
            '{"$eq": "x"}', '{"x": "y"}', '{"$and": []}', '{"$or": ["x"]}')],
    ]
    same_words = 0
    for method, arguments, named in cases:
        answers = getattr(both, method)(*arguments, **named)
        codes = [answer[1] if answer and answer[0] == "refused" else "accepted" for answer in
                 (a if isinstance(a, tuple) else () for a in answers)]
        good = codes[0] == codes[1] != "accepted"
        same_words += good and answers[0] == answers[1]
        tap.check(f"{method}({', '.join(map(str, arguments))}, {named}) is refused alike with {codes[0]}"[:160], good, answers)
    tap.check(f"most refusals have the same words, too: {same_words} of {len(cases)}", same_words >= 0.9 * len(cases))
    counts = both.count()
    tap.check("what was refused changed nothing", counts == [2, 2], counts)


def compare_differences(tap, clients, session):
    """Where SQL must differ; each check carries the tag of docs/sql-differences.md."""
    both = Both(tap, *(client.create_collection("tags") for client in clients))

    def accepted(answer):
        return not (isinstance(answer, tuple) and answer[0] == "refused")

    answers = both.write("add", ["nul"], [[1.0]], metadatas=['{"k": "\\u0000"}'])
    tap.check("text-without-nul: the library takes U+0000, SQL refuses it",
              accepted(answers[0]) and answers[1][:2] == ("refused", "22P05"), answers)
    answers = both.write("add", ["twice"], [[1.0]], metadatas=['{"k": 1, "k": 2}'])
    tap.check("jsonb-duplicate-keys: the library refuses a key that comes twice, in SQL the last one counts",
              answers[0][:2] == ("refused", "22023") and accepted(answers[1]), answers)
    both.delete(["nul", "twice"])
    both.write("add", ["e"], [[1.0]], metadatas=['{"k": 1e2}'])
    answers = both.get(["e"])
    tap.check("jsonb-numbers: 1e2 is a double to the library and the integer 100 to SQL",
              [type(answer[0]["metadata"]["k"]) for answer in answers] == [float, int], answers)
    answers = both.write("add", ["big"], [[1.0]], metadatas=['{"k": 1e300}'])
    tap.check("jsonb-numbers: 1e300 without a point is an integer to SQL, and too large for one",
              accepted(answers[0]) and answers[1][:2] == ("refused", "22023"), answers)
    answers = both.write("add", ["negative"], [[1.0]], metadatas=['{"k": -0.0}'])
    answers = [answer[0]["metadata"]["k"] if answer else None for answer in both.get(["negative"])]
    tap.check("jsonb-numbers: negative zero loses its sign in SQL", list(map(str, answers)) == ["-0.0", "0.0"], answers)
    both.delete(["e", "big", "negative"])

    library_collection = both.homes[0]
    answers = [library_collection.write("add", ["latin"], [[1.0]], [b"\xff"])["inserted"], None]
    library_collection.delete(["latin"])
    try:
        session.run("SELECT pigment.add('tags', '{latin}', '{[1]}', ARRAY[E'\\xff'])")
    except libpigment.Refused as refusal:
        answers[1] = refusal.sqlstate
    tap.check("text-in-encoding: the library takes any bytes for a document, SQL refuses them",
              answers == [1, "22021"], answers)
    other = sql.Session()
    session.run("BEGIN")
    session.run("SELECT pigment.add('tags', '{first}', '{[1]}')")
    other.run("SELECT pigment.add('tags', '{second}', '{[1]}')")
    session.run("COMMIT")
    other.close()
    answers = [row["id"] for row in both.homes[1].get()]
    tap.check("insertion-order: who drew the first ordinal is first, though committed last",
              answers == ["first", "second"], answers)
    both.delete(["first", "second"])

    long = Both(tap, *(client.create_collection("long") for client in clients))
    answers = long.write("add", ["a"], [[1.0] * 16001])
    tap.check("dimension-max: 65,535 dimensions for the library, 16,000 for type vector",
              accepted(answers[0]) and answers[1][:2] == ("refused", "54000"), answers[1])
    answers = []
    for client in clients:
        try:
            client.create_collection("halves", configuration='{"full_vectors": "f16"}')
            answers.append(None)
        except libpigment.Refused as refusal:
            answers.append(refusal.sqlstate)
    tap.check("vectors-in-f16: the library keeps 16 bits where that is asked for, type vector has 32",
              answers == [None, "0A000"], answers)
    answers = []
    for client in clients:
        try:
            client.create_collection("nested", configuration='{"nested_metadata": true}')
            answers.append(None)
        except libpigment.Refused as refusal:
            answers.append(refusal.sqlstate)
    tap.check("nested-metadata: the library takes objects where that is asked for, collections in SQL are flat",
              answers == [None, "0A000"], answers)
    answers = both.write("add", ["a"], [[float("nan")]])
    tap.check("vector-values: NaN is refused by the library with 22023, by the type's input with 22000",
              [answer[:2] for answer in answers] == [("refused", "22023"), ("refused", "22000")], answers)
    operator = session.value("SELECT '[0,0]'::vector <=> '[1,0]'::vector")
    space = session.value("SELECT pigment._distance('cosine', '[0,0]', '[1,0]')")
    tap.check("zero-vectors: the operator says NaN, a collection says 1", (operator, space) == ("NaN", "1"), (operator, space))


def check_tags(tap):
    """Every tag of the document is in a test, and every tag of a test is in the document."""
    listed = set(re.findall(r"^\| `([a-z0-9-]+)` \|", (ROOT / "docs/sql-differences.md").read_text(), re.MULTILINE))
    folder = ROOT / "regress"
    tests = [*folder.glob("sql/collections*.sql"), *folder.glob("t/*.pl"), pathlib.Path(__file__)]
    text = "\n".join(path.read_text() for path in tests)
    missing = sorted(tag for tag in listed if not re.search(rf"(?<![a-z-]){tag}: ", text))
    tap.check(f"each of the {len(listed)} differences that are documented has its test", listed and not missing, missing)


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int.from_bytes(os.urandom(4), "little")
    print(f"# seed {seed}")
    tap, rng, session = Tap(), random.Random(seed), sql.Session()
    session.run("CREATE EXTENSION IF NOT EXISTS pigment")
    clients = (libpigment.Client(libpigment.Library(pathlib.Path(sys.argv[1]).resolve())), sql.Client(session))
    for space in ("l2", "cosine", "ip"):
        compare_space(tap, rng, space, clients)
    compare_ranked(tap, rng, clients)
    compare_ranked_schemas(tap, clients)
    compare_refusals(tap, clients)
    compare_differences(tap, clients, session)
    check_tags(tap)
    session.close()
    return tap.finish()


if __name__ == "__main__":
    sys.exit(main())

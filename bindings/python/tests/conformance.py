# SPDX-License-Identifier: Apache-2.0
"""The scripts of tests/conformance through the package's public names, in memory and in a directory. A step that Python's types
cannot say is left out for one of the reasons below; each must be met as often as it says, no more and no less."""

import collections
import json
import math
import pathlib
import tempfile

import numpy as np

import pigment
from pigment import errors

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "tests/conformance"
DTYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int32, "i64": np.int64}

# Why a step is left out, and how many are in both homes together.
LEFT_OUT = {
    "raw-json": 12,  # metadata, configuration and schema of a collection are objects here, no texts
    "order-by-word": 2,  # order_by="n" is [{"key": "n"}]
}


class LeftOut(Exception):
    pass


class Letters(pigment.EmbeddingFunction):
    """The function of the scripts: component i counts the letter a + i."""

    def __init__(self, function):
        self.given = function

    def name(self):
        return self.given.get("name", "letters")

    def get_config(self):
        return self.given.get("config", {})

    def default_space(self):
        return self.given.get("space", "")

    def __call__(self, input):
        fault = self.given.get("fault")
        if fault == "fail":
            error = errors.UnavailableError("the model is asleep")
            error.status = pigment._declarations.Status.UNAVAILABLE
            raise error
        made = np.array([[text.count(chr(ord("a") + at)) for at in range(self.given.get("dimension", 3))] for text in input], np.float32)
        if fault == "nan":
            made[-1, -1] = math.nan
        if fault == "short":
            made = made[:-1]
        if fault == "extra":
            made = np.vstack([made, made[:1]])
        return made


def scripts():
    """(file, title, home, steps)"""
    for path in sorted(FOLDER.glob("*.jsonl")):
        current = None
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not line.strip():
                continue
            parsed = json.loads(line)
            if "script" in parsed:
                if current:
                    yield current
                current = (path.name, parsed["script"], parsed.get("home", "both"), [])
            else:
                current[3].append((number, parsed))
        yield current


def number(value):
    return {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}[value] if isinstance(value, str) else value


def filter_of(args, name):
    if name + "_raw" in args:
        return pigment.Filter.from_json(args[name + "_raw"])
    if name not in args:
        return None
    given = args[name]
    return given if isinstance(given, dict) else pigment.Filter.from_json(json.dumps(given))


def vectors(args):
    if "embeddings" not in args:
        return None
    rows = [[number(value) for value in row] for row in args["embeddings"]]
    with np.errstate(over="ignore"):
        return np.array(rows, dtype=DTYPES[args.get("dtype", "f32")]).reshape(len(rows), len(rows[0]) if rows else 0)


class Runner:
    def __init__(self, path):
        self.path, self.handles, self.cursor = path, {}, None
        self.open()

    def open(self):
        self.client = pigment.PersistentClient(self.path) if self.path else pigment.EphemeralClient()

    def do(self, step):
        args = step.get("args", {})
        if any(name in args for name in ("metadata_raw", "configuration_raw", "schema_raw")):
            raise LeftOut("raw-json")
        if isinstance(args.get("order_by"), str):
            raise LeftOut("order-by-word")
        if step["op"] in ("create_tenant", "get_tenant", "list_tenants", "delete_tenant", "create_database", "get_database",
                          "list_databases", "delete_database"):
            answer = getattr(self.client, step["op"])(**args)
            return json.loads(json.dumps(answer, default=str))
        self.client.tenant = args.get("tenant", "default_tenant")
        self.client.database = args.get("database", "default_database")
        return getattr(self, step["op"])(args)

    def close(self, _=None):
        self.client.close()

    def reopen(self, _):
        self.client.close()
        self.handles = {}
        self.open()

    def keep(self, args, made):
        self.handles[args.get("as", args.get("name", args.get("new_name", "id")))] = made
        return made.describe()

    @staticmethod
    def function(args):
        return Letters(args["function"]) if "function" in args else None

    def create_collection(self, args):
        return self.keep(args, self.client.create_collection(
            args["name"], args.get("schema"), args.get("configuration"), args.get("metadata"), self.function(args),
            get_or_create=args.get("get_or_create", False)))

    def get_collection(self, args):
        return self.keep(args, self.client.get_collection(args["name"], self.function(args)))

    def get_collection_by_id(self, args):
        wanted = self.handles[args["of"]].describe()["id"] if "of" in args else args["id"]
        return self.keep(args, self.client.get_collection_by_id(wanted, self.function(args)))

    def list_collections(self, args):
        found = [one.describe() for one in self.client.list_collections(args.get("limit"), args.get("offset"))]
        return sorted(found, key=lambda one: one["name"]) if args.get("sorted_by_name") else found

    def count_collections(self, _):
        return self.client.count_collections()

    def delete_collection(self, args):
        self.client.delete_collection(args["name"])

    def describe(self, args):
        return self.handles[args["collection"]].describe()

    def modify(self, args):
        self.handles[args["collection"]].modify(args.get("name"), args.get("metadata"), args.get("configuration"))

    def fork(self, args):
        return self.keep(args, self.handles[args["collection"]].fork(args["new_name"]))

    def flush(self, args):
        (self.handles[args["collection"]] if "collection" in args else self.client).flush()

    def write(self, operation, args):
        done = self.handles[args["collection"]].write(operation, args.get("ids"), vectors(args), args.get("metadatas"),
                                                      args.get("documents"), None, args.get("uris"))
        return done._asdict()

    def add(self, args):
        return self.write("add", args)

    def update(self, args):
        return self.write("update", args)

    def upsert(self, args):
        return self.write("upsert", args)

    @staticmethod
    def chosen(args):
        return {"ids": args.get("ids"), "where": filter_of(args, "where"), "where_document": filter_of(args, "where_document")}

    def delete(self, args):
        return self.handles[args["collection"]].delete(**self.chosen(args), limit=args.get("limit"))

    def get(self, args):
        order = args.get("order_by")
        cursor = self.cursor if args.get("goes_on") else args.get("cursor")
        self.cursor = None
        options = {"include": args["include"]} if "include" in args else {}
        result = self.handles[args["collection"]].get(**self.chosen(args), limit=args.get("limit"), offset=args.get("offset"),
                                                      order_by=order, cursor=cursor, **options)
        self.cursor = result.cursor
        return {**columns(result), "may_go_on": result.cursor is not None}

    def peek(self, args):
        return columns(self.handles[args["collection"]].peek(args.get("limit", 10)))

    def query(self, args):
        options = {"include": args["include"]} if "include" in args else {}
        if "max_distance" in args:
            options["max_distance"] = number(args["max_distance"])
        return columns(self.handles[args["collection"]].query(
            vectors(args), args.get("texts"), n_results=args.get("n_results", 10), **self.chosen(args), **options))

    def count(self, args):
        return self.handles[args["collection"]].count(**self.chosen(args))

    def facets(self, args):
        return self.handles[args["collection"]].facets(args.get("keys"), **self.chosen(args), limit=args.get("limit"))


def columns(result):
    made = {"ids": result["ids"]}
    for name in result["included"]:
        value = result[name]
        if name == "embeddings":
            value = value.tolist() if isinstance(value, np.ndarray) else [one.tolist() for one in value]
        made[name] = value
    return made


# ---- Comparing, as script.cc does


def mismatch(expected, actual, path="$", exact=False):
    if isinstance(expected, dict) and list(expected) == ["$any"]:
        return None
    is_number = [isinstance(one, (int, float)) and not isinstance(one, bool) for one in (expected, actual)]
    if all(is_number):
        if exact:
            same = isinstance(expected, float) == isinstance(actual, float) and expected == actual
        else:
            same = expected == actual or abs(expected - actual) <= 1e-5 * max(abs(expected), abs(actual)) + 1e-7
        return None if same else f"{path}: expected {expected}, got {actual}"
    if isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        found = (mismatch(one, other, f"{path}[{at}]", exact) for at, (one, other) in enumerate(zip(expected, actual)))
        return next((one for one in found if one), None)
    if not isinstance(expected, dict) or not isinstance(actual, dict):
        same = type(expected) is type(actual) and expected == actual
        return None if same else f"{path}: expected {expected!r}, got {actual!r}"
    for key, value in expected.items():
        if isinstance(value, dict) and list(value) == ["$absent"]:
            if key in actual:
                return f"{path}.{key}: expected to be absent"
            continue
        if key not in actual:
            return f"{path}.{key}: is missing in {actual}"
        found = mismatch(value, actual[key], f"{path}.{key}", exact or key in ("metadata", "metadatas"))
        if found:
            return found
    return f"{path}: expected {expected}, got {actual}" if exact and len(actual) > len(expected) else None


def refusal_of(error):
    """What the library said: the exception itself, or what it was made from."""
    while error is not None:
        said = error
        error = error.__cause__ or error.__context__
        if isinstance(said, errors.ChromaError) and (error is None or not isinstance(error, errors.ChromaError)):
            return said
    return None


def error_mismatch(expected, error):
    said = refusal_of(error)
    if said is None:
        return "not a refusal of the library"
    if said.status.name != expected["code"]:
        return f"another code: {said.status.name}"
    if "detail" in expected and said.detail.name != expected["detail"]:
        return f"another detail: {said.detail.name}"
    if "row" in expected and said.row != expected["row"]:
        return f"another row: {said.row}"
    return next((f"no {part!r} in it" for part in expected.get("message", []) if part not in str(said)), None)


def run(steps, path, left_out):
    runner = Runner(path)
    try:
        for line, step in steps:
            try:
                answer = runner.do(step)
            except LeftOut as reason:
                left_out[str(reason)] += 1
                assert "error" in step, f"line {line} is left out and was to change something: {step}"
                continue
            except Exception as error:
                assert "error" in step, f"line {line}: {step}: {error!r}"
                why = error_mismatch(step["error"], error)
                assert why is None, f"line {line}: {step}: {why}: {error!r} because of {refusal_of(error)!r}"
                continue
            assert "error" not in step, f"line {line}: {step}: no error, but {answer}"
            why = mismatch(step["expect"], answer)
            assert why is None, f"line {line}: {step}: {why}"
    finally:
        runner.close()


def main(tap):
    left_out = collections.Counter()
    for file, title, home, steps in scripts():
        if home != "directory":
            tap.test(f"conformance: {file}: {title}, in memory", run, steps, "", left_out)
        if home != "memory":
            with tempfile.TemporaryDirectory() as folder:
                tap.test(f"conformance: {file}: {title}, in a directory", run, steps, folder + "/store", left_out)
    for reason, count in LEFT_OUT.items():
        tap.report(f"conformance: {reason}: {left_out[reason]} steps are left out, {count} are known", left_out[reason] == count)
    tap.report("conformance: no other step is left out", set(left_out) <= set(LEFT_OUT), str(left_out))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The conformance scripts through the SQL functions, in a server that libpq's environment variables name. Each script begins
without collections and runs as a role that owns nothing else. Prints one TAP line a script, and one for each reason
for which steps are left out: README.md has them.

usage: sql_runner.py LIBPIGMENT"""

import json
import math
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "regress" / "differential")]

import libpigment
import sql

ROLE = "corpus"
COLUMNS = {"documents": "document", "metadatas": "metadata", "uris": "uri", "embeddings": "embedding", "distances": "distance"}
LETTERS = """
CREATE FUNCTION public.{name}(texts text[], purpose text) RETURNS vector[] LANGUAGE plpgsql IMMUTABLE SET search_path = public AS $$
DECLARE
	made vector[] := '{{}}';
	content text;
BEGIN
	IF '{fault}' = 'fail' THEN
		RAISE EXCEPTION USING ERRCODE = '{unavailable}', MESSAGE = 'the model is asleep';
	END IF;
	FOREACH content IN ARRAY texts LOOP
		made := made || (SELECT array_agg(length(content) - length(replace(content, chr(96 + letter), '')) ORDER BY letter)::real[]::vector
			FROM generate_series(1, {dimension}) letter);
	END LOOP;
	IF '{fault}' = 'nan' THEN
		made := made || ARRAY['NaN']::real[]::vector;
	END IF;
	RETURN CASE '{fault}' WHEN 'short' THEN made[2:] WHEN 'extra' THEN made || made[1] ELSE made END;
END
$$"""


# As the extension is when it is created, and what a role needs.
FRESH = (f"DROP OWNED BY {ROLE}", "DELETE FROM pigment.databases", "DELETE FROM pigment.tenants",
         "INSERT INTO pigment.tenants VALUES ('default_tenant')",
         "INSERT INTO pigment.databases (tenant, name) VALUES ('default_tenant', 'default_database')",
         f"GRANT CREATE ON SCHEMA public TO {ROLE}",
         f"GRANT INSERT, DELETE ON pigment.tenants, pigment.databases TO {ROLE}")


# ---- Scripts, and what of them SQL cannot say


def read_scripts():
    """(name, steps) of every script."""
    for path in sorted(pathlib.Path(__file__).parent.glob("*.jsonl")):
        scripts = []
        for line in filter(str.strip, path.read_text(encoding="utf-8").splitlines()):
            parsed = json.loads(line)
            if "script" in parsed:
                scripts.append((f"{path.stem}: {parsed['script']}", []))
            else:
                scripts[-1][1].append(parsed)
        yield from scripts


def raw_texts(step):
    args = step.get("args", {})
    return [value for key, value in args.items() if key.endswith("_raw")] + [
        one for one in args.get("metadatas", ()) if isinstance(one, str)]


def repeats_a_key(text):
    """Whether an object in a JSON text has a key twice."""
    repeated = []

    def look(pairs):
        repeated.append(len(dict(pairs)) < len(pairs))
        return dict(pairs)

    try:
        json.loads(text, object_pairs_hook=look)
    except (ValueError, RecursionError):
        return False
    return any(repeated)


class LeftOut(Exception):
    """A step that SQL cannot say; by its reason."""


SMALLEST = 1e-45  # of the numbers above 0 in f32

# Reason, and whether a step is left out for it; None: that shows when it runs. A step that should have changed something
# takes the rest of its script along.
LEFT_OUT = {
    "no-close": lambda step: step["op"] == "close",
    "text-without-nul": lambda step: any("\0" in one for one in step.get("args", {}).get("documents", ()) if one is not None),
    "jsonb-duplicate-keys": lambda step: any(map(repeats_a_key, raw_texts(step))),
    "vector-values": lambda step: "expect" in step and any(
        is_number(value) and 0 < abs(value) < SMALLEST for row in step.get("args", {}).get("embeddings", ()) for value in row),
    "nested-metadata": lambda step: step["op"] == "create_collection" and "expect" in step and any(
        (step["args"].get(part) or {}).get("nested_metadata") for part in ("configuration", "schema")),
    "function-space": lambda step: "space" in step.get("args", {}).get("function", {}),
    "function-at-get": None,
}
READS = {"get", "query", "peek", "count", "facets", "describe"}

# Where SQL's types refuse a value before a function sees it, with states and words of their own.
BY_TYPES = {"22P02", "22P05", "22021", "22000", "22003", "54000"}


# ---- Steps as statements


class Runner:
    """One script: a session, and handles as ids of collections."""

    def __init__(self, status_sqlstate):
        self.unavailable = status_sqlstate("UNAVAILABLE")
        self.session, self.handles = sql.Session(), {}
        self.cursor = None  # of the last get
        self.session.run("SET timezone = 'UTC'")

    def close_session(self):
        self.session.close()

    def do(self, step):
        return getattr(self, "do_" + step["op"])(step.get("args", {}))

    def do_reopen(self, _):
        self.session.close()
        self.session, self.handles = sql.Session(), {}

    def do_flush(self, args):
        tables = [self.row(self.handles[args["collection"]])["relation"]] if "collection" in args else [
            row["relation"] for row in self.session.rows("SELECT relation::text FROM pigment.collections")]
        for table in tables:
            self.session.run(f"VACUUM {table}")

    # Tenants and databases

    def do_create_tenant(self, args):
        self.session.run(f"SELECT pigment.create_tenant({sql.quote(args.get('name'))})")

    def do_get_tenant(self, args):
        return {"name": self.session.value(f"SELECT pigment.get_tenant({sql.quote(args.get('name'))})")}

    def do_list_tenants(self, _):
        return [row["name"] for row in self.session.rows("SELECT name FROM pigment.list_tenants()")]

    def do_delete_tenant(self, args):
        self.session.run(f"SELECT pigment.delete_tenant({sql.quote(args.get('name'))})")

    def do_create_database(self, args):
        self.session.run(f"SELECT pigment.create_database({named(name=args.get('name'), tenant=args.get('tenant'))})")

    def do_get_database(self, args):
        return self.session.rows(f"SELECT * FROM pigment.get_database({named(name=args.get('name'), tenant=args.get('tenant'))})")[0]

    def do_list_databases(self, args):
        return self.session.rows(
            f"SELECT * FROM pigment.list_databases({page(args)}, {named(tenant=args.get('tenant'))})")

    def do_delete_database(self, args):
        self.session.run(f"SELECT pigment.delete_database({named(name=args.get('name'), tenant=args.get('tenant'))})")

    # Collections

    def do_create_collection(self, args):
        function = args.get("function")
        return self.keep(args, self.session.rows(
            f"SELECT * FROM pigment.create_collection({sql.quote(args.get('name'))}, {json_of(args, 'metadata')}, "
            f"{json_of(args, 'configuration')}, {self.made_function(function)}, {args.get('get_or_create', False)}, "
            f"{scope(args)}, collection_schema => {json_of(args, 'schema')})"))

    def made_function(self, function):
        if function is None:
            return "NULL"
        name = function.get("name", "letters")
        self.session.run(f"DROP FUNCTION IF EXISTS public.{name}")
        self.session.run(LETTERS.format(name=name, dimension=function.get("dimension", 3), fault=function.get("fault", ""),
                                        unavailable=self.unavailable))
        return f"'public.{name}'::regproc"

    def do_get_collection(self, args):
        return self.keep_found(args, self.session.rows(
            f"SELECT * FROM pigment.get_collection({sql.quote(args.get('name'))}, {scope(args)})"))

    def do_get_collection_by_id(self, args):
        wanted = self.handles[args["of"]] if "of" in args else args["id"]
        return self.keep_found({"name": "id", **args}, [self.row(wanted)])

    def keep_found(self, args, rows):
        """Texts are embedded by the function that the catalog names: another one cannot be given, and none is needed."""
        stored = self.described(rows[0])["embedding_function"]
        if (stored or {}).get("name") != args.get("function", {}).get("name", "letters" if "function" in args else None):
            raise LeftOut("function-at-get")
        return self.keep(args, rows)

    def keep(self, args, rows):
        described = self.described(rows[0])
        self.handles[args.get("as", args.get("name", args.get("new_name")))] = described["id"]
        return described

    def row(self, identity):
        return self.session.rows(f"SELECT * FROM pigment.get_collection_by_id({sql.quote(identity)})")[0]

    @staticmethod
    def described(row):
        function = row["embedding_function"]
        return {**{name: row[name] for name in ("id", "name", "tenant", "database", "metadata", "configuration", "schema", "dimension")},
                "embedding_function": None if function is None else {"name": function.removeprefix("public.")}}

    def do_describe(self, args):
        return self.described(self.row(self.handles[args["collection"]]))

    def do_list_collections(self, args):
        found = self.session.rows(f"SELECT * FROM pigment.list_collections({page(args)}, {scope(args)})")
        found = [self.described(row) for row in found]
        return sorted(found, key=lambda one: one["name"]) if args.get("sorted_by_name") else found

    def do_count_collections(self, args):
        return int(self.session.value(f"SELECT pigment.count_collections({scope(args)})"))

    def do_delete_collection(self, args):
        self.session.run(f"SELECT pigment.delete_collection({sql.quote(args.get('name'))}, {scope(args)})")

    def do_modify(self, args):
        self.session.run(f"SELECT pigment.modify_collection({self.name_of(args)}, {sql.quote(args.get('name'))}, "
                         f"{json_of(args, 'metadata')}, {json_of(args, 'configuration')}, {self.scope_of(args)})")

    def do_fork(self, args):
        return self.keep(args, self.session.rows(f"SELECT * FROM pigment.fork_collection({self.name_of(args)}, "
                                                 f"{sql.quote(args['new_name'])}, {self.scope_of(args)})"))

    # Records

    def name_of(self, args):
        return sql.quote(self.row(self.handles[args["collection"]])["name"])

    def scope_of(self, args):
        return scope(self.row(self.handles[args["collection"]]))

    def do_add(self, args):
        return self.write("add", args)

    def do_update(self, args):
        return self.write("update", args)

    def do_upsert(self, args):
        return self.write("upsert", args)

    def write(self, operation, args):
        counts = self.session.rows(
            f"SELECT * FROM pigment.{operation}({self.name_of(args)}, {sql.array(args.get('ids'), 'text')}, "
            f"{vectors(args.get('embeddings'))}, {sql.array(args.get('documents'), 'text')}, {metadatas(args)}, "
            f"{sql.array(args.get('uris'), 'text')}, {self.scope_of(args)})")[0]
        return {"inserted": 0, "updated": 0, "skipped": 0, "deleted": 0, **counts}

    def do_delete(self, args):
        return {"deleted": int(self.session.value(
            f"SELECT pigment.delete({self.name_of(args)}, {sql.array(args.get('ids'), 'text')}, {json_of(args, 'where')}, "
            f"{json_of(args, 'where_document')}, {number_or_null(args.get('limit'))}, {self.scope_of(args)})"))}

    def do_count(self, args):
        return int(self.session.value(
            f"SELECT pigment.count({self.name_of(args)}, {self.scope_of(args)}, where_metadata => {json_of(args, 'where')}, "
            f"where_document => {json_of(args, 'where_document')}, ids => {sql.array(args.get('ids'), 'text')})"))

    def do_facets(self, args):
        rows = self.session.rows(
            f"SELECT key, value, count FROM pigment.facets({self.name_of(args)}, {sql.array(args.get('keys'), 'text')}, "
            f"{json_of(args, 'where')}, {json_of(args, 'where_document')}, {sql.array(args.get('ids'), 'text')}, "
            f"{number_or_null(args.get('limit'))}, {self.scope_of(args)})")
        return {key: [{"value": row["value"], "count": int(row["count"])} for row in rows if row["key"] == key] for key in args["keys"]}

    def do_get(self, args):
        include = args.get("include", ["documents", "metadatas"])
        name, order_by = self.name_of(args), json_of(args, "order_by")
        cursor = self.cursor if args.get("goes_on") else args.get("cursor")
        self.cursor = None
        rows = self.session.rows(
            f"SELECT id, document, metadata, uri, embedding::real[] FROM pigment.get({self.name_of(args)}, "
            f"{sql.array(args.get('ids'), 'text')}, {json_of(args, 'where')}, {json_of(args, 'where_document')}, "
            f"{number_or_null(args.get('limit'))}, {args.get('offset', 0)}, {sql.array(include, 'text')}, {self.scope_of(args)}, "
            f"order_by => {order_by}, cursor => {sql.quote(cursor)})")
        may_go_on = bool(rows) and len(rows) == args.get("limit")
        if may_go_on:
            self.cursor = self.session.value(
                f"SELECT pigment.cursor_behind({name}, {sql.quote(rows[-1]['id'])}, {order_by}, {self.scope_of(args)})")
        return {**columns_of(rows, include), "may_go_on": may_go_on}

    def do_peek(self, args):
        rows = self.session.rows(f"SELECT id, document, metadata, uri, embedding::real[] FROM "
                                 f"pigment.peek({self.name_of(args)}, {args.get('limit', 10)}, {self.scope_of(args)})")
        return columns_of(rows, ["documents", "metadatas", "embeddings"])

    def do_query(self, args):
        include = args.get("include", ["documents", "metadatas", "distances"])
        rows = self.session.rows(
            f"SELECT query_index, id, distance, document, metadata, uri, embedding::real[] FROM pigment.query("
            f"{self.name_of(args)}, {vectors(args.get('embeddings'))}, {args.get('n_results', 10)}, {json_of(args, 'where')}, "
            f"{json_of(args, 'where_document')}, {sql.array(args.get('ids'), 'text')}, {sql.array(include, 'text')}, "
            f"{sql.array(args.get('texts'), 'text')}, {self.scope_of(args)}, "
            f"max_distance => {distance_or_null(args.get('max_distance'))})")
        queries = [columns_of([row for row in rows if row["query_index"] == query + 1], include)
                   for query in range(len(args.get("embeddings") or args.get("texts")))]
        return {name: [one[name] for one in queries] for name in ("ids", *include)}


def columns_of(rows, include):
    return {"ids": [row["id"] for row in rows], **{name: [row[COLUMNS[name]] for row in rows] for name in include}}


def named(**arguments):
    return ", ".join(f"{name} => {sql.quote(value)}" for name, value in arguments.items())


def scope(args):
    return named(tenant=args.get("tenant"), database=args.get("database"))


def page(args):
    return f"{number_or_null(args.get('limit'))}, {args.get('offset', 0)}"


def number_or_null(value):
    return "NULL" if value is None else str(value)


def distance_or_null(value):
    return "NULL" if value is None else f"{sql.quote(str(value))}::double precision"


def json_of(args, key):
    if key + "_raw" in args:
        return sql.jsonb(args[key + "_raw"])
    return sql.jsonb(printed(args[key])) if key in args else "NULL"


def metadatas(args):
    """A text among them is raw JSON."""
    if "metadatas" not in args:
        return "NULL"
    return sql.array([one if one is None or isinstance(one, str) else printed(one) for one in args["metadatas"]], "jsonb")


def printed(value):
    """JSON in which a double has a point, as jsonb needs it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {printed(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(printed, value)) + "]"
    if isinstance(value, float):
        return sql.number(value)
    return json.dumps(value, ensure_ascii=False)


def vectors(rows):
    if rows is None:
        return "NULL"
    return sql.array(["[" + ",".join(map(str, row)) + "]" for row in rows], "vector")


# ---- What matches, as script.cc has it


def mismatch(expected, actual, path="answer", is_exact=False):
    """None, or what differs."""
    if expected == {"$any": True}:
        return None
    if is_number(expected) and is_number(actual):
        good = same_number(expected, actual, is_exact)
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) == len(actual):
            found = (mismatch(a, b, f"{path}[{at}]", is_exact) for at, (a, b) in enumerate(zip(expected, actual)))
            return next(filter(None, found), None)
        good = False
    elif isinstance(expected, dict) and isinstance(actual, dict):
        for key, value in expected.items():
            if value == {"$absent": True}:
                if key in actual:
                    return f"{path}.{key}: expected to be absent, got {actual[key]}"
            elif path.endswith("embedding_function") and key == "config":
                continue  # SQL keeps a function's name alone
            elif key not in actual:
                return f"{path}.{key}: is missing in {actual}"
            elif why := mismatch(value, actual[key], f"{path}.{key}", is_exact or key in ("metadata", "metadatas")):
                return why
        good = not is_exact or len(expected) == len(actual)
    else:
        good = type(expected) is type(actual) and expected == actual
    return None if good else f"{path}: expected {expected}, got {actual}"


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def same_number(expected, actual, is_exact):
    if is_exact:
        return type(expected) is type(actual) and expected == actual
    return expected == actual or math.isclose(expected, actual, rel_tol=1e-5, abs_tol=1e-7)


def error_mismatch(expected, refusal, status_sqlstate):
    if expected["code"] == "INVALID_ARGUMENT" and refusal.sqlstate in BY_TYPES:
        return None
    if refusal.sqlstate != status_sqlstate(expected["code"]):
        return f"expected {expected['code']}, which is {status_sqlstate(expected['code'])}"
    if expected.get("detail") == "EMBEDDING_FUNCTION" and expected["code"] != "INVALID_ARGUMENT":
        return None  # the error as the function raised it
    return next((f"no {part!r} in it" for part in expected.get("message", ()) if part not in refusal.message), None)


# ---- The command


def statuses(library):
    """SQLSTATE of a status by its name without PIGMENT_, from the header and the library."""
    header = (ROOT / "c_api/include/pigment/pigment.h").read_text(encoding="utf-8")
    numbers = {name: int(number) for name, number in re.findall(r"^  PIGMENT_([A-Z_]+) = (\d+),?$", header, re.MULTILINE)}
    return lambda name: library.function("status_sqlstate")(libpigment.i32(numbers[name])).decode()


def run_step(runner, step, status_sqlstate):
    """None, or what differs."""
    try:
        answer = runner.do(step)
    except libpigment.Refused as refusal:
        if "error" not in step:
            return f"refused: {refusal}"
        why = error_mismatch(step["error"], refusal, status_sqlstate)
        return None if why is None else f"{why}: {refusal}"
    return f"not refused, answered {answer}" if "error" in step else mismatch(step["expect"], answer)


def run_script(steps, status_sqlstate, left_out):
    """(steps that ran, what differed or None)."""
    runner, ran = Runner(status_sqlstate), 0
    try:
        for step in steps:
            try:
                for tag, applies in LEFT_OUT.items():
                    if applies is not None and applies(step):
                        raise LeftOut(tag)
                why = run_step(runner, step, status_sqlstate)
            except LeftOut as reason:
                left_out[str(reason)] = left_out.get(str(reason), 0) + 1
                if "expect" in step and step["op"] not in READS:
                    break  # what follows builds on it
                continue
            if why is not None:
                return ran, f"{json.dumps(step, ensure_ascii=False)}\n{why}"
            ran += 1
    finally:
        runner.close_session()
    return ran, None


def main():
    status_sqlstate = statuses(libpigment.Library(pathlib.Path(sys.argv[1]).resolve()))
    admin, number, failures, left_out = sql.Session(), 0, 0, {}
    admin.run(f"CREATE ROLE {ROLE} LOGIN")
    admin.run("CREATE EXTENSION pigment")
    os.environ["PGUSER"] = ROLE
    for number, (name, steps) in enumerate(read_scripts(), 1):
        for statement in FRESH:
            admin.run(statement)
        ran, why = run_script(steps, status_sqlstate, left_out)
        print(f"{'ok' if why is None else 'not ok'} {number} - {name} ({ran} of {len(steps)} steps)", flush=True)
        if why is not None:
            failures += 1
            print("\n".join("# " + line for line in why.splitlines()), flush=True)
    readme = pathlib.Path(__file__).with_name("README.md").read_text(encoding="utf-8")
    for number, tag in enumerate(LEFT_OUT, number + 1):
        good = left_out.get(tag, 0) > 0 and f"| `{tag}` |" in readme
        failures += not good
        print(f"{'ok' if good else 'not ok'} {number} - {tag}: {left_out.get(tag, 0)} steps are left out, README.md says why")
    print(f"1..{number}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

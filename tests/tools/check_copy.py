#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`pigment copy` between directories and a server that libpq's environment variables name: check_copy.py TOOL. All but the
making of databases is done by a role without rights of its own. Run by the stage `copies`. Prints TAP."""

import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time

import tap

BIG = 20_000
STATUS = {"invalid": 3, "not found": 5, "exists": 6, "denied": 7, "exhausted": 8, "precondition": 9, "unimplemented": 12, "unavailable": 14,
          "interrupted": 130}


class Bench:
    """A folder, a role without rights, and the tool."""

    def __init__(self, tool, folder):
        self.tool, self.folder = tool, pathlib.Path(folder)
        self.state = self.folder / "state"
        self.uri = f"postgresql:///plain?host={os.environ['PGHOST']}&port={os.environ['PGPORT']}&user=plain"
        self.environment = {**os.environ, "XDG_STATE_HOME": str(self.state)}
        self.sql("CREATE ROLE plain LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE; ")
        self.sql("CREATE DATABASE plain OWNER plain")
        self.sql("CREATE DATABASE bare OWNER plain")
        self.sql("CREATE EXTENSION pigment", "plain")

    def sql(self, text, database="postgres", user="postgres"):
        done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", user, "-d", database, "-c", text],
                              capture_output=True, text=True)
        assert done.returncode == 0, f"{text}: {done.stderr}"
        return done.stdout.strip()

    def plain(self, text):
        return self.sql(text, "plain", "plain")

    def run(self, *arguments, status=0, environment=None):
        done = subprocess.run([self.tool, *map(str, arguments)], capture_output=True, text=True,
                              env=environment or self.environment)
        assert done.returncode == status, f"{arguments}: exit status {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def start(self, *arguments):
        return subprocess.Popen([self.tool, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                env=self.environment)

    def export(self, store, collection):
        return self.run("export", store, collection, "-")

    def described(self, store, collection):
        found = [each for each in json.loads(self.run("list", store, "--json")) if each["name"] == collection]
        assert len(found) == 1, found
        del found[0]["id"]
        return found[0]

    def make(self, store, collection, lines, *more):
        path = self.folder / f"{collection}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        self.run("create", store, collection, *more)
        if lines:
            self.run("import", store, collection, path)

    def jobs(self, folder=None):
        return sorted(str(path) for path in (folder or self.state).glob("**/*.copy-*") if path.suffix != ".new")


def floats(*bits):
    return [struct.unpack("f", struct.pack("I", each))[0] for each in bits]


def records():
    """Of every type, and each number at its edges."""
    edges = floats(0x80000000, 0x00000001, 0x7F7FFFFF, 0x3DCCCCCD)
    metadata = {
        "int": 7, "least": -2**63, "most": 2**63 - 1, "odd": 9007199254740993, "float": 1.0, "tenth": 0.1, "huge": 1.5e300,
        "max": 1.7976931348623157e308, "tiny": 5e-324, "minus": -2.5e-7, "yes": True, "no": False, "text": "é 漢 \u0001 \\ \" 1e5",
        "ints": [1, 2], "floats": [1.0, 2.5e22], "bools": [True, False], "texts": ["x", "1e3"], "a key \"1e2\"": 1e22}
    random_numbers = random.Random(7)
    lines = [
        {"id": "zz", "document": "first, though its id is last", "metadata": metadata, "uri": "file:///1", "embedding": edges},
        {"id": "b", "embedding": [1.0, 2.0, 3.0, 4.0]},
        {"id": "ü \\ {}\",'", "document": "", "uri": "u", "embedding": [0.0, 0.0, 0.0, 1.0]},
        {"id": "NULL", "document": "NULL", "metadata": {"only": "this"}, "embedding": [0.0, 1.0, 0.0, 1.0]}]
    for number in range(2500):  # more than two pages
        line = {"id": f"r{number}", "embedding": [random_numbers.gauss(0, 1) for _ in range(4)]}
        if number % 3:
            line["metadata"] = {"n": number, "f": random_numbers.uniform(-1, 1) * 10.0 ** random_numbers.randrange(-300, 300)}
        if number % 2:
            line["document"] = f"document {number}"
        lines.append(line)
    return lines


def there_and_back(bench):
    """directory -> PostgreSQL -> directory: every collection as it was"""
    store, back = bench.folder / "there", bench.folder / "back"
    configuration = {"hnsw": {"space": "cosine", "ef_construction": 150, "ef_search": 77, "max_neighbors": 20}}
    schema = {"defaults": {}, "keys": {"n": {"int": {"int_inverted_index": {"enabled": False, "config": {}}}}}}
    bench.make(store, "everything", records(), "--configuration", json.dumps(configuration), "--metadata",
               '{"made":"here","n":3,"f":2.0,"big":1e300,"yes":true}')
    bench.make(store, "clusters", records()[1:9], "--configuration", '{"spann":{"space":"ip"}}')
    bench.make(store, "ruled", records()[:4], "--schema", json.dumps(schema))
    bench.make(store, "lexical", [{"id": "t", "document": "a text"}], "--lexical", "384")
    bench.make(store, "ranked", records()[:40], "--configuration",
               '{"text_index":{"analyzer":{"language":"english","stop_words":["a","3,14"]},"k1":1.5}}')
    ranked = {"keys": {"#document": {"string": {"fts_index": {"enabled": True, "config": {"text_index": {"b": 0.5}}}}}}}
    bench.make(store, "ranked_by_schema", records()[:40], "--schema", json.dumps(ranked))
    bench.make(store, "empty", [])
    for name in ("everything", "clusters", "ruled", "lexical", "ranked", "ranked_by_schema", "empty"):
        count = int(bench.run("count", store, name))
        said = json.loads(bench.run("copy", store, name, bench.uri, "--json"))
        assert said == {"records": count, "inserted": count, "updated": 0, "resumed_at": 0}, said
        assert bench.plain(f"SELECT pigment.count('{name}')") == str(count)
        assert bench.run("copy", bench.uri, name, back) == f"{count} records copied\n"
        assert bench.export(store, name) == bench.export(back, name), name
        assert bench.described(store, name) == bench.described(back, name), name
    for name in ("ranked", "ranked_by_schema"):
        words = "documents 7 first"
        found = [bench.run("search", each, name, words, "--include", "documents") for each in (store, back)]
        ids = bench.plain(f"SELECT string_agg(id, ' ' ORDER BY rank) FROM pigment.search_text('{name}', '{{{words}}}')").split()
        assert found[0] == found[1] and ids and all(id in found[0] for id in ids), (found, ids)
    assert not bench.jobs() and not bench.jobs(bench.folder), "the jobs are forgotten"
    bench.run("check", back)


def as_sql_sees_it(bench):
    """what came into PostgreSQL: order, types, bits"""
    ids = [json.loads(line)["id"] for line in bench.export(bench.folder / "there", "everything").splitlines()]
    assert bench.plain("SELECT string_agg(id, '|' ORDER BY ordinal) FROM everything") == "|".join(ids)
    bits = bench.plain("SELECT encode(vector_send(embedding), 'hex') FROM everything WHERE id = 'zz'")
    assert bits == "00040000" + "80000000" + "00000001" + "7f7fffff" + "3dcccccd", bits
    value = "SELECT metadata ->> '{}' FROM everything WHERE id = 'zz'"
    assert bench.plain(value.format("most")) == "9223372036854775807"
    assert bench.plain(value.format("float")) == "1.0", "still a double"
    assert float(bench.plain(value.format("max"))) == 1.7976931348623157e308
    assert bench.plain("SELECT space FROM pigment.get_collection('everything')") == "cosine"
    assert bench.plain("SELECT embedding_function FROM pigment.get_collection('lexical')") == "pigment.lexical_v1"
    assert bench.plain("SELECT id FROM pigment.query('lexical', query_texts => ARRAY['text'])") == "t"
    owner = "SELECT tableowner FROM pg_tables WHERE tablename = 'everything'"
    assert bench.plain(owner) == "plain", "made by the role without rights"


def within_the_server(bench):
    """PostgreSQL -> PostgreSQL, with a filter, merged, into another tenant and database"""
    bench.run("copy", bench.uri, "everything", bench.uri, "part", "--where", '{"n":{"$gte":2400.0}}', "--id", "r2401", "--id", "b",
              "--id", "r2402")
    assert bench.plain("SELECT string_agg(id, ',' ORDER BY ordinal) FROM part") == "r2401,r2402"
    bench.run("copy", bench.uri, "everything", bench.uri, "part", status=STATUS["exists"])
    bench.plain("UPDATE part SET document = 'changed' WHERE id = 'r2401'")
    said = json.loads(bench.run("copy", bench.uri, "everything", bench.uri, "part", "--merge", "--id", "r2401", "--id", "b", "--json"))
    assert (said["inserted"], said["updated"]) == (1, 1), said
    assert bench.plain("SELECT document FROM part WHERE id = 'r2401'") == "document 2401"
    elsewhere = ("--to-tenant", "acme", "--to-database", "play")
    said = bench.run("copy", bench.uri, "part", bench.uri, *elsewhere, status=STATUS["not found"])
    assert "acme" in said, said
    bench.run("copy", bench.uri, "part", bench.uri, *elsewhere, "--parents", status=STATUS["denied"])
    bench.sql("GRANT INSERT ON pigment.tenants, pigment.databases TO plain", "plain")
    bench.run("copy", bench.uri, "part", bench.uri, *elsewhere, "--parents")
    bench.run("copy", bench.uri, "part", bench.uri, "again", *elsewhere, "--parents")
    bench.run("copy", bench.uri, "part", bench.folder / "elsewhere", "--tenant", "acme", "--database", "play")
    assert len(bench.export(bench.folder / "elsewhere", "part").splitlines()) == 3


def big(bench):
    store = bench.folder / "big"
    if not store.exists():
        bench.make(store, "big", [
            {"id": f"id{n}", "document": f"document {n}", "metadata": {"n": n, "f": n / 4}, "embedding": [n, 0.5, n % 97]}
            for n in range(BIG)])
    return store


def end_in_the_middle(bench, arguments, end, status, folder=None):
    """Starts, lets it save how far it is beyond the first page, ends it. It runs for moments only, for a job is saved twice a
    second."""
    others = set(bench.jobs(folder))  # of what failed before
    process = bench.start(*arguments)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        process.send_signal(signal.SIGCONT)
        time.sleep(0.005)
        process.send_signal(signal.SIGSTOP)
        assert process.poll() is None, f"it was quicker: {process.communicate()[1]}"
        jobs = sorted(set(bench.jobs(folder)) - others)
        if jobs and json.loads(pathlib.Path(jobs[0]).read_text())["progress"]["records"] > 0:
            break
        time.sleep(0.05)
    end(process)
    process.send_signal(signal.SIGCONT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == status, f"exit status {process.returncode}: {said}"
    return said


def go_on(bench, arguments):
    said = json.loads(bench.run(*arguments, "--json"))
    assert 0 < said["resumed_at"] < BIG and said["records"] == BIG, said
    # What was written after the last save is written again, and nothing else.
    assert said["inserted"] + said["updated"] == BIG - said["resumed_at"], said


def kill(bench):
    """kill -9 in the middle, both ways; the same command goes on"""
    store, back = big(bench), bench.folder / "big-back"
    into = ("copy", store, "big", bench.uri)
    end_in_the_middle(bench, into, lambda process: process.kill(), -signal.SIGKILL)
    go_on(bench, into)
    assert bench.plain("SELECT count(*), count(DISTINCT ordinal) FROM big") == f"{BIG}|{BIG}"
    out = ("copy", bench.uri, "big", back)
    end_in_the_middle(bench, out, lambda process: process.kill(), -signal.SIGKILL, bench.folder)
    go_on(bench, out)
    assert bench.export(store, "big") == bench.export(back, "big")
    assert not bench.jobs(bench.folder), bench.jobs(bench.folder)


def interrupt(bench):
    """SIGINT says how it goes on; a session that the server ends is an error, and the command goes on too"""
    store = big(bench)
    said = end_in_the_middle(bench, ("copy", store, "big", bench.uri, "two"), lambda process: process.send_signal(signal.SIGINT),
                             STATUS["interrupted"])
    assert "the same command goes on" in said, said
    go_on(bench, ("copy", store, "big", bench.uri, "two"))
    terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plain'"
    said = end_in_the_middle(bench, ("copy", store, "big", bench.uri, "three"), lambda _: bench.sql(terminate), STATUS["unavailable"])
    go_on(bench, ("copy", store, "big", bench.uri, "three"))
    bench.run("copy", bench.uri, "three", bench.folder / "three")
    assert bench.export(store, "big") == bench.export(bench.folder / "three", "three")


def wait_for_a_lock(bench):
    """an interrupt ends a statement that waits"""
    bench.run("copy", bench.folder / "there", "clusters", bench.uri, "held")
    holder = subprocess.Popen(["psql", "-X", "-q", "-U", "plain", "-d", "plain"], stdin=subprocess.PIPE,
                              stdout=subprocess.DEVNULL, text=True)
    try:
        holder.stdin.write("BEGIN; LOCK TABLE held;\n")
        holder.stdin.flush()
        deadline = time.monotonic() + 30
        locks = "SELECT count(*) FROM pg_locks l WHERE l.relation = 'held'::regclass AND {}"
        while bench.plain(locks.format("granted")) == "0" and time.monotonic() < deadline:
            time.sleep(0.01)
        process = bench.start("copy", bench.folder / "there", "clusters", bench.uri, "held", "--merge")
        while bench.plain(locks.format("NOT granted")) == "0" and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        said = process.communicate(timeout=30)[1]
        assert process.returncode == STATUS["interrupted"], said
        assert bench.plain(locks.format("NOT granted")) == "0", "the server waits no longer"
    finally:
        holder.stdin.write("ROLLBACK;\n")
        holder.communicate(timeout=30)


def another_of_its_name(bench):
    """a job goes on in the collection that it began, not in another that has its name by now"""
    store = big(bench)
    arguments = ("copy", store, "big", bench.uri, "mine")
    end_in_the_middle(bench, arguments, lambda process: process.kill(), -signal.SIGKILL)
    bench.plain("SELECT FROM pigment.modify_collection('mine', new_name => 'moved'); SELECT FROM pigment.create_collection('mine')")
    bench.run(*arguments, status=STATUS["exists"])
    assert bench.plain("SELECT pigment.count('mine')") == "0"
    for path in bench.jobs():
        os.unlink(path)


def refusals(bench):
    """what cannot be copied is refused by name, with a status"""
    def said(status, *arguments, environment=None):
        return bench.run("copy", *arguments, status=STATUS[status], environment=environment)

    there = bench.folder / "there"
    uri = bench.uri
    assert "CREATE EXTENSION pigment" in said("precondition", there, "empty", uri.replace("///plain", "///bare"))
    assert "///nowhere" not in said("unavailable", there, "empty", "postgresql:///nowhere?host=/nowhere")
    assert 'collection "absent"' in said("not found", uri, "absent", bench.folder / "absent")
    said("not found", uri, "absent", bench.folder / "absent", "--tenant", "nobody")
    said("exists", there, "empty", uri)
    said("not found", there, "empty", uri, "absent", "--merge")
    assert "$gt" in said("invalid", uri, "everything", bench.folder / "absent", "--where", '{"n":{"$gt":"x"}}')
    failure = json.loads(said("not found", uri, "absent", bench.folder / "absent", "--json"))["error"]
    assert failure["status"] == 5 and "absent" in failure["message"], failure

    bad = bench.folder / "bad"
    bench.make(bad, "zero", [{"id": "fine", "embedding": [1]}, {"id": "wrong", "document": "a\0b", "embedding": [1]}])
    assert 'record "wrong": its document has U+0000' in said("invalid", bad, "zero", uri)
    bench.make(bad, "zero-in-metadata", [{"id": "wrong", "metadata": {"k": "\\u0000\0"}, "embedding": [1]}])
    assert 'record "wrong": its metadata has U+0000' in said("invalid", bad, "zero-in-metadata", uri)
    bench.make(bad, "no-zero", [{"id": "right", "metadata": {"k": "\\u0000"}, "embedding": [1]}])
    bench.run("copy", bad, "no-zero", uri)
    bench.make(bad, "bytes", [{"id": "wrong", "document_base64": "/w==", "embedding": [1]}])
    assert 'record "wrong": its document is no UTF-8' in said("invalid", bad, "bytes", uri)
    bench.make(bad, "wide", [{"id": "wide", "embedding": [1.0] * 16001}])
    assert "16000" in said("exhausted", bad, "wide", uri)
    bench.make(bad, "half", [], "--configuration", '{"full_vectors":"f16"}')
    said("unimplemented", bad, "half", uri)

    bench.make(bad, "lexical", [{"id": "t", "document": "a text", "embedding": [1.0] * 64}], "--lexical", "64")
    assert "--no-function" in said("precondition", bad, "lexical", uri, "lexical64")
    bench.make(bad, "lexical_empty", [], "--lexical", "64")
    assert "--no-function" in said("precondition", bad, "lexical_empty", uri, "lexical64")
    bench.run("copy", bad, "lexical", uri, "lexical64", "--no-function")
    assert bench.plain("SELECT embedding_function IS NULL FROM pigment.get_collection('lexical64')") == "t"

    bench.plain("CREATE FUNCTION mine(texts text[], purpose text) RETURNS vector[] LANGUAGE sql AS "
                "'SELECT array_agg(''[1,2]''::vector) FROM unnest(texts)'")
    bench.plain("SELECT FROM pigment.create_collection('functional', embedding_function => 'public.mine')")
    bench.run("copy", uri, "functional", bad)
    assert bench.described(bad, "functional")["embedding_function"] == {"name": "public.mine", "config": {}}
    bench.run("copy", bad, "functional", uri, "functional2")
    assert bench.plain("SELECT embedding_function FROM pigment.get_collection('functional2')") == "public.mine"
    bench.plain("ALTER FUNCTION mine RENAME TO yours")
    assert '"public.mine" of collection "functional"' in said("precondition", bad, "functional", uri, "functional3")

    homeless = {name: value for name, value in bench.environment.items() if name not in ("HOME", "XDG_STATE_HOME")}
    assert "XDG_STATE_HOME" in said("precondition", there, "empty", uri, "homeless", environment=homeless)
    for command in (("list", uri), ("get", uri, "empty"), ("create", uri, "x"), ("check", uri), ("backup", there, uri)):
        assert "only copy" in bench.run(*command, status=2), command
    assert not list(bench.folder.glob("postgresql:*"))


def profiles(bench):
    """@NAME stands for a database too"""
    file = bench.folder / "profiles"
    file.write_text(f"# homes\nserver = {bench.uri}\nhere = {bench.folder / 'there'}\n")
    environment = {**bench.environment, "PIGMENT_PROFILES": str(file)}
    bench.run("copy", "@here", "clusters", "@server", "profiled", environment=environment)
    assert bench.plain("SELECT pigment.count('profiled')") == "8"
    assert "only copy" in bench.run("count", "@server", "profiled", status=2, environment=environment)


CHECKS = [there_and_back, as_sql_sees_it, within_the_server, kill, interrupt, wait_for_a_lock, another_of_its_name, refusals, profiles]


def main():
    with tempfile.TemporaryDirectory(prefix="pigment-copy-") as folder:
        bench = Bench(sys.argv[1], folder)
        return tap.run(CHECKS, lambda check: check(bench))


if __name__ == "__main__":
    sys.exit(main())

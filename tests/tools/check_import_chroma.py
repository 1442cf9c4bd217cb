# SPDX-License-Identifier: Apache-2.0
"""`pigment import-chroma` on directories that Chroma's own client made, into directories and into a server that libpq's environment
variables name: check_import_chroma.py TOOL. Runs in the environment of tests/conformance/chroma, by the stage `peers`. Prints
TAP."""

import hashlib
import json
import os
import pathlib
import pickle
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

import chromadb
import numpy as np
from chromadb.utils.embedding_functions import DefaultEmbeddingFunction

import tap

RECORDS = 2500  # the files of hnswlib are written every 1,000
DIMENSION = 8


class Tool:
    def __init__(self, program, folder):
        self.program = program
        self.environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}

    def run(self, *arguments, status=0):
        done = subprocess.run([self.program, *map(str, arguments)], capture_output=True, text=True, env=self.environment)
        assert done.returncode == status, f"{arguments}: exit status {done.returncode}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    def records(self, store, collection):
        lines = self.run("export", store, collection, "-").splitlines()
        return [json.loads(line) for line in lines]

    def records_of_database(self, uri, collection, folder):
        self.run("copy", uri, collection, folder / "copied")
        return self.records(folder / "copied", collection)


def sql(text, database="postgres"):
    subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", text], check=True, stdout=subprocess.DEVNULL)


def new_database(name, may_make_tenants=False):
    """Its URI, for a role without rights."""
    sql("DO $$ BEGIN CREATE ROLE plain LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE; EXCEPTION WHEN duplicate_object THEN END $$")
    sql(f"CREATE DATABASE {name} OWNER plain")
    sql("CREATE EXTENSION pigment", name)
    if may_make_tenants:
        sql("GRANT INSERT ON pigment.tenants, pigment.databases TO plain", name)
    return f"postgresql:///{name}?host={os.environ['PGHOST']}&port={os.environ['PGPORT']}&user=plain"


def fill(client, name, count, space, seed):
    collection = client.create_collection(
        name, configuration={"hnsw": {"space": space, "ef_search": 77}}, embedding_function=None, metadata={"made": name, "n": 3})
    vectors = np.random.default_rng(seed).standard_normal((count, DIMENSION)).astype(np.float32)
    for first in range(0, count, 500):
        rows = range(first, min(first + 500, count))
        collection.add(
            ids=[f"{name}-{row}" for row in rows], embeddings=vectors[first:rows.stop],
            documents=[f"text {row} é" if row % 5 else None for row in rows],
            metadatas=[{"n": row, "f": row / 2, "b": row % 2 == 0, "s": f"x{row % 7}", "l": [row, row + 1]} if row % 3 else None
                       for row in rows],
            uris=[f"u://{row}" for row in rows] if space == "ip" else None)
    return collection


def make(folder):
    """Three spaces; one collection in the log alone, two in hnswlib's files with a tail in the log."""
    client = chromadb.PersistentClient(str(folder))
    fill(client, "small", 20, "l2", 1)
    big = fill(client, "big", RECORDS, "cosine", 2)
    big.delete(ids=[f"big-{row}" for row in range(100)])
    big.update(ids=["big-150"], embeddings=[[9] * DIMENSION], documents=["changed"], metadatas=[{"n": None, "new": 1.5}])
    big.upsert(ids=["big-160", "late"], embeddings=[[1] * DIMENSION, [2] * DIMENSION], documents=["up", "late"])
    fill(client, "uris", 1200, "ip", 3)
    client.create_collection("nothing", embedding_function=None)
    admin = chromadb.AdminClient(client.get_settings()) if hasattr(chromadb, "AdminClient") else None
    if admin is not None:
        admin.create_tenant("other_tenant")
        admin.create_database("other_database", tenant="other_tenant")
        there = chromadb.PersistentClient(str(folder), tenant="other_tenant", database="other_database")
        fill(there, "elsewhere", 10, "l2", 4)
    return client


def expected(client, name):
    """What Chroma itself gives, as lines of an export."""
    got = client.get_collection(name, embedding_function=None).get(include=["documents", "metadatas", "embeddings", "uris"])
    records = []
    for i, record_id in enumerate(got["ids"]):
        record = {"id": record_id, "embedding": got["embeddings"][i]}
        metadata = {key: value for key, value in (got["metadatas"][i] or {}).items() if key != "chroma:uri"}
        if metadata:
            record["metadata"] = metadata
        for member, column in (("document", "documents"), ("uri", "uris")):
            if got[column][i] is not None:
                record[member] = got[column][i]
        records.append(record)
    return records


def same(ours, theirs, exact):
    assert [record["id"] for record in ours] == [record["id"] for record in theirs], "ids or their order differ"
    for our, their in zip(ours, theirs):
        our, their = dict(our), dict(their)
        left = np.asarray(our.pop("embedding"), dtype=np.float32)
        right = np.asarray(their.pop("embedding"), dtype=np.float32)
        close = np.array_equal(left, right) if exact else np.allclose(left, right, rtol=3e-7, atol=1e-7)
        assert close, f"{our['id']}: {left} is not {right}"
        assert our == their, f"{our} is not {their}"


def state(folder):
    """Bytes and times of every file: what a reader must not change."""
    return {
        str(path.relative_to(folder)): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
        for path in sorted(folder.rglob("*")) if path.is_file()
    } | {"": sorted(str(path) for path in folder.rglob("*"))}


def copy_of(chroma, folder):
    shutil.copytree(chroma, folder)
    return folder


# ---- The checks: each gets the tool, Chroma's client and directory, and an empty folder -------------


def records_are_those_that_chroma_gives(tool, client, chroma, folder):
    before = state(chroma)
    report = json.loads(tool.run("import-chroma", "--json", chroma, folder / "db"))
    assert state(chroma) == before, "the directory was changed"
    counts = {each["name"]: each["records"] for each in report}
    assert counts["big"] == RECORDS - 100 + 1 and counts["nothing"] == 0, counts
    for name in ("small", "big", "uris"):
        same(tool.records(folder / "db", name), expected(client, name), exact=name != "big")
    tool.run("check", "--full", folder / "db")


def settings_come_along(tool, client, chroma, folder):
    tool.run("import-chroma", chroma, folder / "db")
    listed = {each["name"]: each for each in json.loads(tool.run("list", "--json", folder / "db"))}
    assert listed["big"]["metadata"] == {"made": "big", "n": 3}, listed["big"]
    hnsw = listed["big"]["configuration"]["hnsw"]
    assert (hnsw["space"], hnsw["ef_search"]) == ("cosine", 77), hnsw
    assert listed["elsewhere"]["tenant"] == "other_tenant" and listed["elsewhere"]["count"] == 10, listed["elsewhere"]


def a_read_only_directory_is_enough(tool, client, chroma, folder):
    there = copy_of(chroma, folder / "chroma")
    for path in [there, *there.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    before = state(there)
    tool.run("import-chroma", there, folder / "db", "--collection", "big")
    assert state(there) == before


def the_tail_of_the_log_is_applied(tool, client, chroma, folder):
    """A Chroma that died between its log and its tables."""
    there = copy_of(chroma, folder / "chroma")
    database = sqlite3.connect(there / "chroma.sqlite3")
    (collection,), = database.execute("SELECT id FROM collections WHERE name = 'small'").fetchall()
    topic = f"persistent://default/default/{collection}"
    vector = np.full(DIMENSION, 5, dtype=np.float32).tobytes()
    for operation, record, blob, metadata in (
            (0, "tail", vector, '{"chroma:document":"from the log","n":1}'), (0, "small-1", vector, '{"n":99}'),
            (1, "small-2", None, '{"s":null,"n":77}'), (2, "small-3", vector, '{"chroma:document":"upserted"}'),
            (3, "small-4", None, None), (1, "nobody", vector, '{}')):
        database.execute("INSERT INTO embeddings_queue (operation, topic, id, vector, encoding, metadata) VALUES (?, ?, ?, ?, ?, ?)",
                         (operation, topic, record, blob, blob and "FLOAT32", metadata))
    database.commit()
    database.close()
    uri = new_database("tail")
    for home in (folder / "db", uri):
        report = json.loads(tool.run("import-chroma", "--json", there, home, "--collection", "small"))
        assert report[0]["log_entries"] == 6, report
    check_tail({record["id"]: record for record in tool.records(folder / "db", "small")})
    check_tail({record["id"]: record for record in tool.records_of_database(uri, "small", folder)})


def check_tail(ours):
    assert ours["tail"]["document"] == "from the log" and ours["tail"]["embedding"] == [5] * DIMENSION
    assert ours["small-1"]["metadata"]["n"] == 1, "an add leaves what is there"
    assert ours["small-2"]["metadata"]["n"] == 77 and "s" not in ours["small-2"]["metadata"]
    assert ours["small-3"]["document"] == "upserted" and ours["small-3"]["embedding"] == [5] * DIMENSION
    assert "small-4" not in ours and "nobody" not in ours and len(ours) == 20


def a_journal_that_is_left_is_recovered_elsewhere(tool, client, chroma, folder):
    """A writer dies in a transaction that has reached the file: SQLite's journal must be played back, but not here."""
    there = copy_of(chroma, folder / "chroma")
    code = (f"import sqlite3, os; c = sqlite3.connect({str(there / 'chroma.sqlite3')!r}); c.execute('PRAGMA cache_size=2'); "
            "c.execute('PRAGMA cache_spill=ON'); c.execute('BEGIN'); c.execute('DELETE FROM embedding_metadata'); "
            "c.execute('DELETE FROM embeddings'); os._exit(0)")
    subprocess.run([sys.executable, "-c", code], check=True)
    assert (there / "chroma.sqlite3-journal").stat().st_size > 0
    before = state(there)
    tool.run("import-chroma", there, folder / "db", "--collection", "big")
    assert state(there) == before, "the directory was changed"
    same(tool.records(folder / "db", "big"), expected(client, "big"), exact=False)


class Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.system, (f"touch {self.path}",)


def a_pickle_that_runs_something_is_refused(tool, client, chroma, folder):
    there = copy_of(chroma, folder / "chroma")
    for path in there.rglob("index_metadata.pickle"):
        path.write_bytes(pickle.dumps({"id_to_label": Evil(folder / "ran")}, protocol=4))
    said = tool.run("import-chroma", there, folder / "db", status=15)
    assert "which is refused" in said, said
    assert not (folder / "ran").exists()


def a_pickle_of_an_old_version_is_read(tool, client, chroma, folder):
    there = copy_of(chroma, folder / "chroma")
    module = "chromadb.segment.impl.vector.local_persistent_hnsw"
    namespace = {"__module__": module}
    old_class = type("PersistentData", (), namespace)
    holder = type(sys)(module)
    holder.PersistentData = old_class
    kept = sys.modules.get(module)
    sys.modules[module] = holder
    try:
        for protocol, path in zip((2, 4, 5), sorted(there.rglob("index_metadata.pickle")) * 2):
            # What Chroma's own client wrote is trusted here.
            instance = old_class()
            instance.__dict__.update(pickle.loads(path.read_bytes()) if protocol < 5 else {})
            if instance.__dict__:
                path.write_bytes(pickle.dumps(instance, protocol=protocol))
    finally:
        sys.modules.pop(module)
        if kept is not None:
            sys.modules[module] = kept
    tool.run("import-chroma", there, folder / "db")
    same(tool.records(folder / "db", "big"), expected(client, "big"), exact=False)


def damage_is_named(tool, client, chroma, folder):
    """Every file of a segment, shortened: an error that names it, or records that are said to lack a vector."""
    names = ("header.bin", "data_level0.bin", "length.bin", "index_metadata.pickle")
    for number, name in enumerate(names):
        there = copy_of(chroma, folder / f"chroma{number}")
        for path in there.rglob(name):
            path.write_bytes(path.read_bytes()[:50])
        said = tool.run("import-chroma", there, folder / f"db{number}", "--collection", "big", status=15)
        assert name in said or "ends early" in said, said
    there = copy_of(chroma, folder / "lost")
    for path in list(there.rglob("header.bin")):
        shutil.rmtree(path.parent)
    said = tool.run("import-chroma", there, folder / "db", "--collection", "big", status=1)
    assert "has lost the vector of record" in said, said[:500]
    there = copy_of(chroma, folder / "letters")
    with sqlite3.connect(there / "chroma.sqlite3") as opened:
        opened.execute("UPDATE collections SET name = CAST(x'626967C1' AS TEXT) WHERE name = 'big'")
    opened.close()
    said = tool.run("import-chroma", there, folder / "db-letters", status=15)
    assert 'a value of "name" is no UTF-8' in said, said
    database = there / "chroma.sqlite3"
    database.write_bytes(database.read_bytes()[:100])
    tool.run("import-chroma", there, folder / "db-short", status=15)


def random_damage_never_crashes(tool, client, chroma, folder):
    seed = int.from_bytes(os.urandom(4), "little")
    random = np.random.default_rng(seed)
    there = copy_of(chroma, folder / "chroma")
    targets = [path for path in there.rglob("*") if path.is_file() and path.name != "link_lists.bin"]
    for attempt in range(40):
        path = targets[random.integers(len(targets))]
        whole = path.read_bytes()
        broken = bytearray(whole)
        for _ in range(random.integers(1, 20)):
            broken[random.integers(len(broken))] = random.integers(256)
        path.write_bytes(broken)
        done = subprocess.run([tool.program, "import-chroma", there, folder / f"db{attempt}"], capture_output=True, text=True)
        assert 0 <= done.returncode <= 18, f"seed {seed}: {path.name}: {done.returncode}\n{done.stderr}"
        path.write_bytes(whole)


def it_goes_on_where_it_was_killed(tool, client, chroma, folder):
    """Killed at growing delays, and once at its end; the last run gives everything."""
    kills = 0
    for delay in (0.02, 0.05, 0.1, 0.2):
        child = subprocess.Popen([tool.program, "import-chroma", chroma, folder / "db"], stdout=subprocess.DEVNULL)
        time.sleep(delay)
        child.send_signal(signal.SIGKILL)
        kills += child.wait() == -signal.SIGKILL
        if not list(folder.glob("db.import-chroma-*")) and kills < 1 and (folder / "db").exists():
            break
    done = subprocess.run([tool.program, "import-chroma", chroma, folder / "db"], capture_output=True, text=True)
    assert kills > 0, "nothing was killed"
    # The last kill may have come behind the end: then everything is there, and says so.
    assert done.returncode in (0, 6), done.stderr
    for name in ("small", "big", "uris"):
        same(tool.records(folder / "db", name), expected(client, name), exact=name != "big")


def a_database_takes_it_all(tool, client, chroma, folder):
    uri = new_database("everything", may_make_tenants=True)
    before = state(chroma)
    report = json.loads(tool.run("import-chroma", "--json", chroma, uri))
    assert state(chroma) == before, "the directory was changed"
    counts = {each["name"]: each["records"] for each in report}
    assert counts["big"] == RECORDS - 100 + 1 and counts["nothing"] == 0 and counts["elsewhere"] == 10, counts
    for name in ("small", "big", "uris"):
        same(tool.records_of_database(uri, name, folder), expected(client, name), exact=name != "big")
    listed = {each["name"]: each for each in json.loads(tool.run("list", "--json", folder / "copied"))}
    assert listed["big"]["metadata"] == {"made": "big", "n": 3}, listed["big"]
    hnsw = listed["big"]["configuration"]["hnsw"]
    assert (hnsw["space"], hnsw["ef_search"]) == ("cosine", 77), hnsw
    said = tool.run("import-chroma", chroma, uri, "--collection", "small", status=6)
    assert "already exists" in said, said
    said = tool.run("import-chroma", chroma, new_database("narrow"), status=7)
    assert "permission denied" in said, said


def into_a_database_it_goes_on_where_it_was_killed(tool, client, chroma, folder):
    uri = new_database("killed", may_make_tenants=True)
    kills = 0
    for delay in (0.05, 0.1, 0.2, 0.3):
        child = subprocess.Popen([tool.program, "import-chroma", chroma, uri], stdout=subprocess.DEVNULL, env=tool.environment)
        time.sleep(delay)
        child.send_signal(signal.SIGKILL)
        kills += child.wait() == -signal.SIGKILL
    done = subprocess.run([tool.program, "import-chroma", chroma, uri], capture_output=True, text=True, env=tool.environment)
    assert kills > 0, "nothing was killed"
    assert done.returncode in (0, 6), done.stderr  # as above
    for name in ("small", "big", "uris"):
        same(tool.records_of_database(uri, name, folder), expected(client, name), exact=name != "big")


def functions_that_a_database_lacks_are_left_out_when_asked(tool, client, chroma, folder):
    uri = new_database("functions")
    there = folder / "chroma"
    named = chromadb.PersistentClient(str(there)).create_collection("named", embedding_function=DefaultEmbeddingFunction())
    named.add(ids=["a"], embeddings=[[1.0, 2.0]], documents=["one"])
    said = tool.run("import-chroma", there, uri, status=9)
    assert 'embedding function "default"' in said and "--no-function" in said, said
    tool.run("import-chroma", "--no-function", there, uri)
    ours = tool.records_of_database(uri, "named", folder)
    assert ours == [{"id": "a", "document": "one", "embedding": [1.0, 2.0]}], ours


def what_is_there_is_not_written_to(tool, client, chroma, folder):
    tool.run("create", folder / "db", "small")
    tool.run("import-chroma", chroma, folder / "db", "--collection", "small", status=6)
    tool.run("import-chroma", chroma, folder / "db", "--collection", "nobody", status=5)
    tool.run("import-chroma", folder, folder / "db", status=5)
    tool.run("import-chroma", "--dry-run", chroma, folder / "dry")
    assert not (folder / "dry").exists()
    said = tool.run("list", chroma, status=9)
    assert "import" in said, said


CHECKS = [
    records_are_those_that_chroma_gives, settings_come_along, a_read_only_directory_is_enough, the_tail_of_the_log_is_applied,
    a_journal_that_is_left_is_recovered_elsewhere, a_pickle_that_runs_something_is_refused, a_pickle_of_an_old_version_is_read,
    damage_is_named, random_damage_never_crashes, it_goes_on_where_it_was_killed, a_database_takes_it_all,
    into_a_database_it_goes_on_where_it_was_killed, functions_that_a_database_lacks_are_left_out_when_asked,
    what_is_there_is_not_written_to,
]


def main():
    with tempfile.TemporaryDirectory(prefix="pigment-import.") as name:
        tool = Tool(sys.argv[1], pathlib.Path(name))
        made = pathlib.Path(name) / "made"
        client = make(made)

        def call(check):
            folder = pathlib.Path(name) / check.__name__
            folder.mkdir()
            try:
                check(tool, client, made, folder)
            finally:
                subprocess.run(["chmod", "-R", "u+w", str(folder)])
                shutil.rmtree(folder, ignore_errors=True)

        return tap.run(CHECKS, call)


if __name__ == "__main__":
    sys.exit(main())

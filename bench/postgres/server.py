# SPDX-License-Identifier: Apache-2.0
"""The temporary server of scripts/with-postgres, with pgvector and Pigment in one database: its settings, and its restarts."""

import os
import pathlib
import subprocess
import tempfile
import time

import psycopg

# Durable commits, no work in the background that a figure would meet by chance, no parallel plans: one core is measured.
SETTINGS = {
    "shared_buffers": "2GB",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "max_wal_size": "16GB",
    "checkpoint_timeout": "1h",
    "autovacuum": "off",
    "maintenance_work_mem": "1GB",
    "max_parallel_maintenance_workers": "0",
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
}
SCHEMAS = {"vector": "theirs", "pigment": "ours"}


class Server:
    def __init__(self):
        self.bindir = pathlib.Path(os.environ["PATH"].split(":")[0])
        with self.connect() as connection:
            self.folder = pathlib.Path(connection.execute("SHOW data_directory").fetchone()[0])
        address = {"listen_addresses": "", "port": os.environ["PGPORT"], "unix_socket_directories": os.environ["PGHOST"]}
        self.restart(address | SETTINGS)
        with self.connect() as connection:
            for extension, schema in SCHEMAS.items():
                connection.execute(f"CREATE SCHEMA {schema}")
                connection.execute(f"CREATE EXTENSION {extension} SCHEMA {schema}")

    def connect(self):
        return psycopg.connect(autocommit=True)

    def restart(self, settings, between=None):
        """With other settings; `between` is given the folder while the server is down. Gives the seconds of the start."""
        with self.connect() as connection:
            for name, value in settings.items():
                connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        self.control("stop", "-m", "fast")
        if between is not None:
            between(self.folder)
        begin = time.perf_counter()
        self.control("start", "-l", self.folder.parent / "server.log")
        return time.perf_counter() - begin

    def control(self, *what):
        # The server refuses to run as root: with-postgres made the cluster as this user.
        user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        done = subprocess.run([*user, self.bindir / "pg_ctl", "-w", "-D", self.folder, *what], cwd=self.folder.parent,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        if done.returncode != 0:
            raise SystemExit(f"bench: pg_ctl {what[0]} failed with {done.returncode}")

    def syncs_a_second(self, seconds=1):
        """How often the disk of the server's files takes 8 kB durably, in a file that has its size, as WAL has: there are no more
        transactions of their own than that."""
        with tempfile.TemporaryFile(dir=self.folder.parent) as file:
            os.write(file.fileno(), bytes(16 << 20))
            os.fsync(file.fileno())
            begin, count = time.perf_counter(), 0
            while time.perf_counter() - begin < seconds:
                os.pwrite(file.fileno(), bytes(8192), count * 8192 % (16 << 20))
                os.fdatasync(file.fileno())
                count += 1
            return count / (time.perf_counter() - begin)

    def describe(self):
        with self.connect() as connection:
            version = connection.execute("SHOW server_version").fetchone()[0]
            extensions = dict(connection.execute("SELECT extname, extversion FROM pg_extension").fetchall())
            build = connection.execute("SELECT pigment.build_info()").fetchone()[0]
        settings = ", ".join(f"{name} {value}" for name, value in SETTINGS.items())
        return f"PostgreSQL {version}, pgvector {extensions['vector']}\npigment: {build}\nserver: {settings}"

    def pigment_settings(self):
        """Names of the extension's settings with their least and largest values."""
        with self.connect() as connection:
            connection.execute("LOAD 'pigment'")
            return {row[0]: row[1:] for row in connection.execute(
                "SELECT name, min_val::float8, max_val::float8 FROM pg_settings WHERE name LIKE 'pigment.%' ORDER BY name")}


class WalMeter:
    """Bytes of WAL that the block wrote, by everybody."""

    def __init__(self, connection):
        self.connection, self.bytes = connection, None

    def __enter__(self):
        self.begin = self.place()
        return self

    def __exit__(self, *_):
        self.bytes = int(self.connection.execute(
            "SELECT pg_current_wal_insert_lsn() - %s::pg_lsn", (self.begin,)).fetchone()[0])

    def place(self):
        return self.connection.execute("SELECT pg_current_wal_insert_lsn()").fetchone()[0]

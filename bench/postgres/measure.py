# SPDX-License-Identifier: Apache-2.0
"""What all parts share: tables and indexes in the server, one measurement of one setting, sweeps in rounds."""

import re
import time

import client
import contestants
import report
import server as servers
import world as worlds

WARM_QUERIES = 10  # more than it takes the server to decide on a plan
SERVER_SECONDS = 1  # of a pass inside the server
NO_LIMIT = 1e9  # seconds
# Of parameters, by the column that a filter asks.
TYPES = {"": ("vector",), "bucket": ("vector", "integer", "integer"), "source": ("vector", "text")}


class Bench:
    def __init__(self, options, server, data, judge):
        self.options, self.server, self.data, self.judge = options, server, data, judge
        self.statements = contestants.Statements(data, options.k)
        self.queries = client.write_parameters(self.statements.asked())
        self.report = report.Report()
        self.points = {}  # of each contestant's key
        self.index_bytes = {}

    # ---- Tables

    def connect(self, contestant, setting=None):
        connection = self.server.connect()
        for sql in contestant.sets(setting):
            connection.execute(sql)
        return connection

    def load(self, contestant):
        columns = contestants.COLUMNS.format(dimension=self.data.base.shape[1])
        with self.connect(contestant) as connection:
            connection.execute(f"CREATE TABLE {contestant.table} ({columns})")
            with connection.cursor() as cursor, cursor.copy(f"COPY {contestant.table} FROM STDIN (FORMAT binary)") as copy:
                for piece in worlds.binary_rows(worlds.World(self.data)):
                    copy.write(piece)
            connection.execute(f"VACUUM (FREEZE, ANALYZE) {contestant.table}")

    def reload(self, contestant):
        """As load(), of a table that may be there."""
        with self.connect(contestant) as connection:
            connection.execute(f"DROP TABLE IF EXISTS {contestant.table}")
        self.load(contestant)

    def build(self, contestant):
        """Seconds, bytes of the index and of the WAL that the build wrote; the index of an earlier build goes first."""
        with self.connect(contestant) as connection:
            connection.execute(f"DROP INDEX IF EXISTS {contestant.index}")
            connection.execute("CHECKPOINT")
            with servers.WalMeter(connection) as wal:
                begin = time.perf_counter()
                connection.execute(self.statements.create_index(contestant))
                seconds = time.perf_counter() - begin
            size = connection.execute("SELECT pg_relation_size(%s::regclass)", (contestant.index,)).fetchone()[0]
        self.index_bytes[contestant.key] = size
        return seconds, size, wal.bytes

    def rebuild(self, contestant, memory):
        """Seconds that the index takes anew within so much maintenance_work_mem."""
        with self.connect(contestant) as connection:
            connection.execute(f"SET maintenance_work_mem = '{memory}'")
            begin = time.perf_counter()
            connection.execute(f"REINDEX INDEX {contestant.index}")
            return time.perf_counter() - begin

    def renew(self, contestant):
        """Table and index as if they had just been filled with what is in them."""
        with self.connect(contestant) as connection:
            connection.execute(f"VACUUM (FULL, FREEZE, ANALYZE) {contestant.table}")
            connection.execute("CHECKPOINT")

    # ---- One measurement

    def client(self, contestant, statement, parameters, setting=None, **options):
        return client.Run(self.options.client, statement, parameters, contestant.sets(setting),
                          **{"cpu": self.options.cpus[0], "seconds": self.options.seconds,
                             "seconds_max": self.options.seconds_max} | options)

    def ask(self, contestant, setting, statement=None, parameters=None, warm=WARM_QUERIES, **options):
        """Figures of queries, and how many of them scanned the contestant's index."""
        before = self.scans(contestant)
        figures = self.client(contestant, statement or self.statements.query(contestant), parameters or self.queries, setting,
                              k=self.options.k, warm=warm, **options).go().figures()
        self.wait_for_end(figures.backend)
        figures.scans = max(0, self.scans(contestant) - before - warm)
        return figures

    def scans(self, contestant):
        with self.server.connect() as connection:
            row = connection.execute("SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = %s",
                                     (contestant.index,)).fetchone()
        return row[0] if row else 0

    def wait_for_end(self, backend):
        """A backend tells what it counted when it ends."""
        with self.server.connect() as connection:
            while connection.execute("SELECT FROM pg_stat_activity WHERE pid = %s", (backend,)).fetchone():
                time.sleep(0.005)

    # ---- Sweeps

    def sweep(self, asked, judge, rounds, name=None):
        """`asked` has (contestant, setting, statement, parameters); rounds go through all, and the best of each counts."""
        points = [None] * len(asked)
        for _ in range(rounds):
            for place, (contestant, setting, statement, parameters) in enumerate(asked):
                figures = self.ask(contestant, setting, statement, parameters)
                if points[place] is None or figures.rate > points[place]["rate"]:
                    judged = judge.judge(figures.answers) if name is None else judge.judge(figures.answers, name)
                    points[place] = {"key": contestant.key, "setting": setting, "rate": figures.rate, "median": figures.median,
                                     "p99": figures.p99, "executions": figures.executions, "scans": figures.scans, **judged}
        return points

    def choice(self, contestant, floor=0.99):
        """The fastest setting at the floor."""
        if contestant.key not in self.points:
            asked = [(contestant, setting, None, None) for setting in contestant.sweep]
            self.points[contestant.key] = self.sweep(asked, self.judge, 1)
        return report.nearest_to(self.points[contestant.key], floor)["setting"]

    # ---- Inside the server

    def server_us(self, asked, rates, name=None):
        """Microseconds a query of each of `asked` in a loop of PL/pgSQL, which has neither protocol nor client."""
        values = self.statements.asked(name)
        for contestant in {one.schema: one for one, *_ in asked}.values():
            self.fill_questions(contestant, values, name)
        return [self.server_pass(contestant, setting, statement, max(1, min(len(values), int(rate * SERVER_SECONDS))))
                for (contestant, setting, statement, _), rate in zip(asked, rates)]

    def fill_questions(self, contestant, values, name):
        """A table with the parameters of each query, in the columns p1 to p3."""
        types = TYPES["" if name is None else self.data.predicates[name][0].column]
        columns = ", ".join(f"p{number} {one}" for number, one in enumerate(types, 1))
        with self.connect(contestant) as connection:
            connection.execute(f"DROP TABLE IF EXISTS {contestant.schema}.questions")
            connection.execute(f"CREATE TABLE {contestant.schema}.questions (place integer, {columns})")
        rows = client.write_parameters((client.integer(place), *some) for place, some in enumerate(values))
        places = ", ".join(f"${number}::{one}" for number, one in enumerate(("integer", *types), 1))
        self.client(contestant, f"INSERT INTO {contestant.schema}.questions VALUES ({places})", rows, mode="transaction",
                    seconds_max=NO_LIMIT).go().figures()

    def server_pass(self, contestant, setting, statement, count):
        query = (statement or self.statements.query(contestant)).replace("SELECT id", "PERFORM id")
        query = re.sub(r"\$(\d)::\w+", r"asked.p\1", query)
        with self.connect(contestant, setting) as connection:
            connection.execute(f"""
                CREATE FUNCTION pg_temp.pass() RETURNS double precision LANGUAGE plpgsql AS $pass$
                DECLARE
                    asked record;
                    begun timestamptz := clock_timestamp();
                BEGIN
                    FOR asked IN SELECT * FROM {contestant.schema}.questions ORDER BY place LIMIT {count} LOOP
                        {query};
                    END LOOP;
                    RETURN extract(epoch FROM clock_timestamp() - begun) * 1e6 / {count};
                END $pass$""")
            return min(connection.execute("SELECT pg_temp.pass()").fetchone()[0] for _ in range(2))

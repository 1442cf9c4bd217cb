# SPDX-License-Identifier: Apache-2.0
"""Parts `inserts`, `updates` and `vacuum`: what a table goes through, and what that does to the rates. They come last; our table
and index are made anew between them, those of peers are left as they are."""

import time

import builds
import client
import contestants
import measure
import numpy
import server as servers
import sets
import states

INSERTS_WANTED, TRANSACTION_INSERTS_WANTED = 2300, 15000
ROW_WAL_WANTED = 2500  # with the table's part
SINGLE_INSERTS, INSERT_ROUNDS, INSERTS = 500, 5, 10000
INSERT_SECONDS_MAX = 10
VACUUM_SECONDS_WANTED = 0.5


class Inserts:
    """Rows that go into a contestant's table one by one, in pieces; each piece is timed alone, and the best one counts."""

    def __init__(self, bench, contestant, world):
        self.bench, self.contestant, self.world = bench, contestant, world
        ids = world.add(bench.data.inserts)
        single, unwaited, self.together = numpy.split(ids, (SINGLE_INSERTS, 2 * SINGLE_INSERTS))
        self.single, self.unwaited = (numpy.array_split(some, INSERT_ROUNDS) for some in (single, unwaited))
        self.rates, self.wal = {}, {}

    def insert(self, what, ids, mode, setting=None):
        rows = client.write_parameters(self.world.rows(ids))
        with self.bench.server.connect() as connection, servers.WalMeter(connection) as wal:
            figures = self.bench.client(self.contestant, self.bench.statements.insert(self.contestant), rows, setting, mode=mode,
                                        seconds_max=INSERT_SECONDS_MAX).go().figures()
        self.world.alive[ids[:figures.executions]] = True
        self.rates[what] = max(self.rates.get(what, 0), figures.rate)
        self.wal.setdefault(what, []).append(wal.bytes / figures.executions)

    def row_wal(self, what):
        return sum(self.wal[what]) / len(self.wal[what])


def inserts(bench, new_world):
    """Into the indexed table, beside a table without such an index; then queries with what was inserted."""
    bench.report.say(f"\ninserts of one row into the indexed table, after a checkpoint: {SINGLE_INSERTS:,} in transactions of "
                     f"their own, as many without waiting for the disk (synchronous_commit off), both in {INSERT_ROUNDS} rounds, "
                     f"{INSERTS - 2 * SINGLE_INSERTS:,} in one transaction")
    bench.reload(contestants.PLAIN)
    fresh = [(state, state.show("fresh", bench.judge)) for state in states.of(bench, ("pigment",))]
    chosen = [one for one in bench.options.contestants if one.key in ("pigment", "pgvector")]
    found = {one.key: Inserts(bench, one, new_world(one.key)) for one in (*chosen, contestants.PLAIN)}
    with bench.server.connect() as connection:
        connection.execute("CHECKPOINT")
    syncs = 0
    for number in range(INSERT_ROUNDS):
        syncs = max(syncs, bench.server.syncs_a_second())
        for one in found.values():
            one.insert("single", one.single[number], "once")
            one.insert("unwaited", one.unwaited[number], "once", {"synchronous_commit": "off"})
    bench.report.line("the disk alone, 8 kB durably", f"{syncs:8,.0f}/s")
    for one in found.values():
        one.insert("together", one.together, "transaction")
    for one in found.values():
        show_inserts(bench, one, found.get("pgvector"), found["plain"])
    for state, rate in fresh:
        state.show(f"{pending_rows(bench, state.contestant):,} rows pending", found["pigment"].world.judge(bench.options.k), rate)
        bench.renew(state.contestant)


def show_inserts(bench, one, reference, plain):
    note, times = "", ""
    single, together, together_wal = one.rates["single"], one.rates["together"], one.row_wal("together")
    if one.contestant.key == "pigment":
        times += f", {(together_wal - plain.row_wal('together')) / 1000:.2f} kB of it for the index"
        if reference:
            times += f", {single / reference.rates['single']:.1f} and {together / reference.rates['together']:.1f} times pgvector"
        note += bench.report.wanted(single >= INSERTS_WANTED, f"{INSERTS_WANTED:,}/s or more")
        note += bench.report.wanted(together >= TRANSACTION_INSERTS_WANTED, f"{TRANSACTION_INSERTS_WANTED:,}/s or more in one")
        note += bench.report.wanted(together_wal <= ROW_WAL_WANTED, f"{ROW_WAL_WANTED / 1000} kB of WAL a row or less")
    bench.report.line(one.contestant.name,
                      f"{single:8,.0f}/s ({one.row_wal('single') / 1000:.2f} kB of WAL a row), without waiting "
                      f"{one.rates['unwaited']:7,.0f}/s, in one transaction {together:7,.0f}/s "
                      f"({together_wal / 1000:.2f} kB{times})", note)


def pending_rows(bench, contestant):
    with bench.connect(contestant) as connection:
        return connection.execute("SELECT coalesce(sum(live_rows), 0)::int8 FROM pigment.segments WHERE index = %s::regclass "
                                  "AND kind = 'pending'", (contestant.index,)).fetchone()[0]


def updates(bench, new_world):
    """New vectors for a tenth of the rows, and the rates that they leave; then new buckets, beside a table without such an index."""
    world = new_world("pigment")
    bench.reload(contestants.PLAIN)
    for state in states.of(bench, ("pigment",)):
        bench.report.say("\n10 % of the rows updated, in one transaction")
        fresh = state.show("fresh", world.judge(bench.options.k))
        random = numpy.random.default_rng(bench.options.seed)
        ids = random.choice(numpy.flatnonzero(world.alive), len(bench.data.base) // 10, replace=False)
        world.vectors[ids] = sets.nearby(world.vectors[ids], len(ids), random)
        rows = client.write_parameters((client.integer(row), client.vector(world.vectors[row])) for row in ids)
        figures = bench.client(state.contestant, bench.statements.update(state.contestant), rows, mode="transaction",
                               seconds_max=measure.NO_LIMIT).go().figures()
        bench.report.line("updates", f"{figures.rate:8,.0f}/s")
        state.show("10 % updated", world.judge(bench.options.k), fresh)
        bench.renew(state.contestant)
        show_bucket_updates(bench, state.contestant, world, random)


def show_bucket_updates(bench, contestant, world, random):
    """Of rows whose vectors stay."""
    ids = random.choice(len(bench.data.base), len(bench.data.base) // 10, replace=False)
    world.bucket[ids] = (world.bucket[ids] + 1) % sets.BUCKETS
    rows = client.write_parameters((client.integer(row), client.integer(int(world.bucket[row]))) for row in ids)
    row_wal = {}
    for one in (contestant, contestants.PLAIN):
        with bench.server.connect() as connection:
            connection.execute("CHECKPOINT")
            with servers.WalMeter(connection) as wal:
                figures = bench.client(one, bench.statements.update_bucket(one), rows, mode="transaction",
                                       seconds_max=measure.NO_LIMIT).go().figures()
        row_wal[one.key] = wal.bytes / len(ids)
        bench.report.line(f"updates of another column, {one.name}",
                          f"{figures.rate:8,.0f}/s ({row_wal[one.key] / 1000:.2f} kB of WAL a row)")
    bench.report.line("of it for the index", f"{(row_wal[contestant.key] - row_wal['plain']) / 1000:8.2f} kB a row")
    bench.renew(contestant)


def vacuum(bench, new_world):
    """Every tenth row deleted; VACUUM with its defaults."""
    bench.report.say("\nVACUUM after deleting 10 %")
    limit = VACUUM_SECONDS_WANTED * builds.share(bench)
    for contestant in bench.options.contestants:
        if not contestant.access:
            continue
        world = new_world(contestant.key)
        gone = numpy.flatnonzero(world.alive)[3::10]
        with bench.connect(contestant) as connection:
            connection.execute(f"DELETE FROM {contestant.table} WHERE id = ANY (%s)", (gone.tolist(),))
            with servers.WalMeter(connection) as wal:
                begin = time.perf_counter()
                connection.execute(f"VACUUM {contestant.table}")
                seconds = time.perf_counter() - begin
        world.alive[gone] = False
        note = bench.report.wanted(seconds <= limit, f"{limit:.2f} s or less") if contestant.key in contestants.OURS else ""
        bench.report.line(contestant.name, f"{seconds:8.2f} s, WAL {wal.bytes / 1e6:,.1f} MB", note)
        states.State(bench, contestant).show("10 % deleted", world.judge(bench.options.k))

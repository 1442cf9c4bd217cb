# SPDX-License-Identifier: Apache-2.0
"""Queries in a state of the table or of the server, and the parts that change the server alone: `clients`, `cold`, `buffers`,
`memory`."""

import contestants
import machine
import measure
import server as servers

STATE_WANTED, CLIENTS_WANTED, P99_WANTED = 0.7, 1.8, 4  # of fresh, times one client, times the median
STATE_SECONDS, STATE_WARM_QUERIES = 3, 200
COLD_QUERIES = 100
LITTLE_MEMORY = "64MB"  # what PostgreSQL gives maintenance by default


class State:
    """Queries of a contestant at the setting that was fastest at a recall of 0.99, or came nearest."""

    def __init__(self, bench, contestant):
        self.bench, self.contestant = bench, contestant
        self.setting = bench.choice(contestant)

    def ask(self):
        """The best of the rounds."""
        rounds = [self.bench.ask(self.contestant, self.setting, seconds=STATE_SECONDS, warm=STATE_WARM_QUERIES)
                  for _ in range(self.bench.options.rounds)]
        return max(rounds, key=lambda figures: figures.rate)

    def show(self, what, judge, fresh=None):
        """One line; with the rate of another state the ratio to it. The rate."""
        figures, report = self.ask(), self.bench.report
        recall = judge.judge(figures.answers)["recall"]
        ratio = "" if fresh is None else f"  {figures.rate / fresh:.2f} of fresh"
        note = ""
        if self.contestant.key in contestants.OURS:
            if fresh is not None:
                note += report.wanted(figures.rate >= STATE_WANTED * fresh, f"{STATE_WANTED} of fresh or more")
            note += report.wanted(figures.p99 <= P99_WANTED * figures.median, f"p99 within {P99_WANTED} times the median")
        report.line(f"{self.contestant.name}, {what}",
                    f"{figures.rate:8,.0f}/s  recall {recall:.4f}  median {figures.median:7,.0f} us  p99 {figures.p99:7,.0f} us "
                    f"({figures.p99 / figures.median:.1f} times){ratio}", note)
        return figures.rate


def of(bench, keys=("pigment", "pgvector")):
    return [State(bench, contestant) for contestant in bench.options.contestants if contestant.key in keys]


def setting_of(state):
    return contestants.setting_text(state.setting)


def clients(bench):
    bench.report.say(f"\ntwo clients with a core each, {STATE_SECONDS} s")
    for state in of(bench):
        alone = state.show(f"one client ({setting_of(state)})", bench.judge)
        cpus = bench.options.cpus[:2]
        if len(cpus) < 2:
            bench.report.line(f"{state.contestant.name}, two clients", "there is one core")
            continue
        statement = bench.statements.query(state.contestant)
        rate = 0
        for _ in range(bench.options.rounds):
            both = [bench.client(state.contestant, statement, bench.queries, state.setting, cpu=cpu, k=bench.options.k,
                                 warm=measure.WARM_QUERIES, seconds=STATE_SECONDS) for cpu in cpus]
            for one in both:
                one.go()
            rate = max(rate, sum(one.figures().rate for one in both))
        note = ""
        if state.contestant.key == "pigment":
            note = bench.report.wanted(rate >= CLIENTS_WANTED * alone, f"{CLIENTS_WANTED} times one client or more")
        bench.report.line(f"{state.contestant.name}, two clients", f"{rate:8,.0f}/s  {rate / alone:.2f} times one client", note)


def cold(bench):
    bench.report.say(f"\nafter a restart: milliseconds of the first query, of the second, mean of {COLD_QUERIES}")
    for state in of(bench):
        for what, between in (("files in the system's memory", machine.read_files), ("nothing in memory", machine.forget_files)):
            started = bench.server.restart({}, between)
            figures = bench.client(state.contestant, bench.statements.query(state.contestant), bench.queries, state.setting,
                                   mode="once", seconds_max=STATE_SECONDS).go().figures()
            times = figures.times[:COLD_QUERIES] / 1000
            bench.report.line(f"{state.contestant.name}, {what}", f"{times[0]:8.1f} {times[1]:8.2f} {times.mean():8.2f} "
                              f"({len(times)} asked; server ready after {started:.1f} s)")


def buffers(bench):
    """The index is twice what the server has in buffers; the system's memory has all of it."""
    bench.report.say("\nindex twice as large as shared_buffers")
    for state in of(bench):
        warm = state.ask().rate
        blocks = max(16, bench.index_bytes[state.contestant.key] // 8192 // 2)
        bench.server.restart({"shared_buffers": blocks})
        figures = state.ask()
        bench.report.line(f"{state.contestant.name}, shared_buffers {blocks * 8192 / 1e6:.0f} MB",
                          f"{figures.rate:8,.0f}/s  recall {bench.judge.judge(figures.answers)['recall']:.4f}  "
                          f"p99 {figures.p99:7,.0f} us  {figures.rate / warm:.2f} of the rate with 2 GB")
        bench.server.restart(servers.SETTINGS)


def memory(bench):
    """An index that was built with little memory, beside the one that had plenty, which comes back."""
    plenty = servers.SETTINGS["maintenance_work_mem"]
    bench.report.say(f"\nbuilt within maintenance_work_mem = {LITTLE_MEMORY}")
    seconds = {}
    for state in of(bench):
        contestant = state.contestant
        with_plenty = bench.rebuild(contestant, plenty)
        fresh = state.show(f"built within {plenty} ({setting_of(state)})", bench.judge)
        seconds[contestant.key] = bench.rebuild(contestant, LITTLE_MEMORY)
        state.show(f"built within {LITTLE_MEMORY}", bench.judge, fresh)
        bench.report.line(contestant.name, f"{seconds[contestant.key]:8,.1f} s, {seconds[contestant.key] / with_plenty:.2f} "
                          f"times as long as within {plenty}")
        bench.rebuild(contestant, plenty)
    if len(seconds) > 1:
        bench.report.line("pigment", f"{seconds['pgvector'] / seconds['pigment']:.2f} times as fast as pgvector within {LITTLE_MEMORY}")

# SPDX-License-Identifier: Apache-2.0
"""Parts `rates` and `filters`: queries a second over recall, plain and with a new predicate for every query."""

import client
import contestants
import report
from report import number

FLOORS = {0.95: 8, 0.99: 10}  # times pgvector's rate that is wanted of ours
FINALISTS = 3  # settings of each contestant that may be the fastest at a floor
ROUNDS_AGAIN = 3
FILTER_FLOOR = 0.99
FILTER_RATE_WANTED = 3000
FILTER_TIMES_WANTED = 10
FILTERS = ("50 %", "10 %", "1 %", "0.1 %", "own source", "other source")
REFERENCE = "pgvector"


def floors(bench):
    """What one connection does at most on this core."""
    first = bench.options.contestants[0]
    keys = client.write_parameters((client.integer(row * 7919 % len(bench.data.base)),) for row in range(5000))
    one = bench.client(first, "SELECT 1", None, seconds=2, warm=1000).go().figures()
    by_key = f"SELECT id FROM {first.table} WHERE id = $1::int4"
    by_key = bench.client(first, by_key, keys, seconds=2, warm=5000).go().figures()
    bench.report.say(f"\nprepared: SELECT 1 {one.rate:,.0f}/s (median {one.median:.1f} us), SELECT by primary key "
                     f"{by_key.rate:,.0f}/s (median {by_key.median:.1f} us)")


def rates(bench):
    floors(bench)
    asked = [(contestant, setting, None, None) for contestant in bench.options.contestants for setting in contestant.sweep]
    points = bench.sweep(asked, bench.judge, bench.options.rounds)
    ask_again(bench, asked, points)
    for point, inside in zip(points, bench.server_us(asked, [point["rate"] for point in points])):
        point["server_us"] = inside
    bench.report.say(f"\n  {'queries':<20} {'setting':<28} {'recall@' + str(bench.options.k):>9} {'queries/s':>10} "
                     f"{'median us':>10} {'p99 us':>10} {'in server us':>12}")
    for contestant in bench.options.contestants:
        bench.points[contestant.key] = [point for point in points if point["key"] == contestant.key]
        report.show_points(bench.report, contestant.key, contestant.name, bench.points[contestant.key])
    for floor, times in FLOORS.items():
        show_floor(bench, floor, times)


def ask_again(bench, asked, points):
    """What is compared is asked some rounds more, side by side: a machine that others share is faster now than a minute ago."""
    places = set()
    for floor in FLOORS:
        for contestant in bench.options.contestants:
            reaching = [place for place, point in enumerate(points) if point["key"] == contestant.key and point["recall"] >= floor]
            places.update(sorted(reaching, key=lambda place: -points[place]["rate"])[:FINALISTS])
    places = sorted(places)
    again = bench.sweep([asked[place] for place in places], bench.judge, ROUNDS_AGAIN)
    for place, point in zip(places, again):
        points[place] = max(points[place], point, key=lambda one: one["rate"])


def show_floor(bench, floor, times):
    reference = report.best_at(bench.points.get(REFERENCE, []), floor)
    scan = report.best_at(bench.points.get("sequential", []), floor)
    bench.report.say(f"\n  {f'fastest with recall >= {floor}':<30} {'setting':<28} {'recall':>9} {'queries/s':>10} "
                     f"{'x pgvector':>10} {'in server':>10} {'x seq scan':>10}")
    for contestant in bench.options.contestants:
        best = report.best_at(bench.points[contestant.key], floor)
        if best is None:
            note = bench.report.wanted(False, f"{times} times pgvector or more") if contestant.key == "pigment" else ""
            bench.report.say(f"  {contestant.name:<30} does not reach it{note}")
            continue
        ratio = best["rate"] / reference["rate"] if reference else None
        inside = reference["server_us"] / best["server_us"] if reference else None
        scans = best["rate"] / scan["rate"] if scan else None
        note = ""
        if contestant.key == "pigment" and ratio is not None:
            note = bench.report.wanted(ratio >= times, f"{times} times pgvector or more")
        bench.report.say(f"  {contestant.name:<30} {contestants.setting_text(best['setting']):<28} {best['recall']:>9.4f} "
                         f"{number(best['rate']):>10} {number(ratio, 2):>10} {number(inside, 2):>10} "
                         f"{number(scans, 1):>10}{note}")


def filters(bench):
    bench.report.say(f"\n  {'filtered, first ' + str(bench.options.filter_queries):<20} {'filter':<13} {'setting':<55} "
                     f"{'recall':>7} {'queries/s':>10} {'p99 us':>9} {'in server':>9} {'short':>6} {'x pgvector':>10}")
    for name in bench.options.filters:
        parameters = client.write_parameters(bench.statements.asked(name))
        asked = [(contestant, setting, bench.statements.filtered(contestant, name), parameters)
                 for contestant in bench.options.contestants for setting in contestant.filter_sweep]
        points = bench.sweep(asked, bench.judge, bench.options.rounds, name)
        by_key = {contestant.key: [point for point in points if point["key"] == contestant.key]
                  for contestant in bench.options.contestants}
        best = [report.nearest_to(by_key[contestant.key], FILTER_FLOOR) for contestant in bench.options.contestants]
        inside = bench.server_us([asked[points.index(one)] for one in best], [one["rate"] for one in best], name)
        reference = report.best_at(by_key.get(REFERENCE, []), FILTER_FLOOR)
        for contestant, one, microseconds in zip(bench.options.contestants, best, inside):
            show_filter(bench, contestant, name, one | {"server_us": microseconds}, reference)


def show_filter(bench, contestant, name, best, reference):
    ratio = best["rate"] / reference["rate"] if reference else None
    note = f"   ({number(best['queries'])} asked)" if best["queries"] < bench.options.filter_queries else ""
    if contestant.key != "sequential" and best["scans"] < best["executions"]:
        note += f"   PLAN: {best['executions'] - best['scans']:,} of {best['executions']:,} without its index"
    if contestant.key == "pigment":
        reached = best["recall"] >= FILTER_FLOOR and best["short"] == 0
        note += bench.report.wanted(reached and best["rate"] >= FILTER_RATE_WANTED,
                                    f"{FILTER_RATE_WANTED:,}/s or more at recall {FILTER_FLOOR}, none short")
        if ratio is not None:
            note += bench.report.wanted(reached and ratio >= FILTER_TIMES_WANTED, f"{FILTER_TIMES_WANTED} times pgvector or more")
    if contestant.key == REFERENCE and reference is None:
        note += f"   (does not reach {FILTER_FLOOR})"
    bench.report.say(f"  {contestant.name:<20} {name:<13} {contestants.setting_text(best['setting']):<55} {best['recall']:>7.4f} "
                     f"{number(best['rate'], 1):>10} {number(best['p99']):>9} {number(best['server_us']):>9} "
                     f"{best['short']:>6} {number(ratio, 1):>10}{note}")

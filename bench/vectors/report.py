# SPDX-License-Identifier: Apache-2.0
"""The tables of one data set, from the figures that run.py collected, and what the figures of ours are to reach."""

GRAPHS = ("pigment", "pigment-f16")
CLUSTERS = ("pigment-spann", "pigment-spann-f16")
OURS = GRAPHS + CLUSTERS
REFERENCE = "hnswlib"
FLOORS = (0.95, 0.98, 0.99)
# Times the reference's rate at the same recall.
RATES_WANTED = {**dict.fromkeys(GRAPHS, {0.95: 3, 0.99: 4}), **dict.fromkeys(CLUSTERS, {0.98: 0.5})}
FILTER_FLOOR = 0.99
FILTERED_WANTED = {"0.1 %": 3}  # times the reference's unfiltered rate at that recall; 1 where not named
BUILD_WANTED = {**dict.fromkeys(GRAPHS, 1 / 3), **dict.fromkeys(CLUSTERS, 0.1)}  # of the reference's time
INGEST_WANTED = 5  # times the reference's rate of single inserts
DEFAULT_RECALL_WANTED = 0.975  # with no setting touched
DISK_WANTED = {"pigment": 2.0, "pigment-f16": 1.5, "pigment-spann-f16": 0.6}  # times the raw f32 vectors
NARROW_DIMENSION, NARROW_DISK_WANTED = 384, 2.0  # below so many dimensions


def setting_text(setting):
    return " ".join(f"{name} {value}" for name, value in setting.items()) or "-"


def best_at(points, floor):
    """The fastest setting that reaches a recall, or None; nothing is interpolated."""
    return max((point for point in points if point["recall"] >= floor), key=lambda point: point["rate"], default=None)


def reference_rate(result, floor):
    """The reference's unfiltered rate at a recall, or None."""
    best = best_at(result["contestants"].get(REFERENCE, {"points": []})["points"], floor)
    return best["rate"] if best else None


def filtered(figures, name):
    return [point for point in figures["filters"] if point["filter"] == name]


def filter_queries(result):
    return max(point["queries"] for figures in result["contestants"].values() for point in figures["filters"])


def number(value, digits=0):
    return "-" if value is None else f"{value:,.{digits}f}"


def ratio(value, reference):
    return value / reference if value is not None and reference else None


def wanted(name, value, limit, reaches, text):
    """What a figure of ours falls short of, to print beside it."""
    if name not in OURS or limit is None or (value is not None and reaches(value, limit)):
        return ""
    return f"   (wanted: {text})"


def at_least(value, limit):
    return value >= limit


def at_most(value, limit):
    return value <= limit


def headline(results, result):
    return (f"{result['title']}: {result['rows']:,} x {result['dimension']} f32, {result['metric']}, "
            f"{result['queries']} queries, k = {results['k']}, one thread, best of {results['rounds']} passes, "
            f"seed {result['seed']}")


def show(results, result):
    print(f"\n{headline(results, result)}")
    show_curve(results, result)
    show_floors(results, result)
    show_builds(result)
    if results["memory_bytes"]:
        show_memory(results, result)
    if any(figures["filters"] for figures in result["contestants"].values()):
        show_filters(results, result)


def show_curve(results, result):
    print(f"\n  {'queries per second':<30} {'setting':<22} {'recall@' + str(results['k']):>9} {'one a call':>12} "
          f"{'in a batch':>12}")
    for name, figures in result["contestants"].items():
        for point in figures["points"]:
            limit = DEFAULT_RECALL_WANTED if not point["setting"] else None
            print(f"  {figures['name']:<30} {setting_text(point['setting']):<22} {point['recall']:>9.4f} "
                  f"{number(point['rate']):>12} {number(point['batch_rate']):>12}"
                  f"{wanted(name, point['recall'], limit, at_least, f'recall {limit}')}")


def show_floors(results, result):
    for floor in FLOORS:
        reference = reference_rate(result, floor)
        alone = "" if reference or REFERENCE not in result["contestants"] else f"   ({REFERENCE} does not reach it)"
        print(f"\n  {f'fastest with recall >= {floor}':<30} {'setting':<22} {'recall@' + str(results['k']):>9} "
              f"{'one a call':>12} {'x ' + REFERENCE:>12}")
        for name, figures in result["contestants"].items():
            best = best_at(figures["points"], floor)
            if best is None:
                top = max(point["recall"] for point in figures["points"])
                print(f"  {figures['name']:<30} {'none':<22} {top:>9.4f}")
                continue
            times = ratio(best["rate"], reference)
            limit = RATES_WANTED.get(name, {}).get(floor)
            print(f"  {figures['name']:<30} {setting_text(best['setting']):<22} {best['recall']:>9.4f} "
                  f"{number(best['rate']):>12} {number(times, 2):>12}"
                  f"{wanted(name, times, limit if reference else None, at_least, f'{limit} or more')}"
                  f"{alone if name in OURS else ''}")


def show_builds(result):
    """Builds are in batches, from vectors in memory to an index on disk; recall is the best that the index gives."""
    reference = result["contestants"].get(REFERENCE)
    narrow = result["dimension"] < NARROW_DIMENSION
    print(f"\n  {'build, size, memory, inserts':<30} {'recall':>7} {'build s':>9} {'rows/s':>9} {'peak MB':>9} "
          f"{'disk MB':>9} {'x raw':>6} {'open MB':>9} {'inserts/s':>10} {'each is':<9}")
    for name, figures in result["contestants"].items():
        times_raw = figures["disk_bytes"] / result["raw_bytes"]
        rate = result["rows"] / figures["build_s"]
        inserts = figures.get("insert_rate")
        kept = "-" if inserts is None else "durable" if figures["durable_inserts"] else "in memory"
        notes = ""
        if reference:
            limit = reference["build_s"] * BUILD_WANTED.get(name, 1)
            notes += wanted(name, figures["build_s"], limit, at_most, f"build {limit:,.1f} s or less")
            if "insert_rate" in reference:
                limit = reference["insert_rate"] * INGEST_WANTED
                notes += wanted(name, rate, limit, at_least, f"{limit:,.0f} rows/s or more")
        limit = NARROW_DISK_WANTED if narrow else DISK_WANTED.get(name)
        notes += wanted(name, times_raw, limit, at_most, f"{limit} x raw or less")
        print(f"  {figures['name']:<30} {max(point['recall'] for point in figures['points']):>7.4f} "
              f"{number(figures['build_s'], 1):>9} {number(rate):>9} {number(figures['build_peak_bytes'] / 1e6):>9} "
              f"{number(figures['disk_bytes'] / 1e6, 1):>9} {times_raw:>6.2f} "
              f"{number(figures['open_bytes'] / 1e6):>9} {number(inserts):>10} {kept:<9}{notes}")


def show_memory(results, result):
    """Builds within a budget: pages of files come and go as the system likes. Then all queries twice, within a quarter of the disk's bytes."""
    budget = results["memory_bytes"]
    title = f"built within {budget / 1e9:g} GB, asked cold"
    print(f"\n  {title:<30} {'peak MB':>9} {'own MB':>9} {'budget MB':>9} {'open s':>9} {'first ms':>9} {'worst ms':>9} {'queries/s':>10} "
          f"{'again':>10} {'recall':>7}")
    for name, figures in result["contestants"].items():
        if "cold_passes" not in figures:
            continue
        first, again = figures["cold_passes"]
        notes = wanted(name, figures["build_own_bytes"], budget, at_most, f"own {budget / 1e6:,.0f} MB or less")
        notes += wanted(name, min(first["recall"], again["recall"]), DEFAULT_RECALL_WANTED, at_least, f"recall {DEFAULT_RECALL_WANTED}")
        print(f"  {figures['name']:<30} {number(figures['build_peak_bytes'] / 1e6):>9} {number(figures['build_own_bytes'] / 1e6):>9} "
              f"{number(figures['cold_budget_bytes'] / 1e6):>9} {number(figures['cold_open_s'], 2):>9} {number(first['first_s'] * 1e3, 1):>9} "
              f"{number(first['worst_s'] * 1e3, 1):>9} {number(first['rate']):>10} {number(again['rate']):>10} {again['recall']:>7.4f}{notes}")


def filter_choice(points):
    """The fastest setting at the floor, else the one that comes nearest to it."""
    return best_at(points, FILTER_FLOOR) or max(points, key=lambda point: (point["recall"], point["rate"]))


def show_filters(results, result):
    """A new predicate for every query; ratios are to the reference without filter, at the same recall."""
    reference = reference_rate(result, FILTER_FLOOR)
    title = f"filtered, the first {filter_queries(result)} queries"
    print(f"\n  {title:<30} {'filter':<13} {'setting':<22} "
          f"{'recall@' + str(results['k']):>9} {'one a call':>12} {'x unfiltered ' + REFERENCE:>22} {'short':>6}")
    for name, figures in result["contestants"].items():
        for filter_name in dict.fromkeys(point["filter"] for point in figures["filters"]):
            point = filter_choice(filtered(figures, filter_name))
            times = ratio(point["rate"], reference)
            limit = FILTERED_WANTED.get(filter_name, 1)
            notes = wanted(name, times, reference and limit, at_least, f"{limit} or more")
            notes += wanted(name, point["recall"], FILTER_FLOOR, at_least, f"recall {FILTER_FLOOR}")
            notes += wanted(name, point["short"], 0, at_most, "k rows for every query that has them")
            print(f"  {figures['name']:<30} {filter_name:<13} {setting_text(point['setting']):<22} "
                  f"{point['recall']:>9.4f} {number(point['rate'], 1):>12} {number(times, 2):>22} "
                  f"{point['short']:>6}{notes}")

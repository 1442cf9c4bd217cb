# SPDX-License-Identifier: Apache-2.0
"""The figures of one data set as PNG and SVG: rate over recall, and rates with filters.

The colours are Okabe and Ito's, which colour-blind people tell apart; every contestant also has a marker of its own.
"""

import os

import matplotlib
import numpy

matplotlib.use("agg")

import report
from matplotlib import pyplot

STYLES = {"pigment": ("#d55e00", "*"), "pigment-f16": ("#e69f00", "P"), "pigment-spann": ("#882255", "X"),
          "pigment-spann-f16": ("#aa4499", "p"), "hnswlib": ("#0072b2", "o"),
          "usearch": ("#009e73", "s"), "faiss-hnsw": ("#56b4e9", "^"), "faiss-ivf": ("#cc79a7", "D"),
          "chroma": ("#000000", "v")}
RECALL_TICKS = (0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999, 1)
NEAR_ONE = 5e-4  # of recall: what the axis keeps between 1 and infinity


def stretch(recall):
    """The last hundredth of recall gets as much room as the tenth before it, and 1 has a place."""
    return -numpy.log10(numpy.maximum(1 + NEAR_ONE - numpy.asarray(recall, float), NEAR_ONE / 2))


def unstretch(place):
    return 1 + NEAR_ONE - 10**-numpy.asarray(place, float)


def draw(results, key, folder):
    """Writes the figures and returns their paths."""
    result = results["sets"][key]
    with pyplot.rc_context({"font.size": 11, "svg.fonttype": "none", "axes.axisbelow": True}):
        paths = save(draw_curve(results, result), folder, key)
        if any(figures["filters"] for figures in result["contestants"].values()):
            paths += save(draw_filters(results, result), folder, key + "-filtered")
    return paths


def save(figure, folder, name):
    paths = [os.path.join(folder, f"{name}.{kind}") for kind in ("png", "svg")]
    for path in paths:
        figure.savefig(path, dpi=130)
    pyplot.close(figure)
    return paths


def start(results, result, what):
    figure, axes = pyplot.subplots(figsize=(12, 7.2), layout="constrained")
    axes.set_title(what, fontsize=14, pad=34)
    axes.text(0.5, 1.01, f"{report.headline(results, result)}\n{results['machine']}", transform=axes.transAxes,
              ha="center", va="bottom", fontsize=9)
    axes.set_yscale("log")
    axes.set_ylabel("queries per second, one query a call (log)")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    axes.grid(True, which="major", color="0.85")
    axes.grid(True, which="minor", axis="y", color="0.94")
    return figure, axes


def draw_curve(results, result):
    figure, axes = start(results, result, "Rate over recall, up and right is better")
    axes.set_xscale("function", functions=(stretch, unstretch))
    lowest = 1.0
    for name, figures in result["contestants"].items():
        colour, marker = STYLES[name]
        points = sorted(figures["points"], key=lambda point: point["recall"])
        recalls = [point["recall"] for point in points]
        lowest = min(lowest, recalls[0])
        ours = name in report.OURS
        axes.plot(recalls, [point["rate"] for point in points], color=colour, marker=marker, label=figures["name"],
                  markersize=15 if ours else 6, linewidth=2.2 if ours else 1.4, zorder=4 if ours else 3,
                  clip_on=False)
    draw_wanted(axes, result)
    axes.set_xticks([tick for tick in RECALL_TICKS if tick >= lowest - 0.1 or tick == 1])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    axes.set_xlim(max(0, lowest - 0.02), 1)
    axes.set_xlabel(f"recall@{results['k']} (stretched towards 1)")
    axes.legend(loc="upper left", bbox_to_anchor=(1.015, 1), fontsize=9, markerscale=0.7)
    return figure


def draw_wanted(axes, result):
    """What ours is to reach: so many times the reference's rate at each floor."""
    label = "wanted of pigment, at this recall or more"
    for floor, times in report.RATES_WANTED["pigment"].items():
        reference = report.reference_rate(result, floor)
        if reference is None:
            continue
        axes.axvline(floor, color="0.6", linewidth=1, linestyle=":")
        axes.plot([floor], [times * reference], marker="_", markersize=26, markeredgewidth=3, color="#d55e00",
                  linestyle="none", label=label)
        axes.annotate(f"{times} x {report.REFERENCE}", (floor, times * reference), xytext=(0, 7),
                      textcoords="offset points", ha="center", fontsize=9)
        label = None


def draw_filters(results, result):
    figure, axes = start(results, result, f"Rate with filters at recall >= {report.FILTER_FLOOR}, a new predicate "
                                          f"for each of the first {report.filter_queries(result)} queries")
    kinds = list(dict.fromkeys(point["filter"] for figures in result["contestants"].values()
                               for point in figures["filters"]))
    those = {name: figures for name, figures in result["contestants"].items() if figures["filters"]}
    for place, (name, figures) in enumerate(those.items()):
        colour, marker = STYLES[name]
        shift = (place - (len(those) - 1) / 2) * 0.11
        for at, kind in enumerate(kinds):
            point = report.filter_choice(report.filtered(figures, kind))
            reached = point["recall"] >= report.FILTER_FLOOR
            axes.plot([at + shift], [point["rate"]], marker=marker, color=colour, markersize=13 if marker == "*" else 9,
                      markerfacecolor=colour if reached else "white", linestyle="none")
            if not reached:
                axes.annotate(f"{point['recall']:.2f}", (at + shift, point["rate"]), xytext=(0, -16),
                              textcoords="offset points", ha="center", fontsize=8, color="0.3")
        axes.plot([], [], marker=marker, color=colour, linestyle="none", label=figures["name"])
    draw_filters_wanted(axes, result, kinds)
    axes.plot([], [], marker="o", markerfacecolor="white", color="0.3", linestyle="none",
              label="less recall, as written")
    axes.set_xticks(range(len(kinds)), kinds)
    axes.set_xlim(-0.5, len(kinds) - 0.5)
    axes.grid(False, axis="x")
    axes.set_xlabel("rows that match")
    axes.legend(loc="upper left", bbox_to_anchor=(1.005, 1), fontsize=9)
    return figure


def draw_filters_wanted(axes, result, kinds):
    reference = report.reference_rate(result, report.FILTER_FLOOR)
    if reference is None:
        return
    label = "wanted of pigment"
    for at, kind in enumerate(kinds):
        rate = report.FILTERED_WANTED.get(kind, 1) * reference
        axes.plot([at - 0.4, at + 0.4], [rate, rate], color="#d55e00", linewidth=2, linestyle="--", label=label)
        label = None

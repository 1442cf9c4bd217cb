# SPDX-License-Identifier: Apache-2.0
"""Lines of figures with what is wanted of them, and how many fall short."""

import contestants


class Report:
    def __init__(self):
        self.short = 0

    def wanted(self, is_reached, text):
        """A note for a figure of ours."""
        self.short += not is_reached
        return f"   (wanted: {text}: {'reached' if is_reached else 'SHORT'})"

    @staticmethod
    def say(line=""):
        print(line, flush=True)

    def line(self, what, figures, note=""):
        self.say(f"  {what:<44} {figures}{note}")


def number(value, digits=0):
    return "-" if value is None else f"{value:,.{digits}f}"


def best_at(points, floor):
    """The fastest setting that reaches a recall, or None; nothing is interpolated."""
    return max((point for point in points if point["recall"] >= floor), key=lambda point: point["rate"], default=None)


def nearest_to(points, floor):
    """The same, else the one that comes nearest to it."""
    return best_at(points, floor) or max(points, key=lambda point: (point["recall"], point["rate"]))


def show_points(report, key, name, points):
    for point in points:
        not_by_index = point["executions"] - point["scans"] if key != "sequential" else point["scans"]
        note = f"   PLAN: {not_by_index:,} of {point['executions']:,} not as meant" if not_by_index > 0 else ""
        report.say(f"  {name:<20} {contestants.setting_text(point['setting']):<28} {point['recall']:>9.4f} "
                   f"{number(point['rate'], 1):>10} {number(point['median']):>10} {number(point['p99']):>10} "
                   f"{number(point.get('server_us')):>12}{note}")

# SPDX-License-Identifier: Apache-2.0
"""Whether two outcomes of one step are equal: distances to 1e-5, ties as sets, everything else as it stands."""

import math

TOLERANCE = 1e-5


def difference(step, ours, theirs):
    """None, or what differs."""
    if ours.refusal or theirs.refusal:
        return None if ours.refusal == theirs.refusal else "outcome"
    compare = {"query": queries, "get": columns, "peek": columns, "list_collections": listed}.get(step["op"], same)
    return compare(step, ours.answer, theirs.answer)


def same(_, ours, theirs):
    return None if equal(ours, theirs) else "answer"


def equal(ours, theirs):
    """Equal with types: 1 is neither 1.0 nor true."""
    if type(ours) is not type(theirs):
        return False
    if isinstance(ours, dict):
        return ours.keys() == theirs.keys() and all(equal(value, theirs[key]) for key, value in ours.items())
    if isinstance(ours, list):
        return len(ours) == len(theirs) and all(map(equal, ours, theirs))
    return ours == theirs


def close(ours, theirs):
    return math.isclose(ours, theirs, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def listed(step, ours, theirs):
    """Both order by id, which is random: a part of the list is compared by its length."""
    if step.get("args"):
        return None if len(ours) == len(theirs) else "length"
    by_name = [sorted(one, key=lambda collection: collection["name"]) for one in (ours, theirs)]
    return same(step, *by_name)


def columns(_, ours, theirs):
    for name in ours:
        if name == "embeddings":
            good = near_vectors(ours[name], theirs[name])
        elif name == "distances":
            continue
        else:
            good = equal(ours[name], theirs[name])
        if not good:
            return name
    return None


def near_vectors(ours, theirs):
    """Chroma keeps unit vectors and their lengths for cosine: its components are off by some ulp."""
    if ours is None or theirs is None:
        return ours is theirs
    return len(ours) == len(theirs) and all(
        len(a) == len(b) and all(math.isclose(x, y, rel_tol=1e-6, abs_tol=1e-30) for x, y in zip(a, b))
        for a, b in zip(ours, theirs))


def queries(step, ours, theirs):
    if len(ours) != len(theirs):
        return "queries"
    for mine, other in zip(ours, theirs):
        what = neighbours(mine, other)
        if what:
            return what
    return None


def neighbours(ours, theirs):
    """One query. Without distances only the rows that both found can be held together."""
    if len(ours["ids"]) != len(theirs["ids"]):
        return "ids"
    for name in ours:
        if (ours[name] is None) != (theirs[name] is None):
            return name
    if ours["distances"] is not None:
        if not all(map(close, ours["distances"], theirs["distances"])):
            return "distances"
        if ours["distances"] != sorted(ours["distances"]):
            return "order"
        if not same_ties(ours, theirs):
            return "ids"
    places = {name: at for at, name in enumerate(theirs["ids"])}
    rows = [(at, places[name]) for at, name in enumerate(ours["ids"]) if name in places]
    picked = [{name: None if side[name] is None else [side[name][row] for row in chosen] for name in side}
              for side, chosen in ((ours, [a for a, _ in rows]), (theirs, [b for _, b in rows]))]
    return columns(None, *picked)


def same_ties(ours, theirs):
    """Rows of one distance are a set; of the farthest one, both may have chosen others."""
    if not ours["ids"]:
        return True
    last = ours["distances"][-1]
    sides = []
    for side in (ours, theirs):
        sides.append({name: value for name, value in zip(side["ids"], side["distances"]) if not close(value, last)})
    return sides[0].keys() == sides[1].keys() and all(close(value, sides[1][name]) for name, value in sides[0].items())



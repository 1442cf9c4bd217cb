# SPDX-License-Identifier: Apache-2.0
"""Which records satisfy a filter, by the rules of docs/filters.md, and by those rules with one of Chroma's faults."""

import math
import re


def satisfying(rows, where, where_document, truncates=False, unicode_classes=False):
    """Ids of the rows (dictionaries of id, document, metadata, uri) that satisfy both filters. `truncates`: a bound with a
    fraction loses it, and one beyond 64 bits is cut, before integers are compared with it; `unicode_classes`: \\w and the like know all letters."""
    return [row["id"] for row in rows
            if (where is None or fields_match(where, row, truncates))
            and (where_document is None or document_matches(where_document, row["document"], unicode_classes))]


def fields_match(where, row, truncates):
    (key, operand), = where.items()
    if key in ("$and", "$or"):
        return (all if key == "$and" else any)(fields_match(one, row, truncates) for one in operand)
    operator, operand = next(iter(operand.items())) if isinstance(operand, dict) else ("$eq", operand)
    value = row["uri"] if key == "chroma:uri" else (row["metadata"] or {}).get(key)
    if operator in ("$ne", "$nin", "$not_contains"):
        return not compare(NEGATED[operator], value, operand, truncates)
    return compare(operator, value, operand, truncates)


NEGATED = {"$ne": "$eq", "$nin": "$in", "$not_contains": "$contains"}


def compare(operator, value, operand, truncates):
    if operator == "$contains":
        return isinstance(value, list) and any(type(one) is type(operand) and one == operand for one in value)
    if operator == "$in":
        return any(compare("$eq", value, one, truncates) for one in operand)
    if value is None or isinstance(value, list) or kind_of(value) != kind_of(operand):
        return False
    if truncates and type(value) is int and type(operand) is float:
        operand = max(-2**63, min(2**63 - 1, math.trunc(operand)))
    return {"$eq": value == operand, "$gt": value > operand, "$gte": value >= operand, "$lt": value < operand,
            "$lte": value <= operand}[operator]


def kind_of(value):
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__


def document_matches(where_document, document, unicode_classes):
    (operator, operand), = where_document.items()
    if operator in ("$and", "$or"):
        return (all if operator == "$and" else any)(
            document_matches(one, document, unicode_classes) for one in operand)
    if operator in ("$not_contains", "$not_regex"):
        return not document_matches({operator.replace("not_", ""): operand}, document, unicode_classes)
    if document is None:
        return False
    if operator == "$contains":
        return operand in document
    return re.search(operand, document, 0 if unicode_classes or not CLASSES.search(operand) else re.ASCII) is not None


CLASSES = re.compile(r"\\[wWdDsSbB]")

# SPDX-License-Identifier: Apache-2.0
"""The parts of a Search."""

from ..conditions import And, Contains, Eq, Gt, Gte, In, Lt, Lte, Ne, Nin, NotContains, NotRegex, Or, Regex
from ..expression import (
    Abs, Aggregate, Div, Exp, GroupBy, Knn, Limit, Log, Max, MaxK, Min, MinK, Mul, Rank, Rrf, Search, Select, Sub, Sum, Text, Val,
)
from ..filters import Filter, K, Key

SearchWhere = Where = Filter

__all__ = [
    "Abs", "Aggregate", "And", "Contains", "Div", "Eq", "Exp", "GroupBy", "Gt", "Gte", "In", "K", "Key", "Knn", "Limit", "Log", "Lt", "Lte", "Max", "MaxK",
    "Min", "MinK", "Mul", "Ne", "Nin", "NotContains", "NotRegex", "Or", "Rank", "Regex", "Rrf", "Search", "SearchWhere", "Select", "Sub", "Sum", "Text",
    "Val", "Where",
]

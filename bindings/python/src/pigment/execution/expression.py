# SPDX-License-Identifier: Apache-2.0
"""The parts of a Search."""

from ..expression import (
    Abs, Aggregate, Div, Exp, GroupBy, Knn, Limit, Log, Max, MaxK, Min, MinK, Mul, Rank, Rrf, Search, Select, Sub, Sum, Text, Val,
)
from ..filters import Filter, K, Key

Where = Filter

__all__ = [
    "Abs", "Aggregate", "Div", "Exp", "GroupBy", "K", "Key", "Knn", "Limit", "Log", "Max", "MaxK", "Min", "MinK", "Mul", "Rank", "Rrf", "Search",
    "Select", "Sub", "Sum", "Text", "Val", "Where",
]

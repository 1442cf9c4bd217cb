# SPDX-License-Identifier: Apache-2.0
"""Conditions as objects, by Chroma's names: Eq("year", 2020) is K("year") == 2020, and And([a, b]) is a & b."""

from __future__ import annotations

from typing import Any, ClassVar

from .filters import Filter, Key


class Condition(Filter):
    """Of one key; `operator` is that of the JSON."""

    __slots__ = ()
    operator: ClassVar[str]

    def __init__(self, key: Key | str, value: Any) -> None:
        super().__init__({key.name if isinstance(key, Key) else key: {self.operator: value}})


class Eq(Condition):
    __slots__ = ()
    operator = "$eq"


class Ne(Condition):
    __slots__ = ()
    operator = "$ne"


class Gt(Condition):
    __slots__ = ()
    operator = "$gt"


class Gte(Condition):
    __slots__ = ()
    operator = "$gte"


class Lt(Condition):
    __slots__ = ()
    operator = "$lt"


class Lte(Condition):
    __slots__ = ()
    operator = "$lte"


class Contains(Condition):
    __slots__ = ()
    operator = "$contains"


class NotContains(Condition):
    __slots__ = ()
    operator = "$not_contains"


class In(Condition):
    __slots__ = ()
    operator = "$in"

    def __init__(self, key: Key | str, values: list[Any]) -> None:
        super().__init__(key, values)


class Nin(In):
    __slots__ = ()
    operator = "$nin"


class Regex(Condition):
    __slots__ = ()
    operator = "$regex"

    def __init__(self, key: Key | str, pattern: str) -> None:
        super().__init__(key, pattern)


class NotRegex(Regex):
    __slots__ = ()
    operator = "$not_regex"


class And(Filter):
    __slots__ = ()

    def __init__(self, conditions: list[Filter]) -> None:
        super().__init__({"$and": [condition.to_dict() for condition in conditions]})


class Or(Filter):
    __slots__ = ()

    def __init__(self, conditions: list[Filter]) -> None:
        super().__init__({"$or": [condition.to_dict() for condition in conditions]})

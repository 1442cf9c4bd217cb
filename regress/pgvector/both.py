# SPDX-License-Identifier: Apache-2.0
"""Two connections to the server that the environment names: one finds pgvector's types, the other ours.

Both extensions are in one database, each in a schema of its own; an expression means one or the other by search_path alone.
"""

import dataclasses

import psycopg
from psycopg.pq import DiagnosticField, ExecStatus

TYPES = ("vector", "halfvec", "sparsevec")


@dataclasses.dataclass(frozen=True)
class Answer:
    """A value, or an error: its SQLSTATE and message."""

    value: bytes | None = None
    state: str = ""
    message: str = ""

    def __str__(self):
        if self.state:
            return f"ERROR {self.state}: {self.message[:150]}"
        return "NULL" if self.value is None else repr(self.value[:150])


class Side:
    """One extension, seen through a connection of its own."""

    def __init__(self, schema):
        self.schema = schema
        self.connection = psycopg.connect("", autocommit=True)
        self.connection.execute(f"SET search_path = {schema}")
        self.oids = dict(self.connection.execute(
            "SELECT typname, oid FROM pg_type WHERE typnamespace = %s::regnamespace AND typname = ANY (%s)",
            (schema, list(TYPES))).fetchall())

    def ask(self, expression, received=None, kind=None, binary=False):
        """The value of an expression, in which $1 stands for bytes that the type's receive function gets."""
        values, types, formats = ([], [], []) if received is None else ([received], [self.oids[kind]], [1])
        result = self.connection.pgconn.exec_params(
            f"SELECT {expression}".encode(), values, types, formats, 1 if binary else 0)
        if result.status == ExecStatus.TUPLES_OK:
            return Answer(value=result.get_value(0, 0))
        state = result.error_field(DiagnosticField.SQLSTATE)
        message = result.error_field(DiagnosticField.MESSAGE_PRIMARY)
        if state is None:
            raise RuntimeError(f"the server of {self.schema} went away at: {expression[:500]} {received!r:.500}")
        return Answer(state=state.decode(), message=message.decode())


def install():
    """Installs both; returns (theirs, ours)."""
    with psycopg.connect("", autocommit=True) as connection:
        for extension, schema in (("vector", "theirs"), ("pigment", "ours")):
            connection.execute(f"CREATE SCHEMA {schema}")
            connection.execute(f"CREATE EXTENSION {extension} SCHEMA {schema}")
    return Side("theirs"), Side("ours")


class Tap:
    """Prints results as a TAP program does; exit status 1 after a failure."""

    def __init__(self):
        self._count = 0
        self._failed = 0

    def check(self, good, name, details=()):
        self._count += 1
        self._failed += not good
        print(f"{'ok' if good else 'not ok'} {self._count} - {name}")
        if not good:
            for detail in details:
                print(f"# {detail}")

    def finish(self):
        print(f"1..{self._count}")
        return 1 if self._failed else 0

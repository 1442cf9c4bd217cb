# SPDX-License-Identifier: Apache-2.0
"""Who takes part: tables with one index each, statements, and the settings that are swept. One table a contestant, so that no
plan and no insert meets the other's index; a sequential scan is of our table."""

import dataclasses

import client

OPERATORS = {"cosine": ("<=>", "vector_cosine_ops"), "l2": ("<->", "vector_l2_ops")}
COLUMNS = "id integer PRIMARY KEY, embedding vector({dimension}) NOT NULL, bucket integer NOT NULL, source text NOT NULL"

# Of both so many that one just above the recalls that are wanted is among them.
RECALLS = (0.80, 0.83, 0.85, 0.87, 0.88, 0.89, 0.90, 0.93, 0.95, 0.96, 0.965, 0.97, 0.98, 0.985, 0.99, 0.995, 1)
SEARCH_WIDTHS = (10, 14, 20, 28, 40, 56, 80, 120, 200)
EF_SEARCH = (10, 14, 20, 22, 24, 26, 28, 32, 40, 60, 65, 70, 75, 80, 90, 120, 200, 400)
# pgvector gives up after 20,000 tuples, unless it is told otherwise; then it needs the memory for them.
FILTER_EF_SEARCH = [{"hnsw.iterative_scan": mode, "hnsw.ef_search": ef}
                    for mode in ("strict_order", "relaxed_order") for ef in (40, 100, 400)]
FILTER_ALL_TUPLES = {"hnsw.iterative_scan": "relaxed_order", "hnsw.ef_search": 40, "hnsw.max_scan_tuples": 1000000,
                     "hnsw.scan_mem_multiplier": 100}


BUCKETS = "WHERE bucket >= $2::int4 AND bucket < $3::int4"
SOURCE = "WHERE source = $2::text"


@dataclasses.dataclass(frozen=True)
class Contestant:
    key: str
    name: str
    schema: str  # of the vector type and its operators
    table: str
    access: str  # what follows USING, with place for the operator class; "": no index on vectors
    sweep: tuple = ({},)  # settings of plain queries
    filter_sweep: tuple = ({},)
    always: tuple = ()  # statements of every connection

    @property
    def index(self):
        return self.table + "_embedding"

    def without_settings(self):
        return dataclasses.replace(self, sweep=({},))

    def sets(self, setting=None):
        """What a connection is told before it prepares anything."""
        return [f"SET search_path = {self.schema}, public", *self.always,
                *(f"SET {name} = '{value}'" for name, value in (setting or {}).items())]


PGVECTOR = Contestant(
    "pgvector", "pgvector", "theirs", "pgvector_items", "hnsw (embedding {ops})",
    tuple({"hnsw.ef_search": ef} for ef in EF_SEARCH), (*FILTER_EF_SEARCH, FILTER_ALL_TUPLES),
    # Its index is what is measured, also where the planner would rather read the table.
    ("SET enable_seqscan = off",))
SEQUENTIAL = Contestant(
    "sequential", "sequential scan", "ours", "pigment_items", "",
    always=("SET enable_indexscan = off", "SET enable_bitmapscan = off"))
PLAIN = Contestant("plain", "no index on vectors", "ours", "plain_items", "")
FILTERED_COLUMNS = "pigment (embedding {ops}, bucket, source)"
PIGMENT = Contestant("pigment", "pigment", "ours", "pigment_items", FILTERED_COLUMNS)
SPANN = Contestant("pigment-spann", "pigment, spann", "ours", "spann_items", FILTERED_COLUMNS + " WITH (kind = 'spann')")
ALL = (PIGMENT, SPANN, PGVECTOR, SEQUENTIAL)
OURS = ("pigment", "pigment-spann")


def with_settings(contestant, known):
    """A contestant of ours with the settings that its module has: none means that every search is exact."""
    sweep = [{}]
    for name, values in (("pigment.target_recall", RECALLS), ("pigment.search_width", SEARCH_WIDTHS)):
        if name in known:
            least, largest = known[name]
            sweep += [{name: value} for value in values if least <= value <= largest]
    recalls = tuple(setting for setting in sweep if "pigment.search_width" not in setting)
    return dataclasses.replace(contestant, sweep=tuple(sweep), filter_sweep=recalls)


def setting_text(setting):
    return " ".join(f"{name.split('.')[1]} {value}" for name, value in setting.items()) or "-"


class Statements:
    """SQL over a contestant's table, and the parameters that go with it."""

    def __init__(self, data, k):
        self.data, self.k = data, k
        self.operator, self.operator_class = OPERATORS[data.metric]

    def create_index(self, contestant):
        return f"CREATE INDEX {contestant.index} ON {contestant.table} USING {contestant.access.format(ops=self.operator_class)}"

    def query(self, contestant, condition=""):
        return f"SELECT id FROM {contestant.table} {condition} ORDER BY embedding {self.operator} $1::vector LIMIT {self.k}"

    def filtered(self, contestant, name):
        return self.query(contestant, BUCKETS if self.data.predicates[name][0].column == "bucket" else SOURCE)

    def asked(self, name=None):
        """The values of each query, plain or of a filter."""
        if name is None:
            return [(client.vector(query),) for query in self.data.queries]
        return [(client.vector(query), *self.predicate(some))
                for query, some in zip(self.data.queries, self.data.predicates[name])]

    def predicate(self, some):
        if some.column == "bucket":
            return client.integer(some.low), client.integer(some.high)
        return (client.text(self.data.source_names[some.low]),)

    def insert(self, contestant):
        return f"INSERT INTO {contestant.table} VALUES ($1::int4, $2::vector, $3::int4, $4::text)"

    def update(self, contestant):
        return f"UPDATE {contestant.table} SET embedding = $2::vector WHERE id = $1::int4"

    def update_bucket(self, contestant):
        return f"UPDATE {contestant.table} SET bucket = $2::int4 WHERE id = $1::int4"

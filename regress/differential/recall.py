# SPDX-License-Identifier: Apache-2.0
"""Random tables that are large enough for graphs and clusters, and conditions on them: what a pigment index gives with no setting touched.

usage: recall.py LIBPIGMENT [SEED]; the server is found through libpq's environment variables. Prints one TAP line for each table, and one for all.
Every query runs twice, as filters.py has it. By default each answer has as many rows as there should be, all of them among those that match, each
once and with its distance; of all answers together a part is the nearest rows (RECALL_MIN), and few rows come behind one that is farther. With
target_recall = 1 the answers are those of a sort. Between queries rows are inserted, deleted and updated, the table is vacuumed, the index merged.
"""

import random
import sys
import time

import filters
import sql

TABLES = 6
STEPS = 4  # of changes in a table
CONDITIONS = 18  # after each
QUERIES = 12  # with one condition, in one statement
QUERIES_MIN = 5000
EXACT = 2  # of these conditions also with target_recall = 1
ROWS = (8300, 9300)  # a segment has a graph or clusters from 8,192 vectors on
K = (1, 5, 10, 20)
RECALL_MIN = 0.975  # of all queries; what is promised is 0.98 on average
SEARCHED_RECALL_MIN = 0.97  # of those that walked a graph or probed clusters
SEARCHED_MIN = 0.2  # of all
LATE_MAX = 0.02  # of all rows
KINDS = ["auto", "hnsw", "spann"]


class Table(filters.Table):
    """Vectors in groups, with the number of its group in each row: a condition may go with the vectors, or with none."""

    TYPES = ["vector", "vector", "halfvec"]  # that graphs and clusters are of

    def __init__(self, session, draw, number):
        super().__init__(session, draw, number)
        self.dimension = draw.choice([6, 12, 24, 48])
        self.kind = KINDS[number % len(KINDS)]
        self.is_partitioned = False
        self.operator, metric = draw.choice([("<->", "l2"), ("<=>", "cosine"), ("<#>", "ip")])
        self.operator_class = f"{self.type}_{metric}_ops"
        self.centers = [self.point([0.0] * self.dimension, 1.0) for _ in range(draw.choice([1, 10, 40]))]
        self.columns = self.columns[:3]
        self.asked = self.wanted = self.found = self.late = self.rows = 0
        self.searched = self.searched_wanted = self.searched_found = self.refused = 0

    def point(self, center, spread):
        return [value + self.draw.gauss(0, spread) for value in center]

    @staticmethod
    def text(vector):
        return "'[" + ",".join(f"{value:.4f}" for value in vector) + "]'"

    def row(self):
        self.next_id += 1
        group = self.draw.randrange(len(self.centers))
        values = [str(self.next_id), str(group), *(column.value(self.draw) for column in self.columns)]
        vector = "NULL" if self.draw.random() < 0.01 else self.text(self.point(self.centers[group], 0.5))
        return f"({', '.join([*values, vector])})"

    def create(self):
        declared = ", ".join(["id int", "grp int", *(column.declaration() for column in self.columns), f"v {self.type}({self.dimension})"])
        self.run(f"CREATE TABLE {self.name} ({declared})")
        count = self.draw.randint(*ROWS)
        for begin in range(0, count, 1000):
            self.insert(min(1000, count - begin))
        keys = ["grp", *(getattr(column, "key", column.name) for column in self.columns), f"v {self.operator_class}"]
        self.predicate = ""
        self.run(f"CREATE INDEX {self.name}_x ON {self.name} USING pigment ({', '.join(keys)}) WITH (kind = {self.kind})")

    def change(self):
        change = self.draw.choice(["insert", "insert", "update", "delete", "vacuum", "merge"])
        some = f"id % {self.draw.randint(5, 20)} = {self.draw.randint(0, 3)}"
        if change == "insert":
            self.insert(self.draw.choice([50, 400]))
        elif change == "update":
            self.run(f"UPDATE {self.name} SET grp = grp + 1 WHERE {some}")
        elif change == "delete":
            self.run(f"DELETE FROM {self.name} WHERE {some}")
        elif change == "vacuum":
            self.run(f"VACUUM {self.name}")
        else:
            self.run(f"SELECT pigment.merge('{self.name}_x')")
        return change

    def where(self):
        """Of many rows and of few, near the question and far from it."""
        kind = self.draw.random()
        if kind < 0.15:
            return "true"
        if kind < 0.3:
            return f"grp = {self.draw.randrange(len(self.centers))}"
        if kind < 0.45:
            return f"grp {self.draw.choice(['<', '>='])} {self.draw.randrange(len(self.centers) + 1)}"
        return super().where()

    def condition(self):
        """One that the server answers by itself, and the rows that match: a cast may refuse a value of some row, which filters.py compares."""
        while True:
            where = self.where()
            try:
                return where, set(self.answer(f"SELECT id FROM {self.name} t WHERE {where}", False))
            except sql.Refused:
                self.refused += 1

    def compare(self):
        where, matching = self.condition()
        k = self.draw.choice(K)
        questions = []
        for number in range(QUERIES):
            center = self.draw.choice(self.centers)
            questions.append(f"({number}, {self.text(self.point(center, 0.5))}::{self.type})")
        distance = f"t.v {self.operator} q.v"
        select = (f"SELECT q.n, x.id, x.d FROM (VALUES {', '.join(questions)}) q (n, v), LATERAL "
                  f"(SELECT t.id, {distance} AS d FROM {self.name} t WHERE {where} ORDER BY {distance} LIMIT {k}) x")
        expected = by_question(self.answer(select, False))
        got = by_question(self.answer(select, True, False))
        # of the last question; the others had the same condition
        self.searches = self.run("SELECT walks + probes > 0 FROM pigment.last_scan()") == ["t"]
        for number in range(QUERIES):
            problem = self.judge(expected[number], got[number], matching, k)
            if problem:
                return f"{problem}\n{select}\nquestion {number}: expected {expected[number]}\ngot {got[number]}"
        if self.draw.random() < EXACT / CONDITIONS:
            self.run("SET pigment.target_recall = 1")
            got = by_question(self.answer(select, True, False))
            self.run("RESET pigment.target_recall")
            for number in range(QUERIES):
                if [d for _, d in got[number]] != [d for _, d in expected[number]]:
                    return f"not exact with target_recall = 1\n{select}\nquestion {number}: expected {expected[number]}\ngot {got[number]}"
        return None

    def judge(self, expected, got, matching, k):
        ids = [row for row, _ in got]
        if len(got) != min(k, len(matching)):
            return f"{len(got)} rows of {min(k, len(matching))}"
        if len(set(ids)) != len(ids) or not set(ids) <= matching:
            return "rows twice, or rows that do not match"
        distances = [ordered(d) for _, d in got]
        known = {row: ordered(d) for row, d in expected}
        if any(known.get(row, d) != d for row, d in zip(ids, distances)):
            return "another distance"
        self.asked += 1
        self.rows += len(got)
        self.late += sum(d < max(distances[:i], default=d) for i, d in enumerate(distances))
        farthest = ordered(expected[-1][1]) if expected else None
        found = sum(d <= farthest for d in distances)
        self.wanted += len(expected)
        self.found += found
        if self.searches:
            self.searched += 1
            self.searched_wanted += len(expected)
            self.searched_found += found
        return None


def ordered(distance):
    """Numbers, then NaN, then none, as a sort has them."""
    if distance == "":
        return (2, 0.0)
    return (1, 0.0) if distance == "NaN" else (0, float(distance))


def by_question(rows):
    answers = {number: [] for number in range(QUERIES)}
    for row in rows:
        number, place, distance = row.split("|")
        answers[int(number)].append((place, distance))
    return answers


def run_table(session, draw, number):
    table = Table(session, draw, number)
    table.create()
    history = []
    for _ in range(STEPS):
        for _ in range(CONDITIONS):
            problem = table.compare()
            if problem:
                return table, f"after {history}: {problem}"
        history.append(table.change())
    return table, None


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(2**32)
    print(f"# seed {seed}", flush=True)
    session = sql.Session()
    session.run("CREATE EXTENSION pigment")
    tables, failures = [], 0
    for number in range(TABLES):
        begin = time.perf_counter()
        table, problem = run_table(session, random.Random(f"{seed} {number}"), number)
        tables.append(table)
        failures += problem is not None
        print(f"{'not ' if problem else ''}ok {number + 1} - {table.kind}, {table.type} of {table.dimension} dimensions, {len(table.centers)} groups, "
              f"{table.operator}, {table.next_id} rows, {table.asked} queries, recall {table.found / max(table.wanted, 1):.4f}, "
              f"{table.late} of {table.rows} rows late, {table.refused} conditions refused, {time.perf_counter() - begin:.1f} s", flush=True)
        if problem:
            print("# " + problem.replace("\n", "\n# "), flush=True)
    session.close()
    total = lambda name: sum(getattr(table, name) for table in tables)
    recall, searched_recall = total("found") / max(total("wanted"), 1), total("searched_found") / max(total("searched_wanted"), 1)
    good = (total("asked") >= QUERIES_MIN and recall >= RECALL_MIN and searched_recall >= SEARCHED_RECALL_MIN
            and total("searched") >= SEARCHED_MIN * total("asked") and total("late") <= LATE_MAX * total("rows"))
    print(f"{'' if good or failures else 'not '}ok {TABLES + 1} - {total('asked')} queries at the default setting: recall {recall:.4f}, wanted {RECALL_MIN}; "
          f"{total('searched')} searched a graph or clusters, with recall {searched_recall:.4f}; {total('late')} of {total('rows')} rows late")
    print(f"1..{TABLES + 1}")
    return 1 if failures or not good else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Random documents and queries in several languages: text <@> words by an index must be BM25 as its formula stands.

usage: ranked.py LIBPIGMENT [SEED]; the server is found through libpq's environment variables. Prints one TAP line for
each table. Stems are those of the server's own dictionaries. A query runs by an index scan and by a sort of a
sequential scan: the same rows, scores and order, ties by row pointer; its scores are those of the formula over what the
index has entries of, dead rows that VACUUM has not seen among them. Between queries rows are inserted, updated and
deleted, the table is vacuumed, the index merged or rebuilt.
"""

import collections
import math
import pathlib
import random
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import sql

STEPS = 6  # of changes in a table
QUERIES = 6  # after each
SCORES_MIN = 400  # that were compared, of all tables together
LANGUAGES = {
    "none": "fox foxes Fox run running runs don't 3.14 pg_class www.example.com 東京 Zoë ÑANDÚ",
    "english": "fox foxes run running runs engine engines searching searched search rank ranks ranking quickly quick the and of",
    "german": "Haus Häuser Hauses laufen laufend läuft Suche Suchen suchte Größe größer Datenbank Datenbanken der die und",
    "french": "chercher cherche cherché cherchons moteur moteurs rapide rapidement maison maisons base bases le la et",
    "russian": "поиск поиска поиском дом дома домами быстрый быстро базы база данных данные и в на",
}


class Terms:
    """Words of a language as the index has them."""

    def __init__(self, session, language):
        words = LANGUAGES[language].split()
        self.words = words
        self._of = {}
        for word in words:
            if language == "none":
                self._of[word] = word.casefold()
            else:
                self._of[word] = session.value(f"SELECT (ts_lexize('{language}_bare', {sql.quote(word.lower())}))[1]")

    def of(self, text):
        return [self._of[word] for word in text.split()]


class Formula:
    """BM25 of the words of a query, by lists of terms of all entries of an index."""

    def __init__(self, query, entries, k1, b):
        texts = [terms for terms in entries if terms]
        self.k1, self.b = k1, b
        self.average = sum(map(len, texts)) / max(len(texts), 1)
        self.idf = {}
        for term, times in collections.Counter(query).items():
            with_it = sum(term in terms for terms in texts)
            self.idf[term] = times * math.log(1 + (len(texts) - with_it + 0.5) / (with_it + 0.5))

    def score(self, document):
        total = 0.0
        for term, idf in self.idf.items():
            frequency = document.count(term)
            if frequency:
                norm = self.k1 * (1 - self.b + self.b * len(document) / self.average)
                total += idf * (self.k1 + 1) * frequency / (frequency + norm)
        return total


class Table:
    def __init__(self, session, draw, number, language):
        self.session, self.draw, self.name = session, draw, f"r{number}"
        self.terms = Terms(session, language)
        self.k1, self.b = draw.choice([(1.2, 0.75), (0.0, 1.0), (2.0, 0.0), (0.9, 0.4)])
        self.rows = {}  # id: text or None
        self.entries = []  # terms of each entry of the index
        self.scores = 0
        with_vector = draw.random() < 0.5
        session.run(f"CREATE TABLE {self.name} (id int PRIMARY KEY, category int, body text, v vector(2)) WITH (autovacuum_enabled = false)")
        self.insert(draw.choice([0, 30, 300]))
        columns = [f"body text_bm25_ops (language = '{language}')", "category"] + ["v vector_l2_ops"] * with_vector
        draw.shuffle(columns)
        session.run(f"CREATE INDEX {self.name}_x ON {self.name} USING pigment ({', '.join(columns)}) WITH (k1 = {self.k1}, b = {self.b})")

    def text(self):
        if self.draw.random() < 0.08:
            return None
        return " ".join(self.draw.choices(self.terms.words, k=self.draw.choice([0, 1, 2, 4, 8, 8, 16, 40, 400])))

    def enter(self, text):
        self.entries.append([] if text is None else self.terms.of(text))

    def insert(self, count):
        values = []
        for number in range(len(self.rows), len(self.rows) + count):
            number = max(self.rows, default=0) + 1
            self.rows[number] = self.text()
            self.enter(self.rows[number])
            values.append(f"({number}, {number % 4}, {sql.quote(self.rows[number])}, '[{number % 5},1]')")
        if values:
            self.session.run(f"INSERT INTO {self.name} VALUES {', '.join(values)}")

    def change(self):
        change = self.draw.choice(["insert", "insert", "update", "delete", "vacuum", "merge", "reindex", "rollback", "parameters"])
        some = [number for number in self.rows if number % 7 == self.draw.randint(0, 6)]
        if change == "insert":
            self.insert(self.draw.choice([1, 20, 60]))
        elif change == "update" and some:
            number, text = self.draw.choice(some), self.text()
            if text != self.rows[number]:
                self.session.run(f"UPDATE {self.name} SET body = {sql.quote(text)} WHERE id = {number}")
                self.rows[number] = text
                self.enter(text)
        elif change == "delete" and some:
            self.session.run(f"DELETE FROM {self.name} WHERE id IN ({', '.join(map(str, some))})")
            for number in some:
                del self.rows[number]
        elif change == "vacuum":
            self.session.run(f"VACUUM (INDEX_CLEANUP ON) {self.name}")
        elif change == "merge":
            self.session.run(f"SELECT pigment.merge('{self.name}_x')")
        elif change == "reindex":
            self.session.run(f"REINDEX INDEX {self.name}_x")
        elif change == "rollback":
            self.session.run(f"BEGIN; INSERT INTO {self.name} VALUES (-1, 0, {sql.quote(self.terms.words[0])}); ROLLBACK")
            self.enter(self.terms.words[0])
        elif change == "parameters":
            self.k1, self.b = self.draw.choice([(1.2, 0.75), (0.5, 0.5), (3.0, 1.0)])
            self.session.run(f"ALTER INDEX {self.name}_x SET (k1 = {self.k1}, b = {self.b})")
        if change in ("vacuum", "reindex"):
            self.entries = [[] if text is None else self.terms.of(text) for text in self.rows.values()]
        return change

    def answer(self, select, uses_index):
        for name in ("indexscan", "bitmapscan"):
            self.session.run(f"SET enable_{name} = {'on' if uses_index else 'off'}")
        for name in ("seqscan", "sort"):
            self.session.run(f"SET enable_{name} = {'off' if uses_index else 'on'}")
        return self.session.run(select)

    def compare(self):
        words = " ".join(self.draw.choices(self.terms.words, k=self.draw.choice([0, 1, 1, 2, 3, 6])))
        where = self.draw.choice(["", "", " WHERE category = 1", " WHERE category <> 2", " WHERE body IS NOT NULL", " WHERE id % 2 = 0"])
        query = self.draw.choice([sql.quote(words), f"to_bm25query('{self.name}_x', {sql.quote(words)})"])
        select = f"SELECT id, body <@> {query} FROM {self.name}{where} ORDER BY body <@> {query}"
        limit = self.draw.choice(["", " LIMIT 5"])
        expected = self.answer(select + ", ctid" + limit, False)
        got = self.answer(select + limit, True)
        plan = "\n".join(self.session.run("EXPLAIN (COSTS OFF) " + select + limit))
        if f"Index Scan using {self.name}_x" not in plan or "Order By" not in plan:
            return f"no index scan\n{select}\n{plan}"
        if got != expected:
            return f"{select}{limit}\nexpected {expected[:20]}\ngot {got[:20]}"
        if self.draw.random() < 0.5:
            return self.compare_scores(words, got)
        return None

    def compare_scores(self, words, got):
        known, formula = {}, Formula(self.terms.of(words), self.entries, self.k1, self.b)
        for line in got:
            number, _, given = line.partition("|")
            text = self.rows[int(number)]
            if (text is None) != (given == ""):
                return f"row {number}: text {text!r} has score {given!r}"
            if text is None:
                continue
            if text not in known:
                known[text] = -formula.score(self.terms.of(text))
            self.scores += 1
            if abs(float(given) - known[text]) > 1e-8 * (1 + len(words)):
                return f"row {number}, words {words!r}, k1 {self.k1}, b {self.b}: score {given}, expected {known[text]}"
        return None

    def run(self):
        for _ in range(STEPS):
            changes = [self.change() for _ in range(3)]
            for _ in range(QUERIES):
                problem = self.compare()
                if problem:
                    return f"after {changes}: {problem}"
        problem = "\n".join(self.session.run(f"SELECT live_rows FROM pigment.check('{self.name}_x')"))
        return None if problem.isdigit() else problem


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(2**32)
    print(f"# seed {seed}", flush=True)
    session = sql.Session()
    session.run("CREATE EXTENSION pigment")
    for language in LANGUAGES:
        if language != "none":
            session.run(f"CREATE TEXT SEARCH DICTIONARY {language}_bare (TEMPLATE = snowball, LANGUAGE = {language})")
    failed, scores = 0, 0
    for number, language in enumerate(LANGUAGES, 1):
        # each table its own, so that one alone can be repeated
        table = Table(session, random.Random(f"{seed} {number}"), number, language)
        problem = table.run()
        scores += table.scores
        print(f"{'not ok' if problem else 'ok'} {number} - ranked texts, {language}", flush=True)
        if problem:
            failed += 1
            print("# " + problem.replace("\n", "\n# "), flush=True)
    session.close()
    is_enough = scores >= SCORES_MIN
    print(f"{'ok' if is_enough else 'not ok'} {len(LANGUAGES) + 1} - {scores} scores compared, at least {SCORES_MIN}")
    print(f"1..{len(LANGUAGES) + 1}")
    return 1 if failed or not is_enough else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""What is asked, and what the answers are by plain Python over the records."""

import collections
import dataclasses
import math
import random
import re

import numpy

WORDS = ("function which using object where provides optional complete debug failed regions advantage adapters assigning "
         "accidentally advisory altra achieves abruptly abandon").split()
PATTERNS = (r"CVE-[0-9]{4}-[0-9]+", r"0x[0-9a-f]{8}", r"https?://[a-z.]+/issues", r"deprecated (since|in) version [0-9]",
            r"ERR_[A-Z_]+", r"fs\.[a-z]+Sync\(", r"(malloc|calloc|realloc)\(", r"CONFIG_[A-Z0-9_]*DEBUG",
            r"pthread_[a-z]+_(init|destroy)", r"[Mm]ust not be (NULL|null|None)")
SHARES = {"50 %": 500, "10 %": 100, "1 %": 10, "0.1 %": 1}  # of the 1,000 buckets
SEARCHES = {"one word": 1, "three words": 3, "30 words": 30}
K = 10


@dataclasses.dataclass
class Question:
    where: dict = None
    text: str = None  # a substring, a pattern or the words of a search
    vector: numpy.ndarray = None
    expected: object = None  # rows in order; of a search, rows by score; of a query, its nearest distances


class Questions:
    def __init__(self, records, queries, query_texts, seed, count):
        self.records, self.queries = records, queries
        self.sources = numpy.array([metadata["source"] for metadata in records.metadatas])
        self.buckets = numpy.arange(len(records.ids)) % 1000
        self.draw = random.Random(seed)
        self.get_few = [self.bucket_question(bucket, 1) for bucket in self.draw.sample(range(1000), count)]
        self.get_many = [self.bucket_question(bucket, 10) for bucket in self.draw.sample(range(990), count)]
        self.query = {name: [self.query_question(at, *self.window(width)) for at in range(count)]
                      for name, width in SHARES.items()}
        self.query["source"] = [self.query_question(at, *self.source()) for at in range(count)]
        self.substring = [Question(text=word, expected=self.rows_with(lambda text, word=word: word in text)) for word in WORDS]
        self.regex = [Question(text=pattern, expected=self.rows_with(re.compile(pattern).search)) for pattern in PATTERNS]
        bm25 = Bm25(records.documents)
        self.search = {name: [bm25.question(self.words(query_texts, words)) for _ in range(count)]
                       for name, words in SEARCHES.items()}

    def rows_with(self, matches):
        return [row for row, text in enumerate(self.records.documents) if matches(text)]

    def bucket_question(self, begin, width):
        where = {"bucket": begin} if width == 1 else {"$and": [{"bucket": {"$gte": begin}}, {"bucket": {"$lt": begin + width}}]}
        return Question(where, expected=numpy.flatnonzero((self.buckets >= begin) & (self.buckets < begin + width)).tolist())

    def window(self, width):
        question = self.bucket_question(self.draw.randrange(1001 - width), width)
        return question.where, question.expected

    def source(self):
        """That of a random row: frequent ones are asked for often."""
        source = str(self.draw.choice(self.sources))
        return {"source": source}, numpy.flatnonzero(self.sources == source).tolist()

    def query_question(self, at, where, rows):
        vector = self.queries[at % len(self.queries)]
        return Question(where, vector=vector, expected=numpy.sort(distances(vector, self.records.vectors[rows]))[:K])

    def words(self, texts, count):
        """Words of one of the passages that are no records; of all of its words when it has fewer."""
        while True:
            some = [word for word in re.findall("[a-z]{4,}", self.draw.choice(texts).lower())]
            if len(some) >= count:
                return self.draw.sample(some, count)


def distances(vector, vectors):
    """By cosine, in double."""
    vectors, vector = vectors.astype(numpy.float64), vector.astype(numpy.float64)
    return 1 - vectors @ vector / (numpy.linalg.norm(vectors, axis=1) * numpy.linalg.norm(vector))


class Bm25:
    """k1 1.2, b 0.75, over lower-case words by their Snowball stems. The contestants divide texts into words by rules of
    their own and leave out stop words, so that their best ten are near to these, not equal."""

    def __init__(self, documents):
        import snowballstemmer

        self.stemmer, self.stems = snowballstemmer.stemmer("english"), {}
        self.postings, self.lengths = collections.defaultdict(list), []
        for row, document in enumerate(documents):
            counts = collections.Counter(map(self.stem, re.findall(r"\w+", document.lower())))
            self.lengths.append(sum(counts.values()))
            for stem, count in counts.items():
                self.postings[stem].append((row, count))

    def stem(self, word):
        if word not in self.stems:
            self.stems[word] = self.stemmer.stemWord(word)
        return self.stems[word]

    def question(self, words):
        scores, average = collections.defaultdict(float), sum(self.lengths) / len(self.lengths)
        for stem, times in collections.Counter(map(self.stem, words)).items():
            rows = self.postings.get(stem, ())
            idf = math.log(1 + (len(self.lengths) - len(rows) + 0.5) / (len(rows) + 0.5))
            for row, count in rows:
                scores[row] += times * idf * 2.2 * count / (count + 1.2 * (0.25 + 0.75 * self.lengths[row] / average))
        return Question(text=" ".join(words), expected=dict(scores))


def agreement(question, rows):
    """Which part of `rows` has a score that is, within a hundredth, among the best by the oracle."""
    best = sorted(question.expected.values(), reverse=True)[:K]
    if not best:
        return 1.0 if not rows else 0.0
    return sum(question.expected.get(row, 0) >= best[-1] * 0.99 for row in rows) / len(best)


def recall(question, found):
    """Which part of the nearest is found, by distance, so that ties count."""
    return sum(found <= question.expected[-1] + 1e-6) / len(question.expected) if len(question.expected) else 1.0

# SPDX-License-Identifier: Apache-2.0
"""Random steps in the form of the conformance scripts: a function of a random generator and of the ids that are there."""

import struct

from stores import EXACT_WIDTH, LETTERS

NAMES = ("docs", "notes", "pages")
SPACES = ("l2", "cosine", "ip")
DIMENSIONS = (2, 3, 8)
IDS = [f"r{number}" for number in range(60)] + ["ключ", "日本", "with space", 'quo"te', "a\\b"]
KEYS = ("a", "b", "c", "list", "ключ \"q\"")
WORDS = ("alpha", "beta", "Gamma", "delta", "naïve", "日本語", "x", "a'b", 'quo"te', "back\\slash", "line\nbreak", "100%",
         "_like_", "tab\there", "🙂", "ALPHA", "cab")
URIS = ("file:///a.txt", "file:///б.txt", "s3://x/y?z=1")
PATTERNS = ("^al", "a$", "(?i)alpha", "[bd]e.ta?", "日.語", "x|y", "b{1}e", ".", "(?s)e.b", "(?m)^break", "a'b", "[^a-z ]")
CLASS_PATTERNS = ("\\w+ve", "\\bx\\b", "na\\wve", "\\d", "\\s\\S+\\s", "\\W")  # ASCII to one, Unicode to the other
READ_COLUMNS = ("documents", "metadatas", "embeddings", "uris")


class Stream:
    """One life of a store. `known` gives the ids of a collection by its handle."""

    def __init__(self, rng, known):
        self.rng, self.known = rng, known
        self.alive = {}  # handle -> Facts
        self.made = 0
        self.waiting = []
        self.has_lists = rng.random() < 0.7  # else collections are deleted: difference leftover-lists

    def next(self):
        if self.waiting:
            return self.waiting.pop(0)
        if not self.alive:
            return self.create()
        makers, weights = zip(*STEPS)
        step = self.rng.choices(makers, weights)[0](self)
        return step or self.next()

    # ---- Collections

    def create(self):
        rng = self.rng
        free = sorted(set(NAMES) - {facts["name"] for facts in self.alive.values()})
        if not free:
            return None
        self.made += 1
        handle, function = f"{free[0]}-{self.made}", rng.random() < 0.3
        facts = {"name": free[0], "space": rng.choice(SPACES), "function": function,
                 "dimension": LETTERS if function else rng.choice(DIMENSIONS)}
        self.alive[handle] = facts
        args = {"name": facts["name"], "as": handle, "configuration": {
            "hnsw": {"space": facts["space"], "ef_search": EXACT_WIDTH, "ef_construction": 200, "max_neighbors": 64}}}
        if function:
            args["function"] = {"name": "letters", "dimension": LETTERS}
        if rng.random() < 0.5:
            args["metadata"] = self.collection_metadata()
        if rng.random() < 0.3:
            args["get_or_create"] = True
        return {"op": "create_collection", "args": args}

    def create_again(self):
        handle, facts = self.some()
        if self.rng.random() < 0.5:
            return {"op": "create_collection", "args": {"name": facts["name"], "as": "refused"}}
        args = {"name": facts["name"], "as": handle, "get_or_create": True, "metadata": {"other": 1}}
        return {"op": "create_collection", "args": {**args, **self.function_of(facts)}}

    def get_again(self):
        handle, facts = self.some()
        return self.getting(handle, facts)

    @staticmethod
    def function_of(facts):
        return {"function": {"name": "letters", "dimension": LETTERS}} if facts["function"] else {}

    def getting(self, handle, facts):
        return {"op": "get_collection", "args": {"name": facts["name"], "as": handle, **self.function_of(facts)}}

    def delete_collection(self):
        if self.has_lists:
            return None
        handle, facts = self.some()
        del self.alive[handle]
        stale = [{"op": "count", "args": {"collection": handle}}, {"op": "get", "args": {"collection": handle}},
                 {"op": "delete", "args": {"collection": handle, "ids": ["r1"]}},
                 {"op": "get_collection", "args": {"name": facts["name"], "as": "refused"}},
                 {"op": "delete_collection", "args": {"name": facts["name"]}}]
        self.waiting += self.rng.sample(stale, 2)
        return {"op": "delete_collection", "args": {"name": facts["name"]}}

    def modify(self):
        handle, facts = self.some()
        args, how = {"collection": handle}, self.rng.random()
        if how < 0.4:
            args["metadata"] = self.collection_metadata()
        elif how < 0.6:
            args["configuration"] = {"hnsw": {"ef_search": EXACT_WIDTH + self.rng.randint(1, 9)}}
        else:
            free = sorted(set(NAMES) - {one["name"] for one in self.alive.values()})
            if not free:
                return None
            args["name"] = facts["name"] = free[0]
        self.waiting.append({"op": "describe", "args": {"collection": handle}})
        return {"op": "modify", "args": args}

    def list_collections(self):
        args = {}
        if self.rng.random() < 0.5:
            args = {"limit": self.rng.randint(0, 3), "offset": self.rng.randint(0, 3)}
        return {"op": "list_collections", "args": args}

    def reopen(self):
        self.waiting += [self.getting(handle, facts) for handle, facts in self.alive.items()]
        return {"op": "reopen"}

    # ---- Records

    def write(self):
        rng = self.rng
        operation = rng.choice(("add", "add", "upsert", "upsert", "update"))
        handle, facts = self.some()
        count = rng.choice((1, 1, 2, 5, 20))
        ids = rng.sample(IDS, count)
        if rng.random() < 0.03:  # large enough for indexes of its own
            ids = [f"many{number}" for number in range(rng.randint(70, 200))]
        if operation == "update":
            ids = self.known_ids(handle, 20)
            if not ids:
                return None
        args = {"collection": handle, "ids": ids}
        embedded = facts["function"] and rng.random() < 0.7
        if not embedded and (operation != "update" or rng.random() < 0.5):
            args["embeddings"] = [self.vector(facts["dimension"]) for _ in ids]
        if embedded or rng.random() < 0.6:
            some = 1 if "embeddings" not in args else 0.85
            args["documents"] = [self.document() if rng.random() < some else None for _ in ids]
            if "embeddings" not in args and not facts["function"]:
                del args["documents"]
        if operation == "update" and not args.keys() & {"embeddings", "documents"}:  # else: difference ignored-update
            args["ids"] = ids = sorted({*ids, rng.choice(IDS)})
        if rng.random() < 0.8:
            args["metadatas"] = [self.metadata(operation) for _ in ids]
        if rng.random() < 0.25 and "embeddings" in args:
            args["uris"] = [rng.choice(URIS) for _ in ids]
        return {"op": operation, "args": args}

    def delete(self):
        rng = self.rng
        handle, _ = self.some()
        args, how = {"collection": handle}, rng.random()
        if how < 0.5:
            args["ids"] = self.known_ids(handle, 5)
            if rng.random() < 0.1:
                args["ids"] = args["ids"] + ["never"]
        if how > 0.4:
            # Nothing on which the two differ: they would hold different records afterwards.
            if rng.random() < 0.7:
                args["where"] = self.where(fractions=False)
            else:
                args["where_document"] = self.where_document(classes=False)
            if rng.random() < 0.6:
                args["limit"] = rng.randint(0, 6)
        return {"op": "delete", "args": args} if args.get("ids") or how > 0.4 else None

    def get(self):
        rng = self.rng
        handle, _ = self.some()
        args = {"collection": handle, **self.filters()}
        if rng.random() < 0.3:
            args["ids"] = rng.sample(IDS, rng.randint(1, 8))
        if rng.random() < 0.3:
            args["limit"] = rng.randint(0, 12)
        if rng.random() < 0.2:
            args["offset"] = rng.randint(0, 8)
        if rng.random() < 0.7:
            args["include"] = [name for name in READ_COLUMNS if rng.random() < 0.5]
        return {"op": "get", "args": args}

    def peek(self):
        return {"op": "peek", "args": {"collection": self.some()[0], "limit": self.rng.randint(0, 12)}}

    def count(self):
        return {"op": "count", "args": {"collection": self.some()[0]}}

    def query(self):
        rng = self.rng
        handle, facts = self.some()
        args = {"collection": handle, **self.filters(), "n_results": rng.choice((1, 2, 5, 10, 300))}
        if facts["function"] and rng.random() < 0.5:
            args["texts"] = [self.document() for _ in range(rng.randint(1, 3))]
        else:
            args["embeddings"] = [self.vector(facts["dimension"]) for _ in range(rng.randint(1, 3))]
        if rng.random() < 0.2:
            args["ids"] = self.known_ids(handle, 10)
            if rng.random() < 0.05:
                args["ids"] = args["ids"] + ["never"]
            if not args["ids"]:
                del args["ids"]
        if rng.random() < 0.7:
            args["include"] = [name for name in READ_COLUMNS if rng.random() < 0.5] + ["distances"] * (rng.random() < 0.85)
        return {"op": "query", "args": args}

    def some(self):
        handle = self.rng.choice(sorted(self.alive))
        return handle, self.alive[handle]

    def known_ids(self, handle, most):
        there = self.known(handle)
        return self.rng.sample(there, min(len(there), self.rng.randint(1, most)))

    # ---- Values

    def vector(self, dimension):
        rng = self.rng
        how = rng.random()
        if how < 0.03:
            return [0.0] * dimension
        if how < 0.5:  # ties of every kind
            return [float(rng.randint(-2, 2)) for _ in range(dimension)]
        values = [rng.gauss(0, rng.choice((1, 100))) for _ in range(dimension)]
        return list(struct.unpack(f"{dimension}f", struct.pack(f"{dimension}f", *values)))

    def document(self):
        return " ".join(self.rng.choice(WORDS) for _ in range(self.rng.randint(0, 6)))

    def integer(self):
        rng = self.rng
        return rng.choice((-2**63, 2**63 - 1, 2**53 + 1, -2**53, 10**15)) if rng.random() < 0.1 else rng.randint(-3, 3)

    def scalar(self, fractions=True):
        rng = self.rng
        how = rng.random()
        if how < 0.3:
            return rng.choice(WORDS) if rng.random() < 0.9 else ""
        if how < 0.6:
            return self.integer()
        if how < 0.85:
            if rng.random() < 0.1:
                return rng.choice((1e-300, 1.5e300, 0.1, 2.0**60)) if fractions else 2.0**53
            return float(rng.randint(-3, 3)) + (rng.choice((0, 0.5)) if fractions else 0)
        return rng.random() < 0.5

    def list(self, fractions=True):
        first = self.scalar(fractions)
        values = [first]
        while len(values) < self.rng.randint(1, 4):
            value = self.scalar(fractions)
            if type(value) is type(first):
                values.append(value)
        return values

    def metadata(self, operation):
        rng = self.rng
        if rng.random() < 0.15:
            return None
        metadata = {key: self.scalar() for key in KEYS if key != "list" and rng.random() < 0.5}
        if self.has_lists and rng.random() < 0.3:
            metadata["list"] = self.list()
        if self.has_lists and rng.random() < 0.1:
            metadata["a"] = self.list()  # the same key holds scalars and lists
        if operation != "add" and rng.random() < 0.3:
            metadata[rng.choice(KEYS)] = None
        return metadata or {"only": 1}

    def collection_metadata(self):
        rng = self.rng
        return {rng.choice("xyz"): self.scalar() for _ in range(rng.randint(1, 3))}

    # ---- Filters

    def filters(self):
        filters = {}
        if self.rng.random() < 0.45:
            filters["where"] = self.where()
        if self.rng.random() < 0.25:
            filters["where_document"] = self.where_document()
        return filters

    def where(self, fractions=True, depth=0):
        rng = self.rng
        if depth < 3 and rng.random() < 0.3:
            return {rng.choice(("$and", "$or")): [self.where(fractions, depth + 1) for _ in range(rng.randint(2, 3))]}
        key = rng.choice((*KEYS, "missing", "chroma:uri"))
        if key == "chroma:uri" and rng.random() < 0.7:
            return {key: rng.choice(URIS)}
        operator = rng.choice(("$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$contains", "$not_contains", ""))
        if operator in ("$in", "$nin"):
            return {key: {operator: self.list(fractions)}}
        operand = self.scalar(fractions)
        while operator in ("$gt", "$gte", "$lt", "$lte") and isinstance(operand, (str, bool)):
            operand = self.scalar(fractions)
        return {key: {operator: operand} if operator else operand}

    def where_document(self, classes=True, depth=0):
        rng = self.rng
        if depth < 2 and rng.random() < 0.25:
            return {rng.choice(("$and", "$or")): [self.where_document(classes, depth + 1) for _ in range(rng.randint(2, 3))]}
        operator = rng.choice(("$contains", "$not_contains", "$regex", "$not_regex"))
        if operator.endswith("contains"):
            return {operator: rng.choice((*WORDS, "a", "a b", "%", "_", "\\"))}
        return {operator: rng.choice(CLASS_PATTERNS if classes and rng.random() < 0.1 else PATTERNS)}

    # ---- What both refuse

    def refused(self):
        handle, facts = self.some()
        good = {"collection": handle, "ids": ["r1"], "embeddings": [self.vector(facts["dimension"])]}
        other = next((one["name"] for one in self.alive.values() if one is not facts), None)
        steps = [{"op": op, "args": {**good, **bad}} for op in ("add", "upsert", "update") for bad in BAD_RECORDS]
        steps += [{"op": op, "args": {"collection": handle, "ids": ["r1"], "embeddings": [[1.0] * 5]}}
                  for op in ("add", "upsert")] if self.known(handle) else []
        steps += [{"op": "add", "args": {"collection": handle, "ids": ["new"]}}]
        steps += [{"op": op, "args": {"collection": handle, **extra, **bad}} for bad in BAD_FILTERS for op, extra in
                  (("get", {}), ("delete", {}), ("query", {"embeddings": good["embeddings"]}))]
        steps += [{"op": op, "args": {"collection": handle, **bad}} for op, bad in BAD_READS]
        steps += [{"op": "query", "args": {"collection": handle, "embeddings": good["embeddings"], **bad}}
                  for bad in ({"n_results": 0}, {"n_results": -3})]
        steps += [{"op": "create_collection", "args": {"name": name, "as": "refused"}} for name in BAD_NAMES]
        steps += [{"op": "create_collection", "args": {"name": "unmade", "as": "refused", **bad}} for bad in BAD_COLLECTIONS]
        steps += [{"op": "modify", "args": {"collection": handle, **bad}} for bad in BAD_CHANGES]
        steps += [{"op": "modify", "args": {"collection": handle, "name": other}}] if other else []
        return self.rng.choice(steps)


STEPS = ((Stream.write, 28), (Stream.get, 24), (Stream.query, 18), (Stream.delete, 7), (Stream.refused, 9),
         (Stream.peek, 2), (Stream.count, 3), (Stream.modify, 2), (Stream.create, 3), (Stream.create_again, 1),
         (Stream.get_again, 1), (Stream.delete_collection, 2), (Stream.list_collections, 1.5),
         (lambda self: {"op": "count_collections"}, 1), (lambda self: {"op": "flush"}, 4), (Stream.reopen, 1))

BAD_RECORDS = (
    {"ids": []}, {"ids": [""]}, {"ids": ["r1", "r1"], "embeddings": [[1.0, 2.0], [1.0, 2.0]]}, {"ids": ["r1", "r2"]},
    {"embeddings": [[]]}, {"metadatas": [{}]}, {"metadatas": [{"a": {"b": 1}}]}, {"metadatas": [{"a": []}]},
    {"metadatas": [{"a": [1, "x"]}]}, {"metadatas": [{"a": [True, 1]}]}, {"metadatas": [{"": 1}]},
    {"metadatas": [{"#a": 1}]}, {"metadatas": [{"$a": 1}]}, {"metadatas": [{"chroma:document": "x"}]},
    {"metadatas": [{"a": [[1]]}]})
BAD_FILTERS = (
    {"where": {}}, {"where": {"a": 1, "b": 2}}, {"where": {"a": {"$in": []}}}, {"where": {"a": {"$in": [1, "x"]}}},
    {"where": {"a": {"$in": [1, True]}}}, {"where": {"a": {"$gt": "x"}}}, {"where": {"a": {"$gt": True}}},
    {"where": {"a": {"$like": "x"}}}, {"where": {"a": {"$gt": 1, "$lt": 2}}}, {"where": {"a": [1]}},
    {"where": {"a": None}}, {"where": {"$or": []}}, {"where": {"$not": [{"a": 1}, {"b": 1}]}},
    {"where_document": {}}, {"where_document": {"$contains": ""}}, {"where_document": {"$contains": 1}},
    {"where_document": {"$like": "x"}}, {"where_document": {"$regex": "("}}, {"where_document": {"$regex": "(?=x)x"}},
    {"where_document": {"$regex": "(a)\\1"}}, {"where_document": {"$and": []}}, {"where_document": {"$contains": "x", "$regex": "y"}})
BAD_READS = (
    ("get", {"ids": []}), ("get", {"ids": ["r1", "r1"]}), ("get", {"limit": -1}), ("get", {"offset": -1}),
    ("get", {"include": ["distances"]}), ("delete", {}), ("delete", {"ids": ["r1"], "limit": 2}),
    ("delete", {"where": {"a": 1}, "limit": -1}), ("delete", {"ids": []}), ("delete", {"ids": ["r1", "r1"]}), ("query", {}),
    ("query", {"texts": ["alpha"], "n_results": 0}))
BAD_NAMES = ("ab", "", "-docs", "docs-", "do..cs", "192.168.0.1", "do cs", "d/cs", "наброски", "a" * 513)
BAD_COLLECTIONS = (
    {"metadata": {}}, {"metadata": {"#a": 1}}, {"metadata": {"": 1}}, {"metadata": {"a": {"b": 1}}},
    {"configuration": {"hnsw": {"space": "manhattan"}}}, {"configuration": {"hnsw": {"space": "l2"}, "spann": {"space": "l2"}}})
BAD_CHANGES = ({"metadata": {}}, {"name": "ab"}, {"metadata": {"hnsw:space": "ip"}}, {"configuration": {"hnsw": {"space": "ip"}}})

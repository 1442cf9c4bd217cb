# SPDX-License-Identifier: Apache-2.0
"""Random tables, rows and conditions: a pigment index must give what PostgreSQL gives without it.

usage: filters.py LIBPIGMENT [SEED]; the server is found through libpq's environment variables. Prints one TAP line for
each table. Every query runs twice, with index and bitmap scans off and with nothing but them, as an ordinary user: the
same rows, in the same order of distance, ties as sets. Between queries rows are inserted, updated and deleted, the table
is vacuumed, the index merged or rebuilt.
"""

import json
import pathlib
import random
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))

import sql

TABLES = 20
STEPS = 9  # of changes in a table
QUERIES = 28  # after each
QUERIES_MIN = 5000  # of all together, compared

WORDS = ["", "a", "A", "ab", "b", "ba", "Zoë", "zoe", "日本語", "x" * 255, "x" * 256, "x" * 257, "x" * 256 + "y", "ÿ",
         "-", " a", "a ", "NULL", "{}", "don''t"]
INTEGERS = {"int2": [-32768, 32767], "int4": [-2**31, 2**31 - 1], "int8": [-2**63, 2**63 - 1]}
FLOATS = ["NaN", "Infinity", "-Infinity", "0", "-0", "0.1", "-0.1", "1e-30", "1e30", "3", "16777217", "-3.5"]
NUMERICS = ["NaN", "Infinity", "-Infinity", "0", "0.00", "1", "1.0", "-1", "10", "100", "99.99", "0.01", "0.010", "-0.01", "1e50",
            "123456789012345678901234567890.123", "-123456789012345678901234567890.124", "0.5", "-100", "7" * 600,
            "7" * 600 + ".1", "-" + "7" * 601]
DATES = ["infinity", "-infinity", "2000-01-01", "1999-12-31", "4713-01-01 BC", "2024-02-29"]
TIMES = ["infinity", "-infinity", "2000-01-01 00:00:00", "1999-12-31 23:59:59.999999", "2024-02-29 12:00:00.000001"]
UUIDS = ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
         "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12"]
COMPARISONS = ["=", "=", "<", "<=", ">", ">="]
# A cast of jsonb that a row does not take: with the index nobody may look at that row.
NO_VALUE = ["invalid input syntax for type", "cannot cast jsonb", "is out of range for type", "out of range"]


class Scalar:
    """A type of columns: its literals, and types that its values may be compared with."""

    def __init__(self, name, literal, others=(), collation=""):
        self.name, self.literal, self.others, self.collation = name, literal, [name, *others], collation


def integer(draw, name):
    """Few values, the extremes, or so many that their index has shortcuts through its lists."""
    return str(draw.choice([draw.randint(-3, 12), draw.randint(0, 8000), draw.choice(INTEGERS[name])]))


def scalars():
    texts = lambda draw: draw.choice(WORDS)
    return [
        *[Scalar(name, lambda draw, name=name: integer(draw, name), INTEGERS) for name in INTEGERS],
        *[Scalar(name, lambda draw: draw.choice(FLOATS), ["float4", "float8"]) for name in ["float4", "float8"]],
        Scalar("numeric", lambda draw: draw.choice(NUMERICS)),
        Scalar("text", texts, collation=' COLLATE "C"'),
        Scalar("text", texts, collation=' COLLATE "en-x-icu"'),
        Scalar("varchar", texts, ["text"], ' COLLATE "C"'),
        Scalar("bool", lambda draw: draw.choice(["t", "f"])),
        Scalar("uuid", lambda draw: draw.choice(UUIDS)),
        Scalar("date", lambda draw: draw.choice(DATES)),
        Scalar("timestamp", lambda draw: draw.choice(TIMES)),
        Scalar("timestamptz", lambda draw: draw.choice(TIMES)),
    ]


class Column:
    def __init__(self, draw, name):
        self.name, self.scalar, self.is_list = name, draw.choice(scalars()), draw.random() < 0.25

    @property
    def kind(self):
        return self.scalar.name + ("[]" if self.is_list else "")

    @property
    def key(self):
        return self.name

    def declaration(self):
        return f"{self.name} {self.kind}{self.scalar.collation}"

    def literal(self, draw, kind=None):
        """A value, or NULL, as an expression."""
        kind = kind or self.scalar.name
        # a value that another type does not hold is none of this test's
        text = self.scalar.literal(draw)
        if kind == "int2" or (kind == "int4" and abs(int(text)) > 2**31 - 1):
            text = text if abs(int(text)) < 32768 else "7"
        return f"'{text}'::{kind}"

    def list_literal(self, draw, kind=None):
        elements = ["NULL" if draw.random() < 0.1 else self.literal(draw, kind) for _ in range(draw.choice([0, 1, 1, 2, 2, 3, 5]))]
        return f"ARRAY[{', '.join(elements)}]::{kind or self.scalar.name}[]"

    def value(self, draw):
        if draw.random() < 0.15:
            return "NULL"
        return self.list_literal(draw) if self.is_list else self.literal(draw)

    def condition(self, draw):
        if draw.random() < 0.15:
            return f"{self.name} IS {draw.choice(['', 'NOT '])}NULL"
        if self.is_list:
            return f"{self.name} {draw.choice(['&&', '@>', '@>', '<@', '='])} {self.list_literal(draw)}"
        kind = draw.choice(self.scalar.others) if draw.random() < 0.4 else self.scalar.name
        if self.scalar.name == "bool" and draw.random() < 0.5:
            return draw.choice([self.name, f"NOT {self.name}"])
        if self.scalar.name in ("text", "varchar") and draw.random() < 0.3:
            return f"{self.name} {pattern(draw)}"
        if draw.random() < 0.25:
            return f"{self.name} {draw.choice(COMPARISONS)} ANY ({self.list_literal(draw, kind)})"
        if draw.random() < 0.2 and self.scalar.name != "bool":
            return f"{self.name} BETWEEN {self.literal(draw, kind)} AND {self.literal(draw, kind)}"
        return f"{self.name} {draw.choice(COMPARISONS)} {self.literal(draw, kind)}"


def pattern(draw):
    """LIKE or ^@ with the beginning of a word, and perhaps more."""
    word = draw.choice(WORDS).replace("''", "'")
    beginning = word[:draw.choice([0, 1, 2, len(word), len(word)])]
    if draw.random() < 0.2:
        beginning = beginning.replace("a", "\\a")
    if draw.random() < 0.2:
        return f"^@ {quoted(beginning)}"
    if draw.random() < 0.1:
        return f"LIKE ANY (ARRAY[{quoted(beginning + '%')}, {quoted(word)}])"
    return f"LIKE {quoted(beginning + draw.choice(['', '%', '%', '%%', '_', '_%', '%b', '%_']))}"


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


class Searched:
    """A column of texts in which is searched, by an operator class of its own."""

    COLLATIONS = ["C", "en-x-icu", "tr-x-icu", "lt-x-icu", "el-x-icu", "default"]
    PIECES = ["a", "B", "ab", "Foo", "foo", "BAR", "kiss", "KISS", "KiSS", "index", "INDEX", " ", "  ", "-", ".", "%", "_", "\\", "1", "22",
              "Straße", "STRASSE", "STRAẞE", "Größe", "GRÖSSE", "größe", "İstanbul", "ISPARTA", "ısı", "ILIK", "ılık", "istanbul",
              "ΟΔΥΣΣΕΥΣ", "οδυσσεύς", "Οδυσσέας", "ΣΑΣ", "σας", "Москва", "МОСКВА", "ёлка", "ЁЛКА", "\u212a", "K", "k", "\u017f", "S", "s",
              "I\u0307", "i\u0307", "J\u0301", "j\u0307\u0301", "Ì", "ì", "i\u0307\u0300", "\u212b", "å", "Å", "\u2126", "ω", "\u03f4", "Θ", "ÿ", "Ÿ",
              "ǅ", "ǆ", "ﬁ", "FI", "Ａ", "ａ", "Ა", "ა", "日本語", "日", "本", "東京都", "한국어", "🙂", "🙃", "👩\u200d🚀", "ĳ", "Ĳ", "Đ", "đ", "ế", "Ế"]

    def __init__(self, draw, name):
        self.name = name
        self.collation = draw.choice(self.COLLATIONS)

    @property
    def key(self):
        return f"{self.name} text_trgm_ops"

    def declaration(self):
        return f'{self.name} text COLLATE "{self.collation}"'

    def text(self, draw):
        if draw.random() < 0.003:
            return "".join(draw.choices(self.PIECES, k=600))
        return "".join(draw.choices(self.PIECES, k=draw.choice([0, 1, 1, 2, 2, 3, 4, 6, 9, 30])))

    def value(self, draw):
        return "NULL" if draw.random() < 0.1 else quoted(self.text(draw))

    def needle(self, draw):
        """A piece of a text, perhaps in another case."""
        text = "".join(draw.choices(self.PIECES, k=draw.choice([1, 1, 2, 3])))
        begin = draw.randint(0, max(len(text) - 1, 0))
        needle = text[begin:begin + draw.choice([0, 1, 2, 3, 4, 5, 8])]
        return draw.choice([needle, needle, needle.upper(), needle.lower(), needle.swapcase()])

    def like(self, draw):
        escaped = "".join("\\" + c if c in "%_\\" or draw.random() < 0.03 else c for c in self.needle(draw))
        return draw.choice(["%{}%", "%{}%", "%{}", "{}%", "{}", "%{}_%", "_{}%", "%{}%{}%", "%{}_{}%"]).format(
            *[escaped, "".join("\\" + c if c in "%_\\" else c for c in self.needle(draw))])

    def literal(self, draw):
        return "".join("\\" + c if c in ".%-*+?()[]{}|^$\\" else c for c in self.needle(draw))

    def atom(self, draw, depth):
        kind = draw.random()
        if kind < 0.5 or depth > 2:
            return self.literal(draw) or "a"
        if kind < 0.62:
            return draw.choice([".", "\\w", "\\d", "\\s", "\\S", "[[:alpha:]]", "[^a]", "[a-f]", "[A-Z0-9]", "[aB]", "[İi]", "[ſk]", "[]a]", "\\u0041"])
        if kind < 0.7:
            return draw.choice(["^", "$", "\\y", "\\m", "\\M", "\\A", "\\Z", "(?=a)", "(?!b)", "(?<=o)", "(?<!x)"])
        return draw.choice(["({})", "(?:{})"]).format(self.regex(draw, depth + 1))

    def regex(self, draw, depth=0):
        branches = []
        for _ in range(draw.choice([1, 1, 1, 2, 3])):
            branch = ""
            for _ in range(draw.choice([1, 1, 2, 3])):
                atom = self.atom(draw, depth)
                can_repeat = atom[0] not in "^$" and not atom.startswith(("\\y", "\\m", "\\M", "\\A", "\\Z", "(?=", "(?!", "(?<"))
                branch += atom
                if can_repeat and draw.random() < 0.3:
                    branch += draw.choice(["*", "+", "?", "*?", "+?", "{1,3}", "{2}", "{0,1}", "{1,}"])
            branches.append(branch)
        pattern = "|".join(branches)
        if depth:
            return pattern
        return draw.choice([""] * 12 + ["(?i)", "(?x)", "***:", "(?n)"]) + pattern + draw.choice([""] * 15 + ["(a|B)\\1"])

    def condition(self, draw):
        kind = draw.random()
        if kind < 0.05:
            return f"{self.name} IS {draw.choice(['', 'NOT '])}NULL"
        if kind < 0.1:
            return f"{self.name} {draw.choice(COMPARISONS)} {quoted(self.text(draw))}"
        if kind < 0.15:
            return f"{self.name} ^@ {quoted(self.needle(draw))}"
        if kind < 0.2:
            patterns = ", ".join(quoted(self.like(draw)) for _ in range(draw.randint(1, 3)))
            return f"{self.name} {draw.choice(['LIKE', 'ILIKE'])} ANY (ARRAY[{patterns}, NULL])"
        if kind < 0.6:
            return f"{self.name} {draw.choice(['LIKE', 'ILIKE', 'ILIKE'])} {quoted(self.like(draw))}"
        if kind < 0.63:
            return f"{self.name} SIMILAR TO {quoted('%' + self.literal(draw).replace('_', '') + '%')}"
        return f"{self.name} {draw.choice(['~', '~*', '~*'])} {quoted(self.regex(draw))}"


class Documents:
    """A column of jsonb."""

    KEYS = ["a", "b", "tags", "", "ä", "0", "x" * 126, "x" * 130]
    VALUES = ['"a"', '"b"', "1", "1.0", "1e2", "100", "-0.5", "true", "false", "null", '""', '"' + "y" * 140 + '"', '"1"', '"true"', '"{}"', '"z' + "z" * 300 + '"']
    # by key what casts of its values take, whatever is drawn
    CAST = {
        "int": ["5", '"5"', '" 7 "', '"+3"', '"-2"', "-2", "0", "100", '"007"', "null", "32767", '"100"'],
        "real": ["0.5", '"0.5"', '"1e2"', "100", '"NaN"', '"Infinity"', '"-inf"', '".5"', '"5."', "16777217", '"16777217.4"', "-0.1", "1e20", '"1E-3"', "null",
                 "0.30000000000000004", '"0.3"', "123456789.123456789"],
        "bool": ["true", "false", '"t"', '"YES"', '" on "', '"off"', "1", "0", '"0"', '"n"', '"tr"', '"FALSE"', "null"],
        "number": ["1", "1.5", "2.5", "-0.5", "100", "3", "0.30000000000000004", "1e15", "-1.5", "16777217"],
    }
    OPERANDS = {
        "int": [("int4", ["5", "7", "3", "0", "-2", "100", "6"]), ("int8", ["5", "99999999999", "-2"]), ("numeric", ["4.5", "5.0", "NaN", "-2.00"]), ("float8", ["5", "4.5", "1e30", "NaN"])],
        "real": [("float8", ["0.5", "100", "NaN", "Infinity", "-Infinity", "16777217", "0.3", "0.1", "1e20", "-1e-300"]), ("float4", ["0.5", "16777216", "0.3", "NaN"]),
                 ("numeric", ["0.5", "100", "16777217.4", "0.30000000000000004"]), ("int4", ["0", "100", "16777217"])],
    }

    def __init__(self, draw, name):
        self.name = name

    @property
    def key(self):
        return self.name

    def declaration(self):
        return f"{self.name} jsonb"

    def member(self, draw, depth):
        if draw.random() < 0.35:
            key = draw.choice(list(self.CAST))
            return f'"{key}": {draw.choice(self.CAST[key])}'
        return f'"{draw.choice(self.KEYS)}": {self.text(draw, depth)}'

    def text(self, draw, depth=0):
        shape = draw.random()
        if shape < (0.3 if depth else 0.1) or depth > 2:
            return draw.choice(self.VALUES)
        count = draw.choice([0, 1, 1, 2, 3])
        if shape < 0.5:
            return "[" + ", ".join(self.text(draw, depth + 1) for _ in range(count)) + "]"
        return "{" + ", ".join(self.member(draw, depth + 1) for _ in range(count + (depth == 0))) + "}"

    def value(self, draw):
        return "NULL" if draw.random() < 0.15 else f"'{self.text(draw)}'::jsonb"

    def condition(self, draw):
        kind = draw.random()
        if kind < 0.05:
            return f"{self.name} IS {draw.choice(['', 'NOT '])}NULL"
        keys = lambda: "ARRAY[" + ", ".join(f"'{key}'" for key in draw.choices(self.KEYS, k=draw.randint(0, 3))) + "]::text[]"
        if kind < 0.12:
            return f"{self.name} ? '{draw.choice(self.KEYS + ['1'])}'"
        if kind < 0.2:
            return f"{self.name} {draw.choice(['?|', '?&'])} {keys()}"
        if kind < 0.3:
            return f"{self.name} @> '{self.text(draw)}'::jsonb"
        if kind < 0.45:
            return f"{self.name} @? {quoted(draw.choice(['', '', 'strict ', 'lax ']) + self.path(draw))}"
        if kind < 0.55:
            return f"{self.name} @@ {quoted(draw.choice(['', '', 'strict ']) + draw.choice([self.path, self.predicate])(draw, '$'))}"
        return self.expression(draw)

    def inner(self, draw):
        """An expression of jsonb in the column."""
        steps = [f" -> '{draw.choice(self.KEYS)}'" for _ in range(draw.choice([0, 0, 0, 0, 1, 2]))]
        if draw.random() < 0.1:
            steps.append(f" -> {draw.choice([0, 0, 1, -1])}")
        return self.name + "".join(steps)

    def at(self, draw, key):
        """The value of a key, as text."""
        inner = self.inner(draw)
        if inner == self.name and draw.random() < 0.2:
            return draw.choice([f"({inner} #>> '{{{key}}}')", f"jsonb_extract_path_text({inner}, '{key}')"])
        return f"({inner} ->> '{key}')"

    def expression(self, draw):
        kind = draw.random()
        if kind < 0.2:
            return self.cast_condition(draw, "int", draw.choice(["int2", "int4", "int4", "int8", "numeric", "float8"]))
        if kind < 0.35:
            return self.cast_condition(draw, "real", draw.choice(["float8", "float8", "float4", "numeric"]))
        if kind < 0.45:
            boolean = f"{self.at(draw, 'bool')}::bool"
            return draw.choice(["{}", "NOT {}", "{} = false", "{} IS TRUE", "{} IS FALSE", "{} IS NOT TRUE", "{} IS NULL", "{} = ANY (ARRAY[true])"]).format(boolean)
        if kind < 0.52:
            number = f"({self.inner(draw)} -> 'number')::{draw.choice(['int4', 'int8', 'numeric', 'float8', 'float4'])}"
            return f"{number} {draw.choice(COMPARISONS)} {draw.choice(['1', '2', '1.5', '3', '-1', '0.3::float8', '100'])}"
        path = draw.choices(["a", "b", "tags", "ä"], k=draw.randint(0, 2))
        text = draw.choice([
            lambda: self.at(draw, draw.choice(self.KEYS)), lambda: self.at(draw, draw.choice(self.KEYS)),
            lambda: f"({self.inner(draw)} ->> {draw.choice([0, 1, -1])})",
            lambda: f"({self.name} #>> '{{{','.join(path + draw.choice([[], ['0']]))}}}')"])()
        json = draw.choice([
            lambda: f"({self.inner(draw)} -> '{draw.choice(self.KEYS)}')", lambda: f"({self.name} #> '{{{','.join(path)}}}')",
            lambda: self.name + "".join(f"['{key}']" for key in path + ["a"])])()
        if kind < 0.67:
            return f"{draw.choice([text, json])} IS {draw.choice(['', 'NOT '])}NULL"
        if kind < 0.75:
            return f"{json} = {quoted(self.text(draw, 2))}::jsonb"
        texts = lambda: quoted(draw.choice(["a", "b", "1", "1.0", "100", "-0.5", "true", "false", "", "null", "y" * 140, "{}", "[]", '{"a": 1}', '["a"]', "5", "z" * 301, "01", "-0"]))
        if kind < 0.85:
            return f"{text} IN ({texts()}, {texts()})"
        return draw.choice([f"{text} = {texts()}", f"{texts()} = {text}", f"{text} = ANY (ARRAY[{texts()}, NULL, {texts()}])", f"{text} <> {texts()}", f"{text} < {texts()}"])

    def cast_condition(self, draw, key, kind):
        value = f"{self.at(draw, key)}::{kind}"
        if draw.random() < 0.1:
            return f"{value} IS {draw.choice(['', 'NOT '])}NULL"
        if kind not in ("float4", "float8") and draw.random() < 0.2:
            return f"{value} IN (5, 7, {draw.randint(-3, 9)})"
        other, literals = draw.choice(self.OPERANDS[key])
        literal = f"'{draw.choice(literals)}'::{other}"
        if draw.random() < 0.15:
            return f"{literal} {draw.choice(COMPARISONS)} {value}"
        return f"{value} {draw.choice(COMPARISONS)} {literal}"

    def path(self, draw, root="$", depth=0):
        steps = [draw.choice([
            lambda: f'."{draw.choice(self.KEYS + ["int", "real"])}"', lambda: f'."{draw.choice(["a", "b", "tags"])}"', lambda: f'."{draw.choice(["a", "b", "int"])}"',
            lambda: draw.choice(["[*]", "[*]", "[0]", "[last]", "[0 to 1]", ".*", ".**", ".**{1}"]),
            lambda: f" ? ({self.predicate(draw, '@', depth + 1)})" if depth < 2 else '."a"'])() for _ in range(draw.choice([0, 1, 1, 2, 2, 3]))]
        return root + "".join(steps) + draw.choice([""] * 12 + [".type()", ".size()", ".double()", ".keyvalue().value"])

    def predicate(self, draw, root, depth=0):
        kind = draw.random()
        if depth < 3 and kind < 0.25:
            return f"({self.predicate(draw, root, depth + 1)}) {draw.choice(['&&', '||', '||'])} ({self.predicate(draw, root, depth + 1)})"
        if depth < 3 and kind < 0.32:
            return draw.choice(["!({})", "({}) is unknown"]).format(self.predicate(draw, root, depth + 1))
        path = self.path(draw, root, depth + 1)
        if kind < 0.42:
            return f"exists ({path})"
        if kind < 0.5:
            return path + " " + draw.choice(['starts with "a"', 'starts with ""', 'like_regex "^[ay]"', 'starts with "y"'])
        literal = draw.choice(['"a"', '"b"', "1", "1.0", "100", "-0.5", "5", "true", "false", "null", '""', "0.5", '"' + "y" * 140 + '"', self.path(draw, root, depth + 1), "1 + 1"])
        sides = [path, literal] if draw.random() < 0.8 else [literal, path]
        return f"{sides[0]} {draw.choice(['==', '==', '==', '!=', '<', '<=', '>', '>='])} {sides[1]}"


class Metadata:
    """A column of jsonb of the class that filters of collections reach."""

    KEYS = ["a", "b", "ab", "ä"]
    SCALARS = ["", "x", "xy", "ä", "x" * 255, "x" * 256, "x" * 257, "x" * 256 + "y", 0, 1, 2, 2.0, 2.5, -1, 2**53, 2**53 + 1, -2**63, 1e-30, 0.1, True, False]

    def __init__(self, _draw, name):
        self.name, self.key = name, f"{name} pigment.metadata_ops"

    def declaration(self):
        return f"{self.name} jsonb"

    def list_of(self, draw):
        chosen = draw.choice(self.SCALARS)
        same = [value for value in self.SCALARS if type(value) is type(chosen)]
        return draw.choices(same, k=draw.randint(1, 3))

    def value(self, draw):
        kind = draw.random()
        if kind < 0.15:
            return "NULL"
        record = {key: self.list_of(draw) if draw.random() < 0.2 else draw.choice(self.SCALARS)
                  for key in draw.sample(self.KEYS, draw.randint(0, 3))}
        return quoted(json.dumps(record) if kind > 0.17 else "null") + "::jsonb"

    def clause(self, draw):
        if draw.random() < 0.08:
            return {"#id": draw.choice([{"$prefix": "1"}, str(draw.randint(1, 90)), {"$nin": ["7", "8"]}])}
        operator = draw.choice(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$contains", "$not_contains", "$between", "$prefix",
                                "$ieq", "$iprefix", "$exists"])
        number = lambda: draw.choice([value for value in self.SCALARS if type(value) in (int, float)])
        text = lambda: draw.choice([value for value in self.SCALARS if isinstance(value, str)])
        if operator in ("$gt", "$gte", "$lt", "$lte"):
            operand = number()
        elif operator in ("$in", "$nin"):
            operand = self.list_of(draw)
        elif operator == "$between":
            operand = draw.choice([lambda: sorted([number(), number()]), lambda: sorted([text(), text()])])()
        elif operator in ("$prefix", "$ieq", "$iprefix"):
            operand = text()
        else:
            operand = draw.random() < 0.5 if operator == "$exists" else draw.choice(self.SCALARS)
        return {draw.choice(self.KEYS): {operator: operand}}

    def filter(self, draw, depth=0):
        if depth > 2 or draw.random() < 0.4 + depth * 0.2:
            return self.clause(draw)
        if draw.random() < 0.2:
            return {"$not": self.filter(draw, depth + 1)}
        return {draw.choice(["$and", "$or"]): [self.filter(draw, depth + 1) for _ in range(draw.randint(1, 3))]}

    def condition(self, draw):
        if draw.random() < 0.1:
            return f"{self.name} IS {draw.choice(['', 'NOT '])}NULL"
        where = quoted(json.dumps(self.filter(draw))) + "::jsonb"
        # mostly as collections ask, now and then what that gives the index
        if draw.random() < 0.2:
            return f"{self.name} OPERATOR(pigment.@~) {where}"
        return f"pigment.matches({where}, NULL, id::text, NULL, {self.name})"


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


class Table:
    TYPES = ["vector", "vector", "halfvec", "sparsevec"]

    def __init__(self, session, draw, number):
        self.session, self.draw, self.name = session, draw, f"t{number}"
        self.dimension = draw.choice([0, 1, 2, 2, 3, 3])  # few, so that distances tie; 0: no vector
        self.is_partitioned = draw.random() < 0.2
        kinds = draw.choices([Column, Documents, Metadata, Searched], [0.48, 0.2, 0.12, 0.2], k=draw.randint(1, 5))
        self.columns = [kind(draw, f"c{i}") for i, kind in enumerate(kinds)]
        self.operator, metric = draw.choice([("<->", "l2"), ("<=>", "cosine"), ("<#>", "ip"), ("<+>", "l1")])
        self.type = draw.choice(self.TYPES)
        self.operator_class = f"{self.type}_{metric}_ops"
        self.next_id = 0
        self.compared = 0

    def run(self, statement):
        return self.session.run(statement)

    def create(self):
        declared = self.type + draw_typmod(self.draw, self.dimension)
        columns = ["id int", *(column.declaration() for column in self.columns)]
        if self.dimension:
            columns.append(f"v {declared}")
        suffix = " PARTITION BY RANGE (id)" if self.is_partitioned else ""
        self.run(f"CREATE TABLE {self.name} ({', '.join(columns)}){suffix}")
        if self.is_partitioned:
            self.run(f"CREATE TABLE {self.name}_a PARTITION OF {self.name} FOR VALUES FROM (MINVALUE) TO (150)")
            self.run(f"CREATE TABLE {self.name}_b PARTITION OF {self.name} FOR VALUES FROM (150) TO (MAXVALUE)")
        if self.draw.random() < 0.8:
            # what reads every text again and again takes its time
            many = 4000 if not any(isinstance(column, Searched) for column in self.columns) else 600
            self.insert(self.draw.choice([1, 40, 70, 400, many]))
        keys = [getattr(column, "key", column.name) for column in self.columns]
        if self.dimension:
            keys.insert(self.draw.randint(0, len(keys)), f"v {self.operator_class}")
        self.predicate = ""
        if self.draw.random() < 0.15:
            self.predicate = " WHERE id % 3 <> 0"
        self.run(f"CREATE INDEX {self.name}_x ON {self.name} USING pigment ({', '.join(keys)}){self.predicate}")

    def vector(self):
        if self.draw.random() < 0.1:
            return "NULL"
        return self.query_vector()

    def row(self):
        self.next_id += 1
        values = [str(self.next_id), *(column.value(self.draw) for column in self.columns)]
        return f"({', '.join(values + ([self.vector()] if self.dimension else []))})"

    def insert(self, count):
        self.run(f"INSERT INTO {self.name} VALUES {', '.join(self.row() for _ in range(count))}")

    def change(self):
        some = f"id % {self.draw.randint(2, 9)} = {self.draw.randint(0, 3)}"
        column = self.draw.choice(self.columns)
        change = self.draw.choice(["insert", "insert", "update", "vector", "delete", "vacuum", "merge", "reindex", "rollback", "analyze"])
        if change == "insert":
            self.insert(self.draw.choice([1, 10, 60]))
        elif change == "update":
            self.run(f"UPDATE {self.name} SET {column.name} = {column.value(self.draw)} WHERE {some}")
        elif change == "vector" and self.dimension:
            self.run(f"UPDATE {self.name} SET v = {self.vector()} WHERE {some}")
        elif change == "delete":
            self.run(f"DELETE FROM {self.name} WHERE {some}")
        elif change == "rollback":
            self.run("BEGIN")
            self.insert(20)
            self.run("ROLLBACK")
        elif change in ("vacuum", "analyze"):
            self.run(f"{change} {self.name}")
        elif change == "merge":
            for index in self.indexes():
                self.run(f"SELECT pigment.merge('{index}')")
        elif change == "reindex":
            self.run(f"SET maintenance_work_mem = '{self.draw.choice(['1MB', '64MB'])}'")
            self.run(f"REINDEX TABLE {self.name}")
        return change

    def where(self):
        conditions = [column.condition(self.draw) for column in self.draw.choices(self.columns, k=self.draw.choice([1, 1, 2, 3]))]
        if self.dimension and self.draw.random() < 0.1:
            conditions.append(f"v IS {self.draw.choice(['', 'NOT '])}NULL")
        if self.predicate:
            conditions.append(self.predicate.removeprefix(" WHERE "))
        return " AND ".join(conditions)

    def query_vector(self):
        numbers = [self.draw.randint(-2, 2) for _ in range(self.dimension)]
        if self.type == "sparsevec":
            return "'{" + ",".join(f"{place}:{number}" for place, number in enumerate(numbers, 1) if number) + f"}}/{self.dimension}'"
        return "'[" + ",".join(map(str, numbers)) + "]'"

    def limit(self, distance):
        """A number to hold a distance against: nothing, everything, and what a row has exactly."""
        kind = self.draw.random()
        if kind < 0.4:
            rows = self.run(f"SELECT {distance} FROM {self.name} WHERE {distance} <> 'NaN' ORDER BY id LIMIT 1 OFFSET {self.draw.randint(0, 30)}")
            return f"{rows[0]}::float8" if rows else "0.5"
        if kind < 0.5:
            return self.draw.choice(["'NaN'::float8", "'Infinity'::float8", "'-Infinity'::float8", "NULL::float8", "'-0'::float8"])
        number = self.draw.choice(["0", "0.5", "1", "1.5", "2", "3", "4", "9", "-1", "-2", "-0.5", "1e300", "-1e300", "1e-200"])
        return number + self.draw.choice(["", "", "::float4" if "e" not in number else "", "::float8"])

    def distance_condition(self, vector):
        """In all its shapes, and solved for another side."""
        distance = f"(v {self.operator} {vector})" if self.draw.random() < 0.7 else f"({vector} {self.operator} v)"
        near, limit, is_above = distance, self.limit(distance), False
        shape = self.draw.random()
        if shape < 0.25:
            near, limit, is_above = f"1 - {distance}", f"(1 - {limit})", True
        elif shape < 0.35:
            near, limit, is_above = self.draw.choice([f"- {distance}", f"{distance} * -1", f"-1 * {distance}"]), f"(- {limit})", True
        elif shape < 0.4:
            near, limit = f"{distance} * 2", f"({limit} * 2)"  # which no index sees through
        operator = self.draw.choice(["<", "<="])
        if is_above:
            operator = operator.replace("<", ">")
        if self.draw.random() < 0.2:
            return f"{limit} {operator.translate(str.maketrans('<>', '><'))} {near}"
        return f"{near} {operator} {limit}"

    def order(self, vector):
        """What is sorted by, and how."""
        distance = f"v {self.operator} {vector}"
        nulls = self.draw.choice(["", "", "", " NULLS FIRST", " NULLS LAST"])
        shape = self.draw.random()
        if shape < 0.5:
            return distance, nulls
        descending = self.draw.choice([f"1 - ({distance})", f"- ({distance})", f"({distance}) * -1", f"(3 - ({distance})) / 2 + 1"])
        if shape < 0.9:
            return descending, " DESC" + nulls
        return self.draw.choice([(descending, nulls), (distance, " DESC" + nulls), (f"2 * ({distance}) - 1", nulls)])

    def answer(self, statement, uses_index, sorts=True):
        """Without the index; with it, and where it need not sort by its order alone."""
        settings = {"seqscan": not uses_index, "indexscan": uses_index, "bitmapscan": uses_index and sorts, "sort": sorts}
        for name, value in settings.items():
            self.run(f"SET enable_{name} = {'on' if value else 'off'}")
        return self.run(statement)

    def compare(self):
        """The two answers to one query; an error text where they differ."""
        conditions = [self.where()]
        vector = self.query_vector() if self.dimension and self.draw.random() < 0.95 else f"NULL::{self.type}"
        is_bounded = self.dimension and self.draw.random() < 0.5
        if is_bounded:
            near = vector if self.draw.random() < 0.85 else self.query_vector()
            conditions += [self.distance_condition(near) for _ in range(self.draw.choice([1, 1, 1, 2]))]
            if self.draw.random() < 0.4:
                conditions = conditions[1:] + [self.predicate.removeprefix(" WHERE ")] * bool(self.predicate)
        where = " AND ".join(conditions)
        select, ordered, direction, behind = f"SELECT id FROM {self.name} WHERE {where}", False, "", ""
        if self.dimension and self.draw.random() < 0.7:
            ordered = True
            expression, direction = self.order(vector)
            behind = self.draw.choice(["", "", "", ", id", ", id DESC"])
            select = f"SELECT id, {expression} FROM {self.name} WHERE {where} ORDER BY {expression}{direction}{behind}"
        limit = self.draw.choice([None, 1, 5, 20]) if ordered else None
        try:
            expected = self.answer(select, False)
        except sql.Refused as refused:
            if any(error in str(refused) for error in NO_VALUE):
                return None
            return self.compare_refusal(select, refused)
        limited = select + (f" LIMIT {limit}" if limit else "")
        prepared = self.draw.random() < 0.15
        if prepared:
            self.run(f"SET plan_cache_mode = {self.draw.choice(['force_generic_plan', 'force_custom_plan'])}")
            statement, arguments = as_prepared(limited, vector)
            self.run(f"PREPARE q({self.type}) AS {statement}")
            limited = f"EXECUTE q({arguments})"
        got = self.answer(limited, True, not ordered or bool(behind) or self.draw.random() < 0.3)
        plan = "\n".join(self.run("EXPLAIN (COSTS OFF) " + limited))
        if prepared:
            self.run("DEALLOCATE q")
            self.run("RESET plan_cache_mode")
        self.compared += 1
        problem = check_rows(expected, got, ordered, limit, bool(behind))
        if problem:
            return f"{problem}\n{select}; LIMIT {limit}\n{plan}\nexpected {expected[:30]}\ngot {got[:30]}"
        self.used += "Index Cond" in plan
        self.ranked += "Index Cond" in plan and "Order By" in plan
        self.bounded += f"{self.operator}@" in plan
        self.tested += "@^" in plan
        self.walked += any(operator in line for line in plan.splitlines() if "Index Cond" in line for operator in ["@?", "@@"])
        self.descended += "Order By" in plan and direction.startswith(" DESC")
        return None

    def compare_refusal(self, select, expected):
        """The server's own, as of an expression that is too large: whoever looks at a row."""
        try:
            self.answer(select, True)
        except sql.Refused as got:
            return None if str(got) == str(expected) else f"{select}: refused by {got}, expected {expected}"
        return f"{select}: expected to be refused by {expected}"

    def indexes(self):
        return self.session.run(
            f"SELECT indexrelid::regclass FROM pg_index JOIN pg_class c ON c.oid = indrelid WHERE relname ~ '^{self.name}(_|$)' "
            "AND indexrelid NOT IN (SELECT oid FROM pg_class WHERE relkind = 'I')")

    def check(self):
        for index in self.indexes():
            self.run(f"SELECT * FROM pigment.check('{index}')")

    used = 0  # queries with conditions in the index
    ranked = 0  # of these, those that it gave in order
    bounded = 0  # with a condition on the distance in it
    tested = 0  # on an expression of jsonb
    walked = 0  # by jsonpath
    descended = 0  # that it gave in an order that descends


def as_prepared(statement, vector):
    """With the vector as a parameter, and its value. A value of a column that reads like it has its type behind it."""
    return re.sub(re.escape(vector) + "(?!::)", "$1", statement), vector


def draw_typmod(draw, dimension):
    return f"({dimension})" if draw.random() < 0.5 else ""


def check_rows(expected, got, ordered, limit, total=False):
    """Without an order both are sets. With one, distances agree row by row, and within equal distances the ids as sets; all by a total one."""
    if not ordered:
        return None if sorted(expected) == sorted(got) else "other rows"
    if len(got) != (min(limit, len(expected)) if limit else len(expected)):
        return f"{len(got)} rows of {len(expected)}"
    if [row.split("|")[1] for row in expected[:len(got)]] != [row.split("|")[1] for row in got]:
        return "another order"
    if len(set(got)) != len(got) or not set(got) <= set(expected):
        return "other rows"
    if total:
        return None if expected[:len(got)] == got else "another order of equal distances"
    # whole groups of ties, but for the last, which a limit may cut
    last = got[-1].split("|")[1] if got else None
    whole = lambda rows: sorted(row for row in rows if limit is None or row.split("|")[1] != last)
    return None if whole(expected[:len(got)]) == whole(got) else "other rows among equal distances"


def run_table(session, draw, number):
    table = Table(session, draw, number)
    table.create()
    history = []
    for _ in range(STEPS):
        for _ in range(QUERIES):
            problem = table.compare()
            if problem:
                return table, f"after {history}: {problem}"
        history.append(table.change())
    table.check()
    return table, None


def main():
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else random.SystemRandom().randrange(2**32)
    print(f"# seed {seed}", flush=True)
    session = sql.Session()
    session.run("CREATE EXTENSION pigment")
    session.run("CREATE ROLE somebody; GRANT CREATE ON SCHEMA public TO somebody; SET ROLE somebody")
    compared = used = ranked = bounded = descended = tested = walked = failures = 0
    for number in range(TABLES):
        # each table its own, so that one alone can be repeated
        table, problem = run_table(session, random.Random(f"{seed} {number}"), number)
        compared += table.compared
        used += table.used
        ranked += table.ranked
        bounded += table.bounded
        descended += table.descended
        tested += table.tested
        walked += table.walked
        failures += problem is not None
        columns = ", ".join(column.declaration() for column in table.columns)
        print(f"{'not ' if problem else ''}ok {number + 1} - {columns}; {table.type} of {table.dimension} dimensions, {table.next_id} rows, "
              f"{table.compared} queries", flush=True)
        if problem:
            print("# " + problem.replace("\n", "\n# "), flush=True)
    session.close()
    enough = compared >= QUERIES_MIN and used >= compared // 2 and ranked >= compared // 8 and bounded >= compared // 10 and descended >= compared // 30 \
        and tested >= compared // 120 and walked >= compared // 120
    print(f"{'' if enough or failures else 'not '}ok {TABLES + 1} - {compared} queries compared, {used} with conditions in the index, "
          f"{ranked} of these in its order, {bounded} with a distance among them, {descended} in an order that descends, "
          f"{tested} with an expression of jsonb, {walked} with jsonpath")
    print(f"1..{TABLES + 1}")
    return 1 if failures or not enough else 0


if __name__ == "__main__":
    sys.exit(main())

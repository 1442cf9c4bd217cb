# SPDX-License-Identifier: Apache-2.0
"""Random expressions over the three vector types, right and wrong ones."""

import struct

NUMBERS = (
    "0", "-0", "1", "-1", "0.1", "3.4028235e38", "-3.4028235e38", "3.4028236e38", "4e38", "1e39", "-1e400", "1e-45", "1e-46",
    "-1e-60", "65504", "65519.99", "65520", "-65536", "6e-8", "2.9e-8", "3e-8", "6.1e-5", "2049", "2051", "2050.9999999",
    "0.33333334", "16777217", "123456789",
)
ODD_NUMBERS = ("NaN", "inf", "-Infinity", "0x1p3", "1e", ".5", "5.", "+3", "", " ", "1_0", "- 1", "--1", "1e1e1", "nan(1)", "९", "'")
TYPMODS = (*[""] * 40, "(1)", "(2)", "(3)", "(3)", "(4)", "(16000)", "(0)", "(16001)", "(-1)", "(1,2)", "(1000000000)", "(1000000001)")
PLACES = ("1", "2", "3", "4", "7", "1000000000", "0", "-1", "2147483648", "99999999999999999999", "+2", "x", "", "0x2")


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


class Source:
    """Expressions from one seeded random generator."""

    def __init__(self, random):
        self._random = random

    def number(self, kind, odd=0.0):
        r = self._random
        if r.random() < odd:
            return r.choice(ODD_NUMBERS)
        if r.random() < 0.25:
            # mostly one that has a place in the type
            number = r.choice(NUMBERS)
            return number if abs(float(number)) < (65520 if kind == "halfvec" else 1e38) or r.random() < 0.02 else "0.1"
        if r.random() < 0.3:
            return str(r.randint(-9, 9))
        scale = r.choice((1, 1, 1, 100, 1e4, 1e-4) if kind == "halfvec" else (1, 1, 1, 1e4, 1e-10, 1e19))
        return repr(r.uniform(-1, 1) * scale)

    def _space(self):
        return self._random.choice(("", "", "", "", " ", "  ", "\t", "\n"))

    def text(self, kind, dimension=None, odd=0.0):
        """Text of a value; with a chance of `odd` for each part to be something else."""
        r = self._random
        dimension = dimension or r.choice((1, 2, 3, 3, 3, 4, 9, 33))
        if kind != "sparsevec":
            return "[" + ",".join(self._space() + self.number(kind, odd) + self._space() for _ in range(dimension)) + "]"
        places = sorted(r.sample(range(1, dimension + 1), r.randint(0, dimension)))
        if r.random() < 0.3:
            r.shuffle(places)
        parts = []
        for place in places:
            place = r.choice(PLACES) if r.random() < odd else str(place)
            parts.append(f"{self._space()}{place}{self._space()}:{self._space()}{self.number(kind, odd)}{self._space()}")
        end = r.choice(PLACES) if r.random() < odd else str(dimension)
        return "{" + ",".join(parts) + "}" + self._space() + "/" + self._space() + end

    def spoiled(self, text):
        """A text with a few bytes changed, lost or put in."""
        r, text = self._random, list(text)
        for _ in range(r.randint(1, 3)):
            at = r.randrange(len(text) + 1)
            text[at:at + r.randint(0, 2)] = r.choice(("", r.choice("[]{},:/ 1e-.+x\t%\\äNI")))
        return "".join(text)

    def value(self, kind, dimension=None):
        return f"{quoted(self.text(kind, dimension))}::{kind}"

    def input(self, kind):
        text = self.text(kind, odd=self._random.choice((0, 0, 0, 0.05, 0.2)))
        if self._random.random() < 0.3:
            text = self.spoiled(text)
        return f"{quoted(text)}::{kind}{self._random.choice(TYPMODS)}"

    def bytes(self, kind):
        """The binary form of a value, often damaged."""
        r = self._random
        dimension = r.choice((1, 2, 3, 5))
        if kind == "sparsevec":
            places = sorted(r.sample(range(dimension), r.randint(0, dimension)))
            values = [r.choice((1.0, -2.5, 3e38, 1e-45)) for _ in places]
            message = struct.pack(f">iii{len(places)}i{len(places)}f", dimension, len(places), 0, *places, *values)
        else:
            values = [r.choice((1.0, -2.5, 0.0, -0.0, 6e-8)) for _ in range(dimension)]
            message = struct.pack(f">HH{dimension}{'f' if kind == 'vector' else 'e'}", dimension, 0, *values)
        message = bytearray(message)
        for _ in range(r.choice((0, 0, 1, 1, 2))):
            message[r.randrange(len(message))] = r.choice((0, 1, 2, 5, 0x7f, 0x80, 0xff, r.randrange(256)))
        if r.random() < 0.15:
            del message[r.randrange(len(message) + 1):]
        if r.random() < 0.1:
            message += bytes(r.randrange(256) for _ in range(r.randint(1, 9)))
        return bytes(message)

    def distance(self):
        r, kind = self._random, self._random.choice(("vector", "halfvec", "sparsevec"))
        left = r.choice((1, 2, 3, 9, 33, 200))
        right = left if r.random() < 0.95 else left + 1
        a, b = self.value(kind, left), self.value(kind, right)
        if r.random() < 0.5:
            return f"{a} {r.choice(('<->', '<#>', '<=>', '<+>'))} {b}"
        return f"{r.choice(('l2_distance', 'inner_product', 'cosine_distance', 'l1_distance'))}({a}, {b})"

    def norm(self):
        kind = self._random.choice(("vector", "halfvec", "sparsevec"))
        name = "vector_norm" if kind == "vector" else "l2_norm"
        return f"{name}({self.value(kind)})"

    def bits(self):
        r = self._random
        length = r.choice((0, 1, 7, 8, 9, 63, 64, 65, 1000))
        texts = ["".join(r.choice("01") for _ in range(n)) for n in (length, length if r.random() < 0.9 else length + 1)]
        a, b = (f"B'{text}'" for text in texts)
        return r.choice((f"{a} <~> {b}", f"{a} <%> {b}", f"hamming_distance({a}, {b})", f"jaccard_distance({a}, {b})"))

    def comparison(self):
        r, kind = self._random, self._random.choice(("vector", "halfvec", "sparsevec"))
        small = [self._small(kind) for _ in range(2)]
        if r.random() < 0.2:
            return f"{kind}_cmp({small[0]}, {small[1]})"
        return f"{small[0]} {r.choice(('<', '<=', '=', '<>', '>=', '>'))} {small[1]}"

    def _small(self, kind):
        """Few different values, so that equal ones and beginnings of each other meet."""
        numbers = [self._random.choice(("0", "-0", "1", "-1")) for _ in range(self._random.randint(1, 4))]
        if kind == "sparsevec":
            parts = ",".join(f"{place}:{number}" for place, number in enumerate(numbers, 1))
            return quoted("{" + parts + "}/" + str(len(numbers) + self._random.randint(0, 1))) + "::sparsevec"
        return quoted("[" + ",".join(numbers) + "]") + f"::{kind}"

    def function(self):
        r, kind = self._random, self._random.choice(("vector", "halfvec"))
        bound = lambda: r.choice((0, 1, 1, 2, 2, 3, 4, 9, -1, -5, 2147483647, -2147483647))
        which = r.randrange(5)
        if which == 0:
            return f"subvector({self.value(kind)}, {bound()}, {bound()})"
        if which == 1:
            return f"binary_quantize({self.value(kind)})"
        if which == 2:
            return f"vector_dims({self.value(kind)})"
        if which == 3:
            kind = r.choice(("vector", "halfvec", "sparsevec"))
            return f"l2_normalize({self.value(kind)})"
        dimension = r.choice((1, 2, 3, 9))
        other = dimension if r.random() < 0.9 else dimension + 1
        return f"{self.value(kind, dimension)} {r.choice('+-*') if r.random() < 0.8 else '||'} {self.value(kind, other)}"

    def cast(self):
        r = self._random
        target = r.choice(("vector", "halfvec", "sparsevec")) + r.choice(TYPMODS)
        if r.random() < 0.5:
            kind = r.choice(("vector", "halfvec", "sparsevec"))
            if kind in ("vector", "halfvec") and r.random() < 0.2:
                target = "real[]"
            return f"{self.value(kind)}::{target}"
        element = r.choice(("integer", "real", "double precision", "numeric"))
        if element == "integer":
            items = [str(r.choice((0, 1, -1, 7, 70000, 2147483647, r.randint(-9999, 9999)))) for _ in range(r.randint(0, 4))]
        else:
            items = [self.number(r.choice(("vector", "halfvec"))) for _ in range(r.randint(0, 4))]
            if element != "real":
                items = [r.choice((item, item, item, "1e300", "-1e-300", "1e39", "1e-46", "0.1")) for item in items]
            items = [r.choice((item, item, item, item, "NaN", "Infinity")) for item in items]
        if r.random() < 0.05:
            items.append("NULL")
        array = "{" + ",".join(items) + "}"
        if items and r.random() < 0.05:
            array = "{" + array + "," + array + "}"
        return f"{quoted(array)}::{element}[]::{target}"

    def aggregate(self):
        r, kind = self._random, self._random.choice(("vector", "halfvec"))
        dimension = r.choice((1, 2, 3))
        # powers of two and few of them: sums that any way of adding gives alike
        values = ["[" + ",".join(str(r.choice((0, 1, -2, 0.5, 64))) for _ in range(dimension if r.random() < 0.97 else dimension + 1)) + "]"
                  for _ in range(r.choice((0, 1, 2, 4, 8)))]
        array = ",".join([quoted(value) for value in values] + (["NULL"] if r.random() < 0.3 else []))
        return f"(SELECT {r.choice(('avg', 'sum'))}(v) FROM unnest(ARRAY[{array}]::{kind}[]) v)"

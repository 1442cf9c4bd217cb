#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/sql-reference.md lists all that the extension brings: it is written from the install script, whose objects each have a
comment, and from the settings and index options that the module registers. Without an argument it is compared; `--write` writes it.

Left out is what nobody calls: names that begin with `_`, and what types, casts, operators, indexes and the planner call.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/sql-reference.md"

NOT_CALLED = re.compile(
    r"I/O|implementation of |aggregate \w+ function|index support|planner support|for the planner|.* access method handler$|"
    r"(condition|order) of an index scan|convert .* to |less-equal-greater")
NOT_LISTED = re.compile(r"CREATE (SCHEMA|OPERATOR FAMILY|POLICY|TRIGGER|EVENT TRIGGER|(UNIQUE )?INDEX|TYPE \w+$)")
NAME = r"((?:pigment\.)?[\w<>=~@#%+*|!^&?/-]+)"

HEAD = """# All of SQL

What `CREATE EXTENSION pigment` brings, by name; how it is used is in [sql.md](sql.md), what of it is pgvector's in [from-pgvector.md](from-pgvector.md). Written from the
scripts in `sql/` and the settings of the module by `tests/structure/check_sql_reference.py --write`; a test fails when it is not what would be written now.

Names without a schema are in the schema of the extension (`public` by default). Arguments in brackets may be left out. What types, casts, operators and indexes
call, and names that begin with `_`, are not here.
"""


def statements(script):
    """Statements without comments; bodies between $$ become nothing."""
    script = re.sub(r"\$(\w*)\$.*?\$\1\$", "''", script, flags=re.DOTALL)
    parts, kept = re.split(r"('(?:[^']|'')*')", script), []
    for i, part in enumerate(parts):
        kept.append(part if i % 2 else re.sub(r"--[^\n]*|^\\[^\n]*", "", part, flags=re.MULTILINE))
    text, statement = "".join(kept), []
    for piece in re.split(r"('(?:[^']|'')*'|;)", text):
        if piece == ";":
            yield re.sub(r"\s+", " ", "".join(statement)).strip()
            statement = []
        else:
            statement.append(piece)


def script():
    """The parts as the build joins them. An apostrophe in a comment would begin a text, so comments go line by line first."""
    parts = re.search(r"set\(PIGMENT_SQL_PARTS\s+([\w\s]+)\)", (ROOT / "cmake/extension.cmake").read_text(encoding="utf-8"))[1].split()
    lines = "\n".join((ROOT / f"sql/{part}.sql").read_text(encoding="utf-8") for part in parts).splitlines()
    return "\n".join(line for line in lines if not re.match(r"\s*--|\\", line))


def in_parentheses(text):
    """What stands between the first parenthesis and its other one, and what follows."""
    begin = text.index("(")
    depth = 0
    for i in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return text[begin + 1:i], text[i + 1:]
    raise ValueError(text)


def split_arguments(text):
    found, depth, quoted = [""], 0, False
    for character in text:
        depth += {"(": 1, ")": -1, "[": 1, "]": -1}.get(character, 0)
        quoted ^= character == "'"
        if character == "," and depth == 0 and not quoted:
            found.append("")
        else:
            found[-1] += character
    return [argument.strip() for argument in found if argument.strip()]


def plain(text):
    return text.replace("@extschema@.", "").strip()


def result_of(arguments, rest):
    """What a function gives: the columns of a table, or a type."""
    outs = [argument.removeprefix("OUT ") for argument in arguments if argument.startswith("OUT ")]
    if returns := re.match(r" RETURNS TABLE ?", rest):
        return ", ".join(split_arguments(in_parentheses(rest[returns.end():])[0]))
    if outs:
        return ", ".join(outs)
    return re.match(r" RETURNS (.+?)(?= AS| LANGUAGE| SET |$)", rest)[1]


def arguments_of(arguments):
    """`a text, b text [, c text, d text]`: those with a default come last."""
    given = [argument for argument in arguments if not argument.startswith("OUT ")]
    needed = [argument for argument in given if " DEFAULT " not in argument]
    optional = [re.sub(r" DEFAULT (.*)", lambda match: "" if match[1] == "NULL" else f" = {match[1]}", argument)
                for argument in given if " DEFAULT " in argument]
    optional = f"[{', ' if needed else ''}{', '.join(optional)}]" if optional else ""
    return ", ".join(needed) + (" " if needed and optional else "") + optional


def types_of(arguments):
    """Types alone, as a comment names a function."""
    return ", ".join(re.sub(r"^(VARIADIC )?\w+ (?=[@\w])(?!precision)(?!varying)", "", re.sub(r" DEFAULT .*", "", argument))
                     for argument in arguments if not argument.startswith("OUT "))


def objects():
    """Of each kind (name, what is shown, comment) in the order of the script."""
    comments, made = {}, []
    for statement in statements(script()):
        if comment := re.match(r"COMMENT ON (.*?) IS '(.*)'$", statement):
            comments[re.sub(r"\s+", "", comment[1])] = comment[2].replace("''", "'")
        elif NOT_LISTED.match(statement):
            continue
        elif function := re.match(rf"CREATE (FUNCTION|AGGREGATE) {NAME} ?\(", statement):
            inner, rest = in_parentheses(statement)
            arguments = split_arguments(inner)
            shown = f"{function[2]}({plain(arguments_of(arguments))})"
            gives = plain(result_of(arguments, rest)) if function[1] == "FUNCTION" else inner
            made.append((function[1], function[2], f"{function[1]}{function[2]}({types_of(arguments)})", shown, gives))
        elif operator := re.match(rf"CREATE OPERATOR (?!CLASS|FAMILY){NAME} \(", statement):
            left, right = re.search(r"LEFTARG = ([\w.]+)", statement)[1], re.search(r"RIGHTARG = ([\w.]+)", statement)[1]
            made.append(("OPERATOR", operator[1], f"OPERATOR{operator[1]}({left},{right})", f"{left} {operator[1]} {right}", ""))
        elif kind := re.match(rf"CREATE OPERATOR CLASS {NAME} (DEFAULT )?FOR TYPE (\w+) USING (\w+)", statement):
            shown = f"{kind[1]}" if kind[4] == "pigment" else f"{kind[1]} USING {kind[4]}"
            made.append(("CLASS", kind[1], f"OPERATORCLASS{kind[1]}USING{kind[4]}", shown, kind[3] + (", default" if kind[2] else "")))
        elif cast := re.match(r"CREATE CAST \((.*?) AS (.*?)\) .*?(?: AS (\w+))?$", statement):
            made.append(("CAST", cast[1], f"CAST({cast[1]} AS {cast[2]})", f"{cast[1]} → {cast[2]}", (cast[3] or "explicit").lower()))
        elif other := re.match(rf"CREATE (TABLE|VIEW|TYPE|ACCESS METHOD) {NAME}", statement):
            made.append((other[1], other[2], other[1] + other[2], other[2], ""))
        elif statement.startswith("CREATE"):
            raise SystemExit(f"this script cannot read {statement}")
    for kind, name, key, shown, gives in made:
        key = re.sub(r"\s+", "", key)
        comment = comments.get(key) or comments.get(re.sub(r"\(.*", "", key))
        if comment is None:
            raise SystemExit(f"no comment found on {key}")
        if not name.removeprefix("pigment.").startswith("_") and not NOT_CALLED.match(comment) and not shown.startswith(f"{name}({name},"):
            yield kind, name, shown, gives, comment


def constants(source):
    return dict(re.findall(r"^#define (\w+)\s+(\S+)", source, re.MULTILINE))


def settings():
    """(name, values, comment) of what the module registers with the server."""
    found, options = [], []
    for path in sorted((ROOT / "extension").glob("*.c")):
        source = path.read_text(encoding="utf-8")
        names = {**constants(source), **{name: value for header in sorted((ROOT / "extension").glob("*.h")) for name, value in
                                         constants(header.read_text(encoding="utf-8")).items()}}
        before = len(found) + len(options)
        call = re.compile(r"(DefineCustom(\w+)Variable|add_(?:local_)?(\w+)_reloption)\(((?:[^()\"]|\"(?:[^\"\\]|\\.)*\"|\([^()]*\))*)\);")
        for _, setting, option, text in call.findall(source):
            texts = [re.sub(r"\\(.)", r"\1", piece) for piece in re.findall(r"\"((?:[^\"\\]|\\.)*)\"", text)]
            values = [names.get(piece.strip(), piece.strip()) for piece in re.sub(r"\"(?:[^\"\\]|\\.)*\"", "''", text).split(",")]
            if setting:
                found.append((texts[0], values_of(setting.lower(), values[4:7], "GUC_UNIT_KB" in text), " ".join(texts[1:3])))
            else:
                options.append((texts[0], values_of(option, values[3:6], False),
                                ". ".join(texts[1:]).rstrip(".")))
        if len(found) + len(options) - before != len(re.findall(r"DefineCustom\w+\(|add_\w+_reloption\(", source)):
            raise SystemExit(f"this script cannot read a setting of {path}")
    return found, options


def values_of(kind, values, kilobytes):
    if kind == "enum":
        return values[1].rsplit("_", 1)[1].lower()
    if kind == "bool":
        return "on" if values[0] == "true" else "off"
    if kind not in ("int", "real"):
        return "text" if kind == "string" else kind
    default, least, most = (value + " kB" * kilobytes if value.replace(".", "").isdigit() else value for value in values)
    return f"{default} ({least} and more)" if most.startswith("MAX_") else f"{default} ({least} to {most})"


def cell(text):
    text = text if text.startswith("`") else text.replace("<", "\\<")
    return text.replace("|", "\\|")


def table(heading, columns, rows):
    lines = [f"\n## {heading}\n", f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    return "\n".join([*lines, *(f"| {' | '.join(cell(field) for field in row)} |" for row in rows)]) + "\n"


def page():
    made = list(objects())
    of = lambda *kinds: [row for row in made if row[0] in kinds]
    by_name = lambda rows: sorted(rows, key=lambda row: (row[1], row[2]))
    functions = by_name(of("FUNCTION"))
    guc, options = settings()
    code = lambda text: f"`{text}`" if text else ""
    functions_of = lambda schema: [(code(row[2]), code(row[3]), row[4]) for row in functions if row[1].startswith("pigment.") == schema]
    return HEAD + "".join([
        table("Types", ["type", "what"], [(code(row[2]), row[4]) for row in of("TYPE")]),
        table("Tables, views, access method", ["name", "what"], [(code(row[2]), row[4]) for row in of("TABLE", "VIEW", "ACCESS METHOD")]),
        table("Functions of collections and indexes", ["function", "gives", "what"], functions_of(True)),
        table("Functions of vectors and texts", ["function", "gives", "what"], functions_of(False)),
        table("Aggregates", ["aggregate", "gives", "what"], [(code(row[2]), code(row[3]), row[4]) for row in by_name(of("AGGREGATE"))]),
        table("Operators", ["operator", "what"], [(code(row[2]), row[4]) for row in of("OPERATOR")]),
        table("Casts", ["cast", "when", "what"], [(code(row[2]), row[3], row[4]) for row in of("CAST")]),
        table("Operator classes", ["class", "type", "what"], [(code(row[2]), row[3], row[4]) for row in of("CLASS")]),
        table("Settings", ["setting", "default and range", "what"], [(code(name), values, what) for name, values, what in guc]),
        table("Options of indexes and operator classes", ["option", "default and range", "what"],
              [(code(name), values, what) for name, values, what in options]),
    ])


def main():
    if "--write" in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text(encoding="utf-8") == page():
        return 0
    print(f"{PAGE.relative_to(ROOT)} is not what sql/ and extension/ have: tests/structure/check_sql_reference.py --write")
    return 1


if __name__ == "__main__":
    sys.exit(main())

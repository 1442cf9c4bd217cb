# SPDX-License-Identifier: Apache-2.0
"""The example that every guide begins with, from bindings/guide, and the programs of it that tests build. A guide's first block of its language is the program, and the first
block of what is printed after it what that prints."""

import itertools
import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "bindings/guide"

# Of each language: its guide, the words behind the fences of program and output there, metadata of one record, and the program's path.
LANGUAGES = {
    "c": ("docs/c.md", "c", "text", '{"year":%d}', "examples/first/first.c"),
    "go": ("docs/go.md", "go program", "text output", '{"year": %d}', None),
    "java": ("docs/java.md", "java", "text", 'Map.of("year", %d)', None),
    "py": ("docs/python.md", "python", "text", '{"year": %d}', None),
    "rs": ("docs/rust.md", "rust", "text", 'json!({"year": %d})', "bindings/rust/pigment/examples/first.rs"),
}
HEAD_OF_C = """/* SPDX-License-Identifier: Apache-2.0
 *
 * The first example of docs/c.md; bindings/tables/generate writes both.
 */

"""


def files():
    """Path from the root to text."""
    example = json.loads((FOLDER / "example.json").read_text(encoding="utf-8"))
    printed = "".join(line + "\n" for line in example["printed"])
    made = {"examples/first/expected.txt": printed}
    for language, (guide, code, text, metadata, path) in LANGUAGES.items():
        program = fill((FOLDER / f"example.{language}").read_text(encoding="utf-8"), example, metadata)
        page = (ROOT / guide).read_text(encoding="utf-8")
        page = put(page, code, program, 0)
        made[guide] = put(page, text, printed, page.index(f"```{code}\n"))
        if path is not None:
            made[path] = (HEAD_OF_C if language == "c" else "") + program
    return made


def fill(template, example, metadata):
    metadatas = [metadata % year for year in example["years"]]
    values = {
        "count": str(len(example["ids"])), "ids": listed(map(json.dumps, example["ids"])), "documents": listed(map(json.dumps, example["documents"])),
        "metadatas": listed(metadatas), "query": example["query"], "query_size": str(len(example["query"].encode())),
        "n_results": str(example["n_results"]), "before": str(example["before"]),
        "where": json.dumps(json.dumps({"year": {"$lt": example["before"]}}, separators=(",", ":")))[1:-1],
    }
    for name, texts in (("id", example["ids"]), ("document", example["documents"]), ("metadata", metadatas)):
        values[f"{name}_offsets"] = listed(map(str, itertools.accumulate((len(text.encode()) for text in texts), initial=0)))
        values[f"{name}_bytes"] = ("\n" + " " * 44).join(map(json.dumps, texts)) if name != "id" else json.dumps("".join(texts))
    return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], found[0]), template)


def listed(texts):
    return ", ".join(texts)


def put(page, kind, text, begin):
    """The first block of this kind at or behind `begin`, with another text."""
    start = page.index(f"```{kind}\n", begin) + len(kind) + 4
    return page[:start] + text + page[page.index("```", start):]

# SPDX-License-Identifier: Apache-2.0
"""What pigment.h declares, as data: constants, structs and functions. The header is written for this as much as for people: no
macros with arguments, no unions, no bit-fields, one declaration after another. Anything else there is an error here. The structs of
Arrow's C interface are names alone: a binding that looks into them has Arrow's own declarations."""

import dataclasses
import pathlib
import re

PATH = pathlib.Path(__file__).resolve().parents[2] / "c_api/include/pigment/pigment.h"


@dataclasses.dataclass(frozen=True)
class Constant:
    name: str  # PIGMENT_INVALID_ARGUMENT
    value: int


@dataclasses.dataclass(frozen=True)
class Group:
    """One enum: `name` is what its constants are, in words with underscores; `prefix` what they begin with."""

    name: str
    prefix: str
    constants: tuple

    def short(self, constant):
        return constant.name.removeprefix(self.prefix)


@dataclasses.dataclass(frozen=True)
class Field:
    name: str
    type: str  # "const char *", "size_t", "pigment_text_column"; of a function pointer "function"


@dataclasses.dataclass(frozen=True)
class Struct:
    name: str
    fields: tuple


@dataclasses.dataclass(frozen=True)
class Function:
    name: str
    result: str
    parameters: tuple  # of Field
    checked: bool  # whether its result must be looked at


@dataclasses.dataclass(frozen=True)
class Header:
    version: str
    abi_version: int
    groups: tuple
    structs: tuple
    objects: tuple  # names of opaque types, and of the structs that are another interface's
    functions: tuple


# The groups in the order of the header: what they are called, and how the names of their constants begin.
GROUPS = [
    ("status", "PIGMENT_"), ("detail", "PIGMENT_DETAIL_"), ("fault", "PIGMENT_FAULT_"), ("dtype", "PIGMENT_"),
    ("embed_purpose", "PIGMENT_EMBED_"), ("sync", "PIGMENT_SYNC_"), ("span", "PIGMENT_SPAN_"), ("include", "PIGMENT_INCLUDE_"),
    ("text_operator", "PIGMENT_TEXT_"),
]


def read(path=PATH):
    """Raises ValueError for what it does not understand."""
    source = path.read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/", " ", source, flags=re.DOTALL)
    defines = {name: int(value) for name, value in re.findall(r"^#define (PIGMENT_\w+) (\d+)$", text, re.MULTILINE)}
    begin = text.index("extern \"C\" {") + len("extern \"C\" {")
    text = re.sub(r"^#.*$", "", text[begin:text.rindex("#ifdef __cplusplus")], flags=re.MULTILINE)
    groups, structs, objects, functions = [], [], [], []
    for statement in statements(text):
        if match := re.fullmatch(r"enum \{(.*)\}", statement):
            groups.append(group(len(groups), match[1]))
        elif match := re.fullmatch(r"typedef struct (\w+) \{(.*)\} (\w+)", statement):
            structs.append(Struct(match[1], tuple(field(part) for part in match[2].split(";") if part.strip())))
        elif match := re.fullmatch(r"typedef struct (\w+) \1|struct (Arrow\w+) \{.*\}", statement):
            objects.append(match[1] or match[2])
        elif match := re.fullmatch(r"PIGMENT_API (PIGMENT_CHECKED )?(.*?)(\w+)\((.*)\)", statement):
            parameters = () if match[4] == "void" else tuple(field(part) for part in match[4].split(","))
            functions.append(Function(match[3], match[2].strip(), parameters, match[1] is not None))
        elif statement != "typedef int32_t pigment_status":
            raise ValueError(f"{path}: not understood: {statement}")
    if len(groups) != len(GROUPS):
        raise ValueError(f"{path}: {len(groups)} enums, {len(GROUPS)} are known")
    version = ".".join(str(defines[f"PIGMENT_VERSION_{part}"]) for part in ("MAJOR", "MINOR", "PATCH"))
    return Header(version, defines["PIGMENT_ABI_VERSION"], tuple(groups), tuple(structs), tuple(objects), tuple(functions))


def statements(text):
    """Split at the semicolons that stand in no braces, white space made one blank."""
    depth, begin = 0, 0
    for at, letter in enumerate(text):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == ";" and depth == 0:
            yield " ".join(text[begin:at].split())
            begin = at + 1


def group(number, body):
    name, prefix = GROUPS[number] if number < len(GROUPS) else (f"enum {number}", "PIGMENT_")
    constants = []
    for part in filter(None, (part.strip() for part in body.split(","))):
        match = re.fullmatch(r"(\w+) = (-?\d+)", part)
        if not match or not match[1].startswith(prefix):
            raise ValueError(f"not a constant of {name}: {part}")
        constants.append(Constant(match[1], int(match[2])))
    return Group(name, prefix, tuple(constants))


def field(text):
    text = " ".join(text.split())
    if match := re.match(r"\w+ \(\*(\w+)\)\(", text):
        return Field(match[1], "function")
    match = re.fullmatch(r"(?:struct )?(.*?[ *])(\w+)", text)
    if not match:
        raise ValueError(f"not a field or parameter: {text}")
    return Field(match[2], match[1].strip())

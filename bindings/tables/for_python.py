# SPDX-License-Identifier: Apache-2.0
"""What the Python package has from pigment.h: constants, structs and functions for ctypes, and which exception a status is.
Fails when a function of the header is called nowhere in the package and not named below with a reason."""

import pathlib
import re

PACKAGE = pathlib.Path(__file__).resolve().parents[1] / "python"
TARGET = "python/src/pigment/_declarations.py"

NOT_CALLED = {
    "pigment_error_status": "the status is what the failing call returned",
    "pigment_call_options_init": "zeroed structs with struct_size set are the same",
    "pigment_open_options_init": "as above",
    "pigment_collection_options_init": "as above",
    "pigment_client_flush": "pigment_client_flush_with is called, which takes options",
    "pigment_collection_flush": "as above",
    "pigment_client_open_traced": "tracing is told on the library's threads, in the middle of its calls",
    "pigment_result_included": "the caller's own include list is in the answer",
}

# The exception of each status, by its name in pigment.errors.
EXCEPTIONS = {
    "CANCELLED": "CancelledError", "UNKNOWN": "InternalError", "INVALID_ARGUMENT": "InvalidArgumentError",
    "DEADLINE_EXCEEDED": "DeadlineExceededError", "NOT_FOUND": "NotFoundError", "ALREADY_EXISTS": "UniqueConstraintError",
    "PERMISSION_DENIED": "AuthorizationError", "RESOURCE_EXHAUSTED": "ResourceExhaustedError",
    "FAILED_PRECONDITION": "FailedPreconditionError", "ABORTED": "AbortedError", "OUT_OF_RANGE": "InvalidArgumentError",
    "UNIMPLEMENTED": "UnimplementedError", "INTERNAL": "InternalError", "UNAVAILABLE": "UnavailableError",
    "DATA_LOSS": "DataLossError", "UNAUTHENTICATED": "ChromaAuthError", "VERSION_MISMATCH": "VersionMismatchError",
    "UNPROCESSABLE_ENTITY": "InvalidArgumentError",
}
# Finer ones, where a detail tells more than its status.
DETAIL_EXCEPTIONS = {
    "CLOSED": "ClosedError", "LOCKED": "LockedError", "FORKED": "ForkedError", "STALE": "StaleReadError",
    "DUPLICATE_ID": "DuplicateIDError",
}

SCALARS = {
    "size_t": "ctypes.c_size_t", "bool": "ctypes.c_bool", "double": "ctypes.c_double", "float": "ctypes.c_float",
    "int32_t": "ctypes.c_int32", "int64_t": "ctypes.c_int64", "uint32_t": "ctypes.c_uint32", "uint64_t": "ctypes.c_uint64",
    "uint8_t": "ctypes.c_uint8", "pigment_status": "ctypes.c_int32",
}

HEAD = '''# SPDX-License-Identifier: Apache-2.0
"""What pigment.h declares, for ctypes. Written by bindings/tables/generate; never edited."""

import ctypes
import enum

VERSION = "{version}"
ABI_VERSION = {abi_version}
'''


def files(header):
    check_calls(header)
    parts = [HEAD.format(version=header.version, abi_version=header.abi_version)]
    parts += [constants(group) for group in header.groups]
    parts += [exceptions(header)]
    parts += [structure(header, struct) for struct in header.structs]
    parts += [functions(header)]
    return {TARGET: "\n\n".join(parts)}


def class_name(name):
    return "".join(word.capitalize() for word in name.removeprefix("pigment_").split("_"))


def constants(group):
    kind = "IntFlag" if group.name == "include" else "IntEnum"
    lines = [f"    {group.short(one)} = {one.value}" for one in group.constants]
    return "\n".join([f"class {class_name(group.name)}(enum.{kind}):", *lines, ""])


def exceptions(header):
    groups = {group.name: group for group in header.groups}
    status, detail = groups["status"], groups["detail"]
    names = {status.short(one) for one in status.constants} - {"OK"}
    if names != set(EXCEPTIONS):
        raise ValueError(f"for_python.py: exceptions of {sorted(names ^ set(EXCEPTIONS))} are missing or of no status")
    unknown = set(DETAIL_EXCEPTIONS) - {detail.short(one) for one in detail.constants}
    if unknown:
        raise ValueError(f"for_python.py: no such detail: {sorted(unknown)}")
    lines = ["# Names in pigment.errors by status, and by detail where that tells more.", "EXCEPTIONS = {"]
    lines += [f'    Status.{name}: "{EXCEPTIONS[name]}",' for name in map(status.short, status.constants) if name != "OK"]
    lines += ["}", "DETAIL_EXCEPTIONS = {"]
    lines += [f'    Detail.{name}: "{exception}",' for name, exception in DETAIL_EXCEPTIONS.items()]
    return "\n".join([*lines, "}", ""])


def ctype(header, text, in_struct=False):
    bare = text.replace("const ", "").strip()
    structs = {struct.name for struct in header.structs}
    if text == "function":
        return "ctypes.c_void_p"
    if text.strip() == "void":
        return "None"
    if bare in SCALARS:
        return SCALARS[bare]
    if bare in structs:
        return class_name(bare)
    if not bare.endswith("*"):
        raise ValueError(f"for_python.py: not a type that Python knows: {text}")
    target = bare[:-1].strip()
    if target == "char":
        return "ctypes.c_char_p"
    if target.endswith("*"):
        return "ctypes.POINTER(ctypes.c_void_p)"
    if in_struct or target == "void" or target in header.objects:
        return "ctypes.c_void_p"
    return f"ctypes.POINTER({ctype(header, target)})"


def structure(header, struct):
    lines = [f'        ("{field.name}", {ctype(header, field.type, in_struct=True)}),' for field in struct.fields]
    return "\n".join([f"class {class_name(struct.name)}(ctypes.Structure):", "    _fields_ = [", *lines, "    ]", ""])


def functions(header):
    lines = ["def declare(library: ctypes.CDLL) -> None:", '    """Gives the functions of a loaded library their types."""']
    for function in header.functions:
        arguments = ", ".join(ctype(header, parameter.type) for parameter in function.parameters)
        lines.append(f"    library.{function.name}.restype = {ctype(header, function.result)}")
        lines.append(f"    library.{function.name}.argtypes = [{arguments}]")
    return "\n".join([*lines, ""])


def check_calls(header):
    sources = [path.read_text(encoding="utf-8") for path in [*PACKAGE.glob("native/*.[ch]"), *PACKAGE.glob("src/pigment/**/*.py")]
               if path.name != pathlib.Path(TARGET).name]
    called = set(re.findall(r"\bpigment_\w+", "\n".join(sources)))
    for name in (function.name for function in header.functions):
        reason = NOT_CALLED.get(name)
        if name not in called and not reason:
            raise ValueError(f"for_python.py: {name} is called nowhere in bindings/python and NOT_CALLED has no reason")
        if name in called and reason:
            raise ValueError(f"for_python.py: NOT_CALLED names {name}, which bindings/python calls")
    strange = set(NOT_CALLED) - {function.name for function in header.functions}
    if strange:
        raise ValueError(f"for_python.py: NOT_CALLED names what the header does not have: {sorted(strange)}")

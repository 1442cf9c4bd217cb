# SPDX-License-Identifier: Apache-2.0
"""What the Java binding has from the header: the functions as method handles, the structs as sizes and offsets, the constants as enums.
Every function must be called somewhere in the binding, or stand in NOT_CALLED with the reason."""

import re

import header

FOLDER = "java/src/main/java/io/pigment"
SOURCES = header.PATH.parents[3] / "bindings" / FOLDER

NOT_CALLED = {
    "pigment_call_options_init": "the binding zeroes structs and sets struct_size, as convention 4 allows",
    "pigment_collection_options_init": "as above",
    "pigment_open_options_init": "as above",
    "pigment_query_request_init": "as above; the request's own class has the default of n_results",
    "pigment_text_search_request_init": "as above",
    "pigment_client_flush": "pigment_client_flush_with is called, which takes options",
    "pigment_collection_flush": "as above",
    "pigment_client_open_traced": "tracing is told on the library's threads, in the middle of its calls",
    "pigment_error_status": "the call that gave the error returned the same",
    "pigment_result_row_count": "the last of the query offsets is that number",
    "pigment_result_arrow_stream": "a stream is for Arrow's library of Java, which the binding does not depend on",
    "pigment_collection_add_arrow": "as above",
    "pigment_collection_update_arrow": "as above",
    "pigment_collection_upsert_arrow": "as above",
}

HEAD = """// SPDX-License-Identifier: Apache-2.0
//
// Written by bindings/tables/generate from pigment.h. Do not edit.

package io.pigment;
"""

# Java's name of a group, and what it is.
ENUMS = {
    "status": ("Status", "What became of a call. The numbers are Chroma's, which are gRPC's; docs/status-codes.md says what each means."),
    "detail": ("Detail", "Finer than a {@link Status}, for the cases that a program tells apart; docs/status-codes.md says what each means."),
    "fault": ("Fault", "Whose doing an error is."),
    "dtype": ("ElementType", "The type of the numbers of a matrix of vectors."),
    "embed_purpose": ("Purpose", "What an embedding function is asked for."),
    "sync": ("SyncMode", "When a write is made durable."),
    "include": ("Include", "A column that a result may have beside its ids."),
    "text_operator": ("TextOperator", "Which documents match a text query of several clauses."),
}
# Groups of what Java does not have: tracing is told on the library's threads, in the middle of its calls.
NOT_IN_JAVA = {"span"}
# What the names do not say by themselves.
REMARKS = {
    "PIGMENT_F16": "IEEE half, two bytes",
    "PIGMENT_SYNC_FULL": "a write returns after an fsync that covers it",
    "PIGMENT_SYNC_INTERVAL": "synced at most the sync interval later",
    "PIGMENT_SYNC_OFF": "left to the operating system",
    "PIGMENT_INCLUDE_DISTANCES": "of a query alone",
    "PIGMENT_TEXT_ANY": "a document matches with any clause of the query",
    "PIGMENT_TEXT_ALL": "a document matches with all clauses of the query",
    "PIGMENT_EMBED_DOCUMENT": "vectors of documents that are stored",
    "PIGMENT_EMBED_QUERY": "vectors of texts that are searched for",
    "PIGMENT_FAULT_CALLER": "the arguments or the state that the caller made",
    "PIGMENT_FAULT_ENVIRONMENT": "the machine, its disk or another process",
    "PIGMENT_FAULT_LIBRARY": "the library's own",
}
# No columns: the sets "as usual" and "none", which the binding says otherwise.
NOT_IN_ENUMS = {"PIGMENT_INCLUDE_DEFAULT", "PIGMENT_INCLUDE_NOTHING"}
# Numbers of a newer library.
UNRECOGNIZED = {"detail"}

VALUES = {
    "pigment_status": "int", "int32_t": "int", "uint32_t": "int", "int64_t": "long", "uint64_t": "long", "size_t": "long",
    "bool": "boolean", "double": "double", "void": "void",
}
LAYOUTS = {"int": "JAVA_INT", "long": "JAVA_LONG", "boolean": "JAVA_BOOLEAN", "double": "JAVA_DOUBLE", "MemorySegment": "ADDRESS"}
SIZES = {"int": 4, "long": 8, "boolean": 1, "double": 8, "MemorySegment": 8}

# Short, and never waiting or calling back: they may run without leaving Java.
TRIVIAL = re.compile(r"pigment_(result|error|status)_(?!free$|arrow_stream$)|pigment_(buffer_data|cancel_set|cancel_is_set|now_ns)$")


def files(declared):
    check_called(declared)
    made = {f"{FOLDER}/Functions.java": functions(declared), f"{FOLDER}/Structs.java": structs(declared)}
    for group in declared.groups:
        if group.name in NOT_IN_JAVA:
            continue
        made[f"{FOLDER}/{ENUMS[group.name][0]}.java"] = enum(group)
    return made


def check_called(declared):
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(SOURCES.glob("*.java")) if path.name != "Functions.java")
    called = set(re.findall(r"\bFunctions(?:\.|::)(\w+)", text))
    missing = [f.name for f in declared.functions if camel(f.name) not in called and f.name not in NOT_CALLED]
    idle = [name for name in NOT_CALLED if camel(name) in called or name not in {f.name for f in declared.functions}]
    if missing or idle:
        raise ValueError(f"Java calls nowhere, and for_java.py gives no reason: {missing}; given a reason without need: {idle}")


def camel(name):
    first, *rest = name.removeprefix("pigment_").split("_")
    return first + "".join(part.capitalize() for part in rest)


def java_type(c_type):
    c_type = c_type.removeprefix("const ").strip()
    if c_type.endswith("*") or c_type == "function":
        return "MemorySegment"
    return VALUES[c_type]


def functions(declared):
    lines = [HEAD, """import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** The functions of pigment.h under their own names. Loading this class loads the library. */
final class Functions {
  private Functions() {}"""]
    for function in declared.functions:
        lines.append(method(function))
    lines.append("}\n")
    return "\n".join(lines)


def method(function):
    result, name = java_type(function.result), camel(function.name)
    types = [java_type(p.type) for p in function.parameters]
    names = [camel(p.name) for p in function.parameters]
    layouts = [LAYOUTS[t] for t in types]
    descriptor = f"FunctionDescriptor.ofVoid({', '.join(layouts)})" if result == "void" else \
        f"FunctionDescriptor.of({', '.join([LAYOUTS[result], *layouts])})"
    constant = function.name.removeprefix("pigment_").upper()
    link = "trivial" if TRIVIAL.match(function.name) else "handle"
    call = f"{constant}.invokeExact({', '.join(names)});"
    if result != "void":
        call = f"return ({result}) {call}"
    return f"""
  private static final MethodHandle {constant} =
      NativeLibrary.{link}("{function.name}", {descriptor});

  static {result} {name}({', '.join(f'{t} {n}' for t, n in zip(types, names))}) {{
    try {{ {call} }} catch (Throwable unexpected) {{ throw NativeLibrary.unexpected(unexpected); }}
  }}"""


def structs(declared):
    lines = [HEAD, """/** Numbers of pigment.h: its version, and sizes and offsets of its structs in bytes, where addresses and size_t have eight. */
final class Structs {
  static final int ABI_VERSION = %d;
  static final String VERSION = "%s";""" % (declared.abi_version, declared.version)]
    lines += [f"  static final int {c.name.removeprefix('PIGMENT_')} = {c.value};"
              for group in declared.groups for c in group.constants if c.name in NOT_IN_ENUMS]
    lines += ["", "  private Structs() {}"]
    measured = {}  # struct: size, alignment
    for struct in declared.structs:
        at, widest, fields = 0, 1, []
        for field in struct.fields:
            size, alignment = measured.get(field.type) or (SIZES[java_type(field.type)],) * 2
            at = up(at, alignment)
            fields.append(f"    static final long {field.name.rstrip('_').upper()} = {at};")
            at, widest = at + size, max(widest, alignment)
        measured[struct.name] = up(at, widest), widest
        name = camel(struct.name)
        lines += ["", f"  /** {struct.name}. */", f"  static final class {name[0].upper()}{name[1:]} {{",
                  f"    private {name[0].upper()}{name[1:]}() {{}}", "", f"    static final long SIZE = {up(at, widest)};", *fields, "  }"]
    return "\n".join([*lines, "}", ""])


def up(at, alignment):
    return -(-at // alignment) * alignment


def enum(group):
    name, what = ENUMS[group.name]
    constants = []
    for constant in group.constants:
        if constant.name in NOT_IN_ENUMS:
            continue
        short = group.short(constant)
        remark = REMARKS.get(constant.name) or short.lower().replace("_", " ")
        constants.append(f"  /** {remark[0].upper()}{remark[1:]}: {{@code {constant.name}}}. */\n  {short}({constant.value})")
    if group.name in UNRECOGNIZED:
        constants.append("  /** A number that this version of the binding does not know. */\n  UNRECOGNIZED(-1)")
    otherwise = {"status": "return UNKNOWN;", "detail": "return UNRECOGNIZED;"}.get(
        group.name, 'throw new IllegalArgumentException("no ' + name + ' has the number " + number);')
    unknown = {"status": " {@link #UNKNOWN} for a number that this version does not know.",
               "detail": " {@link #UNRECOGNIZED} for a number that this version does not know."}.get(group.name, "")
    return f"""{HEAD}
/** {what} */
public enum {name} {{
""" + ",\n".join(constants) + f""";

  private final int number;

  {name}(int number) {{
    this.number = number;
  }}

  /** The number in the C interface.
   *
   * @return the number, which never changes
   */
  public int number() {{
    return number;
  }}

  /** The constant of a number.{unknown}
   *
   * @param number as {{@link #number}} gives it
   * @return the constant
   */
  public static {name} of(int number) {{
    for ({name} one : values()) {{
      if (one.number == number) {{
        return one;
      }}
    }}
    {otherwise}
  }}
}}
"""

# SPDX-License-Identifier: Apache-2.0
"""The Rust crates' share of pigment.h: declarations for pigment-sys, kinds of errors for pigment. And which functions pigment calls: all of
them, but for those that are named here with a reason."""

import pathlib
import re
import sys

SOURCES = pathlib.Path(__file__).resolve().parents[1] / "rust/pigment/src"

INIT = "a crate zeroes its structs with the size that it was built for, where the library would write the size that it has"

ARROW = "the feature `arrow` makes and reads batches itself, of the crates that it depends on alone"

# C functions that the safe crate does not call, and why.
UNUSED = {
    "pigment_client_open_traced": "tracing is told on the library's threads, in the middle of its calls",
    "pigment_call_options_init": INIT,
    "pigment_open_options_init": INIT,
    "pigment_collection_options_init": INIT,
    "pigment_query_request_init": INIT,
    "pigment_text_search_request_init": INIT,
    "pigment_client_flush": "pigment_client_flush_with is called, which takes options",
    "pigment_collection_flush": "as above",
    "pigment_result_arrow_stream": ARROW,
    "pigment_collection_add_arrow": ARROW,
    "pigment_collection_update_arrow": ARROW,
    "pigment_collection_upsert_arrow": ARROW,
}

FUNCTIONS = {
    ("pigment_embedding_function", "embed"):
        "unsafe extern \"C\" fn(user_data: *mut c_void, purpose: i32, count: usize, texts: *const pigment_text_column, "
        "sink: *mut pigment_embedding_sink) -> pigment_status",
    ("pigment_embedding_function", "release"): "unsafe extern \"C\" fn(user_data: *mut c_void)",
    ("pigment_tracing", "begin"):
        "unsafe extern \"C\" fn(user_data: *mut c_void, span: u64, parent: u64, kind: i32, name: *const c_char, collection_id: *const c_char)",
    ("pigment_tracing", "end"):
        "unsafe extern \"C\" fn(user_data: *mut c_void, span: u64, status: pigment_status, count: usize, keys: *const *const c_char, "
        "values: *const i64)",
}

SCALARS = {
    "int32_t": "i32", "int64_t": "i64", "uint8_t": "u8", "uint32_t": "u32", "uint64_t": "u64", "size_t": "usize", "bool": "bool",
    "float": "f32", "double": "f64", "char": "c_char", "void": "c_void", "pigment_status": "pigment_status",
}

HEAD = """// SPDX-License-Identifier: Apache-2.0
//
// Written by bindings/tables/generate from pigment.h.
"""


def files(header):
    """What is generated, which must be there before a new function can be called; so who only checks is told of functions that are not."""
    if "--check" in sys.argv:
        check_coverage(header)
    return {"rust/pigment-sys/src/generated.rs": declarations(header), "rust/pigment/src/codes.rs": codes(header)}


def check_coverage(header):
    """Every function is called by the safe crate, or named above; SystemExit otherwise."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(SOURCES.glob("**/*.rs")))
    called = set(re.findall(r"\bsys::(pigment_\w+)", text))
    declared = {function.name for function in header.functions}
    problems = [f"{name} is not called by bindings/rust/pigment" for name in sorted(declared - called - set(UNUSED))]
    problems += [f"{name} is called by bindings/rust/pigment, or gone: for_rust.UNUSED must not name it"
                 for name in sorted(set(UNUSED) - (declared - called))]
    if problems:
        raise SystemExit("\n".join(problems))


def rust_type(text, known):
    """A C type in Rust: `const char *` becomes `*const c_char`."""
    pointers = text.count("*")
    constant = text.startswith("const ")
    base = text.replace("*", "").removeprefix("const ").strip()
    name = SCALARS.get(base, base if base in known else None)
    if name is None:
        raise ValueError(f"a type that has no Rust name: {text}")
    for level in range(pointers):
        name = f"*{'const' if constant and level == 0 else 'mut'} {name}"
    return name


def declarations(header):
    known = {struct.name for struct in header.structs} | set(header.objects)
    out = [HEAD, "use core::ffi::{c_char, c_void};", "",
           "/// A code of `PIGMENT_OK` … `PIGMENT_UNPROCESSABLE_ENTITY`.", "pub type pigment_status = i32;", "",
           f"pub const PIGMENT_ABI_VERSION: i32 = {header.abi_version};", ""]
    for group in header.groups:
        kind = "pigment_status" if group.name == "status" else "i32"
        out += [f"pub const {constant.name}: {kind} = {constant.value};" for constant in group.constants] + [""]
    for name in header.objects:
        out += ["/// Opaque; only ever behind a pointer.", "#[repr(C)]", f"pub struct {name} {{", "    _private: [u8; 0],",
                "    _marker: core::marker::PhantomData<(*mut u8, core::marker::PhantomPinned)>,", "}", ""]
    for struct in header.structs:
        out += ["#[repr(C)]", "#[derive(Clone, Copy, Debug)]", f"pub struct {struct.name} {{"]
        for field in struct.fields:
            kind = (f"Option<{FUNCTIONS[(struct.name, field.name)]}>" if field.type == "function"
                    else rust_type(field.type, known))
            out.append(f"    pub {field.name}: {kind},")
        sized = struct.fields[0].name == "struct_size"
        out += ["}", "", f"impl {struct.name} {{", f"    /// All zero{', with its size' if sized else ''}: every default.",
                "    #[must_use]", "    pub const fn new() -> Self {",
                "        // SAFETY: null pointers, absent functions, zero and false are values of all its fields."]
        if sized:
            out += ["        let mut value: Self = unsafe { core::mem::zeroed() };",
                    "        value.struct_size = core::mem::size_of::<Self>();", "        value"]
        else:
            out += ["        unsafe { core::mem::zeroed() }"]
        out += ["    }", "}", "", f"impl Default for {struct.name} {{", "    fn default() -> Self {", "        Self::new()", "    }",
                "}", ""]
    out.append("extern \"C\" {")
    for function in header.functions:
        parameters = ", ".join(f"{parameter.name}: {rust_type(parameter.type, known)}" for parameter in function.parameters)
        result = "" if function.result == "void" else f" -> {rust_type(function.result, known)}"
        if function.checked:
            out.append("    #[must_use]")
        out.append(f"    pub fn {function.name}({parameters}){result};")
    out += ["}", "", layouts(header), ""]
    return "\n".join(out)


def layouts(header):
    """What a test compares with bindings/tables/layouts."""
    out = ["/// How a struct lies in memory: its name, its size, its fields with their offsets.", "pub struct Layout {",
           "    pub name: &'static str,", "    pub size: usize,", "    pub fields: &'static [(&'static str, usize)],", "}", "",
           "/// All structs.", "pub const LAYOUTS: &[Layout] = &["]
    for struct in header.structs:
        out += ["    Layout {", f"        name: \"{struct.name}\",", f"        size: core::mem::size_of::<{struct.name}>(),",
                "        fields: &["]
        out += [f"            (\"{field.name}\", core::mem::offset_of!({struct.name}, {field.name}))," for field in struct.fields]
        out += ["        ],", "    },"]
    return "\n".join([*out, "];"])


DOCS = {
    "status": ("ErrorKind", "What kind of error it is: the C interface's status, see `docs/status-codes.md`."),
    "detail": ("Detail", "Finer than the kind, for the cases that a program tells apart."),
    "fault": ("Fault", "Whose doing an error is."),
}


def codes(header):
    out = [HEAD, "use pigment_sys as sys;", ""]
    for group in header.groups:
        if group.name in DOCS:
            out += enumeration(group, *DOCS[group.name])
    return "\n".join(out)


def camel(words):
    return "".join(word.capitalize() for word in words.split("_"))


def enumeration(group, name, document):
    constants = [constant for constant in group.constants if constant.name != "PIGMENT_OK"]
    variants = [(camel(group.short(constant)), constant) for constant in constants]
    out = [f"/// {document}", "#[non_exhaustive]", "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]", f"pub enum {name} {{"]
    for variant, constant in variants:
        out += [f"    /// `{constant.name}`.", f"    {variant},"]
    out += ["    /// A number that this crate does not know: the library is newer.", "    Unrecognized(i32),", "}", "",
            f"impl {name} {{", f"    /// All that have a name.", f"    pub const ALL: [Self; {len(variants)}] = ["]
    out += [f"        Self::{variant}," for variant, _ in variants]
    out += ["    ];", "", "    /// The number in the C interface.", "    #[must_use]", "    pub const fn code(self) -> i32 {",
            "        match self {"]
    out += [f"            Self::{variant} => sys::{constant.name}," for variant, constant in variants]
    out += ["            Self::Unrecognized(code) => code,", "        }", "    }", "",
            "    pub(crate) const fn from_code(code: i32) -> Self {", "        match code {"]
    out += [f"            sys::{constant.name} => Self::{variant}," for variant, constant in variants]
    out += ["            code => Self::Unrecognized(code),", "        }", "    }", "",
            "    /// Its name in capitals, as the C interface writes it.", "    #[must_use]",
            "    pub const fn constant_name(self) -> &'static str {", "        match self {"]
    out += [f"            Self::{variant} => \"{group.short(constant)}\"," for variant, constant in variants]
    return out + ["            Self::Unrecognized(_) => \"UNRECOGNIZED\",", "        }", "    }", "}", ""]

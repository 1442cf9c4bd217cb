// SPDX-License-Identifier: Apache-2.0
//
// Finds libpigment: PIGMENT_LIB_DIR, else pkg-config. PIGMENT_INCLUDE_DIR says where pigment/pigment.h is, and only makes
// sure that the header belongs to these declarations. PIGMENT_STATIC=1 links the static library. Documentation needs none.

use std::{env, fs, path::Path};

const ABI_VERSION: &str = "1";

fn main() {
    for name in ["PIGMENT_LIB_DIR", "PIGMENT_INCLUDE_DIR", "PIGMENT_STATIC", "DOCS_RS"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    if env::var_os("DOCS_RS").is_some() {
        return;
    }
    let is_static = env::var("PIGMENT_STATIC").is_ok_and(|value| value == "1");
    match env::var("PIGMENT_LIB_DIR") {
        Ok(folder) => link_from(&folder, is_static),
        Err(_) => link_by_pkg_config(is_static),
    }
    if let Ok(folder) = env::var("PIGMENT_INCLUDE_DIR") {
        check_header(&folder);
        println!("cargo:include={folder}");
    }
}

fn link_from(folder: &str, is_static: bool) {
    if !Path::new(folder).is_dir() {
        fail(&format!("PIGMENT_LIB_DIR names no folder: {folder}"));
    }
    println!("cargo:rustc-link-search=native={folder}");
    println!("cargo:rustc-link-lib={}=pigment", if is_static { "static" } else { "dylib" });
    if is_static {
        // What libpigment.a needs besides itself; pkg-config knows it too, and better.
        for name in
            ["re2", "isal", "xxhash", "zstd", "icui18n", "icuuc", "fmt", "hwy", "stemmer", "stdc++", "m", "pthread"]
        {
            println!("cargo:rustc-link-lib=dylib={name}");
        }
    }
}

fn link_by_pkg_config(is_static: bool) {
    let found = pkg_config::Config::new().statik(is_static).atleast_version("0.2.0").probe("pigment");
    match found {
        Ok(library) => {
            for folder in &library.include_paths {
                println!("cargo:include={}", folder.display());
            }
        }
        Err(error) => fail(&format!(
            "libpigment was not found; set PIGMENT_LIB_DIR to the folder of libpigment.so, or PKG_CONFIG_PATH to that of \
             pigment.pc: {error}"
        )),
    }
}

fn check_header(folder: &str) {
    let path = Path::new(folder).join("pigment/pigment.h");
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => fail(&format!("PIGMENT_INCLUDE_DIR: cannot read {}: {error}", path.display())),
    };
    let version = text.lines().find_map(|line| line.strip_prefix("#define PIGMENT_ABI_VERSION "));
    if version.map(str::trim) != Some(ABI_VERSION) {
        fail(&format!("{} has ABI version {version:?}, these declarations are of {ABI_VERSION}", path.display()));
    }
}

fn fail(message: &str) -> ! {
    eprintln!("pigment-sys: {message}");
    std::process::exit(1);
}

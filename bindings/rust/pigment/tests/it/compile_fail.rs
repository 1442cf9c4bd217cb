// SPDX-License-Identifier: Apache-2.0
//
// Programs that must not compile, each with the error that it is to stop at in its first line; and one that must, so that the
// others do not fail for another reason. rustc is called on the library that this program was linked with.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The newest library of that name beside this program.
fn library(deps: &Path, name: &str) -> PathBuf {
    let files = std::fs::read_dir(deps).expect("a folder").map(|entry| entry.expect("an entry").path());
    let is_it = |path: &PathBuf| {
        let file = path.file_name().and_then(|file| file.to_str()).unwrap_or_default();
        file.starts_with(&format!("lib{name}-")) && file.ends_with(".rlib")
    };
    files
        .filter(is_it)
        .max_by_key(|path| path.metadata().and_then(|data| data.modified()).expect("a time"))
        .expect("a library")
}

fn compile(source: &Path, deps: &Path) -> (bool, String) {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let run = Command::new(rustc)
        .args(["--edition=2021", "--crate-type=bin", "--emit=metadata", "--error-format=short", "-o"])
        .arg(Path::new(env!("CARGO_TARGET_TMPDIR")).join("compile_fail.rmeta"))
        .arg("-L")
        .arg(format!("dependency={}", deps.display()))
        .arg("--extern")
        .arg(format!("pigment={}", library(deps, "pigment").display()))
        .arg(source)
        .output()
        .expect("rustc runs");
    (run.status.success(), String::from_utf8_lossy(&run.stderr).into_owned())
}

#[test]
fn programs_that_would_outlive_what_they_borrow_do_not_compile() {
    let program = std::env::current_exe().expect("this program");
    let deps = program.parent().expect("its folder");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compile_fail");
    let mut sources: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    sources.sort();
    assert!(sources.len() >= 10, "{sources:?}");
    for source in sources {
        let text = std::fs::read_to_string(&source).expect("a program");
        let expected = text.lines().find_map(|line| line.strip_prefix("// stops at: ")).expect("what it stops at");
        let (compiled, said) = compile(&source, deps);
        if expected == "nothing" {
            assert!(compiled, "{}:\n{said}", source.display());
            continue;
        }
        assert!(!compiled, "{} compiles", source.display());
        let errors: Vec<&str> = said.lines().filter(|line| line.contains(": error")).collect();
        let only = errors.iter().all(|line| line.contains("aborting") || line.contains(&format!("error[{expected}]")));
        assert!(!errors.is_empty() && only, "{}: not (only) {expected}:\n{said}", source.display());
    }
}

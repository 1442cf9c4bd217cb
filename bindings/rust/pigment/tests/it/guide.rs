// SPDX-License-Identifier: Apache-2.0
//
// The guide's example is the one that is built and run, and prints what the guide says.

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/rust.md");
const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/first.rs");

/// The first block of the guide that begins with this line.
fn block(guide: &str, begin: &str) -> String {
    let text = guide.split_once(&format!("```{begin}\n")).expect("a block").1;
    text.split_once("```").expect("its end").0.to_owned()
}

#[test]
fn example_of_the_guide_is_the_one_that_runs() {
    let guide = std::fs::read_to_string(GUIDE).expect("the guide");
    let example = std::fs::read_to_string(EXAMPLE).expect("the example");
    assert_eq!(block(&guide, "rust"), example);
    let code = example.lines().filter(|line| !line.is_empty() && !line.starts_with("use ")).count();
    assert!(code <= 15, "{code} lines");
    // Cargo builds examples for a test run, beside the folder of the tests.
    let program = std::env::current_exe().expect("this program");
    let program = program.parent().and_then(|deps| deps.parent()).expect("a profile").join("examples/first");
    let run = std::process::Command::new(program).output().expect("the example runs");
    assert!(run.status.success(), "{run:?}");
    assert_eq!(String::from_utf8_lossy(&run.stdout), block(&guide, "text"));
}

// SPDX-License-Identifier: Apache-2.0
//
// The scripts of tests/conformance through this crate, in memory and in a directory: one test for each script and home, printed as
// the test harness does. A step that Rust's types cannot say is left out for a reason that is listed and counted here.

mod compare;
mod runner;

use runner::{Failure, Runner};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Reasons why a step is left out, and how many steps are, in all scripts and homes.
const EXCEPTIONS: &[(&str, usize)] =
    &[("a limit or offset is unsigned", 12), ("n_results is unsigned", 2), ("a space is one of an enum", 2)];

struct Step {
    line: usize,
    json: Value,
}

struct Script {
    file: PathBuf,
    name: String,
    home: String,
    steps: Vec<Step>,
}

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/conformance");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("the corpus").map(|file| file.expect("a file").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let scripts: Vec<Script> = files.iter().flat_map(|file| read(file)).collect();
    let (mut failed, mut run, mut left_out) = (0, 0, BTreeMap::new());
    for script in &scripts {
        for home in ["memory", "directory"] {
            if script.home != "both" && script.home != home {
                continue;
            }
            run += 1;
            let name =
                format!("{}: {} ({home})", script.file.file_stem().unwrap_or_default().to_string_lossy(), script.name);
            match execute(script, home, run, &mut left_out) {
                Ok(()) => println!("test {name} ... ok"),
                Err(why) => {
                    failed += 1;
                    println!("test {name} ... FAILED\n{why}");
                }
            }
        }
    }
    for (reason, expected) in EXCEPTIONS {
        let met = left_out.remove(reason).unwrap_or(0);
        let word = if met == *expected { "ok" } else { "FAILED" };
        failed += usize::from(met != *expected);
        println!("test steps left out because {reason}: {met}, {expected} are known ... {word}");
    }
    assert!(left_out.is_empty(), "reasons that are not listed: {left_out:?}");
    println!("{run} scripts and homes, {failed} failed");
    if failed == 0 && run >= 100 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn read(file: &Path) -> Vec<Script> {
    let text = std::fs::read_to_string(file).expect("a script");
    let mut scripts: Vec<Script> = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.is_empty()) {
        let json: Value =
            serde_json::from_str(line).unwrap_or_else(|why| panic!("{}:{}: {why}", file.display(), number + 1));
        if let Some(name) = json["script"].as_str() {
            let home = json["home"].as_str().unwrap_or("both");
            scripts.push(Script { file: file.into(), name: name.into(), home: home.into(), steps: Vec::new() });
        } else {
            assert!(json.get("expect").is_some() != json.get("error").is_some(), "{}:{}", file.display(), number + 1);
            scripts.last_mut().expect("a script before its steps").steps.push(Step { line: number + 1, json });
        }
    }
    scripts
}

fn execute(
    script: &Script,
    home: &str,
    number: usize,
    left_out: &mut BTreeMap<&'static str, usize>,
) -> Result<(), String> {
    let folder = (home == "directory")
        .then(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("conformance-{}-{number}", std::process::id())));
    let mut runner = Runner::new(folder.clone()).map_err(|error| error.to_string())?;
    let outcome = script.steps.iter().try_for_each(|step| {
        let place = |why: String| format!("{}:{}: {why}\n  {}", script.file.display(), step.line, step.json);
        match (runner.execute(&step.json), step.json.get("error")) {
            (Err(Failure::NotExpressible(reason)), _) => *left_out.entry(reason).or_insert(0) += 1,
            (Err(Failure::Error(error)), Some(expected)) => {
                compare::error(expected, &error).map_err(|why| place(format!("{why}: {error:?}")))?
            }
            (Err(Failure::Error(error)), None) => return Err(place(format!("{error:?}"))),
            (Ok(answer), Some(_)) => return Err(place(format!("expected to fail, got {answer}"))),
            (Ok(answer), None) => compare::answer(&step.json["expect"], &answer, "$", false).map_err(place)?,
        }
        Ok(())
    });
    drop(runner);
    if let Some(folder) = folder {
        std::fs::remove_dir_all(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    }
    outcome
}

//! The table of `contrib/bench`: that everything it measures can be measured. What the figures are is
//! for the command itself, on a machine that is left alone.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use antidrift_tests::antidriftd;

/// The program behind it and the floors, built as the daemon is.
fn figures() -> PathBuf {
    let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
    let test = env::current_exe().unwrap();
    // target/PROFILE/deps/TEST-HASH
    let dir = test.ancestors().nth(2).unwrap();
    if let Some(cargo) = env::var_os("CARGO") {
        let built = Command::new(cargo)
            .args(["build", "--quiet", "--package", "antidrift-tests", "--profile", profile])
            .args(["--example", "figures", "--example", "floor_watch", "--example", "floor_ask"])
            .arg("--target-dir")
            .arg(dir.parent().unwrap())
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status();
        assert!(built.is_ok_and(|status| status.success()), "the examples do not build");
    }
    let figures = dir.join("examples/figures");
    assert!(figures.is_file(), "{} is missing: run cargo build --examples", figures.display());
    figures
}

fn run(args: &[&str]) -> Output {
    let dir = antidriftd();
    let mut command = Command::new(figures());
    command.args(args).env("ANTIDRIFT_BIN_DIR", dir.parent().unwrap());
    command.output().unwrap()
}

/// Runs it with tiny counts: the sentence about the machine, and the cells of each row.
#[track_caller]
fn table(numbers: &[&str]) -> (String, Vec<Vec<String>>) {
    let output = run(&[&["--quick"], numbers].concat());
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut lines = said.lines();
    let machine = lines.next().unwrap().to_owned();
    assert_eq!(lines.next(), Some(""));
    let cells = |line: &str| {
        let inner = line.strip_prefix("| ").and_then(|it| it.strip_suffix(" |"));
        let cells = inner.unwrap_or_else(|| panic!("no row: {line}")).split(" | ");
        cells.map(str::to_owned).collect::<Vec<_>>()
    };
    let mut rows: Vec<_> = lines.map(cells).collect();
    assert_eq!(rows[0], ["#", "what", "antidrift", "floor", "ratio", "goal", "met"]);
    assert!(rows[1].iter().all(|cell| cell.contains("---")), "{:?}", rows[1]);
    rows.drain(..2);
    (machine, rows)
}

#[test]
fn every_goal_has_a_row_with_figures() {
    let (machine, rows) = table(&[]);
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    assert!(machine.contains(&format!("Linux {}", release.trim())), "{machine}");
    let mut numbers: Vec<u32> = rows.iter().map(|row| row[0].parse().unwrap()).collect();
    assert!(numbers.is_sorted(), "{numbers:?}");
    numbers.dedup();
    assert_eq!(numbers, (1..=15).collect::<Vec<_>>());
    for row in &rows {
        assert_eq!(row.len(), 7, "{row:?}");
        for figure in row[2].split(" / ") {
            assert!(figure.parse::<f64>().is_ok(), "«{figure}» in {row:?}");
        }
        let met = row[6].split(" / ");
        assert!(met.clone().all(|it| ["yes", "**no**", "–"].contains(&it)), "{row:?}");
        // whoever has a goal says whether it is met
        assert_eq!(row[5] == "–", met.clone().all(|it| it == "–"), "{row:?}");
    }
    // of what does not depend on time: nothing was missed, and nothing told twice
    let switches = rows.iter().find(|row| row[1].contains("missed")).unwrap();
    assert_eq!((switches[2].as_str(), switches[6].as_str()), ("0 / 0", "yes"));
}

#[test]
fn rows_are_chosen_by_number() {
    let (_, rows) = table(&["11", "15"]);
    assert_eq!(rows.iter().map(|row| row[0].as_str()).collect::<Vec<_>>(), ["11", "15"]);
}

#[test]
fn what_is_no_row_is_refused() {
    for wrong in ["16", "0", "first", "--slow"] {
        let output = run(&[wrong]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{wrong}");
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert!(complaint.contains("usage") && complaint.contains("1 to 15"), "{complaint}");
    }
}

/// The script takes what the program takes, and says what it is for.
#[test]
fn the_script_explains_itself() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../contrib/bench");
    let output = Command::new(&script).arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && help.contains("--quick"), "{help}");
    let output = Command::new(&script).arg("--slow").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("«--slow» is unknown"));
}

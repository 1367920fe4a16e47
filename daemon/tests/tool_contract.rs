//! What is known of each tool holds for the real one, where it is installed: it is started for its
//! version and its help, and nothing is sent anywhere.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test, and it says what it skips")]

use std::{
    collections::HashSet,
    process::{Command, Output, Stdio},
};

use antidrift_daemon::ai::tools::{TOOLS, Tool, Word};

/// Runs it in a home of its own: some make files there at every start. `None` if it is not
/// installed.
fn run(tool: &Tool, args: &[&str]) -> Option<Output> {
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(tool.name)
        .args(args)
        .env("HOME", home.path())
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) => Some(output),
        Err(_) => {
            eprintln!("skipped: {} is not installed here", tool.name);
            None
        }
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn flags<'a>(args: &'a [Word]) -> impl Iterator<Item = &'static str> + 'a {
    args.iter().filter_map(|word| match word {
        Word::Text(flag) if flag.len() > 1 && flag.starts_with('-') => Some(*flag),
        _ => None,
    })
}

#[test]
fn every_tool_that_is_installed_tells_its_version() {
    for tool in TOOLS {
        let Some(output) = run(tool, &["--version"]) else { continue };
        assert!(output.status.success(), "{}: {}", tool.name, text(&output));
        assert!(text(&output).contains(|c: char| c.is_ascii_digit()), "{}", tool.name);
    }
}

#[test]
fn every_flag_that_is_used_is_one_that_the_tool_knows() {
    for tool in TOOLS {
        let Some(output) = run(tool, tool.help) else { continue };
        assert!(output.status.success(), "{}: {}", tool.name, text(&output));
        let help = text(&output);
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let known: HashSet<&str> = help.split(|c| !is_part(c)).collect();
        for flag in flags(tool.args).chain(tool.older.into_iter().flat_map(flags)) {
            assert!(known.contains(flag), "{} does not know {flag}:\n{help}", tool.name);
        }
    }
}

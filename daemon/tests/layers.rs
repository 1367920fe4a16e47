//! Who may know whom. The compiler does not hold the walls between modules of one crate; this does.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{fs, path::Path};

/// A room, and what no line of its code may name.
const WALLS: [(&str, &[&str]); 5] = [
    // Pure: no clock, no files, no environment, no processes, no log of what it sees.
    (
        "session",
        &[
            "std::fs",
            "std::env",
            "std::net",
            "std::process",
            "std::thread",
            "std::time::Instant",
            "SystemTime",
            "tokio",
            "tracing",
            "x11rb",
            "rustix",
            "crate::server",
            "crate::store",
            "crate::hub",
            "crate::clock",
            "crate::config",
            "crate::controller",
        ],
    ),
    (
        "evidence",
        &[
            "std::fs",
            "std::env",
            "std::net",
            "std::process",
            "std::thread",
            "std::time",
            "tokio",
            "tracing",
            "x11rb",
            "rustix",
            "crate::ai",
            "crate::session",
            "crate::server",
            "crate::store",
            "crate::hub",
            "crate::clock",
            "crate::config",
            "crate::controller",
            "crate::sensor",
        ],
    ),
    // A leaf: primitives in, primitives out.
    (
        "ai",
        &[
            "x11rb",
            "crate::session",
            "crate::server",
            "crate::store",
            "crate::hub",
            "crate::controller",
            "crate::config",
            "crate::sensor",
            "crate::evidence",
        ],
    ),
    // Listens to the login manager, and tells what that says of a person.
    (
        "login",
        &[
            "x11rb",
            "crate::ai",
            "crate::evidence",
            "crate::session",
            "crate::server",
            "crate::store",
            "crate::hub",
            "crate::controller",
            "crate::config",
            "crate::clock",
        ],
    ),
    // Sees windows and tells of them; knows nothing of what becomes of it.
    (
        "sensor",
        &[
            "tokio",
            "crate::ai",
            "crate::session",
            "crate::server",
            "crate::store",
            "crate::hub",
            "crate::controller",
            "crate::config",
            "crate::clock",
        ],
    ),
];

fn sources(dir: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            found.push((path.display().to_string(), fs::read_to_string(&path).unwrap()));
        }
    }
}

/// The code without its comment lines.
fn without_comments(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Every path that a `use` names, with its groups written out: `use std::{fs, io::{self, Read}};`
/// names `std::fs`, `std::io` and `std::io::Read`.
fn used_paths(code: &str) -> Vec<String> {
    let starts = code.match_indices("use ").map(|(at, _)| at).filter(|&at| {
        let before = code[..at].chars().next_back();
        before.is_none_or(|char| !char.is_alphanumeric() && char != '_')
    });
    let trees = starts.filter_map(|at| code[at + 4..].split_once(';'));
    let mut paths = Vec::new();
    for (tree, _) in trees {
        unfold("", &tree.split_whitespace().collect::<String>(), &mut paths);
    }
    paths
}

fn unfold(prefix: &str, tree: &str, paths: &mut Vec<String>) {
    let Some((head, group)) = tree.split_once('{') else {
        paths.push(format!("{prefix}{}", tree.trim_end_matches("::self")));
        return;
    };
    let prefix = format!("{prefix}{head}");
    let group = group.strip_suffix('}').unwrap_or(group);
    let (mut depth, mut start) = (0, 0);
    for (at, char) in group.char_indices().chain([(group.len(), ',')]) {
        match char {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                match &group[start..at] {
                    "" => {}
                    "self" => paths.push(prefix.trim_end_matches("::").to_owned()),
                    branch => unfold(&prefix, branch, paths),
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// Whether a path or a piece of code names this, as whole words. A single word counts only as a
/// part of a path: it may stand in a text.
fn names(code: &str, name: &str) -> bool {
    let is_word = |char: char| char.is_alphanumeric() || char == '_';
    code.match_indices(name).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + name.len()..]);
        let whole = !before.ends_with(is_word) && !after.starts_with(is_word);
        let in_path = before.ends_with("::") || after.starts_with("::") || code == name;
        whole && (in_path || name.contains("::"))
    })
}

/// What a source names of what it must not.
fn breaches<'a>(text: &str, forbidden: &[&'a str]) -> Vec<&'a str> {
    let code = without_comments(text);
    let mut places = used_paths(&code);
    places.push(code);
    let named = |name: &&&str| places.iter().any(|place| names(place, name));
    forbidden.iter().filter(named).copied().collect()
}

#[test]
fn no_room_names_what_it_must_not_know() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    for (room, forbidden) in WALLS {
        let mut files = Vec::new();
        sources(&src.join(room), &mut files);
        assert!(!files.is_empty(), "there is no room {room}");
        for (file, text) in files {
            found.extend(breaches(&text, forbidden).into_iter().map(|name| (file.clone(), name)));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_name_is_seen_however_it_is_written() {
    let forbidden = ["std::fs", "SystemTime", "tokio", "crate::store", "crate::hub"];
    for (code, expected) in [
        ("use std::fs;", &["std::fs"][..]),
        ("pub use std::fs::File as Thing;", &["std::fs"]),
        ("use std::{fmt, fs::File};", &["std::fs"]),
        ("use std::{\n    fmt,\n    fs::{self, File},\n};", &["std::fs"]),
        ("use std::{time::{Duration, SystemTime}, fmt};", &["SystemTime"]),
        ("use crate::{store::Store, hub::Hub};", &["crate::store", "crate::hub"]),
        ("use crate::{\n    evidence::Window,\n    hub,\n};", &["crate::hub"]),
        ("use crate::{self as all, evidence::{Window, store}};", &[]),
        ("fn f() { crate::store::open() }", &["crate::store"]),
        ("fn f(file: std::fs::File) {}", &["std::fs"]),
        ("#[tokio::test]", &["tokio"]),
        ("use tokio;", &["tokio"]),
        ("let page = \"docs.rs/tokio\";", &[]),
        ("// tokio is not here\nuse std::fmt; // nor std\nlet stores = tokio_like;", &[]),
        ("use crate::stores::Store;", &[]),
    ] {
        assert_eq!(breaches(code, &forbidden), expected, "{code}");
    }
}

#[test]
fn wire_types_live_in_the_protocol_crate() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    // What is saved, read as configuration, or told to a judge has a form of its own.
    let own_forms =
        ["session/snapshot.rs", "session/ledger.rs", "store.rs", "config/tables.rs", "ai/"];
    let serialized = files.iter().filter(|(file, text)| {
        text.contains("Serialize") && !own_forms.iter().any(|form| file.contains(form))
    });
    let serialized: Vec<&String> = serialized.map(|(file, _)| file).collect();
    assert!(serialized.is_empty(), "{serialized:?}");
}

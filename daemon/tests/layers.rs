//! Who may know whom. The compiler does not hold the walls between modules of one crate; this does.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{fs, path::Path};

/// A room, and what no line of its code may name.
const WALLS: [(&str, &[&str]); 4] = [
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

#[test]
fn no_room_names_what_it_must_not_know() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut breaches = Vec::new();
    for (room, forbidden) in WALLS {
        let mut files = Vec::new();
        sources(&src.join(room), &mut files);
        assert!(!files.is_empty(), "there is no room {room}");
        for (file, text) in files {
            let code = text.lines().enumerate().filter(|(_, line)| {
                let line = line.trim_start();
                !line.starts_with("//")
            });
            for (number, line) in code {
                // `std::{fs, …}` names the same as `std::fs`.
                for name in forbidden {
                    let grouped = name.strip_prefix("std::").is_some_and(|part| {
                        line.starts_with("use std::{")
                            && line.split(['{', ',', '}', ' ', ';']).any(|word| word == part)
                    });
                    if grouped
                        || line.contains(&format!("{name}::"))
                        || line.contains(&format!("{name};"))
                    {
                        breaches.push(format!("{file}:{}: {name}", number + 1));
                    }
                }
            }
        }
    }
    assert!(breaches.is_empty(), "{breaches:#?}");
}

#[test]
fn wire_types_live_in_the_protocol_crate() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    // What is saved, read as configuration, or told to a judge has a form of its own.
    let own_forms = ["session/snapshot.rs", "store.rs", "config.rs", "ai/"];
    let serialized = files.iter().filter(|(file, text)| {
        text.contains("Serialize") && !own_forms.iter().any(|form| file.contains(form))
    });
    let serialized: Vec<&String> = serialized.map(|(file, _)| file).collect();
    assert!(serialized.is_empty(), "{serialized:?}");
}

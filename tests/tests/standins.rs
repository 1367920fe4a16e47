//! Stand-ins under the names of the real tools, which do all that the real ones were seen to do:
//! whatever a tool does, there is a verdict or a line that says why not, and nothing of it stays.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::fs;

use antidrift_tests::{Scene, until_gone, until_number};
use serde_json::json;

const VERDICT: &str = r#"{"on_task": false, "reason": "cats are no floods"}"#;
/// A part of the title that the sample has: no message may repeat it.
const TITLE: &str = "Funny cats";

/// How a tool prints a model's text, and what it prints when it gives up with status 0.
struct StandIn {
    name: &'static str,
    wrap: fn(&str) -> String,
    gives_up: &'static str,
}

const TOOLS: [StandIn; 5] = [
    StandIn {
        name: "claude",
        wrap: |text| json!({"type": "result", "is_error": false, "result": text}).to_string(),
        gives_up: r#"{"type":"result","subtype":"success","is_error":false,"result":"You've hit your limit"}"#,
    },
    StandIn { name: "codex", wrap: str::to_owned, gives_up: "You've hit your limit" },
    StandIn { name: "llm", wrap: str::to_owned, gives_up: "You've hit your limit" },
    StandIn { name: "aichat", wrap: str::to_owned, gives_up: "You've hit your limit" },
    StandIn {
        name: "gemini",
        wrap: |text| serde_json::to_string_pretty(&json!({"response": text})).unwrap(),
        gives_up: r#"{"response": "", "error": {"message": "You've hit your limit"}}"#,
    },
];

struct Bench {
    scene: Scene,
    name: &'static str,
}

impl Bench {
    /// A daemon whose judge is this tool.
    fn new(name: &'static str) -> Self {
        // Nothing that answers takes that long on a busy machine.
        Self::with_limit(name, 20.0)
    }

    fn with_limit(name: &'static str, secs: f64) -> Self {
        let config = format!("[judge]\nbackend = \"{name}\"\ntimeout_secs = {secs}\n");
        let mut scene =
            Scene::without_display().settings(move |it| it.whole = Some(config)).start();
        scene.home.install(name, "#!/bin/sh\ncd \"$(dirname \"$0\")\" && . ./act\n");
        // What is not on PATH at the start is not looked for again.
        scene.stop_daemon();
        scene.start_daemon();
        Self { scene, name }
    }

    /// What comes of a judgement if the tool does this.
    fn judged(&self, act: &str) -> (Option<String>, String) {
        let draft = self.scene.home.path().join("act.draft");
        fs::write(&draft, format!("{act}\n")).unwrap();
        fs::rename(draft, self.scene.home.bin().join("act")).unwrap();
        let answer = self.scene.ask("check_judge", &json!({}));
        let checked = &answer["ok"];
        let detail = checked["detail"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        assert!(!detail.contains(TITLE), "{}: {act}: {detail}", self.name);
        (checked["verdict"].as_str().map(str::to_owned), detail)
    }

    #[track_caller]
    fn drifts(&self, act: &str) {
        let found = self.judged(act);
        let expected = (Some("drifting".to_owned()), "cats are no floods".to_owned());
        assert_eq!(found, expected, "{}: {act}", self.name);
    }

    #[track_caller]
    fn fails(&self, act: &str, part: &str) {
        let (verdict, detail) = self.judged(act);
        assert_eq!(verdict, None, "{}: {act}", self.name);
        assert!(detail.starts_with(self.name), "it says who: {detail}");
        assert!(detail.contains(part), "{}: {act}: {part}: {detail}", self.name);
    }

    /// The processes that wrote their numbers to these files are no more.
    #[track_caller]
    fn are_gone<const N: usize>(&self, files: [&str; N]) {
        for file in files {
            let path = self.scene.home.bin().join(file);
            until_gone(until_number(&path));
            fs::remove_file(path).unwrap();
        }
    }
}

fn print(text: &str) -> String {
    format!("printf '%s\\n' '{}'", text.replace('\'', r"'\''"))
}

#[test]
fn every_tool_is_understood_or_says_what_is_wrong() {
    for StandIn { name, wrap, gives_up } in &TOOLS {
        let bench = Bench::new(name);
        let good = print(&wrap(VERDICT));
        bench.drifts(&format!("cat > /dev/null; {good}"));
        // It need not read.
        bench.drifts(&good);

        // Chatter, with terminal sequences, around it.
        let chatty = print(&wrap(&format!("Sure! Here it is:\n```json\n{VERDICT}\n```")));
        let notice = "printf '\\033[33mupdate available: 9.9\\033[0m\\n'";
        bench.drifts(&format!("{notice} >&2; cat >&2; {chatty}"));
        bench.drifts(&format!("{notice}; {good}; {notice}"));

        // A status of 0 proves nothing, and a verdict with another status is none.
        bench.fails(&print(gives_up), "limit");
        bench.fails("cat > /dev/null", "printed nothing");
        bench.fails(&format!("{good}; exit 7"), "status 7");
        bench.fails(&format!("{good}; kill -9 $$"), "signal 9");

        // The prompt comes back on standard error.
        bench.fails("cat >&2; exit 1", "status 1");
        bench.fails("cat >&2; echo 'ERROR: no quota left' >&2; exit 1", "no quota left");

        // 100 MB of either.
        bench.fails("exec yes \"$(printf %1000s x)\" | head -c 100000000", "256 KiB");
        bench.fails(
            "head -c 100000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo the end >&2; exit 1",
            "the end",
        );
    }
}

#[test]
fn a_flood_costs_the_daemon_no_memory() {
    for StandIn { name, .. } in &TOOLS {
        let mut bench = Bench::new(name);
        bench.fails("exit 1", "status 1");
        let before = bench.scene.daemon().process().resident_kib();
        bench.fails("exec head -c 100000000 /dev/zero", "256 KiB");
        let after = bench.scene.daemon().process().resident_kib();
        assert!(after < before + 4096, "{name}: {before} to {after} KiB");
    }
}

#[test]
fn a_tool_that_hangs_is_ended_with_all_that_it_started() {
    for StandIn { name, .. } in &TOOLS {
        let bench = Bench::with_limit(name, 0.5);
        let hangs = "trap '' TERM; echo $$ > leader; sleep 600 & echo $! > child; \
                     setsid sh -c 'echo $$ > stray; exec sleep 600' & \
                     while :; do wait; done";
        bench.fails(hangs, "no answer within 0.5 s");
        let (_, detail) = bench.judged("echo 'ERROR: reconnecting' >&2; exec sleep 600");
        assert!(detail.contains("reconnecting") && detail.contains("logged in"), "{detail}");
        bench.are_gone(["leader", "child", "stray"]);
    }
}

#[test]
fn a_grandchild_that_holds_the_pipe_holds_up_nobody() {
    for StandIn { name, wrap, .. } in &TOOLS {
        let bench = Bench::new(name);
        let leaves = "sleep 600 & echo $! > child; \
                      setsid sh -c 'echo $$ > stray; exec sleep 600' & \
                      until [ -s stray ]; do :; done";
        bench.drifts(&format!("{leaves}; {}", print(&wrap(VERDICT))));
        bench.are_gone(["child", "stray"]);
    }
}

/// A tool of another version must not be run without what it does not know: that may be what keeps
/// its own tools from a title.
#[test]
fn a_tool_that_does_not_know_its_options_is_left_alone() {
    for StandIn { name, .. } in &TOOLS {
        let bench = Bench::new(name);
        bench.fails("echo \"error: unknown option '$1'\" >&2; exit 1", "upgrade it");
    }
}

//! The commands that ask once and end.

mod support;

use std::{fs, path::Path, process::Stdio};

use antidrift_protocol::{ErrorCode, ErrorObject, Greeting, PROTOCOL, Reply};
use antidrift_tests::Timer;
use serde_json::{Value, json};
use support::*;

fn started(state: Value) -> Value {
    json!({"seq": 1, "at": "2026-11-30T09:00:00Z", "saved": true, "warning": null, "state": state,
        "notes": ["domains cannot be seen by this sensor"]})
}

fn status(state: Value) -> Value {
    json!({"seq": 1, "at": "2026-11-30T09:13:24Z", "state": state})
}

fn allowing(kind: &str, value: &str) -> Value {
    json!({"seq": 2, "saved": true, "warning": null, "added": {"kind": kind, "value": value},
        "window": window()})
}

fn review() -> Value {
    json!({"seq": 2, "saved": true, "warning": null, "review": {"outcome": "done", "note": null,
        "ended_at": "2026-11-30T09:25:00Z", "ontask_secs": 1200, "drifting_secs": 180,
        "other_secs": 0, "away_secs": 0, "detour_secs": 0, "alerts": 2}})
}

#[test]
fn start_sends_what_was_typed_and_says_what_it_did() {
    let daemon = FakeDaemon::start(answering("start", started(active("idle"))));
    let ran = run(
        daemon.dir.path(),
        &[
            "start",
            "draft",
            "the",
            "report",
            "--for",
            "25m",
            "--next",
            "outline",
            "--success",
            "agreed",
            "--allow",
            "code, emacs,",
            "--allow-title",
            "RFC, 9110",
            "--allow-domain",
            "https://Docs.rs/tokio?x=1",
            "--allow-command",
            "/usr/bin/vim",
        ],
    );
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(
        ran.out,
        "started: draft the report (25 min)\non task: classes code\n\
         note: domains cannot be seen by this sensor\n"
    );
    assert_eq!(ran.err, "");
    let args = daemon.asked("start").remove(0)["args"].clone();
    assert_eq!(
        args,
        json!({"text": "draft the report", "next_action": "outline", "success_condition": "agreed",
            "timebox_secs": 1500, "allowed": {"window_classes": ["code", "emacs"],
            "window_titles": [], "window_title_substrings": ["RFC, 9110"], "domains": ["docs.rs"],
            "commands": ["vim"]}})
    );
    assert_eq!(daemon.requests()[0]["cmd"], "hello");
}

#[test]
fn entries_that_can_match_nothing_are_refused_by_option_and_nothing_is_asked() {
    let daemon = FakeDaemon::start(answering("start", started(active("idle"))));
    for (line, option) in [
        (&["start", "x", "--allow-domain", "two words"][..], "--allow-domain must be a host name"),
        (&["start", "x", "--allow-domain", "http://"], "--allow-domain must be a host name"),
        (&["start", "x", "--allow-domain", "docs.rs,a..b"], "--allow-domain must be a host name"),
        (&["start", "x", "--allow-domain", ""], "--allow-domain must not be blank"),
        (&["start", "x", "--coach", "--allow", ""], "--allow must not be blank"),
        (&["start", "x", "--coach", "--allow-domain", "a b"], "--allow-domain must be a host name"),
        (&["start", "x", "--allow", "code", "--allow", " , "], "--allow must not be blank"),
        (&["start", "x", "--allow-title", " "], "--allow-title must not be blank"),
        (&["start", "x", "--allow-command", "make test"], "--allow-command must be the name"),
        (&["ontask", "--domain", "https:///x"], "--domain must be a host name"),
        (&["ontask", "--domain", ""], "--domain must not be blank"),
        (&["ontask", "--command", "make -j4"], "--command must be the name"),
        (&["ontask", "--command", "/"], "--command must be the name"),
        (&["ontask", "--class", " "], "--class must not be blank"),
        (&["ontask", "--title", ""], "--title must not be blank"),
    ] {
        let ran = run(daemon.dir.path(), line);
        assert_eq!((ran.code, ran.err.lines().count()), (Some(2), 1), "{line:?}: {ran:?}");
        assert!(ran.err.contains(option), "{line:?}: {ran:?}");
    }
    assert_eq!(daemon.requests(), Vec::<Value>::new());
    for (option, typed, sent) in [
        ("--domain", "https://Docs.rs/tokio", json!({"domain": "docs.rs"})),
        ("--command", "/usr/bin/make", json!({"command": "make"})),
    ] {
        run(daemon.dir.path(), &["ontask", option, typed]);
        assert_eq!(daemon.asked("ontask").pop().unwrap()["args"], sent);
    }
}

#[test]
fn texts_are_kept_as_typed_or_refused_in_one_line() {
    let daemon = FakeDaemon::start(answering("start", started(active("idle"))));
    let long = "x".repeat(4096);
    let kept = [
        "- [ ] write chapter 2",
        "-x",
        "--help me",
        "two\nlines",
        "\"quotes\" 'and' $(more)",
        "🦀 naïve",
        "  kept  ",
        long.as_str(),
    ];
    for text in kept {
        let ran = run(daemon.dir.path(), &["start", "--", text]);
        assert_eq!(ran.code, Some(0), "{text}: {ran:?}");
        assert_eq!(daemon.asked("start").pop().unwrap()["args"]["text"], text);
    }
    let too_long = "x".repeat(10_000);
    for (text, expected) in [
        ("", "must not be blank"),
        ("   ", "must not be blank"),
        (too_long.as_str(), "at most 4096 bytes"),
    ] {
        let ran = run(daemon.dir.path(), &["start", text]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{text}");
        assert!(ran.err.contains(expected) && ran.err.lines().count() == 1, "{}", ran.err);
    }
    assert_eq!(daemon.asked("start").len(), kept.len());
}

#[test]
fn ontask_sends_one_selector_and_says_how_to_widen() {
    let daemon = FakeDaemon::start(answering("ontask", allowing("window_title", "reddit")));
    for (args, expected) in [
        (&["ontask"][..], Value::Null),
        (&["ontask", "--class", "firefox"], json!({"window_class": "firefox"})),
        (&["ontask", "--title", "RFC"], json!({"window_title_substring": "RFC"})),
        (&["ontask", "--domain", "docs.rs"], json!({"domain": "docs.rs"})),
        (&["ontask", "--command", "vim"], json!({"command": "vim"})),
    ] {
        let ran = run(daemon.dir.path(), args);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(
            ran.out,
            "on task from now on: «reddit»\n\
             for every window of it: antidrift ontask --class firefox\n"
        );
        assert_eq!(daemon.asked("ontask").pop().unwrap()["args"], expected);
    }
}

#[test]
fn ontask_without_a_name_leaves_the_window_to_the_daemon_in_one_request() {
    let daemon = FakeDaemon::start(|request| {
        Some(match request["cmd"].as_str() {
            Some("ontask") => ok(request, &allowing("window_class", "mpv")),
            _ => String::new(),
        })
    });
    for (option, of_window) in [("--class", "window_class"), ("--title", "window_title")] {
        let ran = run(daemon.dir.path(), &["ontask", option]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let asked = daemon.asked("ontask").pop().unwrap();
        assert_eq!(asked["args"], json!({"of_window": of_window}));
    }
    assert!(daemon.asked("refocus").is_empty() && daemon.asked("status").is_empty());
}

#[test]
fn the_other_commands_say_short_lines() {
    let daemon = FakeDaemon::start(|request| {
        Some(match request["cmd"].as_str() {
            Some("refocus") => ok(
                request,
                &json!({"seq": 2, "saved": true, "warning": null, "activated": null,
                    "window": window()}),
            ),
            Some("complete") => ok(request, &review()),
            Some("end") => ok(request, &json!({"seq": 2, "saved": false, "warning": "disk full"})),
            Some("status") => ok(request, &status(active("drifting"))),
            _ => String::new(),
        })
    });
    let dir = daemon.dir.path();
    let ran = run(dir, &["refocus"]);
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (Some(0), "back to task; no verdict stands on firefox: reddit: the front page\n")
    );
    let ran = run(dir, &["complete", "--outcome", "done", "--note", "well"]);
    assert!(ran.out.starts_with("session ended: on task 20 min, drifting 3 min, 2 alerts, done\n"));
    let args = daemon.asked("complete").pop().unwrap()["args"].clone();
    assert_eq!(args, json!({"outcome": "done", "note": "well"}));
    // Done but not saved: a warning, and still success.
    let ran = run(dir, &["end"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "review closed\n"));
    assert_eq!(ran.err, "antidrift: warning: done, but not saved: disk full\n");
    let ran = run(dir, &["status"]);
    assert!(ran.out.contains("drifting for 40 s: Reddit is unrelated\n"), "{}", ran.out);
    assert!(!ran.out.contains('\u{1b}'));
    // JSON as the daemon wrote it.
    let ran = run(dir, &["status", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&ran.out).unwrap(), status(active("drifting")));
    assert_eq!(ran.out.lines().count(), 1);
}

#[test]
fn refusals_say_what_to_do() {
    for (code, message, exit, expected) in [
        (ErrorCode::NotActive, "no session is active", 1, "antidrift start"),
        (ErrorCode::SessionExists, "a session is active", 1, "antidrift complete"),
        (ErrorCode::Busy, "too many connections", 3, "try again"),
        (ErrorCode::ShuttingDown, "the daemon ends", 3, "try again"),
        (ErrorCode::UnknownCommand, "no command \"refocus\"", 3, "older one"),
        (ErrorCode::Unknown, "something new", 1, "something new"),
    ] {
        let daemon = FakeDaemon::start(move |request| {
            let hello = request["cmd"] == "hello";
            Some(if hello { String::new() } else { refusal(request, code, message) })
        });
        let ran = run(daemon.dir.path(), &["refocus"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(exit), ""), "{ran:?}");
        assert!(ran.err.starts_with("antidrift: ") && ran.err.contains(message), "{}", ran.err);
        assert!(ran.err.contains(expected) && ran.err.lines().count() == 1, "{}", ran.err);
    }
}

#[test]
fn versions_that_do_not_fit_are_named_and_extra_members_are_ignored() {
    let body = |extra: bool| {
        let mut body = status(planning());
        if extra {
            body["new"] = json!({"a": [1]});
            body["state"]["mood"] = json!("good");
            body["state"]["judge"]["status"] = json!("meditating");
        }
        body
    };
    let daemon = FakeDaemon::start(answering("status", body(true)));
    let ran = run(daemon.dir.path(), &["status"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");

    // What is missing reads as its empty value; what is no answer at all is named.
    for body in [json!({"seq": 1}), status(json!({"phase": "active"}))] {
        let daemon = FakeDaemon::start(answering("status", body));
        assert_eq!(run(daemon.dir.path(), &["status"]).code, Some(0));
    }
    let daemon = FakeDaemon::start(answering("status", json!("fine")));
    let ran = run(daemon.dir.path(), &["status"]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.err.contains("versions"), "{}", ran.err);

    let daemon = FakeDaemon::start(|request| {
        Some(refusal(request, ErrorCode::UnsupportedProtocol, "this daemon speaks protocol 9"))
    });
    let ran = run(daemon.dir.path(), &["status"]);
    assert_eq!(ran.code, Some(3));
    assert!(ran.err.contains("protocol 9") && ran.err.contains("update both"), "{}", ran.err);

    for nonsense in ["hello\n", "[]\n", "{\"id\":1}\n", "\u{1b}[31m\n"] {
        let daemon = FakeDaemon::start(move |_| Some(nonsense.to_owned()));
        let ran = run(daemon.dir.path(), &["status"]);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(ran.err.lines().count() == 1 && !ran.err.contains('\u{1b}'), "{}", ran.err);
    }
}

#[test]
fn of_two_versions_both_are_named_and_the_older_one_is_to_be_updated() {
    let said = |answer: &dyn Fn(&Value) -> String| {
        let first = json!({"id": 1, "cmd": "hello"});
        let (hello, rest) = (answer(&first), answer(&json!({"id": 2, "cmd": "reload"})));
        let daemon = FakeDaemon::start(move |request| {
            Some(if request["cmd"] == "hello" { hello.clone() } else { rest.clone() })
        });
        let ran = run(daemon.dir.path(), &["reload"]);
        assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{ran:?}");
        ran.err
    };
    let ours = concat!("antidrift ", env!("CARGO_PKG_VERSION"));
    // As every daemon since the first one refuses a greeting.
    let refusing = |server: &str, protocol: u64| {
        let mut error = ErrorObject::unsupported_protocol(server);
        error.data.insert("protocol".into(), protocol.into());
        error
    };
    let reply = |request: &Value, error: ErrorObject| {
        Reply::<()> { id: request["id"].as_u64(), result: Err(error) }.to_line()
    };
    let newer = refusing("antidriftd 9.2.0", PROTOCOL + 1);
    assert_eq!(
        said(&|request| reply(request, newer.clone())),
        format!(
            "antidrift: {ours} speaks protocol {PROTOCOL}, but antidriftd 9.2.0 speaks {}: {ours} is \
             the older one, update it\n",
            PROTOCOL + 1
        )
    );
    let older = refusing("antidriftd 0.0.9", PROTOCOL - 1);
    let update = "the daemon is the older one, update and restart it (`antidriftd --replace`)\n";
    assert_eq!(
        said(&|request| reply(request, older.clone())),
        format!(
            "antidrift: {ours} speaks protocol {PROTOCOL}, but antidriftd 0.0.9 speaks {}: {update}",
            PROTOCOL - 1
        )
    );
    // Of the same protocol, but from before the command came; and one that says far too much.
    let long = "é\u{1b}[31m".repeat(400);
    for (server, shown) in [("antidriftd 0.1.0", "antidriftd 0.1.0"), (long.as_str(), "éé")] {
        let error = said(&|request| match request["cmd"].as_str() {
            Some("hello") => {
                let greeting = Greeting { server: server.into(), ..greeting("one") };
                ok(request, &serde_json::to_value(greeting).unwrap())
            }
            _ => refusal(request, ErrorCode::UnknownCommand, &format!("no reload {server}")),
        });
        let expected = format!(" does not know what {ours} asks for (no reload ");
        assert!(error.starts_with(&format!("antidrift: {shown}")), "{error}");
        assert!(error.contains(&expected) && error.ends_with(update), "{error}");
        assert!(error.lines().count() == 1 && !error.contains('\u{1b}'), "{error}");
    }
}

#[test]
fn without_a_daemon_every_command_says_how_to_start_it() {
    let dir = tempfile::tempdir().unwrap();
    let commands = [
        &["status"][..],
        &["refocus"],
        &["ontask"],
        &["ontask", "--class"],
        &["complete"],
        &["end"],
        &["start", "x"],
        &["status", "--json"],
    ];
    for args in commands {
        let ran = run(dir.path(), args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(3), ""), "{args:?} {ran:?}");
        assert!(ran.err.contains("antidriftd.sock") && ran.err.contains("start it"), "{}", ran.err);
        assert_eq!(ran.err.lines().count(), 1);
    }
    // A socket that nobody serves any more is no daemon either.
    drop(std::os::unix::net::UnixListener::bind(socket_in(dir.path())).unwrap());
    assert_eq!(run(dir.path(), &["status"]).code, Some(3));
}

#[test]
fn a_path_that_is_too_long_is_named_with_the_limit() {
    let dir = tempfile::tempdir().unwrap();
    let long = dir.path().join("d".repeat(120));
    fs::create_dir(&long).unwrap();
    for ran in [
        run(&long, &["status"]),
        run(dir.path(), &["--socket", long.join("s").to_str().unwrap(), "status"]),
    ] {
        assert_eq!(ran.code, Some(3));
        assert!(ran.err.contains("107") && ran.err.contains(long.to_str().unwrap()), "{}", ran.err);
        assert_eq!(ran.err.lines().count(), 1);
    }
}

#[test]
fn a_daemon_that_never_answers_is_given_up_after_seconds() {
    let dir = tempfile::tempdir().unwrap();
    let _silent = std::os::unix::net::UnixListener::bind(socket_in(dir.path())).unwrap();
    let timer = Timer::start();
    // All at once: the limit is for each.
    let commands = [
        &["status"][..],
        &["refocus"],
        &["ontask"],
        &["ontask", "--title"],
        &["complete"],
        &["end"],
        &["start", "x"],
    ];
    let children: Vec<_> =
        commands.iter().map(|args| client(dir.path()).args(*args).spawn().unwrap()).collect();
    for child in children {
        let ran = finish(child);
        assert_eq!((ran.code, ran.out.as_str()), (Some(4), ""), "{ran:?}");
        assert!(ran.err.contains("does not answer") && ran.err.lines().count() == 1, "{}", ran.err);
    }
    let took = timer.passed();
    assert!(took.as_secs() < 7, "{took:?}");
}

#[test]
fn records_end_in_one_line_break_and_broken_outputs_are_quiet_or_said() {
    let daemon = FakeDaemon::start(answering("status", status(active("ontask"))));
    for args in [&["status"][..], &["status", "--json"], &["--help"], &["--version"]] {
        let ran = run(daemon.dir.path(), args);
        assert!(ran.out.ends_with('\n') && !ran.out.ends_with("\n\n"), "{args:?}: {:?}", ran.out);

        let to = |path: &str| {
            let file = fs::OpenOptions::new().write(true).open(path).unwrap();
            finish(client(daemon.dir.path()).args(args).stdout(Stdio::from(file)).spawn().unwrap())
        };
        let full = to("/dev/full");
        assert_eq!(full.code, Some(1), "{args:?}");
        assert!(full.err.lines().count() == 1 && full.err.contains("written"), "{}", full.err);

        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut closed = client(daemon.dir.path());
        let ran = finish(closed.args(args).stdout(Stdio::from(writer)).spawn().unwrap());
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{args:?}");
    }
}

#[test]
fn a_key_binding_needs_no_terminal_and_no_environment() {
    let daemon = FakeDaemon::start(answering("ontask", allowing("window_class", "mpv")));
    let mut bare = client(daemon.dir.path());
    let ran = bare.arg("ontask").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    assert_eq!(finish(ran).code, Some(0));

    // Without XDG_RUNTIME_DIR the line tells which path was tried, never one at the root.
    let ran = finish(bare.env_remove("XDG_RUNTIME_DIR").stderr(Stdio::piped()).spawn().unwrap());
    if ran.code != Some(0) {
        let uid = rustix::process::getuid().as_raw().to_string();
        assert!(ran.err.contains(&uid) && Path::new("/").exists(), "{}", ran.err);
    }
}

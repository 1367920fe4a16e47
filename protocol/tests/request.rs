//! What the daemon refuses, by which code, and what it names.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use antidrift_protocol::{
    Allowed, Command, ErrorCode, MAX_ALLOWED, MAX_ENTRY, MAX_LINE, MAX_MESSAGE, MAX_TEXT, Refusal,
    Reply, Request, Start,
};
use proptest::prelude::*;

use ErrorCode::{InvalidJson, InvalidRequest, UnknownCommand};

/// Asserts that a line is refused under this number and code, with this part in the message.
fn check(line: impl AsRef<[u8]>, id: Option<u64>, code: ErrorCode, part: &str) {
    let line = line.as_ref();
    let text = String::from_utf8_lossy(line);
    let Refusal { id: found, error } = Request::parse(line).expect_err(&text);
    assert_eq!((found, error.code), (id, code), "{text}: {}", error.message);
    assert!(error.message.contains(part), "{text}: {}", error.message);
}

fn accepted(line: &str) -> Request {
    Request::parse(line.as_bytes()).unwrap_or_else(|refusal| panic!("{line}: {refusal:?}"))
}

#[test]
fn what_is_not_json() {
    let deep = |n: usize| format!(r#"{{"cmd":"status","x":{}{}}}"#, "[".repeat(n), "]".repeat(n));
    for (line, part) in [
        ("not json", "not JSON"),
        ("{\"cmd\":\"status\"", "not JSON"),
        (r#"{"cmd":"status",}"#, "not JSON"),
        (r#"{"cmd":"status"} x"#, "not JSON"),
        (r#"{"cmd":"status"}{"cmd":"status"}"#, "not JSON"),
        (r#"{"cmd":"status"},"#, "not JSON"),
        ("5 6", "not JSON"),
        (r#"{'cmd':'status'}"#, "not JSON"),
        (r#"{"id":01,"cmd":"status"}"#, "not JSON"),
        (r#"{"id":NaN,"cmd":"status"}"#, "not JSON"),
        ("\u{feff}{\"cmd\":\"status\"}", "not JSON"),
        ("\0{\"cmd\":\"status\"}", "not JSON"),
        ("{\"cmd\":\"status\"}\0", "not JSON"),
        ("{\"cmd\":\"sta\0tus\"}", "not JSON"),
        ("{\"cmd\":\"sta\ttus\"}", "not JSON"),
        (r#"{"\ud800":1,"cmd":"status"}"#, "not JSON"),
        (r#"{"cmd":"\udc00"}"#, "cmd"),
        (r#"{"cmd":"start","args":{"text":"\ud800"}}"#, "text"),
        (r#"{"cmd":"start","args":{"text":"\ud800\ud800"}}"#, "text"),
        (&"[".repeat(5000), "deep"),
        (&deep(200), "deep"),
        (&format!(r#"{{"cmd":"status","args":{}}}"#, deep(200)), "deep"),
    ] {
        check(line, None, InvalidJson, part);
    }
    check(b"{\"cmd\":\"\xff\"}", None, InvalidJson, "UTF-8");
    check(b"\xed\xa0\x80", None, InvalidJson, "UTF-8");
    // Deep, but not too deep: then it is its members that are wrong.
    check(deep(100), None, InvalidRequest, "\"x\"");
    // Brackets inside a string nest nothing.
    let text = "[{\\\"".repeat(300);
    accepted(&format!(r#"{{"cmd":"propose","args":{{"intent":"{text}"}}}}"#));
    // Told under its number, if that was read before.
    check(r#"{"id":4,"cmd":"\ud800"}"#, Some(4), InvalidJson, "cmd");
}

#[test]
fn what_is_json_but_no_request() {
    for line in ["5", "[]", "null", "\"status\"", "true", " [{\"cmd\":\"status\"}]", "[\"status\"]"]
    {
        check(line, None, InvalidRequest, "object");
    }
    for (line, id, part) in [
        ("{}", None, "cmd: is missing"),
        (r#"{"cmd":null}"#, None, "cmd"),
        (r#"{"id":3,"cmd":5}"#, Some(3), "cmd"),
        (r#"{"cmd":5,"id":3}"#, Some(3), "cmd"),
        (r#"{"id":3,"id":4,"cmd":"status"}"#, Some(3), "id: is repeated"),
        (r#"{"id":3,"cmd":"status","cmd":"status"}"#, Some(3), "cmd: is repeated"),
        (r#"{"id":3,"cmd":"status","args":{},"args":{}}"#, Some(3), "args: is repeated"),
        (r#"{"id":3,"cmd":"status","arg":{}}"#, Some(3), "\"arg\""),
        (r#"{"id":3,"cmd":"status","args":null}"#, Some(3), "args"),
        (r#"{"id":3,"cmd":"status","args":[]}"#, Some(3), "args"),
        (r#"{"id":3,"cmd":"status","args":"x"}"#, Some(3), "args"),
        (r#"{"id":3,"cmd":"hello","args":["x",1]}"#, Some(3), "args"),
    ] {
        check(line, id, InvalidRequest, part);
    }
    for id in [
        "null",
        "-3",
        "-0",
        "1.0",
        "1e3",
        "1e999",
        "18446744073709551616",
        "\"3\"",
        "true",
        "[3]",
        "{}",
    ] {
        check(format!(r#"{{"id":{id},"cmd":"status"}}"#), None, InvalidRequest, "id: must be");
    }
    check(r#"{"id":9,"cmd":"dance"}"#, Some(9), UnknownCommand, "dance");
    check(r#"{"cmd":"Status"}"#, None, UnknownCommand, "Status");
    check(r#"{"cmd":""}"#, None, UnknownCommand, "");
}

#[test]
fn arguments_are_refused_by_member() {
    let entries = |n: usize| serde_json::to_string(&vec!["x"; n]).unwrap();
    let long = "x".repeat(MAX_ENTRY + 1);
    for (cmd, args, part) in [
        ("status", r#"{"x":1}"#, "x"),
        ("hello", r#"{"client":"x"}"#, "protocol"),
        ("hello", r#"{"client":"x","protocol":1e2}"#, "protocol"),
        ("start", "{}", "text"),
        ("start", r#"{"text":" \u00a0\n "}"#, "text"),
        ("start", r#"{"text":"a","text":"b"}"#, "text"),
        ("start", r#"{"text":"a","timebox_secs":0}"#, "timebox_secs"),
        ("start", r#"{"text":"a","timebox_secs":86401}"#, "timebox_secs"),
        ("start", r#"{"text":"a","timebox_secs":1.5}"#, "timebox_secs"),
        ("start", r#"{"text":"a","timebox_secs":1e999}"#, "timebox_secs"),
        ("start", r#"{"text":"a","timebox_secs":"5"}"#, "timebox_secs"),
        ("start", r#"{"text":"a","allowed":[[],[]]}"#, "allowed"),
        ("start", r#"{"text":"a","allowed":{"apps":[]}}"#, "apps"),
        ("start", r#"{"text":"a","allowed":{"domains":[],"domains":[]}}"#, "domains"),
        ("start", r#"{"text":"a","allowed":{"domains":"x"}}"#, "allowed.domains"),
        ("start", r#"{"text":"a","allowed":{"domains":["x",5]}}"#, "allowed.domains[1]"),
        ("start", r#"{"text":"a","allowed":{"domains":["x"," "]}}"#, "allowed.domains[1]"),
        ("start", r#"{"text":"a","allowed":{"commands":["a\u0007"]}}"#, "control"),
        (
            "start",
            r#"{"text":"a","allowed":{"window_title_substrings":["-"]}}"#,
            "allowed.window_title_substrings[0]",
        ),
        (
            "start",
            &format!(r#"{{"text":"a","allowed":{{"commands":{}}}}}"#, entries(65)),
            "allowed.commands: must hold at most 64 entries, but has 65",
        ),
        (
            "start",
            r#"{"text":"a","allowed":{"domains":["docs.rs","two words"]}}"#,
            "args.allowed.domains[1]: must be a host name such as docs.example.org, but is \"two words\"",
        ),
        ("start", r#"{"text":"a","allowed":{"commands":["make test"]}}"#, "allowed.commands[0]"),
        ("ontask", r#"{"domain":"https://"}"#, "args.domain: must be a host name"),
        ("ontask", r#"{"domain":"a..b"}"#, "args.domain"),
        ("ontask", r#"{"command":"/"}"#, "args.command: must be the name of one program"),
        ("ontask", r#"{"command":"make -j4"}"#, "args.command"),
        ("ontask", r#"{"domain":"a","command":"b"}"#, "args.command: only one"),
        ("ontask", r#"{"of_window":"window_class","domain":"a"}"#, "args.of_window"),
        ("ontask", r#"{"of_window":"domain"}"#, "of_window"),
        ("ontask", r#"{"or_left":true}"#, "args.or_left: may only be given beside an alert"),
        ("refocus", r#"{"or_left":false}"#, "args.or_left"),
        ("ontask", r#"{"window_title_substring":"--"}"#, "letter"),
        ("ontask", r#"{"window_class":""}"#, "window_class"),
        ("ontask", &format!(r#"{{"window_title":"{long}"}}"#), "at most 256 bytes, but has 257"),
        ("complete", r#"{"outcome":"great"}"#, "outcome"),
        ("complete", r#"{"outcome":"unknown"}"#, "outcome"),
        ("complete", r#"{"outcome":{"done":null}}"#, "outcome"),
        ("propose", r#"{"intent":""}"#, "intent"),
        ("start", r#"{"text":"\u0000"}"#, "text"),
        ("start", r#"{"text":"\u001b[31m \u200b"}"#, "text"),
        ("subscribe", r#"{"topics":["all","x"]}"#, "topics"),
        ("subscribe", r#"{"topics":[{"all":null}]}"#, "topics"),
        ("subscribe", r#"{"topics":[]}"#, "topics"),
        ("subscribe", r#"{"topics":"all"}"#, "topics"),
    ] {
        check(format!(r#"{{"cmd":"{cmd}","args":{args}}}"#), None, InvalidRequest, part);
    }
}

#[test]
fn limits_are_exact() {
    let start = |text: String, allowed: Allowed| Start { text, allowed, ..Start::default() };
    let check = |start: Start| Command::Start(start).check().map_err(|error| error.message);
    assert_eq!(check(start("é".repeat(MAX_TEXT / 2), Allowed::default())), Ok(()));
    let error = check(start("é".repeat(MAX_TEXT / 2) + "x", Allowed::default())).unwrap_err();
    assert_eq!(error, "args.text: must be at most 4096 bytes, but has 4097");

    // Whatever needs escaping counts as it is written.
    for (text, width) in [("x", 1), ("é", 2), ("\"", 2), ("\u{202e}", 6), ("\u{61c}", 6)] {
        let entry = text.repeat(60);
        let fit = MAX_ALLOWED / (60 * width);
        let list = |n| vec![entry.clone(); n];
        let allowed = |n: usize| Allowed {
            window_classes: list(n.min(64)),
            window_titles: list(n.saturating_sub(64).min(64)),
            domains: list(n.saturating_sub(128).min(64)),
            commands: list(n.saturating_sub(192).min(64)),
            ..Allowed::default()
        };
        assert_eq!(allowed(5).size(), 5 * 60 * width);
        if fit < 256 {
            assert_eq!(allowed(fit).check_bounds("allowed"), Ok(()), "{text:?}");
            let error = check(start("x".into(), allowed(fit + 1))).unwrap_err();
            assert!(error.starts_with("args.allowed: all lists together"), "{text:?}: {error}");
        }
    }
}

#[test]
fn what_is_accepted() {
    for line in [
        "{\"cmd\":\"status\"}\r",
        "\t {\"args\" : {} , \"cmd\" : \"st\\u0061tus\"}  ",
        r#"{"id":18446744073709551615,"cmd":"status"}"#,
        r#"{"id":0,"cmd":"ontask","args":{"alert":null,"domain":null}}"#,
        r#"{"cmd":"start","args":{"text":"\ud83d\ude00 \" \\ \n","timebox_secs":86400}}"#,
    ] {
        accepted(line);
    }
}

/// An answer that quotes the request must not be longer than a line itself.
#[test]
fn a_refusal_quotes_in_moderation() {
    for piece in ["x", "é", "\\u0001", "\u{202e}"] {
        let long = piece.repeat((MAX_LINE - 100) / piece.len());
        for line in [
            long.clone(),
            format!(r#"{{"{long}":1}}"#),
            format!(r#"{{"cmd":"{long}"}}"#),
            format!(r#"{{"id":"{long}","cmd":"status"}}"#),
            format!(r#"{{"cmd":"status","args":"{long}"}}"#),
            format!(r#"{{"cmd":"status","args":{{"{long}":1}}}}"#),
            format!(r#"{{"cmd":"start","args":{{"timebox_secs":"{long}"}}}}"#),
            format!(r#"{{"cmd":"start","args":{{"text":"a","allowed":{{"{long}":1}}}}}}"#),
            format!(r#"{{"cmd":"subscribe","args":{{"topics":["{long}"]}}}}"#),
        ] {
            let error = Request::parse(line.as_bytes()).unwrap_err().error;
            assert!(error.message.len() <= MAX_MESSAGE, "{}", error.message);
            let reply = Reply::<()> { id: None, result: Err(error) };
            assert!(reply.to_line().len() < 8 * MAX_MESSAGE);
        }
    }
}

/// Bytes that look like requests more often than chance would have it.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let word = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        "\\",
        "null",
        "1e3",
        "-0",
        "\"cmd\"",
        "\"id\"",
        "\"args\"",
        "\"status\"",
        "\"start\"",
        "\"text\"",
        "\"allowed\"",
        "\"domains\"",
        "\\ud800",
        "\0",
        "\r",
        " ",
        "é",
    ]);
    let word = prop_oneof![
        9 => word.prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..4),
    ];
    prop::collection::vec(word, 0..30).prop_map(|words| words.concat())
}

fn in_order(line: &[u8]) -> Result<(), TestCaseError> {
    let text = std::str::from_utf8(line).ok();
    let json = text.and_then(|text| serde_json::from_str::<serde::de::IgnoredAny>(text).ok());
    match Request::parse(line) {
        Ok(request) => {
            prop_assert!(json.is_some());
            let again = request.to_line();
            prop_assert_eq!(Request::parse(again.trim_end().as_bytes()), Ok(request));
        }
        Err(Refusal { error, .. }) if error.code == InvalidJson => {
            let text = text.unwrap_or_default();
            let lone = text.contains("\\u");
            prop_assert!(json.is_none() || lone, "{:?}: {}", text, error.message);
        }
        Err(Refusal { error, .. }) => {
            prop_assert!(matches!(error.code, InvalidRequest | UnknownCommand));
            prop_assert!(json.is_some(), "{:?}: {}", text, error.message);
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_bytes_are_answered(line in bytes()) {
        in_order(&line)?;
    }

    #[test]
    fn any_text_is_answered(line in any::<String>()) {
        in_order(line.as_bytes())?;
    }

    #[test]
    fn any_id_and_args_are_answered(id in bytes(), args in bytes()) {
        let line = [b"{\"id\":", id.as_slice(), b",\"cmd\":\"start\",\"args\":", &args, b"}"].concat();
        in_order(&line)?;
    }
}

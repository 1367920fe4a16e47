//! Every shape on the wire, byte for byte, and what a reader makes of a newer writer.
//!
//! `golden/README.md` says how lines are added.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "golden/cases.rs"]
mod cases;

use std::{
    fmt::Debug,
    fs,
    path::{Path, PathBuf},
};

use antidrift_protocol::{
    Answer, ErrorCode, ErrorObject, Event, EventBody, Reply, Request, frame::LineDecoder,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

/// Reads a line and writes it again.
type Reread = fn(&str) -> Result<String, String>;

/// One file: its name, the lines that it should hold, and their reader.
struct Golden {
    file: &'static str,
    lines: Vec<String>,
    reread: Reread,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn reread_request(line: &str) -> Result<String, String> {
    let request = Request::parse(line.as_bytes()).map_err(|refusal| refusal.error.to_string())?;
    Ok(request.to_line())
}

fn reread_event(line: &str) -> Result<String, String> {
    Ok(Event::parse(line.as_bytes()).map_err(|error| error.to_string())?.to_line())
}

fn reread_reply<T: Serialize + DeserializeOwned>(line: &str) -> Result<String, String> {
    Ok(Reply::<T>::parse(line.as_bytes()).map_err(|error| error.to_string())?.to_line())
}

fn requests() -> Golden {
    let lines = cases::requests().into_iter().map(|request| {
        let line = request.to_line();
        assert_eq!(Request::parse(line.trim_end().as_bytes()).unwrap(), request);
        line
    });
    Golden { file: "request.jsonl", lines: lines.collect(), reread: reread_request }
}

fn events() -> Golden {
    let lines = cases::events().into_iter().map(|event| {
        let line = event.to_line();
        assert_eq!(Event::parse(line.as_bytes()).unwrap(), event);
        line
    });
    Golden { file: "event.jsonl", lines: lines.collect(), reread: reread_event }
}

fn replies<T: Clone + PartialEq + Debug + Serialize + DeserializeOwned>(
    file: &'static str,
    answers: Vec<T>,
    wrap: impl Fn(T) -> Answer,
) -> Golden {
    let lines = answers.into_iter().zip(1..).map(|(answer, id)| {
        let line = Reply { id: Some(id), result: Ok(wrap(answer.clone())) }.to_line();
        let reply = Reply { id: Some(id), result: Ok(answer) };
        assert_eq!(line, reply.to_line(), "an answer must be written as its type");
        assert_eq!(Reply::parse(line.as_bytes()).unwrap(), reply);
        line
    });
    Golden { file, lines: lines.collect(), reread: reread_reply::<T> }
}

fn errors() -> Golden {
    let lines = cases::errors().into_iter().zip(0..).map(|(error, id)| {
        let reply = Reply::<()> { id: (id > 0).then_some(id), result: Err(error) };
        let line = reply.to_line();
        assert_eq!(Reply::parse(line.as_bytes()).unwrap(), reply);
        line
    });
    Golden { file: "reply.error.jsonl", lines: lines.collect(), reread: reread_reply::<()> }
}

/// All of them; a shape that is not here is not tested.
fn all() -> Vec<Golden> {
    vec![
        requests(),
        events(),
        errors(),
        replies("reply.hello.jsonl", cases::greetings(), Answer::Hello),
        replies("reply.status.jsonl", cases::statuses(), |it| Answer::Status(Box::new(it))),
        replies("reply.start.jsonl", cases::started(), |it| Answer::Start(Box::new(it))),
        replies("reply.refocus.jsonl", cases::refocused(), Answer::Refocus),
        replies("reply.ontask.jsonl", cases::allowing(), Answer::Ontask),
        replies("reply.complete.jsonl", cases::completed(), Answer::Complete),
        replies("reply.end.jsonl", cases::changed(), Answer::End),
        replies("reply.pause.jsonl", cases::changed(), Answer::Pause),
        replies("reply.resume.jsonl", cases::changed(), Answer::Resume),
        replies("reply.extend.jsonl", cases::changed(), Answer::Extend),
        replies("reply.detour.jsonl", cases::changed(), Answer::Detour),
        replies("reply.allow.jsonl", cases::allowances(), Answer::Allow),
        replies("reply.windows.jsonl", cases::windows(), Answer::Windows),
        replies("reply.review.jsonl", cases::reviewed(), |it| Answer::Review(Box::new(it))),
        replies("reply.history.jsonl", cases::histories(), Answer::History),
        replies("reply.forget.jsonl", cases::forgotten(), Answer::Forget),
        replies("reply.propose.jsonl", cases::proposed(), Answer::Propose),
        replies("reply.explain.jsonl", cases::explained(), Answer::Explain),
        replies("reply.preview.jsonl", cases::previewed(), Answer::Preview),
        replies("reply.check_judge.jsonl", cases::checked(), Answer::CheckJudge),
        replies("reply.presets.jsonl", cases::presets(), |it| Answer::Presets(Box::new(it))),
        replies("reply.reload.jsonl", cases::reloaded(), Answer::Reload),
        replies("reply.subscribe.jsonl", cases::subscribed(), Answer::Subscribe),
    ]
}

fn answers(golden: &Golden) -> bool {
    golden.file != "request.jsonl"
}

/// Compares with a file, or writes it when a person asks for that.
fn compare(file: &str, expected: &str) {
    let path = root().join(file);
    if std::env::var_os("ANTIDRIFT_BLESS").is_some() {
        assert!(std::env::var_os("CI").is_none(), "golden files are blessed by people only");
        fs::write(&path, expected).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    for (number, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, expected, "{file}, line {}", number + 1);
    }
    assert_eq!(found, expected, "{file}: see golden/README.md");
}

#[test]
fn values_are_written_as_recorded() {
    for golden in all() {
        compare(golden.file, &golden.lines.concat());
    }
    compare("words.json", &(serde_json::to_string_pretty(&cases::words()).unwrap() + "\n"));
}

/// The present lines, and those of every release.
#[test]
fn what_was_recorded_is_still_read() {
    let mut places = vec![root()];
    if let Ok(released) = fs::read_dir(root().join("released")) {
        places.extend(released.map(|entry| entry.unwrap().path()));
    }
    for golden in all() {
        for place in &places {
            let path = place.join(golden.file);
            let Ok(text) = fs::read_to_string(&path) else {
                assert_ne!(place, &root(), "{} is missing", golden.file);
                continue; // That release did not have it.
            };
            for line in text.lines() {
                let again = (golden.reread)(line);
                assert!(again.is_ok(), "{}: {again:?}\n{line}", path.display());
                if place == &root() {
                    assert_eq!(again.unwrap().trim_end(), line);
                }
            }
        }
    }
}

#[test]
fn lines_are_one_line_of_plain_text() {
    for golden in all() {
        for line in &golden.lines {
            let (text, end) = line.split_at(line.len() - 1);
            assert_eq!(end, "\n");
            assert!(!text.chars().any(char::is_control), "{line}");
            assert_eq!(LineDecoder::default().find(line.as_bytes()), Some(Ok(text.len())));
        }
    }
}

/// Calls `change` for a copy of `value` for each place in it; what it returns `true` for goes to
/// `check`.
fn at_each_place(
    value: &Value,
    change: &dyn Fn(&[String], &mut Value) -> bool,
    check: &mut dyn FnMut(&[String], Value),
) {
    fn walk<'a>(value: &'a Value, path: &mut Vec<String>, paths: &mut Vec<Vec<String>>) {
        paths.push(path.clone());
        let mut step = |key: String, value: &'a Value| {
            path.push(key);
            walk(value, path, paths);
            path.pop();
        };
        match value {
            Value::Object(members) => {
                members.iter().for_each(|(key, value)| step(key.clone(), value));
            }
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(index, value)| step(index.to_string(), value));
            }
            _ => {}
        }
    }
    let mut paths = Vec::new();
    walk(value, &mut Vec::new(), &mut paths);
    for path in paths {
        let mut copy = value.clone();
        let pointer: String = path.iter().map(|key| format!("/{key}")).collect();
        if change(&path, copy.pointer_mut(&pointer).unwrap()) {
            check(&path, copy);
        }
    }
}

/// Whether a place lies in the part of an error that has no shape.
fn free_form(path: &[String]) -> bool {
    path.len() > 1 && path[0] == "error" && path[1] == "data"
}

#[test]
fn a_reader_ignores_members_that_it_does_not_know() {
    let add = |_: &[String], value: &mut Value| match value {
        Value::Object(members) => {
            members.insert("zz_new".into(), serde_json::json!({"deep": [1, null]}));
            true
        }
        _ => false,
    };
    let mut tried = 0;
    for golden in all() {
        for line in &golden.lines {
            let value: Value = serde_json::from_str(line).unwrap();
            at_each_place(&value, &add, &mut |path, changed| {
                let changed = changed.to_string();
                tried += 1;
                if answers(&golden) {
                    if !free_form(path) {
                        assert_eq!((golden.reread)(&changed).as_ref(), Ok(line), "{changed}");
                    }
                } else {
                    let error = Request::parse(changed.as_bytes()).unwrap_err().error;
                    assert_eq!(error.code, ErrorCode::InvalidRequest, "{changed}");
                    assert!(error.message.contains("zz_new"), "{}", error.message);
                }
            });
        }
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn a_reader_takes_what_is_missing_for_empty() {
    let mut tried = 0;
    for golden in all().into_iter().filter(answers) {
        for line in &golden.lines {
            let value: Value = serde_json::from_str(line).unwrap();
            at_each_place(&value, &|_, _| true, &mut |path, mut changed| {
                let Some((key, parents)) = path.split_last() else { return };
                let pointer: String = parents.iter().map(|key| format!("/{key}")).collect();
                let Some(Value::Object(members)) = changed.pointer_mut(&pointer) else { return };
                members.remove(key);
                tried += 1;
                let result = (golden.reread)(&changed.to_string());
                // Without these a line is no reply and no event.
                let needed = matches!(path, [key] if ["ok", "error", "event"].contains(&&**key));
                assert_eq!(result.is_err(), needed, "{path:?}: {result:?}\n{changed}");
            });
        }
    }
    assert!(tried > 100, "{tried}");
}

#[test]
fn a_reader_takes_words_that_it_does_not_know() {
    let rename = |path: &[String], value: &mut Value| {
        let instant = path.last().is_some_and(|key| key == "at" || key.ends_with("_at"));
        match value {
            Value::String(text) if !instant => {
                *text = "zz_new".into();
                true
            }
            _ => false,
        }
    };
    for golden in all().into_iter().filter(answers) {
        for line in &golden.lines {
            let value: Value = serde_json::from_str(line).unwrap();
            at_each_place(&value, &rename, &mut |path, changed| {
                let changed = changed.to_string();
                let again = (golden.reread)(&changed);
                assert!(again.is_ok(), "{again:?}\n{changed}");
                if *path == ["event"] {
                    let event = Event::parse(changed.as_bytes()).unwrap();
                    assert_eq!(event.body, EventBody::Unknown);
                    assert_eq!(event.seq, value["seq"].as_u64().unwrap());
                }
                if path.ends_with(&["code".into()]) {
                    let reply = Reply::<()>::parse(changed.as_bytes()).unwrap();
                    let ErrorObject { code, message, .. } = reply.result.unwrap_err();
                    assert_eq!(code, ErrorCode::Unknown);
                    assert_eq!(message, value["error"]["message"].as_str().unwrap());
                }
            });
        }
    }
}

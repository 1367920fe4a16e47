//! What tools wrap a model's answer in. Pure, and total: no output panics.

use serde_json::Value;

use super::parse::plain;

/// The wrapping of one tool's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Envelope {
    /// None: the answer is all of it.
    Plain,
    /// `claude --output-format json`: one object with `result` or `structured_output`.
    Claude,
    /// `gemini -o json`: one object with `response` or `error`.
    Gemini,
    /// `codex exec --json`: one event a line; the last message of the agent is the answer.
    CodexLines,
    /// `opencode run --format json`: one event a line; all texts together are the answer.
    OpencodeLines,
    /// The body of an OpenAI-compatible chat completion.
    OpenAi,
}

/// Why there is no answer in an envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Closed {
    /// Nothing in it.
    Empty,
    /// The model was cut off.
    Truncated,
    /// The tool says that it failed; its words, not cleaned.
    Failed(String),
    /// It is no such envelope.
    Foreign,
}

impl Envelope {
    /// The model's own text.
    ///
    /// # Errors
    ///
    /// An envelope that is empty, cut off, or says that the tool failed.
    pub fn open(self, output: &[u8]) -> Result<Vec<u8>, Closed> {
        match self {
            Self::Plain => Ok(output.to_vec()),
            Self::Claude => claude(output),
            Self::Gemini => gemini(output),
            Self::CodexLines => codex(output),
            Self::OpencodeLines => opencode(output),
            Self::OpenAi => open_ai(output),
        }
    }

    /// What a tool says of its failure in an envelope that it prints in another place.
    pub fn failed(self, output: &[u8]) -> Option<String> {
        match self.open(output) {
            Err(Closed::Failed(said)) => Some(said),
            _ => None,
        }
    }
}

/// The one object that an output is, perhaps with notices before and after it on lines of their
/// own.
fn whole(output: &[u8]) -> Result<Value, Closed> {
    let text = plain(output);
    let text = text.trim();
    if text.is_empty() {
        return Err(Closed::Empty);
    }
    serde_json::from_str(text)
        .ok()
        .or_else(|| last_object(&String::from_utf8_lossy(output)))
        .ok_or(Closed::Foreign)
}

/// The last object that begins a line; it may span several.
fn last_object(text: &str) -> Option<Value> {
    let (mut found, mut rest) = (None, text.trim_start());
    while !rest.is_empty() {
        if rest.starts_with('{') {
            let mut values = serde_json::Deserializer::from_str(rest).into_iter();
            if let Some(Ok(value)) = values.next() {
                rest = rest.get(values.byte_offset()..).unwrap_or_default();
                found = Some(value);
            }
        }
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest).trim_start();
    }
    found
}

fn text_of(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

fn answer(text: Option<String>) -> Result<Vec<u8>, Closed> {
    text.map(String::into_bytes).ok_or(Closed::Empty)
}

fn claude(output: &[u8]) -> Result<Vec<u8>, Closed> {
    let it = whole(output)?;
    if it["is_error"] == Value::Bool(true) {
        let said = text_of(&it["result"]).or_else(|| text_of(&it["errors"][0]));
        let said = said.or_else(|| text_of(&it["subtype"]));
        return Err(Closed::Failed(said.unwrap_or_else(|| "it failed".into())));
    }
    let structured = Some(&it["structured_output"]).filter(|it| it.is_object());
    answer(structured.map(Value::to_string).or_else(|| text_of(&it["result"])))
}

fn gemini(output: &[u8]) -> Result<Vec<u8>, Closed> {
    let it = whole(output)?;
    match &it["error"] {
        Value::Null => answer(text_of(&it["response"])),
        error => Err(Closed::Failed(message_of(error))),
    }
}

fn codex(output: &[u8]) -> Result<Vec<u8>, Closed> {
    let (mut said, mut failed) = (None, None);
    for event in events(output) {
        let item = &event["item"];
        match (event["type"].as_str(), item["type"].as_str()) {
            (Some("item.completed"), Some("agent_message")) => said = text_of(&item["text"]),
            (Some("turn.failed" | "error"), _) => {
                failed = Some(match &event["error"] {
                    Value::Null => message_of(&event),
                    error => message_of(error),
                });
            }
            _ => {}
        }
    }
    match failed {
        Some(message) => Err(Closed::Failed(message)),
        None => answer(said),
    }
}

fn opencode(output: &[u8]) -> Result<Vec<u8>, Closed> {
    let mut said = String::new();
    for event in events(output) {
        match event["type"].as_str() {
            Some("text") => said.push_str(event["part"]["text"].as_str().unwrap_or_default()),
            Some("error") => return Err(Closed::Failed(message_of(&event["error"]))),
            _ => {}
        }
    }
    answer(Some(said).filter(|said| !said.trim().is_empty()))
}

fn open_ai(output: &[u8]) -> Result<Vec<u8>, Closed> {
    let it = whole(output)?;
    if !it["error"].is_null() {
        return Err(Closed::Failed(message_of(&it["error"])));
    }
    let choice = &it["choices"][0];
    if choice["finish_reason"] == "length" {
        return Err(Closed::Truncated);
    }
    answer(text_of(&choice["message"]["content"]))
}

fn events(output: &[u8]) -> impl Iterator<Item = Value> {
    let text = String::from_utf8_lossy(output).into_owned();
    let events: Vec<Value> =
        text.lines().filter_map(|line| serde_json::from_str(line.trim()).ok()).collect();
    events.into_iter()
}

fn message_of(error: &Value) -> String {
    let said = text_of(&error["message"]).or_else(|| text_of(&error["data"]["message"]));
    said.or_else(|| text_of(error)).unwrap_or_else(|| "it failed".into())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;
    use crate::ai::fixtures::{ENVELOPES, mutated, rows};

    #[test]
    fn every_envelope_opens_on_any_bytes() {
        for envelope in ALL {
            for output in [&b""[..], b"{", b"[]", b"null", b"\xff\xfe", b"{\"error\":5}", b"5\n{}"]
            {
                let _ = envelope.open(output);
            }
        }
        assert_eq!(Envelope::Claude.open(b" \n"), Err(Closed::Empty));
    }

    const ALL: [Envelope; 6] = [
        Envelope::Plain,
        Envelope::Claude,
        Envelope::Gemini,
        Envelope::CodexLines,
        Envelope::OpencodeLines,
        Envelope::OpenAi,
    ];

    /// A failure must not come out as an answer, whatever else is in the envelope.
    fn assert_honest(output: &[u8]) -> Result<(), TestCaseError> {
        for envelope in ALL {
            let _ = envelope.failed(output);
            let Ok(text) = envelope.open(output) else { continue };
            if envelope == Envelope::Plain {
                prop_assert_eq!(text, output);
                continue;
            }
            prop_assert!(!text.trim_ascii().is_empty(), "{envelope:?}");
            if let Ok(Value::Object(it)) = serde_json::from_slice::<Value>(output) {
                prop_assert!(
                    envelope != Envelope::Claude || it.get("is_error") != Some(&Value::Bool(true))
                );
                let failed = it.get("error").is_some_and(|error| !error.is_null());
                prop_assert!(!failed || !matches!(envelope, Envelope::Gemini | Envelope::OpenAi));
            }
        }
        Ok(())
    }

    #[test]
    fn notices_around_it_do_no_harm_and_the_last_envelope_counts() {
        let answer = |output: &str| Envelope::Gemini.open(output.as_bytes());
        let pretty = "{\n  \"response\": \"yes\",\n  \"stats\": {\n    \"a\": 1\n  }\n}";
        for output in [
            format!("update available\n{pretty}\n"),
            format!("{pretty}\nbye {{}}\n"),
            format!("{{\"log\": \"line\"}}\n\n  {pretty}"),
            format!("{{ not json\n{pretty}\n}}"),
        ] {
            assert_eq!(answer(&output).as_deref(), Ok(&b"yes"[..]), "{output}");
        }
        assert_eq!(answer("no json at all"), Err(Closed::Foreign));
        assert_eq!(answer("5\n"), Err(Closed::Empty), "a number holds no response");
        let failed = format!("Warning\n{}", pretty.replace("response", "error"));
        assert_eq!(Envelope::Gemini.failed(failed.as_bytes()).as_deref(), Some("yes"));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_honest(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            assert_honest(&bytes)?;
        }

        #[test]
        fn mutated_fixtures_are_honest(bytes in mutated(&rows(ENVELOPES))) {
            assert_honest(&bytes)?;
        }

        #[test]
        fn what_is_in_it_comes_out_and_nothing_else(text in "\\PC{1,60}") {
            prop_assume!(!text.trim().is_empty());
            let wrapped = |value: Value| value.to_string().into_bytes();
            for (envelope, output) in [
                (Envelope::Claude, wrapped(serde_json::json!({"is_error": false, "result": text}))),
                (Envelope::Gemini, wrapped(serde_json::json!({"response": text}))),
                (Envelope::OpenAi, wrapped(serde_json::json!({
                    "choices": [{"message": {"content": text}, "finish_reason": "stop"}]
                }))),
            ] {
                prop_assert_eq!(envelope.open(&output).unwrap(), text.as_bytes());
            }
        }
    }
}

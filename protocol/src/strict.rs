//! Readers for what a client sends: an object is an object and not a list of its values, a list is
//! short, and what is wrong is named by its member.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, MapAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::value::RawValue;

use crate::{Allowed, ErrorCode, ErrorObject, MAX_MESSAGE, bounds::cut, text};

/// Nesting that `serde_json` itself would refuse. Unread members are skipped without recursion
/// there, so that its own limit does not see them.
const MAX_DEPTH: usize = 128;

/// Whether a line of JSON nests deeper than [`MAX_DEPTH`].
pub(crate) fn too_deep(line: &str) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in line.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return true;
                }
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// A value that must stand as a JSON object: derived structs also accept an array.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OnlyMap<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for OnlyMap<T> {
            type Value = T;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }
        deserializer.deserialize_map(OnlyMap(PhantomData)).map(Self)
    }
}

/// `deserialize_with` for the allowed context of a request: a misspelt list must not be dropped in
/// silence, as a reader of the state drops what it does not know.
pub(crate) fn allowed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Allowed, D::Error> {
    #[derive(Default, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Lists {
        window_classes: Vec<String>,
        window_titles: Vec<String>,
        window_title_substrings: Vec<String>,
        domains: Vec<String>,
        commands: Vec<String>,
    }
    let Object(lists) = Object::<Lists>::deserialize(deserializer)?;
    Ok(Allowed {
        window_classes: lists.window_classes,
        window_titles: lists.window_titles,
        window_title_substrings: lists.window_title_substrings,
        domains: lists.domains,
        commands: lists.commands,
    })
}

/// Reads the arguments of one command; absent arguments are an empty object.
pub(crate) fn arguments<T: DeserializeOwned>(args: Option<&RawValue>) -> Result<T, ErrorObject> {
    let text = args.map_or("{}", RawValue::get);
    let mut json = serde_json::Deserializer::from_str(text);
    match serde_path_to_error::deserialize::<_, Object<T>>(&mut json) {
        Ok(value) => Ok(value.0),
        Err(error) => {
            let path = error.path().to_string();
            Err(refusal(
                error.inner(),
                &if path == "." { "args".into() } else { format!("args.{path}") },
            ))
        }
    }
}

/// The error for a line that `serde_json` refused. `member` is where, if that is known.
pub(crate) fn refusal(error: &serde_json::Error, member: &str) -> ErrorObject {
    let said = error.to_string();
    // The position counts from the start of the member, which nobody sees.
    let said = said.rsplit_once(" at line ").map_or(said.as_str(), |(before, _)| before);
    // `1e999` is JSON, only no number that fits.
    let wrong = error.is_data() || said.starts_with("number out of range");
    let code = if wrong { ErrorCode::InvalidRequest } else { ErrorCode::InvalidJson };
    // Both quote the request, which may be as long as a line.
    let message = format!("{}: {said}", shown(member));
    // One line, whatever a member is called.
    let message = text::clean(&message, MAX_MESSAGE);
    ErrorObject::new(code, cut(&message, MAX_MESSAGE))
}

/// As much of a name out of a request as a message may quote.
pub(crate) fn shown(name: &str) -> &str {
    cut(name, 128)
}

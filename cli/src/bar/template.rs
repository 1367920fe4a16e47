//! Templates for people who want their own line: text with `{field}`; a brace is written twice.

use super::{face::Face, fit};

/// What a template may name. `--help` says what each is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    State,
    Says,
    Text,
    Next,
    Time,
    Reason,
    Title,
    Class,
}

/// Each with its name.
const FIELDS: [(&str, Field); 8] = [
    ("state", Field::State),
    ("says", Field::Says),
    ("text", Field::Text),
    ("next", Field::Next),
    ("time", Field::Time),
    ("reason", Field::Reason),
    ("title", Field::Title),
    ("class", Field::Class),
];

/// A template that has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Field(Field),
}

impl Template {
    /// Reads a template. The error is one line that says what is wrong.
    pub(crate) fn parse(given: &str) -> Result<Self, String> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = given;
        while let Some(at) = rest.find(['{', '}']) {
            literal.push_str(&rest[..at]);
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                literal.push_str(brace);
                rest = after;
                continue;
            }
            let (name, after) = match (brace, rest.split_once('}')) {
                ("{", Some(split)) => split,
                ("{", None) => return Err("a { is never closed; {{ is a brace".to_owned()),
                _ => return Err("a } closes nothing; }} is a brace".to_owned()),
            };
            let field = FIELDS.into_iter().find(|(known, _)| *known == name);
            let (_, field) = field.ok_or_else(|| {
                let known = FIELDS.map(|(known, _)| known).join(", ");
                format!("there is no field {{{}}}; there are {known}", crate::render::title(name))
            })?;
            pieces.push(Piece::Literal(std::mem::take(&mut literal)));
            pieces.push(Piece::Field(field));
            rest = after;
        }
        literal.push_str(rest);
        if literal.contains(['\n', '\r', '\0']) || given.contains(['\n', '\r', '\0']) {
            return Err("a bar has one line, so a template has no line break".to_owned());
        }
        pieces.push(Piece::Literal(literal));
        Ok(Self(pieces))
    }

    /// The line's parts, each field as it is now.
    pub(super) fn pieces<'a>(&'a self, face: &'a Face) -> Vec<fit::Piece<'a>> {
        let pieces = self.0.iter().map(|piece| match piece {
            Piece::Literal(text) => fit::Piece::Literal(text),
            Piece::Field(field) => face.field(*field),
        });
        pieces.collect()
    }
}

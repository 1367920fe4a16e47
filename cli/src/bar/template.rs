//! Templates for people who want their own line: text with `{field}`; a brace is written twice.

/// The fields, as `--help` and the error name them.
pub(crate) const FIELDS: [&str; 8] =
    ["state", "says", "text", "next", "time", "reason", "title", "class"];

/// A template that has been read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Field(&'static str),
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
            let field = FIELDS.into_iter().find(|field| *field == name).ok_or_else(|| {
                let name = crate::render::title(name);
                format!("there is no field {{{name}}}; there are {}", FIELDS.join(", "))
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

    /// The text, with each field as `of` gives it. `apart`: no field makes a `%{` with what follows.
    pub(crate) fn fill(&self, apart: bool, of: impl Fn(&str) -> String) -> String {
        let mut line = String::new();
        let mut after_field = false;
        for piece in &self.0 {
            let (text, is_field) = match piece {
                Piece::Literal(text) => (text.clone(), false),
                Piece::Field(name) => (of(name), true),
            };
            if apart && (after_field || is_field) && line.ends_with('%') && text.starts_with('{') {
                line.push(' ');
            }
            // An empty piece keeps its neighbours apart no better.
            after_field = is_field || (after_field && text.is_empty());
            line.push_str(&text);
        }
        line
    }
}

//! A configuration to begin with, all of it commented out.

use std::fmt::Write as _;

use super::keys::{PRESETS, TABLES, Value};

/// Columns of a comment.
const WIDTH: usize = 96;

const HEAD: &str = "\
# The configuration of antidrift. Every key is optional. A line that begins with # and a key is the
# default, or where it says so an example: take the # away and change it. Then:
#   antidrift config check     is there a fault, and where
#   antidrift reload           put it into force
#   antidrift config dump      what is in force, and why
";

/// The file that `antidrift config init` writes.
pub fn sample() -> String {
    let mut out = HEAD.to_owned();
    for table in TABLES {
        let name = table.name;
        // An empty preset would be one.
        let heading = if name == PRESETS { "#[presets.writing]" } else { &format!("[{name}]") };
        let _ = writeln!(out, "\n{heading}");
        comment(&mut out, table.doc);
        for key in table.keys {
            out.push('\n');
            let (literal, doc) = match key.value {
                Value::Default(literal) => (literal, key.doc.to_owned()),
                Value::Unset(literal) if table.is_open() => (literal, key.doc.to_owned()),
                Value::Unset(literal) => (literal, format!("{} Not set; an example:", key.doc)),
            };
            comment(&mut out, &doc);
            let _ = writeln!(out, "#{} = {literal}", key.name);
        }
    }
    out
}

/// A text as lines of comment.
fn comment(out: &mut String, text: &str) {
    let mut line = String::from("#");
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(out, "{line}");
            line.truncate(1);
        }
        line.push(' ');
        line.push_str(word);
    }
    let _ = writeln!(out, "{line}");
}

//! The manual: pages that are made of the configuration's keys and of the protocol's own
//! documentation, and all of them as man(1) shows them.

use std::{fs, process::Command};

use antidrift_daemon::config::keys::{TABLES, Value};
use antidrift_tests::man::{self, Page};
use roff::{bold, roman};

const CONFIG_HEAD: &str = "\
# DESCRIPTION

The configuration is one file in TOML. Every key is optional, and without the file everything is as
below. `antidrift config init` writes one to begin with, all of it commented out; `antidrift config
check` looks for faults and names line and column; `antidrift reload`, or SIGHUP to antidriftd, puts
it into force; `antidrift config dump` shows what is in force and why. A key that is not known is a
fault. A daemon that starts with a faulty file ends and says so; one that is told to read a faulty
one keeps what it has.
";

const CONFIG_TAIL: &str = "\
# FILES

| file | what it is |
|---|---|
| `$XDG_CONFIG_HOME/antidrift/config.toml` | The configuration, if the variable holds an absolute path. |
| `~/.config/antidrift/config.toml` | Else. |

# SEE ALSO

antidrift(1), antidriftd(1), antidrift-protocol(7)
";

const PROTOCOL_TAIL: &str = "\
# NOTES

Names with a capital, such as `Status`, are types of the Rust crate antidrift-protocol, whose
documentation (`cargo doc --package antidrift-protocol`) has each member with its bounds.

# SEE ALSO

antidrift(1), antidriftd(1), antidrift-config(5)
";

fn config() -> Page {
    let mut page = Page::new("antidrift-config", "5", "the configuration of antidriftd");
    page.markdown(CONFIG_HEAD);
    for table in TABLES {
        page.section(&format!("[{}]", table.name));
        page.paragraph([roman(table.doc)]);
        for key in table.keys {
            let (said, literal) = match key.value {
                Value::Default(literal) => ("default", literal),
                Value::Unset(literal) => ("for example", literal),
            };
            let term = [bold(key.name), roman(format!(" ({said}: {literal})"))];
            page.entry(term, [roman(key.doc)]);
        }
    }
    page.markdown(CONFIG_TAIL);
    page
}

fn protocol() -> Page {
    let what = "the protocol of antidriftd, and how to write a client for it";
    let mut page = Page::new("antidrift-protocol", "7", what);
    let source = include_str!("../../protocol/src/lib.rs");
    let docs = source.lines().map_while(|line| line.strip_prefix("//!"));
    let docs = docs.map(|line| line.strip_prefix(' ').unwrap_or(line));
    // What follows is for who has the crate's own documentation.
    let docs: Vec<&str> = docs.take_while(|line| *line != "# In Rust").collect();
    page.section("DESCRIPTION");
    page.markdown(&docs.join("\n"));
    page.markdown(PROTOCOL_TAIL);
    page
}

#[test]
fn the_manual_page_of_the_configuration_is_fresh() {
    man::check("antidrift-config.5", &config());
}

#[test]
fn the_manual_page_of_the_protocol_is_fresh() {
    man::check("antidrift-protocol.7", &protocol());
}

#[test]
fn manual_pages_are_shown_without_a_warning() {
    let pages = ["antidrift.1", "antidriftd.1", "antidrift-config.5", "antidrift-protocol.7"];
    for page in pages {
        let file = man::dir().join(page);
        let mut command = Command::new("man");
        command.args(["--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z"]).arg(&file);
        command.env("MANROFFSEQ", "").env("LC_ALL", "C.UTF-8").env("MANWIDTH", "80");
        let out = command.output().unwrap();
        assert!(out.status.success(), "{page}: {out:?}");
        assert_eq!(String::from_utf8_lossy(&out.stderr), "", "{page}");
        let text = fs::read_to_string(&file).unwrap();
        // Long enough that something is in it.
        assert!(text.lines().count() > 40, "{page}");
    }
}

//! Entries of the allowed context, from how they are typed to how they are meant. What cannot be
//! meant is left as it is, for the protocol's own check to refuse.

use antidrift_protocol::entry;

use crate::exit::Failure;

/// A list with commas: blanks around them and a last comma mean nothing, but nothing at all is
/// more likely a variable that was empty than a wish.
pub(super) fn list(
    option: &str,
    given: &[String],
    meant: fn(&str) -> String,
) -> Result<Vec<String>, Failure> {
    let mut entries = Vec::new();
    for list in given {
        let typed = list.split(',').map(str::trim).filter(|entry| !entry.is_empty());
        let before = entries.len();
        entries.extend(typed.map(meant));
        if entries.len() == before {
            return Err(Failure::Usage(format!("{option} must not be blank")));
        }
    }
    Ok(entries)
}

/// An address stands for its host.
pub(super) fn host(typed: &str) -> String {
    entry::host(typed).unwrap_or_else(|| typed.to_owned())
}

/// A path stands for the program that lies there. With arguments it would allow more than it says.
pub(super) fn program(typed: &str) -> String {
    let typed = typed.trim();
    match entry::program(typed) {
        name if name.is_empty() || typed.contains(char::is_whitespace) => typed.to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_they_are_meant() {
        let read = |given: &[&str], meant| {
            let given: Vec<String> = given.iter().map(ToString::to_string).collect();
            list("--x", &given, meant).map_err(|failure| failure.message().unwrap())
        };
        let same = str::to_owned as fn(&str) -> String;
        assert_eq!(read(&["code, emacs,", "a b"], same).unwrap(), ["code", "emacs", "a b"]);
        assert_eq!(read(&[], same).unwrap(), Vec::<String>::new());
        for blank in [&[""][..], &[" "], &[","], &["code", ""]] {
            assert_eq!(read(blank, same), Err("--x must not be blank".into()), "{blank:?}");
        }
        let hosts = ["https://Docs.rs/tokio?x=1,*.example.org", "localhost:80", "two words"];
        assert_eq!(
            read(&hosts, host).unwrap(),
            ["docs.rs", "example.org", "localhost", "two words"]
        );
        let programs = ["/usr/bin/make,vim", "make -j4", "/", "-bash"];
        assert_eq!(read(&programs, program).unwrap(), ["make", "vim", "make -j4", "/", "bash"]);
    }
}

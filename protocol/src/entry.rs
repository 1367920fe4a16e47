//! What the entries of the allowed context name. People paste addresses where a host is meant and
//! type paths where a program is; both sides read them by the same rule.

/// Longest host name, in bytes (RFC 1035, 2.3.4).
const MAX_HOST: usize = 253;

/// The host that an entry of the list of domains names, in lower case: the one of an address, and
/// without the `*.` that some write for the subdomains that are covered anyway. `None` if it names
/// none.
#[must_use]
pub fn host(entry: &str) -> Option<String> {
    let entry = entry.trim();
    let address = entry.split_once("://").map_or(entry, |(_, address)| address);
    host_of_address(address.trim_start_matches(['*', '.']))
}

/// The host part of an address without its scheme (RFC 3986, 3.2): no user, no port, no path, no
/// dot of the root, none of the brackets and quotes that stand around addresses in a text; in lower
/// case. `None` if that leaves no host name.
#[must_use]
pub fn host_of_address(address: &str) -> Option<String> {
    let authority = address.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit('@').next()?.split(':').next()?;
    let host = host.trim().trim_end_matches(['.', ')', ']', '>', '"', '\'', ',', ';']);
    Some(host.to_lowercase()).filter(|host| is_host(host))
}

fn is_host(name: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let is_label =
        |label: &str| !label.is_empty() && label.chars().all(fits) && !label.starts_with('-');
    name.len() <= MAX_HOST && name.split('.').all(is_label)
}

/// The program that a command line names: the basename of its first word. A login shell's `-bash`
/// is bash, and programs that write `tmux: client` over their names are tmux. Empty if it names
/// none.
#[must_use]
pub fn program(command: &str) -> &str {
    let word = command.split_whitespace().next().unwrap_or_default();
    let path = word.trim_end_matches(['/', ':']);
    let name = path.rsplit('/').next().unwrap_or_default();
    name.strip_prefix('-').unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        for (entry, expected) in [
            (" GitHub.com. ", "github.com"),
            ("*.github.com", "github.com"),
            (".github.com", "github.com"),
            ("https://github.com/rust-lang?x#y", "github.com"),
            ("HTTP://GitHub.com", "github.com"),
            ("github.com:443", "github.com"),
            ("user@github.com", "github.com"),
            ("bücher.example", "bücher.example"),
            ("localhost", "localhost"),
            ("192.168.0.1", "192.168.0.1"),
        ] {
            assert_eq!(host(entry).as_deref(), Some(expected), "{entry:?}");
        }
        let long = "a.".repeat(128);
        let none =
            ["", "*", " .. ", "https://", "not a host", "a..b", "a,b", "-x.example", "[::1]"];
        for entry in none.into_iter().chain([long.as_str()]) {
            assert_eq!(host(entry), None, "{entry:?}");
        }
    }

    #[test]
    fn programs() {
        for (command, expected) in [
            ("make", "make"),
            ("/usr/bin/make -j4", "make"),
            (" -bash", "bash"),
            ("tmux: client", "tmux"),
            ("bin/", "bin"),
            ("/", ""),
            ("-", ""),
            (" ", ""),
        ] {
            assert_eq!(program(command), expected, "{command:?}");
        }
    }
}

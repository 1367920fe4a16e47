//! The host that an address in a window title names.

use antidrift_protocol::{entry::host_of_address, text::clean};

use super::title::segments;

/// The most characters of a title that are read, as for context titles.
const READ_CHARS: usize = 1024;

/// Endings under which a name with a dot is a host and not a file.
const HOST_ENDINGS: &[&str] = &[
    "com", "net", "edu", "gov", "mil", "int", "io", "dev", "blog", "cloud", "eu", "info", "news",
    "page", "shop", "site", "tech", "tv", "wiki", "xyz",
];

/// The same for countries.
const COUNTRY_ENDINGS: &[&str] = &[
    "ar", "at", "au", "be", "br", "ca", "ch", "cl", "cn", "co", "cz", "de", "dk", "ee", "es", "fi",
    "fr", "gr", "hk", "hr", "hu", "ie", "il", "ir", "it", "jp", "kr", "lt", "lu", "lv", "mx", "nl",
    "no", "nz", "pt", "ro", "ru", "se", "sg", "si", "sk", "th", "tr", "tw", "ua", "uk", "us", "za",
];

/// Endings that files have too (`notes.org`, `logo.ai`, `Foo.app`): a host has three labels here.
const SHARED_ENDINGS: &[&str] = &["org", "ai", "app", "me", "to", "gg", "is"];

/// Endings of source files: only a path shows that a host is meant.
const FILE_ENDINGS: &[&str] = &["rs", "md", "sh", "py", "pl", "ps", "cc", "so", "in", "am", "ml"];

/// Hosts whose name could be a file's, known too well to be missed.
const KNOWN_HOSTS: &[&str] = &[
    "archive.org",
    "archlinux.org",
    "arxiv.org",
    "debian.org",
    "docs.rs",
    "gnu.org",
    "kernel.org",
    "mozilla.org",
    "openstreetmap.org",
    "python.org",
    "rust-lang.org",
    "wikipedia.org",
];

/// The host of an address that stands in a title, in lower case; the last one if there are several,
/// since extensions that write addresses into titles put them behind the page's own words.
///
/// An address is recognised by its scheme (`https://docs.rs/tokio`), by `www.`, or by a path behind
/// a host (`docs.rs/tokio`). A bare host counts only if it fills a part of the title between
/// separators (`tokio - docs.rs`), and if its ending is not one that files have: `main.rs` and
/// `notes.org` are files, and «github.com is down» is somebody's headline.
pub fn domain_in_title(raw: &str) -> Option<String> {
    let title = clean(raw, READ_CHARS);
    segments(&title).iter().rev().find_map(|segment| {
        let whole = !segment.text.contains(' ');
        segment.text.split(' ').rev().find_map(|word| host_in_word(word, whole))
    })
}

fn host_in_word(word: &str, whole: bool) -> Option<String> {
    if let Some(address) = after_scheme(word) {
        return host_of_address(address);
    }
    let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/');
    if word.contains('@') {
        return None;
    }
    let name = host_of_address(word)?;
    let path = word.contains('/');
    let fits = if name == "localhost" {
        path || (whole && word.contains(':'))
    } else if name.starts_with("www.") {
        name.split('.').count() > 2
    } else {
        (whole || path) && names_a_host(&name, path)
    };
    fits.then_some(name)
}

/// Whether a name without scheme is a host's rather than a file's or a package's.
fn names_a_host(name: &str, path: bool) -> bool {
    let labels: Vec<&str> = name.split('.').collect();
    let [first, .., ending] = labels.as_slice() else { return false };
    // `com.example.app` is a package.
    let package = labels.len() > 2 && matches!(*first, "com" | "org" | "net");
    let fits = HOST_ENDINGS.contains(ending)
        || COUNTRY_ENDINGS.contains(ending)
        || SHARED_ENDINGS.contains(ending) && (path || labels.len() > 2)
        || FILE_ENDINGS.contains(ending) && path
        || KNOWN_HOSTS.contains(&name);
    fits && !package
}

/// What stands behind the last `http://` or `https://`, whatever is before it.
fn after_scheme(word: &str) -> Option<&str> {
    let (before, address) = word.rsplit_once("://")?;
    let scheme = before.get(before.len().checked_sub(4)?..)?;
    let secure = before.get(before.len().saturating_sub(5)..).unwrap_or_default();
    let known = scheme.eq_ignore_ascii_case("http") || secure.eq_ignore_ascii_case("https");
    known.then_some(address)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn hosts_in_titles() {
        #[track_caller]
        fn check(title: &str, host: &str) {
            assert_eq!(domain_in_title(title).as_deref(), Some(host), "{title:?}");
        }
        check("https://docs.rs/tokio/latest", "docs.rs");
        check("HTTPS://Docs.RS", "docs.rs");
        check("http://localhost:3000/", "localhost");
        check("https://192.168.0.1:8080/admin", "192.168.0.1");
        check("https://user:secret@example.org/", "example.org");
        check("https://example.org.", "example.org");
        check("https://bücher.example/neu", "bücher.example");
        check("Page (https://example.org/) — Mozilla Firefox", "example.org");
        check("Page - https://example.org - Chromium", "example.org");
        check("view-source:https://example.org/", "example.org");
        check("https://evil.example/ - https://github.com/", "github.com");
        check("https://example.org?x=1", "example.org");
        check("www.example.museum", "www.example.museum");
        check("see www.example.org, please", "www.example.org");
        check("docs.rs/tokio - Google Chrome", "docs.rs");
        check("look at docs.rs/tokio.", "docs.rs");
        check("notes.org/today", "notes.org");
        check("docs.rs", "docs.rs");
        check("tokio - docs.rs - Mozilla Firefox", "docs.rs");
        check("todo.io — Mozilla Firefox", "todo.io");
        check("Results | github.com", "github.com");
        check("en.wikipedia.org", "en.wikipedia.org");
        check("localhost:8080 - Chromium", "localhost");
        check("localhost:8080/x and more", "localhost");
        check("Booking.com | Official site", "booking.com");
        check("bbc.co.uk", "bbc.co.uk");
    }

    #[test]
    fn titles_without_a_host() {
        for title in [
            "",
            "main.rs",
            "main.rs - Visual Studio Code",
            "src/main.rs",
            "lib.rs - daemon - Kate",
            "notes.txt",
            "report.pdf",
            "notes.org - GNU Emacs",
            "README.md",
            "README.de.md",
            "setup.py",
            "config.h.in",
            "logo.ai",
            "Foo.app",
            "Node.js",
            "e.g. this",
            "e.g.",
            "i.e.",
            "U.S.",
            "v1.2.3",
            "1.5",
            "3.14/2",
            "and/or",
            "localhost",
            "me@example.com",
            "Inbox - me@example.com - Mail",
            "github.com is down",
            "Why I left example.com (2021)",
            "com.example.app",
            "com.github.io",
            "org.gnome.Terminal",
            "file:///etc/hosts.com",
            "ftp://example.org/",
            "https://",
            "https:///x",
            "https://[::1]/",
            "https://..",
            "https://-x/",
            "www.",
            "www.com",
            "www..com",
            "://example.org",
            "user@host: ~/src",
            "wait...",
            ".com",
            "-.com",
        ] {
            assert_eq!(domain_in_title(title), None, "{title:?}");
        }
        let long = format!("https://{}.example", "a.".repeat(150));
        assert_eq!(domain_in_title(&long), None);
    }

    proptest! {
        #[test]
        fn any_title(title in any::<String>()) {
            if let Some(host) = domain_in_title(&title) {
                prop_assert_eq!(host_of_address(&host), Some(host));
            }
        }

        #[test]
        fn any_address(host in "[a-z][a-z0-9-]{0,8}(\\.[a-z]{2,6}){1,3}", words in "[a-z ]{0,12}") {
            let title = format!("{words} - https://{}/x — Mozilla Firefox", host.to_uppercase());
            prop_assert_eq!(domain_in_title(&title), Some(host));
        }
    }
}

//! The log, on standard error.
//!
//! What a level means:
//!
//! - `error`: the daemon cannot go on, or a person must act for it to work again;
//! - `warn`: something does not work and will not mend by itself, though the daemon goes on; said
//!   once, when it begins (the default level shows these two);
//! - `info`: a step in the daemon's life: started, stopped, took over, works again;
//! - `debug`: what one would ask for in a bug report: connections, requests by name, judgements;
//! - `trace`: each step. Still no titles: no level shows what stands in a window.

use std::{
    env, fmt,
    io::{self, IsTerminal as _},
};

use tracing::level_filters::LevelFilter;

/// What was asked for is not a level.
#[derive(Debug, thiserror::Error)]
#[error("ANTIDRIFT_LOG is {0:?}, expected error, warn, info, debug or trace")]
pub struct BadLevel(String);

/// How much to log: each `-v` one level more than `warn`, and `ANTIDRIFT_LOG` where no `-v` stands.
///
/// # Errors
///
/// A word that is no level.
pub fn level(verbose: u8, variable: Option<&str>) -> Result<LevelFilter, BadLevel> {
    Ok(match (verbose, variable) {
        (0, None | Some("")) => LevelFilter::WARN,
        (0, Some(word)) => match word.to_ascii_lowercase().as_str() {
            "error" => LevelFilter::ERROR,
            "warn" => LevelFilter::WARN,
            "info" => LevelFilter::INFO,
            "debug" => LevelFilter::DEBUG,
            "trace" => LevelFilter::TRACE,
            _ => return Err(BadLevel(word.to_owned())),
        },
        (1, _) => LevelFilter::INFO,
        (2, _) => LevelFilter::DEBUG,
        (3.., _) => LevelFilter::TRACE,
    })
}

/// Starts logging; the second call of a process changes nothing. `stamped` says that whoever reads
/// our standard error puts the time before each line itself (the journal does).
pub fn start(level: LevelFilter, stamped: bool) {
    let log = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(io::stderr)
        .with_ansi(colours())
        .with_target(false)
        // It would print that it cannot print, and a print to a closed terminal panics.
        .log_internal_errors(false);
    // An error says that there is a logger already, which only a test can bring about.
    let _ = if stamped { log.without_time().try_init() } else { log.try_init() };
}

/// Whether the log may have colours (<https://no-color.org>).
fn colours() -> bool {
    let var = |name| env::var_os(name).filter(|value| !value.is_empty());
    let knows_them = var("TERM").is_some_and(|term| term != "dumb");
    knows_them && var("NO_COLOR").is_none() && io::stderr().is_terminal()
}

/// Something that no log may show. `Debug` and `Display` say only that it is there.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Private<T>(pub T);

impl<T> fmt::Debug for Private<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(private)")
    }
}

impl<T> fmt::Display for Private<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(private)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels() {
        for (verbose, variable, expected) in [
            (0, None, LevelFilter::WARN),
            (0, Some(""), LevelFilter::WARN),
            (0, Some("ERROR"), LevelFilter::ERROR),
            (0, Some("debug"), LevelFilter::DEBUG),
            (1, Some("error"), LevelFilter::INFO),
            (2, None, LevelFilter::DEBUG),
            (9, None, LevelFilter::TRACE),
        ] {
            assert_eq!(level(verbose, variable).unwrap(), expected);
        }
        let error = level(0, Some("antidrift=debug")).unwrap_err().to_string();
        assert!(error.contains("antidrift=debug") && error.contains("trace"), "{error}");
    }

    #[test]
    fn private_text_is_not_shown() {
        let secret = Private("s3cr3t");
        assert_eq!(format!("{secret} {secret:?}"), "(private) (private)");
    }
}

//! Colours of help and complaints: at a terminal, unless they are not wanted.

#![allow(clippy::unwrap_used, reason = "test code")]

mod support;

use support::{terminal::Terminal, *};

const LINES: [(&[&str], i32); 4] =
    [(&["--help"], 0), (&["allow", "rm", "--help"], 0), (&["nothing"], 2), (&["extend"], 2)];

#[test]
fn a_terminal_gets_colours_unless_it_or_its_user_wants_none() {
    let daemon = FakeDaemon::start(|_| None);
    for (line, code) in LINES {
        for (environment, coloured) in [
            (&[][..], true),
            (&[("NO_COLOR", "")], true),
            (&[("NO_COLOR", "1")], false),
            (&[("NO_COLOR", "0")], false),
            (&[("TERM", "dumb")], false),
            (&[("TERM", "")], false),
            (&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], false),
        ] {
            let mut terminal = Terminal::start(&daemon, line, environment);
            assert_eq!(wait_for_end(&mut terminal.child).code(), Some(code));
            let last = if code == 0 { "Examples:" } else { "--help" };
            let raw = terminal.wait_for_raw(last);
            assert_eq!(raw.contains('\u{1b}'), coloured, "{line:?} {environment:?}: {raw:?}");
        }
    }
}

#[test]
fn a_pipe_gets_none() {
    let dir = tempfile::tempdir().unwrap();
    for (line, code) in LINES.into_iter().chain([(&["status"][..], 3)]) {
        for environment in [&[][..], &[("CLICOLOR_FORCE", "1"), ("TERM", "xterm")]] {
            let mut command = client(dir.path());
            command.args(line).envs(environment.iter().copied());
            let ran = finish(command.spawn().unwrap());
            assert_eq!(ran.code, Some(code), "{ran:?}");
            assert_eq!(ran.out.is_empty(), code != 0, "{ran:?}");
            assert!(!(ran.out + &ran.err).contains('\u{1b}'), "{line:?} {environment:?}");
        }
    }
}

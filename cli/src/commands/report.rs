//! `antidrift report`

use std::{
    fs::{self, OpenOptions, Permissions},
    io::{self, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use antidrift_protocol::{
    AskHistory, Command, History, Record,
    client::{ANSWER_LIMIT, Client, ClientError},
};
use jiff::tz::TimeZone;

use super::Daemon;
use crate::{
    args, clock,
    exit::Failure,
    out,
    report::{
        Days, Period, Report, activitywatch, csv, json, svg, text as for_people, timewarrior,
    },
};

pub(super) fn run(daemon: &Daemon, args: &args::Report) -> Result<(), Failure> {
    let period = match args {
        args::Report { week: true, .. } => Period::Week,
        args::Report { month: true, .. } => Period::Month,
        args::Report { days, .. } => Period::Days(*days),
    };
    let zone = clock::zone().unwrap_or_else(|why| {
        out::warn(&format!("{why}; days are those of UTC"));
        TimeZone::UTC
    });
    let days = Days::new(period, clock::wall(), zone);
    let sessions = sessions(&mut daemon.connect()?, &days)?;
    let report = Report::new(days, sessions);
    match &args.form {
        args::Form { svg: Some(file), .. } if file.as_os_str() == "-" => {
            out::print(&svg::text(&report))
        }
        args::Form { svg: Some(file), .. } => put(file, &svg::text(&report)),
        args::Form { json: true, .. } => out::print(&json::text(&report)),
        args::Form { csv: true, .. } => out::print(&csv::text(&report)),
        args::Form { timewarrior: true, .. } => match timewarrior::text(&report) {
            lines if lines.is_empty() => Ok(()),
            lines => out::print(&lines),
        },
        args::Form { activitywatch: true, .. } => {
            let host = rustix::system::uname();
            out::print(&activitywatch::text(&report, &host.nodename().to_string_lossy()))
        }
        _ => out::print(&for_people::text(&report, super::paint())),
    }
}

/// All sessions that began in these days, as many answers as that takes.
fn sessions(client: &mut Client, days: &Days) -> Result<Vec<Record>, Failure> {
    let mut range = AskHistory { since: Some(days.begin()), before: Some(days.end()) };
    let mut sessions = Vec::new();
    loop {
        let answer: History = client.ask(Command::History(range.clone()), ANSWER_LIMIT)?;
        let next = next(&range, &answer);
        sessions.extend(answer.sessions);
        match next? {
            Some(before) => range.before = Some(before),
            None => return Ok(sessions),
        }
    }
}

/// Where to go on. A daemon that does not get anywhere is not asked for ever.
fn next(
    asked: &AskHistory,
    answer: &History,
) -> Result<Option<antidrift_protocol::Timestamp>, ClientError> {
    let earliest = answer.sessions.last().map(|record| record.started_at);
    match (answer.more, earliest) {
        (false, _) => Ok(None),
        (true, Some(at)) if asked.before.is_none_or(|before| at < before) => Ok(Some(at)),
        (true, _) => Err(ClientError::NotUnderstood("there is more, but no way to it".into())),
    }
}

/// Writes a file beside and gives it the name then: a full disk leaves the old one. What is no file,
/// such as /dev/null or a pipe, is written to.
fn put(file: &Path, text: &str) -> Result<(), Failure> {
    let failed = |error: io::Error| {
        let shown = antidrift_protocol::text::terminal(&file.display().to_string(), 200);
        Failure::Undone(format!("{shown} could not be written: {error}"))
    };
    // A link is kept, and what it leads to is replaced.
    let place = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let old = fs::metadata(&place).ok();
    if old.as_ref().is_some_and(|meta| !meta.is_file() && !meta.is_dir()) {
        let mut special = OpenOptions::new().write(true).open(&place).map_err(failed)?;
        return special.write_all(text.as_bytes()).map_err(failed);
    }
    let mut temporary = place.as_os_str().to_owned();
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let attempt = || {
        let mut options = OpenOptions::new();
        // What somebody else has put there is not followed.
        let mut new = options.write(true).create_new(true).mode(0o600).open(&temporary)?;
        new.write_all(text.as_bytes())?;
        if let Some(old) = &old {
            new.set_permissions(Permissions::from_mode(old.permissions().mode() & 0o777))?;
        }
        new.sync_all()?;
        fs::rename(&temporary, &place)
    };
    attempt().map_err(|error| {
        if error.kind() != io::ErrorKind::AlreadyExists {
            let _ = fs::remove_file(&temporary);
        }
        failed(error)
    })
}

#[cfg(test)]
mod tests {
    use antidrift_protocol::Timestamp;

    use super::*;

    #[test]
    fn pages_are_asked_for_until_there_are_no_more() {
        let at = Timestamp::from_millis;
        let asked = AskHistory { since: None, before: Some(at(10)) };
        let answer = |started: &[i64], more| History {
            sessions: started
                .iter()
                .map(|&ms| Record { started_at: at(ms), ..Record::default() })
                .collect(),
            more,
        };
        assert_eq!(next(&asked, &answer(&[9, 5], true)).unwrap(), Some(at(5)));
        assert_eq!(next(&asked, &answer(&[9, 5], false)).unwrap(), None);
        assert_eq!(next(&AskHistory::default(), &answer(&[9], true)).unwrap(), Some(at(9)));
        next(&asked, &answer(&[], true)).unwrap_err();
        next(&asked, &answer(&[10], true)).unwrap_err();
    }

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("week.svg");
        put(&file, "first").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        let link = dir.path().join("link.svg");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        put(&link, "second").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "second");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o644);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        put(Path::new("/dev/null"), "third").unwrap();
        for unfit in [dir.path().to_owned(), dir.path().join("none/week.svg")] {
            let said = put(&unfit, "x").unwrap_err().message().unwrap();
            assert!(said.contains("could not be written"), "{said}");
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "nothing is left over");
    }
}

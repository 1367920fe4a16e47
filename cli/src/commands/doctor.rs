//! `antidrift doctor`: everything that has to work, one line each, with what to do where it does not.

use std::{env, time::Duration};

use antidrift_protocol::{
    CheckedJudge, Command, JudgeStatus, NoArgs, Sensor, SensorStatus, Status,
    client::{ANSWER_LIMIT, Client},
    paths,
};
use rustix::fs::{Access, access};

use super::Daemon;
use crate::{exit::Failure, notify, out, render, spinner};

/// How long a judgement of the sample may take: longer than the daemon's own limit.
const CHECK_LIMIT: Duration = Duration::from_secs(90);

const BUS: &str = "DBUS_SESSION_BUS_ADDRESS";
const STATE_TODO: &str = "make it yours, or set XDG_STATE_HOME, and restart the daemon";

/// One thing that was looked at.
struct Finding {
    what: &'static str,
    /// What was found; on the other side what is wrong, with its remedy.
    found: Result<String, String>,
}

pub(super) fn run(daemon: &Daemon) -> Result<(), Failure> {
    let mut findings = Vec::new();
    let mut look = |what, found| findings.push(Finding { what, found });
    match daemon.connect() {
        Ok(client) => match with_daemon(daemon, client, &mut look) {
            Ok(()) => {}
            Err(failure @ Failure::Cancelled(_)) => return Err(failure),
            Err(failure) => look("daemon", Err(failure.message().unwrap_or_default())),
        },
        Err(failure) => look("daemon", Err(failure.message().unwrap_or_default())),
    }
    look("notify-send", notify_send());
    look("notifications", notifications());
    look("state directory", state_directory());

    let wrong = findings.iter().filter(|finding| finding.found.is_err()).count();
    let lines: Vec<String> = findings.iter().map(line).collect();
    out::print(&lines.join("\n"))?;
    if wrong > 0 { Err(Failure::Findings) } else { Ok(()) }
}

fn line(finding: &Finding) -> String {
    let (mark, text) = match &finding.found {
        Ok(text) => ("ok ", text),
        Err(text) => ("!! ", text),
    };
    format!("{mark}{:16} {}", finding.what, render::message(text))
}

fn with_daemon(
    daemon: &Daemon,
    mut client: Client,
    look: &mut dyn FnMut(&'static str, Result<String, String>),
) -> Result<(), Failure> {
    let status: Status = client.ask(Command::Status(NoArgs {}), ANSWER_LIMIT)?;
    look("daemon", Ok(format!("answers on {}", daemon.socket.path.display())));
    look("display", display(&status.state.sensor));
    let judge = status.state.judge;
    let missing = render::missing_judge(&judge);
    let name = render::title(&judge.backend);
    if judge.status == JudgeStatus::Off && judge.last_error.is_none() {
        look("judge", Ok("none, as configured; only what is allowed is recognised".into()));
        return Ok(());
    }
    let what = "asking the judge about a sample window";
    let checked = spinner::during(what, "the checks were not finished", move || {
        Ok(client.ask(Command::CheckJudge(NoArgs {}), CHECK_LIMIT)?)
    })?;
    let CheckedJudge { verdict, detail, millis } = checked;
    look(
        "judge",
        match verdict.as_deref() {
            // Another judged it than the one that was named.
            Some(_) if missing.is_some() => {
                Err(format!("{name} is off: {}", missing.unwrap_or_default()))
            }
            // The sample is drift by any measure: a video of cats against a report on floods.
            Some("drifting") => {
                Ok(format!("{name} judged a sample window rightly, in {millis} ms"))
            }
            Some(other) => {
                let said = render::title(other);
                Err(format!(
                    "{name} called a video of cats «{said}» for a report on floods: {detail}"
                ))
            }
            // Mostly it says itself who speaks.
            None if detail.starts_with(&format!("{name}:")) => Err(detail),
            None => Err(format!("{name}: {detail}")),
        },
    );
    Ok(())
}

fn display(sensor: &Sensor) -> Result<String, String> {
    let detail = sensor.detail.clone();
    match (sensor.status, detail) {
        (SensorStatus::Ok, None) => {
            Ok("windows are seen, and a window manager names the active one".into())
        }
        // What is seen only in part is worth a look, but works.
        (SensorStatus::Ok, Some(detail)) => Ok(detail),
        (_, detail) => {
            let why = detail.unwrap_or_else(|| "no X display".into());
            Err(format!("{why}; start antidriftd inside the desktop session, where DISPLAY is set"))
        }
    }
}

fn notify_send() -> Result<String, String> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut dirs = env::split_paths(&path);
    match dirs.find(|dir| access(dir.join("notify-send"), Access::EXEC_OK).is_ok()) {
        Some(dir) => Ok(format!("is {}", dir.join("notify-send").display())),
        None => {
            Err("is not on PATH, so there are no popups; Debian has it in libnotify-bin".into())
        }
    }
}

fn notifications() -> Result<String, String> {
    match notify::service_answers() {
        Some(true) => Ok("a notification service answers".into()),
        Some(false) if env::var_os(BUS).is_none_or(|bus| bus.is_empty()) => Err(format!(
            "no notification service answers; {BUS} is not set, as it is inside a desktop session"
        )),
        Some(false) => {
            Err("no notification service answers; start one, such as dunst or mako".into())
        }
        None => Ok("not looked at: neither dbus-send, gdbus nor busctl is there".into()),
    }
}

fn state_directory() -> Result<String, String> {
    let Some(dir) = paths::state_dir() else {
        return Err("there is no home directory; set HOME or XDG_STATE_HOME".into());
    };
    // What is not there yet is made by the daemon, below what is.
    let Some(place) = dir.ancestors().find(|place| place.exists()) else {
        return Err(format!("{} cannot be made; {STATE_TODO}", dir.display()));
    };
    let usable = place.is_dir() && access(place, Access::WRITE_OK | Access::EXEC_OK).is_ok();
    match (usable, place == dir) {
        (true, true) => Ok(dir.display().to_string()),
        (true, false) => Ok(format!("{} will be made by the daemon", dir.display())),
        (false, _) => {
            let what = if place.is_dir() { "cannot be written to" } else { "is no directory" };
            Err(format!("{} {what}, so nothing is saved; {STATE_TODO}", place.display()))
        }
    }
}

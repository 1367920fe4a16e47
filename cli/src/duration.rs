//! Durations as people type and read them.

use antidrift_protocol::{MAX_TIMEBOX_SECS, duration, text};
use jiff::{ZonedDateTime, civil::Time};

const FORMS: &str = "use 25m, 1h30, 90s or 'until 14:30'";

/// Most characters of what was typed that a message repeats.
const SHOWN: usize = 40;

/// Reads `25m`, `1h30`, `1h30m`, `90s`, `1h`, or a bare number, which means minutes. A number
/// without a unit behind a larger unit has the next smaller one: `1h30` is 90 minutes and `2m30`
/// 150 seconds. Reads `until 14:30`, too: up to the next moment at which the clock on the wall shows
/// that. `now` is asked for only then, since finding the time zone takes as long as all the rest.
///
/// From one second to one day; else one line that says what is wrong and how it is typed.
pub(crate) fn parse(typed: &str, now: impl FnOnce() -> ZonedDateTime) -> Result<u64, String> {
    let typed = typed.trim();
    let shown = text::terminal(typed, SHOWN);
    let secs = match until(typed) {
        Some(time) => secs_until(time, &now())
            .ok_or_else(|| format!("«{shown}» names no time of day; use 'until 14:30'"))?,
        None if is_negative(typed) => return Err(format!("«{shown}» is negative; {FORMS}")),
        None if looks_like_a_clock(typed) => {
            return Err(format!(
                "«{shown}» could be minutes or a time of day; use 45m, 1h30 or 'until 14:30'"
            ));
        }
        None => {
            duration::length(typed).ok_or_else(|| format!("«{shown}» is no duration; {FORMS}"))?
        }
    };
    match secs {
        0 => Err(format!("«{shown}» is no time at all; {FORMS}")),
        1..=MAX_TIMEBOX_SECS => Ok(secs),
        _ => Err(format!("«{shown}» is more than a day, and 24h is the most")),
    }
}

/// What follows `until`, if it begins so.
pub(crate) fn until(typed: &str) -> Option<&str> {
    let (word, time) = typed.trim().split_at_checked("until".len())?;
    word.eq_ignore_ascii_case("until").then(|| time.trim())
}

/// Seconds to the next moment at which a clock shows this time. `None`: no time of day.
fn secs_until(time: &str, now: &ZonedDateTime) -> Option<u64> {
    let time = time_of_day(time)?;
    let today = now.date();
    let next = [Ok(today), today.tomorrow()].into_iter().flatten().flat_map(|date| {
        let at = now.time_zone().to_ambiguous_zoned_datetime(date.to_datetime(time));
        // In the hour that comes twice in autumn there are two such moments; one that is skipped in
        // spring is as long after midnight as ever (RFC 5545).
        [at.clone().compatible(), at.later()]
    });
    let next = next.flatten().filter(|at| at > now).min()?;
    let millis = u64::try_from(now.duration_until(&next).as_millis()).ok()?;
    // Never before the clock shows it.
    Some(millis.div_ceil(1000))
}

/// `14:30`, `9:05`; `24:00` is the midnight to come.
fn time_of_day(text: &str) -> Option<Time> {
    let (hours, minutes) = text.split_once(':')?;
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !matches!(hours.len(), 1 | 2) || minutes.len() != 2 || !digits(hours) || !digits(minutes) {
        return None;
    }
    let hours = if text == "24:00" { 0 } else { hours.parse().ok()? };
    Time::new(hours, minutes.parse().ok()?, 0, 0).ok()
}

fn is_negative(typed: &str) -> bool {
    typed.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Four bare digits: taken for minutes they would be most of a day, and nobody means that.
fn looks_like_a_clock(typed: &str) -> bool {
    typed.len() == 4 && typed.bytes().all(|byte| byte.is_ascii_digit())
}

/// A length for reading: `45 s`, `25 min`, `1 h 05 min`.
pub(crate) fn words(secs: u64) -> String {
    match secs {
        0..60 => format!("{secs} s"),
        60..3600 => format!("{} min", secs / 60),
        _ => format!("{} h {:02} min", secs / 3600, secs / 60 % 60),
    }
}

/// A clock that runs: `4:05`, `1:04:05`.
pub(crate) fn clock(secs: u64) -> String {
    let (hours, minutes, seconds) = (secs / 3600, secs / 60 % 60, secs % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

#[cfg(test)]
#[path = "duration_tests.rs"]
mod tests;

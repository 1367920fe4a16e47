//! Durations as people type and read them.

use antidrift_protocol::MAX_TIMEBOX_SECS;

const FORMS: &str = "use 25m, 1h30, 1h30m, 90s, or a bare number of minutes";

/// Reads `25m`, `1h30`, `1h30m`, `90s`, `1h`, or a bare number, which means minutes. A number
/// without a unit behind a larger unit has the next smaller one: `1h30` is 90 minutes and `2m30`
/// 150 seconds. From one second to one day.
pub(crate) fn parse(typed: &str) -> Result<u64, String> {
    let secs = read(typed.trim()).ok_or_else(|| format!("this is no duration; {FORMS}"))?;
    match secs {
        0 => Err(format!("a timebox takes time; {FORMS}")),
        1..=MAX_TIMEBOX_SECS => Ok(secs),
        _ => Err("a timebox is at most one day (24h)".to_owned()),
    }
}

/// `None`: nonsense. Absurdly large is the largest number.
fn read(text: &str) -> Option<u64> {
    let mut total = 0_u64;
    // Seconds in one of the unit that a bare number has here; none is left after seconds.
    let mut bare = Some(60);
    let mut largest = u64::MAX;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, tail) = rest.split_at_checked(digits)?;
        if number.is_empty() {
            return None;
        }
        // Only too many digits can fail here.
        let number = number.parse().unwrap_or(u64::MAX);
        let (unit, tail) = match tail.chars().next() {
            None => (bare?, tail),
            Some('h' | 'H') => (3600, tail.get(1..)?),
            Some('m' | 'M') => (60, tail.get(1..)?),
            Some('s' | 'S') => (1, tail.get(1..)?),
            Some(_) => return None,
        };
        if unit >= largest {
            return None;
        }
        largest = unit;
        bare = match unit {
            3600 => Some(60),
            60 => Some(1),
            _ => None,
        };
        total = total.saturating_add(number.saturating_mul(unit));
        rest = tail;
    }
    (!text.is_empty()).then_some(total)
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
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_type() {
        for (typed, secs) in [
            ("25m", 1500),
            ("25", 1500),
            (" 25 ", 1500),
            ("1h30", 5400),
            ("1h30m", 5400),
            ("1H30M", 5400),
            ("90s", 90),
            ("2m30", 150),
            ("2m30s", 150),
            ("1h5s", 3605),
            ("24h", 86_400),
            ("1h30m15s", 5415),
        ] {
            assert_eq!(parse(typed), Ok(secs), "{typed}");
        }
    }

    #[test]
    fn refuses_nonsense_with_one_line() {
        for typed in [
            "",
            " ",
            "m",
            "h",
            "-5",
            "+5",
            "1.5h",
            "5x",
            "5 m",
            "m5",
            "30m1h",
            "5m5m",
            "5s5",
            "٣m",
            "0",
            "0m",
            "0h0m",
            "25h",
            "1441",
            "86401s",
            "99999999999999999999999h",
            "1e3",
            "soon",
        ] {
            let message = parse(typed).unwrap_err();
            assert!(!message.contains('\n') && !message.is_empty(), "{typed}: {message}");
        }
    }

    #[test]
    fn shows_lengths() {
        for (secs, word, running) in [
            (0, "0 s", "0:00"),
            (59, "59 s", "0:59"),
            (60, "1 min", "1:00"),
            (1500, "25 min", "25:00"),
            (3905, "1 h 05 min", "1:05:05"),
        ] {
            assert_eq!((words(secs).as_str(), clock(secs).as_str()), (word, running));
        }
    }
}

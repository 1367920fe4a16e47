use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::*;

/// Central Europe by its rule: no test needs the machine's own tables.
const BERLIN: &str = "CET-1CEST,M3.5.0,M10.5.0/3";

/// A moment there, by its clock; in the hour that comes twice the first one.
fn berlin(clock: &str) -> ZonedDateTime {
    let civil: jiff::civil::DateTime = clock.parse().unwrap();
    civil.to_zoned_datetime(TimeZone::posix(BERLIN).unwrap()).unwrap()
}

fn at_noon(typed: &str) -> Result<u64, String> {
    parse(typed, || berlin("2026-06-01T12:00:00"))
}

#[test]
fn reads_what_people_type() {
    for (typed, secs) in [
        ("25m", 1500),
        ("25", 1500),
        (" 25 ", 1500),
        ("1h30", 5400),
        ("1h30m", 5400),
        ("1H30M", 5400),
        ("10min", 600),
        ("1h30min", 5400),
        ("90s", 90),
        ("2m30", 150),
        ("2m30s", 150),
        ("1h5s", 3605),
        ("24h", 86_400),
        ("999", 59_940),
        ("1h30m15s", 5415),
        ("until 14:30", 9000),
        ("Until  14:30 ", 9000),
        ("until14:30", 9000),
        ("until 9:05", 21 * 3600 + 300),
        ("until 0:00", 43_200),
        ("until 24:00", 43_200),
        ("until 12:01", 60),
        ("until 11:59", 86_340),
        // It shows that already, so tomorrow is meant.
        ("until 12:00", 86_400),
    ] {
        assert_eq!(at_noon(typed), Ok(secs), "{typed}");
    }
}

#[test]
fn refuses_nonsense_with_one_line_that_shows_how() {
    let table: [(&str, &[&str]); 5] = [
        (
            "is no duration; use 25m, 1h30, 90s or 'until 14:30'",
            &[
                "", " ", "m", "h", "+5", "1.5h", "1,5h", "5x", "5 m", "m5", "30m1h", "5m5m", "5s5",
                "٣m", "1e3", "soon", "14:30", "--next", "-", "5\u{0}m", "5mm", "5ms", "5minutes",
                "−5m",
            ],
        ),
        ("is no time at all; use", &["0", "0m", "0h0m", "000", "00000"]),
        ("is negative; use", &["-5", "-5m", "-0", "-1h30", "-99999999999999999999999h"]),
        (
            "is more than a day, and 24h",
            &[
                "25h",
                "24h1s",
                "10000",
                "86401s",
                "99999999999999999999999h",
                "9999999999999999999999",
            ],
        ),
        ("could be minutes or a time of day; use 45m", &["1430", "1441", "0930", "0000"]),
    ];
    for (expected, all) in table {
        for typed in all {
            let message = at_noon(typed).unwrap_err();
            assert!(message.contains(expected), "{typed:?}: {message}");
            assert!(!message.contains(char::is_control), "{typed:?}: {message}");
        }
    }
    for typed in [
        "until",
        "until ",
        "until soon",
        "until 14",
        "until 1430",
        "until 14:3",
        "until 14:300",
        "until 25:00",
        "until 24:01",
        "until 14:60",
        "until -1:30",
        "until 14:-1",
        "until +1:30",
        "until 1 4:30",
        "until 14:30:00",
        "until 14.30",
        "until 2:30pm",
        "until tomorrow",
        "until:",
        "until 014:30",
        "until ٣:٣٠",
    ] {
        let message = at_noon(typed).unwrap_err();
        assert!(message.ends_with("names no time of day; use 'until 14:30'"), "{typed}: {message}");
    }
    let long = at_noon(&"x".repeat(10_000)).unwrap_err();
    assert!(long.chars().count() < 120, "{long}");
    let hostile = at_noon("\u{1b}]0;pwned\u{7}5m\u{202e}").unwrap_err();
    assert!(hostile.starts_with("«5m» is no duration"), "{hostile}");
}

#[test]
fn until_a_time_is_right_over_midnight_and_changes_of_the_clock() {
    for (now, typed, secs) in [
        ("2026-06-01T23:59:59", "until 0:00", 1),
        ("2026-06-01T23:50:00", "until 0:20", 1800),
        ("2026-12-31T23:50:00", "until 0:20", 1800),
        // Rounded up: never before the clock shows it.
        ("2026-06-01T14:29:59.999", "until 14:30", 1),
        ("2026-06-01T14:28:59.001", "until 14:30", 61),
        // A day of 23 hours.
        ("2026-03-28T14:30:00", "until 14:30", 23 * 3600),
        ("2026-03-29T01:30:00", "until 4:30", 2 * 3600),
        // The clock goes from 2:00 to 3:00: what it does not show is as long after midnight as ever.
        ("2026-03-29T01:30:00", "until 2:30", 3600),
        // And the hour that comes twice: whichever comes next.
        ("2026-10-25T01:30:00", "until 2:30", 3600),
        ("2026-10-25T02:45:00", "until 2:30", 45 * 60),
        ("2026-10-25T01:30:00", "until 4:30", 4 * 3600),
    ] {
        assert_eq!(parse(typed, || berlin(now)), Ok(secs), "{now} {typed}");
    }
    // A day of 25 hours is more than a day.
    let message = parse("until 14:30", || berlin("2026-10-24T14:30:00")).unwrap_err();
    assert!(message.contains("more than a day"), "{message}");
    // In the second of the two hours, the first is over.
    let second = berlin("2026-10-25T02:45:00").timestamp() + jiff::SignedDuration::from_hours(1);
    let second = second.to_zoned_datetime(TimeZone::posix(BERLIN).unwrap());
    assert_eq!(parse("until 3:00", || second.clone()), Ok(900));
    assert!(parse("until 2:30", || second.clone()).is_ok_and(|secs| secs > 80_000));
}

#[test]
fn the_clock_is_asked_only_for_until() {
    assert_eq!(parse("25m", || unreachable!()), Ok(1500));
    assert!(parse("soon", || unreachable!()).is_err());
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

/// Zones with a clock that changes by half an hour, at midnight, in the other half of the year.
const ZONES: [&str; 5] = [
    BERLIN,
    "UTC0",
    "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
    "EST5EDT,M3.2.0/0,M11.1.0/0",
    "<-03>3<-02>,M3.5.0/-2,M10.5.0/-1",
];

proptest! {
    #[test]
    fn whatever_is_typed_is_a_duration_or_one_line(
        typed in "(until ?)?[-+0-9:.hmsHMS \\PC]{0,12}",
        zone in 0..ZONES.len(),
        millis in 0_i64..4_000_000_000_000,
    ) {
        let zone = TimeZone::posix(ZONES[zone]).unwrap();
        let now = jiff::Timestamp::from_millisecond(millis).unwrap().to_zoned_datetime(zone);
        match parse(&typed, || now) {
            Ok(secs) => prop_assert!((1..=MAX_TIMEBOX_SECS).contains(&secs)),
            Err(message) => prop_assert!(!message.contains(char::is_control), "{message}"),
        }
    }

    /// Also for the clock that has just been changed: it shows the time that was asked for, or one
    /// that was skipped lies between.
    #[test]
    fn until_a_time_ends_when_the_clock_shows_it(
        (hour, minute) in (0_i8..24, 0_i8..60),
        zone in 0..ZONES.len(),
        millis in 0_i64..4_000_000_000_000,
    ) {
        let zone = TimeZone::posix(ZONES[zone]).unwrap();
        let now = jiff::Timestamp::from_millisecond(millis).unwrap().to_zoned_datetime(zone);
        let Ok(secs) = parse(&format!("until {hour}:{minute:02}"), || now.clone()) else {
            return Ok(());
        };
        let secs = i64::try_from(secs).unwrap();
        let end = now.timestamp() + jiff::SignedDuration::from_secs(secs);
        let shown = end.to_zoned_datetime(now.time_zone().clone());
        let civil = shown.date().at(hour, minute, 0, 0);
        let skipped = now.time_zone().to_ambiguous_zoned_datetime(civil).is_ambiguous();
        prop_assert!(
            (shown.hour(), shown.minute()) == (hour, minute) || skipped,
            "{now}: until {hour}:{minute:02} ends at {shown}"
        );
        // No earlier moment would do.
        prop_assert!(secs <= 86_400);
    }
}

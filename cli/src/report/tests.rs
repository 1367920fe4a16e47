use super::*;

fn zone(rule: &str) -> TimeZone {
    TimeZone::posix(rule).unwrap()
}

fn berlin() -> TimeZone {
    zone("CET-1CEST,M3.5.0,M10.5.0/3")
}

#[test]
fn periods_are_days_of_the_calendar() {
    // A Monday, just after midnight in Berlin and a Sunday in UTC.
    let now = sample::at("2026-11-29T23:30:00Z");
    let named = |period, zone| {
        let days = Days::new(period, now, zone);
        format!("{} {} {} {}", days.first, days.last, days.begin(), days.end())
    };
    for (period, zone, expected) in [
        (
            Period::Days(7),
            TimeZone::UTC,
            "2026-11-23 2026-11-29 2026-11-23T00:00:00.000Z 2026-11-30T00:00:00.000Z",
        ),
        (
            Period::Week,
            TimeZone::UTC,
            "2026-11-23 2026-11-29 2026-11-23T00:00:00.000Z 2026-11-30T00:00:00.000Z",
        ),
        (
            Period::Week,
            berlin(),
            "2026-11-30 2026-11-30 2026-11-29T23:00:00.000Z 2026-11-30T23:00:00.000Z",
        ),
        (
            Period::Month,
            berlin(),
            "2026-11-01 2026-11-30 2026-10-31T23:00:00.000Z 2026-11-30T23:00:00.000Z",
        ),
        (
            Period::Days(1),
            berlin(),
            "2026-11-30 2026-11-30 2026-11-29T23:00:00.000Z 2026-11-30T23:00:00.000Z",
        ),
    ] {
        assert_eq!(named(period, zone), expected, "{period:?}");
    }
}

#[test]
fn a_clock_at_either_end_of_the_calendar_does_no_harm() {
    for now in [i64::MIN, i64::MAX] {
        for zone in [TimeZone::UTC, zone("<+24>-24"), zone("<-24>24")] {
            let now = Timestamp::from_millis(now);
            let days = Days::new(Period::Days(366), now, zone);
            assert!(days.begin() <= days.end());
            let endless = Record { started_at: now, ended_at: now, ..sample::record() };
            let report = Report::new(days, vec![endless, sample::record()]);
            assert_eq!(report.totals.sessions, 2);
            let paint = crate::render::Paint::new(false);
            text::text(&report, paint);
            for shown in [svg::text(&report), json::text(&report), csv::text(&report)] {
                assert!(!shown.is_empty());
            }
            timewarrior::text(&report);
            activitywatch::text(&report, "desk");
        }
    }
}

#[test]
fn time_is_booked_under_the_day_that_it_was_spent_on() {
    let sums = |zone: TimeZone| {
        let days = Days::new(Period::Days(2), sample::at("2026-12-06T12:00:00Z"), zone);
        let report = Report::new(days, vec![sample::late()]);
        let sums = |row: &Row| {
            let sums = row.totals.sums;
            (row.totals.sessions, sums.get(Spent::Ontask), sums.get(Spent::Drifting))
        };
        report.rows.iter().map(sums).collect::<Vec<_>>()
    };
    assert_eq!(sums(TimeZone::UTC), [(1, 1800, 0), (0, 900, 900)]);
    assert_eq!(sums(berlin()), [(0, 0, 0), (1, 2700, 900)]);
}

#[test]
fn the_day_on_which_the_clock_is_set_has_an_hour_less() {
    let days = Days::new(Period::Days(1), sample::at("2026-03-29T12:00:00Z"), berlin());
    assert_eq!(days.end().since(days.begin()).as_secs(), 23 * 3600);
}

#[test]
fn sums_outcomes_and_drift_are_of_all_sessions() {
    let report = sample::report();
    assert_eq!((report.totals.sessions, report.totals.alerts), (3, 4));
    assert_eq!((report.totals.planned_secs, report.totals.actual_secs), (8400, 8700));
    assert_eq!(report.outcomes, [1, 1, 0, 1]);
    let drift = [("mpv".to_owned(), 900), ("Navigator".to_owned(), 300)];
    assert_eq!(report.drift, drift);
    let begun: Vec<_> = report.sessions.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(begun, ["read the minutes", "draft the report", "review chapter 2"]);
}

#[test]
fn many_days_are_shown_by_the_week() {
    let report = Report::new(sample::days(Period::Days(100)), vec![sample::record()]);
    let (each, rows) = report.shown_rows();
    assert_eq!(each, "week");
    assert_eq!((report.rows.len(), rows.len()), (100, 16));
    assert_eq!(rows.iter().map(|row| row.totals.sessions).sum::<u64>(), 1);
    let names: Vec<_> = rows.iter().rev().take(2).map(Row::name).collect();
    assert_eq!(names, ["Mon  7 Dec", "from 30 Nov"]);
}

#[test]
fn a_clock_that_was_set_back_does_not_take_the_time_away() {
    let record = Record { ended_at: sample::at("2026-12-03T08:00:00Z"), ..sample::record() };
    assert_eq!(actual_secs(&record), 3600);
    assert_eq!(stretches(&record).count(), 9);
}

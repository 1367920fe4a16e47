//! More changes than anybody can read: of titles (rows 6 and 7) and of the focus (rows 3 and 8), and
//! what they leave behind in memory (row 5).

use std::{thread, time::Instant};

use antidrift_tests::Manager;

use crate::{
    Counts, Plan,
    machine::Noise,
    screen::{Screen, WINDOWS},
    table::{Row, over, percentile},
    watched::{Kind, Watched},
};

/// What changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Titles,
    Focus,
}

impl What {
    fn rate(self) -> f64 {
        match self {
            Self::Titles => 1000.0,
            Self::Focus => 200.0,
        }
    }
}

/// One round of one program, or of none.
#[derive(Debug, Default)]
struct Storm {
    changes: usize,
    /// Seconds of CPU: its own, and that of server and manager.
    cpu: f64,
    others: f64,
    lines: f64,
    /// Milliseconds until the first and the last change were told.
    first: f64,
    last: f64,
    /// KiB of its own memory more than before.
    grown: f64,
}

fn storm(screen: &Screen, kind: Option<Kind>, what: What, counts: &Counts) -> Storm {
    let watched = kind.map(|kind| Watched::start(kind, screen));
    if let Some(watched) = &watched {
        watched.warm_up(screen);
    }
    // what comes soon after a line may be held back
    thread::sleep(counts.settle / 10);
    let memory = || watched.as_ref().map_or(f64::NAN, |it| it.memory().1);
    let cpu = || watched.as_ref().map_or(0.0, |it| it.process.cost().1 as f64 / 1e9);
    let (memory_before, cpu_before, others_before) = (memory(), cpu(), screen.desktop.cpu_secs());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
    let changes = (what.rate() * counts.storm.as_secs_f64()) as usize;
    let start = Instant::now();
    let (mut first, mut last) = (start, start);
    for n in 1..=changes {
        let due =
            start + counts.storm * u32::try_from(n).unwrap() / u32::try_from(changes).unwrap();
        thread::sleep(due.saturating_duration_since(Instant::now()));
        last = match what {
            What::Titles => screen.rename(0, &storm_title(n)),
            What::Focus => screen.activate(n % WINDOWS),
        };
        if n == 1 {
            first = last;
        }
    }
    screen.desktop.sync();
    let mut storm = Storm { changes, ..Storm::default() };
    if let Some(watched) = &watched {
        let (begin, end) = match what {
            // the very first may be one line with the next
            What::Titles => ("storm title".to_owned(), storm_title(changes)),
            What::Focus => (watched.token(screen, 1), watched.token(screen, changes % WINDOWS)),
        };
        let lines = watched.until(&end, last);
        let told = |token: &str, since| {
            let line = lines.iter().find(|(time, line)| *time >= since && line.contains(token));
            line.map_or(f64::NAN, |(time, _)| (*time - since).as_secs_f64() * 1e3)
        };
        storm.first = told(&begin, first);
        storm.last = told(&end, last);
    }
    thread::sleep(counts.settle / 10);
    storm.cpu = cpu() - cpu_before;
    storm.others = screen.desktop.cpu_secs() - others_before;
    storm.grown = memory() - memory_before;
    storm.lines = watched.as_ref().map_or(0.0, |it| it.drain() as f64);
    storm
}

fn storm_title(n: usize) -> String {
    format!("storm title {n:06}")
}

pub(crate) fn rows(plan: &Plan, noise: &Noise) -> Vec<Row> {
    let screen = Screen::start(Manager::Openbox);
    let rounds = |what: What, kinds: [Option<Kind>; 3]| {
        let mut measured: [Vec<Storm>; 3] = Default::default();
        for round in 1..=plan.counts.rounds {
            eprintln!("storm, {what:?}: round {round} of {}", plan.counts.rounds);
            noise.listen();
            for (kind, into) in kinds.iter().zip(&mut measured) {
                screen.activate(0);
                screen.desktop.sync();
                into.push(storm(&screen, *kind, what, &plan.counts));
                screen.rename(0, &crate::screen::title(0));
            }
        }
        measured
    };
    let kinds = [Some(Kind::Ours), Some(Kind::Floor), None];
    let (mut rows, mut grown) = (Vec::new(), 0.0);
    if plan.wants(&[5, 6, 7]) {
        let [ours, floor, none] = rounds(What::Titles, kinds);
        let secs = plan.counts.storm.as_secs();
        rows.push(Row::new(6, format!("1000 titles/s for {secs} s: CPU, s")).ratio(
            over(&ours, |it| it.cpu),
            over(&floor, |it| it.cpu),
            0.03,
        ));
        let (with, without) = (over(&ours, |it| it.others), over(&none, |it| it.others));
        let spread: Vec<_> = none.iter().map(|it| it.others).collect();
        rows.push(
            Row::new(6, "server and manager meanwhile; floor: nobody watches: CPU, s").words(
                with,
                without,
                "in its spread",
                with <= percentile(&spread, 100.0),
            ),
        );
        // one that was never told is the worst of all
        let worst = ours.iter().map(|it| it.last).max_by(f64::total_cmp).unwrap_or(f64::NAN);
        rows.push(
            Row::new(7, "first / last title told after, ms; lines/s")
                .plain(over(&ours, |it| it.first), Some(over(&floor, |it| it.first)))
                .most(worst, Some(over(&floor, |it| it.last)), 150.0)
                .most(per_second(&ours, plan), Some(per_second(&floor, plan)), 20.0),
        );
        grown += over(&ours, |it| it.grown);
    }
    if plan.wants(&[3, 5, 8]) {
        let [ours, floor, _] = rounds(What::Focus, kinds);
        let secs = plan.counts.storm.as_secs();
        rows.push(
            Row::new(8, format!("200 switches/s for {secs} s: CPU, s; last told after, ms"))
                .ratio(over(&ours, |it| it.cpu), over(&floor, |it| it.cpu), 1.1)
                .ratio(over(&ours, |it| it.last), over(&floor, |it| it.last), 1.5),
        );
        let lines = ours.iter().map(|it| it.lines).fold(0.0, f64::max);
        let changes = ours.iter().map(|it| it.changes as f64).fold(0.0, f64::max);
        rows.push(Row::new(3, format!("lines for the {changes} switches of that storm")).most(
            lines,
            Some(over(&floor, |it| it.lines)),
            changes,
        ));
        grown += over(&ours, |it| it.grown);
    }
    rows.push(Row::new(5, "memory grown by both storms, KiB").most(grown, None, 256.0));
    rows
}

fn per_second(storms: &[Storm], plan: &Plan) -> f64 {
    over(storms, |it| it.lines) / plan.counts.storm.as_secs_f64()
}

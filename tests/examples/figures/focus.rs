//! From a change of focus to the line that tells it (rows 1 and 2), and what was missed (row 3).

use std::{thread, time::Duration};

use antidrift_tests::Manager;

use crate::{
    Plan,
    machine::Noise,
    screen::{Screen, WINDOWS},
    table::{Row, over, percentile},
    watched::{Kind, Watched},
};

/// Between two switches; at random up to twice as long, so that no phase is kept.
const GAP: Duration = Duration::from_millis(20);

/// One round of one program.
struct Singles {
    /// Microseconds.
    took: Vec<f64>,
    missed: usize,
    /// Lines beyond one a switch.
    doubled: usize,
}

/// Switches, each waited for.
fn singles(screen: &Screen, kind: Kind, count: usize) -> Singles {
    let watched = Watched::start(kind, screen);
    watched.warm_up(screen);
    let (mut took, mut missed, mut random) = (Vec::new(), 0, 1_u32);
    for n in 1..=count {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        thread::sleep(GAP + GAP * (random >> 24) / 256);
        let at = n % WINDOWS;
        let start = screen.activate(at);
        match watched.wait(&watched.token(screen, at)) {
            Some(time) => took.push((time - start).as_secs_f64() * 1e6),
            None => missed += 1,
        }
    }
    thread::sleep(2 * GAP);
    let doubled = (watched.drain() + missed).saturating_sub(count);
    Singles { took, missed, doubled }
}

pub(crate) fn rows(plan: &Plan, noise: &Noise) -> Vec<Row> {
    let mut rows = Vec::new();
    let (mut switches, mut missed, mut doubled) = (0, 0, 0);
    let managers = [
        (Manager::Bare, 1, "no window manager"),
        (Manager::Openbox, 2, "openbox"),
        (Manager::I3, 2, "i3"),
    ];
    for (manager, number, name) in managers {
        if !plan.wants(&[number, 3]) {
            continue;
        }
        let bare = manager == Manager::Bare;
        let screen = Screen::start(manager);
        let kinds: &[Kind] = match bare {
            true => &[Kind::Ours, Kind::Floor, Kind::Session, Kind::Xprop],
            false => &[Kind::Ours, Kind::Floor],
        };
        let mut measured: Vec<Vec<Singles>> = kinds.iter().map(|_| Vec::new()).collect();
        for round in 1..=plan.counts.rounds {
            eprintln!("switches, {name}: round {round} of {}", plan.counts.rounds);
            noise.listen();
            for (kind, into) in kinds.iter().zip(&mut measured) {
                into.push(singles(&screen, *kind, plan.counts.singles));
            }
        }
        let figure = |at: usize, percent| over(&measured[at], |it| percentile(&it.took, percent));
        let (goal, worst) = if bare { (1.15, 1.3) } else { (1.1, 1.2) };
        rows.push(
            Row::new(number, format!("focus to line, {name}: p50 / p99, µs"))
                .ratio(figure(0, 50.0), figure(1, 50.0), goal)
                .ratio(figure(0, 99.0), figure(1, 99.0), worst),
        );
        if bare {
            rows.push(
                Row::new(number, "the same in a session: p50 / p99, µs")
                    .plain(figure(2, 50.0), Some(figure(1, 50.0)))
                    .plain(figure(2, 99.0), Some(figure(1, 99.0))),
            );
            rows.push(Row::new(number, "the same, the floor being `xprop -spy`: p50, µs").ratio(
                figure(0, 50.0),
                figure(3, 50.0),
                1.1,
            ));
        }
        for round in &measured[0] {
            switches += plan.counts.singles;
            missed += round.missed;
            doubled += round.doubled;
        }
    }
    if switches > 0 {
        rows.push(
            Row::new(3, format!("of {switches} switches: missed / told twice"))
                .most(missed as f64, None, 0.0)
                .most(doubled as f64, None, 0.0),
        );
    }
    rows
}

//! What antidrift costs, beside the least that a program could cost which does the same: one table,
//! measured in one run. `contrib/bench` builds all that it needs and starts it.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it prints a table, and how far it is"
)]
#![allow(clippy::disallowed_methods, reason = "it measures")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark may fail")]
#![allow(clippy::cast_precision_loss, reason = "figures have three digits")]

mod client;
mod focus;
mod idle;
mod inside;
mod machine;
mod screen;
mod start;
mod storm;
mod table;
mod watched;

use std::{env, path::PathBuf, time::Duration};

const USAGE: &str = "usage: figures [--quick] [--static DIR] [NUMBER...]";

/// How much is measured.
#[derive(Clone, Debug)]
pub(crate) struct Counts {
    /// Everything is measured so often, in turn; shown are medians.
    rounds: usize,
    /// Switches, commands in a round.
    singles: usize,
    storm: Duration,
    /// How long a daemon is left alone before it is watched doing nothing.
    settle: Duration,
    idle: Duration,
    starts: usize,
    /// Windows that are judged before memory is looked at.
    judged: usize,
    /// Calls of what takes microseconds.
    calls: usize,
}

impl Counts {
    fn full() -> Self {
        let secs = Duration::from_secs;
        Self {
            rounds: 5,
            singles: 300,
            storm: secs(10),
            settle: secs(5),
            idle: secs(60),
            starts: 20,
            judged: 40,
            calls: 20_000,
        }
    }

    /// Enough to see that everything works; the figures say nothing.
    fn quick() -> Self {
        let short = Duration::from_millis(300);
        Self {
            rounds: 1,
            singles: 3,
            storm: short,
            settle: short,
            idle: short,
            starts: 1,
            judged: 2,
            calls: 10,
        }
    }
}

/// What is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    counts: Counts,
    numbers: Vec<u32>,
    /// Where statically linked `antidrift` and `floor_ask` are, if they could be built.
    statics: Option<PathBuf>,
}

impl Plan {
    /// Whether any of these rows is asked for.
    fn wants(&self, numbers: &[u32]) -> bool {
        self.numbers.is_empty() || numbers.iter().any(|number| self.numbers.contains(number))
    }

    fn from_args() -> Option<Self> {
        let mut plan = Self { counts: Counts::full(), numbers: Vec::new(), statics: None };
        let mut args = env::args().skip(1);
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--quick" => plan.counts = Counts::quick(),
                "--static" => plan.statics = Some(args.next()?.into()),
                number => {
                    plan.numbers.push(number.parse().ok().filter(|n| (1..=LAST).contains(n))?);
                }
            }
        }
        Some(plan)
    }
}

/// The last number of a row.
const LAST: u32 = 15;

fn main() {
    let Some(plan) = Plan::from_args() else {
        eprintln!("{USAGE}\nNumbers are those of the rows, 1 to {LAST}; without one, all.");
        std::process::exit(2);
    };
    let mut rows = Vec::new();
    let noise = machine::Noise::default();
    if plan.wants(&[1, 2, 3, 8]) {
        rows.extend(focus::rows(&plan, &noise));
    }
    if plan.wants(&[4, 5]) {
        rows.extend(idle::rows(&plan));
    }
    if plan.wants(&[5, 6, 7, 8, 3]) {
        rows.extend(storm::rows(&plan, &noise));
    }
    if plan.wants(&[9, 10]) {
        rows.extend(client::rows(&plan, &noise));
    }
    if plan.wants(&[11]) {
        rows.extend(start::rows(&plan));
    }
    if plan.wants(&[12, 13, 14, 15]) {
        rows.extend(inside::rows(&plan));
    }
    rows.retain(|row| plan.wants(&[row.number]));
    rows.sort_by_key(|row| row.number);
    println!("{}\n", machine::describe(&noise));
    println!("{}", table::render(&rows));
}

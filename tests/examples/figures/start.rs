//! From the start of a process to a socket that takes connections (row 11).

use antidrift_tests::Manager;

use crate::{
    Plan,
    screen::Screen,
    table::{Row, median},
    watched::{Kind, Watched},
};

pub(crate) fn rows(plan: &Plan) -> Vec<Row> {
    let screen = Screen::start(Manager::Bare);
    eprintln!("{} starts", plan.counts.starts);
    let [mut ours, mut floor] = [Vec::new(), Vec::new()];
    for _ in 0..plan.counts.starts {
        for (kind, into) in [(Kind::Ours, &mut ours), (Kind::Floor, &mut floor)] {
            into.push(Watched::start(kind, &screen).ready.as_secs_f64() * 1e3);
        }
    }
    let row = Row::new(11, "start to a socket that takes connections: p50, ms");
    vec![row.ratio(median(&ours), median(&floor), 3.0)]
}

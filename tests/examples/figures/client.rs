//! A command from its start to its end: `antidrift status` beside the least that a client can be
//! (rows 9 and 10).

use std::{fs, path::Path, process::Command, time::Instant};

use antidrift_tests::{Home, Manager, Process, antidrift};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::{
    Plan,
    machine::Noise,
    screen::Screen,
    table::{Row, over, percentile},
    watched::{Kind, Watched, connect, floor, quiet},
};

/// One round of one command; milliseconds.
#[derive(Default)]
struct Round {
    wall: Vec<f64>,
    cpu: Vec<f64>,
}

/// Runs a command: how long until its end, and its CPU time.
fn run(command: &mut Command) -> (f64, f64) {
    let start = Instant::now();
    let mut child = quiet(command).spawn().unwrap();
    let id = Pid::from_child(&child);
    waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
    let wall = start.elapsed().as_secs_f64() * 1e3;
    // it has ended, and its clock can still be read
    let stat = fs::read_to_string(format!("/proc/{}/schedstat", child.id())).unwrap_or_default();
    let nanos = stat.split_whitespace().next().and_then(|it| it.parse::<f64>().ok());
    assert!(child.wait().unwrap().success(), "{command:?}");
    (wall, nanos.map_or(f64::NAN, |nanos| nanos / 1e6))
}

pub(crate) fn rows(plan: &Plan, noise: &Noise) -> Vec<Row> {
    let screen = Screen::start(Manager::Bare);
    let watched = Watched::start(Kind::Ours, &screen);
    watched.warm_up(&screen);
    let echo = Home::new();
    let socket = echo.path().join("echo.sock");
    let mut serve = echo.command(floor("floor_ask"));
    let _server = Process::spawn(serve.arg("serve").arg(&socket), "the floor");
    drop(connect(&socket, Instant::now()));

    let ask = |program: &Path| {
        let mut command = echo.command(program);
        command.arg("ask").arg(&socket).arg("hello");
        command
    };
    let status = |program: &Path| {
        let mut command = watched.home.command(program);
        command.arg("status");
        command
    };
    let mut commands = vec![ask(&floor("floor_ask")), status(&antidrift())];
    if let Some(dir) = &plan.statics {
        commands.extend([ask(&dir.join("floor_ask")), status(&dir.join("antidrift"))]);
    }
    let mut measured: Vec<Vec<Round>> = commands.iter().map(|_| Vec::new()).collect();
    for round in 1..=plan.counts.rounds {
        eprintln!("antidrift status: round {round} of {}", plan.counts.rounds);
        noise.listen();
        measured.iter_mut().for_each(|rounds| rounds.push(Round::default()));
        for command in &mut commands {
            run(command);
        }
        for _ in 0..plan.counts.singles {
            for (command, rounds) in commands.iter_mut().zip(&mut measured) {
                let (wall, cpu) = run(command);
                let round = rounds.last_mut().unwrap();
                round.wall.push(wall);
                round.cpu.push(cpu);
            }
        }
    }
    let wall = |at: usize, percent| over(&measured[at], |it| percentile(&it.wall, percent));
    let cpu = |at: usize| over(&measured[at], |it| percentile(&it.cpu, 50.0));
    let row = |at: usize, floor: usize, name: &str, most: f64| {
        Row::new(9, format!("`antidrift status`, {name}: p50 / least / CPU, ms"))
            .ratio(wall(at, 50.0), wall(floor, 50.0), most)
            .ratio(wall(at, 0.0), wall(floor, 0.0), most)
            .ratio(cpu(at), cpu(floor), most)
    };
    let mut rows = Vec::new();
    let mut best = 1;
    if plan.statics.is_some() {
        rows.push(row(3, 0, "linked statically", 0.85));
        rows.push(row(3, 2, "and so the floor", 1.2));
        best = 3;
    }
    rows.push(
        Row::new(9, "`antidrift status`, linked dynamically: p50 / least / CPU, ms")
            .plain(wall(1, 50.0), Some(wall(0, 50.0)))
            .plain(wall(1, 0.0), Some(wall(0, 0.0)))
            .plain(cpu(1), Some(cpu(0))),
    );
    let slowest = |at: usize| over(&measured[at], |it| percentile(&it.wall, 99.0));
    let spread = |at| slowest(at) / wall(at, 50.0);
    rows.push(
        Row::new(10, "`antidrift status`: p99, ms / in p50 of its own")
            .plain(slowest(best), Some(slowest(0)))
            .most(spread(best), Some(spread(0)), 1.7),
    );
    rows
}

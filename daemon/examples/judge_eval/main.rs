//! Scores a judge on files of labelled windows.
//!
//! ```text
//! cargo run --release -p antidrift-daemon --example judge_eval -- tests/fixtures/judge-corpus/dev.jsonl
//! cargo run … -- dev.jsonl --by kind --list false-alarms
//! cargo run … -- dev.jsonl --judge /path/to/judge --limit 20
//! cargo run … -- dev.jsonl --cross-validate 5
//! ```

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool of the command line")]
#![allow(clippy::disallowed_methods, reason = "it measures")]
#![allow(unreachable_pub, reason = "the corpus module is shared with a test")]

mod corpus;

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
    time::{Duration, Instant},
};

use antidrift_daemon::ai::{
    Judge, Question,
    backend::Model,
    command::ProgramBackend,
    embedded::{Catalogue, Thresholds},
    guard,
};
use clap::{Parser, ValueEnum};
use corpus::{Label, Row, Said, Score, percent, share};

#[derive(Parser)]
#[command(about = "Scores a judge on files of labelled windows")]
struct Args {
    /// Files of one JSON object a line; tests/fixtures/judge-corpus/README.md has the fields
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// A program to be asked instead of the embedded judge; repeat for its arguments
    #[arg(long, value_name = "ARG", allow_hyphen_values = true)]
    judge: Vec<String>,
    /// Break the figures down
    #[arg(long)]
    by: Option<By>,
    /// List the rows of one fault
    #[arg(long)]
    list: Option<Fault>,
    /// Only the first rows of each file
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Choose the thresholds on all folds but one and score on that one; folds by commitment
    #[arg(long, value_name = "FOLDS")]
    cross_validate: Option<usize>,
    /// Exit with 1 if more on-task windows than this share, in per cent, raise an alarm
    #[arg(long, value_name = "PERCENT")]
    max_false_alarm: Option<f64>,
    /// Exit with 1 if less of the drift than this share, in per cent, is caught
    #[arg(long, value_name = "PERCENT")]
    min_caught: Option<f64>,
}

#[derive(Clone, Copy, ValueEnum)]
enum By {
    Kind,
    Lang,
    File,
}

#[derive(Clone, Copy, ValueEnum)]
enum Fault {
    FalseAlarms,
    SoftAlarms,
    Missed,
    MissedAsOnTask,
}

impl Fault {
    fn is(self, row: &Row, said: Said) -> bool {
        match self {
            Self::FalseAlarms => row.label == Label::OnTask && said == Said::Drifting,
            Self::SoftAlarms => row.label == Label::Ambiguous && said == Said::Drifting,
            Self::Missed => row.label == Label::Drifting && said == Said::Unsure,
            Self::MissedAsOnTask => row.label == Label::Drifting && said == Said::OnTask,
        }
    }
}

/// A row with what was said about it, why, and how long that took.
struct Judged {
    file: String,
    row: Row,
    said: Said,
    why: String,
    time: Duration,
}

fn main() -> ExitCode {
    // A program that judges is started by way of a guard, which is this program again.
    if std::env::args_os().nth(1).is_some_and(|arg| arg == guard::GUARD_ARG) {
        return guard::guard_main();
    }
    let args = Args::parse();
    match run(&args) {
        Ok(code) => code,
        // Whoever read the report has enough.
        Err(error) if is_broken_pipe(error.as_ref()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("judge_eval: {error}");
            ExitCode::from(2)
        }
    }
}

fn is_broken_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    let io = error.downcast_ref::<io::Error>();
    io.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn run(args: &Args) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let mut out = io::stdout().lock();
    let mut rows = Vec::new();
    for file in &args.files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let read = corpus::read(file)?.into_iter().take(args.limit.unwrap_or(usize::MAX));
        rows.extend(read.map(|row| (name.clone(), row)));
    }
    if let Some(folds) = args.cross_validate {
        let rows: Vec<Row> = rows.into_iter().map(|(_, row)| row).collect();
        cross_validate(&mut out, &rows, folds)?;
        return Ok(ExitCode::SUCCESS);
    }
    let judged = if args.judge.is_empty() { embedded(rows) } else { program(&args.judge, rows)? };
    let score = Score::of(judged.iter().map(|it| (&it.row, it.said)));
    writeln!(out, "{} rows\n{}", judged.len(), score.report())?;
    print_times(&mut out, &judged)?;
    if let Some(by) = args.by {
        print_groups(&mut out, &judged, by)?;
    }
    if let Some(fault) = args.list {
        for it in judged.iter().filter(|it| fault.is(&it.row, it.said)) {
            let Row { id, commitment, window_class, window_title, kind, .. } = &it.row;
            writeln!(
                out,
                "{id} ({kind}) {}\n   {commitment}\n   [{window_class}] {window_title}",
                it.why
            )?;
        }
    }
    let too_loud = args
        .max_false_alarm
        .is_some_and(|limit| share(score.false_alarms, score.on_task) * 100.0 > limit);
    let too_deaf =
        args.min_caught.is_some_and(|limit| share(score.caught, score.drifting) * 100.0 < limit);
    Ok(ExitCode::from(u8::from(too_loud || too_deaf)))
}

fn embedded(rows: Vec<(String, Row)>) -> Vec<Judged> {
    let catalogue = Catalogue::default();
    let judge = |(file, row): (String, Row)| {
        let aim = row.aim(&catalogue);
        let start = Instant::now();
        let opinion = row.opinion(&catalogue, &Thresholds::default(), &aim);
        let time = start.elapsed();
        let why = format!("{}: {}", opinion.rule.name(), opinion.reason);
        Judged { file, row, said: opinion.answer.into(), why, time }
    };
    rows.into_iter().map(judge).collect()
}

fn program(
    argv: &[String],
    rows: Vec<(String, Row)>,
) -> Result<Vec<Judged>, Box<dyn std::error::Error>> {
    let scratch = tempfile::tempdir()?;
    let program = ProgramBackend::command(argv, scratch.path());
    let judge = Model::new(program.map_err(|failure| failure.message)?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut judged = Vec::new();
    let count = rows.len();
    for (at, (file, row)) in rows.into_iter().enumerate() {
        eprint!("\r{}/{count}", at + 1);
        let question = Question {
            commitment: row.commitment.clone(),
            next_action: None,
            success_condition: None,
            allowed_classes: row.allowed_classes.clone(),
            class: row.window_class.clone(),
            title: row.window_title.clone(),
        };
        let start = Instant::now();
        let (said, why) = match runtime.block_on(judge.judge(question)) {
            Ok(verdict) if verdict.on_task => (Said::OnTask, verdict.reason),
            Ok(verdict) => (Said::Drifting, verdict.reason),
            Err(failure) => (Said::Unsure, failure.message),
        };
        judged.push(Judged { file, row, said, why, time: start.elapsed() });
    }
    eprintln!();
    Ok(judged)
}

fn print_times(out: &mut impl Write, judged: &[Judged]) -> io::Result<()> {
    let mut times: Vec<Duration> = judged.iter().map(|it| it.time).collect();
    times.sort_unstable();
    if let Some(worst) = times.last() {
        let (middle, late) = (times[times.len() / 2], times[times.len() * 99 / 100]);
        writeln!(
            out,
            "time per verdict: median {middle:.1?}, p99 {late:.1?}, longest {worst:.1?}\n"
        )?;
    }
    Ok(())
}

fn print_groups(out: &mut impl Write, judged: &[Judged], by: By) -> io::Result<()> {
    let mut groups: BTreeMap<&str, Vec<&Judged>> = BTreeMap::new();
    for it in judged {
        let group = match by {
            By::Kind => &it.row.kind,
            By::Lang => &it.row.lang,
            By::File => &it.file,
        };
        groups.entry(group).or_default().push(it);
    }
    writeln!(out, "{:22} rows  false alarm  caught   drift on task", "")?;
    for (name, rows) in groups {
        let score = Score::of(rows.iter().map(|it| (&it.row, it.said)));
        writeln!(
            out,
            "{name:22} {:>4}  {:>11}  {:>7}  {:>7}",
            rows.len(),
            percent(score.false_alarms, score.on_task),
            percent(score.caught, score.drifting),
            percent(score.missed_as_on_task, score.drifting)
        )?;
    }
    writeln!(out,)?;
    Ok(())
}

/// Thresholds that catch the most drift at no more than one false alarm in a hundred, chosen on
/// all commitments but those of one fold, then scored on that fold. What the figures lose against
/// those of all rows is what the thresholds owe to the very rows.
fn cross_validate(out: &mut impl Write, rows: &[Row], folds: usize) -> io::Result<()> {
    let catalogue = Catalogue::default();
    let grid: Vec<Thresholds> = [0.4, 0.55, 0.7, 0.85, 1.0]
        .into_iter()
        .flat_map(|some| [1.0, 1.2, 1.4, 1.7, 2.0].map(|firm| Thresholds { some, firm }))
        .collect();
    let said_by = |thresholds: &Thresholds| -> Vec<Said> {
        let said =
            |row: &Row| row.opinion(&catalogue, thresholds, &row.aim(&catalogue)).answer.into();
        rows.iter().map(said).collect()
    };
    let all: Vec<Vec<Said>> = grid.iter().map(said_by).collect();
    let score = |said: &[Said], keep: &dyn Fn(&Row) -> bool| {
        let kept = rows.iter().zip(said).filter(|(row, _)| keep(row));
        Score::of(kept.map(|(row, said)| (row, *said)))
    };
    let mut held_out = Vec::new();
    for fold in 0..folds {
        let best = (0..grid.len()).max_by_key(|&at| {
            let score = score(&all[at], &|row| corpus::fold_of(row, folds) != fold);
            let quiet = score.false_alarms * 100 <= score.on_task;
            (quiet, score.caught, usize::MAX - score.missed_as_on_task)
        });
        let Some(best) = best else { return Ok(()) };
        let found = score(&all[best], &|row| corpus::fold_of(row, folds) == fold);
        writeln!(
            out,
            "fold {}: chosen some {}, firm {}: false alarm {}/{}, caught {}/{}, drift on task {}",
            fold + 1,
            grid[best].some,
            grid[best].firm,
            found.false_alarms,
            found.on_task,
            found.caught,
            found.drifting,
            found.missed_as_on_task
        )?;
        held_out.extend(
            rows.iter()
                .zip(&all[best])
                .filter(|(row, _)| corpus::fold_of(row, folds) == fold)
                .map(|(row, said)| (row, *said)),
        );
    }
    writeln!(out, "\nall rows, each scored with thresholds chosen without its commitment:")?;
    writeln!(out, "{}", Score::of(held_out).report())?;
    let default = Thresholds::default();
    writeln!(out, "with the built-in thresholds (some {}, firm {}):", default.some, default.firm)?;
    writeln!(out, "{}", Score::of(rows.iter().zip(said_by(&default))).report())?;
    Ok(())
}

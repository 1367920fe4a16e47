//! Labelled windows and the score of a judge over them. The figures are those of the corpus's own
//! README: what a false alarm is, what a missed drift.

use std::{fmt::Write as _, fs, io, path::Path};

use antidrift_daemon::{
    ai::embedded::{Aim, Answer, Catalogue, Opinion, Thresholds, judge_with},
    evidence::context_title,
};
use serde::Deserialize;

/// A labelled window, one line of a corpus file.
#[derive(Clone, Debug, Deserialize)]
pub struct Row {
    pub id: String,
    pub commitment: String,
    pub allowed_classes: Vec<String>,
    pub window_class: String,
    pub window_title: String,
    pub label: Label,
    pub kind: String,
    pub lang: String,
}

impl Row {
    /// Its commitment, as the embedded judge reads it.
    pub fn aim(&self, catalogue: &Catalogue) -> Aim {
        Aim::new(catalogue, &[&self.commitment], &self.allowed_classes)
    }

    /// What the embedded judge says about its window.
    pub fn opinion(&self, catalogue: &Catalogue, thresholds: &Thresholds, aim: &Aim) -> Opinion {
        let title = context_title(&self.window_title);
        judge_with(catalogue, thresholds, aim, &self.window_class, &title)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    OnTask,
    Drifting,
    Ambiguous,
}

/// What a judge said about a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    OnTask,
    Drifting,
    Unsure,
}

impl From<Answer> for Said {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::OnTask { .. } => Self::OnTask,
            Answer::Drifting => Self::Drifting,
            Answer::Unsure => Self::Unsure,
        }
    }
}

/// Reads a corpus; a faulty line is named.
pub fn read(path: &Path) -> io::Result<Vec<Row>> {
    let text = fs::read_to_string(path)?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            serde_json::from_str(line).map_err(|error| {
                let place = format!("{}:{}: {error}", path.display(), at + 1);
                io::Error::new(io::ErrorKind::InvalidData, place)
            })
        })
        .collect()
}

/// Counts over some rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    pub on_task: usize,
    pub drifting: usize,
    pub ambiguous: usize,
    pub false_alarms: usize,
    pub soft_alarms: usize,
    pub caught: usize,
    pub missed_as_on_task: usize,
    pub known_on_task: usize,
    pub unsure: usize,
}

impl Score {
    pub fn of<'a>(rows: impl IntoIterator<Item = (&'a Row, Said)>) -> Self {
        let mut score = Self::default();
        for (row, said) in rows {
            score.unsure += usize::from(said == Said::Unsure);
            match row.label {
                Label::OnTask => {
                    score.on_task += 1;
                    score.false_alarms += usize::from(said == Said::Drifting);
                    score.known_on_task += usize::from(said == Said::OnTask);
                }
                Label::Drifting => {
                    score.drifting += 1;
                    score.caught += usize::from(said == Said::Drifting);
                    score.missed_as_on_task += usize::from(said == Said::OnTask);
                }
                Label::Ambiguous => {
                    score.ambiguous += 1;
                    score.soft_alarms += usize::from(said == Said::Drifting);
                }
            }
        }
        score
    }

    /// Everything, for people.
    pub fn report(&self) -> String {
        let mut text = String::new();
        let alarms = self.false_alarms + self.soft_alarms + self.caught;
        for (name, k, n) in [
            ("false alarm", self.false_alarms, self.on_task),
            ("soft alarm", self.soft_alarms, self.ambiguous),
            ("drift caught", self.caught, self.drifting),
            ("drift on task", self.missed_as_on_task, self.drifting),
            ("on task known", self.known_on_task, self.on_task),
            ("precision", self.caught, alarms),
            ("unsure", self.unsure, self.on_task + self.drifting + self.ambiguous),
        ] {
            let (low, high) = interval(k, n);
            let _ = writeln!(
                text,
                "{name:14} {:>6}  {:>9}  (95 %: {:.1} to {:.1} %)",
                percent(k, n),
                format!("{k}/{n}"),
                low * 100.0,
                high * 100.0
            );
        }
        text
    }
}

/// A share in per cent, or a dash where there is nothing to share.
pub fn percent(k: usize, n: usize) -> String {
    if n == 0 { "-".into() } else { format!("{:.1} %", share(k, n) * 100.0) }
}

#[expect(clippy::cast_precision_loss, reason = "counts of rows")]
pub fn share(k: usize, n: usize) -> f64 {
    if n == 0 { 0.0 } else { k as f64 / n as f64 }
}

/// Wilson's interval of a share: with few rows a bare percentage misleads.
#[expect(clippy::cast_precision_loss, reason = "counts of rows")]
fn interval(k: usize, n: usize) -> (f64, f64) {
    if n == 0 {
        return (0.0, 1.0);
    }
    let (p, n, z) = (share(k, n), n as f64, 1.96_f64);
    let d = 1.0 + z * z / n;
    let centre = p + z * z / (2.0 * n);
    let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    (((centre - half) / d).max(0.0), ((centre + half) / d).min(1.0))
}

/// The fold of a row: rows of one commitment stay together, since they are alike.
pub fn fold_of(row: &Row, folds: usize) -> usize {
    let hash = row
        .commitment
        .bytes()
        .fold(5381_usize, |hash, byte| hash.wrapping_mul(33) ^ usize::from(byte));
    hash % folds.max(1)
}

//! The table, and the arithmetic of its figures.

/// One line: what was measured, in one or more figures.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) number: u32,
    what: String,
    figures: Vec<Figure>,
}

#[derive(Debug)]
struct Figure {
    ours: f64,
    floor: Option<f64>,
    goal: Goal,
    met: Option<bool>,
}

#[derive(Clone, Copy, Debug)]
enum Goal {
    None,
    /// Ours is at most so many times the floor.
    Ratio(f64),
    /// Ours is at most this.
    Most(f64),
    /// Said in words.
    Words(&'static str),
}

impl Row {
    pub(crate) fn new(number: u32, what: impl Into<String>) -> Self {
        Self { number, what: what.into(), figures: Vec::new() }
    }

    fn with(mut self, ours: f64, floor: Option<f64>, goal: Goal, met: Option<bool>) -> Self {
        self.figures.push(Figure { ours, floor, goal, met });
        self
    }

    /// A figure that may be so many times the floor's.
    pub(crate) fn ratio(self, ours: f64, floor: f64, most: f64) -> Self {
        self.with(ours, Some(floor), Goal::Ratio(most), Some(ours <= most * floor))
    }

    /// A figure that may be so large.
    pub(crate) fn most(self, ours: f64, floor: Option<f64>, most: f64) -> Self {
        self.with(ours, floor, Goal::Most(most), Some(ours <= most))
    }

    /// A figure whose goal takes more than a number.
    pub(crate) fn words(self, ours: f64, floor: f64, goal: &'static str, met: bool) -> Self {
        self.with(ours, Some(floor), Goal::Words(goal), Some(met))
    }

    /// A figure without a goal.
    pub(crate) fn plain(self, ours: f64, floor: Option<f64>) -> Self {
        self.with(ours, floor, Goal::None, None)
    }

    fn cells(&self) -> [String; 7] {
        let joined = |cell: &dyn Fn(&Figure) -> String| {
            let all: Vec<_> = self.figures.iter().map(cell).collect();
            match all.first() {
                // «yes / yes» says no more than «yes»
                Some(first) if all.iter().all(|it| it == first && !has_digit(it)) => first.clone(),
                _ => all.join(" / "),
            }
        };
        [
            self.number.to_string(),
            self.what.clone(),
            joined(&|it| number(it.ours)),
            joined(&|it| it.floor.map_or_else(dash, number)),
            joined(&|it| match it.floor {
                Some(floor) if floor > 0.0 => format!("{}×", number(it.ours / floor)),
                _ => dash(),
            }),
            joined(&|it| match it.goal {
                Goal::None => dash(),
                Goal::Ratio(most) => format!("≤ {most}×"),
                Goal::Most(most) => format!("≤ {most}"),
                Goal::Words(words) => words.into(),
            }),
            joined(&|it| match it.met {
                None => dash(),
                Some(true) => "yes".into(),
                Some(false) => "**no**".into(),
            }),
        ]
    }
}

fn has_digit(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit())
}

fn dash() -> String {
    "–".into()
}

/// Three digits.
fn number(value: f64) -> String {
    match value.abs() {
        size if size.is_nan() => dash(),
        0.0 => "0".into(),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// As Markdown.
pub(crate) fn render(rows: &[Row]) -> String {
    let head = ["#", "what", "antidrift", "floor", "ratio", "goal", "met"].map(String::from);
    let rule = ["---:", "---", "---:", "---:", "---:", "---", "---"].map(String::from);
    let lines = [head, rule].into_iter().chain(rows.iter().map(Row::cells));
    let lines: Vec<_> = lines.map(|cells| format!("| {} |", cells.join(" | "))).collect();
    lines.join("\n")
}

/// The value below which so many hundredths are (nearest rank).
pub(crate) fn percentile(values: &[f64], percent: f64) -> f64 {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a place in a list"
    )]
    let rank = (percent / 100.0 * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).copied().unwrap_or(f64::NAN)
}

pub(crate) fn median(values: &[f64]) -> f64 {
    percentile(values, 50.0)
}

/// The median over rounds of what `figure` makes of each.
pub(crate) fn over<T>(rounds: &[T], figure: impl Fn(&T) -> f64) -> f64 {
    median(&rounds.iter().map(figure).collect::<Vec<_>>())
}

//! The days as a picture. It names no file and no server: a browser shows it as it is.

use antidrift_protocol::{Record, Spent, text};

use super::{
    Report, Row, actual_secs, review,
    spent::{self, Sums},
    text::{headline, outcomes},
};
use crate::{clock, duration, width};

const WIDTH: u32 = 920;
const MARGIN: u32 = 28;
/// Where bars begin and how long they may be.
const BAR_X: u32 = 250;
const BAR_WIDTH: u32 = 380;
const ROW: u32 = 24;
const BAR: u32 = 14;
/// Most columns of a name beside a bar.
const MAX_NAME: usize = 28;
const MAX_CLASSES: usize = 8;
const MAX_SESSIONS: usize = 16;

const STYLE: &str = "\
text{font:13px system-ui,'DejaVu Sans',Verdana,sans-serif;fill:#24292f}\
.h{font-size:19px;font-weight:600}.s{font-size:14px;font-weight:600}\
.m{fill:#59636e}.e{text-anchor:end}.c{text-anchor:middle;font-size:11px;fill:#59636e}";

/// Fill by kind: told apart by lightness and hatching, too.
fn fill(spent: Spent) -> &'static str {
    match spent {
        Spent::Ontask => "#2da160",
        Spent::Drifting => "url(#d)",
        Spent::Other | Spent::Unknown => "#a9b3bd",
        Spent::Detour => "#5b8def",
        Spent::Paused => "url(#p)",
        Spent::Away => "#e3e8ec",
        Spent::Down => "url(#n)",
    }
}

const PATTERNS: &str = "<defs>\
<pattern id=\"d\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">\
<rect width=\"6\" height=\"6\" fill=\"#f08c2e\"/>\
<path d=\"M-1 1l2-2M0 6l6-6M5 7l2-2\" stroke=\"#b35309\" stroke-width=\"1.4\"/></pattern>\
<pattern id=\"p\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\">\
<rect width=\"4\" height=\"4\" fill=\"#d8ccf5\"/>\
<path d=\"M1 0v4\" stroke=\"#9c84d8\" stroke-width=\"1\"/></pattern>\
<pattern id=\"n\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">\
<rect width=\"5\" height=\"5\" fill=\"#fff\"/>\
<path d=\"M0 0l5 5M5 0l-5 5\" stroke=\"#c4ccd3\" stroke-width=\".8\"/></pattern></defs>";

pub(crate) fn text(report: &Report) -> String {
    let mut picture = Picture { out: String::new(), y: 44 };
    picture.text(MARGIN, "h", &headline(report));
    picture.y += 10;
    if !report.sessions.is_empty() {
        picture.legend(&report.totals.sums);
        let (each, rows) = report.shown_rows();
        picture.days(each, &rows);
        picture.drift(&report.drift);
        picture.sessions(report);
        picture.y += 34;
        picture.text(MARGIN, "m", &outcomes(report));
    }
    let height = picture.y + 24;
    let label = escaped(&headline(report));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{label}\">\n\
         <title>{label}</title>\n<style>{STYLE}</style>\n{PATTERNS}\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>\n{}</svg>\n",
        picture.out
    )
}

struct Picture {
    out: String,
    /// The base line of what is drawn next.
    y: u32,
}

impl Picture {
    /// What is shown is cleaned and escaped here, and nowhere else.
    fn text(&mut self, x: u32, class: &str, shown: &str) {
        let (y, shown) = (self.y, escaped(shown));
        self.out.push_str(&format!("<text x=\"{x}\" y=\"{y}\" class=\"{class}\">{shown}</text>\n"));
    }

    fn rect(&mut self, x: f64, length: f64, fill: &str, tip: &str) {
        let (y, tip) = (self.y - BAR + 3, escaped(tip));
        self.out.push_str(&format!(
            "<rect x=\"{x:.1}\" y=\"{y}\" width=\"{length:.1}\" height=\"{BAR}\" \
             fill=\"{fill}\"><title>{tip}</title></rect>\n"
        ));
    }

    fn section(&mut self, name: &str) {
        self.y += 40;
        self.text(MARGIN, "s", name);
        self.y += 8;
    }

    fn legend(&mut self, sums: &Sums) {
        self.y += 22;
        let columns = 4;
        for (n, (kind, secs)) in sums.some().enumerate() {
            if n > 0 && n % columns == 0 {
                self.y += ROW;
            }
            let x = MARGIN + u32::try_from(n % columns).unwrap_or(0) * 220;
            let told = format!("{} {}", spent::word(kind), duration::words(secs));
            self.rect(f64::from(x), f64::from(BAR), fill(kind), &told);
            self.text(x + BAR + 8, "", &told);
        }
    }

    fn days(&mut self, each: &str, rows: &[Row]) {
        self.section(&format!("Focus per {each}"));
        let most = rows.iter().map(|row| row.totals.sums.all()).max().unwrap_or(0).max(1);
        let top = self.y + 8;
        let grid = self.out.len();
        for row in rows {
            self.y += ROW;
            self.text(MARGIN, "", &row.name());
            let sums = &row.totals.sums;
            let mut x = f64::from(BAR_X);
            for (kind, secs) in sums.some() {
                let length = scaled(secs, most);
                let tip = format!("{} {}", spent::word(kind), duration::words(secs));
                self.rect(x, length, fill(kind), &tip);
                x += length;
            }
            let told = match sums.focus() {
                Some(focus) => {
                    let ontask = duration::words(sums.get(Spent::Ontask));
                    format!("{ontask} on task, {focus} %")
                }
                None if row.totals.sessions > 0 => "no time at the desk".to_owned(),
                None => "–".to_owned(),
            };
            self.text(BAR_X + BAR_WIDTH + 14, "m", &told);
        }
        let lines = grid_lines(most, top, self.y + 8);
        self.out.insert_str(grid, &lines);
        self.y += 20;
    }

    fn drift(&mut self, drift: &[(String, u64)]) {
        let Some(&(_, most)) = drift.first() else { return };
        self.section("Drift by class");
        for (name, secs) in drift.iter().take(MAX_CLASSES) {
            self.y += ROW;
            self.text(MARGIN, "", &review::named(name));
            let told = duration::words(*secs);
            self.rect(f64::from(BAR_X), scaled(*secs, most), fill(Spent::Drifting), &told);
            self.text(BAR_X + BAR_WIDTH + 14, "m", &told);
        }
        if drift.len() > MAX_CLASSES {
            self.y += ROW;
            self.text(MARGIN, "m", &format!("and {} more", drift.len() - MAX_CLASSES));
        }
    }

    fn sessions(&mut self, report: &Report) {
        self.section("Planned against actual");
        let shown = &report.sessions[report.sessions.len().saturating_sub(MAX_SESSIONS)..];
        let longest = |it: &Record| actual_secs(it).max(it.planned_secs.unwrap_or(0));
        let most = shown.iter().map(longest).max().unwrap_or(0).max(1);
        for record in shown {
            self.y += ROW;
            let text = text::clean(&record.text, MAX_NAME * 4);
            self.text(MARGIN, "", &width::cut(&text, MAX_NAME));
            let actual = actual_secs(record);
            let planned = record.planned_secs.unwrap_or(actual);
            let begin = clock::within(&report.days.zone, record.started_at);
            let tip = format!("{}: {text}", begin.strftime("%a %-d %b %H:%M"));
            let within = scaled(actual.min(planned), most);
            self.rect(f64::from(BAR_X), within, "#5b7a99", &tip);
            if actual > planned {
                let over = scaled(actual - planned, most);
                self.rect(f64::from(BAR_X) + within, over, "#c9473d", "over the plan");
            }
            if record.planned_secs.is_some() {
                // The plan is a frame around it.
                let (y, length) = (self.y - BAR + 1, scaled(planned, most).max(2.0));
                self.out.push_str(&format!(
                    "<rect x=\"{BAR_X}\" y=\"{y}\" width=\"{length:.1}\" height=\"{}\" \
                     fill=\"none\" stroke=\"#24292f\" stroke-width=\"1.2\" rx=\"2\"/>\n",
                    BAR + 4
                ));
            }
            let of = record
                .planned_secs
                .map_or_else(String::new, |secs| format!(" of {}", duration::words(secs)));
            let word = record.outcome.map_or_else(String::new, |it| format!(", {}", it.as_str()));
            let told = format!("{}{of}{word}", duration::words(actual));
            self.text(BAR_X + BAR_WIDTH + 14, "m", &told);
        }
    }
}

fn scaled(secs: u64, most: u64) -> f64 {
    secs as f64 / most as f64 * f64::from(BAR_WIDTH)
}

/// Lines at whole hours or parts of one, four or so of them, with what they stand for.
fn grid_lines(most: u64, top: u32, bottom: u32) -> String {
    let steps = [60, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400];
    // Beyond all steps one line at the end has to do.
    let step = steps.into_iter().find(|step| most / step <= 5).unwrap_or(most);
    let mut lines = String::new();
    for n in 1..=most / step {
        let secs = n * step;
        let x = f64::from(BAR_X) + scaled(secs, most);
        lines.push_str(&format!(
            "<path d=\"M{x:.1} {top}V{bottom}\" stroke=\"#d8dee4\"/>\
             <text x=\"{x:.1}\" y=\"{}\" class=\"c\">{}</text>\n",
            bottom + 13,
            tick(secs)
        ));
    }
    lines
}

fn tick(secs: u64) -> String {
    match (secs / 3600, secs / 60 % 60) {
        (0, minutes) => format!("{minutes} min"),
        (hours, 0) => format!("{hours} h"),
        _ => duration::words(secs),
    }
}

/// One line, as text or in an attribute, of characters that XML allows.
fn escaped(shown: &str) -> String {
    let shown = text::clean(shown, 200);
    let allowed = shown.chars().filter(|&c| !matches!(c, '\u{fffe}' | '\u{ffff}'));
    let mut out = String::new();
    for c in allowed {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Period, sample, spent::KINDS};

    /// As far as a picture of ours goes: every element is closed, and no sign stands where it opens
    /// something.
    fn check(xml: &str) {
        let mut open = Vec::new();
        for part in xml.split('<').skip(1) {
            let (tag, rest) = part.split_once('>').expect(part);
            assert!(!rest.contains('>'), "{part}");
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            let name = tag.split([' ', '/']).next().unwrap();
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(name), "{part}");
            } else if !tag.ends_with('/') {
                open.push(name);
            }
            for entity in part.split('&').skip(1) {
                let known = ["amp;", "lt;", "gt;", "quot;", "#39;"];
                assert!(known.iter().any(|it| entity.starts_with(it)), "{part}");
            }
        }
        assert!(open.is_empty(), "{open:?}");
        assert!(!xml.contains(|c: char| c.is_control() && c != '\n'), "{xml:?}");
    }

    #[test]
    fn a_picture_of_the_days() {
        let xml = text(&sample::report());
        check(&xml);
        assert_eq!(xml, include_str!("golden/report.svg"), "{xml}");
    }

    #[test]
    fn hostile_text_opens_nothing() {
        let xml = text(&sample::hostile_report());
        check(&xml);
        assert!(!xml.contains("<script") && xml.contains("&lt;script"), "{xml}");
        assert!(!xml.contains(['\u{fffe}', '\u{202e}']), "{xml:?}");
    }

    #[test]
    fn whatever_the_sums_are_there_is_a_picture() {
        check(&text(&Report::new(sample::days(Period::Days(1)), Vec::new())));
        let record = Record { planned_secs: Some(u64::MAX), ..sample::record() };
        let mut endless = record.clone();
        endless.timeline.iter_mut().for_each(|it| it.secs = u64::MAX);
        let year = Report::new(sample::days(Period::Days(366)), vec![record, endless]);
        let xml = text(&year);
        check(&xml);
        assert!(xml.len() < 100_000, "{}", xml.len());
        assert!(!xml.contains("inf") && !xml.contains("NaN"), "{xml}");
    }

    #[test]
    fn every_kind_has_a_fill_of_its_own() {
        let mut fills = KINDS.map(fill).to_vec();
        fills.sort_unstable();
        fills.dedup();
        assert_eq!(fills.len(), KINDS.len());
    }
}

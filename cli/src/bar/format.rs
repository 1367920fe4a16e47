//! The face of the state as each bar reads it: cut first, escaped after.

use antidrift_protocol::{
    json_safe,
    text::{TITLE_CAP, pango, polybar},
};
use serde_json::json;

use super::{
    face::{Face, Stand},
    template::Template,
};
use crate::width;

/// A bar, or a form that other programs read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// The text alone
    Plain,
    /// One object: state, text, tooltip, color, percentage
    Json,
    /// The text in its colour, as polybar's formatting tags
    Polybar,
    /// The text in its colour, for i3blocks with markup=pango
    I3blocks,
    /// One object for a custom module with return-type json
    Waybar,
    /// One object for a custom block with json = true
    I3statusRust,
}

/// How a line is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) format: Format,
    pub(crate) template: Option<Template>,
    /// Nothing is shown without a session.
    pub(crate) hide_when_idle: bool,
    /// Most columns of the text, or of each field of a template.
    pub(crate) max_width: usize,
}

impl Style {
    /// One line, without its line break.
    pub(crate) fn line(&self, face: &Face) -> String {
        let text = self.text(face);
        let stand = face.stand;
        match self.format {
            Format::Plain => text,
            Format::Polybar if text.is_empty() => text,
            Format::Polybar => format!("%{{F{}}}{text}%{{F-}}", stand.colour()),
            Format::Json => one_line(&json!({
                "state": stand.word(),
                "text": text,
                "tooltip": face.tooltip(),
                "color": stand.colour(),
                "percentage": face.percentage,
            })),
            // i3blocks 1.4 takes one line from a program that persists, and no object.
            Format::I3blocks if text.is_empty() => text,
            Format::I3blocks => format!("<span color='{}'>{text}</span>", stand.colour()),
            Format::Waybar => one_line(&json!({
                "text": text,
                "alt": stand.word(),
                "class": stand.word(),
                "tooltip": lines(&face.tooltip(), Format::Waybar),
                "percentage": face.percentage.unwrap_or(0),
            })),
            Format::I3statusRust => one_line(&json!({
                "icon": "",
                "state": i3status_state(stand),
                "text": text,
                "short_text": self.short(face),
            })),
        }
    }

    fn text(&self, face: &Face) -> String {
        if self.hide_when_idle && face.stand.is_quiet() {
            return String::new();
        }
        match &self.template {
            None => self.fit(&face.line()),
            Some(template) => {
                // For polybar a percent sign and a brace after it open a tag.
                let tags = self.format == Format::Polybar;
                template.fill(tags, |name| self.fit(face.field(name).unwrap_or_default()))
            }
        }
    }

    /// For narrow screens: how things stand, or the time.
    fn short(&self, face: &Face) -> String {
        if self.hide_when_idle && face.stand.is_quiet() {
            return String::new();
        }
        self.fit(if face.time.is_empty() || face.stand == Stand::Drifting {
            &face.says
        } else {
            &face.time
        })
    }

    fn fit(&self, text: &str) -> String {
        escaped(&width::cut(text, self.max_width), self.format)
    }
}

/// The text is clean already; what is left is what the bar would act on.
fn escaped(text: &str, format: Format) -> String {
    match format {
        Format::Plain | Format::Json => text.to_owned(),
        Format::Polybar => polybar(text, usize::MAX),
        Format::I3blocks | Format::Waybar | Format::I3statusRust => pango(text, usize::MAX),
    }
}

fn lines(text: &str, format: Format) -> String {
    text.lines().map(|line| escaped(line, format)).collect::<Vec<_>>().join("\n")
}

fn one_line(object: &serde_json::Value) -> String {
    json_safe::to_string(object)
}

/// What i3status-rust colours by.
fn i3status_state(stand: Stand) -> &'static str {
    match stand {
        Stand::Drifting => "Critical",
        Stand::Overtime => "Warning",
        Stand::Ontask => "Good",
        Stand::Checking | Stand::Detour => "Info",
        Stand::Down
        | Stand::Planning
        | Stand::Away
        | Stand::Paused
        | Stand::Active
        | Stand::Review => "Idle",
    }
}

/// Columns that a title has at most anyway.
pub(crate) const WIDEST: usize = 2 * TITLE_CAP;

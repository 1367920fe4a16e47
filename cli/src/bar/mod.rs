//! The state for status bars: what it comes to ([`face`]), and how each bar wants it ([`mod@format`],
//! [`template`], [`fit`]).

mod face;
mod fit;
mod format;
mod template;

#[cfg(test)]
mod tests;

pub(crate) use face::{Clock, Face};
pub(crate) use format::{Format, Style, WIDEST};
pub(crate) use template::Template;

use crate::{args, exit::Failure};

/// What a bar asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bar {
    pub(crate) style: Style,
    pub(crate) clock: Clock,
}

impl Bar {
    /// As the options say; nothing without `--format` or `--template`.
    pub(crate) fn of(args: &args::Bar) -> Result<Option<Self>, Failure> {
        let template = args.template.as_deref().map(Template::parse).transpose();
        let template = template.map_err(|why| Failure::Usage(format!("--template: {why}")))?;
        let format = match (args.format, &template) {
            (None, None) => return Self::none(args),
            (format, _) => format.unwrap_or(Format::Plain),
        };
        let style = Style {
            format,
            template,
            hide_when_idle: args.hide_when_idle,
            max_width: args.max_width.unwrap_or(WIDEST),
        };
        let clock = if args.seconds { Clock::Seconds } else { Clock::Minutes };
        Ok(Some(Self { style, clock }))
    }

    /// Without a bar the other options would do nothing, which is not what was meant.
    fn none(args: &args::Bar) -> Result<Option<Self>, Failure> {
        let idle = [
            (args.hide_when_idle, "--hide-when-idle"),
            (args.max_width.is_some(), "--max-width"),
            (args.seconds, "--seconds"),
        ];
        match idle.into_iter().find(|(given, _)| *given) {
            Some((_, option)) => {
                Err(Failure::Usage(format!("{option} goes with --format or --template")))
            }
            None => Ok(None),
        }
    }
}

//! How large things may be. Every text on the wire has a bound here, so that every line of ours fits
//! into [`MAX_LINE`](crate::MAX_LINE).
//!
//! What a person typed is refused when it is larger, what comes from sensors and models is cut by
//! whoever takes it in, on a character boundary. Sizes are in bytes of UTF-8 unless they say
//! otherwise.

use std::fmt;

use crate::{
    Allowed, Command, ErrorCode, ErrorObject, Outcome, Selector, entry, json_safe, strict,
};

/// Most bytes of a commitment's text.
pub const MAX_TEXT: usize = 4096;
/// Most bytes of any other field that a person types.
pub const MAX_FIELD: usize = 1024;
/// Most bytes of one entry of the allowed context.
pub const MAX_ENTRY: usize = 256;
/// Most entries of one list of the allowed context.
pub const MAX_ENTRIES: usize = 64;
/// Most bytes of all entries of the allowed context together, as they stand on the wire: see
/// [`Allowed::size`].
pub const MAX_ALLOWED: usize = 16 * 1024;
/// Longest timebox, pause and detour, in seconds: a day.
pub const MAX_TIMEBOX_SECS: u64 = 86_400;
/// Most bytes of a window's title; more is cut.
pub const MAX_TITLE: usize = 1024;
/// Most bytes of a window's class, instance, domain and command, each; more is cut.
pub const MAX_CLASS: usize = 256;
/// Most bytes of a verdict's reason; more is cut.
pub const MAX_REASON: usize = 2048;
/// Most bytes of any sentence of the daemon's own: an error's message, a warning, a note, a notice,
/// what went wrong with the judge or the sensor. More is cut.
pub const MAX_MESSAGE: usize = 1024;
/// Most windows that `windows` tells; also fewer, where they would not fit into a line.
pub const MAX_WINDOWS: usize = 256;
/// Most bytes of all presets together, as they stand on the wire.
pub const MAX_PRESETS: usize = 64 * 1024;
/// Most notes that a session begins with.
pub const MAX_NOTES: usize = 4;

impl Allowed {
    /// The list that holds what a selector names.
    pub fn list(&self, selector: Selector) -> &Vec<String> {
        match selector {
            Selector::WindowClass => &self.window_classes,
            Selector::WindowTitle => &self.window_titles,
            Selector::WindowTitleSubstring => &self.window_title_substrings,
            Selector::Domain => &self.domains,
            Selector::Command => &self.commands,
        }
    }

    /// The same, to be changed.
    pub fn list_mut(&mut self, selector: Selector) -> &mut Vec<String> {
        match selector {
            Selector::WindowClass => &mut self.window_classes,
            Selector::WindowTitle => &mut self.window_titles,
            Selector::WindowTitleSubstring => &mut self.window_title_substrings,
            Selector::Domain => &mut self.domains,
            Selector::Command => &mut self.commands,
        }
    }

    /// The member that holds a list.
    fn member(list: Selector) -> &'static str {
        match list {
            Selector::WindowClass => "window_classes",
            Selector::WindowTitle => "window_titles",
            Selector::WindowTitleSubstring => "window_title_substrings",
            Selector::Domain => "domains",
            Selector::Command => "commands",
        }
    }

    /// The five lists with the names of their members.
    pub fn lists(&self) -> [(&'static str, &Vec<String>); 5] {
        Selector::ALL.map(|list| (Self::member(list), self.list(list)))
    }

    /// Holds number and size of the entries against their bounds, but not what they name: what was
    /// once accepted is kept, also by a stricter version. `member` is what holds them.
    ///
    /// # Errors
    ///
    /// `invalid_request` naming the list or entry and its limit.
    pub fn check_bounds(&self, member: &str) -> Result<(), ErrorObject> {
        for (name, list) in self.lists() {
            let member = format!("{member}.{name}");
            if list.len() > MAX_ENTRIES {
                let found = list.len();
                return Err(invalid(
                    &member,
                    format!("must hold at most {MAX_ENTRIES} entries, but has {found}"),
                ));
            }
            for (index, entry) in list.iter().enumerate() {
                check_entry(&format!("{member}[{index}]"), entry)?;
            }
        }
        let found = self.size();
        if found > MAX_ALLOWED {
            let limit = format!(
                "all lists together must be at most {MAX_ALLOWED} bytes of JSON, but have {found}"
            );
            return Err(invalid(member, limit));
        }
        Ok(())
    }

    /// Whether there is no entry at all.
    pub fn is_empty(&self) -> bool {
        self.lists().into_iter().all(|(_, list)| list.is_empty())
    }

    /// Bytes of all entries together as they stand on the wire, without the quotes around each; at
    /// most [`MAX_ALLOWED`]. A quote counts two bytes and a bidirectional control six: these lists
    /// hold the most text by far, and escaped they would not fit into a line.
    pub fn size(&self) -> usize {
        let entries = self.lists().into_iter().flat_map(|(_, list)| list);
        entries.map(|entry| json_safe::escaped_len(entry)).sum()
    }
}

/// The longest beginning of `text` with at most `limit` bytes; no character is split.
///
/// ```
/// use antidrift_protocol::cut;
///
/// assert_eq!(cut("naïve", 3), "na");
/// assert_eq!(cut("naïve", 4), "naï");
/// assert_eq!(cut("naïve", 1024), "naïve");
/// ```
#[must_use]
pub fn cut(text: &str, limit: usize) -> &str {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

impl Command {
    /// Holds the bounds of the protocol. What a person typed is refused, never cut.
    ///
    /// # Errors
    ///
    /// `invalid_request` naming the member and its limit.
    pub fn check(&self) -> Result<(), ErrorObject> {
        match self {
            Self::Hello(hello) => within("client", &hello.client, MAX_FIELD),
            Self::Start(start) => {
                typed("text", &start.text, MAX_TEXT)?;
                within_option("next_action", start.next_action.as_deref())?;
                within_option("success_condition", start.success_condition.as_deref())?;
                start.timebox_secs.map_or(Ok(()), |secs| seconds("timebox_secs", secs))?;
                start.allowed.check_bounds("allowed")?;
                check_forms("allowed", &start.allowed)
            }
            Self::Refocus(refocus) => check_or_left(refocus.alert, refocus.or_left),
            Self::Ontask(ontask) => {
                check_or_left(ontask.alert, ontask.or_left)?;
                if let Some((second, _)) = ontask.selectors().nth(1) {
                    return Err(invalid(second.as_str(), "only one selector may be given"));
                }
                let Some((selector, value)) = ontask.selector() else { return Ok(()) };
                if ontask.of_window.is_some() {
                    return Err(invalid("of_window", "may not be given beside a selector"));
                }
                check_entry(selector.as_str(), value)?;
                check_form(selector, selector.as_str(), value)
            }
            Self::Complete(complete) => check_review(complete.outcome, complete.note.as_deref()),
            Self::Review(review) => check_review(review.outcome, review.note.as_deref()),
            Self::Pause(pause) => pause.secs.map_or(Ok(()), |secs| seconds("secs", secs)),
            Self::Extend(extend) => seconds("secs", extend.secs),
            Self::Detour(detour) => {
                seconds("secs", detour.secs)?;
                typed("text", &detour.text, MAX_FIELD)
            }
            Self::Allow(allow) => {
                allow.add.check_bounds("add")?;
                check_forms("add", &allow.add)?;
                allow.remove.check_bounds("remove")
            }
            Self::Propose(propose) => typed("intent", &propose.intent, MAX_TEXT),
            Self::Subscribe(subscribe) => match &subscribe.topics {
                Some(topics) if topics.is_empty() => {
                    Err(invalid("topics", "must name at least one of state, alert, all"))
                }
                Some(topics) if topics.len() > MAX_ENTRIES => {
                    Err(invalid("topics", "must hold at most 64 entries"))
                }
                _ => Ok(()),
            },
            Self::Status(_)
            | Self::End(_)
            | Self::Resume(_)
            | Self::Windows(_)
            | Self::History(_)
            | Self::Forget(_)
            | Self::Explain(_)
            | Self::Preview(_)
            | Self::CheckJudge(_)
            | Self::Presets(_)
            | Self::Reload(_) => Ok(()),
        }
    }
}

/// Without an alert it would be dropped in silence.
fn check_or_left(alert: Option<u64>, or_left: Option<bool>) -> Result<(), ErrorObject> {
    match (alert, or_left) {
        (None, Some(_)) => Err(invalid("or_left", "may only be given beside an alert")),
        _ => Ok(()),
    }
}

fn invalid(member: &str, problem: impl fmt::Display) -> ErrorObject {
    ErrorObject::new(ErrorCode::InvalidRequest, format!("args.{member}: {problem}"))
}

fn seconds(member: &str, secs: u64) -> Result<(), ErrorObject> {
    if (1..=MAX_TIMEBOX_SECS).contains(&secs) {
        return Ok(());
    }
    Err(invalid(member, format!("must be between 1 and {MAX_TIMEBOX_SECS}")))
}

fn within(member: &str, value: &str, limit: usize) -> Result<(), ErrorObject> {
    if value.len() > limit {
        let found = value.len();
        return Err(invalid(member, format!("must be at most {limit} bytes, but has {found}")));
    }
    Ok(())
}

fn check_review(outcome: Option<Outcome>, note: Option<&str>) -> Result<(), ErrorObject> {
    if outcome == Some(Outcome::Unknown) {
        return Err(invalid("outcome", "must be done, partial or abandoned"));
    }
    within_option("note", note)
}

fn within_option(member: &str, value: Option<&str>) -> Result<(), ErrorObject> {
    value.map_or(Ok(()), |value| within(member, value, MAX_FIELD))
}

fn typed(member: &str, value: &str, limit: usize) -> Result<(), ErrorObject> {
    // What shows nothing is blank, too: a NUL, an escape sequence.
    if crate::text::clean(value, 1).is_empty() {
        return Err(invalid(member, "must not be blank"));
    }
    within(member, value, limit)
}

fn check_entry(member: &str, value: &str) -> Result<(), ErrorObject> {
    // A window's own class or title may be of letters that are not seen.
    if value.trim().is_empty() {
        return Err(invalid(member, "must not be blank"));
    }
    within(member, value, MAX_ENTRY)?;
    if value.chars().any(char::is_control) {
        return Err(invalid(member, "must not hold control characters"));
    }
    Ok(())
}

/// Whether an entry is one that its list can match by.
fn check_form(list: Selector, member: &str, entry: &str) -> Result<(), ErrorObject> {
    let refuse = |expected: &str| {
        let found = strict::shown(entry);
        Err(invalid(member, format!("must be {expected}, but is {found:?}")))
    };
    match list {
        Selector::Domain if entry::host(entry).is_none() => {
            refuse("a host name such as docs.example.org")
        }
        Selector::Command
            if entry::program(entry).is_empty() || entry.trim().contains(char::is_whitespace) =>
        {
            refuse("the name of one program such as make, without arguments")
        }
        // It would be in nearly every title.
        Selector::WindowTitleSubstring if !entry.chars().any(char::is_alphanumeric) => {
            Err(invalid(member, "must hold a letter or a digit"))
        }
        _ => Ok(()),
    }
}

fn check_forms(member: &str, allowed: &Allowed) -> Result<(), ErrorObject> {
    for list in Selector::ALL {
        for (index, entry) in allowed.list(list).iter().enumerate() {
            check_form(list, &format!("{member}.{}[{index}]", Allowed::member(list)), entry)?;
        }
    }
    Ok(())
}

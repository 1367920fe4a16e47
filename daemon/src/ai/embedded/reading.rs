//! What a window shows: which site or program, and what of its title is content.

use super::{
    catalogue::{self, Catalogue, KindId, Site, Sort},
    spelling::{fold, is_unspaced},
};

/// A window as it was read.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The kind of its site, else of its program.
    pub kind: Option<KindId>,
    /// What was recognised, as the window writes it.
    pub name: String,
    /// Whether that is a part of the title, rather than the window class.
    pub by_site: bool,
    /// What the title says beside the site's name, folded; parts are parted by ` | `.
    pub content: String,
    /// The site's name and the program's, folded: a tie for tools that a commitment names.
    pub tools: String,
    /// Whether there is nothing to be read: an empty page, a bare program.
    pub blank: bool,
}

/// Most parts of a title that are looked at.
const MAX_PARTS: usize = 12;

/// Reads a window by its class and its context title (the title without counters, spinners and the
/// browser's own name).
pub(super) fn read(catalogue: &Catalogue, class: &str, title: &str) -> Reading {
    let class = fold(class);
    let host = web_app_host(&class);
    let program = catalogue.program(&class);
    let sort = program.map(|id| catalogue::kind(id).sort);
    // Programs show what they are by their class; only what shows anything is read for sites.
    let carrier = matches!(sort, None | Some(Sort::Carrier));
    let parts = parts(title);
    let folded: Vec<String> = parts.iter().map(|part| fold(part)).collect();
    let loud: Vec<bool> = parts.iter().map(|part| is_loud(part)).collect();

    let mut reading = Reading::default();
    let mut without = None;
    let mut after = (0, 0);
    if let Some(host) = host
        && let Some(site) = catalogue.site(host)
    {
        reading.kind = Some(site.kind);
        reading.name = host.to_owned();
        reading.by_site = true;
        without = found_by_name(catalogue, &folded, &loud).map(|(at, _)| at);
    } else if carrier && let Some(found) = find_site(catalogue, &folded, &loud) {
        reading.kind = Some(found.kind);
        reading.by_site = true;
        reading.name = found.name_in(&parts);
        without = found.whole.then_some(found.part);
        after = (found.part, found.after);
    } else if let Some(id) = program {
        reading.kind = Some(id);
        reading.name = program_name(&class, &parts, &folded);
        // A program writes its own name last, and a terminal its command first.
        if sort == Some(Sort::Carrier) {
            let command = folded.first().and_then(|part| part.split([' ', ':']).next());
            if let Some(kind) = command.and_then(|name| catalogue.program(name))
                && catalogue::kind(id).name == "terminal"
                && catalogue::kind(kind).sort != Sort::Carrier
            {
                reading.kind = Some(kind);
                command.unwrap_or_default().clone_into(&mut reading.name);
            }
        } else if let Some(last) = folded.last()
            && (catalogue.program(last).is_some()
                || last
                    .split(' ')
                    .next()
                    .is_some_and(|word| class.contains(word) && word.len() > 2))
        {
            without = Some(folded.len() - 1);
        }
    }
    for (at, part) in folded.iter().enumerate() {
        if Some(at) != without {
            if !reading.content.is_empty() {
                reading.content.push_str(" | ");
            }
            reading.content.push_str(&part[if after.0 == at { after.1 } else { 0 }..]);
        } else {
            reading.tools.push_str(part);
        }
    }
    reading.tools.push(' ');
    if !carrier || host.is_some() {
        reading.tools.push_str(&class);
    }
    reading.blank = !reading.is_pastime() && catalogue::is_blank(&reading.content);
    reading
}

impl Reading {
    /// Whether it is a site or program of pastime or private business: it says what it is even
    /// without a title.
    pub(super) fn is_pastime(&self) -> bool {
        let sort = self.kind.map(|id| catalogue::kind(id).sort);
        matches!(sort, Some(Sort::Leisure | Sort::Private | Sort::Apart))
    }
}

/// A site that a title names.
struct Found {
    kind: KindId,
    part: usize,
    /// Whether the whole part is its name.
    whole: bool,
    /// Where in the part the content begins, behind the name.
    after: usize,
}

impl Found {
    /// The name as the title writes it, or the part's first words.
    fn name_in(&self, parts: &[&str]) -> String {
        let part = parts[self.part];
        let name = if self.whole { part } else { part.split([':', '：']).next().unwrap_or(part) };
        name.chars().take(40).collect()
    }
}

/// Sites write their name last, some first, few between; a name inside a part counts only at its
/// ends, since a page may speak about a site.
fn find_site(catalogue: &Catalogue, parts: &[String], loud: &[bool]) -> Option<Found> {
    if let Some((part, kind)) = found_by_name(catalogue, parts, loud) {
        return Some(Found { kind, part, whole: true, after: 0 });
    }
    let outer = [parts.len().checked_sub(1), Some(0)];
    for part in outer.into_iter().flatten() {
        let text = parts.get(part)?;
        if let Some((kind, rest)) = named_before_colon(catalogue, text) {
            return Some(Found { kind, part, whole: false, after: text.len() - rest.len() });
        }
        if let Some(kind) = special_form(text) {
            return Some(Found { kind, part, whole: false, after: 0 });
        }
        if let Some((kind, whole)) = named_at_an_end(catalogue, text) {
            return Some(Found { kind, part, whole, after: 0 });
        }
    }
    None
}

fn found_by_name(
    catalogue: &Catalogue,
    parts: &[String],
    loud: &[bool],
) -> Option<(usize, KindId)> {
    let last = parts.len().checked_sub(1)?;
    let at_last = named(catalogue, &parts[last]).map(|site| (last, site.kind));
    at_last.or_else(|| {
        (0..last).find_map(|at| {
            let site = named(catalogue, &parts[at])?;
            (!site.is_word || loud[at]).then_some((at, site.kind))
        })
    })
}

/// The site of this name, also when a country's ending follows it: `Indeed.nl`.
fn named(catalogue: &Catalogue, part: &str) -> Option<Site> {
    catalogue.site(part).or_else(|| {
        let (name, ending) = part.rsplit_once('.')?;
        let country = (2..=3).contains(&ending.len()) && !name.contains(' ');
        catalogue.site(name).filter(|_| country)
    })
}

/// Whether a name is written in capitals, as brands are and other words are not.
fn is_loud(part: &str) -> bool {
    let letters = || part.chars().filter(|c| c.is_alphabetic());
    letters().count() >= 3 && letters().all(char::is_uppercase)
}

/// The site that a part begins with, and what follows its colon: `Amazon.de: Bench`, `r/rust: …`
fn named_before_colon<'a>(catalogue: &Catalogue, part: &'a str) -> Option<(KindId, &'a str)> {
    let (name, rest) = part.split_once([':', '：'])?;
    let site = catalogue.site(name.trim())?;
    (!site.is_word).then_some((site.kind, rest))
}

/// Forms that no list of names holds.
fn special_form(part: &str) -> Option<KindId> {
    let word = part.split([' ', ':']).next().unwrap_or_default();
    if word.strip_prefix("r/").is_some_and(|rest| !rest.is_empty()) || part.contains(" : r/") {
        return catalogue::kind_named("forum");
    }
    if part.ends_with(" stack exchange") {
        return catalogue::kind_named("devqa");
    }
    let ticket = ["issue #", "pull request #", "merge request !", "merge request #"];
    if ticket.iter().any(|form| part.contains(form)) {
        return catalogue::kind_named("forge");
    }
    if word.starts_with("localhost")
        || word.starts_with("127.0.0.1")
        || word.starts_with("192.168.")
    {
        return catalogue::kind_named("web_admin");
    }
    None
}

/// A site's name at the start or the end of a longer part.
fn named_at_an_end(catalogue: &Catalogue, part: &str) -> Option<(KindId, bool)> {
    let long_enough = |length: usize, name: &str| length >= 4 || name.chars().any(is_unspaced);
    // From each start of a word the longest name; it counts if the part ends with it.
    let starts = part.char_indices().filter(|&(at, c)| {
        c.is_alphanumeric() && (is_unspaced(c) || !part[..at].ends_with(char::is_alphanumeric))
    });
    let part = part.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '+');
    for (at, _) in starts.take(24) {
        let rest = &part[at..];
        if let Some((site, length)) = catalogue.site_at_start(rest)
            && !site.is_word
            && long_enough(length, &rest[..length])
            && (length == rest.len()
                || (at == 0
                    && (!rest.starts_with(is_unspaced)
                        || 2 * length >= rest.len()
                        || rest[length..].starts_with(' '))))
        {
            return Some((site.kind, part.chars().count() <= rest[..length].chars().count() + 6));
        }
    }
    None
}

/// The host of a web app's window class: `chrome-web.whatsapp.com__-Default`.
fn web_app_host(class: &str) -> Option<&str> {
    let prefixes = ["chrome-", "chromium-", "brave-", "msedge-", "vivaldi-", "opera-"];
    let rest = prefixes.iter().find_map(|prefix| class.strip_prefix(prefix))?;
    let host = rest.split("__").next()?;
    let host = host.strip_prefix("www.").unwrap_or(host);
    (host.contains('.') && rest.contains("__")).then_some(host)
}

fn has_unspaced(title: &str) -> bool {
    title.contains(is_unspaced)
}

fn program_name(class: &str, parts: &[&str], folded: &[String]) -> String {
    // The title's own spelling is better to read than a class such as org.telegram.desktop.
    let word = class.rsplit('.').next().unwrap_or(class);
    let at = folded.iter().rposition(|part| !part.is_empty() && class.contains(part.as_str()));
    at.map_or_else(|| word.to_owned(), |at| parts[at].to_owned())
}

/// Parts a title where sites and programs part theirs.
fn parts(title: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, c) in title.char_indices() {
        let end = at + c.len_utf8();
        let free = title[..at].ends_with(' ') && title[end..].starts_with(' ');
        let parted = match c {
            '-' | '–' | '—' | '|' | '·' | '•' | '»' | '«' | '›' | '/' | '\\' | '~' | '∙' | '▸'
            | '>'
                if free =>
            {
                true
            }
            '｜' | '＿' | '【' | '】' | '［' | '］' => true,
            '（' | '）' | '！' | '[' | ']' => has_unspaced(title),
            '_' | '|' => {
                title[..at].ends_with(is_unspaced) || title[end..].starts_with(is_unspaced)
            }
            '-' => title[..at].ends_with(is_unspaced) && title[end..].starts_with(is_unspaced),
            _ => false,
        };
        if parted && parts.len() < MAX_PARTS {
            parts.push(title[start..at].trim());
            start = end;
        }
    }
    parts.push(title[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

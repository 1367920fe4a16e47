//! What browsers put behind a page's title: their name, a word for private windows, a profile, the
//! number of other tabs.
//!
//! The forms are those of the browsers' own message files: Firefox writes
//! `PAGE — PROFILE — Mozilla Firefox Private Browsing`, Chromium `PAGE - Chromium`, Edge
//! `PAGE and 3 more pages - PROFILE - Microsoft Edge`, in some languages `PROFILE: Microsoft Edge`.

use super::fold;

/// Names at the end of browsers' window titles, folded.
const NAMES: &[&str] = &[
    "mozilla firefox",
    "firefox",
    "firefox beta",
    "firefox developer edition",
    "firefox nightly",
    "nightly",
    "ablaze floorp",
    "basilisk",
    "floorp",
    "gnu icecat",
    "icecat",
    "iceweasel",
    "librewolf",
    "mullvad browser",
    "pale moon",
    "seamonkey",
    "tor browser",
    "waterfox",
    "zen browser",
    "brave",
    "brave beta",
    "brave nightly",
    "chromium",
    "cromite",
    "google chrome",
    "google chrome beta",
    "google chrome canary",
    "google chrome dev",
    "google chrome unstable",
    "helium",
    "iridium",
    "microsoft edge",
    "microsoft edge beta",
    "microsoft edge canary",
    "microsoft edge dev",
    "opera",
    "opera beta",
    "opera developer",
    "opera gx",
    "thorium",
    "vivaldi",
    "yandex browser",
    "яндекс браузер",
    "dillo",
    "falkon",
    "konqueror",
    "luakit",
    "midori",
    "netsurf",
    "nyxt",
    "otter browser",
    "qutebrowser",
];

/// What Firefox, Edge and others call a private window, folded. In brackets behind the name any
/// word will do.
const PRIVATE: &[&str] = &[
    "private browsing",
    "inprivate",
    "anonymní prohlížení",
    "gizli gezinti",
    "mode de navigation privée",
    "modo privado",
    "navegação privada",
    "navegação privativa",
    "navegación privada",
    "navigare privată",
    "navigation privée",
    "navigation privée de",
    "navigazione anonima",
    "navigazione privata",
    "penjelajahan pribadi",
    "privat browsing",
    "privat böngészés",
    "privat nettlesing",
    "privat surfning",
    "privater modus",
    "privénavigatie",
    "privénavigatie in",
    "privát böngészés",
    "súkromné prehliadanie",
    "tryb prywatny",
    "yksityinen selaus",
    "zasebno brskanje",
    "duyệt web riêng tư",
    "ιδιωτική περιήγηση",
    "поверително разглеждане",
    "приватний перегляд",
    "приватный просмотр",
    "приватный режим",
    "プライベートブラウジング",
    "プライベート ブラウジング",
    "隐私浏览",
    "隱私瀏覽",
    "사생활 보호 모드",
];

/// Profiles as Edge and Firefox name them unless a person does, folded. A name of one's own cannot
/// be told from a part of the page's title, so it stays, unless the number of tabs stands before it.
const PROFILES: &[&str] = &[
    "personal",
    "work",
    "school",
    "default",
    "guest",
    "original profile",
    "[inprivate]",
    "persönlich",
    "geschäftlich",
    "arbeit",
    "gast",
    "personnel",
    "travail",
    "école",
    "trabajo",
    "personale",
    "lavoro",
    "pessoal",
    "trabalho",
    "persoonlijk",
    "werk",
    "osobiste",
    "личный",
    "рабочий",
    "个人",
    "個人",
    "個人用",
    "工作",
    "職場",
    "개인",
];

/// The word for a numbered profile, folded: `Profile 1`.
const NUMBERED_PROFILES: &[&str] = &[
    "profile",
    "profil",
    "perfil",
    "profilo",
    "profiel",
    "профиль",
    "用户配置",
    "プロファイル",
    "프로필",
];

/// What stands before and after the number of other tabs, as Edge writes it.
const MORE_PAGES: &[(&str, &[&str])] = &[
    (" and ", &[" more page", " more pages"]),
    (" und ", &[" weitere Seite", " weitere Seiten"]),
    (" et ", &[" page de plus", " pages de plus"]),
    (" y ", &[" página más", " páginas más"]),
    (" e mais ", &[" página", " páginas"]),
    (" e altra ", &[" pagina"]),
    (" e altre ", &[" pagine"]),
    (" и еще ", &[" страница", " страницы", " страниц"]),
    (" и ещё ", &[" страница", " страницы", " страниц"]),
    ("和另外 ", &[" 个页面"]),
    ("および他 ", &[" ページ"]),
];

/// A part of a title, and the separator before it; the first part has none.
#[derive(Clone, Copy)]
pub(super) struct Segment<'a> {
    pub(super) separator: Option<char>,
    pub(super) text: &'a str,
}

/// Takes off what the browser added behind the page's title. Something of the page always stays: a
/// browser's name alone is a title too.
pub(super) fn strip_browser(segments: &mut Vec<Segment<'_>>) {
    if let Some(browser) = pop_browser(segments) {
        pop_if(segments, is_private);
        let counted = match segments.as_slice() {
            [.., page, _] => without_more_pages(page.text).is_some(),
            _ => false,
        };
        if browser.contains("microsoft edge") || browser.contains("firefox") {
            pop_if(segments, |text| counted || is_profile(text));
        }
    }
    if let Some(last) = segments.last_mut()
        && let Some(page) = without_more_pages(last.text)
    {
        last.text = page;
    }
}

/// Takes off the browser's name and returns it, folded.
fn pop_browser(segments: &mut Vec<Segment<'_>>) -> Option<String> {
    // `PAGE – Mozilla Firefox – Zasebno brskanje`
    if let [_, .., browser, private] = segments.as_slice()
        && is_private(&fold(private.text))
        && is_browser(&fold(browser.text))
    {
        segments.pop();
    }
    pop_if(segments, is_browser)
}

/// Takes off the last segment, and returns it folded, if it stands behind a dash and something else
/// and fits.
fn pop_if(segments: &mut Vec<Segment<'_>>, fits: impl FnOnce(&str) -> bool) -> Option<String> {
    let [_, .., Segment { separator: Some('-' | '–' | '—'), text }] = segments.as_slice()
    else {
        return None;
    };
    let text = Some(fold(text)).filter(|text| fits(text))?;
    segments.pop();
    Some(text)
}

/// Whether a folded segment is a browser's name, perhaps with a word for a private window or with a
/// profile.
fn is_browser(text: &str) -> bool {
    let named = |name: &str| NAMES.contains(&name);
    let with_profile = |(profile, name): (&str, &str)| named(name) && is_profile(profile);
    named(text)
        || text.rsplit_once(": ").is_some_and(with_profile)
        || is_private_window_of(text, named)
}

/// Whether this part of a title says that a window is a private one.
pub(super) fn says_private(text: &str) -> bool {
    let text = fold(text);
    let named = |name: &str| NAMES.contains(&name.trim_matches(['[', ']', ' ']));
    is_private(text.trim_matches(['[', ']'])) || is_private_window_of(&text, named)
}

/// Whether a folded text is a name with a word for a private window before or behind it, or with
/// any word in brackets.
fn is_private_window_of(text: &str, named: impl Fn(&str) -> bool) -> bool {
    if let Some((name, _)) = text.strip_suffix(')').and_then(|text| text.rsplit_once(" (")) {
        return named(name);
    }
    PRIVATE.iter().any(|word| {
        let before = text.strip_prefix(word).and_then(|rest| rest.strip_prefix(' '));
        let after = text.strip_suffix(word).and_then(|rest| rest.strip_suffix(' '));
        before.or(after).is_some_and(&named)
    })
}

fn is_private(text: &str) -> bool {
    PRIVATE.contains(&text)
}

fn is_profile(text: &str) -> bool {
    let numbered = text.trim_end_matches(|c: char| c.is_ascii_digit());
    PROFILES.contains(&text)
        || (numbered.len() < text.len() && NUMBERED_PROFILES.contains(&numbered.trim_end()))
}

/// The page's title, if the number of other tabs stands behind it.
fn without_more_pages(text: &str) -> Option<&str> {
    MORE_PAGES.iter().find_map(|(before, afters)| {
        let rest = afters.iter().find_map(|after| text.strip_suffix(after))?;
        let page = rest.trim_end_matches(|c: char| c.is_ascii_digit());
        let numbered = page.len() < rest.len();
        let page = page.strip_suffix(before)?.trim_end();
        (numbered && !page.is_empty()).then_some(page)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_folded_and_named_once() {
        for list in [NAMES, PRIVATE, PROFILES, NUMBERED_PROFILES] {
            for (index, entry) in list.iter().enumerate() {
                assert_eq!(*entry, fold(entry));
                assert!(!list[..index].contains(entry), "{entry:?} is listed twice");
            }
        }
    }
}

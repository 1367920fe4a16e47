use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(raw: &str, expected: &str) {
    assert_eq!(context_title(raw), expected, "context title of {raw:?}");
    assert_eq!(context_title(expected), expected, "second pass");
}

#[track_caller]
fn check_same(raws: &[&str], expected: &str) {
    for raw in raws {
        check(raw, expected);
    }
}

#[test]
fn plain_titles_stay() {
    for title in [
        "",
        "notes.txt",
        "1984",
        "24",
        "C++ / C#",
        "C++",
        "A-Team",
        "Spider-Man: No Way Home",
        "user@host: ~/src",
        "/ — Dolphin",
        "~",
        "ls /",
        "x",
        "Dune (2021)",
        "Dune (1984)",
        "[2024] Recap",
        "printf(3)",
        "f(1, 2)",
        "Rust 1.89.0",
        "Catch-22",
        "9¾",
        ":)",
        "Who? (live)",
        "Größe — 見出し",
        "Mutt: =INBOX",
        "key: value",
        "a | b · c — d",
        "Сводка | Работа",
        "$ make -j4",
        "100",
        "16:9",
        "a:1:2",
        "2001: A Space Odyssey",
        "Personal",
        "Work",
        "Opera",
        "Mozilla Firefox",
        "Google Chrome",
        "Vacation - Work",
        "Paris | Opera",
        "Land of 3 more pages",
        "and 3 more pages",
        "Private Browsing",
    ] {
        check(title, title);
    }
}

#[test]
fn counters_and_marks_of_one_place() {
    for count in 1..=60 {
        check(&format!("({count}) Inbox – Mail"), "Inbox – Mail");
    }
    check_same(
        &["Inbox", "Inbox (7)", "● Inbox", "(1) Inbox", "Inbox [12]", "(99+) Inbox"],
        "Inbox",
    );
    check_same(&["Inbox (1,024)", "Inbox (1.024)", "Inbox (1 024)", "(1’024) Inbox"], "Inbox");
    check_same(&["（3）Inbox", "【3】Inbox", "Inbox（3）", "(٣) Inbox", "{4} Inbox"], "Inbox");
    check_same(
        &["Inbox (3) (4)", "• (3) • Inbox •", "[*] Inbox", "(•) Inbox", "(!) Inbox"],
        "Inbox",
    );
    check_same(
        &["* notes.txt", "notes.txt", "*notes.txt", "notes.txt*", "notes.txt [+]"],
        "notes.txt",
    );
    check_same(&["Inbox - (3)", "Inbox (3) -", "- Inbox", "Inbox | (3)", "(3) | Inbox"], "Inbox");
    check("(500) Days of Summer", "Days of Summer");
    check("3 (2)", "3");
    check("(2) 3", "3");
    check("**bold** claims", "bold** claims");
    check("A*", "A");
}

#[test]
fn counters_inside_a_title() {
    check_same(
        &[
            "Inbox (1,204) - me@example.org - Gmail — Mozilla Firefox",
            "Inbox - me@example.org - Gmail — Mozilla Firefox",
            "(3) Inbox (7) - me@example.org - Gmail - Chromium",
        ],
        "Inbox - me@example.org - Gmail",
    );
    check_same(&["Element [3] | Room", "Element * | Room", "Element | Room"], "Element | Room");
    check_same(
        &["notes.txt * — Kate", "notes.txt* — Kate", "notes.txt — Kate"],
        "notes.txt — Kate",
    );
    check_same(
        &["• Discord | #general | Rust", "(2) Discord | #general | Rust"],
        "Discord | #general | Rust",
    );
    check("1 (2) 3", "1 (2) 3");
}

#[test]
fn spinners_and_states() {
    for frame in "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏⣾⣽◐◓◑◒◴◷▁▂▃█✳✢✶✻✽·•●○|/-\\".chars()
    {
        check(&format!("{frame} build"), "build");
    }
    for frame in "⠋◐✳●▶⏸⏵🔴🔊🔔✓✔✗✅⚠⏳⌛🕐🌑".chars() {
        check(&format!("build {frame}"), "build");
        check(&format!("{frame}build"), "build");
    }
    check_same(&["▶️ Song", "⏸︎ Song", "Song ▶️", "⚠️ ▶️ Song"], "Song");
    check("⠋ Claude: fix tests", "Claude: fix tests");
    check("cat -", "cat");
    check("/ — Dolphin", "/ — Dolphin");
}

#[test]
fn times_and_percentages() {
    check_same(&["12:34", "1:02:03", "0:00", "125:30"], "#:#");
    check_same(&["Song - 0:12 / 3:45", "Song - 1:00:12 / 3:45"], "Song - #:# / #:#");
    check_same(&["Track -3:21", "Track -0:01.5"], "Track -#:#");
    check_same(&["Copying 5%", "Copying 12.5 %", "Copying 100%", "Copying 7,25%"], "Copying #%");
    check_same(&["(45%) Copying", "[45%] Copying", "Copying (3/10)", "(12:34) Copying"], "Copying");
    check("Tea at 9:30pm", "Tea at #:#pm");
    check("Tea at 9:30, then cake", "Tea at #:#, then cake");
    check("main.rs:12:34", "main.rs:12:34");
    check("00:1a:2b:3c", "00:1a:2b:3c");
    check("12:34:56:78:90", "12:34:56:78:90");
    check("1:23x", "1:23x");
    check("9:75", "9:75");
    check("a%20b", "a%20b");
    check("1234%", "1234%");
    check("5%x", "5%x");
}

#[test]
fn browsers() {
    check_same(
        &[
            "Docs - Mozilla Firefox",
            "Docs – Mozilla Firefox",
            "Docs — Mozilla Firefox",
            "Docs — Mozilla Firefox Private Browsing",
            "Docs — Mozilla Firefox (Private Browsing)",
            "Docs - Mozilla Firefox (Navegació privada)",
            "Docs – Mozilla Firefox Privater Modus",
            "Docs — Navigation privée de Mozilla Firefox",
            "Docs — Mozilla Firefox Navigation privée",
            "Docs — Приватный просмотр Mozilla Firefox",
            "Docs – Mozilla Firefox – Zasebno brskanje",
            "Docs — Anonymní prohlížení — Firefox",
            "Docs — Original profile — Mozilla Firefox",
            "Docs — Firefox Developer Edition",
            "Docs — LibreWolf",
            "Docs — Tor Browser",
            "Docs — Zen Browser",
            "Docs - Google Chrome",
            "Docs - Google Chrome (Incognito)",
            "Docs - Chromium",
            "Docs – Brave",
            "Docs - Brave (Private)",
            "Docs - Vivaldi",
            "Docs - Opera",
            "Docs - qutebrowser",
            "[12%] Docs - qutebrowser",
            "Docs – Falkon",
            "Docs — Konqueror",
            "Docs - Personal - Microsoft\u{200b} Edge",
            "Docs - Profile 1 - Microsoft Edge",
            "Docs - Profil 2 – Microsoft Edge",
            "Docs - [InPrivate] - Microsoft Edge",
            "Docs — Личный: Microsoft Edge",
            "Docs - Personal: Microsoft Edge",
            "Docs and 1 more page - Personal - Microsoft\u{200b} Edge",
            "Docs and 13 more pages - Personal - Microsoft\u{200b} Edge",
            "Docs und 2 weitere Seiten - Erika Mustermann – Microsoft Edge",
            "Docs et 6 pages de plus - Travail – Microsoft Edge Dev",
            "Docs y 3 páginas más - Perfil 1: Microsoft Edge",
            "Docs e mais 61 páginas - Pessoal — Microsoft Edge",
            "Docs и еще 1 страница — Личный: Microsoft Edge",
            "Docs 和另外 4 个页面 - 个人 - Microsoft Edge",
            "Docs および他 13 ページ - 個人 - Microsoft Edge",
            "Docs and 3 more pages",
            "(2) Docs (3) and 3 more pages - Work - Microsoft Edge",
            "Docs - Opera - Google Chrome",
        ],
        "Docs",
    );
    check("New Tab - Google Chrome", "New Tab");
    check("- Google Chrome", "Google Chrome");
    check("(3) - Google Chrome", "Google Chrome");
    check("Google Chrome - Google Chrome", "Google Chrome");
    check("Download Mozilla Firefox — Mozilla Firefox", "Download Mozilla Firefox");
    check("Hand luggage - Work - Google Chrome", "Hand luggage - Work");
    check("News and 3 more pages - Docs - Chromium", "News and 3 more pages - Docs");
    check("Review - mine - Microsoft Edge", "Review - mine");
    check("docs.rs – tokio — Mozilla Firefox", "docs.rs – tokio");
}

#[test]
fn decoration_alone_leaves_nothing() {
    for title in
        ["⠋", "(3)", "* * *", "●", "[+]", "-", " — ", "(1) (2)", "▶️", "\u{1b}[31m", "\u{200b}"]
    {
        check(title, "");
    }
}

#[test]
fn hostile_and_long_titles() {
    check("bad\u{fffd}\u{fffd}title", "bad\u{fffd}\u{fffd}title");
    check("\u{1b}]0;owned\u{7}weather", "weather");
    check("a\u{202e}b \n c", "ab c");
    check("lone \u{301} mark", "lone \u{301} mark");
    check("👩\u{200d}💻 code", "👩\u{200d}💻 code");
    for letters in 0..4 {
        let title = format!("{}{}", "a".repeat(letters), "é".repeat(300));
        let expected: String = title.chars().take((256 - letters) / 2 + letters).collect();
        check(&title, &expected);
    }
    let long = "word ".repeat(100);
    check(&long, long[..256].trim_end());
    // What is cut away cannot shield a browser's name or a counter.
    let page = "y".repeat(300);
    check(&format!("(3) {page} — Mozilla Firefox"), &page[..256]);
    check(&format!("{} (3)", "z".repeat(252)), &"z".repeat(252));
    assert!(context_title(&"é".repeat(60_000)).len() <= CONTEXT_TITLE_MAX);
    assert_eq!(context_title(&"(1) ".repeat(30_000)), "(1)…");
    assert_eq!(context_title(&"a - Opera - ".repeat(10_000)).chars().next(), Some('a'));
}

/// Titles made of what the rules look for, so that they meet in every order.
fn decorated() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "(3)",
        "[12]",
        "(45%)",
        "(2024)",
        "(",
        ")",
        "【7】",
        " ",
        " ",
        " ",
        " - ",
        " – ",
        " — ",
        " | ",
        " · ",
        "-",
        "/",
        "\\",
        "|",
        "*",
        "•",
        "⠋",
        "▶\u{fe0f}",
        "\u{fe0f}",
        "12:34",
        "1:02:03.5",
        "45%",
        "5 %",
        "#:#",
        "Docs",
        "a",
        "é",
        "見",
        "1984",
        "Mozilla Firefox",
        "Google Chrome",
        "Private Browsing",
        "Microsoft Edge",
        "Personal",
        "Profile 1",
        ": ",
        " and 3 more pages",
        "和另外 4 个页面",
        "\u{1b}[1m",
        "\u{200b}",
        "\u{200d}",
    ]);
    prop::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_title(raw in any::<String>()) {
        let title = context_title(&raw);
        prop_assert!(title.len() <= CONTEXT_TITLE_MAX);
        prop_assert_eq!(context_title(&title), title);
    }

    #[test]
    fn any_decorated_title(raw in decorated()) {
        let title = context_title(&raw);
        prop_assert!(title.len() <= CONTEXT_TITLE_MAX);
        prop_assert_eq!(context_title(&title), title.clone());
        // A word stays, except where Edge would have written the name of a profile.
        let expected = raw.contains("Docs") && !raw.contains("3 more") && !raw.contains("4 个");
        prop_assert!(!expected || title.contains("Docs"), "became {:?}", title);
    }

    #[test]
    fn any_long_title(raw in "\\PC{0,700}") {
        let title = context_title(&raw);
        prop_assert!(title.len() <= CONTEXT_TITLE_MAX);
        prop_assert_eq!(context_title(&title), title);
    }

    #[test]
    fn words_outlive_their_decoration(word in "[a-z]{1,12}", count in 0_u32..1900) {
        let title = format!("({count}) ● {word} [{count}] — Mozilla Firefox");
        prop_assert_eq!(context_title(&title), word);
    }
}

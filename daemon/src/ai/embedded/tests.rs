//! Each rule on the family of windows that it is for, and what must never happen.

use proptest::prelude::*;

use super::*;

fn opinion(commitment: &str, class: &str, title: &str) -> Opinion {
    let catalogue = Catalogue::default();
    let aim = Aim::new(&catalogue, &[commitment], &[]);
    judge(&catalogue, &aim, class, title)
}

#[track_caller]
fn check(commitment: &str, class: &str, title: &str, answer: Answer, rule: Rule) {
    let opinion = opinion(commitment, class, title);
    assert_eq!(
        (opinion.answer, opinion.rule),
        (answer, rule),
        "{commitment} / {title}: {opinion:#?}"
    );
}

const PERHAPS: Answer = Answer::OnTask { firm: false };

#[test]
fn empty_pages_and_bare_programs_tell_nothing() {
    for (class, title) in [
        ("", ""),
        ("firefox", "Mozilla Firefox"),
        ("firefox", "New Tab"),
        ("chromium", "Neuer Tab"),
        ("google-chrome", "Nouvel onglet"),
        ("firefox", "新しいタブ"),
        ("XTerm", ""),
        ("libreoffice-writer", ""),
    ] {
        check("draft the report", class, title, Answer::Unsure, Rule::Blank);
    }
}

#[test]
fn a_site_of_pastime_with_nothing_in_common_is_drift() {
    for (commitment, class, title) in [
        ("fix the login form", "firefox", "(12) Home / X"),
        ("fix the login form", "Google-chrome", "Premier League table - BBC Sport"),
        ("préparer le cours de maths", "firefox", "Leboncoin, petites annonces gratuites"),
        ("Steuererklärung fertig machen", "firefox", "Kleinanzeigen: Sofa in Berlin"),
        ("写论文的第三章", "firefox", "猫咪搞笑合集_哔哩哔哩_bilibili"),
        ("卒論の序章を書く", "chromium", "歌ってみた 2026 - ニコニコ動画"),
        ("fix the login form", "steam_app_570", "Dota 2"),
        ("fix the login form", "TelegramDesktop", "Telegram (3)"),
        ("fix the login form", "chrome-web.whatsapp.com__-Default", "WhatsApp"),
    ] {
        check(commitment, class, title, Answer::Drifting, Rule::Pastime);
    }
}

#[test]
fn one_word_in_common_with_a_shop_or_a_fashion_page_is_chance() {
    for (commitment, title) in [
        ("normalise the customer table in the database", "Dining table sets - IKEA"),
        ("upgrade the service to Spring 6", "Spring looks for 2026 | Vogue"),
        ("speed up the three slowest models", "The models everyone talks about | Vogue"),
    ] {
        let opinion = opinion(commitment, "firefox", title);
        assert!(
            !matches!(opinion.answer, Answer::OnTask { .. }),
            "{commitment} / {title}: {opinion:#?}"
        );
    }
}

#[test]
fn the_task_itself_is_no_drift() {
    check(
        "Book flights and hotel for the Lisbon conference",
        "firefox",
        "Flights to Lisbon | Skyscanner",
        PERHAPS,
        Rule::TaskItself,
    );
    check(
        "Book flights and hotel for the Lisbon conference",
        "firefox",
        "My trips | Skyscanner",
        Answer::Unsure,
        Rule::MaybeTaskItself,
    );
}

#[test]
fn a_video_of_the_very_thing_or_one_that_teaches_is_no_drift() {
    check(
        "Revise for the organic chemistry exam: elimination reactions",
        "firefox",
        "Organic chemistry: elimination reactions E1 and E2 - YouTube",
        PERHAPS,
        Rule::TiedPastime,
    );
    check(
        "Fix the borrow error in the scheduler",
        "firefox",
        "Lifetimes tutorial for beginners - YouTube",
        Answer::Unsure,
        Rule::Teaching,
    );
}

#[test]
fn words_of_pastime_are_drift_in_a_neutral_place() {
    check(
        "fix the login form",
        "vlc",
        "Severance.S02E04.1080p.mkv - VLC media player",
        Answer::Drifting,
        Rule::PastimeWords,
    );
}

#[test]
fn shared_words_tie_in_any_of_the_languages() {
    for (commitment, class, title) in [
        (
            "Write the Kubernetes migration guide",
            "firefox",
            "Kubernetes migration guide - Google Docs",
        ),
        (
            "Rechnungen an Müller schreiben",
            "libreoffice-writer",
            "Rechnung_Müller.odt — LibreOffice Writer",
        ),
        (
            "préparer les fractions pour la 6e B",
            "libreoffice-writer",
            "fractions_exercices_6eB.odt — LibreOffice Writer",
        ),
        ("整理量子计算的论文笔记", "firefox", "量子计算的论文综述 - 维基百科"),
    ] {
        let opinion = opinion(commitment, class, title);
        assert!(
            matches!(opinion.answer, Answer::OnTask { .. }),
            "{commitment} / {title}: {opinion:#?}"
        );
    }
}

#[test]
fn a_tool_that_the_commitment_names_ties() {
    check(
        "Model the chair in Blender",
        "Blender",
        "* (Unsaved) - Blender 4.2",
        PERHAPS,
        Rule::Tied,
    );
}

#[test]
fn reasons_are_for_people() {
    for (title, reason) in [
        (
            "Funny cats - YouTube",
            "YouTube is a video site; nothing in the title fits “draft the report”",
        ),
        ("Annual report.pdf - Google Drive", "the title says “report”, as “draft the report” does"),
    ] {
        let opinion = opinion("draft the report", "firefox", title);
        if opinion.answer != Answer::Unsure {
            assert_eq!(opinion.reason, reason);
        }
    }
}

#[test]
fn own_entries_add_and_take_away() {
    let mut catalogue = Catalogue::default();
    let title = "Reddit - Dive into anything";
    let judge = |catalogue: &Catalogue, class: &str, title: &str| {
        let aim = Aim::new(catalogue, &["draft the report"], &[]);
        judge(catalogue, &aim, class, title).answer
    };
    assert_eq!(judge(&catalogue, "firefox", title), Answer::Drifting);
    catalogue.add(Entry::Site, "work", "reddit").unwrap();
    assert_eq!(judge(&catalogue, "firefox", title), Answer::Unsure);
    catalogue.add(Entry::Site, "video", "MyTube").unwrap();
    assert_eq!(judge(&catalogue, "firefox", "Cats - mytube"), Answer::Drifting);
    catalogue.add(Entry::Site, "forget", "Vimeo").unwrap();
    assert_eq!(judge(&catalogue, "firefox", "Ridge - Vimeo"), Answer::Unsure);
    catalogue.add(Entry::Program, "game", "quux-*").unwrap();
    assert_eq!(judge(&catalogue, "Quux-2", "level 3"), Answer::Drifting);
    let clash = catalogue.add(Entry::Site, "work", "mytube").unwrap_err().to_string();
    assert_eq!(clash, "\"mytube\" under «work» clashes with the same entry under «video»");
    catalogue.add(Entry::Site, "video", "mytube").unwrap();
}

#[test]
fn a_long_title_is_read_like_any_other() {
    let title = format!("{} - YouTube", "cats ".repeat(20_000));
    let opinion = opinion("draft the report", "firefox", &title);
    assert!(opinion.reason.chars().count() <= REASON_MAX);
}

/// The titles of the hostile fixtures, each beside a site that is known.
#[test]
fn hostile_titles_stay_text() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/judge/hostile_titles.jsonl");
    let rows = std::fs::read_to_string(file).unwrap();
    let mut count = 0;
    for line in rows.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let Some(title) = row["title"].as_str() else { continue };
        count += 1;
        for title in [title.to_owned(), format!("{title} - YouTube"), format!("YouTube: {title}")] {
            let opinion = opinion(&title, "firefox", &title);
            let shown = opinion.steps().into_iter().map(|step| step.detail).collect::<String>();
            for text in [&opinion.reason, &opinion.reading.name, &shown] {
                let bad = |c: char| {
                    c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
                };
                assert!(!text.contains(bad), "{title:?}: {text:?}");
            }
        }
    }
    assert!(count > 20, "{count}");
}

#[test]
fn odd_commitments_tie_nothing_and_break_nothing() {
    for commitment in ["🦀🔥", "", "   ", "写", "ありがとう", "\u{202e}\u{1b}[31m", "a", "1234"]
    {
        let opinion = opinion(commitment, "firefox", "Cats - YouTube");
        assert_eq!(opinion.answer, Answer::Drifting, "{commitment:?}");
    }
}

#[test]
fn the_catalogue_is_broad() {
    let (sites, classes) = catalogue::size();
    assert!(sites > 10_000 && classes > 5_000, "{sites}, {classes}");
    let names: std::collections::HashSet<&str> = catalogue::kind_names().collect();
    assert_eq!(names.len(), catalogue::kind_names().count());
}

proptest! {
    #[test]
    fn no_text_breaks_it(commitment in ".{0,80}", class in ".{0,20}", title in "\\PC{0,120}|.{0,120}") {
        let opinion = opinion(&commitment, &class, &title);
        prop_assert!(opinion.reason.chars().count() <= REASON_MAX);
        prop_assert!(!opinion.reason.chars().any(char::is_control));
        for step in opinion.steps() {
            prop_assert!(!step.step.is_empty());
        }
    }

    #[test]
    fn known_sites_in_any_shape_break_nothing(
        parts in proptest::collection::vec(
            prop_oneof![
                Just("YouTube".to_owned()), Just("Amazon.de: ".to_owned()), Just("r/rust".to_owned()),
                Just("哔哩哔哩".to_owned()), Just("_bilibili".to_owned()), Just(" - ".to_owned()),
                Just("｜".to_owned()), Just("É".to_owned()), Just("ß".to_owned()), "\\PC{0,8}",
            ],
            0..10,
        ),
    ) {
        opinion("Amazon 哔哩哔哩 YouTube report", "firefox", &parts.concat());
    }
}

use antidrift_tests::examples;

use super::*;

fn parsed(line: &[&str]) -> Parsed {
    let given: Vec<OsString> =
        std::iter::once("antidrift").chain(line.iter().copied()).map(Into::into).collect();
    parse(&given)
}

fn args(line: &[&str]) -> Command {
    match parsed(line) {
        Parsed::Args(args) => args.command.expect("a command"),
        Parsed::Help(text) | Parsed::Wrong(text) => panic!("{line:?}: {text}"),
    }
}

fn wrong(line: &[&str]) -> String {
    match parsed(line) {
        Parsed::Wrong(text) => text,
        Parsed::Help(text) => panic!("{line:?} is help: {text}"),
        Parsed::Args(args) => panic!("{line:?}: {args:?}"),
    }
}

fn start(line: &[&str]) -> Start {
    match args(&[&["start"], line].concat()) {
        Command::Start(start) => start,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_definition_is_sound() {
    use clap::CommandFactory as _;
    Args::command().debug_assert();
}

/// Every command with the words that name it, those within others too.
fn commands() -> Vec<(Vec<String>, clap::Command)> {
    use clap::CommandFactory as _;
    let mut found = vec![(Vec::new(), Args::command())];
    let mut next = 0;
    while let Some((path, command)) = found.get(next).cloned() {
        let below = command
            .get_subcommands()
            .map(|sub| ([&path[..], &[sub.get_name().to_owned()]].concat(), sub.clone()));
        found.extend(below);
        next += 1;
    }
    found
}

#[test]
fn every_command_has_examples_and_they_parse() {
    assert!(commands().len() > 30, "{:?}", commands());
    for (path, command) in commands() {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let help = help.replace("$BLOCK_BUTTON", "1");
        let lines = examples::lines(&help, "antidrift");
        for line in &lines {
            match parse(&line.iter().map(Into::into).collect::<Vec<_>>()) {
                Parsed::Args(_) => {}
                Parsed::Help(text) | Parsed::Wrong(text) => panic!("{line:?}: {text}"),
            }
        }
        let own = |line: &Vec<String>| line[1..].starts_with(&path);
        assert!(lines.iter().any(own), "antidrift {path:?} has no example of its own");
        // Wrapped, its columns would be lost.
        let wide = help.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "antidrift {path:?}");
    }
}

#[test]
fn texts_and_options_mix() {
    let it = start(&["draft", "the", "report", "--for", "25m", "--allow", "code,emacs", "now"]);
    assert_eq!(it.text, ["draft", "the", "report", "now"]);
    assert_eq!(it.timebox.as_deref(), Some("25m"));
    assert_eq!(it.allow, ["code,emacs"]);
    let it = start(&["--allow-title", "a, b", "x", "--", "-y", "--for"]);
    assert_eq!(
        (it.text, it.allow_title),
        (vec!["x".into(), "-y".into(), "--for".into()], vec!["a, b".to_owned()])
    );
}

#[test]
fn a_text_led_by_a_dash_works_after_two_dashes_and_the_message_says_so() {
    for text in ["- [ ] write chapter 2", "-x", "--help me", "--", "-"] {
        assert_eq!(start(&["--", text]).text, [text]);
    }
    assert_eq!(start(&["-"]).text, ["-"]);
    for text in ["- [ ] write chapter 2", "-x", "--help me"] {
        let message = wrong(&["start", text]);
        assert!(message.contains("after `--`"), "{text}: {message}");
    }
    let message = wrong(&["start", "x", "--next", "- a"]);
    assert!(message.contains("--next='-"), "{message}");
    assert_eq!(start(&["x", "--next=- a"]).next.as_deref(), Some("- a"));
}

#[test]
fn ontask_takes_one_selector_with_or_without_a_value() {
    let ontask = |line: &[&str]| match args(&[&["ontask"], line].concat()) {
        Command::Ontask(ontask) => ontask,
        other => panic!("{other:?}"),
    };
    assert_eq!(ontask(&["--class"]).class, Some(None));
    assert_eq!(ontask(&["--class", "firefox"]).class, Some(Some("firefox".into())));
    assert_eq!(ontask(&["--title"]).title, Some(None));
    assert!(ontask(&[]).class.is_none());
    wrong(&["ontask", "--class", "--title"]);
    wrong(&["ontask", "--domain"]);
    wrong(&["ontask", "firefox"]);
}

#[test]
fn what_is_allowed_is_listed_or_changed() {
    let allow = |line: &[&str]| match args(&[&["allow"], line].concat()) {
        Command::Allow(allow) => allow.what,
        other => panic!("{other:?}"),
    };
    assert!(allow(&[]).is_none());
    assert!(matches!(allow(&["list", "--json"]), Some(AllowWhat::List(AllowList { json: true }))));
    let Some(AllowWhat::Add(added)) = allow(&["add", "code,emacs", "vim", "--title", "a, b"])
    else {
        panic!("no addition")
    };
    assert_eq!(added.classes, ["code,emacs", "vim"]);
    assert_eq!(added.title, ["a, b"]);
    let line = ["rm", "--whole-title", "x, y", "--domain", "a,b", "--command", "c", "--", "-d"];
    let Some(AllowWhat::Rm(removed)) = allow(&line) else { panic!("no removal") };
    assert_eq!((removed.whole_title, removed.domain), (vec!["x, y".into()], vec!["a,b".into()]));
    assert_eq!((removed.command, removed.classes), (vec!["c".to_owned()], vec!["-d".to_owned()]));
}

#[test]
fn nonsense_is_refused_in_few_lines() {
    for line in [
        &["start", "--yes"][..],
        &["start", "x", "--for"],
        &["extend"],
        &["detour"],
        &["detour", "5m"],
        &["resume", "now"],
        &["complete", "--outcome", "great"],
        &["watch", "--no-notify", "--notify-only"],
        &["nothing"],
        &["end", "now"],
        &["allow", "add"],
        &["allow", "rm"],
        &["allow", "code"],
        &["allow", "add", "--title"],
        &["pick", "firefox"],
        &["windows", "firefox"],
    ] {
        let message = wrong(line);
        assert!(message.ends_with('\n') && message.lines().count() < 11, "{line:?}: {message}");
    }
}

#[test]
fn a_time_is_one_word_or_two_and_may_be_negative() {
    let times = |line: &[&str]| match args(line) {
        Command::Pause(Pause { time, rest }) => [time.into_iter().collect(), rest].concat(),
        Command::Extend(Extend { time, rest }) => [vec![time], rest].concat(),
        Command::Detour(Detour { time, text }) => [vec![time], text].concat(),
        other => panic!("{other:?}"),
    };
    for name in ["pause", "extend"] {
        for time in [&["10m"][..], &["until", "14:30"], &["until 14:30"], &["-5m"], &["--soon"]] {
            assert_eq!(times(&[&[name], time].concat()), time);
            let with_help = [&[name], time, &["--help"]].concat();
            assert!(matches!(parsed(&with_help), Parsed::Help(_)), "{with_help:?}");
        }
        assert!(matches!(parsed(&[name, "-h"]), Parsed::Help(_)));
    }
    for line in [&["5m", "look", "it", "up"][..], &["until", "14:30", "look"], &["-5m", "x"]] {
        assert_eq!(times(&[&["detour"], line].concat()), line);
    }
    match parsed(&["pause", "10m", "--socket", "/s"]) {
        Parsed::Args(args) => assert_eq!(args.socket.as_deref(), Some("/s".as_ref())),
        Parsed::Help(text) | Parsed::Wrong(text) => panic!("{text}"),
    }
    assert_eq!(start(&["x", "--for", "-5m"]).timebox.as_deref(), Some("-5m"));
    assert_eq!(start(&["x", "--for", "until 14:30"]).timebox.as_deref(), Some("until 14:30"));
}

#[test]
fn help_keeps_its_columns() {
    let Parsed::Help(text) = parsed(&["--help"]) else { panic!("no help") };
    for line in
        ["\n  pause        Pause", "\n  -h, --help  ", "\n  antidrift refocus              it"]
    {
        assert!(text.contains(line), "{line}\n{text}");
    }
    assert!(wrong(&["statsu"]).contains("\n  tip: "), "{}", wrong(&["statsu"]));
}

#[test]
fn help_is_help_and_the_socket_may_stand_anywhere() {
    for line in [
        &["--help"][..],
        &["start", "--help"],
        &["watch", "-h"],
        &["--version"],
        &["help"],
        &["allow", "--help"],
        &["allow", "rm", "-h"],
        &["pick", "-h"],
        &["windows", "-h"],
    ] {
        assert!(matches!(parsed(line), Parsed::Help(_)), "{line:?}");
    }
    let Parsed::Help(help) = parsed(&["help", "start"]) else { panic!("no help") };
    assert!(help.contains("antidrift start [OPTIONS] [TEXT]..."), "{help}");
    assert!(help.contains("\n  antidrift start --allow code,emacs"), "as it is laid out: {help}");
    assert!(wrong(&["help", "strat"]).contains("unrecognized subcommand 'strat'"));
    for line in [["--socket", "/s", "status"], ["status", "--socket", "/s"]] {
        match parsed(&line) {
            Parsed::Args(args) => assert_eq!(args.socket.as_deref(), Some("/s".as_ref())),
            Parsed::Help(text) | Parsed::Wrong(text) => panic!("{text}"),
        }
    }
}

#[test]
fn plain_lines_read_as_clap_reads_them() {
    let mut plain_ones = 0;
    for socket in [&[][..], &["--socket", "/s"], &["--socket", "-s"], &["--socket", ""]] {
        for line in [
            &["status"][..],
            &["status", "--json"],
            &["status", "--jsn"],
            &["refocus"],
            &["refocus", "--activate"],
            &["refocus", "--actviate"],
            &["ontask"],
            &["ontask", "--class"],
            &["pause"],
            &["pause", "10m"],
            &["resume"],
            &["resume", "now"],
            &["complete"],
            &["complete", "now"],
            &["end"],
            &["start"],
            &["watch"],
            &["sta"],
            &[],
        ] {
            let words = [&["antidrift"], socket, line].concat();
            let given: Vec<OsString> = words.iter().map(Into::into).collect();
            if let Some(args) = plain(&given) {
                plain_ones += 1;
                let by_clap = Args::try_parse_from(&given).unwrap();
                assert_eq!(format!("{args:?}"), format!("{by_clap:?}"), "{given:?}");
            }
        }
    }
    assert_eq!(plain_ones, 20);
}

#[test]
fn what_was_typed_wrong_is_repeated_without_what_acts_on_a_terminal() {
    let long = "x".repeat(120_000);
    for line in [
        &["\u{1b}]0;pwned\u{7}x"][..],
        &["complete", "--outcome", "\u{1b}]0;pwned\u{7}x"],
        &["complete", "--outcome", "\u{202e}x"],
        &["complete", "--outcome", &long],
    ] {
        let text = wrong(line);
        let acts = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(acts) && !text.contains("pwned"), "{text:?}");
        assert!(text.len() < 4000, "{}", text.len());
    }
}

#[test]
fn a_report_is_of_one_period_and_has_one_form() {
    for line in [
        &["report", "--week", "--month"][..],
        &["report", "--week", "--days", "3"],
        &["report", "--days", "0"],
        &["report", "--days", "367"],
        &["report", "--json", "--csv"],
        &["report", "--svg"],
        &["review", "--outcome", "fine"],
    ] {
        wrong(line);
    }
    let Command::Report(report) = args(&["report", "--days", "366", "--svg", "-"]) else {
        panic!()
    };
    assert_eq!((report.days, report.form.svg), (366, Some("-".into())));
    let Command::Report(report) = args(&["report"]) else { panic!() };
    assert_eq!((report.days, report.week, report.month), (7, false, false));
}

#[test]
fn the_manual_page_is_fresh() {
    use antidrift_tests::man;
    use clap::CommandFactory as _;
    let page = man::command(Args::command(), include_str!("args/manual.md"));
    man::check("antidrift.1", &page);
}

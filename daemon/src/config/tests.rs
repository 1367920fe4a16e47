use super::*;

pub(super) fn parse(text: &str) -> Result<Config, ConfigError> {
    Config::parse(Path::new("config.toml"), text, None)
}

#[test]
fn nothing_set_is_the_defaults() {
    let config = parse("").unwrap();
    assert_eq!(config.judge, Choice::Embedded);
    assert!(!config.prefilter);
    let secs = [config.judge_timeout, config.debounce, config.settle].map(|it| it.as_secs());
    assert_eq!(secs, [30, 10, 2]);
    assert_eq!(config.idle_after, Some(Duration::from_secs(300)));
    assert_eq!(config.contexts, Contexts::default());
}

#[test]
fn everything_set() {
    let config = parse(
        "[judge]\nbackend = \"command\"\ncommand = [\"/bin/judge\", \"-q\"]\n\
         timeout_secs = 0.25\n[drift]\ndebounce_secs = 0\nsettle_secs = 3600\n\
         many_context_classes = [\"+mybrowser\", \"-wine\"]\nignore_classes = [\"dock\"]",
    )
    .unwrap();
    assert_eq!(config.judge, Choice::Command(vec!["/bin/judge".into(), "-q".into()]));
    assert_eq!(config.judge_timeout, Duration::from_millis(250));
    assert_eq!((config.debounce, config.settle.as_secs()), (Duration::ZERO, 3600));
    assert!(config.contexts.is_many_context("MyBrowser") && config.contexts.is_ignored("dock"));
    assert!(!config.contexts.is_many_context("wine"));
}

#[test]
fn idleness_after_a_while_or_never() {
    for (text, expected) in [
        ("idle_secs = 60", Some(Duration::from_secs(60))),
        ("idle_secs = 0.5", Some(Duration::from_millis(500))),
        ("idle_secs = 3600", Some(Duration::from_secs(3600))),
        ("idle_secs = 0", None),
        ("idle_secs = 0.0", None),
        ("", Some(Duration::from_secs(300))),
    ] {
        assert_eq!(parse(&format!("[away]\n{text}")).unwrap().idle_after, expected, "{text}");
    }
}

#[test]
fn faults_are_named_with_line_and_column() {
    for (text, place, parts) in [
        ("[judge]\nbakend = \"none\"", "2:1", &["bakend", "did you mean `backend`?"][..]),
        (
            "[catalogue.sites]\nvidio = [\"MyTube\"]",
            "2:1",
            &["no kind «vidio»", "did you mean `video`?"],
        ),
        (
            "[catalogue.sites]\nvideo = [\"MyTube\"]\nwork = [\"mytube\"]",
            "3:9",
            &["mytube", "video", "work"],
        ),
        ("[catalogue.programs]\ngame = [\" \"]", "2:9", &["blank"]),
        ("[privacy]\nredact = [\"ok\", \"(\"]", "2:17", &["redact", "\"(\""]),
        ("[privacy]\nexclude_classes = [\"\"]", "2:20", &["exclude_classes"]),
        ("[privacy]\naudit_file = \"~/sent\"", "2:14", &["audit_file", "begins with /"]),
        ("[jugde]\n", "1:2", &["jugde", "did you mean `judge`?"]),
        ("[histroy]\nenabled = true", "1:2", &["did you mean `history`?"]),
        ("[notify]\nbudget = -1", "2:10", &["-1"]),
        ("[notify]\nrepeats = true", "2:1", &["did you mean `repeat`?"]),
        ("[judge]\nbackend = 5", "2:11", &["integer", "string"]),
        ("[judge]\ntimeout_secs = \"30\"", "2:16", &["a number of seconds"]),
        ("[drift]\nsettle_secs = -1", "2:15", &["between 0 and 3600", "-1"]),
        ("[drift]\nsettle_secs = 3600.5", "2:15", &["between 0 and 3600"]),
        ("[away]\nidle_secs = 3601", "2:13", &["between 0 and 3600", "3601"]),
        ("[away]\nidle = 3", "2:1", &["unknown field `idle`", "`idle_secs`"]),
        ("[drift]\nsettle_secs = nan", "2:15", &["between 0 and 3600"]),
        ("[judge]\ncommand = []", "2:11", &["must begin with a program"]),
        ("[judge]\ncommand = [\"\"]", "2:11", &["must begin with a program"]),
        ("[judge]\ncommand = \"judge -q\"", "2:11", &["string", "sequence"]),
        ("# é\n[judge\n", "2:7", &[]),
        (
            "[judge]\ncommand = [\"/bin/judge\"]",
            "2:11",
            &["[judge] command is set", "backend = \"command\""],
        ),
        ("[judge]\nmodel = \"haiku\"", "2:9", &["[judge] model is set", "such as backend"]),
        ("[judge.http]\nmodel = \"m\"", "1:1", &["[judge.http] is set", "backend = \"http\""]),
        ("[judge]\nhttp.model = \"m\"", "2:1", &["[judge.http] is set"]),
        ("[judge]\nbackend = \"none\"\n[coach.http]\nmodel = \"m\"", "3:1", &["[coach.http]"]),
        ("[judge]\nbackend = \"none\"\nbackend = \"none\"", "3:1", &["duplicate key"]),
        (
            "[drift]\nmany_context_classes = [\"+a\", \"b\"]",
            "2:31",
            &["many_context_classes", "\"b\"", "plain names replace"],
        ),
        ("[drift]\nignore_classes = [\"+ \"]", "2:19", &["ignore_classes", "no class name"]),
    ] {
        let message = parse(text).unwrap_err().to_string();
        assert!(message.starts_with(&format!("config.toml:{place}: ")), "{text}: {message}");
        assert!(!message.contains('\n'), "{message}");
        for part in parts {
            assert!(message.contains(part), "{text}: {message}");
        }
    }
}

#[test]
fn backends_and_the_coach_that_follows_them() {
    let config =
        parse("[judge]\nbackend = \"claude\"\nmodel = \"sonnet\"\nmax_per_session = 40").unwrap();
    assert_eq!((&config.judge, &config.coach), (&Choice::Tool("claude"), &Choice::Tool("claude")));
    assert_eq!(config.coach_model.as_deref(), Some("sonnet"));
    assert_eq!(config.max_per_session, Some(40));
    assert_eq!(config.coach_timeout, Duration::from_secs(60));

    let config = parse("[coach]\ncommand = [\"/bin/coach\"]\ntimeout_secs = 5").unwrap();
    assert_eq!(config.judge, Choice::Embedded);
    assert_eq!(config.coach, Choice::Command(vec!["/bin/coach".into()]));
    assert_eq!(parse("").unwrap().coach, Choice::None);
    assert_eq!(
        parse("[judge]\nbackend = \"auto\"\nmax_per_session = 0").unwrap().max_per_session,
        None
    );

    let text = "[judge]\nbackend = \"ollama\"\n[judge.http]\nmodel = \"qwen\"";
    let Choice::Http(endpoint) = parse(text).unwrap().judge else { panic!("no endpoint") };
    assert_eq!(
        (endpoint.base_url.as_str(), endpoint.model.as_str()),
        ("http://127.0.0.1:11434/v1", "qwen")
    );
    let text = "[judge]\nbackend = \"auto\"\n[judge.http]\nbase_url = \"http://localhost:1\"\nmodel = \"m\"";
    assert!(matches!(parse(text).unwrap().judge, Choice::Auto(Some(_))));
    let text = "[judge]\nbackend = \"http\"\n[judge.http]\nbase_url = \"http://example.com\"\nmodel = \"m\"";
    let Choice::Off { error, .. } = parse(text).unwrap().judge else { panic!("taken") };
    assert!(error.contains("[judge.http]") && error.contains("allow_remote"), "{error}");
}

/// What is set beside a backend that has no use for it is there to be switched to.
#[test]
fn a_named_backend_may_stand_beside_what_others_use() {
    let rest = "command = [\"/bin/judge\"]\nmodel = \"haiku\"\n[judge.http]\nmodel = \"m\"";
    let config = parse(&format!("[judge]\nbackend = \"embedded\"\n{rest}")).unwrap();
    assert_eq!(config.judge, Choice::Embedded);
    let unnamed = format!("[judge]\n{rest}");
    let config = Config::parse(Path::new("c"), &unnamed, Some("none")).unwrap();
    assert_eq!(config.judge, Choice::None);
    let config = parse("[judge]\nmodel = \"haiku\"\n[coach]\nbackend = \"claude\"").unwrap();
    assert_eq!(config.coach_model.as_deref(), Some("haiku"));
}

#[test]
fn own_catalogue_entries() {
    let config = parse(
        "[judge]\nprefilter = true\n[catalogue.sites]\nvideo = [\"MyTube\"]\n\
         work = [\"Reddit\"]\nforget = [\"Vimeo\"]\n[catalogue.programs]\ngame = [\"quux-*\"]",
    )
    .unwrap();
    assert!(config.prefilter);
    assert_ne!(config.catalogue, Catalogue::default());
}

#[test]
fn a_judge_that_cannot_be_had_is_off_and_says_so() {
    for (variable, file, expected, part) in [
        (Some("http"), "none", Some("http"), "base_url"),
        (Some("ollama"), "none", Some("ollama"), "no model"),
        (Some("clade"), "none", Some("clade"), "did you mean «claude»"),
        (Some("no\u{1b}thing"), "none", Some("no\u{1b}thing"), "no\\u{1b}thing"),
        (Some("command"), "none", Some("command"), "no command is set"),
        (None, "zzzzzz", Some("zzzzzz"), "there is no judge"),
        (Some("none"), "claude", None, ""),
        (None, "https", Some("https"), "did you mean «http»"),
    ] {
        let text = format!("[judge]\nbackend = \"{file}\"");
        let config = Config::parse(Path::new("c"), &text, variable).unwrap();
        match (config.judge, expected) {
            (Choice::Off { backend, error }, Some(expected)) => {
                assert_eq!(backend, expected);
                assert!(error.contains(part), "{error}");
            }
            (Choice::None, None) => {}
            (found, _) => panic!("{variable:?}, {file}: {found:?}"),
        }
    }
}

#[test]
fn only_the_default_file_may_be_missing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    assert!(Config::load(None, Some(&path), None).is_ok());
    assert!(Config::load(None, None, None).is_ok());
    let error = Config::load(Some(&path), None, None).unwrap_err().to_string();
    assert!(error.contains("config.toml") && error.contains("No such file"), "{error}");
    // A directory is no file.
    assert!(Config::load(None, Some(dir.path()), None).is_err());
    std::fs::write(&path, b"[judge]\n# \xff").unwrap();
    let error = Config::load(None, Some(&path), None).unwrap_err().to_string();
    assert!(error.contains(":2:3: the file is not UTF-8"), "{error}");
    assert!(Config::load(None, Some(Path::new("/dev/zero")), None).is_err());
}

#[test]
fn what_is_kept() {
    let history = |text: &str| parse(text).unwrap().history;
    assert_eq!(history(""), HistorySettings::default());
    let all = "[history]\nenabled = false\ntitles = true\nkeep_days = 30";
    let expected = HistorySettings { enabled: false, titles: true, keep_days: Some(30) };
    assert_eq!(history(all), expected);
    assert_eq!(history("[history]\nkeep_days = 0").keep_days, None, "0: for ever");
}

#[test]
fn telling_people() {
    let notify = |text: &str| parse(text).unwrap().notify;
    assert_eq!(notify(""), NotifySettings::default());
    let all = "[notify]\nbudget = 3\nrepeat = false\non_return = true\nactivate = false";
    assert_eq!(
        notify(all),
        NotifySettings { budget: Some(3), repeat: false, on_return: true, activate: false }
    );
    assert_eq!(notify("[notify]\nbudget = 0").budget, None, "0: no limit");
}

//! The table of keys is what the parser knows, no more and no less.

use super::{
    keys::{TABLES, Value},
    tests::parse,
    *,
};

/// The names that the parser would have taken in this table, from its own complaint.
fn known(table: &str) -> Vec<String> {
    let text = format!("[{table}]\nzzzzzzzz = 1");
    let message = parse(&text).unwrap_err().to_string();
    let names = message.split_once("expected ").unwrap_or_else(|| panic!("{message}")).1;
    names.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_key_that_is_read_is_explained() {
    for table in TABLES.iter().filter(|table| !table.name.starts_with("catalogue.")) {
        let name = table.name.replace("NAME", "writing");
        let mut known = known(&name);
        // A table of its own.
        known.retain(|key| key != "http");
        let mut explained: Vec<String> = table.keys.iter().map(|it| it.name.to_owned()).collect();
        known.sort();
        explained.sort();
        assert_eq!(explained, known, "[{name}]");
    }
    let mut tables: Vec<&str> =
        TABLES.iter().filter_map(|table| table.name.split('.').next()).collect();
    tables.dedup();
    tables.sort_unstable();
    tables.dedup();
    let message = parse("zzzzzzzz = 1").unwrap_err().to_string();
    let mut known: Vec<&str> = message.split_once("expected").unwrap().1.split('`').collect();
    known = known.into_iter().skip(1).step_by(2).collect();
    known.sort_unstable();
    assert_eq!(tables, known);
}

/// The configuration but for what says where a value comes from.
fn in_force(text: &str) -> String {
    let config = parse(text).unwrap();
    format!("{:?}", Config { settings: Vec::new(), ..config })
}

#[test]
fn the_defaults_are_those_that_the_table_names() {
    for table in TABLES {
        for key in table.keys {
            if let Value::Default(literal) = key.value {
                let text = format!("[{}]\n{} = {literal}", table.name, key.name);
                assert!(in_force(&text) == in_force(""), "{text}");
            }
        }
    }
}

#[test]
fn the_sample_changes_nothing_until_its_lines_are_taken_in() {
    let sample = sample();
    assert!(in_force(&sample) == in_force(""));
    assert!(sample.lines().all(|line| line.chars().count() <= 100), "{sample}");
    let taken_in: Vec<&str> = sample
        .lines()
        .map(|line| {
            line.strip_prefix('#').filter(|rest| !rest.starts_with([' ', '#'])).unwrap_or(line)
        })
        .collect();
    let config = parse(&taken_in.join("\n")).unwrap();
    assert_eq!(config.coach, Choice::Tool("llm"));
    assert_eq!(config.presets.len(), 1);
    assert_eq!(config.presets[0].name, "writing");
    for table in TABLES {
        let heading = table.name.replace("NAME", "writing");
        assert!(sample.contains(&format!("[{heading}]\n")), "{heading}");
    }
}

#[test]
fn every_value_is_told_with_who_says_so() {
    let text = "[judge]\nbackend = \"none\"\n\n[drift]\nsettle_secs = 1.5\nignore_classes = [\n  \
                \"+a\", # why\n  \"+b\"]\n[catalogue.sites]\nwork = [\"Our \\\"Wiki\\\"\"]\n\
                [presets.\"mañana\"]\nfor = \"1h\"";
    let config = parse(text).unwrap();
    let told = |table: &str, name: &str| {
        let found = config.settings.iter().find(|it| it.table == table && it.name == name);
        let found = found.unwrap_or_else(|| panic!("{table}.{name}"));
        (found.literal.as_deref(), found.origin.to_string())
    };
    assert_eq!(told("judge", "backend"), (Some("\"none\""), "config.toml:2".into()));
    assert_eq!(told("judge", "timeout_secs"), (Some("30"), "default".into()));
    assert_eq!(told("judge", "model"), (None, "default".into()));
    assert_eq!(told("drift", "settle_secs"), (Some("1.5"), "config.toml:5".into()));
    assert_eq!(told("drift", "ignore_classes"), (Some("[\"+a\", \"+b\"]"), "config.toml:6".into()));
    assert_eq!(told("presets.mañana", "for"), (Some("\"1h\""), "config.toml:12".into()));

    // The dump is a file that would give the same.
    assert!(in_force(&dump(&config.settings)) == in_force(text));
    assert!(dump(&config.settings).contains("\nsettle_secs = 1.5  # config.toml:5\n"));

    let by_variable = Config::parse(Path::new("c"), text, Some("embedded")).unwrap();
    let backend = by_variable.settings.iter().find(|it| it.name == "backend").unwrap();
    assert_eq!(backend.literal.as_deref(), Some("\"embedded\""));
    assert_eq!(backend.origin.to_string(), "$ANTIDRIFT_AI_BACKEND");
}

#[test]
fn what_has_changed_is_told_by_key() {
    let settings = |text: &str| parse(text).unwrap().settings;
    let before = settings("[judge]\nprefilter = true\n[presets.a]\ntext = \"x\"");
    assert_eq!(changed(&before, &before), Vec::<String>::new());
    // Written out, a default is the same.
    let same = settings("[judge]\nprefilter = true\ntimeout_secs = 30\n[presets.a]\ntext = \"x\"");
    assert_eq!(changed(&before, &same), Vec::<String>::new());
    let after = settings(
        "[notify]\nbudget = 3\n[presets.b]\ntext = \"x\"\n[catalogue.sites]\nwork = [\"W\"]",
    );
    let mut changed = changed(&before, &after);
    changed.sort();
    assert_eq!(changed, ["catalogue.sites", "judge.prefilter", "notify.budget", "presets"]);
}

#[test]
fn presets_are_read_as_they_are_meant() {
    let text = "[presets.writing]\ntext = \"write the thesis\"\nnext = \"open it\"\n\
                success = \"a page\"\nfor = \"1h30\"\nallow = [\"libreoffice\"]\n\
                allow_titles = [\"Thesis\"]\nallow_domains = [\"https://Docs.rs/x\"]\n\
                allow_commands = [\"/usr/bin/nvim\"]\n[presets.mail]\n";
    let presets = parse(text).unwrap().presets;
    assert_eq!(presets.len(), 2);
    assert_eq!((presets[0].name.as_str(), &presets[0].text), ("mail", &None));
    let writing = &presets[1];
    assert_eq!(writing.timebox_secs, Some(5400));
    assert_eq!(writing.success_condition.as_deref(), Some("a page"));
    assert_eq!(writing.allowed.window_title_substrings, ["Thesis"]);
    assert_eq!(writing.allowed.domains, ["docs.rs"]);
    assert_eq!(writing.allowed.commands, ["nvim"]);
    assert_eq!(writing.allowed.window_classes, ["libreoffice"]);
}

#[test]
fn a_fault_in_a_preset_is_named_with_its_place() {
    let long = "x".repeat(5000);
    for (text, place, part) in [
        ("[presets.\"a b\"]\n", "1:10", "a preset's name is of at most 64 letters"),
        ("[presets.a]\nfor = \"soon\"", "2:7", "for: «soon» is no duration; use 25m"),
        ("[presets.a]\nfor = \"25h\"", "2:7", "more than a day"),
        ("[presets.a]\nfor = \"0m\"", "2:7", "no time at all"),
        ("[presets.a]\nfro = \"25m\"", "2:1", "did you mean `for`?"),
        ("[presets.a]\nallow_domains = [\"two words\"]", "1:1", "allow_domains[0]: must be a host"),
        ("[presets.a]\nallow = [\"\"]", "1:1", "allow[0]: must not be blank"),
        ("[presets.a]\nnext = 5", "2:8", "expected a string"),
        (&format!("[presets.a]\ntext = \"{long}\""), "1:1", "text: must be at most 4096 bytes"),
    ] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.starts_with(&format!("config.toml:{place}: ")), "{text}: {error}");
        assert!(error.contains(part), "{text}: {error}");
    }
    let many: String =
        (0..30).map(|n| format!("[presets.p{n}]\ntext = \"{}\"\n", "x".repeat(3000))).collect();
    let error = parse(&many).unwrap_err().to_string();
    assert!(error.contains("all together may have at most 65536 bytes"), "{error}");
}

#[test]
fn what_the_readme_shows_has_no_fault() {
    let readme = include_str!("../../../README.md");
    let samples: Vec<&str> = readme.split("```toml\n").skip(1).collect();
    assert_eq!(samples.len(), 1);
    let sample = samples[0].split("```").next().unwrap();
    parse(sample).unwrap();
}

//! Every key of the configuration, with its default and what it does: the one place that
//! `antidrift config init`, `config dump` and the manual page take them from.

/// A table of the configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name. A part in capitals is the user's to choose.
    pub name: &'static str,
    /// What it is for.
    pub doc: &'static str,
    /// Its keys. In the catalogue they are only examples: there a key is a kind of sites or
    /// programs.
    pub keys: &'static [Key],
}

/// A key of the configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it is if it is not set.
    pub value: Value,
    /// What it does, in whole sentences, with its unit and bounds.
    pub doc: &'static str,
}

/// What a key is worth if it is not set, as it would stand in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// This.
    Default(&'static str),
    /// Nothing. This is an example.
    Unset(&'static str),
}

impl Table {
    /// Whether the file may have any number of these, or keys of any name in it.
    pub fn is_open(&self) -> bool {
        self.name.starts_with("catalogue.") || self.name == PRESETS
    }
}

/// The table of one preset.
pub const PRESETS: &str = "presets.NAME";

const fn key(name: &'static str, value: Value, doc: &'static str) -> Key {
    Key { name, value, doc }
}

use Value::{Default as Is, Unset};

/// Every table, in the order in which a person would read them.
pub const TABLES: &[Table] = &[
    Table {
        name: "judge",
        doc: "Who judges a window that nothing else decides.",
        keys: &[
            key(
                "backend",
                Is("\"embedded\""),
                "\"embedded\": rules in the daemon; nothing leaves it. \"none\": only what you allow \
                 counts. Or a model: claude, codex, gemini, llm, aichat (command-line tools), http \
                 (an OpenAI-compatible server), ollama (the same on its local port), command (a \
                 program of yours), auto (the first that is there). $ANTIDRIFT_AI_BACKEND wins over \
                 this.",
            ),
            key(
                "model",
                Unset("\"haiku\""),
                "The model that a tool is told to use. Unset: the tool's own default.",
            ),
            key(
                "command",
                Unset("[\"/path/to/judge\", \"--quick\"]"),
                "For backend \"command\": the program and its arguments. It gets the question on \
                 standard input and answers {\"on_task\": true, \"reason\": \"…\"} on standard output.",
            ),
            key("timeout_secs", Is("30"), "How long a judgement may take. Seconds, 0 to 3600."),
            key(
                "prefilter",
                Is("false"),
                "Ask the embedded judge first, and the model only where that is unsure.",
            ),
            key(
                "max_per_session",
                Is("0"),
                "Most questions to a model in one session; then the embedded judge goes on alone. \
                 0: no limit.",
            ),
        ],
    },
    Table {
        name: "judge.http",
        doc: "The server of backend \"http\" (and \"ollama\", if it is not on its usual port).",
        keys: &[
            key(
                "base_url",
                Unset("\"http://127.0.0.1:8080/v1\""),
                "Where it is, up to what comes before /chat/completions.",
            ),
            key("model", Unset("\"qwen3\""), "The name of the model there."),
            key(
                "api_key_env",
                Unset("\"MY_KEY\""),
                "The environment variable of the daemon that holds the key. Keys are never in \
                 arguments or logs.",
            ),
            key(
                "api_key_file",
                Unset("\"/path/to/key\""),
                "The file that holds the key. Not beside api_key_env.",
            ),
            key(
                "allow_remote",
                Is("false"),
                "Also speak to another machine without https, where everybody on the way can read \
                 along.",
            ),
        ],
    },
    Table {
        name: "coach",
        doc: "Who proposes a first step (antidrift coach, start --coach). As the judge, if that is \
              a model; else nobody.",
        keys: &[
            key("backend", Unset("\"llm\""), "As under [judge]; not \"embedded\"."),
            key("model", Unset("\"haiku\""), "As under [judge]. Unset: the judge's."),
            key("command", Unset("[\"/path/to/coach\"]"), "As under [judge]."),
            key("timeout_secs", Is("60"), "How long a proposal may take. Seconds, 0 to 3600."),
        ],
    },
    Table {
        name: "coach.http",
        doc: "As [judge.http], for the coach.",
        keys: &[
            key("base_url", Unset("\"http://127.0.0.1:8080/v1\""), "As under [judge.http]."),
            key("model", Unset("\"qwen3\""), "As under [judge.http]."),
            key("api_key_env", Unset("\"MY_KEY\""), "As under [judge.http]."),
            key("api_key_file", Unset("\"/path/to/key\""), "As under [judge.http]."),
            key("allow_remote", Is("false"), "As under [judge.http]."),
        ],
    },
    Table {
        name: "privacy",
        doc: "What no model is told. Titles of private browser windows and password managers are \
              never sent, whatever stands here.",
        keys: &[
            key(
                "exclude_classes",
                Is("[]"),
                "Window classes that are never sent, as in [\"thunderbird\"].",
            ),
            key(
                "redact",
                Is("[]"),
                "Regular expressions; what matches is blotted out of all that is sent. One that does \
                 not compile stops the start.",
            ),
            key(
                "audit_file",
                Unset("\"/path/to/sent.jsonl\""),
                "Write down here what was sent. A whole path; at 1 MiB it becomes FILE.old.",
            ),
        ],
    },
    Table {
        name: "drift",
        doc: "When a window is looked at.",
        keys: &[
            key(
                "debounce_secs",
                Is("10"),
                "At most one judge is started in this time. Seconds, 0 to 3600.",
            ),
            key(
                "settle_secs",
                Is("2"),
                "A window that keeps the focus for less is passed through and not judged. Seconds, 0 \
                 to 3600.",
            ),
            key(
                "many_context_classes",
                Unset("[\"+mybrowser\"]"),
                "Window classes that show many things, such as browsers and terminals, and so are \
                 judged by title: \"+name\" adds to the built-in list and \"-name\" takes away; \
                 names without a sign replace it.",
            ),
            key(
                "ignore_classes",
                Unset("[\"+my-launcher\"]"),
                "Window classes that are never looked at, such as launchers and docks; signs as \
                 above.",
            ),
        ],
    },
    Table {
        name: "away",
        doc: "Nobody drifts who is away. A locked or blank screen and a sleeping machine count \
              always.",
        keys: &[key(
            "idle_secs",
            Is("300"),
            "Without input for so long you are away, unless an on-task window fills the screen. \
             Seconds, up to 3600; 0: never.",
        )],
    },
    Table {
        name: "notify",
        doc: "What you are told of, and how loudly.",
        keys: &[
            key(
                "budget",
                Is("12"),
                "Most popups in one session; after that alerts show in the bar and in antidrift \
                 watch only. 0: no limit.",
            ),
            key("repeat", Is("true"), "Popups also for reminders of an alert that still stands."),
            key(
                "on_return",
                Is("false"),
                "A quiet word when you come back to the task by yourself.",
            ),
            key(
                "activate",
                Is("true"),
                "«Back to task» raises the window that you were on task in.",
            ),
        ],
    },
    Table {
        name: "history",
        doc: "Finished sessions, kept in the state directory for antidrift report. antidrift forget \
              wipes them.",
        keys: &[
            key("enabled", Is("true"), "Keep them."),
            key("titles", Is("false"), "Keep window titles too, and not only window classes."),
            key("keep_days", Is("365"), "For how long. Days; 0: for ever."),
        ],
    },
    Table {
        name: "catalogue.sites",
        doc: "More sites for the embedded judge, by kind: names as they stand in titles, or hosts.",
        keys: &[
            key(
                "work",
                Unset("[\"Our Wiki\", \"wiki.example.org\"]"),
                "The sites of a kind: work, video, game, …",
            ),
            key("forget", Unset("[\"Reddit\"]"), "Built-in sites that the judge shall not know."),
        ],
    },
    Table {
        name: "catalogue.programs",
        doc: "More programs for the embedded judge, by kind: window classes; a * at the end stands \
              for anything.",
        keys: &[
            key("game", Unset("[\"mygame-*\"]"), "The programs of a kind: work, video, game, …"),
            key("forget", Unset("[\"steam\"]"), "Built-in programs that the judge shall not know."),
        ],
    },
    Table {
        name: "presets.NAME",
        doc: "A beginning of a session: antidrift start @NAME. What is given on the command line \
              wins; what is allowed there is allowed too. NAME is of letters, digits, - and _.",
        keys: &[
            key(
                "text",
                Unset("\"write the thesis\""),
                "What you set out to do, where antidrift start @NAME says nothing else.",
            ),
            key("next", Unset("\"open the draft\""), "The first step."),
            key("success", Unset("\"one more page\""), "How you will know that it is done."),
            key("for", Unset("\"50m\""), "How long: 25m, 1h30, 90s; at most a day."),
            key("allow", Unset("[\"libreoffice\"]"), "Window classes that are on task."),
            key("allow_titles", Unset("[\"Thesis\"]"), "Parts of titles that are on task."),
            key("allow_domains", Unset("[\"docs.example.org\"]"), "Hosts that are on task."),
            key("allow_commands", Unset("[\"nvim\"]"), "Programs in a terminal that are on task."),
        ],
    },
];

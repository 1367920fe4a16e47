//! The command-line tools of language models, one row each: how it is called, what it wraps its
//! answer in. Facts of the tools, not of ours; whoever adds one adds a row.
//!
//! Every argument is constant: the prompt goes through standard input, since the arguments of a
//! process can be read by everybody.

use super::{
    envelope::Envelope,
    prompt::{SYSTEM, Task},
};

/// An argument or a variable's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// As it stands.
    Text(&'static str),
    /// [`SYSTEM`].
    System,
    /// A file that holds it.
    SystemFile,
    /// The task's schema.
    Schema,
    /// A file that holds it.
    SchemaFile,
    /// A file that holds this text.
    File(&'static str, &'static str),
    /// The model, where one was named; else this word and the one before it are left out.
    Model,
    /// The model, else this one.
    ModelOr(&'static str),
}

use Word::{File, Model, ModelOr, Schema, SchemaFile, System, SystemFile, Text};

/// A tool.
#[derive(Debug)]
pub struct Tool {
    /// Its name in the configuration, and the program.
    pub name: &'static str,
    /// Its arguments.
    pub args: &'static [Word],
    /// Arguments for an older version, which refuses one of the above as unknown.
    pub older: Option<&'static [Word]>,
    /// Variables that are set for it.
    pub env: &'static [(&'static str, Word)],
    /// What its answer comes in.
    pub envelope: Envelope,
    /// How it says that nobody is logged in.
    pub login: Login,
    /// What prints the flags above.
    pub help: &'static [&'static str],
}

/// How a tool says that it has no login, beside the words that are common to all.
#[derive(Clone, Copy, Debug, Default)]
pub struct Login {
    /// Exit statuses that mean it.
    pub statuses: &'static [i32],
    /// Words of its own for it, in lower case.
    pub words: &'static [&'static str],
    /// What a person does then.
    pub todo: &'static str,
}

/// A policy for gemini that takes every tool away.
const NO_TOOLS: &str = "[[rule]]\ntoolName = \"*\"\ndecision = \"deny\"\npriority = 999\n";

/// All tools that are known by name, in the order in which `auto` looks for them.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "claude",
        args: &[
            Text("-p"),
            Text("--output-format"),
            Text("json"),
            Text("--json-schema"),
            Schema,
            Text("--system-prompt"),
            System,
            Text("--tools"),
            Text(""),
            Text("--safe-mode"),
            Text("--strict-mcp-config"),
            Text("--disable-slash-commands"),
            Text("--no-session-persistence"),
            Text("--model"),
            ModelOr("haiku"),
        ],
        // Never without `--tools ''`: a title may pull in files.
        older: Some(&[
            Text("-p"),
            Text("--output-format"),
            Text("json"),
            Text("--setting-sources"),
            Text(""),
            Text("--strict-mcp-config"),
            Text("--tools"),
            Text(""),
        ]),
        env: &[
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", Text("1")),
            ("CLAUDE_CODE_DISABLE_ATTACHMENTS", Text("1")),
            ("CLAUDE_CODE_MAX_RETRIES", Text("1")),
        ],
        envelope: Envelope::Claude,
        login: Login { statuses: &[], words: &[], todo: "run claude once and log in" },
        help: &["--help"],
    },
    Tool {
        name: "codex",
        args: &[
            Text("exec"),
            Text("--skip-git-repo-check"),
            Text("--ephemeral"),
            Text("--ignore-user-config"),
            Text("--ignore-rules"),
            Text("--sandbox"),
            Text("read-only"),
            Text("--color"),
            Text("never"),
            Text("--output-schema"),
            SchemaFile,
            Text("-c"),
            Text("project_doc_max_bytes=0"),
            Text("-c"),
            Text("web_search=\"disabled\""),
            // An unknown name is ignored here, and fatal with --disable.
            Text("-c"),
            Text("features.shell_tool=false"),
            Text("-c"),
            Text("features.view_image=false"),
            Text("-c"),
            Text("features.apps=false"),
            Text("-c"),
            Text("features.hooks=false"),
            Text("-c"),
            Text("features.browser_use=false"),
            Text("-c"),
            Text("features.computer_use=false"),
            Text("-c"),
            Text("features.image_generation=false"),
            Text("-c"),
            Text("features.unified_exec=false"),
            Text("-c"),
            Text("features.shell_snapshot=false"),
            Text("-c"),
            Text("features.plugins=false"),
            Text("-c"),
            Text("features.multi_agent=false"),
            Text("-c"),
            Text("features.goals=false"),
            Text("-m"),
            Model,
            Text("-"),
        ],
        older: None,
        env: &[],
        envelope: Envelope::Plain,
        login: Login { statuses: &[], words: &[], todo: "run codex login" },
        help: &["exec", "--help"],
    },
    Tool {
        name: "llm",
        args: &[
            Text("-n"),
            Text("--no-stream"),
            Text("--schema"),
            Schema,
            Text("-s"),
            System,
            Text("-m"),
            Model,
        ],
        older: Some(&[Text("-n"), Text("--no-stream"), Text("-s"), System, Text("-m"), Model]),
        env: &[],
        envelope: Envelope::Plain,
        login: Login { statuses: &[], words: &["no key found"], todo: "run llm keys set NAME" },
        help: &["prompt", "--help"],
    },
    Tool {
        name: "aichat",
        args: &[Text("-S"), Text("--prompt"), System, Text("-m"), Model],
        older: None,
        env: &[("AICHAT_SAVE", Text("false"))],
        envelope: Envelope::Plain,
        login: Login {
            statuses: &[],
            // Without a configuration there is no key either.
            words: &["failed to load config"],
            todo: "run aichat once and set it up",
        },
        help: &["--help"],
    },
    Tool {
        name: "gemini",
        args: &[
            Text("-o"),
            Text("json"),
            Text("--skip-trust"),
            Text("-e"),
            Text("none"),
            Text("--allowed-mcp-server-names"),
            Text("none"),
            // Not by settings: it passes over them where others may write to a directory above.
            Text("--policy"),
            File("gemini-policy.toml", NO_TOOLS),
            Text("-m"),
            Model,
        ],
        older: None,
        env: &[("GEMINI_CLI_NO_RELAUNCH", Text("true")), ("GEMINI_SYSTEM_MD", SystemFile)],
        envelope: Envelope::Gemini,
        login: Login {
            statuses: &[41],
            words: &["auth method"],
            todo: "run gemini once and log in",
        },
        help: &["--help"],
    },
];

/// The tool with this name.
pub fn tool(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

impl Tool {
    /// The arguments for a task. `files` makes a file with a name and a content and says where.
    ///
    /// # Errors
    ///
    /// A file that cannot be made.
    pub fn arguments<E>(
        &self,
        args: &[Word],
        task: Task,
        model: Option<&str>,
        files: &mut dyn FnMut(&str, &str) -> Result<String, E>,
    ) -> Result<Vec<String>, E> {
        let mut words: Vec<String> = Vec::new();
        for word in args {
            match self.word(*word, task, model, files)? {
                Some(word) => words.push(word),
                // The flag before it goes with it.
                None => drop(words.pop()),
            }
        }
        Ok(words)
    }

    /// The variables for a task; see [`arguments`](Self::arguments).
    ///
    /// # Errors
    ///
    /// A file that cannot be made.
    pub fn variables<E>(
        &self,
        task: Task,
        files: &mut dyn FnMut(&str, &str) -> Result<String, E>,
    ) -> Result<Vec<(String, String)>, E> {
        let mut variables = Vec::new();
        for (name, word) in self.env {
            if let Some(value) = self.word(*word, task, None, files)? {
                variables.push(((*name).to_owned(), value));
            }
        }
        Ok(variables)
    }

    fn word<E>(
        &self,
        word: Word,
        task: Task,
        model: Option<&str>,
        files: &mut dyn FnMut(&str, &str) -> Result<String, E>,
    ) -> Result<Option<String>, E> {
        Ok(Some(match word {
            Text(text) => text.to_owned(),
            System => SYSTEM.to_owned(),
            SystemFile => files("system.md", SYSTEM)?,
            Schema => task.schema().to_owned(),
            SchemaFile => files(&format!("{}-schema.json", task.word()), task.schema())?,
            File(name, text) => files(name, text)?,
            ModelOr(default) => model.unwrap_or(default).to_owned(),
            Model => return Ok(model.map(str::to_owned)),
        }))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn words(tool: &Tool, task: Task, model: Option<&str>) -> Vec<String> {
        let mut files = |name: &str, _: &str| Ok::<_, ()>(format!("/files/{name}"));
        tool.arguments(tool.args, task, model, &mut files).unwrap()
    }

    #[test]
    fn a_model_is_named_only_where_one_is() {
        let codex = tool("codex").unwrap();
        assert!(
            words(codex, Task::Judge, Some("m1")).ends_with(&["-m", "m1", "-"].map(Into::into))
        );
        let plain = words(codex, Task::Judge, None);
        assert!(!plain.contains(&"-m".to_owned()) && plain.last().unwrap() == "-");
        assert!(plain.contains(&"/files/judge-schema.json".to_owned()));
        let claude = words(tool("claude").unwrap(), Task::Coach, None);
        assert_eq!(claude.last().unwrap(), "haiku");
        assert!(claude.contains(&Task::Coach.schema().to_owned()));
    }

    #[test]
    fn claude_is_never_called_with_tools() {
        let claude = tool("claude").unwrap();
        for args in [claude.args, claude.older.unwrap()] {
            let at = args.iter().position(|word| *word == Text("--tools")).unwrap();
            assert_eq!(args[at + 1], Text(""));
        }
    }

    #[test]
    fn names_stand_once() {
        for (at, tool) in TOOLS.iter().enumerate() {
            assert!(TOOLS[..at].iter().all(|other| other.name != tool.name));
        }
    }
}

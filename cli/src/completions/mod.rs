//! `antidrift completions`: what a shell is to offer while a command line is typed.
//!
//! The commands and options come from the parser's definition. For words that only the daemon knows
//! the script asks `antidrift __complete KIND`, which is in no help: see [`words`].

pub(crate) mod words;

use clap::{Command, CommandFactory as _, ValueHint};
use clap_complete::Shell;

use self::words::Kind;
use crate::{
    args::{Args, ForShell},
    exit::Failure,
    out,
};

/// Where the daemon's words go: the command, the argument, the words.
const PLACES: [(&[&str], &str, Kind); 5] = [
    (&["start"], "allow", Kind::Windows),
    (&["start"], "text", Kind::Presets),
    (&["allow", "add"], "classes", Kind::Windows),
    (&["allow", "rm"], "classes", Kind::Classes),
    (&["ontask"], "class", Kind::Windows),
];

/// Prints the script for a shell.
pub(crate) fn run(shell: ForShell) -> Result<(), Failure> {
    out::print(&script(shell))
}

pub(crate) fn script(shell: ForShell) -> String {
    let mut command = hinted(Args::command());
    for (path, arg, kind) in PLACES {
        command = at(command, path, |it| it.mut_arg(arg, |arg| arg.value_hint(hint(kind))));
    }
    let made_by = |generator: Shell, mut command: Command| {
        let mut script = Vec::new();
        clap_complete::generate(generator, &mut command, "antidrift", &mut script);
        String::from_utf8_lossy(&script).into_owned()
    };
    match shell {
        ForShell::Bash => made_by(Shell::Bash, command) + include_str!("words.bash"),
        ForShell::Zsh => {
            let script = made_by(Shell::Zsh, command)
                .replace(":_users'", ": _antidrift_words classes'")
                .replace(":_hosts'", ": _antidrift_words windows'")
                .replace(":_urls'", ": _antidrift_words presets'")
                // With the second colon no option would be offered behind the first such word.
                .replace("\n'*::", "\n'*:");
            // Before the first function: the last lines run the completion. Further in, `words` are
            // those of a subcommand.
            let begun = "_antidrift() {\n    local -a _antidrift_typed=(\"${words[@]}\")";
            script.replacen("_antidrift() {", &format!("{WORDS_ZSH}\n{begun}"), 1)
        }
        ForShell::Fish => {
            let script = made_by(Shell::Fish, command)
                .replace("(__fish_complete_users)", "(__antidrift_words classes)")
                .replace("(__fish_print_hostnames)", "(__antidrift_words windows)");
            script + include_str!("words.fish")
        }
    }
}

const WORDS_ZSH: &str = include_str!("words.zsh");

/// Hints that nothing else here has, to be found again in the script.
fn hint(kind: Kind) -> ValueHint {
    match kind {
        Kind::Classes => ValueHint::Username,
        Kind::Windows => ValueHint::Hostname,
        Kind::Presets => ValueHint::Url,
    }
}

/// Offers files where a file is meant, and nowhere else.
fn hinted(command: Command) -> Command {
    command
        .mut_args(|arg| {
            if !arg.get_action().takes_values() {
                return arg;
            }
            let names = arg.get_value_names().unwrap_or_default();
            let file = names.iter().any(|name| name == "PATH" || name == "FILE");
            arg.value_hint(if file { ValueHint::FilePath } else { ValueHint::Other })
        })
        .mut_subcommands(hinted)
}

fn at(command: Command, path: &[&str], change: impl FnOnce(Command) -> Command) -> Command {
    let Some((first, rest)) = path.split_first() else { return change(command) };
    command.mut_subcommand(first, |it| at(it, rest, change))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_gets_the_commands_and_the_daemons_words() {
        for (shell, asked) in [(ForShell::Bash, 1), (ForShell::Zsh, 5), (ForShell::Fish, 5)] {
            let script = script(shell);
            for command in Args::command().get_subcommands() {
                assert!(script.contains(command.get_name()), "{shell:?}: {command}");
            }
            let words = match shell {
                ForShell::Bash => script.matches("antidrift __complete \"$kind\"").count(),
                ForShell::Zsh => script.matches(": _antidrift_words ").count(),
                ForShell::Fish => script.matches("\"(__antidrift_words ").count(),
            };
            assert_eq!(words, asked, "{shell:?}");
            for left in ["_users", "_hosts", "_urls", "_hostnames"] {
                assert!(!script.contains(left), "{shell:?}: {left}");
            }
        }
    }
}

//! The page of a program, made of what reads its command line.

use clap::{Arg, Command, builder::StyledStr};
use roff::{Inline, bold, italic, roman};

use super::Page;

/// A page about this program, its commands and theirs. `more` is Markdown: sections behind it.
pub fn command(mut command: Command, more: &str) -> Page {
    command.build();
    let name = command.get_name().to_owned();
    let about = text(command.get_about());
    let mut page = Page::new(&name, "1", &lower(about.trim_end_matches('.')));
    page.section("SYNOPSIS");
    page.paragraph(usage(&mut command));
    page.section("DESCRIPTION");
    let about = text(command.get_long_about().or(command.get_about()));
    paragraphs(&mut page, &format!("{}.", about.trim_end_matches('.')));
    page.section("OPTIONS");
    options(&mut page, &command, false);
    page.section("COMMANDS");
    commands(&mut page, &mut command);
    let mut after = text(command.get_after_help());
    if let Some(end) = after.find("\n\nExit ") {
        // It has a section of its own.
        after.truncate(end);
    }
    page.section("EXAMPLES");
    paragraphs(&mut page, after.trim_start_matches("Examples:\n"));
    page.markdown(more);
    page
}

fn commands(page: &mut Page, command: &mut Command) {
    for child in command.get_subcommands_mut().filter(|it| !it.is_hide_set()) {
        if child.get_name() == "help" {
            continue;
        }
        let name = child.get_bin_name().unwrap_or_default().to_owned();
        page.part(name.split_once(' ').map_or("", |(_, name)| name));
        page.paragraph(usage(child));
        let about = text(child.get_long_about().or(child.get_about()));
        paragraphs(page, &format!("{}.", about.trim_end_matches('.')));
        options(page, child, true);
        paragraphs(page, &text(child.get_after_help()));
        commands(page, child);
    }
}

/// `within`: of a command, where what holds for all of them is not said again.
fn options(page: &mut Page, command: &Command, within: bool) {
    let told = |arg: &&Arg| !(arg.is_hide_set() || within && is_everywhere(arg));
    for arg in command.get_arguments().filter(told) {
        let help = text(arg.get_long_help().or(arg.get_help()));
        let values: Vec<String> = arg
            .get_possible_values()
            .iter()
            .filter(|it| !it.is_hide_set() && arg.get_action().takes_values())
            .map(|it| it.get_name().to_owned())
            .collect();
        let mut help = format!("{}.", help.trim_end_matches('.'));
        if !values.is_empty() {
            help = format!("{help} One of {}.", values.join(", "));
        }
        if let Some(name) = arg.get_env().and_then(|it| it.to_str()) {
            help = format!("{help} Else ${name}.");
        }
        page.entry(term(arg), [roman(help)]);
    }
}

fn is_everywhere(arg: &Arg) -> bool {
    arg.is_global_set() || matches!(arg.get_id().as_str(), "help" | "version")
}

fn term(arg: &Arg) -> Vec<Inline> {
    let mut parts = Vec::new();
    let short = arg.get_short().map(|it| format!("-{it}"));
    let long = arg.get_long().map(|it| format!("--{it}"));
    for flag in [short, long].into_iter().flatten() {
        if !parts.is_empty() {
            parts.push(roman(", "));
        }
        parts.push(bold(flag));
    }
    if arg.get_action().takes_values() {
        let names = arg.get_value_names().unwrap_or_default().iter();
        let names: Vec<&str> = names.map(clap::builder::Str::as_str).collect();
        if !parts.is_empty() {
            parts.push(roman(" "));
        }
        let optional = arg.get_num_args().is_some_and(|it| it.min_values() == 0);
        let names = names.join(" ");
        parts.push(italic(if optional { format!("[{names}]") } else { names }));
    }
    parts
}

fn usage(command: &mut Command) -> Vec<Inline> {
    let usage = command.render_usage().to_string();
    vec![bold(usage.trim_start_matches("Usage: ").trim().to_owned())]
}

fn text(styled: Option<&StyledStr>) -> String {
    styled.map(ToString::to_string).unwrap_or_default()
}

fn lower(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|it| it.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

/// Blocks with blank lines between; indented ones and those behind a colon stand as they are.
fn paragraphs(page: &mut Page, text: &str) {
    for block in text.split("\n\n").filter(|it| !it.trim().is_empty()) {
        let (head, rest) = match block.split_once('\n') {
            Some((head, rest)) if head.ends_with(':') => (Some(head), rest),
            _ => (None, block),
        };
        if let Some(head) = head {
            page.paragraph([roman(head)]);
        }
        if rest.lines().any(|line| line.starts_with("  ")) {
            page.example(rest);
        } else {
            page.paragraph([roman(rest.lines().collect::<Vec<_>>().join(" "))]);
        }
    }
}

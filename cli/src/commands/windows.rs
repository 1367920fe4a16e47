//! `antidrift windows`

use antidrift_protocol::{Command, NoArgs, Window, Windows};
use serde_json::value::RawValue;
use unicode_width::UnicodeWidthStr as _;

use super::Daemon;
use crate::{
    args,
    exit::Failure,
    out, render,
    width::{self, cut, fill},
};

/// The widest column; a longer name moves the rest of its own line only.
const COLUMN: usize = 32;

pub(super) fn run(daemon: &Daemon, args: &args::Windows) -> Result<(), Failure> {
    let command = Command::Windows(NoArgs {});
    if args.json {
        let answer: Box<RawValue> = daemon.ask(command)?;
        return out::print(&render::json_line(answer.get()));
    }
    let windows: Windows = daemon.ask(command)?;
    out::print(&table(&windows, width::of_terminal()))
}

/// A line a window, cut to `columns` if there are any.
fn table(windows: &Windows, columns: Option<usize>) -> String {
    if windows.windows.is_empty() && windows.omitted == 0 {
        return "no window is open".to_owned();
    }
    let mut rows = vec![["CLASS", "INSTANCE", "TITLE"].map(str::to_owned)];
    rows.extend(windows.windows.iter().map(row));
    let widest = |column: usize| {
        let widths = rows.iter().map(|row| row[column].width());
        widths.filter(|width| *width <= COLUMN).max().unwrap_or(0)
    };
    let (class, instance) = (widest(0), widest(1));
    let line = |[first, second, title]: &[String; 3]| {
        let line = format!("{}  {}  {title}", fill(first, class), fill(second, instance));
        columns.map_or_else(|| line.trim_end().to_owned(), |columns| cut(line.trim_end(), columns))
    };
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    if windows.omitted > 0 {
        lines.push(format!("and {} more", windows.omitted));
    }
    lines.join("\n")
}

fn row(window: &Window) -> [String; 3] {
    // What is missing is shown, or the columns could not be told apart.
    let name = |name: &str| Some(render::title(name)).filter(|name| !name.is_empty());
    let name = |text: &str| name(text).unwrap_or_else(|| "-".to_owned());
    [name(&window.class), name(&window.instance), name(&window.title)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window([class, instance, title]: [&str; 3]) -> Window {
        let [class, instance, title] = [class, instance, title].map(str::to_owned);
        Window { class, instance, title, ..Window::default() }
    }

    fn shown(windows: &[[&str; 3]], omitted: u64, columns: Option<usize>) -> Vec<String> {
        let windows = windows.iter().copied().map(window).collect();
        let text = table(&Windows { windows, omitted }, columns);
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn columns_stand_under_each_other_in_any_script() {
        let windows = [["Code", "code", "main.rs"], ["漢字", "", "標題"], ["", "x", ""]];
        assert_eq!(
            shown(&windows, 12, None),
            [
                "CLASS  INSTANCE  TITLE",
                "Code   code      main.rs",
                "漢字   -         標題",
                "-      x         -",
                "and 12 more"
            ]
        );
        assert_eq!(shown(&[], 0, None), ["no window is open"]);
    }

    #[test]
    fn a_name_of_any_length_leaves_the_other_lines_alone() {
        let long = "x".repeat(100);
        let lines = shown(&[["a", "a", "first"], [&long, "b", "second"]], 0, None);
        assert_eq!(lines[1], "a      a         first");
        assert_eq!(lines[2], format!("{long}  b         second"));
    }

    #[test]
    fn a_terminal_has_one_line_for_each_and_a_pipe_gets_all_of_it() {
        let title = "標".repeat(60);
        let windows = [["Code", "code", title.as_str()]];
        for columns in [0, 1, 20, 21, 40] {
            let lines = shown(&windows, 0, Some(columns));
            assert!(lines.iter().all(|line| line.width() <= columns), "{columns}: {lines:?}");
        }
        assert!(shown(&windows, 0, None)[1].ends_with(&title));
    }

    #[test]
    fn hostile_names_stay_in_their_line() {
        for (hostile, _) in render::tests::hostile_titles() {
            let lines = shown(&[[&hostile, &hostile, &hostile], ["a", "a", "a"]], 0, None);
            assert!(lines.len() == 3 && !lines[1].chars().any(char::is_control), "{hostile:?}");
            assert_eq!(lines[2].split_whitespace().collect::<Vec<_>>(), ["a", "a", "a"]);
        }
    }
}

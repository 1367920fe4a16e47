use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use crate::{Home, until};

/// A judge made of rules: it answers by what the DATA line says of the window, and keeps a record
/// of what it was asked. It stands in for a language model.
#[derive(Debug)]
pub struct StandInJudge {
    dir: PathBuf,
}

/// Reads the whole question, keeps its DATA line, and answers with the first rule whose text
/// stands in the window's part of it. A rule is a file: its first line is the text, the rest is
/// run as shell.
const SCRIPT: &str = r#"
cd "$(dirname "$0")" || exit 9
data=$(sed -n 's/^DATA //p')
printf '%s\n' "$data" >> calls
window=${data##*'"window":'}
for rule in rules/*; do
  read -r text < "$rule"
  case $window in *"$text"*) set -- "$rule"; sed 1d "$1" > "run.$$"; . "./run.$$"; exit ;; esac
done
exit 7
"#;

impl StandInJudge {
    /// A judge that finds everything on task until it is told otherwise.
    pub fn new(home: &Home) -> Self {
        let dir = home.path().join("judge");
        fs::create_dir_all(dir.join("rules")).unwrap();
        fs::write(dir.join("judge.sh"), SCRIPT).unwrap();
        fs::write(dir.join("calls"), "").unwrap();
        let judge = Self { dir };
        judge.put("zzz", "", &print(&json!({"on_task": true, "reason": "it looks like work"})));
        judge
    }

    /// Its program and arguments. The script is data to the shell: one that is being written
    /// while another thread forks could not be run itself.
    pub fn argv(&self) -> Vec<String> {
        vec!["/bin/sh".into(), self.dir.join("judge.sh").display().to_string()]
    }

    /// Windows with this text (in class or title, as it stands in JSON) drift from now on.
    pub fn drifts(&self, text: &str, reason: &str) {
        self.rule(text, &print(&json!({"on_task": false, "reason": reason})));
    }

    /// Windows with this text are on task from now on.
    pub fn ontask(&self, text: &str, reason: &str) {
        self.rule(text, &print(&json!({"on_task": true, "reason": reason})));
    }

    /// Windows with this text get this very answer.
    pub fn says(&self, text: &str, stdout: &str) {
        self.rule(text, &format!("cat <<'END OF ANSWER'\n{stdout}\nEND OF ANSWER\n"));
    }

    /// For windows with this text, this shell script is run.
    pub fn rule(&self, text: &str, script: &str) {
        let name: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
        self.put(&format!("a-{name}"), text, script);
    }

    fn put(&self, name: &str, text: &str, script: &str) {
        let draft = self.dir.join(format!("draft-{name}"));
        fs::write(&draft, format!("{text}\n{script}\n")).unwrap();
        fs::rename(draft, self.dir.join("rules").join(name)).unwrap();
    }

    /// What it was asked, oldest first.
    pub fn calls(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.dir.join("calls")).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).expect("the DATA line is JSON"))
            .collect()
    }

    /// The titles it was asked about.
    pub fn titles(&self) -> Vec<String> {
        let title = |call: &Value| call["window"]["title"].as_str().unwrap().to_owned();
        self.calls().iter().map(title).collect()
    }

    /// Waits until it was asked so many times.
    #[track_caller]
    pub fn until_calls(&self, count: usize) {
        until(&format!("{count} questions, had {:?}", self.titles()), || {
            (self.calls().len() >= count).then_some(())
        });
    }

    /// A file that its scripts can make (they run in this directory).
    pub fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }
}

fn print(answer: &Value) -> String {
    format!("cat <<'END OF ANSWER'\n{answer}\nEND OF ANSWER\n")
}

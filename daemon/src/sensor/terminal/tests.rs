use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// A made-up /proc: pid → (parent, group, tty, foreground group, command line).
struct Fake(BTreeMap<u32, (u32, i32, i32, i32, &'static str)>);

impl Fake {
    fn command_of_terminal(&self, pid: u32) -> Option<String> {
        self.command_within(TERMINAL, pid)
    }

    fn command_within(&self, reach: Reach, pid: u32) -> Option<String> {
        Proc::new(self.lay_out().path(), reach).foreground_command(pid)
    }

    fn lay_out(&self) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (pid, (_, group, tty, foreground, cmdline)) in &self.0 {
            let own = dir.path().join(pid.to_string());
            fs::create_dir_all(own.join(format!("task/{pid}"))).unwrap();
            let children: Vec<_> =
                self.0.iter().filter(|(_, p)| p.0 == *pid).map(|(c, _)| c.to_string()).collect();
            fs::write(own.join(format!("task/{pid}/children")), children.join(" ")).unwrap();
            let stat = format!("{pid} (odd ) name) S 1 {group} {group} {tty} {foreground} 0 0");
            fs::write(own.join("stat"), stat).unwrap();
            fs::write(own.join("cmdline"), cmdline).unwrap();
            fs::write(own.join("comm"), "fallback\n").unwrap();
        }
        dir
    }
}

#[test]
fn the_foreground_group_of_the_only_pty_is_named() {
    let shell_waits = Fake(BTreeMap::from([
        (100, (1, 100, 0, -1, "xterm\0")),
        (101, (100, 101, 34817, 102, "-bash\0")),
        (102, (101, 102, 34817, 102, "/usr/bin/vim\0notes.txt\0")),
    ]));
    assert_eq!(shell_waits.command_of_terminal(100).as_deref(), Some("vim"));
    let at_prompt = Fake(BTreeMap::from([
        (100, (1, 100, 34816, 90, "xterm\0")), // started from a shell on another pty
        (101, (100, 101, 34817, 101, "-bash\0")),
    ]));
    assert_eq!(at_prompt.command_of_terminal(100).as_deref(), Some("bash"));
}

#[test]
fn two_ptys_are_ambiguous() {
    let tabs = Fake(BTreeMap::from([
        (100, (1, 100, 0, -1, "gnome-terminal-server\0")),
        (101, (100, 101, 34817, 101, "bash\0")),
        (102, (100, 102, 34818, 102, "vim\0")),
    ]));
    assert_eq!(tabs.command_of_terminal(100), None);
}

#[test]
fn a_helper_without_the_pty_is_looked_through() {
    let helper = Fake(BTreeMap::from([
        (100, (1, 100, 0, -1, "term\0")),
        (101, (100, 101, 0, -1, "helper\0")),
        (102, (101, 102, 34817, 102, "zsh\0")),
    ]));
    assert_eq!(helper.command_of_terminal(100).as_deref(), Some("zsh"));
}

/// A file manager, from which a terminal was started, is none.
#[test]
fn of_a_process_that_may_be_no_terminal_only_own_children_count() {
    let manager = Fake(BTreeMap::from([
        (100, (1, 100, 0, -1, "manager\0")),
        (101, (100, 101, 0, -1, "terminal\0")),
        (102, (101, 102, 34817, 102, "antidrift\0watch\0")),
    ]));
    assert_eq!(manager.command_within(UNKNOWN, 100), None);
    assert_eq!(manager.command_within(UNKNOWN, 101).as_deref(), Some("antidrift"));
    let of_another_thread = Fake(BTreeMap::from([
        (100, (1, 100, 0, -1, "term\0")),
        (101, (100, 101, 34817, 101, "bash\0")),
    ]));
    let dir = of_another_thread.lay_out();
    let task = dir.path().join("100/task");
    fs::rename(task.join("100"), task.join("105")).unwrap();
    let command = |reach| Proc::new(dir.path(), reach).foreground_command(100);
    assert_eq!((command(UNKNOWN), command(TERMINAL).as_deref()), (None, Some("bash")));
}

#[test]
fn the_rest_of_a_pipeline_answers_for_a_leader_that_ended() {
    let pipeline = Fake(BTreeMap::from([
        (100, (1, 100, 0, -1, "xterm\0")),
        (101, (100, 101, 34817, 102, "bash\0")),
        (103, (101, 102, 34817, 102, "less\0")),
    ]));
    assert_eq!(pipeline.command_of_terminal(100).as_deref(), Some("less"));
}

#[test]
fn nothing_is_made_up() {
    let none = Fake(BTreeMap::from([(100, (1, 100, 0, -1, "xterm\0"))]));
    assert_eq!(none.command_of_terminal(100), None);
    assert_eq!(none.command_of_terminal(0), None);
    assert_eq!(none.command_of_terminal(4_000_000_000), None);
    let no_foreground = Fake(BTreeMap::from([
        (100, (1, 100, 0, -1, "xterm\0")),
        (101, (100, 101, 34817, -1, "bash\0")),
    ]));
    assert_eq!(no_foreground.command_of_terminal(100), None);
}

/// A process with very many children costs the budget, not more.
#[test]
fn the_work_is_bounded() {
    let mut many =
        BTreeMap::from([(100, (1, 100, 0, -1, "xterm\0")), (999, (100, 999, 34817, 999, "vim\0"))]);
    assert!(Fake(many.clone()).command_within(UNKNOWN, 100).is_some());
    many.extend((1000..1300).map(|pid| (pid, (100, 100, 0, -1, "x\0"))));
    let many = Fake(many);
    assert_eq!(many.command_of_terminal(100), None);
    assert_eq!(many.command_within(UNKNOWN, 100), None);
}

#[test]
fn a_title_in_place_of_arguments_is_no_name() {
    assert_eq!(command_of(b"/opt/x y/bin/tool\0-v\0").as_deref(), Some("tool"));
    assert_eq!(command_of(b"nginx: worker process\0"), None);
    assert_eq!(command_of(b""), None);
    let rewritten = Fake(BTreeMap::from([
        (100, (1, 100, 0, -1, "xterm\0")),
        (101, (100, 101, 34817, 101, "tmux: client\0")),
    ]));
    assert_eq!(rewritten.command_of_terminal(100).as_deref(), Some("fallback"));
}

proptest! {
    #[test]
    fn any_stat_line_is_survived(line in prop::collection::vec(any::<u8>(), 0..80)) {
        let _ = parse_stat(&line);
        let _ = command_of(&line);
    }
}

//! A judge is somebody else's program: whatever it does, nothing of it stays and nothing is made up.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use antidrift_daemon::ai::{
    Failure, FailureKind, Judge, Question, Verdict, backend::Model, command::ProgramBackend,
};
use antidrift_tests::{PATIENCE, until, until_gone, until_number};
use tempfile::TempDir;

const GOOD: &str = r#"echo '{"on_task": true, "reason": "fine"}'"#;

struct Bench {
    dir: TempDir,
}

impl Bench {
    fn new() -> Self {
        let bench = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir(bench.runtime()).unwrap();
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn runtime(&self) -> PathBuf {
        self.path("run")
    }

    /// A judge that is a shell script; `$OUT` is a directory of the test's own.
    fn program(&self, script: &str) -> ProgramBackend {
        let argv = ["/bin/sh", "-c", script].map(str::to_owned);
        let script = format!("OUT={}; {}", self.dir.path().display(), argv[2]);
        let argv = [argv[0].clone(), argv[1].clone(), script];
        ProgramBackend::command(&argv, &self.runtime())
            .unwrap()
            .with_guard(env!("CARGO_BIN_EXE_antidriftd").into())
    }

    fn judge(&self, script: &str) -> Model {
        Model::new(self.program(script))
    }

    fn judge_within(&self, limit: Duration, script: &str) -> Model {
        Model::new(self.program(script).with_timeout(limit))
    }

    fn ask(&self, script: &str) -> Result<Verdict, Failure> {
        run(self.judge(script).judge(question()))
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// The process id that a script wrote.
    #[track_caller]
    fn pid(&self, name: &str) -> u32 {
        until_number(&self.path(name))
    }

    #[track_caller]
    fn leaves_nothing(&self) {
        until("the scratch directory is gone", || {
            (fs::read_dir(self.runtime()).unwrap().count() == 0).then_some(())
        });
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn question() -> Question {
    Question {
        commitment: "draft the report".into(),
        next_action: None,
        success_condition: None,
        allowed_classes: Vec::new(),
        class: "firefox".into(),
        title: "s3cr3t account overview".into(),
    }
}

#[track_caller]
fn fails(result: Result<Verdict, Failure>, kind: FailureKind, part: &str) -> Failure {
    let failure = result.expect_err("no verdict");
    assert_eq!(failure.kind, kind, "{}", failure.message);
    assert!(failure.message.contains(part), "{}", failure.message);
    assert!(!failure.message.contains("s3cr3t"), "{}", failure.message);
    failure
}

#[test]
fn f35_the_prompt_arrives_whole_and_its_end_is_seen() {
    let bench = Bench::new();
    let verdict = bench.ask(&format!("cat > $OUT/prompt; {GOOD}")).unwrap();
    assert_eq!(verdict, Verdict { on_task: true, reason: "fine".into() });
    let prompt = bench.read("prompt");
    assert_eq!(prompt.matches("s3cr3t account overview").count(), 1, "{prompt}");
    assert_eq!(prompt.lines().filter(|line| line.starts_with("DATA ")).count(), 1);
    bench.leaves_nothing();
}

#[test]
fn a_program_that_never_reads_its_input_is_no_trouble() {
    let bench = Bench::new();
    assert!(bench.ask(&format!("exec <&-; {GOOD}")).unwrap().on_task);
    assert!(bench.ask(GOOD).unwrap().on_task);
}

#[test]
fn it_runs_in_an_empty_closed_directory_that_is_removed() {
    let bench = Bench::new();
    let script = "pwd > $OUT/pwd; echo $TMPDIR >> $OUT/pwd; stat -c %a . > $OUT/mode; \
                  ls -A | wc -l > $OUT/files; mkdir sealed; touch sealed/file; chmod 0 sealed";
    bench.ask(&format!("{script}; {GOOD}")).unwrap();
    let pwd = bench.read("pwd");
    let places: Vec<&str> = pwd.lines().collect();
    assert_eq!(places[0], places[1]);
    assert!(Path::new(places[0]).starts_with(bench.runtime()));
    assert_eq!((bench.read("mode").trim(), bench.read("files").trim()), ("700", "0"));
    bench.leaves_nothing();
}

#[test]
fn the_desktop_and_our_own_settings_are_kept_from_it() {
    let bench = Bench::new();
    bench.ask(&format!("env > $OUT/env; {GOOD}")).unwrap();
    let environment = bench.read("env");
    let has = |name: &str| environment.lines().any(|line| line.starts_with(&format!("{name}=")));
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "NOTIFY_SOCKET", "LD_PRELOAD"] {
        assert!(!has(name), "{name}");
    }
    assert!(!environment.contains("ANTIDRIFT_"), "{environment}");
    assert!(environment.contains("NO_COLOR=1") && environment.contains("TERM=dumb"));
    assert!(has("PATH"), "logins need the rest");
}

#[test]
fn nobody_reads_the_title_from_a_command_line() {
    let bench = Bench::new();
    let script = "cat /proc/$$/cmdline /proc/$PPID/cmdline | tr '\\0' ' ' > $OUT/lines";
    bench.ask(&format!("{script}; {GOOD}")).unwrap();
    assert!(bench.read("lines").contains("--judge-guard"));
    assert!(!bench.read("lines").contains("s3cr3t"));
}

#[test]
fn what_it_answers_counts_only_with_status_zero_and_a_verdict() {
    let bench = Bench::new();
    fails(bench.ask(&format!("{GOOD}; exit 3")), FailureKind::ToolFailed, "status 3");
    fails(bench.ask(&format!("{GOOD}; kill -9 $$")), FailureKind::ToolFailed, "signal 9");
    fails(bench.ask("true"), FailureKind::NotUnderstood, "");
    fails(bench.ask("echo quota exceeded"), FailureKind::NotUnderstood, "");
    fails(
        bench.ask("echo 'Error: not logged in' >&2; exit 1"),
        FailureKind::NotLoggedIn,
        "not logged in",
    );
}

#[test]
fn what_it_complains_of_is_quoted_and_the_title_never() {
    let bench = Bench::new();
    let script = "echo 'Error: no quota left' >&2; cat >&2; exit 1";
    fails(bench.ask(script), FailureKind::ToolFailed, "no quota left");
    fails(
        bench.ask("echo 'Error: s3cr3t account overview' >&2; exit 1"),
        FailureKind::ToolFailed,
        "",
    );
    let script = "head -c 3000000 /dev/zero | tr '\\0' x >&2; echo >&2; echo the end >&2; exit 1";
    fails(bench.ask(script), FailureKind::ToolFailed, "the end");
}

#[test]
fn f36_a_hung_judge_and_its_children_are_gone_after_the_limit() {
    let bench = Bench::new();
    let script = "trap '' TERM; echo $$ > $OUT/leader; \
                  sh -c 'trap \"\" TERM; echo $$ > '$OUT'/child; sleep 300' & \
                  setsid sh -c 'echo $$ > '$OUT'/stray; sleep 300' & wait";
    let judge = bench.judge_within(Duration::from_secs(1), script);
    fails(run(judge.judge(question())), FailureKind::TimedOut, "1 s");
    for name in ["leader", "child", "stray"] {
        until_gone(bench.pid(name));
    }
    bench.leaves_nothing();
}

/// Some tools try to log in, or to reach a network that is not there, until they are ended.
#[test]
fn what_a_hung_judge_complained_of_is_told() {
    let bench = Bench::new();
    for (said, kind) in [
        ("ERROR: reconnecting", FailureKind::TimedOut),
        ("ERROR: 401 Unauthorized", FailureKind::NotLoggedIn),
    ] {
        let script = format!("echo '{said}' >&2; cat >&2; exec sleep 300");
        let judge = bench.judge_within(Duration::from_secs(1), &script);
        let failure = fails(run(judge.judge(question())), kind, said);
        assert!(failure.message.contains("no answer within 1 s"), "{failure:?}");
    }
    bench.leaves_nothing();
}

#[test]
fn a_judgement_that_is_dropped_leaves_nothing() {
    let bench = Bench::new();
    let judge = bench.judge("echo $$ > $OUT/leader; sleep 300");
    run(async {
        let judgement = judge.judge(question());
        let _ = tokio::time::timeout(PATIENCE, async {
            tokio::select! {
                _ = judgement => panic!("it sleeps"),
                () = async {
                    while bench.read("leader").is_empty() {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                } => {}
            }
        })
        .await;
    });
    until_gone(bench.pid("leader"));
    bench.leaves_nothing();
}

/// The guard is the judge's parent and runs as the same user, so a judge can stop it.
#[test]
fn a_judge_that_stops_its_guard_is_ended_all_the_same() {
    let bench = Bench::new();
    let script = "echo $$ > $OUT/leader; kill -STOP $PPID; sleep 781";
    let judge = bench.judge_within(Duration::from_millis(500), script);
    fails(run(judge.judge(question())), FailureKind::TimedOut, "no answer");
    until_gone(bench.pid("leader"));
    bench.leaves_nothing();
}

#[test]
fn f36_a_grandchild_that_holds_the_pipe_holds_up_nobody_and_is_ended() {
    let bench = Bench::new();
    let script = "sh -c 'echo $$ > '$OUT'/child; exec sleep 300' & \
                  setsid sh -c 'echo $$ > '$OUT'/stray; exec sleep 300' & \
                  until [ -s $OUT/child ] && [ -s $OUT/stray ]; do :; done";
    // had it waited for either, its time would have been up
    assert!(bench.ask(&format!("{script}; {GOOD}")).unwrap().on_task);
    until_gone(bench.pid("child"));
    until_gone(bench.pid("stray"));
    bench.leaves_nothing();
}

#[test]
fn a_flood_is_cut_off() {
    let bench = Bench::new();
    let script = "echo $$ > $OUT/leader; exec head -c 100000000 /dev/zero";
    fails(bench.ask(script), FailureKind::NotUnderstood, "");
    until_gone(bench.pid("leader"));
    bench.leaves_nothing();
}

#[test]
fn nothing_outlives_a_daemon_that_is_killed() {
    let bench = Bench::new();
    // Whoever holds the socket's other end is the daemon to a guard: here, a shell that is killed.
    let guard = env!("CARGO_BIN_EXE_antidriftd");
    let mut daemon = std::process::Command::new("python3");
    let program = format!(
        "import socket, subprocess, sys, time\n\
         ours, theirs = socket.socketpair()\n\
         subprocess.Popen(['{guard}', '--judge-guard', '{}', '/bin/sh', '-c', \
         'echo $$ > {}; trap \"\" TERM; sleep 300'], stdin=theirs)\n\
         theirs.close()\n\
         ours.send(bytes([0, 0, 0, 0]))\n\
         time.sleep(300)\n",
        bench.runtime().display(),
        bench.path("leader").display(),
    );
    let mut daemon = daemon.arg("-c").arg(program).spawn().unwrap();
    let leader = bench.pid("leader");
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    until_gone(leader);
    bench.leaves_nothing();
}

#[test]
fn f37_a_program_that_is_not_there_is_named_at_once() {
    let bench = Bench::new();
    let plain = bench.path("plain");
    fs::write(&plain, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o644)).unwrap();
    let new = |word: &str| ProgramBackend::command(&[word.to_owned()], &bench.runtime());
    for (word, part) in [
        ("no-such-judge", "no-such-judge"),
        ("/nowhere/judge", "/nowhere/judge"),
        (plain.to_str().unwrap(), "not executable"),
        ("/tmp", "/tmp"),
        ("", "empty"),
    ] {
        fails(new(word).map(|_| unreachable!()), FailureKind::NotInstalled, part);
    }
    // One that goes away later fails that run and no other.
    fs::set_permissions(&plain, fs::Permissions::from_mode(0o755)).unwrap();
    let program = new(plain.to_str().unwrap()).unwrap();
    let judge = Model::new(program.with_guard(env!("CARGO_BIN_EXE_antidriftd").into()));
    fs::remove_file(&plain).unwrap();
    fails(run(judge.judge(question())), FailureKind::NotInstalled, "missing");
    bench.leaves_nothing();
}

#[test]
fn fifty_judgements_leak_nothing() {
    let bench = Bench::new();
    let judge = bench.judge(GOOD);
    let open = || fs::read_dir("/proc/self/fd").unwrap().count();
    run(async {
        assert!(judge.judge(question()).await.unwrap().on_task);
        let before = open();
        for _ in 0..50 {
            assert!(judge.judge(question()).await.unwrap().on_task);
        }
        // Other tests of this process open and close files meanwhile; fifty leaks would show.
        assert!(open() < before + 40, "{before} files open before, {} after", open());
    });
    bench.leaves_nothing();
}

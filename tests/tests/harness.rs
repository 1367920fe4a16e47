//! The harness itself: what every other test stands on.

use antidrift_tests::{Desktop, Dunst, Home, Manager, Process, StandInJudge, WindowSpec, until};

#[test]
fn the_focus_goes_where_it_is_sent() {
    for manager in Manager::ALL {
        let desktop = Desktop::start(manager);
        let first = desktop.open("First", "one");
        let second = desktop.open("Second", "two");
        for window in [first, second, first] {
            window.focus();
            if manager != Manager::Bare {
                assert_eq!(desktop.active(), window.id(), "{manager:?}");
            }
        }
        second.destroy();
        let menu = WindowSpec::new("menu").class("Menu").override_redirect().open(&desktop);
        menu.focus_input();
        assert_eq!(desktop.shown("Menu").len(), 1);
    }
}

#[test]
fn a_server_comes_back_on_its_display() {
    let desktop = Desktop::start(Manager::Openbox);
    let display = desktop.display().to_owned();
    desktop.open("First", "one");
    desktop.kill_server();
    let desktop = desktop.again();
    assert_eq!(desktop.display(), display);
    desktop.open("Second", "two");
}

#[test]
fn dunst_shows_popups_and_its_buttons_can_be_pressed() {
    let desktop = Desktop::start(Manager::Openbox);
    let dunst = Dunst::start(&desktop);
    let home = Home::new();
    let notify = |body: &str| {
        let log = home.path().join("answer");
        let mut command = home.command("notify-send");
        command
            .env("DBUS_SESSION_BUS_ADDRESS", dunst.bus().address())
            .args(["-A", "default=Yes", "-A", "two=No, not so", "--", "Question", body])
            .stdout(std::fs::File::create(&log).unwrap());
        let process = Process::spawn(&mut command, "libnotify-bin");
        dunst.until_displayed(1);
        let answer = move |mut process: Process| {
            process.wait();
            std::fs::read_to_string(&log).unwrap()
        };
        (process, answer)
    };
    let (process, answer) = notify("first\nline");
    let shown = until("the print", || dunst.shown().pop());
    assert_eq!((shown.summary.as_str(), shown.body.as_str()), ("Question", "first\nline"));
    assert_eq!(shown.actions[1], ("two".into(), "No, not so".into()));
    dunst.press_default();
    assert_eq!(answer(process), "default\n");
    dunst.until_displayed(0);
    let (process, answer) = notify("second");
    dunst.press("No, not so");
    assert_eq!(answer(process), "two\n");
    let (process, answer) = notify("third");
    dunst.click(&desktop, 2);
    assert_eq!(answer(process), "default\n");
    let (process, answer) = notify("fourth");
    dunst.click(&desktop, 1);
    assert_eq!(answer(process), "");
    dunst.until_displayed(0);
    assert_eq!(dunst.complaints(), "");
}

#[test]
fn the_stand_in_judge_answers_by_its_rules() {
    let home = Home::new();
    let judge = StandInJudge::new(&home);
    judge.drifts("football", "it's no \"work\"");
    judge.rule("broken", "echo rubbish; exit 3");
    let ask = |title: &str| {
        let argv = judge.argv();
        let prompt = format!(
            "Words.\nDATA {{\"commitment\":{{\"text\":\"football\"}},\"window\":{{\"class\":\"A\",\"title\":\"{title}\"}}}}\nWords.\n"
        );
        let file = home.path().join("prompt");
        std::fs::write(&file, prompt).unwrap();
        let mut command = home.command(&argv[0]);
        command.args(&argv[1..]).stdin(std::fs::File::open(file).unwrap());
        let output = command.output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    };
    let work = "{\"on_task\":true,\"reason\":\"it looks like work\"}\n";
    assert_eq!(ask("report"), (0, work.into()));
    let drift = "{\"on_task\":false,\"reason\":\"it's no \\\"work\\\"\"}\n";
    assert_eq!(ask("football now"), (0, drift.into()));
    assert_eq!(ask("broken"), (3, "rubbish\n".into()));
    assert_eq!(judge.titles(), ["report", "football now", "broken"]);
}

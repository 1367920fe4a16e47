//! What the sensor reads of a window: identity and text, on a server without a window manager.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use antidrift_tests::{Desktop, Manager};
use support::{Watch, blank, settings, top_level};
use x11rb::protocol::xproto::ConnectionExt as _;

use antidrift_daemon::sensor::{Focus, Health};

#[test]
fn a_window_without_class_is_seen_with_its_title() {
    let desk = Desktop::start(Manager::Bare);
    let window = top_level(&desk, "inst", "Class", "first");
    window.focus();
    let watch = Watch::on(&desk);
    watch.until_title("first");
    window.remove("WM_CLASS");
    let seen = watch.until_window("the class goes", |w| w.class.is_empty());
    assert_eq!((seen.instance.as_str(), seen.title.as_str()), ("", "first"));

    // started with it focused already
    let late = Watch::on(&desk);
    assert_eq!(late.until_title("first"), seen);
    let next = top_level(&desk, "other", "Other", "next");
    next.focus();
    assert_eq!(late.until_title("next").class, "Other");
}

#[test]
fn nothing_is_carried_over_from_the_window_before() {
    let desk = Desktop::start(Manager::Bare);
    let (a, b, c) = (
        top_level(&desk, "editor", "Editor", "work.txt"),
        top_level(&desk, "x", "X", "only a title"),
        top_level(&desk, "inst", "OnlyClass", "x"),
    );
    b.remove("WM_CLASS");
    c.remove("WM_NAME");
    c.remove("_NET_WM_NAME");
    let watch = Watch::on(&desk);
    a.focus();
    assert_eq!(watch.until_title("work.txt").class, "Editor");
    b.focus();
    assert_eq!(watch.until_title("only a title").class, "");
    c.focus();
    let seen = watch.until_window("class only", |w| w.class == "OnlyClass");
    assert_eq!(seen.title, "");
}

#[test]
fn class_is_the_second_string_and_both_are_whole() {
    let desk = Desktop::start(Manager::Bare);
    let watch = Watch::on(&desk);
    for (instance, class) in [
        ("qemu", "Qemu-system-x86_64"),
        ("org.gnome", "Nautilus"),
        ("org", "gnome.Nautilus"),
        ("", "NoInstance"),
    ] {
        top_level(&desk, instance, class, "t").focus();
        let seen = watch.until_window(class, |w| w.class == class);
        assert_eq!(seen.instance, instance);
    }
    let window = top_level(&desk, "x", "x", "one string");
    window.set("WM_CLASS", "STRING", b"alone");
    window.focus();
    let seen = watch.until_title("one string");
    assert_eq!((seen.instance.as_str(), seen.class.as_str()), ("alone", ""));
    // long strings are cut, and a long instance does not hide the class
    window.set("WM_CLASS", "STRING", &[&[b'i'; 900][..], b"\0", &[0xe9; 900]].concat());
    let seen = watch.until_window("long class", |w| !w.class.is_empty());
    assert_eq!((seen.instance.len(), seen.class), (256, "é".repeat(128)));
}

#[test]
fn the_focus_proxy_of_java_is_never_shown() {
    for manager in [Manager::Bare, Manager::Openbox] {
        let desk = Desktop::start(manager);
        let watch = Watch::on(&desk);
        let top = top_level(&desk, "sun-awt-X11", "jetbrains-idea", "proj");
        let proxy = blank().inside(&top).open(&desk);
        proxy.set_class("FocusProxy", "FocusProxy");
        proxy.set_title("FocusProxy");
        proxy.map();
        top.focus();
        watch.until_title("proj");
        proxy.focus_input();
        top.set_title("proj 2");
        let seen = watch.until_title("proj 2");
        assert_eq!((seen.id, seen.class.as_str()), (top.id(), "jetbrains-idea"));
        // and away from it again
        let next = top_level(&desk, "next", "Next", "next");
        next.focus();
        watch.until_title("next");
        assert!(!watch.titles_since(0).contains(&"FocusProxy".to_owned()));
    }
}

/// Identity does not depend on a pid; without one a terminal has no known command.
#[test]
fn a_pid_that_is_missing_or_zero_changes_nothing() {
    let desk = Desktop::start(Manager::Bare);
    let watch = Watch::on(&desk);
    let huge = Some(u32::MAX);
    for (title, pid, expected) in
        [("none", None, None), ("zero", Some(0), None), ("huge", huge, huge)]
    {
        let window = top_level(&desk, "xterm", "XTerm", title);
        if let Some(pid) = pid {
            window.set_number("_NET_WM_PID", "CARDINAL", pid);
        }
        window.set("WM_CLIENT_MACHINE", "STRING", &host());
        window.focus();
        let seen = watch.until_title(title);
        assert_eq!((seen.class.as_str(), seen.command), ("XTerm", None));
        assert_eq!(seen.process, expected);
    }
}

fn host() -> Vec<u8> {
    std::fs::read("/proc/sys/kernel/hostname").unwrap().trim_ascii().to_vec()
}

/// Of every window, whatever its class, and of the window that a dialog belongs to.
#[test]
fn a_window_tells_its_process_if_that_is_one_of_this_host() {
    let desk = Desktop::start(Manager::Bare);
    let watch = Watch::on(&desk);
    let window = top_level(&desk, "zterm", "Zterm", "late");
    window.focus();
    assert_eq!(watch.until_title("late").process, None);
    window.set_number("_NET_WM_PID", "CARDINAL", 4242);
    window.set_title("of no known host");
    assert_eq!(watch.until_title("of no known host").process, None);
    window.set("WM_CLIENT_MACHINE", "STRING", &host());
    watch.until_window("its process", |it| it.process == Some(4242));
    let dialog = top_level(&desk, "dialog", "Dialog", "dialog");
    dialog.set_number("WM_TRANSIENT_FOR", "WINDOW", window.id());
    dialog.focus();
    let seen = watch.until_title("dialog");
    assert_eq!((seen.process, seen.parent.unwrap().process), (None, Some(4242)));
    window.focus();
    watch.until_window("its process", |it| it.process == Some(4242));
    window.set("WM_CLIENT_MACHINE", "STRING", b"elsewhere.example");
    watch.until_window("no process here", |it| it.process.is_none());
}

#[test]
fn the_type_of_a_title_decides_how_it_is_read() {
    let desk = Desktop::start(Manager::Bare);
    let window = top_level(&desk, "inst", "Class", "before");
    window.focus();
    let watch = Watch::on(&desk);
    watch.until_title("before");
    let net: [(&[u8], &str); 6] = [
        (b"bad\x80\xfftitle", "bad\u{fffd}\u{fffd}title"),
        (&[b'x'; 200], &"x".repeat(200)),
        (b"abc", "abc"),
        (b"abd\0\0", "abd"),
        (
            "ไทย 日本語 〜 \u{301} \u{202e}x\u{200b}".as_bytes(),
            "ไทย 日本語 〜 \u{301} \u{202e}x\u{200b}",
        ),
        (b"a\tb\x07c\x1b[31m", "a\tb\x07c\x1b[31m"),
    ];
    for (bytes, expected) in net {
        window.set("_NET_WM_NAME", "UTF8_STRING", bytes);
        watch.until_title(expected);
    }
    window.set("WM_NAME", "STRING", b"fallback");
    window.remove("_NET_WM_NAME");
    watch.until_title("fallback");
    let old: [(&str, &[u8], &str); 5] = [
        ("UTF8_STRING", "ᴿᴺᴳ chat".as_bytes(), "ᴿᴺᴳ chat"),
        ("STRING", b"caf\xe9", "café"),
        ("COMPOUND_TEXT", b"New \x1b%G\xe2\x80\x94\x1b%@ \x1b-L\xbc\xde\xd7", "New — Моз"),
        ("COMPOUND_TEXT", b"New \xb7 \x1b%G\xe2\x80\x94\x1b%@ Moz", "New · — Moz"),
        ("C_STRING", b"plain", "plain"),
    ];
    for (kind, bytes, expected) in old {
        window.set("WM_NAME", kind, bytes);
        watch.until_title(expected);
    }
    // EWMH's name is the better one as soon as it is there
    window.set("_NET_WM_NAME", "UTF8_STRING", "Größe".as_bytes());
    watch.until_title("Größe");
    // a number is no text
    window.set_number("_NET_WM_NAME", "CARDINAL", 0x4142_4344);
    watch.until_title("plain");
}

#[test]
fn a_title_is_cut_between_characters() {
    let desk = Desktop::start(Manager::Bare);
    let window = top_level(&desk, "inst", "Class", "before");
    window.focus();
    let watch = Watch::on(&desk);
    for unit in ["●", "é", "👪"] {
        for prefix in 0..4 {
            let whole = "a".repeat(prefix) + &unit.repeat(30_000);
            window.set("_NET_WM_NAME", "UTF8_STRING", whole.as_bytes());
            let start = "a".repeat(prefix) + unit;
            let seen = watch.until_window("long title", |w| w.title.starts_with(&start));
            assert!(whole.starts_with(&seen.title));
            assert!(seen.title.len() <= 1024 && seen.title.len() + unit.len() > 1024);
        }
    }
}

/// Atom numbers differ between servers: here by those that another client made first.
#[test]
fn atoms_belong_to_a_server() {
    let desk = Desktop::start(Manager::Bare);
    for n in 0..300 {
        desk.atom(&format!("_X{n}"));
    }
    let watch = Watch::on(&desk);
    watch.until_nothing();
    top_level(&desk, "inst", "Class", "title").focus();
    let seen = watch.until_title("title");
    assert_eq!((seen.instance.as_str(), seen.class.as_str()), ("inst", "Class"));
}

#[test]
fn a_bare_server_is_watched_by_its_input_focus() {
    let desk = Desktop::start(Manager::Bare);
    let watch = Watch::on(&desk);
    let first = watch.until("nothing yet", |o| o.focus == Focus::Nothing);
    let Health::Ok(Some(limit)) = first.health else { panic!("{first:?}") };
    assert!(limit.contains("input focus"), "{limit}");
    let (a, b) = (top_level(&desk, "a", "A", "a"), top_level(&desk, "b", "B", "b"));
    for (window, title) in [(a, "a"), (b, "b"), (a, "a")] {
        window.focus();
        watch.until_title(title);
    }
    a.destroy();
    watch.until_nothing();
    // a number of the sensor's own kind: each focus change was told once
    let titles = watch.titles_since(1);
    assert_eq!(titles, ["a", "b", "a", "(nothing)"]);
}

/// Some set-ups name the active window without a window manager's check window.
#[test]
fn a_property_that_is_written_live_is_followed() {
    let desk = Desktop::start(Manager::Bare);
    let (a, b) = (top_level(&desk, "a", "A", "a"), top_level(&desk, "b", "B", "b"));
    let watch = Watch::on(&desk);
    watch.until_nothing();
    for (window, title) in [(a, "a"), (b, "b")] {
        desk.set_number(desk.root(), "_NET_ACTIVE_WINDOW", "WINDOW", window.id());
        watch.until_title(title);
    }
    // the last word counts, and a window that is gone is not shown on
    a.focus_input();
    watch.until_title("a");
    desk.set_number(desk.root(), "_NET_ACTIVE_WINDOW", "WINDOW", b.id());
    watch.until_title("b");
    b.destroy();
    watch.until_title("a");
}

#[test]
fn the_title_of_the_focused_window_is_followed_and_no_other() {
    let desk = Desktop::start(Manager::Bare);
    let (focused, other) = (top_level(&desk, "a", "A", "Docs"), top_level(&desk, "b", "B", "b"));
    other.focus();
    let watch = Watch::on(&desk);
    watch.until_title("b");
    focused.focus();
    watch.until_title("Docs");
    focused.set_title("Video");
    watch.until_title("Video");
    let before = watch.count();
    other.set_title("unseen");
    other.set_class("unseen", "Unseen");
    focused.set_class("a", "A2");
    watch.until_window("new class", |w| w.class == "A2");
    assert_eq!(watch.titles_since(before), ["Video"]);
}

#[test]
fn a_transient_brings_its_owner() {
    let desk = Desktop::start(Manager::Bare);
    let owner = top_level(&desk, "editor", "Editor", "work.txt");
    let dialog = top_level(&desk, "portal", "Xdg-desktop-portal-gtk", "Open");
    dialog.set_number("WM_TRANSIENT_FOR", "WINDOW", owner.id());
    let watch = Watch::on(&desk);
    dialog.focus();
    let parent = watch.until_title("Open").parent.unwrap();
    let found = (parent.id, &*parent.class, &*parent.instance, &*parent.title);
    assert_eq!(found, (owner.id(), "Editor", "editor", "work.txt"));
    // the root, none, itself and a window that is gone are no owners
    let gone = top_level(&desk, "x", "X", "x");
    gone.destroy();
    for (n, no_owner) in [desk.root(), 0, dialog.id(), gone.id()].into_iter().enumerate() {
        dialog.set_number("WM_TRANSIENT_FOR", "WINDOW", owner.id());
        watch.until_window("has an owner", |w| w.parent.is_some());
        dialog.set_number("WM_TRANSIENT_FOR", "WINDOW", no_owner);
        watch.until_window(&format!("no owner {n}"), |w| w.parent.is_none());
    }
}

#[test]
fn a_wayland_session_is_said_to_be_seen_in_part() {
    let desk = Desktop::start(Manager::Bare);
    let watch = Watch::with(support_wayland(&desk));
    let first = watch.until("health", |_| true);
    let Health::Ok(Some(limit)) = first.health else { panic!("{first:?}") };
    assert!(limit.contains("only XWayland windows are seen"), "{limit}");
}

fn support_wayland(desk: &Desktop) -> antidrift_daemon::sensor::Settings {
    antidrift_daemon::sensor::Settings { wayland: true, ..settings(Some(desk.display())) }
}

/// An unmapped window with the input focus loses it; the one that is left has none.
#[test]
fn an_unmapped_window_is_not_shown_on() {
    let desk = Desktop::start(Manager::Bare);
    let window = top_level(&desk, "a", "A", "a");
    window.focus();
    let watch = Watch::on(&desk);
    watch.until_title("a");
    desk.conn().unmap_window(window.id()).unwrap();
    desk.sync();
    watch.until_nothing();
}

use std::fs;
use std::sync::{Arc, Condvar, Mutex};

use antidrift_daemon::evidence::Window;
use antidrift_daemon::sensor::{Focus, Health, Observation, SensorHandle, Settings, spawn};

use antidrift_tests::{Desktop, PATIENCE, until};

#[derive(Default)]
struct Seen {
    all: Vec<Observation>,
    thread: Option<i32>,
}

/// A running sensor and all that it has said.
pub(crate) struct Watch {
    pub(crate) handle: SensorHandle,
    seen: Arc<(Mutex<Seen>, Condvar)>,
}

impl Watch {
    pub(crate) fn on(desk: &Desktop) -> Self {
        Self::with(settings(Some(desk.display())))
    }

    /// On a display that is none, or on a Wayland session's.
    pub(crate) fn with(settings: Settings) -> Self {
        let seen = Arc::new((Mutex::new(Seen::default()), Condvar::new()));
        let sink = Arc::clone(&seen);
        let handle = spawn(
            settings,
            Box::new(move |observation| {
                let mut seen = sink.0.lock().unwrap();
                seen.thread = Some(rustix::thread::gettid().as_raw_nonzero().get());
                seen.all.push(observation);
                sink.1.notify_all();
            }),
        );
        Self { handle: handle.unwrap(), seen }
    }

    /// Waits until the newest observation is so.
    pub(crate) fn until(&self, what: &str, so: impl Fn(&Observation) -> bool) -> Observation {
        let seen = self.seen.0.lock().unwrap();
        let waits = |seen: &mut Seen| !seen.all.last().is_some_and(&so);
        let (seen, timeout) = self.seen.1.wait_timeout_while(seen, PATIENCE, waits).unwrap();
        assert!(
            !timeout.timed_out(),
            "{what}: last of {} was {:?}",
            seen.all.len(),
            seen.all.last()
        );
        seen.all.last().cloned().unwrap()
    }

    /// Waits until the focused window is so.
    pub(crate) fn until_window(&self, what: &str, so: impl Fn(&Window) -> bool) -> Window {
        let is = |o: &Observation| matches!(&o.focus, Focus::Window(window) if so(window));
        match self.until(what, is).focus {
            Focus::Window(window) => Window::clone(&window),
            Focus::Nothing => unreachable!(),
        }
    }

    pub(crate) fn until_title(&self, title: &str) -> Window {
        self.until_window(&format!("title «{title}»"), |window| window.title == title)
    }

    pub(crate) fn until_nothing(&self) {
        self.until("no window", |o| o.focus == Focus::Nothing && matches!(o.health, Health::Ok(_)));
    }

    pub(crate) fn until_ended(&self) {
        until("the sensor's thread ends", || self.handle.is_finished().then_some(()));
    }

    pub(crate) fn all(&self) -> Vec<Observation> {
        self.seen.0.lock().unwrap().all.clone()
    }

    /// Windows seen since observation number `from`, as their titles.
    pub(crate) fn titles_since(&self, from: usize) -> Vec<String> {
        self.all()[from..].iter().map(title_of).collect()
    }

    pub(crate) fn count(&self) -> usize {
        self.seen.0.lock().unwrap().all.len()
    }

    /// Times that the thread went to sleep, and its CPU time in nanoseconds.
    pub(crate) fn cost(&self) -> (u64, u64) {
        let thread = self.seen.0.lock().unwrap().thread.unwrap();
        let read = |file| fs::read_to_string(format!("/proc/self/task/{thread}/{file}")).unwrap();
        let status = read("status");
        let switches = status.lines().find_map(|l| l.strip_prefix("voluntary_ctxt_switches:"));
        let cpu = read("schedstat");
        let cpu = cpu.split_whitespace().next().unwrap();
        (switches.unwrap().trim().parse().unwrap(), cpu.parse().unwrap())
    }
}

pub(crate) fn settings(display: Option<&str>) -> Settings {
    Settings {
        display: display.map(Into::into),
        wayland: false,
        idle_after: None,
        is_terminal: |class| class == "XTerm",
    }
}

pub(crate) fn title_of(observation: &Observation) -> String {
    match &observation.focus {
        Focus::Window(window) => window.title.clone(),
        Focus::Nothing => "(nothing)".into(),
    }
}

//! Where it was measured.

use std::{cell::RefCell, fs, process::Command, thread, time::Duration};

use crate::table::median;

/// How busy others kept the machine.
#[derive(Debug, Default)]
pub(crate) struct Noise(RefCell<Vec<f64>>);

impl Noise {
    /// Looks, while nothing of ours runs.
    pub(crate) fn listen(&self) {
        let before = ticks();
        thread::sleep(Duration::from_millis(300));
        let after = ticks();
        self.0.borrow_mut().push(100.0 * (after.0 - before.0) / (after.1 - before.1).max(1.0));
    }
}

/// Ticks of work and all ticks since the machine was started, of all processors.
fn ticks() -> (f64, f64) {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let fields = stat.split_whitespace().skip(1).take(8);
    let all: Vec<f64> = fields.filter_map(|it| it.parse().ok()).collect();
    let sum = all.iter().sum::<f64>();
    // the fourth and the fifth are idling and waiting for disks
    (sum - all.iter().skip(3).take(2).sum::<f64>(), sum)
}

/// One sentence.
pub(crate) fn describe(noise: &Noise) -> String {
    let said = |program: &str, args: &[&str]| {
        let output = Command::new(program).args(args).output();
        output.map(|it| String::from_utf8_lossy(&it.stdout).trim().to_owned()).unwrap_or_default()
    };
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let cores = thread::available_parallelism().map_or(1, Into::into);
    let noise = noise.0.borrow();
    let busy = match noise.len() {
        0 => String::new(),
        _ => format!("; other work kept it {:.0} % busy between the rounds", median(&noise)),
    };
    format!(
        "{}, {} ×{cores}, Linux {}{busy}.",
        said("date", &["-u", "+%F"]),
        model.map_or("an unknown processor", |(_, name)| name.trim()),
        said("uname", &["-r"]),
    )
}

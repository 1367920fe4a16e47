//! What runs in the foreground of a terminal window, as /proc tells it (Linux, proc(5)).
//!
//! The terminal's children sit on the pty that it opened; the pty's foreground process group is
//! field 8 (`tpgid`) of their `stat`. One terminal process with several ptys (tabs, or one server
//! for many windows) does not say which of them is the focused one: no answer is better than a
//! wrong one. Every read is of a few hundred bytes, and their number is bounded.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::text::{self, Encoding};

/// Longest command, as for a window's class.
const COMMAND_BYTES: usize = 256;
/// How far a window's process is looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reach {
    /// Files read for one answer.
    reads: u32,
    /// Generations below the process.
    depth: u8,
    /// Whether children of other threads than the first are looked for.
    threads: bool,
}

/// For a process that is known to be a terminal's. It has a handful of children; a hundred tabs are
/// ambiguous anyhow. Between it and the shell there may be a helper or two that is not on the pty.
pub(super) const TERMINAL: Reach = Reach { reads: 256, depth: 3, threads: true };
/// For any other process, at every change of focus: a browser has a hundred threads. Only children
/// of its own count, since those of a file manager or an editor may be terminals.
pub(super) const UNKNOWN: Reach = Reach { reads: 16, depth: 1, threads: false };

/// How often a child that is a copy of its terminal is looked at, and the pause between.
const BECOMING_LOOKS: u32 = 10;
const BECOMING_PAUSE: Duration = Duration::from_millis(2);

/// Whether `WM_CLIENT_MACHINE` (ICCCM 4.1.2.9) names this host, so that `_NET_WM_PID` is one of
/// ours (EWMH asks for both together).
pub(super) fn is_this_host(client_machine: &str) -> bool {
    let uname = rustix::system::uname();
    let host = uname.nodename().to_string_lossy();
    !client_machine.is_empty() && client_machine.eq_ignore_ascii_case(&host)
}

/// Basename of the foreground process of the only pty that process `pid` holds.
///
/// A window that was just opened may have a child that is a copy of the terminal still, about to
/// become the program. No event says when it has, so it is looked at again, a few milliseconds in
/// all; after that no answer is better than the terminal's own name.
pub(super) fn foreground_command(pid: u32, reach: Reach) -> Option<String> {
    let proc = || Proc::new(Path::new("/proc"), reach);
    let own = proc().command(pid);
    for _ in 0..BECOMING_LOOKS {
        let command = proc().foreground_command(pid);
        if command.is_none() || command != own {
            return command;
        }
        std::thread::sleep(BECOMING_PAUSE);
    }
    None
}

/// Part of `/proc/PID/stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stat {
    group: i32,
    tty: i32,
    foreground: i32,
}

/// A view of /proc with a budget.
struct Proc {
    root: PathBuf,
    reads_left: u32,
    reach: Reach,
}

impl Proc {
    fn new(root: &Path, reach: Reach) -> Self {
        Self { root: root.to_owned(), reads_left: reach.reads, reach }
    }

    fn foreground_command(&mut self, terminal: u32) -> Option<String> {
        // In a container's or a sandbox's pid namespace the number means something else outside;
        // at least never look into another user's processes.
        let owner = fs::metadata(self.root.join(terminal.to_string())).ok()?.uid();
        if terminal < 2 || owner != rustix::process::geteuid().as_raw() {
            return None;
        }
        // started from a shell, the terminal itself sits on another one's pty
        let own_tty = self.stat(terminal)?.tty;
        let mut pty: Option<(u32, Stat)> = None;
        let mut queue = VecDeque::from([(terminal, 0)]);
        while let Some((parent, depth)) = queue.pop_front() {
            for child in self.children(parent)? {
                let Some(stat) = self.stat(child) else { continue };
                if stat.tty == 0 || stat.tty == own_tty {
                    if depth + 1 < self.reach.depth {
                        queue.push_back((child, depth + 1));
                    }
                } else if pty.is_none_or(|(_, other)| other.tty == stat.tty) {
                    pty.get_or_insert((child, stat));
                } else {
                    return None;
                }
            }
        }
        let (child, stat) = pty?;
        let leader = u32::try_from(stat.foreground).ok().filter(|leader| *leader > 1)?;
        self.command(leader).or_else(|| {
            // of `a | b` the leader may be gone while b still runs
            let member = self.member(child, stat.foreground)?;
            self.command(member)
        })
    }

    /// A process of group `group` among the descendants of `from`.
    fn member(&mut self, from: u32, group: i32) -> Option<u32> {
        let mut queue = VecDeque::from([from]);
        while let Some(parent) = queue.pop_front() {
            for child in self.children(parent)? {
                if self.stat(child).is_some_and(|stat| stat.group == group) {
                    return Some(child);
                }
                queue.push_back(child);
            }
        }
        None
    }

    /// Children of `pid`, as far as they are looked for; `None` when the budget is used up, since half the
    /// children could hide a second pty.
    fn children(&mut self, pid: u32) -> Option<Vec<u32>> {
        let mut children = Vec::new();
        let tasks = self.root.join(format!("{pid}/task"));
        let threads = if self.reach.threads {
            let Ok(threads) = fs::read_dir(&tasks) else { return Some(children) };
            threads.flatten().map(|thread| thread.path()).collect()
        } else {
            vec![tasks.join(pid.to_string())]
        };
        for thread in threads {
            // 4 KiB hold some 600 children
            let list = self.read(&thread.join("children"), 4096)?;
            let list = String::from_utf8_lossy(&list);
            children
                .extend(list.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
        Some(children)
    }

    fn stat(&mut self, pid: u32) -> Option<Stat> {
        parse_stat(&self.read(&self.root.join(format!("{pid}/stat")), 1024)?)
    }

    fn command(&mut self, pid: u32) -> Option<String> {
        let dir = self.root.join(pid.to_string());
        let line = self.read(&dir.join("cmdline"), 1024)?;
        command_of(&line).or_else(|| {
            let comm = self.read(&dir.join("comm"), 64)?;
            let comm = text::decode(Encoding::Utf8, comm.trim_ascii_end(), COMMAND_BYTES);
            (!comm.is_empty()).then_some(comm)
        })
    }

    /// The file's first bytes, empty when it cannot be read; `None` beyond the budget.
    fn read(&mut self, path: &Path, limit: u64) -> Option<Vec<u8>> {
        self.reads_left = self.reads_left.checked_sub(1)?;
        let mut bytes = Vec::new();
        if let Ok(file) = File::open(path) {
            // a process that ended in between is the same as one that was never there
            let _ = file.take(limit).read_to_end(&mut bytes);
        }
        Some(bytes)
    }
}

/// The name in field 2 may hold spaces and parentheses, so counting begins at the last one.
fn parse_stat(line: &[u8]) -> Option<Stat> {
    let name_end = line.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(line.get(name_end + 1..)?).ok()?;
    // state, ppid, pgrp, session, tty_nr, tpgid
    let mut fields = rest.split_ascii_whitespace().skip(2);
    let group = fields.next()?.parse().ok()?;
    let tty = fields.nth(1)?.parse().ok()?;
    let foreground = fields.next()?.parse().ok()?;
    Some(Stat { group, tty, foreground })
}

/// Basename of the first argument. A title that the process wrote there instead («nginx: worker»)
/// is no name.
fn command_of(cmdline: &[u8]) -> Option<String> {
    let first = cmdline.split(|byte| *byte == 0).next()?;
    let name = first.rsplit(|byte| *byte == b'/').next()?;
    // login shells are called «-bash»
    let name = name.strip_prefix(b"-").unwrap_or(name);
    if name.is_empty() || name.iter().any(|byte| *byte == b' ' || byte.is_ascii_control()) {
        return None;
    }
    Some(text::decode(Encoding::Utf8, name, COMMAND_BYTES))
}

#[cfg(test)]
mod tests;

//! Where a request comes from: the process at the other end and those that it descends from, as
//! /proc tells them (Linux, proc(5)). What is typed into a terminal descends from the terminal, so
//! this tells a terminal from other windows without knowing its name.
//!
//! The files read are the kernel's own, so nothing is waited for. A client that has gone, or a
//! /proc that keeps others' processes to itself, shortens the line; so does tmux, whose server is
//! nobody's child.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

/// Most generations that are looked up; a shell in a terminal on a desktop has about ten above it.
const MAX_GENERATIONS: usize = 64;
/// Bytes read of a `stat`: the parent stands behind a name of at most 64.
const STAT_BYTES: u64 = 512;

/// A process, its parent, and so on up to the first process, which stands for nobody.
pub(super) fn of(pid: Option<u32>) -> Vec<u32> {
    line(Path::new("/proc"), pid)
}

fn line(root: &Path, pid: Option<u32>) -> Vec<u32> {
    let mut line = Vec::new();
    let mut next = pid;
    while let Some(pid) = next.filter(|&pid| pid > 1 && line.len() < MAX_GENERATIONS) {
        line.push(pid);
        next = parent(root.join(format!("{pid}/stat")));
    }
    line
}

/// Field 4. The name in field 2 may hold spaces and parentheses, so counting begins at the last one.
fn parent(stat: PathBuf) -> Option<u32> {
    let mut bytes = Vec::new();
    File::open(stat).ok()?.take(STAT_BYTES).read_to_end(&mut bytes).ok()?;
    let name_end = bytes.iter().rposition(|&byte| byte == b')')?;
    let rest = str::from_utf8(bytes.get(name_end + 1..)?).ok()?;
    rest.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn our_own_line_leads_from_us_over_our_parent() {
        let line = of(Some(std::process::id()));
        assert_eq!(line[..2], [std::process::id(), std::os::unix::process::parent_id()]);
        assert!(line.iter().all(|&pid| pid > 1));
        assert!(of(None).is_empty());
    }

    #[test]
    fn what_cannot_be_read_ends_it_and_a_circle_does_not_last() {
        let root = tempfile::tempdir().unwrap();
        for (pid, stat) in [
            (10, "10 (a ) 99 (b) S 11 10 10 0 -1"),
            (11, "11 (x) S 1 11 11 0 -1"),
            (20, "20 (gone) S 21 20 20 0 -1"),
            (30, "30 (self) S 30 30 30 0 -1"),
            (40, "half a line"),
        ] {
            let dir = root.path().join(pid.to_string());
            fs::create_dir(&dir).unwrap();
            fs::write(dir.join("stat"), stat).unwrap();
        }
        let line = |pid| line(root.path(), Some(pid));
        assert_eq!(line(10), [10, 11]);
        assert_eq!(line(20), [20, 21]);
        assert_eq!(line(30).len(), MAX_GENERATIONS);
        assert_eq!((line(40), line(50), line(0), line(1)), (vec![40], vec![50], vec![], vec![]));
    }
}

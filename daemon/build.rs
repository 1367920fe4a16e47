//! Turns the catalogue's text files into the sorted tables that the embedded judge looks things up
//! in. A clash between two entries stops the build and names both.

#[path = "src/ai/embedded/spelling.rs"]
#[allow(dead_code)]
mod spelling;

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::exit,
};

use spelling::{fold, is_unspaced, stem};

/// A spelling with the number it gets, and where it stands.
#[derive(Default)]
struct Builder {
    entries: BTreeMap<String, (u16, String)>,
}

impl Builder {
    fn add(&mut self, key: String, value: u16, place: &str) {
        if key.is_empty() {
            fail(&format!("{place}: an entry without letters"));
        }
        match self.entries.get(&key) {
            Some((other, at)) if *other != value => {
                fail(&format!("{place}: «{key}» clashes with the entry at {at}"));
            }
            _ => {
                self.entries.insert(key, (value, place.to_owned()));
            }
        }
    }

    fn emit(&self, name: &str, out: &mut String) {
        let mut keys = String::new();
        let (mut ends, mut values) = (Vec::new(), Vec::new());
        for (key, (value, _)) in &self.entries {
            keys.push_str(key);
            ends.push(keys.len());
            values.push(*value);
        }
        let _ = writeln!(
            out,
            "pub(super) static {name}: Table = Table {{ keys: {keys:?}, ends: &{ends:?}, values: &{values:?} }};"
        );
    }
}

/// Spellings that stand for several things each.
#[derive(Default)]
struct Lists {
    entries: BTreeMap<String, BTreeSet<u16>>,
}

impl Lists {
    fn add(&mut self, key: String, value: u16) {
        if !key.is_empty() {
            self.entries.entry(key).or_default().insert(value);
        }
    }

    /// The same as a table of numbers of lists.
    fn table(&self, lists: &mut Vec<Vec<u16>>) -> Builder {
        let mut builder = Builder::default();
        for (key, values) in &self.entries {
            let list: Vec<u16> = values.iter().copied().collect();
            let at = lists.iter().position(|other| *other == list).unwrap_or_else(|| {
                lists.push(list);
                lists.len() - 1
            });
            builder.add(key.clone(), at as u16, key);
        }
        builder
    }
}

const TILDE: u16 = 1 << 12;
const STOP: u16 = 1;
const TASK: u16 = 2;
const COMMON: u16 = 4;

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("catalogue");
    println!("cargo::rerun-if-changed=catalogue");
    println!("cargo::rerun-if-changed=src/ai/embedded/spelling.rs");

    let kind_files = files(&root.join("kinds"));
    let kinds: Vec<String> = kind_files.iter().map(|path| name(path)).collect();
    let number = |kind: &str, place: &str| -> u16 {
        match kinds.iter().position(|it| it == kind) {
            Some(at) => at as u16,
            None => fail(&format!("{place}: there is no kind «{kind}» in catalogue/kinds")),
        }
    };

    let mut out = String::new();
    let (mut concerns, mut stems, mut own) = (Lists::default(), Lists::default(), Lists::default());
    let mut heads = Vec::new();
    let mut akin = Vec::new();
    for (at, path) in kind_files.iter().enumerate() {
        let (mut label, mut sort, mut talk) = (String::new(), String::new(), false);
        for (place, line) in lines(path) {
            let Some((key, value)) = line.split_once(" = ") else {
                fail(&format!("{place}: no « = »"))
            };
            let words = value.split(',').map(str::trim);
            match key.split(' ').next() {
                Some("label") => label = value.to_owned(),
                Some("sort") => sort = value.to_owned(),
                Some("task") => words.for_each(|word| match word.strip_suffix('*') {
                    Some(beginning) => stems.add(fold(beginning), at as u16),
                    None => concerns.add(fold(word), at as u16),
                }),
                Some("own") => {
                    words.for_each(|word| own.add(stem(&fold(word)).to_owned(), at as u16))
                }
                Some("talk") => talk = true,
                Some("akin") => words.for_each(|kind| akin.push((at as u16, number(kind, &place)))),
                _ => fail(&format!("{place}: unknown key «{key}»")),
            }
        }
        let sort = match sort.as_str() {
            "leisure" => "Leisure",
            "private" => "Private",
            "apart" => "Apart",
            "work" => "Work",
            "neutral" => "Neutral",
            "carrier" => "Carrier",
            other => fail(&format!("{}: unknown sort «{other}»", path.display())),
        };
        heads.push(format!(
            "Kind {{ name: {:?}, label: {label:?}, sort: Sort::{sort}, talk: {talk} }}",
            kinds[at]
        ));
    }

    let mut sites = Builder::default();
    for path in files(&root.join("sites")) {
        let kind = number(&name(&path), &path.display().to_string());
        for (place, line) in lines(&path) {
            for spelling in line.split(" = ") {
                let (spelling, tilde) = match spelling.strip_prefix('~') {
                    Some(spelling) => (spelling, TILDE),
                    None => (spelling, 0),
                };
                sites.add(fold(spelling), kind | tilde, &place);
            }
        }
    }
    let (mut classes, mut beginnings) = (Builder::default(), Builder::default());
    for path in files(&root.join("programs")) {
        let kind = number(&name(&path), &path.display().to_string());
        for (place, line) in lines(&path) {
            for class in line.split(" = ").skip(1) {
                match class.strip_suffix('*') {
                    Some(beginning) => beginnings.add(fold(beginning), kind, &place),
                    None => classes.add(fold(class), kind, &place),
                }
            }
        }
    }

    let mut flags: BTreeMap<String, u16> = BTreeMap::new();
    let (mut blank, mut teaching, mut pastime) =
        (Builder::default(), Builder::default(), Builder::default());
    let mut groups = Lists::default();
    let mut extensions = Vec::new();
    for path in files(&root.join("words")) {
        let file = name(&path);
        let flag = match file.split('-').next() {
            Some("stop") => STOP,
            Some("task") => TASK,
            Some("common") => COMMON,
            _ => 0,
        };
        for (index, (place, line)) in lines(&path).into_iter().enumerate() {
            let word = line.split(" = ").next().unwrap_or_default();
            match file.split('-').next() {
                Some("stop" | "task" | "common") => {
                    let word = fold(word);
                    if word.chars().any(is_unspaced) || !word.contains(' ') {
                        *flags.entry(word).or_default() |= flag;
                    }
                }
                Some("extensions") => {
                    extensions
                        .push((fold(word), fold(line.split(" = ").nth(1).unwrap_or_default())));
                }
                Some("blank") => blank.add(fold(word), 0, &place),
                Some("teaching") => teaching.add(fold(word), 0, &place),
                Some("pastime" | "topics") => {
                    let kind = line.split(" = ").nth(1).unwrap_or_default().trim();
                    let (word, tilde) = match word.strip_prefix('~') {
                        Some(word) => (word, TILDE),
                        None => (word, 0),
                    };
                    let key = fold(word);
                    // Two languages may read one phrase in two ways; the first counts.
                    if !pastime.entries.contains_key(&key) {
                        pastime.add(key, number(kind, &place) | tilde, &place);
                    }
                }
                Some("pairs") => line.split(" = ").for_each(|word| {
                    let word = fold(word);
                    let key = if word.contains(' ') { word } else { stem(&word).to_owned() };
                    groups.add(key, index as u16);
                }),
                _ => fail(&format!("{}: unknown file", path.display())),
            }
        }
    }
    let mut words = Builder::default();
    for (word, flag) in flags {
        words.add(word, flag, "words");
    }

    let _ = writeln!(out, "pub(super) static KINDS: &[Kind] = &[{}];", heads.join(", "));
    let _ = writeln!(out, "pub(super) static AKIN: &[(KindId, KindId)] = &{akin:?};");
    let _ = writeln!(out, "pub(super) static EXTENSIONS: &[(&str, &str)] = &{extensions:?};");
    let mut lists = Vec::new();
    concerns.table(&mut lists).emit("CONCERNS", &mut out);
    stems.table(&mut lists).emit("CONCERN_BEGINNINGS", &mut out);
    own.table(&mut lists).emit("OWN", &mut out);
    groups.table(&mut lists).emit("GROUPS", &mut out);
    sites.emit("SITES", &mut out);
    classes.emit("CLASSES", &mut out);
    beginnings.emit("CLASS_BEGINNINGS", &mut out);
    words.emit("WORDS", &mut out);
    blank.emit("BLANK", &mut out);
    teaching.emit("TEACHING", &mut out);
    pastime.emit("PASTIME", &mut out);
    let flat: Vec<u16> = lists.iter().flatten().copied().collect();
    let ends: Vec<usize> = lists
        .iter()
        .scan(0, |end, list| {
            *end += list.len();
            Some(*end)
        })
        .collect();
    let _ = writeln!(
        out,
        "pub(super) static LISTS: &[u16] = &{flat:?};\npub(super) static LIST_ENDS: &[u16] = &{ends:?};"
    );
    let target = PathBuf::from(env::var("OUT_DIR").unwrap_or_default()).join("catalogue.rs");
    if let Err(error) = fs::write(&target, out) {
        fail(&format!("{}: {error}", target.display()));
    }
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { fail(&format!("{} cannot be read", dir.display())) };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    files
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The lines that say something, each with its place.
fn lines(path: &Path) -> Vec<(String, String)> {
    let Ok(text) = fs::read_to_string(path) else {
        fail(&format!("{} cannot be read", path.display()))
    };
    let told = |(at, line): (usize, &str)| {
        let line = line.trim();
        let place = format!("{}:{}", path.display(), at + 1);
        (!line.is_empty() && !line.starts_with("# ") && line != "#")
            .then(|| (place, line.to_owned()))
    };
    text.lines().enumerate().filter_map(told).collect()
}

#[allow(clippy::disallowed_methods, reason = "this is a main's own")]
fn fail(message: &str) -> ! {
    println!("cargo::error={message}");
    exit(1)
}

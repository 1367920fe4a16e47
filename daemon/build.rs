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

use spelling::{COMMON, STOP, TASK, TILDE, fold, is_unspaced, stem};

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
        let table = format!("Table {{ keys: {keys:?}, ends: &{ends:?}, values: &{values:?} }}");
        emit(name, "Table", &table, out);
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

/// What is known of the kinds themselves.
#[derive(Default)]
struct Kinds {
    names: Vec<String>,
    /// Each kind as an expression.
    heads: Vec<String>,
    concerns: Lists,
    beginnings: Lists,
    own: Lists,
    akin: Vec<(u16, u16)>,
}

impl Kinds {
    fn read(dir: &Path) -> Self {
        let files = files(dir);
        let mut kinds =
            Self { names: files.iter().map(|path| name(path)).collect(), ..Self::default() };
        for (at, path) in files.iter().enumerate() {
            kinds.add(at as u16, path);
        }
        kinds
    }

    fn number(&self, kind: &str, place: &str) -> u16 {
        match self.names.iter().position(|it| it == kind) {
            Some(at) => at as u16,
            None => fail(&format!("{place}: there is no kind «{kind}» in catalogue/kinds")),
        }
    }

    /// The kind that a file of sites or programs is about.
    fn of_file(&self, path: &Path) -> u16 {
        self.number(&name(path), &path.display().to_string())
    }

    fn add(&mut self, id: u16, path: &Path) {
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
                    Some(beginning) => self.beginnings.add(fold(beginning), id),
                    None => self.concerns.add(fold(word), id),
                }),
                Some("own") => {
                    words.for_each(|word| self.own.add(stem(&fold(word)).to_owned(), id))
                }
                Some("talk") => talk = true,
                Some("akin") => {
                    for kind in words {
                        self.akin.push((id, self.number(kind, &place)));
                    }
                }
                _ => fail(&format!("{place}: unknown key «{key}»")),
            }
        }
        self.heads.push(format!(
            "Kind {{ name: {:?}, label: {label:?}, sort: Sort::{}, talk: {talk} }}",
            name(path),
            sort_variant(&sort, path)
        ));
    }
}

fn sort_variant(sort: &str, path: &Path) -> &'static str {
    match sort {
        "leisure" => "Leisure",
        "private" => "Private",
        "apart" => "Apart",
        "work" => "Work",
        "neutral" => "Neutral",
        "carrier" => "Carrier",
        other => fail(&format!("{}: unknown sort «{other}»", path.display())),
    }
}

fn sites(dir: &Path, kinds: &Kinds) -> Builder {
    let mut sites = Builder::default();
    for path in files(dir) {
        let kind = kinds.of_file(&path);
        for (place, line) in lines(&path) {
            for spelling in line.split(" = ") {
                let (spelling, tilde) = without_tilde(spelling);
                sites.add(fold(spelling), kind | tilde, &place);
            }
        }
    }
    sites
}

/// The classes of programs, and the beginnings of classes.
fn programs(dir: &Path, kinds: &Kinds) -> (Builder, Builder) {
    let (mut classes, mut beginnings) = (Builder::default(), Builder::default());
    for path in files(dir) {
        let kind = kinds.of_file(&path);
        for (place, line) in lines(&path) {
            for class in line.split(" = ").skip(1) {
                match class.strip_suffix('*') {
                    Some(beginning) => beginnings.add(fold(beginning), kind, &place),
                    None => classes.add(fold(class), kind, &place),
                }
            }
        }
    }
    (classes, beginnings)
}

/// What is known of words and phrases.
#[derive(Default)]
struct Words {
    /// Words that tell little, each with its flags.
    flags: BTreeMap<String, u16>,
    extensions: Vec<(String, String)>,
    blank: Builder,
    teaching: Builder,
    pastime: Builder,
    groups: Lists,
}

impl Words {
    fn read(dir: &Path, kinds: &Kinds) -> Self {
        let mut words = Self::default();
        for path in files(dir) {
            let file = name(&path);
            for (index, (place, line)) in lines(&path).into_iter().enumerate() {
                let (word, value) = line.split_once(" = ").unwrap_or((&line, ""));
                match file.split('-').next() {
                    Some("stop") => words.flag(word, STOP),
                    Some("task") => words.flag(word, TASK),
                    Some("common") => words.flag(word, COMMON),
                    Some("extensions") => words.extensions.push((fold(word), fold(value))),
                    Some("blank") => words.blank.add(fold(word), 0, &place),
                    Some("teaching") => words.teaching.add(fold(word), 0, &place),
                    Some("pastime" | "topics") => {
                        words.add_pastime(word, kinds.number(value.trim(), &place), &place);
                    }
                    Some("pairs") => words.add_group(&line, index as u16),
                    _ => fail(&format!("{}: unknown file", path.display())),
                }
            }
        }
        words
    }

    fn flag(&mut self, word: &str, flag: u16) {
        let word = fold(word);
        if word.chars().any(is_unspaced) || !word.contains(' ') {
            *self.flags.entry(word).or_default() |= flag;
        }
    }

    /// Two languages may read one phrase in two ways; the first counts.
    fn add_pastime(&mut self, phrase: &str, kind: u16, place: &str) {
        let (phrase, tilde) = without_tilde(phrase);
        let key = fold(phrase);
        if !self.pastime.entries.contains_key(&key) {
            self.pastime.add(key, kind | tilde, place);
        }
    }

    fn add_group(&mut self, line: &str, group: u16) {
        for word in line.split(" = ").map(fold) {
            let key = if word.contains(' ') { word } else { stem(&word).to_owned() };
            self.groups.add(key, group);
        }
    }

    fn flagged(&self) -> Builder {
        let mut flagged = Builder::default();
        for (word, flags) in &self.flags {
            flagged.add(word.clone(), *flags, "words");
        }
        flagged
    }
}

fn main() {
    println!("cargo::rerun-if-changed=catalogue");
    println!("cargo::rerun-if-changed=src/ai/embedded/spelling.rs");

    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap_or_default()).join("catalogue");
    let kinds = Kinds::read(&root.join("kinds"));
    let sites = sites(&root.join("sites"), &kinds);
    let (classes, beginnings) = programs(&root.join("programs"), &kinds);
    let words = Words::read(&root.join("words"), &kinds);

    let mut out = String::new();
    emit("KINDS", "&[Kind]", &format!("&[{}]", kinds.heads.join(", ")), &mut out);
    emit("AKIN", "&[(KindId, KindId)]", &format!("&{:?}", kinds.akin), &mut out);
    emit("EXTENSIONS", "&[(&str, &str)]", &format!("&{:?}", words.extensions), &mut out);
    let mut lists = Vec::new();
    kinds.concerns.table(&mut lists).emit("CONCERNS", &mut out);
    kinds.beginnings.table(&mut lists).emit("CONCERN_BEGINNINGS", &mut out);
    kinds.own.table(&mut lists).emit("OWN", &mut out);
    words.groups.table(&mut lists).emit("GROUPS", &mut out);
    sites.emit("SITES", &mut out);
    classes.emit("CLASSES", &mut out);
    beginnings.emit("CLASS_BEGINNINGS", &mut out);
    words.flagged().emit("WORDS", &mut out);
    words.blank.emit("BLANK", &mut out);
    words.teaching.emit("TEACHING", &mut out);
    words.pastime.emit("PASTIME", &mut out);
    emit_lists(&lists, &mut out);

    let target = PathBuf::from(env::var("OUT_DIR").unwrap_or_default()).join("catalogue.rs");
    if let Err(error) = fs::write(&target, out) {
        fail(&format!("{}: {error}", target.display()));
    }
}

fn emit(name: &str, of_type: &str, value: &str, out: &mut String) {
    let _ = writeln!(out, "pub(super) static {name}: {of_type} = {value};");
}

/// All lists one behind the other, and where each ends.
fn emit_lists(lists: &[Vec<u16>], out: &mut String) {
    let mut end = 0;
    let ends: Vec<usize> = lists
        .iter()
        .map(|list| {
            end += list.len();
            end
        })
        .collect();
    emit("LISTS", "&[u16]", &format!("&{:?}", lists.concat()), out);
    emit("LIST_ENDS", "&[u16]", &format!("&{ends:?}"), out);
}

/// A spelling without the `~` before it, and the flag that this is.
fn without_tilde(spelling: &str) -> (&str, u16) {
    spelling.strip_prefix('~').map_or((spelling, 0), |spelling| (spelling, TILDE))
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

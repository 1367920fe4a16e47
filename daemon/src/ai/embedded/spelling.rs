//! How words are made comparable. The build script reads this file too, so that the catalogue is
//! spelt as titles are, and its tables are read as they were written.

/// The most words of one text that are looked at; titles and commitments are shorter.
pub(crate) const MAX_TOKENS: usize = 64;

/// The flag, beside a kind's number, of a spelling that has other senses: `~` in the catalogue.
pub(crate) const TILDE: u16 = 1 << 12;
/// The flag of a word that tells nothing.
pub(crate) const STOP: u16 = 1;
/// The flag of a word that says only what one does.
pub(crate) const TASK: u16 = 2;
/// The flag of a word that has many senses.
pub(crate) const COMMON: u16 = 4;

/// Small letters without accents and without what differs by keyboard only: `É` is `e`, `’` is `'`,
/// full-width letters are plain ones, a run of blanks is one.
pub(crate) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            'a'..='z' | '0'..='9' => folded.push(c),
            'A'..='Z' => folded.push(c.to_ascii_lowercase()),
            c if c.is_whitespace() => {
                if !folded.ends_with(' ') {
                    folded.push(' ');
                }
            }
            c if c.is_ascii() => folded.push(c),
            c => c.to_lowercase().for_each(|c| fold_letter(c, &mut folded)),
        }
    }
    let ends = [' ', '.', '!'];
    folded.truncate(folded.trim_end_matches(ends).len());
    let blank = folded.len() - folded.trim_start_matches(ends).len();
    folded.drain(..blank);
    folded
}

fn fold_letter(c: char, folded: &mut String) {
    let plain = match c {
        'à'..='å' | 'ā' | 'ă' | 'ą' => "a",
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => "c",
        'ď' | 'đ' => "d",
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' => "e",
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => "g",
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' => "i",
        'ł' | 'ľ' | 'ĺ' | 'ļ' => "l",
        'ñ' | 'ń' | 'ņ' | 'ň' => "n",
        'ò'..='ö' | 'ø' | 'ō' | 'ŏ' | 'ő' => "o",
        'ŕ' | 'ř' => "r",
        'ś' | 'ŝ' | 'ş' | 'š' | 'ș' => "s",
        'ţ' | 'ť' | 'ț' => "t",
        'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' => "u",
        'ý' | 'ÿ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ё' => "е",
        'й' => "и",
        '‘' | '’' | '´' => "'",
        '“' | '”' => "\"",
        '®' | '™' | '\u{200b}'..='\u{200f}' | '\u{300}'..='\u{36f}' => "",
        '！'..='～' => {
            let plain = u32::from(c) - 0xfee0;
            folded.extend(char::from_u32(plain).map(|c| c.to_ascii_lowercase()));
            return;
        }
        c => return folded.push(c),
    };
    folded.push_str(plain);
}

/// Whether the letter is of a script that is written without blanks between words.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '々')
}

#[derive(PartialEq, Eq)]
enum Script {
    Spaced,
    Ideographs,
    /// Foreign words and names: what stands together is one word.
    Katakana,
    /// Mostly grammar: it parts words of other letters.
    Hiragana,
}

fn script(c: char) -> Script {
    match c {
        '\u{3041}'..='\u{309f}' => Script::Hiragana,
        '\u{30a0}'..='\u{30ff}' => Script::Katakana,
        c if is_unspaced(c) => Script::Ideographs,
        _ => Script::Spaced,
    }
}

/// The words of a folded text, at most [`MAX_TOKENS`]: runs of letters and digits, and of
/// ideographs every two that stand side by side.
pub(crate) fn words(folded: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for run in folded.split(|c: char| !c.is_alphanumeric()) {
        let mut rest = run;
        while let Some(first) = rest.chars().next()
            && words.len() < MAX_TOKENS
        {
            let alike = |c: char| script(c) == script(first);
            let end = rest.find(|c| !alike(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            rest = after;
            match script(first) {
                Script::Ideographs => pairs_of_letters(word, &mut words),
                Script::Spaced | Script::Katakana => words.push(word),
                Script::Hiragana => {}
            }
        }
    }
    words.truncate(MAX_TOKENS);
    words
}

fn pairs_of_letters<'a>(run: &'a str, words: &mut Vec<&'a str>) {
    let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).take(MAX_TOKENS + 2).collect();
    match starts.len() {
        0 => {}
        1 => words.push(run),
        count => words.extend((0..count - 1).map(|at| {
            let end = starts.get(at + 2).copied().unwrap_or(run.len());
            &run[starts[at]..end]
        })),
    }
}

/// Endings that one word has in many forms, of the languages of the catalogue, longest first.
const ENDINGS: &[&str] = &[
    "izations", "isations", "ization", "isation", "ations", "ungen", "ation", "ments", "ings",
    "ment", "ung", "ing", "ies", "ied", "ers", "ten", "ene", "ami", "ach", "owy", "owa", "owe",
    "ego", "ого", "ами", "ями", "ция", "ции", "er", "ed", "es", "en", "em", "ly", "ie", "ow", "ия",
    "ии", "ов", "ев", "ам", "ах", "ой", "ая", "ые", "ыи", "ую", "ом", "s", "e", "y", "a", "o", "i",
    "n", "а", "ы", "и", "у", "е", "я", "ь", "о",
];

/// A word without the ending that tells its number, case or form; at least three letters stay.
pub(crate) fn stem(word: &str) -> &str {
    let letters = word.chars().count();
    let long_enough =
        |ending: &&&str| word.ends_with(**ending) && letters >= ending.chars().count() + 3;
    let Some(ending) = ENDINGS.iter().find(long_enough) else { return word };
    let stem = &word[..word.len() - ending.len()];
    // `planning` and `plan`: the letter is doubled before the ending.
    let mut back = stem.char_indices().rev();
    match (back.next(), back.next()) {
        (Some((at, last)), Some((_, before))) if last == before && stem.len() > 4 => &stem[..at],
        _ => stem,
    }
}

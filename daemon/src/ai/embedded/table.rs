//! A sorted table of spellings that lies in the program file: nothing is read at start, and only
//! the pages that are looked at take memory.

/// Spellings, each with a number. Filled by the build script.
#[derive(Debug)]
pub(super) struct Table {
    /// All spellings, sorted, one behind the other.
    pub(super) keys: &'static str,
    /// Where each ends.
    pub(super) ends: &'static [u32],
    /// The number of each.
    pub(super) values: &'static [u16],
}

impl Table {
    fn key(&self, index: usize) -> &'static str {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.keys[start..self.ends[index] as usize]
    }

    /// How many spellings are not greater than `text`.
    fn rank(&self, text: &str) -> usize {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.key(middle) <= text { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// The number of this spelling.
    pub(super) fn get(&self, text: &str) -> Option<u16> {
        let at = self.rank(text).checked_sub(1)?;
        (self.key(at) == text).then(|| self.values[at])
    }

    /// The longest spelling that `text` begins with and that `fits`, with its number.
    pub(super) fn longest_prefix(
        &self,
        text: &str,
        mut fits: impl FnMut(&'static str) -> bool,
    ) -> Option<(&'static str, u16)> {
        let mut text = text;
        loop {
            let at = self.rank(text).checked_sub(1)?;
            let key = self.key(at);
            let common = common_prefix(key, text);
            if common == key.len() && fits(key) {
                return Some((key, self.values[at]));
            }
            // A shorter one can only be a prefix of what both have in common.
            let shorter = if common == text.len() || common == key.len() {
                let last = text[..common].char_indices().next_back()?.0;
                &text[..last]
            } else {
                &text[..common]
            };
            if shorter.is_empty() {
                return None;
            }
            text = shorter;
        }
    }

    /// How many spellings there are.
    pub(super) fn count(&self) -> usize {
        self.ends.len()
    }
}

/// How many bytes two texts have in common, whole letters only.
fn common_prefix(a: &str, b: &str) -> usize {
    let mut common = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    while !a.is_char_boundary(common) || !b.is_char_boundary(common) {
        common -= 1;
    }
    common
}

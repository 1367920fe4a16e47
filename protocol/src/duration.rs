//! Lengths of time as people type them, in the configuration and on the command line.

/// Reads `25m`, `1h30`, `1h30m`, `90s`, `1h`, or a bare number, which means minutes, as seconds. A
/// number without a unit behind a larger unit has the next smaller one: `1h30` is 90 minutes and
/// `2m30` 150 seconds. `None`: nonsense. Absurdly large is the largest number; zero is read, too.
///
/// ```
/// use antidrift_protocol::duration::length;
///
/// assert_eq!(length("1h30"), Some(5400));
/// assert_eq!(length("25"), Some(1500));
/// assert_eq!(length("half an hour"), None);
/// ```
#[must_use]
pub fn length(text: &str) -> Option<u64> {
    let mut total = 0_u64;
    // Seconds in one of the unit that a bare number has here; none is left after seconds.
    let mut bare = Some(60);
    let mut largest = u64::MAX;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (number, tail) = rest.split_at_checked(digits)?;
        if number.is_empty() {
            return None;
        }
        // Only too many digits can fail here.
        let number = number.parse().unwrap_or(u64::MAX);
        let letters = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
        let (word, tail) = tail.split_at_checked(letters)?;
        let unit = match word.to_ascii_lowercase().as_str() {
            "" if tail.is_empty() => bare?,
            "h" => 3600,
            "m" | "min" => 60,
            "s" => 1,
            _ => return None,
        };
        if unit >= largest {
            return None;
        }
        largest = unit;
        bare = match unit {
            3600 => Some(60),
            60 => Some(1),
            _ => None,
        };
        total = total.saturating_add(number.saturating_mul(unit));
        rest = tail;
    }
    (!text.is_empty()).then_some(total)
}

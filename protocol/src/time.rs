//! Instants on the wire.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// A wall-clock instant: RFC 3339, UTC, always with milliseconds, as in
/// `2026-11-30T09:12:44.120Z`. Readers accept any RFC 3339 instant, in any zone and precision.
///
/// ```
/// use antidrift_protocol::Timestamp;
///
/// let at: Timestamp = "2026-11-30T10:12:44+01:00".parse()?;
/// assert_eq!(at.to_string(), "2026-11-30T09:12:44.000Z");
/// # Ok::<_, String>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Timestamp(jiff::Timestamp);

impl Timestamp {
    /// The instant `millis` milliseconds after the Unix epoch (before it, if negative). Out of the calendar's range it is
    /// the nearest instant that can be written.
    pub fn from_millis(millis: i64) -> Self {
        // Years 1 to 9999: what RFC 3339 can write.
        let millis = millis.clamp(-62_135_596_800_000, 253_402_207_199_999);
        Self(jiff::Timestamp::from_millisecond(millis).unwrap_or_default())
    }

    /// Milliseconds since the Unix epoch.
    pub fn as_millis(self) -> i64 {
        self.0.as_millisecond()
    }

    /// Time from `earlier` to this instant; zero if that is not earlier.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(
            u64::try_from(self.as_millis().saturating_sub(earlier.as_millis())).unwrap_or(0),
        )
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.0)
    }
}

impl FromStr for Timestamp {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let at: jiff::Timestamp = text.parse().map_err(|error: jiff::Error| error.to_string())?;
        // Years that RFC 3339 has no form for are read, too, and would be written again.
        Ok(Self::from_millis(at.as_millisecond()))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_three_digits_and_reads_any() {
        for (text, expected) in [
            ("2026-11-30T09:12:44.12Z", "2026-11-30T09:12:44.120Z"),
            ("2026-11-30T09:12:44Z", "2026-11-30T09:12:44.000Z"),
            ("2026-11-30T10:12:44.1239+01:00", "2026-11-30T09:12:44.123Z"),
        ] {
            let instant: Timestamp = text.parse().unwrap();
            assert_eq!(instant.to_string(), expected);
        }
        assert!("yesterday".parse::<Timestamp>().is_err());
    }

    #[test]
    fn absurd_clocks_are_held_at_the_calendars_ends() {
        for (millis, expected) in
            [(i64::MAX, "9999-12-30T21:59:59.999Z"), (i64::MIN, "0001-01-01T00:00:00.000Z")]
        {
            assert_eq!(Timestamp::from_millis(millis).to_string(), expected);
        }
        for (far, expected) in [
            ("-000044-03-15T12:00:00Z", "0001-01-01T00:00:00.000Z"),
            ("+009999-12-31T00:00:00+00", "9999-12-30T21:59:59.999Z"),
        ] {
            if let Ok(instant) = far.parse::<Timestamp>() {
                assert_eq!(instant.to_string(), expected);
            }
        }
        assert!("-000044-03-15T12:00:00Z".parse::<Timestamp>().is_ok());
        assert_eq!(Timestamp::from_millis(0).since(Timestamp::from_millis(5)), Duration::ZERO);
    }
}

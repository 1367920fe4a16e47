//! What a window says about what a person is doing: its identity, its context, and whether the
//! allowed context covers it. Pure: no clock, no files, no sockets, no X.

use std::fmt;

/// A window as the sensor saw it. Text is raw (decoded, NUL stripped) and bounded by the sensor:
/// titles to 1 KiB, class and instance to 256 bytes.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Window {
    /// The X11 window id; 0 where the sensor has none.
    pub id: u32,
    /// The second string of `WM_CLASS` (ICCCM 4.1.2.5); empty when the property is missing.
    pub class: String,
    /// The first string of `WM_CLASS`.
    pub instance: String,
    /// `_NET_WM_NAME`, else `WM_NAME`; empty when both are missing.
    pub title: String,
    /// Basename of a terminal's foreground process, where the machine tells it.
    pub command: Option<String>,
    /// Host name of an address that stands in the title.
    pub domain: Option<String>,
    /// The window that `WM_TRANSIENT_FOR` names, unless that is the root or none. Its own parent is
    /// not followed.
    pub parent: Option<Box<Window>>,
}

/// Titles are private: no debug output may carry one into a log.
impl fmt::Debug for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Window")
            .field("id", &format_args!("{:#x}", self.id))
            .field("class", &self.class)
            .field("title_bytes", &self.title.len())
            .finish_non_exhaustive()
    }
}

//! antidrift on the wire, and how to write a client for it in any language.
//!
//! `antidriftd` watches the focused window and says whether it serves what the user set out to do.
//! It listens on one Unix socket for lines of JSON; `antidrift` is one client of it among others.
//! This page is all that another one needs. The types below it, with their bounds, are what the
//! daemon itself reads and writes; `tests/golden/` has every line byte for byte.
//!
//! In a hurry:
//!
//! ```sh
//! S="${ANTIDRIFT_SOCKET:-$XDG_RUNTIME_DIR/antidrift/antidriftd.sock}"
//! # One question.
//! printf '{"cmd":"status"}\n' | socat -t 5 - UNIX-CONNECT:"$S" | jq -r .ok.state.phase
//! # Follow the status, one word a line; socat would end a quiet stream after half a second.
//! printf '{"cmd":"subscribe"}\n' | socat -t 1000000 - UNIX-CONNECT:"$S" |
//!   jq -r --unbuffered 'select(.event == "state") | .data.drift.status // "off"'
//! # Begin a session; text is quoted by jq, never by hand.
//! jq -cn --arg text "draft the report" '{cmd: "start", args: {text: $text, timebox_secs: 1500}}' |
//!   socat -t 5 - UNIX-CONNECT:"$S" | jq -r '.error.message // "begun"'
//! ```
//!
//! # 1. Find the socket
//!
//! The first of these that applies:
//!
//! 1. `$ANTIDRIFT_SOCKET`, if it is set and not empty;
//! 2. `$XDG_RUNTIME_DIR/antidrift/antidriftd.sock`, if the variable holds an absolute path to a
//!    directory that is yours;
//! 3. `/run/user/UID/antidrift/antidriftd.sock`, if `/run/user/UID` is a directory that is yours: cron
//!    and ssh set no variable;
//! 4. `/tmp/antidrift-UID/antidriftd.sock`, whatever `TMPDIR` says.
//!
//! UID is the effective user id. Before connecting, look at the directory: it must be yours, or, for
//! a path out of `ANTIDRIFT_SOCKET`, root's with the sticky bit. After connecting, ask the kernel for
//! the peer (`SO_PEERCRED`): it must be you. Otherwise somebody else reads your window titles. A
//! path longer than 107 bytes fits into no socket address and is never cut. [`paths`] is this rule.
//!
//! No such file, or a refused connection, means that no daemon runs. A daemon that does not answer
//! is not dead: wait at most some seconds and say so.
//!
//! # 2. Send and read lines
//!
//! Both directions carry UTF-8 JSON objects, each on one line ended by `\n`. A line is at most
//! [`MAX_LINE`] bytes (131 072, the `\n` not counted). `\r` before the `\n` does no harm, a blank line
//! is ignored, and the last line before the end may lack its `\n`. Whatever is not plain text in a
//! string — control characters, U+007F to U+009F, line separators, bidirectional controls — is
//! written as `\uXXXX`, so that a line can be shown on a terminal. What the strings *hold* is raw:
//! a window's title is written by strangers. Escape it for the place where you show it.
//!
//! A request has a `cmd`, and optionally an `id` and `args`:
//!
//! ```json
//! {"id":7,"cmd":"ontask","args":{"window_class":"firefox"}}
//! {"cmd":"status"}
//! ```
//!
//! Each gets one reply, in the order of the requests, with either `ok` or `error`:
//!
//! ```json
//! {"id":7,"ok":{"seq":119,"saved":true,"warning":null,"added":{"kind":"window_class","value":"firefox"},"window":null}}
//! {"id":7,"error":{"code":"not_active","message":"no session is active","data":{}}}
//! ```
//!
//! `id` is an unsigned integer below 2⁶⁴, chosen by you and repeated in the reply; it is `null` there
//! if the request had none that could be read. Several requests may be sent without waiting. You may
//! close your sending half after the last one; the replies still come. A connection may stay open,
//! but when all 64 are taken, the one that has been idle longest is closed for a new one, unless it
//! is a subscription; one whose reply waits to be taken is idle.
//!
//! # 3. Greet, if you outlive upgrades
//!
//! ```json
//! {"id":1,"cmd":"hello","args":{"client":"mybar 0.3","protocol":1}}
//! ```
//!
//! The answer names the daemon, the protocol that both speak now, this run of the daemon and the
//! longest line:
//!
//! ```json
//! {"id":1,"ok":{"server":"antidriftd 0.1.0","protocol":1,"instance":"1764489600000-4242","max_line":131072}}
//! ```
//!
//! A daemon that does not speak your [`PROTOCOL`] answers `unsupported_protocol` and closes the
//! connection before it reads on. So write the greeting and the request at once: no extra wait, and
//! nothing is done by a daemon that would take it for something else. Without a greeting the daemon
//! takes you for one that speaks its own protocol.
//!
//! # 4. Ask
//!
//! | `cmd` | `args` | `ok` | refused with |
//! |---|---|---|---|
//! | `hello` | [`Hello`] | [`Greeting`] | `unsupported_protocol` |
//! | `status` | – | [`Status`] | |
//! | `start` | [`Start`] | [`Started`] | `session_exists` while one is active |
//! | `refocus` («back to task») | [`Refocus`] | [`Refocused`] | `not_active`, `stale_alert` |
//! | `ontask` («this is on task») | [`Ontask`] | [`Allowing`] | `not_active`, `stale_alert`, `no_window`, `list_full` |
//! | `complete` | [`Complete`] | [`Completed`] | `not_active` |
//! | `end` (leave the review) | – | [`Changed`] | `not_in_review` |
//! | `pause` (judges and alerts nothing) | [`Pause`] | [`Changed`] | `not_active` |
//! | `resume` (ends a pause or a detour) | – | [`Changed`] | `not_active`, `not_paused` |
//! | `extend` (more time) | [`Extend`] | [`Changed`] | `not_active`, `no_timebox` |
//! | `detour` (something else, for a while) | [`TakeDetour`] | [`Changed`] | `not_active` |
//! | `allow` (what is on task without asking) | [`Allow`] | [`Allowance`] | `not_active`, `list_full`, `no_entry` |
//! | `windows` (the open ones) | – | [`Windows`] | `no_display` |
//! | `review` (say how it went; tell the session that is over) | [`GiveReview`] | [`Reviewed`] | `not_in_review` |
//! | `history` (sessions that are over, the latest first) | [`AskHistory`] | [`History`] | `no_history` |
//! | `forget` (wipes them) | – | [`Forgotten`] | `no_history` |
//! | `propose` (ask the coach; up to a minute) | [`Propose`] | [`Proposed`] | `coach_unavailable`, `coach_failed` |
//! | `explain` (how the present status came about) | – | [`Explained`] | `not_active`, `no_window` |
//! | `preview` (what would be sent to a model; nothing is) | – | [`Previewed`] | `not_active`, `no_window` |
//! | `check_judge` (judges a sample window; as long as the judge may take) | – | [`CheckedJudge`] | |
//! | `presets` (the presets of the configuration, and the last commitment) | – | [`Presets`] | |
//! | `reload` (reads the configuration again, as SIGHUP does) | – | [`Reloaded`] | `bad_config` |
//! | `subscribe` | [`Subscribe`] | [`Subscribed`] | `busy` |
//!
//! The daemon is strict with you, since a misspelt member must not be dropped in silence:
//!
//! - An unknown or repeated member, a wrong type, a missing member and what exceeds a bound are
//!   `invalid_request`, and the message names the member. An optional number, boolean or string may be
//!   `null`, which is as if it were left out; `id`, `args` and lists may not.
//! - What a person typed is never cut: a commitment's text and an intent have at most 4 KiB and must
//!   not be blank, other fields 1 KiB. A list of the allowed context has at most 64 entries, each of
//!   256 bytes, not blank and without control characters, and all lists together 16 KiB as the daemon
//!   writes them ([`Allowed::size`]). A domain must name a host ([`entry::host`]; an address counts as
//!   its host), a command one program without arguments (a path counts as its last part).
//!   `timebox_secs` and `secs` are 1 to 86 400.
//! - `ontask` takes at most one selector. Without one it adds what suits the window that is meant:
//!   the one of the alert, or else the one that drifts or was left for a terminal, or else the one
//!   that has the focus. A terminal is a window whose process is one of those that your client
//!   descends from, or whose class is known. To say what of that window, without naming it, there is `of_window` in the
//!   selector's place, as in the lines below.
//! - Buttons on a notification send the number of its alert as `alert`. When that alert is over, or
//!   another window has its place, the answer is `stale_alert` and nothing has changed. A client that
//!   shows an alert on, after its window was left for the client's own, adds `or_left`: then the
//!   window of that alert is meant, for ten minutes after it was left.
//!
//! ```json
//! {"id":8,"cmd":"ontask","args":{"of_window":"window_class"}}
//! {"id":9,"cmd":"ontask","args":{"of_window":"window_title"}}
//! {"id":10,"cmd":"ontask","args":{"alert":1764490000007,"or_left":true}}
//! ```
//!
//! `saved` says whether the change is on disk when the answer comes. If it is `false`, the change is
//! made all the same and `warning` says what went wrong.
//!
//! # 5. When it is refused
//!
//! An error has a `code`, which is stable, a `message` for people, and `data`, mostly empty. New codes
//! may come; show the message of one that you do not know.
//!
//! | code | meaning | and then |
//! |---|---|---|
//! | `invalid_json` | not JSON, not UTF-8, nested deeper than 128 | goes on |
//! | `invalid_request` | JSON, but no request; the message names the member | goes on |
//! | `unknown_command` | this daemon is older than you, or you misspelt it | goes on |
//! | `line_too_long` | over [`MAX_LINE`] | closed |
//! | `unsupported_protocol` | `data` may hold the daemon's `protocol` and `server` | closed |
//! | `busy` | no connection or subscription is free | closed |
//! | `shutting_down` | the daemon is about to end | closed |
//! | `not_active`, `session_exists`, `not_in_review` | not in this phase | goes on |
//! | `stale_alert`, `no_window`, `list_full` | there is nothing to answer, to allow, or no room | goes on |
//! | `no_entry`, `no_display` | what is meant is not there, or cannot be seen | goes on |
//! | `no_history` | nothing is kept, or it cannot be read | goes on |
//! | `bad_config` | the new configuration is faulty; the one before is still in force | goes on |
//! | `not_paused`, `no_timebox` | there is nothing to end or to extend | goes on |
//! | `coach_unavailable`, `coach_failed` | there is no coach, or `data.detail` says how it failed | goes on |
//! | `internal` | a fault of the daemon | goes on |
//!
//! An error about the connection, such as `busy`, may come before you have sent anything, with `id`
//! `null`. If writing fails, read what is there: it says why.
//!
//! # 6. Understand the state
//!
//! `status`, `start` and every `state` event carry the whole [`State`]; there are no differences to
//! put together.
//!
//! ```json
//! {"event":"state","seq":118,"at":"2026-11-30T09:12:44.120Z","data":{"phase":"active","commitment":{"text":"draft the report","next_action":null,"success_condition":null,"timebox_secs":1500,"started_at":"2026-11-30T09:00:00.000Z","elapsed_secs":764,"remaining_secs":736},"allowed":{"window_classes":["code"],"window_titles":[],"window_title_substrings":[],"domains":[],"commands":[]},"window":{"class":"firefox","instance":"Navigator","title":"reddit: the front page","domain":null,"command":null},"drift":{"status":"drifting","reason":"Reddit is unrelated to drafting the report","source":"judge","alert":1764490000007,"quiet":false,"since_at":"2026-11-30T09:12:44.000Z"},"away":null,"paused":null,"detour":null,"review":null,"judge":{"backend":"claude","destination":"cloud","status":"ready","calls":3,"limit":null,"last_ok_at":"2026-11-30T09:12:44.000Z","last_error":null,"last_error_at":null,"verdicts":{"rule":12,"cache":31,"embedded":0,"judge":3}},"sensor":{"kind":"x11","status":"ok","detail":null}}}
//! ```
//!
//! - Every member is there; what is absent is `null`. Units stand in names (`_secs`); instants end in
//!   `_at`, apart from the line's own `at`, and are RFC 3339 in UTC.
//! - `phase` is `planning` (no commitment), `active` or `review` (the last session and its sums).
//!   `commitment` is `null` in `planning`, `allowed` and `drift` unless `active`, `review` unless in
//!   review. `window` is what has the focus, in any phase, `null` if nothing has.
//! - `drift.status` is `idle` (nothing is known: no judge, no window, nobody there), `pending` (the
//!   window waits for its verdict), `ontask` or `drifting`. While `drifting`, `drift.alert` is the
//!   number to answer with. Alert numbers are never used twice, not even after a restart.
//! - `away` says that nobody is there (`idle`: no input for a while, `locked`: the screen is locked or
//!   blank, `suspended`: the machine sleeps), `paused` that the person wants to be left alone, `detour`
//!   that something else is allowed for a while. While away or paused, `drift.status` is `idle` and
//!   nothing is judged or alerted; on a detour it is `ontask`. `until_at` of a pause or detour that
//!   runs out while nobody is there may have passed: it ends when the person is back.
//! - Nothing ticks. `elapsed_secs` and `remaining_secs` are as of the line's `at`: count on from there by
//!   your own clock. `remaining_secs` goes negative when the timebox is over, and is `null` without one.
//!
//! # 7. Subscribe
//!
//! `subscribe` turns the connection into a stream; what you send afterwards is ignored. `topics` is a
//! list of `state`, `alert` and `all`, which is what you get without it. The answer names the
//! `instance`, this run of the daemon; then come events:
//!
//! ```json
//! {"id":2,"ok":{"instance":"1764489600000-4242"}}
//! {"event":"alert_raised","seq":121,"at":"2026-11-30T09:12:44.120Z","data":{"alert":1764490000007,"window":null,"reason":"unrelated","quiet":false}}
//! {"event":"alert_cleared","seq":122,"at":"2026-11-30T09:13:10.000Z","data":{"alert":1764490000007,"why":"moved"}}
//! {"event":"lagged","seq":140,"at":"2026-11-30T09:14:00.000Z","data":{"missed":87}}
//! {"event":"shutdown","seq":150,"at":"2026-11-30T09:20:00.000Z","data":{"reason":"stopped by SIGTERM"}}
//! ```
//!
//! - **First** comes a `state`, whatever the topics: you need no `status` before it. An alert that
//!   stands already shows in it and is not raised again for you.
//! - **States** then come for every change of anything but the two counters. The first of a burst is
//!   sent at once; those that follow within 50 ms may be merged into the last one. A title that changes
//!   all the time is sent when it rests, or once a second.
//! - **Edges** are what a state cannot carry: `alert_raised`, `alert_reminder` (after 2, 5 and then
//!   every 10 minutes), `alert_cleared`, `timebox_elapsed` and `notice`, under the topic `alert`. An edge
//!   precedes the state that shows it and is never merged away. An alert that is `quiet` is to be shown
//!   without a popup.
//! - **`seq`** numbers the changes. It never falls; gaps are normal, and edges have the `seq` of the state
//!   after them. A state with the `seq` of a reply, or a higher one, contains what that request changed.
//! - **Too slow:** who has 64 events waiting gets `lagged` with the number it missed, then a whole
//!   state. Who takes nothing for 10 s while something waits is disconnected.
//! - **The end:** `shutdown`, to everybody, or just the end of the stream. Connect again with growing
//!   pauses. Another `instance` means another run: its `seq` starts anew, forget all you heard before.
//! - Closing your sending half does not end the subscription; closing the socket does. At most 48
//!   connections may subscribe.
//!
//! # 8. Last for years
//!
//! The daemon may gain commands, members, events, codes and words at any time without a new protocol
//! number; it rises only when something that exists changes its meaning, and what exists is not
//! taken away before. So a client
//!
//! - ignores members and events that it does not know;
//! - takes a word that it does not know (a `phase`, a `status`, a `why`, a `code`) for «unknown» and not
//!   for an error;
//! - takes a member that is missing for empty: an older daemon does not have it.
//!
//! The readers of this crate do so, and the tests hold them to it. The other way, an older daemon
//! refuses a new member by name, so that you can leave it out or say what is too old.
//!
//! # In Rust
//!
//! [`client`] is a blocking client. [`Request::parse`] and [`Reply::to_line`] are the daemon's side;
//! [`frame`] cuts lines out of a stream.
//!
//! ```no_run
//! use antidrift_protocol::{
//!     Command, EventBody, NoArgs, Status,
//!     client::{ANSWER_LIMIT, Client},
//!     paths::Environment,
//! };
//!
//! let socket = Environment::of_process().socket_path()?;
//! let mut client = Client::connect(&socket, "mybar 0.3")?;
//! let status: Status = client.ask(Command::Status(NoArgs {}), ANSWER_LIMIT)?;
//! println!("{}", status.state.phase.as_str());
//!
//! let mut events = client.subscribe(None)?;
//! loop {
//!     if let EventBody::State(state) = events.next_event()?.body {
//!         println!("{}", state.drift.map_or("off", |drift| drift.status.as_str()));
//!     }
//! }
//! # #[allow(unreachable_code)]
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```
//! use antidrift_protocol::{ErrorCode, Reply, Request, Status};
//!
//! let refusal = Request::parse(br#"{"id":7,"cmd":"start","args":{"txt":"x"}}"#).unwrap_err();
//! assert_eq!((refusal.id, refusal.error.code), (Some(7), ErrorCode::InvalidRequest));
//! assert!(refusal.error.message.contains("txt"));
//!
//! // What a newer daemon adds is passed over, what it leaves out is empty.
//! let line = br#"{"id":7,"ok":{"seq":5,"state":{"phase":"dreaming","mood":"good"}}}"#;
//! let status = Reply::<Status>::parse(line)?.result?;
//! assert_eq!((status.seq, status.state.phase.as_str()), (5, "unknown"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![warn(missing_docs)]

mod bounds;
pub mod client;
pub mod duration;
pub mod entry;
mod event;
pub mod frame;
pub mod json_safe;
pub mod paths;
mod private;
mod record;
mod reply;
mod request;
mod state;
mod strict;
pub mod text;
mod time;

pub use bounds::*;
pub use event::*;
pub use frame::MAX_LINE;
pub use record::*;
pub use reply::*;
pub use request::*;
pub use state::*;
pub use time::Timestamp;

/// The protocol of this version. Raised only when an existing meaning changes.
pub const PROTOCOL: u64 = 1;

//! What the login manager tells of the person: logind over the system bus, where there is one.
//!
//! The machine is about to sleep (`PrepareForSleep`); the session is locked (`LockedHint`, which
//! desktops set, and the signals `Lock` and `Unlock`), or another session has the screen. Nobody
//! needs any of it: no bus and no login manager means that nothing is known, which is present.
//!
//! Only what the bus says comes from the login manager is believed: any program may send this
//! connection a signal that looks like its own.

mod bus;
mod message;

use std::{io, pin::Pin, time::Duration};

use tokio::{
    sync::watch,
    time::{Sleep, sleep},
};
use tokio_util::sync::CancellationToken;

use crate::sensor::Absence;
use bus::Bus;
use message::{Arg, Args, Call, Kind, Message};

/// Where the system bus is if nothing else is said.
const DEFAULT_ADDRESS: &str = "unix:path=/run/dbus/system_bus_socket";
/// Pause after a bus that was there has gone, doubled up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(300);
/// `Lock` is a request, which there may be nobody to follow, and not every locker says when it goes.
/// So it counts for as long as a locker may take to show itself; then the display or `LockedHint`
/// know better.
const REQUEST_COUNTS: Duration = Duration::from_secs(30);
/// Longest identifier of a session. They are a few characters.
const MAX_ID: usize = 64;

const DBUS: &str = "org.freedesktop.DBus";
const DBUS_PATH: &str = "/org/freedesktop/DBus";
const PROPERTIES: &str = "org.freedesktop.DBus.Properties";
const LOGIND: &str = "org.freedesktop.login1";
const MANAGER: &str = "org.freedesktop.login1.Manager";
const MANAGER_PATH: &str = "/org/freedesktop/login1";
const SESSION: &str = "org.freedesktop.login1.Session";
/// The caller's own session, or for a user's service the one on the screen.
const OWN_SESSION: &str = "/org/freedesktop/login1/session/auto";

/// What is to be sent here, and nothing else. The bus knows who has the name at the time.
const RULES: [&str; 4] = [
    "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',\
     member='NameOwnerChanged',arg0='org.freedesktop.login1'",
    "type='signal',sender='org.freedesktop.login1',interface='org.freedesktop.login1.Manager',\
     member='PrepareForSleep'",
    "type='signal',sender='org.freedesktop.login1',interface='org.freedesktop.login1.Session'",
    "type='signal',sender='org.freedesktop.login1',interface='org.freedesktop.DBus.Properties',\
     member='PropertiesChanged',path_namespace='/org/freedesktop/login1/session'",
];

/// What is read from the environment.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// `DBUS_SYSTEM_BUS_ADDRESS`.
    pub address: Option<String>,
    /// `XDG_SESSION_ID`.
    pub session: Option<String>,
}

/// Follows the login manager until `stop`, or until it is clear that there is no system bus.
pub async fn follow(settings: Settings, told: watch::Sender<Absence>, stop: CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = connect_again_and_again(&settings, &told) => {}
    }
}

async fn connect_again_and_again(settings: &Settings, told: &watch::Sender<Absence>) {
    let address = settings.address.as_deref().unwrap_or(DEFAULT_ADDRESS);
    let mut pause = FIRST_PAUSE;
    let mut was_there = false;
    loop {
        let error = match Bus::connect(address).await {
            Ok(bus) => {
                was_there = true;
                let Err(error) = Follower::new(bus, settings, told).follow().await;
                error
            }
            Err(error) => error,
        };
        tracing::debug!(%error, "no system bus: locks and suspend are told by the display alone");
        told.send_if_modified(|absence| std::mem::take(absence) != Absence::default());
        if !was_there {
            return;
        }
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// What the login manager has said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Said {
    asleep: bool,
    /// `Lock` was sent.
    lock_requested: bool,
    /// `LockedHint`.
    locked: bool,
    /// The session has had the screen, so that it means something when it has not.
    was_active: bool,
    /// It does not have it now.
    inactive: bool,
}

impl Said {
    fn absence(self) -> Absence {
        let elsewhere = self.was_active && self.inactive;
        Absence {
            idle: false,
            locked: self.lock_requested || self.locked || elsewhere,
            asleep: self.asleep,
        }
    }
}

/// One connection.
struct Follower<'a> {
    bus: Bus,
    settings: &'a Settings,
    told: &'a watch::Sender<Absence>,
    /// The login manager's own name on the bus, as long as it is there.
    owner: Option<String>,
    /// Our session's object.
    session: Option<String>,
    said: Said,
    /// When a lock that was asked for counts no longer.
    request_ends: Option<Pin<Box<Sleep>>>,
    /// The login manager came or went.
    find_session: bool,
    /// Something about a session has changed.
    read_session: bool,
}

enum Never {}

impl<'a> Follower<'a> {
    fn new(bus: Bus, settings: &'a Settings, told: &'a watch::Sender<Absence>) -> Self {
        Self {
            bus,
            settings,
            told,
            owner: None,
            session: None,
            said: Said::default(),
            request_ends: None,
            find_session: false,
            read_session: false,
        }
    }

    async fn follow(mut self) -> io::Result<Never> {
        self.ask_bus("Hello", &[]).await?;
        for rule in RULES {
            self.ask_bus("AddMatch", &[Arg::Text(rule)]).await?;
        }
        let owner = self.ask_bus("GetNameOwner", &[Arg::Text(LOGIND)]).await?;
        self.own(text_of(owner.as_deref()));
        loop {
            if std::mem::take(&mut self.find_session) {
                self.session = self.find_session().await?;
                tracing::debug!(session = self.session, "the login manager is followed");
                self.read_session = true;
            } else if std::mem::take(&mut self.read_session) {
                self.read_session().await?;
            } else {
                self.tell();
                let bytes = self.next().await?;
                if let Some(message) = Message::parse(&bytes) {
                    self.hear(&message);
                }
            }
        }
    }

    /// The login manager has this name now. What another one has said is void.
    fn own(&mut self, owner: Option<String>) {
        self.owner = owner.filter(|owner| !owner.is_empty());
        self.said = Said::default();
        self.session = None;
        self.find_session = self.owner.is_some();
        self.tell();
    }

    fn hear(&mut self, message: &Message<'_>) {
        if message.kind != Kind::Signal {
            return;
        }
        let mut args = message.args.clone();
        if message.sender == DBUS && message.member == "NameOwnerChanged" {
            if args.text() == Some(LOGIND)
                && let (Some(_), Some(new)) = (args.text(), args.text())
            {
                self.own(Some(new.to_owned()));
            }
            return;
        }
        if self.owner.as_deref() != Some(message.sender) {
            return;
        }
        let ours = self.session.as_deref() == Some(message.path);
        match (message.interface, message.member) {
            (MANAGER, "PrepareForSleep") => {
                if let Some(asleep) = args.flag() {
                    self.said.asleep = asleep;
                }
            }
            (SESSION, "Lock") if ours => self.request_lock(!self.said.locked),
            (SESSION, "Unlock") if ours => {
                self.said.locked = false;
                self.request_lock(false);
            }
            // values need not be in it
            (PROPERTIES, "PropertiesChanged") if ours => self.read_session = true,
            _ => {}
        }
        self.tell();
    }

    fn request_lock(&mut self, requested: bool) {
        self.said.lock_requested = requested;
        self.request_ends = requested.then(|| Box::pin(sleep(REQUEST_COUNTS)));
    }

    fn tell(&self) {
        let absence = self.said.absence();
        self.told.send_if_modified(|told| std::mem::replace(told, absence) != absence);
    }

    /// The object of our session: the one that the environment names, the one that this process is
    /// in, or for a user's service the one on the screen.
    async fn find_session(&mut self) -> io::Result<Option<String>> {
        let settings = self.settings;
        if let Some(id) = settings.session.as_deref().filter(|id| id.len() <= MAX_ID) {
            let found = self.ask_manager("GetSession", &[Arg::Text(id)]).await?;
            if found.is_some() {
                return Ok(found);
            }
        }
        let process = [Arg::Number(std::process::id())];
        let found = self.ask_manager("GetSessionByPID", &process).await?;
        if found.is_some() {
            return Ok(found);
        }
        let id = self.ask_property(OWN_SESSION, "Id").await?;
        let id = id.as_deref().and_then(variant_of).and_then(|mut value| value.text());
        match id.filter(|id| id.len() <= MAX_ID) {
            Some(id) => self.ask_manager("GetSession", &[Arg::Text(id)]).await,
            None => Ok(None),
        }
    }

    async fn read_session(&mut self) -> io::Result<()> {
        let Some(session) = self.session.clone() else { return Ok(()) };
        let locked = self.ask_property(&session, "LockedHint").await?;
        let active = self.ask_property(&session, "Active").await?;
        let flag = |reply: Option<Vec<u8>>| reply.as_deref().and_then(variant_of)?.flag();
        // another owner may have come meanwhile
        if self.session.as_ref() != Some(&session) {
            return Ok(());
        }
        self.said.locked = flag(locked).unwrap_or(false);
        if self.said.locked {
            self.request_lock(false);
        }
        self.said.inactive = flag(active) == Some(false);
        self.said.was_active |= !self.said.inactive;
        Ok(())
    }

    async fn ask_bus(&mut self, member: &str, args: &[Arg<'_>]) -> io::Result<Option<Vec<u8>>> {
        let call = Call { destination: DBUS, path: DBUS_PATH, interface: DBUS, member, args };
        self.ask(call, DBUS).await
    }

    async fn ask_manager(&mut self, member: &str, args: &[Arg<'_>]) -> io::Result<Option<String>> {
        Ok(text_of(self.ask_owner(MANAGER_PATH, MANAGER, member, args).await?.as_deref()))
    }

    async fn ask_property(&mut self, path: &str, name: &str) -> io::Result<Option<Vec<u8>>> {
        let args = [Arg::Text(SESSION), Arg::Text(name)];
        self.ask_owner(path, PROPERTIES, "Get", &args).await
    }

    /// Asks the one who has the name now: if that goes, the bus answers that it has gone.
    async fn ask_owner(
        &mut self,
        path: &str,
        interface: &str,
        member: &str,
        args: &[Arg<'_>],
    ) -> io::Result<Option<Vec<u8>>> {
        let Some(owner) = self.owner.clone() else { return Ok(None) };
        self.ask(Call { destination: &owner, path, interface, member, args }, &owner).await
    }

    /// Asks, and hears what comes before the answer of `sender`. `None` is an error for an answer.
    async fn ask(&mut self, call: Call<'_>, sender: &str) -> io::Result<Option<Vec<u8>>> {
        let serial = self.bus.send(call).await?;
        loop {
            let bytes = self.next().await?;
            let Some(message) = Message::parse(&bytes) else { continue };
            if message.answers != serial {
                self.hear(&message);
                continue;
            }
            match message.kind {
                Kind::Return if message.sender == sender => return Ok(Some(bytes)),
                // the bus answers for one who has gone
                Kind::Error if message.sender == sender || message.sender == DBUS => {
                    return Ok(None);
                }
                _ => {}
            }
        }
    }

    /// The next message.
    async fn next(&mut self) -> io::Result<Vec<u8>> {
        loop {
            tokio::select! {
                bytes = self.bus.receive() => return bytes,
                () = end_of(&mut self.request_ends) => {
                    self.request_lock(false);
                    self.tell();
                }
            }
        }
    }
}

/// Waits for the end of a time; for ever if there is none.
async fn end_of(time: &mut Option<Pin<Box<Sleep>>>) {
    match time {
        Some(time) => time.await,
        None => std::future::pending().await,
    }
}

/// The text that a reply begins with.
fn text_of(reply: Option<&[u8]>) -> Option<String> {
    Message::parse(reply?)?.args.text().map(str::to_owned)
}

/// The value that a property was answered with.
fn variant_of(reply: &[u8]) -> Option<Args<'_>> {
    Message::parse(reply)?.args.variant()
}

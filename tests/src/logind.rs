use std::{
    collections::HashMap,
    fmt::Debug,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use zbus::{Connection, OwnedObjectPath, Variant, fdo, interface, message::Header};

use crate::{Bus, Home};

const NAME: &str = "org.freedesktop.login1";
const MANAGER: &str = "org.freedesktop.login1.Manager";
const MANAGER_PATH: &str = "/org/freedesktop/login1";
const SESSION: &str = "org.freedesktop.login1.Session";
const OWN_SESSION: &str = "/org/freedesktop/login1/session/auto";

/// A stand-in for the login manager on a system bus of its own.
#[derive(Debug)]
pub struct Logind {
    bus: Bus,
    login: Option<Connection>,
    facts: Arc<Facts>,
    home: Home,
}

/// What it answers when it is asked.
#[derive(Debug)]
struct Facts {
    locked: AtomicBool,
    active: AtomicBool,
    by_process: AtomicBool,
    /// How often `Active` was read.
    reads: AtomicUsize,
    /// Who has asked for a session, by unique names.
    clients: Mutex<Vec<String>>,
}

impl Logind {
    /// The session that it knows.
    pub const SESSION_ID: &str = "c7";
    /// Its object.
    pub const SESSION_PATH: &str = "/org/freedesktop/login1/session/c7";

    /// Starts both. The session is on the screen and not locked, and is found by its identifier, or
    /// as the caller's own.
    pub fn start() -> Self {
        let home = Home::new();
        let mut logind = Self::without_login_manager(home);
        logind.come();
        logind
    }

    /// A bus alone.
    fn without_login_manager(home: Home) -> Self {
        let facts = Facts {
            locked: AtomicBool::new(false),
            active: AtomicBool::new(true),
            by_process: AtomicBool::new(false),
            reads: AtomicUsize::new(0),
            clients: Mutex::default(),
        };
        Self { bus: Bus::start(&home), login: None, facts: Arc::new(facts), home }
    }

    /// As in `DBUS_SYSTEM_BUS_ADDRESS`.
    pub fn address(&self) -> &str {
        self.bus.address()
    }

    /// The login manager takes its name.
    pub fn come(&mut self) {
        let (facts, own) = (Arc::clone(&self.facts), Arc::clone(&self.facts));
        let manager = Manager { facts: Arc::clone(&self.facts) };
        let login = zbus::block_on(
            zbus::connection::Builder::address(self.bus.address())
                .serve_at(MANAGER_PATH, manager)
                .serve_at(Self::SESSION_PATH, Session { facts })
                .serve_at(OWN_SESSION, Session { facts: own })
                .name(NAME)
                .build(),
        );
        self.login = Some(login.expect("the bus takes the login manager"));
    }

    /// It ends.
    pub fn leave(&mut self) {
        let login = self.login.take().expect("it is there");
        zbus::block_on(login.close()).unwrap();
    }

    /// The bus ends, and everything on it, and another one takes its place.
    pub fn restart_bus(&mut self) {
        self.login = None;
        self.bus = Bus::start(&self.home);
        self.come();
    }

    /// The bus ends, and everything on it.
    pub fn end_bus(&mut self) {
        self.login = None;
        self.bus.end();
    }

    /// Whether the process that asks is in the session.
    pub fn find_by_process(&self, found: bool) {
        self.facts.by_process.store(found, Ordering::Relaxed);
    }

    /// The unique names of those who have asked for a session.
    pub fn clients(&self) -> Vec<String> {
        self.facts.clients.lock().unwrap().clone()
    }

    /// How often somebody has read whether the session has the screen.
    pub fn reads(&self) -> usize {
        self.facts.reads.load(Ordering::Relaxed)
    }

    /// `PrepareForSleep`.
    pub fn sleep(&self, begins: bool) {
        self.emit(MANAGER_PATH, MANAGER, "PrepareForSleep", &begins);
    }

    /// `Lock`, which asks for a lock.
    pub fn lock(&self) {
        self.emit(Self::SESSION_PATH, SESSION, "Lock", &());
    }

    /// `Unlock`.
    pub fn unlock(&self) {
        self.emit(Self::SESSION_PATH, SESSION, "Unlock", &());
    }

    /// `LockedHint`, which a desktop sets.
    pub fn hint(&self, locked: bool) {
        self.facts.locked.store(locked, Ordering::Relaxed);
        self.change("LockedHint", locked);
    }

    /// `LockedHint` as it will be found.
    pub fn hint_when_it_comes(&self, locked: bool) {
        self.facts.locked.store(locked, Ordering::Relaxed);
    }

    /// Whether the session has the screen.
    pub fn activate(&self, active: bool) {
        self.facts.active.store(active, Ordering::Relaxed);
        self.change("Active", active);
    }

    fn change(&self, property: &str, value: bool) {
        let changed = HashMap::from([(property, Variant::from(value))]);
        let body = (SESSION, changed, Vec::<&str>::new());
        let properties = "org.freedesktop.DBus.Properties";
        self.emit(Self::SESSION_PATH, properties, "PropertiesChanged", &body);
    }

    /// Any signal of the login manager's.
    pub fn emit<B>(&self, path: &str, interface: &str, member: &str, body: &B)
    where
        B: serde::Serialize + zbus::zvariant::DynamicType,
    {
        let login = self.login.as_ref().expect("it is there");
        zbus::block_on(login.emit_signal(None::<&str>, path, interface, member, body)).unwrap();
    }

    /// A signal that another program sends to this client alone, made to look like the login
    /// manager's.
    pub fn forge<B>(&self, client: &str, path: &str, interface: &str, member: &str, body: &B)
    where
        B: serde::Serialize + zbus::zvariant::DynamicType,
    {
        zbus::block_on(async {
            let forger = zbus::connection::Builder::address(self.bus.address()).build().await?;
            forger.emit_signal(Some(client), path, interface, member, body).await?;
            forger.close().await
        })
        .unwrap();
    }
}

#[derive(Debug)]
struct Manager {
    facts: Arc<Facts>,
}

impl Manager {
    fn found(&self, header: &Header<'_>, found: bool) -> fdo::Result<OwnedObjectPath> {
        let client = header.sender().map(ToString::to_string).unwrap_or_default();
        self.facts.clients.lock().unwrap().push(client);
        if !found {
            return Err(fdo::Error::Failed("no such session".into()));
        }
        Ok(OwnedObjectPath::try_from(Logind::SESSION_PATH).unwrap())
    }
}

#[interface(name = "org.freedesktop.login1.Manager")]
impl Manager {
    fn get_session(
        &self,
        #[zbus(header)] header: Header<'_>,
        id: &str,
    ) -> fdo::Result<OwnedObjectPath> {
        self.found(&header, id == Logind::SESSION_ID)
    }

    #[zbus(name = "GetSessionByPID")]
    fn get_session_by_process(
        &self,
        #[zbus(header)] header: Header<'_>,
        process: u32,
    ) -> fdo::Result<OwnedObjectPath> {
        self.found(&header, process > 0 && self.facts.by_process.load(Ordering::Relaxed))
    }
}

#[derive(Debug)]
struct Session {
    facts: Arc<Facts>,
}

#[interface(name = "org.freedesktop.login1.Session")]
impl Session {
    #[zbus(property)]
    fn id(&self) -> String {
        Logind::SESSION_ID.into()
    }

    #[zbus(property)]
    fn locked_hint(&self) -> bool {
        self.facts.locked.load(Ordering::Relaxed)
    }

    #[zbus(property)]
    fn active(&self) -> bool {
        self.facts.reads.fetch_add(1, Ordering::Relaxed);
        self.facts.active.load(Ordering::Relaxed)
    }
}

//! Who has the focus: what a window manager says (EWMH), and where the X input focus is.

use x11rb::errors::ConnectionError;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ConnectionExt, EventMask, GetGeometryReply,
    GetWindowAttributesReply, MapState, Window as WindowId, WindowClass,
};

use super::Conn;
use super::atoms::Atoms;
use super::read::{answer, ask, first_number};

/// Windows between a focused child and its top level. Toolkits nest a handful.
const MAX_DEPTH: usize = 32;
/// Children of a frame that are looked at for the client.
const MAX_CHILDREN: usize = 32;
/// Atoms read of `_NET_SUPPORTED`; window managers list some eighty.
const SUPPORTED_UNITS: u32 = 1024;

/// Where the input focus is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputFocus {
    /// In this client's top level.
    Client(WindowId),
    /// In an override-redirect top level: a menu or a launcher, over the window below.
    Covered(WindowId),
    /// Nowhere, on the root, or on a window manager's stand-in for nowhere.
    Nothing,
}

/// The check window of a living window manager that names the active window; its end is selected
/// (`_NET_SUPPORTING_WM_CHECK`: the root names a window that names itself; the property outlives
/// its writer, the window does not).
pub(super) fn ewmh_manager(
    conn: &Conn,
    atoms: &Atoms,
    root: WindowId,
) -> Result<Option<WindowId>, ConnectionError> {
    let check = ask(conn, root, atoms._NET_SUPPORTING_WM_CHECK, 1)?;
    let supported = ask(conn, root, atoms._NET_SUPPORTED, SUPPORTED_UNITS)?;
    let check = answer(check.reply())?.map_or(0, |reply| first_number(&reply));
    let supported = answer(supported.reply())?;
    let names_active = supported.is_some_and(|reply| {
        reply.value32().is_some_and(|mut all| all.any(|atom| atom == atoms._NET_ACTIVE_WINDOW))
    });
    if check == 0 || check == root || !names_active {
        return Ok(None);
    }
    // before it is looked at, so that its end cannot be missed
    let end = ChangeWindowAttributesAux::new().event_mask(EventMask::STRUCTURE_NOTIFY);
    conn.change_window_attributes(check, &end)?;
    let itself = ask(conn, check, atoms._NET_SUPPORTING_WM_CHECK, 1)?;
    let itself = answer(itself.reply())?.map_or(0, |reply| first_number(&reply));
    Ok((itself == check).then_some(check))
}

/// `_NET_ACTIVE_WINDOW`; 0 when it is absent or none.
pub(super) fn active_window(
    conn: &Conn,
    atoms: &Atoms,
    root: WindowId,
) -> Result<WindowId, ConnectionError> {
    let reply = ask(conn, root, atoms._NET_ACTIVE_WINDOW, 1)?;
    Ok(answer(reply.reply())?.map_or(0, |reply| first_number(&reply)))
}

/// Whether a window can be seen (it and all its ancestors are mapped); false when it is gone.
pub(super) fn is_viewable(conn: &Conn, window: WindowId) -> Result<bool, ConnectionError> {
    let attributes = answer(conn.get_window_attributes(window)?.reply())?;
    Ok(attributes.is_some_and(|attributes| attributes.map_state == MapState::VIEWABLE))
}

/// One window on the way from the focus up to the top level.
struct Step {
    window: WindowId,
    parent: WindowId,
    /// `WM_STATE` is set by window managers on a client's top level only (ICCCM 4.1.3.1).
    managed: bool,
    override_redirect: bool,
    /// Can be seen at all. Window managers park the focus on a tiny window out of sight.
    visible: bool,
}

/// Walks from the window that has the input focus to the one a person would call the window.
/// Toolkits give the focus to children (Java: one called FocusProxy), reparenting managers put
/// the client inside a frame. `None` when a window on the way is gone.
pub(super) fn climb(
    conn: &Conn,
    atoms: &Atoms,
    root: WindowId,
    from: WindowId,
) -> Result<Option<InputFocus>, ConnectionError> {
    let mut client = None;
    let mut window = from;
    for _ in 0..MAX_DEPTH {
        let Some(step) = look_at(conn, atoms, window)? else { return Ok(None) };
        if step.managed {
            client = Some(step.window);
        }
        if step.parent != root && step.parent != 0 {
            window = step.parent;
            continue;
        }
        return Ok(Some(match client {
            Some(client) => InputFocus::Client(client),
            None if !step.visible => InputFocus::Nothing,
            None if step.override_redirect => InputFocus::Covered(step.window),
            None => InputFocus::Client(client_inside(conn, atoms, step.window)?),
        }));
    }
    Ok(Some(InputFocus::Client(client.unwrap_or(window))))
}

fn look_at(conn: &Conn, atoms: &Atoms, window: WindowId) -> Result<Option<Step>, ConnectionError> {
    let tree = conn.query_tree(window)?;
    let state = ask(conn, window, atoms.WM_STATE, 0)?;
    let attributes = conn.get_window_attributes(window)?;
    let geometry = conn.get_geometry(window)?;
    let tree = answer(tree.reply())?;
    let state = answer(state.reply())?;
    let attributes = answer(attributes.reply())?;
    let geometry = answer(geometry.reply())?;
    let (Some(tree), Some(state), Some(attributes), Some(geometry)) =
        (tree, state, attributes, geometry)
    else {
        return Ok(None);
    };
    Ok(Some(Step {
        window,
        parent: tree.parent,
        managed: state.type_ != 0,
        override_redirect: attributes.override_redirect,
        visible: has_a_face(&attributes, &geometry),
    }))
}

/// Whether there is anything to see of a window when it is mapped.
fn has_a_face(attributes: &GetWindowAttributesReply, geometry: &GetGeometryReply) -> bool {
    let reaches = |start: i16, length: u16| i32::from(start) + i32::from(length) > 0;
    attributes.class == WindowClass::INPUT_OUTPUT
        && geometry.width > 1
        && geometry.height > 1
        && reaches(geometry.x, geometry.width)
        && reaches(geometry.y, geometry.height)
}

/// Whether a top level can be seen, unless others hide it.
pub(super) fn can_be_seen(
    attributes: &GetWindowAttributesReply,
    geometry: &GetGeometryReply,
) -> bool {
    attributes.map_state == MapState::VIEWABLE && has_a_face(attributes, geometry)
}

/// The focus may be on a frame itself: its client is below. A top level with a class of its own is
/// no frame.
pub(super) fn client_inside(
    conn: &Conn,
    atoms: &Atoms,
    top: WindowId,
) -> Result<WindowId, ConnectionError> {
    let class = ask(conn, top, AtomEnum::WM_CLASS, 0)?;
    let tree = conn.query_tree(top)?;
    let class = answer(class.reply())?;
    let tree = answer(tree.reply())?;
    let (Some(class), Some(tree)) = (class, tree) else { return Ok(top) };
    if class.type_ != 0 {
        return Ok(top);
    }
    let children = tree.children.into_iter().take(MAX_CHILDREN);
    let asked: Vec<_> = children
        .map(|child| Ok((child, ask(conn, child, atoms.WM_STATE, 0)?)))
        .collect::<Result<_, ConnectionError>>()?;
    let mut client = top;
    for (child, state) in asked {
        if answer(state.reply())?.is_some_and(|state| state.type_ != 0) {
            client = child;
        }
    }
    Ok(client)
}

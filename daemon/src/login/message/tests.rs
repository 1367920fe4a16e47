use proptest::prelude::*;

use super::*;

const GET: Call<'static> = Call {
    destination: ":1.7",
    path: "/org/freedesktop/login1/session/_31",
    interface: "org.freedesktop.DBus.Properties",
    member: "Get",
    args: &[Arg::Text("org.freedesktop.login1.Session"), Arg::Number(0x0102_0304), Arg::Text("é")],
};

fn length_of(bytes: &[u8]) -> Option<usize> {
    message_length(bytes.first_chunk()?)
}

#[test]
fn a_call_is_read_as_it_was_written() {
    let bytes = GET.to_bytes(9);
    assert_eq!(length_of(&bytes), Some(bytes.len()));
    let message = Message::parse(&bytes).unwrap();
    assert_eq!((message.kind, message.answers, message.sender), (Kind::Call, 0, ""));
    assert_eq!(
        (message.path, message.interface, message.member),
        (GET.path, GET.interface, GET.member)
    );
    let mut args = message.args;
    assert_eq!(args.flag(), None);
    assert_eq!(args.text(), Some("org.freedesktop.login1.Session"));
    assert_eq!(args.text(), None, "a number is no text");
    assert_eq!(args.values.number(), Some(0x0102_0304));
    let hello = Call { args: &[], ..GET }.to_bytes(1);
    assert_eq!(Message::parse(&hello).unwrap().args.signature, "");
}

/// Field by field from the specification, in the order of bytes that this machine may not have.
#[test]
fn a_signal_from_elsewhere_is_read() {
    let mut bytes = vec![b'B', 4, 1, 1, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 0];
    let mut field = |code: u8, kind: u8, value: &[u8]| {
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes.extend([code, 1, kind, 0]);
        bytes.extend(value);
    };
    let text = |text: &str| [&[0, 0, 0, text.len() as u8], text.as_bytes(), &[0]].concat();
    field(1, b'o', &text("/org/freedesktop/login1"));
    field(9, b'u', &[0, 0, 0, 0]);
    // of a later version
    field(77, b't', &[0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1]);
    field(2, b's', &text("org.freedesktop.login1.Manager"));
    field(3, b's', &text("PrepareForSleep"));
    field(7, b's', &text(":1.3"));
    field(8, b'g', &[1, b'b', 0]);
    let fields = bytes.len() - START;
    bytes[15] = fields as u8;
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes.extend([0, 0, 0, 1]);
    assert_eq!(length_of(&bytes), Some(bytes.len()));
    let mut message = Message::parse(&bytes).unwrap();
    assert_eq!((message.kind, message.sender), (Kind::Signal, ":1.3"));
    assert_eq!(message.path, "/org/freedesktop/login1");
    assert_eq!(message.interface, "org.freedesktop.login1.Manager");
    assert_eq!((message.member, message.args.flag()), ("PrepareForSleep", Some(true)));
    assert_eq!(message.args.flag(), None, "there was one");
}

#[test]
fn what_is_in_a_variant_is_read_where_it_stands() {
    let args = |signature, values: &'static [u8]| Args {
        signature,
        values: Reader { bytes: values, at: 0, big: false },
    };
    let mut flag = args("v", &[1, b'b', 0, 0, 1, 0, 0, 0]);
    assert_eq!(flag.variant().unwrap().flag(), Some(true));
    let mut text = args("v", &[1, b's', 0, 0, 1, 0, 0, 0, b'x', 0]);
    assert_eq!(text.variant().unwrap().text(), Some("x"));
    let mut path = args("o", &[1, 0, 0, 0, b'/', 0]);
    assert_eq!(path.text(), Some("/"));
    for (signature, values) in [
        // neither true nor false; too short; not UTF-8; no NUL; longer than all there is
        ("b", &[2, 0, 0, 0][..]),
        ("b", &[1, 0, 0]),
        ("s", &[1, 0, 0, 0, 0xff, 0]),
        ("s", &[1, 0, 0, 0, b'x', b'y']),
        ("s", &[255, 255, 255, 255, b'x', 0]),
        ("v", &[200, b'b', 0]),
    ] {
        let mut args = args(signature, values);
        assert_eq!((args.flag(), args.text()), (None, None), "{signature} {values:?}");
        assert_eq!(args.variant(), None, "{signature} {values:?}");
    }
}

#[test]
fn a_length_is_believed_within_bounds() {
    let start = |order, version, body: u32, fields: u32| {
        let mut start = [order, 4, 0, version, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
        start[4..8].copy_from_slice(&body.to_le_bytes());
        start[12..16].copy_from_slice(&fields.to_le_bytes());
        message_length(&start)
    };
    assert_eq!(start(b'l', 1, 5, 9), Some(37));
    assert_eq!(start(b'l', 1, 0, 0), Some(16));
    assert_eq!(start(b'l', 1, (1 << 27) - 16, 0), Some(1 << 27));
    assert_eq!(start(b'l', 1, (1 << 27) - 15, 0), None);
    assert_eq!(start(b'l', 1, u32::MAX, u32::MAX), None);
    assert_eq!(start(b'l', 2, 0, 0), None);
    assert_eq!(start(b'x', 1, 0, 0), None);
}

proptest! {
    #[test]
    fn nothing_that_comes_in_does_harm(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        changes in proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<proptest::sample::Index>(),
    ) {
        let _ = Message::parse(&bytes);
        let mut message = GET.to_bytes(3);
        for (at, byte) in changes {
            let at = at.index(message.len());
            message[at] = byte;
        }
        message.truncate(cut.index(message.len() + 1));
        let _ = length_of(&message);
        if let Some(Message { mut args, .. }) = Message::parse(&message) {
            let _ = (args.clone().variant(), args.flag(), args.text(), args.text());
        }
    }

    #[test]
    fn any_call_is_read_again(
        path in "(/[a-z0-9_]{1,9}){1,5}", member in "[A-Za-z]{1,30}", text in ".{0,80}",
        number in any::<u32>(), serial in 1..u32::MAX,
    ) {
        let args = [Arg::Number(number), Arg::Text(&text)];
        let call = Call { path: &path, member: &member, args: &args, ..GET };
        let bytes = call.to_bytes(serial);
        prop_assert_eq!(length_of(&bytes), Some(bytes.len()));
        let message = Message::parse(&bytes).unwrap();
        prop_assert_eq!((message.path, message.member), (&*path, &*member));
        prop_assert_eq!(message.args.signature, "us");
        let mut values = message.args.values;
        prop_assert_eq!((values.number(), values.text()), (Some(number), Some(&*text)));
    }
}

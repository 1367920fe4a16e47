use proptest::prelude::*;

use super::*;

/// A message of this kind whose body has so many bytes.
fn message(body: usize) -> Vec<u8> {
    let mut bytes = vec![b'l', 4, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0];
    bytes[4..8].copy_from_slice(&u32::try_from(body).unwrap().to_le_bytes());
    bytes.extend((0..body).map(|n| n as u8));
    bytes
}

fn paths(addresses: &str) -> Vec<String> {
    socket_paths(addresses).map(|path| path.to_string_lossy().into_owned()).collect()
}

#[test]
fn addresses_are_tried_in_their_order() {
    assert_eq!(paths(DEFAULT), ["/run/dbus/system_bus_socket"]);
    assert_eq!(paths("unix:path=/a,guid=1f;unix:guid=2,path=/b;"), ["/a", "/b"]);
    assert_eq!(paths("unix:abstract=/tmp/x;unix:path=/with%20space"), ["\0/tmp/x", "/with space"]);
    for none in ["", ";", "unix:", "unix:path", "tcp:host=localhost,port=1", "unix:path=/a%2"] {
        assert_eq!(paths(none), [""; 0], "{none}");
    }
}

const DEFAULT: &str = super::super::DEFAULT_ADDRESS;

#[test]
fn what_is_no_message_ends_the_connection() {
    let mut frames = Frames::default();
    frames.bytes.extend(b"HTTP/1.1 200 OK\r\n");
    assert!(frames.next().is_err());
}

proptest! {
    /// However it is cut into reads, each message comes out whole, the large ones are left out, and
    /// no more is kept than a message and a read.
    #[test]
    fn messages_come_out_whole(
        sizes in proptest::collection::vec(prop_oneof![0..50_usize, 8_000..30_000_usize], 1..8),
        cut in 1..CHUNK,
    ) {
        let all: Vec<Vec<u8>> = sizes.iter().map(|size| message(*size)).collect();
        let expected: Vec<&Vec<u8>> = all.iter().filter(|it| it.len() <= MAX_MESSAGE).collect();
        let mut frames = Frames::default();
        let mut found = Vec::new();
        for part in all.concat().chunks(cut) {
            frames.bytes.extend(part);
            while let Some(message) = frames.next().unwrap() {
                found.push(message);
            }
            prop_assert!(frames.bytes.len() < MAX_MESSAGE + CHUNK);
        }
        prop_assert_eq!(found.iter().collect::<Vec<_>>(), expected);
        prop_assert_eq!((frames.bytes.len(), frames.skip), (0, 0));
    }
}

//! Events: the client as a subscriber.

use std::{io::Write, os::unix::net::UnixListener, sync::mpsc, thread};

use antidrift_protocol::{
    ErrorCode, ErrorObject, Event, EventBody, PROTOCOL, Reply, Shutdown, Subscribed, Timestamp,
    Topic,
    client::{Client, ClientError, Events},
    paths::SocketPath,
};

use crate::{
    LONG, NAME,
    fake::{Fake, greeting, refusal},
};

fn subscribed(then: Vec<String>) -> (Fake, Events) {
    let fake = Fake::new(move |mut peer| {
        peer.read();
        assert_eq!(
            peer.read().trim_end(),
            r#"{"id":2,"cmd":"subscribe","args":{"topics":["alert"]}}"#
        );
        let subscribed = Subscribed { instance: "run-1".into() };
        let answer = Reply { id: Some(2), result: Ok(subscribed) }.to_line();
        // All in one write: the first events come in with the answer.
        peer.write((greeting(1, PROTOCOL) + &answer + &then.concat()).as_bytes());
    });
    let events = fake.connect().subscribe_within(Some(vec![Topic::Alert]), LONG).unwrap();
    assert_eq!(events.instance(), "run-1");
    (fake, events)
}

fn event(seq: u64, body: EventBody) -> String {
    Event { seq, at: Timestamp::default(), body }.to_line()
}

#[test]
fn events_follow_until_the_daemon_goes() {
    let shutdown = EventBody::Shutdown(Shutdown { reason: "stopped".into() });
    let (fake, mut events) = subscribed(vec![
        event(1, EventBody::State(Box::default())),
        "{\"event\":\"eclipse\",\"seq\":2,\"at\":\"2026-11-30T09:12:44Z\",\"data\":[1]}\n".into(),
        event(3, shutdown.clone()),
    ]);
    fake.end();
    assert!(matches!(events.next_event().unwrap().body, EventBody::State(_)));
    assert_eq!(events.next_event().unwrap().body, EventBody::Unknown);
    assert_eq!(events.ready().unwrap().unwrap().body, shutdown);
    assert!(matches!(events.ready(), Err(ClientError::Closed)));
    assert!(matches!(events.next_event(), Err(ClientError::Closed)));
}

#[test]
fn what_is_ready_is_had_without_waiting() {
    let (more, wait) = mpsc::channel::<()>();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let answer = greeting(1, PROTOCOL) + "{\"id\":2,\"ok\":{\"instance\":\"i\"}}\n";
        let first = event(1, EventBody::TimeboxElapsed);
        let second = event(2, EventBody::TimeboxElapsed);
        let (half, rest) = second.split_at(10);
        stream.write_all((answer + &first + half).as_bytes()).unwrap();
        wait.recv().unwrap();
        stream.write_all(rest.as_bytes()).unwrap();
        let _ = wait.recv();
    });
    let client = Client::connect(&SocketPath::chosen(&path).unwrap(), NAME).unwrap();
    let mut events = client.subscribe(None).unwrap();
    assert_eq!(events.next_event().unwrap().seq, 1);
    assert_eq!(events.ready().unwrap(), None);
    more.send(()).unwrap();
    assert_eq!(events.next_event().unwrap().seq, 2);
    assert_eq!(events.ready().unwrap(), None);
    drop(more);
    server.join().unwrap();
}

#[test]
fn a_stream_that_is_ended_with_a_reason() {
    let busy = refusal(None, ErrorObject::new(ErrorCode::Busy, "too many"));
    for (line, refused) in [(busy, true), ("rubbish\n".into(), false)] {
        let (fake, mut events) = subscribed(vec![line]);
        match events.next_event() {
            Err(ClientError::Refused(error)) if refused => assert_eq!(error.code, ErrorCode::Busy),
            Err(ClientError::NotUnderstood(_)) if !refused => {}
            other => panic!("{other:?}"),
        }
        fake.end();
    }
}

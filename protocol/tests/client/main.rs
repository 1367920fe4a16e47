//! The client against daemons that do everything wrong. Limits are short where they must pass and
//! long where they must not; nothing sleeps for a fixed time.
#![allow(clippy::unwrap_used, reason = "tests")]

mod fake;
mod stream;

use std::{
    io::{BufRead, BufReader, ErrorKind, Write},
    os::unix::net::UnixListener,
    path::Path,
    sync::mpsc,
    thread,
    time::Duration,
};

use antidrift_protocol::{
    Command, ErrorCode, ErrorObject, MAX_LINE, PROTOCOL, Propose, Start, Status,
    client::{Client, ClientError},
    paths::{PathError, SocketPath},
};
use fake::{Fake, greeting, refusal, state, status, timed};

const SHORT: Duration = Duration::from_millis(50);
const LONG: Duration = Duration::from_secs(30);
const NAME: &str = "tester 0.9";

#[track_caller]
fn expect_no_answer(fake: Fake) {
    let (answer, took) = timed(|| fake.ask(SHORT));
    assert!(matches!(answer, Err(ClientError::NoAnswer(SHORT))), "{answer:?}");
    assert!(took < LONG, "{took:?}");
    fake.end();
}

#[test]
fn both_lines_come_in_order_and_the_answer_is_told_apart() {
    let fake = Fake::new(|mut peer| {
        let hello = r#"{"id":1,"cmd":"hello","args":{"client":"tester 0.9","protocol":1}}"#;
        assert_eq!(peer.read().trim_end(), hello);
        assert_eq!(peer.read().trim_end(), r#"{"id":2,"cmd":"status"}"#);
        // A client reads on over blank lines and whatever a line is cut into.
        for byte in format!("\n{}\r\n\n{}", greeting(1, PROTOCOL), state(2, 5)).bytes() {
            peer.write(&[byte]);
        }
        peer.wait_for_end();
    });
    assert_eq!(fake.ask(LONG).unwrap().seq, 5);
    fake.end();
}

#[test]
fn a_daemon_without_an_answer() {
    expect_no_answer(Fake::new(|mut peer| peer.wait_for_end()));
    // Half a line.
    expect_no_answer(Fake::saying("{\"id\":1,\"o"));
    // The greeting, but not the answer.
    expect_no_answer(Fake::saying(greeting(1, PROTOCOL)));
    // Something all the time, but never a line.
    expect_no_answer(Fake::new(|mut peer| {
        let (_keep, never) = mpsc::channel::<()>();
        while peer.write(b" ") {
            let _ = never.recv_timeout(SHORT / 10);
        }
    }));
    // As fast as can be.
    expect_no_answer(Fake::new(|mut peer| while peer.write(&[b'\n'; 4096]) {}));
}

/// A stopped daemon: requests pile up in the socket until it holds no more. The half that was
/// written then must not be completed by the next request.
#[test]
fn a_request_that_is_not_taken() {
    let (done, wait) = mpsc::channel::<()>();
    let fake = Fake::new(move |mut peer| {
        let _ = wait.recv();
        let mut last = String::new();
        while peer.lines.read_line(&mut last).unwrap() > 0 {
            if last.ends_with('\n') {
                // Where the socket is full is not ours to say: it may be between two.
                let whole = serde_json::from_str::<serde_json::Value>(&last);
                assert!(whole.is_ok(), "a half was completed");
                last.clear();
            }
        }
    });
    let mut client = fake.connect();
    for round in 0..1000 {
        let propose = Command::Propose(Propose { intent: "x".repeat(MAX_LINE - 100) });
        match client.ask::<Status>(propose, SHORT) {
            Err(ClientError::NoAnswer(SHORT)) => {}
            Err(ClientError::Closed) if round > 0 => break,
            other => panic!("{other:?}"),
        }
    }
    drop(client);
    drop(done);
    fake.end();
}

#[test]
fn a_late_answer_is_passed_over() {
    let (ask_again, wait) = mpsc::channel::<()>();
    let fake = Fake::new(move |mut peer| {
        peer.read();
        peer.read();
        wait.recv().unwrap();
        peer.write((greeting(1, PROTOCOL) + &state(2, 5)).as_bytes());
        peer.read();
        peer.read();
        peer.write((greeting(3, PROTOCOL) + &state(4, 6)).as_bytes());
    });
    let mut client = fake.connect();
    let first = client.ask::<Status>(status(), SHORT);
    assert!(matches!(first, Err(ClientError::NoAnswer(_))), "{first:?}");
    ask_again.send(()).unwrap();
    assert_eq!(client.ask::<Status>(status(), LONG).unwrap().seq, 6);
    fake.end();
}

#[test]
fn a_daemon_that_closes() {
    for answer in [String::new(), "{\"id\":1,".into(), greeting(1, PROTOCOL)] {
        let fake = Fake::new(move |mut peer| {
            peer.read();
            peer.read();
            peer.write(answer.as_bytes());
        });
        let answer = fake.ask(LONG);
        assert!(matches!(answer, Err(ClientError::Closed)), "{answer:?}");
        fake.end();
    }
}

/// A full or ending daemon says so and closes without reading: the write may fail, and the unread
/// request makes the kernel reset the connection behind the answer.
#[test]
fn a_daemon_that_says_why_and_closes_at_once() {
    for code in [ErrorCode::Busy, ErrorCode::ShuttingDown] {
        for early in [true, false] {
            let (closed, wait) = mpsc::channel::<()>();
            let fake = Fake::new(move |mut peer| {
                if !early {
                    peer.read();
                }
                peer.write(refusal(None, ErrorObject::new(code, "not now")).as_bytes());
                drop(peer);
                drop(closed);
            });
            let mut client = fake.connect();
            if early {
                let _ = wait.recv();
            }
            let answer = client.ask::<Status>(status(), LONG);
            match answer {
                Err(ClientError::Refused(error)) => assert_eq!(error.code, code),
                other => panic!("{other:?}"),
            }
            fake.end();
        }
        let fake = Fake::new(drop);
        let mut client = fake.connect();
        fake.end();
        let answer = client.ask::<Status>(status(), LONG);
        assert!(matches!(answer, Err(ClientError::Closed)), "{answer:?}");
    }
}

#[test]
fn what_is_no_answer() {
    let long = format!("{{\"id\":1,\"ok\":\"{}", "x".repeat(MAX_LINE));
    for (answer, part) in [
        ("HTTP/1.1 400 Bad Request\n".to_owned(), "expected"),
        ("\u{0}\u{1}\u{2}\n".to_owned(), "expected"),
        ("5\n".to_owned(), "invalid type"),
        ("{\"id\":1}\n".to_owned(), "either ok or error"),
        ("{\"id\":1,\"ok\":{},\"error\":{\"code\":\"busy\"}}\n".to_owned(), "either ok or error"),
        ("{\"id\":null,\"ok\":{}}\n".to_owned(), "was not made"),
        (greeting(7, PROTOCOL), "was not made"),
        (greeting(1, PROTOCOL) + &state(3, 1), "was not made"),
        (greeting(1, PROTOCOL) + "{\"id\":2,\"ok\":{\"seq\":\"x\"}}\n", "invalid type"),
        (
            greeting(1, PROTOCOL)
                + &format!("{{\"id\":2,\"ok\":{{\"seq\":\"{}\"}}}}\n", "x".repeat(9999)),
            "invalid type",
        ),
        (long, "longer than 131072 bytes"),
    ] {
        let fake = Fake::saying(answer.clone());
        match fake.ask(LONG) {
            Err(ClientError::NotUnderstood(problem)) => {
                assert!(problem.contains(part) && problem.len() <= 1024, "{problem}");
            }
            other => panic!("{answer}: {other:?}"),
        }
        fake.end();
    }
}

#[test]
fn a_daemon_of_another_protocol() {
    let unsupported = |data: &str| {
        let data = serde_json::from_str(data).unwrap();
        let code = ErrorCode::UnsupportedProtocol;
        refusal(Some(1), ErrorObject { data, ..ErrorObject::new(code, "this daemon speaks Z") })
    };
    for (answer, expected) in [
        (
            greeting(1, 2) + &state(2, 1),
            "tester 0.9 speaks protocol 1, but daemon 7.1 speaks 2: tester 0.9 is the older one, \
             update it",
        ),
        (
            unsupported(r#"{"protocol":3,"server":"daemon 8"}"#),
            "tester 0.9 speaks protocol 1, but daemon 8 speaks 3: tester 0.9 is the older one, \
             update it",
        ),
        (
            unsupported(r#"{"protocol":0}"#),
            "tester 0.9 speaks protocol 1, but the daemon speaks 0: the daemon is the older one, \
             update and restart it (`antidriftd --replace`)",
        ),
        (
            unsupported(r#"{"protocol":"x"}"#),
            "tester 0.9 speaks protocol 1, which the daemon does not (this daemon speaks Z): \
             update both and restart the daemon (`antidriftd --replace`)",
        ),
        (
            refusal(Some(1), ErrorObject::new(ErrorCode::UnknownCommand, "no hello")),
            "the daemon does not understand how tester 0.9 (protocol 1) greets it (no hello), so \
             it is of another version: update both and restart the daemon (`antidriftd --replace`)",
        ),
        (
            greeting(1, PROTOCOL)
                + &refusal(Some(2), ErrorObject::new(ErrorCode::UnknownCommand, "no status")),
            "daemon 7.1 does not know what tester 0.9 asks for (no status): the daemon is the \
             older one, update and restart it (`antidriftd --replace`)",
        ),
    ] {
        let fake = Fake::saying(answer);
        match fake.ask(LONG) {
            Err(ClientError::Incompatible(message)) => assert_eq!(message, expected),
            other => panic!("{other:?}"),
        }
        fake.end();
    }
    let ours = ErrorObject::unsupported_protocol("daemon 1");
    assert_eq!(ours.message, "daemon 1 speaks protocol 1 only");
    assert_eq!(serde_json::Value::from(ours.data)["protocol"], 1);
}

#[test]
fn a_newer_daemon_of_the_same_protocol() {
    let answer = r#"{"id":1,"ok":{"new":[{}]},"more":5}
{"id":2,"ok":{"seq":9,"state":{"phase":"dreaming","sensor":{"kind":"wayland","new":1}}}}
"#;
    let fake = Fake::saying(answer);
    let status = fake.ask(LONG).unwrap();
    assert_eq!((status.seq, status.state.sensor.kind.as_str()), (9, "wayland"));
    fake.end();

    let code = r#"{"id":2,"error":{"code":"too_late","message":"it is too late"}}"#;
    let fake = Fake::saying(format!("{}{code}\n", greeting(1, PROTOCOL)));
    match fake.ask(LONG) {
        Err(ClientError::Refused(error)) => {
            assert_eq!(
                (error.code, error.to_string().as_str()),
                (ErrorCode::Unknown, "it is too late")
            );
        }
        other => panic!("{other:?}"),
    }
    fake.end();
}

/// The daemon could only answer `line_too_long`.
#[test]
fn a_request_longer_than_a_line_is_refused_by_its_member() {
    let fake = Fake::new(|mut peer| peer.wait_for_end());
    let start = Start { text: "x".repeat(2 * MAX_LINE), ..Start::default() };
    match fake.connect().ask::<Status>(Command::Start(start), LONG) {
        Err(ClientError::Refused(error)) => {
            assert_eq!(error.code, ErrorCode::InvalidRequest);
            assert!(error.message.contains("args.text"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    fake.end();
}

fn refused(path: &Path) -> ClientError {
    Client::connect_within(&SocketPath::chosen(path).unwrap(), NAME, LONG).unwrap_err()
}

#[test]
fn where_nobody_listens() {
    let dir = tempfile::tempdir().unwrap();
    // No directory, no socket, a left-over socket, and something else.
    drop(UnixListener::bind(dir.path().join("left.sock")).unwrap());
    std::fs::write(dir.path().join("file"), "").unwrap();
    for name in ["no/s.sock", "s.sock", "left.sock", "file"] {
        let error = refused(&dir.path().join(name));
        assert!(matches!(error, ClientError::NotRunning(_)), "{name}: {error:?}");
        assert!(error.to_string().contains(name), "{error}");
    }
    let error = refused(&dir.path().join("file/s.sock"));
    assert!(matches!(error, ClientError::Path(PathError::Unusable { .. })), "{error:?}");
    assert!(error.to_string().contains("file"), "{error}");
}

#[test]
fn a_directory_that_is_not_ours() {
    // Root's directory without the sticky bit; for root itself it is ours.
    let error = refused(Path::new("/usr/s.sock"));
    if rustix::process::geteuid().is_root() {
        assert!(matches!(error, ClientError::NotRunning(_)), "{error:?}");
    } else {
        assert!(matches!(error, ClientError::Path(PathError::Foreign { uid: 0, .. })), "{error:?}");
    }
}

/// A stopped daemon whose queue is full: it is not taken for somebody else's, and a daemon that
/// goes on in time is reached.
#[test]
fn a_full_queue() {
    use rustix::net;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.sock");
    let socket = net::socket(net::AddressFamily::UNIX, net::SocketType::STREAM, None).unwrap();
    net::bind(&socket, &net::SocketAddrUnix::new(&path).unwrap()).unwrap();
    net::listen(&socket, 0).unwrap();
    let listener = UnixListener::from(socket);
    let place = SocketPath::chosen(&path).unwrap();

    let first = Client::connect_within(&place, NAME, LONG).unwrap();
    let second = Client::connect_within(&place, NAME, SHORT);
    assert!(matches!(second, Err(ClientError::NoAnswer(SHORT))), "{second:?}");

    let server = thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let _ = stream.write_all((greeting(1, PROTOCOL) + &state(2, 8)).as_bytes());
            let mut line = String::new();
            match BufReader::new(stream).read_line(&mut line) {
                Ok(0) => {}
                Ok(_) => break,
                Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
            }
        }
    });
    let waiting = thread::spawn(move || {
        Client::connect_within(&place, NAME, LONG).unwrap().ask::<Status>(status(), LONG)
    });
    drop(first);
    assert_eq!(waiting.join().unwrap().unwrap().seq, 8);
    server.join().unwrap();
}

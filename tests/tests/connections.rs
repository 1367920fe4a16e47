//! Many connections, slow ones and rude ones: the others must not notice.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    process::Stdio,
    time::Duration,
};

use antidrift_protocol::{PROTOCOL, Phase};
use antidrift_tests::{
    Daemon, Home, PATIENCE, Process, Scene, Subscriber, ask, until, until_still,
};
use serde_json::{Value, json};

fn connect(scene: &Scene) -> UnixStream {
    let stream = UnixStream::connect(scene.home.socket()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Asks on a connection that stays; `None` if it was closed instead.
fn phase(stream: &mut UnixStream) -> Option<String> {
    stream.write_all(b"{\"cmd\":\"status\"}\n").ok()?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).ok()?;
    let answer: Value = serde_json::from_str(&line).ok()?;
    answer["ok"]["state"]["phase"].as_str().map(str::to_owned)
}

fn lines(stream: &UnixStream) -> impl Iterator<Item = Value> {
    BufReader::new(stream.try_clone().unwrap())
        .lines()
        .map_while(Result::ok)
        .map(|line| serde_json::from_str(&line).unwrap())
}

#[test]
fn replies_come_in_order_and_after_a_half_close() {
    let scene = Scene::without_display().start();
    let mut stream = connect(&scene);
    let requests: String = (0..500)
        .map(|id| match id % 3 {
            0 => format!("{{\"id\":{id},\"cmd\":\"status\"}}\n"),
            1 => format!("{{\"id\":{id},\"cmd\":\"dance\"}}\n"),
            _ => format!("{{\"id\":{id},\"cmd\":\"start\",\"args\":{{\"text\":\"{id}\"}}}}\n"),
        })
        .collect();
    // Both ways at once, as a client must when it sends more than the buffers hold.
    let reader = std::thread::spawn({
        let stream = stream.try_clone().unwrap();
        move || lines(&stream).map(|line| line["id"].as_u64().unwrap()).collect::<Vec<_>>()
    });
    stream.write_all(requests.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    assert_eq!(reader.join().unwrap(), (0..500).collect::<Vec<_>>());
}

#[test]
fn a_greeting_in_another_protocol_keeps_the_request_behind_it_from_running() {
    let scene = Scene::without_display().start();
    let mut stream = connect(&scene);
    let hello = "{\"id\":1,\"cmd\":\"hello\",\"args\":{\"client\":\"test\",\"protocol\":99}}\n";
    let start = "{\"id\":2,\"cmd\":\"start\",\"args\":{\"text\":\"must not begin\"}}\n";
    stream.write_all(format!("{hello}{start}").as_bytes()).unwrap();
    let answers: Vec<Value> = lines(&stream).collect();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0]["error"]["code"], "unsupported_protocol");
    // So that the other side can say which of the two is the older one.
    let data = &answers[0]["error"]["data"];
    assert_eq!(data["protocol"], PROTOCOL, "{data}");
    assert!(data["server"].as_str().unwrap().starts_with("antidriftd "), "{data}");
    assert_eq!(scene.status().phase, Phase::Planning);
}

#[test]
fn with_64_connections_the_longest_idle_one_makes_room_and_subscribers_stay() {
    let scene = Scene::without_display().start();
    let subscribers: Vec<Subscriber> =
        (0..47).map(|_| Subscriber::connect(&scene.home.socket())).collect();
    // The scene has one of its own.
    let mut late = connect(&scene);
    late.write_all(b"{\"cmd\":\"subscribe\"}\n").unwrap();
    let refused: Vec<Value> = lines(&late).collect();
    assert_eq!(refused[0]["error"]["code"], "busy", "the 49th subscription");
    assert_eq!(refused.len(), 1);

    let mut idle: Vec<UnixStream> = (0..16).map(|_| connect(&scene)).collect();
    for stream in &mut idle {
        assert_eq!(phase(stream).as_deref(), Some("planning"));
    }
    let mut newest = connect(&scene);
    assert_eq!(phase(&mut newest).as_deref(), Some("planning"));
    assert_eq!(phase(&mut idle[0]), None, "the longest idle one was closed");
    assert_eq!(phase(&mut idle[1]).as_deref(), Some("planning"));
    drop(subscribers);
    // Their places are free again, without a word from the daemon in between.
    until("47 new subscribers", || {
        let mut stream = connect(&scene);
        stream.write_all(b"{\"cmd\":\"subscribe\"}\n").unwrap();
        let first = lines(&stream).next().unwrap();
        first["ok"].is_object().then_some(())
    });
}

/// Arguments of a `start` whose states are lines of 9 KB: some twenty of them fill a socket.
fn long_commitment(n: u64) -> Value {
    let classes: Vec<String> = (0..24).map(|at| format!("{at:02}{}", "c".repeat(240))).collect();
    json!({"text": format!("{n} {}", "t".repeat(3000)), "allowed": {"window_classes": classes}})
}

#[test]
fn f42_a_subscriber_that_stops_reading_is_caught_up_and_nobody_else_waits() {
    let mut scene = Scene::without_display().start();
    let mut slow = connect(&scene);
    slow.write_all(b"{\"cmd\":\"subscribe\",\"args\":{\"topics\":[\"state\"]}}\n").unwrap();
    let socket = scene.home.socket();
    // Each of these is a change; together they are more than the socket and the queue hold. Few
    // and long, since whoever takes nothing for ten seconds is closed.
    let mut round = 0;
    until("more states than fit", || {
        round += 1;
        let begun = ask(&socket, "start", &long_commitment(round));
        assert_eq!(begun["ok"]["saved"], true, "{begun}");
        ask(&socket, "complete", &json!({}));
        (scene.subscriber.states().len() > 120).then_some(())
    });
    let last = scene.subscriber.until("the last review", |state| {
        let text = state.commitment.as_ref().map_or("", |it| it.text.as_str());
        text.starts_with(&format!("{round} ")) && state.phase == Phase::Review
    });
    let mut lagged = false;
    let caught_up = lines(&slow).any(|line| {
        lagged |= line["event"] == "lagged";
        let text = line["data"]["commitment"]["text"].as_str().unwrap_or("");
        line["event"] == "state" && text == last.commitment.as_ref().unwrap().text
    });
    assert!(lagged && caught_up);
}

#[test]
fn a_client_that_sends_and_never_reads_holds_up_nobody() {
    let scene = Scene::without_display().start();
    let mut rude = connect(&scene);
    rude.set_nonblocking(true).unwrap();
    let request = b"{\"cmd\":\"status\"}\n".repeat(64);
    // Until the daemon takes no more from it: its answers have nowhere to go.
    let mut sent = 0;
    until("the daemon stops reading", || match rude.write(&request) {
        Ok(written) => {
            sent += written;
            None
        }
        Err(_) => (sent > 0).then_some(()),
    });
    assert_eq!(scene.status().phase, Phase::Planning);
}

#[test]
fn clients_that_never_read_hold_no_place_that_others_need() {
    let mut scene = Scene::without_display().start();
    let mut rude: Vec<UnixStream> = (0..64).map(|_| connect(&scene)).collect();
    let request = b"{\"cmd\":\"status\"}\n".repeat(64);
    for stream in &rude {
        stream.set_nonblocking(true).unwrap();
    }
    // until the daemon takes no more from any of them
    until("the daemon stops reading", || {
        let stuck = |stream: &mut UnixStream| stream.write(&request).is_err();
        rude.iter_mut().map(stuck).fold(true, |all, stuck| all & stuck).then_some(())
    });
    until_still(Duration::from_millis(200), "the daemon rests", || scene.daemon().process().cost());
    for _ in 0..3 {
        assert_eq!(phase(&mut connect(&scene)).as_deref(), Some("planning"));
    }
}

#[test]
fn a_subscriber_may_end_its_own_direction_and_talk_on_without_effect() {
    let mut scene = Scene::without_display().start();
    let mut stream = connect(&scene);
    let subscribe = "{\"cmd\":\"subscribe\"}\n{\"cmd\":\"start\",\"args\":{\"text\":\"no\"}}\n";
    stream.write_all(subscribe.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut lines = lines(&stream);
    assert!(lines.next().unwrap()["ok"]["instance"].is_string());
    assert_eq!(lines.next().unwrap()["data"]["phase"], "planning");
    scene.begin("yes");
    assert!(lines.any(|line| line["data"]["commitment"]["text"] == "yes"));
    scene.stop_daemon();
    assert_eq!(lines.last().unwrap()["event"], "shutdown");
}

#[test]
fn f41_of_many_daemons_started_at_once_one_survives() {
    for _ in 0..5 {
        let home = Home::new();
        let mut racers: Vec<Process> = (0..4)
            .map(|n| {
                let mut command = Daemon::command(&home);
                command.stdout(Stdio::null()).stderr(Stdio::null());
                Process::spawn(&mut command, &format!("racer {n}"))
            })
            .collect();
        until("one is left", || {
            let running = racers.iter_mut().map(|it| usize::from(it.is_running()));
            (running.sum::<usize>() == 1).then_some(())
        });
        until("it answers", || UnixStream::connect(home.socket()).ok());
        let answer = ask(&home.socket(), "status", &json!({}));
        assert_eq!(answer["ok"]["state"]["phase"], "planning");
        for racer in &mut racers {
            if racer.is_running() {
                assert_eq!(racer.terminate(), 0);
            } else {
                assert_eq!(racer.wait(), 1);
            }
        }
    }
}

#[test]
fn ten_thousand_bytes_that_are_half_a_line_cost_the_others_nothing() {
    let scene = Scene::without_display().start();
    let mut half: Vec<UnixStream> = (0..10).map(|_| connect(&scene)).collect();
    for stream in &mut half {
        stream.write_all(&[b'x'; 10_000]).unwrap();
    }
    assert_eq!(scene.status().phase, Phase::Planning);
    for stream in &mut half {
        stream.write_all(b"\n").unwrap();
        let mut first = [0; 1];
        stream.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"{", "one error for one bad line");
    }
}

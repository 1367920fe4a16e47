//! The least that a client can be: connects, writes a line, prints the answer. What `antidrift
//! status` is measured against. `floor_ask serve PATH` answers each line with itself, `floor_ask ask
//! PATH LINE` asks, and without arguments it costs what any process costs.
#![allow(missing_docs, reason = "a program")]

use std::{
    env,
    io::{self, BufRead, BufReader, Read, Write},
    os::unix::net::{UnixListener, UnixStream},
};

fn main() -> io::Result<()> {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["serve", path] => {
            for client in UnixListener::bind(path)?.incoming() {
                let (mut client, mut line) = (client?, String::new());
                BufReader::new(&client).read_line(&mut line)?;
                // whoever has gone wants no answer
                let _ = client.write_all(line.as_bytes());
            }
            Ok(())
        }
        ["ask", path, line] => {
            let mut stream = UnixStream::connect(path)?;
            stream.write_all(format!("{line}\n").as_bytes())?;
            let mut buffer = [0; 4096];
            let read = stream.read(&mut buffer)?;
            io::stdout().write_all(&buffer[..read])
        }
        _ => Ok(()),
    }
}

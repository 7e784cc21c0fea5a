//! An origin that follows a script.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// A part of what the origin does for a request.
#[derive(Clone)]
pub(super) enum Step {
    /// Send these bytes.
    Send(String),
    /// Wait until the test lets one request go on.
    Wait(Arc<Semaphore>),
    /// Close the connection.
    Close,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: HashMap<String, String>,
    /// Number of the request for this path, from 0 on.
    pub(super) turn: usize,
}

type Script = Box<dyn Fn(&Seen) -> Vec<Step> + Send + Sync>;

/// An origin on loopback, until it is dropped.
pub(super) struct Origin {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: tokio::task::JoinHandle<()>,
}

struct Shared {
    script: Script,
    seen: Mutex<Vec<Seen>>,
}

impl Origin {
    pub(super) async fn new(script: impl Fn(&Seen) -> Vec<Step> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared { script: Box::new(script), seen: Mutex::default() });
        let serving = Arc::clone(&shared);
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&serving)));
            }
        });
        Self { address, shared, accepting }
    }

    /// An origin that answers all requests with these fields and this body.
    pub(super) async fn simple(fields: &'static str, body: &'static str) -> Self {
        Self::new(move |_| vec![whole(fields, body)]).await
    }

    /// Its URL.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Requests that it has got.
    pub(super) fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().unwrap().clone()
    }

    pub(super) fn fetches(&self) -> usize {
        self.shared.seen.lock().unwrap().len()
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// An answer with these fields, each in a line, and this body.
pub(super) fn whole(fields: &str, body: &str) -> Step {
    with_status("200 OK", fields, body)
}

pub(super) fn with_status(status: &str, fields: &str, body: &str) -> Step {
    let fields: String = fields.lines().map(|line| format!("{}\r\n", line.trim())).collect();
    Step::Send(format!("HTTP/1.1 {status}\r\n{fields}Content-Length: {}\r\n\r\n{body}", body.len()))
}

async fn serve(mut stream: TcpStream, shared: Arc<Shared>) {
    let mut bytes = Vec::new();
    loop {
        let end = loop {
            if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
                break end + 4;
            }
            let mut more = [0; 4096];
            match stream.read(&mut more).await {
                Ok(count) if count > 0 => bytes.extend(&more[..count]),
                _ => return,
            }
        };
        let head: Vec<u8> = bytes.drain(..end).collect();
        let Some(seen) = parse(&String::from_utf8_lossy(&head), &shared) else { return };
        let length: usize = seen.headers.get("content-length").map_or(0, |text| text.parse().unwrap());
        while bytes.len() < length {
            let mut more = [0; 4096];
            match stream.read(&mut more).await {
                Ok(count) if count > 0 => bytes.extend(&more[..count]),
                _ => return,
            }
        }
        bytes.drain(..length);
        for step in (shared.script)(&seen) {
            match step {
                Step::Send(text) => {
                    if stream.write_all(text.as_bytes()).await.is_err() {
                        return;
                    }
                }
                Step::Wait(gate) => gate.acquire().await.unwrap().forget(),
                Step::Close => return,
            }
        }
    }
}

fn parse(head: &str, shared: &Shared) -> Option<Seen> {
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let fields = lines.filter_map(|line| line.split_once(':'));
    let headers = fields.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect();
    let mut all = shared.seen.lock().unwrap();
    let turn = all.iter().filter(|other| other.path == path).count();
    let seen = Seen { method, path, headers, turn };
    all.push(seen.clone());
    Some(seen)
}

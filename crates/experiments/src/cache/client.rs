//! The open-loop client: it sends each request at its time, whatever has become of those before.

use std::error::Error as StdError;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper::header::HOST;
use hyper::{Request, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use trueplane_study::metrics::Distribution;
use trueplane_study::{Error, Observer};

use super::alarm::now;
use super::origin::path;
use super::workload::Workload;

/// Connections that stand before the first request is due. Others are opened when they are needed.
const FIRST: usize = 64;
/// More requests do not wait at once: each has a connection, and so has the cache's side of it.
const MOST_WAITING: usize = 4096;
/// Longest time between two looks at whether the work is still wanted.
const LOOK: Duration = Duration::from_millis(50);
/// Time without any answer after which a cache counts as stuck.
const PATIENCE: Duration = Duration::from_secs(30);

/// The answers that the client got.
#[derive(Clone, Debug, Default)]
pub(super) struct Replayed {
    /// Time from each request's own time to the end of its body, in ns.
    pub(super) waits: Vec<u64>,
    /// Time from each request's own time to its sending, in ns.
    pub(super) late: Distribution,
}

/// Keep-alive connections to one server.
pub(super) struct Client {
    runtime: Runtime,
    connections: Arc<Connections>,
}

struct Connections {
    server: SocketAddr,
    idle: Mutex<Vec<SendRequest<Empty<Bytes>>>>,
    /// Requests that wait for their answers.
    waiting: AtomicUsize,
}

/// Why there was no right answer.
enum Failed {
    /// The server closed the connection before it answered.
    Closed(String),
    /// It answered something else.
    Wrong(String),
}

impl Client {
    pub(super) fn new(server: SocketAddr) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let connections = Connections { server, idle: Mutex::default(), waiting: AtomicUsize::new(0) };
        Ok(Self { runtime, connections: Arc::new(connections) })
    }

    /// Asks for one object, and returns the time that it took.
    pub(super) fn ask(&self, object: usize, body: u64) -> Result<Duration, Error> {
        let connections = Arc::clone(&self.connections);
        // In a task, as those of a replay are.
        let asked = self.runtime.spawn(async move {
            let sent = now();
            connections.ask(object, body).await.map(|ended| ended.duration_since(sent))
        });
        match self.runtime.block_on(asked) {
            Ok(answered) => answered.map_err(Error::Unfinished),
            Err(error) => Err(Error::Internal(error.to_string())),
        }
    }

    /// Sends all requests at their times, and waits for all answers.
    pub(super) fn replay(&self, workload: &Workload, observer: &dyn Observer) -> Result<Replayed, Error> {
        let record = Arc::new(Record::new(workload.requests.len()));
        self.runtime.block_on(self.connections.open(FIRST)).map_err(Error::Unfinished)?;
        let start = now() + LOOK;
        for (index, request) in workload.requests.iter().enumerate() {
            let due = start + Duration::from_nanos(request.at.0);
            while let Some(left) = due.checked_duration_since(now()).filter(|left| !left.is_zero()) {
                record.check()?;
                observer.go_on()?;
                sleep(left.min(LOOK));
            }
            if index % 64 == 0 {
                record.check()?;
                observer.go_on()?;
                observer.advance(64.min(workload.requests.len() - index) as u64);
            }
            let (connections, record) = (Arc::clone(&self.connections), Arc::clone(&record));
            let (object, body) = (request.object, workload.objects[request.object].body);
            self.runtime.spawn(async move {
                let late = now().duration_since(due);
                let answered = connections.ask(object, body).await;
                record.end(index, late, answered.map(|ended| ended.duration_since(due)));
            });
        }
        record.wait(observer)?;
        Ok(record.replayed())
    }
}

/// What has become of the requests of a replay.
struct Record {
    waits: Vec<AtomicU64>,
    late: Vec<AtomicU64>,
    answered: AtomicUsize,
    failure: OnceLock<String>,
}

impl Record {
    fn new(requests: usize) -> Self {
        let zeros = || (0..requests).map(|_| AtomicU64::new(0)).collect();
        Self { waits: zeros(), late: zeros(), answered: AtomicUsize::new(0), failure: OnceLock::new() }
    }

    fn end(&self, index: usize, late: Duration, answered: Result<Duration, String>) {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.late[index].store(nanos(late), Ordering::Relaxed);
        match answered {
            Ok(wait) => {
                self.waits[index].store(nanos(wait), Ordering::Relaxed);
                self.answered.fetch_add(1, Ordering::Release);
            }
            // The first failure is told.
            Err(error) => drop(self.failure.set(error)),
        }
    }

    fn check(&self) -> Result<(), Error> {
        self.failure.get().map_or(Ok(()), |failure| Err(Error::Unfinished(failure.clone())))
    }

    /// Waits until all are answered.
    fn wait(&self, observer: &dyn Observer) -> Result<(), Error> {
        let (mut before, mut since) = (0, now());
        loop {
            let answered = self.answered.load(Ordering::Acquire);
            if answered == self.waits.len() {
                return Ok(());
            }
            self.check()?;
            observer.go_on()?;
            if answered > before {
                (before, since) = (answered, now());
            } else if since.elapsed() > PATIENCE {
                let left = self.waits.len() - answered;
                return Err(Error::Unfinished(format!(
                    "{left} requests were not answered within {PATIENCE:?}"
                )));
            }
            sleep(Duration::from_millis(5));
        }
    }

    fn replayed(&self) -> Replayed {
        let mut late = Distribution::default();
        self.late.iter().for_each(|time| late.record(time.load(Ordering::Relaxed)));
        Replayed { waits: self.waits.iter().map(|wait| wait.load(Ordering::Relaxed)).collect(), late }
    }
}

impl Connections {
    /// Opens so many connections.
    async fn open(&self, count: usize) -> Result<(), String> {
        for _ in 0..count {
            let connection = self.connect().await?;
            self.give_back(connection);
        }
        Ok(())
    }

    /// Keeps a connection for the next request.
    fn give_back(&self, connection: SendRequest<Empty<Bytes>>) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }

    /// A connection on which nothing is asked, and whether it is new.
    async fn connection(&self) -> Result<(SendRequest<Empty<Bytes>>, bool), String> {
        loop {
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            match idle {
                Some(connection) if connection.is_ready() => return Ok((connection, false)),
                // It was closed meanwhile.
                Some(_) => {}
                None => return Ok((self.connect().await?, true)),
            }
        }
    }

    async fn connect(&self) -> Result<SendRequest<Empty<Bytes>>, String> {
        let cannot = |error: &dyn StdError| format!("cannot connect to {}: {}", self.server, root(error));
        let stream = TcpStream::connect(self.server).await.map_err(|error| cannot(&error))?;
        stream.set_nodelay(true).map_err(|error| cannot(&error))?;
        let (connection, driver) = handshake(TokioIo::new(stream)).await.map_err(|error| cannot(&error))?;
        tokio::spawn(driver);
        Ok(connection)
    }

    /// Asks for an object, and reads all of its body. Returns when that ended.
    async fn ask(&self, object: usize, body: u64) -> Result<Instant, String> {
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= MOST_WAITING {
            return Err(format!(
                "more than {MOST_WAITING} requests wait at once; choose a lower --rate, or --even where the trace's times are coarse"
            ));
        }
        let asked = self.ask_until_answered(object, body).await;
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        asked
    }

    /// Asks again where a connection was closed meanwhile.
    async fn ask_until_answered(&self, object: usize, body: u64) -> Result<Instant, String> {
        loop {
            let (mut connection, is_new) = self.connection().await?;
            match self.ask_on(&mut connection, object, body).await {
                Ok(()) => {
                    let ended = now();
                    if connection.ready().await.is_ok() {
                        self.give_back(connection);
                    }
                    return Ok(ended);
                }
                // A server may close a connection on which nothing is asked at the same moment.
                Err(Failed::Closed(_)) if !is_new => {}
                Err(Failed::Closed(error) | Failed::Wrong(error)) => return Err(error),
            }
        }
    }

    async fn ask_on(
        &self,
        connection: &mut SendRequest<Empty<Bytes>>,
        object: usize,
        length: u64,
    ) -> Result<(), Failed> {
        let path = path(object);
        let request = Request::get(&path).header(HOST, self.server.to_string()).body(Empty::new());
        let request = request.map_err(|error| Failed::Wrong(error.to_string()))?;
        let closed =
            |error: hyper::Error| Failed::Closed(format!("{path} was not answered: {}", root(&error)));
        let response = connection.send_request(request).await.map_err(closed)?;
        let status = response.status();
        if status != StatusCode::OK {
            return Err(Failed::Wrong(format!("{path}: expected 200 OK, got {status}")));
        }
        let mut body = response.into_body();
        let mut came = 0;
        while let Some(frame) = body.frame().await {
            let frame =
                frame.map_err(|error| Failed::Wrong(format!("{path} ended early: {}", root(&error))))?;
            came += frame.data_ref().map_or(0, |data| data.len() as u64);
        }
        if came == length {
            Ok(())
        } else {
            Err(Failed::Wrong(format!("{path}: expected {length} bytes, got {came}")))
        }
    }
}

/// The innermost cause of an error, which says most, without its number, which says nothing.
fn root(error: &dyn StdError) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

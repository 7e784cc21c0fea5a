//! Administration: how the cache does, for people and for Prometheus, and purges. On a Unix socket of its owner, and on an address of this machine.

pub mod client;
mod history;
mod metrics;
mod page;
mod plot;
pub mod report;
mod request;
mod socket;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::header::{self, HeaderName};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_io_timeout::TimeoutStream;
use tokio_util::net::Listener;
use trueplane_units::{Address, Nanos};

use self::history::{History, STEP, sample};
use self::report::{Report, TopReport};
use self::request::{PurgeRequest, Purged, is_local, is_same};
use self::socket::Socket;
use crate::clock::now;
use crate::config::ConfigError;
use crate::reason::reason;
use crate::server::Proxy;

/// Connections at once in each way, at most.
const CONNECTIONS: usize = 64;
/// Time that a client may take to send the head of a request, and its body, and to go on reading.
const CLIENT_TIME: Duration = Duration::from_secs(10);
/// Time that requests on their way get to end when the server is told to stop.
const GRACE: Duration = Duration::from_secs(2);
/// Pause after no connection could be taken, as when there are too many open files.
const PAUSE: Duration = Duration::from_millis(100);
/// Bytes of the body of a request, at most.
const MOST: usize = 16 << 10;
/// URLs that are told of each kind.
const TOP: usize = 20;

/// The answer to a purge if the disk did not write the removal in time.
const UNSETTLED: &str =
    "purged, but the removal is not on the disk yet: what was purged may come back after a restart";

const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const HTML: &str = "text/html; charset=utf-8";

/// The way by which a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Via {
    /// The socket, which only its owner may use.
    Socket,
    /// An address of this machine, which all who work on it may use.
    Address,
}

/// The administration of a cache.
pub struct Admin {
    shared: Arc<Shared>,
    socket: Option<Socket>,
    listener: Option<(TcpListener, SocketAddr)>,
}

/// The state that all connections share.
struct Shared {
    proxy: Proxy,
    began: Nanos,
    history: Mutex<History>,
    token: Option<String>,
}

type Answer = Response<Full<Bytes>>;

impl Admin {
    /// Opens the socket and the address that the settings of a cache name; none if they name none. In a runtime of tokio.
    ///
    /// # Errors
    ///
    /// Another process has one of them, or a file cannot be read; in one line.
    pub async fn open(proxy: &Proxy) -> Result<Option<Self>, ConfigError> {
        let settings = proxy.settings();
        if !settings.has_admin() {
            return Ok(None);
        }
        let token = settings.admin_token.as_deref().map(request::token).transpose()?;
        let socket = settings.socket.as_deref().map(Socket::open).transpose()?;
        let mut listener = None;
        if let Some(Address(address)) = settings.admin {
            let cannot = |error: io::Error| {
                ConfigError::Senseless(format!("cannot listen on {address}: {}", reason(&error)))
            };
            let bound = TcpListener::bind(address).await.map_err(cannot)?;
            let address = bound.local_addr().map_err(cannot)?;
            listener = Some((bound, address));
        }
        let history = Mutex::new(History::default());
        let shared = Shared { proxy: proxy.clone(), began: now(), history, token };
        Ok(Some(Self { shared: Arc::new(shared), socket, listener }))
    }

    /// The address at which it listens, if it does.
    pub fn address(&self) -> Option<SocketAddr> {
        self.listener.as_ref().map(|(_, address)| *address)
    }

    /// Serves until `stop` ends; then the file of the socket is removed.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let Self { shared, mut socket, mut listener } = self;
        // Each way has its own: whoever may use the address alone takes none of those of the socket.
        let rooms = [(); 2].map(|()| Arc::new(Semaphore::new(CONNECTIONS)));
        let [of_socket, of_address] = &rooms;
        let by_socket = async {
            if let Some(socket) = &mut socket {
                shared.take(Via::Socket, of_socket, socket.listener()).await;
            }
        };
        let by_address = async {
            if let Some((listener, _)) = &mut listener {
                shared.take(Via::Address, of_address, listener).await;
            }
        };
        let sampling = async {
            let mut samples = tokio::time::interval(STEP);
            loop {
                samples.tick().await;
                let sample = sample(&shared.proxy, now());
                shared.history.lock().unwrap_or_else(PoisonError::into_inner).add(sample);
            }
        };
        tokio::select! {
            ((), (), ()) = async { tokio::join!(by_socket, by_address, sampling) } => {}
            () = stop => {}
        }
        drop((listener, socket));
        let all = u32::try_from(CONNECTIONS).unwrap_or(u32::MAX);
        let ended = async {
            // They are never closed.
            drop((of_socket.acquire_many(all).await, of_address.acquire_many(all).await));
        };
        let _ = tokio::time::timeout(GRACE, ended).await;
    }
}

impl Shared {
    /// Takes connections that come in one way, for ever.
    async fn take<L>(self: &Arc<Self>, via: Via, room: &Arc<Semaphore>, listener: &mut L)
    where
        L: Listener<Io: AsyncRead + AsyncWrite + Send + 'static>,
    {
        loop {
            // It is never closed.
            let place = Arc::clone(room).acquire_owned().await.ok();
            match listener.accept().await {
                Ok((stream, _)) => {
                    let shared = Arc::clone(self);
                    tokio::spawn(async move {
                        shared.speak(stream, via).await;
                        drop(place);
                    });
                }
                // That connection is gone, or there are too many files: others may come.
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    async fn speak<S>(self: Arc<Self>, stream: S, via: Via)
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(CLIENT_TIME));
        let service = service_fn(move |request| {
            let shared = Arc::clone(&self);
            async move { Ok::<_, Infallible>(shared.answer(via, request).await) }
        });
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(CLIENT_TIME);
        // One request for each connection, so that none of them stays for long.
        http.keep_alive(false);
        // What goes wrong on a connection is its client's to see.
        let _ = http.serve_connection(TokioIo::new(Box::pin(stream)), service).await;
    }

    async fn answer(self: &Arc<Self>, via: Via, request: Request<Incoming>) -> Answer {
        if via == Via::Address && !is_local(request.headers()) {
            // A name that leads here from elsewhere: a page in a browser on this machine asks, of which nobody here knows.
            return told(StatusCode::FORBIDDEN, "expected localhost or a loopback address as Host");
        }
        let method = request.method().clone();
        match (method, request.uri().path()) {
            (Method::GET, "/") => with(HTML, self.page()),
            (Method::GET, "/metrics") => match metrics::exposition(&self.proxy) {
                Ok(text) => with(OPEN_METRICS, text),
                Err(error) => told(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
            },
            (Method::GET, "/stats") => json(&self.report()),
            (Method::GET, "/top") => json(&self.top()),
            (Method::POST, "/purge") => match self.refusal(via, request.headers()) {
                Some(refusal) => refusal,
                None => self.purge(request.into_body()).await,
            },
            (_, "/" | "/metrics" | "/stats" | "/top") => not_allowed("GET"),
            (_, "/purge") => not_allowed("POST"),
            _ => told(StatusCode::NOT_FOUND, "expected /, /metrics, /stats, /top or /purge"),
        }
    }

    fn report(&self) -> Report {
        Report::of(&self.proxy, now().since(self.began))
    }

    fn top(&self) -> TopReport {
        TopReport::of(&self.proxy, TOP, now())
    }

    fn page(&self) -> String {
        let (report, top) = (self.report(), self.top());
        page::page(&report, &top, &self.history.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Why a request may change nothing, if so.
    fn refusal(&self, via: Via, headers: &HeaderMap) -> Option<Answer> {
        if via == Via::Socket {
            return None;
        }
        let Some(token) = &self.token else {
            return Some(told(
                StatusCode::FORBIDDEN,
                "purge at the socket, or start the cache with --admin-token",
            ));
        };
        let given = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
        let is_given = given.strip_prefix(b"Bearer ").is_some_and(|given| is_same(given, token.as_bytes()));
        (!is_given).then(|| {
            let mut refusal = told(StatusCode::UNAUTHORIZED, "expected Authorization: Bearer TOKEN");
            refusal.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            refusal
        })
    }

    async fn purge(self: &Arc<Self>, body: Incoming) -> Answer {
        let body = tokio::time::timeout(CLIENT_TIME, Limited::new(body, MOST).collect()).await;
        let Ok(Ok(body)) = body else { return told(StatusCode::BAD_REQUEST, "expected a short request") };
        let (pattern, is_soft) = match PurgeRequest::read(&body.to_bytes()) {
            Ok(asked) => asked,
            Err(error) => return told(StatusCode::BAD_REQUEST, &error),
        };
        let proxy = self.proxy.clone();
        match tokio::task::spawn_blocking(move || proxy.purge(&pattern, is_soft)).await {
            Ok(purged) if self.proxy.settled().await => json(&Purged { purged }),
            // It is served no more, but it is not known what another process would find.
            Ok(_) => told(StatusCode::INTERNAL_SERVER_ERROR, UNSETTLED),
            Err(error) => told(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
        }
    }
}

fn json(value: &impl serde::Serialize) -> Answer {
    match serde_json::to_string(value) {
        Ok(text) => with(JSON, text + "\n"),
        Err(error) => told(StatusCode::INTERNAL_SERVER_ERROR, &error.to_string()),
    }
}

fn not_allowed(method: &'static str) -> Answer {
    let mut answer = told(StatusCode::METHOD_NOT_ALLOWED, &format!("expected {method}"));
    answer.headers_mut().insert(header::ALLOW, HeaderValue::from_static(method));
    answer
}

/// An error, in one line.
fn told(status: StatusCode, what: &str) -> Answer {
    let mut answer = with(TEXT, format!("{what}\n"));
    *answer.status_mut() = status;
    answer
}

fn with(kind: &'static str, text: String) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from(text)));
    let fields: [(HeaderName, &'static str); 7] = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, page::POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    for (name, value) in fields {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

impl std::fmt::Debug for Admin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Admin").field("address", &self.address()).finish_non_exhaustive()
    }
}

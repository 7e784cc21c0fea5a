//! Listens, and serves connections until it is told to stop.

use std::collections::hash_map::RandomState;
use std::convert::Infallible;
use std::hash::BuildHasher as _;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::uri::Authority;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch::{self, Receiver};
use tokio_io_timeout::TimeoutStream;
use trueplane_cache::{PolicyName, Stats};
use trueplane_units::Nanos;

use crate::log::Log;
use crate::origin::{Origin, Timeouts};
use crate::proxy::answer;
use crate::rules::hop::Identity;
use crate::site::Site;
use crate::store::Store;

/// Time that a client may take to send the head of a request, to read what was sent, and to be idle.
const CLIENT_TIME: Duration = Duration::from_secs(60);
/// Time that requests on their way get to end when the server is told to stop.
const GRACE: Duration = Duration::from_secs(10);
/// Time after which lines of the log are in its file.
const FLUSH: Duration = Duration::from_secs(1);
/// Pause after no connection could be taken, as when there are too many open files.
const PAUSE: Duration = Duration::from_millis(100);
/// Requests on one connection of HTTP/2 at once.
const STREAMS: u32 = 256;

/// What a cache serves, and how.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The server behind it.
    pub origin: Authority,
    /// Bytes of memory for responses.
    pub memory: u64,
    /// Who leaves when there is no room.
    pub policy: PolicyName,
    /// When the origin counts as not answering.
    pub timeouts: Timeouts,
    /// Time for which what is stale is served while the origin cannot be reached, if that says nothing of it.
    pub stale_if_unreachable: Duration,
    /// Whether all clients are proxies, whose `X-Forwarded-` fields are true.
    pub trusts_forwarded: bool,
    /// File to which a line is added for each request.
    pub log: Option<PathBuf>,
}

impl Settings {
    /// The defaults, for an origin and so many bytes of memory.
    pub fn new(origin: Authority, memory: u64) -> Self {
        Self {
            origin,
            memory,
            policy: PolicyName::LruMad,
            timeouts: Timeouts::default(),
            stale_if_unreachable: Duration::from_secs(24 * 3600),
            trusts_forwarded: false,
            log: None,
        }
    }
}

/// A cache that serves. Clones are the same cache.
#[derive(Clone)]
pub struct Proxy {
    site: Arc<Site>,
}

impl Proxy {
    /// A cache with nothing in it, in a runtime of tokio.
    ///
    /// # Errors
    ///
    /// The log cannot be opened.
    pub fn new(settings: &Settings) -> io::Result<Self> {
        let runtime = tokio::runtime::Handle::current();
        let name = "trueplane".to_owned();
        // No two processes have the same one, so that requests are known that come back.
        let unique = format!("{name}-{:016x}", RandomState::new().hash_one(0));
        let site = Site {
            store: Store::new(settings.memory, settings.policy, &runtime),
            origin: Origin::new(settings.origin.clone(), settings.timeouts),
            identity: Identity { name, unique, trusts_forwarded: settings.trusts_forwarded },
            stale_if_unreachable: Nanos::from(settings.stale_if_unreachable),
            log: settings.log.as_deref().map(Log::open).transpose()?.map(Arc::new),
        };
        Ok(Self { site: Arc::new(site) })
    }

    /// What it has done so far.
    pub fn stats(&self) -> Stats {
        self.site.store.objects.stats()
    }

    /// Bytes that what is stored takes. They are at most those of the memory.
    pub fn used(&self) -> u64 {
        self.site.store.objects.weight()
    }

    /// Serves connections until `stop` ends. Requests that are then on their way get ten seconds to end.
    pub async fn serve(&self, listener: TcpListener, stop: impl Future<Output = ()>) {
        let graceful = GracefulShutdown::new();
        let (stopping, stopped) = watch::channel(());
        let mut flushes = tokio::time::interval(FLUSH);
        let mut stop = std::pin::pin!(stop);
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = flushes.tick() => {
                    self.site.log.iter().for_each(|log| log.flush());
                    continue;
                }
                () = &mut stop => break,
            };
            match accepted {
                Ok((stream, client)) => {
                    // Small answers are not to wait for more.
                    let _ = stream.set_nodelay(true);
                    self.connection(stream, client, &graceful, stopped.clone());
                }
                // That connection is gone, or there are too many: others may come.
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
        drop((listener, stopping));
        tokio::select! {
            () = graceful.shutdown() => {}
            () = tokio::time::sleep(GRACE) => {}
        }
        self.site.log.iter().for_each(|log| log.flush());
    }

    /// Opens the log anew, after somebody has moved the old one away.
    ///
    /// # Errors
    ///
    /// It cannot be opened: the old one goes on.
    pub fn reopen_log(&self) -> io::Result<()> {
        self.site.log.as_ref().map_or(Ok(()), |log| log.reopen())
    }

    /// Why nothing is logged any more, if so: the disk is full, say.
    pub fn log_failure(&self) -> Option<String> {
        self.site.log.as_ref()?.failure()
    }

    /// Serves a connection in a task of its own.
    fn connection(
        &self,
        stream: TcpStream,
        client: SocketAddr,
        graceful: &GracefulShutdown,
        mut stopped: Receiver<()>,
    ) {
        let site = Arc::clone(&self.site);
        let service = service_fn(move |request| {
            let site = Arc::clone(&site);
            async move { Ok::<_, Infallible>(answer(site, client.ip(), request).await) }
        });
        let watcher = graceful.watcher();
        tokio::spawn(async move {
            // Nothing that is served begins before something has come.
            tokio::select! {
                _ = stream.readable() => {}
                _ = stopped.changed() => return,
                () = tokio::time::sleep(CLIENT_TIME) => return,
            }
            let mut stream = TimeoutStream::new(stream);
            stream.set_write_timeout(Some(CLIENT_TIME));
            let mut builder = auto::Builder::new(TokioExecutor::new());
            builder.http1().timer(TokioTimer::new()).header_read_timeout(CLIENT_TIME);
            let timer = TokioTimer::new();
            builder.http2().timer(timer).max_concurrent_streams(STREAMS).keep_alive_interval(CLIENT_TIME);
            let connection = builder.serve_connection(TokioIo::new(Box::pin(stream)), service).into_owned();
            // What goes wrong on a connection is its client's to see.
            drop(watcher.watch(connection).await);
        });
    }
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proxy").field("objects", &self.site.store.objects).finish_non_exhaustive()
    }
}

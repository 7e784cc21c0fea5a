//! Listens, and serves connections until it is told to stop.

use std::collections::hash_map::RandomState;
use std::convert::Infallible;
use std::hash::BuildHasher as _;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::sync::watch;
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::TlsAcceptor;
use trueplane_cache::Stats;
use trueplane_units::{Nanos, parameter};

use crate::body::{AnyError, Body};
use crate::busy::{Activity, STREAMS};
use crate::client::{Client, Place};
use crate::clock::now;
use crate::config::ConfigError;
use crate::disk::{Disk, DiskStats, probe};
use crate::log::Log;
use crate::marks::Marks;
use crate::pattern::Pattern;
use crate::proxy::answer;
use crate::purge::purge;
use crate::rules::hop::Identity;
use crate::settings::{CacheSettings, Settings, SiteSettings};
use crate::site::{Common, Sites};
use crate::store::Store;
use crate::target::{HTTP, HTTPS};
use crate::tls::Certificates;

/// Time that a client may take until both sides have their keys.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Bytes of a buffer for heads, at least: hyper takes no fewer.
const LEAST_HEAD: usize = 8192;
/// Time that requests on their way get to end when the server is told to stop.
const GRACE: Duration = Duration::from_secs(10);
/// Time after which lines of the log are in its file.
const FLUSH: Duration = Duration::from_secs(1);
/// Pause after no connection could be taken, as when there are too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// A cache that serves. Clones are the same cache.
#[derive(Clone)]
pub struct Proxy {
    shared: Arc<Shared>,
}

/// The state that all connections share.
struct Shared {
    common: Common,
    sites: ArcSwap<Sites>,
    certificates: Certificates,
    /// The settings that sites share, which stay as they are.
    settings: CacheSettings,
    /// The settings of the sites now.
    of_sites: Mutex<Vec<SiteSettings>>,
    /// Connections that may still come.
    room: Arc<Semaphore>,
    /// Each connection has a handle on it.
    connected: Arc<()>,
}

impl Shared {
    /// Time that a client may take to send the head of a request, to go on reading, and to be idle.
    fn patience(&self) -> Duration {
        Duration::from_nanos(self.settings.client_timeout.0)
    }
}

impl Proxy {
    /// A cache with nothing in memory, and what is on its disk, in a runtime of tokio. If the disk does not answer within five seconds, or fails, it is left out
    /// for now.
    ///
    /// # Errors
    ///
    /// The log or a certificate cannot be read, another process uses the folder of the disk, or the settings make no sense; in one line.
    pub fn new(settings: &Settings) -> Result<Self, ConfigError> {
        settings.check().map_err(|(_, what)| ConfigError::Senseless(what))?;
        let runtime = tokio::runtime::Handle::current();
        let name = "trueplane".to_owned();
        // No two processes have the same one, so that requests are known that come back.
        let unique = format!("{name}-{:016x}", RandomState::new().hash_one(0));
        let CacheSettings { memory, policy, log, trust_forwarded, max_connections, .. } = &settings.cache;
        let log = match log {
            Some(path) => {
                Some(Arc::new(Log::open(path).map_err(|error| ConfigError::unreadable(path, &error))?))
            }
            None => None,
        };
        let marks = Arc::<Marks>::default();
        let disk = match (&settings.cache.disk, settings.cache.disk_size) {
            (Some(path), Some(size)) => {
                let unusable = |reason| ConfigError::Unreadable { path: path.clone(), reason };
                let disk = Disk::open(path, size.0, memory.0, &name, Arc::clone(&marks));
                Some(Arc::new(disk.map_err(unusable)?))
            }
            _ => None,
        };
        let common = Common {
            store: Arc::new(Store::new(memory.0, *policy, &runtime, marks, disk)),
            identity: Arc::new(Identity { name, unique, trusts_forwarded: *trust_forwarded }),
            log,
            tallies: Arc::default(),
            top: settings.cache.has_admin().then(Arc::default),
        };
        let room = Arc::new(Semaphore::new((**max_connections).min(Semaphore::MAX_PERMITS)));
        let shared = Shared {
            common,
            sites: ArcSwap::default(),
            certificates: Certificates::default(),
            settings: settings.cache.clone(),
            of_sites: Mutex::default(),
            room,
            connected: Arc::default(),
        };
        let proxy = Self { shared: Arc::new(shared) };
        proxy.set_sites(&settings.sites).map_err(ConfigError::Senseless)?;
        Ok(proxy)
    }

    /// Makes the sites those of other settings. Requests on their way end as they began, connections stay, and so does what is stored. Returns the names of
    /// the settings that differ and need a new start to change.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new); nothing has changed then.
    pub fn reload(&self, settings: &Settings) -> Result<Vec<&'static str>, ConfigError> {
        settings.check().map_err(|(_, what)| ConfigError::Senseless(what))?;
        self.set_sites(&settings.sites).map_err(ConfigError::Senseless)?;
        let pairs =
            parameter::settings(&self.shared.settings).into_iter().zip(parameter::settings(&settings.cache));
        let differing = pairs.filter(|(old, new)| old.text != new.text);
        Ok(differing.map(|(old, _)| old.parameter.field).collect())
    }

    fn set_sites(&self, settings: &[SiteSettings]) -> Result<(), String> {
        let mut of_sites = self.shared.of_sites.lock().unwrap_or_else(PoisonError::into_inner);
        let sites = Sites::new(&self.shared.common, settings, &self.shared.sites.load())?;
        self.shared.certificates.read(settings)?;
        self.shared.sites.store(Arc::new(sites));
        *of_sites = settings.to_vec();
        Ok(())
    }

    /// Reads the certificates again if their files have changed. Returns whether they had.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or a key does not fit its certificate, in one line: those from before stay.
    pub fn renew_certificates(&self) -> Result<bool, String> {
        let of_sites = self.shared.of_sites.lock().unwrap_or_else(PoisonError::into_inner);
        let have_changed = self.shared.certificates.have_changed();
        if have_changed {
            self.shared.certificates.read(&of_sites)?;
        }
        Ok(have_changed)
    }

    /// The state that all sites share.
    pub(crate) fn common(&self) -> &Common {
        &self.shared.common
    }

    /// The sites now.
    pub(crate) fn sites(&self) -> Arc<Sites> {
        self.shared.sites.load_full()
    }

    /// The settings that sites share.
    pub(crate) fn settings(&self) -> &CacheSettings {
        &self.shared.settings
    }

    /// Connections of clients that are there now.
    pub fn connections(&self) -> usize {
        Arc::strong_count(&self.shared.connected) - 1
    }

    /// Purges what is stored: a hard purge removes it, a soft one makes it stale, so that it is validated, and served meanwhile where that is allowed
    /// (RFC 5861). What is on its way counts as stored. Returns the number of answers that were there.
    ///
    /// Unless a URL is purged whose answers do not vary, it looks at all that is stored, one part after the other, and blocks meanwhile: time linear in the
    /// number of answers.
    pub fn purge(&self, pattern: &Pattern, is_soft: bool) -> u64 {
        purge(&self.shared.common.store, pattern, is_soft, now())
    }

    /// What it has done so far.
    pub fn stats(&self) -> Stats {
        self.shared.common.store.objects.stats()
    }

    /// Bytes that what is stored takes. They are at most those of the memory.
    pub fn used(&self) -> u64 {
        self.shared.common.store.objects.weight()
    }

    /// Serves connections until `stop` ends. Requests that are then on their way get ten seconds to end.
    pub async fn serve(&self, listener: TcpListener, stop: impl Future<Output = ()>) {
        self.accept(listener, None, stop).await;
    }

    /// The same with TLS, and the certificates of the sites.
    ///
    /// # Errors
    ///
    /// No site has a certificate, in one line.
    pub async fn serve_tls(
        &self,
        listener: TcpListener,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ConfigError> {
        let config = self.shared.certificates.server().map_err(ConfigError::Senseless)?;
        self.accept(listener, Some(TlsAcceptor::from(config)), stop).await;
        Ok(())
    }

    async fn accept(&self, listener: TcpListener, tls: Option<TlsAcceptor>, stop: impl Future<Output = ()>) {
        // Each connection has a receiver until it ends.
        let (stopping, stopped) = watch::channel(());
        let mut flushes = tokio::time::interval(FLUSH);
        let mut stop = pin!(stop);
        let room = &self.shared.room;
        loop {
            let accepted = async {
                // It is never closed.
                let room = Arc::clone(room).acquire_owned().await.ok();
                (room, listener.accept().await)
            };
            let (room, accepted) = tokio::select! {
                accepted = accepted => accepted,
                _ = flushes.tick() => {
                    self.shared.common.log.iter().for_each(|log| log.flush());
                    continue;
                }
                () = &mut stop => break,
            };
            match accepted {
                Ok((stream, client)) => {
                    // Small answers are not to wait for more.
                    let _ = stream.set_nodelay(true);
                    let client = Client {
                        address: client.ip(),
                        scheme: if tls.is_some() { HTTPS } else { HTTP },
                        patience: self.shared.patience(),
                        activity: Activity::default(),
                        stopped: stopped.clone(),
                        _place: Place { _permit: room, _connected: Arc::clone(&self.shared.connected) },
                    };
                    let (shared, tls) = (Arc::clone(&self.shared), tls.clone());
                    // What goes wrong on a connection is its client's to see.
                    tokio::spawn(async move { drop(serve(shared, Arc::new(client), stream, tls).await) });
                }
                // That connection is gone, or there are too many: others may come.
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
        drop((listener, stopped));
        // It fails if there are no connections.
        let _ = stopping.send(());
        tokio::select! {
            () = stopping.closed() => {}
            () = tokio::time::sleep(GRACE) => {}
        }
        self.shared.common.log.iter().for_each(|log| log.flush());
    }

    /// Opens the log anew, after somebody has moved the old one away.
    ///
    /// # Errors
    ///
    /// It cannot be opened: the old one goes on.
    pub fn reopen_log(&self) -> io::Result<()> {
        self.shared.common.log.as_ref().map_or(Ok(()), |log| log.reopen())
    }

    /// Forgets everything that is stored, in memory and on disk.
    pub fn clear(&self) {
        self.shared.common.store.clear();
    }

    /// What the tier on disk holds, and has done, if there is one.
    pub fn disk_stats(&self) -> Option<DiskStats> {
        Some(self.shared.common.store.disk.as_ref()?.stats())
    }

    /// What there is to tell of the disk, once: that it fails, and then is used again. It is tried again every ten seconds; until then there are the memory and
    /// the servers.
    pub fn disk_news(&self) -> Option<String> {
        self.shared.common.store.disk.as_ref()?.news()
    }

    /// Waits until what was purged cannot come back from the disk after a restart, for a second at most. Returns whether that is so: it is not if the disk
    /// cannot be written. What is purged is never served by this process.
    pub async fn settled(&self) -> bool {
        match &self.shared.common.store.disk {
            Some(disk) => disk.all_settled().await,
            None => true,
        }
    }

    /// Writes what is in memory to the disk, if there is one, as far as that is worth a write and ten seconds suffice, and closes its folder. For the end: nothing
    /// is found on the disk then. A disk that does not answer is left to itself after two seconds more.
    pub async fn close(&self) {
        let store = Arc::clone(&self.shared.common.store);
        let Some(disk) = store.disk.clone() else { return };
        let end = now().after(Nanos(u64::try_from(GRACE.as_nanos()).unwrap_or(u64::MAX)));
        let closed = tokio::task::spawn_blocking(move || {
            store.spill_all(|| now() >= end);
            disk.close(Duration::from_nanos(end.since(now()).0));
        });
        // It has panicked otherwise, and there is nothing to do.
        let _ = closed.await;
    }

    /// Checks that settings make sense, and that everything that they name can be used. The folder of the disk may be in use.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub fn check(settings: &Settings) -> Result<(), ConfigError> {
        let mut without_disk = settings.clone();
        (without_disk.cache.disk, without_disk.cache.disk_size) = (None, None);
        settings.check().map_err(|(_, what)| ConfigError::Senseless(what))?;
        Self::new(&without_disk)?;
        match &settings.cache.disk {
            Some(path) => probe(path).map_err(|error| ConfigError::unreadable(path, &error)),
            None => Ok(()),
        }
    }

    /// Why nothing is logged any more, if so: the disk is full, say.
    pub fn log_failure(&self) -> Option<String> {
        self.shared.common.log.as_ref()?.failure()
    }
}

/// Serves a connection until it ends.
async fn serve(
    shared: Arc<Shared>,
    client: Arc<Client>,
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
) -> Result<(), AnyError> {
    let (patience, mut stopped) = (client.patience, client.stopped.clone());
    // Nothing that is served begins before something has come. If something has come and the time is over, too, it is served.
    tokio::select! {
        biased;
        _ = stream.readable() => {}
        _ = stopped.changed() => return Ok(()),
        () = tokio::time::sleep(patience) => return Ok(()),
    }
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(patience));
    let stream = Box::pin(stream);
    // Each in a box, as a connection would be as large as the largest of them otherwise, also while it is idle.
    match tls {
        None => Box::pin(speak(shared, client, stream)).await,
        Some(tls) => {
            let handshake = Box::pin(tls.accept(stream));
            let stream = tokio::time::timeout(HANDSHAKE.min(patience), handshake).await??;
            Box::pin(speak(shared, client, stream)).await
        }
    }
}

/// Speaks HTTP, in whichever version the client does.
async fn speak<S>(shared: Arc<Shared>, client: Arc<Client>, stream: S) -> Result<(), AnyError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (patience, activity, mut stopped) =
        (client.patience, client.activity.clone(), client.stopped.clone());
    let mut connection = Box::pin(connection(shared, client, stream));
    tokio::select! {
        ended = connection.as_mut() => return ended,
        _ = stopped.changed() => {}
        () = activity.idle(patience) => {}
    }
    // What has been answered is sent, and no other request is taken. A client that does not read it does not hold it for ever.
    connection.as_mut().graceful_shutdown();
    tokio::select! {
        ended = connection => ended,
        () = activity.idle(patience) => Ok(()),
    }
}

/// A connection that answers its requests.
fn connection<S>(
    shared: Arc<Shared>,
    client: Arc<Client>,
    stream: S,
) -> auto::UpgradeableConnection<
    'static,
    TokioIo<S>,
    impl Service<Request<Incoming>, Response = Response<Body>, Error = Infallible, Future: Send + 'static>,
    TokioExecutor,
>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (head, patience) =
        (usize::try_from(shared.settings.max_head.0).unwrap_or(usize::MAX), client.patience);
    let service = service_fn(move |request| {
        let (shared, client, busy) = (Arc::clone(&shared), Arc::clone(&client), client.activity.begin());
        async move {
            let mut answer = answer(&shared.common, shared.sites.load_full(), &client, request).await;
            answer.body_mut().keep(busy);
            Ok::<_, Infallible>(answer)
        }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    let mut http1 = builder.http1();
    http1.timer(TokioTimer::new()).header_read_timeout(patience).max_buf_size(head.max(LEAST_HEAD));
    let mut http2 = builder.http2();
    http2.timer(TokioTimer::new()).max_concurrent_streams(STREAMS).keep_alive_interval(patience);
    http2.max_header_list_size(u32::try_from(head).unwrap_or(u32::MAX));
    builder.serve_connection_with_upgrades(TokioIo::new(stream), service).into_owned()
}

impl std::fmt::Debug for Proxy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Proxy").field("objects", &self.shared.common.store.objects).finish_non_exhaustive()
    }
}

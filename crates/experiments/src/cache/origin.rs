//! The origin: a server that answers for each object after its latency, and counts what it is asked for.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

use super::alarm::Alarm;

/// What the origin answers for an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct Served {
    /// Bytes of the body.
    pub(super) body: u64,
    pub(super) latency: Duration,
}

/// The path of the object with this index. All paths have the same length.
pub(super) fn path(object: usize) -> String {
    format!("/{object:08x}")
}

/// A running server. It ends when it is dropped.
pub(super) struct Origin {
    pub(super) address: SocketAddr,
    shared: Arc<Shared>,
    // Dropped last: its tasks use the rest.
    _runtime: Runtime,
}

struct Shared {
    objects: Vec<Served>,
    /// Requests for each object.
    asked: Vec<AtomicU64>,
    /// As long as the longest body.
    bytes: Bytes,
    alarm: Alarm,
}

impl Origin {
    /// Serves these objects on a port of the loopback interface.
    pub(super) fn start(objects: Vec<Served>) -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        let longest = objects.iter().map(|object| object.body).max().unwrap_or(0);
        let shared = Arc::new(Shared {
            asked: objects.iter().map(|_| AtomicU64::new(0)).collect(),
            bytes: vec![b'x'; usize::try_from(longest).unwrap_or(usize::MAX)].into(),
            objects,
            alarm: Alarm::start(),
        });
        let listener = runtime.block_on(TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0)))?;
        let address = listener.local_addr()?;
        runtime.spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { address, shared, _runtime: runtime })
    }

    /// How often each object was asked for since this was called last.
    pub(super) fn take_asked(&self) -> Vec<u64> {
        self.shared.asked.iter().map(|asked| asked.swap(0, Ordering::Relaxed)).collect()
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
            // There are too many open files: some will be closed.
            Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
        }
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    // What has to be sent is not to wait for more.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(shared.answer(&request).await) }
    });
    // What goes wrong on a connection is seen by its client.
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

impl Shared {
    async fn answer(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let name = request.uri().path().trim_start_matches('/');
        let index = usize::from_str_radix(name, 16).unwrap_or(usize::MAX);
        let (Some(object), Some(asked)) = (self.objects.get(index), self.asked.get(index)) else {
            let mut response = Response::new(Full::default());
            *response.status_mut() = StatusCode::NOT_FOUND;
            return response;
        };
        asked.fetch_add(1, Ordering::Relaxed);
        self.alarm.sleep(object.latency).await;
        let length = usize::try_from(object.body).unwrap_or(usize::MAX);
        let mut response = Response::new(Full::new(self.bytes.slice(..length.min(self.bytes.len()))));
        response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=86400"));
        response
    }
}

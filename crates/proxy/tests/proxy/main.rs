//! The cache between clients and an origin that does what each test tells it to. All of them talk on loopback, and wait for each other, not for time.

mod admin;
mod connections;
mod correct;
mod disk;
mod herd;
mod hostile;
mod kill;
mod origin;
mod seeds;
mod sites;
mod stale;
mod suite;

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use trueplane_proxy::{Proxy, Settings};
use trueplane_units::Parameters as _;

use origin::Origin;

/// A cache of 1 MiB in front of an origin, with these parameters.
fn in_front_of(origin: &Origin, parameters: &[(&str, &str)]) -> Settings {
    let mut settings = Settings::new(origin.url().parse().unwrap(), 1 << 20);
    for (name, text) in parameters {
        let set = settings.cache.set(name, text).or_else(|| settings.sites[0].set(name, text));
        set.expect("a parameter").unwrap();
    }
    settings
}

/// A cache in front of an origin, and a client of it.
struct World {
    origin: Origin,
    proxy: Proxy,
    address: SocketAddr,
    client: Client<HttpConnector, Full<Bytes>>,
    stop: Option<oneshot::Sender<()>>,
    served: JoinHandle<()>,
    began: Instant,
}

/// An answer as the client got it.
#[derive(Debug)]
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
    /// Whether the body ended as it should.
    is_whole: bool,
}

impl Answer {
    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    fn field(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The field `Age`, in seconds.
    fn age(&self) -> i64 {
        self.field("age").parse().unwrap()
    }

    /// Seconds for which the answer is fresh; negative once it is stale.
    fn ttl(&self) -> i64 {
        let (_, ttl) = self.field("cache-status").rsplit_once("; ttl=").unwrap();
        ttl.parse().unwrap()
    }

    /// What the cache says that it did.
    fn is_hit(&self) -> bool {
        self.field("cache-status").starts_with("trueplane; hit")
    }
}

impl World {
    async fn new(origin: Origin) -> Self {
        let settings = in_front_of(&origin, &[]);
        Self::with(origin, settings).await
    }

    async fn with(origin: Origin, settings: Settings) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let proxy = Proxy::new(&settings).unwrap();
        let (stop, stopped) = oneshot::channel();
        let serving = proxy.clone();
        let served = tokio::spawn(async move {
            serving.serve(listener, async { drop(stopped.await) }).await;
        });
        let client = Client::builder(TokioExecutor::new()).build(HttpConnector::new());
        Self { origin, proxy, address, client, stop: Some(stop), served, began: Instant::now() }
    }

    /// Ages that an answer of this age, in seconds, may have by now. On a busy machine seconds pass between two requests.
    fn ages(&self, at_first: i64) -> RangeInclusive<i64> {
        let passed = self.began.elapsed().as_secs();
        at_first..=at_first + i64::try_from(passed).unwrap()
    }

    /// An address at which it is served with TLS, too.
    async fn tls(&self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let proxy = self.proxy.clone();
        tokio::spawn(async move { proxy.serve_tls(listener, std::future::pending()).await });
        address
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[]).await
    }

    async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Answer {
        let (response, mut answer) = self.begin(method, path, headers).await;
        answer.read(response).await;
        answer
    }

    /// Sends a request, and waits for the head of the answer.
    async fn begin(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> (Incoming, Answer) {
        let mut request = Request::builder().method(method).uri(self.url(path));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = self.client.request(request.body(Full::default()).unwrap());
        let response = in_time(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let answer =
            Answer { status: parts.status, headers: parts.headers, body: Vec::new(), is_whole: false };
        (body, answer)
    }

    /// Stops the cache, and waits until it has.
    async fn stop(mut self) {
        drop(self.stop.take());
        in_time(self.served).await.unwrap();
    }
}

impl Answer {
    async fn read(&mut self, mut body: Incoming) {
        while let Some(frame) = in_time(body.frame()).await {
            match frame {
                Ok(frame) => self.body.extend(frame.into_data().unwrap()),
                Err(_) => return,
            }
        }
        self.is_whole = true;
    }
}

/// Waits for what comes, and fails if it does not.
async fn in_time<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(30), future).await.expect("it comes within 30 s")
}

/// Tries again until something is so.
async fn until(mut is_so: impl FnMut() -> bool) {
    in_time(async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}

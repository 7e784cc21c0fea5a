//! The servers behind a site.

mod failed;
mod health;
mod server;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::uri::PathAndQuery;
use http::{HeaderMap, Method, Response};
use hyper::body::Incoming;
use rustls::ClientConfig;
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub(crate) use self::failed::Failed;
use self::server::Server;
use crate::body::Body;
use crate::clock::now;
use crate::rules::storable::is_safe;
use crate::settings::{SiteSettings, Timeouts};
use crate::tally::Tally;

/// The servers behind a site. Each request goes to one that is well, and of these to one for which the fewest wait.
pub(crate) struct Origin {
    servers: Vec<Arc<Server>>,
    /// Where the search for a server begins, so that all get requests.
    turn: AtomicUsize,
    pub(crate) timeouts: Timeouts,
    /// Bytes of the body of a request, at most.
    pub(crate) most: u64,
    tally: Arc<Tally>,
    /// Ask the servers for their health.
    checks: Vec<JoinHandle<()>>,
}

impl Origin {
    /// The servers of a site, in a runtime of tokio. `tls` says whom they are signed by.
    pub(crate) fn new(settings: &SiteSettings, tls: &Arc<ClientConfig>, tally: Arc<Tally>) -> Self {
        let timeouts = settings.timeouts();
        let server = |url| Arc::new(Server::new(url, timeouts, tls, settings.origin_http2));
        let servers: Vec<_> = settings.origins().iter().cloned().map(server).collect();
        let interval = Duration::from_nanos(settings.health_interval.0);
        let checks = settings.health_path.iter().flat_map(|path| {
            let check =
                |server: &Arc<Server>| tokio::spawn(check(Arc::clone(server), path.path().clone(), interval));
            servers.iter().map(check).collect::<Vec<_>>()
        });
        Self {
            checks: checks.collect(),
            servers,
            turn: AtomicUsize::new(0),
            timeouts,
            most: settings.max_body.0,
            tally,
        }
    }

    /// Names of the servers, and whether each is well.
    pub(crate) fn servers(&self) -> impl Iterator<Item = (String, bool)> {
        let now = now();
        self.servers.iter().map(move |server| (server.url.to_string(), server.health.is_well(now)))
    }

    /// Sends a request without a body; its answer, up to the head. If the request is safe, it is sent once more if there is none.
    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &PathAndQuery,
        headers: HeaderMap,
    ) -> Result<Response<Incoming>, Failed> {
        let mut again = is_safe(&method);
        loop {
            let Some(server) = self.server() else { return Err(no_server()) };
            let sent = server.send(method.clone(), path, headers.clone(), Body::empty());
            let answered = self.answered(server, sent, async {}).await;
            match &answered {
                Ok(_) => server.health.answer(),
                Err(Failed::Unreachable(_)) => server.health.fail(now()),
                // One URL may take long, and others not.
                Err(_) => {}
            }
            match answered {
                Err(Failed::Unreachable(_)) if again => again = false,
                answered => return answered,
            }
        }
    }

    /// Sends a request with a body; its answer, up to the head.
    pub(crate) async fn pass(
        &self,
        method: Method,
        path: &PathAndQuery,
        headers: HeaderMap,
        body: Incoming,
    ) -> Result<Response<Incoming>, Failed> {
        let (progress, mut taken) = watch::channel(());
        let body = Body::watched(body, self.timeouts.body, Some(progress), self.most);
        let Some(server) = self.server() else { return Err(no_server()) };
        // If it fails, that may be the client's doing, and says nothing of the server.
        let answered = server.send(method, path, headers, body);
        let pause = self.timeouts.body;
        // Until all is taken, or nothing is for too long: there is no connection, or the server does not read.
        let sent = async { while let Ok(Ok(())) = tokio::time::timeout(pause, taken.changed()).await {} };
        self.answered(server, answered, sent).await
    }

    /// Sends a request to a server that is to become another protocol.
    pub(crate) async fn upgrade(
        &self,
        path: &PathAndQuery,
        headers: HeaderMap,
    ) -> Result<Response<Incoming>, Failed> {
        let Some(server) = self.server() else { return Err(no_server()) };
        self.answered(server, server.send(Method::GET, path, headers, Body::empty()), async {}).await
    }

    /// Waits for an answer, and counts it. The origin's time begins when the body has been `sent`.
    async fn answered(
        &self,
        server: &Server,
        answered: impl Future<Output = Result<Response<Incoming>, Failed>>,
        sent: impl Future<Output = ()>,
    ) -> Result<Response<Incoming>, Failed> {
        let _waiting = server.health.wait();
        // The client may leave before there is an answer.
        self.tally.ask();
        let too_late = async {
            sent.await;
            tokio::time::sleep(self.timeouts.head).await;
        };
        let answered = tokio::select! {
            answered = answered => answered,
            () = too_late => Err(Failed::TimedOut),
        };
        if answered.as_ref().map_or(true, |response| response.status().is_server_error()) {
            self.tally.fail();
        }
        answered
    }

    /// The server for the next request.
    fn server(&self) -> Option<&Arc<Server>> {
        let count = self.servers.len();
        if count < 2 {
            return self.servers.first();
        }
        let (turn, now) = (self.turn.fetch_add(1, Ordering::Relaxed), now());
        let in_turn = (0..count).map(|step| &self.servers[turn.wrapping_add(step) % count]);
        in_turn.min_by_key(|server| server.health.reluctance(now))
    }
}

impl Drop for Origin {
    fn drop(&mut self) {
        self.checks.iter().for_each(JoinHandle::abort);
    }
}

fn no_server() -> Failed {
    Failed::Unreachable("there is no server".to_owned())
}

/// Asks a server for its health, again and again.
async fn check(server: Arc<Server>, path: PathAndQuery, interval: Duration) {
    let mut ticks = tokio::time::interval(interval);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let answered = tokio::time::timeout(interval, server.is_well(&path)).await;
        server.health.check(answered.unwrap_or(false));
    }
}

//! The server behind the cache.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, Method, Request, Response, Uri, Version};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use tokio::sync::oneshot;

use crate::body::Body;
use crate::head::Head;

/// Times after which an origin counts as not answering.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// Until it takes a connection.
    pub connect: Duration,
    /// From the request to the head of its answer.
    pub head: Duration,
    /// Between two parts of a body.
    pub body: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(5), head: Duration::from_secs(60), body: Duration::from_secs(60) }
    }
}

/// Why an origin gave no answer, or not all of it.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Failed {
    /// The answer is for the request alone that it was made for.
    #[error("the answer is private")]
    Private,
    /// There was no answer.
    #[error("the origin does not answer: {0}")]
    Unreachable(String),
    /// It took too long.
    #[error("the origin does not answer in time")]
    TimedOut,
    /// It answers with an error, and what is stored may be served instead.
    #[error("the origin fails")]
    Failing,
    /// It answers with an error that is the same for all who wait, and is not kept.
    #[error("the origin fails with {}", .0.status)]
    Error(Arc<Head>, Bytes),
    /// The answer ended early.
    #[error("the origin's answer ended early: {0}")]
    Truncated(String),
}

/// An origin, and the connections to it.
pub(crate) struct Origin {
    authority: Authority,
    client: Client<HttpConnector, Body>,
    pub(crate) timeouts: Timeouts,
}

impl Origin {
    pub(crate) fn new(authority: Authority, timeouts: Timeouts) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(timeouts.connect));
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(Duration::from_secs(60))
            .build(connector);
        Self { authority, client, timeouts }
    }

    /// Sends a request without a body; its answer, up to the head.
    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &PathAndQuery,
        headers: HeaderMap,
    ) -> Result<Response<Incoming>, Failed> {
        self.send(method, path, headers, Body::empty(), async {}).await
    }

    /// Sends a request with a body; its answer, up to the head.
    pub(crate) async fn pass(
        &self,
        method: Method,
        path: &PathAndQuery,
        headers: HeaderMap,
        body: Incoming,
    ) -> Result<Response<Incoming>, Failed> {
        let (whole, sent) = oneshot::channel();
        let body = Body::watched(body, self.timeouts.body, Some(whole));
        self.send(method, path, headers, body, async { drop(sent.await) }).await
    }

    /// Sends a request. The origin's time begins when the body has been `sent`.
    async fn send(
        &self,
        method: Method,
        path: &PathAndQuery,
        headers: HeaderMap,
        body: Body,
        sent: impl Future<Output = ()>,
    ) -> Result<Response<Incoming>, Failed> {
        let mut uri = http::uri::Parts::default();
        uri.scheme = Some(Scheme::HTTP);
        uri.authority = Some(self.authority.clone());
        uri.path_and_query = Some(path.clone());
        let mut request = Request::new(body);
        *request.uri_mut() = Uri::from_parts(uri).map_err(|error| Failed::Unreachable(error.to_string()))?;
        *request.method_mut() = method;
        *request.version_mut() = Version::HTTP_11;
        *request.headers_mut() = headers;
        let too_late = async {
            sent.await;
            tokio::time::sleep(self.timeouts.head).await;
        };
        tokio::select! {
            answered = self.client.request(request) => answered.map_err(|error| Failed::Unreachable(root(&error))),
            () = too_late => Err(Failed::TimedOut),
        }
    }
}

/// The innermost cause of an error, which says most.
fn root(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    // The number says nothing to those who read it.
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

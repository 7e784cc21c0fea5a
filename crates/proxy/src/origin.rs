//! The server behind the cache.

use std::time::Duration;

use http::uri::{Authority, PathAndQuery, Scheme};
use http::{HeaderMap, Method, Request, Response, Uri, Version};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};

use crate::body::Body;

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

    /// Sends a request; its answer, up to the head.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &PathAndQuery,
        headers: HeaderMap,
        body: Body,
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
        match tokio::time::timeout(self.timeouts.head, self.client.request(request)).await {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(Failed::Unreachable(root(&error))),
            Err(_) => Err(Failed::TimedOut),
        }
    }
}

/// The innermost cause of an error, which says most.
fn root(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

//! A server, and the connections to it.

use std::sync::Arc;
use std::time::Duration;

use http::uri::PathAndQuery;
use http::{HeaderMap, Method, Request, Response, Uri, Version, header};
use hyper::body::Incoming;
use hyper::client::conn::http2;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::ClientConfig;
use tokio::sync::Mutex;
use tower_service::Service as _;

use super::failed::Failed;
use super::health::Health;
use crate::body::Body;
use crate::reason::reason;
use crate::settings::Timeouts;
use crate::values::OriginUrl;

/// Time after which a connection that is not used is closed.
const IDLE: Duration = Duration::from_secs(60);
/// Time between two questions whether a connection of HTTP/2 still works.
const PING: Duration = Duration::from_secs(10);
/// Bytes that a server may send ahead in one stream of HTTP/2, and in all of them.
const STREAM_WINDOW: u32 = 1 << 20;
const WINDOW: u32 = 1 << 30;

/// A server.
pub(super) struct Server {
    pub(super) url: OriginUrl,
    pub(super) health: Health,
    /// Time in which it must take a connection.
    connect: Duration,
    connections: Connections,
}

enum Connections {
    /// As many as there are requests at once.
    Http1(Box<Client<HttpsConnector<HttpConnector>, Body>>),
    /// One for all requests, while it lasts.
    Http2(HttpsConnector<HttpConnector>, Mutex<Option<http2::SendRequest<Body>>>),
}

impl Server {
    pub(super) fn new(url: OriginUrl, timeouts: Timeouts, tls: &Arc<ClientConfig>, is_http2: bool) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        tcp.enforce_http(false);
        tcp.set_connect_timeout(Some(timeouts.connect));
        let builder = HttpsConnectorBuilder::new().with_tls_config((**tls).clone()).https_or_http();
        let connections = if is_http2 {
            Connections::Http2(builder.enable_http2().wrap_connector(tcp), Mutex::default())
        } else {
            let connector = builder.enable_http1().wrap_connector(tcp);
            let mut client = Client::builder(TokioExecutor::new());
            client.pool_timer(TokioTimer::new()).pool_idle_timeout(IDLE);
            Connections::Http1(Box::new(client.build(connector)))
        };
        Self { url, health: Health::default(), connect: timeouts.connect, connections }
    }

    /// Sends a request; its answer, up to the head. The caller limits the time.
    pub(super) async fn send(
        &self,
        method: Method,
        path: &PathAndQuery,
        mut headers: HeaderMap,
        body: Body,
    ) -> Result<Response<Incoming>, Failed> {
        let mut uri = http::uri::Parts::default();
        uri.scheme = Some(self.url.scheme().clone());
        uri.authority = Some(self.url.authority().clone());
        uri.path_and_query = Some(path.clone());
        if let Connections::Http2(..) = self.connections
            && let Some(host) = headers.remove(header::HOST)
        {
            // There it is a part of the URL. (RFC 9113 §8.3.1)
            uri.authority = Some(host.as_bytes().try_into().map_err(unreachable)?);
        }
        let mut request = Request::new(body);
        *request.uri_mut() = Uri::from_parts(uri).map_err(unreachable)?;
        *request.method_mut() = method;
        *request.headers_mut() = headers;
        match &self.connections {
            Connections::Http1(client) => {
                *request.version_mut() = Version::HTTP_11;
                client.request(request).await.map_err(unreachable)
            }
            Connections::Http2(connector, shared) => {
                *request.version_mut() = Version::HTTP_2;
                let mut sender = self.http2(connector.clone(), shared).await?;
                sender.send_request(request).await.map_err(unreachable)
            }
        }
    }

    /// The connection of HTTP/2; a new one, if there is none or it has ended.
    async fn http2(
        &self,
        mut connector: HttpsConnector<HttpConnector>,
        shared: &Mutex<Option<http2::SendRequest<Body>>>,
    ) -> Result<http2::SendRequest<Body>, Failed> {
        let mut shared = shared.lock().await;
        if let Some(sender) = shared.as_ref().filter(|sender| !sender.is_closed()) {
            return Ok(sender.clone());
        }
        let uri = Uri::builder()
            .scheme(self.url.scheme().clone())
            .authority(self.url.authority().clone())
            .path_and_query("/");
        let connecting = connector.call(uri.build().map_err(unreachable)?);
        // The others wait for this connection, too.
        let connected = tokio::time::timeout(self.connect, connecting).await;
        let stream = connected
            .map_err(|_| Failed::Unreachable("it took no connection in time".to_owned()))?
            .map_err(|error| unreachable(&*error))?;
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.timer(TokioTimer::new()).keep_alive_interval(PING).keep_alive_timeout(self.connect);
        // No stream may use up the window of all: a client that reads slowly stalls its own alone.
        builder.initial_stream_window_size(STREAM_WINDOW).initial_connection_window_size(WINDOW);
        let (sender, connection) = builder.handshake(stream).await.map_err(unreachable)?;
        // Its end shows in the requests that it carried.
        tokio::spawn(async { drop(connection.await) });
        *shared = Some(sender.clone());
        Ok(sender)
    }

    /// Whether the server answers well when it is asked for this path.
    pub(super) async fn is_well(&self, path: &PathAndQuery) -> bool {
        let mut headers = HeaderMap::new();
        if let Ok(host) = self.url.authority().as_str().parse() {
            headers.insert(header::HOST, host);
        }
        let answered = self.send(Method::GET, path, headers, Body::empty()).await;
        answered.is_ok_and(|answer| answer.status().is_success() || answer.status().is_redirection())
    }
}

fn unreachable(error: impl std::error::Error) -> Failed {
    Failed::Unreachable(reason(&error))
}

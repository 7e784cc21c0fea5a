//! Asks a cache at its socket.

use std::io::ErrorKind;
use std::path::Path;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::TokioIo;
use serde::de::DeserializeOwned;
use tokio::net::UnixStream;

use super::report::{Report, TopReport};
use super::request::{PurgeRequest, Purged};
use crate::reason::reason;

/// A set of stored answers, as people name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    /// A URL.
    Url(String),
    /// The begin of URLs.
    Prefix(String),
    /// A tag in `Surrogate-Key`.
    Tag(String),
    /// A pattern for whole URLs.
    Pattern(String),
}

/// Asks for the numbers of a cache.
///
/// # Errors
///
/// No cache serves the socket, in one line.
pub async fn stats(socket: &Path) -> Result<Report, String> {
    ask(socket, Method::GET, "/stats", String::new()).await
}

/// Asks for the URLs that matter most.
///
/// # Errors
///
/// No cache serves the socket, in one line.
pub async fn top(socket: &Path) -> Result<TopReport, String> {
    ask(socket, Method::GET, "/top", String::new()).await
}

/// Purges what is stored. Returns the number of answers that were there.
///
/// # Errors
///
/// No cache serves the socket, or the set makes no sense, in one line.
pub async fn purge(socket: &Path, named: Named, is_soft: bool) -> Result<u64, String> {
    let mut asked = PurgeRequest { soft: is_soft, ..PurgeRequest::default() };
    let (place, text) = match named {
        Named::Url(url) => (&mut asked.url, url),
        Named::Prefix(prefix) => (&mut asked.prefix, prefix),
        Named::Tag(tag) => (&mut asked.tag, tag),
        Named::Pattern(pattern) => (&mut asked.pattern, pattern),
    };
    *place = Some(text);
    let body = serde_json::to_string(&asked).map_err(|error| error.to_string())?;
    let Purged { purged } = ask(socket, Method::POST, "/purge", body).await?;
    Ok(purged)
}

async fn ask<T: DeserializeOwned>(
    socket: &Path,
    method: Method,
    path: &str,
    body: String,
) -> Result<T, String> {
    let here = |what: String| format!("{}: {what}", socket.display());
    let stream = UnixStream::connect(socket).await.map_err(|error| {
        here(match error.kind() {
            ErrorKind::NotFound => "no such socket; `trueplane cache serve --socket` makes it".to_owned(),
            ErrorKind::ConnectionRefused => "the cache that made this socket has ended".to_owned(),
            _ => reason(&error),
        })
    })?;
    let broken = |error: hyper::Error| here(format!("the cache does not answer: {error}"));
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
    // It ends with the request.
    tokio::spawn(connection);
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", "localhost")
        .body(Full::new(Bytes::from(body)))
        .map_err(|error| here(error.to_string()))?;
    let response = sender.send_request(request).await.map_err(broken)?;
    let status = response.status();
    let body = response.into_body().collect().await.map_err(broken)?.to_bytes();
    if status == StatusCode::OK {
        return serde_json::from_slice(&body).map_err(|error| here(format!("the answer is none: {error}")));
    }
    Err(String::from_utf8_lossy(&body).trim().to_owned())
}

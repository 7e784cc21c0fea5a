//! Connections that become another protocol: WebSocket. Bytes are passed on in both directions until a side ends, or neither sends anything for too long. (RFC 9110 §7.8)

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use http::request::Parts;
use http::{HeaderValue, Method, StatusCode, Version, header};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio::io::copy;
use tokio_util::io::InspectReader;

use crate::answer::{Answer, pass, refused};
use crate::asked::Asked;
use crate::client::Client;
use crate::clock::now;
use crate::origin::Failed;
use crate::rules::fields::elements;
use crate::rules::freshness::Times;
use crate::rules::status::Forwarded;
use crate::site::Site;

/// The protocol that is passed on. Others could carry requests past the cache: HTTP/2 without TLS (h2c), say.
const WEBSOCKET: &str = "websocket";

/// The client's side of a connection that is to become another protocol.
pub(crate) struct Upgrade(OnUpgrade);

impl Upgrade {
    /// The client's side, if this request asks for it.
    pub(crate) fn asked_by(request: &mut Parts) -> Option<Self> {
        let names = |field, word: &str| {
            elements(&request.headers, field).any(|element| element.eq_ignore_ascii_case(word.as_bytes()))
        };
        let is_asked = request.version == Version::HTTP_11
            && request.method == Method::GET
            && names(&header::CONNECTION, "upgrade")
            && names(&header::UPGRADE, WEBSOCKET);
        is_asked.then(|| request.extensions.remove().map(Self)).flatten()
    }

    /// Asks the origin, and connects both sides if it agrees.
    pub(crate) async fn answer(self, site: &Site, asked: &Asked, from: &Arc<Client>) -> Answer {
        let mut headers = asked.forwarded(site);
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static(WEBSOCKET));
        let sent = now();
        let mut response = match site.origin.upgrade(&asked.target.path, headers).await {
            Ok(response) => response,
            Err(error @ Failed::TimedOut) => {
                return refused(&site.identity, StatusCode::GATEWAY_TIMEOUT, &error.to_string());
            }
            Err(error) => return refused(&site.identity, StatusCode::BAD_GATEWAY, &error.to_string()),
        };
        let is_agreed = response.status() == StatusCode::SWITCHING_PROTOCOLS;
        let origin = is_agreed.then(|| hyper::upgrade::on(&mut response));
        let times = Times { asked: sent, came: now() };
        let mut answer = pass(site, asked, response, times, Forwarded::Bypass);
        if let Some(origin) = origin {
            let headers = answer.response.headers_mut();
            headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
            headers.insert(header::UPGRADE, HeaderValue::from_static(WEBSOCKET));
            let from = Arc::clone(from);
            tokio::spawn(async move {
                if let (Ok(client), Ok(origin)) = (self.0.await, origin.await) {
                    connect(client, origin, &from).await;
                }
            });
        }
        answer
    }
}

/// Passes bytes on until a side ends, neither has sent anything for as long as the client may be idle, or the cache stops.
async fn connect(client: Upgraded, origin: Upgraded, from: &Client) {
    let reads = AtomicU64::new(0);
    let watched = |side| {
        InspectReader::new(TokioIo::new(side), |_: &[u8]| {
            reads.fetch_add(1, Relaxed);
        })
    };
    let (mut from_client, mut to_client) = tokio::io::split(watched(client));
    let (mut from_origin, mut to_origin) = tokio::io::split(watched(origin));
    let idle = async {
        let mut before = None;
        while before != Some(reads.load(Relaxed)) {
            before = Some(reads.load(Relaxed));
            tokio::time::sleep(from.patience).await;
        }
    };
    let mut stopped = from.stopped.clone();
    tokio::select! {
        // When a side ends, both are closed: a client that is gone looks like one that only sends no more.
        _ = copy(&mut from_client, &mut to_origin) => {}
        _ = copy(&mut from_origin, &mut to_client) => {}
        () = idle => {}
        _ = stopped.changed() => {}
    }
}

//! Answers requests: from what is stored, from what is on its way, or from the origin.

use std::cell::{Cell, OnceCell};
use std::net::IpAddr;
use std::sync::Arc;

use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use hyper::body::Incoming;
use trueplane_cache::{FetchError, Outcome};
use trueplane_units::Nanos;

use crate::answer::{Answer, compose, pass, refused, stored_answer};
use crate::asked::Asked;
use crate::body::Body;
use crate::clock::now;
use crate::fetch::fetch;
use crate::head::{Head, Object, Piece, head_of};
use crate::log::{Line, Upstream};
use crate::origin::Failed;
use crate::own::{Own, Private};
use crate::rules::freshness::Times;
use crate::rules::status::{Forwarded, Handled};
use crate::rules::storable::{Storable, is_safe};
use crate::site::Site;
use crate::store::{Name, Reader};
use crate::target::Target;

/// Times that a request asks the store before it goes to the origin by itself: what it waited for may have been an answer to others.
const ATTEMPTS: usize = 3;

/// Answers a request of a client.
pub(crate) async fn answer(site: Arc<Site>, client: IpAddr, request: Request<Incoming>) -> Response<Body> {
    let came = now();
    let (parts, body) = request.into_parts();
    let line = site.log.as_ref().map(|log| Line {
        log: Arc::clone(log),
        came,
        method: parts.method.clone(),
        host: parts.uri.host().map_or_else(|| text(parts.headers.get(header::HOST)), str::to_owned),
        target: parts.uri.path_and_query().map_or_else(String::new, ToString::to_string),
        status: client_left(),
        sent: 0,
        handled: None,
        upstream: None,
    });
    let Answer { mut response, handled, upstream } = answer_to(&site, client, parts, body).await;
    if let Some(mut line) = line {
        (line.status, line.handled, line.upstream) = (response.status(), handled, upstream);
        response.body_mut().log(line);
    }
    response
}

/// What nginx logs where the client has left before it had an answer.
fn client_left() -> StatusCode {
    StatusCode::from_u16(499).unwrap_or(StatusCode::REQUEST_TIMEOUT)
}

/// The value of a field, as far as it is text.
fn text(field: Option<&HeaderValue>) -> String {
    field.map_or_else(String::new, |field| String::from_utf8_lossy(field.as_bytes()).into_owned())
}

async fn answer_to(site: &Arc<Site>, client: IpAddr, parts: Parts, body: Incoming) -> Answer {
    let target = match Target::of(&parts) {
        Ok(target) => target,
        Err(why) => return refused(site, StatusCode::BAD_REQUEST, why),
    };
    if site.identity.has_seen(&parts.headers) {
        return refused(site, StatusCode::LOOP_DETECTED, "the origin sends requests back to this cache");
    }
    let mut asked =
        Asked { method: parts.method, target, version: parts.version, client, headers: parts.headers };
    if let Ok(host) = HeaderValue::from_str(asked.target.authority.as_str()) {
        asked.headers.insert(header::HOST, host);
    }
    if let Some(why) = asked.is_not_for_caches(&body) {
        return direct(site, &asked, Body::passing(body), why).await;
    }
    cached(site, &asked).await
}

/// Answers a request that the store may answer.
async fn cached(site: &Arc<Site>, asked: &Asked) -> Answer {
    for _ in 0..ATTEMPTS {
        let name = site.store.name(&asked.target.url, &asked.headers);
        if site.store.is_private(&name) {
            return direct(site, asked, Body::empty(), Forwarded::Bypass).await;
        }
        let now = now();
        if asked.method == Method::HEAD || asked.is_only_if_cached() {
            let stored = site.store.objects.get(&name).and_then(|object| Some((head_of(&object)?, object)));
            return match stored {
                Some((head, object)) if head.is_fresh(now) && head.selects(&asked.headers) => {
                    stored_answer(site, asked, &head, &object, Handled::Hit, now)
                }
                _ if asked.method == Method::HEAD => {
                    direct(site, asked, Body::empty(), Forwarded::Miss).await
                }
                _ => refused(site, StatusCode::GATEWAY_TIMEOUT, "nothing is stored for this URL"),
            };
        }
        // Hits have none.
        let own = OnceCell::new();
        let is_stale = Cell::new(false);
        let is_unfit = |object: &Object| {
            is_stale.set(head_of(object).is_none_or(|head| !head.is_fresh_enough(now)));
            is_stale.get()
        };
        let reader = read(site, asked, &name, is_unfit, &own);
        let reader = match reader {
            Ok(reader) => reader,
            Err(error) => return refused(site, StatusCode::SERVICE_UNAVAILABLE, &error.to_string()),
        };
        let answer = match reader.outcome() {
            Outcome::Hit => hit(site, asked, &name, &reader, now),
            Outcome::Miss | Outcome::Delayed => {
                let why = if is_stale.get() { Forwarded::Stale } else { Forwarded::Miss };
                arriving(site, asked, &name, why, reader, own.into_inner().unwrap_or_default()).await
            }
        };
        if let Some(answer) = answer {
            return answer;
        }
    }
    direct(site, asked, Body::empty(), Forwarded::Bypass).await
}

/// A reader of what is stored under a name, or of what one of those who ask fetches.
fn read(
    site: &Arc<Site>,
    asked: &Asked,
    name: &Name,
    is_unfit: impl Fn(&Object) -> bool,
    own: &OnceCell<Arc<Own>>,
) -> Result<Reader, FetchError> {
    site.store.objects.get_or_stream_unless(name, is_unfit, |sink| {
        let own = own.get_or_init(Arc::default);
        fetch(Arc::clone(site), asked.wanted(site, name), sink, Arc::clone(own))
    })
}

/// Answers from what is stored, and lets it be fetched again if it is stale. None if it is no answer to this request.
fn hit(site: &Arc<Site>, asked: &Asked, name: &Name, reader: &Reader, now: Nanos) -> Option<Answer> {
    let object = reader.parts()?;
    let head = head_of(object).filter(|head| head.selects(&asked.headers))?;
    if !head.is_fresh(now) {
        let is_stale = |object: &Object| head_of(object).is_none_or(|head| !head.is_fresh(now));
        // It goes on by itself. If too many fetches are on their way, the next request tries again.
        let _ = read(site, asked, name, is_stale, &OnceCell::new());
    }
    Some(stored_answer(site, asked, &head, object, Handled::Hit, now))
}

/// Answers from what arrives. None if that is no answer to this request.
async fn arriving(
    site: &Arc<Site>,
    asked: &Asked,
    name: &Name,
    why: Forwarded,
    mut reader: Reader,
    own: Arc<Own>,
) -> Option<Answer> {
    let is_collapsed = reader.outcome() == Outcome::Delayed;
    match reader.next().await {
        Some(Ok(Piece::Head(head))) => {
            if !head.selects(&asked.headers) || (is_collapsed && !head.is_for_all()) {
                return None;
            }
            let handled = Handled::Forwarded {
                why,
                status: Some(head.status),
                is_stored: head.storable == Storable::Kept,
                is_collapsed,
            };
            let length = head.length;
            let body = Body::arriving(reader, length);
            let answer = compose(site, asked, &head, body, length, handled, now());
            Some(if is_collapsed { answer } else { answer.after(Upstream::Fetch(own)) })
        }
        Some(Err(error)) => match error.downcast_ref::<Failed>() {
            Some(Failed::Private) => {
                let Private { response, times } = own.private()?;
                Some(pass(site, asked, response, times, why))
            }
            failed => Some(without_origin(site, asked, name, failed, &error)),
        },
        Some(Ok(_)) | None => None,
    }
}

/// Answers though the origin does not, or not well: with what is stale, if that may be.
fn without_origin(
    site: &Arc<Site>,
    asked: &Asked,
    name: &Name,
    failed: Option<&Failed>,
    error: &FetchError,
) -> Answer {
    let now = now();
    if let Some(object) = site.store.objects.peek(name)
        && let Some(head) = head_of(&object).filter(|head| head.selects(&asked.headers))
    {
        let may_serve = match failed {
            Some(Failed::Failing) => head.is_good_if_failing(now),
            _ => head.is_good_if_unreachable(now, site.stale_if_unreachable),
        };
        if may_serve {
            let handled = Handled::Forwarded {
                why: Forwarded::Stale,
                status: None,
                is_stored: false,
                is_collapsed: false,
            };
            return stored_answer(site, asked, &head, &object, handled, now);
        }
    }
    let status = match failed {
        Some(Failed::TimedOut) => StatusCode::GATEWAY_TIMEOUT,
        Some(Failed::Unreachable(_)) if site.store.objects.contains_key(name) => StatusCode::GATEWAY_TIMEOUT,
        _ => StatusCode::BAD_GATEWAY,
    };
    refused(site, status, &error.to_string())
}

/// Asks the origin for this request alone.
async fn direct(site: &Arc<Site>, asked: &Asked, body: Body, why: Forwarded) -> Answer {
    let headers = asked.forwarded(site);
    let sent = now();
    let answered = site.origin.send(asked.method.clone(), &asked.target.path, headers, body).await;
    let came = now();
    match answered {
        Ok(response) => {
            let times = Times { asked: sent, came };
            settle(site, asked, &response, times);
            pass(site, asked, response, times, why)
        }
        Err(error @ Failed::TimedOut) => refused(site, StatusCode::GATEWAY_TIMEOUT, &error.to_string()),
        Err(error) => refused(site, StatusCode::BAD_GATEWAY, &error.to_string()),
    }
}

/// What the answer to a request says of what is stored.
fn settle(site: &Site, asked: &Asked, response: &Response<Incoming>, times: Times) {
    let status = response.status();
    let url = &asked.target.url;
    if !is_safe(&asked.method) && (status.is_success() || status.is_redirection()) {
        site.store.invalidate(url);
        for field in [header::LOCATION, header::CONTENT_LOCATION] {
            let named = response.headers().get(field).and_then(|field| asked.target.named_by(field));
            named.into_iter().for_each(|url| site.store.invalidate(&url));
        }
    } else if asked.method == Method::GET && !asked.headers.contains_key(header::RANGE) {
        // It was private once, and is so no longer.
        let head = Head::new(&asked.headers, status, response.headers().clone(), times, &site.identity.name);
        if head.is_for_all() && head.length.is_none_or(|length| length <= site.store.largest) {
            site.store.set_private(&site.store.name(url, &asked.headers), false);
        }
    }
}

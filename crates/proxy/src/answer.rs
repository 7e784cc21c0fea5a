//! Answers to clients, out of stored responses, those of the origin, or none.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, Version, header};
use hyper::body::Incoming;
use trueplane_units::Nanos;

use crate::asked::Asked;
use crate::body::Body;
use crate::counted::{Counted, Ends};
use crate::head::{Head, Object, SURROGATE_KEY, Took, body_of};
use crate::log::Upstream;
use crate::rules::conditional::{is_not_modified, without_body};
use crate::rules::fields::print_date;
use crate::rules::freshness::Times;
use crate::rules::hop::{self, Identity};
use crate::rules::range::{Part, content_range, part};
use crate::rules::status::{Forwarded, Handled, cache_status};
use crate::site::Site;
use crate::tally::Served;

const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");

/// An answer, and what the log says of it.
pub(crate) struct Answer {
    pub(crate) response: Response<Body>,
    pub(crate) handled: Option<Handled>,
    /// The time that the origin took, if it was asked for this.
    pub(crate) upstream: Option<Upstream>,
    /// The time that the last fetch of what is served took.
    pub(crate) took: Option<Took>,
    /// How it counts, if it has not been counted yet.
    pub(crate) counted: Option<Box<Counted>>,
}

impl Answer {
    fn new(status: StatusCode, headers: HeaderMap, body: Body, handled: Option<Handled>) -> Self {
        let mut response = Response::new(body);
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        Self { response, handled, upstream: None, took: None, counted: None }
    }

    /// The origin was asked for it, and took so long.
    pub(crate) fn after(self, upstream: Upstream) -> Self {
        Self { upstream: Some(upstream), ..self }
    }

    /// It counts like this.
    pub(crate) fn counted(self, counted: Counted) -> Self {
        Self { counted: Some(Box::new(counted)), ..self }
    }
}

/// An answer from a whole object.
pub(crate) fn stored_answer(
    site: &Site,
    asked: &Asked,
    head: &Head,
    object: &Object,
    handled: Handled,
    now: Nanos,
) -> Answer {
    let body = body_of(object);
    let length = body.iter().map(|part| part.len() as u64).sum();
    compose(site, asked, head, Body::here(body), Some(length), handled, now)
}

/// An answer to this request from a response that may answer many.
pub(crate) fn compose(
    site: &Site,
    asked: &Asked,
    head: &Head,
    body: Body,
    length: Option<u64>,
    handled: Handled,
    now: Nanos,
) -> Answer {
    head.answer();
    let respond = |status, headers, body| Answer {
        took: Some(Arc::clone(&head.took)),
        ..Answer::new(status, headers, body, Some(handled))
    };
    let mut headers = head.headers.clone();
    let has_body = !matches!(head.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED)
        && !head.status.is_informational();
    if let Some(length) = length.filter(|_| has_body) {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    let age = (head.freshness.age(now).0 / 1_000_000_000).min(1 << 31);
    headers.insert(header::AGE, HeaderValue::from(age));
    finish(site, &mut headers, handled, Some(head.ttl(now)), asked.version);
    if head.status == StatusCode::OK && is_not_modified(&asked.headers, &head.headers, head.came) {
        without_body(&mut headers);
        return respond(StatusCode::NOT_MODIFIED, headers, Body::empty());
    }
    let is_whole = asked.method != Method::GET || head.status != StatusCode::OK;
    let part = match length {
        Some(length) if !is_whole => part(&asked.headers, &head.headers, length),
        _ => Part::Whole,
    };
    match (part, length) {
        (Part::Bytes { first, last }, Some(length)) => {
            headers.insert(header::CONTENT_LENGTH, HeaderValue::from(last - first + 1));
            insert(&mut headers, header::CONTENT_RANGE, &content_range(first, last, length));
            respond(StatusCode::PARTIAL_CONTENT, headers, body.only(first, last))
        }
        (Part::OutOfRange, Some(length)) => {
            without_body(&mut headers);
            // It is about this request, and not about the URL.
            for name in [header::CACHE_CONTROL, header::EXPIRES, header::ETAG, header::LAST_MODIFIED] {
                headers.remove(name);
            }
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
            insert(&mut headers, header::CONTENT_RANGE, &format!("bytes */{length}"));
            respond(StatusCode::RANGE_NOT_SATISFIABLE, headers, Body::empty())
        }
        _ if asked.method == Method::HEAD => respond(head.status, headers, Body::empty()),
        _ => respond(head.status, headers, body),
    }
}

/// Passes the origin's answer on to the client that it is for.
pub(crate) fn pass(
    site: &Site,
    asked: &Asked,
    answer: Response<Incoming>,
    times: Times,
    why: Forwarded,
) -> Answer {
    let (parts, body) = answer.into_parts();
    let mut headers = parts.headers;
    hop::end(&mut headers);
    headers.remove(SURROGATE_KEY);
    if !headers.contains_key(header::DATE) {
        insert(&mut headers, header::DATE, &print_date(times.came));
    }
    let handled =
        Handled::Forwarded { why, status: Some(parts.status), is_stored: false, is_collapsed: false };
    finish(site, &mut headers, handled, None, asked.version);
    Answer::new(parts.status, headers, Body::passing(body, site.origin.timeouts.body), Some(handled))
        .after(Upstream::Since(times.asked))
        .counted(asked.counted(site, Served::Passed, times.asked, Ends::At(times.came)))
}

/// An answer of the cache itself.
pub(crate) fn refused(identity: &Identity, status: StatusCode, why: &str) -> Answer {
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    if status == StatusCode::BAD_REQUEST {
        // Whatever else comes on this connection may not be what it seems.
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    insert(&mut headers, CACHE_STATUS, &format!("{}; detail={}", identity.name, status.as_u16()));
    Answer::new(status, headers, Body::text(format!("{}: {why}\n", identity.name)), None)
}

/// Adds what every answer says of its way.
fn finish(site: &Site, headers: &mut HeaderMap, handled: Handled, ttl: Option<i64>, version: Version) {
    site.identity.sign(headers, version);
    if let Ok(value) = cache_status(&site.identity.name, handled, ttl).parse() {
        headers.append(CACHE_STATUS, value);
    }
}

/// Sets a field to a text that this crate has made.
fn insert(headers: &mut HeaderMap, name: HeaderName, text: &str) {
    if let Ok(value) = HeaderValue::from_str(text) {
        headers.insert(name, value);
    }
}

//! Answers requests: from what is stored, from what is on its way, or from the origin.

use std::cell::{Cell, OnceCell};
use std::pin::Pin;
use std::sync::Arc;

use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use hyper::body::{Body as _, Incoming};
use trueplane_cache::{FetchError, Outcome};
use trueplane_units::Nanos;

use crate::answer::{Answer, compose, pass, refused, stored_answer};
use crate::asked::Asked;
use crate::body::Body;
use crate::client::Client;
use crate::clock::now;
use crate::counted::Ends;
use crate::fetch::fetch;
use crate::head::{Head, Object, Piece};
use crate::log::{Line, Upstream};
use crate::on_disk::{OnDisk, look_on_disk};
use crate::origin::Failed;
use crate::own::{Own, Private};
use crate::rules::freshness::Times;
use crate::rules::hop::Identity;
use crate::rules::status::{Forwarded, Handled};
use crate::rules::storable::is_safe;
use crate::site::{Common, Site, Sites};
use crate::store::{Name, Reader};
use crate::tally::Served;
use crate::target::Target;
use crate::upgrade::Upgrade;

/// Times that a request asks the store before it goes to the origin by itself: what it waited for may have been an answer to others.
const ATTEMPTS: usize = 3;

/// Times that somebody waits for what has been read from the disk to be in memory.
const LANDINGS: usize = 1000;

/// Answers a request of a client.
pub(crate) async fn answer(
    common: &Common,
    sites: Arc<Sites>,
    from: &Arc<Client>,
    request: Request<Incoming>,
) -> Response<Body> {
    let came = now();
    let (parts, body) = request.into_parts();
    let line = common.log.as_ref().map(|log| Line {
        log: Arc::clone(log),
        came,
        method: parts.method.clone(),
        host: parts.uri.host().map_or_else(|| text(parts.headers.get(header::HOST)), str::to_owned),
        target: parts.uri.path_and_query().map_or_else(String::new, ToString::to_string),
        status: client_left(),
        sent: 0,
        handled: None,
        upstream: None,
        took: None,
    });
    let Answer { mut response, handled, upstream, took, counted } =
        answer_to(&common.identity, &sites, from, parts, body).await;
    if let Some(counted) = counted {
        response.body_mut().count(counted);
    }
    if let Some(mut line) = line {
        line.status = response.status();
        (line.handled, line.upstream, line.took) = (handled, upstream, took);
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

async fn answer_to(
    identity: &Identity,
    sites: &Sites,
    from: &Arc<Client>,
    mut parts: Parts,
    body: Incoming,
) -> Answer {
    let target = match Target::of(&parts, from.scheme, identity.trusts_forwarded) {
        Ok(target) => target,
        Err(why) => return refused(identity, StatusCode::BAD_REQUEST, why),
    };
    let Some(site) = sites.of(target.authority.host()) else {
        return refused(identity, StatusCode::MISDIRECTED_REQUEST, "no site here has this host");
    };
    if identity.has_seen(&parts.headers) {
        return refused(identity, StatusCode::LOOP_DETECTED, "the origin sends requests back to this cache");
    }
    if body.size_hint().lower() > site.origin.most {
        return refused(identity, StatusCode::PAYLOAD_TOO_LARGE, "the body is larger than may be");
    }
    let upgrade = Upgrade::asked_by(&mut parts);
    let mut asked = Asked {
        method: parts.method,
        target,
        version: parts.version,
        client: from.address,
        headers: parts.headers,
    };
    identity.arrive(&mut asked.headers);
    join_cookies(&mut asked.headers);
    if let Ok(host) = HeaderValue::from_str(asked.target.authority.as_str()) {
        asked.headers.insert(header::HOST, host);
    }
    if let Some(upgrade) = upgrade {
        return Box::pin(upgrade.answer(site, &asked, from)).await;
    }
    let Some(why) = asked.is_not_for_caches(&body) else { return cached(site, &asked).await };
    let site = Arc::clone(site);
    if is_safe(&asked.method) {
        return Box::pin(direct(&site, &asked, Some(body), why)).await;
    }
    // The origin may do what it is asked though the client leaves: what that changes must be known.
    let Some(detached) = from.activity.detach() else {
        return refused(
            &site.identity,
            StatusCode::SERVICE_UNAVAILABLE,
            "too many requests that were given up are on their way",
        );
    };
    let changing = tokio::spawn({
        let site = Arc::clone(&site);
        async move {
            let answer = direct(&site, &asked, Some(body), why).await;
            drop(detached);
            answer
        }
    });
    match changing.await {
        Ok(answer) => answer,
        Err(_) => refused(&site.identity, StatusCode::BAD_GATEWAY, "the request ended early"),
    }
}

/// HTTP/2 may send cookies in several lines, which no older origin expects. (RFC 9113 §8.2.3)
fn join_cookies(headers: &mut HeaderMap) {
    let lines: Vec<&[u8]> = headers.get_all(header::COOKIE).iter().map(HeaderValue::as_bytes).collect();
    if lines.len() > 1
        && let Ok(all) = HeaderValue::from_bytes(&lines.join(&b"; "[..]))
    {
        headers.insert(header::COOKIE, all);
    }
}

/// Answers a request that the store may answer.
async fn cached(site: &Arc<Site>, asked: &Asked) -> Answer {
    let mut came = None;
    for _ in 0..ATTEMPTS {
        let name = site.store.name(&asked.target.url, &asked.headers);
        let now = now();
        let came = *came.get_or_insert_with(|| (now, site.store.marks.last()));
        // An answer to one who is authorised says nothing of what others may have: it renews nothing.
        let is_renewer = !(asked.is_authorised() && site.store.objects.contains_key(&name));
        if asked.method == Method::HEAD || asked.is_only_if_cached() || !is_renewer {
            let stored = site.store.objects.get(&name);
            let is_there = stored.is_some();
            let stored = stored.and_then(|object| Some((site.store.head_of(&name, &object)?, object)));
            if let Some((head, object)) = stored
                && head.is_fresh(now)
                && head.selects(&asked.headers)
            {
                return stored_hit(site, asked, &head, &object, Handled::Hit, now);
            }
            let found = if is_there { Found::Private } else { Box::pin(on_disk(site, asked, &name)).await };
            return match found {
                Found::Answer(answer) => *answer,
                Found::Another => continue,
                Found::Private if asked.is_only_if_cached() => {
                    refused(&site.identity, StatusCode::GATEWAY_TIMEOUT, "nothing is stored for this URL")
                }
                Found::Private => alone(site, asked, Forwarded::Miss).await,
            };
        }
        if site.store.is_private(&name, asked.is_authorised()) {
            return alone(site, asked, Forwarded::Bypass).await;
        }
        // Hits have none.
        let own = OnceCell::new();
        let is_stale = Cell::new(false);
        let is_unfit = |object: &Object| {
            let head = site.store.head_of(&name, object);
            is_stale.set(head.is_some());
            head.is_none_or(|head| !head.is_fresh_enough(now))
        };
        let reader = read(site, asked, &name, is_unfit, &own);
        // So many fetches may be on their way that this one is on its own.
        let Ok(reader) = reader else { break };
        let found = match reader.outcome() {
            Outcome::Hit => hit(site, asked, &name, &reader, now),
            Outcome::Miss | Outcome::Delayed => {
                let why = if is_stale.get() { Forwarded::Stale } else { Forwarded::Miss };
                let own = own.into_inner().unwrap_or_default();
                Box::pin(arriving(site, asked, &name, why, reader, own, came)).await
            }
        };
        match found {
            Found::Answer(answer) => return *answer,
            Found::Another => {}
            Found::Private => break,
        }
    }
    alone(site, asked, Forwarded::Bypass).await
}

/// Asks the origin for this request alone, which has no body. In a box, as each connection has room for what its requests may come to: hits need little.
fn alone<'a>(
    site: &'a Arc<Site>,
    asked: &'a Asked,
    why: Forwarded,
) -> Pin<Box<impl Future<Output = Answer> + use<'a>>> {
    Box::pin(direct(site, asked, None, why))
}

/// What a look at the store has found.
enum Found {
    Answer(Box<Answer>),
    /// An answer to others: this request has another name.
    Another,
    /// None for this request: it is answered by the origin.
    Private,
}

impl From<Answer> for Found {
    fn from(answer: Answer) -> Self {
        Self::Answer(Box::new(answer))
    }
}

/// Answers from the disk, if what it has is fresh. It does not come into the memory.
async fn on_disk(site: &Arc<Site>, asked: &Asked, name: &Name) -> Found {
    let Some(disk) = &site.store.disk else { return Found::Private };
    let (number, stamp) = (disk.last(), Arc::new(site.store.marks.stamp()));
    match look_on_disk(&site.store, name, &asked.headers, number, &stamp).await {
        OnDisk::Renamed => Found::Another,
        OnDisk::Fresh(object, _arriving) => match site.store.head_of(name, &object) {
            Some(head) if head.is_fresh(now()) => {
                stored_hit(site, asked, &head, &object, Handled::Disk, now()).into()
            }
            _ => Found::Private,
        },
        OnDisk::Nothing | OnDisk::Stale(..) => Found::Private,
    }
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

/// Answers from what is stored, and lets it be fetched again if it is stale.
fn hit(site: &Arc<Site>, asked: &Asked, name: &Name, reader: &Reader, now: Nanos) -> Found {
    let stored = reader.parts().and_then(|object| Some((site.store.head_of(name, object)?, object)));
    let fits = |head: &Head| head.selects(&asked.headers) && head.is_fresh_enough(now);
    let Some((head, object)) = stored.filter(|(head, _)| fits(head)) else { return Found::Another };
    if !head.is_fresh(now) {
        let is_stale =
            |object: &Object| site.store.head_of(name, object).is_none_or(|head| !head.is_fresh(now));
        // It goes on by itself. If too many fetches are on their way, the next request tries again.
        let _ = read(site, asked, name, is_stale, &OnceCell::new());
    }
    stored_hit(site, asked, &head, object, Handled::Hit, now).into()
}

/// Lets what was stale on the disk be fetched again, once it has arrived in memory.
fn renew(site: &Arc<Site>, asked: &Asked, name: &Name) {
    let (site, asked, name) = (Arc::clone(site), asked.clone(), name.clone());
    tokio::spawn(async move {
        // Readers are of the look at the disk until what it brings is in memory, where it is stale.
        for _ in 0..LANDINGS {
            let is_stale =
                |object: &Object| site.store.head_of(&name, object).is_none_or(|head| !head.is_fresh(now()));
            // If too many fetches are on their way, the next request tries again.
            let Ok(mut reader) = read(&site, &asked, &name, is_stale, &OnceCell::new()) else { return };
            if reader.outcome() != Outcome::Delayed {
                return;
            }
            while reader.next().await.is_some_and(|piece| piece.is_ok()) {}
            tokio::task::yield_now().await;
        }
    });
}

/// Answers from what is stored, and counts it.
fn stored_hit(
    site: &Site,
    asked: &Asked,
    head: &Head,
    object: &Object,
    handled: Handled,
    now: Nanos,
) -> Answer {
    let answer = stored_answer(site, asked, head, object, handled, now);
    site.tally.hit(answer.response.body().size_hint().lower());
    site.top.iter().for_each(|top| top.hit(&asked.target.url, now));
    answer
}

/// Answers from what arrives.
async fn arriving(
    site: &Arc<Site>,
    asked: &Asked,
    name: &Name,
    why: Forwarded,
    mut reader: Reader,
    own: Arc<Own>,
    (came, mark): (Nanos, u64),
) -> Found {
    let is_collapsed = reader.outcome() == Outcome::Delayed;
    let served = if is_collapsed { Served::Delayed } else { Served::Miss };
    let timed = |answer: Answer| if is_collapsed { answer } else { answer.after(Upstream::Fetch) };
    let forwarded = |head: &Head, is_stored| Handled::Forwarded {
        why,
        status: Some(head.status),
        is_stored,
        is_collapsed,
    };
    match reader.next().await {
        Some(Ok(Piece::Head(head))) => {
            if !head.selects(&asked.headers) {
                return Found::Another;
            }
            if is_collapsed {
                let is_allowed =
                    site.store.marks.allow_since(&head.stamp, (came, mark), &asked.target.url, &head.tags);
                if !is_allowed {
                    // It was asked for before a purge, and this request came after that. The next one is not to wait for it either.
                    site.store.objects.remove(name);
                    return Found::Another;
                }
            }
            if is_collapsed && !head.is_for_all() {
                return Found::Private;
            }
            let length = head.length;
            let body = Body::arriving(reader, length);
            if head.is_on_disk {
                if !is_collapsed && !head.is_fresh(now()) {
                    renew(site, asked, name);
                }
                let answer = compose(site, asked, &head, body, length, Handled::Disk, now());
                site.tally.hit(answer.response.body().size_hint().lower());
                site.top.iter().for_each(|top| top.hit(&asked.target.url, now()));
                return answer.into();
            }
            let handled = forwarded(&head, true);
            let ends = Ends::With(Arc::clone(&head.took));
            let answer = timed(compose(site, asked, &head, body, length, handled, now()));
            answer.counted(asked.counted(site, served, came, ends)).into()
        }
        Some(Err(error)) => match error.downcast_ref::<Failed>() {
            Some(Failed::Private) => match own.private() {
                Some(Private { response, times }) => pass(site, asked, response, times, why).into(),
                None => Found::Private,
            },
            Some(Failed::Error(head, body)) => {
                let (length, body) = (body.len() as u64, Body::here([body.clone()]));
                let now = now();
                let answer =
                    timed(compose(site, asked, head, body, Some(length), forwarded(head, false), now));
                answer.counted(asked.counted(site, served, came, Ends::At(now))).into()
            }
            Some(Failed::Renamed) => Found::Another,
            Some(Failed::Instead(failed, object)) => {
                let answer = without_origin(site, asked, name, Some(object), Some(failed), &error);
                answer.counted(asked.counted(site, served, came, Ends::At(now()))).into()
            }
            failed => {
                let object = site.store.objects.peek(name);
                let answer = without_origin(site, asked, name, object.as_ref(), failed, &error);
                answer.counted(asked.counted(site, served, came, Ends::At(now()))).into()
            }
        },
        Some(Ok(_)) | None => Found::Another,
    }
}

/// Answers though the origin does not, or not well: with what is stale, if that may be.
fn without_origin(
    site: &Arc<Site>,
    asked: &Asked,
    name: &Name,
    stored: Option<&Object>,
    failed: Option<&Failed>,
    error: &FetchError,
) -> Answer {
    let now = now();
    if let Some(object) = stored
        && let Some(head) = site.store.head_of(name, object).filter(|head| head.selects(&asked.headers))
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
            return stored_answer(site, asked, &head, object, handled, now);
        }
    }
    let status = match failed {
        Some(Failed::TimedOut) => StatusCode::GATEWAY_TIMEOUT,
        Some(Failed::Unreachable(_)) if stored.is_some() => StatusCode::GATEWAY_TIMEOUT,
        _ => StatusCode::BAD_GATEWAY,
    };
    refused(&site.identity, status, &error.to_string())
}

/// Asks the origin for this request alone.
async fn direct(site: &Arc<Site>, asked: &Asked, body: Option<Incoming>, why: Forwarded) -> Answer {
    let (method, path, headers) = (asked.method.clone(), &asked.target.path, asked.forwarded(site));
    let (sent, is_plain) = (now(), body.is_none());
    let answered = match body.filter(|body| !body.is_end_stream()) {
        Some(body) => site.origin.pass(method, path, headers, body).await,
        None => site.origin.ask(method, path, headers).await,
    };
    let came = now();
    match answered {
        Ok(response) => {
            let times = Times { asked: sent, came };
            settle(site, asked, is_plain, &response, times).await;
            pass(site, asked, response, times, why)
        }
        Err(error) => {
            if !is_safe(&asked.method) {
                // Nobody knows whether the origin has done it.
                invalidate(site, [asked.target.url.clone()]).await;
            }
            let status = match error {
                Failed::TimedOut => StatusCode::GATEWAY_TIMEOUT,
                _ => StatusCode::BAD_GATEWAY,
            };
            let answer = refused(&site.identity, status, &error.to_string());
            answer.counted(asked.counted(site, Served::Passed, sent, Ends::At(came)))
        }
    }
}

/// Forgets all answers to these URLs, and waits until they do not come back from the disk after a restart, for a second at most.
async fn invalidate(site: &Site, urls: impl IntoIterator<Item = Vec<u8>>) {
    let removed = urls.into_iter().filter_map(|url| site.store.invalidate(&url).number).max();
    if let (Some(disk), Some(number)) = (&site.store.disk, removed) {
        disk.settled(number).await;
    }
}

/// What the answer to a request says of what is stored. Only one that `is_plain` asks for what others ask for.
async fn settle(site: &Site, asked: &Asked, is_plain: bool, response: &Response<Incoming>, times: Times) {
    let status = response.status();
    let url = &asked.target.url;
    if !is_safe(&asked.method) && (status.is_success() || status.is_redirection()) {
        let named = [header::LOCATION, header::CONTENT_LOCATION]
            .into_iter()
            .filter_map(|field| asked.target.named_by(response.headers().get(field)?));
        let all: Vec<Vec<u8>> = named.chain([url.clone()]).collect();
        invalidate(site, all).await;
    } else if asked.method == Method::GET && is_plain && !asked.headers.contains_key(header::RANGE) {
        let (headers, length) = (response.headers().clone(), response.body().size_hint().exact());
        let head = Head::new(&asked.headers, status, headers, length, times, &site.identity.name);
        let is_for_all = head.is_for_all() && head.length.is_none_or(|length| length <= site.store.largest);
        // An answer to a condition says nothing of others, and a failure is soon over.
        if status != StatusCode::NOT_MODIFIED && !status.is_server_error() {
            let name = site.store.name(url, &asked.headers);
            site.store.set_private(&name, asked.is_authorised(), !is_for_all);
        }
    }
}

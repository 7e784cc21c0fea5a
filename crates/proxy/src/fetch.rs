//! The fetch of a response, of which all who wait for it get what arrives.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::{HeaderValue, StatusCode, header};
use hyper::body::{Body as _, Incoming};
use trueplane_cache::Sink;

use crate::clock::now;
use crate::download::{Download, Wanted, ask};
use crate::head::{Fetched, Head, Object, PIECE, Piece, SURROGATE_KEY, Took, body_of};
use crate::on_disk::{OnDisk, look_on_disk};
use crate::origin::Failed;
use crate::own::{Own, Private};
use crate::rules::conditional::{confirms, freshened, validators};
use crate::rules::storable::Storable;
use crate::site::Site;
use crate::store::{Arriving, Store};
use crate::tail::TailHandle;

/// Bytes of an error page that all who wait get, at most.
const MOST_OF_ERROR: usize = 1 << 20;

/// Fetches a response into `sink`. One that is private goes to `own`.
pub(crate) async fn fetch(
    site: Arc<Site>,
    wanted: Wanted,
    sink: Sink<Piece>,
    own: Arc<Own>,
) -> Result<(), Failed> {
    let began = now();
    let took = Took::default();
    let store = Arc::clone(&site.store);
    let name = wanted.name.clone();
    let mut stale = None;
    let fetched = fetch_into(site, wanted, sink, (&own, &took, &store), &mut stale).await;
    // It ends once.
    let ended = now();
    let _ = took.set(Fetched { took: ended.since(began), ended });
    // All who wait may get what the disk has.
    fetched.map_err(|failed| match stale {
        // Unless it was removed while the origin was asked.
        Some(Stale { object, number, .. }) if failed.is_of_origin() && store.may_use(&name, number) => {
            Failed::Instead(Box::new(failed), object)
        }
        _ => failed,
    })
}

/// What the disk has that is too old, and may be served should the origin fail.
struct Stale<'a> {
    object: Object,
    /// The number of the fetch that has found it.
    number: u64,
    /// The room that it takes.
    _arriving: Arriving<'a>,
}

/// Fetches a response, or finds it on the disk. An answer on the disk that is too old is put into `stale`.
async fn fetch_into<'a>(
    site: Arc<Site>,
    wanted: Wanted,
    sink: Sink<Piece>,
    (own, took, store): (&Own, &Took, &'a Store),
    stale: &mut Option<Stale<'a>>,
) -> Result<(), Failed> {
    let invalidations = site.store.invalidations(&wanted.url);
    let stamp = Arc::new(site.store.marks.stamp());
    let number = store.begin();
    let mut stored = site.store.objects.peek(&wanted.name).filter(Object::is_whole);
    if stored.is_none() {
        match look_on_disk(store, &wanted.name, &wanted.asked, number, &stamp).await {
            OnDisk::Nothing => {}
            OnDisk::Renamed => return Err(Failed::Renamed),
            OnDisk::Fresh(object, _arriving) => {
                object.with(|pieces| pieces.iter().cloned().for_each(|piece| sink.push(piece)));
                return Ok(());
            }
            OnDisk::Stale(object, arriving) => {
                stored = Some(object.clone());
                *stale = Some(Stale { object, number, _arriving: arriving });
            }
        }
    }
    let old = stored.as_ref().and_then(|object| site.store.head_of(&wanted.name, object));
    let conditions = old.as_ref().map(|old| validators(&old.headers)).unwrap_or_default();
    let mut conditional = wanted.headers.clone();
    for (name, value) in &conditions {
        conditional.insert(name.clone(), value.clone());
    }
    let (mut response, mut times) = ask(&site, &wanted, conditional).await?;
    if response.status() == StatusCode::NOT_MODIFIED && !conditions.is_empty() {
        if let (Some(object), Some(old)) = (&stored, &old)
            && confirms(response.headers(), &old.headers)
        {
            let mut headers = freshened(&old.headers, response.headers());
            if !headers.contains_key(SURROGATE_KEY)
                && let Ok(tags) = HeaderValue::from_bytes(&old.tags)
            {
                headers.insert(SURROGATE_KEY, tags);
            }
            // What is stored may have become something that must not be: then it does not stay.
            let head = Head::new(&wanted.asked, old.status, headers, old.length, times, &site.identity.name);
            if !head.stays {
                site.store.supersede(&wanted.name, number);
            }
            sink.push(Piece::Head(Arc::new(Head {
                took: Arc::clone(took),
                stamp,
                number,
                cost: old.cost.or_else(|| old.took.get().map(|fetched| fetched.took)),
                answered: Arc::clone(&old.answered),
                ..head
            })));
            body_of(object).into_iter().for_each(|data| sink.push(Piece::Data(data)));
            return Ok(());
        }
        // It speaks of something else than what is stored.
        (response, times) = ask(&site, &wanted, wanted.headers.clone()).await?;
    }
    let is_failing = matches!(response.status().as_u16(), 500 | 502 | 503 | 504);
    if is_failing && old.is_some_and(|old| old.is_good_if_failing(times.came)) {
        return Err(Failed::Failing);
    }
    let (status, headers) = (response.status(), response.headers().clone());
    let length = response.body().size_hint().exact();
    let mut head = Head::new(&wanted.asked, status, headers, length, times, &site.identity.name);
    (head.took, head.stamp, head.number) = (Arc::clone(took), stamp, number);
    let is_large = head.length.is_some_and(|length| length > site.store.largest);
    if head.storable == Storable::Private || is_large {
        let is_authorised = wanted.asked.contains_key(header::AUTHORIZATION);
        // A failure is soon over.
        if !status.is_server_error() {
            site.store.set_private(&wanted.name, is_authorised, true);
            if !is_authorised {
                // What was true for all is so no longer.
                site.store.forget(&wanted.name, number);
            }
        }
        own.give(Private { response, times });
        return Err(Failed::Private);
    }
    if head.storable == Storable::Shared {
        return Err(error(&site, wanted, head, response.into_body()).await);
    }
    let mut elsewhere = None;
    if !head.vary.is_empty() {
        let name = site.store.name_varying(&wanted.url, &head.vary, &wanted.asked);
        if name.as_ref() != Some(&wanted.name) {
            head.stays = false;
            elsewhere = name;
        }
    }
    let head = Arc::new(head);
    sink.push(Piece::Head(Arc::clone(&head)));
    let mut kept = Vec::new();
    let mut download = Download::new(Arc::clone(&site), wanted, Arc::clone(&head), response.into_body());
    let mut arriving = site.store.arriving();
    while let Some(data) = download.next().await {
        let data = data?;
        if !arriving.add(data.len() as u64 + PIECE) {
            site.store.set_private(&download.wanted.name, false, true);
            site.store.supersede(&download.wanted.name, head.number);
            let tail = TailHandle::new();
            sink.push(Piece::Tail(tail.clone()));
            tokio::spawn(go_on(download, data, tail));
            return Ok(());
        }
        // The bytes that came stand in a larger buffer, which would stay as long as they do.
        let data = Bytes::copy_from_slice(&data);
        if elsewhere.is_some() {
            kept.push(Piece::Data(data.clone()));
        }
        sink.push(Piece::Data(data));
    }
    if let Some(name) = elsewhere.filter(|_| site.store.invalidations(&download.wanted.url) == invalidations)
    {
        let number = site.store.renew(&download.wanted.url, &name, head.number);
        let head = Head { stays: true, number, ..(*head).clone() };
        let object = [Piece::Head(Arc::new(head))].into_iter().chain(kept).collect();
        site.store.objects.insert_fetched(name, object, now().since(times.asked));
    }
    if head.stays {
        site.store.supersede(&download.wanted.name, head.number);
    }
    Ok(())
}

/// An error of the origin, whole, for all who wait for it.
async fn error(site: &Arc<Site>, wanted: Wanted, head: Head, incoming: Incoming) -> Failed {
    let head = Arc::new(head);
    let mut download = Download::new(Arc::clone(site), wanted, Arc::clone(&head), incoming);
    let mut body = BytesMut::new();
    while let Some(data) = download.next().await {
        match data {
            Ok(data) if body.len() + data.len() <= MOST_OF_ERROR => body.extend_from_slice(&data),
            Ok(_) => return Failed::Truncated("it is an error with a long page".to_owned()),
            Err(error) => return error,
        }
    }
    Failed::Error(head, body.freeze())
}

/// Passes on the rest of a body that is too large to be kept.
async fn go_on(mut download: Download, mut data: Bytes, tail: TailHandle) {
    while tail.push(&data).await {
        data = match download.next().await {
            Some(Ok(data)) => data,
            Some(Err(error)) => return tail.end(Err(error.to_string())),
            None => return tail.end(Ok(())),
        };
    }
}

//! The look at the disk before the origin is asked.

use std::sync::Arc;

use http::{HeaderMap, header};

use crate::clock::now;
use crate::disk::Hit;
use crate::head::Object;
use crate::marks::Stamp;
use crate::store::{Arriving, Store, url_in};

/// What the disk has for a request.
pub(crate) enum OnDisk<'a> {
    /// Nothing that answers it.
    Nothing,
    /// The URL varies: the request has another name.
    Renamed,
    /// An answer that may be served.
    Fresh(Object, Arriving<'a>),
    /// An answer that is too old, and may be validated.
    Stale(Object, Arriving<'a>),
}

/// Looks for an answer on the disk to a request with the fields `asked`. `number` is that of the fetch, and `stamp` what was known of purges when it began.
/// Answers come with the room that they take.
pub(crate) async fn look_on_disk<'a>(
    store: &'a Store,
    name: &[u8],
    asked: &HeaderMap,
    number: u64,
    stamp: &Arc<Stamp>,
) -> OnDisk<'a> {
    let Some(disk) = &store.disk else { return OnDisk::Nothing };
    let url = url_in(name);
    let mut arriving = store.arriving();
    match disk.find(name, url.len(), (number, stamp), |bytes| arriving.add(bytes)).await {
        Some(Hit::Varies(variation)) if name == url && store.restore(url, &variation, number) => {
            OnDisk::Renamed
        }
        Some(Hit::Object(head, object)) if head.selects(asked) && store.head_of(name, &object).is_some() => {
            // An answer to one who is authorised says nothing of what others may have: it renews nothing.
            let is_authorised = asked.contains_key(header::AUTHORIZATION);
            match head.is_fresh(now()) || (!is_authorised && head.is_fresh_enough(now())) {
                true => OnDisk::Fresh(object, arriving),
                false if is_authorised => OnDisk::Nothing,
                false => OnDisk::Stale(object, arriving),
            }
        }
        _ => OnDisk::Nothing,
    }
}

//! Responses as they are written, and as they are read.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, header};
use trueplane_units::Nanos;

use super::format::Record;
use super::stored::StoredHead;
use crate::head::{Fetched, Head, Object, Piece, SURROGATE_KEY, Took};
use crate::marks::Stamp;
use crate::rules::freshness::Times;
use crate::rules::storable::Storable;

/// Bodies with fewer bytes do not keep those of the whole record in memory.
const LARGE: usize = 64 << 10;

/// What is written of a head.
pub(super) fn stored(head: &Head) -> StoredHead {
    let mut headers = head.headers.clone();
    if let Ok(tags) = HeaderValue::from_bytes(&head.tags)
        && !head.tags.is_empty()
    {
        headers.insert(SURROGATE_KEY, tags);
    }
    StoredHead {
        status: head.status,
        came: head.came,
        initial_age: head.freshness.initial_age(),
        selection: head.selection.clone(),
        headers,
    }
}

/// Whether a response is of use when it is read again: it is fresh, or can be validated.
pub(super) fn is_useful(head: &Head, now: Nanos) -> bool {
    let can_validate =
        head.headers.contains_key(header::ETAG) || head.headers.contains_key(header::LAST_MODIFIED);
    head.stays && (head.is_fresh(now) || can_validate)
}

/// The time that the origin took for the body of a response.
pub(super) fn cost(head: &Head) -> Nanos {
    head.cost.or_else(|| head.took.get().map(|fetched| fetched.took)).unwrap_or_default()
}

/// Makes a response out of a record, which stands in `bytes`. `name` is that of this cache, `stamp` what is known of purges, and `number` that of the fetch.
/// None if it must not be kept, as this version sees it.
pub(super) fn restored(
    record: &Record<'_>,
    bytes: &Bytes,
    name: &str,
    stamp: &Arc<Stamp>,
    number: u64,
) -> Option<(Arc<Head>, Object)> {
    let stored = StoredHead::read(record.head)?;
    let times = Times { asked: stored.came, came: stored.came };
    let length = Some(record.body.len() as u64);
    // Whether it may be kept does not depend on the request any more.
    let head = Head::new(&HeaderMap::new(), stored.status, stored.headers, length, times, name);
    if head.storable != Storable::Kept {
        return None;
    }
    let took = Took::default();
    let _ = took.set(Fetched { took: record.header.took, ended: stored.came });
    let head = Arc::new(Head {
        freshness: head.freshness.aged(stored.initial_age),
        selection: stored.selection,
        took,
        stamp: Arc::clone(stamp),
        is_on_disk: true,
        cost: Some(record.header.took),
        number,
        ..head
    });
    let body = match record.body.len() {
        0..LARGE => Bytes::copy_from_slice(record.body),
        _ => bytes.slice_ref(record.body),
    };
    let body = (!body.is_empty()).then_some(Piece::Data(body));
    let object = [Piece::Head(Arc::clone(&head))].into_iter().chain(body).collect();
    Some((head, object))
}

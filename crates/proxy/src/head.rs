//! A stored response: its head, and the parts of its body.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use trueplane_cache::Parts;
use trueplane_units::Nanos;

use crate::marks::Stamp;
use crate::rules::control::Control;
use crate::rules::fields::print_date;
use crate::rules::freshness::{Freshness, Times};
use crate::rules::storable::{Storable, storable};
use crate::rules::{hop, vary};
use crate::tail::TailHandle;

/// Bytes that an object takes besides its name, its fields and its body: about what the structures around them come to.
const OVERHEAD: u64 = 512;
/// Bytes that a part of a body takes besides its own: origins may send a byte at a time.
pub(crate) const PIECE: u64 = 144;

/// A fetch that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fetched {
    /// The time that it took.
    pub(crate) took: Nanos,
    /// When it ended.
    pub(crate) ended: Nanos,
}

/// The end of a fetch, once it has ended.
pub(crate) type Took = Arc<OnceLock<Fetched>>;

/// Words by which an origin lets caches find answers that are to be purged together. It is for caches alone.
pub(crate) const SURROGATE_KEY: HeaderName = HeaderName::from_static("surrogate-key");

/// The head of a response that others may get.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) status: StatusCode,
    /// Fields as clients get them, but for those that each answer has of its own.
    pub(crate) headers: HeaderMap,
    pub(crate) control: Control,
    pub(crate) freshness: Freshness,
    pub(crate) storable: Storable,
    /// Fields of requests that choose this response, and what the request for it said in them.
    pub(crate) vary: Vec<HeaderName>,
    pub(crate) selection: Vec<u8>,
    /// The tags that the origin has given it, with spaces between them.
    pub(crate) tags: Vec<u8>,
    /// The purges that it was checked by.
    pub(crate) stamp: Arc<Stamp>,
    /// When it came, and how long its fetch took until its body was there.
    pub(crate) came: Nanos,
    pub(crate) took: Took,
    /// Bytes of the body, if they are known before it has come.
    pub(crate) length: Option<u64>,
    /// Whether it is to stay under the name that it was fetched for; if not, it goes to the one that fits its `Vary`, or nowhere.
    pub(crate) stays: bool,
    /// Requests that it has answered from memory.
    pub(crate) answered: Arc<AtomicU32>,
    /// Whether it was read from the disk.
    pub(crate) is_on_disk: bool,
    /// The time that the origin took for the body, if that is older than the head: the disk has it, or the origin has confirmed it.
    pub(crate) cost: Option<Nanos>,
    /// Number of its fetch, by which the disk knows what is newer.
    pub(crate) number: u64,
}

impl Head {
    /// The head of a response to a GET with the fields `request`. `length` is that of the body, if it is known, whatever a field says.
    pub(crate) fn new(
        request: &HeaderMap,
        status: StatusCode,
        mut headers: HeaderMap,
        length: Option<u64>,
        times: Times,
        name: &str,
    ) -> Self {
        hop::end(&mut headers);
        // Each answer says anew how long it is.
        headers.remove(header::CONTENT_LENGTH);
        let tags: Vec<&[u8]> = headers.get_all(SURROGATE_KEY).iter().map(HeaderValue::as_bytes).collect();
        let tags = tags.join(&b' ');
        headers.remove(SURROGATE_KEY);
        let control = Control::of(&headers, name);
        let freshness = Freshness::of(status, &headers, &control, times);
        let storable = storable(request, status, &headers, &control, &freshness);
        // A cache adds a date where there is none. (RFC 9110 §6.6.1) It has whole seconds: had the freshness counted it, the response would seem up to
        // one second older than it is.
        if !headers.contains_key(header::DATE)
            && let Ok(date) = print_date(times.came).parse()
        {
            headers.insert(header::DATE, date);
        }
        let vary = vary::fields(&headers).unwrap_or_default();
        // How old it is, each answer says anew. Cookies are for the client that asked.
        headers.remove(header::AGE);
        if storable == Storable::Kept {
            headers.remove(header::SET_COOKIE);
        }
        Self {
            status,
            control,
            freshness,
            storable,
            selection: vary::selection(&vary, request),
            vary,
            tags,
            stamp: Arc::default(),
            came: times.came,
            took: Took::default(),
            length,
            headers,
            stays: storable == Storable::Kept,
            answered: Arc::default(),
            is_on_disk: false,
            cost: None,
            number: 0,
        }
    }

    /// It answers a request.
    pub(crate) fn answer(&self) {
        self.answered.fetch_add(1, Ordering::Relaxed);
    }

    /// Requests that it has answered, since it came into the memory.
    pub(crate) fn asked(&self) -> u32 {
        self.answered.load(Ordering::Relaxed)
    }

    /// Whether this response answers a request with these fields.
    pub(crate) fn selects(&self, request: &HeaderMap) -> bool {
        self.vary.is_empty() || vary::selection(&self.vary, request) == self.selection
    }

    /// Whether it answers requests without a look at the origin.
    pub(crate) fn is_fresh(&self, now: Nanos) -> bool {
        self.freshness.is_fresh(now) && !self.control.no_cache && self.stamp.stale_since().is_none()
    }

    /// Time for which it has been stale: since it was too old, or since a purge made it so.
    fn staleness(&self, now: Nanos) -> Nanos {
        let purged = self.stamp.stale_since().map_or(Nanos(0), |since| now.since(since));
        self.freshness.staleness(now).max(purged)
    }

    /// Whether those who asked before it came may get it, too: it was fresh then, or is an error that is the same for all.
    pub(crate) fn is_for_all(&self) -> bool {
        match self.storable {
            Storable::Kept => self.freshness.was_fresh() && !self.control.no_cache,
            Storable::Shared => true,
            Storable::Private => false,
        }
    }

    /// Whether it may be served now, though stale, while it is fetched again. (RFC 5861 §3)
    pub(crate) fn is_fresh_enough(&self, now: Nanos) -> bool {
        let window = self.control.stale_while_revalidate;
        self.is_fresh(now) || self.may_be_stale(now, window.map(Nanos::from_secs))
    }

    /// Whether it may be served, though stale, as the origin does not answer: for as long as the origin says, or by `default` if it says nothing and
    /// has let all have it once. (RFC 5861 §4, RFC 9111 §4.2.4)
    pub(crate) fn is_good_if_unreachable(&self, now: Nanos, default: Nanos) -> bool {
        let is_shared = self.freshness.was_fresh() && self.control.s_maxage.is_none();
        let window = self.control.stale_if_error.map(Nanos::from_secs);
        self.may_be_stale(now, window.or(is_shared.then_some(default)))
    }

    /// Whether it may be served, though stale, as the origin answers with an error.
    pub(crate) fn is_good_if_failing(&self, now: Nanos) -> bool {
        self.may_be_stale(now, self.control.stale_if_error.map(Nanos::from_secs))
    }

    fn may_be_stale(&self, now: Nanos, window: Option<Nanos>) -> bool {
        let is_forbidden = self.control.must_revalidate || self.control.no_cache;
        !is_forbidden && window.is_some_and(|window| self.staleness(now) <= window)
    }

    /// Seconds for which it is still fresh; negative if it is stale.
    pub(crate) fn ttl(&self, now: Nanos) -> i64 {
        let seconds = |time: Nanos| (time.0 / 1_000_000_000) as i64;
        match self.stamp.stale_since() {
            Some(_) => -seconds(self.staleness(now)),
            None => seconds(self.freshness.lifetime) - seconds(self.freshness.age(now)),
        }
    }
}

/// A part of a stored response: the head is the first.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    Head(Arc<Head>),
    Data(Bytes),
    /// The body is too large to be kept, and goes on here.
    Tail(TailHandle),
}

/// A response.
pub(crate) type Object = Parts<Piece>;

/// The head of a response, if it is there.
pub(crate) fn head_of(object: &Object) -> Option<Arc<Head>> {
    object.with(|pieces| match pieces.first() {
        Some(Piece::Head(head)) => Some(Arc::clone(head)),
        _ => None,
    })
}

/// The body of a response as far as it is there.
pub(crate) fn body_of(object: &Object) -> Vec<Bytes> {
    let data = |piece: &Piece| match piece {
        Piece::Data(bytes) => Some(bytes.clone()),
        Piece::Head(_) | Piece::Tail(_) => None,
    };
    object.with(|pieces| pieces.iter().filter_map(data).collect())
}

/// Bytes that a response takes in memory. One that is not to stay takes more than there is.
pub(crate) fn weight(name: &[u8], object: &Object) -> u64 {
    object.with(|pieces| {
        let weights = pieces.iter().map(|piece| match piece {
            Piece::Tail(_) => u64::MAX,
            Piece::Head(head) if !head.stays => u64::MAX,
            Piece::Head(head) => {
                let fields = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 64);
                (fields.sum::<usize>() + head.selection.len() + head.tags.len()) as u64
            }
            Piece::Data(bytes) => bytes.len() as u64 + PIECE,
        });
        weights.fold(name.len() as u64 + OVERHEAD, u64::saturating_add)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::fields::map;

    #[test]
    fn a_date_that_is_added_makes_nothing_older() {
        let came = Nanos(1_900_000_000);
        let headers = map(&[("cache-control", "max-age=60")]);
        let times = Times { asked: came, came };
        let head = Head::new(&HeaderMap::new(), StatusCode::OK, headers, None, times, "trueplane");
        assert_eq!(head.headers[header::DATE], "Thu, 01 Jan 1970 00:00:01 GMT");
        assert_eq!(head.freshness.age(came), Nanos(0));
    }
}

//! What comes into a part of a cache, what it holds, and what a request meets there.

use std::num::NonZeroU32;
use std::sync::Arc;

use trueplane_units::Nanos;

use super::error::FetchError;
use super::flight::Flight;

/// Number of a write, by which later ones are told from it. Never 0, which saves 8 bytes an entry.
pub(super) type Write = NonZeroU32;

/// An entry.
pub(super) struct Held<K, V> {
    pub(super) key: K,
    pub(super) value: V,
    pub(super) write: Write,
}

/// A value on its way into a shard, with what is known of it.
pub(super) struct Arriving<V> {
    pub(super) value: V,
    /// At least 1.
    pub(super) weight: u64,
    /// Time that it lives.
    pub(super) life: Option<Nanos>,
    /// Time that it took to fetch, if anybody knows.
    pub(super) took: Option<Nanos>,
    /// Group of keys whose values take about as long.
    pub(super) group: u64,
}

/// Why nothing has come.
pub(super) enum Failed {
    /// All who waited have left.
    GivenUp,
    /// With this error, which is remembered for a time, if there is one.
    With(FetchError, Option<Nanos>),
}

impl Failed {
    /// Whether anybody hears of it.
    pub(super) fn is_told(&self) -> bool {
        matches!(self, Failed::With(..))
    }
}

/// A fetch that has failed, and is not tried again for a while.
pub(super) struct Failure<K> {
    pub(super) key: K,
    pub(super) error: FetchError,
    pub(super) until: Nanos,
}

/// What a request with a fetch finds.
pub(super) enum Met<K, V> {
    Value(V),
    Flight(Arc<Flight<K, V>>),
    /// It may be served, but is to be fetched again: at once if it is stale, and then it is served only if that fails. If another
    /// request does so already, that is its flight.
    Ageing {
        value: V,
        is_stale: bool,
        renewal: Option<Arc<Flight<K, V>>>,
    },
    Failure(FetchError),
    Nothing,
}

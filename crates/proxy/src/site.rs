//! An origin with the cache in front of it.

use std::sync::Arc;

use trueplane_units::Nanos;

use crate::log::Log;
use crate::origin::Origin;
use crate::rules::hop::Identity;
use crate::store::Store;

/// An origin with the cache in front of it, which all connections share.
pub(crate) struct Site {
    pub(crate) store: Store,
    pub(crate) origin: Origin,
    pub(crate) identity: Identity,
    /// Time for which what is stale is served while the origin cannot be reached, if that says nothing of it.
    pub(crate) stale_if_unreachable: Nanos,
    pub(crate) log: Option<Arc<Log>>,
}

//! A client, and the connection by which its requests come.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::watch::Receiver;

use crate::busy::Activity;

/// A client, and the connection by which its requests come. What outlives the connection, such as a WebSocket, keeps this.
pub(crate) struct Client {
    pub(crate) address: IpAddr,
    /// `http` or `https`.
    pub(crate) scheme: &'static str,
    /// Time that it may take to read on.
    pub(crate) patience: Duration,
    pub(crate) activity: Activity,
    /// Declared before `stopped`, so that it is dropped first: when all receivers are gone, all places are free.
    pub(crate) _place: Place,
    /// Told when the cache stops.
    pub(crate) stopped: Receiver<()>,
}

/// A place among the connections that may be there at once, until this is dropped.
pub(crate) struct Place {
    pub(crate) _permit: Option<OwnedSemaphorePermit>,
    pub(crate) _connected: Arc<()>,
}

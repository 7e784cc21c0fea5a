//! Receive-side scaling: a flow's packets go to the core of its hash.

use trueplane_units::Nanos;

use super::{Arrival, Dispatch};
use crate::Steering;
use crate::steering::{BUCKETS, DEFAULT_KEY, Toeplitz};

/// Receive-side scaling with an indirection table of [`BUCKETS`] rows, which cores take in turns.
///
/// O(1). Source: Microsoft's specification; the symmetric key, under which both directions meet, is Woo and Park's (2012).
#[derive(Clone, Debug)]
pub struct Rss {
    steering: Steering,
    /// None for the symmetric key.
    toeplitz: Option<Toeplitz>,
}

impl Rss {
    /// With the symmetric key: a flow goes to its designated core.
    pub fn symmetric(cores: usize) -> Self {
        Self { steering: Steering::new(cores), toeplitz: None }
    }

    /// With the key that cards have from the factory, which scatters the two directions.
    pub fn default_key(cores: usize) -> Self {
        Self { steering: Steering::new(cores), toeplitz: Some(Toeplitz::new(&DEFAULT_KEY)) }
    }
}

impl Dispatch for Rss {
    fn core(&mut self, packet: &Arrival, _now: Nanos) -> usize {
        let bucket = match &self.toeplitz {
            None => packet.bucket(),
            Some(toeplitz) => packet.hash(toeplitz) as usize % BUCKETS,
        };
        self.steering.core_of_bucket(bucket)
    }
}

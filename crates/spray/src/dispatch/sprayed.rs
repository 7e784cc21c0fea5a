//! Spraying: every packet to any core.

use trueplane_units::Nanos;

use super::{Arrival, Dispatch, Rss};

/// Sprays TCP by the low bits of its checksum, which look random; all else goes by symmetric [`Rss`] (§3.3).
///
/// A card matches as many bits as it has rules for; a number of cores that is no power of two shares them out as evenly as the 16 bits
/// of the checksum allow. O(1). Source: §3.3, Flow Director.
#[derive(Clone, Debug)]
pub struct Spray {
    cores: usize,
    others: Rss,
}

impl Spray {
    /// Dispatches to `cores` cores.
    pub fn new(cores: usize) -> Self {
        Self { cores: cores.max(1), others: Rss::symmetric(cores) }
    }
}

impl Dispatch for Spray {
    fn core(&mut self, packet: &Arrival, now: Nanos) -> usize {
        match packet.checksum {
            Some(checksum) => usize::from(checksum) % self.cores,
            None => self.others.core(packet, now),
        }
    }
}

/// One packet to each core in turn, whatever it is.
#[derive(Clone, Debug)]
pub struct RoundRobin {
    cores: usize,
    next: usize,
}

impl RoundRobin {
    /// Dispatches to `cores` cores.
    pub fn new(cores: usize) -> Self {
        Self { cores: cores.max(1), next: 0 }
    }
}

impl Dispatch for RoundRobin {
    fn core(&mut self, _packet: &Arrival, _now: Nanos) -> usize {
        let core = self.next;
        self.next = if core + 1 == self.cores { 0 } else { core + 1 };
        core
    }
}

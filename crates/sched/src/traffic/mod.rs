//! What comes to the port, and when.
//!
//! 1. [`poisson`], [`on_off`]: packets of flows that somebody imagined.
//! 2. [`recorded`]: packets from a trace, at their own times.
//! 3. [`cbr`]: flows of a constant rate that start one after the other.
//! 4. [`ranks`]: drawn from a distribution, from a trace, or by a rank policy.
//!
//! Whatever is random begins at the seed and at nothing else: every scheduler sees the same packets.

pub mod cbr;
pub mod on_off;
pub mod poisson;
pub mod ranks;
pub mod recorded;

use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};
use trueplane_units::{BitsPerSec, Nanos};

use crate::port::Traffic;
use crate::rank::PacketMeta;

/// Times are kept in this fraction of a nanosecond, so that a rate is right in the long run.
const FRACTION_BITS: u32 = 32;

/// Classes of service, of which flows and packets draw theirs: as many as IP precedence has.
pub const CLASSES: u8 = 8;

/// Settings that all imagined flows share.
#[derive(Clone, Copy, Debug)]
pub struct Imagined {
    /// Seed of the random draws.
    pub seed: u64,
    /// The length of a packet; the last of a flow may be shorter.
    pub packet_bytes: u32,
    /// Mean rate of all flows together.
    pub offered: BitsPerSec,
    /// Longest time that a packet may wait and be in time.
    pub slack: Nanos,
}

/// Random numbers for one purpose: streams of one seed have nothing to do with each other.
fn stream(seed: u64, purpose: u64) -> Xoshiro256PlusPlus {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    (0..purpose).for_each(|_| random.jump());
    random
}

/// Transmission time of `bytes` at `rate`, in fractions of a nanosecond.
fn span(bytes: u64, rate: BitsPerSec) -> u128 {
    (u128::from(bytes) * 8_000_000_000).saturating_mul(1 << FRACTION_BITS) / u128::from(rate.0.max(1))
}

/// The whole nanoseconds of a time in fractions; `None` after 584 years.
fn whole(time: u128) -> Option<Nanos> {
    u64::try_from(time >> FRACTION_BITS).ok().map(Nanos)
}

/// Random draws for a flow, its class and its slack, and for each of its packets, a wait upstream.
#[derive(Clone, Debug)]
struct Character {
    random: Xoshiro256PlusPlus,
    key: u64,
    slack: Nanos,
}

impl Character {
    fn new(seed: u64, slack: Nanos) -> Self {
        Self { random: stream(seed, 2), key: SplitMix64::seed_from_u64(seed).next_u64(), slack }
    }

    /// The class and the slack of `flow`, each evenly among what there is; the same whenever they are asked for, so that nobody has to
    /// keep them.
    fn of(&self, flow: u64) -> (u8, Nanos) {
        let mut random = SplitMix64::seed_from_u64(self.key ^ flow);
        (random.random_range(0..CLASSES), Nanos(random.random_range(0..=self.slack.0)))
    }

    /// Time that a packet has waited less the average, in nanoseconds: evenly within the slack around zero.
    fn excess_wait_ns(&mut self) -> i64 {
        let half = i64::try_from(self.slack.0 / 2).unwrap_or(i64::MAX);
        self.random.random_range(-half..=half)
    }
}

/// The first packets of `traffic`, and no more.
pub struct First<T> {
    /// Packets to take the first of.
    pub traffic: T,
    /// Number of packets that may still come.
    pub left: u64,
}

impl<T: Traffic> Traffic for First<T> {
    #[inline]
    fn next(&mut self) -> Option<(Nanos, PacketMeta)> {
        self.left = self.left.checked_sub(1)?;
        self.traffic.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_has_one_character() {
        let character = Character::new(1, Nanos(999));
        let drawn: Vec<(u8, Nanos)> = (0..80_000).map(|flow| character.of(flow)).collect();
        assert_eq!(character.of(4711), drawn[4711]);
        assert_ne!(Character::new(2, Nanos(999)).of(4711), drawn[4711]);
        for class in 0..CLASSES {
            let count = drawn.iter().filter(|flow| flow.0 == class).count();
            assert!(count.abs_diff(10_000) < 500, "{count} of class {class}");
        }
        let slack = drawn.iter().map(|flow| flow.1.0).sum::<u64>() as f64 / 80_000.0;
        assert!((slack - 499.5).abs() < 6.0, "{slack}");
    }
}

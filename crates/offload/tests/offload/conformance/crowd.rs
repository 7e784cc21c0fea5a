//! More keys than a policy holds on to.

use proptest::prelude::*;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use trueplane_offload::Key;

use super::Case;

/// A case by what its keys are drawn from: there are too many to be listed.
#[derive(Clone, Debug)]
pub(crate) struct Crowd {
    entries: u32,
    batch: u64,
    /// Of an interval between decisions.
    slots: u64,
    intervals: u64,
    period: u64,
    /// Keys that come once or twice an interval.
    rare: u32,
    /// Of ten lookups so many are of a few others.
    often: u32,
    seed: u64,
}

impl Crowd {
    pub(crate) fn case(&self) -> Case {
        let &Self { entries, batch, slots, intervals, period, rare, often, seed } = self;
        let mut draws = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut below = |limit: u32| draws.next_u64() % u64::from(limit);
        let mut key = || if below(10) < often.into() { below(30) } else { 100 + below(rare) };
        let keys = (0..slots * intervals).map(|_| Key(key())).collect();
        // The rest is for other policies than those that have a naive form.
        let (load_percent, delay, threshold, sample) = (100, 0, 1, 1);
        Case { entries, load_percent, batch, batches: 1, slots, period, delay, threshold, sample, keys }
    }
}

pub(crate) fn crowds() -> impl Strategy<Value = Crowd> {
    let control = (1..12u32, 1..6u64, 800..2000u64, 3..7u64);
    let policy = (50..900u64, 1000..3000u32, 0..8u32, any::<u64>());
    (control, policy).prop_map(|((entries, batch, slots, intervals), (period, rare, often, seed))| Crowd {
        entries,
        batch,
        slots,
        intervals,
        period,
        rare,
        often,
        seed,
    })
}

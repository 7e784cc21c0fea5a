//! The naive model's twin of every policy that it has one of.

use trueplane_cache::policy::{MadMemory, PolicyName};

use crate::naive::{Memory, Policy};

/// The naive model of a policy; none if it has none, or if the policy keeps no counters that `memory` could be about.
pub(crate) fn twin(name: PolicyName, memory: MadMemory) -> Option<Policy> {
    let counters = match memory {
        MadMemory::Cached => Memory::Cached,
        MadMemory::All => Memory::All,
    };
    let without_counters = |policy| (memory == MadMemory::Cached).then_some(policy);
    match name {
        PolicyName::Lru => without_counters(Policy::Lru),
        PolicyName::Lfu => without_counters(Policy::Lfu),
        PolicyName::Arc => without_counters(Policy::Arc),
        PolicyName::Sieve => without_counters(Policy::Sieve),
        PolicyName::LruMad => Some(Policy::LruMad(counters)),
        PolicyName::LfuMad => Some(Policy::LfuMad(counters)),
        PolicyName::ArcMad => Some(Policy::ArcMad(counters)),
        PolicyName::Belady => without_counters(Policy::Belady),
        PolicyName::BeladyAd => without_counters(Policy::BeladyAd),
        // Their draws and sketches are not told by the papers to the last bit.
        PolicyName::Lhd
        | PolicyName::S3Fifo
        | PolicyName::WTinyLfu
        | PolicyName::Random
        | PolicyName::LhdMad => None,
    }
}

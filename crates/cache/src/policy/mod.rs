//! The caching algorithms: one file each, one implementation each.
//!
//! [`PolicyName`] lists them with what each evicts. The variants with MAD are their base with another [`cost`](crate::cost) (thesis
//! §2.5.2); the offline ones, Bélády's of 1966 and the one by aggregate delay (thesis §2.5.1), must know the future.
//!
//! [`Replay`] has no name: it follows a schedule that was made elsewhere.

mod arc;
mod belady;
mod lfu;
mod lhd;
mod lru;
pub mod mad;
mod name;
mod random;
mod replay;
mod s3_fifo;
mod sieve;
mod w_tinylfu;

pub use arc::Arc;
pub use belady::{Belady, BeladyAd, Farthest, Foresight, LeastDelay, Offline};
pub use lfu::Lfu;
pub use lhd::{Lhd, Search};
pub use lru::Lru;
pub use mad::AggregateDelay;
pub use name::{Admission, PolicyName, Properties};
pub use random::Random;
pub use replay::Replay;
pub use s3_fifo::S3Fifo;
pub use sieve::Sieve;
pub use w_tinylfu::{WTinyLfu, Window};

use trueplane_units::choices;

use crate::Policy;
use crate::cost::Unit;

choices! {
    /// The objects for which MAD keeps its counters.
    pub enum MadMemory {
        /// Objects that are in the cache or being fetched: 32 B each.
        Cached = "cached",
        /// Every object ever seen.
        All = "all",
    }
}

impl MadMemory {
    fn counters(self) -> AggregateDelay {
        match self {
            MadMemory::Cached => AggregateDelay::default(),
            MadMemory::All => AggregateDelay::remember_all(),
        }
    }
}

/// Parameters that some policies need besides their name.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// About how many objects the cache holds.
    pub objects: u64,
    /// Objects for which MAD keeps its counters.
    pub mad_memory: MadMemory,
    /// Way in which LHD finds its victim.
    pub search: Search,
    /// Size of W-TinyLFU's window.
    pub window: Window,
    /// Number from which the draws of policies begin.
    pub seed: u64,
}

impl Params {
    /// A cache of about so many objects, everything else by default.
    pub fn objects(objects: u64) -> Self {
        Self {
            objects,
            mad_memory: MadMemory::Cached,
            search: Search::Sampled,
            window: Window::Adaptive,
            seed: 0,
        }
    }
}

/// Something to do with a policy whose type is only known by name.
pub trait WithPolicy {
    /// Result of the work.
    type Output;

    /// Does it; `make` makes policies that differ in their draws only, by a number that the caller chooses.
    fn with<P: Policy + Send + Sync + 'static>(self, make: impl Fn(u64) -> P) -> Self::Output;
}

/// Makes the policy called `name` and hands it over, compiled for its own type.
pub fn with_policy<W: WithPolicy>(name: PolicyName, params: Params, then: W) -> W::Output {
    let Params { objects, mad_memory, search, window, seed } = params;
    let counters = || mad_memory.counters();
    match name {
        PolicyName::Lru => then.with(|_| Lru::<Unit>::default()),
        PolicyName::Lfu => then.with(|_| Lfu::<Unit>::default()),
        PolicyName::Arc => then.with(|_| Arc::<Unit>::default()),
        PolicyName::Lhd => then.with(|copy| Lhd::new(Unit, search, objects, seed.wrapping_add(copy))),
        PolicyName::Sieve => then.with(|_| Sieve::default()),
        PolicyName::S3Fifo => then.with(|_| S3Fifo::default()),
        PolicyName::WTinyLfu => then.with(|_| WTinyLfu::new(objects, window)),
        PolicyName::Random => then.with(|copy| Random::seeded(seed.wrapping_add(copy))),
        PolicyName::LruMad => then.with(|_| Lru::with_cost(counters())),
        PolicyName::LfuMad => then.with(|_| Lfu::with_cost(counters())),
        PolicyName::ArcMad => then.with(|_| Arc::with_cost(counters())),
        PolicyName::LhdMad => {
            then.with(|copy| Lhd::new(counters(), search, objects, seed.wrapping_add(copy)))
        }
        PolicyName::Belady => then.with(|_| Belady::default()),
        PolicyName::BeladyAd => then.with(|_| BeladyAd::default()),
    }
}

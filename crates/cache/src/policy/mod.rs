//! The caching algorithms: one file each, one implementation each.
//!
//! | name | evicts | source |
//! |---|---|---|
//! | `lru` | the least recently used | |
//! | `lfu` | the least frequently used since it came | |
//! | `arc` | from the recent or the frequent, as its ghosts advise | FAST 2003 |
//! | `lhd` | the lowest expected hits per space and time | NSDI 2018 |
//! | `sieve` | the first not visited since the hand last passed | NSDI 2024 |
//! | `s3-fifo` | what is not asked for again soon | SOSP 2023 |
//! | `w-tinylfu` | the less frequent of newcomer and victim | ToS 2017 |
//! | `random` | anyone | |
//! | `lru-mad`, `lfu-mad`, `arc-mad`, `lhd-mad` | as the base, weighed by aggregate delay | thesis §2.5.2 |
//! | `belady` | the farthest next request, offline | 1966 |
//! | `belady-ad` | the least aggregate delay over time to next request, offline | thesis §2.5.1 |
//!
//! [`Replay`] has no name: it follows a schedule that was made elsewhere.

mod arc;
mod belady;
mod lfu;
mod lhd;
mod lru;
pub mod mad;
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
pub use random::Random;
pub use replay::Replay;
pub use s3_fifo::S3Fifo;
pub use sieve::Sieve;
pub use w_tinylfu::{WTinyLfu, Window};

use std::fmt;
use std::str::FromStr;

use crate::Policy;
use crate::cost::Unit;

/// The policies by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the table above")]
pub enum PolicyName {
    Lru,
    Lfu,
    Arc,
    Lhd,
    Sieve,
    S3Fifo,
    WTinyLfu,
    Random,
    LruMad,
    LfuMad,
    ArcMad,
    LhdMad,
    Belady,
    BeladyAd,
}

impl PolicyName {
    /// All policies, in the order in which they are printed.
    pub const ALL: [PolicyName; 14] = [
        PolicyName::Lru,
        PolicyName::Lfu,
        PolicyName::Arc,
        PolicyName::Lhd,
        PolicyName::Sieve,
        PolicyName::S3Fifo,
        PolicyName::WTinyLfu,
        PolicyName::Random,
        PolicyName::LruMad,
        PolicyName::LfuMad,
        PolicyName::ArcMad,
        PolicyName::LhdMad,
        PolicyName::Belady,
        PolicyName::BeladyAd,
    ];

    /// The name that people type.
    pub fn as_str(self) -> &'static str {
        match self {
            PolicyName::Lru => "lru",
            PolicyName::Lfu => "lfu",
            PolicyName::Arc => "arc",
            PolicyName::Lhd => "lhd",
            PolicyName::Sieve => "sieve",
            PolicyName::S3Fifo => "s3-fifo",
            PolicyName::WTinyLfu => "w-tinylfu",
            PolicyName::Random => "random",
            PolicyName::LruMad => "lru-mad",
            PolicyName::LfuMad => "lfu-mad",
            PolicyName::ArcMad => "arc-mad",
            PolicyName::LhdMad => "lhd-mad",
            PolicyName::Belady => "belady",
            PolicyName::BeladyAd => "belady-ad",
        }
    }

    /// Whether the policy must know the future, so that no live cache can run it.
    pub fn is_offline(self) -> bool {
        matches!(self, PolicyName::Belady | PolicyName::BeladyAd)
    }

    /// The policy that MAD was applied to.
    pub fn base(self) -> Option<PolicyName> {
        match self {
            PolicyName::LruMad => Some(PolicyName::Lru),
            PolicyName::LfuMad => Some(PolicyName::Lfu),
            PolicyName::ArcMad => Some(PolicyName::Arc),
            PolicyName::LhdMad => Some(PolicyName::Lhd),
            _ => None,
        }
    }
}

impl fmt::Display for PolicyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// No policy has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown policy \"{found}\"; known: {}", PolicyName::ALL.map(PolicyName::as_str).join(", "))]
pub struct UnknownPolicy {
    found: String,
}

impl FromStr for PolicyName {
    type Err = UnknownPolicy;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        PolicyName::ALL
            .into_iter()
            .find(|name| name.as_str().eq_ignore_ascii_case(text))
            .ok_or_else(|| UnknownPolicy { found: text.to_owned() })
    }
}

/// For which objects MAD keeps its counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MadMemory {
    /// Those in the cache or on their way: 32 B each.
    #[default]
    Cached,
    /// Every object ever seen.
    All,
}

impl MadMemory {
    fn counters(self) -> AggregateDelay {
        match self {
            MadMemory::Cached => AggregateDelay::default(),
            MadMemory::All => AggregateDelay::remember_all(),
        }
    }
}

/// What some policies need besides their name.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// About how many objects the cache holds.
    pub objects: u64,
    /// Where MAD keeps its counters.
    pub mad_memory: MadMemory,
    /// How LHD finds its victim.
    pub search: Search,
    /// How large W-TinyLFU's window is.
    pub window: Window,
    /// Where the policies that draw at random begin.
    pub seed: u64,
}

impl Params {
    /// A cache of about so many objects, everything else by default.
    pub fn objects(objects: u64) -> Self {
        Self {
            objects,
            mad_memory: MadMemory::default(),
            search: Search::default(),
            window: Window::default(),
            seed: 0,
        }
    }
}

/// Something to do with a policy whose type is only known by name.
pub trait WithPolicy {
    /// What comes out.
    type Output;

    /// Does it; `make` makes policies that differ in their draws only, by a number that the caller chooses.
    fn with<P: Policy + Send + 'static>(self, make: impl Fn(u64) -> P) -> Self::Output;
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

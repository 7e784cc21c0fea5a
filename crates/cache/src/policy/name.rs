//! The policies by name, with what is known of each without running it.

use trueplane_units::choices;

/// The part of what was fetched that a policy lets into the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// Everything that is no larger than the cache.
    All,
    /// Everything that fits the policy's window; it may refuse what is larger.
    Window,
    /// Objects that the policy chooses; it may refuse anything.
    Chosen,
}

/// Properties of a policy that are known without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// It must know the future, so that no live cache can run it.
    pub offline: bool,
    /// The policy that MAD was applied to.
    pub base: Option<PolicyName>,
    /// The part of what was fetched that it lets into the cache.
    pub admission: Admission,
    /// It learns from what it evicts, in every set for itself.
    pub learns: bool,
}

impl Properties {
    const NONE: Self = Self { offline: false, base: None, admission: Admission::All, learns: false };
    const LHD: Self = Self { learns: true, ..Self::NONE };
    const OFFLINE: Self = Self { offline: true, admission: Admission::Chosen, ..Self::NONE };

    /// MAD on top of a policy that has these properties.
    const fn mad(self, base: PolicyName) -> Self {
        Self { base: Some(base), ..self }
    }
}

choices! {
    /// A policy by name.
    pub enum PolicyName: Properties {
        /// Evicts the object that was requested least recently.
        Lru = "lru" { ..Properties::NONE },
        /// Evicts the object with the fewest requests since it was stored.
        Lfu = "lfu" { ..Properties::NONE },
        /// Balances a recent and a frequent list by their ghost entries (FAST 2003).
        Arc = "arc" { ..Properties::NONE },
        /// Evicts the object with the fewest expected hits per space and time (NSDI 2018).
        Lhd = "lhd" { ..Properties::LHD },
        /// Evicts the first object that was not requested since the hand last passed it (NSDI 2024).
        Sieve = "sieve" { ..Properties::NONE },
        /// Evicts new objects quickly unless they are requested again (SOSP 2023).
        S3Fifo = "s3-fifo" { ..Properties::NONE },
        /// Keeps the more frequently requested of a new object and its victim (ToS 2017).
        WTinyLfu = "w-tinylfu" { admission: Admission::Window, ..Properties::NONE },
        /// Evicts a random object.
        Random = "random" { ..Properties::NONE },
        /// LRU, weighted by the aggregate delay of misses.
        LruMad = "lru-mad" { ..Properties::NONE.mad(PolicyName::Lru) },
        /// LFU, weighted by the aggregate delay of misses.
        LfuMad = "lfu-mad" { ..Properties::NONE.mad(PolicyName::Lfu) },
        /// ARC, weighted by the aggregate delay of misses.
        ArcMad = "arc-mad" { ..Properties::NONE.mad(PolicyName::Arc) },
        /// LHD, weighted by the aggregate delay of misses.
        LhdMad = "lhd-mad" { ..Properties::LHD.mad(PolicyName::Lhd) },
        /// Evicts the object whose next request is farthest away; offline.
        Belady = "belady" { ..Properties::OFFLINE },
        /// Evicts the object with the least aggregate delay per time to its next request; offline.
        BeladyAd = "belady-ad" { ..Properties::OFFLINE },
    }
    words {
        /// All policies that do not need to know the future.
        "online" = |policy| !policy.properties().offline,
    }
}

#[cfg(test)]
mod tests {
    use trueplane_units::{Choices, Value as _};

    use super::*;

    #[test]
    fn words_stand_for_several() {
        let list = |text: &str| <Choices<PolicyName>>::parse(text).unwrap().0;
        assert_eq!(list("LRU-MAD, lru,lru-mad"), [PolicyName::LruMad, PolicyName::Lru]);
        assert_eq!(list("all"), PolicyName::ALL);
        let online = list("online");
        assert!(!online.contains(&PolicyName::Belady) && online.contains(&PolicyName::LhdMad));
        assert_eq!(list("belady,online").len(), online.len() + 1);
    }
}

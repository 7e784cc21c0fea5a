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
        /// Evicts the least recently used.
        Lru = "lru" { ..Properties::NONE },
        /// Evicts the least frequently used since it came.
        Lfu = "lfu" { ..Properties::NONE },
        /// Evicts from the recent or the frequent, as its ghosts advise (FAST 2003).
        Arc = "arc" { ..Properties::NONE },
        /// Evicts the lowest expected hits per space and time (NSDI 2018).
        Lhd = "lhd" { ..Properties::LHD },
        /// Evicts the first that was not visited since the hand last passed (NSDI 2024).
        Sieve = "sieve" { ..Properties::NONE },
        /// Evicts what is not asked for again soon (SOSP 2023).
        S3Fifo = "s3-fifo" { ..Properties::NONE },
        /// Evicts the less frequent of newcomer and victim (ToS 2017).
        WTinyLfu = "w-tinylfu" { admission: Admission::Window, ..Properties::NONE },
        /// Evicts anyone.
        Random = "random" { ..Properties::NONE },
        /// LRU, weighed by aggregate delay.
        LruMad = "lru-mad" { ..Properties::NONE.mad(PolicyName::Lru) },
        /// LFU, weighed by aggregate delay.
        LfuMad = "lfu-mad" { ..Properties::NONE.mad(PolicyName::Lfu) },
        /// ARC, weighed by aggregate delay.
        ArcMad = "arc-mad" { ..Properties::NONE.mad(PolicyName::Arc) },
        /// LHD, weighed by aggregate delay.
        LhdMad = "lhd-mad" { ..Properties::LHD.mad(PolicyName::Lhd) },
        /// Evicts the farthest next request; offline.
        Belady = "belady" { ..Properties::OFFLINE },
        /// Evicts the least aggregate delay over the time to the next request; offline.
        BeladyAd = "belady-ad" { ..Properties::OFFLINE },
    }
    words {
        /// All that need not know the future.
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

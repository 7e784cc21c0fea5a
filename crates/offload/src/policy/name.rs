//! The systems by name, with what is known of each without running it.

use trueplane_units::choices;

/// Way in which a controller's changes come into the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// At the lookup that they are for: there is no control loop.
    Instant,
    /// Changes come in batches of entries, at the update rate.
    Batches,
    /// Changes come in control packets that rewrite a row each, at the control rate.
    Packets,
}

/// Parameter that a system can be tuned by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tuning {
    /// No parameter.
    None,
    /// Time after which counters are halved.
    Ageing,
    /// Number of lookups that make a key worth an entry.
    Threshold,
}

impl Tuning {
    /// The name of what is tuned; empty if nothing is.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Ageing => "ageing",
            Self::Threshold => "threshold",
        }
    }
}

/// Properties of a system that are known without running it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Properties {
    /// Way in which changes come into the table.
    pub control: Control,
    /// It has to know the whole workload beforehand.
    pub offline: bool,
    /// It inserts only what was looked up in the batch before (A2 of DySO's appendix), so that `optimal` is its optimum.
    pub prompt: bool,
    /// Parameter that it can be tuned by.
    pub tuning: Tuning,
}

impl Properties {
    const INSTANT: Self =
        Self { control: Control::Instant, offline: false, prompt: false, tuning: Tuning::None };
    const BATCHES: Self = Self { control: Control::Batches, prompt: true, ..Self::INSTANT };

    /// Whether its entries change in batches, at the update rate.
    pub fn is_batched(self) -> bool {
        self.control == Control::Batches
    }

    /// Whether reports of keys over a threshold tell it what is hot.
    pub fn has_reports(self) -> bool {
        self.tuning == Tuning::Threshold
    }

    /// Whether it has a control loop and does not know the future.
    pub fn has_loop(self) -> bool {
        self.control != Control::Instant && !self.offline
    }

    /// Whether the classical model speaks of it: it is updated at once and does not know the future.
    pub fn is_classical(self) -> bool {
        self.control == Control::Instant && !self.offline
    }
}

choices! {
    /// A switch's table and whatever keeps it up to date, by name.
    pub enum SystemName: Properties {
        /// LRU whose changes are installed at once.
        IdealLru = "ideal-lru" { ..Properties::INSTANT },
        /// LFU whose changes are installed at once.
        IdealLfu = "ideal-lfu" { ..Properties::INSTANT },
        /// The offline optimum without a control loop.
        Belady = "belady" { offline: true, ..Properties::INSTANT },
        /// Replaces the least recently used entries by the latest misses, in batches.
        Recency = "recency" { ..Properties::BATCHES },
        /// Replaces the least frequently used entries by the most frequent misses, in batches.
        Frequency = "frequency" { tuning: Tuning::Ageing, ..Properties::BATCHES },
        /// Sketches in the data plane, reports of heavy hitters, sampled counters. Reports may wait for longer than a batch.
        NetCache = "netcache" { prompt: false, tuning: Tuning::Threshold, ..Properties::BATCHES },
        /// Flow state: counts misses exactly, and removes idle entries.
        Tea = "tea" { tuning: Tuning::Threshold, ..Properties::BATCHES },
        /// Register hash chains that control packets rewrite.
        Dyso = "dyso" { control: Control::Packets, ..Properties::INSTANT },
        /// The offline optimum with the control loop of the batches.
        Optimal = "optimal" { offline: true, ..Properties::BATCHES },
    }
    words {
        /// All policies that do not need to know the future.
        "online" = |system| !system.properties().offline,
    }
}

#[cfg(test)]
mod tests {
    use trueplane_units::{Choices, Value as _};

    use super::*;

    #[test]
    fn words_stand_for_several() {
        let names = |text: &str| <Choices<SystemName>>::parse(text).map(|systems| systems.len());
        assert_eq!([names("online"), names("all"), names("dyso, optimal,dyso")], [Ok(7), Ok(9), Ok(2)]);
        assert_eq!(names("online, belady"), Ok(8));
    }
}

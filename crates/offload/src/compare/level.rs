//! The rows of one level of change, which of them is which, and what people call them.

use trueplane_units::PerSecond;

use super::found::{Found, Row};
use super::options::Options;
use crate::policy::SystemName;

/// The length of chains that the paper takes.
const USUAL_CHAIN: u64 = 4;

/// Class of systems that `optimal` is the optimum of (A2 of the paper's appendix): netcache, whose reports wait, and dyso are something
/// else.
pub(super) const PROMPT: &str = "table in batches that inserts only what was looked up in the batch before";

/// The rows of one level of change.
pub(super) struct Level<'a> {
    /// Keys that become the most popular at every change, where the workload has such changes.
    pub(super) change: Option<u64>,
    /// Rows in their order.
    pub(super) rows: Vec<&'a Row>,
    /// Parameters of the comparison.
    pub(super) options: &'a Options,
    /// The length of chains that speaks for DySO, the same at every level.
    chain: Option<u64>,
}

/// The levels of change, the smallest first; at least one if there are rows.
pub(super) fn levels<'a>(options: &'a Options, found: &'a Found) -> Vec<Level<'a>> {
    let mut changes: Vec<Option<u64>> = found.rows.iter().map(|row| row.change).collect();
    changes.sort_unstable();
    changes.dedup();
    let chain = speaking_chain(options, found, changes.last().copied().flatten());
    let level = |change| {
        let rows = found.rows.iter().filter(|row| row.change == change).collect();
        Level { change, rows, options, chain }
    };
    changes.into_iter().map(level).collect()
}

/// Length of chains that speaks for DySO: the usual one, or else that with the fewest misses at the largest level of change.
fn speaking_chain(options: &Options, found: &Found, largest: Option<u64>) -> Option<u64> {
    if options.chains().contains(&USUAL_CHAIN) {
        return Some(USUAL_CHAIN);
    }
    let dyso = found.rows.iter().filter(|row| row.system == SystemName::Dyso && row.change == largest);
    dyso.min_by_key(|row| row.misses())?.chain
}

impl<'a> Level<'a> {
    /// The rows of a system as it was asked for, in the order of its rates and then of chains.
    pub(super) fn given(&self, system: SystemName) -> Vec<&'a Row> {
        let mut rows: Vec<&Row> =
            self.rows.iter().copied().filter(|row| row.system == system && !row.best).collect();
        rows.sort_by_key(|row| (row.update_rate, row.control_rate, row.chain));
        rows
    }

    /// The same, of DySO only those with the length of chains that speaks for it.
    pub(super) fn speaking(&self, system: SystemName) -> Vec<&'a Row> {
        let mut rows = self.given(system);
        rows.retain(|row| row.chain.is_none() || row.chain == self.chain);
        rows
    }

    /// Note on the length of chains that speaks for DySO, as the end of a sentence; empty where there is but one.
    pub(super) fn chain_note(&self) -> String {
        let chain = self.chain.filter(|_| self.options.chains().len() > 1);
        let chain = chain.filter(|_| !self.given(SystemName::Dyso).is_empty());
        let why = if self.chain == Some(USUAL_CHAIN) { "" } else { ", with which it misses least" };
        chain.map_or(String::new(), |chain| format!(" Of dyso's rows those of k = {chain} are shown{why}."))
    }

    /// The best configurations found of a system, in the order of its rates.
    pub(super) fn best(&self, system: SystemName) -> Vec<&'a Row> {
        let mut rows: Vec<&Row> =
            self.rows.iter().copied().filter(|row| row.system == system && row.best).collect();
        rows.sort_by_key(|row| row.update_rate);
        rows
    }

    /// The classical prediction: an instantly updated table, LRU or LFU, whichever misses less.
    pub(super) fn classical(&self) -> Option<&'a Row> {
        let ideals = [SystemName::IdealLfu, SystemName::IdealLru];
        ideals.into_iter().flat_map(|system| self.given(system)).min_by_key(|row| row.misses())
    }

    /// The offline optimum without a control loop.
    pub(super) fn belady(&self) -> Option<&'a Row> {
        self.given(SystemName::Belady).first().copied()
    }

    /// The systems that have a control loop and do not know the future, in the order of the options.
    pub(super) fn looped(&self) -> impl Iterator<Item = SystemName> + '_ {
        let is_there = |system: &SystemName| self.rows.iter().any(|row| row.system == *system);
        let systems = self.options.policies.0.iter().copied();
        systems.filter(|system| system.properties().has_loop()).filter(is_there)
    }

    /// A system at its slowest and at its fastest rate; the same row if it has but one.
    pub(super) fn extremes(&self, system: SystemName) -> Option<(&'a Row, &'a Row)> {
        let rows = self.speaking(system);
        Some((*rows.first()?, *rows.last()?))
    }

    /// A system at its fastest rate, as in [`extremes`](Self::extremes).
    pub(super) fn fastest(&self, system: SystemName) -> Option<&'a Row> {
        self.extremes(system).map(|(_, fastest)| fastest)
    }

    /// The optimum's row at an update rate.
    pub(super) fn optimal(&self, update_rate: PerSecond) -> Option<&'a Row> {
        let rows = self.given(SystemName::Optimal);
        rows.into_iter().find(|row| row.update_rate == Some(update_rate))
    }

    /// Whether the two bounds of the optimum are farther apart than was asked for; what was to be exact is what it is.
    pub(super) fn is_open(&self, bounds: &Row) -> bool {
        let (search, lower) = (&self.options.search, bounds.misses());
        let is_wide = |upper: u64| upper > lower && upper as f64 / lower as f64 - 1.0 > search.gap.0;
        !search.exact && bounds.upper().is_some_and(is_wide)
    }

    /// Settings of a configuration that are varied, as `at …`: `at 20K/s`, `at 5M/s and k = 4`; empty for a system without a loop.
    ///
    /// The length of chains is only said if several are compared.
    pub(super) fn at(&self, row: &Row) -> String {
        let mut parts = Vec::new();
        parts.extend(row.update_rate.map(|rate| rate.to_string()));
        parts.extend(row.control_rate.map(|rate| rate.to_string()));
        let has_several = self.options.chains().len() > 1;
        parts.extend(row.chain.filter(|_| has_several).map(|chain| format!("k = {chain}")));
        if parts.is_empty() { String::new() } else { format!("at {}", parts.join(" and ")) }
    }

    /// A row by name: `netcache at 20K/s`, `frequency at 20K/s, best ageing`.
    pub(super) fn name(&self, row: &Row) -> String {
        let name = [row.system.name().to_owned(), self.at(row)].join(" ");
        let tuning = row.system.properties().tuning;
        let best = if row.best { format!(", best {}", tuning.name()) } else { String::new() };
        format!("{}{best}", name.trim_end())
    }
}

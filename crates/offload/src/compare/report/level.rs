//! The rows of one level of change, and which of them is which.

use crate::comparison::{Comparison, Outcome, Row};
use crate::options::Options;
use crate::policy::SystemName;

/// The rows of one level of change.
pub(crate) struct Level<'a> {
    /// Keys that become the most popular at every change, where the workload has such changes.
    pub(crate) change: Option<u64>,
    /// The rows, in their order.
    pub(crate) rows: Vec<&'a Row>,
    /// What was compared.
    pub(crate) options: &'a Options,
    /// The length of chains that speaks for DySO, the same at every level.
    chain: Option<u64>,
}

/// The length of chains that the paper takes.
const USUAL_CHAIN: u64 = 4;

impl Comparison {
    /// The levels of change, the smallest first; at least one.
    pub(crate) fn levels(&self) -> Vec<Level<'_>> {
        let mut changes: Vec<Option<u64>> = self.rows.iter().map(|row| row.change).collect();
        changes.sort_unstable();
        changes.dedup();
        let chain = self.chain(changes.last().copied().flatten());
        let level = |change| {
            let rows = self.rows.iter().filter(|row| row.change == change).collect();
            Level { change, rows, options: &self.options, chain }
        };
        changes.into_iter().map(level).collect()
    }

    /// Of several lengths of chains the usual one, or else that with the fewest misses at the largest level of change.
    fn chain(&self, largest: Option<u64>) -> Option<u64> {
        if self.options.chains.contains(&USUAL_CHAIN) {
            return Some(USUAL_CHAIN);
        }
        let dyso = self.rows.iter().filter(|row| row.system == SystemName::Dyso && row.change == largest);
        dyso.min_by_key(|row| row.misses())?.chain
    }
}

impl<'a> Level<'a> {
    /// The rows of a system as it was asked for, in the order of its rates and then of chains.
    pub(crate) fn given(&self, system: SystemName) -> Vec<&'a Row> {
        let mut rows: Vec<&Row> =
            self.rows.iter().copied().filter(|row| row.system == system && !row.best).collect();
        rows.sort_by_key(|row| (row.update_rate, row.control_rate, row.chain));
        rows
    }

    /// The same, of DySO only those with the length of chains that speaks for it.
    pub(crate) fn speaking(&self, system: SystemName) -> Vec<&'a Row> {
        let mut rows = self.given(system);
        rows.retain(|row| row.chain.is_none() || row.chain == self.chain);
        rows
    }

    /// Which of several lengths of chains speaks for DySO, as the end of a note; empty where there is but one.
    pub(crate) fn chain_note(&self) -> String {
        let chain = self.chain.filter(|_| self.options.chains.len() > 1);
        let chain = chain.filter(|_| !self.given(SystemName::Dyso).is_empty());
        let why = if self.chain == Some(USUAL_CHAIN) { "" } else { ", with which it misses least" };
        chain.map_or(String::new(), |chain| format!(" Of dyso's rows those of k = {chain} are shown{why}."))
    }

    /// The best configurations found of a system, in the order of its rates.
    pub(crate) fn best(&self, system: SystemName) -> Vec<&'a Row> {
        let mut rows: Vec<&Row> =
            self.rows.iter().copied().filter(|row| row.system == system && row.best).collect();
        rows.sort_by_key(|row| row.update_rate);
        rows
    }

    /// The classical prediction: an instantly updated table, LRU or LFU, whichever misses less.
    pub(crate) fn classical(&self) -> Option<&'a Row> {
        let ideals = [SystemName::IdealLfu, SystemName::IdealLru];
        ideals.into_iter().flat_map(|system| self.given(system)).min_by_key(|row| row.misses())
    }

    /// The offline optimum without a control loop.
    pub(crate) fn belady(&self) -> Option<&'a Row> {
        self.given(SystemName::Belady).first().copied()
    }

    /// The systems that have a control loop and do not know the future, in the order of the options.
    pub(crate) fn looped(&self) -> impl Iterator<Item = SystemName> + '_ {
        let is_there = |system: &SystemName| self.rows.iter().any(|row| row.system == *system);
        self.options.systems.iter().copied().filter(|system| system.properties().has_loop()).filter(is_there)
    }

    /// A system at its slowest and at its fastest rate; the same row if it has but one.
    pub(crate) fn extremes(&self, system: SystemName) -> Option<(&'a Row, &'a Row)> {
        let rows = self.speaking(system);
        Some((*rows.first()?, *rows.last()?))
    }

    /// A system at its fastest rate, as in [`extremes`](Self::extremes).
    pub(crate) fn fastest(&self, system: SystemName) -> Option<&'a Row> {
        self.extremes(system).map(|(_, fastest)| fastest)
    }

    /// The optimum's row at an update rate: lower and upper bound of its misses.
    pub(crate) fn optimal(&self, update_rate: u64) -> Option<(&'a Row, Option<u64>)> {
        let rows = self.given(SystemName::Optimal);
        let row = rows.into_iter().find(|row| row.update_rate == Some(update_rate))?;
        match row.outcome {
            Outcome::Bounds { upper, .. } => Some((row, upper)),
            Outcome::Run { .. } => None,
        }
    }
}

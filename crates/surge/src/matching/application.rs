//! Full matching as an application of the simulator.

use std::sync::Arc;

use trueplane_units::Nanos;

use super::costs::Costs;
use super::estimator::{Estimator, Ratio};
use super::table::Table;
use crate::application::Application;

/// Matches payloads against rules. A packet is the number of its payload in a [`Table`]; one that is not there costs
/// the base alone.
///
/// What it costs is what its trials take; what it is thought to cost is what [`Estimator`] has learnt. Of that, the
/// parts that are known without having learnt anything (the base, and what a byte costs) are added as they are.
#[derive(Clone, Debug)]
pub struct FullMatching {
    table: Arc<Table>,
    costs: Costs,
    estimator: Estimator,
}

impl FullMatching {
    /// One that has served nothing; `prior` is for rules that were never tried.
    pub fn new(table: Arc<Table>, costs: Costs, prior: Ratio) -> Self {
        let estimator = Estimator::new(table.rules(), prior);
        Self { table, costs, estimator }
    }

    /// Time that serving payload `index` takes.
    pub fn job(&self, index: u32) -> Nanos {
        let (bytes, steps) = self.table.entry(index).map_or((0, 0), |entry| (entry.bytes, entry.steps()));
        self.costs.job(bytes, steps)
    }

    /// The estimator with all that it has learnt.
    pub fn estimator(&self) -> &Estimator {
        &self.estimator
    }
}

impl Application for FullMatching {
    type Packet = u32;

    /// O(candidates).
    #[inline]
    fn estimate(&mut self, index: u32) -> Nanos {
        let Some(entry) = self.table.entry(index) else { return self.costs.base };
        self.costs.job(entry.bytes, self.estimator.steps(entry.candidates, entry.bytes))
    }

    /// O(trials).
    #[inline]
    fn serve(&mut self, index: u32) -> Nanos {
        if let Some(entry) = self.table.entry(index) {
            entry.trials.iter().for_each(|trial| self.estimator.learn(*trial, entry.bytes));
        }
        self.job(index)
    }

    /// A new estimate, by all that the estimator has learnt.
    fn again(&mut self, index: u32, _estimate: Nanos) -> Nanos {
        self.estimate(index)
    }
}

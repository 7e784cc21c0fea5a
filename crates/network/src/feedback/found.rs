//! The rows of `sched feedback`.

use trueplane_sched::choice::RankChoice;
use trueplane_sched::policy::{PushDown, SchedulerName};
use trueplane_study::metrics::ratio;
use trueplane_units::choices;

pub use super::port::Counts;

choices! {
    /// Variable of a list of variations.
    pub enum Variable {
        /// The way in which SP-PIFO pushes down.
        PushDown = "push-down",
        /// Flows that start per second.
        FlowStarts = "flow-starts",
        /// The distribution of ranks.
        Ranks = "ranks",
    }
}

/// Circumstances of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Variable that is other than at the base.
    pub varied: Option<Variable>,
    /// Distribution of the ranks.
    pub ranks: RankChoice,
    /// Way in which SP-PIFO pushes down.
    pub push_down: PushDown,
    /// Flows that start per second.
    pub flow_starts: u64,
}

impl Scenario {
    /// The value that is other than at the base, as people write it.
    pub fn value(&self) -> Option<String> {
        self.varied.map(|varied| match varied {
            Variable::PushDown => self.push_down.to_string(),
            Variable::FlowStarts => self.flow_starts.to_string(),
            Variable::Ranks => self.ranks.to_string(),
        })
    }
}

/// Everything that is found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Runs of all schedulers at the base, then those of each variation.
    pub runs: Vec<SchedulerRun>,
}

/// One scheduler in one scenario.
#[derive(Clone, Debug)]
pub struct SchedulerRun {
    /// Circumstances of the run.
    pub scenario: Scenario,
    /// Scheduler that was simulated.
    pub scheduler: SchedulerName,
    /// Flows that have completed.
    pub completed: u64,
    /// Flows that have not.
    pub unfinished: u64,
    /// Packets that wait at the end.
    pub waiting: u64,
    /// Bits that came, as a share of what the line could send.
    pub offered_load: f64,
    /// Counts by rank.
    pub by_rank: Vec<Counts>,
    /// Bits that the flows need if nothing is lost, as a share of what the line could send.
    pub nominal_load: f64,
    /// The open loop at the nominal load, which is known without a simulation.
    pub open: Option<Open>,
    /// The open loop at the load that came.
    pub open_at_offered: Option<Open>,
}

/// The same scheduler where packets come at random times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Open {
    /// Inversions / departures.
    pub inversion_share: f64,
    /// Drops / arrivals.
    pub drop_share: f64,
}

impl SchedulerRun {
    /// Counts of all ranks together.
    pub fn total(&self) -> Counts {
        self.by_rank.iter().copied().fold(Counts::default(), Counts::with)
    }

    /// Inversions / departures.
    pub fn share(&self) -> f64 {
        let total = self.total();
        ratio(total.inversions.into(), total.departures)
    }

    /// Drops / arrivals.
    pub fn drop_share(&self) -> f64 {
        let total = self.total();
        ratio(total.drops.into(), total.arrivals)
    }
}

impl Found {
    /// The runs at the base.
    pub fn base(&self) -> impl Iterator<Item = &SchedulerRun> {
        self.runs.iter().filter(|run| run.scenario.varied.is_none())
    }

    /// The run of a scheduler at the base.
    pub fn run(&self, scheduler: SchedulerName) -> Option<&SchedulerRun> {
        self.base().find(|run| run.scheduler == scheduler)
    }
}

//! The rows of `sched inversions`.

use trueplane_units::{BitsPerSec, Factor, Nanos, choices};

use crate::choice::{Arrivals, RankChoice};
use crate::policy::{PushDown, SchedulerName};
use crate::tally::RankRun;

/// Everything that is found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Circumstances at the base.
    pub base: Base,
    /// Facts of the trace, if there was one.
    pub trace: Option<TraceFacts>,
    /// Schedulers that were left out, and why.
    pub left_out: Vec<LeftOut>,
    /// Schedulers at the base.
    pub schedulers: Vec<SchedulerRun>,
    /// Variations of the base in one thing at a time.
    pub variations: Vec<Variation>,
}

/// Settings of the base, as far as they depend on the lists or the trace.
#[derive(Clone, Debug)]
pub struct Base {
    /// Source of the ranks.
    pub ranks: RankChoice,
    /// Number above all ranks, if that is known.
    pub span: Option<u64>,
    /// Packets that come.
    pub packets: u64,
    /// Rate of the line.
    pub rate: BitsPerSec,
    /// Load that was asked for, or that a trace makes on the line.
    pub load: f64,
    /// Load that arrived until the last arrival, as a share of what the line could have sent by then; none if that is no time at all, or no
    /// scheduler ran.
    pub offered_load: Option<f64>,
    /// Number of queues.
    pub queues: u64,
    /// Amount by which SP-PIFO lowers its bounds.
    pub push_down: PushDown,
    /// Rate at which a flow sends, if packets come in on-off flows.
    pub access_rate: Option<BitsPerSec>,
}

/// The trace of a study.
#[derive(Clone, Debug)]
pub struct TraceFacts {
    /// Name of the trace.
    pub name: String,
    /// Packets that were read.
    pub packets: u64,
    /// Time from the first packet to the last.
    pub span: Nanos,
    /// Packets whose length the trace does not tell, or tells as 0, though it tells lengths.
    pub packets_without_length: u64,
    /// Things in the trace that could not be read, with their counts.
    pub skipped: Vec<(String, u64)>,
}

/// Why a scheduler cannot work with ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Ranks have an end that nobody knows beforehand.
    SpanIsUnknown,
    /// Ranks have no end.
    RanksGrow,
    /// The best bounds take too much memory.
    Memory,
}

/// The rest of a sentence that begins with the scheduler's name.
impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Reason::SpanIsUnknown => {
                "needs ranks below a span that is known beforehand, and these are only known to have an end"
            }
            Reason::RanksGrow => "needs ranks below a known span, and these grow",
            Reason::Memory => "takes too much memory for so many queues and ranks",
        })
    }
}

/// A scheduler that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Scheduler that was left out.
    pub scheduler: SchedulerName,
    /// Ranks for which it was left out.
    pub ranks: Vec<RankChoice>,
    /// Reason that is the same for all these ranks.
    pub why: Reason,
}

impl LeftOut {
    /// The ranks with commas between them.
    pub fn ranks(&self) -> String {
        self.ranks.iter().map(RankChoice::to_string).collect::<Vec<_>>().join(", ")
    }
}

choices! {
    /// Variable of a list of variations.
    pub enum Variable {
        /// The number of queues.
        Queues = "queues",
        /// The way in which SP-PIFO pushes down.
        PushDown = "push-down",
        /// The load.
        Load = "load",
        /// The source of ranks.
        Ranks = "ranks",
    }
}

/// Variable that is other than at the base, with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Varied {
    /// The number of queues.
    Queues(u64),
    /// The way in which SP-PIFO pushes down.
    PushDown(PushDown),
    /// The load.
    Load(Factor),
    /// The source of ranks.
    Ranks(RankChoice),
}

impl Varied {
    /// Variable that is other than at the base.
    pub fn variable(self) -> Variable {
        match self {
            Varied::Queues(_) => Variable::Queues,
            Varied::PushDown(_) => Variable::PushDown,
            Varied::Load(_) => Variable::Load,
            Varied::Ranks(_) => Variable::Ranks,
        }
    }

    /// The value as people write it.
    pub fn value(self) -> String {
        match self {
            Varied::Queues(queues) => queues.to_string(),
            Varied::PushDown(push_down) => push_down.to_string(),
            Varied::Load(load) => load.to_string(),
            Varied::Ranks(ranks) => ranks.to_string(),
        }
    }
}

/// The schedulers with one thing other than at the base.
#[derive(Clone, Debug)]
pub struct Variation {
    /// Variable that is other than at the base, with its value.
    pub varied: Varied,
    /// Rate of the line.
    pub rate: BitsPerSec,
    /// Load that arrived until the last arrival, as a share of what the line could have sent by then, as in [`Base`].
    pub offered_load: Option<f64>,
    /// Schedulers that ran; only those that push down if nothing else changes.
    pub schedulers: Vec<SchedulerRun>,
}

/// One scheduler.
#[derive(Clone, Debug)]
pub struct SchedulerRun {
    /// Scheduler that was simulated.
    pub scheduler: SchedulerName,
    /// Packets that came: departures + drops.
    pub arrivals: u64,
    /// Packets that left.
    pub departures: u64,
    /// Packets that were dropped.
    pub drops: u64,
    /// Departures while a packet of lower rank waited (§4.2).
    pub inversions: u64,
    /// Inversions / departures.
    pub inversion_share: f64,
    /// Standard error of the share by batch means; none for fewer than 512 arrivals.
    pub inversion_share_error: Option<f64>,
    /// Inversions / departures as the classical model has them: the chance that of two packets, with ranks drawn as they come, the first
    /// has the larger rank and the scheduler does not tell them apart. It tells all ranks apart, none, or as many ranges of equally many
    /// ranks as there are queues. None if the ranks are not known beforehand, but for an exact order.
    pub classical_share: Option<f64>,
    /// Drops / arrivals.
    pub drop_share: f64,
    /// The weight of the inversions: the sum of rank of the leaving packet − smallest waiting rank.
    pub unpifoness: u128,
    /// Unpifoness / departures.
    pub unpifoness_mean: f64,
    /// Standard error of the mean unpifoness.
    pub unpifoness_mean_error: Option<f64>,
    /// Unpifoness that eq. 5 expects of two packets in a row under the bounds after each arrival, averaged over all arrivals; none without
    /// bounds or a known distribution.
    pub expected_unpifoness: Option<f64>,
    /// Standard error of the expected unpifoness.
    pub expected_unpifoness_error: Option<f64>,
    /// Mean time from arrival to the start of the transmission.
    pub mean_delay_ns: f64,
    /// Bounds at the end, if there are any and the span is known.
    pub bounds: Option<Vec<u64>>,
    /// By rank, neighbouring ranks put together if there are many; empty where ranks grow with time, and where only the load or the
    /// number of queues is other than at the base.
    pub by_rank: Vec<RankRun>,
}

/// Relative difference of the offered load from the load that was asked for above which it is told.
const FAR: f64 = 0.05;

impl Base {
    /// Offered load, if it differs from the load that was asked for. Of a trace with its own times nothing was asked.
    pub(super) fn came(&self, arrivals: Arrivals) -> Option<f64> {
        let is_far = |offered: &f64| (offered / self.load - 1.0).abs() > FAR;
        self.offered_load.filter(|offered| arrivals != Arrivals::Trace && is_far(offered))
    }
}

impl Found {
    /// The run of a scheduler at the base.
    pub fn run(&self, scheduler: SchedulerName) -> Option<&SchedulerRun> {
        find(&self.schedulers, scheduler)
    }

    /// The variations of one thing.
    pub fn varied(&self, variable: Variable) -> impl Iterator<Item = &Variation> {
        self.variations.iter().filter(move |variation| variation.varied.variable() == variable)
    }
}

/// The run of a scheduler among `runs`.
pub(super) fn find(runs: &[SchedulerRun], scheduler: SchedulerName) -> Option<&SchedulerRun> {
    runs.iter().find(|run| run.scheduler == scheduler)
}

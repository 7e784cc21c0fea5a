//! The document of `sched inversions`.

use serde::Serialize;

use crate::policy::Adaptation;
use crate::policy::SchedulerName;
use crate::tally::RankRun;

/// The result of `sched inversions`; serialised, it is what `--json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Inversions {
    /// `sched.inversions`.
    pub study: &'static str,
    /// The version of trueplane.
    pub version: &'static str,
    /// What was simulated at the base.
    pub parameters: Parameters,
    /// The trace, if there was one.
    pub trace: Option<TraceFacts>,
    /// The schedulers that were left out, and why.
    pub left_out: Vec<LeftOut>,
    /// The schedulers at the base.
    pub schedulers: Vec<SchedulerRun>,
    /// What was varied, one thing at a time.
    pub variations: Vec<Variation>,
    /// What was found, in plain sentences.
    pub verdict: Vec<String>,
}

/// What was simulated at the base.
#[derive(Clone, Debug, Serialize)]
pub struct Parameters {
    /// Where ranks come from.
    pub ranks: String,
    /// All ranks are below this, if that is known.
    pub span: Option<u64>,
    /// When packets come.
    pub arrivals: &'static str,
    /// How many come.
    pub packets: u64,
    /// Their length, if they have none of their own.
    pub packet_bytes: u32,
    /// Bytes of every flow that AFQ sends in a round.
    pub bytes_per_round: u32,
    /// How fast the line sends.
    pub rate_bps: u64,
    /// What comes, as a share of that: what was asked for, or what a trace makes of the line.
    pub load: f64,
    /// What came until the last arrival, as a share of what the line could have sent by then; none if that is no time at all, or no
    /// scheduler ran.
    pub offered_load: Option<f64>,
    /// Number of queues.
    pub queues: u64,
    /// Packets that a queue holds.
    pub depth_packets: u64,
    /// How SP-PIFO pushes down.
    pub push_down: &'static str,
    /// Packets after which the gradient adapts, and over which AIFO and PACKS take their quantiles.
    pub window_packets: usize,
    /// How far the gradient goes after a window.
    pub adaptation: &'static str,
    /// Flows of a Poisson process, if packets come as one.
    pub flows: Option<u32>,
    /// The size of an on-off flow, if packets come in those.
    pub flow_size_bytes: Option<u64>,
    /// What such a flow sends.
    pub access_bps: Option<u64>,
    /// How much a packet may wait in time, at most, where ranks come from a policy.
    pub slack_ns: Option<u64>,
    /// Where draws began.
    pub seed: u64,
}

/// The trace of a study.
#[derive(Clone, Debug, Serialize)]
pub struct TraceFacts {
    /// Its name.
    pub name: String,
    /// The packets that were read.
    pub packets: u64,
    /// From the first to the last.
    pub span_ns: u64,
    /// Packets whose length the trace does not tell, or tells as 0, though it tells lengths: they have `packet_bytes`.
    pub packets_without_length: u64,
    /// What of it could not be read, and how often.
    pub skipped: Vec<(String, u64)>,
}

/// A scheduler that was left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Scheduler that was left out.
    pub scheduler: &'static str,
    /// Ranks for which it was left out, with commas between.
    pub ranks: String,
    /// The reason, as the rest of a sentence that begins with its name.
    pub why: &'static str,
}

/// The schedulers with one thing other than at the base.
#[derive(Clone, Debug, Serialize)]
pub struct Variation {
    /// `queues`, `push-down`, `load` or `ranks`.
    pub varied: &'static str,
    /// What it is here.
    pub value: String,
    /// How fast the line sends.
    pub rate_bps: u64,
    /// What came until the last arrival, as a share of what the line could have sent by then, as in [`Parameters`].
    pub offered_load: Option<f64>,
    /// The schedulers; only those of SP-PIFO if nothing else changes.
    pub schedulers: Vec<SchedulerRun>,
}

/// One scheduler.
#[derive(Clone, Debug, Serialize)]
pub struct SchedulerRun {
    /// Scheduler that was simulated.
    pub scheduler: &'static str,
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
    /// Its standard error by batch means; none for fewer than 512 arrivals.
    pub inversion_share_error: Option<f64>,
    /// Drops / arrivals.
    pub drop_share: f64,
    /// The weight of the inversions: the sum of rank of the leaving packet − smallest waiting rank.
    pub unpifoness: u128,
    /// The same per departure.
    pub unpifoness_mean: f64,
    /// Its standard error.
    pub unpifoness_mean_error: Option<f64>,
    /// What eq. 5 expects of two packets in a row under the bounds after each arrival, averaged over all arrivals; none without bounds
    /// or a known distribution.
    pub expected_unpifoness: Option<f64>,
    /// Its standard error.
    pub expected_unpifoness_error: Option<f64>,
    /// Mean time from arrival to the start of the transmission.
    pub mean_delay_ns: f64,
    /// The bounds at the end, if there are any and the span is known.
    pub bounds: Option<Vec<u64>>,
    /// By rank, neighbouring ranks put together if there are many; empty where ranks grow with time, and where only the load or the
    /// number of queues is other than at the base.
    pub by_rank: Vec<RankRun>,
}

impl Inversions {
    /// The run of a scheduler at the base.
    pub fn run(&self, scheduler: SchedulerName) -> Option<&SchedulerRun> {
        find(&self.schedulers, scheduler)
    }

    /// The variations of one thing.
    pub fn varied<'a>(&'a self, varied: &'a str) -> impl Iterator<Item = &'a Variation> {
        self.variations.iter().filter(move |variation| variation.varied == varied)
    }
}

/// The run of a scheduler among `runs`.
pub(crate) fn find(runs: &[SchedulerRun], scheduler: SchedulerName) -> Option<&SchedulerRun> {
    runs.iter().find(|run| run.scheduler == scheduler.name())
}

/// Every way in which the gradient adapts, with the name that flags and reports use.
/// What [`Adaptation::Authors`] does is a scheduler of its own, [`SchedulerName::GradientAuthors`].
pub const ADAPTATIONS: [(&str, Adaptation); 2] =
    [("one-step", Adaptation::OneStep), ("converge", Adaptation::Converge)];

pub(super) fn adaptation_name(adaptation: Adaptation) -> &'static str {
    ADAPTATIONS.iter().find(|(_, known)| *known == adaptation).map_or("", |(name, _)| name)
}

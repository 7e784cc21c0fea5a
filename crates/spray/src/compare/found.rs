//! The rows of `spray compare`.

use crate::dispatch::{DispatchName, PolicyName};
use crate::nf::FunctionName;
use crate::silence::Silences;
use crate::system::SystemName;

/// Mean and extremes over runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spread {
    /// The mean of all runs.
    pub mean: f64,
    /// The smallest of all runs.
    pub min: f64,
    /// The largest of all runs.
    pub max: f64,
}

impl Spread {
    /// Mean, minimum and maximum of one value per run.
    pub(super) fn of(values: &[f64]) -> Self {
        Self {
            mean: values.iter().sum::<f64>() / values.len().max(1) as f64,
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

/// A comparison: the same function on the same machine with the same flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// Function that handles the packets.
    pub function: FunctionName,
    /// Number of cores.
    pub cores: usize,
    /// Flows at a time; of a capture, all that it has.
    pub flows: u64,
    /// Cycles of work for each packet.
    pub cycles: u64,
}

/// One system in one case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Case in which the system ran.
    pub case: Case,
    /// System that was simulated.
    pub system: SystemName,
    /// Packets a second that get through.
    pub rate: Spread,
    /// Packets a second that one core gets through, times the cores, but no more than are offered.
    pub classical: f64,
    /// Packets a second that are to be expected of hashing: as many cores' rates as have any flow. Flows that do not end, one direction each.
    pub hashed: Option<f64>,
    /// Share of packets that overtook others of their flow, at the processing rate.
    pub reordered: Spread,
    /// Share of packets that come right after three later ones, at the processing rate.
    pub late: Spread,
    /// Jain's index over flows' shares of what they offered, at the processing rate.
    pub jain: Spread,
    /// Packets a second that were offered to measure latency.
    pub load: f64,
    /// 99th percentile of latency at that load, in nanoseconds.
    pub p99: Spread,
    /// Latency at that load that half of all packets exceed, in nanoseconds.
    pub median: Spread,
    /// Share of packets that overtook others, at that load.
    pub reordered_at_load: Spread,
    /// Share of packets that came right after three later ones, at that load.
    pub late_at_load: Spread,
    /// Share of handled packets that were handed over, at the processing rate.
    pub handed: f64,
    /// Share of handled packets that were dropped with a verdict, at the processing rate.
    pub dropped: f64,
    /// Share of sent packets that the link lost, at the processing rate. `None` without a link. None of them is among those dropped.
    pub lost: Option<f64>,
    /// Share of sent packets that the link duplicated, at the processing rate. `None` without a link.
    pub duplicated: Option<f64>,
}

/// Everything that was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Silences of the capture that were shortened.
    pub silences: Silences,
    /// Packets of the capture that could not be read, by kind, with their numbers.
    pub skipped: Vec<(String, u64)>,
    /// Every system by function, cores, flows and cycles, each in the order of the options.
    pub rows: Vec<Row>,
}

impl Found {
    /// The rows of each case.
    pub(super) fn cases(&self) -> Vec<&[Row]> {
        self.rows.chunk_by(|a, b| a.case == b.case).collect()
    }

    /// The row of hashing that is farthest below the classical rate.
    pub(super) fn worst_hashing(&self) -> Option<&Row> {
        let hashing = self.rows.iter().filter(|row| row.system == HASHING);
        hashing.min_by(|a, b| (a.rate.mean / a.classical).total_cmp(&(b.rate.mean / b.classical)))
    }
}

/// Hashing, with which others are compared.
pub(super) const HASHING: SystemName = SystemName::Dispatch(DispatchName::of(PolicyName::Rss));

impl Case {
    /// The case as sentences name it, without its function.
    pub(super) fn in_words(&self) -> String {
        let flows = if self.flows == 1 { "1 flow".to_owned() } else { format!("{} flows", self.flows) };
        format!("{flows}, {} cycles and {} cores", self.cycles, self.cores)
    }
}

//! The verdict of `spray experiment`.

use trueplane_spray::dispatch::{DispatchName, PolicyName};

use super::found::{Point, median};
use super::options::ExperimentName;

/// Sentences about the gain of a single flow by spraying, for each number of cycles.
pub(super) fn verdict(points: &[Point]) -> Vec<String> {
    let of = |dispatch, cycles| {
        let chosen = |point: &&Point| {
            point.experiment == ExperimentName::Cycles && point.dispatch == dispatch && point.cycles == cycles
        };
        median(&points.iter().filter(chosen).map(|point| point.goodput.0 as f64).collect::<Vec<_>>())
    };
    let mut cycles: Vec<u64> = points.iter().map(|point| point.cycles).collect();
    cycles.sort_unstable();
    cycles.dedup();
    let gain = |cycles: u64| {
        let (hashed, sprayed) = (
            of(DispatchName::of(PolicyName::Rss), cycles)?,
            of(DispatchName::of(PolicyName::Spray), cycles)?,
        );
        Some(format!(
            "At {cycles} cycles a packet, one flow gets {:.2} times as much sprayed as hashed.",
            sprayed / hashed
        ))
    };
    cycles.into_iter().filter_map(gain).collect()
}

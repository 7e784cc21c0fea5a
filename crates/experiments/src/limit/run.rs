//! Runs the experiments for which the machine has everything.

use std::time::Duration;

use trueplane_linux::testnet;
use trueplane_study::{Error, Observer};

use super::found::{Found, Results};
use super::options::{ExperimentName, Options};
use super::{isolation, latency, marking, occupancy, precision};
use crate::conduct::{self, LeftOut, alone};

/// Runs all that were asked for. Those that the machine lacks something for are left out, unless it lacks something for each.
pub(super) fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
    let (mut able, mut left_out) = (Vec::new(), Vec::new());
    for &experiment in &*options.experiments {
        match testnet::check(experiment.requirements()) {
            Ok(()) => able.push(experiment),
            Err(reason) => left_out.push(LeftOut { what: experiment.to_string(), reason }),
        }
    }
    if let ([], [LeftOut { reason, .. }, ..]) = (&able[..], &left_out[..]) {
        return Err(Error::Unfinished(format!("limit experiment: {reason}")));
    }
    let duration = Duration::from_nanos(options.duration.0);
    let results = alone(observer, || {
        able.into_iter().map(|experiment| run_one(experiment, duration, observer)).collect()
    })?;
    Ok(Found { results, left_out })
}

/// Runs one: each measurement takes `duration`, or some times as long where a figure is of time.
fn run_one(
    experiment: ExperimentName,
    duration: Duration,
    observer: &dyn Observer,
) -> Result<Results, conduct::Error> {
    Ok(match experiment {
        ExperimentName::Precision => {
            Results::Precision(precision::run(&precision::Settings::new(duration), observer)?)
        }
        ExperimentName::Isolation => {
            Results::Isolation(isolation::run(&isolation::Settings::new(duration), observer)?)
        }
        ExperimentName::Latency => {
            Results::Latency(Box::new(latency::run(&latency::Settings::new(duration), observer)?))
        }
        ExperimentName::Occupancy => {
            Results::Occupancy(occupancy::run(&occupancy::Settings::new(duration), observer)?)
        }
        ExperimentName::Marking => {
            Results::Marking(marking::run(&marking::Settings::new(duration), observer)?)
        }
    })
}

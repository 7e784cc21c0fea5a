//! The experiments with real connections: that each has a measurement of every variant, and what has to be so on any machine.

use trueplane_experiments::spray::{Experiment, ExperimentName, Options, Point};
use trueplane_linux::testnet;
use trueplane_spray::dispatch::{DispatchName, PolicyName};
use trueplane_study::{Study as _, study};
use trueplane_units::Parameters as _;

use super::{check, in_some_try};

#[test]
fn a_flow_that_is_sprayed_works_on_both_cores() {
    if testnet::start(&ExperimentName::REQUIREMENTS, || Ok(())).is_none() {
        return;
    }
    let given = [("policies", "rss,spray"), ("cycles", "0,10000"), ("rounds", "1"), ("seconds", "1")];
    let options = Options::given(&given).unwrap();
    in_some_try(|| {
        let points = Experiment::run(&options, &()).unwrap_or_else(|error| panic!("{error}"));
        points.iter().try_for_each(is_plausible)?;
        let of = |experiment| points.iter().filter(move |point| point.experiment == experiment).count();
        let counts = [ExperimentName::Cycles, ExperimentName::Flows, ExperimentName::Latency].map(of);
        assert_eq!(counts, [4, 10, 4]);
        let report = study::report::<Experiment>(&options, &points);
        assert_eq!((report.tables[0].rows.len(), report.plots.len()), (18, 3));
        assert_eq!(report.document["tables"]["cores"].as_array().map(Vec::len), Some(36));
        Ok(())
    });
}

fn is_plausible(point: &Point) -> Result<(), String> {
    eprintln!("{point:?}");
    let told = || format!("{point:?}");
    check((point.goodput.0 > 0) == (point.flows > 0), told)?;
    check(point.rtt_p99.is_some() == (point.experiment == ExperimentName::Latency), told)?;
    check(point.jain > 0.0 && point.jain < 1.000_001, told)?;
    // A core that has most of a flow's work, against one that has acknowledgements and connection packets at most.
    let (least, most) = (point.busy[0].min(point.busy[1]), point.busy[0].max(point.busy[1]));
    let is_sprayed = point.experiment == ExperimentName::Cycles
        && point.cycles > 0
        && point.dispatch == DispatchName::of(PolicyName::Spray);
    check(!is_sprayed || least * 4.0 > most, told)
}

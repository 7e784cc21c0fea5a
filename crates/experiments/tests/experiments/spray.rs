//! The experiments with real connections: that each has a measurement of every variant, and what has to be so on any machine.

use trueplane_experiments::spray::{Experiment, ExperimentName, Options};
use trueplane_linux::testnet;
use trueplane_spray::dispatch::{DispatchName, PolicyName};
use trueplane_study::{Study as _, study};
use trueplane_units::Parameters as _;

#[test]
fn a_flow_that_is_sprayed_works_on_both_cores() {
    if testnet::start(&ExperimentName::REQUIREMENTS, || Ok(())).is_none() {
        return;
    }
    let given = [("policies", "rss,spray"), ("cycles", "0,10000"), ("rounds", "1"), ("seconds", "1")];
    let options = Options::given(&given).unwrap();
    let points = Experiment::run(&options, &()).unwrap_or_else(|error| panic!("{error}"));
    let of = |experiment| points.iter().filter(move |point| point.experiment == experiment).count();
    let counts = [ExperimentName::Cycles, ExperimentName::Flows, ExperimentName::Latency].map(of);
    assert_eq!(counts, [4, 10, 4]);
    for point in &points {
        eprintln!("{point:?}");
        assert_eq!(point.goodput.0 > 0, point.flows > 0, "{point:?}");
        assert_eq!(point.rtt_p99.is_some(), point.experiment == ExperimentName::Latency, "{point:?}");
        assert!(point.jain > 0.0 && point.jain < 1.000_001, "{point:?}");
        // A core that has most of a flow's work, against one that has acknowledgements and connection packets at most.
        let (least, most) = (point.busy[0].min(point.busy[1]), point.busy[0].max(point.busy[1]));
        if point.experiment == ExperimentName::Cycles
            && point.cycles > 0
            && point.dispatch == DispatchName::of(PolicyName::Spray)
        {
            assert!(least * 4.0 > most, "{point:?}");
        }
    }
    let report = study::report::<Experiment>(&options, &points);
    assert_eq!((report.tables[0].rows.len(), report.plots.len()), (18, 3));
    assert_eq!(report.document["tables"]["cores"].as_array().map(Vec::len), Some(36));
}

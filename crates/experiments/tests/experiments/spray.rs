//! The experiments with real connections: that each has a measurement of every variant, and what has to be so on any machine.

use trueplane_experiments::spray::{Experiment, Settings, conduct, report};
use trueplane_linux::testnet;
use trueplane_spray::dispatch::{DispatchName, PolicyName};
use trueplane_spray::live::io::IoBackend;

#[test]
fn a_flow_that_is_sprayed_works_on_both_cores() {
    let _alone = testnet::alone();
    if testnet::start(&Experiment::REQUIREMENTS, || Ok(())).is_none() {
        return;
    }
    let settings = Settings {
        dispatches: vec![DispatchName::of(PolicyName::Rss), DispatchName::of(PolicyName::Spray)],
        cycles: vec![0, 10_000],
        flows: vec![1, 3],
        rounds: 1,
        seconds: 1,
        cores: 2,
        backend: IoBackend::Packet,
        realtime: false,
    };
    let mut all = Vec::new();
    for &experiment in Experiment::ALL {
        let points = conduct(experiment, &settings, &()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(points.len(), 4);
        for point in &points {
            eprintln!("{point:?}");
            assert_eq!(point.goodput.0 > 0, point.flows > 0, "{point:?}");
            assert_eq!(point.rtt_p99.is_some(), experiment == Experiment::Latency, "{point:?}");
            assert!(point.jain > 0.0 && point.jain < 1.000_001, "{point:?}");
            // A core that has most of a flow's work, against one that has acknowledgements and connection packets at most.
            let (least, most) = (point.busy[0].min(point.busy[1]), point.busy[0].max(point.busy[1]));
            if experiment == Experiment::Cycles
                && point.cycles > 0
                && point.dispatch == DispatchName::of(PolicyName::Spray)
            {
                assert!(least * 4.0 > most, "{point:?}");
            }
        }
        all.extend(points);
    }
    let report = report(&all, &settings, &[]);
    assert_eq!((report.tables[0].rows.len(), report.plots.len()), (12, 3));
    assert_eq!(report.document["tables"]["cores"].as_array().map(Vec::len), Some(24));
}

//! How exactly rates are enforced: the shapes of the figures of Nimble.

use trueplane_limit::drain::Drain;
use trueplane_limit::policy::PolicyName;
use trueplane_limit::precision::{Options, Point, Precision};
use trueplane_limit::source::Pace;
use trueplane_study::Study;
use trueplane_units::Parameters;

const GIGABITS: &str = "10Gbps,20Gbps,40Gbps,60Gbps,80Gbps";

/// UDP through Nimble for 4 ms, but for these parameters.
fn given(pairs: &[(&str, &str)]) -> Options {
    let base = [
        ("rate", GIGABITS),
        ("source", "cbr"),
        ("drain", "exact"),
        ("policies", "nimble"),
        ("duration", "4ms"),
    ];
    Options::given(&[&base, pairs].concat()).unwrap()
}

fn measured(pairs: &[(&str, &str)]) -> Vec<Point> {
    Precision::run(&given(pairs), &()).unwrap()
}

fn largest<'a>(points: impl IntoIterator<Item = &'a Point>) -> f64 {
    points.into_iter().map(|point| point.error().abs()).fold(0.0, f64::max)
}

/// The paper's figure 11: UDP at 10 to 80 Gbps is within 0.5%.
#[test]
fn udp_is_held_to_its_rate() {
    let found = measured(&[]);
    assert_eq!(found.len(), 5);
    assert!(largest(&found) < 0.005, "{found:?}");
    for point in &found {
        assert!((point.offered_bps() / point.configured.0 as f64 - 2.0).abs() < 0.01, "{point:?}");
        assert!(point.counts.dropped_packets * 3 > point.counts.arrived_packets, "{point:?}");
    }
}

/// The paper's figure 12: the error is bounded by that of the table, and a coarser table errs more.
#[test]
fn a_table_errs_no_more_than_it_was_made_for() {
    let found = measured(&[
        ("drain", "1%,6%,12%,50%"),
        ("source", "cbr,poisson"),
        ("rate", "1Gbps,10Gbps,20Gbps,40Gbps,60Gbps,80Gbps,100Gbps"),
        ("duration", "20ms"),
    ]);
    let bounds = [0.01, 0.06, 0.12, 0.5];
    let errors = bounds.map(|bound| largest(found.iter().filter(|point| point.drain.error_max() == bound)));
    for (bound, error) in bounds.into_iter().zip(errors) {
        // A packet at either end, and 1/64 byte rounded off at every packet.
        assert!(error <= bound + 0.001, "{bound}: {error}");
    }
    assert!(errors.windows(2).all(|pair| pair[0] < pair[1]), "{errors:?}");
    assert!(errors[3] > 0.05, "a table of 50% is seen to err: {errors:?}");
}

/// Figure 13, and everything else that can be combined: all limiters, all sources.
#[test]
fn every_limiter_holds_every_source_to_its_rate() {
    let found = measured(&[("policies", "all"), ("source", "all"), ("duration", "20ms")]);
    assert_eq!(found.len(), 5 * 3 * 5);
    for point in &found {
        assert!(point.error().abs() < 0.01, "{point:?}");
        let counts = &point.counts;
        assert_eq!(
            counts.arrived_packets,
            counts.passed_packets + counts.marked_packets + counts.dropped_packets
        );
        match point.policy {
            PolicyName::Nimble | PolicyName::TrTcm => assert!(counts.marked_packets > 0, "{point:?}"),
            PolicyName::TokenBucket | PolicyName::Gcra => {
                assert_eq!(counts.marked_packets, 0, "{point:?}");
            }
            // Its excess bucket fills only while the source is silent.
            PolicyName::SrTcm => {
                assert_eq!(counts.marked_packets > 0, point.source == Pace::Bursty, "{point:?}");
            }
        }
    }
}

#[test]
fn whoever_sends_less_than_the_limit_gets_all_of_it() {
    let options = given(&[("load", "0.5"), ("policies", "all")]);
    let found = Precision::run(&options, &()).unwrap();
    for point in &found {
        assert_eq!((point.counts.dropped_packets, point.counts.arrived_packets > 0), (0, true), "{point:?}");
    }
    let verdict = Precision::verdict(&options, &found);
    assert!(verdict[0].contains("nothing to do"), "{verdict:?}");
}

/// What is asked for twice is measured once, and only Nimble has tables.
#[test]
fn cases_are_not_repeated() {
    let found = measured(&[("rate", "1Gbps,1Gbps"), ("drain", "6%,exact,6%"), ("policies", "gcra,nimble")]);
    let cases: Vec<(PolicyName, Drain)> = found.iter().map(|point| (point.policy, point.drain)).collect();
    let (gcra, nimble) = (PolicyName::Gcra, PolicyName::Nimble);
    assert_eq!(cases, [(gcra, Drain::Exact), (nimble, Drain::Table(60_000)), (nimble, Drain::Exact)]);
}

#[test]
fn impossible_parameters_are_refused() {
    let refused = |pairs: &[(&str, &str)]| {
        let base = [("rate", "1Gbps"), ("packet_size", "1500"), ("source", "cbr"), ("policies", "nimble")];
        let options = Options::given(&[&base, pairs].concat()).unwrap();
        Precision::run(&options, &()).unwrap_err().to_string()
    };
    let said = refused(&[("burst", "1499B")]);
    assert_eq!(said, "--burst 1499B is less than a packet of 1500 bytes, which would never pass");
    let said = refused(&[("rate", "1Tbps")]);
    assert_eq!(said, "expected a rate from 1kbps to 400Gbps, got 1Tbps");
    // What differs by one bit per second is not printed the same.
    let said = refused(&[("rate", "400000000001bps")]);
    assert_eq!(said, "expected a rate from 1kbps to 400Gbps, got 400.000000001Gbps");
    let said = refused(&[("duration", "18446744073709551615ns")]);
    assert!(said.contains("packets; at most"), "{said}");
    // Hardly more than the rate: the bucket takes too long to fill.
    let said = refused(&[("load", "1.000001"), ("burst", "64000000B"), ("packet_size", "1..3")]);
    assert_eq!(
        said,
        "it takes 6.4e13 packets at 1Gbps until a load of 1.000001 has filled --burst 64MB; \
         at most 2e10 are simulated: raise --load or lower --burst"
    );
    // 64 MB at 1 kbit/s and a surplus of 0.001 bit/s: longer than a clock of nanoseconds can tell.
    let said =
        refused(&[("load", "1.000001"), ("burst", "64000000B"), ("rate", "1kbps"), ("packet_size", "65535")]);
    assert_eq!(
        said,
        "it takes 11851852d at 1kbps until a load of 1.000001 has filled --burst 64MB; \
         at most 106752d are simulated: raise --load or lower --burst"
    );
}

/// A bucket of 150 kB at 1 Mbit/s takes 120 s to fill by a surplus of 1%, and up to there everything passes.
#[test]
fn a_small_surplus_is_measured_once_the_bucket_is_full() {
    for load in ["1.01", "1.002", "1.049999"] {
        let found = measured(&[
            ("rate", "1Mbps"),
            ("packet_size", "1500"),
            ("policies", "nimble,token-bucket"),
            ("load", load),
            ("duration", "100s"),
        ]);
        for point in &found {
            assert!(point.counts.dropped_packets > 0, "{load}: {point:?}");
            // A packet at either end, and what the word of a rate rounds.
            assert!(point.error().abs() < 0.0005, "{load}: {point:?}");
        }
    }
}

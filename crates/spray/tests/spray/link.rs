//! `spray compare` behind a link with faults.

use trueplane_spray::compare::{Compare, Found, Options, Row};
use trueplane_study::{Study, study};
use trueplane_units::Parameters;

const SMALL: [(&str, &str); 5] =
    [("policies", "rss,spray"), ("flows", "16"), ("cycles", "1000"), ("runs", "2"), ("packets", "20K")];

fn options(more: &[(&str, &str)]) -> Options {
    Options::given(&[&SMALL[..], more].concat()).expect("they are options")
}

fn ran(more: &[(&str, &str)]) -> Found {
    Compare::run(&options(more), &()).expect("nothing is wrong")
}

fn refused(more: &[(&str, &str)]) -> String {
    Compare::run(&options(more), &()).expect_err("it is refused").to_string()
}

#[test]
fn losses_on_the_link_are_no_drops() {
    let (without, with) = (ran(&[]), ran(&[("loss", "20%")]));
    for (without, with) in without.rows.iter().zip(&with.rows) {
        assert_eq!((without.lost, without.duplicated, with.duplicated), (None, None, Some(0.0)));
        // 40,000 packets: six standard deviations.
        assert!((with.lost.unwrap() - 0.2).abs() < 0.012, "{:?}", with.lost);
        assert_eq!((without.dropped, with.dropped), (0.0, 0.0));
        // As many cores' rates at most, or what comes.
        assert!(with.classical <= 0.8 * Options::default().traffic.rate.packets() as f64 + 1.0);
        assert!(with.rate.mean < 1.02 * with.classical);
    }
}

#[test]
fn latencies_are_measured_at_the_load_that_comes() {
    // Half of what is sent is lost, and of the rest nine in ten come twice: the machine has the load that was asked for all the same.
    let with = ran(&[("loss", "50%"), ("duplicate", "90%"), ("cycles", "5000")]);
    for Row { load, rate, p99, .. } in &with.rows {
        assert!(*load < 0.71 * rate.mean && p99.mean > 0.0);
    }
}

#[test]
fn disorder_on_the_link_reaches_what_keeps_flows_in_order() {
    let reordered = |more: &[(&str, &str)]| ran(more).rows[0].reordered.mean;
    assert_eq!(reordered(&[]), 0.0);
    assert_eq!(reordered(&[("delay", "10us")]), 0.0);
    assert!(reordered(&[("delay", "10us"), ("reorder", "5%")]) > 0.0);
    assert!(reordered(&[("jitter", "10us")]) > 0.1);
}

#[test]
fn a_page_says_what_the_link_does() {
    let texts = |more: &[(&str, &str)]| {
        let report = study::report::<Compare>(&options(more), &ran(more));
        let columns = report.tables.iter().flat_map(|table| &table.columns);
        let on_link = columns.filter(|column| column.name.starts_with("link_")).count();
        (report.warnings.len(), on_link)
    };
    assert_eq!((texts(&[]), texts(&[("duplicate", "1%")])), ((0, 0), (1, 2)));
}

#[test]
fn links_that_make_no_sense_are_refused() {
    for (given, problem) in [
        (&[("reorder", "1%")][..], "--reorder is for links that take time"),
        (&[("jitter", "1s"), ("packets", "10M")], "expected at most 1048576 packets on the link at a time"),
        (&[("delay", "2h")], "expected runs of 3600 s"),
    ] {
        let error = refused(given);
        assert!(error.contains(problem) && !error.contains('\n'), "{error}");
    }
}

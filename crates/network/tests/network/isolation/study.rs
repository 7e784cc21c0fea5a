//! The study, run as a whole.

use trueplane_network::Nanos;
use trueplane_network::isolation::found::{Found, Run};
use trueplane_network::isolation::{Isolation, Options, PolicyName, TransportName};
use trueplane_study::{Error, Study};
use trueplane_units::Parameters as _;

fn run(given: &[(&str, &str)]) -> Result<Found, Error> {
    Isolation::run(&Options::given(given).map_err(Error::Parameters)?, &())
}

fn refusal(given: &[(&str, &str)]) -> String {
    match Options::given(given) {
        Ok(options) => Isolation::run(&options, &()).expect_err("it is refused").to_string(),
        Err(message) => message,
    }
}

/// The scenario of figure 16 at its rates, in milliseconds instead of seconds.
const SHORT: [(&str, &str); 3] = [("duration", "24ms"), ("stagger", "4ms"), ("transport", "dctcp")];

fn short(more: &[(&str, &str)]) -> Found {
    let given: Vec<(&str, &str)> = SHORT.iter().chain(more).copied().collect();
    run(&given).unwrap()
}

fn of(found: &Found, policy: PolicyName) -> &Run {
    found.run(TransportName::Dctcp, policy).unwrap()
}

/// The books of tenants balance, and agree with those of the network, in which nothing but the shared link drops.
fn check_books(run: &Run) {
    assert_eq!(run.sent, run.delivered + run.drops + run.in_network);
    let mut drops = run.probe_counts.dropped;
    for tenant in &run.tenants {
        let all = tenant.all;
        assert!(all.offered >= all.sent + all.dropped && all.offered >= all.marked, "{all:?}");
        assert!(all.offered - all.sent - all.dropped <= run.in_network);
        let counts = tenant.counts;
        assert!(
            counts.offered <= all.offered && counts.dropped <= all.dropped && counts.marked <= all.marked
        );
        drops += all.dropped;
    }
    assert_eq!(drops, run.drops, "{} with {}", run.policy, run.transport);
}

#[test]
fn tcp_shares_between_flows_and_limits_share_between_tenants() {
    let found = short(&[("policies", "fifo,nimble,drr")]);
    found.runs.iter().for_each(check_books);
    let ratio = |policy| {
        let tenants = &of(&found, policy).tenants;
        tenants[1].rate_bps / tenants[0].rate_bps
    };
    // Ten times as many flows.
    assert!((6.0..14.0).contains(&ratio(PolicyName::Fifo)), "{}", ratio(PolicyName::Fifo));
    for policy in [PolicyName::Nimble, PolicyName::Drr] {
        let error = of(&found, policy).worst_error().abs();
        assert!(error < 0.05, "{policy}: {error}");
    }
    // In any time a bucket lets through no more than its burst beside its rate, and so does the queue behind it.
    let time = found.measured.length().0 as f64 / 1e9;
    for tenant in &of(&found, PolicyName::Nimble).tenants {
        let most = tenant.tenant.limit.0 as f64 + 2e6 * 8.0 / time;
        assert!(tenant.rate_bps <= most && tenant.goodput_bps > 0.8 * tenant.tenant.limit.0 as f64);
    }
}

#[test]
fn only_queues_let_tenants_borrow() {
    let found = short(&[("policies", "nimble,drr,fifo")]);
    let alone = |policy| of(&found, policy).alone_bps.unwrap();
    assert!(alone(PolicyName::Nimble) < 47.6e9);
    assert!(alone(PolicyName::Drr) > 90e9 && alone(PolicyName::Fifo) > 90e9);
}

/// Figure 14: marks keep the logical queue short. Figure 17: packets of others are fast beside tenants that are limited.
#[test]
fn marks_keep_buckets_low_and_limits_keep_probes_fast() {
    let found = short(&[("policies", "fifo,nimble,nimble-drops"), ("mark", "20kB")]);
    let [marks, drops] = [PolicyName::Nimble, PolicyName::NimbleDrops].map(|policy| of(&found, policy));
    for (with, without) in marks.tenants.iter().zip(&drops.tenants) {
        assert!(with.backlog.mean() < 0.5 * without.backlog.mean());
        assert!(with.drop_share() <= without.drop_share() && with.counts.marked > 0);
    }
    assert!(drops.drop_share() > 0.0);
    let found = short(&[("policies", "fifo,nimble"), ("transport", "cubic")]);
    let p99 = |policy| found.run(TransportName::Cubic, policy).unwrap().probe_p99().unwrap();
    assert!(p99(PolicyName::Nimble) < p99(PolicyName::Fifo));
    // Senders find their window although one recovery follows another: were the window raised by losses, most packets would be dropped.
    let drops = found.run(TransportName::Cubic, PolicyName::Nimble).unwrap().drop_share();
    assert!(drops < 0.15, "{drops}");
}

#[test]
fn limits_of_different_sizes_are_kept() {
    let found = short(&[
        ("policies", "nimble,drr,token-bucket,gcra,srtcm,trtcm"),
        ("flows", "20,20"),
        ("limit", "60Gbps,30Gbps"),
        ("stagger", "0ns"),
    ]);
    found.runs.iter().for_each(check_books);
    for policy in [PolicyName::Nimble, PolicyName::Drr] {
        let tenants = &of(&found, policy).tenants;
        let ratio = tenants[0].rate_bps / tenants[1].rate_bps;
        assert!((1.8..2.2).contains(&ratio), "{policy}: {ratio}");
        assert_eq!(of(&found, policy).alone_bps, None);
    }
}

#[test]
fn every_policy_runs_with_all_senders() {
    let found = run(&[
        ("policies", "fifo,nimble,nimble-drops,token-bucket,drr,gcra,srtcm,trtcm"),
        ("transport", "all"),
        ("duration", "2ms"),
        ("stagger", "200us"),
        ("flows", "1,4,9"),
    ])
    .unwrap();
    assert_eq!(found.runs.len(), 24);
    for run in &found.runs {
        check_books(run);
        assert!(run.tenants.iter().all(|tenant| tenant.goodput_bps > 0.0));
        let marked: u64 = run.tenants.iter().map(|tenant| tenant.all.marked).sum();
        assert!(marked == 0 || run.transport == TransportName::Dctcp);
        // No probe is faster than its propagation.
        let least = found.round_trip.0 * 9 / 10;
        assert!(run.probes.quantile(0.0) >= least);
        assert_eq!(run.tenants[0].rates.len(), 200);
    }
}

#[test]
fn the_number_of_threads_changes_nothing_and_the_seed_does() {
    let on = |threads, seed: &str| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let given =
            [("policies", "fifo,nimble,drr"), ("duration", "4ms"), ("stagger", "1ms"), ("seed", seed)];
        let found = pool.install(|| run(&given)).unwrap();
        let told = found.runs.iter().map(|run| (run.sent, run.probes.sum(), run.tenants[0].all));
        told.collect::<Vec<_>>()
    };
    assert_eq!(on(1, "1"), on(3, "1"));
    assert_ne!(on(1, "1"), on(1, "2"));
}

#[test]
fn the_lead_shows_the_rates_under_each_policy() {
    let options = Options::given(&[("duration", "3ms"), ("stagger", "1ms"), ("bin", "100us")]).unwrap();
    let report = trueplane_study::study::run::<Isolation>(&options, &()).unwrap();
    let lead = &report.plots[0];
    assert!(report.leads && lead.id == "rates-dctcp");
    let mut panels: Vec<&str> = lead.series.iter().map(|series| series.panel.as_str()).collect();
    panels.dedup();
    assert_eq!(panels, ["fifo", "nimble", "nimble-drops", "token-bucket", "drr", ""]);
    assert_eq!(lead.series[0].points.len(), 30);
    assert!(
        report.verdict[0].starts_with("Without limits, the tenant with 100 flows gets "),
        "{:?}",
        report.verdict
    );
    assert!((1..=5).contains(&report.verdict.len()));
}

#[test]
fn what_cannot_be_is_refused_in_one_line() {
    let many = vec!["1"; 17].join(",");
    let cases: [(&[(&str, &str)], &str); 14] = [
        (&[("flows", "0,1")], "expected 1 to 1000"),
        (&[("flows", &many)], "expected at most 16 tenants, got 17"),
        (&[("limit", "1Gbps")], "expected a limit for each of the 2 tenants of --flows, got 1"),
        (&[("limit", "1Gbps,500Gbps"), ("policies", "nimble")], "expected a rate from 1kbps to 400Gbps"),
        (&[("stagger", "50ms")], "expected more than 50ms, when the last tenant starts"),
        (&[("burst", "1499B")], "expected 1500 bytes or more"),
        (&[("mark", "1000001B")], "--mark 1000001B: expected at most the --burst of 1000000B"),
        (&[("buffer", "4499B")], "expected 4500 bytes or more, a packet for each tenant"),
        (&[("probe_interval", "100ns")], "expected probes that take at most half of 100Gbps"),
        (&[("probe_size", "2000B")], "expected 1B to 1460B"),
        (&[("bin", "1s")], "expected 1 to 100000 intervals in 50ms"),
        (&[("duration", "1h"), ("probe_interval", "1s")], "packets under all policies and senders together"),
        (
            &[("duration", "1s"), ("probe_interval", "100ns"), ("probe_size", "1B")],
            "expected at most 2000000 probes",
        ),
        (&[("policies", "htb")], "got \"htb\""),
    ];
    for (given, expected) in cases {
        let message = refusal(given);
        assert!(message.contains(expected) && !message.contains('\n'), "{given:?}: {message}");
    }
}

/// A limiter that marks needs room above the mark; the others do not care.
#[test]
fn a_mark_may_be_as_large_as_the_burst_or_larger_where_no_limiter_marks() {
    for given in [("mark", "1000000B"), ("mark", "2000000B")] {
        let policies = if given.1 == "1000000B" { "nimble" } else { "drr,token-bucket" };
        let found = short(&[given, ("policies", policies)]);
        assert!(found.measured.from < found.measured.until);
    }
}

#[test]
fn a_single_tenant_is_alone_for_good() {
    let found = short(&[("flows", "10"), ("policies", "nimble")]);
    assert_eq!(found.measured.from, Nanos(8_000_000));
    assert_eq!((found.runs[0].alone_bps, found.runs[0].worst_error()), (None, 0.0));
}

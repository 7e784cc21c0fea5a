//! The shapes of chapter 3's figures: who wins, and by what range.

use trueplane_spray::Fit;
use trueplane_spray::compare::{Compare, Found, Options, Row};
use trueplane_spray::dispatch::{DispatchName, PolicyName};
use trueplane_spray::nf::FunctionName;
use trueplane_spray::system::{StateName, SystemName};
use trueplane_study::{Study, study};
use trueplane_units::Parameters;

fn listed(numbers: &[u64]) -> String {
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(",")
}

fn options(systems: &str, cores: usize, flows: &[u64], cycles: &[u64]) -> Options {
    let (cores, flows, cycles) = (cores.to_string(), listed(flows), listed(cycles));
    let given =
        [("policies", systems), ("cores", &cores), ("flows", &flows), ("cycles", &cycles), ("runs", "3")];
    Options::given(&given).expect("they are options")
}

fn ran(systems: &str, cores: usize, flows: &[u64], cycles: &[u64]) -> Found {
    Compare::run(&options(systems, cores, flows, cycles), &()).expect("nothing is wrong")
}

fn row<'a>(of: &'a Found, system: &str, flows: u64, cycles: u64) -> &'a Row {
    let is_it =
        |row: &&Row| row.system.to_string() == system && row.case.flows == flows && row.case.cycles == cycles;
    of.rows.iter().find(is_it).expect("it was asked for")
}

/// Figure 3.6a: for one flow, spraying is as many times faster as there are cores as soon as there is work; without work, the line is full.
#[test]
fn one_flow_gets_all_cores() {
    for cores in [8, 16] {
        let of = ran("rss,spray", cores, &[1], &[0, 1000, 5000, 10_000]);
        let rate = |system, cycles| row(&of, system, 1, cycles).rate.mean;
        for system in ["rss", "spray"] {
            assert!(
                rate(system, 0) > rate(system, 1000) * 0.999 && rate(system, 1000) > rate(system, 10_000)
            );
        }
        assert!(rate("spray", 0) > 0.99 * Options::default().traffic.rate.packets() as f64);
        for cycles in [5000, 10_000] {
            let gain = rate("spray", cycles) / rate("rss", cycles);
            assert!((0.93..1.01).contains(&(gain / cores as f64)), "{cores} cores, {cycles} cycles: {gain}");
            // The belief is wrong for hashing, and right for spraying.
            let of = row(&of, "rss", 1, cycles);
            assert!((of.rate.mean / of.classical * cores as f64 - 1.0).abs() < 0.02);
        }
    }
}

/// Figures 3.7a and 3.9: spraying does the same for any number of flows, to all of them; hashing comes close for many only, and differs from run to run.
#[test]
fn few_flows_collide() {
    for cores in [8, 16] {
        let flows = [1, 4, 8, 16, 256];
        let of = ran("rss,spray", cores, &flows, &[10_000]);
        let at = |system, flows| row(&of, system, flows, 10_000);
        let sprayed: Vec<f64> = flows.iter().map(|&flows| at("spray", flows).rate.mean).collect();
        assert!(sprayed.iter().all(|rate| (rate / sprayed[0] - 1.0).abs() < 0.02), "{sprayed:?}");
        for pair in flows.windows(2) {
            assert!(at("rss", pair[1]).rate.mean > 0.97 * at("rss", pair[0]).rate.mean);
        }
        assert!(at("rss", 4).rate.mean < 0.6 * sprayed[0]);
        assert!(at("rss", 256).rate.mean > 0.95 * sprayed[0]);
        let spread = |system, flows| {
            let rate = at(system, flows).rate;
            (rate.max - rate.min) / rate.mean
        };
        assert!(spread("rss", 8) > 0.1 && spread("spray", 8) < 0.02);
        for flows in flows {
            assert!(at("spray", flows).jain.min > 0.97, "{flows} flows");
            let expected = at("rss", flows).hashed.expect("flows do not end");
            assert!((at("rss", flows).rate.mean / expected - 1.0).abs() < 0.3, "{flows} flows");
        }
        assert!(at("rss", 16).jain.mean < 0.95 && at("rss", 1).jain.mean == 1.0);
    }
}

/// Figure 3.8: at a load that one core bears, spraying a flow over many does not take longer.
#[test]
fn latency_is_no_worse() {
    for cores in [8, 16] {
        let all = [2500, 5000, 10_000];
        let mut options = options("rss,spray", cores, &[1], &all);
        options.traffic.arrivals = "poisson".parse().expect("arrivals");
        let of = Compare::run(&options, &()).expect("nothing is wrong");
        for cycles in all {
            let (rss, spray) = (row(&of, "rss", 1, cycles), row(&of, "spray", 1, cycles));
            assert!((rss.load / (0.7 * rss.rate.mean) - 1.0).abs() < 1e-6);
            assert!(spray.p99.mean < 0.6 * rss.p99.mean, "{cores} cores, {cycles} cycles");
        }
    }
}

/// `adaptive` is hashing where that is enough, and close to spraying where it is not.
#[test]
fn adaptive_is_never_much_worse_than_hashing() {
    for cores in [2, 8, 16] {
        let (flows, cycles) = ([1, 3, 8, 24, 256], [0, 1000, 10_000]);
        let of = ran("rss,spray,adaptive", cores, &flows, &cycles);
        for (flows, cycles) in flows.into_iter().flat_map(|flows| cycles.map(|cycles| (flows, cycles))) {
            let rate = |system| row(&of, system, flows, cycles).rate.mean;
            let share = rate("adaptive") / rate("rss");
            assert!(share > 0.95, "{cores} cores, {flows} flows, {cycles} cycles: {share}");
            let p99 = |system| row(&of, system, flows, cycles).p99.mean;
            assert!(p99("adaptive") < 1.5 * p99("rss"), "{cores} cores, {flows} flows, {cycles} cycles");
        }
        let share = row(&of, "adaptive", 1, 10_000).rate.mean / row(&of, "spray", 1, 10_000).rate.mean;
        assert!(share > 0.9, "{cores} cores: {share}");
    }
}

#[test]
fn threads_do_not_matter() {
    let options = options("rss,adaptive,flowlet", 4, &[3], &[1000]);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| study::run::<Compare>(&options, &()).expect("nothing is wrong").document)
    };
    let json = |threads| serde_json::to_string(&run(threads)).expect("a document");
    assert_eq!(json(1), json(3));
}

/// Whether a function can run under a system that writes a flow's state with every packet.
fn suits(system: SystemName) -> bool {
    match system {
        SystemName::Dispatch(name) if name == DispatchName::subset(1) => true,
        SystemName::Dispatch(name) => match name.policy() {
            PolicyName::Rss | PolicyName::RssDefault => true,
            PolicyName::Spray
            | PolicyName::RoundRobin
            | PolicyName::Flowlet
            | PolicyName::Subset
            | PolicyName::Adaptive
            | PolicyName::RssPlusPlus => false,
        },
        SystemName::State(StateName::Scr | StateName::Sharded) => true,
        SystemName::State(StateName::Locked) => false,
    }
}

/// Whether a function writes a flow's state with every packet.
fn needs_whole_flows(function: FunctionName) -> bool {
    match function {
        FunctionName::Dpi => true,
        FunctionName::Nat
        | FunctionName::Firewall
        | FunctionName::Balancer
        | FunctionName::Monitor
        | FunctionName::Redundancy
        | FunctionName::Synthetic => false,
    }
}

#[test]
fn a_function_that_needs_whole_flows_is_not_sprayed() {
    for (function, system) in
        FunctionName::ALL.iter().flat_map(|&function| SystemName::all().map(move |system| (function, system)))
    {
        let needs = matches!(function.properties().fit, Fit::WholeFlows(_));
        assert_eq!(needs, needs_whole_flows(function), "{function}");
        let (nf, dispatch) = (function.name(), system.to_string());
        let given = [
            ("nf", nf),
            ("policies", &dispatch),
            ("runs", "1"),
            ("packets", "2000"),
            ("flows", "4"),
            ("cycles", "0"),
        ];
        let found = Compare::run(&Options::given(&given).expect("they are options"), &());
        assert_eq!(found.is_ok(), !needs || suits(system), "{function} {system}");
        let said = format!("--nf dpi cannot run under --policies {system}: ");
        assert!(found.map_or_else(|error| error.to_string().starts_with(&said), |_| true));
    }
}

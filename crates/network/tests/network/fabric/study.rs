//! The study, run as a whole.

use trueplane_network::fabric::{Fabric, Found, Options, SystemName};
use trueplane_study::{Error, Study};
use trueplane_units::Parameters as _;

const SMALL: [(&str, &str); 6] = [
    ("leaves", "3"),
    ("spines", "2"),
    ("hosts_per_leaf", "4"),
    ("duration", "30ms"),
    ("load", "0.3,0.8"),
    ("policies", "tcp,dctcp,sp-pifo,pifo,afq,aifo,packs"),
];

fn run(more: &[(&str, &str)]) -> Result<Found, Error> {
    let given: Vec<(&str, &str)> = SMALL.iter().chain(more).copied().collect();
    Fabric::run(&Options::given(&given).map_err(Error::Parameters)?, &())
}

fn refusal(given: &[(&str, &str)]) -> String {
    let options = match Options::given(given) {
        Ok(options) => options,
        Err(message) => return message,
    };
    Fabric::run(&options, &()).expect_err("it is refused").to_string()
}

#[test]
fn every_system_runs_the_same_flows_to_their_end() {
    for rank in ["pfabric", "stfq", "lstf", "fifo+", "edf"] {
        let found = run(&[("rank", rank)]).unwrap();
        assert_eq!(found.loads.len(), 2);
        for load in &found.loads {
            assert_eq!(load.systems.len(), 7);
            for run in &load.systems {
                assert_eq!(run.all.flows(), load.flows, "{}", run.system);
                assert_eq!((run.sent, run.in_network), (run.delivered + run.drops, 0));
                // The least time is a bound: no flow is faster.
                assert!(run.all.slowdowns.quantile(0.0) >= 1_000, "{}", run.system);
            }
        }
    }
}

#[test]
fn priorities_make_small_flows_fast_and_sharing_does_not() {
    let found = run(&[]).unwrap();
    let busiest = found.busiest().unwrap();
    let mean = |system| busiest.run(system).unwrap().small.mean_ns().unwrap();
    assert!(
        mean(SystemName::Pifo) < mean(SystemName::Dctcp) && mean(SystemName::Dctcp) < mean(SystemName::Tcp)
    );
    assert!(mean(SystemName::SpPifo) < mean(SystemName::Dctcp));
}

/// Schedulers mark for DCTCP senders, and not for pFabric's.
#[test]
fn a_scheduler_marks_where_senders_are_those_of_dctcp() {
    let small = |rank, mark| {
        let found = run(&[("policies", "pifo"), ("rank", rank), ("mark", mark)]).unwrap();
        found.busiest().unwrap().run(SystemName::Pifo).unwrap().small.mean_ns()
    };
    assert_ne!(small("stfq", "6000B"), small("stfq", "100000B"));
    assert_eq!(small("pfabric", "6000B"), small("pfabric", "100000B"));
}

#[test]
fn a_picture_shows_the_longest_queues() {
    let given: Vec<(&str, &str)> = SMALL.iter().chain(&[("policies", "tcp,pifo")]).copied().collect();
    let options = Options::given(&given).unwrap();
    let report = trueplane_study::study::run::<Fabric>(&options, &()).unwrap();
    let picture = report.plots.iter().find(|plot| plot.id == "queues").unwrap();
    let curves: Vec<(&str, &str)> =
        picture.series.iter().map(|series| (series.panel.as_str(), series.name.as_str())).collect();
    let expected = [("on average", "tcp"), ("on average", "pifo"), ("at most", "tcp"), ("at most", "pifo")];
    assert_eq!(curves, expected);
    let found = Fabric::run(&options, &()).unwrap();
    let tcp = found.busiest().unwrap().run(SystemName::Tcp).unwrap();
    // The first port is the one with the longest queue on average.
    assert_eq!(picture.series[0].points.last(), Some(&(0.8, tcp.ports[0].mean)));
    let longest = tcp.ports.iter().map(|port| port.longest).max().unwrap();
    assert_eq!(picture.series[2].points.last(), Some(&(0.8, longest as f64)));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| run(&[])).unwrap();
        found
            .loads
            .iter()
            .flat_map(|load| &load.systems)
            .map(|run| (run.hops, run.all.times.sum()))
            .collect::<Vec<_>>()
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn flows_per_second_are_another_way_to_say_the_load() {
    let options = Options::given(&[("flow_starts", "20K"), ("duration", "5ms")]).unwrap();
    let found = Fabric::run(&options, &()).unwrap();
    let offered = found.loads[0].offered;
    assert_eq!(offered.flows_per_second, 20_000.0);
    assert!((offered.load - 20_000.0 * found.mean_bytes * 8.0 / 144e9).abs() < 1e-9);
}

/// Two flows to one host on a network out of a table, under every policy.
#[test]
fn flows_and_links_may_come_from_tables() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let links = file("links.csv", "from,to,rate,delay\na,s,1Gbps,1us\nb,s,1Gbps,1us\nc,s,1Gbps,1us\n");
    let flows = file("flows.csv", "start_ns,from,to,bytes\n1000,a,c,1000000\n0,b,c,1000000\n");
    let given = [("workload", flows.as_str()), ("topology", &links), ("policies", "tcp,sp-pifo")];
    let found = Fabric::run(&Options::given(&given).unwrap(), &()).unwrap();
    assert_eq!((found.hosts, found.mean_bytes), (3, 1e6));
    let [load] = &found.loads[..] else { panic!("one load") };
    // 16 Mbit take 5.3 ms at 3 Gbit/s, and all start within 1 µs: a load of 1.
    assert!((load.load - 1.0).abs() < 1e-9 && found.is_recorded, "{}", load.load);
    assert!(load.systems.iter().all(|run| run.large.flows() == 2 && run.large.classical_ns.is_none()));
}

#[test]
fn what_cannot_be_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = |text: &str| {
        let path = folder.path().join("sizes.csv");
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let of_file = |text: &str| refusal(&[("workload", &file(text))]);
    assert!(
        refusal(&[("workload", "/nowhere.csv")]).contains("; expected web-search, data-mining or the path")
    );
    let cases = [
        ("size,cdf\n1,1\n", "expected the columns bytes and cdf"),
        (
            "size,share\n1,1\n",
            "expected the columns bytes and cdf (flow sizes), or start_ns, from, to and bytes (flows)",
        ),
        (
            "start_ns,from,to,bytes\n0,1,1000,5\n",
            "expected a host from 0 to 143 as to, got \"1000\" in line 2",
        ),
        ("bytes,cdf\n1,x\n", "in line 2"),
        ("bytes,cdf\n5,0.5\n1,1\n", "expected sizes and shares that ascend"),
        ("bytes,cdf\n5,0.5\n", "expected 1 as the last share, got 0.5"),
        ("bytes,cdf\n0,1\n", "expected 1 to 10^12 bytes"),
        ("bytes,cdf\n1,NaN\n", "a share from 0 to 1"),
        ("", "expected the columns bytes and cdf"),
        ("bytes,cdf\n", "expected one size or more"),
    ];
    for (text, expected) in cases {
        let message = of_file(text);
        assert!(message.contains(expected) && !message.contains('\n'), "{text:?}: {message}");
    }
    assert!(
        refusal(&[("leaves", "1"), ("hosts_per_leaf", "1")])
            .contains("hosts: expected 2 to the number of nodes, got 1")
    );
    assert!(
        refusal(&[("leaves", "256"), ("hosts_per_leaf", "256")])
            .contains("65536 hosts: expected at most 16384")
    );
    assert!(
        refusal(&[("topology", "fat-tree:x")])
            .contains("expected leaf-spine, fat-tree:PORTS or the path of a CSV file")
    );
    assert!(refusal(&[("topology", "fat-tree:3")]).contains("an even number from 2 to 64"));
    let buffer = refusal(&[("buffer", "1000B"), ("policies", "tcp")]);
    assert_eq!(buffer, "--buffer 1000B: expected at least 1500B, the size of a packet");
    let mark = refusal(&[("mark", "146000B")]);
    assert_eq!(
        mark,
        "--mark 146000B: expected less than the --buffer of 146000B, or --policies without dctcp"
    );
    let rounds = refusal(&[("bytes_per_round", "100"), ("policies", "afq")]);
    assert!(rounds.contains("expected at least 1500 bytes in all rounds together"), "{rounds}");
    assert!(refusal(&[("topology", "fat-tree:64")]).contains("65536 hosts: expected at most 16384"));
    let flows = file("\"start_ns\",from,to,bytes\n0,1,2,5\n");
    let message = refusal(&[("workload", &flows), ("load", "0.5")]);
    assert_eq!(message, "the flows of a file have their own load: leave out --load and --flow-starts");
    assert!(refusal(&[("duration", "1h")]).contains("expected a --duration (or flows of a file) so short"));
    let unknown = refusal(&[("policies", "fifo")]);
    assert!(unknown.contains("tcp, dctcp") && unknown.contains("got \"fifo\""), "{unknown}");
}

//! The study with faults, rules for ways, ranks by headers, and captures.

use trueplane_network::fabric::{Fabric, Found, Options, SystemName};
use trueplane_study::{Error, Observer, Study};
use trueplane_trace::{Trace, TraceOptions};
use trueplane_units::Parameters as _;

const SMALL: [(&str, &str); 6] = [
    ("leaves", "3"),
    ("spines", "2"),
    ("hosts_per_leaf", "4"),
    ("duration", "10ms"),
    ("load", "0.5"),
    ("policies", "dctcp,sp-pifo,pifo"),
];

fn given<'a>(more: &[(&'a str, &'a str)]) -> Result<Options, String> {
    let given: Vec<(&str, &str)> = SMALL.iter().chain(more).copied().collect();
    Options::given(&given)
}

fn options(more: &[(&str, &str)]) -> Options {
    given(more).unwrap()
}

fn run(more: &[(&str, &str)]) -> Result<Found, Error> {
    Fabric::run(&given(more).map_err(Error::Parameters)?, &())
}

fn refusal(more: &[(&str, &str)]) -> String {
    run(more).expect_err("it is refused").to_string()
}

/// A file with a table of faults.
fn table(folder: &tempfile::TempDir, rows: &str) -> String {
    let path = folder.path().join("faults.csv");
    std::fs::write(&path, format!("from,to,start_ns,end_ns,kind,value\n{rows}")).unwrap();
    path.display().to_string()
}

#[test]
fn drops_have_causes() {
    let folder = tempfile::tempdir().unwrap();
    let mut rows = String::new();
    for leaf in 0..3 {
        for spine in 0..2 {
            rows += &format!("leaf{leaf},spine{spine},0,1000000000,loss,20000\n");
        }
        for host in 0..4 {
            rows += &format!("leaf{leaf},{},3000000,4000000,down,\n", 4 * leaf + host);
        }
    }
    let found = run(&[("faults", &table(&folder, &rows))]).unwrap();
    for run in &found.loads[0].systems {
        assert!(run.down_drops > 0 && run.losses > 0, "{}", run.system);
        assert_eq!(run.drops, run.queue_drops + run.down_drops + run.losses);
        assert_eq!((run.sent, run.unfinished), (run.delivered + run.drops + run.in_network, 0));
    }
}

/// Flows of a host that is cut off for ever do not end; all others do.
#[test]
fn flows_without_a_way_do_not_end() {
    let folder = tempfile::tempdir().unwrap();
    let faults = table(&folder, "0,leaf0,0,18446744073709551615,down,\n");
    let found = run(&[("faults", &faults), ("policies", "dctcp"), ("duration", "2ms")]).unwrap();
    let load = &found.loads[0];
    let run = load.run(SystemName::Dctcp).unwrap();
    assert!(run.unfinished > 0 && run.all.flows() > 0);
    assert_eq!(run.unfinished + run.all.flows(), load.flows);
    assert!(run.late >= run.unfinished);
    // The run ends soon after the last flow that can, and its numbers are of the time until then.
    assert!(run.sent < 100_000 && run.end.0 < 1_000_000_000, "{run:?}");
    let said =
        Fabric::verdict(&options(&[("faults", &faults), ("policies", "dctcp"), ("duration", "2ms")]), &found);
    assert!(said[0].contains("flows that never end are"), "{said:?}");
}

#[test]
fn every_rule_for_ways_runs_the_same_flows() {
    let hops = |rule| {
        let found = run(&[("balancing", rule), ("policies", "sp-pifo")]).unwrap();
        let load = &found.loads[0];
        let run = load.run(SystemName::SpPifo).unwrap();
        assert_eq!((run.all.flows(), run.in_network), (load.flows, 0), "{rule}");
        run.hops
    };
    let all = ["hash", "spray", "flowlet:50us", "paths:2"].map(hops);
    // Other ways, other losses.
    assert!(all[1..].iter().all(|hops| *hops != all[0]), "{all:?}");
    for rule in ["ecmp", "flowlet:", "flowlet:5", "paths:0", "paths:65", "paths:x", ""] {
        let message = refusal(&[("balancing", rule)]);
        assert!(
            message.contains("expected hash, spray, flowlet:GAP such as flowlet:100us, or paths:K"),
            "{message}"
        );
    }
}

/// Under EDF, fewer flows are late than in the order of arrival.
#[test]
fn every_rank_runs_and_deadlines_help() {
    let late = |rank| {
        let found = run(&[("rank", rank), ("policies", "pifo"), ("load", "0.8"), ("depth", "1000")]).unwrap();
        let load = &found.loads[0];
        let run = load.run(SystemName::Pifo).unwrap();
        assert_eq!((run.all.flows(), run.unfinished), (load.flows, 0), "{rank}");
        run.late
    };
    let [lstf, fifo_plus, edf] = ["lstf", "fifo+", "edf"].map(late);
    assert!(lstf < fifo_plus && edf < fifo_plus, "late: {lstf} of LSTF, {edf} of EDF, {fifo_plus} of FIFO+");
}

#[test]
fn the_busiest_ports_come_first() {
    let found = run(&[]).unwrap();
    for run in &found.loads[0].systems {
        assert_eq!(run.ports.len(), 5);
        assert!(run.ports.windows(2).all(|pair| pair[0].mean >= pair[1].mean));
        let first = &run.ports[0];
        assert!(first.longest as f64 >= first.mean && first.mean > 0.0);
        assert!(first.link.contains("leaf") && run.goodput.0 > 0);
    }
    // A port of a scheduler holds 8 × 10 packets.
    let pifo = found.loads[0].run(SystemName::Pifo).unwrap();
    assert!(pifo.ports.iter().all(|port| port.longest <= 80));
}

#[test]
fn a_capture_is_written_and_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("link.pcap");
    let given = [
        ("pcap", path.to_str().unwrap()),
        ("pcap_link", "leaf0-spine1"),
        ("policies", "dctcp"),
        ("duration", "2ms"),
    ];
    run(&given).unwrap();
    let trace =
        Trace::from_bytes("link.pcap", std::fs::read(&path).unwrap(), &TraceOptions::default()).unwrap();
    let mut reader = trace.packets().unwrap();
    let (mut packets, mut more) = (0, true);
    while more {
        more = reader
            .read(1_000, |packet| {
                assert!(packet.flow().is_some() && packet.length <= 1_434);
                packets += 1;
            })
            .unwrap();
    }
    assert!(packets > 100, "{packets}");
}

/// An observer that wants the work to stop.
struct Impatient;

impl Observer for Impatient {
    fn interrupted(&self) -> bool {
        true
    }
}

#[test]
fn a_capture_that_is_interrupted_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("link.pcap");
    let capture = options(&[
        ("pcap", path.to_str().unwrap()),
        ("pcap_link", "leaf0-spine1"),
        ("policies", "dctcp"),
        ("duration", "2ms"),
    ]);
    let names = || std::fs::read_dir(folder.path()).unwrap().count();
    assert!(matches!(Fabric::run(&capture, &Impatient), Err(Error::Interrupted)));
    assert_eq!(names(), 0);
    std::fs::write(&path, "what was there").unwrap();
    assert!(matches!(Fabric::run(&capture, &Impatient), Err(Error::Interrupted)));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "what was there");
    Fabric::run(&capture, &()).unwrap();
    assert!(std::fs::metadata(&path).unwrap().len() > 1_000);
    assert_eq!(names(), 1);
}

/// A device gets what was captured, and stays one.
#[cfg(unix)]
#[test]
fn a_capture_may_go_to_a_device() {
    run(&[("pcap", "/dev/null"), ("pcap_link", "0-leaf0"), ("policies", "tcp"), ("duration", "1ms")])
        .unwrap();
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn what_cannot_be_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let faults = table(&folder, "leaf0,leaf1,0,5,down,\n");
    let message = refusal(&[("faults", &faults)]);
    let expected = "faults: expected two nodes with a link, got \"leaf0\" and \"leaf1\" in line 2";
    assert_eq!(message, format!("{faults}: {expected}"));
    assert!(refusal(&[("faults", "/nowhere.csv")]).starts_with("/nowhere.csv: "));
    let pcap = folder.path().join("x.pcap");
    let capture = |link, policies| {
        refusal(&[("pcap", pcap.to_str().unwrap()), ("pcap_link", link), ("policies", policies)])
    };
    assert_eq!(
        capture("0-leaf0", "tcp,pifo"),
        "--pcap: expected a single --load and a single one of --policies, got 2 runs"
    );
    assert_eq!(
        capture("0-leaf1", "tcp"),
        "--pcap-link: expected a link of the network such as 0-leaf0, got \"0-leaf1\""
    );
    assert!(refusal(&[("pcap_link", "leaf0")]).contains("two nodes with a dash between them"));
    let nowhere = refusal(&[("pcap", "/nowhere/x.pcap"), ("pcap_link", "0-leaf0"), ("policies", "tcp")]);
    assert!(nowhere.starts_with("--pcap /nowhere/x.pcap: ") && !nowhere.contains('\n'), "{nowhere}");
}

//! `trueplane surge pipeline` as its users run it: identities and refusals; how fast the machine is, is its own business.

use std::fs;
use std::io::Write as _;

use serde_json::Value;

use crate::common::trueplane;

const QUICK: &str = "surge pipeline --duration 10ms --warmup 2ms --buffer 64 --attack-rate 1Mbps,100Mbps";

fn count(of: &Value, name: &str) -> u64 {
    of[name].as_u64().unwrap_or_else(|| panic!("{name}: {of}"))
}

#[test]
fn every_queue_accounts_for_every_packet() {
    let document = trueplane(&format!("{QUICK} --json")).json();
    assert_eq!((&document["study"], &document["parameters"]["seed"]), (&"surge.pipeline".into(), &1.into()));
    let rows = document["rows"].as_array().expect("a list");
    let names: Vec<(&str, u64)> =
        rows.iter().map(|row| (row["queue"].as_str().unwrap_or(""), count(row, "attack_bps"))).collect();
    let rates = [0, 1_000_000, 100_000_000];
    let expected: Vec<(&str, u64)> = ["heap", "two-ended", "ffs", "fcfs"]
        .into_iter()
        .flat_map(|queue| rates.map(|rate| (queue, rate)))
        .collect();
    assert_eq!(names, expected);
    for row in rows {
        let fates = ["served", "dropped", "lost", "left"].map(|name| count(row, name));
        assert_eq!(fates.iter().sum::<u64>(), count(row, "arrived"), "{row}");
        for class in ["innocent", "attacker"] {
            let packets = |name: &str| count(&row[class][name], "packets");
            let fates = ["served", "dropped", "lost", "left"].map(packets);
            assert_eq!(fates.iter().sum::<u64>(), packets("arrived"), "{row}");
        }
        assert_eq!(count(&row["attacker"]["arrived"], "packets") > 0, count(row, "attack_bps") > 0);
        // r_max is about 10 Gbit/s with these draws, and users send nine tenths of it.
        assert!((8_500_000_000..9_500_000_000).contains(&count(row, "innocent_bps")), "{row}");
    }
    // What came does not depend on the machine.
    let arrived = |queue: usize| count(&rows[3 * queue + 2], "arrived");
    assert!((1..4).all(|queue| arrived(queue) == arrived(0)));
}

#[test]
fn the_report_has_the_figure() {
    let folder = std::env::temp_dir().join(format!("trueplane-surge-pipeline-{}", std::process::id()));
    let ended = trueplane(&format!("{QUICK} --queues ffs,heap --report {}", folder.display()));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    assert!(ended.stdout.contains("throughput on average traffic"), "{}", ended.stdout);
    assert!(
        ended.stdout.contains("Under a flood of 100Mbps")
            && ended.stdout.contains("Measured with two threads")
    );
    let page = fs::read_to_string(folder.join("index.html")).expect("a page");
    assert!(page.contains("figure 3.20"));
    assert!(fs::read_to_string(folder.join("goodput.csv")).is_ok());
    fs::remove_dir_all(folder).expect("it is ours");
}

#[test]
fn real_payloads_are_matched() {
    let capture = "../shared/data/packets/1kxun.pcap";
    if !crate::common::root().join(capture).exists() {
        // Past the test harness, which swallows what a passing test prints.
        let _ =
            writeln!(std::io::stderr().lock(), "skipped: real_payloads_are_matched: there is no {capture}");
        return;
    }
    let ended = trueplane(&format!(
        "surge pipeline match:{capture} --rules examples/attack.rules --queues ffs --attack-rate 1Mbps --duration 10ms --json"
    ));
    let document = ended.json();
    assert_eq!(document["parameters"]["is_real"], true);
    for row in document["rows"].as_array().expect("a list") {
        let fates = ["served", "dropped", "lost", "left"].map(|name| count(row, name));
        assert_eq!(fates.iter().sum::<u64>(), count(row, "arrived"), "{row}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_in_one_line() {
    for (flags, said) in [
        ("--queues pifo", "unknown queue \"pifo\"; known: heap, two-ended, ffs, fcfs"),
        ("--packet 0B", "expected a packet size"),
        ("--job 0us", "expected a time above zero"),
        ("--job 20us", "expected a --largest-job of 20us or more, as users have on average, got 10us"),
        ("--largest-job 2s", "expected jobs of at most 1s, got 2s"),
        ("--spread 60%", "expected a share from 0% to 50%, got \"60%\""),
        ("--innocent fast", "expected a rate above zero"),
        ("--innocent own", "this workload has none"),
        ("--innocent 100Tbps", "expected users to send at most 10Tbps"),
        ("--attack-rate 0bps", "expected rates above zero"),
        ("--attack-rate 2Mbps..1Mbps", "expected rates from low to high"),
        ("--buffer 0", "expected a buffer of packets of 1 to 4194304, got 0"),
        ("--buffer 5M", "expected a buffer of packets of 1 to 4194304, got 5000000"),
        ("--ring 0", "expected a ring of descriptors of 1 to 1048576, got 0"),
        ("--depth 65", "expected a hand-over of slots of 1 to 64, got 65"),
        ("--duration 0s", "expected a time above zero"),
        ("--duration 1min", "expected a run of at most 60s with its warm-up, got 80s"),
        ("iid:", "expected match:FILE, or no workload"),
        ("match:x.pcap", "needs rules"),
        ("match:x.pcap --rules no.rules", "no.rules: "),
        ("match:x.pcap --job 1us", "cannot be used with"),
        ("--rules examples/attack.rules", "WORKLOAD"),
    ] {
        let ended = trueplane(&format!("surge pipeline {flags}"));
        assert!(ended.refusal().contains(said), "{flags}: {}", ended.stderr);
    }
}

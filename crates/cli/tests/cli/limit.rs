//! `trueplane limit …` as its users run it: the verbs that simulate.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{root, trueplane, trueplane_on};

const PRECISION: &str = "limit precision --rate 10Gbps,40Gbps --duration 1ms";

/// A UDP packet in an Ethernet frame, 46 bytes long, from 10.0.`tenant`.1.
fn frame(tenant: u8, port: u16) -> Vec<u8> {
    let mut frame = vec![0; 12];
    frame.extend([8, 0, 0x45, 0, 0, 32, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, tenant, 1, 10, 9, 9, 9]);
    frame.extend(port.to_be_bytes());
    frame.extend([0, 53, 0, 12, 0, 0, 1, 2, 3, 4]);
    frame
}

/// A pcap file of packets of 1000 bytes on the wire, dated in milliseconds.
fn pcap(packets: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut file = words(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 1]);
    for (millis, data) in packets {
        file.extend(words(&[millis / 1000, millis % 1000 * 1000, data.len() as u32, 1000]));
        file.extend(data);
    }
    file
}

/// Ten flows of tenant 1 that send 100 packets at once, and one of tenant 2 that sends 10 over a second.
fn capture() -> Vec<u8> {
    let mut packets: Vec<(u32, Vec<u8>)> = (0..100).map(|packet| (0, frame(1, packet % 10))).collect();
    packets.extend((1..=10).map(|packet| (packet * 100, frame(2, 7))));
    pcap(&packets)
}

const CLASSES: &str = "
[[class]]
name = \"many\"
rate = \"1Mbps\"
burst = \"10kB\"
source = \"10.0.1.0/24\"

[[class]]
name = \"one\"
rate = \"1Mbps\"
burst = \"10kB\"
source = \"10.0.2.0/24\"
";

/// A folder with a classes file of this text.
fn folder(classes: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let path = folder.path().join("classes.toml");
    fs::write(&path, classes).expect("it can be written");
    (folder, path)
}

fn replay(classes: &Path, flags: &str) -> String {
    format!("limit replay - --classes {} {flags}", classes.display())
}

#[test]
fn precision_compares_achieved_and_configured_rates() {
    let document = trueplane(&format!("{PRECISION} --json")).json();
    assert_eq!(document["study"], "limit.precision");
    let parameters = &document["parameters"];
    assert_eq!([&parameters["burst_bytes"], &parameters["seed"]], [&Value::from(150_000), &Value::from(1)]);
    assert_eq!((&parameters["load"], &document["facts"]["mark_bytes"]), (&2.into(), &75_000.into()));
    let points = document["tables"]["points"].as_array().expect("a list");
    // Nimble with five drains and four others, three sources, two rates.
    assert_eq!(points.len(), 9 * 3 * 2);
    for point in points {
        let count = |name: &str| point[name].as_u64().unwrap_or_else(|| panic!("{name}: {point}"));
        assert_eq!(
            count("arrived_packets"),
            count("passed_packets") + count("marked_packets") + count("dropped_packets")
        );
        let number = |name: &str| point[name].as_f64().unwrap_or_else(|| panic!("{name}: {point}"));
        let achieved = number("rate_achieved_bps") / number("rate_configured_bps");
        // Rates are whole numbers, of 10 Gbps and more.
        assert!((achieved - number("achieved_to_configured")).abs() < 1e-9);
        assert!((achieved - 1.0 - number("error")).abs() < 1e-9);
        // A silence of the bursty source takes some of so short a time.
        assert!(number("error").abs() <= number("drain_error_max") + 0.15, "{point}");
    }
    assert_eq!(trueplane(&format!("{PRECISION} --json")).json(), document, "one seed, one answer");
    let text = trueplane(&format!("{PRECISION} --policies nimble --drain exact --source cbr")).stdout;
    assert!(text.contains("TCP shares the link fairly") && text.contains("none (classical)"), "{text}");
    assert!(text.contains("With exact draining"), "{text}");
}

#[test]
fn size_counts_what_fits() {
    let document = trueplane("limit size --json").json();
    let nimble = &document["tables"]["layouts"][0];
    assert_eq!((&nimble["bytes"], &nimble["limiters_in_memory"]), (&16.into(), &65_536.into()));
    assert_eq!(document["tables"]["drain-tables"].as_array().map(Vec::len), Some(4));
    let other = trueplane("limit size --limiters 1M --memory 22MiB --cores 4 --json").json();
    assert_eq!(other["parameters"]["memory_bytes"], 22 << 20);
    let layouts = &other["tables"]["layouts"];
    assert_eq!((&layouts[0]["limiters_bytes"], &layouts[1]["bytes"]), (&16_000_000.into(), &48.into()));
    assert!(trueplane("limit size").stdout.contains("65,536"));
}

#[test]
fn replay_tells_what_limits_would_have_done() {
    let (_folder, classes) = folder(CLASSES);
    let document = trueplane_on(&capture(), &replay(&classes, "--json")).json();
    let (facts, parameters) = (&document["facts"], &document["parameters"]);
    assert_eq!((&document["study"], &parameters["capture"]), (&"limit.replay".into(), &"-".into()));
    assert_eq!((&facts["arrived_packets"], &facts["flows"]), (&110.into(), &11.into()));
    assert_eq!((&facts["span_ns"], &parameters["bin_ns"]), (&1_000_000_000.into(), &100_000_000.into()));
    let rows = document["tables"]["counts"].as_array().expect("a list");
    let names: Vec<&Value> = rows.iter().map(|row| &row["class"]).collect();
    assert_eq!(names, ["many", "one", "(unclassified)"]);
    assert_eq!((&rows[0]["passed_packets"], &rows[0]["dropped_bytes"]), (&10.into(), &90_000.into()));
    assert_eq!((&rows[1]["passed_packets"], &rows[1]["dropped_packets"]), (&10.into(), &0.into()));
    let bins = document["tables"]["over-time"].as_array().expect("a list");
    let bins_of = |class: &str| bins.iter().filter(|bin| bin["class"] == class).count();
    assert_eq!((bins_of("many"), bins_of("one"), bins.len()), (1, 10, 11));
    // By time: a table that is cut loses its end.
    assert!(bins.is_sorted_by_key(|bin| bin["time_ns"].as_u64()));
    assert_eq!((&bins[10]["time_ns"], &bins[10]["passed_packets"]), (&1_000_000_000.into(), &1.into()));
    for policy in ["token-bucket", "gcra", "srtcm", "trtcm"] {
        let document =
            trueplane_on(&capture(), &replay(&classes, &format!("--policy {policy} --json"))).json();
        let passed = document["tables"]["classes"][0]["passed_packets"].as_u64().expect("a count");
        assert!((10..=11).contains(&passed), "{policy}: {passed}");
    }
    let text = trueplane_on(&capture(), &replay(&classes, "--details")).stdout;
    assert!(text.contains("many would get 90.9% for its 10 flows (it took 90.9%), one 9.1%"), "{text}");
    assert!(
        text.contains("These limits would have dropped 81.8% of all bytes, and hit 1 of 2 classes"),
        "{text}"
    );
}

#[test]
fn a_replay_is_drawn() {
    let (folder, classes) = folder(CLASSES);
    let report = folder.path().join("report");
    let ended = trueplane_on(&capture(), &replay(&classes, &format!("--report {}", report.display())));
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    let page = fs::read_to_string(report.join("index.html")).expect("the page was written");
    assert!(page.contains("<svg") && page.contains("kbps") && !page.contains("src=\"http"));
    let rates = fs::read_to_string(report.join("rates.csv")).expect("the plot was written");
    assert!(
        rates.contains("many,offered,0,8000000\n") && rates.contains("many,let through,0,800000\n"),
        "{rates}"
    );
}

#[test]
fn wrong_flags_are_refused_in_one_line() {
    for (flags, said) in [
        ("precision --policies gcra --drain 6%", "--drain 6% is for --policies nimble, got --policies gcra"),
        ("precision --rate 10", "expected a rate such as 10Gbps"),
        ("precision --rate 0bps", "expected a rate above zero such as 10Gbps or 64kbit/s, got \"0bps\""),
        ("precision --rate 10bps", "expected a rate from 1kbps to 400Gbps, got 10bps"),
        ("precision --packet-size 0", "expected packet sizes from 1 to 65535"),
        ("precision --packet-size 1500..64", "expected packet sizes"),
        ("precision --source udp", "expected one or several of cbr, poisson, bursty, or all, got \"udp\""),
        (
            "precision --policies nimbl",
            "expected one or several of nimble, token-bucket, gcra, srtcm, trtcm, or all, got \"nimbl\"",
        ),
        ("precision --drain 0%", "expected exact, or a maximum error from 0.1% to 50%"),
        ("precision --load 0", "expected a factor of 0.000001 to 1000000 such as 2, 0.5 or 50%, got \"0\""),
        ("precision --burst 64B", "--burst 64B is less than a packet of 1500 bytes"),
        ("precision --burst 1GiB", "expected a burst from 1B to 67108863B"),
        ("precision --duration 5", "expected a time such as"),
        ("precision --duration 0s", "expected a time above zero"),
        ("precision --rate 1kbps --load 0.000001", "a load of 0.000001 at 1kbps cannot be offered"),
        ("precision --duration 10h", "packets; at most"),
        ("size --memory 5", "expected a size such as"),
        ("size --limiters many", "expected a count such as"),
        ("size --limiters 18446744073709551615", "more than 16EiB"),
        ("size --cores 0", "expected 1 to 65536, got \"0\""),
        ("replay capture.pcap", "--classes <FILE>"),
        ("replay none.pcap --classes none.toml", "none.toml: No such file or directory"),
        ("replay none.pcap --classes examples/classes.toml", "none.pcap: No such file or directory"),
        ("replay - --classes examples", "examples: Is a directory"),
        ("replay - --classes -", "cannot be both the capture and --classes"),
        ("replay - --classes examples/classes.toml --bin 0s", "expected a time above zero"),
        ("replay - --classes examples/classes.toml --speedup 0", "expected a factor of 0.000001"),
        (
            "replay - --classes examples/classes.toml --policy all",
            "expected one of nimble, token-bucket, gcra, srtcm, trtcm, got \"all\"",
        ),
        (
            "replay - --classes examples/classes.toml --policy gcra --drain 6%",
            "--drain 6% is for --policy nimble, got --policy gcra",
        ),
        ("replay - --classes examples/classes.toml --report Cargo.toml", "--report Cargo.toml: "),
    ] {
        let ended = trueplane(&format!("limit {flags}"));
        assert!(ended.refusal().contains(said), "{flags}: {}", ended.stderr);
    }
}

#[test]
fn broken_captures_and_classes_are_refused_in_one_line() {
    let (_folder, classes) = folder(CLASSES);
    let mut cut = capture();
    cut.truncate(cut.len() - 1);
    let backwards = pcap(&[(2000, frame(1, 1)), (1000, frame(1, 1))]);
    let whole = trueplane_on(&cut, &replay(&classes, "--json")).json();
    assert_eq!(whole["facts"]["arrived_packets"], 109);
    let left_out = &whole["tables"]["left-out"][0];
    assert_eq!(
        (&left_out["what"], &left_out["count"]),
        (&"records cut off by the end of the file".into(), &1.into())
    );
    for (bytes, flags, said) in [
        (Vec::new(), "", "stdin: no packets found"),
        (pcap(&[]), "", "stdin: no packets found"),
        (b"time,key\n0,17\n1,18\n2,19\n".to_vec(), "", "stdin: byte 0: expected a pcap or pcapng header"),
        (cut, "--strict", "record cut short: expected 62 bytes, found 61"),
        (backwards.clone(), "", "stdin: byte 86: time goes backwards, from 2s to 1s; --sort accepts that"),
    ] {
        let ended = trueplane_on(&bytes, &replay(&classes, flags));
        assert!(ended.refusal().contains(said), "{}", ended.stderr);
    }
    assert_eq!(
        trueplane_on(&backwards, &replay(&classes, "--sort --json")).json()["facts"]["span_ns"],
        1_000_000_000
    );
    for (text, said) in [
        ("", "expected at least one [[class]]"),
        ("[[class]]\nname = \"a\"\nrate = \"0bps\"\nvlan = 1\n", "classes.toml:3: class \"a\": rate: "),
        ("[[class]\n", "classes.toml:1: "),
    ] {
        let (_folder, classes) = folder(text);
        let ended = trueplane_on(&capture(), &replay(&classes, ""));
        assert!(ended.refusal().contains(said), "{}", ended.stderr);
    }
}

#[test]
fn help_has_examples() {
    for (verb, about) in [
        ("precision", "Measure how exactly limiters enforce their rates"),
        ("replay", "Tell what limits would have done"),
        ("size", "Tell how many limiters fit into a memory"),
    ] {
        let ended = trueplane(&format!("limit {verb} --help"));
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{verb}");
        assert!(ended.stdout.starts_with(about), "{}", ended.stdout);
        assert!(
            ended.stdout.contains(&format!("trueplane limit {verb}")) && ended.stdout.contains("Examples:")
        );
    }
}

/// The class that takes the most bytes has neither the most flows nor the fewest.
#[test]
fn the_verdict_names_the_class_with_the_most_bytes() {
    let third = CLASSES.to_owned()
        + "
[[class]]
name = \"video\"
rate = \"1Mbps\"
source = \"10.0.3.0/24\"
";
    let (_folder, classes) = folder(&third);
    let mut packets: Vec<(u32, Vec<u8>)> = (0..10).map(|flow| (0, frame(1, flow))).collect();
    packets.push((0, frame(2, 7)));
    packets.extend((0..89).map(|packet| (packet, frame(3, packet as u16 % 3))));
    let text = trueplane_on(&pcap(&packets), &replay(&classes, "--details")).stdout;
    assert!(text.contains("video takes the most, 89.0% of the bytes, by 3 flows."), "{text}");
    // Named once where it is one of the two.
    let text = trueplane_on(&capture(), &replay(&classes, "--details")).stdout;
    assert!(!text.contains("takes the most"), "{text}");
}

#[test]
fn the_example_classes_are_read() {
    let document = trueplane_on(&capture(), "limit replay - --classes examples/classes.toml --json").json();
    let rows = document["tables"]["counts"].as_array().expect("a list");
    let names: Vec<&str> = rows.iter().filter_map(|row| row["class"].as_str()).collect();
    assert_eq!(names, ["gold", "gold-guests", "customers", "lab", "scrubbed", "rest", "(unclassified)"]);
    assert_eq!((&rows[1]["inside"], &rows[5]["arrived_packets"]), (&"gold".into(), &110.into()));
}

/// Real captures, with a limiter for each /24 and /48.
#[test]
fn real_captures_are_replayed() {
    let captures = root().join("../shared/data/packets");
    let Ok(files) = fs::read_dir(&captures) else {
        // Past the test harness, which keeps back what the macros print.
        let _ = writeln!(std::io::stderr(), "skipped: no {}", captures.display());
        return;
    };
    let (_folder, classes) = folder(
        "
[[class]]
name = \"private\"
rate = \"100kbps\"
burst = \"20kB\"
source = \"192.168.0.0/16\"
each = 24
count = \"each\"

[[class]]
name = \"from-private\"
rate = \"100kbps\"
burst = \"20kB\"
destination = \"192.168.0.0/16\"

[[class]]
name = \"six\"
rate = \"1Mbps\"
source = \"2000::/3\"
",
    );
    for file in files {
        let path = file.expect("it can be listed").path();
        let ended =
            trueplane(&format!("limit replay {} --classes {} --json", path.display(), classes.display()));
        let document = ended.json();
        let whole = document["facts"]["arrived_packets"].as_u64().expect("a count");
        let rows = document["tables"]["counts"].as_array().expect("a list");
        let count = |row: &Value, name: &str| row[name].as_u64().expect("a count");
        let parts: u64 = rows.iter().map(|row| count(row, "arrived_packets")).sum();
        assert!(whole > 0 && parts == whole, "{}", path.display());
        for row in rows {
            let sum = count(row, "passed_bytes") + count(row, "marked_bytes") + count(row, "dropped_bytes");
            assert_eq!(sum, count(row, "arrived_bytes"), "{}", path.display());
        }
    }
}

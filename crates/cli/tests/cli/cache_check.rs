//! `trueplane cache check`: what holds is said to hold, and nothing else is.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;
use trueplane_cache::belatedly::{Prices, Schedule};
use trueplane_cache::bound::{Limits, Problem, Scenario, Solution, certificate, search};
use trueplane_cache::capacity::Capacity;
use trueplane_cache::check::Certificate;
use trueplane_cache::latency::Latency;
use trueplane_trace::{Clock, Trace, TraceOptions};
use trueplane_units::{Nanos, Warmup};

use crate::common::{Ended, trueplane, trueplane_on};

/// Two objects in turns, and one that is in the way.
const TRACE: &str = "time_ns,key,size\n0,1,2\n3,2,1\n5,1,2\n9,1,2\n12,2,1\n13,3,1\n20,1,2\n21,2,1\n";

/// The rows of the bounds in the document.
const LOWER: usize = 0;
const UPPER: usize = 1;

/// A bound on the total latency, in the unit of the certificate.
fn bound(document: &Value, row: usize) -> u64 {
    let row = &document["tables"]["bounds"][row];
    row["latency_total_ns"].as_u64().or(row["latency_total_steps"].as_u64()).unwrap()
}

/// A folder with the trace and a certificate of it.
struct Room {
    folder: TempDir,
    certificate: Certificate,
}

impl Room {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trace.csv");
        fs::write(&path, TRACE).unwrap();
        let trace = Trace::open(&path, &TraceOptions::default()).unwrap();
        let scenario = Scenario {
            latency: Latency::Constant(Nanos(4)),
            capacity: Capacity::Objects(1),
            clock: Clock::Timestamps,
            hit_latency: Nanos(0),
            warmup: Warmup::Count(0),
            bypass: true,
            bypass_oversized: false,
            requests: None,
        };
        let problem = Problem::read(&trace, &scenario, &()).unwrap();
        let limits = Limits { gap: 0.0, time: None, iterations: 0 };
        // What the first request asks for is kept until it is asked for again: there is room for one.
        let schedule = Schedule { keep: (0..8).map(|visit| visit == 0).collect() };
        let (upper, held) = schedule.replay(&problem.instance);
        assert!(held.iter().all(|&held| held <= 1) && upper == 7 * 4);
        let prices = Prices { bits: 1, gaps: vec![0, 0, 0, 1, 1, 2, 2, 2] };
        let lower = prices.lower(&problem.instance);
        let solution = Solution { lower, upper, prices, schedule, ..search(&problem.instance, &limits, &()) };
        let certificate = certificate::certificate("trace.csv", &problem, &scenario, &solution);
        let mut written = Vec::new();
        certificate::write("trace.csv", &problem, &scenario, &solution, &mut written).unwrap();
        fs::write(folder.path().join("proof.json"), written).unwrap();
        Self { folder, certificate }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn check(&self, certificate: &str, trace: &str, flags: &str) -> Ended {
        trueplane(&format!("cache check {} {} {flags}", self.path(certificate), self.path(trace)))
    }
}

#[test]
fn a_true_certificate_holds() {
    let room = Room::new();
    let claims = room.certificate.header.claims;
    let found = room.check("proof.json", "trace.csv", "--json").json();
    assert_eq!(found["study"], "cache.check");
    assert_eq!((bound(&found, LOWER), bound(&found, UPPER)), (claims.lower, claims.upper));
    assert!(claims.lower > 0 && claims.lower <= claims.upper, "{claims:?}");
    assert_eq!((&found["facts"]["requests"], &found["facts"]["cache"]), (&8.into(), &"1 object".into()));
    let schedule = &found["tables"]["bounds"][UPPER];
    assert_eq!((&schedule["hits"], &schedule["misses"]), (&1.into(), &7.into()));
    let ended = room.check("proof.json", "trace.csv", "");
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    assert!(ended.stdout.contains("The certificate holds"), "{}", ended.stdout);
    // Compressed and from a pipe it is the same.
    let packed = zstd_of(&serde_json::to_vec(&room.certificate).unwrap());
    let piped = trueplane_on(&packed, &format!("cache check - {} --json", room.path("trace.csv"))).json();
    assert_eq!(piped["tables"], found["tables"]);
}

/// A frame with one raw block (RFC 8878 §3.1.1), which needs no compressor.
fn zstd_of(bytes: &[u8]) -> Vec<u8> {
    assert!(bytes.len() < 1 << 16);
    let size = bytes.len() as u32;
    // A single segment, its content's size in four bytes; then the last block, raw.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0b1010_0000];
    frame.extend(size.to_le_bytes());
    frame.extend(&(size << 3 | 1).to_le_bytes()[..3]);
    frame.extend(bytes);
    frame
}

/// The places of all numbers below `value`.
fn places(value: &Value, place: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(_) => found.push(place.to_owned()),
        Value::Array(items) => {
            (0..).zip(items).for_each(|(index, item)| places(item, &format!("{place}/{index}"), found));
        }
        Value::Object(members) => {
            members.iter().for_each(|(name, item)| places(item, &format!("{place}/{name}"), found));
        }
        _ => {}
    }
}

#[test]
fn every_tampered_number_is_refused() {
    let room = Room::new();
    let honest = room.check("proof.json", "trace.csv", "--json").json();
    let original = serde_json::to_value(&room.certificate).unwrap();
    let mut found = Vec::new();
    places(&original, "", &mut found);
    assert!(found.len() > 15, "{found:?}");
    let mut held = 0;
    for place in &found {
        for step in [-1, 1] {
            let mut changed = original.clone();
            let number = changed.pointer_mut(place).unwrap();
            *number = (number.as_i64().unwrap() + step).into();
            let Ok(mut certificate) = serde_json::from_value::<Certificate>(changed) else {
                continue; // Below zero: no certificate can be made of it.
            };
            room.write("tampered.json", serde_json::to_vec(&certificate).unwrap());
            room.check("tampered.json", "trace.csv", "").refusal();
            certificate.checksum = certificate.sum();
            room.write("repaired.json", serde_json::to_vec(&certificate).unwrap());
            let ended = room.check("repaired.json", "trace.csv", "--json");
            if ended.status == 2 {
                ended.refusal();
                continue;
            }
            let bounds = ended.json();
            assert!(bound(&bounds, LOWER) <= bound(&bounds, UPPER), "{place} {step:+}");
            if !place.starts_with("/header/terms") {
                // Of the same cache: neither can contradict the other.
                assert!(bound(&bounds, LOWER) <= bound(&honest, UPPER), "{place} {step:+}");
                assert!(bound(&honest, LOWER) <= bound(&bounds, UPPER), "{place} {step:+}");
            }
            held += 1;
        }
    }
    assert!(held < found.len() / 4, "{held} of {} hold", found.len());
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let room = Room::new();
    room.write("other.csv", TRACE.replace("12,2,1", "11,2,1"));
    room.write("longer.csv", format!("{TRACE}30,1,2\n"));
    room.write("shorter.csv", &TRACE[..TRACE.len() - "21,2,1\n".len()]);
    for (trace, expected) in [
        ("other.csv", "got others"),
        ("longer.csv", "got more"),
        ("shorter.csv", "got 7"),
        ("none.csv", "No such file or directory"),
        ("proof.json", ""),
    ] {
        let ended = room.check("proof.json", trace, "");
        assert!(ended.refusal().contains(expected), "{}", ended.stderr);
    }
    let by_other_flags = room.check("proof.json", "trace.csv", "--time-unit ms");
    assert!(by_other_flags.refusal().contains("another trace, or read by other flags"));
    let text = fs::read(room.path("proof.json")).unwrap();
    for end in [0, 1, text.len() / 3, text.len() - 3] {
        room.write("cut.json", &text[..end]);
        let ended = room.check("cut.json", "trace.csv", "");
        assert!(ended.refusal().contains("cut.json: "), "{}", ended.stderr);
    }
    for (certificate, text) in [("trace.csv", TRACE), ("list.json", "[1]"), ("empty.json", "")] {
        room.write(certificate, text);
        let ended = room.check(certificate, "trace.csv", "");
        assert!(ended.refusal().contains("expected a certificate (JSON)"), "{}", ended.stderr);
    }
    room.write("cut.json.zst", &zstd_of(&text)[..text.len() / 2]);
    room.check("cut.json.zst", "trace.csv", "").refusal();
}

#[test]
fn flags_are_refused_in_one_line() {
    let room = Room::new();
    for arguments in [
        "cache check".to_owned(),
        format!("cache check {}", room.path("proof.json")),
        "cache check - -".to_owned(),
        format!("cache check {} {}", room.path("none.json"), room.path("trace.csv")),
        format!("cache check {} {}", room.folder.path().display(), room.path("trace.csv")),
        format!("cache check {} {} --latency 4ns", room.path("proof.json"), room.path("trace.csv")),
    ] {
        trueplane(&arguments).refusal();
    }
}

//! Holds the Rust limiters to the committed vectors, as their twins in other languages are held to them.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Deserialize;
use trueplane_limit::credit::Credit;
use trueplane_limit::format::RateWord;
use trueplane_limit::policy::Nimble;
use trueplane_limit::{Limiter, Verdict, credit};
use trueplane_units::Nanos;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    last_ticks: u32,
    occupancy_units: u32,
    rate_word: RateWord,
    burst_units: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    limiter: Words,
    draw_bytes: Option<u32>,
    cores: Option<usize>,
    packets: Vec<Packet>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Packet {
    now_ns: u64,
    bytes: u32,
    verdict: Verdict,
    last_ticks: u32,
    occupancy_units: u32,
    core: Option<usize>,
    credit_bytes: Option<u32>,
}

fn read(file: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/limit").join(file);
    let text = std::fs::read_to_string(&path).expect("the vectors are committed");
    let cases: Vec<Case> = serde_json::from_str(&text).expect("the vectors are well-formed");
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names.len(), cases.len(), "every case has a name of its own");
    let packets = || cases.iter().flat_map(|case| &case.packets);
    assert!(packets().count() > 2_000);
    assert!(packets().all(|packet| packet.now_ns < 1 << 63), "a signed reader takes the times");
    let verdicts: BTreeSet<Verdict> = packets().map(|packet| packet.verdict).collect();
    assert_eq!(verdicts.len(), 3, "all verdicts occur");
    cases
}

fn limiter(words: &Words) -> Nimble {
    let &Words { last_ticks, occupancy_units, rate_word, burst_units } = words;
    Nimble { last_ticks, occupancy_units, rate: rate_word, burst_units }
}

/// The limiter as it must be after the packet.
fn expected(before: Nimble, packet: &Packet) -> Nimble {
    Nimble { last_ticks: packet.last_ticks, occupancy_units: packet.occupancy_units, ..before }
}

#[test]
fn nimble_follows_the_vectors() {
    for case in read("nimble.json") {
        let mut limiter = limiter(&case.limiter);
        for (index, packet) in case.packets.iter().enumerate() {
            let verdict = limiter.offer(packet.bytes, Nanos(packet.now_ns));
            let found = (verdict, limiter);
            assert_eq!(found, (packet.verdict, expected(limiter, packet)), "{}: packet {index}", case.name);
        }
    }
}

#[test]
fn credit_follows_the_vectors() {
    for case in read("credit.json") {
        let (draw, cores) = (case.draw_bytes.expect("a draw"), case.cores.expect("cores"));
        let (mut shared, mut credits) = (limiter(&case.limiter), vec![Credit::default(); cores]);
        for (index, packet) in case.packets.iter().enumerate() {
            let held = &mut credits[packet.core.expect("a core")];
            let verdict = credit::offer(&mut shared, held, draw, packet.bytes, || Nanos(packet.now_ns));
            let found = (verdict, shared, Some(held.bytes));
            let expected = (packet.verdict, expected(shared, packet), packet.credit_bytes);
            assert_eq!(found, expected, "{}: packet {index}", case.name);
        }
    }
}

//! Holds the program that chooses cores to the vectors that the Rust policies are held to, on the kernel's test bench.

use std::path::Path;

use serde::Deserialize;
use trueplane_linux::testnet;
use trueplane_spray::dispatch::{Arrival, DispatchName, DispatchOptions, Load, PolicyName, Rss, dispatcher};
use trueplane_spray::live::io::{IoBackend, Selector};
use trueplane_spray::packet::headers::Link;
use trueplane_spray::{Dispatch, Packet};
use trueplane_units::Nanos;

#[derive(Deserialize)]
struct Vectors {
    frames: Vec<String>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    dispatch: String,
    cores: usize,
    by_frame: Vec<usize>,
}

fn vectors() -> (Vec<Vec<u8>>, Vec<Case>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/spray/dispatch.json");
    let text = std::fs::read_to_string(&path).expect("the vectors are committed");
    let Vectors { frames, cases } = serde_json::from_str(&text).expect("the vectors are well-formed");
    let byte = |pair: &str| u8::from_str_radix(pair, 16).expect("hexadecimal");
    let frame = |hex: &String| (0..hex.len() / 2).map(|at| byte(&hex[2 * at..2 * at + 2])).collect();
    (frames.iter().map(frame).collect(), cases)
}

/// The program, or one line that says why there is none.
fn selector(backend: IoBackend, dispatch: DispatchName, cores: usize) -> Option<Selector> {
    match Selector::load(backend, dispatch, cores) {
        Ok(selector) => Some(selector),
        Err(trueplane_linux::Error::Privileges { doing }) => {
            println!("skipped: {doing} needs root");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn the_policies_follow_the_vectors() {
    let (frames, cases) = vectors();
    for case in cases {
        let name: DispatchName = case.dispatch.parse().expect("a policy");
        let mut policy = dispatcher(name, case.cores, &DispatchOptions::default());
        for (frame, expected) in frames.iter().zip(case.by_frame) {
            let packet = Packet::new(frame.clone(), Link::Ethernet);
            assert_eq!(policy.core(&Arrival::of(&packet), Nanos(0)), expected, "{name}: {packet:?}");
        }
    }
}

#[test]
fn the_program_follows_the_vectors() {
    let _together = testnet::together();
    follow_the_vectors(IoBackend::Packet, &[3, 8, 128]);
}

#[test]
fn the_program_for_af_xdp_follows_the_vectors() {
    let _together = testnet::together();
    follow_the_vectors(IoBackend::Xdp, &[3]);
}

/// Only some numbers of cores: the kernel takes a third of a second to verify a program, for each of the cases.
fn follow_the_vectors(backend: IoBackend, cores: &[usize]) {
    let (frames, cases) = vectors();
    for case in cases.into_iter().filter(|case| cores.contains(&case.cores)) {
        let name: DispatchName = case.dispatch.parse().expect("a policy");
        let Some(selector) = selector(backend, name, case.cores) else { return };
        let (mut compared, mut refused) = (0, Vec::new());
        let mut before = None;
        for (index, (frame, &expected)) in frames.iter().zip(&case.by_frame).enumerate() {
            // The test bench takes no frame that is shorter than its headers say; on a wire they are.
            let Ok(found) = selector.choose(frame) else {
                refused.push(index);
                continue;
            };
            compared += 1;
            if name == DispatchName::of(PolicyName::RoundRobin) {
                // It has not counted those that were refused.
                assert_eq!(before.map_or(0, |before| (before + 1) % case.cores), found);
                before = Some(found);
                continue;
            }
            assert_eq!(found, expected, "{name} of {}: frame {index} {frame:02x?}", case.cores);
        }
        assert!(
            compared * 10 >= frames.len() * 9,
            "{} of {} frames were refused: {refused:?}",
            refused.len(),
            frames.len()
        );
    }
}

#[test]
fn what_is_decided_outside_of_the_kernel_is_done_within() {
    let _together = testnet::together();
    let (frames, _) = vectors();
    let cores = 4;
    let Some(mut adaptive) = selector(IoBackend::Packet, DispatchName::of(PolicyName::Adaptive), cores)
    else {
        return;
    };
    let Some(mut moved) = selector(IoBackend::Packet, DispatchName::of(PolicyName::RssPlusPlus), cores)
    else {
        return;
    };
    let arrivals: Vec<Arrival> =
        frames.iter().map(|frame| Arrival::of(&Packet::new(frame.clone(), Link::Ethernet))).collect();
    let mut rss = Rss::symmetric(cores);
    for (frame, arrival) in frames.iter().zip(&arrivals) {
        let expected = rss.core(arrival, Nanos(0));
        for selector in [&adaptive, &moved] {
            if let Ok(found) = selector.choose(frame) {
                assert_eq!(found, expected, "as hashing, to begin with");
            }
        }
    }
    // One flow of TCP drowns a core while the others idle.
    let heavy = arrivals.iter().position(|arrival| arrival.checksum.is_some()).expect("TCP");
    let checksum_at = |frame: &[u8]| 14 + usize::from(frame[14] & 15) * 4 + 16;
    let mut frame = frames[heavy].clone();
    let at = checksum_at(&frame);
    let mut visit = |selector: &Selector| {
        let mut cores_seen = vec![0; cores];
        for checksum in 0..512u16 {
            frame[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
            cores_seen[selector.choose(&frame).expect("a whole frame")] += 1;
        }
        cores_seen
    };
    for period in 1..20 {
        let before = visit(&adaptive);
        let busiest = (0..cores).max_by_key(|&core| before[core]).expect("cores");
        let busy = |core| if core == busiest && before[core] > 300 { 1.0 } else { 0.1 };
        let loads: Vec<Load> = (0..cores).map(|core| Load { queued: 0, busy: busy(core) }).collect();
        adaptive.observe(&loads, Nanos(period * 1_000_000)).unwrap();
        moved.observe(&loads, Nanos(period * 1_000_000)).unwrap();
    }
    let spread = visit(&adaptive);
    assert!(spread.iter().filter(|&&count| count > 0).count() >= 3, "{spread:?}");
    // Others of TCP, which are light, and what is not TCP, stay.
    for (frame, arrival) in frames.iter().zip(&arrivals) {
        if arrival.checksum.is_none()
            && let Ok(found) = adaptive.choose(frame)
        {
            assert_eq!(found, rss.core(arrival, Nanos(0)));
        }
    }
}

//! Holds the eBPF programs to the vectors that the Rust policies are held to: bit for bit, on the kernel's test bench.

use std::path::Path;

use serde::Deserialize;
use trueplane_limit::classes::Classes;
use trueplane_limit::format::RateWord;
use trueplane_limit::live::{Bench, Clock, Subject, Tuning};
use trueplane_limit::policy::{Hierarchy, Nimble};
use trueplane_limit::{Limiter, Verdict};
use trueplane_linux::testnet;
use trueplane_units::Nanos;

#[derive(Deserialize)]
struct Words {
    last_ticks: u32,
    occupancy_units: u32,
    rate_word: RateWord,
    burst_units: u32,
}

impl Words {
    fn limiter(&self) -> Nimble {
        let &Words { last_ticks, occupancy_units, rate_word, burst_units } = self;
        Nimble { last_ticks, occupancy_units, rate: rate_word, burst_units }
    }
}

#[derive(Deserialize)]
struct Case {
    name: String,
    limiter: Words,
    draw_bytes: Option<u32>,
    cores: Option<usize>,
    packets: Vec<Packet>,
}

#[derive(Deserialize)]
struct Packet {
    now_ns: u64,
    bytes: u32,
    verdict: Verdict,
    last_ticks: u32,
    occupancy_units: u32,
    core: Option<usize>,
    credit_bytes: Option<u32>,
}

fn read<T: for<'a> Deserialize<'a>>(file: &str) -> T {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/limit").join(file);
    let text = std::fs::read_to_string(&path).expect("the vectors are committed");
    serde_json::from_str(&text).expect("the vectors are well-formed")
}

/// A bench, or one line that says why there is none.
fn bench(classes: &str, draw_bytes: u32) -> Option<Bench> {
    let classes = Classes::parse("classes", classes).expect("the test's classes are well-formed");
    match Bench::new(&classes, Tuning { clock: Clock::Given, draw_bytes }) {
        Ok(bench) => Some(bench),
        Err(trueplane_linux::Error::Privileges { doing }) => {
            println!("skipped: {doing} needs root");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

const ONE: &str = "[[class]]\nname = 'one'\nrate = '1Gbps'\nsource = '10.0.0.0/8'\n";

/// A small frame from 10.0.0.1, capable of ECN.
fn frame() -> Vec<u8> {
    let mut frame = vec![0; 64];
    frame[12..24].copy_from_slice(&[8, 0, 0x45, 2, 0, 50, 0, 0, 0, 0, 64, 17]);
    frame[26..30].copy_from_slice(&[10, 0, 0, 1]);
    frame
}

/// Offers a packet and returns what was counted for it.
fn offer(bench: &mut Bench, subject: Subject, now: u64, bytes: u32) -> Verdict {
    let before = bench.counter(0).expect("the counter is there");
    bench.set_given(Nanos(now), bytes);
    let (through, _) = bench.run(subject, &frame(), 1).expect("the program runs");
    let counted = bench.counter(0).expect("the counter is there") - before;
    assert_eq!(
        (counted.arrived_packets(), counted.arrived_bytes()),
        (1, bytes.into()),
        "every packet is counted once"
    );
    assert_eq!(through, counted.dropped_packets == 0);
    match counted {
        counted if counted.dropped_packets == 1 => Verdict::Drop,
        counted if counted.marked_packets == 1 => Verdict::Mark,
        _ => Verdict::Pass,
    }
}

/// What the program tells of a verdict: XDP cannot mark.
fn told(subject: Subject, verdict: Verdict) -> Verdict {
    if subject == Subject::Xdp && verdict == Verdict::Mark { Verdict::Pass } else { verdict }
}

#[test]
fn the_program_follows_nimbles_vectors() {
    let _together = testnet::together();
    let Some(mut bench) = bench(ONE, 0) else { return };
    for case in read::<Vec<Case>>("nimble.json") {
        for subject in [Subject::Xdp, Subject::Tc] {
            bench.set_limiter(0, &case.limiter.limiter()).unwrap();
            // The counter has no packet of no bytes to tell.
            for (index, packet) in case.packets.iter().enumerate().take_while(|(_, packet)| packet.bytes > 0)
            {
                let verdict = offer(&mut bench, subject, packet.now_ns, packet.bytes);
                let found = bench.limiter(0).unwrap();
                let found = (verdict, found.last_ticks, found.occupancy_units);
                let expected = (told(subject, packet.verdict), packet.last_ticks, packet.occupancy_units);
                assert_eq!(found, expected, "{}: packet {index} {subject:?}", case.name);
            }
        }
    }
}

#[test]
fn the_program_follows_the_vectors_of_credit() {
    let _together = testnet::together();
    let mut cases = read::<Vec<Case>>("credit.json");
    cases.sort_by_key(|case| case.draw_bytes);
    for same in cases.chunk_by(|one, other| one.draw_bytes == other.draw_bytes) {
        let draw_bytes = same[0].draw_bytes.expect("the vectors of credit have a draw");
        let Some(mut bench) = bench(ONE, draw_bytes) else { return };
        for case in same {
            follow_credit(&mut bench, draw_bytes, case);
        }
    }
}

/// Plays all cores of a case on whichever core the test runs on: every core is given the credit of the one that is played.
fn follow_credit(bench: &mut Bench, draw_bytes: u32, case: &Case) {
    bench.set_limiter(0, &case.limiter.limiter()).unwrap();
    let mut credits = vec![(0, false); case.cores.unwrap_or(1)];
    for (index, packet) in case.packets.iter().enumerate() {
        let core = packet.core.expect("the vectors of credit name the core");
        let given = credits[core];
        if draw_bytes > 0 {
            bench.set_credit(0, given.0, given.1).unwrap();
        }
        let verdict = offer(bench, Subject::Tc, packet.now_ns, packet.bytes);
        if draw_bytes > 0 {
            let found = bench.credits(0).unwrap();
            credits[core] = found.into_iter().find(|&credit| credit != given).unwrap_or(given);
        }
        let limiter = bench.limiter(0).unwrap();
        let found = (verdict, limiter.last_ticks, limiter.occupancy_units, Some(credits[core].0));
        let expected = (packet.verdict, packet.last_ticks, packet.occupancy_units, packet.credit_bytes);
        assert_eq!(found, expected, "{}: packet {index}", case.name);
    }
}

#[derive(Deserialize)]
struct Sets {
    sets: Vec<Set>,
}

#[derive(Deserialize)]
struct Set {
    name: String,
    classes: String,
    frames: Vec<Classified>,
}

#[derive(Deserialize)]
struct Classified {
    frame: String,
    fwmark: u32,
    limiter: Option<u32>,
    counter: Option<u32>,
}

#[test]
fn the_programs_find_the_limiters_of_the_classifiers_vectors() {
    let _together = testnet::together();
    for set in read::<Sets>("classifier.json").sets {
        let Some(mut bench) = bench(&set.classes, 0) else { return };
        let limiters: Vec<Nimble> = bench.classifier().limiters().collect();
        let unclassified = bench.classifier().counter_count();
        let mut refused = 0;
        for (index, packet) in set.frames.iter().enumerate() {
            let frame: Vec<u8> = (0..packet.frame.len() / 2)
                .map(|at| u8::from_str_radix(&packet.frame[2 * at..2 * at + 2], 16).expect("hexadecimal"))
                .collect();
            for subject in [Subject::Xdp, Subject::Tc] {
                if subject == Subject::Xdp && packet.fwmark != 0 {
                    continue;
                }
                let counter = packet.counter.unwrap_or(unclassified);
                let before = bench.counter(counter).unwrap();
                bench.set_given(Nanos(1_000_000), 1_000);
                // The test bench takes no frame that is shorter than its headers say; on a wire they are.
                if bench.run_marked(subject, &frame, packet.fwmark, 1).is_err() {
                    refused += 1;
                    continue;
                }
                let counted = bench.counter(counter).unwrap() - before;
                assert_eq!(
                    counted.arrived_packets(),
                    1,
                    "{}: frame {index} {subject:?} {}",
                    set.name,
                    packet.frame
                );
                if let Some(limiter) = packet.limiter {
                    let initial = &limiters[limiter as usize];
                    let found = bench.limiter(limiter).unwrap();
                    assert_ne!(&found, initial, "{}: frame {index} {subject:?} {}", set.name, packet.frame);
                    bench.set_limiter(limiter, initial).unwrap();
                }
            }
        }
        assert!(
            refused * 4 < set.frames.len(),
            "{}: {refused} of {} frames were refused",
            set.name,
            set.frames.len()
        );
    }
}

/// Deterministic numbers, good enough to jump about.
fn numbers(mut seed: u64) -> impl FnMut(u64) -> u64 {
    move |below| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    }
}

#[test]
fn the_program_charges_limits_inside_limits_as_the_policy_does() {
    let _together = testnet::together();
    let classes = "[[class]]\nname = 'tenant'\nrate = '1Gbps'\nburst = '20000B'\nmark = '15000B'\nsource = '10.0.0.0/8'\n\
        [[class]]\nname = 'a'\nrate = '700Mbps'\nburst = '9000B'\ninside = 'tenant'\nsource = '10.0.0.0/16'\n";
    let Some(mut bench) = bench(classes, 0) else { return };
    let [tenant, class] = [0, 1].map(|index| bench.limiter(index).unwrap());
    let mut pair = Hierarchy { class, tenant };
    let (mut below, mut now, mut seen) = (numbers(7), 0, [0; 3]);
    for packet in 0..20_000 {
        now += below(if packet % 1_000 < 500 { 8_000 } else { 15_000 });
        let bytes = 64 + below(1_450) as u32;
        // Every third packet is of the tenant, but not of the class.
        let of_class = below(3) > 0;
        let mut frame = frame();
        frame[27] = u8::from(!of_class);
        bench.set_given(Nanos(now), bytes);
        let (through, _) = bench.run(Subject::Tc, &frame, 1).unwrap();
        let verdict =
            if of_class { pair.offer(bytes, Nanos(now)) } else { pair.tenant.offer(bytes, Nanos(now)) };
        seen[verdict as usize] += 1;
        let found = [0, 1].map(|index| bench.limiter(index).unwrap());
        assert_eq!(
            (through, found),
            (verdict != Verdict::Drop, [pair.tenant, pair.class]),
            "packet {packet}"
        );
    }
    assert!(seen.iter().all(|&verdicts| verdicts > 500), "{seen:?}");
}

#[test]
fn the_sweep_empties_idle_limiters_before_their_clock_wraps() {
    let _together = testnet::together();
    let Some(mut bench) = bench(ONE, 0) else { return };
    assert_eq!(offer(&mut bench, Subject::Xdp, 1_000, 60_000), Verdict::Pass);
    let mut reference = bench.limiter(0).unwrap();
    // Four hours in steps of the sweep.
    for step in 1..=(4 * 3_600 / 34) {
        let now = Nanos(step * 34_000_000_000);
        bench.set_given(now, 0);
        bench.sweep().unwrap();
        reference.refresh(now);
        assert_eq!(bench.limiter(0).unwrap(), reference);
    }
    assert_eq!(bench.limiter(0).unwrap().occupancy_units, 0);
}

/// What a core has drawn for a packet that the limit around refuses stays its credit or goes back: the class does not pay for it.
#[test]
fn a_class_does_not_pay_for_what_its_tenant_refuses_even_on_credit() {
    let _together = testnet::together();
    let classes = "[[class]]\nname = 'tenant'\nrate = '1kbps'\nburst = '2500B'\nsource = '10.0.0.0/8'\n\
        [[class]]\nname = 'a'\nrate = '100kbps'\nburst = '60000B'\ninside = 'tenant'\nsource = '10.0.0.0/16'\n";
    for draw_bytes in [300, 1_000, 16_000] {
        let Some(mut bench) = bench(classes, draw_bytes) else { return };
        bench.set_given(Nanos(1_000), 1_000);
        let passed = (0..40)
            .filter(|_| bench.run(Subject::Tc, &frame(), 1).expect("the program runs").0)
            .count() as u64;
        let (inner, cores) = (bench.limiter(1).unwrap(), bench.credits(1).unwrap());
        let held: u64 = cores.iter().map(|&(bytes, _)| u64::from(bytes)).sum();
        assert!((2..=4).contains(&passed), "{draw_bytes}: {passed}");
        assert_eq!(
            u64::from(inner.occupancy_units),
            (passed * 1_000 + held) * 64,
            "{draw_bytes}: {held} B on credit"
        );
    }
}

//! Flows that are made up, and what the attack takes exactly.

use trueplane_surge::reassembly::{Attack, Counts, Innocent, Limits, List, Ranges, Reassembler, Tree};
use trueplane_surge::segments::{Segment, Segments};

fn counts<R: Ranges>(segments: &Segments, rounds: usize) -> Counts {
    let mut reassembler = Reassembler::<R>::new(Limits::default()).unwrap();
    for _ in 0..rounds {
        for segment in segments.all() {
            reassembler.accept(segment.flow, segment.tcp.unwrap(), segment.length, 0, |_| {});
        }
    }
    *reassembler.counts()
}

/// The i-th segment of a flow passes i nodes of the list, or takes ⌈log₂(i + 1)⌉ comparisons.
#[test]
fn the_attack_takes_exactly_so_many_steps() {
    for (flows, per_flow) in [(1, 1), (1, 2), (3, 5), (2, 100), (50, 1000), (1, 8192)] {
        let attack = Attack { flows, per_flow, seed: 3 }.segments().unwrap();
        assert_eq!(attack.all().len() as u64, u64::from(flows) * (u64::from(per_flow) + 1));
        assert!(attack.all().iter().all(|segment| segment.bits == 512 && segment.length <= 1));
        let (flows, n) = (u64::from(flows), u64::from(per_flow));
        for rounds in [1, 2] {
            let (list, tree) = (counts::<List>(&attack, rounds), counts::<Tree>(&attack, rounds));
            let rounds = rounds as u64;
            assert_eq!(list.steps, rounds * flows * n * (n - 1) / 2);
            let comparisons: u64 = (0..n).map(|ranges| (ranges as f64 + 1.0).log2().ceil() as u64).sum();
            assert_eq!(tree.steps, rounds * flows * comparisons);
            assert!(comparisons <= n * u64::from(n.next_power_of_two().ilog2()));
            for counts in [list, tree] {
                assert_eq!((counts.longest, counts.early), (n, rounds * flows * n));
                assert_eq!((counts.released, counts.beyond, counts.evicted), (0, 0, 0));
            }
        }
    }
}

/// Pigasus drops a flow at 16 KB: the list never gets longer than half of that.
#[test]
fn the_window_ends_an_attack() {
    let attack = Attack { flows: 1, per_flow: 8193, seed: 3 }.segments().unwrap();
    let counts = counts::<List>(&attack, 1);
    assert_eq!((counts.longest, counts.beyond, counts.early), (8192, 1, 8192));
}

fn late(segments: &[Segment]) -> (u64, u64) {
    let mut reassembler = Reassembler::<List>::new(Limits::default()).unwrap();
    let mut held = 0;
    for segment in segments {
        reassembler.accept(segment.flow, segment.tcp.unwrap(), segment.length, 0, |_| {});
        held = held.max(reassembler.ranges(segment.flow) as u64);
    }
    let counts = reassembler.counts();
    assert_eq!(counts.released, segments.iter().map(|segment| u64::from(segment.length)).sum::<u64>());
    assert_eq!((counts.old, counts.beyond, counts.longest), (0, 0, held));
    (counts.early, held)
}

#[test]
fn innocent_flows_are_nearly_in_order() {
    let usual = Innocent::default();
    let segments = usual.segments().unwrap();
    assert_eq!(segments.all().len(), 101_000);
    assert_eq!(segments.all(), usual.segments().unwrap().all(), "the same seed");
    let other = Innocent { seed: 2, ..usual.clone() }.segments().unwrap();
    assert_ne!(segments.all(), other.all());

    // A hundredth is late, and is overtaken by two on average: 2% are early, with a standard deviation of 0.05%.
    let (early, longest) = late(segments.all());
    assert!((1700..2300).contains(&early), "{early} early");
    assert!((1..=6).contains(&longest), "{longest}");
    assert_eq!(late(Innocent { late: 0.0, ..usual.clone() }.segments().unwrap().all()), (0, 0));
    let (early, longest) = late(Innocent { late: 0.5, overtaken: 8, ..usual }.segments().unwrap().all());
    assert!(early > 20_000 && longest > 2, "{early} early, {longest}");
}

#[test]
fn sizes_come_as_often_as_they_should() {
    let sizes = vec![(64, 1), (100, 0), (1518, 3)];
    let segments = Innocent { sizes, ..Innocent::default() }.segments().unwrap();
    let data: Vec<&Segment> = segments.all().iter().filter(|segment| segment.length > 0).collect();
    assert!(data.iter().all(|segment| segment.length == segment.bits / 8 - 58));
    let long = data.iter().filter(|segment| segment.bits == 8 * 1518).count();
    let short = data.iter().filter(|segment| segment.bits == 8 * 64).count();
    assert_eq!(long + short, 100_000);
    // A standard deviation is 137.
    assert!((74_000..76_000).contains(&long), "{long}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let usual = Innocent::default();
    let cases = [
        (Innocent { flows: 0, ..usual.clone() }, "expected flows and packets of each for 1 to "),
        (
            Innocent { flows: u32::MAX, packets: u32::MAX, ..usual.clone() },
            "expected flows and packets of each",
        ),
        (
            Innocent { sizes: vec![(63, 1)], ..usual.clone() },
            "expected frames of 64 to 536870911 bytes, got 63",
        ),
        (
            Innocent { sizes: vec![(64, 0)], ..usual.clone() },
            "expected sizes of frames with weights above zero",
        ),
        (Innocent { late: f64::NAN, ..usual.clone() }, "expected a probability from 0 to 1"),
        (Innocent { overtaken: 0, ..usual }, "expected late segments to be overtaken by 1 or more, got 0"),
    ];
    for (innocent, expected) in cases {
        let error = innocent.segments().unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }
    assert!(Attack { flows: 1, per_flow: 0, seed: 1 }.segments().is_err());
}

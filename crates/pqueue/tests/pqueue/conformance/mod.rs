//! One table that every priority queue must pass, each against sorted vectors; and the seeds of the fuzzer in `fuzz/`, through
//! what its target does.

mod worked;

use std::path::Path;

use proptest::prelude::*;
use trueplane_pqueue::Overflow;
use trueplane_pqueue::window::Beyond;

use targets::{Act, Seen, Shape, Step, pieo, table, timers, window};

// The target's own code; `cargo test` at the root does not build the fuzzer, which wants a nightly compiler.
#[path = "../../../fuzz/mod.rs"]
#[expect(unreachable_pub, reason = "of a library there, a module here")]
mod targets;

const OVERFLOWS: [Overflow; 3] = [Overflow::Refuse, Overflow::DropWorst, Overflow::DropIfWorst];

fn step() -> impl Strategy<Value = Step> {
    let act = prop_oneof![
        4 => Just(Act::Insert),
        2 => Just(Act::ExtractMin),
        1 => Just(Act::ExtractMax),
        1 => Just(Act::Remove),
    ];
    // Shares of the span that meet again, at both ends and in the middle, and one past the end.
    let raw = prop_oneof![2 => any::<u16>(), 1 => 0..4u16, 1 => 32_766..32_770u16, 1 => 65_530..=65_535u16];
    (act, any::<u8>(), raw).prop_map(|(act, queue, raw)| Step { act, queue, raw })
}

fn shape() -> impl Strategy<Value = Shape> {
    let span = prop_oneof![Just(1u64), Just(64), Just(256), 1..=256u64];
    (1..40usize, span, prop::sample::select(OVERFLOWS.to_vec()))
        .prop_map(|(capacity, span, overflow)| Shape { capacity, span, overflow })
}

proptest! {
    #[test]
    fn every_queue_is_a_sorted_vector(shape in shape(), steps in prop::collection::vec(step(), 0..300)) {
        for mut row in table::rows(shape) {
            row.follow(&steps);
        }
    }

    #[test]
    fn windows_do_what_they_say(shape in shape(), steps in prop::collection::vec(step(), 0..300)) {
        for beyond in [Beyond::Refuse, Beyond::Last] {
            window::follow(shape, beyond, false, &steps);
            window::follow(shape, beyond, true, &steps);
        }
    }

    #[test]
    fn timers_are_a_sorted_tree(capacity in 1..40usize, steps in prop::collection::vec(step(), 0..300)) {
        timers::follow(capacity, &steps);
    }

    #[test]
    fn what_may_not_leave_yet_waits(capacity in 1..40usize, steps in prop::collection::vec(step(), 0..300)) {
        pieo::follow(capacity, &steps);
    }
}

fn insert(raw: u16) -> Step {
    Step { act: Act::Insert, queue: 0, raw }
}

fn bare(act: Act) -> Step {
    Step { act, queue: 0, raw: 0 }
}

/// Does `steps` to every queue under every rule, and calls `judge` with what was seen of each.
fn every_queue(capacity: usize, span: u64, steps: &[Step], judge: impl Fn(&str, Overflow, Seen)) {
    for overflow in OVERFLOWS {
        for mut row in table::rows(Shape { capacity, span, overflow }) {
            let (capacity, expected) = row.capacities();
            assert_eq!(capacity, expected, "{}", row.name);
            let seen = row.follow(steps);
            judge(&row.name, overflow, seen);
        }
    }
}

#[test]
fn one_priority_takes_everything() {
    let mut steps = vec![insert(30_000); 70];
    steps.extend([bare(Act::ExtractMin); 40]);
    steps.extend([insert(30_000); 30]);
    steps.extend([bare(Act::ExtractMax); 70]);
    every_queue(50, 64, &steps, |name, _, seen| {
        assert!(seen.served >= 40 && seen.full + seen.displaced == 20, "{name}: {seen:?}");
    });
}

#[test]
fn the_last_item_leaves_from_either_end() {
    let steps: Vec<Step> = [0, 1, 21_845, 32_768, 65_000]
        .into_iter()
        .flat_map(|raw| [insert(raw), bare(Act::ExtractMin), insert(raw), bare(Act::ExtractMax)])
        .chain([bare(Act::ExtractMin), bare(Act::ExtractMax)])
        .collect();
    every_queue(1, 100, &steps, |name, _, seen| assert!(seen.served >= 5, "{name}: {seen:?}"));
}

#[test]
fn queues_are_filled_and_drained_again_and_again() {
    let spread = |round: u16| {
        (0..100).map(move |item: u16| insert(item.wrapping_mul(7_919).wrapping_add(round) % 65_000))
    };
    let mut steps = Vec::new();
    for (round, end) in [Act::ExtractMin, Act::ExtractMax, Act::ExtractMin].into_iter().enumerate() {
        steps.extend(spread(round as u16));
        steps.extend([bare(end); 105]);
    }
    every_queue(90, 256, &steps, |name, overflow, seen| {
        let gone = if overflow == Overflow::Refuse { seen.full } else { seen.full + seen.displaced };
        assert!(seen.served >= 90, "{name}: {seen:?}");
        assert!(gone >= 10 || name == "bank", "{name}: {seen:?}");
    });
}

#[test]
fn bounds_are_refused_and_what_is_below_them_is_not() {
    let steps = [insert(0), insert(u16::MAX), insert(u16::MAX - 1)];
    every_queue(3, 256, &steps, |name, _, seen| {
        let has_bound = !(name == "pifo" || name == "heap" || name.starts_with("window"));
        assert_eq!(seen.out_of_span, u64::from(has_bound), "{name}");
    });
}

#[test]
fn the_order_of_a_window_is_exact_for_ever() {
    for (capacity, span) in [(1, 1), (7, 3), (40, 64), (40, 256)] {
        let mut random = 1u32;
        let steps: Vec<Step> = (0..100_000)
            .map(|number| {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let raw = (random >> 16) as u16;
                // Fuller and emptier in turn, down to nothing.
                let share = if number / 500 % 2 == 0 { 6 } else { 12 };
                let act = if raw % share < 4 { Act::Insert } else { Act::ExtractMin };
                Step { act, queue: 0, raw: raw.rotate_left(5) }
            })
            .collect();
        for mut row in table::rows(Shape { capacity, span, overflow: Overflow::Refuse }) {
            if row.name.starts_with("window") {
                assert!(row.follow(&steps).served > 20_000, "{}", row.name);
            }
        }
    }
}

#[test]
fn seeds_are_replayed_and_reach_everything() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/pqueue");
    let mut sum = Seen::default();
    for entry in folder.read_dir().unwrap() {
        sum += targets::drive(&std::fs::read(entry.unwrap().path()).unwrap());
    }
    let Seen { served, displaced, full, out_of_span, removed, stale } = sum;
    assert!([served, displaced, full, out_of_span, removed, stale].iter().all(|&n| n > 10), "{sum:?}");
}

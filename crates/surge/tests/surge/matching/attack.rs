//! The payload that costs most per bit.

use trueplane_surge::compare::Options;
use trueplane_surge::compare::run::on;
use trueplane_surge::matching::attack::{Frame, MINIMUM_BITS, Search, search, worst_payload};
use trueplane_surge::matching::engine::{Backtracking, Linear, STEP_LIMIT};
use trueplane_surge::matching::{Costs, Matcher, Table};
use trueplane_surge::segments::{Made, Segments};
use trueplane_surge::workload::matching::Matching;
use trueplane_surge::workload::open::Opened;
use trueplane_surge::workload::source::Source as _;
use trueplane_units::{Nanos, Parameters as _};

use super::{example, rules};

const STEPS_ONLY: Costs = Costs { base: Nanos(0), byte_ps: 0, step_ps: 1_000 };

#[test]
fn the_worst_packet_is_the_one_with_the_most_work_per_bit() {
    let rules = rules(["content:\"a\"; pcre:\"/x/\";"]);
    let matcher = Matcher::<Backtracking>::new(&rules, STEP_LIMIT).unwrap();
    // As many steps as places: 12, 6, 1001, and none for what is no candidate.
    let payloads = ["aaaaaaaaaaa".to_owned(), "aaaaa".into(), "a".repeat(1000), "x".repeat(1400)];
    let table = Table::new(&matcher, &payloads, &()).unwrap();
    let worst = worst_payload(&table, [600, 512, 9_000, 11_664], &STEPS_ONLY).unwrap();
    assert_eq!((worst.index, worst.bits, worst.steps, worst.job), (2, 9_000, 1_001, Nanos(1_001)));
    // A large job in a large packet is not the worst.
    let worst = worst_payload(&table, [600, 512, 90_000, 11_664], &STEPS_ONLY).unwrap();
    assert_eq!((worst.index, worst.bits, worst.steps), (0, 600, 12));
    // No frame is smaller than the smallest: 12 steps in 512 bits are more than 6 in as many.
    let worst = worst_payload(&table, [512, 100, 90_000, 11_664], &STEPS_ONLY).unwrap();
    assert_eq!((worst.index, worst.bits), (0, MINIMUM_BITS));
    assert_eq!(worst_payload(&table, [], &STEPS_ONLY), None);
}

#[test]
fn frames_have_a_smallest_size() {
    let frame = Frame::default();
    assert_eq!([0, 6, 7, 1460].map(|bytes| frame.bits(bytes)), [512, 512, 520, 1518 * 8]);
    assert_eq!(frame.bits(usize::MAX), u32::MAX);
}

#[test]
fn a_search_finds_what_blows_up() {
    let rules = example();
    let matcher = Matcher::<Backtracking>::new(&rules, 100_000).unwrap();
    let options = Search { tries: 150, ..Search::default() };
    let worst = search(&rules, &matcher, &STEPS_ONLY, &options, &()).unwrap();
    assert_eq!(worst.bits, Frame::default().bits(worst.payload.len()));
    assert_eq!(worst.steps, matcher.inspect(&worst.payload, &mut Default::default()).steps());
    assert_eq!(worst.job, Nanos(worst.steps));
    // Rule 1 alone reaches the limit in a payload of 26 bytes or so: more than a hundred steps a bit.
    assert!(worst.steps >= 100_000 && worst.steps > 100 * u64::from(worst.bits), "{worst:?}");

    // The linear engine takes no more than a step a byte for each of its candidates.
    let linear = Matcher::<Linear>::new(&rules, 0).unwrap();
    let harmless = search(&rules, &linear, &STEPS_ONLY, &options, &()).unwrap();
    assert!(harmless.steps <= 12 * harmless.payload.len() as u64, "{harmless:?}");
}

#[test]
fn a_search_finds_the_quadratic_one() {
    let rules = rules(["content:\"unescape\"; pcre:\"/\\s+eval/\";"]);
    let matcher = Matcher::<Backtracking>::new(&rules, STEP_LIMIT).unwrap();
    let worst = search(&rules, &matcher, &STEPS_ONLY, &Search::default(), &()).unwrap();
    // A payload of n bytes without blanks takes n + 1 steps; this one takes far more.
    assert!(worst.steps > 20 * worst.payload.len() as u64, "{worst:?}");
}

#[test]
fn a_search_is_the_same_for_the_same_seed() {
    let rules = example();
    let matcher = Matcher::<Backtracking>::new(&rules, 5_000).unwrap();
    let run = |seed, threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let options = Search { tries: 60, seed, ..Search::default() };
        pool.install(|| search(&rules, &matcher, &Costs::default(), &options, &()).unwrap())
    };
    assert_eq!(run(1, 1), run(1, 4));
    assert_ne!(run(1, 1).payload, run(2, 1).payload);
}

#[test]
fn payloads_stay_within_the_frame() {
    let rules = rules(["content:\"abc\"; pcre:\"/(?:(?:abc){2,50}){2,50}x/\";"]);
    let matcher = Matcher::<Backtracking>::new(&rules, 10_000).unwrap();
    let options = Search { frame: Frame { headers: 58, longest: 40 }, ..Search::default() };
    let worst = search(&rules, &matcher, &STEPS_ONLY, &options, &()).unwrap();
    assert!(!worst.payload.is_empty() && worst.payload.len() <= 40, "{worst:?}");
}

/// A packet that the estimator is wrong about at first is not sent for ever as if it learnt nothing.
#[test]
fn a_packet_that_is_learnt_from_is_not_misjudged_again() {
    let rules = rules(["content:\"id=\"; pcre:\"/id=(?:a+)+$/\";"]);
    let slow = format!("id={}!", "a".repeat(14));
    let made = |number: u64| {
        let payload = if number == 1_000 { slow.clone() } else { "nothing to try here".to_owned() };
        let length = payload.len() as u32;
        (
            Made { at: Nanos(number * 2_000), flow: number, bits: 1_000, length, tcp: None },
            payload.into_bytes(),
        )
    };
    let segments = Segments::made("made", (0..2_000).map(made));
    let source = Matching::new::<Backtracking>(&segments, &rules, STEP_LIMIT, &()).unwrap();
    let profile = source.profile(&source.draw(0));
    assert!(profile.jobs.iter().any(|job| job.estimate < job.job), "the estimator is wrong at first");
    assert!(profile.misjudged.iter().all(|attack| attack.job <= attack.estimate), "{:?}", profile.misjudged);
    let opened = Opened::from(source);
    let of = |attack| {
        let given = [("policies", "wsjf"), ("attack_rate", "10%"), ("attack", attack)];
        on(&opened, &Options::given(&given).unwrap(), &(), None).unwrap().rows.remove(0)
    };
    let (optimal, own) = (of("optimal"), of("own"));
    assert!(optimal.attack.job <= optimal.attack.estimate, "{:?}", optimal.attack);
    assert!(optimal.bound.unwrap() < 1.0 && optimal.displacement_factor < 1.0, "{optimal:?}");
    assert!(own.displacement_factor < 1.0, "{}", own.displacement_factor);
}

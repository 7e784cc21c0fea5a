//! Schedules of `cache bound`, good and bad ones: the simulator has the model's totals, and certificates hold or are
//! refused as they should.

use std::path::Path;

use proptest::prelude::*;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde_json::Value;
use trueplane_cache::belatedly::{Prices, Schedule};
use trueplane_cache::bound::export::write_schedule;
use trueplane_cache::bound::{Limits, Problem, Scenario, Solution, certificate, replay, search};
use trueplane_cache::capacity::Capacity;
use trueplane_cache::check::{Certificate, CheckedCertificate, format, verify};
use trueplane_cache::latency::Latency;
use trueplane_trace::{Clock, Trace, TraceOptions};
use trueplane_units::{Bytes, Nanos, Warmup};

// The fuzz target's own code; `cargo test` at the root does not build the fuzzer, which wants a nightly compiler.
#[path = "../../fuzz/certificate.rs"]
#[expect(unreachable_pub, reason = "a library there, a module here")]
mod target;

/// A trace of a few requests, and what is asked of it.
#[derive(Clone, Debug)]
struct Case {
    text: String,
    scenario: Scenario,
    /// Where the draws of schedules and prices begin.
    seed: u64,
}

impl Case {
    fn trace(&self) -> Trace {
        Trace::from_bytes("t.csv", self.text.clone().into_bytes(), &TraceOptions::default()).unwrap()
    }

    /// Itself, or with steps that are never idle and one fetch time for all, if several fetches end at once and none may pass by.
    fn possible(mut self) -> Self {
        if Problem::read(&self.trace(), &self.scenario, &()).is_err() {
            let lines: Vec<&str> = self.text.lines().filter(|line| !line.is_empty()).collect();
            self.text = lines.join("\n");
            self.scenario.clock = Clock::Steps;
            self.scenario.latency = Latency::Constant(Nanos(3));
        }
        self
    }

    fn problem(&self) -> Problem {
        Problem::read(&self.trace(), &self.scenario, &()).unwrap()
    }
}

fn latency() -> impl Strategy<Value = Latency> {
    prop_oneof![
        (0..9u64).prop_map(|fetch| Latency::Constant(Nanos(fetch))),
        prop::collection::vec((0..12u64).prop_map(Nanos), 1..4).prop_map(Latency::Origins),
        (1..9u64, any::<u64>()).prop_map(|(median, seed)| Latency::LogNormal {
            median: Nanos(median),
            sigma: 0.7,
            seed
        }),
        Just(Latency::Trace),
    ]
}

fn case() -> impl Strategy<Value = Case> {
    let request = (0..3u64, 0..6u64, 0..9u64);
    let requests = prop::collection::vec(request, 1..40);
    let capacity = (1..6u64).prop_flat_map(|capacity| {
        prop_oneof![Just(Capacity::Objects(capacity)), Just(Capacity::Bytes(Bytes(2 * capacity)))]
    });
    let terms = (any::<bool>(), 0..4u64, 0..6u64, any::<bool>(), prop::option::of(1..50u64));
    (requests, prop::collection::vec(0..7u64, 6), latency(), capacity, terms, any::<u64>()).prop_map(
        |(requests, sizes, latency, capacity, (steps, hit, warmup, bypass, prefix), seed)| {
            let mut text = "time_ns,key,size,fetch_ns\n".to_owned();
            let mut now = 0;
            for (gap, key, fetch) in requests {
                now += gap;
                let size = sizes[key as usize];
                // Idle steps, where time is steps.
                text.push_str(&"\n".repeat(gap as usize));
                text.push_str(&format!("{now},{key},{size},{fetch}\n"));
            }
            let scenario = Scenario {
                latency,
                capacity,
                clock: if steps { Clock::Steps } else { Clock::Timestamps },
                hit_latency: Nanos(hit),
                warmup: Warmup::Count(warmup),
                bypass,
                bypass_oversized: true,
                requests: prefix,
            };
            Case { text, scenario, seed }.possible()
        },
    )
}

/// Bits at random, and prices at random with some repetition.
fn solution(problem: &Problem, draw: &mut SplitMix64) -> Solution {
    let instance = &problem.instance;
    let often = draw.next_u64() % 4;
    let keep = (0..instance.requests()).map(|_| draw.next_u64() % 4 < often).collect();
    with(problem, Schedule { keep }, prices(instance.requests(), draw))
}

fn with(problem: &Problem, schedule: Schedule, prices: Prices) -> Solution {
    let instance = &problem.instance;
    let limits = Limits { gap: 0.0, time: None, iterations: 0 };
    let (upper, lower) = (schedule.replay(instance).0, prices.lower(instance));
    Solution { upper, lower, prices, schedule, ..search(instance, &limits, &()) }
}

fn prices(gaps: usize, draw: &mut SplitMix64) -> Prices {
    let bits = (draw.next_u64() % 4) as u32;
    let mut price = 0;
    let gaps = (0..gaps)
        .map(|_| {
            if draw.next_u64().is_multiple_of(3) {
                price = draw.next_u64() % 6;
            }
            price
        })
        .collect();
    Prices { bits, gaps }
}

/// Leaves out what does not fit, from the last request to the first; false if even nothing does not fit.
fn make_room(problem: &Problem, schedule: &mut Schedule) -> bool {
    for bit in (0..schedule.keep.len()).rev() {
        if feasible(problem, schedule) {
            return true;
        }
        schedule.keep[bit] = false;
    }
    feasible(problem, schedule)
}

fn feasible(problem: &Problem, schedule: &Schedule) -> bool {
    let (_, held) = schedule.replay(&problem.instance);
    held.iter().all(|&held| held <= problem.instance.terms.capacity)
}

fn document(case: &Case, problem: &Problem, solution: &Solution) -> Vec<u8> {
    let mut document = Vec::new();
    certificate::write("t.csv", problem, &case.scenario, solution, &mut document).unwrap();
    document
}

fn checked(case: &Case, document: &[u8]) -> Result<CheckedCertificate, String> {
    verify("c.json", document, &case.trace(), &()).map_err(|error| {
        let line = error.to_string();
        assert!(!line.contains(char::is_control) && !line.is_empty(), "{line:?}");
        line
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Whatever the schedule, the simulator says the same of it as the model: what it costs, and whether it fits.
    #[test]
    fn the_simulator_has_the_totals_of_the_model(case in case()) {
        let problem = case.problem();
        let mut draw = SplitMix64::seed_from_u64(case.seed);
        let mut solution = solution(&problem, &mut draw);
        let replayed = replay::replay(&problem, &case.scenario, &solution.schedule);
        prop_assert_eq!(replayed.fits, feasible(&problem, &solution.schedule));
        if replayed.fits {
            prop_assert_eq!(replayed.total, u128::from(solution.upper));
        }
        if make_room(&problem, &mut solution.schedule) {
            let total = solution.schedule.replay(&problem.instance).0;
            let confirmed = replay::confirm(&problem, &case.scenario, &solution.schedule, total).unwrap();
            let requests = problem.requests.len() as u64;
            let counted = requests - problem.instance.terms.warmup.min(requests);
            prop_assert_eq!(confirmed.hits + confirmed.delayed_hits + confirmed.misses, counted);
            replay::confirm(&problem, &case.scenario, &solution.schedule, total + 1).unwrap_err();
        }
    }

    /// The checker accepts what is true, finds the same bounds, and refuses what does not fit.
    #[test]
    fn certificates_hold_if_the_schedule_fits(case in case()) {
        let problem = case.problem();
        let mut draw = SplitMix64::seed_from_u64(case.seed);
        let mut solution = solution(&problem, &mut draw);
        let found = checked(&case, &document(&case, &problem, &solution));
        match found {
            Ok(checked) => {
                prop_assert!(feasible(&problem, &solution.schedule));
                prop_assert_eq!((checked.bounds.lower, checked.bounds.upper), (solution.lower, solution.upper));
            }
            Err(line) => {
                prop_assert!(!feasible(&problem, &solution.schedule));
                prop_assert!(line.contains("it is not feasible"), "{}", line);
            }
        }
        if make_room(&problem, &mut solution.schedule) {
            let solution = with(&problem, solution.schedule, solution.prices);
            let checked = checked(&case, &document(&case, &problem, &solution)).unwrap();
            prop_assert!(checked.bounds.lower <= checked.bounds.upper, "a lower bound above a schedule's total");
            let replayed = replay::replay(&problem, &case.scenario, &solution.schedule);
            let counts = (checked.hits, checked.delayed_hits, checked.misses);
            prop_assert_eq!(counts, (replayed.hits, replayed.delayed_hits, replayed.misses));
        }
    }

    /// Any claim but the true one is refused, and the message says which.
    #[test]
    fn untrue_claims_are_refused(case in case(), which in 0..3usize, up in any::<bool>()) {
        let problem = case.problem();
        let mut draw = SplitMix64::seed_from_u64(case.seed);
        let mut schedule = solution(&problem, &mut draw).schedule;
        prop_assume!(make_room(&problem, &mut schedule));
        let solution = with(&problem, schedule, prices(problem.requests.len(), &mut draw));
        let mut certificate = certificate::certificate("t.csv", &problem, &case.scenario, &solution);
        let claims = &mut certificate.header.claims;
        let step = if up { 1 } else { -1 };
        match which {
            0 => claims.lower = claims.lower.wrapping_add_signed(step),
            1 => claims.upper = claims.upper.wrapping_add_signed(step),
            _ => claims.lower_scaled += i128::from(step),
        }
        certificate.checksum = certificate.sum();
        let line = checked(&case, &serde_json::to_vec(&certificate).unwrap()).unwrap_err();
        let expected = ["c.json: lower:", "c.json: upper:", "c.json: lower:"][which];
        prop_assert!(line.starts_with(expected), "{}", line);
    }
}

/// One small certificate with a bit of everything.
fn example() -> (Case, Problem, Solution) {
    let text = "time_ns,key,size,fetch_ns\n0,1,2,0\n3,2,1,0\n5,1,2,0\n9,1,2,0\n12,2,1,0\n12,3,9,0\n20,1,2,0\n21,2,1,0\n";
    let scenario = Scenario {
        latency: Latency::Origins(vec![Nanos(4), Nanos(6)]),
        capacity: Capacity::Bytes(Bytes(3)),
        clock: Clock::Timestamps,
        hit_latency: Nanos(1),
        warmup: Warmup::Count(1),
        bypass: true,
        bypass_oversized: true,
        requests: None,
    };
    let case = Case { text: text.to_owned(), scenario, seed: 1 };
    let problem = case.problem();
    let mut schedule = Schedule { keep: vec![true; 8] };
    assert!(make_room(&problem, &mut schedule));
    let prices = Prices { bits: 2, gaps: vec![0, 0, 1, 1, 2, 2, 2, 0] };
    let solution = with(&problem, schedule, prices);
    (case, problem, solution)
}

/// Calls `change` with every number of a document, by its place.
fn numbers(value: &Value, path: &mut Vec<String>, found: &mut Vec<String>) {
    let children: Vec<(String, &Value)> = match value {
        Value::Number(_) => {
            found.push(format!("/{}", path.join("/")));
            return;
        }
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect()
        }
        Value::Object(members) => members.iter().map(|(name, item)| (name.clone(), item)).collect(),
        _ => return,
    };
    for (name, child) in children {
        path.push(name);
        numbers(child, path, found);
        path.pop();
    }
}

#[test]
fn no_number_can_be_changed() {
    let (case, problem, solution) = example();
    let original = document(&case, &problem, &solution);
    let true_bounds = checked(&case, &original).unwrap().bounds;
    let value: Value = serde_json::from_slice(&original).unwrap();
    let mut places = Vec::new();
    numbers(&value, &mut Vec::new(), &mut places);
    assert!(places.len() > 20, "{places:?}");
    let (mut refused, mut accepted) = (0, Vec::new());
    for place in &places {
        for step in [-1, 1] {
            let mut changed = value.clone();
            let number = changed.pointer_mut(place).unwrap();
            let new = number.as_i64().unwrap() + step;
            *number = new.into();
            let Ok(mut repaired) = serde_json::from_value::<Certificate>(changed) else {
                refused += 1;
                continue;
            };
            let unrepaired = checked(&case, &serde_json::to_vec(&repaired).unwrap()).unwrap_err();
            repaired.checksum = repaired.sum();
            match checked(&case, &serde_json::to_vec(&repaired).unwrap()) {
                Ok(CheckedCertificate { bounds, .. }) => {
                    assert!(bounds.lower <= bounds.upper, "{place} {step}");
                    assert!(unrepaired.contains("checksum"), "{unrepaired}");
                    if !place.starts_with("/header/terms") {
                        assert!(bounds.lower <= true_bounds.upper && true_bounds.lower <= bounds.upper);
                    }
                    accepted.push(format!("{place} {step:+}"));
                }
                Err(_) => refused += 1,
            }
        }
    }
    // What nothing depends on may change: here a larger cache would be used no better, or the like.
    assert!(refused > 9 * accepted.len(), "{accepted:?}");
}

#[test]
fn what_is_no_certificate_of_the_trace_is_refused() {
    let (case, problem, solution) = example();
    let original = String::from_utf8(document(&case, &problem, &solution)).unwrap();
    let refusal = |text: &str| checked(&case, text.as_bytes()).unwrap_err();
    for (from, to, expected) in [
        ("\"version\":1", "\"version\":2", "c.json: version: expected 1, got 2"),
        ("trueplane cache bound", "something else", "c.json: format: expected"),
        ("\"requests\":8", "\"requests\":7", "t.csv: expected the 7 requests of c.json, got more"),
        ("\"requests\":8", "\"requests\":18446744073709551615", "of c.json, got 8"),
        ("\"requests\":8", "\"requests\":-8", "c.json: header: "),
        ("\"requests\":8", "\"requests\":8.0", "c.json: header: "),
        ("\"price_bits\":2", "\"price_bits\":63", "c.json: price_bits: expected at most 62, got 63"),
        ("origins:4ns,6ns", "origins:4ns,7ns", "another trace, or read by other flags"),
        ("origins:4ns,6ns", "origins:4ns,06ns", "c.json: latency: expected origins:4ns,6ns, got"),
        ("origins:4ns,6ns", "origins:4steps", "c.json: latency: expected fetch times in ns"),
        ("origins:4ns,6ns", "trace", "others"),
        ("\"seed\":null", "\"seed\":1", "c.json: seed: expected one with lognormal latencies only"),
        ("\"capacity\":3", "\"capacity\":0", "c.json: capacity: expected 1 to 2^60, got 0"),
        (
            "\"capacity_unit\":\"bytes\"",
            "\"capacity_unit\":\"KiB\"",
            "c.json: capacity_unit: expected objects or bytes",
        ),
        ("\"clock\":\"timestamps\"", "\"clock\":\"st\\neps\"", "c.json: clock: expected timestamps or steps"),
        ("\"bypass_oversized\":true", "\"bypass_oversized\":false", "is larger than the certified cache"),
        ("\"warmup\":1", "\"warmup\":1,\"warmup\":1", "c.json: "),
        ("\"header\"", "\"head\"", "expected \"header\" first"),
        ("\"checksum\": \"", "\"checksum\": \"0", "c.json: checksum: expected"),
    ] {
        let changed = original.replacen(from, to, 1);
        assert_ne!(changed, original, "{from}");
        let line = refusal(&changed);
        assert!(line.contains(expected), "{from} → {to}: {line}");
    }
    for end in (0..original.trim_end().len()).step_by(7) {
        refusal(&original[..end]);
    }
    assert!(refusal(&format!("{original}{}", " ".repeat(2 << 20))).contains("B that 8 requests can need"));
    assert!(refusal(&format!("{}{}", original, "x")).contains("this is not JSON: trailing characters"));
    for (other, expected) in [
        (case.text.replacen("0,1,", "1,1,", 1), "another trace"),
        (case.text.replace(",9,", ",8,"), "another trace"),
        (case.text.lines().take(8).map(|line| format!("{line}\n")).collect(), "of c.json, got 7"),
        (case.text.replacen(",2,", ",1,", 1), "has sizes"),
    ] {
        let line = checked(&Case { text: other, ..case.clone() }, original.as_bytes()).unwrap_err();
        assert!(line.starts_with("t.csv: ") && line.contains(expected), "{line}");
    }
}

/// What somebody does to a certificate.
type Change = dyn Fn(&mut Certificate);

/// Numbers near the ends of their ranges are added up exactly or refused.
#[test]
fn numbers_that_leave_all_bounds_are_refused() {
    let (case, problem, solution) = example();
    let certificate = certificate::certificate("t.csv", &problem, &case.scenario, &solution);
    let refusal = |change: &Change| {
        let mut changed = certificate.clone();
        change(&mut changed);
        changed.checksum = changed.sum();
        checked(&case, &serde_json::to_vec(&changed).unwrap()).unwrap_err()
    };
    let huge = |certificate: &mut Certificate| certificate.prices = vec![(u64::MAX, 8)];
    let true_sum = refusal(&huge);
    assert!(true_sum.starts_with("c.json: lower: expected lower_scaled of -"), "{true_sum}");
    let changes: &[(&Change, &str)] = &[
        (&|it| it.prices = vec![(1, u64::MAX), (2, 9)], "they never end"),
        (&|it| it.prices = vec![(1, 1 << 60)], "prices: expected 8, got 1152921504606846976"),
        (&|it| it.prices = vec![(1, 4), (1, 4)], "the same price"),
        (&|it| it.prices = vec![(1, 8), (2, 0)], "empty run"),
        (&|it| it.prices.clear(), "prices: expected 8, got 0"),
        (&|it| it.schedule = vec![u64::MAX, 9], "they never end"),
        (&|it| it.schedule = vec![8, 0], "empty run"),
        (&|it| it.schedule = vec![0], "empty run"),
        (&|it| it.schedule.clear(), "schedule: expected 8, got 0"),
        (&|it| it.schedule = vec![7, 1], "kept that is not asked for again"),
        (&|it| (it.header.terms.capacity, it.schedule) = (1, vec![0, 1, 7]), "it is not feasible"),
        (&|it| it.header.terms.hit_latency = u64::MAX, "upper: expected"),
    ];
    for &(change, expected) in changes {
        let line = refusal(change);
        assert!(line.contains(expected), "{expected}: {line}");
    }
}

#[test]
fn a_schedule_can_be_read() {
    let (case, problem, solution) = example();
    let mut text = Vec::new();
    write_schedule(&problem, &case.scenario, &solution, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("position,time_ns,key,outcome,wait_ns,kept"));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 8);
    let counted: u64 = rows[1..].iter().map(|row| row[4].parse::<u64>().unwrap()).sum();
    assert_eq!(counted, solution.upper, "the first is warm-up");
    for (row, request) in rows.iter().zip(&problem.requests) {
        assert_eq!(row[1..3], [request.time.0.to_string(), request.key.to_string()]);
        // Who is kept is there the next time.
        if row[5] == "1" {
            let at: usize = row[0].parse().unwrap();
            let next = rows[at + 1..].iter().find(|other| other[2] == row[2] && other[3] != "delayed");
            assert_eq!(next.unwrap()[3], "hit");
        }
    }
    assert!(rows.iter().any(|row| row[5] == "1") && rows.iter().any(|row| row[3] == "miss"));
}

#[test]
fn a_long_run_is_one_pair() {
    let (case, problem, solution) = example();
    let flat = Prices { bits: 0, gaps: vec![3; 8] };
    let certificate =
        certificate::certificate("t.csv", &problem, &case.scenario, &with(&problem, solution.schedule, flat));
    assert_eq!(certificate.prices, [(3, 8)]);
    assert!(serde_json::to_vec(&certificate).unwrap().len() < format::LONGEST_HEADER as usize);
}

#[test]
fn every_seed_is_verified_or_refused() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/seeds/cache_certificate"));
    let seeds = folder.read_dir().unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    let (held, refused): (Vec<bool>, Vec<bool>) =
        seeds.map(|seed| target::check(&seed)).partition(|held| *held);
    assert!(held.len() >= 3 && refused.len() >= 8, "{} hold, {} refused", held.len(), refused.len());
}

proptest! {
    /// What the fuzzer does, for those who have none: other numbers in a certificate, with the checksum that it then has.
    #[test]
    fn nothing_that_is_changed_breaks_it(
        seed in prop::sample::select(vec!["bytes", "slotted", "no_bypass"]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), "-?[0-9]{0,20}|[\\[\\],:{}\"a-z\n]"), 1..4),
    ) {
        let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/seeds/cache_certificate"));
        let mut text = std::fs::read(folder.join(seed)).unwrap();
        for (place, new) in changes {
            let digits: Vec<usize> = (0..text.len()).filter(|&place| text[place].is_ascii_digit()).collect();
            let place = if digits.is_empty() { place.index(text.len()) } else { digits[place.index(digits.len())] };
            text.splice(place..=place, new.bytes());
        }
        target::check(&text);
    }
}

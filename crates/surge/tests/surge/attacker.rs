//! What the attacker of `surge compare` and `surge guard` sends: within his limits, no worse than what is planned, and again if asked.

use proptest::prelude::*;
use std::path::Path;
use trueplane_study::{Study, study};
use trueplane_surge::Capacity;
use trueplane_surge::compare::found::{Found, Row};
use trueplane_surge::compare::{Compare, Options};
use trueplane_surge::guard;
use trueplane_surge::guard::run::on_jobs;
use trueplane_surge::jobs::{Job, Jobs};
use trueplane_surge::policy::PolicyName;
use trueplane_surge::workload::trace::Recorded;
use trueplane_units::{Nanos, Parameters as _};

use crate::compare::{attacked, found_on, misjudged, options, question};

// The fuzz target's own code; `cargo test` at the root does not build the fuzzer, which wants a nightly compiler.
#[path = "../../fuzz/replay.rs"]
#[expect(unreachable_pub, reason = "a library there, a module here")]
mod target;

/// Packets of which one is small, slow, and thought to be quicker than it is.
fn one_is_misjudged(packets: u64) -> Recorded {
    let usual = |number| Job { flow: number, bits: 8_000, job: Nanos(1_000), estimate: Nanos(1_000) };
    let slow = Job { flow: packets, bits: 800, job: Nanos(5_000), estimate: Nanos(4_000) };
    let jobs: Vec<Job> = (0..packets).map(usual).chain([slow]).collect();
    Recorded::from(Jobs::new("jobs", &jobs, None).expect("they make sense"))
}

/// Packets of users that are sent again are within the limits too.
#[test]
fn packets_beyond_the_limits_are_not_sent_again() {
    let source = one_is_misjudged(3_000);
    let limits = [("smallest_packet", "200B"), ("largest_job", "500ns")];
    let limited = attacked(&options(&[PolicyName::Fcfs], "10%"), &limits);
    for attack in [&[("attack", "optimal")][..], &[("attack", "search"), ("trials", "16")]] {
        let found = found_on(&source, &attacked(&limited, attack));
        let Row { attack, displacement_factor, .. } = &found.rows[0];
        assert!(attack.packet_bits >= 1_600 && attack.job <= Nanos(500), "{attack:?}");
        assert!((1.0..1.3).contains(displacement_factor), "{displacement_factor}");
    }
    let guard::Found { today, guarded, .. } =
        on_jobs(&source, &question(&limits), &()).expect("it can be answered");
    for row in [Some(today), guarded].into_iter().flatten() {
        assert!(row.attack.packet_bits >= 1_600 && row.attack.job <= Nanos(500), "{:?}", row.attack);
    }
}

/// The bound is about all that can be sent: it is the same at every rate.
#[test]
fn a_policy_has_one_bound_at_all_rates() {
    let job = |number: u64| match number % 2 {
        0 => Job { flow: 0, bits: 8_000, job: Nanos(1_000), estimate: Nanos(1_000) },
        _ => Job { flow: 1, bits: 4_000, job: Nanos(2_000), estimate: Nanos(400) },
    };
    let jobs: Vec<Job> = (0..2_000).map(job).collect();
    let source = Recorded::from(Jobs::new("jobs", &jobs, None).expect("they make sense"));
    let policies = [PolicyName::Wsjf, PolicyName::Sjf, PolicyName::WsjfInorder, PolicyName::SjfInorder];
    let mut options = options(&policies, "1%..1000%:4");
    options.attack.largest_job = None;
    let found = found_on(&source, &options);
    for rows in found.rows.chunks(4) {
        let bound = rows[0].bound.expect("there is one");
        assert!(rows.iter().all(|row| row.bound == Some(bound)), "{rows:?}");
        assert!(rows.iter().all(|row| row.theory.is_some_and(|theory| theory <= bound)), "{rows:?}");
        assert!(rows[0].policy != PolicyName::Wsjf || (bound - 4.5).abs() < 1e-6, "{bound}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever users send and the scheduler thinks: no packet that is planned is outside the limits, whatever the order of service and
    /// whoever plans.
    #[test]
    fn no_planned_packet_is_outside_the_limits(
        packets in prop::collection::vec((0u64..4, 64u32..3000, 1u64..3000, 1u64..3000), 20..60),
        smallest in 64u32..4000, largest in 1u64..4000, choice in 0..3, capacity in prop::option::of(1usize..20),
    ) {
        let job = |(flow, bits, job, estimate)| Job { flow, bits, job: Nanos(job), estimate: Nanos(estimate) };
        let jobs: Vec<Job> = packets.into_iter().map(job).collect();
        let source = Recorded::from(Jobs::new("jobs", &jobs, None).expect("they make sense"));
        let (smallest_text, largest_text) = (format!("{smallest}bit"), format!("{largest}ns"));
        let chosen: &[(&str, &str)] = match choice {
            0 => &[("attack", "optimal")],
            1 => &[("attack", "largest")],
            _ => &[("attack", "search"), ("trials", "12")],
        };
        let limits = [("smallest_packet", smallest_text.as_str()), ("largest_job", &largest_text)];
        let capacity = capacity.map(Capacity::Packets);
        let options = Options { capacity, ..options(PolicyName::ALL, "1%..1000%:3") };
        let found = found_on(&source, &attacked(&attacked(&options, chosen), &limits));
        for Row { policy, attack, .. } in &found.rows {
            let alone = (attack.packet_bits, Some(attack.job));
            let parts = attack.mixture.iter().flat_map(|mixture| &mixture.parts);
            for (bits, job) in parts.map(|part| (part.packet_bits, part.job)).chain([alone]) {
                prop_assert!(bits >= smallest && job.is_some_and(|job| job <= Nanos(largest)), "{policy}: {attack:?}");
            }
        }
    }
}

/// A search says what it has found that is worse than what it began with.
#[test]
fn a_search_says_when_it_found_worse() {
    // Half of the packets come late: whoever sends evenly wastes half of what he has.
    let job = |number: u64| Job { flow: number, bits: 8_000, job: Nanos(1_000), estimate: Nanos(1_000) };
    let jobs: Vec<Job> = (0..2_000).map(job).collect();
    let times =
        (0..2_000).map(|number| Nanos(if number == 0 { 0 } else { 2_000_000 + number * 1_000 })).collect();
    let source = Recorded::from(Jobs::new("jobs", &jobs, Some(times)).expect("they make sense"));
    let of = |trials| {
        let given = [("arrivals", "trace"), ("innocent", "own"), ("policies", "wsjf"), ("attack_rate", "5%")];
        let chosen = [("largest_job", "1ms"), ("attack", "search"), ("trials", trials)];
        let options = attacked(&Options::given(&given).expect("they are parameters"), &chosen);
        let found: Found = found_on(&source, &options);
        let verdict = Compare::verdict(&options, &found);
        (found, verdict)
    };
    let ((first, said_first), (searched, said)) = (of("1"), of("64"));
    let planned = first.rows[0].displacement_factor;
    assert_eq!(first.rows[0].planned_displacement_factor, Some(planned));
    assert!(said_first.contains(&"The search found nothing worse than the optimal attack.".to_owned()));
    let row = &searched.rows[0];
    assert_eq!(row.planned_displacement_factor, Some(planned));
    assert!(row.displacement_factor > planned + 0.01, "{} {planned}", row.displacement_factor);
    let found = said.iter().find(|sentence| sentence.contains("the search found worse"));
    let said = found.unwrap_or_else(|| panic!("{said:?}"));
    assert!(said.contains("under wsjf with an attack of") && said.contains("instead of"), "{said}");
}

/// What a search found does the same again, to the last digit.
#[test]
fn what_was_found_can_be_sent_again() {
    let source = misjudged();
    let policies = [PolicyName::Fcfs, PolicyName::Sjf, PolicyName::Wsjf];
    let folder = tempfile::tempdir().expect("a folder is to be had");
    let file = folder.path().join("found.json");
    let usual = options(&policies, "1%..30%:3");
    for chosen in [&[("attack", "search"), ("trials", "40")][..], &[("attack", "optimal")]] {
        let searched = attacked(&usual, chosen);
        let found = found_on(&source, &searched);
        let document = study::report::<Compare>(&searched, &found).document;
        std::fs::write(&file, document.to_string()).expect("it can be written");
        let again = attacked(&usual, &[("attack", &format!("file:{}", file.display()))]);
        let again = found_on(&source, &again);
        for (row, other) in found.rows.iter().zip(&again.rows) {
            assert_eq!((row.policy, &row.runs), (other.policy, &other.runs));
            // Packets of users that were sent again are packets like others then.
            let mut attack = row.attack.clone();
            let parts = attack.mixture.iter_mut().flat_map(|mixture| &mut mixture.parts);
            parts.for_each(|part| part.pool_index = None);
            assert_eq!(attack, other.attack);
        }
    }
}

#[test]
fn every_seed_of_a_study_is_read_or_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/surge_replay");
    let seeds = folder.read_dir().unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    let (read, refused): (Vec<bool>, Vec<bool>) =
        seeds.map(|seed| target::read_replay(&seed)).partition(|was_read| *was_read);
    assert_eq!((read.len(), refused.len()), (2, 9));
}

/// Orders of service that treat flows alike are foreseen where flows are long, and not where they are short.
#[test]
fn flows_are_foreseen_where_they_are_long() {
    let policies = [PolicyName::Fq, PolicyName::Drr];
    let mut foreseen = [0, 0];
    for each in [1, 30, 300, 1_000, 3_000] {
        let flows = 30_000 / each;
        let job = |number: u64| Job {
            flow: number % flows,
            bits: 8_000,
            job: Nanos(1_000),
            estimate: Nanos(1_000),
        };
        let jobs: Vec<Job> = (0..30_000).map(job).collect();
        let source = Recorded::from(Jobs::new("jobs", &jobs, None).expect("they make sense"));
        for largest in [1_000, 10_000] {
            let limited = [("largest_job", format!("{largest}ns"))];
            let limited = limited.each_ref().map(|(field, text)| (*field, text.as_str()));
            let options = attacked(&options(&policies, "3%..30%:3"), &limited);
            for row in found_on(&source, &options).rows {
                let Some(theory) = row.theory else {
                    assert!(each < 1_000, "{each} {}", row.policy);
                    continue;
                };
                assert!(each >= 100, "{each} {}", row.policy);
                let off = (row.displacement_factor - theory).abs();
                assert!(
                    off < theory / 10.0,
                    "{} {each} {largest}: {} {theory}",
                    row.policy,
                    row.displacement_factor
                );
                foreseen[usize::from(row.policy == PolicyName::Drr)] += 1;
            }
        }
    }
    assert!(foreseen.iter().all(|rows| *rows >= 6), "{foreseen:?}");
}

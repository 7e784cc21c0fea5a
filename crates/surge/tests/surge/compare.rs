//! `surge compare` and `surge guard` as studies: what they count adds up, and what they measure is what theory expects.

use std::sync::Mutex;

use trueplane_study::{Error, Observer};
use trueplane_study::{Study, study};
use trueplane_surge::compare::found::Row;
use trueplane_surge::compare::run::on;
use trueplane_surge::compare::{Compare, Found, Options};
use trueplane_surge::guard::run::on_jobs;
use trueplane_surge::guard::{self, Guard};
use trueplane_surge::jobs::{Job, Jobs};
use trueplane_surge::policy::PolicyName;
use trueplane_surge::reassembly::{Heuristic, Innocent, Tree};
use trueplane_surge::server::Log;
use trueplane_surge::tally::{Class, Departure, Fate};
use trueplane_surge::workload::arrivals::Arrivals;
use trueplane_surge::workload::open::Opened;
use trueplane_surge::workload::reassembly::Reassembling;
use trueplane_surge::workload::trace::Recorded;
use trueplane_surge::{Capacity, Overflow};
use trueplane_units::{Bytes, Choices, Nanos, Parameters as _, Value, Within};

/// Parameters of a comparison, some in a shorter form.
pub(crate) fn options(policies: &[PolicyName], attack_rate: &str) -> Options {
    let given = [("attack_rate", attack_rate), ("largest_job", "1ms")];
    Options { policies: Choices(policies.to_vec()), ..Options::given(&given).expect("they are parameters") }
}

/// These parameters, but for some of the attack.
pub(crate) fn attacked(options: &Options, given: &[(&str, &str)]) -> Options {
    let mut attack = options.attack.clone();
    for (field, text) in given {
        attack.set(field, text).expect("it is a parameter").expect("it has this value");
    }
    Options { attack, ..options.clone() }
}

/// These parameters with so many packets that are drawn.
fn drawing(packets: u64, options: Options) -> Options {
    let workload = Value::parse(&format!("iid:packets={packets}")).expect("it is a workload");
    Options { workload, ..options }
}

fn found(packets: u64, options: &Options) -> Found {
    Compare::run(&drawing(packets, options.clone()), &()).expect("it can be studied")
}

/// What is found for jobs that are not in a file.
pub(crate) fn found_on(source: &Recorded, options: &Options) -> Found {
    on(&Opened::from(source.clone()), options, &(), None).expect("it can be studied")
}

#[track_caller]
fn adds_up(fate: &Fate) {
    for of in [|fate: &Fate| fate.arrived.packets, |fate: &Fate| fate.arrived.bits] {
        assert!(of(fate) > 0, "{fate:?}");
    }
    assert_eq!(fate.arrived.packets, fate.served.packets + fate.dropped.packets + fate.left.packets);
    assert_eq!(fate.arrived.bits, fate.served.bits + fate.dropped.bits + fate.left.bits);
}

/// The example: sizes and jobs normal, nine tenths of what can be served, and three tenths of attack.
#[test]
fn an_attackers_bit_costs_what_theory_says() {
    let options = drawing(100_000, options(PolicyName::ALL, "30%"));
    let found = found(100_000, &options);
    let row = |policy| found.rows.iter().find(|row| row.policy == policy).expect("it ran");
    // Everything is displaced; under fair queueing once the attacker's flows have piled up, which takes a part of the run.
    for (policy, least) in
        [(PolicyName::Fcfs, 2.95), (PolicyName::Sjf, 2.95), (PolicyName::Fq, 2.7), (PolicyName::Drr, 2.7)]
    {
        let row = row(policy);
        assert!((least..=3.0).contains(&row.displacement_factor), "{policy}: {}", row.displacement_factor);
    }
    for policy in [PolicyName::Fcfs, PolicyName::Sjf, PolicyName::Wsjf] {
        let row = row(policy);
        let theory = row.theory.expect("it has one");
        assert!(
            (row.displacement_factor - theory).abs() < 0.01,
            "{policy}: {} {theory}",
            row.displacement_factor
        );
    }
    let wsjf = row(PolicyName::Wsjf);
    assert!((wsjf.theory.expect("it has one") - 0.642).abs() < 0.005, "{:?}", wsjf.theory);
    assert!(wsjf.bound.is_some_and(|bound| (bound - 0.9).abs() < 1e-3 && wsjf.displacement_factor < bound));
    let interval = wsjf.displacement_interval.expect("there are three seeds");
    assert!(interval.low < wsjf.displacement_factor && wsjf.displacement_factor < interval.high);
    let verdict = Compare::verdict(&options, &found);
    assert!(verdict[0].contains("0.64 under wsjf (at most 0.9"), "{}", verdict[0]);
}

/// Under first come first served the formula of claim 3 holds at every rate, below and above the load that fills the server.
#[test]
fn fcfs_loses_what_claim_3_says() {
    let found = found(50_000, &options(&[PolicyName::Fcfs], "0.01%..100%:9"));
    assert_eq!(found.rows.len(), 9);
    for row in &found.rows {
        let theory = row.theory.expect("it has one");
        // The last packets are still waiting, which is a larger part of a small displacement.
        let slack = 0.02 * theory.max(1.0) + 4e-3 * row.innocent_rate.0 as f64 / row.attack_rate.0 as f64;
        assert!(
            (row.displacement_factor - theory).abs() < slack,
            "{}: {} {theory}",
            row.attack_rate,
            row.displacement_factor
        );
    }
}

#[test]
fn packets_are_conserved_whatever_the_buffer_and_the_arrivals() {
    for (capacity, overflow, arrivals, exact) in [
        (None, Overflow::DropWorst, Arrivals::Even, false),
        (Some(Capacity::Packets(100)), Overflow::DropWorst, Arrivals::Poisson, false),
        (Some(Capacity::Packets(100)), Overflow::DropNewcomer, Arrivals::Even, true),
        (Some(Capacity::Bits(400_000)), Overflow::DropWorst, Arrivals::Even, false),
        (Some(Capacity::Bits(400_000)), Overflow::DropNewcomer, Arrivals::Poisson, true),
    ] {
        let options = Options {
            capacity,
            overflow,
            arrivals,
            exact_ranks: exact,
            seeds: Within::new(2),
            ..options(PolicyName::ALL, "20%")
        };
        let found = found(5_000, &options);
        assert_eq!((found.rows.len(), found.baselines.len()), (8, 8));
        for baseline in &found.baselines {
            adds_up(&baseline.innocent);
            assert_eq!(baseline.innocent.arrived.packets, 10_000);
        }
        for row in &found.rows {
            adds_up(&row.innocent);
            adds_up(&row.attacker);
            assert_eq!(row.arrived, row.served + row.dropped + row.left, "{}", row.policy);
            assert_eq!(row.arrived, row.innocent.arrived.packets + row.attacker.arrived.packets);
            assert!(capacity.is_some() || row.dropped == 0, "{}", row.policy);
            if let Some(Capacity::Packets(most)) = capacity {
                assert!(row.backlog_packets <= most as u64 && row.left <= 2 * (most as u64 + 1));
            }
        }
    }
}

/// Dropping newcomers lets large jobs keep everybody out; dropping the worst does not (§3.5.4).
#[test]
fn the_worst_has_to_go() {
    let of = |overflow| {
        // While one job runs, fewer come than the buffer holds: without preemption larger ones would fill it all the same.
        let capacity = Some(Capacity::Packets(100));
        let options = Options { capacity, overflow, ..options(&[PolicyName::Wsjf], "10%") };
        let options = attacked(&options, &[("attack", "largest"), ("largest_job", "20us")]);
        found(20_000, &options).rows[0].displacement_factor
    };
    let (newcomer, worst) = (of(Overflow::DropNewcomer), of(Overflow::DropWorst));
    assert!(newcomer > 2.0 && worst < 0.05, "{newcomer} {worst}");
}

#[test]
fn departures_reconcile_with_the_counts() {
    let options = Options { seeds: Within::new(1), ..options(&[PolicyName::Wsjf], "30%") };
    let mut departures: Vec<Departure> = Vec::new();
    let mut add = |departure| {
        departures.push(departure);
        Ok(())
    };
    let log: &mut Log<'_> = &mut add;
    let options = drawing(5_000, options);
    let found = trueplane_surge::compare::run::run(&options, &(), Some(log)).expect("it can be studied");
    let row = &found.rows[0];
    let of = |class| departures.iter().filter(|departure| departure.class == class).count() as u64;
    assert_eq!(
        (of(Class::Innocent), of(Class::Attack)),
        (row.innocent.served.packets, row.attacker.served.packets)
    );
    for (class, fate) in [(Class::Innocent, row.innocent), (Class::Attack, row.attacker)] {
        let took = departures.iter().filter(|departure| departure.class == class);
        let took: u64 = took.map(|departure| departure.end.0 - departure.start.0).sum();
        assert_eq!((fate.work.0, fate.estimated.0), (took, took), "{class:?}: jobs are known here");
    }
    // One at a time.
    assert!(departures.windows(2).all(|pair| pair[0].end <= pair[1].start));
    let mut refused = |_| Ok(());
    let several = drawing(100, Options { seeds: Within::new(2), ..options });
    let error = trueplane_surge::compare::run::run(&several, &(), Some(&mut refused))
        .expect_err("there are two runs");
    assert!(error.to_string().starts_with("--departures is for one policy"), "{error}");
}

/// One seed, one answer: the JSON is the same to the last digit.
#[test]
fn threads_and_memory_change_nothing() {
    let on = |threads: usize, memory: u64| {
        let memory = Within::new(Bytes(memory)).expect("it is above zero");
        let options = drawing(3_000, Options { memory, ..options(PolicyName::ALL, "0.1%..100%:3") });
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
        let report = pool.install(|| study::run::<Compare>(&options, &())).expect("it can be studied");
        report.document["tables"].to_string()
    };
    let one = on(1, 2 << 30);
    assert_eq!(on(3, 2 << 30), one);
    assert_eq!(on(3, 100 << 20), one);
}

/// A backlog that does not fit is an error, and no end of the process.
#[test]
fn memory_ends_with_an_error() {
    let memory = Within::new(Bytes(10 << 20)).expect("it is above zero");
    let options = Options { memory, ..options(&[PolicyName::Fcfs], "1000%") };
    let in_bits = Options { capacity: Some(Capacity::Bits(1 << 40)), ..options.clone() };
    let said = |packets, options: &Options| {
        let refused = Compare::run(&drawing(packets, options.clone()), &()).expect_err("it does not fit");
        refused.to_string()
    };
    // Also of a buffer whose bits have more room: its worst packets are not dropped for the memory.
    for options in [&options, &in_bits] {
        let error = said(20_000, options);
        assert!(error.contains("the memory for them is full: raise --memory"), "{error}");
    }
    let error = said(20_000_000, &options);
    assert!(
        error.starts_with("the packets of 3 seeds take") && error.contains("--memory is 10MiB"),
        "{error}"
    );
}

/// As many packets as a buffer has bits may wait, and what comes then is dropped.
#[test]
fn packets_of_a_bit_fill_a_buffer_of_bits() {
    let workload =
        Value::parse("iid:size=constant:1b,job=constant:1us,packets=2000").expect("it is a workload");
    let mut options = options(&[PolicyName::Fcfs, PolicyName::Wsjf], "1000%");
    options.set("attack_packet", "1b").expect("it is a parameter").expect("it has this value");
    let options = Options { workload, capacity: Some(Capacity::Bits(8)), ..options };
    let found = Compare::run(&options, &()).expect("what does not fit is dropped");
    assert!(found.rows.iter().all(|row| row.dropped > 0), "the buffer is full");
}

/// Asks to stop after so many questions.
struct Impatient(Mutex<u32>);

impl Observer for Impatient {
    fn interrupted(&self) -> bool {
        let mut left = self.0.lock().expect("nobody panics");
        *left = left.saturating_sub(1);
        *left == 0
    }
}

#[test]
fn a_study_can_be_interrupted() {
    for patience in [1, 5, 30] {
        let options = drawing(50_000, options(PolicyName::ALL, "1%..100%"));
        let stopped = Compare::run(&options, &Impatient(Mutex::new(patience)));
        assert!(matches!(stopped, Err(Error::Interrupted)), "{patience}");
    }
}

/// Jobs of a kind: most short, one in ten long.
fn jobs(times: bool) -> Jobs {
    let job = |number: u64| {
        let job = Nanos(if number.is_multiple_of(10) { 20_000 } else { 1_000 + number % 7 });
        Job { flow: number % 13, bits: 8 * (100 + (number % 1400) as u32), job, estimate: job }
    };
    let jobs: Vec<Job> = (0..20_000).map(job).collect();
    // A packet of 789.5 bytes on average every 8 µs.
    let times = times.then(|| (0..20_000).map(|number| Nanos(number * 8_000)).collect());
    Jobs::new("jobs", &jobs, times).expect("they make sense")
}

/// The question of an operator.
pub(crate) fn question(given: &[(&str, &str)]) -> guard::Options {
    guard::Options::given(given).expect("they are parameters")
}

#[test]
fn guard_answers_in_two_lines() {
    let found = on_jobs(&Recorded::from(jobs(true)), &question(&[]), &()).expect("it can be answered");
    assert_eq!(found.innocent_rate.0, 789_500_000, "as their times say");
    let (today, guarded) = (&found.today, found.guarded.as_ref().expect("it is another order of service"));
    assert!(today.displacement_factor > 3.0 && guarded.displacement_factor < 0.6, "{today:?} {guarded:?}");
    assert!(guarded.bound.is_some_and(|bound| guarded.displacement_factor <= bound));
    assert_eq!((today.attack.packet_bits, today.attack.job), (512, Nanos(20_000)));
    let verdict = Guard::verdict(&question(&[]), &found);
    assert_eq!(verdict.len(), 2);
    assert!(verdict[0].starts_with("Today, under fcfs, a bit of steady attack costs your users up to "));
    assert!(verdict[0].contains("packets of 64B that take 20µs each, at "), "{}", verdict[0]);
    assert!(verdict[1].contains("(at most "), "{}", verdict[1]);
    let half = question(&[("innocent", "50%")]);
    let found = on_jobs(&Recorded::from(jobs(false)), &half, &()).expect("it can be answered");
    assert!((found.innocent_rate.0 as f64 / found.workload.r_max_bps - 0.5).abs() < 1e-6);
}

/// A buffer may hold more packets than come.
#[test]
fn a_buffer_that_is_never_full_changes_nothing() {
    let source = Recorded::from(jobs(false));
    let largest = [("attack", "largest")];
    let goodput = |capacity| {
        let options = attacked(&options(&[PolicyName::Fcfs, PolicyName::Wsjf], "10%"), &largest);
        let found = found_on(&source, &Options { capacity, ..options });
        found.rows.iter().map(|row| row.goodput_bps).collect::<Vec<_>>()
    };
    assert_eq!(goodput(Some(Capacity::Packets(1 << 40))), goodput(None));
}

/// Who has WSJF is told of it once, unless that drops another packet than it should.
#[test]
fn guard_does_not_compare_wsjf_with_itself() {
    let answer = |given: &[(&str, &str)]| {
        let question = question(given);
        let found = on_jobs(&Recorded::from(jobs(true)), &question, &()).expect("it can be answered");
        let report = study::report::<Guard>(&question, &found);
        let rows = report.tables.iter().find(|table| table.id == "guard").map(|table| table.rows.len());
        (rows, report.verdict.join(" "))
    };
    let wsjf = ("policy", "wsjf");
    let (rows, said) = answer(&[wsjf]);
    assert_eq!((rows, said.matches("cost").count()), (Some(1), 1), "{said}");
    let buffer = [wsjf, ("capacity", "1000")];
    let (rows, said) = answer(&buffer);
    assert!(
        rows == Some(2) && said.contains("Under wsjf that drops the worst packet it would cost"),
        "{said}"
    );
    assert_eq!(answer(&[buffer[0], buffer[1], ("overflow", "worst")]).0, Some(1));
}

/// The scheduler knows nothing of the work of one in a hundred.
pub(crate) fn misjudged() -> Recorded {
    let job = |number: u64| Job {
        flow: number % 13,
        bits: 8_000,
        job: Nanos(if number.is_multiple_of(100) { 50_000 } else { 1_000 }),
        estimate: Nanos(1_000 + number % 3),
    };
    let jobs: Vec<Job> = (0..20_000).map(job).collect();
    Recorded::from(Jobs::new("jobs", &jobs, None).expect("they make sense"))
}

/// A scheduler that is wrong about some packets is attacked with those.
#[test]
fn who_is_misjudged_is_sent_again() {
    let source = misjudged();
    let options = options(&[PolicyName::Wsjf], "10%");
    let found = found_on(&source, &options);
    let Row { attack, bound, displacement_factor, .. } = &found.rows[0];
    assert_eq!((attack.packet_bits, attack.job), (8_000, Nanos(50_000)));
    // Users' packets are thought to take at most 1.002 times too long, and those that are sent again a fiftieth of what they take.
    assert!(
        bound.is_some_and(|bound| bound > 44.0 && bound < 47.0 && *displacement_factor < bound),
        "{bound:?}"
    );
    assert!(attack.estimate <= Nanos(1_002) && *displacement_factor > 3.0, "{displacement_factor}");
}

/// No order of service makes up for a buffer that does not hold what comes during one job; a larger one does.
#[test]
fn a_small_buffer_voids_the_bound_and_says_so() {
    let job = |number: u64| Job { flow: number, bits: 4_000, job: Nanos(4_000), estimate: Nanos(4_000) };
    let jobs: Vec<Job> = (0..100_000).map(job).collect();
    let source = Recorded::from(Jobs::new("jobs", &jobs, None).expect("they make sense"));
    let run = |packets| {
        let options =
            Options { capacity: Some(Capacity::Packets(packets)), ..options(&[PolicyName::Wsjf], "0.01%") };
        let options = attacked(&options, &[("attack", "largest")]);
        let found = found_on(&source, &options);
        let warnings = study::report::<Compare>(&options, &found).warnings;
        let said = warnings.iter().any(|sentence| sentence.contains("no bound holds"));
        (found.rows[0].displacement_factor, said)
    };
    let ((small, warned), (large, calm)) = (run(100), run(1_000));
    assert!(small > 100.0 && warned, "{small}");
    // What comes during a last job, 226 packets at most, may wait at the end: 20 bits for each of the attack's 44,444.
    assert!(large < 20.5 && !calm, "{large}");
}

/// A search does at least what theory does, also where that is to send a misjudged packet again.
#[test]
fn a_search_does_no_less_than_theory() {
    let source = misjudged();
    for rate in ["10%", "30%"] {
        let of = |given: &[(&str, &str)]| {
            found_on(&source, &attacked(&options(&[PolicyName::Wsjf], rate), given)).rows.remove(0)
        };
        let optimal = of(&[("attack", "optimal")]);
        assert!(optimal.attack.estimate < optimal.attack.job, "{:?}", optimal.attack);
        let [first, search] = ["1", "24"].map(|trials| of(&[("attack", "search"), ("trials", trials)]));
        assert_eq!(first.runs, optimal.runs, "the first trial is theory's");
        assert_eq!((first.attack.job, first.attack.estimate), (optimal.attack.job, optimal.attack.estimate));
        let factor = |row: &Row| row.runs[0].displacement_factor;
        assert!(factor(&search) >= factor(&optimal), "{rate}: {} {}", factor(&search), factor(&optimal));
    }
}

/// Theory knows no bound on the buffer: where the largest job does more, that is the attack, and nothing is promised.
#[test]
fn with_a_bounded_buffer_the_largest_job_is_tried_too() {
    let of = |attack, overflow| {
        let capacity = Some(Capacity::Packets(500));
        let policies = [PolicyName::Fcfs, PolicyName::Wsjf];
        let options = Options { capacity, overflow, seeds: Within::new(1), ..options(&policies, "30%") };
        found(50_000, &attacked(&options, &[("attack", attack)])).rows
    };
    for overflow in [Overflow::DropNewcomer, Overflow::DropWorst] {
        let (optimal, largest) = (of("optimal", overflow), of("largest", overflow));
        for (optimal, largest) in optimal.iter().zip(&largest) {
            let (most, least) = (optimal.displacement_factor, largest.displacement_factor);
            assert!(most >= least, "{} {overflow:?}: {most} {least}", optimal.policy);
            assert!(optimal.bound.is_none() && largest.bound.is_none());
        }
        if overflow == Overflow::DropNewcomer {
            let wsjf = &optimal[1];
            assert!(wsjf.theory.is_none() && wsjf.attack.job == Nanos(1_000_000), "{:?}", wsjf.attack);
        }
    }
}

/// Half of the packets come at the start, and half at the end, which no server can serve by then.
#[test]
fn guard_believes_the_times() {
    let of = |times: fn(u64) -> u64, given: &[(&str, &str)]| {
        let job = |number: u64| Job {
            flow: number % 13,
            bits: 8 * (100 + (number % 1400) as u32),
            job: Nanos(1_000 + number % 7),
            estimate: Nanos(1_000 + number % 7),
        };
        let jobs: Vec<Job> = (0..20_000).map(job).collect();
        let times = (0..20_000).map(|number| Nanos(times(number))).collect();
        let source = Recorded::from(Jobs::new("jobs", &jobs, Some(times)).expect("they make sense"));
        on_jobs(&source, &question(given), &()).expect("it can be answered")
    };
    let halves = |number| if number < 10_000 { 0 } else { 40_000_000 };
    let share = |found: &guard::Found| found.today.baseline_goodput_bps / found.innocent_rate.0 as f64;
    let (own, even) = (of(halves, &[]), of(halves, &[("innocent", "own")]));
    let expected = (Arrivals::Trace, Arrivals::Even, even.innocent_rate);
    assert_eq!((own.arrivals, even.arrivals, own.innocent_rate), expected);
    assert!(share(&own) < 0.6 && share(&even) > 0.9, "{} {}", share(&own), share(&even));
    let at_once = of(|_| 7, &[]);
    assert_eq!(at_once.arrivals, Arrivals::Even);
    assert!((at_once.innocent_rate.0 as f64 / at_once.workload.r_max_bps - 0.9).abs() < 1e-6);
}

/// What an application decides is reported as what it took.
#[test]
fn packets_of_an_application_report_what_they_took() {
    let innocent = Innocent { flows: 50, packets: 100, ..Innocent::default() };
    let segments = innocent.segments().expect("it makes sense");
    let source = Reassembling::<Tree>::new(&segments, Heuristic::Ranges, 1).expect("there are some");
    let own = attacked(&options(&[PolicyName::Wsjf], "5%"), &[("attack", "own")]);
    let found = on(&Opened::from(source), &own, &(), None).expect("it can be studied");
    let Row { attack, attacker, theory, .. } = &found.rows[0];
    assert!(attacker.served.packets > 0 && theory.is_none(), "{attacker:?}");
    assert_eq!(attack.job.0, attacker.work.0 / attacker.served.packets);
    assert_eq!(attack.estimate.0, attacker.estimated.0 / attacker.served.packets);
    assert!(attack.job > Nanos(0) && attack.packet_bits > 0);
}

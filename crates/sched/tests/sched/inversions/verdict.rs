//! The sentences of the verdict, from runs made up for them.

use trueplane_sched::choice::RankChoice;
use trueplane_sched::distribution::{Distribution, Shape};
use trueplane_sched::inversions::found::{Base, SchedulerRun, Variation, Varied};
use trueplane_sched::inversions::{Found, Inversions, Options};
use trueplane_sched::policy::SchedulerName::{
    Afq, Fifo, Fixed, Gradient, Optimal, Packs, Pifo, SpPifo, SpPifoArrivals,
};
use trueplane_sched::policy::{PushDown, SchedulerName};
use trueplane_sched::tally::RankRun;
use trueplane_study::{Study, study};
use trueplane_units::{BitsPerSec, Factor, Parameters};

/// A scheduler with so many inversions among 100,000 packets.
fn run(scheduler: SchedulerName, inversions: u64) -> SchedulerRun {
    SchedulerRun {
        scheduler,
        arrivals: 100_000,
        departures: 100_000,
        drops: 0,
        inversions,
        inversion_share: inversions as f64 / 1e5,
        inversion_share_error: None,
        classical_share: None,
        drop_share: 0.0,
        unpifoness: 0,
        unpifoness_mean: 0.0,
        unpifoness_mean_error: None,
        expected_unpifoness: None,
        expected_unpifoness_error: None,
        mean_delay_ns: 0.0,
        bounds: None,
        by_rank: Vec::new(),
    }
}

fn modelled(scheduler: SchedulerName, expected: Option<f64>, happened: f64) -> SchedulerRun {
    SchedulerRun { expected_unpifoness: expected, unpifoness_mean: happened, ..run(scheduler, 5_000) }
}

/// As long a run as it takes to know that there is no error.
fn exact(run: SchedulerRun) -> SchedulerRun {
    SchedulerRun { expected_unpifoness_error: Some(0.0), ..run }
}

/// What is found of these runs.
fn load(millionths: u64) -> Factor {
    Factor::of_millionths(millionths).expect("it is above zero")
}

fn found_of(schedulers: Vec<SchedulerRun>) -> Found {
    Found {
        base: Base {
            ranks: RankChoice::Drawn(Distribution::usual(Shape::Uniform)),
            span: Some(100),
            packets: 100_000,
            rate: BitsPerSec(10_000_000_000),
            load: 0.9,
            offered_load: Some(0.9),
            queues: 8,
            push_down: PushDown::Cost,
            access_rate: None,
        },
        trace: None,
        left_out: Vec::new(),
        schedulers,
        variations: Vec::new(),
    }
}

fn found(runs: &[(SchedulerName, u64)]) -> Found {
    found_of(runs.iter().map(|&(scheduler, inversions)| run(scheduler, inversions)).collect())
}

fn verdict(found: &Found) -> Vec<String> {
    Inversions::verdict(&Options::default(), found)
}

/// The sentence of the verdict that begins so; empty if there is none.
fn said(options: &Options, found: &Found, begin: &str) -> String {
    let mut sentences = Inversions::verdict(options, found).into_iter();
    sentences.find(|sentence| sentence.starts_with(begin)).unwrap_or_default()
}

#[test]
fn a_fifo_is_held_against_sp_pifo() {
    let begin =
        "Under fifo 50.0% of packets leave before one of lower rank that waits, under sp-pifo on 8 queues";
    for (sp_pifo, end) in [
        (12_500, "12.5% (4 times fewer inversions), and under pifo none."),
        (40_000, "40.0% (20.0% fewer inversions), and under pifo none."),
        (50_100, "50.1% (about as many inversions as fifo), and under pifo none."),
        (60_000, "60.0% (20.0% more inversions than fifo), and under pifo none."),
        (900, "0.90%, and under pifo none."),
    ] {
        let sentences = verdict(&found(&[(Fifo, 50_000), (SpPifo, sp_pifo), (Pifo, 0)]));
        assert_eq!(sentences[0], format!("{begin} {end}"));
    }
}

#[test]
fn what_was_simulated_is_said_where_there_is_nothing_to_compare() {
    let said = |runs: &[(SchedulerName, u64)]| verdict(&found(runs)).remove(0);
    let begin = "Of the packets that leave, so many leave before one of lower rank that waits:";
    assert_eq!(said(&[(Afq, 25_000), (Pifo, 0)]), format!("{begin} 25.0% under afq and none under pifo."));
    assert_eq!(said(&[(Optimal, 1_000)]), format!("{begin} 1.0% under optimal."));
    assert_eq!(said(&[]), "No scheduler was simulated.");
}

#[test]
fn too_few_are_said_to_be_that_once() {
    let few = |runs: &[(SchedulerName, u64)]| {
        let report = study::report::<Inversions>(&Options::default(), &found(runs));
        report.warnings.iter().filter(|sentence| sentence.contains("too few")).count()
    };
    assert_eq!(few(&[(Fifo, 50_000), (SpPifo, 999), (Fixed, 3), (Pifo, 0)]), 1);
    assert_eq!(few(&[(Fifo, 50_000), (SpPifo, 5_000), (Fixed, 5_000), (Pifo, 0)]), 0);
    assert_eq!(few(&[(Fifo, 5), (Pifo, 0)]), 0, "these are not compared");
}

#[test]
fn sp_pifo_is_held_against_those_that_know_the_ranks() {
    let said = |runs: &[(SchedulerName, u64)]| {
        said(&Options::default(), &found(runs), "sp-pifo knows nothing of the ranks that come; it has ")
    };
    let apart = said(&[(SpPifo, 6_000), (Gradient, 8_000), (Fixed, 6_010), (Optimal, 4_000)]);
    assert!(
        apart.ends_with(
            "25.0% fewer inversions than gradient, about as many inversions as fixed and 50.0% more inversions than optimal."
        ),
        "{apart}"
    );
    let same = said(&[(SpPifo, 6_000), (Gradient, 6_000), (Fixed, 6_000)]);
    assert!(same.ends_with("about as many inversions as gradient and fixed."), "{same}");
    assert_eq!(said(&[(SpPifo, 6_000), (Fixed, 999)]), "");
}

#[test]
fn a_gradient_that_has_not_arrived_is_named() {
    let said = |gradient, adaptation| {
        let runs = vec![exact(modelled(Gradient, Some(gradient), 1.0)), modelled(Optimal, Some(0.08), 1.0)];
        let options = Options::given(&[("adaptation", adaptation)]).unwrap();
        said(&options, &found_of(runs), "gradient is not at the best bounds")
    };
    assert_eq!(said(0.09, "one-step"), "");
    assert_eq!(
        said(0.15, "one-step"),
        "gradient is not at the best bounds: the model expects an unpifoness of 0.15 of its own and 0.08 of the best; one step after every window has not taken it there."
    );
    assert!(
        said(0.15, "converge").ends_with("windows of 1000 packets do not tell how often each rank comes.")
    );
}

#[test]
fn the_model_is_held_against_what_happens() {
    let said = |runs: Vec<SchedulerRun>| {
        said(&Options::default(), &found_of(runs), "The model does not tell who is better")
    };
    let (one, other) = (modelled(Fixed, Some(1.0), 2.0), modelled(SpPifo, Some(1.5), 1.0));
    let close = modelled(Optimal, Some(0.99), 2.01);
    assert_eq!(said(vec![one.clone()]), "");
    let few = SchedulerRun { inversions: 999, ..other.clone() };
    assert_eq!(said(vec![one.clone(), few]), "");
    assert_eq!(said(vec![one.clone(), close, modelled(Packs, None, 0.1)]), "");
    let wrong = said(vec![other, one]);
    assert!(
        wrong.contains("1 of fixed and 1.5 of sp-pifo, and what happens is 2 and 1 per packet"),
        "{wrong}"
    );
    // What chance may have done turns no verdict: neither in what is expected nor in what happens.
    let fixed = modelled(Fixed, Some(1.0), 2.0);
    for noisy in [
        SchedulerRun { expected_unpifoness_error: Some(0.2), ..modelled(SpPifo, Some(1.5), 1.0) },
        SchedulerRun { unpifoness_mean_error: Some(0.4), ..modelled(SpPifo, Some(1.5), 1.0) },
    ] {
        assert_eq!(said(vec![noisy, fixed.clone()]), "");
    }
    let near = said(vec![modelled(Fixed, Some(1.0), 0.0200), modelled(Optimal, Some(0.9), 0.0213)]);
    assert!(near.contains("what happens is 0.0213 and 0.02 per packet"), "{near}");
}

#[test]
fn drops_are_those_of_the_urgent_half() {
    let rank = |rank, arrivals, drops| RankRun {
        rank,
        ranks: 1,
        arrivals,
        departures: arrivals - drops,
        drops,
        inversions: 0,
        unpifoness: 0,
        mean_delay_ns: None,
    };
    let said = |run: &SchedulerRun| {
        let begin = "Of the drops, these shares hit the more urgent half of the packets: ";
        said(&Options::default(), &found_of(vec![run.clone()]), begin)
    };
    let mut run = run(Fifo, 0);
    // Half of the packets are those of rank 0 and a quarter of those of rank 1.
    (run.arrivals, run.drops) = (10_000, 1_000);
    run.by_rank = vec![rank(0, 4_000, 100), rank(1, 4_000, 400), rank(2, 2_000, 500)];
    assert!(said(&run).ends_with("20.0% under fifo."), "{}", said(&run));
    run.drops = 999;
    assert_eq!(said(&run), "");
    run.drops = 1_000;
    run.by_rank.clear();
    assert_eq!(said(&run), "");
}

#[test]
fn a_load_is_below_at_or_beyond_what_the_line_can_send() {
    let said = |arrivals, load, offered_load| {
        let mut found = found(&[]);
        (found.base.load, found.base.offered_load) = (load, offered_load);
        let options = Options::given(&[("arrivals", arrivals)]).unwrap();
        let warnings = study::report::<Inversions>(&options, &found).warnings;
        (said(&options, &found, "A load of "), warnings.first().cloned().unwrap_or_default())
    };
    let nothing = (String::new(), String::new());
    assert_eq!(said("poisson", 0.9, Some(0.91)), nothing);
    // Two captures in one file, years apart.
    assert_eq!(said("trace", 0.0, Some(1e-8)), nothing);
    let (one, _) = said("poisson", 1.0, Some(1.001));
    assert!(one.starts_with("A load of 1 is critical"), "{one}");
    assert_eq!(said("trace", 1.000_000_1, None).0, one);
    let (beyond, _) = said("poisson", 1.25, None);
    assert!(
        beyond.starts_with("A load of 1.25 is overloaded: whoever schedules, 20.0% of the packets"),
        "{beyond}"
    );
    assert!(said("trace", 1.25, None).0.ends_with("in the long run, and more if it comes in bursts."));
    // What came counts if it is not what was asked for.
    let (ramp, warning) = said("on-off", 1.1, Some(0.7));
    assert_eq!(ramp, "", "no overload");
    let expected = "What came is a load of 0.7, and not the 1.1 that was asked for: it takes more flows";
    assert!(warning.starts_with(expected), "{warning}");
    let (burst, warning) = said("poisson", 0.9, Some(1.25));
    assert!(burst.starts_with("A load of 1.25 is overloaded") && warning.contains("more packets"), "{burst}");
}

#[test]
fn factors_begin_with_the_base_and_name_what_is_worse() {
    let variation = |varied, schedulers: &[(SchedulerName, u64)]| Variation {
        varied,
        rate: BitsPerSec(1),
        offered_load: None,
        schedulers: schedulers.iter().map(|&(name, inversions)| run(name, inversions)).collect(),
    };
    let ranks = |name: &str| Varied::Ranks(name.parse().unwrap());
    let said = |variations: Vec<Variation>, begin: &str| {
        let base = found(&[(Fifo, 40_000), (SpPifo, 10_000), (SpPifoArrivals, 20_000)]);
        said(&Options::default(), &Found { variations, ..base }, begin)
    };
    assert_eq!(
        said(
            vec![
                variation(Varied::Queues(16), &[(Fifo, 40_000), (SpPifo, 5_000)]),
                variation(Varied::Queues(32), &[(Fifo, 40_000), (SpPifo, 999)]),
            ],
            "By"
        ),
        "By the number of queues, the inversions of fifo are so many times those of sp-pifo: 4 on 8 and 8 on 16."
    );
    assert_eq!(
        said(
            vec![
                variation(Varied::Load(load(1_100_000)), &[(Fifo, 90_000), (SpPifo, 30_000)]),
                variation(Varied::Load(load(100_000)), &[(Fifo, 10), (SpPifo, 1)]),
            ],
            "By"
        ),
        "By load, the inversions of fifo are so many times those of sp-pifo: 4 at 0.9 and 3 at 1.1."
    );
    assert_eq!(
        said(
            vec![
                variation(ranks("pfabric"), &[(Fifo, 9_600), (SpPifo, 10_000)]),
                variation(ranks("stfq"), &[(Fifo, 9_900), (SpPifo, 10_000)]),
            ],
            "By"
        ),
        "By ranks, the inversions of fifo are so many times those of sp-pifo: 4 with uniform:100, 0.96 with pfabric and 0.99 with stfq; sp-pifo is worse than fifo with pfabric."
    );
    let push_downs = || {
        vec![
            variation(Varied::PushDown(PushDown::Rank), &[(SpPifo, 11_000), (SpPifoArrivals, 30_000)]),
            variation(Varied::PushDown(PushDown::One), &[(SpPifo, 900)]),
        ]
    };
    for (whose, by) in
        [("the inversions of sp-pifo", "+10.0%"), ("the inversions of sp-pifo-arrivals", "+50.0%")]
    {
        let begin = format!("Compared with pushing down by cost, {whose} change");
        assert_eq!(said(push_downs(), &begin), format!("{begin} by {by} with rank."));
    }
}

#[test]
fn a_verdict_is_short() {
    let mut everything =
        found(&[(Fifo, 50_000), (SpPifo, 12_500), (Gradient, 9_000), (Fixed, 8_000), (Optimal, 7_000)]);
    (everything.base.load, everything.base.offered_load) = (1.1, Some(1.1));
    for queues in 9..60 {
        let schedulers = vec![run(Fifo, 50_000), run(SpPifo, 10_000)];
        let varied = Varied::Queues(queues);
        everything.variations.push(Variation { varied, rate: BitsPerSec(1), offered_load: None, schedulers });
    }
    let sentences = study::report::<Inversions>(&Options::default(), &everything).verdict;
    // The report leaves a sentence of so many factors to the tables.
    assert!(
        sentences.len() == 3 && sentences.iter().all(|sentence| !sentence.starts_with("By")),
        "{sentences:?}"
    );
}

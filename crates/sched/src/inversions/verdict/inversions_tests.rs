//! Every sentence of the verdict, from runs made up for it.

use super::super::super::document::Parameters;
use super::*;
use crate::tally::RankRun;

/// A scheduler with so many inversions among 100,000 packets.
pub(in super::super) fn run(scheduler: &'static str, inversions: u64) -> SchedulerRun {
    SchedulerRun {
        scheduler,
        arrivals: 100_000,
        departures: 100_000,
        drops: 0,
        inversions,
        inversion_share: inversions as f64 / 1e5,
        inversion_share_error: None,
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

fn modelled(scheduler: &'static str, expected: Option<f64>, happened: f64) -> SchedulerRun {
    SchedulerRun { expected_unpifoness: expected, unpifoness_mean: happened, ..run(scheduler, 5_000) }
}

/// As long a run as it takes to know that there is no error.
fn exact(run: SchedulerRun) -> SchedulerRun {
    SchedulerRun { expected_unpifoness_error: Some(0.0), ..run }
}

/// A study of these schedulers and inversions.
pub(in super::super) fn found(runs: &[(&'static str, u64)]) -> Inversions {
    Inversions {
        study: "sched.inversions",
        version: "",
        parameters: Parameters {
            ranks: "uniform:100".to_owned(),
            span: Some(100),
            arrivals: "poisson",
            packets: 100_000,
            packet_bytes: 1500,
            bytes_per_round: 1500,
            rate_bps: 10_000_000_000,
            load: 0.9,
            offered_load: Some(0.9),
            queues: 8,
            depth_packets: 10,
            push_down: "cost",
            window_packets: 1000,
            adaptation: "one-step",
            flows: Some(100),
            flow_size_bytes: None,
            access_bps: None,
            slack_ns: None,
            seed: 1,
        },
        trace: None,
        left_out: Vec::new(),
        schedulers: runs.iter().map(|&(scheduler, inversions)| run(scheduler, inversions)).collect(),
        variations: Vec::new(),
        verdict: Vec::new(),
    }
}

#[test]
fn a_fifo_is_held_against_sp_pifo() {
    let said = |runs: &[(&'static str, u64)]| on_inversions(&found(runs)).remove(0);
    let begin = "A FIFO sends 50.0 % of its packets before one of lower rank that waits, SP-PIFO on 8 queues";
    for (sp_pifo, end) in [
        (12_500, "12.5 %: 4 times fewer inversions; a PIFO none."),
        (40_000, "40.0 %: 20.0 % fewer inversions; a PIFO none."),
        (50_100, "50.1 %: about as many inversions as a FIFO; a PIFO none."),
        (60_000, "60.0 %: 20.0 % more inversions than a FIFO; a PIFO none."),
        (900, "0.90 %; a PIFO none."),
    ] {
        assert_eq!(said(&[("fifo", 50_000), ("sp-pifo", sp_pifo), ("pifo", 0)]), format!("{begin} {end}"));
    }
}

#[test]
fn what_was_measured_is_said_where_there_is_nothing_to_compare() {
    let said = |runs: &[(&'static str, u64)]| on_inversions(&found(runs)).remove(0);
    let begin = "Of the packets that leave, so many leave before one of lower rank that waits:";
    assert_eq!(
        said(&[("afq", 25_000), ("pifo", 0)]),
        format!("{begin} 25.0 % under afq and none under pifo.")
    );
    assert_eq!(said(&[("optimal", 1_000)]), format!("{begin} 1.0 % under optimal."));
    assert_eq!(said(&[]), "No scheduler was simulated.");
}

#[test]
fn too_few_are_said_to_be_that_once() {
    let few = |runs: &[(&'static str, u64)]| {
        on_inversions(&found(runs)).iter().filter(|sentence| sentence.contains("too few")).count()
    };
    assert_eq!(few(&[("fifo", 50_000), ("sp-pifo", 999), ("fixed", 3), ("pifo", 0)]), 1);
    assert_eq!(few(&[("fifo", 50_000), ("sp-pifo", 5_000), ("fixed", 5_000), ("pifo", 0)]), 0);
    assert_eq!(few(&[("fifo", 5), ("pifo", 0)]), 0, "these are not compared");
}

#[test]
fn each_is_said_to_know_what_it_knows() {
    let said = |runs: &[(&'static str, u64)]| on_bounds(&found(runs));
    assert_eq!(
        said(&[("sp-pifo", 6_000), ("gradient", 8_000), ("fixed", 6_010), ("optimal", 4_000)]).as_deref(),
        Some(
            "SP-PIFO knows nothing of the ranks that come; it has 25.0 % fewer inversions than the gradient (which measures how often each comes), about as many inversions as evenly divided bounds (which know their span) and 50.0 % more inversions than the best bounds (which know how often each comes)."
        )
    );
    let same = said(&[("sp-pifo", 6_000), ("gradient", 6_000), ("fixed", 6_000)]);
    assert!(
        same.as_deref().is_some_and(|same| same.ends_with(
            "it has about as many inversions as the gradient (which measures how often each comes) and evenly divided bounds (which know their span)."
        )),
        "{same:?}"
    );
    assert_eq!(said(&[("sp-pifo", 6_000), ("fixed", 999)]), None);
}

#[test]
fn a_gradient_that_has_not_arrived_is_named() {
    let mut found = found(&[]);
    let mut said = |gradient, adaptation| {
        found.schedulers =
            vec![exact(modelled("gradient", Some(gradient), 1.0)), modelled("optimal", Some(0.08), 1.0)];
        found.parameters.adaptation = adaptation;
        on_gradient(&found).unwrap_or_default()
    };
    assert_eq!(said(0.09, "one-step"), "");
    assert_eq!(
        said(0.15, "one-step"),
        "The gradient is not at the best bounds: by eq. 5 an unpifoness of 0.15 is expected of its own, on average over the run, and 0.08 of the best; at one step after every window it has not arrived, or bounds next to ranks that did not occur hold it up."
    );
    assert!(
        said(0.15, "converge").ends_with("windows of 1000 packets do not tell how often each rank comes.")
    );
}

#[test]
fn the_model_is_held_against_what_happens() {
    let said = |runs: &[SchedulerRun]| on_model(runs).unwrap_or_default();
    let (one, other) = (modelled("fixed", Some(1.0), 2.0), modelled("sp-pifo", Some(1.5), 1.0));
    let close = modelled("optimal", Some(0.99), 2.01);
    assert_eq!(said(std::slice::from_ref(&one)), "");
    let few = SchedulerRun { inversions: 999, ..other.clone() };
    assert_eq!(said(&[one.clone(), few]), "");
    assert!(
        said(&[one.clone(), close, modelled("packs", None, 0.1)]).starts_with("The unpifoness that eq. 5")
    );
    let wrong = said(&[other, one]);
    assert!(
        wrong.contains("1 of fixed and 1.5 of sp-pifo, and what happens is 2 and 1 per packet"),
        "{wrong}"
    );
    // What chance may have done turns no verdict: neither in what is expected nor in what happens.
    let fixed = modelled("fixed", Some(1.0), 2.0);
    for noisy in [
        SchedulerRun { expected_unpifoness_error: Some(0.2), ..modelled("sp-pifo", Some(1.5), 1.0) },
        SchedulerRun { unpifoness_mean_error: Some(0.4), ..modelled("sp-pifo", Some(1.5), 1.0) },
    ] {
        let said = said(&[noisy, fixed.clone()]);
        assert!(said.ends_with("apart by more than 5 % and by more than chance."), "{said}");
    }
    let near = said(&[modelled("fixed", Some(1.0), 0.0200), modelled("optimal", Some(0.9), 0.0213)]);
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
    let mut run = run("fifo", 0);
    // Half of the packets are those of rank 0 and a quarter of those of rank 1.
    (run.arrivals, run.drops) = (10_000, 1_000);
    run.by_rank = vec![rank(0, 4_000, 100), rank(1, 4_000, 400), rank(2, 2_000, 500)];
    assert_eq!(urgent_drops(&run), Some(0.2));
    assert_eq!(
        on_drops(std::slice::from_ref(&run)).as_deref(),
        Some("Of the drops, these shares hit the more urgent half of the packets: 20.0 % under fifo.")
    );
    run.drops = 999;
    assert_eq!(on_drops(std::slice::from_ref(&run)), None);
    run.by_rank.clear();
    assert_eq!(urgent_drops(&run), None);
}

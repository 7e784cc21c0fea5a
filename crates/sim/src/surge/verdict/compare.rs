//! The verdict of `surge compare`.

use trueplane_core::units::{BitsPerSec, Nanos, Percent};

use super::super::document::{Compare, Rounding, Row, Worst};
use super::{digits, factor};
use crate::prose::join;

/// An attack of fewer packets in a run says little about its rate.
const FEWEST_PACKETS: u64 = 100;

/// Theory and measurement are told apart from here on.
const APART: f64 = 0.05;

/// The verdict, the most important sentence first.
pub fn on_compare(found: &Compare) -> Vec<String> {
    let mut sentences = Vec::new();
    for &innocent_bps in &found.parameters.innocent_bps {
        sentences.extend(on_cost(found, innocent_bps));
        sentences.extend(on_half(found, innocent_bps));
    }
    sentences.extend(on_bounds(found));
    sentences.extend(on_buffer(found));
    sentences.extend(on_theory(found));
    sentences.extend(on_rounding(found));
    sentences.extend(on_overload(found));
    sentences.extend(on_few(found));
    sentences
}

fn users(found: &Compare, innocent_bps: u64) -> String {
    let share = Percent(innocent_bps as f64 / found.workload.r_max_bps);
    format!("users at {} ({share} of r_max)", BitsPerSec(innocent_bps))
}

/// What a bit costs under each policy.
fn on_cost(found: &Compare, innocent_bps: u64) -> Option<String> {
    let mut worst: Vec<&Worst> =
        found.worst.iter().filter(|worst| worst.innocent_bps == innocent_bps).collect();
    worst.sort_by(|a, b| b.displacement_factor.total_cmp(&a.displacement_factor));
    let part = |(number, worst): (usize, &&Worst)| {
        let bits = if number == 0 { " bits" } else { "" };
        let bound = worst.bound.map(|bound| format!(" (at most {} by theorem)", factor(bound)));
        format!(
            "{}{bits} under {}{}",
            factor(worst.displacement_factor),
            worst.policy,
            bound.unwrap_or_default()
        )
    };
    let parts: Vec<String> = worst.iter().enumerate().map(part).collect();
    let up_to = if found.parameters.attack_bps.len() > 1 { "up to " } else { "" };
    (!parts.is_empty()).then(|| {
        format!("With {}, an attacker's bit costs them {up_to}{}.", users(found, innocent_bps), join(&parts))
    })
}

/// How little attack takes half of the goodput, under the policy that loses it first.
fn on_half(found: &Compare, innocent_bps: u64) -> Option<String> {
    let is_half = |row: &&Row| row.goodput_bps <= row.baseline_goodput_bps / 2.0;
    let row = found.at(innocent_bps).filter(is_half).min_by_key(|row| row.attack_bps)?;
    let same = found.at(innocent_bps).filter(is_half).filter(|other| other.attack_bps == row.attack_bps);
    let policies: Vec<String> = same.map(|row| row.policy.to_owned()).collect();
    Some(format!(
        "Under {} an attack of {}, {} of what users send, takes half of their goodput or more; if all bits were alike, it would take {}.",
        join(&policies),
        BitsPerSec(row.attack_bps),
        Percent(row.attack_bps as f64 / innocent_bps as f64),
        Percent((1.0 - row.believed_goodput_bps / innocent_bps as f64).max(0.0))
    ))
}

/// Whether a bound does not hold.
fn on_bounds(found: &Compare) -> Option<String> {
    let over = |row: &&Row| {
        let least = row.displacement_interval.map_or(row.displacement_factor, |interval| interval.low);
        row.bound.is_some_and(|bound| least > bound * (1.0 + 1e-3))
    };
    let row = found.rows.iter().filter(over).max_by(|a, b| excess(a).total_cmp(&excess(b)))?;
    Some(format!(
        "The bound is for the long run and for jobs that the scheduler knows; under {} and an attack of {} a bit displaces {}, and not {} at most.",
        row.policy,
        BitsPerSec(row.attack_bps),
        factor(row.displacement_factor),
        factor(row.bound.unwrap_or_default())
    ))
}

/// A buffer that is too small for what comes during one job: no order of service helps.
fn on_buffer(found: &Compare) -> Option<String> {
    let parameters = &found.parameters;
    let mean = found.workload.mean_packet_bits;
    let packets = match (parameters.capacity_packets, parameters.capacity_bits) {
        (Some(packets), _) => packets as f64,
        (None, bits) => bits? as f64 / mean,
    };
    let longest = Nanos(parameters.attack_largest_job_ns);
    let rate = parameters.innocent_bps.iter().max().copied().unwrap_or_default();
    let needed = (rate as f64 * longest.0 as f64 / 1e9 / mean).ceil();
    (packets < needed).then(|| {
        format!(
            "The buffer holds {packets:.0} packets, and while a job of {longest} is served users send {needed:.0}: what does not fit is \
             lost under every order of service, and no bound holds (see it with --attack largest). Give it room for {needed:.0} or more."
        )
    })
}

fn excess(row: &Row) -> f64 {
    row.displacement_factor / row.bound.unwrap_or(f64::MAX)
}

/// How far theory is off. A search begins where theory ends.
fn on_theory(found: &Compare) -> Option<String> {
    if found.parameters.attack == "search" {
        return on_search(found);
    }
    let relative = |row: &Row, theory: f64| (row.displacement_factor - theory).abs() / theory.abs().max(1.0);
    let known = found.rows.iter().filter_map(|row| Some((row, row.theory?)));
    let (row, theory) = known.max_by(|a, b| relative(a.0, a.1).total_cmp(&relative(b.0, b.1)))?;
    if relative(row, theory) <= APART {
        return Some(format!(
            "Theory and measurement differ by at most {} of the larger of one and what theory expects.",
            Percent(relative(row, theory))
        ));
    }
    let of = &found.parameters;
    let bounded = of.capacity_packets.or(of.capacity_bits).is_some();
    Some(format!(
        "Theory is furthest off under {} with an attack of {}: it expects {}, and it is {}{}.",
        row.policy,
        BitsPerSec(row.attack_bps),
        factor(theory),
        factor(row.displacement_factor),
        if bounded { "; it knows no bound on the buffer" } else { "" }
    ))
}

/// Whether trying found what theory has overlooked.
fn on_search(found: &Compare) -> Option<String> {
    let gain = |row: &Row| row.displacement_factor - row.theory.unwrap_or(f64::MAX);
    let row = found.rows.iter().max_by(|a, b| gain(a).total_cmp(&gain(b)))?;
    let theory = row.theory?;
    if gain(row) <= 0.01 * theory.max(1.0) {
        return Some("The search found nothing worse than theory does.".to_owned());
    }
    Some(format!(
        "The search found worse than theory does, most of all under {} with an attack of {}: {} instead of {}.",
        row.policy,
        BitsPerSec(row.attack_bps),
        factor(row.displacement_factor),
        factor(theory)
    ))
}

/// What rounding ranks does.
fn on_rounding(found: &Compare) -> Option<String> {
    let gap = |of: &Rounding| (of.displacement_factor - of.exact_displacement_factor).abs();
    let most = found.rounding.iter().max_by(|a, b| gap(a).total_cmp(&gap(b)))?;
    Some(format!(
        "Rounding ranks for a find-first-set queue moves displacement factors by at most {}: under {} it is {:.4} instead of {:.4}.",
        digits(gap(most), 2),
        most.policy,
        most.displacement_factor,
        most.exact_displacement_factor
    ))
}

/// Users that need no attacker.
fn on_overload(found: &Compare) -> Option<String> {
    let beyond = found.parameters.innocent_bps.iter().filter(|rate| **rate as f64 > found.workload.r_max_bps);
    let rates: Vec<String> = beyond.map(|rate| BitsPerSec(*rate).to_string()).collect();
    (!rates.is_empty()).then(|| {
        format!(
            "At {} users alone send more than can be served: some of it waits forever without any attack.",
            join(&rates)
        )
    })
}

/// Attacks of so few packets that chance decides.
fn on_few(found: &Compare) -> Option<String> {
    let seeds = found.parameters.seeds.len() as u64;
    let few = |row: &&Row| row.attacker.arrived.packets < FEWEST_PACKETS * seeds;
    let rate = found.rows.iter().filter(few).map(|row| row.attack_bps).max()?;
    Some(format!(
        "Up to {} an attack has fewer than {FEWEST_PACKETS} packets in a run: more packets of users would tell more.",
        BitsPerSec(rate)
    ))
}

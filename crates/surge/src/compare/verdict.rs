//! The verdict of `surge compare`.

use trueplane_study::prose::{digits, join};
use trueplane_units::{BitsPerSec, Nanos, Percent};

use crate::document::{Compare, FEWEST_PACKETS, Rounding, Row, Worst};
use crate::words::{at_most, cost, factor, on_bounds};

/// Theory and measurement are told apart from here on.
const APART: f64 = 0.05;

/// Orders of service that treat flows alike, whose theory is for a long run.
const ALIKE: [&str; 2] = ["fq", "drr"];

/// The verdict, the most important sentence first.
pub fn on_compare(found: &Compare) -> Vec<String> {
    if let Some(nothing) = on_nothing(found) {
        let mut sentences = vec![nothing];
        sentences.extend(on_buffer(found));
        sentences.extend(on_overload(found));
        return sentences;
    }
    let mut sentences = Vec::new();
    for &innocent_bps in &found.parameters.innocent_bps {
        sentences.extend(on_cost(found, innocent_bps));
        sentences.extend(on_half(found, innocent_bps));
    }
    sentences.extend(on_bounds(found.telling()));
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
        found.worst.iter().filter(|worst| worst.innocent_bps == innocent_bps && found.tells(worst)).collect();
    worst.sort_by(|a, b| b.displacement_factor.total_cmp(&a.displacement_factor));
    let up_to = if found.parameters.attack_bps.len() > 1 { "up to " } else { "" };
    let part = |(number, worst): (usize, &&Worst)| {
        let Worst { policy, displacement_factor, bound, .. } = **worst;
        let (before, after) = if number == 0 { (up_to, " bits") } else { ("", "") };
        let cost = cost(before, displacement_factor, after);
        format!("{cost} under {policy}{}", at_most(bound, displacement_factor))
    };
    let parts: Vec<String> = worst.iter().enumerate().map(part).collect();
    (!parts.is_empty()).then(|| {
        format!("With {}, an attacker's bit costs them {}.", users(found, innocent_bps), join(&parts))
    })
}

/// How little attack takes half of the goodput, under the policy that loses it first; of which users, if they are not the only ones.
fn on_half(found: &Compare, innocent_bps: u64) -> Option<String> {
    let is_half = |row: &&Row| row.tells() && row.goodput_bps <= row.baseline_goodput_bps / 2.0;
    let row = found.at(innocent_bps).filter(is_half).min_by_key(|row| row.attack_bps)?;
    let same = found.at(innocent_bps).filter(is_half).filter(|other| other.attack_bps == row.attack_bps);
    let policies: Vec<String> = same.map(|row| row.policy.to_owned()).collect();
    let under = match found.parameters.innocent_bps.len() {
        0 | 1 => "Under".to_owned(),
        _ => format!("With {}, under", users(found, innocent_bps)),
    };
    Some(format!(
        "{under} {} an attack of {}, {} of what users send, takes half of their goodput or more; if all bits were alike, it would take {}.",
        join(&policies),
        BitsPerSec(row.attack_bps),
        Percent(row.attack_bps as f64 / innocent_bps as f64),
        Percent((1.0 - row.believed_goodput_bps / innocent_bps as f64).max(0.0))
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

/// How far theory is off; after a search, how much worse than the optimal attack is what it found.
///
/// fq and drr are left out. Their theory is for a run in which the flows of the attack have piled up, and in most runs they are still
/// piling up.
fn on_theory(found: &Compare) -> Option<String> {
    if found.parameters.attack == "search" {
        return on_search(found);
    }
    let relative = |row: &Row, theory: f64| (row.displacement_factor - theory).abs() / theory.abs().max(1.0);
    let rows = found.telling().filter(|row| !ALIKE.contains(&row.policy));
    let known = rows.filter_map(|row| Some((row, row.theory?)));
    let (row, theory) = known.max_by(|a, b| relative(a.0, a.1).total_cmp(&relative(b.0, b.1)))?;
    let has_theory = |policy: &&str| found.telling().any(|row| row.policy == *policy && row.theory.is_some());
    let apart = ALIKE.into_iter().filter(has_theory);
    let apart: Vec<String> = apart.map(str::to_owned).collect();
    let but = if apart.is_empty() { String::new() } else { format!(", {} apart,", join(&apart)) };
    if relative(row, theory) <= APART {
        return Some(format!(
            "Theory and measurement{but} differ by at most {} of the larger of one and what theory expects.",
            Percent(relative(row, theory))
        ));
    }
    let of = &found.parameters;
    let bounded = of.capacity_packets.or(of.capacity_bits).is_some();
    Some(format!(
        "Theory{but} is furthest off under {} with an attack of {}: it expects {}, and it is {}{}.",
        row.policy,
        BitsPerSec(row.attack_bps),
        factor(theory),
        factor(row.displacement_factor),
        if bounded { "; it knows no bound on the buffer" } else { "" }
    ))
}

/// Whether trying found what does more harm on this run than what it began with, which is sent evenly.
fn on_search(found: &Compare) -> Option<String> {
    let pair = |row: &Row| Some((row.runs.first()?.displacement_factor, row.planned_displacement_factor?));
    let gain = |row: &Row| pair(row).map_or(0.0, |(searched, planned)| searched - planned);
    let row = found.telling().max_by(|a, b| gain(a).total_cmp(&gain(b)))?;
    let (searched, planned) = pair(row)?;
    if factor(searched) == factor(planned) {
        return Some("The search found nothing worse than the optimal attack.".to_owned());
    }
    Some(format!(
        "On this run the search found worse than the optimal attack, which is sent evenly and planned for a long run: most of all \
         under {} with an attack of {}, a bit of which displaces {} instead of {}.",
        row.policy,
        BitsPerSec(row.attack_bps),
        factor(searched),
        factor(planned)
    ))
}

/// What rounding ranks does.
fn on_rounding(found: &Compare) -> Option<String> {
    let gap = |of: &Rounding| (of.displacement_factor - of.exact_displacement_factor).abs();
    let most = found.rounding.iter().max_by(|a, b| gap(a).total_cmp(&gap(b)))?;
    let moves = "Rounding ranks for a find-first-set queue moves displacement factors by";
    if gap(most) == 0.0 {
        return Some("Rounding ranks for a find-first-set queue moves no displacement factor.".to_owned());
    }
    if gap(most) < 1e-4 {
        return Some(format!("{moves} less than 0.0001."));
    }
    Some(format!(
        "{moves} at most {}: under {} it is {:.4} instead of {:.4}.",
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

/// What to do if chance decides.
const REMEDY: &str = "take more packets of users, a longer trace, or a higher attack rate";

/// No attack has so many packets that the run tells anything: that comes before all else.
fn on_nothing(found: &Compare) -> Option<String> {
    (!found.rows.is_empty() && !found.rows.iter().any(Row::tells)).then(|| {
        format!(
            "Every attack has fewer than {FEWEST_PACKETS} packets in a run, and what so few do is chance: {REMEDY}."
        )
    })
}

/// Attacks of so few packets that chance decides, beside others of more.
fn on_few(found: &Compare) -> Option<String> {
    let rate = found.rows.iter().filter(|row| !row.tells()).map(|row| row.attack_bps).max()?;
    Some(format!(
        "Up to {} an attack has fewer than {FEWEST_PACKETS} packets in a run, and what so few do is chance: to know of them too, {REMEDY}.",
        BitsPerSec(rate)
    ))
}

//! The verdict of `surge compare`.

use trueplane_study::prose::join;
use trueplane_units::{BitsPerSec, Percent, digits};

use super::found::{FEWEST_PACKETS, Found, Rounding, Row};
use super::options::Options;
use super::warnings::REMEDY;
use crate::policy::PolicyName;
use crate::words::{at_most, cost, factor};

/// More policies than these are not named in one sentence.
const MOST_NAMED: usize = 3;

/// Theory and simulation are told apart from here on.
const APART: f64 = 0.05;

/// The verdict, the most important sentence first.
pub(super) fn verdict(options: &Options, found: &Found) -> Vec<String> {
    if let Some(nothing) = on_nothing(found) {
        return vec![nothing];
    }
    [on_cost(found), on_half(found), on_theory(options, found), on_rounding(found)]
        .into_iter()
        .flatten()
        .collect()
}

fn users(found: &Found, rate: BitsPerSec) -> String {
    format!("users at {rate} ({} of r_max)", Percent(rate.0 as f64 / found.workload.r_max_bps))
}

/// The rate of users that the verdict is about: the highest of those at which an attack tells anything.
fn told(found: &Found) -> Option<BitsPerSec> {
    found.telling().map(|row| row.innocent_rate).max()
}

/// Sentence about the cost of a bit of attack under each policy.
fn on_cost(found: &Found) -> Option<String> {
    let rate = told(found)?;
    let mut worst = found.worst();
    worst.retain(|row| row.innocent_rate == rate && row.tells());
    worst.sort_by(|a, b| b.displacement_factor.total_cmp(&a.displacement_factor));
    // The table has those between.
    if worst.len() > MOST_NAMED {
        worst.drain(1..worst.len() - 1);
    }
    let up_to = if found.attack.len() > 1 { "up to " } else { "" };
    let part = |(number, row): (usize, &&Row)| {
        let Row { policy, displacement_factor, bound, .. } = **row;
        let (before, after) = if number == 0 { (up_to, " bits") } else { ("", "") };
        let cost = cost(before, displacement_factor, after);
        format!("{cost} under {policy}{}", at_most(bound, displacement_factor))
    };
    let parts: Vec<String> = worst.iter().enumerate().map(part).collect();
    Some(format!("With {}, an attacker's bit costs them {}.", users(found, rate), join(&parts)))
}

/// Sentence about the smallest attack that takes half of the goodput, under the policies that lose it first.
fn on_half(found: &Found) -> Option<String> {
    let rate = told(found)?;
    let is_half = |row: &&Row| row.tells() && row.goodput_bps <= row.baseline_goodput_bps / 2.0;
    let row = found.at(rate).filter(is_half).min_by_key(|row| row.attack_rate)?;
    let same = found.at(rate).filter(is_half).filter(|other| other.attack_rate == row.attack_rate);
    let policies: Vec<String> = same.map(|row| row.policy.to_string()).collect();
    let under = match found.innocent.len() {
        0 | 1 => "Under".to_owned(),
        _ => format!("With {}, under", users(found, rate)),
    };
    Some(format!(
        "{under} {} an attack of {}, {} of what users send, takes half of their goodput or more; the classical model expects {}.",
        join(&policies),
        row.attack_rate,
        Percent(row.attack_rate.0 as f64 / rate.0 as f64),
        Percent((1.0 - row.classical_goodput_bps / rate.0 as f64).max(0.0))
    ))
}

/// Sentence about the error of the theory; after a search, about the distance of the attack that was found from the optimal one.
///
/// Policies that treat flows alike are left out. Their theory is for a run in which the flows of the attack have piled up, and in most
/// runs they are still piling up.
fn on_theory(options: &Options, found: &Found) -> Option<String> {
    if options.attack.is_searched() {
        return on_search(found);
    }
    let relative = |row: &Row, theory: f64| (row.displacement_factor - theory).abs() / theory.abs().max(1.0);
    let is_alike = |policy: PolicyName| policy.properties().alike;
    let known = found.telling().filter_map(|row| Some((row, row.theory?)));
    let (apart, known): (Vec<_>, Vec<_>) = known.partition(|(row, _)| is_alike(row.policy));
    let (row, theory) = known.into_iter().max_by(|a, b| relative(a.0, a.1).total_cmp(&relative(b.0, b.1)))?;
    let apart = PolicyName::ALL.iter().filter(|policy| apart.iter().any(|(row, _)| row.policy == **policy));
    let apart: Vec<String> = apart.map(ToString::to_string).collect();
    let but = if apart.is_empty() { String::new() } else { format!(", {} apart,", join(&apart)) };
    if relative(row, theory) <= APART {
        let most = Percent(relative(row, theory));
        return Some(format!("Theory and simulation{but} differ by at most {most}."));
    }
    Some(format!(
        "Theory{but} is furthest off under {} with an attack of {}: it expects {}, and it is {}{}.",
        row.policy,
        row.attack_rate,
        factor(theory),
        factor(row.displacement_factor),
        if options.capacity.is_some() { "; it knows no bound on the buffer" } else { "" }
    ))
}

/// Whether trying found what does more harm on this run than what it began with, which is sent evenly.
fn on_search(found: &Found) -> Option<String> {
    let pair = |row: &Row| Some((row.runs.first()?.displacement_factor, row.planned_displacement_factor?));
    let gain = |row: &Row| pair(row).map_or(0.0, |(searched, planned)| searched - planned);
    let row = found.telling().max_by(|a, b| gain(a).total_cmp(&gain(b)))?;
    let (searched, planned) = pair(row)?;
    if factor(searched) == factor(planned) {
        return Some("The search found nothing worse than the optimal attack.".to_owned());
    }
    Some(format!(
        "On this run the search found worse than the optimal attack: most of all under {} with an attack of {}, a bit of which \
         displaces {} instead of {}.",
        row.policy,
        row.attack_rate,
        factor(searched),
        factor(planned)
    ))
}

/// Sentence about the effect of rounding ranks.
fn on_rounding(found: &Found) -> Option<String> {
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

/// No attack has so many packets that the run tells anything: that comes before all else.
fn on_nothing(found: &Found) -> Option<String> {
    (!found.rows.is_empty() && !found.rows.iter().any(Row::tells)).then(|| {
        format!(
            "Every attack has fewer than {FEWEST_PACKETS} packets in a run, and what so few do is chance: {REMEDY}."
        )
    })
}

/// The row of the policy to serve by, with its theorem if that is why; none if nothing can be told.
pub(super) fn best(found: &Found) -> Option<(&Row, Option<f64>)> {
    let rate = told(found)?;
    let mut worst = found.worst();
    worst.retain(|row| row.innocent_rate == rate && row.tells());
    let least = *worst.iter().min_by(|a, b| a.displacement_factor.total_cmp(&b.displacement_factor))?;
    if worst.len() < 2 {
        return None;
    }
    // What was found is no proof that there is nothing worse; a theorem is.
    let is_near = |row: &&&Row| row.displacement_factor <= least.displacement_factor * (1.0 + APART);
    let proved = worst.iter().filter(is_near).filter_map(|row| Some((*row, row.bound?)));
    let proved = proved.min_by(|a, b| a.1.total_cmp(&b.1));
    Some(proved.map_or((least, None), |(row, bound)| (row, Some(bound))))
}

/// The order of service under which an attack does least harm.
pub(super) fn advice(found: &Found) -> String {
    match best(found) {
        None => String::new(),
        Some((row, Some(bound))) => format!(
            "Serve by {}: by a theorem no attacker's bit costs your users more than {} bits.",
            row.policy,
            digits(bound, 3)
        ),
        Some((row, None)) => {
            format!("Serve by {}: the worst attack found costs your users least.", row.policy)
        }
    }
}

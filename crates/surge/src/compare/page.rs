//! What people see of `surge compare`: facts, every policy at its worst, and all rows.

use trueplane_study::page::Columns;
use trueplane_study::report::Cell;
use trueplane_study::{Measured, Page};
use trueplane_units::BitsPerSec;

use super::found::{Baseline, Found, Mixture, MixturePart, Row, WorkloadFacts};
use super::options::Options;
use super::verdict::best;
use super::warnings::warnings;
use crate::tally::Fate;
use crate::theory::Limits;

/// Smaller intervals and expectations are called zero.
const DUST: f64 = 1e-6;

/// What it takes to measure the goodput of an order of service.
pub(crate) const NEEDED: &str = "a processor with this order of service";

pub(super) fn present(options: &Options, found: &Found, page: &mut Page) {
    for sentence in warnings(options, found) {
        page.warn(sentence);
    }
    workload(&found.workload, page);
    limits(found.limits, page);
    page.fact("seeds", "seeds", found.seeds.len());
    let most = found.innocent.iter().max();
    for row in found.worst().into_iter().filter(|row| Some(&row.innocent_rate) == most) {
        numbers(row, &format!("under {}", row.policy), page);
    }
    page.left_out("workload", found.workload.left_out.iter().cloned());
    worst(options, found, page);
    rows(found, page);
    baselines(found, page);
    fates(found, page);
    mixtures(found, page);
    runs(found, page);
    rounding(found, page);
}

/// What a bit of attack costs users in a row, by the classical model and by the refined one: goodputs under attacks of different rates
/// cannot be compared.
pub(crate) fn numbers(row: &Row, policy: &str, page: &mut Page) {
    let lost = (row.baseline_goodput_bps - row.classical_goodput_bps).max(0.0);
    let classical = lost / row.attack_rate.0.max(1) as f64;
    page.numbers(
        format!("users' bits lost per bit of attack {policy}, attacked with {}", row.attack_rate),
        "displacement_factor",
        row.tells().then_some(classical),
        row.tells().then_some(row.displacement_factor),
        Measured::Needs(NEEDED),
    );
}

/// Facts about the packets of users.
pub(crate) fn workload(of: &WorkloadFacts, page: &mut Page) {
    page.fact("packets of users", "packets", of.packets);
    page.fact("flows of users", "flows", of.flows);
    page.fact("mean bits of a packet", "mean_packet_bits", of.mean_packet_bits);
    page.fact("mean job", "mean_job_ns", Cell::Nanos(of.mean_job_ns));
    page.fact("r_max, what the server can serve of users", "r_max_bps", rate(of.r_max_bps));
    page.fact("bits of the smallest packet of users", "smallest_packet_bits", of.smallest_packet_bits);
    page.fact("largest job of users", "largest_job_ns", of.largest_job);
}

/// Facts about what is planned for the attacker.
pub(crate) fn limits(limits: Limits, page: &mut Page) {
    page.fact(
        "bits of the smallest packet of the attacker",
        "attack_smallest_packet_bits",
        limits.least_bits,
    );
    page.fact("largest job of the attacker", "attack_largest_job_ns", limits.most_job);
}

/// Every policy at its worst.
fn worst(options: &Options, found: &Found, page: &mut Page) {
    let title = match found.attack.len() {
        1 => "Every policy under attack",
        _ => "Every policy under the attack rate at which a bit of attack displaces most",
    };
    let searched = options.attack.is_searched();
    let best = best(found).map(|(row, _)| row);
    columns(page.table("worst", title, found.worst()), is_misjudged(&found.rows))
        .col_if(searched, "before the search", "planned_displacement_factor", |row| {
            row.planned_displacement_factor.map(without_dust)
        })
        .mark(|row| best.filter(|best| std::ptr::eq(*best, *row)).map(|_| "serve by this"));
}

fn rows(found: &Found, page: &mut Page) {
    columns(page.table("rows", "Every policy at every pair of rates", &found.rows), true)
        .col("classical goodput", "classical_goodput_bps", |row| rate(row.classical_goodput_bps))
        .col("goodput by theory", "theory_goodput_bps", |row| row.theory_goodput_bps.map(rate))
        .when_any()
        .col("before the search", "planned_displacement_factor", |row| row.planned_displacement_factor)
        .when_any()
        .col("arrived", "arrived", |row| row.arrived)
        .col("served", "served", |row| row.served)
        .col("dropped", "dropped", |row| row.dropped)
        .col("left", "left", |row| row.left)
        .col("most waiting", "backlog_packets", |row| row.backlog_packets)
        .detail();
}

/// Whether the scheduler takes an attack for something else than it is, which is then worth a column.
pub(crate) fn is_misjudged<'r>(rows: impl IntoIterator<Item = &'r Row>) -> bool {
    rows.into_iter().any(|row| row.attack.estimate != row.attack.job)
}

/// The columns of rows.
pub(crate) fn columns<'p, 'r>(table: Columns<'p, &'r Row>, misjudged: bool) -> Columns<'p, &'r Row> {
    table
        .col("policy", "policy", |row| row.policy.name())
        .col("users", "innocent_bps", |row| row.innocent_rate)
        .col("attack", "attack_bps", |row| row.attack_rate)
        // What so few packets do is chance: a number would be read as one that means something.
        .col("displacement", "displacement_factor", |row| {
            row.tells().then_some(without_dust(row.displacement_factor))
        })
        .col("±", "displacement_half_interval", |row| {
            let interval = row.displacement_interval.filter(|_| row.tells());
            interval.map(|interval| without_dust((interval.high - interval.low) / 2.0))
        })
        .col("theory", "theory", |row| row.theory.map(without_dust))
        .col("bound", "bound", |row| row.bound)
        .col("goodput before", "baseline_goodput_bps", |row| rate(row.baseline_goodput_bps))
        .col("goodput", "goodput_bps", |row| rate(row.goodput_bps))
        .col("packet bits", "attack_packet_bits", |row| row.attack.packet_bits)
        .col("job", "attack_job_ns", |row| row.attack.job)
        .col_if(misjudged, "thought", "attack_estimate_ns", |row| row.attack.estimate)
}

fn baselines(found: &Found, page: &mut Page) {
    page.table("baselines", "Every policy without an attack", &found.baselines)
        .col("policy", "policy", |of: &&Baseline| of.policy.name())
        .col("users", "innocent_bps", |of| of.innocent_rate)
        .col("goodput", "goodput_bps", |of| rate(of.goodput_bps))
        .detail();
}

/// Adds a table of the fates of packets, over all seeds.
fn fates(found: &Found, page: &mut Page) {
    let calm = found.baselines.iter().map(|of| (of.policy, of.innocent_rate, None, "users", &of.innocent));
    let attacked = found.rows.iter().flat_map(|row| {
        let fates = [("users", &row.innocent), ("attacker", &row.attacker)];
        fates.map(|(who, fate)| (row.policy, row.innocent_rate, Some(row.attack_rate), who, fate))
    });
    page.table("fates", "Fates of packets, of all seeds together", calm.chain(attacked))
        .col("policy", "policy", |row| row.0.name())
        .col("users", "innocent_bps", |row| row.1)
        .col("attack", "attack_bps", |row| row.2)
        .col("sender", "sender", |row| row.3)
        .col("arrived", "arrived", |row| row.4.arrived.packets)
        .col("served", "served", |row| row.4.served.packets)
        .col("dropped", "dropped", |row| row.4.dropped.packets)
        .col("left", "left", |row| row.4.left.packets)
        .col("bits arrived", "arrived_bits", |row| row.4.arrived.bits)
        .col("bits served", "served_bits", |row| row.4.served.bits)
        .col("bits dropped", "dropped_bits", |row| row.4.dropped.bits)
        .col("bits left", "left_bits", |row| row.4.left.bits)
        .col("work served", "work_ns", |row: &(_, _, _, _, &Fate)| row.4.work)
        .col("thought to take", "estimated_ns", |row| row.4.estimated)
        .detail();
}

/// The parts of attacks that were searched for; with the rows it is all that it takes to send them again.
fn mixtures(found: &Found, page: &mut Page) {
    let parts = found.rows.iter().flat_map(|row| {
        let mixture = row.attack.mixture.iter();
        mixture.flat_map(move |mixture| mixture.parts.iter().map(move |part| (row, mixture, part)))
    });
    let parts: Vec<(&Row, &Mixture, &MixturePart)> = parts.collect();
    if parts.is_empty() {
        return;
    }
    page.table("mixtures", "Attacks that were searched for, part by part", parts)
        .col("policy", "policy", |of| of.0.policy.name())
        .col("users", "innocent_bps", |of| of.0.innocent_rate)
        .col("attack", "attack_bps", |of| of.0.attack_rate)
        .col("bursts", "bursts", |of| of.1.bursts)
        .col("duty", "duty", |of| of.1.duty)
        .col("phase", "phase", |of| of.1.phase)
        .col("packets", "packets", |of| of.2.packets)
        .col("packet bits", "packet_bits", |of| of.2.packet_bits)
        .col("job", "job_ns", |of| of.2.job)
        .col("thought", "estimate_ns", |of| of.2.estimate)
        .col("number in the pool", "pool_index", |of| of.2.pool_index)
        .col("flows", "flows", |of| of.2.flows.to_string())
        .detail();
}

fn runs(found: &Found, page: &mut Page) {
    let runs = found.rows.iter().flat_map(|row| row.runs.iter().map(move |run| (row, run)));
    page.table("runs", "Every policy at every pair of rates, seed by seed", runs)
        .col("policy", "policy", |of| of.0.policy.name())
        .col("users", "innocent_bps", |of| of.0.innocent_rate)
        .col("attack", "attack_bps", |of| of.0.attack_rate)
        .col("seed", "seed", |of| of.1.seed)
        .col("goodput before", "baseline_goodput_bps", |of| rate(of.1.baseline_goodput_bps))
        .col("goodput", "goodput_bps", |of| rate(of.1.goodput_bps))
        .col("displacement", "displacement_factor", |of| of.1.displacement_factor)
        .detail();
}

fn rounding(found: &Found, page: &mut Page) {
    if found.rounding.is_empty() {
        return;
    }
    page.table("rounding", "Displacement with ranks that are rounded, and with exact ones", &found.rounding)
        .col("policy", "policy", |of| of.policy.name())
        .col("users", "innocent_bps", |of| of.innocent_rate)
        .col("attack", "attack_bps", |of| of.attack_rate)
        .col("rounded", "displacement_factor", |of| of.displacement_factor)
        .col("exact", "exact_displacement_factor", |of| of.exact_displacement_factor)
        .detail();
}

/// A number, or zero for what rounding leaves of it.
fn without_dust(number: f64) -> f64 {
    if number.abs() < DUST { 0.0 } else { number }
}

/// A rate in whole bits per second.
fn rate(bps: f64) -> BitsPerSec {
    BitsPerSec(bps.round() as u64)
}

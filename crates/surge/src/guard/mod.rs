//! The operator's question: what a bit of the worst steady attack costs my users today, and what it would cost them under WSJF.

pub mod found;
mod report;
pub mod verdict;

use trueplane_study::{Error, Observer};
use trueplane_units::{Bytes, Nanos};

use crate::compare::compare;
use crate::document::{Compare, Row};
use crate::names::PolicyName;
use crate::options::{AttackChoice, Options, Rate, Sweep};
use crate::workload::arrivals::{Arrivals, own_span};
use crate::workload::size::Size;
use crate::workload::source::Source;
use crate::{Capacity, Overflow};
use found::Guard;

/// Attack rates from a hundred-thousandth of r_max to all of it, six in a decade.
const SWEEP: Sweep = Sweep { from: Rate::Share(10), to: Rate::Share(1_000_000), points: Some(31) };

/// What fewer packets of attack do in a run is chance.
pub const FEWEST_PACKETS: u64 = 100;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// How fast users send, evenly; none: as their times say, or evenly nine tenths of r_max if they have none or all come at one
    /// instant.
    pub innocent: Option<Rate>,
    /// The order of service today.
    pub policy: PolicyName,
    /// How much may wait; none: everything.
    pub capacity: Option<Capacity>,
    /// What goes today when the buffer is full; under WSJF it is the worst.
    pub overflow: Overflow,
    /// The attacker's smallest packet; none: 64 bytes, or that of users if it is smaller.
    pub smallest_packet: Option<Size>,
    /// His largest job; none: that of users.
    pub largest_job: Option<Nanos>,
    /// Memory for packets.
    pub memory: Bytes,
}

/// Answers the question by trying attacks at many rates, each the best by theory for its policy and rate of those that are sent evenly, on
/// the packets themselves; with a bounded buffer, which theory does not know, also the smallest packet with the largest job.
///
/// # Errors
/// As [`compare`]; if no attack rate brings enough packets.
pub fn guard<S: Source>(source: &S, question: &Question, observer: &dyn Observer) -> Result<Guard, Error> {
    let drawn = source.draw(0);
    // Times tell nothing if all are the same.
    let times = drawn.times.as_deref().filter(|times| times.first() != times.last());
    let (innocent, arrivals) = match (question.innocent, times.and_then(own_span)) {
        (Some(rate), _) => (rate, Arrivals::Even),
        (None, Some(_)) => (Rate::Own, Arrivals::Trace),
        (None, None) => (Rate::Share(900_000), Arrivals::Even),
    };
    let of = |policy: PolicyName, overflow: Overflow| Options {
        innocent: vec![innocent],
        arrivals,
        attack_rates: vec![SWEEP],
        policies: vec![policy],
        capacity: question.capacity,
        overflow,
        seeds: Some(1),
        memory: question.memory,
        attack: AttackChoice::Optimal,
        smallest_packet: question.smallest_packet,
        largest_job: question.largest_job,
        ..Options::default()
    };
    let today = compare(source, &of(question.policy, question.overflow), observer, None)?;
    let guarded = compare(source, &of(PolicyName::Wsjf, Overflow::DropWorst), observer, None)?;
    let (worst_today, worst_guarded) = (worst(&today)?, worst(&guarded)?);
    let mut guard = Guard {
        study: "surge.guard",
        version: env!("CARGO_PKG_VERSION"),
        innocent_bps: worst_today.innocent_bps,
        arrivals: today.parameters.arrivals,
        attack_smallest_packet_bits: today.parameters.attack_smallest_packet_bits,
        attack_largest_job_ns: today.parameters.attack_largest_job_ns,
        capacity_packets: today.parameters.capacity_packets,
        capacity_bits: today.parameters.capacity_bits,
        today: worst_today,
        overflow_today: today.parameters.overflow,
        guarded: worst_guarded,
        workload: today.workload,
        verdict: Vec::new(),
    };
    guard.verdict = verdict::on_guard(&guard);
    Ok(guard)
}

/// The row of the largest displacement factor among those whose attack has enough packets.
fn worst(found: &Compare) -> Result<Row, Error> {
    let enough = found.rows.iter().filter(|row| row.attacker.arrived.packets >= FEWEST_PACKETS);
    let worst = enough.max_by(|a, b| a.displacement_factor.total_cmp(&b.displacement_factor));
    worst.cloned().ok_or_else(|| {
        Error::Parameters(format!(
            "{}: {} packets take too short a time for an attack of {FEWEST_PACKETS} packets: give more of them",
            found.workload.name, found.workload.packets
        ))
    })
}

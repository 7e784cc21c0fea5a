//! Tries attacks at many rates on the order of service of today, and on WSJF.

use trueplane_study::{Error, Observer};
use trueplane_trace::name_of;
use trueplane_units::{Choices, List, Within};

use super::found::Found;
use super::options::Options;
use crate::Overflow;
use crate::compare::found::{FEWEST_PACKETS, Row};
use crate::compare::options::Attack;
use crate::compare::{self, run::on};
use crate::policy::PolicyName;
use crate::rate::{Rate, Sweep};
use crate::workload::arrivals::{Arrivals, own_span};
use crate::workload::open::Opened;
use crate::workload::trace::Recorded;

/// Attack rates from a hundred-thousandth of r_max to all of it, six in a decade.
const SWEEP: Sweep = Sweep { from: Rate::Share(10), to: Rate::Share(1_000_000), points: Some(31) };

/// Rate of users without times: nine tenths of r_max.
const USUAL: Rate = Rate::Share(900_000);

/// Reads the jobs, and answers the question on them.
pub(super) fn run(options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
    on_jobs(&Recorded::read(&options.jobs, *options.memory, observer)?, options, observer)
}

/// Answers the question on jobs that are read, by trying attacks at many rates, each the best by theory for its policy and rate of those
/// that are sent evenly, on the packets themselves; with a bounded buffer, which theory does not know, also the smallest packet with the
/// largest job.
///
/// # Errors
/// As [`compare::run::run`]; if no attack rate brings enough packets.
pub fn on_jobs(jobs: &Recorded, options: &Options, observer: &dyn Observer) -> Result<Found, Error> {
    // Times tell nothing if all are the same.
    let times = jobs.jobs().times().filter(|times| times.first() != times.last());
    let (innocent, arrivals) = match (options.innocent, times.and_then(|times| own_span(times))) {
        (Some(rate), _) => (rate, Arrivals::Even),
        (None, Some(_)) => (Rate::Own, Arrivals::Trace),
        (None, None) => (USUAL, Arrivals::Even),
    };
    let of = |policy: PolicyName, overflow: Overflow| compare::Options {
        innocent: List(vec![innocent]),
        policies: Choices(vec![policy]),
        arrivals,
        capacity: options.capacity,
        overflow,
        seeds: Within::new(1),
        memory: options.memory,
        attack: Attack {
            attack_rate: List(vec![SWEEP]),
            smallest_packet: options.smallest_packet,
            largest_job: options.largest_job,
            ..Attack::default()
        },
        ..compare::Options::default()
    };
    let opened = Opened::from(jobs.clone());
    let today = on(&opened, &of(options.policy, options.overflow), observer, None)?;
    // Without a bound on the buffer nothing is dropped.
    let drops_worst = options.capacity.is_none() || options.overflow == Overflow::DropWorst;
    let guarded = match options.policy {
        PolicyName::Wsjf if drops_worst => None,
        _ => {
            let guarded = on(&opened, &of(PolicyName::Wsjf, Overflow::DropWorst), observer, None)?;
            Some(worst(options, &guarded)?)
        }
    };
    let worst_today = worst(options, &today)?;
    Ok(Found {
        innocent_rate: worst_today.innocent_rate,
        arrivals,
        limits: today.limits,
        workload: today.workload,
        today: worst_today,
        guarded,
    })
}

/// The row of the largest displacement factor among those whose attack has enough packets.
fn worst(options: &Options, found: &compare::Found) -> Result<Row, Error> {
    let worst = found.telling().max_by(|a, b| a.displacement_factor.total_cmp(&b.displacement_factor));
    worst.cloned().ok_or_else(|| {
        Error::Parameters(format!(
            "{}: {} packets take too short a time for an attack of {FEWEST_PACKETS} packets: give more of them",
            name_of(&options.jobs),
            found.workload.packets
        ))
    })
}

//! The best attack on each order of service, and what it is worth.
//!
//! What is known of users is a sample of their packets, each with its size and its job size, together: nothing is assumed of the
//! distribution, neither a form nor independence. All rates are per nanosecond, so that a bit per nanosecond is a gigabit per second, and
//! loads are shares of the server's time.
//!
//! 1. [`Innocents`], [`Rates`]: what the attacker knows; [`Attacker`], [`Limits`]: what he can send; [`Attack`], [`Prediction`]: what
//!    follows.
//! 2. [`Staircase`]: users in the order in which a static priority serves them, and the exact worst attack on it.
//! 3. `model`: what each order of service comes to; `plan`: the best attack on it; `least_flow`: how long flows have to be for that;
//!    [`predict()`]: all together.
//! 4. [`Allowance`]: what WSJF can lose in one run of any length, with the proof.
//!
//! All predictions are for the long run and an unbounded buffer: one job is short against the time looked at, and what waits at
//! the end is not served.
//!
//! Source: Atre 2025 §3.4: claims 3 and 4, lemmas 2 and 3, theorems 2 and 3. Departures: the integrals of equations 3.8 and 3.9 are exact
//! sums over the sample, which solves them without a search, also when a single packet of the sample carries the solution; SJF needs
//! no independence of sizes and jobs; users at or above capacity need no case of their own. DRR, WSJF-HoQ and the in-order policies
//! are ours.

mod attacker;
mod least_flow;
mod model;
mod path;
mod plan;
mod predict;
mod staircase;

pub use crate::theory::predict::{predict, predict_among, usual_flow};
pub use attacker::{Attack, Attacker, Limits};
pub use path::{Allowance, Arrival};
pub use staircase::{Optimum, Staircase, Unit};

use trueplane_units::Nanos;

/// A packet of a user, as the attacker knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Job {
    /// Name of its flow.
    pub flow: u64,
    /// Its size; above zero.
    pub bits: u32,
    /// Time that the packet takes.
    pub job: Nanos,
    /// Time that the scheduler thinks the packet takes.
    pub estimate: Nanos,
}

/// The packets of users.
#[derive(Clone, Debug, PartialEq)]
pub struct Innocents {
    jobs: Vec<Job>,
    bits: u64,
    work: u128,
}

impl Innocents {
    /// `None` if there are none, or nothing takes any time: then there is nothing to displace.
    pub fn new(jobs: Vec<Job>) -> Option<Self> {
        let bits = jobs.iter().map(|job| u64::from(job.bits)).sum();
        let work = jobs.iter().map(|job| u128::from(job.job.0)).sum();
        (bits > 0 && work > 0).then_some(Self { jobs, bits, work })
    }

    /// The packets.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// E\[P\]: mean size of a packet in bits.
    pub fn mean_bits(&self) -> f64 {
        self.bits as f64 / self.jobs.len() as f64
    }

    /// E\[J\]: mean job size in nanoseconds.
    pub fn mean_job(&self) -> f64 {
        self.work as f64 / self.jobs.len() as f64
    }

    /// r_max = E\[P\] / E\[J\]: the throughput on average traffic, in bits per nanosecond. This is what people choose a processor by.
    pub fn most_rate(&self) -> f64 {
        self.bits as f64 / self.work as f64
    }

    /// The smallest packet, in bits.
    pub fn least_bits(&self) -> u32 {
        self.jobs.iter().map(|job| job.bits).min().unwrap_or(1)
    }

    /// The largest job.
    pub fn most_job(&self) -> Nanos {
        self.jobs.iter().map(|job| job.job).max().unwrap_or_default()
    }
}

/// Rates of users and attacker, in bits per nanosecond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// r_I: the users; above zero.
    pub innocent: f64,
    /// r_A: the attacker; above zero.
    pub attack: f64,
}

/// The best attack on an order of service.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The attack; every packet is a flow of its own.
    pub attack: Attack,
    /// Bits of users served per nanosecond without the attack.
    pub before: f64,
    /// Bits of users served per nanosecond under it.
    pub goodput: f64,
    /// Bits of users that each bit of the attack displaces.
    pub displacement: f64,
    /// Displacement factor that nothing which the attacker can send exceeds, whatever its rate; `None` if there is no such bound.
    pub bound: Option<f64>,
}

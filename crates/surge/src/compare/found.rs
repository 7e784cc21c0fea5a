//! The rows of `surge compare`.

use trueplane_units::{BitsPerSec, Nanos};

use crate::interval::Interval;
use crate::policy::PolicyName;
use crate::search::Flows;
use crate::tally::Fate;
use crate::theory::Limits;

/// Effects of fewer packets of attack in a run are chance.
pub const FEWEST_PACKETS: u64 = 100;

/// Everything that is found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Packets of users.
    pub workload: WorkloadFacts,
    /// Limits of the packets that are planned for the attacker.
    pub limits: Limits,
    /// Seeds of the runs.
    pub seeds: Vec<u64>,
    /// Rates at which users send.
    pub innocent: Vec<BitsPerSec>,
    /// Rates at which the attacker sends, ascending.
    pub attack: Vec<BitsPerSec>,
    /// Every policy without an attack.
    pub baselines: Vec<Baseline>,
    /// Every policy at every pair of rates.
    pub rows: Vec<Row>,
    /// Effects of ranks that are rounded for a find-first-set queue, at the worst of each policy; none with exact ranks.
    pub rounding: Vec<Rounding>,
}

/// The packets of users.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadFacts {
    /// Packets that come in a run.
    pub packets: u64,
    /// Flows in which they come.
    pub flows: u64,
    /// E\[P\]: their mean size in bits.
    pub mean_packet_bits: f64,
    /// E\[J\]: their mean job in nanoseconds.
    pub mean_job_ns: f64,
    /// E\[P\] / E\[J\] in bits per second: the throughput on average traffic, which is the belief.
    pub r_max_bps: f64,
    /// Size of their smallest packet.
    pub smallest_packet_bits: u32,
    /// Time that their largest job takes.
    pub largest_job: Nanos,
    /// Reasons why packets of the file are not among them, each with its number of packets.
    pub left_out: Vec<(String, u64)>,
}

/// A policy without an attack.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    /// Order of service.
    pub policy: PolicyName,
    /// Rate at which users send.
    pub innocent_rate: BitsPerSec,
    /// Bits of users per second whose service ended while users sent, the mean over seeds.
    pub goodput_bps: f64,
    /// Fate of the packets of users, of all seeds together.
    pub innocent: Fate,
}

/// A policy under attack.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Order of service.
    pub policy: PolicyName,
    /// Rate at which users send.
    pub innocent_rate: BitsPerSec,
    /// Rate at which the attacker sends.
    pub attack_rate: BitsPerSec,
    /// Bits of users per second whose service ended while users sent, the mean over seeds.
    pub goodput_bps: f64,
    /// (goodput without the attack − goodput under it) / attack rate, the mean over seeds.
    pub displacement_factor: f64,
    /// The displacement factor that theory expects; of an attack that was searched for, that of the best by theory. None where theory
    /// does not apply: for the packets of an application, for mixtures from a file, and for short flows under fq and drr.
    pub theory: Option<f64>,
    /// Packets of the attacker.
    pub attack: AttackFacts,
    /// Packets that came, of users and attacker, of all seeds together: served + dropped + left.
    pub arrived: u64,
    /// Packets whose service ended by the end.
    pub served: u64,
    /// Packets that had to go because the buffer was full.
    pub dropped: u64,
    /// Packets that waited at the end, or were in service.
    pub left: u64,
    /// The 95% confidence interval of the displacement factor over seeds; none with one seed.
    pub displacement_interval: Option<Interval>,
    /// Displacement factor that no attack exceeds by theorem, whatever its rate, of all that the attacker can send; none if there is no
    /// such theorem. Of an attack that is given, by hand or in a file, he can send its packets only.
    pub bound: Option<f64>,
    /// Displacement factor of the attack with which the search began, which is sent evenly, in the run of the first seed; none if no
    /// attack was searched for.
    pub planned_displacement_factor: Option<f64>,
    /// Goodput without the attack in bits per second.
    pub baseline_goodput_bps: f64,
    /// Goodput that theory expects, in bits per second.
    pub theory_goodput_bps: Option<f64>,
    /// Goodput that the classical model expects, in bits per second: of r_max users have as large a part as of what comes.
    pub classical_goodput_bps: f64,
    /// Fate of the packets of users.
    pub innocent: Fate,
    /// Fate of the packets of the attacker.
    pub attacker: Fate,
    /// The most packets that waited at once in any run.
    pub backlog_packets: u64,
    /// The same, seed by seed.
    pub runs: Vec<SeedRun>,
}

/// The packets of the attacker: all the same, each a flow of its own; or else the mean over those of the application, or the part of a
/// mixture with the most work.
#[derive(Clone, Debug, PartialEq)]
pub struct AttackFacts {
    /// Size of a packet.
    pub packet_bits: u32,
    /// Time that it takes.
    pub job: Nanos,
    /// Time that the scheduler thinks it takes.
    pub estimate: Nanos,
    /// The mixture, if the attack was searched for.
    pub mixture: Option<Mixture>,
}

/// An attack that was searched for.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixture {
    /// Its packets, in rounds.
    pub parts: Vec<MixturePart>,
    /// Number of bursts; 1 and a duty of 1 is an even rate.
    pub bursts: u32,
    /// Share of the time in which it sends.
    pub duty: f64,
    /// Place of a burst in its period, from 0 to 1.
    pub phase: f64,
}

/// Packets of a mixture.
#[derive(Clone, Debug, PartialEq)]
pub struct MixturePart {
    /// Packets in a round.
    pub packets: u32,
    /// Size of each.
    pub packet_bits: u32,
    /// Time that each takes; none if the application decides.
    pub job: Option<Nanos>,
    /// Time that the scheduler thinks each takes; none if the application decides.
    pub estimate: Option<Nanos>,
    /// Their number among the packets that the attacker had beforehand, if they are not made.
    pub pool_index: Option<u64>,
    /// Flows in which they come.
    pub flows: Flows,
}

/// A row with one seed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeedRun {
    /// Seed of the run.
    pub seed: u64,
    /// Goodput without the attack in bits per second.
    pub baseline_goodput_bps: f64,
    /// Goodput under the attack in bits per second.
    pub goodput_bps: f64,
    /// Bits of users that every bit of the attack displaces.
    pub displacement_factor: f64,
}

/// A policy at its worst with both kinds of ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct Rounding {
    /// Order of service.
    pub policy: PolicyName,
    /// Rate at which users send.
    pub innocent_rate: BitsPerSec,
    /// Rate at which the attacker sends.
    pub attack_rate: BitsPerSec,
    /// The displacement factor with ranks that are rounded for a find-first-set queue.
    pub displacement_factor: f64,
    /// The same with exact ranks.
    pub exact_displacement_factor: f64,
}

impl Row {
    /// Whether so many packets of attack came, [`FEWEST_PACKETS`] in a run on average or more, that it is not chance what they did.
    pub fn tells(&self) -> bool {
        self.attacker.arrived.packets >= FEWEST_PACKETS.saturating_mul(self.runs.len() as u64)
    }

    /// Whether it displaces more than `other`, if that is not chance.
    fn is_worse(&self, other: &Row) -> bool {
        match (self.tells(), other.tells()) {
            (true, false) => true,
            (false, true) => false,
            _ => other.displacement_factor < self.displacement_factor,
        }
    }
}

impl Found {
    /// The rows of a rate of users.
    pub fn at(&self, innocent_rate: BitsPerSec) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.innocent_rate == innocent_rate)
    }

    /// The rows that [tell](Row::tells).
    pub fn telling(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.tells())
    }

    /// The row with the largest displacement factor of every policy and rate of users, in the order of the rows. A row that does not
    /// [tell](Row::tells) is only included if no row of that policy and rate of users does.
    pub fn worst(&self) -> Vec<&Row> {
        let mut worst: Vec<&Row> = Vec::new();
        for row in &self.rows {
            let same =
                |other: &&mut &Row| (other.policy, other.innocent_rate) == (row.policy, row.innocent_rate);
            match worst.iter_mut().find(same) {
                None => worst.push(row),
                Some(other) if row.is_worse(other) => *other = row,
                Some(_) => {}
            }
        }
        worst
    }
}

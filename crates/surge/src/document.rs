//! The document of `surge compare`.

use serde::Serialize;

use crate::interval::Interval;
use crate::tally::Fate;

/// What fewer packets of attack do in a run is chance.
pub const FEWEST_PACKETS: u64 = 100;

/// The result of `surge compare`; serialised, it is what `--json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Compare {
    /// `surge.compare`.
    pub study: &'static str,
    /// The version of trueplane.
    pub version: &'static str,
    /// The packets of users.
    pub workload: WorkloadFacts,
    /// What was simulated.
    pub parameters: Parameters,
    /// Every policy without an attack.
    pub baselines: Vec<Baseline>,
    /// Every policy at every pair of rates.
    pub rows: Vec<Row>,
    /// Of every policy and rate of users the row with the largest displacement factor, among those that [tell](Row::tells) if any does.
    pub worst: Vec<Worst>,
    /// What rounding ranks for a find-first-set queue does there; none with exact ranks.
    pub rounding: Vec<Rounding>,
    /// What was found, in plain sentences.
    pub verdict: Vec<String>,
}

/// The packets of users.
#[derive(Clone, Debug, Serialize)]
pub struct WorkloadFacts {
    /// What they are called.
    pub name: String,
    /// How many come in a run.
    pub packets: u64,
    /// In how many flows.
    pub flows: u64,
    /// E\[P\]: their mean size.
    pub mean_packet_bits: f64,
    /// E\[J\]: their mean job.
    pub mean_job_ns: f64,
    /// E\[P\] / E\[J\]: the throughput on average traffic, which is the belief.
    pub r_max_bps: f64,
    /// Their smallest packet.
    pub smallest_packet_bits: u32,
    /// Their largest job.
    pub largest_job_ns: u64,
    /// What of the file is not among them, and how often.
    pub left_out: Vec<(String, u64)>,
}

/// What was simulated.
#[derive(Clone, Debug, Serialize)]
pub struct Parameters {
    /// How fast users send.
    pub innocent_bps: Vec<u64>,
    /// How fast the attacker does.
    pub attack_bps: Vec<u64>,
    /// The orders of service.
    pub policies: Vec<&'static str>,
    /// Whether ranks are exact, or rounded for a find-first-set queue.
    pub exact_ranks: bool,
    /// When packets come.
    pub arrivals: &'static str,
    /// Packets that may wait; none: as many as there is memory for, or `capacity_bits`.
    pub capacity_packets: Option<u64>,
    /// Bits that may wait.
    pub capacity_bits: Option<u64>,
    /// What goes when the buffer is full.
    pub overflow: &'static str,
    /// Who chose the attack.
    pub attack: &'static str,
    /// The smallest packet that the attacker can send.
    pub attack_smallest_packet_bits: u32,
    /// The largest job that he can cause.
    pub attack_largest_job_ns: u64,
    /// What comes at most, if that is known.
    pub link_bps: Option<u64>,
    /// The seeds.
    pub seeds: Vec<u64>,
}

/// A policy without an attack.
#[derive(Clone, Debug, Serialize)]
pub struct Baseline {
    /// Which.
    pub policy: &'static str,
    /// How fast users send.
    pub innocent_bps: u64,
    /// Bits of users per second whose service ended while users sent, the mean over seeds.
    pub goodput_bps: f64,
    /// What became of the packets of users, of all seeds together.
    pub innocent: Fate,
}

/// A policy under attack.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Which.
    pub policy: &'static str,
    /// How fast users send.
    pub innocent_bps: u64,
    /// How fast the attacker does.
    pub attack_bps: u64,
    /// Bits of users per second whose service ended while users sent, the mean over seeds.
    pub goodput_bps: f64,
    /// (goodput without the attack − goodput under it) / attack rate, the mean over seeds.
    pub displacement_factor: f64,
    /// The displacement factor that theory expects; of an attack that was searched for, that of the best by theory. None where theory
    /// does not apply: for the packets of an application, for mixtures from a file, and for short flows under fq and drr.
    pub theory: Option<f64>,
    /// What he sends.
    pub attack: AttackFacts,
    /// Packets that came, of users and attacker, of all seeds together: served + dropped + left.
    pub arrived: u64,
    /// Those whose service ended by the end.
    pub served: u64,
    /// Those that had to go because the buffer was full.
    pub dropped: u64,
    /// Those that waited at the end, or were in service.
    pub left: u64,
    /// The 95 % confidence interval of the displacement factor over seeds; none with one seed.
    pub displacement_interval: Option<Interval>,
    /// What no attack that the attacker can send displaces more than, by theorem, whatever its rate; none if there is no such theorem.
    /// Of an attack that is given, by hand or in a file, he can send its packets only.
    pub bound: Option<f64>,
    /// Of an attack that was searched for: the displacement factor of the attack that the search began with, which is sent evenly, in the
    /// run of the first seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned_displacement_factor: Option<f64>,
    /// The goodput without the attack.
    pub baseline_goodput_bps: f64,
    /// The goodput that theory expects.
    pub theory_goodput_bps: Option<f64>,
    /// The goodput that the belief expects: that of r_max which users have a part of as large as of what comes.
    pub believed_goodput_bps: f64,
    /// What became of the packets of users.
    pub innocent: Fate,
    /// What became of those of the attacker.
    pub attacker: Fate,
    /// The most packets that waited at once in any run.
    pub backlog_packets: u64,
    /// Seed by seed.
    pub runs: Vec<SeedRun>,
}

/// What the attacker sends: packets that are all the same, each a flow of its own; or else the mean over those of the application, or the
/// part of a mixture with the most work.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttackFacts {
    /// The size of a packet.
    pub packet_bits: u32,
    /// How long it takes.
    pub job_ns: u64,
    /// How long the scheduler thinks that it takes.
    pub estimate_ns: u64,
    /// The mixture, if the attack was searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mixture: Option<Mixture>,
}

/// An attack that was searched for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mixture {
    /// Its packets, in rounds.
    pub parts: Vec<MixturePart>,
    /// Number of bursts; 1 and a duty of 1 is an even rate.
    pub bursts: u32,
    /// Share of the time in which it sends.
    pub duty: f64,
    /// Where in its period a burst lies, from 0 to 1.
    pub phase: f64,
}

/// Packets of a mixture.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MixturePart {
    /// How many come in a round.
    pub packets: u32,
    /// The size of each.
    pub packet_bits: u32,
    /// How long each takes; none if the application decides.
    pub job_ns: Option<u64>,
    /// How long the scheduler thinks that each takes; none if the application decides.
    pub estimate_ns: Option<u64>,
    /// Their number among the packets that the attacker had beforehand, if they are not made.
    pub pool_index: Option<u64>,
    /// In how many flows they come.
    pub flows: String,
}

/// A row with one seed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SeedRun {
    /// Which.
    pub seed: u64,
    /// The goodput without the attack.
    pub baseline_goodput_bps: f64,
    /// The goodput under it.
    pub goodput_bps: f64,
    /// Bits of users that every bit of the attack displaces.
    pub displacement_factor: f64,
}

/// The largest displacement factor that was found.
#[derive(Clone, Debug, Serialize)]
pub struct Worst {
    /// Of which policy.
    pub policy: &'static str,
    /// How fast users send.
    pub innocent_bps: u64,
    /// How fast the attacker does.
    pub attack_bps: u64,
    /// How large it is.
    pub displacement_factor: f64,
    /// What theory expects there.
    pub theory: Option<f64>,
    /// What no attack that the attacker can send displaces more than, by theorem.
    pub bound: Option<f64>,
    /// What he sends.
    pub attack: AttackFacts,
}

/// A policy at its worst with both kinds of ranks.
#[derive(Clone, Debug, Serialize)]
pub struct Rounding {
    /// Which.
    pub policy: &'static str,
    /// How fast users send.
    pub innocent_bps: u64,
    /// How fast the attacker does.
    pub attack_bps: u64,
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
}

impl Worst {
    /// Whether it is that row.
    pub fn is_of(&self, row: &Row) -> bool {
        (self.policy, self.innocent_bps, self.attack_bps) == (row.policy, row.innocent_bps, row.attack_bps)
    }
}

impl Compare {
    /// The rows of a rate of users.
    pub fn at(&self, innocent_bps: u64) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.innocent_bps == innocent_bps)
    }

    /// The rows that [tell](Row::tells).
    pub fn telling(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| row.tells())
    }

    /// Whether the row behind `worst` [tells](Row::tells).
    pub fn tells(&self, worst: &Worst) -> bool {
        self.telling().any(|row| worst.is_of(row))
    }

    /// The largest displacement factor of a policy at a rate of users.
    pub fn worst_of(&self, policy: &str, innocent_bps: u64) -> Option<&Worst> {
        self.worst.iter().find(|worst| worst.policy == policy && worst.innocent_bps == innocent_bps)
    }
}

//! What the attacker can send.

use std::collections::HashSet;

use trueplane_units::Nanos;

use super::Job;

/// Packets of one size and one job, sent at an even rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Attack {
    /// Size of each packet.
    pub bits: u32,
    /// Time that each packet takes.
    pub job: Nanos,
    /// Time that the scheduler thinks each packet takes.
    pub estimate: Nanos,
}

impl Attack {
    /// Packets whose job the scheduler knows.
    pub fn known(bits: u32, job: Nanos) -> Self {
        Self { bits, job, estimate: job }
    }
}

/// A packet of a user, sent again and again.
impl From<Job> for Attack {
    fn from(Job { bits, job, estimate, .. }: Job) -> Self {
        Self { bits, job, estimate }
    }
}

/// Limits of the attacker's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// P_min: the smallest size, in bits; above zero.
    pub least_bits: u32,
    /// J_max: the largest job; above zero.
    pub most_job: Nanos,
}

impl Limits {
    /// Whether the attacker can send such packets.
    pub fn allows(&self, attack: &Attack) -> bool {
        self.least_bits <= attack.bits && attack.job <= self.most_job
    }

    /// The smallest packets with the largest job.
    pub fn largest(&self) -> Attack {
        Attack::known(self.least_bits, self.most_job)
    }
}

/// Someone who knows what every packet takes, and what the scheduler thinks that it takes (Atre 2025 §3.6.2, footnote 7).
///
/// He can send packets of any size and job within his limits, whose job the scheduler knows; and packets that there are, if the
/// scheduler is wrong about them and they are within his limits.
#[derive(Clone, Debug, PartialEq)]
pub struct Attacker {
    limits: Limits,
    misjudged: Vec<Attack>,
}

impl Attacker {
    /// Within `limits`, among `packets` that there are.
    pub fn new(limits: Limits, packets: impl IntoIterator<Item = Attack>) -> Self {
        let mut seen = HashSet::new();
        let wrong = |attack: &Attack| attack.job != attack.estimate;
        let can_send = |attack: &Attack| wrong(attack) && limits.allows(attack) && seen.insert(*attack);
        Self { limits, misjudged: packets.into_iter().filter(can_send).collect() }
    }

    /// Limits of the packets that the attacker can send.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The packets about which the scheduler is wrong, each once.
    pub fn misjudged(&self) -> &[Attack] {
        &self.misjudged
    }

    /// u: by how much a packet that he can send takes longer than the scheduler thinks, at most; 1 or more.
    pub fn understated(&self) -> f64 {
        self.misjudged.iter().map(understated).fold(1.0, f64::max)
    }
}

/// One to whom the scheduler is never wrong.
impl From<Limits> for Attacker {
    fn from(limits: Limits) -> Self {
        Self { limits, misjudged: Vec::new() }
    }
}

/// Ratio of the time that a packet takes to the time that the scheduler expects; below 1 if it takes less.
pub(super) fn understated(attack: &Attack) -> f64 {
    attack.job.0 as f64 / attack.estimate.0 as f64
}

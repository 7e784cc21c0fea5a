//! The orders of service one by one.

use std::collections::BTreeMap;

use super::{Attack, Innocents, Job, Limits, Prediction, Rates, Staircase};
use crate::units::Nanos;

/// An order of service, as far as an attack on it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Discipline {
    /// First come, first served.
    Fcfs,
    /// Fair queueing by virtual clocks.
    Fq,
    /// Deficit round robin.
    Drr,
    /// Shortest job first.
    Sjf,
    /// Least work per bit first.
    Wsjf,
    /// The flow whose first packet has the least work per bit.
    WsjfHoq,
    /// The flow with the least work per bit in all its queue.
    WsjfInorder,
    /// The flow with the least work per packet in all its queue.
    SjfInorder,
}

/// What a packet or a flow is served by, least first.
#[derive(Clone, Copy, PartialEq)]
enum Key {
    /// Estimated work.
    Work,
    /// Estimated work per bit.
    WorkPerBit,
}

impl Key {
    fn of(self, bits: u64, packets: u64, estimate: u128) -> f64 {
        let by = if self == Key::Work { packets } else { bits };
        estimate as f64 / by as f64
    }
}

/// What users of a policy with static priorities are put in order by, and whether flow by flow.
fn order(discipline: Discipline) -> Option<(Key, bool)> {
    match discipline {
        Discipline::Sjf => Some((Key::Work, false)),
        Discipline::Wsjf => Some((Key::WorkPerBit, false)),
        Discipline::SjfInorder => Some((Key::Work, true)),
        Discipline::WsjfInorder => Some((Key::WorkPerBit, true)),
        Discipline::Fcfs | Discipline::Fq | Discipline::Drr | Discipline::WsjfHoq => None,
    }
}

/// The best attack by packets of any size and job within `limits`, whose job the scheduler knows.
///
/// O(n log n) in the packets of the sample.
pub fn predict(discipline: Discipline, innocents: &Innocents, rates: Rates, limits: Limits) -> Prediction {
    let size = f64::from(limits.least_bits);
    let (most_packet, most_bit) = (limits.most_job.0 as f64, limits.most_job.0 as f64 / size);
    let users = Users::new(discipline, innocents, rates);
    let attack = match &users.order {
        Some((Key::Work, stairs)) => below(stairs.worst(rates.attack / size, most_packet).key, limits),
        Some((Key::WorkPerBit, stairs)) => below_per_bit(stairs.worst(rates.attack, most_bit).key, limits),
        // A flow is held up by a first packet with more work per bit than the attack; more than fills the server is not needed.
        None if discipline == Discipline::WsjfHoq => {
            below_per_bit(dearest(innocents).min(1.0 / rates.attack).min(most_bit), limits)
        }
        None => below(f64::INFINITY, limits),
    };
    users.prediction(attack, users.bound(limits.least_bits, 1.0))
}

/// The smallest packet whose job is below `key` as little as can be in whole nanoseconds.
fn below(key: f64, limits: Limits) -> Attack {
    let job = Nanos((key.ceil() - 1.0).clamp(1.0, limits.most_job.0 as f64) as u64);
    Attack { bits: limits.least_bits, job, estimate: job }
}

/// A small packet whose work per bit is below `key` by little.
///
/// The smallest packet can be far off, where a job is a few nanoseconds; one that is a little larger costs the attacker nothing, as work
/// and bits count by their ratio only. Of eight jobs that are at least what the smallest packet would need, each with the smallest size
/// that keeps it below the key, the best is taken.
fn below_per_bit(key: f64, limits: Limits) -> Attack {
    let smallest = below(key * f64::from(limits.least_bits), limits);
    let ratio = |attack: &Attack| attack.job.0 as f64 / f64::from(attack.bits);
    let larger = (smallest.job.0 + 1..=limits.most_job.0).take(8).filter_map(|job| {
        let bits = (job as f64 / key).floor() + 1.0;
        let attack = Attack { bits: bits as u32, job: Nanos(job), estimate: Nanos(job) };
        (bits <= f64::from(u32::MAX)).then_some(attack)
    });
    larger.fold(
        smallest,
        |best, attack| if ratio(&attack) > ratio(&best) && ratio(&attack) < key { attack } else { best },
    )
}

/// The best attack among `candidates`, by an attacker who knows what every packet takes and what the scheduler thinks that it takes
/// (Atre 2025 §3.6.2, footnote 7). `None` if there are none.
///
/// O((n + candidates) log n).
pub fn predict_among(
    discipline: Discipline,
    innocents: &Innocents,
    rates: Rates,
    candidates: impl IntoIterator<Item = Attack>,
) -> Option<Prediction> {
    let users = Users::new(discipline, innocents, rates);
    let (mut best, mut least_bits, mut understated) = (None::<(Attack, f64)>, u32::MAX, 0.0f64);
    for attack in candidates {
        let goodput = users.goodput(Some(attack));
        if best.is_none_or(|(_, least)| goodput < least) {
            best = Some((attack, goodput));
        }
        least_bits = least_bits.min(attack.bits);
        understated = understated.max(attack.job.0 as f64 / attack.estimate.0 as f64);
    }
    best.map(|(attack, _)| users.prediction(attack, users.bound(least_bits, understated)))
}

/// The largest work per bit of a packet of the users, as the scheduler sees it, in nanoseconds.
fn dearest(innocents: &Innocents) -> f64 {
    let ratio = |job: &Job| job.estimate.0 as f64 / f64::from(job.bits);
    innocents.jobs().iter().map(ratio).fold(0.0, f64::max)
}

/// Users under an order of service.
struct Users<'a> {
    discipline: Discipline,
    innocents: &'a Innocents,
    rates: Rates,
    order: Option<(Key, Staircase)>,
    /// Bits served per nanosecond without an attack.
    before: f64,
}

impl<'a> Users<'a> {
    fn new(discipline: Discipline, innocents: &'a Innocents, rates: Rates) -> Self {
        let order = order(discipline).map(|(key, by_flow)| {
            let steps = if by_flow { flows(innocents, key) } else { packets(innocents, key) };
            (key, Staircase::new(innocents, rates.innocent, steps))
        });
        let mut users = Self { discipline, innocents, rates, order, before: 0.0 };
        users.before = users.goodput(None);
        users
    }

    fn prediction(&self, attack: Attack, bound: Option<f64>) -> Prediction {
        let goodput = self.goodput(Some(attack)).min(self.before);
        let displacement = (self.before - goodput) / self.rates.attack;
        Prediction { attack, before: self.before, goodput, displacement, bound }
    }

    /// Bits of users served per nanosecond.
    fn goodput(&self, attack: Option<Attack>) -> f64 {
        let most = self.innocents.most_rate();
        let demand = self.rates.innocent / most;
        let load = attack.map_or(0.0, |attack| self.load(attack));
        match (self.discipline, &self.order) {
            (_, Some((key, stairs))) => {
                let share = attack.map_or(1.0, |attack| {
                    stairs.under(key.of(u64::from(attack.bits), 1, u128::from(attack.estimate.0)), load)
                });
                stairs.goodput(share.min(stairs.total()))
            }
            // What came first is served whoever sent it: the server is behind by the sum of the loads (claim 3).
            (Discipline::Fcfs, _) => self.rates.innocent / (demand + load).max(1.0),
            // As first come first served, but that the clock of a flow runs no faster than the server (claim 4).
            (Discipline::Fq, _) => {
                let (load_of_flows, bits) = self.clocked();
                bits / (load_of_flows + load).max(1.0)
            }
            (Discipline::WsjfHoq, _) if !self.holds_up(attack) => self.rates.innocent.min(most),
            // HoQ: every flow comes to a packet that waits for the attack, and then the rest of it waits too. DRR: a flow of one packet
            // is served within few rounds, and the rounds get as long as such flows are many. Both serve the attack whole.
            _ => self.rates.innocent.min(most * (1.0 - load).max(0.0)),
        }
    }

    /// Share of the server's time that the attack asks for.
    fn load(&self, attack: Attack) -> f64 {
        self.rates.attack / f64::from(attack.bits) * attack.job.0 as f64
    }

    /// Whether some packet of the users waits for the attack.
    fn holds_up(&self, attack: Option<Attack>) -> bool {
        attack.is_some_and(|attack| {
            (attack.estimate.0 as f64 / f64::from(attack.bits)) < dearest(self.innocents)
        })
    }

    /// Load and bits per nanosecond of users whose flows get no more than the whole server each.
    fn clocked(&self) -> (f64, f64) {
        let scale = self.rates.innocent / self.innocents.bits as f64;
        by_flow(self.innocents).values().fold((0.0, 0.0), |(load, bits), flow| {
            let demand = flow.work as f64 * scale;
            (load + demand.min(1.0), bits + flow.bits as f64 * scale / demand.max(1.0))
        })
    }

    /// What no attack displaces more than, by packets of at least `least_bits` that take at most `understated` times their estimate.
    ///
    /// Estimates cost the product of two factors: by how much a packet of the users is thought to take too long, and by how much one of
    /// the attacker's too short. What waits for the attack has at least its *estimated* work per bit, so that its bits are at most its
    /// true work divided by that, times the first; and the attack's true work is at most its bits times that, times the second.
    fn bound(&self, least_bits: u32, understated: f64) -> Option<f64> {
        let demand = (self.rates.innocent / self.innocents.most_rate()).min(1.0);
        let overstated = |job: &Job| job.estimate.0 as f64 / job.job.0 as f64;
        let estimates = self.innocents.jobs().iter().map(overstated).fold(0.0, f64::max) * understated;
        let bound = match self.discipline {
            // Theorem 3; for the in-order variant with flows in the place of packets.
            Discipline::Wsjf | Discipline::WsjfInorder => demand * estimates,
            // Theorem 2 has the mean size of all packets, which needs sizes and jobs to be independent.
            Discipline::Sjf | Discipline::SjfInorder => {
                demand
                    * estimates
                    * largest_tail(self.innocents, self.rates.innocent / self.innocents.most_rate())
                    / f64::from(least_bits)
            }
            Discipline::Fcfs | Discipline::Fq | Discipline::Drr | Discipline::WsjfHoq => return None,
        };
        bound.is_finite().then_some(bound)
    }
}

/// The largest mean size of the packets that are served and whose jobs are not below some job: E[P | J ≥ j], the largest over j, in bits.
fn largest_tail(innocents: &Innocents, demand: f64) -> f64 {
    let mut jobs: Vec<(u64, u64, u32)> =
        innocents.jobs().iter().map(|job| (job.estimate.0, job.job.0, job.bits)).collect();
    jobs.sort_unstable();
    // In overload the largest jobs are not served in any case, and so cannot be displaced.
    let mut room = innocents.work as f64 * (1.0 / demand).min(1.0);
    let mut served = Vec::new();
    for equals in jobs.chunk_by(|a, b| a.0 == b.0) {
        let work: f64 = equals.iter().map(|(_, job, _)| *job as f64).sum();
        let bits: f64 = equals.iter().map(|(_, _, bits)| f64::from(*bits)).sum();
        let part = (room / work).clamp(0.0, 1.0);
        served.push((part * equals.len() as f64, part * bits));
        room -= work;
    }
    let (mut packets, mut bits, mut largest) = (0.0, 0.0, 0.0f64);
    for (more, more_bits) in served.into_iter().rev().filter(|(packets, _)| *packets > 0.0) {
        (packets, bits) = (packets + more, bits + more_bits);
        largest = largest.max(bits / packets);
    }
    largest
}

/// Sums over the packets of a flow.
#[derive(Clone, Copy, Default)]
struct Flow {
    packets: u64,
    bits: u64,
    work: u128,
    estimate: u128,
}

fn by_flow(innocents: &Innocents) -> BTreeMap<u64, Flow> {
    let mut flows: BTreeMap<u64, Flow> = BTreeMap::new();
    for job in innocents.jobs() {
        let flow = flows.entry(job.flow).or_default();
        flow.packets += 1;
        flow.bits += u64::from(job.bits);
        flow.work += u128::from(job.job.0);
        flow.estimate += u128::from(job.estimate.0);
    }
    flows
}

/// Key, work and bits of every flow: what the average over its queue comes to.
fn flows(innocents: &Innocents, key: Key) -> Vec<(f64, u128, u64)> {
    let step = |flow: &Flow| (key.of(flow.bits, flow.packets, flow.estimate), flow.work, flow.bits);
    by_flow(innocents).values().map(step).collect()
}

/// Key, work and bits of every packet.
fn packets(innocents: &Innocents, key: Key) -> Vec<(f64, u128, u64)> {
    let step = |job: &Job| {
        let bits = u64::from(job.bits);
        (key.of(bits, 1, u128::from(job.estimate.0)), u128::from(job.job.0), bits)
    };
    innocents.jobs().iter().map(step).collect()
}

//! What an order of service comes to, for users as they are.

use std::collections::BTreeMap;

use super::{Attack, Innocents, Job, Prediction, Rates, Staircase, Unit};
use crate::policy::PolicyName;

/// Key by which a packet or a flow is served, least first.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Key {
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

    fn of_attack(self, attack: Attack) -> f64 {
        self.of(attack.bits.into(), 1, attack.estimate.0.into())
    }
}

/// Demand of a flow of users.
pub(super) struct Demand {
    /// Share of the server's time.
    load: f64,
    /// Bits per nanosecond.
    bits: f64,
}

/// Bits per nanosecond that flows get of a share `room` of the server's time by max-min fairness.
///
/// `demands` rise by load. O(n).
fn max_min(demands: &[Demand], mut room: f64) -> f64 {
    let mut bits = 0.0;
    for (index, demand) in demands.iter().enumerate() {
        let share = room / (demands.len() - index) as f64;
        let got = demand.load.min(share);
        bits += demand.bits * got / demand.load;
        room -= got;
    }
    bits
}

/// Model of an order of service, for users as they are.
pub(super) enum Model {
    /// Packets are served in the order of arrival, whoever sent them (claim 3).
    Arrivals,
    /// Every packet of the attack is a flow of its own and asks for less than any share, so the attack is served whole; users' flows
    /// share what is left equally, but none gets more than it asks for.
    Shares(Vec<Demand>),
    /// Flows of one packet are served within few rounds, and the rounds get as long as such flows are many: the attack is served whole,
    /// and users' flows, which are long, get what is left.
    Rounds,
    /// The least key first, of packets or of flows.
    Keys(Key, Staircase),
    /// A flow waits from its first packet on that has more work per bit than the attack. Its key is the largest so far in its flow:
    /// what has no larger key than the attack is served before that.
    Heads(Staircase),
}

impl Model {
    fn new(discipline: PolicyName, innocents: &Innocents, rate: f64) -> Self {
        let stairs = |units: &[Unit]| Staircase::new(innocents, rate, units);
        match discipline {
            PolicyName::Fcfs => Model::Arrivals,
            PolicyName::Fq => {
                let scale = rate / innocents.bits as f64;
                let demand =
                    |flow: Flow| Demand { load: flow.work as f64 * scale, bits: flow.bits as f64 * scale };
                let mut demands: Vec<Demand> = by_flow(innocents).into_values().map(demand).collect();
                demands.sort_unstable_by(|a, b| a.load.total_cmp(&b.load));
                Model::Shares(demands)
            }
            PolicyName::Drr => Model::Rounds,
            PolicyName::Sjf => Model::Keys(Key::Work, stairs(&packets(innocents, Key::Work))),
            PolicyName::Wsjf => Model::Keys(Key::WorkPerBit, stairs(&packets(innocents, Key::WorkPerBit))),
            PolicyName::SjfInorder => Model::Keys(Key::Work, stairs(&flows(innocents, Key::Work))),
            PolicyName::WsjfInorder => {
                Model::Keys(Key::WorkPerBit, stairs(&flows(innocents, Key::WorkPerBit)))
            }
            PolicyName::WsjfHoq => Model::Heads(stairs(&dearest_so_far(innocents))),
        }
    }
}

/// Users under an order of service.
pub(super) struct Users<'a> {
    discipline: PolicyName,
    innocents: &'a Innocents,
    /// Rates at which they and the attacker send.
    pub(super) rates: Rates,
    /// Model of what becomes of them.
    pub(super) model: Model,
    /// Bits served per nanosecond without an attack.
    before: f64,
}

impl<'a> Users<'a> {
    pub(super) fn new(discipline: PolicyName, innocents: &'a Innocents, rates: Rates) -> Self {
        let model = Model::new(discipline, innocents, rates.innocent);
        let mut users = Self { discipline, innocents, rates, model, before: 0.0 };
        users.before = users.goodput(None);
        users
    }

    pub(super) fn prediction(&self, attack: Attack, bound: Option<f64>) -> Prediction {
        let goodput = self.goodput(Some(attack)).min(self.before);
        let displacement = (self.before - goodput) / self.rates.attack;
        Prediction { attack, before: self.before, goodput, displacement, bound }
    }

    /// The first of the attacks that leave users least.
    pub(super) fn worst(&self, attacks: impl Iterator<Item = Attack>) -> Option<Attack> {
        let goodput = |attack: Attack| (attack, self.goodput(Some(attack)));
        let worst = attacks.map(goodput).min_by(|a, b| a.1.total_cmp(&b.1));
        worst.map(|(attack, _)| attack)
    }

    /// Bits of users served per nanosecond.
    pub(super) fn goodput(&self, attack: Option<Attack>) -> f64 {
        let (rate, most) = (self.rates.innocent, self.innocents.most_rate());
        let load = attack.map_or(0.0, |attack| self.load(attack));
        let key = |key: Key| attack.map(|attack| key.of_attack(attack));
        // All users as they come, with what the attack leaves of the server.
        let rest = || rate.min(most * (1.0 - load).max(0.0));
        match &self.model {
            Model::Arrivals => rate / (rate / most + load).max(1.0),
            Model::Shares(demands) => max_min(demands, (1.0 - load).max(0.0)),
            Model::Rounds => rest(),
            Model::Keys(by, stairs) => {
                let share = key(*by).map_or(1.0, |key| stairs.beside(key, load));
                stairs.goodput(share.min(stairs.total()))
            }
            Model::Heads(stairs) => {
                let free = key(Key::WorkPerBit).map_or(rate, |key| stairs.bits_up_to(key));
                free.min(most) + (1.0 - free / rate) * rest()
            }
        }
    }

    /// Share of the server's time that the attack asks for.
    pub(super) fn load(&self, attack: Attack) -> f64 {
        self.rates.attack / f64::from(attack.bits) * attack.job.0 as f64
    }

    /// Upper bound of the displacement factor, for packets of at least `least_bits` that take at most `most` times their estimate.
    ///
    /// Estimates cost the product of two factors: by how much a packet of the users is thought to take too long, and by how much one of
    /// the attacker's too short. What waits for the attack has at least its *estimated* work per bit, so that its bits are at most its
    /// true work divided by that, times the first; and the attack's true work is at most its bits times that, times the second.
    pub(super) fn bound(&self, least_bits: u32, most: f64) -> Option<f64> {
        let (demand, size) = (self.demand().min(1.0), f64::from(least_bits));
        let overstated = |job: &Job| job.estimate.0 as f64 / job.job.0 as f64;
        let estimates = self.innocents.jobs().iter().map(overstated).fold(0.0, f64::max) * most;
        let bound = match self.discipline {
            // Theorem 3; for the in-order variant with flows in the place of packets.
            PolicyName::Wsjf | PolicyName::WsjfInorder => demand * estimates,
            // Theorem 2 has the mean size of all packets, which needs sizes and jobs to be independent.
            PolicyName::Sjf => demand * estimates * self.tail(packets(self.innocents, Key::Work)) / size,
            PolicyName::SjfInorder => demand * estimates * self.tail(flows(self.innocents, Key::Work)) / size,
            PolicyName::Fcfs | PolicyName::Fq | PolicyName::Drr | PolicyName::WsjfHoq => return None,
        };
        bound.is_finite().then_some(bound)
    }

    /// ρ, but that it may be above 1.
    fn demand(&self) -> f64 {
        self.rates.innocent / self.innocents.most_rate()
    }

    /// The largest mean size of the packets that are served and not below some key: E\[P | J ≥ j\], the largest over j, in bits.
    fn tail(&self, mut units: Vec<Unit>) -> f64 {
        units.sort_unstable_by(|a, b| a.key.total_cmp(&b.key));
        // In overload the largest keys are not served in any case, and so cannot be displaced.
        let mut room = self.innocents.work as f64 / self.demand().max(1.0);
        let mut served = Vec::new();
        for equals in units.chunk_by(|a, b| a.key == b.key) {
            let sum = |of: fn(&Unit) -> f64| equals.iter().map(of).sum::<f64>();
            let work = sum(|unit| unit.work as f64);
            let part = (room / work).clamp(0.0, 1.0);
            served.push((part * sum(|unit| unit.packets as f64), part * sum(|unit| unit.bits as f64)));
            room -= work;
        }
        let (mut packets, mut bits, mut largest) = (0.0, 0.0, 0.0f64);
        for (more, more_bits) in served.into_iter().rev().filter(|(packets, _)| *packets > 0.0) {
            (packets, bits) = (packets + more, bits + more_bits);
            largest = largest.max(bits / packets);
        }
        largest
    }
}

/// Sums over the packets of a flow.
#[derive(Clone, Copy, Default)]
struct Flow {
    packets: u64,
    bits: u64,
    work: u128,
    estimate: u128,
}

impl Flow {
    fn add(&mut self, job: &Job) {
        self.packets += 1;
        self.bits += u64::from(job.bits);
        self.work += u128::from(job.job.0);
        self.estimate += u128::from(job.estimate.0);
    }

    fn unit(&self, key: Key) -> Unit {
        let Flow { packets, bits, work, estimate } = *self;
        Unit { key: key.of(bits, packets, estimate), packets, bits, work }
    }
}

fn by_flow(innocents: &Innocents) -> BTreeMap<u64, Flow> {
    let mut flows: BTreeMap<u64, Flow> = BTreeMap::new();
    for job in innocents.jobs() {
        flows.entry(job.flow).or_default().add(job);
    }
    flows
}

/// Every flow: what the average over its queue comes to.
fn flows(innocents: &Innocents, key: Key) -> Vec<Unit> {
    by_flow(innocents).values().map(|flow| flow.unit(key)).collect()
}

/// Every packet.
fn packets(innocents: &Innocents, key: Key) -> Vec<Unit> {
    innocents.jobs().iter().map(|job| packet(job, key)).collect()
}

fn packet(job: &Job, key: Key) -> Unit {
    let mut alone = Flow::default();
    alone.add(job);
    alone.unit(key)
}

/// Every packet by the largest work per bit so far in its flow: the sample is in the order of arrival.
fn dearest_so_far(innocents: &Innocents) -> Vec<Unit> {
    let mut dearest: BTreeMap<u64, f64> = BTreeMap::new();
    let units = innocents.jobs().iter().map(|job| {
        let unit = packet(job, Key::WorkPerBit);
        let so_far = dearest.entry(job.flow).or_default();
        *so_far = so_far.max(unit.key);
        Unit { key: *so_far, ..unit }
    });
    units.collect()
}

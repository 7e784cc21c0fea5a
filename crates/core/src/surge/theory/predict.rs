//! The orders of service one by one.

use std::collections::BTreeMap;

use super::{Attack, Innocents, Job, Limits, Prediction, Rates, Staircase, Unit};
use crate::units::Nanos;

/// An order of service, as far as an attack on it goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Discipline {
    /// First come, first served.
    Fcfs,
    /// Fair queueing: equal work for all flows that wait.
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

    fn of_attack(self, attack: Attack) -> f64 {
        self.of(attack.bits.into(), 1, attack.estimate.0.into())
    }
}

/// What a flow of users asks for.
struct Demand {
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

/// What an order of service comes to, for users as they are.
enum Model {
    /// What came first is served whoever sent it (claim 3).
    Arrivals,
    /// Every packet of the attack is a flow of its own and asks for less than any share, so the attack is served whole; users' flows
    /// share what is left equally, but none gets more than it asks for.
    Shares(Vec<Demand>),
    /// Flows of one packet are served within few rounds, and the rounds get as long as such flows are many: the attack is served whole.
    Rounds,
    /// The least key first, of packets or of flows.
    Keys(Key, Staircase),
    /// A flow waits from its first packet on that has more work per bit than the attack. Its key is the largest so far in its flow:
    /// what has a smaller key than the attack is served before that.
    Heads(Staircase),
}

impl Model {
    fn new(discipline: Discipline, innocents: &Innocents, rate: f64) -> Self {
        let stairs = |units: &[Unit]| Staircase::new(innocents, rate, units);
        match discipline {
            Discipline::Fcfs => Model::Arrivals,
            Discipline::Fq => {
                let scale = rate / innocents.bits as f64;
                let demand =
                    |flow: Flow| Demand { load: flow.work as f64 * scale, bits: flow.bits as f64 * scale };
                let mut demands: Vec<Demand> = by_flow(innocents).into_values().map(demand).collect();
                demands.sort_unstable_by(|a, b| a.load.total_cmp(&b.load));
                Model::Shares(demands)
            }
            Discipline::Drr => Model::Rounds,
            Discipline::Sjf => Model::Keys(Key::Work, stairs(&packets(innocents, Key::Work))),
            Discipline::Wsjf => Model::Keys(Key::WorkPerBit, stairs(&packets(innocents, Key::WorkPerBit))),
            Discipline::SjfInorder => Model::Keys(Key::Work, stairs(&flows(innocents, Key::Work))),
            Discipline::WsjfInorder => {
                Model::Keys(Key::WorkPerBit, stairs(&flows(innocents, Key::WorkPerBit)))
            }
            Discipline::WsjfHoq => Model::Heads(stairs(&dearest_so_far(innocents))),
        }
    }
}

/// The best attack by packets of any size and job within `limits`, whose job the scheduler knows.
///
/// O(n log n) in the packets of the sample.
pub fn predict(discipline: Discipline, innocents: &Innocents, rates: Rates, limits: Limits) -> Prediction {
    let size = f64::from(limits.least_bits);
    let (most_packet, most_bit) = (limits.most_job.0 as f64, limits.most_job.0 as f64 / size);
    let users = Users::new(discipline, innocents, rates);
    let least = |attacks: &mut dyn Iterator<Item = Attack>| {
        let goodput = |attack: &Attack| users.goodput(Some(*attack));
        attacks.min_by(|a, b| goodput(a).total_cmp(&goodput(b)))
    };
    let attack = match &users.model {
        Model::Keys(Key::Work, stairs) => {
            let key = stairs.worst(rates.attack / size, most_packet).key;
            least(&mut around(below(key, limits), limits, |attack| stairs.has(Key::Work.of_attack(attack))))
        }
        Model::Keys(Key::WorkPerBit, stairs) => {
            let key = stairs.worst(rates.attack, most_bit).key;
            least(&mut around(below_per_bit(key, limits), limits, |attack| {
                stairs.has(Key::WorkPerBit.of_attack(attack))
            }))
        }
        // One key is as good as the next: all of them are tried.
        Model::Heads(stairs) => {
            least(&mut stairs.keys().iter().map(|key| below_per_bit(key.min(most_bit), limits)))
        }
        Model::Arrivals | Model::Shares(_) | Model::Rounds => None,
    };
    let attack = attack.unwrap_or_else(|| below(f64::INFINITY, limits));
    users.prediction(attack, users.bound(limits.least_bits, 1.0))
}

/// An attack just below the best key, and the next longer one that ties with no packet of users, if it is not far: that is as good where
/// no packet of users lies between.
fn around(attack: Attack, limits: Limits, ties: impl Fn(Attack) -> bool) -> impl Iterator<Item = Attack> {
    let mut longer = (attack.job.0..limits.most_job.0).skip(1).take(8).map(|job| Attack {
        job: Nanos(job),
        estimate: Nanos(job),
        ..attack
    });
    std::iter::once(attack).chain(longer.find(|longer| !ties(*longer)))
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
    let larger = (smallest.job.0..=limits.most_job.0).take(8).filter_map(|job| {
        let bits = ((job as f64 / key).floor() + 1.0).max(f64::from(limits.least_bits));
        let attack = Attack { bits: bits as u32, job: Nanos(job), estimate: Nanos(job) };
        (bits <= f64::from(u32::MAX)).then_some(attack)
    });
    let below_it = std::iter::once(smallest).chain(larger).filter(|attack| ratio(attack) < key);
    // Below a nanosecond for the largest packet there is nothing.
    below_it.max_by(|a, b| ratio(a).total_cmp(&ratio(b))).unwrap_or(smallest)
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

/// Users under an order of service.
struct Users<'a> {
    discipline: Discipline,
    innocents: &'a Innocents,
    rates: Rates,
    model: Model,
    /// Bits served per nanosecond without an attack.
    before: f64,
}

impl<'a> Users<'a> {
    fn new(discipline: Discipline, innocents: &'a Innocents, rates: Rates) -> Self {
        let model = Model::new(discipline, innocents, rates.innocent);
        let mut users = Self { discipline, innocents, rates, model, before: 0.0 };
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
                let share = key(*by).map_or(1.0, |key| stairs.under(key, load));
                stairs.goodput(share.min(stairs.total()))
            }
            Model::Heads(stairs) => {
                let free = key(Key::WorkPerBit).map_or(rate, |key| stairs.bits_below(key));
                free.min(most) + (1.0 - free / rate) * rest()
            }
        }
    }

    /// Share of the server's time that the attack asks for.
    fn load(&self, attack: Attack) -> f64 {
        self.rates.attack / f64::from(attack.bits) * attack.job.0 as f64
    }

    /// What no attack displaces more than, by packets of at least `least_bits` that take at most `understated` times their estimate.
    ///
    /// Estimates cost the product of two factors: by how much a packet of the users is thought to take too long, and by how much one of
    /// the attacker's too short. What waits for the attack has at least its *estimated* work per bit, so that its bits are at most its
    /// true work divided by that, times the first; and the attack's true work is at most its bits times that, times the second.
    fn bound(&self, least_bits: u32, understated: f64) -> Option<f64> {
        let (demand, size) = (self.demand().min(1.0), f64::from(least_bits));
        let overstated = |job: &Job| job.estimate.0 as f64 / job.job.0 as f64;
        let estimates = self.innocents.jobs().iter().map(overstated).fold(0.0, f64::max) * understated;
        let bound = match self.discipline {
            // Theorem 3; for the in-order variant with flows in the place of packets.
            Discipline::Wsjf | Discipline::WsjfInorder => demand * estimates,
            // Theorem 2 has the mean size of all packets, which needs sizes and jobs to be independent.
            Discipline::Sjf => demand * estimates * self.tail(packets(self.innocents, Key::Work)) / size,
            Discipline::SjfInorder => demand * estimates * self.tail(flows(self.innocents, Key::Work)) / size,
            Discipline::Fcfs | Discipline::Fq | Discipline::Drr | Discipline::WsjfHoq => return None,
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

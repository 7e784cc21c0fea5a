//! Random users, an attacker, and what WSJF lets him do to them.

use rand::{Rng, RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use trueplane_study::cases::over;
use trueplane_surge::application::{Given, Never};
use trueplane_surge::policy::PolicyName;
use trueplane_surge::policy::queue::MantissaBits;
use trueplane_surge::policy::{Wsjf, WsjfExact};
use trueplane_surge::search::{Pattern, Search, Space};
use trueplane_surge::server::{Server, Ticket};
use trueplane_surge::tally::Tally;
use trueplane_surge::theory::{Allowance, Arrival, Innocents, Job, Limits, Rates, predict};
use trueplane_surge::traffic::{Load, Offered, Pace, Pool, Traffic};
use trueplane_surge::{Bounded, Overflow, Policy};
use trueplane_units::Nanos;

/// More packets than any run here has waiting.
pub(crate) const ROOM: usize = 1 << 17;

/// Users, their attacker's limits, and how fast both send.
pub(crate) struct Workload {
    pub(crate) users: Traffic<Never>,
    pub(crate) end: Nanos,
    rates: Rates,
    space: Space<Never>,
}

/// What a search on one workload found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Outcome {
    /// The largest displacement factor, over the load, at most 1, that theorem 3 has for the long run.
    pub(crate) to_load: f64,
    /// The largest share of what the allowance admits that was really displaced.
    pub(crate) to_allowance: f64,
    /// Whether the allowance said anything: less than all that users get otherwise.
    pub(crate) binding: bool,
}

/// Size and job of a packet whose job is given.
fn size_and_job(packet: Offered<Never>) -> (u32, Nanos) {
    match packet.load {
        Load::Given { job, .. } => (packet.bits, job),
        Load::Real(never) => match never {},
    }
}

/// About a thousand, at most a factor of e^`spread` more or less.
fn around(spread: f64, random: &mut impl Rng) -> f64 {
    1000.0 * random.random_range(-spread..=spread).exp()
}

/// Sizes and jobs that have nothing to do with each other, or a work per bit to do with one another, or two kinds of packets.
fn packets(count: u64, random: &mut impl Rng) -> Vec<Offered<Never>> {
    let (sizes, jobs): (f64, f64) = (random.random_range(0.0..1.2), random.random_range(0.0..1.6));
    let (kind, dear) = (random.random_range(0..3), random.random_range(2.0..10.0));
    let draw = |flow| {
        let size = around(sizes, random);
        let job = match kind {
            0 => around(jobs, random),
            1 => size * around(jobs, random) / 1000.0,
            _ => size * if random.random_range(0..4) == 0 { dear } else { 0.5 },
        };
        let job = Nanos(job.max(1.0) as u64);
        Offered { flow, bits: size as u32, load: Load::Given { job, estimate: job } }
    };
    (0..count).map(draw).collect()
}

/// When so many packets come until `end`: evenly, whenever they like, or in bursts.
fn pace(count: u64, end: Nanos, random: &mut impl Rng) -> Pace {
    let kind = random.random_range(0..3);
    if kind == 0 {
        return Pace::Even { packets: count, nanos: end.0 };
    }
    let bursts = random.random_range(2..20);
    let mut times: Vec<Nanos> = (0..count)
        .map(|_| {
            let at = random.random_range(0..end.0);
            Nanos(if kind == 1 { at } else { at - at % (end.0 / bursts).max(1) })
        })
        .collect();
    times.sort_unstable();
    Pace::At(times.into())
}

impl Workload {
    /// Any users, at any load from 0.3 to 1.3, and an attacker with a twentieth to all of their rate.
    pub(crate) fn random(seed: u64, count: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let offered = packets(count, &mut random);
        let work: u64 = offered.iter().map(|packet| size_and_job(*packet).1.0).sum();
        let bits: u64 = offered.iter().map(|packet| u64::from(packet.bits)).sum();
        let end = Nanos((work as f64 / random.random_range(0.3..1.3)) as u64);
        let innocent = bits as f64 / end.0 as f64;
        let rates = Rates { innocent, attack: innocent * random.random_range(0.05..1.0) };
        let users = Traffic {
            packets: offered.into(),
            pace: pace(count, end, &mut random),
            count,
            fresh_flows: false,
        };
        let space = Space::new((64, 12_000), Nanos(10_000), Pool::none()).unwrap();
        Self { users, end, rates, space }
    }

    pub(crate) fn run(&self, policy: impl Policy<Ticket>, attack: &Traffic<Never>) -> Tally {
        let mut server = Server { application: Given, innocent: &self.users, attack, end: self.end };
        let mut buffer = Bounded::new(policy, None, Overflow::DropWorst).unwrap();
        server.run(&mut buffer, &(), &mut |_| Ok(())).unwrap()
    }

    pub(crate) fn attack(&self, pattern: &Pattern) -> Traffic<Never> {
        pattern.traffic(&self.space, self.rates.attack, self.end, ROOM as u64 / 2)
    }

    /// What WSJF may lose to these packets, by exact and by rounded ranks.
    pub(crate) fn allowances(&self, attack: &Traffic<Never>) -> [Allowance; 2] {
        let users: Vec<Arrival> = (0..self.users.count)
            .map(|number| {
                let (bits, job) = size_and_job(self.users.packet(number));
                Arrival { at: self.users.at(number).unwrap(), bits, job }
            })
            .collect();
        let attack: Vec<_> = (0..attack.count).map(|number| size_and_job(attack.packet(number))).collect();
        let MantissaBits(bits) = MantissaBits::default();
        [Allowance::new(&users, &attack, self.end), Allowance::rounded(&users, &attack, self.end, bits)]
    }

    /// The best attack that theory knows.
    pub(crate) fn known(&self, discipline: PolicyName) -> Pattern {
        let jobs = (0..self.users.count).map(|number| {
            let offered = self.users.packet(number);
            let (bits, job) = size_and_job(offered);
            Job { flow: offered.flow, bits, job, estimate: job }
        });
        let users = Innocents::new(jobs.collect()).unwrap();
        let limits = Limits { least_bits: 64, most_job: Nanos(10_000) };
        Pattern::alike(predict(discipline, &users, self.rates, &limits.into()).attack)
    }

    /// Searches for the worst attack on WSJF.
    ///
    /// # Panics
    /// If one displaces more than the allowance, by exact or by rounded ranks.
    pub(crate) fn search(&self, seed: u64, trials: usize) -> Outcome {
        let served = |tally: Tally| tally.innocent.served.bits;
        let exact = || WsjfExact::new(ROOM).unwrap();
        let rounded = || Wsjf::new(ROOM).unwrap();
        let before =
            [served(self.run(exact(), &Traffic::none())), served(self.run(rounded(), &Traffic::none()))];
        let tried = |pattern: &Pattern| {
            let attack = self.attack(pattern);
            let under = [self.run(exact(), &attack), self.run(rounded(), &attack)];
            let bits = under[0].attack.arrived.bits;
            let allowances = self.allowances(&attack);
            for ((before, under), allowance) in before.iter().zip(under).zip(allowances) {
                let displaced = *before as f64 - served(under) as f64;
                let most = allowance.most(bits);
                assert!(
                    displaced <= most + 1e-6,
                    "{seed}: {displaced} of {bits}, {allowance:?}, {pattern:?}"
                );
            }
            let displaced = before[0] as f64 - served(under[0]) as f64;
            (displaced, bits, allowances[0])
        };
        let known = [self.known(PolicyName::Wsjf), self.known(PolicyName::Fcfs)];
        let harm = |pattern: &Pattern| {
            let (displaced, bits, allowance) = tried(pattern);
            if bits == 0 { 0.0 } else { displaced / bits as f64 / allowance.load.min(1.0) }
        };
        let harms = |patterns: &[Pattern]| over(patterns, &(), |pattern| Ok(harm(pattern)));
        let found = Search { trials, seed }.worst(&self.space, &known, &(), harms);
        let found = found.unwrap();
        let (displaced, bits, allowance) = tried(&found.pattern);
        let most = allowance.most(bits);
        Outcome { to_load: found.harm, to_allowance: displaced / most, binding: most < before[0] as f64 }
    }
}

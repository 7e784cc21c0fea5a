//! One run: a policy, a rate of users, a seed, and an attack or none.

use std::sync::Arc;

use trueplane_study::{Error, Observer};
use trueplane_units::{BitsPerSec, Nanos};

use super::prepare::Users;
use crate::application::Application;
use crate::names::{PolicyName, Settings, Visitor, with_policy};
use crate::options::Options;
use crate::search::{Pattern, Space};
use crate::server::{Log, Server, Ticket};
use crate::tally::Tally;
use crate::theory::Attack;
use crate::traffic::{FIRST_ATTACK_FLOW, Load, Offered, Pool, Traffic};
use crate::workload::arrivals::{Arrivals, of_attack};
use crate::workload::source::{PacketOf, Source};
use crate::{Bounded, Capacity, Overflow, Policy};

/// Bytes of memory for the buckets of the largest queue, empty as they are.
const BUCKETS: u64 = 8 << 20;

/// What the attacker sends.
#[derive(Clone, Debug)]
pub(super) enum Weapon<P> {
    /// Packets that are all the same, each a flow of its own.
    Alike(Attack),
    /// Those of the application, over and over.
    Own(Own<P>),
    /// A mixture that was searched for.
    Found(Arc<Arsenal<P>>, Pattern),
}

/// What mixtures are made of.
#[derive(Clone, Debug)]
pub(super) struct Arsenal<P> {
    /// What can be sent.
    pub space: Space<P>,
    /// The packets among it that the attacker has beforehand.
    pub pool: Arc<[Offered<P>]>,
    /// The smallest packet of all, in bits.
    pub least_bits: u32,
}

/// Packets that an application has for an attacker.
#[derive(Clone, Debug)]
pub(super) struct Own<P> {
    /// The packets.
    pub pool: Pool<P>,
    /// Their mean size.
    pub bits: u32,
}

/// An attack at a rate.
#[derive(Clone, Debug)]
pub(super) struct Sent<P> {
    /// What comes.
    pub weapon: Weapon<P>,
    /// How fast it comes.
    pub rate: BitsPerSec,
}

impl<P: Copy> Sent<P> {
    /// How many packets come by `end`, at most.
    ///
    /// # Errors
    /// If they are too many.
    pub(super) fn count(&self, end: Nanos) -> Result<u64, Error> {
        let bits = match &self.weapon {
            Weapon::Alike(attack) => attack.bits,
            Weapon::Own(own) => own.bits,
            Weapon::Found(arsenal, _) => arsenal.least_bits,
        };
        let (_, count) = of_attack(Arrivals::Even, bits, self.rate, end, 0)?;
        Ok(count)
    }

    fn traffic(&self, arrivals: Arrivals, end: Nanos, seed: u64) -> Result<Traffic<P>, Error> {
        match &self.weapon {
            Weapon::Alike(attack) => self.alike(*attack, arrivals, end, seed),
            Weapon::Own(own) => {
                let (pace, count) = of_attack(arrivals, own.bits, self.rate, end, seed)?;
                let Pool { packets, fresh_flows } = own.pool.clone();
                Ok(Traffic { packets, pace, count, fresh_flows })
            }
            // To the packet what theory sends if it is nothing else: a search does no less than that.
            Weapon::Found(arsenal, pattern) => match pattern.as_alike() {
                Some(attack) => self.alike(attack, arrivals, end, seed),
                None => Ok(pattern.traffic(&arsenal.space, self.rate.0 as f64 / 1e9, end, self.count(end)?)),
            },
        }
    }

    /// Packets that are all the same.
    fn alike(
        &self,
        Attack { bits, job, estimate }: Attack,
        arrivals: Arrivals,
        end: Nanos,
        seed: u64,
    ) -> Result<Traffic<P>, Error> {
        let (pace, count) = of_attack(arrivals, bits, self.rate, end, seed)?;
        let load = Load::Given { job, estimate };
        let packets = Arc::from([Offered { flow: FIRST_ATTACK_FLOW, bits, load }]);
        Ok(Traffic { packets, pace, count, fresh_flows: true })
    }

    /// Bytes of memory for each of its packets: the times, which for a moment are there twice.
    fn bytes_each(&self, arrivals: Arrivals) -> u64 {
        let times = 2 * size_of::<Nanos>() as u64;
        match (&self.weapon, arrivals) {
            (Weapon::Found(..), _) => times + size_of::<Offered<P>>() as u64,
            (_, Arrivals::Poisson) => times,
            (_, Arrivals::Even | Arrivals::Trace) => 0,
        }
    }
}

/// A run.
pub(super) struct Run<'a, S: Source> {
    /// Where packets come from.
    pub source: &'a S,
    /// How they come, and what may wait.
    pub options: &'a Options,
    /// The users.
    pub users: &'a Users<PacketOf<S>>,
    /// The order of service.
    pub policy: PolicyName,
    /// Ranks as they are, instead of rounded.
    pub exact: bool,
    /// What the attacker sends; none: nothing.
    pub sent: Option<&'a Sent<PacketOf<S>>>,
    /// Where draws begin.
    pub seed: u64,
}

/// What a run takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cost {
    /// Packets that come.
    pub arrivals: u64,
    /// Bytes of memory, at most.
    pub bytes: u64,
}

impl<S: Source> Run<'_, S> {
    /// What it takes.
    ///
    /// # Errors
    /// If more packets come than can be simulated.
    pub(super) fn cost(&self) -> Result<Cost, Error> {
        let attack = self.sent.map_or(Ok(0), |sent| sent.count(self.users.end))?;
        let arrivals = self.users.traffic.count + attack;
        let fixed = self.fixed(attack);
        let waiting = self.waiting(arrivals).saturating_mul(self.policy.bytes_per_packet(self.exact));
        Ok(Cost { arrivals, bytes: fixed.saturating_add(waiting) })
    }

    /// Bytes of memory for what does not wait: the buckets of a queue, the attack, and its times, which for a moment are there twice.
    fn fixed(&self, attack: u64) -> u64 {
        let each = self.sent.map_or(0, |sent| sent.bytes_each(self.options.arrivals));
        BUCKETS.saturating_add(attack.saturating_mul(each))
    }

    /// How many packets can wait at all if there is memory for them: one more than the buffer holds, because the worst only goes when
    /// the newcomer is in.
    fn waiting(&self, arrivals: u64) -> u64 {
        let buffer = match self.options.capacity {
            Some(Capacity::Packets(packets)) => packets as u64,
            // A packet has at least one bit.
            Some(Capacity::Bits(bits)) => bits,
            None => u64::MAX,
        };
        arrivals.min(buffer.saturating_add(1))
    }

    /// Runs within `bytes` of memory.
    ///
    /// # Errors
    /// If that is not enough, the observer interrupts, or `log` fails.
    pub(super) fn run(&self, bytes: u64, observer: &dyn Observer, log: &mut Log<'_>) -> Result<Tally, Error> {
        if observer.interrupted() {
            return Err(Error::Interrupted);
        }
        let end = self.users.end;
        let attack = match self.sent {
            Some(sent) => sent.traffic(self.options.arrivals, end, self.seed)?,
            None => Traffic::none(),
        };
        let arrivals = self.users.traffic.count + attack.count;
        let room = bytes.saturating_sub(self.fixed(attack.count)) / self.policy.bytes_per_packet(self.exact);
        let capacity = usize::try_from(self.waiting(arrivals).min(room)).unwrap_or(usize::MAX);
        let serving = Serving {
            server: Server {
                application: self.source.application(),
                innocent: &self.users.traffic,
                attack: &attack,
                end,
            },
            capacity: self.options.capacity,
            overflow: self.options.overflow,
            observer,
            log,
        };
        with_policy(self.policy, Settings { capacity, exact: self.exact }, serving)
    }
}

/// The server before it has an order of service.
struct Serving<'a, 'l, A: Application> {
    server: Server<'a, A>,
    capacity: Option<Capacity>,
    overflow: Overflow,
    observer: &'a dyn Observer,
    log: &'a mut Log<'l>,
}

impl<A: Application> Visitor for Serving<'_, '_, A> {
    type Output = Tally;

    fn visit<P: Policy<Ticket>>(mut self, policy: P) -> Result<Tally, Error> {
        let mut buffer = Bounded::new(policy, self.capacity, self.overflow)
            .map_err(|error| Error::Parameters(error.to_string()))?;
        self.server.run(&mut buffer, self.observer, self.log)
    }
}

//! What the attacker sends against a policy.

use std::sync::Arc;

use trueplane_study::Error;
use trueplane_units::{BitsPerSec, Nanos};

use crate::policy::PolicyName;
use crate::search::{Pattern, Space};
use crate::theory::{Attack, Prediction};
use crate::traffic::{FIRST_ATTACK_FLOW, Load, Offered, Pool, Traffic};
use crate::workload::arrivals::{Arrivals, of_attack};
use crate::workload::source::PacketOf;

/// Packets that the attacker sends.
#[derive(Clone, Debug)]
pub(super) enum Weapon<P> {
    /// Packets that are all the same, each a flow of its own.
    Alike(Attack),
    /// Those of the application, over and over.
    Own(Own<P>),
    /// A mixture that was searched for.
    Found(Arc<Arsenal<P>>, Pattern),
}

/// Packets from which mixtures are made.
#[derive(Clone, Debug)]
pub(super) struct Arsenal<P> {
    /// Space of all that can be sent.
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
    /// Packets that come.
    pub weapon: Weapon<P>,
    /// Rate at which they come.
    pub rate: BitsPerSec,
}

impl<P: Copy> Sent<P> {
    /// Largest number of packets that arrive by `end`.
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

    pub(super) fn traffic(&self, arrivals: Arrivals, end: Nanos, seed: u64) -> Result<Traffic<P>, Error> {
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
    pub(super) fn bytes_each(&self, arrivals: Arrivals) -> u64 {
        let times = 2 * size_of::<Nanos>() as u64;
        match (&self.weapon, arrivals) {
            (Weapon::Found(..), _) => times + size_of::<Offered<P>>() as u64,
            (_, Arrivals::Poisson) => times,
            (_, Arrivals::Even | Arrivals::Trace) => 0,
        }
    }
}

/// A policy under attack.
#[derive(Clone, Debug)]
pub(super) struct Threat<P> {
    /// The policy.
    pub policy: PolicyName,
    /// The number of the users' rate.
    pub innocent: usize,
    /// Attack with its rate.
    pub sent: Sent<P>,
    /// Expectation of theory; none where it has no say.
    pub prediction: Option<Prediction>,
    /// Displacement factor that nothing which the attacker can send exceeds.
    pub bound: Option<f64>,
    /// Bits of users per second with the attack that a search began with, in the run of the first seed.
    pub planned: Option<f64>,
}

/// The threats to a source.
pub(super) type Threats<S> = Vec<Threat<PacketOf<S>>>;

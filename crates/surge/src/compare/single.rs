//! One run: a policy, a rate of users, a seed, and an attack or none.

use trueplane_study::{Error, Observer};

use super::options::Options;
use super::prepare::Users;
use super::sent::Sent;
use crate::application::Application;
use crate::orders::{Settings, Visitor, with_policy};
use crate::policy::PolicyName;
use crate::server::{Log, Server, Ticket};
use crate::tally::Tally;
use crate::traffic::Traffic;
use crate::workload::source::{PacketOf, Source};
use crate::{Bounded, Capacity, Overflow, Policy};

/// Bytes of memory for the buckets of the largest queue, empty as they are.
const BUCKETS: u64 = 8 << 20;

/// A run.
pub(super) struct Run<'a, S: Source> {
    /// Source of the packets.
    pub source: &'a S,
    /// Parameters of arrivals and of the buffer.
    pub options: &'a Options,
    /// The users.
    pub users: &'a Users<PacketOf<S>>,
    /// The order of service.
    pub policy: PolicyName,
    /// Ranks as they are, instead of rounded.
    pub exact: bool,
    /// Attack that comes, if there is one.
    pub sent: Option<&'a Sent<PacketOf<S>>>,
    /// Number from which random draws begin.
    pub seed: u64,
}

/// Packets and memory that a run needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cost {
    /// Packets that come.
    pub arrivals: u64,
    /// Bytes of memory, at most.
    pub bytes: u64,
}

impl<S: Source> Run<'_, S> {
    /// Packets and memory that the run needs.
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

    /// Largest number of packets that can wait if there is memory for them, and one more, because the worst packet is dropped only after the
    /// newcomer has entered.
    fn waiting(&self, arrivals: u64) -> u64 {
        let buffer = match self.options.capacity {
            Some(Capacity::Packets(packets)) => packets as u64,
            // A packet has at least one bit; and it is not an error if one comes while so many wait.
            Some(Capacity::Bits(bits)) => bits.saturating_add(1),
            None => u64::MAX,
        };
        arrivals.clamp(1, buffer.max(1)).saturating_add(1)
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
        // A buffer that drops the worst wants room for two packets at least: they take next to no memory.
        let capacity = usize::try_from(self.waiting(arrivals).min(room).max(2)).unwrap_or(usize::MAX);
        // Where all that comes has room, or memory ends before the buffer, that is never full.
        let is_ever_full =
            |buffer: &Capacity| !matches!(buffer, Capacity::Packets(packets) if capacity <= *packets);
        let serving = Serving {
            server: Server {
                application: self.source.application(),
                innocent: &self.users.traffic,
                attack: &attack,
                end,
            },
            capacity: self.options.capacity.filter(is_ever_full),
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

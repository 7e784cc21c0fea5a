//! One server that serves a packet to its end before the next, event by event.
//!
//! At equal times a departure comes before an arrival, and an innocent arrival before one of the attack.

use trueplane_study::{Error, Observer};
use trueplane_units::Nanos;

use crate::application::Application;
use crate::tally::{Class, Departure, Tally};
use crate::traffic::{Load, Traffic};
use crate::{Bounded, Capacity, Overflow, Packet, Policy};

/// Number of arrivals between two questions to the observer.
const PATIENCE: u64 = 1 << 16;

/// Receiver of every packet that was served. It is no type parameter: the server is compiled for every policy and application as it is.
pub type Log<'a> = dyn FnMut(Departure) -> Result<(), Error> + Send + 'a;

/// Name by which a policy knows a packet: its number in its traffic, and its sender in the lowest bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(u64);

impl Ticket {
    #[inline]
    fn new(number: u64, class: Class) -> Self {
        Self(number << 1 | u64::from(class == Class::Attack))
    }

    #[inline]
    fn number(self) -> u64 {
        self.0 >> 1
    }

    #[inline]
    fn class(self) -> Class {
        if self.0 & 1 == 1 { Class::Attack } else { Class::Innocent }
    }
}

/// The packet in service.
#[derive(Clone, Copy, Debug)]
struct Serving {
    /// Packet as the policy knows it: its work is the estimate.
    packet: Packet,
    ticket: Ticket,
    /// Time that its service takes.
    job: Nanos,
    /// Time at which its service ends.
    end: Nanos,
}

/// The packets that come, and what serving them takes.
#[derive(Debug)]
pub struct Server<'a, A: Application> {
    /// Application that serves packets.
    pub application: A,
    /// The packets of users.
    pub innocent: &'a Traffic<A::Packet>,
    /// The packets of the attacker.
    pub attack: &'a Traffic<A::Packet>,
    /// Time for which innocent packets come; nothing after it counts.
    pub end: Nanos,
}

impl<A: Application> Server<'_, A> {
    /// Runs to the end, and tells `log` every departure by then.
    ///
    /// # Errors
    ///
    /// If the policy has no room for the backlog, or the observer interrupts.
    pub fn run<P: Policy<Ticket>>(
        &mut self,
        buffer: &mut Bounded<P>,
        observer: &dyn Observer,
        log: &mut Log<'_>,
    ) -> Result<Tally, Error> {
        let mut tally = Tally { end: self.end, ..Tally::default() };
        let (innocent, attack) = (self.innocent, self.attack);
        let (mut innocents, mut attacks) = (0, 0);
        let mut next_innocent = innocent.at(0).filter(|at| *at < self.end);
        let mut next_attack = attack.at(0).filter(|at| *at < self.end);
        let mut serving: Option<Serving> = None;
        let mut arrivals = 0u64;
        let room = room(buffer);
        loop {
            let next = match (next_innocent, next_attack) {
                (None, None) => None,
                (Some(at), None) => Some((at, Class::Innocent)),
                (None, Some(at)) => Some((at, Class::Attack)),
                (Some(user), Some(attacker)) if attacker < user => Some((attacker, Class::Attack)),
                (Some(user), Some(_)) => Some((user, Class::Innocent)),
            };
            let limit = next.map_or(self.end, |(at, _)| at);
            // Departures up to then, each of which begins the next service.
            while let Some(done) = serving.filter(|serving| serving.end <= limit) {
                let Packet { bits, work: estimate, .. } = done.packet;
                tally.of(done.ticket.class()).serve(bits, done.job, estimate);
                serving = self.begin(buffer, done.end, &mut tally, log)?;
            }
            let Some((now, class)) = next else { break };
            let (traffic, number) = match class {
                Class::Innocent => (innocent, &mut innocents),
                Class::Attack => (attack, &mut attacks),
            };
            let offered = traffic.packet(*number);
            let ticket = Ticket::new(*number, class);
            *number += 1;
            let after = traffic.at(*number).filter(|at| *at < self.end);
            match class {
                Class::Innocent => next_innocent = after,
                Class::Attack => next_attack = after,
            }
            let work = match offered.load {
                Load::Given { estimate, .. } => estimate,
                Load::Real(packet) => self.application.estimate(packet),
            };
            tally.of(class).arrived.add(offered.bits);
            let packet = Packet { flow: offered.flow, bits: offered.bits, work };
            let application = &mut self.application;
            if buffer.policy().len() >= room {
                return Err(too_much(room, now));
            }
            buffer
                .arrive(packet, ticket, now, |packet, ticket| {
                    tally.of(ticket.class()).dropped.add(packet.bits);
                    let traffic = if ticket.class() == Class::Innocent { innocent } else { attack };
                    if let Load::Real(packet) = traffic.packet(ticket.number()).load {
                        application.abandon(packet);
                    }
                })
                .map_err(|_| too_much(buffer.policy().len(), now))?;
            tally.backlog = tally.backlog.max(buffer.policy().len() as u64);
            if serving.is_none() {
                serving = self.begin(buffer, now, &mut tally, log)?;
            }
            arrivals += 1;
            if arrivals.is_multiple_of(PATIENCE) {
                observer.advance(PATIENCE);
                if observer.interrupted() {
                    return Err(Error::Interrupted);
                }
            }
        }
        observer.advance(arrivals % PATIENCE);
        if let Some(Serving { packet, ticket, .. }) = serving {
            tally.of(ticket.class()).left.add(packet.bits);
        }
        while let Some((packet, ticket)) = buffer.serve(self.end) {
            tally.of(ticket.class()).left.add(packet.bits);
        }
        Ok(tally)
    }

    /// Begins to serve the next packet, if one waits.
    #[inline]
    fn begin<P: Policy<Ticket>>(
        &mut self,
        buffer: &mut Bounded<P>,
        now: Nanos,
        tally: &mut Tally,
        log: &mut Log<'_>,
    ) -> Result<Option<Serving>, Error> {
        let Some((packet, ticket)) = buffer.serve(now) else { return Ok(None) };
        let (class, number) = (ticket.class(), ticket.number());
        let traffic = if class == Class::Innocent { self.innocent } else { self.attack };
        let job = match traffic.packet(number).load {
            Load::Given { job, .. } => job,
            Load::Real(packet) => self.application.serve(packet),
        };
        let end = now.after(job);
        tally.busy = tally.busy.after(Nanos(end.0.min(self.end.0).saturating_sub(now.0)));
        if end <= self.end {
            log(Departure { number, class, start: now, end })?;
        }
        Ok(Some(Serving { packet, ticket, job, end }))
    }
}

/// Number of packets that may wait before one would be dropped only because the memory is full.
///
/// A drop that the buffer's capacity does not ask for would change what is simulated.
fn room<P: Policy<Ticket>>(buffer: &Bounded<P>) -> usize {
    match (buffer.capacity(), buffer.overflow()) {
        (None | Some(Capacity::Bits(_)), Overflow::DropWorst) => buffer.policy().capacity().saturating_sub(1),
        // The buffer asks for each drop, or a policy that is full is an error of `arrive`.
        _ => usize::MAX,
    }
}

/// The policy has no room.
fn too_much(packets: usize, at: Nanos) -> Error {
    Error::Parameters(format!(
        "after {at} {packets} packets wait and the memory for them is full: raise --memory, bound the buffer with --capacity, \
         or study fewer packets"
    ))
}

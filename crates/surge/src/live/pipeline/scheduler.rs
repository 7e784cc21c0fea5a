//! The scheduler: packets out of the receive ring, into the buffer, and the best of them to the worker.
//!
//! It is told the time and reads no clock, so that tests run it in a time of their own.

use std::collections::VecDeque;

use trueplane_units::Nanos;

use super::handover::{Giver, Taker};
use super::tally::{Tally, Ticket};
use super::traffic::{Arrivals, Traffic};
use crate::{Bounded, Policy};

/// Packets that it takes off the ring before it looks at the clock again, as poll-mode drivers do.
pub const BURST: usize = 32;

/// A scheduler at work.
///
/// The ring is what a network card would do: a packet takes a free descriptor at the time when it comes, whatever the scheduler does,
/// or is lost; the scheduler frees descriptors by taking packets. That is worked out when the scheduler next looks, from the times of
/// the packets, and exactly so, for descriptors become free at no other time.
#[derive(Debug)]
pub struct Scheduler<'t, P> {
    traffic: &'t Traffic,
    arrivals: Arrivals,
    ring: VecDeque<Ticket>,
    descriptors: usize,
    buffer: Bounded<P>,
    end: Nanos,
    tally: Tally,
}

impl<'t, P: Policy<Ticket>> Scheduler<'t, P> {
    /// A scheduler of the packets of `traffic` that come before `end`, with a ring of so many descriptors.
    pub fn new(traffic: &'t Traffic, buffer: Bounded<P>, descriptors: usize, end: Nanos) -> Self {
        Self {
            traffic,
            arrivals: traffic.arrivals(),
            ring: VecDeque::with_capacity(descriptors),
            descriptors,
            buffer,
            end,
            tally: Tally::default(),
        }
    }

    /// Does what there is to do at `now`, which never goes back: at most [`BURST`] packets, and hands over what is asked for after each.
    ///
    /// Returns how many packets it took off the ring, and how many it handed over.
    #[inline]
    pub fn step(&mut self, now: Nanos, giver: &mut Giver<'_>) -> (usize, usize) {
        self.receive(now);
        // The worker may have waited since the last time.
        let mut handed = self.hand_over(now, giver);
        for taken in 0..BURST {
            let Some(ticket) = self.ring.pop_front() else { return (taken, handed) };
            let packet = self.traffic.packet(ticket);
            let tally = &mut self.tally;
            let arrived = self.buffer.arrive(packet, ticket, now, |packet, ticket| {
                tally.of(ticket.class()).dropped.add(packet.bits);
            });
            if let Err(ticket) = arrived {
                // A policy that is smaller than its buffer.
                self.tally.of(ticket.class()).dropped.add(packet.bits);
            }
            handed += self.hand_over(now, giver);
        }
        (BURST, handed)
    }

    /// Puts what has come by `now` into the ring.
    #[inline]
    fn receive(&mut self, now: Nanos) {
        let before = now.after(Nanos(1)).min(self.end);
        while let Some(ticket) = self.arrivals.next_before(before) {
            let bits = self.traffic.packet(ticket).bits;
            let fate = self.tally.of(ticket.class());
            fate.arrived.add(bits);
            if self.ring.len() < self.descriptors {
                self.ring.push_back(ticket);
            } else {
                fate.lost.add(bits);
            }
        }
    }

    /// Hands over as many packets as the worker asks for, if there are so many.
    #[inline]
    fn hand_over(&mut self, now: Nanos, giver: &mut Giver<'_>) -> usize {
        let mut handed = 0;
        while giver.has_room() {
            let Some((packet, ticket)) = self.buffer.serve(now) else { break };
            if giver.give(ticket).is_err() {
                self.tally.of(ticket.class()).left.add(packet.bits);
                break;
            }
            handed += 1;
        }
        handed
    }

    /// Ends it: what has come by the end, and what of it has not been taken by the worker.
    pub fn finish(mut self, taker: &mut Taker<'_>) -> Tally {
        self.receive(self.end);
        let in_buffer = std::iter::from_fn(|| self.buffer.serve(self.end)).map(|(_, ticket)| ticket);
        let in_handover = std::iter::from_fn(|| taker.take());
        for ticket in in_buffer.chain(in_handover).chain(self.ring) {
            self.tally.of(ticket.class()).left.add(self.traffic.packet(ticket).bits);
        }
        self.tally
    }
}

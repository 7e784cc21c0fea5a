//! Where scheduler and worker meet: a few slots, each empty or with a packet, and no lock.
//!
//! An empty slot is how the worker asks. With one slot the worker empties it when it begins to work, and the scheduler fills it again in
//! the meantime: the worker never waits for the scheduler as long as a job takes longer than the way to the other core and back, at
//! the cost that **the choice is up to one job old** when service begins. What is in a slot can neither be overtaken nor dropped. Every
//! slot more makes the choice older by another job, and bridges another job's time in which the scheduler does something else.
//!
//! A slot is read and written by both sides alone, with no indices to share: Giacomoni, Moseley, Vachharajani, *FastForward for
//! Efficient Pipeline Parallelism*, PPoPP 2008.

use std::sync::atomic::{AtomicU32, Ordering};

use super::tally::Ticket;

/// No ticket: they are below 2^31.
const EMPTY: u32 = u32::MAX;

/// A slot on a cache line of its own.
#[derive(Debug)]
#[repr(align(64))]
struct Slot(AtomicU32);

/// The slots.
#[derive(Debug)]
pub struct Handover {
    slots: Box<[Slot]>,
}

impl Handover {
    /// `depth` slots, at least one.
    pub fn new(depth: usize) -> Self {
        Self { slots: (0..depth.max(1)).map(|_| Slot(AtomicU32::new(EMPTY))).collect() }
    }

    /// The end of the scheduler and that of the worker.
    pub fn ends(&mut self) -> (Giver<'_>, Taker<'_>) {
        (Giver { slots: &self.slots, next: 0 }, Taker { slots: &self.slots, next: 0 })
    }
}

/// The scheduler's end.
#[derive(Debug)]
pub struct Giver<'h> {
    slots: &'h [Slot],
    next: usize,
}

impl Giver<'_> {
    /// Whether the worker asks.
    #[inline]
    pub fn has_room(&self) -> bool {
        self.slots[self.next].0.load(Ordering::Acquire) == EMPTY
    }

    /// Hands a packet over.
    ///
    /// # Errors
    ///
    /// If there is no room; nothing has changed.
    #[inline]
    pub fn give(&mut self, ticket: Ticket) -> Result<(), Ticket> {
        if !self.has_room() {
            return Err(ticket);
        }
        self.slots[self.next].0.store(ticket.word(), Ordering::Release);
        self.next = following(self.next, self.slots);
        Ok(())
    }
}

/// The worker's end.
#[derive(Debug)]
pub struct Taker<'h> {
    slots: &'h [Slot],
    next: usize,
}

impl Taker<'_> {
    /// Takes the packet that was handed over first, and so asks for another.
    #[inline]
    pub fn take(&mut self) -> Option<Ticket> {
        let slot = &self.slots[self.next].0;
        let word = slot.load(Ordering::Acquire);
        if word == EMPTY {
            return None;
        }
        slot.store(EMPTY, Ordering::Release);
        self.next = following(self.next, self.slots);
        Some(Ticket::from_word(word))
    }
}

#[inline]
fn following(slot: usize, slots: &[Slot]) -> usize {
    if slot + 1 == slots.len() { 0 } else { slot + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::pipeline::tally::Class;

    #[test]
    fn slots_fill_and_empty_in_order() {
        let ticket = |index| Ticket::new(Class::Attack, index);
        let mut handover = Handover::new(2);
        let (mut giver, mut taker) = handover.ends();
        assert_eq!(taker.take(), None);
        assert_eq!((giver.give(ticket(1)), giver.give(ticket(2))), (Ok(()), Ok(())));
        assert_eq!((giver.give(ticket(3)), giver.has_room()), (Err(ticket(3)), false));
        assert_eq!(taker.take(), Some(ticket(1)));
        assert_eq!(giver.give(ticket(3)), Ok(()));
        assert_eq!([taker.take(), taker.take(), taker.take()], [Some(ticket(2)), Some(ticket(3)), None]);
    }

    #[test]
    fn nothing_is_lost_or_overtaken_between_threads() {
        let count = 20_000;
        for depth in [1, 3] {
            let mut handover = Handover::new(depth);
            let (mut giver, mut taker) = handover.ends();
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    for index in 0..count {
                        while giver.give(Ticket::new(Class::Innocent, index)).is_err() {
                            std::thread::yield_now();
                        }
                    }
                });
                for index in 0..count {
                    let taken = loop {
                        match taker.take() {
                            Some(taken) => break taken,
                            None => std::thread::yield_now(),
                        }
                    };
                    assert_eq!(taken.index(), index as usize);
                }
                assert_eq!(taker.take(), None);
            });
        }
    }
}

//! First come, first served.

use std::collections::VecDeque;

use trueplane_units::Nanos;

use crate::{Packet, Policy};

/// First come, first served: what most processors do. The worst packet is the newest.
///
/// Cost: O(1). Source: Atre 2025 §3.4.1, where its displacement factor is shown to have no bound.
#[derive(Clone, Debug)]
pub struct Fcfs<T> {
    capacity: usize,
    waiting: VecDeque<(Packet, T)>,
}

impl<T> Fcfs<T> {
    /// Room for `capacity` packets. With a capacity of 0, which all other policies refuse, it holds nothing: every packet comes back.
    pub fn new(capacity: usize) -> Self {
        Self { capacity, waiting: VecDeque::new() }
    }
}

impl<T> Policy<T> for Fcfs<T> {
    fn capacity(&self) -> usize {
        self.capacity
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }

    #[inline]
    fn arrive(&mut self, packet: Packet, item: T, _now: Nanos) -> Result<(), T> {
        if self.waiting.len() == self.capacity {
            return Err(item);
        }
        self.waiting.push_back((packet, item));
        Ok(())
    }

    #[inline]
    fn serve(&mut self, _now: Nanos) -> Option<(Packet, T)> {
        self.waiting.pop_front()
    }

    fn drop_worst(&mut self, _now: Nanos) -> Option<(Packet, T)> {
        self.waiting.pop_back()
    }
}

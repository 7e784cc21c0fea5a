//! A set of slots that a policy can draw from at random.

use super::{Slot, grow};

const NONE: u32 = u32::MAX;

/// A set of slots packed into an array: O(1) insertion, removal and access by position.
#[derive(Clone, Debug, Default)]
pub struct DenseSet {
    members: Vec<Slot>,
    positions: Vec<u32>,
}

impl DenseSet {
    /// The members, in no useful order.
    pub fn members(&self) -> &[Slot] {
        &self.members
    }

    /// Adds a slot that is not a member.
    pub fn insert(&mut self, slot: Slot) {
        grow(&mut self.positions, slot, NONE);
        self.positions[slot.index()] = self.members.len() as u32;
        self.members.push(slot);
    }

    /// Takes out a member.
    pub fn remove(&mut self, slot: Slot) {
        let position = std::mem::replace(&mut self.positions[slot.index()], NONE);
        self.members.swap_remove(position as usize);
        if let Some(moved) = self.members.get(position as usize) {
            self.positions[moved.index()] = position;
        }
    }
}

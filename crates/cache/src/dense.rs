//! A map from slots that a policy can draw from at random.

use crate::{Slot, grow};

const NONE: u32 = u32::MAX;

/// A map from slots packed into an array, so that drawing and walking touch as little memory as there can be.
///
/// O(1) insertion, removal, look-up and access by position.
#[derive(Clone, Debug)]
pub struct DenseMap<T> {
    entries: Vec<(Slot, T)>,
    positions: Vec<u32>,
}

impl<T> Default for DenseMap<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), positions: Vec::new() }
    }
}

impl<T> DenseMap<T> {
    /// The entries, in no useful order.
    pub fn entries(&self) -> &[(Slot, T)] {
        &self.entries
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds a slot that is not in the map.
    pub fn insert(&mut self, slot: Slot, value: T) {
        grow(&mut self.positions, slot, NONE);
        self.positions[slot.index()] = self.entries.len() as u32;
        self.entries.push((slot, value));
    }

    /// The value of a slot that is in the map.
    pub fn value_mut(&mut self, slot: Slot) -> &mut T {
        &mut self.entries[self.positions[slot.index()] as usize].1
    }

    /// Takes out a slot that is in the map.
    pub fn remove(&mut self, slot: Slot) -> T {
        let position = std::mem::replace(&mut self.positions[slot.index()], NONE);
        let (_, value) = self.entries.swap_remove(position as usize);
        if let Some((moved, _)) = self.entries.get(position as usize) {
            self.positions[moved.index()] = position;
        }
        value
    }
}

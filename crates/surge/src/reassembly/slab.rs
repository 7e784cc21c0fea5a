//! Lists through one memory, whose places are used again.

/// Stands for no place.
pub(super) const NONE: u32 = u32::MAX;

/// It grows by so many places at least.
const LEAST_GROWTH: usize = 64;

/// Values of many lists, each with the place of the next of its list. It never shrinks, and is never more than a quarter larger than
/// the most values that there were at a time.
///
/// There are far fewer than 2³² − 1 values: twice the most pieces that a reassembler may hold.
#[derive(Clone, Debug)]
pub(super) struct Slab<V> {
    slots: Vec<Slot<V>>,
    /// The first of the free places, which are a list.
    free: u32,
    len: usize,
}

/// A value, and what follows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot<V> {
    pub(super) value: V,
    pub(super) next: u32,
}

impl<V> Default for Slab<V> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: NONE, len: 0 }
    }
}

impl<V: Copy> Slab<V> {
    /// Number of values in the slab.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Bytes that are allocated, for values and free places.
    pub(super) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Slot<V>>()
    }

    /// The value in a place; `None` for [`NONE`]. The place has to be in use, here and below.
    pub(super) fn get(&self, place: u32) -> Option<Slot<V>> {
        self.slots.get(place as usize).copied()
    }

    /// The same, to be changed.
    pub(super) fn get_mut(&mut self, place: u32) -> Option<&mut Slot<V>> {
        self.slots.get_mut(place as usize)
    }

    /// Adds a value: its place. O(1) amortised.
    pub(super) fn add(&mut self, slot: Slot<V>) -> u32 {
        self.len += 1;
        let place = self.free;
        if let Some(free) = self.slots.get_mut(place as usize) {
            self.free = free.next;
            *free = slot;
            return place;
        }
        if self.slots.len() == self.slots.capacity() {
            self.slots.reserve_exact(LEAST_GROWTH.max(self.slots.len() / 4));
        }
        self.slots.push(slot);
        (self.slots.len() - 1) as u32
    }

    /// Takes out a value, to which nothing may lead any more. O(1).
    pub(super) fn remove(&mut self, place: u32) -> Option<Slot<V>> {
        let slot = self.slots.get_mut(place as usize)?;
        let removed = *slot;
        slot.next = self.free;
        self.free = place;
        self.len -= 1;
        Some(removed)
    }
}

//! Small counters of slots, which grow by shared access.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use crate::Slot;

/// A counter for every slot: 1 B for each.
///
/// Readers of a shared cache may raise it at the same time, and some of their hits may be lost then. Whoever has the cache alone loses
/// none.
#[derive(Debug, Default)]
pub(crate) struct Marks(Vec<AtomicU8>);

impl Marks {
    /// Makes the counter of `slot` exist, and sets it to 0.
    pub(crate) fn clear(&mut self, slot: Slot) {
        if slot.index() >= self.0.len() {
            crate::reserve(&mut self.0, slot.index() + 1);
            self.0.resize_with(slot.index() + 1, AtomicU8::default);
        }
        *self.0[slot.index()].get_mut() = 0;
    }

    /// Adds `times`, up to `most`.
    #[inline]
    pub(crate) fn raise(&self, slot: Slot, times: u64, most: u8) {
        let mark = &self.0[slot.index()];
        let old = mark.load(Relaxed);
        // Most marks of popular objects are full: what is not written stays in the caches of all cores.
        if old < most {
            let new = u8::try_from(times.saturating_add(u64::from(old))).map_or(most, |sum| sum.min(most));
            mark.store(new, Relaxed);
        }
    }

    /// The counter of a slot.
    #[inline]
    pub(crate) fn of(&mut self, slot: u32) -> &mut u8 {
        self.0[slot as usize].get_mut()
    }
}

impl Clone for Marks {
    fn clone(&self) -> Self {
        Self(self.0.iter().map(|mark| AtomicU8::new(mark.load(Relaxed))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_stop_at_their_most() {
        let mut marks = Marks::default();
        marks.clear(Slot(1));
        marks.raise(Slot(1), 2, 3);
        assert_eq!(*marks.of(1), 2);
        marks.raise(Slot(1), u64::MAX, 3);
        assert_eq!((*marks.of(1), *marks.of(0)), (3, 0));
        marks.clear(Slot(1));
        assert_eq!(*marks.clone().of(1), 0);
    }
}

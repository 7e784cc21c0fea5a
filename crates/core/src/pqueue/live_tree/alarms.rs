//! Whose alarm goes off first.

use crate::pqueue::Instant;

/// An instant for each of the small integers, and the earliest of them: a complete binary tree of minima over an array.
///
/// To set one costs O(log n), and mostly less, as it ends where the minimum stays.
#[derive(Clone, Debug)]
pub(super) struct Alarms<I> {
    /// Node 1 is the root, node n's children are 2n and 2n + 1; the second half are the leaves.
    minima: Vec<I>,
}

impl<I> Default for Alarms<I> {
    fn default() -> Self {
        Self { minima: Vec::new() }
    }
}

impl<I: Instant> Alarms<I> {
    /// The earliest of all.
    pub(super) fn earliest(&self) -> I {
        self.minima.get(1).copied().unwrap_or(I::NEVER)
    }

    /// Sets the alarm of `element`.
    pub(super) fn set(&mut self, element: u32, instant: I) {
        let leaves = self.minima.len() / 2;
        if element as usize >= leaves {
            self.widen(element as usize + 1);
        }
        let mut node = self.minima.len() / 2 + element as usize;
        self.minima[node] = instant;
        while node > 1 {
            let earlier = self.minima[node].min(self.minima[node ^ 1]);
            node /= 2;
            if self.minima[node] == earlier {
                return;
            }
            self.minima[node] = earlier;
        }
    }

    /// Adds those whose alarm is due at `now`, in the order of their numbers.
    pub(super) fn due(&self, now: I, elements: &mut Vec<u32>) {
        if self.earliest() <= now {
            self.due_below(1, now, elements);
        }
    }

    fn due_below(&self, node: usize, now: I, elements: &mut Vec<u32>) {
        if self.minima[node] > now {
            return;
        }
        let leaves = self.minima.len() / 2;
        if node >= leaves {
            elements.push((node - leaves) as u32);
            return;
        }
        self.due_below(2 * node, now, elements);
        self.due_below(2 * node + 1, now, elements);
    }

    fn widen(&mut self, elements: usize) {
        let leaves = elements.next_power_of_two().max(2);
        let mut minima = vec![I::NEVER; 2 * leaves];
        let old = self.minima.len() / 2;
        minima[leaves..leaves + old].copy_from_slice(&self.minima[old..]);
        for node in (1..leaves).rev() {
            minima[node] = minima[2 * node].min(minima[2 * node + 1]);
        }
        self.minima = minima;
    }
}

//! Whose alarm goes off first.

use crate::Instant;

/// Instants that share one minimum: two cache lines of 128-bit instants.
const FAMILY: usize = 8;

/// An instant for each of the small integers, and the earliest of them: a tree of minima of [`FAMILY`] each over an array.
///
/// To set one costs O(log n), and mostly O(1), as most are not the minimum of their family before or after.
#[derive(Clone, Debug)]
pub(super) struct Alarms<I> {
    /// The instants, then the minima of every family of them, and so on up to a single family.
    levels: Vec<Vec<I>>,
}

impl<I> Default for Alarms<I> {
    fn default() -> Self {
        Self { levels: Vec::new() }
    }
}

impl<I: Instant> Alarms<I> {
    /// The earliest of all.
    pub(super) fn earliest(&self) -> I {
        self.levels.last().map_or(I::NEVER, |top| top[0])
    }

    /// Sets the alarm of `element`.
    pub(super) fn set(&mut self, element: u32, instant: I) {
        if self.levels.first().is_none_or(|instants| element as usize >= instants.len()) {
            self.widen(element as usize + 1);
        }
        let (mut place, mut new) = (element as usize, instant);
        let mut old = std::mem::replace(&mut self.levels[0][place], new);
        for level in 1..self.levels.len() {
            let family = place / FAMILY;
            let least = self.levels[level][family];
            if new >= least {
                if old > least {
                    return;
                }
                // Whoever has left was the least, or one of them.
                let members = &self.levels[level - 1][family * FAMILY..][..FAMILY];
                new = members.iter().copied().min().unwrap_or(I::NEVER);
            }
            if new == least {
                return;
            }
            self.levels[level][family] = new;
            (place, old) = (family, least);
        }
    }

    /// Adds those whose alarm is due at `now`, in the order of their numbers.
    pub(super) fn due(&self, now: I, elements: &mut Vec<u32>) {
        if let Some(top) = self.levels.len().checked_sub(1) {
            self.due_below(top, 0, now, elements);
        }
    }

    fn due_below(&self, level: usize, place: usize, now: I, elements: &mut Vec<u32>) {
        if self.levels[level][place] > now {
            return;
        }
        match level.checked_sub(1) {
            None => elements.push(place as u32),
            Some(below) => {
                (place * FAMILY..(place + 1) * FAMILY)
                    .for_each(|place| self.due_below(below, place, now, elements));
            }
        }
    }

    /// Makes room for `elements`.
    fn widen(&mut self, elements: usize) {
        let mut instants = self.levels.first().cloned().unwrap_or_default();
        instants.resize(elements.next_power_of_two().max(FAMILY), I::NEVER);
        self.levels = vec![instants];
        while let Some(below) = self.levels.last().filter(|level| level.len() > 1) {
            let minimum = |family: &[I]| family.iter().copied().min().unwrap_or(I::NEVER);
            let mut minima: Vec<I> = below.chunks(FAMILY).map(minimum).collect();
            if minima.len() > 1 {
                minima.resize(minima.len().next_multiple_of(FAMILY), I::NEVER);
            }
            self.levels.push(minima);
        }
    }
}

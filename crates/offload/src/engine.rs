//! Drives a system through a workload.

use crate::tally::Tally;
use crate::{Key, System};

/// Looks up `keys`, one a slot, and does whatever falls due in between. O(keys), besides the system.
pub fn run(system: &mut dyn System, mut keys: &[Key], tally: &mut Tally) {
    while !keys.is_empty() {
        let now = tally.now();
        while system.due() <= now {
            system.control(now);
        }
        let until = system.due().min(tally.until());
        let slots = usize::try_from(until - now).unwrap_or(usize::MAX).min(keys.len());
        let (head, rest) = keys.split_at(slots);
        let misses = system.misses(head);
        tally.add(slots as u64, misses);
        keys = rest;
    }
}

//! When things fall due that happen so often a second.

/// Events at a steady rate on a clock of slots: the n-th is due at slot ⌊n × slots / events⌋, for n = 1, 2, …, without drift.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    due: u64,
    /// Remainder of the division that gave `due`, in parts of `events`.
    remainder: u64,
    slots: u64,
    events: u64,
}

impl Pace {
    /// `events` of them, at least one, in every `slots` slots.
    ///
    /// There may be more events than slots; several are then due at one slot.
    pub fn new(slots: u64, events: u64) -> Self {
        let mut pace = Self { due: 0, remainder: 0, slots, events: events.max(1) };
        pace.advance();
        pace
    }

    /// The slot of the next event; at most `u64::MAX`.
    pub fn due(&self) -> u64 {
        self.due
    }

    /// The next event has happened.
    pub fn advance(&mut self) {
        let sum = u128::from(self.slots) + u128::from(self.remainder);
        let events = u128::from(self.events);
        self.due = self.due.saturating_add(u64::try_from(sum / events).unwrap_or(u64::MAX));
        self.remainder = (sum % events) as u64;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn events_may_be_more_frequent_than_slots() {
        let mut pace = Pace::new(2, 5);
        let due: Vec<u64> = std::iter::repeat_with(|| (pace.due(), pace.advance()).0).take(10).collect();
        assert_eq!(due, [0, 0, 1, 1, 2, 2, 2, 3, 3, 4]);
    }

    proptest! {
        #[test]
        fn nothing_drifts(slots in 0..1u64 << 40, events in 1..1u64 << 40) {
            let mut pace = Pace::new(slots, events);
            for n in 1..50u128 {
                prop_assert_eq!(u128::from(pace.due()), n * u128::from(slots) / u128::from(events));
                pace.advance();
            }
        }
    }
}

//! When counters are halved.

/// Times at which counters are halved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ageing {
    pub(super) period: u64,
    last: u64,
}

impl Ageing {
    pub(super) fn new(period: u64, now: u64) -> Self {
        Self { period, last: now }
    }

    /// Returns how many halvings are due, however long nobody has asked. O(1).
    pub(super) fn due(&mut self, now: u64) -> u64 {
        let due = now.saturating_sub(self.last) / self.period.max(1);
        self.last += due * self.period;
        due
    }

    pub(super) fn change(&mut self, period: u64) {
        self.period = period;
    }
}

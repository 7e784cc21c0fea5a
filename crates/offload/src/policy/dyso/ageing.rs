//! When counters are halved.

/// When counters are halved next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ageing {
    pub(super) period: u64,
    last: u64,
}

impl Ageing {
    pub(super) fn new(period: u64, now: u64) -> Self {
        Self { period, last: now }
    }

    /// How often counters are to be halved, however long nobody has asked. O(1).
    pub(super) fn due(&mut self, now: u64) -> u64 {
        let due = now.saturating_sub(self.last) / self.period.max(1);
        self.last += due * self.period;
        due
    }

    pub(super) fn change(&mut self, period: u64) {
        self.period = period;
    }
}

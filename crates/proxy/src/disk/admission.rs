//! Which objects are worth a write: those that save more waiting per byte than others.
//!
//! An object's saving is the time that the origin took for it, times the number of requests that it answered while it was in memory. Per byte, it must be at
//! least
//!
//! ```text
//! max(what the objects of the segment that was reclaimed last saved per byte on the disk, offered ÷ 16) × 2^(ahead ÷ 10 min)
//! ```
//!
//! where `offered` is what the objects save per byte that are offered of late, and `ahead` is the time by which the bytes written since the disk was
//! first full are ahead of the budget: the size of the tier in a day, but at least 1 MiB a second. A drive is built to be written about once a day. As the
//! threshold doubles with every ten minutes, what is written settles at the budget, and the best of what is offered is written. Until the disk is full a write takes nobody's
//! place, and everything is written.

use trueplane_units::Nanos;

/// Bytes that may be written in a second, at least.
const LEAST_BUDGET: f64 = 1024.0 * 1024.0;
/// Time in which the size of the tier may be written.
const PERIOD: f64 = 24.0 * 3600.0;
/// Seconds of being ahead that double the threshold.
const DOUBLING: f64 = 600.0;
/// Share of an offer in the mean of those offered of late.
const SHARE: f64 = 1.0 / 256.0;
/// The threshold as a share of what is offered, at least.
const LEAST_SHARE: f64 = 1.0 / 16.0;

/// Decides what is written.
#[derive(Debug)]
pub(super) struct Admission {
    /// Bytes per second.
    budget: f64,
    /// What was reclaimed has saved so many nanoseconds per byte; none before the disk was full.
    reclaimed: Option<f64>,
    /// Nanoseconds per byte that are offered of late.
    offered: f64,
    /// Bytes by which writing is ahead, and when that was so.
    ahead: f64,
    at: Nanos,
}

impl Admission {
    pub(super) fn new(size: u64, now: Nanos) -> Self {
        let budget = (size as f64 / PERIOD).max(LEAST_BUDGET);
        Self { budget, reclaimed: None, offered: 0.0, ahead: 0.0, at: now }
    }

    /// Nanoseconds per byte that an object must save.
    fn threshold(&self) -> f64 {
        let Some(reclaimed) = self.reclaimed else { return 0.0 };
        reclaimed.max(self.offered * LEAST_SHARE) * (self.ahead / self.budget / DOUBLING).exp2()
    }

    /// Whether an object of so many bytes is worth a write that saves so many nanoseconds.
    pub(super) fn admits(&mut self, saving: f64, bytes: u64, now: Nanos) -> bool {
        let passed = now.since(self.at).0 as f64 / 1e9;
        self.at = self.at.max(now);
        self.ahead = (self.ahead - passed * self.budget).max(0.0);
        let density = saving / bytes.max(1) as f64;
        self.offered += (density - self.offered) * SHARE;
        density >= self.threshold()
    }

    /// Counts bytes that were written.
    pub(super) fn wrote(&mut self, bytes: u64) {
        if self.reclaimed.is_some() {
            self.ahead += bytes as f64;
        }
    }

    /// Objects of so many bytes were reclaimed that have saved so many nanoseconds together.
    pub(super) fn reclaimed(&mut self, saved: f64, bytes: u64) {
        let density = saved / bytes.max(1) as f64;
        self.reclaimed = Some(density);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    /// Until the disk is full all is written; then only what saves as much per byte as what leaves.
    #[test]
    fn the_first_threshold_by_hand() {
        let mut admission = Admission::new(1 << 30, Nanos(0));
        assert!(admission.admits(0.0, 100, Nanos(0)));
        admission.wrote(1 << 40);
        // 1000 bytes have saved 5000 ns: 5 ns per byte.
        admission.reclaimed(5000.0, 1000);
        assert!(admission.admits(500.0, 100, Nanos(0)) && !admission.admits(499.0, 100, Nanos(0)));
    }

    /// With 1 MiB a second, 600 MiB are ten minutes' worth and double the threshold. They are forgotten after ten minutes.
    #[test]
    fn the_threshold_doubles_by_hand() {
        let mut admission = Admission::new(1 << 30, Nanos(0));
        admission.reclaimed(5000.0, 1000);
        admission.wrote(600 << 20);
        assert!(admission.admits(1000.0, 100, Nanos(0)) && !admission.admits(999.0, 100, Nanos(0)));
        assert!(admission.admits(500.0, 100, Nanos(600 * SECOND)));
    }

    /// Objects of 10 kB whose savings are drawn evenly come faster than they may be written: what is written settles near the budget, and is the best of them.
    #[test]
    fn writing_settles_at_the_budget() {
        let mut admission = Admission::new(1 << 30, Nanos(0));
        admission.reclaimed(0.0, 1000);
        let (mut written, mut worst, hours) = (0_u64, f64::MAX, 6);
        for number in 0..hours * 3600_u64 * 1000 {
            let now = Nanos(number * SECOND / 1000);
            let saving = (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64;
            if admission.admits(saving, 10_000, now) {
                admission.wrote(10_000);
                if now.0 > 3600 * SECOND * (hours - 1) {
                    (written, worst) = (written + 10_000, saving.min(worst));
                }
            }
        }
        let rate = written as f64 / 3600.0 / LEAST_BUDGET;
        assert!((0.8..1.2).contains(&rate), "{rate} of the budget");
        // A tenth of 10 MB/s fits.
        let share = worst / f64::from(1 << 24);
        assert!((0.8..1.0).contains(&share), "those above {share} of the range");
    }
}

//! Gaps between segments.

use trueplane_units::Nanos;

use super::settings::Pacing;

/// Tells when the next segment may leave.
///
/// A segment of b bytes is followed by a gap of b ÷ rate, where the rate is a share of a window in a round-trip time.
#[derive(Clone, Debug, Default)]
pub struct Pacer {
    settings: Option<Pacing>,
    next: Nanos,
}

impl Pacer {
    /// A pacer by these settings; without any it never holds back.
    pub fn new(settings: Option<Pacing>) -> Self {
        Self { settings, next: Nanos(0) }
    }

    /// Time before which no segment may leave.
    #[inline]
    pub fn next(&self) -> Nanos {
        self.next
    }

    /// A segment leaves.
    pub fn send(&mut self, bytes: u64, cwnd: u64, is_slow_start: bool, smoothed: Option<Nanos>, now: Nanos) {
        let (Some(settings), Some(smoothed)) = (self.settings, smoothed) else { return };
        let percent = if is_slow_start { settings.slow_start_percent } else { settings.avoidance_percent };
        let divisor = (u128::from(cwnd) * u128::from(percent)).max(1);
        let gap = u128::from(bytes) * u128::from(smoothed.0) * 100 / divisor;
        self.next = now.after(Nanos(u64::try_from(gap).unwrap_or(u64::MAX)));
    }
}

//! The window that all congestion controls share: its limits, slow start, and the additive increase.

use super::Acknowledged;
use super::hystart::HyStart;
use crate::transport::settings::{BadSettings, check_range, check_segment};

/// Greatest window of all, in bytes: four times what a header can tell (RFC 7323 §2.3), so that products of windows fit into 64 bits.
const MOST_WINDOW: u64 = 1 << 32;

/// Most segments in a setting.
const MOST_SEGMENTS: u64 = 1 << 16;

/// Sizes of a congestion window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowSettings {
    /// Sender maximum segment size (SMSS): the most payload in a segment, in bytes.
    pub segment: u32,
    /// Initial window (IW), in segments.
    pub initial: u32,
    /// First slow start threshold, in segments; `None`: the greatest window.
    pub threshold: Option<u32>,
    /// Loss window (LW): that after a time-out, in segments.
    pub loss: u32,
    /// Least threshold after a loss, in segments.
    pub least_threshold: u32,
    /// Greatest window, in bytes.
    pub most: u64,
    /// Whether the first slow start ends when round-trip times grow (HyStart++, RFC 9406).
    pub hystart: bool,
}

impl WindowSettings {
    /// The values of the standards for segments of so many bytes.
    pub const fn standard(segment: u32) -> Self {
        Self {
            segment,
            initial: 10,        // RFC 6928 §2
            threshold: None,    // RFC 5681 §3.1: arbitrarily high
            loss: 1,            // RFC 5681 §3.1: LW
            least_threshold: 2, // RFC 5681 §3.1 (4)
            most: 1 << 30,      // RFC 7323 §2.3: the greatest window
            hystart: false,
        }
    }

    /// Checks that the values make sense.
    ///
    /// # Errors
    ///
    /// If a segment has no byte, or more than a packet holds; if a window has no segment; if the greatest is beyond 2³² bytes.
    pub fn check(&self) -> Result<(), BadSettings> {
        let segments =
            |name, count: u32| check_range(name, "1 to 65536 segments", u64::from(count), 1..=MOST_SEGMENTS);
        check_segment("window.segment", self.segment)?;
        segments("window.initial", self.initial)?;
        segments("window.threshold", self.threshold.unwrap_or(1))?;
        segments("window.loss", self.loss)?;
        segments("window.least_threshold", self.least_threshold)?;
        let expected = "a segment to 2^32 bytes";
        check_range("window.most", expected, self.most, u64::from(self.segment)..=MOST_WINDOW)
    }
}

/// A congestion window and its threshold, in bytes.
#[derive(Clone, Debug)]
pub struct Window {
    settings: WindowSettings,
    cwnd: u64,
    ssthresh: u64,
    /// Bytes acknowledged since the last additive increase.
    counted: u64,
    /// HyStart++, as long as the first slow start lasts.
    hystart: Option<HyStart>,
}

impl Window {
    /// The initial window.
    ///
    /// Settings without sense are refused by [`WindowSettings::check`] when a sender is put together.
    pub fn new(settings: WindowSettings) -> Self {
        let segments = |count: u32| u64::from(settings.segment) * u64::from(count);
        Self {
            settings,
            cwnd: segments(settings.initial).min(settings.most),
            ssthresh: settings.threshold.map_or(settings.most, segments),
            counted: 0,
            hystart: settings.hystart.then(HyStart::default),
        }
    }

    /// Checks the settings, for a sender of segments of so many bytes.
    ///
    /// # Errors
    ///
    /// As [`WindowSettings::check`], and if the sender's segments have another size.
    pub fn check(&self, segment: u32) -> Result<(), BadSettings> {
        self.settings.check()?;
        let (expected, size) = ("the segment size of the sender", u64::from(segment));
        check_range("window.segment", expected, u64::from(self.settings.segment), size..=size)
    }

    /// Congestion window (cwnd).
    #[inline]
    pub fn cwnd(&self) -> u64 {
        self.cwnd
    }

    /// Slow start threshold (ssthresh).
    #[inline]
    pub fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    /// Segment size (SMSS).
    #[inline]
    pub fn segment(&self) -> u64 {
        u64::from(self.settings.segment)
    }

    /// Whether the window is below the threshold.
    #[inline]
    pub fn is_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Whether the window held the sender back, so that it may grow.
    ///
    /// In slow start it may do so when half of it was used, as it doubles in a round trip. What is on its way at one instant is not enough to
    /// tell: with gaps between segments the window may be used up and have room all the same.
    #[inline]
    pub fn is_limiting(&self, ack: &Acknowledged) -> bool {
        if ack.is_limited {
            true
        } else if self.is_slow_start() {
            2 * ack.in_flight >= self.cwnd
        } else {
            ack.in_flight + self.segment() > self.cwnd
        }
    }

    /// Sets the window, within its limits of one segment and the greatest window.
    pub fn set(&mut self, cwnd: u64) {
        self.cwnd = cwnd.min(self.settings.most).max(self.segment());
    }

    /// Sets the threshold to no less than the least, and the window to it.
    pub fn reduce(&mut self, ssthresh: u64) {
        self.set_threshold(ssthresh);
        self.set(self.ssthresh);
        self.counted = 0;
    }

    /// Sets the threshold, to no less than the least.
    pub fn set_threshold(&mut self, ssthresh: u64) {
        let least = self.segment() * u64::from(self.settings.least_threshold);
        self.ssthresh = ssthresh.max(least);
        self.hystart = None; // RFC 9406 §4.3: in the first slow start only
    }

    /// Sets the window to the loss window, without touching the threshold.
    pub fn restart_after_loss(&mut self) {
        self.set(self.segment() * u64::from(self.settings.loss));
        self.counted = 0;
    }

    /// Sets the window to the restart window after an idle time (RFC 5681 §4.1: RW = min(IW, cwnd)).
    pub fn restart_after_idle(&mut self) {
        self.set(self.cwnd.min(self.segment() * u64::from(self.settings.initial)));
        self.counted = 0;
    }

    /// Grows in slow start: by what was acknowledged, at most a segment (RFC 5681 §3.1 (2)), or as HyStart++ has it.
    pub fn slow_start(&mut self, ack: &Acknowledged) {
        let segment = self.segment();
        let Some(hystart) = &mut self.hystart else {
            self.set(self.cwnd + ack.bytes.min(segment));
            return;
        };
        let (growth, is_over) = hystart.hear(ack, segment);
        self.set(self.cwnd + growth);
        if is_over {
            self.set_threshold(self.cwnd); // RFC 9406 §4.2
        }
        if !self.is_slow_start() {
            self.hystart = None;
        }
    }

    /// Grows by a segment for each window of acknowledged bytes (RFC 5681 §3.1).
    pub fn additive_increase(&mut self, bytes: u64) {
        self.counted += bytes;
        if self.counted >= self.cwnd {
            self.counted -= self.cwnd;
            self.set(self.cwnd + self.segment());
        }
    }

    /// Grows as Reno does: slow start up to the threshold, additive increase beyond it.
    pub fn grow(&mut self, ack: &Acknowledged) {
        if !ack.may_grow || !self.is_limiting(ack) {
            return;
        }
        if self.is_slow_start() {
            self.slow_start(ack);
        } else {
            self.additive_increase(ack.bytes);
        }
    }
}

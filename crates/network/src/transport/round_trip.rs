//! The round-trip time and the retransmission time-out (RFC 6298).

use trueplane_units::Nanos;

/// The times after which a sender sends again what is not acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeoutSettings {
    /// RTO before the first measurement.
    pub initial: Nanos,
    /// Least RTO.
    pub least: Nanos,
    /// Greatest RTO, also when it is doubled.
    pub most: Nanos,
    /// Granularity of the clock: the least that is added to SRTT.
    pub granularity: Nanos,
    /// RTO for the data if the SYN timed out; `None`: as measured.
    pub after_lost_syn: Option<Nanos>,
    /// Whether the RTO stays at `initial`, whatever is measured and however often it expires.
    pub is_fixed: bool,
}

impl TimeoutSettings {
    /// The values of RFC 6298.
    pub const STANDARD: TimeoutSettings = TimeoutSettings {
        initial: Nanos::from_secs(1),              // RFC 6298 §2.1
        least: Nanos::from_secs(1),                // RFC 6298 §2.4
        most: Nanos::from_secs(60),                // RFC 6298 §2.5
        granularity: Nanos::from_millis(1),        // RFC 6298 §2: G
        after_lost_syn: Some(Nanos::from_secs(3)), // RFC 6298 §5.7
        is_fixed: false,
    };

    /// As RFC 6298 from the first measurement on, without a least value.
    pub const fn without_least(initial: Nanos) -> Self {
        Self {
            initial,
            least: Nanos(0),
            most: Nanos::from_secs(60),
            granularity: Nanos(0),
            after_lost_syn: None,
            is_fixed: false,
        }
    }
}

/// Doublings after which the RTO has certainly reached its greatest value.
const MOST_DOUBLINGS: u32 = 32;

/// Smoothed round-trip time and what follows from it.
#[derive(Clone, Debug)]
pub struct RoundTrip {
    settings: TimeoutSettings,
    smoothed: Option<Nanos>,
    variation: Nanos,
    least: Option<Nanos>,
    base: Nanos,
    doublings: u32,
}

impl RoundTrip {
    /// Nothing is measured yet.
    pub fn new(settings: TimeoutSettings) -> Self {
        Self {
            settings,
            smoothed: None,
            variation: Nanos(0),
            least: None,
            base: settings.initial,
            doublings: 0,
        }
    }

    /// Smoothed round-trip time (SRTT), once something is measured.
    #[inline]
    pub fn smoothed(&self) -> Option<Nanos> {
        self.smoothed
    }

    /// Variation of the round-trip time (RTTVAR).
    pub fn variation(&self) -> Nanos {
        self.variation
    }

    /// Least round-trip time that was measured.
    #[inline]
    pub fn least(&self) -> Option<Nanos> {
        self.least
    }

    /// Retransmission time-out (RTO), with its doublings.
    #[inline]
    pub fn timeout(&self) -> Nanos {
        if self.doublings == 0 {
            return self.base;
        }
        let doubled = u128::from(self.base.0) << self.doublings;
        Nanos(u64::try_from(doubled).unwrap_or(u64::MAX)).min(self.settings.most).max(self.base)
    }

    /// RTO without doublings.
    pub fn undoubled(&self) -> Nanos {
        self.base
    }

    /// Takes a round-trip time of a segment that was sent once.
    pub fn measure(&mut self, sample: Nanos) {
        self.least = Some(self.least.map_or(sample, |least| least.min(sample)));
        let smoothed = match self.smoothed {
            None => {
                self.variation = Nanos(sample.0 / 2); // RFC 6298 §2.2
                sample
            }
            Some(smoothed) => {
                let error = smoothed.0.abs_diff(sample.0);
                self.variation = Nanos((3 * self.variation.0 + error) / 4); // RFC 6298 §2.3: beta = 1/4
                Nanos((7 * smoothed.0 + sample.0) / 8) // RFC 6298 §2.3: alpha = 1/8
            }
        };
        self.smoothed = Some(smoothed);
        if !self.settings.is_fixed {
            let margin = Nanos(4 * self.variation.0).max(self.settings.granularity); // RFC 6298 §2.3: K = 4
            let timeout = smoothed.after(margin).max(self.settings.least).min(self.settings.most);
            // A round trip may take no time at all; a time-out that takes none would expire as it is set.
            self.base = timeout.max(Nanos(1));
        }
        self.doublings = 0; // RFC 6298 §5: a new measurement ends the back-off
    }

    /// The time-out expired: it is doubled (RFC 6298 §5.5).
    pub fn expire(&mut self) {
        if !self.settings.is_fixed {
            self.doublings = (self.doublings + 1).min(MOST_DOUBLINGS);
        }
    }

    /// Forgets what was measured: the next measurement counts as the first. The time-out stays until then.
    pub fn begin_anew(&mut self) {
        self.smoothed = None;
    }

    /// The handshake ends after its SYN timed out (RFC 6298 §5.7).
    ///
    /// The SYN cannot be measured then, as it was sent more than once.
    pub fn end_lost_handshake(&mut self) {
        if let Some(timeout) = self.settings.after_lost_syn {
            self.base = self.base.max(timeout);
            self.doublings = 0;
        }
    }
}

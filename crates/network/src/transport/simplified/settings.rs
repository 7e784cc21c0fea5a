//! What can be set of the published simulator's connections.

use trueplane_units::Nanos;

use crate::transport::settings::{BadSettings, check_range, check_segment};

/// What can be set of these connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Simplified {
    /// Sender maximum segment size (SMSS): the most payload in a segment, in bytes.
    pub segment: u32,
    /// Initial window, in segments.
    pub initial: u32,
    /// First slow start threshold, in segments.
    pub threshold: u32,
    /// Greatest window that is used, in bytes.
    pub most: u32,
    /// Time-out before the first measurement.
    pub timeout: Nanos,
    /// Whether echoed marks cut the window, as in DCTCP.
    pub heeds_marks: bool,
}

impl Simplified {
    /// TCP: 3 segments at first, threshold of 30 segments, at most 65,535 bytes, time-out after 300 µs at first.
    pub const TCP: Simplified = Simplified {
        segment: 1_380,
        initial: 3,
        threshold: 30,
        most: 65_535,
        timeout: Nanos::from_micros(300),
        heeds_marks: false,
    };

    /// DCTCP: the same with marks.
    pub const DCTCP: Simplified = Simplified { heeds_marks: true, ..Simplified::TCP };

    /// pFabric: the same as TCP, but starting at the threshold, and with a first time-out of three round-trip times of the fabric.
    pub const PFABRIC: Simplified = Simplified { initial: 30, timeout: Nanos(96_384), ..Simplified::TCP };

    /// Checks that the values make sense.
    ///
    /// # Errors
    ///
    /// If a segment has no byte or does not fit into the window, a number of segments is 0 or more than 65536, or the first time-out expires at
    /// once.
    pub fn check(&self) -> Result<(), BadSettings> {
        check_segment("segment", self.segment)?;
        let (segment, most) = (u64::from(self.segment), u64::from(self.most));
        check_range("most", "a segment or more", most, segment..=u64::MAX)?;
        let segments = |name, count: u32| check_range(name, "1 to 65536 segments", count.into(), 1..=1 << 16);
        segments("initial", self.initial)?;
        segments("threshold", self.threshold)?;
        check_range("timeout", "1 ns or more", self.timeout.0, 1..=u64::MAX)
    }
}

//! The rows of `limit precision`.

use trueplane_units::{BitsPerSec, Nanos};

use crate::drain::Drain;
use crate::policy::PolicyName;
use crate::source::Pace;
use crate::tally::Counts;

/// One limiter against one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// Limiter that was measured.
    pub policy: PolicyName,
    /// Way in which it drains.
    pub drain: Drain,
    /// Source of the packets.
    pub source: Pace,
    /// Rate that was asked for.
    pub configured: BitsPerSec,
    /// Time that was measured.
    pub duration: Nanos,
    /// Packets while it was measured, by what became of them.
    pub counts: Counts,
}

impl Point {
    /// The rate that the source offered, in bits per second; the classical model has nobody to stop it.
    pub fn offered_bps(&self) -> f64 {
        self.per_second(self.counts.arrived_bytes)
    }

    /// The rate that passed, in bits per second.
    pub fn achieved_bps(&self) -> f64 {
        self.per_second(self.counts.admitted_bytes())
    }

    fn per_second(&self, bytes: u64) -> f64 {
        bytes as f64 * 8.0 / (self.duration.0 as f64 / 1e9)
    }

    /// Achieved / configured.
    pub fn achieved_to_configured(&self) -> f64 {
        self.achieved_bps() / self.configured.0 as f64
    }

    /// Achieved / configured − 1.
    pub fn error(&self) -> f64 {
        self.achieved_to_configured() - 1.0
    }
}

/// The largest error among these, in either direction.
pub(super) fn worst<'p>(points: impl IntoIterator<Item = &'p Point>) -> Option<f64> {
    points.into_iter().map(Point::error).max_by(|a, b| a.abs().total_cmp(&b.abs()))
}

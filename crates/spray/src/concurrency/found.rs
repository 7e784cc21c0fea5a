//! The rows of `spray concurrency`.

use trueplane_units::choices;

use crate::silence::Silences;

choices! {
    /// Flows that are counted together.
    pub enum Which {
        /// All flows.
        All = "all",
        /// Flows with more bytes than `--large`.
        Large = "large",
    }
}

/// Numbers of flows in windows.
#[derive(Clone, Debug, PartialEq)]
pub struct Flows {
    /// Flows that are counted.
    pub which: Which,
    /// Number of these flows.
    pub count: u64,
    /// Share of all bytes that they have.
    pub bytes: f64,
    /// Windows with a packet of any of them.
    pub windows: u64,
    /// Number of flows that half of these windows have at most.
    pub median: u64,
    /// Number of flows that all but one in a hundred have at most.
    pub p99: u64,
    /// Largest number of flows of a window.
    pub most: u64,
    /// Numbers of flows, each with the share of windows that have no more.
    pub cdf: Vec<(u64, f64)>,
    /// Share of the cores that hashing can be expected to use in a window, for each number of cores.
    pub cores_used: Vec<f64>,
}

/// Everything that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Packets that count.
    pub packets: u64,
    /// Windows from the first of them to the last.
    pub windows: u64,
    /// Silences of the capture that were shortened.
    pub silences: Silences,
    /// Packets of the capture that could not be read, by kind, with their numbers.
    pub skipped: Vec<(String, u64)>,
    /// All flows; then large ones, if there are any.
    pub rows: Vec<Flows>,
}

impl Found {
    /// Mean number of packets in a window that has any; zero if there are none.
    pub fn packets_in_window(&self) -> f64 {
        let windows = self.rows.first().map_or(0, |all| all.windows);
        if windows == 0 { 0.0 } else { self.packets as f64 / windows as f64 }
    }

    /// Whether there are so few packets at a time that no way of dispatch could use more than a core or two.
    pub(super) fn is_idle(&self) -> bool {
        let packets = self.packets_in_window();
        packets > 0.0 && packets < IDLE
    }
}

/// Packets in a window that has any, below which a capture tells nothing of concurrency.
const IDLE: f64 = 2.0;

//! Experiments on real packets, in network namespaces of their own: what the paper's figures show of a switch, shown of this
//! kernel.
//!
//! 1. [`precision`]: what rate passes, beside `tc`'s own limiters (figures 10 and 11).
//! 2. [`isolation`]: ten flows of one tenant against a hundred of another (figure 16).
//! 3. [`latency`]: what a quiet tenant waits while the other sends (figure 17).
//! 4. [`occupancy`]: how full a limiter gets with marks and without (figure 14).
//! 5. [`marking`]: where to mark so that DCTCP neither loses a packet nor leaves the rate unused.
//! 6. [`report`]: all of them on one page.
//!
//! Each makes its network, is bounded in time, and leaves nothing behind.

pub mod found;
pub mod isolation;
pub mod latency;
pub mod marking;
pub mod occupancy;
mod page;
pub mod precision;
pub mod report;
mod tap;
mod verdict;

use std::time::Duration;

pub use tap::{Admitted, Limits, PAYLOAD_SHARE};
use trueplane_linux::testnet;
use trueplane_linux::testnet::Requirement;
use trueplane_units::choices;

choices! {
    /// An experiment by name.
    pub enum Experiment {
        /// The rate that passes, beside `tc`'s own limiters.
        Precision = "precision",
        /// Ten flows of one tenant against a hundred of another, without and with limits.
        Isolation = "isolation",
        /// The time that a quiet tenant waits beside a hundred flows.
        Latency = "latency",
        /// Bytes that a limiter holds, with marks and without.
        Occupancy = "occupancy",
        /// The level from which to mark so that DCTCP uses the rate and loses nothing.
        Marking = "marking",
    }
}

impl Experiment {
    /// Requirements on the machine beyond root, `ip` and network namespaces; see [`testnet::check`].
    pub fn requirements(self) -> &'static [Requirement] {
        use Requirement::{Bpf, Ethtool, Iperf3, StructOps, Tc, Tun};
        match self {
            Self::Precision => &[Iperf3, Tc, Ethtool, Bpf, StructOps, Tun],
            Self::Isolation | Self::Latency => &[Tc, Ethtool, Bpf],
            Self::Occupancy | Self::Marking => &[Iperf3, Ethtool, Bpf, StructOps, Tun],
        }
    }
}

/// Something that was not measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The experiment or the measurement.
    pub what: String,
    /// Why it was not measured.
    pub reason: String,
}

/// Follows the progress of an experiment, and may stop it.
pub trait Observer {
    /// The next measurement begins.
    fn step(&self, what: &str);

    /// Whether to stop before the next measurement.
    fn interrupted(&self) -> bool;
}

/// Observer that does nothing and never stops.
impl Observer for () {
    fn step(&self, _: &str) {}

    fn interrupted(&self) -> bool {
        false
    }
}

/// Error of an experiment. Every message is one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The test network.
    #[error(transparent)]
    Network(#[from] testnet::Error),
    /// The limits.
    #[error(transparent)]
    Limits(#[from] trueplane_linux::Error),
    /// The observer stopped it.
    #[error("interrupted")]
    Interrupted,
}

/// Announces a measurement, unless it is not wanted any more.
fn step(observer: &dyn Observer, what: &str) -> Result<(), Error> {
    if observer.interrupted() {
        return Err(Error::Interrupted);
    }
    observer.step(what);
    Ok(())
}

/// A flow goes on for so long after it was measured: connecting took its time, and so did reading.
const REST: Duration = Duration::from_millis(100);

/// iperf3 counts in whole seconds.
fn whole_seconds(time: Duration) -> u32 {
    u32::try_from(time.as_millis().div_ceil(1000)).unwrap_or(u32::MAX)
}

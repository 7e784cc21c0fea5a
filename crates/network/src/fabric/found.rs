//! The rows of `sched fabric`.

use trueplane_study::metrics::Distribution;
use trueplane_units::{BitsPerSec, Nanos};

use super::options::Offered;
use super::system::SystemName;

/// Everything that is found.
#[derive(Clone, Debug)]
pub struct Found {
    /// Hosts of the network.
    pub hosts: u32,
    /// Mean flow size in bytes.
    pub mean_bytes: f64,
    /// Time during which flows start.
    pub start_time: Nanos,
    /// Whether a file has the flows.
    pub is_recorded: bool,
    /// Each load with all systems, in ascending order of the load.
    pub loads: Vec<AtLoad>,
}

/// The systems at one load.
#[derive(Clone, Debug)]
pub struct AtLoad {
    /// Load that was asked for.
    pub offered: Offered,
    /// Offered bits of the flows that came, over what all hosts could send while flows started.
    pub load: f64,
    /// Flows that came.
    pub flows: u64,
    /// Systems in the order of the list.
    pub systems: Vec<SystemRun>,
}

/// One system at one load.
#[derive(Clone, Debug)]
pub struct SystemRun {
    /// System that was simulated.
    pub system: SystemName,
    /// Flows below 100 kB.
    pub small: Class,
    /// Flows of 1 MB and more.
    pub large: Class,
    /// All flows.
    pub all: Class,
    /// Packets that hosts sent: delivered + drops + packets in the network at the end.
    pub sent: u64,
    /// Packets that reached their host.
    pub delivered: u64,
    /// Packets that were dropped, for all causes.
    pub drops: u64,
    /// Packets that queues dropped.
    pub queue_drops: u64,
    /// Packets that were dropped because a link was down.
    pub down_drops: u64,
    /// Packets that links lost by chance.
    pub losses: u64,
    /// Packets that are in the network at the end.
    pub in_network: u64,
    /// Packets that were sent over a link, link by link.
    pub hops: u64,
    /// Most packets in the network at once.
    pub most_packets: u64,
    /// Flows that have not ended, because links are down.
    pub unfinished: u64,
    /// Flows that ended after their deadline, or have not ended.
    pub late: u64,
    /// The ports at which most packets waited, those with the longest queues first.
    pub ports: Vec<BusyPort>,
    /// Bytes of the flows that have ended over the time until the last of them did, without headers and what was sent again.
    pub goodput: BitsPerSec,
    /// Time at which the last flow ended.
    pub end: Nanos,
}

/// A port at which many packets waited.
#[derive(Clone, Debug)]
pub struct BusyPort {
    /// Its link: the nodes at the beginning and at the end.
    pub link: String,
    /// Packets that it sent.
    pub sent: u64,
    /// Packets that it or its link dropped.
    pub drops: u64,
    /// Mean number of packets that waited, over the time of the run.
    pub mean: f64,
    /// Most packets that waited at once.
    pub longest: u64,
}

/// Completion times of a class of flows.
#[derive(Clone, Debug, Default)]
pub struct Class {
    /// Completion times, in nanoseconds.
    pub times: Distribution,
    /// Slowdowns, in thousandths: completion time over the least time on a network without other flows.
    pub slowdowns: Distribution,
    /// Mean completion time by the queueing formula, in nanoseconds; none at a load of 1 or more, or without flows.
    pub classical_ns: Option<f64>,
}

impl Class {
    /// Number of flows.
    pub fn flows(&self) -> u64 {
        self.times.count()
    }

    /// Mean completion time in nanoseconds; none without flows.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.flows() > 0).then(|| self.times.mean())
    }

    /// Time in which 99 % of the flows complete; none without flows.
    pub fn p99(&self) -> Option<Nanos> {
        (self.flows() > 0).then(|| Nanos(self.times.quantile(0.99)))
    }

    /// Mean slowdown; none without flows.
    pub fn slowdown(&self) -> Option<f64> {
        (self.flows() > 0).then(|| self.slowdowns.mean() / 1e3)
    }

    /// Slowdown that 99 % of the flows do not exceed; none without flows.
    pub fn slowdown_p99(&self) -> Option<f64> {
        (self.flows() > 0).then(|| self.slowdowns.quantile(0.99) as f64 / 1e3)
    }
}

impl AtLoad {
    /// The run of a system.
    pub fn run(&self, system: SystemName) -> Option<&SystemRun> {
        self.systems.iter().find(|run| run.system == system)
    }
}

impl Found {
    /// The highest load.
    pub fn busiest(&self) -> Option<&AtLoad> {
        self.loads.last()
    }
}

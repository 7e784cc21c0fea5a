//! What is counted.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Counts, Reason};

/// Counters of one core. Identities, once it has stopped:
///
/// 1. `offered` = `received` + `kernel_drops`, for both interfaces together.
/// 2. `received` = `passed_by` + `cut` + packets that the function got.
/// 3. `passed_by` + forwarded + transmitted = `sent` + `unsent`.
///
/// And over all cores: `received` = `passed_by` + `cut` + forwarded + transmitted + dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreCounts {
    /// The processor.
    pub cpu: usize,
    /// Packets that the kernel had for it, by interface.
    pub offered: [u64; 2],
    /// Those of them for which its ring had no room.
    pub kernel_drops: [u64; 2],
    /// Packets read, by the interface on which they came.
    pub received: [u64; 2],
    /// Packets between neighbours, such as ARP, sent on without asking the function.
    pub passed_by: u64,
    /// Packets that are longer than the interface's MTU allows, for which frames have no room: dropped.
    pub cut: u64,
    /// Packets whose checksum had to be completed.
    pub partial: u64,
    /// Packets that the function got from interfaces.
    pub arrived: u64,
    /// Packets from other cores, and to them.
    pub handed_in: u64,
    /// See `handed_in`.
    pub handed_out: u64,
    /// Packets forwarded to the other interface.
    pub forwarded: u64,
    /// Packets sent out of the interface that the function named.
    pub transmitted: u64,
    /// Packets dropped by the function, in the order of [`Reason::ALL`].
    pub dropped: [u64; Reason::ALL.len()],
    /// Packets sent, by interface.
    pub sent: [u64; 2],
    /// Packets that an interface did not take.
    pub unsent: u64,
    /// Flows in this core's table.
    pub flows: u64,
    /// Flows that were over.
    pub retired: u64,
    /// Packets that wait for another core's ring.
    pub waiting: u64,
    /// Time in which it had packets to work on, in ns.
    pub busy_ns: u64,
}

impl CoreCounts {
    /// Takes over what the worker counted.
    pub(super) fn set_worker(&mut self, counts: &Counts, flows: usize, waiting: usize) {
        self.arrived = counts.arrived;
        self.handed_in = counts.handed_in;
        self.handed_out = counts.handed_out;
        self.forwarded = counts.forwarded;
        self.transmitted = counts.transmitted;
        self.dropped = counts.dropped;
        self.retired = counts.retired;
        self.flows = flows as u64;
        self.waiting = waiting as u64;
    }

    /// Adds another core's.
    pub fn merge(&mut self, other: &Self) {
        let pairs = [
            (&mut self.offered, other.offered),
            (&mut self.kernel_drops, other.kernel_drops),
            (&mut self.received, other.received),
            (&mut self.sent, other.sent),
        ];
        for (sum, more) in pairs {
            sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
        self.dropped.iter_mut().zip(other.dropped).for_each(|(sum, more)| *sum += more);
        self.passed_by += other.passed_by;
        self.cut += other.cut;
        self.partial += other.partial;
        self.arrived += other.arrived;
        self.handed_in += other.handed_in;
        self.handed_out += other.handed_out;
        self.forwarded += other.forwarded;
        self.transmitted += other.transmitted;
        self.unsent += other.unsent;
        self.flows += other.flows;
        self.retired += other.retired;
        self.waiting += other.waiting;
        self.busy_ns += other.busy_ns;
    }
}

/// Counters of a run so far, core by core.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Counters of each core, in the order of cores.
    pub cores: Vec<CoreCounts>,
    /// Number of times that the function's configuration was replaced.
    pub reloads: u64,
    /// Since it began.
    pub elapsed_ns: u64,
}

/// The sum of all cores, on one line.
impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.total();
        let [received, lost]: [u64; 2] = [total.received, total.kernel_drops].map(|of| of.iter().sum());
        write!(
            f,
            "{} s: {received} received, {} forwarded, {} transmitted, {} passed by, {} dropped, {} too long, {} not sent, {lost} lost in the kernel; {} flows, {} handed over, {} checksums completed",
            self.elapsed_ns / 1_000_000_000,
            total.forwarded,
            total.transmitted,
            total.passed_by,
            total.dropped.iter().sum::<u64>(),
            total.cut,
            total.unsent,
            total.flows,
            total.handed_out,
            total.partial,
        )
    }
}

impl Snapshot {
    /// The most important counters of all cores, on one line.
    pub fn in_brief(&self) -> String {
        let total = self.total();
        let [received, lost]: [u64; 2] = [total.received, total.kernel_drops].map(|of| of.iter().sum());
        format!(
            "{} s: {received} received, {} forwarded, {} dropped, {lost} lost, {} not sent, {} flows",
            self.elapsed_ns / 1_000_000_000,
            total.forwarded + total.transmitted,
            total.dropped.iter().sum::<u64>(),
            total.unsent,
            total.flows,
        )
    }

    /// Over all cores.
    pub fn total(&self) -> CoreCounts {
        self.cores.iter().fold(CoreCounts::default(), |mut total, core| {
            total.merge(core);
            total
        })
    }

    /// Checks the identities of a run that has stopped.
    ///
    /// # Errors
    ///
    /// The first that does not hold.
    pub fn check(&self) -> Result<(), String> {
        for core in self.cores.iter().chain([&self.total()]) {
            let received: u64 = core.received.iter().sum();
            let offered: u64 = core.offered.iter().sum();
            let dropped: u64 = core.dropped.iter().sum();
            let lost: u64 = core.kernel_drops.iter().sum();
            let out: u64 = core.sent.iter().sum();
            let identities = [
                ("offered = received + kernel drops", offered, received + lost),
                ("received = passed by + cut + arrived", received, core.passed_by + core.cut + core.arrived),
                (
                    "arrived + handed in = forwarded + transmitted + dropped + handed out + waiting",
                    core.arrived + core.handed_in,
                    core.forwarded + core.transmitted + dropped + core.handed_out + core.waiting,
                ),
                (
                    "passed by + forwarded + transmitted = sent + unsent",
                    core.passed_by + core.forwarded + core.transmitted,
                    out + core.unsent,
                ),
            ];
            for (what, left, right) in identities {
                if left != right {
                    return Err(format!("{what}: {left} and {right} in {core:?}"));
                }
            }
        }
        let total = self.total();
        if total.handed_in != total.handed_out || total.waiting != 0 {
            return Err(format!("packets are left between cores: {total:?}"));
        }
        Ok(())
    }
}

//! The systems that are compared: what senders do, and what ports do.

use std::time::Instant;

use trueplane_network::Nanos;
use trueplane_network::simulator::{
    DropTail, FlowSpec, Marked, MarkingThreshold, Network, PortQueue, Ranked, SizeClass, SkippedWhenIdle,
    Times, Topology,
};
use trueplane_network::transport::{Simplified, Transport, preset};
use trueplane_sched::policy::{Afq, Pifo, PushDown, SpPifo};
use trueplane_sched::rank::{PFabric, Stfq};
use trueplane_sched::{Banked, Scheduler};

use crate::heap::Heap;
use crate::paths;

/// Bytes of a packet beside its payload.
const HEADER: u32 = 120;

/// Flows whose finish tags a port remembers.
const FLOWS: usize = 1 << 12;

/// A run: where, and which flows.
pub(crate) struct Run<'a> {
    pub(crate) topology: &'a Topology,
    pub(crate) flows: &'a mut dyn Iterator<Item = FlowSpec>,
}

impl Run<'_> {
    /// Completion times of small flows with the senders and ports of the published simulator.
    pub(crate) fn simplified(self, system: &str) -> Times {
        let (system, queues) = shape(system);
        let pifo = || Heap::new(10 * queues - 1);
        match system {
            "tcp" | "fair-tcp" => self.of(|_| DropTail::new(146_000), Simplified::TCP),
            "dctcp" => self.of(|_| marking(146_000, 14_600), Simplified::DCTCP),
            "fair-dctcp" => self.of(|_| marking(120_000, 48_000), Simplified::DCTCP),
            "pifo" => self.of(|_| SkippedWhenIdle(Ranked::new(pifo(), PFabric)), Simplified::PFABRIC),
            "sp-pifo" => {
                self.of(|_| SkippedWhenIdle(Ranked::new(sp_pifo(queues), PFabric)), Simplified::PFABRIC)
            }
            "afq" => self.of(|_| fair(SkippedWhenIdle(Ranked::new(afq(queues), PFabric))), Simplified::DCTCP),
            "sp-pifo-stfq" => {
                self.of(|_| fair(SkippedWhenIdle(Ranked::new(sp_pifo(queues), stfq()))), Simplified::DCTCP)
            }
            "pifo-stfq" => self.of(|_| fair(SkippedWhenIdle(Ranked::new(pifo(), stfq()))), Simplified::DCTCP),
            _ => unreachable!("{system} is in no table"),
        }
    }

    /// Completion times of small flows with senders that follow the RFCs, and ports that put each packet through their queue.
    pub(crate) fn standard(self, system: &str) -> Times {
        let (system, queues) = shape(system);
        let pifo = || Pifo::new(10 * queues).expect("packets");
        match system {
            "tcp" | "fair-tcp" => self.of(|_| DropTail::new(146_000), preset::standard_tcp()),
            "dctcp" => self.of(|_| marking(146_000, 14_600), preset::standard_dctcp()),
            "fair-dctcp" => self.of(|_| marking(120_000, 48_000), preset::standard_dctcp()),
            "pifo" => self.of(|_| Ranked::new(pifo(), PFabric), preset::standard_pfabric()),
            "sp-pifo" => self.of(|_| Ranked::new(sp_pifo(queues), PFabric), preset::standard_pfabric()),
            "afq" => self.of(|_| fair(Ranked::new(afq(queues), PFabric)), preset::standard_dctcp()),
            "sp-pifo-stfq" => {
                self.of(|_| fair(Ranked::new(sp_pifo(queues), stfq())), preset::standard_dctcp())
            }
            "pifo-stfq" => self.of(|_| fair(Ranked::new(pifo(), stfq())), preset::standard_dctcp()),
            _ => unreachable!("{system} is in no table"),
        }
    }

    #[expect(clippy::disallowed_methods, reason = "an example is a driver")]
    fn of<Q: PortQueue, T: Transport>(self, queue: impl FnMut(usize) -> Q, transport: T) -> Times {
        let network = Network::new(self.topology, queue, transport, HEADER, 1).expect("settings");
        let start = Instant::now();
        let outcome =
            network.choosing(Box::new(paths::Paths)).run(self.flows, Nanos::from_secs(1)).expect("books");
        let seconds = start.elapsed().as_secs_f64();
        let hops = outcome.hops as f64 / 1e6;
        eprintln!(
            "{} flows have ended, {} have not, {hops:.1} M hops, {:.2} M hops/s, {} drops",
            outcome.completed.len(),
            outcome.unfinished,
            hops / seconds,
            outcome.counts.dropped
        );
        Times::of(&outcome.completed, SizeClass::SMALL).expect("small flows")
    }
}

fn marking(capacity: u64, threshold: u64) -> DropTail {
    DropTail::new(capacity).marking(MarkingThreshold::behind(threshold))
}

/// The schedulers of the fair systems mark packets as DCTCP's FIFOs do.
fn fair<Q: PortQueue>(queue: Q) -> Marked<Q> {
    Marked::new(queue, MarkingThreshold::behind(48_000))
}

fn sp_pifo(queues: usize) -> impl Scheduler {
    Banked::new(queues, 10, SpPifo::new(queues, PushDown::Cost).expect("queues")).expect("queues")
}

/// All queues together hold 2,560 bytes of a flow.
fn afq(queues: usize) -> Afq {
    Afq::new(queues, 10, 2_560 / queues as u32).expect("queues")
}

/// The system, and its number of queues of ten packets; a PIFO has one for as many packets together. A published PIFO drops a packet as soon
/// as there are so many.
fn shape(system: &str) -> (&str, usize) {
    system.strip_suffix("-32").map_or((system, 8), |system| (system, 32))
}

fn stfq() -> Stfq {
    Stfq::new(FLOWS).expect("flows")
}

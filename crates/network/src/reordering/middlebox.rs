//! A middlebox with cores: a node whose card chooses a core for each packet, and a link for each core.

use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::rc::Rc;

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use trueplane_spray::dispatch::{Arrival, Dispatch, Load, PERIOD};
use trueplane_spray::{FlowId, Steering};
use trueplane_units::{BitsPerSec, Nanos};

use crate::simulator::port::{Offered, Waiting};
use crate::simulator::{BadTopology, Chooser, DropTail, Fork, Link, PortQueue, Topology};

/// Host whose flows pass the middlebox.
pub(super) const SENDER: u32 = 0;
/// Host that receives them.
pub(super) const RECEIVER: u32 = 1;
/// Node at which packets of both hosts arrive and get a core.
const CARD: u32 = 2;
/// Node at which packets leave their core.
const OUTPUT: u32 = 3;
/// Number of the first core's link.
const FIRST_CORE: usize = 4;

/// Two hosts and the middlebox between them. Packets of both directions pass the same cores.
///
/// # Errors
///
/// If there is no core.
pub(super) fn topology(cores: usize, line: BitsPerSec, delay: Nanos) -> Result<Topology, BadTopology> {
    let link = |from, to, delay| Link { from, to, rate: line, delay };
    let mut links = vec![
        link(SENDER, CARD, delay),
        link(RECEIVER, CARD, delay),
        link(OUTPUT, SENDER, delay),
        link(OUTPUT, RECEIVER, delay),
    ];
    // Cycles, and not the rate, say how long a packet takes on a core.
    links.extend((0..cores).map(|_| link(CARD, OUTPUT, Nanos(0))));
    Topology::new(4, 2, links)
}

/// The core of a port; none for the ports of lines.
pub(super) fn core_of(port: usize) -> Option<usize> {
    port.checked_sub(FIRST_CORE)
}

/// The port of a core.
pub(super) fn port_of(core: usize) -> usize {
    FIRST_CORE + core
}

/// A core as card and ring see it.
#[derive(Debug, Default)]
pub(super) struct Core {
    queued: Cell<u32>,
    /// Packets on which it has begun to work.
    pub(super) begun: Cell<u64>,
}

/// Cores of a middlebox.
pub(super) type Cores = Rc<[Core]>;

/// Cores without work.
pub(super) fn idle(count: usize) -> Cores {
    (0..count).map(|_| Core::default()).collect()
}

/// The queue of a port.
#[derive(Debug)]
pub(super) enum Queue {
    /// A FIFO before a line.
    Line(DropTail),
    /// The receive ring of a core.
    Ring(Ring),
}

impl Queue {
    /// The queue of a port: a ring of so many packets before a core, and room for everything before a line.
    pub(super) fn of(port: usize, cores: &Cores, ring: usize) -> Self {
        match core_of(port) {
            Some(core) => Queue::Ring(Ring {
                waiting: VecDeque::with_capacity(ring.min(1 << 10)),
                most: ring,
                cores: Rc::clone(cores),
                core,
            }),
            None => Queue::Line(DropTail::new(u64::MAX)),
        }
    }
}

impl PortQueue for Queue {
    #[inline]
    fn offer(&mut self, packet: Waiting, now: Nanos) -> Offered {
        match self {
            Queue::Line(line) => line.offer(packet, now),
            Queue::Ring(ring) => ring.offer(packet),
        }
    }

    #[inline]
    fn next(&mut self) -> Option<u32> {
        match self {
            Queue::Line(line) => line.next(),
            Queue::Ring(ring) => ring.next(),
        }
    }

    fn len(&self) -> usize {
        match self {
            Queue::Line(line) => line.len(),
            Queue::Ring(ring) => ring.waiting.len(),
        }
    }
}

/// Packets that wait for a core, up to a number.
#[derive(Debug)]
pub(super) struct Ring {
    waiting: VecDeque<u32>,
    most: usize,
    cores: Cores,
    core: usize,
}

impl Ring {
    fn offer(&mut self, packet: Waiting) -> Offered {
        if self.waiting.len() == self.most {
            return Offered { dropped: Some(packet.handle), marks: false };
        }
        self.waiting.push_back(packet.handle);
        self.cores[self.core].queued.set(self.waiting.len() as u32);
        Offered::default()
    }

    fn next(&mut self) -> Option<u32> {
        let handle = self.waiting.pop_front()?;
        let core = &self.cores[self.core];
        core.queued.set(self.waiting.len() as u32);
        core.begun.set(core.begun.get() + 1);
        Some(handle)
    }
}

/// The card: a dispatch policy, told in every period how much cores had to do.
///
/// Packets with SYN or FIN go to the core that their connection is designated to, as the framework hands them over. The hand-over itself costs nothing
/// here.
pub(super) struct Card {
    dispatch: Box<dyn Dispatch>,
    steering: Steering,
    /// Five-tuples of the flows, by number.
    flows: Vec<FlowId>,
    /// Checksums, which look random.
    checksums: Xoshiro256PlusPlus,
    cores: Cores,
    /// Time of a packet on a core.
    service: Nanos,
    /// Time of the next report.
    due: Nanos,
    /// Packets on which each core had begun to work at the last report.
    reported: Vec<u64>,
}

impl Card {
    pub(super) fn new(
        dispatch: Box<dyn Dispatch>,
        flows: Vec<FlowId>,
        cores: Cores,
        service: Nanos,
        seed: u64,
    ) -> Self {
        Self {
            dispatch,
            steering: Steering::new(cores.len()),
            flows,
            checksums: Xoshiro256PlusPlus::seed_from_u64(seed),
            reported: vec![0; cores.len()],
            cores,
            service,
            due: PERIOD,
        }
    }

    /// Reports the loads of the last period. Periods without a packet are not reported.
    fn report(&mut self, now: Nanos) {
        let mut loads = Vec::with_capacity(self.cores.len());
        for (core, reported) in self.cores.iter().zip(&mut self.reported) {
            let begun = core.begun.get();
            let work = (begun - *reported) as f64 * self.service.0 as f64;
            *reported = begun;
            let busy = (work / PERIOD.0 as f64).min(1.0);
            loads.push(Load { queued: core.queued.get(), busy });
        }
        self.dispatch.observe(&loads, self.due);
        self.due = Nanos(now.0 / PERIOD.0 * PERIOD.0).after(PERIOD);
    }
}

impl fmt::Debug for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Card").field("flows", &self.flows.len()).finish_non_exhaustive()
    }
}

impl Chooser for Card {
    fn choose(&mut self, fork: &Fork, now: Nanos) -> Option<usize> {
        if fork.node != CARD {
            return None;
        }
        if now >= self.due {
            self.report(now);
        }
        let forward = self.flows[fork.flow as usize];
        let flow = if fork.is_data { forward } else { forward.reversed() };
        let checksum = Some(self.checksums.random());
        let core = self.dispatch.core(&Arrival { flow: Some(flow), checksum, bytes: fork.bytes }, now);
        let is_connection = fork.flags.syn || fork.flags.fin;
        Some(if is_connection { self.steering.designated(&flow) } else { core })
    }
}
